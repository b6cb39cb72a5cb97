"""What `phone stop` does."""

from __future__ import annotations

import os
import signal
import time
from typing import Final

from droidgate.cli.exit_codes import ExitCode
from droidgate.cli.output.json_output import print_json
from droidgate.cli.output.pages import Line, show
from droidgate.cli.phone.phone_outputs import PhoneStopDocument
from droidgate.cli.phone.running_phones import find_phone, forget_phone, process_lives
from droidgate_mappings.model.errors import DeviceError

_SECONDS_TO_STOP: Final = 20.0
_SECONDS_BETWEEN: Final = 0.02


def stop_virtual_phone(port: int | None, *, as_json: bool) -> int:
    """Stop the phone of a port, or the only one.

    Raises:
        DeviceError: there is none, there are several and no port was given, or it does not stop.
    """
    phone = find_phone(port)
    os.kill(phone.pid, signal.SIGTERM)
    end = time.monotonic() + _SECONDS_TO_STOP
    while process_lives(phone.pid):
        if time.monotonic() > end:
            raise DeviceError("the phone does not stop", place=phone.serial, hint=f"end process {phone.pid}")
        time.sleep(_SECONDS_BETWEEN)
    forget_phone(phone)
    if as_json:
        print_json(PhoneStopDocument.of(phone))
    else:
        show([Line(f"{phone.serial} is stopped")])
    return ExitCode.OK

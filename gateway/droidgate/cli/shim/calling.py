"""What `shim call` does."""

from __future__ import annotations

import sys
from typing import Final

from droidgate.cli.exit_codes import ExitCode
from droidgate.cli.output.json_output import json_text, print_json
from droidgate.cli.output.pages import Line, show
from droidgate.cli.output.safe_text import one_line
from droidgate.cli.shim.documents import ShimCallDocument
from droidgate.devices.device import open_device
from droidgate.model.errors import InputError, UsageError
from droidgate.model.json_values import Json
from droidgate.parsing.json_text import parse_json
from droidgate.sources import STANDARD_INPUT
from droidgate_shim.host.calling import call_shim
from droidgate_shim.host.messages import MAX_PAYLOAD_BYTES
from droidgate_shim.host.place import place_of

_EXAMPLE: Final = 'Such as --args \'{"date": "2026-03-01"}\''


def call_and_report(
    capability: str,
    arguments: str,
    shim: str | None,
    serial: str | None,
    *,
    signed_by: str | None,
    deadline_ms: int | None,
    as_json: bool,
) -> int:
    """Call a capability and show its outputs.

    Raises:
        UsageError: the arguments are not a JSON object, or no shim, or more than one, offers the capability.
        InputError: another key than the user's, or the one that is named, signed the shim.
        ShimRefusalError: the call failed; 6 where a policy denies it, else 5.
        DeviceError: the phone or the shim fails.
    """
    given = _read_arguments(arguments)
    place = place_of(open_device(serial))
    answer = call_shim(place, capability, given, shim=shim, signed_by=signed_by, deadline_ms=deadline_ms)
    outputs = answer.outputs
    if as_json:
        print_json(
            ShimCallDocument(
                serial=place.device.serial,
                application_id=answer.application_id,
                capability=capability,
                outputs=outputs,
            )
        )
    elif outputs:
        show([line for name, value in outputs.items() for line in _lines(name, value)], is_data=True)
    else:
        show([Line("done; it returns nothing")])
    return ExitCode.OK


def _read_arguments(text: str) -> dict[str, Json]:
    try:
        value = parse_json(_standard_input() if text == STANDARD_INPUT else text, path="--args")
    except InputError as error:
        raise UsageError(error.message, place=error.place, hint=_EXAMPLE) from None
    if not isinstance(value, dict):
        raise UsageError("--args is not a JSON object", hint=_EXAMPLE)
    return value


def _standard_input() -> bytes:
    data = sys.stdin.buffer.read(MAX_PAYLOAD_BYTES + 1)
    if len(data) > MAX_PAYLOAD_BYTES:
        raise UsageError(f"--args is longer than {MAX_PAYLOAD_BYTES} bytes, which no request can be")
    return data


def _lines(name: str, value: Json) -> list[Line]:
    """Return an output; a text of several lines stands below its name."""
    text = value if isinstance(value, str) else json_text(value).strip()
    first, *more = text.splitlines() or [""]
    if not more:
        return [Line(f"{one_line(name)}: {first}")]
    return [Line(f"{one_line(name)}:"), *(Line(item, 1) for item in (first, *more))]

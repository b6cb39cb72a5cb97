"""What `dumpsys trust` says of the screen's lock, for the user in front."""

from __future__ import annotations

import re
from typing import Final

from droidgate.devices.device import CommandResult

SHOW_LOCK: Final = ("dumpsys", "trust")
_LOCKED: Final = re.compile(
    r"^(?>.*?\bUser )(?>.*?\(current\):).*\bdeviceLocked=(?P<locked>[01])\b", re.MULTILINE
)


def read_lock(result: CommandResult) -> bool | None:
    """Return whether the device is locked, by what `SHOW_LOCK` printed; None where Android hides it."""
    match = _LOCKED.search(result.text) if result.exit_status == 0 else None
    return None if match is None else match["locked"] == "1"

"""How commands refuse what the phone does not model."""

from __future__ import annotations

from typing import Final

from droidgate_phone.commands import CommandCall

NOT_MODELLED: Final = 69
"""Exit status of whatever the phone does not model (EX_UNAVAILABLE of sysexits.h)."""

FAILED: Final = 255
"""Exit status of a command of Android that returns -1."""


def refuse(call: CommandCall, what: str) -> int:
    """Say on standard error that the phone does not model something; return the status for it."""
    call.write_error(f"droidgate phone: not modelled: {what}\n")
    call.system.log.record("not-modelled", command=call.name, what=what)
    return NOT_MODELLED

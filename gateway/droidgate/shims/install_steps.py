"""What is done on a device to set a shim up, one record for each step."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from droidgate.devices.device import CommandResult, Device
from droidgate.devices.device_errors import CommandFailedError, DeviceOutputError, excerpt

Outcome = Literal["done", "refused", "not-needed", "left-out"]


@dataclass(frozen=True, slots=True)
class Step:
    """One step.

    Attributes:
        what: What it is for, in words.
        outcome: `done`, `refused` by Android, `not-needed` here, or `left-out` as it was not asked for.
        command: The command on the device, as a user would type it there; None where it is none.
        why: The reason, where it is not done; what to know, where it is.
    """

    what: str
    outcome: Outcome
    command: str | None = None
    why: str = ""


def not_needed(what: str, why: str) -> Step:
    """Return the record of a step that is not needed here."""
    return Step(what, "not-needed", why=why)


def run_step(
    device: Device, what: str, arguments: Sequence[str], *, accept: Callable[[CommandResult], bool]
) -> Step:
    """Run a command and record what came of it; Android's refusal is an outcome, not an error.

    Args:
        device: The device.
        what: What it is for.
        arguments: The command.
        accept: Tells from its result whether it did it; many commands end with status 0 in any case.

    Raises:
        DeviceError: the device fails.
    """
    command = shlex.join(arguments)
    result = device.run(arguments)
    if result.exit_status == 0 and accept(result):
        return Step(what, "done", command)
    return Step(what, "refused", command, said_by(result))


def said_by(result: CommandResult) -> str:
    """Return the line by which a command says what is wrong, of its usage and stack only the reason."""
    for stream in (result.error_text, result.text):
        lines = [line.strip() for line in stream.splitlines() if line.strip()]
        reasons_given = [line for line in lines if not line.startswith(("at ", "usage:"))]
        if reasons_given:
            reasons = [line for line in reasons_given if "Exception: " in line or line.startswith("Error")]
            return excerpt((reasons or reasons_given)[0])
    return f"it ended with status {result.exit_status}"


def refused(what: str, command: str | None, error: CommandFailedError | DeviceOutputError) -> Step:
    """Return the record of a step that ended with an error of Android."""
    hint = f"; {error.hint}" if error.hint else ""
    return Step(what, "refused", command, error.message + hint)

"""What every parser of a command's output does the same way."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from droidgate.devices.device_errors import CommandFailedError, DeviceOutputError, excerpt

_MAX_LINES: Final = 200_000

SERVICE_MISSING: Final = "Can't find service"
PACKAGE_MANAGER_HINT: Final = "wait until Android has started, then try again"


def output_lines(command: str, text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines that are not empty, with their numbers from 1.

    Raises:
        DeviceOutputError: the last line is cut off, there are too many, or one holds a control character.
    """
    if text and not text.endswith("\n"):
        raise DeviceOutputError(command, "the output is cut off", text=text[-40:])
    for number, raw in enumerate(text.split("\n"), 1):
        line = raw.removesuffix("\r")
        if number > _MAX_LINES:
            raise DeviceOutputError(command, f"there are more than {_MAX_LINES} lines", line=number)
        if not line:
            continue
        if not line.isprintable():
            raise DeviceOutputError(command, "the line has a control character", line=number, text=line)
        yield number, line


def command_failed(command: str, exit_status: int, text: str, error_text: str = "") -> CommandFailedError:
    """Return the error for a command that ended with an error; Android's text is quoted."""
    said = _first_line(error_text) or _first_line(text)
    hint = PACKAGE_MANAGER_HINT if SERVICE_MISSING in said else None
    reason = f": {excerpt(said)}" if said else ""
    return CommandFailedError(
        f"{command} ended with status {exit_status}{reason}", exit_status=exit_status, hint=hint
    )


def _first_line(text: str) -> str:
    return next((line for line in text.split("\n") if line.strip()), "").strip()

"""What can go wrong with a device: one class for each fix that a user has. All exit with code 4.

DeviceError
├── ServerUnreachableError    no adb server answers, or none can be started
├── ServerVersionError        what answers is not an adb server that we can use
├── NoDeviceError             no device of that serial, or none at all
├── SeveralDevicesError       more than one, and none was named
├── DeviceStateError          it is there, but offline, unauthorized, in recovery...
├── DeviceGoneError           it went away while it was used
├── DeviceChangedError        another device answers by the same serial
├── UnsupportedDeviceError    it is too old for what is needed
├── DeadlineError             it did not answer in time
├── CanceledError             somebody ended the command before it ended by itself
├── OutputLimitError          it sends more than was asked for
├── ProtocolError             the bytes are not adb's protocol
├── UnsafeArgumentError       an argument that must not be sent
├── CommandFailedError        a command ended with an error
├── ConditionError            a command was not run, because its condition does not hold
├── TransferError             a file could not be read or written
└── DeviceOutputError         a command's output is not what that command prints

All parsers of a command's output raise the last one by the functions at the end.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from droidgate_mappings.model.errors import DeviceError, option_hint

EXCERPT_CHARACTERS: Final = 600
"""More than Android's reasons for refusing an app have, which name a path, a line, a class and the rule."""

_NOT_PRINTABLE: Final = re.compile(r"[^\x20-\x7e]")


class ServerUnreachableError(DeviceError):
    """No adb server answers, or none can be started."""


class ServerVersionError(DeviceError):
    """What answers is not an adb server that can be used."""


class NoDeviceError(DeviceError):
    """No device of that serial is attached, or none at all."""


class SeveralDevicesError(DeviceError):
    """More than one device is attached and none was named.

    Attributes:
        serials: Their serials.
    """

    def __init__(self, serials: Sequence[str]) -> None:
        message = f"{len(serials)} devices are attached: {', '.join(serials)}"
        super().__init__(
            message,
            hint=option_hint(
                "name one of them, as in {} or adb:SERIAL", "--serial SERIAL", "open_device(SERIAL)"
            ),
        )
        self.serials = tuple(serials)


class DeviceStateError(DeviceError):
    """The device is attached, but not usable.

    Attributes:
        serial: Which one.
        state: Its state in adb's word.
    """

    def __init__(self, serial: str, state: str, *, hint: str | None = None) -> None:
        super().__init__(f"the device is {state}", place=serial, hint=hint)
        self.serial = serial
        self.state = state


class DeviceGoneError(DeviceError):
    """The device, or the connection to it, went away before the answer was complete."""


class DeviceChangedError(DeviceError):
    """After a reconnect another device, or another build, answers by the same serial."""


class UnsupportedDeviceError(DeviceError):
    """The device lacks what is needed."""


class DeadlineError(DeviceError):
    """No complete answer within the deadline."""


class CanceledError(DeviceError):
    """The command was ended before it ended by itself."""


class OutputLimitError(DeviceError):
    """The device sends more than was asked for."""


class ProtocolError(DeviceError):
    """The bytes on the connection are not adb's protocol."""


class UnsafeArgumentError(DeviceError):
    """An argument that cannot be sent, or must not be."""


class CommandFailedError(DeviceError):
    """A command on the device ended with an error.

    Attributes:
        exit_status: Its exit status.
    """

    def __init__(
        self, message: str, *, exit_status: int, place: str | None = None, hint: str | None = None
    ) -> None:
        super().__init__(message, place=place, hint=hint)
        self.exit_status = exit_status


class ConditionError(DeviceError):
    """A command was not run, because its condition does not hold."""


class TransferError(DeviceError):
    """A file on the device could not be read or written."""


class DeviceOutputError(DeviceError):
    """A command printed something else than it does on any Android that we know.

    Attributes:
        command: The command, shortened.
        line: The line of its output, from 1, or None.
        excerpt: A short printable piece of it.
    """

    def __init__(self, command: str, message: str, *, line: int | None = None, text: str = "") -> None:
        short_text = excerpt(text)
        place = command if line is None else f"{command}:{line}"
        super().__init__(
            f"{message}: {short_text}" if short_text else message,
            place=place,
            hint="report it with the device's model and Android version",
        )
        self.command = command
        self.line = line
        self.excerpt = short_text


def excerpt(text: str) -> str:
    """Return a short piece of a device's text in printable ASCII; the rest is shown by its code."""
    piece = text[:EXCERPT_CHARACTERS]
    printable_piece = _NOT_PRINTABLE.sub(lambda match: match[0].encode("unicode-escape").decode(), piece)
    return f"{printable_piece}..." if len(text) > EXCERPT_CHARACTERS else printable_piece


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
    first_line = _first_line(error_text) or _first_line(text)
    hint = PACKAGE_MANAGER_HINT if SERVICE_MISSING in first_line else None
    reason = f": {excerpt(first_line)}" if first_line else ""
    return CommandFailedError(
        f"{command} ended with status {exit_status}{reason}", exit_status=exit_status, hint=hint
    )


def _first_line(text: str) -> str:
    return next((line for line in text.split("\n") if line.strip()), "").strip()

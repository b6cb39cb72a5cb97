"""Content providers from the shell: `content call`, `query`, `read` and `write`.

`content` ends with status 0 also when it fails, and escapes no value (reference android-runtime 1.8; AOSP
cmds/content Content.java). So what a provider returns is taken for exact only where it cannot be read in two
ways.
"""

from __future__ import annotations

import re
from typing import Final, Literal

from droidgate.devices.device import DEFAULT_SECONDS, MAX_OUTPUT_BYTES, Device
from droidgate.devices.device_errors import (
    CommandFailedError,
    DeviceOutputError,
    UnsafeArgumentError,
    command_failed,
    excerpt,
)
from droidgate.devices.quoting import check_user
from droidgate_mappings.records import dataclass

_CALL: Final = "content call"
_READ: Final = "content read"
_WRITE: Final = "content write"
_FAILED: Final = re.compile(
    r"^(?:Error while accessing provider:(?P<authority>.*)(?:\r?\n(?P<cause>.+))?|\[ERROR\] .*)$",
    re.MULTILINE,
)
_USAGE: Final = b"usage: adb shell content "
_URI: Final = re.compile(r"content://[\w.-]+(?:/[^\s\x00-\x1f]*)?", re.ASCII)
_WORD: Final = re.compile(r"[A-Za-z_][\w.:-]*", re.ASCII)
_TOKEN: Final = re.compile(r"(?P<key>[A-Za-z_][\w.-]*)=(?P<value>[\w.:+/=-]*)", re.ASCII)


class ProviderError(CommandFailedError):
    """A content provider could not be reached, or threw something.

    Attributes:
        authority: Whose it is.
        cause: Android's exception and its message in one line; empty where none was printed.
    """

    def __init__(self, command: str, authority: str, cause: str, *, exit_status: int) -> None:
        reason = f": {excerpt(cause)}" if cause else ""
        super().__init__(
            f"{command}: the provider {excerpt(authority)} failed{reason}", exit_status=exit_status
        )
        self.authority = authority
        self.cause = cause

    @property
    def is_missing(self) -> bool:
        """Android knows no provider of that authority, or hides it from the shell."""
        return "Could not find provider: " in self.cause


@dataclass(frozen=True, slots=True)
class ProviderResult:
    """What a provider's `call` returned.

    Attributes:
        text: The inside of the Bundle as Android prints it; None for null.
    """

    text: str | None

    def tokens(self) -> dict[str, str]:
        """Return the Bundle where all its values are plain tokens without blanks, commas or brackets.

        Raises:
            DeviceOutputError: a value is none, so that the text could be read in more than one way.
        """
        if not self.text:
            return {}
        values: dict[str, str] = {}
        for part in self.text.split(", "):
            match = _TOKEN.fullmatch(part)
            if match is None or match["key"] in values:
                raise DeviceOutputError(_CALL, "the Bundle holds more than plain tokens", text=part)
            values[match["key"]] = match["value"]
        return values


def call_provider(
    device: Device,
    uri: str,
    method: str,
    *,
    argument: str | None = None,
    user: int = 0,
    deadline: float = DEFAULT_SECONDS,
) -> ProviderResult:
    """Call a method of a content provider.

    Args:
        device: The device.
        uri: `content://authority`.
        method: Its name.
        argument: Its argument, not empty and not beginning with `--`, as `content` takes it for an option.
        user: The user whose provider it is; `content` itself would take user 0.
        deadline: Seconds to wait.

    Raises:
        UnsafeArgumentError: an argument is none that `content` takes.
        DeviceError: the device or the provider fails, or the output is not that of `content call`.
    """
    result = device.run(call_command(uri, method, argument=argument, user=user), deadline=deadline)
    return read_call(result.text, result.exit_status, result.error_text)


def call_command(uri: str, method: str, *, argument: str | None = None, user: int = 0) -> list[str]:
    """Return the command that calls a method of a content provider; arguments as `call_provider` takes them.

    Raises:
        UnsafeArgumentError: an argument is none that `content` takes.
    """
    if _WORD.fullmatch(method) is None:
        raise UnsafeArgumentError(f"{excerpt(method)!r} is not a method of a provider")
    arguments = ["content", "call", "--user", check_user(user), "--uri", _check_uri(uri), "--method", method]
    if argument is None:
        return arguments
    if not argument or argument.startswith("--"):
        raise UnsafeArgumentError("content takes no argument that is empty or begins with --")
    return [*arguments, "--arg", argument]


def stream_command(verb: Literal["read", "write"], uri: str, *, user: int = 0) -> list[str]:
    """Return the command that reads or writes the bytes of a provider.

    Raises:
        UnsafeArgumentError: the URI is none.
    """
    return ["content", verb, "--user", check_user(user), "--uri", _check_uri(uri)]


def read_call(text: str, exit_status: int = 0, error_text: str = "") -> ProviderResult:
    """Read what `content call` printed: `Result: Bundle[{...}]` or `Result: null`.

    Raises:
        CommandFailedError: the provider failed, whatever the exit status says.
        DeviceOutputError: it is not an answer of `content call`.
    """
    _refuse_failure(_CALL, text, exit_status, error_text)
    plain = text.replace("\r\n", "\n")
    if plain == "Result: null\n":
        return ProviderResult(None)
    inside = plain.removeprefix("Result: Bundle[").removesuffix("]\n")
    if len(inside) != len(plain) - len("Result: Bundle[]\n"):
        raise DeviceOutputError(_CALL, "it is not an answer of a call", text=plain)
    if inside.startswith("{") and inside.endswith("}"):
        return ProviderResult(inside[1:-1])
    raise DeviceOutputError(_CALL, "the Bundle is not unpacked", text=inside)


def read_content(
    device: Device,
    uri: str,
    *,
    user: int = 0,
    deadline: float = DEFAULT_SECONDS,
    limit: int = MAX_OUTPUT_BYTES,
) -> bytes:
    """Return the bytes that a provider gives for reading.

    `content` prints them as they are, so an error which it prints in their place is reported only where it
    is in its own words; data that matters needs a frame.

    Raises:
        UnsafeArgumentError: the URI is none.
        DeviceError: the device or the provider fails.
    """
    result = device.run(stream_command("read", uri, user=user), deadline=deadline, limit=limit)
    output = result.text if result.stdout.startswith(_USAGE) else ""
    _refuse_failure(_READ, output, result.exit_status, result.error_text)
    return result.stdout


def write_content(
    device: Device, uri: str, data: bytes, *, user: int = 0, deadline: float = DEFAULT_SECONDS
) -> None:
    """Give a provider bytes through what it opens for writing.

    Raises:
        UnsafeArgumentError: the URI is none.
        DeviceError: the device or the provider fails.
    """
    result = device.run(stream_command("write", uri, user=user), stdin=data, deadline=deadline)
    _refuse_failure(_WRITE, result.text, result.exit_status, result.error_text)
    if result.stdout.strip():
        raise DeviceOutputError(_WRITE, "it printed something", text=result.text)


def _check_uri(uri: str) -> str:
    if _URI.fullmatch(uri) is None:
        raise UnsafeArgumentError(f"{excerpt(uri)!r} is not a content URI")
    return uri


def _refuse_failure(command: str, text: str, exit_status: int, error_text: str) -> None:
    failed = _FAILED.search(error_text) or _FAILED.search(text)
    if exit_status != 0 or failed is not None or error_text.strip():
        reason = failed[0] if failed else text
        if failed is None:
            raise command_failed(command, exit_status, reason, error_text)
        if failed["authority"] is not None:
            cause = (failed["cause"] or "").strip()
            raise ProviderError(command, failed["authority"].strip(), cause, exit_status=exit_status)
        raise CommandFailedError(f"{command}: {excerpt(failed[0])}", exit_status=exit_status)

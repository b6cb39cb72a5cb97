"""`content` (AOSP's cmds/content): content providers from the shell; its exit status is 0 even on failure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from droidgate_phone.commands import Command, CommandCall
from droidgate_phone.commands.command_registry import refuse
from droidgate_phone.java.app_values import AndroidError
from droidgate_phone.java.uris import Uri
from droidgate_phone.system.callers import caller_of_uid
from droidgate_phone.system.intent_text import show_bundle
from droidgate_phone.system.processes import AndroidNotModelledError

_OWNER: Final = 0


class _UsageError(Exception):
    """What `content` says behind its usage."""


@dataclass(slots=True)
class _Arguments:
    uri: str | None = None
    method: str | None = None
    argument: str | None = None
    user: int = _OWNER


def _read(call: CommandCall, options: frozenset[str]) -> _Arguments:
    read = _Arguments()
    words = iter(call.arguments[1:])
    for option in words:
        if option not in options:
            raise _UsageError(f"Unsupported argument: {option}")
        value = next(words, "")
        if not value or value.startswith("--"):
            raise _UsageError(f"No value for argument: {option}")
        if option == "--uri":
            read.uri = value
        elif option == "--method":
            read.method = value
        elif option == "--arg":
            read.argument = value
        elif option == "--user":
            read.user = _OWNER if value in ("current", "cur") else _number(value)
    if read.uri is None:
        raise _UsageError("Content provider URI not specified. Did you specify --uri argument?")
    return read


def _number(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise _UsageError(f'For input string: "{text}"') from None


def _call(call: CommandCall, read: _Arguments) -> None:
    result = call.system.content.call(
        caller_of_uid(call.uid), read.uri or "", read.method or "", read.argument
    )
    call.write(f"Result: {'null' if result is None else show_bundle(result)}\n")


def _read_content(call: CommandCall, read: _Arguments) -> None:
    call.streams.output.write(call.system.content.read(caller_of_uid(call.uid), read.uri or ""))


def _write_content(call: CommandCall, read: _Arguments) -> None:
    call.system.content.write(caller_of_uid(call.uid), read.uri or "", call.streams.input.read(-1))


_COMMON: Final = frozenset({"--uri", "--user"})
_VERBS: Final[Mapping[str, tuple[Callable[[CommandCall, _Arguments], None], frozenset[str]]]] = {
    "call": (_call, _COMMON | {"--method", "--arg"}),
    "read": (_read_content, _COMMON),
    "write": (_write_content, _COMMON),
}
_OTHERS: Final = frozenset({"insert", "update", "delete", "gettype", "query"})


def run_content(call: CommandCall) -> int:
    """`content SUBCOMMAND OPTIONS`."""
    verb = call.arguments[0] if call.arguments else None
    if verb in _OTHERS:
        return refuse(call, f"content {verb}")
    if verb == "call" and "--extra" in call.arguments:
        return refuse(call, "content call --extra")
    if verb is None or verb not in _VERBS:
        return _print_usage(call, f"Unsupported operation: {verb or 'null'}")
    run, options = _VERBS[verb]
    try:
        read = _read(call, options)
    except _UsageError as error:
        return _print_usage(call, str(error))
    if verb == "call" and read.method is None:
        return _print_usage(call, "Content provider method not specified. Did you specify --method argument?")
    return _execute(call, read, run)


def _print_usage(call: CommandCall, problem: str) -> int:
    call.write(f"usage: adb shell content [subcommand] [options]\n\n[ERROR] {problem}\n")
    return 0


def _execute(call: CommandCall, read: _Arguments, run: Callable[[CommandCall, _Arguments], None]) -> int:
    authority = Uri(read.uri or "").authority or ""
    if read.user != _OWNER:
        message = f"java.lang.IllegalStateException: Could not find provider: {authority}"
        call.write_error(f"Error while accessing provider:{authority}\n{message}\n")
        return 0
    try:
        run(call, read)
    except AndroidNotModelledError as error:
        return refuse(call, error.what)
    except AndroidError as error:
        error_text = f"{error.exception}: {error.message}" if error.message else error.exception
        call.write_error(f"Error while accessing provider:{authority}\n{error_text}\n")
    return 0


COMMANDS: Final[Mapping[str, Command]] = {"content": run_content}

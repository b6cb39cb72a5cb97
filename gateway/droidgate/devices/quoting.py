"""From arguments to the one string that the device's shell parses: the only place that quotes.

adb joins what it gets and the device's shell splits it again, so each argument is quoted exactly once in
POSIX single quotes (reference android-runtime 3.2). Arguments that a command may take for an option are held
to a pattern before that.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Sequence
from typing import Final

from droidgate.devices.device_errors import UnsafeArgumentError, excerpt

MAX_ARGUMENT_BYTES: Final = 131_071
"""Longest argument that Linux takes (reference android-runtime 1.7)."""

SERIAL: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:\[\]%-]{0,127}")

_NAME: Final = re.compile(r"[A-Za-z]\w*(?:\.[A-Za-z]\w*)*", re.ASCII)
_CLASS: Final = re.compile(r"\.?[^\W\d][\w$]*(?:\.[\w$]+)*")
_ACTION: Final = re.compile(r"[A-Za-z_][\w.$:/-]*", re.ASCII)
_USER: Final = re.compile(r"\d{1,9}|current|all")


class DeviceCommand(str):
    """A command for a device's shell; only the functions of this module make one."""

    __slots__ = ()


def join_command(arguments: Sequence[str]) -> DeviceCommand:
    """Return arguments as one command for the device's shell.

    Raises:
        UnsafeArgumentError: there is none, or one holds NUL, is not text, or is too long for Linux.
    """
    if not arguments or not arguments[0]:
        raise UnsafeArgumentError("there is no command")
    return DeviceCommand(" ".join(quote_argument(argument) for argument in arguments))


def join_commands(commands: Iterable[Sequence[str]]) -> DeviceCommand:
    """Return commands that the device's shell runs one after the other, each whatever the one before did.

    Raises:
        UnsafeArgumentError: as `join_command`.
    """
    return DeviceCommand("; ".join(map(join_command, commands)))


def digest_command(commands: Iterable[Sequence[str]]) -> list[str]:
    """Return the command that prints the MD5 of all that commands print, on either stream, and `  -`.

    Behind what a command prints is its exit status, in a line.

    Raises:
        UnsafeArgumentError: as `join_command`.
    """
    each = DeviceCommand("; ".join(f"{join_command(command)}; echo $?" for command in commands))
    inner = join_command(["sh", "-c", each])
    return ["sh", "-c", DeviceCommand(f"{inner} </dev/null 2>&1 | md5sum")]


def join_guarded(
    condition: Sequence[str], line: str, arguments: Sequence[str], refusal: str
) -> DeviceCommand:
    """Return a command that the device's shell runs only if another command prints a line.

    Where it does not, the refusal is printed on standard error, with status 1. Neither gets any input, and
    nothing that the condition prints is seen. The shell parses no output of a command.

    Args:
        condition: A command and its arguments.
        line: What one whole line of its output has to be.
        arguments: The command to run.
        refusal: A text that the command cannot know.

    Raises:
        UnsafeArgumentError: as `join_command`; or the line is empty or several.
    """
    if not line or "\n" in line:
        raise UnsafeArgumentError("the condition of a command is not one line")
    check = f"{join_command(condition)} </dev/null 2>/dev/null | {join_command(['grep', '-Fxq', '--', line])}"
    refuse = f"{join_command(['printf', '%s', refusal])} >&2; exit 1"
    return DeviceCommand(f"{check} && exec {join_command(arguments)} </dev/null; {refuse}")


def quote_argument(argument: str) -> str:
    """Return an argument as the device's shell reads it back.

    Raises:
        UnsafeArgumentError: it holds NUL or half of a surrogate pair, or is too long for Linux.
    """
    if "\0" in argument:
        raise UnsafeArgumentError("an argument holds a NUL character, which no argument can")
    try:
        length = len(argument) if argument.isascii() else len(argument.encode())
    except UnicodeEncodeError:
        raise UnsafeArgumentError("an argument holds half of a surrogate pair") from None
    if length > MAX_ARGUMENT_BYTES:
        raise UnsafeArgumentError(
            f"an argument has {length} bytes, Linux takes {MAX_ARGUMENT_BYTES}",
            hint="send large data through standard input or as a file",
        )
    return shlex.quote(argument)


def check_serial(serial: str) -> str:
    """Return a serial that is safe to send.

    Raises:
        UnsafeArgumentError: it does not fit the pattern of serials.
    """
    return _check(SERIAL, serial, "serial")


def check_package(package: str) -> str:
    """Return a package name.

    Raises:
        UnsafeArgumentError: the text is not a package name.
    """
    return _check(_NAME, package, "package name")


def check_component(component: str) -> str:
    """Return a component, `package/class`; the class may begin with a dot.

    Raises:
        UnsafeArgumentError: the text is not a component.
    """
    if not is_component(component):
        raise _refusal("component", component)
    return component


def check_action(action: str) -> str:
    """Return the action of an Intent.

    Raises:
        UnsafeArgumentError: it could be taken for something else.
    """
    return _check(_ACTION, action, "action")


def check_user(user: int | str) -> str:
    """Return a user: a number, `current` or `all`.

    Raises:
        UnsafeArgumentError: it is none of these.
    """
    return _check(_USER, str(user), "user")


def is_package(text: str) -> bool:
    """Return whether a text is the name of an installed package.

    Android's own and those of some makers (`androidhwext`) have no dot, which Android asks of apps only.
    """
    return _NAME.fullmatch(text) is not None


def is_component(text: str) -> bool:
    """Return whether a text is a component as Android prints it: `package/class`."""
    package, slash, name = text.partition("/")
    return bool(slash) and is_package(package) and _CLASS.fullmatch(name) is not None


def _check(pattern: re.Pattern[str], text: str, word: str) -> str:
    if pattern.fullmatch(text) is None:
        raise _refusal(word, text)
    return text


def _refusal(word: str, text: str) -> UnsafeArgumentError:
    return UnsafeArgumentError(f"{excerpt(text)!r} is no {word}")

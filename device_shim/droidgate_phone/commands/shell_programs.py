"""sh, env, printenv, test, true, false, sleep, timeout, xargs, toybox: programs that start others or wait."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from droidgate_phone.commands import Command, CommandCall
from droidgate_phone.commands.toybox_options import (
    NotModelled,
    Options,
    OptionTable,
    UsageFault,
    absolute,
    number,
    toybox_command,
)
from droidgate_phone.file_layout import SHELL_PROGRAM
from droidgate_phone.files import VirtualFileError
from droidgate_phone.shell.errors import NOT_MODELLED_STATUS, CommandError

_SECONDS: Final = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_NOT_FOUND: Final = 127
_LONGEST_COMMAND: Final = 131072


def _script(call: CommandCall, text: str, name: str, arguments: tuple[str, ...]) -> int:
    from droidgate_phone.shell import run_script  # noqa: PLC0415 - the shell starts commands, and this one it

    return run_script(
        call.system,
        text,
        call.streams,
        name=name,
        arguments=arguments,
        uid=call.uid,
        environment=call.environment,
        directory=call.directory,
    )


def _sh(call: CommandCall) -> int:
    arguments = list(call.arguments)
    prefix = ""
    command = False
    while arguments and arguments[0][:1] in {"-", "+"} and len(arguments[0]) > 1:
        option = arguments.pop(0)
        if option == "--":
            break
        letters = option[1:]
        command = command or "c" in letters
        rest = letters.replace("c", "").replace("s", "")
        if option[0] == "+" or rest.strip("euf"):
            call.write_error(f"droidgate phone: sh {option} is not modelled\n")
            return NOT_MODELLED_STATUS
        prefix += f"set -{rest}\n" if rest else ""
    if command:
        if not arguments:
            call.write_error(f"{SHELL_PROGRAM}: -c: requires argument\n")
            return 1
        text, *others = arguments
        return _script(call, prefix + text, others[0] if others else "sh", tuple(others[1:]))
    if arguments:
        return _script_file(call, prefix, arguments)
    data = call.streams.input.read(-1).replace(b"\0", b"")
    return _script(call, prefix + data.decode("utf-8", "surrogateescape"), "sh", ())


def _script_file(call: CommandCall, prefix: str, arguments: list[str]) -> int:
    try:
        data = call.system.files.read(absolute(call, arguments[0]), uid=call.uid)
    except VirtualFileError as error:
        call.write_error(f"{SHELL_PROGRAM}: can't open {arguments[0]}: {error.strerror}\n")
        return _NOT_FOUND if error.strerror == "No such file or directory" else 126
    text = data.replace(b"\0", b"").decode("utf-8", "surrogateescape")
    return _script(call, prefix + text, arguments[0], tuple(arguments[1:]))


def _start(call: CommandCall, words: list[str], environment: Mapping[str, str]) -> int:
    """Start a program; 127 and a message as toybox's `exec` gives where there is none."""
    from droidgate_phone.shell import start_words  # noqa: PLC0415 - the shell starts commands, and this one it

    try:
        return start_words(call, words, environment)
    except CommandError as error:
        text = "No such file or directory" if error.status == _NOT_FOUND else "Permission denied"
        call.write_error(f"{call.name}: exec {words[0]}: {text}\n")
        return error.status


@toybox_command(OptionTable("0iu:", stops=True))
def _env(call: CommandCall, options: Options) -> int:
    environment = {} if "i" in options else dict(call.environment)
    for name in options.all_values.get("u", ()):
        environment.pop(name, None)
    words = list(options.operands)
    while words and "=" in words[0]:
        name, _, value = words.pop(0).partition("=")
        environment[name] = value
    if words:
        return _start(call, words, environment)
    end = "\0" if "0" in options else "\n"
    for name, value in environment.items():
        call.write(f"{name}={value}{end}")
    return 0


@toybox_command(OptionTable("0", {"null": "0"}))
def _printenv(call: CommandCall, options: Options) -> int:
    end = "\0" if "0" in options else "\n"
    if not options.operands:
        for name, value in call.environment.items():
            call.write(f"{name}={value}{end}")
        return 0
    status = 0
    for name in options.operands:
        if name in call.environment:
            call.write(call.environment[name] + end)
        else:
            status = 1
    return status


def _test(call: CommandCall) -> int:
    from droidgate_phone.shell import run_script  # noqa: PLC0415 - as above

    quoted = " ".join("'" + one.replace("'", "'\\''") + "'" for one in call.arguments)
    return run_script(
        call.system, f"{call.name} {quoted}", call.streams, uid=call.uid, environment=call.environment,
        directory=call.directory,
    )  # fmt: skip


def _true(_call: CommandCall) -> int:
    return 0


def _false(_call: CommandCall) -> int:
    return 1


def seconds_of(text: str) -> float:
    """Return how long `sleep` waits for a text: seconds, or with a suffix m, h, d.

    Raises:
        UsageFault: it is no time.
    """
    match = re.fullmatch(r"(\d+(?:\.\d*)?|\.\d+)([smhd]?)", text, re.ASCII)
    if match is None:
        raise UsageFault(f"not a number '{text}'")
    return min(float(match.group(1)) * _SECONDS[match.group(2)], 1e9)


@toybox_command(OptionTable(least=1))
def _sleep(call: CommandCall, options: Options) -> int:
    from droidgate_phone.shell import pause  # noqa: PLC0415 - as above

    del call
    pause(sum(seconds_of(one) for one in options.operands))
    return 0


@toybox_command(OptionTable("0E:I:n:L:s:rtpox", refused="LIEpo", stops=True))
def _xargs(call: CommandCall, options: Options) -> int:
    if "s" in options or "x" in options:
        raise NotModelled("xargs -s and -x")
    data = call.streams.input.read(-1)
    words = _null_words(data) if "0" in options else _blank_words(data)
    command = list(options.operands) or ["echo"]
    most = number(options.get("n")) if "n" in options else len(words) or 1
    if most < 1:
        raise UsageFault("bad -n '0'")
    if not words and "r" in options:
        return 0
    status = 0
    batches = [words[start : start + most] for start in range(0, len(words), most)] or [[]]
    for batch in batches:
        for part in _of_bearable_size(batch):
            if "t" in options:
                call.write_error(" ".join([*command, *part]) + "\n")
            ended = _start(call, [*command, *part], call.environment)
            if ended in {126, _NOT_FOUND}:
                return ended
            status = 123 if ended else status
    return status


def _of_bearable_size(words: list[str]) -> list[list[str]]:
    """Cut a list of words where the command line would become longer than the kernel takes."""
    parts: list[list[str]] = [[]]
    size = 0
    for word in words:
        size += len(word.encode("utf-8", "surrogateescape")) + 1
        if size > _LONGEST_COMMAND and parts[-1]:
            parts.append([])
            size = len(word)
        parts[-1].append(word)
    return parts


def _null_words(data: bytes) -> list[str]:
    return (
        [one.decode("utf-8", "surrogateescape") for one in data.removesuffix(b"\0").split(b"\0")]
        if data
        else []
    )


def _blank_words(data: bytes) -> list[str]:
    """Return the words of a text: blanks part them (toybox knows no quotes here)."""
    return [one.decode("utf-8", "surrogateescape") for one in data.replace(b"\0", b"").split()]


@toybox_command(OptionTable(stops=True))
def _toybox(call: CommandCall, options: Options) -> int:
    from droidgate_phone.commands.registry import TOYBOX, find_command  # noqa: PLC0415 - it lists this module

    if not options.operands:
        call.write(" ".join(sorted(TOYBOX)) + "\n")
        return 0
    name, *arguments = options.operands
    command = find_command(name) if name in TOYBOX else None
    if command is None:
        call.write_error(f"toybox: Unknown command {name}\n")
        return _NOT_FOUND
    return command(
        CommandCall(
            name, tuple(arguments), call.streams, call.system, call.environment, call.directory, call.uid
        )
    )


COMMANDS: Final[Mapping[str, Command]] = {
    "[": _test,
    "env": _env,
    "false": _false,
    "printenv": _printenv,
    "sh": _sh,
    "sleep": _sleep,
    "test": _test,
    "toybox": _toybox,
    "true": _true,
    "xargs": _xargs,
}

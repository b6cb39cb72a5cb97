"""Commands that the shell itself carries out."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from droidgate_phone.files import SEARCH, VirtualFileError
from droidgate_phone.shell.conditions import TestFault, run_test
from droidgate_phone.shell.errors import (
    CommandError,
    FunctionReturn,
    LoopEnd,
    NotModelledError,
    ShellError,
    ShellExit,
)
from droidgate_phone.shell.parser import RESERVED
from droidgate_phone.shell.printing import echo_bytes
from droidgate_phone.shell.programs import find_program
from droidgate_phone.shell.reading import read_variables
from droidgate_phone.shell.scanner import is_name
from droidgate_phone.shell.state import Options

if TYPE_CHECKING:
    from droidgate_phone.shell.interpreter import Interpreter

Builtin = Callable[["Interpreter", Sequence[str]], int]

_LETTERS: Final = {"e": "errexit", "u": "nounset", "f": "noglob", "C": "noclobber"}


def _true(_shell: Interpreter, _fields: Sequence[str]) -> int:
    return 0


def _false(_shell: Interpreter, _fields: Sequence[str]) -> int:
    return 1


def _echo(shell: Interpreter, fields: Sequence[str]) -> int:
    shell.state.output().write(echo_bytes(fields[1:]))
    return 0


def _test(shell: Interpreter, fields: Sequence[str]) -> int:
    arguments = list(fields[1:])
    if fields[0] == "[" and (not arguments or arguments.pop() != "]"):
        raise CommandError("[: missing ]", 2)
    try:
        return int(not run_test(arguments, shell.state, shell.expansion.evaluate))
    except TestFault as error:
        raise CommandError(f"{fields[0]}: {error}", 2) from None
    except CommandError as error:
        raise CommandError(str(error), 2) from None


def _number(fields: Sequence[str], default: int) -> int:
    """Return the number of `exit`, `return`, `shift`, `break`."""
    arguments = [one for one in fields[1:] if one != "--"]
    if not arguments:
        return default
    if len(arguments) > 1:
        kind = ShellError if fields[0] == "exit" else CommandError
        raise kind(f"{fields[0]}: too many arguments")
    text = arguments[0]
    if not (text.removeprefix("-").isdecimal() and text.isascii()):
        raise ShellError(f"{fields[0]}: bad number: {text}")
    return int(text)


def _exit(shell: Interpreter, fields: Sequence[str]) -> int:
    raise ShellExit(_number(fields, shell.state.status) & 0xFF)


def _return(shell: Interpreter, fields: Sequence[str]) -> int:
    raise FunctionReturn(_number(fields, shell.state.status) & 0xFF)


def _loop_end(shell: Interpreter, fields: Sequence[str]) -> int:
    levels = _number(fields, 1)
    if levels < 1:
        raise ShellError(f"{fields[0]}: {fields[1]}: bad value")
    if shell.state.loops == 0:
        shell.state.error(f"{fields[0]}: can't {fields[0]}")
        return 0
    if levels > shell.state.loops:
        levels = shell.state.loops
        shell.state.error(f"{fields[0]}: can only {fields[0]} {levels} level(s)")
    raise LoopEnd(levels, again=fields[0] == "continue")


def _shift(shell: Interpreter, fields: Sequence[str]) -> int:
    count = shell.expansion.evaluate(fields[1]) if len(fields) > 1 else 1
    if count < 0 or count > len(shell.state.positional):
        raise ShellError("shift: nothing to shift")
    shell.state.positional = shell.state.positional[count:]
    return 0


def _eval(shell: Interpreter, fields: Sequence[str]) -> int:
    state = shell.state
    state.run.demand_depth(state.depth + 1)
    state.depth += 1
    try:
        arguments = fields[2:] if fields[1:2] == ["--"] else fields[1:]
        text = " ".join(arguments)
        if not text.strip():
            return state.substitution_status or 0
        state.status = 0
        return shell.run_text(text)
    finally:
        state.depth -= 1


def _source(shell: Interpreter, fields: Sequence[str]) -> int:
    if len(fields) == 1:
        raise ShellError(".: missing argument")
    state = shell.state
    state.run.demand_depth(state.depth + 1)
    name = fields[1]
    path = name if "/" in name else find_program(state, name) or name
    try:
        text = state.system.files.read(state.path(path), uid=state.uid).decode("utf-8", "surrogateescape")
    except VirtualFileError as error:
        raise ShellError(f".: {name}: {error.strerror}") from None
    before = state.positional
    state.depth += 1
    if len(fields) > 2:  # noqa: PLR2004
        state.positional = tuple(fields[2:])
    try:
        state.status = 0
        return shell.run_text(text.replace("\0", ""))
    except FunctionReturn as end:
        return end.status
    finally:
        state.depth -= 1
        state.positional = before


def _cd_target(shell: Interpreter, targets: Sequence[str]) -> str:
    target = targets[0] if targets else shell.state.variables.get("HOME")
    if target is None:
        raise CommandError("cd: no home directory (HOME not set)", 2)
    if target == "-":
        before = shell.state.variables.get("OLDPWD")
        if before is None:
            raise CommandError("cd: no OLDPWD", 2)
        return before
    return target or "."


def _cd(shell: Interpreter, fields: Sequence[str]) -> int:
    state = shell.state
    options = [one for one in fields[1:] if one in {"-L", "-P", "--"}]
    targets = fields[1 + len(options) :]
    if len(targets) > 1:
        raise NotModelledError("cd OLD NEW")
    shown = list(targets) == ["-"]
    target = _cd_target(shell, targets)
    path = posixpath.normpath(state.path(target)).replace("//", "/")
    files = state.system.files
    try:
        if not files.stat(state.path(target), uid=state.uid).is_directory:
            raise CommandError(f"cd: {path}: Not a directory", 2)
        if "-P" in options:
            path = files.real_path(path, uid=state.uid)
    except VirtualFileError as error:
        raise CommandError(f"cd: {path}: {error.strerror}", 2) from None
    if not files.may(path, SEARCH, uid=state.uid):
        raise CommandError(f"cd: {path}: Permission denied", 2)
    state.variables.set("OLDPWD", state.directory)
    state.directory = path
    state.variables.set("PWD", path)
    if shown:
        state.write(path + "\n")
    return 0


def _pwd(shell: Interpreter, fields: Sequence[str]) -> int:
    directory = shell.state.directory
    if "-P" in fields[1:]:
        directory = shell.state.system.files.real_path(directory, uid=shell.state.uid)
    shell.state.write(directory + "\n")
    return 0


def _export(shell: Interpreter, fields: Sequence[str]) -> int:
    variables = shell.state.variables
    arguments = [one for one in fields[1:] if one != "--"]
    if not arguments or arguments == ["-p"]:
        if fields[0] == "readonly":
            raise NotModelledError("readonly without names")
        for name, value in sorted(variables.exported().items()):
            shell.state.write(f"export {name}={_quoted(value)}\n" if arguments else f"{name}={value}\n")
        return 0
    for argument in arguments:
        name, equals, value = argument.partition("=")
        _demand_name(fields[0], name, argument)
        if equals:
            variables.set(name, value)
        if fields[0] == "export":
            variables.mark(name, exported=True)
        else:
            variables.mark(name, read_only=True)
    return 0


def _demand_name(command: str, name: str, argument: str) -> None:
    if name.startswith("-"):
        raise NotModelledError(f"{command} {argument}")
    if not is_name(name):
        raise ShellError(f"{command}: {argument}: not an identifier")


def _quoted(text: str) -> str:
    if text and all(letter.isalnum() or letter in "_-./:,@%+" for letter in text):
        return text
    return "'" + text.replace("'", "'\\''") + "'"


def _local(shell: Interpreter, fields: Sequence[str]) -> int:
    variables = shell.state.variables
    for argument in fields[1:]:
        name, equals, value = argument.partition("=")
        _demand_name(fields[0], name, argument)
        if shell.state.in_function and variables.hidden:
            variables.hide(name)
        if equals:
            variables.set(name, value)
    return 0


def _unset(shell: Interpreter, fields: Sequence[str]) -> int:
    arguments = list(fields[1:])
    functions = arguments[:1] == ["-f"]
    if arguments[:1] in (["-f"], ["-v"], ["--"]):
        arguments.pop(0)
    status = 0
    for name in arguments:
        if name.startswith("-"):
            raise ShellError(f"unset: {name}: unknown option")
        if functions:
            if shell.state.functions.pop(name, None) is None:
                status = 1
        elif not is_name(name):
            raise ShellError(f"unset: {name}: not an identifier")
        else:
            shell.state.variables.unset(name)
    return status


def _set(shell: Interpreter, fields: Sequence[str]) -> int:
    arguments = list(fields[1:])
    if not arguments:
        for name, one in sorted(shell.state.variables.values.items()):
            if one.value is not None:
                shell.state.write(f"{name}={_quoted(one.value)}\n")
        return 0
    while arguments and arguments[0][:1] in {"-", "+"} and len(arguments[0]) > 1:
        option = arguments.pop(0)
        if option == "--":
            shell.state.positional = tuple(arguments)
            return 0
        for letter in option[1:]:
            name = _LETTERS.get(letter, f"-{letter}")
            if letter == "o":
                if not arguments:
                    raise NotModelledError("set -o without a name")
                name = arguments.pop(0)
            _set_option(shell.state.options, name, on=option[0] == "-")
    if arguments:
        shell.state.positional = tuple(arguments[1:] if arguments[0] == "-" else arguments)
    return 0


def _set_option(options: Options, name: str, *, on: bool) -> None:
    if name not in Options.__slots__:
        raise NotModelledError(f"set {name}")
    setattr(options, name, on)


def _command(shell: Interpreter, fields: Sequence[str]) -> int:
    arguments = list(fields[1:])
    looking = ""
    while arguments and arguments[0] in {"-v", "-V", "-p", "--"}:
        option = arguments.pop(0)
        looking = option if option in {"-v", "-V"} else looking
    if not arguments:
        return 0
    if looking == "-V":
        return _type(shell, ["type", *arguments])
    if looking:
        statuses = [_name_of(shell, name) for name in arguments]
        return int(any(statuses))
    if arguments[0] in BUILTINS:
        return BUILTINS[arguments[0]](shell, arguments)
    return shell.start(arguments)


def _name_of(shell: Interpreter, name: str) -> int:
    if name in RESERVED or name in shell.state.functions or name in BUILTINS:
        shell.state.write(name + "\n")
        return 0
    path = find_program(shell.state, name)
    if path is None:
        return 1
    shell.state.write(path + "\n")
    return 0


def _type(shell: Interpreter, fields: Sequence[str]) -> int:
    status = 0
    for name in fields[1:]:
        if name in RESERVED:
            text = "a reserved word"
        elif name in SPECIAL:
            text = "a special shell builtin"
        elif name in shell.state.functions:
            text = "a function"
        elif name in BUILTINS:
            text = "a shell builtin"
        else:
            path = find_program(shell.state, name)
            if path is None:
                shell.state.write(f"{name} not found\n")
                status = 1
                continue
            text = path if "/" in name else f"a tracked alias for {path}"
        shell.state.write(f"{name} is {text}\n")
    return status


def _let(shell: Interpreter, fields: Sequence[str]) -> int:
    if len(fields) == 1:
        raise CommandError("let: no arguments")
    try:
        values = [shell.expansion.evaluate(one) for one in fields[1:]]
    except CommandError as error:
        raise CommandError(str(error), 2) from None
    return int(values[-1] == 0)


def _wait(_shell: Interpreter, fields: Sequence[str]) -> int:
    return 127 if len(fields) > 1 else 0


def _refused(_shell: Interpreter, fields: Sequence[str]) -> int:
    raise NotModelledError(f"`{fields[0]}`")


BUILTINS: Final[Mapping[str, Builtin]] = {
    ":": _true,
    ".": _source,
    "[": _test,
    "break": _loop_end,
    "cd": _cd,
    "command": _command,
    "continue": _loop_end,
    "echo": _echo,
    "eval": _eval,
    "exit": _exit,
    "export": _export,
    "false": _false,
    "let": _let,
    "local": _local,
    "pwd": _pwd,
    "read": read_variables,
    "readonly": _export,
    "return": _return,
    "set": _set,
    "shift": _shift,
    "source": _source,
    "test": _test,
    "true": _true,
    "type": _type,
    "typeset": _local,
    "unset": _unset,
    "wait": _wait,
    **dict.fromkeys(
        (
            "alias", "bg", "bind", "builtin", "fc", "fg", "getopts", "global", "jobs", "mknod", "print",
            "rename", "suspend", "times", "trap", "ulimit", "umask", "unalias", "whence",
        ),
        _refused,
    ),
}  # fmt: skip
"""Every builtin by name; `exec` is part of the interpreter."""

SPECIAL: Final = frozenset({
    ".", ":", "break", "continue", "eval", "exec", "exit", "export", "readonly", "return", "set", "shift",
    "times", "trap", "unset",
})  # fmt: skip
"""Builtins whose assignments stay and whose errors end the shell (POSIX 2.14)."""

"""Commands that the shell itself runs.

`echo` and `printf`: backslash escapes and formats.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from droidgate_phone.files import SEARCH, VirtualFileError
from droidgate_phone.shell.errors import CommandError, NotModelledError, ShellExit
from droidgate_phone.shell.state import ShellState

_SIMPLE: Final = {
    "a": b"\a", "b": b"\b", "e": b"\x1b", "f": b"\f", "n": b"\n", "r": b"\r", "t": b"\t", "v": b"\v",
    "\\": b"\\",
}  # fmt: skip
_ESCAPE: Final = re.compile(
    r"\\(0[0-7]{0,3}|[1-7][0-7]{0,2}|x[0-9a-fA-F]{1,2}|u[0-9a-fA-F]{1,4}|U[0-9a-fA-F]{1,8}|.)", re.DOTALL
)
_OPTIONS: Final = re.compile("-[neE]+")


def echo_bytes(arguments: Sequence[str]) -> bytes:
    r"""Return what mksh's `echo` writes: -E keeps escapes as they are, -n and `\c` leave out the newline."""
    expand, newline = True, True
    index = 0
    while index < len(arguments) and _OPTIONS.fullmatch(arguments[index]):
        for letter in arguments[index][1:]:
            newline = newline and letter != "n"
            expand = {"e": True, "E": False}.get(letter, expand)
        index += 1
    text = " ".join(arguments[index:])
    data = _encoded(text)
    if expand:
        data, ended = _unescape(text)
        newline = newline and not ended
    return data + (b"\n" if newline else b"")


def _unescape(text: str) -> tuple[bytes, bool]:
    r"""Return the bytes of a text with backslash escapes, and whether `\c` is in it."""
    made = bytearray()
    ended = False
    position = 0
    for match in _ESCAPE.finditer(text):
        made += _encoded(text[position : match.start()])
        position = match.end()
        found = match.group(1)
        letter, digits = found[0], found[1:]
        if letter == "c":
            ended = True
        elif letter == "0":
            made.append(int(found, 8) & 0xFF)
        elif letter == "x" and digits:
            made.append(int(digits, 16))
        elif letter in "uU" and digits:
            made += chr(min(int(digits, 16), 0xFFFD)).encode("utf-8", "surrogatepass")
        else:
            made += _SIMPLE.get(letter) or _encoded(match.group())
    return bytes(made + _encoded(text[position:])), ended


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


_LONGEST_NUMBER: Final = 10
_TRAPPED: Final = frozenset({"EXIT", "HUP", "INT", "PIPE", "TERM"})
Builtin = Callable[[ShellState, Sequence[str]], int]


def _true(_state: ShellState, _fields: Sequence[str]) -> int:
    return 0


def _false(_state: ShellState, _fields: Sequence[str]) -> int:
    return 1


def _echo(state: ShellState, fields: Sequence[str]) -> int:
    state.output().write(echo_bytes(fields[1:]))
    return 0


def _pwd(state: ShellState, fields: Sequence[str]) -> int:
    if len(fields) > 1:
        raise NotModelledError(f"pwd {fields[1]}")
    state.write(state.directory + "\n")
    return 0


def _exit(state: ShellState, fields: Sequence[str]) -> int:
    text = fields[1] if len(fields) > 1 else str(state.status)
    if len(fields) > len(("exit", "status")):
        raise CommandError("exit: too many arguments")
    if not (text.removeprefix("-").isdecimal() and text.isascii() and len(text) <= _LONGEST_NUMBER):
        raise CommandError(f"exit: bad number: {text}")
    raise ShellExit(int(text) & 0xFF)


def _export(state: ShellState, fields: Sequence[str]) -> int:
    if len(fields) == 1:
        raise NotModelledError("export without a name")
    for argument in fields[1:]:
        name, equals, value = argument.partition("=")
        if argument.startswith("-"):
            raise NotModelledError(f"export {argument}")
        if not (name.isascii() and name.isidentifier()):
            raise CommandError(f"export: {argument}: not an identifier")
        if equals:
            state.variables[name] = value
        state.exported |= {name}
    return 0


def _cd(state: ShellState, fields: Sequence[str]) -> int:
    target = fields[1] if len(fields) > 1 else state.variables.get("HOME", "/")
    if len(fields) > len(("cd", "folder")) or target.startswith("-"):
        raise NotModelledError(f"cd {' '.join(fields[1:])}")
    path = posixpath.normpath(state.path(target or ".")).replace("//", "/")
    files = state.system.files
    try:
        if not files.stat(state.path(target or "."), uid=state.uid).is_directory:
            raise CommandError(f"cd: {path}: Not a directory", 2)
        if not files.may(path, SEARCH, uid=state.uid):
            raise CommandError(f"cd: {path}: Permission denied", 2)
    except VirtualFileError as error:
        raise CommandError(f"cd: {path}: {error.strerror}", 2) from None
    state.variables["OLDPWD"] = state.directory
    state.variables["PWD"] = state.directory = path
    return 0


def _test(state: ShellState, fields: Sequence[str]) -> int:
    arguments = list(fields[1:])
    if fields[0] == "[" and (not arguments or arguments.pop() != "]"):
        raise CommandError("[: missing ]", 2)
    match arguments:
        case []:
            holds = False
        case [text]:
            holds = bool(text)
        case ["-n" | "-z" as operator, text]:
            holds = bool(text) == (operator == "-n")
        case ["-e" | "-f" | "-d" as operator, path]:
            holds = _is_file(state, operator, path)
        case [left, "=" | "!=" as operator, right] if left not in {"!", "("}:
            holds = (left == right) == (operator == "=")
        case _:
            raise NotModelledError(f"test {' '.join(arguments)}")
    return int(not holds)


def _is_file(state: ShellState, operator: str, path: str) -> bool:
    try:
        status = state.system.files.stat(state.path(path) if path else "", uid=state.uid)
    except VirtualFileError:
        return False
    return {"-e": True, "-f": status.is_file, "-d": status.is_directory}[operator]


def _trap(state: ShellState, fields: Sequence[str]) -> int:
    _, *arguments = fields
    command, *names = arguments or ("-",)
    if command == "-" or not names or not _TRAPPED.issuperset(names):
        raise NotModelledError(f"trap {' '.join(arguments)}")
    state.traps |= dict.fromkeys(names, command)
    return 0


def _refused(_state: ShellState, fields: Sequence[str]) -> int:
    raise NotModelledError(f"the shell's `{fields[0]}`")


SPECIAL: Final = frozenset({":", "exec", "exit", "export", "trap"})
"""Builtins whose assignments stay and whose errors end the shell (POSIX 2.14)."""

BUILTINS: Final[Mapping[str, Builtin]] = {
    ":": _true,
    "[": _test,
    "cd": _cd,
    "echo": _echo,
    "exit": _exit,
    "export": _export,
    "false": _false,
    "pwd": _pwd,
    "test": _test,
    "trap": _trap,
    "true": _true,
    **dict.fromkeys(
        (
            ".", "alias", "bg", "bind", "break", "builtin", "command", "continue", "eval", "fc", "fg",
            "getopts", "global", "jobs", "let", "local", "mknod", "print", "read", "readonly", "rename",
            "return", "set", "shift", "source", "suspend", "times", "type", "typeset", "ulimit",
            "umask", "unalias", "unset", "wait", "whence",
        ),
        _refused,
    ),
}  # fmt: skip
"""Every builtin of mksh by name, those that the phone refuses included."""

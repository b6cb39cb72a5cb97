"""`read`: a line into variables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from droidgate_phone.shell.errors import NotModelledError, ShellError
from droidgate_phone.shell.scanner import is_name

if TYPE_CHECKING:
    from droidgate_phone.shell.interpreter import Interpreter

_BLANKS = " \t\n"
_CHECKED_EVERY = 4096


def read_variables(shell: Interpreter, fields: Sequence[str]) -> int:
    """Read a line and set variables to its fields, the last one to the rest; 1 at the end of the input."""
    names = list(fields[1:])
    raw = False
    while names and names[0].startswith("-") and len(names[0]) > 1:
        option = names.pop(0)
        if option == "--":
            break
        if option != "-r":
            raise NotModelledError(f"read {option}")
        raw = True
    names = names or ["REPLY"]
    for name in names:
        if not is_name(name):
            raise ShellError(f"read: {name}: not an identifier")
    line, complete = _line(shell, raw=raw)
    separators = shell.state.variables.get("IFS")
    values = _split(line, len(names), _BLANKS if separators is None else separators)
    for name, value in zip(names, values, strict=True):
        shell.state.variables.set(name, value)
    return 0 if complete else 1


def _line(shell: Interpreter, *, raw: bool) -> tuple[list[tuple[str, bool]], bool]:
    """Return a line's characters, each with whether it was escaped, and whether the line was complete."""
    stream = shell.state.input()
    data = bytearray()
    escaped: set[int] = set()
    read = 0
    while True:
        byte = stream.read(1)
        if not byte or byte == b"\n":
            complete = bool(byte)
            break
        if byte == b"\\" and not raw:
            byte = stream.read(1)
            if byte == b"\n":
                continue
            if not byte:
                complete = False
                break
            escaped.add(len(data))
        read += 1
        shell.state.run.demand_text(read)
        if not read % _CHECKED_EVERY:
            shell.state.run.check()
        if byte != b"\0":
            data += byte
    return _characters(bytes(data), escaped), complete


def _characters(data: bytes, escaped: set[int]) -> list[tuple[str, bool]]:
    characters: list[tuple[str, bool]] = []
    position = 0
    for letter in data.decode("utf-8", "surrogateescape"):
        characters.append((letter, position in escaped))
        position += len(letter.encode("utf-8", "surrogateescape"))
    return characters


def _split(line: list[tuple[str, bool]], count: int, separators: str) -> list[str]:
    values: list[str] = []
    position = _skip(line, 0, separators, blanks_only=True)
    while len(values) < count - 1:
        start = position
        while position < len(line) and not _separates(line[position], separators):
            position += 1
        values.append(_text(line[start:position]))
        position = _skip(line, position, separators, blanks_only=False)
    rest = line[position:]
    while rest and _separates(rest[-1], separators) and rest[-1][0] in _BLANKS:
        rest.pop()
    if rest and _separates(rest[-1], separators) and sum(_separates(one, separators) for one in rest) == 1:
        rest.pop()
        while rest and _separates(rest[-1], separators):
            rest.pop()
    values.append(_text(rest))
    return values


def _skip(line: list[tuple[str, bool]], position: int, separators: str, *, blanks_only: bool) -> int:
    """Return the position behind blanks, and behind one other separator with blanks around it."""
    seen = blanks_only
    while position < len(line) and _separates(line[position], separators):
        if line[position][0] not in _BLANKS:
            if seen:
                break
            seen = True
        position += 1
    return position


def _separates(character: tuple[str, bool], separators: str) -> bool:
    return not character[1] and character[0] in separators


def _text(characters: Sequence[tuple[str, bool]]) -> str:
    return "".join(letter for letter, _ in characters)

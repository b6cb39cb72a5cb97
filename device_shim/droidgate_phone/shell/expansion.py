"""From words to fields: variables, splitting at blanks, home folders and patterns of paths."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from droidgate_phone.files.phone_files import VirtualFileError, number_of
from droidgate_phone.shell.parsing import ParameterExpansion, ShellWord, Text
from droidgate_phone.shell.shell_errors import NotModelledError
from droidgate_phone.shell.shell_run import ShellRun
from droidgate_phone.shell.shell_state import ShellState

_BLANKS: Final = " \t\n"
_RUNS: Final = re.compile(r"[ \t\n]+|[^ \t\n]+")
_SPECIAL: Final = re.compile(r"[*?[{(]")
"""What begins a pattern; most words have none."""
_LONGEST_PATTERN: Final = 1 << 12

_Letter = tuple[str, bool]
"""A character, and whether it has its special meaning."""
_Field = list[tuple[str, bool]]
"""Texts, each with whether its characters have their special meaning."""
_Piece = tuple[str, bool, bool]
"""The same, with whether the text is split at blanks."""


@dataclass(frozen=True, slots=True, eq=False)
class _Set:
    """Characters of which one matches; all others where it is negated."""

    letters: str
    negated: bool = False

    def has(self, letter: str) -> bool:
        """Return whether a character matches."""
        return (letter in self.letters) != self.negated


_STAR: Final = _Set("")
_ANY: Final = _Set("", negated=True)
_Token = str | _Set


def expand_fields(words: Iterable[ShellWord], state: ShellState) -> list[str]:
    """Return the fields of a command's words after all expansions.

    Raises:
        NotModelledError: a field has braces or a kind of pattern that the phone does not model.
    """
    fields: list[str] = []
    for word in words:
        if len(word) == 1 and isinstance(part := word[0], Text) and _is_literal(part):
            state.run.require("text", len(part.text))
            state.run.require("fields", len(fields) + 1)
            fields.append(part.text)
            continue
        for field in _split(_pieces(word, state), state.run):
            fields.extend(_paths(field, state))
            state.run.require("fields", len(fields))
    return fields


def _is_literal(part: Text) -> bool:
    """Return whether a text that is a whole word stays as it is, as most do."""
    return part.quoted or not (part.text.startswith("~") or _SPECIAL.search(part.text))


def expand_text(word: ShellWord, state: ShellState) -> str:
    """Return a word as one text, without splitting and without patterns of paths."""
    return "".join(text for text, _, _ in _pieces(word, state))


def _pieces(word: ShellWord, state: ShellState) -> list[_Piece]:
    pieces: list[_Piece] = []
    size = 0
    for index, part in enumerate(word):
        if isinstance(part, ParameterExpansion):
            piece = (state.value(part.name), not part.quoted, not part.quoted)
        elif index == 0 and not part.quoted and part.text.startswith("~"):
            pieces += _home(part.text, state, whole=len(word) == 1)
            continue
        else:
            piece = (part.text, not part.quoted, False)
        size += len(piece[0])
        state.run.require("text", size)
        pieces.append(piece)
    return pieces


def _home(text: str, state: ShellState, *, whole: bool) -> list[_Piece]:
    """Return `~` or `~NAME` as a folder; the text itself where it does not name one."""
    name, slash, rest = text[1:].partition("/")
    folder: str | None = None
    if name in {"+", "-"}:
        raise NotModelledError(f"the shell's `~{name}`")
    if slash or whole:
        is_user = number_of(name) is not None and not name.isdecimal()
        folder = state.variables.get("HOME") if not name else "/" if is_user else None
    if folder is None:
        return [(text, True, False)]
    return [(folder, False, False), (slash + rest, True, False)]


def _split(pieces: Sequence[_Piece], run: ShellRun) -> list[_Field]:
    fields: list[_Field] = []
    starts = True
    for text, special, splits in pieces:
        for part in (match.group() for match in _RUNS.finditer(text)) if splits else (text,):
            if splits and part[0] in _BLANKS:
                starts = True
                continue
            if starts:
                fields.append([])
                run.require("fields", len(fields))
                starts = False
            fields[-1].append((part, special))
    return fields


def _paths(field: _Field, state: ShellState) -> list[str]:
    text = "".join(part for part, _ in field)
    special = "".join(part for part, active in field if active)
    if not _SPECIAL.search(special):
        return [text]
    if _is_in_order("{,}", special):
        raise NotModelledError("brace expansion: {a,b}")
    if any(start + "(" in special for start in "@?*+!"):
        raise NotModelledError("patterns with parentheses")
    if not any(letter in special for letter in "*?["):
        return [text]
    if len(text) > _LONGEST_PATTERN:
        raise NotModelledError(f"a pattern of more than {_LONGEST_PATTERN} characters")
    return _matching_paths([(letter, active) for part, active in field for letter in part], state) or [text]


def _is_in_order(letters: str, text: str) -> bool:
    """Return whether a text has all these letters, one after another."""
    position = -1
    return all((position := text.find(letter, position + 1)) >= 0 for letter in letters)


def _matching_paths(field: list[_Letter], state: ShellState) -> list[str]:
    """Return the paths that match, sorted; empty where none does."""
    components: list[list[_Letter]] = [[]]
    for letter in field:
        if letter[0] == "/":
            components.append([])
        else:
            components[-1].append(letter)
    paths = [""]
    for index, component in enumerate(components):
        last = index == len(components) - 1
        paths = [path for base in paths for path in _step(base, component, state)]
        if not last:
            paths = [path + "/" for path in paths if index == 0 or _exists(path + "/", state)]
        elif component:
            paths = [path for path in paths if _exists(path, state)]
        state.run.require("fields", len(paths))
    return sorted(paths)


def _step(base: str, component: list[_Letter], state: ShellState) -> list[str]:
    text = "".join(letter for letter, _ in component)
    pattern = _read_pattern(component)
    if all(isinstance(token, str) for token in pattern):
        return [base + text]
    names: list[str] = []
    with contextlib.suppress(VirtualFileError):
        names = state.system.files.list(state.path(base or "."), uid=state.uid)
    hidden = text.startswith(".")
    return [base + name for name in names if hidden == name.startswith(".") and _matches(pattern, name)]


def _read_pattern(component: list[_Letter]) -> list[_Token]:
    tokens: list[_Token] = []
    rest = list(component)
    while rest:
        letter, active = rest.pop(0)
        end = rest.index(("]", True)) if active and letter == "[" and ("]", True) in rest else -1
        if end >= 0:
            tokens.append(_read_set(rest[:end]))
            del rest[: end + 1]
        elif active and letter in "*?":
            tokens.append(_STAR if letter == "*" else _ANY)
        else:
            tokens.append(letter)
    return tokens


def _read_set(letters: list[_Letter]) -> _Set:
    """Return what is between `[` and `]` as characters that match."""
    text = "".join(letter for letter, _ in letters)
    if not text.strip("!") or not all(active for _, active in letters) or any(item in text for item in "[^-"):
        raise NotModelledError(f"the pattern [{text}]")
    return _Set(text.removeprefix("!"), negated=text.startswith("!"))


def _exists(path: str, state: ShellState) -> bool:
    with contextlib.suppress(VirtualFileError):
        if path.endswith("/"):
            return state.system.files.stat(state.path(path), uid=state.uid).is_directory
        state.system.files.lstat(state.path(path), uid=state.uid)
        return True
    return False


def _matches(pattern: list[_Token], name: str) -> bool:
    """Return whether a name matches, in time proportional to the product of both lengths at most."""
    star = mark = -1
    at = position = 0
    while position < len(name):
        token = pattern[at] if at < len(pattern) else ""
        if token is _STAR:
            star, mark = at, position
            at += 1
        elif token == name[position] or (isinstance(token, _Set) and token.has(name[position])):
            at += 1
            position += 1
        elif star >= 0:
            mark += 1
            at, position = star + 1, mark
        else:
            return False
    return all(token is _STAR for token in pattern[at:])

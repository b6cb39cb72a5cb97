"""Patterns of file names and of `case`: `*`, `?` and `[...]`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from droidgate_phone.shell.errors import NotModelledError

_CLASSES: Final = {
    "alnum": "0-9A-Za-z", "alpha": "A-Za-z", "blank": " \\t", "cntrl": "\\x00-\\x1f\\x7f", "digit": "0-9",
    "graph": "!-~", "lower": "a-z", "print": " -~", "punct": "!-/:-@\\[-`{-~", "space": "\\s",
    "upper": "A-Z", "xdigit": "0-9A-Fa-f",
}  # fmt: skip
_KSH_PATTERN: Final = re.compile(r"[@?*+!]\(")

PatternPart = tuple[str, bool]
"""Text, and whether `*`, `?` and `[` in it have their meaning."""


def is_pattern(parts: Iterable[PatternPart]) -> bool:
    """Return whether this matches more than one text."""
    return any(active and any(letter in "*?[" for letter in text) for text, active in parts)


class Pattern:
    """One pattern.

    Matching takes time in proportion to the text's length times the pattern's: a star gives way only as
    far as the part up to the next star demands, so no text makes it slow.
    """

    def __init__(self, parts: Iterable[PatternPart]) -> None:
        self._pieces = [_piece(one) for one in _split_at_stars(tuple(parts))]

    def matches(self, text: str) -> bool:
        """Return whether the whole text fits."""
        first = self._pieces[0]
        if len(self._pieces) == 1:
            return len(text) == first.length and first.fits(text, 0)
        last = self._pieces[-1]
        if len(text) < first.length + last.length or not first.fits(text, 0):
            return False
        position, end = first.length, len(text) - last.length
        for piece in self._pieces[1:-1]:
            found = piece.search(text, position, end)
            if found < 0:
                return False
            position = found + piece.length
        return last.fits(text, end)

    def prefix_length(self, text: str, *, longest: bool) -> int | None:
        """Return how long the longest or shortest beginning is that fits, None where none does."""
        first, *others = self._pieces
        if not first.fits(text, 0):
            return None
        position = first.length
        for index, piece in enumerate(others):
            last = index == len(others) - 1
            find = piece.search_last if longest and last else piece.search
            found = find(text, position, len(text))
            if found < 0:
                return None
            position = found + piece.length
        return position

    def suffix_start(self, text: str, *, longest: bool) -> int | None:
        """Return where the longest or shortest ending starts that fits, None where none does."""
        *others, last = self._pieces
        end = len(text) - last.length
        if end < 0 or not last.fits(text, end):
            return None
        for index, piece in enumerate(reversed(others)):
            first = index == len(others) - 1
            find = piece.search if longest and first else piece.search_last
            found = find(text, 0, end)
            if found < 0:
                return None
            end = found
        return end


class _Piece:
    """A part of a pattern between stars: it fits texts of one length only."""

    def __init__(self, expression: str, length: int) -> None:
        self.length = length
        self._expression = re.compile(expression, re.DOTALL)

    def fits(self, text: str, position: int) -> bool:
        return self._expression.match(text, position) is not None

    def search(self, text: str, position: int, end: int) -> int:
        """Return where it fits first, all of it between `position` and `end`; -1 for nowhere."""
        found = self._expression.search(text, position, end)
        return -1 if found is None else found.start()

    def search_last(self, text: str, position: int, end: int) -> int:
        """Return where it fits last."""
        return next((one for one in range(end - self.length, position - 1, -1) if self.fits(text, one)), -1)


def _split_at_stars(parts: tuple[PatternPart, ...]) -> list[tuple[PatternPart, ...]]:
    if any(active and _KSH_PATTERN.search(text) for text, active in parts):
        raise NotModelledError("the patterns of ksh: @() ?() *() +() !()")
    return _cut([(letter, active) for text, active in parts for letter in text])


def _cut(letters: list[PatternPart]) -> list[tuple[PatternPart, ...]]:
    pieces: list[list[PatternPart]] = [[]]
    index = 0
    while index < len(letters):
        letter, active = letters[index]
        if active and letter == "*":
            pieces.append([])
        elif active and letter == "[" and (end := _end_of_bracket(letters, index)) is not None:
            pieces[-1].append((_bracket(letters[index + 1 : end]), True))
            index = end
        elif active and letter == "?":
            pieces[-1].append((".", True))
        elif active and letter == "\\" and index + 1 < len(letters):
            index += 1
            pieces[-1].append((letters[index][0], False))
        else:
            pieces[-1].append((letter, False))
        index += 1
    return [tuple(piece) for piece in pieces]


def _piece(letters: tuple[PatternPart, ...]) -> _Piece:
    return _compiled(
        "".join(text if is_class else re.escape(text) for text, is_class in letters), len(letters)
    )


@lru_cache(maxsize=256)
def _compiled(expression: str, length: int) -> _Piece:
    return _Piece(expression, length)


def _end_of_bracket(letters: list[PatternPart], start: int) -> int | None:
    index = start + 1
    if index < len(letters) and letters[index][0] in "!^" and letters[index][1]:
        index += 1
    first = index
    while index < len(letters):
        letter, active = letters[index]
        if active and letter == "[" and index + 1 < len(letters) and letters[index + 1][0] == ":":
            text = "".join(one for one, _ in letters[index:])
            closing = text.find(":]")
            if closing > 0:
                index += closing + 2
                continue
        if letter == "]" and active and index > first:
            return index
        index += 1
    return None


def _bracket(letters: list[PatternPart]) -> str:
    negated = bool(letters) and letters[0][0] in "!^" and letters[0][1]
    rest = letters[1:] if negated else letters
    text = "".join(letter for letter, _ in rest)
    made: list[str] = []
    index = 0
    while index < len(rest):
        letter, active = rest[index]
        if text.startswith("[:", index) and (end := text.find(":]", index)) > 0:
            made.append(_CLASSES.get(text[index + 2 : end], ""))
            index = end + 2
        elif letter == "-" and active and 0 < index < len(rest) - 1:
            if text[index - 1] <= text[index + 1]:
                made.append("-")
            else:
                made.pop()
                index += 1
            index += 1
        else:
            made.append(re.escape(letter))
            index += 1
    inside = "".join(made)
    if not inside:
        return "." if negated else "(?!).?"
    return f"[{'^' if negated else ''}{inside}]"

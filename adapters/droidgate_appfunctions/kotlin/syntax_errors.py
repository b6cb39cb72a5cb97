"""The line of a syntax error in Kotlin text.

After an error in a class, tree-sitter often gives the whole class as one error. So the text is cut after a
line, its open brackets are closed, and it is parsed again: the error is in the first line after the longest
text that can still be completed.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

_TOKEN: Final = re.compile(rb"""//[^\n]*|/\*|\*/|\"{3}|"|\\.|\$\{|'(?:\\.[^'\n]*|[^'\\\n])'|[{}()\[\]]|\n""")
_CLOSERS: Final = {b"{": b"}", b"${": b"}", b"(": b")", b"[": b"]"}
_QUOTES: Final = frozenset({b'"', b'"""'})
_COMPLETIONS: Final = (b"", b"fun x() {}", b"0")
"""What a statement that ends in the middle may need: nothing, the declaration of annotations, or a value."""

_WINDOW: Final = 4
"""Lines around a line that are tried too: a text that ends in the middle of a statement may fit nothing."""

MAX_BYTES: Final = 1024 * 1024
"""Bytes that are parsed for one error; a text of 1000 lines needs less."""


def find_error_line(data: bytes, parsed_line: int, has_error: Callable[[bytes], bool]) -> int:
    """Return the 1-based line of the first syntax error of a Kotlin text.

    Args:
        data: The text.
        parsed_line: What is returned where finding the line would take too long.
        has_error: Returns whether a text has a syntax error.
    """
    search = _Search(_cuts(data), has_error, data)
    right, wrong = 0, len(search.cuts) + 1
    while wrong - right > 1 and search.left > 0:
        middle = (right + wrong) // 2
        after = next((item for item in search.window(middle, 1, wrong) if search.is_right(item)), None)
        if after is not None:
            right = after
            continue
        before = next((item for item in search.window(middle - 1, -1, right) if search.is_right(item)), right)
        right, wrong = max(right, before), middle
    return parsed_line if search.left <= 0 else min(wrong, len(search.cuts))


@dataclass(frozen=True, slots=True)
class _Open:
    """What is open at a place: a token, and what is open around it; whether one of them is no bracket."""

    token: bytes
    outer: _Open | None
    is_in_text: bool


@dataclass(frozen=True, slots=True)
class _Cut:
    """The end of a line in the text, and what is open there; `fits` is false inside texts and comments."""

    end: int
    inside: _Open | None
    fits: bool

    @property
    def closers(self) -> bytes:
        """What closes the text there; made when it is asked for, since that of each line would be long."""
        closers: list[bytes] = []
        inside = self.inside
        while inside is not None:
            closers += (_CLOSERS[inside.token], b"\n")
            inside = inside.outer
        return b"".join(closers)


@dataclass(slots=True)
class _Search:
    cuts: list[_Cut]
    has_error: Callable[[bytes], bool]
    data: bytes
    left: int = MAX_BYTES
    known: dict[int, bool] = field(default_factory=dict)

    @staticmethod
    def window(start: int, step: int, stop: int) -> range:
        """Return the lines from a line to the last one before `stop`, at most `_WINDOW` of them."""
        reach = start + step * _WINDOW
        return range(start, min(reach, stop) if step > 0 else max(reach, stop), step)

    def is_right(self, line: int) -> bool:
        """Return whether the text up to a line has no error that a completion would not remove."""
        if line not in self.known:
            cut = self.cuts[line - 1]
            self.known[line] = cut.fits and any(
                self.fits(self.data[: cut.end] + item + b"\n" + cut.closers) for item in _COMPLETIONS
            )
        return self.known[line]

    def fits(self, text: bytes) -> bool:
        self.left -= len(text)
        return self.left > 0 and not self.has_error(text)


def _cuts(data: bytes) -> list[_Cut]:
    """Return the cut after each line of a text."""
    cuts: list[_Cut] = []
    top: _Open | None = None
    is_open = True
    for found in _TOKEN.finditer(data):
        token, inside = found[0], b"" if top is None else top.token
        is_opened = is_closed = False
        if token == b"\n":
            cuts.append(_cut(found.end(), top, is_open=is_open))
            is_closed = inside == b'"'
        elif inside == b"/*":
            is_opened, is_closed = token == b"/*", token == b"*/"
        elif inside in _QUOTES:
            is_opened, is_closed = token == b"${", token == inside
        elif token in _CLOSERS or token in _QUOTES or token == b"/*":
            is_opened = True
        elif token in _CLOSERS.values():
            is_closed = _CLOSERS.get(inside) == token
            is_open = is_open and is_closed
        if is_opened:
            top = _Open(token, top, token not in _CLOSERS or (top is not None and top.is_in_text))
        elif is_closed and top is not None:
            top = top.outer
    return [*cuts, _cut(len(data), top, is_open=is_open)]


def _cut(end: int, inside: _Open | None, *, is_open: bool) -> _Cut:
    return _Cut(end, inside, is_open and not (inside is not None and inside.is_in_text))

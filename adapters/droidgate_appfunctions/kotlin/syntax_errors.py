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
class _Cut:
    """The end of a line in the text, and what closes the text there; None inside texts and comments."""

    end: int
    closers: bytes | None


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
            self.known[line] = cut.closers is not None and any(
                self.fits(self.data[: cut.end] + item + b"\n" + cut.closers) for item in _COMPLETIONS
            )
        return self.known[line]

    def fits(self, text: bytes) -> bool:
        self.left -= len(text)
        return self.left > 0 and not self.has_error(text)


def _cuts(data: bytes) -> list[_Cut]:
    """Return the cut after each line of a text."""
    cuts: list[_Cut] = []
    around: list[bytes] = []
    is_open = True
    for found in _TOKEN.finditer(data):
        token, inside = found[0], around[-1] if around else b""
        if token == b"\n":
            cuts.append(_cut(found.end(), around, is_open=is_open))
            if inside == b'"':
                around.pop()
        elif inside == b"/*":
            if token == b"/*":
                around.append(token)
            elif token == b"*/":
                around.pop()
        elif inside in _QUOTES:
            if token == inside:
                around.pop()
            elif token == b"${":
                around.append(token)
        elif token in _CLOSERS or token in _QUOTES or token == b"/*":
            around.append(token)
        elif token in _CLOSERS.values():
            if _CLOSERS.get(inside) == token:
                around.pop()
            else:
                is_open = False
    return [*cuts, _cut(len(data), around, is_open=is_open)]


def _cut(end: int, around: list[bytes], *, is_open: bool) -> _Cut:
    if not is_open or any(item not in _CLOSERS for item in around):
        return _Cut(end, None)
    return _Cut(end, b"".join(_CLOSERS[item] + b"\n" for item in reversed(around)))

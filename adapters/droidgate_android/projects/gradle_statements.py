"""The statements of a Gradle script, in Kotlin and in Groovy, with the blocks around them; nothing is run."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

MAX_CHARACTERS: Final = 256 * 1024
"""A longer script is not read."""

MAX_STATEMENT: Final = 8192
"""A longer statement is left out."""

MAX_HEADER: Final = 256
"""How many characters in front of a brace can name its block."""

MAX_BLOCKS: Final = 16
"""How many blocks around a statement are kept."""

_TOKEN = re.compile(
    r"\"\"\".*?(?:\"\"\"|\Z)|'''.*?(?:'''|\Z)|\"(?:\\.|[^\"\\\n])*+\"?|'(?:\\.|[^'\\\n])*+'?"
    r"|(?P<comment>//[^\n]*|/\*.*?(?:\*/|\Z))|[{}()\[\]\n;]|[^\"'/{}()\[\]\n;]+|.",
    re.DOTALL,
)
_NAMED_BLOCK = re.compile(r"\b(?:create|getByName|named|register|maybeCreate)\s*\(\s*[\"']([^\"']+)[\"']")
_LAST_WORD = re.compile(r"[\"'`]?(\w[\w-]*)[\"'`]?\s*(?:\([^()]*\))?\s*$")


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement of a script.

    Attributes:
        text: The statement without comments.
        line: The 1-based line on which it begins.
        path: The names of the blocks around it, outermost first.
        headers: The text in front of the brace of each of these blocks.
        is_header: A block follows, so the text is also the last header of the statements in it.
    """

    text: str
    line: int
    path: tuple[str, ...] = ()
    headers: tuple[str, ...] = ()
    is_header: bool = False


def read_statements(text: str) -> Iterator[Statement]:
    """Yield each statement of a script; nothing of one longer than `MAX_CHARACTERS`."""
    if len(text) > MAX_CHARACTERS:
        return
    headers: list[str] = []
    path: list[str] = []
    pieces: list[str] = []
    depth, line, first_line = 0, 1, 1
    for found in _TOKEN.finditer(text):
        piece = found[0]
        if found["comment"] is None:
            if not pieces:
                first_line = line
            if piece in "([":
                depth += 1
            elif piece in ")]":
                depth = max(0, depth - 1)
            elif piece == "{":
                depth = 0
            continues = depth > 0 or (bool(pieces) and pieces[-1].rstrip(" \t\r").endswith(","))
            if piece not in {"{", "}", ";"} and (piece != "\n" or continues):
                if pieces or piece.strip():
                    pieces.append(piece)
            else:
                joined = "".join(pieces).strip()
                pieces.clear()
                if joined and len(joined) <= MAX_STATEMENT:
                    around = tuple(path[-MAX_BLOCKS:]), tuple(headers[-MAX_BLOCKS:])
                    yield Statement(joined, first_line, *around, is_header=piece == "{")
                if piece == "{":
                    headers.append(joined[-MAX_HEADER:])
                    path.append(_block_name(headers[-1]))
                elif piece == "}":
                    depth = 0
                    if headers:
                        headers.pop()
                        path.pop()
        line += piece.count("\n")
    joined = "".join(pieces).strip()
    if joined and len(joined) <= MAX_STATEMENT:
        yield Statement(joined, first_line, tuple(path[-MAX_BLOCKS:]), tuple(headers[-MAX_BLOCKS:]))


def _block_name(header: str) -> str:
    named = _NAMED_BLOCK.search(header)
    if named is not None:
        return named[1]
    last = _LAST_WORD.search(header.strip())
    return last[1] if last is not None else ""

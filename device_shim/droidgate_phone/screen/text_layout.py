"""How wide text is, and into which lines it breaks."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from PIL import ImageFont
from PIL.ImageFont import FreeTypeFont

TEXT_SIZE: Final = 42
"""Height of letters, in pixels: 16 sp at 420 dpi."""
LINE_HEIGHT: Final = 56
"""Height of a line, in pixels."""
MOST_LINES: Final = 200
"""More lines than this fit no screen; what is behind them is neither measured nor drawn."""
_LONGEST_WORD: Final = 400


@lru_cache(maxsize=1)
def font() -> FreeTypeFont:
    """Return the one font of the phone; it knows Latin letters, others are drawn as boxes."""
    found = ImageFont.load_default(TEXT_SIZE)
    if not isinstance(found, FreeTypeFont):
        message = "Pillow was built without FreeType"
        raise TypeError(message)
    return found


@lru_cache(maxsize=8192)
def width_of(text: str) -> int:
    """Return how wide a text is in one line, in pixels."""
    return round(font().getlength(drawable(text)))


def drawable(text: str) -> str:
    """Return the text with a question mark for each half of a surrogate pair, which no font can draw."""
    return text.encode("utf-8", "replace").decode("utf-8")


def break_lines(text: str, width: int) -> tuple[str, ...]:
    """Return the lines of a text in so many pixels; an empty text has one empty line."""
    lines: list[str] = []
    for paragraph in text.split("\n"):
        for line in _broken(paragraph, width):
            lines.append(line)
            if len(lines) == MOST_LINES:
                return tuple(lines)
    return tuple(lines)


def _broken(paragraph: str, width: int) -> Iterator[str]:
    line = ""
    for word in paragraph.split(" "):
        longer = f"{line} {word}" if line else word
        if width_of(longer) <= width:
            line = longer
            continue
        if line:
            yield line
        *full, line = _pieces(word, width)
        yield from full
    yield line


def _pieces(word: str, width: int) -> list[str]:
    """Break one word that may be wider than the line."""
    if width_of(word) <= width:
        return [word]
    pieces, piece = [], ""
    for character in word[: _LONGEST_WORD * MOST_LINES]:
        if piece and width_of(piece[-_LONGEST_WORD:] + character) > width:
            pieces.append(piece)
            piece = ""
        piece += character
    return [*pieces, piece]

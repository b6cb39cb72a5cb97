"""From a view tree to rectangles on the display, and from a text to lines.

Views in a column are below each other; views in a row are side by side with equal widths. A list takes what
is left and scrolls. Parts that would reach out of their container are cut off. Views of which nothing is left
are not on the screen.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Final

from PIL import ImageFont
from PIL.ImageFont import FreeTypeFont

from droidgate_phone.java.app_values import View

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
    default_font = ImageFont.load_default(TEXT_SIZE)
    if not isinstance(default_font, FreeTypeFont):
        message = "Pillow was built without FreeType"
        raise TypeError(message)
    return default_font


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


STATUS_BAR: Final = 63
"""Height of the bar at the top of the display, in pixels."""
PADDING: Final = 32
"""Room between a view's edge and its text, in pixels."""
GAP: Final = 8
"""Room between two views, in pixels."""
_BUTTON_PADDING: Final = 40

Path = tuple[int, ...]
"""Where a view is in its tree: the position among its siblings, from the root down."""


@dataclass(frozen=True, slots=True)
class Display:
    """A display: width and height in pixels as it is held now, and by how many quarters it is turned."""

    width: int = 1080
    height: int = 2400
    rotation: int = 0

    def turned(self, rotation: int) -> Display:
        """Return the display in another position, 0 to 3 quarters from upright."""
        upright = (self.width, self.height) if self.rotation % 2 == 0 else (self.height, self.width)
        width, height = upright if rotation % 2 == 0 else upright[::-1]
        return Display(width, height, rotation % 4)


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle in pixels; right and bottom are the first columns and rows outside."""

    left: int
    top: int
    right: int
    bottom: int

    @property
    def width(self) -> int:
        """Its width."""
        return max(0, self.right - self.left)

    @property
    def height(self) -> int:
        """Its height."""
        return max(0, self.bottom - self.top)

    @property
    def is_empty(self) -> bool:
        """Whether it holds no pixel."""
        return not (self.width and self.height)

    def cut(self, other: Box) -> Box:
        """Return what both have in common."""
        return Box(
            max(self.left, other.left),
            max(self.top, other.top),
            min(self.right, other.right),
            min(self.bottom, other.bottom),
        )

    def holds(self, x: int, y: int) -> bool:
        """Return whether a pixel is inside."""
        return self.left <= x < self.right and self.top <= y < self.bottom


@dataclass(frozen=True, slots=True)
class Placed:
    """A view on the screen.

    Attributes:
        view: The view.
        path: Where it is in the tree.
        box: The pixels of it that are seen.
        full: The pixels that it would take if nothing were cut off.
        lines: Its text, line by line.
        children: The views in it of which something is seen.
        overflow: By how many pixels a list can be scrolled.
    """

    view: View
    path: Path
    box: Box
    full: Box
    lines: tuple[str, ...]
    children: tuple[Placed, ...]
    overflow: int = 0

    def walk(self) -> Iterator[Placed]:
        """Yield it and everything in it, in drawing order."""
        yield self
        for child in self.children:
            yield from child.walk()

    def at(self, x: int, y: int) -> Placed | None:
        """Return the innermost view at a pixel."""
        if not self.box.holds(x, y):
            return None
        views = (child.at(x, y) for child in self.children)
        return next((item for item in views if item is not None), self)


def lay_out(root: View, display: Display, scrolled: Mapping[Path, int] | None = None) -> Placed:
    """Place a tree below the status bar.

    Args:
        root: The tree.
        display: What it is shown on.
        scrolled: By how many pixels the lists at these paths are scrolled.
    """
    area = Box(0, min(STATUS_BAR, display.height), display.width, display.height)
    return _Layout(scrolled or {}).place(root, (), area, area)


def shown_text(view: View) -> str:
    """Return the text that a view shows: its own, or the hint of an empty input."""
    return view.text or (view.hint if view.kind == "input" else "")


class _Layout:
    def __init__(self, scrolled: Mapping[Path, int]) -> None:
        self._scrolled = scrolled

    def place(self, view: View, path: Path, full: Box, clip: Box) -> Placed:
        box = full.cut(clip)
        lines = _lines_of(view, full.width)
        if not view.children:
            return Placed(view, path, box, full, lines, ())
        overflow = max(0, _height_of(view, full.width) - full.height) if view.kind == "list" else 0
        boxes = self._boxes_of_children(view, path, full, overflow)
        children = (
            self.place(child, (*path, position), child_box, box)
            for position, (child, child_box) in enumerate(zip(view.children, boxes, strict=True))
        )
        seen = tuple(child for child in children if not child.box.is_empty)
        return Placed(view, path, box, full, lines, seen, overflow)

    def _boxes_of_children(self, view: View, path: Path, full: Box, overflow: int) -> list[Box]:
        if view.kind == "row":
            edges = [
                full.left + full.width * at // len(view.children) for at in range(len(view.children) + 1)
            ]
            return [Box(left, full.top, right, full.bottom) for left, right in pairwise(edges)]
        top = full.top - min(self._scrolled.get(path, 0), overflow)
        boxes = []
        for height in self._heights_of_children(view, full):
            boxes.append(Box(full.left, top, full.right, top + height))
            top += height + GAP
        return boxes

    def _heights_of_children(self, view: View, full: Box) -> list[int]:
        heights = [_height_of(child, full.width) for child in view.children]
        spare = full.height - sum(heights) - GAP * (len(heights) - 1)
        for position, child in enumerate(view.children):
            if spare < 0 and child.kind == "list" and view.kind == "column":
                cut = min(heights[position], -spare)
                heights[position] -= cut
                spare += cut
        return heights


def _lines_of(view: View, width: int) -> tuple[str, ...]:
    if view.children or view.kind in {"column", "row", "list"}:
        return ()
    return break_lines(shown_text(view), max(1, width - 2 * PADDING))


def _height_of(view: View, width: int) -> int:
    if view.kind == "row":
        share = width // max(1, len(view.children))
        return max((_height_of(child, share) for child in view.children), default=0)
    if view.kind in {"column", "list"}:
        heights = [_height_of(child, width) for child in view.children]
        return sum(heights) + GAP * max(0, len(heights) - 1)
    padding = PADDING if view.kind == "text" else _BUTTON_PADDING
    return LINE_HEIGHT * len(_lines_of(view, width)) + 2 * padding

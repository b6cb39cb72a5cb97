"""Pictures of a screen for models: scaled to a size, with the ids of the controls drawn on them."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from PIL import Image, ImageDraw, ImageFont

from droidgate.calls.screen.controls import Control
from droidgate_mappings.model.errors import InputError

PictureFormat = Literal["jpeg", "png"]

_MOST_PIXELS: Final = 64_000_000
_QUALITY: Final = 80
_TEXT_SIZE: Final = 18
_MARGIN: Final = 2

_Box = tuple[int, int, int, int]
_COLOURS: Final = ("#c2185b", "#1565c0", "#2e7d32", "#6a1b9a", "#bf360c", "#00695c")
"""Dark enough for white numbers; neighbours differ."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture of the screen.

    Attributes:
        data: The file.
        size: Its width and height in pixels.
        screen_size: Width and height of the screen in pixels.
    """

    data: bytes
    size: tuple[int, int]
    screen_size: tuple[int, int]


def make_picture(
    png: bytes, *, max_size: int, file_format: PictureFormat, controls: Sequence[Control] = ()
) -> Picture:
    """Return a picture that a model can be shown.

    Args:
        png: The screen as the phone sent it.
        max_size: Longest side in pixels; a smaller screen is not enlarged.
        file_format: What is written.
        controls: Those that get a box with their id.

    Raises:
        InputError: the phone did not send a PNG file that can be read, or it is too large.
    """
    try:
        with Image.open(io.BytesIO(png), formats=["PNG"]) as opened:
            screen_size = opened.size
            if screen_size[0] * screen_size[1] > _MOST_PIXELS:
                raise InputError(f"the phone's picture has {screen_size[0]} x {screen_size[1]} pixels")
            picture = opened.convert("RGB")
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        raise InputError("the phone's picture cannot be read") from error
    picture.thumbnail((max_size, max_size), Image.Resampling.LANCZOS)
    if controls:
        _draw_boxes(picture, controls, picture.width / screen_size[0])
    written = io.BytesIO()
    picture.save(written, file_format, quality=_QUALITY)
    return Picture(written.getvalue(), picture.size, screen_size)


def _draw_boxes(picture: Image.Image, controls: Sequence[Control], scale: float) -> None:
    """Draw a box around each control, small ones over large ones, and its id in a corner of the box."""
    pen = ImageDraw.Draw(picture)
    font = ImageFont.load_default(_TEXT_SIZE)
    boxes: list[tuple[str, _Box]] = []
    for control in sorted(controls, key=_area, reverse=True):
        left, top, right, bottom = (round(number * scale) for number in control.rect)
        if left < right and top < bottom and left < picture.width and top < picture.height:
            boxes.append((control.id, (left, top, min(right, picture.width), min(bottom, picture.height))))
    for number, (left, top, right, bottom) in boxes:
        pen.rectangle((left, top, right - 1, bottom - 1), outline=_colour(number), width=2)
    taken: set[tuple[int, int]] = set()
    for number, box in reversed(boxes):
        _, _, width, height = pen.textbbox((0, 0), number, font=font)
        x, y = _free_corner(box, (int(width) + 2 * _MARGIN, int(height) + 2 * _MARGIN), taken)
        pen.rectangle((x, y, x + width + 2 * _MARGIN, y + height + 2 * _MARGIN), fill=_colour(number))
        pen.text((x + _MARGIN, y + _MARGIN), number, fill="white", font=font)


def _free_corner(box: _Box, size: tuple[int, int], taken: set[tuple[int, int]]) -> tuple[int, int]:
    """Return where an id goes: in the first corner where no other id is, else in the upper left one."""
    left, top, right, bottom = box
    across, down = (left, max(left, right - size[0] - 1)), (top, max(top, bottom - size[1] - 1))
    corners = [(x, y) for y in down for x in across]
    cell = _TEXT_SIZE
    chosen = next((each for each in corners if (each[0] // cell, each[1] // cell) not in taken), corners[0])
    taken.add((chosen[0] // cell, chosen[1] // cell))
    return chosen


def _colour(number: str) -> str:
    return _COLOURS[int(number) % len(_COLOURS)]


def _area(control: Control) -> int:
    left, top, right, bottom = control.rect
    return (right - left) * (bottom - top)

"""Pictures of a screen for models: scaled to a size, with the ids of the controls drawn on them."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from PIL import Image, ImageDraw, ImageFont

from droidgate.mobile_agent.controls import Control
from droidgate.model.errors import InputError

PictureFormat = Literal["jpeg", "png"]

_MOST_PIXELS: Final = 64_000_000
_QUALITY: Final = 80
_TEXT_SIZE: Final = 18
_MARGIN: Final = 2
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
    """Draw a box around each control and its id in the box's corner, large boxes first."""
    pen = ImageDraw.Draw(picture)
    for control in sorted(controls, key=_area, reverse=True):
        left, top, right, bottom = (round(number * scale) for number in control.rect)
        if left < right and top < bottom and left < picture.width and top < picture.height:
            box = (left, top, min(right, picture.width) - 1, min(bottom, picture.height) - 1)
            _draw_box(pen, box, control.id)


def _area(control: Control) -> int:
    left, top, right, bottom = control.rect
    return (right - left) * (bottom - top)


def _draw_box(pen: ImageDraw.ImageDraw, box: tuple[int, int, int, int], number: str) -> None:
    colour = _COLOURS[int(number) % len(_COLOURS)]
    pen.rectangle(box, outline=colour, width=2)
    font = ImageFont.load_default(_TEXT_SIZE)
    _, _, width, height = pen.textbbox((0, 0), number, font=font)
    left, top = box[0], box[1]
    pen.rectangle((left, top, left + width + 2 * _MARGIN, top + height + 2 * _MARGIN), fill=colour)
    pen.text((left + _MARGIN, top + _MARGIN), number, fill="white", font=font)

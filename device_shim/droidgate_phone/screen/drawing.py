"""Pictures of the screen."""

from __future__ import annotations

import io
import struct
from typing import Final

from PIL import Image, ImageDraw

from droidgate_phone.screen.layout import PADDING, STATUS_BAR, Box, Display, Path, Placed
from droidgate_phone.screen.text_layout import LINE_HEIGHT, TEXT_SIZE, drawable, font, width_of

_PAPER: Final = (250, 250, 250)
_INK: Final = (33, 33, 33)
_FAINT: Final = (140, 140, 140)
_BAR: Final = (69, 90, 100)
_BUTTON: Final = (187, 222, 251)
_OFF: Final = (224, 224, 224)
_ON: Final = (129, 199, 132)
_FIELD: Final = (255, 255, 255)
_FOCUS: Final = (25, 118, 210)
_RGBA_8888: Final = 1
_SRGB: Final = 142_671_872
"""`HAL_DATASPACE_V0_SRGB`."""


def draw_screen(root: Placed | None, display: Display, focused: Path | None = None) -> Image.Image:
    """Return the picture of a screen; None for an empty one."""
    picture = Image.new("RGB", (display.width, display.height), _PAPER)
    pen = ImageDraw.Draw(picture)
    pen.rectangle((0, 0, display.width - 1, min(STATUS_BAR, display.height) - 1), fill=_BAR)
    for placed in root.walk() if root is not None else ():
        _draw(pen, placed, is_focused=placed.path == focused)
    return picture


def png_of(picture: Image.Image) -> bytes:
    """Return a picture as a PNG file."""
    written = io.BytesIO()
    picture.save(written, "PNG", compress_level=1)
    return written.getvalue()


def raw_of(picture: Image.Image) -> bytes:
    """Return a picture as `screencap` writes it without `-p`: width, height, format, colour space, pixels."""
    head = struct.pack("<4I", picture.width, picture.height, _RGBA_8888, _SRGB)
    return head + picture.convert("RGBA").tobytes()


def _draw(pen: ImageDraw.ImageDraw, placed: Placed, *, is_focused: bool) -> None:
    view, box = placed.view, placed.box
    if view.kind == "button":
        _fill(pen, box, _BUTTON if view.enabled else _OFF)
    elif view.kind == "switch":
        _fill(pen, box, _ON if view.checked else _OFF)
    elif view.kind == "input":
        _fill(pen, box, _FIELD, outline=_FOCUS if is_focused else _FAINT)
    elif view.kind == "icon":
        _fill(pen, box, _OFF)
    is_faint = not view.enabled or (view.kind == "input" and not view.text)
    is_centred = view.kind in {"button", "icon"}
    _write(pen, placed, _FAINT if is_faint else _INK, is_centred=is_centred)


def _fill(
    pen: ImageDraw.ImageDraw,
    box: Box,
    colour: tuple[int, int, int],
    *,
    outline: tuple[int, int, int] | None = None,
) -> None:
    pen.rectangle((box.left, box.top, box.right - 1, box.bottom - 1), fill=colour, outline=outline, width=4)


def _write(
    pen: ImageDraw.ImageDraw, placed: Placed, colour: tuple[int, int, int], *, is_centred: bool
) -> None:
    """Write the lines that are seen as a whole."""
    full, box = placed.full, placed.box
    top = full.top + (full.height - LINE_HEIGHT * len(placed.lines)) // 2
    for line in placed.lines:
        if box.top <= top and top + LINE_HEIGHT <= box.bottom:
            spare = max(2 * PADDING, full.width - width_of(line))
            left = full.left + (spare // 2 if is_centred else PADDING)
            pen.text((left, top + (LINE_HEIGHT - TEXT_SIZE) // 2), drawable(line), fill=colour, font=font())
        top += LINE_HEIGHT

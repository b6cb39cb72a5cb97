"""Pictures inside PDF files: JPEG ones, and those that hold plain 8-bit grey or colour values."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any, Final

from PIL import Image
from pypdf.errors import PyPdfError
from pypdf.filters import decode_stream_data
from pypdf.generic import ArrayObject, EncodedStreamObject, NameObject, StreamObject

_MOST_PIXELS: Final = 16_000_000
_PLAIN_BITS: Final = 8
_MODES: Final = {"/DeviceGray": ("L", 1), "/DeviceRGB": ("RGB", 3)}


class PictureError(Exception):
    """A picture that is passed over, with the reason."""


def picture_file(picture: Mapping[str, Any], *, all_as_png: bool) -> tuple[str, bytes, int, int]:
    """Return the file of a picture: its extension, content, width and height.

    Raises:
        PictureError: it is stored in a way that the tool does not know.
    """
    width, height = _size(picture, "/Width"), _size(picture, "/Height")
    if width * height > _MOST_PIXELS:
        raise PictureError(f"more than {_MOST_PIXELS} pixels")
    filters = _filters_of(picture)
    if not isinstance(picture, StreamObject):
        raise PictureError("its data is too short")
    if filters and filters[-1] == "/DCTDecode":
        data = _without_last_filter(picture, filters)
        return (".png", _png_of_jpeg(data), width, height) if all_as_png else (".jpg", data, width, height)
    return ".png", _png_of_pixels(picture, width, height), width, height


def _size(picture: Mapping[str, Any], side: str) -> int:
    value = picture.get(side)
    if not isinstance(value, int) or not 1 <= value <= _MOST_PIXELS:
        raise PictureError("its size is not stated")
    return int(value)


def _filters_of(picture: Mapping[str, Any]) -> list[str]:
    found = picture.get("/Filter")
    if found is None:
        return []
    return [str(one) for one in found] if isinstance(found, ArrayObject) else [str(found)]


def _without_last_filter(picture: StreamObject, filters: list[str]) -> bytes:
    stored = EncodedStreamObject()
    stored.update({key: picture.raw_get(key) for key in picture if key not in {"/Filter", "/DecodeParms"}})
    stored[NameObject("/Filter")] = ArrayObject(NameObject(one) for one in filters[:-1])
    stored._data = picture._data  # noqa: SLF001 - what is stored has no public name in pypdf
    return _decoded(stored)


def _decoded(stream: StreamObject) -> bytes:
    try:
        return bytes(decode_stream_data(stream))
    except (PyPdfError, NotImplementedError, ValueError, KeyError, TypeError) as error:
        raise PictureError(f"its data is damaged: {error}") from error


def _png_of_jpeg(data: bytes) -> bytes:
    try:
        with Image.open(io.BytesIO(data), formats=["JPEG"]) as image:
            return _png(image.convert("RGB"))
    except (OSError, ValueError, Image.DecompressionBombError) as error:
        raise PictureError("its JPEG data is damaged") from error


def _png_of_pixels(picture: StreamObject, width: int, height: int) -> bytes:
    mode, per_pixel = _MODES.get(str(picture.get("/ColorSpace")), ("", 0))
    if not mode or picture.get("/BitsPerComponent") != _PLAIN_BITS:
        raise PictureError("its colours are stored in a way this tool does not know")
    data = _decoded(picture)
    if len(data) < width * height * per_pixel:
        raise PictureError("its data is too short")
    return _png(Image.frombytes(mode, (width, height), data[: width * height * per_pixel]))


def _png(image: Image.Image) -> bytes:
    written = io.BytesIO()
    image.save(written, "PNG")
    return written.getvalue()

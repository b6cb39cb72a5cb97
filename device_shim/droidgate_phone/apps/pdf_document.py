"""PDF files on the virtual phone: Android's `PdfDocument`, and as much of `PdfRenderer` as reads its files.

The phone has no reader of PDF files in general. It writes them in one plain form and reads only that form: a
file is taken where writing its pages again gives the same bytes, and every other file is refused. So there is
nothing that a hostile file could lead astray.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from PIL import Image, ImageDraw, ImageFont

_HEAD: Final = b"%PDF-1.4\n"
_CATALOG: Final = b"<</Type/Catalog/Pages 2 0 R>>"
_FONT: Final = b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>"
_PAGE: Final = (
    b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 %d %d]/Resources<</Font<</F 3 0 R>>>>/Contents %d 0 R>>"
)
_FIRST_PAGE: Final = 4
_TEXT_SIZE: Final = 12
_LINE: Final = 14
_MARGIN: Final = 72
_PAGE_HEAD: Final = re.compile(rb"/MediaBox\[0 0 ([0-9]{1,5}) ([0-9]{1,5})\]")
_STREAM_HEAD: Final = re.compile(rb"<</Length ([0-9]{1,9})>>\nstream\n")
_SHOWN: Final = re.compile(rb"<([0-9a-f]*)> Tj")
_PICTURE: Final = re.compile(rb"BI /W ([0-9]{1,5}) /H ([0-9]{1,5}) /CS /RGB /BPC 8 /F /Fl ID ")
_PICTURE_END: Final = b"\nEI Q"
_CHANNELS: Final = 3


MOST_PICTURE_PIXELS: Final = 4_000_000
"""A page's picture has no more pixels than these."""
_PAGE_SIZES: Final = range(72, 14_401)


class PdfError(Exception):
    """A file that the phone does not read."""


@dataclass(frozen=True, slots=True)
class PdfPicture:
    """The picture that is all of a page.

    Attributes:
        width: In pixels.
        height: In pixels.
        packed: Red, green and blue of each pixel, deflated.
    """

    width: int
    height: int
    packed: bytes


@dataclass(frozen=True, slots=True)
class PdfPage:
    """One page.

    Attributes:
        lines: What is written on it, in characters of Windows-1252.
        picture: What is drawn on it instead.
        width: In points of 1/72 inch.
        height: In points.
    """

    lines: tuple[str, ...] = ()
    picture: PdfPicture | None = None
    width: int = 612
    height: int = 792


def write_pdf(pages: Iterable[PdfPage]) -> bytes:
    """Return a PDF file of pages."""
    listed = list(pages)
    kids = b" ".join(b"%d 0 R" % number for number in _page_numbers(listed))
    objects = [_CATALOG, b"<</Type/Pages/Count %d/Kids[%s]>>" % (len(listed), kids), _FONT]
    for number, page in zip(_page_numbers(listed), listed, strict=True):
        content = _content_of(page)
        objects.append(_PAGE % (page.width, page.height, number + 1))
        objects.append(b"<</Length %d>>\nstream\n%s\nendstream" % (len(content), content))
    out = bytearray(_HEAD)
    offsets = []
    for number, body in enumerate(objects, start=1):
        offsets.append(b"%010d 00000 n \n" % len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    count, start = len(objects) + 1, len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n%s" % (count, b"".join(offsets))
    out += b"trailer\n<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % (count, start)
    return bytes(out)


def read_pdf(data: bytes) -> list[PdfPage]:
    """Return the pages of a file that `write_pdf` wrote.

    Raises:
        PdfError: it is not a PDF file, or `write_pdf` did not write it.
    """
    if not data.startswith(b"%PDF-"):
        message = "the file is not a PDF file, or is damaged"
        raise PdfError(message)
    pages, at = [], 0
    while (head := _PAGE_HEAD.search(data, at)) and (stream := _STREAM_HEAD.search(data, head.end())):
        at = stream.end() + int(stream[1])
        pages.append(_page_of(data[stream.end() : at], int(head[1]), int(head[2])))
    sizes = {size for page in pages for size in (page.width, page.height)}
    if not all(size in _PAGE_SIZES for size in sizes) or write_pdf(pages) != data:
        message = "droidgate phone: only PDF files of its own are read, such as /sdcard/Download/report.pdf"
        raise PdfError(message)
    return pages


def draw_page(page: PdfPage, width: int, height: int) -> Image.Image:
    """Return a page as a picture of that many pixels.

    Raises:
        PdfError: the page's own picture is damaged.
    """
    if page.picture is not None:
        return _unpacked(page.picture).resize((width, height))
    drawn = Image.new("RGB", (width, height), "white")
    scale = width / page.width
    pen, font = ImageDraw.Draw(drawn), ImageFont.load_default(_TEXT_SIZE * scale)
    # What is surely outside the page is not drawn: no letter is narrower than two points.
    for number, line in enumerate(page.lines[: page.height // _LINE]):
        top = _MARGIN + number * _LINE - _TEXT_SIZE
        pen.text((_MARGIN * scale, top * scale), line[: page.width // 2], fill="black", font=font)
    return drawn


def picture_page(drawn: Image.Image, width: int, height: int) -> PdfPage:
    """Return a page of that many points that a picture fills."""
    packed = zlib.compress(drawn.convert("RGB").tobytes())
    return PdfPage(picture=PdfPicture(drawn.width, drawn.height, packed), width=width, height=height)


def _page_numbers(pages: Sequence[PdfPage]) -> range:
    return range(_FIRST_PAGE, _FIRST_PAGE + 2 * len(pages), 2)


def _content_of(page: PdfPage) -> bytes:
    if page.picture is not None:
        head = b"q %d 0 0 %d 0 0 cm BI /W %d /H %d /CS /RGB /BPC 8 /F /Fl ID "
        sizes = (page.width, page.height, page.picture.width, page.picture.height)
        return head % sizes + page.picture.packed + _PICTURE_END
    text = b" T* ".join(b"<%s> Tj" % line.encode("cp1252", "replace").hex().encode() for line in page.lines)
    head = b"BT /F %d Tf %d TL %d %d Td " % (_TEXT_SIZE, _LINE, _MARGIN, page.height - _MARGIN)
    return head + text + b" ET"


def _page_of(content: bytes, width: int, height: int) -> PdfPage:
    if match := _PICTURE.search(content):
        packed = content[match.end() :].removesuffix(_PICTURE_END)
        return PdfPage(picture=PdfPicture(int(match[1]), int(match[2]), packed), width=width, height=height)
    lines = (bytes.fromhex(hexadecimal.decode()) for hexadecimal in _SHOWN.findall(content))
    return PdfPage(tuple(line.decode("cp1252", "replace") for line in lines), width=width, height=height)


def _unpacked(picture: PdfPicture) -> Image.Image:
    size = picture.width * picture.height * _CHANNELS
    if not 0 < size <= MOST_PICTURE_PIXELS * _CHANNELS:
        message = f"the page's picture has no pixels, or more than {MOST_PICTURE_PIXELS}"
        raise PdfError(message)
    try:
        pixels = zlib.decompressobj().decompress(picture.packed, size)
        return Image.frombytes("RGB", (picture.width, picture.height), pixels)
    except (zlib.error, ValueError) as error:
        message = f"the page's picture is damaged: {error}"
        raise PdfError(message) from error

"""PDF files written byte by byte, so that what reads them is not what wrote them."""

import zlib
from collections.abc import Sequence


def pdf_with(*pages: Sequence[str], compress: bool = False, picture: bytes | None = None) -> bytes:
    """Return a PDF file; each page draws its lines of Latin text one below the other.

    Args:
        pages: Lines of each page.
        compress: Whether the pages' content is stored with Flate.
        picture: A JPEG file of 8 by 6 pixels that every page names in its resources.
    """
    kids = " ".join(f"{10 + 2 * at} 0 R" for at in range(len(pages)))
    objects: dict[int, bytes] = {
        1: b"<</Type/Catalog/Pages 2 0 R>>",
        2: f"<</Type/Pages/Count {len(pages)}/Kids[{kids}]>>".encode(),
        3: b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>",
    }
    drawn = b""
    if picture is not None:
        head = b"<</Type/XObject/Subtype/Image/Width 8/Height 6/ColorSpace/DeviceRGB/BitsPerComponent 8"
        objects[4] = _stream(head + b"/Filter/DCTDecode", picture)
        drawn = b"/XObject<</Im0 4 0 R>>"
    for at, lines in enumerate(pages):
        content = b"BT /F1 12 Tf 14 TL 72 720 Td " + b" T* ".join(map(_shown, lines)) + b" ET"
        number = 10 + 2 * at
        objects[number] = (
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Resources<</Font<</F1 3 0 R>>%s>>"
            b"/Contents %d 0 R>>" % (drawn, number + 1)
        )
        objects[number + 1] = (
            _stream(b"<</Filter/FlateDecode", zlib.compress(content)) if compress else _stream(b"<<", content)
        )
    return _file(objects)


def _shown(line: str) -> bytes:
    return f"<{line.encode('cp1252').hex()}> Tj".encode()


def _stream(head: bytes, data: bytes) -> bytes:
    return b"%s/Length %d>>\nstream\n%s\nendstream" % (head, len(data), data)


def _file(objects: dict[int, bytes]) -> bytes:
    out = bytearray(b"%PDF-1.4\n")
    offsets = {}
    for number, body in objects.items():
        offsets[number] = len(out)
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(out)
    out += b"xref\n0 1\n0000000000 65535 f \n"
    for number, offset in offsets.items():
        out += b"%d 1\n%010d 00000 n \n" % (number, offset)
    out += b"trailer\n<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % (max(objects) + 1, start)
    return bytes(out)

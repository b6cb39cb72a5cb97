"""PDF files for the sample tool that unpack to far more than they hold: refused before the work is done."""

import zlib

import pytest

from phone_apps.pdf_files import _file, _stream
from phone_apps.test_pdf_tool import call, phone_with

FILE = "/storage/emulated/0/Download/x.pdf"
REFUSED = "the file's content unpacks to more than 50 times its size"


def packed_pages(count: int, size: int) -> bytes:
    """Return a file whose pages all have one content of that size, which Flate makes small."""
    content = b"BT /F1 12 Tf 72 720 Td " + b"(a) Tj " * (size // 7) + b"ET"
    kids = " ".join(f"{10 + at} 0 R" for at in range(count))
    page = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Resources<</Font<</F1 3 0 R>>>>/Contents 4 0 R>>"
    return _file(
        {
            1: b"<</Type/Catalog/Pages 2 0 R>>",
            2: f"<</Type/Pages/Count {count}/Kids[{kids}]>>".encode(),
            3: b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>",
            4: _stream(b"<</Filter/FlateDecode", zlib.compress(content, 9)),
            **{10 + at: page for at in range(count)},
        }
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("tool", "count", "size", "reason"),
    [
        ("extract_text", 1, 30_000_000, REFUSED),
        ("search_text", 1, 30_000_000, REFUSED),
        ("search_text", 100, 100_000, REFUSED),
        ("extract_text", 1, 100_000_000, "the file is damaged"),
    ],
)
def test_pages_that_unpack_to_far_more_than_the_file_are_refused_in_time(
    tool: str, count: int, size: int, reason: str
) -> None:
    phone = phone_with(x=packed_pages(count, size))
    query = {"query": "zzz"} if tool == "search_text" else {}
    code, extras = call(phone, tool, {"path": FILE, **query})
    assert code == 0
    assert reason in extras["error"]


def test_pages_that_share_a_content_are_read_while_they_are_no_bomb() -> None:
    phone = phone_with(x=packed_pages(20, 7_000))
    code, _ = call(phone, "extract_text", {"path": FILE})
    assert code == -1

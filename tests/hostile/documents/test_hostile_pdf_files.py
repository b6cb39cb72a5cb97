"""PDF files for the sample tool that promise far more than they hold: refused before the work is done."""

import zlib

from device_shim.phone_apps.test_pdf_tool import FILE, call, phone_with
from droidgate_phone.apps.pdf_document import PdfPage, PdfPicture, write_pdf
from titled_rows import titled

DRAW = {"format": "png", "width": 2000}


@titled(("page", "reason"), {
    "a picture of too many pixels": (PdfPage(picture=PdfPicture(99_999, 99_999, b"")), "more than 4000000"),
    "a picture of width 0": (
        PdfPage(picture=PdfPicture(0, 5, zlib.compress(bytes(50_000_000)))), "no pixels"),
    "a picture in no format": (PdfPage(picture=PdfPicture(8, 6, b"none")), "the page's picture is damaged"),
    "too few bytes": (PdfPage(picture=PdfPicture(8, 6, zlib.compress(b"few"))), "picture is damaged"),
    "a page too long": (PdfPage(("a",), width=1, height=99_999), "only PDF files of its own are read"),
    "a large drawing": (PdfPage(("a",), width=72, height=14_400), "would have more than 16000000 pixels"),
})  # fmt: skip
def test_pages_that_promise_too_much_are_not_drawn(page: PdfPage, reason: str) -> None:
    code, extras = call(phone_with(a=write_pdf([page])), "render_pages", {"path": FILE, **DRAW})
    assert code == 0
    assert reason in extras["error"]


def test_a_picture_that_unpacks_to_more_than_its_size_is_cut_off() -> None:
    page = PdfPage(picture=PdfPicture(8, 6, zlib.compress(bytes(50_000_000), 9)))
    code, _ = call(phone_with(a=write_pdf([page])), "render_pages", {"path": FILE, **DRAW, "width": 16})
    assert code == -1


def test_only_the_letters_that_fit_a_page_are_drawn() -> None:
    page = PdfPage(("W" * 2_000_000,) * 3, width=72, height=72)
    code, _ = call(phone_with(a=write_pdf([page])), "render_pages", {"path": FILE, **DRAW, "width": 4000})
    assert code == -1


def test_many_heads_without_pages_are_passed_over_once() -> None:
    data = b"%PDF-1.4\n" + b"/MediaBox[0 0 612 792]" * 700_000
    code, extras = call(phone_with(a=data), "page_count", {"path": FILE})
    assert code == 0
    assert "only PDF files of its own are read" in extras["error"]

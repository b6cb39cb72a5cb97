"""The PDF tool computes its answers from the files that it is given."""

import io
import json
from typing import Any

import pypdf
import pytest
from hypothesis import given, strategies as st
from PIL import Image

from device_shim.phone_apps.pdf_files import pdf_with
from device_shim.phone_apps.small_phone import SmallPhone
from droidgate_phone.apps.pdf_tool import PdfToolApp, real_path
from droidgate_phone.java.intents import Bundle, Extra, Intent

PACKAGE = "dev.droidgate.sample.pdftool"
CALL = "com.example.mMCP.ACTION_TOOL_CALL"
FILE = "/storage/emulated/0/Download/a.pdf"


def phone_with(**files: bytes) -> SmallPhone:
    phone = SmallPhone()
    phone.install(PdfToolApp)
    phone.shared = {f"/storage/emulated/0/Download/{name}.pdf": data for name, data in files.items()}
    return phone


def call(phone: SmallPhone, tool: str | None, parameters: Any) -> tuple[int, dict[str, str]]:
    """Start the tool's activity and return its result code and extras."""
    activity = phone.activity(PACKAGE, f"{PACKAGE}.ToolActivity")
    text = parameters if isinstance(parameters, str | None) else json.dumps(parameters)
    given_extras = {"tool_name": tool, "parameters": text}
    extras = {name: Extra("string", value) for name, value in given_extras.items() if value is not None}
    activity.on_create(Intent(CALL, extras=Bundle(extras)))
    assert activity.finished
    assert activity.view() is None
    data = activity.result.data
    answer = {} if data is None else {name: str(extra.value) for name, extra in data.extras.values.items()}
    return activity.result.code, answer


def result_of(phone: SmallPhone, tool: str, parameters: Any) -> Any:
    code, answer = call(phone, tool, parameters)
    assert (code, list(answer)) == (-1, ["result"])
    return json.loads(answer["result"])


def shows_text(drawn: Image.Image) -> bool:
    """Return whether anything dark is drawn."""
    return any(drawn.convert("L").histogram()[:128])


words = st.text(st.sampled_from("abc XYZ().-ÄÖß€éç%"), min_size=1, max_size=20).map(
    lambda text: f"x{text.strip()}"
)


@given(pages=st.lists(st.lists(words, min_size=1, max_size=4), min_size=1, max_size=4))
def test_a_file_of_the_phone_is_read_as_others_read_it(*, pages: list[list[str]]) -> None:
    data = pdf_with(*pages)
    phone = phone_with(a=data)
    assert result_of(phone, "page_count", {"path": FILE}) == {"page_count": len(pages)}
    result = result_of(phone, "extract_text", {"path": FILE, "separator": "form_feed"})
    assert [page.split("\n") for page in result["text"].split("\f")] == pages
    assert (result["first_page"], result["last_page"], result["truncated"]) == (1, len(pages), False)
    with pypdf.PdfReader(io.BytesIO(data), strict=True) as reader:
        assert [page.extract_text().split("\n") for page in reader.pages] == pages


def test_pages_are_chosen_and_parted() -> None:
    phone = phone_with(a=pdf_with(["one"], ["two"], ["three"]))
    query = {"path": "/sdcard/Download/a.pdf", "first_page": 2, "separator": "page_heading"}
    assert result_of(phone, "extract_text", query)["text"] == "--- page 2 ---\ntwo\n\n--- page 3 ---\nthree"
    assert result_of(phone, "extract_text", {"path": FILE, "last_page": 2.0})["text"] == "one\n\ntwo"
    code, answer = call(phone, "extract_text", {"path": FILE, "last_page": 4})
    assert (code, answer["error"]) == (0, "the file has only 3 pages")


def test_long_texts_are_cut_at_100000_characters() -> None:
    phone = phone_with(a=pdf_with(*[["word " * 2000]] * 12))
    result = result_of(phone, "extract_text", {"path": FILE})
    assert (len(result["text"]), result["truncated"]) == (100_000, True)


def test_phrases_are_found_with_the_text_around_them() -> None:
    phone = phone_with(a=pdf_with(["The Invoice of May", "an invoice"], ["nothing"], ["INVOICE"]))
    results = result_of(phone, "search_text", {"path": FILE, "query": "invoice"})["results"]
    assert [result["page"] for result in results] == [1, 1, 3]
    assert results[0]["snippet"] == "The Invoice of May an invoice"
    exact = result_of(phone, "search_text", {"path": FILE, "query": "invoice", "match_case": True})["results"]
    assert [result["page"] for result in exact] == [1]
    few = result_of(phone, "search_text", {"path": FILE, "query": "invoice", "max_results": 2})["results"]
    assert len(few) == 2
    assert result_of(phone, "search_text", {"path": FILE, "query": "."})["results"] == []


@pytest.mark.parametrize(("kind", "ending"), [("png", ".png"), ("jpeg", ".jpg")])
def test_pages_are_drawn_as_pictures(kind: str, ending: str) -> None:
    phone = phone_with(**{"my file": pdf_with(["one"], ["two"], [""])})
    arguments = {"path": FILE.replace("a.pdf", "my file.pdf"), "format": kind, "first_page": 2, "width": 306}
    folder = f"/storage/emulated/0/Android/data/{PACKAGE}/files/images"
    paths = [f"{folder}/my_file-{page}{ending}" for page in (2, 3)]
    assert result_of(phone, "render_pages", arguments) == {
        "images": [
            {"path": path, "page": page, "width": 306, "height": 396}
            for page, path in zip((2, 3), paths, strict=True)
        ]
    }
    drawn = [Image.open(io.BytesIO(phone.shared[path])) for path in paths]
    assert [(picture.format, picture.size) for picture in drawn] == [(kind.upper(), (306, 396))] * 2
    assert [shows_text(picture) for picture in drawn] == [True, False]


@pytest.mark.parametrize("size", [None, {"width": 595, "height": 842}], ids=str)
def test_files_are_joined_in_the_order_given_as_pictures(size: dict[str, int] | None) -> None:
    phone = phone_with(a=pdf_with(["first"]), b=pdf_with([""], ["third"]))
    other = FILE.replace("a.pdf", "b.pdf")
    inputs = {"paths": [other, FILE], "output_name": "all", **({} if size is None else {"page_size": size})}
    merged = result_of(phone, "merge", inputs)
    assert merged["path"] == f"/storage/emulated/0/Android/data/{PACKAGE}/files/merged/all.pdf"
    written = phone.shared[merged["path"]]
    assert (merged["page_count"], merged["bytes"]) == (3, len(written))
    with pypdf.PdfReader(io.BytesIO(written), strict=True) as reader:
        pages = [(page.mediabox.width, page.mediabox.height) for page in reader.pages]
        pictures = [page.images[0].image for page in reader.pages]
    assert pages == [(612, 792) if size is None else (595, 842)] * 3
    assert [picture is not None and shows_text(picture) for picture in pictures] == [False, True, True]
    assert result_of(phone, "page_count", {"path": merged["path"]}) == {"page_count": 3}
    assert result_of(phone, "extract_text", {"path": merged["path"]})["text"] == "\n\n\n\n"
    again = {"paths": [merged["path"], FILE], "output_name": "more"}
    assert result_of(phone, "merge", again)["page_count"] == 4


def test_one_call_draws_at_most_20_pages() -> None:
    phone = phone_with(a=pdf_with(*[["x"]] * 21), b=pdf_with(*[["x"]] * 11))
    other = FILE.replace("a.pdf", "b.pdf")
    for tool, arguments, count in (
        ("render_pages", {"path": FILE, "format": "png"}, 21),
        ("merge", {"paths": [other, other], "output_name": "x"}, 22),
    ):
        code, answer = call(phone, tool, arguments)
        assert (code, answer["error"]) == (0, f"one call draws at most 20 pages, not {count}")


@pytest.mark.parametrize(("tool", "parameters", "reason"), [
    (None, {}, "no tool is named"),
    ("print", {}, 'unknown tool "print"'),
    ("page_count", "{", "the parameters are not a JSON object"),
    ("page_count", None, '"path" is missing'),
    ("page_count", {"path": 5}, '"path" must be of type string'),
    ("page_count", {"path": ""}, '"path" is too short'),
    ("page_count", {"path": FILE, "x": 1}, '"x" is not a parameter of this tool'),
    ("page_count", {"path": "/data/data/x.pdf"}, '"/data/data/x.pdf" does not lie in shared storage'),
    ("page_count", {"path": "/sdcard/../a.pdf"}, '"/sdcard/../a.pdf" does not lie in shared storage'),
    ("page_count", {"path": "/sdcard/b.pdf"}, '"/sdcard/b.pdf" is not a file that this app may read'),
    ("page_count", {"path": FILE.replace("a.", "text.")}, "the file is not a PDF file, or is damaged"),
    ("extract_text", {"path": FILE, "first_page": 0}, '"first_page" must be at least 1'),
    ("extract_text", {"path": FILE, "separator": "x"},
        '"separator" must be one of ["blank_line","form_feed","page_heading"]'),
    ("merge", {"paths": [FILE], "output_name": "x"}, '"paths" needs at least 2 entries'),
    ("merge", {"paths": [FILE, FILE], "output_name": "../x"},
        '"output_name" must match ^[A-Za-z0-9_-]{1,60}$'),
], ids=str)  # fmt: skip
def test_calls_that_cannot_be_served_are_cancelled_with_a_reason(
    tool: str | None, parameters: Any, reason: str
) -> None:
    phone = phone_with(a=pdf_with(["a"]), text=b"hello")
    assert call(phone, tool, parameters) == (0, {"error": reason, "result": f"Error: {reason}"})


@pytest.mark.parametrize("data", [
    pytest.param(pdf_with(["a"]).replace(b"/Pages", b"/Pagan"), id="no list of pages"),
    pytest.param(pdf_with(["a"]) + b"\n", id="a byte after the end"),
    pytest.param(pdf_with(["a"])[:-1], id="a byte before the end is missing"),
    pytest.param(pdf_with(["a"]).replace(b"[0 0 612 792]", b"[0 0 000 792]"), id="a page without a width"),
    pytest.param(b"%PDF-1.4\n", id="a header alone"),
])  # fmt: skip
def test_files_from_elsewhere_are_refused_as_not_modelled(data: bytes) -> None:
    code, answer = call(phone_with(a=data), "page_count", {"path": FILE})
    reason = "droidgate phone: only PDF files of its own are read, such as /sdcard/Download/report.pdf"
    assert (code, answer["error"]) == (0, reason)


def test_without_the_action_nothing_is_done() -> None:
    phone = phone_with()
    activity = phone.activity(PACKAGE, f"{PACKAGE}.ToolActivity")
    activity.on_create(Intent("com.example.mMCP.ACTION_TOOL_ADVERTISE"))
    assert (activity.finished, activity.result.code, activity.result.data) == (True, 0, None)


def test_paths_lead_to_the_real_name_of_shared_storage() -> None:
    for path in ("/sdcard/a", "/mnt/sdcard//a", "/storage/self/primary/./a", "/storage/emulated/0/b/../a"):
        assert real_path(path) == "/storage/emulated/0/a"
    assert real_path("a/b") == "/a/b"
    assert real_path("/sdcards/a") == "/sdcards/a"

"""The PDF tool computes its answers from the files that it is given."""

import io
import json
from typing import Any

import pypdf
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from droidgate_phone.apps.pdf_tool import PdfToolApp
from droidgate_phone.apps.pdf_tools import real_path
from droidgate_phone.intents import Bundle, Extra, Intent
from phone_apps.pdf_files import pdf_with
from phone_apps.small_phone import SmallPhone

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
    answer = {} if data is None else {name: str(one.value) for name, one in data.extras.values.items()}
    return activity.result.code, answer


def result_of(phone: SmallPhone, tool: str, parameters: Any) -> Any:
    code, answer = call(phone, tool, parameters)
    assert (code, list(answer)) == (-1, ["result"])
    return json.loads(answer["result"])


words = st.text(st.sampled_from("abc XYZ().-ÄÖß€éç%"), min_size=1, max_size=20).map(
    lambda text: f"x{text.strip()}"
)


@given(
    pages=st.lists(st.lists(words, min_size=1, max_size=4), min_size=1, max_size=4), compress=st.booleans()
)
def test_a_file_that_was_just_made_has_its_own_text_read(*, pages: list[list[str]], compress: bool) -> None:
    phone = phone_with(a=pdf_with(*pages, compress=compress))
    assert result_of(phone, "page_count", {"path": FILE}) == {"page_count": len(pages)}
    found = result_of(phone, "extract_text", {"path": FILE, "separator": "form_feed"})
    assert [page.split("\n") for page in found["text"].split("\f")] == pages
    assert (found["first_page"], found["last_page"], found["truncated"]) == (1, len(pages), False)


def test_pages_are_chosen_and_parted() -> None:
    phone = phone_with(a=pdf_with(["one"], ["two"], ["three"]))
    asked = {"path": "/sdcard/Download/a.pdf", "first_page": 2, "separator": "page_heading"}
    assert result_of(phone, "extract_text", asked)["text"] == "--- page 2 ---\ntwo\n\n--- page 3 ---\nthree"
    assert result_of(phone, "extract_text", {"path": FILE, "last_page": 2.0})["text"] == "one\n\ntwo"
    code, answer = call(phone, "extract_text", {"path": FILE, "last_page": 4})
    assert (code, answer["error"]) == (0, "the file has only 3 pages")


def test_long_texts_are_cut_at_100000_characters() -> None:
    phone = phone_with(a=pdf_with(*[["word " * 2000]] * 12))
    found = result_of(phone, "extract_text", {"path": FILE})
    assert (len(found["text"]), found["truncated"]) == (100_000, True)


def test_phrases_are_found_with_what_stands_around_them() -> None:
    phone = phone_with(a=pdf_with(["The Invoice of May", "an invoice"], ["nothing"], ["INVOICE"]))
    found = result_of(phone, "search_text", {"path": FILE, "query": "invoice"})["results"]
    assert [one["page"] for one in found] == [1, 1, 3]
    assert found[0]["snippet"] == "The Invoice of May an invoice"
    exact = result_of(phone, "search_text", {"path": FILE, "query": "invoice", "match_case": True})["results"]
    assert [one["page"] for one in exact] == [1]
    few = result_of(phone, "search_text", {"path": FILE, "query": "invoice", "max_results": 2})["results"]
    assert len(few) == 2
    assert result_of(phone, "search_text", {"path": FILE, "query": "."})["results"] == []


def test_pictures_are_saved_as_they_are_or_as_png() -> None:
    with Image.new("RGB", (8, 6), (200, 30, 30)) as image:
        stored = io.BytesIO()
        image.save(stored, "JPEG")
    phone = phone_with(a=pdf_with(["a"], ["b"], picture=stored.getvalue()))
    kept = result_of(phone, "extract_images", {"path": FILE, "format": "original"})
    folder = f"/storage/emulated/0/Android/data/{PACKAGE}/files/images"
    assert kept == {
        "images": [{"path": f"{folder}/a-1.jpg", "page": 1, "width": 8, "height": 6}],
        "skipped": [],
    }
    assert phone.shared[f"{folder}/a-1.jpg"] == stored.getvalue()
    result_of(phone, "extract_images", {"path": FILE, "format": "png"})
    with Image.open(io.BytesIO(phone.shared[f"{folder}/a-1.png"])) as png:
        assert (png.format, png.size) == ("PNG", (8, 6))
        pixel = png.convert("RGB").getpixel((4, 3))
        assert isinstance(pixel, tuple)
        assert all(abs(mine - theirs) < 12 for mine, theirs in zip(pixel, (200, 30, 30), strict=True))


def test_files_are_joined_in_the_order_given() -> None:
    phone = phone_with(a=pdf_with(["first"]), b=pdf_with(["second"], ["third"]))
    other = FILE.replace("a.pdf", "b.pdf")
    metadata = {"title": "Both", "author": "me", "keywords": ["x", "y"]}
    asked = {"paths": [other, FILE], "output_name": "all", "metadata": metadata}
    merged = result_of(phone, "merge", asked)
    assert merged["path"] == f"/storage/emulated/0/Android/data/{PACKAGE}/files/merged/all.pdf"
    written = phone.shared[merged["path"]]
    assert (merged["page_count"], merged["bytes"]) == (3, len(written))
    with pypdf.PdfReader(io.BytesIO(written)) as reader:
        assert [page.extract_text() for page in reader.pages] == ["second", "third", "first"]
        assert reader.metadata is not None
        assert (reader.metadata.title, reader.metadata.author) == ("Both", "me")
    assert result_of(phone, "page_count", {"path": merged["path"]}) == {"page_count": 3}


@pytest.mark.parametrize(
    ("tool", "parameters", "reason"),
    [
        (None, {}, "no tool is named"),
        ("print", {}, 'there is no tool "print"'),
        ("page_count", "{", "the parameters are not a JSON object"),
        ("page_count", None, '"path" is missing'),
        ("page_count", {"path": 5}, '"path" must be of type string'),
        ("page_count", {"path": ""}, '"path" is too short'),
        ("page_count", {"path": FILE, "x": 1}, '"x" is not a parameter of this tool'),
        ("page_count", {"path": "/data/data/x.pdf"}, '"/data/data/x.pdf" does not lie in shared storage'),
        ("page_count", {"path": "/sdcard/../a.pdf"}, '"/sdcard/../a.pdf" does not lie in shared storage'),
        ("page_count", {"path": "/sdcard/b.pdf"}, '"/sdcard/b.pdf" is not a file that this app may read'),
        ("page_count", {"path": FILE.replace("a.", "text.")}, "the file is not a PDF"),
        ("extract_text", {"path": FILE, "first_page": 0}, '"first_page" must be at least 1'),
        ("extract_text", {"path": FILE, "separator": "x"},
         '"separator" must be one of ["blank_line","form_feed","page_heading"]'),
        ("merge", {"paths": [FILE], "output_name": "x"}, '"paths" needs at least 2 entries'),
        ("merge", {"paths": [FILE, FILE], "output_name": "../x"},
         '"output_name" must match ^[A-Za-z0-9_-]{1,60}$'),
    ],
)  # fmt: skip
def test_calls_that_cannot_be_served_are_cancelled_with_a_reason(
    tool: str | None, parameters: Any, reason: str
) -> None:
    phone = phone_with(a=pdf_with(["a"]), text=b"hello")
    assert call(phone, tool, parameters) == (0, {"error": reason, "result": f"Error: {reason}"})


def test_damaged_and_protected_files_are_refused() -> None:
    data = pdf_with(["secret"])
    with pypdf.PdfWriter() as writer:
        writer.append(io.BytesIO(data))
        writer.encrypt("x", algorithm="RC4-128")
        locked = io.BytesIO()
        writer.write(locked)
    phone = phone_with(a=locked.getvalue(), b=data.replace(b"/Pages", b"/Pagan"), c=b"%PDF-1.4\n")
    assert call(phone, "page_count", {"path": FILE})[1]["error"] == "the file is protected by a password"
    for name in "bc":
        code, answer = call(phone, "page_count", {"path": FILE.replace("a.pdf", f"{name}.pdf")})
        assert (code, answer["error"].startswith("the file is damaged: ")) == (0, True)


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

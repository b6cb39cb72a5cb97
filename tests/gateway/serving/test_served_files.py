"""Files that clients name, files that results name, and images in results."""

import base64
import os
from pathlib import Path
from typing import Any

import pytest

from droidgate.serving import served_files as files_module
from droidgate.serving.served_files import SharedFolders, media_type_of, take_images
from droidgate.serving.tool_results import MAX_BLOB, MAX_IMAGES, KeptResults, write_outcome
from droidgate.serving.tools import ServedFile, ToolOutcome
from droidgate_mappings.model.errors import UsageError
from droidgate_mappings.values.failures import CallError
from droidgate_mcp.format import HANDSHAKE
from droidgate_mcp.wire import McpToolResult
from gateway.serving.fixture_tools import PIXEL

PNG = base64.b64decode(PIXEL)


def refused(folders: list[Path], arguments: dict[str, Any]) -> str:
    with pytest.raises(CallError) as caught, SharedFolders.of(folders).copies(arguments):
        pass
    assert caught.value.failure.token == "invalid_argument"
    assert caught.value.pointer == f"/{next(iter(arguments))}"
    return "; ".join(filter(None, (caught.value.failure.text, caught.value.hint)))


@pytest.mark.parametrize("name", [
    "../secret", "..%2Fsecret", "/etc/passwd", "%2Fetc%2Fpasswd", "below/inner", ".hidden", "link",
    "folder-link/secret", "below", "", ".", "pipe", "a\0b", "absent",
])  # fmt: skip
def test_nothing_but_a_plain_file_directly_in_the_folder_is_sent(tmp_path: Path, name: str) -> None:
    (tmp_path / "secret").write_text("secret")
    shared = tmp_path / "shared"
    (shared / "below").mkdir(parents=True)
    (shared / "below" / "inner").write_text("x")
    (shared / ".hidden").write_text("x")
    (shared / "there.txt").write_text("x")
    (shared / "link").symlink_to(tmp_path / "secret")
    (shared / "folder-link").symlink_to(tmp_path)
    os.mkfifo(shared / "pipe")
    message = refused([shared], {"path": f"droidgate://files/{name}"})
    assert "no shared file is called" in message
    assert message.endswith("there are: there.txt")


def test_a_file_that_becomes_a_link_is_not_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "secret").write_text("secret")
    shared = tmp_path / "shared"
    shared.mkdir()
    (shared / "link").symlink_to(tmp_path / "secret")
    monkeypatch.setattr(files_module, "_files_in", lambda folder: iter([folder / "link"]))
    assert "cannot be read" in refused([shared], {"path": "droidgate://files/link"})


FILE = "droidgate://files/x"


@pytest.mark.parametrize(("folders", "arguments", "most", "message"), [
    pytest.param("", {"path": FILE}, 9, "droidgate serve --files FOLDER", id="no folder is shared"),
    pytest.param("a", {"paths": [{"a": FILE}]}, 9, "not a part", id="a file inside a list"),
    pytest.param("ab", {"path": FILE}, 9, "several shared folders", id="one name in two folders"),
    pytest.param("a", {"path": FILE}, 4, "more than 4", id="a long file"),
])  # fmt: skip
def test_a_file_that_cannot_be_sent_is_refused(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    folders: str,
    arguments: dict[str, Any],
    most: int,
    message: str,
) -> None:
    for name in folders:
        (tmp_path / name).mkdir()
        (tmp_path / name / "x").write_text("12345")
    monkeypatch.setattr(files_module, "MAX_SENT_BYTES", most)
    assert message in refused([tmp_path / name for name in folders], arguments)


def test_a_shared_folder_that_is_not_there_is_a_mistake_of_the_user(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is not a folder"):
        SharedFolders.of([tmp_path / "absent"])


@pytest.mark.parametrize(("data", "expected"), [
    (PNG, "image/png"),
    (b"\xff\xd8\xff\xe0", "image/jpeg"),
    (b"GIF89a.", "image/gif"),
    (b"RIFF\0\0\0\0WEBPVP8 ", "image/webp"),
    (b"RIFF\0\0\0\0WAVEfmt ", "audio/wav"),
    (b"%PDF-1.7", "application/pdf"),
    (b"PK\x03\x04", "application/zip"),
    (b"<html><script>", "text/plain"),
    (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "text/plain"),
    ("Grüße".encode(), "text/plain"),
    (b"\xff\xfe\0", "application/octet-stream"),
    (b"a\0b", "application/octet-stream"),
    (b"", "text/plain"),
], ids=lambda value: value[:20])  # fmt: skip
def test_the_media_type_is_that_of_the_bytes(data: bytes, expected: str) -> None:
    assert media_type_of(data) == expected


def test_images_in_a_result_are_found_by_their_bytes() -> None:
    not_an_image = base64.b64encode(b"MZ this is a program, whatever it is called").decode()
    value = {
        "list": [PIXEL, f"data:image/gif;base64,{PIXEL}", "text of some length, which is not base64 at all"],
        "other": [f"data:image/png;base64,{not_an_image}", not_an_image, f"{PIXEL}!", 5, None],
    }
    shown, images = take_images(value)
    assert images == (ServedFile("image", "image/png", PNG),) * 2
    assert shown == {**value, "list": [
        "[image 1 of this result: image/png, 70 bytes]",
        "[image 2 of this result: image/png, 70 bytes]",
        "text of some length, which is not base64 at all",
    ]}  # fmt: skip
    assert len(take_images([PIXEL] * 100)[1]) == 20


def test_small_images_are_in_the_result_and_other_files_are_resources() -> None:
    results = KeptResults()
    large = PNG + bytes(MAX_IMAGES)
    files = (
        ServedFile("/sdcard/a.png", "image/png", PNG),
        ServedFile("/sdcard/b.png", "image/png", large),
        ServedFile("/sdcard/\u202ec.pdf", "application/pdf", bytes(MAX_BLOB + 1)),
    )
    content = write_outcome(ToolOutcome(McpToolResult("done"), files=files), HANDSHAKE, results)["content"]
    text, image, *links = content
    assert text["text"] == "done"
    assert image == {"type": "image", "data": PIXEL, "mimeType": "image/png"}
    assert [link["name"] for link in links] == [
        "/sdcard/b.png",
        "/sdcard/\\u202ec.pdf, part 1 of 2",
        "/sdcard/\\u202ec.pdf, part 2 of 2",
    ]
    parts = [results.get(link["uri"]) for link in links]
    assert [part.content for part in parts if part is not None] == [large, bytes(MAX_BLOB), b"\0"]

"""Files keep their bytes: encodings, byte order marks, line ends, permissions."""

import codecs
from pathlib import Path

import pytest

from adapters.handlers.providers import WEATHER
from droidgate.migration.source_sets import read_text_file, replace_file
from droidgate_mappings.model.errors import InputError, WriteError
from gateway.migrate.projects import copy_module, migrate

TEXT = '<?xml version="1.0" encoding="{}"?>\r\n<!-- früh -->\n<a/>'


@pytest.mark.parametrize(
    "data",
    [
        TEXT.format("utf-8").encode(),
        codecs.BOM_UTF8 + TEXT.format("utf-8").encode(),
        codecs.BOM_UTF16_LE + TEXT.format("utf-16").encode("utf-16-le"),
        codecs.BOM_UTF16_BE + TEXT.format("UTF-16").encode("utf-16-be"),
        TEXT.format("ISO-8859-1").encode("latin-1"),
        "früh\r\nlate\r".encode(),
        b"",
    ],
)
def test_what_is_read_and_written_back_has_the_same_bytes(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(data)
    path.chmod(0o640)
    file = read_text_file(path, tmp_path)
    assert data == b"" or "früh" in file.text
    replace_file(path, file.text, file.encoding)
    assert path.read_bytes() == data
    assert path.stat().st_mode & 0o777 == 0o640
    assert [item.name for item in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "iso-8859-1"])
def test_manifest_keeps_its_encoding(encoding: str, tmp_path: Path) -> None:
    project = copy_module("pdf-tool", tmp_path)
    manifest = project / "src/main/AndroidManifest.xml"
    declared = encoding.removesuffix("-sig")
    text = manifest.read_text().replace('encoding="utf-8"', f'encoding="{declared}"')
    manifest.write_bytes(text.encode(encoding))
    described = WEATHER.model_copy(update={"protocol": "mobile-mcp", "name": "日本", "dialect": "1.0"})
    migrate(described, "mmcp+broadcast", project).write()
    data = manifest.read_bytes()
    assert data.startswith(text.encode(encoding)[:40])
    after = data.decode(encoding)
    assert (
        'android:label="&#26085;&#26412;"' if encoding == "iso-8859-1" else 'android:label="日本"'
    ) in after
    assert "Café" in after
    assert migrate(described, "mmcp+broadcast", project).changes == ()


def test_bytes_of_another_encoding_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"\xff\x00\xfe")
    with pytest.raises(InputError, match="not in the encoding"):
        read_text_file(path, tmp_path)
    with pytest.raises(InputError, match="cannot be read"):
        read_text_file(tmp_path / "nowhere", tmp_path)


def test_a_file_in_place_of_a_folder_is_reported(tmp_path: Path) -> None:
    (tmp_path / "res").write_text("")
    with pytest.raises(WriteError, match="cannot be written"):
        replace_file(tmp_path / "res/values/a.xml", "", "utf-8")

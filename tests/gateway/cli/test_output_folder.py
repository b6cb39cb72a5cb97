"""Files are written whole, where they belong, and never over somebody's work."""

import os
import stat
from pathlib import Path

import pytest

from droidgate.computer.output_folder import path_below, write_files
from droidgate_mappings.model.errors import WriteError


def test_files_are_created_and_reported(tmp_path: Path) -> None:
    files = {tmp_path / "a" / "b" / "one.xml": b"1", tmp_path / "two.json": b"2"}
    assert set(write_files(files, force=False).values()) == {"created"}
    assert {path: path.read_bytes() for path in files} == files
    assert set(write_files(files, force=False).values()) == {"unchanged"}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "two.json"]


def test_a_different_file_stops_everything(tmp_path: Path) -> None:
    present = tmp_path / "there.xml"
    present.write_text("mine")
    with pytest.raises(WriteError, match="another file of that name") as caught:
        write_files({tmp_path / "new.xml": b"1", present: b"2"}, force=False)
    assert caught.value.place == str(present)
    assert caught.value.hint is not None
    assert "overwrite with" in caught.value.hint
    assert present.read_text() == "mine"
    assert not (tmp_path / "new.xml").exists()


def test_force_replaces_and_keeps_the_mode(tmp_path: Path) -> None:
    present = tmp_path / "there.xml"
    present.write_text("mine")
    present.chmod(0o600)
    assert write_files({present: b"2"}, force=True) == {present: "updated"}
    assert present.read_bytes() == b"2"
    assert stat.S_IMODE(present.stat().st_mode) == 0o600


def test_new_files_follow_the_umask(tmp_path: Path) -> None:
    mask = os.umask(0o027)
    try:
        write_files({tmp_path / "new": b""}, force=False)
    finally:
        os.umask(mask)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o640


@pytest.mark.parametrize("force", [False, True], ids=["as usual", "by force"])
def test_what_is_in_the_way_is_named(tmp_path: Path, *, force: bool) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "folder").mkdir()
    with pytest.raises(WriteError, match="a file is in the way of a folder"):
        write_files({tmp_path / "file" / "x" / "y": b""}, force=force)
    with pytest.raises(WriteError, match="it is not a regular file"):
        write_files({Path(os.devnull): b""}, force=force)
    with pytest.raises(WriteError, match="a folder is in the way of a file"):
        write_files({tmp_path / "folder": b""}, force=force)


@pytest.mark.parametrize("path", ["../out.xml", "/etc/x", "a/../../b", "", "a\\..\\b"])
def test_an_artifact_stays_below_the_folder(tmp_path: Path, path: str) -> None:
    with pytest.raises(WriteError, match="outside the output folder"):
        path_below(tmp_path, path)


def test_a_link_does_not_lead_out_of_the_folder(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "res").symlink_to(tmp_path)
    with pytest.raises(WriteError, match="outside the output folder"):
        path_below(tmp_path / "out", "res/xml/x.xml")
    assert path_below(tmp_path / "out", "assets/x.xml") == tmp_path / "out" / "assets" / "x.xml"


def test_a_single_file_is_not_written_into_a_folder_that_does_not_exist(tmp_path: Path) -> None:
    with pytest.raises(WriteError, match="the folder does not exist") as raised:
        write_files({tmp_path / "none" / "page.html": b"page"}, force=True, makes_folders=False)
    assert raised.value.place == str(tmp_path / "none")
    assert list(tmp_path.iterdir()) == []

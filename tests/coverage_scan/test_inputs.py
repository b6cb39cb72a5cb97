"""What a scan is given: folders, lists, remote files; one bad line is one row."""

import functools
import http.server
import importlib
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from coverage_scan.catalogs import ask, rows_of, scan_into
from droidgate.coverage.inputs import Item, list_inputs
from droidgate.model.errors import InputError, UsageError
from droidgate_shim.phone.sample_packages import filler_package


@pytest.fixture
def served(apps: Path) -> Iterator[str]:
    handler = functools.partial(_Quiet, directory=str(apps))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        del format, args


def names(*sources: str | Path) -> list[str]:
    return [one.source for one in list_inputs(map(str, sources)).items]


def test_a_relative_path_is_called_as_it_is_written(apps: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(apps)
    assert names("agent.apk") == names("./agent.apk") or names("./agent.apk") == ["./agent.apk"]
    assert names(".")[:2] == ["agent.apk", "clock-in.apk"]
    monkeypatch.chdir(apps.parent)
    assert names("apps")[0] == "apps/agent.apk"
    assert names("apps/") == names("apps")


def test_an_absolute_path_is_called_by_its_last_part(apps: Path) -> None:
    assert names(apps)[0] == "apps/agent.apk"
    assert names(apps / "agent.apk") == ["agent.apk"]


def test_a_file_is_there_once_and_two_of_one_name_have_two_names(apps: Path, tmp_path: Path) -> None:
    (tmp_path / "agent.apk").write_bytes(b"")
    assert names(apps / "agent.apk", apps / "agent.apk") == ["agent.apk"]
    assert names(apps / "agent.apk", tmp_path / "agent.apk") == ["agent.apk", "agent.apk (2)"]
    assert len(names(apps, apps / "agent.apk")) == 26


def test_a_list_names_sources_and_its_bad_lines_are_rows(apps: Path, tmp_path: Path) -> None:
    lines = [
        "# apps",
        "",
        str(apps / "agent.apk"),
        f"  {apps / 'notes.apk'}  ",
        str(apps / "gone.apk"),
        "@more",
    ]
    (tmp_path / "list.txt").write_text("\n".join(lines))
    catalog = scan_into(tmp_path / "c", f"@{tmp_path / 'list.txt'}").catalog
    assert ask(catalog, "SELECT source, outcome, reason FROM sources") == [
        ("@more", "unreadable", "a list in a list is not followed"),
        ("agent.apk", "read", None),
        ("gone.apk", "unreadable", "it cannot be read: No such file or directory"),
        ("notes.apk", "read", None),
    ]


def test_paths_of_a_list_are_called_by_what_tells_them_apart(tmp_path: Path) -> None:
    for name in ("a/x.apk", "b/x.apk"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_bytes(b"")
    (tmp_path / "list").write_text(f"{tmp_path}/a/x.apk\n{tmp_path}/b/x.apk\n")
    assert names(f"@{tmp_path}/list") == ["a/x.apk", "b/x.apk"]


def test_a_list_with_bytes_that_are_no_text_is_still_a_list(apps: Path, tmp_path: Path) -> None:
    odd = os.fsencode(tmp_path) + b"/\xff.apk"
    Path(os.fsdecode(odd)).write_bytes(filler_package(2))
    (tmp_path / "list").write_bytes(odd + b"\n" + os.fsencode(apps / "agent.apk") + b"\n\0bad\n")
    result = scan_into(tmp_path / "c", f"@{tmp_path / 'list'}")
    assert result.outcomes == {"read": 2, "unreadable": 1}


def test_a_list_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="the list cannot be read"):
        list_inputs([f"@{tmp_path}/none"])


def test_files_in_memory_are_scanned(apps: Path, tmp_path: Path) -> None:
    memory = importlib.import_module("fsspec").filesystem("memory")
    memory.pipe("/scan/one.apk", (apps / "clock-in.apk").read_bytes())
    memory.pipe("/scan/deep/two.apk", b"PK\x03\x04 nothing")
    memory.pipe("/scan/deep/note.txt", b"no app")
    try:
        catalog = scan_into(tmp_path / "c", "memory://scan").catalog
    finally:
        memory.rm("/scan", recursive=True)
    assert [row[:2] for row in ask(catalog, "SELECT source, outcome FROM sources")] == [
        ("memory:///scan/deep/two.apk", "unreadable"),
        ("memory:///scan/one.apk", "read"),
    ]


def test_files_behind_http_have_the_rows_of_local_ones(apps: Path, served: str, tmp_path: Path) -> None:
    remote = scan_into(
        tmp_path / "remote", f"{served}/clock-in.apk", f"{served}/notes.apk", f"{served}/no.apk"
    )
    local = scan_into(tmp_path / "local", apps / "clock-in.apk", apps / "notes.apk")
    assert remote.outcomes == {"read": 2, "unreadable": 1}
    mine, theirs = rows_of(remote.catalog), rows_of(local.catalog)
    for name in mine.keys() - {"sources"}:
        assert mine[name] == theirs[name], name


def test_a_folder_behind_http_is_listed(served: str) -> None:
    assert len(names(f"{served}/")) == 26


def test_a_host_that_does_not_answer_is_a_row(tmp_path: Path) -> None:
    result = scan_into(tmp_path / "c", "http://127.0.0.1:9/x.apk")
    assert result.outcomes == {"unreadable": 1}


@pytest.mark.parametrize(("url", "package"), [("s3://bucket/apps", "s3fs"), ("gs://bucket/apps", "gcsfs")])
def test_a_scheme_without_its_package_names_it(url: str, package: str) -> None:
    with pytest.raises(UsageError, match=package) as raised:
        list_inputs([url])
    assert raised.value.hint == f"pip install {package}"


def test_a_scheme_that_nobody_knows_is_an_error() -> None:
    with pytest.raises(UsageError, match="no scheme that fsspec knows"):
        list_inputs(["gopher://example/x"])


def test_an_input_survives_its_journey() -> None:
    item = Item("a", "app", "/a.apk", (("b", "/b.apk"),))
    assert Item.from_json(item.as_json()) == item


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04", b"<x", b"\xff\xfe<\0", b"{", b"\0" * 100])
def test_any_file_is_a_row(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(data)
    (tmp_path / "x.apk").write_bytes(data)
    (tmp_path / "x.aab").write_bytes(data)
    result = scan_into(tmp_path / "c", *(tmp_path / name for name in ("x", "x.apk", "x.aab")))
    assert result.outcomes == {"unreadable": 3}

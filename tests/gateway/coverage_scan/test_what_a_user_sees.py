"""What the commands say of a scan: what was not read and why, what was known, and every way it is refused."""

import hashlib
import os
import shlex
import socket
import sys
import zipfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from droidgate.cli import run
from droidgate.cli.coverage.scan_report import ProgressLine
from droidgate.computer.optional_packages import install_command
from droidgate.coverage import cluster
from droidgate.sources.catalogs.catalog import Catalog
from droidgate.sources.catalogs.rows import TABLES
from gateway.coverage_scan.catalogs import SAMPLES, ask, scan_into, split_app, tool_app, tool_files

APPS = 20 + SAMPLES


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "the user's catalog"


def scan(folder: Path, *arguments: str | Path) -> int:
    return run(["scan", *map(str, arguments), "--catalog", str(folder), "--workers", "1"])


def broken_apps(folder: Path, count: int) -> Path:
    folder.mkdir()
    for number in range(count):
        (folder / f"bad{number}.apk").write_bytes(b"PK\x03\x04 nothing")
    return folder


@pytest.mark.parametrize("missing", ["nope", "nope.apk", "-", "no/such/folder/"])
def test_a_source_that_is_not_there_is_an_error_with_its_name_and_nothing_is_read(
    missing: str, apps: Path, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert scan(folder, apps, missing) == 3
    reported = capsys.readouterr()
    assert reported.out == ""
    assert reported.err.startswith(f"error: {missing}: it cannot be read: No such file or directory\nhint: ")
    assert not folder.exists()


@pytest.mark.slow
def test_a_line_of_a_list_that_is_not_there_or_has_no_known_scheme_is_a_row_and_reported(
    apps: Path, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "list").write_text(f"nope.apk\ngopher://me:secret@example/x\n{apps / 'agent.apk'}\n")
    assert scan(folder, f"@{tmp_path}/list") == 0
    reported = capsys.readouterr().out
    assert "\n  nope.apk: it cannot be read: No such file or directory\n" in reported
    assert "\n  gopher://example/x: gopher: is not a scheme that fsspec knows\n" in reported
    assert "catalog sql" not in reported


def test_a_list_that_is_not_there_has_a_way_out(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert scan(folder, "@nope.txt") == 3
    assert "\nhint: @LIST is a file with one source a line" in capsys.readouterr().err


@pytest.mark.parametrize("content", [None, "# only a remark\n"])
def test_where_there_is_nothing_to_scan_no_catalog_is_written(
    content: str | None, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = str(tmp_path / "empty")
    if content is None:
        Path(source).mkdir()
    else:
        Path(source).write_text(content)
        source = f"@{source}"
    assert scan(folder, source) == 3
    reported = capsys.readouterr()
    assert reported.out == ""
    assert reported.err.startswith(f"error: {source}: nothing in it can be scanned\nhint: ")
    assert not folder.exists()


@pytest.mark.slow
@pytest.mark.parametrize(("count", "commands"), [(5, 0), (7, 1)])
def test_the_first_reasons_are_reported_and_a_command_for_all_only_where_there_are_more(
    count: int, commands: int, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    apps = broken_apps(tmp_path / "bad", count)
    (apps / "note.json").write_text("{}")
    assert scan(folder, apps) == 3
    reported = capsys.readouterr()
    assert reported.out.count(": it is not an APK: ") == 5
    assert reported.err.endswith("nothing could be read\nhint: the reasons are above\n")
    lines = [line for line in reported.out.splitlines() if "catalog sql" in line]
    assert len(lines) == commands
    for line in lines:
        _, command, catalog, option, name, sql = shlex.split(line.partition(": ")[2])
        assert run([command, catalog, option, name, sql]) == 0
        answer = capsys.readouterr().out
        assert answer.count("bad/bad") == count
        assert "note.json" not in answer


@pytest.mark.slow
def test_a_scan_of_nothing_known_ends_with_an_error_and_the_way_out(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes/note.json").write_text("{}")
    assert scan(folder, tmp_path / "notes") == 3
    assert capsys.readouterr().err.endswith("\nhint: `droidgate formats` lists what is read\n")
    assert scan(folder, broken_apps(tmp_path / "bad", 1), "--json") == 3
    hint = capsys.readouterr().err.splitlines()[-1]
    assert shlex.split(hint)[-2] == str(folder)


@pytest.mark.slow
def test_the_reason_of_a_lone_split_is_reported_and_that_of_one_next_to_its_base_is_none(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    base, german = split_app("dev.example.split")
    lone, whole = tmp_path / "lone", tmp_path / "whole"
    for place in (lone, whole):
        place.mkdir()
        (place / "config.de.apk").write_bytes(german)
    (whole / "base.apk").write_bytes(base)
    assert scan(folder, lone, whole) == 0
    reasons = [line for line in capsys.readouterr().out.splitlines() if "config.de.apk: " in line]
    assert reasons == [
        "  lone/config.de.apk: it is a split of dev.example.split, whose base is not in the same folder"
    ]


@pytest.mark.slow
def test_a_second_scan_says_how_much(apps: Path, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert scan(folder, apps) == 0
    assert "known already" not in capsys.readouterr().err
    assert scan(folder, apps) == 0
    assert f"{APPS} of {APPS} scanned, {APPS} known already; " in capsys.readouterr().err


def test_a_stopped_scan_says_that_the_same_one_goes_on_from_there(capsys: pytest.CaptureFixture[str]) -> None:
    with ProgressLine() as progress:  # whatever ends it, it ends before `finish`
        progress.begin(10, 2)
        progress.advance("read")
    reported = capsys.readouterr().err
    assert reported.startswith("3 of 10 scanned, 2 of them in an earlier run; ")
    assert reported.endswith("; the same scan goes on from here\n")


@pytest.mark.slow
def test_the_same_results_make_the_same_files_from_a_log_and_a_catalog(apps: Path, tmp_path: Path) -> None:
    # For one line of the log without a unit DuckDB foresees nulls where the earlier catalog has none.
    bad = broken_apps(tmp_path / "bad", 1)

    def bytes_of(item: Catalog) -> dict[str, str]:
        paths = [path for name in TABLES for path in item.paths_of(name)]
        return {path.parent.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}

    first = bytes_of(scan_into(tmp_path / "c", apps, bad).catalog)
    assert bytes_of(scan_into(tmp_path / "c", apps, bad).catalog) == first
    other = scan_into(tmp_path / "other", apps, bad, earlier=[str(tmp_path / "c")])
    assert other.known == APPS
    assert bytes_of(other.catalog) == first


def test_a_link_to_nowhere_and_a_pipe_in_a_folder_are_rows(tmp_path: Path, folder: Path) -> None:
    apps = broken_apps(tmp_path / "apps", 0)
    (apps / "link.apk").symlink_to("nowhere.apk")
    os.mkfifo(apps / "pipe.apk")
    (apps / "app.apk").write_bytes(tool_app("dev.example.app"))
    assert ask(scan_into(folder, apps).catalog, "SELECT source, outcome FROM sources") == [
        ("apps/app.apk", "read"),
        ("apps/link.apk", "unreadable"),
        ("apps/pipe.apk", "unreadable"),
    ]


@pytest.mark.slow
def test_a_reason_names_a_file_inside_an_apk_as_such(tmp_path: Path, folder: Path) -> None:
    with zipfile.ZipFile(tmp_path / "x.apk", "w") as archive:
        archive.writestr("AndroidManifest.xml", "<manifest/>")
    found = ask(scan_into(folder, tmp_path / "x.apk").catalog, "SELECT reason FROM sources")
    assert found == [("AndroidManifest.xml: it is not compiled XML",)]


def test_a_file_as_a_catalog_is_wrong(apps: Path, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder.write_text("")
    assert scan(folder, apps) == 3
    assert capsys.readouterr().err.endswith(f"error: {folder}: it is a file\nhint: a catalog is a folder\n")


@pytest.mark.parametrize("address", ["nope", "http://127.0.0.1:8786", "tcp://127.0.0.1"])
def test_an_address_of_no_scheduler_is_refused_before_anything_is_made(
    address: str, apps: Path, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("distributed")
    assert scan(folder, apps, "--cluster", address) == 2
    reported = capsys.readouterr().err
    assert (
        reported == f"error: '{address}' is not the address of a scheduler\nhint: {cluster._HOW_TO_WRITE}\n"
    )
    assert not folder.exists()


@pytest.fixture
def silent_port() -> Iterator[int]:
    """Something that takes connections and says nothing."""
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        yield server.getsockname()[1]


@pytest.mark.parametrize("what", ["nothing", "something silent"])
def test_a_cluster_that_is_not_there_leaves_nothing_behind(
    what: str,
    apps: Path,
    folder: Path,
    silent_port: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr(cluster, "_CONNECT", 0.2)
    monkeypatch.setattr(distributed, "Client", None)  # nobody is asked who could complain later
    port = 9 if what == "nothing" else silent_port
    assert scan(folder, apps, "--cluster", f"tcp://127.0.0.1:{port}") == 3
    first, second = capsys.readouterr().err.splitlines()
    assert first.startswith(f"error: tcp://127.0.0.1:{port}: the cluster cannot be reached: ")
    assert second.startswith("hint: is `dask scheduler` running there")
    assert not folder.exists()


def test_a_missing_extra_is_reported_before_the_sources_are_listed(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert scan(folder, "nope", "--cluster", "tcp://127.0.0.1:8786") == 2
    assert f"\nhint: {install_command('cluster')}" in capsys.readouterr().err


def test_a_page_says_where_a_scan_counts_otherwise_than_inspect(
    tmp_path: Path, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    apps = tmp_path / "apps"
    for name in ("app/src/main", "copy/src/main"):
        for file, data in tool_files("a.b").items():
            (apps / name / file).parent.mkdir(parents=True, exist_ok=True)
            (apps / name / file).write_bytes(data)
    (apps / "capabilities.xml").write_bytes(tool_files("a.b")["res/xml/capabilities.xml"])
    assert scan(folder, apps) == 0
    page = capsys.readouterr().out
    assert "1 source with the content of another: counted once, by `inspect` each time" in page
    assert "2 capabilities of an app and of a descriptor: counted twice, by `inspect` once" in page

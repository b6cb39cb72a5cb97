"""What a scan is given: folders, lists, remote files; one bad line is one row."""

import functools
import hashlib
import http.server
import importlib
import os
import random
import re
import shlex
import shutil
import socket
import sys
import threading
import zipfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import pytest

from droidgate.cli.coverage.run_scan import ProgressLine
from droidgate.computer.optional_packages import install_command
from droidgate.coverage import cluster, remote_files
from droidgate.coverage.scan_inputs import list_inputs
from droidgate.sources.catalogs.catalog import Catalog
from droidgate.sources.catalogs.catalog_rows import TABLES
from droidgate_android.apk.pack import pack_project
from droidgate_mappings.model.errors import BudgetError, UsageError
from droidgate_phone.apps.sample_packages import filler_package, signing_key
from gateway.cli.program_runs import Run, Runner
from gateway.coverage_scan.catalogs import SAMPLES, ask, rows_of, scan_into, split_app, tool_app, tool_files

Scan = Callable[..., Run]


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
    return [item.source for item in list_inputs(map(str, sources)).items]


def test_a_relative_path_is_the_name_of_its_input(apps: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(apps)
    assert names("agent.apk") == names("./agent.apk") == names(".//agent.apk") == ["agent.apk"]
    assert names(".")[:2] == ["agent.apk", "clock-in.apk"]
    monkeypatch.chdir(apps.parent)
    assert names("apps")[0] == "apps/agent.apk"
    assert names("apps/") == names("apps")


def test_a_file_named_twice_is_one_input_and_two_files_of_one_name_have_two_names(
    apps: Path, tmp_path: Path
) -> None:
    (tmp_path / "agent.apk").write_bytes(b"")
    assert names(apps / "agent.apk", apps / "agent.apk") == ["agent.apk"]
    assert names(apps / "agent.apk", tmp_path / "agent.apk") == ["agent.apk", "agent.apk (2)"]
    assert len(names(apps, apps / "agent.apk")) == 20 + SAMPLES


def test_an_archive_of_a_folder_has_the_inputs_of_the_folder(apps: Path, tmp_path: Path) -> None:
    folder = tmp_path / "box"
    shutil.copytree(apps, folder / "inner")
    shutil.move(shutil.make_archive(str(tmp_path / "packed"), "zip", folder), folder)
    inside = names(folder / "inner")
    inputs = list_inputs([str(folder)])
    packed = [item.source for item in inputs.items if ".zip/" in item.source]
    assert packed == [f"box/packed.zip/{name}" for name in inside]
    assert names(folder / "packed.zip") == [name.removeprefix("box/") for name in packed]
    assert all(Path(item.location).is_file() for item in inputs.items)
    (folder / "packed.zip").write_bytes(b"PK\x05\x06")
    assert names(folder / "packed.zip") == ["packed.zip"]


def test_a_list_names_sources_and_its_bad_lines_are_rows(apps: Path, tmp_path: Path) -> None:
    lines = ["# apps", "", f"{apps}/agent.apk", f"  {apps}/notes.apk  ", f"{apps}/gone.apk", "@more"]
    (tmp_path / "list.txt").write_text("\n".join(lines))
    catalog = scan_into(tmp_path / "c", f"@{tmp_path / 'list.txt'}").catalog
    assert ask(catalog, "SELECT source, outcome, reason FROM sources") == [
        ("@more", "unreadable", "a list in a list is not followed"),
        ("agent.apk", "read", None),
        ("gone.apk", "unreadable", "cannot be read: No such file or directory"),
        ("notes.apk", "read", None),
    ]


def test_paths_of_a_list_are_named_by_the_parts_that_distinguish_them(tmp_path: Path) -> None:
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


def test_a_name_that_is_too_long_is_a_row(apps: Path, tmp_path: Path) -> None:
    (tmp_path / "list").write_text(f"{'y' * 5000}\n{apps / 'agent.apk'}\n")
    assert scan_into(tmp_path / "c", f"@{tmp_path / 'list'}").outcomes == {"read": 1, "unreadable": 1}


def test_relative_lines_next_to_absolute_ones_are_names_as_they_are_written(tmp_path: Path) -> None:
    (tmp_path / "list").write_text(f"{tmp_path}/a/x.apk\nb/y.apk\n{tmp_path}/c/z.apk\nhttps://host/d.apk\n")
    assert names(f"@{tmp_path}/list") == ["a/x.apk", "b/y.apk", "c/z.apk", "https://host/d.apk"]


@pytest.mark.slow
def test_a_catalog_inside_of_what_is_scanned_is_not_an_input(apps: Path, tmp_path: Path) -> None:
    mine = shutil.copytree(apps, tmp_path / "apps")
    first = rows_of(scan_into(mine / "catalog", mine).catalog)
    assert rows_of(scan_into(mine / "catalog", mine).catalog) == first


@pytest.mark.slow
def test_catalogs_of_one_name_and_a_folder_of_that_name_do_not_mix(apps: Path, tmp_path: Path) -> None:
    for place in ("a", "b"):
        (tmp_path / place).mkdir()
        scan_into(tmp_path / place / "apps", apps / "agent.apk")
    sources = [tmp_path / "a/apps", apps, tmp_path / "b/apps"]
    sources += [tmp_path / "a/../a/apps", Path(f"{tmp_path}/b/apps/")]
    paths = [row[0] for row in rows_of(scan_into(tmp_path / "c", *sources).catalog)["sources"]]
    assert len(set(paths)) == len(paths) == 22 + SAMPLES
    assert [name for name in paths if "(" in name] == ["apps (2)/agent.apk", "apps (3)/agent.apk"]


def test_no_password_of_a_url_gets_into_a_catalog(tmp_path: Path) -> None:
    catalog = scan_into(
        tmp_path / "c", "http://me:secret@127.0.0.1:9/x.apk", "http://me:secret@127.0.0.1:9/y/"
    )
    rows = rows_of(catalog.catalog)["sources"]
    assert [row[0] for row in rows] == ["http://127.0.0.1:9/x.apk", "http://127.0.0.1:9/y/"]
    assert "secret" not in repr(rows)


@pytest.mark.slow
@pytest.mark.parametrize("place", ["whole", "ranges", "moved"])
def test_a_large_remote_apk_is_read_in_pieces_where_there_are_pieces(place: str, tmp_path: Path) -> None:
    files = tool_files("dev.example.large")
    large = {**files, "assets/large.bin": random.Random(1).randbytes(3 << 20)}
    data = pack_project(large, key=signing_key())
    (tmp_path / "x.apk").write_bytes(data)
    with serving(data) as (address, sent):
        fetched = scan_into(tmp_path / "remote", f"{address}/{place}/x.apk")
    local = scan_into(tmp_path / "local", tmp_path / "x.apk")
    mine, theirs = rows_of(fetched.catalog), rows_of(local.catalog)
    assert [row[2:6] for row in mine.pop("sources")] == [row[2:6] for row in theirs.pop("sources")]
    assert mine == theirs
    # It declares something, so its signer decides, and its signature is verified over all of it: once.
    # A place without pieces sends the whole file where the last byte is asked for.
    times = 2 if place == "whole" else 1
    assert sum(sent) < times * len(data) + 3 * (256 << 10)


ANDROID = "http://schemas.android.com/apk/res/android"


@pytest.mark.parametrize("place", ["ranges", "moved"])
def test_of_a_large_remote_apk_that_declares_nothing_only_pieces_are_read(place: str, tmp_path: Path) -> None:
    manifest = f'<manifest xmlns:android="{ANDROID}" package="dev.example.large"><application/></manifest>'
    content = random.Random(1).randbytes(3 << 20)
    large = {"AndroidManifest.xml": manifest.encode(), "assets/large.bin": content}
    with serving(pack_project(large, key=signing_key())) as (address, sent):
        scan_into(tmp_path / "remote", f"{address}/{place}/x.apk")
    assert sum(sent) < 3 * (256 << 10)


def test_a_remote_file_that_ends_early_is_a_row_with_its_reason(tmp_path: Path) -> None:
    with serving(b"PK\x03\x04" * 1000) as (address, _):
        result = scan_into(tmp_path / "c", f"{address}/short/x.apk")
    (row,) = rows_of(result.catalog)["sources"]
    assert row[5] == "unreadable"
    assert "ContentLengthError" in row[6]


def test_reading_a_remote_file_without_end_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote_files, "MAX_REMOTE_BYTES", 1 << 20)
    with serving(b"x" * 1000) as (address, _), pytest.raises(BudgetError, match="more than 1048576 bytes"):
        remote_files.open_remote(f"{address}/endless/x.apk")


def test_a_place_that_takes_too_long_to_list_is_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote_files, "LISTING_SECONDS", 0.2)
    with serving(b"") as (address, _):
        items = list_inputs([f"{address}/endless/"]).items
    assert [(item.kind, item.reason) for item in items] == [
        ("refused", "cannot be listed: it takes too long")
    ]


def test_a_listing_without_end_is_stopped_before_it_fills_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote_files, "MAX_ANSWER_BYTES", 100_000)
    with serving(b"x" * 1000) as (address, sent):
        items = list_inputs([f"{address}/endless/"]).items
        assert len(sent) * 1000 < 100 * remote_files.MAX_ANSWER_BYTES
    reason = "cannot be listed: the server's answer has more than 100000 bytes"
    assert [(item.kind, item.reason) for item in items] == [("refused", reason)]


@pytest.mark.parametrize(
    "page", [b"<a" + b" " * 1000, b"<a x" * 1000, b"<a " + b"x   " * 1000], ids=lambda page: page[:20]
)
def test_a_page_that_is_slow_for_regular_expressions_is_listed_in_time(page: bytes) -> None:
    links = b'<A  class="x"\n\t   href="a  b.apk">a</A><a href=\'c.apk\' >c</a>' + page * 1000
    with serving(b"<html>" + links) as (address, _):
        assert names(f"{address}/page/") == [f"{address}/page/{item}.apk" for item in ("a  b", "c")]


def test_listing_a_tree_of_pages_without_end_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote_files, "MAX_LISTED", 10_000)
    with serving(b'<a href="again/">') as (address, sent):
        items = list_inputs([f"{address}/tree/"]).items
        assert len(sent) * len(b'<a href="again/">') < remote_files.MAX_LISTED
        assert len(list_inputs([f"{address}/tree/x.apk"]).items) == 1
    reason = "cannot be listed: it lists more than 10000 characters"
    assert [(item.kind, item.reason) for item in items] == [("refused", reason)]


def test_a_missing_file_in_memory_has_a_readable_error(tmp_path: Path) -> None:
    catalog = scan_into(tmp_path / "c", "memory://scan/no.apk").catalog
    assert ask(catalog, "SELECT reason FROM sources") == [("cannot be read: No such file",)]


@pytest.mark.slow
def test_a_missing_remote_file_is_reported_without_its_url_or_python_s_words(
    served: str, tmp_path: Path
) -> None:
    catalog = scan_into(tmp_path / "c", f"{served}/no.apk").catalog
    assert ask(catalog, "SELECT reason FROM sources") == [
        ("cannot be read: the server answers 404 File not found",)
    ]


@contextmanager
def serving(data: bytes) -> Iterator[tuple[str, list[int]]]:
    """Serve some bytes in the way that the first part of a path names; yield the bytes of each answer."""
    sent: list[int] = []

    class Answers(_Quiet):
        def do_HEAD(self) -> None:
            self._answer(has_body=False)

        def do_GET(self) -> None:
            self._answer(has_body=True)

        def _answer(self, *, has_body: bool) -> None:
            way = self.path.split("/")[1]
            match = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
            body = data
            if way == "moved":
                self.send_response(302)
                self.send_header("Location", "/ranges/x.apk")
                body = b""
            elif way == "ranges" and match:
                first, last = int(match[1]), min(int(match[2]), len(data) - 1)
                body = data[first : last + 1]
                self.send_response(206)
                self.send_header("Content-Range", f"bytes {first}-{last}/{len(data)}")
            else:
                self.send_response(200)
            if way.lower() in {"gzip", "deflate"} and self.headers["Accept-Encoding"] == "identity":
                self.send_header("Content-Encoding", way)
            if way != "endless":
                self.send_header("Content-Length", str(len(body) + (1 if way == "short" else 0)))
            self.end_headers()
            with suppress(OSError):
                while has_body and way != "moved":
                    sent.append(self.wfile.write(body or b" "))
                    if way != "endless":
                        break

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answers) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}", sent
        server.shutdown()


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


@pytest.mark.slow
def test_files_behind_http_have_the_rows_of_local_ones(apps: Path, served: str, tmp_path: Path) -> None:
    fetched = scan_into(
        tmp_path / "remote", f"{served}/clock-in.apk", f"{served}/notes.apk", f"{served}/no.apk"
    )
    local = scan_into(tmp_path / "local", apps / "clock-in.apk", apps / "notes.apk")
    assert fetched.outcomes == {"read": 2, "unreadable": 1}
    mine, theirs = rows_of(fetched.catalog), rows_of(local.catalog)
    for name in mine.keys() - {"sources"}:
        assert mine[name] == theirs[name], name


def test_a_folder_behind_http_is_listed(served: str) -> None:
    assert len(names(f"{served}/")) == 20 + SAMPLES


@pytest.mark.parametrize(("url", "package"), [("s3://bucket/apps", "s3fs"), ("gs://bucket/apps", "gcsfs")])
def test_a_scheme_without_its_package_names_it(url: str, package: str) -> None:
    with pytest.raises(UsageError, match=package) as raised:
        list_inputs([url])
    assert raised.value.hint == f"pip install {package}"


def test_a_scheme_that_nobody_knows_is_an_error() -> None:
    with pytest.raises(UsageError, match="not a scheme that fsspec knows"):
        list_inputs(["gopher://example/x"])


@pytest.mark.slow
@pytest.mark.parametrize(
    "data", [b"", b"PK\x03\x04", b"<x", b"\xff\xfe<\0", b"{", b"\0" * 100], ids=lambda data: data[:10]
)
def test_any_file_makes_a_row(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(data)
    (tmp_path / "x.apk").write_bytes(data)
    (tmp_path / "x.aab").write_bytes(data)
    result = scan_into(tmp_path / "c", *(tmp_path / name for name in ("x", "x.apk", "x.aab")))
    assert result.outcomes == {"unreadable": 3}


# What the commands say of a scan: what was not read and why, what was known, and every way it is refused


APPS = 20 + SAMPLES


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "the user's catalog"


@pytest.fixture
def scan(droidgate: Runner, folder: Path) -> Scan:
    """Return what runs `droidgate scan` of some sources into the folder."""
    return lambda *arguments: droidgate("scan", *arguments, "--catalog", folder, "--workers", "1")


def broken_apps(folder: Path, count: int) -> Path:
    folder.mkdir()
    for number in range(count):
        (folder / f"bad{number}.apk").write_bytes(b"PK\x03\x04 nothing")
    return folder


@pytest.mark.parametrize("missing", ["nope", "nope.apk", "-", "no/such/folder/"])
def test_a_missing_source_is_an_error_with_its_name(
    scan: Scan, missing: str, apps: Path, folder: Path
) -> None:
    reported = scan(apps, missing)
    assert reported.code == 3
    assert reported.out == ""
    assert reported.err.startswith(f"error: {missing}: cannot be read: No such file or directory\nhint: ")
    assert not folder.exists()


@pytest.mark.slow
def test_a_line_of_a_list_without_a_file_or_scheme_is_a_row(scan: Scan, apps: Path, tmp_path: Path) -> None:
    (tmp_path / "list").write_text(f"nope.apk\ngopher://me:secret@example/x\n{apps / 'agent.apk'}\n")
    done = scan(f"@{tmp_path}/list")
    assert done.code == 0
    reported = done.out
    assert "\n  nope.apk: cannot be read: No such file or directory\n" in reported
    assert "\n  gopher://example/x: gopher: is not a scheme that fsspec knows\n" in reported
    assert "catalog sql" not in reported


@pytest.mark.parametrize("content", [None, "# only a remark\n"], ids=["an empty folder", "a list of nothing"])
def test_nothing_to_scan_makes_no_catalog(
    scan: Scan, content: str | None, folder: Path, tmp_path: Path
) -> None:
    source = str(tmp_path / "empty")
    if content is None:
        Path(source).mkdir()
    else:
        Path(source).write_text(content)
        source = f"@{source}"
    reported = scan(source)
    assert reported.code == 3
    assert reported.out == ""
    assert reported.err.startswith(f"error: {source}: nothing in it can be scanned\nhint: ")
    assert not folder.exists()


@pytest.mark.slow
@pytest.mark.parametrize(("count", "commands"), [(5, 0), (7, 1)], ids=["no more", "more"])
def test_the_first_reasons_are_reported_and_a_command_for_all_only_where_there_are_more(
    scan: Scan, droidgate: Runner, count: int, commands: int, tmp_path: Path
) -> None:
    apps = broken_apps(tmp_path / "bad", count)
    (apps / "note.json").write_text("{}")
    reported = scan(apps)
    assert reported.code == 3
    assert reported.out.count(": it is not an APK: ") == 5
    assert reported.err.endswith("nothing could be read\nhint: the reasons are above\n")
    lines = [line for line in reported.out.splitlines() if "catalog sql" in line]
    assert len(lines) == commands
    for line in lines:
        _, *command = shlex.split(line.partition(": ")[2])
        done = droidgate(*command)
        assert done.code == 0
        answer = done.out
        assert answer.count("bad/bad") == count
        assert "note.json" not in answer


@pytest.mark.slow
def test_a_scan_of_nothing_known_ends_with_a_hint(scan: Scan, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes/note.json").write_text("{}")
    done = scan(tmp_path / "notes")
    assert (done.code, done.err.endswith("\nhint: `droidgate formats` lists what is read\n")) == (3, True)
    done = scan(broken_apps(tmp_path / "bad", 1), "--json")
    assert done.code == 3
    hint = done.err.splitlines()[-1]
    assert shlex.split(hint)[-2] == str(folder)


@pytest.mark.slow
def test_a_split_is_reported_where_its_base_is_missing(scan: Scan, tmp_path: Path) -> None:
    base, german = split_app("dev.example.split")
    lone, whole = tmp_path / "lone", tmp_path / "whole"
    for place in (lone, whole):
        place.mkdir()
        (place / "config.de.apk").write_bytes(german)
    (whole / "base.apk").write_bytes(base)
    done = scan(lone, whole)
    assert done.code == 0
    reasons = [line for line in done.out.splitlines() if "config.de.apk: " in line]
    assert reasons == [
        "  lone/config.de.apk: it is a split of dev.example.split, whose base is not in the same folder"
    ]


@pytest.mark.slow
def test_a_second_scan_reports_how_much_it_read(scan: Scan, apps: Path) -> None:
    done = scan(apps)
    assert (done.code, "known already" not in done.err) == (0, True)
    done = scan(apps)
    assert (done.code, f"{APPS} of {APPS} scanned, {APPS} known already; " in done.err) == (0, True)


def test_a_stopped_scan_reports_that_the_same_command_resumes_it(capsys: pytest.CaptureFixture[str]) -> None:
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
    other = scan_into(tmp_path / "other", apps, bad, known=(str(tmp_path / "c"),))
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
    rows = ask(scan_into(folder, tmp_path / "x.apk").catalog, "SELECT reason FROM sources")
    assert rows == [("AndroidManifest.xml: it is not compiled XML",)]


def test_a_file_in_place_of_a_catalog_folder_is_refused(scan: Scan, apps: Path, folder: Path) -> None:
    folder.write_text("")
    done = scan(apps)
    assert done.code == 3
    assert done.err.endswith(f"error: {folder}: it is a file\nhint: a catalog is a folder\n")


@pytest.mark.parametrize("address", ["host:8786", "http://127.0.0.1:8786", "tcp://127.0.0.1", "tcp://:port"])
def test_a_wrong_scheduler_is_refused_at_once(scan: Scan, address: str, apps: Path, folder: Path) -> None:
    pytest.importorskip("distributed")
    done = scan(apps, "--cluster", address)
    assert done.code == 2
    error, hint = f"'{address}' is not the address of a scheduler", cluster._HOW_TO_WRITE
    assert done.err == f"error: {error}\nhint: {hint}\n"
    assert not folder.exists()


@pytest.fixture
def silent_port() -> Iterator[int]:
    """Something that takes connections and says nothing."""
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        yield server.getsockname()[1]


@pytest.mark.parametrize("what", ["nothing", "something silent"])
def test_a_cluster_that_is_not_there_leaves_nothing_behind(
    scan: Scan, what: str, apps: Path, folder: Path, silent_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr(cluster, "_CONNECT", 0.2)
    monkeypatch.setattr(distributed, "Client", None)  # nobody is asked who could complain later
    port = 9 if what == "nothing" else silent_port
    done = scan(apps, "--cluster", f"tcp://127.0.0.1:{port}")
    assert done.code == 3
    first, second = done.err.splitlines()
    assert first.startswith(f"error: tcp://127.0.0.1:{port}: the cluster cannot be reached: ")
    assert second.startswith("hint: is `dask scheduler` running there")
    assert not folder.exists()


def test_a_missing_extra_is_reported_before_any_source(scan: Scan, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    done = scan("nope", "--cluster", "tcp://127.0.0.1:8786")
    assert (done.code, f"\nhint: {install_command('cluster')}" in done.err) == (2, True)

"""What happens to a catalog when its scan is ended, disturbed or not alone."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from droidgate.coverage import scan_one as scan_one_module
from droidgate.coverage.inputs import Item
from droidgate.coverage.process_pool import PoolSettings, StandingWorker
from droidgate.coverage.scan import only_scan_of
from droidgate.sources import read_opened
from droidgate.sources.catalogs.catalog import Catalog
from droidgate.sources.catalogs.rows import LOG_FILE
from droidgate_mappings.model.errors import InputError
from droidgate_phone.apps.sample_packages import filler_package
from gateway.coverage_scan.catalogs import Rows, rows_of, scan_into
from gateway.coverage_scan.made_apps import split_app, tool_app

LITTLE_DISK = (
    "import resource, sys; from pathlib import Path; from gateway.coverage_scan.catalogs import scan_into; "
    "resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]),) * 2); "
    "scan_into(Path(sys.argv[1]), sys.argv[2])"
)


@pytest.fixture(scope="module")
def rescanned(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Rows]:
    """Apps of which one has changed since a scan, its catalog, and the rows of a scan of today."""
    folder = tmp_path_factory.mktemp("rescanned")
    apps = folder / "apps"
    apps.mkdir()
    (apps / "a.apk").write_bytes(filler_package(2))
    (apps / "b.apk").write_bytes(filler_package(4))
    first = rows_of(scan_into(folder / "c", apps).catalog)
    (apps / "b.apk").write_bytes(filler_package(6))
    rows = rows_of(scan_into(folder / "anew", apps).catalog)
    assert rows != first
    return apps, folder / "c", rows


@pytest.mark.slow
@pytest.mark.parametrize("moved", range(9))
def test_a_scan_that_ends_while_the_catalog_is_put_in_place_never_mixes_two(
    moved: int, rescanned: tuple[Path, Path, Rows], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    apps, before, rows = rescanned
    shutil.copytree(before, tmp_path / "c")
    replace, left = Path.replace, moved

    def ended_in_between(self: Path, target: Path) -> Path:
        nonlocal left
        if "building" in self.parts:
            if left == 0:
                raise KeyboardInterrupt
            left -= 1
        return replace(self, target)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", ended_in_between)
        if moved < 8:
            with pytest.raises(KeyboardInterrupt):
                scan_into(tmp_path / "c", apps)
        else:
            scan_into(tmp_path / "c", apps)
    if moved < 8:
        with pytest.raises(InputError, match="not finished"):
            Catalog.open(tmp_path / "c")
        (tmp_path / "c" / LOG_FILE).write_bytes(b"")
    assert rows_of(scan_into(tmp_path / "c", apps).catalog) == rows


@pytest.mark.slow
@pytest.mark.parametrize("kibibytes", [1, 8, 40, 100])
def test_a_full_disk_is_one_error_and_the_scan_goes_on_from_there(
    kibibytes: int, apps: Path, catalog: Catalog, tmp_path: Path
) -> None:
    folder = tmp_path / "c"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(item for item in sys.path if item)}
    command = [sys.executable, "-c", LITTLE_DISK, str(folder), str(apps), str(kibibytes << 10)]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert "InputError" in ended.stderr.splitlines()[-2]
    assert "cannot be written" in ended.stderr.splitlines()[-2]
    assert rows_of(scan_into(folder, apps).catalog) == rows_of(catalog)


def test_a_catalog_is_written_by_one_scan_at_a_time(apps: Path, tmp_path: Path) -> None:
    folder = tmp_path / "c"
    folder.mkdir()
    with only_scan_of(folder), pytest.raises(InputError, match="another scan writes this catalog now"):
        scan_into(folder, apps / "agent.apk")
    assert list(folder.iterdir()) == []
    assert scan_into(folder, apps / "agent.apk").outcomes == {"read": 1}


def test_a_file_that_changes_while_it_is_read_has_no_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.apk"
    path.write_bytes(filler_package(2))
    read = read_opened

    def changed_meanwhile(apk: Any, options: Any) -> Any:
        path.write_bytes(filler_package(2) + b"more")
        return read(apk, options)

    monkeypatch.setattr(scan_one_module, "read_opened", changed_meanwhile)
    scanned = scan_one_module.scan_one(Item("a", "apk", str(path)))
    assert (scanned.outcome, scanned.reason) == ("unreadable", "it changed while it was read")
    assert (scanned.unit, scanned.rows) == (None, None)


def test_an_app_whose_split_changes_while_it_is_read_has_no_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, data in zip(("base", "de"), split_app("dev.example.split"), strict=True):
        (tmp_path / name).write_bytes(data)
    read = read_opened

    def changed_meanwhile(apk: Any, options: Any) -> Any:
        os.utime(tmp_path / "de", ns=(1, 1))
        return read(apk, options)

    monkeypatch.setattr(scan_one_module, "read_opened", changed_meanwhile)
    item = Item("a", "app", str(tmp_path / "base"), (("de", str(tmp_path / "de")),))
    scanned = scan_one_module.scan_one(item)
    assert (scanned.outcome, scanned.reason) == ("unreadable", "it changed while it was read")
    assert (scanned.unit, scanned.rows) == (None, None)


@pytest.mark.slow
def test_a_split_that_changes_before_it_is_read_with_its_base_belongs_to_no_unit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "apps"
    folder.mkdir()
    for name, data in zip(("base", "de"), split_app("dev.example.split"), strict=True):
        (folder / f"{name}.apk").write_bytes(data)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    work = "gateway.coverage_scan.hostile_work:touches_splits"
    rows = {row[0]: row for row in rows_of(scan_into(tmp_path / "c", folder, work=work).catalog)["sources"]}
    assert rows["apps/base.apk"][5:] == ("read", None)
    assert rows["apps/de.apk"][4:] == (
        None,
        "part",
        "it cannot be read with its base, apps/base.apk: it changed while it was read",
    )


@pytest.mark.slow
def test_a_file_that_changed_before_its_line_was_written_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "apps" / "a.apk"
    path.parent.mkdir()
    path.write_bytes(filler_package(2))
    scan_into(tmp_path / "c", path.parent, keeps_log=True)
    log = (tmp_path / "c" / LOG_FILE).read_bytes()
    line = json.loads(log.splitlines()[1])
    assert line["state"] == [path.stat().st_size, path.stat().st_mtime_ns]
    worker = StandingWorker(PoolSettings())
    try:
        answer = worker.scan([Item("a", "apk", str(path))])[0]
    finally:
        worker.end()
    assert answer.head["state"] == line["state"], (
        "as the worker saw it, not as it is when the line is written"
    )


@pytest.mark.slow
def test_units_known_to_an_earlier_scan_are_not_taken_for_those_of_this_one(
    apps: Path, tmp_path: Path
) -> None:
    """A cluster's worker keeps a process between scans, which keeps its file of units open."""
    standing: dict[PoolSettings, StandingWorker] = {}

    class Stays:
        def __init__(self, settings: PoolSettings) -> None:
            self.worker = standing.setdefault(settings, StandingWorker(settings))

        def run(self, items: Any) -> Any:
            return iter(self.worker.scan(items))

    both, first = [apps / "notes.apk", apps / "agent.apk"], [apps / "agent.apk"]
    try:
        scan_into(tmp_path / "c", *both, make_executor=Stays)
        for sources in (both, first, both):
            catalog = scan_into(tmp_path / "c", *sources, make_executor=Stays).catalog
            assert catalog.rows["apps"] == len(sources)
    finally:
        for worker in standing.values():
            worker.end()


@pytest.mark.slow
def test_a_split_that_cannot_be_read_does_not_take_its_app_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base, german = split_app("dev.example.split")
    for name, data in (("base", base), ("config.de", german)):
        (tmp_path / f"{name}.apk").write_bytes(data)
    (tmp_path / "other.apk").write_bytes(tool_app("dev.example.other"))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    result = scan_into(
        tmp_path / "c", *tmp_path.glob("*.apk"), work="gateway.coverage_scan.hostile_work:no_splits"
    )
    rows = {row[0]: row for row in rows_of(result.catalog)["sources"]}
    assert [(name, row[5]) for name, row in rows.items()] == [
        ("base.apk", "read"),
        ("config.de.apk", "part"),
        ("other.apk", "read"),
    ]
    assert rows["config.de.apk"][4] is None
    assert rows["config.de.apk"][6] == (
        "it cannot be read with its base, base.apk: internal error: ValueError: base.apk"
    )
    assert result.catalog.rows["apps"] == 2


@pytest.mark.slow
def test_a_worker_that_ended_itself_for_want_of_work_costs_no_input_a_try(tmp_path: Path) -> None:
    path = tmp_path / "a.apk"
    path.write_bytes(filler_package(2))
    worker = StandingWorker(PoolSettings(work="gateway.coverage_scan.hostile_work:fragile"))
    try:
        first = worker.scan([Item("first", "apk", str(path))])
        os.kill(worker._pool.process_ids()[0], signal.SIGALRM)
        while not worker.has_ended:
            time.sleep(0.01)
        second = worker.scan([Item("fragile", "apk", str(path))])
    finally:
        worker.end()
    assert [item.head["outcome"] for item in (*first, *second)] == ["read", "read"]


@pytest.mark.parametrize("deadline", [1e12, float("inf")])
def test_a_deadline_of_any_length_is_kept(deadline: float, apps: Path) -> None:
    worker = StandingWorker(PoolSettings(deadline=deadline, memory=1 << 62))
    try:
        answer = worker.scan([Item("a", "apk", str(apps / "agent.apk"))])[0]
    finally:
        worker.end()
    assert answer.head["outcome"] == "read"

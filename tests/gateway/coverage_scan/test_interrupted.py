"""What happens to a catalog when its scan is ended, disturbed or not alone."""

import itertools
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
from droidgate.coverage.process_pool import PoolAnswer, PoolSettings, ProcessPool
from droidgate.coverage.scan import only_scan_of
from droidgate.coverage.scan_inputs import Item, list_inputs
from droidgate.sources import read_opened
from droidgate.sources.catalogs.catalog import Catalog
from droidgate.sources.catalogs.catalog_files import LOG_FILE
from droidgate_mappings.model.errors import DroidgateError, InputError
from droidgate_phone.apps.sample_packages import filler_package
from gateway.coverage_scan.catalogs import (
    SAMPLES,
    Rows,
    ask,
    rows_of,
    scan_into,
    split_app,
    tool_app,
    write_apps,
)
from gateway.coverage_scan.hostile_work import SLOW, WORK

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
@pytest.mark.parametrize("moved", range(9), ids="after {} files".format)
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
@pytest.mark.parametrize("kibibytes", [1, 8, 40, 100], ids="{} KiB".format)
def test_a_full_disk_is_one_error(kibibytes: int, apps: Path, catalog: Catalog, tmp_path: Path) -> None:
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


def test_a_file_that_changes_meanwhile_has_no_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_an_app_whose_split_changes_has_no_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
def test_a_split_that_changes_early_belongs_to_no_unit(
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
        "cannot be read with its base, apps/base.apk: it changed while it was read",
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
    (answer,) = ProcessPool(PoolSettings()).run([Item("a", "apk", str(path))])
    assert answer.head["state"] == line["state"], (
        "as the worker saw it, not as it is when the line is written"
    )


@pytest.mark.slow
def test_a_split_that_cannot_be_read_leaves_its_app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
        "cannot be read with its base, base.apk: internal error: ValueError: base.apk"
    )
    assert result.catalog.rows["apps"] == 2


def process_ids(pool: ProcessPool) -> list[int]:
    return [worker.process_id for worker in dict(pool._workers).values()]


@pytest.mark.parametrize("deadline", [1e12, float("inf")])
def test_a_deadline_of_any_length_is_kept(deadline: float, apps: Path) -> None:
    settings = PoolSettings(deadline=deadline, memory=1 << 62)
    (answer,) = ProcessPool(settings).run([Item("a", "apk", str(apps / "agent.apk"))])
    assert answer.head["outcome"] == "read"


# A hostile file costs its worker, not the scan


MEBIBYTE = 1 << 20
LOADED = """
import sys
from droidgate.coverage.scan_inputs import Item
from droidgate.coverage.scan_one import load_ahead
from droidgate.coverage.worker import SCAN_ONE, load_work
work = load_work(SCAN_ONE)
load_ahead()
before = set(sys.modules)
scanned = work(Item("a", "apk", sys.argv[1]), ())
late = sorted(one for one in set(sys.modules) - before if one.startswith("droidgate"))
print(scanned.outcome, late)
"""


def hostile_folder(folder: Path, *names: str) -> Path:
    write_apps(folder, 6)
    for name in names:
        (folder / f"{name}.apk").write_bytes(b"PK\x03\x04 and " + name.encode())
    return folder


def test_no_module_of_this_folder_runs_in_a_worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_apps(tmp_path / "apps", 1) / "filler000.apk"
    monkeypatch.chdir(tmp_path)
    Path("json.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w'); raise SystemExit")
    answers = list(ProcessPool(PoolSettings()).run([Item("a", "apk", str(path))]))
    assert outcomes(answers) == {"a": "read"}
    assert not Path("ran").exists()


def outcomes(answers: list[PoolAnswer]) -> dict[str, str]:
    return {answer.item.source.rpartition("/")[2]: answer.head["outcome"] for answer in answers}


@pytest.mark.slow
@pytest.mark.parametrize(("name", "outcome", "reason"), [
    ("abort", "crashed", "its worker process died of it, twice"),
    ("loop", "too-slow", "it takes more than 2 seconds"),
    ("bomb", "too-much-memory", "it needs more than 256 MiB of memory"),
    ("mistake", "crashed", "internal error: ValueError: mistake.apk"),
])  # fmt: skip
def test_a_hostile_file_is_a_row_with_a_reason(name: str, outcome: str, reason: str, tmp_path: Path) -> None:
    folder = hostile_folder(tmp_path / "apps", name)
    result = scan_into(tmp_path / "c", folder, work=WORK, memory=256 * MEBIBYTE, deadline=2.0)
    assert result.outcomes == {"read": 6 + SAMPLES, outcome: 1}
    reported = ask(result.catalog, f"SELECT source, reason FROM sources WHERE outcome = '{outcome}'")
    assert reported == [(f"apps/{name}.apk", reason)]


@pytest.mark.slow
def test_hostile_files_side_by_side_take_nothing_from_their_neighbours(tmp_path: Path) -> None:
    names = ("abort1", "abort2", "bomb1", "filler000a", "loop1", "mistake1")
    folder = hostile_folder(tmp_path / "apps", *names)
    settings = {"work": WORK, "memory": 256 * MEBIBYTE, "deadline": 2.0}
    first = scan_into(tmp_path / "one", folder, workers=1, **settings)
    two = scan_into(tmp_path / "two", folder, workers=2, **settings)
    assert rows_of(first.catalog) == rows_of(two.catalog)
    assert first.outcomes == {
        "read": 6 + SAMPLES,
        "crashed": 3,
        "too-slow": 1,
        "too-much-memory": 1,
        "unreadable": 1,
    }


@pytest.mark.slow
def test_a_scan_ends_in_time_keeps_what_was_read_and_goes_on_from_there(tmp_path: Path) -> None:
    folder = hostile_folder(tmp_path / "apps", "loop1", "loop2")
    settings = {"work": WORK, "workers": 1, "deadline": 500.0}
    began = time.monotonic()
    late = scan_into(tmp_path / "c", folder, run_deadline=8.0, **settings)
    assert time.monotonic() - began < 60
    reported = ask(late.catalog, "SELECT source, reason FROM sources WHERE outcome = 'out-of-time'")
    assert [source for source, _ in reported] == sorted(late.out_of_time)
    assert {"apps/loop1.apk", "apps/loop2.apk"} <= set(late.out_of_time)
    assert {reason for _, reason in reported} == {"the scan ended after 8 seconds, before it was read"}
    for name in ("loop1", "loop2"):
        (folder / f"{name}.apk").unlink()
    whole = scan_into(tmp_path / "c", folder, **settings)
    assert whole.outcomes == {"read": 6 + SAMPLES}
    assert whole.resumed == 6 + SAMPLES + 2 - len(late.out_of_time)
    assert not whole.out_of_time
    assert rows_of(whole.catalog) == rows_of(scan_into(tmp_path / "new", folder).catalog)


@pytest.mark.slow
def test_files_that_take_all_the_time_of_each_run_keep_no_other_from_being_read(tmp_path: Path) -> None:
    folder = write_apps(tmp_path / "apps", 6)
    hostile = ["apps/a/loop1.apk", "apps/a/loop2.apk"]
    (folder / "a").mkdir()
    for source in hostile:
        (tmp_path / source).write_bytes(b"PK\x03\x04")
    settings = {"work": WORK, "workers": 1, "deadline": 500.0, "run_deadline": 5.0}
    left = [sorted(scan_into(tmp_path / "c", folder, **settings).out_of_time) for _ in range(4)]
    assert len(left[0]) == 6 + SAMPLES + len(hostile)
    assert left[-1] == hostile


@pytest.mark.slow
def test_a_worker_that_somebody_ends_loses_nothing(apps: Path) -> None:
    items = list_inputs([str(apps)]).items
    pool = ProcessPool(PoolSettings(workers=2, work=SLOW))
    answers, ended = [], []
    for answer in pool.run(items):
        answers.append(answer)
        running = [each for each in process_ids(pool) if each not in ended]
        if len(answers) in {3, 9} and running:
            os.kill(running[0], signal.SIGKILL)
            ended.append(running[0])
    assert ended
    assert set(outcomes(answers).values()) == {"read"}
    assert sorted(each.item.source for each in answers) == [each.source for each in items]


def test_answers_that_nobody_takes_any_more_end_the_workers(apps: Path) -> None:
    pool = ProcessPool(PoolSettings(workers=2, work=SLOW))
    answers = pool.run(itertools.cycle(list_inputs([str(apps)]).items))
    while len(running := process_ids(pool)) < 2:  # the second one may start late
        next(answers)
    answers.close()  # type: ignore[attr-defined]
    for item in running:
        with pytest.raises(ProcessLookupError):
            os.kill(item, 0)


@pytest.mark.slow
def test_the_clock_of_a_first_input_runs_while_nothing_is_loaded_any_more(apps: Path) -> None:
    reported = subprocess.run(
        [sys.executable, "-c", LOADED, apps / "clock-in.apk"], capture_output=True, text=True, check=True
    )
    assert reported.stdout == "read []\n"


def test_a_worker_that_cannot_start_is_an_error_and_no_row(apps: Path) -> None:
    pool = ProcessPool(PoolSettings(work="no.such.module:work"))
    with pytest.raises(DroidgateError, match="cannot be started"):
        list(pool.run(list_inputs([str(apps)]).items))


@pytest.mark.slow
def test_an_input_that_is_described_in_many_bytes_does_not_block(apps: Path) -> None:
    parts = tuple((f"set{number}", f"src/set{number}") for number in range(20_000))
    small = list_inputs([str(apps)]).items
    items = [small[0], Item("large", "module", str(apps), parts), *small[1:4]]
    answers = list(ProcessPool(PoolSettings()).run(items))
    assert len(answers) == 5

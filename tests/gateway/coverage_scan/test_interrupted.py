"""What happens to a catalog when its scan is ended, disturbed or not alone."""

import itertools
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import pytest

from droidgate.coverage import cluster, scan_one as scan_one_module
from droidgate.coverage.catalog_writing import only_scan_of
from droidgate.coverage.cluster import Cluster
from droidgate.coverage.process_pool import PoolAnswer, PoolSettings, ProcessPool, StandingWorker
from droidgate.coverage.scan_inputs import Item, list_inputs
from droidgate.sources.catalogs.catalog import Catalog
from droidgate.sources.catalogs.catalog_files import LOG_FILE
from droidgate.sources.file_reader import FileReader
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
@pytest.mark.parametrize("moved", [0, 1, 7, 8], ids="after {} files".format)
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
@pytest.mark.parametrize("kibibytes", [1, 40], ids="{} KiB".format)
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


@pytest.mark.parametrize("changed", ["base", "de"], ids=["an APK", "a split"])
def test_an_app_has_no_rows_if_a_file_of_it_changes_during_the_scan(
    changed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, data in zip(("base", "de"), split_app("dev.example.split"), strict=True):
        (tmp_path / name).write_bytes(data)
    read = FileReader.read_apk

    def changed_meanwhile(reader: FileReader, apk: Any) -> Any:
        os.utime(tmp_path / changed, ns=(1, 1))
        return read(reader, apk)

    monkeypatch.setattr(FileReader, "read_apk", changed_meanwhile)
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
    scan_into(tmp_path / "c", path.parent, keep_log=True)
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
def test_units_of_an_earlier_scan_are_not_taken_for_those_of_this_one(apps: Path, tmp_path: Path) -> None:
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


@pytest.mark.slow
def test_a_worker_that_ended_idle_counts_as_no_failed_try_of_an_input(tmp_path: Path) -> None:
    path = tmp_path / "a.apk"
    path.write_bytes(filler_package(2))
    worker = StandingWorker(PoolSettings(work="gateway.coverage_scan.hostile_work:fragile"))
    try:
        first = worker.scan([Item("first", "apk", str(path))])
        os.kill(process_ids(worker._pool)[0], signal.SIGALRM)
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
    worker = StandingWorker(PoolSettings())
    try:
        assert outcomes(worker.scan([Item("a", "apk", str(path))])) == {"a": "read"}
    finally:
        worker.end()
    assert not Path("ran").exists()


def outcomes(answers: list[PoolAnswer]) -> dict[str, str]:
    return {answer.item.source.rpartition("/")[2]: answer.head["outcome"] for answer in answers}


@pytest.mark.slow
def test_hostile_files_are_rows_with_reasons_and_take_nothing_from_their_neighbours(tmp_path: Path) -> None:
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
    reasons = dict(ask(first.catalog, "SELECT source, reason FROM sources WHERE outcome <> 'read'"))
    del reasons["apps/filler000a.apk"]
    assert reasons == {
        "apps/abort1.apk": "its worker process died of it, twice",
        "apps/abort2.apk": "its worker process died of it, twice",
        "apps/bomb1.apk": "it needs more than 256 MiB of memory",
        "apps/loop1.apk": "it takes more than 2 seconds",
        "apps/mistake1.apk": "internal error: ValueError: mistake1.apk",
    }


@pytest.mark.slow
def test_a_scan_stops_at_its_deadline_keeps_what_was_read_and_is_resumed(tmp_path: Path) -> None:
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
    unread = [sorted(scan_into(tmp_path / "c", folder, **settings).out_of_time) for _ in range(4)]
    assert len(unread[0]) == 6 + SAMPLES + len(hostile)
    assert unread[-1] == hostile


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


def test_workers_end_when_nobody_reads_their_answers(apps: Path) -> None:
    pool = ProcessPool(PoolSettings(workers=2, work=SLOW))
    answers = pool.run(itertools.cycle(list_inputs([str(apps)]).items))
    while len(running := process_ids(pool)) < 2:  # the second one may start late
        next(answers)
    answers.close()  # type: ignore[attr-defined]
    for item in running:
        with pytest.raises(ProcessLookupError):
            os.kill(item, 0)


@pytest.mark.slow
def test_no_module_is_loaded_while_the_time_of_a_first_input_runs(apps: Path) -> None:
    reported = subprocess.run(
        [sys.executable, "-c", LOADED, apps / "clock-in.apk"], capture_output=True, text=True, check=True
    )
    assert reported.stdout == "read []\n"


def test_a_worker_that_cannot_start_is_an_error_and_no_row(apps: Path) -> None:
    pool = ProcessPool(PoolSettings(work="no.such.module:work"))
    with pytest.raises(DroidgateError, match="cannot be started"):
        list(pool.run(list_inputs([str(apps)]).items))


@pytest.mark.slow
def test_a_lasting_worker_goes_on_after_a_hostile_batch(tmp_path: Path) -> None:
    folder = hostile_folder(tmp_path / "apps", "abort", "loop")
    items = list_inputs([str(folder)]).items
    worker = StandingWorker(PoolSettings(work=WORK, deadline=2.0))
    try:
        first, second = worker.scan(items[:3]), worker.scan(items[3:])
    finally:
        worker.end()
    results = outcomes([*first, *second])
    assert [each.item for each in (*first, *second)] == items
    assert {name for name, outcome in results.items() if outcome != "read"} == {"abort.apk", "loop.apk"}


# What a cluster does with late, failing and strange workers; a cluster that is asked step by step


ITEMS = [Item(name, "apk", f"/{name}.apk") for name in "abcd"]


class Future:
    """A task of a made-up cluster; the test says when it ends."""

    def __init__(self, items: list[dict[str, Any]]) -> None:
        self.items = items
        self.status = "pending"
        self.callbacks: list[Callable[[Any], None]] = []
        self.will_be: str | None = None

    def add_done_callback(self, callback: Callable[[Any], None]) -> None:
        self.callbacks.append(callback)
        if self.will_be is not None:
            self.end(self.will_be)

    def end(self, status: str) -> None:
        if self.status == "pending":
            self.status = status
            for callback in self.callbacks:
                callback(self)

    def result(self) -> list[Any]:
        return [({"source": item["source"], "outcome": "read"}, b"") for item in self.items]

    def exception(self) -> Exception:
        return RuntimeError("it failed")


class Workers:
    """The made-up workers of a cluster, by name, with the version that each reports."""

    def __init__(self, **joined: Any) -> None:
        self.joined = joined
        self.asked: list[str] = []

    def nthreads(self) -> dict[str, int]:
        return dict.fromkeys(self.joined, 1)

    def run(self, work: Any, name: str, *, workers: list[str], on_error: str) -> dict[str, Any]:
        assert (work, name, on_error) == (version, "droidgate", "return")
        self.asked += workers
        return {worker: self.joined[worker] for worker in workers}


class Client(Workers):
    """A made-up cluster: calls `on_submit` with each task and how many there have been."""

    def __init__(self, on_submit: Callable[["Client", Future, int], None]) -> None:
        super().__init__(worker=version("droidgate"))
        self.on_submit = on_submit
        self.futures: list[Future] = []
        self.status = "running"

    def submit(self, work: Any, items: Any, settings: Any, expected: str, **options: Any) -> Future:
        assert work is cluster.scan_chunk
        assert expected == version("droidgate")
        assert options["retries"] == 3
        del settings
        future = Future(items)
        self.futures.append(future)
        self.on_submit(self, future, len(self.futures))
        return future

    def cancel(self, futures: list[Future], *, force: bool) -> None:
        assert force
        for future in futures:
            future.end("cancelled")


@pytest.fixture(autouse=True)
def _hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "_LOOKS_EACH", 0.001)
    monkeypatch.setattr(cluster, "_MARGIN", 0.0)


def run_on(client: Client, *, chunk: int = 2) -> Iterator[PoolAnswer]:
    settings = PoolSettings(deadline=0.01)
    return Cluster("tcp://made.up:1", settings, chunk)._run(client, iter(ITEMS))


def test_a_late_task_is_given_to_a_second_worker_and_the_first_answer_counts() -> None:
    def on_submit(_: Client, future: Future, number: int) -> None:
        if number > 2:  # the two tasks of four inputs are late; their second tries are not
            future.will_be = "finished"

    client = Client(on_submit)
    answers = list(run_on(client))
    assert sorted(each.item.source for each in answers) == ["a", "b", "c", "d"]
    assert len(client.futures) == 4
    assert [each.status for each in client.futures] == ["cancelled", "cancelled", "finished", "finished"]


def test_an_answer_of_the_first_worker_after_the_second_one_was_asked_counts_once() -> None:
    def on_submit(client: Client, future: Future, number: int) -> None:
        if number == 3:  # the second try of the first task: now the first try ends after all, and then it
            client.futures[0].end("finished")
            future.will_be = "finished"
        elif number == 4:
            future.will_be = "finished"

    client = Client(on_submit)
    answers = list(run_on(client))
    assert sorted(answer.item.source for answer in answers) == ["a", "b", "c", "d"]


def test_a_task_that_fails_is_tried_input_by_input_and_only_the_guilty_one_is_a_row() -> None:
    def on_submit(_: Client, future: Future, __: int) -> None:
        is_guilty = any(each["source"] == "b" for each in future.items)
        future.will_be = "error" if is_guilty else "finished"

    answers = {each.item.source: each.head for each in run_on(Client(on_submit))}
    assert {name: head["outcome"] for name, head in answers.items()} == {
        "a": "read",
        "b": "crashed",
        "c": "read",
        "d": "read",
    }
    assert answers["b"]["reason"].endswith("again and again: RuntimeError")


def test_a_cluster_that_disappears_is_an_error_and_no_row() -> None:
    def on_submit(client: Client, future: Future, number: int) -> None:
        future.will_be = "finished" if number == 1 else "cancelled"
        if number > 1:
            client.status = "closed"

    rows: list[str] = []
    with pytest.raises(InputError, match="the cluster is gone"):
        rows.extend(item.head["outcome"] for item in run_on(Client(on_submit)))
    assert "crashed" not in rows


@pytest.mark.parametrize(("reported", "message"), [
    (PackageNotFoundError("droidgate"), "a worker of the cluster has no droidgate"),
    ("0.0.9", "a worker of the cluster has droidgate 0.0.9, "),
], ids=["none", "another version"])  # fmt: skip
def test_a_worker_that_joins_later_with_other_settings_ends_the_scan(reported: Any, message: str) -> None:
    def on_submit(client: Client, future: Future, number: int) -> None:
        future.will_be = "finished"
        if number == 2:
            client.joined["late"] = reported

    with pytest.raises(InputError, match=message):
        list(run_on(Client(on_submit), chunk=1))


def test_workers_that_join_later_are_checked_once_and_may_leave_again() -> None:
    def on_submit(client: Client, future: Future, number: int) -> None:
        future.will_be = "finished"
        if number == 1:
            client.joined |= {"late": version("droidgate"), "gone": OSError("it is gone")}
        elif number == 4:
            del client.joined["gone"]

    client = Client(on_submit)
    assert len(list(run_on(client, chunk=1))) == 4
    assert (client.asked.count("worker"), client.asked.count("late")) == (1, 1)


def test_a_worker_of_another_version_makes_no_rows() -> None:
    with pytest.raises(cluster._OtherVersionError):
        cluster.scan_chunk([], PoolSettings(), "0.0.9")


class Asked(Workers):
    """A cluster that is asked what its workers are."""

    def __init__(self, answer: Any) -> None:
        super().__init__(one=version("droidgate"), two=answer)
        self.answer = answer

    def submit(self, work: Any, name: str, **options: Any) -> "Asked":
        assert work is version, "a worker without droidgate dies of a task of ours"
        assert (name, options) == ("droidgate", {"pure": False})
        return self

    def result(self, **_: float) -> str:
        if isinstance(self.answer, Exception):
            raise self.answer
        return str(self.answer)


@pytest.mark.parametrize(("reported", "message"), [
    (TimeoutError(), "has no worker that takes work"),
    (PackageNotFoundError("droidgate"), "a worker of the cluster has no droidgate"),
    ("0.0.9", "a worker of the cluster has droidgate 0.0.9, "),
], ids=["no worker", "none", "another version"])  # fmt: skip
def test_workers_that_cannot_scan_or_have_other_settings_are_refused(reported: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Cluster("tcp://made.up:1", PoolSettings()).check_workers(Asked(reported))


def test_workers_of_this_version_are_taken() -> None:
    asked = Asked(version("droidgate"))
    Cluster("tcp://made.up:1", PoolSettings()).check_workers(asked)
    assert asked.asked == ["one", "two"]

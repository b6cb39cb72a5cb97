"""A hostile file costs its worker, not the scan."""

import itertools
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from droidgate.coverage.inputs import Item, list_inputs
from droidgate.coverage.process_pool import PoolAnswer, PoolSettings, ProcessPool, StandingWorker
from droidgate_mappings.model.errors import DroidgateError
from gateway.coverage_scan.catalogs import SAMPLES, ask, rows_of, scan_into, write_apps
from gateway.coverage_scan.hostile_work import SLOW, WORK

MEBIBYTE = 1 << 20
LOADED = """
import sys
from droidgate.coverage.inputs import Item
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


def test_no_module_of_the_current_folder_runs_in_a_worker(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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
@pytest.mark.parametrize(
    ("name", "outcome", "reason"),
    [
        ("abort", "crashed", "its worker process died of it, twice"),
        ("loop", "too-slow", "it takes more than 2 seconds"),
        ("bomb", "too-much-memory", "it needs more than 256 MiB of memory"),
        ("mistake", "crashed", "internal error: ValueError: mistake.apk"),
    ],
)
def test_a_hostile_file_is_one_row_with_its_reason(
    name: str, outcome: str, reason: str, tmp_path: Path
) -> None:
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
def test_a_worker_that_somebody_ends_loses_nothing(apps: Path) -> None:
    items = list_inputs([str(apps)]).items
    pool = ProcessPool(PoolSettings(workers=2, work=SLOW))
    answers, ended = [], []
    for answer in pool.run(items):
        answers.append(answer)
        running = [each for each in pool.process_ids() if each not in ended]
        if len(answers) in {3, 9} and running:
            os.kill(running[0], signal.SIGKILL)
            ended.append(running[0])
    assert ended
    assert set(outcomes(answers).values()) == {"read"}
    assert sorted(each.item.source for each in answers) == [each.source for each in items]


def test_answers_that_nobody_takes_any_more_end_the_workers(apps: Path) -> None:
    pool = ProcessPool(PoolSettings(workers=2, work=SLOW))
    answers = pool.run(itertools.cycle(list_inputs([str(apps)]).items))
    while len(running := pool.process_ids()) < 2:  # the second one may start late
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


@pytest.mark.slow
def test_a_lasting_worker_goes_on_after_a_hostile_batch(tmp_path: Path) -> None:
    folder = hostile_folder(tmp_path / "apps", "abort", "loop")
    items = list_inputs([str(folder)]).items
    worker = StandingWorker(PoolSettings(work=WORK, deadline=2.0))
    try:
        first, second = worker.scan(items[:3]), worker.scan(items[3:])
    finally:
        worker.end()
    found = outcomes([*first, *second])
    assert [each.item for each in (*first, *second)] == items
    assert {name for name, outcome in found.items() if outcome != "read"} == {"abort.apk", "loop.apk"}

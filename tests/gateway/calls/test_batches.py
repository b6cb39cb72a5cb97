"""A batch is read whole or not at all, keeps its limits, and goes on where it ended without a repeat."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from droidgate.calls.batches import (
    BatchOutcome,
    BatchRequest,
    open_journal,
    read_batch,
    read_command_file,
    run_batch,
)
from droidgate_mappings.model.errors import InputError


def write(path: Path, *lines: Any) -> Path:
    path.write_text("".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines))
    return path


def requests(count: int) -> tuple[BatchRequest, ...]:
    return tuple(BatchRequest(str(number), "do", {"n": number}) for number in range(count))


def succeed(request: BatchRequest) -> BatchOutcome:
    return BatchOutcome(request.id, "ok", {"n": request.arguments["n"]})


@pytest.mark.parametrize("line", [
    "{",
    "[]",
    "{}",
    {"capability": 5},
    {"capability": " "},
    {"capability": "a", "arguments": []},
    {"capability": "a", "argument": {}},
    {"capability": "a", "id": 1},
    '{"capability": "a", "arguments": {"x": NaN}}',
    '{"capability": "a", "capability": "b"}',
    {"capability": "first", "id": "1"},
], ids=str)  # fmt: skip
def test_one_bad_line_ends_the_reading_with_its_place(line: Any, tmp_path: Path) -> None:
    path = write(tmp_path / "batch.jsonl", {"capability": "first"}, line)
    with pytest.raises(InputError) as caught:
        read_batch(path)
    assert (caught.value.place or "").startswith(f"{path}:2")


def test_a_line_of_any_length_is_refused_without_reading_all_of_it(tmp_path: Path) -> None:
    path = tmp_path / "batch.jsonl"
    path.write_bytes(b'{"capability": "' + b"a" * (1024 * 1024) + b'"}\n')
    with pytest.raises(InputError, match="the line has more than"):
        read_batch(path)


@pytest.mark.parametrize(
    "read",
    [read_batch, read_command_file, lambda path: open_journal(path).__enter__()],
    ids=["batch", "commands", "journal"],
)
def test_a_pipe_is_refused_and_not_waited_for(read: Callable[[Path], object], tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="it is not a regular file"):
        read(tmp_path / "pipe")


@pytest.mark.parametrize("parallel", [1, 3], ids="{} at once".format)
def test_every_request_is_called_once_and_as_many_at_once_as_allowed(parallel: int, tmp_path: Path) -> None:
    lock, current, most = threading.Lock(), Counter[str](), Counter[str]()
    meeting = threading.Barrier(parallel)

    def call(request: BatchRequest) -> BatchOutcome:
        with lock:
            current["all"] += 1
            most["all"] = max(most["all"], current["all"])
        # As many as are allowed are here at the same time, or the test would not end.
        meeting.wait(timeout=60)
        with lock:
            current["all"] -= 1
        return succeed(request)

    with open_journal(tmp_path / "results.jsonl") as journal:
        outcomes = list(run_batch(requests(12), call, journal, parallel=parallel))
    assert Counter(outcome.id for outcome in outcomes) == Counter(str(number) for number in range(12))
    assert most["all"] == parallel


def test_requests_of_one_lane_are_made_one_after_another_in_their_order(tmp_path: Path) -> None:
    lock, busy = threading.Lock(), Counter[str]()
    order: dict[str, list[str]] = {"a": [], "b": []}
    both = threading.Barrier(2)

    def lane_of(request: BatchRequest) -> str | None:
        return None if request.arguments["n"] == 10 else "ab"[int(request.id) % 2]

    def call(request: BatchRequest) -> BatchOutcome:
        lane = lane_of(request)
        if lane is not None:
            with lock:
                busy[lane] += 1
                assert busy[lane] == 1
                order[lane].append(request.id)
            both.wait(timeout=60)  # the other lane is at work as well
            with lock:
                busy[lane] -= 1
        return succeed(request)

    with open_journal(tmp_path / "results.jsonl") as journal:
        outcomes = list(run_batch(requests(11), call, journal, parallel=4, lane_of=lane_of))
    assert len(outcomes) == 11
    assert order == {"a": ["0", "2", "4", "6", "8"], "b": ["1", "3", "5", "7", "9"]}


def test_a_hundred_thousand_requests_of_one_lane_are_ordered_without_searching(tmp_path: Path) -> None:
    batch = requests(3_000)
    looked_at = Counter[str]()

    def lane_of(request: BatchRequest) -> str:
        looked_at[request.id] += 1
        return "one"

    with open_journal(tmp_path / "results.jsonl") as journal:
        cancel = threading.Event()
        for count, _outcome in enumerate(run_batch(batch, succeed, journal, lane_of=lane_of, cancel=cancel)):
            if count == 20:
                cancel.set()
    assert set(looked_at.values()) == {1}


def test_a_second_run_makes_only_the_calls_that_were_not_begun(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    called: list[str] = []

    def call(request: BatchRequest) -> BatchOutcome:
        called.append(request.id)
        if request.id == "2":
            return BatchOutcome("2", "failed", error="denied: no", token="denied")
        if request.id == "4" and called.count("4") == 1:
            raise RuntimeError("the phone's cable")
        return succeed(request)

    with open_journal(path) as journal, pytest.raises(RuntimeError):
        list(run_batch(requests(6), call, journal, parallel=1))
    with open_journal(path) as journal:
        outcomes = {item.id: item for item in run_batch(requests(6), call, journal, parallel=1)}
    assert called == ["0", "1", "2", "3", "4", "5"]
    assert {item.id: item.status for item in outcomes.values()} == {
        **dict.fromkeys("0135", "ok"),
        "2": "failed",
        "4": "interrupted",
    }
    assert outcomes["3"].outputs == {"n": 3}
    assert (outcomes["2"].error, outcomes["2"].token) == ("denied: no", "denied")
    assert "may have had its effect" in (outcomes["4"].error or "")


def test_a_journal_of_another_batch_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    with open_journal(path) as journal:
        list(run_batch(requests(2), succeed, journal))
    changed = (BatchRequest("0", "do", {"n": 1}),)
    with open_journal(path) as journal, pytest.raises(InputError, match="another request with the id '0'"):
        list(run_batch(changed, succeed, journal))


@pytest.mark.parametrize(
    "line", ["x", "[]", "{}", '{"id": "1", "status": "ok"}', '{"id": 1, "status": "begun"}']
)
def test_what_is_not_a_journal_is_refused_and_stays(line: str, tmp_path: Path) -> None:
    path = write(tmp_path / "results.jsonl", line)
    with pytest.raises(InputError), open_journal(path):
        pass
    assert path.read_text() == f"{line}\n"


@pytest.mark.skipif(os.name != "posix", reason="the lock is of POSIX systems")
def test_two_runs_do_not_share_a_journal(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    with open_journal(path), pytest.raises(InputError, match="another run"), open_journal(path):
        pass


@pytest.mark.slow
def test_a_line_that_was_cut_is_dropped_wherever_it_was_cut(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    with open_journal(path) as journal:
        list(run_batch(requests(3), succeed, journal, parallel=1))
    whole = path.read_bytes()
    for size in range(len(whole) + 1):
        path.write_bytes(whole[:size])
        called: list[str] = []

        def call(request: BatchRequest, called: list[str] = called) -> BatchOutcome:
            called.append(request.id)
            return succeed(request)

        with open_journal(path) as journal:
            outcomes = {item.id: item.status for item in run_batch(requests(3), call, journal, parallel=1)}
        whole_lines = whole[: whole[:size].rfind(b"\n") + 1].decode()
        begun = {json.loads(line)["id"] for line in whole_lines.splitlines()}
        assert called == [each for each in "012" if each not in begun]
        assert set(outcomes) == set("012")
        assert path.read_text().startswith(whole_lines)
        assert path.read_bytes().endswith(b"\n")


KILLED = """
import sys
from droidgate.calls.batches import BatchOutcome, BatchRequest, open_journal, run_batch

made = open(sys.argv[2], "a", buffering=1)

def call(request):
    made.write(request.id + "\\n")
    return BatchOutcome(request.id, "ok", {"n": request.arguments["n"]})

batch = [BatchRequest(str(number), "do", {"n": number}) for number in range(300)]
with open_journal(sys.argv[1]) as journal:
    for outcome in run_batch(batch, call, journal, parallel=4):
        print(outcome.id, flush=True)
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="kills a process")
def test_a_run_that_is_killed_makes_no_call_twice(tmp_path: Path) -> None:
    random = Random(7)
    script = tmp_path / "run.py"
    script.write_text(textwrap.dedent(KILLED))
    journal, calls_file = tmp_path / "results.jsonl", tmp_path / "made.txt"
    for _ in range(8):
        process = subprocess.Popen(
            [sys.executable, str(script), str(journal), str(calls_file)], stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        before = len(calls_file.read_text().splitlines()) if calls_file.exists() else 0
        for _line in range(before + random.randrange(1, 20)):
            process.stdout.readline()
        process.send_signal(signal.SIGKILL)
        process.communicate()
    subprocess.run(
        [sys.executable, str(script), str(journal), str(calls_file)], check=True, stdout=subprocess.DEVNULL
    )
    calls = Counter(calls_file.read_text().split())
    assert max(calls.values()) == 1
    lines = [json.loads(line) for line in journal.read_text().splitlines()]
    begun = {line["id"] for line in lines if line["status"] == "begun"}
    assert begun == {str(number) for number in range(300)}
    # Each that was killed on its way is begun without an end: at most four for each time.
    ended = {line["id"] for line in lines if line["status"] == "ok"}
    assert len(begun - ended) <= 8 * 4
    assert ended <= calls.keys()

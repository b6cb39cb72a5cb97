"""`droidgate call --batch` on a virtual phone: what it calls, writes, prints and exits with."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from droidgate.calls.batches import BatchRequest
from droidgate.calls.call_requests import CallRequest
from droidgate.calls.caller import Caller
from droidgate.cli.calls.call_command import Call
from droidgate.cli.calls.calling_batch import _Callers, call_batch
from droidgate_mappings.values.failures import Failure, call_error
from gateway.calling.phones_with_shims import ReachedPhone, default_phone
from gateway.cli.program_runs import Run, run_process
from waiting import wait_until

CREATE = "NotesService#createNote"


def run(bare: ReachedPhone, *arguments: str) -> Run:
    return run_process("call", *arguments, "--serial", bare.phone.serial)


def write(path: Path, *requests: dict[str, Any]) -> Path:
    path.write_text("".join(f"{json.dumps(request)}\n" for request in requests))
    return path


def note(identifier: str, title: str) -> dict[str, Any]:
    return {"id": identifier, "capability": CREATE, "arguments": {"title": title, "content": "c"}}


@pytest.mark.slow
def test_a_batch_calls_each_and_a_second_run_calls_only_what_is_new(
    bare: ReachedPhone, tmp_path: Path
) -> None:
    batch = write(
        tmp_path / "batch.jsonl",
        note("first", "One"),
        note("second", "Two"),
        {"id": "odd", "capability": "no.such.thing"},
        {"id": "bad", "capability": CREATE, "arguments": {"title": 5, "content": []}},
    )
    done = run(bare, "--batch", str(batch), "--yes")
    assert done.code == 5
    results = tmp_path / "batch.results.jsonl"
    lines = [json.loads(line) for line in results.read_text().splitlines()]
    ended = {line["id"]: line for line in lines if line["status"] != "begun"}
    assert {name: line["status"] for name, line in ended.items()} == {
        "first": "ok",
        "second": "ok",
        "odd": "failed",
        "bad": "failed",
    }
    assert ended["first"]["outputs"]["title"] == "One"
    assert ended["bad"]["token"] == "invalid_argument"
    assert "2 ok, 2 failed" in done.out
    before = results.read_bytes()
    commands = len(bare.commands())
    with batch.open("a") as file:
        file.write(json.dumps(note("third", "Three")) + "\n")
    again = run(bare, "--batch", str(batch), "--yes")
    assert again.code == 5
    assert "3 ok, 2 failed" in again.out
    added = results.read_bytes().removeprefix(before).decode().splitlines()
    assert [json.loads(line)["id"] for line in added] == ["third", "third"]
    executed = [text for text in bare.commands()[commands:] if "execute-app-function" in text]
    assert len(executed) == 1


def test_without_approval_nothing_is_called(bare: ReachedPhone, tmp_path: Path) -> None:
    batch = write(tmp_path / "batch.jsonl", note("a", "One"))
    results = tmp_path / "r.jsonl"
    done = run(bare, "--batch", str(batch), "--results", str(results))
    assert done.code == 5
    assert json.loads(results.read_text().splitlines()[-1])["token"] == "needs_approval"


def test_a_batch_with_one_bad_line_calls_nothing(bare: ReachedPhone, tmp_path: Path) -> None:
    batch = write(tmp_path / "batch.jsonl", note("a", "One"), {"capability": CREATE, "argument": {}})
    done = run(bare, "--batch", str(batch), "--yes")
    assert (done.code, done.out) == (3, "")
    assert "batch.jsonl:2" in done.err
    assert not (tmp_path / "batch.results.jsonl").exists()


def test_a_batch_excludes_what_belongs_to_one_call(bare: ReachedPhone, tmp_path: Path) -> None:
    batch = write(tmp_path / "batch.jsonl", note("a", "One"))
    assert run(bare, CREATE, "--batch", str(batch)).code == 2
    assert run(bare, "--batch", str(batch), "--results", str(batch)).code == 2
    missing = run(bare)
    assert missing.code == 2
    assert "missing argument CAPABILITY" in missing.err


def test_a_call_whose_phone_is_not_there_has_failed_and_was_not_interrupted(
    bare: ReachedPhone, tmp_path: Path
) -> None:
    request = {**note("first", "One"), "device": "not-there"}
    done = run(bare, "--batch", str(write(tmp_path / "batch.jsonl", request)), "--yes")
    assert (done.code, done.out.startswith("failed first: "), done.out.endswith("1 failed\n")) == (
        5,
        True,
        True,
    )


def test_a_batch_that_ctrl_c_ends_names_the_file_to_go_on_with(
    bare: ReachedPhone, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    options = Call(parallel=1, serial=bare.phone.serial, deadline=5, approved=True)

    def press_ctrl_c(*_arguments: object, **_options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Caller, "call", press_ctrl_c)
    with pytest.raises(KeyboardInterrupt):
        call_batch(write(tmp_path / "batch.jsonl", note("first", "One")), options)
    assert str(tmp_path / "batch.results.jsonl") in capsys.readouterr().err


def test_a_shim_that_takes_no_more_for_now_gets_the_rest_of_the_batch_later(tmp_path: Path) -> None:
    with default_phone(tmp_path) as phone:
        calls = [{"capability": "add_points", "arguments": {"player": "Ann", "points": 1}} for _ in range(34)]
        done = run(phone, "--batch", str(write(tmp_path / "points.jsonl", *calls)), "--yes")
        assert done.out.endswith("34 ok\n"), done.out
        # The shim may take no more for now.
        wait_until(lambda: "total: 34" in run(phone, "read_total", "--arg", "player=Ann", "--yes").out)


def test_a_shim_that_takes_nothing_until_the_deadline_is_reported_as_busy(
    bare: ReachedPhone, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = Call(parallel=1, serial=bare.phone.serial, deadline=2.5, approved=True)
    callers = _Callers(options)
    calls: list[CallRequest] = []

    def refuse(_caller: Caller, request: CallRequest, **_options: object) -> None:
        calls.append(request)
        raise call_error(Failure("busy", "this app sent too many requests"))

    monkeypatch.setattr(Caller, "call", refuse)
    outcome = callers.call(BatchRequest("first", CREATE))
    assert (outcome.status, outcome.token, len(calls)) == ("failed", "busy", 3)

"""The trace of a call: what is in it, and what becomes of its file."""

from __future__ import annotations

import json
import os
import stat
import threading
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from droidgate.calls.approvals import refuse
from droidgate.calls.call_requests import CallRequest
from droidgate.calls.traces import Trace, open_trace
from droidgate.cli.output.json_output import schema_of
from droidgate.cli.published import PUBLISHED
from droidgate_mappings.model.errors import DroidgateError, WriteError
from droidgate_mappings.values.failures import CallError
from gateway.calling.phones_with_shims import CLOCK_IN, NOTES, PDF_TOOL, ReachedPhone
from gateway.cli.program_runs import run_process

CREATE = f"{NOTES}.NotesService#createNote"
SECRET = "canary-4711"


def events_of(path: Path) -> list[dict[str, Any]]:
    """Return the events of a trace, each line held to the published schema."""
    schema = schema_of(PUBLISHED["call-trace"])
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for line in lines:
        jsonschema.validate(line, schema)
    moments = [line["milliseconds"] for line in lines]
    assert moments == sorted(moments)
    return [line["event"] for line in lines]


def traced(reached: ReachedPhone, path: Path, capability: str, **arguments: object) -> list[dict[str, Any]]:
    with open_trace(path) as trace:
        reached.caller().call(CallRequest(capability, arguments), trace=trace)
    return events_of(path)


def of_kind(events: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [event for event in events if event["kind"] == kind]


def test_a_trace_has_each_step_from_the_request_to_the_result(reached: ReachedPhone, tmp_path: Path) -> None:
    events = traced(reached, tmp_path / "t.jsonl", CREATE, title=SECRET, content="5")
    kinds = [event["kind"] for event in events]
    assert (kinds[0], kinds[-1]) == ("request", "result")
    assert list(dict.fromkeys(kinds)) == [
        "request", "step", "command", "decision", "approval", "route", "result",
    ]  # fmt: skip
    (request,), (decision,) = of_kind(events, "request"), of_kind(events, "decision")
    assert request["arguments"] == {"title": SECRET, "content": "5"}
    assert (decision["package"], decision["decision"], decision["effect"]) == (NOTES, "ask", "unknown")
    assert of_kind(events, "approval") == [{"kind": "approval", "state": "new", "allowed": True}]
    assert of_kind(events, "route")[0]["route"] == "app-function-shell"
    assert of_kind(events, "result")[0]["value"]["title"] == SECRET


def test_each_command_that_reached_the_phone_is_in_the_trace_with_what_it_printed(
    reached: ReachedPhone, tmp_path: Path
) -> None:
    caller = reached.caller()
    caller.targets.all()
    before = len(reached.commands())
    with open_trace(tmp_path / "t.jsonl") as trace:
        result = caller.call(CallRequest(CREATE, {"title": "a", "content": "b"}), trace=trace)
    commands = of_kind(events_of(tmp_path / "t.jsonl"), "command")
    assert len(commands) == len(reached.commands()) - before
    (executed,) = [item for item in commands if "execute-app-function" in item["arguments"]]
    assert executed["exit_status"] == 0
    assert result.value["noteId"] in executed["stdout"]


def test_a_long_request_through_a_shim_is_traced_as_its_streams(
    reached: ReachedPhone, tmp_path: Path
) -> None:
    path = "/sdcard/" + "x" * 40_000
    with open_trace(tmp_path / "t.jsonl") as trace, pytest.raises(CallError):
        reached.caller().call(CallRequest("page_count", {"path": path}), trace=trace)
    commands = of_kind(events_of(tmp_path / "t.jsonl"), "command")
    streams = [command for command in commands if command["arguments"][1] in {"write", "read"}]
    assert [command["arguments"][1] for command in streams] == ["write", "read"]
    assert path in streams[0]["stdin"]


@pytest.mark.parametrize(("capability", "arguments", "token"), [
    (CREATE, {"titel": "a"}, "invalid_argument"),
    (f"{PDF_TOOL}/page_count", {"path": "/sdcard/absent.pdf"}, "backend_failure"),
    ("no_such_capability", {}, None),
])  # fmt: skip
def test_a_call_that_fails_ends_its_trace_with_the_failure(
    reached: ReachedPhone, tmp_path: Path, capability: str, arguments: dict[str, str], token: str | None
) -> None:
    with open_trace(tmp_path / "t.jsonl") as trace, pytest.raises(DroidgateError) as raised:
        reached.caller().call(CallRequest(capability, arguments), trace=trace)
    last = events_of(tmp_path / "t.jsonl")[-1]
    assert (last["kind"], last["token"], last["message"]) == ("failure", token, raised.value.message)


def test_a_refused_approval_is_in_the_trace_and_no_route_follows(
    reached: ReachedPhone, tmp_path: Path
) -> None:
    with open_trace(tmp_path / "t.jsonl") as trace, pytest.raises(CallError):
        reached.caller(approver=refuse).call(CallRequest("summarizeNotes"), trace=trace)
    events = events_of(tmp_path / "t.jsonl")
    assert of_kind(events, "approval") == [{"kind": "approval", "state": "new", "allowed": False}]
    assert of_kind(events, "route") == []


def test_a_canceled_call_has_its_trace_up_to_then(reached: ReachedPhone, tmp_path: Path) -> None:
    cancel = threading.Event()
    cancel.set()
    caller = reached.caller()
    caller.targets.all()
    with open_trace(tmp_path / "t.jsonl") as trace, pytest.raises(CallError):
        caller.call(CallRequest(CREATE, {"title": "a", "content": "b"}), cancel=cancel, trace=trace)
    events = events_of(tmp_path / "t.jsonl")
    assert events[0]["kind"] == "request"
    assert events[-1]["token"] == "canceled"


def test_only_the_user_may_read_the_file_and_no_other_file_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    previous = os.umask(0)
    try:
        with open_trace(path):
            pass
    finally:
        os.umask(previous)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.write_text("mine")
    with pytest.raises(WriteError, match="a file of that name") as raised, open_trace(path):
        pass
    assert "--force" in (raised.value.hint or "")
    assert path.read_text() == "mine"
    path.chmod(0o644)
    with open_trace(path, force=True):
        pass
    assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (b"", 0o600)


def test_a_link_in_the_place_of_the_file_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(WriteError), open_trace(tmp_path / "link"):
        pass
    assert not (tmp_path / "elsewhere").exists()


def test_a_full_disk_ends_the_call_before_anything_is_sent(reached: ReachedPhone) -> None:
    caller = reached.caller()
    caller.targets.all()
    before = len(reached.commands())
    with (
        Path("/dev/full").open("wb", buffering=0) as full,
        pytest.raises(WriteError, match="trace cannot be written"),
    ):
        caller.call(CallRequest(CREATE, {"title": "a", "content": "b"}), trace=Trace(full))
    assert reached.commands()[before:] == []


def test_the_command_writes_a_trace(reached: ReachedPhone, tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    arguments = ["call", "query_clock_in", "--arg", "date=2026-02-03", "--serial", reached.phone.serial]
    done = run_process(*arguments, "--yes", "--trace", str(path))
    assert (done.code, done.err) == (0, "")
    events = events_of(path)
    assert of_kind(events, "decision")[0]["package"] == CLOCK_IN

"""`droidgate call`: what it prints, asks, writes and exits with, for one call and for a batch."""

from __future__ import annotations

import json
import re
import secrets
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from droidgate.calls.batches import BatchRequest
from droidgate.calls.call_requests import CallRequest
from droidgate.calls.caller import CapabilityCaller
from droidgate.cli.calls.batch_calls import _Callers, call_batch
from droidgate.cli.calls.call_options import Call
from droidgate.cli.calls.run_call import call_and_report
from droidgate_mappings.model.errors import DeviceError
from droidgate_mappings.user_folders import configuration_folder
from droidgate_mappings.values.failures import Failure, call_error
from gateway.calls.phones_with_shims import LEGACY, NOTES, ReachedPhone, default_phone
from gateway.cli.program_runs import Run, run_on_terminal, run_process
from waiting import wait_until

CREATE = "NotesService#createNote"
NOTE = {"title": "a", "content": "b"}
GIVEN = ("--args", json.dumps(NOTE))


def run(phone: ReachedPhone, *arguments: str | Path, stdin: bytes = b"") -> Run:
    return run_process("call", *arguments, "--serial", phone.phone.serial, stdin=stdin)


def executed(commands: list[str]) -> list[str]:
    return [text for text in commands if "execute-app-function" in text]


def test_outputs_are_printed_by_name(bare: ReachedPhone) -> None:
    done = run(bare, CREATE, "--args", '{"title": "Umbrella", "content": "in the hall"}', "--yes")
    assert (done.code, done.err) == (0, "")
    assert "title: Umbrella\n" in done.out
    assert re.search(r"^noteId: note-\d+$", done.out, re.MULTILINE)


def test_the_document_has_the_value_and_the_milliseconds_of_each_step(bare: ReachedPhone) -> None:
    printed = run(bare, CREATE, "--args", "-", "--yes", "--json", stdin=GIVEN[1].encode()).document("call")
    assert (printed["value"]["title"], printed["capability"]["package"]) == ("a", NOTES)
    assert printed["route"] == "app-function-shell"
    steps = sum(hop["milliseconds"] for hop in printed["hops"])
    assert steps == pytest.approx(printed["milliseconds"], abs=0.1)


def test_an_argument_by_name_becomes_what_is_declared(bare: ReachedPhone) -> None:
    arguments = ("title=a=b", "content=5", 'labels=["x"]')
    value = json.loads(run(bare, CREATE, *arguments, "--yes", "--json").out)["value"]
    assert (value["title"], value["content"], value["labels"]) == ("a=b", "5", ["x"])


def test_explaining_calls_nothing(bare: ReachedPhone) -> None:
    arguments = ["--args", '{"title": "it\'s", "content": "b"}', "--explain"]
    with bare.counted() as commands:
        done = run(bare, CREATE, *arguments)
        run(bare, CREATE, *arguments, "--json").document("call-plan")
    assert done.code == 0
    assert f"adb -s {bare.phone.serial} shell 'cmd app_function execute-app-function" in done.out
    assert "approval: new" in done.out
    assert executed(commands) == []


def test_without_a_terminal_nobody_is_asked(bare: ReachedPhone) -> None:
    done = run(bare, CREATE, *GIVEN)
    assert (done.code, done.out) == (6, "")
    assert done.err.startswith("error: needs_approval: ")
    command = f"droidgate pins approve '{NOTES}/{NOTES}.NotesService#createNote'"
    assert f"hint: a person approves it on a terminal: {command} --serial {bare.phone.serial}\n" in done.err


def test_a_call_that_ends_without_an_answer_says_that_the_app_may_have_finished_it(
    bare: ReachedPhone, monkeypatch: pytest.MonkeyPatch
) -> None:
    failure = DeviceError("the phone went away")
    failure.is_of_sent_call = True
    monkeypatch.setattr(CapabilityCaller, "call", Mock(side_effect=failure))
    with pytest.raises(DeviceError, match="the app may have finished the call: the phone went away"):
        call_and_report(CallRequest(CREATE), Call(serial=bare.phone.serial, approved=True))


def test_ctrl_c_during_a_call_names_the_command_that_shows_it(
    bare: ReachedPhone, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(CapabilityCaller, "call", Mock(side_effect=KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        call_and_report(CallRequest(CREATE), Call(serial=bare.phone.serial, approved=True))
    assert "`droidgate audit show --last 1` names the call if it was sent" in capsys.readouterr().err


BY_FORMAT = "hint: commands of MobileAgent are called by their format"


@pytest.mark.parametrize(("arguments", "message"), [
    ([CREATE, "--args", "[]"], "--args is not a JSON object"),
    ([CREATE, "title"], "'title' is not NAME=VALUE"),
    ([CREATE, "days:=three"], "days:=:1:1: not JSON"),
    ([CREATE, "--args", "title=a"], "--args:1:1: not JSON"),
    ([CREATE, "title=a", "title=b"], "duplicate argument"),
    ([CREATE, "--format", "soap"], "unknown format 'soap'"),
    ([CREATE, "--app", "com.example.absent"], "no capability of com.example.absent"),
    (["tap", "--app", "mobile-agent"], BY_FORMAT),
    (["mobile-agent/tap"], f"{BY_FORMAT}: `droidgate call tap --format mobile-agent`"),
    (["createNote", "--app", "dev.droidgate.sample.note"],
     "hint: did you mean the app dev.droidgate.sample.notes?"),
    (["createNote", "--app", "com.example"], "hint: `droidgate discover` lists the apps that declare any"),
    *(([name], f"no capability on the phone is called '{name}'")
      for name in ("otes.createNote", "notes.", ".createNote", "notes.reateNote")),
], ids=str)  # fmt: skip
def test_invalid_usage_exits_with_2(bare: ReachedPhone, arguments: list[str], message: str) -> None:
    done = run(bare, *arguments, "--yes")
    assert (done.code, done.out) == (2, "")
    assert message in done.err


@pytest.mark.slow
@pytest.mark.parametrize(
    ("typed", "expected"), [(b"y\n", "title: shown"), (b"n\n", "error: denied: not approved")]
)
def test_a_terminal_shows_the_arguments_and_asks(bare: ReachedPhone, typed: bytes, expected: str) -> None:
    arguments = ["--args", '{"title": "shown", "content": "b"}', "--serial", bare.phone.serial]
    printed = run_on_terminal("call", CREATE, *arguments, typed=typed)
    assert '- title (5): "shown"' in printed
    assert f"createNote of {NOTES}" in printed
    assert expected in printed


@pytest.mark.slow
def test_a_terminal_asks_again_where_the_app_was_replaced_while_the_question_was_open(
    bare: ReachedPhone,
) -> None:
    answers: list[bytes] = []

    def answer() -> bytes:
        answers.append(b"y\n")
        if len(answers) == 1:
            bare.replace_legacy(other_text=True)
            # The second answer comes before its question is there.
            return b"y\ny\n"
        return b"n\n"

    title = secrets.token_hex(8)
    arguments = ["--args", json.dumps({"title": title, "content": "b"}), "--serial", bare.phone.serial]
    try:
        printed = run_on_terminal("call", f"{LEGACY}/createNote", *arguments, answers={b"n: no [n] ": answer})
    finally:
        bare.restore_legacy()
    assert printed.count("Call it?") == 2
    assert printed.count("attention: the app was replaced after you answered") == 1
    assert "error: denied: not approved" in printed
    assert not [command for command in bare.commands() if title in command]


def test_an_explanation_names_rules_that_match_nothing(bare: ReachedPhone) -> None:
    policy = configuration_folder() / "policy.toml"
    policy.parent.mkdir(parents=True, exist_ok=True)
    names = ("deletNote", "deleteNote", f"{NOTES}/createNote", "tap")
    policy.write_text("".join(f'[[rule]]\ndecision = "deny"\ncapability = "{name}"\n' for name in names))
    try:
        arguments = ["findNotes", "--args", "{}", "--explain"]
        printed = run(bare, *arguments).out
        document = json.loads(run(bare, *arguments, "--json").out)
        denied = run(bare, "deleteNote", "--args", '{"noteId": "note-1"}', "--yes")
    finally:
        policy.unlink()
    warning = f'rule 1 (decision = "deny") of {policy} matches no capability that is installed'
    warning += "; did you mean 'deleteNote'?"
    assert f"  warning: {warning}\n" in printed
    assert printed.count("warning:") == 1
    assert document["unmatched_rules"] == [warning]
    assert (denied.code, "rule 2 of" in denied.err) == (6, True)


def write(path: Path, *requests: dict[str, Any]) -> Path:
    path.write_text("".join(f"{json.dumps(request)}\n" for request in requests))
    return path


def note(identifier: str, title: str) -> dict[str, Any]:
    return {"id": identifier, "capability": CREATE, "arguments": {"title": title, "content": "c"}}


@pytest.mark.slow
def test_a_second_run_of_a_batch_calls_only_what_is_new(bare: ReachedPhone, tmp_path: Path) -> None:
    batch = write(
        tmp_path / "batch.jsonl",
        note("first", "One"),
        note("second", "Two"),
        {"id": "odd", "capability": "no.such.thing"},
        {"id": "bad", "capability": CREATE, "arguments": {"title": 5, "content": []}},
    )
    done = run(bare, "--batch", batch, "--yes")
    assert (done.code, "2 ok, 2 not-made" in done.out) == (5, True)
    results = tmp_path / "batch.results.jsonl"
    lines = [json.loads(line) for line in results.read_text().splitlines()]
    ended = {line["id"]: line for line in lines if line["status"] != "begun"}
    statuses = {name: line["status"] for name, line in ended.items()}
    assert statuses == {"first": "ok", "second": "ok", "odd": "not-made", "bad": "not-made"}
    assert ended["first"]["outputs"]["title"] == "One"
    assert ended["bad"]["token"] == "invalid_argument"
    before = results.read_bytes()
    write(batch, note("first", "One"), note("second", "Two"), note("odd", "New"), note("third", "Three"))
    with bare.counted() as commands:
        again = run(bare, "--batch", batch, "--yes")
    assert (again.code, "4 ok; 2 of an earlier run, not made again" in again.out) == (0, True)
    assert re.findall(r"^ok (\w+) \(earlier run\): ", again.out, re.MULTILINE) == ["first", "second"]
    added = results.read_bytes().removeprefix(before).decode().splitlines()
    assert sorted(json.loads(line)["id"] for line in added) == ["odd", "odd", "third", "third"]
    assert len(executed(commands)) == 2


def test_a_call_without_approval_is_made_by_the_run_that_has_one(bare: ReachedPhone, tmp_path: Path) -> None:
    batch = write(tmp_path / "batch.jsonl", note("a", "One"))
    results = tmp_path / "r.jsonl"
    done = run(bare, "--batch", batch, "--results", results)
    assert done.code == 5
    assert json.loads(results.read_text().splitlines()[-1])["token"] == "needs_approval"
    assert "hint: a person approves it on a terminal: droidgate pins approve " in done.err
    assert run(bare, "--batch", batch, "--results", results, "--yes").code == 0


def test_a_batch_with_one_bad_line_calls_nothing(bare: ReachedPhone, tmp_path: Path) -> None:
    batch = write(tmp_path / "batch.jsonl", note("a", "One"), {"capability": CREATE, "argument": {}})
    done = run(bare, "--batch", batch, "--yes")
    assert (done.code, done.out, "batch.jsonl:2" in done.err) == (3, "", True)
    assert not (tmp_path / "batch.results.jsonl").exists()


def test_a_batch_excludes_what_belongs_to_one_call(bare: ReachedPhone, tmp_path: Path) -> None:
    batch = write(tmp_path / "batch.jsonl", note("a", "One"))
    assert run(bare, CREATE, "--batch", batch).code == 2
    assert run(bare, "--batch", batch, "--results", batch).code == 2


def test_a_call_whose_phone_is_absent_was_not_made(bare: ReachedPhone, tmp_path: Path) -> None:
    request = {**note("first", "One"), "device": "not-there"}
    done = run(bare, "--batch", write(tmp_path / "batch.jsonl", request), "--yes")
    outcome = (done.code, done.out.startswith("not-made first: "), done.out.endswith("1 not-made\n"))
    assert outcome == (5, True, True)


def test_a_batch_that_ctrl_c_ends_names_the_file_to_go_on_with(
    bare: ReachedPhone, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    options = Call(parallel=1, serial=bare.phone.serial, deadline=5, approved=True)
    monkeypatch.setattr(CapabilityCaller, "call", Mock(side_effect=KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        call_batch(write(tmp_path / "batch.jsonl", note("first", "One")), options)
    assert str(tmp_path / "batch.results.jsonl") in capsys.readouterr().err


def test_a_shim_that_takes_no_more_for_now_gets_the_rest_of_the_batch_later(tmp_path: Path) -> None:
    with default_phone(tmp_path) as phone:
        calls = [{"capability": "add_points", "arguments": {"player": "Ann", "points": 1}} for _ in range(34)]
        done = run(phone, "--batch", write(tmp_path / "points.jsonl", *calls), "--yes")
        assert done.out.endswith("34 ok\n"), done.out
        # The shim may take no more for now.
        wait_until(lambda: "total: 34" in run(phone, "read_total", "player=Ann", "--yes").out)


def test_a_shim_that_takes_nothing_in_time_is_busy(
    bare: ReachedPhone, monkeypatch: pytest.MonkeyPatch
) -> None:
    call = Mock(side_effect=call_error(Failure("busy", "this app sent too many requests")))
    monkeypatch.setattr(CapabilityCaller, "call", call)
    options = Call(parallel=1, serial=bare.phone.serial, deadline=2.5, approved=True)
    outcome = _Callers(options).call(BatchRequest("first", CREATE))
    assert (outcome.status, outcome.token, call.call_count) == ("not-made", "busy", 3)

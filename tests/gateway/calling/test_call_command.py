"""`droidgate call`: what it prints, asks and exits with."""

from __future__ import annotations

import json
import re
import secrets

import jsonschema
import pytest

from droidgate.calls.call_requests import CallRequest
from droidgate.calls.caller import Caller
from droidgate.cli.calls.call_command import Call
from droidgate.cli.calls.one_call import call_and_report
from droidgate.cli.output.json_output import schema_of
from droidgate.cli.published import PUBLISHED
from droidgate_mappings.model.errors import DeviceError
from droidgate_mappings.user_folders import configuration_folder
from gateway.calling.phones_with_shims import LEGACY, NOTES, ReachedPhone
from gateway.cli.program_runs import Run, run_on_terminal, run_process

CREATE = "NotesService#createNote"


def run(bare: ReachedPhone, *arguments: str, stdin: bytes = b"") -> Run:
    return run_process("call", *arguments, "--serial", bare.phone.serial, stdin=stdin)


def test_outputs_are_printed_by_name(bare: ReachedPhone) -> None:
    done = run(bare, CREATE, "--args", '{"title": "Umbrella", "content": "in the hall"}', "--yes")
    assert (done.code, done.err) == (0, "")
    assert "title: Umbrella\n" in done.out
    assert re.search(r"^noteId: note-\d+$", done.out, re.MULTILINE)


def test_the_document_has_the_value_and_the_milliseconds_of_each_step(bare: ReachedPhone) -> None:
    done = run(bare, CREATE, "--args", "-", "--yes", "--json", stdin=b'{"title": "a", "content": "b"}')
    printed = json.loads(done.out)
    jsonschema.validate(printed, schema_of(PUBLISHED["call"]))
    assert printed["value"]["title"] == "a"
    assert printed["capability"]["package"] == NOTES
    assert printed["route"] == "app-function-shell"
    assert sum(hop["milliseconds"] for hop in printed["hops"]) == pytest.approx(
        printed["milliseconds"], abs=0.1
    )


def test_an_argument_by_name_becomes_what_is_declared(bare: ReachedPhone) -> None:
    done = run(
        bare, CREATE, "--arg", "title=a=b", "--arg", "content=5", "--arg", 'labels=["x"]', "--yes", "--json"
    )
    value = json.loads(done.out)["value"]
    assert (value["title"], value["content"], value["labels"]) == ("a=b", "5", ["x"])


def test_explaining_calls_nothing(bare: ReachedPhone) -> None:
    before = len([text for text in bare.commands() if "execute-app-function" in text])
    arguments = ["--args", '{"title": "it\'s", "content": "b"}', "--explain"]
    done = run(bare, CREATE, *arguments)
    assert done.code == 0
    assert f"adb -s {bare.phone.serial} shell 'cmd app_function execute-app-function" in done.out
    assert "approval: new" in done.out
    document = json.loads(run(bare, CREATE, *arguments, "--json").out)
    jsonschema.validate(document, schema_of(PUBLISHED["call-plan"]))
    assert len([text for text in bare.commands() if "execute-app-function" in text]) == before


def test_without_a_terminal_nobody_is_asked(bare: ReachedPhone) -> None:
    done = run(bare, CREATE, "--args", '{"title": "a", "content": "b"}')
    assert done.code == 6
    assert done.out == ""
    assert done.err.startswith("error: needs_approval: ")
    command = f"droidgate pins approve '{NOTES}/{NOTES}.NotesService#createNote'"
    assert f"hint: to approve it: {command} --serial {bare.phone.serial}\n" in done.err


@pytest.mark.parametrize(("failure", "shown"), [
    (DeviceError("the phone went away"), None),
    (KeyboardInterrupt(), "`droidgate audit show --last 1` names the call if it was sent"),
], ids=["phone", "ctrl-c"])  # fmt: skip
def test_a_call_that_ends_without_an_answer_says_that_the_app_may_have_finished_it(
    bare: ReachedPhone,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    failure: BaseException,
    shown: str | None,
) -> None:
    def fail(*_arguments: object, **_options: object) -> None:
        if isinstance(failure, DeviceError):
            failure.is_of_sent_call = True
        raise failure

    monkeypatch.setattr(Caller, "call", fail)
    options = Call(serial=bare.phone.serial, approved=True)
    with pytest.raises(type(failure)) as raised:
        call_and_report(CallRequest(CREATE), options)
    if shown is None:
        assert str(raised.value) == "the app may have finished the call: the phone went away"
    else:
        assert shown in capsys.readouterr().err


def test_every_mistake_has_a_line_of_its_own(bare: ReachedPhone) -> None:
    done = run(bare, CREATE, "--args", '{"titel": "a", "content": 5}', "--yes")
    assert done.code == 5
    lines = [line for line in done.err.splitlines() if line.startswith("error: ")]
    assert len(lines) == 3
    assert 'did you mean "title"?' in lines[0]


@pytest.mark.parametrize(("arguments", "message"), [
    (["--args", "[]"], "--args is not a JSON object"),
    (["--arg", "title"], "is not NAME=VALUE"),
    (["--arg", "title=a", "--arg", "title=b"], "duplicate argument"),
    (["--protocol", "soap"], "unknown format 'soap'"),
    (["--app", "com.example.absent"], "no capability of com.example.absent"),
])  # fmt: skip
def test_invalid_usage_exits_with_2(bare: ReachedPhone, arguments: list[str], message: str) -> None:
    done = run(bare, CREATE, *arguments)
    assert done.code == 2
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
@pytest.mark.parametrize("replacement", [{"other_signer": True}, {"other_text": True}], ids=str)
def test_a_terminal_asks_again_where_the_app_was_replaced_while_the_question_was_open(
    bare: ReachedPhone, replacement: dict[str, bool]
) -> None:
    answers: list[bytes] = []

    def answer() -> bytes:
        answers.append(b"y\n")
        if len(answers) == 1:
            bare.replace_legacy(**replacement)
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
    assert f"  warning: {warning}\n" in printed
    assert printed.count("warning:") == 1
    assert document["unmatched_rules"] == [warning]
    assert (denied.code, "rule 2 of" in denied.err) == (6, True)


@pytest.mark.slow
def test_always_approves_until_the_declaration_changes(bare: ReachedPhone) -> None:
    arguments = ["--args", "{}", "--serial", bare.phone.serial]
    assert "Call it?" in run_on_terminal("call", "summarizeNotes", *arguments, typed=b"a\n")
    assert run(bare, "summarizeNotes").code == 0


@pytest.mark.parametrize("name", ["notes.createNote", "sample.notes.createNote", "notes/createNote"])
def test_an_end_of_the_package_and_an_end_of_the_id_name_a_capability(bare: ReachedPhone, name: str) -> None:
    done = run(bare, name, "--args", '{"title": "a", "content": "b"}', "--yes")
    assert (done.code, done.err) == (0, "")


@pytest.mark.parametrize("name", ["otes.createNote", "notes.", ".createNote", "notes.reateNote"])
def test_a_part_of_a_name_that_begins_within_a_word_names_nothing(bare: ReachedPhone, name: str) -> None:
    done = run(bare, name, "--yes")
    assert (done.code, done.out) == (2, "")
    assert f"no capability on the phone is called '{name}'" in done.err

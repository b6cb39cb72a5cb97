"""`droidgate pins` and `droidgate audit`: approvals and the log of calls, by the commands."""

from __future__ import annotations

import secrets
from datetime import datetime, tzinfo
from pathlib import Path

import pytest

from conftest import Golden
from droidgate.calls import audit_log, pins
from droidgate.calls.audit_log import AuditEntry, AuditLog, log_file
from droidgate.calls.declared_capabilities import declared_capabilities
from droidgate.calls.phones import open_device
from droidgate.calls.pins import PinStore
from droidgate.calls.policy import Decision
from droidgate.calls.subjects import find_capability, pin_of
from droidgate_phone.phone import VirtualPhone
from gateway.calls.log_writers import ALLOWED, SUBJECT, write_calls
from gateway.cli.program_runs import Runner, run_on_terminal
from gateway.cli.test_terminal_pages import Pages, printing
from titled_rows import titled

NOTES = "dev.droidgate.sample.notes"
CREATE = f"{NOTES}/{NOTES}.NotesService#createNote"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, phone: VirtualPhone, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a home folder without approvals and calls."""
    del phone
    monkeypatch.setenv("DROIDGATE_HOME", str(tmp_path))
    return tmp_path


def let_programs_approve(home: Path) -> None:
    """Write a policy by which `pins approve --yes` needs no terminal."""
    (home / "config").mkdir(exist_ok=True)
    (home / "config" / "policy.toml").write_text("programs_may_approve = true\n")


def keep_changed_approval(capability: str) -> None:
    """Approve a capability of the notes app as if it had been declared otherwise."""
    declared = declared_capabilities(open_device().caller.targets)
    item = next(item for item in declared if item.name == f"{NOTES}/{capability}")
    assert item.pin is not None
    changed = find_capability(item.provider, capability).model_copy(update={"description": "Harmless"})
    earlier = item.provider.model_copy(update={"capabilities": (changed,)})
    PinStore().approve(pin_of(earlier, capability, user=0, signer=item.pin.signer), earlier)


def test_an_approval_is_made_listed_compared_and_removed(droidgate: Runner, home: Path) -> None:
    let_programs_approve(home)
    assert droidgate.document("pins", "list")["pins"] == []
    approval = droidgate.document("pins", "approve", CREATE, "--yes")
    assert [entry["capability"] for entry in approval["approved"]] == [f"{NOTES}.NotesService#createNote"]
    assert approval["refused"] == approval["unchanged"] == []
    again = droidgate.document("pins", "approve", CREATE)
    assert (again["approved"], again["unchanged"]) == ([], approval["approved"])
    assert droidgate.document("pins", "list")["pins"] == approval["approved"]
    [difference] = droidgate.document("pins", "diff")["pins"]
    assert difference["state"] == "unchanged"
    assert droidgate.document("pins", "remove", f"{NOTES}/*")["removed"] == approval["approved"]
    assert droidgate.document("pins", "list")["pins"] == []


def test_a_changed_declaration_is_shown_before_it_is_approved_again(droidgate: Runner, home: Path) -> None:
    let_programs_approve(home)
    keep_changed_approval(f"{NOTES}.NotesService#createNote")
    [difference] = droidgate.document("pins", "diff")["pins"]
    assert difference["state"] == "changed"
    page = droidgate("pins", "diff").out
    assert "text-only: text-changed: the description changed\n    was: Harmless\n    is: Write a new" in page
    run = droidgate("pins", "approve", CREATE, "--yes")
    assert f"{CREATE}  appfunctions: changed since it was approved" in run.out
    assert "the description changed" in run.out
    assert droidgate.document("pins", "diff")["pins"][0]["state"] == "unchanged"


@pytest.mark.parametrize(("may_approve", "options", "hint"), [
    pytest.param(False, (), "run it on a terminal; your policy lets no program approve", id="by default"),
    pytest.param(False, ("--yes",), "run it on a terminal; your policy lets no program approve", id="--yes"),
    pytest.param(True, (), "read the above, then run it again with --yes", id="the policy lets programs"),
])  # fmt: skip
def test_nothing_is_approved_without_a_terminal_or_option(
    options: tuple[str, ...], hint: str, droidgate: Runner, home: Path, *, may_approve: bool
) -> None:
    if may_approve:
        let_programs_approve(home)
    run = droidgate("pins", "approve", CREATE, *options)
    assert run.code == 2
    assert "takes: title: string" in run.out
    assert f"hint: {hint}" in run.err
    assert PinStore().list() == ()


@pytest.mark.parametrize(("answer", "approved"), [(b"YES\n", 1), (b"n\n", 0), (b"\n", 0), (b"si\ny\n", 1)])
def test_a_terminal_is_asked_for_confirmation(answer: bytes, approved: int, home: Path) -> None:
    output = run_on_terminal("pins", "approve", CREATE, typed=answer, DROIDGATE_HOME=str(home))
    assert "Approve 1 capability? [y/N]" in output
    assert ("error: 'si' is not an answer" in output) == (b"si" in answer)
    assert len(PinStore().list()) == approved


def test_a_question_without_an_answer_ends_with_one_error(home: Path) -> None:
    end_of_input = b"\x04"
    output = run_on_terminal("pins", "approve", CREATE, typed=end_of_input, DROIDGATE_HOME=str(home))
    hint = "hint: answer y or n, or by --yes"
    assert output.splitlines()[-2:] == ["error: the input ended before an answer", hint]
    assert PinStore().list() == ()


@pytest.mark.parametrize("command", ["list", "diff"])
def test_without_approvals_a_list_of_them_names_the_command_that_approves(
    command: str, droidgate: Runner
) -> None:
    run = droidgate("pins", command)
    expected = "no capability is approved; approve one: droidgate pins approve CAPABILITY\n"
    assert (run.code, run.out, run.err) == (0, expected, "")


def test_a_person_who_calls_at_a_terminal_is_not_asked(home: Path) -> None:
    output = run_on_terminal("pins", "approve", CREATE, "--yes", typed=b"", DROIDGATE_HOME=str(home))
    assert "Approve 1 capability?" not in output
    assert len(PinStore().list()) == 1


@titled(("text", "names"), {
    "a letter is missing": ("creatNote", "'notes/createNote' or 'legacy/createNote'"),
    "a pattern begins with the end of an app's name": ("tally/*", "'dev.droidgate.sample.tally/*'"),
    "a pattern of all tools of an app": ("tally_*", "'dev.droidgate.sample.tally/*'"),
    "a pattern of one tool": ("tally_read*", "'read_total'"),
    "the end of an app's name": ("tally", "'add_points' or 'read_total' or 'start_over'"),
})  # fmt: skip
def test_an_unknown_name_has_a_suggestion(text: str, names: str, droidgate: Runner) -> None:
    run = droidgate("pins", "approve", text)
    assert (run.code, run.out) == (2, "")
    assert f"error: no capability on the phone is called {text!r}\nhint: did you mean {names}?" in run.err


def test_a_damaged_file_of_pins_ends_every_command_with_one_error(droidgate: Runner) -> None:
    store = PinStore()
    store.folder.mkdir(parents=True)
    store.path.write_text("{", encoding="utf-8")
    for command in (("list",), ("diff",), ("approve", CREATE, "--yes"), ("remove", "*")):
        run = droidgate("pins", *command)
        assert (run.code, run.out) == (3, "")
        assert "the file of pins is damaged" in run.err


def test_calls_are_shown_and_the_chain_is_verified(droidgate: Runner) -> None:
    assert droidgate("audit", "show").out == "no call is in the log\n"
    assert droidgate("audit", "verify").out == "the log is empty\n"
    log = AuditLog()
    write_calls(log, 3)
    log.start(SUBJECT, pin=None, arguments={}, decision=Decision("deny", "rule 1", "no")).record.wait()
    calls = droidgate.document("audit", "show")["calls"]
    assert [(call["decision"], call["result"]) for call in calls] == [*[("allow", "ok")] * 3, ("deny", None)]
    assert len(droidgate.document("audit", "show", "--last", "2")["calls"]) == 2
    assert droidgate.document("audit", "show", "com.other/*")["calls"] == []
    verified = droidgate.document("audit", "verify")
    assert (verified["records"], verified["broken"]) == (7, None)
    assert droidgate("audit", "verify", "--expect", str(verified["digest"])).code == 0
    assert droidgate("audit", "verify", "--expect", "0" * 63).code == 1


def test_a_broken_chain_ends_with_code_one_and_its_place(droidgate: Runner, tmp_path: Path) -> None:
    log = AuditLog()
    write_calls(log, 3)
    path = log_file(log.folder)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:2], *lines[3:]]))
    run = droidgate("audit", "verify")
    assert run.code == 1
    assert run.out.startswith(f"{path}:3: removed: record 3 is missing before record 4\n")
    assert droidgate.document("audit", "verify", code=1)["broken"] == {
        "kind": "removed",
        "place": f"{path}:3",
        "message": "record 3 is missing before record 4",
    }
    missing = droidgate("audit", "verify", "--folder", tmp_path / "none")
    assert (missing.code, missing.out) == (3, "")


def test_a_record_with_other_fields_is_an_error_of_show(droidgate: Runner) -> None:
    log = AuditLog()
    log.append(AuditEntry("start", {"call": "x"}))
    run = droidgate("audit", "show")
    assert (run.code, run.out) == (3, "")
    assert "a record of the log has other fields" in run.err


def test_texts_of_phones_are_safe_on_a_terminal(droidgate: Runner) -> None:
    values = {name: getattr(SUBJECT, name) for name in SUBJECT.__slots__}
    hostile = type(SUBJECT)(**{**values, "capability": "\x1b[2Ja\u202eb", "client": "\x07"})
    AuditLog().start(hostile, pin=None, arguments={}, decision=ALLOWED).record.wait()
    output = droidgate("audit", "show").out
    assert "\\x1b[2Ja\\u202eb" in output
    assert not {"\x1b", "\u202e", "\x07"} & set(output)


class Noon(datetime):
    """A clock that stands still."""

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> Noon:
        return cls(2026, 11, 22, 12, tzinfo=tz)


@pytest.mark.parametrize("name", ["pins-list", "pins-diff", "pins-approve", "audit-show", "audit-verify"])
def test_a_page_fits_each_width(name: str, golden: Golden, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pins, "datetime", Noon)
    monkeypatch.setattr(audit_log, "datetime", Noon)
    monkeypatch.setattr(secrets, "token_hex", lambda size: "c" * 2 * size)
    monkeypatch.setattr(secrets, "token_bytes", lambda size: b"k" * size)
    keep_changed_approval(f"{NOTES}.NotesService#createNote")
    write_calls(AuditLog(), 2)
    AuditLog().start(SUBJECT, pin=None, arguments={}, decision=Decision("deny", "rule 1", "no")).record.wait()
    arguments = (*name.split("-"), *(["*createNote"] if name == "pins-approve" else []))
    Pages(golden, monkeypatch).check(name, printing(arguments))

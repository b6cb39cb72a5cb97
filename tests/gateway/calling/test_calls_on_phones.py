"""Calls of every protocol on the virtual phone, behind its own adb server and the real adb.

The phone's apps share no code with the caller; what a call did is looked up by another call or in what came
over adb.
"""

from __future__ import annotations

import json
import secrets
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from droidgate.calls import phones
from droidgate.calls.approvals import Approval, ApprovalRequest, refuse
from droidgate.calls.audit_log import AuditLog
from droidgate.calls.audit_reading import read_calls
from droidgate.calls.call_requests import CallRequest, CallResult
from droidgate.calls.call_routes import RawResult
from droidgate.calls.phones import Phone
from droidgate.calls.policy import Policy
from droidgate.calls.shell_route import ShellRoute
from droidgate.calls.subjects import EVERY_CAPABILITY, NamePattern
from droidgate.cli.devices.discover_report import discovery_page
from droidgate.cli.output.pages import Line
from droidgate.shims.installing import install_archive
from droidgate.shims.place import place_of
from droidgate_android.apk.signing_keys import load_or_make_key
from droidgate_mappings.model.errors import UsageError, WriteError
from droidgate_mappings.model.findings import Level
from droidgate_mappings.values.coercion import FittedArguments, fit_arguments
from droidgate_mappings.values.failures import CallError
from droidgate_shim.builder.shims import build_bare_shim
from gateway.calling.phones_with_shims import (
    CLOCK_IN,
    LEGACY,
    NOTES,
    PDF_TOOL,
    TALLY,
    WEATHER,
    ReachedPhone,
    reached_phone,
)

CREATE = f"{NOTES}.NotesService#createNote"


@pytest.fixture(scope="module", autouse=True)
def _home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DROIDGATE_HOME", str(tmp_path_factory.mktemp("home")))
        yield


@pytest.fixture(scope="module", params=["its own server", "real adb"])
def reached(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ReachedPhone]:
    with reached_phone(tmp_path_factory.mktemp("phone"), adb=request.param == "real adb") as phone:
        yield phone


@pytest.fixture(scope="module", params=["30", "34", "36"])
def older(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ReachedPhone]:
    with reached_phone(tmp_path_factory.mktemp("older"), sdk=request.param) as phone:
        yield phone


def call(reached: ReachedPhone, capability: str, /, **arguments: object) -> CallResult:
    return reached.caller().call(CallRequest(capability, arguments))


def failure_of(reached: ReachedPhone, capability: str, /, **arguments: object) -> CallError:
    with pytest.raises(CallError) as raised:
        call(reached, capability, **arguments)
    return raised.value


def test_an_app_function_is_called_by_the_shell_and_its_document_becomes_its_value(
    reached: ReachedPhone,
) -> None:
    result = call(reached, CREATE, title="Umbrella", content="two words", labels=["a", "b"])
    assert result.route == "app-function-shell"
    assert result.value["title"] == "Umbrella"
    assert result.value["labels"] == ["a", "b"]
    assert result.value["wordCount"] == 3
    assert result.outputs == result.value
    again = call(reached, "NotesService#getNote", noteId=result.value["noteId"])
    assert again.value["content"] == "two words"


def test_a_mobile_mcp_service_is_called_through_its_shim(reached: ReachedPhone) -> None:
    day = {"date": "2026-02-03"}
    assert call(reached, "query_clock_in", **day).value == {**day, "has_clocked_in": False}
    done = call(reached, "make_up_clock_in", **day)
    assert (done.route, done.value, done.outputs) == ("shim", None, {})
    assert call(reached, "query_clock_in", **day).value == {**day, "has_clocked_in": True}


def test_a_receiver_of_broadcasts_is_asked_by_a_shim_and_called_by_the_shell(reached: ReachedPhone) -> None:
    result = call(reached, "currentWeather", location="Bonn")
    assert result.route == "am-broadcast"
    assert str(result.value).startswith("Bonn: ")
    assert result.outputs == {"result": result.value}
    forecast = call(reached, "forecast", location="Bonn", days="2")
    assert forecast.value["location"] == "Bonn"
    assert len(forecast.value["days"]) == 2


def test_a_text_that_resembles_a_failure_is_the_result_with_a_warning(reached: ReachedPhone) -> None:
    result = call(reached, "forecast", location="Bonn", days="9")
    assert str(result.value).startswith("Error: days must be")
    assert [finding.level for finding in result.findings] == [Level.WARNING]


def test_the_failure_of_an_activity_is_the_failure_of_the_call(reached: ReachedPhone) -> None:
    error = failure_of(reached, "page_count", path="/sdcard/absent.pdf")
    assert error.failure.token == "backend_failure"
    assert "absent.pdf" in error.failure.text
    assert error.exit_code == 5


def test_the_failure_of_an_app_function_has_the_words_of_the_app(reached: ReachedPhone) -> None:
    error = failure_of(reached, "archiveNote", noteId="note-99")
    # This shell prints no error code.
    assert error.failure.token == "backend_failure"
    assert "note-99" in error.failure.text


def test_every_mistake_in_the_arguments_is_reported_and_nothing_is_sent(reached: ReachedPhone) -> None:
    caller = reached.caller()
    caller.targets.all()
    before = len(reached.commands())
    with pytest.raises(CallError) as raised:
        caller.call(CallRequest("add_points", {"playr": "Ann", "points": "many"}))
    messages = [raised.value.message, *(other.message for other in raised.value.others)]
    assert len(messages) == 3
    assert 'not a parameter; did you mean "player"?' in messages[0]
    assert any("'player' is required and missing" in message for message in messages)
    assert any(message.startswith("invalid_argument: /points: ") for message in messages)
    assert all(command.startswith("pm path ") for command in reached.commands()[before:])


def test_a_text_of_digits_is_sent_as_the_text_that_is_declared(reached: ReachedPhone) -> None:
    plan = reached.caller().explain(CallRequest(CREATE, {"title": "a", "content": "5"}))
    (command,) = [command for command in plan.route.commands if "execute-app-function" in command]
    assert json.loads(command[command.index("--parameters") + 1]) == {"title": "a", "content": "5"}


def test_explaining_shows_the_commands_that_a_call_then_runs(reached: ReachedPhone) -> None:
    caller = reached.caller()
    request = CallRequest(CREATE, {"title": "it's", "content": '$(reboot) `x` "y" \n z'})
    plan = caller.explain(request)
    created = [command for command in reached.commands() if "it" in command and "reboot" in command]
    assert created == []
    result = caller.call(request)
    assert result.value["content"] == request.arguments["content"]
    commands = [command for hop in result.hops for command in hop.commands]
    assert commands == list(plan.route.commands)


def test_an_ambiguous_name_is_refused_with_names_that_are_not(reached: ReachedPhone) -> None:
    with pytest.raises(UsageError) as raised:
        call(reached, "createNote", title="a")
    assert f"{NOTES}.legacy/createNote" in str(raised.value.hint)
    assert call(reached, f"{NOTES}.legacy/createNote", title="a", content="b").value["noteId"]
    only = reached.caller().call(CallRequest("createNote", {"title": "a", "content": "b"}, app=NOTES))
    assert only.key.package == NOTES


def test_a_misspelled_name_gets_the_closest(reached: ReachedPhone) -> None:
    with pytest.raises(UsageError) as raised:
        call(reached, "query_clockin")
    assert raised.value.hint == "did you mean 'query_clock_in'?"
    with pytest.raises(UsageError) as raised:
        call(reached, f"{CLOCK_IN}/query_clockin")
    assert raised.value.hint == f"did you mean '{CLOCK_IN}/query_clock_in'?"


def test_what_is_not_approved_is_refused_before_anything_is_sent(reached: ReachedPhone) -> None:
    caller = reached.caller(approver=refuse)
    with pytest.raises(CallError) as raised:
        caller.call(CallRequest("start_over", {}))
    assert raised.value.failure.token == "needs_approval"
    assert raised.value.exit_code == 6
    assert f"droidgate pins approve {TALLY}/start_over" in str(raised.value.hint)


def test_nobody_is_asked_about_a_call_that_no_way_carries(tmp_path: Path) -> None:
    asked: list[ApprovalRequest] = []

    def ask(request: ApprovalRequest) -> Approval:
        asked.append(request)
        return Approval(allowed=True)

    with reached_phone(tmp_path, shims=False) as bare:
        # The shim for several apps is there, as it is where app functions are called through it.
        shim = build_bare_shim(load_or_make_key())
        install_archive(place_of(bare.device), shim.apk, shim.file_name)
        with pytest.raises(CallError) as raised:
            bare.caller(approver=ask).call(CallRequest("read_total", {"player": "Ada"}))
    assert raised.value.message == f"unavailable: {TALLY} has no shim on the phone"
    source = f"--from adb:{bare.device.serial}/{TALLY} --serial {bare.device.serial}"
    install = f"droidgate shim install {source} --protocol all"
    assert raised.value.hint == f"run `{install}`"
    assert asked == []


def test_the_arguments_are_fitted_once_although_somebody_is_asked(
    reached: ReachedPhone, monkeypatch: pytest.MonkeyPatch
) -> None:
    fitted: list[object] = []

    def fit(*given: Any) -> FittedArguments:
        fitted.append(given[0])
        return fit_arguments(*given)

    monkeypatch.setattr("droidgate.calls.caller.fit_arguments", fit)
    caller = reached.caller(approver=refuse)
    for capability, arguments in ((CREATE, {"title": "a"}), ("add_points", {"player": 1})):
        fitted.clear()
        with pytest.raises(CallError):
            caller.call(CallRequest(capability, arguments))
        assert len(fitted) == 1


_REPLACEMENTS = [{"other_signer": True}, {"other_text": True}]


@pytest.fixture
def legacy(bare: ReachedPhone) -> Iterator[ReachedPhone]:
    yield bare
    bare.restore_legacy()


@pytest.mark.parametrize("replacement", _REPLACEMENTS, ids=str)
@pytest.mark.parametrize("remember", [False, True])
def test_an_answer_counts_only_for_the_app_that_was_asked_about(
    legacy: ReachedPhone, tmp_path: Path, replacement: dict[str, bool], *, remember: bool
) -> None:
    asked: list[ApprovalRequest] = []

    def ask(request: ApprovalRequest) -> Approval:
        asked.append(request)
        if len(asked) == 1:
            legacy.replace_legacy(**replacement)
            return Approval(allowed=True, remember=remember)
        return Approval(allowed=False, token="denied")

    own = replace(legacy, folder=tmp_path)
    caller = own.caller(approver=ask)
    title = secrets.token_hex(8)
    with pytest.raises(CallError, match="denied"):
        caller.call(CallRequest(f"{LEGACY}/createNote", {"title": title, "content": "b"}))
    first, second = asked
    assert (first.change, second.change) == (
        "",
        "the app was replaced after you answered, so you are asked again",
    )
    assert first.pin != second.pin
    assert (first.pin.signer != second.pin.signer) == replacement.get("other_signer", False)
    assert not [command for command in own.commands() if title in command]
    assert caller.pins.list() == ()
    ends = [(call.start["pin"], (call.end or {}).get("result")) for call in read_calls(tmp_path / "audit")]
    assert ends == [(first.pin.digest, "unavailable"), (second.pin.digest, "denied")]


def test_an_update_that_declares_the_same_needs_no_second_answer(
    legacy: ReachedPhone, tmp_path: Path
) -> None:
    asked: list[ApprovalRequest] = []

    def ask(request: ApprovalRequest) -> Approval:
        asked.append(request)
        legacy.replace_legacy()
        return Approval(allowed=True)

    caller = replace(legacy, folder=tmp_path).caller(approver=ask)
    called = caller.call(CallRequest(f"{LEGACY}/createNote", {"title": "a", "content": "b"}))
    assert "note-" in str(called.value)
    assert len(asked) == 1


@pytest.mark.parametrize("replacement", _REPLACEMENTS, ids=str)
def test_an_app_that_is_replaced_at_the_last_moment_gets_nothing(
    legacy: ReachedPhone, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, replacement: dict[str, bool]
) -> None:
    asked: list[ApprovalRequest] = []
    send = ShellRoute.send

    def send_late(self: ShellRoute, *given: Any) -> RawResult:
        if len(asked) == 1:
            legacy.replace_legacy(**replacement)
        return send(self, *given)

    def ask(request: ApprovalRequest) -> Approval:
        asked.append(request)
        return Approval(allowed=len(asked) == 1, token="denied")

    monkeypatch.setattr(ShellRoute, "send", send_late)
    caller = replace(legacy, folder=tmp_path).caller(approver=ask)
    with pytest.raises(CallError, match="denied"):
        caller.call(CallRequest(f"{LEGACY}/createNote", {"title": "a", "content": "b"}))
    assert len(asked) == 2


def test_an_app_that_is_replaced_after_every_answer_is_not_called(
    legacy: ReachedPhone, tmp_path: Path
) -> None:
    asked: list[ApprovalRequest] = []

    def ask(request: ApprovalRequest) -> Approval:
        asked.append(request)
        legacy.replace_legacy(other_text=len(asked) % 2 == 1)
        return Approval(allowed=True)

    caller = replace(legacy, folder=tmp_path).caller(approver=ask)
    with pytest.raises(CallError, match="is replaced again and again") as raised:
        caller.call(CallRequest(f"{LEGACY}/createNote", {"title": "a", "content": "b"}))
    assert raised.value.failure.token == "unavailable"
    assert len(asked) == 5


def test_an_approval_that_is_remembered_is_not_asked_for_again(reached: ReachedPhone) -> None:
    asked: list[ApprovalRequest] = []

    def approve(request: ApprovalRequest) -> Approval:
        asked.append(request)
        return Approval(allowed=True, remember=True)

    caller = reached.caller(approver=approve)
    for _ in range(2):
        caller.call(CallRequest("read_total", {"player": "Ann"}))
    (request,) = asked
    assert (request.subject.package, request.arguments) == (TALLY, {"player": "Ann"})
    assert request.state.kind == "new"


def test_a_call_that_the_user_has_allowed_asks_nobody_and_is_one_command(reached: ReachedPhone) -> None:
    caller = reached.caller(approver=refuse)
    request = CallRequest("summarizeNotes", {}, app=NOTES)
    caller.targets.all()
    before = len(reached.commands())
    for pattern in ("*/other", "com.example.*/*"):
        with pytest.raises(CallError, match="needs_approval"):
            caller.call(request, allowed=[NamePattern.parse(pattern)])
    assert all(command.startswith("pm path ") for command in reached.commands()[before:])
    before = len(reached.commands())
    caller.call(request, allowed=[NamePattern.parse(f"{NOTES}/*summarizeNotes")])
    assert len(reached.commands()[before:]) == 1


def test_a_rule_that_denies_wins_over_every_approval(reached: ReachedPhone, tmp_path: Path) -> None:
    (tmp_path / "policy.toml").write_text(f'[[rule]]\ndecision = "deny"\npackage = "{CLOCK_IN}"\n')
    caller = reached.caller(policy=Policy.load(tmp_path))
    with pytest.raises(CallError, match="denied"):
        caller.call(CallRequest("clock_in_today"), allowed=EVERY_CAPABILITY)


def test_a_disabled_function_is_not_called(tmp_path: Path) -> None:
    with reached_phone(tmp_path, sdk="37", shims=False) as reached:
        reached.device.check(
            [
                "cmd",
                "app_function",
                "set-enabled",
                "--package",
                NOTES,
                "--function",
                CREATE,
                "--state",
                "disable",
            ]
        )
        error = failure_of(reached, CREATE, title="a", content="b")
        assert error.failure.token == "disabled"
        assert not any("execute-app-function" in command for command in reached.commands())


def test_an_app_that_went_is_not_called(tmp_path: Path) -> None:
    with reached_phone(tmp_path, shims=False) as reached:
        caller = reached.caller()
        caller.targets.all()
        reached.device.check(["pm", "uninstall", NOTES])
        with pytest.raises(CallError, match="is not installed any more") as raised:
            caller.call(CallRequest(CREATE, {"title": "a", "content": "b"}))
        assert raised.value.failure.token == "unavailable"


def test_without_a_shim_the_error_names_the_command_that_installs_one(tmp_path: Path) -> None:
    with reached_phone(tmp_path, shims=False) as reached:
        error = failure_of(reached, "clock_in_today")
        assert error.failure.token == "unavailable"
        serial = reached.device.serial
        source = f"--from adb:{serial}/{CLOCK_IN} --serial {serial}"
        assert error.hint == f"run `droidgate shim install {source} --protocol all`"


def test_a_name_that_only_an_app_knows_which_no_shim_asked_gets_the_way_to_ask(tmp_path: Path) -> None:
    with reached_phone(tmp_path, shims=False) as reached:
        caller = reached.caller()
        for text in ("currentWeather", f"{WEATHER}/currentWeather", "query_clockin"):
            with pytest.raises(UsageError) as raised:
                caller.call(CallRequest(text))
            fix = f"the tools of {WEATHER} are not known: run `droidgate shim install --from adb:`"
            assert str(raised.value.hint).endswith(fix)
        with pytest.raises(UsageError) as raised:
            caller.call(CallRequest("currentWeather", app=NOTES))
        assert "shim" not in str(raised.value.hint)


def test_a_shim_of_another_signer_gets_no_call(
    reached: ReachedPhone, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DROIDGATE_HOME", str(tmp_path))
    error = failure_of(reached, "clock_in_today")
    assert "your key did not sign this shim" in error.failure.text


def test_several_calls_run_at_once(reached: ReachedPhone) -> None:
    caller = reached.caller()
    caller.targets.all()

    def note(number: int) -> CallResult:
        return caller.call(CallRequest(CREATE, {"title": f"note {number}", "content": "x"}))

    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(note, range(24)))
    assert [result.value["title"] for result in results] == [f"note {number}" for number in range(24)]
    assert len({result.value["noteId"] for result in results}) == 24


def test_a_call_that_is_canceled_ends_as_canceled(reached: ReachedPhone) -> None:
    cancel = threading.Event()
    cancel.set()
    caller = reached.caller()
    caller.targets.all()
    with pytest.raises(CallError) as raised:
        caller.call(CallRequest(CREATE, {"title": "never", "content": "x"}), cancel=cancel)
    assert raised.value.failure.token == "canceled"


def test_the_audit_log_has_each_call_and_none_of_its_arguments(reached: ReachedPhone) -> None:
    call(reached, CREATE, title="canary-4711", content="x")
    failure_of(reached, "page_count", path="/sdcard/canary-4711.pdf")
    text = "".join(path.read_text() for path in (reached.folder / "audit").glob("*.jsonl"))
    records = [json.loads(line) for line in text.splitlines()]
    assert "canary-4711" not in text
    ends = [record for record in records if record["event"] == "end"]
    assert {record["event"] for record in records} == {"start", "end"}
    assert len(ends) == len(records) / 2
    assert [(record["route"], record["result"]) for record in ends[-2:]] == [
        ("app-function-shell", "ok"),
        ("shim", "backend_failure"),
    ]


@pytest.mark.parametrize(
    ("error", "recorded"), [(RuntimeError("a defect"), "unavailable"), (KeyboardInterrupt(), "canceled")]
)
def test_a_call_that_any_error_ends_is_recorded_as_what_happened(
    reached: ReachedPhone, error: BaseException, recorded: str
) -> None:
    def fail(_request: ApprovalRequest) -> Approval:
        raise error

    with pytest.raises(type(error)):
        reached.caller(approver=fail).call(CallRequest(CREATE, {"title": "a", "content": "b"}))
    newest = max((reached.folder / "audit").glob("*.jsonl"), key=lambda path: path.stat().st_mtime_ns)
    assert json.loads(newest.read_text().splitlines()[-1])["result"] == recorded


def test_a_result_is_returned_although_the_end_of_its_call_cannot_be_recorded(
    reached: ReachedPhone, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_arguments: object, **_named: object) -> None:
        raise WriteError("the file cannot be written: No space left on device")

    monkeypatch.setattr(AuditLog, "end", fail)
    result = call(reached, CREATE, title="Milk", content="x")
    assert result.value["title"] == "Milk"
    assert result.findings[-1].code == "call-end-not-recorded"
    with pytest.raises(CallError):
        call(reached, "page_count", path="/sdcard/none.pdf")


def test_nothing_is_called_whose_start_cannot_be_recorded(
    reached: ReachedPhone, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_arguments: object, **_named: object) -> None:
        raise WriteError("the file cannot be written: No space left on device")

    monkeypatch.setattr(AuditLog, "start", fail)
    before = len(reached.commands())
    with pytest.raises(WriteError, match="No space left on device"):
        call(reached, CREATE, title="Milk", content="x")
    assert not [command for command in reached.commands()[before:] if "execute-app-function" in command]


def test_older_releases_are_called_by_broadcast_and_through_shims(older: ReachedPhone) -> None:
    assert call(older, "currentWeather", location="Bonn").route == "am-broadcast"
    day = {"date": "2026-02-03"}
    assert call(older, "query_clock_in", **day).value == {**day, "has_clocked_in": False}
    assert call(older, "add_points", player="Ann", points=3).route == "shim"
    assert call(older, "read_total", player="Ann").value == {"player": "Ann", "total": 3}
    assert failure_of(older, "page_count", path="/sdcard/absent.pdf").failure.token == "backend_failure"
    assert {WEATHER, CLOCK_IN, TALLY, PDF_TOOL} <= {
        target.app.package for target in older.caller().targets.all()
    }


@pytest.mark.parametrize("shell", [1, 2])
def test_a_shell_that_prints_no_json_carries_no_call(tmp_path: Path, shell: int) -> None:
    with reached_phone(tmp_path, sdk="36.1", shell=shell, shims=False) as reached:
        error = failure_of(reached, CREATE, title="a", content="b")
        assert error.failure.token == "unavailable"
        assert "does not print the results of app functions as JSON" in error.failure.text
        assert not any("execute-app-function" in command for command in reached.commands())


def _tools_of_weather(reached: ReachedPhone) -> list[str]:
    (weather,) = (app for app in Phone(reached.device).discover(keep=False).apps if app.package == WEATHER)
    return [capability.id for provider in weather.providers for capability in provider.capabilities]


def test_discovery_asks_through_a_shim_for_tools_that_are_in_no_file(
    reached: ReachedPhone, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert _tools_of_weather(reached) == ["currentWeather", "forecast", "warmestPlace"]
    with monkeypatch.context() as patched:
        patched.setattr(phones, "SECONDS_TO_ASK", 0.0)
        assert _tools_of_weather(reached) == []
    monkeypatch.setenv("DROIDGATE_HOME", str(tmp_path))
    assert _tools_of_weather(reached) == [], "only the user's own shims are asked"
    found = Phone(reached.device).discover(formats=["mmcp"], keep=False)
    shown = [block.text for block in discovery_page(found) if isinstance(block, Line)]
    assert "the list of its tools, which no shim on the phone got; `droidgate shim doctor` says why" in shown

"""Calls of every protocol on the virtual phone, behind its own adb server and the real adb.

The phone's apps share no code with the caller; what a call did is looked up by another call or in what came
over adb. Each call ends once and none is sent twice, also where an app is silent, dies or is updated, where
the phone goes away, and where the shell cannot carry the call, so that a shim does.
"""

from __future__ import annotations

import base64
import json
import re
import secrets
import shutil
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest

from droidgate.calls import phones, shim_route
from droidgate.calls.approvals import Approval, ApprovalRequest, refuse
from droidgate.calls.audit_log import AuditLog
from droidgate.calls.audit_reading import read_calls
from droidgate.calls.call_links import RawResult
from droidgate.calls.call_requests import CallRequest
from droidgate.calls.call_steps import CallSteps, Work
from droidgate.calls.caller import CallControls
from droidgate.calls.phones import Phone
from droidgate.calls.policy import Policy
from droidgate.calls.shell_route import ShellRoute
from droidgate.calls.subjects import EVERY_CAPABILITY
from droidgate.cli.devices.run_discover import discovery_page
from droidgate.cli.output.pages import Line
from droidgate.devices.adb_client import AdbClient
from droidgate.devices.app_installation import install_apks, uninstall
from droidgate.devices.device import Device, connect_device
from droidgate.devices.packages import InstalledPackage
from droidgate.shims.device_user import device_user_of
from droidgate.shims.installation_steps import install_archive
from droidgate.shims.refusals import refusal_of
from droidgate.shims.shell_identity import set_up_identity
from droidgate_android.apk.pack import pack_project
from droidgate_android.apk.signing_keys import load_or_make_key
from droidgate_mappings.formats.installed import SHIM_PREFIX, DeviceFacts
from droidgate_mappings.model.capability import Provider
from droidgate_mappings.model.errors import DeviceError, UsageError, WriteError
from droidgate_mappings.model.findings import Level
from droidgate_mappings.user_folders import cache_folder
from droidgate_mappings.values.coercion import fit_arguments
from droidgate_mappings.values.failures import CallError
from droidgate_phone.apps.sample_packages import filler_package, sample_packages, signing_key
from droidgate_phone.commands import app_function_commands
from droidgate_phone.common.faults import Faults
from droidgate_shim.builder.shims import build_bare_shim
from gateway.calls.phones_with_shims import (
    CLOCK_IN,
    LEGACY,
    NOTES,
    PDF_TOOL,
    PLACE,
    TALLY,
    THING,
    WEATHER,
    ReachedPhone,
    reached_phone,
    weather_with_app_actions,
)
from gateway.devices.golden_outputs import written_cases
from requirements_of_tests import CHECKOUT
from waiting import wait_until

CREATE = f"{NOTES}.NotesService#createNote"
NOTE = {"title": "a", "content": "b"}
DAY = {"date": "2026-02-03"}
EXECUTE = "execute-app-function"


@pytest.fixture(scope="module", params=["its own server", "real adb"])
def reached(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ReachedPhone]:
    with reached_phone(tmp_path_factory.mktemp("phone"), adb=request.param == "real adb") as phone:
        yield phone


@pytest.fixture(scope="module", params=["30", "34", "36"], ids="API {}".format)
def older(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ReachedPhone]:
    with reached_phone(tmp_path_factory.mktemp("older"), sdk=request.param) as phone:
        yield phone


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ReachedPhone]:
    """Return a phone without shims, which leaves the home folder as it is."""
    with reached_phone(tmp_path_factory.mktemp("bare"), shims=False) as phone:
        yield phone


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[ReachedPhone]:
    """Return such a phone for one test."""
    with reached_phone(tmp_path, shims=False) as phone:
        yield phone


def sent(reached: ReachedPhone, word: str = EXECUTE) -> int:
    return sum(word in command for command in reached.commands())


class Asked(list[ApprovalRequest]):
    """An approver that keeps what it was asked, acts before its answer, and allows the first calls only."""

    def __init__(
        self, act: Any = lambda _number: None, *, allowed: int = 10**6, remember: bool = False
    ) -> None:
        self.act, self.allowed, self.remember = act, allowed, remember

    def __call__(self, request: ApprovalRequest) -> Approval:
        self.append(request)
        self.act(len(self))
        is_allowed = len(self) <= self.allowed
        return Approval(allowed=is_allowed, remember=is_allowed and self.remember, token="denied")


def test_an_app_function_is_called_by_the_shell_and_its_document_is_its_value(reached: ReachedPhone) -> None:
    result = reached.call(CREATE, title="Umbrella", content="two words", labels=["a", "b"])
    assert result.route == "app-function-shell"
    expected = {"title": "Umbrella", "labels": ["a", "b"], "wordCount": 3}
    assert result.value == {**result.value, **expected}
    assert result.outputs == result.value
    again = reached.call("NotesService#getNote", noteId=result.value["noteId"])
    assert again.value["content"] == "two words"


def test_a_mobile_mcp_service_is_called_through_its_shim(reached: ReachedPhone) -> None:
    assert reached.call("query_clock_in", **DAY).value == {**DAY, "has_clocked_in": False}
    done = reached.call("make_up_clock_in", **DAY)
    assert (done.route, done.value, done.outputs) == ("shim", None, {})
    assert reached.call("query_clock_in", **DAY).value == {**DAY, "has_clocked_in": True}


def test_a_receiver_of_broadcasts_is_asked_by_a_shim_and_called_by_the_shell(reached: ReachedPhone) -> None:
    result = reached.call("currentWeather", location="Bonn")
    assert result.route == "am-broadcast"
    assert str(result.value).startswith("Bonn: ")
    assert result.outputs == {"result": result.value}
    forecast = reached.call("forecast", location="Bonn", days="2")
    assert (forecast.value["location"], len(forecast.value["days"])) == ("Bonn", 2)


@pytest.mark.parametrize(("capability", "arguments", "place"), [
    (PLACE, {"place": "$(id) 'Ulm'"}, "$(id) 'Ulm'"),
    (THING, {"name": "Ulm&name=Bonn/../x#y"}, "Ulm&name=Bonn/../x#y"),
])  # fmt: skip
def test_an_app_action_is_opened_by_the_shell_and_shown_with_its_arguments(
    fresh: ReachedPhone, tmp_path: Path, capability: str, arguments: dict[str, str], place: str
) -> None:
    install_apks(fresh.device, {"base.apk": weather_with_app_actions(tmp_path)})
    # A screen that is open already is made anew, as extras are not compared.
    fresh.call(capability, **dict.fromkeys(arguments, "Bonn"))
    result = fresh.call(capability, **arguments)
    assert (result.route, result.findings) == ("am-start-activity", ())
    screen = f"{WEATHER}/.MainActivity"
    text = f"The screen {screen} was opened. The app does not report what it does with the call."
    assert result.outputs == {"result": text}
    top = fresh.phone.system.stack.top()
    view = None if top is None else top.activity.view()
    assert view is not None
    assert [each.text for each in view.walk() if each.id == "place"] == [place]
    fresh.phone.system.is_locked = True
    assert fresh.failure(capability, **arguments).failure.token == "needs_user"


def test_a_link_that_only_another_app_takes_is_not_opened(fresh: ReachedPhone, tmp_path: Path) -> None:
    for package, host in ((WEATHER, "other"), ("org.other", "places")):
        apk = weather_with_app_actions(tmp_path, package, host)
        install_apks(fresh.device, {"base.apk": apk})
    error = fresh.failure(THING, app=WEATHER, name="Ulm")
    assert error.failure.token == "unavailable"
    assert "unable to resolve Intent" in str(error)


def test_a_text_that_resembles_a_failure_is_the_result_with_a_warning(reached: ReachedPhone) -> None:
    result = reached.call("forecast", location="Bonn", days="9")
    assert str(result.value).startswith("Error: days must be")
    assert [finding.level for finding in result.findings] == [Level.WARNING]


# The shell prints no error code of an app function.
@pytest.mark.parametrize(("capability", "arguments", "message"), [
    ("page_count", {"path": "/sdcard/absent.pdf"}, "absent.pdf"),
    ("archiveNote", {"noteId": "note-99"}, "note-99"),
], ids=str)  # fmt: skip
def test_the_failure_of_the_app_is_that_of_the_call_in_its_words(
    reached: ReachedPhone, capability: str, arguments: dict[str, str], message: str
) -> None:
    error = reached.failure(capability, **arguments)
    assert (error.failure.token, error.exit_code) == ("backend_failure", 5)
    assert message in error.failure.text


def test_every_mistake_in_the_arguments_is_reported_and_nothing_is_sent(reached: ReachedPhone) -> None:
    caller = reached.caller()
    caller.targets.all()
    with reached.counted() as commands:
        error = reached.failure("add_points", caller=caller, playr="Ann", points="many")
    messages = [error.message, *(other.message for other in error.others)]
    assert len(messages) == 3
    assert 'not a parameter; did you mean "player"?' in messages[0]
    assert any("'player' is required and missing" in message for message in messages)
    assert any(message.startswith("invalid_argument: /points: ") for message in messages)
    assert all(command.startswith("pm path ") for command in commands)


def test_a_text_of_digits_is_sent_as_the_text_that_is_declared(reached: ReachedPhone) -> None:
    plan = reached.caller().explain(CallRequest(CREATE, {"title": "a", "content": "5"}))
    (command,) = [command for command in plan.route.commands if EXECUTE in command]
    assert json.loads(command[command.index("--parameters") + 1]) == {"title": "a", "content": "5"}


def test_explaining_shows_the_commands_that_a_call_then_runs(reached: ReachedPhone) -> None:
    caller = reached.caller()
    request = CallRequest(CREATE, {"title": "it's", "content": '$(reboot) `x` "y" \n z'})
    plan = caller.explain(request)
    assert not [command for command in reached.commands() if "it" in command and "reboot" in command]
    result = caller.call(request)
    assert result.value["content"] == request.arguments["content"]
    assert [command for hop in result.hops for command in hop.commands] == list(plan.route.commands)


def test_an_ambiguous_name_is_refused_with_names_that_are_not(reached: ReachedPhone) -> None:
    with pytest.raises(UsageError) as raised:
        reached.call("createNote", title="a")
    assert raised.value.hint == "name one: notes/createNote, legacy/createNote"
    with pytest.raises(UsageError) as raised:
        reached.call("NotesService/createNote", title="a")
    assert raised.value.hint == "did you mean 'notes/createNote'?"
    assert reached.call(f"{NOTES}.legacy/createNote", **NOTE).value["noteId"]
    assert reached.call("createNote", app=NOTES, **NOTE).key.package == NOTES


@pytest.mark.parametrize("before", ["", f"{CLOCK_IN}/"])
def test_a_misspelled_name_gets_the_closest(reached: ReachedPhone, before: str) -> None:
    with pytest.raises(UsageError) as raised:
        reached.call(f"{before}query_clockin")
    assert raised.value.hint == "did you mean 'query_clock_in'?"


def test_a_call_that_is_not_approved_is_refused_before_anything_is_sent(reached: ReachedPhone) -> None:
    error = reached.failure("start_over", caller=reached.caller(approver=refuse))
    assert (error.failure.token, error.exit_code) == ("needs_approval", 6)
    assert f"droidgate pins approve {TALLY}/start_over" in str(error.hint)


def test_nobody_is_asked_about_a_call_that_no_way_carries(fresh: ReachedPhone) -> None:
    approver = Asked()
    # The shim for several apps is there, as it is where app functions are called through it.
    shim = build_bare_shim(load_or_make_key())
    install_archive(device_user_of(fresh.device), shim.apk, shim.file_name)
    for app, capability, arguments in (
        (TALLY, "read_total", {"player": "Ada"}),
        (CLOCK_IN, "clock_in_today", {}),
    ):
        error = fresh.failure(capability, caller=fresh.caller(approver=approver), **arguments)
        assert error.message == f"unavailable: {app} has no shim on the phone"
        source = f"--from adb:{fresh.device.serial}/{app} --serial {fresh.device.serial}"
        assert error.hint == f"run `droidgate shim install {source} --format all`"
    assert approver == []


def test_the_arguments_are_fitted_once_for_a_question(
    reached: ReachedPhone, monkeypatch: pytest.MonkeyPatch
) -> None:
    fit = Mock(side_effect=fit_arguments)
    monkeypatch.setattr("droidgate.calls.caller.fit_arguments", fit)
    caller = reached.caller(approver=refuse)
    reached.failure(CREATE, caller=caller, title="a")
    reached.failure("add_points", caller=caller, player=1)
    assert fit.call_count == 2


replacements = pytest.mark.parametrize("replacement", [{"other_signer": True}, {"other_text": True}], ids=str)


@pytest.fixture
def legacy(bare: ReachedPhone, tmp_path: Path) -> Iterator[ReachedPhone]:
    """Return a phone on which the app of legacy notes is replaced, with approvals and a log of its own."""
    yield replace(bare, folder=tmp_path)
    bare.restore_legacy()


@replacements
@pytest.mark.parametrize("remember", [False, True])
def test_an_answer_counts_only_for_the_app_that_was_asked_about(
    legacy: ReachedPhone, replacement: dict[str, bool], *, remember: bool
) -> None:
    def replace_once(number: int) -> None:
        if number == 1:
            legacy.replace_legacy(**replacement)

    approver = Asked(replace_once, allowed=1, remember=remember)
    caller = legacy.caller(approver=approver)
    title = secrets.token_hex(8)
    error = legacy.failure(f"{LEGACY}/createNote", caller=caller, title=title, content="b")
    assert (error.failure.token, error.hint) == ("denied", None)
    first, second = approver
    again = "the app was replaced after you answered, so you are asked again"
    assert (first.change, second.change) == ("", again)
    assert first.pin != second.pin
    assert (first.pin.signer != second.pin.signer) == replacement.get("other_signer", False)
    assert not [command for command in legacy.commands() if title in command]
    assert caller.pins.list() == ()
    ends = [
        (call.start["pin"], (call.end or {}).get("result")) for call in read_calls(legacy.folder / "audit")
    ]
    assert ends == [(first.pin.digest, "unavailable"), (second.pin.digest, "denied")]


def test_an_update_that_declares_the_same_needs_no_second_answer(legacy: ReachedPhone) -> None:
    approver = Asked(lambda _number: legacy.replace_legacy())
    called = legacy.call(f"{LEGACY}/createNote", caller=legacy.caller(approver=approver), **NOTE)
    assert "note-" in str(called.value)
    assert len(approver) == 1


@replacements
def test_an_app_that_is_replaced_at_the_last_moment_gets_nothing(
    legacy: ReachedPhone, monkeypatch: pytest.MonkeyPatch, replacement: dict[str, bool]
) -> None:
    approver = Asked(allowed=1)
    send = ShellRoute.send

    def send_late(self: ShellRoute, *given: Any) -> CallSteps[RawResult]:
        if len(approver) == 1:
            legacy.replace_legacy(**replacement)
        return send(self, *given)

    monkeypatch.setattr(ShellRoute, "send", send_late)
    error = legacy.failure(f"{LEGACY}/createNote", caller=legacy.caller(approver=approver), **NOTE)
    assert (error.failure.token, len(approver)) == ("denied", 2)


def test_an_app_that_is_replaced_after_every_answer_is_not_called(legacy: ReachedPhone) -> None:
    approver = Asked(lambda number: legacy.replace_legacy(other_text=number % 2 == 1))
    error = legacy.failure(f"{LEGACY}/createNote", caller=legacy.caller(approver=approver), **NOTE)
    assert "is replaced again and again" in error.message
    assert (error.failure.token, len(approver)) == ("unavailable", 5)


def test_the_audit_log_says_who_approved_a_call(reached: ReachedPhone, tmp_path: Path) -> None:
    (tmp_path / "policy.toml").write_text('[[rule]]\ndecision = "allow"\ncapability = "tally_read_total"\n')
    caller, request = reached.caller(approver=Asked(remember=True)), CallRequest("start_over")
    caller.call(request, CallControls(allowed=["tally_start_over"]))
    caller.call(request)
    caller.call(request)
    reached.call("read_total", caller=reached.caller(policy=Policy.load(tmp_path)), player="Ann")
    with pytest.raises(CallError):
        reached.caller(approver=refuse).call(CallRequest("clock_in_today"))
    with pytest.raises(CallError):
        reached.caller(approver=Asked(allowed=0)).call(CallRequest("clock_in_today"))
    calls = list(read_calls(reached.folder / "audit"))[-6:]
    approved = [(call.end or {}).get("approved_by") for call in calls]
    assert approved == ["option", "person", "pin", "policy", None, None]
    assert [(call.end or {}).get("refused_by") for call in calls] == [*[None] * 5, "person"]


def test_a_call_that_the_user_has_allowed_asks_nobody_and_is_one_command(reached: ReachedPhone) -> None:
    caller = reached.caller(approver=refuse)
    request = CallRequest("summarizeNotes", {}, app=NOTES)
    caller.targets.all()
    with reached.counted() as before:
        for pattern in ("*/other", "com.example.*/*"):
            with pytest.raises(CallError, match="needs_approval"):
                caller.call(request, CallControls(allowed=[pattern]))
    assert all(command.startswith("pm path ") for command in before)
    with reached.counted() as commands:
        caller.call(request, CallControls(allowed=[f"{NOTES}/*summarizeNotes"]))
    assert len(commands) == 1


def _commands_of_a_new_run(reached: ReachedPhone) -> list[str]:
    device = connect_device(reached.device.serial, server=reached.device.server)
    with reached.counted() as commands:
        replace(reached, device=device).caller().call(
            CallRequest("summarizeNotes", {}, app=NOTES), CallControls(allowed=EVERY_CAPABILITY)
        )
    return commands


def test_a_new_run_asks_the_phone_for_one_digest_of_what_it_answered_before(fresh: ReachedPhone) -> None:
    assert len(_commands_of_a_new_run(fresh)) > 10
    _, digest, called = _commands_of_a_new_run(fresh)
    assert ("md5sum" in digest, called.startswith("pm path ")) == (True, True)
    uninstall(fresh.device, LEGACY)
    assert len(_commands_of_a_new_run(fresh)) > 10
    assert len(_commands_of_a_new_run(fresh)) == 3
    answers = max((cache_folder() / "phone-answers").iterdir(), key=lambda path: path.stat().st_mtime_ns)
    whole = answers.read_bytes()
    nothing = re.sub(rb'"answers": .*', b'"answers": [[[], "", "", 0]]}', whole)
    others = (whole.replace(b"kept-answers/1", b"other"), whole.replace(b'"answers"', b"0"))
    for damaged in (b"", b"{", b"[]", nothing, *others):
        answers.write_bytes(damaged)
        assert len(_commands_of_a_new_run(fresh)) > 10
        assert len(_commands_of_a_new_run(fresh)) == 3


def test_a_rule_that_denies_wins_over_every_approval(reached: ReachedPhone, tmp_path: Path) -> None:
    (tmp_path / "policy.toml").write_text(f'[[rule]]\ndecision = "deny"\npackage = "{CLOCK_IN}"\n')
    caller = reached.caller(policy=Policy.load(tmp_path))
    with pytest.raises(CallError, match="denied"):
        caller.call(CallRequest("clock_in_today"), CallControls(allowed=EVERY_CAPABILITY))


def test_a_disabled_function_is_not_called(tmp_path: Path) -> None:
    with reached_phone(tmp_path, sdk="37", shims=False) as reached:
        set_enabled = ["cmd", "app_function", "set-enabled", "--package", NOTES, "--function", CREATE]
        reached.device.check([*set_enabled, "--state", "disable"])
        assert reached.failure(CREATE, **NOTE).failure.token == "disabled"
        assert sent(reached) == 0


def test_an_app_that_went_is_not_called(fresh: ReachedPhone) -> None:
    caller = fresh.caller()
    caller.targets.all()
    fresh.device.check(["pm", "uninstall", NOTES])
    error = fresh.failure(CREATE, caller=caller, **NOTE)
    assert (error.failure.token, "is not installed any more" in error.message) == ("unavailable", True)


def test_a_name_that_only_an_app_knows_which_no_shim_asked_gets_the_way_to_ask(bare: ReachedPhone) -> None:
    caller = bare.caller()
    for text in ("currentWeather", f"{WEATHER}/currentWeather", "query_clockin"):
        with pytest.raises(UsageError) as raised:
            caller.call(CallRequest(text))
        fix = f"tools of {WEATHER} are not known: run `droidgate shim install --from adb: --format all`"
        assert fix in str(raised.value.hint).partition("; ")[0]
    with pytest.raises(UsageError) as raised:
        caller.call(CallRequest("currentWeather", app=NOTES))
    assert "shim" not in str(raised.value.hint)


def test_no_shim_of_others_is_used(
    reached: ReachedPhone, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DROIDGATE_HOME", str(tmp_path))
    error = reached.failure("clock_in_today")
    assert "your key did not sign this shim" in error.failure.text
    assert error.hint is not None
    assert "droidgate shim uninstall --all; droidgate shim install" in error.hint


@pytest.mark.parametrize(
    ("error", "recorded"),
    [(RuntimeError("a defect"), "unavailable"), (KeyboardInterrupt(), "canceled")],
    ids=["a defect", "Ctrl-C"],
)
def test_a_call_that_any_error_ends_is_recorded_as_what_happened(
    reached: ReachedPhone, error: BaseException, recorded: str
) -> None:
    with pytest.raises(type(error)):
        reached.call(CREATE, caller=reached.caller(approver=Mock(side_effect=error)), **NOTE)
    newest = max((reached.folder / "audit").glob("*.jsonl"), key=lambda path: path.stat().st_mtime_ns)
    assert json.loads(newest.read_text().splitlines()[-1])["result"] == recorded


fail_to_write = Mock(side_effect=WriteError("the file cannot be written: No space left on device"))


def test_a_result_is_returned_although_the_end_of_its_call_cannot_be_recorded(
    reached: ReachedPhone, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(AuditLog, "end", Mock(return_value=Work(fail_to_write)))
    result = reached.call(CREATE, title="Milk", content="x")
    assert result.value["title"] == "Milk"
    assert result.findings[-1].code == "call-end-not-recorded"
    reached.failure("page_count", path="/sdcard/none.pdf")


def test_no_call_is_made_without_its_record(reached: ReachedPhone, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(AuditLog, "start", fail_to_write)
    with reached.counted() as commands, pytest.raises(WriteError, match="No space left on device"):
        reached.call(CREATE, title="Milk", content="x")
    assert not [command for command in commands if EXECUTE in command]


def test_older_releases_are_called_by_broadcast_and_through_shims(older: ReachedPhone) -> None:
    assert older.call("currentWeather", location="Bonn").route == "am-broadcast"
    assert older.call("query_clock_in", **DAY).value == {**DAY, "has_clocked_in": False}
    assert older.call("add_points", player="Ann", points=3).route == "shim"
    assert older.call("read_total", player="Ann").value == {"player": "Ann", "total": 3}
    assert older.failure("page_count", path="/sdcard/absent.pdf").failure.token == "backend_failure"
    packages = {target.app.package for target in older.caller().targets.all()}
    assert {WEATHER, CLOCK_IN, TALLY, PDF_TOOL} <= packages


@pytest.mark.parametrize("generation", ["1", "2"])
def test_a_shell_that_prints_no_json_carries_no_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, generation: str
) -> None:
    outputs = {case["name"]: case["stdout"] for _, case in written_cases()}
    text = outputs[f"help of generation {generation}"]
    monkeypatch.setattr(app_function_commands, "help_text", lambda _generation: text)
    with reached_phone(tmp_path, sdk="36.1", shims=False) as reached:
        error = reached.failure(CREATE, **NOTE)
        assert error.failure.token == "unavailable"
        assert "does not print the results of app functions as JSON" in error.failure.text
        assert sent(reached) == 0


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
    for number in (8, 48):
        install_apks(reached.device, {"base.apk": filler_package(number)})
    before = len(reached.commands())
    assert _tools_of_weather(reached) != []
    asked = [command for command in reached.commands()[before:] if "discover-broadcast" in command]
    assert len(asked) == 3, "each receiver is asked once, also where it reports nothing"
    monkeypatch.setenv("DROIDGATE_HOME", str(tmp_path))
    assert _tools_of_weather(reached) == [], "only the user's own shims are asked"
    discovery = Phone(reached.device).discover(formats=["mmcp"], keep=False)
    lines = [block.text for block in discovery_page(discovery) if isinstance(block, Line)]
    assert "the list of its tools, which no shim on the phone got; `droidgate shim doctor` says why" in lines


def test_a_shim_that_sees_its_own_app_only_is_asked_once_for_others(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, str]] = []

    def client_of(shim: str) -> SimpleNamespace:
        def discover(component: str, *, seconds: float) -> None:
            del seconds
            asked.append((shim.removeprefix(SHIM_PREFIX), component))
            raise refusal_of("unavailable", "it is not installed")

        return SimpleNamespace(discover_broadcast=discover)

    monkeypatch.setattr(shim_route, "check_signer", lambda *_: None)
    monkeypatch.setattr(shim_route, "_device_user_of", lambda *_: SimpleNamespace(client=client_of))
    route, device = shim_route.ShimRoute(), Device(AdbClient(), "phone")
    shims = [InstalledPackage(f"{SHIM_PREFIX}{app}", "/base.apk", 1, 10_000) for app in ("a", "b")]
    for app in ("c", "d", "b"):
        receiver = Provider(protocol="mmcp", package=app, component=f"{app}.R")
        assert route.ask_for_tools(receiver, shims, DeviceFacts("36"), device) is None
    assert asked == [("a", "c/c.R"), ("b", "c/c.R"), ("b", "b/b.R")]


@pytest.fixture(scope="module")
def notes_shim(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ReachedPhone]:
    """Return a phone on which a shim may call the functions of the notes app."""
    folder = tmp_path_factory.mktemp("phone")
    with reached_phone(folder) as phone:
        (notes,) = (package.apk for package in sample_packages() if package.package == NOTES)
        (folder / "notes.apk").write_bytes(notes)
        key = load_or_make_key()
        shims = phone.install_shims(folder / "notes.apk", key)
        # A shim calls app functions by a right of the shell.
        assert set_up_identity(device_user_of(phone.device), shims, key).works
        yield phone


@pytest.fixture
def faulty(notes_shim: ReachedPhone) -> Iterator[ReachedPhone]:
    yield notes_shim
    notes_shim.phone.system.faults = Faults()


@pytest.mark.slow
@pytest.mark.parametrize(("capability", "arguments", "package", "word"), [
    pytest.param(CREATE, NOTE, NOTES, EXECUTE, id="app function"),
    pytest.param("query_clock_in", DAY, CLOCK_IN, "--method call", id="shim"),
    pytest.param("currentWeather", {"location": "Bonn"}, WEATHER, "ACTION_MMCP_INVOKE", id="broadcast"),
])  # fmt: skip
@pytest.mark.parametrize("fault", ["silent", "crashing"])
def test_an_app_that_does_not_answer_is_called_once_and_its_failure_may_have_run(
    faulty: ReachedPhone, capability: str, arguments: dict[str, str], package: str, word: str, fault: str
) -> None:
    caller = faulty.caller()
    caller.targets.all()
    faulty.phone.system.faults = Faults(**{fault: frozenset({package})})  # type: ignore[arg-type]
    before = sent(faulty, word)
    error = faulty.failure(capability, caller=caller, deadline=1, **arguments)
    assert error.failure.token in {"timeout", "interrupted", "backend_failure"}
    assert sent(faulty, word) == before + 1


def test_a_call_is_canceled_while_the_app_is_silent_and_others_go_on(tmp_path: Path) -> None:
    with reached_phone(tmp_path, shims=False) as reached, ThreadPoolExecutor(1) as pool:
        caller, cancel = reached.caller(), threading.Event()
        caller.targets.all()
        reached.phone.system.faults = Faults(silent=frozenset({NOTES}))
        call = pool.submit(reached.failure, CREATE, caller=caller, cancel=cancel, deadline=120, **NOTE)
        wait_until(lambda: sent(reached) == 1)
        assert reached.call(f"{LEGACY}/createNote", caller=caller, **NOTE).value["noteId"]
        assert not call.done()
        cancel.set()
        assert call.result(60).failure.token == "canceled"
    # Nor does the end of the phone wait for the app.
    assert reached.phone.log.of_kind("left-running") == []


def test_a_phone_that_goes_away_during_a_call_is_the_error_of_a_device(fresh: ReachedPhone) -> None:
    caller = fresh.caller()
    caller.targets.all()
    fresh.phone.system.faults = Faults(drop_after=0)
    with pytest.raises(DeviceError):
        fresh.call(CREATE, caller=caller, deadline=5, **NOTE)


def changed_notes(tmp_path: Path) -> tuple[Path, Path]:
    """Return a copy of the notes app's source, and its descriptor."""
    module = tmp_path / "app"
    shutil.copytree(CHECKOUT / "device_shim/apps/notes/app", module)
    return module, module / "src/main/assets/notes_service.xml"


def test_an_updated_app_needs_an_approval_only_where_it_changed(tmp_path: Path, fresh: ReachedPhone) -> None:
    module, descriptor = changed_notes(tmp_path)
    approver = Asked(remember=True)
    caller = fresh.caller(approver=approver)

    def call(version: int = 0) -> int:
        if version:
            fresh.phone.install(pack_project(module, key=signing_key(), package=NOTES, version_code=version))
        return int(str(fresh.call(CREATE, caller=caller, **NOTE).value["noteId"]).removeprefix("note-"))

    first = call()
    second = call(98)
    assert [request.state.kind for request in approver] == ["new"]
    text = descriptor.read_text(encoding="utf-8")
    assert "Write a new note." in text
    descriptor.write_text(text.replace("Write a new note.", "Write a note and send it."), encoding="utf-8")
    third = call(99)
    assert [request.state.kind for request in approver] == ["new", "changed"]
    # The phone's shell refused the second and third call once each, since the app was another one.
    assert sent(fresh) == 5
    assert (second, third) == (first + 1, first + 2)


LONG = "語" * 15_000
OFFICE = {"place": "the office", "radiusMeters": 123.456789012345}
KIND = {"schemaType": f"{NOTES}.Reminder$AtPlace"}
by_each_route = pytest.mark.parametrize(
    ("labels", "route"), [(["x"], "app-function-shell"), ([], "shim")], ids=["shell", "shim"]
)


@by_each_route
def test_a_request_of_more_than_32_kib_arrives(
    notes_shim: ReachedPhone, labels: list[str], route: str
) -> None:
    assert len(LONG.encode()) > 32 * 1024
    result = notes_shim.call(CREATE, title="a", content=LONG, labels=labels)
    assert result.route == route
    assert (result.value["content"], result.value["labels"]) == (LONG, labels)


@by_each_route
@pytest.mark.parametrize("radius", [OFFICE["radiusMeters"], 250])
def test_numbers_and_one_of_several_types_arrive_as_they_were_sent(
    notes_shim: ReachedPhone, labels: list[str], route: str, radius: float
) -> None:
    office = {**OFFICE, "radiusMeters": radius}
    result = notes_shim.call(CREATE, labels=labels, reminder=office, **NOTE)
    assert (result.route, result.value["reminder"]) == (route, {**KIND, **office})


def test_a_value_of_none_of_several_types_is_refused_and_nothing_is_sent(notes_shim: ReachedPhone) -> None:
    with notes_shim.counted() as commands:
        error = notes_shim.failure(CREATE, reminder={"place": "the office"}, **NOTE)
    assert (error.failure.token, "/reminder" in str(error)) == ("invalid_argument", True)
    assert not any(EXECUTE in command for command in commands)


@pytest.mark.parametrize(("arguments", "reason"), [
    pytest.param({"content": "b", "labels": []}, "empty", id="what the shell cannot carry"),
    pytest.param({"content": "é" * 70_000}, "a command carries 131,071", id="what is too long for a command"),
])  # fmt: skip
def test_a_way_by_shim_has_a_reason(notes_shim: ReachedPhone, arguments: dict[str, Any], reason: str) -> None:
    plan = notes_shim.caller().explain(CallRequest(CREATE, {"title": "a", **arguments}))
    assert plan.route.route == "shim"
    (message,) = plan.passed_over
    assert reason in message


def test_arguments_that_are_too_long_to_be_sent_are_refused_as_such(notes_shim: ReachedPhone) -> None:
    with notes_shim.counted() as commands:
        error = notes_shim.failure(CREATE, title="a", content="b" * 1_048_577)
    assert error.failure.token == "invalid_argument"
    assert error.message.endswith("a frame holds 1048576")
    assert not [command for command in commands if "--method call" in command or EXECUTE in command]


def test_bytes_are_not_sent_by_the_shell(tmp_path: Path, fresh: ReachedPhone) -> None:
    module, descriptor = changed_notes(tmp_path)
    head, name, rest = descriptor.read_text(encoding="utf-8").partition("<name>content</name>")
    before, kind, after = head.rpartition("<type>8</type>")
    descriptor.write_text(f"{before}<type>2</type>{after}{name}{rest}", encoding="utf-8")
    assert (kind, name) != ("", "")
    fresh.phone.install(pack_project(module, key=signing_key(), package=NOTES, version_code=99))
    error = fresh.failure(CREATE, title="a", content=base64.b64encode(b"\0\xff").decode())
    assert "/content: " in error.message
    assert "bytes" in error.message
    assert "droidgate shim install" in str(error.hint)
    assert sent(fresh) == 0

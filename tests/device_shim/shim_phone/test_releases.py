"""The shim's own dex, and the agent's, on the classes of Android 10, 14 and 17."""

import dataclasses
import hashlib
import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from device_shim.phone_system.phone_system_apps import make_apk
from device_shim.shim_phone.conftest import JVM
from device_shim.shim_phone.hand_made_shim import (
    MMCP_ACTIVITY,
    MMCP_RECEIVER,
    function_service,
    make_shim,
    route,
)
from device_shim.shim_phone.test_screens import install_weather_shim
from device_shim.shim_phone.tool_apps import TOOL, ToolApp, target, tool_apk, tool_routes
from device_shim.shim_phone.world import (
    AGENT,
    SHIM,
    Begun,
    ClockThatSkips,
    World,
    key,
    outputs_of,
    sample_shims,
    token_of,
)
from droidgate_phone.apps.agent import request_text
from droidgate_phone.apps.jvm_shim.jvm_process import JvmProcess, process_of
from droidgate_phone.apps.jvm_shim.jvm_shim_app import JvmActivity
from droidgate_phone.apps.jvm_shim.jvm_values import write_intent
from droidgate_phone.apps.sample_packages import sample_package
from droidgate_phone.apps.shim_runtimes import start_shim_runtime
from droidgate_phone.java.app_values import AndroidError
from droidgate_phone.java.intents import Bundle, ComponentName, Extra, Intent
from droidgate_phone.system.activity_records import ActivityRecord
from droidgate_phone.system.behaviour import Activity
from droidgate_phone.system.releases import load_release
from droidgate_shim.builder.sample_apps import agent_apk
from droidgate_shim.engine.engine import UNANSWERED
from waiting import wait_until

pytestmark = [*JVM.marks]

RELEASES = {
    "Android 10": dataclasses.replace(load_release("30"), id="29", sdk=29, version="10"),
    "Android 14": load_release("34"),
    "Android 17": load_release("37"),
}
SERVICE = ComponentName(SHIM, "dev.droidgate.shim.frontends.ToolService")
TRAMPOLINE = "dev.droidgate.shim.backends.TrampolineActivity"
QUESTION = "dev.droidgate.shim.consent.ConsentActivity"
RECEIVER = "dev.droidgate.shim.frontends.MmcpReceiver"
MMCP = "dev.droidgate.shim.frontends.MmcpActivity"
FUNCTIONS = "com.example.functions"
AGENT_APP = "dev.droidgate.agent"
RESULT_OK = -1
INTERRUPTED = "Error: interrupted: the shim was stopped during the call"


@pytest.fixture(params=[*RELEASES])
def world(request: pytest.FixtureRequest) -> Iterator[World]:
    """A phone of a release with a shim that any app may call, whose user looks at the agent."""
    release = RELEASES[request.param]
    start_shim_runtime("jvm", release)
    world = World(sdk=release, shim_runtime="jvm", clock=ClockThatSkips(), behaviours={TOOL: ToolApp})
    world.install(tool_apk())
    component, files = function_service(["make"])
    functions = {name: content.decode() for name, content in files.items()}
    world.install(make_apk(FUNCTIONS, component, files=functions))
    backend = {"kind": "app-function", "package": FUNCTIONS, "function": "make"}
    digest = hashlib.sha256(files["assets/app_functions.xml"]).hexdigest()
    of_functions = {**target(), "package": FUNCTIONS, "digest": f"assets(app_functions.xml):{digest}"}
    routes = [*tool_routes(deadline_ms=30_000), route("function", backend, of_functions)]
    world.install(make_shim(routes, key=key(), more=MMCP_ACTIVITY + MMCP_RECEIVER))
    world.system.uid_states.idle_whitelist.update({SHIM, TOOL})
    world.allow_screens()
    world.run("pm", "grant", SHIM, "android.permission.POST_NOTIFICATIONS")
    world.show_agent()
    world.grant("any-app")
    yield world
    world.close()


def only(*names: str) -> pytest.MarkDecorator:
    """Return what runs a test on these releases only."""
    return pytest.mark.parametrize("world", names, indirect=True)


def jvm(world: World) -> JvmProcess:
    """Return the shim's process."""
    return process_of(world.system.app_context(SHIM))


def skip(world: World, seconds: float) -> None:
    """Let time pass, and the shim see it."""
    clock = world.system.clock
    assert isinstance(clock, ClockThatSkips)
    clock.skip(seconds)
    world.host("status")


def is_open(world: World) -> bool:
    """Return whether the one call of a test is open."""
    return bool(world.host("status")["open"] == 1)


class Started:
    """A request that starts the shim's service, and what comes back through its callback."""

    def __init__(self, world: World, capability: str = "desk") -> None:
        self.answers: list[dict[str, Any]] = []
        context = world.system.app_context(AGENT)
        text = request_text(capability, {"how": "silent"}, dialect="S0")
        callback = Extra("pending-intent", context.create_pending_intent(self._receive, Intent()))
        extras = Bundle.of_strings({"mobile-mcp-request": text}).with_extra("mcp_callback", callback)
        self.intent = Intent(component=SERVICE, extras=extras)
        context.start_service(self.intent, foreground=True)
        wait_until(lambda: is_open(world) and world.files_of(TOOL) != b"")

    def _receive(self, sent: Intent) -> None:
        text = sent.extras.get_string("mobile-mcp-response") or ""
        self.answers.append(json.loads(text)["mobile-mcp-response"]["response"])

    def token(self) -> str:
        """Wait for the one answer, and return its token."""
        wait_until(lambda: self.answers)
        (answer,) = self.answers
        return token_of(answer)


def assert_nothing_more(world: World, started: Started) -> None:
    """Check that a minute later there is no second answer."""
    skip(world, 60)
    assert len(started.answers) == 1


def is_agent_in_front(world: World) -> bool:
    """Return whether the windows of the last call are closed, so that the agent may open one."""
    top = world.system.stack.top_record()
    return top is not None and top.match.package.name == AGENT


@pytest.mark.parametrize("capability", ["screen", "radio", "desk", "starter"])
def test_each_kind_of_tool_is_reached_through_each_frontend(world: World, capability: str) -> None:
    arguments, agent = {"how": "well"}, world.agent()
    answer = "started" if capability == "starter" else "did well"
    assert outputs_of(world.ask(capability, arguments)) == {"result": answer}
    wait_until(lambda: is_agent_in_front(world))
    assert outputs_of(world.ask(capability, arguments, carrier="start")) == {"result": answer}
    wait_until(lambda: is_agent_in_front(world))
    opened = agent.call_mmcp_activity(ComponentName(SHIM, MMCP), capability, arguments)
    assert opened.code == RESULT_OK
    assert opened.data is not None
    assert answer in (opened.data.extras.get_string("result") or "")
    wait_until(lambda: is_agent_in_front(world))
    sent = agent.call_broadcast(ComponentName(SHIM, RECEIVER), capability, arguments)
    assert sent.code == RESULT_OK
    assert answer in (sent.data or "")


@only("Android 10", "Android 14")
def test_before_android_16_there_are_no_app_functions(world: World) -> None:
    assert token_of(world.ask("function", {})) == "unavailable"


def test_a_built_shim_finds_its_app_as_it_was_approved(world: World, tmp_path: Path) -> None:
    world.install(sample_package("tally").apk)
    shim = sample_shims(tmp_path, "tally")[0]
    world.install(shim.apk)
    world.grant(AGENT, shim=shim.application_id)
    points = {"player": "Ada", "points": 5}
    for total in (5, 10):
        assert outputs_of(world.ask("add_points", points, shim=shim.application_id))["total"] == total


def test_a_built_shim_asks_a_receiver_for_its_tools(world: World, tmp_path: Path) -> None:
    world.install(sample_package("weather").apk)
    shim = install_weather_shim(world, tmp_path, world.reported_tools())
    assert "Bonn" in str(outputs_of(world.ask("currentWeather", {"location": "Bonn"}, shim=shim)))


def test_a_start_is_answered_also_where_android_forbids_the_foreground(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    refusal = AndroidError("java.lang.IllegalStateException", "not now")
    monkeypatch.setattr(world.system.services, "start_foreground", Mock(side_effect=refusal))
    assert outputs_of(world.ask("desk", {"how": "well"}, carrier="start")) == {"result": "did well"}


def ask(world: World) -> Begun[dict[str, Any]]:
    """Begin a call about which the user is asked."""
    world.host("revoke", caller="any-app", capability="*")
    return Begun(world.ask, "desk", {"how": "well"})


@pytest.mark.parametrize(("state", "value"), [("is_keyguard_shown", True), ("is_interactive", False)])
def test_a_question_that_nobody_sees_is_a_notification_for_two_minutes(
    world: World, state: str, *, value: bool
) -> None:
    setattr(world.system, state, value)
    call = ask(world)
    wait_until(world.system.notifications.all)
    skip(world, 110)
    assert len(world.system.notifications.all()) == 1
    skip(world, 11)
    assert token_of(call.result()) == "needs_user"
    assert world.system.notifications.all() == []


def test_a_question_that_the_user_leaves_is_a_notification(world: World) -> None:
    ask(world)
    jvm(world).call("activity_recreate", activity=number(activity(world, QUESTION)))
    assert world.system.notifications.all() == []
    world.run("input", "keyevent", "HOME")
    wait_until(world.system.notifications.all)
    assert is_open(world)


@only("Android 17")
def test_a_question_ends_before_the_sender_of_a_broadcast_gives_up(world: World) -> None:
    world.host("revoke", caller="any-app", capability="*")
    call = Begun(world.agent().call_broadcast, ComponentName(SHIM, RECEIVER), "desk", {"how": "well"})
    activity(world, QUESTION)
    skip(world, 9)
    result = call.result()
    assert (result.code, result.data) == (0, f"Error: needs_user: {UNANSWERED.text}")
    assert world.files_of(TOOL) == b""


def test_the_deadline_of_a_silent_tool_wakes_the_device_after_half_a_minute(world: World) -> None:
    assert jvm(world).call("next_wake") is None
    call = Begun(world.ask, "desk", {"how": "silent"})
    wait_until(lambda: is_open(world))
    assert 25_000 < jvm(world).call("next_wake") <= 30_000
    skip(world, 25)
    assert is_open(world)
    skip(world, 6)
    assert token_of(call.result()) == "timeout"


@only("Android 14", "Android 17")
def test_when_androids_time_for_the_service_is_over_open_calls_go_on(world: World) -> None:
    started = Started(world)
    jvm(world).call("service_timeout", class_name=SERVICE.class_name, start=1)
    skip(world, 25)
    assert is_open(world)
    skip(world, 6)
    assert started.token() == "timeout"


@only("Android 14", "Android 17")
def test_a_start_begins_the_three_minutes_anew_once_a_minute(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    services = world.system.services
    entered = Mock(wraps=services.start_foreground)
    monkeypatch.setattr(services, "start_foreground", entered)
    Started(world)
    for count, seconds in ((1, 29), (1, 29), (2, 3)):
        skip(world, seconds)
        Started(world)
        assert entered.call_count == count


def test_what_is_open_when_android_ends_the_service_is_interrupted_once(world: World) -> None:
    started = Started(world)
    jvm(world).call("service_destroy", class_name=SERVICE.class_name)
    assert started.token() == "interrupted"
    assert_nothing_more(world, started)


def test_what_was_open_when_the_shim_died_is_interrupted_and_not_run_again(world: World) -> None:
    started = Started(world)
    before = world.files_of(TOOL)
    world.system.end_processes(SHIM, "test")
    intent = write_intent(started.intent)
    jvm(world).call("service_start", class_name=SERVICE.class_name, intent=intent, flags=1, start=1)
    assert started.token() == "interrupted"
    assert_nothing_more(world, started)
    assert world.files_of(TOOL) == before


def activity(world: World, class_name: str) -> ActivityRecord:
    """Wait for an open activity of a class, and return it."""

    def found() -> list[ActivityRecord]:
        opened = [record for task in world.system.stack.tasks() for record in task.activities]
        return [record for record in opened if record.match.name.class_name == class_name and record.instance]

    wait_until(found)
    return found()[-1]


def number(record: ActivityRecord) -> int:
    """Return by which number the JVM knows an activity."""
    assert isinstance(record.instance, JvmActivity)
    return record.instance.number


def answer(tool: Activity) -> None:
    tool.set_result(RESULT_OK, Intent(extras=Bundle.of_strings({"result": "did it"})))
    tool.finish()


def come_back(world: World, record: ActivityRecord, saved: object) -> dict[str, Any]:
    """Make an activity of a process that died anew; return how it ended."""
    name, intent = record.match.name.class_name, write_intent(record.intent)
    ended: dict[str, Any] = jvm(world).call(
        "activity_create", class_name=name, activity=99, intent=intent, saved=saved
    )
    return ended


def test_a_trampoline_that_is_made_anew_goes_on_with_its_call(world: World) -> None:
    started = Started(world, "screen")
    jvm(world).call("activity_recreate", activity=number(activity(world, TRAMPOLINE)))
    skip(world, 1)
    world.system.stack.run(activity(world, f"{TOOL}.Tool"), answer)
    wait_until(lambda: started.answers)
    assert outputs_of(started.answers[0]) == {"result": "did it"}
    assert_nothing_more(world, started)


def test_a_trampoline_that_outlives_the_shim_reports_that_the_call_was_interrupted(world: World) -> None:
    started = Started(world, "screen")
    trampoline = activity(world, TRAMPOLINE)
    saved = jvm(world).call("activity_save", activity=number(trampoline))
    world.system.end_processes(SHIM, "test")
    come_back(world, trampoline, saved)
    assert started.token() == "interrupted"
    assert_nothing_more(world, started)


@pytest.mark.parametrize("first", [TRAMPOLINE, MMCP])
def test_an_mmcp_call_that_outlives_the_shim_is_interrupted_whichever_window_comes_back_first(
    world: World, first: str
) -> None:
    Begun(world.agent().call_mmcp_activity, ComponentName(SHIM, MMCP), "screen", {"how": "silent"})
    windows = [activity(world, TRAMPOLINE), activity(world, MMCP)]
    saved = [(window, jvm(world).call("activity_save", activity=number(window))) for window in windows]
    world.system.end_processes(SHIM, "test")
    for window, state in saved if first == TRAMPOLINE else reversed(saved):
        ended = come_back(world, window, state)
        if window.match.name.class_name == MMCP:
            assert (ended["code"], ["result", "string", INTERRUPTED] in ended["data"]["extras"]) == (0, True)


@only("Android 17")
def test_the_result_of_another_app_is_not_the_tools(world: World) -> None:
    call = Begun(world.ask, "screen", {"how": "silent"})
    trampoline = number(activity(world, TRAMPOLINE))
    data = write_intent(Intent(extras=Bundle.of_strings({"result": "hello"})))
    jvm(world).call("activity_result", activity=trampoline, request=1, code=RESULT_OK, data=data, uid=1)
    assert token_of(call.result()) == "malformed_response"


_WELL = '{"how": "well"}'
_REQUEST = {"mobile-mcp-request": request_text("act", {"how": "well"}, dialect="S0")}
_OPENED, _SENT = {"tool_name": "act", "parameters": _WELL}, {"tool": "act", "params": _WELL}
AGENT_CALLS = {
    "bind": ("Desk", "", _REQUEST, "message"),
    "start": ("Starter", "", _REQUEST, "callback"),
    "activity": ("Tool", "com.example.mMCP.ACTION_TOOL_CALL", _OPENED, "activity-result"),
    "broadcast": ("Radio", "com.example.ACTION_MMCP_INVOKE", _SENT, "broadcast-result"),
}
"""Tool, action, extras, and the event that ends the call, by transport."""


def test_the_agent_app_calls_each_kind_of_tool(world: World) -> None:
    world.install(agent_apk(AGENT_APP, key()))
    world.run("am", "start", "-W", "-n", f"{AGENT_APP}/dev.droidgate.sample.agent.MainActivity")

    def ask(method: str, **values: Any) -> dict[str, Any]:
        return world.host(method, shim=AGENT_APP, provider="computer", **values)

    def newest() -> dict[str, Any]:
        event: dict[str, Any] = ask("log", after=0)["events"][-1]
        return event

    def is_newest(kind: str) -> bool:
        return bool(newest()["kind"] == kind)

    assert ask("hello")["sdk"] == world.system.release.sdk
    offers = {(item["protocol"], item["component"].partition("/")[0]) for item in ask("list")["components"]}
    assert offers >= {("mobile-mcp", TOOL), ("mmcp", SHIM), ("mmcp-broadcast", SHIM)}
    for transport, (tool, action, extras, kind) in AGENT_CALLS.items():
        component = f"{TOOL}/{TOOL}.{tool}"
        ask("send", call=tool, transport=transport, component=component, action=action, extras=extras)
        if transport == "activity":
            window = f"{AGENT_APP}/dev.droidgate.sample.agent.CallActivity"
            world.run("am", "start", "-W", "-n", window, "--es", "call", tool)
        wait_until(partial(is_newest, kind))
        assert ("started" if transport == "start" else "did well") in str(newest())

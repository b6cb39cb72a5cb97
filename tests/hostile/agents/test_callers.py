"""Callers that die, flood or cannot be answered, and tools that are not bound (shim.md 2, 4)."""

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from device_shim.shim_phone.conftest import ON_THE_JVM
from device_shim.shim_phone.hand_made_shim import MMCP_RECEIVER
from device_shim.shim_phone.tool_apps import TOOL, agent_apk, tool_world
from device_shim.shim_phone.world import AGENT, SHIM, World, outputs_of, token_of
from droidgate_phone.apps.agent import NoAnswerError, request_text
from droidgate_phone.apps.shim_runtimes import ShimRuntime
from droidgate_phone.java.intents import Bundle, ComponentName, Extra, Intent
from hostile.shim_service import SERVICE, bound, is_running, send, wait_until_ended
from still_clock import StillClock
from waiting import wait_until

OTHER = "com.example.other"
BURST = 30


def make_world(**more: Any) -> World:
    world = tool_world(**more)
    world.install(agent_apk(OTHER))
    world.grant("any-app")
    world.host("ask", on=False)
    return world


@pytest.fixture
def world(shim_runtime: ShimRuntime) -> Iterator[World]:
    """A phone with a shim that every app may call."""
    world = make_world(shim_runtime=shim_runtime)
    yield world
    world.close()


@pytest.fixture
def short_world(shim_runtime: ShimRuntime) -> Iterator[World]:
    """A phone with a shim whose calls end soon."""
    world = make_world(shim_runtime=shim_runtime, deadline_ms=5_000)
    yield world
    world.close()


def start(world: World, callback: str) -> None:
    """Start the shim's service with a request and a callback."""
    extras = Bundle.of_strings({"mobile-mcp-request": request_text("desk", {"how": "well"}, dialect="S0")})
    extras = extras.with_extra("mcp_callback", Extra("pending-intent", callback))
    world.system.app_context(AGENT).start_service(Intent(component=SERVICE, extras=extras), foreground=True)


def begin(world: World, capability: str, how: str, caller: str = OTHER) -> None:
    """Begin a call whose agent may die, and wait until it is open."""

    def run() -> None:
        with contextlib.suppress(NoAnswerError):
            world.ask(capability, {"how": how}, caller=caller)

    threading.Thread(target=run, daemon=True).start()
    wait_until(lambda: world.host("status")["open"] == 1)


@pytest.mark.parametrize("capability", ["desk", "screen"])
def test_the_death_of_an_agent_ends_its_calls(world: World, capability: str) -> None:
    world.allow_screens()
    world.show_agent()
    begin(world, capability, "silent")
    world.system.end_processes(OTHER, "test")
    wait_until(lambda: world.host("status")["open"] == 0)
    (call,) = world.history(1)
    assert (call["caller"], call["capability"], call["token"]) == (OTHER, capability, "canceled")
    # What waited behind it goes on: the screen is free, and the binding is of nobody else.
    assert outputs_of(world.ask(capability, {"how": "well"})) == {"result": "did well"}


def test_the_window_of_a_call_closes_when_its_agent_dies(world: World) -> None:
    world.allow_screens()
    world.show_agent()
    begin(world, "screen", "silent")
    tool = f"{TOOL}/.Tool"
    wait_until(lambda: tool in world.run("dumpsys", "activity", "activities").stdout)
    world.system.end_processes(OTHER, "test")
    trampoline = "dev.droidgate.shim.backends.TrampolineActivity"
    wait_until(lambda: trampoline not in world.run("dumpsys", "activity", "activities").stdout)


def test_the_death_of_an_agent_ends_no_call_of_another(world: World) -> None:
    binding, answers = bound(world)
    send(binding, request_text("desk", {"how": "silent"}, dialect="S0", request_id="mine"))
    wait_until(lambda: world.host("status")["open"] == 1)
    other, _ = bound(world, OTHER)
    send(other, request_text("desk", {"how": "silent"}, dialect="S0", request_id="mine"))
    wait_until(lambda: world.host("status")["open"] == 2)
    world.system.end_processes(OTHER, "test")
    wait_until(lambda: world.host("status")["open"] == 1)
    world.system.end_processes(TOOL, "test")
    wait_until(lambda: answers)
    assert token_of(answers[0]) == "interrupted"


def test_a_start_and_a_message_of_one_app_may_have_one_id(world: World) -> None:
    world.show_agent()
    binding, _ = bound(world)
    send(binding, request_text("desk", {"how": "silent"}, dialect="S0", request_id="u-1"))
    wait_until(lambda: world.host("status")["open"] == 1)
    started = world.ask("desk", {"how": "well"}, carrier="start", request_id="u-1")
    assert outputs_of(started) == {"result": "did well"}
    assert token_of(world.ask("desk", {"how": "well"}, request_id="u-1")) == "busy"
    binding.unbind()


def test_the_service_stays_until_the_last_start_is_answered(world: World) -> None:
    world.show_agent()
    world.system.uid_states.idle_whitelist.add(SHIM)

    silent = threading.Thread(target=world.ask, args=("desk", {"how": "silent"}), kwargs={"carrier": "start"})
    silent.start()
    wait_until(lambda: world.host("status")["open"] == 1)
    assert outputs_of(world.ask("starter", {"how": "well"}, carrier="start")) == {"result": "started"}
    assert is_running(world)
    world.system.end_processes(TOOL, "test")
    silent.join(60)
    wait_until_ended(world)


def test_an_immutable_callback_is_sent_as_it_is_and_the_tool_does_not_run(world: World) -> None:
    world.show_agent()
    sent: list[Intent] = []
    base = Intent(extras=Bundle.of_strings({"own": "text"}))
    callback = world.system.app_context(AGENT).create_pending_intent(sent.append, base, mutable=False)
    start(world, callback)
    wait_until(lambda: sent)
    assert sent[0].extras.values == base.extras.values
    (call,) = world.history(1)
    assert (call["caller"], call["capability"], call["token"]) == (None, "desk", "invalid_argument")
    assert not world.system.log.of_kind("service-bound")
    wait_until_ended(world)


def test_before_android_12_nobody_knows_that_a_callback_is_immutable() -> None:
    world = make_world(sdk="30")
    world.show_agent()
    sent: list[Intent] = []
    callback = world.system.app_context(AGENT).create_pending_intent(sent.append, mutable=False)
    start(world, callback)
    wait_until(lambda: sent)
    assert [call["token"] for call in world.history(1)] == [None]
    world.close()


def test_every_request_counts_in_its_callers_rate(world: World) -> None:
    binding, answers = bound(world)
    for text in ("{", "[]", '{"mobile-mcp-request":{"version":"2.0","request":{}}}') * 10:
        send(binding, text)
    wait_until(lambda: len(answers) == BURST)
    assert {token_of(answer) for answer in answers} == {"invalid_argument", "unsupported_version"}
    tokens = [token_of(world.ask("nothing", {})) for _ in range(4)]
    assert "busy" in tokens
    assert outputs_of(world.ask("desk", {"how": "well"}, caller=OTHER)) == {"result": "did well"}
    binding.unbind()


def test_calls_through_the_host_have_a_rate_too(world: World) -> None:
    tokens = []
    for _ in range(BURST + 20):
        response = world.ask_host("nothing", {})
        tokens.append(token_of(response))
    assert set(tokens) == {"unknown_capability", "busy"}
    assert outputs_of(world.ask("desk", {"how": "well"})) == {"result": "did well"}


def test_a_long_request_that_is_too_much_is_answered_with_its_ids(world: World) -> None:
    binding, answers = bound(world)
    for number in range(BURST + 20):
        send(binding, request_text("nothing", {"a": "x" * 10_000}, dialect="S0", request_id=f"u-{number}"))
    wait_until(lambda: len(answers) == BURST + 20)
    busy = [item for item in answers if token_of(item) == "busy"]
    assert busy
    assert all(item["id"].startswith("u-") and item["capability"]["id"] == "nothing" for item in busy)
    binding.unbind()


def started(world: World, component: str) -> dict[str, Any]:
    """Return the record of the last start of a service of the tool app."""
    records = world.system.log.of_kind("service-started")
    return [record for record in records if component in str(record["component"])][-1]


@pytest.mark.parametrize(
    ("capability", "service", "foreground"), [("starter", ".Starter", True), ("plain", ".Plain", False)]
)
def test_only_a_tool_with_a_foreground_type_is_started_for_the_foreground(
    world: World, capability: str, service: str, foreground: Any
) -> None:
    world.system.uid_states.idle_whitelist.add(SHIM)
    # A plain start is for an app that runs, or that is exempt.
    world.system.uid_states.idle_whitelist.add(TOOL)
    world.show_agent()
    assert outputs_of(world.ask(capability, {"how": "well"})) == {"result": "started"}
    assert started(world, service)["foreground"] is foreground


def test_a_plain_start_that_android_refuses_is_unavailable(world: World) -> None:
    assert token_of(world.ask("plain", {"how": "well"})) == "unavailable"


@pytest.mark.parametrize("sdk", ["26", "33"], ids="API {}".format)
def test_a_plain_start_is_plain_before_android_14_too(sdk: str) -> None:
    world = make_world(sdk=sdk)
    world.show_agent()
    world.system.uid_states.idle_whitelist.update({SHIM, TOOL})
    assert outputs_of(world.ask("plain", {"how": "well"})) == {"result": "started"}
    assert started(world, ".Plain")["foreground"] is False
    world.close()


def test_a_broadcast_reaches_an_app_that_was_stopped(world: World) -> None:
    world.run("am", "force-stop", TOOL)
    assert outputs_of(world.ask("radio", {"how": "well"})) == {"result": "did well"}
    (delivered,) = world.system.log.of_kind("broadcast-delivered")
    # FLAG_EXCLUDE_STOPPED_PACKAGES, which Android adds, and FLAG_INCLUDE_STOPPED_PACKAGES, which wins.
    assert "flg=0x30" in str(delivered["intent"])


@pytest.mark.slow
@ON_THE_JVM
def test_the_journal_is_not_written_where_nothing_stays_open(short_world: World) -> None:
    world = short_world
    journal = f"/data/data/{SHIM}/files/journal.json"
    assert token_of(world.ask("nothing", {})) == "unknown_capability"
    assert not world.system.files.exists(journal)
    # Only a start can be answered after the process has died.
    thread = threading.Thread(
        target=lambda: world.ask("desk", {"how": "silent"}, carrier="start", caller=OTHER), daemon=True
    )
    world.grant("any-app")
    world.system.uid_states.idle_whitelist.add(OTHER)
    thread.start()
    wait_until(lambda: world.system.files.exists(journal) and b"desk" in world.system.files.read(journal))
    thread.join(60)
    wait_until(lambda: b"desk" not in world.system.files.read(journal))


@pytest.mark.parametrize(("caller", "token"), [("any-app", "timeout"), (AGENT, "needs_user")])
def test_a_broadcast_is_answered_before_its_sender_gives_up(caller: str, token: str) -> None:
    world = tool_world(clock=StillClock(), deadline_ms=60_000, shim={"more": MMCP_RECEIVER})
    world.grant(caller)
    world.run("pm", "grant", SHIM, "android.permission.POST_NOTIFICATIONS")
    receiver = ComponentName(SHIM, "dev.droidgate.shim.frontends.MmcpReceiver")
    result = world.agent().call_broadcast(receiver, "desk", {"how": "silent"})
    assert result.code == 0
    assert (result.data or "").startswith(f"Error: {token}: no")
    (call,) = world.history(1)
    assert (call["token"], call["ms"]) == (token, 9_000)
    assert world.host("status")["open"] == 0
    world.close()

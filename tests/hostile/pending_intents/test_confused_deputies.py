"""A start carries a PendingIntent of an app that did not send it (shim.md 3): nobody gains by it."""

import json
import threading
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import pytest

from device_shim.shim_phone.hand_made_shim import make_shim
from device_shim.shim_phone.tool_apps import TOOL, ToolApp, agent_apk, tool_apk, tool_routes
from device_shim.shim_phone.world import SHIM, World, key, outputs_of, token_of
from droidgate_phone.apps.agent import request_text
from droidgate_phone.apps.shim_runtimes import ShimRuntime
from droidgate_phone.java.intents import Bundle, Extra, Intent
from droidgate_phone.system.behaviour import Service
from hostile.shim_service import SERVICE, wait_until_ended
from waiting import wait_until

ATTACKER = "com.example.attacker"
VICTIM = "com.example.victim"
OWN = {"own": "text", "amount": "1"}
# What an answer adds (shim.md 2).
ANSWER = {"mobile-mcp-response", "mcp_request_id"}


class KeptCallbacks(Service):
    """Keeps the callbacks that it is started with, and answers nobody."""

    KEPT: ClassVar[list[str]] = []

    def on_start_command(self, intent: Intent) -> None:
        self.KEPT.append(str(intent.extras.values["mcp_callback"].value))


class HostileTool(ToolApp):
    """The tool app with a service that keeps what belongs to the shim."""

    SERVICES: ClassVar = {**ToolApp.SERVICES, f"{TOOL}.Starter": KeptCallbacks}


@pytest.fixture
def world(shim_runtime: ShimRuntime) -> Iterator[World]:
    """A phone with a shim that asks nobody, an app that may call everything, and one that may nothing."""
    world = World(behaviours={TOOL: HostileTool}, shim_runtime=shim_runtime)
    world.install(tool_apk())
    routes = tool_routes()
    for route in routes:
        if route["id"] == "starter":  # which never answers
            route["deadline_ms"] = 3_000
    world.install(make_shim(routes, key=key()))
    for package in (VICTIM, ATTACKER):
        world.install(agent_apk(package))
    world.host("ask", on=False)
    world.grant(VICTIM)
    # Each may start services for the foreground.
    world.system.uid_states.idle_whitelist.update({VICTIM, ATTACKER, SHIM})
    # The shim sees an app, and so its certificate, once the app has called it.
    assert outputs_of(world.ask("radio", {"how": "well"}, caller=VICTIM))
    # The history has the call only after the caller has its answer.
    world.history(1)
    KeptCallbacks.KEPT.clear()
    yield world
    world.close()


def calls_after_the_first(world: World, count: int = 0) -> list[dict[str, Any]]:
    """Return the calls of the shim's history without that of the fixture, once there are so many."""
    return world.history(1 + count)[1:]


def victims_callback(world: World, sent: list[Intent]) -> str:
    context = world.system.app_context(VICTIM)
    return context.create_pending_intent(sent.append, Intent(extras=Bundle.of_strings(OWN)))


def start(
    world: World,
    callback: str,
    capability: str,
    *,
    sender: str = ATTACKER,
    more: Mapping[str, str] | None = None,
) -> None:
    """Start the shim's service with a request and a callback that need not be the sender's."""
    text = request_text(capability, {"how": "well"}, dialect="S0")
    extras = Bundle.of_strings({**(more or {}), "mobile-mcp-request": text})
    extras = extras.with_extra("mcp_callback", Extra("pending-intent", callback))
    world.system.app_context(sender).start_service(Intent(component=SERVICE, extras=extras), foreground=True)


def response_in(intent: Intent) -> dict[str, Any]:
    text = intent.extras.get_string("mobile-mcp-response") or "{}"
    response: dict[str, Any] = json.loads(text)["mobile-mcp-response"]["response"]
    return response


def runs_of_tools(world: World) -> int:
    kinds = ("service-bound", "activity-started", "broadcast-delivered")
    return sum(TOOL in repr(item) for kind in kinds for item in world.system.log.of_kind(kind))


def test_the_grant_of_a_callbacks_creator_does_not_let_a_sender_change_anything(world: World) -> None:
    sent: list[Intent] = []
    before = runs_of_tools(world)
    start(world, victims_callback(world, sent), "desk")
    wait_until(lambda: sent)
    assert token_of(response_in(sent[0])) == "denied"
    assert runs_of_tools(world) == before
    wait_until(lambda: calls_after_the_first(world))
    (call,) = calls_after_the_first(world, 1)
    assert (call["caller"], call["token"]) == (None, "denied")


def test_what_a_sender_may_have_read_reaches_the_callbacks_creator_alone(world: World) -> None:
    sent: list[Intent] = []
    start(world, victims_callback(world, sent), "radio")
    wait_until(lambda: sent)
    assert outputs_of(response_in(sent[0])) == {"result": "did well"}
    packages = {item["package"] for item in world.system.log.of_kind("pending-intent-sent")}
    assert packages == {VICTIM}


def test_a_sender_puts_nothing_of_its_own_into_another_apps_intent(world: World) -> None:
    sent: list[Intent] = []
    start(world, victims_callback(world, sent), "radio", more={"own": "forged", "amount": "1000", "new": "x"})
    wait_until(lambda: sent)
    values = {name: first.value for name, first in sent[0].extras.values.items()}
    assert {name: values[name] for name in OWN} == OWN
    assert values.keys() - OWN.keys() <= ANSWER
    assert (sent[0].action, sent[0].component, sent[0].data) == (None, None, None)


@pytest.mark.parametrize("callback", ["pending-intent-0000000000000000", "", "messenger-0000000000000000"])
def test_a_callback_that_the_system_does_not_know_runs_nothing(world: World, callback: str) -> None:
    before = runs_of_tools(world)
    for capability in ("desk", "radio"):
        start(world, callback, capability)
    wait_until_ended(world)
    assert runs_of_tools(world) == before
    assert calls_after_the_first(world) == []


@pytest.mark.slow
def test_the_shims_own_callback_gives_a_tool_no_rights_of_the_shim(world: World) -> None:
    answers: list[dict[str, Any]] = []
    outer = threading.Thread(
        target=lambda: answers.append(world.ask("starter", {"how": "well"}, caller=VICTIM))
    )
    outer.start()
    wait_until(lambda: KeptCallbacks.KEPT)
    before = runs_of_tools(world)
    start(world, KeptCallbacks.KEPT[0], "desk", sender=ATTACKER)
    outer.join(120)
    assert answers[0]["status"] == "failure"
    assert {call["token"] for call in calls_after_the_first(world, 2) if call["capability"] == "desk"} == {
        "denied"
    }
    assert runs_of_tools(world) == before


def test_starts_in_somebodys_name_cost_their_bound_calls_nothing(world: World) -> None:
    sent: list[Intent] = []
    callback = victims_callback(world, sent)
    for _ in range(60):
        start(world, callback, "desk")
    wait_until(lambda: len(sent) == 60)
    assert {token_of(response_in(item)) for item in sent} <= {"denied", "busy"}
    assert outputs_of(world.ask("desk", {"how": "well"}, caller=VICTIM)) == {"result": "did well"}

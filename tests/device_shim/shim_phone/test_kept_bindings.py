"""A binding to a tool app is kept for each agent, and with it what the tally app keeps for that agent."""

import contextlib
import json
import re
from pathlib import Path

import pytest

from device_shim.phone_system.phone_system_apps import uid_of
from device_shim.shim_phone.tool_apps import agent_apk
from device_shim.shim_phone.world import (
    AGENT,
    Begun,
    ClockThatSkips,
    World,
    outputs_of,
    sample_shims,
    token_of,
)
from droidgate_phone.apps.agent import request_text
from droidgate_phone.apps.shim_runtimes import ShimRuntime
from droidgate_phone.common.faults import Faults
from droidgate_phone.java.app_values import AppFunctionError
from droidgate_phone.java.intents import ComponentName, Intent
from droidgate_phone.system.behaviour import App
from waiting import wait_until

TALLY = "dev.droidgate.sample.tally"
SHIM = f"dev.droidgate.shim.of.{TALLY}"
OTHER_AGENT = "com.example.other"


@pytest.fixture
def clock() -> ClockThatSkips:
    return ClockThatSkips()


@pytest.fixture
def world(shim_runtime: ShimRuntime, clock: ClockThatSkips, tmp_path: Path) -> World:
    """A phone with the tally app, a shim of it, and two agents that may call it."""
    return _world(tmp_path, clock=clock, shim_runtime=shim_runtime)


def _world(folder: Path, sdk: str = "36.1", **more: object) -> World:
    world = World("tally", sdk=sdk, **more)  # type: ignore[arg-type]
    world.install(sample_shims(folder, "tally", advertise=("mmcp-broadcast", "appfunctions"))[0].apk)
    world.install(agent_apk(OTHER_AGENT))
    for agent in (AGENT, OTHER_AGENT):
        world.grant(agent, shim=SHIM)
    return world


def _add(world: World, points: int, caller: str = AGENT) -> int:
    answer = world.ask("add_points", {"player": "Ada", "points": points}, shim=SHIM, caller=caller)
    return int(outputs_of(answer)["total"])


def _total(world: World, caller: str = AGENT) -> int:
    return int(outputs_of(world.ask("read_total", {"player": "Ada"}, shim=SHIM, caller=caller))["total"])


def _bindings(world: World) -> int:
    return sum(len(item.bindings) for item in world.system.services.running() if item.name.package == TALLY)


def test_what_an_agent_leaves_with_a_tool_is_there_at_its_next_call(world: World) -> None:
    assert (_add(world, 5), _add(world, -2), _total(world)) == (5, 3, 3)
    assert _bindings(world) == 1
    world.ask("start_over", {}, shim=SHIM)
    assert _total(world) == 0


def test_no_other_agent_finds_it_whether_it_comes_through_the_shim_or_directly(world: World) -> None:
    assert _add(world, 5) == 5
    assert _total(world, OTHER_AGENT) == 0
    assert _add(world, 70, OTHER_AGENT) == 70
    component = ComponentName(TALLY, f"{TALLY}.TallyService")
    request = request_text("read_total", {"player": "Ada"}, dialect="S0")
    assert '"value":0' in world.agent().call_bound(component, request)
    assert '"value":0' in world.host("call", shim=SHIM, request=request)["response"]
    assert (_total(world), _total(world, OTHER_AGENT)) == (5, 70)
    assert _bindings(world) == 3


def _let_all_go(world: World, clock: ClockThatSkips) -> None:
    """Let time pass until the shim is bound to no tool."""

    def all_are_gone() -> bool:
        # Time may pass before the shim has seen to it that its calls are over: then a minute begins anew.
        clock.skip(61)
        with contextlib.suppress(AssertionError):
            wait_until(lambda: _bindings(world) == 0, seconds=1)
        return _bindings(world) == 0

    wait_until(all_are_gone)


def _identifiers(world: World) -> set[str | None]:
    records = [item for item in world.system.services.running() if item.name.package == TALLY]
    return {
        binder.intent.identifier for item in records for binder in item.binders.values() if binder.bindings
    }


def test_an_identifier_says_nothing_of_its_agent_and_stays_while_the_shim_lives(
    world: World, clock: ClockThatSkips
) -> None:
    _add(world, 5)
    _add(world, 70, OTHER_AGENT)
    first = _identifiers(world)
    assert len(first) == 2
    for identifier in first:
        assert re.fullmatch("[0-9a-f]{64}", identifier or "")

    _let_all_go(world, clock)
    _add(world, 5)
    _add(world, 70, OTHER_AGENT)
    assert _identifiers(world) == first
    _let_all_go(world, clock)
    world.system.end_processes(SHIM, "test")
    _add(world, 5)
    assert not _identifiers(world) & first


def test_an_app_that_binds_with_an_agents_uid_gets_no_binder_of_that_agent(world: World) -> None:
    _add(world, 5)
    component = ComponentName(TALLY, f"{TALLY}.TallyService")
    intent = Intent("mobile.mcp.SERVICE", component, identifier=str(uid_of(world.system, AGENT)))
    other = world.system.app_context(OTHER_AGENT).bind_service(intent, lambda _: None, lambda: None)
    assert other is not None
    assert len(_identifiers(world)) == 2
    other.unbind()


def test_whoever_android_does_not_name_has_a_binding_for_one_call(world: World) -> None:
    world.grant("any-app", shim=SHIM)
    receiver = ComponentName(SHIM, "dev.droidgate.shim.frontends.MmcpReceiver")

    def total_after(points: int) -> object:
        reported = world.agent().call_broadcast(receiver, "add_points", {"player": "Ada", "points": points})
        assert reported.code == -1, reported
        return json.loads(reported.data or "")["total"]

    assert (total_after(5), total_after(70)) == (5, 70)
    wait_until(lambda: _bindings(world) == 0)


def test_unseen_agents_with_the_same_hash_have_bindings_of_their_own(
    world: World,
) -> None:
    # Java gives both names one hash.
    first, other = "com.acme.Aagent", "com.acme.BBgent"
    for name in (first, other):
        world.install(agent_apk(name))
        world.grant(name, shim=SHIM)
        world.lend_shell_identity(name)

    def add(caller: str, points: int) -> object:
        outcome = world.execute(SHIM, "add_points", {"player": "Ada", "points": points}, caller=caller)
        assert not isinstance(outcome, AppFunctionError), outcome
        return outcome["androidAppfunctionsReturnValue"][0]["total"]

    assert [add(first, 5), add(other, 70), add(first, 1)] == [[5], [70], [6]]
    assert _bindings(world) == 2


def test_it_is_gone_when_the_agent_was_idle_for_a_minute_and_not_before(
    world: World, clock: ClockThatSkips
) -> None:
    _add(world, 5)
    _add(world, 70, OTHER_AGENT)
    for _ in range(3):
        clock.skip(30)
        assert _total(world) == 5
    wait_until(lambda: _bindings(world) == 1)
    assert (_total(world), _total(world, OTHER_AGENT)) == (5, 0)
    assert _add(world, 1, OTHER_AGENT) == 1

    _let_all_go(world, clock)
    assert (_total(world), _total(world, OTHER_AGENT)) == (0, 0)


def test_the_death_of_the_tool_fails_each_open_call_once_and_takes_what_it_kept(world: World) -> None:
    _add(world, 5)
    world.system.faults = Faults(silent=frozenset({TALLY}))
    calls = [Begun(world.ask, "add_points", {"player": "Ada", "points": 1}, shim=SHIM) for _ in range(3)]
    wait_until(lambda: len(world.system.log.of_kind("app-silent")) == len(calls))
    assert world.host("status", shim=SHIM)["open"] == len(calls)
    world.system.end_processes(TALLY, "test")
    tokens = [token_of(call.result()) for call in calls]
    assert tokens == ["interrupted"] * 3
    assert world.host("status", shim=SHIM)["open"] == 0
    assert [item["token"] for item in world.history(4, shim=SHIM)] == [None, *tokens]
    world.system.faults = Faults()
    assert _total(world) == 0


def test_before_android_10_the_agents_of_one_shim_are_one_to_a_tool(tmp_path: Path) -> None:
    world = _world(tmp_path, sdk="26")
    assert _add(world, 5) == 5
    assert _total(world, OTHER_AGENT) == 5


class _TallyWithoutCode(App):
    """An app whose behaviour the phone does not have."""

    PACKAGE = TALLY


def test_an_app_without_a_behaviour_is_reported_as_such_and_not_as_one_to_open(tmp_path: Path) -> None:
    world = _world(tmp_path, behaviours={TALLY: _TallyWithoutCode})
    answer = world.ask("read_total", {"player": "Ada"}, shim=SHIM, caller=AGENT)
    assert "the virtual phone does not model the code of service" in json.dumps(answer)

"""Which routes bring a tool of mMCP to the screen (reference android-runtime 1.2)."""

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from device_shim.shim_phone.hand_made_shim import make_shim
from device_shim.shim_phone.tool_apps import (
    TOOL,
    Desk,
    Radio,
    Starter,
    ToolApp,
    tool_apk,
    tool_routes,
    tool_world,
)
from device_shim.shim_phone.world import (
    AGENT,
    LENDING_FLAG,
    SHELL_SHIM,
    SHIM,
    WEATHER,
    Begun,
    World,
    key,
    outputs_of,
    sample_files,
    token_of,
)
from droidgate.shims.source_apps import read_source_apps
from droidgate_phone.apps.shim.shim_discovery import digest_of
from droidgate_phone.apps.shim_runtimes import ShimRuntime
from droidgate_phone.common.faults import Faults
from droidgate_phone.java.app_values import BroadcastResult, Message
from droidgate_phone.java.intents import Bundle, ComponentName, Extra, Intent
from droidgate_shim.builder.shim_choices import ShimOptions
from droidgate_shim.builder.shims import build_bare_shim, build_shims
from droidgate_shim.builder.source_app import complete_broadcast
from still_clock import StillClock
from waiting import wait_until

ListedTool = tuple[str, str | None, str | None]


def _world(*, deadline_ms: int = 10_000, **more: Any) -> World:
    world = tool_world(deadline_ms=deadline_ms, **more)
    world.grant("any-app")
    return world


@pytest.fixture
def world(shim_runtime: ShimRuntime) -> World:
    """A phone with a shim that may open no screen of its own."""
    return _world(shim_runtime=shim_runtime)


@pytest.fixture
def unwatched(shim_runtime: ShimRuntime) -> World:
    """The same, for tests that only wait; the engine in Python then need not, and its clock jumps."""
    clock = StillClock() if shim_runtime == "python" else None
    return _world(shim_runtime=shim_runtime, clock=clock, deadline_ms=6_000)


@pytest.mark.slow
def test_a_visible_agent_lends_its_screen_by_the_bind_flag_only(unwatched: World) -> None:
    unwatched.show_agent()
    assert token_of(unwatched.ask("screen", {"how": "well"})) == "needs_user"
    assert outputs_of(unwatched.ask("screen", {"how": "well"}, flags=LENDING_FLAG)) == {"result": "did well"}


@pytest.mark.slow
def test_an_agent_in_the_background_has_no_screen_to_lend(unwatched: World) -> None:
    assert token_of(unwatched.ask("screen", {"how": "well"}, flags=LENDING_FLAG)) == "needs_user"


@pytest.mark.parametrize(
    ("sdk", "is_visible"), [("26", False), ("33", True)], ids=["Android 8", "Android 13"]
)
def test_before_android_14_a_visible_agent_needs_no_flag_and_before_10_no_screen(
    sdk: str, *, is_visible: bool
) -> None:
    world = _world(sdk=sdk)
    if is_visible:
        world.show_agent()
    assert outputs_of(world.ask("screen", {"how": "well"})) == {"result": "did well"}


@pytest.mark.slow
def test_a_tap_on_the_notification_opens_the_tool(world: World) -> None:
    world.run("pm", "grant", SHIM, "android.permission.POST_NOTIFICATIONS")
    call = Begun(world.ask, "screen", {"how": "well"})
    wait_until(world.system.notifications.all)
    (posted,) = world.system.notifications.all()
    world.system.notifications.tap(posted)
    assert outputs_of(call.result()) == {"result": "did well"}
    assert world.system.notifications.all() == []


@pytest.mark.slow
def test_a_notification_that_nobody_taps_goes_with_the_call(unwatched: World) -> None:
    unwatched.run("pm", "grant", SHIM, "android.permission.POST_NOTIFICATIONS")
    message = unwatched.ask("screen", {"how": "well"})["message"]
    assert message == "needs_user: nobody tapped the notification that opens the app"
    wait_until(lambda: not unwatched.system.notifications.all())


@pytest.mark.slow
def test_what_the_user_has_to_allow_is_named_where_no_window_opens(unwatched: World) -> None:
    message = unwatched.ask("screen", {"how": "well"})["message"]
    assert message.startswith("needs_user: Android does not let the shim open a window")
    assert "allow its notifications" in message


def _revoke(world: World) -> None:
    world.host("revoke", caller="any-app", capability="*")
    world.host("ask", on=False)


def _replace(world: World, apk: bytes) -> None:
    world.system.packages.uninstall(TOOL)
    world.install(apk)


CHANGES: dict[str, tuple[Callable[[World], object], str]] = {
    "revoked": (_revoke, "denied"),
    "switched off": (lambda world: world.switch_off("screen"), "disabled"),
    "uninstalled": (lambda world: world.system.packages.uninstall(TOOL), "unavailable"),
    "another signer": (lambda world: _replace(world, tool_apk(signer="second")), "unavailable"),
    "another declaration": (
        lambda world: world.install(tool_apk(descriptor='{"tools":[1]}', version=2)),
        "needs_approval",
    ),
}


@pytest.mark.parametrize("change", [*CHANGES])
def test_what_changes_while_calls_wait_for_a_tap_or_in_the_queue_counts(world: World, change: str) -> None:
    world.run("pm", "grant", SHIM, "android.permission.POST_NOTIFICATIONS")
    calls = [Begun(world.ask, "screen", {"how": "well"}) for _ in range(3)]
    wait_until(lambda: world.system.notifications.all() and world.host("status")["open"] == len(calls))
    (posted,) = world.system.notifications.all()
    make, token = CHANGES[change]
    make(world)
    world.system.notifications.tap(posted)
    assert [token_of(call.result()) for call in calls] == [token] * len(calls)
    assert change == "uninstalled" or world.files_of(TOOL) == b""
    assert world.system.notifications.all() == []


def test_a_window_without_a_call_calls_nothing(world: World) -> None:
    world.allow_screens()
    name = ComponentName(SHIM, "dev.droidgate.shim.backends.TrampolineActivity")
    world.system.app_context(SHIM).start_activity(Intent(component=name, flags=0x10000000))
    wait_until(lambda: len(world.system.log.of_kind("activity-finished")) == 1)
    assert world.files_of(TOOL) == b""


class _Gate:
    """Where a tool waits before it can be called, and what its receiver says about itself."""

    def __init__(self) -> None:
        self.reached, self.is_open = threading.Event(), threading.Event()
        self.description = "Act."

    def wait(self) -> None:
        self.reached.set()
        assert self.is_open.wait(60)


def _tool_behind(gate: _Gate) -> type[ToolApp]:
    class SlowDesk(Desk):
        def on_bind(self, intent: Intent) -> Callable[[Message], None]:
            gate.wait()
            return super().on_bind(intent)

    class SlowStarter(Starter):
        def on_bind(self, intent: Intent) -> None:
            del intent
            gate.wait()

    class ListedRadio(Radio):
        def on_receive(self, intent: Intent, current: BroadcastResult) -> BroadcastResult | None:
            if intent.action != "com.example.ACTION_MMCP_DISCOVERY":
                return super().on_receive(intent, current)
            gate.wait()
            listed = Bundle.of_strings({"act.description": gate.description})
            return BroadcastResult(-1, None, listed.with_extra("tools", Extra("string[]", ("act",))))

    class SlowTool(ToolApp):
        RECEIVERS = {f"{TOOL}.Radio": ListedRadio}
        SERVICES = {f"{TOOL}.Desk": SlowDesk, f"{TOOL}.Starter": SlowStarter}

    return SlowTool


def _world_behind(gate: _Gate, shim_runtime: ShimRuntime) -> World:
    world = World(behaviours={TOOL: _tool_behind(gate)}, shim_runtime=shim_runtime)
    world.install(tool_apk())
    routes = tool_routes(deadline_ms=30_000)
    for route in routes:
        if route["id"] == "radio":
            route["target"]["digest"] = digest_of([["act", gate.description, None]])
    world.install(make_shim(routes, key=key()))
    world.system.uid_states.idle_whitelist.update({SHIM, TOOL})
    world.grant("any-app")
    world.host("ask", on=False)
    return world


@pytest.mark.parametrize("change", ["revoked", "switched off"])
@pytest.mark.parametrize("capability", ["desk", "starter", "radio"])
def test_what_changes_while_a_tool_is_bound_or_asked_for_its_tools_counts(
    shim_runtime: ShimRuntime, capability: str, change: str
) -> None:
    gate = _Gate()
    world = _world_behind(gate, shim_runtime)
    make, token = CHANGES[change]
    call = Begun(world.ask, capability, {"how": "well"})
    wait_until(gate.reached.is_set)
    if change == "revoked":
        make(world)
    else:
        world.switch_off(capability)
    gate.is_open.set()
    assert token_of(call.result()) == token
    assert world.files_of(TOOL) == b""


def test_a_receiver_is_asked_for_its_tools_again_after_each_installation(shim_runtime: ShimRuntime) -> None:
    gate = _Gate()
    gate.is_open.set()
    world = _world_behind(gate, shim_runtime)
    assert outputs_of(world.ask("radio", {"how": "well"})) == {"result": "did well"}
    gate.description = "Sell what was acted."
    assert outputs_of(world.ask("radio", {"how": "well"})) == {"result": "did well"}
    # Of the same version, as a developer installs it.
    world.install(tool_apk())
    assert token_of(world.ask("radio", {"how": "well"})) == "needs_approval"


def test_before_android_13_notifications_need_no_permission() -> None:
    world = _world(sdk="30")
    assert world.host("status")["access"]["notifications"] is True


def test_the_shim_sees_what_the_user_allowed(world: World) -> None:
    names = ("notifications", "overlay", "battery_exempt", "execute_app_functions")
    assert world.host("status")["access"] == dict.fromkeys(names, False)
    world.allow_screens()
    world.run("pm", "grant", SHIM, "android.permission.POST_NOTIFICATIONS")
    world.run("dumpsys", "deviceidle", "whitelist", f"+{SHIM}")
    with world.instrumented():
        access = world.host("status")["access"]
        lender = world.host("status", shim=SHELL_SHIM)["access"]
    # The right to call app functions is the other app's, which calls them for this one.
    assert access == {**dict.fromkeys(access, True), "execute_app_functions": False}
    assert lender["execute_app_functions"] is True
    assert world.host("status", shim=SHELL_SHIM)["access"]["execute_app_functions"] is False


def install_weather_shim(world: World, folder: Path, tools: Sequence[ListedTool]) -> str:
    """Install a shim of the weather app, whose receiver listed these tools; return its application id."""
    (source,) = read_source_apps(sample_files(folder, "weather"))
    app = complete_broadcast(source, f"{WEATHER}.WeatherReceiver", tools)
    (shim,) = build_shims([app], ShimOptions(), key())
    world.install(shim.apk)
    world.grant(AGENT, shim=shim.application_id)
    return shim.application_id


def test_a_receivers_tools_are_discovered_by_the_shim_and_approved_by_what_they_reported(
    tmp_path: Path,
) -> None:
    world = World("weather")
    bare = build_bare_shim(key())
    world.install(bare.apk)
    component = f"{WEATHER}/{WEATHER}.WeatherReceiver"
    reported = world.host("discover-broadcast", shim=bare.application_id, component=component)["tools"]
    assert [item[0] for item in reported] == ["currentWeather", "forecast", "warmestPlace"]
    shim = install_weather_shim(world, tmp_path, [(item[0], item[1], item[2]) for item in reported])
    (state,) = world.host("status", shim=shim)["targets"]
    assert state["state"] == "as-approved"
    assert "Bonn" in str(outputs_of(world.ask("currentWeather", {"location": "Bonn"}, shim=shim)))


@pytest.mark.slow
def test_a_flood_of_one_app_waits_for_a_discovery_in_a_short_line(
    tmp_path: Path, shim_runtime: ShimRuntime
) -> None:
    world = World("weather", shim_runtime=shim_runtime)
    shim = install_weather_shim(world, tmp_path, world.reported_tools())
    world.system.faults = Faults(silent=frozenset({WEATHER}))
    tokens: list[str] = []

    def ask() -> None:
        tokens.append(token_of(world.ask("currentWeather", {"location": "Bonn"}, shim=shim)))

    threads = [threading.Thread(target=ask) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert tokens[:4] == ["busy"] * 4
    assert "busy" not in tokens[4:]

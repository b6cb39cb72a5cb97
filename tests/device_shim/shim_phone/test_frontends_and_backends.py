"""Every frontend of a shim reaches every kind of app behind it; shim.md 9 shows what runs here."""

import contextlib
import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from device_shim.phone_apps.pdf_files import pdf_with
from device_shim.shim_phone.hand_made_shim import (
    MMCP_ACTIVITY,
    MMCP_RECEIVER,
    function_service,
    make_shim,
    route,
)
from device_shim.shim_phone.tool_apps import agent_apk
from device_shim.shim_phone.world import (
    AGENT,
    CLOCK_IN,
    LENDING_FLAG,
    PDF_TOOL,
    PLAIN_NOTES,
    SHIM,
    WEATHER,
    World,
    code_of,
    key,
    outputs_of,
    sample_files,
)
from droidgate.shims.source_apps import read_source_apps
from droidgate_mappings.tables.reach import load_shim_table
from droidgate_mmcp.shim_backend import BroadcastListing
from droidgate_phone.apps.shim.shim_discovery import Tools, digest_of
from droidgate_phone.apps.shim_runtimes import ShimRuntime
from droidgate_phone.common.faults import Faults
from droidgate_phone.java.app_values import AppFunctionError
from droidgate_phone.java.intents import ComponentName, Intent
from gateway.calls.phones_with_shims import weather_with_app_actions
from waiting import wait_until

TABLE = load_shim_table()
FRONTENDS = {frontend.id: frontend for frontend in TABLE.frontends}
BACKENDS = {backend.id: backend for backend in TABLE.backends}
CELLS = [(cell.frontend, cell.backend) for cell in TABLE.cells]
DOCUMENT = Path(__file__).parents[3] / "docs" / "reference" / "shim.md"
PDF = f"/sdcard/Android/data/{PDF_TOOL}/made.pdf"
DAY = "2026-02-03"


def _digests(folder: Path) -> Mapping[str, Mapping[str, Any]]:
    """Return what of each source app is approved, as the builder's reader finds it in the APK."""
    weather = folder / "weather.apk"
    weather.write_bytes(weather_with_app_actions(folder))
    apps = read_source_apps([*sample_files(folder, "clock-in", "notes-legacy", "pdf-tool"), str(weather)])
    return {
        app.package: {
            "package": app.package,
            "signer": app.signer,
            "version_code": app.version_code,
            "digest": next(iter(app.digests.values()), ""),
        }
        for app in apps
    }


TEXT = {"kind": "text", "name": "result"}
ROUTES: tuple[tuple[str, str, dict[str, Any], tuple[str, ...], int], ...] = (
    ("pages", PDF_TOOL, {"kind": "mmcp-activity", "component": f"{PDF_TOOL}/{PDF_TOOL}.ToolActivity",
     "tool": "page_count"}, ("path",), 30_000),
    ("weather", WEATHER, {"kind": "mmcp-broadcast", "component": f"{WEATHER}/{WEATHER}.WeatherReceiver",
     "tool": "currentWeather"}, ("location",), 10_000),
    ("note", PLAIN_NOTES, {"kind": "app-function", "package": PLAIN_NOTES, "function": "createNote"},
     ("title", "content"), 30_000),
    ("make_up", CLOCK_IN, {"kind": "mobile-mcp", "component": f"{CLOCK_IN}/{CLOCK_IN}.ClockInService",
     "capability": "make_up_clock_in", "dialect": "S0"}, ("date",), 30_000),
    ("show", WEATHER, {"kind": "app-action", "package": WEATHER, "action": "SHOW",
     "starts": [{"needs": {"place": None}, "intent": [
         f"#Intent;action=;component={WEATHER}/{WEATHER}.MainActivity;launchFlags=0x10000000",
         ["place", ";S.place=", ""], ";end"]}]}, ("place",), 30_000),
)  # fmt: skip
"""Id, app, backend, parameters, and deadline in ms of each route."""


def _routes(world: World, targets: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    target = {**targets[WEATHER], "digest": _weather_digest(world)}
    return [
        route(
            name,
            backend,
            target if backend["kind"] == "mmcp-broadcast" else targets[package],
            parameters=dict.fromkeys(parameters, "string"),
            outputs=None if backend["kind"] == "mobile-mcp" else TEXT,
            deadline_ms=deadline_ms,
        )
        for name, package, backend, parameters, deadline_ms in ROUTES
    ]


def _weather_digest(world: World) -> str:
    """Return the digest of shim.md 5 of the tools that the receiver lists for an agent."""
    text = json.dumps({"tools": world.reported_tools()}, separators=(",", ":"), ensure_ascii=False)
    return f"broadcast:{hashlib.sha256(text.encode()).hexdigest()}"


@pytest.fixture
def world(tmp_path: Path, shim_runtime: ShimRuntime) -> World:
    """A phone with a shim written by hand that has all frontends and a route to each kind of app."""
    world = World("clock-in", "notes-legacy", "pdf-tool", "weather", shim_runtime=shim_runtime)
    functions = {f"f_{name}": name for name, *_ in ROUTES}
    more, files = function_service(functions)
    targets = _digests(tmp_path)
    world.install((tmp_path / "weather.apk").read_bytes())
    world.install(
        make_shim(
            _routes(world, targets),
            key=key(),
            more=MMCP_ACTIVITY + MMCP_RECEIVER + more,
            files=files,
            functions=functions,
        )
    )
    world.grant("any-app")
    world.system.files.make_directory(f"/sdcard/Android/data/{PDF_TOOL}", parents=True)
    world.system.files.write(PDF, pdf_with(["one"], ["two"], ["three"]))
    return world


ARGUMENTS: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "mmcp-activity": ("pages", {"path": PDF}),
    "mmcp-broadcast": ("weather", {"location": "Bonn"}),
    "app-function": ("note", {"title": "Milk", "content": "Two litres"}),
    "mobile-mcp": ("make_up", {"date": DAY}),
    "app-action": ("show", {"place": "Köln;S.place=Bonn;end#x"}),
}


def _call(world: World, frontend: str, capability: str, arguments: Mapping[str, str]) -> Any:
    """Return the outputs that come back through a frontend; of one text output, that text."""
    if frontend in ("bound", "started"):
        carrier: Any = "bind" if frontend == "bound" else "start"
        outputs = outputs_of(world.ask(capability, arguments, carrier=carrier, flags=LENDING_FLAG))
        return outputs.get("result", outputs)
    if frontend == "host":
        outputs = outputs_of(world.ask_host(capability, arguments))
        return outputs.get("result", outputs)
    if frontend == "mmcp-activity":
        component = ComponentName(SHIM, "dev.droidgate.shim.frontends.MmcpActivity")
        result = world.agent().call_mmcp_activity(component, capability, arguments)
        assert result.code == -1, result
        assert result.data is not None
        return result.data.extras.get_string("result")
    if frontend == "mmcp-broadcast":
        component = ComponentName(SHIM, "dev.droidgate.shim.frontends.MmcpReceiver")
        reported = world.agent().call_broadcast(component, capability, arguments)
        assert reported.code == -1, reported
        return reported.data
    outcome = world.execute(SHIM, f"f_{capability}", arguments)
    assert not isinstance(outcome, AppFunctionError), outcome
    (document,) = outcome.get("androidAppfunctionsReturnValue", [{}])
    return document.get("result", [{}])[0]


def _check(world: World, backend: str, answer: Any) -> None:
    """Compare an answer with what the test made, or with what the app tells when it is asked directly."""
    if backend == "mmcp-activity":
        assert json.loads(answer) == {"pages": 3} or "3" in answer
    elif backend == "mmcp-broadcast":
        receiver = ComponentName(WEATHER, f"{WEATHER}.WeatherReceiver")
        direct = world.agent().call_broadcast(receiver, "currentWeather", {"location": "Bonn"})
        assert answer == direct.data
    elif backend == "app-function":
        files = world.files_of(PLAIN_NOTES)
        assert b"Two litres" in files
        assert b"Milk" in files
    elif backend == "app-action":
        assert answer == "The screen was opened. The app does not report what it does with the call."
        top = world.system.stack.top()
        view = None if top is None else top.activity.view()
        assert view is not None
        assert "Köln;S.place=Bonn;end#x" in [each.text for each in view.walk()]
    else:
        assert DAY.encode() in world.files_of(CLOCK_IN)


@pytest.mark.parametrize(("frontend", "backend"), CELLS)
def test_a_call_through_each_frontend_reaches_each_kind_of_app(
    world: World, frontend: str, backend: str
) -> None:
    capability, arguments = ARGUMENTS[backend]
    if frontend == "app-function":
        world.lend_shell_identity(AGENT)
    if frontend in ("bound", "started", "mmcp-activity"):
        world.show_agent()
    if backend in ("mmcp-activity", "app-action") and frontend not in ("bound", "mmcp-activity"):
        world.allow_screens()
    with world.instrumented() if backend == "app-function" else contextlib.nullcontext():
        _check(world, backend, _call(world, frontend, capability, arguments))


def test_the_table_has_each_pair_once() -> None:
    assert sorted(CELLS) == sorted((frontend, backend) for frontend in FRONTENDS for backend in BACKENDS)


def test_the_documentation_has_this_table() -> None:
    assert "\n".join(_lines()) in DOCUMENT.read_text("utf-8")


def _lines() -> Iterator[str]:
    limits = {(item.frontend, item.backend): item.limits for item in TABLE.cells}
    yield "| frontend | " + " | ".join(item.title for item in BACKENDS.values()) + " |"
    yield "| --- |" + " --- |" * len(BACKENDS)
    for name, item in FRONTENDS.items():
        cells = [limits[name, backend] or "runs" for backend in BACKENDS]
        yield f"| {item.title} | " + " | ".join(cells) + " |"


def test_a_discovery_broadcast_is_answered_from_the_receivers_meta_data(world: World) -> None:
    context = world.system.app_context(AGENT)
    receivers = context.query_receivers(Intent("com.example.ACTION_MMCP_DISCOVERY"))
    assert ComponentName(SHIM, "dev.droidgate.shim.frontends.MmcpReceiver") in receivers


@pytest.mark.parametrize(
    ("function", "parameters", "code"),
    [("f_note", {}, 1001), ("f_weather", {"location": 5}, 1001), ("f_none", {}, 1003)],
    ids=str,
)
def test_failures_reach_callers_of_app_functions_by_their_codes(
    world: World, function: str, parameters: Mapping[str, Any], code: int
) -> None:
    world.lend_shell_identity(AGENT)
    assert code_of(world.execute(SHIM, function, parameters)) == code


def test_a_cancelled_app_function_ends_its_call_in_the_shim(world: World) -> None:
    world.lend_shell_identity(AGENT)
    world.system.faults = Faults(silent=frozenset({CLOCK_IN}))
    platform = world.system.app_context(AGENT).platform
    cancel = platform.execute_app_function(SHIM, "f_make_up", {"date": [DAY]}, lambda _: None)
    wait_until(lambda: world.host("status")["open"] == 1, 20)
    cancel()
    assert [call["token"] for call in world.history(1)] == ["canceled"]
    assert world.host("status")["open"] == 0


def test_an_app_function_without_a_grant_is_denied_by_the_shim(world: World) -> None:
    world.lend_shell_identity(AGENT)
    world.host("revoke", caller="any-app", capability="*")
    world.host("ask", on=False)
    assert code_of(world.execute(SHIM, "f_weather", {"location": "Bonn"})) == 1000
    world.grant(AGENT, "weather")
    assert not isinstance(world.execute(SHIM, "f_weather", {"location": "Bonn"}), AppFunctionError)


def test_of_an_app_that_the_shim_does_not_see_android_tells_the_certificate(world: World) -> None:
    unseen = "com.example.unseen"
    world.host("revoke", caller="any-app", capability="*")
    world.host("ask", on=False)
    world.install(agent_apk(unseen))
    world.grant(unseen)
    for signer, code in (("first", None), ("second", 1000)):
        world.system.packages.uninstall(unseen)
        world.install(agent_apk(unseen, signer=signer))
        world.lend_shell_identity(unseen)
        outcome = world.execute(SHIM, "f_weather", {"location": "Bonn"}, caller=unseen)
        assert (code_of(outcome) if isinstance(outcome, AppFunctionError) else None) == code


@pytest.mark.parametrize(("tool", "parameters", "error"), [
    ("weather", "{", "Error: invalid_argument: "),
    ("weather", "[]", "Error: invalid_argument: "),
    ("weather", "{}", "Error: invalid_argument: "),
    ("nothing", "{}", "Error: unknown_capability"),
])  # fmt: skip
def test_failures_reach_mmcp_agents_as_texts(world: World, tool: str, parameters: str, error: str) -> None:
    world.show_agent()
    activity = ComponentName(SHIM, "dev.droidgate.shim.frontends.MmcpActivity")
    result = world.agent().call_mmcp_activity(activity, tool, parameters)
    assert (result.code, result.data is not None) == (0, True)
    assert result.data is not None
    assert (result.data.extras.get_string("error") or "").startswith(error)
    assert result.data.extras.get_string("error") == result.data.extras.get_string("result")
    receiver = ComponentName(SHIM, "dev.droidgate.shim.frontends.MmcpReceiver")
    reported = world.agent().call_broadcast(receiver, tool, parameters)
    assert reported.code == 0
    assert (reported.data or "").startswith(error)


def test_the_action_by_which_an_mmcp_tool_is_found_calls_nothing(world: World) -> None:
    started = world.run(
        "am", "start", "-W", "-a", "com.example.mMCP.ACTION_TOOL_ADVERTISE", "-n",
        f"{SHIM}/dev.droidgate.shim.frontends.MmcpActivity", "--es", "tool_name", "weather",
    )  # fmt: skip
    assert "Status: ok" in started.stdout
    assert world.history() == []


# The phone's shim and the builder compute the same digests; shim.md 5 has the recipes


@pytest.mark.parametrize("tools", [
    pytest.param([], id="no tool"),
    pytest.param([["weather", "Says it.", '{"place":"string"}']], id="a tool with all its texts"),
    pytest.param([["b", "B", "{}"], ["a", "", ""]], id="a tool with empty texts"),
    pytest.param([["weather", None, None], ["silent", None, "{}"]], id="tools without texts"),
])  # fmt: skip
def test_a_discoverys_digest_is_the_builders_whatever_was_left_out(tools: Tools) -> None:
    reported = [(str(name), description, parameters) for name, description, parameters in tools]
    assert digest_of(tools) == BroadcastListing().digest(reported)

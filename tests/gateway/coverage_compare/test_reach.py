"""Who reaches what is said by the tables: which dialect has which interface, and what the shim carries."""

import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import example, given, strategies as st

from droidgate.coverage.conversions import LEVELS
from droidgate.coverage.coverage_document import REACHES, ReachCell
from droidgate.coverage.reach import ReachFacts, Reaching, agents
from droidgate_mappings.formats.format import load_formats
from droidgate_mappings.formats.reachability import ComponentFacts, Protection, enabled_configurations
from droidgate_mappings.model.capability import CapabilityAccess
from droidgate_mappings.tables.reach import load_reach, load_shim_table
from requirements_of_tests import CHECKOUT

AGENTS = [agent.id for agent in agents()]
INTERFACES = [interface.id for interface in load_reach().interfaces]
PROTOCOL_OF_AGENT = {
    "mobile-mcp": "mobile-mcp", "mmcp-activity": "mmcp", "mmcp-broadcast": "mmcp",
    "app-functions": "appfunctions", "mcp-client": "mcp",
}  # fmt: skip
"""Typed by hand: the protocol that each kind of agent speaks."""

NATIVE = {
    "mobile-mcp": "mobile-mcp", "mmcp-activity": "mmcp-activity", "mmcp-broadcast": "mmcp-broadcast",
    "app-function": "app-functions", "mcp": "mcp-client",
}  # fmt: skip
"""Typed by hand: which agent calls what is of an interface."""


def _cells(reach_facts: ReachFacts, **tables: Any) -> dict[str, ReachCell]:
    return dict(zip(AGENTS, Reaching(**tables).cells(reach_facts), strict=True))


BIND = "android.permission.BIND_APP_FUNCTION_SERVICE"
EXECUTE = "android.permission.EXECUTE_APP_FUNCTIONS"
SERVICE_OF_ANDROID: dict[str, Any] = {
    "kind": "service",
    "permission": BIND,
    "protection": Protection.SIGNATURE,
}
OWN = "com.example.CALL"


def _reach_facts(interface: str | None, *, has_launcher: bool = False, **facts: Any) -> ReachFacts:
    access = CapabilityAccess(**facts.pop("access", {}))
    return ReachFacts(
        interface=interface,
        has_launcher=has_launcher,
        access=access,
        is_enabled=facts.pop("state", None),
        component=ComponentFacts(**facts),
    )


def _reaches(interface: str | None, **facts: Any) -> dict[str, str]:
    return {agent: cell.reach for agent, cell in _cells(_reach_facts(interface, **facts)).items()}


def test_the_agents_are_those_that_a_report_is_about() -> None:
    assert AGENTS == ["mobile-mcp", "mmcp-activity", "mmcp-broadcast", "app-functions", "mcp-client", "ui"]


@pytest.mark.parametrize("interface", [item for item in INTERFACES if item != "mcp"])
def test_each_agent_reaches_an_open_app_by_itself_or_through_the_gateway(interface: str) -> None:
    kind = load_reach().interface(interface).components[0]  # type: ignore[union-attr]
    facts = SERVICE_OF_ANDROID if interface == "app-function" else {"kind": kind}
    reached = _reaches(interface, has_launcher=True, **facts)
    expected = dict.fromkeys(AGENTS, "gateway") | {"ui": "ui-only"}
    if interface in NATIVE:
        expected[NATIVE[interface]] = "native"
    assert reached == expected


def test_tools_of_an_mcp_server_are_reached_by_mcp_clients_alone() -> None:
    assert _reaches("mcp") == dict.fromkeys(AGENTS, "none") | {"mcp-client": "native"}


def test_what_only_its_own_agent_calls_is_left_to_screens_or_to_nobody() -> None:
    assert set(_reaches(None, has_launcher=True).values()) == {"ui-only"}
    assert set(_reaches(None).values()) == {"none"}


CLOSED: list[tuple[dict[str, Any], str]] = [
    ({"interface": "mobile-mcp", "kind": "service", "is_exported": False}, "its component is not exported"),
    ({"interface": "mobile-mcp", "kind": "service", "is_enabled": False}, "its component is disabled"),
    ({"interface": "mobile-mcp", "kind": "service", "is_app_enabled": False}, "its app is disabled"),
    ({"interface": "mobile-mcp", "kind": "service", "has_action": False},
        "its component does not declare the action mobile.mcp.SERVICE"),
    ({"interface": "mmcp-activity", "kind": "service"},
        "no agent calls mMCP activities of a component of the kind service"),
    ({"interface": "mmcp-broadcast", "kind": "activity"},
        "no agent calls mMCP broadcasts of a component of the kind activity"),
    ({"interface": "app-function", "kind": "service"}, f"Android binds only components that require {BIND}"),
    ({"interface": "app-function", "kind": "service", "permission": OWN},
        f"Android binds only components that require {BIND}"),
    ({"interface": "app-function", **SERVICE_OF_ANDROID, "access": {"access_level": "system"}},
        "its access level keeps it for the app itself or for Android"),
    ({"interface": "app-function", **SERVICE_OF_ANDROID, "access": {"access_level": "self"}},
        "its access level keeps it for the app itself or for Android"),
    ({"interface": "app-function", **SERVICE_OF_ANDROID, "access": {"scope": "activity"}},
        "it exists only while an activity of the app is open"),
    ({"interface": "app-function", **SERVICE_OF_ANDROID, "state": False}, "the phone reports it as disabled"),
    ({"interface": "mobile-mcp", "kind": "service", "permission": OWN, "protection": Protection.SIGNATURE},
        f"callers need the permission {OWN}, which ordinary apps cannot hold"),
    ({"interface": "mobile-mcp", "kind": "service", "permission": EXECUTE,
        "protection": Protection.SIGNATURE},
        f"callers need the permission {EXECUTE}, which ordinary apps cannot hold"),
    ({"interface": "mobile-mcp", "kind": "service", "permission": OWN},
        f"callers need the permission {OWN}, whose protection level is not known"),
]  # fmt: skip


@pytest.mark.parametrize(("facts", "reason"), CLOSED, ids=str)
def test_a_closed_component_is_closed_to_all_with_its_reason(facts: dict[str, Any], reason: str) -> None:
    cells = _cells(_reach_facts(**facts))
    assert {cell.reach for cell in cells.values()} == {"none"}
    reported = {cell.reason for agent, cell in cells.items() if agent != "ui"}
    assert reported == {f"{reason}, and the app has no launcher screen"}
    assert set(_reaches(**facts, has_launcher=True).values()) == {"ui-only"}


def test_functions_of_a_service_that_is_not_exported_are_called_by_android() -> None:
    facts: dict[str, Any] = {**SERVICE_OF_ANDROID, "is_exported": False}
    assert _reaches("app-function", **facts)["app-functions"] == "native"


@pytest.mark.parametrize(("protection", "needed"), [
    (Protection.NORMAL, f"the caller's manifest requests the permission {OWN}"),
    (Protection.DANGEROUS, f"the caller's manifest requests the permission {OWN} and the user grants it"),
])  # fmt: skip
def test_a_permission_that_all_can_request_keeps_the_gateway_out(protection: Protection, needed: str) -> None:
    cells = _cells(_reach_facts("mobile-mcp", kind="service", permission=OWN, protection=protection))
    assert (cells["mobile-mcp"].reach, cells["mobile-mcp"].needs) == ("native", (needed,))
    others = [cell for agent, cell in cells.items() if agent not in {"mobile-mcp", "ui"}]
    assert {cell.reach for cell in others} == {"none"}
    (reason,) = {cell.reason for cell in others}
    assert reason.startswith(f"callers need the permission {OWN}, which the shim does not request, and ")


def test_what_is_disabled_until_its_app_enables_it_is_a_condition_that_a_phone_settles() -> None:
    facts: dict[str, Any] = {**SERVICE_OF_ANDROID, "access": {"enabled_by_default": False}}
    needed = "the app enables it, which is off at first"
    for agent in ("app-functions", "mobile-mcp"):
        assert needed in _cells(_reach_facts("app-function", **facts))[agent].needs
        assert needed not in _cells(_reach_facts("app-function", **facts, state=True))[agent].needs


def test_a_component_that_is_enabled_in_some_configurations_is_reached_under_a_condition() -> None:
    cell = _cells(_reach_facts("mobile-mcp", kind="service", enabled_in="v36"))["mobile-mcp"]
    assert (cell.reach, cell.needs) == ("native", ("it is enabled only in configurations: v36",))


@pytest.mark.parametrize(("enabled", "sdk", "expected"), [
    (True, None, None),
    (False, 36, ()),
    ({"": False, "v36": False}, None, ()),
    ({"": True, "v36": True}, None, None),
    ({"": False, "v36": True}, None, ("v36",)),
    ({"": True, "v36": False}, None, ("",)),
    ({"v36": False}, None, ("",)),
    ({"": False, "v36": True}, 37, None),
    ({"": False, "v36": True}, 35, ()),
    ({"": False, "v31": True, "v36": False}, 35, None),
    ({"": False, "night": True}, 36, ("night",)),
    ({"": False, "night-v36": True}, 35, ()),
], ids=str)  # fmt: skip
def test_a_phone_resolves_the_configurations_of_its_release(
    enabled: Any, sdk: int | None, expected: tuple[str, ...] | None
) -> None:
    assert enabled_configurations(enabled, sdk) == expected


def test_what_a_dialect_cannot_hold_is_not_reached_through_it() -> None:
    levels = {"mobile-mcp+1.0": "impossible", "mmcp+1.0": "dropped"}
    cells = _cells(ReachFacts(interface="app-function", levels=levels))
    assert (cells["mobile-mcp"].reach, cells["mobile-mcp"].level) == ("none", None)
    assert (cells["mmcp-activity"].reach, cells["mmcp-activity"].level) == ("gateway", "dropped")
    assert (cells["app-functions"].reach, cells["app-functions"].level) == ("native", "exact")


def test_the_conditions_of_the_shim_are_reported_with_the_frontend_that_they_are_of() -> None:
    cells = _cells(_reach_facts("mmcp-activity", kind="activity"))
    assert cells["mobile-mcp"].needs == (
        "Mobile-MCP bound: the agent is visible and binds with flag 512; else S",
        "Mobile-MCP started: S",
    )
    assert cells["mmcp-broadcast"].needs == ("S",)


def test_an_mcp_client_reaches_through_the_gateways_server_what_is_not_an_mcp_server_itself() -> None:
    cell = _cells(_reach_facts("mmcp-activity", kind="activity"))["mcp-client"]
    assert (cell.reach, cell.needs) == ("gateway", ("S",))
    by_itself = _cells(_reach_facts("mcp"))["mcp-client"]
    assert (by_itself.reach, by_itself.needs) == ("native", ())


def test_without_a_cell_of_the_shim_there_is_no_gateway() -> None:
    shim = load_shim_table()
    for removed in shim.cells:
        less = shim.model_copy(update={"cells": tuple(item for item in shim.cells if item != removed)})
        interface = next(item for item in load_reach().interfaces if item.backend == removed.backend)
        cells = _cells(ReachFacts(interface=interface.id), shim=less)
        for agent in load_reach().agents:
            frontends = set(agent.frontends) - {removed.frontend}
            frontends |= set(agent.frontends).intersection(interface.by_shell)
            if removed.frontend in agent.frontends and interface.id not in agent.speaks:
                assert cells[agent.id].reach == ("gateway" if frontends else "none")


def test_the_table_is_the_one_of_the_documentation() -> None:
    text = (CHECKOUT / "docs" / "reference" / "shim.md").read_text(encoding="utf-8")
    part = text[text.index("## 9. Frontends and backends") :]
    lines = [line.strip("| ").split(" | ") for line in part.splitlines() if re.match(r"\| [^-]", line)]
    titles, *rows = lines[: 1 + len(load_shim_table().frontends)]
    reported = {
        (row[0], title): cell for row in rows for title, cell in zip(titles[1:], row[1:], strict=True)
    }
    shim = load_shim_table()
    limits = {
        (frontend.title, backend.title): shim.limits(frontend.id, backend.id) or "runs"
        for frontend in shim.frontends
        for backend in shim.backends
    }
    assert reported == limits


def test_each_dialect_that_anybody_calls_has_an_interface_of_its_own_format() -> None:
    reach = load_reach()
    without = set()
    for format_ in load_formats().values():
        for dialect in format_.dialects:
            interface = reach.interface(dialect.interface)
            if interface is None:
                without.add((format_.id, dialect.id))
            else:
                assert interface.format == format_.id
    uncalled = {"function-calling", "mobile-agent", "mobile-mcp", "observed"}
    assert {name for name, _ in without} == uncalled
    assert {dialect for name, dialect in without if name == "mobile-mcp"} == {"pre-spec"}


CLOSING = {
    "kind": st.sampled_from([None, "activity", "service", "receiver", "provider", "application"]),
    "is_app_enabled": st.just(False),
    "is_enabled": st.just(False),
    "enabled_in": st.just("v36"),
    "is_exported": st.just(False),
    "has_action": st.just(False),
    "permission": st.sampled_from([None, "", BIND, EXECUTE]),
    "protection": st.sampled_from(Protection),
    "access": st.fixed_dictionaries({}, optional={"enabled_by_default": st.booleans(),
        "scope": st.just("activity"), "access_level": st.sampled_from(["self", "system", "androidTrusted"])}),
    "state": st.booleans(),
}  # fmt: skip
"""Facts that may close what is open, each by itself; all at once, next to nothing would be open."""


@st.composite
def _drawn_facts(draw: st.DrawFn) -> ReachFacts:
    """Draw what an agent finds: an open app of an interface, with up to three facts changed."""
    interface = draw(st.sampled_from([None, *INTERFACES]))
    declared = load_reach().interface(interface)
    facts: dict[str, Any] = (
        {"kind": declared.components[0]} if declared is not None and declared.components else {}
    )
    facts |= SERVICE_OF_ANDROID if interface == "app-function" else {}
    for name in draw(st.sets(st.sampled_from(sorted(CLOSING)), max_size=3)):
        facts[name] = draw(CLOSING[name])
    targets = [agent.target for agent in load_reach().agents if agent.target]
    levels = draw(st.dictionaries(st.sampled_from(targets), st.sampled_from(LEVELS)))
    return replace(_reach_facts(interface, has_launcher=draw(st.booleans()), **facts), levels=levels)


@given(_drawn_facts())
@example(_reach_facts("mobile-mcp", kind="service"))
@example(_reach_facts("mmcp-activity", kind="activity"))
def test_native_is_what_is_declared_and_gateway_what_the_table_carries(reach_facts: ReachFacts) -> None:
    reach, shim = load_reach(), load_shim_table()
    interface = reach.interface(reach_facts.interface)
    for agent, cell in zip(reach.agents, Reaching().cells(reach_facts), strict=True):
        assert cell.reach in REACHES
        assert cell.reason
        if cell.reach == "native":
            assert interface is not None
            assert interface.format == PROTOCOL_OF_AGENT[agent.id]
            assert cell.level == "exact"
            assert _is_open_to_ordinary_apps(reach_facts, interface.id)
        elif cell.reach == "gateway":
            assert interface is not None
            backend = interface.backend or ""
            carried = [
                frontend
                for frontend in agent.frontends
                if frontend in interface.by_shell or shim.limits(frontend, backend) is not None
            ]
            assert carried
            assert cell.level != "impossible"
        else:
            assert cell.reach == ("ui-only" if reach_facts.has_launcher else "none")
            assert cell.level is None


def _is_open_to_ordinary_apps(reach_facts: ReachFacts, interface: str) -> bool:
    """Return what Android's documentation says of native calls, typed by hand."""
    component, access = reach_facts.component, reach_facts.access
    if interface == "mcp":
        return reach_facts.is_enabled is not False
    if not component.is_app_enabled or not component.is_enabled or reach_facts.is_enabled is False:
        return False
    if interface == "app-function":
        return access.scope is None and access.access_level in {None, "androidTrusted"}
    can_hold = component.permission is None or component.protection in {"normal", "dangerous"}
    return component.is_exported and can_hold


def test_below_android_16_nobody_calls_app_functions_and_their_agents_call_nothing() -> None:
    functions = _cells(replace(_reach_facts("app-function", **SERVICE_OF_ANDROID), sdk_full="34"))
    assert {cell.gate for agent, cell in functions.items() if agent != "ui"} == {"release"}
    tools = _cells(replace(_reach_facts("mobile-mcp", kind="service"), sdk_full="34"))
    assert [agent for agent, cell in tools.items() if cell.gate == "release"] == ["app-functions"]
    assert all(
        cell.gate != "release"
        for cell in _cells(
            replace(_reach_facts("app-function", **SERVICE_OF_ANDROID), sdk_full="36")
        ).values()
    )


def test_app_actions_need_no_shim_for_mcp_clients_and_a_visible_screen_for_other_agents() -> None:
    cells = _cells(_reach_facts("app-action", kind="activity"))
    assert cells["mcp-client"].needs == ()
    assert all("S" in " ".join(cells[agent].needs) for agent in ("mobile-mcp", "mmcp-broadcast"))

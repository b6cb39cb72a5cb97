"""Who reaches what is said by the tables: which dialect has which interface, and what the shim carries."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from droidgate.coverage.crossings import LEVELS
from droidgate.coverage.document import REACHES, ReachCell
from droidgate.coverage.reach import Reaching, Standing, agents
from droidgate.formats import load_formats
from droidgate_mappings.reach import load_reach, load_shim_table
from requirements_of_tests import CHECKOUT

AGENTS = [one.id for one in agents()]
INTERFACES = [one.id for one in load_reach().interfaces]
PROTOCOL_OF_AGENT = {
    "mobile-mcp": "mobile-mcp",
    "mmcp-activity": "mmcp",
    "mmcp-broadcast": "mmcp",
    "app-functions": "appfunctions",
    "mcp-client": "mcp",
}
"""Typed by hand: the protocol that each kind of agent speaks."""

NATIVE = {
    "mobile-mcp": "mobile-mcp",
    "mmcp-activity": "mmcp-activity",
    "mmcp-broadcast": "mmcp-broadcast",
    "app-function": "app-functions",
    "mcp": "mcp-client",
}
"""Typed by hand: which agent calls what is of an interface."""


def _cells(standing: Standing, **tables: Any) -> dict[str, ReachCell]:
    return dict(zip(AGENTS, Reaching(**tables).cells(standing), strict=True))


def _reaches(**facts: Any) -> dict[str, str]:
    return {agent: cell.reach for agent, cell in _cells(Standing(**facts)).items()}


def test_the_agents_are_those_that_a_report_is_about() -> None:
    assert AGENTS == ["mobile-mcp", "mmcp-activity", "mmcp-broadcast", "app-functions", "mcp-client", "ui"]


@pytest.mark.parametrize("interface", [one for one in INTERFACES if one != "mcp"])
def test_each_agent_reaches_an_open_app_by_itself_or_through_the_gateway(interface: str) -> None:
    kind = load_reach().interface(interface).components[0]  # type: ignore[union-attr]
    permission = "own" if interface == "app-function" else None
    reached = _reaches(interface=interface, kind=kind, permission=permission, has_launcher=True)
    expected = dict.fromkeys(AGENTS, "gateway") | {"ui": "ui-only"}
    if interface in NATIVE:
        expected[NATIVE[interface]] = "native"
    assert reached == expected


def test_tools_of_an_mcp_server_are_reached_by_mcp_clients_alone() -> None:
    assert _reaches(interface="mcp") == dict.fromkeys(AGENTS, "none") | {"mcp-client": "native"}


def test_what_only_its_own_agent_calls_is_left_to_screens_or_to_nobody() -> None:
    assert set(_reaches(interface=None, has_launcher=True).values()) == {"ui-only"}
    assert set(_reaches(interface=None).values()) == {"none"}


CLOSED: list[dict[str, Any]] = [
    {"interface": "mobile-mcp", "kind": "service", "is_exported": False},
    {"interface": "mobile-mcp", "kind": "service", "is_enabled": False},
    {"interface": "mobile-mcp", "kind": "service", "has_action": False},
    {"interface": "mmcp-activity", "kind": "service"},
    {"interface": "mmcp-broadcast", "kind": "activity"},
    {"interface": "app-function", "kind": "service", "permission": None},
    {"interface": "app-function", "kind": "service", "permission": "other"},
    {"interface": "app-function", "kind": "service", "permission": "own", "closing": "kept for the system"},
]


@pytest.mark.parametrize("facts", CLOSED, ids=str)
def test_a_closed_component_is_closed_to_every_agent(facts: dict[str, Any]) -> None:
    assert set(_reaches(**facts).values()) == {"none"}
    assert set(_reaches(**facts, has_launcher=True).values()) == {"ui-only"}


def test_functions_of_a_service_that_is_not_exported_are_called_by_android() -> None:
    facts = {"interface": "app-function", "kind": "service", "permission": "own", "is_exported": False}
    assert _reaches(**facts)["app-functions"] == "native"


def test_a_permission_of_the_apps_own_keeps_the_gateway_out_and_is_told_to_the_agent() -> None:
    cells = _cells(Standing(interface="mobile-mcp", kind="service", permission="other"))
    assert cells["mobile-mcp"].reach == "native"
    assert "the permission that its component asks for" in cells["mobile-mcp"].needs
    assert {cell.reach for agent, cell in cells.items() if agent != "mobile-mcp"} == {"none"}


def test_what_a_dialect_cannot_hold_is_not_reached_through_it() -> None:
    levels = {"mobile-mcp+1.0": "impossible", "mmcp+1.0": "dropped"}
    cells = _cells(Standing(interface="app-function", levels=levels))
    assert (cells["mobile-mcp"].reach, cells["mobile-mcp"].level) == ("none", None)
    assert (cells["mmcp-activity"].reach, cells["mmcp-activity"].level) == ("gateway", "dropped")
    assert (cells["app-functions"].reach, cells["app-functions"].level) == ("native", "exact")


def test_the_conditions_of_the_shim_are_told_with_the_frontend_that_they_are_of() -> None:
    cells = _cells(Standing(interface="mmcp-activity", kind="activity"))
    assert cells["mobile-mcp"].needs == (
        "Mobile-MCP bound: the agent is visible and binds with flag 512; else S",
        "Mobile-MCP started: S",
    )
    assert cells["mcp-client"].needs[0] == "S"


def test_what_an_agent_lacks_to_use_the_gateway_stands_with_what_it_reaches_through_it() -> None:
    lacks = {one.id: one.gateway_needs for one in load_reach().agents if one.gateway_needs is not None}
    assert "MCP server" in lacks["mcp-client"]
    through = _cells(Standing(interface="mobile-mcp", kind="service"))
    assert {agent for agent, cell in through.items() if set(lacks.values()) & set(cell.needs)} == set(lacks)
    by_itself = _cells(Standing(interface="mcp"))["mcp-client"]
    assert (by_itself.reach, by_itself.needs) == ("native", ())


def test_without_a_cell_of_the_shim_there_is_no_gateway() -> None:
    shim = load_shim_table()
    for removed in shim.cells:
        less = shim.model_copy(update={"cells": tuple(one for one in shim.cells if one != removed)})
        interface = next(one for one in load_reach().interfaces if one.backend == removed.backend)
        cells = _cells(Standing(interface=interface.id), shim=less)
        for agent in load_reach().agents:
            left = set(agent.frontends) - {removed.frontend}
            if removed.frontend in agent.frontends and interface.id not in agent.speaks:
                assert cells[agent.id].reach == ("gateway" if left else "none")


def test_the_table_is_the_one_of_the_documentation() -> None:
    text = (CHECKOUT / "docs" / "shim.md").read_text(encoding="utf-8")
    part = text[text.index("## 9. Frontends and backends") :]
    lines = [line.strip("| ").split(" | ") for line in part.splitlines() if re.match(r"\| [^-]", line)]
    titles, *rows = lines[: 1 + len(load_shim_table().frontends)]
    told = {(row[0], title): cell for row in rows for title, cell in zip(titles[1:], row[1:], strict=True)}
    shim = load_shim_table()
    held = {
        (frontend.title, backend.title): shim.limits(frontend.id, backend.id) or "runs"
        for frontend in shim.frontends
        for backend in shim.backends
    }
    assert told == held


def test_each_dialect_that_anybody_calls_has_an_interface_of_its_own_format() -> None:
    reach = load_reach()
    without = set()
    for one in load_formats().values():
        for dialect in one.dialects:
            interface = reach.interface(dialect.interface)
            if interface is None:
                without.add((one.id, dialect.id))
            else:
                assert interface.format == one.id
    assert {name for name, _ in without} == {"mobile-mcp", "observed"}
    assert {dialect for name, dialect in without if name == "mobile-mcp"} == {"pre-spec"}


def test_no_code_of_reach_names_a_protocol() -> None:
    folder = CHECKOUT / "gateway" / "droidgate" / "coverage"
    for name in ("reach.py", "figures.py"):
        text = (folder / name).read_text(encoding="utf-8")
        code = re.sub(r'""".*?"""', "", text, flags=re.DOTALL)
        assert not [one for one in load_formats() if re.search(rf"['\"]{re.escape(one)}['\"+]", code)]


@given(
    st.builds(
        Standing,
        interface=st.sampled_from([None, *INTERFACES]),
        has_launcher=st.booleans(),
        kind=st.sampled_from([None, "activity", "service", "receiver", "provider", "application"]),
        is_exported=st.booleans(),
        is_enabled=st.booleans(),
        has_action=st.booleans(),
        permission=st.sampled_from([None, "own", "other"]),
        closing=st.sampled_from([None, "kept for the app"]),
        levels=st.dictionaries(
            st.sampled_from([one.target for one in load_reach().agents if one.target]),
            st.sampled_from(LEVELS),
        ),
    )
)
def test_native_is_what_is_declared_and_gateway_what_the_table_carries(standing: Standing) -> None:
    reach, shim = load_reach(), load_shim_table()
    interface = reach.interface(standing.interface)
    for agent, cell in zip(reach.agents, Reaching().cells(standing), strict=True):
        assert cell.reach in REACHES
        assert cell.reason
        if cell.reach == "native":
            assert interface is not None
            assert interface.format == PROTOCOL_OF_AGENT[agent.id]
            assert cell.level == "exact"
        elif cell.reach == "gateway":
            assert interface is not None
            assert interface.backend is not None
            carried = [one for one in agent.frontends if shim.limits(one, interface.backend) is not None]
            assert carried
            assert cell.level != "impossible"
        else:
            assert cell.reach == ("ui-only" if standing.has_launcher else "none")
            assert cell.level is None


def test_the_tables_that_contradict_themselves_are_refused() -> None:
    shim = load_shim_table()
    stated = shim.model_dump()
    with pytest.raises(ValueError, match="stands twice"):
        type(shim).model_validate({**stated, "cells": [*stated["cells"], stated["cells"][0]]})
    with pytest.raises(ValueError, match="names what is not declared"):
        type(shim).model_validate({**stated, "backends": stated["backends"][1:]})

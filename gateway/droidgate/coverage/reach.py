"""How each kind of agent gets at a capability: by itself, through the gateway, by screens, or not at all.

What is true of protocols is data: a dialect names its interface (`DialectTable.interface`),
`reach/agents.toml` says who speaks which, and the shim's table of frontends and backends says what the
gateway carries. What is true of Android is here: a component that is closed is closed to everybody
(docs/shim.md 1 and 4; reference android-runtime 1.4 and 2.3, appfunctions 1.4).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from droidgate.coverage.crossings import EXACT
from droidgate.coverage.document_details import ReachCell
from droidgate.coverage.document_summary import AgentFacts
from droidgate.model.findings import Level
from droidgate_mappings.reach import Agent, Interface, ReachTable, ShimTable, load_reach, load_shim_table

_NO_SCREEN: Final = "the app has no launcher screen"
_ON_SCREEN: Final = "it works on the app's screens"
_DECLARES_NOTHING: Final = "the app declares nothing"


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What decides how a capability is reached; the same for many.

    Attributes:
        interface: In which way it is called, None where only its protocol's own agent calls it.
        has_launcher: Its app has a screen that launchers show.
        kind: The kind of the component that declares it; None where no component is known, as for a
            descriptor that stands alone. Then nothing is said of the next four.
        is_exported: Other apps may address the component.
        is_enabled: Neither it nor its app is disabled.
        has_action: It declares the action by which the interface calls it.
        permission: What it asks of its callers: nothing, the protocol's `own` permission, or an `other` one.
        closing: Why its own format keeps other apps from calling it.
        proviso: What has to happen before it can be called, by its own format.
        levels: What crossing costs, by `FORMAT+DIALECT`.
    """

    interface: str | None
    has_launcher: bool = False
    kind: str | None = None
    is_exported: bool = True
    is_enabled: bool = True
    has_action: bool = True
    permission: str | None = None
    closing: str | None = None
    proviso: str | None = None
    levels: Mapping[str, str] = field(default_factory=dict)


def agents() -> tuple[AgentFacts, ...]:
    """Return the kinds of agents, in the order of every list by agent."""
    return tuple(
        AgentFacts(
            id=one.id,
            title=one.title,
            speaks=one.speaks,
            target=one.target,
            gateway_needs=one.gateway_needs,
            uses_screens=one.uses_screens,
        )
        for one in load_reach().agents
    )


def reach_of_app(has_launcher: bool, uses_screens: bool) -> ReachCell:  # noqa: FBT001
    """Return how an agent reaches an app that declares nothing."""
    return _by_screen(has_launcher, None if uses_screens else _DECLARES_NOTHING)


class Reaching:
    """Judges by the tables."""

    def __init__(self, table: ReachTable | None = None, shim: ShimTable | None = None) -> None:
        """Begin.

        Args:
            table: Agents and interfaces; droidgate's own by default.
            shim: What the gateway carries; the shim's table by default.
        """
        self._table = load_reach() if table is None else table
        self._shim = load_shim_table() if shim is None else shim

    def cells(self, standing: Standing) -> tuple[ReachCell, ...]:
        """Return how each kind of agent reaches a capability, in the order of `agents`."""
        interface = self._table.interface(standing.interface)
        return tuple(self._cell(one, standing, interface) for one in self._table.agents)

    def _cell(self, agent: Agent, standing: Standing, interface: Interface | None) -> ReachCell:
        if agent.uses_screens:
            return _by_screen(standing.has_launcher, None)
        if interface is None:
            return _by_screen(standing.has_launcher, "only its protocol's own agent calls it")
        closed = _why_closed(standing, interface)
        if closed is not None:
            return _by_screen(standing.has_launcher, closed)
        if interface.id in agent.speaks:
            permission = (
                "the permission that its component asks for" if standing.permission == "other" else None
            )
            return ReachCell(
                reach="native",
                level=EXACT,
                reason=f"the agent calls {interface.title}",
                needs=tuple(filter(None, (interface.limits, permission, standing.proviso))),
            )
        return self._through_gateway(agent, standing, interface)

    def _through_gateway(self, agent: Agent, standing: Standing, interface: Interface) -> ReachCell:
        backend = interface.backend
        if backend is None:
            return _by_screen(standing.has_launcher, f"the gateway does not call {interface.title}")
        ways = [(one, self._shim.limits(one, backend)) for one in agent.frontends]
        open_ways = [(one, limits) for one, limits in ways if limits is not None]
        if not open_ways:
            return _by_screen(standing.has_launcher, "the gateway does not carry such calls")
        if standing.permission == "other":
            return _by_screen(standing.has_launcher, "its callers need a permission that the gateway lacks")
        level = standing.levels.get(agent.target or "")
        if level == Level.IMPOSSIBLE:
            return _by_screen(standing.has_launcher, f"{agent.target} cannot hold it")
        titles = " or ".join(self._shim.frontend(one).title for one, _ in open_ways)
        reason = f"the gateway calls {interface.title}, and the agent the gateway ({titles})"
        needs = tuple(
            f"{self._shim.frontend(one).title}: {limits}" if len(open_ways) > 1 else limits
            for one, limits in open_ways
            if limits
        )
        needs = (*needs, *filter(None, (standing.proviso, agent.gateway_needs)))
        return ReachCell(reach="gateway", level=level, reason=reason, needs=needs)


def _why_closed(standing: Standing, interface: Interface) -> str | None:
    """Return why no other app may call it, None where one may."""
    if standing.closing is not None:
        return standing.closing
    if standing.kind is None or interface.bound_by == "network":
        return None
    if not standing.is_enabled:
        return "its component or its app is disabled"
    if interface.components and standing.kind not in interface.components:
        return f"no agent calls {interface.title} of a component of the kind {standing.kind}"
    if standing.kind == "application":
        return None
    if not standing.has_action:
        return "its component does not declare the action that calls have"
    if interface.bound_by == "system":
        if interface.permission is not None and standing.permission != "own":
            return "Android binds only components that ask for the protocol's permission"
        return None
    return None if standing.is_exported else "its component is not exported"


def _by_screen(has_launcher: bool, why: str | None) -> ReachCell:  # noqa: FBT001
    """Return what is left where calls are not possible; `why` is None for an agent that makes none."""
    if has_launcher:
        reason = _ON_SCREEN if why is None else f"{why}; the app's screens are left"
        return ReachCell(reach="ui-only", level=None, reason=reason, needs=())
    reason = _NO_SCREEN if why is None else f"{why}, and {_NO_SCREEN}"
    return ReachCell(reach="none", level=None, reason=reason, needs=())

"""How each kind of agent calls a capability: by itself, through the gateway, by screens, or not at all.

What is true of protocols is data: a dialect names its interface (`DialectTable.interface`),
`reach/agents.toml` says who speaks which, and the shim's table of frontends and backends says what the
gateway carries. What Android allows is the rule of `droidgate_mappings.formats.reachability`, which `shim
build` and `discover` follow too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from droidgate.coverage.conversions import EXACT
from droidgate.coverage.coverage_document import AgentFacts, ReachCell
from droidgate_mappings.formats.reachability import (
    ORDINARY_APP,
    SHIM,
    ComponentFacts,
    Verdict,
    capability_verdict,
    component_verdict,
)
from droidgate_mappings.model.capability import CapabilityAccess
from droidgate_mappings.model.findings import Level
from droidgate_mappings.tables.reach import (
    Agent,
    Interface,
    ReachTable,
    ShimTable,
    load_reach,
    load_shim_table,
)

_NO_SCREEN: Final = "the app has no launcher screen"
_ON_SCREEN: Final = "it works on the app's screens"
_DECLARES_NOTHING: Final = "the app declares nothing"
_SCREENS_LEFT: Final = "; the app's screens are left"
_AND_NO_SCREEN: Final = f", and {_NO_SCREEN}"
_AGENT_CALLS: Final = "the agent calls "
_NOT_BY_SHIM: Final = "a shim does not make such calls; only Android's shell does, for MCP clients"
_GATEWAY_CALLS: Final = "the gateway calls "


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What decides how a capability is reached; the same for many.

    Attributes:
        interface: In which way it is called, None where only its protocol's own agent calls it.
        has_launcher: Its app has a screen that launchers show.
        component: What decides whether other apps may call its component.
        access: Its own access rules.
        is_enabled: What a phone reports, None without a phone.
        levels: What its conversion costs, by `FORMAT+DIALECT`.
    """

    interface: str | None
    has_launcher: bool = False
    component: ComponentFacts = field(default_factory=ComponentFacts)
    access: CapabilityAccess = field(default_factory=CapabilityAccess)
    is_enabled: bool | None = None
    levels: Mapping[str, str] = field(default_factory=dict)

    def verdict(self, interface: Interface, *, of_shim: bool = False) -> Verdict:
        """Return whether an ordinary app, or the shim, may call the capability."""
        caller = SHIM if of_shim else ORDINARY_APP
        own = capability_verdict(self.access, interface, is_enabled=self.is_enabled)
        return component_verdict(self.component, interface, caller) & own


def agents() -> tuple[AgentFacts, ...]:
    """Return the kinds of agents, in the order of every list by agent."""
    return tuple(
        AgentFacts(
            id=agent.id,
            title=agent.title,
            speaks=agent.speaks,
            target=agent.target,
            uses_screens=agent.uses_screens,
        )
        for agent in load_reach().agents
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
        return tuple(self._cell(agent, standing, interface) for agent in self._table.agents)

    def _cell(self, agent: Agent, standing: Standing, interface: Interface | None) -> ReachCell:
        if agent.uses_screens:
            return _by_screen(standing.has_launcher, None)
        if interface is None:
            return _by_screen(standing.has_launcher, "only its protocol's own agent calls it")
        native = standing.verdict(interface)
        if native.closed_because is None and interface.id in agent.speaks:
            return ReachCell(
                reach="native",
                level=EXACT,
                reason=f"{_AGENT_CALLS}{interface.title}",
                needs=tuple(filter(None, (interface.limits, *native.conditions))),
            )
        shim = standing.verdict(interface, of_shim=True)
        if shim.closed_because is not None:
            return _by_screen(standing.has_launcher, shim.closed_because)
        return self._through_gateway(agent, standing, interface, shim)

    def _through_gateway(
        self, agent: Agent, standing: Standing, interface: Interface, shim: Verdict
    ) -> ReachCell:
        if interface.backend is None and not interface.by_shell:
            return _by_screen(standing.has_launcher, f"the gateway does not call {interface.title}")
        ways = [(frontend, self._limits(frontend, interface)) for frontend in agent.frontends]
        open_ways = [(item, limits) for item, limits in ways if limits is not None]
        if not open_ways:
            is_carried = interface.backend is not None
            reason = "the gateway does not carry such calls" if is_carried else _NOT_BY_SHIM
            return _by_screen(standing.has_launcher, reason)
        level = standing.levels.get(agent.target or "")
        if level == Level.IMPOSSIBLE:
            return _by_screen(standing.has_launcher, f"{agent.target} cannot hold it")
        titles = " or ".join(self._shim.frontend(item).title for item, _ in open_ways)
        reason = f"{_GATEWAY_CALLS}{interface.title}, and the agent the gateway ({titles})"
        needs = tuple(
            f"{self._shim.frontend(item).title}: {limits}" if len(open_ways) > 1 else limits
            for item, limits in open_ways
            if limits
        )
        return ReachCell(reach="gateway", level=level, reason=reason, needs=(*needs, *shim.conditions))

    def _limits(self, frontend: str, interface: Interface) -> str | None:
        """Return what a frontend needs to reach a kind of app, None where it does not reach it."""
        if frontend in interface.by_shell:
            return ""
        return None if interface.backend is None else self._shim.limits(frontend, interface.backend)


def _by_screen(has_launcher: bool, why: str | None) -> ReachCell:  # noqa: FBT001
    """Return what is left where calls are not possible; `why` is None for an agent that makes none."""
    if has_launcher:
        reason = _ON_SCREEN if why is None else f"{why}{_SCREENS_LEFT}"
        return ReachCell(reach="ui-only", level=None, reason=reason, needs=())
    reason = _NO_SCREEN if why is None else f"{why}{_AND_NO_SCREEN}"
    return ReachCell(reach="none", level=None, reason=reason, needs=())


def obstacle_of(reason: str) -> str | None:
    """Return why a call or the work on a screen is not possible, whether or not the app has a screen.

    Args:
        reason: The reason of a `ReachCell`.

    Returns:
        None for the reason of something that an agent reaches as it prefers to.
    """
    if reason == _ON_SCREEN or reason.startswith((_AGENT_CALLS, _GATEWAY_CALLS)):
        return None
    return reason.removesuffix(_SCREENS_LEFT).removesuffix(_AND_NO_SCREEN)

"""How each kind of agent calls a capability: by itself, through the gateway, by screens, or not at all.

What is true of protocols is data: a dialect names its interface (`DialectTable.interface`),
`reach/agents.toml` says who speaks which, and the shim's table of frontends and backends says what the
gateway carries. What Android allows is the rule of `droidgate_mappings.formats.reachability`, which `shim
build` and `discover` follow too.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from droidgate.coverage.conversions import EXACT
from droidgate.coverage.coverage_document import AgentFacts, Reach, ReachCell
from droidgate_mappings.formats.reachability import (
    ORDINARY_APP,
    SHIM,
    CallingApp,
    ComponentFacts,
    Gate,
    GateState,
    Verdict,
    capability_verdict,
    component_verdict,
    release_gate,
)
from droidgate_mappings.model.capability import CapabilityAccess
from droidgate_mappings.model.findings import Level
from droidgate_mappings.records import dataclass, field
from droidgate_mappings.tables.reach import (
    AgentKind,
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
_GATEWAY_CALLS: Final = "the gateway calls "
OF_LIBRARY: Final = "signature"
"""The gate of the library by which agents call app functions; the gateway calls them without it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReachFacts:
    """What decides how a capability is reached; the same for many.

    Attributes:
        interface: In which way it is called, None where only its protocol's own agent calls it.
        has_launcher: Its app has a screen that launchers show.
        component: What decides whether other apps may call its component.
        access: Its own access rules.
        is_enabled: What a phone reports, None without a phone.
        levels: What its conversion costs, by `FORMAT+DIALECT`.
        sdk_full: The release of Android that is asked about; None for none.
        read: Gates that findings of linters and readers shut: to every caller, but for `OF_LIBRARY`.
    """

    interface: str | None
    has_launcher: bool = False
    component: ComponentFacts = field(default_factory=ComponentFacts)
    access: CapabilityAccess = field(default_factory=CapabilityAccess)
    is_enabled: bool | None = None
    levels: Mapping[str, str] = field(default_factory=dict)
    sdk_full: str | None = None
    read: tuple[Gate, ...] = ()

    def verdict(self, interface: Interface, caller: CallingApp = ORDINARY_APP) -> Verdict:
        """Return whether a caller may call the capability."""
        own = capability_verdict(self.access, interface, is_enabled=self.is_enabled)
        of_all = Verdict(tuple(gate for gate in self.read if gate.id != OF_LIBRARY))
        return self.release(interface) & of_all & component_verdict(self.component, interface, caller) & own

    def release(self, interface: Interface | None) -> Verdict:
        """Return whether the release has what an interface needs."""
        if interface is None or self.sdk_full is None:
            return Verdict(())
        gate = release_gate(interface, self.sdk_full)
        return Verdict((gate,) if gate.state is GateState.SHUT else ())

    def native(self, interface: Interface) -> Verdict:
        """Return what an agent that speaks the protocol meets, and the gateway does not."""
        of_library = tuple(gate for gate in self.read if gate.id == OF_LIBRARY)
        return Verdict(of_library) & _protocol(GateState.OPEN, f"{_AGENT_CALLS}{interface.title}")


@dataclass(frozen=True, slots=True)
class ReachRoute:
    """How an agent comes to a capability, or would.

    Attributes:
        reach: In which way; `none` where neither the agent nor the gateway speaks the protocol.
        verdict: The gates on it.
        frontends: Through the gateway, the shim's frontends that carry it, with what each needs.
    """

    reach: Reach
    verdict: Verdict
    frontends: tuple[tuple[str, str], ...] = ()


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
    nothing = Gate("declaration", GateState.SHUT, _DECLARES_NOTHING)
    return _by_screen(has_launcher, None if uses_screens else nothing)


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

    def cells(self, facts: ReachFacts) -> tuple[ReachCell, ...]:
        """Return how each kind of agent reaches a capability, in the order of `agents`."""
        interface = self._table.interface(facts.interface)
        return tuple(self._cell(agent, facts, interface) for agent in self._table.agents)

    def route(self, agent: AgentKind, facts: ReachFacts, caller: CallingApp = ORDINARY_APP) -> ReachRoute:
        """Return how an agent comes to a capability: by itself where it can, else through the gateway.

        Where neither can, an agent that speaks the protocol has its own gates.

        Args:
            agent: The kind of agent.
            facts: The capability.
            caller: The agent's app.
        """
        interface = self._table.interface(facts.interface)
        if agent.uses_screens:
            words = (_ON_SCREEN, GateState.OPEN) if facts.has_launcher else (_NO_SCREEN, GateState.SHUT)
            return ReachRoute("ui-only", Verdict((Gate("screen", words[1], words[0]),)))
        if interface is None:
            return ReachRoute("none", _protocol(GateState.SHUT, "only its protocol's own agent calls it"))
        native = facts.verdict(interface, caller)
        is_spoken = interface.id in agent.speaks
        if not is_spoken or native.closed_because is not None:
            route = self._through_gateway(agent, facts, interface)
            if not is_spoken or route.verdict.closed_because is None:
                return route
        return ReachRoute("native", native & facts.native(interface))

    def _through_gateway(self, agent: AgentKind, facts: ReachFacts, interface: Interface) -> ReachRoute:
        verdict, backend = facts.verdict(interface, SHIM), interface.backend
        verdict &= facts.release(guarded_interface(agent))
        if backend is None and not interface.by_shell:
            words = f"the gateway does not call {interface.title}"
            return ReachRoute("gateway", verdict & _protocol(GateState.SHUT, words))
        carried = [(frontend, self._limits(frontend, interface)) for frontend in agent.frontends]
        open_routes = tuple((item, limits) for item, limits in carried if limits is not None)
        if not open_routes:
            words = "the gateway does not carry such calls"
            return ReachRoute("gateway", verdict & _protocol(GateState.SHUT, words))
        titles = " or ".join(self._shim.frontend(item).title for item, _ in open_routes)
        words = f"{_GATEWAY_CALLS}{interface.title}, and the agent the gateway ({titles})"
        verdict &= _protocol(GateState.OPEN, words)
        if facts.levels.get(agent.target or "") == Level.IMPOSSIBLE.value:
            words = f"{agent.target} cannot hold it"
            verdict &= Verdict((Gate("conversion", GateState.SHUT, words),))
        return ReachRoute("gateway", verdict, open_routes)

    def _cell(self, agent: AgentKind, facts: ReachFacts, interface: Interface | None) -> ReachCell:
        route = self.route(agent, facts)
        if agent.uses_screens:
            return _by_screen(facts.has_launcher, None)
        shut, protocol = route.verdict.first_shut, route.verdict.gate("protocol")
        if shut is not None or interface is None or protocol is None:
            return _by_screen(facts.has_launcher, shut)
        needs: tuple[str | None, ...] = (interface.limits,)
        if route.reach == "gateway":
            needs = tuple(
                f"{self._shim.frontend(item).title}: {limits}" if len(route.frontends) > 1 else limits
                for item, limits in route.frontends
                if limits
            )
        return ReachCell(
            reach=route.reach,
            level=EXACT if route.reach == "native" else facts.levels.get(agent.target or ""),
            reason=protocol.fact,
            needs=(*filter(None, needs), *route.verdict.conditions),
        )

    def _limits(self, frontend: str, interface: Interface) -> str | None:
        """Return what a frontend needs to reach a kind of app, None where it does not reach it."""
        if frontend in interface.by_shell:
            return ""
        return None if interface.backend is None else self._shim.limits(frontend, interface.backend)


def guarded_interface(agent: AgentKind) -> Interface | None:
    """Return how an agent calls a shim, where Android guards each way in which the agent calls."""
    spoken = [load_reach().interface(name) for name in agent.speaks]
    is_guarded = all(item is not None and item.caller_permission for item in spoken)
    return next(iter(spoken), None) if is_guarded else None


def _protocol(state: GateState, words: str) -> Verdict:
    return Verdict((Gate("protocol", state, words),))


def _by_screen(has_launcher: bool, shut: Gate | None) -> ReachCell:  # noqa: FBT001
    """Return what is left where calls are not possible; `shut` is None for an agent that makes none."""
    gate = None if shut is None else shut.id
    if has_launcher:
        reason = _ON_SCREEN if shut is None else f"{shut.fact}{_SCREENS_LEFT}"
        return ReachCell(reach="ui-only", level=None, reason=reason, needs=(), gate=gate)
    reason = _NO_SCREEN if shut is None else f"{shut.fact}{_AND_NO_SCREEN}"
    return ReachCell(reach="none", level=None, reason=reason, needs=(), gate=gate or "screen")


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

"""The chain of gates between an agent and a capability, and the verdict: `droidgate why`.

The facts come from where other commands have them: how an agent comes to a capability is `coverage/reach.py`,
whose rules are those of `discover` and `shim build`; what is wrong with a declaration is what `lint` finds;
what a phone lists is what `discover` reads. Here they are put in the order in which a call meets them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Final, Literal

from droidgate.coverage.conversions import LEVELS, estimate_conversions, targets
from droidgate.coverage.coverage_document import Reach
from droidgate.coverage.reach import OF_LIBRARY, ReachFacts, Reaching, ReachRoute, guarded_interface
from droidgate.coverage.unit_rows import is_launched
from droidgate_mappings.formats.application import Application
from droidgate_mappings.formats.format import found_by, load_formats
from droidgate_mappings.formats.installed import is_shim
from droidgate_mappings.formats.reachability import (
    NOT_INDEXED,
    ORDINARY_APP,
    CallingApp,
    Gate,
    GateState,
    component_facts,
    find_component,
    interface_of,
    release_gate,
)
from droidgate_mappings.model.capability import Capability, CapabilityAccess, Provider, State
from droidgate_mappings.model.findings import Finding, Level
from droidgate_mappings.model.json_values import pointer_token
from droidgate_mappings.records import dataclass, field
from droidgate_mappings.tables.android_names import android_name
from droidgate_mappings.tables.reach import AgentKind, Interface, Owner, load_gates, load_reach

VerdictWord = Literal["can", "cannot", "not known"]

_QUERIES_SDK: Final = 30
"""The first API level at which an app sees only what its `<queries>` name (reference android-runtime 1.4)."""
_QUERY_ALL: Final = "android.permission.QUERY_ALL_PACKAGES"
_LENIENT: Final = frozenset({"declaration", "manifest"})
"""Gates whose findings do not shut them where a capability was read, and Android lists it if it lists any."""

_OF_SCREENS: Final = frozenset({"installed", "app-enabled", "screen", "unlocked"})
"""The gates of an agent that calls nothing, and works on the app's screens."""

_OF_PROTOCOLS: Final = frozenset({"protocol", "conversion", "agent-permission", "allow-list"})
"""Gates that follow from the protocols alone where nothing was read of them."""

OPEN, SHUT, UNKNOWN = GateState.OPEN, GateState.SHUT, GateState.UNKNOWN


@dataclass(frozen=True, slots=True)
class FoundGate:
    """A gate as an answer has it.

    Attributes:
        id: Its id.
        title: What has to hold.
        state: `open`, `shut` or `not known`.
        fact: What was read, a clause; of a gate that is not known, what has to be so.
        place: Where it was read; None where it follows from the protocols alone.
        fix: How it is opened; None where it is open.
        owner: Who can open it; None where it is open.
    """

    id: str
    title: str
    state: GateState
    fact: str
    place: str | None
    fix: str | None
    owner: Owner | None


@dataclass(frozen=True, slots=True)
class WhyAnswer:
    """Whether an agent can call a capability.

    Attributes:
        agent: Id of a kind of agents, or the package of an agent's app.
        agent_title: Its name.
        package: The app, None where the source does not say.
        component: Class of the component, None without one.
        protocol: Id of the format; None of an app that declares nothing.
        capability: The capability's id; None of an app that declares nothing.
        verdict: `can`; `cannot` where a gate is shut; `not known` where one is not known and none is shut.
        reach: How the agent comes to it, or would: `native`, `gateway`, `ui-only` or `none`.
        decisive: Id of the first gate that is shut, else of the first not known; None where all are open.
        gates: In the order in which a call meets them.
    """

    agent: str
    agent_title: str
    package: str | None
    component: str | None
    protocol: str | None
    capability: str | None
    verdict: VerdictWord
    reach: Reach
    decisive: str | None
    gates: tuple[FoundGate, ...]

    def __repr__(self) -> str:
        """Return one line: the agent, the verdict, and the gate that decides."""
        gate = f" ({self.decisive})" if self.decisive else ""
        return f"<WhyAnswer {self.agent} {self.verdict}{gate}: {self.capability!r} of {self.package!r}>"

    @property
    def decisive_gate(self) -> FoundGate | None:
        """The gate that decides."""
        return next((gate for gate in self.gates if gate.id == self.decisive), None)


@dataclass(frozen=True, kw_only=True)
class Subject:
    """A capability of an app, with everything that was read of both.

    Attributes:
        provider: What declares it; None of an app that declares nothing.
        capability: The capability; None where only a phone would say what there is.
        application: Its app, None of a descriptor without a manifest.
        package: The app's package, where it is known.
        findings: What linters and readers found in the app.
        sdk_full: The API level, None where none is asked about.
        state_is_read: The phone's listing was read: the capability's state is the phone's.
        levels: What its conversion costs, by `FORMAT+DIALECT`.
        of_phone: Gates that only a phone has.
    """

    provider: Provider | None = None
    capability: Capability | None = None
    application: Application | None = None
    package: str | None = None
    findings: tuple[Finding, ...] = ()
    sdk_full: str | None = None
    state_is_read: bool = False
    levels: Mapping[str, str] = field(default_factory=dict)
    of_phone: tuple[Gate, ...] = ()

    @property
    def sdk(self) -> int | None:
        """The API level without its minor part."""
        return None if self.sdk_full is None else int(self.sdk_full.partition(".")[0])

    @cached_property
    def interface(self) -> Interface | None:
        """How it is called."""
        return None if self.provider is None else interface_of(self.provider)

    @cached_property
    def reach_facts(self) -> ReachFacts:
        """What decides how it is reached, as in a catalog."""
        provider, capability, application = self.provider, self.capability, self.application
        has_launcher = application is not None and any(map(is_launched, application.of_kind("activity")))
        if provider is None:
            return ReachFacts(interface=None, has_launcher=has_launcher)
        component = None if application is None else find_component(application, provider)
        state = State() if capability is None or capability.state is None else capability.state
        interface = self.interface
        return ReachFacts(
            interface=None if interface is None else interface.id,
            has_launcher=has_launcher,
            component=component_facts(provider.access, interface, application, component, self.sdk),
            access=CapabilityAccess() if capability is None else capability.access,
            is_enabled=state.enabled,
            levels=self.levels,
            sdk_full=self.sdk_full,
            read=tuple(gate for gate in _declared_gates(self, is_usable=True) if gate.id == OF_LIBRARY),
        )

    @property
    def place(self) -> str | None:
        """Where its component is declared."""
        component = None
        if self.application is not None and self.provider is not None:
            component = find_component(self.application, self.provider)
        places = (
            component and component.place,
            self.provider and self.provider.source,
            self.application and self.application.place,
        )
        return next((str(place) for place in places if place), None)

    @property
    def declared_at(self) -> str | None:
        """Where the capability itself is declared."""
        source = None if self.capability is None else self.capability.source
        return self.place if source is None else str(source)


@dataclass(frozen=True, kw_only=True)
class AskingAgent:
    """Who would call.

    Attributes:
        kind: The kind of agent, or an app's own row: what it speaks, and how it uses the gateway.
        application: The app, None of a kind.
        granted: The permissions that the app holds; None of a kind.
        requested: The permissions that its manifest requests.
        is_allowed: Whether the device's allow list has it; None where that is not known.
        names_protocol: Its manifest says which protocol it speaks.
    """

    kind: AgentKind
    application: Application | None = None
    granted: frozenset[str] | None = None
    requested: frozenset[str] = frozenset()
    is_allowed: bool | None = None
    names_protocol: bool = True

    @property
    def caller(self) -> CallingApp:
        """The app as the rules of reach take it."""
        return (
            ORDINARY_APP
            if self.granted is None
            else CallingApp(self.kind.title, can_request=True, granted=self.granted, requested=self.requested)
        )


def gates_of_codes() -> dict[str, str]:
    """Return the gate that each code of findings shuts."""
    return {code: gate.id for gate in load_gates().values() for code in gate.codes}


def conversion_levels(provider: Provider) -> list[dict[str, str]]:
    """Return what the conversion of each capability of a provider costs, by `FORMAT+DIALECT` of agents."""
    names = list(targets())
    of_agents = {agent.target for agent in load_reach().agents if agent.target is not None}
    levels: list[dict[str, str]] = [{} for _ in provider.capabilities]
    for item in estimate_conversions(provider, of_agents):
        worst = max(item.level, item.provider_level, key=LEVELS.index)
        levels[item.capability][names[item.target]] = worst
    return levels


MoreGates = Callable[[AskingAgent, Subject, ReachRoute], Iterable[Gate]]
"""Returns the gates that a phone has between an agent and a capability."""


def agent_kind_of(package: str, marks: frozenset[str]) -> AgentKind:
    """Return what an agent's app speaks, by the actions of its `<queries>` and the permissions it requests.

    Args:
        package: The app.
        marks: Actions and permissions.
    """
    table = load_reach()
    speaks = {item.id for item in table.interfaces if not marks.isdisjoint(item.agent_marks)}
    kinds = [kind for kind in table.agents if not speaks.isdisjoint(kind.speaks)]
    return AgentKind(
        id=package,
        title=package,
        speaks=tuple(name for kind in kinds for name in kind.speaks),
        frontends=tuple(name for kind in kinds for name in kind.frontends),
        target=kinds[0].target if kinds else None,
    )


@dataclass
class GateChains:
    """Answers for agents and capabilities.

    Attributes:
        more: The gates that only a phone has.
    """

    more: MoreGates = lambda _agent, _subject, _way: ()
    _reaching: Reaching = field(default_factory=Reaching)

    def answer(self, agent: AskingAgent, subject: Subject) -> WhyAnswer:
        """Return whether an agent can call a capability, with the gates in between."""
        route = self._reaching.route(agent.kind, subject.reach_facts, agent.caller)
        if subject.application is None and subject.provider is None:
            chain = list(subject.of_phone)
        elif agent.kind.uses_screens:
            every = (*subject.of_phone, *route.verdict.gates, *self.more(agent, subject, route))
            chain = [gate for gate in every if gate.id in _OF_SCREENS]
        else:
            chain = [*subject.of_phone, *self._gates(agent, subject, route)]
        order = {gate_id: number for number, gate_id in enumerate(load_gates())}
        gates = tuple(
            _found_gate(gate, subject)
            for gate in sorted(_without_repeats(chain), key=lambda gate: order[gate.id])
        )
        first = {gate.state: gate.id for gate in reversed(gates)}
        verdict: VerdictWord = "cannot" if SHUT in first else "not known" if UNKNOWN in first else "can"
        provider, capability = subject.provider, subject.capability
        return WhyAnswer(
            agent=agent.kind.id,
            agent_title=agent.kind.title,
            package=subject.package,
            component=None if provider is None else provider.component,
            protocol=None if provider is None else provider.protocol,
            capability=None if capability is None else capability.id,
            verdict=verdict,
            reach=route.reach,
            decisive=first.get(SHUT, first.get(UNKNOWN)),
            gates=gates,
        )

    def _gates(self, agent: AskingAgent, subject: Subject, route: ReachRoute) -> Iterator[Gate]:
        of_release = list(_of_release(subject))
        is_usable = subject.capability is not None and all(gate.state is not SHUT for gate in of_release)
        yield from (gate for gate in _declared_gates(subject, is_usable=is_usable) if gate.id != OF_LIBRARY)
        if subject.provider is None:
            return
        yield from (gate for gate in of_release if route.reach == "native" or gate.id != OF_LIBRARY)
        yield from route.verdict.gates
        if not agent.names_protocol:
            words = (
                "its manifest names no protocol: neither an action in <queries> nor a permission of callers"
            )
            yield Gate("protocol", UNKNOWN, words)
        if route.reach == "native":
            yield from _visibility_gates(agent, subject)
            yield from _permission_gates(agent, subject, subject.interface)
        elif route.frontends:
            yield from _visibility_gates(agent, subject, of_shim=True)
            yield from _permission_gates(agent, subject, guarded_interface(agent.kind))
        yield from self.more(agent, subject, route)


def _without_repeats(gates: Iterable[Gate]) -> list[Gate]:
    """Return each gate once: shut where it was found shut, else not known where that was found."""
    gates_by_id: dict[str, Gate] = {}
    rank = {OPEN: 0, UNKNOWN: 1, SHUT: 2}
    for gate in gates:
        earlier_gate = gates_by_id.get(gate.id)
        if earlier_gate is None or rank[gate.state] > rank[earlier_gate.state]:
            gates_by_id[gate.id] = gate
    return list(gates_by_id.values())


def _found_gate(gate: Gate, subject: Subject) -> FoundGate:
    kind = load_gates()[gate.id]
    is_open = gate.state is OPEN
    place = gate.place
    if place is None and gate.id not in _OF_PROTOCOLS:
        place = subject.declared_at if gate.id in {"access", "function-enabled"} else subject.place
    return FoundGate(
        gate.id,
        kind.title,
        gate.state,
        gate.fact,
        place,
        None if is_open else gate.fix or kind.fix,
        None if is_open else gate.owner or kind.owner,
    )


def _declared_gates(subject: Subject, *, is_usable: bool) -> Iterator[Gate]:
    """Yield whether the declaration was read, listed and understood, by the codes of findings.

    Args:
        subject: The capability.
        is_usable: It was read all the same, and this release of Android has it.
    """
    was_read = subject.capability is not None
    is_explained = False
    codes = gates_of_codes()
    for finding in subject.findings:
        gate_id = codes.get(finding.code)
        if gate_id is None or not _is_about(finding, subject):
            continue
        state = UNKNOWN if is_usable and gate_id in _LENIENT else SHUT
        is_explained |= gate_id in _LENIENT
        yield Gate(
            gate_id, state, finding.text, str(finding.source) if finding.source else None, finding.hint
        )
    if was_read:
        yield Gate("declaration", OPEN, "the declaration was read", subject.declared_at)
    elif subject.provider is not None:
        words = "no file of the app lists what it declares"
        yield Gate("declaration", UNKNOWN, words, subject.place, found_by(subject.provider), "user")
    elif not is_explained:
        words = "the app declares nothing in a protocol that is known"
        fix = "declare capabilities in one of the protocols of `droidgate formats`"
        place = None if subject.application is None else str(subject.application.place)
        yield Gate("declaration", SHUT, words, place, fix)


def _is_about(finding: Finding, subject: Subject) -> bool:
    """Return whether a finding is about a capability, or about everything that is declared with it."""
    capability, provider = subject.capability, subject.provider
    if capability is None or provider is None:
        return finding.source is not None and finding.source.path.startswith(_root_of(subject))
    if finding.level is Level.NOTE:
        return False
    place, application = finding.source, subject.application
    declared = {item.source.path for item in (provider, capability) if item.source is not None}
    first = finding.pointer.split("/")[1:2]
    if first:
        # Another app of the source may have a capability of the same id.
        is_elsewhere = (
            place is not None
            and application is not None
            and place.path not in declared
            and not place.path.startswith(_root_of(subject))
        )
        return first == [pointer_token(capability.id)] and not is_elsewhere
    if place is None or application is None or place.path != application.place.path:
        return place is not None and place.path in declared
    # Of a manifest, what is below the component's element.
    component = find_component(application, provider)
    own = None if component is None or component.place is None else component.place.line
    starts = sorted(item.place.line or 0 for item in application.components if item.place is not None)
    line = place.line or 0
    return own is not None and own <= line and all(not own < start <= line for start in starts)


def _root_of(subject: Subject) -> str:
    """Return what the paths of an app's files begin with: its APK, or the folder of its manifest."""
    path = "\0" if subject.application is None else subject.application.place.path
    apk, mark, _ = path.partition("!/")
    return f"{apk}{mark}" if mark else path.rpartition("/")[0]


def _of_release(subject: Subject) -> Iterator[Gate]:
    """Yield what the release of Android makes of the declaration."""
    interface, application, capability = subject.interface, subject.application, subject.capability
    sdk, minimum = subject.sdk, None if application is None else application.minimum_sdk
    if interface is None or capability is None:
        return
    if sdk is None:
        if interface.since:
            words = f"{interface.title} need {android_name(interface.since)} or later"
            yield Gate("release", UNKNOWN, words, fix="name a release with --sdk, or a phone with --serial")
        return
    place = "getprop" if subject.state_is_read else "--sdk"
    gate = release_gate(interface, subject.sdk_full or str(sdk), minimum, place)
    yield gate
    if gate.state is OPEN and interface.bound_by == "system":
        yield _index_gate(subject, capability)
        yield Gate("signature", OPEN, "nothing in its signature keeps Jetpack's reader from it")


def _index_gate(subject: Subject, capability: Capability) -> Gate:
    """Return whether the release's indexer has a capability, or would have it."""
    state = capability.state or State()
    if state.indexed is not None:
        words = "the phone lists it" if state.indexed else NOT_INDEXED
        return Gate("indexed", OPEN if state.indexed else SHUT, words, "the listing of the running system")
    format_ = None if subject.provider is None else load_formats().get(subject.provider.protocol)
    application, release = subject.application, subject.sdk_full
    if format_ is None or format_.phones.why_not_indexed is None or application is None or release is None:
        return Gate("indexed", UNKNOWN, "only a manifest and its files say what Android would list")
    reason = format_.phones.why_not_indexed(application, capability.id, release)
    if reason is None and not subject.state_is_read:
        return Gate("indexed", OPEN, f"by the rules of {android_name(release)} it is listed")
    if reason is None:
        words = f"by the rules of {android_name(release)} it is listed; the phone's shell does not say"
        return Gate("indexed", UNKNOWN, words, fix="look at `adb shell dumpsys app_function`")
    is_from_code = not application.is_built and (subject.declared_at or "").partition(":")[0].endswith(".kt")
    if is_from_code:
        words = "its files are written by the build"
        return Gate("indexed", UNKNOWN, words, fix="ask about the APK: --source APP.apk")
    return Gate("indexed", SHUT, reason)


def _visibility_gates(agent: AskingAgent, subject: Subject, *, of_shim: bool = False) -> Iterator[Gate]:
    """Yield whether Android lets an agent see the called app or a shim (reference android-runtime 1.4)."""
    application, called, interface = agent.application, subject.application, subject.interface
    if application is None or interface is None or interface.bound_by == "network":
        return
    place, seen_by = str(application.place), agent.kind.title
    target_sdk = application.target_sdk
    names = {name for query in application.queries if query.kind == "package" for name in query.names}
    actions = {name for query in application.queries if query.kind == "intent" for name in query.names}
    declared = {
        action
        for component in (() if called is None else called.components)
        for part in component.filters
        for action in part.actions
    }
    title, is_named = "the app", subject.package in names
    if of_shim:
        spoken = [item for item in load_reach().interfaces if item.id in agent.kind.speaks]
        declared = {mark for item in spoken for mark in (*item.agent_marks, item.action_text) if mark}
        title, is_named = "a shim", any(map(is_shim, names))
    if (subject.sdk is not None and subject.sdk < _QUERIES_SDK) or (
        target_sdk or _QUERIES_SDK
    ) < _QUERIES_SDK:
        yield Gate("visible", OPEN, "an app sees every other one here", place)
    elif _QUERY_ALL in (agent.granted or ()):
        yield Gate("visible", OPEN, f"{seen_by} holds {_QUERY_ALL}", place)
    elif is_named:
        yield Gate("visible", OPEN, f"{seen_by} names {title} in <queries>", place)
    elif declared & actions:
        yield Gate("visible", OPEN, f"{seen_by} names {min(declared & actions)} in <queries>", place)
    else:
        words = f"{seen_by} names neither {title} nor an action of it in <queries>, so it finds none of it"
        yield Gate("visible", SHUT, words, place)


def _permission_gates(agent: AskingAgent, subject: Subject, interface: Interface | None) -> Iterator[Gate]:
    """Yield whether Android lets an agent call at all by an interface (reference appfunctions 7.1 to 7.3)."""
    title, sdk = agent.kind.title, subject.sdk
    permission = None if interface is None else interface.caller_permission
    if interface is None or permission is None:
        return
    allow_list = interface.allow_list
    if allow_list is not None and sdk is not None and sdk < allow_list.since:
        allow_list = None
    if allow_list is not None and allow_list.exempt in (agent.granted or ()):
        yield Gate("agent-permission", OPEN, f"{title} holds {allow_list.exempt}", "dumpsys package")
        yield Gate("allow-list", OPEN, f"{title} holds {allow_list.exempt}, which needs no entry")
        return
    if agent.granted is None:
        yield Gate(
            "agent-permission", UNKNOWN, f"an agent needs {permission}, which ordinary apps cannot hold"
        )
    elif permission in agent.granted:
        yield Gate("agent-permission", OPEN, f"{title} holds {permission}", "dumpsys package")
    elif requested := sorted(interface.caller_permissions & agent.requested):
        words = f"{title} requests {requested[0]} and does not hold it: it is for apps of the device's image"
        yield Gate("agent-permission", SHUT, words, "dumpsys package")
    else:
        fix, words = f"request {permission}", f"the manifest of {title} does not request {permission}"
        yield Gate("agent-permission", SHUT, words, "dumpsys package", fix, "agent developer")
    if allow_list is None or sdk is None:
        return
    release = android_name(allow_list.since)
    if agent.is_allowed is False:
        words = f"the list does not have {title}, and {release} refuses pairs that it does not have"
        yield Gate("allow-list", SHUT, words, f"cmd {allow_list.service} {allow_list.command}")
    else:
        words = f"{release} refuses pairs of agent and app that its list does not have, and shows no pair"
        yield Gate("allow-list", UNKNOWN, words)

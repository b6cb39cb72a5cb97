"""Why an agent can or cannot call a capability, of a phone or of any other source: gathering the facts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from os import PathLike
from typing import Final

from droidgate.calls.approvals import approving_command
from droidgate.calls.caller import CapabilityCaller
from droidgate.calls.phones import Phone, open_device
from droidgate.calls.shim_route import ShimRoute
from droidgate.calls.subjects import (
    CLIENT_PREFIX,
    EVERY_CLIENT,
    MAX_LISTED,
    CapabilityKey,
    check_client,
    distinct_names,
    key_of,
    names_capability,
    suggest_capability,
)
from droidgate.calls.targets import CallTarget, PhoneTargets, check_protocol
from droidgate.coverage.reach import ReachRoute
from droidgate.devices.device_errors import CommandFailedError, DeviceOutputError
from droidgate.devices.packages import (
    InstalledPackage,
    PackageState,
    disabled_packages,
    package_states,
    permissions_of,
    query_components,
)
from droidgate.devices.quoting import check_package, check_user, is_package, quote_argument
from droidgate.gates.gate_chains import (
    AskingAgent,
    GateChains,
    Subject,
    WhyAnswer,
    agent_kind_of,
    conversion_levels,
    gates_of_codes,
)
from droidgate.shims.device_user import DeviceUser, InstalledShim, installed_shims, target_problem
from droidgate.shims.doctor import (
    APP_FUNCTIONS,
    NOTIFICATIONS,
    SCREEN_LOCK,
    START_ROUTE,
    DoctorCheck,
    examine,
)
from droidgate.shims.host_client import ANY_APP, EVERY_CAPABILITY
from droidgate.sources import check_declared, read_sources
from droidgate.sources.callability import why_not_by_shell
from droidgate.sources.folders import read_bytes
from droidgate.sources.linting import check_reading, unreadable_finding
from droidgate.sources.phone_source import (
    InstalledApp,
    PhoneReading,
    PhoneRequest,
    parse_phone_source,
    read_phone,
)
from droidgate.sources.source_results import Providers
from droidgate.sources.source_schemes import DEVICE_SCHEME, source_names
from droidgate_mappings.formats.application import Application
from droidgate_mappings.formats.format import found_by, load_formats, silent_providers
from droidgate_mappings.formats.installed import is_shim
from droidgate_mappings.formats.reachability import Gate, GateState, find_component, interface_of
from droidgate_mappings.model.capability import Capability, Provider
from droidgate_mappings.model.errors import DroidgateError, InputError, UsageError, option_hint
from droidgate_mappings.model.findings import Finding
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.records import dataclass, field, replace
from droidgate_mappings.tables.clients import load_clients
from droidgate_mappings.tables.reach import Interface, load_reach
from droidgate_mappings.text.nearest_names import closest_name, suggest_name
from droidgate_mappings.values.failures import CallError
from droidgate_shim.builder.shim_manifest import frontends_on_request

_KINDS: Final[Mapping[str, str]] = {"service": "services", "activity": "activities", "receiver": "receivers"}
_AGENTS: Final = re.compile(r"^Valid agents: \[(?P<names>[^\]\n]*)\]", re.MULTILINE)
_LEVEL: Final = re.compile(r"\d{1,3}(?:\.\d{1,3})?", re.ASCII)
_HOST: Final = "host"
_CLIENT: Final = "mcp-client"
_INSTALL: Final = "droidgate shim install"
OPEN, SHUT, UNKNOWN = GateState.OPEN, GateState.SHUT, GateState.UNKNOWN
_STATES: Final[Mapping[str, GateState]] = {"ok": OPEN, "problem": SHUT, "unknown": UNKNOWN}
_APPROVED: Final = {"policy": "your policy allows it", "option": "it is allowed while the server runs"}


def why(
    capability: str | None = None,
    *,
    agent: str | None = None,
    source: str | PathLike[str] = DEVICE_SCHEME,
    app: str | None = None,
    protocol: str | None = None,
    sdk: str | float | None = None,
) -> tuple[WhyAnswer, ...]:
    """Return whether agents can call capabilities, each with the gates in between.

    Args:
        capability: As `Phone.call` takes it, or the package of an app for all of its capabilities; every
            capability by default.
        agent: A kind of agents, as `droidgate coverage` lists them (`mobile-mcp`, `app-functions`), an MCP
            client by its name in the audit log (`mcp:claude-code`), or the package of an agent's app on the
            phone; every kind by default.
        source: A phone (`adb:`, `adb:SERIAL`, `adb:SERIAL/PACKAGE`), or any other source as `read` takes it.
        app: Only capabilities of this package.
        protocol: Only capabilities of this format.
        sdk: The API level to ask about, such as `36.1`, where the source is not a phone.

    Raises:
        UsageError: no capability, or more than one, is named so; the agent is unknown; a phone and `sdk`.
        InputError: the source cannot be read.
        DeviceError: the phone cannot be reached or used.

    Example:
        >>> (answer,) = droidgate.why("page_count", agent="mobile-mcp", source="pdf-tool")
        >>> answer.verdict, answer.reach
        ('can', 'gateway')
    """
    check_protocol(protocol)
    (name,) = source_names([source])
    if not name.startswith(DEVICE_SCHEME):
        agents = _kinds(agent, on_phone=False)
        level = None if sdk is None else str(sdk)
        if level is not None and _LEVEL.fullmatch(level) is None:
            raise UsageError(f"{sdk!r} is not an API level", hint="write it as 34 or 36.1")
        subjects = _match(_subjects_of_source(name, level), capability, app, protocol)
        return _answers(GateChains(), agents, subjects)
    if sdk is not None:
        raise UsageError(
            "a phone has a release of its own", hint=option_hint("leave {} out", "--sdk", "sdk=")
        )
    serial, package = parse_phone_source(name)
    phone = WhyOnPhone(open_device(serial))
    return phone.answers(capability, agent=agent, app=app or package, protocol=protocol)


def _answers(
    chains: GateChains, agents: Iterable[AskingAgent], subjects: Iterable[Subject]
) -> tuple[WhyAnswer, ...]:
    agents = tuple(agents)
    return tuple(chains.answer(agent, subject) for subject in subjects for agent in agents)


def _kinds(name: str | None, *, on_phone: bool) -> tuple[AskingAgent, ...]:
    """Return the kinds of agents that a name means; nothing where it may be an app of the phone.

    Raises:
        UsageError: it is neither a kind nor an app of a phone.
    """
    kinds = tuple(AskingAgent(kind=agent) for agent in load_reach().agents)
    if name is None:
        return kinds
    if name.startswith(CLIENT_PREFIX):
        check_client(name)
        (client,) = (kind.kind for kind in kinds if kind.kind.id == _CLIENT)
        return (AskingAgent(kind=client.changed({"id": name, "title": name})),)
    matching_kinds = tuple(kind for kind in kinds if kind.kind.id == name)
    if matching_kinds or (on_phone and "." in name and is_package(name)):
        return matching_kinds
    ids = [kind.kind.id for kind in kinds]
    clients = (f"{CLIENT_PREFIX}{client}" for client in load_clients())
    hint = suggest_name(name, [*ids, *clients], most=len(ids))
    others = f"an MCP client, such as {CLIENT_PREFIX}claude-code, or the package of an agent's app on a phone"
    raise UsageError(f"unknown agent {name!r}", hint=f"{hint}; or {others}")


def _subjects_of_source(source: str, sdk: str | None) -> list[Subject]:
    """Return the capabilities of a source, and the apps in it that declare nothing.

    Raises:
        InputError: it cannot be read.
    """
    reading = read_sources([source])
    if not reading.applications:
        check_declared(reading, [source])
    findings = _findings_of(reading)
    components = {(item.package, item.component) for item in reading}
    silent = (
        provider
        for application in reading.applications
        for provider in silent_providers(application, load_formats().values())
        if (provider.package, provider.component) not in components
    )
    return _subjects((*reading, *silent), reading.applications, findings, sdk)


def _findings_of(reading: Providers) -> tuple[Finding, ...]:
    """Return what linters and readers find in a source that shuts a gate."""

    def content_of(path: str) -> bytes | None:
        with suppress(InputError):
            return read_bytes(path)
        return None

    try:
        linted = tuple(check_reading(reading, load_formats().values(), content_of))
    except DroidgateError:
        linted = ()
    codes, unreadable = gates_of_codes(), map(unreadable_finding, reading.problems)
    return tuple(item for item in (*linted, *unreadable, *reading.findings) if item.code in codes)


def _subjects(
    reading: Iterable[Provider],
    applications: Iterable[Application],
    findings: tuple[Finding, ...],
    sdk: str | None,
) -> list[Subject]:
    applications = tuple(applications)
    subjects: list[Subject] = []
    for provider in reading:
        application = _application_of(provider, applications)
        subjects += _of_provider(provider, application, findings, sdk)
    declaring = {subject.package for subject in subjects}
    return subjects + [
        Subject(application=item, package=item.package, findings=findings, sdk_full=sdk)
        for item in applications
        if item.package not in declaring
    ]


def _application_of(provider: Provider, applications: tuple[Application, ...]) -> Application | None:
    apps = [item for item in applications if item.package == provider.package]
    return next((item for item in apps if find_component(item, provider)), apps[0] if apps else None)


def _of_provider(
    provider: Provider, application: Application | None, findings: tuple[Finding, ...], sdk: str | None
) -> Iterator[Subject]:
    levels = conversion_levels(provider)
    capabilities: list[tuple[Capability | None, dict[str, str]]] = []
    if found_by(provider) is not None:
        capabilities.append((None, {}))
    capabilities += zip(provider.capabilities, levels, strict=True)
    for capability, level in capabilities:
        yield Subject(
            provider=provider,
            capability=capability,
            application=application,
            package=provider.package,
            findings=findings,
            sdk_full=sdk,
            levels=level,
        )


def _match(subjects: list[Subject], text: str | None, app: str | None, protocol: str | None) -> list[Subject]:
    """Return the subjects that are meant.

    Raises:
        UsageError: none is named so, or several are.
    """
    in_app = [
        subject
        for subject in subjects
        if app in {None, subject.package}
        and (protocol is None or (subject.provider is not None and subject.provider.protocol == protocol))
    ]
    if not in_app:
        packages = sorted({subject.package for subject in subjects if subject.package})
        raise UsageError(
            "no capability in the source is of that app and format",
            hint=f"its apps: {', '.join(packages) or 'none'}",
        )
    if text is None or (app is None and text in {subject.package for subject in in_app}):
        return [subject for subject in in_app if text in {None, subject.package}]
    matches = [
        subject for subject in in_app if (key := _key_of(subject)) is not None and names_capability(text, key)
    ]
    declared = [key for key in map(_key_of, in_app) if key is not None]
    keys = dict.fromkeys(key for key in map(_key_of, matches) if key is not None)
    if len({(key.package, key.capability) for key in keys}) > 1:
        message = f"{len(keys)} capabilities of the source are called {text!r}"
        raise UsageError(message, hint=f"name one: {', '.join(distinct_names(keys, declared))}")
    if not matches:
        ids = [key.capability for key in declared]
        question = suggest_capability(text, declared)
        hint = question or f"there are: {', '.join(ids[:MAX_LISTED]) or 'none'}"
        raise UsageError(f"no capability of the source is called {text!r}", hint=hint)
    return matches


def _key_of(subject: Subject) -> CapabilityKey | None:
    provider, capability = subject.provider, subject.capability
    return None if provider is None or capability is None else key_of(provider, capability.id, user=0)


def _request_for(package: str) -> PhoneRequest:
    return PhoneRequest(tuple(load_formats().values()), package=package)


@dataclass
class WhyOnPhone:
    """Answers about one phone; what was read of it is kept.

    Attributes:
        phone: The phone.
    """

    phone: Phone
    _of_apps: dict[tuple[str, str], tuple[Gate, ...]] = field(default_factory=dict)
    _targets: dict[tuple[int, int], CallTarget] = field(default_factory=dict)
    _shims: ShimRoute = field(default_factory=ShimRoute)
    _components: dict[tuple[str, str], list[str] | None] = field(default_factory=dict)

    @cached_property
    def targets(self) -> PhoneTargets:
        """What its apps declare."""
        return self.phone.caller.targets

    @property
    def reading(self) -> PhoneReading:
        """The same, as it was read."""
        return self.targets.reading

    @cached_property
    def device_user(self) -> DeviceUser:
        """Where its shims are."""
        return DeviceUser(self.phone.device, self.reading.facts.user, self.reading.facts.sdk_full)

    @cached_property
    def packages(self) -> Mapping[str, InstalledPackage]:
        """What is installed there."""
        return self.device_user.packages()

    @cached_property
    def shims(self) -> Mapping[str, InstalledShim]:
        """Its shims by application id."""
        return {shim.application_id: shim for shim in installed_shims(self.device_user, self.packages)}

    @cached_property
    def checks(self) -> tuple[DoctorCheck, ...]:
        """What `shim doctor` found."""
        return examine(self.device_user, tuple(self.shims.values()))

    @cached_property
    def disabled(self) -> frozenset[str]:
        """The apps that are disabled."""
        return disabled_packages(self.phone.device, self.device_user.user)

    def answers(
        self,
        capability: str | None = None,
        *,
        agent: str | None = None,
        app: str | None = None,
        protocol: str | None = None,
    ) -> tuple[WhyAnswer, ...]:
        """Return the answers about agents and capabilities, as `why` does."""
        agents = _kinds(agent, on_phone=True) or (self.agent_app(agent or ""),)
        if app is not None:
            check_package(app)
        subjects = self.subjects(capability, app, protocol)
        return _answers(GateChains(self.of_phone), agents, subjects)

    def subjects(self, capability: str | None, app: str | None, protocol: str | None) -> list[Subject]:
        """Return the capabilities that are meant; the app that is named as a whole where it declares nothing.

        A named app is read although no query of Android's shows it, since that may be what is wrong.
        """
        installed = self.packages
        prefix, slash, _ = (capability or "").partition("/")
        if app is None and prefix in installed:
            app = prefix
            if not slash:
                capability = None
        if app is not None and app not in installed:
            return [self._absent(app)]
        is_shown = any(
            provider.capabilities or found_by(provider) is not None
            for installed_app in self.reading.apps
            for provider in installed_app.providers
            if installed_app.package == app
        )
        if app is not None and not is_shown:
            return self._hidden(capability, app, protocol)
        if capability is not None:
            try:
                target = self.targets.find(capability, app=app, protocol=protocol)
            except UsageError:
                is_end = any(f".{name}".endswith(f".{prefix}") for name in installed if not is_shim(name))
                if not is_end and slash and is_package(prefix):
                    return [self._absent(prefix)]
                # Android's queries leave disabled apps out, which may be why it is asked about.
                for package in sorted(self.disabled):
                    with suppress(UsageError, InputError):
                        hidden_subjects = self._hidden(capability, package, protocol)
                        if hidden_subjects[0].capability is not None:
                            return hidden_subjects
                raise
            return list(self._of_targets([target]))
        targets = [
            target
            for target in self.targets.all()
            if app in {None, target.app.package} and protocol in {None, target.provider.protocol}
        ]
        silent = [
            Subject(
                provider=provider,
                application=installed_app.application,
                package=installed_app.package,
                findings=self._findings(installed_app),
                sdk_full=self.device_user.sdk_full,
                of_phone=self._of_app(installed_app, provider, interface_of(provider)),
            )
            for installed_app in self.reading.apps
            for provider in installed_app.providers
            if app in {None, installed_app.package} and protocol in {None, provider.protocol}
            if found_by(provider) is not None and all(item.app is not installed_app for item in targets)
        ]
        return [*self._of_targets(targets), *silent]

    def _absent(self, package: str) -> Subject:
        """Return an app that the user in front does not have."""
        user = self.device_user.user
        states = package_states(self.phone.device, package)
        words, fix = f"it is not installed for user {user}, who is in front", None
        holders = sorted(holder for holder, state in states.items() if state.is_installed)
        if user in states and states[user].is_archived:
            words, fix = f"it is archived for user {user}, who is in front", "tap its icon, which restores it"
        elif user in states and states[user].is_hidden:
            words = f"it is hidden from user {user}, who is in front"
            fix = "ask the administrator of the device, who hides it"
        elif holders:
            words = f"it is installed for user {', '.join(map(str, holders))}, and user {user} is in front"
            fix = f"adb shell pm install-existing --user {user} {package}"
        elif (closest := closest_name(package, self.packages)) is not None:
            fix = f"install it; or did you mean {closest!r}?"
        return Subject(package=package, of_phone=(Gate("installed", SHUT, words, "dumpsys package", fix),))

    def _hidden(self, capability: str | None, app: str, protocol: str | None) -> list[Subject]:
        """Return the capabilities of an app that Android does not show to queries."""
        (read,) = read_phone(self.phone.device, _request_for(app)).apps
        targets = [
            CallTarget(provider, item, read, self.device_user.user)
            for provider in read.providers
            for item in provider.capabilities
        ]
        if targets:
            return _match(list(self._of_targets(targets)), capability, app, protocol)
        whole = Subject(
            application=read.application,
            package=app,
            findings=self._findings(read),
            sdk_full=self.device_user.sdk_full,
            of_phone=self._of_app(read, None, None),
        )
        return [whole]

    def _findings(self, app: InstalledApp) -> tuple[Finding, ...]:
        applications = () if app.application is None else (app.application,)
        return _findings_of(Providers(app.providers, app.findings, applications, problems=app.problems))

    def _of_targets(self, targets: Iterable[CallTarget]) -> Iterator[Subject]:
        levels: dict[int, list[dict[str, str]]] = {}
        findings: dict[str, tuple[Finding, ...]] = {}
        for target in targets:
            app, provider, capability = target.app, target.provider, target.capability
            if id(provider) not in levels:
                levels[id(provider)] = conversion_levels(provider)
            if app.package not in findings:
                findings[app.package] = self._findings(app)
            self._targets[id(provider), id(capability)] = target
            number = next(at for at, item in enumerate(provider.capabilities) if item is capability)
            yield Subject(
                provider=provider,
                capability=capability,
                application=app.application,
                package=app.package,
                findings=findings[app.package],
                sdk_full=self.device_user.sdk_full,
                state_is_read=True,
                levels=levels[id(provider)][number],
                of_phone=self._of_app(app, provider, interface_of(provider)),
            )

    def _of_app(
        self, app: InstalledApp, provider: Provider | None, interface: Interface | None
    ) -> tuple[Gate, ...]:
        """Return what the phone says of an app and a component, whatever the agent."""
        key = (app.package, "" if provider is None else provider.component or "")
        if key not in self._of_apps:
            user = self.device_user.user
            words = f"it is installed for user {user}, who is in front"
            gates = [Gate("installed", OPEN, words, "pm list packages")]
            state = package_states(self.phone.device, app.package).get(user, PackageState())
            if state.is_quarantined or (state.is_suspended and _opens_screens(provider)):
                fix = (
                    "end it where it began: Digital Wellbeing, parental controls, the device's administrator"
                )
                words = f"the app is suspended for user {user}"
                gates.append(Gate("app-enabled", SHUT, words, "dumpsys package", fix))
            elif app.package in self.disabled:
                gates.append(
                    Gate("app-enabled", SHUT, "the phone reports the app as disabled", "pm list packages -d")
                )
            elif provider is not None and interface is not None:
                gates += self._answers_action(app, provider, interface)
            self._of_apps[key] = tuple(gates)
        return self._of_apps[key]

    def _answers_action(self, app: InstalledApp, provider: Provider, interface: Interface) -> Iterator[Gate]:
        """Yield whether Android finds a component by the action that calls have."""
        component = None if app.application is None else find_component(app.application, provider)
        action = interface.action_text
        kind = None if component is None else _KINDS.get(component.kind)
        if app.application is None or component is None or action is None or kind is None:
            return
        if not component.has_action(action):
            return
        name = f"{app.package}/{app.application.qualified_name(component)}"
        listed = self._found_by(kind, action)
        if listed is not None and name not in listed:
            words = f"Android does not find it by {action}: the component is switched off"
            yield Gate("component-enabled", SHUT, words, f"cmd package query-{kind}")

    def _found_by(self, kind: str, action: str) -> list[str] | None:
        """Return the components that Android finds by an action; None where it does not say."""
        if (kind, action) not in self._components:
            listed = None
            with suppress(CommandFailedError, DeviceOutputError):
                listed = query_components(self.phone.device, kind, action, self.device_user.user)  # type: ignore[arg-type]
            self._components[kind, action] = listed
        return self._components[kind, action]

    def _to_advertise(self, agent: AskingAgent, application_id: str | None = None) -> str:
        """Return the options that a shim has to be installed with so that an agent finds it.

        Args:
            agent: The agent.
            application_id: The shim that is installed, which keeps what it advertises; None for none.

        Returns:
            Nothing where the agent finds each shim, or this one.
        """
        found = set()
        for interface in load_reach().interfaces if application_id is not None else ():
            kinds, action = map(_KINDS.get, interface.components), interface.action_text
            lists = [
                self._found_by(kind, action) for kind in kinds if kind is not None and action is not None
            ]
            of_shim = f"{application_id}/"
            if any(listed is None or any(item.startswith(of_shim) for item in listed) for listed in lists):
                found.add(_advertised_by(interface))
        spoken = {_advertised_by(item) for item in load_reach().interfaces if item.id in agent.kind.speaks}
        words = set() if None in spoken or found & spoken else found | spoken
        return "".join(f" --advertise {word}" for word in sorted(filter(None, words)))

    def agent_app(self, package: str) -> AskingAgent:
        """Return an agent's app.

        Raises:
            DeviceError: it is not installed.
        """
        (app,) = read_phone(self.phone.device, _request_for(package)).apps
        requested, granted = permissions_of(self.phone.device, package, self.device_user.user)
        queries = () if app.application is None else app.application.queries
        actions = {name for query in queries if query.kind == "intent" for name in query.names}
        kind = agent_kind_of(package, frozenset(actions | requested))
        names_protocol = bool(kind.speaks)
        if not names_protocol:
            every = [item for item in load_reach().agents if not item.uses_screens]
            speaks = tuple(name for item in every for name in item.speaks)
            kind = kind.changed({"speaks": speaks})
        return AskingAgent(
            kind=kind,
            application=app.application,
            granted=granted,
            requested=requested,
            is_allowed=self._is_allowed(package),
            names_protocol=names_protocol,
        )

    def _is_allowed(self, package: str) -> bool | None:
        """Return whether the device's allow list has an agent; None where Android does not show it."""
        facts = self.reading.facts
        lists = [item.allow_list for item in load_reach().interfaces if item.allow_list is not None]
        for allow_list in lists:
            # The service's help does not always have the command, which builds without its flag refuse.
            if facts.sdk < allow_list.since or not facts.shell_commands:
                continue
            command = [
                "cmd",
                allow_list.service,
                allow_list.command,
                "--user",
                check_user(self.device_user.user),
            ]
            result = self.phone.device.run(command)
            match = _AGENTS.search(result.text) if result.exit_status == 0 else None
            if match is not None:
                return package in {name.strip() for name in match["names"].split(",")}
        return None

    def of_phone(self, agent: AskingAgent, subject: Subject, reach_route: ReachRoute) -> Iterator[Gate]:
        """Yield the gates of the phone between an agent and a capability: shim, grants, screen lock."""
        provider, capability, interface = subject.provider, subject.capability, subject.interface
        if agent.kind.uses_screens or (interface is not None and "activity" in interface.components):
            yield from self._checked("unlocked", SCREEN_LOCK.id, None)
        if provider is None or capability is None or interface is None or subject.package is None:
            return
        if reach_route.reach != "gateway" or not reach_route.frontends:
            return
        target = self._targets.get((id(provider), id(capability)))
        if target is None:
            return
        is_of_host = any(frontend == _HOST for frontend, _ in reach_route.frontends)
        if is_of_host:
            yield from _of_computer(self.phone.caller, agent, target)
        routes = self.targets.callability(target).routes if is_of_host else ()
        ready = next((route for route in routes if route.ready and not route.id.startswith("shim-")), None)
        if ready is not None and why_not_by_shell(provider, capability) is None:
            yield Gate("shim", OPEN, f"none is needed: Android's own shell calls it ({ready.title})")
            return
        yield from self._through_shim(agent, target, reach_route, interface, is_of_host=is_of_host)

    def _through_shim(
        self,
        agent: AskingAgent,
        target: CallTarget,
        reach_route: ReachRoute,
        interface: Interface,
        *,
        is_of_host: bool,
    ) -> Iterator[Gate]:
        try:
            application_id, _, prepared = self._shims.find(target, self.device_user, self.packages)
        except CallError as error:
            fix = error.hint
            if fix is not None and not is_of_host:
                fix = fix.replace(_INSTALL, f"{_INSTALL}{self._to_advertise(agent)}")
            yield Gate("shim", SHUT, error.failure.text, "pm list packages", fix)
            return
        shim = self.shims[application_id]
        if shim.status is None:
            reason = "it does not answer" if shim.problem is None else shim.problem.message
            yield Gate("shim", SHUT, f"{application_id}: {reason}", application_id, "droidgate shim sync")
            return
        route = prepared.route.id
        if route in shim.status.switched_off:
            words, fix = (
                f"{route} is switched off in {application_id}",
                "switch it on in the shim's own screen",
            )
            yield Gate("shim", SHUT, words, application_id, fix)
        elif not is_of_host and (options := self._to_advertise(agent, application_id)):
            words = f"{application_id} offers it, and does not advertise it to {agent.kind.title}"
            source = quote_argument(f"adb:{self.phone.device.serial}/{target.app.package}")
            fix = f"{_INSTALL} --from {source} --serial {self.phone.device.serial}{options}"
            yield Gate("shim", SHUT, words, application_id, fix)
        else:
            yield Gate("shim", OPEN, f"{application_id} offers it", application_id)
        yield self._current(shim, target)
        if not is_of_host:
            yield _grant_gate(agent, shim, route)
        limits = " ".join(limits for _, limits in reach_route.frontends)
        if interface.caller_permission is not None:
            yield from self._checked("shim-permission", APP_FUNCTIONS.id, application_id)
        if re.search(r"\bS\b", limits):
            for gate in self._checked("background", START_ROUTE.id, application_id):
                yield self._other_start(gate, application_id, reach_route)

    def _other_start(self, gate: Gate, application_id: str, reach_route: ReachRoute) -> Gate:
        """Return whether a screen opens where the shim may not appear on top (condition S of shim.md 9)."""
        notifies = any(
            check.kind.id == NOTIFICATIONS.id
            and check.application_id == application_id
            and check.state == "ok"
            for check in self.checks
        )
        others = [
            limits.partition("; else")[0] for _, limits in reach_route.frontends if not limits.startswith("S")
        ]
        needed = ["somebody taps the shim's notification"] if notifies else others
        if gate.state is not SHUT or not needed:
            return gate
        words = f"it opens only if {needed[0]}: the shim is {gate.fact}"
        return replace(gate, state=UNKNOWN, fact=words)

    def _current(self, shim: InstalledShim, target: CallTarget) -> Gate:
        state = next(
            (
                item
                for item in (shim.status.targets if shim.status else ())
                if item.package == target.app.package
            ),
            None,
        )
        problem = None if state is None else target_problem(state)
        if problem is None:
            return Gate("shim-current", OPEN, "the app is as its shim was built for", shim.application_id)
        return Gate(
            "shim-current", SHUT, f"{target.app.package} {problem[0]}", shim.application_id, problem[1]
        )

    def _checked(self, gate: str, check_id: str, application_id: str | None) -> Iterator[Gate]:
        """Yield a gate as `shim doctor` found it."""
        for check in self.checks:
            if check.kind.id == check_id and check.application_id == application_id:
                state = _STATES.get(check.state)
                if state is not None:
                    yield Gate(gate, state, check.found, "droidgate shim doctor", check.fix)


def _of_computer(
    caller: CapabilityCaller, agent: AskingAgent, target: CallTarget, allowed: Sequence[str] = ()
) -> Iterator[Gate]:
    """Yield what the user of this computer decided about a call that the gateway would make.

    Args:
        caller: Makes it.
        agent: Who asks for it.
        target: What is called.
        allowed: What needs no approval while a server runs, as `CallControls` has it.
    """
    client = agent.kind.id if agent.kind.id.startswith(CLIENT_PREFIX) else EVERY_CLIENT
    denied = caller.why_denied(target, client=client)
    if denied is not None:
        yield Gate("policy", SHUT, denied.failure.text, "policy.toml", denied.hint)
        return
    yield Gate("policy", OPEN, "the policy of this computer does not deny it", "policy.toml")
    command = approving_command(target.key, caller.device.serial, client)
    with suppress(InputError):
        approved_by = caller.approved_by(target, client=client, allowed=allowed)
        records = [record for record in caller.pins.list() if record.key == target.key]
        clients = sorted(record.client for record in records if record.pin == target.pin)
        if approved_by is not None:
            words = _APPROVED.get(approved_by, "it is approved")
            whom = "every client" if client == EVERY_CLIENT else client
            yield Gate("approval", OPEN, f"{words} for {whom}", "droidgate pins list")
        elif records and not clients:
            words = "the app or its declaration is another one than was approved: a person is asked again"
            fix = f"look at the change with `droidgate pins diff`, then run: {command}"
            yield Gate("approval", UNKNOWN, words, "droidgate pins diff", fix)
        else:
            words = "it is not approved yet, and a client that cannot ask its user is refused"
            if clients:
                words = f"it is approved for {', '.join(clients)} only"
            fix = f"answer the client's question at the first call, or run: {command}"
            yield Gate("approval", UNKNOWN, words, "droidgate pins list", fix)


def reasons_for_models(
    targets: Iterable[CallTarget],
    sdk_full: str,
    failures: Mapping[CapabilityKey, CallError],
    caller: CapabilityCaller,
    client: str,
    allowed: Sequence[str],
) -> list[dict[str, Json]]:
    """Return why an MCP client can or cannot call each capability of a phone, by what is known of it already.

    How a gate is opened is left out: a model should not grant itself anything.

    Args:
        targets: What the phone's apps declare.
        sdk_full: The phone's API level.
        failures: Why each call of a capability would fail, such as an app without a shim.
        caller: Makes the calls.
        client: Who asks, such as `mcp:claude-code`.
        allowed: What needs no approval while the server runs.
    """
    (agent,) = _kinds(client, on_phone=False)
    by_capability = {id(target.capability): target for target in targets}

    def of_call(agent: AskingAgent, subject: Subject, route: ReachRoute) -> Iterator[Gate]:
        target = by_capability[id(subject.capability)]
        failure = failures.get(target.key)
        gates = list(_of_computer(caller, agent, target, allowed)) if route.reach == "gateway" else []
        yield from gates
        if failure is not None and all(gate.state is not SHUT for gate in gates):
            is_changed = failure.failure.token == "needs_approval"  # noqa: S105 - a failure token
            yield Gate("shim-current" if is_changed else "shim", SHUT, failure.failure.text)

    chains, rows = GateChains(of_call), []
    for target in by_capability.values():
        subject = Subject(
            provider=target.provider,
            capability=target.capability,
            application=target.app.application,
            package=target.app.package,
            sdk_full=sdk_full,
            state_is_read=True,
        )
        answer = chains.answer(agent, subject)
        row: dict[str, Json] = {"capability": target.short_name, "verdict": answer.verdict}
        gate = answer.decisive_gate
        if gate is not None:
            row |= {"gate": gate.id, "found": gate.fact, "opened_by": gate.owner}
        rows.append(row)
    return rows


def _advertised_by(interface: Interface) -> str | None:
    """Return the word of `--advertise` for an interface; None where each shim has it, or none can."""
    words = frontends_on_request()
    return next((word for word in (interface.id, interface.format) if word in words), None)


def _opens_screens(provider: Provider | None) -> bool:
    """Return whether calls of a provider open an activity; of an app without one, all there is."""
    interface = None if provider is None else interface_of(provider)
    return interface is None or "activity" in interface.components


def _grant_gate(agent: AskingAgent, shim: InstalledShim, route: str) -> Gate:
    """Return whether a shim serves an agent's app."""
    status, place = shim.status, shim.application_id
    grants = [
        item for item in (status.grants if status else ()) if item.capability in {EVERY_CAPABILITY, route}
    ]
    packages = [item.caller.package for item in grants if not isinstance(item.caller, str)]
    if any(item.caller == ANY_APP for item in grants):
        return Gate("shim-grant", OPEN, "any app on the phone may call it", place)
    if agent.application is not None and agent.kind.id in packages:
        return Gate("shim-grant", OPEN, f"it is granted to {agent.kind.id}", place)
    package = "PACKAGE" if agent.application is None else agent.kind.id
    grant = f"droidgate shim grant --agent {package} --capability {quote_argument(route)} --shim {place}"
    is_asked = status is not None and status.asking
    fix = f"answer the question on the phone, or grant it: {grant}" if is_asked else grant
    if agent.application is None and packages:
        words = f"it is granted to {', '.join(packages)} and no other app"
        return Gate("shim-grant", UNKNOWN, words, place, fix)
    if is_asked:
        return Gate("shim-grant", UNKNOWN, "the phone asks its user at the first call", place, fix)
    return Gate("shim-grant", SHUT, "nobody granted it, and the shim does not ask", place, fix)

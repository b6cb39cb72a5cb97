"""Whether another app may call a component: one rule for `shim build`, `coverage` and `discover`.

The facts come from the access rules of the capability model, and from what only an application knows:
whether the app is enabled, the permission of its `<application>` element, and the permissions it declares
(reference android-runtime 1.4 and 2.3, appfunctions 1.1 and 7; Android's guide to permissions).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Final

from droidgate_mappings.formats.application import Application, Component, usual_level
from droidgate_mappings.model.capability import Capability, CapabilityAccess, ComponentAccess, Provider, State
from droidgate_mappings.records import dataclass
from droidgate_mappings.tables.android_names import android_name
from droidgate_mappings.tables.loading import find_format_tables
from droidgate_mappings.tables.reach import Interface, Owner, load_permission_levels, load_reach
from droidgate_mappings.text.configured_flags import values_on_release

Enabled = bool | Mapping[str, bool]
"""`android:enabled`: one value, or a value for each resource qualifier."""

_RESTRICTED_WORDS: Final = frozenset(
    {"signature", "signatureOrSystem", "internal", "privileged", "system", "knownSigner", "role"}
)
_NORMAL_WORDS: Final = frozenset({"normal", "instant", "appop", "runtime"})


class Protection(StrEnum):
    """Who can hold a permission, by its protection level."""

    NORMAL = "normal"
    """Every app whose manifest requests it."""
    DANGEROUS = "dangerous"
    """Every app whose manifest requests it, once the user grants it."""
    SIGNATURE = "signature"
    """Apps of the same signer, parts of Android, and apps that the vendor chose."""
    UNKNOWN = "unknown"
    """Neither the app nor Android's own table declares it."""


@dataclass(frozen=True, slots=True)
class CallingApp:
    """An app that calls.

    Attributes:
        title: What users see it called.
        can_request: Its manifest can request the permission that a component requires.
        granted: The permissions that it holds on a phone; None where that is not known.
        requested: The permissions that its manifest requests, where `granted` is known.
    """

    title: str
    can_request: bool
    granted: frozenset[str] | None = None
    requested: frozenset[str] = frozenset()


class GateState(StrEnum):
    """Whether a gate lets a call through."""

    OPEN = "open"
    SHUT = "shut"
    UNKNOWN = "not known"
    """Nothing that was read says so; or it depends on something that can change without an update."""


@dataclass(frozen=True, slots=True)
class Gate:
    """One gate between an agent and a capability, as it is found.

    Attributes:
        id: One of `droidgate_mappings.tables.reach.load_gates`.
        state: Whether it lets a call through.
        fact: What was read, a clause without a period; of a gate that is not known, what has to be so.
        place: Where it was read, None where `Verdict` has it from the provider.
        fix: How it is opened, None for the usual fix of the gate.
        owner: Who can open it, None for the usual owner of the gate.
    """

    id: str
    state: GateState
    fact: str
    place: str | None = None
    fix: str | None = None
    owner: Owner | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether calls are possible: the gates, in the order in which a call meets them."""

    gates: tuple[Gate, ...] = ()

    @property
    def closed_because(self) -> str | None:
        """Why no such caller can call, without a period; None where one can."""
        gate = self.first_shut
        return None if gate is None else gate.fact

    @property
    def first_shut(self) -> Gate | None:
        """The first gate that is shut."""
        return next((gate for gate in self.gates if gate.state is GateState.SHUT), None)

    def gate(self, gate_id: str) -> Gate | None:
        """Return the first gate of an id."""
        return next((gate for gate in self.gates if gate.id == gate_id), None)

    @property
    def conditions(self) -> tuple[str, ...]:
        """What has to be so before one can call, a clause each without a period; nothing where none can."""
        if self.first_shut is not None:
            return ()
        return tuple(gate.fact for gate in self.gates if gate.state is GateState.UNKNOWN)

    def __and__(self, other: Verdict) -> Verdict:
        """Return the verdict of two rules that both apply."""
        return Verdict((*self.gates, *other.gates))


@dataclass(frozen=True, slots=True, kw_only=True)
class ComponentFacts:
    """What decides whether another app may call a component.

    Attributes:
        kind: The kind of the component; None for a descriptor without a manifest.
        is_app_enabled: The app is enabled.
        is_enabled: The component is enabled in one configuration at least.
        enabled_in: The resource qualifiers in which it is enabled; None where it is enabled in all.
        is_exported: The component is exported.
        has_action: It declares the action that calls have.
        permission: What Android requires of callers, empty where the name is not kept; None without one.
        protection: Who can hold it.
    """

    kind: str | None = None
    is_app_enabled: bool = True
    is_enabled: bool = True
    enabled_in: str | None = None
    is_exported: bool = True
    has_action: bool = True
    permission: str | None = None
    protection: Protection = Protection.UNKNOWN


REPORTED_AS_DISABLED: Final = "the phone reports it as disabled"
"""Why a capability cannot be called whose app, or the user, disabled it."""
NOT_INDEXED: Final = "the phone does not list it"
"""Why a capability cannot be called that an app declares and the running system has not indexed."""

ORDINARY_APP: Final = CallingApp("an ordinary app", can_request=True)
SHIM: Final = CallingApp("the shim", can_request=False)
"""The shim requests no permission of an app that it calls; it would lend it to agents (shim.md 1)."""


def interface_of(provider: Provider) -> Interface | None:
    """Return how a provider's capabilities are called, None where only its protocol's own agent knows."""
    tables = find_format_tables(provider.protocol)
    dialects = () if tables is None else tables.dialects
    interface = next((dialect.interface for dialect in dialects if dialect.id == provider.dialect), None)
    return load_reach().interface(interface)


def find_component(application: Application, provider: Provider) -> Component | None:
    """Return the component that declares a provider, None where the manifest does not have it."""
    if provider.component is None:
        return None
    return next(
        (
            component
            for component in application.components
            if component.kind != "application"
            and provider.component in {component.name, application.qualified_name(component)}
        ),
        None,
    )


def component_facts(
    access: ComponentAccess,
    interface: Interface | None,
    application: Application | None = None,
    component: Component | None = None,
    sdk: int | None = None,
) -> ComponentFacts:
    """Return what decides whether another app may call a component.

    Args:
        access: The access rules of the provider. Where they have the default, the component's element counts:
            readers of descriptors without a manifest leave the default.
        interface: How it is called.
        application: The app, None for a descriptor without a manifest.
        component: The element that declares the provider, None where there is none.
        sdk: The API level of the phone, None without a phone.
    """
    whole = None if application is None else next(application.of_kind("application"), None)
    exported, enabled, permission = access.exported, access.enabled, access.permission
    if component is not None and component.kind != "application":
        exported = component.known_exported if exported is not False else False
        exported = bool(component.filters) if exported is None else exported
        enabled = enabled if isinstance(enabled, Mapping) else enabled and component.enabled
        inherited = component.permission if application is None else application.permission_of(component)
        permission = permission or inherited or None
    configurations = enabled_configurations(enabled, sdk)
    declared = _declared_in(access) if application is None else application.permissions
    action = None if interface is None else interface.action_text
    return ComponentFacts(
        kind=None if component is None else component.kind,
        is_app_enabled=whole is None or whole.enabled,
        is_enabled=configurations != (),
        enabled_in=", ".join(configuration or "default" for configuration in configurations or ()) or None,
        is_exported=exported is not False,
        has_action=component is None or action is None or component.has_action(action),
        permission=permission,
        protection=Protection.UNKNOWN if permission is None else protection_of(permission, declared),
    )


def provider_verdict(
    provider: Provider,
    application: Application | None,
    caller: CallingApp = ORDINARY_APP,
    sdk: int | None = None,
) -> Verdict:
    """Return whether a caller may call the component of a provider.

    Args:
        provider: What the component declares.
        application: Its app, None for a descriptor without a manifest.
        caller: Who calls.
        sdk: The API level of the phone, None without a phone.
    """
    interface = interface_of(provider)
    if interface is None:
        return Verdict()
    component = None if application is None else find_component(application, provider)
    facts = component_facts(provider.access, interface, application, component, sdk)
    return component_verdict(facts, interface, caller)


def component_verdict(
    facts: ComponentFacts, interface: Interface, caller: CallingApp = ORDINARY_APP
) -> Verdict:
    """Return whether a caller may call a component."""
    if interface.bound_by == "network":
        return Verdict()
    return Verdict((*_component_gates(facts, interface), *_permission_gates(facts, interface, caller)))


def capability_verdict(
    access: CapabilityAccess, interface: Interface | None, *, is_enabled: bool | None = None
) -> Verdict:
    """Return whether another app may call one capability of a component that it may call.

    Args:
        access: The capability's access rules.
        interface: How it is called.
        is_enabled: What a phone reports, None without a phone.
    """
    gates: list[Gate] = []
    for rule in () if interface is None else interface.access:
        is_state = rule.field == "enabled_by_default"
        if not (is_state and is_enabled is not None) and getattr(access, rule.field) in rule.values:
            gate_id = "function-enabled" if is_state else "access"
            if rule.closed_because is not None:
                gates.append(Gate(gate_id, GateState.SHUT, rule.closed_because))
            if rule.needs is not None:
                gates.append(Gate(gate_id, GateState.UNKNOWN, rule.needs))
    if is_enabled is not None:
        state = GateState.OPEN if is_enabled else GateState.SHUT
        words = "the phone reports it as enabled" if is_enabled else REPORTED_AS_DISABLED
        gates.insert(0, Gate("function-enabled", state, words))
    return Verdict(tuple(gates))


def release_gate(
    interface: Interface, sdk_full: str, minimum: int | None = None, place: str | None = None
) -> Gate:
    """Return whether a release of Android has what a call needs.

    Args:
        interface: How it is called.
        sdk_full: The API level.
        minimum: The lowest API level that the app takes.
        place: Where the level was read.
    """
    sdk, name = int(sdk_full.partition(".")[0]), android_name(sdk_full)
    for who, since in ((f"{interface.title} need", interface.since), ("the app needs", minimum or 0)):
        if sdk < since:
            return Gate(
                "release", GateState.SHUT, f"it is {name}, and {who} {android_name(since)} or later", place
            )
    return Gate("release", GateState.OPEN, f"it is {name}", place)


def verdict_of(capability: Capability, interface: Interface | None) -> Verdict:
    """Return whether another app may call one capability, with its state on a phone where it is known."""
    state = capability.state or State()
    if state.indexed is False:
        return Verdict((Gate("indexed", GateState.SHUT, NOT_INDEXED),))
    return capability_verdict(capability.access, interface, is_enabled=state.enabled)


def protection_of(permission: str, declared: Mapping[str, str]) -> Protection:
    """Return who can hold a permission.

    Args:
        permission: Its name.
        declared: The permissions that the called app declares, with their `android:protectionLevel`.
    """
    return protection_of_level(declared.get(permission, load_permission_levels().get(permission)))


def protection_of_level(level: str | None) -> Protection:
    """Return who can hold a permission of a protection level, None where that is not known."""
    if level is None:
        return Protection.UNKNOWN
    words = {part.strip() for part in usual_level(level).split("|")}
    if words & _RESTRICTED_WORDS:
        return Protection.SIGNATURE
    if "dangerous" in words:
        return Protection.DANGEROUS
    return Protection.NORMAL if words <= _NORMAL_WORDS else Protection.UNKNOWN


def _declared_in(access: ComponentAccess) -> Mapping[str, str]:
    """Return the permission that callers need with its protection level, nothing where that is not known."""
    if access.permission is None or access.protection_level is None:
        return {}
    return {access.permission: access.protection_level}


def enabled_configurations(enabled: Enabled, sdk: int | None = None) -> tuple[str, ...] | None:
    """Return the resource qualifiers in which a component is enabled, the default one as an empty text.

    Args:
        enabled: The rule.
        sdk: The API level of a phone: only its configurations count. None without a phone.

    Returns:
        None where it is enabled in all of them, nothing where it is enabled in none.
    """
    if isinstance(enabled, bool):
        return None if enabled else ()
    # Android enables a component whose resource has no value.
    values = {"": True, **(enabled if sdk is None else values_on_release(enabled, sdk))}
    enabled_qualifiers = tuple(item for item, value in values.items() if value)
    return None if len(enabled_qualifiers) == len(values) else enabled_qualifiers


def _component_gates(facts: ComponentFacts, interface: Interface) -> Iterator[Gate]:
    """Yield the gates that are shut or open to every other app, whatever permissions it holds."""
    is_bound_by_system = interface.bound_by == "system"
    if facts.kind is not None and interface.components and facts.kind not in interface.components:
        words = f"no agent calls {interface.title} of a component of the kind {facts.kind}"
        yield Gate("manifest", GateState.SHUT, words)
    elif facts.kind != "application" and not facts.has_action:
        words = f"its component does not declare the action {interface.action_text}"
        yield Gate("manifest", GateState.SHUT, words)
    elif facts.kind == "application":
        pass
    elif is_bound_by_system and interface.permission is not None:
        is_known = facts.kind is not None or facts.permission is not None
        is_right = facts.permission == interface.permission_text or not is_known
        words = f"Android binds only components that require {interface.permission_text}"
        yield _gate("manifest", is_right, f"its component requires {interface.permission_text}", words)
    elif interface.action is not None and facts.kind is not None:
        yield Gate("manifest", GateState.OPEN, f"its component declares {interface.action_text}")
    yield _gate("app-enabled", facts.is_app_enabled, "its app is enabled", "its app is disabled")
    if facts.is_enabled and facts.enabled_in is not None:
        words = f"it is enabled only in configurations: {facts.enabled_in}"
        yield Gate("component-enabled", GateState.UNKNOWN, words)
    else:
        words = "its component is disabled"
        yield _gate("component-enabled", facts.is_enabled, "its component is enabled", words)
    if not is_bound_by_system and facts.kind != "application":
        is_known = facts.kind is not None
        words = "its component is not exported" if is_known else "the app has no exported component for it"
        yield _gate("exported", facts.is_exported, "its component is exported", words)


def _gate(gate_id: str, is_open: bool, open_words: str, shut_words: str) -> Gate:  # noqa: FBT001
    return Gate(gate_id, *((GateState.OPEN, open_words) if is_open else (GateState.SHUT, shut_words)))


def _permission_gates(facts: ComponentFacts, interface: Interface, caller: CallingApp) -> Iterator[Gate]:
    """Yield whether a caller can hold the permission that a component requires."""
    if interface.bound_by == "system":
        return
    if facts.permission is None:
        yield Gate("permission", GateState.OPEN, "callers need no permission")
        return
    permission = f"the permission {facts.permission}" if facts.permission else "a permission"
    required = f"callers need {permission}"
    words, state = f"{required}, which ordinary apps cannot hold", GateState.SHUT
    if caller.granted is not None and facts.permission:
        yield _permission_of_app(facts.permission, facts.protection, caller, caller.granted)
        return
    if facts.protection is Protection.UNKNOWN:
        words = f"{required}, whose protection level is not known"
    elif facts.protection is not Protection.SIGNATURE:
        if caller.can_request:
            granted = " and the user grants it" if facts.protection is Protection.DANGEROUS else ""
            words, state = f"the caller's manifest requests {permission}{granted}", GateState.UNKNOWN
        else:
            words = f"{required}, which {caller.title} does not request"
    yield Gate("permission", state, words)


def _permission_of_app(
    permission: str, protection: Protection, caller: CallingApp, held_permissions: frozenset[str]
) -> Gate:
    """Return whether an app of a phone holds a permission, and who can give it to the app."""
    required, title = f"callers need the permission {permission}", caller.title
    if permission in held_permissions:
        return Gate("permission", GateState.OPEN, f"{required}, which {title} holds")
    if protection in {Protection.SIGNATURE, Protection.UNKNOWN}:
        return Gate("permission", GateState.SHUT, f"{required}, which {title} does not hold")
    if permission in caller.requested:
        fix = f"grant it: adb shell pm grant {title} {permission}"
        words = f"{required}, which {title} requests and the user has not granted"
        return Gate("permission", GateState.SHUT, words, "dumpsys package", fix, "user")
    words = f"{required}, which {title} does not request"
    fix = f"request {permission}"
    return Gate("permission", GateState.SHUT, words, "dumpsys package", fix, "agent developer")


_VERSION: Final = re.compile(r"v(\d{1,5})", re.ASCII)


def enabled_words(enabled: Enabled) -> str | None:
    """Return where a component is enabled; None where it is enabled in every configuration."""
    configurations = enabled_configurations(enabled)
    if configurations is None:
        return None
    if not configurations:
        return "disabled"
    return f"enabled only in configurations: {', '.join(map(_configuration_words, configurations))}"


def _configuration_words(qualifier: str) -> str:
    version = _VERSION.fullmatch(qualifier)
    return f"{android_name(version[1])} and later" if version is not None else qualifier or "default"

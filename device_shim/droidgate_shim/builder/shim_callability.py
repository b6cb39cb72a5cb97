"""Which of an app's capabilities a shim can call, and why not the others.

The shim is an ordinary app that holds no permission but EXECUTE_APP_FUNCTIONS (shim.md 1 and 4). Whether
Android lets it call is the rule of `droidgate_mappings.formats.reachability`; which components it speaks to
is the rule of each format (`droidgate_mappings.formats.shim_backend`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache, partial
from typing import Any, Final

from droidgate_mappings.formats.application import Application, Component
from droidgate_mappings.formats.format import load_formats
from droidgate_mappings.formats.reachability import (
    SHIM,
    Verdict,
    capability_verdict,
    interface_of,
    provider_verdict,
)
from droidgate_mappings.formats.shim_backend import ShimBackend, ToolListing
from droidgate_mappings.model.capability import Capability, Provider
from droidgate_mappings.model.findings import Finding, Level, finding_code
from droidgate_mappings.model.json_values import pointer_token

_code = partial(finding_code, module=__name__)

PROTOCOL_NOT_CALLED: Final = _code(
    "shim-protocol-not-called",
    "An app declares capabilities in a protocol, or an older form of one, that the shim does not speak",
)
COMPONENT_CLOSED: Final = _code(
    "shim-component-closed",
    "A component cannot be called by another app: not exported, disabled, behind a permission, or without "
    "the action that a call has",
)
FUNCTION_NOT_OPEN: Final = _code(
    "shim-function-not-open",
    "A capability that an app like the shim may not call: its access level or its scope excludes it",
)
CALLED_UNDER_CONDITIONS: Final = _code(
    "shim-called-under-conditions",
    "A capability can be called only under a condition, such as that its app enables it",
)
PARAMETERS_UNKNOWN: Final = _code(
    "shim-parameters-unknown",
    "An app function whose file does not declare its parameters; the shim declares none and passes on any",
)


@cache
def backends() -> Mapping[str, ShimBackend[Any]]:
    """Return the shim's backend of each installed format that has one, by the format's id."""
    return {
        format_.id: format_.calls.shim_backend()
        for format_ in load_formats().values()
        if format_.calls.shim_backend is not None
    }


def native_protocols() -> frozenset[str]:
    """Return the ids of the formats whose apps the agents of every shim reach by themselves."""
    return frozenset(protocol for protocol, backend in backends().items() if backend.is_native)


def listing_of(provider: Provider) -> ToolListing | None:
    """Return how a provider's tools are listed on request, None where its files have them."""
    backend = backends().get(provider.protocol)
    listing = None if backend is None else backend.listing
    return listing if listing is not None and listing.lists(provider) else None


def why_not_called(
    application: Application, component: Component | None, provider: Provider
) -> Finding | None:
    """Return why no capability of a provider can be called, None where one can be.

    Args:
        application: The app.
        component: The component that declares it, None for functions of the application itself.
        provider: What it declares.
    """
    backend = backends().get(provider.protocol)
    if backend is None:
        message = f"{provider.protocol} is read, and not called by the shim"
        return _of_provider(PROTOCOL_NOT_CALLED, Level.NOTE, provider, message)
    reason = backend.why_not_called(provider, component)
    if reason is not None:
        return _of_provider(PROTOCOL_NOT_CALLED, Level.WARNING, provider, reason)
    verdict = _verdict_of(application, provider)
    if verdict.closed_because is None:
        return None
    name = provider.component or "the app"
    message = f"{name} cannot be called: {verdict.closed_because}"
    return _of_provider(COMPONENT_CLOSED, Level.WARNING, provider, message)


def why_function_not_called(capability: Capability, provider: Provider) -> Finding | None:
    """Return why one capability of a provider that can be called cannot be, None where it can be."""
    # A phone's state is left out: what is disabled now may be enabled when the shim calls.
    reason = capability_verdict(capability.access, interface_of(provider)).closed_because
    if reason is None:
        return None
    return Finding(
        code=FUNCTION_NOT_OPEN,
        level=Level.WARNING,
        pointer=capability_pointer(provider, capability),
        message=f"{capability.id} is left out: {reason}",
        source=capability.source or provider.source,
        hint="only the app itself, or Android, can call it",
    )


def call_conditions(application: Application, provider: Provider) -> Iterator[Finding]:
    """Yield a finding for each condition of calling a provider, or one of its capabilities."""
    name = provider.component or "the app"
    for condition in _verdict_of(application, provider).conditions:
        message = f"{name} can be called on one condition: {condition}"
        yield _of_provider(CALLED_UNDER_CONDITIONS, Level.NOTE, provider, message)
    interface = interface_of(provider)
    for capability in provider.capabilities:
        for condition in capability_verdict(capability.access, interface).conditions:
            yield Finding(
                code=CALLED_UNDER_CONDITIONS,
                level=Level.NOTE,
                pointer=capability_pointer(provider, capability),
                message=f"{capability.id} can be called on one condition: {condition}",
                source=capability.source or provider.source,
            )


def _verdict_of(application: Application, provider: Provider) -> Verdict:
    return provider_verdict(provider, application, SHIM)


def unknown_parameters(provider: Provider) -> Iterator[Finding]:
    """Yield a finding for each function whose file says nothing of its parameters."""
    if not backends()[provider.protocol].hides_parameters(provider):
        return
    for capability in provider.capabilities:
        yield Finding(
            code=PARAMETERS_UNKNOWN,
            level=Level.WARNING,
            pointer=f"{capability_pointer(provider, capability)}/input",
            message=f"the file of {capability.id} does not declare its parameters; the shim lists none",
            source=capability.source or provider.source,
            hint="files of the second form (Android 16 QPR2) declare them",
        )


def capability_pointer(provider: Provider, capability: Capability) -> str:
    """Return a pointer by component and id, which is the same whatever else the app and its shim have."""
    return f"/{pointer_token(provider.component or '')}/{pointer_token(capability.id)}"


def _of_provider(code: str, level: Level, provider: Provider, message: str) -> Finding:
    pointer = "" if provider.component is None else f"/{pointer_token(provider.component)}"
    return Finding(code=code, level=level, pointer=pointer, message=message, source=provider.source)

"""Which of an app's capabilities a shim can call, and why not the others.

The shim is an ordinary app: it needs an open component that answers the protocol's action, and it holds no
permission but EXECUTE_APP_FUNCTIONS (docs/shim.md 1 and 4; reference android-runtime 1.4, 2.3; appfunctions
1.4, 7).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from droidgate.application import Application, Component
from droidgate.model.capability import Capability, Provider
from droidgate.model.findings import Finding, Level, finding_code
from droidgate.model.json_values import pointer_token
from droidgate.model.types import Extensions
from droidgate_appfunctions.constants import FORMAT_ID as APP_FUNCTIONS
from droidgate_appfunctions.constants import NAMES as FUNCTION_NAMES
from droidgate_appfunctions.constants import V1
from droidgate_mmcp.tables import BROADCAST
from droidgate_mmcp.tables import FORMAT_ID as MMCP
from droidgate_mmcp.tables import NAMES as MMCP_NAMES
from droidgate_mobile_mcp.constants import FORMAT_ID as MOBILE_MCP
from droidgate_mobile_mcp.constants import NAMES as MOBILE_NAMES
from droidgate_mobile_mcp.wire import WIRE_OF_DIALECT

PROTOCOL_NOT_CALLED: Final = finding_code(
    "shim-protocol-not-called",
    "An app declares capabilities in a protocol, or an older form of one, that the shim does not speak",
    __name__,
)
COMPONENT_CLOSED: Final = finding_code(
    "shim-component-closed",
    "A component cannot be called by another app: not exported, disabled, behind a permission, or without "
    "the action that a call has",
    __name__,
)
FUNCTION_NOT_OPEN: Final = finding_code(
    "shim-function-not-open",
    "An app function that an app like the shim may not call: its access level or its scope excludes it",
    __name__,
)
PARAMETERS_UNKNOWN: Final = finding_code(
    "shim-parameters-unknown",
    "An app function whose file does not tell its parameters; the shim declares none and passes on any",
    __name__,
)

_CALLED_PROTOCOLS: Final = frozenset({MMCP, APP_FUNCTIONS, MOBILE_MCP})
_CLOSED_LEVELS: Final = frozenset({"self", "system"})
_CLOSED_SCOPE: Final = "activity"


def why_not_called(
    application: Application, component: Component | None, provider: Provider
) -> Finding | None:
    """Return why no capability of a provider can be called, None where one can be.

    Args:
        application: The app.
        component: The component that declares it, None for functions of the application itself.
        provider: What it declares.
    """
    if provider.protocol not in _CALLED_PROTOCOLS:
        message = f"{provider.protocol} is read, and not called by the shim"
        return _of_provider(PROTOCOL_NOT_CALLED, Level.NOTE, provider, message)
    if provider.protocol == MOBILE_MCP and not _wire_dialect(provider):
        message = f"the dialect {provider.dialect} of Mobile-MCP is read, and not called by the shim"
        return _of_provider(PROTOCOL_NOT_CALLED, Level.WARNING, provider, message)
    if provider.protocol == MMCP and component is not None and component.kind == "service":
        message = f"{component.name} is a service, and calls of mMCP are made to activities"
        return _of_provider(PROTOCOL_NOT_CALLED, Level.WARNING, provider, message)
    missing = next(_closures(application, component, provider), None)
    if missing is None:
        return None
    name = provider.component or "the app"
    return _of_provider(COMPONENT_CLOSED, Level.WARNING, provider, f"{name} cannot be called: {missing}")


def why_function_not_called(capability: Capability, provider: Provider) -> Finding | None:
    """Return why one capability of a provider that can be called cannot be, None where it can be."""
    if provider.protocol != APP_FUNCTIONS:
        return None
    facts = _facts_of(capability.extensions)
    level, scope = facts.get("accessLevel"), facts.get("scope")
    if level in _CLOSED_LEVELS:
        reason = f"its access level is {level}"
    elif scope == _CLOSED_SCOPE:
        reason = "it exists only while an activity of the app is open"
    else:
        return None
    return Finding(
        code=FUNCTION_NOT_OPEN,
        level=Level.WARNING,
        pointer=capability_pointer(provider, capability),
        message=f"{capability.id} is left out: {reason}",
        source=capability.source or provider.source,
        hint="Only the app itself, or Android, can call it",
    )


def unknown_parameters(provider: Provider) -> Iterator[Finding]:
    """Yield a finding for each function whose file says nothing of its parameters."""
    if provider.protocol != APP_FUNCTIONS or provider.dialect != V1:
        return
    for one in provider.capabilities:
        yield Finding(
            code=PARAMETERS_UNKNOWN,
            level=Level.WARNING,
            pointer=f"{capability_pointer(provider, one)}/input",
            message=f"the file of {one.id} does not tell its parameters; agents are told of none",
            source=one.source or provider.source,
            hint="Files of the second form (Android 16 QPR2) tell them",
        )


def capability_pointer(provider: Provider, capability: Capability) -> str:
    """Return a pointer by component and id, which is the same whatever else the app and its shim have."""
    return f"/{pointer_token(provider.component or '')}/{pointer_token(capability.id)}"


def _wire_dialect(provider: Provider) -> bool:
    return any(one.served for one in WIRE_OF_DIALECT.get(provider.dialect or "", ()))


def _closures(application: Application, component: Component | None, provider: Provider) -> Iterator[str]:
    whole = next(application.of_kind("application"), None)
    if whole is not None and not whole.enabled:
        yield "the app is disabled in its manifest"
    if component is None:
        return
    if not component.enabled:
        yield "its manifest disables it"
    if provider.protocol == APP_FUNCTIONS:
        # Android binds it, and needs neither an export nor a permission of the caller.
        if not component.has_action(FUNCTION_NAMES["action"]):
            yield f"Android indexes only services with the action {FUNCTION_NAMES['action']}"
        if component.permission != FUNCTION_NAMES["permission"]:
            yield f"Android binds only services that ask for {FUNCTION_NAMES['permission']}"
        return
    if component.exported is False or (component.exported is None and not component.filters):
        yield "it is not exported"
    permission = component.permission or (None if whole is None else whole.permission)
    if permission is not None:
        yield f"its callers need the permission {permission}"
    action = _call_action(provider)
    if not component.has_action(action):
        yield f"it does not declare the action {action}, and Android 13 and later stop such calls"


def _call_action(provider: Provider) -> str:
    if provider.protocol == MOBILE_MCP:
        return MOBILE_NAMES["service_action"]
    return MMCP_NAMES["invoke_action" if provider.dialect == BROADCAST else "call_action"]


def _of_provider(code: str, level: Level, provider: Provider, message: str) -> Finding:
    pointer = "" if provider.component is None else f"/{pointer_token(provider.component)}"
    return Finding(code=code, level=level, pointer=pointer, message=message, source=provider.source)


def _facts_of(extensions: Extensions) -> dict[str, object]:
    return extensions.get(APP_FUNCTIONS, {})

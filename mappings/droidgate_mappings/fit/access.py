"""Adapt access rules: carry what the dialect can write, and report each rule that nothing enforces then."""

from __future__ import annotations

from typing import Any, Final

from droidgate_mappings.fit.codes import (
    ACCESS_NOT_ENFORCED,
    FIELD_DEFAULTED,
    NOTATION_DROPPED,
    PERMISSION_TRANSLATED,
)
from droidgate_mappings.fit.reporting import Reporting
from droidgate_mappings.model.capability import Capability, CapabilityAccess, ComponentAccess
from droidgate_mappings.model.findings import Level
from droidgate_mappings.tables.loading import find_binding

TRUSTED_LEVEL: Final = "androidTrusted"
"""The access level of a function that states none."""

_EXPORTED: Final = "/access/exported"
_PERMISSION: Final = "/access/permission"


def is_restriction(field: str, value: Any) -> bool:
    """Return whether the value of an access rule keeps some callers out, at some time or in some place."""
    if field in {"exported", "enabled_by_default"}:
        return value is False
    if field == "enabled":
        return value is not True
    if field == "restrict_callers":
        return value is True
    return value not in {None, ""} and not (field == "access_level" and value == TRUSTED_LEVEL)


def fit_component_access(fit: Reporting) -> ComponentAccess:
    """Return a provider's access as the dialect writes it; each rule that gets lost is a security finding."""
    access = fit.provider.access
    changes: dict[str, Any] = {"permission": _fit_permission(fit)}
    if changes["permission"] != access.permission:
        changes["protection_level"] = None
    if access.exported is None and not fit.own and fit.capacity.component is not None:
        message = "exported is not stated; written as true, which Android assumes with an intent filter"
        fit.report(NOTATION_DROPPED, Level.RENAMED, _EXPORTED, message)
        changes["exported"] = True
    elif access.exported is not True:
        changes["exported"] = _carried(fit, "exported", access.exported, True, _EXPORTED)
    if access.enabled is not True:
        changes["enabled"] = _carried(fit, "enabled", access.enabled, True, "/access/enabled")
    return access.changed(changes)


def fit_capability_access(fit: Reporting, capability: Capability, pointer: str) -> CapabilityAccess:
    """Return a capability's access as the dialect writes it; each rule that gets lost is a security finding.

    Args:
        fit: Collects the findings.
        capability: The capability.
        pointer: Its JSON Pointer.
    """
    access = capability.access
    if access == _OPEN:
        return access
    changes = {
        name: _carried(fit, name, value, default, f"{pointer}/access/{name}")
        for name, default in _OPEN
        if (value := getattr(access, name)) != default
    }
    return access.changed(changes)


_OPEN: Final = CapabilityAccess()

_RULES: Final = {
    "exported": "the source component is not exported",
    "enabled": "the source component is disabled, on some devices at least",
    "enabled_by_default": "the function is disabled until its app enables it",
    "restrict_callers": "the function restricts its callers (restrictCallersWithExecuteAppFunctions)",
    "scope": "the function exists only while an activity of its app is open",
    "access_level": "the function's access level keeps other apps out",
}
_STATED_OPEN: Final = {
    "exported": "exported is not stated, so no caller is refused",
    "restrict_callers": "restrictCallersWithExecuteAppFunctions is false, so no caller is refused",
    "access_level": f"the access level is {TRUSTED_LEVEL}, as without one",
}
_HINTS: Final = {
    "enabled": "leave the capabilities out while the component is disabled",
    "enabled_by_default": "leave the function out until its app enables it, or refuse calls until then",
    "scope": "leave the function out, or refuse calls while no activity is open",
}
_HINT: Final = "check the caller in the code that answers the call, or leave the capability out"


def _carried(fit: Reporting, field: Any, value: Any, default: Any, leaf: str) -> Any:
    """Return the value that the dialect writes for one rule."""
    carried = field in fit.capacity.access
    if not is_restriction(field, value):
        if not carried:
            fit.report(NOTATION_DROPPED, Level.RENAMED, leaf, _STATED_OPEN[field])
        return value if carried else default
    if not carried or (field not in fit.capacity.access_enforced and not fit.own):
        fit.report(
            ACCESS_NOT_ENFORCED,
            Level.SECURITY,
            leaf,
            f"{_RULES[field]}; {fit.format_id} does not enforce this",
            hint=_HINTS.get(field, _HINT),
        )
    return value if carried else default


def _fit_permission(fit: Reporting) -> str | None:
    """Return the permission that the component is written with."""
    stated = fit.provider.access.permission
    capacity = fit.capacity
    is_carried = "permission" in capacity.access
    binding = find_binding(fit.format_id)
    is_new = binding is not None and fit.provider.component is None and capacity.component is not None
    if fit.own and is_carried and not is_new:
        return stated
    if not stated and stated is not None:
        fit.report(
            NOTATION_DROPPED, Level.RENAMED, _PERMISSION, "an empty permission requires nothing of callers"
        )
        stated = None
    needed = stated
    source = find_binding(fit.provider.protocol)
    if source is not None and stated in {None, source.component}:
        needed = source.caller
    elif source is not None and "permission" in capacity.access_enforced:
        message = f"Android also requires {source.caller} of callers; the target requires {stated} only"
        _report_permission(fit, message)
    if binding is not None:
        written = binding.component if is_carried else None
        if needed not in {None, binding.caller}:
            _report_permission(
                fit, f"callers need {needed}; in the target they need {binding.caller} instead"
            )
        elif needed is None and written is not None:
            message = f"the target requires {written}; callers need {binding.caller}"
            fit.report(FIELD_DEFAULTED, Level.DEFAULTED, _PERMISSION, message)
        elif written != stated:
            message = f"Android requires {binding.caller} of callers, as before"
            fit.report(PERMISSION_TRANSLATED, Level.RENAMED, _PERMISSION, message)
        return written
    if needed is None:
        return None
    if "permission" not in capacity.access_enforced:
        _report_permission(fit, f"callers need {needed}; {fit.format_id} does not enforce this")
        return needed if is_carried else None
    if needed != stated:
        message = f"Android requires {needed} of callers; the new component requires it itself"
        hint = "no ordinary app can hold it; remove android:permission to let every app call the component"
        fit.report(PERMISSION_TRANSLATED, Level.RENAMED, _PERMISSION, message, hint=hint)
    return needed


def _report_permission(fit: Reporting, message: str) -> None:
    fit.report(ACCESS_NOT_ENFORCED, Level.SECURITY, _PERMISSION, message, hint=_HINT)

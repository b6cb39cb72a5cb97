"""Fitting access rules: a rule of the source that nothing enforces in the target is a security finding."""

from __future__ import annotations

from typing import Any, Final

from droidgate_mappings.fit import losses
from droidgate_mappings.fit.collector import Collector
from droidgate_mappings.fit.losses import TRUSTED_LEVEL
from droidgate_mappings.model.capability import Capability, CapabilityAccess, ComponentAccess
from droidgate_mappings.tables.loading import find_binding

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


def fit_component_access(fit: Collector) -> ComponentAccess:
    """Return a provider's access as the dialect writes it; each rule that gets lost is a security finding."""
    access = fit.provider.access
    changes: dict[str, Any] = {"permission": _fit_permission(fit)}
    if changes["permission"] != access.permission:
        changes["protection_level"] = None
    if access.exported is None and not fit.comes_from_target and fit.capacity.component is not None:
        fit.report(losses.EXPORTED_STATED, _EXPORTED)
        changes["exported"] = True
    elif (
        access.exported is False
        and not fit.comes_from_target
        and find_binding(fit.provider.protocol) is not None
    ):
        fit.report(losses.EXPORTED_TO_ANDROID, _EXPORTED)
        changes["exported"] = True
    elif access.exported is not True:
        changes["exported"] = _carried(fit, "exported", access.exported, True, _EXPORTED)
    if access.enabled is not True:
        changes["enabled"] = _carried(fit, "enabled", access.enabled, True, "/access/enabled")
    return access.changed(changes)


def fit_capability_access(fit: Collector, capability: Capability, pointer: str) -> CapabilityAccess:
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


def _carried(fit: Collector, field: Any, value: Any, default: Any, leaf: str) -> Any:
    """Return the value that the dialect writes for one rule."""
    carried = field in fit.capacity.access
    if not is_restriction(field, value):
        if not carried:
            fit.report(losses.OPEN_ACCESS[field], leaf)
    elif not carried or (field not in fit.capacity.access_enforced and not fit.comes_from_target):
        fit.report(losses.ACCESS_RULES[field], leaf, target=fit.format_id)
    return value if carried else default


def _fit_permission(fit: Collector) -> str | None:
    """Return the permission that the component is written with."""
    stated = fit.provider.access.permission
    capacity = fit.capacity
    is_carried = "permission" in capacity.access
    binding = find_binding(fit.format_id)
    is_new = binding is not None and fit.provider.component is None and capacity.component is not None
    if fit.comes_from_target and is_carried and not is_new:
        return stated
    if not stated and stated is not None:
        fit.report(losses.OPEN_ACCESS["permission"], _PERMISSION)
        stated = None
    needed = stated
    source = find_binding(fit.provider.protocol)
    if source is not None and stated in {None, source.component}:
        needed = source.caller
    elif source is not None and "permission" in capacity.access_enforced:
        fit.report(losses.CALLER_PERMISSION, _PERMISSION, needed=source.caller, stated=stated)
    if binding is not None:
        written = binding.component if is_carried else None
        if needed not in {None, binding.caller}:
            fit.report(losses.OTHER_PERMISSION, _PERMISSION, needed=needed, caller=binding.caller)
        elif needed is None and written is not None:
            fit.report(losses.PERMISSION_ADDED, _PERMISSION, written=written, caller=binding.caller)
        elif written != stated:
            fit.report(losses.PERMISSION_AS_BEFORE, _PERMISSION, caller=binding.caller)
        return written
    if needed is None:
        return None
    if "permission" not in capacity.access_enforced:
        fit.report(losses.ACCESS_RULES["permission"], _PERMISSION, needed=needed, target=fit.format_id)
        return needed if is_carried else None
    if needed != stated:
        fit.report(losses.PERMISSION_OF_COMPONENT, _PERMISSION, needed=needed)
    return needed

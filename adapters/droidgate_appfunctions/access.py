"""Which apps may call a service, by its element and the application's."""

from __future__ import annotations

from droidgate.application import Application, Component
from droidgate.model.capability import ComponentAccess


def component_access(application: Application, component: Component | None) -> ComponentAccess:
    """Return the access rules of a service.

    Android applies the application's `enabled` to every component, and its `permission` to each component
    that has none of its own.

    Args:
        application: The app.
        component: The service; None for functions of the application itself.
    """
    whole = next(application.of_kind("application"), None)
    is_app_enabled = whole is None or whole.enabled
    if component is None:
        return ComponentAccess(enabled=is_app_enabled)
    permission = component.permission
    if permission is None and whole is not None:
        permission = whole.permission
    return ComponentAccess(
        exported=component.exported,
        enabled=(dict(component.enabled_by_configuration) or component.enabled) if is_app_enabled else False,
        permission=permission,
    )

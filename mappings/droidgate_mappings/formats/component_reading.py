"""A component's access rules, read from a manifest and written into one, for every format; what is not known
of a component is reported.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Final, Literal

from droidgate_mappings.formats.application import Application, Component, usual_level
from droidgate_mappings.formats.format import Artifact
from droidgate_mappings.formats.leniency import ReadingContext
from droidgate_mappings.model.capability import ComponentAccess, Provider
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.model.names import class_name_in_snake_case
from droidgate_mappings.text.configured_flags import is_qualifier, joined_qualifiers


def enabled_attribute(provider: Provider) -> str | None:
    """Return the value of `android:enabled` for a provider's component.

    Returns:
        `false`, a reference `@bool/...` to the resource that `enabled_resources` writes, or None where the
        component is enabled and the attribute is not needed.
    """
    enabled = provider.access.enabled
    if isinstance(enabled, bool):
        return None if enabled else "false"
    return f"@bool/{_resource_name(provider)}"


def enabled_resources(provider: Provider) -> tuple[Artifact, ...]:
    """Return the boolean resource behind `enabled_attribute`: a values file for each configuration."""
    enabled = provider.access.enabled
    if isinstance(enabled, bool):
        return ()
    name = _resource_name(provider)
    return tuple(
        Artifact(
            f"res/values{'-' if qualifier else ''}{qualifier}/{name}.xml",
            '<?xml version="1.0" encoding="utf-8"?>\n<resources>\n'
            f'    <bool name="{name}">{"true" if value else "false"}</bool>\n</resources>\n',
            "resource",
        )
        for qualifier, value in enabled.items()
    )


def _resource_name(provider: Provider) -> str:
    return f"{class_name_in_snake_case(provider.component or '') or 'component'}_enabled"


TextAttribute = Literal["label", "description"]

LABEL: Final[tuple[TextAttribute, ...]] = ("label",)
"""The text of a format that uses a component's label as the provider's name."""

_TEXTS: Final[tuple[TextAttribute, ...]] = ("label", "description")
_UNKNOWN: Final = "S82"
_BY_CONFIGURATION: Final = "S83"
_READ_AS: Final = {
    "label": "it is read as missing",
    "description": "it is read as missing",
    "enabled": "false is used, because the component can be disabled",
    "exported": "false is used, because the component can be closed to other apps",
    "permission": "the reference itself is read as the permission",
}
_SET_BY_LIBRARY: Final = "true is used, because a library sets it"
_MAX_DESCRIBED: Final = 300
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_HINT: Final = "add the resource to the app, or write the value itself"


def read_access(
    application: Application, component: Component, *, is_set_by_library: bool = False
) -> ComponentAccess:
    """Return which apps may call a component, by its own attributes and those of the application.

    A rule that is not known is closed. Without a stated value, Android exports a component only if it has an
    intent filter; it is None then. A content provider's permission is the one to read from it.

    Args:
        application: The application.
        component: One of its components.
        is_set_by_library: A library has the value of the component's `enabled`, if that is a reference.
    """
    exported = component.known_exported
    if component.kind == "application":
        exported = True
    elif exported is None:
        exported = None if component.filters and component.kind != "provider" else False
    permission = component.attributes.get("readPermission") if component.kind == "provider" else None
    permission = permission or application.permission_of(component)
    level = None if permission is None else application.permissions.get(permission)
    return ComponentAccess(
        exported=exported,
        enabled=read_enabled(application, component, is_set_by_library=is_set_by_library),
        # No app holds a permission that Android cannot name, so the component stays closed.
        permission=None if permission is None else _CONTROL.sub("\ufffd", permission),
        protection_level=None if level is None else usual_level(level),
    )


def read_enabled(
    application: Application, component: Component, *, is_set_by_library: bool = False
) -> bool | dict[str, bool]:
    """Return whether a component is enabled, false where that is not known; see `read_access`."""
    for element in (component, *application.of_kind("application")):
        is_library_value = is_set_by_library and element is component and _is_reference(component)
        if _has_no_known_value(element) and not is_library_value:
            return False
    return application.enabled_rule_of(component)


def inherited_access(application: Application, component: Component) -> list[Json]:
    """Return the names of a component's access rules that its application element states."""
    rules: list[Json] = []
    if any(whole.enabled_rule is not True for whole in application.of_kind("application")):
        rules.append("enabled")
    if component.permission is None and application.permission_of(component) is not None:
        rules.append("permission")
    return rules


def report_unknown_attributes(
    application: Application,
    component: Component,
    context: ReadingContext,
    *,
    is_set_by_library: bool = False,
) -> None:
    """Report the access rules of a component whose value is not known, by rows S82 and S83.

    Args:
        application: The application.
        component: One of its components.
        context: Takes the findings.
        is_set_by_library: As for `read_access`.

    Raises:
        InputError: the reading is strict.
    """
    above = dict(map(_split, application.unresolved))
    own = {} if component.kind == "application" else component.unknown_values
    inherited = {"enabled", *map(str, inherited_access(application, component))}
    for attribute in ("exported", "enabled", "permission"):
        if attribute in own and not (attribute == "exported" and component.exported_by_configuration):
            by_library = attribute == "enabled" and is_set_by_library and _is_reference(component)
            reading = _SET_BY_LIBRARY if by_library else None
            _report(application, component, context, attribute, own[attribute], reading)
        if attribute in above and attribute in inherited:
            _report(application, None, context, attribute, above[attribute])
    if component.exported_by_configuration:
        values = _described(component.exported_by_configuration)
        message = (
            f"android:exported of {component.name} depends on the configuration ({values}); "
            f"{_READ_AS['exported']}"
        )
        context.allow(_BY_CONFIGURATION, message, source=component.place or application.place, lost=True)
    _report_unnamed_configurations(application, component, context)


def _report_unnamed_configurations(
    application: Application, component: Component, context: ReadingContext
) -> None:
    rules = [
        item.enabled_by_configuration
        for item in (component, *application.of_kind("application"))
        if item is component or component.kind != "application"
    ]
    if joined_qualifiers(*rules) is not None and all(is_qualifier(item) for rule in rules for item in rule):
        return
    values = "; ".join(map(_described, filter(None, rules)))
    message = (
        f"android:enabled of {component.name or 'the application'} depends on configurations that resource "
        f"folders cannot name or combine ({values}); {_READ_AS['enabled']}"
    )
    context.allow(_UNKNOWN, message, source=component.place or application.place, hint=_HINT, lost=True)


def _described(values: Mapping[str, bool]) -> str:
    return ", ".join(
        f"{'true' if value else 'false'} in {qualifier or 'the default configuration'}"
        for qualifier, value in values.items()
    )[:_MAX_DESCRIBED]


def _has_no_known_value(element: Component) -> bool:
    """Return whether `android:enabled` is not known, or has a value that no resource folder can hold."""
    return "enabled" in element.unknown_values or not all(map(is_qualifier, element.enabled_by_configuration))


def _is_reference(component: Component) -> bool:
    return component.unknown_values.get("enabled", "").startswith("@")


def report_unknown_texts(
    application: Application,
    component: Component,
    context: ReadingContext,
    *,
    needed: Collection[TextAttribute] = (),
) -> None:
    """Report the texts of a component, or else of its application, whose value is not known, by row S82.

    Args:
        application: The application.
        component: One of its components.
        context: Takes the findings.
        needed: The texts in whose place the application's are taken where the component has none.

    Raises:
        InputError: the reading is strict.
    """
    own, above = component.unknown_values, dict(map(_split, application.unresolved))
    for attribute in _TEXTS:
        if attribute in own:
            _report(application, component, context, attribute, own[attribute])
        elif attribute in needed and attribute in above and getattr(component, attribute) is None:
            _report(application, None, context, attribute, above[attribute])


def _report(
    application: Application,
    component: Component | None,
    context: ReadingContext,
    attribute: str,
    value: str,
    reading: str | None = None,
) -> None:
    place = application.place if component is None else component.place or application.place
    name = (component.name if component is not None else "") or "the application"
    problem = "is not among the resources" if value.startswith("@") else "is not known"
    message = (
        f"android:{attribute} of {name} is {value[:100]}, which {problem}; {reading or _READ_AS[attribute]}"
    )
    lost = attribute != "permission"
    context.allow(_UNKNOWN, message, source=place, hint=_HINT, lost=lost)


def _split(unresolved: str) -> tuple[str, str]:
    name, _, value = unresolved.partition("=")
    return name, value

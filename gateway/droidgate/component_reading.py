"""Read a component's access rules from a manifest, and report what is not known of it, for every format."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final, Literal

from droidgate.application import Application, Component
from droidgate.leniency import ReadingContext
from droidgate.model.capability import ComponentAccess
from droidgate.model.json_values import Json

TextAttribute = Literal["label", "description"]

LABEL: Final[tuple[TextAttribute, ...]] = ("label",)
"""The text of a format that uses a component's label as the provider's name."""

_TEXTS: Final[tuple[TextAttribute, ...]] = ("label", "description")
_UNKNOWN: Final = "S82"
_BY_CONFIGURATION: Final = "S83"
_READ_AS: Final = {
    "label": "it is read as missing",
    "description": "it is read as missing",
    "enabled": "it is read as true",
    "exported": "it is read as not stated",
    "permission": "the reference itself is read as the permission",
}
_HINT: Final = "Add the resource to the app, or write the value itself"


def read_access(application: Application, component: Component) -> ComponentAccess:
    """Return which apps may call a component, by its own attributes and those of the application.

    Without a stated value, Android exports a component only if it has an intent filter; it is None then.
    A content provider's permission is the one to read from it.
    """
    exported = component.exported
    if component.kind == "application":
        exported = True
    elif exported is None and "exported" not in map(_name_of, component.unresolved):
        exported = None if component.filters and component.kind != "provider" else False
    permission = component.attributes.get("readPermission") if component.kind == "provider" else None
    return ComponentAccess(
        exported=exported,
        enabled=application.enabled_rule_of(component),
        permission=permission or application.permission_of(component),
    )


def inherited_access(application: Application, component: Component) -> list[Json]:
    """Return the names of a component's access rules that its application element states."""
    found: list[Json] = []
    if any(whole.enabled_rule is not True for whole in application.of_kind("application")):
        found.append("enabled")
    if component.permission is None and application.permission_of(component) is not None:
        found.append("permission")
    return found


def report_unknown_attributes(
    application: Application, component: Component, context: ReadingContext
) -> None:
    """Report the access rules of a component whose value is not known, by rows S82 and S83.

    Args:
        application: The application.
        component: One of its components.
        context: Takes the findings.

    Raises:
        InputError: the reading is strict.
    """
    own = dict(map(_split, component.unresolved))
    above = dict(map(_split, application.unresolved))
    inherited = {"enabled", *map(str, inherited_access(application, component))}
    for attribute in ("exported", "enabled", "permission"):
        if attribute in own:
            _report(application, component, context, attribute, own[attribute])
        if attribute in above and attribute in inherited:
            _report(application, None, context, attribute, above[attribute])
    if component.exported_by_configuration:
        values = ", ".join(
            f"{'true' if value else 'false'} in {qualifier or 'the default configuration'}"
            for qualifier, value in component.exported_by_configuration.items()
        )
        message = (
            f"android:exported of {component.name} depends on the configuration ({values}); "
            "the value of the default configuration is read"
        )
        context.allow(_BY_CONFIGURATION, message, source=component.place or application.place, lost=True)


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
        needed: The texts for which the application's stand where the component has none.

    Raises:
        InputError: the reading is strict.
    """
    own = dict(map(_split, component.unresolved))
    above = dict(map(_split, application.unresolved))
    for attribute in _TEXTS:
        if attribute in own:
            _report(application, component, context, attribute, own[attribute])
        elif attribute in needed and attribute in above and getattr(component, attribute) is None:
            _report(application, None, context, attribute, above[attribute])


def _report(
    application: Application, component: Component | None, context: ReadingContext, attribute: str, value: str
) -> None:
    place = application.place if component is None else component.place or application.place
    name = "the application" if component is None else component.name
    problem = "is not among the resources" if value.startswith("@") else "is not known"
    message = f"android:{attribute} of {name} is {value[:100]}, which {problem}; {_READ_AS[attribute]}"
    lost = attribute != "permission"
    context.allow(_UNKNOWN, message, source=place, hint=_HINT, lost=lost)


def _name_of(unresolved: str) -> str:
    return unresolved.partition("=")[0]


def _split(unresolved: str) -> tuple[str, str]:
    name, _, value = unresolved.partition("=")
    return name, value

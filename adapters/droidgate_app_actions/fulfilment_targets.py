"""Which activity of an app a fulfilment starts, and who may start it (reference app-actions 4)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from droidgate_app_actions.action_files import Fulfilment
from droidgate_app_actions.format import ENTITY_LINK, FORMAT_ID, NAMES, OWN_PACKAGE, TABLES
from droidgate_app_actions.url_templates import LinkError, parse_template
from droidgate_mappings.formats.application import Application, Component, IntentFilter
from droidgate_mappings.formats.component_reading import read_access
from droidgate_mappings.formats.reachability import SHIM, component_facts, component_verdict
from droidgate_mappings.model.capability import Capability, ComponentAccess
from droidgate_mappings.model.names import qualified_class
from droidgate_mappings.model.types import ObjectType
from droidgate_mappings.records import dataclass
from droidgate_mappings.tables.reach import load_reach

Facts = Mapping[str, Any]
_STARTING: Final = ("template", "data", "class", "action")
"""The facts of which a fulfilment that starts an activity has one."""
COMPARING_SDK: Final = 33
"""The release that compares explicit intents with filters, for apps that target it or a later one."""


@dataclass(frozen=True, slots=True)
class FulfilmentTarget:
    """What a fulfilment starts.

    Attributes:
        name: The activity's class as the manifest has it, else as the fulfilment has it; None where any
            activity that takes the link may be started.
        activity: Its component, None where the manifest does not have it, and for a link.
        takers: For a link, the activities with a filter for the action and the link's scheme.
    """

    name: str | None = None
    activity: Component | None = None
    takers: tuple[Component, ...] = ()


def starts_activity(fulfilment: Fulfilment) -> bool:
    """Return whether a fulfilment starts an activity, and does not only show a slice or a widget."""
    states_intent = (fulfilment.template, fulfilment.data, fulfilment.target_class, fulfilment.action)
    return fulfilment.kind in {"intent", "shortcut"} and any(states_intent)


def starting_facts(capability: Capability) -> list[Mapping[str, Any]]:
    """Return the fulfilments that start an activity, in order, as the capability was read."""
    listed: list[Mapping[str, Any]] = capability.extensions.get(FORMAT_ID, {}).get("fulfilments", [])
    return [
        each for each in listed if each["kind"] in {"intent", "shortcut"} and any(map(each.get, _STARTING))
    ]


def listed_values(capability: Capability) -> dict[str, Mapping[str, Any]]:
    """Return the listed values of each parameter that has some, by what the app receives for it."""
    declared = capability.input
    properties = declared.properties if isinstance(declared, ObjectType) else {}
    return {
        name: listed
        for name, property_ in properties.items()
        if (listed := property_.extensions.get(FORMAT_ID, {}).get("inventory"))
    }


def ids_by_name(items: Mapping[str, Facts]) -> dict[str, str]:
    """Return the ids of listed values by their other names, in small letters; an id that is one is itself."""
    ids: dict[str, str] = {}
    for value, item in items.items():
        for name in item.get("names", ()):
            ids.setdefault(name.lower(), value)
    return ids | {value: value for value in items if value.lower() in ids}


@dataclass(frozen=True, slots=True)
class Choice:
    """One intent that a call may start.

    Attributes:
        needs: The parameters that have to be given; the values of which one has to be, None for any.
        fulfilment: The facts of its fulfilment.
        starts: The facts of the intent: the fulfilment's own, or those of a listed value.
        passed: The parameters that the intent takes.
        obstacle: Why it cannot be started, None where it can.
    """

    needs: Mapping[str, list[str] | None]
    fulfilment: Facts
    starts: Facts
    passed: tuple[str, ...] = ()
    obstacle: str | None = None


def choices(capability: Capability) -> Iterator[Choice]:
    """Yield the intents of the fulfilments that start an activity, in the order in which they are tried.

    A listed value with a link or an intent of its own is one of its own.
    """
    inventory = listed_values(capability)
    for fulfilment in starting_facts(capability):
        for needs, starts, is_filled in _starts(fulfilment, inventory):
            closed = starts.get("closed_because")
            obstacle = f"what it starts is closed to other apps: {closed}" if closed else None
            try:
                parse_template(starts.get("template"), starts.get("data"))
            except LinkError as error:
                obstacle = obstacle or str(error)
            passed = tuple(fulfilment.get("parameters", ())) if is_filled else ()
            yield Choice(needs, fulfilment, starts, passed, obstacle)


def _starts(
    fulfilment: Facts, inventory: Mapping[str, Mapping[str, Facts]]
) -> Iterator[tuple[Mapping[str, list[str] | None], Facts, bool]]:
    """Yield what a fulfilment needs, what it then starts, and whether that takes the arguments."""
    needs: dict[str, list[str] | None] = dict.fromkeys(fulfilment.get("required", ()))
    keys = [key for key in fulfilment.get("parameters", ()) if key in inventory]
    for key in fulfilment.get("match_required", ()):
        if key in keys and key in needs:
            needs[key] = list(inventory[key])
    if fulfilment["kind"] == "shortcut" and keys:
        for value, item in inventory[keys[0]].items():
            if "starts" in item:
                yield {**needs, keys[0]: [value]}, item["starts"], False
    elif fulfilment.get("template") == ENTITY_LINK:
        for key in keys:
            for value, item in inventory[key].items():
                if "url" in item:
                    filled = {name: fact for name, fact in fulfilment.items() if name != "template"}
                    yield {**needs, key: [value]}, {**filled, "data": item["url"], "linked": key}, True
    else:
        yield needs, fulfilment, fulfilment["kind"] != "shortcut"


def action_of(fulfilment: Fulfilment) -> str:
    """Return the action of a fulfilment's intent."""
    return fulfilment.action or NAMES["view_action"]


def is_of_other_app(fulfilment: Fulfilment, application: Application) -> bool:
    """Return whether a fulfilment names another app than the one that declares it."""
    own = {*OWN_PACKAGE, application.package}
    return application.package is not None and fulfilment.target_package not in own


def is_action_unmatched(fulfilment: Fulfilment, activity: Component, application: Application) -> bool:
    """Return whether Android 13 refuses an intent with a class, since no filter has its action and its link.

    An activity without filters takes each intent.
    """
    compares = application.target_sdk is None or application.target_sdk >= COMPARING_SDK
    return (
        bool(fulfilment.target_class and activity.filters)
        and compares
        and not any(
            action_of(fulfilment) in filter_.actions and takes_link(filter_, fulfilment)
            for filter_ in activity.filters
        )
    )


def takes_link(filter_: IntentFilter, fulfilment: Fulfilment) -> bool:
    """Return whether a filter has the scheme of a fulfilment's link, or no scheme where there is no link."""
    link = fulfilment.template or fulfilment.data
    if link is None or link == ENTITY_LINK:
        return link is not None or not filter_.schemes
    scheme = link.partition(":")[0]
    # A build fills in placeholders.
    return any(each == scheme or each[:1] in {"$", "@"} for each in filter_.schemes)


def find_target(fulfilment: Fulfilment, application: Application | None) -> FulfilmentTarget:
    """Return what a fulfilment starts.

    Args:
        fulfilment: One that starts an activity.
        application: The app, None where only the file is known.
    """
    stated = fulfilment.target_class
    if application is None:
        return FulfilmentTarget(name=stated)
    activities = tuple(application.of_kind("activity"))
    if stated:
        class_name = qualified_class(stated, application.package)
        names = {class_name, qualified_class(stated, application.namespace or application.package)}
        named = (each for each in activities if application.qualified_name(each) in names)
        activity = None if is_of_other_app(fulfilment, application) else next(named, None)
        return FulfilmentTarget(name=stated if activity is None else activity.name, activity=activity)
    takers = tuple(
        each
        for each in activities
        if any(
            action_of(fulfilment) in filter_.actions
            and NAMES["default_category"] in filter_.categories
            and takes_link(filter_, fulfilment)
            for filter_ in each.filters
        )
    )
    if len(takers) == 1:
        return FulfilmentTarget(name=takers[0].name, activity=takers[0], takers=takers)
    return FulfilmentTarget(takers=takers)


def access_of(target: FulfilmentTarget | None, application: Application | None) -> ComponentAccess:
    """Return who may start what a fulfilment starts.

    An activity that the manifest of a source tree does not have may come from a library, so its access is not
    known. Of several activities that take a link, other apps reach those that are exported.

    Args:
        target: What it starts, None where it starts nothing.
        application: The app, None where only the file is known.
    """
    if application is None:
        return ComponentAccess()
    if target is None:
        return ComponentAccess(exported=False)
    if target.activity is not None:
        return read_access(application, target.activity)
    if not target.takers:
        return ComponentAccess(exported=False if application.is_built else None)
    accesses = [read_access(application, each) for each in target.takers]
    return next((access for access in accesses if access.exported is not False), accesses[0])


def why_closed(fulfilment: Fulfilment, target: FulfilmentTarget, application: Application) -> str | None:
    """Return why no other app starts what a fulfilment starts, without a period; None where one may."""
    if is_of_other_app(fulfilment, application):
        return f"it is of the app {fulfilment.target_package}"
    if application.is_built and target.activity is None and not target.takers:
        return "the app does not have it" if fulfilment.target_class else "no activity takes the link"
    access = access_of(target, application)
    interface = load_reach().interface(TABLES.dialects[0].interface)
    if interface is None:
        raise TypeError(TABLES.dialects[0])
    facts = component_facts(access, interface, application, target.activity)
    return component_verdict(facts, interface, SHIM).closed_because

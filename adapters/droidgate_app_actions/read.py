"""Reading App Actions into the model: a provider for each activity that is started, a capability for each
declaration.
"""

from __future__ import annotations

import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from droidgate_app_actions.action_files import (
    ActionFile,
    DeclaredAction,
    Fulfilment,
    FulfilmentParameter,
    InventoryItem,
    parse_actions,
)
from droidgate_app_actions.format import ACTIONS, FORMAT_ID, MADE_UP, META_DATA, SHORTCUTS, TABLES
from droidgate_app_actions.fulfilment_targets import (
    FulfilmentTarget,
    access_of,
    find_target,
    is_action_unmatched,
    starts_activity,
    takes_link,
    why_closed,
)
from droidgate_mappings.formats.application import Application, Component, MetaData
from droidgate_mappings.formats.component_reading import report_unknown_attributes
from droidgate_mappings.formats.format import Reading, SourceFile
from droidgate_mappings.formats.leniency import ReadingContext
from droidgate_mappings.model.capability import Capability, ComponentAccess, Provider
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.model.types import ObjectType, Property, ScalarType, Type, as_extensions
from droidgate_mappings.records import dataclass, replace
from droidgate_mappings.tables.app_actions import load_built_in_intents
from droidgate_mappings.text.aapt_text import reference_in

_SURE: Final = 95
_COMMENT: Final = re.compile(rb"<!--.*?(?:-->|\Z)", re.DOTALL)
_BEFORE_ROOT: Final = rb"\s+|<\?.*?\?>|<!DOCTYPE[^\[>]*(?:\[.*?\]\s*)?>"
_ROOT: Final = re.compile(
    rb"(?:\xef\xbb\xbf)?(?>" + _BEFORE_ROOT + rb")*+<(shortcuts|actions)[\s/>]", re.DOTALL
)
_DECLARES: Final = {
    b"shortcuts": re.compile(rb"<capability(?:-binding)?[\s/>]"),
    b"actions": re.compile(rb"<action[\s/>]"),
}

_FORMATS: Final = {word: word for word in ("date", "time", "date-time", "duration")}
_SHOWN_VALUES: Final = 20
_SHOWN_PATTERNS: Final = 3


def detect(source: SourceFile) -> int:
    """Return how sure it is that a file declares App Actions: a file of launcher shortcuts alone does not."""
    return _SURE if _declares_actions(source.data) else 0


def _declares_actions(data: bytes) -> bool:
    if data[:2] in {BOM_UTF16_BE, BOM_UTF16_LE}:
        data = data.decode("utf-16", "replace").encode("utf-8", "replace")
    text = _COMMENT.sub(b"", data)
    root = _ROOT.match(text)
    return root is not None and _DECLARES[root[1]].search(text) is not None


def read_file(source: SourceFile, context: ReadingContext) -> Reading:
    """Read one file of either form; the manifest and the resources that it names are not known.

    Raises:
        InputError: it is not one, or declares no capability.
    """
    declared = parse_actions(source.data, source.path, context)
    if not declared.actions:
        word = "capability" if declared.dialect == SHORTCUTS else "action"
        problem = "only binds shortcuts to capabilities" if declared.bound else f"has no <{word}>"
        raise InputError(f"the file {problem}", place=str(declared.place), hint=f"declare a <{word}>")
    return Reading(tuple(_providers(declared, None, {}, _Ids(declared))), tuple(context.findings))


def read_application(application: Application, context: ReadingContext) -> Reading:
    """Read the files that an application's manifest names.

    A file that declares no capability is passed over: most `shortcuts.xml` have launcher shortcuts alone.
    Ids are numbered through all files, `actions.xml` last, so the others keep theirs when it goes.

    Raises:
        InputError: none of several files can be read, or the context is strict and one cannot.
    """
    files: list[tuple[NamedFile, ActionFile]] = []
    problems: list[InputError] = []
    reported: set[int] = set()
    for file in sorted(find_action_files(application), key=lambda file: file.dialect == ACTIONS):
        try:
            declared = file.parse(application, context)
            if declared is not None and declared.actions:
                _report_place(file, application, context)
                files.append((file, declared))
                _report_targets(declared, application, context, reported)
        except InputError as error:
            problems.append(error)
    ids = _Ids(*(declared for _, declared in files))
    providers = [
        provider
        for file, declared in files
        for provider in _providers(declared, application, file.facts, ids)
    ]
    if problems and (context.strict or not providers):
        raise InputError.first_of(problems)
    return Reading(tuple(providers), tuple(context.findings), tuple(problems))


@dataclass(frozen=True, slots=True)
class NamedFile:
    """A file that a manifest names by a meta-data.

    Attributes:
        reference: The resource.
        component: The element with the meta-data.
        meta_data: The meta-data.
        dialect: The form that its name belongs to.
    """

    reference: str
    component: Component
    meta_data: MetaData
    dialect: str

    @property
    def is_misplaced(self) -> bool:
        """Whether the meta-data is in another element than the form's own, or has another name."""
        is_elsewhere = (self.component.kind == "application") != (self.dialect == ACTIONS)
        return is_elsewhere or self.meta_data.name in MADE_UP

    @property
    def facts(self) -> dict[str, Json]:
        """What the provider keeps of it."""
        where = self.component.name
        return {"resource": self.reference, **({"declared_by": where} if where else {})}

    def parse(self, application: Application, context: ReadingContext) -> ActionFile | None:
        """Return what the file declares, None where it is not there or has launcher shortcuts alone.

        Raises:
            InputError: it is not well-formed, or has another root element.
        """
        file = application.resources.read_file(self.reference)
        if file is None or not _declares_actions(file.text.encode("utf-8", "surrogatepass")):
            return None
        return parse_actions(
            file.text, file.place.path, context, compiled=file.compiled, resources=application.resources
        )


def find_action_files(application: Application) -> Iterator[NamedFile]:
    """Yield the files that the manifest names, each once, in manifest order."""
    seen: set[str] = set()
    for component in application.of_kind("application", "activity"):
        for meta_data in component.meta_data:
            dialect = META_DATA.get(meta_data.name)
            if dialect is not None and meta_data.resource is not None and meta_data.resource not in seen:
                seen.add(meta_data.resource)
                yield NamedFile(meta_data.resource, component, meta_data, dialect)


def _report_place(file: NamedFile, application: Application, context: ReadingContext) -> None:
    if file.is_misplaced:
        where = file.component.name or "the application element"
        place = file.meta_data.place or file.component.place or application.place
        context.allow("AA01", f"the meta-data {file.meta_data.name} of {where} is read", source=place)


def _report_targets(
    declared: ActionFile, application: Application, context: ReadingContext, reported: set[int]
) -> None:
    for action in declared.actions:
        target = _first_target(action, application)
        activity = None if target is None else target.activity
        if activity is not None and id(activity) not in reported:
            reported.add(id(activity))
            report_unknown_attributes(application, activity, context)


def _first_target(action: DeclaredAction, application: Application | None) -> FulfilmentTarget | None:
    started = next(filter(starts_activity, action.fulfilments), None)
    return None if started is None else find_target(started, application)


class _Ids:
    """Ids of the capabilities of one app: the name, with a number from its second declaration on."""

    def __init__(self, *files: ActionFile) -> None:
        self._seen: Counter[str] = Counter()
        self._taken = {action.name for declared in files for action in declared.actions}

    def next(self, name: str) -> str:
        """Return the id of the next declaration of a name."""
        self._seen[name] += 1
        if self._seen[name] == 1:
            return name
        while f"{name}_{self._seen[name]}" in self._taken:
            self._seen[name] += 1
        return f"{name}_{self._seen[name]}"


def _providers(
    declared: ActionFile, application: Application | None, facts: Mapping[str, Json], ids: _Ids
) -> Iterator[Provider]:
    """Yield a provider for each activity that is the target of a capability's first fulfilment."""
    groups: dict[tuple[str | None, bool], tuple[ComponentAccess, list[Capability]]] = {}
    for action in declared.actions:
        capability_id = ids.next(action.name)
        target = _first_target(action, application)
        key = (None, False) if target is None else (target.name, True)
        access = access_of(target, application)
        groups.setdefault(key, (access, []))[1].append(_capability(action, capability_id, application))
    for (component, _), (access, capabilities) in groups.items():
        yield Provider(
            protocol=FORMAT_ID,
            dialect=declared.dialect,
            package=None if application is None else application.package,
            component=component,
            name=None if application is None else application.label,
            access=access,
            source=declared.place,
            capabilities=tuple(capabilities),
            extensions=as_extensions(FORMAT_ID, facts),
        )


def _capability(action: DeclaredAction, capability_id: str, application: Application | None) -> Capability:
    facts: dict[str, Json] = {}
    if capability_id != action.name:
        facts["name"] = action.name
    if action.patterns is not None:
        facts["query_patterns"] = list(action.patterns)
    facts["fulfilments"] = [_fulfilment_facts(each, application) for each in action.fulfilments]
    intent = load_built_in_intents().find(action.built_in_name or "")
    description = None
    if intent is not None:
        description, facts["description_from"] = intent.description, "built-in intent"
    elif patterns := [pattern for pattern in action.patterns or () if reference_in(pattern) is None]:
        patterns_text = "; ".join(patterns[:_SHOWN_PATTERNS])
        description, facts["description_from"] = f"Said as: {patterns_text}", "query patterns"
    return Capability(
        id=capability_id,
        title=_title(action.name),
        description=description,
        input=ObjectType(properties=_properties(action, application)),
        source=action.place,
        extensions=as_extensions(FORMAT_ID, facts),
    )


def _title(name: str) -> str:
    words = name.rpartition(".")[2].replace("_", " ").strip()
    return (words.capitalize() if words.isupper() else words) or name


def _fulfilment_facts(fulfilment: Fulfilment, application: Application | None) -> dict[str, Json]:
    target = None
    if application is not None and starts_activity(fulfilment):
        target = find_target(fulfilment, application)
    activity = None if target is None else target.activity
    stated: dict[str, Json] = {
        "kind": fulfilment.kind,
        "action": fulfilment.action,
        "package": fulfilment.target_package,
        "class": fulfilment.target_class,
        "data": fulfilment.data,
        "template": fulfilment.template,
        "identifier": fulfilment.identifier,
        "parameters": {each.key: each.field for each in fulfilment.parameters},
        "required": [each.key for each in fulfilment.parameters if each.required],
        "match_required": [each.key for each in fulfilment.parameters if each.match_required],
        "extras": dict(fulfilment.extras),
        "foreground": fulfilment.is_foreground,
        "action_unmatched": application is not None
        and activity is not None
        and is_action_unmatched(fulfilment, activity, application)
        and any(takes_link(filter_, fulfilment) for filter_ in activity.filters),
        "closed_because": None
        if application is None or target is None
        else why_closed(fulfilment, target, application),
    }
    return {name: value for name, value in stated.items() if value}


def _properties(action: DeclaredAction, application: Application | None) -> dict[str, Property]:
    """Return what a call takes: required is what each fulfilment that starts something requires."""
    started = [each for each in action.fulfilments if starts_activity(each)] or list(action.fulfilments)
    needed = [{each.key for each in fulfilment.parameters if each.required} for fulfilment in started]
    required = set.intersection(*needed) if needed else set()
    properties: dict[str, Property] = {}
    by_key: dict[str, list[FulfilmentParameter]] = {}
    for fulfilment in action.fulfilments:
        for each in fulfilment.parameters:
            by_key.setdefault(each.key, []).append(each)
    for parameter, *others in by_key.values():
        match_required = parameter.match_required and all(each.match_required for each in others)
        items = action.inventory.get(parameter.field, ())
        facts: dict[str, Json] = {"field": parameter.field}
        if match_required:
            facts["match_required"] = True
        if parameter.is_web_inventory:
            facts["web_inventory"] = True
        if items:
            facts["inventory"] = {item.id: _item_facts(item, application) for item in items}
        properties[parameter.key] = Property(
            type=_type(action, replace(parameter, match_required=match_required), items),
            required=parameter.key in required,
            extensions=as_extensions(FORMAT_ID, facts),
        )
    return properties


def _item_facts(item: InventoryItem, application: Application | None) -> dict[str, Json]:
    stated: dict[str, Json] = {
        "names": list(item.names),
        "label": item.label,
        "url": item.url,
        "same_as": item.same_as,
        "starts": None if item.starts is None else _fulfilment_facts(item.starts, application),
    }
    return {name: value for name, value in stated.items() if value}


def _type(action: DeclaredAction, parameter: FulfilmentParameter, items: Sequence[InventoryItem]) -> Type:
    table = load_built_in_intents()
    if items:
        ids = [item.id for item in items]
        intent = table.find(action.built_in_name or "")
        is_closed = parameter.match_required or (intent is not None and intent.needs_inventory)
        return ScalarType(
            kind="string",
            description=_describe_values(items),
            enum=tuple(ids) if is_closed else None,
            keywords={} if is_closed else {"examples": ids},
        )
    keywords: dict[str, Json] = {}
    if action.built_in_name is None:
        word = (parameter.type_url or "").rpartition("/")[2].lower()
    else:
        word = table.type_of(parameter.field) or "text"
        if parameter.field in table.named:
            keywords["examples"] = list(table.named[parameter.field])
    kind: Any = TABLES.words.read.get(word, "string")
    return ScalarType(kind=kind, format=_FORMATS.get(word), keywords=keywords)


def _describe_values(items: Sequence[InventoryItem]) -> str | None:
    """Return what each value means, as `Order status = ORDER_STATUS`."""
    names = [f"{item.names[0]} = {item.id}" for item in items if item.names and item.names[0] != item.id]
    if not names:
        return None
    more = len(names) - _SHOWN_VALUES
    return "; ".join(names[:_SHOWN_VALUES]) + (f"; and {more} more" if more > 0 else "")

"""The linter of App Actions: what Google's pages ask for, and what keeps other apps from starting one.

The section of a rule is the page of Google that asks for it; rules about calls are of app-actions 4.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from typing import Final

from droidgate_app_actions.action_files import ActionFile, DeclaredAction, Fulfilment, parse_actions
from droidgate_app_actions.format import ACTIONS, ENTITY_LINK, META_DATA, NAMES, SHORTCUTS
from droidgate_app_actions.fulfilment_targets import (
    FulfilmentTarget,
    access_of,
    action_of,
    find_target,
    is_action_unmatched,
    is_of_other_app,
    starts_activity,
)
from droidgate_app_actions.read import NamedFile, find_action_files
from droidgate_mappings.formats.application import Application
from droidgate_mappings.formats.format import SourceFile
from droidgate_mappings.formats.leniency import ReadingContext
from droidgate_mappings.model.capability import ComponentAccess
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.model.findings import Finding, Level, LintRules
from droidgate_mappings.tables.app_actions import load_built_in_intents
from droidgate_mappings.text.configured_flags import disabled_in

_BOOK: Final = LintRules("App Actions", __name__, "app-actions-")
_error = partial(_BOOK.declare, Level.ERROR)
_warning = partial(_BOOK.declare, Level.WARNING)
_note = partial(_BOOK.declare, Level.NOTE)

RULES: Final = _BOOK.by_id
"""Every rule by id, in order."""

# fmt: off
FILE: Final = _error("file", "Create shortcuts.xml", "The file is XML with the root of one of the two forms",
    "correct the XML")
UNKNOWN_INTENT: Final = _warning("intent-unknown", "Built-in intents reference",
    "A name with the prefix actions.intent is one of Google's list",
    "use a built-in intent, or a custom name with another prefix")
CUSTOM_PREFIX: Final = _error("custom-prefix", "Custom intents",
    "The name of a custom intent does not begin with actions.intent", "name it custom.actions.intent.NAME")
DEPRECATED_INTENT: Final = _warning("intent-deprecated", "Release notes, 26 February 2024",
    "The built-in intent is not one of those that Google ended",
    "use OPEN_APP_FEATURE, GET_THING or a custom intent")
PATTERNS: Final = _warning("query-patterns", "Custom intents",
    "A custom intent has query patterns, and a built-in intent has none",
    "list what users say in an array resource")
PATTERN_PARAMETERS: Final = _warning("pattern-parameters", "Custom intents",
    "A query pattern names parameters of the intent, at most two of them texts",
    "declare the parameter, or shorten the pattern")
CUSTOM_TYPE: Final = _warning("custom-type", "Custom intents",
    "A parameter of a custom intent is a Text, Date, Time or Number of schema.org",
    'write "https://schema.org/Text"')
FULFILMENT: Final = _error("fulfilment", "Create shortcuts.xml",
    "A capability has a fulfilment that starts an activity",
    "add an <intent>, or a <fulfillment> with a urlTemplate")
FALLBACK: Final = _warning("fallback", "Create shortcuts.xml",
    "A fulfilment requires no parameter, for a request without any",
    "add a fulfilment without required parameters, such as a search")
ONE_TARGET: Final = _warning("one-target", "Create shortcuts.xml",
    "An intent has a class or a URL template, not both", "remove one of them")
PACKAGE_AND_CLASS: Final = _error("package-and-class", "Create shortcuts.xml",
    "An intent that names a class names its package, and one that names a package a class",
    "state both or neither")
FIELD: Final = _warning("field", "Built-in intents reference",
    "A parameter is a field of the built-in intent", "use the path of a field")
TEMPLATE: Final = _warning("template", "Create shortcuts.xml (RFC 6570)",
    "The variables of a URL template are the keys of the parameters", "make the names equal")
INVENTORY: Final = _warning("inventory", "Inline inventory",
    "An app lists the values of one parameter of a fulfilment, at most 1,000 with 20 names each",
    "shorten the list")
INVENTORY_NEEDED: Final = _warning("inventory-needed", "Built-in intents reference",
    "The values of the built-in intent's field are listed",
    "bind a shortcut, or refer to an entity set, for each value")
BINDING: Final = _warning("binding", "Create shortcuts.xml",
    "A shortcut is bound to a capability of its file", "declare the capability, or remove the binding")
LABEL: Final = _note("label", "ShortcutParser of Android",
    "A shortcut has a label, without which Android leaves it out", "add android:shortcutShortLabel")
ENDED: Final = _warning("ended", "Release notes, 26 February 2024",
    "Nothing depends on web inventory or on an activity in the foreground", "remove it")
PLACE: Final = _warning("place", "Create shortcuts.xml; Create actions.xml",
    "The main activity names shortcuts.xml, and the application element actions.xml",
    "move the meta-data there")
GRAMMAR: Final = _warning("grammar", "Create shortcuts.xml; Create actions.xml",
    "Elements and attributes are those of the form", "use the name and the place of Google's page")
REFERENCE: Final = _warning("reference", "Create shortcuts.xml",
    "References lead to resources of the app", "add the resource")
UNNAMED_FILE: Final = _note("file-not-named", "Create shortcuts.xml",
    "The manifest names the file", "add the meta-data to the manifest")
TWO_FILES: Final = _note("two-files", "Migrate actions.xml",
    "An app declares its actions in one form", "keep shortcuts.xml alone")
TARGET: Final = _error("target", "calls from other apps",
    "The manifest has the activity that a fulfilment names",
    "correct the class, or declare the activity")
TARGET_EXPORTED: Final = _error("target-exported", "calls from other apps",
    "Other apps can start the activity", 'add android:exported="true"')
TARGET_ENABLED: Final = _warning("target-enabled", "calls from other apps", "The activity is enabled",
    "remove android:enabled")
TARGET_PERMISSION: Final = _warning("target-permission", "calls from other apps",
    "The activity requires no permission of those who start it", "remove android:permission")
TARGET_ACTION: Final = _warning("target-action", "calls from other apps",
    "A filter of the activity takes the fulfilment's action and link, which Android 13 compares",
    "add a filter for them")
LINK: Final = _warning("link", "calls from other apps",
    "An activity has a filter for the fulfilment's link",
    "add a filter with the action, the category DEFAULT and the link's scheme")
# fmt: on

_MOST_ITEMS: Final = 1000
_MOST_NAMES: Final = 20
_MOST_TEXTS: Final = 2
_PLACEHOLDER: Final = re.compile(r"\$([A-Za-z]\w*)")
_CUSTOM_TYPES: Final = frozenset(f"https://schema.org/{word}" for word in ("Text", "Date", "Time", "Number"))
_RFC_6570: Final = re.compile(r"(?:[^{}]|\{[?&#/.;+]?[\w.%]+(?::\d+|\*)?(?:,[\w.%]+(?::\d+|\*)?)*\})*+")


def lint_file(source: SourceFile) -> tuple[Finding, ...]:
    """Return what one file does against the rules that need neither manifest nor resources.

    Raises:
        InputError: it is not a file of either form.
    """
    context = _silent()
    findings = _lint_actions(parse_actions(source.data, source.path, context))
    # Nothing is known of the resources of a file alone.
    return (*(each for each in _lint_reading(context) if each.code != REFERENCE.id), *findings)


def lint_application(application: Application) -> tuple[Finding, ...]:
    """Return what an application's files do against the rules, and what keeps others from starting them."""
    findings: list[Finding] = []
    files: list[ActionFile] = []
    for named in find_action_files(application):
        context = _silent()
        try:
            declared = named.parse(application, context)
        except InputError as error:
            place = named.meta_data.place or application.place
            findings.append(FILE.broken(f"{named.reference}: {error.message}", source=place, hint=error.hint))
            continue
        if application.resources.read_file(named.reference) is None:
            place = named.meta_data.place or application.place
            message = f"the manifest names {named.reference}, which is not among the resources"
            # The build of a source tree may write it.
            level = Level.WARNING if application.is_built else Level.NOTE
            findings.append(REFERENCE.broken(message, source=place, level=level))
        if declared is not None:
            files.append(declared)
            findings.extend(_lint_naming(named, application))
            findings.extend(_lint_reading(context))
            findings.extend(_lint_actions(declared))
            for action in declared.actions:
                findings.extend(_lint_targets(action, application))
    if {declared.dialect for declared in files} == {SHORTCUTS, ACTIONS}:
        message = "the app has its actions in shortcuts.xml and in actions.xml"
        findings.append(TWO_FILES.broken(message, source=files[-1].place))
    findings.extend(_lint_values(application))
    findings.extend(_lint_loose_files(application))
    return tuple(findings)


def _lint_values(application: Application) -> Iterator[Finding]:
    """Yield a finding for each file that is named where Android does not look for it."""
    for component in application.of_kind("application", "activity"):
        for meta_data in component.meta_data:
            if meta_data.name in META_DATA and meta_data.resource is None:
                stated = meta_data.raw_value or meta_data.value
                message = f"{meta_data.name} is {stated} in android:value, and Android reads android:resource"
                hint = 'write android:resource="@xml/..."'
                yield PLACE.broken(message, source=meta_data.place or application.place, hint=hint)


def _silent() -> ReadingContext:
    return ReadingContext(rows_off=frozenset())


def _lint_naming(named: NamedFile, application: Application) -> Iterator[Finding]:
    component = named.component
    is_main = component.kind == "application" or any(
        NAMES["main_action"] in filter_.actions and NAMES["launcher_category"] in filter_.categories
        for filter_ in component.filters
    )
    if named.is_misplaced or not is_main:
        name = component.name or "the application element"
        message = f"{name} names {named.reference} by {named.meta_data.name}"
        is_new = named.dialect == SHORTCUTS
        owner = "the main activity" if is_new else "the application element"
        hint = f"let {owner} name it by {NAMES['shortcuts_meta_data' if is_new else 'actions_meta_data']}"
        yield PLACE.broken(message, source=named.meta_data.place or application.place, hint=hint)


def _lint_reading(context: ReadingContext) -> Iterator[Finding]:
    """Yield what was read although the form does not have it; what was left out is reported by the reader."""
    for finding in context.findings:
        rule = REFERENCE if finding.rule == "AA03" else GRAMMAR
        if finding.level is Level.READ:
            yield rule.broken(finding.message, source=finding.source)


def _lint_loose_files(application: Application) -> Iterator[Finding]:
    for name in application.loose_assets:
        stem = name.rpartition("/")[2].removesuffix(".xml")
        if stem not in {SHORTCUTS, ACTIONS}:
            continue
        try:
            file = application.resources.read_file(f"@xml/{stem}")
            declared = None if file is None else parse_actions(file.text, file.place.path, _silent())
        except InputError:
            continue
        if declared is not None and declared.actions:
            message = f"the manifest does not name {stem}.xml, so nothing reads it"
            yield UNNAMED_FILE.broken(message, source=declared.place)


def _lint_actions(declared: ActionFile) -> Iterator[Finding]:
    names = {action.name for action in declared.actions}
    for name, place in declared.bound.items():
        if name not in names:
            yield BINDING.broken(
                f"a shortcut is bound to {name}, which the file does not declare", source=place
            )
    for action in declared.actions:
        yield from _lint_name(action)
        yield from _lint_patterns(action)
        yield from _lint_inventory(action, declared)
        yield from _lint_fulfilments(action)
        for fulfilment in action.fulfilments:
            yield from _lint_parameters(action, fulfilment)
            yield from _lint_template(action, fulfilment)


def _lint_name(action: DeclaredAction) -> Iterator[Finding]:
    table = load_built_in_intents()
    name = action.built_in_name
    if name is None or table.find(name) is not None:
        return
    if name in table.deprecated:
        yield DEPRECATED_INTENT.broken(f"Google ended {action.name}", source=action.place)
    elif action.patterns is not None:
        message = f"{action.name} has query patterns and is not a built-in intent"
        yield CUSTOM_PREFIX.broken(message, source=action.place)
    else:
        yield UNKNOWN_INTENT.broken(f"{action.name} is not a built-in intent", source=action.place)


def _lint_patterns(action: DeclaredAction) -> Iterator[Finding]:
    is_built_in = load_built_in_intents().find(action.built_in_name or "") is not None
    if action.patterns is None:
        if action.built_in_name is None:
            yield PATTERNS.broken(
                f"the custom intent {action.name} has no query patterns", source=action.place
            )
        return
    if is_built_in:
        message = f"the built-in intent {action.name} has query patterns"
        yield PATTERNS.broken(message, source=action.place, hint="remove them")
    types = {each.field: each.type_url for fulfilment in action.fulfilments for each in fulfilment.parameters}
    fields = {pattern: list(dict.fromkeys(_PLACEHOLDER.findall(pattern))) for pattern in action.patterns}
    for name in dict.fromkeys(name for names in fields.values() for name in names):
        if name not in types:
            message = f"the query patterns of {action.name} have ${name}, which is not a parameter"
            yield PATTERN_PARAMETERS.broken(message, source=action.place)
    for pattern, names in fields.items():
        texts = [name for name in names if (types.get(name) or "").endswith("/Text")]
        if len(texts) > _MOST_TEXTS:
            message = f"the query pattern {pattern!r} of {action.name} has {len(texts)} texts"
            yield PATTERN_PARAMETERS.broken(message, source=action.place)


def _lint_inventory(action: DeclaredAction, declared: ActionFile) -> Iterator[Finding]:
    intent = load_built_in_intents().find(action.built_in_name or "")
    if intent is not None and intent.needs_inventory and not action.inventory:
        message = f"{action.name} has no list of values for {intent.fields[0]!r}"
        yield INVENTORY_NEEDED.broken(message, source=action.place)
    for path, items in action.inventory.items():
        if len(items) > _MOST_ITEMS:
            yield INVENTORY.broken(f"{path!r} of {action.name} has {len(items)} values", source=action.place)
        for item in items:
            if len(item.names) > _MOST_NAMES:
                message = f"the value {item.id!r} has {len(item.names)} names"
                yield INVENTORY.broken(message, source=item.place)
            if declared.dialect == SHORTCUTS and item.label is None:
                yield LABEL.broken(f"the shortcut {item.id!r} has no label", source=item.place)


def _lint_fulfilments(action: DeclaredAction) -> Iterator[Finding]:
    started = [fulfilment for fulfilment in action.fulfilments if starts_activity(fulfilment)]
    if not started:
        kinds = sorted({each.kind for each in action.fulfilments} - {"intent"})
        problem = f"only shows: {', '.join(kinds)}" if kinds else "has no fulfilment that starts an activity"
        yield FULFILMENT.broken(f"{action.name} {problem}", source=action.place)
    elif all(each.kind == "intent" and any(part.required for part in each.parameters) for each in started):
        message = f"each fulfilment of {action.name} requires a parameter"
        yield FALLBACK.broken(message, source=action.place)
    for fulfilment in started:
        if fulfilment.template and fulfilment.target_class:
            message = f"a fulfilment of {action.name} has a class and a URL template"
            yield ONE_TARGET.broken(message, source=fulfilment.place)
        if bool(fulfilment.target_class) != bool(fulfilment.target_package):
            missing = "package" if fulfilment.target_class else "class"
            message = f"a fulfilment of {action.name} has no target {missing}"
            yield PACKAGE_AND_CLASS.broken(message, source=fulfilment.place)
        if fulfilment.is_foreground:
            message = f"a fulfilment of {action.name} requires an activity in the foreground"
            yield ENDED.broken(message, source=fulfilment.place)


def _lint_parameters(action: DeclaredAction, fulfilment: Fulfilment) -> Iterator[Finding]:
    intent = load_built_in_intents().find(action.built_in_name or "")
    listed = []
    for parameter in fulfilment.parameters:
        named = f"the parameter {parameter.field!r} of {action.name}"
        if intent is not None and intent.fields and not parameter.field.endswith(".@type"):
            if parameter.field not in intent.fields:
                message = f"{named} is not a field of the built-in intent"
                hint = f"its fields are {', '.join(intent.fields)}"
                yield FIELD.broken(message, source=fulfilment.place, hint=hint)
        elif action.built_in_name is None and parameter.type_url not in _CUSTOM_TYPES:
            message = (
                f"{named} has the type {parameter.type_url!r}"
                if parameter.type_url
                else f"{named} has no type"
            )
            yield CUSTOM_TYPE.broken(message, source=fulfilment.place)
        if parameter.is_web_inventory:
            yield ENDED.broken(f"{named} has its values from the web", source=fulfilment.place)
        if parameter.field in action.inventory:
            listed.append(parameter.field)
    if len(listed) > 1:
        message = f"a fulfilment of {action.name} has {len(listed)} parameters with listed values"
        yield INVENTORY.broken(message, source=fulfilment.place, hint="list the values of one of them")


def _lint_template(action: DeclaredAction, fulfilment: Fulfilment) -> Iterator[Finding]:
    template = fulfilment.template
    if template is None or template == ENTITY_LINK:
        return
    if _RFC_6570.fullmatch(template) is None:
        message = f"the URL template {template[:100]!r} of {action.name} is not one of RFC 6570"
        yield TEMPLATE.broken(
            message, source=fulfilment.place, hint="write variables as {name} or {?name,other}"
        )
        return
    keys = dict.fromkeys(parameter.key for parameter in fulfilment.parameters)
    variables = dict.fromkeys(fulfilment.variables)
    for name in variables:
        if name not in keys:
            message = f"the URL template of {action.name} has the variable {name!r}, which is not a parameter"
            yield TEMPLATE.broken(message, source=fulfilment.place)
    for key in keys:
        if key not in variables:
            message = (
                f"the parameter {key!r} of {action.name} is not in its URL template, so its value is lost"
            )
            yield TEMPLATE.broken(message, source=fulfilment.place)


def _lint_targets(action: DeclaredAction, application: Application) -> Iterator[Finding]:
    for fulfilment in filter(starts_activity, action.fulfilments):
        target = find_target(fulfilment, application)
        source = fulfilment.place
        if fulfilment.target_class and target.activity is None:
            is_other = is_of_other_app(fulfilment, application)
            where = f"of the app {fulfilment.target_package}" if is_other else "not in the manifest"
            level = Level.ERROR if application.is_built else Level.WARNING
            message = f"{action.name} starts {fulfilment.target_class}, which is {where}"
            yield TARGET.broken(message, source=source, level=level)
            continue
        if not fulfilment.target_class and not target.takers:
            message = f"{action.name} starts a link, and no activity has a filter for {action_of(fulfilment)}"
            message += " with its scheme"
            yield LINK.broken(message, source=source)
            continue
        for finding in _lint_access(action, target, access_of(target, application)):
            yield finding.changed({"source": source})
        activity = target.activity
        if activity is not None and is_action_unmatched(fulfilment, activity, application):
            stated = action_of(fulfilment)
            message = f"{action.name} starts {activity.name} with {stated}, which none of its filters takes"
            yield TARGET_ACTION.broken(message, source=source)


def _lint_access(
    action: DeclaredAction, target: FulfilmentTarget, access: ComponentAccess
) -> Iterator[Finding]:
    name = target.name or "the activities that take its link"
    started = f"{action.name} starts {name}, which"
    # An activity with a filter is exported where it does not state otherwise.
    has_filter = target.activity is None or bool(target.activity.filters)
    if access.exported is False or not (access.exported or has_filter):
        yield TARGET_EXPORTED.broken(f"{started} is not exported, so no other app can start it")
    if access.enabled is not True:
        where = "" if access.enabled is False else f" in some configurations ({disabled_in(access.enabled)})"
        yield TARGET_ENABLED.broken(f"{started} is disabled{where}")
    if access.permission is not None:
        yield TARGET_PERMISSION.broken(f"{started} requires {access.permission}")

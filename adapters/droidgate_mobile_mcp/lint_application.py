"""Checking an application's Mobile-MCP service against the specification (1.1) and against what devices and
agents do.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from droidgate_mappings.formats.application import Application, Component, MetaData, find_elsewhere
from droidgate_mappings.formats.leniency import ReadingContext
from droidgate_mappings.model.capability import Place
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.model.findings import Finding
from droidgate_mappings.model.lint_rules import LintRule
from droidgate_mobile_mcp import rules
from droidgate_mobile_mcp.constants import ACTIONS, FORMS, KEYS, Role
from droidgate_mobile_mcp.document import parse_document
from droidgate_mobile_mcp.lint import lint_document, not_well_formed
from droidgate_mobile_mcp.read_application import descriptor_reference, mobile_mcp_services

_FORM = FORMS["1.0"]
_ALL_KEYS = tuple(key for keys in KEYS.values() for key in keys)


def lint_application(application: Application) -> tuple[Finding, ...]:
    """Check an application: its services, their meta-data and the descriptors these point to."""
    return tuple(_lint(application))


def _lint(application: Application) -> Iterator[Finding]:
    services = mobile_mcp_services(application)
    with_meta_data = [
        component
        for component in application.of_kind("service")
        if component not in services and _points_to_descriptor(component)
    ]
    for second in [*services, *with_meta_data][1:]:
        message = f"{second.name} is a further service for Mobile-MCP"
        yield rules.ONE_SERVICE.broken(message, source=_place(application, second))
    for outside in application.of_kind("application"):
        meta = outside.find_meta_data(*_ALL_KEYS)
        if meta is not None:
            message = f"{meta.name} is at the application, where no agent looks for it"
            hint = "move it into the service element"
            yield rules.IN_SERVICE.broken(message, source=meta.place or application.place, hint=hint)
    for service in (*services, *with_meta_data):
        yield from _lint_service(application, service)


def _points_to_descriptor(service: Component) -> bool:
    """Return whether a service's meta-data names a descriptor: by the specified key, or by a file.

    Other protocols have a text under the older key.
    """
    specified, *older = KEYS["capabilities"]
    if service.find_meta_data(specified) is not None:
        return True
    meta = service.find_meta_data(*older)
    return meta is not None and descriptor_reference(meta) is not None


def _lint_service(application: Application, service: Component) -> Iterator[Finding]:
    place = _place(application, service)
    if not service.has_action(ACTIONS[0]):
        hint = f'add an intent-filter with <action android:name="{ACTIONS[0]}" />'
        yield rules.ACTION.broken(f"{service.name} has no filter for {ACTIONS[0]}", source=place, hint=hint)
    yield from _lint_text(service, "name", rules.NAME, rules.NAME_TEXT, place)
    yield from _lint_text(service, "description", rules.DESCRIPTION, rules.DESCRIPTION_TEXT, place)
    yield from _lint_descriptor(application, service, place)
    if service.exported is not True:
        stated = "is not exported" if service.exported is False else "does not state android:exported"
        hint = 'write android:exported="true"; Android 12 and later require the attribute'
        yield rules.EXPORTED.broken(f"{service.name} {stated}", source=place, hint=hint)
    enabled = application.enabled_rule_of(service)
    if enabled is not True:
        where = "" if enabled is False else f" in some configurations ({_disabled_in(enabled)})"
        yield rules.ENABLED.broken(f"{service.name} is disabled{where}", source=place)
    permission = application.permission_of(service)
    if permission is not None:
        message = f"{service.name} requires {permission} of its callers"
        yield rules.NO_PERMISSION.broken(message, source=place)
    if "foregroundServiceType" not in service.attributes:
        hint = (
            'if it calls startForeground, declare android:foregroundServiceType="dataSync" and its permission'
        )
        yield rules.FOREGROUND_TYPE.broken(
            f"{service.name} has no android:foregroundServiceType", source=place, hint=hint
        )


def _lint_text(
    service: Component, role: Role, needed: LintRule, needed_text: LintRule, place: Place
) -> Iterator[Finding]:
    key = _FORM.keys[role]
    meta = service.find_meta_data(key)
    if meta is None:
        hint = f'add <meta-data android:name="{key}" android:value="..." />'
        yield needed.broken(f"{service.name} has no meta-data {key}", source=place, hint=hint)
        return
    if isinstance(meta.value, str):
        if not meta.value.strip():
            yield needed.broken(f"{key} is empty", source=meta.place or place)
        return
    source = meta.place or place
    if meta.value is None and meta.resource is None:
        message = f"{key} is {meta.raw_value}, which is not among the resources"
        yield needed_text.broken(message, source=source, hint="declare the string, or write the text itself")
        return
    given = {type(None): "a resource", bool: "a boolean"}.get(type(meta.value), "a number")
    hint = "give it as android:value, a number or a boolean by a string resource"
    yield needed_text.broken(f"{key} is {given} for a device", source=source, hint=hint)


def _lint_descriptor(application: Application, service: Component, place: Place) -> Iterator[Finding]:
    key = _FORM.keys["capabilities"]
    meta = service.find_meta_data(key)
    if meta is None:
        hint = f'add <meta-data android:name="{key}" android:resource="@xml/mcp_capabilities" />'
        yield rules.DESCRIPTOR.broken(f"{service.name} has no meta-data {key}", source=place, hint=hint)
        meta = service.find_meta_data(KEYS["capabilities"][1])
    if meta is not None:
        yield from _lint_descriptor_file(application, meta, meta.place or place)


def _lint_descriptor_file(application: Application, meta: MetaData, place: Place) -> Iterator[Finding]:
    reference = descriptor_reference(meta)
    raw = reference is not None and not reference.startswith("@xml/")
    if meta.resource is None or raw:
        shown = meta.resource or meta.raw_value or meta.value
        hint = 'write android:resource="@xml/..." and keep the file in res/xml'
        message = f"{meta.name} is {shown}, which is not an XML resource"
        yield rules.DESCRIPTOR_REFERENCE.broken(message, source=place, hint=hint)
    if reference is None:
        return
    file = application.resources.read_file(reference)
    if file is None:
        elsewhere = find_elsewhere(application.resources, reference)
        also = "" if elsewhere is None else f", but the app has {elsewhere}"
        yield rules.DESCRIPTOR_FILE.broken(f"{reference} does not exist{also}", source=place)
        return
    path = file.place.path
    kind = "compiled" if file.compiled else "raw" if raw else "source"
    context = ReadingContext(rows_off=frozenset())
    try:
        document = parse_document(
            file.text,
            path,
            rules=kind,  # type: ignore[arg-type]
            resources=application.resources,
            context=context,
        )
    except InputError as error:
        yield not_well_formed(error, path)
        return
    yield from lint_document(document)


def _disabled_in(enabled: Mapping[str, bool]) -> str:
    return ", ".join(qualifier or "default" for qualifier, value in enabled.items() if not value)


def _place(application: Application, service: Component) -> Place:
    return service.place or application.place

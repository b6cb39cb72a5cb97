"""Reading mMCP: a manifest's JSON as a file of its own, and an app's components that advertise one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from droidgate_mappings.formats.application import Application, Component, MetaData, text_of_value
from droidgate_mappings.formats.component_reading import (
    LABEL,
    inherited_access,
    read_access,
    report_unknown_attributes,
    report_unknown_texts,
)
from droidgate_mappings.formats.format import Reading, SourceFile, read_each_component
from droidgate_mappings.formats.installed import INSTALL_SHIM
from droidgate_mappings.formats.leniency import ReadingContext
from droidgate_mappings.model.capability import Place, Provider
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.model.findings import Finding, Level, finding_code
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.records import dataclass, replace
from droidgate_mappings.text.aapt_text import is_string_reference, reference_in
from droidgate_mappings.text.json_text import decode_utf8, parse_json
from droidgate_mmcp.format import CURRENT, FORMAT_ID, JSON_PATH, NAMES, TEXT_KEYS
from droidgate_mmcp.tool_manifest import parse_manifest, read_manifest

TOOLS_NOT_IN_FILES: Final = finding_code(
    "tools-not-in-files",
    "The component reports its tools only to a running client; the app's files do not list them",
    __name__,
)

ASKED_BY_SHIM: Final = f"install a shim, which asks the app: {INSTALL_SHIM}"
"""What would find the tools of a receiver of broadcasts."""

_SURE: Final = 90
_LIKELY: Final = 60
_POSSIBLE: Final = 20
_OF_OTHER_LISTS: Final = "schema_version"
"""Key of a list of tools that is none of mMCP's, whatever else it has."""
_BEGINNING: Final = re.compile(
    rb'(?:\xef\xbb\xbf)?\s*+\{\s*+"(?:instructions|appDescription|protocolVersion)"\s*+:'
)
"""How a manifest begins, wherever it is cut off after that."""
_OTHER_TOOL_KEYS: Final = frozenset({"inputSchema", "input_schema", "function"})
"""Keys of the tools of MCP and of function calling."""

ESCAPE_HINT: Final = (
    "the manifest JSON was probably not double-escaped for aapt: write every backslash twice in android:value"
)
COMPILED_HINT: Final = f"correct the JSON; if the source has it right, {ESCAPE_HINT}"
QUOTES_HINT: Final = 'Android drops the quotes of a string resource: write \\" for each quote of the JSON'
PLACEHOLDER_HINT: Final = "the build fills in ${...}, and its value is not known here; write the text itself"
_PLACEHOLDER: Final = "${"


def detect(source: SourceFile) -> int:
    """Return how sure a file's content makes us that it is an mMCP manifest's JSON."""
    if source.data[:64].lstrip(b"\xef\xbb\xbf \t\r\n")[:1] != b"{":
        return 0
    try:
        value = parse_json(source.data, path=source.path, lenient_controls=True)
    except InputError:
        # A manifest that is cut off is a problem of its file, and other JSON that is cut off is not.
        is_manifest = source.path.endswith(JSON_PATH) or _BEGINNING.match(source.data)
        return _POSSIBLE if is_manifest else 0
    tools = value.get("tools")
    if not isinstance(tools, list) or not all(isinstance(tool, Mapping) for tool in tools):
        return 0
    if any(tool.keys() & _OTHER_TOOL_KEYS for tool in tools):
        return 0
    if _OF_OTHER_LISTS in value:
        return 0
    if any(key in value for key in TEXT_KEYS.values()):
        return _SURE
    return _LIKELY if "protocolVersion" in value or any("return" in tool for tool in tools) else 0


def read_file(source: SourceFile, context: ReadingContext) -> Reading:
    """Read the JSON of a manifest in a file of its own.

    Raises:
        InputError: the file is not a manifest.
    """
    place = Place(path=source.path, line=1)
    value = parse_manifest(decode_utf8(source.data, path=source.path), place, context)
    return Reading((read_manifest(value, place, context),), tuple(context.findings))


def read_application(application: Application, context: ReadingContext) -> Reading:
    """Read the manifests of all activities and services that advertise tools.

    Receivers of the broadcast dialect are reported as findings, since no file lists their tools. A manifest
    that cannot be read is a problem of the reading.

    Raises:
        InputError: no component's manifest can be read.
    """
    reading = read_each_component(
        advertising_components(application),
        lambda component: _read_component(application, component, context),
        context,
    )
    return replace(reading, findings=(*reading.findings, *_findings_of_receivers(application)))


def advertising_components(application: Application) -> Iterator[Component]:
    """Yield the activities and services with the ADVERTISE action."""
    for component in application.of_kind("activity", "service"):
        if component.has_action(NAMES["advertise_action"]):
            yield component


@dataclass(frozen=True, slots=True)
class ManifestText:
    """The text of a component's manifest, and its place.

    Attributes:
        text: The JSON text as a device has it.
        place: Where it begins.
        raw: The attribute as written, before aapt's escapes; None where there is none.
        reference: The resource that holds it, or None where `android:value` does.
        in_value: `android:value` names the resource, so Android's package parser reads it for clients.
    """

    text: str
    place: Place
    raw: str | None = None
    reference: str | None = None
    in_value: bool = True


def find_manifest_text(application: Application, component: Component) -> ManifestText | None:
    """Return the text behind a component's `mMCP_manifest` meta-data, None where it has none (row M35).

    Raises:
        InputError: the meta-data holds no text, or names a resource that is not there.
    """
    meta = component.find_meta_data(NAMES["manifest_meta_data"])
    if meta is None:
        return None
    place = meta.place or component.place or application.place
    if isinstance(meta.value, str):
        reference = reference_in(meta.raw_value) if meta.raw_value is not None else None
        if reference is not None and not is_string_reference(reference):
            message = (
                f"the meta-data {meta.name} has {reference} as its value, of which a device sees the path"
            )
            raise InputError(message, place=str(place), hint="put the JSON into android:value")
        return ManifestText(meta.value, meta.text_place or place, meta.raw_value, reference)
    if meta.value is not None:
        value_text = text_of_value(meta.value)
        message = f"the meta-data {meta.name} is the {_type_name(meta)} {value_text}, not a text"
        raise InputError(message, place=str(place), hint="it holds a JSON object in android:value")
    stated = meta.resource or meta.raw_value
    if stated is None or reference_in(stated) is None:
        message = f"the meta-data {meta.name} has no value"
        raise InputError(message, place=str(place), hint="it holds a JSON object in android:value")
    return _resource_text(application, stated, meta.text_place or place)


def _type_name(meta: MetaData) -> str:
    return {bool: "boolean", int: "integer", float: "number"}.get(type(meta.value), "value")


def _resource_text(application: Application, reference: str, place: Place) -> ManifestText:
    if is_string_reference(reference):
        text = application.resources.read_text(reference)
        manifest_text = (
            None if text is None else ManifestText(text, place, reference=reference, in_value=False)
        )
    else:
        file = application.resources.read_file(reference)
        manifest_text = (
            None if file is None else ManifestText(file.text, file.place, reference=reference, in_value=False)
        )
    if manifest_text is None:
        message = f"the meta-data names {reference}, which is not among the resources"
        raise InputError(message, place=str(place), hint="put the JSON into android:value")
    return manifest_text


def _read_component(
    application: Application, component: Component, context: ReadingContext
) -> Provider | None:
    place = component.place or application.place
    manifest = find_manifest_text(application, component)
    if manifest is None:
        message = (
            f"{component.name} advertises tools but has no {NAMES['manifest_meta_data']}; it is passed over"
        )
        context.allow("S54", message, source=place, lost=True)
        return None
    if not manifest.in_value:
        message = f"android:resource names {manifest.reference}, where clients look for a text"
        context.allow("M35", message, source=place)
    value = parse_manifest(manifest.text, manifest.place, context, hint=hint_about_json(manifest))
    provider = read_manifest(value, manifest.place, context)
    facts = element_facts(application, component)
    report_unknown_attributes(application, component, context)
    report_unknown_texts(application, component, context, needed=LABEL)
    if component.kind == "service" and provider.dialect == CURRENT:
        message = f"{component.name} is a service, which no client can call; an activity answers calls"
        context.allow("M42", message, source=place)
    _report_missing_declarations(component, context, place)
    extensions = {**provider.extensions.get(FORMAT_ID, {}), **facts}
    return provider.changed(
        {
            "package": application.package,
            "component": component.name,
            "name": component.label if component.label is not None else application.label,
            "access": read_access(application, component),
            "source": place,
            "extensions": {FORMAT_ID: extensions} if extensions else {},
        }
    )


def hint_about_json(manifest: ManifestText) -> str | None:
    """Return why the text of a meta-data may not be JSON, None where nothing shows it."""
    if manifest.reference is not None:
        is_unquoted = is_string_reference(manifest.reference) and '"' not in manifest.text
        return QUOTES_HINT if is_unquoted else None
    if manifest.raw is None:
        return COMPILED_HINT
    if _PLACEHOLDER in manifest.text:
        return PLACEHOLDER_HINT
    if "\\" not in manifest.raw:
        return None
    try:
        parse_manifest(manifest.raw, manifest.place, ReadingContext(rows_off=frozenset()))
    except InputError:
        return None
    return ESCAPE_HINT


def element_facts(application: Application, component: Component) -> dict[str, Json]:
    """Return the other facts of a component's element, where a writer would not write the same."""
    facts: dict[str, Any] = {}
    if component.kind == "service":
        facts["element"] = "service"
    inherited = inherited_access(application, component)
    if inherited:
        facts["application-access"] = inherited
    return facts


def missing_declarations(component: Component) -> list[str]:
    """Return what an advertising component does not declare of what calls need (row M39).

    `android:exported="false"` is not missing: it is an access rule of the component.
    """
    missing = []
    if not component.has_action(NAMES["call_action"]):
        missing.append(f"the action {NAMES['call_action']}")
    if not any(NAMES["default_category"] in filter_.categories for filter_ in component.filters):
        missing.append(f"the category {NAMES['default_category']}")
    is_stated = any(item.startswith("exported=") for item in component.unresolved)
    if component.exported is None and not is_stated:
        missing.append('android:exported="true"')
    return missing


def _report_missing_declarations(component: Component, context: ReadingContext, place: Place) -> None:
    for missing in missing_declarations(component):
        context.allow("M39", f"{component.name} does not declare {missing}", source=place)


def asked_receivers(application: Application) -> Iterator[Component]:
    """Yield the receivers that report their tools to a broadcast."""
    for component in application.of_kind("receiver"):
        if component.has_action(NAMES["discovery_action"]):
            yield component


def _findings_of_receivers(application: Application) -> Iterator[Finding]:
    for component in asked_receivers(application):
        yield Finding(
            code=TOOLS_NOT_IN_FILES,
            level=Level.NOTE,
            pointer="",
            message=f"the receiver {component.name} reports its mMCP tools only in answer to a broadcast",
            hint=ASKED_BY_SHIM,
            source=component.place,
            rule="M48",
        )

"""Finding apps of the observed protocols, and reading what their files say."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from math import isfinite
from typing import Final

from droidgate_mappings.formats.application import (
    Application,
    Component,
    MetaData,
    MetaValue,
    TextFile,
    text_of_value,
)
from droidgate_mappings.formats.component_reading import (
    LABEL,
    read_access,
    report_unknown_attributes,
    report_unknown_texts,
)
from droidgate_mappings.formats.format import Reading, SourceFile
from droidgate_mappings.formats.leniency import ReadingContext
from droidgate_mappings.model.capability import Place, Provider
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.model.findings import Finding, Level, finding_code
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.tables.observed import Anchor, ObservedProtocol
from droidgate_mappings.text.json_text import decode_utf8, parse_json
from droidgate_mappings.text.xml_text import decode_xml
from droidgate_observed.constants import FORMAT_ID, PROTOCOLS, TABLES, as_extensions
from droidgate_observed.tools import (
    ToolDeclarations,
    read_ari,
    read_catalog,
    read_flint,
    read_mcp_tools,
    read_tools,
)

TOOLS_NOT_IN_FILES: Final = finding_code(
    "observed-tools-not-in-files",
    "An app of another agent's protocol whose files do not list its tools; the hint says what would",
    __name__,
)

_SURE: Final = 95
_FLINT: Final = re.compile(rb'"protocol"\s*:\s*"flint"')
_ARI: Final = re.compile(rb'"declarationVersion"\s*:')
_CATALOG: Final = re.compile(rb'"parameterSchema"\s*:')
_TOOLS: Final = re.compile(rb'"tools"\s*:')
_MCP_TOOLS: Final = re.compile(
    rb"(?:\xef\xbb\xbf)?(?:\s+|<\?(?>.*?\?>)|<!--(?>.*?-->))*+<mcp-tools[\s/>]", re.DOTALL
)
_READERS: Final = {
    "ari": read_ari,
    "swiftfloris": read_catalog,
    "flint": read_flint,
    "capapp-documented": read_mcp_tools,
}


def detect(source: SourceFile) -> int:
    """Return how sure it is that a file declares tools of a protocol that has files of its own."""
    return 0 if _protocol_of(source.data) is None else _SURE


def _protocol_of(data: bytes) -> str | None:
    if _MCP_TOOLS.match(data):
        return "capapp-documented"
    if data[:64].lstrip(b"\xef\xbb\xbf \t\r\n")[:1] != b"{" or not _TOOLS.search(data):
        return None
    marks = (("flint", _FLINT), ("ari", _ARI), ("swiftfloris", _CATALOG))
    return next((protocol for protocol, mark in marks if mark.search(data)), None)


def read_file(source: SourceFile, context: ReadingContext) -> Reading:
    """Read a declaration of tools in a file of its own.

    Raises:
        InputError: it is none.
    """
    del context
    protocol = _protocol_of(source.data)
    if protocol is None:
        raise InputError("not a declaration of an observed protocol", place=source.path)
    place = Place(path=source.path, line=1)
    decode = decode_xml if protocol == "capapp-documented" else decode_utf8
    declared = _READERS[protocol](decode(source.data, path=source.path), place)
    provider = Provider(
        protocol=FORMAT_ID,
        dialect=protocol,
        name=declared.name,
        source=place,
        definitions=declared.definitions,
        capabilities=tuple(declared.capabilities),
        extensions=as_extensions(declared.facts),
    )
    return Reading((provider,), tuple(declared.findings))


def read_application(application: Application, context: ReadingContext) -> Reading:
    """Read every component that anchors an observed protocol, one provider each and protocol.

    A provider whose tools no file tells, or whose file cannot be read, has no capabilities, and a finding
    says what would find them. Nothing is raised.
    """
    findings = list(context.findings)
    earlier = len(context.findings)
    providers = [
        _read_component(application, component, protocol, findings, context)
        for protocol in PROTOCOLS.values()
        for component in _anchoring(application, protocol)
    ]
    return Reading(tuple(providers), (*findings, *context.findings[earlier:]))


def _anchoring(application: Application, protocol: ObservedProtocol) -> Iterator[Component]:
    others = [anchor for item in protocol.not_beside for anchor in PROTOCOLS[item].anchors]
    known: set[int] = set()
    for anchor in protocol.anchors:
        for component in application.of_kind(anchor.kind):
            if id(component) in known or not _is_anchor(application, component, anchor):
                continue
            if not any(_is_anchor(application, component, other) for other in others):
                known.add(id(component))
                yield component


def _is_anchor(application: Application, component: Component, anchor: Anchor) -> bool:
    if component.kind != anchor.kind:
        return False
    if anchor.authority_suffix is not None:
        authority = f"{application.package}{anchor.authority_suffix}"
        stated = component.attributes.get("authorities", "").split(";")
        # A library's manifest says ${applicationId} until it is merged into an app's.
        return authority in stated or f"${{applicationId}}{anchor.authority_suffix}" in stated
    if anchor.flag is not None:
        meta_data = component.find_meta_data(anchor.flag)
        return meta_data is not None and meta_data.value is True
    return any(map(component.has_action, anchor.actions))


def _read_component(
    application: Application,
    component: Component,
    protocol: ObservedProtocol,
    findings: list[Finding],
    context: ReadingContext,
) -> Provider:
    place = component.place or application.place
    texts, facts = _read_meta_data(component, protocol)
    facts.update(_component_facts(component))
    details = _read_details(application, component, protocol)
    declared, reason = _read_declaration(application, component, protocol, place)
    findings.extend(declared.findings)
    if not declared.capabilities:
        findings.append(_not_in_files(application, component, protocol, place, reason))
    label = component.label if component.label is not None else application.label
    name = texts.get("name") or declared.name or details.get("name")
    report_unknown_attributes(application, component, context)
    report_unknown_texts(application, component, context, needed=() if name else LABEL)
    return Provider(
        protocol=FORMAT_ID,
        dialect=protocol.id,
        package=application.package,
        component=component.name or None,
        name=name or label,
        description=texts.get("description") or details.get("description"),
        access=read_access(application, component),
        source=place,
        definitions=declared.definitions,
        capabilities=tuple(declared.capabilities),
        extensions=as_extensions({**declared.facts, **facts}),
    )


def _read_meta_data(
    component: Component, protocol: ObservedProtocol
) -> tuple[dict[str, str], dict[str, Json]]:
    """Return name and description, and the other facts of a component's meta-data."""
    texts: dict[str, str] = {}
    facts: dict[str, Json] = {}
    for role, names in protocol.meta_data.items():
        meta_data = component.find_meta_data(*names)
        if meta_data is None or meta_data.value is None:
            continue
        if role in {"name", "description"}:
            texts[role] = text_of_value(meta_data.value)
        else:
            facts[role] = _json_value(meta_data.value)
    return texts, facts


def _json_value(value: MetaValue) -> Json:
    if not isinstance(value, float):
        return value
    # A float of 32 bits has the digits that Java prints, not those of its 64-bit neighbour.
    text = text_of_value(value)
    return float(text) if isfinite(value) else text


def _component_facts(component: Component) -> dict[str, Json]:
    names = ("authorities", "writePermission")
    return {name: component.attributes[name] for name in names if name in component.attributes}


def _read_details(
    application: Application, component: Component, protocol: ObservedProtocol
) -> dict[str, str]:
    if protocol.details is None:
        return {}
    folder = component.find_meta_data(protocol.details.folder_meta_data)
    if folder is None or not isinstance(folder.value, str):
        return {}
    try:
        file = application.resources.read_asset(f"{folder.value.strip('/')}/{protocol.details.file}")
        if file is None:
            return {}
        read = parse_json(file.text, path=file.place.path)
    except InputError:
        return {}
    if not isinstance(read, Mapping):
        return {}
    return {key: read[key] for key in ("name", "description") if isinstance(read.get(key), str)}


def _read_declaration(
    application: Application, component: Component, protocol: ObservedProtocol, place: Place
) -> tuple[ToolDeclarations, str | None]:
    """Return what the app's files declare, and why that is nothing where a declaration is there."""
    if protocol.tools is None:
        return ToolDeclarations(), None
    meta = None if protocol.tools.meta_data is None else component.find_meta_data(protocol.tools.meta_data)
    try:
        file = _declaration_text(application, protocol, meta, place)
        if file is None:
            return ToolDeclarations(), None
        return read_tools(protocol.tools.form, file.text, _start_of(file)), None
    except InputError as error:
        return ToolDeclarations(), str(InputError(error.message, place=error.place))


def _start_of(file: TextFile) -> Place:
    """Return where a file begins; the lines of compiled XML are not those of its source."""
    if file.compiled or file.place.line is not None:
        return file.place
    return Place(path=file.place.path, line=1)


def _declaration_text(
    application: Application, protocol: ObservedProtocol, meta: MetaData | None, place: Place
) -> TextFile | None:
    tools = protocol.tools
    if tools is None:
        return None
    if tools.place == "asset":
        return application.resources.read_asset(tools.name or "")
    if meta is None:
        return None
    if tools.place == "value":
        return TextFile(text_of_value(meta.value), meta.place or place) if meta.value is not None else None
    return application.resources.read_file(meta.resource) if meta.resource is not None else None


def _not_in_files(
    application: Application,
    component: Component,
    protocol: ObservedProtocol,
    place: Place,
    reason: str | None,
) -> Finding:
    title = next(dialect.summary for dialect in TABLES.dialects if dialect.id == protocol.id)
    who = application.qualified_name(component) if component.name else application.package or "the app"
    why = f"its declaration cannot be read ({reason})" if reason else "no file of the app lists its tools"
    return Finding(
        code=TOOLS_NOT_IN_FILES,
        level=Level.NOTE,
        pointer="",
        message=f"{who} is of {title.partition(':')[0]}; {why}",
        hint=protocol.found_by,
        source=place,
        rule=protocol.id,
    )

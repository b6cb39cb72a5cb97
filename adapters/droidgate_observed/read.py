"""Finding apps of the observed protocols, and reading the tools that their files declare, each form of text
to capabilities.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from math import isfinite
from typing import Any, Final

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
from droidgate_mappings.json_schema import read_schema
from droidgate_mappings.model.capability import Capability, Place, Provider
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.model.findings import Finding, Level, finding_code
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.model.types import ArrayType, ObjectType, Property, ScalarType, Type, as_extensions
from droidgate_mappings.records import dataclass, field
from droidgate_mappings.tables.observed import Anchor, ObservedProtocol, ToolsForm
from droidgate_mappings.text.json_text import decode_utf8, parse_json
from droidgate_mappings.text.xml_text import Element, child_elements, decode_xml, parse_xml
from droidgate_observed.format import FORMAT_ID, PROTOCOLS, TABLES

KIND_OF_WORD: Final = TABLES.words.read

TOOL_LEFT_OUT: Final = finding_code(
    "observed-tool-left-out",
    "A declaration of a tool cannot be read, and is left out, as the protocol's own agent would",
    __name__,
)

_NEWEST_ARI: Final = 2
_LIST_SUFFIX: Final = "_list"
_OPEN_OBJECT: Final = ObjectType()


@dataclass(slots=True)
class ToolDeclarations:
    """What a declaration of tools says.

    Attributes:
        name: Name of the provider.
        capabilities: The tools.
        definitions: Named types of their schemas.
        facts: What the model has no field for.
        findings: What was left out.
    """

    name: str | None = None
    capabilities: list[Capability] = field(default_factory=list)
    definitions: dict[str, Type] = field(default_factory=dict)
    facts: dict[str, Json] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)


def read_tools(form: ToolsForm, text: str, place: Place) -> ToolDeclarations:
    """Read a declaration of tools.

    A tool that cannot be read is left out with a finding.

    Raises:
        InputError: as a whole it is not of that form.
    """
    return _TOOL_READERS[form](text, place)


class _Refused(Exception):  # noqa: N818 - never seen outside
    """Why one tool cannot be read."""


@dataclass(slots=True)
class _Reader:
    place: Place
    declared: ToolDeclarations = field(default_factory=ToolDeclarations)

    def add_each(self, tools: Json, read: Callable[[Mapping[str, Json]], Capability]) -> None:
        """Read a list of JSON objects, each for itself."""
        if not isinstance(tools, list):
            message = "the tools are not a list"
            raise InputError(message, place=str(self.place), hint="expected a JSON array")
        for position, tool in enumerate(tools):
            self.add(position, partial(_read_object, tool, read))

    def add(self, position: int, read: Callable[[], Capability]) -> None:
        """Add one tool, or report why not."""
        try:
            self.keep(read())
        except (_Refused, InputError) as error:
            reason = error.message if isinstance(error, InputError) else str(error)
            self.declared.findings.append(
                Finding(
                    code=TOOL_LEFT_OUT,
                    level=Level.NOTE,
                    pointer=f"/{position}",
                    message=f"tool {position + 1} is left out: {reason}",
                    source=self.place,
                )
            )

    def keep(self, capability: Capability) -> None:
        """Add a capability whose name is new."""
        if any(other.id == capability.id for other in self.declared.capabilities):
            raise _Refused(f"{capability.id!r} is declared twice; the first one counts")
        self.declared.capabilities.append(capability)

    def schema(self, value: Json) -> Type:
        """Read a JSON Schema, which may include definitions."""
        if not isinstance(value, Mapping | bool):
            raise _Refused("its schema is not a JSON object")
        read, definitions = read_schema(value, definitions=self.declared.definitions)
        self.declared.definitions.update(definitions)
        return read

    def tool(self, tool: Mapping[str, Json], key: str) -> Capability:
        """Return a tool whose schema is under a key; without one, it takes any object."""
        stated_schema = tool.get(key)
        schema = _OPEN_OBJECT if stated_schema is None else self.schema(stated_schema)
        return self.capability(tool, schema, frozenset({"name", "description", key}))

    def capability(self, tool: Mapping[str, Json], input_type: Type, used: frozenset[str]) -> Capability:
        """Return a tool with name and description; members outside of `used` are kept."""
        rest = {key: value for key, value in tool.items() if key not in used}
        return Capability(
            id=_name(tool),
            description=_text(tool, "description"),
            input=input_type,
            source=self.place,
            extensions=as_extensions(FORMAT_ID, rest),
        )


def _read_object(value: Json, read: Callable[[Mapping[str, Json]], Capability]) -> Capability:
    return read(_object(value, "a tool"))


def _object(value: Json, subject: str) -> Mapping[str, Json]:
    if not isinstance(value, Mapping):
        raise _Refused(f"{subject} is not a JSON object")
    return value


def _name(tool: Mapping[str, Json]) -> str:
    name = tool.get("name")
    if not isinstance(name, str) or not name.strip():
        raise _Refused("it has no name")
    return name


def _text(tool: Mapping[str, Json], key: str) -> str | None:
    value = tool.get(key)
    return value if isinstance(value, str) and value else None


def _root(text: str, place: Place) -> Mapping[str, Json]:
    value = parse_json(text, path=place.path)
    if not isinstance(value, Mapping):
        raise InputError("the root is not a JSON object", place=str(place))
    return value


def read_ari(text: str, place: Place) -> ToolDeclarations:
    """Read Ari's `ari_tools.json`: a version, a label, and tools with typed arguments.

    Raises:
        InputError: it has no version, or a newer one, where Ari reads nothing either.
    """
    root = _root(text, place)
    version = root.get("declarationVersion")
    if not isinstance(version, int) or isinstance(version, bool) or not 1 <= version <= _NEWEST_ARI:
        message = f"Ari does not read the declaration version {version!r}"
        raise InputError(message, place=str(place), hint=f"it is a number from 1 to {_NEWEST_ARI}")
    reader = _Reader(place)
    reader.declared.name = _text(root, "label")
    reader.declared.facts = {key: value for key, value in root.items() if key not in {"label", "tools"}}
    reader.add_each(root.get("tools"), lambda tool: _ari_tool(tool, reader))
    return reader.declared


_ARI_KEYS: Final = frozenset({"name", "description", "args"})


def _ari_tool(tool: Mapping[str, Json], reader: _Reader) -> Capability:
    properties: dict[str, Property] = {}
    arguments = tool.get("args", [])
    if not isinstance(arguments, list):
        raise _Refused("its arguments are not a list")
    for argument in arguments:
        item = _object(argument, "an argument")
        properties[_name(item)] = Property(type=_ari_type(item), required=item.get("required") is True)
    return reader.capability(tool, ObjectType(properties=properties), _ARI_KEYS)


def _ari_type(argument: Mapping[str, Json]) -> Type:
    word, description = str(argument.get("type")), _text(argument, "description")
    if word.endswith(_LIST_SUFFIX):
        items = _scalar(word.removesuffix(_LIST_SUFFIX), argument, None)
        return ArrayType(items=items, description=description)
    return _scalar(word, argument, description)


def _scalar(word: str, holder: Mapping[str, Json], description: str | None) -> ScalarType:
    kind = KIND_OF_WORD.get(word)
    if kind is None:
        raise _Refused(f"the type {word!r} is not known")
    values: Any = holder.get("values") if word == "enum" else None
    if word == "enum" and not (isinstance(values, list) and values):
        raise _Refused("an enum lists no values")
    return ScalarType(
        kind=kind,  # type: ignore[arg-type]
        description=description,
        enum=tuple(values) if values is not None else None,
    )


def read_catalog(text: str, place: Place) -> ToolDeclarations:
    """Read SwiftFloris' catalogue: tools whose schema is a JSON text.

    Raises:
        InputError: no JSON object with a list of tools.
    """
    reader = _Reader(place)
    used = frozenset({"name", "description", "parameterSchema"})

    def read(tool: Mapping[str, Json]) -> Capability:
        schema = tool.get("parameterSchema")
        blank = schema is None or (isinstance(schema, str) and not schema.strip())
        if isinstance(schema, str) and not blank:
            schema = parse_json(schema, path=place.path)
        return reader.capability(tool, _OPEN_OBJECT if blank else reader.schema(schema), used)

    reader.add_each(_root(text, place).get("tools"), read)
    return reader.declared


def read_functions(text: str, place: Place) -> ToolDeclarations:
    """Read an array of functions as function calling writes them: zwdroid's raw resource.

    Raises:
        InputError: the text is not a JSON array.
    """
    reader = _Reader(place)
    reader.add_each(
        parse_json(text, path=place.path),
        lambda tool: reader.tool(_object(tool.get("function", tool), "the function"), "parameters"),
    )
    return reader.declared


def read_flint(text: str, place: Place) -> ToolDeclarations:
    """Read a FLINT schema, the answer to `get_schema`.

    Raises:
        InputError: no JSON object with a list of tools.
    """
    root = _root(text, place)
    reader = _Reader(place)
    reader.declared.name = _text(root, "name")
    reader.declared.facts = {
        key: value for key, value in root.items() if key not in {"protocol", "name", "tools"}
    }
    reader.add_each(root.get("tools"), lambda tool: reader.tool(tool, "inputSchema"))
    return reader.declared


def read_mcp_tools(text: str, place: Place) -> ToolDeclarations:
    """Read the XML of the first CapApp specification: `<mcp-tools>` with `<tool>` and `<param>`.

    Raises:
        InputError: not well-formed, or another root element.
    """
    root = parse_xml(text, path=place.path)
    if root.tag != "mcp-tools":
        raise InputError(f"<{root.tag!s}> is not a <mcp-tools>", place=f"{place.path}:{root.sourceline}")
    reader = _Reader(place)
    reader.declared.facts = {str(key): str(value) for key, value in root.attrib.items()}
    for position, tool in enumerate(child_elements(root)):
        reader.add(position, partial(_mcp_tool, tool, reader))
    return reader.declared


def _mcp_tool(tool: Element, reader: _Reader) -> Capability:
    if tool.tag != "tool":
        raise _Refused(f"<{tool.tag!s}> is not a <tool>")
    inputs: dict[str, Property] = {}
    for parameter in child_elements(tool):
        attributes = {str(key): str(value) for key, value in parameter.attrib.items()}
        read = _scalar(attributes.get("type", "string"), {}, attributes.get("description"))
        inputs[_name(attributes)] = Property(type=read, required=attributes.get("required") == "true")
    members = {str(key): str(value) for key, value in tool.attrib.items()}
    capability = reader.capability(members, ObjectType(properties=inputs), frozenset({"name", "description"}))
    line = None if reader.place.line is None else tool.sourceline
    return capability.changed({"source": Place(path=reader.place.path, line=line)})


def read_named_lists(text: str, place: Place) -> ToolDeclarations:
    """Read names alone, such as `tools:list_files;resources:file`; what else is offered is kept as a fact."""
    reader = _Reader(place)
    for position, (kind, name) in enumerate(_names(text)):
        if kind == "tools":
            reader.add(position, partial(Capability, id=name, source=place))
        else:
            reader.declared.facts.setdefault(kind, []).append(name)
    return reader.declared


def _names(text: str) -> Iterator[tuple[str, str]]:
    for group in text.split(";"):
        kind, _, names = group.partition(":")
        for name in names.split(","):
            if name.strip():
                yield kind.strip(), name.strip()


_TOOL_READERS: Final[Mapping[ToolsForm, Callable[[str, Place], ToolDeclarations]]] = {
    "ari": read_ari,
    "catalog": read_catalog,
    "functions": read_functions,
    "mcp-tools": read_mcp_tools,
    "named-lists": read_named_lists,
}


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
        InputError: the file is not a declaration of tools.
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
        extensions=as_extensions(FORMAT_ID, declared.facts),
    )
    return Reading((provider,), tuple(declared.findings))


def read_application(application: Application, context: ReadingContext) -> Reading:
    """Read every component that anchors an observed protocol, one provider each and protocol.

    A provider whose tools no file lists, or whose file cannot be read, has no capabilities, and a finding
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
    component_ids: set[int] = set()
    for anchor in protocol.anchors:
        for component in application.of_kind(anchor.kind):
            if id(component) in component_ids or not _is_anchor(application, component, anchor):
                continue
            if not any(_is_anchor(application, component, other) for other in others):
                component_ids.add(id(component))
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
        extensions=as_extensions(FORMAT_ID, {**declared.facts, **facts}),
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
    subject = application.qualified_name(component) if component.name else application.package or "the app"
    why = f"its declaration cannot be read ({reason})" if reason else "no file of the app lists its tools"
    return Finding(
        code=TOOLS_NOT_IN_FILES,
        level=Level.NOTE,
        pointer="",
        message=f"{subject} is of {title.partition(':')[0]}; {why}",
        hint=protocol.found_by,
        source=place,
        rule=protocol.id,
    )

"""Reading the commands of MobileAgent: the 13 themselves, and the lists of tools that UFO makes of them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from droidgate_mappings.formats.format import Reading, SourceFile
from droidgate_mappings.formats.leniency import ReadingContext
from droidgate_mappings.json_schema import read_schema
from droidgate_mappings.model.capability import Capability, Effects, Place, Provider
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.model.json_values import Json, canonical_json, pointer_token
from droidgate_mappings.model.types import ObjectType, Type, as_extensions
from droidgate_mappings.records import dataclass, field
from droidgate_mappings.tables.mobile_agent import (
    MobileAgentCommand,
    load_mobile_agent,
    mobile_agent_commands,
)
from droidgate_mappings.text.json_text import parse_json
from droidgate_mobile_agent.format import (
    ACTION,
    COMMANDS_DIALECT,
    DATA_COLLECTION,
    FORMAT_ID,
    SERVER_DIALECT,
    TOOL_INFO_DIALECT,
    TOOL_TYPE_FACT,
)

_SURE: Final = 97
_TOOL_INFO: Final = re.compile(rb'"tool_key"\s*:')
_SERVER: Final = re.compile(rb'"name"\s*:\s*"(?:click_control|get_app_window_controls_target_info)"')
"""A name that each of the two servers has, and hardly another one."""

_WRITTEN_BY_US: Final = b'"dev.droidgate/'
"""A list of tools with this key in its `_meta` is one that droidgate wrote for MCP."""

_WRAPPED: Final = "x-fastmcp-wrap-result"
"""What FastMCP writes next to a schema whose only property, `result`, is what the tool returns."""

_HINTS: Final = {
    "readOnlyHint": "read_only",
    "destructiveHint": "destructive",
    "idempotentHint": "idempotent",
    "openWorldHint": "open_world",
}
_TOOL_TYPES: Final = (DATA_COLLECTION, ACTION)
_SERVER_FACTS: Final = (TOOL_TYPE_FACT, "namespace")
_HINT: Final = "expected the tools of a MobileAgent server, or the answer of UFO's `list_tools`"


@dataclass(frozen=True, slots=True)
class _Shape:
    """The names that a list of tools has for what a tool states."""

    name: str
    inputs: tuple[str, ...]
    output: str
    meta: str


_SHAPES: Final = {
    SERVER_DIALECT: _Shape("name", ("inputSchema",), "outputSchema", "_meta"),
    TOOL_INFO_DIALECT: _Shape("tool_name", ("input_schema", "tool_schema"), "output_schema", "meta"),
}


def detect(source: SourceFile) -> int:
    """Return how sure a file's content makes us that it lists tools of MobileAgent."""
    if source.data[:64].lstrip(b"\xef\xbb\xbf \t\r\n")[:1] not in {b"{", b"["}:
        return 0
    if not (_TOOL_INFO.search(source.data) or _SERVER.search(source.data)) or _WRITTEN_BY_US in source.data:
        return 0
    try:
        document = _take_apart(parse_json(source.data, path=source.path), source.path)
    except InputError:
        return 0
    if document.dialect == TOOL_INFO_DIALECT:
        return _SURE
    return _SURE if all(map(_is_command, document.tools)) else 0


def _is_command(tool: Json) -> bool:
    """Return whether a tool of a server is a command of MobileAgent, by its name and its parameters."""
    if not isinstance(tool, Mapping):
        return False
    command = _command_of(tool.get("name"))
    schema = tool.get("inputSchema")
    stated = schema.get("properties", {}) if isinstance(schema, Mapping) else None
    return command is not None and isinstance(stated, Mapping) and stated.keys() == command.parameters.keys()


def _command_of(name: Json) -> MobileAgentCommand | None:
    return mobile_agent_commands().get(name) if isinstance(name, str) else None


def read_file(source: SourceFile, context: ReadingContext) -> Reading:
    """Read the tools of a server, or UFO's own list of them. A tool that cannot be read is a problem.

    Returns:
        One provider for each server.

    Raises:
        InputError: it is not JSON or has no list of tools, no tool can be read, or the reading is strict.
    """
    document = _take_apart(parse_json(source.data, path=source.path), source.path)
    servers: dict[str, list[tuple[Json, str]]] = {}
    for index, tool in enumerate(document.tools):
        servers.setdefault(_server_of(tool), []).append((tool, f"{document.pointer}/{index}"))
    problems: list[InputError] = []
    readers = [_Reader(source.path, context, document, problems) for _ in servers or [""]]
    providers = [reader.read(tools) for reader, tools in zip(readers, servers.values() or [[]], strict=True)]
    if problems and not any(provider.capabilities for provider in providers):
        raise InputError.first_of(problems)
    return Reading(tuple(providers), tuple(context.findings), tuple(problems))


def _server_of(tool: Json) -> str:
    """Return a key that tools of one server share: UFO lists the tools of all its servers together."""
    stated = [tool.get(name) for name in _SERVER_FACTS] if isinstance(tool, Mapping) else []
    return canonical_json(stated)


def built_in() -> Provider:
    """Return the 13 commands."""
    place = f"{FORMAT_ID}:"
    definitions: dict[str, Type] = {}
    capabilities = []
    for number, command in enumerate(load_mobile_agent().commands):
        output, included = read_schema(load_mobile_agent().output_schema(command), definitions=definitions)
        definitions.update(included)
        capability = Capability(
            id=command.id,
            description=command.description,
            input=read_schema(command.input_schema)[0],
            output=output,
            effects=Effects(read_only=command.effect != "acts"),
            source=Place(path=place, line=number + 1),
            extensions={FORMAT_ID: {TOOL_TYPE_FACT: command.server}},
        )
        capabilities.append(capability)
    return Provider(
        protocol=FORMAT_ID,
        dialect=COMMANDS_DIALECT,
        name="MobileAgent",
        description="Sees and works on the screens of a phone, whatever app is open.",
        source=Place(path=place),
        definitions=definitions,
        capabilities=tuple(capabilities),
    )


@dataclass(frozen=True, slots=True)
class _Document:
    """A document taken apart.

    Attributes:
        dialect: Which kind of list it is.
        tools: The tools, unread.
        pointer: JSON Pointer of the list.
        further: The other members of the document by JSON Pointer.
    """

    dialect: str
    tools: list[Json]
    pointer: str
    further: dict[str, Json]


def _take_apart(document: Json, path: str) -> _Document:
    """Find the list of tools: the document, its `tools` or `result`, or the `tools` of its `result`.

    Raises:
        InputError: the document has no list of tools.
    """
    further: dict[str, Json] = {}
    pointer, tools = "", document
    for name in ("result", "tools"):
        if isinstance(tools, Mapping) and name in tools:
            further |= {
                f"{pointer}/{pointer_token(key)}": value for key, value in tools.items() if key != name
            }
            pointer, tools = f"{pointer}/{name}", tools[name]
    if not isinstance(tools, list):
        raise InputError("no list of tools", place=path, hint=_HINT)
    is_tool_info = any(isinstance(tool, Mapping) and "tool_name" in tool for tool in tools)
    return _Document(TOOL_INFO_DIALECT if is_tool_info else SERVER_DIALECT, tools, pointer, further)


@dataclass(slots=True)
class _Reader:
    path: str
    context: ReadingContext
    document: _Document
    problems: list[InputError]
    definitions: dict[str, Type] = field(default_factory=dict)
    names: set[str] = field(default_factory=set)

    def read(self, tools: list[tuple[Json, str]]) -> Provider:
        """Read the tools of one server, each with its JSON Pointer."""
        document = self.document
        read = self.context.read_each(
            tools, lambda each: self.attempt(*each), lambda each: f"{self.path}:{each[1]}"
        )
        return Provider(
            protocol=FORMAT_ID,
            dialect=document.dialect,
            source=Place(path=self.path, line=1),
            capabilities=tuple(capability for capability in read if capability is not None),
            definitions=self.definitions,
            extensions=as_extensions(FORMAT_ID, document.further),
        )

    def attempt(self, tool: Json, pointer: str) -> Capability | None:
        """Return what is read of one tool; None where it cannot be read, which is a problem of that tool.

        Raises:
            InputError: the reading is strict.
        """
        try:
            return self.read_tool(tool, pointer)
        except InputError as error:
            if self.context.strict:
                raise
            self.problems.append(error)
            return None

    def read_tool(self, tool: Json, pointer: str) -> Capability:
        """Read one tool.

        Raises:
            InputError: a member of it has another kind of value than it should have, or its name is another
                tool's.
        """
        if not isinstance(tool, Mapping):
            raise self.error("a tool is not a JSON object", pointer, "each tool is an object with a name")
        shape = _SHAPES[self.document.dialect]
        facts = {key: value for key, value in tool.items() if value is not None}
        name = self.take_text(facts, shape.name, pointer)
        if not name:
            raise self.error("a tool has no name", pointer, f"give it a `{shape.name}`")
        tool_type = self.read_tool_type(facts, name, pointer)
        if name in self.names:
            raise self.error(f'duplicate tool "{name}"', pointer, "remove one of them")
        self.names.add(name)
        if facts.get("tool_key") == f"{tool_type}::{name}":
            del facts["tool_key"]
        title, description = (self.take_text(facts, word, pointer) for word in ("title", "description"))
        schema = self.take_input(facts, shape, pointer)
        output = _unwrapped(facts.pop(shape.output, None), facts)
        effects = self.read_effects(facts, name, tool_type, pointer)
        return Capability(
            id=name,
            title=title,
            description=description,
            input=ObjectType()
            if schema is None
            else self.read_schema(schema, f"{pointer}/{shape.inputs[0]}"),
            output=None if output is None else self.read_schema(output, f"{pointer}/{shape.output}"),
            effects=effects,
            source=Place(path=self.path, line=1, inner=pointer),
            extensions=as_extensions(FORMAT_ID, facts),
        )

    def read_tool_type(self, facts: dict[str, Json], name: str, pointer: str) -> str | None:
        """Return which server has a tool: what the list states, else what is known of the command."""
        command = _command_of(name)
        if self.document.dialect == SERVER_DIALECT and command is not None:
            facts[TOOL_TYPE_FACT] = command.server
        stated = facts.get(TOOL_TYPE_FACT)
        if stated is not None and stated not in _TOOL_TYPES:
            message = f"{TOOL_TYPE_FACT!r} of the tool {name!r} is {str(stated)[:80]!r}"
            raise self.error(message, pointer, f"write {DATA_COLLECTION} or {ACTION}")
        return stated

    def take_input(self, facts: dict[str, Json], shape: _Shape, pointer: str) -> Json:
        """Return the schema of the arguments; None for a tool that states none."""
        current, *older = shape.inputs
        for name in older:
            if name in facts and current not in facts:
                message = f"{name!r} is read as {current!r}"
                place = Place(path=self.path, line=1, inner=f"{pointer}/{name}")
                self.context.allow("U01", message, pointer=f"{pointer}/{name}", source=place)
                return facts.pop(name)
        return facts.pop(current, None)

    def read_effects(
        self, facts: dict[str, Json], name: str, tool_type: str | None, pointer: str
    ) -> Effects | None:
        """Return what a tool may do: by its annotations, else by what is published of the command.

        UFO's servers state no annotations.
        """
        annotations = facts.pop("annotations", {})
        if not isinstance(annotations, Mapping):
            raise self.error(f"'annotations' of the tool {name!r} is not a JSON object", pointer, "remove it")
        rest = {key: value for key, value in annotations.items() if value is not None}
        hints = {field: rest.pop(key) for key, field in _HINTS.items() if isinstance(rest.get(key), bool)}
        if rest:
            facts["annotations"] = rest
        if hints:
            return Effects(**hints)
        command = _command_of(name)
        if command is None or command.server != tool_type:
            return None
        return Effects(read_only=command.effect != "acts")

    def take_text(self, facts: dict[str, Json], name: str, pointer: str) -> str | None:
        """Take a text member out of a tool; None where it is absent."""
        text = facts.pop(name, None)
        if text is not None and not isinstance(text, str):
            raise self.error(f"{name!r} of a tool is not a string", f"{pointer}/{name}", "write a string")
        return text

    def read_schema(self, schema: Json, pointer: str) -> Type:
        """Read a schema, and keep the definitions that it includes."""
        if not isinstance(schema, Mapping):
            raise self.error("a schema is not a JSON object", pointer, "write a JSON Schema")
        read, included = read_schema(schema, definitions=self.definitions)
        self.definitions.update(included)
        return read

    def error(self, message: str, pointer: str, hint: str) -> InputError:
        """Return an error at a place in the document."""
        return InputError(message, place=f"{self.path}:{pointer}" if pointer else self.path, hint=hint)


def _unwrapped(schema: Json, facts: dict[str, Json]) -> Json:
    """Return the schema of what a tool returns, which FastMCP wraps in an object unless it is one."""
    if not isinstance(schema, Mapping) or schema.get(_WRAPPED) is not True:
        return schema
    properties = schema.get("properties")
    inner = properties.get("result") if isinstance(properties, Mapping) else None
    if not isinstance(inner, Mapping):
        return schema
    facts[_WRAPPED] = True
    return {**({"$defs": schema["$defs"]} if "$defs" in schema else {}), **inner}

"""Reading lists of MCP tools."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

from droidgate_mappings.formats.format import Reading, SourceFile
from droidgate_mappings.formats.leniency import ReadingContext
from droidgate_mappings.json_schema import read_schema
from droidgate_mappings.model.capability import (
    Capability,
    CapabilityAccess,
    ComponentAccess,
    Effects,
    Place,
    Provider,
)
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.model.types import AnyType, Extensions, Type
from droidgate_mappings.records import dataclass, field
from droidgate_mappings.text.json_text import parse_json
from droidgate_mcp.format import FORMAT_ID, HANDSHAKE, MODERN, PROVIDER_META, TABLES, TOOL_META
from droidgate_mcp.tool_facts import (
    ANNOTATIONS_FACT,
    ANNOTATIONS_POINTER,
    HINTS,
    META_POINTER,
    TITLE_FACT,
    document_fact,
    name_member,
    name_members,
    read_access,
)
from droidgate_mcp.tool_list import (
    ToolListDocument,
    is_further_field,
    is_shape,
    is_tool,
    read_conversation,
    records_a_list,
    take_apart,
)

Read = TypeVar("Read")
Tool = TypeVar("Tool")

_SURE: Final = 90
_LIKELY: Final = 60
_TOOL_KEY: Final = re.compile(rb'"(inputSchema)"\s*:|"(input_schema)"\s*:')
_EMPTY_LIST: Final = re.compile(rb'"tools"\s*:\s*\[\s*\]')
_BEGINNING: Final = re.compile(
    rb"""(?:\xef\xbb\xbf)?\s*+(?:
        \{\s*+"(?:jsonrpc|serverInfo|protocolVersion)"\s*+:
        | \{\s*+"tools"\s*+:\s*+\[\s*+(?:\{|\Z)
        | \[\s*+\{\s*+"name"\s*+:\s*+"[^"]*+
            (?:\Z|"\s*+(?:\Z|,\s*+(?:"(?:title|description)"|"?\w*+\Z))))
    """,
    re.VERBOSE,
)
"""How a list of tools, or of functions, or the dump of a server begins, wherever it is cut off after that."""
_SNAKE_KEYS: Final = {"inputSchema": "input_schema", "outputSchema": "output_schema"}
_SNAKE_HINTS: Final = {hint: f"{field}_hint" for hint, field in HINTS.items()}
_NULLABLE_KEYS: Final = ("title", "description", "outputSchema", "annotations", "icons", "execution", "_meta")
_OWN_KEYS: Final = frozenset(
    {"name", "title", "description", "inputSchema", "outputSchema", "annotations", "_meta"}
)
_TEXT_FIELDS: Final = ("package", "component", "name", "description", "instructions")


def detect(source: SourceFile) -> int:
    """Return how sure a file's content makes us that it is a list of MCP tools."""
    if source.data[:64].lstrip(b"\xef\xbb\xbf \t\r\n")[:1] not in {b"{", b"["}:
        return _LIKELY if records_a_list(source.data) else 0
    match = _TOOL_KEY.search(source.data)
    if match is not None:
        return _SURE if match[1] else _LIKELY
    if _EMPTY_LIST.search(source.data) and _is_empty_list(source):
        return _LIKELY // 2
    return _LIKELY // 2 if _BEGINNING.match(source.data) and not _is_json(source) else 0


def may_be(source: SourceFile) -> bool:
    """Return whether a file is a tool without a schema, which has nothing that only tools have."""
    try:
        return is_tool(parse_json(source.data, path=source.path))
    except InputError:
        return False


def _is_json(source: SourceFile) -> bool:
    try:
        parse_json(source.data, path=source.path)
    except InputError:
        return False
    return True


def _is_empty_list(source: SourceFile) -> bool:
    """Return whether a file is a list without tools; much other JSON has an empty member `tools`."""
    try:
        document = parse_json(source.data, path=source.path)
    except InputError:
        return False
    if not isinstance(document, Mapping):
        return False
    if isinstance(document.get("result"), Mapping):
        return "jsonrpc" in document and document["result"].get("tools") == []
    return document.get("tools") == [] and (next(iter(document)) == "tools" or "_meta" in document)


def read_file(source: SourceFile, context: ReadingContext) -> Reading:
    """Read tools: a `tools/list` result, a response around one, an array, one tool, a dump of a server, or a
    recorded conversation.

    A tool that cannot be read is a problem, and the others are read.

    Raises:
        InputError: it is not JSON, or no tool can be read; in strict reading also where one cannot be read.
    """
    value = read_conversation(source.data, source.path)
    if value is not None:
        context.allow(
            "P10",
            "a recorded conversation is read as a dump of its server",
            source=Place(path=source.path, line=1),
            hint="keep the result of tools/list alone",
        )
    else:
        value = parse_json(source.data, path=source.path)
    document = take_apart(value, source.path)
    reader = _DocumentReader(source.path, document, context)
    provider = reader.read()
    if reader.problems and not provider.capabilities:
        raise InputError.first_of(reader.problems)
    return Reading((provider,), tuple(context.findings), tuple(reader.problems))


@dataclass(slots=True)
class _DocumentReader:
    path: str
    document: ToolListDocument
    context: ReadingContext
    definitions: dict[str, Type] = field(default_factory=dict)
    names: set[str] = field(default_factory=set)
    problems: list[InputError] = field(default_factory=list)

    def attempt(self, read: Callable[[Tool, str], Read], tool: Tool, pointer: str) -> Read | None:
        """Return what is read of one tool; None where it cannot be read, which is a problem of that tool.

        Raises:
            InputError: the reading is strict.
        """
        try:
            return read(tool, pointer)
        except InputError as error:
            if self.context.strict:
                raise
            self.problems.append(error)
            return None

    def read(self) -> Provider:
        document = self.document
        meta = dict(document.meta)
        own = self.read_own_meta(meta.pop(PROVIDER_META, None), "")
        access = read_access(ComponentAccess, own.pop("access", None), self.path)
        facts = name_members(meta, META_POINTER)
        pointers = ((tool, document.pointer_of(index)) for index, tool in enumerate(document.tools))
        tools = [
            (members, pointer)
            for tool, pointer in pointers
            if (members := self.attempt(self.with_usual_names, tool, pointer)) is not None
        ]
        dialect = self.find_dialect(tools)
        shape = document.kept_shape(dialect)
        facts.update(document.further)
        facts.update(self.read_fields(own.pop("fields", {}), facts))
        facts.update(self.read_documents(own.pop("documents", {}), dialect))
        if shape is not None:
            facts[document_fact(dialect)] = shape
        read = self.context.read_each(
            tools,
            lambda each: self.attempt(self.read_tool, *each),
            lambda each: f"{self.path}:{each[1]}",
        )
        capabilities = tuple(item for item in read if item is not None)
        self.read_definitions(own.pop("definitions", {}))
        extensions = self.read_extensions(own.pop("extensions", {}), facts, "")
        texts = {name: own.pop(name) for name in _TEXT_FIELDS if isinstance(own.get(name), str)}
        self.refuse_rest(own, PROVIDER_META, "")
        return Provider(
            protocol=FORMAT_ID,
            dialect=dialect,
            access=access,
            source=Place(path=self.path, line=1),
            definitions=self.definitions,
            capabilities=capabilities,
            extensions=extensions,
            **{**texts, **document.fields},
        )

    def find_dialect(self, tools: list[tuple[dict[str, Json], str]]) -> str:
        """Return the revision: the modern one where the document says so, or an output can be of no other."""
        modern = self.document.states_modern_revision()
        if modern:
            return MODERN
        for tool, pointer in tools:
            schema = tool.get("outputSchema")
            if schema is not None and not (isinstance(schema, Mapping) and schema.get("type") == "object"):
                self.allow(
                    "P03",
                    f"the output of {_called(tool)} is not of type object, as only revision {MODERN} allows",
                    f"{pointer}/outputSchema",
                )
                return MODERN
        return HANDSHAKE

    def with_usual_names(self, tool: Json, pointer: str) -> dict[str, Json]:
        """Return a tool's members in camel case and without null."""
        if not isinstance(tool, Mapping):
            raise self.error(
                "a tool is not a JSON object", pointer, "each tool is an object with name and inputSchema"
            )
        members = dict(tool)
        self.rename_keys(members, _SNAKE_KEYS, members, pointer)
        if isinstance(members.get("annotations"), Mapping):
            members["annotations"] = dict(members["annotations"])
            self.rename_keys(members["annotations"], _SNAKE_HINTS, members, f"{pointer}/annotations")
        for key in _NULLABLE_KEYS:
            if key in members and members[key] is None:
                self.allow(
                    "P05", f"{key!r} of {_called(tool)} is null and read as absent", f"{pointer}/{key}"
                )
                del members[key]
        return members

    def rename_keys(
        self, members: dict[str, Json], spellings: Mapping[str, str], tool: Mapping[str, Json], pointer: str
    ) -> None:
        """Rename the keys of an object that are in snake case, where the usual one is not there too."""
        for usual, seen in spellings.items():
            if seen in members and usual not in members:
                self.allow("P06", f"{seen!r} of {_called(tool)} is read as {usual!r}", f"{pointer}/{seen}")
                members[usual] = members.pop(seen)

    def read_tool(self, members: dict[str, Json], pointer: str) -> Capability:
        """Read one tool."""
        name = members.get("name")
        if not isinstance(name, str) or not name:
            raise self.error("a tool has no name", pointer, "give it a `name`")
        if name in self.names:
            raise self.error(f"two tools are called {name!r}", pointer, "rename one of them")
        self.names.add(name)
        meta = self.meta_of(members, pointer)
        own = self.read_own_meta(meta.pop(TOOL_META, None), pointer)
        access = read_access(CapabilityAccess, own.pop("access", None), f"{self.path}:{pointer}")
        other_members = {key: value for key, value in members.items() if key not in _OWN_KEYS}
        other_members.update(self.read_members(own.pop("members", {}), other_members, pointer))
        facts = {name_member(key): value for key, value in other_members.items()}
        facts.update(name_members(meta, META_POINTER))
        input_type = self.read_input(members, pointer)
        output_type = self.read_output(members, own, pointer)
        title, effects = self.read_annotations(members, facts, pointer)
        version = own.pop("version", None)
        if version is not None and not isinstance(version, str):
            own["version"] = version
        extensions = self.read_extensions(own.pop("extensions", {}), facts, pointer)
        self.refuse_rest(own, TOOL_META, pointer)
        return Capability(
            id=name,
            title=title,
            description=self.text_of(members, "description", pointer),
            version=version,
            input=input_type,
            output=output_type,
            effects=effects,
            access=access,
            source=Place(path=self.path, line=1, inner=pointer),
            extensions=extensions,
        )

    def read_input(self, members: dict[str, Json], pointer: str) -> Type:
        """Read the input schema, which says `type: object` or is read as if it did."""
        schema = members.get("inputSchema")
        inner = f"{pointer}/inputSchema"
        if schema is None:
            self.allow(
                "P01",
                f"{_called(members)} has no input schema; it is read as taking nothing in particular",
                pointer,
            )
            schema = {"type": "object"}
        if schema is not True and not isinstance(schema, Mapping):
            raise self.error(
                f"the input schema of {_called(members)} is not a JSON object", inner, "write a JSON Schema"
            )
        if schema is True or schema.get("type") != "object":
            stated = {} if schema is True else schema
            word = stated.get("type", "object")
            if word != "object" and not (isinstance(word, list) and "object" in word):
                raise self.error(
                    f"the input schema of {_called(members)} is not of type object",
                    inner,
                    "arguments are an object",
                )
            self.allow("P02", f"the input schema of {_called(members)} is read as of type object", inner)
            schema = {**stated, "type": "object"}
        return self.read_root(schema)

    def read_output(self, members: dict[str, Json], own: dict[str, Json], pointer: str) -> Type | None:
        """Read the output schema, or the boolean schema in its place in our `_meta`."""
        if isinstance(own.get("output"), bool) and "outputSchema" not in members:
            return AnyType(boolean=own.pop("output"))
        schema = members.get("outputSchema")
        if schema is None:
            return None
        if isinstance(schema, bool):
            self.allow(
                "P03",
                f"the output schema of {_called(members)} is {str(schema).lower()}",
                f"{pointer}/outputSchema",
            )
            schema = {} if schema else {"not": {}}
        if not isinstance(schema, Mapping):
            raise self.error(
                f"the output schema of {_called(members)} is not a JSON object",
                f"{pointer}/outputSchema",
                "write a JSON Schema",
            )
        return self.read_root(schema)

    def read_root(self, schema: Mapping[str, Json]) -> Type:
        """Read a schema, and keep the definitions in it."""
        root, brought = read_schema(schema, definitions=self.definitions)
        self.definitions.update(brought)
        return root

    def read_annotations(
        self, members: dict[str, Json], facts: dict[str, Json], pointer: str
    ) -> tuple[str | None, Effects | None]:
        """Return title and hints; what else the annotations hold goes to `facts`."""
        title = self.text_of(members, "title", pointer)
        if "annotations" not in members:
            return title, None
        annotations = members["annotations"]
        if not isinstance(annotations, Mapping):
            raise self.error(
                f"the annotations of {_called(members)} are not a JSON object", pointer, "remove them"
            )
        rest = dict(annotations)
        for key in [key for key in ("title", *HINTS) if key in rest and rest[key] is None]:
            self.allow(
                "P05",
                f"{key!r} of {_called(members)} is null and read as absent",
                f"{pointer}/annotations/{key}",
            )
            del rest[key]
        hints = {HINTS[key]: rest.pop(key) for key in HINTS if isinstance(rest.get(key), bool)}
        if isinstance(rest.get("title"), str) and title in {None, rest["title"]}:
            facts[TITLE_FACT] = "annotations" if title is None else "both"
            title = rest.pop("title")
        facts.update(name_members(rest, ANNOTATIONS_POINTER))
        if not (rest or hints or TITLE_FACT in facts):
            facts[ANNOTATIONS_FACT] = {}
        return title, Effects(**hints) if hints else None

    def meta_of(self, members: dict[str, Json], pointer: str) -> dict[str, Json]:
        """Return a copy of a tool's `_meta`."""
        meta = members.get("_meta", {})
        if not isinstance(meta, Mapping):
            raise self.error(f"`_meta` of {_called(members)} is not a JSON object", pointer, "remove it")
        return dict(meta)

    def read_own_meta(self, value: Json, pointer: str) -> dict[str, Json]:
        """Return a copy of what our own `_meta` key holds."""
        if value is None:
            return {}
        if not isinstance(value, Mapping):
            raise self.error(
                "what droidgate wrote into `_meta` is not a JSON object", pointer, "remove the key"
            )
        return dict(value)

    def read_members(self, value: Json, facts: Mapping[str, Json], pointer: str) -> Mapping[str, Json]:
        """Return the members that a revision has no place for."""
        if not isinstance(value, Mapping) or value.keys() & (_OWN_KEYS | facts.keys()):
            raise self.error("`members` in droidgate's `_meta` is not what it writes", pointer, "remove it")
        return value

    def read_fields(self, value: Json, facts: Mapping[str, Json]) -> Mapping[str, Json]:
        """Return the further fields of a document of another revision."""
        is_ours = isinstance(value, Mapping) and all(map(is_further_field, value))
        if not is_ours or value.keys() & facts.keys():
            raise self.error("`fields` in droidgate's `_meta` are not what it writes", "", "remove them")
        return dict(value)

    def read_documents(self, value: Json, dialect: str) -> Mapping[str, Json]:
        """Return the shapes of the documents that the tools had in other revisions."""
        others = {document_fact(revision.id) for revision in TABLES.dialects if revision.id != dialect}
        is_ours = isinstance(value, Mapping) and value.keys() <= others and all(map(is_shape, value.values()))
        if not is_ours:
            raise self.error("`documents` in droidgate's `_meta` are not what it writes", "", "remove them")
        return dict(value)

    def read_extensions(self, value: Json, facts: dict[str, Json], pointer: str) -> Extensions:
        """Return other formats' facts from our `_meta`, with our own."""
        is_ours = isinstance(value, Mapping) and FORMAT_ID not in value
        if not is_ours or not all(isinstance(item, Mapping) for item in value.values()):
            raise self.error(
                "`extensions` in droidgate's `_meta` is not what it writes", pointer, "remove it"
            )
        return {**value, FORMAT_ID: facts} if facts else dict(value)

    def read_definitions(self, value: Json) -> None:
        """Read the definitions that no tool reaches from our `_meta`."""
        if not isinstance(value, Mapping) or not all(
            isinstance(item, Mapping | bool) for item in value.values()
        ):
            raise self.error("`definitions` in droidgate's `_meta` are not JSON Schemas", "", "remove them")
        if value:
            self.read_root({"$defs": value})

    def refuse_rest(self, value: Mapping[str, Any], key: str, pointer: str) -> None:
        """Refuse members of our `_meta` key that we do not write."""
        if value:
            raise self.error(
                f"`{key}` holds {next(iter(value))!r}, which droidgate does not write", pointer, "remove it"
            )

    def text_of(self, members: Mapping[str, Json], key: str, pointer: str) -> str | None:
        """Return a text member, None where it is absent."""
        text = members.get(key)
        if text is not None and not isinstance(text, str):
            raise self.error(
                f"{key!r} of {_called(members)} is not a string", f"{pointer}/{key}", "write a string"
            )
        return text

    def allow(self, row: str, message: str, pointer: str) -> None:
        """Accept something by a registry row."""
        self.context.allow(row, message, pointer=pointer, source=Place(path=self.path, line=1, inner=pointer))

    def error(self, message: str, pointer: str, hint: str) -> InputError:
        """Return an error at a place in the document."""
        place = f"{self.path}:{pointer}" if pointer else self.path
        return InputError(message, place=place, hint=hint)


def _called(tool: Mapping[str, Json]) -> str:
    name = tool.get("name")
    return f"the tool {name!r}" if isinstance(name, str) else "a tool"

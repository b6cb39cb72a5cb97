"""Reading tool lists of OpenAI, Anthropic and Gemini, whose `Schema` is a part of OpenAPI 3.0's."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from droidgate_function_calling.format import ANTHROPIC, FORMAT_ID, GEMINI, OPENAI, TABLES
from droidgate_function_calling.vendor_shapes import ToolEntry, ToolList, find_no_tools, find_tools
from droidgate_mappings.formats.format import Reading, SourceFile
from droidgate_mappings.formats.leniency import ReadingContext
from droidgate_mappings.json_schema import Schema, read_schema
from droidgate_mappings.json_schema.schema_words import with_inner_schemas
from droidgate_mappings.model.capability import Capability, Place, Provider
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.model.findings import Finding, Level, finding_code
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.model.types import Type, as_extensions
from droidgate_mappings.records import dataclass, field
from droidgate_mappings.text.json_text import parse_json

_UNSPECIFIED: Final = "TYPE_UNSPECIFIED"
_TYPES: Final = frozenset({"STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL"})
_COUNTS: Final = frozenset(
    {"minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties"}
)
"""64-bit integers, which Google's JSON writes as strings."""
_ENUM_FORMAT: Final = "enum"
_DIGITS: Final = re.compile(r"-?[0-9]{1,19}")
_USUAL_NAMES: Final[Mapping[str, str]] = {
    "any_of": "anyOf",
    "additional_properties": "additionalProperties",
    "max_items": "maxItems",
    "max_length": "maxLength",
    "max_properties": "maxProperties",
    "min_items": "minItems",
    "min_length": "minLength",
    "min_properties": "minProperties",
    "property_ordering": "propertyOrdering",
}
"""Names of Google's Python library -> the names of its JSON."""


def to_json_schema(schema: Json) -> Json:
    """Return a JSON Schema that accepts the same values.

    Upper-case types become JSON Schema's words, `nullable` a null type, and counts in strings numbers. Other
    keywords are kept. The depth of what is read is bounded by the JSON parser.

    Args:
        schema: Gemini's schema; what is not an object is returned as it is.
    """
    if not isinstance(schema, Mapping):
        return schema
    written: dict[str, Json] = {}
    for word, value in schema.items():
        name = _USUAL_NAMES.get(word, word)
        written[name] = _convert(name, value)
    word = written.get("type")
    if word == _UNSPECIFIED:
        del written["type"]
    elif isinstance(word, str) and word in _TYPES:
        written["type"] = word.lower()
    if written.get("format") == _ENUM_FORMAT and "enum" in written:
        del written["format"]  # it only says that there is an enum
    return _with_null(written)


def _convert(word: str, value: Json) -> Json:
    if word in _COUNTS and isinstance(value, str) and _DIGITS.fullmatch(value):
        return int(value)
    return with_inner_schemas("$defs" if word == "defs" else word, value, to_json_schema)


def _with_null(written: dict[str, Json]) -> Schema:
    nullable = written.get("nullable")
    if not isinstance(nullable, bool):
        return written
    del written["nullable"]
    if not nullable:
        return written
    word = written.get("type")
    if isinstance(word, str) and word != "null":
        written["type"] = [word, "null"]
        if isinstance(written.get("enum"), list) and None not in written["enum"]:
            written["enum"] = [*written["enum"], None]
        return written
    return {"anyOf": [written, {"type": "null"}]}


VENDOR_TOOL: Final = finding_code(
    "vendor-tool",
    "An entry of a tool list that declares no function, such as a tool that the vendor runs; it is left out",
    __name__,
)

_SURE: Final = 95
_LIKELY: Final = 70
_POSSIBLE: Final = 50
_MARK: Final = re.compile(
    rb'"type"\s*:\s*"function"|"functions?_?[dD]eclarations"\s*:|"input_schema"\s*:'
    rb'|"parameters(?:JsonSchema|_json_schema)?"\s*:'
)
_DECLARATIONS: Final = re.compile(rb'"functions?_?[dD]eclarations"\s*:\s*\[')
_FUNCTIONS: Final = (re.compile(rb'"type"\s*:\s*"function"'), re.compile(rb'"(?:function|parameters)"\s*:'))
_BEGINNING: Final = re.compile(rb'\W*(?:"(?:tools|functions)"\W+)?"type"\s*:\s*"function"')
_OF_CONTRACTS: Final = re.compile(rb'"(?:inputs|outputs|stateMutability)"')
"""Members of the functions of Ethereum's contracts, which have `type: function` too."""
_USUAL_INPUTS: Final = ("parameters", "input_schema")
_INPUTS: Final = {
    ANTHROPIC: ("input_schema", "parameters"),
    GEMINI: ("parametersJsonSchema", "parameters_json_schema", "parameters"),
}
_OUTPUTS: Final = {
    GEMINI: ("responseJsonSchema", "response_json_schema", "response"),
    OPENAI: ("output_schema",),
}
_OPEN_API: Final = frozenset({"parameters", "response"})
_HINT: Final = "expected tools as OpenAI, Anthropic or Gemini take them"


def detect(source: SourceFile) -> int:
    """Return how sure a file's content makes us that it is a vendor's tool list."""
    if source.data[:64].lstrip(b"\xef\xbb\xbf \t\r\n")[:1] not in {b"{", b"["} or not _MARK.search(
        source.data
    ):
        return 0
    try:
        tools = find_tools(parse_json(source.data, path=source.path))
    except InputError:
        # A list that is cut off is a problem of its file, and other JSON that is cut off is not.
        return _POSSIBLE if _is_unmistakable(source.data) else 0
    if tools is None:
        return 0
    if not tools.is_typed:
        return _POSSIBLE
    return _LIKELY if tools.dialects == (ANTHROPIC,) else _SURE


def _is_unmistakable(data: bytes) -> bool:
    """Return whether a text that is not JSON has the words of a vendor's tool list."""
    if _BEGINNING.match(data) is not None and _OF_CONTRACTS.search(data) is None:
        return True
    return _DECLARATIONS.search(data) is not None or all(word.search(data) for word in _FUNCTIONS)


def stated_schemas(entry: ToolEntry) -> tuple[dict[str, Json], dict[str, Json]]:
    """Return the schemas of a function's arguments and of its results, by the members that state them.

    The first one of each counts. A schema of Gemini's own form is converted to a JSON Schema.
    """

    def take(names: tuple[str, ...]) -> dict[str, Json]:
        return {
            name: to_json_schema(schema) if entry.dialect == GEMINI and name in _OPEN_API else schema
            for name in names
            if (schema := entry.function.get(name)) is not None
        }

    dialect = entry.dialect or ""
    return take(_INPUTS.get(dialect, _USUAL_INPUTS)), take(_OUTPUTS.get(dialect, ()))


def read_file(source: SourceFile, context: ReadingContext) -> Reading:
    """Read a tool list: a list, a request that has one, or one tool alone.

    Returns:
        One provider without package and component. A tool that cannot be read is a problem.

    Raises:
        InputError: not JSON, no tool list, no tool of it can be read, or the reading is strict.
    """
    document = parse_json(source.data, path=source.path)
    tools = find_tools(document) or find_no_tools(document)
    if tools is None:
        raise InputError("it is not a tool list of a vendor", place=source.path, hint=_HINT)
    reader = _Reader(source.path, context)
    provider = reader.read(tools)
    if reader.problems and not provider.capabilities:
        raise InputError.first_of(reader.problems)
    return Reading((provider,), tuple(context.findings), tuple(reader.problems))


@dataclass(slots=True)
class _Reader:
    path: str
    context: ReadingContext
    definitions: dict[str, Type] = field(default_factory=dict)
    problems: list[InputError] = field(default_factory=list)

    def read(self, tools: ToolList) -> Provider:
        """Read the tools of a list."""
        dialects = tools.dialects
        if len(dialects) > 1:
            message = f"the list has tools for {' and '.join(dialects)}"
            self.context.allow("F02", message, source=Place(path=self.path, line=1))
        capabilities: dict[str, Capability] = {}
        for entry in tools.entries:
            if entry.dialect is None:
                self.leave_out(entry)
                continue
            try:
                capability = self.read_tool(entry)
                if capability.id in capabilities:
                    raise self.error(f"duplicate tool {capability.id!r}", entry.pointer, "rename one of them")
            except InputError as error:
                if self.context.strict:
                    raise
                self.problems.append(error)
            else:
                capabilities[capability.id] = capability
        return Provider(
            protocol=FORMAT_ID,
            dialect=dialects[0] if dialects else TABLES.dialects[0].id,
            source=Place(path=self.path, line=1),
            definitions=self.definitions,
            capabilities=tuple(capabilities.values()),
            extensions=as_extensions(FORMAT_ID, tools.further),
        )

    def leave_out(self, entry: ToolEntry) -> None:
        """Report an entry that declares no function."""
        kind = entry.function.get("type") or entry.function.get("name") or next(iter(entry.function), "?")
        self.context.findings.append(
            Finding(
                code=VENDOR_TOOL,
                level=Level.DROPPED,
                pointer=entry.pointer,
                message=f"the entry {str(kind)[:100]!r} declares no function; it is left out",
                source=Place(path=self.path, line=1, inner=entry.pointer),
            )
        )

    def read_tool(self, entry: ToolEntry) -> Capability:
        """Read one function.

        Raises:
            InputError: it has no name, or its schema is not one.
        """
        function, pointer = entry.function, entry.pointer
        name, description = function.get("name"), function.get("description")
        if not isinstance(name, str) or not name.strip():
            raise self.error("a tool has no name", pointer, "give it a `name`")
        if not isinstance(description, str | None):
            raise self.error(f"the description of {name!r} is not a string", pointer, "write a string")
        if not entry.is_typed:
            self.allow("F01", f"the tool {name!r} does not state its type", pointer)
        dialect = entry.dialect or ""
        inputs, outputs = stated_schemas(entry)
        used = {"name", "description", *list(inputs)[:1], *list(outputs)[:1]}
        facts = {key: value for key, value in function.items() if key not in used}
        if dialect == OPENAI:
            # The Responses API decides by itself where nothing is stated; `false` is what a writer states.
            strict = facts.pop("strict", None)
            facts |= {} if strict is False else {"strict": strict}
        if entry.wrapper:
            facts["wrapper"] = dict(entry.wrapper)
        input_schema = next(iter(inputs.values()), None)
        result = next(iter(outputs.values()), None)
        return Capability(
            id=name,
            description=description,
            input=self.read_input(input_schema, name, pointer),
            output=None if result is None else self.read_schema(result, name, pointer),
            source=Place(path=self.path, line=1, inner=pointer),
            extensions=as_extensions(FORMAT_ID, facts),
        )

    def read_input(self, schema: Json, name: str, pointer: str) -> Type:
        """Read the schema of the arguments; without one, a function takes none."""
        if schema is None or schema == {}:
            schema = {"type": "object", "properties": {}}
        word = schema.get("type") if isinstance(schema, Mapping) else None
        if isinstance(schema, Mapping) and word is None:
            message = f"the parameters of {name!r} do not state the type object; they are read as if they did"
            self.allow("F03", message, pointer)
            schema = {**schema, "type": "object"}
        elif word != "object" and not (isinstance(word, list) and "object" in word):
            raise self.error(
                f"the parameters of {name!r} are not an object", pointer, "arguments are an object"
            )
        return self.read_schema(schema, name, pointer)

    def read_schema(self, schema: Json, name: str, pointer: str) -> Type:
        """Read a schema, and keep the definitions that it includes."""
        if not isinstance(schema, Mapping | bool):
            raise self.error(f"a schema of {name!r} is not a JSON object", pointer, "write a JSON Schema")
        read, included = read_schema(schema, definitions=self.definitions)
        self.definitions.update(included)
        return read

    def allow(self, row: str, message: str, pointer: str) -> None:
        """Accept something by a registry row."""
        place = Place(path=self.path, line=1, inner=pointer or None)
        self.context.allow(row, message, pointer=pointer, source=place)

    def error(self, message: str, pointer: str, hint: str) -> InputError:
        """Return the error about an entry."""
        return InputError(message, place=f"{self.path}:{pointer}" if pointer else self.path, hint=hint)

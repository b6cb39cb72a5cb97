"""Writing tool lists of OpenAI, Anthropic and Gemini.

`fit_provider` decides what can be said; what is left is written without loss. Strict mode is not one of its
capacities: a capacity decides part by part, and this mode takes a whole tool or none of it, so that one part
which it cannot express leaves all others as they are. In OpenAI's strict mode
(reference style-and-peers 2.12) a model's arguments keep to the schema, which requires each property and
allows no others. What the source leaves optional takes null instead, which `droidgate_function_calling.calls`
reads as no value. A tool that strict mode cannot express, such as one that takes any object, is written as
`openai` writes it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from droidgate_function_calling.format import (
    ANTHROPIC,
    FORMAT_ID,
    GEMINI,
    OPENAI,
    OPENAI_CHAT,
    OPENAI_STRICT,
    TABLES,
)
from droidgate_mappings.fit import Loss, fit_provider, without_own_facts
from droidgate_mappings.formats.format import Artifact, Writing
from droidgate_mappings.json_schema import NAMESPACE, NOTATION, add_discriminators, write_schema
from droidgate_mappings.json_schema.schema_words import ANNOTATION
from droidgate_mappings.model.capability import Capability, Provider, child_types, reachable_definitions
from droidgate_mappings.model.errors import WriteError
from droidgate_mappings.model.findings import Finding, Level, finding_code
from droidgate_mappings.model.json_values import (
    Json,
    canonical_json,
    json_equal,
    pointer_name,
    readable_json,
)
from droidgate_mappings.model.leaves import different_leaves, leaves_of_provider
from droidgate_mappings.model.type_qualities import null_definitions, takes_null
from droidgate_mappings.model.types import (
    AnyType,
    ArrayType,
    ObjectType,
    OneOfType,
    Property,
    ScalarType,
    Type,
)
from droidgate_mappings.tables.capacity import Capacity
from droidgate_mappings.tables.loading import DialectTable

_NULL_FOR_NONE: Final = Loss(
    finding_code(
        "null-for-none",
        "Strict mode requires every parameter; null means that it is left out; reading a call removes it",
        __name__,
    ),
    Level.RENAMED,
    "strict mode requires it; null means that it is left out",
)
_OBJECT_CLOSED: Final = Loss(
    finding_code(
        "object-closed", "Strict mode allows no further properties than those that are declared", __name__
    ),
    Level.NARROWED,
    "strict mode allows no further properties",
)
_SCHEMA_OBJECT: Final = Loss(
    "notation-dropped", Level.RENAMED, "the target takes a JSON object as a schema; it means the same"
)
_CLOSED: Final = "additionalProperties"
_FORMATS: Final = frozenset(
    {"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"}
)
_NUMBER_WORDS: Final = frozenset(
    {"title", "multipleOf", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"}
)
_WORDS: Final[Mapping[str, frozenset[str]]] = {
    "int32": _NUMBER_WORDS,
    "int64": _NUMBER_WORDS,
    "double": _NUMBER_WORDS,
    "array": frozenset({"title", "minItems", "maxItems"}),
    "object": frozenset({"title", "properties", _CLOSED}),
    "string": frozenset({"title"}),
    "boolean": frozenset({"title"}),
    "null": frozenset({"title"}),
    "ref": frozenset(),
    "one-of": frozenset({"title"}),
}
"""Kind of type -> the keywords that strict mode takes next to it; other kinds it does not take."""
_MOST_PROPERTIES: Final = 5_000
_MOST_VALUES: Final = 1_000
_MOST_LEVELS: Final = 10
_MOST_CHARACTERS: Final = 120_000
"""Of all names of properties and definitions, and of all values of enums."""
_LONG_ENUM: Final = 250
_MOST_CHARACTERS_OF_LONG_ENUM: Final = 15_000


@dataclass(frozen=True, slots=True)
class _Extent:
    properties: int = 0
    values: int = 0
    levels: int = 0
    characters: int = 0


def make_strict(
    source: Provider, fitted: Provider, reported: Sequence[Finding]
) -> tuple[Provider, tuple[Finding, ...]]:
    """Return a provider whose tools are as strict mode takes them, where it can express them.

    Args:
        source: The provider that is converted.
        fitted: What the dialect carries of it.
        reported: The findings so far.

    Returns:
        The provider, and all findings: one for each leaf that differs from the source.
    """
    strict = [item for item in fitted.capabilities if _can_be_strict(item.input, fitted.definitions)]
    closed = {name for item in strict for name in reachable_definitions(item.input, dict(fitted.definitions))}
    takes = null_definitions(fitted.definitions)
    changed = fitted.changed(
        {
            "definitions": {
                name: _close(type_, takes) if name in closed else type_
                for name, type_ in fitted.definitions.items()
            },
            "capabilities": tuple(
                item.changed({"input": _close(item.input, takes)}) if item in strict else item
                for item in fitted.capabilities
            ),
        }
    )
    leaves = dict(leaves_of_provider(source))
    after = dict(leaves_of_provider(changed))
    differences = different_leaves(dict(leaves_of_provider(fitted)), after)
    undone = {
        pointer
        for pointer in differences
        if (pointer in leaves) == (pointer in after)
        and (pointer not in leaves or json_equal(leaves[pointer], after[pointer]))
    }
    reported_pointers = {finding.pointer for finding in reported}
    return changed, (
        *(finding for finding in reported if finding.pointer not in undone),
        *(_finding(pointer) for pointer in differences if pointer not in reported_pointers | undone),
    )


def is_strict(capability: Capability, definitions: Mapping[str, Type]) -> bool:
    """Return whether a tool is as strict mode takes it."""
    types = (
        capability.input,
        *(definitions[name] for name in reachable_definitions(capability.input, dict(definitions))),
    )
    return _can_be_strict(capability.input, definitions) and all(
        part.keywords.get(_CLOSED) is False and all(item.required for item in part.properties.values())
        for type_ in types
        for part in _parts(type_)
        if isinstance(part, ObjectType)
    )


def _finding(pointer: str) -> Finding:
    loss = _OBJECT_CLOSED if pointer.endswith(f"/{_CLOSED}") else _NULL_FOR_NONE
    return loss.finding(pointer)


def _can_be_strict(root: Type, definitions: Mapping[str, Type]) -> bool:
    if not isinstance(root, ObjectType):
        return False
    names = reachable_definitions(root, dict(definitions))
    if not all(name in definitions for name in names):
        return False
    # An object without properties would take nothing; only a tool without parameters means that.
    types = [*(item.type for item in root.properties.values()), *(definitions[name] for name in names)]
    if not _words_fit(root) or not all(_fits(part) for type_ in types for part in _parts(type_)):
        return False
    extents = [_extent(type_) for type_ in (root, *(definitions[name] for name in names))]
    return (
        sum(extent.properties for extent in extents) <= _MOST_PROPERTIES
        and sum(extent.values for extent in extents) <= _MOST_VALUES
        and max(extent.levels for extent in extents) <= _MOST_LEVELS
        and sum(map(len, names)) + sum(extent.characters for extent in extents) <= _MOST_CHARACTERS
    )


def _fits(type_: Type) -> bool:
    if isinstance(type_, ObjectType):
        return bool(type_.properties) and _words_fit(type_)
    if isinstance(type_, ArrayType):
        return type_.items is not None and _words_fit(type_)
    if isinstance(type_, OneOfType):
        return bool(type_.alternatives) and not type_.exclusive and _words_fit(type_)
    return _words_fit(type_)


def _words_fit(type_: Type) -> bool:
    words = _WORDS.get(type_.kind)
    if words is None or type_.implicit or not words >= type_.keywords.keys():
        return False
    if _CLOSED in type_.keywords and type_.keywords[_CLOSED] is not False:
        return False
    values = _texts_of(type_)
    if len(values) > _LONG_ENUM and sum(map(len, values)) > _MOST_CHARACTERS_OF_LONG_ENUM:
        return False
    if type_.kind == "string":
        return type_.format is None or type_.format in _FORMATS
    return type_.format is None and (type_.enum is None or isinstance(type_, ScalarType))


def _parts(type_: Type) -> Iterator[Type]:
    """Yield a type and the types inside of it."""
    yield type_
    for inner in child_types(type_):
        yield from _parts(inner)


def _extent(type_: Type) -> _Extent:
    inner = [_extent(part) for part in child_types(type_)]
    own = list(type_.properties) if isinstance(type_, ObjectType) else []
    return _Extent(
        len(own) + sum(extent.properties for extent in inner),
        len(type_.enum or ()) + sum(extent.values for extent in inner),
        isinstance(type_, ObjectType) + max((extent.levels for extent in inner), default=0),
        sum(map(len, (*own, *_texts_of(type_)))) + sum(extent.characters for extent in inner),
    )


def _texts_of(type_: Type) -> list[str]:
    """Return the values of an enum as they are counted."""
    return [value if isinstance(value, str) else canonical_json(value) for value in type_.enum or ()]


def _close(type_: Type, takes: frozenset[str]) -> Type:
    """Return a type whose objects require each property and allow no other."""
    if isinstance(type_, ObjectType):
        properties = {name: _require(item, takes) for name, item in type_.properties.items()}
        keywords = {**type_.keywords, _CLOSED: False}
        return type_.changed({"properties": properties, "keywords": keywords})
    if isinstance(type_, ArrayType) and type_.items is not None:
        return type_.changed({"items": _close(type_.items, takes)})
    if isinstance(type_, OneOfType):
        return type_.changed({"alternatives": tuple(_close(part, takes) for part in type_.alternatives)})
    return type_


def _require(item: Property, takes: frozenset[str]) -> Property:
    type_ = _close(item.type, takes)
    if not item.required and not takes_null(type_, takes.__contains__):
        type_ = type_.changed({"nullable": True})
    return item.changed({"type": type_, "required": True})


def _as_strict(schema: Json) -> Json:
    if not isinstance(schema, Mapping):
        return schema
    written: dict[str, Json] = {}
    for word, value in schema.items():
        if word in {"properties", "$defs"} and isinstance(value, Mapping):
            written[word] = {name: _as_strict(inner) for name, inner in value.items()}
        elif word == "anyOf" and isinstance(value, list):
            written[word] = [_as_strict(inner) for inner in value]
        elif word != ANNOTATION and (word, value) != ("format", "int32"):
            written[word] = _as_strict(value) if word == "items" else value
    return written


FILE_NAME: Final = "tools.json"

_TOO_MANY_TOOLS: Final = Loss(
    finding_code(
        "too-many-tools", "The vendor's API refuses a list of so many tools; give it some of them", __name__
    ),
    Level.IMPOSSIBLE,
    "the list has {count} tools; the API takes {most} at once",
    "send the tools that a conversation needs",
)

_Facts = Mapping[str, Json]
_Tool = dict[str, Json]


def write(provider: Provider, dialect: DialectTable) -> Writing:
    """Write a provider as the `tools` of a request, or as the request that it was read from.

    Raises:
        WriteError: the dialect is not written.
    """
    if dialect.capacity is None:
        raise WriteError(f"{FORMAT_ID}+{dialect.id} is not written")
    is_same_dialect = provider.protocol == FORMAT_ID and provider.dialect == dialect.id
    capacity = _own_capacity(dialect.capacity) if is_same_dialect else dialect.capacity
    reported: list[Finding] = []
    changed = provider
    if not is_same_dialect:
        # Facts of another vendor's list.
        changed = without_own_facts(provider, TABLES, lambda _: True, reported)
    fitted = fit_provider(changed, capacity, FORMAT_ID, dialect.id)
    written = _with_schema_objects(fitted.provider, reported)
    findings = (*reported, *fitted.findings)
    if provider.protocol != FORMAT_ID:
        written, added = add_discriminators(written, fitted.names)
        findings = (*findings, *added)
    if dialect.id == OPENAI_STRICT:
        written, findings = make_strict(provider, written, findings)
    findings = (*findings, *_count(written, dialect))
    artifact = Artifact(FILE_NAME, readable_json(_document(written, dialect.id)) + "\n", "document")
    return Writing((artifact,), written, findings, fitted.names)


def _own_capacity(capacity: Capacity) -> Capacity:
    """Return what a list carries of a list of the same dialect: all that the reader found."""
    everything = TABLES.dialects[0].capacity
    if everything is None:
        raise AssertionError(TABLES.dialects[0].id)
    return everything.changed(
        {
            "extensions": everything.extensions | {NAMESPACE, NOTATION},
            "input_shape": "any",
            "output_shape": capacity.output_shape,
            "most_description": capacity.most_description,
            "top_words_excluded": frozenset(),
            "alike_dialects": None,
        }
    )


def _count(provider: Provider, dialect: DialectTable) -> tuple[Finding, ...]:
    most, count = dialect.most_capabilities, len(provider.capabilities)
    if most is None or count <= most:
        return ()
    return (_TOO_MANY_TOOLS.finding("/capabilities", source=provider.source, count=count, most=most),)


def _with_schema_objects(provider: Provider, reported: list[Finding]) -> Provider:
    """Return a provider whose outputs are JSON objects as schemas, not `true` or `false`."""
    capabilities = tuple(
        _with_schema_object(capability, f"/capabilities/{position}/output", reported)
        for position, capability in enumerate(provider.capabilities)
    )
    return provider.changed({"capabilities": capabilities})


def _with_schema_object(capability: Capability, pointer: str, reported: list[Finding]) -> Capability:
    output = capability.output
    if not isinstance(output, AnyType) or output.boolean is None:
        return capability
    keywords: dict[str, Json] = {} if output.boolean else {"not": {}}
    leaves = ("boolean", *(f"keywords/{word}" for word in keywords))
    reported += [_SCHEMA_OBJECT.finding(f"{pointer}/{leaf}") for leaf in leaves]
    return capability.changed({"output": output.changed({"boolean": None, "keywords": keywords})})


def _document(provider: Provider, dialect_id: str) -> Json:
    facts = provider.extensions.get(FORMAT_ID, {})
    write_tool = _TOOLS[dialect_id]
    tools: list[Json] = [
        write_tool(_common(capability), capability, provider) for capability in provider.capabilities
    ]
    if dialect_id == GEMINI and tools:
        tools = [{"functionDeclarations": tools}]
    if not facts:
        return tools
    return {**{pointer_name(fact[1:]): value for fact, value in facts.items()}, "tools": tools}


def _common(capability: Capability) -> _Tool:
    described = {} if capability.description is None else {"description": capability.description}
    return {"name": capability.id, **described}


def _facts_of(capability: Capability) -> _Facts:
    return capability.extensions.get(FORMAT_ID, {})


def _schema(type_: Type, provider: Provider) -> Json:
    return write_schema(type_, provider.definitions)


def _write_openai(tool: _Tool, capability: Capability, provider: Provider) -> _Tool:
    written = {"type": "function", **tool, "parameters": _schema(capability.input, provider), "strict": False}
    if capability.output is not None:
        written["output_schema"] = _schema(capability.output, provider)
    return {**written, **_facts_of(capability)}


def _write_openai_strict(tool: _Tool, capability: Capability, provider: Provider) -> _Tool:
    if not is_strict(capability, provider.definitions):
        return _write_openai(tool, capability, provider)
    schema = _as_strict(write_schema(capability.input, provider.definitions))
    return {"type": "function", **tool, "parameters": schema, "strict": True}


def _write_openai_chat(tool: _Tool, capability: Capability, provider: Provider) -> _Tool:
    facts = dict(_facts_of(capability))
    wrapper: Any = facts.pop("wrapper", {})
    function = {**tool, "parameters": _schema(capability.input, provider), **facts}
    return {"type": "function", "function": function, **wrapper}


def _write_anthropic(tool: _Tool, capability: Capability, provider: Provider) -> _Tool:
    return {
        **tool,
        "input_schema": _schema(capability.input, provider),
        **_facts_of(capability),
    }


def _write_gemini(tool: _Tool, capability: Capability, provider: Provider) -> _Tool:
    written = {**tool, "parametersJsonSchema": _schema(capability.input, provider)}
    if capability.output is not None:
        written["responseJsonSchema"] = _schema(capability.output, provider)
    return {**written, **_facts_of(capability)}


_TOOLS: Final[Mapping[str, Callable[[_Tool, Capability, Provider], _Tool]]] = {
    OPENAI: _write_openai,
    OPENAI_STRICT: _write_openai_strict,
    OPENAI_CHAT: _write_openai_chat,
    ANTHROPIC: _write_anthropic,
    GEMINI: _write_gemini,
}

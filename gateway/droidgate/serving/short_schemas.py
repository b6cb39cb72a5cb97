"""JSON Schemas in fewer bytes, as `tools/list` has them.

A client gets the list before it calls anything, and most give it to their model. What only our own readers
use is left out; so are the texts of outputs, which stay in the declaration that is a resource. Arguments and
results are checked by droidgate, so the bounds of 32-bit integers are left out; all else that clients check
stays.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Set as AbstractSet
from typing import Any, Final

from droidgate_mappings.json_schema.schema_words import ANNOTATION
from droidgate_mappings.model.json_values import pointer_token

BY_NAME: Final = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
"""Keywords whose value has a schema by each name."""

_HOLDING: Final = BY_NAME | {
    *("allOf", "anyOf", "oneOf", "not", "if", "then", "else"),
    *("items", "prefixItems", "additionalItems", "unevaluatedItems", "contains"),
    *("additionalProperties", "unevaluatedProperties", "propertyNames", "contentSchema"),
}
"""Keywords that hold schemas; the value of any other is left as it is."""

_TEXTS: Final = frozenset({"title", "description", "$comment"})
_ANNOTATIONS: Final = _TEXTS | {"default", "examples", "deprecated", "readOnly", "writeOnly"}
_OWN_PLACES: Final = frozenset(
    {"$schema", "$id", "$anchor", "$dynamicAnchor", "$dynamicRef", "$recursiveAnchor", "$recursiveRef"}
)
"""With one of them a reference may mean something else once a definition has another place."""
_BOUNDS: Final = {"minimum": -(1 << 31), "maximum": (1 << 31) - 1}
_PLACED_WITH: Final = _ANNOTATIONS | {"type", "$defs"}
"""What may be next to a reference that its definition takes the place of."""
_OBJECT_WORDS: Final = {"type", "properties", "required"} | _TEXTS
_SHORT_NAME: Final = re.compile(r"[A-Za-z0-9_$-]+")
_DEFINITIONS: Final = "#/$defs/"
_MOST_PLACED: Final = 32
_DEEPEST: Final = 32
"""No definition is placed where a schema would become deeper: clients limit how deep JSON is."""

Schema = dict[str, Any]


def short_input(schema: Schema) -> Schema:
    """Return the schema of a tool's arguments with all texts, and without the bounds of 32-bit integers."""
    return _shorten_schema(schema, frozenset({ANNOTATION}))


def short_output(schema: Schema) -> Schema:
    """Return the schema of a tool's result without annotations and the bounds of 32-bit integers."""
    return _shorten_schema(schema, _ANNOTATIONS | {ANNOTATION})


def _shorten_schema(schema: Schema, left_out: AbstractSet[str]) -> Schema:
    def shorten(part: Schema) -> Schema:
        names = left_out | {"format", *_BOUNDS} if _is_int32(part) else left_out
        return {name: value for name, value in part.items() if name not in names}

    return _with_short_definitions(_rewrite(schema, shorten))


def _is_int32(part: Schema) -> bool:
    return part.get("type") == "integer" and all(part.get(name) == bound for name, bound in _BOUNDS.items())


def _rewrite(value: Any, change: Callable[[Schema], Schema], *, by_name: bool = False) -> Any:
    """Return a schema in which each part is changed, the innermost first."""
    if isinstance(value, list):
        return [_rewrite(item, change) for item in value]
    if not isinstance(value, dict):
        return value
    if by_name:
        return {name: _rewrite(item, change) for name, item in value.items()}
    parts = {
        name: _rewrite(item, change, by_name=name in BY_NAME) if name in _HOLDING else item
        for name, item in value.items()
    }
    return change(parts)


def _parts(value: Any, *, by_name: bool = False) -> Iterator[Mapping[str, Any]]:
    """Yield a schema and all schemas in it."""
    if isinstance(value, list):
        for item in value:
            yield from _parts(item)
    elif isinstance(value, dict):
        if not by_name:
            yield value
        for name, item in value.items():
            if by_name or name in _HOLDING:
                yield from _parts(item, by_name=not by_name and name in BY_NAME)


def _with_short_definitions(schema: Schema) -> Schema:
    """Return a schema whose definitions have short names; one that is used once is where it is used."""
    definitions = schema.get("$defs", {})
    references = {name: f"{_DEFINITIONS}{pointer_token(name)}" for name in definitions}
    parts = list(_parts(schema))
    uses = Counter(str(part["$ref"]) for part in parts if "$ref" in part)
    is_known = uses.keys() <= set(references.values()) and uses.total() == _references_in(schema)
    if not is_known or any(
        part.keys() & _OWN_PLACES or (part is not schema and "$defs" in part) for part in parts
    ):
        return schema
    once = [name for name, reference in references.items() if uses[reference] == 1]
    for name in once[:_MOST_PLACED]:
        schema = _with_placed(schema, name, references[name])
    schema = _rewrite(schema, _merge_all_of)
    repeated = schema.get("$defs", {})
    short = dict(zip((references[name] for name in repeated), _short_names(repeated), strict=True))

    def rename(part: Schema) -> Schema:
        if "$ref" not in part:
            return part
        return {**part, "$ref": _DEFINITIONS + pointer_token(short[part["$ref"]])}

    new_definitions = {short[references[name]]: definition for name, definition in repeated.items()}
    renamed: Schema = _rewrite({**schema, "$defs": new_definitions} if new_definitions else schema, rename)
    return renamed


def _references_in(value: Any) -> int:
    """Return how many references are anywhere in a schema, also in keywords that are left as they are."""
    if isinstance(value, list):
        return sum(map(_references_in, value))
    if not isinstance(value, dict):
        return 0
    return ("$ref" in value) + sum(map(_references_in, value.values()))


def _with_placed(schema: Schema, name: str, reference: str) -> Schema:
    """Return a schema with a definition in place of the one reference to it, if the values stay the same."""
    definition = schema["$defs"][name]
    if not isinstance(definition, dict) or any(part.get("$ref") == reference for part in _parts(definition)):
        return schema
    is_placed = False

    def place(part: Schema) -> Schema:
        nonlocal is_placed
        rest = {key: value for key, value in part.items() if key != "$ref"}
        if part.get("$ref") != reference or not rest.keys() <= _PLACED_WITH:
            return part
        if "type" in rest and rest["type"] != definition.get("type", rest["type"]):
            return part
        is_placed = True
        return {**definition, **rest}

    others = {definition: item for definition, item in schema["$defs"].items() if definition != name}
    rest = {key: value for key, value in schema.items() if key != "$defs"}
    placed: Schema = _rewrite({**rest, "$defs": others} if others else rest, place)
    if not is_placed:
        return schema
    height = _height(placed)
    return placed if height <= _DEEPEST or height <= _height(schema) else schema


def _height(value: Any) -> int:
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + max(map(_height, items), default=0)


def _short_names(names: Iterable[str]) -> list[str]:
    """Return the last parts of names (`a.b.Note`), or the names where two would be the same."""
    every = list(names)
    last = [name.rpartition(".")[2] for name in every]
    is_short = len(set(last)) == len(last) and all(map(_SHORT_NAME.fullmatch, last))
    return last if is_short else every


def _merge_all_of(part: Schema) -> Schema:
    """Return one object in place of `allOf` with objects that have no member in common."""
    members = part.get("allOf")
    if not isinstance(members, list) or not part.keys() <= {"allOf"} | _ANNOTATIONS:
        return part
    if not all(map(_is_plain_object, members)):
        return part
    properties = [item for member in members for item in member.get("properties", {}).items()]
    required = [name for member in members for name in member.get("required", ())]
    if len(dict(properties)) < len(properties):
        return part
    texts = {name: value for member in reversed(members) for name, value in member.items() if name in _TEXTS}
    rest = {name: value for name, value in part.items() if name != "allOf"}
    merged = {"type": "object", "properties": dict(properties), "required": list(dict.fromkeys(required))}
    return {**merged, **texts, **rest}


def _is_plain_object(member: Any) -> bool:
    return (
        isinstance(member, dict)
        and member.keys() <= _OBJECT_WORDS
        and member.get("type") == "object"
        and isinstance(member.get("properties", {}), dict)
        and isinstance(member.get("required", []), list)
    )

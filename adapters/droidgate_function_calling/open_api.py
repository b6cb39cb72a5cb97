"""Gemini's `Schema`, a part of OpenAPI 3.0's schema object, as JSON Schema."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from droidgate_mappings.json_schema import Schema
from droidgate_mappings.model.json_values import Json

_UNSPECIFIED: Final = "TYPE_UNSPECIFIED"
_TYPES: Final = frozenset({"STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL"})
_COUNTS: Final = frozenset(
    {"minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties"}
)
"""64-bit integers, which Google's JSON writes as strings."""
_ENUM_FORMAT: Final = "enum"
_DIGITS: Final = re.compile(r"-?[0-9]{1,19}")
_MAPS: Final = frozenset({"properties", "defs", "$defs"})
_LISTS: Final = frozenset({"anyOf", "any_of"})
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
    if word in _MAPS and isinstance(value, Mapping):
        return {name: to_json_schema(inner) for name, inner in value.items()}
    if word in _LISTS and isinstance(value, list):
        return [to_json_schema(inner) for inner in value]
    if word in {"items", "additionalProperties"}:
        return to_json_schema(value)
    if word in _COUNTS and isinstance(value, str) and _DIGITS.fullmatch(value):
        return int(value)
    return value


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

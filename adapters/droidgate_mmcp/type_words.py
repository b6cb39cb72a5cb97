"""Maps from a name to a type word: a broadcast's flat parameters and a draft's `return` (rows M37, M38)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeGuard

from droidgate_mappings.json_schema import ANNOTATION, Schema
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.model.types import (
    SCALAR_KINDS,
    AnyType,
    ArrayType,
    ObjectType,
    Property,
    ScalarType,
    Type,
)
from droidgate_mmcp.format import FORMAT_ID, TABLES

WORD_OF_KIND: Final = TABLES.words.write
KIND_OF_WORD: Final = TABLES.words.read

FORM_NOTE: Final[Mapping[str, Json]] = {ANNOTATION: {"form": "schema"}}
"""Says of parameters that look like an empty or flat map that they are a JSON Schema all the same."""

_NARROWER_WORDS: Final = frozenset({"byte", "short", "char"})
"""Known words that name fewer values than the type they are read as."""

_BLANKS: Final[Mapping[str, Type]] = {"array": ArrayType(), "object": ObjectType(), "any": AnyType()}


def looks_like_schema(value: Mapping[str, Json]) -> bool:
    """Return whether a map is a JSON Schema by its own words, not a map of type words (row M37)."""
    return (
        isinstance(value.get("properties"), Mapping)
        or value.get("type") == "object"
        or ("$schema" in value and not _is_word(value["$schema"]))
    )


def is_flat_map(value: Json) -> bool:
    """Return whether parameters are a map from a name to a type word (row M37)."""
    return (
        isinstance(value, Mapping)
        and bool(value)
        and not looks_like_schema(value)
        and all(map(_is_word, value.values()))
    )


def is_property_map(value: Json) -> TypeGuard[Mapping[str, Json]]:
    """Return whether parameters are a map from a name to a schema, not a schema themselves (row M37)."""
    return (
        isinstance(value, Mapping)
        and bool(value)
        and not looks_like_schema(value)
        and value.keys().isdisjoint(_SCHEMA_KEYWORDS)
        and all(isinstance(inner, Mapping) and _states_type(inner) for inner in value.values())
    )


def as_properties(value: Mapping[str, Json]) -> dict[str, Json]:
    """Return the schema of an object with these properties, none of them required."""
    return {"type": "object", "properties": value}


_SCHEMA_KEYWORDS: Final = frozenset(
    {"items", "additionalItems", "unevaluatedItems", "contains", "not", "if", "then", "else"}
    | {"additionalProperties", "unevaluatedProperties", "propertyNames", "patternProperties", "default"}
    | {"const", "definitions", "$defs", "dependentSchemas", "dependencies"}
)
"""Keywords of a schema whose value can be an object with a `type`."""


def _states_type(schema: Mapping[str, Json]) -> bool:
    word = schema.get("type")
    return _is_word(word) or (isinstance(word, list) and bool(word) and all(map(_is_word, word)))


def _is_word(value: Json) -> bool:
    return isinstance(value, str) and value.lower() in KIND_OF_WORD


def without_form_note(schema: Schema) -> Schema:
    """Return a schema without the note that it is one."""
    if isinstance(schema, bool) or schema.get(ANNOTATION) != FORM_NOTE[ANNOTATION]:
        return schema
    return {word: value for word, value in schema.items() if word != ANNOTATION}


def read_word_map(value: Mapping[str, Json], *, capital: bool = False) -> ObjectType:
    """Read a map from a name to a type word; each name is required.

    Args:
        value: The map. What is not a type word becomes a value of any type, and is kept as it is.
        capital: The map's own words have a capital, as a draft's `return` has.
    """
    return ObjectType(
        properties={name: _read_property(word, capital=capital) for name, word in value.items()}
    )


def write_word_map(object_type: ObjectType, *, capital: bool = False) -> dict[str, Json]:
    """Write an object as a map from a name to a type word: the inverse of `read_word_map`."""
    return {
        name: _write_word(property_, capital=capital) for name, property_ in object_type.properties.items()
    }


def _read_property(word: Json, *, capital: bool) -> Property:
    kind = KIND_OF_WORD.get(word.lower()) if isinstance(word, str) else None
    if kind is None:
        return _property(AnyType(), {"declared": word})
    usual = _usual_word(kind, capital=capital)
    type_ = ScalarType(kind=kind) if kind in SCALAR_KINDS else _BLANKS[kind]  # type: ignore[arg-type]
    return _property(type_, {} if word == usual else {_word_fact(word): word})


def _word_fact(word: str) -> str:
    """Return the fact that holds an unusual type word, by whether it means the type of the usual word."""
    return "declared" if word.lower() in _NARROWER_WORDS else "word-as-written"


def _property(type_: Type, facts: dict[str, Any]) -> Property:
    return Property(type=type_, required=True, extensions={FORMAT_ID: facts} if facts else {})


def _write_word(property_: Property, *, capital: bool) -> Json:
    facts = property_.extensions.get(FORMAT_ID, {})
    stated = (facts[fact] for fact in ("declared", "word-as-written") if fact in facts)
    return next(stated, _usual_word(property_.type.kind, capital=capital))


def _usual_word(kind: str, *, capital: bool) -> str:
    word = WORD_OF_KIND[kind]
    return word.capitalize() if capital else word

"""The level of each kind of loss, by the values that the target accepts (docs/concepts/levels.md).

A target that accepts more than the source is `widened`, one that accepts fewer is `narrowed`, also where a
description names the limit. Texts and annotations that are now in a description are `moved`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from droidgate_mappings.json_schema.words import NOTATION, UNSTATED_BOUNDS
from droidgate_mappings.model.findings import Level
from droidgate_mappings.model.json_values import Json, json_equal
from droidgate_mappings.model.types import (
    SCALAR_KINDS,
    AllOfType,
    AnyType,
    ArrayType,
    ObjectType,
    OneOfType,
    RefType,
    ScalarType,
    Type,
)

ASSERTIONS: Final = frozenset(
    {
        "$dynamicRef",
        "$recursiveRef",
        "$ref",
        "additionalItems",
        "additionalProperties",
        "allOf",
        "anyOf",
        "const",
        "contains",
        "dependencies",
        "dependentRequired",
        "dependentSchemas",
        "else",
        "enum",
        "exclusiveMaximum",
        "exclusiveMinimum",
        "if",
        "items",
        "maxContains",
        "maxItems",
        "maxLength",
        "maxProperties",
        "maximum",
        "minContains",
        "minItems",
        "minLength",
        "minProperties",
        "minimum",
        "multipleOf",
        "not",
        "oneOf",
        "pattern",
        "patternProperties",
        "prefixItems",
        "properties",
        "propertyNames",
        "required",
        "then",
        "type",
        "unevaluatedItems",
        "unevaluatedProperties",
        "uniqueItems",
    }
)
"""The keywords of JSON Schema that decide which values are accepted."""

SHOWN_ANNOTATIONS: Final = frozenset(
    {"contentEncoding", "contentMediaType", "default", "deprecated", "examples"}
)
"""Annotations that help a caller to choose a value."""

_SPELLINGS: Final = frozenset({"$schema", "$vocabulary"})
CLOSING: Final = frozenset(
    {"additionalProperties", "unevaluatedProperties", "additionalItems", "unevaluatedItems"}
)
"""Keywords that, as a boolean, only say whether what is not declared is allowed."""

_NO_LIMIT: Final[Mapping[str, Json]] = {
    "additionalItems": True,
    "additionalProperties": True,
    "dependentRequired": {},
    "dependentSchemas": {},
    "minContains": 1,
    "minItems": 0,
    "minLength": 0,
    "minProperties": 0,
    "patternProperties": {},
    "required": [],
    "unevaluatedItems": True,
    "unevaluatedProperties": True,
    "uniqueItems": False,
}
"""Values of keywords that allow everything, as if the keyword were missing."""


_FORMS: Final[Mapping[str, type]] = {
    **dict.fromkeys(("allOf", "anyOf", "enum", "oneOf", "required"), list),
    **dict.fromkeys(("patternProperties", "properties"), dict),
}
"""Keywords that people write with a value of another form, and the form that validators read."""


@dataclass(frozen=True, slots=True)
class KeywordLoss:
    """What the loss of one keyword means.

    Attributes:
        level: `renamed` where the schema means the same without it, `moved` for an annotation that goes into
            a description, `widened` for a limit, `dropped` for everything else.
        is_shown: A description tells callers of it.
    """

    level: Level
    is_shown: bool


_SPELLING: Final = KeywordLoss(Level.RENAMED, is_shown=False)
_HIDDEN_LIMIT: Final = KeywordLoss(Level.WIDENED, is_shown=False)
_LIMIT: Final = KeywordLoss(Level.WIDENED, is_shown=True)
_ANNOTATION: Final = KeywordLoss(Level.MOVED, is_shown=True)
_GONE: Final = KeywordLoss(Level.DROPPED, is_shown=False)


def keyword_loss(type_: Type, keyword: str, value: Json) -> KeywordLoss:
    """Return what it means that a type loses a keyword that the algebra does not model."""
    if keyword in _SPELLINGS or _is_spelling(type_, keyword, value) or _is_no_limit(keyword, value):
        return _SPELLING
    if keyword in CLOSING and isinstance(value, bool):
        return _HIDDEN_LIMIT
    if keyword in ASSERTIONS:
        # Validators do not act on `required: true` and its like; people mean something by it.
        form = _FORMS.get(keyword)
        return _LIMIT if form is None or isinstance(value, form) else _ANNOTATION
    return _ANNOTATION if keyword in SHOWN_ANNOTATIONS else _GONE


def _is_no_limit(keyword: str, value: Json) -> bool:
    is_neutral = keyword in _NO_LIMIT and json_equal(value, _NO_LIMIT[keyword])
    return is_neutral or (keyword in CLOSING and value == {})


def _is_spelling(type_: Type, keyword: str, value: Json) -> bool:
    """Return whether a kept keyword only spells what the type itself says; others (`required: true`, a list
    of `items`, alternatives next to a type, a name that is not a property) say more.
    """
    if keyword in {"$ref", "anyOf"}:
        return isinstance(type_, RefType)
    if keyword == "type":
        return isinstance(type_, ScalarType | ArrayType | ObjectType | RefType)
    if keyword == "properties":
        return isinstance(type_, ObjectType) and value == {}
    if keyword == "required":
        return (
            isinstance(type_, ObjectType)
            and isinstance(value, list)
            and type_.properties.keys() >= _texts(value)
        )
    return keyword == "enum" and isinstance(value, list) and not isinstance(type_, AnyType)


def _texts(values: list[Json]) -> set[Json]:
    """Return a list's members to compare with names; what is not a text equals none."""
    return {value if isinstance(value, str) else None for value in values}


def is_without_bounds(type_: Type) -> bool:
    """Return whether a JSON Schema calls an integer `int32` and does not state the bounds, so that it accepts
    other integers too.
    """
    return type_.kind == "int32" and bool(type_.extensions.get(NOTATION, {}).get(UNSTATED_BOUNDS))


_WIDER_SCALARS: Final[Mapping[str, frozenset[str]]] = {
    "int32": frozenset({"int64", "float", "double"}),
    "int64": frozenset({"double"}),
    "float": frozenset({"double"}),
    "bytes": frozenset({"string"}),
}
"""Kind -> the kinds that accept each of its values, and more."""


def kind_level(type_: Type, written: str, resolve: Callable[[Type], Type]) -> Level:
    """Return the level of writing a type as another kind, without facts.

    Args:
        type_: The type.
        written: The kind that is written.
        resolve: Returns the type behind references and choices of one.
    """
    if written == "int64" and is_without_bounds(type_):
        return Level.RENAMED
    type_ = resolve(type_)
    if written == "any" or (isinstance(type_, AnyType) and type_.boolean is False):
        return Level.WIDENED
    if type_.kind == written or written in _WIDER_SCALARS.get(type_.kind, ()):
        return Level.WIDENED
    if isinstance(type_, OneOfType | AllOfType):
        inner = [
            resolve(each) for each in (type_.alternatives if isinstance(type_, OneOfType) else type_.members)
        ]
        fits = [each.kind == written or written in _WIDER_SCALARS.get(each.kind, ()) for each in inner]
        if inner and (all(fits) if isinstance(type_, OneOfType) else any(fits)):
            return Level.WIDENED
    return Level.NARROWED


def implicit_level(type_: Type) -> Level:
    """Return the level of naming the type of a schema that has no `type`.

    A list of texts as enum has the same meaning; an object or array without `type` also accepts every value
    of another type.
    """
    return Level.NARROWED if isinstance(type_, ObjectType | ArrayType) else Level.RENAMED


def are_disjoint(types: Sequence[Type]) -> bool:
    """Return whether no value can be of two of the types: scalars, arrays and objects of different JSON
    types.
    """
    words = [_JSON_TYPES.get(type_.kind) for type_ in types]
    return None not in words and len(set(words)) == len(words) and not any(type_.nullable for type_ in types)


_JSON_TYPES: Final[Mapping[str, str]] = {
    **{kind: kind for kind in SCALAR_KINDS},
    "int32": "number",
    "int64": "number",
    "float": "number",
    "double": "number",
    "bytes": "string",
    "array": "array",
    "object": "object",
}


def is_usual_format(type_: Type, word: Json) -> bool:
    """Return whether a `format` only repeats the kind of a number, such as `int64`."""
    return type_.kind == word and word in _NUMBER_FORMATS


_NUMBER_FORMATS: Final = frozenset({"int32", "int64", "float", "double"})


def structure_level(field: tuple[str, ...], value: Json) -> Level:
    """Return the level of a leaf of a type whose whole structure is lost, and is in a description.

    Args:
        field: The leaf within its type or property (`leaf_field`); keywords and extensions have levels of
            their own.
        value: Its value.
    """
    name = field[0]
    if name in {"description", "format", "nullable"} or (name == "required" and value is False):
        return Level.MOVED
    if name == "kind" and value == "any":
        return Level.MOVED
    return Level.RENAMED if name == "implicit" else Level.WIDENED

"""Types on their way into a route table: what the engine and the shim's descriptor both can say.

The engine names an output by the word of its type, references followed. The descriptor's writer names a
reference as an object. So the types of parameters and outputs are never references here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Final

from droidgate_mappings.model.capability import child_types, stated_fields, with_parts
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.model.types import (
    AnyType,
    Definitions,
    Frozen,
    ObjectType,
    OneOfType,
    RefType,
    Type,
)
from droidgate_mappings.text_safety import without_hidden

_MAX_NUMBER_CHARACTERS: Final = 32
_MAX_EXPONENT: Final = 999
_MAX_KEYS: Final = 1_024
_MAX_DEPTH: Final = 400
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_LONG: Final = range(-(1 << 63), 1 << 63)
_LARGEST_DOUBLE: Final = Decimal("1.7976931348623157E+308")
_NOT_IN_ROUTES: Final = frozenset({"extensions", "description", "format", "implicit"})
"""Facts of a type that decide nothing in a call."""


def resolved(type_: Type, definitions: Definitions) -> Type:
    """Return the type behind references and choices of one; it may be null where one on the way may.

    A reference that leads nowhere is any value, one that goes in a circle stays.
    """
    seen: set[str] = set()
    nullable, description = type_.nullable, type_.description
    while True:
        if isinstance(type_, RefType) and type_.name not in seen:
            seen.add(type_.name)
            type_ = definitions.get(type_.name, AnyType())
        elif isinstance(type_, OneOfType) and len(type_.alternatives) == 1:
            type_ = type_.alternatives[0]
        else:
            break
        nullable = nullable or type_.nullable
        description = description or type_.description
    nullable = nullable and not isinstance(type_, AnyType)
    return type_.changed({"nullable": nullable, "description": description})


def with_resolved_properties(object_type: ObjectType, definitions: Definitions) -> ObjectType:
    """Return an object whose properties are not references."""
    properties = {
        name: property_.changed({"type": resolved(property_.type, definitions)})
        for name, property_ in object_type.properties.items()
    }
    return object_type.changed({"properties": properties})


def without_dangling(type_: Type, definitions: Definitions) -> Type:
    """Return a type whose references lead to definitions; others are any value."""
    if isinstance(type_, RefType):
        return type_ if type_.name in definitions else AnyType(description=type_.description)
    return with_parts(type_, lambda part, _: without_dangling(part, definitions))


def without_hidden_texts(type_: Type) -> Type:
    """Return a type whose descriptions, inside too, hold no characters that people cannot see."""
    bare = with_parts(type_, lambda part, _: without_hidden_texts(part))
    return (
        bare if bare.description is None else bare.changed({"description": without_hidden(bare.description)})
    )


def dangling_references(types: Iterable[Type], definitions: Definitions) -> set[str]:
    """Return the names that types refer to and nothing defines, directly or through definitions."""
    missing: set[str] = set()
    seen: set[str] = set()
    pending = list(types)
    while pending:
        type_ = pending.pop()
        if not isinstance(type_, RefType):
            pending.extend(child_types(type_))
        elif type_.name not in definitions:
            missing.add(type_.name)
        elif type_.name not in seen:
            seen.add(type_.name)
            pending.append(definitions[type_.name])
    return missing


def renamed_references(type_: Type, names: Mapping[str, str]) -> Type:
    """Return a type whose references have the names that definitions got."""
    if isinstance(type_, RefType):
        return type_.changed({"name": names.get(type_.name, type_.name)})
    return with_parts(type_, lambda part, _: renamed_references(part, names))


def type_json(frozen: Frozen) -> dict[str, Json]:
    """Return a type as routes.json holds it: the model's own fields, defaults left out, members in order."""
    return stated_fields(
        frozen, _NOT_IN_ROUTES, lambda value: Decimal(repr(value)) if isinstance(value, float) else value
    )


def engine_refuses(value: Json, depth: int = 0) -> str | None:
    """Return why the engine's JSON reader would refuse a part of a route table, None where it takes it.

    Its limits: shim-engine.md 1.
    """
    if isinstance(value, str):
        return "a text holds half of a surrogate pair" if _SURROGATE.search(value) else None
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int):
        return None if value in _LONG else f"the number {str(value)[:40]} does not fit 64 bits"
    if isinstance(value, Decimal):
        return None if _fits_a_number(value) else f"the number {str(value)[:40]} has too many digits"
    if depth >= _MAX_DEPTH:
        return "its types are nested too deep"
    if isinstance(value, dict) and len(value) > _MAX_KEYS:
        return f"an object of its types has more than {_MAX_KEYS} members"
    parts = [*value, *value.values()] if isinstance(value, dict) else value
    return next((reason for part in parts if (reason := engine_refuses(part, depth + 1))), None)


def _fits_a_number(value: Decimal) -> bool:
    exponent = value.adjusted()
    return (
        len(str(value)) <= _MAX_NUMBER_CHARACTERS
        and abs(value) <= _LARGEST_DOUBLE
        and abs(exponent) <= _MAX_EXPONENT
    )

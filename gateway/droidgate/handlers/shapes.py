"""Declared types as compact JSON that generated code checks values against."""

from __future__ import annotations

from typing import Any, Final

from droidgate.model.capability import Provider
from droidgate.model.json_values import Json
from droidgate.model.types import (
    AllOfType,
    ArrayType,
    ObjectType,
    OneOfType,
    OpaqueType,
    RefType,
    Type,
)

_LIMITS: Final = (
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
)


def write_shapes(provider: Provider) -> dict[str, Json]:
    """Return the types of a provider's capabilities and definitions.

    Returns:
        `capabilities` (id -> `input`, and `output` where one is declared) and `definitions` (name -> shape).
        A shape has `kind` and, where they are stated, `nullable`, `enum`, `class`, `items`, `properties`,
        `required`, `closed` (nothing else is allowed), `members`, `alternatives`, `name` (of a reference) and
        JSON Schema's limits. Patterns are left out: regular expressions differ between languages.
    """
    capabilities: dict[str, Json] = {}
    for capability in provider.capabilities:
        declared: dict[str, Json] = {"input": write_input_shape(capability.input)}
        if capability.output is not None:
            declared["output"] = write_shape(capability.output)
        capabilities[capability.id] = declared
    definitions = {name: write_shape(one) for name, one in provider.definitions.items()}
    return {"capabilities": capabilities, "definitions": definitions}


def takes_more(one: Type) -> bool:
    """Tell whether a call takes arguments that are not among the declared properties."""
    return not isinstance(one, ObjectType) or one.keywords.get("additionalProperties", False) is not False


def write_input_shape(one: Type) -> dict[str, Json]:
    """Return the shape of a capability's arguments; undeclared ones are refused unless asked for."""
    shape = write_shape(one)
    if not takes_more(one):
        shape["closed"] = True
    return shape


def write_shape(one: Type) -> dict[str, Json]:
    """Return the shape of a type."""
    shape: dict[str, Json] = {"kind": one.kind}
    if one.nullable:
        shape["nullable"] = True
    if one.enum is not None:
        shape["enum"] = list(one.enum)
    shape.update({name: one.keywords[name] for name in _LIMITS if _is_number(one.keywords.get(name))})
    shape.update(_structure(one))
    return shape


def _is_number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _structure(one: Type) -> dict[str, Any]:
    if isinstance(one, ObjectType):
        return _object_structure(one)
    if isinstance(one, ArrayType):
        return {} if one.items is None else {"items": write_shape(one.items)}
    if isinstance(one, AllOfType):
        return {"members": [write_shape(member) for member in one.members], **_class(one)}
    if isinstance(one, OneOfType):
        return {"alternatives": [write_shape(alternative) for alternative in one.alternatives], **_class(one)}
    if isinstance(one, RefType):
        return {"name": one.name}
    if isinstance(one, OpaqueType) and one.class_name is not None:
        return {"class": one.class_name}
    return {}


def _object_structure(one: ObjectType) -> dict[str, Any]:
    structure: dict[str, Any] = {}
    if one.properties:
        structure["properties"] = {name: write_shape(held.type) for name, held in one.properties.items()}
    required = [name for name, held in one.properties.items() if held.required]
    if required:
        structure["required"] = required
    if one.keywords.get("additionalProperties") is False:
        structure["closed"] = True
    return {**structure, **_class(one)}


def _class(one: ObjectType | AllOfType | OneOfType) -> dict[str, str]:
    return {} if one.qualified_name is None else {"class": one.qualified_name}

"""Declared types as compact JSON that generated code checks values against."""

from __future__ import annotations

from typing import Any, Final

from droidgate_mappings.model.capability import Provider
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.model.types import (
    AllOfType,
    ArrayType,
    ObjectType,
    OneOfType,
    OpaqueType,
    RefType,
    Type,
)

_LIMITS: Final = (
    "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minLength", "maxLength", "minItems",
    "maxItems",
)  # fmt: skip


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
    definitions = {name: write_shape(definition) for name, definition in provider.definitions.items()}
    return {"capabilities": capabilities, "definitions": definitions}


def takes_more(type_: Type) -> bool:
    """Return whether a call takes arguments that are not among the declared properties."""
    return not isinstance(type_, ObjectType) or type_.keywords.get("additionalProperties", False) is not False


def write_input_shape(type_: Type) -> dict[str, Json]:
    """Return the shape of a capability's arguments; undeclared ones are refused unless asked for."""
    shape = write_shape(type_)
    if not takes_more(type_):
        shape["closed"] = True
    return shape


def write_shape(type_: Type) -> dict[str, Json]:
    """Return the shape of a type."""
    shape: dict[str, Json] = {"kind": type_.kind}
    if type_.nullable:
        shape["nullable"] = True
    if type_.enum is not None:
        shape["enum"] = list(type_.enum)
    shape.update({name: type_.keywords[name] for name in _LIMITS if _is_number(type_.keywords.get(name))})
    shape.update(_structure(type_))
    return shape


def _is_number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _structure(type_: Type) -> dict[str, Any]:
    if isinstance(type_, ObjectType):
        return _object_structure(type_)
    if isinstance(type_, ArrayType):
        return {} if type_.items is None else {"items": write_shape(type_.items)}
    if isinstance(type_, AllOfType):
        return {"members": [write_shape(member) for member in type_.members], **_class(type_)}
    if isinstance(type_, OneOfType):
        return {
            "alternatives": [write_shape(alternative) for alternative in type_.alternatives],
            **_class(type_),
        }
    if isinstance(type_, RefType):
        return {"name": type_.name}
    if isinstance(type_, OpaqueType) and type_.class_name is not None:
        return {"class": type_.class_name}
    return {}


def _object_structure(object_type: ObjectType) -> dict[str, Any]:
    structure: dict[str, Any] = {}
    if object_type.properties:
        structure["properties"] = {
            name: write_shape(property_.type) for name, property_ in object_type.properties.items()
        }
    required = [name for name, property_ in object_type.properties.items() if property_.required]
    if required:
        structure["required"] = required
    if object_type.keywords.get("additionalProperties") is False:
        structure["closed"] = True
    return {**structure, **_class(object_type)}


def _class(type_: ObjectType | AllOfType | OneOfType) -> dict[str, str]:
    return {} if type_.qualified_name is None else {"class": type_.qualified_name}

"""Types of the capability model in short words, for tests that state or expect them."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from droidgate_mappings.model.capability import Capability, Provider
from droidgate_mappings.model.types import (
    AllOfType,
    ArrayType,
    ObjectType,
    OneOfType,
    Property,
    RefType,
    ScalarType,
    Type,
)


def _scalar(kind: Any) -> Callable[..., ScalarType]:
    return partial(ScalarType, kind=kind)


string, boolean, null, binary = map(_scalar, ("string", "boolean", "null", "bytes"))
int32, int64, float32, float64 = map(_scalar, ("int32", "int64", "float", "double"))


def required(type: Type, **facts: Any) -> Property:
    return Property(type=type, required=True, **facts)


def optional(type: Type, **facts: Any) -> Property:
    return Property(type=type, **facts)


def record(properties: Mapping[str, Property], **facts: Any) -> ObjectType:
    return ObjectType(properties=dict(properties), **facts)


def array(items: Type, **facts: Any) -> ArrayType:
    return ArrayType(items=items, **facts)


def ref(name: str, **facts: Any) -> RefType:
    return RefType(name=name, **facts)


def all_of(*members: Type, **facts: Any) -> AllOfType:
    return AllOfType(members=members, **facts)


def one_of(*alternatives: Type, **facts: Any) -> OneOfType:
    return OneOfType(alternatives=alternatives, **facts)


def any_of(*alternatives: Type, **facts: Any) -> OneOfType:
    return OneOfType(alternatives=alternatives, exclusive=False, **facts)


def properties_of(type: Type | None) -> dict[str, Property]:
    """Return the properties of an object; any other type fails the test."""
    assert isinstance(type, ObjectType), type
    return type.properties


def provider_of(*capabilities: Capability, **facts: Any) -> Provider:
    """Return a provider of the invented protocol `test`, if the facts name no other."""
    return Provider(**{"protocol": "test", "capabilities": capabilities, **facts})

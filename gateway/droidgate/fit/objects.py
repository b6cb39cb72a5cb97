"""Which types are objects, for targets whose root schemas have to be."""

from __future__ import annotations

from collections.abc import Mapping

from droidgate.model.types import AllOfType, AnyType, ObjectType, OneOfType, RefType, Type


def may_be_object(one: Type) -> bool:
    """Tell whether a type's schema can also say `type: object`: it says no other, and is no boolean."""
    if isinstance(one, AnyType):
        return one.boolean is None and one.keywords.get("type", "object") == "object"
    if isinstance(one, OneOfType) and len(one.alternatives) == 1:
        return may_be_object(one.alternatives[0])
    return isinstance(one, ObjectType | RefType | AllOfType | OneOfType)


def is_always_object(one: Type, definitions: Mapping[str, Type], seen: frozenset[str] = frozenset()) -> bool:
    """Tell whether every value of a type is an object.

    Args:
        one: The type.
        definitions: What its references mean.
        seen: Names of references that are being followed; a circle is no object.
    """
    if one.nullable:
        return False
    if isinstance(one, RefType):
        target = definitions.get(one.name) if one.name not in seen else None
        return target is not None and is_always_object(target, definitions, seen | {one.name})
    if isinstance(one, AllOfType):
        return any(is_always_object(member, definitions, seen) for member in one.members)
    if isinstance(one, OneOfType):
        return bool(one.alternatives) and all(
            is_always_object(inner, definitions, seen) for inner in one.alternatives
        )
    return one.kind == "object"


def is_record(one: Type, definitions: Mapping[str, Type], seen: frozenset[str] = frozenset()) -> bool:
    """Return whether a type is an object with declared properties, or is made of such objects only.

    Args:
        one: The type.
        definitions: What its references mean; one that is not declared counts as a record.
        seen: Names of the references on the way to it, which count as records.
    """
    if isinstance(one, RefType):
        target = definitions.get(one.name) if one.name not in seen else None
        return target is None or is_record(target, definitions, seen | {one.name})
    if isinstance(one, AllOfType | OneOfType):
        parts = one.members if isinstance(one, AllOfType) else one.alternatives
        return bool(parts) and all(is_record(part, definitions, seen) for part in parts)
    return isinstance(one, ObjectType) and bool(one.properties)

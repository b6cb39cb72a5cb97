"""What a note in a description says of a part that has no place of its own."""

from __future__ import annotations

from typing import Any

from droidgate.model.json_values import canonical_json
from droidgate.model.types import (
    AllOfType,
    ArrayType,
    ObjectType,
    OneOfType,
    OpaqueType,
    Property,
    Type,
)


def constraint_note(name: str, value: Any) -> str:
    """Return the note for an enum, a pattern or a format."""
    if name == "enum":
        return f"[One of: {', '.join(canonical_json(item) for item in value)}]"
    return f"[{name.capitalize()}: {value}]"


def without_extensions(one: Type) -> Type:
    """Return a type without facts of formats and class names, inside too."""
    changes: dict[str, Any] = {"extensions": {}}
    if isinstance(one, ObjectType):
        changes["properties"] = {
            name: Property(type=without_extensions(held.type), required=held.required)
            for name, held in one.properties.items()
        }
    elif isinstance(one, ArrayType) and one.items is not None:
        changes["items"] = without_extensions(one.items)
    elif isinstance(one, AllOfType):
        changes["members"] = tuple(map(without_extensions, one.members))
    elif isinstance(one, OneOfType):
        changes["alternatives"] = tuple(map(without_extensions, one.alternatives))
    if isinstance(one, ObjectType | AllOfType | OneOfType):
        changes["qualified_name"] = None
    if isinstance(one, OpaqueType):
        changes["class_name"] = None
    return one.changed(changes)

"""Results as their output schema requires them: AppFunctions leaves nulls out, JSON Schema does not."""

from __future__ import annotations

from collections.abc import Mapping

from droidgate_mappings.model.json_values import Json
from droidgate_mappings.model.types import ArrayType, ObjectType, Type
from droidgate_mappings.values.arguments import type_behind


def with_nulls(value: Json, declared: Type, definitions: Mapping[str, Type]) -> Json:
    """Return a value in which each property that is required, may be null and is absent, is null.

    Args:
        value: As `droidgate_mappings.values` fitted it.
        declared: What the capability declares.
        definitions: Its provider's.
    """
    behind = type_behind(declared, definitions)
    if isinstance(behind, ArrayType) and isinstance(value, list) and behind.items is not None:
        return [with_nulls(item, behind.items, definitions) for item in value]
    if not isinstance(behind, ObjectType) or not isinstance(value, Mapping):
        return value
    known = behind.properties
    completed: dict[str, Json] = {
        name: with_nulls(item, known[name].type, definitions) if name in known else item
        for name, item in value.items()
    }
    for name, member in known.items():
        may_be_null = member.type.nullable or type_behind(member.type, definitions).nullable
        if member.required and may_be_null and name not in completed:
            completed[name] = None
    return completed

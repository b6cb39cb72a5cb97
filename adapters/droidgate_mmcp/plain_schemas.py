"""Schemas that are plainly right: asking their meta-schema takes a thousand times as long."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from droidgate_mappings.model.json_values import Json

_TYPES: Final = frozenset({"array", "boolean", "integer", "null", "number", "object", "string"})


def is_plain_schema(schema: Json) -> bool:
    """Return whether a schema has only usual keywords (JSON Schema 2020-12), each with a value of its form.

    A schema that is not plain may be right too, and so may one of another draft.
    """
    if isinstance(schema, bool):
        return True
    if not isinstance(schema, dict):
        return False
    return all(word in _FORMS and _FORMS[word](value) for word, value in schema.items())


def _is_text(value: Json) -> bool:
    return isinstance(value, str)


def _is_type(value: Json) -> bool:
    return isinstance(value, str) and value in _TYPES


def _are_properties(value: Json) -> bool:
    return isinstance(value, dict) and all(map(is_plain_schema, value.values()))


def _are_names(value: Json) -> bool:
    return isinstance(value, list) and all(map(_is_text, value)) and len(set(value)) == len(value)


_FORMS: Final[dict[str, Callable[[Json], bool]]] = {
    "type": _is_type,
    "title": _is_text,
    "description": _is_text,
    "format": _is_text,
    "properties": _are_properties,
    "required": _are_names,
    "additionalProperties": is_plain_schema,
    "items": is_plain_schema,
    "enum": lambda value: isinstance(value, list),
    "default": lambda _: True,
}

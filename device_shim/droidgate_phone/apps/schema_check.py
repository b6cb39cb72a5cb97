"""The part of JSON Schema that the PDF tool declares its tools with (`SchemaCheck.java`)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from droidgate_mappings.model.json_values import Json
from droidgate_phone.org_json import write_json

_LARGEST_INT: Final = 2**31 - 1
_SMALLEST_INT: Final = -(2**31)


def problem_with(schema: Mapping[str, Json], value: Json, where: str = "") -> str | None:
    """Return what is wrong with a value, None where nothing is.

    Raises:
        ValueError: the schema has a type that the tool does not know.
    """
    kind = str(schema.get("type", ""))
    if not _is_of_type(kind, value):
        return f"{_named(where)} must be of type {kind}"
    if "enum" in schema and value not in schema["enum"]:
        return f"{_named(where)} must be one of {write_json(schema['enum'])}"
    if kind == "object":
        return _problem_with_object(schema, value, where)
    if kind == "array":
        return _problem_with_array(schema, value, where)
    if kind == "string":
        return _problem_with_string(schema, value, where)
    return _problem_with_integer(schema, float(value), where) if kind == "integer" else None


def _is_of_type(kind: str, value: Json) -> bool:
    if kind == "integer":
        return isinstance(value, int | float) and not isinstance(value, bool) and value % 1 == 0
    classes: dict[str, type] = {"object": dict, "array": list, "string": str, "boolean": bool}
    if kind not in classes:
        message = f"type {kind}"
        raise ValueError(message)
    return isinstance(value, classes[kind])


def _problem_with_object(schema: Mapping[str, Json], value: Mapping[str, Json], where: str) -> str | None:
    for name in schema.get("required", []):
        if name not in value:
            return f"{_named(_inside(where, name))} is missing"
    properties = schema["properties"]
    for name, item in value.items():
        if name not in properties:
            return f"{_named(_inside(where, name))} is not a parameter of this tool"
        problem = problem_with(properties[name], item, _inside(where, name))
        if problem is not None:
            return problem
    return None


def _problem_with_array(schema: Mapping[str, Json], value: list[Json], where: str) -> str | None:
    if len(value) < schema.get("minItems", 0):
        return f"{_named(where)} needs at least {schema['minItems']} entries"
    if len(value) > schema.get("maxItems", _LARGEST_INT):
        return f"{_named(where)} takes at most {schema['maxItems']} entries"
    problems = (
        problem_with(schema["items"], item, f"{where}[{position}]") for position, item in enumerate(value)
    )
    return next((problem for problem in problems if problem is not None), None)


def _problem_with_string(schema: Mapping[str, Json], value: str, where: str) -> str | None:
    if len(value) < schema.get("minLength", 0):
        return f"{_named(where)} is too short"
    if len(value) > schema.get("maxLength", _LARGEST_INT):
        return f"{_named(where)} is longer than {schema['maxLength']} characters"
    if "pattern" in schema and not re.search(schema["pattern"], value):
        return f"{_named(where)} must match {schema['pattern']}"
    return None


def _problem_with_integer(schema: Mapping[str, Json], value: float, where: str) -> str | None:
    least, most = schema.get("minimum", _SMALLEST_INT), schema.get("maximum", _LARGEST_INT)
    if value < least:
        return f"{_named(where)} must be at least {least}"
    return f"{_named(where)} must be at most {most}" if value > most else None


def _inside(where: str, name: str) -> str:
    return f"{where}.{name}" if where else name


def _named(where: str) -> str:
    return f'"{where}"' if where else "the parameters"

"""AppSearch's GenericDocument as the shell reads and writes it (reference appfunctions 6.3 to 6.5).

A document's properties are a dict of lists, nested documents such dicts again.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

from droidgate_android.app_search.indexed_documents import java_hash
from droidgate_mappings.model.json_values import Json
from droidgate_phone.java.java_text import java_double
from droidgate_phone.java.org_json import NULL, java_text, mismatch_at

Properties = dict[str, list[Json]]

RETURN_VALUE: Final = "androidAppfunctionsReturnValue"
"""ExecuteAppFunctionResponse.PROPERTY_RETURN_VALUE."""


def properties_from_json(value: Mapping[str, Any]) -> Properties:
    """Return the properties of the document that a JSON object describes; only JSON's own types count.

    Raises:
        JsonError: an array's value cannot become what its first value is.
        ValueError: an array of strings holds a missing value.
    """
    read: Properties = {}
    for key, item in value.items():
        values = _values(item)
        if values is not None:
            read[key] = values
    return read


def _values(value: Any) -> list[Json] | None:
    if isinstance(value, list):
        return _array(value)
    if isinstance(value, dict):
        return [properties_from_json(value)]
    return None if value is None or value is NULL else [value]


def _array(values: list[Any]) -> list[Json] | None:
    if not values:
        return None
    first = values[0]
    if isinstance(first, str):
        return [_string(value, index) for index, value in enumerate(values)]
    if isinstance(first, bool):
        return [_boolean(value, index) for index, value in enumerate(values)]
    if isinstance(first, int):
        return [_long(value, index) for index, value in enumerate(values)]
    if isinstance(first, float):
        return [_double(value, index) for index, value in enumerate(values)]
    if isinstance(first, dict):
        return [_document(value, index) for index, value in enumerate(values)]
    return None


def _string(value: Any, index: int) -> str:
    if value is None:
        message = f"The String at {index} is null."
        raise ValueError(message)
    return java_text(value)


def _boolean(value: Any, index: int) -> bool:
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.lower() in ("true", "false"):
        return value.lower() == "true"
    raise mismatch_at(value, index, "boolean")


def _long(value: Any, index: int) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, float | str):
        try:
            return _narrow(float(value))
        except ValueError:
            pass
    raise mismatch_at(value, index, "long")


def _narrow(number: float) -> int:
    """Return Java's cast of a double to a long."""
    if math.isnan(number):
        return 0
    return max(
        -(1 << 63),
        min((1 << 63) - 1, int(number) if abs(number) < 2.0**64 else (1 << 64) * (1 if number > 0 else -1)),
    )


def _double(value: Any, index: int) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    if isinstance(value, str):
        try:
            return float(value)
        except ValueError:
            pass
    raise mismatch_at(value, index, "double")


def _document(value: Any, index: int) -> Properties:
    if isinstance(value, dict):
        return properties_from_json(value)
    raise mismatch_at(value, index, "JSONObject")


def in_map_order(properties: Mapping[str, list[Json]]) -> Properties:
    """Return a document in the order in which Android's ArrayMap holds it: by the names' hashes."""
    return {
        name: [
            in_map_order(property_) if isinstance(property_, Mapping) else property_
            for property_ in properties[name]
        ]
        for name in sorted(properties, key=java_hash)
    }


def write_yaml(properties: Mapping[str, list[Json]]) -> str:
    """Return what `--brief-yaml` prints: single values bare, empty texts and lists left out."""
    return "\n".join(_yaml_map(_brief(properties), 0))


def _brief(properties: Mapping[str, list[Json]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, values in properties.items():
        kept = [_brief(value) if isinstance(value, Mapping) else value for value in values if value != ""]
        if kept:
            found[name] = kept[0] if len(kept) == 1 else kept
    return found


def _yaml_map(values: Mapping[str, Any], level: int) -> list[str]:
    indent = "  " * level
    lines: list[str] = []
    for name, value in values.items():
        head = f"{indent}{_yaml_value(name)}:"
        if isinstance(value, dict):
            lines += [head, *(_yaml_map(value, level + 1) or [""])]
        elif isinstance(value, list):
            lines += [head, *_yaml_list(value, level + 1)]
        else:
            lines.append(f"{head} {_yaml_value(value)}")
    return lines


def _yaml_list(values: list[Any], level: int) -> list[str]:
    indent = "  " * level
    lines: list[str] = []
    for value in values:
        if isinstance(value, dict):
            inner = _yaml_map(value, level + 1) or [""]
            lines += [f"{indent}- {inner[0].strip()}", *inner[1:]]
        else:
            lines.append(f"{indent}- {_yaml_value(value)}")
    return lines


def _yaml_value(value: Any) -> str:
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'" if ": " in value or "#" in value or not value else value
    return "[B@0" if isinstance(value, bytes) else java_text(value)


def write_document_text(properties: Mapping[str, list[Json]], *, created: int = 0) -> str:
    """Return `GenericDocument.toString`, which the first generation of the shell prints.

    Args:
        properties: The document's properties.
        created: creationTimestampMillis.
    """
    return "\n".join(_document_lines(properties, created))


def _document_lines(properties: Mapping[str, list[Json]], created: int) -> list[str]:
    lines = [
        "{",
        '  namespace: "",',
        '  id: "",',
        "  score: 0,",
        '  schemaType: "",',
        f"  creationTimestampMillis: {created},",
        "  timeToLiveMillis: 0,",
        "  properties: {",
    ]
    blocks = [_property_lines(name, properties[name], created) for name in sorted(properties)]
    for number, block in enumerate(blocks):
        lines += [*block[:-1], block[-1] + ("," if number < len(blocks) - 1 else "")]
    return [*lines, "  }", "}"]


def _property_lines(name: str, values: list[Json], created: int) -> list[str]:
    if values and isinstance(values[0], Mapping):
        lines = [f'    "{name}": [']
        for number, value in enumerate(values):
            inner = ["      " + line for line in _document_lines(value, created)]
            lines += [*inner[:-1], inner[-1] + ("," if number < len(values) - 1 else "")]
        return [*lines, "    ]"]
    return [f'    "{name}": [{", ".join(map(_document_value, values))}]']


def _document_value(value: Json) -> str:
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, bytes):
        return "[" + ", ".join(str(item) for item in memoryview(value).cast("b")) + "]"
    return java_double(value) if isinstance(value, float) else java_text(value)

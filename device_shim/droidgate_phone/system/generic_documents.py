"""AppSearch's GenericDocument as the shell reads and writes it (reference appfunctions 6.3, 6.5).

A document's properties are a dict of lists, nested documents such dicts again.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any, Final

from droidgate_android.app_search.indexed_documents import java_hash
from droidgate_mappings.model.json_values import Json
from droidgate_phone.java.app_values import AndroidError
from droidgate_phone.java.java_text import java_int
from droidgate_phone.java.org_json import (
    NULL,
    JsonError,
    java_text,
    mismatch_at,
    parse_double,
    parse_object,
    write_json,
)

Properties = dict[str, list[Json]]

_PATH_SEPARATOR: Final = re.compile(r"([.\[\]])")


def properties_from_json(value: Mapping[str, Any]) -> Properties:
    """Return the properties of the document that a JSON object describes; only JSON's own types count.

    Raises:
        AndroidError: an object inside holds a number that is not finite.
        JsonError: an array's first value is missing, or another cannot become what the first one is.
        ValueError: an array of strings holds a missing value, or a property's name is empty.
    """
    read: Properties = {}
    for key, item in value.items():
        values = _values(item)
        if values is not None:
            if not key:
                message = "Property name cannot be blank."
                raise ValueError(message)
            if None in values:
                message = f"The String at {values.index(None)} is null."
                raise ValueError(message)
            read[key] = values
    return read


def _values(value: Any) -> list[Json] | None:
    if isinstance(value, list):
        return _array(value)
    if isinstance(value, dict):
        return [_document(value, 0)]
    return None if value is NULL else [value]


def _array(values: list[Any]) -> list[Json] | None:
    if not values:
        return None
    first = values[0]
    if first is None:
        raise mismatch_at(first, 0, "")
    if isinstance(first, str):
        return [_string(value) for value in values]
    if isinstance(first, bool):
        return [_boolean(value, index) for index, value in enumerate(values)]
    if isinstance(first, int):
        return [_long(value, index) for index, value in enumerate(values)]
    if isinstance(first, float):
        return [_double(value, index) for index, value in enumerate(values)]
    if isinstance(first, dict):
        return [_document(value, index) for index, value in enumerate(values)]
    return None


def _string(value: Any) -> str | None:
    """Return what `optString` reads: None where a value is missing, or a number in it is not finite."""
    try:
        return None if value is None else java_text(value)
    except JsonError:
        return None


def _boolean(value: Any, index: int) -> bool:
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.lower() in ("true", "false"):
        return value.lower() == "true"
    raise mismatch_at(value, index, "boolean")


def _long(value: Any, index: int) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    number = parse_double(value) if isinstance(value, str) else value
    if isinstance(number, float):
        return _narrow(number)
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
    number = parse_double(value) if isinstance(value, str) else value
    if isinstance(number, int | float) and not isinstance(number, bool):
        return float(number)
    raise mismatch_at(value, index, "double")


def _document(value: Any, index: int) -> Properties:
    if isinstance(value, dict):
        # Android writes each nested object and parses that text: -0.0 becomes -0, a whole number.
        try:
            text = write_json(value)
        except JsonError:
            message = (
                "Attempt to invoke virtual method 'int java.lang.String.length()' on a null object reference"
            )
            raise AndroidError("java.lang.NullPointerException", message) from None
        return properties_from_json(parse_object(text))
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


def as_read_by_name(properties: Mapping[str, list[Json]]) -> dict[str, Any]:
    """Return what `GenericDocument.getProperty` reads for each name, in the documents inside too.

    It takes a name as a path, so a property that is called `a.b` or `a[0]` often reads as None.

    Raises:
        ValueError: a name is not a path.
    """
    read: dict[str, Any] = {}
    for name in properties:
        values = _read_path(properties, _path_segments(name))
        read[name] = values and [
            as_read_by_name(value) if isinstance(value, Mapping) else value for value in values
        ]
    return read


def _path_segments(path: str) -> list[tuple[str, int | None]]:
    """Return the names of a path, each with its index (AppSearch's PropertyPath)."""
    segments: list[tuple[str, int | None]] = []
    rest: str | None = path
    while rest is not None:
        name, separator, after = (*_PATH_SEPARATOR.split(rest, 1), "", None)[:3]
        if separator == "]":
            raise _malformed("no starting '['", path)
        if not name:
            raise _malformed("blank property name", path)
        index = None
        if separator == "[":
            number, closing, after = (after or "").partition("]")
            if not closing:
                raise _malformed("no ending ']'", path)
            if after and after[0] != ".":
                message = f"Malformed path (']' not followed by '.'): {rest}: {path}"
                raise ValueError(message)
            index, after = java_int(number), after[1:] if after else None
            if index is None:
                raise _malformed(f'"{number}" as path index', path)
            if index < 0:
                raise _malformed("path index less than 0", path)
        segments.append((name, index))
        rest = after
    return segments


def _malformed(problem: str, path: str) -> ValueError:
    return ValueError(f"Malformed path ({problem}): {path}")


def _read_path(
    properties: Mapping[str, list[Json]], segments: list[tuple[str, int | None]]
) -> list[Json] | None:
    (name, index), *rest = segments
    values = properties.get(name)
    if values is not None and index is not None:
        values = values[index : index + 1] or None
    if values is None or not rest:
        return values
    inner = [_read_path(value, rest) for value in values if isinstance(value, Mapping)]
    read = [inner_values for inner_values in inner if inner_values is not None]
    return [value for inner_values in read for value in inner_values] if read else None

"""The JSON documents as text, and their published schemas."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from decimal import Decimal
from enum import Enum
from typing import Any, Final

from droidgate.cli.safe_text import ascii_json, visible_json
from droidgate.model.json_values import Json
from droidgate.model.types import Frozen

ALWAYS_WRITTEN: Final = frozenset({"kind"})
"""Fields that are written even where they are the default: they tell the parts of a model apart."""


class Document(Frozen):
    """Base of what a `--json` option prints; every field of a document itself is always there."""


def json_value(part: Any) -> Json:
    """Return a model part as JSON values.

    Parts of a document are complete; parts of the capability model leave out what is not stated.
    """
    if isinstance(part, Document):
        return {
            field.alias or name: json_value(getattr(part, name))
            for name, field in type(part).model_fields.items()
        }
    if isinstance(part, Frozen):
        return _stated(part)
    if isinstance(part, Enum):
        return part.value
    if isinstance(part, Mapping):
        return {str(key): json_value(value) for key, value in part.items()}
    if isinstance(part, frozenset | set):
        return sorted(json_value(one) for one in part)
    if isinstance(part, list | tuple):
        return [json_value(one) for one in part]
    return part


def _stated(part: Frozen) -> Json:
    stated = {}
    for name, field in type(part).model_fields.items():
        value = getattr(part, name)
        is_default = not field.is_required() and value == field.get_default(call_default_factory=True)
        if name in ALWAYS_WRITTEN or not is_default:
            stated[name] = json_value(value)
    return stated


def json_text(value: Json) -> str:
    """Return JSON values as indented text: numbers digit for digit, unsafe characters escaped."""
    return visible_json("".join(_pieces(value, "\n"))) + "\n"


def _pieces(value: Json, line: str) -> list[str]:
    if isinstance(value, Mapping) and value:
        members = [
            [json.dumps(key, ensure_ascii=False), ": ", *_pieces(held, line + "  ")]
            for key, held in value.items()
        ]
        return _bracketed("{", members, "}", line)
    if isinstance(value, list) and value:
        return _bracketed("[", [_pieces(one, line + "  ") for one in value], "]", line)
    if isinstance(value, Decimal):
        return [str(value)]
    return [json.dumps(value, ensure_ascii=False, allow_nan=False)]


def _bracketed(start: str, parts: list[list[str]], end: str, line: str) -> list[str]:
    pieces = [start]
    for position, part in enumerate(parts):
        pieces += [f",{line}  " if position else f"{line}  ", *part]
    return [*pieces, line, end]


def print_json(part: Any) -> None:
    """Print a document, or JSON values, on standard output, whatever its encoding can hold."""
    text = json_text(json_value(part))
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        text = ascii_json(text)
    sys.stdout.write(text)


def schema_of(document: type[Document]) -> Json:
    """Return the published JSON Schema of a document."""
    schema = document.model_json_schema(by_alias=True)
    complete = _names_below(Document)
    for name, part in {**schema.get("$defs", {}), document.__name__: schema}.items():
        properties = part.get("properties", {})
        written = properties if name in complete else [one for one in properties if one in ALWAYS_WRITTEN]
        if written:
            part["required"] = sorted({*part.get("required", []), *written})
    words = re.split("[./]", schema["properties"]["schema"]["const"])
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:{':'.join(words)}",
        **schema,
    }


def _names_below(document: type[Document]) -> set[str]:
    below = document.__subclasses__()
    return {one.__name__ for one in below}.union(*(_names_below(one) for one in below))

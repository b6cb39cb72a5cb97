"""The JSON documents as text, and their published schemas."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from decimal import Decimal
from enum import Enum
from functools import cache
from json.encoder import encode_basestring
from typing import Annotated, Any, Final, Literal, Self, Unpack

from pydantic import BeforeValidator, ConfigDict, Field

from droidgate.cli.output.safe_text import ascii_json
from droidgate.computer.version import VERSION
from droidgate_mappings.model.json_values import Json, one_line_json
from droidgate_mappings.model.types import Frozen
from droidgate_mappings.text_safety import visible_json

ALWAYS_WRITTEN: Final = frozenset({"kind"})
"""Fields that are written even where they are the default: they distinguish the parts of a model."""

_PLAIN: Final = frozenset({str, int, float, bool})


class Document(Frozen):
    """Base of what a `--json` option prints; every field of a document itself is always there."""

    @classmethod
    def of(cls, source: object, /, **values: Any) -> Self:
        """Return a document, or a part of one, about an object.

        Args:
            source: Has fields as attributes of the same name; where a field is a part of the document, its
                attribute has the fields of that part.
            values: The other fields.

        Raises:
            ValueError: a field is missing, or has another type.
        """
        names = [name for name in cls.model_fields if name not in values and hasattr(source, name)]
        attributes = {name: getattr(source, name) for name in names}
        return cls.model_validate({**attributes, **values}, from_attributes=True)


class Problem(Document):
    """Something that could not be read or written; the rest was."""

    message: str
    place: str | None
    hint: Annotated[str | None, BeforeValidator(lambda hint: getattr(hint, "command", hint))]


class PublishedDocument(Document):
    """Base of a whole document, whose class names its schema: `schema="droidgate.lint/1"`.

    The version rises when a reader of the old form would break. `published_schemas.py` lists these classes.

    Attributes:
        schema_id: The schema's name, `droidgate.NAME/VERSION`; `schema` in JSON.
        droidgate: Version of the program that printed it.
    """

    schema_id: str = Field(default="", alias="schema")
    droidgate: str = VERSION

    def __init_subclass__(cls, schema: str = "", **options: Unpack[ConfigDict]) -> None:
        """Make the name of the schema the only value of its field."""
        super().__init_subclass__(**options)
        if schema:
            cls.__annotations__["schema_id"] = Literal[schema]
            cls.schema_id = Field(default=schema, alias="schema")


def json_value(part: Any) -> Json:
    """Return a model part as JSON values.

    Documents, and dataclasses in them, are complete; parts of the capability model leave out what is not
    stated.
    """
    if part is None or type(part) in _PLAIN:
        return part
    if isinstance(part, Document):
        return {
            field.alias or name: json_value(getattr(part, name))
            for name, field in type(part).model_fields.items()
        }
    if isinstance(part, Frozen):
        return _stated_values(part)
    if is_dataclass(part):
        return {field.name: json_value(getattr(part, field.name)) for field in fields(part)}
    if isinstance(part, Enum):
        return part.value
    if isinstance(part, Mapping):
        return {str(key): json_value(value) for key, value in part.items()}
    if isinstance(part, frozenset | set):
        return sorted(json_value(item) for item in part)
    if isinstance(part, list | tuple):
        return [json_value(item) for item in part]
    return part


def _stated_values(part: Frozen) -> Json:
    stated = {}
    for name, is_optional, default in _fields_of(type(part)):
        value = getattr(part, name)
        if not is_optional or value != default:
            stated[name] = json_value(value)
    return stated


@cache
def _fields_of(kind: type[Frozen]) -> tuple[tuple[str, bool, Any], ...]:
    """Return the fields of a model part: its name, whether it is left out where default, the default."""
    return tuple(
        (
            name,
            name not in ALWAYS_WRITTEN and not field.is_required(),
            field.get_default(call_default_factory=True),
        )
        for name, field in kind.model_fields.items()
    )


def json_text(value: Json) -> str:
    """Return JSON values as indented text: numbers digit for digit, unsafe characters escaped."""
    pieces: list[str] = []
    _add_pieces(value, "\n", pieces)
    return visible_json("".join(pieces)) + "\n"


def _add_pieces(value: Json, line: str, pieces: list[str]) -> None:
    if isinstance(value, str):
        pieces.append(encode_basestring(value))
    elif isinstance(value, Mapping) and value:
        below, before = f"{line}  ", "{"
        for key, item in value.items():
            pieces.append(f"{before}{below}{encode_basestring(key)}: ")
            _add_pieces(item, below, pieces)
            before = ","
        pieces.append(f"{line}}}")
    elif isinstance(value, list) and value:
        below, before = f"{line}  ", "["
        for item in value:
            pieces.append(f"{before}{below}")
            _add_pieces(item, below, pieces)
            before = ","
        pieces.append(f"{line}]")
    elif isinstance(value, Decimal):
        pieces.append(str(value))
    else:
        pieces.append(json.dumps(value, ensure_ascii=False, allow_nan=False))


def print_json(part: Any) -> None:
    """Print a document, or JSON values, on standard output, whatever its encoding can hold."""
    _write(json_text(json_value(part)))


def print_json_with_rows(part: Document, rows: Iterable[Json]) -> None:
    """Print a document whose last field, an empty list, gets rows that are made as they are printed.

    Each row is one line; however many there are, only one is held.
    """
    head, tail = json_text(json_value(part)).rsplit("[]", 1)
    between = "["
    _write(head)
    for row in rows:
        _write(f"{between}\n    {visible_json(json.dumps(row, ensure_ascii=False, allow_nan=False))}")
        between = ","
    _write(f"{'[]' if between == '[' else f'{chr(10)}  ]'}{tail}")


def print_json_line(value: Json) -> None:
    """Print a JSON value on a line of standard output, at once."""
    _write(f"{visible_json(one_line_json(value))}\n")
    sys.stdout.flush()


def _write(text: str) -> None:
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        text = ascii_json(text)
    sys.stdout.write(text)


def schema_of(document: type[Document]) -> Json:
    """Return the published JSON Schema of a document."""
    schema = document.model_json_schema(by_alias=True)
    of_the_model = _names_below(Frozen) - _names_below(Document)
    for name, part in {**schema.get("$defs", {}), document.__name__: schema}.items():
        properties = part.get("properties", {})
        written = [item for item in properties if name not in of_the_model or item in ALWAYS_WRITTEN]
        if written:
            part.setdefault("additionalProperties", False)
            part["required"] = sorted({*part.get("required", []), *written})
    words = re.split("[./]", schema["properties"]["schema"]["const"])
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:{':'.join(words)}",
        **schema,
    }


def _names_below(kind: type[Frozen]) -> set[str]:
    below = kind.__subclasses__()
    return {item.__name__ for item in below}.union(*(_names_below(item) for item in below))

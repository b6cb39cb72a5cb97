"""JSON text in the order of its values, exact, and only of characters that XML can hold."""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal
from typing import Final

from droidgate.model.json_values import Json
from droidgate.parsing.xml_text import NOT_XML

_INDENT: Final = "  "
_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode


def write_json(value: Json, *, lines: bool = False) -> str:
    r"""Return a JSON value's text.

    Characters that XML 1.0 cannot hold, halves of surrogate pairs among them, are written as `\uXXXX`, so the
    text can stand in an XML attribute and in UTF-8, and means the same.

    Args:
        value: A JSON value; numbers are written digit for digit.
        lines: One member a line, indented by two; else one line without blanks.

    Raises:
        ValueError: the value holds NaN or an infinity.
    """
    text = _write(value, "\n" if lines else "")
    return NOT_XML.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _write(value: Json, line_end: str) -> str:
    # The standard encoder knows no Decimal, and is slow where it has to indent.
    if not line_end:
        try:
            return _encode(value)
        except TypeError:
            pass
    if isinstance(value, Decimal):
        return str(value)
    if not value or not isinstance(value, Mapping | list | tuple):
        return _encode(value)
    inner = line_end and line_end + _INDENT
    if isinstance(value, Mapping):
        colon = ": " if line_end else ":"
        members = [f"{_encode(key)}{colon}{_write(held, inner)}" for key, held in value.items()]
        return "{" + inner + f",{inner}".join(members) + line_end + "}"
    return "[" + inner + f",{inner}".join([_write(held, inner) for held in value]) + line_end + "]"

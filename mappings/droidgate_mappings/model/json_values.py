"""JSON values: their type, their canonical text, and JSON Pointers into them (RFC 6901).

A JSON value is None, bool, int, float, Decimal, str, list or dict with str keys. Decimal is a number
whose source digits a float would change; it is written back digit for digit.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, Final, TypeAlias

Json: TypeAlias = Any
"""A JSON value; `Any`, since pydantic and mypy both pay heavily for the recursive union."""

_MOST_SHOWN: Final = 80
_SURROGATE = re.compile("[\ud800-\udfff]")
_SURROGATE_OR_LINE_END = re.compile("[\ud800-\udfff\x85\u2028\u2029]")
_quoted = json.encoder.encode_basestring
_encoder = json.JSONEncoder(ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":"))
_ordered_encoder = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def canonical_json(value: Json) -> str:
    """Return the one JSON text of a value: sorted keys, no blanks, no NaN, integers and Decimals exact.

    Raises:
        ValueError: the value holds NaN or an infinity.
    """
    try:
        return _encoder.encode(value)
    except TypeError:
        return _write_exactly(value)


def _write_exactly(value: Json) -> str:
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, Decimal):
        if not value.is_finite():
            message = "a JSON number is finite"
            raise ValueError(message)
        return str(value)
    if isinstance(value, Mapping):
        members = (f"{_quoted(str(key))}:{_write_exactly(value[key])}" for key in sorted(value))
        return "{" + ",".join(members) + "}"
    if isinstance(value, Sequence):
        return "[" + ",".join(_write_exactly(item) for item in value) + "]"
    return _encoder.encode(value)


def readable_json(value: Json) -> str:
    """Return a human-readable JSON text: members in their order, one a line, indented by two; numbers exact.

    Halves of surrogate pairs are written as escapes, so that the text has an encoding.

    Raises:
        ValueError: the value holds NaN or an infinity.
    """
    return _SURROGATE.sub(_escaped, _write_ordered(value, "\n"))


def one_line_json(value: Json) -> str:
    """Return a JSON text in one line without blanks: members in their order; numbers exact.

    Halves of surrogate pairs, and what some readers take for the end of a line, are written as escapes.

    Raises:
        ValueError: the value holds NaN or an infinity.
    """
    return _SURROGATE_OR_LINE_END.sub(_escaped, _write_ordered(value, ""))


def shown_json(value: Json) -> str:
    """Return a value for a message: its JSON text in one line, cut behind 80 characters."""
    text = one_line_json(value)
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}..."


def _escaped(match: re.Match[str]) -> str:
    return f"\\u{ord(match[0]):04x}"


def _write_ordered(value: Json, line_end: str) -> str:
    # The standard encoder knows no Decimal, and is slow where it has to indent.
    if not line_end:
        try:
            return _ordered_encoder.encode(value)
        except TypeError:
            pass
    if not value or isinstance(value, str) or not isinstance(value, Mapping | list | tuple):
        return _write_exactly(value)
    inner = line_end and line_end + "  "
    if isinstance(value, Mapping):
        colon = ": " if line_end else ":"
        opening, closing = "{", "}"
        members = [_quoted(key) + colon + _write_ordered(member, inner) for key, member in value.items()]
    else:
        opening, closing = "[", "]"
        members = [_write_ordered(item, inner) for item in value]
    return opening + inner + f",{inner}".join(members) + line_end + closing


def json_equal(left: Json, right: Json) -> bool:
    """Return whether two JSON values are the same value: 1 and 1.0 are, 1 and true are not."""
    if type(left) is str or left is None:
        return bool(left == right)
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, int | float | Decimal) and isinstance(right, int | float | Decimal):
        return left == right or (isinstance(left, float) and math.isnan(left) and left is right)
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(json_equal(left[key], right[key]) for key in left)
    if isinstance(left, list | tuple) and isinstance(right, list | tuple):
        return len(left) == len(right) and all(map(json_equal, left, right))
    return type(left) is type(right) and bool(left == right)


def digest_of(value: Json) -> str:
    """Return `sha256:` and the hexadecimal digest of a value's canonical JSON in UTF-8."""
    text = canonical_json(value).encode("utf-8", "surrogatepass")
    return f"sha256:{hashlib.sha256(text).hexdigest()}"


def pointer_token(name: str) -> str:
    """Escape one reference token of a JSON Pointer (RFC 6901 section 3)."""
    if "~" in name or "/" in name:
        return name.replace("~", "~0").replace("/", "~1")
    return name


def pointer_name(token: str) -> str:
    """Undo `pointer_token`."""
    return token.replace("~1", "/").replace("~0", "~")

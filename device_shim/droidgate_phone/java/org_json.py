"""Android's `org.json`: its lenient parser and its writer (reference android-runtime 3.5; AOSP libcore/json).

Values that the parser returns are dict, list, str, bool, int (Java's Integer or Long), float (Double), and
`NULL` for `JSONObject.NULL`; None is Java's null, which only arrays with missing values hold. The
writer writes both as `null`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any, Final

from droidgate_phone.java.java_text import java_double, java_long, text_of_units, units_of


class JsonError(Exception):
    """`org.json.JSONException`; its text is Java's message."""


class _Null:
    def __repr__(self) -> str:
        return "null"


NULL: Final = _Null()
"""`JSONObject.NULL`."""

_INT_BITS: Final = 31
_LONG_BITS: Final = 63
_LARGEST_LONG: Final = (1 << _LONG_BITS) - 1
_LITERAL_END: Final = frozenset("{}[]/\\:,=;# \t\f")
_BLANKS: Final = frozenset("\t \n\r")
_TRIMMED: Final = "".join(map(chr, range(33)))
_DOUBLE: Final = re.compile(
    r"([-+]?(?:NaN|Infinity|(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?))(?:(?<![yN])[dDfF])?"
)
_HEX_DOUBLE: Final = re.compile(
    r"([-+]?0[xX](?:[0-9a-fA-F]+\.?|[0-9a-fA-F]*\.[0-9a-fA-F]+)[pP][-+]?[0-9]+)[dDfF]?"
)
_ESCAPES: Final = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f"}
_MAXIMUM_DEPTH: Final = 200


def parse_object(text: str) -> dict[str, Any]:
    """Return what `new JSONObject(text)` holds, in the order of the text.

    Raises:
        JsonError: with Java's message.
    """
    value = _Parser(text).next_value(0)
    if not isinstance(value, dict):
        raise JsonError(_mismatch(value, "JSONObject"))
    return value


def java_class(value: Any) -> str:
    """Return the name of the Java class of a value."""
    if isinstance(value, bool):
        return "java.lang.Boolean"
    if isinstance(value, int):
        return "java.lang.Integer" if -(1 << _INT_BITS) <= value < 1 << _INT_BITS else "java.lang.Long"
    names = {
        str: "java.lang.String",
        float: "java.lang.Double",
        dict: "org.json.JSONObject",
        list: "org.json.JSONArray",
    }
    return names.get(type(value), "org.json.JSONObject$1")


def java_text(value: Any) -> str:
    """Return `String.valueOf` of a value, which `optString` gives too."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return java_double(value)
    if isinstance(value, Mapping | list | tuple):
        return write_json(value)
    return str(value)


def _mismatch(value: Any, expected_type: str, where: str = "") -> str:
    if value is None:
        return f"Value{where} is null."
    return f"Value {_joined(value)}{where} of type {java_class(value)} cannot be converted to {expected_type}"


def _joined(value: Any) -> str:
    """Return a value as a message has it: null where a number in it is not finite, as from `toString()`."""
    try:
        return java_text(value)
    except JsonError:
        return "null"


def mismatch_at(value: Any, index: int, expected_type: str) -> JsonError:
    """Return the error for an array's value that is of another type."""
    return JsonError(_mismatch(value, expected_type, f" at {index}"))


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = units_of(text.removeprefix("\ufeff"))
        self._position = 0

    def _error(self, message: str) -> JsonError:
        return JsonError(f"{message} at character {self._position} of {text_of_units(self._text)}")

    def next_value(self, depth: int) -> Any:
        if depth > _MAXIMUM_DEPTH:
            raise self._error("droidgate phone: nesting deeper than is modelled")
        character = self._next_clean()
        if character is None:
            raise self._error("End of input")
        if character == "{":
            return self._object(depth)
        if character == "[":
            return self._array(depth)
        if character in "'\"":
            return self._string(character)
        self._position -= 1
        return self._literal()

    def _next_clean(self) -> str | None:
        while self._position < len(self._text):
            character = self._text[self._position]
            self._position += 1
            if character in _BLANKS:
                continue
            if character == "#" or (
                character == "/" and self._text[self._position : self._position + 1] == "/"
            ):
                self._skip_line()
            elif character == "/" and self._text[self._position : self._position + 1] == "*":
                self._position += 1
                end = self._text.find("*/", self._position)
                if end < 0:
                    raise self._error("Unterminated comment")
                self._position = end + 2
            else:
                return character
        return None

    def _skip_line(self) -> None:
        while self._position < len(self._text):
            self._position += 1
            if self._text[self._position - 1] in "\r\n":
                return

    def _object(self, depth: int) -> dict[str, Any]:
        read: dict[str, Any] = {}
        first = self._next_clean()
        if first == "}":
            return read
        if first is not None:
            self._position -= 1
        while True:
            name = self.next_value(depth + 1)
            if not isinstance(name, str):
                raise self._error(f"Names must be strings, but {_joined(name)} is of type {java_class(name)}")
            if self._next_clean() not in (":", "="):
                raise self._error(f"Expected ':' after {name}")
            if self._text[self._position : self._position + 1] == ">":
                self._position += 1
            value = self.next_value(depth + 1)
            if isinstance(value, float) and not math.isfinite(value):
                raise JsonError(f"Forbidden numeric value: {java_text(value)}")
            read[name] = value
            after = self._next_clean()
            if after == "}":
                return read
            if after not in (";", ","):
                raise self._error("Unterminated object")

    def _array(self, depth: int) -> list[Any]:
        read: list[Any] = []
        after_separator = False
        while True:
            character = self._next_clean()
            if character is None:
                raise self._error("Unterminated array")
            if character == "]":
                return [*read, None] if after_separator else read
            if character in ",;":
                read.append(None)
                after_separator = True
                continue
            self._position -= 1
            read.append(self.next_value(depth + 1))
            character = self._next_clean()
            if character == "]":
                return read
            if character is None or character not in ",;":
                raise self._error("Unterminated array")
            after_separator = True

    def _string(self, quote: str) -> str:
        read: list[str] = []
        while self._position < len(self._text):
            character = self._text[self._position]
            self._position += 1
            if character == quote:
                return text_of_units("".join(read))
            read.append(self._escape() if character == "\\" else character)
        raise self._error("Unterminated string")

    def _escape(self) -> str:
        if self._position == len(self._text):
            raise self._error("Unterminated escape sequence")
        character = self._text[self._position]
        self._position += 1
        if character != "u":
            return _ESCAPES.get(character, character)
        digits = self._text[self._position : self._position + 4]
        if len(digits) < len("0000"):
            raise self._error("Unterminated escape sequence")
        self._position += 4
        unit = java_long(digits, 16)
        if unit is None:
            raise self._error(f"Invalid escape sequence: {text_of_units(digits)}")
        # Java takes a sign here too, and casts to 16 bits.
        return chr(unit & 0xFFFF)

    def _literal(self) -> Any:
        start = self._position
        while self._position < len(self._text) and self._text[self._position] not in _LITERAL_END | {
            "\r",
            "\n",
        }:
            self._position += 1
        literal = self._text[start : self._position]
        if not literal:
            raise self._error("Expected literal value")
        lowered = literal.lower()
        if lowered == "null":
            return NULL
        if lowered in ("true", "false"):
            return lowered == "true"
        return _read_number(text_of_units(literal))


def _read_number(literal: str) -> Any:
    if "." not in literal:
        base, digits = 10, literal
        if literal[:2].lower() == "0x":
            base, digits = 16, literal[2:]
        elif literal.startswith("0") and len(literal) > 1:
            base, digits = 8, literal[1:]
        number = java_long(digits, base)
        if number is not None:
            return number
    double = parse_double(literal)
    return literal if double is None else double


def parse_double(literal: str) -> float | None:
    """Return what `Double.parseDouble` reads, None where it throws."""
    trimmed = literal.strip(_TRIMMED)
    if number := _DOUBLE.fullmatch(trimmed):
        return float(number[1])
    if number := _HEX_DOUBLE.fullmatch(trimmed):
        try:
            return float.fromhex(number[1])
        except OverflowError:
            return math.inf if trimmed[0] != "-" else -math.inf
    return None


def write_json(value: Any, indent: int = 0) -> str:
    """Return `toString()`, or `toString(indent)` for an indent.

    Raises:
        JsonError: a number is not finite.
    """
    return _write(value, indent, "\n")


def _write(value: Any, indent: int, line: str) -> str:
    if isinstance(value, Mapping):
        parts = [
            f"{_quote(key)}:{' ' if indent else ''}{_write(item, indent, line + ' ' * indent)}"
            for key, item in value.items()
        ]
        return _enclose("{", "}", parts, indent, line)
    if isinstance(value, list | tuple):
        return _enclose("[", "]", [_write(item, indent, line + " " * indent) for item in value], indent, line)
    if value is None or value is NULL:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return _number_text(value)
    if isinstance(value, bytes):
        # An array of bytes is not a JSON value to org.json: it writes the name of its class and an address.
        return _quote("[B@0")
    return _quote(value)


def _enclose(opening: str, closing: str, parts: list[str], indent: int, line: str) -> str:
    if not parts:
        return opening + closing
    if not indent:
        return opening + ",".join(parts) + closing
    inner = line + " " * indent
    return opening + inner + ("," + inner).join(parts) + line + closing


def _number_text(value: float) -> str:
    if isinstance(value, int):
        return str(value)
    if not math.isfinite(value):
        raise JsonError(f"Forbidden numeric value: {java_text(value)}")
    if value == 0 and math.copysign(1, value) < 0:
        return "-0"
    # Java's cast to long stops at the ends of its range; 2^63 then equals the largest long, read as a double.
    whole = max(-_LARGEST_LONG - 1, min(int(value), _LARGEST_LONG))
    return str(whole) if float(whole) == value else java_text(value)


def _quote(text: str) -> str:
    written = []
    for character in text:
        if character in '"\\/':
            written.append("\\" + character)
        elif character in "\t\b\n\r\f":
            written.append({"\t": "\\t", "\b": "\\b", "\n": "\\n", "\r": "\\r", "\f": "\\f"}[character])
        elif character <= "\x1f":
            written.append(f"\\u{ord(character):04x}")
        else:
            written.append(character)
    return '"' + "".join(written) + '"'

"""Typed values as texts and as what a program gets of them (android.util.TypedValue, android.content.pm)."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Final

from droidgate_android.apk.xml_tree import REFERENCE_TYPES, TypedValue, ValueType
from droidgate_mappings.formats.application import MetaValue
from droidgate_mappings.text.aapt_text import java_float_text, signed_int

_UNITS: Final = ("px", "dip", "sp", "pt", "in", "mm")
_FRACTION_UNITS: Final = ("%", "%p")
_RADIX_SHIFTS: Final = (0, 7, 15, 23)
_MANTISSA_BITS: Final = 24
_ATTRIBUTES: Final = frozenset({ValueType.ATTRIBUTE, ValueType.DYNAMIC_ATTRIBUTE})

NameOf = Callable[[int], "str | None"]
"""Gives `@type/name` for a resource id, None where it is not known."""


def is_integer(value: TypedValue) -> bool:
    """Return whether a value is an int for a program: a number, a boolean or a colour."""
    return ValueType.INT_DEC <= value.type <= ValueType.INT_COLOR_RGB4


def float_of(data: int) -> float:
    """Return the number of a FLOAT."""
    number: float = struct.unpack("<f", struct.pack("<I", data))[0]
    return number


def meta_value(value: TypedValue) -> MetaValue | None:
    """Return what the package parser puts into a meta-data Bundle for a resolved value; None where it puts
    nothing.
    """
    if value.type == ValueType.STRING:
        return value.text
    if value.type == ValueType.INT_BOOLEAN:
        return value.data != 0
    if is_integer(value):
        return signed_int(value.data)
    return float_of(value.data) if value.type == ValueType.FLOAT else None


def is_null(value: TypedValue) -> bool:
    """Return whether a value is `@null` or `@empty`, which states nothing."""
    return value.type == ValueType.NULL or (value.type in REFERENCE_TYPES and not value.data)


def flag_value(value: TypedValue) -> bool | None:
    """Return what `TypedArray.getBoolean` gives for a value that is not a reference; None for a default."""
    if is_integer(value):
        return value.data != 0
    if value.type == ValueType.STRING and value.text:
        return value.text in {"1", "true", "TRUE"}
    return None


def attribute_text(value: TypedValue, name_of: NameOf) -> str | None:
    """Return an attribute's text as `XmlResourceParser.getAttributeValue` gives it: the raw one where the
    file kept it, else the value as text.

    A reference is `@type/name` where Android gives its number; None for a value that is not a value.
    """
    return value.text if value.text is not None else value_text(value, name_of)


def value_text(value: TypedValue, name_of: NameOf) -> str | None:  # noqa: PLR0911 - one line for each type
    """Return a value as `TypedValue.coerceToString` does, but references by name."""
    kind, data = value.type, value.data
    if kind == ValueType.STRING:
        return value.text
    if kind == ValueType.NULL:
        return None
    if kind in REFERENCE_TYPES:
        return "@null" if not data else name_of(data) or f"@{data:#010x}"
    if kind in _ATTRIBUTES:
        return "?" + (name_of(data) or f"@{data:#010x}").removeprefix("@")
    if kind == ValueType.FLOAT:
        return java_float_text(float_of(data))
    if kind == ValueType.DIMENSION:
        unit = _UNITS[data & 0xF] if data & 0xF < len(_UNITS) else ""
        return java_float_text(complex_number(data)) + unit
    if kind == ValueType.FRACTION:
        unit = _FRACTION_UNITS[data & 0xF] if data & 0xF < len(_FRACTION_UNITS) else ""
        return java_float_text(complex_number(data) * 100) + unit
    if kind == ValueType.INT_HEX:
        return f"{data:#x}"
    if kind == ValueType.INT_BOOLEAN:
        return "true" if data else "false"
    if ValueType.INT_COLOR_ARGB8 <= kind <= ValueType.INT_COLOR_RGB4:
        return f"#{data:x}"
    return str(signed_int(data)) if is_integer(value) else None


def complex_number(data: int) -> float:
    """Return the number of a dimension or fraction: 24 bits and one of four radix points."""
    mantissa = data >> 8
    if mantissa >> (_MANTISSA_BITS - 1):
        mantissa -= 1 << _MANTISSA_BITS
    return mantissa / (1 << _RADIX_SHIFTS[data >> 4 & 3])

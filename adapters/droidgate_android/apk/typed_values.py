"""Typing of values as aapt2, Android's resource compiler, does it (ResourceUtils.cpp of AOSP's aapt2)."""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping
from typing import Final, Protocol

from droidgate_android.apk.xml_tree import TypedValue, ValueType
from droidgate_mappings.tables.framework_attributes import AttributeFormat
from droidgate_mappings.text.aapt_text import (
    boolean_in,
    colour_in,
    complex_data,
    integer_in,
    number_in,
    reference_in,
)

_ASCII_SPACE: Final = " \t\n\v\f\r"
_THEME_REFERENCE = re.compile(r"\?\+?\*?(?:(?P<package>[^:/?]+):)?(?:attr/)?(?P<name>[^:/\s]+)")
_EMPTY: Final = 1
_COLOUR_TYPES: Final = {
    3: ValueType.INT_COLOR_RGB4,
    4: ValueType.INT_COLOR_ARGB4,
    6: ValueType.INT_COLOR_RGB8,
    8: ValueType.INT_COLOR_ARGB8,
}
_NUMBER_FORMATS: Final = AttributeFormat.FLOAT | AttributeFormat.DIMENSION | AttributeFormat.FRACTION
NOTHING: Final[Mapping[str, int]] = {}


class Symbols(Protocol):
    """Where references lead."""

    def resolve(self, reference: str, place: str) -> int:
        """Return the resource id of `@type/name` or `@package:type/name`.

        Raises:
            InputError: it leads nowhere; `place` is where it is.
        """


def compile_value(
    raw: str,
    formats: AttributeFormat,
    symbols: Symbols,
    place: str,
    values: Mapping[str, int] = NOTHING,
) -> TypedValue | None:
    """Return a value that is more than text, None where aapt2 leaves it a string.

    Args:
        raw: The value as written, after XML parsing.
        formats: What is allowed here; references always are.
        symbols: Where references lead.
        place: `path:line` for errors.
        values: The words of an enum or of flags.

    Raises:
        InputError: a reference leads nowhere.
    """
    text = raw.strip(_ASCII_SPACE)
    if text == "@null":
        return TypedValue(ValueType.REFERENCE, 0)
    if text == "@empty":
        return TypedValue(ValueType.NULL, _EMPTY)
    reference = reference_in(raw)
    if reference is not None:
        return TypedValue(ValueType.REFERENCE, symbols.resolve(reference, place))
    theme = _THEME_REFERENCE.fullmatch(text)
    if theme is not None:
        package = f"{theme['package']}:" if theme["package"] else ""
        return TypedValue(ValueType.ATTRIBUTE, symbols.resolve(f"@{package}attr/{theme['name']}", place))
    return _compile_literal(text, formats) or _compile_words(text, formats, values)


def _compile_literal(text: str, formats: AttributeFormat) -> TypedValue | None:
    if AttributeFormat.COLOR in formats:
        colour = colour_in(text)
        if colour is not None:
            return TypedValue(_COLOUR_TYPES[len(text) - 1], colour)
    if AttributeFormat.BOOLEAN in formats:
        flag = boolean_in(text)
        if flag is not None:
            return boolean_value(flag)
    if AttributeFormat.INTEGER in formats:
        integer = integer_in(text)
        if integer is not None:
            kind = ValueType.INT_HEX if text.startswith("0x") else ValueType.INT_DEC
            return TypedValue(kind, integer & 0xFFFFFFFF)
    return _compile_number(text, formats) if formats & _NUMBER_FORMATS else None


def _compile_number(text: str, formats: AttributeFormat) -> TypedValue | None:
    number = number_in(text)
    if number is None:
        return None
    value, unit = number
    if not unit:
        bits = struct.unpack("<I", struct.pack("<f", value))[0]
        return TypedValue(ValueType.FLOAT, bits) if AttributeFormat.FLOAT in formats else None
    kind, required = (
        (ValueType.FRACTION, AttributeFormat.FRACTION)
        if unit.startswith("%")
        else (ValueType.DIMENSION, AttributeFormat.DIMENSION)
    )
    return TypedValue(kind, complex_data(value, unit)) if required in formats else None


def _compile_words(text: str, formats: AttributeFormat, values: Mapping[str, int]) -> TypedValue | None:
    if AttributeFormat.ENUM in formats and text in values:
        return TypedValue(ValueType.INT_DEC, values[text])
    if AttributeFormat.FLAGS not in formats:
        return None
    joined = 0
    for word in filter(None, (part.strip(_ASCII_SPACE) for part in text.split("|"))):
        if word not in values:
            return None
        joined |= values[word]
    return TypedValue(ValueType.INT_HEX, joined)


def boolean_value(flag: bool) -> TypedValue:  # noqa: FBT001 - the value itself
    """Return a boolean as compiled resources hold it."""
    return TypedValue(ValueType.INT_BOOLEAN, 0xFFFFFFFF if flag else 0)


def integer_value(number: int) -> TypedValue:
    """Return an integer of 32 bits, signed or not."""
    return TypedValue(ValueType.INT_DEC, number & 0xFFFFFFFF)


def string_value(text: str) -> TypedValue:
    """Return a text."""
    return TypedValue(ValueType.STRING, 0, text)

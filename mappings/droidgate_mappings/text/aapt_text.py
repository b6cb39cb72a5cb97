r"""The text rules of aapt2, Android's resource compiler: what to write so that a device sees a given text.

Three places, three rules, all measured with aapt2 2.19 of Debian and 2.19-7832930 of 2021
(tests/mappings/text; reference apk-reading B). Everything here is about the text *after* XML parsing or
*before* XML escaping.

* `android:value` of `<meta-data>` and `<property>`: backslash escapes are undone, white space stays, and text
  that looks like an integer, a float, a boolean or a colour becomes a number or a boolean on the device.
  `escape_attribute_value`, `read_attribute_value`.
* Attributes without a namespace in `res/xml/*.xml`, as in a Mobile-MCP descriptor: the very same, and
  dimensions (`10dp`) and fractions (`50%`) are typed too. `Resources.getXml().getAttributeValue` turns a
  typed value back into text in its own way (`007` is `7`, `1.10` is `1.1`, `#fff` is `#ffffffff`, `10dp` is
  `10.0dip`). `escape_xml_attribute`, `read_xml_attribute`.
* `<string>`: white space collapses, double quotes vanish and protect what they enclose, nothing is typed.
  `escape_string_resource`, `read_string_resource`.

A `\uXXXX` escape is never typed, so every text can be written in all three places, except NUL and lone
surrogates.
"""

from __future__ import annotations

import re
import struct
from math import isfinite, isnan
from typing import Final

from droidgate_mappings.model.errors import WriteError

_LONGEST_UTF8: Final = 6
"""Bytes of the longest character in modified UTF-8."""

MAX_STRING_RESOURCE_BYTES: Final = 32_767
"""aapt2 stores `STRING_TOO_LARGE` in place of a longer `<string>`, counted in its modified UTF-8."""

_ASCII_SPACE: Final = " \t\n\v\f\r"
_ESCAPE_DIGITS: Final = 4
_SIMPLE_ESCAPES: Final = {"n": "\n", "t": "\t"}
_UNWRITABLE = re.compile("[\0\ud800-\udfff]")
_NEEDS_CODE = re.compile("[\x01-\x08\x0b-\x1f\ufffe\uffff]")

_REFERENCE = re.compile(
    r"@\+?\*?(?:(?P<package>[^:/@]+):)?"
    r"(?P<type>anim|animator|array|attr|bool|color|dimen|drawable|font|fraction|id|integer|interpolator|layout|macro|menu|"
    r"mipmap|navigation|plurals|raw|string|style|styleable|transition|xml)/(?P<name>[^\s]+)"
)
_INTEGER = re.compile(r"-?[0-9]+")
_HEXADECIMAL = re.compile(r"0x[0-9A-Fa-f]+")
_COLOUR = re.compile(r"#(?:[0-9A-Fa-f]{3,4}|[0-9A-Fa-f]{6}|[0-9A-Fa-f]{8})")
_FLOAT = re.compile(
    r"(?P<number>(?>[+-]?(?:0[xX](?:[0-9A-Fa-f]+\.?[0-9A-Fa-f]*|\.[0-9A-Fa-f]+)(?:[pP][+-]?[0-9]+)?"
    r"|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)"
    r"|[+-](?:[iI][nN][fF](?:[iI][nN][iI][tT][yY])?|[nN][aA][nN](?:\([0-9A-Za-z_]*\))?)))"
    r"(?P<unit>px|dip|dp|sp|pt|in|mm|%p?)?"
)
_BOOLEANS: Final = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_MAX_FLOAT_CHARACTERS: Final = 126
_INT_RANGE: Final = range(-(2**31), 2**31)
_UNSIGNED_LIMIT: Final = 2**32
_PLAIN_FLOAT = re.compile(r"-?(?:0|[1-9][0-9]{0,3})\.[0-9]{1,2}")
_MAX_INTEGER_DIGITS: Final = 4_000
_PERCENT: Final[float] = struct.unpack("<f", struct.pack("<f", 0.01))[0]
_MANTISSA_UNIT: Final = 1 << 23
_24_BITS: Final = (1 << 24) - 1
_64_BITS: Final = (1 << 64) - 1
_RADIX_OF_SHIFT: Final = {23: 0, 16: 1, 8: 2, 0: 3}
_UNITS: Final = {"px": 0, "dip": 1, "dp": 1, "sp": 2, "pt": 3, "in": 4, "mm": 5, "%": 0, "%p": 1}


def escape_attribute_value(text: str) -> str:
    r"""Return what to write as `android:value`, before XML escaping, so that a device sees this string.

    Backslashes are doubled, newlines and tabs are `\n` and `\t`, a leading `@` or `?` gets a backslash,
    characters that XML cannot hold are `\uXXXX`, and so is the first character of a text that would become a
    number, boolean or colour. The `$` of `${` is `\u0024`, since the manifest merger replaces placeholders.

    Raises:
        WriteError: the text holds NUL or half of a surrogate pair, which aapt2 cannot carry.
    """
    escaped = _escape_attribute(text, typed=_typed_value(text) is not None)
    return escaped.replace("${", "\\u0024{")


def read_attribute_value(raw: str) -> str | bool | int | float:
    """Return what a device gives for an `android:value`, typed as Android's package parser does.

    `raw` is the value after XML parsing. Integers and colours are signed 32-bit ints, floats are rounded to
    32 bits. Resource references are not resolved here (see `reference_in`); a bare one comes back as its
    text.
    """
    typed = _typed_value(raw)
    if typed is not None:
        return typed
    return raw.strip(_ASCII_SPACE) if reference_in(raw) is not None else _undo_escapes(raw)


def read_plain_attribute(raw: str) -> str:
    """Return the text of an attribute that is never typed, such as `android:label`: its escapes undone."""
    return _undo_escapes(raw)


def escape_xml_attribute(text: str) -> str:
    r"""Return what an attribute without a namespace in `res/xml` must contain, before XML escaping.

    `getAttributeValue` on the device then gives exactly this text. Plain sentences, inner blanks and quotes,
    `7`, `-5`, `true` and `1.0` need nothing; backslashes, newlines, tabs, a leading `@` or `?`, and texts
    such as `007`, `TRUE`, `1.10`, `#fff`, `0x1F`, `10dp` or `50%`, which come back changed, are escaped as in
    `escape_attribute_value`.

    Raises:
        WriteError: the text holds NUL or half of a surrogate pair, which aapt2 cannot carry.
    """
    value = _typed_value(text, units=True)
    comes_back = value is None or _coerced_text(text) == text
    if isinstance(value, float) and not _PLAIN_FLOAT.fullmatch(text):
        comes_back = False  # releases of Android differ in the digits of unusual floats
    return _escape_attribute(text, typed=not comes_back)


def read_xml_attribute(raw: str) -> str:
    """Return what `getAttributeValue` gives on a device for an attribute without a namespace in `res/xml`.

    Args:
        raw: The attribute as written, after XML parsing.

    Returns:
        The text. A resource reference comes back as its text: a device gives `@` and a number there, and a
        reader that has the resources looks it up (see `reference_in`).
    """
    if reference_in(raw) is not None:
        return raw.strip(_ASCII_SPACE)
    return _undo_escapes(raw) if _typed_value(raw, units=True) is None else _coerced_text(raw)


def reference_in(raw: str) -> str | None:
    """Return the resource reference that a value is: `@type/name` or `@package:type/name`; None for a text.

    Args:
        raw: The value as written: `@string/x`, `@+id/x`, `@*android:string/ok`. `@foo` and `@foo/bar` are
            texts for aapt2.
    """
    stripped = raw.strip(_ASCII_SPACE)
    if not stripped.startswith("@"):
        return None
    match = _REFERENCE.fullmatch(stripped)
    if match is None or (stripped.startswith("@+") and match["type"] != "id"):
        return None
    package = f"{match['package']}:" if match["package"] else ""
    return f"@{package}{match['type']}/{match['name']}"


def is_string_reference(reference: str) -> bool:
    """Return whether a reference, as `reference_in` returns it, is to a string."""
    return reference.startswith("@") and reference.rpartition(":")[2].removeprefix("@").startswith("string/")


def escape_string_resource(text: str) -> str:
    r"""Return the content of a `<string>`, before XML escaping, that gives this text: the quoted form.

    An element whose text holds `%` needs the attribute `formatted="false"`, or aapt2 refuses two
    substitutions in it.

    Raises:
        WriteError: the text holds NUL or half of a surrogate pair, or is longer than
            `MAX_STRING_RESOURCE_BYTES`.
    """
    _refuse_unwritable(text)
    if not fits_a_resource(text):
        message = f"a string resource holds at most {MAX_STRING_RESOURCE_BYTES} bytes of UTF-8"
        raise WriteError(message, hint="put the text into android:value, res/raw or assets")
    escaped = _escape_controls(text).replace('"', '\\"').replace("'", "\\'")
    return f'"{escaped}"'


def read_string_resource(inner_text: str) -> str:
    """Return the text of a `<string>` element as a device gives it.

    Args:
        inner_text: The element's character data after XML parsing, markup left out. References are not
            resolved here (see `reference_in`).
    """
    return _undo_escapes(inner_text.strip(_ASCII_SPACE), collapse=True)


def read_typed_resource(inner_text: str) -> str:
    """Return the text that `Resources.getText` gives for a resource that aapt2 types where it can.

    Args:
        inner_text: The character data of `<integer>`, `<bool>`, `<color>`, `<dimen>` or of an item of
            `<array>`, after XML parsing. References are not resolved here (see `reference_in`).
    """
    if _typed_value(inner_text, units=True) is None:
        return read_string_resource(inner_text)
    return _coerced_text(inner_text)


def _escape_attribute(text: str, *, typed: bool) -> str:
    _refuse_unwritable(text)
    start = len(text) - len(text.lstrip(_ASCII_SPACE))
    if typed:
        head = f"\\u{ord(text[start]):04x}"
        return _escape_controls(text[:start]) + head + _escape_controls(text[start + 1 :])
    escaped = _escape_controls(text)
    if text[start : start + 1] in {"@", "?"}:
        lead = _escape_controls(text[:start])
        return f"{lead}\\{escaped[len(lead) :]}"
    return escaped


def _escape_controls(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t")
    return _NEEDS_CODE.sub(lambda found: f"\\u{ord(found[0]):04x}", escaped)


def _refuse_unwritable(text: str) -> None:
    match = _UNWRITABLE.search(text)
    if match is not None:
        message = (
            f"a text holds U+{ord(match[0]):04X} (character {match.start()}), which no Android resource can"
        )
        raise WriteError(message, hint="remove the character")


def _undo_escapes(raw: str, *, collapse: bool = False) -> str:
    if "\\" not in raw and not collapse:
        return raw
    pieces: list[str] = []
    quoted = after_space = False
    position = 0
    while position < len(raw):
        character = raw[position]
        position += 1
        if collapse and not quoted and character in _ASCII_SPACE:
            if not after_space:
                pieces.append(" ")
            after_space = True
            continue
        after_space = False
        if character == "\\":
            text, position = _read_escape(raw, position)
            if text is None:
                break
            pieces.append(text)
        elif collapse and character == '"':
            quoted = not quoted
        else:
            pieces.append(character)
    return "".join(pieces)


def _read_escape(raw: str, position: int) -> tuple[str | None, int]:
    """Return the text of the escape after a backslash, None where aapt2 gives up, and where it ends."""
    if position == len(raw):
        return None, position
    letter = raw[position]
    position += 1
    if letter != "u":
        return _SIMPLE_ESCAPES.get(letter, letter), position
    digits = raw[position : position + _ESCAPE_DIGITS]
    if re.fullmatch(r"[0-9A-Fa-f]*", digits) is None:
        return None, position
    code = int(digits or "0", 16)
    is_surrogate = 0xD800 <= code <= 0xDFFF  # noqa: PLR2004 - the surrogate range
    return "" if is_surrogate else chr(code), position + len(digits)


def _typed_value(raw: str, *, units: bool = False) -> bool | int | float | None:
    """Return the value of a text that aapt2 types, None where it stays a string.

    With `units`, dimensions and fractions are typed too; their number is returned without the unit.
    """
    flag, colour, number = boolean_in(raw), colour_in(raw), integer_in(raw)
    if flag is not None:
        return flag
    if colour is not None:
        return signed_int(colour)
    return number if number is not None else _float_value(raw.strip(_ASCII_SPACE), units=units)


def boolean_in(raw: str) -> bool | None:
    """Return the boolean that a value as written is, None where it is not one."""
    return _BOOLEANS.get(raw.strip(_ASCII_SPACE))


def colour_in(raw: str) -> int | None:
    """Return the colour that a value as written is, unsigned as ARGB, None where it is not one."""
    text = raw.strip(_ASCII_SPACE)
    return int(_full_colour(text), 16) if _COLOUR.fullmatch(text) else None


def integer_in(raw: str) -> int | None:
    """Return the integer that a value as written is, signed 32 bits, None where it is not one."""
    text = raw.strip(_ASCII_SPACE)
    if len(text) > _MAX_INTEGER_DIGITS:
        return None
    if _HEXADECIMAL.fullmatch(text):
        value = int(text, 16)
        return signed_int(value) if value < _UNSIGNED_LIMIT else None
    if _INTEGER.fullmatch(text):
        value = int(text)
        return value if value in _INT_RANGE else None
    return None


def number_in(raw: str) -> tuple[float, str] | None:
    """Return the number of 32 bits and the unit that a value as written is, None where it is not a number.

    The unit is empty for a plain number; `10dp` is a dimension and `50%` (of itself) and `50%p` (of its
    parent) are fractions, in percent.
    """
    text = raw.strip(_ASCII_SPACE)
    value, match = _float_value(text, units=True), _FLOAT.fullmatch(text)
    return None if value is None or match is None else (value, match["unit"] or "")


def _float_value(text: str, *, units: bool) -> float | None:
    if len(text) > _MAX_FLOAT_CHARACTERS:
        return None
    match = _FLOAT.fullmatch(text)
    if match is None or (match["unit"] and not units):
        return None
    number = match["number"]
    if "nan" in number.lower():
        return float("nan")
    if "x" not in number.lower():
        return _float32(float(number))
    try:
        return _float32(float.fromhex(number))
    except OverflowError:
        return float("-inf" if number.startswith("-") else "inf")


def _full_colour(text: str) -> str:
    digits = text[1:]
    if len(digits) in {3, 4}:
        digits = "".join(digit * 2 for digit in digits)
    return digits.rjust(8, "f")


def signed_int(value: int) -> int:
    """Return unsigned 32 bits as Java's int."""
    return value - _UNSIGNED_LIMIT if value >= _UNSIGNED_LIMIT // 2 else value


def _float32(number: float) -> float:
    try:
        rounded: float = struct.unpack("<f", struct.pack("<f", number))[0]
    except OverflowError:
        return float("inf") if number > 0 else float("-inf")
    return rounded


def _coerced_text(raw: str) -> str:
    """Return a typed attribute as `TypedValue.coerceToString` writes it (android.util.TypedValue)."""
    text = raw.strip(_ASCII_SPACE)
    if text in _BOOLEANS:
        return str(_BOOLEANS[text]).lower()
    if _COLOUR.fullmatch(text):
        return f"#{int(_full_colour(text), 16):x}"
    number = integer_in(text)
    if number is not None:
        return f"0x{number % _UNSIGNED_LIMIT:x}" if text.startswith("0x") else str(number)
    value = _float_value(text, units=True)
    match = _FLOAT.fullmatch(text)
    unit = match["unit"] if match is not None else None
    if value is None:
        return raw
    if unit is None:
        return java_float_text(value)
    if unit.startswith("%"):
        return java_float_text(_float32(_complex_value(_as_fraction(value)) * 100)) + unit
    return java_float_text(_complex_value(value)) + ("dip" if unit == "dp" else unit)


def complex_data(value: float, unit: str) -> int:
    """Return `Res_value.data` of a dimension or fraction: mantissa, radix point and unit (ResourceTypes.h).

    Args:
        value: The number; percents for a fraction.
        unit: As `number_in` gives it.
    """
    mantissa, shift = _complex_parts(_as_fraction(value) if unit.startswith("%") else value)
    return mantissa << 8 | _RADIX_OF_SHIFT[shift] << 4 | _UNITS[unit]


def _as_fraction(percents: float) -> float:
    return _float32(percents * _PERCENT)


def _complex_value(value: float) -> float:
    """Round a number as a dimension holds it."""
    mantissa, shift = _complex_parts(value)
    if mantissa > _24_BITS // 2:
        mantissa -= _24_BITS + 1
    return mantissa / (1 << (23 - shift))


def _complex_parts(value: float) -> tuple[int, int]:
    """Return 24 bits of mantissa and the place of its radix point, one of four (ResourceTypes.cpp)."""
    if not isfinite(value):
        return 0, 23
    bits = int(_float32(abs(value) * _MANTISSA_UNIT + 0.5)) & _64_BITS
    shift = 23
    if bits % _MANTISSA_UNIT:
        shift = next((item for item in (0, 8, 16) if bits < 1 << (23 + item)), 23)
    mantissa = (bits >> shift) & _24_BITS
    return (-mantissa & _24_BITS if value < 0 else mantissa), shift


def java_float_text(value: float) -> str:
    """Return `Float.toString` of a 32-bit float: the shortest digits that give it back."""
    if isnan(value):
        return "NaN"
    if not isfinite(value):
        return "Infinity" if value > 0 else "-Infinity"
    value = _float32(value)
    spellings = (f"{value:.{digits}e}" for digits in range(17))
    shortest = next(spelling for spelling in spellings if _float32(float(spelling)) == value)
    mantissa, _, exponent = shortest.partition("e")
    power = int(exponent)
    if value and not -3 <= power < 7:  # noqa: PLR2004 - the limits of Float.toString
        return f"{mantissa if '.' in mantissa else mantissa + '.0'}E{power}"
    places = max(1, len(mantissa.partition(".")[2]) - power)
    return f"{float(shortest):.{places}f}"


def fits_a_resource(text: str) -> bool:
    """Return whether aapt2 stores a text: in modified UTF-8 it has at most 32,767 bytes."""
    if len(text) * _LONGEST_UTF8 <= MAX_STRING_RESOURCE_BYTES:
        return True
    length = len(text.encode("utf-8", "surrogatepass")) + 2 * sum(character > "\uffff" for character in text)
    return length <= MAX_STRING_RESOURCE_BYTES

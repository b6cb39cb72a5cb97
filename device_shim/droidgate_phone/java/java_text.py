"""How Java sees text: UTF-16 units, and the spelling of its numbers.

Android and its apps are Java programs; lengths that they check and positions that they report count 16-bit
units, so a character beyond the first 65,536 counts twice.
"""

from __future__ import annotations

import math
import struct
from decimal import Decimal
from typing import Final
from unicodedata import decimal

_PLAIN_FROM: Final = Decimal("0.001")
_PLAIN_BELOW: Final = Decimal(10_000_000)
_MOST_FLOAT_DIGITS: Final = 9
_INT_BITS: Final = 31
_LONG_BITS: Final = 63
_DIGITS: Final = "0123456789abcdef"


def units_of(text: str) -> str:
    """Return the text with each UTF-16 unit as one character: pairs of surrogates instead of characters
    beyond the basic plane.
    """
    if text.isascii():
        return text
    data = text.encode("utf-16-be", "surrogatepass")
    return "".join(chr(data[at] << 8 | data[at + 1]) for at in range(0, len(data), 2))


def text_of_units(units: str) -> str:
    """Return the text that UTF-16 units spell; half a pair stays a surrogate."""
    if units.isascii():
        return units
    return units.encode("utf-16-be", "surrogatepass").decode("utf-16-be", "surrogatepass")


def java_length(text: str) -> int:
    """Return `String.length()`."""
    return len(text) + sum(character > "\uffff" for character in text)


def java_trim(text: str) -> str:
    """Return `String.trim()`: without blanks and control characters at both ends."""
    return text.strip("".join(map(chr, range(0x21))))


def java_int(text: str, base: int = 10) -> int | None:
    """Return what `Integer.parseInt` reads, None where it throws."""
    number = java_long(text, base)
    return number if number is not None and -(1 << _INT_BITS) <= number < 1 << _INT_BITS else None


def java_long(digits: str, base: int = 10) -> int | None:
    """Return what `Long.parseLong` reads, None where it throws."""
    # It takes the decimal digits of any script, one unit of UTF-16 each; `Double.valueOf` takes ASCII's.
    digits = "".join(str(decimal(char, char)) if char <= "\uffff" else char for char in digits)
    plain = digits[1:] if digits[:1] in ("-", "+") else digits
    # Python takes underscores and prefixes such as 0x, Java does not; more digits than these do not fit.
    has_digits = bool(plain) and set(plain.lower()) <= set(_DIGITS[:base])
    significant = plain.lstrip("0")
    if not has_digits or len(significant) > _LONG_BITS:
        return None
    number = int(significant or "0", base) * (-1 if digits[0] == "-" else 1)
    return number if -(1 << _LONG_BITS) <= number < 1 << _LONG_BITS else None


def java_double(value: float) -> str:
    """Return `Double.toString`: the shortest digits, with an exponent outside 0.001 to 10,000,000."""
    # Of numbers that one digit tells apart, it has the nearest with two: 4.9E-324, where Python has 5e-324.
    two_digits = f"{value:.1e}"
    return _special(value) or _java_number(two_digits if float(two_digits) == value else repr(value))


def java_float(value: float) -> str:
    """Return `Float.toString` of the nearest float."""
    rounded = nearest_float(value)
    return _special(rounded) or _java_number(_shortest_float(rounded))


def nearest_float(value: float) -> float:
    """Return what a cast to float leaves of a double: one that is too large is infinite."""
    try:
        rounded: float = struct.unpack("f", struct.pack("f", value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)
    return rounded


def _shortest_float(rounded: float) -> str:
    # As with doubles, the smallest has two digits: 1.4E-45.
    for digits in range(2, _MOST_FLOAT_DIGITS):
        text = f"{rounded:.{digits}g}"
        if struct.unpack("f", struct.pack("f", float(text)))[0] == rounded:
            return text
    return f"{rounded:.{_MOST_FLOAT_DIGITS}g}"


def _special(value: float) -> str | None:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return None


def _java_number(shortest: str) -> str:
    """Write shortest digits in Java's form: plain from 1e-3 to 1e7, else with an exponent."""
    number = Decimal(shortest)
    if number == 0:
        return "-0.0" if number.is_signed() else "0.0"
    if _PLAIN_FROM <= abs(number) < _PLAIN_BELOW:
        text = format(number.normalize(), "f")
        return text if "." in text else text + ".0"
    sign, digits, _ = number.normalize().as_tuple()
    rest = "".join(map(str, digits[1:])) or "0"
    return f"{'-' if sign else ''}{digits[0]}.{rest}E{number.adjusted()}"

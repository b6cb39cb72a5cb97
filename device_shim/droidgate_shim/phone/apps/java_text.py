"""How Java sees text: UTF-16 units, and the spelling of its numbers.

The sample apps are Java programs; lengths that they check and positions that they tell count 16-bit units, so
a character beyond the first 65,536 counts twice.
"""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Final

_PLAIN_FROM: Final = 1e-3
_PLAIN_BELOW: Final = 1e7


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


def java_double(value: float) -> str:
    """Return `Double.toString`: the shortest digits, with an exponent outside 0.001 to 10,000,000."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    sign = "-" if math.copysign(1, value) < 0 else ""
    size = abs(value)
    if size == 0:
        return sign + "0.0"
    if _PLAIN_FROM <= size < _PLAIN_BELOW:
        plain = format(Decimal(repr(size)), "f")
        return sign + (plain if "." in plain else plain + ".0")
    digits = "".join(map(str, Decimal(repr(size)).as_tuple().digits)).rstrip("0") or "0"
    return f"{sign}{digits[0]}.{digits[1:] or '0'}E{Decimal(repr(size)).adjusted()}"

"""The engine's JSON: RFC 8259 with limits, numbers digit for digit (shim-engine.md 1)."""

from __future__ import annotations

import json
import math
from decimal import Decimal
from typing import Final, Never

from droidgate_mappings.model.errors import BudgetError, InputError
from droidgate_mappings.model.json_values import Json, canonical_json
from droidgate_mappings.records import dataclass
from droidgate_mappings.text.json_text import (
    DuplicateKeyError,
    is_within_depth,
    read_members,
    refuse_lone_surrogates,
)

MAX_UNITS: Final = 200_000
"""UTF-16 units of a document; Binder carries this with room to spare (reference android-runtime 1.7)."""

MAX_DEPTH: Final = 64
MAX_KEYS: Final = 1_024
MAX_NUMBER_CHARACTERS: Final = 32
MAX_EXPONENT_DIGITS: Final = 3
LONG: Final = range(-(1 << 63), 1 << 63)
_ASTRAL: Final = "\uffff"


@dataclass(frozen=True, slots=True)
class DocumentLimits:
    """How much a document may hold.

    Attributes:
        units: UTF-16 units.
        depth: Levels of objects and lists.
    """

    units: int = MAX_UNITS
    depth: int = MAX_DEPTH


MESSAGE: Final = DocumentLimits()
"""Limits of everything that comes from another app."""

BUILT: Final = DocumentLimits(units=16 * 1024 * 1024, depth=512)
"""Limits of the files that the builder writes."""


def parse_strict(text: str, *, path: str = "<text>", limits: DocumentLimits = MESSAGE) -> Json:
    """Parse one document.

    Args:
        text: The document.
        path: How errors name it.
        limits: How much it may hold.

    Returns:
        The JSON value; a number is an int, or a Decimal of the digits it came with.

    Raises:
        InputError: it is malformed, or over a limit.
    """
    if not fits_units(text, limits.units):
        message = f"the JSON has more than {limits.units} UTF-16 units"
        raise BudgetError(message, place=path)
    refuse_lone_surrogates(text, path=path)
    try:
        value = _decoder.decode(text)
    except json.JSONDecodeError as error:
        raise InputError(f"not JSON: {error.msg[:1].lower()}{error.msg[1:]}", place=path) from None
    except RecursionError:
        raise _too_deep(limits, path) from None
    except DuplicateKeyError as error:
        raise InputError(f"duplicate key {str(error)!r}", place=path) from None
    except InputError as error:
        raise type(error)(error.message, place=path) from None
    if text.count("[") + text.count("{") > limits.depth and not is_within_depth(value, limits.depth):
        raise _too_deep(limits, path)
    return value


def fits_units(text: str, most: int = MAX_UNITS) -> bool:
    """Return whether a text has no more UTF-16 units."""
    if 2 * len(text) <= most:
        return True
    return len(text) <= most and len(text) + sum(map(_ASTRAL.__lt__, text)) <= most


def write_strict(value: Json) -> str:
    """Return a value's JSON text: keys sorted by code points, no blanks, numbers digit for digit."""
    return canonical_json(value)


def exact_numbers(value: Json) -> Json:
    """Return a value that another parser read with every float as a Decimal of its shortest digits."""
    if isinstance(value, float):
        return Decimal(repr(value))
    if isinstance(value, dict):
        return {name: exact_numbers(member) for name, member in value.items()}
    if isinstance(value, list):
        return [exact_numbers(item) for item in value]
    return value


def _too_deep(limits: DocumentLimits, path: str) -> BudgetError:
    return BudgetError(f"the JSON is nested more than {limits.depth} levels deep", place=path)


def _read_object(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    if len(pairs) > MAX_KEYS:
        message = f"an object has more than {MAX_KEYS} keys"
        raise BudgetError(message)
    return read_members(pairs)


def _read_integer(digits: str) -> int:
    # 19 digits and a sign are the most that 64 bits need.
    number = int(digits) if len(digits) <= MAX_NUMBER_CHARACTERS else _refuse_number()
    return number if number in LONG else _refuse_number()


def _read_decimal(digits: str) -> Decimal:
    if len(digits) > MAX_NUMBER_CHARACTERS:
        _refuse_number()
    _, _, exponent = digits.lower().partition("e")
    if len(exponent.lstrip("+-")) > MAX_EXPONENT_DIGITS:
        _refuse_number()
    number = Decimal(digits)
    if math.isinf(float(number)):
        _refuse_number()
    return number or abs(number)


def _refuse_number() -> Never:
    message = "a number is beyond 64 bits, or has too many characters"
    raise BudgetError(message)


def _refuse_constant(word: str) -> Never:
    raise InputError(f"{word} is not a JSON value")


_decoder: Final = json.JSONDecoder(
    strict=True,
    object_pairs_hook=_read_object,
    parse_int=_read_integer,
    parse_float=_read_decimal,
    parse_constant=_refuse_constant,
)

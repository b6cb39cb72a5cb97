"""What parameters and results on AppFunctions' wire share: errors, declared types, and single values."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Final, Literal, TypeAlias

from droidgate_mappings.model.errors import DroidgateError
from droidgate_mappings.model.json_values import Json, pointer_token
from droidgate_mappings.model.types import (
    AllOfType,
    ObjectType,
    OneOfType,
    Property,
    RefType,
    ScalarType,
    Type,
)

SCHEMA_TYPE_KEY: Final = "schemaType"
"""Key that sets a document's schema type: it says which alternative of a one-of an object is."""

MAX_DEPTH: Final = 64
"""Levels of a value or a type; more is an error."""

MAX_STEPS: Final = 500_000
"""Choices and merged types looked at in one conversion: alternatives in alternatives could go on for ever."""

Definitions: TypeAlias = Mapping[str, Type]

WireProblem = Literal[
    "bytes",
    "opaque",
    "wrong-kind",
    "out-of-range",
    "unknown-key",
    "empty-name",
    "empty-array",
    "nested-array",
    "null-item",
    "no-alternative",
    "unknown-reference",
    "not-an-object",
    "not-a-list",
    "no-result",
    "too-deep",
    "too-much",
]

INTEGER_BITS: Final = {"int32": 32, "int64": 64}
LONG_BITS: Final = 64
_FLOAT_DIGITS: Final = range(6, 10)
"""Numbers of decimal digits that may be needed to distinguish a 32-bit float from its neighbours."""


class AppFunctionWireError(DroidgateError):
    """A value that the wire cannot carry, or a document that does not fit its declaration.

    Attributes:
        problem: What kind of problem.
        pointer: JSON Pointer of the value.
        token: The failure token: `invalid_argument` for parameters, `malformed_response` for results.
    """

    exit_code = 5

    def __init__(
        self, problem: WireProblem, message: str, *, pointer: str, token: str, hint: str | None = None
    ) -> None:
        super().__init__(message, place=pointer or None, hint=hint)
        self.problem = problem
        self.pointer = pointer
        self.token = token


@dataclass(frozen=True, slots=True)
class Walk:
    """What stays the same while a value is walked.

    Attributes:
        definitions: The provider's definitions.
        token: The failure token of its errors.
        steps: What is left of the budget.
    """

    definitions: Definitions
    token: str
    steps: Iterator[int] = field(default_factory=lambda: iter(range(MAX_STEPS)))

    def error(
        self, problem: WireProblem, message: str, pointer: str, hint: str | None = None
    ) -> AppFunctionWireError:
        """Return an error at a place."""
        return AppFunctionWireError(problem, message, pointer=pointer, token=self.token, hint=hint)

    def wrong_kind(self, expected: str, value: Json, pointer: str) -> AppFunctionWireError:
        """Return the error of a value of another kind than declared."""
        return self.error("wrong-kind", f"{expected} is declared and {name_kind(value)} is given", pointer)

    def check_depth(self, pointer: str, depth: int) -> None:
        """Refuse a value or type that is nested too deep.

        Raises:
            AppFunctionWireError: it is.
        """
        if depth > MAX_DEPTH:
            raise self.error("too-deep", f"the value is nested more than {MAX_DEPTH} levels deep", pointer)

    def _spend(self, pointer: str) -> None:
        if next(self.steps, None) is None:
            raise self.error("too-much", "the value fits too many declared alternatives to be read", pointer)

    def resolve(self, declared: Type, pointer: str) -> Type:
        """Return the type behind references; an all-of becomes the object that its members describe together.

        Raises:
            AppFunctionWireError: a reference does not resolve, or leads in a circle.
        """
        return self._resolve(declared, pointer, frozenset(), 0)

    def _resolve(self, declared: Type, pointer: str, seen: frozenset[str], depth: int) -> Type:
        while isinstance(declared, RefType):
            if declared.name in seen or declared.name not in self.definitions:
                message = f"the type {declared.name!r} that is referred to here is not defined"
                raise self.error("unknown-reference", message, pointer)
            seen |= {declared.name}
            declared = self.definitions[declared.name]
        return self._merge(declared, pointer, seen, depth) if isinstance(declared, AllOfType) else declared

    def _merge(self, declared: AllOfType, pointer: str, seen: frozenset[str], depth: int) -> ObjectType:
        self.check_depth(pointer, depth)
        self._spend(pointer)
        # Jetpack flattens objects only: a member of another kind says nothing (reference 2.c).
        properties: dict[str, Property] = {}
        for member in declared.members:
            resolved = self._resolve(member, pointer, seen, depth + 1)
            if not isinstance(resolved, ObjectType):
                continue
            for name, property_ in resolved.properties.items():
                known = properties.get(name)
                required = property_.required or (known is not None and known.required)
                properties[name] = property_.model_copy(update={"required": required})
        return ObjectType(properties=properties, qualified_name=declared.qualified_name)

    def alternatives(self, declared: OneOfType, pointer: str) -> list[tuple[str | None, Type]]:
        """Return the alternatives of a one-of: the schema type that names each, and the type itself.

        Raises:
            AppFunctionWireError: a reference does not resolve, or too many alternatives were tried.
        """
        self._spend(pointer)
        found: list[tuple[str | None, Type]] = []
        for alternative in declared.alternatives:
            resolved = self.resolve(alternative, pointer)
            name = resolved.qualified_name if isinstance(resolved, ObjectType) else None
            found.append((name or (alternative.name if isinstance(alternative, RefType) else None), resolved))
        return found


def name_kind(value: Json) -> str:
    """Name a JSON value's kind for a message."""
    names: tuple[tuple[type | tuple[type, ...], str], ...] = (
        (bool, "a boolean"),
        (int, "a whole number"),
        ((float, Decimal), "a number"),
        (str, "a string"),
        (Mapping, "an object"),
        ((list, tuple), "a list"),
    )
    return next((name for kind, name in names if isinstance(value, kind)), "null")


def point(pointer: str, key: str | int) -> str:
    """Return the JSON Pointer of a member."""
    return f"{pointer}/{pointer_token(str(key))}"


def fits_bits(number: int, bits: int) -> bool:
    """Return whether a whole number fits into so many bits, signed."""
    return -(1 << (bits - 1)) <= number < 1 << (bits - 1)


def read_scalar(walk: Walk, value: Json, declared: ScalarType, pointer: str) -> Json:
    """Return a value as the declared kind's Python type.

    Raises:
        AppFunctionWireError: another kind, out of range, or bytes.
    """
    kind = declared.kind
    if kind == "bytes":
        message = "bytes cannot cross the shell"
        raise walk.error("bytes", message, pointer, "call the function through an app on the device")
    if kind in INTEGER_BITS:
        return _read_integer(walk, value, INTEGER_BITS[kind], pointer)
    if kind in {"float", "double"}:
        return _read_real(walk, value, single=kind == "float", pointer=pointer)
    if kind == "boolean" and isinstance(value, bool):
        return value
    if kind == "string" and isinstance(value, str):
        return value
    if kind == "null" and value is None:
        return None
    raise walk.wrong_kind(f"a {kind}", value, pointer)


def read_number(value: Json) -> int | float | None:
    """Return a JSON number as an int, or as a float where it is not an int; None for anything else.

    A number beyond the doubles, and what is not a finite number, is None too.
    """
    if isinstance(value, bool):
        return None
    if isinstance(value, Decimal):
        # Its exponent is the sender's choice: as a float it is an infinity, as an int a million digits.
        value = float(value) if value.is_finite() else math.inf
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if isinstance(value, int) else None


def _read_integer(walk: Walk, value: Json, bits: int, pointer: str) -> int:
    number = value if isinstance(value, int) else read_number(value)
    if number is None or isinstance(value, bool) or number != int(number):
        raise walk.wrong_kind("a whole number", value, pointer)
    if not fits_bits(int(number), bits):
        raise walk.error("out-of-range", f"the number does not fit into {bits} bits", pointer)
    return int(number)


def _read_real(walk: Walk, value: Json, *, single: bool, pointer: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        raise walk.wrong_kind("a number", value, pointer)
    number = read_number(value)
    try:
        if number is not None:
            return to_single(float(number)) if single else float(number)
    except OverflowError:
        pass
    kind = "float" if single else "double"
    raise walk.error("out-of-range", f"the number does not fit into a {kind}", pointer)


def to_single(number: float) -> float:
    """Return the 32-bit float nearest to a number, as a double.

    Raises:
        OverflowError: it is beyond the largest 32-bit float.
    """
    read: float = struct.unpack("<f", struct.pack("<f", number))[0]
    return read


def shorten_single(number: float) -> float:
    """Return the shortest decimal that is the same 32-bit float.

    A float of 0.1 arrives widened, as 0.10000000149011612.


    Raises:
        OverflowError: it is beyond the largest 32-bit float.
    """
    single = to_single(number)
    for digits in _FLOAT_DIGITS:
        shortened = float(f"{single:.{digits}g}")
        try:
            if to_single(shortened) == single:
                return shortened
        except OverflowError:
            continue
    return single


def check_scalar(walk: Walk, value: Json, pointer: str) -> Json:
    """Return a scalar of undeclared type; whole numbers are longs, all others doubles."""
    if isinstance(value, bool | str):
        return value
    if isinstance(value, int) and not fits_bits(value, LONG_BITS):
        raise walk.error("out-of-range", f"the number does not fit into {LONG_BITS} bits", pointer)
    if isinstance(value, int | float | Decimal):
        number = read_number(value)
        if number is None:
            raise walk.error("out-of-range", "the number does not fit into a double", pointer)
        return number
    raise walk.wrong_kind("a value", value, pointer)


def without(value: Mapping[str, Json], key: str) -> dict[str, Json]:
    """Return an object without one of its keys."""
    return {name: item for name, item in value.items() if name != key}


def name_alternative(value: dict[str, Json], name: str | None, object_type: ObjectType) -> dict[str, Json]:
    """Return an alternative's value with the name of the alternative under `schemaType`.

    Args:
        value: The value.
        name: The alternative's name; None without one.
        object_type: The alternative; a property `schemaType` of its own stays as it is.
    """
    if not name or SCHEMA_TYPE_KEY in object_type.properties:
        return value
    return {SCHEMA_TYPE_KEY: name, **without(value, SCHEMA_TYPE_KEY)}


def has_required(value: Mapping[str, Json], declared: ObjectType) -> bool:
    """Return whether an object has every key that its type requires."""
    # A key that is required and nullable may stay away (reference 2.c, required against nullable).
    return all(
        name in value
        for name, property_ in declared.properties.items()
        if property_.required and not property_.type.nullable
    )

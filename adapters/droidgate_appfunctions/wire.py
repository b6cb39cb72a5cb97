"""Calls of app functions in the JSON form of `cmd app_function`: the object that it takes as `--parameters`,
and the response document that it prints (reference appfunctions 4, 6.3, 6.4).

The shell turns `--parameters` into a GenericDocument by the JSON's own types, so a double has to be written
`5.0` and an integer `5`; null, empty lists and lists in lists are lost. A result comes back with every
property in a list. Values are JSON values (`droidgate_mappings.model.json_values`); bytes cannot pass the
shell, and void and platform objects are None.

Without I/O. Whatever they are given, these functions raise `AppFunctionWireError` and nothing else.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Final, Literal

from droidgate_appfunctions.format import NAMES
from droidgate_mappings.model.capability import reachable_definitions
from droidgate_mappings.model.errors import DroidgateError
from droidgate_mappings.model.json_values import Json, pointer_token
from droidgate_mappings.model.types import (
    AllOfType,
    ArrayType,
    Definitions,
    ObjectType,
    OneOfType,
    OpaqueType,
    Property,
    RefType,
    ScalarType,
    Type,
)
from droidgate_mappings.records import dataclass, field

SCHEMA_TYPE_KEY: Final = "schemaType"
"""Key that sets a document's schema type: it says which alternative of a one-of an object is."""

MAX_DEPTH: Final = 64
"""Levels of a value or a type; more is an error."""

MAX_STEPS: Final = 500_000
"""Choices and merged types looked at in one conversion: alternatives in alternatives could go on for ever."""


WireProblem = Literal[
    "bytes", "opaque", "wrong-kind", "out-of-range", "unknown-key", "empty-name", "empty-array",
    "nested-array", "null-item", "no-alternative", "unknown-reference", "not-an-object", "not-a-list",
    "no-result", "too-deep", "too-much",
]  # fmt: skip

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
            AppFunctionWireError: the nesting is deeper than the limit.
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
                earlier_property = properties.get(name)
                required = property_.required or (earlier_property is not None and earlier_property.required)
                properties[name] = property_.changed({"required": required})
        return ObjectType(properties=properties, qualified_name=declared.qualified_name)

    def alternatives(self, declared: OneOfType, pointer: str) -> list[tuple[str | None, Type]]:
        """Return the alternatives of a one-of: the schema type that names each, and the type itself.

        Raises:
            AppFunctionWireError: a reference does not resolve, or too many alternatives were tried.
        """
        self._spend(pointer)
        types: list[tuple[str | None, Type]] = []
        for alternative in declared.alternatives:
            resolved = self.resolve(alternative, pointer)
            name = resolved.qualified_name if isinstance(resolved, ObjectType) else None
            types.append((name or (alternative.name if isinstance(alternative, RefType) else None), resolved))
        return types


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


_PARAMETER_TOKEN: Final = "invalid_argument"  # noqa: S105 - a failure token, no secret


@dataclass(frozen=True, slots=True)
class DroppedValue:
    """A value that is left out because the shell drops it, such as an empty list, by its JSON Pointer."""

    problem: WireProblem
    pointer: str


def write_parameters(
    values: Mapping[str, Json],
    input_type: Type,
    definitions: Definitions,
    *,
    losses: list[DroppedValue] | None = None,
) -> dict[str, Json]:
    """Return the object to send as `--parameters`, as text of `json.dumps`.

    Args:
        values: Parameter -> value.
        input_type: The declared input; an object without properties declares nothing, and values go by their
            own kind.
        definitions: The provider's definitions.
        losses: Takes what is left out although it was given: empty lists, which the shell drops. Without it
            an empty list is an error. Nulls are left out silently, being the same as no value.

    Raises:
        AppFunctionWireError: a value that is not of the declared type, or that the shell cannot carry.
    """
    walk = Walk(definitions, _PARAMETER_TOKEN)
    written = _ParameterWriter(walk, losses).write(values, walk.resolve(input_type, ""), "", 0)
    if not isinstance(written, dict):
        raise walk.error("not-an-object", "the parameters are not an object", "")
    return written


_MOST_ROUNDS: Final = 64


def can_be_written(declared: Type, definitions: Definitions) -> bool:
    """Return whether the shell carries any value of a type: none of a list whose items need such a list."""
    names = reachable_definitions(declared, dict(definitions))
    written: set[str] = set()
    for _ in range(_MOST_ROUNDS):
        more = {name for name in names - written if _can_be_written(definitions[name], names - written)}
        if not more:
            return _can_be_written(declared, names - written)
        written |= more
    # Definitions that lead so far are not followed to their end.
    return True


def _can_be_written(declared: Type | None, others: set[str]) -> bool:
    """Return whether a value goes through the shell, if none of the other definitions does."""
    match declared:
        case ScalarType():
            return declared.kind != "bytes"
        case OpaqueType():
            return False
        case RefType():
            return declared.name not in others
        case ArrayType():
            return not isinstance(declared.items, ArrayType) and _can_be_written(declared.items, others)
        case ObjectType():
            needed = (item.type for item in declared.properties.values() if item.required)
            return all(item.nullable or _can_be_written(item, others) for item in needed)
        case AllOfType():
            return all(_can_be_written(member, others) for member in declared.members)
        case OneOfType():
            return any(_can_be_written(item, others) for item in declared.alternatives)
    return True


@dataclass(frozen=True, slots=True)
class _ParameterWriter:
    walk: Walk
    losses: list[DroppedValue] | None

    def write(self, value: Json, declared: Type | None, pointer: str, depth: int) -> Json:
        self.walk.check_depth(pointer, depth)
        resolved = None if declared is None else self.walk.resolve(declared, pointer)
        match resolved:
            case ScalarType():
                return read_scalar(self.walk, value, resolved, pointer)
            case ArrayType():
                return self._write_list(value, resolved.items, pointer, depth)
            case ObjectType():
                return self._write_object(value, resolved, pointer, depth)
            case OneOfType():
                return self._write_one_of(value, resolved, pointer, depth)
            case OpaqueType():
                message = "a platform object cannot be given through the shell"
                raise self.walk.error("opaque", message, pointer)
        return self._write_untyped(value, pointer, depth)

    def _write_object(self, value: Json, declared: ObjectType, pointer: str, depth: int) -> dict[str, Json]:
        if not isinstance(value, Mapping):
            raise self.walk.wrong_kind("an object", value, pointer)
        written: dict[str, Json] = {}
        for name, item in value.items():
            here = point(pointer, name)
            field = declared.properties.get(name)
            if not isinstance(name, str) or not name:
                raise self.walk.error("empty-name", "a property's name is not empty", here)
            if field is None and declared.properties:
                hint = f"there are: {', '.join(declared.properties)}"
                raise self.walk.error("unknown-key", f"nothing named {name!r} is declared", here, hint)
            if item is None:
                continue
            entry = self.write(item, None if field is None else field.type, here, depth + 1)
            if not isinstance(entry, list) or entry:
                written[name] = entry
            elif self.losses is not None:
                self.losses.append(DroppedValue("empty-array", here))
            else:
                message = "the shell drops an empty list, so the app would get none"
                raise self.walk.error("empty-array", message, here, "leave the parameter out")
        return written

    def _write_list(self, value: Json, items: Type | None, pointer: str, depth: int) -> list[Json]:
        if not isinstance(value, list | tuple):
            raise self.walk.wrong_kind("a list", value, pointer)
        written: list[Json] = []
        for index, item in enumerate(value):
            here = point(pointer, index)
            if item is None:
                raise self.walk.error("null-item", "a list holds no null on this wire", here)
            entry = self.write(item, items, here, depth + 1)
            if isinstance(entry, list):
                raise self.walk.error("nested-array", "a list holds no lists on this wire", here)
            written.append(entry)
        return _align_kinds(self.walk, written, pointer)

    def _write_one_of(self, value: Json, declared: OneOfType, pointer: str, depth: int) -> dict[str, Json]:
        if not isinstance(value, Mapping):
            raise self.walk.wrong_kind("an object", value, pointer)
        fitting = [
            (name, written, losses)
            for name, item in self._candidates(value, declared, pointer)
            if (trial := self._try(value, item, pointer, depth)) is not None
            for written, losses in (trial,)
        ]
        if len(fitting) != 1:
            many = "none" if not fitting else str(len(fitting))
            names = ", ".join(str(name) for name, _ in self.walk.alternatives(declared, pointer))
            hint = f'say which as "{SCHEMA_TYPE_KEY}": one of {names}'
            raise self.walk.error("no-alternative", f"{many} of the alternatives fit", pointer, hint)
        name, written, losses = fitting[0]
        if losses and self.losses is None:
            message = "the shell drops an empty list, so the app would get none"
            raise self.walk.error("empty-array", message, losses[0].pointer, "leave the parameter out")
        if self.losses is not None:
            self.losses.extend(losses)
        return {**written, SCHEMA_TYPE_KEY: name} if name is not None else written

    def _candidates(
        self, value: Mapping[str, Json], declared: OneOfType, pointer: str
    ) -> list[tuple[str | None, ObjectType]]:
        schema_type = value.get(SCHEMA_TYPE_KEY)
        alternatives = self.walk.alternatives(declared, pointer)
        return [
            (name, item)
            for name, item in alternatives
            if isinstance(item, ObjectType) and (not isinstance(schema_type, str) or schema_type == name)
        ]

    def _try(
        self, value: Mapping[str, Json], object_type: ObjectType, pointer: str, depth: int
    ) -> tuple[dict[str, Json], list[DroppedValue]] | None:
        members = value if SCHEMA_TYPE_KEY in object_type.properties else without(value, SCHEMA_TYPE_KEY)
        trial = _ParameterWriter(self.walk, [])
        try:
            written = trial._write_object(members, object_type, pointer, depth)
        except AppFunctionWireError as error:
            if error.problem == "too-much":
                raise
            return None
        return (written, trial.losses or []) if has_required(members, object_type) else None

    def _write_untyped(self, value: Json, pointer: str, depth: int) -> Json:
        if isinstance(value, Mapping):
            return self._write_object(value, ObjectType(), pointer, depth)
        if isinstance(value, list | tuple):
            return self._write_list(value, None, pointer, depth)
        return check_scalar(self.walk, value, pointer)


def _align_kinds(walk: Walk, items: list[Json], pointer: str) -> list[Json]:
    """Make a list of one kind, since a document's list has the kind of its first element."""
    kinds = {name_kind(item) for item in items}
    if kinds == {"a whole number", "a number"}:
        return [float(item) for item in items]
    if len(kinds) > 1:
        message = f"a list holds values of one kind on this wire, and here are {' and '.join(sorted(kinds))}"
        raise walk.error("wrong-kind", message, pointer)
    return items


RETURN_KEY: Final = NAMES["return_value"]
"""Property of the response that holds the result (ExecuteAppFunctionResponse.PROPERTY_RETURN_VALUE)."""

_RESULT_TOKEN: Final = "malformed_response"  # noqa: S105 - a failure token, no secret


def read_result(document: Json, output_type: Type | None, definitions: Definitions) -> Json:
    """Return the value of a response document.

    Lists are unwrapped by the declared type; where nothing is declared, lists of one element are. A document
    without the return key has its properties as the value. An empty document is None: void, null, or a
    platform object.

    Args:
        document: The parsed JSON object.
        output_type: The declared output, None where nothing is declared.
        definitions: The provider's definitions.

    Raises:
        AppFunctionWireError: it is not a document, or does not fit the declaration.
    """
    reader = _ResultReader(Walk(definitions, _RESULT_TOKEN))
    return reader.read_document(document, output_type)


def _is_void(declared: Type) -> bool:
    return isinstance(declared, OpaqueType) or (isinstance(declared, ScalarType) and declared.kind == "null")


@dataclass(frozen=True, slots=True)
class _ResultReader:
    walk: Walk
    _no_object: ObjectType = field(default_factory=ObjectType)

    def read_document(self, document: Json, output_type: Type | None) -> Json:
        if not isinstance(document, Mapping):
            raise self.walk.error("not-an-object", f"the response is {name_kind(document)}, no document", "")
        declared = None if output_type is None else self.walk.resolve(output_type, "")
        if not document or (declared is not None and _is_void(declared)):
            return None
        if RETURN_KEY in document:
            return self._read_property(document[RETURN_KEY], declared, point("", RETURN_KEY), 0)
        if declared is None or declared.kind in {"object", "one-of", "any"}:
            return self._read_item(document, declared, "", 0)
        raise self.walk.error("no-result", f"the response has no {RETURN_KEY}", "")

    def _read_property(self, values: Json, declared: Type | None, pointer: str, depth: int) -> Json:
        """Read a property's list by its declared type."""
        self.walk.check_depth(pointer, depth)
        if not isinstance(values, list):
            raise self.walk.error("not-a-list", "every property of a response is a list", pointer)
        resolved = None if declared is None else self.walk.resolve(declared, pointer)
        is_list = isinstance(resolved, ArrayType)
        if resolved is None or resolved.kind == "any":
            is_list = len(values) != 1
        if is_list:
            items = resolved.items if isinstance(resolved, ArrayType) else None
            return [
                self._read_item(item, items, point(pointer, index), depth + 1)
                for index, item in enumerate(values)
            ]
        if not values:
            return None
        if len(values) > 1:
            message = f"one value is declared and {len(values)} are given"
            raise self.walk.error("wrong-kind", message, pointer)
        return self._read_item(values[0], resolved, point(pointer, 0), depth + 1)

    def _read_item(self, value: Json, declared: Type | None, pointer: str, depth: int) -> Json:
        self.walk.check_depth(pointer, depth)
        resolved = None if declared is None else self.walk.resolve(declared, pointer)
        match resolved:
            case ScalarType():
                read = read_scalar(self.walk, value, resolved, pointer)
                return shorten_single(read) if resolved.kind == "float" else read
            case ObjectType():
                return self._read_object(value, resolved, pointer, depth)
            case OneOfType():
                return self._read_one_of(value, resolved, pointer, depth)
            case OpaqueType():
                return None
            case ArrayType():
                raise self.walk.error("nested-array", "a response holds no lists of lists", pointer)
        if isinstance(value, Mapping):
            return self._read_object(value, self._no_object, pointer, depth)
        if isinstance(value, list):
            raise self.walk.error("nested-array", "a response holds no lists of lists", pointer)
        return check_scalar(self.walk, value, pointer)

    def _read_object(self, value: Json, declared: ObjectType, pointer: str, depth: int) -> dict[str, Json]:
        if not isinstance(value, Mapping):
            raise self.walk.wrong_kind("an object", value, pointer)
        read: dict[str, Json] = {}
        for name, item in value.items():
            field = declared.properties.get(name)
            known_type = None if field is None else field.type
            read[name] = self._read_property(item, known_type, point(pointer, name), depth + 1)
        return read

    def _read_one_of(self, value: Json, declared: OneOfType, pointer: str, depth: int) -> Json:
        """Guess the alternative, which the shell does not print: the first that fits by names and kinds.

        The value states it under `schemaType`: schemas of other formats require it.
        """
        for name, item in self.walk.alternatives(declared, pointer):
            properties = item.properties if isinstance(item, ObjectType) else {}
            if isinstance(item, ObjectType) and isinstance(value, Mapping):
                unknown = bool(properties) and any(name not in properties for name in value)
                if unknown or not has_required(value, item):
                    continue
            try:
                read = self._read_item(value, item, pointer, depth)
            except AppFunctionWireError as error:
                if error.problem == "too-much":
                    raise
                continue
            return name_alternative(read, name, item) if isinstance(item, ObjectType) else read
        raise self.walk.error("no-alternative", "no alternative of the declared ones fits", pointer)

"""Fitting values to declared types: what is taken as is, what is coerced and reported, what is refused.

A value is taken as it is where it is of the declared kind; 1.0 is the integer 1. Otherwise it is coerced
where its meaning leaves no doubt (reference mobile-mcp-and-mmcp 6, rows 3, 4 and 6; android-runtime 3.5): a
text that spells a boolean, a number or, for arrays and objects, their JSON. Each coercion is noted. A
required property that may be null may also be left out, which is Jetpack's rule (reference appfunctions 2.c).
`description` and `format` inform users and are not checked. Of enum, pattern and JSON Schema's limits, only
the keywords listed here are enforced; lint and descriptions report the others. Numbers are compared exactly,
lengths count code points, and a pattern outside the subset of `patterns` lets everything pass.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal, InvalidOperation
from typing import Final

from droidgate_mappings.model.capability import Capability, type_behind
from droidgate_mappings.model.errors import InputError, UsageError
from droidgate_mappings.model.json_values import Json, canonical_json, json_equal, pointer_token, shown_json
from droidgate_mappings.model.types import (
    AllOfType,
    AnyType,
    ArrayType,
    Definitions,
    ObjectType,
    OneOfType,
    OpaqueType,
    RefType,
    ScalarType,
    Type,
    TypeFacts,
)
from droidgate_mappings.records import dataclass, field
from droidgate_mappings.text.json_text import JsonParser, parse_json
from droidgate_mappings.text.nearest_names import nearest_names
from droidgate_mappings.values.failures import CallError, Failure
from droidgate_mappings.values.patterns import UnsupportedPatternError, compile_pattern

_MAX_LISTED: Final = 20


def find_violation(value: Json, declared: TypeFacts) -> str | None:
    """Return why a value of the right kind does not fit the other facts of its type; None where it fits."""
    if not (declared.keywords or declared.enum is not None or declared.pattern is not None):
        return None
    if value is None:
        return _find_violation_of_null(declared)
    return next(_violations(value, declared), None)


def _find_violation_of_null(declared: TypeFacts) -> str | None:
    """Return why null is not a value of a type; `enum` never lists it where `nullable` allows it."""
    stated = declared.keywords.get("enum")
    values = stated if isinstance(stated, list) else declared.enum
    is_excluded = values is not None and None not in values
    if declared.nullable or not (is_excluded or declared.keywords.get("const") is not None):
        return None
    return "null is none of the allowed values"


def _violations(value: Json, declared: TypeFacts) -> Iterator[str]:
    if declared.enum is not None and not any(json_equal(value, item) for item in declared.enum):
        yield f"{shown_json(value)} is not allowed; the allowed values are {_listed(declared.enum)}"
    if declared.pattern is not None and isinstance(value, str):
        try:
            if not compile_pattern(declared.pattern).matches(value):
                yield "the text does not match the declared pattern"
        except UnsupportedPatternError:
            pass
    for keyword, limit in declared.keywords.items():
        check = ENFORCED_KEYWORDS.get(keyword)
        violation = None if check is None else check(value, limit)
        if violation is not None:
            yield violation


def _listed(values: Sequence[Json]) -> str:
    """Return the values for a message, the first of them where there are many."""
    more = f" and {len(values) - _MAX_LISTED} more" if len(values) > _MAX_LISTED else ""
    return ", ".join(map(shown_json, values[:_MAX_LISTED])) + more


def _number(value: Json) -> Decimal | None:
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return None
    try:
        number = Decimal(repr(value) if isinstance(value, float) else value)
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


def _compared(fits: Callable[[Decimal, Decimal], bool], words: str) -> Callable[[Json, Json], str | None]:
    def check(value: Json, limit: Json) -> str | None:
        number, bound = _number(value), _number(limit)
        if number is None or bound is None or fits(number, bound):
            return None
        return f"{shown_json(value)} {words} {shown_json(limit)}"

    return check


def _is_multiple(number: Decimal, step: Decimal) -> bool:
    if step <= 0:
        return True
    scale = max(0, -_exponent(number), -_exponent(step))
    if scale > _MAX_SCALE or max(number.adjusted(), step.adjusted()) > _MAX_SCALE:
        return True
    return _scaled(number, scale) % _scaled(step, scale) == 0


def _scaled(number: Decimal, scale: int) -> int:
    """Return a number times a power of ten that makes it whole; Decimal's own would round to 28 digits."""
    digits = int("".join(map(str, number.as_tuple().digits)))
    return digits * int(10 ** (scale + _exponent(number)))


_MAX_SCALE: Final = 400
"""Powers of ten between the numbers of a `multipleOf`; doubles have fewer."""


def _exponent(number: Decimal) -> int:
    exponent = number.as_tuple().exponent
    return exponent if isinstance(exponent, int) else 0


def _counted(
    kind: type[str | list[Json] | dict[str, Json]], unit: str, *, least: bool
) -> Callable[[Json, Json], str | None]:
    def check(value: Json, limit: Json) -> str | None:
        bound = _number(limit)
        if bound is None or not isinstance(value, kind):
            return None
        count = len(value)
        if least and count < bound:
            return f"{count} {unit} are fewer than {shown_json(limit)}"
        if not least and count > bound:
            return f"{count} {unit} are more than {shown_json(limit)}"
        return None

    return check


def _constant(value: Json, expected: Json) -> str | None:
    return None if json_equal(value, expected) else f"{shown_json(value)} is not {shown_json(expected)}"


def _required(value: Json, names: Json) -> str | None:
    """Return which names are missing; a keyword only where the object does not declare all of them."""
    if not isinstance(value, dict) or not isinstance(names, list):
        return None
    missing = [name for name in names if name not in value]
    return f"{', '.join(map(repr, missing))} is required and missing" if missing else None


def _unique(value: Json, bound: Json) -> str | None:
    if bound is not True or not isinstance(value, list):
        return None
    seen: dict[str, list[Json]] = {}
    for item in value:
        # A number and the text of its normal form have one key.
        alike = seen.setdefault(canonical_json(_normal(item)), [])
        if any(json_equal(item, seen_item) for seen_item in alike):
            return f"duplicate item {shown_json(item)}"
        alike.append(item)
    return None


def _normal(value: Json) -> Json:
    """Return a value in which equal numbers are equal texts."""
    if isinstance(value, Mapping):
        return {key: _normal(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_normal(item) for item in value]
    number = _number(value)
    if number is None:
        return value
    if not number:
        return "0"
    digits = "".join(map(str, number.as_tuple().digits))
    significant_digits = digits.rstrip("0")
    sign = "-" if number < 0 else ""
    return f"{sign}{significant_digits}e{_exponent(number) + len(digits) - len(significant_digits)}"


_is_at_least: Final = _compared(lambda number, bound: number >= bound, "is less than the minimum")
_is_at_most: Final = _compared(lambda number, bound: number <= bound, "is greater than the maximum")
_is_more: Final = _compared(lambda number, bound: number > bound, "is not greater than")
_is_less: Final = _compared(lambda number, bound: number < bound, "is not less than")
_is_multiple_of: Final = _compared(_is_multiple, "is not a multiple of")

ENFORCED_KEYWORDS: Final[Mapping[str, Callable[[Json, Json], str | None]]] = {
    "const": _constant,
    "minimum": _is_at_least,
    "maximum": _is_at_most,
    "exclusiveMinimum": _is_more,
    "exclusiveMaximum": _is_less,
    "multipleOf": _is_multiple_of,
    "minLength": _counted(str, "characters", least=True),
    "maxLength": _counted(str, "characters", least=False),
    "minItems": _counted(list, "items", least=True),
    "maxItems": _counted(list, "items", least=False),
    "uniqueItems": _unique,
    "required": _required,
    "minProperties": _counted(dict, "members", least=True),
    "maxProperties": _counted(dict, "members", least=False),
}
"""JSON Schema keywords that are checked on every call, each with why a value breaks it."""


MAX_DEPTH: Final = 64
"""Levels of a value; the same as a request's JSON may have."""

MAX_STEPS: Final = 200_000
"""Values and alternatives looked at for one call: alternatives in alternatives could go on for ever."""

SCHEMA_TYPE_KEY: Final = "schemaType"
"""Key that says which alternative of a one-of an object is (reference appfunctions 2.c, oneOf)."""

_INTEGER_BITS: Final = {"int32": 32, "int64": 64}
_INTEGER_TEXT: Final = re.compile(r"-?(?:0|[1-9][0-9]{0,18})")
_NUMBER_TEXT: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_BASE64_TEXT: Final = re.compile(r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?")
_MAX_NUMBER_TEXT: Final = 64
_FLOAT_LIMIT: Final = struct.unpack("<f", bytes.fromhex("ffff7f7f"))[0]


@dataclass(frozen=True, slots=True)
class Coercion:
    """A value that was not of the declared kind and was read as it: where, and what was done."""

    pointer: str
    message: str


class UnfitValueError(ValueError):
    """A value that does not fit its declaration.

    Attributes:
        pointer: JSON Pointer of the value.
        reason: Why, one sentence without a period.
    """

    def __init__(self, pointer: str, reason: str) -> None:
        super().__init__(f"{pointer or 'the value'}: {reason}")
        self.pointer = pointer
        self.reason = reason


@dataclass(slots=True)
class ValueFitter:
    """Fits values to types of one provider.

    Attributes:
        definitions: The provider's definitions.
        exact: Nothing is coerced; what is not of the declared kind is refused.
        coercions: What was coerced so far.
        steps: What is left of the budget.
        parse: Reads the JSON that a text spells.
        problems: Takes what is wrong with the members of objects and lists, which are then kept as they came;
            without it, the first problem is raised.
    """

    definitions: Definitions
    exact: bool = False
    coercions: list[Coercion] = field(default_factory=list)
    steps: int = MAX_STEPS
    parse: JsonParser = parse_json
    problems: list[UnfitValueError] | None = None

    def fit(self, value: Json, declared: Type, pointer: str = "", depth: int = 0) -> Json:
        """Return the value as its declaration has it.

        Raises:
            UnfitValueError: the value does not fit its declaration.
        """
        self._spend(pointer, depth)
        if isinstance(value, tuple):
            # Python code may give a tuple for a list; JSON has none.
            value = list(value)
        resolved = self._resolve(declared, pointer)
        if value is None and (
            declared.nullable or (resolved.nullable and not find_violation(None, declared))
        ):
            return None
        fitted = self._fit_kind(value, resolved, pointer, depth)
        violation = find_violation(fitted, resolved)
        if violation is None and declared is not resolved:
            violation = find_violation(fitted, declared)
        if violation is not None:
            raise UnfitValueError(pointer, violation)
        return fitted

    def _spend(self, pointer: str, depth: int) -> None:
        self.steps -= 1
        if self.steps < 0:
            raise UnfitValueError(pointer, "there are too many alternatives to look at")
        if depth > MAX_DEPTH:
            raise UnfitValueError(pointer, f"it is nested more than {MAX_DEPTH} levels deep")

    def _resolve(self, declared: Type, pointer: str) -> Type:
        seen: set[str] = set()
        while isinstance(declared, RefType):
            if declared.name in seen or declared.name not in self.definitions:
                raise UnfitValueError(pointer, f"its type {declared.name!r} is not defined")
            seen.add(declared.name)
            declared = self.definitions[declared.name]
        return declared

    def _fit_kind(self, value: Json, type_: Type, pointer: str, depth: int) -> Json:
        match type_:
            case ScalarType():
                return self._fit_scalar(value, type_, pointer)
            case ArrayType():
                return self._fit_array(value, type_, pointer, depth)
            case ObjectType():
                return self._fit_object(value, type_, pointer, depth)
            case AllOfType():
                return self._fit_all(value, type_, pointer, depth)
            case OneOfType():
                return self._fit_one(value, type_, pointer, depth)
            case OpaqueType():
                raise UnfitValueError(pointer, "an object of the platform has no JSON value")
            case AnyType(boolean=False):
                raise UnfitValueError(pointer, "no value is allowed")
        if not isinstance(value, (int, *_KINDS)):
            raise UnfitValueError(pointer, f"a JSON value is declared and {_kind_of(value)} is given")
        return value

    def _coerce(self, pointer: str, message: str) -> None:
        if self.exact:
            raise UnfitValueError(pointer, message)
        self.coercions.append(Coercion(pointer, message))

    def _fit_scalar(self, value: Json, scalar: ScalarType, pointer: str) -> Json:
        match scalar.kind:
            case "string":
                return _expect(value, str, "a text", pointer)
            case "boolean":
                return self._fit_boolean(value, pointer)
            case "int32" | "int64":
                return self._fit_integer(value, _INTEGER_BITS[scalar.kind], pointer)
            case "float" | "double":
                return self._fit_real(value, single=scalar.kind == "float", pointer=pointer)
            case "bytes":
                return _fit_bytes(value, pointer)
        if value is not None:
            raise UnfitValueError(pointer, f"null is declared and {_kind_of(value)} is given")
        return None

    def _fit_boolean(self, value: Json, pointer: str) -> bool:
        if isinstance(value, str) and value.lower() in {"true", "false"}:
            self._coerce(pointer, "a text is given for a boolean")
            return value.lower() == "true"
        return bool(_expect(value, bool, "a boolean", pointer))

    def _fit_integer(self, value: Json, bits: int, pointer: str) -> int:
        if isinstance(value, str) and _INTEGER_TEXT.fullmatch(value):
            self._coerce(pointer, "a text is given for an integer")
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
            raise UnfitValueError(pointer, f"an integer is declared and {_kind_of(value)} is given")
        whole = value if isinstance(value, int) else _whole(value)
        if whole is None:
            raise UnfitValueError(pointer, "an integer is declared and a number with a fraction is given")
        if not -(1 << bits - 1) <= whole < 1 << bits - 1:
            raise UnfitValueError(pointer, f"the number does not fit {bits} bits")
        return whole

    def _fit_real(self, value: Json, *, single: bool, pointer: str) -> Json:
        if isinstance(value, str) and len(value) <= _MAX_NUMBER_TEXT and _NUMBER_TEXT.fullmatch(value):
            self._coerce(pointer, "a text is given for a number")
            value = self._parse_number(value, pointer)
        if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
            raise UnfitValueError(pointer, f"a number is declared and {_kind_of(value)} is given")
        try:
            size = abs(float(value))
        except OverflowError:
            size = math.inf
        if not math.isfinite(size) or (single and size > _FLOAT_LIMIT):
            raise UnfitValueError(pointer, f"the number does not fit {32 if single else 64} bits")
        return value

    def _parse_number(self, text: str, pointer: str) -> Json:
        try:
            return self.parse(text)
        except InputError:
            raise UnfitValueError(pointer, "the number has too many digits") from None

    def _parsed(self, value: Json, kind: type, words: str, pointer: str) -> Json:
        """Return what a text spells where it spells a value of the kind, the value itself otherwise."""
        if not isinstance(value, str):
            return value
        try:
            parsed = self.parse(value)
        except InputError:
            return value
        if isinstance(parsed, kind):
            self._coerce(pointer, f"a text is given for {words}")
            return parsed
        return value

    def _fit_array(self, value: Json, array: ArrayType, pointer: str, depth: int) -> list[Json]:
        items = _expect(self._parsed(value, list, "a list", pointer), list, "a list", pointer)
        if array.items is None:
            return list(items)
        return [
            self._fit_member(item, array.items, f"{pointer}/{index}", depth)
            for index, item in enumerate(items)
        ]

    def _fit_member(self, value: Json, declared: Type, pointer: str, depth: int) -> Json:
        try:
            return self.fit(value, declared, pointer, depth + 1)
        except UnfitValueError as error:
            self._report(error)
            return value

    def _report(self, error: UnfitValueError) -> None:
        if self.problems is None:
            raise error
        self.problems.append(error)

    def _fit_object(self, value: Json, object_type: ObjectType, pointer: str, depth: int) -> dict[str, Json]:
        members = _expect(self._parsed(value, dict, "an object", pointer), dict, "an object", pointer)
        fitted: dict[str, Json] = {}
        for name, item in members.items():
            here = f"{pointer}/{pointer_token(name)}"
            property_ = object_type.properties.get(name)
            if property_ is not None:
                fitted[name] = self._fit_member(item, property_.type, here, depth)
            elif object_type.keywords.get("additionalProperties") is False:
                self._report(UnfitValueError(here, "nothing of this name is declared"))
            else:
                fitted[name] = item
        for name, property_ in object_type.properties.items():
            if property_.required and name not in members:
                self._miss(name, property_.type, pointer)
        return fitted

    def _miss(self, name: str, declared: Type, pointer: str) -> None:
        if not (declared.nullable or self._resolve(declared, pointer).nullable):
            self._report(UnfitValueError(pointer, f"{name!r} is required and missing"))
            return
        self._coerce(f"{pointer}/{pointer_token(name)}", "it is required and missing; null is used")

    def _fit_all(self, value: Json, combination: AllOfType, pointer: str, depth: int) -> Json:
        for member in combination.members:
            value = self.fit(value, member, pointer, depth + 1)
        return value

    def _fit_one(self, value: Json, choice: OneOfType, pointer: str, depth: int) -> Json:
        target = self._named_alternative(value, choice, pointer)
        if target is not None:
            members = {name: item for name, item in value.items() if name != SCHEMA_TYPE_KEY}
            return {SCHEMA_TYPE_KEY: value[SCHEMA_TYPE_KEY], **self.fit(members, target, pointer, depth + 1)}
        fitting = self._fitting(value, choice, pointer, depth, exact=True)
        if not fitting and not self.exact:
            fitting = self._fitting(value, choice, pointer, depth, exact=False)
        if not fitting:
            raise UnfitValueError(pointer, "it is none of the declared alternatives")
        if choice.exclusive and len(fitting) > 1:
            raise UnfitValueError(pointer, f"it is {len(fitting)} of the declared alternatives at once")
        fitted, coercions = fitting[0]
        self.coercions.extend(coercions)
        return fitted

    def _named_alternative(
        self, value: Json, choice: OneOfType, pointer: str
    ) -> ObjectType | AllOfType | None:
        """Return the alternative that the value's `schemaType` names."""
        stated_type = value.get(SCHEMA_TYPE_KEY) if isinstance(value, dict) else None
        if not isinstance(stated_type, str):
            return None
        for alternative in choice.alternatives:
            resolved = self._resolve(alternative, pointer)
            if not isinstance(resolved, ObjectType | AllOfType):
                continue
            if isinstance(resolved, ObjectType) and SCHEMA_TYPE_KEY in resolved.properties:
                continue
            referred = alternative.name if isinstance(alternative, RefType) else None
            if stated_type == (resolved.qualified_name or referred):
                return resolved
        return None

    def _fitting(
        self, value: Json, choice: OneOfType, pointer: str, depth: int, *, exact: bool
    ) -> list[tuple[Json, list[Coercion]]]:
        fitting: list[tuple[Json, list[Coercion]]] = []
        for alternative in choice.alternatives:
            trial = ValueFitter(self.definitions, exact=exact, steps=self.steps, parse=self.parse)
            with suppress(UnfitValueError):
                fitting.append((trial.fit(value, alternative, pointer, depth + 1), trial.coercions))
            self.steps = trial.steps
            self._spend(pointer, depth)
        return fitting


def _expect(value: Json, kind: type, words: str, pointer: str) -> Json:
    if isinstance(value, kind):
        return value
    raise UnfitValueError(pointer, f"{words} is declared and {_kind_of(value)} is given")


def _fit_bytes(value: Json, pointer: str) -> str:
    text = str(_expect(value, str, "a text in base64", pointer))
    if not is_base64(text):
        raise UnfitValueError(pointer, "the text is not base64")
    return text


def is_base64(value: Json) -> bool:
    """Return whether a value is a text in base64 (RFC 4648 section 4, padded)."""
    # `b64decode` takes padding that is not needed.
    return isinstance(value, str) and _BASE64_TEXT.fullmatch(value) is not None


def _whole(value: float | Decimal) -> int | None:
    if isinstance(value, Decimal) and value.is_finite():
        # A huge exponent would make an integer of as many digits.
        return int(value) if value.adjusted() < _MAX_NUMBER_TEXT and value == int(value) else None
    return int(value) if isinstance(value, float) and value.is_integer() else None


_KINDS: Final[dict[type, str]] = {
    str: "a text",
    list: "a list",
    dict: "an object",
    type(None): "null",
    float: "a number",
    Decimal: "a number",
}


def _kind_of(value: object) -> str:
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, int):
        return "an integer"
    for kind, words in _KINDS.items():
        if isinstance(value, kind):
            return words
    return f"a value of Python's type {type(value).__name__}"


@dataclass(frozen=True, slots=True)
class FittedArguments:
    """Arguments as the capability declares them.

    Attributes:
        values: In the declared order, further ones behind.
        coercions: What was read as another kind than it came in, or left out.
    """

    values: dict[str, Json]
    coercions: tuple[Coercion, ...] = ()


@dataclass(frozen=True, slots=True)
class FittedResult:
    """A result as the capability declares it.

    Attributes:
        value: The value; None for a declared void.
        coercions: What was read as another kind than it came in.
    """

    value: Json
    coercions: tuple[Coercion, ...] = ()


def check_arguments(arguments: object) -> None:
    """Raise where what a program gives as a call's arguments is not a JSON object.

    Raises:
        UsageError: it is none, or holds what JSON does not have.
    """
    if not isinstance(arguments, Mapping) or not all(isinstance(name, str) for name in arguments):
        message = f"the arguments are not a JSON object with names: {arguments!r:.80}"
        raise UsageError(message, hint="give a mapping of names to JSON values")
    try:
        canonical_json(arguments).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise UsageError(f"the arguments are not JSON: {error}", hint="give JSON values") from None


def fit_arguments(
    arguments: Mapping[str, Json],
    capability: Capability,
    definitions: Definitions,
    *,
    parse: JsonParser = parse_json,
) -> FittedArguments:
    """Validate a call's arguments and convert them to the declared types.

    A null for a parameter that is neither nullable nor required is the same as no value. A name that is not
    declared is refused (reference mobile-mcp-and-mmcp 6, row 25): a misspelled optional parameter would
    otherwise be its default. An input that allows further names has `additionalProperties`, or is not
    an object.

    Args:
        arguments: Name -> JSON value.
        capability: What is called.
        definitions: Its provider's definitions.
        parse: Reads the JSON that a text spells.

    Raises:
        CallError: with the token `invalid_argument`, and the pointer of the argument.
    """
    fitter = ValueFitter(definitions, parse=parse)
    declared = type_behind(capability.input, definitions)
    named_arguments, unknown, left_out = _named_values(arguments, declared)
    if unknown:
        raise unknown[0]
    try:
        fitted = fitter.fit(named_arguments, capability.input)
    except UnfitValueError as error:
        raise _invalid(error.pointer, error.reason) from None
    order = declared.properties if isinstance(declared, ObjectType) else {}
    ordered = {name: fitted[name] for name in order if name in fitted}
    return FittedArguments({**ordered, **fitted}, (*left_out, *fitter.coercions))


def argument_problems(
    arguments: Mapping[str, Json], capability: Capability, definitions: Definitions
) -> tuple[CallError, ...]:
    """Return everything that is wrong with a call's arguments, by their order; nothing where they fit.

    `fit_arguments` raises only the first problem, which is all that the engine of the shim answers with.
    """
    named_arguments, unknown, _ = _named_values(arguments, type_behind(capability.input, definitions))
    fitter = ValueFitter(definitions, problems=[])
    problems = fitter.problems if fitter.problems is not None else []
    try:
        fitter.fit(named_arguments, capability.input)
    except UnfitValueError as error:
        problems.append(error)
    return (*unknown, *(_invalid(error.pointer, error.reason) for error in problems))


def _named_values(
    arguments: Mapping[str, Json], declared: Type
) -> tuple[dict[str, Json], list[CallError], list[Coercion]]:
    """Return the arguments that a declared input takes, why others are refused, and what is left out."""
    if not isinstance(declared, ObjectType):
        return dict(arguments), [], []
    named_arguments: dict[str, Json] = {}
    unknown: list[CallError] = []
    left_out: list[Coercion] = []
    is_closed = declared.keywords.get("additionalProperties", False) is False
    for name, value in arguments.items():
        pointer = f"/{pointer_token(name)}"
        field = declared.properties.get(name)
        if field is None and is_closed:
            unknown.append(_invalid(pointer, _unknown_name(name, tuple(declared.properties))))
        elif field is not None and value is None and not field.required and not field.type.nullable:
            left_out.append(Coercion(pointer, "null is read as a missing argument"))
        else:
            named_arguments[name] = value
    return named_arguments, unknown, left_out


def fit_result(
    value: Json,
    capability: Capability,
    definitions: Definitions,
    *,
    parse: JsonParser = parse_json,
) -> FittedResult:
    """Bring a result into the type that the capability declares.

    Args:
        value: What the callee answered.
        capability: What was called; one without a declared output takes any value.
        definitions: Its provider's definitions.
        parse: Reads the JSON that a text spells.

    Raises:
        CallError: with the token `malformed_response`, and the pointer of the value.
    """
    declared = capability.output
    if declared is None:
        return FittedResult(value)
    if isinstance(declared, ScalarType) and declared.kind == "null":
        dropped = () if value in (None, {}) else (Coercion("", "a value came where none is declared"),)
        return FittedResult(None, dropped)
    fitter = ValueFitter(definitions, parse=parse)
    try:
        return FittedResult(fitter.fit(value, declared), tuple(fitter.coercions))
    except UnfitValueError as error:
        raise _error("malformed_response", error.pointer, error.reason) from None


def _unknown_name(name: str, declared: tuple[str, ...]) -> str:
    """Return why a name is refused: with the nearest parameters, or all of them where none is near."""
    if not declared:
        return "not a parameter; the capability has no parameters"
    near = nearest_names(name, declared)
    if near:
        return f"not a parameter; did you mean {' or '.join(map(_quoted, near))}?"
    more = f" and {len(declared) - _MAX_LISTED} more" if len(declared) > _MAX_LISTED else ""
    return f"not a parameter; the parameters are {', '.join(map(_quoted, declared[:_MAX_LISTED]))}{more}"


def _quoted(name: str) -> str:
    return f'"{name}"'


def _invalid(pointer: str, reason: str) -> CallError:
    return _error("invalid_argument", pointer, reason)


def _error(token: str, pointer: str, reason: str) -> CallError:
    return CallError(Failure(token, f"{pointer}: {reason}" if pointer else reason), pointer=pointer)

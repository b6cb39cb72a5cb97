"""What a declared type says of a value beyond its kind: enum, pattern, and JSON Schema's limits.

Only the keywords listed here are enforced; lint and descriptions report the others. Numbers are compared
exactly, lengths count code points, and a pattern outside the subset of `patterns` lets everything pass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Final

from droidgate_mappings.model.json_values import Json, canonical_json, json_equal
from droidgate_mappings.model.types import TypeFacts
from droidgate_mappings.values.patterns import UnsupportedPatternError, compile_pattern

_MAX_SHOWN: Final = 80
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
        yield f"{_shown(value)} is not allowed; the allowed values are {_listed(declared.enum)}"
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
    return ", ".join(map(_shown, values[:_MAX_LISTED])) + more


def _shown(value: Json) -> str:
    text = canonical_json(value)
    return text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}..."


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
        return f"{_shown(value)} is not {words} {_shown(limit)}"

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
    kind: type[str | list[Json] | dict[str, Json]], what: str, *, least: bool
) -> Callable[[Json, Json], str | None]:
    def check(value: Json, limit: Json) -> str | None:
        bound = _number(limit)
        if bound is None or not isinstance(value, kind):
            return None
        count = len(value)
        if least and count < bound:
            return f"{count} {what} are fewer than {_shown(limit)}"
        if not least and count > bound:
            return f"{count} {what} are more than {_shown(limit)}"
        return None

    return check


def _constant(value: Json, expected: Json) -> str | None:
    return None if json_equal(value, expected) else f"{_shown(value)} is not {_shown(expected)}"


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
        if any(json_equal(item, other) for other in alike):
            return f"duplicate item {_shown(item)}"
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
    kept = digits.rstrip("0")
    sign = "-" if number < 0 else ""
    return f"{sign}{kept}e{_exponent(number) + len(digits) - len(kept)}"


_is_at_least: Final = _compared(lambda number, bound: number >= bound, "at least")
_is_at_most: Final = _compared(lambda number, bound: number <= bound, "at most")
_is_more: Final = _compared(lambda number, bound: number > bound, "more than")
_is_less: Final = _compared(lambda number, bound: number < bound, "less than")
_is_multiple_of: Final = _compared(_is_multiple, "a multiple of")

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

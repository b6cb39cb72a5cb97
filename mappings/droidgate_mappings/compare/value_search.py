"""Whether a value exists that some JSON Schemas allow and others refuse.

This decides every relation between two schemas: all values of A are values of B where no value is one of A
and not of B. Schemas are taken apart by the kind of the value, so that spelling says nothing: null in a list
of types, an alternative or a list of values is the same null, and a keyword that cannot refuse a value of the
kind is dropped. What is left is solved for each kind: numbers as exact fractions, texts as automata, objects
and arrays by the values that their members need.

A search finds a value, or shows that there is none, or says why it cannot know. Formats are words without a
meaning here: a format allows fewer values than no format does, and another format allows other ones.

A reader's way through the module, in its order:

1. Values: their kinds, what is equal for equal values, and numbers by their digits.
2. A schema is a `Part`: a list of literals, each of which has to hold or not to hold. A literal is about
   another part or about an `_Atom`, a keyword in its simplest form, which `_WAYS` and `_HOLDS` explain.
3. `_read`, and the `_read_...` below it, make the literals from the keywords of a schema.
4. `_Branch` is one choice of a way for each literal: all that a value of one kind has to be.
5. `ValueSearch.find` tries each kind. `_branches` makes the branches of one, and `_solve` finds a value for
   one: a number, a text, an array, or an object with the names of `_ObjectNames`.
6. The functions at the end do small parts of that: places in an array, numbers in limits.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Context, Decimal, Inexact
from fractions import Fraction
from functools import cached_property
from itertools import combinations, count, product
from typing import Any, Final, NamedTuple, TypeAlias

from droidgate_mappings.json_schema.schema_words import is_flag, is_schema_list, is_schema_map, is_text
from droidgate_mappings.model.json_values import Json, canonical_json
from droidgate_mappings.model.type_qualities import WIDER_NUMBERS
from droidgate_mappings.records import dataclass, field
from droidgate_mappings.values.schema_checks import exact_number, is_number

NULL, BOOLEAN, NUMBER, STRING, ARRAY, OBJECT = "null", "boolean", "number", "string", "array", "object"
KINDS: Final = (NULL, BOOLEAN, NUMBER, STRING, ARRAY, OBJECT)
_TYPE_WORDS: Final = frozenset({*KINDS, "integer"})
_STEPS: Final = 20_000
_SIZE_OF_STEP: Final = 1_000
_PATTERNS_OF_STEP: Final = 100
"""Pairs of patterns: a text that many of them match or miss takes as long as there are pairs."""
_MOST_PAIRS: Final = 250_000
"""Pairs of alternatives, of which exactly one has to apply, that may both apply."""
_DEPTH: Final = 30
_LONGEST: Final = 200
"""Members of the largest array or object that a search makes."""
_LONGEST_TEXT: Final = 10_000
"""Characters of a text without a pattern that is shown."""
_NUMBERS: Final = 10_000
"""Numbers that are tried for one."""
_SPLITS: Final = 6
"""Patterns of names that are distinguished in one object."""
_WIDER_FORMATS: Final = {
    **WIDER_NUMBERS,
    "email": ("idn-email",),
    "hostname": ("idn-hostname",),
    "uri": ("uri-reference", "iri", "iri-reference"),
    "iri": ("iri-reference",),
    "uri-reference": ("iri-reference",),
}
_NUMBER_FORMATS: Final = frozenset({*WIDER_NUMBERS, "double"})


@dataclass(frozen=True, slots=True)
class FoundValue:
    """A value exists; without `is_shown` it is not `value`, and cannot be shown."""

    value: Json = None
    is_shown: bool = True


@dataclass(frozen=True, slots=True)
class Unclear:
    """Whether a value exists is not known."""

    reason: str


SearchAnswer: TypeAlias = FoundValue | Unclear | None
"""None where no value exists."""


class UnclearError(Exception):
    """Whether a value exists is not known; the text says why."""


def kind_of_value(value: Json) -> str:
    """Return the kind of a JSON value, one of `KINDS`."""
    if value is None:
        return NULL
    if isinstance(value, bool):
        return BOOLEAN
    if is_number(value):
        return NUMBER
    if isinstance(value, str):
        return STRING
    return OBJECT if isinstance(value, Mapping) else ARRAY


def exact(value: Json) -> Json:
    """Return a value that is equal, and has the same hash, for JSON values that are the same value."""
    kind = kind_of_value(value)
    if kind == NUMBER:
        return kind, exact_number(value)
    if kind == ARRAY:
        return kind, tuple(exact(item) for item in value)
    if kind == OBJECT:
        return kind, frozenset((name, exact(item)) for name, item in value.items())
    return kind, value


_EXACT: Final = Context(prec=2000, traps=[Inexact])
_GREATEST: Final = 10**308
"""Nearly the greatest number that a float can be."""


def _number(fraction: Fraction) -> Json:
    """Return a JSON number; None where its digits do not end."""
    if fraction.denominator == 1:
        return fraction.numerator
    if abs(fraction) < _GREATEST and exact_number(float(fraction)) == fraction:
        return float(fraction)
    try:
        return _EXACT.divide(Decimal(fraction.numerator), Decimal(fraction.denominator))
    except Inexact:
        return None


def _is_multiple(number: Fraction, step: Fraction) -> bool:
    return (number / step).denominator == 1


def matches(pattern: str, text: str) -> bool:
    """Return whether a pattern matches.

    Raises:
        UnclearError: the pattern is outside of what is compared.
    """
    from droidgate_mappings.values import patterns

    try:
        return patterns.compile_pattern(pattern).matches(text)
    except patterns.UnsupportedPatternError as error:
        raise UnclearError(f"a pattern is not compared: {error}") from None


def _all_of(answers: Iterable[bool | None]) -> bool | None:
    answer: bool | None = True
    for each in answers:
        if each is False:
            return False
        answer = None if each is None else answer
    return answer


def _is(expected: bool, answer: bool | None) -> bool | None:  # noqa: FBT001
    return None if answer is None else answer is expected


class _Item:
    """Something that a value has to be, or not to be: a schema or one of its keywords."""

    kind: str | None = None
    """The only kind whose values it is about; None for all."""

    @cached_property
    def made_ways(self) -> dict[tuple[bool, str], tuple[_Ways | None, frozenset[_Item]]]:
        """The known ways."""
        return {}

    def ways(self, kind: str, *, is_true: bool) -> _Ways | None:
        """Return the ways in which it holds for a kind, or not; None where its kind's solution has it."""
        raise NotImplementedError

    def known_ways(self, kind: str, *, is_true: bool) -> tuple[_Ways | None, frozenset[_Item]]:
        """Return the ways, which are made once, and what is in them."""
        key = (is_true, kind)
        if key not in self.made_ways:
            ways = self.ways(kind, is_true=is_true)
            self.made_ways[key] = ways, frozenset(item for way in ways or () for item, _ in way)
        return self.made_ways[key]

    def holds(self, value: Json) -> bool | None:
        """Return whether it holds for a value; None where that is not known."""
        raise NotImplementedError


_Literal: TypeAlias = tuple[_Item, bool]
"""Something, and whether it has to hold or must not hold."""
_Ways: TypeAlias = Sequence[Sequence[_Literal]]
_ALWAYS: Final[_Ways] = ((),)
_NEVER: Final[_Ways] = ()


class _Atom(_Item):
    """A keyword in its simplest form, the same object for the same meaning.

    | word | what it states of a value |
    |---|---|
    | values | one of these, by their `exact` |
    | format | a format, an encoding or a class: a word that allows fewer values |
    | above | a number is greater than a limit, or equal where the limit is not open |
    | multipleOf, pattern, required, propertyNames | as in JSON Schema |
    | uniqueItems | as in JSON Schema, where it is true |
    | size | so many characters, items or members at least, or items that are of a part |
    | items, members | what each item or member is: `_Items`, `_Members` |
    | unread | a keyword whose meaning is not known, or depends on a choice, and the reason |
    | anyOf, oneOf, if | parts |
    """

    def __init__(self, word: str, kind: str | None, fact: Any) -> None:
        self.word = word
        self.kind = kind
        self.fact = fact

    def ways(self, kind: str, *, is_true: bool) -> _Ways | None:
        return _WAYS[self.word](self.fact, kind, is_true) if self.word in _WAYS else None

    def holds(self, value: Json) -> bool | None:
        return _HOLDS[self.word](self.fact, value)


class _Items(NamedTuple):
    first: tuple[Part, ...]
    others: Part

    def at(self, position: int) -> Part:
        """Return what the item at a position has to be."""
        return self.first[position] if position < len(self.first) else self.others


class _Members(NamedTuple):
    properties: Mapping[str, Part]
    patterns: tuple[tuple[str, Part], ...]
    others: Part

    def parts_for(self, name: str) -> list[Part]:
        """Return what the value of a member has to be."""
        parts = [self.properties[name]] if name in self.properties else []
        parts += [part for text, part in self.patterns if matches(text, name)]
        return parts or [self.others]


def _ways_of_exactly_one(parts: Sequence[Part], kind: str, is_true: bool) -> _Ways:  # noqa: FBT001
    parts = [part for part in parts if kind in part.kinds]
    pairs = [[(left, True), (right, True)] for left, right in _pairs_of_one_value(parts, kind)]
    if not is_true:
        return [[(part, False) for part in parts], *pairs]
    if not pairs:
        return [[(part, True)] for part in parts]
    # One part may be there twice.
    return [[(part, at == place) for at, part in enumerate(parts)] for place in range(len(parts))]


def _pairs_of_one_value(parts: Sequence[Part], kind: str) -> list[tuple[Part, Part]]:
    """Return the pairs of parts of which one value may be both, at a first look."""
    values_by_part = [part.tags if kind == OBJECT else part.listed for part in parts]
    names = Counter(name for values in values_by_part for name in values)
    if not names:
        _check_pairs(math.comb(len(parts), 2))
        return list(combinations(parts, 2))
    # Most have the values of this member, and only those with a value in common are compared.
    [(common, _)] = names.most_common(1)
    by_value: dict[Json, list[int]] = {}
    others = [place for place, values in enumerate(values_by_part) if common not in values]
    for place, values in enumerate(values_by_part):
        for value in values.get(common, ()):
            by_value.setdefault(value, []).append(place)
    _check_pairs(len(others) * len(parts) + sum(math.comb(len(places), 2) for places in by_value.values()))
    near = {pair for places in by_value.values() for pair in combinations(places, 2)}
    near |= {(min(pair), max(pair)) for pair in product(others, range(len(parts))) if pair[0] != pair[1]}
    return [
        (parts[left], parts[right])
        for left, right in sorted(near)
        if not _are_apart(values_by_part[left], values_by_part[right])
    ]


def _check_pairs(number: int) -> None:
    if number > _MOST_PAIRS:
        message = "there are too many alternatives"
        raise UnclearError(message)


_Tags: TypeAlias = Mapping[str, frozenset[Json]]


def _are_apart(left: _Tags, right: _Tags) -> bool:
    return any(name in left and left[name].isdisjoint(values) for name, values in right.items())


_WAYS: Final[Mapping[str, Callable[[Sequence[Part], str, bool], _Ways]]] = {
    "anyOf": lambda parts, _, is_true: (
        [[(part, True)] for part in parts] if is_true else [[(part, False) for part in parts]]
    ),
    "oneOf": _ways_of_exactly_one,
    "if": lambda parts, _, is_true: [
        [(parts[0], True), (parts[1], is_true)],
        [(parts[0], False), (parts[2], is_true)],
    ],
}
"""The ways in which what is made of parts holds, or not, for values of a kind."""


def _has_size(counted: tuple[Part | None, int], value: Any) -> bool | None:
    part, least = counted
    if part is None:
        return len(value) >= least
    answers = [part.holds(item) for item in value]
    if answers.count(True) >= least:
        return True
    return None if len(answers) - answers.count(False) >= least else False


def _holds_if(parts: Sequence[Part], value: Json) -> bool | None:
    condition, then, otherwise = parts
    is_met = condition.holds(value)
    return None if is_met is None else (then if is_met else otherwise).holds(value)


def _holds_exactly_one(parts: Sequence[Part], value: Json) -> bool | None:
    answers = [part.holds(value) for part in parts]
    return None if None in answers else answers.count(True) == 1


_HOLDS: Final[Mapping[str, Callable[[Any, Any], bool | None]]] = {
    "values": lambda values, value: exact(value) in values,
    "format": lambda _, __: True,
    "above": lambda limit, value: (exact_number(value), True) > limit,
    "multipleOf": lambda step, value: _is_multiple(exact_number(value), step),
    "size": _has_size,
    "pattern": matches,
    "items": lambda items, value: _all_of(items.at(place).holds(item) for place, item in enumerate(value)),
    "uniqueItems": lambda _, value: len(set(map(exact, value))) == len(value),
    "members": lambda members, value: _all_of(
        part.holds(inner) for name, inner in value.items() for part in members.parts_for(name)
    ),
    "required": lambda name, value: name in value,
    "propertyNames": lambda part, value: _all_of(map(part.holds, value)),
    "unread": lambda _, __: None,
    "anyOf": lambda parts, value: _is(False, _all_of(_is(False, part.holds(value)) for part in parts)),
    "oneOf": _holds_exactly_one,
    "if": _holds_if,
}
"""Whether each atom holds for a value of its kind; None where that is not known."""


class Part(_Item):
    """A schema or a part of one, the same object for the same schema; it is read when needed."""

    def __init__(self, schema: Json, side: int, search: ValueSearch) -> None:
        """Make a part of a search."""
        self.schema = schema
        self.side = side
        self.search = search

    @cached_property
    def literals(self) -> tuple[_Literal, ...]:
        """What a value must be, all of it, next to a kind that is stated."""
        if self in self.search.reading:
            raise UnclearError("a reference leads back to itself")
        self.search.reading.add(self)
        try:
            return tuple(dict.fromkeys(_read(self)))
        finally:
            self.search.reading.discard(self)

    def literals_for(self, kind: str) -> list[_Literal]:
        """Return those that may refuse values of a kind."""
        return [literal for literal in self.literals if literal[0].kind in {None, kind}]

    @cached_property
    def stated_kinds(self) -> frozenset[str]:
        """The kinds that `type` allows."""
        stated: Json = self.schema.get("type") if isinstance(self.schema, Mapping) else None
        if not is_types(stated):
            return frozenset(KINDS)
        words = [stated] if isinstance(stated, str) else stated
        return frozenset(KINDS) & {NUMBER if word == "integer" else word for word in words}

    @cached_property
    def own(self) -> dict[_Item, None]:
        """All that has to hold: it, what it refers to, the parts that all have to hold, and their atoms."""
        own: dict[_Item, None] = {}
        waiting: list[_Item] = [self]
        while waiting:
            item = waiting.pop()
            if item not in own and isinstance(item, Part):
                waiting += [each for each, is_true in item.literals if is_true]
            own[item] = None
        return own

    def facts(self, word: str) -> list[Any]:
        """Return the facts of those of its own atoms that have a word."""
        return [item.fact for item in self.own if isinstance(item, _Atom) and item.word == word]

    @cached_property
    def kinds(self) -> frozenset[str]:
        """The kinds that are left at a first look, before it is taken apart."""
        stated = [item.stated_kinds for item in self.own if isinstance(item, Part)]
        listed = [{kind for kind, _ in values} for values in self.facts("values")]
        return frozenset(KINDS).intersection(*stated, *listed)

    @cached_property
    def listed(self) -> _Tags:
        """The values that are listed, under the empty name; nothing where none are."""
        lists = [values.keys() for values in self.facts("values")]
        return {"": frozenset(lists[0]).intersection(*lists)} if lists else {}

    @cached_property
    def tags(self) -> _Tags:
        """The values of the members that an object must have and that only some values are allowed for."""
        names = set(self.facts("required"))
        values_by_name: dict[str, frozenset[Json]] = {}
        for members in self.facts("members"):
            for name in names & members.properties.keys():
                for values in members.properties[name].listed.values():
                    values_by_name[name] = values_by_name.get(name, values) & values
        return values_by_name

    def describes_all(self, kind: str) -> bool:
        """Return whether it describes all members of an object, or all items of an array."""
        closing = _CLOSING.get(kind, frozenset())
        return isinstance(self.schema, Mapping) and not closing.isdisjoint(self.schema)

    def inner(self, schema: Json) -> Part:
        """Return a part of the same side."""
        return self.search.part(schema, self.side)

    def ways(self, kind: str, *, is_true: bool) -> _Ways:
        """Return the ways in which all that it requires holds, or one of it does not."""
        if kind not in self.kinds:
            return _NEVER if is_true else _ALWAYS
        if is_true:
            return [self.literals_for(kind)]
        return [[(item, not expected)] for item, expected in self.literals_for(kind)]

    def holds(self, value: Json) -> bool | None:
        """Return whether a value is what it requires."""
        kind, visit = kind_of_value(value), (self, id(value))
        if kind not in self.stated_kinds:
            return False
        if visit in self.search.visited:
            return None
        self.search.visited.add(visit)
        try:
            return _all_of(_is(expected, item.holds(value)) for item, expected in self.literals_for(kind))
        finally:
            self.search.visited.discard(visit)


_State: TypeAlias = frozenset[tuple[Part, bool]]
_CLOSING: Final = {
    OBJECT: frozenset({"additionalProperties", "unevaluatedProperties"}),
    ARRAY: frozenset({"items", "unevaluatedItems"}),
}
_LIMITS: Final = {
    "minimum": (False, True),
    "exclusiveMinimum": (True, True),
    "maximum": (True, False),
    "exclusiveMaximum": (False, False),
}
"""For each word: whether its limit is open to those above it, and whether a number is above it."""
_SIZES: Final = {
    "minLength": (STRING, True),
    "maxLength": (STRING, False),
    "minItems": (ARRAY, True),
    "maxItems": (ARRAY, False),
    "minProperties": (OBJECT, True),
    "maxProperties": (OBJECT, False),
}


def _is_count(value: Json) -> bool:
    return is_number(value) and value >= 0 and exact_number(value).denominator == 1


def _is_names(value: Json) -> bool:
    return isinstance(value, list) and all(map(is_text, value))


def _is_schema(value: Json) -> bool:
    return isinstance(value, Mapping | bool)


def is_types(value: Json) -> bool:
    """Return whether the value of `type` has only words of JSON Schema."""
    words = value if isinstance(value, list) else [value]
    return all(isinstance(word, str) and word in _TYPE_WORDS for word in words)


_VALID: Final[Mapping[str, Callable[[Json], bool]]] = {
    "type": is_types,
    "enum": lambda value: isinstance(value, list),
    "const": lambda _: True,
    **dict.fromkeys(("anyOf", "oneOf", "allOf", "prefixItems"), is_schema_list),
    **dict.fromkeys(("properties", "patternProperties", "dependentSchemas"), is_schema_map),
    **dict.fromkeys(("not", "if", "then", "else", "contains", "propertyNames"), _is_schema),
    **dict.fromkeys(("additionalProperties", "unevaluatedProperties", "unevaluatedItems"), _is_schema),
    "additionalItems": _is_schema,
    "items": lambda value: _is_schema(value) or is_schema_list(value),
    **dict.fromkeys(_LIMITS, is_number),
    "multipleOf": lambda value: is_number(value) and value > 0,
    **dict.fromkeys((*_SIZES, "minContains", "maxContains"), _is_count),
    "uniqueItems": is_flag,
    "required": _is_names,
    "dependentRequired": lambda value: isinstance(value, Mapping) and all(map(_is_names, value.values())),
    **dict.fromkeys(("pattern", "format", "contentEncoding"), is_text),
}
"""Keywords that may refuse a value, with what each has to be."""
_UNKNOWN_REFERENCES: Final = ("$dynamicRef", "$recursiveRef")
KEYWORDS: Final = frozenset({*_VALID, *_UNKNOWN_REFERENCES})
"""Keywords that may refuse a value, but for `$ref`."""


def _read(part: Part) -> Iterator[_Literal]:
    schema, atom = part.schema, part.search.atom
    if isinstance(schema, bool):
        if not schema:
            yield atom("values", None, {}), True
        return
    stated = {}
    for word, value in schema.items():
        if word in _UNKNOWN_REFERENCES or (word == "$ref" and not isinstance(value, list)):
            yield atom("unread", None, (f"{word} {canonical_json(value)}", f"{word!r} is not resolved")), True
        elif word in _VALID and not _VALID[word](value):
            reason = f"{word!r} has a value that it cannot have"
            yield atom("unread", None, (f"{word} {canonical_json(value)}", reason)), True
        elif word in _VALID:
            stated[word] = value
    if "$ref" in schema and isinstance(schema["$ref"], list):
        yield part.search.resolve(schema["$ref"], part.side), True
    if "x-droidgate" in schema and isinstance(schema["x-droidgate"], Mapping):
        yield atom("format", None, canonical_json(schema["x-droidgate"])), True
    yield from _read_logic(part, stated)
    yield from _read_scalars(part, stated)
    yield from _read_items(part, stated)
    yield from _read_members(part, stated)
    for kind, word in ((OBJECT, "unevaluatedProperties"), (ARRAY, "unevaluatedItems")):
        if word in stated:
            yield from _read_unevaluated(part, word, kind)


def _read_logic(part: Part, stated: Mapping[str, Json]) -> Iterator[_Literal]:
    atom = part.search.atom
    for values in (stated.get("enum"), [stated["const"]] if "const" in stated else None):
        if values is not None:
            yield atom("values", None, {exact(value): value for value in values}), True
    for schema in stated.get("allOf", ()):
        yield part.inner(schema), True
    for word in ("anyOf", "oneOf"):
        if word in stated:
            yield atom(word, None, tuple(map(part.inner, stated[word]))), True
    if "not" in stated:
        yield part.inner(stated["not"]), False
    if "if" in stated:
        branches = tuple(part.inner(stated.get(word, True)) for word in ("if", "then", "else"))
        yield atom("if", None, branches), True


def _read_scalars(part: Part, stated: Mapping[str, Json]) -> Iterator[_Literal]:
    atom = part.search.atom
    words = [stated["type"]] if isinstance(stated.get("type"), str) else stated.get("type", ())
    if "integer" in words and "number" not in words:
        yield atom("multipleOf", NUMBER, Fraction(1)), True
    for word, (is_open, is_above) in _LIMITS.items():
        if word in stated:
            yield atom("above", NUMBER, (exact_number(stated[word]), is_open)), is_above
    if "multipleOf" in stated:
        yield atom("multipleOf", NUMBER, exact_number(stated["multipleOf"])), True
    for word, (kind, is_least) in _SIZES.items():
        if word in stated:
            yield atom("size", kind, (None, int(stated[word]) + (not is_least))), is_least
    if "pattern" in stated:
        yield atom("pattern", STRING, stated["pattern"]), True
    if "format" in stated:
        is_number = stated["format"] in _NUMBER_FORMATS
        yield atom("format", NUMBER if is_number else STRING, stated["format"]), True
    if "contentEncoding" in stated:
        yield atom("format", STRING, f"contentEncoding {stated['contentEncoding']}"), True


def _read_items(part: Part, stated: Mapping[str, Json]) -> Iterator[_Literal]:
    atom = part.search.atom
    items, first = stated.get("items", True), stated.get("prefixItems", [])
    if isinstance(items, list):
        # Earlier drafts list the first items here.
        first, items = items, stated.get("additionalItems", True)
    if first or items is not True:
        yield atom("items", ARRAY, _Items(tuple(map(part.inner, first)), part.inner(items))), True
    if "contains" in stated:
        contained = part.inner(stated["contains"])
        yield atom("size", ARRAY, (contained, int(stated.get("minContains", 1)))), True
        if "maxContains" in stated:
            yield atom("size", ARRAY, (contained, int(stated["maxContains"]) + 1)), False
    if stated.get("uniqueItems"):
        yield atom("uniqueItems", ARRAY, None), True


def _read_members(part: Part, stated: Mapping[str, Json]) -> Iterator[_Literal]:
    atom = part.search.atom
    if stated.keys() & {"properties", "patternProperties", "additionalProperties"}:
        members = _Members(
            {name: part.inner(schema) for name, schema in stated.get("properties", {}).items()},
            tuple((text, part.inner(schema)) for text, schema in stated.get("patternProperties", {}).items()),
            part.inner(stated.get("additionalProperties", True)),
        )
        yield atom("members", OBJECT, members), True
    for name in stated.get("required", ()):
        yield atom("required", OBJECT, name), True
    if "propertyNames" in stated:
        yield atom("propertyNames", OBJECT, part.inner(stated["propertyNames"])), True
    dependent: list[tuple[str, Json]] = [
        *((name, {"required": names}) for name, names in stated.get("dependentRequired", {}).items()),
        *stated.get("dependentSchemas", {}).items(),
    ]
    for name, schema in dependent:
        has_it = {"type": OBJECT, "required": [name]}
        yield atom("if", None, (part.inner(has_it), part.inner(schema), part.inner(True))), True


def _read_unevaluated(part: Part, word: str, kind: str) -> Iterator[_Literal]:
    """Read a keyword for what no other keyword describes, where the value does not decide what that is."""
    atom, inner, any_value = part.search.atom, part.inner(part.schema[word]), part.inner(True)
    rest = part.inner({name: value for name, value in part.schema.items() if name != word})
    try:
        depends = any(map(rest.facts, ("anyOf", "oneOf", "if", "unread")))
        depends |= any(counted is not None for counted, _ in rest.facts("size"))
    except UnclearError:
        depends = True
    if depends:
        yield atom("unread", kind, ((rest, inner), f"{word!r} depends on the value")), True
    elif any(item.describes_all(kind) for item in rest.own if isinstance(item, Part)):
        return
    elif kind == OBJECT:
        properties = {name: any_value for members in rest.facts("members") for name in members.properties}
        patterns = {text: any_value for members in rest.facts("members") for text, _ in members.patterns}
        yield atom("members", OBJECT, _Members(properties, tuple(patterns.items()), inner)), True
    else:
        length = max((len(items.first) for items in rest.facts("items")), default=0)
        yield atom("items", ARRAY, _Items((any_value,) * length, inner)), True


@dataclass(slots=True)
class _Branch:
    """One way in which a value of one kind can be all that is asked for."""

    kind: str
    pending: list[_Literal]
    seen: dict[_Item, bool] = field(default_factory=dict)
    atoms: list[tuple[_Atom, bool]] = field(default_factory=list)
    choices: list[tuple[_Item, _Ways, frozenset[_Item]]] = field(default_factory=list)
    """What holds in several ways: those that are left, and what was in all of them."""
    tags: dict[str, frozenset[Json]] = field(default_factory=dict)
    """The values of members that are left by what is seen, as `Part.tags`."""
    fresh: set[_Item] = field(default_factory=set)
    """What is seen since the choices were narrowed."""
    narrowed: int = 0
    """How many choices were narrowed; 0 where all have to be narrowed again."""

    @property
    def size(self) -> int:
        """How much a copy holds."""
        return len(self.seen) + len(self.atoms) + sum(len(ways) for _, ways, _ in self.choices)

    def copy(self, further: Iterable[_Literal]) -> _Branch:
        """Return a copy with more to take apart."""
        return _Branch(
            self.kind,
            list(further),
            dict(self.seen),
            list(self.atoms),
            list(self.choices),
            dict(self.tags),
            set(self.fresh),
            self.narrowed,
        )

    def take_apart(self) -> bool:
        """Take apart what can hold in one way only; return whether the rest may hold."""
        while self.pending:
            item, is_true = self.pending.pop()
            known = self._known(item)
            if known is not None and known is not is_true:
                return False
            if known is not None:
                continue
            self.seen[item] = is_true
            self.fresh.add(item)
            if is_true and isinstance(item, Part) and self.kind == OBJECT:
                for name, values in item.tags.items():
                    self.narrowed = 0  # other parts may be excluded now
                    self.tags[name] = self.tags.get(name, values) & values
                    if not self.tags[name]:
                        return False
            ways, items = item.known_ways(self.kind, is_true=is_true)
            if ways is None and isinstance(item, _Atom):
                self.atoms.append((item, is_true))
            elif ways is not None and len(ways) == 1:
                self.pending += ways[0]
            elif ways is not None:
                self.choices.append((item, ways, items))
            if not self.pending and not self._narrow_choices():
                return False
        return True

    def _known(self, item: _Item) -> bool | None:
        """Return whether an item holds by what is seen, at a first look; None where that is open."""
        if item not in self.seen and isinstance(item, Part):
            is_excluded = self.kind not in item.kinds or (self.tags and _are_apart(item.tags, self.tags))
            return False if is_excluded else None
        return self.seen.get(item)

    def _narrow_choices(self) -> bool:
        """Leave out ways that cannot hold and choices that hold already; return whether all may hold."""
        choices, self.choices = self.choices, []
        fresh, self.fresh = self.fresh, set()
        for position, (item, ways, items) in enumerate(choices):
            if position < self.narrowed and fresh.isdisjoint(items):
                self.choices.append((item, ways, items))
                continue
            open_ways = []
            for way in ways:
                answer = _all_of(_is(is_true, self._known(each)) for each, is_true in way)
                if answer:
                    break
                if answer is None:
                    open_ways.append(way)
            else:
                if not open_ways:
                    return False
                if len(open_ways) == 1:
                    self.pending += open_ways[0]
                else:
                    self.choices.append((item, open_ways, items))
        self.narrowed = len(self.choices)
        return True

    def take_choice(self) -> tuple[_Item, _Ways]:
        """Take the choice that leaves the least to others: what allows values, in few ways."""

        def rank(place: int) -> tuple[bool, int]:
            item, ways, _ = self.choices[place]
            return not self.seen[item], len(ways)

        at = min(range(len(self.choices)), key=rank)
        self.narrowed -= at < self.narrowed
        item, ways, _ = self.choices.pop(at)
        return item, ways

    def facts(self, word: str, *, is_true: bool = True) -> list[Any]:
        """Return the facts of the atoms of a word that have to hold, or not to hold."""
        return [atom.fact for atom, expected in self.atoms if atom.word == word and expected is is_true]

    def sizes(self, counted: Part | None = None) -> tuple[int, int | None]:
        """Return the least and the greatest size, or number of items of a part; None without a greatest."""
        least = max((size for part, size in self.facts("size") if part is counted), default=0)
        more = [size for part, size in self.facts("size", is_true=False) if part is counted]
        return least, min(more) - 1 if more else None


class ValueSearch:
    """Searches values of schemas of two sides, whose references may mean different things."""

    def __init__(self, resolve: Callable[[list[str], int], Json], shared: frozenset[str]) -> None:
        """Make a search.

        Args:
            resolve: Return the schema that a reference, a list of names, means on a side.
            shared: The names that mean the same on both sides.
        """
        self._resolve = resolve
        self._shared = shared
        self._parts: dict[tuple[str, int], Part] = {}
        self._known: dict[tuple[int, int], tuple[Json, Part]] = {}
        self._atoms: dict[tuple[Any, ...], _Atom] = {}
        self._resolved: dict[tuple[tuple[str, ...], int], Part] = {}
        self._answers: dict[_State, SearchAnswer] = {}
        self._open: dict[_State, int] = {}
        self._lowest = 0
        self.visited: set[tuple[Part, int]] = set()
        self.reading: set[Part] = set()
        self._steps = _STEPS

    def part(self, schema: Json, side: int) -> Part:
        """Return the part that a schema is; schemas that mean the same by their text are one."""
        # By identity too: a text takes long to write, and most schemas come back with what is around them.
        entry = self._known.get((id(schema), side))
        if entry is not None:
            return entry[1]
        text = canonical_json(schema)
        is_shared = '"$ref":[' not in text or references_in(schema) <= self._shared
        key = (text, 0 if is_shared else side)
        if key not in self._parts:
            self._parts[key] = Part(schema, key[1], self)
        self._known[id(schema), side] = (schema, self._parts[key])
        return self._parts[key]

    def atom(self, word: str, kind: str | None, fact: Any) -> _Atom:
        """Return the one atom that means the same."""
        meaning = fact
        if isinstance(fact, _Members):
            meaning = (frozenset(fact.properties.items()), fact.patterns, fact.others)
        elif isinstance(fact, dict):
            meaning = frozenset(fact)
        key = (word, kind, meaning)
        if key not in self._atoms:
            self._atoms[key] = _Atom(word, kind, fact)
        return self._atoms[key]

    def resolve(self, names: list[str], side: int) -> Part:
        """Return the part that a reference means."""
        key = (tuple(names), side)
        if key not in self._resolved:
            self._resolved[key] = self.part(self._resolve(names, side), side)
        return self._resolved[key]

    def find(self, allowed: Iterable[Part], refused: Iterable[Part]) -> SearchAnswer:
        """Return a value that all of some schemas allow and none of others."""
        self._steps = max(self._steps, _STEPS // 20)
        return self.find_in(
            frozenset([*((part, True) for part in allowed), *((part, False) for part in refused)])
        )

    def find_in(self, state: _State) -> SearchAnswer:
        """Return a value that all parts of a state allow, or refuse."""
        if any((part, not is_true) in state for part, is_true in state):
            return None
        if state in self._answers:
            return self._answers[state]
        if state in self._open:
            # The smallest value does not need another value of the same state inside.
            self._lowest = min(self._lowest, self._open[state])
            return None
        depth = len(self._open)
        if depth >= _DEPTH:
            return Unclear("the types are nested too deep")
        self._open[state] = depth
        lowest, self._lowest = self._lowest, depth
        possible = frozenset(KINDS).intersection(*(part.kinds for part, is_true in state if is_true))
        answer = _first_found(self._of_kind(kind, state) for kind in KINDS if kind in possible)
        del self._open[state]
        if isinstance(answer, FoundValue) or self._lowest >= depth:
            self._answers[state] = answer
        self._lowest = min(lowest, self._lowest)
        return answer

    def _of_kind(self, kind: str, state: _State) -> SearchAnswer:
        try:
            return _first_found(map(self._solve, self._branches(_Branch(kind, list(state)))))
        except UnclearError as error:
            return Unclear(str(error))

    def spend(self, steps: int) -> None:
        """Count steps.

        Raises:
            UnclearError: there were too many.
        """
        self._steps -= steps
        if self._steps < 0:
            raise UnclearError("there are too many combinations")

    def _branches(self, start: _Branch, *, is_inner: bool = False) -> Iterator[_Branch]:
        """Yield each way to take apart what a value has to be, with the atoms of its kind only.

        What can hold in one way only is taken apart first, so that a choice is made between the ways that are
        left, and of the shortest choice.
        """
        waiting = [start]
        while waiting:
            branch = waiting.pop()
            self.spend(1)
            if not branch.take_apart():
                continue
            if not branch.choices:
                yield branch
                continue
            item, ways = branch.take_choice()
            # A step of a schema of very many parts costs more than one.
            self._steps -= len(ways) * branch.size // _SIZE_OF_STEP
            if not is_inner and self._is_refused_anyway(item, branch):
                waiting.append(branch)
            else:
                waiting += [branch.copy(way) for way in reversed(ways)]

    def _is_refused_anyway(self, item: _Item, branch: _Branch) -> bool:
        """Return whether the atoms of a branch alone keep a value from being one of a part."""
        if not isinstance(item, Part) or branch.seen[item] or not branch.atoms:
            return False
        lowest, self._lowest = self._lowest, len(self._open)
        start = _Branch(
            branch.kind, [(item, True)], dict(branch.atoms), list(branch.atoms), tags=dict(branch.tags)
        )
        answer = _first_found(map(self._solve, self._branches(start, is_inner=True)))
        # What is only assumed further out shows nothing here.
        is_certain = self._lowest >= len(self._open)
        self._lowest = min(lowest, self._lowest)
        return answer is None and is_certain

    def _solve(self, branch: _Branch) -> SearchAnswer:
        unread = [*branch.facts("unread"), *branch.facts("unread", is_true=False)]
        try:
            answer = self._solve_known(branch)
        except UnclearError as error:
            return Unclear(str(error))
        if isinstance(answer, FoundValue) and unread:
            return Unclear(unread[0][1])
        return answer

    def _solve_known(self, branch: _Branch) -> SearchAnswer:
        are_words_shown = _are_words_shown(branch)
        if are_words_shown is None:
            return None
        for listed in branch.facts("values"):
            return _solve_listed(listed.values(), branch)
        refused = {
            content: value
            for values in branch.facts("values", is_true=False)
            for (kind, content), value in values.items()
            if kind == branch.kind
        }
        if branch.kind in _FEW:
            left = [value for value in _FEW[branch.kind] if value not in refused]
            return FoundValue(left[0], are_words_shown) if left else None
        answer = _SOLUTIONS[branch.kind](self, branch, refused)
        if isinstance(answer, FoundValue):
            return FoundValue(answer.value, answer.is_shown and are_words_shown)
        return answer

    def solve_text(self, branch: _Branch, refused: Mapping[Json, Json]) -> SearchAnswer:
        """Return a shortest text."""
        least, most = branch.sizes()
        if most is not None and least > most:
            return None
        matching, missed = branch.facts("pattern"), branch.facts("pattern", is_true=False)
        if not matching and not missed:
            if least > _LONGEST_TEXT:
                return FoundValue(is_shown=False)
            texts = ["", *(chr(ord("a") + place) for place in range(len(refused) + 1))]
            longer = (text * max(least, 1) for text in texts if least == 0 or text)
            found = (text for text in longer if (most is None or len(text) <= most))
            return next((FoundValue(text) for text in found if text not in refused), None)
        # The module takes 0.015 s to import.
        from droidgate_mappings.values import patterns

        missed += [_pattern_of(text) for text in refused]
        self.spend((len(matching) + len(missed)) ** 2 // _PATTERNS_OF_STEP)
        try:
            shortest = patterns.find_text(matching, missed, least, most)
        except patterns.UnsupportedPatternError as error:
            raise UnclearError(f"a pattern is not compared: {error}") from None
        return None if shortest is None else FoundValue(shortest)

    def solve_array(self, branch: _Branch, refused: Mapping[Json, Json]) -> SearchAnswer:
        """Return an array; the lengths and the places of single values that can matter are all tried."""
        least, most = branch.sizes()
        described = branch.facts("items")
        missed = branch.facts("items", is_true=False)
        counted = dict.fromkeys(atom.fact[0] for atom, _ in branch.atoms if atom.word == "size")
        contained = [(part, *branch.sizes(part)) for part in counted if part is not None]
        doubled = branch.facts("uniqueItems", is_true=False)
        edge = max((len(items.first) for items in (*described, *missed)), default=0)

        def state_at(position: int) -> _State:
            return frozenset((items.at(position), True) for items in described)

        for position in range(edge + 1):
            if (most is None or position < most) and self.find_in(state_at(position)) is None:
                most = position
        if most is not None and least > most:
            return None
        further = sum(number for _, number, _ in contained) + len(missed) + 2 * len(doubled) + len(refused)
        longest = max(least, edge) + further
        longest = longest if most is None else min(most, longest)
        if longest > _LONGEST:
            return Unclear("the arrays are too long")
        unclear: SearchAnswer = None
        for length in range(least, longest + 1):
            options = [_places_of_miss(items, length) for items in missed]
            options += [_places_of_contained(*numbers, length) for numbers in contained]
            options += [_places_of_equal(length) for _ in doubled]
            options += [self._places_of_other(array) for array in refused.values() if len(array) == length]
            for places in product(*map(tuple, options)):
                self.spend(1)
                answer = self._array_of([state_at(position) for position in range(length)], places, branch)
                if isinstance(answer, FoundValue):
                    return answer
                unclear = unclear or answer
        return unclear

    def _places_of_other(self, array: Sequence[Json]) -> Iterator[_Places]:
        for position, item in enumerate(array):
            yield {position: (self.part({"const": item}, 0), False)}

    def _array_of(self, states: list[_State], places: Iterable[_Places], branch: _Branch) -> SearchAnswer:
        """Return an array whose items are of some states, with further literals at some places."""
        equal_to: dict[int, int] = {}
        for place in places:
            for position, further in place.items():
                if isinstance(further, int):
                    equal_to[position] = further
                else:
                    states[position] |= {further}
        for position, equal in equal_to.items():
            states[equal] = states[position] = states[position] | states[equal]
        are_distinct = bool(branch.facts("uniqueItems"))
        if are_distinct and equal_to:
            return None
        values: list[Json] = []
        are_shown = True
        for position, state in enumerate(states):
            if position in equal_to:
                values.append(values[equal_to[position]])
                continue
            distinct = frozenset([(self.part({"enum": values}, 0), False)] if are_distinct and values else [])
            answer = self.find_in(state | distinct)
            if not isinstance(answer, FoundValue):
                if distinct and answer is None and len(set(states)) > 1 and self.find_in(state) is not None:
                    return Unclear("the items of an array have to differ")
                return answer
            values.append(answer.value)
            are_shown &= answer.is_shown
            if are_distinct and not answer.is_shown:
                return Unclear("the items of an array have to differ")
        return FoundValue(values, are_shown)

    def solve_object(self, branch: _Branch, refused: Mapping[Json, Json]) -> SearchAnswer:
        """Return an object; names that no keyword distinguishes are tried once for each value they need."""
        names = _ObjectNames(self, branch)
        if any(not names.is_allowed(name) for name in names.required):
            return None
        if any(self.find_in(names.state_of(name)) is None for name in names.required):
            return None
        unclear: SearchAnswer = None
        for chosen in product(*names.options()):
            self.spend(1)
            answer = self._object_of(names, chosen, refused)
            if isinstance(answer, FoundValue):
                return answer
            unclear = unclear or answer
        return unclear

    def _object_of(
        self, names: _ObjectNames, chosen: Iterable[_Member], refused: Mapping[Json, Json]
    ) -> SearchAnswer:
        states = {name: names.state_of(name) for name in names.required}
        for name, further in chosen:
            states[name] = states.get(name, names.state_of(name)) | further
        if names.most is not None and len(states) > names.most:
            return None
        values: dict[str, Json] = {}
        are_shown = True
        for name, state in states.items():
            answer = self.find_in(state)
            if not isinstance(answer, FoundValue):
                return answer
            values[name] = answer.value
            are_shown &= answer.is_shown
        while len(values) < names.least or (are_shown and exact(values)[1] in refused):
            if names.most is not None and len(values) >= names.most:
                is_small = len(values) < names.least
                return None if is_small else Unclear("a refused object is the only one tried")
            if len(values) >= _LONGEST:
                return Unclear("the objects are too large")
            another, added = names.further(values)
            if another is None or not isinstance(added, FoundValue):
                return added
            values[another] = added.value
            are_shown &= added.is_shown
        return FoundValue(values, are_shown)


def _first_found(answers: Iterable[SearchAnswer]) -> SearchAnswer:
    """Return the first value that is found, else why that is not clear, else None."""
    unclear: SearchAnswer = None
    for answer in answers:
        if isinstance(answer, FoundValue):
            return answer
        unclear = unclear or answer
    return unclear


def _are_words_shown(branch: _Branch) -> bool | None:
    """Return whether words such as formats let a value be shown; None where two contradict."""
    stated, refused = set(branch.facts("format")), set(branch.facts("format", is_true=False))
    if any(step.denominator == 1 for step in branch.facts("multipleOf")):
        stated |= {"int64"} if refused & _NUMBER_FORMATS - {"int32", "int64"} else set()
    implied = {wider for word in stated for wider in _WIDER_FORMATS.get(word, ())}
    if refused & (stated | implied):
        return None
    return not refused and not stated - {"int64"}


def _solve_listed(listed: Iterable[Json], branch: _Branch) -> SearchAnswer:
    is_unclear = False
    for value in listed:
        if kind_of_value(value) != branch.kind:
            continue
        answers = {_is(is_true, atom.holds(value)) for atom, is_true in branch.atoms if atom.word != "unread"}
        if answers <= {True}:
            return FoundValue(value)
        is_unclear |= None in answers
    return Unclear("a listed value is not checked") if is_unclear else None


def _solve_number(_: ValueSearch, branch: _Branch, refused: Mapping[Json, Json]) -> SearchAnswer:
    low = max(branch.facts("above"), default=None)
    high = min(branch.facts("above", is_true=False), default=None)
    steps, missed = branch.facts("multipleOf"), branch.facts("multipleOf", is_true=False)
    step = _common_multiple(steps) if steps else None
    if step is not None and any(_is_multiple(step, divisor) for divisor in missed):
        return None
    candidates = _multiples(step, low, high) if step else _points(low, high)
    for number, value in enumerate(candidates):
        if (
            (low is None or (value, True) > low)
            and (high is None or (value, True) <= high)
            and value not in refused
            and not any(_is_multiple(value, divisor) for divisor in missed)
        ):
            shown = _number(value)
            return FoundValue(shown, shown is not None)
        if number > _NUMBERS:
            return Unclear("the multiples are too many to try")
    if step is None and (low is None or high is None or low[0] < high[0]):
        return FoundValue(None, is_shown=False)
    return None


_FEW: Final[Mapping[str, tuple[Json, ...]]] = {NULL: (None,), BOOLEAN: (False, True)}
_SOLUTIONS: Final[Mapping[str, Callable[[ValueSearch, _Branch, Mapping[Json, Json]], SearchAnswer]]] = {
    NUMBER: _solve_number,
    STRING: ValueSearch.solve_text,
    ARRAY: ValueSearch.solve_array,
    OBJECT: ValueSearch.solve_object,
}
_Member: TypeAlias = tuple[str, _State]
"""The name of a member, and what its value has to be in addition."""


class _ObjectNames:
    """The names of the members of an object: those that keywords mention, and others as needed."""

    def __init__(self, search: ValueSearch, branch: _Branch) -> None:
        """Collect the names that keywords mention."""
        self.search = search
        self.least, self.most = branch.sizes()
        self.required: list[str] = list(dict.fromkeys(branch.facts("required")))
        self.forbidden = dict.fromkeys(branch.facts("required", is_true=False))
        self.naming: list[Part] = branch.facts("propertyNames")
        self.badly_named: list[Part] = branch.facts("propertyNames", is_true=False)
        self.members: list[_Members] = branch.facts("members")
        self.missed: list[_Members] = branch.facts("members", is_true=False)
        named = (name for members in (*self.members, *self.missed) for name in members.properties)
        self.mentioned = list(dict.fromkeys([*self.required, *self.forbidden, *named]))
        self._others: dict[str, None] = {}
        self._count = 0
        self._states: dict[str, _State] = {}
        # By the name of a property, what describes it; all of what has patterns is apart.
        self._describing: dict[str, list[_Members]] = {}
        self._patterned = [members for members in self.members if members.patterns]
        plain = [members for members in self.members if not members.patterns]
        # What the others of how many say of a property that they do not name.
        self._beyond = Counter(members.others for members in plain)
        for members in plain:
            for name in members.properties:
                self._describing.setdefault(name, []).append(members)

    def is_allowed(self, name: str) -> bool:
        """Return whether a member may have a name."""
        if name in self.forbidden:
            return False
        answer = _all_of(part.holds(name) for part in self.naming)
        if answer is None:
            message = "the names of properties are not checked"
            raise UnclearError(message)
        return answer

    def state_of(self, name: str) -> _State:
        """Return what the value of a member has to be."""
        if name not in self._states:
            describing = self._describing.get(name, [])
            named_counts = Counter(members.others for members in describing)
            parts = [part for part, number in self._beyond.items() if number > named_counts[part]]
            parts += [members.properties[name] for members in describing]
            parts += [part for members in self._patterned for part in members.parts_for(name)]
            self._states[name] = frozenset((part, True) for part in parts)
        return self._states[name]

    def options(self) -> list[list[_Member]]:
        """Return for each thing that must not hold the members that make it fail."""
        needing = len(self.missed) + len(self.badly_named)
        if not needing:
            return []
        names = [name for name in self.mentioned if self.is_allowed(name)]
        open_ones = [
            members for members in self.missed if members.patterns or members.others.schema is not True
        ]
        if open_ones or self.badly_named:
            names += self.others(needing)
        place = {name: position for position, name in enumerate(names)}
        options: list[list[_Member]] = []
        for members in self.missed:
            tried: Iterable[str] = names
            if members not in open_ones:
                # No other member can be what it refuses.
                tried = sorted(members.properties.keys() & place.keys(), key=place.__getitem__)
            options.append(
                [(name, frozenset([(part, False)])) for name in tried for part in members.parts_for(name)]
            )
        options += [
            [(name, frozenset()) for name in names if part.holds(name) is not True]
            for part in self.badly_named
        ]
        return [[member for member in option if self.is_possible(*member)] for option in options]

    def is_possible(self, name: str, further: _State) -> bool:
        """Return whether a member may have a value of a state in addition to what is required of it."""
        return not further or self.search.find_in(self.state_of(name) | further) is not None

    def others(self, number: int) -> list[str]:
        """Return names that no keyword mentions, some for each set of patterns that may match them."""
        if number <= self._count:
            return list(self._others)
        self._count = number
        search = self.search
        patterns = dict.fromkeys(
            text for members in (*self.members, *self.missed) for text, _ in members.patterns
        )
        splits = [*(search.part({"pattern": text}, 0) for text in patterns), *self.badly_named]
        if len(splits) > _SPLITS:
            message = "the names of properties have too many patterns"
            raise UnclearError(message)
        needed = [(part, True) for part in (search.part({"type": STRING}, 0), *self.naming)]
        for signs in product((False, True), repeat=len(splits)):
            for _ in range(number):
                used = (search.part({"enum": [*self.mentioned, *self._others]}, 0), False)
                answer = search.find_in(frozenset([*zip(splits, signs, strict=True), *needed, used]))
                if isinstance(answer, Unclear) or (isinstance(answer, FoundValue) and not answer.is_shown):
                    message = "the names of properties are not compared"
                    raise UnclearError(message)
                if answer is None:
                    break
                self._others[answer.value] = None
        return list(self._others)

    def further(self, taken: Mapping[str, Json]) -> tuple[str | None, SearchAnswer]:
        """Return one more member that is allowed, or why there is none."""
        unclear: SearchAnswer = None
        for names in (self.mentioned, self.others(len(taken) + 1)):
            for name in names:
                if name in taken or not self.is_allowed(name):
                    continue
                answer = self.search.find_in(self.state_of(name))
                if isinstance(answer, FoundValue):
                    return name, answer
                unclear = unclear or answer
        return None, unclear


_Places: TypeAlias = Mapping[int, tuple[Part, bool] | int]
"""What items need in addition, by position; a number is the position of an equal item."""


def _places_of_miss(items: _Items, length: int) -> Iterator[_Places]:
    for position in range(length):
        part = items.at(position)
        if part.schema is not True:
            yield {position: (part, False)}


def _places_of_contained(part: Part, least: int, most: int | None, length: int) -> Iterator[_Places]:
    if most is None:
        for positions in combinations(range(length), least):
            yield dict.fromkeys(positions, (part, True))
        return
    for number in range(least, min(most, length) + 1):
        for positions in combinations(range(length), number):
            yield {position: (part, position in positions) for position in range(length)}


def _places_of_equal(length: int) -> Iterator[_Places]:
    for left, right in combinations(range(length), 2):
        yield {right: left}


_Limit: TypeAlias = tuple[Fraction, bool] | None


def _common_multiple(steps: Iterable[Fraction]) -> Fraction:
    steps = list(steps)
    denominator = math.lcm(*(step.denominator for step in steps))
    return Fraction(math.lcm(*(int(step * denominator) for step in steps)), denominator)


def _multiples(step: Fraction, low: _Limit, high: _Limit) -> Iterator[Fraction]:
    """Yield the multiples of a number between two limits or at them, those near zero first."""
    first = -math.inf if low is None else math.ceil(low[0] / step)
    last = math.inf if high is None else math.floor(high[0] / step)
    start = int(min(max(first, 0), last))
    for distance in count():
        near = [at for at in dict.fromkeys((start + distance, start - distance)) if first <= at <= last]
        if not near:
            return
        yield from (at * step for at in near)


def _points(low: _Limit, high: _Limit) -> Iterator[Fraction]:
    """Yield numbers between two limits or at them, plain ones first."""
    if low is not None and high is not None:
        if low[0] > high[0]:
            return
        start, width = low[0], high[0] - low[0]
        yield from (low[0], high[0])
        yield from _multiples(Fraction(1), low, high) if width < _NUMBERS else ()
    else:
        start, width = (Fraction(0) if low is None else low[0]), Fraction(1)
        if high is not None:
            start, width = high[0], -width
        yield from (start + width * at for at in range(100))
    for parts in (2, 4, 5, 10, 16, 32, 64, 100, 1000):
        yield from (start + width * Fraction(at, parts) for at in range(1, min(parts, 100)))


def _pattern_of(text: str) -> str:
    return "^" + "".join(f"\\u{{{ord(letter):x}}}" for letter in text) + "$"


def references_in(schema: Json) -> set[str]:
    """Return the names of definitions that a schema refers to by itself."""
    references: set[str] = set()
    waiting = [schema]
    while waiting:
        value = waiting.pop()
        if isinstance(value, Mapping):
            names = value.get("$ref")
            if isinstance(names, list):
                references.update(names if len(names) == 1 else ["\0".join(names)])
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)
    return references

"""Whether a value exists that some JSON Schemas allow and others refuse.

This decides every relation between two schemas: all values of A are values of B where no value is one of A
and not of B. Schemas are taken apart by the kind of the value, so that spelling says nothing: null in a list
of types, an alternative or a list of values is the same null, and a keyword that cannot refuse a value of the
kind is dropped. What is left is solved for each kind: numbers as exact fractions, texts as automata, objects
and arrays by the values that their members need.

A search finds a value, or shows that there is none, or says why it cannot know. Formats are words without a
meaning here: a format allows fewer values than no format does, and another format allows other ones.

A reader's way through the module, in its order:

1. `_Item` and its classes are what a schema is taken apart into: one for each keyword, `Part` for a schema.
   Each says which kind of value it is about, in which ways it holds or not, and whether a value fulfils it.
2. `_read_atoms`, and the `_read_...` below it, make them from the keywords of a schema.
3. `_Described` is which members and items a schema describes, for the keywords about all others. `_Branch` is
   one choice of a way for each item: all that a value of one kind has to be.
4. `ValueSearch.find` tries each kind. `_branches` makes the branches of one, and `_solve` finds a value for
   one: `_solve_number`, `_solve_text`, `_solve_array`, and `_solve_object` with the names of `_ObjectNames`.
5. The functions at the end do small parts of that: places in an array, texts of patterns, numbers in limits.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Context, Decimal, Inexact
from fractions import Fraction
from functools import cached_property
from itertools import combinations, product
from typing import Any, ClassVar, Final, TypeAlias, TypeVar, dataclass_transform

from droidgate_mappings.json_schema.schema_words import is_schema_list, is_schema_map
from droidgate_mappings.model.json_values import Json, canonical_json
from droidgate_mappings.model.type_qualities import WIDER_NUMBERS

NULL, BOOLEAN, NUMBER, STRING, ARRAY, OBJECT = "null", "boolean", "number", "string", "array", "object"
KINDS: Final = (NULL, BOOLEAN, NUMBER, STRING, ARRAY, OBJECT)
_STEPS: Final = 20_000
_SIZE_OF_STEP: Final = 1_000
_PATTERNS_OF_STEP: Final = 100
"""Pairs of patterns: a text that many of them match or miss takes as long as there are pairs."""
_MOST_PAIRS: Final = 250_000
"""Pairs of alternatives, of which exactly one has to apply, that may both apply."""
_DEPTH: Final = 30
_LONGEST: Final = 200
"""Members of the largest array or object that a search makes."""
_CHOICES: Final = 2_000
"""Ways to place values in one array that are tried."""
_SPLITS: Final = 6
"""Patterns of names that are distinguished in one object."""

_NUMBERS: Final = {
    "minimum": (1, False),
    "exclusiveMinimum": (1, True),
    "maximum": (-1, False),
    "exclusiveMaximum": (-1, True),
}
_SIZES: Final = {
    "minLength": (STRING, True),
    "maxLength": (STRING, False),
    "minItems": (ARRAY, True),
    "maxItems": (ARRAY, False),
    "minProperties": (OBJECT, True),
    "maxProperties": (OBJECT, False),
}
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

_T = TypeVar("_T")


class _Item:
    """Something that a value has to be, or not to be: a schema or one of its keywords."""

    __match_args__: ClassVar[tuple[str, ...]] = ()
    only: ClassVar[str | None] = None
    """The only kind whose values it may refuse; None for all."""

    def applies(self, kind: str) -> bool:
        """Return whether it may refuse values of a kind."""
        return self.only in {None, kind}

    def ways(self, *, is_true: bool, kind: str) -> _Ways | None:
        """Return the ways in which it holds for a kind, or not; None where its kind's solution has it."""
        if self.applies(kind):
            return None
        return _ALWAYS if is_true else _NEVER

    def known_ways(self, *, is_true: bool, kind: str) -> tuple[_Ways | None, frozenset[_Item]]:
        """Return the ways, which are made once, and what is in them."""
        ways_by_key = self.__dict__.setdefault("made_ways", {})
        key = (is_true, kind)
        if key not in ways_by_key:
            ways = self.ways(is_true=is_true, kind=kind)
            ways_by_key[key] = ways, frozenset(item for way in ways or () for item, _ in way)
        entry: tuple[_Ways | None, frozenset[_Item]] = ways_by_key[key]
        return entry

    def holds(self, value: Json) -> bool | None:
        """Return whether it holds for a value; None where that is not known."""
        return not self.applies(kind_of_value(value)) or self.holds_for_kind(value)

    def holds_for_kind(self, value: Any) -> bool | None:
        """Return the same for a value of its kind."""
        raise NotImplementedError

    def meaning(self) -> tuple[Any, ...]:
        """Return what is equal for items that mean the same."""
        return (type(self), *(self.__dict__[name] for name in type(self).__match_args__))


_Ways: TypeAlias = "Sequence[Sequence[tuple[_Item, bool]]]"
_ALWAYS: Final[_Ways] = ((),)
_NEVER: Final[_Ways] = ()


@dataclass_transform(frozen_default=True)
def _atom(item: type[_T]) -> type[_T]:
    """Make the annotations of a class the arguments of its instances, which are equal to themselves only.

    Making as many dataclasses takes longer than a usual comparison. A search has one instance for each key.
    """

    def keep(self: _T, *values: Any) -> None:
        self.__dict__.update(zip(names, values, strict=True))

    names = tuple(item.__annotations__)
    setattr(item, "__match_args__", names)  # noqa: B010
    setattr(item, "__init__", keep)  # noqa: B010
    return item


@_atom
class _Kinds(_Item):
    kinds: frozenset[str]
    has_fractions: bool

    def applies(self, kind: str) -> bool:
        return kind not in self.kinds or (kind == NUMBER and not self.has_fractions)

    def ways(self, *, is_true: bool, kind: str) -> _Ways | None:
        if kind == NUMBER and kind in self.kinds and not self.has_fractions:
            return (((_Multiple(Fraction(1)), is_true),),)
        return _ALWAYS if (kind in self.kinds) is is_true else _NEVER

    def holds_for_kind(self, value: Any) -> bool:
        kind = kind_of_value(value)
        if kind == NUMBER and not self.has_fractions:
            return kind in self.kinds and (_fraction(value) or Fraction(0)).denominator == 1
        return kind in self.kinds


@_atom
class _Values(_Item):
    values: tuple[Json, ...]

    @cached_property
    def known(self) -> frozenset[Json]:
        """The values, in a form that is equal for equal values."""
        return frozenset(map(exact, self.values))

    def holds_for_kind(self, value: Any) -> bool:
        return exact(value) in self.known

    def meaning(self) -> tuple[Any, ...]:
        return (_Values, self.known)


@_atom
class _Every(_Item):
    items: tuple[_Item, ...]

    def ways(self, *, is_true: bool, kind: str) -> _Ways:  # noqa: ARG002
        if is_true:
            return (tuple((item, True) for item in self.items),)
        return tuple(((item, False),) for item in self.items)

    def holds_for_kind(self, value: Any) -> bool | None:
        return _all_of(item.holds(value) for item in self.items)


@_atom
class _Some(_Item):
    items: tuple[_Item, ...]

    def ways(self, *, is_true: bool, kind: str) -> _Ways:
        return [
            [(item, is_true) for item, _ in way]
            for way in _Every(self.items).ways(is_true=not is_true, kind=kind)
        ]

    def holds_for_kind(self, value: Any) -> bool | None:
        return _opposite(_all_of(_opposite(item.holds(value)) for item in self.items))


@_atom
class _Exactly(_Item):
    items: tuple[Part, ...]

    def ways(self, *, is_true: bool, kind: str) -> _Ways:
        items = [item for item in self.items if kind in item.kinds]
        pairs = [[(left, True), (right, True)] for left, right in _pairs_of_one_value(items, kind)]
        if not is_true:
            return [[(item, False) for item in items], *pairs]
        if not pairs:
            return [[(item, True)] for item in items]
        # One item may be there twice.
        return [[(item, at == place) for at, item in enumerate(items)] for place in range(len(items))]

    def holds_for_kind(self, value: Any) -> bool | None:
        answers = [item.holds(value) for item in self.items]
        return None if None in answers else answers.count(True) == 1


def _pairs_of_one_value(items: Sequence[Part], kind: str) -> list[tuple[Part, Part]]:
    """Return the pairs of parts of which one value may be both, at a first look."""
    values_by_item = [item.tags if kind == OBJECT else item.listed for item in items]
    names = Counter(name for values in values_by_item for name in values)
    if not names:
        _check_pairs(math.comb(len(items), 2))
        return list(combinations(items, 2))
    # Most have the values of this member, and only those with a value in common are compared.
    [(common, _)] = names.most_common(1)
    by_value: dict[Json, list[int]] = {}
    others = [place for place, values in enumerate(values_by_item) if common not in values]
    for place, values in enumerate(values_by_item):
        for value in values.get(common, ()):
            by_value.setdefault(value, []).append(place)
    _check_pairs(len(others) * len(items) + sum(math.comb(len(places), 2) for places in by_value.values()))
    near = {pair for places in by_value.values() for pair in combinations(places, 2)}
    near |= {(min(pair), max(pair)) for pair in product(others, range(len(items))) if pair[0] != pair[1]}
    return [
        (items[left], items[right])
        for left, right in sorted(near)
        if not any(
            name in values_by_item[left] and values_by_item[left][name].isdisjoint(values)
            for name, values in values_by_item[right].items()
        )
    ]


def _check_pairs(number: int) -> None:
    if number > _MOST_PAIRS:
        message = "there are too many alternatives"
        raise UnclearError(message)


@_atom
class _Not(_Item):
    item: _Item

    def ways(self, *, is_true: bool, kind: str) -> _Ways:  # noqa: ARG002
        return (((self.item, not is_true),),)

    def holds_for_kind(self, value: Any) -> bool | None:
        return _opposite(self.item.holds(value))


@_atom
class _When(_Item):
    condition: _Item
    then: _Item
    otherwise: _Item

    def ways(self, *, is_true: bool, kind: str) -> _Ways:  # noqa: ARG002
        met, missed = (self.condition, True), (self.condition, False)
        return [[met, (self.then, is_true)], [missed, (self.otherwise, is_true)]]

    def holds_for_kind(self, value: Any) -> bool | None:
        is_met = self.condition.holds(value)
        return None if is_met is None else (self.then if is_met else self.otherwise).holds(value)


@_atom
class _Bound(_Item):
    """A number is greater than a limit where `direction` is 1, and less where it is -1."""

    only = NUMBER
    limit: Fraction
    direction: int
    is_open: bool

    def holds_for_kind(self, value: Any) -> bool:
        number = _fraction(value) or Fraction(0)
        return number * self.direction > self.limit * self.direction or (
            number == self.limit and not self.is_open
        )


@_atom
class _Multiple(_Item):
    only = NUMBER
    step: Fraction

    def holds_for_kind(self, value: Any) -> bool:
        return ((_fraction(value) or Fraction(0)) / self.step).denominator == 1


@_atom
class _Size(_Item):
    kind: str
    limit: int
    is_least: bool

    def applies(self, kind: str) -> bool:
        return kind == self.kind

    def holds_for_kind(self, value: Any) -> bool:
        return len(value) >= self.limit if self.is_least else len(value) <= self.limit


@_atom
class _Matches(_Item):
    only = STRING
    pattern: str

    def holds_for_kind(self, value: Any) -> bool:
        return matches(self.pattern, value)


@_atom
class _Word(_Item):
    """A format, an encoding or a class: a word that allows fewer values and has no other meaning here."""

    kind: str | None
    word: str

    def applies(self, kind: str) -> bool:
        return self.kind in {None, kind}

    def holds_for_kind(self, value: Any) -> bool:  # noqa: ARG002
        return True


@_atom
class _Items(_Item):
    only = ARRAY
    first: tuple[Part, ...]
    others: Part

    def at(self, position: int) -> Part:
        """Return what the item at a position has to be."""
        return self.first[position] if position < len(self.first) else self.others

    def holds_for_kind(self, value: Any) -> bool | None:
        return _all_of(self.at(position).holds(item) for position, item in enumerate(value))


@_atom
class _Contains(_Item):
    only = ARRAY
    part: Part
    least: int
    most: int | None

    def ways(self, *, is_true: bool, kind: str) -> _Ways | None:
        if kind != ARRAY or is_true:
            return _Item.ways(self, is_true=is_true, kind=kind)
        fewer = (((_Contains(self.part, 0, self.least - 1), True),),) if self.least else ()
        more = () if self.most is None else (((_Contains(self.part, self.most + 1, None), True),),)
        return fewer + more

    def holds_for_kind(self, value: Any) -> bool | None:
        answers = [self.part.holds(item) for item in value]
        count = answers.count(True)
        return None if None in answers else self.least <= count and (self.most is None or count <= self.most)


@_atom
class _Distinct(_Item):
    only = ARRAY

    def holds_for_kind(self, value: Any) -> bool:
        return len(set(map(exact, value))) == len(value)


@_atom
class _Members(_Item):
    only = OBJECT
    properties: Mapping[str, Part]
    patterns: tuple[tuple[str, Part], ...]
    others: Part

    def parts_for(self, name: str) -> list[Part]:
        """Return what the value of a member has to be."""
        parts = [self.properties[name]] if name in self.properties else []
        parts += [part for text, part in self.patterns if matches(text, name)]
        return parts or [self.others]

    def holds_for_kind(self, value: Any) -> bool | None:
        return _all_of(part.holds(inner) for name, inner in value.items() for part in self.parts_for(name))

    def meaning(self) -> tuple[Any, ...]:
        return (_Members, frozenset(self.properties.items()), self.patterns, self.others)


@_atom
class _Required(_Item):
    only = OBJECT
    name: str

    def holds_for_kind(self, value: Any) -> bool:
        return self.name in value


@_atom
class _Names(_Item):
    only = OBJECT
    part: Part

    def holds_for_kind(self, value: Any) -> bool | None:
        return _all_of(self.part.holds(name) for name in value)


@_atom
class _Unevaluated(_Item):
    """`unevaluatedProperties` or `unevaluatedItems` of a schema whose other keywords depend on the value."""

    kind: str
    whole: Part
    part: Part

    def applies(self, kind: str) -> bool:
        return kind == self.kind

    @property
    def reason(self) -> str:
        """Why a search for values is not enough."""
        return "'unevaluatedProperties' is used" if self.kind == OBJECT else "'unevaluatedItems' is used"

    def holds_for_kind(self, value: Any) -> bool | None:
        described = _described_in(self.whole, value)
        members = value if isinstance(value, Mapping) else dict(enumerate(value))
        if described is None:
            return None
        return _all_of(self.part.holds(inner) for key, inner in members.items() if key not in described)


@_atom
class _Unread(_Item):
    """A keyword whose meaning is not known."""

    key: str
    reason: str

    def holds_for_kind(self, value: Any) -> None:  # noqa: ARG002
        return None


@dataclass(eq=False)
class Part(_Item):
    """A schema or a part of one, the same object for the same schema; it is read when needed."""

    schema: Json
    side: int
    search: ValueSearch

    @cached_property
    def atoms(self) -> tuple[_Item, ...]:
        """What a value must be, all of it."""
        if self in self.search.reading:
            raise UnclearError("a reference leads back to itself")
        self.search.reading.add(self)
        try:
            return tuple(dict.fromkeys(map(self.search.single, _read_atoms(self))))
        finally:
            self.search.reading.discard(self)

    @cached_property
    def own(self) -> list[_Item]:
        """The atoms, with those of what it refers to and of the parts that all have to hold."""
        atoms: list[_Item] = []
        waiting: list[_Item] = [self]
        seen: set[_Item] = set()
        while waiting:
            item = waiting.pop()
            if item in seen:
                continue
            seen.add(item)
            if isinstance(item, Part):
                waiting += item.atoms
            elif isinstance(item, _Every):
                waiting += item.items
            else:
                atoms.append(item)
        return atoms

    @cached_property
    def kinds(self) -> frozenset[str]:
        """The kinds that are left at a first look, before it is taken apart."""
        kinds = frozenset(KINDS)
        for atom in self.own:
            if isinstance(atom, _Kinds):
                kinds &= atom.kinds
            elif isinstance(atom, _Values):
                kinds &= frozenset(map(kind_of_value, atom.values))
        return kinds

    @cached_property
    def listed(self) -> Mapping[str, frozenset[Json]]:
        """The values that are listed, under the empty name; nothing where none are."""
        lists = [atom.known for atom in self.own if isinstance(atom, _Values)]
        return {"": frozenset.intersection(*lists)} if lists else {}

    @cached_property
    def tags(self) -> Mapping[str, frozenset[Json]]:
        """The values of the members that an object must have and that only some values are allowed for."""
        names = {atom.name for atom in self.own if isinstance(atom, _Required)}
        values_by_name: dict[str, frozenset[Json]] = {}
        for atom in self.own:
            if isinstance(atom, _Members):
                for name in names & atom.properties.keys():
                    for inner in atom.properties[name].own:
                        if isinstance(inner, _Values):
                            values_by_name[name] = values_by_name.get(name, inner.known) & inner.known
        return values_by_name

    def excludes(self, tags: Mapping[str, frozenset[Json]]) -> bool:
        """Return whether no object with some values of members is one of this part."""
        mine = self.tags
        return any(name in mine and mine[name].isdisjoint(values) for name, values in tags.items())

    def inner(self, schema: Json) -> Part:
        """Return a part of the same side."""
        return self.search.part(schema, self.side)

    def ways(self, *, is_true: bool, kind: str) -> _Ways:
        """Return the ways in which all that it requires holds, or one of it does not."""
        if kind not in self.kinds:
            return _NEVER if is_true else _ALWAYS
        atoms = [atom for atom in self.atoms if atom.applies(kind)]
        return [[(atom, True) for atom in atoms]] if is_true else [[(atom, False)] for atom in atoms]

    def holds_for_kind(self, value: Any) -> bool | None:
        """Return whether a value is what it requires."""
        visit = (self, id(value))
        if visit in self.search.visited:
            return None
        self.search.visited.add(visit)
        answer = _all_of([atom.holds(value) for atom in self.atoms])
        self.search.visited.discard(visit)
        return answer


_State: TypeAlias = "frozenset[tuple[Part, bool]]"


class UnclearError(Exception):
    """Whether a value exists is not known; the text says why."""


def kind_of_value(value: Json) -> str:
    """Return the kind of a JSON value, one of `KINDS`."""
    if value is None:
        return NULL
    if isinstance(value, bool):
        return BOOLEAN
    if isinstance(value, int | float | Decimal):
        return NUMBER
    if isinstance(value, str):
        return STRING
    return OBJECT if isinstance(value, Mapping) else ARRAY


def exact(value: Json) -> Json:
    """Return a value that is equal, and has the same hash, for JSON values that are the same value."""
    kind = kind_of_value(value)
    if kind == NUMBER:
        return kind, _fraction(value)
    if kind == ARRAY:
        return kind, tuple(exact(item) for item in value)
    if kind == OBJECT:
        return kind, frozenset((name, exact(item)) for name, item in value.items())
    return kind, value


def _fraction(number: float | Decimal) -> Fraction | None:
    """Return a number as its digits say it; None for an infinity, which is not a JSON number."""
    if not isinstance(number, int) and not math.isfinite(number):
        return None
    return Fraction(repr(number)) if isinstance(number, float) else Fraction(number)


_EXACT: Final = Context(prec=2000, traps=[Inexact])


def _number(fraction: Fraction) -> Json:
    """Return a JSON number; None where its digits do not end."""
    if fraction.denominator == 1:
        return fraction.numerator
    near = float(fraction)
    if _fraction(near) == fraction:
        return near
    try:
        return _EXACT.divide(Decimal(fraction.numerator), Decimal(fraction.denominator))
    except Inexact:
        return None


def _is_number(value: Json) -> bool:
    return kind_of_value(value) == NUMBER and _fraction(value) is not None


def _is_count(value: Json) -> bool:
    return _is_number(value) and value >= 0 and _fraction(value).denominator == 1  # type: ignore[union-attr]


def _is_names(value: Json) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _is_schema(value: Json) -> bool:
    return isinstance(value, Mapping | bool)


def _is_words(value: Json) -> bool:
    return isinstance(value, str) or _is_names(value)


_VALID: Final[Mapping[str, Callable[[Json], bool]]] = {
    "type": _is_words,
    "enum": lambda value: isinstance(value, list),
    "const": lambda _: True,
    **dict.fromkeys(("anyOf", "oneOf", "allOf", "prefixItems"), is_schema_list),
    **dict.fromkeys(("properties", "patternProperties", "dependentSchemas"), is_schema_map),
    **dict.fromkeys(("not", "if", "then", "else", "contains", "propertyNames"), _is_schema),
    **dict.fromkeys(("additionalProperties", "unevaluatedProperties", "unevaluatedItems"), _is_schema),
    "items": lambda value: _is_schema(value) or is_schema_list(value),
    **dict.fromkeys(_NUMBERS, _is_number),
    "multipleOf": lambda value: _is_number(value) and value > 0,
    **dict.fromkeys((*_SIZES, "minContains", "maxContains"), _is_count),
    "uniqueItems": lambda value: isinstance(value, bool),
    "required": _is_names,
    "dependentRequired": lambda value: isinstance(value, Mapping) and all(map(_is_names, value.values())),
    **dict.fromkeys(("pattern", "format", "contentEncoding"), lambda value: isinstance(value, str)),
}
"""Keywords that may refuse a value, with what each has to be."""
_UNKNOWN_REFERENCES: Final = ("$dynamicRef", "$recursiveRef")
KEYWORDS: Final = frozenset({*_VALID, *_UNKNOWN_REFERENCES, "additionalItems"})
"""Keywords that may refuse a value, but for `$ref`."""


def _read_atoms(part: Part) -> Iterator[_Item]:
    schema = part.schema
    if isinstance(schema, bool):
        if not schema:
            yield _Values(())
        return
    stated = {}
    for word, value in schema.items():
        if word in _UNKNOWN_REFERENCES or (word == "$ref" and not isinstance(value, list)):
            yield _Unread(f"{word} {canonical_json(value)}", f"{word!r} is not resolved")
        elif word in _VALID and not _VALID[word](value):
            yield _Unread(f"{word} {canonical_json(value)}", f"{word!r} has a value that it cannot have")
        elif word in _VALID:
            stated[word] = value
    if "$ref" in schema and isinstance(schema["$ref"], list):
        yield _Every((part.search.resolve(schema["$ref"], part.side),))
    if "x-droidgate" in schema and isinstance(schema["x-droidgate"], Mapping):
        yield _Word(None, canonical_json(schema["x-droidgate"]))
    yield from _read_values(stated)
    yield from _read_logic(part, stated)
    yield from _read_scalars(stated)
    yield from _read_items(part, stated)
    yield from _read_members(part, stated)
    for word, kind in (("unevaluatedProperties", OBJECT), ("unevaluatedItems", ARRAY)):
        if word in stated:
            yield from _read_unevaluated(part, word, kind)


def _read_values(stated: Mapping[str, Json]) -> Iterator[_Item]:
    if "type" in stated:
        words = {stated["type"]} if isinstance(stated["type"], str) else set(stated["type"])
        kinds = {NUMBER if word == "integer" else word for word in words}
        yield _Kinds(frozenset(kinds), "number" in words or "integer" not in words)
    if "enum" in stated:
        yield _Values(tuple(stated["enum"]))
    if "const" in stated:
        yield _Values((stated["const"],))


def _read_logic(part: Part, stated: Mapping[str, Json]) -> Iterator[_Item]:
    for word, logic in (("allOf", _Every), ("anyOf", _Some), ("oneOf", _Exactly)):
        if word in stated:
            yield logic(tuple(map(part.inner, stated[word])))
    if "not" in stated:
        yield _Not(part.inner(stated["not"]))
    if "if" in stated:
        branches = [part.inner(stated.get(word, True)) for word in ("if", "then", "else")]
        yield _When(*branches)


def _read_scalars(stated: Mapping[str, Json]) -> Iterator[_Item]:
    for word, (direction, is_open) in _NUMBERS.items():
        if word in stated:
            yield _Bound(Fraction(_fraction(stated[word]) or 0), direction, is_open)
    if "multipleOf" in stated:
        yield _Multiple(Fraction(_fraction(stated["multipleOf"]) or 1))
    for word, (kind, is_least) in _SIZES.items():
        if word in stated:
            yield _Size(kind, int(stated[word]), is_least)
    if "pattern" in stated:
        yield _Matches(stated["pattern"])
    if "format" in stated:
        is_number = stated["format"] in _NUMBER_FORMATS
        yield _Word(NUMBER if is_number else STRING, stated["format"])
    if "contentEncoding" in stated:
        yield _Word(STRING, f"contentEncoding {stated['contentEncoding']}")


def _read_items(part: Part, stated: Mapping[str, Json]) -> Iterator[_Item]:
    items, first = stated.get("items", True), stated.get("prefixItems", [])
    if isinstance(items, list):
        # Earlier drafts list the first items here.
        first, items = items, part.schema.get("additionalItems", True)
    if first or items is not True:
        yield _Items(tuple(map(part.inner, first)), part.inner(items))
    if "contains" in stated:
        most = stated.get("maxContains")
        least = int(stated.get("minContains", 1))
        yield _Contains(part.inner(stated["contains"]), least, None if most is None else int(most))
    if stated.get("uniqueItems"):
        yield _Distinct()


def _read_members(part: Part, stated: Mapping[str, Json]) -> Iterator[_Item]:
    if stated.keys() & {"properties", "patternProperties", "additionalProperties"}:
        yield _Members(
            {name: part.inner(schema) for name, schema in stated.get("properties", {}).items()},
            tuple((text, part.inner(schema)) for text, schema in stated.get("patternProperties", {}).items()),
            part.inner(stated.get("additionalProperties", True)),
        )
    for name in stated.get("required", ()):
        yield _Required(name)
    if "propertyNames" in stated:
        yield _Names(part.inner(stated["propertyNames"]))
    dependent: list[tuple[str, Json]] = [
        *((name, {"required": names}) for name, names in stated.get("dependentRequired", {}).items()),
        *stated.get("dependentSchemas", {}).items(),
    ]
    for name, schema in dependent:
        has_it = {"type": OBJECT, "required": [name]}
        yield _When(part.inner(has_it), part.inner(schema), part.inner(True))


def _read_unevaluated(part: Part, word: str, kind: str) -> Iterator[_Item]:
    """Read a keyword for what no other keyword describes: where that is fixed, as a plain restriction."""
    inner = part.inner(part.schema[word])
    rest = part.inner({name: value for name, value in part.schema.items() if name != word})
    described = _Described()
    try:
        described.add(rest)
    except UnclearError:
        yield _Unevaluated(kind, rest, inner)
        return
    if kind == OBJECT and not described.all_members:
        any_value = part.inner(True)
        yield _Members(
            dict.fromkeys(described.names, any_value),
            tuple((text, any_value) for text in described.patterns),
            inner,
        )
    if kind == ARRAY and not described.all_items:
        yield _Items((part.inner(True),) * described.items, inner)


@dataclass(slots=True)
class _Described:
    """Which members and items a schema describes, whatever the value is."""

    names: dict[str, None] = field(default_factory=dict)
    patterns: dict[str, None] = field(default_factory=dict)
    items: int = 0
    all_members: bool = False
    all_items: bool = False
    seen: set[Part] = field(default_factory=set)

    def add(self, part: _Item) -> None:
        """Add what a part describes.

        Raises:
            UnclearError: that depends on the value.
        """
        if not isinstance(part, Part) or part in self.seen:
            return
        self.seen.add(part)
        for atom in part.atoms:
            match atom:
                case _Every(items):
                    for item in items:
                        self.add(item)
                case _Members(properties, patterns, _):
                    self.names |= dict.fromkeys(properties)
                    self.patterns |= dict.fromkeys(text for text, _ in patterns)
                case _Items(first, _):
                    self.items = max(self.items, len(first))
                case _Some() | _Exactly() | _When() | _Contains() | _Unevaluated() | _Unread():
                    raise UnclearError
        words = part.schema if isinstance(part.schema, Mapping) else {}
        self.all_members |= bool(words.keys() & {"additionalProperties", "unevaluatedProperties"})
        self.all_items |= bool(words.keys() & {"items", "unevaluatedItems"})


@dataclass(slots=True)
class _Branch:
    """One way in which a value of one kind can be all that is asked for."""

    kind: str
    pending: list[tuple[_Item, bool]]
    seen: dict[_Item, bool] = field(default_factory=dict)
    atoms: list[tuple[_Item, bool]] = field(default_factory=list)
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

    def copy(self, further: Iterable[tuple[_Item, bool]]) -> _Branch:
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
            seen = self.seen.get(item)
            if seen is is_true or (seen is None and not is_true and self.is_excluded(item)):
                continue
            if seen is not None:
                return False
            self.seen[item] = is_true
            self.fresh.add(item)
            if is_true and isinstance(item, Part) and self.kind == OBJECT:
                for name, values in item.tags.items():
                    self.narrowed = 0  # other parts may be excluded now
                    self.tags[name] = self.tags.get(name, values) & values
                    if not self.tags[name]:
                        return False
            ways, items = item.known_ways(is_true=is_true, kind=self.kind)
            if ways is None:
                self.atoms.append((item, is_true))
            elif len(ways) == 1:
                self.pending += ways[0]
            else:
                self.choices.append((item, ways, items))
            if not self.pending and not self._narrow_choices():
                return False
        return True

    def is_excluded(self, item: _Item) -> bool:
        """Return whether a value that is all that is seen cannot be one of a part, at a first look."""
        return isinstance(item, Part) and (
            self.kind not in item.kinds or bool(self.tags and item.excludes(self.tags))
        )

    def _narrow_choices(self) -> bool:
        """Leave out ways that cannot hold and choices that hold already; return whether all may hold."""
        choices, self.choices = self.choices, []
        fresh, self.fresh = self.fresh, set()
        for position, (item, ways, items) in enumerate(choices):
            if position < self.narrowed and fresh.isdisjoint(items):
                self.choices.append((item, ways, items))
                continue
            if not self.seen[item] and self.is_excluded(item):
                continue
            open_ways = []
            for way in ways:
                answer = self._holds(way)
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
        """Take the choice that leaves the least to others."""
        at = min(range(len(self.choices)), key=self._rank)
        self.narrowed -= at < self.narrowed
        item, ways, _ = self.choices.pop(at)
        return item, ways

    def _holds(self, way: Sequence[tuple[_Item, bool]]) -> bool | None:
        """Return whether a way holds by what is seen; None where that is open."""
        answer: bool | None = True
        for item, is_true in way:
            seen = self.seen.get(item)
            if seen is None:
                seen = False if self.is_excluded(item) else None
            if seen is None:
                answer = None
            elif seen is not is_true:
                return False
        return answer

    def _rank(self, place: int) -> tuple[bool, int]:
        """Return what is less for a choice that leaves less to others: what allows values, in few ways."""
        item, ways, _ = self.choices[place]
        return not self.seen[item], len(ways)

    def required(self, atom: type, *, is_true: bool = True) -> list[Any]:
        """Return the atoms of a class that have to hold, or not to hold."""
        return [each for each, expected in self.atoms if type(each) is atom and expected is is_true]

    def sizes(self, kind: str) -> tuple[int, int | None]:
        """Return the least and the greatest size, None without a greatest one."""
        least, most = 0, None
        for atom, is_true in self.atoms:
            if isinstance(atom, _Size) and atom.kind == kind:
                if atom.is_least is is_true:
                    least = max(least, atom.limit if is_true else atom.limit + 1)
                else:
                    limit = atom.limit if is_true else atom.limit - 1
                    most = limit if most is None else min(most, limit)
        return least, most


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
        self._atoms: dict[tuple[Any, ...], _Item] = {}
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

    def single(self, atom: _Item) -> _Item:
        """Return the one atom that means the same."""
        return self._atoms.setdefault(atom.meaning(), atom)

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

    def find_in(self, state: _State, kinds: Iterable[str] = KINDS) -> SearchAnswer:
        """Return a value of one of some kinds that all parts of a state allow, or refuse."""
        if any((part, not is_true) in state for part, is_true in state):
            return None
        if kinds is not KINDS:
            return self._first(self._of_kind(kind, state) for kind in kinds)
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
        answer = self._first(self._of_kind(kind, state) for kind in KINDS if kind in possible)
        del self._open[state]
        if isinstance(answer, FoundValue) or self._lowest >= depth:
            self._answers[state] = answer
        self._lowest = min(lowest, self._lowest)
        return answer

    def _first(self, answers: Iterator[SearchAnswer]) -> SearchAnswer:
        """Return the first value that is found, else why that is not clear, else None."""
        unclear: SearchAnswer = None
        for answer in answers:
            if isinstance(answer, FoundValue):
                return answer
            unclear = unclear or answer
        return unclear

    def _of_kind(self, kind: str, state: _State) -> SearchAnswer:
        try:
            branches = self._branches(_Branch(kind, list(state)))
            return self._first(self._solve(kind, branch) for branch in branches)
        except UnclearError as error:
            return Unclear(str(error))

    def _branches(self, start: _Branch, *, is_inner: bool = False) -> Iterator[_Branch]:
        """Yield each way to take apart what a value has to be, with the atoms of its kind only.

        What can hold in one way only is taken apart first, so that a choice is made between the ways that are
        left, and of the shortest choice.
        """
        waiting = [start]
        while waiting:
            branch = waiting.pop()
            self._steps -= 1
            if self._steps < 0:
                raise UnclearError("there are too many combinations")
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
        answer = self._first(
            self._solve(branch.kind, inner) for inner in self._branches(start, is_inner=True)
        )
        # What is only assumed further out shows nothing here.
        is_certain = self._lowest >= len(self._open)
        self._lowest = min(lowest, self._lowest)
        return answer is None and is_certain

    def _solve(self, kind: str, branch: _Branch) -> SearchAnswer:
        unread = [
            (atom, is_true) for atom, is_true in branch.atoms if isinstance(atom, _Unread | _Unevaluated)
        ]
        try:
            answer = self._solve_known(kind, branch)
        except UnclearError as error:
            return Unclear(str(error))
        if isinstance(answer, FoundValue) and unread:
            if answer.is_shown and all(atom.holds(answer.value) is expected for atom, expected in unread):
                return answer
            return Unclear(unread[0][0].reason)
        return answer

    def _solve_known(self, kind: str, branch: _Branch) -> SearchAnswer:
        words = self._solve_words(branch)
        if words is None:
            return None
        listed = branch.required(_Values)
        if listed:
            return self._solve_listed(kind, listed[0], branch)
        refused = [
            value
            for atom in branch.required(_Values, is_true=False)
            for value in atom.values
            if kind_of_value(value) == kind
        ]
        if kind in {NULL, BOOLEAN}:
            values = [None] if kind == NULL else [False, True]
            return next((FoundValue(value, words) for value in values if value not in refused), None)
        solve = {NUMBER: self._solve_number, STRING: self._solve_text, ARRAY: self._solve_array}
        answer = solve.get(kind, self._solve_object)(branch, refused)
        return (
            FoundValue(answer.value, answer.is_shown and words) if isinstance(answer, FoundValue) else answer
        )

    def _solve_words(self, branch: _Branch) -> bool | None:
        """Return whether words such as formats let a value be shown; None where two contradict."""
        stated = {atom.word for atom in branch.required(_Word)}
        refused = {atom.word for atom in branch.required(_Word, is_true=False)}
        if any(Fraction(1) == atom.step or atom.step.denominator == 1 for atom in branch.required(_Multiple)):
            stated |= {"int64"} if refused & _NUMBER_FORMATS - {"int32", "int64"} else set()
        implied = {wider for word in stated for wider in _WIDER_FORMATS.get(word, ())}
        if refused & (stated | implied):
            return None
        return not refused and not {word for word in stated if word != "int64"}

    def _solve_listed(self, kind: str, listed: _Values, branch: _Branch) -> SearchAnswer:
        is_unclear = False
        for value in listed.values:
            if kind_of_value(value) != kind:
                continue
            answers = [
                atom.holds(value) is is_true
                for atom, is_true in branch.atoms
                if not isinstance(atom, _Unread | _Unevaluated)
            ]
            if all(answers):
                return FoundValue(value)
            is_unclear |= any(atom.holds(value) is None for atom, _ in branch.atoms)
        return Unclear("a listed value is not checked") if is_unclear else None

    def _solve_number(self, branch: _Branch, refused: list[Json]) -> SearchAnswer:
        low = high = None
        for atom, is_true in branch.atoms:
            if not isinstance(atom, _Bound):
                continue
            is_lower, is_open = (atom.direction == 1) is is_true, atom.is_open is is_true
            if is_lower:
                low = max([(atom.limit, is_open), *([low] if low else [])])
            else:
                high = min([(atom.limit, not is_open), *([high] if high else [])])
        steps = [atom.step for atom in branch.required(_Multiple)]
        missed = [atom.step for atom in branch.required(_Multiple, is_true=False)]
        refused_numbers = {_fraction(value) for value in refused}
        step = _common_multiple(steps) if steps else None
        if step is not None and any((step / divisor).denominator == 1 for divisor in missed):
            return None
        is_finite = False
        count = 0
        candidates = _multiples(step, low, high) if step else _points(low, high)
        for count, value in enumerate(candidates):
            if (
                _is_within(value, low, high)
                and value not in refused_numbers
                and not any((value / divisor).denominator == 1 for divisor in missed)
            ):
                number = _number(value)
                return FoundValue(number, number is not None)
            if count > _CHOICES * 5:
                break
        else:
            is_finite = True
        if step is None and (low is None or high is None or low[0] < high[0]):
            return FoundValue(None, is_shown=False)
        return None if is_finite else Unclear("the multiples are too many to try")

    def _solve_text(self, branch: _Branch, refused: list[Json]) -> SearchAnswer:
        least, most = branch.sizes(STRING)
        if most is not None and least > most:
            return None
        matching = [atom.pattern for atom in branch.required(_Matches)]
        missed = [atom.pattern for atom in branch.required(_Matches, is_true=False)]
        if set(matching) & set(missed):
            return None
        if not matching and not missed:
            for text in _plain_texts(least, most, len(refused) + 1):
                if text not in refused:
                    return FoundValue(text)
            return None
        missed += [_pattern_of(text) for text in refused]
        self._steps -= (len(matching) + len(missed)) ** 2 // _PATTERNS_OF_STEP
        if self._steps < 0:
            raise UnclearError("there are too many combinations")
        shortest = _text_of(matching, missed, least, most)
        return None if shortest is None else FoundValue(shortest)

    def _solve_array(self, branch: _Branch, refused: list[Json]) -> SearchAnswer:
        """Return an array; the lengths and the places of single values that can matter are all tried."""
        least, most = branch.sizes(ARRAY)
        described = branch.required(_Items)
        missed = branch.required(_Items, is_true=False)
        contained = branch.required(_Contains)
        doubled = branch.required(_Distinct, is_true=False)
        edge = max((len(atom.first) for atom in (*described, *missed)), default=0)

        def state_at(position: int) -> _State:
            return frozenset((atom.at(position), True) for atom in described)

        for position in range(edge + 1):
            if (most is None or position < most) and self.find_in(state_at(position)) is None:
                most = position
        if most is not None and least > most:
            return None
        further = sum(atom.least for atom in contained) + len(missed) + 2 * len(doubled) + len(refused)
        longest = max(least, edge) + further
        longest = longest if most is None else min(most, longest)
        if longest > _LONGEST:
            return Unclear("the arrays are too long")
        unclear: SearchAnswer = None
        count = 0
        for length in range(least, longest + 1):
            options = [_places_of_miss(atom, length) for atom in missed]
            options += [_places_of_contained(atom, length) for atom in contained]
            options += [_places_of_equal(length) for _ in doubled]
            for places in product(*map(tuple, options)):
                count += 1
                if count > _CHOICES:
                    return Unclear("an array has too many choices")
                answer = self._array_of([state_at(position) for position in range(length)], places, branch)
                if isinstance(answer, FoundValue) and not any(
                    exact(answer.value) == exact(value) for value in refused
                ):
                    return answer
                if isinstance(answer, FoundValue):
                    answer = Unclear("a refused array is the only one tried")
                    continue
                unclear = unclear or answer
        return unclear

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
        are_distinct = bool(branch.required(_Distinct))
        if are_distinct and equal_to:
            return None
        values: list[Json] = []
        are_shown = True
        for position, state in enumerate(states):
            if position in equal_to and equal_to[position] < position:
                values.append(values[equal_to[position]])
                continue
            distinct = (
                frozenset([(self.part({"enum": values}, 0), False)])
                if are_distinct and values
                else frozenset()
            )
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

    def _solve_object(self, branch: _Branch, refused: list[Json]) -> SearchAnswer:
        """Return an object; names that no keyword distinguishes are tried once for each value they need."""
        names = _ObjectNames(self, branch)
        if any(not names.is_allowed(name) for name in names.required):
            return None
        for name in names.required:
            if self.find_in(names.state_of(name)) is None:
                return None
        unclear: SearchAnswer = None
        for count, chosen in enumerate(product(*names.options())):
            if count > _CHOICES:
                return Unclear("an object has too many choices")
            answer = self._object_of(names, chosen, refused)
            if isinstance(answer, FoundValue):
                return answer
            unclear = unclear or answer
        return unclear

    def _object_of(
        self, names: _ObjectNames, chosen: Iterable[tuple[str, tuple[Part, bool] | None]], refused: list[Json]
    ) -> SearchAnswer:
        states = {name: names.state_of(name) for name in names.required}
        for name, further in chosen:
            state = states.get(name) or names.state_of(name)
            states[name] = state if further is None else state | {further}
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
        least = names.least
        while len(values) < least or (are_shown and exact(values) in map(exact, refused)):
            if names.most is not None and len(values) >= names.most:
                return None if len(values) < least else Unclear("a refused object is the only one tried")
            if len(values) >= _LONGEST:
                return Unclear("the objects are too large")
            another, added = names.further(values)
            if another is None or not isinstance(added, FoundValue):
                return added
            values[another] = added.value
            are_shown &= added.is_shown
        return FoundValue(values, are_shown)


@dataclass(slots=True)
class _ObjectNames:
    """The names of the members of an object: those that keywords mention, and others as needed."""

    search: ValueSearch
    branch: _Branch
    required: list[str] = field(init=False)
    members: list[_Members] = field(init=False)
    least: int = field(init=False)
    most: int | None = field(init=False)
    mentioned: list[str] = field(init=False)
    forbidden: dict[str, None] = field(init=False)
    naming: list[_Names] = field(init=False)
    _others: dict[str, None] = field(default_factory=dict)
    _count: int = 0
    _describing: dict[str, list[_Members]] = field(default_factory=dict)
    """By the name of a property, what describes it; all of what has patterns is in `_patterned`."""
    _patterned: list[_Members] = field(default_factory=list)
    _beyond: Counter[Part] = field(default_factory=Counter)
    """What the others of how many say of a property that they do not name."""
    _states: dict[str, _State] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Collect the names that keywords mention."""
        self.members = self.branch.required(_Members)
        self.required = list(dict.fromkeys(atom.name for atom in self.branch.required(_Required)))
        self.least, self.most = self.branch.sizes(OBJECT)
        self.naming = self.branch.required(_Names)
        self.forbidden = dict.fromkeys(atom.name for atom in self.branch.required(_Required, is_true=False))
        names = dict.fromkeys([*self.required, *self.forbidden])
        for atom in (*self.members, *self.branch.required(_Members, is_true=False)):
            names |= dict.fromkeys(atom.properties)
        self.mentioned = list(names)
        for atom in self.members:
            if atom.patterns:
                self._patterned.append(atom)
                continue
            self._beyond[atom.others] += 1
            for name in atom.properties:
                self._describing.setdefault(name, []).append(atom)

    def is_allowed(self, name: str) -> bool:
        """Return whether a member may have a name."""
        if name in self.forbidden:
            return False
        answer = _all_of(atom.part.holds(name) for atom in self.naming)
        if answer is None:
            message = "the names of properties are not checked"
            raise UnclearError(message)
        return answer

    def state_of(self, name: str) -> _State:
        """Return what the value of a member has to be."""
        if name not in self._states:
            describing = self._describing.get(name, [])
            named_counts = Counter(atom.others for atom in describing) if describing else {}
            parts = [part for part, number in self._beyond.items() if number > named_counts.get(part, 0)]
            parts += [atom.properties[name] for atom in describing]
            parts += [part for atom in self._patterned for part in atom.parts_for(name)]
            self._states[name] = frozenset((part, True) for part in parts)
        return self._states[name]

    def options(self) -> list[list[tuple[str, tuple[Part, bool] | None]]]:
        """Return for each thing that must not hold the members that make it fail."""
        missed = self.branch.required(_Members, is_true=False)
        badly_named = self.branch.required(_Names, is_true=False)
        beyond = [each for each in self.branch.required(_Unevaluated, is_true=False) if each.kind == OBJECT]
        count = len(missed) + len(badly_named) + len(beyond)
        if not count:
            return []
        needs_others = bool(badly_named or beyond) or any(
            atom.patterns or atom.others.schema is not True for atom in missed
        )
        names = [name for name in self.mentioned if self.is_allowed(name)]
        if needs_others:
            names += self.others(count)
        place = {name: position for position, name in enumerate(names)}
        options: list[list[tuple[str, tuple[Part, bool] | None]]] = []
        for atom in missed:
            tried: Iterable[str] = names
            if not atom.patterns and atom.others.schema is True:
                # No other member can be what it refuses.
                tried = sorted(atom.properties.keys() & place.keys(), key=place.__getitem__)
            options.append([(name, (part, False)) for name in tried for part in atom.parts_for(name)])
        options += [
            [(name, None) for name in names if atom.part.holds(name) is not True] for atom in badly_named
        ]
        options += [[(name, (atom.part, False)) for name in names] for atom in beyond]
        return [[member for member in option if self.is_possible(*member)] for option in options]

    def is_possible(self, name: str, further: tuple[Part, bool] | None) -> bool:
        """Return whether a member may have a value that is, or is not, what a part requires in addition."""
        return further is None or self.search.find_in(self.state_of(name) | {further}) is not None

    def others(self, count: int) -> list[str]:
        """Return names that no keyword mentions, some for each set of patterns that may match them."""
        if count <= self._count:
            return list(self._others)
        self._count = count
        search = self.search
        patterns = dict.fromkeys(
            text
            for is_true in (True, False)
            for atom in self.branch.required(_Members, is_true=is_true)
            for text, _ in atom.patterns
        )
        splits = [search.part({"pattern": text}, 0) for text in patterns]
        splits += [atom.part for atom in self.branch.required(_Names, is_true=False)]
        if len(splits) > _SPLITS:
            message = "the names of properties have too many patterns"
            raise UnclearError(message)
        needed = [(atom.part, True) for atom in self.branch.required(_Names)]
        for signs in product((False, True), repeat=len(splits)):
            used_names = [*self.mentioned, *self._others]
            for _ in range(count):
                state = frozenset(
                    [*zip(splits, signs, strict=True), *needed, (search.part({"enum": used_names}, 0), False)]
                )
                answer = search.find_in(state, (STRING,))
                if isinstance(answer, Unclear) or (isinstance(answer, FoundValue) and not answer.is_shown):
                    message = "the names of properties are not compared"
                    raise UnclearError(message)
                if answer is None:
                    break
                self._others[answer.value] = None
                used_names.append(answer.value)
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


_Places: TypeAlias = "Mapping[int, tuple[Part, bool] | int]"
"""What items need in addition, by position; a number is the position of an equal item."""


def _places_of_miss(atom: _Items, length: int) -> Iterator[_Places]:
    for position in range(length):
        part = atom.at(position)
        if part.schema is not True:
            yield {position: (part, False)}


def _places_of_contained(atom: _Contains, length: int) -> Iterator[_Places]:
    if atom.most is None:
        for positions in combinations(range(length), atom.least):
            yield dict.fromkeys(positions, (atom.part, True))
        return
    for count in range(atom.least, min(atom.most, length) + 1):
        for positions in combinations(range(length), count):
            yield {position: (atom.part, position in positions) for position in range(length)}


def _places_of_equal(length: int) -> Iterator[_Places]:
    for left, right in combinations(range(length), 2):
        yield {right: left}


def _described_in(item: _Item, value: Json) -> set[Json] | None:
    """Return the names or positions that a part describes in a value that it allows; None where not known."""
    described: set[Json] = set()
    inner: Sequence[_Item] = ()
    match item:
        case Part(atoms=atoms):
            inner = atoms
            closing = _CLOSING if isinstance(value, Mapping) else _ENDING
            if isinstance(item.schema, Mapping) and not closing.isdisjoint(item.schema):
                return set(value if isinstance(value, Mapping) else range(len(value)))
        case _Every(items) | _Some(items) | _Exactly(items):
            inner = items
        case _When(condition, then, otherwise):
            inner = (condition, then) if condition.holds(value) else (otherwise,)
        case _Members(properties, patterns, _) if isinstance(value, Mapping):
            described = {
                name
                for name in value
                if name in properties or any(matches(text, name) for text, _ in patterns)
            }
        case _Items(first, _) if isinstance(value, list):
            described = set(range(len(first)))
        case _Contains(part, _, _) if isinstance(value, list):
            described = {position for position, each in enumerate(value) if part.holds(each)}
    for each in inner:
        is_held = each.holds(value)
        inner_described = _described_in(each, value) if is_held else set()
        if is_held is None or inner_described is None:
            return None
        described |= inner_described
    return described


_CLOSING: Final = frozenset({"additionalProperties", "unevaluatedProperties"})
_ENDING: Final = frozenset({"items", "unevaluatedItems"})


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


def _text_of(matching: list[str], missed: list[str], least: int, most: int | None) -> str | None:
    from droidgate_mappings.values import patterns

    try:
        return patterns.find_text(matching, missed, least, most)
    except patterns.UnsupportedPatternError as error:
        raise UnclearError(f"a pattern is not compared: {error}") from None


def _all_of(answers: Iterable[bool | None]) -> bool | None:
    answer: bool | None = True
    for each in answers:
        if each is False:
            return False
        answer = None if each is None else answer
    return answer


def _opposite(answer: bool | None) -> bool | None:  # noqa: FBT001
    return None if answer is None else not answer


_Limit: TypeAlias = "tuple[Fraction, bool] | None"


def _is_within(value: Fraction, low: _Limit, high: _Limit) -> bool:
    """Return whether a number is above an open or closed limit and below a closed or open one."""
    if low is not None and (value < low[0] or (value == low[0] and low[1])):
        return False
    return high is None or value < high[0] or (value == high[0] and high[1])


def _common_multiple(steps: Iterable[Fraction]) -> Fraction:
    steps = list(steps)
    denominator = math.lcm(*(step.denominator for step in steps))
    return Fraction(math.lcm(*(int(step * denominator) for step in steps)), denominator)


def _multiples(step: Fraction, low: _Limit, high: _Limit) -> Iterator[Fraction]:
    """Yield the multiples of a number between two limits, those near zero first."""
    first = None if low is None else math.ceil(low[0] / step)
    last = None if high is None else math.floor(high[0] / step)
    if first is not None and (first > 0 or last is not None):
        start = first if last is None or first > 0 or last >= 0 else last
    else:
        start = last if last is not None and last < 0 else 0
    distance = 0
    while True:
        up, down = start + distance, start - distance
        is_up, is_down = last is None or up <= last, first is None or down >= first
        if is_up and (first is None or up >= first):
            yield up * step
        if is_down and distance and (last is None or down <= last):
            yield down * step
        if not is_up and not is_down:
            return
        distance += 1


def _points(low: _Limit, high: _Limit) -> Iterator[Fraction]:
    """Yield numbers between two limits, plain ones first."""
    if low is not None and high is not None:
        width = high[0] - low[0]
        if width < 0:
            return
        yield from (low[0], high[0])
        yield from _multiples(Fraction(1), low, high) if width < _CHOICES else ()
        for parts in (2, 4, 5, 10, 16, 32, 64, 100, 1000):
            yield from (low[0] + width * Fraction(part, parts) for part in range(1, min(parts, 100)))
        return
    limit, direction = (high[0], -1) if high is not None else (low[0] if low is not None else Fraction(0), 1)
    if low is None and high is None:
        yield Fraction(0)
    yield limit
    for distance in range(1, 100):
        yield limit + direction * distance
        yield limit + direction * Fraction(distance, 8)
        yield limit + direction * Fraction(distance, 10)


def _plain_texts(least: int, most: int | None, count: int) -> Iterator[str]:
    """Yield texts of a length, as many of each length as are asked for."""
    length = least
    while most is None or length <= most:
        for position in range(count if length else 1):
            yield chr(ord("a") + position) * length
        length += 1


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

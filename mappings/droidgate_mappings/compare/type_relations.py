"""How the values of two types relate: whether each value of the one is a value of the other.

Both types are written as JSON Schema, in which a type has one meaning whatever its spelling is; what only
describes is left out, and a reference is the name of its definition. `value_search` decides the rest.

Callers give what a declaration describes. So a property that an open object gets is not a value that they
gave before, and the old type is compared without it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Final

from droidgate_mappings.compare.changes import SAME, Effect, Holds
from droidgate_mappings.compare.value_search import (
    KEYWORDS,
    FoundValue,
    Part,
    SearchAnswer,
    Unclear,
    UnclearError,
    ValueSearch,
    matches,
    references_in,
)
from droidgate_mappings.json_schema import ANNOTATION, NAMESPACE
from droidgate_mappings.json_schema.schema_words import (
    CONTAINERS,
    referenced_name,
    with_inner_schemas,
)
from droidgate_mappings.json_schema.type_schemas import Layout, write_annotated
from droidgate_mappings.model.json_values import Json, canonical_json
from droidgate_mappings.model.types import ObjectType, Type
from droidgate_mappings.records import dataclass, field

OLD, NEW = 0, 1
_CLOSING: Final = ("additionalProperties", "unevaluatedProperties")
IN_PLACE: Final = ("allOf", "anyOf", "oneOf")
_BRANCHES: Final = ("if", "then", "else", "not")
_MOST_FOLLOWED: Final = 4
"""References to definitions that are written out inside each other."""
_OF_ITEMS: Final = frozenset({"items", "prefixItems", "contains", "unevaluatedItems"})


@dataclass(slots=True)
class _Side:
    """The definitions of one side, and where its schemas have them."""

    definitions: Mapping[str, Type]
    names: Mapping[str, str]
    layout: Layout = field(init=False)
    schemas: dict[str, Json] = field(default_factory=dict)
    written: dict[int, tuple[Type, Json]] = field(default_factory=dict)
    """By the identity of a type, which is kept so that no other one takes that identity."""

    def __post_init__(self) -> None:
        self.layout = Layout(self.names)

    def schema_of(self, type_: Type) -> Json:
        """Return the schema of a type without what refuses no value."""
        if id(type_) not in self.written:
            self.written[id(type_)] = (type_, _plain(write_annotated(type_, self.layout), self.names))
        return self.written[id(type_)][1]

    def definition(self, name: str) -> Json:
        """Return the schema of a definition; one that is missing stays a reference."""
        if name not in self.schemas:
            is_declared = name in self.definitions
            self.schemas[name] = self.schema_of(self.definitions[name]) if is_declared else {"$ref": name}
        return self.schemas[name]


class TypeRelations:
    """Relates the types of two sides that may refer to definitions."""

    def __init__(
        self, old: Type, new: Type, old_definitions: Mapping[str, Type], new_definitions: Mapping[str, Type]
    ) -> None:
        """Prepare for two roots and all that they reach."""
        self._sides = (
            _Side(old_definitions, _layout_of(old, old_definitions)),
            _Side(new_definitions, _layout_of(new, new_definitions)),
        )
        self._effects: dict[tuple[Part, Part, bool], Effect] = {}
        self._followed = 0

    @cached_property
    def _search(self) -> ValueSearch:
        return ValueSearch(self._resolve, self._shared)

    @cached_property
    def _shared(self) -> frozenset[str]:
        """The names of definitions that mean the same on both sides."""
        old, new = self._sides
        same = {
            name: references_in(old.definition(name))
            for name in old.definitions.keys() & new.definitions.keys()
            if canonical_json(old.definition(name)) == canonical_json(new.definition(name))
        }
        while True:
            changed = {name for name, references in same.items() if not references <= same.keys()}
            if not changed:
                return frozenset(same)
            same = {name: references for name, references in same.items() if name not in changed}

    def _resolve(self, names: list[str], side: int) -> Json:
        if len(names) == 1:
            return self._sides[side].definition(names[0])
        old, new = (each.definition(name) for each, name in zip(self._sides, names, strict=True))
        return self._limited(old, new)

    def schema_of(self, type_: Type, side: int) -> Json:
        """Return the schema of a type without what refuses no value."""
        return self._sides[side].schema_of(type_)

    def relate(self, old: Type, new: Type, *, new_side: int = NEW, are_arguments: bool = False) -> Effect:
        """Return how the values of a new type relate to those of an old one.

        Args:
            old: The old type.
            new: The new type.
            new_side: The side whose definitions the new type refers to.
            are_arguments: Every value is an object in any case.
        """
        schemas = (self.schema_of(old, OLD), self.schema_of(new, new_side))
        return self.relate_schemas(*schemas, new_side=new_side, are_arguments=are_arguments)

    def relate_schemas(
        self, old: Json, new: Json, *, new_side: int = NEW, are_arguments: bool = False
    ) -> Effect:
        """Return how the values of a new schema relate to those of an old one, both without annotations."""
        search = self._search
        before, after = search.part(old, OLD), search.part(new, new_side)
        if before is after:
            return SAME
        key = (before, after, are_arguments)
        if key not in self._effects:
            self._effects[key] = self._effect_of(before, after, self._limited(old, new), are_arguments)
        return self._effects[key]

    def _effect_of(self, before: Part, after: Part, limited: Json, are_arguments: bool) -> Effect:  # noqa: FBT001
        search = self._search
        both = [search.part({"type": "object"}, OLD)] if are_arguments else []
        gone = search.find([before, search.part(limited, OLD), *both], [after])
        come = search.find([after, *both], [before])
        if gone is None and come is None:
            return SAME
        reasons = [answer.reason for answer in (gone, come) if isinstance(answer, Unclear)]
        return Effect(
            _holds(gone),
            _holds(come),
            reason=reasons[0] if reasons else None,
            gone=_examples(gone),
            come=_examples(come),
        )

    def names_gone(self, old: Type, new: Type) -> list[str]:
        """Return the names of properties that an old type describes and a new one that is open does not."""
        described = self._described(self.schema_of(new, NEW), NEW)
        olds = self._described(self.schema_of(old, OLD), OLD, branches=()).parts
        return [name for name in olds if name and not described.covers(name)]

    def describes(self, type_: ObjectType, side: int, name: str) -> bool:
        """Return whether an object or a part of it, such as a member of `allOf`, names a property."""
        return name in self._described(self.schema_of(type_, side), side, branches=()).parts

    def beyond_properties(self, type_: ObjectType, side: int, name: str) -> Json:
        """Return the schema of a property that an object does not name, None where nothing is said of it."""
        schema = self.schema_of(type_, side)
        if not isinstance(schema, Mapping):
            return None
        schemas = [
            inner for text, inner in schema.get("patternProperties", {}).items() if _may_match(text, name)
        ]
        if not schemas and schema.get("additionalProperties", True) is not True:
            schemas = [schema["additionalProperties"]]
        if not schemas:
            return None
        return schemas[0] if len(schemas) == 1 else {"allOf": schemas}

    def _limited(self, old: Json, new: Json) -> Json:
        """Return an old schema that allows only what callers give: not what an open object describes now."""
        if not isinstance(old, Mapping) or not isinstance(new, Mapping) or self._are_same(old, new):
            return old
        old_name, new_name = _only_reference(old), _only_reference(new)
        if old_name is not None and new_name is not None:
            return {"$ref": [old_name, new_name]}
        place = self._described(old, OLD)
        limited = self._limited_inside(old, new, place)
        come = [name for name in self._described(new, NEW).parts if name and not place.covers(name)]
        if not come:
            return limited
        forbidden = {"properties": dict.fromkeys(come, False)}
        return {"allOf": [limited, forbidden]}

    def _are_same(self, old: Json, new: Json) -> bool:
        """Return whether two schemas are alike, with all that they refer to."""
        return old == new and references_in(old) <= self._shared

    def _limited_inside(self, old: Json, new: Json, place: _Described) -> Json:
        """Return an old schema whose members and items allow only what callers give."""
        if not isinstance(old, Mapping) or not isinstance(new, Mapping) or self._are_same(old, new):
            return old
        old_name, new_name = _only_reference(old), _only_reference(new)
        if old_name is not None or new_name is not None:
            if self._followed >= _MOST_FOLLOWED:
                return old
            self._followed += 1
            before = old if old_name is None else self._sides[OLD].definition(old_name)
            after = new if new_name is None else self._sides[NEW].definition(new_name)
            limited = self._limited_inside(before, after, place)
            self._followed -= 1
            return limited
        limited = dict(old)
        olds, news = old.get("properties", {}), new.get("properties", {})
        for name in olds.keys() & news.keys():
            if place.parts[name] == 1:
                limited["properties"] = {**limited["properties"], name: self._limited(olds[name], news[name])}
        if "items" in old and "items" in new and place.parts[""] == 1:
            limited["items"] = self._limited(old["items"], new["items"])
        for word in IN_PLACE:
            if word in old:
                limited[word] = [
                    self._limited_inside(member, _partner(position, old[word], new.get(word) or [new]), place)
                    for position, member in enumerate(old[word])
                ]
        partners = next((new[word] for word in IN_PLACE if word in new), ())
        of_type = [member for member in partners if _word_of(member) == _word_of(old)]
        if not any(word in old for word in IN_PLACE) and len(of_type) == 1:
            return self._limited_inside(old, of_type[0], place)
        return limited

    def _described(self, schema: Json, side: int, *, branches: Iterable[str] = _BRANCHES) -> _Described:
        """Return what describes the members of the values of a schema, in all its parts for one place."""
        described = _Described()
        waiting: list[Json] = [schema]
        seen: set[str] = set()
        while waiting:
            part = waiting.pop(0)
            if not isinstance(part, Mapping):
                continue
            described.parts.update(list(part.get("properties", {})))
            described.parts.update([""] if part.keys() & _OF_ITEMS else [])
            described.patterns |= part.get("patternProperties", {}).keys()
            described.is_closed |= any(part.get(word, True) is not True for word in _CLOSING)
            waiting += [member for word in IN_PLACE for member in part.get(word, [])]
            waiting += [part[word] for word in branches if word in part]
            waiting += part.get("dependentSchemas", {}).values()
            names = part.get("$ref")
            if isinstance(names, list) and names[0] not in seen:
                seen.add(names[0])
                waiting.append(self._sides[side].definition(names[0]))
        return described


@dataclass(slots=True)
class _Described:
    """What describes the properties of an object.

    Attributes:
        parts: How many parts describe each property; the empty name is for the items of an array.
        patterns: Patterns of further names.
        is_closed: Something is required of all others.
    """

    parts: Counter[str] = field(default_factory=Counter)
    patterns: set[str] = field(default_factory=set)
    is_closed: bool = False

    def covers(self, name: str) -> bool:
        """Return whether it says of a property what its value is, or that there is none."""
        return self.is_closed or name in self.parts or any(_may_match(text, name) for text in self.patterns)


def _holds(answer: SearchAnswer) -> Holds:
    if answer is None:
        return Holds.YES
    return Holds.NO if isinstance(answer, FoundValue) else Holds.UNKNOWN


def _examples(answer: SearchAnswer) -> tuple[Json, ...]:
    return (answer.value,) if isinstance(answer, FoundValue) and answer.is_shown else ()


def _only_reference(schema: Mapping[str, Json]) -> str | None:
    names = schema.get("$ref")
    return names[0] if len(schema) == 1 and isinstance(names, list) and len(names) == 1 else None


def _partner(position: int, olds: list[Json], news: list[Json]) -> Json:
    """Return the new member of a list that an old one has most likely become."""
    old = olds[position]
    if old in news:
        return old
    if len(olds) == len(news):
        return news[position]
    return next((new for new in news if new not in olds and _word_of(new) == _word_of(old)), old)


def _word_of(schema: Json) -> Json:
    return schema.get("type") if isinstance(schema, Mapping) else schema


def _layout_of(root: Type, definitions: Mapping[str, Type]) -> Mapping[str, str]:
    stated = root.extensions.get(NAMESPACE, {}).get("definitions", {})
    return {**{f"{word}/{name}": name for word in CONTAINERS for name in definitions}, **stated}


def _plain(schema: Json, names: Mapping[str, str]) -> Json:
    """Return a schema without what refuses no value; a known reference is a list of its name."""
    if not isinstance(schema, Mapping):
        return schema
    plain: dict[str, Json] = {}
    for word, value in schema.items():
        if word == "$ref":
            name = referenced_name(value, names)
            plain[word] = value if name is None else [name]
        elif word == ANNOTATION:
            note = value if isinstance(value, Mapping) else {}
            if note.get("kind") == "opaque":
                plain[word] = {"kind": "opaque", "class_name": note.get("class_name")}
        elif word in KEYWORDS:
            plain[word] = with_inner_schemas(word, value, lambda inner: _plain(inner, names))
    return plain or True


def _may_match(pattern: str, name: str) -> bool:
    try:
        return matches(pattern, name)
    except UnclearError:
        return True

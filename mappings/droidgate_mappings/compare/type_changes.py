"""Where two types differ, and what each difference does to the values that they allow.

A difference says how the set of allowed values changed; whether that hurts depends on the direction. Callers
give inputs, so a narrower input breaks them; callers take outputs, so a wider output does. One more optional
property of an open object hurts nobody, a missing one hurts who gave or read it.

`type_relations` decides how the values of two types relate. Each difference has the effect that the old type
would have with this change alone; where all changes together have another effect, it is that of the whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import combinations
from typing import Any, Final

from droidgate_mappings.compare.changes import (
    ALTERNATIVE_ADDED,
    ALTERNATIVE_REMOVED,
    CALLING_CHANGED,
    CLASS_CHANGED,
    DEFINITION_RENAMED,
    ENUM_CHANGED,
    EXCLUSIVE_CHANGED,
    EXTENSION_CHANGED,
    FORMAT_CHANGED,
    HARMLESS,
    ITEMS_CHANGED,
    KEYWORD_CHANGED,
    LOST,
    MEMBER_ADDED,
    MEMBER_REMOVED,
    NARROWER,
    NOTATION_CHANGED,
    NULLABLE_CHANGED,
    ORDER_CHANGED,
    PATTERN_CHANGED,
    PROPERTY_ADDED,
    PROPERTY_REMOVED,
    REQUIRED_CHANGED,
    SAME,
    TEXT_CHANGED,
    TYPE_CHANGED,
    WIDER,
    At,
    Difference,
    Effect,
    Holds,
)
from droidgate_mappings.compare.type_relations import IN_PLACE, NEW, OLD, TypeRelations
from droidgate_mappings.compare.value_search import KEYWORDS, exact, is_types
from droidgate_mappings.json_schema import NAMESPACE, NOTATION
from droidgate_mappings.json_schema.schema_words import WORD_OF_KIND
from droidgate_mappings.model.capability import declaration_of, is_same, references_of
from droidgate_mappings.model.json_values import Json, canonical_json, json_equal, pointer_token
from droidgate_mappings.model.types import (
    AllOfType,
    AnyType,
    ArrayType,
    Extensions,
    ObjectType,
    OneOfType,
    OpaqueType,
    RefType,
    ScalarType,
    Type,
    TypeFacts,
)
from droidgate_mappings.records import dataclass, field, replace
from droidgate_mappings.tables.loading import find_format_tables
from droidgate_mappings.values.schema_checks import NEWEST, dialect_of_schema

_WORDS: Final = {"title", "$comment", "examples", "example", "deprecated"}
_LONGEST_VALUE: Final = 60
"""Characters of a value in a message; longer ones are in the change alone."""
_CONDITION: Final = ("if", "then", "else")
_CONTAINED: Final = ("contains", "minContains", "maxContains")
_GROUPS: Final = {**dict.fromkeys(_CONDITION, _CONDITION), **dict.fromkeys(_CONTAINED, _CONTAINED)}
"""Keywords that mean something only together."""


def _member(
    code: str,
    effect: Effect,
    message: str,
    pointers: tuple[str, str],
    name: str,
    olds: Mapping[str, Json],
    news: Mapping[str, Json],
) -> Difference:
    """Return the difference of one member of two maps, which one of them may not have."""
    old, new = (f"{pointer}/{pointer_token(name)}" for pointer in pointers)
    before, after = olds.get(name), news.get(name)
    return Difference(
        code, effect, message, old if name in olds else None, new if name in news else None, before, after
    )


def has_references(value: Json) -> bool:
    """Return whether a keyword's value refers to definitions."""
    if not isinstance(value, Mapping | list):
        return False
    text = canonical_json(value)
    return '"$ref":' in text or '"$dynamicRef":' in text


def without_notation(type_: Type) -> dict[str, Json]:
    """Return the keywords that are not only another way to write what the type's fields say."""
    return {word: value for word, value in type_.keywords.items() if not _is_notation(type_, word, value)}


def _is_notation(type_: Type, word: str, value: Json) -> bool:
    if word == "enum":
        return True
    if word == "type":
        return type_.kind in WORD_OF_KIND
    if word == "properties":
        return isinstance(type_, ObjectType) and value == {}
    if word == "$schema":
        return dialect_of_schema(value) == NEWEST
    if not isinstance(type_, RefType):
        return False
    names_it = (
        isinstance(value, list) and value and isinstance(value[0], Mapping) and value[0].keys() == {"$ref"}
    )
    return word == "$ref" or (word == "anyOf" and type_.nullable and bool(names_it))


def compare_extensions(
    before: Extensions, old_pointer: str, after: Extensions, new_pointer: str
) -> list[Difference]:
    """Compare facts of single formats; nobody else can weigh them, so they count as harmless.

    Names of files inside of an app are left out: no caller sees them, and not every source has them.
    """
    differences = []
    for format_id in dict.fromkeys([*before, *after]):
        olds, news = before.get(format_id, {}), after.get(format_id, {})
        for fact in dict.fromkeys([*olds, *news]):
            if fact in olds and fact in news and json_equal(olds[fact], news[fact]):
                continue
            if _is_file_name(format_id, fact):
                continue
            suffix = f"/extensions/{pointer_token(format_id)}"
            pointers = (f"{old_pointer}{suffix}", f"{new_pointer}{suffix}")
            is_notation = format_id in {NAMESPACE, NOTATION} or _is_notation_fact(format_id, fact)
            kind = (NOTATION_CHANGED, SAME) if is_notation else (EXTENSION_CHANGED, HARMLESS)
            message = f"{fact!r} of {format_id} changed"
            difference = _member(*kind, message, pointers, fact, olds, news)
            differences.append(_with_ways_to_call(difference, format_id, fact))
    return differences


def _with_ways_to_call(difference: Difference, format_id: str, fact: str) -> Difference:
    """Return the difference of a fact with what it means for callers, where it says how to call."""
    tables = find_format_tables(format_id)
    for place, ways in (tables.ways_to_call if tables else {}).items():
        name, _, member = place.partition("/")
        if name != fact:
            continue
        unstated = next(iter(ways))
        before, after = (
            value.get(member, unstated) if isinstance(value, Mapping) else unstated
            for value in (difference.old, difference.new)
        )
        if json_equal(before, after):
            if json_equal(_without(difference.old, member), _without(difference.new, member)):
                return replace(difference, code=NOTATION_CHANGED, effect=SAME)
            continue
        message = f"{member} {_listed([before])} became {_listed([after])}"
        unknown = [value for value in (before, after) if not isinstance(value, str) or value not in ways]
        if unknown:
            reason = f"{_listed(unknown)} is not a value of {member}"
            effect = Effect(Holds.UNKNOWN, Holds.UNKNOWN, reason=reason)
            return replace(difference, code=CALLING_CHANGED, effect=effect, message=message)
        refused = sorted(ways[before] - ways[after])
        if refused:
            message += f"; refused now: {', '.join(refused)}"
        return replace(
            difference, code=CALLING_CHANGED, effect=NARROWER if refused else WIDER, message=message
        )
    return difference


def _without(value: Json, member: str) -> Json:
    """Return the rest of a fact that may be unstated."""
    if not isinstance(value, Mapping):
        return {} if value is None else value
    return {name: content for name, content in value.items() if name != member}


def _is_notation_fact(format_id: str, fact: str) -> bool:
    tables = find_format_tables(format_id)
    return tables is not None and fact in tables.notations


def _is_file_name(format_id: str, fact: str) -> bool:
    tables = find_format_tables(format_id)
    return tables is not None and fact in tables.file_names


def _statements_of_values(type_: Type) -> dict[str, list[Json]]:
    """Return what states the allowed values, each in a list of its own, by place in the type."""
    stated = {} if type_.enum is None else {"enum": [list(type_.enum)]}
    words = {
        f"keywords/{word}": [type_.keywords[word]] for word in ("const", "enum") if word in type_.keywords
    }
    return {**stated, **words}


def _listed_values(stated: Mapping[str, list[Json]]) -> list[Json] | None:
    """Return the only values that some statements allow; None where there are none."""
    values: list[Json] | None = None
    for place, (content,) in stated.items():
        listed = content if isinstance(content, list) and not place.endswith("const") else [content]
        if values is not None:
            refused = {*map(exact, _missing_in(listed, values))}
            listed = [value for value in values if exact(value) not in refused]
        values = listed
    return values


def _missing_in(others: Iterable[Json], values: Iterable[Json]) -> list[Json]:
    """Return the values that are not among others."""
    known_values = {*map(exact, others)}
    return [value for value in values if exact(value) not in known_values]


def _words_for_lists(before: list[Json] | None, after: list[Json] | None) -> tuple[str, str]:
    """Return the code and the message for other lists of allowed values."""
    if before is None or after is None:
        words = "only some values are allowed now" if before is None else "any value is allowed now"
        return ENUM_CHANGED, words
    gone, come = _missing_in(after, before), _missing_in(before, after)
    if not gone and not come:
        in_order = [*map(exact, before)] == [*map(exact, after)]
        return (
            (ENUM_CHANGED, "the listed values")
            if in_order
            else (ORDER_CHANGED, "the values in another order")
        )
    parts = [f"no longer allowed: {_listed(gone)}"] if gone else []
    parts += [f"newly allowed: {_listed(come)}"] if come else []
    return ENUM_CHANGED, "; ".join(parts)


def _listed(values: list[Json], most: int = 5) -> str:
    listed = ", ".join(canonical_json(value) for value in values[:most])
    return f"{listed} and {len(values) - most} more" if len(values) > most else listed


def _from_to(was: Json, is_now: Json) -> str:
    """Return both values for the end of a message; "" where one is not short."""
    texts = [canonical_json(value) for value in (was, is_now)]
    return "" if max(map(len, texts)) > _LONGEST_VALUE else " from {} to {}".format(*texts)


def _allows_null(type_: Type) -> bool:
    return type_.nullable or type_.kind == "null"


def _leaf(
    code: str, effect: Effect, message: str, places: tuple[At, At], name: str, before: Json, after: Json
) -> Difference:
    """Return the difference of one fact of two types."""
    old, new = (f"{place.pointer}/{name}" for place in places)
    return Difference(code, effect, message, old, new, before, after)


_MOST_PAIRED: Final = 64
"""Pairs of parts of two lists that are compared to find equal ones."""
_WIDER_KINDS: Final = {*combinations(("int32", "int64", "float", "double"), 2), ("bytes", "string")}
_COMPARABLE_KINDS: Final = _WIDER_KINDS | {(wide, narrow) for narrow, wide in _WIDER_KINDS}
_SHAPES: Final = frozenset(
    {"type", "properties", "required", "additionalProperties", "items", "prefixItems"}
    | {"anyOf", "oneOf", "allOf"}
)


@dataclass
class TypeComparison:
    """Compares types of two providers; one instance for each pair of roots, which reports a definition once.

    Attributes:
        old_definitions: What references of old types mean.
        new_definitions: What references of new types mean.
        waiting: Pairs of definitions that are still to be compared.
        seen: Pairs of definitions that were found.
        visited: Pairs of types, by identity, that are being compared.
        arguments: The old type whose values are an object in any case, None without one.
    """

    old_definitions: Mapping[str, Type]
    new_definitions: Mapping[str, Type]
    waiting: list[tuple[str, str]] = field(default_factory=list)
    seen: set[tuple[str, str]] = field(default_factory=set)
    visited: set[tuple[int, int]] = field(default_factory=set)
    arguments: Type | None = None
    _relations: TypeRelations | None = None

    def compare_arguments(self, old: At, new: At) -> list[Difference]:
        """Compare as `compare_roots` does the types of all arguments of a call, which are an object."""
        self.arguments = old.type
        return self.compare_roots(old, new)

    def compare_roots(self, old: At, new: At) -> list[Difference]:
        """Return the differences of two types, then those of the definitions that they reach."""
        self._relations = TypeRelations(old.type, new.type, self.old_definitions, self.new_definitions)
        differences = self.compare(old, new)
        while self.waiting:
            pair = self.waiting.pop(0)
            before, after = self.old_definitions[pair[0]], self.new_definitions[pair[1]]
            differences += self.compare(At(before, _definition(pair[0])), At(after, _definition(pair[1])))
        if not differences:
            return []
        whole = self.relations.relate(old.type, new.type, are_arguments=old.type is self.arguments)
        return _reconciled(differences, whole, old, new)

    @property
    def relations(self) -> TypeRelations:
        """Return what relates the types; there is nothing before the roots are known."""
        if self._relations is None:
            message = "the roots are not known"
            raise RuntimeError(message)
        return self._relations

    def compare(self, old: At, new: At) -> list[Difference]:
        """Return the differences of two types, outermost first, definitions left for later."""
        if is_same(old.type, new.type) and (not _refers(old.type) or self.have_same_definitions):
            return []
        is_argument = old.type is self.arguments
        if not (isinstance(old.type, RefType) and isinstance(new.type, RefType)):
            old, new = self.resolve(old, self.old_definitions), self.resolve(new, self.new_definitions)
        pair = _Pair(self, old, new, are_arguments=is_argument)
        visit = (id(old.type), id(new.type))
        if visit in self.visited:
            # References that lead back here are not at the same places on both sides.
            return []
        self.visited.add(visit)
        differences = pair.differences()
        self.visited.discard(visit)
        if all(difference.effect is SAME for difference in differences):
            return [_by_meaning(difference) for difference in differences]
        refers = _refers(old.type) or _refers(new.type)
        return _reconciled(differences, pair.whole, old, new, is_complete=not refers)

    @cached_property
    def have_same_definitions(self) -> bool:
        """Whether the definitions of both sides are alike."""
        olds, news = self.old_definitions, self.new_definitions
        return olds.keys() == news.keys() and all(is_same(olds[name], news[name]) for name in olds)

    def wait_for(self, old: str, new: str) -> bool:
        """Have two definitions compared once; return whether either is missing, and the other is not it."""
        is_old_known, is_new_known = old in self.old_definitions, new in self.new_definitions
        if is_old_known and is_new_known:
            if (old, new) not in self.seen:
                self.seen.add((old, new))
                self.waiting.append((old, new))
            return False
        return is_old_known or is_new_known or old != new

    def resolve(self, place: At, definitions: Mapping[str, Type]) -> At:
        """Return what a reference means, with what it adds of its own; anything else as it is.

        A reference that restricts what its definition restricts as well stays one.
        """
        reference = place
        passed: set[str] = set()
        added: dict[str, Json] = {}
        while isinstance(place.type, RefType):
            target = definitions.get(place.type.name)
            if target is None or place.type.name in passed:
                break
            passed.add(place.type.name)
            stated = {
                name: getattr(place.type, name) for name in place.type.model_fields_set - {"kind", "name"}
            }
            if "keywords" in stated:
                stated["keywords"] = without_notation(place.type)
            if _restrict_the_same(stated, target):
                return reference
            added = {**stated, **added}
            place = At(target, _definition(place.type.name))
        added_fields = {name: value for name, value in added.items() if value or name == "enum"}
        if "keywords" in added_fields:
            added_fields["keywords"] = {**place.type.keywords, **added_fields["keywords"]}
        return At(place.type.changed(added_fields), place.pointer) if added_fields else place

    def are_same(self, old: At, new: At) -> bool:
        """Return whether two types allow the same values."""
        return self.relations.relate(old.type, new.type) == SAME


class _Pair:
    """Two types at one place."""

    def __init__(self, comparison: TypeComparison, old: At, new: At, *, are_arguments: bool) -> None:
        self.comparison = comparison
        self.old, self.new = old, new
        self.before, self.after = old.type, new.type
        self.are_arguments = are_arguments

    @cached_property
    def whole(self) -> Effect:
        """The effect of all differences together."""
        return self.comparison.relations.relate(self.before, self.after, are_arguments=self.are_arguments)

    def differences(self) -> list[Difference]:
        """Return the differences, outermost first."""
        before, after = self.before, self.after
        if before.kind == after.kind:
            differences = [*self.nullable(), *self.facts(), *self.shapes()]
        else:
            differences = self.kinds()
        plain = (ObjectType, ArrayType, RefType, ScalarType)
        is_plain = isinstance(before, plain) and isinstance(after, plain)
        if not (is_plain and before.keywords.keys().isdisjoint(IN_PLACE)) and self.whole is not SAME:
            differences += self.names_gone(differences)
        return differences

    def with_changes(self, **changes: Any) -> Effect:
        """Return the effect of some of the new facts on the old type."""
        if self.whole is SAME:
            return SAME
        if any(has_references(_json_of(value)) for value in changes.values()):
            return self.whole
        changed = self.before.changed(changes)
        relate = self.comparison.relations.relate
        return relate(self.before, changed, new_side=OLD, are_arguments=self.are_arguments)

    def kinds(self) -> list[Difference]:
        """Compare two types of different kinds."""
        before, after = self.before, self.after
        message = f"{_word(before)} became {_word(after)}"
        if (before.kind, after.kind) not in _COMPARABLE_KINDS:
            return [_difference(TYPE_CHANGED, self.whole, message, self.old, self.new)]
        plain = (type(item).model_validate({"kind": item.kind}) for item in (before, after))
        effect = self.comparison.relations.relate(*plain)
        changed = _difference(TYPE_CHANGED, effect, message, self.old, self.new)
        return [changed, *self.nullable(), *self.facts()]

    def nullable(self) -> list[Difference]:
        """Compare whether null is allowed."""
        was, is_now = _allows_null(self.before), _allows_null(self.after)
        if was == is_now:
            return []
        message = "null is allowed now" if is_now else "null is no longer allowed"
        effect = self.with_changes(nullable=is_now)
        return [_leaf(NULLABLE_CHANGED, effect, message, (self.old, self.new), "nullable", was, is_now)]

    def facts(self) -> list[Difference]:
        """Compare everything but kind, shape and whether null is allowed."""
        places, before, after = (self.old, self.new), self.before, self.after
        differences = self.values()
        for name, code in (("pattern", PATTERN_CHANGED), ("format", FORMAT_CHANGED)):
            was, is_now = getattr(before, name), getattr(after, name)
            if was != is_now:
                message = f"the required {name} changed{_from_to(was, is_now)}"
                if was is None or is_now is None:
                    message = (
                        f"a {name} is now required" if was is None else f"no {name} is required any more"
                    )
                effect = self.with_changes(**{name: is_now})
                differences.append(_leaf(code, effect, message, places, name, was, is_now))
        differences += self.keywords()
        if before.implicit != after.implicit:
            message = "the type is now named" if before.implicit else "the type is no longer named"
            effect = self.with_changes(implicit=after.implicit)
            stated = (before.implicit, after.implicit)
            differences.append(_leaf(TYPE_CHANGED, effect, message, places, "implicit", *stated))
        if before.description != after.description:
            texts = (before.description, after.description)
            differences.append(
                _leaf(TEXT_CHANGED, SAME, "the description changed", places, "description", *texts)
            )
        return differences + compare_extensions(
            before.extensions, self.old.pointer, after.extensions, self.new.pointer
        )

    def values(self) -> list[Difference]:
        """Compare the lists of allowed values; a `const` is a list with one value.

        Where several places state the values, the first that differs is reported with what changed.
        """
        olds, news = _statements_of_values(self.before), _statements_of_values(self.after)
        names = [(name, name) for name in dict.fromkeys([*olds, *news])]
        if len(olds) == len(news) == 1:
            names = [(next(iter(olds)), next(iter(news)))]
        differences: list[Difference] = []
        for old_name, new_name in names:
            was, is_now = olds.get(old_name), news.get(new_name)
            if old_name == new_name and json_equal(was, is_now):
                continue
            code, message = _words_for_lists(_listed_values(olds), _listed_values(news))
            effect = SAME if differences else self.effect_of_values()
            if differences or old_name != new_name:
                code = ENUM_CHANGED
            pointers = (f"{self.old.pointer}/{old_name}", f"{self.new.pointer}/{new_name}")
            values = (item and item[0] for item in (was, is_now))
            differences.append(Difference(code, effect, message, *pointers, *values))
        return differences

    def effect_of_values(self) -> Effect:
        """Return the effect of the new list of values."""
        keywords = {
            word: content
            for stated, is_list in ((self.before.keywords, False), (self.after.keywords, True))
            for word, content in stated.items()
            if (word in {"const", "enum"}) is is_list
        }
        return self.with_changes(enum=self.after.enum, keywords=keywords)

    def keywords(self) -> list[Difference]:
        """Compare the keywords, but for those that list values."""
        olds, news = self.before.keywords, self.after.keywords
        differences = []
        for keyword in dict.fromkeys([*olds, *news]):
            is_same = keyword in olds and keyword in news and json_equal(olds[keyword], news[keyword])
            if keyword in {"const", "enum"} or (is_same and not has_references({keyword: olds[keyword]})):
                continue
            code, effect = self.effect_of_keyword(keyword)
            if is_same and effect is SAME:
                continue
            message = f"{keyword!r} is new"
            if keyword in olds:
                message = f"{keyword!r} changed" if keyword in news else f"{keyword!r} is gone"
                message += _from_to(olds[keyword], news[keyword]) if keyword in news else ""
            if is_same:
                message = f"what {keyword!r} refers to changed"
            pointers = (f"{self.old.pointer}/keywords", f"{self.new.pointer}/keywords")
            differences.append(_member(code, effect, message, pointers, keyword, olds, news))
        return differences

    def effect_of_keyword(self, keyword: str) -> tuple[str, Effect]:
        """Return the code and the effect of another keyword."""
        if keyword in _WORDS:
            return TEXT_CHANGED, SAME
        olds, news = without_notation(self.before), without_notation(self.after)
        if keyword not in olds and keyword not in news:
            return KEYWORD_CHANGED, SAME
        if keyword not in KEYWORDS and keyword != "$ref":
            return KEYWORD_CHANGED, HARMLESS
        group = _GROUPS.get(keyword, (keyword,))
        others = {word: content for word, content in self.before.keywords.items() if word not in group}
        changed = {word: content for word, content in self.after.keywords.items() if word in group}
        both = [{word: content for word, content in item.items() if word in group} for item in (olds, news)]
        if any(map(has_references, both)):
            return KEYWORD_CHANGED, self.whole
        effect = self.with_changes(keywords={**others, **changed})
        return KEYWORD_CHANGED, effect

    def shapes(self) -> list[Difference]:
        """Compare two types of one kind in what makes that kind."""
        old, new, before, after = self.old, self.new, self.before, self.after
        differences: list[Difference] = []
        if isinstance(before, RefType) and isinstance(after, RefType):
            differences = self.references(before.name, after.name)
        elif isinstance(before, ObjectType) and isinstance(after, ObjectType):
            differences = self.properties(before, after)
        elif isinstance(before, ArrayType) and isinstance(after, ArrayType):
            differences = self.items(before.items, after.items)
        elif isinstance(before, AllOfType) and isinstance(after, AllOfType):
            differences = self.list_of("members", before.members, after.members)
        elif isinstance(before, OneOfType) and isinstance(after, OneOfType):
            differences = self.list_of("alternatives", before.alternatives, after.alternatives)
            differences += self.exclusive(before, after)
        elif isinstance(before, OpaqueType) and isinstance(after, OpaqueType):
            differences = _compare_class(old, before.class_name, new, after.class_name, "class_name")
        elif isinstance(before, AnyType) and isinstance(after, AnyType) and before.boolean != after.boolean:
            message = f"{_word(before)} became {_word(after)}"
            differences = [_difference(TYPE_CHANGED, self.whole, message, old, new)]
        if isinstance(before, ObjectType | AllOfType | OneOfType) and isinstance(
            after, ObjectType | AllOfType | OneOfType
        ):
            differences += _compare_class(
                old, before.qualified_name, new, after.qualified_name, "qualified_name"
            )
        return differences

    def references(self, old_name: str, new_name: str) -> list[Difference]:
        """Compare what two references refer to, and have it compared once."""
        differences = []
        if old_name != new_name:
            message = f"the type {old_name!r} goes by {new_name!r}"
            names = (old_name, new_name)
            differences.append(_leaf(DEFINITION_RENAMED, SAME, message, (self.old, self.new), "name", *names))
        if self.comparison.wait_for(old_name, new_name):
            message = "the type it refers to is another"
            differences.append(_difference(TYPE_CHANGED, self.whole, message, self.old, self.new))
        return differences

    def items(self, before: Type | None, after: Type | None) -> list[Difference]:
        """Compare what two arrays hold."""
        if before is not None and after is not None:
            return self.comparison.compare(self.old.inner(before, "items"), self.new.inner(after, "items"))
        if after is not None:
            message = f"its items are now {_word(after)}"
            effect = self.with_changes(items=after)
            return [_added(ITEMS_CHANGED, effect, message, self.new.inner(after, "items"))]
        if before is not None:
            message = "its items may now be anything"
            effect = self.with_changes(items=None)
            return [_removed(ITEMS_CHANGED, effect, message, self.old.inner(before, "items"))]
        return []

    def properties(self, before: ObjectType, after: ObjectType) -> list[Difference]:
        """Compare the properties of two objects by name."""
        differences: list[Difference] = []
        relations = self.comparison.relations
        for name, property_ in before.properties.items():
            place = self.old.inner(property_.type, "properties", name)
            other = after.properties.get(name)
            if other is None:
                effect, words = LOST, f"{name!r} is gone"
                beyond = relations.beyond_properties(after, NEW, name)
                if beyond is not None and beyond is not False:
                    schema = relations.schema_of(property_.type, OLD)
                    effect = relations.relate_schemas(schema, beyond)
                    words = f"{name!r} is no longer named, but allowed"
                elif beyond is None and relations.describes(after, NEW, name):
                    effect, words = self.whole, f"{name!r} is described elsewhere now"
                gone = (words, place.pointer, None, declaration_of(property_))
                differences.append(Difference(PROPERTY_REMOVED, effect, *gone))
                continue
            here = self.new.inner(other.type, "properties", name)
            if property_.required != other.required:
                message = f"{name!r} is now required" if other.required else f"{name!r} may now be left out"
                effect = NARROWER if other.required else WIDER
                stated = (property_.required, other.required)
                differences.append(
                    _leaf(REQUIRED_CHANGED, effect, message, (place, here), "required", *stated)
                )
            differences += compare_extensions(
                property_.extensions, place.pointer, other.extensions, here.pointer
            )
            inner = (place.inner(property_.type, "type"), here.inner(other.type, "type"))
            differences += self.comparison.compare(*inner)
        for name, property_ in after.properties.items():
            if name in before.properties:
                continue
            here = self.new.inner(property_.type, "properties", name)
            effect = HARMLESS
            message = f"{name!r} is new{' and required' if property_.required else ''}"
            beyond = relations.beyond_properties(before, OLD, name)
            is_described = beyond is None and relations.describes(before, OLD, name)
            if is_described:
                effect, message = self.whole, f"{name!r} is described elsewhere now"
            elif beyond is not None:
                effect = relations.relate_schemas(beyond, relations.schema_of(property_.type, NEW))
            if property_.required and not is_described:
                effect = replace(effect, kept=Holds.NO, is_harmless=False)
            come = (None, here.pointer, None, declaration_of(property_))
            differences.append(Difference(PROPERTY_ADDED, effect, message, *come))
        return differences + _compare_order(self.old, before, self.new, after)

    def list_of(self, word: str, befores: Sequence[Type], afters: Sequence[Type]) -> list[Difference]:
        """Compare the members of two all-of, or the alternatives of two choices."""
        is_choice = word == "alternatives"
        pairs, gone, come = self.pair_up(self.old.all(befores, word), self.new.all(afters, word))
        differences = [difference for pair in pairs for difference in self.comparison.compare(*pair)]
        part = "choice" if is_choice else "part"
        for item in gone:
            code = ALTERNATIVE_REMOVED if is_choice else MEMBER_REMOVED
            others = tuple(type_ for type_ in befores if type_ is not item.type)
            effect = self.with_changes(**{word: others}) if others else self.whole
            differences.append(_removed(code, effect, f"{_word(item.type)} is no longer a {part}", item))
        for item in come:
            code = ALTERNATIVE_ADDED if is_choice else MEMBER_ADDED
            effect = self.with_changes(**{word: (*befores, item.type)})
            differences.append(_added(code, effect, f"{_word(item.type)} is a {part} now", item))
        return differences

    def exclusive(self, before: OneOfType, after: OneOfType) -> list[Difference]:
        """Compare whether exactly one alternative applies."""
        if before.exclusive == after.exclusive:
            return []
        message = (
            "exactly one alternative applies now" if after.exclusive else "several alternatives may apply now"
        )
        effect = self.with_changes(exclusive=after.exclusive)
        stated = (before.exclusive, after.exclusive)
        return [_leaf(EXCLUSIVE_CHANGED, effect, message, (self.old, self.new), "exclusive", *stated)]

    def pair_up(
        self, olds: Sequence[At], news: Sequence[At]
    ) -> tuple[list[tuple[At, At]], list[At], list[At]]:
        """Pair the parts of two lists: equal ones first, then those of one kind in their order.

        Returns:
            The pairs, the old parts without a partner, the new ones without.
        """
        pairs: list[tuple[At, At]] = []
        same: list[tuple[Callable[[At], str | None], Callable[[At, At], bool] | None]] = [
            (_declared_text, _declared_the_same),
            (_name_of, None),
            (_kind_of, None),
        ]
        if len(olds) * len(news) <= _MOST_PAIRED:
            same.insert(1, (lambda _: "", self.comparison.are_same))
        gone, come = dict(enumerate(olds)), dict(enumerate(news))
        for key_of, fits in same:
            # Only what has the same key may fit, so that long lists are not compared with each other.
            places: dict[str | None, dict[int, At]] = {}
            for position, candidate in come.items():
                places.setdefault(key_of(candidate), {})[position] = candidate
            places.pop(None, None)
            for position, item in list(gone.items()):
                near = places.get(key_of(item), {})
                partner = next(
                    (place for place, candidate in near.items() if fits is None or fits(item, candidate)),
                    None,
                )
                if partner is not None:
                    pairs.append((item, near.pop(partner)))
                    del gone[position], come[partner]
        return pairs, list(gone.values()), list(come.values())

    def names_gone(self, differences: list[Difference]) -> list[Difference]:
        """Report properties that are not described any more, where no other difference does."""
        if any(difference.effect.is_fixed for difference in differences):
            return []
        names = self.comparison.relations.names_gone(self.before, self.after)
        places = (self.old.pointer, self.new.pointer)
        return [Difference(PROPERTY_REMOVED, LOST, f"{name!r} is gone", *places, name) for name in names]


def _reconciled(
    differences: list[Difference], whole: Effect, old: At, new: At, *, is_complete: bool = True
) -> list[Difference]:
    """Return the differences with effects that together are that of the whole.

    Args:
        differences: What was found.
        whole: The effect of all of it.
        old: The old type.
        new: The new type.
        is_complete: All that differs was found, so that something has the effect of the whole.
    """
    milder = [_by_meaning(_not_beyond(difference, whole)) for difference in differences]
    if not is_complete:
        return milder
    for side in ("kept", "known"):
        stated = {getattr(difference.effect, side) for difference in milder}
        holds = getattr(whole, side)
        if holds is Holds.YES or Holds.NO in stated or holds in stated:
            continue
        concerned = [
            item for item in milder if item.effect not in {SAME, HARMLESS} and not item.effect.is_fixed
        ]
        concerned = concerned or [item for item in milder if item.code not in _WITHOUT_VALUES]
        if not concerned:
            added = _difference(TYPE_CHANGED, SAME, "other values are allowed", old, new)
            milder.append(added)
            concerned = [added]
        milder = [
            replace(item, effect=_escalated(item.effect, side, whole)) if item in concerned else item
            for item in milder
        ]
    return milder


def _escalated(effect: Effect, side: str, whole: Effect) -> Effect:
    reason = effect.reason or whole.reason
    return replace(effect, is_harmless=False, reason=reason, **{side: getattr(whole, side)})


def _not_beyond(difference: Difference, whole: Effect) -> Difference:
    """Return a difference that does no more than the whole."""
    effect = difference.effect
    if effect.is_fixed or effect is SAME or effect is HARMLESS:
        return difference
    kept = Holds.YES if whole.kept is Holds.YES else effect.kept
    known = Holds.YES if whole.known is Holds.YES else effect.known
    if (kept, known) == (effect.kept, effect.known):
        return difference
    if kept is known is Holds.YES:
        return replace(difference, effect=SAME)
    return replace(difference, effect=replace(effect, kept=kept, known=known))


def _by_meaning(difference: Difference) -> Difference:
    """Return a difference after which the same values are allowed as one of the notation."""
    if difference.effect is not SAME or difference.code in {*_WITHOUT_VALUES, NOTATION_CHANGED}:
        return difference
    message = f"{difference.message}; the same values are allowed"
    return replace(difference, code=NOTATION_CHANGED, message=message)


_WITHOUT_VALUES: Final = frozenset({TEXT_CHANGED, ORDER_CHANGED, EXTENSION_CHANGED, DEFINITION_RENAMED})
"""Codes of differences that are in no value."""


def _declared_text(item: At) -> str:
    return canonical_json(declaration_of(item.type))


def _declared_the_same(old: At, new: At) -> bool:
    return is_same(old.type, new.type)


def _refers(type_: Type) -> bool:
    return next(references_of(type_), None) is not None or has_references(declaration_of(type_))


def _restrict_the_same(stated: Mapping[str, Json], target: Type) -> bool:
    """Return whether both a reference and its definition state a fact of which both hold."""
    keywords = {word: value for word, value in stated.get("keywords", {}).items() if word in KEYWORDS}
    listed = stated.get("enum") is not None or "const" in keywords
    if listed and (target.nullable or target.enum is not None or "const" in target.keywords):
        return True
    if any(
        stated.get(name) is not None and getattr(target, name) is not None for name in ("pattern", "format")
    ):
        return True
    return not keywords.keys().isdisjoint(_SHAPES | (target.keywords.keys() & KEYWORDS))


def _compare_class(old: At, before: str | None, new: At, after: str | None, name: str) -> list[Difference]:
    if before == after:
        return []
    message = f"the class {before or 'without a name'} became {after or 'one without a name'}"
    return [_leaf(CLASS_CHANGED, LOST, message, (old, new), name, before, after)]


def _compare_order(old: At, before: ObjectType, new: At, after: ObjectType) -> list[Difference]:
    olds = [name for name in before.properties if name in after.properties]
    news = [name for name in after.properties if name in before.properties]
    if olds == news:
        return []
    message = "the same properties in another order"
    return [_leaf(ORDER_CHANGED, SAME, message, (old, new), "properties", olds, news)]


def _name_of(item: At) -> str | None:
    if isinstance(item.type, RefType):
        return f"$ref {item.type.name}"
    return getattr(item.type, "qualified_name", None)


def _kind_of(item: At) -> str | None:
    return None if isinstance(item.type, RefType) else item.type.kind


def _definition(name: str) -> str:
    return f"/definitions/{pointer_token(name)}"


def _json_of(value: Any) -> Json:
    """Return a new fact of a type as JSON."""
    if isinstance(value, tuple):
        return [_json_of(item) for item in value]
    return declaration_of(value) if isinstance(value, TypeFacts) else value


def _word(type_: Type) -> str:
    if isinstance(type_, RefType):
        return type_.name
    if isinstance(type_, AnyType):
        if not is_types(type_.keywords.get("type", [])):
            return f"the unknown type {canonical_json(type_.keywords['type'])}"
        return "no value" if type_.boolean is False else "any value"
    return type_.kind


def _difference(code: str, effect: Effect, message: str, old: At, new: At) -> Difference:
    types = (declaration_of(old.type), declaration_of(new.type))
    return Difference(code, effect, message, old.pointer, new.pointer, *types)


def _added(code: str, effect: Effect, message: str, new: At) -> Difference:
    return Difference(code, effect, message, None, new.pointer, None, declaration_of(new.type))


def _removed(code: str, effect: Effect, message: str, old: At) -> Difference:
    return Difference(code, effect, message, old.pointer, None, declaration_of(old.type))

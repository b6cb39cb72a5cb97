"""Comparing types: which values the new type allows and the old one did not, and the other way round.

A difference says how the set of allowed values changed; whether that hurts depends on the direction. Callers
give inputs, so a narrower input breaks them; callers take outputs, so a wider output does. Objects are read
as callers use them: an optional property more hurts nobody, a property less hurts whoever gave or read it.
The alternatives of an exclusive choice are taken to be apart from each other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from droidgate_mappings.compare.changes import (
    ALTERNATIVE_ADDED,
    ALTERNATIVE_REMOVED,
    CLASS_CHANGED,
    DEFINITION_RENAMED,
    EXCLUSIVE_CHANGED,
    ITEMS_CHANGED,
    MEMBER_ADDED,
    MEMBER_REMOVED,
    ORDER_CHANGED,
    PROPERTY_ADDED,
    PROPERTY_REMOVED,
    REQUIRED_CHANGED,
    TYPE_CHANGED,
    At,
    Difference,
    Effect,
)
from droidgate_mappings.compare.keywords import combined, constraints_of, has_references, without_notation
from droidgate_mappings.compare.type_facts import compare_extensions, compare_facts, compare_nullable
from droidgate_mappings.json_schema import NAMESPACE, read_type
from droidgate_mappings.json_schema.schema_words import CONTAINERS
from droidgate_mappings.model.capability import declaration_of, references_of
from droidgate_mappings.model.json_values import Json, canonical_json, pointer_token
from droidgate_mappings.model.types import (
    AllOfType,
    AnyType,
    ArrayType,
    ObjectType,
    OneOfType,
    OpaqueType,
    RefType,
    Type,
)

_STEPS_OF_MATCHING: Final = 20_000
_DEPTH_OF_MATCHING: Final = 5
_WIDER_KINDS: Final = {
    ("int32", "int64"),
    ("int32", "float"),
    ("int32", "double"),
    ("int64", "float"),
    ("int64", "double"),
    ("float", "double"),
    ("bytes", "string"),
}
_SHAPES: Final = {
    "type",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "prefixItems",
    "anyOf",
    "oneOf",
    "allOf",
}
_COMPARABLE_KINDS: Final = _WIDER_KINDS | {(wide, narrow) for narrow, wide in _WIDER_KINDS}


@dataclass(frozen=True)
class _Roots:
    """A pair of types that are compared with all that they reach, and the definitions of both."""

    old: Type
    new: Type
    old_definitions: Mapping[str, Type]
    new_definitions: Mapping[str, Type]

    @cached_property
    def old_layout(self) -> Mapping[str, str]:
        """The names of old definitions by their place in the schema."""
        return _layout_of(self.old, self.old_definitions)

    @cached_property
    def new_layout(self) -> Mapping[str, str]:
        """The names of new definitions by their place in the schema."""
        return _layout_of(self.new, self.new_definitions)

    @cached_property
    def watch_evaluation(self) -> bool:
        """Whether `unevaluatedProperties` or `unevaluatedItems` is stated anywhere."""
        types = (self.old, self.new, *self.old_definitions.values(), *self.new_definitions.values())
        return any('"unevaluated' in canonical_json(declaration_of(type_)) for type_ in types)

    def turned_round(self) -> _Roots:
        """Return the pair from new to old."""
        return _Roots(self.new, self.old, self.new_definitions, self.old_definitions)


@dataclass(slots=True)
class TypeComparison:
    """Compares types of two providers; one instance for each pair of roots, which reports a definition once.

    Attributes:
        old_definitions: What references of old types mean.
        new_definitions: What references of new types mean.
        same_definitions: The two are equal.
        assumed: Pairs of definitions that are being compared further out, so they count as equal here.
        depth: How many attempts to match alternatives this one is inside of.
        steps: How many such attempts are left, shared by all.
        roots: The pair of roots, None until they are known.
        arguments: The old type whose values are an object in any case, None without one.
    """

    old_definitions: Mapping[str, Type]
    new_definitions: Mapping[str, Type]
    same_definitions: bool
    assumed: frozenset[tuple[str, str]] = frozenset()
    depth: int = 0
    steps: list[int] = field(default_factory=lambda: [_STEPS_OF_MATCHING])
    waiting: list[tuple[str, str]] = field(default_factory=list)
    seen: set[tuple[str, str]] = field(default_factory=set)
    current: tuple[str, str] | None = None
    roots: _Roots | None = None
    arguments: Type | None = None

    def compare_arguments(self, old: At, new: At) -> list[Difference]:
        """Compare as `compare_roots` does the types of all arguments of a call, which are an object."""
        self.arguments = old.type
        return self.compare_roots(old, new)

    def compare_roots(self, old: At, new: At) -> list[Difference]:
        """Return the differences of two types, then those of the definitions that they reach."""
        if self.roots is None:
            self.roots = _Roots(old.type, new.type, self.old_definitions, self.new_definitions)
        differences = self.compare(old, new)
        while self.waiting:
            pair = self.current = self.waiting.pop(0)
            before, after = self.old_definitions[pair[0]], self.new_definitions[pair[1]]
            differences += self.compare(At(before, _definition(pair[0])), At(after, _definition(pair[1])))
        return differences

    def compare(self, old: At, new: At) -> list[Difference]:
        """Return the differences of two types, outermost first, definitions left for later."""
        if is_same(old.type, new.type) and (self.same_definitions or not _refers(old.type)):
            return []
        if isinstance(old.type, RefType) and isinstance(new.type, RefType):
            return self.compare_references(old, old.type, new, new.type)
        old, new = self.resolve(old, self.old_definitions), self.resolve(new, self.new_definitions)
        effect = self.effect_of_kinds(old, new)
        if effect is Effect.NONE:
            return [
                *compare_nullable(old, new),
                *compare_facts(old, new, self, are_arguments=old.type is self.arguments),
                *self.compare_shapes(old, new),
            ]
        changed = _difference(TYPE_CHANGED, effect, f"{_word(old.type)} became {_word(new.type)}", old, new)
        if (old.type.kind, new.type.kind) in _COMPARABLE_KINDS:
            return [changed, *compare_nullable(old, new), *compare_facts(old, new, self)]
        return [changed]

    def compare_references(self, old: At, old_type: RefType, new: At, new_type: RefType) -> list[Difference]:
        """Compare what two references add of their own, and have their definitions compared once."""
        differences = [*compare_nullable(old, new), *compare_facts(old, new, self)]
        if old_type.name != new_type.name:
            message = f"the type {old_type.name!r} goes by {new_type.name!r}"
            differences.append(
                Difference(
                    DEFINITION_RENAMED,
                    Effect.NONE,
                    message,
                    f"{old.pointer}/name",
                    f"{new.pointer}/name",
                    old_type.name,
                    new_type.name,
                )
            )
        pair = (old_type.name, new_type.name)
        is_old_known, is_new_known = pair[0] in self.old_definitions, pair[1] in self.new_definitions
        if is_old_known and is_new_known:
            if pair not in self.seen and pair not in self.assumed:
                self.seen.add(pair)
                self.waiting.append(pair)
        elif is_old_known or is_new_known or pair[0] != pair[1]:
            differences.append(
                _difference(TYPE_CHANGED, Effect.OTHER, "the type it refers to is another", old, new)
            )
        return differences

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
        kept = {name: value for name, value in added.items() if value or name == "enum"}
        if "keywords" in kept:
            kept["keywords"] = {**place.type.keywords, **kept["keywords"]}
        return At(place.type.model_copy(update=kept), place.pointer) if kept else place

    def effect_of_kinds(self, old: At, new: At) -> Effect:
        """Return how the kind changed; NONE where it did not."""
        before, after = old.type, new.type
        if before.kind == after.kind:
            if isinstance(before, AnyType) and isinstance(after, AnyType):
                return _by_order(before.boolean is not False, after.boolean is not False)
            return Effect.NONE
        if isinstance(before, AnyType) or isinstance(after, AnyType):
            return _effect_beside_any(before, after)
        if (before.kind, after.kind) in _WIDER_KINDS or (before.kind == "null" and after.nullable):
            return Effect.WIDER
        if (after.kind, before.kind) in _WIDER_KINDS or (after.kind == "null" and before.nullable):
            return Effect.NARROWER
        if isinstance(after, OneOfType) and not _is_constrained(after) and self.is_among(old, new, after):
            return Effect.WIDER
        if (
            isinstance(before, OneOfType)
            and not _is_constrained(before)
            and self.turned_round().is_among(new, old, before)
        ):
            return Effect.NARROWER
        return Effect.OTHER

    def turned_round(self) -> TypeComparison:
        """Return the comparison from new to old."""
        turned = TypeComparison(self.new_definitions, self.old_definitions, self.same_definitions)
        turned.assumed = frozenset((after, before) for before, after in self.ancestors())
        turned.depth, turned.steps = self.depth, self.steps
        turned.roots = self.roots and self.roots.turned_round()
        return turned

    def ancestors(self) -> frozenset[tuple[str, str]]:
        """Return the pairs of definitions that are being compared."""
        return self.assumed if self.current is None else self.assumed | {self.current}

    def is_among(self, place: At, choice: At, choice_type: OneOfType) -> bool:
        """Return whether every value of a type is a value of one of the alternatives."""
        allowed = {Effect.NONE, Effect.HARMLESS, Effect.WIDER}
        return any(
            all(difference.effect in allowed for difference in differences)
            for differences in (
                self.try_out(place, choice.inner(alternative, "alternatives", position))
                for position, alternative in enumerate(choice_type.alternatives)
            )
        )

    def try_out(self, old: At, new: At) -> list[Difference]:
        """Compare without findings; too deep, or after too many attempts, everything counts as different."""
        self.steps[0] -= 1
        if self.steps[0] < 0 or self.depth >= _DEPTH_OF_MATCHING:
            return [_difference(TYPE_CHANGED, Effect.OTHER, "too many alternatives to compare", old, new)]
        attempt = TypeComparison(self.old_definitions, self.new_definitions, self.same_definitions)
        attempt.assumed, attempt.depth, attempt.steps = self.ancestors(), self.depth + 1, self.steps
        attempt.roots = self.roots
        return attempt.compare_roots(old, new)

    def weigh(self, old: Json, new: Json) -> Effect:
        """Return how the values that a schema in a keyword allows changed."""
        before, after = old, new
        if self.roots is not None:
            before, after = read_type(old, self.roots.old_layout), read_type(new, self.roots.new_layout)
        if any(isinstance(item, AnyType) and item.keywords.keys() == {"$ref"} for item in (before, after)):
            return Effect.NONE if before == after else Effect.OTHER
        return combined(difference.effect for difference in self.try_out(At(before, ""), At(after, "")))

    def watch_evaluation(self) -> bool:
        """Return whether `unevaluatedProperties` or `unevaluatedItems` is stated anywhere."""
        return self.roots is None or self.roots.watch_evaluation

    def compare_shapes(self, old: At, new: At) -> list[Difference]:
        """Compare two types of one kind in what makes that kind."""
        before, after = old.type, new.type
        differences: list[Difference] = []
        if isinstance(before, ObjectType) and isinstance(after, ObjectType):
            differences = self.compare_properties(old, before, new, after)
        elif isinstance(before, ArrayType) and isinstance(after, ArrayType):
            differences = self.compare_items(old, before.items, new, after.items)
        elif isinstance(before, AllOfType) and isinstance(after, AllOfType):
            differences = self.compare_members(old, before, new, after)
        elif isinstance(before, OneOfType) and isinstance(after, OneOfType):
            differences = self.compare_alternatives(old, before, new, after)
        elif isinstance(before, OpaqueType) and isinstance(after, OpaqueType):
            differences = _compare_class(old, before.class_name, new, after.class_name, "class_name")
        if isinstance(before, ObjectType | AllOfType | OneOfType) and isinstance(
            after, ObjectType | AllOfType | OneOfType
        ):
            differences += _compare_class(
                old, before.qualified_name, new, after.qualified_name, "qualified_name"
            )
        return differences

    def compare_items(self, old: At, before: Type | None, new: At, after: Type | None) -> list[Difference]:
        """Compare what two arrays hold."""
        if before is not None and after is not None:
            return self.compare(old.inner(before, "items"), new.inner(after, "items"))
        if before is None and after is not None:
            inner = new.inner(after, "items")
            message = f"its items are now {_word(after)}"
            return [_added(ITEMS_CHANGED, Effect.NARROWER, message, inner)]
        if before is not None:
            inner = old.inner(before, "items")
            return [_removed(ITEMS_CHANGED, Effect.WIDER, "its items may now be anything", inner)]
        return []

    def compare_properties(self, old: At, before: ObjectType, new: At, after: ObjectType) -> list[Difference]:
        """Compare the properties of two objects by name."""
        differences: list[Difference] = []
        for name, property_ in before.properties.items():
            place = old.inner(property_.type, "properties", name)
            kept = after.properties.get(name)
            if kept is None:
                message = f"{name!r} is gone"
                differences.append(
                    Difference(
                        PROPERTY_REMOVED, Effect.OTHER, message, place.pointer, None, _declared(property_)
                    )
                )
                continue
            here = new.inner(kept.type, "properties", name)
            if property_.required != kept.required:
                message = f"{name!r} is now required" if kept.required else f"{name!r} may now be left out"
                effect = Effect.NARROWER if kept.required else Effect.WIDER
                pointers = (f"{place.pointer}/required", f"{here.pointer}/required")
                differences.append(
                    Difference(
                        REQUIRED_CHANGED, effect, message, *pointers, property_.required, kept.required
                    )
                )
            differences += compare_extensions(
                property_.extensions, place.pointer, kept.extensions, here.pointer
            )
            inner = (place.inner(property_.type, "type"), here.inner(kept.type, "type"))
            differences += self.compare(*inner)
        for name, property_ in after.properties.items():
            if name not in before.properties:
                here = new.inner(property_.type, "properties", name)
                effect = Effect.NARROWER if property_.required else Effect.HARMLESS
                message = f"{name!r} is new{' and required' if property_.required else ''}"
                differences.append(
                    Difference(
                        PROPERTY_ADDED, effect, message, None, here.pointer, None, _declared(property_)
                    )
                )
        return differences + _compare_order(old, before, new, after)

    def compare_members(self, old: At, before: AllOfType, new: At, after: AllOfType) -> list[Difference]:
        """Compare the members of two all-of."""
        olds = [old.inner(member, "members", position) for position, member in enumerate(before.members)]
        news = [new.inner(member, "members", position) for position, member in enumerate(after.members)]
        pairs, gone, come = self.pair_up(olds, news)
        differences = [difference for pair in pairs for difference in self.compare(*pair)]
        differences += [
            _removed(MEMBER_REMOVED, Effect.WIDER, f"{_word(item.type)} is no longer a part", item)
            for item in gone
        ]
        differences += [
            _added(MEMBER_ADDED, Effect.NARROWER, f"{_word(item.type)} is a part now", item) for item in come
        ]
        return differences

    def compare_alternatives(self, old: At, before: OneOfType, new: At, after: OneOfType) -> list[Difference]:
        """Compare the alternatives of two choices."""
        olds = [
            old.inner(alternative, "alternatives", position)
            for position, alternative in enumerate(before.alternatives)
        ]
        news = [
            new.inner(alternative, "alternatives", position)
            for position, alternative in enumerate(after.alternatives)
        ]
        pairs, gone, come = self.pair_up(olds, news)
        differences = [difference for pair in pairs for difference in self.compare(*pair)]
        for item in gone:
            message = f"{_word(item.type)} is no longer a choice"
            differences.append(_removed(ALTERNATIVE_REMOVED, Effect.NARROWER, message, item))
        differences += [
            _added(ALTERNATIVE_ADDED, Effect.WIDER, f"{_word(item.type)} is a choice now", item)
            for item in come
        ]
        if before.exclusive != after.exclusive:
            effect = Effect.NARROWER if after.exclusive else Effect.WIDER
            message = (
                "exactly one alternative applies now"
                if after.exclusive
                else "several alternatives may apply now"
            )
            pointers = (f"{old.pointer}/exclusive", f"{new.pointer}/exclusive")
            differences.append(
                Difference(EXCLUSIVE_CHANGED, effect, message, *pointers, before.exclusive, after.exclusive)
            )
        return differences

    def pair_up(
        self, olds: Sequence[At], news: Sequence[At]
    ) -> tuple[list[tuple[At, At]], list[At], list[At]]:
        """Pair the parts of two lists: equal ones first, then those of one kind in their order.

        Returns:
            The pairs, the old parts without a partner, the new ones without.
        """
        pairs: list[tuple[At, At]] = []
        same: tuple[Callable[[At, At], bool], ...] = (self.are_same, _same_name, _same_kind)
        gone, come = list(olds), list(news)
        for fits in same:
            for item in list(gone):
                partner = next((other for other in come if fits(item, other)), None)
                if partner is not None:
                    pairs.append((item, partner))
                    gone.remove(item)
                    come.remove(partner)
        return pairs, gone, come

    def are_same(self, old: At, new: At) -> bool:
        """Return whether two types allow the same values."""
        return all(item.effect is Effect.NONE for item in self.try_out(old, new))


def is_same(left: Type, right: Type) -> bool:
    """Return whether two types are declared alike; Python takes 1 for True, canonical JSON does not."""
    return left == right and canonical_json(declaration_of(left)) == canonical_json(declaration_of(right))


def _refers(type_: Type) -> bool:
    return next(references_of(type_), None) is not None or has_references(declaration_of(type_))


def _layout_of(root: Type, definitions: Mapping[str, Type]) -> Mapping[str, str]:
    stated = root.extensions.get(NAMESPACE, {}).get("definitions", {})
    return {**{f"{word}/{name}": name for word in CONTAINERS for name in definitions}, **stated}


def _restrict_the_same(stated: Mapping[str, Json], target: Type) -> bool:
    """Return whether both a reference and its definition state a fact of which both hold."""
    keywords = constraints_of(stated.get("keywords", {}))
    listed = stated.get("enum") is not None or "const" in keywords
    if listed and (target.nullable or target.enum is not None or "const" in target.keywords):
        return True
    if any(
        stated.get(name) is not None and getattr(target, name) is not None for name in ("pattern", "format")
    ):
        return True
    return not keywords.keys().isdisjoint(_SHAPES | constraints_of(target.keywords).keys())


def _compare_class(old: At, before: str | None, new: At, after: str | None, name: str) -> list[Difference]:
    if before == after:
        return []
    pointers = (f"{old.pointer}/{name}", f"{new.pointer}/{name}")
    message = f"the class {before or 'without a name'} became {after or 'one without a name'}"
    return [Difference(CLASS_CHANGED, Effect.OTHER, message, *pointers, before, after)]


def _compare_order(old: At, before: ObjectType, new: At, after: ObjectType) -> list[Difference]:
    olds = [name for name in before.properties if name in after.properties]
    news = [name for name in after.properties if name in before.properties]
    if olds == news:
        return []
    pointers = (f"{old.pointer}/properties", f"{new.pointer}/properties")
    return [
        Difference(ORDER_CHANGED, Effect.NONE, "the same properties in another order", *pointers, olds, news)
    ]


def _effect_beside_any(before: Type, after: Type) -> Effect:
    if isinstance(before, AnyType):
        if _is_constrained(before):
            return Effect.OTHER
        return Effect.WIDER if before.boolean is False else Effect.NARROWER
    if _is_constrained(after):
        return Effect.OTHER
    return Effect.NARROWER if isinstance(after, AnyType) and after.boolean is False else Effect.WIDER


def _is_constrained(type_: Type) -> bool:
    return bool(constraints_of(type_.keywords)) or any(
        value is not None for value in (type_.enum, type_.pattern, type_.format)
    )


def _by_order(before: bool, after: bool) -> Effect:  # noqa: FBT001
    if before == after:
        return Effect.NONE
    return Effect.WIDER if after else Effect.NARROWER


def _same_name(old: At, new: At) -> bool:
    return (
        isinstance(old.type, RefType) and isinstance(new.type, RefType) and old.type.name == new.type.name
    ) or _named(old.type, new.type)


def _named(before: Type, after: Type) -> bool:
    name = getattr(before, "qualified_name", None)
    return name is not None and name == getattr(after, "qualified_name", None)


def _same_kind(old: At, new: At) -> bool:
    return old.type.kind == new.type.kind and not isinstance(old.type, RefType)


def _definition(name: str) -> str:
    return f"/definitions/{pointer_token(name)}"


def _declared(part: Json) -> Json:
    return declaration_of(part)


def _word(type_: Type) -> str:
    if isinstance(type_, RefType):
        return type_.name
    return "any value" if isinstance(type_, AnyType) else type_.kind


def _difference(code: str, effect: Effect, message: str, old: At, new: At) -> Difference:
    return Difference(
        code, effect, message, old.pointer, new.pointer, _declared(old.type), _declared(new.type)
    )


def _added(code: str, effect: Effect, message: str, new: At) -> Difference:
    return Difference(code, effect, message, None, new.pointer, None, _declared(new.type))


def _removed(code: str, effect: Effect, message: str, old: At) -> Difference:
    return Difference(code, effect, message, old.pointer, None, _declared(old.type))

"""Comparing types: which values the new type allows and the old one did not, and the other way round.

A difference says how the set of allowed values changed; whether that hurts depends on the direction. Callers
give inputs, so a narrower input breaks them; callers take outputs, so a wider output does. Objects are read
as callers use them: one more optional property hurts nobody, a missing one hurts who gave or read it.
The alternatives of an exclusive choice are taken to be apart from each other.

Every keyword of a schema that the types keep verbatim restricts its values apart from the others, so a
keyword that appears refuses values and one that goes away lets values in. A schema inside a keyword is read
and compared as a type. What is not decided counts as neither wider nor narrower.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Context, Decimal
from functools import cached_property
from itertools import combinations
from typing import Final

from droidgate_mappings.compare.changes import (
    ALTERNATIVE_ADDED,
    ALTERNATIVE_REMOVED,
    CLASS_CHANGED,
    DEFINITION_RENAMED,
    ENUM_CHANGED,
    EXCLUSIVE_CHANGED,
    EXTENSION_CHANGED,
    FORMAT_CHANGED,
    ITEMS_CHANGED,
    KEYWORD_CHANGED,
    MEMBER_ADDED,
    MEMBER_REMOVED,
    NOTATION_CHANGED,
    NULLABLE_CHANGED,
    ORDER_CHANGED,
    PATTERN_CHANGED,
    PROPERTY_ADDED,
    PROPERTY_REMOVED,
    REQUIRED_CHANGED,
    TEXT_CHANGED,
    TYPE_CHANGED,
    At,
    Difference,
    Effect,
)
from droidgate_mappings.json_schema import NAMESPACE, read_type
from droidgate_mappings.json_schema.schema_words import (
    CONTAINERS,
    WORD_OF_KIND,
    is_schema_list,
    is_schema_map,
)
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
    Type,
)
from droidgate_mappings.tables.loading import find_format_tables

_LEAST: Final = {"minLength", "minItems", "minProperties", "minContains"}
_MOST: Final = {"maxLength", "maxItems", "maxProperties", "maxContains"}
_LOWER_BOUNDS: Final = _LEAST | {"minimum", "exclusiveMinimum"}
_UPPER_BOUNDS: Final = _MOST | {"maximum", "exclusiveMaximum"}
_WORDS: Final = {"title", "$comment", "examples", "example", "deprecated"}
_CONTENT: Final = {"contentEncoding", "contentMediaType", "contentSchema"}
_HARMLESS: Final = {"default", "readOnly", "writeOnly", "$id", "$schema", "$anchor"} | _CONTENT
_DEFAULTS: Final[dict[str, Json]] = {
    **dict.fromkeys(("minLength", "minItems", "minProperties"), 0),
    "minContains": 1,
    "uniqueItems": False,
}
_UNEVALUATED: Final = frozenset({"unevaluatedItems", "unevaluatedProperties"})
_SCHEMAS: Final = frozenset({"additionalProperties", "contains", "items", "propertyNames"}) | _UNEVALUATED
"""Keywords with one schema, which allow more where it does."""
_LISTS: Final = frozenset({"anyOf", "oneOf", "allOf"})
_MAPS: Final = frozenset({"patternProperties", "dependentSchemas", "properties"})
_CONDITION: Final = ("if", "then", "else")
_OF_TEXTS: Final = ("minLength", "maxLength")
_OF_NUMBERS: Final = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
_OF_LISTS: Final = (
    *("items", "prefixItems", "unevaluatedItems", "minItems", "maxItems", "uniqueItems"),
    *("contains", "minContains", "maxContains"),
)
_OF_OBJECTS: Final = (
    *("properties", "patternProperties", "additionalProperties", "unevaluatedProperties", "propertyNames"),
    *("required", "dependentRequired", "dependentSchemas", "minProperties", "maxProperties"),
)
_KINDS_OF_KEYWORD: Final[Mapping[str, frozenset[str]]] = {
    **dict.fromkeys(_OF_TEXTS, frozenset({"string", "bytes"})),
    **dict.fromkeys(_OF_NUMBERS, frozenset({"int32", "int64", "float", "double"})),
    **dict.fromkeys(_OF_LISTS, frozenset({"array"})),
    **dict.fromkeys(_OF_OBJECTS, frozenset({"object"})),
}
"""The only kinds whose values a keyword may refuse."""
_ALL_WORDS: Final = frozenset(WORD_OF_KIND.values())
_SAME: Final = (NOTATION_CHANGED, Effect.NONE)
_EXACT: Final = Context(prec=8192)
"""Digits enough for the quotient of any two numbers that the reader of JSON lets through."""


def compare_keywords(old: At, new: At, schemas: TypeComparison) -> list[Difference]:
    """Return the differences of the keywords of two types, but for those that list values."""
    olds, news = old.type.keywords, new.type.keywords
    differences = []
    for keyword in dict.fromkeys([*olds, *news]):
        is_same = keyword in olds and keyword in news and json_equal(olds[keyword], news[keyword])
        if keyword in {"const", "enum"} or (is_same and not has_references({keyword: olds[keyword]})):
            continue
        code, effect = _weigh_keyword(keyword, old.type, new.type, schemas)
        if is_same and effect is Effect.NONE:
            continue
        message = _message(keyword, olds, news, effect, is_same=is_same)
        pointers = (f"{old.pointer}/keywords", f"{new.pointer}/keywords")
        differences.append(_member(code, effect, message, pointers, keyword, olds, news))
    return differences


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


def listed_values(type_: Type) -> list[Json] | None:
    """Return the only values that `enum` and `const` allow; None where neither is stated.

    Null is among them only where `nullable` does not say whether it is allowed.
    """
    stated = type_.keywords.get("enum")
    values = stated if isinstance(stated, list) else None
    if values is None and type_.enum is not None:
        values = list(type_.enum)
    if "const" in type_.keywords:
        constant = type_.keywords["const"]
        values = [constant] if values is None or is_in(constant, values) else []
    if values is None or (type_.kind == "null" and is_in(None, values)):
        return None
    says_null = type_.nullable or type_.kind in WORD_OF_KIND
    return [value for value in values if value is not None or not says_null]


def is_in(value: Json, values: Iterable[Json]) -> bool:
    """Return whether a JSON value is one of others."""
    return any(json_equal(value, other) for other in values)


def combined(effects: Iterable[Effect]) -> Effect:
    """Return the effect of several changes of which each affects the whole in its direction."""
    left = set(effects) - {Effect.NONE}
    if len(left) > 1:
        left.discard(Effect.HARMLESS)
    if not left:
        return Effect.NONE
    return left.pop() if len(left) == 1 else Effect.OTHER


def constraints_of(keywords: Mapping[str, Json]) -> dict[str, Json]:
    """Return the keywords that may refuse a value."""
    return {
        word: value
        for word, value in keywords.items()
        if word not in _WORDS and word not in _HARMLESS and not word.startswith("x-")
    }


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
    if not isinstance(type_, RefType):
        return False
    names_it = (
        isinstance(value, list) and value and isinstance(value[0], Mapping) and value[0].keys() == {"$ref"}
    )
    return word == "$ref" or (word == "anyOf" and type_.nullable and bool(names_it))


def _message(
    keyword: str, olds: Mapping[str, Json], news: Mapping[str, Json], effect: Effect, *, is_same: bool
) -> str:
    message = f"{keyword!r} is new"
    if keyword in olds:
        message = f"{keyword!r} changed" if keyword in news else f"{keyword!r} is gone"
    if is_same:
        message = f"what {keyword!r} refers to changed"
    if effect is Effect.OTHER:
        message += ", neither clearly to more values nor clearly to fewer"
    return message


def _weigh_keyword(keyword: str, before: Type, after: Type, schemas: TypeComparison) -> tuple[str, Effect]:
    olds, news = without_notation(before), without_notation(after)
    if keyword in _WORDS:
        return TEXT_CHANGED, Effect.NONE
    if keyword in _HARMLESS or keyword.startswith("x-"):
        return KEYWORD_CHANGED, Effect.HARMLESS
    if keyword not in olds and keyword not in news:
        return _SAME
    if not _applies(keyword, before) and not _applies(keyword, after):
        return _SAME
    if keyword == "required":
        return _by_sets(_required_elsewhere(before), _required_elsewhere(after))
    if keyword == "type":
        fewer, more = (_words(item.get(keyword, [*_ALL_WORDS])) for item in (news, olds))
        return _by_sets(fewer, more) if fewer and more else (KEYWORD_CHANGED, Effect.OTHER)
    effect = _weigh_schemas(keyword, olds, news, schemas)
    if effect is not None:
        if keyword not in {"not", "propertyNames", "dependentSchemas"} and schemas.watch_evaluation():
            effect = Effect.OTHER
        return _SAME if effect is Effect.NONE else (KEYWORD_CHANGED, effect)
    default = _DEFAULTS.get(keyword)
    if (keyword not in olds or keyword not in news) and default is None:
        return KEYWORD_CHANGED, Effect.NARROWER if keyword not in olds else Effect.WIDER
    return _weigh_values(keyword, olds.get(keyword, default), news.get(keyword, default))


def _applies(keyword: str, type_: Type) -> bool:
    """Return whether a keyword may refuse a value of a type."""
    kinds = _KINDS_OF_KEYWORD.get(keyword)
    if kinds is None or type_.kind in kinds or type_.kind not in WORD_OF_KIND:
        return True
    return type_.implicit and isinstance(type_, ObjectType | ArrayType)


def _weigh_schemas(
    keyword: str, olds: Mapping[str, Json], news: Mapping[str, Json], schemas: TypeComparison
) -> Effect | None:
    """Return the effect of another schema in a keyword; None where the keyword has none."""
    both = (olds, news)
    stated = [keywords[keyword] for keywords in both if keyword in keywords]
    if keyword in _LISTS and all(is_schema_list(value) and value for value in stated):
        # A member that allows everything keeps an `allOf` of one member what it is.
        more = [True] if keyword == "allOf" else []
        before, after = ({keyword: [*item[keyword], *more]} if keyword in item else True for item in both)
        return schemas.weigh(before, after)
    if keyword == "$ref" and all(isinstance(value, str) for value in stated):
        before, after = ({keyword: item[keyword]} if keyword in item else True for item in both)
        return schemas.weigh(before, after)
    if keyword == "prefixItems" and all(map(is_schema_list, stated)):
        return _weigh_first_items(*both, schemas)
    if keyword in _MAPS and all(map(is_schema_map, stated)):
        return _weigh_map(keyword, *both, schemas)
    if not all(isinstance(value, Mapping | bool) for value in stated):
        return None
    if keyword == "not":
        return _turned(schemas.weigh(olds.get(keyword, False), news.get(keyword, False)))
    if keyword in _CONDITION:
        return _weigh_condition(keyword, *both, schemas)
    if keyword not in _SCHEMAS or (keyword == "contains" and len(stated) == 1):
        return None
    effect = schemas.weigh(olds.get(keyword, True), news.get(keyword, True))
    counted = keyword == "contains" and any("maxContains" in item for item in both)
    return Effect.OTHER if counted and effect is not Effect.NONE else effect


def _turned(effect: Effect) -> Effect:
    turned = {Effect.WIDER: Effect.NARROWER, Effect.NARROWER: Effect.WIDER, Effect.NONE: Effect.NONE}
    return turned.get(effect, Effect.OTHER)


def _weigh_condition(
    keyword: str, olds: Mapping[str, Json], news: Mapping[str, Json], schemas: TypeComparison
) -> Effect:
    both = (olds, news)
    if keyword != "if":
        before, after = (item.get(keyword, True) if "if" in item else True for item in both)
        return schemas.weigh(before, after)
    if "if" in olds and "if" in news:
        effect = schemas.weigh(olds["if"], news["if"])
        return effect if effect is Effect.NONE else Effect.OTHER
    return combined(_weigh_condition(branch, *both, schemas) for branch in ("then", "else"))


def _weigh_first_items(olds: Mapping[str, Json], news: Mapping[str, Json], schemas: TypeComparison) -> Effect:
    lists = [item.get("prefixItems", []) for item in (olds, news)]
    if len(lists[0]) != len(lists[1]):
        return Effect.OTHER
    return combined(schemas.weigh(*pair) for pair in zip(*lists, strict=True))


def _weigh_map(
    keyword: str, olds: Mapping[str, Json], news: Mapping[str, Json], schemas: TypeComparison
) -> Effect:
    before, after = olds.get(keyword, {}), news.get(keyword, {})
    is_open = all(item.get("additionalProperties", True) is True for item in (olds, news))
    if before.keys() != after.keys() and keyword != "dependentSchemas" and not is_open:
        return Effect.OTHER
    if keyword == "properties" and before.keys() - after.keys():
        return Effect.OTHER
    return combined(
        schemas.weigh(before.get(name, True), after.get(name, True)) for name in {**before, **after}
    )


def _weigh_values(keyword: str, olds: Json, news: Json) -> tuple[str, Effect]:
    if json_equal(olds, news):
        return _SAME
    if isinstance(olds, bool) and isinstance(news, bool):
        return KEYWORD_CHANGED, Effect.NARROWER if news else Effect.WIDER
    if not (_is_number(olds) and _is_number(news)):
        return KEYWORD_CHANGED, Effect.OTHER
    left, right = Decimal(str(olds)), Decimal(str(news))
    if keyword in _LOWER_BOUNDS or keyword in _UPPER_BOUNDS:
        narrower = (left < right) == (keyword in _LOWER_BOUNDS)
        return KEYWORD_CHANGED, Effect.NARROWER if narrower else Effect.WIDER
    if keyword == "multipleOf" and left and right:
        narrower, wider = not _EXACT.remainder(right, left), not _EXACT.remainder(left, right)
        return KEYWORD_CHANGED, Effect.NARROWER if narrower else Effect.WIDER if wider else Effect.OTHER
    return KEYWORD_CHANGED, Effect.OTHER


def _words(stated: Json) -> set[str] | None:
    """Return the types that a `type` keyword allows; None where it is malformed."""
    words = [stated] if isinstance(stated, str) else stated
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        return None
    return {*words, "integer"} if "number" in words else set(words)


def _required_elsewhere(type_: Type) -> set[str]:
    """Return the names that a schema requires without describing them."""
    required = type_.keywords.get("required", [])
    described = type_.properties if isinstance(type_, ObjectType) else {}
    return {name for name in required if isinstance(name, str) and name not in described}


def _by_sets(olds: set[str], news: set[str]) -> tuple[str, Effect]:
    """Return what it means that more is required, or less."""
    if olds == news:
        return _SAME
    if olds < news:
        return KEYWORD_CHANGED, Effect.NARROWER
    return KEYWORD_CHANGED, Effect.WIDER if news < olds else Effect.OTHER


def _is_number(value: Json) -> bool:
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


_SAME_VALUES: Final = (NOTATION_CHANGED, Effect.NONE, "the same values, written down in another way")


def compare_facts(
    old: At, new: At, schemas: TypeComparison, *, are_arguments: bool = False
) -> list[Difference]:
    """Return the differences of two types in everything but kind, shape and whether null is allowed.

    Args:
        old: The old type.
        new: The new type.
        schemas: Weighs the schemas in keywords.
        are_arguments: The types are those of all arguments of a call, which are an object in any case.
    """
    before, after = old.type, new.type
    differences = _compare_values(old, new)
    differences += _compare_word(old, before.pattern, new, after.pattern, "pattern", PATTERN_CHANGED)
    differences += _compare_word(old, before.format, new, after.format, "format", FORMAT_CHANGED)
    differences += compare_keywords(old, new, schemas)
    if before.implicit != after.implicit:
        message = "the type is now named" if before.implicit else "the type is no longer named"
        narrower = _may_be_another_kind(before) - _may_be_another_kind(after)
        code, effect = NOTATION_CHANGED, Effect.NONE
        if narrower and not are_arguments:
            code, effect = TYPE_CHANGED, Effect.NARROWER if narrower > 0 else Effect.WIDER
        differences.append(
            _leaf(code, effect, message, (old, new), "implicit", before.implicit, after.implicit)
        )
    if before.description != after.description:
        texts = (before.description, after.description)
        differences.append(
            _leaf(TEXT_CHANGED, Effect.NONE, "the description changed", (old, new), "description", *texts)
        )
    return differences + compare_extensions(before.extensions, old.pointer, after.extensions, new.pointer)


def compare_nullable(old: At, new: At) -> list[Difference]:
    """Compare whether null is allowed."""
    before, after = _allows_null(old.type), _allows_null(new.type)
    if before == after:
        return []
    message = "null is allowed now" if after else "null is no longer allowed"
    effect = Effect.WIDER if after else Effect.NARROWER
    return [_leaf(NULLABLE_CHANGED, effect, message, (old, new), "nullable", before, after)]


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
            message = f"{fact!r} of {format_id} changed"
            differences.append(
                _member(EXTENSION_CHANGED, Effect.HARMLESS, message, pointers, fact, olds, news)
            )
    return differences


def _is_file_name(format_id: str, fact: str) -> bool:
    tables = find_format_tables(format_id)
    return tables is not None and fact in tables.file_names


def _compare_values(old: At, new: At) -> list[Difference]:
    """Compare the lists of allowed values; a `const` is a list with one value.

    Where several places state the values, the first that differs is reported with what changed.
    """
    olds, news = _statements_of_values(old.type), _statements_of_values(new.type)
    names = [(name, name) for name in dict.fromkeys([*olds, *news])]
    if len(olds) == len(news) == 1:
        names = [(next(iter(olds)), next(iter(news)))]
    verdict = _weigh_lists(listed_values(old.type), listed_values(new.type))
    differences = []
    for old_name, new_name in names:
        before, after = olds.get(old_name), news.get(new_name)
        if old_name != new_name or not json_equal(before, after):
            pointers = (f"{old.pointer}/{old_name}", f"{new.pointer}/{new_name}")
            values = (item and item[0] for item in (before, after))
            differences.append(Difference(*verdict, *pointers, *values))
            verdict = _SAME_VALUES
    return differences


def _statements_of_values(type_: Type) -> dict[str, list[Json]]:
    """Return what states the allowed values, each in a list of its own, by place in the type."""
    stated = {} if type_.enum is None else {"enum": [list(type_.enum)]}
    words = {
        f"keywords/{word}": [type_.keywords[word]] for word in ("const", "enum") if word in type_.keywords
    }
    return {**stated, **words}


def _weigh_lists(before: list[Json] | None, after: list[Json] | None) -> tuple[str, Effect, str]:
    if before is None and after is None:
        return _SAME_VALUES
    if before is None or after is None:
        effect = Effect.NARROWER if before is None else Effect.WIDER
        message = "only some values are allowed now" if before is None else "any value is allowed now"
        return ENUM_CHANGED, effect, message
    gone = [item for item in before if not is_in(item, after)]
    come = [item for item in after if not is_in(item, before)]
    if not gone and not come:
        if len(before) == len(after) and all(map(json_equal, before, after)):
            return _SAME_VALUES
        return ORDER_CHANGED, Effect.NONE, "the same values in another order"
    effect = Effect.OTHER if gone and come else Effect.NARROWER if gone else Effect.WIDER
    parts = [f"no longer allowed: {_listed(gone)}"] if gone else []
    parts += [f"newly allowed: {_listed(come)}"] if come else []
    return ENUM_CHANGED, effect, "; ".join(parts)


def _compare_word(
    old: At, before: str | None, new: At, after: str | None, name: str, code: str
) -> list[Difference]:
    if before == after:
        return []
    effect, message = Effect.OTHER, f"another {name} is required"
    if before is None:
        effect, message = Effect.NARROWER, f"a {name} is now required"
    elif after is None:
        effect, message = Effect.WIDER, f"no {name} is required any more"
    return [_leaf(code, effect, message, (old, new), name, before, after)]


def _may_be_another_kind(type_: Type) -> bool:
    """Return whether values of another kind than the one that the keywords speak of are allowed."""
    if not type_.implicit or not isinstance(type_, ObjectType | ArrayType):
        return False
    values = listed_values(type_)
    container = dict if isinstance(type_, ObjectType) else list
    return values is None or not all(isinstance(value, container) for value in values)


def _allows_null(type_: Type) -> bool:
    return type_.nullable or type_.kind == "null"


def _listed(values: list[Json], most: int = 5) -> str:
    shown = ", ".join(canonical_json(value) for value in values[:most])
    return f"{shown} and {len(values) - most} more" if len(values) > most else shown


def _leaf(
    code: str, effect: Effect, message: str, places: tuple[At, At], name: str, before: Json, after: Json
) -> Difference:
    """Return the difference of one fact of two types."""
    old, new = (f"{place.pointer}/{name}" for place in places)
    return Difference(code, effect, message, old, new, before, after)


_STEPS_OF_MATCHING: Final = 20_000
_DEPTH_OF_MATCHING: Final = 5
_WIDER_KINDS: Final = {*combinations(("int32", "int64", "float", "double"), 2), ("bytes", "string")}
_OF_SHAPE: Final = {"type", "properties", "required", "additionalProperties", "items", "prefixItems"}
_SHAPES: Final = _OF_SHAPE | _LISTS
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
        pair = (old_type.name, new_type.name)
        if old_type.name != new_type.name:
            message = f"the type {old_type.name!r} goes by {new_type.name!r}"
            differences.append(_leaf(DEFINITION_RENAMED, Effect.NONE, message, (old, new), "name", *pair))
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
                self.try_out(place, item) for item in choice.all(choice_type.alternatives, "alternatives")
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
        """Return whether `unevaluatedProperties` or `unevaluatedItems` is stated anywhere.

        Then a schema that refuses nothing of its own may have them refuse less.
        """
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
        if after is not None:
            message = f"its items are now {_word(after)}"
            return [_added(ITEMS_CHANGED, Effect.NARROWER, message, new.inner(after, "items"))]
        if before is not None:
            message = "its items may now be anything"
            return [_removed(ITEMS_CHANGED, Effect.WIDER, message, old.inner(before, "items"))]
        return []

    def compare_properties(self, old: At, before: ObjectType, new: At, after: ObjectType) -> list[Difference]:
        """Compare the properties of two objects by name."""
        differences: list[Difference] = []
        for name, property_ in before.properties.items():
            place = old.inner(property_.type, "properties", name)
            kept = after.properties.get(name)
            if kept is None:
                gone = (f"{name!r} is gone", place.pointer, None, declaration_of(property_))
                differences.append(Difference(PROPERTY_REMOVED, Effect.OTHER, *gone))
                continue
            here = new.inner(kept.type, "properties", name)
            if property_.required != kept.required:
                message = f"{name!r} is now required" if kept.required else f"{name!r} may now be left out"
                effect = Effect.NARROWER if kept.required else Effect.WIDER
                stated = (property_.required, kept.required)
                differences.append(
                    _leaf(REQUIRED_CHANGED, effect, message, (place, here), "required", *stated)
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
                come = (None, here.pointer, None, declaration_of(property_))
                differences.append(Difference(PROPERTY_ADDED, effect, message, *come))
        return differences + _compare_order(old, before, new, after)

    def compare_members(self, old: At, before: AllOfType, new: At, after: AllOfType) -> list[Difference]:
        """Compare the members of two all-of."""
        word = "members"
        pairs, gone, come = self.pair_up(old.all(before.members, word), new.all(after.members, word))
        differences = [difference for pair in pairs for difference in self.compare(*pair)]
        for item in gone:
            message = f"{_word(item.type)} is no longer a part"
            differences.append(_removed(MEMBER_REMOVED, Effect.WIDER, message, item))
        for item in come:
            message = f"{_word(item.type)} is a part now"
            differences.append(_added(MEMBER_ADDED, Effect.NARROWER, message, item))
        return differences

    def compare_alternatives(self, old: At, before: OneOfType, new: At, after: OneOfType) -> list[Difference]:
        """Compare the alternatives of two choices."""
        word = "alternatives"
        pairs, gone, come = self.pair_up(
            old.all(before.alternatives, word), new.all(after.alternatives, word)
        )
        differences = [difference for pair in pairs for difference in self.compare(*pair)]
        for item in gone:
            message = f"{_word(item.type)} is no longer a choice"
            differences.append(_removed(ALTERNATIVE_REMOVED, Effect.NARROWER, message, item))
        for item in come:
            message = f"{_word(item.type)} is a choice now"
            differences.append(_added(ALTERNATIVE_ADDED, Effect.WIDER, message, item))
        if before.exclusive != after.exclusive:
            effect, message = Effect.WIDER, "several alternatives may apply now"
            if after.exclusive:
                effect, message = Effect.NARROWER, "exactly one alternative applies now"
            stated = (before.exclusive, after.exclusive)
            differences.append(_leaf(EXCLUSIVE_CHANGED, effect, message, (old, new), "exclusive", *stated))
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
    message = f"the class {before or 'without a name'} became {after or 'one without a name'}"
    return [_leaf(CLASS_CHANGED, Effect.OTHER, message, (old, new), name, before, after)]


def _compare_order(old: At, before: ObjectType, new: At, after: ObjectType) -> list[Difference]:
    olds = [name for name in before.properties if name in after.properties]
    news = [name for name in after.properties if name in before.properties]
    if olds == news:
        return []
    message = "the same properties in another order"
    return [_leaf(ORDER_CHANGED, Effect.NONE, message, (old, new), "properties", olds, news)]


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


def _word(type_: Type) -> str:
    if isinstance(type_, RefType):
        return type_.name
    return "any value" if isinstance(type_, AnyType) else type_.kind


def _difference(code: str, effect: Effect, message: str, old: At, new: At) -> Difference:
    types = (declaration_of(old.type), declaration_of(new.type))
    return Difference(code, effect, message, old.pointer, new.pointer, *types)


def _added(code: str, effect: Effect, message: str, new: At) -> Difference:
    return Difference(code, effect, message, None, new.pointer, None, declaration_of(new.type))


def _removed(code: str, effect: Effect, message: str, old: At) -> Difference:
    return Difference(code, effect, message, old.pointer, None, declaration_of(old.type))

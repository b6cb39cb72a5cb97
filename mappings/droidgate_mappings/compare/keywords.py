"""Comparing the JSON Schema keywords that the types keep verbatim.

Every keyword of a schema restricts its values apart from the others, so a keyword that appears refuses values
and one that goes away lets values in. A schema inside a keyword is read and compared as a type. What is not
decided counts as neither wider nor narrower.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Context, Decimal
from typing import Final, Protocol

from droidgate_mappings.compare.changes import (
    KEYWORD_CHANGED,
    NOTATION_CHANGED,
    TEXT_CHANGED,
    At,
    Difference,
    Effect,
)
from droidgate_mappings.json_schema.schema_words import WORD_OF_KIND, is_schema_list, is_schema_map
from droidgate_mappings.model.json_values import Json, canonical_json, json_equal, pointer_token
from droidgate_mappings.model.types import ArrayType, ObjectType, RefType, Type

_LOWER_BOUNDS: Final = {
    "minimum",
    "exclusiveMinimum",
    "minLength",
    "minItems",
    "minProperties",
    "minContains",
}
_UPPER_BOUNDS: Final = {
    "maximum",
    "exclusiveMaximum",
    "maxLength",
    "maxItems",
    "maxProperties",
    "maxContains",
}
_WORDS: Final = {"title", "$comment", "examples", "example", "deprecated"}
_HARMLESS: Final = {
    "default",
    "readOnly",
    "writeOnly",
    "contentEncoding",
    "contentMediaType",
    "contentSchema",
    "$id",
    "$schema",
    "$anchor",
}
_DEFAULTS: Final[dict[str, Json]] = {
    "uniqueItems": False,
    "minLength": 0,
    "minItems": 0,
    "minProperties": 0,
    "minContains": 1,
}
_SCHEMAS: Final = frozenset(
    {
        "additionalProperties",
        "contains",
        "items",
        "propertyNames",
        "unevaluatedItems",
        "unevaluatedProperties",
    }
)
"""Keywords with one schema, which allow more where it does."""
_LISTS: Final = frozenset({"anyOf", "oneOf", "allOf"})
_MAPS: Final = frozenset({"patternProperties", "dependentSchemas", "properties"})
_CONDITION: Final = ("if", "then", "else")
_NUMBERS: Final = frozenset({"int32", "int64", "float", "double"})
_KINDS_OF_KEYWORD: Final[Mapping[str, frozenset[str]]] = {
    **dict.fromkeys(("minLength", "maxLength"), frozenset({"string", "bytes"})),
    **dict.fromkeys(
        ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
        _NUMBERS,
    ),
    **dict.fromkeys(
        (
            "items",
            "prefixItems",
            "contains",
            "minContains",
            "maxContains",
            "minItems",
            "maxItems",
            "uniqueItems",
            "unevaluatedItems",
        ),
        frozenset({"array"}),
    ),
    **dict.fromkeys(
        (
            "properties",
            "required",
            "additionalProperties",
            "patternProperties",
            "propertyNames",
            "minProperties",
            "maxProperties",
            "dependentRequired",
            "dependentSchemas",
            "unevaluatedProperties",
        ),
        frozenset({"object"}),
    ),
}
"""The only kinds whose values a keyword may refuse."""
_ALL_WORDS: Final = frozenset(WORD_OF_KIND.values())
_SAME: Final = (NOTATION_CHANGED, Effect.NONE)
_EXACT: Final = Context(prec=8192)
"""Digits enough for the quotient of any two numbers that the reader of JSON lets through."""


class Schemas(Protocol):
    """Weighs the schemas in the keywords of two types."""

    def weigh(self, old: Json, new: Json) -> Effect:
        """Return how the values that a schema allows changed."""

    def watch_evaluation(self) -> bool:
        """Return whether `unevaluatedProperties` or `unevaluatedItems` is stated anywhere.

        Then a schema that refuses nothing of its own may have them refuse less.
        """


def compare_keywords(old: At, new: At, schemas: Schemas) -> list[Difference]:
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
        suffix = f"/keywords/{pointer_token(keyword)}"
        differences.append(
            Difference(
                code,
                effect,
                _message(keyword, olds, news, effect, is_same=is_same),
                f"{old.pointer}{suffix}" if keyword in olds else None,
                f"{new.pointer}{suffix}" if keyword in news else None,
                olds.get(keyword),
                news.get(keyword),
            )
        )
    return differences


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


def _weigh_keyword(keyword: str, before: Type, after: Type, schemas: Schemas) -> tuple[str, Effect]:
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
    keyword: str, olds: Mapping[str, Json], news: Mapping[str, Json], schemas: Schemas
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
    keyword: str, olds: Mapping[str, Json], news: Mapping[str, Json], schemas: Schemas
) -> Effect:
    both = (olds, news)
    if keyword != "if":
        before, after = (item.get(keyword, True) if "if" in item else True for item in both)
        return schemas.weigh(before, after)
    if "if" in olds and "if" in news:
        effect = schemas.weigh(olds["if"], news["if"])
        return effect if effect is Effect.NONE else Effect.OTHER
    return combined(_weigh_condition(branch, *both, schemas) for branch in ("then", "else"))


def _weigh_first_items(olds: Mapping[str, Json], news: Mapping[str, Json], schemas: Schemas) -> Effect:
    lists = [item.get("prefixItems", []) for item in (olds, news)]
    if len(lists[0]) != len(lists[1]):
        return Effect.OTHER
    return combined(schemas.weigh(*pair) for pair in zip(*lists, strict=True))


def _weigh_map(keyword: str, olds: Mapping[str, Json], news: Mapping[str, Json], schemas: Schemas) -> Effect:
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

"""Comparing what types of every shape may state: constraints, keywords, words."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Context, Decimal
from typing import Final

from droidgate.compare.changes import (
    ENUM_CHANGED,
    EXTENSION_CHANGED,
    FORMAT_CHANGED,
    KEYWORD_CHANGED,
    NOTATION_CHANGED,
    NULLABLE_CHANGED,
    ORDER_CHANGED,
    PATTERN_CHANGED,
    TEXT_CHANGED,
)
from droidgate.compare.differences import At, Difference, Effect
from droidgate.model.json_values import Json, canonical_json, json_equal, pointer_token
from droidgate.model.types import Extensions, ObjectType, Type
from droidgate_mappings.tables import find_format_tables

_LOWER_BOUNDS: Final = {"minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"}
_UPPER_BOUNDS: Final = {"maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"}
_WORDS: Final = {"title", "$comment", "examples", "example", "deprecated", "$id", "$schema", "$anchor"}
_HARMLESS: Final = {
    "default",
    "readOnly",
    "writeOnly",
    "contentEncoding",
    "contentMediaType",
    "contentSchema",
}
_SPELLINGS: Final = {
    "type",
    "required",
    "properties",
    "enum",
    "$ref",
    "anyOf",
    "oneOf",
    "allOf",
    "items",
    "const",
}
_DEFAULTS: Final[dict[str, Json]] = {
    "additionalProperties": True,
    "unevaluatedProperties": True,
    "unevaluatedItems": True,
    "propertyNames": True,
    "uniqueItems": False,
    "minLength": 0,
    "minItems": 0,
    "minProperties": 0,
}


_EXACT: Final = Context(prec=8192)
"""Digits enough for the quotient of any two numbers that the reader of JSON lets through."""


def compare_facts(old: At, new: At) -> list[Difference]:
    """Return the differences of two types in everything but kind, shape and whether null is allowed."""
    before, after = old.type, new.type
    differences = _compare_enum(old, new)
    differences += _compare_word(old, before.pattern, new, after.pattern, "pattern", PATTERN_CHANGED)
    differences += _compare_word(old, before.format, new, after.format, "format", FORMAT_CHANGED)
    for keyword in dict.fromkeys([*before.keywords, *after.keywords]):
        differences += _compare_keyword(old, new, keyword)
    if before.implicit != after.implicit:
        message = "the type is now named" if before.implicit else "the type is no longer named"
        differences.append(
            _leaf(
                NOTATION_CHANGED,
                Effect.NONE,
                message,
                (old, new),
                "implicit",
                before.implicit,
                after.implicit,
            )
        )
    if before.description != after.description:
        differences.append(
            _leaf(
                TEXT_CHANGED,
                Effect.NONE,
                "the description changed",
                (old, new),
                "description",
                before.description,
                after.description,
            )
        )
    return differences + compare_extensions(before.extensions, old.pointer, after.extensions, new.pointer)


def compare_nullable(old: At, new: At) -> list[Difference]:
    """Compare whether null is allowed."""
    before, after = _allows_null(old.type), _allows_null(new.type)
    if before == after:
        return []
    message = "null is allowed now" if after else "null is no longer allowed"
    effect = Effect.WIDER if after else Effect.NARROWER
    return [
        Difference(
            NULLABLE_CHANGED,
            effect,
            message,
            f"{old.pointer}/nullable",
            f"{new.pointer}/nullable",
            before,
            after,
        )
    ]


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
            suffix = f"/extensions/{pointer_token(format_id)}/{pointer_token(fact)}"
            differences.append(
                Difference(
                    EXTENSION_CHANGED,
                    Effect.HARMLESS,
                    f"{fact!r} of {format_id} changed",
                    f"{old_pointer}{suffix}" if fact in olds else None,
                    f"{new_pointer}{suffix}" if fact in news else None,
                    olds.get(fact),
                    news.get(fact),
                )
            )
    return differences


def _is_file_name(format_id: str, fact: str) -> bool:
    tables = find_format_tables(format_id)
    return tables is not None and fact in tables.file_names


def _compare_enum(old: At, new: At) -> list[Difference]:
    before, after = old.type.enum, new.type.enum
    if before is None and after is None:
        return []
    if before is None or after is None:
        effect = Effect.NARROWER if before is None else Effect.WIDER
        message = "only some values are allowed now" if before is None else "any value is allowed now"
        return [_leaf(ENUM_CHANGED, effect, message, (old, new), "enum", before, after)]
    gone = [item for item in before if not _is_in(item, after)]
    come = [item for item in after if not _is_in(item, before)]
    if not gone and not come:
        if len(before) == len(after) and all(map(json_equal, before, after)):
            return []
        message = "the same values in another order"
        return [_leaf(ORDER_CHANGED, Effect.NONE, message, (old, new), "enum", before, after)]
    effect = Effect.OTHER if gone and come else Effect.NARROWER if gone else Effect.WIDER
    parts = [f"no longer allowed: {_listed(gone)}"] if gone else []
    parts += [f"newly allowed: {_listed(come)}"] if come else []
    return [_leaf(ENUM_CHANGED, effect, "; ".join(parts), (old, new), "enum", before, after)]


def _compare_word(
    old: At, before: str | None, new: At, after: str | None, name: str, code: str
) -> list[Difference]:
    if before == after:
        return []
    if before is None:
        return [_leaf(code, Effect.NARROWER, f"a {name} is now required", (old, new), name, before, after)]
    if after is None:
        return [_leaf(code, Effect.WIDER, f"no {name} is required any more", (old, new), name, before, after)]
    return [_leaf(code, Effect.OTHER, f"another {name} is required", (old, new), name, before, after)]


def _compare_keyword(old: At, new: At, keyword: str) -> list[Difference]:
    olds, news = old.type.keywords, new.type.keywords
    if keyword in olds and keyword in news and json_equal(olds[keyword], news[keyword]):
        return []
    code, effect = _weigh_keyword(keyword, old.type, new.type)
    suffix = f"/keywords/{pointer_token(keyword)}"
    return [
        Difference(
            code,
            effect,
            _keyword_message(keyword, olds, news),
            f"{old.pointer}{suffix}" if keyword in olds else None,
            f"{new.pointer}{suffix}" if keyword in news else None,
            olds.get(keyword),
            news.get(keyword),
        )
    ]


def _keyword_message(keyword: str, olds: Mapping[str, Json], news: Mapping[str, Json]) -> str:
    if keyword not in olds:
        return f"{keyword!r} is new"
    return f"{keyword!r} changed" if keyword in news else f"{keyword!r} is gone"


def _weigh_keyword(keyword: str, before: Type, after: Type) -> tuple[str, Effect]:
    if keyword in _WORDS:
        return TEXT_CHANGED, Effect.NONE
    if keyword in _HARMLESS or keyword.startswith("x-"):
        return KEYWORD_CHANGED, Effect.HARMLESS
    if keyword == "required":
        return _by_sets(_required_elsewhere(before), _required_elsewhere(after))
    if keyword in _SPELLINGS and "any" not in {before.kind, after.kind}:
        return NOTATION_CHANGED, Effect.NONE
    default = _DEFAULTS.get(keyword)
    olds, news = before.keywords.get(keyword, default), after.keywords.get(keyword, default)
    if olds is None or news is None:
        return KEYWORD_CHANGED, Effect.NARROWER if olds is None else Effect.WIDER
    return _weigh_values(keyword, olds, news)


def _weigh_values(keyword: str, olds: Json, news: Json) -> tuple[str, Effect]:
    if json_equal(olds, news):
        return NOTATION_CHANGED, Effect.NONE
    if isinstance(olds, bool) and isinstance(news, bool):
        narrower = news if keyword == "uniqueItems" else not news
        return KEYWORD_CHANGED, Effect.NARROWER if narrower else Effect.WIDER
    if keyword != "uniqueItems" and (isinstance(olds, bool) or isinstance(news, bool)):
        allows_less = olds is True or news is False
        return KEYWORD_CHANGED, Effect.NARROWER if allows_less else Effect.WIDER
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


def _required_elsewhere(type_: Type) -> set[str]:
    """Return the names that a schema requires without describing them."""
    required = type_.keywords.get("required", [])
    described = type_.properties if isinstance(type_, ObjectType) else {}
    return {name for name in required if isinstance(name, str) and name not in described}


def _by_sets(olds: set[str], news: set[str]) -> tuple[str, Effect]:
    if olds == news:
        return NOTATION_CHANGED, Effect.NONE
    if olds < news:
        return KEYWORD_CHANGED, Effect.NARROWER
    return KEYWORD_CHANGED, Effect.WIDER if news < olds else Effect.OTHER


def _allows_null(type_: Type) -> bool:
    return type_.nullable or type_.kind == "null"


def _is_number(value: Json) -> bool:
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


def _is_in(value: Json, values: tuple[Json, ...]) -> bool:
    return any(json_equal(value, other) for other in values)


def _listed(values: list[Json], most: int = 5) -> str:
    shown = ", ".join(canonical_json(value) for value in values[:most])
    return f"{shown} and {len(values) - most} more" if len(values) > most else shown


def _leaf(
    code: str, effect: Effect, message: str, places: tuple[At, At], name: str, before: Json, after: Json
) -> Difference:
    old, new = places
    olds = list(before) if isinstance(before, tuple) else before
    news = list(after) if isinstance(after, tuple) else after
    return Difference(code, effect, message, f"{old.pointer}/{name}", f"{new.pointer}/{name}", olds, news)

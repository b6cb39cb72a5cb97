"""Comparing what types of every shape may state: constraints, keywords, words."""

from __future__ import annotations

from typing import Final

from droidgate_mappings.compare.changes import (
    ENUM_CHANGED,
    EXTENSION_CHANGED,
    FORMAT_CHANGED,
    NOTATION_CHANGED,
    NULLABLE_CHANGED,
    ORDER_CHANGED,
    PATTERN_CHANGED,
    TEXT_CHANGED,
    TYPE_CHANGED,
    At,
    Difference,
    Effect,
)
from droidgate_mappings.compare.keywords import Schemas, compare_keywords, is_in, listed_values
from droidgate_mappings.model.json_values import Json, canonical_json, json_equal, pointer_token
from droidgate_mappings.model.types import ArrayType, Extensions, ObjectType, Type
from droidgate_mappings.tables.loading import find_format_tables

_SAME_VALUES: Final = (NOTATION_CHANGED, Effect.NONE, "the same values, written down in another way")


def compare_facts(old: At, new: At, schemas: Schemas, *, are_arguments: bool = False) -> list[Difference]:
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
    if before is None:
        return [_leaf(code, Effect.NARROWER, f"a {name} is now required", (old, new), name, before, after)]
    if after is None:
        return [_leaf(code, Effect.WIDER, f"no {name} is required any more", (old, new), name, before, after)]
    return [_leaf(code, Effect.OTHER, f"another {name} is required", (old, new), name, before, after)]


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
    old, new = places
    olds = list(before) if isinstance(before, tuple) else before
    news = list(after) if isinstance(after, tuple) else after
    return Difference(code, effect, message, f"{old.pointer}/{name}", f"{new.pointer}/{name}", olds, news)

"""Parts of types that a dialect cannot hold: what is written in their place, and what is reported of them."""

from __future__ import annotations

from collections.abc import Container
from functools import cache
from typing import Any, Final

from droidgate_mappings.fit import losses
from droidgate_mappings.fit.collector import Collector, schema_note
from droidgate_mappings.fit.losses import is_usual_format, keyword_loss
from droidgate_mappings.model.json_values import Json, canonical_json, pointer_token
from droidgate_mappings.model.leaves import different_leaves, find_leaf, leaves_of_type
from droidgate_mappings.model.types import (
    SCALAR_KINDS,
    AllOfType,
    AnyType,
    ArrayType,
    ObjectType,
    OneOfType,
    OpaqueType,
    Property,
    RefType,
    ScalarType,
    Type,
)

_REPLACED: Final = frozenset({"ref", "all-of", "one-of"})
"""Kinds that never take the place of another."""

_MAX_DEPTH: Final = 100
"""More references and parts are not followed to find one kind for all of them."""

NO_FACTS: Final[dict[str, Any]] = {
    "nullable": False,
    "description": None,
    "enum": None,
    "pattern": None,
    "format": None,
    "implicit": False,
    "keywords": {},
    "extensions": {},
}
"""The facts of a type that says nothing but its kind and shape, description included."""


@cache
def blank_type(kind: str) -> Type:
    """Return a type of a kind with no facts; a `ref` is not among them."""
    if kind in SCALAR_KINDS:
        return ScalarType(kind=kind)  # type: ignore[arg-type]
    blanks: dict[str, Type] = {
        "array": ArrayType(),
        "object": ObjectType(),
        "all-of": AllOfType(),
        "one-of": OneOfType(),
        "opaque": OpaqueType(),
        "any": AnyType(),
    }
    return blanks[kind]


def replacing_kind(fit: Collector, type_: Type, depth: int = 0) -> str:
    """Return the kind that the dialect writes in place of a type that it does not carry.

    A choice or combination whose parts are all written as one kind becomes that kind.

    Args:
        type_: The type.
        depth: How many references and parts lead to it.
    """
    usual = fit.capacity.types[type_.kind].written_as
    if depth > _MAX_DEPTH:
        return usual
    if isinstance(type_, RefType):
        return _kind_of_reference(fit, type_, usual, depth)
    parts: tuple[Type, ...] = ()
    if isinstance(type_, AllOfType | OneOfType):
        parts = type_.members if isinstance(type_, AllOfType) else type_.alternatives
    kinds = {replacing_kind(fit, part, depth + 1) for part in parts}
    is_choice_of_one = isinstance(type_, OneOfType) and len(parts) == 1
    if not is_choice_of_one and fit.is_hidden(type_) and (len(kinds) != 1 or kinds == {"object"}):
        return fit.capacity.types["string"].written_as
    kind = kinds.pop() if len(kinds) == 1 else usual
    return kind if kind not in _REPLACED else usual


def _kind_of_reference(fit: Collector, reference: RefType, usual: str, depth: int) -> str:
    """Return the kind that is written in place of a reference: that of its definition."""
    if reference.name not in fit.kinds:
        fit.kinds[reference.name] = usual
        definition = fit.provider.definitions.get(reference.name)
        if definition is not None:
            kind = replacing_kind(fit, definition, depth + 1)
            fit.kinds[reference.name] = kind if kind not in _REPLACED else usual
    return fit.kinds[reference.name]


def replace_shape(fit: Collector, type_: Type, kind: str, pointer: str, notes: list[str]) -> Type:
    """Return a type of another kind, without facts; the structure of what was goes to `notes`."""
    written = blank_type(kind)
    if isinstance(written, ArrayType) and fit.capacity.items_required:
        written = ArrayType(items=ScalarType(kind="string"))
    shape = type_.model_copy(update=NO_FACTS)
    before = dict(leaves_of_type(shape, pointer))
    if kind == "string" and fit.is_object(shape):
        notes.extend(schema_notes(fit, "JSON text of", shape) or ["[The text of a JSON object]"])
    elif len(before) > 1:
        notes.extend(schema_notes(fit, "Structure", shape))
    for leaf in different_leaves(before, dict(leaves_of_type(written, pointer))):
        if leaf == f"{pointer}/kind":
            stated = fit.capacity.types[type_.kind].level
            lost = (type_, kind, fit.resolved, stated, fit.loses_null)
            fit.report(losses.KIND, leaf, *lost, kind=type_.kind, written=written.kind)
        elif leaf in before:
            report_structure(fit, shape, pointer, leaf, before[leaf])
        else:
            fit.report(losses.ITEMS_ADDED, leaf)
    return written


def report_structure(fit: Collector, type_: Type, pointer: str, leaf: str, value: Json) -> None:
    """Report a leaf of a structure that is in a note at most.

    Args:
        type_: The structure.
        pointer: Its JSON Pointer.
        leaf: The leaf's.
        value: The leaf's value.
    """
    part, field = find_leaf(type_, leaf, pointer)
    if field[0] == "extensions":
        fit.leave_out_fact(field[1], field[2], value, leaf, None)
    elif field[0] in {"qualified_name", "class_name"}:
        fit.report(losses.CLASS_NAME, leaf)
    elif field[0] == "keywords" and not isinstance(part, Property):
        fit.report(keyword_loss(part, field[1], value), leaf, keyword=field[1])
    elif field == ("format",) and not isinstance(part, Property) and is_usual_format(part, value):
        fit.report(losses.USUAL_FORMAT, leaf, value=value)
    else:
        fit.report(losses.STRUCTURE, leaf, field, value)


def schema_notes(fit: Collector, label: str, type_: Type) -> list[str]:
    """Return the note that shows a type as JSON Schema; none where that says nothing."""
    note = schema_note(label, type_, fit.provider.definitions)
    return [] if note is None else [note]


def move_keywords(
    fit: Collector, type_: Type, pointer: str, notes: list[str], kept: Container[str] = ()
) -> None:
    """Report a type's keywords but for the kept ones, and append those that help a caller to `notes`."""
    for keyword, value in type_.keywords.items():
        if keyword in kept:
            continue
        loss = keyword_loss(type_, keyword, value)
        fit.report(loss, f"{pointer}/keywords/{pointer_token(keyword)}", keyword=keyword)
        if loss.in_text:
            notes.append(f"[{keyword}: {canonical_json(value)}]")

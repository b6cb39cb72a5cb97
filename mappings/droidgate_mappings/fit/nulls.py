"""Null in the parts of a choice or combination, for targets that state it of the whole only."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from droidgate_mappings.model.types import AllOfType, OneOfType, Type


def excludes_null(type_: Type) -> bool:
    """Return whether a type lists the values that it allows, and null is not one of them."""
    listed = [type_.enum, type_.keywords.get("enum")]
    if "const" in type_.keywords:
        listed.append((type_.keywords["const"],))
    return any(isinstance(values, tuple | list) and None not in values for values in listed)


def parts_allow_null(whole: Type) -> bool:
    """Return whether null is a value of a choice or combination because its parts state it.

    A choice allows null where a part does; an exclusive one where exactly one does. A combination allows null
    where all its parts do.
    """
    if excludes_null(whole):
        return False
    allows = [part.nullable or parts_allow_null(part) for part in _parts_of(whole)]
    if isinstance(whole, OneOfType):
        return sum(allows) == 1 if whole.exclusive else any(allows)
    return bool(allows) and all(allows)


def nullable_parts(whole: Type, pointer: str) -> Iterator[str]:
    """Return pointers to the `nullable` of the parts that have it, and of parts of parts.

    Args:
        whole: A choice or combination.
        pointer: Its JSON Pointer.
    """
    word = "members" if isinstance(whole, AllOfType) else "alternatives"
    for position, part in enumerate(_parts_of(whole)):
        place = f"{pointer}/{word}/{position}"
        if part.nullable:
            yield f"{place}/nullable"
        yield from nullable_parts(part, place)


def without_null(part: Type) -> Type:
    """Return a part of a choice or combination without `nullable`, its own parts included."""
    changes: dict[str, Any] = {"nullable": False}
    if isinstance(part, AllOfType):
        changes["members"] = tuple(map(without_null, part.members))
    elif isinstance(part, OneOfType):
        changes["alternatives"] = tuple(map(without_null, part.alternatives))
    return part.changed(changes)


def _parts_of(type_: Type) -> tuple[Type, ...]:
    if isinstance(type_, AllOfType):
        return type_.members
    return type_.alternatives if isinstance(type_, OneOfType) else ()

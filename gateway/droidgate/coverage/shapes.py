"""What a capability takes and returns, as one line, and how well it is described."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from droidgate.model.types import (
    AllOfType,
    AnyType,
    ArrayType,
    ObjectType,
    OneOfType,
    OpaqueType,
    Property,
    RefType,
    Type,
)

_MAX_DEPTH: Final = 6
_MAX_SHAPE: Final = 4_000
_MAX_PARAMETERS: Final = 10_000


@dataclass(frozen=True, slots=True)
class ParameterCounts:
    """How many parameters there are, those inside of objects and arrays too.

    Attributes:
        total: All.
        required: Those that must be given, where what holds them is.
        undescribed: Those without a description, their type's included.
        untyped: Those of which nothing says what they are.
    """

    total: int
    required: int
    undescribed: int
    untyped: int


def shape_of(one: Type, definitions: Mapping[str, Type]) -> str:
    """Return a type as one line: `text:string, count?:int32` for what a call takes.

    `?` marks what may be left out, `|null` what may be null; definitions are written out, and `...` stands
    where one contains itself and for what is too deep or too long.
    """
    if isinstance(one, ObjectType):
        text = _members(one, definitions, (), 0)
    else:
        text = _shape(one, definitions, (), 0)
    return text if len(text) <= _MAX_SHAPE else text[: _MAX_SHAPE - 3] + "..."


def _members(one: ObjectType, definitions: Mapping[str, Type], inside: tuple[str, ...], depth: int) -> str:
    return ", ".join(
        f"{name}{'' if held.required else '?'}:{_shape(held.type, definitions, inside, depth + 1)}"
        for name, held in one.properties.items()
    )


def _shape(one: Type, definitions: Mapping[str, Type], inside: tuple[str, ...], depth: int) -> str:
    null = "|null" if one.nullable else ""
    if depth > _MAX_DEPTH:
        return "..."
    if isinstance(one, RefType):
        target = definitions.get(one.name)
        if target is None or one.name in inside:
            return f"...{null}"
        return _shape(target, definitions, (*inside, one.name), depth) + null
    if isinstance(one, ObjectType):
        return f"{{{_members(one, definitions, inside, depth)}}}{null}"
    if isinstance(one, ArrayType):
        items = "any" if one.items is None else _shape(one.items, definitions, inside, depth + 1)
        return f"[{items}]{null}"
    if isinstance(one, AllOfType):
        return "(" + " & ".join(_shape(m, definitions, inside, depth + 1) for m in one.members) + f"){null}"
    if isinstance(one, OneOfType):
        parts = (_shape(m, definitions, inside, depth + 1) for m in one.alternatives)
        return "(" + " | ".join(parts) + f"){null}"
    if isinstance(one, OpaqueType):
        return (one.class_name or "opaque") + null
    return one.kind + null


def count_parameters(one: Type, definitions: Mapping[str, Type]) -> ParameterCounts:
    """Count the parameters of what a call takes; each definition counts once."""
    total = required = undescribed = untyped = 0
    for held, is_required in _parameters(one, definitions):
        total += 1
        required += is_required
        undescribed += not (held.type.description or _description_behind(held.type, definitions))
        untyped += _is_untyped(held.type)
    return ParameterCounts(total, required, undescribed, untyped)


def _parameters(one: Type, definitions: Mapping[str, Type]) -> Iterator[tuple[Property, bool]]:
    pending: list[tuple[Type, bool]] = [(one, True)]
    seen: set[str] = set()
    left = _MAX_PARAMETERS
    while pending and left:
        current, needed = pending.pop()
        if isinstance(current, RefType):
            if current.name in definitions and current.name not in seen:
                seen.add(current.name)
                pending.append((definitions[current.name], needed))
        elif isinstance(current, ObjectType):
            for held in current.properties.values():
                left -= left > 0
                yield held, needed and held.required
                pending.append((held.type, needed and held.required))
        elif isinstance(current, ArrayType):
            if current.items is not None:
                pending.append((current.items, False))
        elif isinstance(current, AllOfType):
            pending.extend((member, needed) for member in current.members)
        elif isinstance(current, OneOfType):
            pending.extend((member, False) for member in current.alternatives)


def _description_behind(one: Type, definitions: Mapping[str, Type]) -> str | None:
    target = definitions.get(one.name) if isinstance(one, RefType) else None
    return None if target is None else target.description


def _is_untyped(one: Type) -> bool:
    return isinstance(one, AnyType) or (isinstance(one, ArrayType) and one.items is None) or one.implicit

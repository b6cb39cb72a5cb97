"""What a capability takes and returns, as one line, and how well it is described."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from droidgate_mappings.model.types import (
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


def shape_of(type_: Type, definitions: Mapping[str, Type]) -> str:
    """Return a type as one line: `text:string, count?:int32` for what a call takes.

    `?` marks what may be left out, `|null` what may be null; definitions are written out, and `...` stands
    where one contains itself and for what is too deep or too long.
    """
    if isinstance(type_, ObjectType):
        text = _members(type_, definitions, (), 0)
    else:
        text = _shape(type_, definitions, (), 0)
    return text if len(text) <= _MAX_SHAPE else text[: _MAX_SHAPE - 3] + "..."


def _members(
    object_type: ObjectType, definitions: Mapping[str, Type], inside: tuple[str, ...], depth: int
) -> str:
    return ", ".join(
        f"{name}{'' if property_.required else '?'}:{_shape(property_.type, definitions, inside, depth + 1)}"
        for name, property_ in object_type.properties.items()
    )


def _shape(type_: Type, definitions: Mapping[str, Type], inside: tuple[str, ...], depth: int) -> str:
    null = "|null" if type_.nullable else ""
    if depth > _MAX_DEPTH:
        return "..."
    if isinstance(type_, RefType):
        target = definitions.get(type_.name)
        if target is None or type_.name in inside:
            return f"...{null}"
        return _shape(target, definitions, (*inside, type_.name), depth) + null
    if isinstance(type_, ObjectType):
        return f"{{{_members(type_, definitions, inside, depth)}}}{null}"
    if isinstance(type_, ArrayType):
        items = "any" if type_.items is None else _shape(type_.items, definitions, inside, depth + 1)
        return f"[{items}]{null}"
    if isinstance(type_, AllOfType):
        return "(" + " & ".join(_shape(m, definitions, inside, depth + 1) for m in type_.members) + f"){null}"
    if isinstance(type_, OneOfType):
        parts = (_shape(m, definitions, inside, depth + 1) for m in type_.alternatives)
        return "(" + " | ".join(parts) + f"){null}"
    if isinstance(type_, OpaqueType):
        return (type_.class_name or "opaque") + null
    return type_.kind + null


def count_parameters(type_: Type, definitions: Mapping[str, Type]) -> ParameterCounts:
    """Count the parameters of what a call takes; each definition counts once."""
    total = required = undescribed = untyped = 0
    for parameter, is_required in _parameters(type_, definitions):
        total += 1
        required += is_required
        undescribed += not (parameter.type.description or _description_behind(parameter.type, definitions))
        untyped += _is_untyped(parameter.type)
    return ParameterCounts(total, required, undescribed, untyped)


def _parameters(type_: Type, definitions: Mapping[str, Type]) -> Iterator[tuple[Property, bool]]:
    pending: list[tuple[Type, bool]] = [(type_, True)]
    seen: set[str] = set()
    left = _MAX_PARAMETERS
    while pending and left:
        current, needed = pending.pop()
        if isinstance(current, RefType):
            if current.name in definitions and current.name not in seen:
                seen.add(current.name)
                pending.append((definitions[current.name], needed))
        elif isinstance(current, ObjectType):
            for property_ in current.properties.values():
                left -= left > 0
                yield property_, needed and property_.required
                pending.append((property_.type, needed and property_.required))
        elif isinstance(current, ArrayType):
            if current.items is not None:
                pending.append((current.items, False))
        elif isinstance(current, AllOfType):
            pending.extend((member, needed) for member in current.members)
        elif isinstance(current, OneOfType):
            pending.extend((member, False) for member in current.alternatives)


def _description_behind(type_: Type, definitions: Mapping[str, Type]) -> str | None:
    target = definitions.get(type_.name) if isinstance(type_, RefType) else None
    return None if target is None else target.description


def _is_untyped(type_: Type) -> bool:
    return (
        isinstance(type_, AnyType) or (isinstance(type_, ArrayType) and type_.items is None) or type_.implicit
    )

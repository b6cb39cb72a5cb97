"""What holds of the values of a type: all are objects, all are records, null is one of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from droidgate_mappings.model.capability import reachable_definitions, references_of
from droidgate_mappings.model.types import AllOfType, AnyType, ObjectType, OneOfType, RefType, Type

WIDER_NUMBERS: Final[Mapping[str, tuple[str, ...]]] = {
    "int32": ("int64", "float", "double"),
    "int64": ("float", "double"),
    "float": ("double",),
}
"""Kind of number -> the kinds whose range has all of its values; what they round is not counted."""

Judge = Callable[[Type, Callable[[str], bool]], bool]
"""Whether a type has a quality, given which definitions have it."""


def may_be_object(type_: Type) -> bool:
    """Return whether a type's schema can also have `type: object`: it has no other `type`, and is not a
    boolean.
    """
    if isinstance(type_, AnyType):
        return type_.boolean is None and type_.keywords.get("type", "object") == "object"
    if isinstance(type_, OneOfType) and len(type_.alternatives) == 1:
        return may_be_object(type_.alternatives[0])
    return isinstance(type_, ObjectType | RefType | AllOfType | OneOfType)


def is_object(type_: Type, is_object_definition: Callable[[str], bool]) -> bool:
    """Return whether every value of a type is an object, given which definitions are."""
    if type_.nullable:
        return False
    if type_.keywords.get("type") == "object":
        return True
    if isinstance(type_, RefType):
        return is_object_definition(type_.name)
    judge = partial(is_object, is_object_definition=is_object_definition)
    if isinstance(type_, AllOfType):
        return any(map(judge, type_.members))
    if isinstance(type_, OneOfType):
        return bool(type_.alternatives) and all(map(judge, type_.alternatives))
    return type_.kind == "object"


def is_record(type_: Type, is_record_definition: Callable[[str], bool]) -> bool:
    """Return whether a type is an object with declared properties, or is made of such objects only, given
    which definitions are.
    """
    if isinstance(type_, RefType):
        return is_record_definition(type_.name)
    if isinstance(type_, AllOfType | OneOfType):
        parts = type_.members if isinstance(type_, AllOfType) else type_.alternatives
        return bool(parts) and all(is_record(part, is_record_definition) for part in parts)
    return isinstance(type_, ObjectType) and bool(type_.properties)


def takes_null(type_: Type, is_null_definition: Callable[[str], bool]) -> bool:
    """Return whether null is a value of a type, given for which definitions it is."""
    if type_.nullable or type_.kind == "null":
        return True
    if isinstance(type_, AnyType):
        return type_.boolean is not False
    if isinstance(type_, RefType):
        return is_null_definition(type_.name)
    if isinstance(type_, OneOfType):
        return any(takes_null(part, is_null_definition) for part in type_.alternatives)
    return isinstance(type_, AllOfType) and all(
        takes_null(part, is_null_definition) for part in type_.members
    )


def object_definitions(definitions: Mapping[str, Type]) -> frozenset[str]:
    """Return the definitions whose values are all objects; a circle of references is not an object."""
    return _definitions_with(definitions, is_object, is_assumed=False)


def record_definitions(definitions: Mapping[str, Type]) -> frozenset[str]:
    """Return the definitions that are records; a circle of references counts as one."""
    return _definitions_with(definitions, is_record, is_assumed=True)


def null_definitions(definitions: Mapping[str, Type]) -> frozenset[str]:
    """Return the definitions that allow null; a circle of references does not."""
    return _definitions_with(definitions, takes_null, is_assumed=False)


def is_always_object(type_: Type, definitions: Mapping[str, Type]) -> bool:
    """Return whether every value of a type is an object.

    Args:
        type_: The type.
        definitions: What its references mean.
    """
    reached = _reached_by(type_, definitions)
    return is_object(type_, object_definitions(reached).__contains__)


def may_be_null(type_: Type, definitions: Mapping[str, Type]) -> bool:
    """Return whether null is a value of a type.

    Args:
        type_: The type.
        definitions: What its references mean.
    """
    reached = _reached_by(type_, definitions)
    return takes_null(type_, null_definitions(reached).__contains__)


def _reached_by(type_: Type, definitions: Mapping[str, Type]) -> dict[str, Type]:
    return {name: definitions[name] for name in reachable_definitions(type_, dict(definitions))}


def _definitions_with(definitions: Mapping[str, Type], judge: Judge, *, is_assumed: bool) -> frozenset[str]:
    """Return the definitions that have a quality.

    Each definition changes its answer once at most, so the work grows with the number of references, also
    where references go in circles.
    """
    users: defaultdict[str, set[str]] = defaultdict(set)
    for name, definition in definitions.items():
        for reference in references_of(definition):
            users[reference].add(name)
    answers = dict.fromkeys(definitions, is_assumed)
    pending = list(definitions)
    while pending:
        name = pending.pop()
        answer = judge(definitions[name], lambda referred: answers.get(referred, is_assumed))
        if answer != answers[name]:
            answers[name] = answer
            pending.extend(users[name])
    return frozenset(name for name, answer in answers.items() if answer)

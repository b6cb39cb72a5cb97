"""Which types are objects, for targets whose root schemas or parts of choices have to be."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from droidgate.model.capability import reachable_definitions, references_of
from droidgate.model.types import AllOfType, AnyType, ObjectType, OneOfType, RefType, Type

Judge = Callable[[Type, Callable[[str], bool]], bool]
"""Whether a type has a quality, given which definitions have it."""


def may_be_object(one: Type) -> bool:
    """Return whether a type's schema can also have `type: object`: it has no other `type`, and is not a
    boolean.
    """
    if isinstance(one, AnyType):
        return one.boolean is None and one.keywords.get("type", "object") == "object"
    if isinstance(one, OneOfType) and len(one.alternatives) == 1:
        return may_be_object(one.alternatives[0])
    return isinstance(one, ObjectType | RefType | AllOfType | OneOfType)


def is_object(one: Type, is_object_definition: Callable[[str], bool]) -> bool:
    """Return whether every value of a type is an object, given which definitions are."""
    if one.nullable:
        return False
    if one.keywords.get("type") == "object":
        return True
    if isinstance(one, RefType):
        return is_object_definition(one.name)
    judge = partial(is_object, is_object_definition=is_object_definition)
    if isinstance(one, AllOfType):
        return any(map(judge, one.members))
    if isinstance(one, OneOfType):
        return bool(one.alternatives) and all(map(judge, one.alternatives))
    return one.kind == "object"


def is_record(one: Type, is_record_definition: Callable[[str], bool]) -> bool:
    """Return whether a type is an object with declared properties, or is made of such objects only, given
    which definitions are.
    """
    if isinstance(one, RefType):
        return is_record_definition(one.name)
    if isinstance(one, AllOfType | OneOfType):
        parts = one.members if isinstance(one, AllOfType) else one.alternatives
        return bool(parts) and all(is_record(part, is_record_definition) for part in parts)
    return isinstance(one, ObjectType) and bool(one.properties)


def takes_null(one: Type, is_null_definition: Callable[[str], bool]) -> bool:
    """Return whether null is a value of a type, given for which definitions it is."""
    if one.nullable or one.kind == "null":
        return True
    if isinstance(one, AnyType):
        return one.boolean is not False
    if isinstance(one, RefType):
        return is_null_definition(one.name)
    if isinstance(one, OneOfType):
        return any(takes_null(part, is_null_definition) for part in one.alternatives)
    return isinstance(one, AllOfType) and all(takes_null(part, is_null_definition) for part in one.members)


def object_definitions(definitions: Mapping[str, Type]) -> frozenset[str]:
    """Return the definitions whose values are all objects; a circle of references is not an object."""
    return _definitions_with(definitions, is_object, is_assumed=False)


def record_definitions(definitions: Mapping[str, Type]) -> frozenset[str]:
    """Return the definitions that are records; a circle of references counts as one."""
    return _definitions_with(definitions, is_record, is_assumed=True)


def null_definitions(definitions: Mapping[str, Type]) -> frozenset[str]:
    """Return the definitions that allow null; a circle of references does not."""
    return _definitions_with(definitions, takes_null, is_assumed=False)


def is_always_object(one: Type, definitions: Mapping[str, Type]) -> bool:
    """Return whether every value of a type is an object.

    Args:
        one: The type.
        definitions: What its references mean.
    """
    reached = reachable_definitions(one, dict(definitions))
    names = object_definitions({name: definitions[name] for name in reached}) if reached else _NONE
    return is_object(one, names.__contains__)


_NONE: Final[frozenset[str]] = frozenset()


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
        answer = judge(definitions[name], lambda other: answers.get(other, is_assumed))
        if answer != answers[name]:
            answers[name] = answer
            pending.extend(users[name])
    return frozenset(name for name, answer in answers.items() if answer)

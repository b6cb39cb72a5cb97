"""What a comparison of two types speaks of."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

from droidgate_mappings.model.json_values import Json, pointer_token
from droidgate_mappings.model.types import Type


class Effect(Enum):
    """How the set of allowed values changed."""

    NONE = auto()
    """Not at all: words or spelling."""
    HARMLESS = auto()
    """In a way that hurts neither those who give such values nor those who take them."""
    WIDER = auto()
    """Every old value is still allowed, and more."""
    NARROWER = auto()
    """Every value that is allowed was allowed before."""
    OTHER = auto()
    """Neither, or a property is gone."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One difference between two types, before it is known whether they are given or taken."""

    code: str
    effect: Effect
    message: str
    old_pointer: str | None
    new_pointer: str | None
    old: Json = None
    new: Json = None


@dataclass(frozen=True, slots=True)
class At:
    """A type and its JSON Pointer."""

    type: Type
    pointer: str

    def inner(self, type_: Type, *tokens: str | int) -> At:
        """Return a type inside this one."""
        return At(type_, "/".join((self.pointer, *(pointer_token(str(token)) for token in tokens))))

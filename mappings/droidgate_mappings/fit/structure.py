"""Parts of types that a dialect cannot hold: what is written in their place, and what is reported of them."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final

from droidgate_mappings.fit.codes import (
    CLASS_DROPPED,
    ITEMS_DEFAULTED,
    KEYWORD_DROPPED,
    KEYWORD_MOVED,
    KIND_CHANGED,
    NOTATION_DROPPED,
    STRUCTURE_MOVED,
)
from droidgate_mappings.fit.harm import is_usual_format, keyword_loss, kind_level, structure_level
from droidgate_mappings.fit.notes import schema_note
from droidgate_mappings.fit.objects import (
    is_object,
    is_record,
    null_definitions,
    object_definitions,
    record_definitions,
    takes_null,
)
from droidgate_mappings.fit.reporting import Reporting
from droidgate_mappings.model.findings import Level
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


@dataclass(slots=True)
class StructureFit(Reporting):
    """Replaces and reports what a dialect cannot hold of the types of one provider.

    Attributes:
        records: Definitions that are records, once they are asked for.
        objects: Definitions that are always objects, once they are asked for.
        nulls: Definitions that allow null, once they are asked for.
        kinds: Definition -> the kind that replaces a reference to it.
    """

    records: frozenset[str] | None = None
    objects: frozenset[str] | None = None
    nulls: frozenset[str] | None = None
    kinds: dict[str, str] = field(default_factory=dict)

    def resolved(self, type_: Type) -> Type:
        """Return the type behind references and choices of one; the last one where references go in a
        circle.
        """
        seen: set[str] = set()
        while True:
            if (
                isinstance(type_, RefType)
                and type_.name in self.provider.definitions
                and type_.name not in seen
            ):
                seen.add(type_.name)
                type_ = self.provider.definitions[type_.name]
            elif isinstance(type_, OneOfType) and len(type_.alternatives) == 1:
                type_ = type_.alternatives[0]
            else:
                return type_

    def is_hidden(self, type_: Type) -> bool:
        """Return whether callers of the dialect do not see a capability that has the type."""
        if not self.capacity.records_only or self.own:
            return False
        if not isinstance(type_, ObjectType | AllOfType | OneOfType):
            return False
        if self.records is None:
            self.records = record_definitions(self.provider.definitions)
        return not is_record(type_, self.records.__contains__)

    def loses_null(self, type_: Type, kind: str) -> bool:
        """Return whether a type allows null, not by its own word, and the kind in its place does not."""
        if kind in {"any", "null"} or type_.nullable:
            return False
        if self.nulls is None:
            self.nulls = null_definitions(self.provider.definitions)
        return takes_null(type_, self.nulls.__contains__)

    def is_object(self, type_: Type) -> bool:
        """Return whether every value of a type is an object."""
        if self.objects is None:
            self.objects = object_definitions(self.provider.definitions)
        return is_object(type_, self.objects.__contains__)

    def replacing_kind(self, type_: Type, depth: int = 0) -> str:
        """Return the kind that the dialect writes in place of a type that it does not carry.

        A choice or combination whose parts are all written as one kind becomes that kind.

        Args:
            type_: The type.
            depth: How many references and parts lead to it.
        """
        usual = self.capacity.types[type_.kind].written_as
        if depth > _MAX_DEPTH:
            return usual
        if isinstance(type_, RefType):
            return self.kind_of_reference(type_, usual, depth)
        parts: tuple[Type, ...] = ()
        if isinstance(type_, AllOfType | OneOfType):
            parts = type_.members if isinstance(type_, AllOfType) else type_.alternatives
        kinds = {self.replacing_kind(part, depth + 1) for part in parts}
        is_choice_of_one = isinstance(type_, OneOfType) and len(parts) == 1
        if not is_choice_of_one and self.is_hidden(type_) and (len(kinds) != 1 or kinds == {"object"}):
            return self.capacity.types["string"].written_as
        kind = kinds.pop() if len(kinds) == 1 else usual
        return kind if kind not in _REPLACED else usual

    def kind_of_reference(self, reference: RefType, usual: str, depth: int) -> str:
        """Return the kind that is written in place of a reference: that of its definition."""
        if reference.name not in self.kinds:
            self.kinds[reference.name] = usual
            definition = self.provider.definitions.get(reference.name)
            if definition is not None:
                kind = self.replacing_kind(definition, depth + 1)
                self.kinds[reference.name] = kind if kind not in _REPLACED else usual
        return self.kinds[reference.name]

    def replace_shape(self, type_: Type, kind: str, pointer: str, notes: list[str]) -> Type:
        """Return a type of another kind, without facts; the structure of what was goes to `notes`."""
        written = blank_type(kind)
        if isinstance(written, ArrayType) and self.capacity.items_required:
            written = ArrayType(items=ScalarType(kind="string"))
        shape = type_.model_copy(update=NO_FACTS)
        before = dict(leaves_of_type(shape, pointer))
        if kind == "string" and self.is_object(shape):
            notes.extend(self.schema_notes("JSON text of", shape) or ["[The text of a JSON object]"])
        elif len(before) > 1:
            notes.extend(self.schema_notes("Structure", shape))
        for leaf in different_leaves(before, dict(leaves_of_type(written, pointer))):
            if leaf == f"{pointer}/kind":
                level = self.capacity.types[type_.kind].level or kind_level(type_, kind, self.resolved)
                if level is Level.WIDENED and self.loses_null(type_, kind):
                    level = Level.NARROWED
                self.report(KIND_CHANGED, level, leaf, f"the target writes {type_.kind} as {written.kind}")
            elif leaf in before:
                self.report_structure(shape, pointer, leaf, before[leaf])
            else:
                self.report_items(leaf)
        return written

    def report_items(self, leaf: str) -> None:
        """Report that an array's items are written as strings, since the source does not state them."""
        message = "the target requires the type of the items; string is written"
        self.report(ITEMS_DEFAULTED, Level.NARROWED, leaf, message)

    def report_structure(self, type_: Type, pointer: str, leaf: str, value: Json) -> None:
        """Report a leaf of a structure that is in a note at most.

        Args:
            type_: The structure.
            pointer: Its JSON Pointer.
            leaf: The leaf's.
            value: The leaf's value.
        """
        part, field = find_leaf(type_, leaf, pointer)
        if field[0] == "extensions":
            self.leave_out_fact(field[1], field[2], value, leaf, None)
        elif field[0] in {"qualified_name", "class_name"}:
            self.report(CLASS_DROPPED, Level.DROPPED, leaf, "the target does not have class names")
        elif field[0] == "keywords" and not isinstance(part, Property):
            self.report_keyword(part, field[1], value, leaf)
        elif field == ("format",) and not isinstance(part, Property) and is_usual_format(part, value):
            self.report(NOTATION_DROPPED, Level.RENAMED, leaf, f"the type itself is {value}")
        else:
            level = self.in_text(structure_level(field, value))
            self.report(STRUCTURE_MOVED, level, leaf, "the structure is in the description only")

    def schema_notes(self, label: str, type_: Type) -> list[str]:
        """Return the note that shows a type as JSON Schema; none where that says nothing."""
        note = schema_note(label, type_, self.provider.definitions)
        return [] if note is None else [note]

    def move_keywords(self, type_: Type, pointer: str, notes: list[str], kept: Container[str] = ()) -> None:
        """Report a type's keywords but for the kept ones, and append those that help a caller to `notes`."""
        for keyword, value in type_.keywords.items():
            if keyword in kept:
                continue
            self.report_keyword(type_, keyword, value, f"{pointer}/keywords/{pointer_token(keyword)}")
            if keyword_loss(type_, keyword, value).is_shown:
                notes.append(f"[{keyword}: {canonical_json(value)}]")

    def report_keyword(self, type_: Type, keyword: str, value: Json, leaf: str) -> None:
        """Report that the target does not have a keyword of a type."""
        loss = keyword_loss(type_, keyword, value)
        if loss.level is Level.RENAMED:
            message = f"the schema means the same without {keyword!r}"
            self.report(NOTATION_DROPPED, Level.RENAMED, leaf, message)
        elif loss.is_shown:
            message = f"the keyword {keyword!r} is in the description only"
            self.report(KEYWORD_MOVED, self.in_text(loss.level), leaf, message)
        else:
            message = f"the target does not have the keyword {keyword!r}"
            self.report(KEYWORD_DROPPED, loss.level, leaf, message)

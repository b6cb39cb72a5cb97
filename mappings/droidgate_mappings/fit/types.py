"""Fitting types: what a dialect cannot carry of a type, and where it goes instead."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from droidgate_mappings.fit.codes import (
    ALTERNATIVE_UNWRAPPED,
    CLASS_DROPPED,
    CONSTRAINT_MOVED,
    EXCLUSIVE_ASSUMED,
    EXCLUSIVE_DROPPED,
    FIELD_DEFAULTED,
    NOTATION_DROPPED,
    NULLABLE_MOVED,
    REFERENCE_DROPPED,
    REFERENCE_WRAPPED,
    RENAMED,
    REQUIRED_ASSUMED,
    TEXT_ADDED,
    TEXT_MOVED,
)
from droidgate_mappings.fit.harm import are_disjoint, implicit_level, is_usual_format
from droidgate_mappings.fit.kind_checks import KIND_CHECKS, is_plain_text
from droidgate_mappings.fit.notes import MAY_BE_NULL, constraint_note
from droidgate_mappings.fit.nulls import excludes_null, nullable_parts, parts_allow_null, without_null
from droidgate_mappings.fit.structure import NO_FACTS, StructureFit
from droidgate_mappings.model.findings import Level
from droidgate_mappings.model.json_values import Json, pointer_token
from droidgate_mappings.model.leaves import different_leaves, leaves_of_type
from droidgate_mappings.model.names import map_names
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
    TypeFacts,
)

_SLASHES_OF_DEFINITION: Final = 2
_SLASHES_OF_INPUT: Final = 3
_CONSTRAINTS: Final = ("enum", "pattern", "format")
_WORDS_WITH_NAMES: Final = frozenset(
    {"dependencies", "dependentRequired", "dependentSchemas", "propertyNames", "propertyOrdering", "required"}
    | {"allOf", "anyOf", "else", "if", "not", "oneOf", "patternProperties", "then"}
)
"""Keywords that speak of properties by name, so that they say something else where a name changes."""


def _with_original_names(pointer: str, originals: Mapping[tuple[str, str], str]) -> str:
    """Return a pointer into a fitted type with the names of the source.

    Args:
        pointer: The pointer.
        originals: Pointer of the parent and written token -> the source's token.
    """
    path = ""
    for token in pointer.split("/")[1:] if originals else ():
        path = f"{path}/{originals.get((path, token), token)}"
    return path or pointer


def _has_facts(type_: Type) -> bool:
    """Return whether a type states more than its kind, its shape and its description."""
    return (
        type_.enum is not None
        or type_.pattern is not None
        or type_.format is not None
        or type_.nullable
        or type_.implicit
        or bool(type_.keywords)
        or bool(type_.extensions)
    )


@dataclass(slots=True)
class TypeFit(StructureFit):
    """Fits the types of one provider."""

    def fit_type(
        self,
        type_: Type,
        pointer: str,
        *,
        top: str | None = None,
        spill: list[str] | None = None,
        as_kind: str | None = None,
    ) -> Type:
        """Return a type as the dialect writes it.

        Args:
            type_: The type.
            pointer: Its JSON Pointer.
            top: The name of the parameter or output it belongs to, where it is the type of one.
            spill: Takes the notes of a type that has no description of its own.
            as_kind: The kind to write in place of the type's own; None to decide by the capacity.
        """
        if type_.kind == "one-of" and self.should_unwrap(type_):
            return self.unwrap(
                type_, pointer, lambda inner: self.fit_type(inner, pointer, top=top, spill=spill)
            )
        if type_.kind == "ref" and self.dangles(type_):
            return self.replace_dangling(type_, pointer, top=top, spill=spill)
        if isinstance(type_, RefType) and self.is_bare_reference(type_, pointer):
            return self.wrap_reference(type_, pointer, top=top, spill=spill)
        notes: list[str] = []
        is_kept = (
            as_kind is None
            and self.capacity.types[type_.kind].written_as == type_.kind
            and self.carries_shape(type_)
        )
        if is_kept and type_.kind in SCALAR_KINDS and not _has_facts(type_):
            text = self.fit_description(type_.description, pointer, notes, top=top, spill=spill)
            return type_.changed({"description": text})
        kind = type_.kind if is_kept else as_kind or self.replacing_kind(type_)
        facts = self.fit_facts(type_, pointer, notes, kind=kind)
        if is_kept:
            fitted = type_
            facts.update(self.fit_shape(type_, pointer))
            if isinstance(type_, AllOfType | OneOfType):
                facts["nullable"] = self.lift_null(type_, pointer, notes, is_nullable=facts["nullable"])
        else:
            fitted = self.replace_shape(type_, kind, pointer, notes)
        facts["description"] = self.fit_description(type_.description, pointer, notes, top=top, spill=spill)
        return fitted.changed(facts)

    def carries_shape(self, type_: Type) -> bool:
        """Return whether the dialect carries what is inside a type of a kind that it carries."""
        if type_.kind == "any":
            return type_.boolean is None or self.capacity.keywords
        if self.is_hidden(type_):
            return False
        return self.capacity.nested or type_.kind in SCALAR_KINDS or type_.kind == "opaque"

    def fit_description(
        self, text: str | None, pointer: str, notes: list[str], *, top: str | None, spill: list[str] | None
    ) -> str | None:
        """Return the description a type is written with; notes without a place of their own go to `spill`."""
        leaf = f"{pointer}/description"
        carried = self.capacity.type_descriptions
        if carried == "all" or (carried == "top" and top is not None):
            if text is not None:
                text = self.clean(text, leaf, quiet=bool(notes))
            text = self.add_notes(text, notes, leaf)
            is_missing = text is None or (not self.own and not text.strip() and text != top)
            if is_missing and top is not None and self.capacity.type_description_required:
                self.report(
                    FIELD_DEFAULTED,
                    Level.DEFAULTED,
                    leaf,
                    f"the target requires a description; {top!r} is written",
                )
                text = self.clean(top, leaf, quiet=True)
            return text
        if text is not None:
            message = "types of the target have no description; it is appended to the capability's"
            self.report_moved(TEXT_MOVED, leaf, message, text)
            self.put_first(text, notes)
        if spill is not None and notes:
            spill.append(f"[{top}: {' '.join(notes)}]" if top is not None else " ".join(notes))
        return None

    def fit_facts(
        self, type_: Type, pointer: str, notes: list[str], *, kind: str | None = None
    ) -> dict[str, Any]:
        """Return a type's facts (description apart) as the dialect writes them; what it cannot write goes to
        `notes`.

        Args:
            type_: The type.
            pointer: Its JSON Pointer.
            notes: Takes what is appended to a description.
            kind: The kind that the type is written as; None where the dialect cannot hold its facts.
        """
        capacity = self.capacity
        facts = dict(NO_FACTS)
        facts["extensions"] = self.fit_extensions(type_.extensions, pointer, notes)
        for name in _CONSTRAINTS:
            value = getattr(type_, name)
            if value is None:
                continue
            is_excluded = self.is_input(pointer) and name in capacity.top_words_excluded
            if kind is not None and not is_excluded and self.carries(type_, kind, name, value):
                facts[name] = value
                continue
            if name == "format" and is_usual_format(type_, value):
                message = f"the type itself is {value}"
                self.report(NOTATION_DROPPED, Level.RENAMED, f"{pointer}/format", message)
                continue
            level = Level.MOVED if name == "format" else Level.WIDENED
            message = f"the {name} is in the description only"
            self.report(CONSTRAINT_MOVED, self.in_text(level), f"{pointer}/{name}", message)
            notes.append(constraint_note(name, value))
        if type_.nullable:
            if kind is not None and self.carries_null(pointer):
                facts["nullable"] = True
            else:
                message = "the target cannot allow null; the description says that the source allows it"
                self.report(NULLABLE_MOVED, self.in_text(Level.NARROWED), f"{pointer}/nullable", message)
                notes.append(MAY_BE_NULL)
        if type_.implicit:
            if kind is not None and capacity.implicit:
                facts["implicit"] = True
            else:
                message = "the target names the type, which the schema leaves open"
                self.report(NOTATION_DROPPED, implicit_level(type_), f"{pointer}/implicit", message)
        if type_.keywords:
            kept = self.carried_keywords(type_, pointer, facts) if kind is not None else {}
            self.move_keywords(type_, pointer, notes, kept)
            facts["keywords"] = kept
        return facts

    @staticmethod
    def is_input(pointer: str) -> bool:
        """Return whether a JSON Pointer is of the input of a capability, not of a part of it."""
        return pointer.endswith("/input") and pointer.count("/") == _SLASHES_OF_INPUT

    def carried_keywords(self, type_: Type, pointer: str, facts: Mapping[str, Any]) -> dict[str, Json]:
        """Return those keywords of the type at a pointer that the dialect carries.

        Args:
            type_: The type.
            pointer: Its JSON Pointer.
            facts: Its enum, pattern and format as they are written.
        """
        if not self.capacity.keywords:
            return {}
        only = self.capacity.keyword_words
        excluded = {name for name in _CONSTRAINTS if facts[name] is None and getattr(type_, name) is not None}
        if self.is_input(pointer):
            excluded |= self.capacity.top_words_excluded
            if isinstance(type_, ObjectType) and self.renames_parameters(type_, pointer):
                excluded |= _WORDS_WITH_NAMES
        if only is None and not excluded:
            return type_.keywords
        return {
            word: value
            for word, value in type_.keywords.items()
            if (only is None or word in only) and word not in excluded
        }

    def renames_parameters(self, object_type: ObjectType, pointer: str) -> bool:
        """Return whether a property of an object has another name in the target."""
        return any(old != new for old, new in self.written_names(object_type, pointer).items())

    def is_bare_reference(self, reference: RefType, pointer: str) -> bool:
        """Return whether the dialect writes a reference with nothing next to it; null is an alternative."""
        capacity = self.capacity
        is_choice = reference.nullable and self.carries_null(pointer)
        return not capacity.reference_facts and capacity.types["ref"].written_as == "ref" and not is_choice

    def wrap_reference(
        self, reference: RefType, pointer: str, *, top: str | None, spill: list[str] | None
    ) -> Type:
        """Return a reference without facts, in a choice of one where there is something to describe."""
        first = len(self.findings)
        notes: list[str] = []
        extensions = self.fit_facts(reference, pointer, notes)["extensions"]
        bare = RefType(name=self.fit_reference(reference, pointer))
        text = self.fit_description(reference.description, pointer, notes, top=top, spill=spill)
        if text is None:
            return bare.changed({"extensions": extensions})
        wrapped = OneOfType(alternatives=(bare,), exclusive=False, description=text, extensions=extensions)
        reported = {finding.pointer for finding in self.findings[first:]}
        before, after = dict(leaves_of_type(reference, pointer)), dict(leaves_of_type(wrapped, pointer))
        for leaf in different_leaves(before, after):
            if leaf not in reported:
                message = "the reference is written as a choice of one, which has the description"
                self.report(REFERENCE_WRAPPED, Level.RENAMED, leaf, message)
        return wrapped

    def carries_null(self, pointer: str) -> bool:
        """Return whether the dialect carries that the type at a pointer may be null."""
        if pointer.startswith("/definitions/") and pointer.count("/") == _SLASHES_OF_DEFINITION:
            return self.capacity.nullable and self.capacity.nullable_definitions
        carries_items = self.capacity.nullable_items or self.own
        return self.capacity.nullable and (carries_items or not pointer.endswith("/items"))

    @property
    def lifts_null(self) -> bool:
        """Whether a choice or combination says that null is allowed, and its parts cannot."""
        return self.capacity.nullable and not self.capacity.nullable_members and not self.own

    def lift_null(
        self, type_: AllOfType | OneOfType, pointer: str, notes: list[str], *, is_nullable: bool
    ) -> bool:
        """Return whether a choice or combination is written as nullable, where its parts cannot be."""
        if not self.lifts_null:
            return is_nullable
        is_added = not is_nullable and parts_allow_null(type_)
        is_carried = self.carries_null(pointer)
        level = Level.RENAMED
        message = "the target says of the whole type whether null is allowed"
        if is_added and not is_carried:
            level = self.in_text(Level.NARROWED)
            message = "the target cannot allow null; the description says that the source allows it"
            notes.append(MAY_BE_NULL)
        for leaf in nullable_parts(type_, pointer):
            self.report(NULLABLE_MOVED, level, leaf, message)
        if is_added and is_carried:
            leaf = f"{pointer}/nullable"
            self.report(NULLABLE_MOVED, Level.RENAMED, leaf, "null is allowed of the whole type")
        return is_nullable or (is_added and is_carried)

    def carries(self, type_: Type, kind: str, name: str, value: Any) -> bool:
        """Return whether the dialect carries a constraint of a type that is written as `kind`."""
        types = self.capacity.types
        if name not in types[type_.kind].constraints or name not in types[kind].constraints:
            return False
        if name != "enum":
            return self.capacity.text != "xml" or (bool(value) and is_plain_text(value))
        if self.capacity.enum_values == "any":
            return True
        matches = KIND_CHECKS.get(kind)
        return matches is not None and bool(value) and all(map(matches, value))

    def fit_shape(self, type_: Type, pointer: str) -> dict[str, Any]:
        """Return the changed shape fields of a type whose kind and inner types the dialect carries."""
        if type_.kind in SCALAR_KINDS:
            return {}
        if isinstance(type_, ObjectType):
            written = self.property_names(type_, pointer)
            properties = {
                written[name]: self.fit_property(property_, f"{pointer}/properties/{pointer_token(name)}")
                for name, property_ in type_.properties.items()
            }
            return {"properties": properties, **self.fit_class(type_, pointer)}
        if isinstance(type_, ArrayType):
            return {"items": self.fit_items(type_, pointer)}
        if isinstance(type_, AllOfType):
            members = tuple(
                self.fit_part(member, f"{pointer}/members/{position}")
                for position, member in enumerate(type_.members)
            )
            return {"members": members, **self.fit_class(type_, pointer)}
        if isinstance(type_, OneOfType):
            return {**self.fit_alternatives(type_, pointer), **self.fit_class(type_, pointer)}
        if isinstance(type_, RefType):
            return {"name": self.fit_reference(type_, pointer)}
        if isinstance(type_, OpaqueType) and type_.class_name is not None:
            return {"class_name": self.clean(type_.class_name, f"{pointer}/class_name")}
        return {}

    def fit_items(self, array: ArrayType, pointer: str) -> Type | None:
        """Return what an array holds."""
        if array.items is not None:
            is_nested = isinstance(self.resolved(array.items), ArrayType) and not self.own
            as_kind = "string" if is_nested and not self.capacity.nested_arrays else None
            return self.fit_type(array.items, f"{pointer}/items", as_kind=as_kind)
        if not self.capacity.items_required:
            return None
        self.report_items(f"{pointer}/items/kind")
        return ScalarType(kind="string")

    def fit_alternatives(self, choice: OneOfType, pointer: str) -> dict[str, Any]:
        """Return the alternatives of a one-of, and whether exactly one applies."""
        alternatives = tuple(
            self.fit_alternative(choice, position, f"{pointer}/alternatives/{position}")
            for position in range(len(choice.alternatives))
        )
        is_limited = self.capacity.inclusive_only if choice.exclusive else self.capacity.exclusive_only
        if not is_limited:
            return {"alternatives": alternatives}
        is_disjoint = are_disjoint([self.resolved(each) for each in choice.alternatives])
        if choice.exclusive:
            level = Level.RENAMED if is_disjoint else Level.WIDENED
            message = "the target allows several alternatives at once"
            self.report(EXCLUSIVE_DROPPED, level, f"{pointer}/exclusive", message)
            return {"alternatives": alternatives, "exclusive": False}
        self.report(
            EXCLUSIVE_ASSUMED,
            Level.RENAMED if is_disjoint else Level.NARROWED,
            f"{pointer}/exclusive",
            "the target allows exactly one alternative",
        )
        return {"alternatives": alternatives, "exclusive": True}

    def fit_part(self, part: Type, pointer: str) -> Type:
        """Return a part of a choice or combination; `lift_null` writes whether null is allowed."""
        return self.fit_type(without_null(part) if self.lifts_null else part, pointer)

    def fit_alternative(self, choice: OneOfType, position: int, pointer: str) -> Type:
        """Return an alternative, with a class name where the dialect chooses by it."""
        part = choice.alternatives[position]
        fitted = self.fit_part(part, pointer)
        if (
            self.capacity.one_of_class is None
            or self.own
            or not isinstance(fitted, ObjectType | AllOfType)
            or fitted.qualified_name is not None
        ):
            return fitted
        name = f"{choice.qualified_name or self.capacity.one_of_class}${position}"
        message = f"the target chooses by class names; {name!r} is written"
        self.report(FIELD_DEFAULTED, Level.DEFAULTED, f"{pointer}/qualified_name", message)
        return fitted.changed({"qualified_name": name})

    def fit_class(self, type_: ObjectType | AllOfType | OneOfType, pointer: str) -> dict[str, str | None]:
        """Return the class name of a composite type."""
        name = type_.qualified_name
        leaf = f"{pointer}/qualified_name"
        if name is None:
            default = self.capacity.one_of_class
            if default is None or not isinstance(type_, OneOfType):
                return {}
            self.report(
                FIELD_DEFAULTED,
                Level.DEFAULTED,
                leaf,
                f"the target requires a class name; {default!r} is written",
            )
            return {"qualified_name": default}
        if not self.capacity.qualified_names:
            self.report(CLASS_DROPPED, Level.DROPPED, leaf, "the target does not have class names")
            return {"qualified_name": None}
        return {"qualified_name": self.clean(name, leaf)}

    def fit_reference(self, reference: RefType, pointer: str) -> str:
        """Return the name a reference is written with."""
        name = self.definition_names.get(reference.name, reference.name)
        if name != reference.name:
            self.report(
                RENAMED, Level.RENAMED, f"{pointer}/name", f"{reference.name!r} is {name!r} in the target"
            )
        return name

    def fit_property(
        self,
        property_: Property,
        pointer: str,
        *,
        top: str | None = None,
        carries_required: bool = True,
        spill: list[str] | None = None,
    ) -> Property:
        """Return a property as the dialect writes it."""
        required = property_.required
        if not required and not carries_required:
            message = "the target does not have optional values here"
            self.report(REQUIRED_ASSUMED, Level.NARROWED, f"{pointer}/required", message)
            required = True
        return property_.changed(
            {
                "type": self.fit_type(property_.type, f"{pointer}/type", top=top, spill=spill),
                "required": required,
                "extensions": self.fit_extensions(property_.extensions, pointer),
            }
        )

    def property_names(self, object_type: ObjectType, pointer: str) -> dict[str, str]:
        """Return the written name of each property, and report those that differ."""
        written = self.written_names(object_type, pointer)
        for name, target in written.items():
            if target != name:
                self.rename(f"{pointer}/properties/{pointer_token(name)}", name, target)
        return written

    def written_names(self, object_type: ObjectType, pointer: str) -> dict[str, str]:
        """Return the written name of each property."""
        capacity = self.capacity
        is_free = capacity.parameter_rule is None or not self.is_input(pointer)
        rule = capacity.property_rule if is_free else capacity.parameter_rule
        if rule is None or self.own:
            return {name: name for name in object_type.properties}
        return map_names(((name, name) for name in object_type.properties), rule.rule())

    def should_unwrap(self, choice: OneOfType) -> bool:
        """Return whether a choice is one of one that the dialect does not write as a choice."""
        if len(choice.alternatives) != 1:
            return False
        capacity = self.capacity
        carried = (
            capacity.nested and capacity.types["one-of"].written_as == "one-of" and not self.is_hidden(choice)
        )
        if carried and (choice.exclusive or not capacity.exclusive_only):
            return False
        inner = choice.alternatives[0]
        if choice.keywords.keys() & inner.keywords.keys():
            return False
        return all(
            getattr(choice, name) is None or getattr(inner, name) is None
            for name in ("enum", "pattern", "format")
        )

    def unwrap(self, choice: OneOfType, pointer: str, fit: Callable[[Type], Type]) -> Type:
        """Return the only alternative of a choice, with the facts of both, as `fit` writes it there."""
        inner = choice.alternatives[0]
        texts = [text for text in (choice.description, inner.description) if text is not None]
        merged = inner.model_copy(
            update={
                "nullable": choice.nullable or (inner.nullable and not excludes_null(choice)),
                "description": " ".join(texts) if texts else None,
                "enum": inner.enum if choice.enum is None else choice.enum,
                "pattern": inner.pattern if choice.pattern is None else choice.pattern,
                "format": inner.format if choice.format is None else choice.format,
                "keywords": {**inner.keywords, **choice.keywords},
                "extensions": {
                    namespace: {**inner.extensions.get(namespace, {}), **choice.extensions.get(namespace, {})}
                    for namespace in (*inner.extensions, *choice.extensions)
                },
            }
        )
        return self.fit_moved(
            choice,
            lambda: fit(merged),
            pointer,
            moved_from=f"{pointer}/alternatives/0",
            moved_to=pointer,
            code=ALTERNATIVE_UNWRAPPED,
            message="the only alternative is written in place of the choice",
        )

    def dangles(self, reference: RefType) -> bool:
        """Return whether a reference leads nowhere and the dialect cannot say so."""
        is_kept = self.own and self.capacity.dangling_references
        return reference.name not in self.provider.definitions and not is_kept

    def replace_dangling(
        self, reference: RefType, pointer: str, *, top: str | None, spill: list[str] | None
    ) -> Type:
        """Return any type in place of a reference that leads nowhere."""
        facts = {name: getattr(reference, name) for name in TypeFacts.model_fields}
        return self.fit_moved(
            reference,
            lambda: self.fit_type(AnyType(**facts), pointer, top=top, spill=spill),
            pointer,
            moved_from=pointer,
            moved_to=pointer,
            code=REFERENCE_DROPPED,
            level=Level.DROPPED,
            message=f"{reference.name!r} is not declared in the source; any value is allowed in its place",
        )

    def fit_moved(
        self,
        type_: Type,
        fit: Callable[[], Type],
        pointer: str,
        *,
        moved_from: str,
        moved_to: str,
        code: str,
        message: str,
        level: Level = Level.RENAMED,
    ) -> Type:
        """Return a type of which a part moves to another place, and report each difference.

        A difference has the finding of its new place, else one with `code`; names given at the
        new place are reported at the old one, where the source has them.

        Args:
            type_: The type as it was.
            fit: Fits it; its findings are at the new place.
            pointer: JSON Pointer of the type.
            moved_from: JSON Pointer of the part as it was.
            moved_to: JSON Pointer of the part as it is written.
            code: Finding code of the move itself.
            message: Its message.
            level: Its level.
        """
        outer_findings, self.findings = self.findings, []
        outer_names, self.names = self.names, []
        fitted = fit()
        inner_findings, self.findings = self.findings, outer_findings
        named, self.names = self.names, outer_names
        by_pointer = {finding.pointer: finding for finding in inner_findings}
        originals = {
            (entry.pointer.rpartition("/")[0], pointer_token(entry.written)): pointer_token(entry.original)
            for entry in named
        }
        before = dict(leaves_of_type(type_, pointer))
        for leaf in different_leaves(before, dict(leaves_of_type(fitted, pointer))):
            known = by_pointer.get(_with_original_names(leaf, originals))
            if known is None and leaf in before and leaf.startswith(moved_from + "/"):
                known = by_pointer.get(moved_to + leaf[len(moved_from) :])
                if known is not None and known.code == TEXT_ADDED:
                    known = None
            if known is None:
                self.report(code, level, leaf, message)
            else:
                self.findings.append(known.model_copy(update={"pointer": leaf}))
        for entry in named:
            self.rename(moved_from + entry.pointer[len(moved_to) :], entry.original, entry.written)
        return fitted

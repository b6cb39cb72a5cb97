"""What every part of fitting takes: the collector of findings and names, and where in the model it is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any, Literal, NamedTuple

from droidgate_mappings.fit import losses
from droidgate_mappings.fit.losses import Loss
from droidgate_mappings.json_schema import NAMESPACE, NOTATION
from droidgate_mappings.json_schema.schema_words import UNSTATED_BOUNDS
from droidgate_mappings.model.capability import Place, Provider
from droidgate_mappings.model.findings import Finding
from droidgate_mappings.model.json_values import Json, canonical_json, pointer_token
from droidgate_mappings.model.names import NameEntry
from droidgate_mappings.model.type_qualities import (
    is_object,
    is_record,
    null_definitions,
    object_definitions,
    record_definitions,
    takes_null,
)
from droidgate_mappings.model.types import AllOfType, Extensions, ObjectType, OneOfType, RefType, Type
from droidgate_mappings.records import dataclass, field
from droidgate_mappings.tables.capacity import Capacity
from droidgate_mappings.tables.loading import find_format_tables
from droidgate_mappings.text.xml_text import NOT_XML


class Node(NamedTuple):
    """Where a type is in the model.

    Attributes:
        pointer: Its JSON Pointer.
        role: `input` of a capability or a `definition` as a whole, the `items` of an array, or another part.
        top: The name of the parameter or output that it is the type of, or None.
        outer_notes: Those of the capability, which take the notes of a type without a description of its own.
    """

    pointer: str
    role: Literal["input", "definition", "items", "part"] = "part"
    top: str | None = None
    outer_notes: list[str] | None = None

    def leaf(self, field: str) -> str:
        """Return the JSON Pointer of one of its fields."""
        return f"{self.pointer}/{field}"


@dataclass
class Collector:
    """Collects the findings while one provider is fitted into a capacity.

    Attributes:
        provider: The provider as it was.
        capacity: What the dialect carries; that of outputs while one is fitted.
        format_id: The target format.
        findings: What was reported.
        names: What got another name.
        place: The source of what is being fitted.
        definition_names: Definition -> the name that it is written with.
        kinds: Definition -> the kind that replaces a reference to it.
        losses_of_parameters: JSON Pointer of a definition's leaf -> what is lost of it where an input refers
            to the definition and its properties are written as the parameters.
    """

    provider: Provider
    capacity: Capacity
    format_id: str
    findings: list[Finding] = field(default_factory=list)
    names: list[NameEntry] = field(default_factory=list)
    place: Place | None = None
    definition_names: dict[str, str] = field(default_factory=dict)
    kinds: dict[str, str] = field(default_factory=dict)
    losses_of_parameters: dict[str, Finding] = field(default_factory=dict)

    @property
    def comes_from_target(self) -> bool:
        """The provider was read from the target format, in a dialect like the target: its names are kept."""
        alike = self.capacity.alike_dialects
        return self.provider.protocol == self.format_id and (alike is None or self.provider.dialect in alike)

    def report(self, loss: Loss, pointer: str, *lost: Any, **names: Any) -> None:
        """Add a loss at the place that is being fitted.

        Args:
            loss: The row of the table.
            pointer: JSON Pointer of the leaf.
            lost: What the row's function of the level takes.
            names: What the row's words name.
        """
        capacity = self.capacity
        has_text = not loss.in_text or (
            capacity.type_descriptions != "none" or "description" in capacity.capability_fields
        )
        self.findings.append(loss.finding(pointer, *lost, source=self.place, has_text=has_text, **names))

    def report_moved(self, loss: Loss, pointer: str, text: str, **names: Any) -> None:
        """Report a text that is now part of another one, or that loses characters there."""
        if self.capacity.text == "xml" and NOT_XML.search(text):
            self.report(losses.XML_CHARACTERS_MOVED, pointer, moved=loss.words.format(**names))
        else:
            self.report(loss, pointer, **names)

    @contextmanager
    def apart(self) -> Iterator[tuple[list[Finding], list[NameEntry]]]:
        """Collect findings and names in lists of their own, which the caller reports where they belong."""
        outer = self.findings, self.names
        self.findings, self.names = [], []
        yield self.findings, self.names
        self.findings, self.names = outer

    def rename(self, pointer: str, original: str, written: str) -> None:
        """Put a new name on the name map, and report it."""
        self.names.append(NameEntry(pointer=pointer, original=original, written=written))
        self.report(losses.NEW_NAME, pointer, original=original, written=written)

    def clean(self, text: str, pointer: str, *, quiet: bool = False) -> str:
        """Return a text that the dialect can hold; `quiet` where a finding for the same leaf is reported
        anyway.
        """
        only_xml = self.capacity.text == "xml" or pointer.removeprefix("/") in self.capacity.xml_fields
        if not only_xml or not NOT_XML.search(text):
            return text
        if not quiet:
            self.report(losses.XML_CHARACTERS, pointer)
        return NOT_XML.sub("\ufffd", text)

    def add_notes(
        self, text: str | None, notes: list[str], pointer: str, *, separator: str = " "
    ) -> str | None:
        """Return a text with notes at its end, and report it."""
        if not notes:
            return text
        self.report(losses.NOTES_ADDED, pointer)
        joined = separator.join(notes if text is None else [text, *notes])
        return NOT_XML.sub("\ufffd", joined) if self.capacity.text == "xml" else joined

    def fit_extensions(
        self, extensions: Extensions, pointer: str, notes: list[str] | None = None
    ) -> Extensions:
        """Return the extensions that the dialect carries; what people should know goes to `notes`."""
        if not extensions or "*" in self.capacity.extensions:
            return extensions
        carried_extensions: Extensions = {}
        for format_id, facts in extensions.items():
            carried = self.carried_facts(format_id, facts)
            if carried:
                carried_extensions[format_id] = carried
            for fact, value in facts.items():
                if fact not in carried:
                    leaf = f"{pointer}/extensions/{format_id}/{pointer_token(fact)}"
                    self.leave_out_fact(format_id, fact, value, leaf, notes)
        return carried_extensions

    def leave_out_fact(
        self, format_id: str, fact: str, value: Json, leaf: str, notes: list[str] | None
    ) -> None:
        """Report that a fact of a format has no place of its own, with a note if users should know it."""
        tables = find_format_tables(format_id)
        if (format_id, fact) == (NOTATION, UNSTATED_BOUNDS):
            is_bounded = self.capacity.types["int32"].written_as == "int32"
            self.report(losses.INT32_WITHOUT_BOUNDS, leaf, is_bounded)
        elif format_id in {NAMESPACE, NOTATION} or (tables is not None and fact in tables.notations):
            self.report(losses.FACT_OF_NOTATION, leaf, fact=fact)
        elif tables is not None and notes is not None and fact in tables.labels:
            self.report(losses.FACT_IN_TEXT, leaf, fact=fact)
            notes.append(
                f"[{tables.labels[fact]}: {value if isinstance(value, str) else canonical_json(value)}]"
            )
        else:
            self.report(losses.FACT, leaf, fact=fact, format_id=format_id)

    def carried_facts(self, format_id: str, facts: dict[str, Json]) -> dict[str, Json]:
        """Return those facts of a format that the dialect carries."""
        if format_id not in self.capacity.extensions:
            return {}
        only = self.capacity.extension_facts.get(format_id)
        return facts if only is None else {fact: value for fact, value in facts.items() if fact in only}

    def resolved(self, type_: Type) -> Type:
        """Return the type behind references and choices of one; the last one where references go in a
        circle.
        """
        definitions = self.provider.definitions
        seen: set[str] = set()
        while True:
            if isinstance(type_, RefType) and type_.name in definitions and type_.name not in seen:
                seen.add(type_.name)
                type_ = definitions[type_.name]
            elif isinstance(type_, OneOfType) and len(type_.alternatives) == 1:
                type_ = type_.alternatives[0]
            else:
                return type_

    @cached_property
    def _records(self) -> frozenset[str]:
        return record_definitions(self.provider.definitions)

    @cached_property
    def _objects(self) -> frozenset[str]:
        return object_definitions(self.provider.definitions)

    @cached_property
    def _nulls(self) -> frozenset[str]:
        return null_definitions(self.provider.definitions)

    def is_hidden(self, type_: Type) -> bool:
        """Return whether callers of the dialect do not see a capability that has the type."""
        if not self.capacity.records_only or self.comes_from_target:
            return False
        if not isinstance(type_, ObjectType | AllOfType | OneOfType):
            return False
        return not is_record(type_, self._records.__contains__)

    def is_object(self, type_: Type) -> bool:
        """Return whether every value of a type is an object."""
        return is_object(type_, self._objects.__contains__)

    def loses_null(self, type_: Type, kind: str) -> bool:
        """Return whether a type allows null, not by its own word, and the kind in its place does not."""
        if kind in {"any", "null"} or type_.nullable:
            return False
        return takes_null(type_, self._nulls.__contains__)

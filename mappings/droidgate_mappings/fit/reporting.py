"""What every part of fitting shares: the findings and names it collects, texts, and facts of formats."""

from __future__ import annotations

from dataclasses import dataclass, field

from droidgate_mappings.fit.codes import (
    CHARACTERS_REPLACED,
    EXTENSION_DROPPED,
    EXTENSION_MOVED,
    NOTATION_DROPPED,
    RENAMED,
    TEXT_ADDED,
)
from droidgate_mappings.json_schema import NAMESPACE, NOTATION
from droidgate_mappings.json_schema.words import UNSTATED_BOUNDS
from droidgate_mappings.model.capability import Place, Provider
from droidgate_mappings.model.findings import Finding, Level
from droidgate_mappings.model.json_values import Json, canonical_json, pointer_token
from droidgate_mappings.model.names import NameEntry
from droidgate_mappings.model.types import Extensions
from droidgate_mappings.tables.capacity import Capacity
from droidgate_mappings.tables.loading import find_format_tables
from droidgate_mappings.text.xml_text import NOT_XML


@dataclass(slots=True)
class Reporting:
    """Collects the findings while one provider is fitted into a capacity."""

    provider: Provider
    capacity: Capacity
    format_id: str
    findings: list[Finding] = field(default_factory=list)
    names: list[NameEntry] = field(default_factory=list)
    place: Place | None = None
    definition_names: dict[str, str] = field(default_factory=dict)

    @property
    def own(self) -> bool:
        """The provider comes from the target format, in a dialect like the target's: its names are kept."""
        alike = self.capacity.own_dialects
        return self.provider.protocol == self.format_id and (alike is None or self.provider.dialect in alike)

    @property
    def moved(self) -> Level:
        """The level of what is moved into a description: dropped where the dialect does not have one."""
        return self.in_text(Level.MOVED)

    def in_text(self, level: Level) -> Level:
        """Return the level of what is in a description only: `level`, or dropped where the dialect has no
        description.
        """
        has_text = (
            self.capacity.type_descriptions != "none" or "description" in self.capacity.capability_fields
        )
        return level if has_text else Level.DROPPED

    def report_moved(self, code: str, pointer: str, message: str, text: str) -> None:
        """Report a text that is now part of another one, or that loses characters there."""
        if self.capacity.text == "xml" and NOT_XML.search(text):
            message = f"{message}; characters that XML cannot hold became U+FFFD"
            self.report(CHARACTERS_REPLACED, Level.DROPPED, pointer, message)
        else:
            self.report(code, self.moved, pointer, message)

    def report(self, code: str, level: Level, pointer: str, message: str, *, hint: str | None = None) -> None:
        """Add a finding at the place that is being fitted."""
        self.findings.append(
            Finding(code=code, level=level, pointer=pointer, message=message, hint=hint, source=self.place)
        )

    def clean(self, text: str, pointer: str, *, quiet: bool = False) -> str:
        """Return a text that the dialect can hold; `quiet` where a finding for the same leaf is reported
        anyway.
        """
        only_xml = self.capacity.text == "xml" or pointer.removeprefix("/") in self.capacity.xml_fields
        if not only_xml or not NOT_XML.search(text):
            return text
        if not quiet:
            self.report(
                CHARACTERS_REPLACED, Level.DROPPED, pointer, "characters that XML cannot hold became U+FFFD"
            )
        return NOT_XML.sub("\ufffd", text)

    def add_notes(
        self, text: str | None, notes: list[str], pointer: str, *, separator: str = " "
    ) -> str | None:
        """Return a text with notes at its end, and report it."""
        if not notes:
            return text
        self.report(TEXT_ADDED, Level.MOVED, pointer, "moved facts are appended to the text")
        joined = separator.join(notes if text is None else [text, *notes])
        return NOT_XML.sub("\ufffd", joined) if self.capacity.text == "xml" else joined

    @staticmethod
    def put_first(text: str, notes: list[str]) -> None:
        """Make a moved text the first note; a blank text leaves nothing to append."""
        if text.strip():
            notes.insert(0, text)

    def fit_extensions(
        self, extensions: Extensions, pointer: str, notes: list[str] | None = None
    ) -> Extensions:
        """Return the extensions that the dialect carries; what people should know goes to `notes`."""
        if not extensions or "*" in self.capacity.extensions:
            return extensions
        kept: Extensions = {}
        for format_id, facts in extensions.items():
            carried = self.carried_facts(format_id, facts)
            if carried:
                kept[format_id] = carried
            for fact, value in facts.items():
                if fact not in carried:
                    leaf = f"{pointer}/extensions/{format_id}/{pointer_token(fact)}"
                    self.leave_out_fact(format_id, fact, value, leaf, notes)
        return kept

    def leave_out_fact(
        self, format_id: str, fact: str, value: Json, leaf: str, notes: list[str] | None
    ) -> None:
        """Report that a fact of a format has no place of its own, with a note if users should know it."""
        tables = find_format_tables(format_id)
        if (format_id, fact) == (NOTATION, UNSTATED_BOUNDS):
            is_bounded = self.capacity.types["int32"].written_as == "int32"
            level = Level.NARROWED if is_bounded else Level.RENAMED
            message = "the source calls the integer int32 and does not state the bounds; int32 has them"
            self.report(NOTATION_DROPPED, level, leaf, message)
        elif format_id in {NAMESPACE, NOTATION} or (tables is not None and fact in tables.notations):
            message = f"{fact!r} only says how the source is written; the target has its own way"
            self.report(NOTATION_DROPPED, Level.RENAMED, leaf, message)
        elif tables is not None and notes is not None and fact in tables.labels:
            self.report(EXTENSION_MOVED, self.moved, leaf, f"{fact!r} is appended to the description")
            notes.append(
                f"[{tables.labels[fact]}: {value if isinstance(value, str) else canonical_json(value)}]"
            )
        else:
            message = f"{fact!r} is a fact of {format_id}, which the target does not have"
            self.report(EXTENSION_DROPPED, Level.DROPPED, leaf, message)

    def carried_facts(self, format_id: str, facts: dict[str, Json]) -> dict[str, Json]:
        """Return those facts of a format that the dialect carries."""
        if format_id not in self.capacity.extensions:
            return {}
        only = self.capacity.extension_facts.get(format_id)
        return facts if only is None else {fact: value for fact, value in facts.items() if fact in only}

    def rename(self, pointer: str, original: str, written: str) -> None:
        """Put a new name on the name map, and report it."""
        self.names.append(NameEntry(pointer=pointer, original=original, written=written))
        self.report(RENAMED, Level.RENAMED, pointer, f"{original!r} is {written!r} in the target")

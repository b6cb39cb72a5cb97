"""The AppSearch schema of an app, read from its XSD-like file (reference appfunctions 2.f)."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from droidgate_android.app_search.events import Event, IndexerError, PullParser
from droidgate_android.projects.indexed_text import parse_integer
from droidgate_mappings.records import dataclass, field, replace
from droidgate_mappings.tables.app_functions import (
    CARDINALITIES,
    SCHEMA_KINDS,
    Cardinality,
    IndexerLimits,
    Release,
    SchemaProperty,
    SchemaTypes,
    load_indexing,
    load_schema_types,
)

_BASIC_MULTILINGUAL: Final = 0xFFFF

_USUAL_SCHEMA: Final = 64 << 10
"""Characters of a schema that is kept once it is read: most apps have the very one that Jetpack makes."""


@dataclass(frozen=True, slots=True)
class AppSearchSchema:
    """The document types that an app's files may use.

    Attributes:
        types: Type -> property -> what it holds.
        duplicates: `(type, property)` that the file declares again; the first declaration counts.
        lines: Line of each type's declaration.
        attributes: Type -> property -> the attributes of its element as written, without its name.
        unread: What Android does not read of the file, in a few words, and its line.
    """

    types: SchemaTypes
    duplicates: tuple[tuple[str, str], ...] = ()
    lines: Mapping[str, int | None] = field(default_factory=dict)
    attributes: Mapping[str, Mapping[str, Mapping[str, str]]] = field(default_factory=dict)
    unread: tuple[tuple[str, int | None], ...] = ()

    def for_release(self, release: Release) -> AppSearchSchema:
        """Return the schema in force on a release: 17 sets some of the platform's own properties."""
        if not release.scoped:
            return self
        types = {name: dict(properties) for name, properties in self.types.items()}
        for name, properties in load_schema_types("scoped").items():
            types[name] = {**types.get(name, {}), **properties}
        return replace(self, types=types)


def platform_schema() -> AppSearchSchema:
    """Return the schema that Android itself declares for functions."""
    return AppSearchSchema(load_schema_types("android"))


def hand_written_schema() -> AppSearchSchema:
    """Return the schema of the hand-written style with three parallel lists (reference 2.d)."""
    return AppSearchSchema(load_schema_types("platform"))


def jetpack_schema() -> AppSearchSchema:
    """Return the schema that the newest Jetpack library ships."""
    return AppSearchSchema(load_schema_types("jetpack"))


def read_schema(text: str, limits: IndexerLimits | None = None) -> AppSearchSchema:
    """Read an app's `app_functions_schema.xsd`.

    Args:
        text: The file.
        limits: The indexer's limits where they are not the usual ones.

    Raises:
        IndexerError: Android rejects the whole schema; the reason says why.
    """
    read = _read_usual if len(text) <= _USUAL_SCHEMA else _read
    return read(text, limits or load_indexing().limits)


def _read(text: str, limits: IndexerLimits) -> AppSearchSchema:
    reader = _SchemaReader(limits)
    parser = PullParser(text, namespaces=False)
    while parser.event.type != "end-document":
        reader.take(parser.event)
        parser.next()
    return reader.finish()


_read_usual = lru_cache(maxsize=8)(_read)


class _SchemaReader:
    def __init__(self, limits: IndexerLimits) -> None:
        self._limits = limits
        self._types: dict[str, dict[str, SchemaProperty]] = {}
        self._lines: dict[str, int | None] = {}
        self._duplicates: list[tuple[str, str]] = []
        self._unread: list[tuple[str, int | None]] = []
        self._nested: dict[str, int | None] = {}
        self._open: str | None = None
        self._properties: dict[str, SchemaProperty] = {}
        self._attributes: dict[str, dict[str, Mapping[str, str]]] = {}

    def take(self, event: Event) -> None:
        if event.name == "xs:documentType" and event.type == "start":
            self._open_type(event)
        elif event.name == "xs:documentType" and event.type == "end":
            if self._open is not None:
                self._types[self._open] = self._properties
            self._open = None
        elif event.name == "xs:element" and event.type == "start" and self._open is not None:
            self._add_property(self._open, event)

    def _open_type(self, event: Event) -> None:
        if len(self._types) >= self._limits.schema_types:
            message = f"the schema has more than {self._limits.schema_types} document types"
            raise IndexerError("too-many-types", message, line=event.line)
        name = event.attributes.get("name")
        if name is None:
            self._unread.append(("a document type without a name", event.line))
            return
        if name in self._types:
            self._unread.append((f"an earlier declaration of the type {name}", self._lines[name]))
        self._open, self._properties, self._attributes[name] = name, {}, {}
        self._lines[name] = event.line

    def _add_property(self, type_name: str, event: Event) -> None:
        name = event.attributes.get("name")
        if not name or not all(map(_is_letter_or_digit, name)):
            message = f"the property name {name or ''!r} of {type_name} has more than letters and digits"
            raise IndexerError("bad-property-name", message, line=event.line, name=name)
        word = event.attributes.get("type")
        if word is None:
            self._unread.append((f"the property {name} of {type_name}, which has no type,", event.line))
            return
        read = self._read_property(name, word, event)
        if name in self._properties:
            self._duplicates.append((type_name, name))
            self._unread.append((f"the duplicate property {name} of {type_name}", event.line))
            return
        self._properties[name] = read
        attributes = {key: value for key, value in event.attributes.items() if key != "name"}
        self._attributes[type_name][name] = attributes

    def _read_property(self, name: str, word: str, event: Event) -> SchemaProperty:
        cardinality = CARDINALITIES[_read_choice(event, "cardinality", 2, range(1, 4))]
        kind = SCHEMA_KINDS.get(word)
        if kind == "string":
            _check_string_indexing(event, cardinality)
        elif kind == "long":
            _read_choice(event, "indexingType", 0, range(2))
        if kind is not None:
            return SchemaProperty(kind, cardinality)
        if "appfn:" not in word:
            message = f"the property {name} has the type {word!r}, which AppSearch does not have"
            raise IndexerError("unsupported-type", message, line=event.line, name=name)
        target = word.partition(":")[2]
        self._nested.setdefault(target, event.line)
        return SchemaProperty("document", cardinality, target)

    def finish(self) -> AppSearchSchema:
        function_type = load_indexing().names.function_type
        if function_type not in self._types:
            raise IndexerError(
                "no-function-type", f"the schema declares no {function_type}", name=function_type
            )
        for name, line in self._nested.items():
            if name not in self._types:
                message = f"the schema uses the type {name} and does not declare it"
                raise IndexerError("undefined-type", message, line=line, name=name)
        attributes = {name: self._attributes[name] for name in self._types}
        return AppSearchSchema(
            self._types, tuple(self._duplicates), self._lines, attributes, tuple(self._unread)
        )


def _check_string_indexing(event: Event, cardinality: Cardinality) -> None:
    indexing = _read_choice(event, "indexingType", 0, range(3))
    tokenizer = _read_choice(event, "tokenizerType", 0, range(4))
    joinable = _read_choice(event, "joinableValueType", 0, range(2))
    if bool(indexing) != bool(tokenizer):
        message = "indexingType and tokenizerType are both 0 or both not"
    elif joinable and cardinality == "repeated":
        message = "a repeated property cannot be joined by"
    else:
        return
    raise IndexerError("bad-attribute", message, line=event.line, name=event.attributes.get("name"))


def _read_choice(event: Event, attribute: str, default: int, allowed: range) -> int:
    written = event.attributes.get(attribute)
    if written is None:
        return default
    number = parse_integer(written, 32)
    if number is None or number not in allowed:
        message = f"{attribute} is {written!r} and has to be a number from {allowed[0]} to {allowed[-1]}"
        raise IndexerError("bad-attribute", message, line=event.line, name=event.attributes.get("name"))
    return number


def _is_letter_or_digit(character: str) -> bool:
    # Android looks at UTF-16 units, so a letter outside the basic plane is two units and none of them a
    # letter.
    category = unicodedata.category(character)
    return ord(character) <= _BASIC_MULTILINGUAL and (category.startswith("L") or category == "Nd")

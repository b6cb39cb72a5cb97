"""Findings about signatures: what Jetpack's reader needs of indexed documents (reference 2.c, 2.d, 3.3)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from droidgate_android.app_search import IndexedDocument, IndexingReport, Properties
from droidgate_android.projects.java_text import parse_integer
from droidgate_appfunctions import lint_rules as rules
from droidgate_appfunctions.constants import KIND_OF_NUMBER
from droidgate_mappings.model.capability import Place
from droidgate_mappings.model.findings import Finding
from droidgate_mappings.model.json_values import Json, pointer_token
from droidgate_mappings.model.lint_rules import LintRule
from droidgate_mappings.tables.app_functions import load_indexing

_ACCESS_LEVELS: Final = frozenset({"self", "system", "androidTrusted"})
_PATTERN_TYPES: Final = range(5)
_PARALLEL: Final = ("paramNames", "paramTypes", "paramRequired")
_SCHEMA_NAMES: Final = ("schemaCategory", "schemaName")
_PATH_CHARACTERS: Final = frozenset(".[")


def findings_of_signatures(report: IndexingReport) -> Iterator[Finding]:
    """Yield the findings of a release's documents."""
    component_type = load_indexing().names.component_type
    components = [document for document in report.documents.values() if document.type == component_type]
    names = {
        str(name)
        for component in components
        for data_type in _documents(component.properties, "dataTypes")
        for name in data_type.get("name", [])
    }
    for document in report.documents.values():
        checker = _Checker(document, names)
        if document.is_function:
            yield from checker.check_function()
        elif document.type == component_type:
            yield from checker.check_named(document.properties, "dataTypes", _pointer(document.id))


def _pointer(*tokens: str | int) -> str:
    return "".join(f"/{pointer_token(str(token))}" for token in tokens)


def _documents(properties: Mapping[str, Json], name: str) -> list[Properties]:
    return [property_ for property_ in properties.get(name, []) if isinstance(property_, dict)]


def _first(properties: Mapping[str, Json], name: str) -> Json:
    values = properties.get(name)
    return values[0] if values else None


@dataclass(frozen=True, slots=True)
class _Checker:
    document: IndexedDocument
    component_names: set[str]

    @property
    def _place(self) -> Place | None:
        return self.document.place

    def _finding(self, rule: LintRule, message: str, pointer: str) -> Finding:
        return rule.broken(f"{self.document.id}: {message}", pointer=pointer, source=self._place)

    def check_function(self) -> Iterator[Finding]:
        properties, pointer = self.document.properties, _pointer(self.document.id)
        yield from self._check_schema(properties, pointer)
        if "description" not in properties:
            yield self._finding(rules.NO_DESCRIPTION, "it has no description", pointer)
        level = _first(properties, "accessLevel")
        if level is not None and level not in _ACCESS_LEVELS:
            yield self._finding(rules.ACCESS_LEVEL, f"the access level is {level!r}", pointer)
        lengths = [len(properties.get(name, [])) for name in _PARALLEL]
        if len(set(lengths)) > 1:
            counts = ", ".join(f"{count} {name}" for name, count in zip(_PARALLEL, lengths, strict=True))
            yield self._finding(rules.UNEVEN_LISTS, f"it has {counts}", pointer)
        yield from self.check_named(properties, "parameters", pointer)
        for index, response in enumerate(_documents(properties, "response")):
            yield from self._check_types(response, "valueType", f"{pointer}/response/{index}")

    def _check_schema(self, properties: Properties, pointer: str) -> Iterator[Finding]:
        version = _first(properties, "schemaVersion")
        said = [bool(_first(properties, name)) for name in _SCHEMA_NAMES]
        said.append(isinstance(version, int) and version > 0)
        stated = any(name in properties for name in (*_SCHEMA_NAMES, "schemaVersion"))
        if stated and not all(said):
            message = "schemaCategory, schemaName and schemaVersion are not all given"
            yield self._finding(rules.SCHEMA_TRIPLE, message, pointer)
        described = "response" in properties or "paramNames" in properties
        if not described and not all(said):
            message = "it has neither a response nor a predefined schema"
            yield self._finding(rules.NO_SIGNATURE, message, pointer)

    def check_named(self, properties: Mapping[str, Json], name: str, pointer: str) -> Iterator[Finding]:
        """Check named documents with a data type: parameters, properties, components' types."""
        items = _documents(properties, name)
        for index, item in enumerate(items):
            here = f"{pointer}/{name}/{index}"
            said = _first(item, "name")
            if not said:
                yield self._finding(rules.UNNAMED_PARAMETER, f"an entry of {name} has no name", here)
            elif name != "dataTypes" and _PATH_CHARACTERS & set(said):
                yield self._finding(rules.UNREADABLE_NAME, f"{said!r} reads as a path", here)
            yield from self._check_types(item, "dataTypeMetadata", here)
        counts = Counter(_first(item, "name") for item in items)
        for said, count in counts.items():
            if said and count > 1:
                message = f"{count} entries of {name} are called {said!r}"
                yield self._finding(rules.TWIN_PARAMETERS, message, f"{pointer}/{name}")

    def _check_types(self, holder: Mapping[str, Json], name: str, pointer: str) -> Iterator[Finding]:
        types = _documents(holder, name)
        if not types:
            yield self._finding(rules.UNTYPED, f"there is no {name}", pointer)
        for type_ in types:
            yield from self._check_type(type_, f"{pointer}/{name}/0")

    def _check_type(self, properties: Properties, pointer: str) -> Iterator[Finding]:
        number = _first(properties, "type")
        kind = KIND_OF_NUMBER.get(number) if isinstance(number, int) else None
        if number is not None and kind is None:
            yield self._finding(rules.UNKNOWN_TYPE, f"the type {number} is unknown", pointer)
        yield from self._check_shape(properties, kind, pointer)
        for index, pattern in enumerate(_documents(properties, "patterns")):
            if _first(pattern, "type") not in _PATTERN_TYPES:
                message = f"the pattern's type is {_first(pattern, 'type')}"
                yield self._finding(rules.PATTERN_TYPE, message, f"{pointer}/patterns/{index}")
        yield from self.check_named(properties, "properties", pointer)
        for name in ("itemType", "allOf", "oneOf"):
            for index, inner in enumerate(_documents(properties, name)):
                yield from self._check_type(inner, f"{pointer}/{name}/{index}")

    def _check_shape(self, data_type: Properties, kind: str | None, pointer: str) -> Iterator[Finding]:
        properties = _documents(data_type, "properties")
        if kind == "object":
            if not properties:
                yield self._finding(rules.EMPTY_OBJECT, "an object has no properties", pointer)
            names = {_first(property_, "name") for property_ in properties}
            for missing in (said for said in data_type.get("required", []) if said not in names):
                message = f"{missing!r} is required and is not a property"
                yield self._finding(rules.UNKNOWN_REQUIRED, message, pointer)
        elif kind == "one-of" and not _first(data_type, "objectQualifiedName"):
            yield self._finding(rules.UNNAMED_ONE_OF, "a choice of types has no name", pointer)
        elif kind == "int32":
            for value in data_type.get("enumValues", []):
                if parse_integer(str(value), 32) is None:
                    yield self._finding(rules.BAD_INT_ENUM, f"{value!r} is not a 32-bit integer", pointer)
        elif kind == "array" and not _documents(data_type, "itemType"):
            yield self._finding(rules.UNTYPED_ARRAY, "a list has no itemType", pointer)
        elif kind == "ref" and _first(data_type, "dataTypeReference") not in self.component_names:
            message = f"{_first(data_type, 'dataTypeReference')!r} is not a data type of the components"
            yield self._finding(rules.DANGLING_REFERENCE, message, pointer)

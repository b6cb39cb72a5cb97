"""What Jetpack's reader, and the agents that use it, do not take of a signature (reference 2.c, 2.d, 3.3)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from droidgate_android.app_search.indexing import IndexedDocument, IndexingReport, Properties
from droidgate_android.projects.indexed_text import parse_integer
from droidgate_appfunctions.format import KIND_OF_NUMBER
from droidgate_appfunctions.lint_rules import (
    ACCESS_LEVEL,
    BAD_INT_ENUM,
    DANGLING_REFERENCE,
    DUPLICATE_PARAMETERS,
    EMPTY_OBJECT,
    NO_DESCRIPTION,
    NO_PARAMETER_DESCRIPTION,
    NO_SIGNATURE,
    PATTERN_TYPE,
    SCHEMA_TRIPLE,
    UNEVEN_LISTS,
    UNKNOWN_REQUIRED,
    UNKNOWN_TYPE,
    UNNAMED_ONE_OF,
    UNNAMED_PARAMETER,
    UNREADABLE_NAME,
    UNTYPED,
    UNTYPED_ARRAY,
)
from droidgate_mappings.model.findings import Finding, LintRule
from droidgate_mappings.model.json_values import Json, pointer_token
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


def _first_value(properties: Mapping[str, Json], name: str) -> Json:
    values = properties.get(name)
    return values[0] if values else None


@dataclass(frozen=True, slots=True)
class _Checker:
    document: IndexedDocument
    component_names: set[str]

    def _finding(self, rule: LintRule, message: str, pointer: str) -> Finding:
        return rule.broken(f"{self.document.id}: {message}", pointer=pointer, source=self.document.place)

    def check_function(self) -> Iterator[Finding]:
        properties, pointer = self.document.properties, _pointer(self.document.id)
        yield from self._check_schema(properties, pointer)
        if "description" not in properties:
            yield self._finding(NO_DESCRIPTION, "it has no description", pointer)
        level = _first_value(properties, "accessLevel")
        if level is not None and level not in _ACCESS_LEVELS:
            yield self._finding(ACCESS_LEVEL, f"the access level {level!r} is unknown", pointer)
        lengths = [len(properties.get(name, [])) for name in _PARALLEL]
        if len(set(lengths)) > 1:
            counts = ", ".join(f"{count} {name}" for name, count in zip(_PARALLEL, lengths, strict=True))
            yield self._finding(UNEVEN_LISTS, f"it has {counts}", pointer)
        yield from self.check_named(properties, "parameters", pointer)
        for index, parameter in enumerate(_documents(properties, "parameters")):
            described = (parameter, *_documents(parameter, "dataTypeMetadata"))
            if not any(_first_value(item, "description") for item in described):
                message = f"the parameter {_first_value(parameter, 'name')!r} has no description"
                yield self._finding(NO_PARAMETER_DESCRIPTION, message, f"{pointer}/parameters/{index}")
        for index, response in enumerate(_documents(properties, "response")):
            yield from self._check_types(response, "valueType", f"{pointer}/response/{index}")

    def _check_schema(self, properties: Properties, pointer: str) -> Iterator[Finding]:
        version = _first_value(properties, "schemaVersion")
        are_given = [bool(_first_value(properties, name)) for name in _SCHEMA_NAMES]
        are_given.append(isinstance(version, int) and version > 0)
        stated = any(name in properties for name in (*_SCHEMA_NAMES, "schemaVersion"))
        if stated and not all(are_given):
            message = "schemaCategory, schemaName and schemaVersion are not all given"
            yield self._finding(SCHEMA_TRIPLE, message, pointer)
        described = "response" in properties or "paramNames" in properties
        if not described and not all(are_given):
            message = "it has neither a response nor a predefined schema"
            yield self._finding(NO_SIGNATURE, message, pointer)

    def check_named(self, properties: Mapping[str, Json], name: str, pointer: str) -> Iterator[Finding]:
        """Check named documents with a data type: parameters, properties, components' types."""
        items = _documents(properties, name)
        for index, item in enumerate(items):
            here = f"{pointer}/{name}/{index}"
            declared_name = _first_value(item, "name")
            if not declared_name:
                yield self._finding(UNNAMED_PARAMETER, f"an entry of {name} has no name", here)
            elif name != "dataTypes" and _PATH_CHARACTERS & set(declared_name):
                yield self._finding(UNREADABLE_NAME, f"the name {declared_name!r} has a . or [", here)
            yield from self._check_types(item, "dataTypeMetadata", here)
        counts = Counter(_first_value(item, "name") for item in items)
        for declared_name, count in counts.items():
            if declared_name and count > 1:
                message = f"{count} entries of {name} are called {declared_name!r}"
                yield self._finding(DUPLICATE_PARAMETERS, message, f"{pointer}/{name}")

    def _check_types(self, holder: Mapping[str, Json], name: str, pointer: str) -> Iterator[Finding]:
        types = _documents(holder, name)
        if not types:
            yield self._finding(UNTYPED, f"a parameter, property or response has no {name}", pointer)
        for type_ in types:
            yield from self._check_type(type_, f"{pointer}/{name}/0")

    def _check_type(self, properties: Properties, pointer: str) -> Iterator[Finding]:
        number = _first_value(properties, "type")
        kind = KIND_OF_NUMBER.get(number) if isinstance(number, int) else None
        if number is not None and kind is None:
            yield self._finding(UNKNOWN_TYPE, f"a data type has the unknown number {number}", pointer)
        yield from self._check_shape(properties, kind, pointer)
        for index, pattern in enumerate(_documents(properties, "patterns")):
            if _first_value(pattern, "type") not in _PATTERN_TYPES:
                message = f"a pattern has the unknown type {_first_value(pattern, 'type')}"
                yield self._finding(PATTERN_TYPE, message, f"{pointer}/patterns/{index}")
        yield from self.check_named(properties, "properties", pointer)
        for name in ("itemType", "allOf", "oneOf"):
            for index, inner in enumerate(_documents(properties, name)):
                yield from self._check_type(inner, f"{pointer}/{name}/{index}")

    def _check_shape(self, data_type: Properties, kind: str | None, pointer: str) -> Iterator[Finding]:
        properties = _documents(data_type, "properties")
        if kind == "object":
            if not properties:
                yield self._finding(EMPTY_OBJECT, "an object has no properties", pointer)
            names = {_first_value(property_, "name") for property_ in properties}
            for missing in (required for required in data_type.get("required", []) if required not in names):
                message = f"{missing!r} is required and is not a property"
                yield self._finding(UNKNOWN_REQUIRED, message, pointer)
        elif kind == "one-of" and not _first_value(data_type, "objectQualifiedName"):
            yield self._finding(UNNAMED_ONE_OF, "a choice of types has no name", pointer)
        elif kind == "int32":
            for value in data_type.get("enumValues", []):
                if parse_integer(str(value), 32) is None:
                    yield self._finding(BAD_INT_ENUM, f"{value!r} is not a 32-bit integer", pointer)
        elif kind == "array" and not _documents(data_type, "itemType"):
            yield self._finding(UNTYPED_ARRAY, "a list has no itemType", pointer)
        elif kind == "ref" and _first_value(data_type, "dataTypeReference") not in self.component_names:
            message = f"{_first_value(data_type, 'dataTypeReference')!r} is not a data type of the components"
            yield self._finding(DANGLING_REFERENCE, message, pointer)

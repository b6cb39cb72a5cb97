"""The AppSearch schema of a functions file: a small language, not W3C XML Schema (reference 2.f)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Final

from droidgate_android.projects.indexed_text import parse_boolean, parse_integer
from droidgate_appfunctions.format import NAMES, PLATFORM, V1, facts_of
from droidgate_appfunctions.pattern_matcher import patterns_of
from droidgate_mappings.formats.leniency import ReadingContext
from droidgate_mappings.model.capability import Place, Provider, child_types
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.model.types import Type
from droidgate_mappings.tables.loading import read_table_file
from droidgate_mappings.text.xml_text import quoted_attribute

SearchSchema = dict[str, dict[str, dict[str, Json]]]
"""Document type -> property -> attributes of its element, those with their default value left out."""

_DEFAULTS: Final[Mapping[str, int]] = {
    "cardinality": 2,
    "indexingType": 0,
    "tokenizerType": 0,
    "joinableValueType": 0,
}
_DOCUMENT_TYPE: Final = "xs:documentType"
_FLAG: Final = "shouldIndexNestedProperties"
_PROPERTY_NAME = re.compile(r"[A-Za-z0-9]+")
_ATTRIBUTE_ORDER: Final = (
    "type", "cardinality", "indexingType", "tokenizerType", "joinableValueType", _FLAG,
)  # fmt: skip


def is_schema(text: str) -> bool:
    """Return whether a text has document types as Android's parser looks for them."""
    return f"<{_DOCUMENT_TYPE}" in text


def parse_schema(text: str, path: str) -> SearchSchema:
    """Read a schema file: what Android's own parser reads of it, with every attribute.

    Raises:
        InputError: Android's parser rejects the whole schema.
    """
    from droidgate_android.app_search.events import IndexerError
    from droidgate_android.app_search.schemas import read_schema

    try:
        declared = read_schema(text).attributes
    except IndexerError as error:
        hint = "Android rejects the whole schema for it"
        place = path if error.line is None else f"{path}:{error.line}"
        raise InputError(error.message, place=place, hint=hint) from None
    return {
        name: {item: _read_attributes(attributes) for item, attributes in properties.items()}
        for name, properties in declared.items()
    }


def report_unread(text: str, path: str, context: ReadingContext) -> None:
    """Report what Android's own parser does not read of a schema file that it accepts (row A36)."""
    from droidgate_android.app_search.schemas import read_schema

    for part, line in read_schema(text).unread:
        message = f"{part} is left out; Android does not read it"
        context.allow("A36", message, source=Place(path=path, line=line), lost=True)


def _read_attributes(attributes: Mapping[str, str]) -> dict[str, Json]:
    read: dict[str, Json] = {}
    for key, word in attributes.items():
        if key.startswith("{"):
            continue  # of another namespace, such as a tool's: Android asks for none of them
        if key in _DEFAULTS:
            # An attribute that Android does not read for the property's type may hold anything.
            number = parse_integer(word, 32)
            if number != _DEFAULTS[key]:
                read[key] = word if number is None else number
        elif key != _FLAG:
            read[key] = word
        elif parse_boolean(word):
            read[key] = True
    return read


@cache
def _written_schemas() -> dict[str, SearchSchema]:
    schemas: dict[str, SearchSchema] = read_table_file("app_functions/written_schemas.toml")
    return schemas


def usual_schema(provider: Provider, dialect: str) -> SearchSchema | None:
    """Return the schema that is written with a provider's functions: the newest, with every tag they have.

    Returns:
        None for v1, which has no schema.
    """
    if dialect == V1:
        return None
    tables = _written_schemas()
    schema = {
        name: dict(properties)
        for name, properties in tables["platform" if dialect == PLATFORM else "jetpack"].items()
    }
    functions = schema[NAMES["function_document"]]
    for capability in provider.capabilities:
        _add_unknown(functions, facts_of(capability.extensions).get("elements", ()))
    if dialect == PLATFORM:
        return schema
    data_type = schema["AppFunctionDataTypeMetadataDocument"]
    for type_ in types_of(provider):
        facts = facts_of(type_.extensions)
        if type_.pattern is not None and patterns_of(facts) is None:
            data_type.update(tables["older"]["AppFunctionDataTypeMetadataDocument"])
        _add_unknown(data_type, facts.get("typeElements", ()))
    return schema


def _add_unknown(properties: dict[str, dict[str, Json]], elements: Any) -> None:
    for tag, content in elements:
        if isinstance(content, str) and _PROPERTY_NAME.fullmatch(tag):
            properties.setdefault(tag, {"type": "xs:string", "cardinality": 1})


def types_of(provider: Provider) -> Iterator[Type]:
    """Yield every type of a provider, inner ones too."""
    pending: list[Type] = list(provider.definitions.values())
    for capability in provider.capabilities:
        pending.append(capability.input)
        if capability.output is not None:
            pending.append(capability.output)
    while pending:
        type_ = pending.pop()
        yield type_
        pending.extend(child_types(type_))


def schema_fact(dialect: str) -> str:
    """Return the name of the fact that keeps an app's own schema; no dialect can use another's."""
    return "platformSchema" if dialect == PLATFORM else "schema"


def write_schema_file(schema: SearchSchema) -> str:
    """Return the text of a schema file."""
    lines = [
        '<?xml version="1.0" encoding="utf-8"?>',
        "<!-- AppSearch schema of the functions next to it, in the form that Android's indexer reads. -->",
        f'<xs:schema xmlns:xs="{NAMES["schema_namespace"]}">',
    ]
    for name, properties in schema.items():
        lines.append(f"    <xs:documentType name={quoted_attribute(name)}>")
        for item, stated in properties.items():
            attributes = {"cardinality": _DEFAULTS["cardinality"], **stated}
            ordered_keys: list[str] = [key for key in _ATTRIBUTE_ORDER if key in attributes]
            ordered_keys += [key for key in attributes if key not in _ATTRIBUTE_ORDER]
            words = " ".join(f"{key}={quoted_attribute(_word(attributes[key]))}" for key in ordered_keys)
            lines.append(f"        <xs:element name={quoted_attribute(item)} {words} />")
        lines.append("    </xs:documentType>")
    lines.append("</xs:schema>")
    return "\n".join(lines) + "\n"


def _word(value: Json) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)

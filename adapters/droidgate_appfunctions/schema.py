"""The AppSearch schema beside a functions file: a small language, not W3C XML Schema (reference 2.f)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Final

from droidgate.model.capability import Provider, child_types
from droidgate.model.errors import InputError
from droidgate.model.json_values import Json
from droidgate.model.types import Type
from droidgate.parsing.xml_text import Element, child_elements, parse_xml
from droidgate_appfunctions.constants import NAMES, PLATFORM, V1, facts_of
from droidgate_appfunctions.fields import local_name
from droidgate_appfunctions.xml_writing import quoted_attribute
from droidgate_mappings.tables import read_toml

Schema = dict[str, dict[str, dict[str, Json]]]
"""Document type -> property -> attributes of its element, those with their default value left out."""

_NESTED: Final = "appfn:"
_SCALARS: Final = frozenset({"xs:string", "xs:long", "xs:int", "xs:boolean"})
_DEFAULTS: Final[Mapping[str, int]] = {
    "cardinality": 2,
    "indexingType": 0,
    "tokenizerType": 0,
    "joinableValueType": 0,
}
_PROPERTY_NAME = re.compile(r"[A-Za-z0-9]+")
_INTEGER = re.compile(r"-?[0-9]{1,9}")
_ATTRIBUTE_ORDER: Final = (
    "type",
    "cardinality",
    "indexingType",
    "tokenizerType",
    "joinableValueType",
    "shouldIndexNestedProperties",
)


def parse_schema(text: str | bytes, path: str) -> Schema:
    """Read a schema file.

    Raises:
        InputError: Android's parser rejects the whole schema for it: an unknown type, an attribute that is no
            number, a property name that is not letters and digits, a nested type without definition, or no
            `AppFunctionStaticMetadata`.
    """
    root = parse_xml(text, path=path)
    return read_schema(root, path)


def read_schema(root: Element, path: str) -> Schema:
    """Read a parsed schema; see `parse_schema`."""
    schema: Schema = {}
    for document in root.iter(f"{{{NAMES['schema_namespace']}}}documentType", "documentType"):
        name = document.get("name")
        if not name:
            raise _refusal("a document type without a name", document, path)
        properties = schema.setdefault(name, {})
        for element in child_elements(document):
            if local_name(element) == "element":
                _read_property(element, properties, path)
    if NAMES["function_document"] not in schema:
        raise _refusal(f"the schema has no {NAMES['function_document']}", root, path)
    for name, properties in schema.items():
        for one, attributes in properties.items():
            nested = str(attributes["type"])
            if _NESTED in nested and nested.partition(_NESTED)[2] not in schema:
                raise _refusal(
                    f"{name}.{one} is of the type {nested}, which the schema does not define", root, path
                )
    return schema


def _refusal(message: str, element: Element, path: str) -> InputError:
    hint = "Android rejects the whole schema for it"
    return InputError(message, place=f"{path}:{element.sourceline}", hint=hint)


def _read_property(element: Element, properties: dict[str, dict[str, Json]], path: str) -> None:
    name, type_word = element.get("name", ""), element.get("type", "")
    if not _PROPERTY_NAME.fullmatch(name):
        raise _refusal(f"the property name {name!r} is not only letters and digits", element, path)
    if type_word not in _SCALARS and _NESTED not in type_word:
        raise _refusal(f"the property {name!r} is of the unknown type {type_word!r}", element, path)
    attributes: dict[str, Json] = {}
    for attribute, raw in element.attrib.items():
        word = str(raw)
        key = str(attribute)
        if key == "name":
            continue
        if key in _DEFAULTS:
            if not _INTEGER.fullmatch(word.strip()):
                raise _refusal(f"{key} of {name!r} is {word!r}, which is no number", element, path)
            if int(word) != _DEFAULTS[key]:
                attributes[key] = int(word)
        elif key != "shouldIndexNestedProperties":
            attributes[key] = word
        elif word.strip().lower() == "true":
            attributes[key] = True
    # Android keeps the first property of a name.
    properties.setdefault(name, attributes)


@cache
def _written_schemas() -> dict[str, Schema]:
    schemas: dict[str, Schema] = read_toml("app_functions/written_schemas.toml")
    return schemas


def usual_schema(provider: Provider, dialect: str) -> Schema | None:
    """Return the schema that is written beside a provider's functions: the newest, with every tag they have.

    Returns:
        None for v1, which has no schema.
    """
    if dialect == V1:
        return None
    tables = _written_schemas()
    schema = {
        name: dict(held) for name, held in tables["platform" if dialect == PLATFORM else "jetpack"].items()
    }
    functions = schema[NAMES["function_document"]]
    for capability in provider.capabilities:
        _add_unknown(functions, facts_of(capability.extensions).get("elements", ()))
    if dialect == PLATFORM:
        return schema
    data_type = schema["AppFunctionDataTypeMetadataDocument"]
    for one in types_of(provider):
        facts = facts_of(one.extensions)
        if one.pattern is not None and "patterns" not in facts:
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
        one = pending.pop()
        yield one
        pending.extend(child_types(one))


def schema_fact(dialect: str) -> str:
    """Return the name of the fact that keeps an app's own schema; no dialect can use another's."""
    return "platformSchema" if dialect == PLATFORM else "schema"


def write_schema_file(schema: Schema) -> str:
    """Return the text of a schema file."""
    lines = [
        '<?xml version="1.0" encoding="utf-8"?>',
        "<!-- AppSearch schema of the functions beside it, in the form that Android's indexer reads. -->",
        f'<xs:schema xmlns:xs="{NAMES["schema_namespace"]}">',
    ]
    for name, properties in schema.items():
        lines.append(f"    <xs:documentType name={quoted_attribute(name)}>")
        for one, attributes in properties.items():
            known: list[str] = [key for key in _ATTRIBUTE_ORDER if key in attributes]
            known += [key for key in attributes if key not in _ATTRIBUTE_ORDER]
            words = " ".join(f"{key}={quoted_attribute(_word(attributes[key]))}" for key in known)
            lines.append(f"        <xs:element name={quoted_attribute(one)} {words} />")
        lines.append("    </xs:documentType>")
    lines.append("</xs:schema>")
    return "\n".join(lines) + "\n"


def _word(value: Json) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)

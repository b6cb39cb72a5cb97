"""Reading data types: the fourteen type numbers and what belongs to them (reference 2.c)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from droidgate_appfunctions.fields import ElementSource, Fields, text_of
from droidgate_appfunctions.format import FORMAT_ID, KIND_OF_NUMBER
from droidgate_appfunctions.pattern_matcher import fact_of_patterns, pattern_of
from droidgate_mappings.model.errors import BudgetError
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.model.types import (
    SCALAR_KINDS,
    AllOfType,
    ArrayType,
    ObjectType,
    OneOfType,
    OpaqueType,
    Property,
    RefType,
    ScalarType,
    Type,
    as_extensions,
)
from droidgate_mappings.text.xml_text import Element

MAX_TYPE_DEPTH: Final = 64
"""Types inside types; no compiler writes more than a few levels, and references carry recursion."""

_INT32: Final = range(-(2**31), 2**31)


def read_type(
    element: Element, source: ElementSource, *, depth: int = 0, definition: bool = False, member: bool = False
) -> Type:
    """Read a `dataTypeMetadata`, `itemType`, `valueType`, `allOf` or `oneOf` element.

    Args:
        element: The element.
        source: The file.
        depth: How many types it is in.
        definition: It is a definition of the components, whose `isNullable` is always true and says nothing.
        member: It is a member of an all-of or one-of. Jetpack merges the properties of members, or picks
            one by its class name, and reads the outer type's `isNullable` only (2.c, References and
            components).

    Raises:
        InputError: a value that Android does not read either, such as a number that is not one.
        BudgetError: more than `MAX_TYPE_DEPTH` levels.
    """
    if depth > MAX_TYPE_DEPTH:
        message = f"types are nested more than {MAX_TYPE_DEPTH} levels deep"
        raise BudgetError(message, place=str(source.place(element)))
    fields = Fields(element, source)
    number = fields.integer("type")
    facts: dict[str, Json] = {}
    document_id = fields.document_id()
    if document_id is not None:
        facts["id"] = document_id
    common: dict[str, Any] = {
        "nullable": _read_nullable(fields, facts, definition=definition, member=member),
        "description": fields.text("description"),
    }
    kind = _known_kind(number, fields)
    if kind is None:
        facts["type"] = number
        return OpaqueType(**common, extensions=_all_facts(fields, facts))
    shape = _read_shape(kind, fields, facts, depth)
    extensions = _all_facts(fields, facts)
    if kind in SCALAR_KINDS:
        return ScalarType(kind=kind, **common, **shape, extensions=extensions)  # type: ignore[arg-type]
    read: Type = _CLASSES[kind](**common, **shape, extensions=extensions)
    return read


def _known_kind(number: int | None, fields: Fields) -> str | None:
    """Return the kind of a type number; None, with a finding, where it is not known."""
    if number is None:
        message = "a data type without <type>; it is kept as a value of no known class"
        hint = "write its number in <type>; Android leaves out the function, or the components, that hold it"
        fields.source.allow("A31", message, fields.element, hint)
        return None
    kind = KIND_OF_NUMBER.get(number)
    if kind is None:
        message = f"type {number} is unknown; it is kept as a value of no known class"
        fields.source.allow("A08", message, fields.element)
    elif kind == "ref" and not any(text_of(item).strip() for item in fields.peek("dataTypeReference")):
        message = "a reference without <dataTypeReference>; it is kept as a value of no known class"
        fields.source.allow("A31", message, fields.element, "name a data type of the components")
        return None
    return kind


_CLASSES: Final[Mapping[str, Any]] = {
    "array": ArrayType,
    "object": ObjectType,
    "ref": RefType,
    "all-of": AllOfType,
    "one-of": OneOfType,
    "opaque": OpaqueType,
}


def _all_facts(fields: Fields, facts: dict[str, Json]) -> dict[str, dict[str, Json]]:
    unread_elements = fields.rest()
    if unread_elements:
        facts["typeElements"] = unread_elements
    return as_extensions(FORMAT_ID, facts)


def _read_nullable(fields: Fields, facts: dict[str, Json], *, definition: bool, member: bool) -> bool:
    stated = fields.flag("isNullable")
    if stated is None or (definition and not stated) or (member and stated):
        facts["isNullable"] = stated
    return bool(stated) and not definition and not member


def _read_shape(kind: str, fields: Fields, facts: dict[str, Json], depth: int) -> dict[str, Any]:
    source = fields.source
    if kind == "string":
        return _read_string(fields, facts)
    if kind == "int32":
        return _read_int_enum(fields)
    if kind == "array":
        items = fields.child("itemType")
        if items is None:
            source.allow("A10", "a list without an item type", fields.element)
            return {}
        return {"items": read_type(items, source, depth=depth + 1)}
    if kind == "object":
        return _read_object(fields, facts, depth)
    if kind == "ref":
        return {"name": fields.word("dataTypeReference")}
    if kind == "all-of":
        members = tuple(
            read_type(item, source, depth=depth + 1, member=True) for item in fields.many("allOf")
        )
        return {"members": members, "qualified_name": fields.text("objectQualifiedName")}
    if kind == "one-of":
        name = fields.text("objectQualifiedName")
        if name is None:
            source.allow("A11", "a one-of without <objectQualifiedName>", fields.element)
        elements = fields.many("oneOf")
        alternatives = tuple(read_type(element, source, depth=depth + 1, member=True) for element in elements)
        return {"alternatives": alternatives, "qualified_name": name}
    if kind == "opaque":
        return {"class_name": fields.text("objectQualifiedName")}
    return {}


def _read_string(fields: Fields, facts: dict[str, Json]) -> dict[str, Any]:
    shape: dict[str, Any] = {}
    if fields.has("enumValues"):
        shape["enum"] = tuple(fields.words("enumValues"))
    for name in ("pattern", "format"):
        # An empty one constrains nothing and is left to `rest`.
        if any(text_of(item).strip() for item in fields.peek(name)):
            shape[name] = fields.word(name)
    if fields.has("patterns"):
        patterns = [_read_pattern(item, fields.source) for item in fields.many("patterns")]
        shape.setdefault("pattern", pattern_of(patterns))
        facts[fact_of_patterns(patterns, shape["pattern"])] = patterns
    return shape


def _read_pattern(element: Element, source: ElementSource) -> Json:
    fields = Fields(element, source)
    pattern: dict[str, Json] = {}
    document_id = fields.document_id()
    if document_id is not None:
        pattern["id"] = document_id
    value, number = fields.text("value"), fields.integer("type")
    if value is not None:
        pattern["value"] = value
    if number is not None:
        pattern["type"] = number
    unread_elements = fields.rest()
    if unread_elements:
        pattern["elements"] = unread_elements
    return pattern


def _read_int_enum(fields: Fields) -> dict[str, Any]:
    words = [text_of(item).strip() for item in fields.peek("enumValues")]
    if not words:
        return {}
    if all(map(_is_plain_integer, words)):
        return {"enum": tuple(int(word) for word in fields.words("enumValues"))}
    fields.source.allow(
        "A23", "enum values that are not 32-bit integers; Jetpack drops the function for them", fields.element
    )
    return {}


def _is_plain_integer(word: str) -> bool:
    digits = word.removeprefix("-")
    small = digits.isascii() and digits.isdigit() and len(digits) < 11  # noqa: PLR2004 - digits of 2**31
    return small and int(word) in _INT32 and str(int(word)) == word


def _read_object(fields: Fields, facts: dict[str, Json], depth: int) -> dict[str, Any]:
    properties: dict[str, Property] = {}
    required = fields.words("required")
    for name, element, inner in read_entries(fields, "properties"):
        facts_of_part = part_facts(inner)
        type_ = read_type(element, fields.source, depth=depth + 1)
        facts_of_part.update(left_of_part(inner))
        properties[name] = Property(
            type=type_, required=name in required, extensions=as_extensions(FORMAT_ID, facts_of_part)
        )
    if required != [name for name in properties if properties[name].required]:
        facts["requiredOrder" if properties.keys() >= set(required) else "required"] = required
    return {"properties": properties, "qualified_name": fields.text("objectQualifiedName")}


def read_entries(fields: Fields, tag: str) -> Iterator[tuple[str, Element, Fields]]:
    """Take the children of a tag that have a name and a type: parameters, properties or data types.

    Yields:
        The name, the `<dataTypeMetadata>`, and what else the entry says. An entry without one of the two is
        left to `rest` (row A32).
    """
    source = fields.source
    names: set[str] = set()
    for element in fields.many(tag):
        inner = Fields(element, source)
        name, data_type = inner.word("name"), inner.child("dataTypeMetadata")
        if not name or data_type is None:
            missing = "<name>" if not name else "<dataTypeMetadata>"
            message = f"<{tag}> without {missing}; it is kept as written, and no part of the signature"
            source.allow("A32", message, element, f"give it a {missing}")
            fields.leave(tag, element)
            continue
        if name in names:
            message = f"duplicate name {name!r} of <{tag}>; only the last one is read"
            source.allow("A12", message, element, lost=True)
        names.add(name)
        yield name, data_type, inner


def part_facts(fields: Fields) -> dict[str, Json]:
    """Take the document id of a parameter or property as a fact of it."""
    document_id = fields.document_id()
    return {} if document_id is None else {"id": document_id}


def left_of_part(fields: Fields) -> dict[str, Json]:
    """Return the unknown elements of a parameter or property as a fact of it."""
    unread_elements = fields.rest()
    return {"partElements": unread_elements} if unread_elements else {}

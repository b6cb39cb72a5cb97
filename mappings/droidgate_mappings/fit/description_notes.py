"""What is appended to a description about a part that the target cannot hold: only what helps a caller."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from droidgate_mappings.fit.losses import ASSERTIONS, CLOSING, SHOWN_ANNOTATIONS
from droidgate_mappings.json_schema import NOTATION, with_discriminators, write_schema
from droidgate_mappings.json_schema.schema_words import CLASSES
from droidgate_mappings.model.capability import with_parts
from droidgate_mappings.model.json_values import Json, canonical_json
from droidgate_mappings.model.types import AllOfType, ObjectType, OneOfType, OpaqueType, Type

MAY_BE_NULL: Final = "[May be null]"

_SCHEMA_MAPS: Final = frozenset(
    {"$defs", "definitions", "dependentSchemas", "patternProperties", "properties"}
)
_VALUES: Final = frozenset({"const", "default", "enum", "examples"})
_SHOWN: Final = ASSERTIONS | SHOWN_ANNOTATIONS | _SCHEMA_MAPS | {"description", "format"}
_SAYS_NOTHING: Final[tuple[Json, ...]] = ({}, {"type": "array"}, {"type": "object"})


def schema_notes(label: str, type_: Type, definitions: Mapping[str, Type]) -> list[str]:
    """Return the note that shows a type as JSON Schema, without what does not help a caller.

    A choice between classes shows by what each is chosen: their properties may be the same.

    Args:
        label: What the schema is of, such as `Returns`.
        type_: The type.
        definitions: What its references mean; those that it reaches are shown too.

    Returns:
        `[label: schema]`, or nothing where the schema says no more than the kind.
    """
    plain = {name: _as_shown(definition, definitions) for name, definition in definitions.items()}
    written = write_schema(_as_shown(type_, definitions), plain, int32_bounds=False)
    schema = _shown_schema(written)
    return [] if schema in _SAYS_NOTHING else [f"[{label}: {canonical_json(schema)}]"]


def _as_shown(type_: Type, definitions: Mapping[str, Type]) -> Type:
    return without_extensions(with_discriminators(type_, definitions))


def _shown_schema(schema: Json) -> Json:
    if isinstance(schema, list):
        return [_shown_schema(item) for item in schema]
    if not isinstance(schema, Mapping):
        return schema
    keywords: dict[str, Json] = {}
    for keyword, value in schema.items():
        if keyword not in _SHOWN or (keyword in CLOSING and isinstance(value, bool)):
            continue
        if keyword in _VALUES:
            keywords[keyword] = value
        elif keyword in _SCHEMA_MAPS and isinstance(value, Mapping):
            keywords[keyword] = {name: _shown_schema(inner) for name, inner in value.items()}
        else:
            keywords[keyword] = _shown_schema(value)
    return keywords


def constraint_note(name: str, value: Any) -> str:
    """Return the note for an enum, a pattern or a format."""
    if name == "enum":
        return f"[One of: {', '.join(canonical_json(item) for item in value)}]"
    return f"[{name.capitalize()}: {value}]"


def without_extensions(type_: Type) -> Type:
    """Return a type without facts of formats and class names, nested types included.

    The discriminators of a choice are kept: values state them.
    """
    bare = with_parts(type_, lambda inner, _: without_extensions(inner))
    notation = type_.extensions.get(NOTATION, {})
    notation_facts = {NOTATION: {CLASSES: notation[CLASSES]}} if CLASSES in notation else {}
    changes: dict[str, Any] = {"extensions": notation_facts}
    if isinstance(bare, ObjectType):
        changes["properties"] = {
            name: property_.changed({"extensions": {}}) for name, property_ in bare.properties.items()
        }
    if isinstance(type_, ObjectType | AllOfType | OneOfType):
        changes["qualified_name"] = None
    if isinstance(type_, OpaqueType):
        changes["class_name"] = None
    return bare.changed(changes)


def put_first(text: str, notes: list[str]) -> None:
    """Make a moved text the first note; a blank text leaves nothing to append."""
    if text.strip():
        notes.insert(0, text)

"""References into a schema itself: to its root, to a part of it such as `#/properties/a`, or to an anchor.

The target becomes a definition of the model. A layout keeps such a definition under its reference, which
starts with `#`, next to those in `$defs`, which are kept by container and name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final
from urllib.parse import unquote

from droidgate_mappings.json_schema.schema_words import CONTAINERS, Schema, referenced_name
from droidgate_mappings.model.json_values import Json, pointer_name, pointer_token
from droidgate_mappings.model.types import AllOfType, ArrayType, ObjectType, OneOfType, Property, Type

ROOT_REFERENCE: Final = "#"

_ROOT_NAME: Final = "Root"
_SCHEMA_WORDS: Final = frozenset(
    {
        "items",
        "additionalItems",
        "unevaluatedItems",
        "contains",
        "additionalProperties",
        "unevaluatedProperties",
        "propertyNames",
        "not",
        "if",
        "then",
        "else",
    }
)
_LIST_WORDS: Final = frozenset({"allOf", "anyOf", "oneOf", "prefixItems", "items"})
_MAP_WORDS: Final = frozenset({"properties", "patternProperties", "dependentSchemas", *CONTAINERS})
_SILENT_TOKENS: Final = frozenset({"properties", *CONTAINERS})


def is_local(pointer: str) -> bool:
    """Return whether a layout keeps a definition by reference, not by container and name."""
    return pointer.startswith("#")


def find_local_references(schema: Mapping[str, Json], names: Mapping[str, str]) -> dict[str, Schema]:
    """Return the parts of a schema that references in it name, by reference.

    A schema with an embedded resource (`$id` below its root) has none: references in the resource are
    relative to it.

    Args:
        schema: A whole schema.
        names: The definitions in its containers; references to these are left out.
    """
    if not _may_refer_to_itself(dict(schema), names):
        return {}
    targets = ReferenceTargets(schema)
    if targets.have_embedded_resource():
        return {}
    found: dict[str, Schema] = {}
    for part in targets.parts.values():
        reference = part.get("$ref")
        if not isinstance(reference, str) or referenced_name(reference, names) is not None:
            continue
        if reference in found:
            continue
        target = targets.resolve(reference)
        if target is not None:
            found[reference] = target
    return found


class ReferenceTargets:
    """The parts of a whole schema that references can name, by JSON Pointer and by anchor.

    Finding them visits the whole schema, so a caller with several references keeps one of these.
    """

    def __init__(self, schema: Schema) -> None:
        self.parts = {} if isinstance(schema, bool) else _parts_of(schema)
        self._root = {word: value for word, value in self.parts.get("", {}).items() if word not in CONTAINERS}
        self._anchors: dict[str, Mapping[str, Json]] = {}
        for part in self.parts.values():
            anchor = part.get("$anchor")
            if isinstance(anchor, str):
                self._anchors.setdefault(anchor, part)

    def have_embedded_resource(self) -> bool:
        """Return whether a part below the root has an `$id`."""
        return any(isinstance(part.get("$id"), str) for pointer, part in self.parts.items() if pointer)

    def resolve(self, reference: str) -> Mapping[str, Json] | None:
        """Return the part that a reference starting with `#` names; None where it names none.

        The root is returned without its definitions.
        """
        if not self.parts or not is_local(reference):
            return None
        if reference == ROOT_REFERENCE:
            return self._root
        fragment = unquote(reference[1:])
        return self.parts.get(fragment) if fragment.startswith("/") else self._anchors.get(fragment)


def name_reference(reference: str) -> str:
    """Return a name for the definition that a reference means, such as `address_city`."""
    fragment = unquote(reference[1:])
    if not fragment.startswith("/"):
        return fragment or _ROOT_NAME
    tokens = [pointer_name(token) for token in fragment[1:].split("/")]
    return "_".join(token for token in tokens if token not in _SILENT_TOKENS) or _ROOT_NAME


def replace_references(type_: Type, references: Mapping[str, str]) -> Type:
    """Return a type with other references in the keywords that the model keeps verbatim, inside too.

    Args:
        type_: The type.
        references: The reference to write in place of each.
    """
    keywords = _replaced(type_.keywords, references)
    return _map_children(type_, lambda inner: replace_references(inner, references)).changed(
        {"keywords": keywords} if keywords != type_.keywords else {}
    )


def _map_children(type_: Type, change: Callable[[Type], Type]) -> Type:
    changes: dict[str, Any] = {}
    if isinstance(type_, ObjectType):
        changes["properties"] = {
            name: Property(
                type=change(property_.type), required=property_.required, extensions=property_.extensions
            )
            for name, property_ in type_.properties.items()
        }
    elif isinstance(type_, ArrayType) and type_.items is not None:
        changes["items"] = change(type_.items)
    elif isinstance(type_, AllOfType):
        changes["members"] = tuple(map(change, type_.members))
    elif isinstance(type_, OneOfType):
        changes["alternatives"] = tuple(map(change, type_.alternatives))
    return type_.changed(changes)


def _replaced(schema: Json, references: Mapping[str, str]) -> Json:
    if not isinstance(schema, Mapping):
        return schema
    changed = dict(schema)
    for word, value in schema.items():
        if word == "$ref" and isinstance(value, str):
            changed[word] = references.get(value, value)
        elif word in _SCHEMA_WORDS and isinstance(value, Mapping):
            changed[word] = _replaced(value, references)
        elif word in _LIST_WORDS and isinstance(value, list):
            changed[word] = [_replaced(member, references) for member in value]
        elif word in _MAP_WORDS and isinstance(value, Mapping):
            changed[word] = {name: _replaced(member, references) for name, member in value.items()}
    return changed


def _may_refer_to_itself(schema: Mapping[str, Json], names: Mapping[str, str]) -> bool:
    """Return whether a reference to anything but a definition is anywhere in a schema: a quick first look."""
    pending: list[Json] = [schema]
    while pending:
        value = pending.pop()
        if type(value) is dict:
            reference = value.get("$ref")
            if type(reference) is str and referenced_name(reference, names) is None:
                return True
            pending.extend(value.values())
        elif type(value) is list:
            pending.extend(value)
    return False


def _parts_of(schema: Mapping[str, Json]) -> dict[str, Mapping[str, Json]]:
    """Return a schema and the schemas in it that are objects, by JSON Pointer."""
    parts: dict[str, Mapping[str, Json]] = {}
    pending: list[tuple[str, Json]] = [("", schema)]
    while pending:
        pointer, part = pending.pop()
        if isinstance(part, Mapping):
            parts[pointer] = part
            pending.extend(_inner_parts(pointer, part))
    return parts


def _inner_parts(pointer: str, part: Mapping[str, Json]) -> Iterator[tuple[str, Json]]:
    for word, value in part.items():
        if word in _MAP_WORDS and isinstance(value, Mapping):
            for name, inner in value.items():
                yield f"{pointer}/{word}/{pointer_token(name)}", inner
        elif word in _LIST_WORDS and isinstance(value, list):
            for position, inner in enumerate(value):
                yield f"{pointer}/{word}/{position}", inner
        elif word in _SCHEMA_WORDS:
            yield f"{pointer}/{word}", value

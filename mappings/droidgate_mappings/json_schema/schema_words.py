"""What reading and writing share: the words of JSON Schema, which kind of type a schema is, and references
into a schema.

A reference to the schema's root, to a part of it such as `#/properties/a` or to an anchor makes its target a
definition of the model. A layout keeps such a definition under its reference, which starts with `#`, next to
those in `$defs`, which are kept by container and name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from types import MappingProxyType
from typing import Final
from urllib.parse import quote, unquote

from droidgate_mappings.model.capability import with_parts
from droidgate_mappings.model.json_values import Json, json_equal, pointer_name, pointer_token
from droidgate_mappings.model.types import (
    TYPE_KINDS,
    Type,
)

ANNOTATION: Final = "x-droidgate"
"""The annotation keyword: what it may say is in `note_of`'s table."""

NAMESPACE: Final = "json-schema"
"""Id under which a root type's `extensions` keep how a schema laid out its definitions."""

NOTATION: Final = "json-schema-notation"
"""Id under which a type's `extensions` keep how a schema wrote it, by the names in this module."""

WRAPPED_WORDS: Final = "allOf"
"""Spelling: the keywords that the source wrote inside an `allOf` with one member."""

UNSTATED_BOUNDS: Final = "unstatedBounds"
"""Spelling: which of `minimum` and `maximum` the source did not state for a 32-bit integer."""

NULL_POSITION: Final = "nullPosition"
"""Spelling: the position of `{"type": "null"}` among the alternatives, where it is not the last."""

CLASSES: Final = "classes"
"""Spelling: for each alternative of a choice the class name that `schemaType` states, None for none."""

SCHEMA_TYPE_KEY: Final = "schemaType"
"""Key under which an object states its class, as AppFunctions has it."""

CONTAINERS: Final = ("$defs", "definitions")
"""The keywords of a root schema that hold definitions, the usual one first."""

NULL_SCHEMA: Final[Mapping[str, Json]] = MappingProxyType({"type": "null"})
NOTHING: Final[Mapping[str, Json]] = MappingProxyType({})

Schema = Mapping[str, Json] | bool

_LIKE_NAMED: Final = {word: word for word in ("boolean", "string", "null", "array", "object")}
WORD_OF_KIND: Final = {
    **_LIKE_NAMED,
    **dict.fromkeys(("int32", "int64"), "integer"),
    **dict.fromkeys(("float", "double"), "number"),
    "bytes": "string",
}
FORMAT_OF_KIND: Final = {"int32": "int32", "float": "float"}
"""The `format` word that distinguishes a kind from its wider sister."""

INT32_BOUNDS: Final[Mapping[str, int]] = MappingProxyType({"minimum": -(2**31), "maximum": 2**31 - 1})
"""The bounds by which a validator knows that an integer has 32 bits: `format` is an annotation."""

_KIND_OF_WORD: Final = {**_LIKE_NAMED, "integer": "int64", "number": "double"}
_KIND_BY_FORMAT: Final = {("integer", "int32"): "int32", ("number", "float"): "float"}
_APPLICATORS: Final = ("allOf", "oneOf", "anyOf")
_NULLABLE_PAIR: Final = 2
_DISCRIMINATED_PAIR: Final = 2
_CORE: Final = frozenset({"type", "$ref"})
"""Keywords that make the alternatives next to them something that the algebra keeps verbatim."""
_SHAPES_BESIDE_REFERENCE: Final = frozenset({"properties", "items", *_APPLICATORS})
_WORDS_OUTSIDE_ALL_OF: Final = frozenset(
    {"title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly"}
    | {"$comment", "$schema", ANNOTATION, "allOf", "enum", "const", "pattern", "minLength", "maxLength"}
    | {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}
)
"""Keywords that mean the same inside an `allOf` with one member and next to it."""

_WORDS_NOT_IN_ALL_OF: Final = frozenset(
    {"allOf", "$id", "id", "$schema", "$anchor", "$dynamicAnchor", "$recursiveAnchor"}
    | {*CONTAINERS, ANNOTATION}
)
"""Keywords of the member that keep it a schema of its own."""
_FRAGMENT_CHARACTERS: Final = "~!$&'()*+,;=:@-._?"


def encoded_reference(pointer: str) -> str:
    """Return the `$ref` to the definition at `container/name`, a URI fragment (RFC 6901 section 6).

    A pointer that starts with `#` is a reference already.
    """
    if pointer.startswith("#"):
        return pointer
    container, _, name = pointer.partition("/")
    return f"#/{container}/{quote(pointer_token(name), safe=_FRAGMENT_CHARACTERS)}"


def referenced_name(reference: Json, names: Mapping[str, str]) -> str | None:
    """Return the model's name of the definition that a `$ref` names, None where it is not one of `names`."""
    if not isinstance(reference, str) or not reference.startswith("#"):
        return None
    if reference in names or not reference.startswith("#/"):
        return names.get(reference)
    container, _, token = unquote(reference[2:]).partition("/")
    return names.get(f"{container}/{pointer_name(token)}") if "/" not in token else None


def is_schema_map(value: Json) -> bool:
    """Return whether a value is an object whose values are schemas."""
    return isinstance(value, Mapping) and all(isinstance(item, Mapping | bool) for item in value.values())


def is_schema_list(value: Json) -> bool:
    """Return whether a value is a list of schemas, perhaps empty."""
    return isinstance(value, list) and all(isinstance(item, Mapping | bool) for item in value)


def note_of(schema: Mapping[str, Json]) -> Mapping[str, Json]:
    """Return the value of the annotation keyword where it has the form of a note, else nothing."""
    note = schema.get(ANNOTATION)
    if not isinstance(note, Mapping) or note.keys() - _NOTE_CHECKS.keys():
        return NOTHING
    return note if all(_NOTE_CHECKS[word](value) for word, value in note.items()) else NOTHING


def is_flag(value: Json) -> bool:
    """Return whether a value is true or false."""
    return isinstance(value, bool)


def is_text(value: Json) -> bool:
    """Return whether a value is a string."""
    return isinstance(value, str)


def _is_extensions(value: Json) -> bool:
    return (
        isinstance(value, Mapping)
        and not {NAMESPACE, NOTATION} & value.keys()
        and all(isinstance(facts, Mapping) for facts in value.values())
    )


_NOTE_CHECKS: Final[Mapping[str, Callable[[Json], bool]]] = {
    "kind": lambda value: value in TYPE_KINDS,
    "nullable": is_flag,
    "implicit": is_flag,
    "class_name": is_text,
    "qualified_name": is_text,
    "boolean": is_flag,
    "discriminator": lambda value: value == SCHEMA_TYPE_KEY,
    "extensions": _is_extensions,
    "property": _is_extensions,
    "verbatim": lambda _: True,
}


def type_word(word: Json) -> str | None:
    """Return the one type that a `type` keyword names, with null or without; None where it is not one."""
    if isinstance(word, str):
        return word if word in _KIND_OF_WORD else None
    if isinstance(word, list) and len(word) in {1, _NULLABLE_PAIR}:
        others = [character for character in word if character != "null"]
        if len(others) == 1 and isinstance(others[0], str) and others[0] in _KIND_OF_WORD:
            return others[0]
    return None


def is_nullable_word(word: Json) -> bool:
    """Return whether a `type` keyword names one type and null."""
    return isinstance(word, list) and len(word) == _NULLABLE_PAIR and "null" in word


def excludes_null(schema: Mapping[str, Json]) -> bool:
    """Return whether `enum` or `const` rules null out, whatever the other keywords allow."""
    values = schema.get("enum")
    if isinstance(values, list) and None not in values:
        return True
    return schema.get("const") is not None


def discriminate(schema: Json, class_name: str | None) -> Json:
    """Return a schema for the objects of another schema that state their class; as it is without a name."""
    if class_name is None:
        return schema
    stated = {SCHEMA_TYPE_KEY: {"const": class_name}}
    return {"allOf": [schema, {"type": "object", "properties": stated, "required": [SCHEMA_TYPE_KEY]}]}


def undiscriminate(schema: Schema) -> tuple[Schema, str | None]:
    """Undo `discriminate`: return the schema and the class name; None for any other schema."""
    members = schema.get("allOf") if isinstance(schema, Mapping) else None
    if not isinstance(members, list) or len(members) != _DISCRIMINATED_PAIR or not is_schema_list(members):
        return schema, None
    properties = members[1].get("properties") if isinstance(members[1], Mapping) else None
    stated = properties.get(SCHEMA_TYPE_KEY) if isinstance(properties, Mapping) else None
    name = stated.get("const") if isinstance(stated, Mapping) else None
    if isinstance(name, str) and json_equal(discriminate(members[0], name), schema):
        return members[0], name
    return schema, None


def ends_with_null(schema: Mapping[str, Json], members: list[Schema], *, exclusive: bool) -> bool:
    """Return whether the last alternative of a schema is null and adds null to the values of the others."""
    if len(members) < _NULLABLE_PAIR or not json_equal(members[-1], dict(NULL_SCHEMA)):
        return False
    return not excludes_null(schema) and not (exclusive and any(map(schema_takes_null, members[:-1])))


def with_null_last(schema: Mapping[str, Json]) -> tuple[dict[str, Json], int] | None:
    """Return a schema whose only null alternative is the last one, and the position that it had.

    None where no alternative is null, several are, the last one is anyway, or where null as the last one
    would add nothing to the values of the others (see `ends_with_null`).
    """
    word = applicator_of(schema)
    members = schema[word] if word in {"anyOf", "oneOf"} else None
    if not is_schema_list(members) or not isinstance(members, list) or not schema.keys().isdisjoint(_CORE):
        return None
    positions = [at for at, member in enumerate(members) if json_equal(member, dict(NULL_SCHEMA))]
    if len(positions) != 1 or positions[0] == len(members) - 1:
        return None
    others = [member for at, member in enumerate(members) if at != positions[0]]
    reordered = [*others, dict(NULL_SCHEMA)]
    if not ends_with_null(schema, reordered, exclusive=word == "oneOf"):
        return None
    return {**schema, str(word): reordered}, positions[0]


def with_null_at(schema: dict[str, Json], position: int) -> dict[str, Json]:
    """Return a schema whose last alternative, if it is null, is at a position: the inverse of
    `with_null_last`.
    """
    word = applicator_of(schema)
    members = schema[word] if word in {"anyOf", "oneOf"} else None
    if not isinstance(members, list) or not json_equal(members[-1], dict(NULL_SCHEMA)):
        return schema
    others = members[:-1]
    return {**schema, str(word): [*others[:position], dict(NULL_SCHEMA), *others[position:]]}


def applicator_of(schema: Mapping[str, Json]) -> str | None:
    """Return the only one of `allOf`, `anyOf` and `oneOf` that a schema has."""
    stated = [word for word in _APPLICATORS if word in schema]
    return stated[0] if len(stated) == 1 else None


def schema_takes_null(schema: Schema) -> bool:
    """Return whether null is a value of a schema by its `type`, or because it allows every value."""
    if isinstance(schema, bool) or not schema:
        return schema is not False
    word = schema.get("type")
    return (word == "null" or (isinstance(word, list) and "null" in word)) and not excludes_null(schema)


def unwrap_all_of(schema: Mapping[str, Json]) -> dict[str, Json] | None:
    """Return a schema without its `allOf` where that has one member that can as well be written in place.

    None where the schema has no such `allOf`: where keywords look at others next to them (RFC draft
    2020-12, 10.3: `properties` and `additionalProperties`), moving them changes the meaning.
    """
    members = schema.get("allOf")
    if not isinstance(members, list) or len(members) != 1 or not isinstance(members[0], Mapping):
        return None
    member = members[0]
    if not member or not _WORDS_NOT_IN_ALL_OF.isdisjoint(member) or not schema.keys().isdisjoint(member):
        return None
    if not schema.keys() <= _WORDS_OUTSIDE_ALL_OF:
        return None
    return {**member, **{word: value for word, value in schema.items() if word != "allOf"}}


def kind_of(schema: Mapping[str, Json], names: Mapping[str, str]) -> str:
    """Return the kind of type that a schema is by its keywords alone.

    Args:
        schema: A JSON Schema object.
        names: Where definitions are to their names in the model, as `referenced_name` takes it.
    """
    schema = unwrap_all_of(schema) or schema
    if "$ref" in schema and referenced_name(schema["$ref"], names) is not None:
        stated = "type" not in schema or type_word(schema["type"]) is not None
        if stated and ("type" not in schema or _SHAPES_BESIDE_REFERENCE.isdisjoint(schema)):
            return "ref"
    if "type" in schema:
        return _kind_of_word(schema)
    if "$ref" in schema:
        return "any"
    if any(word in schema for word in _APPLICATORS):
        return _kind_of_applicator(schema, names)
    if is_schema_map(schema.get("properties")):
        return "object"
    if isinstance(schema.get("items"), Mapping | bool):
        return "array"
    return _kind_of_values(schema)


def _kind_of_values(schema: Mapping[str, Json]) -> str:
    """Return the kind of the values that a schema without other words lists, "any" where they differ."""
    values = schema["enum"] if "enum" in schema else [schema.get("const")]
    if not isinstance(values, list) or not values:
        return "any"
    kinds = {_kind_of_value(value) for value in values}
    if kinds == {"int64", "double"}:
        return "double"
    return kinds.pop() if len(kinds) == 1 else "any"


def _kind_of_value(value: Json) -> str:
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "int64" if -(2**63) <= value < 2**63 else "any"
    if isinstance(value, float | Decimal):
        return "double"
    return "string" if isinstance(value, str) else "any"


def _kind_of_word(schema: Mapping[str, Json]) -> str:
    word = type_word(schema["type"])
    if word is None:
        return "any"
    if word == "string" and schema.get("contentEncoding") == "base64":
        return "bytes"
    stated = schema.get("format")
    return _KIND_BY_FORMAT.get((word, stated if isinstance(stated, str) else ""), _KIND_OF_WORD[word])


def _kind_of_applicator(schema: Mapping[str, Json], names: Mapping[str, str]) -> str:
    stated = [word for word in _APPLICATORS if word in schema]
    if len(stated) > 1 or "properties" in schema or "items" in schema:
        return "any"
    members = schema[stated[0]]
    if not is_schema_list(members) or not members or json_equal(members, [dict(NULL_SCHEMA)]):
        return "any"
    inner = nullable_member(schema)
    if inner is not None and len(inner) == 1:
        if referenced_name(inner.get("$ref"), names) is not None:
            return "ref"
        if inner.get("allOf") and is_schema_list(inner["allOf"]) and unwrap_all_of(inner) is None:
            return "all-of"
    return "all-of" if stated[0] == "allOf" else "one-of"


def nullable_member(schema: Mapping[str, Json]) -> Mapping[str, Json] | None:
    """Return X of `{"anyOf": [X, {"type": "null"}]}` where X is an object and null is allowed, else None."""
    members = schema.get("anyOf") if not excludes_null(schema) else None
    if not isinstance(members, list) or len(members) != _NULLABLE_PAIR:
        return None
    inner = members[0]
    return inner if isinstance(inner, Mapping) and json_equal(members[1], dict(NULL_SCHEMA)) else None


def can_be(kind: str, schema: Mapping[str, Json], names: Mapping[str, str]) -> bool:
    """Return whether a schema has what a kind that a note claims is made of."""
    if kind == "ref":
        inner = schema if "$ref" in schema else nullable_member(schema)
        return inner is not None and referenced_name(inner.get("$ref"), names) is not None
    if kind == "all-of":
        inner = schema if "allOf" in schema else nullable_member(schema)
        return inner is not None and is_schema_list(inner.get("allOf"))
    if kind == "one-of":
        return is_schema_list(schema.get("oneOf" if "oneOf" in schema else "anyOf"))
    return True


ROOT_REFERENCE: Final = "#"

_ROOT_NAME: Final = "Root"
_SCHEMA_WORDS: Final = frozenset(
    {"items", "additionalItems", "unevaluatedItems", "contains", "not", "if", "then", "else"}
    | {"additionalProperties", "unevaluatedProperties", "propertyNames"}
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
    targets_by_reference: dict[str, Schema] = {}
    for part in targets.parts.values():
        reference = part.get("$ref")
        if not isinstance(reference, str) or referenced_name(reference, names) is not None:
            continue
        if reference in targets_by_reference:
            continue
        target = targets.resolve(reference)
        if target is not None:
            targets_by_reference[reference] = target
    return targets_by_reference


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
    replaced = with_parts(type_, lambda inner, _: replace_references(inner, references))
    return replaced.changed({"keywords": keywords} if keywords != type_.keywords else {})


def _replaced(schema: Json, references: Mapping[str, str]) -> Json:
    if not isinstance(schema, Mapping):
        return schema
    return {
        word: references.get(value, value)
        if word == "$ref" and isinstance(value, str)
        else with_inner_schemas(word, value, lambda inner: _replaced(inner, references))
        for word, value in schema.items()
    }


def with_inner_schemas(word: str, value: Json, change: Callable[[Json], Json]) -> Json:
    """Return the value of a keyword with other schemas in it.

    Args:
        word: The keyword.
        value: Its value, perhaps without a schema.
        change: Return what takes the place of a schema, or of what is malformed where one should be.
    """
    if word in _MAP_WORDS and isinstance(value, Mapping):
        return {name: change(inner) for name, inner in value.items()}
    if word in _LIST_WORDS and isinstance(value, list):
        return [change(inner) for inner in value]
    return change(value) if word in _SCHEMA_WORDS else value


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

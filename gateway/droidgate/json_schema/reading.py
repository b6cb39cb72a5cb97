"""JSON Schema to types."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from droidgate.json_schema.references import find_local_references, name_reference
from droidgate.json_schema.words import (
    ANNOTATION,
    CLASSES,
    CONTAINERS,
    FORMAT_OF_KIND,
    INT32_BOUNDS,
    NAMESPACE,
    NOTHING,
    NULL_POSITION,
    NULL_SCHEMA,
    SPELLING,
    UNSTATED_BOUNDS,
    WRAPPED_WORDS,
    Schema,
    can_be,
    encoded_reference,
    ends_with_null,
    excludes_null,
    is_nullable_word,
    is_schema_map,
    kind_of,
    note_of,
    referenced_name,
    type_word,
    undiscriminate,
    unwrap_all_of,
    with_null_last,
)
from droidgate.json_schema.writing import write_annotated
from droidgate.model.capability import declaration_of, reachable_definitions
from droidgate.model.json_values import Json, canonical_json, json_equal
from droidgate.model.names import name_suffix
from droidgate.model.types import (
    SCALAR_KINDS,
    AllOfType,
    AnyType,
    ArrayType,
    ObjectType,
    OneOfType,
    OpaqueType,
    Property,
    RefType,
    ScalarType,
    Type,
)

_NOTED_FACTS: Final = {
    "qualified_name": frozenset({"object", "all-of", "one-of"}),
    "class_name": frozenset({"opaque"}),
    "boolean": frozenset({"any"}),
}


def read_schema(schema: Schema, *, known: Mapping[str, Type] = NOTHING) -> tuple[Type, dict[str, Type]]:
    """Read a whole schema with its definitions.

    Args:
        schema: A JSON Schema object or boolean.
        known: Definitions that the provider already has. A definition of the same name and another content
            gets the name `name@suffix`, the suffix made from its content.

    Returns:
        The root type, and the definitions it brings (those that `known` has already, equal, are among them).
    """
    if isinstance(schema, bool):
        return read_type(schema), {}
    containers = [word for word in CONTAINERS if schema.get(word) and is_schema_map(schema[word])]
    local = {f"{word}/{name}": held for word in containers for name, held in schema[word].items()}
    names = {pointer: pointer.partition("/")[2] for pointer in local}
    for reference, held in find_local_references(schema, names).items():
        local[reference], names[reference] = held, name_reference(reference)
    if not local:
        return read_type(schema), {}
    read = _read_definitions(local, names, known)
    root = read_type({word: value for word, value in schema.items() if word not in containers}, names)
    usual = {f"$defs/{name}": name for name in reachable_definitions(root, read)}
    if usual != names:
        layout = {NAMESPACE: {"definitions": names}}
        root = root.changed({"extensions": {**root.extensions, **layout}})
    return root, read


def _read_definitions(
    local: Mapping[str, Schema], names: dict[str, str], known: Mapping[str, Type]
) -> dict[str, Type]:
    """Read definitions, and give those whose names are taken other names, in `names`."""
    while True:
        read = {name: read_type(local[pointer], names) for pointer, name in names.items()}
        renamed = _new_names(names, read, known, local)
        if not renamed:
            return read
        names.update(renamed)


def _new_names(
    names: Mapping[str, str], read: Mapping[str, Type], known: Mapping[str, Type], local: Mapping[str, Schema]
) -> dict[str, str]:
    """Return other names for the definitions whose names mean something else already."""
    renamed: dict[str, str] = {}
    taken: set[str] = set()
    for pointer, name in names.items():
        if name in taken or (name in known and not _is_same(known[name], read[name])):
            suffix = f"@{name_suffix(canonical_json(local[pointer]))}"
            candidate = f"{name}+" if name.rstrip("+").endswith(suffix) else f"{name}{suffix}"
            while candidate in names.values() or candidate in renamed.values():
                candidate += "+"
            renamed[pointer] = candidate
        taken.add(name)
    return renamed


def _is_same(left: Type, right: Type) -> bool:
    # Python takes 1 for True and for 1.0, canonical JSON does not.
    return left == right and canonical_json(declaration_of(left)) == canonical_json(declaration_of(right))


def read_type(schema: Schema, names: Mapping[str, str] = NOTHING) -> Type:
    """Read one subschema.

    Args:
        schema: A JSON Schema object or boolean.
        names: `$defs/local name` or `definitions/local name` to the definition's name in the model.
    """
    if isinstance(schema, bool):
        return AnyType(boolean=schema)
    note = note_of(schema)
    if note:
        noted = _read_noted(schema, note, names)
        if noted is not None and json_equal(write_annotated(noted, names), schema):
            return noted
    reordered = None if note else with_null_last(schema)
    if reordered is not None:
        one = read_type(reordered[0], names)
        spelling = {**one.extensions.get(SPELLING, {}), NULL_POSITION: reordered[1]}
        one = one.changed({"extensions": {**one.extensions, SPELLING: spelling}})
        if one.nullable and json_equal(write_annotated(one, names), schema):
            return one
    return _read_part(_Part(kind_of(schema, names), dict(schema), names))


def _read_noted(
    schema: Mapping[str, Json], note: Mapping[str, Json], names: Mapping[str, str]
) -> Type | None:
    kind = str(note.get("kind", kind_of(schema, names)))
    if not can_be(kind, schema, names):
        return None
    left = {word: value for word, value in schema.items() if word != ANNOTATION}
    if "verbatim" in note:
        left[ANNOTATION] = note["verbatim"]
    facts = {word: note[word] for word in ("nullable", "implicit", "extensions") if word in note}
    for word, kinds in _NOTED_FACTS.items():
        if word in note:
            if kind not in kinds:
                return None
            facts[word] = note[word]
    return _read_part(_Part(kind, left, names, note, facts))


def _read_part(part: _Part) -> Type:
    unwrapped = unwrap_all_of(part.left) if part.kind != "all-of" else None
    if unwrapped is not None:
        part.spelling[WRAPPED_WORDS] = list(part.left["allOf"][0])
        part.left = unwrapped
    one = _SHAPES[part.kind](part)
    if not part.spelling:
        return one
    return one.changed({"extensions": {**one.extensions, SPELLING: part.spelling}})


@dataclass(slots=True)
class _Part:
    """A subschema while it is read: what is left of it becomes `keywords`, what is taken becomes `facts` or
    `spelling`.
    """

    kind: str
    left: dict[str, Json]
    names: Mapping[str, str]
    note: Mapping[str, Json] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)
    spelling: dict[str, Json] = field(default_factory=dict)

    def take_word(self) -> None:
        """Take the `type` keyword."""
        if "type" not in self.left:
            self.facts["implicit"] = True
            return
        word = self.left["type"]
        usual: Json = type_word(word)
        if is_nullable_word(word) and "nullable" not in self.note and not excludes_null(self.left):
            self.facts["nullable"] = True
            usual = [usual, "null"]
        if json_equal(word, usual):
            del self.left["type"]

    def take_texts(self) -> None:
        """Take description, pattern and format."""
        for word in ("description", "pattern", "format"):
            if isinstance(self.left.get(word), str):
                self.facts[word] = self.left.pop(word)

    def take_facts(self) -> None:
        """Take description, pattern, format and enum."""
        self.take_texts()
        values = self.left.get("enum")
        if not isinstance(values, list):
            return
        named = [value for value in values if value is not None]
        self.facts["enum"] = tuple(named)
        if values == ([*named, None] if self.facts.get("nullable") else named):
            del self.left["enum"]

    def take_bounds(self) -> None:
        """Take the bounds of a 32-bit integer."""
        unstated = [word for word in INT32_BOUNDS if word not in self.left]
        if unstated:
            self.spelling[UNSTATED_BOUNDS] = unstated
        for word, bound in INT32_BOUNDS.items():
            if type(self.left.get(word)) is int and self.left[word] == bound:
                del self.left[word]

    def read_all(self, schemas: list[Schema]) -> tuple[Type, ...]:
        """Read a list of schemas."""
        return tuple(read_type(one, self.names) for one in schemas)


def _read_scalar(part: _Part) -> Type:
    part.take_word()
    if "kind" not in part.note and part.kind in FORMAT_OF_KIND:
        del part.left["format"]
    if part.kind == "bytes" and part.left.get("contentEncoding") == "base64":
        del part.left["contentEncoding"]
    if part.kind == "null":
        part.take_texts()
    else:
        part.take_facts()
    if part.kind == "int32" and not part.left.keys() & {"enum", "const"} and "enum" not in part.facts:
        part.take_bounds()
    return ScalarType(kind=part.kind, keywords=part.left, **part.facts)  # type: ignore[arg-type]


def _read_array(part: _Part) -> Type:
    part.take_word()
    part.take_facts()
    if isinstance(part.left.get("items"), Mapping | bool):
        part.facts["items"] = read_type(part.left.pop("items"), part.names)
    return ArrayType(keywords=part.left, **part.facts)


def _read_object(part: _Part) -> Type:
    part.take_word()
    part.take_facts()
    required = part.left.get("required")
    is_list_of_names = isinstance(required, list) and all(isinstance(one, str) for one in required)
    wanted = frozenset(required if is_list_of_names and required else ())
    properties: dict[str, Property] = {}
    stated = part.left.get("properties")
    if is_schema_map(stated) and (stated or part.facts.get("implicit")):
        del part.left["properties"]
        for name, schema in (stated or {}).items():
            properties[name] = _read_property(schema, part.names, required=name in wanted)
    usual = [name for name, held in properties.items() if held.required]
    if usual and required == usual:
        del part.left["required"]
    return ObjectType(properties=properties, keywords=part.left, **part.facts)


def _read_property(schema: Schema, names: Mapping[str, str], *, required: bool) -> Property:
    note = note_of(schema) if isinstance(schema, Mapping) else NOTHING
    if "property" in note and isinstance(schema, Mapping):
        own = {"property": note["property"]}
        held = _read_noted(schema, {word: note[word] for word in note.keys() - own.keys()}, names)
        if held is not None and json_equal(write_annotated(held, names, own), schema):
            return Property(type=held, required=required, extensions=own["property"])
    return Property(type=read_type(schema, names), required=required)


def _read_ref(part: _Part) -> Type:
    nullable = "$ref" not in part.left
    reference = part.left.pop("anyOf")[0]["$ref"] if nullable else part.left["$ref"]
    name = referenced_name(reference, part.names) or ""
    pointer = next(pointer for pointer, one in part.names.items() if one == name)
    is_usual = reference == encoded_reference(pointer)
    if nullable:
        part.facts["nullable"] = True
        if not is_usual:
            part.left["anyOf"] = [{"$ref": reference}, dict(NULL_SCHEMA)]
    elif is_usual:
        del part.left["$ref"]
    part.take_facts()
    return RefType(name=name, keywords=part.left, **part.facts)


def _read_all_of(part: _Part) -> Type:
    if "allOf" in part.left:
        members = part.left.pop("allOf")
    else:
        members = part.left.pop("anyOf")[0]["allOf"]
        part.facts["nullable"] = True
    part.take_facts()
    return AllOfType(members=part.read_all(members), keywords=part.left, **part.facts)


def _read_one_of(part: _Part) -> Type:
    word = "oneOf" if "oneOf" in part.left else "anyOf"
    members = part.left.pop(word)
    exclusive = word == "oneOf"
    if "nullable" not in part.note and ends_with_null(part.left, members, exclusive=exclusive):
        part.facts["nullable"] = True
        members = members[:-1]
    if "discriminator" in part.note and exclusive and members:
        members, classes = map(list, zip(*map(undiscriminate, members), strict=True))
        part.spelling[CLASSES] = classes
    part.take_facts()
    return OneOfType(
        alternatives=part.read_all(members), exclusive=exclusive, keywords=part.left, **part.facts
    )


def _read_opaque(part: _Part) -> Type:
    part.take_facts()
    return OpaqueType(keywords=part.left, **part.facts)


def _read_any(part: _Part) -> Type:
    values = part.left.get("enum")
    if isinstance(values, list) and None in values and "nullable" not in part.note:
        part.facts["nullable"] = True
    part.take_facts()
    return AnyType(keywords=part.left, **part.facts)


_SHAPES: Final[Mapping[str, Callable[[_Part], Type]]] = {
    **dict.fromkeys(SCALAR_KINDS, _read_scalar),
    "array": _read_array,
    "object": _read_object,
    "ref": _read_ref,
    "all-of": _read_all_of,
    "one-of": _read_one_of,
    "opaque": _read_opaque,
    "any": _read_any,
}

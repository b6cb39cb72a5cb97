"""JSON Schema 2020-12 to the type algebra and back, without loss.

Reading keeps what the algebra models in its fields and every other keyword verbatim in `keywords`. Where a field's usual
writing would differ from the source's, the source's own form stands in `keywords` too and wins when written. What JSON Schema
has no word for (a 32-bit width beside another `format`, a class name, facts of other formats) is written under the annotation
keyword `x-droidgate`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote, unquote

from droidgate.model.capability import reachable_definitions
from droidgate.model.json_values import Json, json_equal, pointer_name, pointer_token
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

ANNOTATION: Final = "x-droidgate"
"""The annotation keyword: kind, nullable, implicit, boolean, class_name, qualified_name, exclusive, extensions, property."""

NAMESPACE: Final = "json-schema"
"""Id under which a root type's `extensions` keep how a schema laid out its definitions."""

Schema = Mapping[str, Json] | bool

_KIND_OF_WORD: Final = {
    "boolean": "boolean",
    "integer": "int64",
    "number": "double",
    "string": "string",
    "null": "null",
    "array": "array",
    "object": "object",
}
_WORD_OF_KIND: Final = {
    "boolean": "boolean",
    "int32": "integer",
    "int64": "integer",
    "float": "number",
    "double": "number",
    "string": "string",
    "bytes": "string",
    "null": "null",
    "array": "array",
    "object": "object",
}
_KIND_BY_FORMAT: Final = {("integer", "int32"): "int32", ("number", "float"): "float"}
_FORMAT_OF_KIND: Final = {"int32": "int32", "float": "float"}
_NULL_SCHEMA: Final = {"type": "null"}
_APPLICATORS: Final = ("allOf", "oneOf", "anyOf")
_CONTAINERS: Final = ("$defs", "definitions")
_EMPTY: Final[Mapping[str, Json]] = {}


def read_schema(
    schema: Schema, *, known: Mapping[str, Type] = _EMPTY, key: str = ""
) -> tuple[Type, dict[str, Type]]:
    """Read a whole schema with its definitions.

    Args:
        schema: A JSON Schema object or boolean.
        known: Definitions that the provider already has; a definition of the same name and another content gets the name
            `name@key`.
        key: What makes this schema's definition names its own, such as `tool/input`.

    Returns:
        The root type, and the definitions it brings (those that `known` has already, equal, are among them).
    """
    if isinstance(schema, bool) or not any(_holds_definitions(schema, one) for one in _CONTAINERS):
        return read_type(schema), {}
    local = {
        f"{container}/{name}": definition
        for container in _CONTAINERS
        for name, definition in _definitions_in(schema, container).items()
    }
    body = {word: value for word, value in schema.items() if not _holds_definitions(schema, word)}
    names = {pointer: pointer.partition("/")[2] for pointer in local}
    for pointer in names:
        if pointer.startswith("definitions/") and f"$defs/{names[pointer]}" in names:
            names[pointer] += "@definitions"
    while True:
        read = {names[pointer]: read_type(definition, names) for pointer, definition in local.items()}
        clashing = [pointer for pointer, name in names.items() if name in known and known[name] != read[name]]
        if not clashing:
            break
        for pointer in clashing:
            plain = pointer.partition("/")[2]
            names[pointer] = f"{plain}@{key}" if names[pointer] != f"{plain}@{key}" else f"{names[pointer]}+"
    root = read_type(body, names)
    usual = {f"$defs/{name}": name for name in sorted(reachable_definitions(root, read))}
    if usual != names:
        layout = {NAMESPACE: {"definitions": dict(names)}}
        root = root.model_copy(update={"extensions": {**root.extensions, **layout}})
    return root, read


def _definitions_in(schema: Mapping[str, Json], container: str) -> Mapping[str, Schema]:
    return schema[container] if _holds_definitions(schema, container) else {}


def _holds_definitions(schema: Mapping[str, Json], word: str) -> bool:
    held = schema.get(word) if word in _CONTAINERS else None
    return isinstance(held, Mapping) and bool(held) and _is_schema_map(held)


def write_schema(root: Type, definitions: Mapping[str, Type] = _EMPTY) -> Json:
    """Write a type as a whole schema that carries the definitions it reaches.

    Returns:
        A JSON Schema: a dict, or a bool for the schemas `true` and `false`.
    """
    pointers: dict[str, str] = {}
    stated = root.extensions.get(NAMESPACE)
    if stated is not None:
        pointers = dict(stated["definitions"])
        others = {one: facts for one, facts in root.extensions.items() if one != NAMESPACE}
        root = root.model_copy(update={"extensions": others})
    if definitions:
        placed = set(pointers.values())
        for name in sorted(reachable_definitions(root, dict(definitions)) - placed):
            pointers[f"$defs/{name}"] = name
    layout = _Layout(pointers)
    schema = _write(root, layout, {})
    if isinstance(schema, dict):
        for pointer, name in pointers.items():
            container, _, local = pointer.partition("/")
            if name in definitions:
                schema.setdefault(container, {})[local] = _write(definitions[name], layout, {})
    return schema


def _encoded(pointer: str) -> str:
    container, _, name = pointer.partition("/")
    return f"{container}/{_encoded_token(name)}"


def _encoded_token(name: str) -> str:
    return quote(pointer_token(name), safe="~!$&'()*+,;=:@-._?")


def read_type(schema: Schema, names: Mapping[str, str] = _EMPTY) -> Type:
    """Read one subschema.

    Args:
        schema: A JSON Schema object or boolean.
        names: `$defs/local name` or `definitions/local name` to the definition's name in the model.
    """
    if isinstance(schema, bool):
        return AnyType(boolean=schema)
    note = _note_of(schema)
    left = dict(schema)
    if note:
        del left[ANNOTATION]
        if "verbatim" in note:
            left[ANNOTATION] = note["verbatim"]
    facts: dict[str, Any] = {}
    reader = _SHAPES[_kind_of(schema, note, names)]
    if note.get("implicit"):
        facts["implicit"] = True
    if "nullable" in note:
        facts["nullable"] = note["nullable"]
    for name in ("qualified_name", "class_name", "extensions"):
        if name in note:
            facts[name] = note[name]
    return reader(left, facts, note, names)


def _note_of(schema: Mapping[str, Json]) -> Mapping[str, Json]:
    note = schema.get(ANNOTATION)
    if not isinstance(note, Mapping) or not note or note.keys() - _NOTE_CHECKS.keys():
        return _EMPTY
    return note if all(_NOTE_CHECKS[word](value) for word, value in note.items()) else _EMPTY


def _is_extensions(value: Json) -> bool:
    return isinstance(value, Mapping) and all(isinstance(facts, Mapping) for facts in value.values())


_NOTE_CHECKS: Final = {
    "kind": lambda value: value in _SHAPES,
    "nullable": lambda value: isinstance(value, bool),
    "implicit": lambda value: isinstance(value, bool),
    "class_name": lambda value: isinstance(value, str),
    "qualified_name": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "extensions": _is_extensions,
    "property": _is_extensions,
    "verbatim": lambda _: True,
}


def _kind_of(schema: Mapping[str, Json], note: Mapping[str, Json], names: Mapping[str, str]) -> str:
    if "kind" in note:
        return str(note["kind"])
    word = schema.get("type")
    if word is not None or "type" in schema:
        word = _word_in(word)
        if word is None:
            return "any"
        if word == "string" and schema.get("contentEncoding") == "base64":
            return "bytes"
        stated = schema.get("format")
        return _KIND_BY_FORMAT.get((word, stated if isinstance(stated, str) else ""), _KIND_OF_WORD[word])
    if "$ref" in schema:
        return "ref" if _target(schema["$ref"], names) is not None else "any"
    applied = [one for one in _APPLICATORS if one in schema]
    if applied:
        return _kind_of_applicator(schema, applied, names)
    if _is_schema_map(schema.get("properties")):
        return "object"
    if isinstance(schema.get("items"), Mapping | bool):
        return "array"
    values = schema.get("enum")
    if isinstance(values, list) and values and all(isinstance(one, str) for one in values):
        return "string"
    return "any"


def _word_in(word: Json) -> str | None:
    if isinstance(word, str):
        return word if word in _KIND_OF_WORD else None
    if isinstance(word, list) and len(word) in {1, 2}:
        others = [one for one in word if one != "null"]
        if len(others) == 1 and isinstance(others[0], str) and others[0] in _KIND_OF_WORD:
            return others[0]
    return None


def _kind_of_applicator(schema: Mapping[str, Json], applied: Sequence[str], names: Mapping[str, str]) -> str:
    if len(applied) > 1 or "properties" in schema or "items" in schema:
        return "any"
    word = applied[0]
    members = schema[word]
    if not isinstance(members, list) or not members or not all(isinstance(one, Mapping | bool) for one in members):
        return "any"
    if word == "allOf":
        return "all-of"
    if word == "anyOf" and len(members) == 2 and json_equal(members[1], _NULL_SCHEMA):
        inner = members[0]
        if isinstance(inner, Mapping) and len(inner) == 1:
            if "$ref" in inner and _target(inner["$ref"], names) is not None:
                return "ref"
            if "allOf" in inner and isinstance(inner["allOf"], list) and inner["allOf"]:
                return "all-of"
    if json_equal(members, [_NULL_SCHEMA]):
        return "any"
    return "one-of"


def _target(reference: Json, names: Mapping[str, str]) -> str | None:
    if not isinstance(reference, str) or not reference.startswith("#/"):
        return None
    container, _, token = unquote(reference[2:]).partition("/")
    return names.get(f"{container}/{pointer_name(token)}") if "/" not in token else None


def _is_schema_map(value: Json) -> bool:
    return isinstance(value, Mapping) and all(isinstance(one, Mapping | bool) for one in value.values())


def _common(left: dict[str, Json], facts: dict[str, Any]) -> None:
    for word in ("description", "pattern", "format"):
        if isinstance(left.get(word), str):
            facts[word] = left.pop(word)
    values = left.get("enum")
    if not isinstance(values, list):
        return
    if facts.get("nullable") and (not values or values[-1] is not None):
        facts["enum"] = tuple(values)
    elif facts.get("nullable"):
        facts["enum"] = tuple(values[:-1])
        del left["enum"]
    else:
        facts["enum"] = tuple(values)
        del left["enum"]


def _take_word(left: dict[str, Json], facts: dict[str, Any], note: Mapping[str, Json]) -> None:
    if "type" not in left:
        facts["implicit"] = True
        return
    word = left["type"]
    usual: Json = _word_in(word)
    if isinstance(word, list) and "null" in word and len(word) == 2 and "nullable" not in note:
        facts["nullable"] = True
        usual = [usual, "null"]
    if json_equal(word, usual):
        del left["type"]


def _read_scalar(left: dict[str, Json], facts: dict[str, Any], note: Mapping[str, Json], names: Mapping[str, str]) -> Type:
    kind = _kind_of(left, note, names)
    _take_word(left, facts, note)
    if "kind" not in note and kind in _FORMAT_OF_KIND:
        del left["format"]
    if kind == "bytes" and left.get("contentEncoding") == "base64":
        del left["contentEncoding"]
    _common(left, facts)
    return ScalarType(kind=kind, keywords=left, **facts)  # type: ignore[arg-type]


def _read_array(left: dict[str, Json], facts: dict[str, Any], note: Mapping[str, Json], names: Mapping[str, str]) -> Type:
    _take_word(left, facts, note)
    _common(left, facts)
    if isinstance(left.get("items"), Mapping | bool):
        facts["items"] = read_type(left.pop("items"), names)
    return ArrayType(keywords=left, **facts)


def _read_object(left: dict[str, Json], facts: dict[str, Any], note: Mapping[str, Json], names: Mapping[str, str]) -> Type:
    _take_word(left, facts, note)
    _common(left, facts)
    required = left.get("required")
    wanted = set(required) if isinstance(required, list) and all(isinstance(one, str) for one in required) else set()
    properties: dict[str, Property] = {}
    if _is_schema_map(left.get("properties")) and (left["properties"] or facts.get("implicit")):
        for name, schema in left.pop("properties").items():
            properties[name] = _read_property(name in wanted, schema, names)
    usual = [name for name, held in properties.items() if held.required]
    if usual and required == usual:
        del left["required"]
    return ObjectType(properties=properties, keywords=left, **facts)


def _read_property(required: bool, schema: Schema, names: Mapping[str, str]) -> Property:  # noqa: FBT001
    note = _note_of(schema) if isinstance(schema, Mapping) else _EMPTY
    if "property" not in note or isinstance(schema, bool):
        return Property(type=read_type(schema, names), required=required)
    rest = {word: value for word, value in note.items() if word != "property"}
    inner = {word: value for word, value in schema.items() if word != ANNOTATION}
    if rest:
        inner[ANNOTATION] = rest
    return Property(type=read_type(inner, names), required=required, extensions=note["property"])


def _read_ref(left: dict[str, Json], facts: dict[str, Any], note: Mapping[str, Json], names: Mapping[str, str]) -> Type:
    if "$ref" in left:
        reference = left["$ref"]
    else:
        reference = left.pop("anyOf")[0]["$ref"]
        facts["nullable"] = True
    name = _target(reference, names)
    if name is None:
        return _read_any({**left, "$ref": reference}, facts, note, names)
    pointer = next(pointer for pointer, one in names.items() if one == name)
    if reference == f"#/{_encoded(pointer)}":
        left.pop("$ref", None)
    elif "$ref" not in left:
        left["anyOf"] = [{"$ref": reference}, dict(_NULL_SCHEMA)]
    _common(left, facts)
    return RefType(name=name, keywords=left, **facts)


def _read_all_of(left: dict[str, Json], facts: dict[str, Any], note: Mapping[str, Json], names: Mapping[str, str]) -> Type:
    if "allOf" in left:
        members = left.pop("allOf")
    else:
        members = left.pop("anyOf")[0]["allOf"]
        facts["nullable"] = True
    _common(left, facts)
    return AllOfType(members=tuple(read_type(one, names) for one in members), keywords=left, **facts)


def _read_one_of(left: dict[str, Json], facts: dict[str, Any], note: Mapping[str, Json], names: Mapping[str, str]) -> Type:
    word = "oneOf" if "oneOf" in left else "anyOf"
    members = left.pop(word)
    if "nullable" not in note and len(members) > 1 and json_equal(members[-1], _NULL_SCHEMA):
        facts["nullable"] = True
        members = members[:-1]
    _common(left, facts)
    alternatives = tuple(read_type(one, names) for one in members)
    return OneOfType(alternatives=alternatives, exclusive=word == "oneOf", keywords=left, **facts)


def _read_opaque(left: dict[str, Json], facts: dict[str, Any], note: Mapping[str, Json], names: Mapping[str, str]) -> Type:
    _common(left, facts)
    return OpaqueType(keywords=left, **facts)


def _read_any(left: dict[str, Json], facts: dict[str, Any], note: Mapping[str, Json], names: Mapping[str, str]) -> Type:
    _common(left, facts)
    return AnyType(keywords=left, boolean=note.get("boolean"), **facts)


_SHAPES: Final = {
    **dict.fromkeys(SCALAR_KINDS, _read_scalar),
    "array": _read_array,
    "object": _read_object,
    "ref": _read_ref,
    "all-of": _read_all_of,
    "one-of": _read_one_of,
    "opaque": _read_opaque,
    "any": _read_any,
}


class _Layout:
    """Where definitions stand in the schema being written: name to `$ref`, and pointer to name as a reader would see it."""

    def __init__(self, pointers: Mapping[str, str]) -> None:
        self.read = pointers
        self.written = {name: f"#/{_encoded(pointer)}" for pointer, name in pointers.items()}


def _write(one: Type, layout: _Layout, note: dict[str, Json]) -> Json:
    if isinstance(one, AnyType) and one.boolean is not None:
        if not note and one == AnyType(boolean=one.boolean):
            return one.boolean
        note["boolean"] = one.boolean
    out: dict[str, Json] = {}
    nullable_told = _WRITERS[one.kind](one, layout, out)
    if one.description is not None:
        out["description"] = one.description
    if one.enum is not None:
        out["enum"] = [*one.enum, None] if one.nullable else list(one.enum)
    if one.pattern is not None:
        out["pattern"] = one.pattern
    if one.format is not None:
        out["format"] = one.format
    out.update(one.keywords)
    if one.nullable and not nullable_told:
        note["nullable"] = True
    if one.implicit and one.kind not in _WORD_OF_KIND:
        note["implicit"] = True
    _annotate(one, layout, out, note)
    return out


def _annotate(one: Type, layout: _Layout, out: dict[str, Json], note: dict[str, Json]) -> None:
    if _kind_of(out, _EMPTY, layout.read) != one.kind:
        note["kind"] = one.kind
    if isinstance(one, ObjectType | AllOfType | OneOfType) and one.qualified_name is not None:
        note["qualified_name"] = one.qualified_name
    if isinstance(one, OpaqueType) and one.class_name is not None:
        note["class_name"] = one.class_name
    if isinstance(one, OneOfType) and not one.nullable and len(one.alternatives) > 1:
        last = out["oneOf" if one.exclusive else "anyOf"][-1]
        if json_equal(last, _NULL_SCHEMA):
            note["nullable"] = False
    if one.extensions:
        note["extensions"] = one.extensions
    if note:
        if ANNOTATION in out:
            note["verbatim"] = out[ANNOTATION]
        out[ANNOTATION] = note


def _write_word(one: Type, out: dict[str, Json]) -> bool:
    if one.implicit:
        return False
    word = _WORD_OF_KIND[one.kind]
    told = one.nullable and one.kind != "null"
    out["type"] = [word, "null"] if told else word
    return told


def _write_scalar(one: ScalarType, _: _Layout, out: dict[str, Json]) -> bool:
    told = _write_word(one, out)
    if one.kind == "bytes":
        out["contentEncoding"] = "base64"
    if one.format is None and one.kind in _FORMAT_OF_KIND:
        out["format"] = _FORMAT_OF_KIND[one.kind]
    return told


def _write_array(one: ArrayType, layout: _Layout, out: dict[str, Json]) -> bool:
    told = _write_word(one, out)
    if one.items is not None:
        out["items"] = _write(one.items, layout, {})
    return told


def _write_object(one: ObjectType, layout: _Layout, out: dict[str, Json]) -> bool:
    told = _write_word(one, out)
    if one.properties or one.implicit:
        out["properties"] = {
            name: _write(held.type, layout, {"property": held.extensions} if held.extensions else {})
            for name, held in one.properties.items()
        }
    required = [name for name, held in one.properties.items() if held.required]
    if required:
        out["required"] = required
    return told


def _write_ref(one: RefType, layout: _Layout, out: dict[str, Json]) -> bool:
    reference = layout.written.get(one.name) or f"#/$defs/{_encoded_token(one.name)}"
    if one.nullable:
        out["anyOf"] = [{"$ref": reference}, dict(_NULL_SCHEMA)]
    else:
        out["$ref"] = reference
    return one.nullable


def _write_all_of(one: AllOfType, layout: _Layout, out: dict[str, Json]) -> bool:
    members = [_write(member, layout, {}) for member in one.members]
    if one.nullable:
        out["anyOf"] = [{"allOf": members}, dict(_NULL_SCHEMA)]
    else:
        out["allOf"] = members
    return one.nullable


def _write_one_of(one: OneOfType, layout: _Layout, out: dict[str, Json]) -> bool:
    members = [_write(alternative, layout, {}) for alternative in one.alternatives]
    told = one.nullable and bool(members)
    out["oneOf" if one.exclusive else "anyOf"] = [*members, dict(_NULL_SCHEMA)] if told else members
    return told


def _write_bare(one: OpaqueType | AnyType, layout: _Layout, out: dict[str, Json]) -> bool:
    return False


_WRITERS: Final[Mapping[str, Callable[[Any, _Layout, dict[str, Json]], bool]]] = {
    **dict.fromkeys(SCALAR_KINDS, _write_scalar),
    "array": _write_array,
    "object": _write_object,
    "ref": _write_ref,
    "all-of": _write_all_of,
    "one-of": _write_one_of,
    "opaque": _write_bare,
    "any": _write_bare,
}

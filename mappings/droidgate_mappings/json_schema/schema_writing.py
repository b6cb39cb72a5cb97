"""Types to JSON Schema."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from droidgate_mappings.json_schema.references import ReferenceTargets, is_local
from droidgate_mappings.json_schema.schema_words import (
    ANNOTATION,
    CLASSES,
    CONTAINERS,
    FORMAT_OF_KIND,
    INT32_BOUNDS,
    NAMESPACE,
    NOTATION,
    NOTHING,
    NULL_POSITION,
    NULL_SCHEMA,
    SCHEMA_TYPE_KEY,
    UNSTATED_BOUNDS,
    WORD_OF_KIND,
    WRAPPED_WORDS,
    discriminate,
    encoded_reference,
    ends_with_null,
    excludes_null,
    is_schema_map,
    kind_of,
    takes_null,
    unwrap_all_of,
    with_null_at,
    with_null_last,
)
from droidgate_mappings.model.capability import reachable_definitions
from droidgate_mappings.model.json_values import Json, json_equal
from droidgate_mappings.model.types import (
    SCALAR_KINDS,
    AllOfType,
    AnyType,
    ArrayType,
    ObjectType,
    OneOfType,
    OpaqueType,
    RefType,
    ScalarType,
    Type,
)


def write_schema(root: Type, definitions: Mapping[str, Type] = NOTHING, *, int32_bounds: bool = True) -> Json:
    """Write a type as a whole schema that carries the definitions it reaches.

    Args:
        root: The type.
        definitions: The provider's definitions.
        int32_bounds: Write the bounds of 32-bit integers that the type does not state; without them a
            schema is shorter to read in a description.

    Returns:
        A JSON Schema: a dict, or a bool for the schemas `true` and `false`.
    """
    return _write_placed(root, definitions, int32_bounds=int32_bounds)[0]


def place_definitions(root: Type, definitions: Mapping[str, Type]) -> tuple[Type, dict[str, str]]:
    """Return a root whose layout is the one that reading its schema gives.

    A layout may keep a definition by a reference into the schema, such as `#`. Where the root has changed,
    the reference means something else; then the definition is written into `$defs`.

    Returns:
        The root, and the new reference for each one that `$defs` replaces.
    """
    stated = _stated_layout(root)
    if not any(map(is_local, stated)):
        return root, {}
    _, pointers, replaced = _write_placed(root, definitions)
    layout: dict[str, Json] = {"definitions": pointers}
    usual = {f"$defs/{name}": name for name in reachable_definitions(root, dict(definitions))}
    kept = {NAMESPACE: layout} if pointers != usual else {}
    return root.changed({"extensions": {**_without_layout(root).extensions, **kept}}), replaced


def _write_placed(
    root: Type, definitions: Mapping[str, Type], *, int32_bounds: bool = True
) -> tuple[Json, dict[str, str], dict[str, str]]:
    """Return the schema, where its definitions are, and the new reference for each replaced one."""
    pointers = {pointer: name for pointer, name in _stated_layout(root).items() if name in definitions}
    root = _without_layout(root)
    if definitions:
        placed = set(pointers.values())
        for name in sorted(reachable_definitions(root, dict(definitions)) - placed):
            pointers[f"$defs/{name}"] = name
    replaced: dict[str, str] = {}
    while True:
        pointers = dict(sorted(pointers.items(), key=_container_order))
        layout = Layout(pointers, int32_bounds=int32_bounds)
        schema = _write_whole(root, definitions, layout)
        changed = _changed_references(schema, definitions, layout)
        if not changed:
            return schema, pointers, replaced
        for reference in changed:
            name = pointers.pop(reference)
            pointers[f"$defs/{name}"] = name
            replaced[reference] = encoded_reference(f"$defs/{name}")


def _container_order(entry: tuple[str, str]) -> int:
    """Return where reading puts the container of a layout's entry."""
    container = entry[0].partition("/")[0]
    return CONTAINERS.index(container) if container in CONTAINERS else len(CONTAINERS)


def _stated_layout(root: Type) -> dict[str, str]:
    stated: dict[str, str] = root.extensions.get(NAMESPACE, {}).get("definitions", {})
    return stated


def _without_layout(root: Type) -> Type:
    if NAMESPACE not in root.extensions:
        return root
    return root.changed(
        {"extensions": {item: content for item, content in root.extensions.items() if item != NAMESPACE}}
    )


def _write_whole(root: Type, definitions: Mapping[str, Type], layout: Layout) -> Json:
    schema = _write(root, layout, {})
    if isinstance(schema, dict):
        for container, content in _write_definitions(layout.read, definitions, layout).items():
            stated = schema.get(container)
            schema[container] = {
                **(stated if stated is not None and is_schema_map(stated) else {}),
                **content,
            }
    return schema


def _changed_references(schema: Json, definitions: Mapping[str, Type], layout: Layout) -> list[str]:
    """Return the references into a schema that do not lead to the definition that they are kept for."""
    local = {pointer: name for pointer, name in layout.read.items() if is_local(pointer)}
    if not local:
        return []
    targets = ReferenceTargets(schema)
    changed: list[str] = []
    # Many spellings of a reference can mean one large part: it is compared once.
    compared: dict[tuple[int, int], bool] = {}
    for reference, name in local.items():
        target, definition = targets.resolve(reference), definitions[name]
        pair = (id(target), id(definition))
        if pair not in compared:
            compared[pair] = json_equal(target, _write(definition, layout, {}))
        if not compared[pair]:
            changed.append(reference)
    return changed


def write_annotated(type_: Type, layout: Layout, note: Mapping[str, Json] = NOTHING) -> Json:
    """Write one subschema, with further words in its note.

    Args:
        type_: The type.
        layout: Where the definitions are.
        note: What else the note says.
    """
    return _write(type_, layout, dict(note))


class Layout:
    """Where the definitions of a schema are: `read` has their names by pointer, `written` the `$ref` to each
    by name.
    """

    def __init__(self, pointers: Mapping[str, str], *, int32_bounds: bool = True) -> None:
        self.read = dict(pointers)
        self.int32_bounds = int32_bounds
        self.written = {name: encoded_reference(pointer) for pointer, name in pointers.items()}

    def rename(self, pointer: str, name: str) -> None:
        """Give the definition at a pointer a name that no other one has."""
        self.written[name] = self.written.pop(self.read[pointer])
        self.read[pointer] = name


def _write_definitions(
    pointers: Mapping[str, str], definitions: Mapping[str, Type], layout: Layout
) -> dict[str, dict[str, Json]]:
    containers: dict[str, dict[str, Json]] = {}
    for pointer, name in pointers.items():
        if is_local(pointer):
            continue
        container, _, local = pointer.partition("/")
        containers.setdefault(container, {})[local] = _write(definitions[name], layout, {})
    return containers


def _write(type_: Type, layout: Layout, note: dict[str, Json]) -> Json:
    if isinstance(type_, AnyType) and type_.boolean is not None:
        if not note and type_ == AnyType(boolean=type_.boolean):
            return type_.boolean
        note["boolean"] = type_.boolean
    out: dict[str, Json] = {}
    allows_null = _WRITERS[type_.kind](type_, layout, out)
    if type_.description is not None:
        out["description"] = type_.description
    if type_.enum is not None:
        out["enum"] = [*type_.enum, None] if type_.nullable else list(type_.enum)
    if type_.pattern is not None:
        out["pattern"] = type_.pattern
    if type_.format is not None:
        out["format"] = type_.format
    out.update(type_.keywords)
    if type_.nullable and not allows_null:
        note["nullable"] = True
    if type_.implicit and type_.kind not in WORD_OF_KIND:
        note["implicit"] = True
    _annotate(type_, layout, out, note)
    notation = type_.extensions.get(NOTATION, NOTHING)
    if allows_null and NULL_POSITION in notation:
        out = with_null_at(out, notation[NULL_POSITION])
    wrapped = notation.get(WRAPPED_WORDS)
    return out if wrapped is None else _wrap(out, wrapped)


def _wrap(schema: dict[str, Json], words: list[str]) -> dict[str, Json]:
    """Return a schema with some of its keywords inside an `allOf` with one member."""
    member = {word: schema[word] for word in words if word in schema}
    wrapped = {"allOf": [member], **{word: content for word, content in schema.items() if word not in member}}
    return wrapped if unwrap_all_of(wrapped) is not None else schema


def _annotate(type_: Type, layout: Layout, out: dict[str, Json], note: dict[str, Json]) -> None:
    says_its_own_kind = type_.format is not None and type_.format == FORMAT_OF_KIND.get(type_.kind)
    if says_its_own_kind or kind_of(out, layout.read) != type_.kind:
        note["kind"] = type_.kind
    if isinstance(type_, ObjectType | AllOfType | OneOfType) and type_.qualified_name is not None:
        note["qualified_name"] = type_.qualified_name
    if isinstance(type_, OpaqueType) and type_.class_name is not None:
        note["class_name"] = type_.class_name
    if isinstance(type_, OneOfType) and not type_.nullable:
        members = out["oneOf" if type_.exclusive else "anyOf"]
        if ends_with_null(out, members, exclusive=type_.exclusive) or with_null_last(out) is not None:
            note["nullable"] = False
    if isinstance(type_, OneOfType) and _classes_of(type_):
        note["discriminator"] = SCHEMA_TYPE_KEY
    others = {facts: content for facts, content in type_.extensions.items() if facts != NOTATION}
    if others:
        note["extensions"] = others
    if note:
        if ANNOTATION in out:
            note["verbatim"] = out[ANNOTATION]
        out[ANNOTATION] = note


def _allows_null(type_: Type) -> bool:
    return type_.nullable and not excludes_null(type_.keywords)


def _write_word(type_: Type, out: dict[str, Json]) -> bool:
    if type_.implicit:
        return False
    word = WORD_OF_KIND[type_.kind]
    allows_null = _allows_null(type_) and type_.kind != "null"
    out["type"] = [word, "null"] if allows_null else word
    return allows_null


def _write_scalar(scalar: ScalarType, layout: Layout, out: dict[str, Json]) -> bool:
    allows_null = _write_word(scalar, out)
    if scalar.kind == "bytes":
        out["contentEncoding"] = "base64"
    if scalar.format is None and scalar.kind in FORMAT_OF_KIND:
        out["format"] = FORMAT_OF_KIND[scalar.kind]
    states_values = scalar.enum is not None or bool(scalar.keywords.keys() & {"enum", "const"})
    if scalar.kind == "int32" and layout.int32_bounds and not states_values:
        unstated = scalar.extensions.get(NOTATION, NOTHING).get(UNSTATED_BOUNDS, ())
        out.update({word: bound for word, bound in INT32_BOUNDS.items() if word not in unstated})
    return allows_null


def _write_array(array: ArrayType, layout: Layout, out: dict[str, Json]) -> bool:
    allows_null = _write_word(array, out)
    if array.items is not None:
        out["items"] = _write(array.items, layout, {})
    return allows_null


def _write_object(object_type: ObjectType, layout: Layout, out: dict[str, Json]) -> bool:
    allows_null = _write_word(object_type, out)
    if object_type.properties or object_type.implicit:
        out["properties"] = {
            name: _write(
                property_.type, layout, {"property": property_.extensions} if property_.extensions else {}
            )
            for name, property_ in object_type.properties.items()
        }
    required = [name for name, property_ in object_type.properties.items() if property_.required]
    if required:
        out["required"] = required
    return allows_null


def _write_ref(type_: RefType, layout: Layout, out: dict[str, Json]) -> bool:
    reference = layout.written.get(type_.name) or encoded_reference(f"$defs/{type_.name}")
    allows_null = _allows_null(type_)
    if allows_null:
        out["anyOf"] = [{"$ref": reference}, dict(NULL_SCHEMA)]
    else:
        out["$ref"] = reference
    return allows_null


def _write_all_of(combination: AllOfType, layout: Layout, out: dict[str, Json]) -> bool:
    members = [_write(member, layout, {}) for member in combination.members]
    allows_null = _allows_null(combination)
    if allows_null:
        out["anyOf"] = [{"allOf": members}, dict(NULL_SCHEMA)]
    else:
        out["allOf"] = members
    return allows_null


def _write_one_of(choice: OneOfType, layout: Layout, out: dict[str, Json]) -> bool:
    members = [_write(alternative, layout, {}) for alternative in choice.alternatives]
    classes = _classes_of(choice)
    if classes:
        members = list(map(discriminate, members, classes))
    allows_null = (
        _allows_null(choice) and bool(members) and not (choice.exclusive and any(map(takes_null, members)))
    )
    out["oneOf" if choice.exclusive else "anyOf"] = [*members, dict(NULL_SCHEMA)] if allows_null else members
    return allows_null


def _classes_of(choice: OneOfType) -> list[str | None]:
    """Return the class name that each alternative is written with; empty without any."""
    classes: list[str | None] = choice.extensions.get(NOTATION, NOTHING).get(CLASSES, [])
    return classes if choice.exclusive and any(classes) and len(classes) == len(choice.alternatives) else []


def _write_opaque(_opaque: OpaqueType, _layout: Layout, _out: dict[str, Json]) -> bool:
    return False


def _write_any(type_: AnyType, _layout: Layout, _out: dict[str, Json]) -> bool:
    return type_.nullable and type_.enum is not None


_WRITERS: Final[Mapping[str, Callable[[Any, Layout, dict[str, Json]], bool]]] = {
    **dict.fromkeys(SCALAR_KINDS, _write_scalar),
    "array": _write_array,
    "object": _write_object,
    "ref": _write_ref,
    "all-of": _write_all_of,
    "one-of": _write_one_of,
    "opaque": _write_opaque,
    "any": _write_any,
}

"""Types to JSON Schema and back.

AppFunctions takes the alternative whose class name an object states under `schemaType` (reference
appfunctions 2.c, 6.3). JSON Schema's `oneOf` takes an object only where exactly one alternative describes it.
So each alternative with a class name has `schemaType` as a constant, and classes with equal properties stay
apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

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
    ReferenceTargets,
    Schema,
    can_be,
    discriminate,
    encoded_reference,
    ends_with_null,
    excludes_null,
    find_local_references,
    is_local,
    is_nullable_word,
    is_schema_map,
    kind_of,
    name_reference,
    note_of,
    referenced_name,
    schema_takes_null,
    type_word,
    undiscriminate,
    unwrap_all_of,
    with_null_at,
    with_null_last,
)
from droidgate_mappings.model.capability import (
    Provider,
    child_types,
    is_same,
    reachable_definitions,
    references_of,
    type_behind,
    with_parts,
)
from droidgate_mappings.model.findings import Finding, Level, finding_code
from droidgate_mappings.model.json_values import Json, canonical_json, json_equal, pointer_name, pointer_token
from droidgate_mappings.model.names import NameEntry, name_suffix
from droidgate_mappings.model.types import (
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
from droidgate_mappings.records import dataclass, field


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
    layout_extensions = {NAMESPACE: layout} if pointers != usual else {}
    return root.changed({"extensions": {**_without_layout(root).extensions, **layout_extensions}}), replaced


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
        _allows_null(choice)
        and bool(members)
        and not (choice.exclusive and any(map(schema_takes_null, members)))
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


DISCRIMINATOR_ADDED: Final = finding_code(
    "discriminator-added", "Objects state in `schemaType` which class of the source they are", __name__
)

CHOICE_INCLUSIVE: Final = finding_code(
    "choice-inclusive", "A choice by class is written as `anyOf`, as `oneOf` counts alternatives", __name__
)

_CLOSING_WORDS: Final = frozenset(
    {"additionalProperties", "unevaluatedProperties", "propertyNames", "maxProperties"}
)
"""Keywords that may refuse a property that an object does not declare."""


def add_discriminators(
    provider: Provider, names: Iterable[NameEntry] = ()
) -> tuple[Provider, tuple[Finding, ...]]:
    """Return a provider whose exclusive choices between classes are written with a discriminator.

    A class without a name has that of its reference. Alternatives that are not classes, and those that refuse
    further properties, are written as they are. Where a value could then be of two alternatives, and `oneOf`
    would refuse it, the choice is written as `anyOf`.

    Args:
        provider: The provider as it is written.
        names: What has another name in it than in the source: a class is stated as the source names it.

    Returns:
        The provider, and one finding for each choice, at its place in the source.
    """
    originals = {
        (entry.pointer.rpartition("/")[0], pointer_token(entry.written)): pointer_token(entry.original)
        for entry in names
        if entry.pointer.endswith(
            (f"/properties/{pointer_token(entry.original)}", f"/definitions/{pointer_token(entry.original)}")
        )
    }
    adding = _Adding(provider.definitions, originals)
    definitions = {
        name: adding.add_to(definition, f"/definitions/{pointer_token(name)}")
        for name, definition in provider.definitions.items()
    }
    capabilities = []
    for position, capability in enumerate(provider.capabilities):
        changes: dict[str, Any] = {
            "input": adding.add_to(capability.input, f"/capabilities/{position}/input")
        }
        if capability.output is not None:
            changes["output"] = adding.add_to(capability.output, f"/capabilities/{position}/output")
        capabilities.append(capability.changed(changes))
    if not adding.findings:
        return provider, ()
    changed = provider.changed({"definitions": definitions, "capabilities": tuple(capabilities)})
    return changed, tuple(adding.findings)


def with_discriminators(type_: Type, definitions: Mapping[str, Type]) -> Type:
    """Return a type whose exclusive choices between classes have a discriminator, as `add_discriminators`."""
    return _Adding(definitions, {}).add_to(type_, "")


@dataclass(slots=True)
class _Adding:
    definitions: Mapping[str, Type]
    originals: Mapping[tuple[str, str], str]
    findings: list[Finding] = field(default_factory=list)

    def report(self, code: str, level: Level, pointer: str, message: str) -> None:
        path = ""
        for token in pointer.split("/")[1:]:
            path = f"{path}/{self.originals.get((path, token), token)}"
        self.findings.append(Finding(code=code, level=level, pointer=path, message=message))

    def add_to(self, type_: Type, pointer: str) -> Type:
        if not _has_choice(type_):
            return type_
        added = with_parts(type_, lambda inner, path: self.add_to(inner, pointer + path))
        return added.changed(self.changes_of(type_, pointer)) if isinstance(type_, OneOfType) else added

    def changes_of(self, choice: OneOfType, pointer: str) -> dict[str, Any]:
        """Return the fields of a choice that change."""
        notation = choice.extensions.get(NOTATION, {})
        if not choice.exclusive or len(choice.alternatives) == 1 or CLASSES in notation:
            return {}
        behind = [type_behind(alternative, self.definitions) for alternative in choice.alternatives]
        classes = list(map(self.class_of, choice.alternatives))
        class_names = (name for name, type_ in zip(classes, behind, strict=True) if _class_name(type_))
        if choice.qualified_name is None and not any(class_names):
            return {}
        others = [type_ for type_, name in zip(behind, classes, strict=True) if name is None]
        if not _are_apart(others, [name for name in classes if name is not None]):
            is_scalar = all(type_.kind in SCALAR_KINDS for type_ in behind)
            level = Level.RENAMED if is_scalar else Level.WIDENED
            message = "written as `anyOf`: a value can be of several alternatives"
            self.report(CHOICE_INCLUSIVE, level, f"{pointer}/exclusive", message)
            return {"exclusive": False}
        if not any(classes):
            return {}
        message = f"each object states its class in {SCHEMA_TYPE_KEY!r}, as the source requires"
        self.report(DISCRIMINATOR_ADDED, Level.RENAMED, f"{pointer}/extensions/{NOTATION}/{CLASSES}", message)
        return {"extensions": {**choice.extensions, NOTATION: {**notation, CLASSES: classes}}}

    def class_of(self, alternative: Type) -> str | None:
        """Return the name that an alternative is chosen by, where it takes `schemaType` as a property.

        It is that of the class, or else of the reference (reference appfunctions 2.c, oneOf).
        """
        resolved = type_behind(alternative, self.definitions)
        if not isinstance(resolved, ObjectType | AllOfType):
            return None
        members = resolved.members if isinstance(resolved, AllOfType) else (resolved,)
        if not all(_takes_schema_type(type_behind(member, self.definitions)) for member in members):
            return None
        if resolved.qualified_name or not isinstance(alternative, RefType):
            return resolved.qualified_name or None
        written = pointer_token(alternative.name)
        return pointer_name(self.originals.get(("/definitions", written), written))


def _class_name(type_: Type) -> str | None:
    return type_.qualified_name or None if isinstance(type_, ObjectType | AllOfType) else None


def _are_apart(others: Sequence[Type], classes: Sequence[str]) -> bool:
    """Return whether no value can be of two alternatives.

    Args:
        others: What is behind each alternative that is written without a discriminator.
        classes: The discriminators of the rest.
    """
    words = [_JSON_TYPES.get(alternative.kind) for alternative in others]
    distinct = len(set(words)) == len(words) and len(set(classes)) == len(classes)
    is_open = any(
        isinstance(alternative, ObjectType) and _CLOSING_WORDS.isdisjoint(alternative.keywords)
        for alternative in others
    )
    several_null = sum(alternative.nullable for alternative in others) > 1
    return distinct and None not in words and not several_null and not (is_open and classes)


_JSON_TYPES: Final[Mapping[str, str]] = {
    kind: "number" if word == "integer" else word for kind, word in WORD_OF_KIND.items()
}


def _takes_schema_type(member: Type) -> bool:
    if not isinstance(member, ObjectType):
        return False
    return SCHEMA_TYPE_KEY not in member.properties and _CLOSING_WORDS.isdisjoint(member.keywords)


def _has_choice(type_: Type) -> bool:
    pending = [type_]
    while pending:
        current = pending.pop()
        if isinstance(current, OneOfType):
            return True
        pending.extend(child_types(current))
    return False


_NOTED_FACTS: Final = {
    "qualified_name": frozenset({"object", "all-of", "one-of"}),
    "class_name": frozenset({"opaque"}),
    "boolean": frozenset({"any"}),
}
_KINDS_WITH_NULL_LAST: Final = frozenset({"one-of", "ref", "all-of"})
"""The kinds that are written with a null alternative where they are nullable."""


def read_schema(schema: Schema, *, definitions: Mapping[str, Type] = NOTHING) -> tuple[Type, dict[str, Type]]:
    """Read a whole schema with its definitions.

    Args:
        schema: A JSON Schema object or boolean.
        definitions: Those that the provider already has. A definition of the same name and another content
            gets the name `name@suffix`, the suffix made from its content.

    Returns:
        The root type, and the definitions in it (equal ones that `definitions` has, are among them).
    """
    if isinstance(schema, bool):
        return read_type(schema), {}
    containers = [word for word in CONTAINERS if schema.get(word) and is_schema_map(schema[word])]
    local = {f"{word}/{name}": definition for word in containers for name, definition in schema[word].items()}
    names = {pointer: pointer.partition("/")[2] for pointer in local}
    for reference, definition in find_local_references(schema, names).items():
        local[reference], names[reference] = definition, name_reference(reference)
    if not local:
        return read_type(schema), {}
    reading = _Reading(_unique_names(names, local))
    read = _read_definitions(local, reading, definitions)
    names = reading.layout.read
    root = reading.read({word: value for word, value in schema.items() if word not in containers})
    usual = {f"$defs/{name}": name for name in reachable_definitions(root, read)}
    if usual != names:
        layout = {NAMESPACE: {"definitions": names}}
        root = root.changed({"extensions": {**root.extensions, **layout}})
    return root, read


def _unique_names(names: Mapping[str, str], local: Mapping[str, Schema]) -> dict[str, str]:
    """Return the names of definitions by pointer, where those that have the name of another get new ones."""
    unique: dict[str, str] = {}
    new_names = _NewNames(names)
    used_names: set[str] = set()
    for pointer, name in names.items():
        unique[pointer] = new_names.make(name, local[pointer]) if name in used_names else name
        used_names.add(name)
    return unique


class _NewNames:
    """Makes names that no definition of a schema has yet."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self._used = set(names.values())
        # By the identity of a definition: many references can mean one large part.
        self._suffixes: dict[int, str] = {}

    def make(self, name: str, schema: Schema) -> str:
        """Return another name for a definition, made from its content."""
        suffix = self._suffixes.get(id(schema))
        if suffix is None:
            suffix = self._suffixes[id(schema)] = f"@{name_suffix(canonical_json(schema))}"
        candidate = f"{name}+" if name.rstrip("+").endswith(suffix) else f"{name}{suffix}"
        while candidate in self._used:
            candidate += "+"
        self._used.add(candidate)
        return candidate


def _read_definitions(
    local: Mapping[str, Schema], reading: _Reading, definitions: Mapping[str, Type]
) -> dict[str, Type]:
    """Read definitions, and give those whose names mean something else already new names.

    A new name changes the definitions that refer to it, and only these are read again: those whose names
    are known at once, since they may need new names too, and the others at the end.
    """
    layout = reading.layout
    read = {pointer: reading.read(schema) for pointer, schema in local.items()}
    users: dict[str, set[str]] = {}
    for pointer, item in read.items():
        for name in references_of(item):
            users.setdefault(name, set()).add(pointer)
    order = {pointer: position for position, pointer in enumerate(local)}
    new_names = _NewNames(layout.read)
    outdated: set[str] = set()
    pending = list(local)
    while pending:
        changed: set[str] = set()
        renamed = [item for item in pending if _is_taken(layout.read[item], read[item], definitions)]
        for pointer, name in [(pointer, layout.read[pointer]) for pointer in renamed]:
            new = new_names.make(name, local[pointer])
            reading.rename(pointer, new)
            users[new] = users.pop(name, set())
            changed |= users[new]
        outdated |= changed
        pending = sorted(
            (pointer for pointer in changed | set(renamed) if layout.read[pointer] in definitions),
            key=order.__getitem__,
        )
        for pointer in outdated.intersection(pending):
            read[pointer] = reading.read(local[pointer])
        outdated.difference_update(pending)
    for pointer in outdated:
        read[pointer] = reading.read(local[pointer])
    return {name: read[pointer] for pointer, name in layout.read.items()}


def _is_taken(name: str, type_: Type, definitions: Mapping[str, Type]) -> bool:
    return name in definitions and not is_same(definitions[name], type_)


def read_type(schema: Schema, names: Mapping[str, str] = NOTHING) -> Type:
    """Read one subschema.

    Args:
        schema: A JSON Schema object or boolean.
        names: `$defs/local name` or `definitions/local name` to the definition's name in the model.
    """
    return _Reading(names).read(schema)


class _Reading:
    """Reads the subschemas of a schema, each one once.

    A note that turns out to be none makes its subschema be read again as if the note were a keyword. With
    what is inside kept, the work does not double with each level.
    """

    def __init__(self, names: Mapping[str, str]) -> None:
        self.layout = Layout(names)
        # By the identity of a subschema, which is kept so that no other one takes that identity.
        self._types: dict[int, tuple[Schema, Type]] = {}
        self._noted_properties: dict[int, tuple[Schema, Property | None]] = {}

    def rename(self, pointer: str, name: str) -> None:
        """Give a definition a name that no other one has."""
        self.layout.rename(pointer, name)
        self._types.clear()
        self._noted_properties.clear()

    def read(self, schema: Schema) -> Type:
        """Read one subschema."""
        if isinstance(schema, bool):
            return AnyType(boolean=schema)
        entry = self._types.get(id(schema))
        if entry is None:
            entry = self._types[id(schema)] = (schema, self._read_new(schema))
        return entry[1]

    def _read_new(self, schema: Mapping[str, Json]) -> Type:
        note = note_of(schema)
        noted = self._read_noted(schema, note) if note else None
        if noted is not None and json_equal(write_annotated(noted, self.layout), schema):
            return noted
        return _read_part(_prepare(_Part("", dict(schema), self)))

    def read_property(self, schema: Schema, *, required: bool) -> Property:
        """Read the subschema of a property."""
        if isinstance(schema, Mapping) and "property" in note_of(schema):
            entry = self._noted_properties.get(id(schema))
            if entry is None:
                entry = self._noted_properties[id(schema)] = (schema, self._read_noted_property(schema))
            if entry[1] is not None:
                return entry[1].changed({"required": required})
        return Property(type=self.read(schema), required=required)

    def _read_noted_property(self, schema: Mapping[str, Json]) -> Property | None:
        note = note_of(schema)
        own = {"property": note["property"]}
        read = self._read_noted(schema, {word: note[word] for word in note.keys() - own.keys()})
        if read is None or not json_equal(write_annotated(read, self.layout, own), schema):
            return None
        return Property(type=read, extensions=own["property"])

    def _read_noted(self, schema: Mapping[str, Json], note: Mapping[str, Json]) -> Type | None:
        members = {word: value for word, value in schema.items() if word != ANNOTATION}
        if "verbatim" in note:
            members[ANNOTATION] = note["verbatim"]
        part = _prepare(_Part(str(note.get("kind", "")), members, self, note))
        if not can_be(part.kind, part.left, self.layout.read):
            return None
        part.facts.update(
            {word: note[word] for word in ("nullable", "implicit", "extensions") if word in note}
        )
        for word, kinds in _NOTED_FACTS.items():
            if word in note:
                if part.kind not in kinds:
                    return None
                part.facts[word] = note[word]
        return _read_part(part)


def _prepare(part: _Part) -> _Part:
    """Undo in a subschema what its writer did last, and find its kind where no note states it."""
    names = part.reading.layout.read
    kind = part.kind or kind_of(part.left, names)
    unwrapped = unwrap_all_of(part.left) if kind != "all-of" else None
    if unwrapped is not None:
        part.notation[WRAPPED_WORDS] = list(part.left["allOf"][0])
        part.left = unwrapped
    reordered = with_null_last(part.left) if "nullable" not in part.note else None
    if reordered is not None:
        kind_then = part.kind or kind_of(reordered[0], names)
        if kind_then in _KINDS_WITH_NULL_LAST:
            kind = kind_then
            part.left, part.notation[NULL_POSITION] = reordered
    part.kind = kind
    return part


def _read_part(part: _Part) -> Type:
    read = _SHAPES[part.kind](part)
    if not part.notation:
        return read
    return read.changed({"extensions": {**read.extensions, NOTATION: part.notation}})


@dataclass(slots=True)
class _Part:
    """A subschema while it is read: what is left of it becomes `keywords`, what is taken becomes `facts` or
    `notation`.
    """

    kind: str
    left: dict[str, Json]
    reading: _Reading
    note: Mapping[str, Json] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)
    notation: dict[str, Json] = field(default_factory=dict)

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
        enum_values = [value for value in values if value is not None]
        self.facts["enum"] = tuple(enum_values)
        if values == ([*enum_values, None] if self.facts.get("nullable") else enum_values):
            del self.left["enum"]

    def take_bounds(self) -> None:
        """Take the bounds of a 32-bit integer."""
        unstated = [word for word in INT32_BOUNDS if word not in self.left]
        if unstated:
            self.notation[UNSTATED_BOUNDS] = unstated
        for word, bound in INT32_BOUNDS.items():
            if type(self.left.get(word)) is int and self.left[word] == bound:
                del self.left[word]

    def read_all(self, schemas: list[Schema]) -> tuple[Type, ...]:
        """Read a list of schemas."""
        return tuple(map(self.reading.read, schemas))


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
        part.facts["items"] = part.reading.read(part.left.pop("items"))
    return ArrayType(keywords=part.left, **part.facts)


def _read_object(part: _Part) -> Type:
    part.take_word()
    part.take_facts()
    required = part.left.get("required")
    is_list_of_names = isinstance(required, list) and all(isinstance(item, str) for item in required)
    required_names = frozenset(required if is_list_of_names and required else ())
    properties: dict[str, Property] = {}
    stated = part.left.get("properties")
    if is_schema_map(stated) and (stated or part.facts.get("implicit")):
        del part.left["properties"]
        for name, schema in (stated or {}).items():
            properties[name] = part.reading.read_property(schema, required=name in required_names)
    usual = [name for name, property_ in properties.items() if property_.required]
    if usual and required == usual:
        del part.left["required"]
    return ObjectType(properties=properties, keywords=part.left, **part.facts)


def _read_ref(part: _Part) -> Type:
    nullable = "$ref" not in part.left
    reference = part.left.pop("anyOf")[0]["$ref"] if nullable else part.left["$ref"]
    layout = part.reading.layout
    name = referenced_name(reference, layout.read) or ""
    is_usual = reference == layout.written[name]
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
        part.notation[CLASSES] = classes
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

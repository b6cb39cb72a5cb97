"""The leaves of a model and the differences between two models, by JSON Pointer.

A leaf is the smallest fact that a finding can name: a field that is not its default, a whole `enum`, one
keyword's value, one fact of one format in `extensions`. `kind` is always a leaf. Properties, definitions,
keywords and extensions are addressed by name, list members by position, capabilities by their position in the
first model. Where a thing was read (`source`), its run-time state, the provider's protocol and dialect, and
the protection level of its permission are not leaves: they change by nature, or something else declares them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from droidgate_mappings.model.capability import (
    NOT_DECLARED,
    Capability,
    CapabilityAccess,
    ComponentAccess,
    Effects,
    Provider,
)
from droidgate_mappings.model.json_values import Json, json_equal, pointer_name, pointer_token
from droidgate_mappings.model.types import (
    SCALAR_KINDS,
    AllOfType,
    AnyType,
    ArrayType,
    Extensions,
    ObjectType,
    OneOfType,
    OpaqueType,
    Property,
    RefType,
    Type,
)

_PROVIDER_FIELDS = ("package", "component", "name", "description", "instructions")
_CAPABILITY_FIELDS = ("title", "description", "version")
_EFFECT_FIELDS = tuple(Effects.model_fields)
_ACCESS_DEFAULTS: Mapping[type[ComponentAccess | CapabilityAccess], Mapping[str, Json]] = {
    item: {name: field.default for name, field in item.model_fields.items() if name not in NOT_DECLARED}
    for item in (ComponentAccess, CapabilityAccess)
}


def leaves_of_type(type_: Type, pointer: str) -> Iterator[tuple[str, Json]]:
    """Yield `(pointer, value)` for each leaf of a type, children included."""
    yield f"{pointer}/kind", type_.kind
    if type_.nullable:
        yield f"{pointer}/nullable", True
    if type_.description is not None:
        yield f"{pointer}/description", type_.description
    if type_.enum is not None:
        yield f"{pointer}/enum", list(type_.enum)
    if type_.pattern is not None:
        yield f"{pointer}/pattern", type_.pattern
    if type_.format is not None:
        yield f"{pointer}/format", type_.format
    if type_.implicit:
        yield f"{pointer}/implicit", True
    for keyword, value in type_.keywords.items():
        yield f"{pointer}/keywords/{pointer_token(keyword)}", value
    yield from leaves_of_extensions(type_.extensions, pointer)
    if type_.kind not in SCALAR_KINDS:
        yield from _leaves_of_shape(type_, pointer)


def _leaves_of_shape(type_: Type, pointer: str) -> Iterator[tuple[str, Json]]:
    if isinstance(type_, ObjectType):
        for name, property_ in type_.properties.items():
            yield from leaves_of_property(property_, f"{pointer}/properties/{pointer_token(name)}")
    elif isinstance(type_, ArrayType):
        if type_.items is not None:
            yield from leaves_of_type(type_.items, f"{pointer}/items")
    elif isinstance(type_, RefType):
        yield f"{pointer}/name", type_.name
    elif isinstance(type_, AllOfType):
        for position, member in enumerate(type_.members):
            yield from leaves_of_type(member, f"{pointer}/members/{position}")
    elif isinstance(type_, OneOfType):
        for position, alternative in enumerate(type_.alternatives):
            yield from leaves_of_type(alternative, f"{pointer}/alternatives/{position}")
        if not type_.exclusive:
            yield f"{pointer}/exclusive", False
    elif isinstance(type_, OpaqueType):
        if type_.class_name is not None:
            yield f"{pointer}/class_name", type_.class_name
    elif isinstance(type_, AnyType) and type_.boolean is not None:
        yield f"{pointer}/boolean", type_.boolean
    if isinstance(type_, ObjectType | AllOfType | OneOfType) and type_.qualified_name is not None:
        yield f"{pointer}/qualified_name", type_.qualified_name


def find_leaf(type_: Type, leaf: str, root: str) -> tuple[Type | Property, tuple[str, ...]]:
    """Return the innermost part of a type that a leaf belongs to, and which field of it the leaf is.

    Args:
        type_: The type that `leaves_of_type` began with.
        leaf: JSON Pointer of one of its leaves.
        root: JSON Pointer of the type itself.

    Returns:
        The type or property, and tokens such as `("kind",)`, `("keywords", "title")` or
        `("extensions", "mcp", "icons")`, not escaped.
    """
    tokens = [pointer_name(token) for token in leaf.removeprefix(root).split("/")[1:]]
    part: Type | Property = type_
    while True:
        if isinstance(part, Property):
            if tokens[0] != "type":
                return part, tuple(tokens)
            part, tokens = part.type, tokens[1:]
        elif isinstance(part, ObjectType) and tokens[0] == "properties":
            part, tokens = part.properties[tokens[1]], tokens[2:]
        elif isinstance(part, ArrayType) and tokens[0] == "items" and part.items is not None:
            part, tokens = part.items, tokens[1:]
        elif isinstance(part, AllOfType) and tokens[0] == "members":
            part, tokens = part.members[int(tokens[1])], tokens[2:]
        elif isinstance(part, OneOfType) and tokens[0] == "alternatives":
            part, tokens = part.alternatives[int(tokens[1])], tokens[2:]
        else:
            return part, tuple(tokens)


def leaves_of_property(property_: Property, pointer: str) -> Iterator[tuple[str, Json]]:
    """Yield `(pointer, value)` for each leaf of a property; `required` is always one."""
    yield f"{pointer}/required", property_.required
    yield from leaves_of_type(property_.type, f"{pointer}/type")
    yield from leaves_of_extensions(property_.extensions, pointer)


def leaves_of_extensions(extensions: Extensions, pointer: str) -> Iterator[tuple[str, Json]]:
    """Yield `(pointer, value)` for each fact of each format."""
    for format_id, facts in extensions.items():
        for fact, value in facts.items():
            yield f"{pointer}/extensions/{format_id}/{pointer_token(fact)}", value


def leaves_of_access(access: ComponentAccess | CapabilityAccess, pointer: str) -> Iterator[tuple[str, Json]]:
    """Yield `(pointer, value)` for each access rule that is not the default."""
    for field, default in _ACCESS_DEFAULTS[type(access)].items():
        value = getattr(access, field)
        if value != default:
            yield f"{pointer}/access/{field}", value


def leaves_of_capability(capability: Capability, pointer: str) -> Iterator[tuple[str, Json]]:
    """Yield `(pointer, value)` for each leaf of a capability."""
    yield f"{pointer}/id", capability.id
    for field in _CAPABILITY_FIELDS:
        value = getattr(capability, field)
        if value is not None:
            yield f"{pointer}/{field}", value
    yield from leaves_of_type(capability.input, f"{pointer}/input")
    if capability.output is not None:
        yield from leaves_of_type(capability.output, f"{pointer}/output")
    if capability.effects is not None:
        for field in _EFFECT_FIELDS:
            value = getattr(capability.effects, field)
            if value is not None:
                yield f"{pointer}/effects/{field}", value
    yield from leaves_of_access(capability.access, pointer)
    yield from leaves_of_extensions(capability.extensions, pointer)


def leaves_of_provider(provider: Provider) -> Iterator[tuple[str, Json]]:
    """Yield `(pointer, value)` for each leaf of a provider, its definitions and capabilities."""
    for field in _PROVIDER_FIELDS:
        value = getattr(provider, field)
        if value is not None:
            yield f"/{field}", value
    yield from leaves_of_access(provider.access, "")
    for name, definition in provider.definitions.items():
        yield from leaves_of_type(definition, f"/definitions/{pointer_token(name)}")
    for position, capability in enumerate(provider.capabilities):
        yield from leaves_of_capability(capability, f"/capabilities/{position}")
    yield from leaves_of_extensions(provider.extensions, "")


def different_leaves(before: Mapping[str, Json], after: Mapping[str, Json]) -> list[str]:
    """Return the pointers at which two leaf maps differ, those of `before` first, each once."""
    missing = object()
    changed = [pointer for pointer, value in before.items() if not _same(value, after.get(pointer, missing))]
    return changed + [pointer for pointer in after if pointer not in before]


def _same(left: object, right: object) -> bool:
    return left is right or json_equal(left, right)

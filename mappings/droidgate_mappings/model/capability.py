"""Providers and their capabilities: what one component of one app declares."""

import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from functools import cache
from typing import Any, Final

from pydantic import Field, field_validator

from droidgate_mappings.model.json_values import Json, canonical_json, digest_of, pointer_token
from droidgate_mappings.model.types import (
    SCALAR_KINDS,
    AllOfType,
    ArrayType,
    Extensions,
    Frozen,
    ObjectType,
    OneOfType,
    RefType,
    Type,
)

NOT_DECLARED: Final = frozenset({"source", "state", "protection_level"})
"""Fields in no digest: where something was read, its run-time state, and what other elements declare."""
_MOST_IDS: Final = 5
_QUALIFIER: Final = re.compile(r"[A-Za-z0-9+-]*")
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f]")


class Place(Frozen):
    """Where in the sources something is: a path as the user wrote it, a 1-based line, an XPath or JSON
    Pointer.
    """

    path: str
    line: int | None = None
    inner: str | None = None

    def __str__(self) -> str:
        return f"{self.path}:{self.line}" if self.line else self.path


class Effects(Frozen):
    """What a call may do, as MCP's tool annotations say it; None where nothing is said."""

    read_only: bool | None = None
    destructive: bool | None = None
    idempotent: bool | None = None
    open_world: bool | None = None


class State(Frozen):
    """Run-time state, read from a device at the moment of asking; in no digest.

    Attributes:
        enabled: Whether it can be called now; None where the device does not say.
        indexed: Whether the device lists it among what agents can call; None where it has no such listing.
    """

    enabled: bool | None = None
    indexed: bool | None = None


class ComponentAccess(Frozen):
    """Which apps may call a component, by its manifest element.

    Attributes:
        exported: `android:exported`; None where the manifest does not state it. Components of sources
            without a manifest count as exported.
        enabled: `android:enabled`; a reference to a boolean resource is its value in each configuration, by
            resource qualifier (`""` is the default configuration, `v36` is Android 16 and later).
        permission: `android:permission`, which Android requires of callers; None without one.
        protection_level: `android:protectionLevel` with which the app itself declares that permission, such
            as `signature|privileged`; None where it does not. The component's own element does not state it,
            so it is in no digest.
    """

    exported: bool | None = True
    enabled: bool | dict[str, bool] = True
    permission: str | None = None
    protection_level: str | None = None

    @field_validator("enabled")
    @classmethod
    def _check_qualifiers(cls, enabled: bool | dict[str, bool]) -> bool | dict[str, bool]:  # noqa: FBT001
        """Check that each qualifier can be a part of a folder's name."""
        if isinstance(enabled, dict):
            if not enabled:
                message = "has no configuration"
                raise ValueError(message)
            for qualifier in enabled:
                if not _QUALIFIER.fullmatch(qualifier):
                    message = "has a key that is not a resource qualifier"
                    raise ValueError(message)
        return enabled

    @field_validator("permission")
    @classmethod
    def _check_permission(cls, permission: str | None) -> str | None:
        """Check that the permission can be written."""
        if permission is not None and _CONTROL.search(permission):
            message = "has a control character"
            raise ValueError(message)
        return permission


class CapabilityAccess(Frozen):
    """Which callers may use one capability, and whether it can be called before its app enables it.

    The names and values are those of AppFunctions (reference appfunctions 2.a, 2.c, 2.e).

    Attributes:
        enabled_by_default: `enabledByDefault`; false where the app has to enable it first.
        restrict_callers: `restrictCallersWithExecuteAppFunctions`; None where it is not stated.
        scope: `activity` where it exists only while an activity of the app is open, else None.
        access_level: `self`, `system` or `androidTrusted`; None where it is not stated.
    """

    enabled_by_default: bool = True
    restrict_callers: bool | None = None
    scope: str | None = None
    access_level: str | None = None


class Capability(Frozen):
    """One callable: a Mobile-MCP capability, an mMCP or MCP tool, an app function.

    Attributes:
        id: The name it is called by, unique within its provider.
        title: A name to show users.
        description: What it does, for users and language models.
        version: The capability's own version, any text.
        input: What a call takes; an `ObjectType` unless the source's schema says otherwise.
        output: What a call returns; None where nothing is declared, a `null` scalar where it is declared
            void.
        effects: Hints about side effects, or None.
        access: Which callers may use it.
        state: Run-time state, or None.
        source: Where it is declared.
        extensions: Facts of one format.
    """

    id: str
    title: str | None = None
    description: str | None = None
    version: str | None = None
    input: Type = Field(default_factory=ObjectType)
    output: Type | None = None
    effects: Effects | None = None
    access: CapabilityAccess = CapabilityAccess()
    state: State | None = None
    source: Place | None = None
    extensions: Extensions = Field(default_factory=dict)

    def __repr__(self) -> str:
        """Return one line: the id and the parameters' names."""
        input_type = self.input
        names = input_type.properties if isinstance(input_type, ObjectType) else ["..."]
        return f"<Capability {self.id!r}({', '.join(map(repr, names))})>"

    __str__ = __repr__


class Provider(Frozen):
    """What one component of one app (or one MCP server) declares in one protocol.

    Attributes:
        protocol: Id of the format it was read from, such as `mmcp`.
        dialect: The written form it was read from, such as `draft`.
        package: Android application id, or None where the source does not say.
        component: Class name of the component as its source writes it (`.Service` or fully qualified).
        name: Name to show users.
        description: What the app offers, for users.
        instructions: How to use it, for language models.
        access: Which apps may call the component.
        source: Where it is declared.
        definitions: Named types that `RefType` refers to.
        capabilities: In source order.
        extensions: Facts of one format.
    """

    protocol: str
    dialect: str | None = None
    package: str | None = None
    component: str | None = None
    name: str | None = None
    description: str | None = None
    instructions: str | None = None
    access: ComponentAccess = ComponentAccess()
    source: Place | None = None
    definitions: dict[str, Type] = Field(default_factory=dict)
    capabilities: tuple[Capability, ...] = ()
    extensions: Extensions = Field(default_factory=dict)

    def __repr__(self) -> str:
        """Return one line: the protocol, what declares it, and the ids of its capabilities."""
        place = f"{self.package or '-'}/{self.component}" if self.component else self.package or self.source
        ids = [capability.id for capability in self.capabilities[:_MOST_IDS]]
        more = len(self.capabilities) - len(ids)
        listed = f"{', '.join(map(repr, ids))}{f' and {more} more' if more else ''}"
        return f"<Provider {self.protocol} {str(place)!r}: {listed or 'no capabilities'}>"

    __str__ = __repr__

    def content_digest(self) -> str:
        """Return the digest of the declaration: everything but where it was read and its run-time state."""
        return digest_of(declaration_of(self))

    def pin(self, *, user: int, signer: str, capability_id: str) -> str:
        """Return the digest by which a user's approval of one capability is remembered.

        It covers the Android user, the signer's certificate digest, the component and the capability's
        declaration with the definitions it reaches, in whatever order they and an object's properties are
        declared; versionCode and enabled state are not in it (reference android-runtime 3.1).

        Args:
            user: Android user number.
            signer: Hexadecimal SHA-256 of the signing certificate.
            capability_id: The capability.

        Raises:
            KeyError: no capability has that id.
        """
        capability = next((each for each in self.capabilities if each.id == capability_id), None)
        if capability is None:
            raise KeyError(capability_id)
        declared = {
            "user": user,
            "signer": signer.lower(),
            "protocol": self.protocol,
            "package": self.package,
            "component": self.component,
            "capability": declaration_of(capability, in_order=False),
            "definitions": {
                name: declaration_of(self.definitions[name], in_order=False)
                for name in sorted(reachable_definitions(capability, self.definitions))
            },
        }
        return digest_of(declared)


class CapabilitySet(Frozen):
    """Everything read from the given sources, in the order it was found."""

    providers: tuple[Provider, ...] = ()

    def content_digest(self) -> str:
        """Return the digest of all declarations, in order."""
        return digest_of([declaration_of(provider) for provider in self.providers])


def declaration_of(part: Frozen, *, in_order: bool = True) -> dict[str, Json]:
    """Return a model part as JSON values without defaults and without `NOT_DECLARED`: what the digests are
    made from.

    Args:
        part: The model part.
        in_order: The order of an object's properties is part of the declaration. Canonical JSON sorts keys,
            so properties become a list of `[name, property]` pairs.
    """
    declared: dict[str, Json] = {}
    for name, default in _defaults_of(type(part)):
        value = getattr(part, name)
        if name in NOT_DECLARED or (name != "kind" and value == default):
            continue
        if name == "properties" and in_order:
            declared[name] = [[key, declaration_of(property_)] for key, property_ in value.items()]
        elif (stated := _declared_value(value, in_order=in_order)) or name != "access":
            declared[name] = stated
    if not in_order and isinstance(part, ObjectType) and "required" in part.keywords:
        declared["keywords"] = _without_order_of_required(part)
    return declared


def stated_fields(
    part: Frozen, left_out: Container[str], write: Callable[[Json], Json] = lambda value: value
) -> dict[str, Json]:
    """Return a model part as JSON values without what is default, in the order of its class.

    Args:
        part: The model part.
        left_out: Names of fields that are left out, in its parts too.
        write: Returns what is written for a value that has no parts.
    """

    def written(value: Json) -> Json:
        if isinstance(value, Frozen):
            return stated_fields(value, left_out, write)
        if isinstance(value, dict):
            return {name: written(item) for name, item in value.items()}
        return [written(item) for item in value] if isinstance(value, list | tuple) else write(value)

    return {
        name: written(value)
        for name, default in _defaults_of(type(part))
        if name not in left_out and ((value := getattr(part, name)) != default or name == "kind")
    }


def is_same(left: Type, right: Type) -> bool:
    """Return whether two types are declared alike; Python takes 1 for True, canonical JSON does not."""
    return left == right and canonical_json(declaration_of(left)) == canonical_json(declaration_of(right))


def _without_order_of_required(type_: ObjectType) -> dict[str, Json]:
    """Return an object's keywords without a `required` that only lists its required properties otherwise."""
    required = sorted(name for name, property_ in type_.properties.items() if property_.required)
    listed = type_.keywords["required"]
    is_list = isinstance(listed, list | tuple) and all(isinstance(name, str) for name in listed)
    if is_list and sorted(listed) == required:
        return {name: value for name, value in type_.keywords.items() if name != "required"}
    return type_.keywords


@cache
def _defaults_of(model: type[Frozen]) -> tuple[tuple[str, Json], ...]:
    """Return the fields of a class and their defaults; asking pydantic each time takes most of a digest."""
    return tuple(
        (name, field.get_default(call_default_factory=True)) for name, field in model.model_fields.items()
    )


def _declared_value(value: Json, *, in_order: bool) -> Json:
    if isinstance(value, Frozen):
        return declaration_of(value, in_order=in_order)
    if isinstance(value, tuple):
        return [_declared_value(item, in_order=in_order) for item in value]
    if isinstance(value, dict):
        return {key: _declared_value(item, in_order=in_order) for key, item in value.items()}
    return value


def child_types(type_: Type) -> Iterator[Type]:
    """Yield the types directly inside a type."""
    if type_.kind in SCALAR_KINDS:
        return
    if isinstance(type_, ObjectType):
        for property_ in type_.properties.values():
            yield property_.type
    elif isinstance(type_, ArrayType):
        if type_.items is not None:
            yield type_.items
    elif isinstance(type_, AllOfType):
        yield from type_.members
    elif isinstance(type_, OneOfType):
        yield from type_.alternatives


def with_parts(type_: Type, change: Callable[[Type, str], Type]) -> Type:
    """Return a type with something else in place of each type directly inside.

    Args:
        type_: The type.
        change: Gives it, for a type inside and the JSON Pointer that leads there.
    """
    changes: dict[str, Any] = {}
    if isinstance(type_, ObjectType):
        changes["properties"] = {
            name: property_.changed(
                {"type": change(property_.type, f"/properties/{pointer_token(name)}/type")}
            )
            for name, property_ in type_.properties.items()
        }
    elif isinstance(type_, ArrayType):
        changes["items"] = type_.items and change(type_.items, "/items")
    elif isinstance(type_, AllOfType | OneOfType):
        word = "members" if isinstance(type_, AllOfType) else "alternatives"
        changes[word] = tuple(change(part, f"/{word}/{at}") for at, part in enumerate(child_types(type_)))
    return type_.changed(changes)


def type_behind(type_: Type, definitions: Mapping[str, Type]) -> Type:
    """Return the type behind references; the last one itself where it leads nowhere or in a circle."""
    seen: set[str] = set()
    while isinstance(type_, RefType) and type_.name in definitions and type_.name not in seen:
        seen.add(type_.name)
        type_ = definitions[type_.name]
    return type_


def references_of(type_: Type) -> Iterator[str]:
    """Yield the definition names that a type refers to, directly or inside, without following them."""
    pending = [type_]
    while pending:
        current = pending.pop()
        if isinstance(current, RefType):
            yield current.name
        else:
            pending.extend(child_types(current))


def definitions_of(capabilities: Iterable[Capability], definitions: dict[str, Type]) -> set[str]:
    """Return the names of the definitions that any of some capabilities reaches."""
    return {name for capability in capabilities for name in reachable_definitions(capability, definitions)}


def reachable_definitions(part: Capability | Type, definitions: dict[str, Type]) -> set[str]:
    """Return the names of the definitions that a capability or type reaches; unknown names are left out."""
    starts = [part.input, part.output] if isinstance(part, Capability) else [part]
    pending = [name for start in starts if start is not None for name in references_of(start)]
    reached: set[str] = set()
    while pending:
        name = pending.pop()
        if name in reached or name not in definitions:
            continue
        reached.add(name)
        pending.extend(references_of(definitions[name]))
    return reached

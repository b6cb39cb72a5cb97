"""A `schemaType` for alternatives with class names, so that classes with the same properties stay apart.

AppFunctions takes the alternative whose class name an object states under `schemaType` (reference
appfunctions 2.c, 6.3). JSON Schema's `oneOf` takes an object only where exactly one alternative describes it.
So each alternative is written with `schemaType` as a constant.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from droidgate_mappings.json_schema.words import CLASSES, NOTATION, SCHEMA_TYPE_KEY
from droidgate_mappings.model.capability import Provider, child_types
from droidgate_mappings.model.findings import Finding, Level, finding_code
from droidgate_mappings.model.json_values import pointer_token
from droidgate_mappings.model.types import AllOfType, ArrayType, ObjectType, OneOfType, RefType, Type

DISCRIMINATOR_ADDED: Final = finding_code(
    "discriminator-added", "Objects state in `schemaType` which class of the source they are", __name__
)

_CLOSING_WORDS: Final = frozenset(
    {"additionalProperties", "unevaluatedProperties", "propertyNames", "maxProperties"}
)
"""Keywords that may refuse a property that an object does not declare."""


def add_discriminators(provider: Provider) -> tuple[Provider, tuple[Finding, ...]]:
    """Return a provider whose exclusive choices between classes are written with a discriminator.

    Alternatives without a class name, and those that refuse further properties, are written as they are.

    Returns:
        The provider, and one finding for each choice.
    """
    adding = _Adding(provider.definitions)
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


@dataclass(slots=True)
class _Adding:
    definitions: Mapping[str, Type]
    findings: list[Finding] = field(default_factory=list)

    def add_to(self, type_: Type, pointer: str) -> Type:
        if not _has_choice(type_):
            return type_
        changes: dict[str, Any] = {}
        if isinstance(type_, ObjectType):
            changes["properties"] = {
                name: property_.changed(
                    {"type": self.add_to(property_.type, f"{pointer}/properties/{pointer_token(name)}/type")}
                )
                for name, property_ in type_.properties.items()
            }
        elif isinstance(type_, ArrayType) and type_.items is not None:
            changes["items"] = self.add_to(type_.items, f"{pointer}/items")
        elif isinstance(type_, AllOfType):
            changes["members"] = self.add_to_all(type_.members, f"{pointer}/members")
        elif isinstance(type_, OneOfType):
            changes["alternatives"] = self.add_to_all(type_.alternatives, f"{pointer}/alternatives")
            changes["extensions"] = self.extensions_of(type_, pointer)
        return type_.changed(changes)

    def add_to_all(self, members: tuple[Type, ...], pointer: str) -> tuple[Type, ...]:
        return tuple(self.add_to(member, f"{pointer}/{position}") for position, member in enumerate(members))

    def extensions_of(self, choice: OneOfType, pointer: str) -> dict[str, Any]:
        notation = choice.extensions.get(NOTATION, {})
        if not choice.exclusive or len(choice.alternatives) == 1 or CLASSES in notation:
            return choice.extensions
        classes = [self.class_of(alternative) for alternative in choice.alternatives]
        if not any(classes):
            return choice.extensions
        self.findings.append(
            Finding(
                code=DISCRIMINATOR_ADDED,
                level=Level.RENAMED,
                pointer=f"{pointer}/extensions/{NOTATION}/{CLASSES}",
                message=f"each object states its class in {SCHEMA_TYPE_KEY!r}, as the source requires",
            )
        )
        return {**choice.extensions, NOTATION: {**notation, CLASSES: classes}}

    def class_of(self, alternative: Type) -> str | None:
        """Return the class name of an alternative that has one and takes `schemaType` as a property."""
        resolved = self.resolve(alternative)
        if not isinstance(resolved, ObjectType | AllOfType) or not resolved.qualified_name:
            return None
        members = resolved.members if isinstance(resolved, AllOfType) else (resolved,)
        is_open = all(_takes_schema_type(self.resolve(member)) for member in members)
        return resolved.qualified_name if is_open else None

    def resolve(self, type_: Type) -> Type:
        seen: set[str] = set()
        while isinstance(type_, RefType) and type_.name not in seen and type_.name in self.definitions:
            seen.add(type_.name)
            type_ = self.definitions[type_.name]
        return type_


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

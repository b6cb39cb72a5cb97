"""Capabilities as typed methods: names and types that Java and Kotlin share."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, Literal

from droidgate_android.handlers.handler_shapes import takes_more
from droidgate_mappings.model.capability import Capability, Provider
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.model.names import NameRule, map_names
from droidgate_mappings.model.types import (
    AnyType,
    ArrayType,
    ObjectType,
    OneOfType,
    OpaqueType,
    RefType,
    ScalarType,
    Type,
)
from droidgate_mappings.records import dataclass

ValueKind = Literal[
    "boolean", "int32", "int64", "float", "double", "string", "bytes", "array", "object", "any", "void"
]

_IDENTIFIER: Final = NameRule(allowed="[A-Za-z0-9_]", first="[A-Za-z_]", max_length=100)
# Java (JLS 3.9) and Kotlin hard keywords together, so that both languages use the same names.
RESERVED_WORDS: Final = frozenset([
    "abstract", "as", "assert", "boolean", "break", "byte", "case", "catch", "char", "class", "const",
    "continue", "default", "do", "double", "else", "enum", "extends", "false", "final", "finally", "float",
    "for", "fun", "goto", "if", "implements", "import", "in", "instanceof", "int", "interface", "is",
    "long", "native", "new", "null", "object", "package", "private", "protected", "public", "return",
    "short", "static", "strictfp", "super", "switch", "synchronized", "this", "throw", "throws",
    "transient", "true", "try", "typealias", "typeof", "val", "var", "void", "volatile", "when", "while",
    "yield", "_",
])  # fmt: skip
"""Words that can be no name in Java or in Kotlin."""
KOTLIN_WORDS: Final = frozenset([
    "as", "break", "class", "continue", "do", "else", "false", "for", "fun", "if", "in", "interface", "is",
    "null", "object", "package", "return", "super", "this", "throw", "true", "try", "typealias", "typeof",
    "val", "var", "when", "while", "_",
])  # fmt: skip
"""Those of them that are a name in Kotlin only in back-ticks (its hard keywords)."""

# Methods that every class has, and members of the generated ones.
_TAKEN: Final = RESERVED_WORDS | frozenset([
    "getClass", "hashCode", "equals", "notify", "notifyAll", "toString", "wait", "finalize", "clone",
    "call", "dispatch", "plain", "given", "context", "arguments", "capabilities",
])  # fmt: skip
_MOST_PARAMETERS: Final = 100
"""Java allows 255 slots; nobody reads a hundred."""
_LONGEST_COMMENT: Final = 400
_MOST_LEVELS: Final = 64
"""Choices inside of choices, definitions followed."""


@dataclass(frozen=True, slots=True)
class MethodParameter:
    """One parameter of a method.

    Attributes:
        name: Its name in the protocol.
        identifier: Its name in code.
        kind: What the code sees, behind references and choices; `any` where several shapes are possible.
        item_kind: The kind of an array's items; `any` where they are not scalars.
        optional: It may be left out or null, so the code sees null.
        enum: The only values allowed.
        description: For the comment.
    """

    name: str
    identifier: str
    kind: ValueKind
    item_kind: ValueKind
    optional: bool
    enum: tuple[Json, ...] | None
    description: str | None


@dataclass(frozen=True, slots=True)
class Method:
    """One capability as a method.

    Attributes:
        capability_id: The name it is called by.
        identifier: Its name in code.
        parameters: In declared order.
        takes_object: The method takes the whole arguments object: they are not a plain list of names.
        returns: `void` where the output is declared void, `any` where nothing is declared.
        returns_null: It may return null.
        return_item_kind: The kind of a returned array's items.
        return_keys: The keys of a returned object, and what each holds; empty where none are declared.
        description: For the comment.
    """

    capability_id: str
    identifier: str
    parameters: tuple[MethodParameter, ...]
    takes_object: bool
    returns: ValueKind
    returns_null: bool
    return_item_kind: ValueKind
    return_keys: tuple[tuple[str, str], ...]
    description: str | None

    @property
    def return_comment(self) -> str | None:
        """What the author has to know of the result beyond its type, None where nothing more is declared."""
        if not self.return_keys:
            return None
        keys = ", ".join(f'"{name}" ({about})' for name, about in self.return_keys)
        return f"Returns an object with {keys}."


def methods_of(provider: Provider) -> tuple[Method, ...]:
    """Return one method per capability, with identifiers that no two share."""
    names = identifiers(capability.id for capability in provider.capabilities)
    return tuple(
        _method_of(capability, names[capability.id], provider.definitions)
        for capability in provider.capabilities
    )


def identifiers(names: Iterable[str]) -> dict[str, str]:
    """Return an identifier for each name: camel case, no keyword of Java or Kotlin, no two alike."""
    return map_names(((_camel_case(name), name) for name in dict.fromkeys(names)), _IDENTIFIER)


def _camel_case(name: str) -> str:
    tail = re.split(r"[#/]", name)[-1] or name
    words = [word for word in re.split(r"[^A-Za-z0-9]+", tail) if word]
    if not words:
        return "value"
    first, rest = words[0], words[1:]
    joined = first[:1].lower() + first[1:] + "".join(word[:1].upper() + word[1:] for word in rest)
    if joined in _TAKEN or joined[:1].isdigit():
        return f"{joined}Value" if joined in _TAKEN else f"n{joined}"
    return joined


def _method_of(capability: Capability, identifier: str, definitions: Mapping[str, Type]) -> Method:
    declared = capability.input if isinstance(capability.input, ObjectType) else ObjectType()
    names = identifiers(declared.properties)
    parameters = tuple(
        MethodParameter(
            name=name,
            identifier=names[name],
            kind=_parameter_kind(property_.type, definitions),
            item_kind=item_kind_of(property_.type, definitions),
            optional=not property_.required or is_nullable(property_.type, definitions),
            enum=property_.type.enum,
            description=shorten(property_.type.description),
        )
        for name, property_ in declared.properties.items()
    )
    output = AnyType(nullable=True) if capability.output is None else capability.output
    returns = kind_of(output, definitions)
    return Method(
        capability_id=capability.id,
        identifier=identifier,
        parameters=parameters,
        takes_object=takes_more(capability.input) or len(parameters) > _MOST_PARAMETERS,
        returns=returns,
        returns_null=returns != "void" and is_nullable(output, definitions),
        return_item_kind=item_kind_of(output, definitions),
        return_keys=tuple(_keys_of(resolve(output, definitions), definitions)),
        description=shorten(capability.description),
    )


def _keys_of(output: Type, definitions: Mapping[str, Type]) -> Iterator[tuple[str, str]]:
    properties = output.properties if isinstance(output, ObjectType) else {}
    for name, property_ in properties.items():
        kind = kind_of(property_.type, definitions)
        about: str = "null" if kind == "void" else kind
        if is_nullable(property_.type, definitions):
            about += " or null"
        yield name, about if property_.required else f"{about}, optional"


def _parameter_kind(type_: Type, definitions: Mapping[str, Type]) -> ValueKind:
    kind = kind_of(type_, definitions)
    return "any" if kind == "void" else kind


def is_nullable(type_: Type, definitions: Mapping[str, Type]) -> bool:
    """Return whether a type allows null, itself or by what it refers to."""
    return type_.nullable or resolve(type_, definitions).nullable


def resolve(type_: Type, definitions: Mapping[str, Type]) -> Type:
    """Follow references and choices of one; a circle or an unknown name is any type."""
    seen: set[str] = set()
    while True:
        if isinstance(type_, RefType):
            if type_.name in seen or type_.name not in definitions:
                return AnyType()
            seen.add(type_.name)
            type_ = definitions[type_.name]
        elif isinstance(type_, OneOfType) and len(type_.alternatives) == 1:
            type_ = type_.alternatives[0]
        else:
            return type_


def kind_of(type_: Type, definitions: Mapping[str, Type]) -> ValueKind:
    """Return what code sees of a type; `any` of one whose choices lead back to it or into great depth."""
    return _Kinds(definitions).kind_of(type_, 0)


class _Kinds:
    """What code sees of types, each looked at once: choices of choices have exponentially many paths."""

    def __init__(self, definitions: Mapping[str, Type]) -> None:
        self._definitions = definitions
        self._found: dict[int, ValueKind] = {}

    def kind_of(self, type_: Type, depth: int) -> ValueKind:
        resolved = resolve(type_, self._definitions)
        if isinstance(resolved, ScalarType):
            return "void" if resolved.kind == "null" else resolved.kind
        if resolved.kind in {"array", "object"}:
            return "array" if resolved.kind == "array" else "object"
        if resolved.kind == "all-of":
            return "object"
        if isinstance(resolved, OneOfType) and resolved.alternatives:
            return self._kind_of_choice(resolved, depth)
        return "any" if isinstance(resolved, AnyType | OpaqueType) else "object"

    def _kind_of_choice(self, choice: OneOfType, depth: int) -> ValueKind:
        if id(choice) not in self._found:
            self._found[id(choice)] = "any"  # until it is known, for a choice that leads back here
            if depth < _MOST_LEVELS:
                inner = [each for each in choice.alternatives if not isinstance(each, RefType)]
                kinds = {self.kind_of(each, depth + 1) for each in inner}
                self._found[id(choice)] = kinds.pop() if len(kinds) == 1 else "any"
        return self._found[id(choice)]


def item_kind_of(type_: Type, definitions: Mapping[str, Type]) -> ValueKind:
    """Return the kind of an array's items, `any` where they are not scalars or not declared."""
    resolved = resolve(type_, definitions)
    if not isinstance(resolved, ArrayType) or resolved.items is None or resolved.items.nullable:
        return "any"
    kind = kind_of(resolved.items, definitions)
    return kind if kind in {"boolean", "int32", "int64", "float", "double", "string"} else "any"


def shorten(text: str | None) -> str | None:
    """Return a text for a comment: one paragraph, bounded, None where empty."""
    if text is None:
        return None
    joined = " ".join(text.split())
    if len(joined) > _LONGEST_COMMENT:
        joined = joined[: _LONGEST_COMMENT - 1].rstrip() + "…"
    return joined or None

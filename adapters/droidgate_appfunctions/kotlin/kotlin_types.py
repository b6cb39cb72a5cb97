"""Kotlin types with the class that their name means."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final, Literal

from droidgate_appfunctions.kotlin.declarations import (
    ClassDeclaration,
    SourceDeclarations,
    TypeAlias,
    TypeParameter,
    TypeReference,
)
from droidgate_appfunctions.kotlin.index import External, Index, Unresolved
from droidgate_appfunctions.kotlin.kotlin_findings import Reports, refusal
from droidgate_mappings.model.errors import BudgetError
from droidgate_mappings.records import dataclass, field, replace

MAX_LINKS: Final = 64
"""Aliases of aliases, and classes above or inside a class."""

MAX_WEIGHT: Final = 256
"""Types of which one type is made; aliases could double with each one."""

_IDENTIFIER: Final = re.compile(r"[^\W\d]\w*")
_WORDS: Final = """
as break class continue do else false for fun if in interface is null object package return super
this throw true try typealias typeof val var when while by catch constructor delegate dynamic field
file finally get import init param property receiver set setparam where abstract actual annotation
companion const crossinline data enum expect external final infix inline inner internal lateinit
noinline open operator out override private protected public reified sealed suspend tailrec value
vararg header impl
"""
_KEYWORDS: Final = frozenset(_WORDS.split())


@dataclass(frozen=True, slots=True, eq=False)
class KotlinType:
    """A type whose class is known, or not.

    Attributes:
        name: Qualified name with dots; empty for one without a class.
        kind: `class` is one of the sources', `external` one of another library, `parameter` a type parameter,
            `unknown` one that a wildcard import may have.
        reference: Where it is written.
        file: The file where it is written.
        declaration: The class.
        bound: The bound of a type parameter.
        arguments: The type and variance of each; None is a star.
        nullable: It ends with a question mark.
        weight: How many types it is made of.
    """

    name: str
    kind: Literal["class", "external", "parameter", "unknown"]
    reference: TypeReference
    file: SourceDeclarations
    declaration: ClassDeclaration | None = None
    bound: KotlinType | None = None
    arguments: tuple[tuple[KotlinType | None, str], ...] = ()
    nullable: bool = False
    weight: int = 1

    @property
    def line(self) -> int:
        """The 1-based line."""
        return self.reference.line

    def __str__(self) -> str:
        """Return the name as the compiler writes it into the names of generic classes."""
        text = ".".join(map(escaped, self.name.split("."))) if self.name else self.reference.text
        if self.arguments:
            text = f"{text}<{', '.join(map(_argument_text, self.arguments))}>"
        return f"{text}?" if self.nullable else text


def escaped(segment: str) -> str:
    """Return a segment of a name as KotlinPoet writes it: keywords and odd names in back-ticks."""
    plain = _IDENTIFIER.fullmatch(segment) is not None and segment not in _KEYWORDS
    return segment if plain else f"`{segment}`"


def _argument_text(argument: tuple[KotlinType | None, str]) -> str:
    kotlin_type, variance = argument
    if kotlin_type is None:
        return "*"
    return f"{variance} {kotlin_type}" if variance else str(kotlin_type)


@dataclass(slots=True, eq=False)
class TypeResolver:
    """Finds the classes of types."""

    index: Index
    reports: Reports
    aliased: dict[TypeAlias, KotlinType] = field(default_factory=dict)

    def resolve(
        self,
        reference: TypeReference,
        file: SourceDeclarations,
        owner: ClassDeclaration | None,
        parameters: Mapping[str, TypeParameter],
        depth: int = 0,
    ) -> KotlinType:
        """Return a type with its class.

        Raises:
            InputError: the sources cannot be compiled: no file and no import has the name.
        """
        if not reference.name:
            return KotlinType("", "external", reference, file, nullable=reference.nullable)
        parameter = parameters.get(reference.name[0]) if len(reference.name) == 1 else None
        if parameter is not None:
            bound = None
            if parameter.bound is not None and depth < MAX_LINKS:
                bound = self.resolve(parameter.bound, file, owner, {}, depth + 1)
            return KotlinType(
                parameter.name, "parameter", reference, file, bound=bound, nullable=reference.nullable
            )
        arguments = tuple(
            (
                None
                if argument.type is None
                else self.resolve(argument.type, file, owner, parameters, depth),
                argument.variance,
            )
            for argument in reference.arguments
        )
        weight = 1 + sum(item.weight for item, _ in arguments if item is not None)
        if weight > MAX_WEIGHT:
            message = f"a type is made of more than {MAX_WEIGHT} types"
            raise BudgetError(message, place=str(file.place(reference.line)))
        meaning = self.index.find(reference.name, file, owner)
        if isinstance(meaning, TypeAlias):
            return self._aliased(meaning, reference, file, depth)
        if isinstance(meaning, ClassDeclaration):
            return KotlinType(
                meaning.qualified_name,
                "class",
                reference,
                file,
                declaration=meaning,
                arguments=arguments,
                nullable=reference.nullable,
                weight=weight,
            )
        if isinstance(meaning, External):
            return KotlinType(
                meaning.name,
                "external",
                reference,
                file,
                arguments=arguments,
                nullable=reference.nullable,
                weight=weight,
            )
        return self._unresolved(meaning, reference, file)

    def _unresolved(
        self, meaning: Unresolved, reference: TypeReference, file: SourceDeclarations
    ) -> KotlinType:
        name = ".".join(reference.name)
        if not meaning.elsewhere:
            hint = "import the class, or read the module that declares it too"
            raise refusal(f"unresolved reference '{name}'", file, reference.line, hint)
        return KotlinType(name, "unknown", reference, file, nullable=reference.nullable)

    def _aliased(
        self, alias: TypeAlias, reference: TypeReference, file: SourceDeclarations, depth: int
    ) -> KotlinType:
        if depth >= MAX_LINKS or alias.type_parameters:
            message = f"the type alias '{alias.name}' has parameters or refers to itself"
            raise refusal(message, file, reference.line, "write the type itself")
        message = (
            f"the type alias '{alias.name}' is read as {alias.type.text}; Jetpack's compiler may refuse it"
        )
        self.reports.not_understood(message, file, reference.line, "write the type itself", lost=False)
        target = self.aliased.get(alias)
        if target is None:
            target = self.aliased[alias] = self.resolve(alias.type, alias.file, None, {}, depth + 1)
        return replace(target, reference=reference, file=file, nullable=target.nullable or reference.nullable)

    def supertypes(self, declaration: ClassDeclaration) -> Iterator[KotlinType]:
        """Yield the supertypes of a class that are written there; names that mean nothing are unknown."""
        names = {type_parameter.name: type_parameter for type_parameter in declaration.type_parameters}
        for reference in declaration.supertypes:
            meaning = self.index.find(reference.name, declaration.file, declaration.outer, inherited=False)
            if isinstance(meaning, Unresolved):
                yield KotlinType(".".join(reference.name), "unknown", reference, declaration.file)
            else:
                yield self.resolve(reference, declaration.file, declaration.outer, names)

    def above(self, declaration: ClassDeclaration) -> Iterator[KotlinType]:
        """Yield every supertype of a class, near ones first."""
        pending, seen = [declaration], {declaration}
        while pending:
            for supertype in self.supertypes(pending.pop(0)):
                yield supertype
                if supertype.declaration is not None and supertype.declaration not in seen:
                    seen.add(supertype.declaration)
                    pending.append(supertype.declaration)


def parameters_by_name(*lists: tuple[TypeParameter, ...]) -> dict[str, TypeParameter]:
    """Return type parameters by name, those of inner declarations last."""
    return {item.name: item for each in lists for item in each}

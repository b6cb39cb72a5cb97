"""The declarations of Kotlin files, as far as Jetpack's compiler looks at them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from droidgate_appfunctions.kotlin.kotlin_tokens import Expression, KotlinText
from droidgate_mappings.model.capability import Place
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.records import dataclass, field

Name = tuple[str, ...]
"""A name as its segments: `a.b.C` is `("a", "b", "C")`."""


@dataclass(frozen=True, slots=True, eq=False)
class TypeReference:
    """A type as it is written.

    Attributes:
        name: Its name; empty for a type that has none, such as `(Int) -> String`.
        arguments: What is between angle brackets.
        nullable: It ends with a question mark.
        annotations: What is written in front of it.
        line: 1-based.
        text: The source text, for messages.
    """

    name: Name
    line: int
    text: str
    arguments: tuple[TypeArgument, ...] = ()
    nullable: bool = False
    annotations: tuple[Annotation, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class TypeArgument:
    """One type between angle brackets; None is a star."""

    type: TypeReference | None
    variance: Literal["", "in", "out"] = ""


@dataclass(frozen=True, slots=True, eq=False)
class Annotation:
    """An annotation: its name, its arguments by name (None without one), and its use-site target."""

    name: Name
    line: int
    arguments: tuple[tuple[str | None, Expression], ...] = ()
    target: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class ParameterDeclaration:
    """A parameter of a function or of a primary constructor; `default` is the source text of its default."""

    name: str
    type: TypeReference
    line: int
    annotations: tuple[Annotation, ...] = ()
    default: str | None = None
    is_property: bool = False
    is_vararg: bool = False
    kdoc: str | None = None

    @property
    def has_default(self) -> bool:
        """Return whether the parameter may be left out."""
        return self.default is not None


@dataclass(frozen=True, slots=True, eq=False)
class TypeParameter:
    """A type parameter, and its bound."""

    name: str
    bound: TypeReference | None = None


@dataclass(frozen=True, slots=True, eq=False)
class FunctionDeclaration:
    """A function outside of any other function's body."""

    name: str
    line: int
    file: SourceDeclarations
    owner: ClassDeclaration | None
    modifiers: frozenset[str] = frozenset()
    annotations: tuple[Annotation, ...] = ()
    type_parameters: tuple[TypeParameter, ...] = ()
    parameters: tuple[ParameterDeclaration, ...] = ()
    receiver: TypeReference | None = None
    return_type: TypeReference | None = None
    has_body: bool = False
    is_expression: bool = False
    kdoc: str | None = None

    @property
    def is_abstract(self) -> bool:
        """Return whether the function has no implementation."""
        return "abstract" in self.modifiers or (
            not self.has_body and self.owner is not None and self.owner.kind == "interface"
        )


@dataclass(frozen=True, slots=True, eq=False)
class PropertyDeclaration:
    """A property of a class or a file; `value` is its initializer."""

    name: str
    line: int
    modifiers: frozenset[str] = frozenset()
    annotations: tuple[Annotation, ...] = ()
    type: TypeReference | None = None
    value: Expression | None = None
    kdoc: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class ClassDeclaration:
    """A class, interface or object outside of any function's body."""

    name: str
    kind: Literal["class", "interface", "object", "companion"]
    line: int
    file: SourceDeclarations
    outer: ClassDeclaration | None
    modifiers: frozenset[str] = frozenset()
    annotations: tuple[Annotation, ...] = ()
    type_parameters: tuple[TypeParameter, ...] = ()
    constructor: tuple[ParameterDeclaration, ...] | None = None
    constructor_modifiers: frozenset[str] = frozenset()
    supertypes: tuple[TypeReference, ...] = ()
    kdoc: str | None = None
    has_secondary_constructor: list[int] = field(default_factory=list)
    functions: list[FunctionDeclaration] = field(default_factory=list)
    properties: dict[str, PropertyDeclaration] = field(default_factory=dict)
    classes: dict[str, ClassDeclaration] = field(default_factory=dict)

    @property
    def path(self) -> Name:
        """The simple names from the outermost class to this one."""
        return (*(self.outer.path if self.outer is not None else ()), self.name)

    @property
    def qualified_name(self) -> str:
        """The name with dots only, such as `a.b.Outer.Inner`."""
        return ".".join((*self.file.package, *self.path))

    @property
    def jvm_name(self) -> str:
        """The name of the class file, such as `a.b.Outer$Inner`."""
        return ".".join((*self.file.package, "$".join(self.path)))

    @property
    def simple_jvm_name(self) -> str:
        """The name without the package, such as `Outer$Inner`."""
        return "$".join(self.path)

    @property
    def companions(self) -> Iterator[ClassDeclaration]:
        """The companion objects."""
        return (class_ for class_ in self.classes.values() if class_.kind == "companion")


@dataclass(frozen=True, slots=True, eq=False)
class TypeAlias:
    """Another name for a type."""

    name: str
    type: TypeReference
    type_parameters: tuple[TypeParameter, ...]
    file: SourceDeclarations
    line: int


@dataclass(frozen=True, slots=True, eq=False)
class Import:
    """An import: its name, and the name it has in the file; None imports everything of the name."""

    name: Name
    alias: str | None


@dataclass(slots=True, eq=False)
class SourceDeclarations:
    """The declarations of one file.

    Attributes:
        path: As the user wrote it.
        source: Its tokens.
        is_library: It is one of the stubs of libraries that come with droidgate.
        package: Its package.
        seen: Offsets of the annotations that belong to a declaration here.
        errors: What is wrong with the heads of other declarations.
    """

    path: str
    source: KotlinText
    is_library: bool = False
    package: Name = ()
    imports: list[Import] = field(default_factory=list)
    classes: dict[str, ClassDeclaration] = field(default_factory=dict)
    functions: list[FunctionDeclaration] = field(default_factory=list)
    properties: dict[str, PropertyDeclaration] = field(default_factory=dict)
    aliases: dict[str, TypeAlias] = field(default_factory=dict)
    seen: set[int] = field(default_factory=set)
    errors: list[InputError] = field(default_factory=list)

    def place(self, line: int) -> Place:
        """Return the place of a line."""
        return Place(path=self.path, line=line)

    def all_classes(self) -> Iterator[ClassDeclaration]:
        """Yield every class, each before the classes inside it."""
        pending = list(reversed(self.classes.values()))
        while pending:
            current = pending.pop()
            yield current
            pending.extend(reversed(current.classes.values()))

"""Which class, alias or constant a name in a Kotlin file means."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files as resource_files
from typing import Final

from droidgate_appfunctions.kotlin.declarations import (
    ClassDeclaration,
    Import,
    Name,
    PropertyDeclaration,
    SourceDeclarations,
    TypeAlias,
)
from droidgate_appfunctions.kotlin.syntax import MAX_FILE, parse_file
from droidgate_mappings.formats.format import SourceFile
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.records import dataclass, field
from droidgate_mappings.timed_steps import open_step

_FILE_ANNOTATION: Final = rb"@file\s*+:\s*+(?:\[[^\]]*+\]|[\w.]++(?:\s*+\((?:[^()]|\([^()]*+\))*+\))?)"
_HEADER: Final = re.compile(
    rb"\A(?:\xef\xbb\xbf)?(?:#![^\n]*+)?(?:\s++|//[^\n]*+|/\*(?:[^*]|\*(?!/))*+\*/|"
    + _FILE_ANNOTATION
    + rb"|;)*+package\s++([\w.`]++)"
)
_DECLARED: Final = re.compile(
    rb"\b(?:class|interface|object|typealias|val)\s++(?:<[^>\n]{0,120}+>\s*+)?`?(\w++)"
)
_LOWER: Final = re.compile(r"[a-z_]")
_MAX_LINKS: Final = 64
"""Aliases of aliases, and classes above a class."""
_MAX_SEGMENTS: Final = 64
"""Longer names are those of no class."""

_KOTLIN: Final = """
Any Nothing Unit Boolean Byte Short Int Long Float Double Char String CharSequence Number UInt ULong
UByte UShort Array BooleanArray ByteArray ShortArray IntArray LongArray FloatArray DoubleArray
CharArray Enum Throwable Exception Error Pair Triple Result Function Comparable Lazy Deprecated
Suppress OptIn ReplaceWith Annotation
"""
_COLLECTIONS: Final = """
List MutableList Set MutableSet Map MutableMap Collection MutableCollection Iterable MutableIterable ArrayList
HashMap HashSet LinkedHashMap LinkedHashSet Iterator
"""
BUILT_IN: Final = {
    **{name: f"kotlin.jvm.{name}" for name in ("JvmInline", "JvmStatic", "JvmOverloads", "JvmField")},
    **{name: f"java.lang.{name}" for name in ("Object", "Integer", "Runnable", "StringBuilder", "Character")},
    **{name: f"kotlin.collections.{name}" for name in _COLLECTIONS.split()},
    **{name: f"kotlin.{name}" for name in _KOTLIN.split()},
    "Sequence": "kotlin.sequences.Sequence",
    "Regex": "kotlin.text.Regex",
}
"""Classes that every Kotlin file has without an import."""


@dataclass(frozen=True, slots=True)
class External:
    """A class that no file here declares, by its qualified name."""

    name: str


@dataclass(frozen=True, slots=True)
class Unresolved:
    """A name without a meaning here; `elsewhere` where a star import may include it."""

    elsewhere: bool


NameMeaning = ClassDeclaration | External | Unresolved | TypeAlias


@dataclass(slots=True, eq=False)
class _Entry:
    file: SourceFile
    is_library: bool = False
    parsed: SourceDeclarations | None = None
    failed: bool = False


@cache
def _library_sections() -> tuple[_Entry, ...]:
    text = resource_files("droidgate_appfunctions.kotlin").joinpath("libraries.kt").read_bytes()
    sections = re.split(rb"(?m)^(?=package )", text)[1:]
    return tuple(_Entry(SourceFile("<library>", section), is_library=True) for section in sections)


@dataclass(slots=True, eq=False)
class Index:
    """The Kotlin files of an application, by package; each is parsed when a name of it is looked for.

    Attributes:
        problems: Files that cannot be parsed.
    """

    packages: dict[Name, list[_Entry]] = field(default_factory=dict)
    names: dict[Name, dict[str, list[_Entry]]] = field(default_factory=dict)
    problems: list[InputError] = field(default_factory=list)
    below: dict[Name, dict[str, list[ClassDeclaration]]] = field(default_factory=dict)
    meanings: dict[tuple[Name, SourceDeclarations, ClassDeclaration | None, bool], NameMeaning] = field(
        default_factory=dict
    )

    @classmethod
    def of(cls, files: Sequence[SourceFile], libraries: Sequence[SourceFile]) -> Index:
        """Return the index of an application's files and those of other modules."""
        index = cls()
        for entry in (*map(_Entry, files), *map(_Entry, libraries), *_library_sections()):
            header = _HEADER.match(entry.file.data)
            package = header[1].decode(errors="replace").replace("`", "") if header is not None else ""
            index.packages.setdefault(tuple(package.split(".")) if package else (), []).append(entry)
        return index

    def parse(self, files: Sequence[SourceFile]) -> Iterator[SourceDeclarations]:
        """Yield the declarations of files of the index; those that cannot be parsed are problems."""
        requested = {id(file) for file in files}
        entries = {id(item.file): item for group in self.packages.values() for item in group}
        for file in files:
            parsed = self._parsed(entries[id(file)]) if id(file) in requested else None
            if parsed is not None:
                yield parsed

    def _parsed(self, entry: _Entry) -> SourceDeclarations | None:
        if entry.parsed is None and not entry.failed:
            try:
                with open_step(f"read {entry.file.path}"):
                    entry.parsed = parse_file(entry.file, is_library=entry.is_library)
                self.problems += entry.parsed.errors
            except InputError as error:
                entry.failed = True
                self.problems.append(error)
        return entry.parsed

    def files_with(self, package: Name, name: str) -> Iterator[SourceDeclarations]:
        """Yield the files of a package that may declare a name, an app's own before those of libraries."""
        if package not in self.packages:
            return
        entries_by_word = self.names.get(package)
        if entries_by_word is None:
            entries_by_word = self.names[package] = {}
            for entry in self.packages[package]:
                if len(entry.file.data) > MAX_FILE:
                    continue
                for word in {
                    match[1].decode(errors="replace") for match in _DECLARED.finditer(entry.file.data)
                }:
                    entries_by_word.setdefault(word, []).append(entry)
        for entry in entries_by_word.get(name, ()):
            parsed = self._parsed(entry)
            if parsed is not None and parsed.package == package:
                yield parsed

    def files_of(self, package: Name) -> Iterator[SourceDeclarations]:
        """Yield the files of a package, an app's own before those of libraries."""
        for entry in self.packages.get(package, ()):
            parsed = self._parsed(entry)
            if parsed is not None:
                yield parsed

    def top_level(self, package: Name, name: str) -> ClassDeclaration | TypeAlias | None:
        """Return the class or alias that a package declares."""
        for file in self.files_with(package, name):
            declaration = file.classes.get(name) or file.aliases.get(name)
            if declaration is not None:
                return declaration
        return None

    def subclasses(self, declaration: ClassDeclaration) -> Iterator[ClassDeclaration]:
        """Yield the direct subclasses in the package of a class; those of a sealed one have to be there."""
        package = declaration.file.package
        subclasses_by_name = self.below.get(package)
        if subclasses_by_name is None:
            subclasses_by_name = self.below[package] = {}
            for file in self.files_of(package):
                for class_ in file.all_classes():
                    for supertype in class_.supertypes:
                        if supertype.name:
                            subclasses_by_name.setdefault(supertype.name[-1], []).append(class_)
        for item in subclasses_by_name.get(declaration.name, ()):
            if any(self.find(each.name, item.file, item.outer) is declaration for each in item.supertypes):
                yield item

    def find_qualified(self, name: Name) -> ClassDeclaration | TypeAlias | None:
        """Return the class or alias of a fully qualified name."""
        if len(name) > _MAX_SEGMENTS:
            return None
        for split in range(len(name) - 1, -1, -1):
            declaration = self.top_level(name[:split], name[split])
            if declaration is not None:
                return self._inside(declaration, name[split + 1 :])
        return None

    def _inside(
        self, meaning: ClassDeclaration | TypeAlias | None, rest: Name
    ) -> ClassDeclaration | TypeAlias | None:
        for segment in rest:
            if not isinstance(meaning, ClassDeclaration):
                return None
            meaning = self._member(meaning, segment)
        return meaning

    def _member(self, owner: ClassDeclaration, name: str) -> ClassDeclaration | None:
        """Return a class inside a class or inside one above it."""
        pending, seen = [owner], {owner}
        while pending and len(seen) < _MAX_LINKS:
            current = pending.pop(0)
            if name in current.classes:
                return current.classes[name]
            for supertype in current.supertypes:
                above = self.find(supertype.name, current.file, current.outer, inherited=False)
                if isinstance(above, ClassDeclaration) and above not in seen:
                    seen.add(above)
                    pending.append(above)
        return None

    def find(
        self,
        name: Name,
        file: SourceDeclarations,
        owner: ClassDeclaration | None,
        *,
        inherited: bool = True,
    ) -> NameMeaning:
        """Return what a class name means in a file, inside the given class.

        The order is Kotlin's: classes around, imports by name, the package, imports of everything, built-in
        classes.
        `inherited` also looks for classes that the classes around inherit; a supertype's own name is found
        without, so that no chain of supertypes is followed for each link of it.
        """
        key = name, file, owner, inherited
        if key not in self.meanings:
            self.meanings[key] = self._find(name, file, owner, inherited=inherited)
        return self.meanings[key]

    def _find(
        self, name: Name, file: SourceDeclarations, owner: ClassDeclaration | None, *, inherited: bool
    ) -> NameMeaning:
        if not name:
            return Unresolved(elsewhere=False)
        first, rest = name[0], name[1:]
        around = owner
        while around is not None:
            member = around if first == around.name else self._own_member(around, first, inherited=inherited)
            if member is not None:
                return self._inside(member, rest) or External(".".join((member.qualified_name, *rest)))
            around = around.outer
        for imported in file.imports:
            if imported.alias == first:
                return self.find_qualified((*imported.name, *rest)) or External(
                    ".".join((*imported.name, *rest))
                )
        declaration = self.top_level(file.package, first) or self._starred(file.imports, first)
        if declaration is not None:
            return self._inside(declaration, rest) or Unresolved(elsewhere=False)
        if first in BUILT_IN and not rest:
            return External(BUILT_IN[first])
        if rest and _LOWER.match(first):
            return self.find_qualified(name) or External(".".join(name))
        unknown = any(import_.alias is None and import_.name not in self.packages for import_ in file.imports)
        return Unresolved(elsewhere=unknown)

    def _own_member(self, owner: ClassDeclaration, name: str, *, inherited: bool) -> ClassDeclaration | None:
        if name in owner.classes or not inherited:
            return owner.classes.get(name)
        return self._member(owner, name)

    def _starred(self, imports: Sequence[Import], name: str) -> ClassDeclaration | TypeAlias | None:
        for imported in imports:
            if imported.alias is None:
                declaration = self.top_level(imported.name, name)
                if declaration is None and _LOWER.match(imported.name[-1]) is None:
                    around = self.find_qualified(imported.name)
                    declaration = around.classes.get(name) if isinstance(around, ClassDeclaration) else None
                if declaration is not None:
                    return declaration
        return None

    def find_constant(
        self, name: Name, file: SourceDeclarations, owner: ClassDeclaration | None
    ) -> tuple[PropertyDeclaration, SourceDeclarations, ClassDeclaration | None] | None:
        """Return a property by name, with its file and class."""
        last = name[-1]
        if len(name) == 1:
            around = owner
            while around is not None:
                constant = _constant_in(around, last)
                if constant is not None:
                    return constant
                around = around.outer
            for imported in file.imports:
                if imported.alias == last and len(imported.name) > 1:
                    return self._qualified_constant(imported.name)
            for package in (
                file.package,
                *(import_.name for import_ in file.imports if import_.alias is None),
            ):
                constant = self._top_level_constant(package, last)
                if constant is not None:
                    return constant
            return None
        around_name = self.find(name[:-1], file, owner)
        if isinstance(around_name, ClassDeclaration):
            return _constant_in(around_name, last)
        return self._qualified_constant(name)

    def _qualified_constant(
        self, name: Name
    ) -> tuple[PropertyDeclaration, SourceDeclarations, ClassDeclaration | None] | None:
        constant = self._top_level_constant(name[:-1], name[-1])
        if constant is None:
            around = self.find_qualified(name[:-1])
            constant = _constant_in(around, name[-1]) if isinstance(around, ClassDeclaration) else None
        return constant

    def _top_level_constant(
        self, package: Name, name: str
    ) -> tuple[PropertyDeclaration, SourceDeclarations, ClassDeclaration | None] | None:
        for file in self.files_with(package, name):
            if name in file.properties:
                return file.properties[name], file, None
        return None


def _constant_in(
    owner: ClassDeclaration, name: str
) -> tuple[PropertyDeclaration, SourceDeclarations, ClassDeclaration | None] | None:
    for holder in (*owner.companions, *((owner,) if owner.kind in {"object", "companion"} else ())):
        if name in holder.properties:
            return holder.properties[name], holder.file, holder
    return None

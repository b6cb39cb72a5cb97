"""Kotlin types as data types, as Jetpack's compiler writes them (reference appfunctions 2.c)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from droidgate_appfunctions.format import FORMAT_ID
from droidgate_appfunctions.kotlin.annotations import (
    INT_VALUES,
    SERIALIZABLE,
    STRING_VALUES,
    URI_VALUES,
    FoundAnnotation,
)
from droidgate_appfunctions.kotlin.declarations import Annotation, ClassDeclaration, SourceDeclarations
from droidgate_appfunctions.kotlin.expressions import CallValue
from droidgate_appfunctions.kotlin.kotlin_findings import refusal
from droidgate_appfunctions.kotlin.kotlin_types import MAX_LINKS, KotlinType
from droidgate_appfunctions.kotlin.serializables import (
    ARRAYS,
    LIST,
    SCALARS,
    SUPPORTED,
    DataProperty,
    Serializables,
)
from droidgate_appfunctions.pattern_matcher import fact_of_patterns, pattern_of
from droidgate_mappings.model.errors import BudgetError
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.model.types import (
    AllOfType,
    ArrayType,
    ObjectType,
    OneOfType,
    OpaqueType,
    Property,
    RefType,
    ScalarType,
    Type,
    as_extensions,
)
from droidgate_mappings.records import dataclass, field

_TOKEN: Final = re.compile(r"\\Q[\s\S]*?(?:\\E|$)|\\[\s\S]|\\$|[\[\]()]")


def is_balanced_pattern(pattern: str) -> bool:
    """Return whether the brackets of a Java regular expression are closed, and no escape is cut off.

    Nothing is compiled: Java's syntax is not Python's, and a pattern of an app is never run here.
    """
    groups = sets = 0
    start_of_set = -1
    for match in _TOKEN.finditer(pattern):
        sign = match[0]
        if sign == "\\":
            return False
        if sign == "[":
            sets += 1
            start_of_set = match.end()
        elif sign == "]" and sets:
            # The first one of a set is a member of it.
            sets -= match.start() != start_of_set + pattern.startswith("^", start_of_set)
        elif sign == "(" and not sets:
            groups += 1
        elif sign == ")" and not sets:
            groups -= 1
            if groups < 0:
                return False
    return not groups and not sets


_PREFIX: Final = 1
_NULLABLE_MEMBER: Final = as_extensions(FORMAT_ID, {"isNullable": True})
"""Jetpack's compiler writes the members of all-of and one-of as nullable."""

_UNVISITED = dict[str, DataProperty]


@dataclass(frozen=True, slots=True, eq=False)
class Site:
    """Where a type is used: its annotations, and the scope of their names."""

    annotations: tuple[Annotation, ...]
    file: SourceDeclarations
    owner: ClassDeclaration | None


@dataclass(slots=True, eq=False)
class TypeBuilder:
    """Builds the data types of one function; `definitions` are the classes that they refer to.

    The compiler visits classes depth first, supertypes before their own properties, and each class once in a
    function. A class that is visited first as a supertype takes the properties that its subclass has left.
    """

    classes: Serializables
    definitions: dict[str, Type] = field(default_factory=dict)
    seen: set[str] = field(default_factory=set)
    depth: int = 0

    def build(self, kotlin_type: KotlinType, site: Site, description: str | None = None) -> Type:
        """Return the data type of a Kotlin type.

        Raises:
            InputError: the compiler refuses the type too.
            BudgetError: classes are nested too deeply, or there are too many.
        """
        self.classes.reports.count_type(kotlin_type.file, kotlin_type.line)
        item = self.classes.item_of(kotlin_type)
        if item is None and kotlin_type.name != LIST:
            return self._single(kotlin_type, site, description)
        if item is None or not self.classes.is_supported(kotlin_type):
            raise self._unsupported(kotlin_type)
        return ArrayType(
            items=self._single(item, site), nullable=kotlin_type.nullable, description=description
        )

    def _unsupported(self, kotlin_type: KotlinType) -> Exception:
        return refusal(
            f"unsupported type: {kotlin_type}", kotlin_type.file, kotlin_type.line, f"use {SUPPORTED}"
        )

    def _single(
        self,
        kotlin_type: KotlinType,
        site: Site,
        description: str | None = None,
    ) -> Type:
        common: dict[str, Any] = {"nullable": kotlin_type.nullable, "description": description}
        shape = self.classes.shape(kotlin_type)
        self._report_constraints(kotlin_type, site)
        if shape == "scalar":
            return self._scalar(SCALARS[kotlin_type.name], site, common)
        if shape == "array":
            return ArrayType(items=self._scalar(ARRAYS[kotlin_type.name], site, {}), **common)
        if shape == "uri":
            return self._uri(site, common)
        if shape == "proxy":
            proxy = self.classes.proxy_of(kotlin_type.name)
            if proxy is not None:
                self._add(proxy, kotlin_type.name, self._properties(proxy, {}))
            return RefType(name=kotlin_type.name, **common)
        if shape == "class" and kotlin_type.declaration is not None:
            return RefType(name=self._add_class(kotlin_type.declaration, kotlin_type), **common)
        if shape == "parcelable":
            if kotlin_type.declaration is None:
                message = f"{kotlin_type.name} is read as a Parcelable; its class is not known here"
                hint = "check the class: Jetpack's compiler takes no other class of Android"
                self.classes.reports.not_understood(
                    message, kotlin_type.file, kotlin_type.line, hint, lost=False
                )
            return OpaqueType(class_name=kotlin_type.name, **common)
        raise self._unsupported(kotlin_type)

    def _add_class(self, declaration: ClassDeclaration, kotlin_type: KotlinType) -> str:
        arguments = self._arguments(declaration, kotlin_type)
        self.classes.check(declaration, arguments)
        name = self.classes.generic_name(kotlin_type)
        if self.classes.is_one_of(declaration):
            self._add_one_of(declaration, declaration.jvm_name)
            return declaration.jvm_name
        self._add(declaration, name, self._properties(declaration, arguments))
        return name

    def _arguments(self, declaration: ClassDeclaration, kotlin_type: KotlinType) -> dict[str, KotlinType]:
        type_arguments = [item for item, _ in kotlin_type.arguments]
        arguments: dict[str, KotlinType] = {}
        for position, parameter in enumerate(declaration.type_parameters):
            argument = type_arguments[position] if position < len(type_arguments) else None
            if argument is None:
                message = f"missing type argument for {parameter.name} of {declaration.simple_jvm_name}"
                raise refusal(
                    message, kotlin_type.file, kotlin_type.line, "name a class between the angle brackets"
                )
            arguments[parameter.name] = argument
        return arguments

    def _properties(self, declaration: ClassDeclaration, arguments: Mapping[str, KotlinType]) -> _UNVISITED:
        return {property_.name: property_ for property_ in self.classes.properties(declaration, arguments)}

    def _add_one_of(self, declaration: ClassDeclaration, name: str) -> None:
        unvisited: _UNVISITED = {}
        alternatives: list[Type] = []
        if f"one of {name}" in self.seen:
            return
        self.seen.add(f"one of {name}")
        for alternative in self.classes.alternatives(declaration):
            unvisited.update(self._properties(alternative, {}))
            self._add(alternative, alternative.jvm_name, unvisited)
            alternatives.append(RefType(name=alternative.jvm_name, extensions=_NULLABLE_MEMBER))
        self.definitions[name] = OneOfType(
            alternatives=tuple(alternatives),
            qualified_name=name,
            description=self._description(declaration),
        )

    def _description(self, declaration: ClassDeclaration) -> str | None:
        text = self.classes.description(declaration)
        annotation = self.classes.find(declaration, SERIALIZABLE) if declaration.file.is_library else None
        if self.classes.annotations.is_described(annotation):
            name = declaration.qualified_name
            message = f"the description of {name} is that of the library's version; it is left out"
            self.classes.reports.not_understood(message, declaration.file, declaration.line, "build the app")
        return text

    def _add(self, declaration: ClassDeclaration, name: str, unvisited: _UNVISITED) -> None:
        if name in self.seen:
            return
        self.seen.add(name)
        self.depth += 1
        if self.depth > MAX_LINKS:
            message = f"classes are nested more than {MAX_LINKS} levels deep"
            raise BudgetError(message, place=str(declaration.file.place(declaration.line)))
        description = self._description(declaration)
        above = self.classes.serializable_supertypes(declaration)
        capabilities = self.classes.capabilities(declaration)
        own = [item.name for item in declaration.constructor or ()]
        if not above and not capabilities:
            self.definitions[name] = self._object(name, own, unvisited, description)
        else:
            members: list[Type] = []
            for item in above:
                self._add(item, item.jvm_name, unvisited)
                members.append(RefType(name=item.qualified_name, extensions=_NULLABLE_MEMBER))
            for capability in capabilities:
                inherited = [each for each in capability.properties if each in unvisited]
                members.append(
                    self._object(capability.qualified_name, inherited, unvisited, description, member=True)
                )
            if unvisited:
                members.append(self._object(name, list(unvisited), unvisited, description, member=True))
            self.definitions[name] = AllOfType(
                members=tuple(members), qualified_name=name, description=description
            )
        self.depth -= 1

    def _object(
        self,
        name: str,
        own: list[str],
        unvisited: _UNVISITED,
        description: str | None,
        *,
        member: bool = False,
    ) -> ObjectType:
        own_properties = [unvisited.pop(item) for item in own if item in unvisited]
        properties = {
            item.name: Property(
                type=self.build(
                    item.type, Site(item.annotations, item.owner.file, item.owner), item.description
                ),
                required=item.required,
            )
            for item in own_properties
        }
        return ObjectType(
            properties=properties,
            qualified_name=name,
            description=description,
            extensions=_NULLABLE_MEMBER if member else {},
        )

    def _scalar(self, kind: str, site: Site, common: Mapping[str, Any]) -> ScalarType:
        shape: dict[str, Any] = {}
        if kind == "int32":
            rule = self._annotation_of(site, INT_VALUES)
            shape = self._enum(rule, int) if rule is not None else {}
        elif kind == "string":
            rule = self._annotation_of(site, STRING_VALUES)
            shape = self._text_values(rule) if rule is not None else {}
        return ScalarType(kind=kind, **common, **shape)  # type: ignore[arg-type]

    def _annotation_of(self, site: Site, names: frozenset[str]) -> FoundAnnotation | None:
        return self.classes.annotations.find(site.annotations, names, site.file, site.owner)

    def _enum(self, marker: FoundAnnotation, kind: type) -> dict[str, Any]:
        values = self.classes.annotations.optional(marker, "enumValues", list)
        if values is None:
            return {}
        if not all(isinstance(value, kind) and not isinstance(value, bool) for value in values):
            message = f"enumValues of @{marker.annotation.name[-1]} are left out: they are of another type"
            self.classes.reports.not_understood(
                message, marker.file, marker.line, f"write values of type {kind.__name__}"
            )
            return {}
        large = [value for value in values if kind is int and not -(1 << 31) <= value < 1 << 31]
        if large:
            name = marker.annotation.name[-1]
            message = f"enumValues of @{name} are left out: {large[0]} does not fit into 32 bits"
            hint = "write values from -2147483648 to 2147483647"
            self.classes.reports.not_understood(message, marker.file, marker.line, hint)
            return {}
        return {"enum": tuple(values)} if values else {}

    def _text_values(self, marker: FoundAnnotation) -> dict[str, Any]:
        shape = self._enum(marker, str)
        annotations = self.classes.annotations
        pattern = annotations.optional(marker, "pattern", str)
        if pattern:
            if not is_balanced_pattern(pattern):
                message = f'invalid pattern regex "{pattern}" in @AppFunctionStringValueConstraint'
                raise refusal(message, marker.file, marker.line, "write a regular expression of Java")
            shape["pattern"] = pattern
        text_format = annotations.optional(marker, "format", str)
        if text_format:
            shape["format"] = text_format
        listed = annotations.optional(marker, "patternMatchers", list)
        if listed:
            self._add_patterns([self._pattern(item, marker) for item in listed], marker, shape)
        return shape

    def _pattern(self, value: Any, marker: FoundAnnotation) -> Json | None:
        if not isinstance(value, CallValue):
            return None
        read = self.classes.annotations.call_arguments(value, ("pattern", "type"), marker)
        if read is None or not isinstance(read.get("pattern"), str) or not isinstance(read.get("type"), int):
            return None
        return {"value": read["pattern"], "type": read["type"]}

    def _add_patterns(
        self, patterns: list[Json | None], marker: FoundAnnotation | None, shape: dict[str, Any]
    ) -> None:
        stated = [pattern for pattern in patterns if pattern is not None]
        if len(stated) < len(patterns) and marker is not None:
            message = (
                "a pattern of @AppFunctionStringValueConstraint is not a constant; its patterns are left out"
            )
            self.classes.reports.not_understood(
                message, marker.file, marker.line, "write AppFunctionPatternMatcher with literals"
            )
            return
        shape.setdefault("pattern", pattern_of(stated))
        shape["extensions"] = as_extensions(FORMAT_ID, {fact_of_patterns(stated, shape["pattern"]): stated})

    def _uri(self, site: Site, common: Mapping[str, Any]) -> ObjectType:
        shape: dict[str, Any] = {"format": "uri"}
        rule = self._annotation_of(site, URI_VALUES)
        schemes = (
            self.classes.annotations.optional(rule, "allowedSchemes", list) if rule is not None else None
        )
        if schemes:
            self._add_patterns([{"value": f"{scheme}:", "type": _PREFIX} for scheme in schemes], rule, shape)
        text = ScalarType(kind="string", **shape)
        return ObjectType(
            properties={"uri": Property(type=text, required=True)},
            qualified_name="android.net.Uri",
            **common,
        )

    def _report_constraints(self, kotlin_type: KotlinType, site: Site) -> None:
        """Report constraints that the compiler does not look at, because they are on another type."""
        takes = {
            INT_VALUES: kotlin_type.name in {"kotlin.Int", "kotlin.IntArray"},
            STRING_VALUES: kotlin_type.name == "kotlin.String",
        }
        for names, fits in takes.items():
            rule = None if fits else self._annotation_of(site, names)
            if rule is not None:
                message = f"@{rule.annotation.name[-1]} has no effect on {kotlin_type}"
                self.classes.reports.not_understood(message, rule.file, rule.line, "remove it")

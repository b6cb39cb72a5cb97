"""Classes that travel as data: their properties, and what Jetpack's compiler requires of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, Literal

from droidgate_appfunctions.kotlin import kdoc
from droidgate_appfunctions.kotlin.annotations import (
    CAPABILITY,
    ONE_OF,
    SERIALIZABLE,
    SERIALIZABLE_INTERFACE,
    SERIALIZABLE_PROXY,
    URI_VALUES,
    Annotations,
    FoundAnnotation,
)
from droidgate_appfunctions.kotlin.declarations import (
    Annotation,
    ClassDeclaration,
    ParameterDeclaration,
    SourceDeclarations,
    TypeReference,
)
from droidgate_appfunctions.kotlin.expressions import ClassValue
from droidgate_appfunctions.kotlin.index import External
from droidgate_appfunctions.kotlin.kotlin_findings import Reports, refusal
from droidgate_appfunctions.kotlin.kotlin_types import (
    MAX_LINKS,
    KotlinType,
    TypeResolver,
    parameters_by_name,
)
from droidgate_mappings.model.errors import BudgetError, InputError
from droidgate_mappings.records import dataclass, field

SCALARS: Final = {
    "kotlin.Int": "int32",
    "kotlin.Long": "int64",
    "kotlin.Float": "float",
    "kotlin.Double": "double",
    "kotlin.Boolean": "boolean",
    "kotlin.String": "string",
    "kotlin.Unit": "null",
    "kotlin.ByteArray": "bytes",
}
ARRAYS: Final = {
    "kotlin.IntArray": "int32",
    "kotlin.LongArray": "int64",
    "kotlin.FloatArray": "float",
    "kotlin.DoubleArray": "double",
    "kotlin.BooleanArray": "boolean",
}
LIST: Final = "kotlin.collections.List"
URI: Final = "android.net.Uri"
PARCELABLE: Final = "android.os.Parcelable"
PROXIES: Final = frozenset(
    f"java.time.{name}" for name in ("LocalDate", "LocalTime", "LocalDateTime", "Instant", "ZoneId")
)
_PROXY_PACKAGE: Final = ("androidx", "appfunctions", "internal", "serializableproxies")
_WITH_DEFAULT: Final = frozenset({*(SCALARS.keys() - {"kotlin.String", "kotlin.Unit"}), *ARRAYS, LIST})
SUPPORTED: Final = (
    "Int, Long, Float, Double, Boolean, String, ByteArray, the arrays of numbers and Boolean, List<String>, "
    "Uri, java.time values, a Parcelable, an @AppFunctionSerializable class, a List of one of the last four"
)
_LIBRARIES_WITHOUT_DATA: Final = ("android.", "kotlin.", "kotlinx.", "java.", "javax.")

Shape = Literal["scalar", "array", "uri", "proxy", "class", "parcelable", "unsupported"]


@dataclass(frozen=True, slots=True, eq=False)
class DataProperty:
    """A property of a class that travels as data."""

    name: str
    type: KotlinType
    required: bool
    annotations: tuple[Annotation, ...]
    owner: ClassDeclaration
    line: int
    description: str | None = None


@dataclass(slots=True, eq=False)
class Serializables:
    """Reads the classes that travel as data."""

    types: TypeResolver
    annotations: Annotations
    reports: Reports
    checked: dict[tuple[ClassDeclaration, str], InputError | None] = field(default_factory=dict)
    proxies: dict[str, ClassDeclaration] | None = None

    def find(self, declaration: ClassDeclaration, names: frozenset[str]) -> FoundAnnotation | None:
        """Return an annotation of a class."""
        return self.annotations.find(declaration.annotations, names, declaration.file, declaration.outer)

    def is_one_of(self, declaration: ClassDeclaration) -> bool:
        """Return whether a class represents one of its subclasses."""
        return "sealed" in declaration.modifiers or self.find(declaration, ONE_OF) is not None

    def shape(self, kotlin_type: KotlinType) -> Shape:
        """Return what a type that is not a list travels as.

        Raises:
            InputError: it is `Parcelable` itself, or a class that no file here declares.
        """
        if kotlin_type.name in SCALARS:
            return "scalar"
        if kotlin_type.name in ARRAYS:
            return "array"
        if kotlin_type.name == URI:
            return "uri"
        if kotlin_type.name in PROXIES:
            return "proxy"
        if kotlin_type.name == PARCELABLE:
            message = "use an implementation of Parcelable; Parcelable itself is not allowed"
            raise refusal(message, kotlin_type.file, kotlin_type.line, "name the class of the value")
        declaration = kotlin_type.declaration
        if declaration is None:
            return self._shape_of_external(kotlin_type)
        if self.find(declaration, SERIALIZABLE) is not None:
            return "class"
        if self.find(declaration, SERIALIZABLE_INTERFACE) is not None:
            return "unsupported"
        above = list(self.types.above(declaration))
        if any(item.name == PARCELABLE for item in above):
            return "parcelable"
        for item in above:
            if item.declaration is None and self._is_elsewhere(item):
                raise self._unresolved(item, f"a supertype of {declaration.name}")
        return "unsupported"

    def _shape_of_external(self, kotlin_type: KotlinType) -> Shape:
        """Return the shape of a class that no file here declares.

        Of Android's own classes, the compiler takes nothing but a Parcelable.
        """
        if kotlin_type.name.startswith("android."):
            return "parcelable"
        if self._is_elsewhere(kotlin_type):
            raise self._unresolved(kotlin_type, "it may be in another module")
        return "unsupported"

    def _is_elsewhere(self, kotlin_type: KotlinType) -> bool:
        if kotlin_type.kind == "unknown":
            return True
        return (
            kotlin_type.kind == "external"
            and bool(kotlin_type.name)
            and not kotlin_type.name.startswith(_LIBRARIES_WITHOUT_DATA)
        )

    def _unresolved(self, kotlin_type: KotlinType, reason: str) -> InputError:
        message = f"unresolved reference '{kotlin_type.name}': no file that is read declares it; {reason}"
        return refusal(message, kotlin_type.file, kotlin_type.line, "read the module that declares it too")

    def item_of(self, kotlin_type: KotlinType) -> KotlinType | None:
        """Return the item type of a `List`; None for another type."""
        if kotlin_type.name != LIST:
            return None
        return kotlin_type.arguments[0][0] if kotlin_type.arguments else None

    def is_supported(self, kotlin_type: KotlinType) -> bool:
        """Return whether the compiler takes a type.

        Raises:
            InputError: no file here declares its class.
        """
        item = self.item_of(kotlin_type)
        if item is not None:
            return item.name == "kotlin.String" or self.shape(item) in {
                *("uri", "proxy", "class", "parcelable"),
            }
        return kotlin_type.name != LIST and self.shape(kotlin_type) != "unsupported"

    def check_optional(self, kotlin_type: KotlinType, line: int) -> None:
        """Check that a value with a default may be left out.

        Raises:
            InputError: the compiler has no default of its own for the type.
        """
        if kotlin_type.nullable or kotlin_type.name in _WITH_DEFAULT:
            return
        message = f"type {kotlin_type} cannot be optional"
        raise refusal(message, kotlin_type.file, line, "make it nullable, or remove the default value")

    def check_uri(
        self,
        kotlin_type: KotlinType,
        annotations: tuple[Annotation, ...],
        file: SourceDeclarations,
        owner: ClassDeclaration | None,
    ) -> None:
        """Check that a constraint of addresses is on an address.

        Raises:
            InputError: the constraint is on another type.
        """
        item = self.item_of(kotlin_type)
        annotation = self.annotations.find(annotations, URI_VALUES, file, owner)
        if annotation is not None and URI not in {kotlin_type.name, item.name if item is not None else ""}:
            message = f"@AppFunctionUriValueConstraint can only be applied to {URI}; found {kotlin_type}"
            raise refusal(message, file, annotation.line, "remove it, or make the value a Uri")

    def generic_name(self, kotlin_type: KotlinType) -> str:
        """Return the name of the definition of a class with its type arguments."""
        declaration = kotlin_type.declaration
        name = declaration.jvm_name if declaration is not None else kotlin_type.name
        arguments = ",".join("*" if item is None else str(item) for item, _ in kotlin_type.arguments)
        return f"{name}<{arguments}>" if arguments else name

    def properties(
        self, declaration: ClassDeclaration, arguments: Mapping[str, KotlinType]
    ) -> Iterator[DataProperty]:
        """Yield the properties of a class's primary constructor.

        Raises:
            InputError: the type of one is unknown.
        """
        described = self.annotations.is_described(self.find(declaration, SERIALIZABLE))
        content = kdoc.content_of(declaration.kdoc) if described else ""
        texts = {**kdoc.parameters_of(content), **kdoc.properties_of(content)}
        for parameter in declaration.constructor or ():
            own_kdoc, reference, annotations = self._property_parts(declaration, parameter)
            kotlin_type = arguments.get(reference.name[0]) if len(reference.name) == 1 else None
            if kotlin_type is None:
                kotlin_type = self.types.resolve(
                    reference,
                    declaration.file,
                    declaration,
                    parameters_by_name(declaration.type_parameters),
                )
            text = self.annotations.instruction(annotations, declaration.file, declaration)
            if text is None and described:
                text = kdoc.content_of(own_kdoc).strip() or texts.get(parameter.name)
            yield DataProperty(
                parameter.name,
                kotlin_type,
                not parameter.has_default,
                annotations,
                declaration,
                parameter.line,
                text or None,
            )

    def _property_parts(
        self, declaration: ClassDeclaration, parameter: ParameterDeclaration
    ) -> tuple[str | None, TypeReference, tuple[Annotation, ...]]:
        if parameter.is_property:
            for annotation in parameter.annotations:
                if annotation.target not in {None, "property", "field"} and self._is_library(
                    annotation, declaration
                ):
                    message = (
                        f"@{annotation.target}:{annotation.name[-1]} is not an annotation of the property"
                    )
                    self.reports.not_understood(
                        message, declaration.file, annotation.line, "write it without a target"
                    )
            property_annotations = tuple(
                annotation
                for annotation in parameter.annotations
                if annotation.target in {None, "property", "field"}
            )
            return parameter.kdoc, parameter.type, property_annotations
        declared = declaration.properties[parameter.name]
        return declared.kdoc, declared.type or parameter.type, declared.annotations

    def _is_library(self, annotation: Annotation, declaration: ClassDeclaration) -> bool:
        resolved = self.annotations.resolve(annotation, declaration.file, declaration)
        return resolved is not None and resolved.name.startswith("androidx.appfunctions.")

    def description(self, declaration: ClassDeclaration) -> str | None:
        """Return the description of a class."""
        text = self.annotations.instruction(declaration.annotations, declaration.file, declaration.outer)
        if text is not None:
            return text or None
        if not self.annotations.is_described(self.find(declaration, SERIALIZABLE)):
            return None
        return kdoc.description_of(kdoc.content_of(declaration.kdoc))

    def serializable_supertypes(self, declaration: ClassDeclaration) -> list[ClassDeclaration]:
        """Return the direct supertypes that travel as data themselves."""
        supertypes = [
            supertype.declaration
            for supertype in self.types.supertypes(declaration)
            if supertype.declaration is not None
        ]
        return list(
            dict.fromkeys(
                item
                for item in supertypes
                if self.find(item, SERIALIZABLE) is not None and not self.is_one_of(item)
            )
        )

    def capabilities(self, declaration: ClassDeclaration) -> list[ClassDeclaration]:
        """Return the capability interfaces above a class, without those above serializable supertypes."""
        pending, capabilities, seen = [declaration], dict[ClassDeclaration, None](), {declaration}
        while pending:
            current = pending.pop()
            if current is not declaration and self.find(current, CAPABILITY) is not None:
                capabilities[current] = None
            if current is declaration or self.find(current, SERIALIZABLE) is None:
                above = [supertype.declaration for supertype in self.types.supertypes(current)]
                for item in above:
                    if item is not None and item not in seen:
                        seen.add(item)
                        pending.append(item)
        return list(capabilities)

    def alternatives(self, declaration: ClassDeclaration) -> list[ClassDeclaration]:
        """Return the classes that a sealed or non-sealed one-of represents.

        Raises:
            InputError: a class cannot be an alternative.
        """
        if "sealed" in declaration.modifiers:
            subclasses = list(self.types.index.subclasses(declaration))
            for item in subclasses:
                if "sealed" in item.modifiers:
                    message = f"nested sealed classes are not allowed: {item.simple_jvm_name} is sealed"
                    raise refusal(message, item.file, item.line, "make it a class with properties")
            return subclasses
        annotation = self.find(declaration, ONE_OF)
        listed = self.annotations.optional(annotation, "matchOneOf", list) if annotation is not None else None
        classes: list[ClassDeclaration] = []
        for value in listed or ():
            meaning = (
                self.types.index.find(value.name, declaration.file, declaration)
                if isinstance(value, ClassValue)
                else None
            )
            if not isinstance(meaning, ClassDeclaration):
                message = (
                    f"matchOneOf of {declaration.simple_jvm_name} names a class that no file here declares"
                )
                self.reports.not_understood(
                    message, declaration.file, declaration.line, "read the module that declares it too"
                )
            elif declaration not in (item.declaration for item in self.types.above(meaning)):
                message = f"{meaning.simple_jvm_name} is not a subclass of {declaration.simple_jvm_name}"
                raise refusal(message, meaning.file, meaning.line, "remove it from matchOneOf")
            else:
                classes.append(meaning)
        return classes

    def check(
        self,
        declaration: ClassDeclaration,
        arguments: Mapping[str, KotlinType],
        depth: int = 0,
    ) -> None:
        """Check what the compiler requires of a class that travels as data, with its type arguments.

        Raises:
            InputError: the compiler refuses the class too.
        """
        if depth > MAX_LINKS:
            message = f"more than {MAX_LINKS} classes are above each other"
            raise BudgetError(message, place=str(declaration.file.place(declaration.line)))
        key = declaration, ",".join(map(str, arguments.values()))
        if key not in self.checked:
            self.checked[key] = None
            try:
                self._check(declaration, arguments, depth)
            except InputError as error:
                self.checked[key] = error
        problem = self.checked[key]
        if problem is not None:
            raise problem

    def _check(self, declaration: ClassDeclaration, arguments: Mapping[str, KotlinType], depth: int) -> None:
        name, file = declaration.simple_jvm_name, declaration.file
        if self.find(declaration, SERIALIZABLE) is None:
            message = f"{name} cannot be represented as an app function serializable: it is not annotated"
            raise refusal(message, file, declaration.line, f"annotate {name} with @AppFunctionSerializable")
        if self.is_one_of(declaration):
            for alternative in self.alternatives(declaration):
                self.check(alternative, {}, depth + 1)
            return
        self._check_constructor(declaration)
        self._check_properties(declaration, arguments, depth)

    def _check_constructor(self, declaration: ClassDeclaration) -> None:
        name, file = declaration.simple_jvm_name, declaration.file
        has_primary = declaration.constructor is not None or not declaration.has_secondary_constructor
        if declaration.kind != "class" or "enum" in declaration.modifiers or not has_primary:
            message = f"an @AppFunctionSerializable must have a primary constructor: {name}"
            raise refusal(message, file, declaration.line, "make it a class with properties")
        if declaration.constructor_modifiers & {"private", "protected", "internal"}:
            message = f"an @AppFunctionSerializable must have a public primary constructor: {name}"
            raise refusal(message, file, declaration.line, "make the constructor public")
        for parameter in declaration.constructor or ():
            if not parameter.is_property and parameter.name not in declaration.properties:
                message = f"all parameters of the primary constructor must have getters: {parameter.name}"
                raise refusal(message, file, parameter.line, f"write val {parameter.name}")

    def _check_properties(
        self, declaration: ClassDeclaration, arguments: Mapping[str, KotlinType], depth: int
    ) -> None:
        name, file = declaration.simple_jvm_name, declaration.file
        properties = {property_.name: property_ for property_ in self.properties(declaration, arguments)}
        for above in self.serializable_supertypes(declaration):
            self.check(above, {}, depth + 1)
            for parameter in above.constructor or ():
                if properties.get(parameter.name) is None:
                    message = (
                        "all parameters of @AppFunctionSerializable supertypes must be present in the "
                        f"subtype: {name} has no {parameter.name}"
                    )
                    raise refusal(message, file, declaration.line, f"add override val {parameter.name}")
        for capability in self.capabilities(declaration):
            for inherited in capability.properties:
                if properties.get(inherited) is None:
                    message = (
                        "all properties of @AppFunctionSchemaCapability supertypes must be present in the "
                        f"subtype: {name} has no {inherited}"
                    )
                    raise refusal(message, file, declaration.line, f"add override val {inherited}")
        for property_ in properties.values():
            self.check_property(property_)

    def check_property(self, data_property: DataProperty) -> None:
        """Check the type of a property.

        Raises:
            InputError: the compiler refuses it too.
        """
        if data_property.type.kind == "parameter":
            return
        if not self.is_supported(data_property.type):
            message = (
                "properties of an @AppFunctionSerializable must be of a supported type; "
                f"{data_property.name} is {data_property.type}"
            )
            raise refusal(message, data_property.owner.file, data_property.line, f"use {SUPPORTED}")
        if not data_property.required:
            self.check_optional(data_property.type, data_property.line)
        self.check_uri(
            data_property.type, data_property.annotations, data_property.owner.file, data_property.owner
        )

    def check_proxy(self, declaration: ClassDeclaration, marker: FoundAnnotation) -> None:
        """Check a class that represents one of a library.

        Raises:
            InputError: it does not convert both ways.
        """
        target = self._target_of(marker).rpartition(".")[2]
        file = declaration.file
        if sum(function.name == f"to{target}" for function in declaration.functions) != 1:
            message = f"the class must have exactly one member function: to{target}"
            raise refusal(message, file, declaration.line, f"add fun to{target}(): {target}")
        below = [function for companion in declaration.companions for function in companion.functions]
        if sum(item.name == f"from{target}" for item in below) != 1:
            message = f"the companion object must have exactly one member function: from{target}"
            raise refusal(message, file, declaration.line, f"add fun from{target}(value: {target})")

    def _target_of(self, marker: FoundAnnotation) -> str:
        value = self.annotations.required(marker, "targetClass", ClassValue)
        meaning = self.types.index.find(value.name, marker.file, marker.owner)
        if isinstance(meaning, External):
            return meaning.name
        return meaning.qualified_name if isinstance(meaning, ClassDeclaration) else ".".join(value.name)

    def proxy_of(self, name: str) -> ClassDeclaration | None:
        """Return the class that represents one of a library."""
        if self.proxies is None:
            self.proxies = {}
            for file in self.types.index.files_of(_PROXY_PACKAGE):
                for declaration in file.all_classes():
                    proxy_annotation = self.find(declaration, SERIALIZABLE_PROXY)
                    if proxy_annotation is not None:
                        self.proxies.setdefault(self._target_of(proxy_annotation), declaration)
        return self.proxies.get(name)

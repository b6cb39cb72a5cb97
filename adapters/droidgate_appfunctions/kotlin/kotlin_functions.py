"""Annotated functions as capabilities, and what Jetpack's compiler requires of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from droidgate_appfunctions.format import FORMAT_ID
from droidgate_appfunctions.kotlin import kdoc
from droidgate_appfunctions.kotlin.annotations import (
    ACCESS_LEVEL,
    DEPRECATED,
    FUNCTION,
    SCHEMA,
    SIGNATURE,
    Annotations,
    FoundAnnotation,
)
from droidgate_appfunctions.kotlin.data_types import Site, TypeBuilder
from droidgate_appfunctions.kotlin.declarations import (
    ClassDeclaration,
    FunctionDeclaration,
    ParameterDeclaration,
    TypeReference,
)
from droidgate_appfunctions.kotlin.kotlin_findings import Reports, refusal
from droidgate_appfunctions.kotlin.kotlin_types import KotlinType, escaped, parameters_by_name
from droidgate_appfunctions.kotlin.serializables import SUPPORTED, Serializables
from droidgate_appfunctions.read_document import with_description
from droidgate_mappings.model.capability import Capability, CapabilityAccess
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.model.types import AnyType, ObjectType, Property, ScalarType, Type, as_extensions
from droidgate_mappings.records import dataclass

CONTEXT: Final = "androidx.appfunctions.AppFunctionContext"
_ACCESS_LEVELS: Final = frozenset({"self", "system", "androidTrusted"})
_ANY: Final = "kotlin.Any"
_NO_SERVICES: Final = ("kotlin.", "java.")
"""Packages without a supertype of a service, except for `kotlin.Any`."""
_SCOPES: Final = {"global": None, "activity": "activity", 0: None, 1: "activity"}


@dataclass(frozen=True, slots=True)
class ReadFunction:
    """A capability, and the definitions that it refers to."""

    capability: Capability
    definitions: dict[str, Type]


@dataclass(slots=True, eq=False)
class Functions:
    """Reader of functions."""

    classes: Serializables
    annotations: Annotations
    reports: Reports

    def marked(self, function: FunctionDeclaration) -> FoundAnnotation | None:
        """Return the annotation that makes a function an app function."""
        return self.annotations.find(function.annotations, FUNCTION, function.file, function.owner)

    def read(self, function: FunctionDeclaration, mark: FoundAnnotation, *, in_service: bool) -> ReadFunction:
        """Read an annotated function of a class.

        Raises:
            InputError: the compiler refuses the function too.
        """
        if function.owner is None:
            message = f"a function outside of a class cannot be an app function: {function.name}"
            raise refusal(message, function.file, function.line, "move it into a class")
        self._check_callable(function, function.owner, in_service=in_service)
        if not in_service:
            self._check_context(function)
        enabled = True
        if "isEnabled" in mark.arguments:
            enabled = self.annotations.required(mark, "isEnabled", bool)
        level, facts = self._access(function)
        facts = {**self._schema(function), **facts, **self._deprecation(function)}
        access = CapabilityAccess(enabled_by_default=enabled, access_level=level)
        return self._function(function, self.annotations.is_described(mark), access, facts)

    def read_signature(self, declaration: ClassDeclaration, mark: FoundAnnotation) -> ReadFunction:
        """Read a functional interface that declares a function of the application.

        Raises:
            InputError: the compiler refuses it too.
        """
        functions = [function for function in declaration.functions if function.is_abstract]
        if declaration.kind != "interface" or "fun" not in declaration.modifiers or len(functions) != 1:
            message = f"only a functional interface can have @AppFunctionSignature: {declaration.name}"
            hint = "write fun interface, with one abstract function"
            raise refusal(message, declaration.file, declaration.line, hint)
        scope = self.annotations.required(mark, "scope", (str, int))
        if scope not in _SCOPES:
            message = f'invalid scope: "{scope}"; the supported scopes are "global" and "activity"'
            hint = "write AppFunctionMetadata.SCOPE_GLOBAL or SCOPE_ACTIVITY"
            raise refusal(message, declaration.file, mark.line, hint)
        if functions[0].receiver is not None:
            message = f"{functions[0].name} is an extension function; its receiver is left out"
            hint = "write the receiver as a parameter"
            self.reports.not_understood(message, declaration.file, functions[0].line, hint)
        level, facts = self._access(functions[0], declaration)
        access = CapabilityAccess(scope=_SCOPES[scope], access_level=level)
        return self._function(functions[0], self.annotations.is_described(mark), access, facts)

    def _function(
        self,
        function: FunctionDeclaration,
        described: bool,  # noqa: FBT001 - from the annotation
        access: CapabilityAccess,
        facts: dict[str, Json],
    ) -> ReadFunction:
        content = kdoc.content_of(function.kdoc) if described else ""
        builder = TypeBuilder(self.classes)
        texts = kdoc.parameters_of(content)
        parameters = [
            (parameter, self._parameter_type(parameter, function)) for parameter in function.parameters
        ]
        used = [(item, kotlin_type) for item, kotlin_type in parameters if kotlin_type.name != CONTEXT]
        for item, kotlin_type in used:
            self._check_parameter(item, kotlin_type, function)
        properties: dict[str, Property] = {}
        for item, kotlin_type in used:
            properties[item.name] = self._parameter(item, kotlin_type, function, builder, texts)
        text = self.annotations.instruction(function.annotations, function.file, function.owner)
        output = self._output(function, builder, content)
        capability = Capability(
            id=self.identifier(function),
            description=text or None if text is not None else kdoc.description_of(content),
            input=ObjectType(properties=properties),
            output=output,
            access=access,
            source=function.file.place(function.line),
            extensions=as_extensions(FORMAT_ID, facts),
        )
        return ReadFunction(capability, builder.definitions)

    def identifier(self, function: FunctionDeclaration) -> str:
        """Return the id that the compiler gives to a function: its class, a hash sign, its name."""
        owner = function.owner
        names = (*function.file.package, *(owner.path if owner is not None else ()))
        return f"{'.'.join(map(escaped, names))}#{function.name}"

    def _resolve(self, kotlin_type: TypeReference, function: FunctionDeclaration) -> KotlinType:
        owner = function.owner
        type_parameters = parameters_by_name(
            owner.type_parameters if owner is not None else (), function.type_parameters
        )
        return self.classes.types.resolve(kotlin_type, function.file, owner, type_parameters)

    def _parameter_type(self, parameter: ParameterDeclaration, function: FunctionDeclaration) -> KotlinType:
        kotlin_type = self._resolve(parameter.type, function)
        if kotlin_type.kind != "parameter":
            return kotlin_type
        if kotlin_type.bound is None:
            message = f"the type parameter {kotlin_type.name} has no bound"
            raise refusal(message, function.file, parameter.line, "name a class")
        return kotlin_type.bound

    def _check_callable(
        self, function: FunctionDeclaration, owner: ClassDeclaration, *, in_service: bool
    ) -> None:
        """Refuse what the compiler describes but the code that it generates cannot call.

        That code is a subclass of an entry point, and for other functions a class in a file of its own.
        """
        hidden = {"private"} if in_service else {"private", "protected"}
        words = sorted(function.modifiers & hidden)
        if words:
            message = f"a {words[0]} function cannot be an app function: {function.name}"
            hint = f"remove {words[0]}; code that the compiler generates calls it"
            raise refusal(message, function.file, function.line, hint)
        if "context" in function.modifiers:
            message = f"a function with context parameters cannot be an app function: {function.name}"
            raise refusal(message, function.file, function.line, "write them as parameters")
        if in_service and function.is_abstract:
            message = f"an abstract function of an entry point cannot be an app function: {function.name}"
            raise refusal(message, function.file, function.line, "write its body; the compiler does not")
        around: ClassDeclaration | None = owner
        while around is not None:
            words = sorted(around.modifiers & {"private", "protected"})
            if words:
                message = f"{function.name} is in a {words[0]} class, so it cannot be an app function"
                hint = f"remove {words[0]} from {around.name}; code that the compiler generates uses it"
                raise refusal(message, function.file, function.line, hint)
            around = around.outer
        if function.receiver is not None:
            self._check_receiver(function, owner, function.receiver, in_service=in_service)

    def _check_receiver(
        self,
        function: FunctionDeclaration,
        owner: ClassDeclaration,
        reference: TypeReference,
        *,
        in_service: bool,
    ) -> None:
        """Refuse an extension function whose receiver is not the service that it is in."""
        receiver = self._resolve(reference, function)
        above = {item.name for item in self.classes.types.above(owner)}
        if in_service and receiver.name in {owner.qualified_name, _ANY, *above}:
            return
        if in_service and receiver.declaration is None and not receiver.name.startswith(_NO_SERVICES):
            message = f"{function.name} is read as if {owner.name} were its receiver, {receiver}"
            hint = "write the receiver as a parameter"
            self.reports.not_understood(message, function.file, function.line, hint, lost=False)
            return
        message = f"an extension function cannot be an app function: {function.name}"
        raise refusal(message, function.file, function.line, f"write {receiver} as a parameter")

    def _check_context(self, function: FunctionDeclaration) -> None:
        first = self._resolve(function.parameters[0].type, function) if function.parameters else None
        if first is None or first.name != CONTEXT:
            message = f"the first parameter of an app function must be {CONTEXT}"
            hint = f"write fun {function.name}(appFunctionContext: AppFunctionContext, ...)"
            raise refusal(message, function.file, function.line, hint)

    def _check_parameter(
        self, parameter: ParameterDeclaration, kotlin_type: KotlinType, function: FunctionDeclaration
    ) -> None:
        if parameter.is_vararg or not self.classes.is_supported(kotlin_type):
            stated_type = f"vararg {kotlin_type}" if parameter.is_vararg else str(kotlin_type)
            message = (
                "app function parameters must be a supported type, or a type annotated as "
                f"@AppFunctionSerializable; {parameter.name} is {stated_type}"
            )
            raise refusal(message, function.file, parameter.line, f"use {SUPPORTED}")
        if parameter.has_default:
            self.classes.check_optional(kotlin_type, parameter.line)
        self.classes.check_uri(kotlin_type, parameter.annotations, function.file, function.owner)

    def _parameter(
        self,
        parameter: ParameterDeclaration,
        kotlin_type: KotlinType,
        function: FunctionDeclaration,
        builder: TypeBuilder,
        texts: dict[str, str],
    ) -> Property:
        site = Site(parameter.annotations, function.file, function.owner)
        text = self.annotations.instruction(parameter.annotations, function.file, function.owner)
        built = builder.build(kotlin_type, site)
        if text is None:
            text = texts.get(parameter.name)
        position = function.parameters.index(parameter)
        optional = parameter.has_default or any(
            item.parameters[position].has_default
            for item in self._overridden(function)
            if position < len(item.parameters)
        )
        return Property(type=with_description(built, text or None), required=not optional)

    def _output(self, function: FunctionDeclaration, builder: TypeBuilder, content: str) -> Type | None:
        reference = function.return_type
        text = None
        if reference is not None:
            text = self.annotations.instruction(reference.annotations, function.file, function.owner)
        if text is None:
            text = kdoc.response_of(content)
        if reference is None and function.is_expression:
            message = f"the return type of {function.name} is not written; its output is read as any value"
            hint = "write the return type after the parameters"
            self.reports.not_understood(message, function.file, function.line, hint)
            return AnyType(description=text or None)
        site = Site(function.annotations, function.file, function.owner)
        if reference is None:
            built: Type = ScalarType(kind="null")
        else:
            built = builder.build(self._resolve(reference, function), site)
        return with_description(built, text or None)

    def _access(
        self, function: FunctionDeclaration, around: ClassDeclaration | None = None
    ) -> tuple[str | None, dict[str, Json]]:
        annotation = self.annotations.find(function.annotations, ACCESS_LEVEL, function.file, function.owner)
        if annotation is None and around is not None:
            annotation = self.annotations.find(around.annotations, ACCESS_LEVEL, around.file, around.outer)
        if annotation is None:
            return None, {}
        level = self.annotations.required(annotation, "level", (str, int))
        if level not in _ACCESS_LEVELS:
            message = f"unsupported access level: {level}"
            hint = "write AppFunctionMetadata.ACCESS_LEVEL_SELF, _SYSTEM or _ANDROID_TRUSTED"
            raise refusal(message, annotation.file, annotation.line, hint)
        enforced = self.annotations.required(annotation, "isCompatEnforcementEnabled", bool)
        return level, {"isCompatEnforcementEnabled": enforced}

    def _deprecation(self, function: FunctionDeclaration) -> dict[str, Json]:
        annotation = self.annotations.find(function.annotations, DEPRECATED, function.file, function.owner)
        if annotation is None:
            return {}
        message = self.annotations.optional(annotation, "message", str)
        return {} if message is None else {"deprecation": message}

    def _schema(self, function: FunctionDeclaration) -> dict[str, Json]:
        owners = [function.owner, *(item.owner for item in self._overridden(function))]
        for owner in owners:
            annotation = self.classes.find(owner, SCHEMA) if owner is not None else None
            if annotation is None:
                continue
            category = self.annotations.optional(annotation, "category", str)
            name = self.annotations.optional(annotation, "name", str)
            version = self.annotations.optional(annotation, "version", int)
            if category is None or name is None or version is None:
                return {}
            return {"schemaCategory": category, "schemaName": name, "schemaVersion": version}
        return {}

    def _overridden(self, function: FunctionDeclaration) -> Iterator[FunctionDeclaration]:
        """Yield the functions above that a function overrides, near ones first."""
        if "override" not in function.modifiers or function.owner is None:
            return
        for supertype in self.classes.types.above(function.owner):
            if supertype.declaration is None:
                if not supertype.name.startswith(("kotlin.", "java.", "android.")):
                    message = (
                        f"{supertype.name} is not among the sources; a schema and default values that "
                        f"{function.name} inherits are left out"
                    )
                    hint = "read the module that declares it too"
                    self.reports.not_understood(message, function.file, function.line, hint)
                continue
            same = [
                inherited
                for inherited in supertype.declaration.functions
                if inherited.name == function.name and len(inherited.parameters) == len(function.parameters)
            ]
            if len(same) > 1:
                written = [parameter.type.text for parameter in function.parameters]
                same = [
                    item for item in same if [each.type.text for each in item.parameters] == written
                ] or same
            yield from same[:1]


def is_signature(annotations: Annotations, declaration: ClassDeclaration) -> FoundAnnotation | None:
    """Return the annotation that makes an interface a function of the application."""
    return annotations.find(declaration.annotations, SIGNATURE, declaration.file, declaration.outer)


def check_unique(functions: list[FunctionDeclaration]) -> Iterator[InputError]:
    """Yield an error for each function with the name of an earlier one of its class."""
    seen: set[str] = set()
    for function in functions:
        if function.name in seen:
            message = f"duplicate app function {function.name!r}"
            yield refusal(message, function.file, function.line, "rename one of them")
        seen.add(function.name)

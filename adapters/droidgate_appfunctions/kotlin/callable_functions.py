"""The functions behind app functions, as other code of the app would call them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from droidgate_appfunctions.kotlin.annotations import ENTRY_POINT, Annotations
from droidgate_appfunctions.kotlin.declarations import ClassDeclaration, FunctionDeclaration, TypeReference
from droidgate_appfunctions.kotlin.expressions import Constants
from droidgate_appfunctions.kotlin.index import Index
from droidgate_appfunctions.kotlin.kotlin_findings import Reports
from droidgate_appfunctions.kotlin.kotlin_functions import CONTEXT, Functions, ReadFunction
from droidgate_appfunctions.kotlin.kotlin_types import TypeResolver, parameters_by_name
from droidgate_appfunctions.kotlin.serializables import Serializables
from droidgate_mappings.formats.format import ExistingFunction, FunctionParameter, SourceFile
from droidgate_mappings.formats.leniency import ReadingContext
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.model.types import ObjectType

_ANDROID_CONTEXT: Final = "android.content.Context"
_WITHOUT_PROPERTIES: Final = ("java.", "android.")
_LITERAL: Final = re.compile(r'null|true|false|-?\d++(?:L|(?:\.\d++)?[fF]?)|"[^"\\$\n]*+"')


def find_functions(
    files: Sequence[SourceFile], libraries: Sequence[SourceFile]
) -> Mapping[str, ExistingFunction]:
    """Return the annotated functions of files, by the ids that Jetpack's compiler gives them.

    Args:
        files: The Kotlin files that declare them.
        libraries: Further Kotlin files of the app, for their types only.
    """
    index = Index.of(files, libraries)
    reports = Reports(ReadingContext())
    annotations = Annotations(index, reports, Constants(index))
    classes = Serializables(TypeResolver(index, reports), annotations, reports)
    functions = Functions(classes, annotations, reports)
    return {
        function.capability.id: function
        for file in index.parse(files)
        for owner in file.all_classes()
        for function in _functions_of(owner, functions, index)
    }


def _functions_of(owner: ClassDeclaration, functions: Functions, index: Index) -> Iterator[ExistingFunction]:
    for function in owner.functions:
        try:
            mark = functions.marked(function)
            if mark is None:
                continue
            is_service = functions.classes.find(owner, ENTRY_POINT) is not None
            read = functions.read(function, mark, in_service=is_service)
            yield _describe_kotlin_function(owner, function, read, functions, index, is_service=is_service)
        except InputError:
            continue  # what cannot be read is reported where the source is read


def _describe_kotlin_function(
    owner: ClassDeclaration,
    function: FunctionDeclaration,
    read: ReadFunction,
    functions: Functions,
    index: Index,
    *,
    is_service: bool,
) -> ExistingFunction:
    """Return the function with every reason why other code cannot call it."""

    def class_of(reference: TypeReference) -> str:
        names = parameters_by_name(owner.type_parameters, function.type_parameters)
        return functions.classes.types.resolve(reference, owner.file, owner, names).name

    takes_context = [class_of(item.type) for item in owner.constructor or ()] == [_ANDROID_CONTEXT]
    around: ClassDeclaration | None = owner
    is_internal = "internal" in function.modifiers
    while around is not None:
        is_internal |= "internal" in around.modifiers
        around = around.outer
    return ExistingFunction(
        owner=owner.qualified_name,
        name=function.name,
        capability=read.capability,
        definitions=read.definitions,
        parameters=tuple(_parameters(function, read, class_of)),
        instance="object" if owner.kind == "object" else "context" if takes_context else "class",
        is_suspend="suspend" in function.modifiers,
        visibility="internal" if is_internal else "public",
        data_classes=frozenset(name for name in read.definitions if _is_declared(name, index)),
        missing=tuple(
            _obstacles_to_calling(owner, function, is_service=is_service, takes_context=takes_context)
        ),
    )


def _obstacles_to_calling(
    owner: ClassDeclaration, function: FunctionDeclaration, *, is_service: bool, takes_context: bool
) -> Iterator[str]:
    """Yield why other code cannot call a function."""
    if is_service:
        yield f"{owner.name} is a service, which only Android makes; move the work into another class"
    elif owner.kind in {"class", "interface"}:
        if owner.kind == "interface" or owner.modifiers & {"abstract", "sealed"}:
            yield f"{owner.name} is abstract"
        if "inner" in owner.modifiers:
            yield f"{owner.name} is an inner class"
        needed = [item for item in owner.constructor or () if not item.has_default]
        if needed and not takes_context:
            listed = ", ".join(f"{item.name} ({item.type.text})" for item in needed)
            yield f"the constructor of {owner.name} takes {listed}"
        if owner.constructor_modifiers & {"private", "protected"}:
            yield f"the constructor of {owner.name} is not public"
        if owner.constructor is None and owner.has_secondary_constructor:
            yield f"{owner.name} has several constructors"
    if owner.type_parameters or function.type_parameters:
        yield f"{function.name} has type parameters"
    if function.receiver is not None:
        yield f"{function.name} is an extension function"
    if owner.kind == "companion":
        yield f"{function.name} is in a companion object"


def _parameters(
    function: FunctionDeclaration, read: ReadFunction, class_of: Callable[[TypeReference], str]
) -> Iterator[FunctionParameter]:
    declared = read.capability.input
    properties = declared.properties if isinstance(declared, ObjectType) else {}
    for parameter in function.parameters:
        if class_of(parameter.type) == CONTEXT:
            yield FunctionParameter(parameter.name, "holder", class_name=CONTEXT)
            continue
        is_optional = not properties[parameter.name].required
        literal = parameter.default if _LITERAL.fullmatch(parameter.default or "") else None
        yield FunctionParameter(
            parameter.name, default=literal, has_other_default=is_optional and literal is None
        )


def _is_declared(name: str, index: Index) -> bool:
    """Return whether a definition's class is one whose properties Kotlin and Java code can read."""
    if "<" in name or name.startswith(_WITHOUT_PROPERTIES):
        return False
    return isinstance(index.find_qualified(tuple(re.split(r"[.$]", name))), ClassDeclaration)

"""The annotations of androidx.appfunctions on a declaration, whatever name a file has for them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from droidgate_appfunctions.kotlin.declarations import Annotation, ClassDeclaration, SourceDeclarations
from droidgate_appfunctions.kotlin.expressions import (
    CallValue,
    Constants,
    NotConstantError,
    bound_arguments,
)
from droidgate_appfunctions.kotlin.index import External, Index, Unresolved
from droidgate_appfunctions.kotlin.kotlin_findings import Reports, refusal
from droidgate_appfunctions.kotlin.kotlin_tokens import Expression
from droidgate_mappings.formats.leniency import DECLARATION_UNREAD
from droidgate_mappings.records import dataclass, field

_PACKAGE: Final = "androidx.appfunctions"
FUNCTION: Final = frozenset(
    {f"{_PACKAGE}.AppFunction", f"{_PACKAGE}.AppFunctionDeclaration", f"{_PACKAGE}.service.AppFunction"}
)
ENTRY_POINT: Final = frozenset(
    {f"{_PACKAGE}.AppFunctionServiceEntryPoint", f"{_PACKAGE}.service.AppFunctionEntryPoint"}
)
_NOUNS: Final = {str: "a text", bool: "true or false", int: "a whole number", list: "a list"}
SIGNATURE: Final = frozenset({f"{_PACKAGE}.AppFunctionSignature"})
ACCESS_LEVEL: Final = frozenset({f"{_PACKAGE}.AppFunctionAccessLevel"})
SERIALIZABLE: Final = frozenset({f"{_PACKAGE}.AppFunctionSerializable"})
SERIALIZABLE_INTERFACE: Final = frozenset({f"{_PACKAGE}.AppFunctionSerializableInterface"})
SERIALIZABLE_PROXY: Final = frozenset({f"{_PACKAGE}.AppFunctionSerializableProxy"})
SCHEMA: Final = frozenset({f"{_PACKAGE}.AppFunctionSchemaDefinition"})
CAPABILITY: Final = frozenset({f"{_PACKAGE}.AppFunctionSchemaCapability"})
ONE_OF: Final = frozenset({f"{_PACKAGE}.AppFunctionOneOfType"})
INSTRUCTION: Final = frozenset({f"{_PACKAGE}.AppFunctionInstruction"})
INT_VALUES: Final = frozenset({f"{_PACKAGE}.AppFunctionIntValueConstraint"})
STRING_VALUES: Final = frozenset({f"{_PACKAGE}.AppFunctionStringValueConstraint"})
URI_VALUES: Final = frozenset({f"{_PACKAGE}.AppFunctionUriValueConstraint"})
DEPRECATED: Final = frozenset({"kotlin.Deprecated"})
ANDROID_ENTRY_POINT: Final = frozenset({"dagger.hilt.android.AndroidEntryPoint"})

_OTHER_NAMES: Final = {"isDescribedByKdoc": "isDescribedByKDoc"}
_PARAMETERS_OF_OTHERS: Final = {"kotlin.Deprecated": ("message", "replaceWith", "level")}


@dataclass(frozen=True, slots=True, eq=False)
class FoundAnnotation:
    """An annotation whose class is known, with its arguments by name."""

    annotation: Annotation
    name: str
    file: SourceDeclarations
    owner: ClassDeclaration | None
    arguments: Mapping[str, Expression]

    @property
    def line(self) -> int:
        """The 1-based line of the annotation."""
        return self.annotation.line


@dataclass(slots=True, eq=False)
class Annotations:
    """Finds annotations by their class, and reads their arguments."""

    index: Index
    reports: Reports
    constants: Constants
    cache: dict[int, FoundAnnotation | None] = field(default_factory=dict)

    def find(
        self,
        annotations: Iterable[Annotation],
        names: frozenset[str],
        file: SourceDeclarations,
        owner: ClassDeclaration | None,
    ) -> FoundAnnotation | None:
        """Return the annotation of one of the given classes, None without one."""
        for annotation in annotations:
            resolved = self.resolve(annotation, file, owner)
            if resolved is not None and resolved.name in names:
                return resolved
        return None

    def resolve(
        self, annotation: Annotation, file: SourceDeclarations, owner: ClassDeclaration | None
    ) -> FoundAnnotation | None:
        """Return an annotation with its class; None for one that no file here declares or imports.

        Raises:
            InputError: it has the name of one of the library's, and no import.
        """
        key = id(annotation)
        if key not in self.cache:
            self.cache[key] = self._resolve(annotation, file, owner)
        return self.cache[key]

    def _resolve(
        self, annotation: Annotation, file: SourceDeclarations, owner: ClassDeclaration | None
    ) -> FoundAnnotation | None:
        meaning = self.index.find(annotation.name, file, owner)
        if isinstance(meaning, Unresolved):
            if annotation.name[-1].startswith("AppFunction") and not meaning.elsewhere:
                message = f"unresolved reference '{'.'.join(annotation.name)}'"
                raise refusal(message, file, annotation.line, "import it from androidx.appfunctions")
            return None
        names: tuple[str, ...] = ()
        if isinstance(meaning, External):
            name = meaning.name
            names = _PARAMETERS_OF_OTHERS.get(name, ("value",))
            if name.startswith(f"{_PACKAGE}."):
                message = f"@{annotation.name[-1]} of {_PACKAGE} is not known"
                hint = "build the app to see its effect"
                self.reports.not_understood(message, file, annotation.line, hint, code=DECLARATION_UNREAD)
                return None
        elif isinstance(meaning, ClassDeclaration):
            name = meaning.qualified_name
            names = tuple(item.name for item in meaning.constructor or ())
        else:
            return None
        bound, others = bound_arguments(
            tuple((_OTHER_NAMES.get(key, key) if key else None, node) for key, node in annotation.arguments),
            names,
        )
        resolved = FoundAnnotation(annotation, name, file, owner, bound)
        if name.startswith(f"{_PACKAGE}.") and (others or not bound.keys() <= set(names)):
            unknown = sorted(bound.keys() - set(names))
            words = ", ".join(unknown) or "too many"
            message = f"@{annotation.name[-1]} has an argument that is not known: {words}"
            self.reports.not_understood(message, file, annotation.line, "name the arguments")
        return resolved

    def value(self, marker: FoundAnnotation, argument: str) -> Any:
        """Return the value of an argument, None without it.

        Raises:
            NotConstantError: it is not a constant of the sources.
        """
        node = marker.arguments.get(argument)
        return None if node is None else self.constants.value(node, marker.file, marker.owner)

    def required(self, marker: FoundAnnotation, argument: str, kind: type | tuple[type, ...]) -> Any:
        """Return the value of an argument that decides who may call what.

        Raises:
            InputError: it is missing, of another type, or not a constant of the sources.
        """
        name = marker.annotation.name[-1]
        try:
            value = self.value(marker, argument)
        except NotConstantError as error:
            message = f"{argument} of @{name} is not a constant that the sources give: {error.text}"
            raise refusal(message, marker.file, error.line, "write a literal or a const val") from None
        if isinstance(value, kind):
            return value
        message = f"@{name} has no {argument}"
        if value is not None:
            message = f"{argument} of @{name} is not {_noun(kind)}"
        raise refusal(message, marker.file, marker.line, f"write {_noun(kind)}, as a literal or a const val")

    def optional(self, marker: FoundAnnotation, argument: str, kind: type) -> Any:
        """Return the value of an argument; None, reported, where the sources do not give it."""
        try:
            value = self.value(marker, argument)
        except NotConstantError as error:
            message = (
                f"{argument} of @{marker.annotation.name[-1]} is left out: {error.text} is not a constant"
            )
            self.reports.not_understood(message, marker.file, error.line, "write a literal or a const val")
            return None
        if value is None or isinstance(value, kind):
            return value
        message = f"{argument} of @{marker.annotation.name[-1]} is left out: it is not {_noun(kind)}"
        hint = f"write {_noun(kind)}, as a literal or a const val"
        self.reports.not_understood(message, marker.file, marker.line, hint)
        return None

    def call_arguments(
        self, call: CallValue, names: Sequence[str], marker: FoundAnnotation
    ) -> Mapping[str, Any] | None:
        """Return the values of the arguments of an annotation inside another annotation.

        None where one is not a constant.
        """
        bound, others = bound_arguments(call.arguments, tuple(names))
        if others:
            return None
        try:
            return {key: self.constants.value(node, marker.file, marker.owner) for key, node in bound.items()}
        except NotConstantError:
            return None

    def instruction(
        self, annotations: Iterable[Annotation], file: SourceDeclarations, owner: ClassDeclaration | None
    ) -> str | None:
        """Return the text of @AppFunctionInstruction."""
        annotation = self.find(annotations, INSTRUCTION, file, owner)
        if annotation is None:
            return None
        text: str | None = self.optional(annotation, "instruction", str)
        return text

    def is_described(self, marker: FoundAnnotation | None) -> bool:
        """Return whether an annotation says that KDoc is the description."""
        return marker is not None and self.optional(marker, "isDescribedByKDoc", bool) is True


def _noun(kind: type | tuple[type, ...]) -> str:
    return _NOUNS.get(kind if isinstance(kind, type) else kind[0], "a class literal")

"""Code that runs app functions: Java on the platform's service with our XML, Kotlin on Jetpack's annotations.

The Kotlin is for androidx.appfunctions 1.0.0-rc01: a class with `@AppFunctionServiceEntryPoint`, one function
with `@AppFunctionDeclaration` for each capability, and a class with `@AppFunctionSerializable` for each
object. Jetpack's compiler makes the service, the functions file and its schema from that, and takes
descriptions from KDoc. Rules: reference appfunctions 1.1, 4 and 5; android-runtime 2.2.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Final

from droidgate_android.handlers.author_class import (
    AuthorClass,
    call_note,
    not_called,
    refusal_note,
    write_author_class,
)
from droidgate_android.handlers.existing_calls import hidden_reasons
from droidgate_android.handlers.java import (
    fill_template,
    java_string,
    line_comment,
    write_shared_classes,
)
from droidgate_android.handlers.kotlin import KOTLIN_TYPES, kotlin_comment, kotlin_string
from droidgate_android.handlers.methods import KOTLIN_WORDS, RESERVED_WORDS, identifiers
from droidgate_android.handlers.places import ClassPlace, place_classes
from droidgate_appfunctions.asset_names import asset_name
from droidgate_appfunctions.format import APP_LEVEL, FORMAT_ID, NAMES, PLATFORM, V1, facts_of
from droidgate_mappings.formats.format import ExistingFunction, HandlerCode, HandlerRequest
from droidgate_mappings.model.capability import Capability, Provider
from droidgate_mappings.model.names import NameRule, map_names
from droidgate_mappings.model.types import (
    AllOfType,
    AnyType,
    ArrayType,
    ObjectType,
    OneOfType,
    OpaqueType,
    Property,
    RefType,
    ScalarType,
    Type,
)
from droidgate_mappings.tables.capacity import NameRuleTable, TypeCapacity
from droidgate_mappings.tables.failure_tokens import load_failure_tokens
from droidgate_mappings.tables.loading import DialectTable

_CLASS_NAME: Final = NameRule(allowed="[A-Za-z0-9_]", first="[A-Za-z]", max_length=100)
_PROPERTY_NAME: Final = NameRuleTable(allowed="[A-Za-z0-9_]", first="[A-Za-z_]", max_length=100)
_INDENT: Final = "    "
_MOST_LEVELS: Final = 128
"""Definitions that combinations are followed through."""
_ARRAYS: Final = {
    "boolean": "BooleanArray",
    "int32": "IntArray",
    "int64": "LongArray",
    "float": "FloatArray",
    "double": "DoubleArray",
}
_GETTERS: Final = {
    "boolean": "getBoolean({})",
    "int32": "getInt({})",
    "int64": "getLong({})",
    "float": "getDouble({}).toFloat()",
    "double": "getDouble({})",
    "string": "getString({})",
}
_fill: Final = partial(fill_template, "droidgate_appfunctions")
_FACTS_IN_KOTLIN: Final = frozenset({
    "deprecation", "functionsFile", "legacyDescription", "metadataAttribute", "metadataAttributes",
    "metadataElements", "metadataNamespace",
})  # fmt: skip
_TEXT: Final = TypeCapacity(written_as="string")


def in_code(dialect: DialectTable, language: str) -> DialectTable:
    """Return a dialect with the capacity of source code from which Jetpack's compiler makes the descriptor.

    Its annotations constrain texts and whole numbers, not the texts of a list, and those of all its releases
    have no pattern. An access level needs an experimental annotation of the latest one.
    """
    capacity = dialect.capacity
    if not _is_compiled(dialect.id, language) or capacity is None:
        return dialect
    lost = {"restrict_callers", "access_level"}
    changes = {
        "as_classes": True,
        "types": {**capacity.types, "string": _TEXT.changed({"constraints": frozenset({"enum", "format"})})},
        "item_types": dict.fromkeys(("string", "bytes", "null", "array"), _TEXT),
        "property_rule": _PROPERTY_NAME,
        "access": capacity.access - lost,
        "access_enforced": capacity.access_enforced - lost,
        "extension_facts": {FORMAT_ID: _FACTS_IN_KOTLIN},
    }
    return dialect.changed({"capacity": capacity.changed(changes)})


def _is_compiled(dialect: str, language: str) -> bool:
    return language == "kotlin" and dialect not in {PLATFORM, V1, APP_LEVEL}


_IMPORTS: Final = {
    "AppFunctionDeclaration": "androidx.appfunctions.AppFunctionDeclaration",
    "AppFunctionIntValueConstraint": "androidx.appfunctions.AppFunctionIntValueConstraint",
    "AppFunctionSerializable": "androidx.appfunctions.AppFunctionSerializable",
    "AppFunctionServiceEntryPoint": "androidx.appfunctions.AppFunctionServiceEntryPoint",
    "AppFunctionStringValueConstraint": "androidx.appfunctions.AppFunctionStringValueConstraint",
}


def write_service(
    provider: Provider, place: ClassPlace, file_name: str, existing: Mapping[str, ExistingFunction]
) -> AuthorClass:
    """Return the file that the app's author fills in.

    Args:
        provider: The provider as written.
        place: Where its classes are; the component's class is made by Jetpack's compiler.
        file_name: Name of the functions file without its ending, as the manifest has it.
        existing: The app's functions, by the ids of the capabilities that they do.
    """
    base = f"Base{place.component}"
    writer = _Writer(provider, {base, place.component}, place.package, existing)
    names = identifiers(capability.id for capability in provider.capabilities)
    functions = [
        line
        for capability in provider.capabilities
        for line in writer.function(capability, names[capability.id])
    ]
    classes = list(writer.classes())
    text = "\n".join([*functions, *classes])
    used = {**_IMPORTS, **writer.platform_classes}
    json = [f"org.json.{name}" for name in ("JSONArray", "JSONObject") if f"{name}(" in text]
    imports = sorted(
        path
        for name, path in used.items()
        if f"@{name}(" in text or name == "AppFunctionServiceEntryPoint" or name in writer.platform_classes
    )
    lines = [
        f"package {place.package}",
        "",
        "import android.annotation.TargetApi",
        *(f"import {import_}" for import_ in [*imports, *json]),
        "",
        "/** The app functions: put the app's work in place of each TODO(). */",
        "@TargetApi(36)",
        "@AppFunctionServiceEntryPoint(",
        f"    serviceName = {kotlin_string(place.component)},",
        f"    appFunctionXmlFileName = {kotlin_string(file_name)},",
        ")",
        f"abstract class {base} : androidx.appfunctions.AppFunctionService() {{",
        *functions,
        "}",
        *classes,
        "",
    ]
    called = len(existing.keys() - writer.refused.keys())
    notes = [call_note(called)] * bool(called)
    if writer.refused:
        notes.append(refusal_note(writer.refused.values()))
    return AuthorClass(
        (place.file(f"{base}.kt", "\n".join(lines), role="skeleton"),),
        tuple(f"{base} {note}" for note in notes),
    )


class _Writer:
    """Writes the types of one provider; each object becomes a class of its own."""

    def __init__(
        self, provider: Provider, taken: set[str], package: str, existing: Mapping[str, ExistingFunction]
    ) -> None:
        self.package = package
        self.existing = existing
        self.refused: dict[str, str] = {}
        self.definitions: Mapping[str, Type] = provider.definitions
        pairs = [(_class_word(name), name) for name in self.definitions]
        self.names = map_names(pairs, _CLASS_NAME)
        self.taken = {*taken, *self.names.values(), *KOTLIN_TYPES.values(), "List"}
        self.taken |= {function.owner.rpartition(".")[2] for function in existing.values()}
        self.inner: list[tuple[str, ObjectType | AllOfType | OneOfType]] = []
        self.platform_classes: dict[str, str] = {}
        self.sealed: dict[str, list[str]] = {}
        self.properties: dict[str, dict[str, Property]] = {}
        for name, definition in self.definitions.items():
            self.note_alternatives(self.names[name], definition)

    def function(self, capability: Capability, identifier: str) -> Iterator[str]:
        """Yield the lines of one function."""
        declared = capability.input if isinstance(capability.input, ObjectType) else ObjectType()
        names = map_names([(name, name) for name in declared.properties], _PROPERTY_NAME.rule())
        tags = [
            (f"param {names[name]}", property_.type.description)
            for name, property_ in declared.properties.items()
            if property_.type.description
        ]
        if capability.output is not None and capability.output.description:
            tags.append(("return", capability.output.description))
        yield ""
        if capability.description or tags:
            yield from kotlin_comment(capability.description or "", _INDENT, tags)
        deprecation = facts_of(capability.extensions).get("deprecation")
        if deprecation is not None:
            yield f"{_INDENT}@Deprecated({kotlin_string(str(deprecation))})"
        disabled = "" if capability.access.enabled_by_default else "isEnabled = false, "
        yield f"{_INDENT}@AppFunctionDeclaration({disabled}isDescribedByKDoc = true)"
        if capability.output is not None:
            yield from _constraint(capability.output, _INDENT)
        yield f"{_INDENT}suspend fun {identifier}("
        for name, property_ in declared.properties.items():
            yield from self.value(names[name], property_, identifier, _INDENT * 2)
        returns = (
            "Unit" if capability.output is None else self.type_of(capability.output, f"{identifier}_result")
        )
        yield f"{_INDENT}){'' if returns == 'Unit' else f': {returns}'} {{"
        yield from (f"{_INDENT * 2}{line}" for line in self.body(capability, names, returns))
        yield f"{_INDENT}}}"

    def body(self, capability: Capability, names: Mapping[str, str], returns: str) -> Iterator[str]:
        """Yield the statements of a function: a call of the app's own, or what that lacks."""
        function = self.existing.get(capability.id)
        if function is not None:
            reasons = [*function.missing, *hidden_reasons(function, "kotlin", self.package)]
            arguments = self.arguments(capability, function, names, reasons)
            result = self.result(capability, function, returns, reasons)
            if not reasons:
                yield from arguments
                yield from result
                return
            refusal = not_called(function, "; ".join(dict.fromkeys(reasons)))
            self.refused[capability.id] = refusal
            yield from (line.strip() for line in line_comment(refusal, _INDENT * 2))
        yield f"TODO({kotlin_string(f'{capability.id} is not implemented yet')})"

    def arguments(
        self,
        capability: Capability,
        function: ExistingFunction,
        names: Mapping[str, str],
        reasons: list[str],
    ) -> list[str]:
        """Return the statement that makes one JSON object of the parameters."""
        declared = capability.input.properties if isinstance(capability.input, ObjectType) else {}
        old_names = {written: name for name, written in function.arguments.items()}
        lines = [f"val {_unused('arguments', names)} = JSONObject()"]
        for name, property_ in declared.items():
            type_, value = property_.type, _in_code(names[name])
            is_list = isinstance(type_, ArrayType)
            items = type_.items if isinstance(type_, ArrayType) else type_
            if not isinstance(items, ScalarType) or items.kind in {"bytes", "null"}:
                reasons.append(f"{name} is not a text, number or boolean, nor a list of them")
            if is_list and (type_.nullable or not property_.required):
                value = f"{value}?.let {{ JSONArray(it) }}"
            elif is_list:
                value = f"JSONArray({value})"
            lines.append(f"{_INDENT}.put({kotlin_string(old_names.get(name, name))}, {value})")
        return lines

    def result(
        self, capability: Capability, function: ExistingFunction, returns: str, reasons: list[str]
    ) -> list[str]:
        """Return the statements that call a function and make the declared result of its JSON."""
        taken = capability.input.properties if isinstance(capability.input, ObjectType) else {}
        arguments = _unused("arguments", {name: name for name in taken})
        pieces = {"id": kotlin_string(function.capability.id), "arguments": arguments, "context": "this"}
        roles = ", ".join(pieces.get(parameter.role, "") for parameter in function.parameters)
        made = {"class": "()", "context": "(this)"}.get(function.instance, "")
        call = f"{function.owner.removeprefix(f'{self.package}.')}{made}.{function.name}({roles})"
        if returns == "Unit":
            return [call]
        is_text = function.returns == "json-text"
        if returns == "String":
            return [f"return {call}" if is_text else f"return {call}.toString()"]
        declared = self.properties_of(capability.output) if capability.output is not None else {}
        if function.capability.output is None and len(declared) == 1:
            return [f"return {returns}({call}{'' if is_text else '.toString()'})"]
        names = {written: name for name, written in function.results.items()}
        values = []
        for name, property_ in declared.items():
            getter = _GETTERS.get(property_.type.kind)
            if getter is None or is_text:
                reasons.append(f"{name} of its result is not made from JSON here")
                continue
            key = kotlin_string(names.get(name, name))
            value = f"result.{getter.format(key)}"
            if property_.type.nullable or not property_.required:
                value = f"if (result.isNull({key})) null else {value}"
            values.append(f"{_INDENT}{value},")
        return [f"val result = {call}", f"return {returns}(", *values, ")"]

    def value(
        self, identifier: str, property_: Property, owner: str, indent: str, word: str = ""
    ) -> Iterator[str]:
        """Yield the lines of a parameter or property. One that may be left out is null by default."""
        yield from _constraint(property_.type, indent)
        written = self.type_of(property_.type, f"{owner}_{identifier}")
        if property_.required:
            yield f"{indent}{word}{_in_code(identifier)}: {written},"
        else:
            yield f"{indent}{word}{_in_code(identifier)}: {written.removesuffix('?')}? = null,"

    def type_of(self, type_: Type, suggested: str) -> str:
        """Return the Kotlin type of a type; an object gets a class with the suggested name."""
        written = self.plain_type_of(type_, suggested)
        return f"{written}?" if type_.nullable and written != "Unit" else written

    def plain_type_of(self, type_: Type, suggested: str) -> str:
        """Return the same without nullability."""
        if isinstance(type_, ScalarType):
            return "Unit" if type_.kind == "null" else KOTLIN_TYPES[type_.kind]
        if isinstance(type_, RefType):
            return self.reference(type_.name)
        if isinstance(type_, ArrayType):
            items = type_.items if type_.items is not None else ScalarType(kind="string")
            if isinstance(items, ScalarType) and items.kind in _ARRAYS:
                return _ARRAYS[items.kind]
            return f"List<{self.plain_type_of(items, f'{suggested}_item')}>"
        if isinstance(type_, OpaqueType):
            return self.platform_class(type_.class_name or "android.app.PendingIntent")
        if isinstance(type_, ObjectType | AllOfType | OneOfType):
            name = self.new_name(_class_word(type_.qualified_name or suggested))
            self.inner.append((name, type_))
            self.note_alternatives(name, type_)
            return name
        return "String"

    def reference(self, name: str) -> str:
        """Return the class of a definition, or the type of a definition that is not an object."""
        definition = self.definitions.get(name)
        seen = {name}
        while isinstance(definition, RefType) and definition.name not in seen:
            seen.add(definition.name)
            name, definition = definition.name, self.definitions.get(definition.name)
        if isinstance(definition, ObjectType | AllOfType | OneOfType):
            return self.names[name]
        return (
            "String"
            if definition is None or isinstance(definition, RefType)
            else self.plain_type_of(definition, name)
        )

    def platform_class(self, name: str) -> str:
        """Return the simple name of a class that is imported."""
        simple = re.split(r"[.$]", name)[-1]
        if re.fullmatch(r"[A-Za-z_][\w.$]*", name) is None or "." not in name:
            return "android.app.PendingIntent"
        if self.platform_classes.setdefault(simple, name.replace("$", ".")) != name.replace("$", "."):
            return name.replace("$", ".")
        return simple

    def new_name(self, suggested: str) -> str:
        """Return a class name that is not taken, and take it."""
        name, count = suggested, 2
        while name in self.taken:
            name, count = f"{suggested}{count}", count + 1
        self.taken.add(name)
        return name

    def note_alternatives(self, name: str, type_: Type) -> None:
        """Remember which classes are alternatives of a sealed interface."""
        if isinstance(type_, OneOfType):
            for alternative in type_.alternatives:
                if isinstance(alternative, RefType) and alternative.name in self.names:
                    self.sealed.setdefault(self.names[alternative.name], []).append(name)

    def classes(self) -> Iterator[str]:
        """Yield the lines of every class: definitions first, then the objects inside them."""
        for name, definition in self.definitions.items():
            if isinstance(definition, ObjectType | AllOfType | OneOfType):
                yield from self.class_lines(self.names[name], definition)
        done = 0
        while done < len(self.inner):
            name, definition = self.inner[done]
            done += 1
            yield from self.class_lines(name, definition)

    def class_lines(self, name: str, type_: ObjectType | AllOfType | OneOfType) -> Iterator[str]:
        """Yield the lines of one class, a sealed interface for a choice."""
        yield ""
        if type_.description:
            yield from kotlin_comment(type_.description, "")
        yield "@AppFunctionSerializable(isDescribedByKDoc = true)"
        parents = "".join(f", {parent}" for parent in self.sealed.get(name, ()))
        heritage = f" : {parents[2:]}" if parents else ""
        if isinstance(type_, OneOfType):
            yield f"sealed interface {name}{heritage}"
            for position, alternative in enumerate(type_.alternatives):
                if not isinstance(alternative, RefType):
                    inner = self.plain_type_of(alternative, f"{name}_{position + 1}")
                    self.sealed.setdefault(inner, []).append(name)
            return
        properties = self.properties_of(type_)
        if not properties:
            yield f"class {name}{heritage}"
            return
        names = map_names([(key, key) for key in properties], _PROPERTY_NAME.rule())
        yield f"data class {name}("
        for key, property_ in properties.items():
            if property_.type.description:
                yield from kotlin_comment(property_.type.description, _INDENT)
            yield from self.value(names[key], property_, name, _INDENT, "val ")
        yield f"){heritage}"

    def properties_of(self, type_: Type, depth: int = 0) -> dict[str, Property]:
        """Return the properties of an object, or of all members of a combination.

        Each definition is looked at once: combinations of combinations have exponentially many paths.
        """
        if isinstance(type_, ObjectType):
            return dict(type_.properties)
        if isinstance(type_, AllOfType):
            properties: dict[str, Property] = {}
            for member in type_.members:
                properties.update(self.properties_of(member, depth))
            return properties
        if not isinstance(type_, RefType) or type_.name not in self.definitions or depth > _MOST_LEVELS:
            return {}
        if type_.name not in self.properties:
            self.properties[type_.name] = {}  # until they are known, for a combination that leads back here
            self.properties[type_.name] = self.properties_of(self.definitions[type_.name], depth + 1)
        return self.properties[type_.name]


def _constraint(type_: Type, indent: str) -> Iterator[str]:
    """Yield the annotation that holds the values of a text, or of one or several whole numbers."""
    scalar = type_.items if isinstance(type_, ArrayType) and type_.items is not None else type_
    if scalar.kind != "int32" and (scalar.kind != "string" or scalar is not type_):
        return
    arguments = []
    if scalar.enum is not None:
        values = (kotlin_string(value) if isinstance(value, str) else str(value) for value in scalar.enum)
        arguments.append(f"enumValues = [{', '.join(values)}]")
    if scalar.format is not None and scalar.kind == "string":
        arguments.append(f"format = {kotlin_string(scalar.format)}")
    if arguments:
        kind = "String" if scalar.kind == "string" else "Int"
        yield f"{indent}@AppFunction{kind}ValueConstraint({', '.join(arguments)})"


def _in_code(name: str) -> str:
    return f"`{name}`" if name in KOTLIN_WORDS or not name.strip("_") else name


def _unused(word: str, names: Mapping[str, str]) -> str:
    """Return a name for a local value that is not the name of a parameter."""
    while word in names.values():
        word += "_"
    return word


def _class_word(name: str) -> str:
    tail = re.split(r"[.$/#]", re.sub(r"[<>?].*", "", name))[-1]
    words = re.findall(r"[A-Za-z0-9]+", tail)
    joined = "".join(word[:1].upper() + word[1:] for word in words) or "Value"
    if joined[0].isdigit() or joined.lower() in RESERVED_WORDS or joined in KOTLIN_TYPES.values():
        return f"{'N' if joined[0].isdigit() else ''}{joined}Value"
    return joined


_WITHOUT_SERVICE: Final = (
    "These functions have no service, so no code is made for them: register each of them at run time with "
    "AppFunctionManager.registerAppFunction (Android 17)."
)
_JAVA_NOTES: Final = (
    "The service compiles against Android 16 (compileSdk 36) and is called on Android 16 and later only.",
)
_KOTLIN_NOTES: Final = (
    (
        "Add the Gradle plugin com.google.devtools.ksp, and of androidx.appfunctions (1.0.0-rc01 or later, "
        "from Google's Maven repository) appfunctions as implementation and appfunctions-compiler as ksp."
    ),
    (
        "Jetpack's compiler makes the functions file and its schema, and names the functions after the class "
        "and its methods."
    ),
    (
        "With 1.0.0-alpha10 to alpha12 the annotation AppFunctionDeclaration is called AppFunction, and that "
        "of texts may have no format."
    ),
)


def write_handlers(request: HandlerRequest) -> HandlerCode:
    """Return the service and what belongs to it.

    Raises:
        WriteError: the component's name cannot be a class of Java.
    """
    provider, dialect = request.provider, request.dialect.id
    if dialect == APP_LEVEL:
        return HandlerCode((), notes=(_WITHOUT_SERVICE,))
    place = place_classes(provider.component, request.namespace)
    if _is_compiled(dialect, request.language):
        asset = asset_name(provider, dialect)
        service = write_service(provider, place, asset.removesuffix(".xml"), request.functions)
        return HandlerCode(
            artifacts=service.artifacts,
            left_out=frozenset({f"assets/{asset}", f"assets/{NAMES['schema_asset']}"}),
            component=place.component_name,
            ids={
                id_: f"{place.package}.Base{place.component}#{name}"
                for id_, name in identifiers(capability.id for capability in provider.capabilities).items()
            },
            notes=(*_KOTLIN_NOTES, *service.notes),
        )
    if dialect == V1:
        provider = _with_unknown_inputs(provider)
    return_key = java_string(NAMES["return_value"])
    author = write_author_class(provider, place, "java", request.functions)
    artifacts = (
        *write_shared_classes(provider, place),
        place.java("Documents", _fill("Documents.java", place, return_key=return_key)),
        place.file(f"{place.component}.java", _fill("Service.java", place, codes="\n".join(_codes()))),
        *author.artifacts,
    )
    return HandlerCode(artifacts, component=place.component_name, notes=(*_JAVA_NOTES, *author.notes))


def _with_unknown_inputs(provider: Provider) -> Provider:
    """Return a provider whose calls take anything: the descriptor names a predefined schema only."""
    capabilities = tuple(capability.changed({"input": AnyType()}) for capability in provider.capabilities)
    return provider.changed({"capabilities": capabilities})


def _codes() -> Iterator[str]:
    for token in load_failure_tokens().values():
        yield f"            case {java_string(token.token)}:"
        yield f"                return {token.app_functions.write};"

"""The Kotlin files of an application as providers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from droidgate_appfunctions.asset_names import file_name_facts, is_file_name
from droidgate_appfunctions.format import APP_LEVEL, FORMAT_ID, V2
from droidgate_appfunctions.kotlin import may_declare
from droidgate_appfunctions.kotlin.annotations import (
    ANDROID_ENTRY_POINT,
    ENTRY_POINT,
    SERIALIZABLE,
    SERIALIZABLE_PROXY,
    Annotations,
    FoundAnnotation,
)
from droidgate_appfunctions.kotlin.declarations import (
    ClassDeclaration,
    FunctionDeclaration,
    SourceDeclarations,
    TypeReference,
)
from droidgate_appfunctions.kotlin.expressions import ClassValue, Constants
from droidgate_appfunctions.kotlin.index import Index
from droidgate_appfunctions.kotlin.kotlin_findings import Reports, refusal
from droidgate_appfunctions.kotlin.kotlin_functions import Functions, ReadFunction, check_unique, is_signature
from droidgate_appfunctions.kotlin.kotlin_types import KotlinType, TypeResolver
from droidgate_appfunctions.kotlin.serializables import Serializables
from droidgate_appfunctions.kotlin.syntax import unread_annotations
from droidgate_mappings.formats.format import Reading, SourceFile
from droidgate_mappings.formats.leniency import DECLARATION_UNREAD, ReadingContext
from droidgate_mappings.model.capability import Capability, Place, Provider
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.model.findings import Finding
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.model.types import Type, as_extensions
from droidgate_mappings.records import dataclass, field

_SERVICES = frozenset(
    {"androidx.appfunctions.AppFunctionService", "androidx.appfunctions.ExtensionsAppFunctionService"}
)
_GENERATED = ("onExecuteFunction", "executeFunction")
_OWN_PREFIXES = ("android.", "androidx.", "java.", "javax.", "kotlin.")


def read_sources(
    files: Sequence[SourceFile], libraries: Sequence[SourceFile], context: ReadingContext
) -> Reading:
    """Return what Jetpack's compiler would declare for the Kotlin files of an application.

    Args:
        files: Every Kotlin file whose functions the application has: its own, and those of modules that it
            aggregates. Files that declare nothing are parsed only if a type of theirs is used.
        libraries: Kotlin files of other modules, for their types only.
        context: Takes what is not understood, each with file and line.

    Returns:
        One provider for each service entry point, one for the functions outside of entry points, and one for
        each file of functions of the application. `Provider.component` is the generated service class of an
        entry point, else None; `Provider.package` is None. A problem is a file, class or function that the
        compiler refuses too, or that uses a class that no given file declares; the others are read.

    Raises:
        InputError: the context is strict, and there is a finding or a problem.
    """
    index = Index.of(files, libraries)
    earlier_count = len(context.findings)
    reports = Reports(context)
    annotations = Annotations(index, reports, Constants(index))
    classes = Serializables(TypeResolver(index, reports), annotations, reports)
    reader = _Reader(index, reports, annotations, classes, Functions(classes, annotations, reports))
    providers = tuple(reader.read([file for file in files if may_declare(file.data)]))
    for error in index.problems:
        reports.problem(error)
    context.findings[earlier_count:] = sorted(context.findings[earlier_count:], key=_order_of)
    return Reading(providers, tuple(context.findings), tuple(reports.all_problems()))


def _order_of(finding: Finding) -> tuple[str, int]:
    place = finding.source
    return ("", 0) if place is None else (place.path, place.line or 0)


@dataclass(slots=True)
class _Document:
    """The functions of one functions file, and its name without ending where that is known."""

    place: Place
    functions: list[ReadFunction] = field(default_factory=list)
    name: str | None = None

    def provider(
        self, dialect: str, component: str | None = None, document_id: str | None = None
    ) -> Provider:
        """Return the provider of the file.

        A definition that two functions have is that of the first one, as in the compiler.
        """
        definitions: dict[str, Type] = {}
        capabilities: dict[str, Capability] = {}
        for function in self.functions:
            capabilities.setdefault(function.capability.id, function.capability)
            for name, definition in function.definitions.items():
                definitions.setdefault(name, definition)
        facts: dict[str, Json] = {}
        if self.name is not None:
            facts.update(file_name_facts(self.name, component, dialect))
        names = sorted(definitions)
        if names and document_id is not None:
            facts["components"] = [[document_id, None]]
        return Provider(
            protocol=FORMAT_ID,
            dialect=dialect,
            component=component,
            source=self.place,
            definitions={name: definitions[name] for name in names},
            capabilities=tuple(capabilities.values()),
            extensions=as_extensions(FORMAT_ID, facts),
        )


@dataclass(slots=True, eq=False)
class _Reader:
    index: Index
    reports: Reports
    annotations: Annotations
    classes: Serializables
    functions: Functions

    def read(self, files: Sequence[SourceFile]) -> Iterator[Provider]:
        services: list[tuple[ClassDeclaration, FoundAnnotation]] = []
        signatures: list[tuple[ClassDeclaration, FoundAnnotation]] = []
        others: list[FunctionDeclaration] = []
        for file in self.index.parse(files):
            self.report_unread(file)
            others += file.functions
            for declaration in file.all_classes():
                self.check_class(declaration)
                service = self.mark_of(declaration, ENTRY_POINT)
                signature = self.signature_of(declaration)
                if service is not None:
                    services.append((declaration, service))
                elif signature is not None:
                    signatures.append((declaration, signature))
                else:
                    others += declaration.functions
        for declaration, mark in sorted(services, key=lambda service: service[0].qualified_name):
            provider = self.service(declaration, mark)
            if provider is not None:
                yield provider
        yield from self.outside(others)
        yield from self.application_level(signatures)

    def report_unread(self, file: SourceDeclarations) -> None:
        for line, text in unread_annotations(file):
            message = f"{text} is not a declaration that is read"
            hint = "declare functions and classes outside of functions"
            self.reports.not_understood(message, file, line, hint, code=DECLARATION_UNREAD)
        for alias in file.aliases.values():
            target = alias.type.name[-1] if alias.type.name else ""
            if target.startswith("AppFunction"):
                message = f"an alias of {target}: annotations by the name {alias.name} are left out"
                hint = f"write @{target}"
                self.reports.not_understood(message, file, alias.line, hint, code=DECLARATION_UNREAD)

    def mark_of(self, declaration: ClassDeclaration, names: frozenset[str]) -> FoundAnnotation | None:
        try:
            return self.classes.find(declaration, names)
        except InputError as error:
            self.reports.problem(error)
            return None

    def signature_of(self, declaration: ClassDeclaration) -> FoundAnnotation | None:
        try:
            return is_signature(self.annotations, declaration)
        except InputError as error:
            self.reports.problem(error)
            return None

    def check_class(self, declaration: ClassDeclaration) -> None:
        """Check a class that travels as data, whether or not a function uses it: the compiler does."""
        try:
            proxy = self.classes.find(declaration, SERIALIZABLE_PROXY)
            if proxy is not None:
                self.classes.check_proxy(declaration, proxy)
            if self.classes.find(declaration, SERIALIZABLE) is not None:
                self.classes.check(declaration, {})
        except InputError as error:
            self.reports.problem(error)

    def marked(self, functions: Sequence[FunctionDeclaration]) -> Iterator[FunctionDeclaration]:
        for function in functions:
            try:
                if self.functions.marked(function) is not None:
                    yield function
            except InputError as error:
                self.reports.problem(error)

    def read_functions(self, functions: list[FunctionDeclaration], *, in_service: bool) -> list[ReadFunction]:
        for error in check_unique(functions):
            self.reports.problem(error)
        read: list[ReadFunction] = []
        for function in functions:
            mark = self.functions.marked(function)
            if mark is None:
                continue
            try:
                read.append(self.functions.read(function, mark, in_service=in_service))
            except InputError as error:
                self.reports.problem(error, self.functions.identifier(function))
        return read

    def service(self, declaration: ClassDeclaration, mark: FoundAnnotation) -> Provider | None:
        """Return the provider of an entry point; None, with a problem, where the compiler refuses it."""
        try:
            name = self.annotations.required(mark, "serviceName", str)
            file_name = self.file_name(declaration, mark)
            functions = list(self.marked(declaration.functions))
            self.check_service(declaration, functions)
        except InputError as error:
            self.reports.problem(error)
            return None
        read = self.read_functions(functions, in_service=True)
        if not read:
            return None
        component = ".".join((*declaration.file.package, name))
        document = _Document(declaration.file.place(declaration.line), read, file_name)
        return document.provider(V2, component, declaration.qualified_name)

    def file_name(self, declaration: ClassDeclaration, mark: FoundAnnotation) -> str | None:
        """Return the name of the functions file; None, with a finding, where no such file is written."""
        name = self.annotations.required(mark, "appFunctionXmlFileName", str)
        if is_file_name(name) or not name.strip():
            return name or None
        message = f'the name "{name}" of the functions file is left out'
        hint = "use letters, digits, and the characters _ . -"
        self.reports.not_understood(message, declaration.file, mark.line, hint, lost=True)
        return None

    def check_service(self, declaration: ClassDeclaration, functions: list[FunctionDeclaration]) -> None:
        file, line = declaration.file, declaration.line
        if not self.extends_service(declaration):
            message = f"the class must extend {' or '.join(sorted(_SERVICES))}: {declaration.name}"
            raise refusal(message, file, line, "extend AppFunctionService")
        if "abstract" not in declaration.modifiers:
            message = f"a service entry point must be an abstract class: {declaration.name}"
            raise refusal(message, file, line, f"write abstract class {declaration.name}")
        for function in declaration.functions:
            if function.name in _GENERATED and not function.is_abstract:
                message = f"the abstract class cannot implement {function.name}; the compiler generates it"
                raise refusal(message, file, function.line, f"remove {function.name}")
        if not functions:
            message = f"the class must have at least one app function: {declaration.name}"
            raise refusal(message, file, line, "annotate a function with @AppFunction")

    def extends_service(self, declaration: ClassDeclaration) -> bool:
        above = list(self.classes.types.above(declaration))
        if any(item.name in _SERVICES for item in above):
            return True
        entry = self.classes.find(declaration, ANDROID_ENTRY_POINT)
        generated = any(
            supertype.name and supertype.name[-1].startswith("Hilt_") for supertype in declaration.supertypes
        )
        if entry is not None and generated and "value" in entry.arguments:
            value = self.annotations.required(entry, "value", ClassValue)
            kotlin_type = self.classes.types.resolve(
                TypeReference(value.name, entry.line, ".".join(value.name)), declaration.file, declaration, {}
            )
            over = [
                kotlin_type,
                *(self.classes.types.above(kotlin_type.declaration) if kotlin_type.declaration else ()),
            ]
            return any(item.name in _SERVICES for item in over) or self.report_hidden(declaration, over)
        return self.report_hidden(declaration, above)

    def report_hidden(self, declaration: ClassDeclaration, above: Sequence[KotlinType]) -> bool:
        """Return whether a supertype outside of the sources may be a service of app functions."""
        hidden = [
            item for item in above if item.declaration is None and not item.name.startswith(_OWN_PREFIXES)
        ]
        if hidden:
            message = f"{hidden[0].name} is not among the sources; {declaration.name} is read as a service"
            hint = "read the module that declares it too"
            self.reports.not_understood(message, declaration.file, declaration.line, hint, lost=False)
        return bool(hidden)

    def outside(self, functions: Sequence[FunctionDeclaration]) -> Iterator[Provider]:
        """Yield the provider of the functions outside of entry points, sorted as the compiler does."""
        marked = list(self.marked(functions))
        by_class: dict[ClassDeclaration | None, list[FunctionDeclaration]] = {}
        for function in sorted(marked, key=lambda item: item.name):
            by_class.setdefault(function.owner, []).append(function)
        read: list[ReadFunction] = []
        for owner in sorted(by_class, key=lambda item: item.qualified_name if item is not None else ""):
            read += self.read_functions(by_class[owner], in_service=False)
        if read:
            place = read[0].capability.source
            yield _Document(place or Place(path=""), read).provider(V2)

    def application_level(
        self, signatures: Sequence[tuple[ClassDeclaration, FoundAnnotation]]
    ) -> Iterator[Provider]:
        """Yield a provider for each file of functions of the application."""
        documents: dict[str, _Document] = {}
        for declaration, mark in sorted(signatures, key=lambda signature: signature[0].qualified_name):
            try:
                function = self.functions.read_signature(declaration, mark)
                name = self.annotations.required(mark, "appFunctionXmlFileName", str)
                if not name.strip():
                    message = "appFunctionXmlFileName cannot be empty"
                    raise refusal(message, declaration.file, mark.line, "name the functions file")
                file_name = self.file_name(declaration, mark)
            except InputError as error:
                self.reports.problem(error)
                continue
            place = declaration.file.place(declaration.line)
            documents.setdefault(name, _Document(place, name=file_name)).functions.append(function)
        for document in documents.values():
            yield document.provider(APP_LEVEL)

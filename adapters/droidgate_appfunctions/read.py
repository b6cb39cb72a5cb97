"""Reading AppFunctions: files by themselves, and applications by their manifest (reference 1.1, 1.2)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Final, TypeVar

from droidgate_android.projects.indexed_text import to_lower_camel_case
from droidgate_appfunctions.fields import ElementSource, local_name
from droidgate_appfunctions.format import APP_LEVEL, FORMAT_ID, NAMES, NOT_LISTED, PLATFORM, V1, V2
from droidgate_appfunctions.metadata import (
    AppMetadata,
    metadata_attributes,
    metadata_of_attributes,
    read_metadata,
)
from droidgate_appfunctions.older_files import keep_loose_files, keep_older_files
from droidgate_appfunctions.read_document import (
    FunctionsFile,
    detect_dialect,
    find_documents,
    merge_files,
    parse_document,
    read_functions_file,
)
from droidgate_appfunctions.schema import (
    SearchSchema,
    is_schema,
    parse_schema,
    report_unread,
    schema_fact,
    usual_schema,
)
from droidgate_appfunctions.unread_declarations import (
    is_meant_for_functions,
    may_name_functions,
    usually_names_functions,
)
from droidgate_mappings.formats.application import Application, Component, MetaData, TextFile
from droidgate_mappings.formats.component_reading import (
    LABEL,
    read_access,
    read_enabled,
    report_unknown_attributes,
    report_unknown_texts,
)
from droidgate_mappings.formats.format import Reading, SourceFile
from droidgate_mappings.formats.leniency import ReadingContext
from droidgate_mappings.model.capability import ComponentAccess, Place, Provider, reachable_definitions
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.model.types import Type, as_extensions
from droidgate_mappings.records import dataclass, field
from droidgate_mappings.text.xml_text import decode_xml

Read = TypeVar("Read")

_FUNCTION_PROPERTIES: Final = (NAMES["property_v2"], NAMES["property_v1"])
# `<appfunction` is also the start of `<appfunctions`.
_FUNCTION_MARKS: Final = tuple(
    f"<{NAMES[name]}" for name in ("function", "function_document", "component_document")
)
_MARKS: Final = (*_FUNCTION_MARKS, f"<{NAMES['metadata_root']}")
_OTHERS: Final = frozenset({"manifest", "resources"})
"""Root elements of Android's own files."""
_LISTING_MARK: Final = f'"{NAMES["function_document"]}-'.encode()
_ROOT = re.compile(r"(?:\s|\ufeff|<\?.*?\?>|<!--.*?-->)*+<([\w:.-]+)", re.DOTALL)


def detect(source: SourceFile) -> int:
    """Return how sure a file's elements make us that it is one of ours."""
    if _is_saved_listing(source.data):
        return 95
    text = source.data.decode("utf-8", "replace") if b"\0" not in source.data[:200] else ""
    root = _ROOT.match(text)
    if root is None or root[1] in _OTHERS:
        return 0
    if any(mark in text for mark in _MARKS) or _is_misspelled_root(root[1]):
        return 95
    return 90 if is_schema(text) else 0


def _is_misspelled_root(name: str) -> bool:
    """Return whether a root element is that of a functions file but for case, hyphens and underscores."""
    return name.replace("-", "").replace("_", "").lower() == NAMES["root"]


def _may_hold_functions(text: str) -> bool:
    root = _ROOT.match(text)
    misspelled = root is not None and _is_misspelled_root(root[1])
    return misspelled or any(mark in text for mark in _FUNCTION_MARKS)


def _is_saved_listing(data: bytes) -> bool:
    if _LISTING_MARK not in data and not data.startswith(NOT_LISTED):
        return False
    from droidgate_appfunctions.saved_listing import is_saved_listing

    return is_saved_listing(data)


def read_file(source: SourceFile, context: ReadingContext) -> Reading:
    """Read a functions file, an `app_metadata` file, a schema file or a saved listing by itself.

    Returns:
        One provider, without functions for guidance and schemas; one for each service of a listing.

    Raises:
        InputError: it is none of these, or Android's own parsers refuse it too.
    """
    if _is_saved_listing(source.data):
        # Few files are one, and its parser takes as long to import as a file to be read.
        from droidgate_appfunctions.saved_listing import read_saved_listing

        return read_saved_listing(source, context)
    text = decode_xml(source.data, path=source.path)
    if _is_schema_alone(text):
        schema = parse_schema(text, source.path)
        report_unread(text, source.path, context)
        return Reading((_schema_provider(schema, source.path),), tuple(context.findings))
    root = parse_document(text, source.path, context)
    name = local_name(root)
    if name == NAMES["metadata_root"]:
        metadata = read_metadata(root, ElementSource(source.path, context))
        return Reading((_provider(None, metadata=metadata),), tuple(context.findings))
    if to_lower_camel_case(name) != NAMES["root"] and not any(find_documents(root)[:2]):
        message = f"<{name}> is not an AppFunctions file"
        raise InputError(
            message,
            place=f"{source.path}:{root.sourceline}",
            hint="expected <appfunctions>, app_metadata or a schema",
        )
    file = read_functions_file(root, ElementSource(source.path, context))
    return Reading((_provider(file),), tuple(context.findings))


def _is_schema_alone(text: str) -> bool:
    root = _ROOT.match(text)
    return root is not None and root[1].rpartition(":")[2] == "schema"


def _schema_provider(schema: SearchSchema, path: str) -> Provider:
    dialect = PLATFORM if "paramNames" in schema[NAMES["function_document"]] else V2
    extensions = as_extensions(FORMAT_ID, {schema_fact(dialect): schema})
    place = Place(path=path, line=1)
    return Provider(protocol=FORMAT_ID, dialect=dialect, source=place, extensions=extensions)


def _provider(
    file: FunctionsFile | None,
    *,
    metadata: AppMetadata | None = None,
    schema: SearchSchema | None = None,
    place: Place | None = None,
) -> Provider:
    guidance = metadata or AppMetadata()
    facts: dict[str, Json] = {**guidance.facts, **(file.all_facts() if file is not None else {})}
    provider = Provider(
        protocol=FORMAT_ID,
        dialect=file.dialect if file is not None else V2,
        description=guidance.description,
        instructions=guidance.instructions,
        source=file.place if file is not None else place or guidance.place,
        definitions=file.definitions if file is not None else {},
        capabilities=tuple(file.capabilities.values()) if file is not None else (),
        extensions=as_extensions(FORMAT_ID, facts),
    )
    dialect = provider.dialect or V2
    if schema is None or dialect == V1 or schema == usual_schema(provider, dialect):
        return provider
    return provider.changed({"extensions": as_extensions(FORMAT_ID, {**facts, schema_fact(dialect): schema})})


def read_application(application: Application, context: ReadingContext) -> Reading:
    """Find and read an application's AppFunctions.

    Returns:
        One provider for each service with functions, then one for the functions of the application element.
        An application that only has `app_metadata`, as a source tree whose service comes by manifest merging,
        gives one without functions. A file that cannot be read is a problem, and the other files are read.

    Raises:
        InputError: no file can be read, or the reading is strict and something cannot.
    """
    reader = _ApplicationReader(application, context)
    providers = reader.read()
    if reader.problems and (context.strict or not providers):
        raise InputError.first_of(reader.problems)
    return Reading(tuple(_share_definitions(providers)), tuple(context.findings), tuple(reader.problems))


def _share_definitions(providers: list[Provider]) -> list[Provider]:
    """Give each provider the definitions it refers to and another one of the package has (reference 2.c)."""
    everything: dict[str, Type] = {}
    for provider in providers:
        everything.update(provider.definitions)
    shared: list[Provider] = []
    for provider in providers:
        used = {
            name
            for capability in provider.capabilities
            for name in reachable_definitions(capability, everything)
        }
        for definition in provider.definitions.values():
            used |= reachable_definitions(definition, everything)
        missing = {name: everything[name] for name in sorted(used - provider.definitions.keys())}
        if missing:
            provider = provider.changed({"definitions": {**provider.definitions, **missing}})  # noqa: PLW2901
        shared.append(provider)
    return shared


@dataclass(slots=True)
class _ApplicationReader:
    application: Application
    context: ReadingContext
    metadata: AppMetadata | None = None
    problems: list[InputError] = field(default_factory=list)

    def attempt(self, read: Callable[..., Read], *arguments: Any) -> Read | None:
        """Return what is read of one file; None where it cannot be read, which is a problem of this file."""
        try:
            return read(*arguments)
        except InputError as error:
            self.problems.append(error)
            return None

    def read(self) -> list[Provider]:
        element = next(self.application.of_kind("application"), None)
        if element is not None:
            self.metadata = self.attempt(self.read_app_metadata, element)
        providers = [
            provider
            for service in self.application.of_kind("service")
            if (provider := self.attempt(self.read_service, service, element)) is not None
        ]
        if element is not None:
            providers.extend(self.attempt(self.read_application_level, element) or ())
        if not any(provider.capabilities for provider in providers):
            providers = self.read_loose() or providers
        if not providers and element is not None:
            providers = self.read_mistaken(element)
        if not providers and self.metadata is not None and not (self.problems and self.metadata.is_empty):
            providers = [self.provider(None, None)]
        return providers

    def read_app_metadata(self, element: Component) -> AppMetadata | None:
        stated = element.find_property(NAMES["property_metadata"])
        attributes = metadata_attributes(element.foreign_attributes)
        if attributes:
            is_used = stated is None
            effect = "are read as the guidance" if is_used else "are left out"
            message = (
                f"<application> has attributes of app_metadata, which Android does not read; they {effect}"
            )
            self.allow("A40", message, element.place, lost=not is_used)
        if stated is None:
            place = element.place or self.application.place
            resources = self.application.resources
            return metadata_of_attributes(attributes, place, self.context, resources) if attributes else None
        files = self.read_files(stated, several=False, lost=True)
        if not files:
            return AppMetadata(place=stated.place)
        root = parse_document(files[0].text, files[0].place.path, self.context)
        return read_metadata(
            root,
            ElementSource(files[0].place.path, self.context),
            self.application.resources,
            compiled=files[0].compiled,
        )

    def read_service(self, service: Component, element: Component | None) -> Provider | None:
        stated, older = _function_properties(service)
        has_action = service.has_action(NAMES["action"])
        if stated is None and not (has_action or is_meant_for_functions(service)):
            return None
        if stated is None:
            stated = self.find_mistake(service, element)
        if stated is None and not has_action:
            return None
        if not has_action:
            message = (
                f"the service {service.name} has no intent filter for AppFunctions; Android does not index it"
            )
            self.allow("A29", message, service.place)
        if stated is None:
            message = f"the service {service.name} names no functions file"
            self.allow("A19", message, service.place)
            return self.provider(None, service)
        schema = self.attempt(self.read_schema, element, service)
        problem_count = len(self.problems)
        functions = self.read_both(stated, older, "service", schema)
        if functions is None and len(self.problems) > problem_count:
            return None
        return self.provider(functions, service, schema)

    def read_both(
        self, stated: MetaData, older: MetaData | None, level: str | None, schema: SearchSchema | None
    ) -> FunctionsFile | None:
        """Read the files of a property, and those of version 1 that are for older releases (row A24).

        Returns:
            The functions of the first; those of version 1 are a fact of it. None where no file can be read.
        """
        several = level == "application"
        files = self.attempt(partial(self.read_files, stated, several=several)) or []
        older_files: list[TextFile] = []
        if older is not None:
            older_files = self.attempt(partial(self.read_files, older, several=several)) or []
        read = [self.attempt(self.read_functions, file, level, schema) for file in files]
        newer = [item for item in read if item is not None]
        if not newer:
            read = [
                self.attempt(self.read_functions, older_file, level, schema) for older_file in older_files
            ]
            newer, older_files = [item for item in read if item is not None], []
        if not newer:
            return None
        functions = merge_files(newer, self.context)
        if older_files:
            keep_older_files(functions, older_files, self.context, self.problems)
        return functions

    def find_mistake(self, *components: Component | None) -> MetaData | None:
        for component in components:
            for entry in () if component is None else component.meta_data:
                if usually_names_functions(entry) or self.names_functions(entry):
                    message = (
                        f"<meta-data> {entry.name} names the functions file; Android only looks at <property>"
                    )
                    self.allow("A18", message, entry.place)
                    return entry
        return None

    def names_functions(self, meta_data: MetaData) -> bool:
        if meta_data.resource is None or not may_name_functions(meta_data):
            return False
        file = self.attempt(self.application.resources.read_file, meta_data.resource)
        return file is not None and _may_hold_functions(file.text)

    def read_mistaken(self, element: Component) -> list[Provider]:
        """Read the file that a `<meta-data>` of an application without other functions names."""
        meta_data = self.find_mistake(element)
        functions = None if meta_data is None else self.read_both(meta_data, None, None, None)
        return [] if functions is None else [self.provider(functions, None)]

    def read_application_level(self, element: Component) -> list[Provider]:
        stated, older = _function_properties(element)
        if stated is None:
            return []
        schema = self.attempt(self.read_schema, element)
        functions = self.read_both(stated, older, "application", schema)
        return [] if functions is None else [self.provider(functions, None, schema)]

    def read_loose(self) -> list[Provider]:
        """Read descriptors that no component names: their service comes by manifest merging."""
        function_files: list[FunctionsFile] = []
        older: list[TextFile] = []
        for name in self.application.loose_assets:
            self.attempt(self.read_loose_file, name, function_files, older)
        newer = [item for item in function_files if item.dialect != APP_LEVEL]
        if newer:
            keep_loose_files(newer, older, self.context, self.problems)
        else:
            read = [self.attempt(self.read_functions, item, None) for item in older]
            function_files += [item for item in read if item is not None]
        return [self.provider(item, None) for item in function_files]

    def read_loose_file(self, name: str, files: list[FunctionsFile], older: list[TextFile]) -> None:
        """Read a file that no component names into `files`, or add it to `older` where it is of version 1."""
        resources = self.application.resources
        file = resources.read_file(name) if name.startswith("@") else resources.read_asset(name)
        if file is None or not _may_hold_functions(file.text):
            return
        self.allow("A20", f"no component names {name}; its service comes by manifest merging", file.place)
        if _dialect_of(file) == V1:
            older.append(file)
        else:
            files.append(self.read_functions(file, None))

    def provider(
        self, file: FunctionsFile | None, component: Component | None, schema: SearchSchema | None = None
    ) -> Provider:
        place = component.place if component is not None else None
        of_app = {"package": self.application.package, "name": self.name_of(component)}
        if component is not None:
            of_app["component"] = component.name
        provider = _provider(file, metadata=self.metadata, schema=schema, place=place)
        return provider.changed({**of_app, "access": self.access_of(component)})

    def access_of(self, component: Component | None) -> ComponentAccess:
        """Return the access rules of a service, or of the application for its own functions."""
        whole = next(self.application.of_kind("application"), None)
        if component is not None:
            report_unknown_attributes(self.application, component, self.context, is_set_by_library=True)
            return read_access(self.application, component, is_set_by_library=True)
        if whole is None:
            return ComponentAccess()
        report_unknown_attributes(self.application, whole, self.context)
        return ComponentAccess(enabled=read_enabled(self.application, whole))

    def name_of(self, component: Component | None) -> str | None:
        """Return the label of a service, else the app's; one that does not resolve is reported."""
        labelled = component or next(self.application.of_kind("application"), None)
        if labelled is not None:
            report_unknown_texts(self.application, labelled, self.context, needed=LABEL)
        label = component.label if component is not None else None
        return self.application.label if label is None else label

    def read_functions(
        self, file: TextFile, level: str | None, schema: SearchSchema | None = None
    ) -> FunctionsFile:
        root = parse_document(file.text, file.place.path, self.context)
        source = ElementSource(file.place.path, self.context)
        return read_functions_file(root, source, level=level, schema=schema)

    def read_schema(self, *components: Component | None) -> SearchSchema | None:
        for component in components:
            stated = component.find_property(NAMES["property_schema"]) if component is not None else None
            if stated is None:
                continue
            name = str(stated.value)
            file = self.application.resources.read_asset(name) if stated.resource is None else None
            if file is None:
                return None  # a library includes it when the app is built
            try:
                schema = parse_schema(file.text, file.place.path)
            except InputError as error:
                message = f"Android rejects the schema {name}: {error.message}; it is left out"
                self.allow("A21", message, file.place, lost=True)
                return None
            report_unread(file.text, file.place.path, self.context)
            return schema
        return None

    def read_files(self, stated: MetaData, *, several: bool, lost: bool = False) -> list[TextFile]:
        """Return the files a property names: assets between commas, one resource, or an array of them.

        Args:
            stated: The property.
            several: It may name more than one.
            lost: Without its file, the property is left out.
        """
        resources = self.application.resources
        pairs: list[tuple[str, TextFile | None]] = []
        if stated.resource is not None:
            references: Iterable[str] = [stated.resource]
            if stated.resource.startswith("@array/"):
                references = resources.read_array(stated.resource) or ()
            pairs = [(reference, resources.read_file(reference)) for reference in references]
        elif stated.value is not None:
            words = [word.strip() for word in str(stated.value).split(",")]
            pairs = [(word, resources.read_asset(word)) for word in words if word]
        if len(pairs) > 1 and not several:
            message = f"{stated.name} names {len(pairs)} files; Android reads one, so only the first is read"
            self.allow("A22", message, stated.place, lost=True)
            pairs = pairs[:1]
        files: list[TextFile] = []
        for name, file in pairs:
            if file is None:
                message = f"{stated.name} names {name}, which does not exist; a build may make it"
                self.allow("A19", message, stated.place, lost=lost)
            else:
                files.append(file)
        if not pairs:
            self.allow("A19", f"{stated.name} names no file", stated.place, lost=lost)
        return files

    def allow(self, row: str, message: str, place: Place | None, *, lost: bool = False) -> None:
        self.attempt(partial(self.context.allow, row, message, source=place, lost=lost))


def _dialect_of(file: TextFile) -> str:
    unread = ReadingContext(rows_off=frozenset())
    root = parse_document(file.text, file.place.path, unread)
    functions, components, _ = find_documents(root)
    return detect_dialect(functions, components, None)


def _function_properties(component: Component) -> tuple[MetaData | None, MetaData | None]:
    """Return the property that Android 17 reads functions by, and one of version 1 next to it."""
    newer, older = (component.find_property(name) for name in _FUNCTION_PROPERTIES)
    return (older, None) if newer is None else (newer, older)

"""Which files of an app a release reads, and with which schema (reference appfunctions 1.1, 1.2)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from droidgate_android.app_search.events import Event, IndexerError, read_events
from droidgate_android.app_search.indexed_documents import FileOutcome, FileSetting, index_text
from droidgate_android.app_search.indexer_reports import DroppedFile, Ignored, IgnoredKind, IndexingReport
from droidgate_android.app_search.schemas import AppSearchSchema, jetpack_schema, platform_schema, read_schema
from droidgate_mappings.formats.application import Application, Component, MetaData, TextFile, find_elsewhere
from droidgate_mappings.model.capability import Place
from droidgate_mappings.records import dataclass, field
from droidgate_mappings.tables.app_functions import FileRole, IndexerLimits, Release, load_indexing

_KEPT_CHARACTERS: Final = 4 << 20
"""Of an application's files together; what is beyond is read again for each release."""


class AppFiles:
    """Reads an application's files, and keeps them while they are few.

    Args:
        application: Whose files.
    """

    def __init__(self, application: Application) -> None:
        self._resources = application.resources
        self._files: dict[tuple[str, str], TextFile | None] = {}
        self._elsewhere: dict[str, str | None] = {}
        self._kept: set[str] = set()
        self._events: dict[str, Sequence[Event]] = {}
        self._left = _KEPT_CHARACTERS

    def asset(self, name: str) -> TextFile | None:
        """Return an asset, None where there is none.

        Raises:
            InputError: it cannot be read.
        """
        return self._file("asset", name, self._resources.read_asset)

    def resource(self, reference: str) -> TextFile | None:
        """Return the file behind `@xml/name`, None where there is none.

        Raises:
            InputError: it cannot be read.
        """
        return self._file("resource", reference, self._resources.read_file)

    def elsewhere(self, name: str) -> str | None:
        """Return where a file is that is not where it is named (`find_elsewhere`)."""
        if name not in self._elsewhere:
            self._elsewhere[name] = find_elsewhere(self._resources, name)
        return self._elsewhere[name]

    def _file(self, kind: str, name: str, read: Callable[[str], TextFile | None]) -> TextFile | None:
        if (kind, name) in self._files:
            return self._files[kind, name]
        file = read(name)
        if file is None:
            self._files[kind, name] = None
        elif len(file.text) <= self._left:
            self._left -= len(file.text)
            self._files[kind, name] = file
            self._kept.add(file.place.path)
        return file

    def events(self, file: TextFile) -> Sequence[Event]:
        """Return the steps of a file of documents.

        Raises:
            IndexerError: `malformed-xml`.
        """
        path = file.place.path
        events = self._events.get(path)
        if events is None:
            events = read_events("\ufeff" + file.text if file.has_mark else file.text)
            if path in self._kept:
                self._events[path] = events
        return events


UNKNOWN_PACKAGE = "unknown.package"


def is_function_service(component: Component) -> bool:
    """Return whether a component is a service of app functions."""
    return component.kind == "service" and component.has_action(load_indexing().names.service_action)


def function_services(application: Application) -> list[Component]:
    """Return the enabled services with the action of app functions, in manifest order."""
    return [
        component
        for component in application.of_kind("service")
        if is_function_service(component) and component.enabled
    ]


def application_component(application: Application) -> Component | None:
    """Return the application element."""
    return next(application.of_kind("application"), None)


@dataclass(frozen=True, slots=True)
class _File:
    """A file that a property names: an asset or an xml resource."""

    role: FileRole
    reference: str
    of_resource: bool
    service: str
    place: Place | None


@dataclass(slots=True)
class PackageIndexer:
    """What one release reads of one application."""

    application: Application
    release: Release
    limits: IndexerLimits
    files: AppFiles
    outcome: FileOutcome = field(default_factory=FileOutcome)
    dropped: list[DroppedFile] = field(default_factory=list)
    warnings: list[Ignored] = field(default_factory=list)

    def run(self) -> IndexingReport:
        """Index the application."""
        services = self._choose_services()
        schema = self._find_schema(services)
        for file in self._files_of(services, schema):
            self._index_file(file, schema)
        return IndexingReport(
            release=self.release,
            documents=self.outcome.documents,
            ignored=tuple(self.outcome.ignored),
            dropped_files=tuple(self.dropped),
            warnings=tuple(self.warnings),
        )

    def _choose_services(self) -> list[Component]:
        names = load_indexing().names
        services = function_services(self.application)
        if self.release.needs_permission:
            for service in services:
                if service.permission != names.bind_permission:
                    message = f"the service {service.name} does not require {names.bind_permission}"
                    self._ignore("service", service.name, "missing-permission", message, service.place)
            services = [service for service in services if service.permission == names.bind_permission]
        if self.release.services == "last" and services:
            for service in services[:-1]:
                message = f"only the last service is read, which is {services[-1].name}"
                self._ignore("service", service.name, "another-service", message, service.place)
            return services[-1:]
        return services

    def _ignore(self, kind: IgnoredKind, name: str, reason: str, message: str, place: Place | None) -> None:
        self.outcome.ignored.append(Ignored(kind, name, reason, message, place))

    def _find_schema(self, services: list[Component]) -> AppSearchSchema | None:
        """Return the app's schema; None where it has none that can be read."""
        names = self._named_schemas(services)
        if len({item.value for item in names}) > 1:
            files = ", ".join(sorted({str(item.value) for item in names}))
            message = f"the services name different schema files ({files}), so the platform's schema is used"
            self.warnings.append(Ignored("schema", files, "different-schemas", message, names[0].place))
            return None
        if not names:
            return None
        name = str(names[0].value)
        file = self.files.asset(name)
        if file is None:
            if name == load_indexing().names.jetpack_schema_file and not self.application.is_built:
                return jetpack_schema()  # androidx.appfunctions has it among its assets
            self._drop_missing(name, "asset", names[0].place, is_schema=True)
            return None
        try:
            return read_schema(file.text, self.limits)
        except IndexerError as error:
            self._drop(name, error, Place(path=file.place.path, line=error.line), is_schema=True)
            return None

    def _named_schemas(self, services: list[Component]) -> list[MetaData]:
        names = load_indexing().names
        application = application_component(self.application)
        if self.release.application_level and application is not None:
            property_ = application.find_property(names.schema_)
            if property_ is not None and isinstance(property_.value, str):
                return [property_]
        properties = (service.find_property(names.schema_) for service in services)
        return [item for item in properties if item is not None and isinstance(item.value, str)]

    def _drop(self, path: str, error: IndexerError, place: Place | None, *, is_schema: bool = False) -> None:
        dropped = DroppedFile(path, error.reason, error.message, error.name, place, is_schema=is_schema)
        self.dropped.append(dropped)

    def _drop_missing(self, name: str, subject: str, place: Place | None, *, is_schema: bool = False) -> None:
        elsewhere = self.files.elsewhere(name)
        message = f"the app has no {subject} {name}"
        if elsewhere is not None:
            message += f", but it has {elsewhere}"
        dropped = DroppedFile(
            name, "missing-file", message, name, place, is_schema=is_schema, found_as=elsewhere
        )
        self.dropped.append(dropped)

    def _files_of(self, services: list[Component], schema: AppSearchSchema | None) -> Iterator[_File]:
        for service in services:
            file = self._file_of_service(service, schema)
            if file is not None:
                yield file
        application = application_component(self.application)
        if self.release.application_level and application is not None:
            yield from self._files_of_application(application)

    def _file_of_service(self, service: Component, schema: AppSearchSchema | None) -> _File | None:
        names = load_indexing().names
        v1, v2 = service.find_property(names.v1), service.find_property(names.v2)
        role: FileRole
        if self.release.choice == "schema":
            role, property_ = ("v2", v2) if schema is not None else ("v1", v1)
        else:
            role, property_ = ("v2", v2) if v2 is not None else ("v1", v1)
        if property_ is None:
            why = "" if v1 is None and v2 is None else f" that {self.release.title} reads"
            message = f"the service {service.name} has no property with a file of functions{why}"
            self._ignore("service", service.name, "no-file", message, service.place)
            return None
        file = self._file_of(role, property_, self.application.qualified_name(service))
        if file is None:
            message = f"{property_.name} is {property_.resource or property_.value!r}, which is not read"
            self._ignore("property", property_.name, "not-a-file-property", message, property_.place)
        return file

    def _file_of(self, role: FileRole, property_: MetaData, service: str) -> _File | None:
        if isinstance(property_.value, str):
            return _File(role, property_.value, of_resource=False, service=service, place=property_.place)
        if property_.resource is not None and role in self.release.resources:
            return _File(role, property_.resource, of_resource=True, service=service, place=property_.place)
        return None

    def _files_of_application(self, application: Component) -> Iterator[_File]:
        names = load_indexing().names
        property_ = application.find_property(names.v2) or application.find_property(names.v1)
        if property_ is None:
            return
        role: FileRole = "v2" if property_.name == names.v2 else "v1"
        service = names.application_service
        if isinstance(property_.value, str):
            for part in property_.value.split(","):
                if part.strip():
                    yield _File(role, part.strip(), of_resource=False, service=service, place=property_.place)
        elif property_.resource is not None and property_.resource.startswith("@array/"):
            for item in self.application.resources.read_array(property_.resource) or ():
                yield _File(role, item, of_resource=True, service=service, place=property_.place)
        elif property_.resource is not None and property_.resource.startswith("@xml/"):
            yield _File(role, property_.resource, of_resource=True, service=service, place=property_.place)
        else:
            message = f"{property_.name} is {property_.resource or property_.value!r}, which is not read"
            self._ignore("property", property_.name, "not-a-file-property", message, property_.place)

    def _index_file(self, file: _File, schema: AppSearchSchema | None) -> None:
        read = self._read(file)
        if read is None:
            self._drop_missing(file.reference, "xml resource" if file.of_resource else "asset", file.place)
            return
        setting = FileSetting(
            release=self.release,
            package=self.application.package or UNKNOWN_PACKAGE,
            path=read.place.path,
            service=file.service,
            limits=self.limits,
        )
        try:
            events = self.files.events(read)
            outcome = index_text(events, schema_in_force(schema, self.release), setting)
        except IndexerError as error:
            self._drop(file.reference, error, setting.place(error.line))
            return
        self.outcome.ignored += outcome.ignored
        for document in outcome.documents.values():
            self.outcome.keep(document, self.release)

    def _read(self, file: _File) -> TextFile | None:
        if file.of_resource:
            return self.files.resource(file.reference) if file.reference.startswith("@") else None
        return self.files.asset(file.reference)


def schema_in_force(schema: AppSearchSchema | None, release: Release) -> AppSearchSchema | None:
    """Return the schema by which a release reads a file; None for the parser of v1's fixed tags."""
    if schema is None:
        return None if release.fixed_parser else platform_schema().for_release(release)
    return schema.for_release(release)


def simulate_indexing(
    application: Application, release: str | Release, *, files: AppFiles | None = None
) -> IndexingReport:
    """Return what a release indexes of an application.

    Args:
        application: Its manifest, assets and resources.
        release: A release, or its id: `16`, `16-qpr1`, `16-qpr2`, `17`.
        files: The application's files, where several releases are asked.

    Raises:
        KeyError: no release has that id.
    """
    tables = load_indexing()
    chosen = tables.release(release) if isinstance(release, str) else release
    files = AppFiles(application) if files is None else files
    return PackageIndexer(application, chosen, tables.limits, files).run()


def index_file(
    text: str,
    schema: AppSearchSchema | None,
    release: str | Release,
    *,
    package: str = UNKNOWN_PACKAGE,
    service: str | None = None,
    path: str = "<text>",
    limits: IndexerLimits | None = None,
) -> IndexingReport:
    """Return what a release indexes of one document file.

    Args:
        text: The file.
        schema: The app's schema; None where it has none, so that v1's parser or the platform's schema serves.
        release: A release, or its id.
        package: The app.
        service: Class name of the service; `@null` for a file of the application; None where it is not known.
        path: How places name the file.
        limits: The indexer's limits where a device sets others.

    Raises:
        KeyError: no release has that id.
    """
    tables = load_indexing()
    chosen = tables.release(release) if isinstance(release, str) else release
    setting = FileSetting(chosen, package, path, service, limits or tables.limits)
    try:
        outcome = index_text(text, schema_in_force(schema, chosen), setting)
    except IndexerError as error:
        dropped = DroppedFile(path, error.reason, error.message, error.name, setting.place(error.line))
        return IndexingReport(release=chosen, dropped_files=(dropped,))
    return IndexingReport(release=chosen, documents=outcome.documents, ignored=tuple(outcome.ignored))

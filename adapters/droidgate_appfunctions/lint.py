"""The linter of AppFunctions: of a file, of an app with its manifest, and of Kotlin sources.

It checks an app's manifest for what keeps the indexer from the files, runs the releases' indexers, and checks
signatures for what Jetpack's reader needs. A finding's pointer leads into the indexed documents: the
document's id, then its properties; it is empty where nothing is indexed.

A finding of the indexer is an error where today's release or every release drops the thing, else a warning
(`level_of`); the other rules have a level of their own.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import partial
from typing import Final

from droidgate_android.app_search.events import IndexerError, PullParser, read_events
from droidgate_android.app_search.indexed_packages import (
    AppFiles,
    application_component,
    function_services,
    index_file,
    is_function_service,
    simulate_indexing,
)
from droidgate_android.app_search.indexer_reports import REASONS, IndexedDocument, IndexingReport, Properties
from droidgate_android.app_search.schemas import (
    AppSearchSchema,
    hand_written_schema,
    jetpack_schema,
    read_schema,
)
from droidgate_android.projects.indexed_text import parse_integer, to_lower_camel_case
from droidgate_appfunctions.fields import local_name
from droidgate_appfunctions.format import KIND_OF_NUMBER, NAMES
from droidgate_appfunctions.metadata import metadata_attributes
from droidgate_appfunctions.saved_listing import is_saved_listing
from droidgate_appfunctions.unread_declarations import (
    is_meant_for_functions,
    may_name_functions,
    usually_names_functions,
)
from droidgate_mappings.formats.application import Application, Component, MetaData, TextFile, find_elsewhere
from droidgate_mappings.formats.format import SourceFile
from droidgate_mappings.model.capability import Capability, Place, Provider
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.model.findings import Finding, Level, LintRule, LintRules, finding_code
from droidgate_mappings.model.json_values import Json, pointer_token
from droidgate_mappings.model.types import ObjectType, Property
from droidgate_mappings.records import dataclass, field
from droidgate_mappings.tables.app_functions import Release, load_indexing, load_schema_types
from droidgate_mappings.text.xml_text import Element, parse_xml

PREFIX: Final = "appfunctions-"

_FIXES: Final[Mapping[str, str]] = {
    "malformed-xml": "make it one well-formed XML document",
    "missing-id": "give every document an <id>; Jetpack writes <id>unused</id> into nested ones",
    "unknown-tag": "remove the tag, or declare it in the schema",
    "bad-number": "write digits only",
    "element-in-text": "write text only, with &lt; for <",
    "reserved-property": "remove it; the indexer fills it in",
    "bad-scope": "write <scope>global</scope>, or <scope>activity</scope> in a file of the application",
    "enabled-application-function": "remove <enabledByDefault>; registering the function enables it",
    "missing-file": "name a file below the app's assets/; if the build makes it, lint the APK",
    "not-a-file-property": "name an asset in android:value",
    "too-many-types": "declare fewer document types",
    "bad-property-name": "use letters and digits only",
    "unsupported-type": "use xs:string, xs:long, xs:int, xs:boolean or a type of the file after appfn:",
    "bad-attribute": "use the numbers of AppSearchSchema",
    "no-function-type": "ship the schema file of the library that writes the functions",
    "undefined-type": "ship the schema file of the library that writes the functions",
    "over-limit": "declare fewer functions, or spread them over several services",
    "overwritten": "give each document an id of its own",
    "bad-count": "write exactly what the schema allows",
    "too-large": "shorten it",
    "missing-permission": "add android:permission to the service",
    "another-service": "put all functions into one service, where older releases matter",
    "no-file": "add the properties android.app.appfunctions.v2 and android.app.appfunctions.schema",
    "different-schemas": "name one schema file in all services",
}

INDEXING_CODES: Final[Mapping[str, str]] = {
    reason: finding_code(PREFIX + reason, meaning, __name__) for reason, meaning in REASONS.items()
}
"""Reason of the indexer -> finding code."""


_BOOK: Final = LintRules("AppFunctions", __name__, PREFIX)

RULES: Final = _BOOK.by_id
"""Every rule with a level of its own, by id, in order."""


_error = partial(_BOOK.declare, Level.ERROR)
_warning = partial(_BOOK.declare, Level.WARNING)
_note = partial(_BOOK.declare, Level.NOTE)


# fmt: off
META_DATA: Final = _error("meta-data", "1.1", "A <meta-data> holds what Android reads from <property>",
    "write <property>")
UNKNOWN_PROPERTY: Final = _warning("unknown-property", "1.1",
    "A <property> with the prefix of AppFunctions has a name that Android does not read",
    "name the property as the documentation of AppFunctions does")
SERVICE_ACTION: Final = _error("service-action", "1.1",
    "A service that is meant for app functions has no intent filter for them",
    "add an intent filter with the action android.app.appfunctions.AppFunctionService")
SERVICE_DISABLED: Final = _warning("service-disabled", "5.2",
    "A service with function files is disabled, so its functions cannot be called",
    "remove android:enabled, or enable the service before it is called")
NO_SCHEMA: Final = _error("no-schema", "1.2",
    "A file of version 2 comes without a schema file, so no release reads its functions completely",
    "add the property android.app.appfunctions.schema with app_functions_schema.xsd")
APPLICATION_LEVEL: Final = _note("application-level", "1.2",
    "Functions of the application are read from Android 17 on", "older releases see functions of a service")
METADATA_PLACE: Final = _warning("metadata-place", "1.1",
    "The app's guidance for agents is not where Android looks for it",
    "put the property android.app.appfunctions.app_metadata with android:resource into <application>")
METADATA_MISSING: Final = _warning("metadata-missing", "1.1",
    "The resource with the app's guidance for agents does not exist",
    "add the file below res/xml, or name the one that exists")
METADATA_CONTENT: Final = _warning("metadata-content", "2.g",
    "The app's guidance for agents has no description that Android finds",
    "write <AppFunctionAppMetadata> with a description in the namespace of res-auto or androidx.appfunctions")
METADATA_FILE: Final = _error("metadata-file", "2.g",
    "The file with the app's guidance for agents is not one that Android reads",
    "make <AppFunctionAppMetadata> the root element of a well-formed XML document")
METADATA_ATTRIBUTES: Final = _warning("metadata-attributes", "2.g",
    "The application element has attributes of app_metadata, which neither Android nor Jetpack reads",
    "move them into the file that android.app.appfunctions.app_metadata names")
METADATA_GUIDANCE: Final = _note("metadata-guidance", "2.g",
    "The app has a text for its users and no guidance for agents",
    "add a description to <AppFunctionAppMetadata>, if agents need guidance")
ID_DIFFERS: Final = _warning("id-differs", "3.2",
    "A function's <id> and <functionId> differ, so releases call it by different names",
    "write the same text into both")
NO_FUNCTION_ID: Final = _warning("no-function-id", "3.2",
    "A function has no <functionId>, so releases before 17 cannot call it",
    "write <functionId> with the text of <id>")
ENABLED_NOT_STATED: Final = _warning("enabled-not-stated", "3.2",
    "A function does not state whether it is enabled; releases treat that differently",
    "write <enabledByDefault>true</enabledByDefault>")
NO_SIGNATURE: Final = _warning("no-signature", "3.3",
    "A function has neither a response nor a predefined schema, so Jetpack's agents do not see it",
    "describe parameters and response in a file of version 2")
SCHEMA_TRIPLE: Final = _warning("schema-triple", "2.c",
    "A predefined schema has no category, name or version, so it is ignored",
    "write all three, the version above 0, or none")
NO_DESCRIPTION: Final = _note("no-description", "9.6", "A function has no description",
    "describe in a sentence what the function does; agents choose by it")
NO_PARAMETER_DESCRIPTION: Final = _note("no-parameter-description", "9.6", "A parameter has no description",
    "describe in a sentence what the parameter means; agents fill it in by that")
UNKNOWN_TYPE: Final = _warning("unknown-type", "2.c",
    "Jetpack does not know a data type's number, so its agents do not see the function",
    "use one of 0 to 8 and 10 to 14")
EMPTY_OBJECT: Final = _warning("empty-object", "2.c",
    "An object has no properties, so Jetpack's agents do not see the function",
    "give it at least one property")
UNNAMED_ONE_OF: Final = _warning("unnamed-one-of", "2.c",
    "A choice of types has no objectQualifiedName, so Jetpack's agents do not see the function",
    "write <objectQualifiedName>")
BAD_INT_ENUM: Final = _warning("bad-int-enum", "2.c",
    "An enum value of an integer is not a 32-bit integer, so Jetpack's agents do not see the function",
    "write digits only, up to 2147483647")
DANGLING_REFERENCE: Final = _warning("dangling-reference", "2.c",
    "A reference names no data type of the app's components",
    "declare it under <dataTypes> of an <AppFunctionComponentMetadataDocument>")
UNTYPED_ARRAY: Final = _warning("untyped-array", "2.c", "A list has no item type", "write <itemType>")
UNTYPED: Final = _warning("untyped", "2.c", "A parameter, property or response has no data type",
    "write <dataTypeMetadata>, or <valueType> in a response")
UNNAMED_PARAMETER: Final = _warning("unnamed-parameter", "2.c", "A parameter or property has no name",
    "write <name>")
DUPLICATE_PARAMETERS: Final = _warning("duplicate-parameter", "2.c",
    "Two parameters or properties have one name", "rename one")
UNREADABLE_NAME: Final = _warning("unreadable-name", "4",
    "A name has a character of AppSearch's paths, so the app cannot read the value by it",
    "use a name without . and [")
UNKNOWN_REQUIRED: Final = _warning("unknown-required", "2.c",
    "A required property is not one of the object's properties", "remove it from <required>, or declare it")
ACCESS_LEVEL: Final = _warning("access-level", "2.c", "Jetpack does not know the access level",
    "write self, system or androidTrusted")
PATTERN_TYPE: Final = _warning("pattern-type", "2.c",
    "A pattern's type is not a constant of PatternMatcher, so the function is ignored", "use 0 to 4")
UNEVEN_LISTS: Final = _warning("uneven-lists", "2.d",
    "paramNames, paramTypes and paramRequired are of different length and go by position",
    "write one of each for every parameter")
DUPLICATE_PROPERTY: Final = _warning("duplicate-property", "2.f",
    "The schema declares a property of a type twice; the first counts", "remove one")
BASE_PROPERTY: Final = _warning("base-property", "article 4.1",
    "The schema's type of functions lacks a property of the platform, or declares it in another way",
    "declare it as Jetpack's app_functions_schema.xsd does")
BAD_BOOLEAN: Final = _warning("bad-boolean", "2.a",
    "A value that should be true or false is another word, which Android reads as false",
    "write true or false")
ASSUMED: Final = _note("assumed", "1.2",
    "A file alone does not state its schema and its place in the manifest; the usual ones are assumed",
    "lint the app's folder or APK to be sure")
ROOT: Final = _warning("root", "article 4.2", "The root element of a file of functions is <appfunctions>",
    "rename the root element to <appfunctions>")
NOT_FUNCTIONS: Final = _warning("not-functions", "3.2",
    "The file has elements, and none is a function that Android reads",
    "write each function as <appfunction>, or let Jetpack's compiler write the file")
NO_FUNCTIONS: Final = _note("no-functions", "3.2", "The file declares no functions",
    "nothing to do if this is intended")
# fmt: on


def level_of(releases: Iterable[Release], among: Iterable[Release]) -> Level:
    """Return how grave it is that the given releases are concerned, of those that read the thing at all."""
    concerned = {release.id for release in releases}
    every = {item.id for item in among}
    return Level.ERROR if load_indexing().current in concerned or concerned >= every else Level.WARNING


def name_releases(releases: Iterable[Release]) -> str:
    """Return the releases as words, such as `Android 16 QPR1, Android 16 QPR2 and Android 17`."""
    chosen = list(releases)
    if len(chosen) == len(load_indexing().linted()):
        return "every release from Android 16 on"
    titles = [item.title for item in chosen]
    return " and ".join(filter(None, (", ".join(titles[:-1]), titles[-1]))) if titles else "no release"


def ids_of(releases: Iterable[Release]) -> tuple[str, ...]:
    """Return the releases as findings name them."""
    return tuple(release.id for release in releases)


def indexing_finding(
    reason: str, level: Level, message: str, source: Place | None, releases: Iterable[Release]
) -> Finding:
    """Return a finding of one of the indexer's rules, on the releases that it is true of."""
    section = "2.f" if reason in _SCHEMA_REASONS else "1.1" if reason in _MANIFEST_REASONS else "3.2"
    return Finding(
        code=INDEXING_CODES[reason],
        level=level,
        pointer="",
        message=message,
        hint=_FIXES[reason],
        source=source,
        rule=f"{_BOOK.specification} {section}",
        releases=ids_of(releases),
    )


_SCHEMA_REASONS: Final = frozenset({
    "too-many-types", "bad-property-name", "unsupported-type", "bad-attribute", "no-function-type",
    "undefined-type",
})  # fmt: skip
_MANIFEST_REASONS: Final = frozenset({
    "missing-file", "not-a-file-property", "missing-permission", "another-service", "no-file",
    "different-schemas",
})  # fmt: skip


_UNKNOWN_TAG = "unknown-tag"
_MISSING = "missing-file"
_REFUSED = frozenset({"bad-count", "too-large"})
NO_FILE = "no-file"
_MERGED = frozenset({NO_FILE, "missing-permission"})
_SERVICES_OF_JETPACK: Final = frozenset(
    f"androidx.appfunctions.{folder}{kind}AppFunctionService"
    for folder in ("", "service.")
    for kind in ("Platform", "Extension")
)
"""Services to which Jetpack's own manifest adds properties and the permission when the app is built."""


@dataclass(slots=True)
class _Cause:
    """One cause, with the releases on which it drops a file, and those on which something is read over."""

    reason: str
    name: str
    message: str
    path: str
    place: Place | None
    is_schema: bool = False
    found_as: str | None = None
    dropping: list[Release] = field(default_factory=list)
    ignoring: list[Release] = field(default_factory=list)
    count: int = 0


def findings_of_reports(
    reports: Sequence[IndexingReport],
    *,
    has_schema: bool,
    is_built: bool = True,
    assets_of_code: Collection[str] = (),
) -> Iterator[Finding]:
    """Yield the findings of what the releases do.

    Args:
        reports: One for each release that reads the thing at all, oldest first.
        has_schema: The app has a schema of its own that is read. Without one, tags that Android's own schema
            does not know are not reported, only that the schema is missing.
        is_built: The files are those of an APK. A file that a source tree does not have is not an error,
            because the build may make it.
        assets_of_code: Files that the compiler of the source code writes. They are not missing.
    """
    among = [report.release for report in reports]
    for cause in _causes(reports):
        if cause.reason == _MISSING and cause.path in assets_of_code:
            continue
        if cause.reason in _MERGED and not is_built and cause.name in _SERVICES_OF_JETPACK:
            continue
        if cause.reason == _UNKNOWN_TAG:
            if has_schema:
                yield _finding_of_tag(cause, among)
        else:
            finding = _finding_of_cause(cause, among)
            if cause.reason == _MISSING and cause.found_as is None and not is_built:
                finding = finding.changed({"level": Level.WARNING})
            yield finding
    yield from _findings_of_functions(reports)


def _causes(reports: Sequence[IndexingReport]) -> list[_Cause]:
    causes: dict[tuple[str, ...], _Cause] = {}
    rejecting: dict[str, list[Release]] = defaultdict(list)
    for report in reports:
        for dropped in report.dropped_files:
            path = str(dropped.place.path if dropped.place else dropped.path)
            key = _key(dropped.reason, path, dropped.name, dropped.place)
            cause = causes.setdefault(
                key, _Cause(dropped.reason, dropped.name or "", dropped.message, dropped.path, dropped.place)
            )
            cause.is_schema = dropped.is_schema
            cause.found_as = dropped.found_as
            cause.dropping.append(report.release)
            if dropped.reason == _UNKNOWN_TAG:
                rejecting[path].append(report.release)
        for ignored in (*report.ignored, *report.warnings):
            path = ignored.place.path if ignored.place else ""
            key = _key(ignored.reason, path, ignored.name, ignored.place)
            cause = causes.setdefault(
                key, _Cause(ignored.reason, ignored.name, ignored.message, path, ignored.place)
            )
            cause.count += report.release == reports[-1].release
            if report.release not in cause.ignoring:
                cause.ignoring.append(report.release)
    for cause in causes.values():
        if cause.reason == _UNKNOWN_TAG and cause.place is not None:
            # Android names the first unknown tag only; every other one of the file would drop it as well.
            cause.dropping = rejecting[cause.place.path]
    return list(causes.values())


def _key(reason: str, path: str, name: str | None, place: Place | None) -> tuple[str, ...]:
    line = "" if reason == _UNKNOWN_TAG or place is None else str(place.line)
    return reason, path, name or "", line


def _finding_of_cause(cause: _Cause, among: list[Release]) -> Finding:
    if cause.is_schema:
        releases = cause.dropping
        effect = f"the app has no schema of its own on {name_releases(releases)}"
    elif cause.dropping:
        releases = cause.dropping
        effect = f"the functions of {cause.path} are missing on {name_releases(releases)}"
    elif cause.reason in _REFUSED:
        releases = cause.ignoring
        effect = f"AppSearch refuses the document {cause.name} on {name_releases(releases)}"
    else:
        releases = cause.ignoring
        effect = f"that is so on {name_releases(releases)}"
    return indexing_finding(
        cause.reason, level_of(releases, among), f"{cause.message}; {effect}", cause.place, releases
    )


def _finding_of_tag(cause: _Cause, among: list[Release]) -> Finding:
    effects = []
    if cause.dropping:
        effects.append(f"all functions of the file are missing on {name_releases(cause.dropping)}")
    if cause.ignoring:
        effects.append(f"its content is lost on {name_releases(cause.ignoring)}")
    times = f", {cause.count} times" if cause.count > 1 else ""
    level = level_of(cause.dropping, among) if cause.dropping else Level.WARNING
    message = f"{cause.message}{times}; {', and '.join(effects)}"
    releases = [item for item in among if item in cause.dropping or item in cause.ignoring]
    finding = indexing_finding(cause.reason, level, message, cause.place, releases)
    tag = to_lower_camel_case(cause.name)
    if any(tag in properties for properties in jetpack_schema().types.values()):
        hint = "the app's schema file is older than the tag: ship the one of the library that wrote it"
        return finding.changed({"hint": hint})
    return finding


def _findings_of_functions(reports: Sequence[IndexingReport]) -> Iterator[Finding]:
    """Yield what is not lost and still differs between releases."""
    differing = _collect(reports, lambda item: item.function_id is not None and item.id != item.function_id)
    yield from _indexing_findings(ID_DIFFERS, differing, "has another <functionId> than <id>")
    nameless = _collect(reports, lambda item: item.function_id is None)
    yield from _indexing_findings(NO_FUNCTION_ID, nameless, "has no <functionId>")
    disabled = _collect(reports, lambda item: "enabledByDefault" not in item.properties and not item.enabled)
    problem = "has no <enabledByDefault> and counts as disabled"
    yield from _indexing_findings(ENABLED_NOT_STATED, disabled, problem)


def _collect(
    reports: Sequence[IndexingReport], holds: Callable[[IndexedDocument], bool]
) -> dict[str, tuple[IndexedDocument, list[Release]]]:
    documents_by_id: dict[str, tuple[IndexedDocument, list[Release]]] = {}
    for report in reports:
        for document in report.documents.values():
            if document.is_function and holds(document):
                documents_by_id.setdefault(document.id, (document, []))[1].append(report.release)
    return documents_by_id


def _indexing_findings(
    rule: LintRule, found: dict[str, tuple[IndexedDocument, list[Release]]], subject: str
) -> Iterable[Finding]:
    for name, (document, releases) in found.items():
        message = f"the function {name} {subject} on {name_releases(releases)}"
        pointer = f"/{pointer_token(name)}"
        yield rule.broken(message, pointer=pointer, source=document.place, releases=ids_of(releases))


def current_report(reports: Sequence[IndexingReport]) -> IndexingReport | None:
    """Return the report of today's release, or of the newest there is."""
    current = load_indexing().current
    return next(
        (report for report in reports if report.release.id == current), reports[-1] if reports else None
    )


_NAMESPACES: Final = (NAMES["metadata_namespace_old"], NAMES["metadata_namespace"])


def _file_properties() -> tuple[str, str]:
    names = load_indexing().names
    return names.v1, names.v2


def findings_of_manifest(application: Application) -> Iterator[Finding]:
    """Yield the findings of the manifest and of the guidance that it points to."""
    for component in application.components:
        yield from _check_meta_data(component)
        yield from _check_properties(component)
        yield from _check_metadata_property(component, application)
        if component.kind == "service":
            yield from _check_service(component)
    yield from _check_application(application)


def _check_meta_data(component: Component) -> Iterator[Finding]:
    names = load_indexing().names
    for meta_data in component.meta_data:
        is_ours = usually_names_functions(meta_data) or meta_data.name.startswith(f"{names.v1}.")
        if is_ours or may_name_functions(meta_data):
            message = f"<meta-data> {meta_data.name} is read by no release"
            yield META_DATA.broken(message, source=meta_data.place)


def _check_properties(component: Component) -> Iterator[Finding]:
    names = load_indexing().names
    property_names = (names.v1, names.v2, names.schema_, names.app_metadata)
    for property_ in component.properties:
        if property_.name.startswith(f"{names.v1}.") and property_.name not in property_names:
            nearest = next(iter(get_close_matches(property_.name, property_names, n=1, cutoff=0)), names.v2)
            message = f"Android does not read the property {property_.name}"
            yield UNKNOWN_PROPERTY.broken(message, source=property_.place, hint=f"write {nearest}")


def _check_metadata_property(component: Component, application: Application) -> Iterator[Finding]:
    property_ = component.find_property(load_indexing().names.app_metadata)
    if property_ is None:
        return
    rule = METADATA_PLACE
    if component.kind != "application":
        yield rule.broken(f"{property_.name} is in a {component.kind}", source=property_.place)
    elif property_.resource is None:
        yield rule.broken(f"{property_.name} has no android:resource", source=property_.place)
    else:
        yield from _check_metadata_file(property_, application)


def _check_metadata_file(property_: MetaData, application: Application) -> Iterator[Finding]:
    name = property_.resource or ""
    try:
        file = application.resources.read_file(name)
    except InputError as error:
        yield _unreadable(error, property_.place)
        return
    if file is None:
        elsewhere = find_elsewhere(application.resources, name)
        also = "" if elsewhere is None else f", but it has {elsewhere}"
        yield METADATA_MISSING.broken(f"the app has no {name}{also}", source=property_.place)
        return
    yield from findings_of_metadata(file.text, file.place.path)


def findings_of_metadata(text: str, path: str) -> Iterator[Finding]:
    """Yield the findings of a guidance file."""
    try:
        root = parse_xml(text, path=path)
    except InputError as error:
        yield _unreadable(error, Place(path=path))
        return
    place = Place(path=path, line=root.sourceline)
    expected = load_indexing().names.metadata_root
    if root.tag != expected:
        message = f"the root element is <{local_name(root)}>, not <{expected}>"
        yield METADATA_FILE.broken(message, source=place)
        return
    texts = ("description", "instructions")
    if _has_text(root, *texts):
        return
    if _has_text(root, "displayDescription"):
        yield METADATA_GUIDANCE.broken(f"{expected} has a displayDescription only", source=place)
    else:
        yield METADATA_CONTENT.broken(f"{expected} has no description", source=place)


def _unreadable(error: InputError, place: Place | None) -> Finding:
    """Return the finding of a guidance file that cannot be read, at its own place where that is known."""
    path, _, position = (error.place or "").partition(":")
    line = position.partition(":")[0]
    if path and line.isdecimal():
        place = Place(path=path, line=int(line))
    return METADATA_FILE.broken(error.message, source=place)


def _has_text(root: Element, *names: str) -> bool:
    return any(root.get(f"{{{item}}}{name}") for item in _NAMESPACES for name in names)


def _check_service(service: Component) -> Iterator[Finding]:
    names = load_indexing().names
    files = [property_ for property_ in service.properties if property_.name in _file_properties()]
    is_ours = is_function_service(service)
    if not is_ours and (files or is_meant_for_functions(service)):
        has = f"has {files[0].name} and no" if files else "is meant for app functions and lacks the"
        message = f"the service {service.name} {has} action {names.service_action}"
        yield SERVICE_ACTION.broken(message, source=service.place)
    elif files and not service.enabled:
        message = f"the service {service.name} is disabled"
        yield SERVICE_DISABLED.broken(message, source=service.place)


def _check_application(application: Application) -> Iterator[Finding]:
    names = load_indexing().names
    element = application_component(application)
    # Next to the property that names a file, the attributes are left out, which the reader reports.
    is_stated = element is None or element.find_property(names.app_metadata) is not None
    if element is not None and not is_stated and (stated := metadata_attributes(element.foreign_attributes)):
        words = ", ".join(sorted(name.rpartition("}")[2] for name in stated))
        message = f"<application> has attributes of app_metadata: {words}"
        yield METADATA_ATTRIBUTES.broken(message, source=element.place)
    of_application = None if element is None else element.find_property(names.schema_)
    for service in function_services(application):
        v2 = service.find_property(names.v2)
        if v2 is not None and service.find_property(names.schema_) is None and of_application is None:
            message = (
                f"the service {service.name} has {names.v2} and no {names.schema_}: Android 16 does not "
                "read the file, and Android 17 reads it without description, parameters and response"
            )
            releases = ids_of(load_indexing().linted())
            yield NO_SCHEMA.broken(message, source=v2.place, releases=releases)
    if element is None:
        return
    for name in _file_properties():
        property_ = element.find_property(name)
        if property_ is not None:
            message = f"{name} of the application is not read before Android 17"
            older = [item for item in load_indexing().linted() if not item.application_level]
            yield APPLICATION_LEVEL.broken(message, source=property_.place, releases=ids_of(older))
    v2 = element.find_property(names.v2)
    services = function_services(application)
    if v2 is not None and not any(holder.find_property(names.schema_) for holder in (element, *services)):
        message = (
            f"the application has {names.v2} and no {names.schema_}: Android 17 reads the file without "
            "description, parameters and response"
        )
        reading = [item for item in load_indexing().linted() if item.application_level]
        yield NO_SCHEMA.broken(message, source=v2.place, releases=ids_of(reading))


_ACCESS_LEVELS: Final = frozenset({"self", "system", "androidTrusted"})
_PATTERN_TYPES: Final = range(5)
_PARALLEL: Final = ("paramNames", "paramTypes", "paramRequired")
_SCHEMA_NAMES: Final = ("schemaCategory", "schemaName")
_PATH_CHARACTERS: Final = frozenset(".[")


def findings_of_signatures(report: IndexingReport) -> Iterator[Finding]:
    """Yield the findings of a release's documents."""
    component_type = load_indexing().names.component_type
    components = [document for document in report.documents.values() if document.type == component_type]
    names = {
        str(name)
        for component in components
        for data_type in _documents(component.properties, "dataTypes")
        for name in data_type.get("name", [])
    }
    for document in report.documents.values():
        checker = _Checker(document, names)
        if document.is_function:
            yield from checker.check_function()
        elif document.type == component_type:
            yield from checker.check_named(document.properties, "dataTypes", _pointer(document.id))


def _pointer(*tokens: str | int) -> str:
    return "".join(f"/{pointer_token(str(token))}" for token in tokens)


def _documents(properties: Mapping[str, Json], name: str) -> list[Properties]:
    return [property_ for property_ in properties.get(name, []) if isinstance(property_, dict)]


def _first_value(properties: Mapping[str, Json], name: str) -> Json:
    values = properties.get(name)
    return values[0] if values else None


@dataclass(frozen=True, slots=True)
class _Checker:
    document: IndexedDocument
    component_names: set[str]

    def _finding(self, rule: LintRule, message: str, pointer: str) -> Finding:
        return rule.broken(f"{self.document.id}: {message}", pointer=pointer, source=self.document.place)

    def check_function(self) -> Iterator[Finding]:
        properties, pointer = self.document.properties, _pointer(self.document.id)
        yield from self._check_schema(properties, pointer)
        if "description" not in properties:
            yield self._finding(NO_DESCRIPTION, "it has no description", pointer)
        level = _first_value(properties, "accessLevel")
        if level is not None and level not in _ACCESS_LEVELS:
            yield self._finding(ACCESS_LEVEL, f"the access level {level!r} is unknown", pointer)
        lengths = [len(properties.get(name, [])) for name in _PARALLEL]
        if len(set(lengths)) > 1:
            counts = ", ".join(f"{count} {name}" for name, count in zip(_PARALLEL, lengths, strict=True))
            yield self._finding(UNEVEN_LISTS, f"it has {counts}", pointer)
        yield from self.check_named(properties, "parameters", pointer)
        for index, parameter in enumerate(_documents(properties, "parameters")):
            described = (parameter, *_documents(parameter, "dataTypeMetadata"))
            if not any(_first_value(item, "description") for item in described):
                message = f"the parameter {_first_value(parameter, 'name')!r} has no description"
                yield self._finding(NO_PARAMETER_DESCRIPTION, message, f"{pointer}/parameters/{index}")
        for index, response in enumerate(_documents(properties, "response")):
            yield from self._check_types(response, "valueType", f"{pointer}/response/{index}")

    def _check_schema(self, properties: Properties, pointer: str) -> Iterator[Finding]:
        version = _first_value(properties, "schemaVersion")
        are_given = [bool(_first_value(properties, name)) for name in _SCHEMA_NAMES]
        are_given.append(isinstance(version, int) and version > 0)
        stated = any(name in properties for name in (*_SCHEMA_NAMES, "schemaVersion"))
        if stated and not all(are_given):
            message = "schemaCategory, schemaName and schemaVersion are not all given"
            yield self._finding(SCHEMA_TRIPLE, message, pointer)
        described = "response" in properties or "paramNames" in properties
        if not described and not all(are_given):
            message = "it has neither a response nor a predefined schema"
            yield self._finding(NO_SIGNATURE, message, pointer)

    def check_named(self, properties: Mapping[str, Json], name: str, pointer: str) -> Iterator[Finding]:
        """Check named documents with a data type: parameters, properties, components' types."""
        items = _documents(properties, name)
        for index, item in enumerate(items):
            here = f"{pointer}/{name}/{index}"
            declared_name = _first_value(item, "name")
            if not declared_name:
                yield self._finding(UNNAMED_PARAMETER, f"an entry of {name} has no name", here)
            elif name != "dataTypes" and _PATH_CHARACTERS & set(declared_name):
                yield self._finding(UNREADABLE_NAME, f"the name {declared_name!r} has a . or [", here)
            yield from self._check_types(item, "dataTypeMetadata", here)
        counts = Counter(_first_value(item, "name") for item in items)
        for declared_name, count in counts.items():
            if declared_name and count > 1:
                message = f"{count} entries of {name} are called {declared_name!r}"
                yield self._finding(DUPLICATE_PARAMETERS, message, f"{pointer}/{name}")

    def _check_types(self, holder: Mapping[str, Json], name: str, pointer: str) -> Iterator[Finding]:
        types = _documents(holder, name)
        if not types:
            yield self._finding(UNTYPED, f"a parameter, property or response has no {name}", pointer)
        for type_ in types:
            yield from self._check_type(type_, f"{pointer}/{name}/0")

    def _check_type(self, properties: Properties, pointer: str) -> Iterator[Finding]:
        number = _first_value(properties, "type")
        kind = KIND_OF_NUMBER.get(number) if isinstance(number, int) else None
        if number is not None and kind is None:
            yield self._finding(UNKNOWN_TYPE, f"a data type has the unknown number {number}", pointer)
        yield from self._check_shape(properties, kind, pointer)
        for index, pattern in enumerate(_documents(properties, "patterns")):
            if _first_value(pattern, "type") not in _PATTERN_TYPES:
                message = f"a pattern has the unknown type {_first_value(pattern, 'type')}"
                yield self._finding(PATTERN_TYPE, message, f"{pointer}/patterns/{index}")
        yield from self.check_named(properties, "properties", pointer)
        for name in ("itemType", "allOf", "oneOf"):
            for index, inner in enumerate(_documents(properties, name)):
                yield from self._check_type(inner, f"{pointer}/{name}/{index}")

    def _check_shape(self, data_type: Properties, kind: str | None, pointer: str) -> Iterator[Finding]:
        properties = _documents(data_type, "properties")
        if kind == "object":
            if not properties:
                yield self._finding(EMPTY_OBJECT, "an object has no properties", pointer)
            names = {_first_value(property_, "name") for property_ in properties}
            for missing in (required for required in data_type.get("required", []) if required not in names):
                message = f"{missing!r} is required and is not a property"
                yield self._finding(UNKNOWN_REQUIRED, message, pointer)
        elif kind == "one-of" and not _first_value(data_type, "objectQualifiedName"):
            yield self._finding(UNNAMED_ONE_OF, "a choice of types has no name", pointer)
        elif kind == "int32":
            for value in data_type.get("enumValues", []):
                if parse_integer(str(value), 32) is None:
                    yield self._finding(BAD_INT_ENUM, f"{value!r} is not a 32-bit integer", pointer)
        elif kind == "array" and not _documents(data_type, "itemType"):
            yield self._finding(UNTYPED_ARRAY, "a list has no itemType", pointer)
        elif kind == "ref" and _first_value(data_type, "dataTypeReference") not in self.component_names:
            message = f"{_first_value(data_type, 'dataTypeReference')!r} is not a data type of the components"
            yield self._finding(DANGLING_REFERENCE, message, pointer)


def lint_file(source: SourceFile) -> tuple[Finding, ...]:
    """Return the findings of one file: a functions file, an `app_functions_schema.xsd`, or an app's guidance.

    A functions file alone does not say which schema is in force; the newest usual one is taken, and a note
    says so. A saved listing has no rules of its own: Android wrote it.

    Raises:
        InputError: it is a manifest, which says nothing without its app.
    """
    if is_saved_listing(source.data):
        return ()
    # Android reads assets as UTF-8 and puts a mark for what is not.
    whole = source.data.decode("utf-8", "replace")
    text = whole.removeprefix("\ufeff")
    try:
        tags = _tags_of(text)
    except IndexerError as error:
        place = Place(path=source.path, line=error.line)
        every = load_indexing().linted()
        message = f"{error.message}; the functions of {source.path} are missing on {name_releases(every)}"
        return (indexing_finding(error.reason, Level.ERROR, message, place, every),)
    if tags[0] == "manifest":
        message = "a manifest is linted with the app it belongs to"
        raise InputError(message, place=source.path, hint="give the project's folder or the APK")
    if tags[0] == "xs:schema" or "xs:documentType" in tags:
        return tuple(_lint_schema(text, source.path))
    if tags[0] == load_indexing().names.metadata_root:
        return tuple(findings_of_metadata(text, source.path))
    return tuple(_lint_functions(whole, tags, source.path))


def lint_application(application: Application) -> tuple[Finding, ...]:
    """Return the findings of an app: its manifest, and what each release makes of the files it names."""
    findings = list(findings_of_manifest(application))
    if not _declares_functions(application):
        return tuple(findings)
    tables = load_indexing()
    files = AppFiles(application)
    reports = [simulate_indexing(application, item, files=files) for item in tables.linted()]
    has_schema = _has_schema(application, reports)
    # Older releases look for a file of version 1 where the schema is missing, which is reported already.
    findings += [
        finding
        for finding in findings_of_reports(
            reports,
            has_schema=has_schema,
            is_built=application.is_built,
            assets_of_code=application.assets_of_code,
        )
        if has_schema or finding.level is Level.ERROR or finding.code != INDEXING_CODES[NO_FILE]
    ]
    current = current_report(reports)
    if current is not None:
        findings += findings_of_signatures(current)
    for file in _files_of(application, files):
        findings += _findings_of_text(file.text, file.place.path, reports)
    return tuple(findings)


def _files_of(application: Application, files: AppFiles) -> Iterator[TextFile]:
    """Yield the files of functions and the schema files that an app names and has, each once."""
    names = load_indexing().names
    seen: set[str] = set()
    for component in (application_component(application), *function_services(application)):
        for property_ in component.properties if component is not None else ():
            if property_.name not in {names.v1, names.v2, names.schema_}:
                continue
            assets = str(property_.value).split(",") if isinstance(property_.value, str) else ()
            named_files = [files.asset(name.strip()) for name in assets if name.strip()]
            if property_.resource is not None:
                named_files.append(files.resource(property_.resource))
            for file in named_files:
                if file is not None and file.place.path not in seen:
                    seen.add(file.place.path)
                    yield file


def _findings_of_text(text: str, path: str, reports: Sequence[IndexingReport]) -> Iterator[Finding]:
    """Yield what is wrong with a well-formed file of functions, or a schema, in every release.

    Args:
        text: The file.
        path: Its path.
        reports: What the releases make of the app, or of the file alone.
    """
    try:
        events = read_events(text, namespaces="documentType" not in text)
    except IndexerError:
        return
    tags = [event.name for event in events if event.type == "start"]
    if "xs:documentType" in tags:
        yield from _check_base_properties(text, path)
    else:
        yield from _check_elements(tags, path, reports)
    booleans = _boolean_tags()
    tag, content = "", ""
    for event in events:
        if event.type == "start":
            tag, content = event.name, ""
        elif event.type == "text":
            content += event.text
        elif event.type == "end" and event.name == tag:
            word = content.strip()
            if to_lower_camel_case(tag) in booleans and word.lower() not in {"true", "false"}:
                message = f"<{tag}> is {word[:40]!r}, which Android reads as false"
                yield BAD_BOOLEAN.broken(message, source=Place(path=path, line=event.line))


def _check_elements(tags: list[str], path: str, reports: Sequence[IndexingReport]) -> Iterator[Finding]:
    place = Place(path=path)
    root, *others = [tag for tag in tags if tag != "version"] or [""]
    if root != _ROOT_TAG:
        yield ROOT.broken(f"the root element of {path} is <{root}>", source=place)
    if not others:
        yield NO_FUNCTIONS.broken(f"{path} declares no functions", source=place)
        return
    is_read = any(
        document.place is not None and document.place.path == path
        for report in reports
        for document in report.documents.values()
    )
    is_dropped = any(dropped.path == path for report in reports for dropped in report.dropped_files)
    documents = {"appfunction", *load_schema_types("android"), *jetpack_schema().types}
    if not is_read and not is_dropped and documents.isdisjoint(others):
        message = f"{path} declares no functions that Android reads: <{others[0]}> is not a function"
        yield NOT_FUNCTIONS.broken(message, source=place)


_ROOT_TAG: Final = "appfunctions"


def _boolean_tags() -> set[str]:
    schemas = (jetpack_schema(), hand_written_schema())
    return {
        name
        for schema in schemas
        for properties in schema.types.values()
        for name, property_ in properties.items()
        if property_.kind == "boolean"
    }


_BASE_ATTRIBUTES: Final = {
    "functionId": {"indexingType": "1", "tokenizerType": "2"},
    "packageName": {"indexingType": "1", "tokenizerType": "2"},
    "mobileApplicationQualifiedId": {"joinableValueType": "1"},
    "enabledByDefault": {},
}
"""The properties of a function by which Android finds it, and how they are indexed."""


def _check_base_properties(text: str, path: str) -> Iterator[Finding]:
    try:
        schema = read_schema(text)
    except IndexerError:
        return
    name = load_indexing().names.function_type
    declared = schema.types.get(name)
    if declared is None:
        return
    platform = load_schema_types("android")[name]
    place = Place(path=path, line=schema.lines.get(name))
    for property_, expected in platform.items():
        if property_ not in declared:
            if property_ in _BASE_ATTRIBUTES:
                yield BASE_PROPERTY.broken(f"{name} does not declare {property_}", source=place)
            continue
        stated = schema.attributes[name][property_]
        wrong = [
            f'{word}="{value}"'
            for word, value in _BASE_ATTRIBUTES.get(property_, {}).items()
            if stated.get(word) != value
        ]
        if declared[property_].kind != expected.kind:
            wrong.insert(0, f"the type xs:{expected.kind}")
        if wrong:
            message = f"{property_} of {name} does not have {' and '.join(wrong)}"
            yield BASE_PROPERTY.broken(message, source=place)


def lint_source_code(provider: Provider) -> tuple[Finding, ...]:
    """Return the findings of functions that Kotlin sources declare, at the lines of the sources."""
    findings: list[Finding] = []
    for position, capability in enumerate(provider.capabilities):
        pointer, place = f"/capabilities/{position}", capability.source or provider.source
        if not capability.description:
            message = f"{capability.id}: it has no description"
            findings.append(NO_DESCRIPTION.broken(message, pointer=pointer, source=place, hint=_WITHOUT_KDOC))
            # The KDoc that is missing, or left out, would describe the parameters too.
            continue
        for name, parameter in _parameters_of(capability):
            if not parameter.type.description:
                message = f"{capability.id}: the parameter {name!r} has no description"
                here = f"{pointer}/input/properties/{pointer_token(name)}"
                hint = f"write @param {name} into the KDoc of the function"
                findings.append(
                    NO_PARAMETER_DESCRIPTION.broken(message, pointer=here, source=place, hint=hint)
                )
    return tuple(findings)


_WITHOUT_KDOC: Final = (
    "write KDoc and @AppFunction(isDescribedByKDoc = true); without it, the compiler leaves KDoc out"
)


def _parameters_of(capability: Capability) -> Iterable[tuple[str, Property]]:
    input_type = capability.input
    return input_type.properties.items() if isinstance(input_type, ObjectType) else ()


def _declares_functions(application: Application) -> bool:
    names = load_indexing().names
    element = application_component(application)
    of_application = element is not None and any(element.find_property(item) for item in (names.v1, names.v2))
    return of_application or bool(function_services(application))


def _has_schema(application: Application, reports: list[IndexingReport]) -> bool:
    names = load_indexing().names
    components = [application_component(application), *function_services(application)]
    named = any(component is not None and component.find_property(names.schema_) for component in components)
    return named and not any(
        dropped_file.is_schema for report in reports for dropped_file in report.dropped_files
    )


def _tags_of(text: str) -> list[str]:
    """Return the names of all elements; those of a schema keep their prefix, as Android's parser reads it."""
    parser = PullParser(text, namespaces="documentType" not in text)
    tags = []
    while parser.event.type != "end-document":
        if parser.event.type == "start":
            tags.append(parser.event.name)
        parser.next()
    return tags


def _lint_schema(text: str, path: str) -> Iterator[Finding]:
    try:
        schema = read_schema(text)
    except IndexerError as error:
        place = Place(path=path, line=error.line)
        every = load_indexing().linted()
        message = f"{error.message}; the schema {path} is rejected on {name_releases(every)}"
        yield indexing_finding(error.reason, Level.ERROR, message, place, every)
        return
    yield from _check_base_properties(text, path)
    for type_name, name in schema.duplicates:
        place = Place(path=path, line=schema.lines.get(type_name))
        message = f"{type_name} declares {name} twice"
        yield DUPLICATE_PROPERTY.broken(message, source=place)


def _lint_functions(text: str, tags: list[str], path: str) -> Iterator[Finding]:
    tables = load_indexing()
    schema, assumed = _usual_schema(frozenset(tags))
    of_application = "scope" in tags
    releases = [item for item in tables.linted() if item.application_level or not of_application]
    service = tables.names.application_service if of_application else None
    reports = [index_file(text, schema, release, service=service, path=path) for release in releases]
    if of_application:
        assumed += " and a file of the application"
    message = f"{path} is read with {assumed}"
    yield ASSUMED.broken(message, source=Place(path=path))
    yield from findings_of_reports(reports, has_schema=schema is not None)
    current = current_report(reports)
    if current is None:
        return
    yield from findings_of_signatures(current)
    yield from _findings_of_text(text, path, reports)


def _usual_schema(tags: frozenset[str]) -> tuple[AppSearchSchema | None, str]:
    if "paramNames" in tags:
        return hand_written_schema(), "the schema of the hand-written style"
    if "id" not in tags and tags & load_indexing().fixed_tags.keys():
        return None, "the tags of version 1"
    return jetpack_schema(), "the newest Jetpack schema"

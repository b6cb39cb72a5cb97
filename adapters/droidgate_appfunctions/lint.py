"""The linter of AppFunctions: of a file, of an app with its manifest, and of Kotlin sources.

It checks an app's manifest for what keeps the indexer from the files, runs the releases' indexers, and checks
signatures for what Jetpack's reader needs. A finding's pointer leads into the indexed documents: the
document's id, then its properties; it is empty where nothing came to be indexed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from droidgate_android.app_search.events import PullParser, read_events
from droidgate_android.app_search.indexing import (
    AppFiles,
    AppSearchSchema,
    IndexerError,
    IndexingReport,
    application_component,
    function_services,
    hand_written_schema,
    index_file,
    jetpack_schema,
    read_schema,
    simulate_indexing,
)
from droidgate_android.projects.indexed_text import to_lower_camel_case
from droidgate_appfunctions.indexer_findings import NO_FILE, current_report, findings_of_reports
from droidgate_appfunctions.lint_rules import (
    ASSUMED,
    BAD_BOOLEAN,
    BASE_PROPERTY,
    DUPLICATE_PROPERTY,
    INDEXING_CODES,
    NO_DESCRIPTION,
    NO_FUNCTIONS,
    NO_PARAMETER_DESCRIPTION,
    NOT_FUNCTIONS,
    ROOT,
    indexing_finding,
    name_releases,
)
from droidgate_appfunctions.manifest_findings import findings_of_manifest, findings_of_metadata
from droidgate_appfunctions.saved_listing import is_saved_listing
from droidgate_appfunctions.signature_findings import findings_of_signatures
from droidgate_mappings.formats.application import Application, TextFile
from droidgate_mappings.formats.format import SourceFile
from droidgate_mappings.model.capability import Capability, Place, Provider
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.model.findings import Finding, Level
from droidgate_mappings.model.json_values import pointer_token
from droidgate_mappings.model.types import ObjectType, Property
from droidgate_mappings.tables.app_functions import load_indexing, load_schema_types


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

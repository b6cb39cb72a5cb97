"""The linter of AppFunctions: what each Android release makes of a file or an app, and what Jetpack needs.

Findings of the indexer's rules name the releases that they concern: an error where today's release or every
release drops the thing, a warning where others do. A finding's pointer leads into the indexed documents: the
document's id, then its properties; it is empty where nothing came to be indexed.
"""

from __future__ import annotations

from collections.abc import Iterator

from droidgate_android.app_search import (
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
from droidgate_android.app_search.events import PullParser
from droidgate_appfunctions import lint_rules as rules
from droidgate_appfunctions.lint_indexing import current_report, findings_of_reports
from droidgate_appfunctions.lint_manifest import findings_of_manifest, findings_of_metadata
from droidgate_appfunctions.lint_rules import indexing_finding
from droidgate_appfunctions.lint_signatures import findings_of_signatures
from droidgate_appfunctions.saved_listing import is_saved_listing
from droidgate_mappings.formats.application import Application
from droidgate_mappings.formats.format import SourceFile
from droidgate_mappings.model.capability import Place
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.model.findings import Finding, Level
from droidgate_mappings.tables.app_functions import load_indexing

_NO_FILE = "no-file"


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
    text = source.data.decode("utf-8-sig", "replace")
    try:
        tags = _tags_of(text)
    except IndexerError as error:
        place = Place(path=source.path, line=error.line)
        message = f"{error.message}; nothing of {source.path} is indexed on any release"
        return (indexing_finding(error.reason, Level.ERROR, message, place, load_indexing().linted()),)
    if tags[0] == "manifest":
        message = "a manifest is linted with the app it belongs to"
        raise InputError(message, place=source.path, hint="give the project's folder or the APK")
    if tags[0] == "xs:schema" or "xs:documentType" in tags:
        return tuple(_lint_schema(text, source.path))
    if tags[0] == load_indexing().names.metadata_root:
        return tuple(findings_of_metadata(text, source.path))
    return tuple(_lint_functions(text, tags, source.path))


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
        if has_schema or finding.level is Level.ERROR or finding.code != rules.INDEXING_CODES[_NO_FILE]
    ]
    current = current_report(reports)
    if current is not None:
        findings += findings_of_signatures(current)
    return tuple(findings)


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
        message = f"{error.message}; the schema {path} is rejected on {rules.name_releases(every)}"
        yield indexing_finding(error.reason, Level.ERROR, message, place, every)
        return
    for type_name, name in schema.duplicates:
        place = Place(path=path, line=schema.lines.get(type_name))
        message = f"{type_name} declares {name} twice"
        yield rules.DUPLICATE_PROPERTY.broken(message, source=place)


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
    yield rules.ASSUMED.broken(message, source=Place(path=path))
    yield from findings_of_reports(reports, has_schema=schema is not None)
    current = current_report(reports)
    if current is None:
        return
    yield from findings_of_signatures(current)
    if not current.documents and not any(report.dropped_files or report.ignored for report in reports):
        others = [f"<{tag}>" for tag in dict.fromkeys(tags[1:]) if tag != "version"]
        if others:
            message = f"{path} declares no functions that Android reads: {others[0]} is not a function"
            yield rules.NOT_FUNCTIONS.broken(message, source=Place(path=path))
        else:
            yield rules.NO_FUNCTIONS.broken(f"{path} declares no functions", source=Place(path=path))


def _usual_schema(tags: frozenset[str]) -> tuple[AppSearchSchema | None, str]:
    if "paramNames" in tags:
        return hand_written_schema(), "the schema of the hand-written style"
    if "id" not in tags and tags & load_indexing().fixed_tags.keys():
        return None, "the tags of version 1"
    return jetpack_schema(), "the newest Jetpack schema"

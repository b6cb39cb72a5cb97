"""What each Android release's indexer makes of an app's files, by cause."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from droidgate_android.app_search.indexing import IndexedDocument, IndexingReport, jetpack_schema
from droidgate_android.projects.indexed_text import to_lower_camel_case
from droidgate_appfunctions.lint_rules import (
    ENABLED_NOT_STATED,
    ID_DIFFERS,
    NO_FUNCTION_ID,
    ids_of,
    indexing_finding,
    level_of,
    name_releases,
)
from droidgate_mappings.model.capability import Place
from droidgate_mappings.model.findings import Finding, Level, LintRule
from droidgate_mappings.model.json_values import pointer_token
from droidgate_mappings.tables.app_functions import Release, load_indexing

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
    what = "has no <enabledByDefault> and counts as disabled"
    yield from _indexing_findings(ENABLED_NOT_STATED, disabled, what)


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
    rule: LintRule, found: dict[str, tuple[IndexedDocument, list[Release]]], what: str
) -> Iterable[Finding]:
    for name, (document, releases) in found.items():
        message = f"the function {name} {what} on {name_releases(releases)}"
        pointer = f"/{pointer_token(name)}"
        yield rule.broken(message, pointer=pointer, source=document.place, releases=ids_of(releases))


def current_report(reports: Sequence[IndexingReport]) -> IndexingReport | None:
    """Return the report of today's release, or of the newest there is."""
    current = load_indexing().current
    return next(
        (report for report in reports if report.release.id == current), reports[-1] if reports else None
    )

"""What the indexer of each Android release does with AppFunctions files.

A model of AppSearch's apps indexer: AOSP's packages/modules/AppSearch on branches 15-qpr2 to 17, as reference
appfunctions 1.2, 2.f and 3.2 describe it. Nothing here raises for bad files: the report says what
Android drops, and why.
"""

from __future__ import annotations

from droidgate_android.app_search.events import IndexerError
from droidgate_android.app_search.indexed_documents import FileSetting, index_text
from droidgate_android.app_search.indexed_packages import (
    UNKNOWN_PACKAGE,
    AppFiles,
    PackageIndexer,
    application_component,
    function_services,
    is_function_service,
    schema_in_force,
)
from droidgate_android.app_search.indexer_reports import (
    REASONS,
    DroppedFile,
    Ignored,
    IndexedDocument,
    IndexingReport,
    Properties,
)
from droidgate_android.app_search.schemas import (
    AppSearchSchema,
    hand_written_schema,
    jetpack_schema,
    platform_schema,
    read_schema,
)
from droidgate_mappings.formats.application import Application
from droidgate_mappings.tables.app_functions import IndexerLimits, Release, load_indexing

__all__ = [
    "REASONS",
    "UNKNOWN_PACKAGE",
    "AppFiles",
    "AppSearchSchema",
    "DroppedFile",
    "Ignored",
    "IndexedDocument",
    "IndexerError",
    "IndexingReport",
    "Properties",
    "application_component",
    "function_services",
    "hand_written_schema",
    "index_file",
    "is_function_service",
    "jetpack_schema",
    "platform_schema",
    "read_schema",
    "simulate_indexing",
]


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

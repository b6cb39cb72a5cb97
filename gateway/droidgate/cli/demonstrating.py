"""What `demo` does: the sample apps, each step told and checked."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from droidgate.cli.converting import Converted, convert, write_conversion
from droidgate.cli.exit_codes import ExitCode
from droidgate.cli.grouping import count_levels, counted, findings_table
from droidgate.cli.listing_formats import can_write, matrix_page
from droidgate.cli.matrix import make_matrix
from droidgate.cli.pages import Heading, Line, show
from droidgate.cli.reading import Read
from droidgate.cli.summaries import dialect_name, provider_name, provider_page
from droidgate.formats import Format, find_format, load_formats
from droidgate.migrate.plan import Migration, plan_migration
from droidgate.migrate.source_sets import find_source_set
from droidgate.model.capability import Provider
from droidgate.model.errors import DroidgateError
from droidgate.sources import SourceReading, read_source
from droidgate.translate import translate
from droidgate_shim.sample_apps import sample_apps_directory

_INTRODUCTION: Final = (
    "Four apps, each in another protocol for agents. Nothing here needs a phone or a network.",
    "The same is done for your own apps by `droidgate inspect`, `convert`, `migrate` and `formats`.",
)
_MIGRATED_APP: Final = "pdf-tool"
_HOST_APP: Final = "weather"
_MIGRATION_TARGET: Final = "mobile-mcp"


@dataclass(frozen=True, slots=True)
class SampleApp:
    """One sample app, read."""

    name: str
    reading: SourceReading


def demonstrate(keep: Path | None) -> int:
    """Show everything on the sample apps; return 0 only when each step did what it should."""
    with _working_folder(keep) as folder:
        show([Heading("droidgate demo"), *(Line(one) for one in _INTRODUCTION), Line()])
        apps = [SampleApp(path.name, read_source(str(path))) for path in _sample_apps()]
        problems = [*_inspect(apps), *_convert(apps, folder), *_migrate(folder)]
        matrix = make_matrix(load_formats().values(), only_defaults=True)
        show([Heading("4. What each format can carry"), *matrix_page(matrix), Line()])
        if keep is not None:
            show([Line(f"everything written is in {folder}")])
        return _conclude(problems)


@contextmanager
def _working_folder(keep: Path | None) -> Iterator[Path]:
    if keep is not None:
        yield keep
        return
    with tempfile.TemporaryDirectory(prefix="droidgate-demo-") as folder:
        yield Path(folder)


def _sample_apps() -> list[Path]:
    return sorted(path for path in sample_apps_directory().iterdir() if path.is_dir())


def _inspect(apps: Sequence[SampleApp]) -> Iterator[str]:
    """Show what the apps declare; yield what went wrong."""
    for app in apps:
        show([Heading(f"1. Inspect: {app.name}")])
        for provider in app.reading.providers:
            show([*provider_page(provider.model_copy(update={"source": None})), Line()])
        show([*findings_table(app.reading.findings), Line()] if app.reading.findings else [])
        if not app.reading.providers and not app.reading.findings:
            yield f"nothing was found in {app.name}"
        for problem in app.reading.problems:
            yield f"{app.name}: {problem.message}"


def _convert(apps: Sequence[SampleApp], folder: Path) -> Iterator[str]:
    """Convert each app into every other format and read the result back; yield what went wrong."""
    for app in apps:
        show([Heading(f"2. Convert: {app.name}")])
        for position, provider in enumerate(app.reading.providers):
            for target in _targets(provider):
                place = folder / app.name / f"{position}-{target.id}"
                try:
                    yield from _cross(provider, target, place)
                except DroidgateError as error:
                    yield f"{app.name} to {target.id}: {error.message}"
        show([Line()])


def _cross(provider: Provider, target: Format, place: Path) -> Iterator[str]:
    read = Read(providers=(provider,), findings=(), problems=(), readings=())
    converted = convert(read, target.id)
    write_conversion(converted, place, force=True)
    is_same = _reads_back(converted, target, place)
    (one,) = converted.translations
    count = len(one.writing.artifacts)
    summary = ", ".join(
        (
            f"{count} {'file' if count == 1 else 'files'}",
            counted(count_levels(one.writing.findings)) or "nothing is lost",
            "read back: the same" if is_same else "READ BACK: NOT THE SAME",
        )
    )
    subjects = [capability.id for capability in provider.capabilities]
    show([Line(f"{dialect_name(provider)} -> {dialect_name(one.writing.provider)}: {summary}")])
    show(findings_table(one.writing.findings, subjects))
    if not is_same:
        yield f"what was written into {place.name} reads back as something else"


def _migrate(folder: Path) -> Iterator[str]:
    """Migrate an app into a copy of another's project, look at that again, and migrate once more; yield what
    went wrong.
    """
    name, target_id = _MIGRATED_APP, _MIGRATION_TARGET
    original = sample_apps_directory() / name
    project = folder / name / f"migrated-into-{_HOST_APP}"
    shutil.copytree(sample_apps_directory() / _HOST_APP, project, dirs_exist_ok=True)
    show([Heading(f"3. Migrate: {name} to {target_id}, into a copy of {_HOST_APP}'s source tree")])
    try:
        migration = _plan(original, project, target_id)
        migration.apply()
        for change in migration.changes:
            show([Line(f"{'new' if change.before is None else 'changed'}: {change.path}", 1)])
        found = read_source(str(project), strict=True).providers
        show(
            [
                Line("declared now:", 1),
                *(Line(f"{provider_name(one)}  {dialect_name(one)}", 2) for one in found),
            ]
        )
        expected = migration.translations[0].writing.provider
        if _bare_digest(expected) not in [_bare_digest(one) for one in found]:
            yield f"the migrated {name} does not declare what was meant"
        if _plan(original, project, target_id).changes:
            yield f"migrating {name} a second time changes it again"
    except DroidgateError as error:
        yield f"migrating {name}: {error.message}"
    show([Line()])


def _bare_digest(provider: Provider) -> str:
    # In another app it has that app's package, and a component with attributes it did not ask for.
    return provider.model_copy(update={"extensions": {}, "package": None}).content_digest()


def _plan(original: Path, project: Path, target_id: str) -> Migration:
    target, dialect = find_format(target_id)
    source_set = find_source_set(project)
    translations = translate(read_source(str(original)).providers, target, dialect)
    return plan_migration(project, source_set, translations, target, dialect, source_set.language)


def _reads_back(converted: Converted, target: Format, place: Path) -> bool:
    """Tell whether what was written, read without any leniency, is what was meant."""
    written = converted.translations[0].writing.provider.content_digest()
    found = read_source(str(place), strict=True, formats=[target]).providers
    # A writer may add the bare descriptor beside the app's files, and that is read too.
    return written in [one.content_digest() for one in found]


def _targets(provider: Provider) -> list[Format]:
    return [
        one
        for one in load_formats().values()
        if one.id != provider.protocol and can_write(one, one.dialects[0].id)
    ]


def _conclude(problems: Sequence[str]) -> int:
    if problems:
        show([Heading("Not everything worked"), *(Line(one, 1) for one in problems)])
        return ExitCode.FINDINGS
    show([Heading("Everything worked: each app was read, converted into every other format, and read back.")])
    return ExitCode.OK

"""What `migrate` does, and its document."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from droidgate.cli.descriptors.descriptor_options import Migrate
from droidgate.cli.descriptors.run_convert import (
    ConversionTarget,
    ProviderConversion,
    conversion_page,
    fidelity_document,
)
from droidgate.cli.exit_codes import ExitCode
from droidgate.cli.failure_texts import print_problem
from droidgate.cli.output.grouped_findings import reaches
from droidgate.cli.output.json_output import Document, Problem, PublishedDocument
from droidgate.cli.output.page_length import shows_details
from droidgate.cli.output.pages import (
    LEFT_TO_DO,
    Block,
    Heading,
    Line,
    print_file_notes,
    print_note,
    print_warning,
    show,
)
from droidgate.cli.output.reports import Report
from droidgate.cli.output.safe_text import visible
from droidgate.cli.read_sources import read_all
from droidgate.migration.migration_plan import Migration, migrate, without_results
from droidgate.sources.source_results import Providers, provider_labels
from droidgate_mappings import text_safety
from droidgate_mappings.model.errors import UsageError
from droidgate_mappings.model.findings import Finding
from droidgate_mappings.text.counted_nouns import amount


class ChangedFile(Document):
    """One file that a migration changes: its path below the project, and the change as a unified diff."""

    path: str
    is_new: bool
    diff: str


class MigrationDocument(PublishedDocument, schema="droidgate.migration/2"):
    """What `migrate --json` prints.

    Attributes:
        project: The project folder.
        written: The changes were applied.
        reading: What the readers accepted beyond the specification.
        problems: What could not be read.
        conversions: The outcome for the provider.
        changes: The files that are changed or made; empty where all is there already.
        notes: What its author still has to do; each access rule that nothing enforces comes first.
    """

    target: ConversionTarget
    project: str
    written: bool
    reading: tuple[Finding, ...]
    problems: tuple[Problem, ...]
    conversions: tuple[ProviderConversion, ...]
    changes: tuple[ChangedFile, ...]
    notes: tuple[str, ...]


def migrate_source(options: Migrate) -> Report | Callable[[], int]:
    """Read the source, plan the migration, write it if requested, and report it.

    The code is 3 where a part of the source cannot be read; the rest is migrated.

    Raises:
        InputError: the source or the project cannot be read, or they do not fit.
        UsageError: an unknown target, or one that is not part of an app; several providers.
        WriteError: the project holds something else under a name that is needed, a component of it would lose
            capabilities, or it cannot be written.
    """
    read = read_all([options.source], only=options.only, strict=options.strict, variant=options.variant)
    if options.providers:
        read = read.choose(*options.providers)
    else:
        read, results = without_results(read, options.target)
        for label in results:
            print_note(f"an earlier migration wrote {label}, so it is not a source")
    _check_count(read, options)
    package = options.package if len(read) == 1 else None
    read = read.described(name=options.name, package=package, description=options.description)
    migration = migrate(
        read,
        to=options.target,
        into=options.project,
        package=options.package,
        language=None if options.language is None else options.language.value,
        drop=options.drop,
    )
    for failure in migration.conversion.failures:
        print_problem(failure.error)
    is_refused = reaches(migration.findings, options.fail_on)
    is_written = options.write and not is_refused
    if is_written:
        migration.write()
    code = ExitCode.FINDINGS if is_refused else ExitCode.OK
    report = Report(
        lambda: _page(migration),
        lambda: _document(migration, is_written=is_written),
        ExitCode.INPUT if migration.problems else code,
        _statuses(migration, is_written=is_written),
    )
    if options.as_json:
        return report
    if options.write:
        print_report = report.prepare()
        return lambda: _warn_of_refusal(print_report(), is_written=is_written)
    page = _page(migration)
    return lambda: _print_plan(migration, page, report)


def _warn_of_refusal(code: int, *, is_written: bool) -> int:
    """Warn where nothing was written, and return the exit code."""
    if not is_written:
        print_warning("nothing was written: a finding reaches the threshold")
    return code


def _print_plan(migration: Migration, page: Sequence[Block], report: Report) -> int:
    """Print the changes that nothing has written, what they cost, and return the exit code."""
    _print_changes(migration)
    show(page, sys.stderr)
    print_file_notes(report.files)
    if migration.changes:
        print_note("nothing is written yet: --write writes these files")
    return report.code


def _check_count(read: Providers, options: Migrate) -> None:
    if len(read) > 1 and not options.providers:
        listed = ", ".join(provider_labels(read.providers))
        message = f"{visible(options.source)} has {len(read)} providers"
        raise UsageError(message, hint=f"choose with --provider, which may be repeated: {listed}")


def _page(migration: Migration) -> list[Block]:
    page = [*conversion_page(migration.conversion), Line()]
    if migration.notes:
        page += [Heading(LEFT_TO_DO), *(Line(note, 1) for note in migration.notes), Line()]
    return page


def _print_changes(migration: Migration) -> None:
    is_whole = shows_details() or not sys.stdout.isatty()
    printed_changes = [change for change in migration.changes if is_whole or change.before is not None]
    _print_diff("".join(change.unified_diff() for change in printed_changes))
    sys.stdout.flush()
    if len(printed_changes) < len(migration.changes):
        new = amount(len(migration.changes) - len(printed_changes), "new file")
        print_note(f"left out of the diff: {new}; --details or a pipe has them")


def _statuses(migration: Migration, *, is_written: bool) -> dict[Path, str]:
    """Return what became, or would become, of each file of the project."""
    created, updated = ("created", "updated") if is_written else ("would create", "would update")
    changed = {Path(item.path): created if item.before is None else updated for item in migration.changes}
    return changed | {Path(path): "unchanged" for path in migration.unchanged}


def _print_diff(diff: str) -> None:
    """Print a diff: with line ends as they are where it is piped, so that it can be applied.

    Hidden characters are written by their code everywhere; a diff that has some cannot be applied.
    """
    if not sys.stdout.isatty():
        visible_diff = text_safety.visible(diff)
        sys.stdout.write(visible_diff)
        if visible_diff != diff:
            print_warning(
                "the diff shows hidden characters by their code, so it cannot be applied; use --write instead"
            )
        return
    for line in diff.split("\n")[:-1]:
        print(visible(line.removesuffix("\r")))


def _document(migration: Migration, *, is_written: bool) -> MigrationDocument:
    fidelity = fidelity_document(migration.conversion)
    return MigrationDocument(
        target=fidelity.target,
        project=str(migration.project),
        written=is_written,
        reading=fidelity.reading,
        problems=fidelity.problems,
        conversions=fidelity.conversions,
        changes=tuple(
            ChangedFile(path=change.path, is_new=change.before is None, diff=change.unified_diff())
            for change in migration.changes
        ),
        notes=migration.notes,
    )

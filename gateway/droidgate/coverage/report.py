"""From a catalog to its report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import Self

from droidgate.coverage.conversions import LEVELS
from droidgate.coverage.details import details_of, is_too_large
from droidgate.coverage.document import Report
from droidgate.coverage.document_details import MOST_APPS, MOST_CAPABILITIES, Details
from droidgate.coverage.document_summary import CatalogFacts, Counted
from droidgate.coverage.export import Form, write_tables
from droidgate.coverage.figures import Figures
from droidgate.coverage.history import Snapshot, history_of
from droidgate.coverage.overlaps import Overlaps, find_overlaps
from droidgate.coverage.quality import prepare_quality, quality_of
from droidgate.coverage.quality_findings import quality_findings
from droidgate.coverage.reach import agents
from droidgate.coverage.translations import misfits, translate_chosen
from droidgate.coverage.unread import unread_of
from droidgate.sources.catalogs.catalog import Catalog
from droidgate_mappings.model.findings import Finding
from droidgate_mappings.tables.reach import load_shim_table


@dataclass(frozen=True, slots=True)
class ReportOptions:
    """What a report has in addition to its figures.

    Attributes:
        matching: What overlaps, and the use cases.
        details: Everything one by one, where a page can hold it.
        translate: Application ids, perhaps with `*`, whose providers are written in every dialect; only with
            details.
    """

    matching: bool = True
    details: bool = False
    translate: Sequence[str] = ()


class Coverage:
    """A catalog with its report; use it as a context, so that its connection is closed."""

    def __init__(
        self, snapshot: Snapshot, earlier: Sequence[Snapshot] = (), options: ReportOptions | None = None
    ) -> None:
        """Make the report of a catalog.

        Args:
            snapshot: The catalog.
            earlier: Older catalogs, the oldest first.
            options: What it is to hold; matching and no details by default.

        Raises:
            UsageError: DuckDB or rapidfuzz is not installed.
            InputError: a catalog cannot be read.
        """
        chosen = ReportOptions() if options is None else options
        with ExitStack() as stack:
            self._figures = stack.enter_context(Figures(snapshot.catalog))
            prepare_quality(self._figures)
            counted = _counted(self._figures, snapshot, earlier)
            # After the counting, so that what both need is not needed at once.
            self._overlaps = find_overlaps(self._figures) if chosen.matching else None
            self.report = _with_overlaps(counted, self._figures, self._overlaps, chosen)
            self._open = stack.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.close()

    def write_tables(self, folder: Path, form: Form) -> list[Path]:
        """Write the tables behind the report into a folder, and return their paths.

        Raises:
            WriteError: a file cannot be written.
        """
        return write_tables(self._figures, self._overlaps, self.report, folder, form)

    def findings(self, most: int) -> Iterator[Finding]:
        """Yield what could be better, the gravest first."""
        return quality_findings(self._figures, most)


def report_coverage(
    catalog: str | PathLike[str],
    *,
    since: Sequence[str | PathLike[str]] = (),
    options: ReportOptions | None = None,
    own_apps: bool = False,
) -> Report:
    """Return the report of a catalog that `scan` wrote: who is exposed, who can call what, what is lost.

    Args:
        catalog: Its folder.
        since: Folders of older catalogs, the oldest first; their changes are in the report.
        options: What else it is to hold; what overlaps, and no details by default.
        own_apps: Count shims and droidgate's agent apps, too.

    Raises:
        UsageError: DuckDB or rapidfuzz is not installed.
        InputError: a catalog cannot be read.
    """
    earlier = [open_snapshot(Path(item), own_apps=own_apps) for item in since]
    with Coverage(open_snapshot(Path(catalog), own_apps=own_apps), earlier, options) as coverage:
        return coverage.report


def open_snapshot(folder: Path, *, own_apps: bool = False) -> Snapshot:
    """Return a catalog with what it is called: as it was named, or its folder's name.

    Args:
        folder: Its folder.
        own_apps: Keep shims and droidgate's agent apps; else it is read without them.

    Raises:
        UsageError: DuckDB is not installed.
        InputError: it cannot be read.
    """
    name = folder.name if folder.is_absolute() else str(folder)
    catalog = Catalog.open(folder)
    return Snapshot(name, catalog if own_apps else catalog.without_own_apps())


def _counted(figures: Figures, snapshot: Snapshot, earlier: Sequence[Snapshot]) -> Report:
    """Return a report of what is counted, without overlaps and details."""
    return Report(
        catalog=_facts(snapshot, figures),
        unread=unread_of(figures),
        totals=figures.totals(),
        protocols=figures.protocols(),
        overlap=figures.overlap(),
        agents=agents(),
        conditions=load_shim_table().conditions,
        reach=figures.reach(),
        levels=LEVELS,
        targets=tuple(snapshot.catalog.targets),
        fidelity=figures.fidelity(),
        use_cases=None,
        matching=None,
        quality=quality_of(figures),
        history=history_of([*earlier, snapshot]) if earlier else None,
        details=None,
        notes=(),
    )


def _with_overlaps(
    counted: Report, figures: Figures, overlaps: Overlaps | None, options: ReportOptions
) -> Report:
    details, notes = _details(figures, overlaps, options)
    more: dict[str, object] = {"details": details, "notes": notes}
    if overlaps is not None:
        more |= {"use_cases": overlaps.coverage, "matching": overlaps.summary}
    return counted.model_copy(update=more)


def _facts(snapshot: Snapshot, figures: Figures) -> CatalogFacts:
    outcomes = figures.rows(
        "SELECT outcome, count(*) AS n FROM sources GROUP BY outcome ORDER BY n DESC, outcome"
    )
    return CatalogFacts(
        name=snapshot.name,
        droidgate=snapshot.catalog.droidgate,
        outcomes=tuple(Counted(name=name, count=count) for name, count in outcomes),
        rows=dict(snapshot.catalog.rows),
    )


def _details(
    figures: Figures, overlaps: Overlaps | None, options: ReportOptions
) -> tuple[Details | None, tuple[str, ...]]:
    """Return the details, and what a reader has to know of what is left out."""
    notes = [] if options.matching else ["overlaps and use cases are left out, as --no-match says"]
    if not options.details:
        return None, tuple(notes)
    if is_too_large(figures):
        notes.append(
            f"single apps and capabilities are left out: there are more than {MOST_APPS:,} apps or "
            f"{MOST_CAPABILITIES:,} capabilities; `droidgate catalog sql` and --parquet list them"
        )
        return None, tuple(notes)
    translations = translate_chosen(figures, options.translate)
    notes += misfits(figures, options.translate)
    return details_of(figures, overlaps, translations), tuple(notes)

"""What `scan` does, and its document."""

from __future__ import annotations

import os
import sys
import time
from shlex import quote
from typing import TYPE_CHECKING, Final, Self

from droidgate.cli.coverage.coverage_options import Scan
from droidgate.cli.exit_codes import ExitCode
from droidgate.cli.output.json_output import PublishedDocument
from droidgate.cli.output.page_length import shows_details
from droidgate.cli.output.pages import Block, Line, Table, print_note
from droidgate.cli.output.reports import Report
from droidgate.cli.output.summaries import left_out_line
from droidgate.cli.output.verbosity import shows_notes
from droidgate.coverage.scan import ScanOptions, ScanResult, Watcher, scan
from droidgate.coverage.scan_results import KNOWN, PART
from droidgate.sources.catalogs.catalog_files import CATALOG_FILE
from droidgate.sources.catalogs.catalog_rows import LEFT_OUT
from droidgate_mappings.model.errors import BudgetError, InputError
from droidgate_mappings.text.counted_nouns import amount
from droidgate_mappings.text.shown_paths import printable

if TYPE_CHECKING:
    from rich.progress import Progress

_REDRAWN_EACH: Final = 0.2
_MOST_REASONS: Final = 5
_NOT_READ: Final = "FROM sources WHERE unit IS NULL AND outcome NOT IN ('no-descriptor', 'left-out')"
"""A split that was read with its base has the base's unit; a split without a base has none."""

_PROBLEMS: Final = "SELECT source, place, message FROM problems JOIN sources USING (unit)"
_LATE: Final = "SELECT source FROM sources WHERE outcome = 'out-of-time'"

_NOTHING_WRONG: Final = frozenset({"read", KNOWN, PART, LEFT_OUT, "no-descriptor"})
_SHOWN_TABLES: Final = ("apps", "providers", "capabilities", "findings", "problems")


class ScanDocument(PublishedDocument, schema="droidgate.scan/1"):
    """What `scan --json` prints: the outcome of a scan.

    Attributes:
        catalog: The folder.
        outcomes: How many sources of the catalog have which outcome.
        resumed: How many had their result from an earlier run that did not end.
        known: How many were not read, since a catalog has their content.
        rows: How many rows each table has.
        targets: The dialects of its conversions.
    """

    catalog: str
    outcomes: dict[str, int]
    resumed: int
    known: int
    rows: dict[str, int]
    targets: tuple[str, ...]


def scan_sources(options: Scan) -> int:
    """Scan sources into a catalog and print the result.

    Raises:
        UsageError: anybody on the network could answer as the cluster's scheduler.
        InputError: nothing could be read, or not all in time; the result has been printed.
    """
    folder = options.catalog
    status = "updated" if (folder / CATALOG_FILE).exists() else "created"
    scan_options = ScanOptions(
        known=tuple(options.known or ()),
        workers=options.workers,
        memory=options.memory,
        deadline=options.deadline,
        run_deadline=options.run_deadline,
        cluster=options.cluster,
        trust_scheduler=options.trust_scheduler,
        keep_log=options.keep_log,
        own_apps=options.include_shims,
    )
    with ProgressLine() as progress:
        result = scan(*options.sources, catalog=folder, options=scan_options, watcher=progress)
    report = Report(lambda: scan_page(result), lambda: _document(result), files={folder: status})
    report.print(options.form)
    if result.out_of_time:
        raise _out_of_time_error(result, options)
    if result.catalog.rows["apps"] or result.outcomes.get("read"):
        return ExitCode.OK
    raise InputError(
        "nothing could be read", place=printable(str(folder)), hint=_hint(result, as_json=options.as_json)
    )


def _out_of_time_error(result: ScanResult, options: Scan) -> BudgetError:
    sources = amount(len(result.out_of_time), "source")
    message = f"the scan takes more than {options.run_deadline:g} seconds; not read: {sources}"
    hint = (
        "the same scan goes on with these, and --run-deadline gives it more time; they are listed by "
        f"{_question(result, _LATE)}"
    )
    return BudgetError(message, place=printable(str(result.catalog.folder)), hint=hint)


def scan_page(result: ScanResult) -> list[Block]:
    """Return what `scan` shows."""
    catalog = result.catalog
    return [
        Table(("OUTCOME", "SOURCES"), [(name, f"{count:,}") for name, count in result.outcomes.items()]),
        Line(),
        *_reasons(result),
        *_left_out(result),
        Table(("TABLE", "ROWS"), [(name, f"{catalog.rows[name]:,}") for name in _SHOWN_TABLES]),
        Line(),
        *_problems(result),
    ]


def _reasons(result: ScanResult) -> list[Block]:
    """Return why sources were not read: the first ones and how to list the others, or all with details."""
    limit = "" if shows_details() else f" LIMIT {_MOST_REASONS + 1}"
    rows = list(result.catalog.read_rows(f"SELECT source, reason {_NOT_READ} ORDER BY source{limit}"))
    if not rows:
        return []
    shown_rows = rows if shows_details() else rows[:_MOST_REASONS]
    reasons: list[Block] = [Line(f"{source}: {reason}", indent=1) for source, reason in shown_rows]
    if len(rows) > len(shown_rows):
        reasons.append(Line(f"all of them: {_question(result)}", indent=1))
    return [Line("not read:"), *reasons, Line()]


def _problems(result: ScanResult) -> list[Block]:
    """Return how to list the parts of sources that were not read."""
    if not result.catalog.rows["problems"]:
        return []
    return [Line(f"problems: {_question(result, _PROBLEMS)}"), Line()]


def _left_out(result: ScanResult) -> list[Block]:
    count = result.outcomes.get(LEFT_OUT, 0)
    return [Line(left_out_line(count)), Line()] if count else []


def _hint(result: ScanResult, *, as_json: bool) -> str:
    """Return how to find the reasons of a scan that could read nothing."""
    if result.outcomes.keys() <= {"no-descriptor"}:
        return "`droidgate formats` lists what is read"
    return f"why: {_question(result)}" if as_json else "the reasons are above"


def _question(result: ScanResult, sql: str = f"SELECT source, outcome, reason {_NOT_READ}") -> str:
    """Return the command that lists what was not read, or what another query asks for."""
    return f'droidgate catalog sql {quote(str(result.catalog.folder))} "{sql}"'


class ProgressLine(Watcher):
    """The progress of a scan on standard error: a bar with rate and time left; in a pipe, a last line."""

    def __init__(self) -> None:
        self._bar: Progress | None = None
        self._started: float | None = None
        self._ended: float | None = None
        self._drawn = 0.0
        self._total = 0
        self._done = 0
        self._earlier = 0
        self._known = 0
        self._not_read = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()
        if self._started is None or (self._ended is None and not self._done):
            return
        resumed = f", {self._earlier:,} of them in an earlier run" if self._earlier else ""
        unchanged = f", {self._known:,} known already" if self._known else ""
        rate = f"; {self._rate():,.1f} a second" if self._done > self._earlier else ""
        summary = f"{self._done:,} of {self._total:,} scanned{resumed}{unchanged}{rate}"
        print_note(summary if self._ended is not None else f"{summary}; the same scan goes on from here")

    def _rate(self) -> float:
        """Return how many inputs of this run have their result in a second."""
        now = time.monotonic() if self._ended is None else self._ended
        return (self._done - self._earlier) / max(now - (self._started or 0.0), 1e-3)

    def begin(self, total: int, done: int) -> None:
        """Show that there are so many inputs, of which so many have their results."""
        self._started = time.monotonic()
        self._total, self._done, self._earlier = total, done, done
        if shows_notes() and sys.stderr.isatty() and os.environ.get("TERM") != "dumb":
            self._bar = _bar(total, done)
            self._bar.start()

    def advance(self, outcome: str) -> None:
        """Show that one more input has its result."""
        self._done += 1
        self._total = max(self._total, self._done)
        self._known += outcome == KNOWN
        self._not_read += outcome not in _NOTHING_WRONG
        now = time.monotonic()
        if self._bar is not None and (now - self._drawn > _REDRAWN_EACH or self._done == self._total):
            self._drawn = now
            not_read = f", {self._not_read:,} not read" if self._not_read else ""
            self._draw(f"{self._rate():,.1f}/s{not_read}")

    def finish(self) -> None:
        """Show that the catalog is written now."""
        self._ended = time.monotonic()
        self._draw("writing the catalog")

    def _draw(self, text: str) -> None:
        if self._bar is not None:
            task = self._bar.task_ids[0]
            self._bar.update(task, completed=self._done, total=self._total, text=text)
            self._bar.refresh()


def _bar(total: int, done: int) -> Progress:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[text]}", markup=False),
        TimeRemainingColumn(),
    )
    console = Console(stderr=True, markup=False, highlight=False)
    bar = Progress(*columns, console=console, transient=True, auto_refresh=False)
    bar.add_task("scan", total=total, completed=done, text="")
    return bar


def _document(result: ScanResult) -> ScanDocument:
    return ScanDocument.of(
        result,
        catalog=str(result.catalog.folder),
        rows=result.catalog.rows,
        targets=result.catalog.targets,
    )

"""What `scan` does."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

from droidgate.cli.exit_codes import ExitCode
from droidgate.cli.pages import Block, Line, Table, show, tell
from droidgate.coverage.cluster import Cluster
from droidgate.coverage.process_pool import PoolSettings, ProcessPool
from droidgate.coverage.scan import Executor, Request, Result, scan

if TYPE_CHECKING:
    from rich.progress import Progress

_MEBIBYTE: Final = 1 << 20
_REDRAWN_EACH: Final = 0.2
_SHOWN_TABLES: Final = ("apps", "providers", "capabilities", "crossings", "findings", "problems")


@dataclass(frozen=True, slots=True)
class ScanOptions:
    """Options of the command, as they were given."""

    known: tuple[str, ...] = ()
    workers: int | None = None
    memory: int = 1024
    deadline: float = 60.0
    cluster: str | None = None
    keep_log: bool = False


def scan_sources(sources: Sequence[str], folder: Path, options: ScanOptions, *, as_json: bool) -> int:
    """Scan sources into a catalog and tell what came of it; return 3 where nothing could be read."""
    address = options.cluster

    def executor(settings: PoolSettings) -> Executor:
        return ProcessPool(settings) if address is None else Cluster(address, settings)

    request = Request(
        sources=sources,
        folder=folder,
        pool=PoolSettings(
            workers=options.workers or _cores(),
            memory=options.memory * _MEBIBYTE,
            deadline=options.deadline,
        ),
        earlier=options.known,
        keeps_log=options.keep_log,
        make_executor=executor,
    )
    with ProgressLine() as progress:
        result = scan(request, progress)
    if as_json:
        _print_document(result)
    else:
        show(scan_page(result))
    return ExitCode.OK if result.catalog.rows["apps"] or result.outcomes.get("read") else ExitCode.INPUT


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def scan_page(result: Result) -> list[Block]:
    """Return what `scan` shows."""
    catalog = result.catalog
    blocks: list[Block] = [
        Table(("OUTCOME", "SOURCES"), [(name, f"{count:,}") for name, count in result.outcomes.items()]),
        Line(),
        Table(("TABLE", "ROWS"), [(name, f"{catalog.rows[name]:,}") for name in _SHOWN_TABLES]),
        Line(),
    ]
    if result.outcomes.keys() - {"read", "part", "no-descriptor"}:
        question = "SELECT source, outcome, reason FROM sources WHERE outcome NOT IN ('read', 'part')"
        blocks.append(Line(f'why not: droidgate catalog sql --catalog {catalog.folder} "{question}"'))
    return blocks


class ProgressLine:
    """The progress of a scan on standard error: a bar with rate and time left; in a pipe, a last line."""

    def __init__(self) -> None:
        self._bar: Progress | None = None
        self._started = 0.0
        self._drawn = 0.0
        self._total = 0
        self._done = 0
        self._earlier = 0
        self._not_read = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()
        if self._started:
            seconds = time.monotonic() - self._started
            rate = (self._done - self._earlier) / seconds if seconds else 0.0
            resumed = f", {self._earlier:,} of them in an earlier run" if self._earlier else ""
            tell(f"{self._done:,} of {self._total:,} scanned{resumed}; {rate:,.0f} a second")

    def begin(self, total: int, done: int) -> None:
        """Show that there are so many inputs, of which so many have their results."""
        self._started = time.monotonic()
        self._total, self._done, self._earlier = total, done, done
        if sys.stderr.isatty() and os.environ.get("TERM") != "dumb":
            self._bar = _bar(total, done)
            self._bar.start()

    def advance(self, outcome: str) -> None:
        """Show that one more input has its result."""
        self._done += 1
        self._total = max(self._total, self._done)
        self._not_read += outcome not in {"read", "known", "part", "no-descriptor"}
        now = time.monotonic()
        if self._bar is not None and (now - self._drawn > _REDRAWN_EACH or self._done == self._total):
            self._drawn = now
            rate = (self._done - self._earlier) / max(now - self._started, 1e-3)
            task = self._bar.task_ids[0]
            told = f"{rate:,.0f}/s" + (f", {self._not_read:,} not read" if self._not_read else "")
            self._bar.update(task, completed=self._done, total=self._total, told=told)
            self._bar.refresh()


def _bar(total: int, done: int) -> Progress:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[told]}", markup=False),
        TimeRemainingColumn(),
    )
    console = Console(stderr=True, markup=False, highlight=False)
    bar = Progress(*columns, console=console, transient=True, auto_refresh=False)
    bar.add_task("scan", total=total, completed=done, told="")
    return bar


def _print_document(result: Result) -> None:
    from droidgate.cli.catalog_documents import ScanDocument
    from droidgate.cli.json_output import print_json

    print_json(
        ScanDocument(
            catalog=str(result.catalog.folder),
            outcomes=dict(result.outcomes),
            resumed=result.resumed,
            known=result.known,
            rows=result.catalog.rows,
            targets=result.catalog.targets,
        )
    )

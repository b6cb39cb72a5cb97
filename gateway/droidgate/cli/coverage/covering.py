"""What `coverage` does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from droidgate.cli.coverage.coverage_page import coverage_page
from droidgate.cli.exit_codes import ExitCode
from droidgate.cli.output.pages import show, tell
from droidgate.coverage.report import Coverage, Wanted, open_snapshot
from droidgate.model.errors import UsageError, WriteError
from droidgate.output_folder import write_files

MOST_SARIF_RESULTS: Final = 25_000
"""Code-scanning services take no more of one run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CoverageOptions:
    """Options of the command, as they were given."""

    since: tuple[Path, ...] = ()
    matching: bool = True
    details: bool = False
    translate: tuple[str, ...] = ()
    html: Path | None = None
    csv: Path | None = None
    parquet: Path | None = None
    sarif: Path | None = None
    force: bool = False


def cover(catalog: Path, options: CoverageOptions, *, as_json: bool) -> int:
    """Make the report of a catalog, write what is asked for, and show it."""
    if options.translate and not (options.details or options.html):
        message = "--translate is for the page and the details"
        raise UsageError(message, hint="Give --html FILE, or --json with --details")
    wanted = Wanted(
        matching=options.matching,
        details=options.details or options.html is not None,
        translate=options.translate,
    )
    earlier = [open_snapshot(item) for item in options.since]
    with Coverage(open_snapshot(catalog), earlier, wanted) as coverage:
        _write_texts(coverage, options)
        _write_tables(coverage, options)
        report = coverage.report
    if as_json:
        from droidgate.cli.coverage.coverage_documents import CoverageDocument
        from droidgate.cli.output.json_output import print_json

        shown = report if options.details else report.model_copy(update={"details": None})
        print_json(CoverageDocument(report=shown))
    else:
        show(coverage_page(report))
    return ExitCode.OK


def _write_texts(coverage: Coverage, options: CoverageOptions) -> None:
    files: dict[Path, bytes] = {}
    if options.html is not None:
        from droidgate.coverage.html.page import render_page

        files[options.html] = render_page(coverage.report).encode("utf-8", "replace")
    if options.sarif is not None:
        from droidgate.cli.output.json_output import json_text, json_value
        from droidgate.cli.output.sarif import sarif_log

        findings = list(coverage.findings(MOST_SARIF_RESULTS + 1))
        if len(findings) > MOST_SARIF_RESULTS:
            tell(f"the SARIF log has the first {MOST_SARIF_RESULTS:,} results, the gravest first")
        log = json_text(json_value(sarif_log(findings[:MOST_SARIF_RESULTS])))
        files[options.sarif] = log.encode("utf-8", "backslashreplace")
    for path, status in write_files(files, force=options.force, makes_folders=False).items():
        tell(f"{status} {path}")


def _write_tables(coverage: Coverage, options: CoverageOptions) -> None:
    if options.csv is not None:
        _refuse_files(options.csv, "csv", force=options.force)
        _tell_all(coverage.write_tables(options.csv, "csv"))
    if options.parquet is not None:
        _refuse_files(options.parquet, "parquet", force=options.force)
        _tell_all(coverage.write_tables(options.parquet, "parquet"))


def _refuse_files(folder: Path, ending: str, *, force: bool) -> None:
    """Refuse what is no folder, and a folder that has such files, unless they may be overwritten."""
    if folder.exists() and not folder.is_dir():
        raise WriteError(
            "it is no folder", place=str(folder), hint="Name a folder: each table is a file in it"
        )
    there = sorted(folder.glob(f"*.{ending}"))
    if there and not force:
        message = f"the folder has {ending} files already"
        raise WriteError(message, place=str(folder), hint="Choose another folder, or overwrite with --force")


def _tell_all(paths: Sequence[Path]) -> None:
    for path in paths:
        tell(f"written {path}")

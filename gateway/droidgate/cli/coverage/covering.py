"""What `coverage` does."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from droidgate.cli.coverage.coverage_page import coverage_page
from droidgate.cli.exit_codes import ExitCode
from droidgate.cli.output.pages import Line, file_lines, print_file_notes, print_warning, show
from droidgate.computer.output_folder import Status, write_files
from droidgate.coverage.export import Form
from droidgate.coverage.report import Coverage, ReportOptions, open_snapshot
from droidgate_mappings.model.errors import UsageError, WriteError

MOST_SARIF_RESULTS: Final = 25_000
"""Most results of one run that code-scanning services take."""


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
    own_apps: bool = False


def cover(catalog: Path, options: CoverageOptions, *, as_json: bool) -> int:
    """Make the report of a catalog, write the requested files, and show it."""
    if options.translate and not (options.details or options.html):
        message = "--translate is for the page and the details"
        raise UsageError(message, hint="give --html FILE, or --json with --details")
    report_options = ReportOptions(
        matching=options.matching,
        details=options.details or options.html is not None,
        translate=options.translate,
    )
    earlier = [open_snapshot(item, own_apps=options.own_apps) for item in options.since]
    snapshot = open_snapshot(catalog, own_apps=options.own_apps)
    with Coverage(snapshot, earlier, report_options) as coverage:
        statuses = {**_write_texts(coverage, options), **_write_tables(coverage, options)}
        report = coverage.report
    if as_json:
        from droidgate.cli.coverage.coverage_outputs import CoverageDocument
        from droidgate.cli.output.json_output import print_json

        shown = report if options.details else report.model_copy(update={"details": None})
        print_json(CoverageDocument(report=shown))
        print_file_notes(statuses)
    else:
        files = [Line(), *file_lines(statuses)] if statuses else []
        show([*coverage_page(report), *files])
    return ExitCode.OK


def _write_texts(coverage: Coverage, options: CoverageOptions) -> dict[Path, Status]:
    files: dict[Path, bytes] = {}
    if options.html is not None:
        from droidgate.coverage.html.page import render_page

        files[options.html] = render_page(coverage.report).encode("utf-8", "replace")
    if options.sarif is not None:
        from droidgate.cli.output.json_output import json_text, json_value
        from droidgate.cli.output.sarif import sarif_log

        findings = list(coverage.findings(MOST_SARIF_RESULTS + 1))
        if len(findings) > MOST_SARIF_RESULTS:
            print_warning(f"the SARIF log has the first {MOST_SARIF_RESULTS:,} results, the gravest first")
        log = json_text(json_value(sarif_log(findings[:MOST_SARIF_RESULTS])))
        files[options.sarif] = log.encode("utf-8", "backslashreplace")
    return write_files(files, force=options.force, makes_folders=False)


def _write_tables(coverage: Coverage, options: CoverageOptions) -> dict[Path, Status]:
    statuses: dict[Path, Status] = {}
    forms: tuple[tuple[Path | None, Form], ...] = ((options.csv, "csv"), (options.parquet, "parquet"))
    for folder, form in forms:
        if folder is not None:
            earlier = _digests(folder, form, force=options.force)
            for path in coverage.write_tables(folder, form):
                is_same = earlier.get(path) == _digest(path)
                statuses[path] = "created" if path not in earlier else "unchanged" if is_same else "updated"
    return statuses


def _digests(folder: Path, ending: str, *, force: bool) -> dict[Path, bytes]:
    """Return the digests of the files of a folder with an ending.

    Raises:
        WriteError: it is not a folder, or has such files and they may not be overwritten.
    """
    if folder.exists() and not folder.is_dir():
        raise WriteError(
            "it is not a folder", place=str(folder), hint="name a folder: each table is a file in it"
        )
    existing = sorted(folder.glob(f"*.{ending}"))
    if existing and not force:
        message = f"the folder has {ending} files already"
        raise WriteError(message, place=str(folder), hint="choose another folder, or overwrite with --force")
    return {path: _digest(path) for path in existing if path.is_file()}


def _digest(path: Path) -> bytes:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").digest()

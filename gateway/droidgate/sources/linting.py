"""Checking sources against the specifications of their formats, what cannot be read in them included."""

from __future__ import annotations

import io
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import Final

from droidgate.sources import STANDARD_INPUT, check_sources, chosen_formats, read_source
from droidgate.sources.checking import check_file, check_reading
from droidgate.sources.folders import MAX_FILE_BYTES, read_bytes
from droidgate_mappings.formats.format import Format, SourceFile, load_formats
from droidgate_mappings.model.capability import Place
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.model.findings import Finding, Level, finding_code
from droidgate_mappings.tables.loading import load_divergences
from droidgate_mappings.text_safety.marks import text_marks

UNREADABLE: Final = finding_code(
    "unreadable", "A file below the source cannot be read, so nothing else in it is checked", __name__
)


@dataclass(frozen=True, slots=True)
class LintReport:
    """What is wrong with sources.

    Attributes:
        findings: Each once, in the order of the sources.
        problems: What of them cannot be read; each is a finding as well.
        checked: Ids of the formats with rules of which something was read.
        without_rules: Ids of the formats without rules of which something was read.
    """

    findings: tuple[Finding, ...]
    problems: tuple[InputError, ...] = ()
    checked: tuple[str, ...] = ()
    without_rules: tuple[str, ...] = ()


def lint(
    *sources: str | PathLike[str], formats: Iterable[str] | None = None, strict: bool = False
) -> LintReport:
    """Check sources against the specifications of their formats.

    Args:
        sources: As `droidgate.read` takes them.
        formats: Ids of the formats whose linters check; all installed ones by default.
        strict: Every leniency of a reader is an error.

    Raises:
        InputError: a source cannot be read, and no linter explains why.
        DeviceError: the phone cannot be reached or used.
        UsageError: a format is unknown, or standard input is named twice.
    """
    names = [fspath(source) for source in sources]
    check_sources(names)
    chosen = chosen_formats(formats) or list(load_formats().values())
    found: dict[Finding, None] = {}
    problems: list[InputError] = []
    read: set[str] = set()
    for name in names:
        found.update(dict.fromkeys(_lint_source(name, chosen, problems, read, strict=strict)))
    with_rules = read & {item.id for item in chosen if item.has_rules}
    return LintReport(
        tuple(found), tuple(problems), tuple(sorted(with_rules)), tuple(sorted(read - with_rules))
    )


def _lint_source(
    source: str, formats: Sequence[Format], problems: list[InputError], read: set[str], *, strict: bool
) -> Iterator[Finding]:
    """Yield the findings of one source; add what of it cannot be read to `problems`, and the ids of the
    formats that were read to `read`.

    Raises:
        InputError: it cannot be read, and no format's linter has a word for that.
    """
    data = sys.stdin.buffer.read(MAX_FILE_BYTES + 1) if source == STANDARD_INPUT else None
    stdin = None if data is None else io.BytesIO(data)
    try:
        reading = read_source(source, strict=strict, formats=formats, stdin=stdin)
    except InputError:
        reported = () if strict else tuple(_lint_file(source, data, formats))
        if not reported:
            raise
        yield from reported
        return
    read.update(provider.protocol for provider in reading.providers)
    findings = tuple(check_reading(reading, formats, lambda path: _content_of(path, data)))
    yield from findings
    # What a reader leaves out is lost in every command that reads the source.
    for finding in reading.findings:
        if finding.level in {Level.DROPPED, Level.IMPOSSIBLE} and not _is_linted(finding, findings):
            yield finding.model_copy(update={"level": Level.WARNING})
    yield from (mark.as_finding() for provider in reading.providers for mark in text_marks(provider))
    broken = {
        finding.source.path
        for finding in findings
        if finding.level is Level.ERROR and finding.source is not None
    }
    for error in reading.problems:
        reported = () if strict else tuple(_lint_broken(error, source, broken, formats))
        if reported:
            yield from reported
        elif strict or _path_of(error) not in broken:
            problems.append(error)
            yield _unreadable(error)


def _is_linted(read: Finding, linted: Iterable[Finding]) -> bool:
    """Return whether a linter reports the cause of a reader's finding, at the same place."""
    row = load_divergences().get(read.rule or "")
    return row is not None and any(
        finding.code in row.linted_as and finding.source == read.source for finding in linted
    )


def _lint_broken(
    error: InputError, folder: str, broken: Collection[str], formats: Iterable[Format]
) -> Iterator[Finding]:
    """Yield what the linter finds in a file of a folder that cannot be read, as where it is named alone."""
    path = _path_of(error)
    if path in broken or not Path(folder).is_dir():
        return
    try:
        # A link that leads out of the folder was refused for that, and is not followed here either.
        yield from check_file(SourceFile(path, read_bytes(path, root=folder)), formats)
    except InputError:
        return


def _lint_file(path: str, data: bytes | None, formats: Iterable[Format]) -> Iterator[Finding]:
    """Yield the findings of one descriptor; nothing for what is none."""
    content = _content_of(path, data)
    if content is not None:
        yield from check_file(SourceFile(path, content), formats)


def _content_of(path: str, data: bytes | None) -> bytes | None:
    """Return what came from standard input, else what is on disk; None for what is gone."""
    if data is not None:
        return data
    try:
        return read_bytes(path)
    except InputError:
        return None


def _path_of(error: InputError) -> str:
    return (error.place or STANDARD_INPUT).partition(":")[0]


def _unreadable(error: InputError) -> Finding:
    number = (error.place or "").partition(":")[2].partition(":")[0]
    place = Place(path=_path_of(error), line=int(number) if number.isdecimal() else None)
    return Finding(
        code=UNREADABLE, level=Level.ERROR, pointer="", message=error.message, hint=error.hint, source=place
    )

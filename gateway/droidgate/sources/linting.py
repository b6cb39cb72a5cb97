"""Checking sources against the specifications of their formats, including what cannot be read in them and
names in a manifest that are nearly a protocol's, which its agents therefore ignore.
"""

from __future__ import annotations

import io
import re
import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from difflib import get_close_matches
from os import PathLike
from pathlib import Path
from typing import Final

from droidgate.sources import STANDARD_INPUT, ReadOptions, check_sources, numbered, read_source
from droidgate.sources.component_classes import report_missing_classes
from droidgate.sources.folders import MAX_FILE_BYTES, read_bytes
from droidgate.sources.source_code import (
    VARIANT_CODE,
    assets_of_code,
    is_from_code,
    report_competing_services,
)
from droidgate.sources.source_results import Providers
from droidgate.sources.source_schemes import source_names
from droidgate_android.apk.value_files import report_refused_texts
from droidgate_android.projects.resources import SourceResources
from droidgate_mappings.formats.application import Application, Component
from droidgate_mappings.formats.format import (
    Format,
    SourceFile,
    chosen_formats,
    detect_format,
    load_formats,
    only_format,
)
from droidgate_mappings.model.capability import Place
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.model.findings import LINT_LEVELS, Finding, Level, finding_code
from droidgate_mappings.records import dataclass, replace
from droidgate_mappings.tables.loading import load_divergences
from droidgate_mappings.text_safety import html_table
from droidgate_mappings.text_safety.marks import text_marks
from droidgate_mappings.timed_steps import open_step, timed_step


def check_reading(
    reading: Providers, formats: Iterable[Format], content_of: Callable[[str], bytes | None]
) -> Iterator[Finding]:
    """Yield what the linters of formats object to in what was read, and the reader's own objections.

    Args:
        reading: What was read, with what other variants declare.
        formats: Whose linters are asked.
        content_of: The content of a file that was read, by its path in the reading; None for what is gone.

    Raises:
        InputError: a linter cannot read a file at all.
    """
    formats = tuple(formats)
    near_names = NearNames(formats)
    yield from _check_variants(reading, lambda part: _check_one(part, formats, near_names, content_of))


def _check_variants(reading: Providers, check: Callable[[Providers], Iterable[Finding]]) -> Iterator[Finding]:
    """Yield what a check finds in a reading, then what it finds in other variants only, each finding once."""
    findings = list(check(reading))
    main_findings = set(findings)
    variants: dict[Finding, dict[str, None]] = {}
    for name, part in reading.other_variants:
        together = (*reading.providers, *part.providers)
        for finding in (*check(part), *report_competing_services(reading.applications, together)):
            if finding not in main_findings:
                variants.setdefault(finding, {})[name] = None
    # A source set that was checked is not unread.
    yield from (finding for finding in findings if finding.code != VARIANT_CODE or not reading.other_variants)
    for finding, names in variants.items():
        yield finding.changed({"variants": tuple(names)})


def _check_one(
    reading: Providers,
    formats: Sequence[Format],
    near_names: NearNames,
    content_of: Callable[[str], bytes | None],
) -> Iterator[Finding]:
    for application in reading.applications:
        assets = assets_of_code(application, reading.providers)
        application = replace(application, assets_of_code=assets) if assets else application  # noqa: PLW2901
        findings = [
            finding
            for format_ in formats
            if format_.lint_application is not None
            for finding in format_.lint_application(application)
        ]
        yield from findings
        yield from report_unstated_exported(application)
        places = {finding.source for finding in findings}
        # A rule of the format itself says more about the same place.
        yield from (finding for finding in near_names.report(application) if finding.source not in places)
    for provider in reading.providers:
        for format_ in formats:
            code = format_.code
            if code is not None and code.lint is not None and is_from_code(provider, (format_,)):
                yield from code.lint(provider)
    yield from report_competing_services(reading.applications, reading.providers)
    for path in reading.read_alone:
        unpacked = (archive.read(path) for archive in reading.unpacked)
        data = next((content for content in unpacked if content is not None), None) or content_of(path)
        if data is not None:
            yield from check_file(SourceFile(path, data), formats)
    yield from reading.linted
    yield from (finding for finding in reading.findings if finding.level in LINT_LEVELS)


EXPORTED_UNSTATED: Final = finding_code(
    "exported-unstated",
    "A component with an intent filter does not state android:exported; Android 12 and later refuse an app "
    "that targets them",
    __name__,
)
_FIRST_STATING_SDK: Final = 31


def report_unstated_exported(application: Application) -> Iterator[Finding]:
    """Yield a finding for each component that keeps the app from being installed on Android 12 and later.

    It is an error where the app targets them, and a warning where its targetSdk is not known. Filters without
    an action count for services only (AOSP ParsedActivityUtils and ParsedServiceUtils, `failOnNoActions`).
    """
    target = application.target_sdk
    if target is not None and target < _FIRST_STATING_SDK:
        return
    reason = "if it targets them" if target is None else f"since its targetSdk is {target}"
    for component in application.of_kind("activity", "receiver", "service"):
        is_stated = component.exported is not None or any(
            item.startswith("exported=") for item in component.unresolved
        )
        counts_all = component.kind == "service"
        if not is_stated and any(filter_.actions or counts_all for filter_ in component.filters):
            yield Finding(
                code=EXPORTED_UNSTATED,
                level=Level.WARNING if target is None else Level.ERROR,
                pointer="",
                message=f"{component.name} does not state android:exported, so Android 12 and later refuse "
                f"the app {reason}",
                hint='add android:exported="true" if other apps may call it, else "false"',
                source=component.place or application.place,
            )


def check_file(source: SourceFile, formats: Sequence[Format]) -> Iterator[Finding]:
    """Yield what the linter of a descriptor's format objects to; nothing for what is none.

    Raises:
        InputError: it cannot be checked at all.
    """
    with open_step(f"check {source.path}"):
        format_ = detect_format(source, formats) or only_format(source, formats)
        findings = () if format_ is None or format_.lint_file is None else tuple(format_.lint_file(source))
    yield from findings


NEAR_NAME: Final = finding_code(
    "near-name", "A name in the manifest is nearly one that a protocol's agents look for", __name__
)

_LONGEST: Final = 200
_LONG_ENOUGH: Final = 12
"""Letters and digits that a name has to have so that others may end in it, or resemble it."""
_ALIKE: Final = 0.9
_NO_LETTER: Final = re.compile("[^a-z0-9]")


class NearNames:
    """The names of protocols that a manifest's names may resemble.

    Args:
        formats: The protocols'.
    """

    def __init__(self, formats: Iterable[Format]) -> None:
        self._exact: set[str] = set()
        # Letters and digits of a name -> the name, and the protocol's title.
        self._sought: dict[str, tuple[str, str]] = {}
        for format_ in formats:
            tables = format_.tables
            actions = (query.action or "" for query in format_.phones.looks_for)
            self._exact.update(tables.names.values(), actions)
            for key in tables.manifest_names:
                self._sought[_plain(tables.names[key])] = tables.names[key], tables.title
        self._long_enough = [name for name in self._sought if len(name) >= _LONG_ENOUGH]

    def report(self, application: Application) -> Iterator[Finding]:
        """Yield a warning for each action, meta-data and property that resembles a name of a protocol.

        Names differ in letter case or punctuation, end in the protocol's name, or differ in a few letters.
        """
        seen: set[str] = set()
        for component in application.components:
            for kind, name, place in _names_of(component):
                if name in seen or name in self._exact or len(name) > _LONGEST:
                    continue
                seen.add(name)
                nearest = self._nearest(_plain(name))
                if nearest is not None:
                    protocol_name, title = nearest
                    message = f"no protocol has the {kind} {name}; agents of {title} look for {protocol_name}"
                    yield Finding(
                        code=NEAR_NAME,
                        level=Level.WARNING,
                        pointer="",
                        message=message,
                        hint=f"write {protocol_name}, if that is meant",
                        source=place or application.place,
                    )

    def _nearest(self, plain: str) -> tuple[str, str] | None:
        if not plain or plain in self._sought:
            return self._sought.get(plain)
        ending = max(filter(plain.endswith, self._long_enough), key=len, default=None)
        if ending is None:
            # Comparing letters costs much more than comparing lengths.
            as_long = [item for item in self._long_enough if abs(len(item) - len(plain)) <= len(item) // 5]
            ending = next(iter(get_close_matches(plain, as_long, n=1, cutoff=_ALIKE)), None)
        return None if ending is None else self._sought[ending]


def _names_of(component: Component) -> Iterator[tuple[str, str, Place | None]]:
    for filter_ in component.filters:
        yield from (("action", action, component.place) for action in filter_.actions)
    yield from (("meta-data", item.name, item.place) for item in component.meta_data)
    yield from (("property", item.name, item.place) for item in component.properties)


def _plain(name: str) -> str:
    return _NO_LETTER.sub("", name.lower())


_NOT_BUILT: Final = frozenset({"S80", "S81"})
"""Rows of what is read as a sample of a manifest, and refused by Android's build in a project."""

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

    def __repr__(self) -> str:
        """Return one line: what was found, counted."""
        levels = Counter(str(finding.level) for finding in self.findings)
        counts = "".join(f"{level}={count}, " for level, count in levels.items())
        is_unread = self.problems or any(finding.level is Level.ERROR for finding in self.findings)
        checked = ", ".join(self.checked) or f"nothing{' (an error prevents it)' if is_unread else ''}"
        return f"<LintReport {counts}problems={len(self.problems)}, checked={checked}>"

    def _repr_html_(self) -> str:
        """Return a table of the findings, for notebooks."""
        rows = ((found.level, found.code, found.source, found.text) for found in self.findings)
        return html_table(("level", "code", "place", "message"), rows)


def lint(
    *sources: str | PathLike[str],
    formats: Iterable[str] | None = None,
    strict: bool = False,
    variant: str | None = None,
) -> LintReport:
    """Check sources against the specifications of their formats.

    Args:
        sources: As `droidgate.read` takes them.
        formats: Ids of the formats whose linters check; all installed ones by default.
        strict: Every leniency of a reader is an error.
        variant: The only variant of source trees that is checked; without it, all source sets are.

    Raises:
        InputError: the only source cannot be read, and no linter explains why; one of several is a finding.
        DeviceError: the phone cannot be reached or used.
        UsageError: a format or the variant is unknown, or standard input is named twice.

    Example:
        >>> droidgate.lint("pdf-tool").findings
        ()
    """
    names = source_names(sources)
    check_sources(names)
    chosen = chosen_formats(formats) or list(load_formats().values())
    findings: dict[Finding, None] = {}
    problems: list[InputError] = []
    read: set[str] = set()
    options = ReadOptions(tuple(chosen), strict=strict, variant=variant)
    for number, name in enumerate(names, 1):
        try:
            with timed_step(f"check {numbered(name, number, len(names))}"):
                findings.update(dict.fromkeys(_lint_source(name, options, problems, read)))
        except InputError as error:
            if len(names) == 1:
                raise
            unread = (error, *error.others)
            problems += unread
            findings.update(dict.fromkeys(map(unreadable_finding, unread)))
    with_rules = read & {item.id for item in chosen if item.has_rules}
    return LintReport(
        tuple(findings), tuple(problems), tuple(sorted(with_rules)), tuple(sorted(read - with_rules))
    )


def _lint_source(
    source: str, options: ReadOptions, problems: list[InputError], read: set[str]
) -> Iterator[Finding]:
    """Yield the findings of one source; add what of it cannot be read to `problems`, and the ids of the
    formats that were read to `read`.

    Raises:
        InputError: it cannot be read, and no format's linter has a word for that.
    """
    data = sys.stdin.buffer.read(MAX_FILE_BYTES + 1) if source == STANDARD_INPUT else None
    stdin = None if data is None else io.BytesIO(data)
    formats, strict = options.formats, options.strict
    try:
        reading = read_source(source, strict=strict, formats=formats, stdin=stdin, variant=options.variant)
    except InputError:
        reported = () if strict else tuple(_lint_file(source, data, formats))
        if not reported:
            raise
        yield from reported
        return

    near_names = NearNames(formats)

    def check(part: Providers) -> Iterator[Finding]:
        read.update(provider.protocol for provider in part.providers)
        findings = (
            *_check_one(part, formats, near_names, lambda path: _content_of(path, data)),
            *_check_project(source, part, reading.code_files),
        )
        return _lint_reading(source, part, findings, options, problems)

    yield from _check_variants(reading, check)


def _check_project(source: str, reading: Providers, code_files: Sequence[str]) -> Iterator[Finding]:
    """Yield what keeps a source tree from being built, or its components from being started."""
    for application in reading.applications:
        if isinstance(application.resources, SourceResources):
            for root, path in application.resources.value_files():
                yield from report_refused_texts(root, path)
    if Path(source).is_dir():
        for finding in reading.findings:
            if finding.rule in _NOT_BUILT:
                yield finding.changed({"level": Level.WARNING})
        yield from report_missing_classes(source, reading.applications, code_files)


def _lint_reading(
    source: str,
    reading: Providers,
    findings: Sequence[Finding],
    options: ReadOptions,
    problems: list[InputError],
) -> Iterator[Finding]:
    """Yield the findings of a reading, with what readers leave out and what cannot be read."""
    yield from findings
    # What a reader leaves out is lost in every command that reads the source.
    for finding in reading.findings:
        if finding.level in {Level.DROPPED, Level.IMPOSSIBLE} and not _is_linted(finding, findings):
            yield finding.changed({"level": Level.WARNING})
    yield from (mark.as_finding() for provider in reading.providers for mark in text_marks(provider))
    broken = {
        finding.source.path
        for finding in findings
        if finding.level is Level.ERROR and finding.source is not None
    }
    for error in reading.problems:
        reported = () if options.strict else tuple(_lint_broken(error, source, broken, options.formats))
        if reported:
            yield from reported
        elif options.strict or _place_of(error).path not in broken:
            problems.append(error)
            yield unreadable_finding(error)


def _is_linted(read: Finding, linted: Iterable[Finding]) -> bool:
    """Return whether a linter reports the cause of a reader's finding, at the same place."""
    row = load_divergences().get(read.rule or "")
    return row is not None and any(
        finding.code in row.linted_as and finding.source == read.source for finding in linted
    )


def _lint_broken(
    error: InputError, folder: str, broken: Collection[str], formats: Sequence[Format]
) -> Iterator[Finding]:
    """Yield what the linter finds in a file of a folder that cannot be read, as where it is named alone."""
    path = _place_of(error).path
    if path in broken or not Path(folder).is_dir():
        return
    try:
        # A link that leads out of the folder was refused for that, and is not followed here either.
        yield from check_file(SourceFile(path, read_bytes(path, root=folder)), formats)
    except InputError:
        return


def _lint_file(path: str, data: bytes | None, formats: Sequence[Format]) -> Iterator[Finding]:
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


_PLACE: Final = re.compile(r"(.*?)(?::(\d+)(?::\d+)?|:/.*)?", re.DOTALL)
"""A path, which may hold colons itself, and perhaps a line and a column, or a JSON Pointer."""


def _place_of(error: InputError) -> Place:
    path, number = _PLACE.fullmatch(error.place or STANDARD_INPUT).groups()  # type: ignore[union-attr]
    return Place(path=path, line=None if number is None else int(number))


def unreadable_finding(error: InputError) -> Finding:
    """Return the finding that something cannot be read."""
    place = _place_of(error)
    return Finding(
        code=UNREADABLE, level=Level.ERROR, pointer="", message=error.message, hint=error.hint, source=place
    )

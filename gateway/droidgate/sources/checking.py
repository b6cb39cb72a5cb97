"""Checking what a source holds against the specifications of its formats."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from droidgate.sources.near_names import NearNames
from droidgate.sources.providers import Providers
from droidgate.sources.source_code import assets_of_code, report_competing_services
from droidgate_mappings.formats.format import Format, SourceFile, detect_format
from droidgate_mappings.model.findings import LINT_LEVELS, Finding


def check_reading(
    reading: Providers, formats: Iterable[Format], content_of: Callable[[str], bytes | None]
) -> Iterator[Finding]:
    """Yield what the linters of formats object to in what was read, and the reader's own objections.

    Args:
        reading: What was read.
        formats: Whose linters are asked.
        content_of: The content of a file that was read, by its path in the reading; None for what is gone.

    Raises:
        InputError: a linter cannot read a file at all.
    """
    formats = tuple(formats)
    near_names = NearNames(formats)
    for application in reading.applications:
        assets = assets_of_code(application, reading.providers)
        application = replace(application, assets_of_code=assets) if assets else application  # noqa: PLW2901
        found = [
            finding
            for format_ in formats
            if format_.lint_application is not None
            for finding in format_.lint_application(application)
        ]
        yield from found
        places = {finding.source for finding in found}
        # A rule of the format itself says more about the same place.
        yield from (finding for finding in near_names.report(application) if finding.source not in places)
    yield from report_competing_services(reading.applications, reading.providers)
    for path in reading.read_alone:
        data = content_of(path)
        if data is not None:
            yield from check_file(SourceFile(path, data), formats)
    yield from reading.linted
    yield from (finding for finding in reading.findings if finding.level in LINT_LEVELS)


def check_file(source: SourceFile, formats: Iterable[Format]) -> Iterator[Finding]:
    """Yield what the linter of a descriptor's format objects to; nothing for what is none.

    Raises:
        InputError: it cannot be checked at all.
    """
    format_ = detect_format(source, formats)
    if format_ is not None and format_.lint_file is not None:
        yield from format_.lint_file(source)

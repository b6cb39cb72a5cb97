"""Checking what a source holds against the specifications of its formats."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import PurePosixPath

from droidgate.application import Application
from droidgate.formats import Format, SourceFile, detect_format
from droidgate.model.findings import LINT_LEVELS, Finding
from droidgate.sources import UNTIED_DESCRIPTOR, SourceReading
from droidgate.sources.resources import SourceResources


def check_reading(
    reading: SourceReading, formats: Iterable[Format], content_of: Callable[[str], bytes | None]
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
    for application in reading.applications:
        for one in formats:
            if one.lint_application is not None:
                yield from one.lint_application(application)
    for path in _files_without_application(reading):
        data = content_of(path)
        if data is not None:
            yield from check_file(SourceFile(path, data), formats)
    yield from (one for one in reading.findings if one.level in LINT_LEVELS)


def check_file(source: SourceFile, formats: Iterable[Format]) -> Iterator[Finding]:
    """Yield what the linter of a descriptor's format objects to; nothing for what is none.

    Raises:
        InputError: it cannot be checked at all.
    """
    one = detect_format(source, formats)
    if one is not None and one.lint_file is not None:
        yield from one.lint_file(source)


def _folders_of(application: Application) -> list[PurePosixPath]:
    """Return the folders whose files an application's check has seen, those of its libraries included."""
    resources = application.resources
    further = resources.folders if isinstance(resources, SourceResources) else ()
    return [PurePosixPath(application.place.path).parent, *map(PurePosixPath, further)]


def _files_without_application(reading: SourceReading) -> list[str]:
    """Return the descriptors that no application's check has seen."""
    untied = {
        one.source.path
        for one in reading.findings
        if one.code == UNTIED_DESCRIPTOR and one.source is not None
    }
    folders = [folder for one in reading.applications for folder in _folders_of(one)]
    return [
        path
        for path in reading.files_read
        if path in untied or not any(PurePosixPath(path).is_relative_to(folder) for folder in folders)
    ]

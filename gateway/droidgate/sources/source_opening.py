"""How one source is opened: a phone, standard input, a revision, a catalog, a folder or a file."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from droidgate.sources.format_reading import ReadOptions
from droidgate.sources.source_results import Providers
from droidgate.sources.source_schemes import DEVICE_SCHEME, GIT_SCHEME, STANDARD_INPUT
from droidgate_mappings.formats.format import Format, load_formats
from droidgate_mappings.model.errors import BudgetError, InputError

if TYPE_CHECKING:
    from droidgate.sources.file_reader import FileReader


def read_source(
    source: str,
    *,
    strict: bool = False,
    formats: Iterable[Format] | None = None,
    stdin: BinaryIO | None = None,
    variant: str | None = None,
) -> Providers:
    """Return everything that one source declares.

    Args:
        source: `-`, or a path as the user wrote it: a descriptor, a manifest, an Android project, an APK, a
            container of split APKs (`.apks`, `.xapk`, `.apkm`), a folder of any of these or an archive of
            one (`.zip`, `.whl`, `.tgz`, `.tar.gz`, `.tar`), a catalog or its `catalog.json`; a revision:
            `git:REVISION[:PATH]`; a phone: `adb:`,
            `adb:SERIAL`, `adb:SERIAL/PACKAGE`; or `FORMAT:` for what a format fixes itself.
        strict: Every leniency of a reader is an error.
        formats: The formats to look for; all installed ones by default.
        stdin: What `-` reads, the process's standard input by default.
        variant: As `read` takes it.

    Raises:
        InputError: the named file cannot be read or no format claims it, or the folder holds none of these.
        DeviceError: the phone cannot be reached or used.
    """
    if not source:
        raise InputError("the path is empty", hint="a folder is `.`, standard input is `-`")
    chosen = tuple(load_formats().values() if formats is None else formats)
    options = ReadOptions(chosen, strict=strict, variant=variant)
    if source.startswith(DEVICE_SCHEME):
        return _read_device(source, options)
    if source == STANDARD_INPUT:
        return _read_standard_input(sys.stdin.buffer if stdin is None else stdin, options)
    for format_ in options.formats:
        if format_.built_in is not None and source == f"{format_.id}:":
            return Providers((format_.built_in(),))
    return _read_git(source, options) if source.startswith(GIT_SCHEME) else _read_path(source, options)


def open_reader(options: ReadOptions | None) -> FileReader:
    """Return what reads files together, and adds up what they declare."""
    from droidgate.sources.file_reader import FileReader

    return FileReader(options or ReadOptions())


def _read_device(source: str, options: ReadOptions) -> Providers:
    # Most runs have no phone, and its modules take longer to import than a file to be read.
    from droidgate.sources.phone_source import read_device_source

    return read_device_source(source, formats=options.formats, strict=options.strict).declared


def _read_standard_input(stdin: BinaryIO, options: ReadOptions) -> Providers:
    from droidgate.sources.folders import MAX_FILE_BYTES

    data = stdin.read(MAX_FILE_BYTES + 1)
    if len(data) > MAX_FILE_BYTES:
        raise BudgetError(f"it has more than {MAX_FILE_BYTES} bytes", place=STANDARD_INPUT)
    reader = open_reader(options)
    reader.read_named(STANDARD_INPUT, data)
    return reader.result()


def _read_git(source: str, options: ReadOptions) -> Providers:
    from droidgate.sources.git_revisions import read_file_of

    reader, content = open_reader(options), read_file_of(source)
    reader.read_packed(source) if content is None else reader.read_named(source, content)
    return reader.result()


def _read_path(source: str, options: ReadOptions) -> Providers:
    from droidgate.sources.archives import is_archive, is_packed_folder
    from droidgate.sources.catalogs.catalog_files import catalog_folder
    from droidgate.sources.folders import read_bytes

    catalog = catalog_folder(source)
    if catalog is not None:
        # Most runs have no catalog either.
        from droidgate.sources.catalogs.catalog import read_catalog

        return read_catalog(catalog, options)
    reader = open_reader(options)
    if _is_folder(source):
        reader.read_folder(source)
    elif is_packed_folder(source):
        reader.read_packed(source)
    elif is_archive(source):
        reader.read_archive(source)
    else:
        reader.read_named(source, read_bytes(source))
    return reader.result()


def _is_folder(source: str) -> bool:
    try:
        return Path(source).is_dir()
    except (OSError, ValueError):
        return False

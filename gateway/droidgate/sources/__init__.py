"""The one door to descriptors: files, standard input, projects, APKs, folders of these, catalogs, phones."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from droidgate.sources.format_reading import ReadOptions
from droidgate.sources.source_results import Providers
from droidgate.sources.source_schemes import DEVICE_SCHEME, GIT_SCHEME, STANDARD_INPUT, source_names
from droidgate_mappings.formats.format import Format, chosen_formats, finder_of_silent, load_formats
from droidgate_mappings.model.capability import Provider
from droidgate_mappings.model.errors import BudgetError, EmptyError, InputError, UsageError
from droidgate_mappings.timed_steps import timed_step

if TYPE_CHECKING:
    from droidgate.sources.file_reader import FileReader

__all__ = [
    "DEVICE_SCHEME",
    "STANDARD_INPUT",
    "Providers",
    "ReadOptions",
    "check_convertible",
    "check_declared",
    "open_reader",
    "providers_of",
    "read",
    "read_content",
    "read_source",
    "read_sources",
]


def read(
    *sources: str | PathLike[str],
    formats: Iterable[str] | None = None,
    strict: bool = False,
    variant: str | None = None,
) -> Providers:
    """Return what sources declare, in any known format.

    Args:
        sources: Each a path (a descriptor, a manifest, an Android project, an APK, a container of split APKs,
            a folder of any of these or an archive of one, a catalog or its `catalog.json`, the document of
            `discover --json`), a revision of the Git repository around the working folder: `git:REVISION`,
            `git:REVISION:PATH`, `-` for standard input, a phone: `adb:`, `adb:SERIAL`,
            `adb:SERIAL/PACKAGE`, or the capabilities that a format fixes itself: `mobile-agent:`.
        formats: Ids of the formats to look for, such as `mmcp`, or one id; all installed ones by default.
        strict: Every leniency of a reader is an error.
        variant: The variant of source trees whose source code is read, such as `playRelease`, `play` or
            `release`; Gradle's default without it.

    What cannot be read next to something that can is in `problems`.

    Raises:
        InputError: a source cannot be read, or none of them has a descriptor or an application.
        DeviceError: the phone cannot be reached or used.
        UsageError: a format or the variant is unknown, or standard input is named twice.

    Example:
        >>> [provider.component for provider in droidgate.read("pdf-tool", "clock-in")]
        ['.ToolActivity', '.ClockInService']
    """
    names = source_names(sources)
    providers = read_sources(names, formats=formats, strict=strict, variant=variant)
    check_declared(providers, names)
    return providers


def read_content(
    data: bytes | str, name: str, *, formats: Iterable[str] | None = None, strict: bool = False
) -> Providers:
    """Return what the content of one file declares; nothing on disk is read.

    Args:
        data: A descriptor, a manifest, source code, an APK or a container of split APKs.
        name: The file's name, for places and for what only a name tells, such as `.kt`.
        formats: As `read` takes them.
        strict: Every leniency of a reader is an error.

    Raises:
        InputError: it cannot be read, or declares nothing.
        UsageError: a format is unknown.

    Example:
        >>> droidgate.read_content(b'{"protocolVersion": "1.0", "tools": []}', "upload.json")[0].protocol
        'mmcp'
    """
    chosen = chosen_formats(formats) or load_formats().values()
    content = data.encode(errors="surrogatepass") if isinstance(data, str) else data
    providers = _read_alone(name, content, ReadOptions(tuple(chosen), strict=strict))
    check_declared(providers, (name,))
    return replace(providers, sources=(name,))


def providers_of(source: str | PathLike[str] | Provider | Iterable[Provider]) -> Providers:
    """Return what a source declares, or providers that were read already.

    Args:
        source: A source as `read` takes it, or providers: what `read` returns, or one or more of them.

    Raises:
        InputError, DeviceError, UsageError: as `read`.
    """
    if isinstance(source, Providers):
        return source
    if isinstance(source, Provider):
        return Providers((source,))
    if isinstance(source, Iterable) and not isinstance(source, str | bytes | PathLike):
        providers = tuple(source)
        if all(isinstance(provider, Provider) for provider in providers):
            return Providers(providers)
        message = "a list that is not of providers cannot be used as a source"
        raise UsageError(message, hint="read several sources together with droidgate.read(*SOURCES)")
    return read(source)


def read_sources(
    sources: Sequence[str],
    *,
    formats: Iterable[str] | None = None,
    strict: bool = False,
    skips_unreadable: bool = False,
    variant: str | None = None,
) -> Providers:
    """Return what sources declare, together and in their order; nothing where they declare nothing.

    Args:
        sources: As `read_source` takes them.
        formats: Ids of the formats to look for; all installed ones by default.
        strict: Every leniency of a reader is an error.
        skips_unreadable: One of several sources that cannot be read is a problem.
        variant: As `read` takes it.

    Raises:
        InputError: a source cannot be read.
        DeviceError: the phone cannot be reached or used.
        UsageError: a format or the variant is unknown, or standard input is named twice.
    """
    check_sources(sources)
    chosen = chosen_formats(formats)
    readings: list[Providers] = []
    for number, source in enumerate(sources, 1):
        try:
            with timed_step(f"read {numbered(source, number, len(sources))}"):
                readings.append(read_source(source, strict=strict, formats=chosen, variant=variant))
        except InputError as error:
            if not skips_unreadable or len(sources) == 1:
                raise
            readings.append(Providers(problems=(error, *error.others), unreadable=1))
    return replace(Providers.join(readings), sources=tuple(sources))


def numbered(source: str, number: int, count: int) -> str:
    """Return a source for a step, with its number where it is one of several."""
    return source if count == 1 else f"{source} (source {number} of {count})"


def check_declared(
    providers: Providers, sources: Sequence[str], *, are_problems_printed: bool = False
) -> None:
    """Raise where sources hold neither a descriptor nor an application.

    Args:
        providers: What they declare.
        sources: Their names, for the error.
        are_problems_printed: The user has seen each problem, so the error does not have them again.

    Raises:
        EmptyError: they hold neither.
        InputError: nothing in them can be read; its `others` are the reasons.
    """
    if providers.providers or providers.applications or providers.only_in_variants:
        return
    place = " ".join(sources)
    if providers.problems:
        message, hint = "nothing in it can be read", "each reason is named above"
        if providers.unreadable == len(sources):
            message = f"none of the {len(sources)} sources can be read"
            hint = "each source is named above, with the reason"
        error = InputError(message, place=place, hint=hint if are_problems_printed else None)
        error.others = () if are_problems_printed else providers.problems
        raise error
    message = "no descriptor of a known protocol in it"
    raise EmptyError(message, place=place, hint="see `droidgate formats` for what is read")


def check_convertible(providers: Providers) -> None:
    """Raise where sources declare nothing that could be written in another protocol.

    Args:
        providers: What they declare.

    Raises:
        InputError: the sources declare nothing; the hint says what finds the capabilities of an app that has
            to be asked.
    """
    if providers.providers:
        return
    finder = next(filter(None, map(finder_of_silent, providers.applications)), None)
    message = "nothing in it declares a capability"
    if finder is not None:
        message = "no file in it lists the capabilities of its app"
    place = " ".join(providers.sources) or None
    raise InputError(message, place=place, hint=finder or "see what is in it with `droidgate inspect`")


def check_sources(sources: Sequence[str]) -> None:
    """Raise where sources cannot be read together.

    Raises:
        UsageError: standard input is named twice.
    """
    if list(sources).count(STANDARD_INPUT) > 1:
        message = "standard input can be read once only"
        raise UsageError(message, hint="write - once")


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

    return _read_alone(STANDARD_INPUT, stdin.read(MAX_FILE_BYTES + 1), options)


def _read_alone(name: str, data: bytes, options: ReadOptions) -> Providers:
    from droidgate.sources.folders import MAX_FILE_BYTES
    from droidgate_android.apk.file_kinds import is_zip

    if len(data) > MAX_FILE_BYTES and (name == STANDARD_INPUT or not is_zip(data)):
        raise BudgetError(f"it has more than {MAX_FILE_BYTES} bytes", place=name)
    reader = open_reader(options)
    reader.read_named(name, data, is_alone=True)
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

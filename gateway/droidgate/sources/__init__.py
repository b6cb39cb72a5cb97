"""Where descriptors come from: a file, standard input, a project, an APK, a folder of these, a phone."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final

from droidgate.apk.file_kinds import is_binary_xml, is_zip
from droidgate.application import Application
from droidgate.formats import CodeReader, Format, Reading, SourceFile, detect_format, load_formats
from droidgate.leniency import ReadingContext, crash_report
from droidgate.model.capability import Place, Provider, declaration_of
from droidgate.model.errors import BudgetError, DroidgateError, InputError
from droidgate.model.findings import Finding, Level, finding_code
from droidgate.model.json_values import Json
from droidgate.parsing.json_text import parse_json
from droidgate.parsing.xml_text import parse_xml
from droidgate.sources.android_project import (
    MAIN,
    LooseFile,
    Module,
    application_from_tree,
    loose_files_of,
    read_module,
    read_source_set,
)
from droidgate.sources.archives import is_archive
from droidgate.sources.folders import MAX_FILE_BYTES, module_of_manifest, read_bytes, scan_folder
from droidgate.sources.manifest import is_manifest
from droidgate.sources.module_layout import LooseCode
from droidgate.sources.resources import SourceSet
from droidgate.sources.source_code import (
    Code,
    code_endings,
    code_of,
    join_code,
    read_code,
    report_elsewhere,
    report_variant_code,
)
from droidgate.sources.spelling import printable, spelled_parent

if TYPE_CHECKING:
    from droidgate.apk.reader import Apk

__all__ = [
    "STANDARD_INPUT",
    "UNTIED_DESCRIPTOR",
    "SourceReading",
    "application_from_tree",
    "read_content",
    "read_one_module",
    "read_opened",
    "read_source",
]

STANDARD_INPUT: Final = "-"
DEVICE_SCHEME: Final = "adb:"

UNTIED_DESCRIPTOR: Final = finding_code(
    "untied-descriptor",
    "A descriptor in a module's assets or resources that no component of it points to; it is read alone",
    __name__,
)

REPEATED_DECLARATION: Final = finding_code(
    "repeated-declaration",
    "A descriptor in a folder that says what a component of an app in it declares; it is not counted again",
    __name__,
)

UNREAD_FILE: Final = finding_code(
    "unread-file",
    "An XML or JSON file of a folder is too large to be read, so whether it is a descriptor is not known",
    __name__,
)

_UTF_8_MARK: Final = b"\xef\xbb\xbf"
_UTF_16_MARKS: Final = (b"\xff\xfe", b"\xfe\xff")
_UTF_16_XML: Final = (b"\xff\xfe<\0", b"\xfe\xff\0<")


@dataclass(frozen=True, slots=True)
class SourceReading:
    """What one source holds.

    Attributes:
        providers: In order of path, formats by id.
        findings: What was bent, and what else is worth telling.
        applications: The applications found, whether or not they declare anything.
        files_read: Paths of the files read, as a user would write them, each once.
        problems: What could not be read in a folder, or in one component of several; the only descriptor of a
            file that was named itself is raised instead.
        read_alone: Those of the files that were read as descriptors by themselves, without an app.
    """

    providers: tuple[Provider, ...] = ()
    findings: tuple[Finding, ...] = ()
    applications: tuple[Application, ...] = ()
    files_read: tuple[str, ...] = ()
    problems: tuple[InputError, ...] = ()
    read_alone: tuple[str, ...] = ()


def read_source(
    spelled: str,
    *,
    strict: bool = False,
    formats: Iterable[Format] | None = None,
    stdin: BinaryIO | None = None,
) -> SourceReading:
    """Read everything that one source declares.

    Args:
        spelled: `-`, or a path as the user wrote it: a descriptor, a manifest, an Android project, an APK, a
            container of split APKs (`.apks`, `.xapk`, `.apkm`), a folder of any of these; or a phone: `adb:`,
            `adb:SERIAL`, `adb:SERIAL/PACKAGE`.
        strict: Every leniency of a reader is an error.
        formats: The formats to look for; all installed ones by default.
        stdin: What `-` reads, the process's standard input by default.

    Raises:
        InputError: the named file cannot be read or no format claims it, or the folder holds none of these.
        DeviceError: the phone cannot be reached or used.
    """
    if not spelled:
        raise InputError("the path is empty", hint="A folder is `.`, standard input is `-`")
    chosen = _chosen(formats)
    if spelled.startswith(DEVICE_SCHEME):
        return _read_device(spelled, chosen, strict=strict)
    reader = _Reader(strict=strict, formats=chosen)
    if spelled == STANDARD_INPUT:
        data = (sys.stdin.buffer if stdin is None else stdin).read(MAX_FILE_BYTES + 1)
        if len(data) > MAX_FILE_BYTES:
            raise BudgetError(f"it has more than {MAX_FILE_BYTES} bytes", place=STANDARD_INPUT)
        reader.read_named(STANDARD_INPUT, data)
    elif _is_folder(spelled):
        reader.read_folder(spelled)
    elif is_archive(spelled):
        reader.read_archive(spelled)
    else:
        reader.read_named(spelled, read_bytes(spelled))
    return reader.result()


def read_opened(
    apk: Apk, *, formats: Iterable[Format] | None = None, keeps_going: bool = False
) -> SourceReading:
    """Read what an opened APK with its splits declares; what cannot be read is among the problems.

    Args:
        apk: The APK.
        formats: The formats to look for; all installed ones by default.
        keeps_going: A crash while a capability is read is a problem, too.
    """
    reader = _Reader(strict=False, formats=_chosen(formats), keeps_going=keeps_going)
    reader.read_apk(apk)
    return reader.result()


def read_one_module(
    module: Module, *, formats: Iterable[Format] | None = None, keeps_going: bool = False
) -> SourceReading:
    """Read what one module of a build declares; what cannot be read is among the problems.

    Args:
        module: The module.
        formats: The formats to look for; all installed ones by default.
        keeps_going: A crash while a capability is read is a problem, too.
    """
    reader = _Reader(strict=False, formats=_chosen(formats), keeps_going=keeps_going)
    reader.read_module(module)
    return reader.result()


def read_content(
    path: str, data: bytes, *, formats: Iterable[Format] | None = None, keeps_going: bool = False
) -> SourceReading:
    """Read one descriptor from memory.

    Args:
        path: How a user would write it.
        data: Its content.
        formats: The formats to look for; all installed ones by default.
        keeps_going: A crash while a capability is read is a problem of the reading.

    Raises:
        InputError: it is broken, or no format claims it.
    """
    reader = _Reader(strict=False, formats=_chosen(formats), keeps_going=keeps_going)
    reader.read_named(path, data)
    return reader.result()


def _chosen(formats: Iterable[Format] | None) -> tuple[Format, ...]:
    return tuple(load_formats().values() if formats is None else formats)


def _read_device(spelled: str, formats: tuple[Format, ...], *, strict: bool) -> SourceReading:
    # Most runs have no phone, and its modules take longer to import than a file to be read.
    from droidgate.sources.device import read_spelled_device  # noqa: PLC0415

    phone = read_spelled_device(spelled, formats=formats, strict=strict)
    applications = [one.application for one in phone.apps if one.application is not None]
    return SourceReading(
        providers=tuple(provider for one in phone.apps for provider in one.providers),
        findings=tuple(finding for one in phone.apps for finding in one.findings),
        applications=tuple(applications),
        files_read=tuple(one.place.path for one in applications),
        problems=(*phone.problems, *(problem for one in phone.apps for problem in one.problems)),
    )


def _is_folder(spelled: str) -> bool:
    try:
        return Path(spelled).is_dir()
    except (OSError, ValueError):
        return False


def _declares_the_same(tied: Provider, loose: Provider) -> bool:
    def declared(one: Provider) -> list[dict[str, Json]]:
        return [declaration_of(part) for part in (*one.capabilities, *one.definitions.values())]

    return (
        tied.protocol == loose.protocol
        and len(tied.capabilities) == len(loose.capabilities)
        and tied.definitions.keys() == loose.definitions.keys()
        and declared(tied) == declared(loose)
    )


class _Reader:
    def __init__(self, *, strict: bool, formats: tuple[Format, ...], keeps_going: bool = False) -> None:
        self._strict = strict
        self._keeps_going = keeps_going
        self._formats = formats
        self._providers: list[Provider] = []
        self._findings: list[Finding] = []
        self._applications: list[Application] = []
        self._files_read: dict[str, None] = {}
        self._read_alone: dict[str, None] = {}
        self._problems: dict[str, InputError] = {}

    def result(self) -> SourceReading:
        return SourceReading(
            providers=tuple(self._providers),
            findings=tuple(dict.fromkeys(self._findings)),
            applications=tuple(self._applications),
            files_read=tuple(self._files_read),
            read_alone=tuple(self._read_alone),
            problems=tuple(self._problems.values()),
        )

    def read_named(self, path: str, data: bytes) -> None:
        place = printable(path)
        if is_zip(data):
            self.read_archive(path, data)
            return
        if is_binary_xml(data):
            from droidgate.sources.apk import source_text_of  # noqa: PLC0415

            data = source_text_of(data, place).encode()
        if is_manifest(data):
            self._files_read[place] = None
            self._read_manifest_file(path, data)
        elif not self._read_file(SourceFile(place, data)) and not self._read_code_file(place, data):
            raise self._unclaimed(place, data)

    def _read_code_file(self, place: str, data: bytes) -> bool:
        """Read a file of source code by itself; false where no format reads such files."""
        if not place.endswith(code_endings(self._formats)):
            return False
        folder, _, name = place.rpartition("/")
        known = len(self._providers), len(self._problems)
        self._read_code_alone(Code((SourceSet({name: data}, folder),)))
        if known == (len(self._providers), len(self._problems)):
            return False
        self._files_read[place] = None
        return True

    def _unclaimed(self, place: str, data: bytes) -> InputError:
        """Return why no format claims a file: what is broken in it, or that it is something else."""
        text = data.removeprefix(_UTF_8_MARK).lstrip()
        if not text:
            return InputError("the file is empty", place=place, hint=self._known_formats())
        try:
            if text.startswith((b"{", b"[")):
                parse_json(data, path=place)
            elif text.startswith(b"<") or data.startswith(_UTF_16_XML):
                parse_xml(data, path=place)
            elif data.startswith(_UTF_16_MARKS):
                return InputError("the file is UTF-16", place=place, hint="Save the file as UTF-8")
        except InputError as error:
            return error
        return InputError("no known format claims this file", place=place, hint=self._known_formats())

    def read_folder(self, spelled: str) -> None:
        scan = scan_folder(spelled, spelled, code_endings(self._formats))
        self._files_read = scan.files_read
        self._note(*scan.problems)
        for module in scan.modules:
            self.read_module(module)
        # Resources and assets are listed as the modules are read.
        self._note(*scan.problems)
        loose_code = {place: path for path, place in scan.loose_code}
        self._read_code_alone(Code((SourceSet(LooseCode(loose_code, spelled)),)))
        for path, place in scan.loose_files:
            self._read_loose(path, place, root=spelled)
        if scan.archives:
            self._read_loose_archives(scan.archives)
        if not (self._applications or self._providers or self._problems):
            message = "the folder holds no Android project and no descriptor"
            raise InputError(message, place=printable(spelled), hint=self._known_formats())

    def _read_loose_archives(self, archives: Iterable[tuple[str, str]]) -> None:
        from droidgate.sources.apk import open_loose_archives  # noqa: PLC0415

        problems: list[InputError] = []
        for apk in open_loose_archives(archives, problems):
            self.read_apk(apk)
        self._note(*problems)

    def read_archive(self, path: str, data: bytes | None = None) -> None:
        """Read an APK or a container; `data` is its content where it is not a file."""
        from droidgate.sources.apk import open_archive  # noqa: PLC0415

        self.read_apk(open_archive(path, data))

    def read_apk(self, apk: Apk) -> None:
        """Read an app that is built; what one format cannot read is a problem of the reading."""
        from droidgate.apk.application import read_application  # noqa: PLC0415

        try:
            application = read_application(apk)
            self._applications.append(application)
            self._files_read[application.place.path] = None
            self._read_application_of_all(application)
        except InputError as error:
            self._note(error)
        self._findings.extend(apk.findings)
        apk.release()

    def _known_formats(self) -> str:
        if not self._formats:
            return "No format is installed"
        names = ", ".join(f"{one.title} ({one.id})" for one in self._formats)
        if len(self._formats) < len(load_formats()):
            return f"It was to be read as {names} only"
        return f"Known formats: {names}"

    def _note(self, *problems: InputError) -> None:
        for problem in problems:
            for each in (problem, *problem.others):
                self._problems.setdefault(str(each), each)

    def _context(self) -> ReadingContext:
        return ReadingContext(strict=self._strict, keeps_going=self._keeps_going)

    def _keep(self, reading: Reading, context: ReadingContext) -> None:
        self._providers.extend(reading.providers)
        self._findings.extend(dict.fromkeys((*reading.findings, *context.findings)))
        self._note(*reading.problems, *context.crashes)

    def _read_file(self, file: SourceFile) -> bool:
        one = detect_format(file, self._formats)
        if one is None:
            return False
        context = self._context()
        self._keep(one.read_file(file, context), context)
        self._files_read[file.path] = None
        self._read_alone[file.path] = None
        return True

    def _read_application_of_all(self, application: Application, *, code: Code | None = None) -> None:
        """Read an application as each format does; what one of them cannot read is a problem.

        Args:
            application: The application.
            code: Its source code; None where it is not read from a source tree.
        """
        for one in self._formats:
            with self._noting_problems(application.place.path, one):
                self._read_application(application, one, code)

    @contextmanager
    def _noting_problems(self, place: str | None, one: Format) -> Iterator[None]:
        try:
            yield
        except InputError as error:
            self._note(error)
        except Exception as error:
            if not self._keeps_going or isinstance(error, (DroidgateError, MemoryError)):
                raise
            self._note(crash_report(error, place, part=f"what {one.id} declares"))

    def _read_application(self, application: Application, one: Format, code: Code | None = None) -> None:
        context = self._context()
        try:
            reading = one.read_application(application, context)
        except InputError as error:
            if code is None or self._strict:
                raise
            self._note(error)
            reading = Reading()
        if code is not None and one.code is not None:
            found = self._read_code(one.code, code, context)
            providers = join_code(reading.providers, found, application, context.findings)
            context.findings += report_elsewhere(one.title, providers, application)
            reading = replace(reading, providers=tuple(providers))
        self._keep(reading, context)

    def _read_code(self, reader: CodeReader, code: Code, context: ReadingContext) -> tuple[Provider, ...]:
        found = read_code(reader, code, context)
        self._files_read.update(dict.fromkeys(found.files_read))
        self._note(*found.problems)
        return found.providers

    def _read_code_alone(self, code: Code) -> None:
        """Read source code that belongs to no application."""
        for one in self._formats:
            if one.code is not None:
                context = self._context()
                with self._noting_problems(code.own[0].spelled if code.own else None, one):
                    self._keep(Reading(self._read_code(one.code, code, context)), context)

    def _read_manifest_file(self, path: str, data: bytes) -> None:
        context = self._context()
        unlisted: list[InputError] = []
        if path == STANDARD_INPUT:
            module, name = Module({"main": SourceSet({path: data}, "", path)}), "main"
        else:
            file = Path(path).absolute()
            spelled = spelled_parent(Path(path).as_posix())
            module, name = module_of_manifest(
                str(file.parent), file.name, spelled, self._files_read, unlisted
            )
        application = read_source_set(module, name, context)
        self._note(*unlisted)
        self._findings.extend(context.findings)
        self._applications.append(application)
        if self._strict:
            for one in self._formats:
                self._read_application(application, one)
            return
        self._read_application_of_all(application)
        if self._problems and not self._providers:
            raise InputError.first_of(tuple(self._problems.values()))

    def read_module(self, module: Module) -> None:
        """Read the applications of a module, and the descriptors in it that no component points to."""
        context = self._context()
        problems: list[InputError] = []
        found = list(read_module(module, context, problems))
        applications = [application for _, application in found]
        self._findings += [*module.findings, *context.findings]
        readers = [one.code for one in self._formats if one.code is not None]
        self._findings += [found for reader in readers for found in report_variant_code(reader, module)]
        self._applications.extend(applications)
        known = len(self._providers)
        code = code_of(module)
        for name, application in found:
            self._read_application_of_all(application, code=code if name == MAIN else Code())
        self._note(*problems)
        if not any(name == MAIN for name, _ in found) and not module.is_merged:
            self._read_code_alone(code)
        read_already = {one.source.path for one in self._providers[known:] if one.source is not None}
        for loose in loose_files_of(applications):
            if loose.file.path not in read_already:
                self._read_untied(loose)

    def _read_untied(self, loose: LooseFile) -> None:
        path = loose.file.path
        try:
            if not self._read_file(SourceFile(path, loose.file.read())):
                return
        except BudgetError as error:
            self._note_unread(path, error)
            return
        except InputError as error:
            self._note(error)
            return
        self._findings.append(
            Finding(
                code=UNTIED_DESCRIPTOR,
                level=Level.NOTE,
                pointer="",
                message=f"no component of the module points to {loose.name}; it is read without a component",
                source=Place(path=path),
                hint="Its component may arrive by manifest merging, or the file may be unused",
            )
        )

    def _read_loose(self, path: str, place: str, *, root: str) -> None:
        try:
            data = read_bytes(path, spelled=place, root=root)
        except BudgetError as error:
            self._note_unread(place, error)
            return
        except InputError as error:
            self._note(error)
            return
        try:
            if is_manifest(data):
                self._files_read[place] = None
                self._read_loose_manifest(place, data)
            else:
                known = len(self._providers)
                self._read_file(SourceFile(place, data))
                self._leave_out_repeated(known)
        except InputError as error:
            self._note(error)

    def _note_unread(self, place: str, error: InputError) -> None:
        """Report a file that is too large to be read; descriptors are smaller, so it is not a problem."""
        self._findings.append(
            Finding(
                code=UNREAD_FILE,
                level=Level.NOTE,
                pointer="",
                message=f"it is not read: {error.message}",
                source=Place(path=place),
                hint=error.hint,
            )
        )

    def _leave_out_repeated(self, known: int) -> None:
        """Leave out the providers from position `known` on that a component of an app declares as well.

        A folder that `convert` wrote has mMCP's tools twice, in the manifest and next to it.
        """
        tied = [one for one in self._providers[:known] if one.component is not None]
        loose, self._providers[known:] = self._providers[known:], []
        for provider in loose:
            twin = next((one for one in tied if _declares_the_same(one, provider)), None)
            if twin is None:
                self._providers.append(provider)
                continue
            self._findings.append(
                Finding(
                    code=REPEATED_DECLARATION,
                    level=Level.NOTE,
                    pointer="",
                    message=f"it declares what {twin.component} does, and is not counted again",
                    source=provider.source,
                )
            )

    def _read_loose_manifest(self, place: str, data: bytes) -> None:
        folder, _, name = place.rpartition("/")
        self.read_module(Module({"main": SourceSet({name: data}, folder, name)}))

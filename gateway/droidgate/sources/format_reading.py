"""Reading with every chosen format: the only loop over formats that a source needs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from droidgate.sources.source_results import Providers
from droidgate_mappings.formats.application import Application
from droidgate_mappings.formats.format import (
    Format,
    Reading,
    SourceFile,
    detect_format,
    load_formats,
    only_format,
    silent_providers,
)
from droidgate_mappings.formats.installed import InstalledState
from droidgate_mappings.formats.leniency import ReadingContext, crash_report
from droidgate_mappings.model.capability import Place, Provider
from droidgate_mappings.model.errors import DroidgateError, InputError
from droidgate_mappings.model.findings import Finding, Level, finding_code
from droidgate_mappings.records import dataclass, field, replace
from droidgate_mappings.text.json_text import parse_json

if TYPE_CHECKING:
    from droidgate.sources.packed_folders import UnpackedFolder
    from droidgate.sources.source_code import Code

UTF_16: Final = finding_code(
    "utf-16", "A descriptor is in UTF-16, as PowerShell writes files; other programs expect UTF-8", __name__
)

DISCOVERY_SCHEMA: Final = "droidgate.discover/1"
"""The schema of the document that `discover --json` prints."""


def discovered_providers(file: SourceFile) -> tuple[Provider, ...] | None:
    """Return the providers in a document of `discover --json`; None where the file is anything else.

    Raises:
        InputError: it is such a document, and its providers are not.
    """
    if DISCOVERY_SCHEMA.encode() not in file.data:
        return None
    document = parse_json(file.data, path=file.path)
    if not isinstance(document, Mapping) or document.get("schema") != DISCOVERY_SCHEMA:
        return None
    try:
        records = [record for app in document["apps"] for record in app["providers"]]
        providers = [Provider.model_validate(record["provider"]) for record in records]
    except (KeyError, TypeError, ValueError) as error:
        message = "the document of `discover --json` does not list providers"
        raise InputError(message, place=file.path, hint="run `droidgate discover --json` again") from error
    return tuple(provider.changed({"source": Place(path=file.path)}) for provider in providers)


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How sources are read.

    Attributes:
        formats: The formats to look for.
        strict: Every leniency of a reader is an error.
        keeps_going: A crash while a capability is read is a problem of the reading.
        with_silent: Add the providers that would have to be asked for their capabilities.
        variant: The variant of a source tree whose source code is read, or flavours or a build type of it;
            Gradle's default without it.
    """

    formats: tuple[Format, ...] = field(default_factory=lambda: tuple(load_formats().values()))
    strict: bool = False
    keeps_going: bool = False
    with_silent: bool = False
    variant: str | None = None


@dataclass(slots=True)
class FormatReader:
    """Reads files, applications and source code with every chosen format, and collects what they declare.

    Attributes:
        options: How it reads.
        applications: The applications that were read, whether or not they declare anything.
        providers: In the order read, formats by id.
        findings: What the readers report.
        files_read: Paths of the files read, as a user would write them, each once.
        read_alone: Those of the files that were read as descriptors by themselves, without an application.
        problems: What could not be read, by its whole text.
        unpacked: The archives that were looked into.
        other_variants: What source sets declare that the variant does not have, by name.
        only_in_variants: What of that the variant does not declare.
        code_files: Files of source code of a folder; none where compiled classes are among them.
    """

    options: ReadOptions
    applications: list[Application] = field(default_factory=list)
    providers: list[Provider] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    files_read: dict[str, None] = field(default_factory=dict)
    read_alone: dict[str, None] = field(default_factory=dict)
    problems: dict[str, InputError] = field(default_factory=dict)
    unpacked: list[UnpackedFolder] = field(default_factory=list)
    other_variants: list[tuple[str, Providers]] = field(default_factory=list)
    only_in_variants: list[tuple[Provider, tuple[str, ...]]] = field(default_factory=list)
    code_files: tuple[str, ...] = ()

    def result(self) -> Providers:
        """Return what was read so far."""
        return Providers(
            providers=tuple(self.providers),
            findings=tuple(dict.fromkeys(self.findings)),
            applications=tuple(self.applications),
            files_read=tuple(self.files_read),
            problems=tuple(self.problems.values()),
            read_alone=tuple(self.read_alone),
            unpacked=tuple(self.unpacked),
            other_variants=tuple(self.other_variants),
            only_in_variants=tuple(self.only_in_variants),
            code_files=self.code_files,
        )

    def take(self, other: FormatReader) -> None:
        """Add what another reader has read."""
        self.applications += other.applications
        self.providers += other.providers
        self.findings += other.findings
        self.unpacked += other.unpacked
        self.other_variants += other.other_variants
        self.only_in_variants += other.only_in_variants
        self.files_read.update(other.files_read)
        self.read_alone.update(other.read_alone)
        self.note(*other.problems.values())

    @property
    def code_endings(self) -> tuple[str, ...]:
        """How the names of the files end that the formats read as source code."""
        from droidgate.sources.source_code import code_endings

        return code_endings(self.options.formats)

    def note(self, *problems: InputError) -> None:
        """Add problems; one with the same text as another is not repeated."""
        for problem in problems:
            for each in (problem, *problem.others):
                self.problems.setdefault(DroidgateError.__str__(each), each)

    def context(self) -> ReadingContext:
        """Return what a reader reports to."""
        return ReadingContext(strict=self.options.strict, keeps_going=self.options.keeps_going)

    def read_file(self, file: SourceFile, *, is_named: bool = False) -> bool:
        """Read a descriptor file, or the document of `discover --json`; return whether it is one of these.

        Args:
            file: The file.
            is_named: It was named itself: where it is to be read as one format only, it is one of that.

        Raises:
            InputError: it cannot be read.
        """
        discovered = discovered_providers(file)
        format_ = None if discovered is not None else detect_format(file, self.options.formats)
        if format_ is None and discovered is None:
            format_ = only_format(file, self.options.formats) if is_named else None
            if format_ is None:
                return False
        if file.was_utf_16:
            self._report_utf_16(file.path)
        if format_ is not None:
            context = self.context()
            self._keep(format_.read_file(file, context), context)
        ids = {chosen.id for chosen in self.options.formats}
        self.providers += (provider for provider in discovered or () if provider.protocol in ids)
        self.files_read[file.path] = None
        self.read_alone[file.path] = None
        return True

    def _report_utf_16(self, path: str) -> None:
        """Report a file that is read though it is in UTF-16.

        Raises:
            InputError: the reading is strict.
        """
        message, hint = "the file is UTF-16", "save the file as UTF-8"
        if self.options.strict:
            raise InputError(message, place=path, hint=hint)
        place = Place(path=path)
        finding = Finding(code=UTF_16, level=Level.READ, pointer="", message=message, hint=hint, source=place)
        self.findings.append(finding)

    def read_application(
        self,
        application: Application,
        *,
        code: Code | None = None,
        state_for: Callable[[Format], InstalledState] | None = None,
    ) -> None:
        """Read an application with each format; what one of them cannot read is a problem.

        Args:
            application: The application.
            code: Its source code; None where it is not read from a source tree.
            state_for: What the running system reports of it to a format; None where it is not installed.
        """
        for format_ in self.options.formats:
            with self._noting_problems(application.place.path, format_):
                state = None if state_for is None else state_for(format_)
                self._read_application(application, format_, code, state)
        if self.options.with_silent:
            self.providers += silent_providers(application, self.options.formats)

    def read_code_alone(self, code: Code) -> None:
        """Read source code that belongs to no application."""
        for format_ in self.options.formats:
            if format_.code is not None:
                context = self.context()
                with self._noting_problems(code.own[0].shown if code.own else None, format_):
                    providers = self._read_code(format_, code, context)
                    self._keep(Reading(providers), context)

    @contextmanager
    def _noting_problems(self, place: str | None, format_: Format) -> Iterator[None]:
        try:
            yield
        except InputError as error:
            self.note(error)
        except Exception as error:
            if not self.options.keeps_going or isinstance(error, (DroidgateError, MemoryError)):
                raise
            self.note(crash_report(error, place, part=f"what {format_.id} declares"))

    def _read_application(
        self, application: Application, format_: Format, code: Code | None, state: InstalledState | None
    ) -> None:
        context = self.context()
        try:
            if state is not None and format_.phones.read_installed is not None:
                reading = format_.phones.read_installed(application, state, context)
            else:
                reading = format_.read_application(application, context)
        except InputError as error:
            self.note(error)
            reading = Reading()
            code = None if self.options.strict else code
        if code is not None and format_.code is not None:
            from droidgate.sources.source_code import join_code, report_elsewhere

            code_providers = self._read_code(format_, code, context)
            providers = join_code(reading.providers, code_providers, application, context.findings)
            context.findings += report_elsewhere(format_.title, providers, application)
            reading = replace(reading, providers=tuple(providers))
        self._keep(reading, context)

    def _read_code(self, format_: Format, code: Code, context: ReadingContext) -> tuple[Provider, ...]:
        if format_.code is None:
            return ()
        from droidgate.sources.source_code import read_code

        code_reading = read_code(format_.code, code, context)
        self.files_read.update(dict.fromkeys(code_reading.files_read))
        self.note(*code_reading.problems)
        return code_reading.providers

    def _keep(self, reading: Reading, context: ReadingContext) -> None:
        self.providers.extend(reading.providers)
        self.findings.extend(dict.fromkeys((*reading.findings, *context.findings)))
        self.note(*reading.problems, *context.crashes)

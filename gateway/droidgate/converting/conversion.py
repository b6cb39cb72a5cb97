"""Conversion of providers into a format: the files, where each belongs below a folder, and what was lost."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Final

from droidgate.computer.output_folder import WriteStatus, path_below, write_files
from droidgate.sources import check_convertible, providers_of
from droidgate_mappings.formats.format import Artifact, Format, find_format
from droidgate_mappings.model.capability import Provider
from droidgate_mappings.model.errors import DroidgateError, InputError, WriteError
from droidgate_mappings.model.findings import Finding, Level, finding_code
from droidgate_mappings.model.names import NameEntry, NameRule, map_names
from droidgate_mappings.records import dataclass
from droidgate_mappings.tables.loading import DialectTable
from droidgate_mappings.text_safety import html_table
from droidgate_mappings.timed_steps import timed_step
from droidgate_mappings.translate import FailedTranslation, Translation, provider_name, translate_each

PROVIDER_NOT_WRITTEN: Final = finding_code(
    "provider-not-written", "The target cannot hold a provider; the other providers are written", __name__
)

_FOLDER_RULE: Final = NameRule(allowed="[a-z0-9._-]", first="[a-z0-9]", max_length=80)


@dataclass(frozen=True, slots=True)
class Conversion:
    """Providers, converted into one dialect; nothing is on disk until it is written.

    Attributes:
        target: The target format.
        dialect: Its dialect.
        translations: One for each provider that was written.
        artifacts: The files of each, with their paths below an output folder.
        failures: The providers that could not be written; each error names its provider.
        reading: What the readers accepted beyond a specification.
        unread: What could not be read of the source.
    """

    target: Format
    dialect: DialectTable
    translations: tuple[Translation, ...]
    artifacts: tuple[tuple[tuple[str, Artifact], ...], ...]
    failures: tuple[FailedTranslation, ...] = ()
    reading: tuple[Finding, ...] = ()
    unread: tuple[InputError, ...] = ()

    def __repr__(self) -> str:
        """Return one line: the target, and what there is, counted."""
        counts = f"files={len(self.files)}, findings={len(self.findings)}, problems={len(self.problems)}"
        return f"<Conversion to {self.target.id}+{self.dialect.id}: {counts}>"

    def _repr_html_(self) -> str:
        """Return a table of the losses, for notebooks."""
        rows = ((found.level, found.code, found.pointer, found.text) for found in self.findings)
        return html_table(("level", "code", "pointer", "message"), rows)

    @property
    def files(self) -> Mapping[str, str]:
        """The text of each file, by its path below an output folder (POSIX)."""
        return {path: artifact.text for files in self.artifacts for path, artifact in files}

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Each difference between a source and what was written, and each provider that was not."""
        written = (finding for translation in self.translations for finding in translation.writing.findings)
        return (*written, *map(_not_written, self.failures))

    @property
    def problems(self) -> tuple[DroidgateError, ...]:
        """What could not be read of the source, and why a provider could not be written."""
        return (*self.unread, *(failure.error for failure in self.failures))

    @property
    def names(self) -> tuple[NameEntry, ...]:
        """Each renamed thing, with its name in the source."""
        return tuple(name for translation in self.translations for name in translation.writing.names)

    def write(self, folder: str | PathLike[str], *, force: bool = False) -> Mapping[Path, WriteStatus]:
        """Write the files into a folder, and return what became of each: created, updated or unchanged.

        Args:
            folder: The folder; it is made where it does not exist.
            force: Replace files that exist and differ.

        Raises:
            WriteError: a file exists and differs, or cannot be written.
        """
        below = Path(folder)
        data = {path_below(below, path): text.encode() for path, text in self.files.items()}
        return write_files(data, force=force)


def convert(source: str | PathLike[str] | Provider | Iterable[Provider], to: str) -> Conversion:
    """Convert what a source declares into a format; nothing is written to disk.

    Args:
        source: A source as `read` takes it, or providers: what `read` returns, or one or more of them.
        to: A format's id, or `FORMAT+DIALECT`; without a dialect it is the format's default.

    Raises:
        InputError: the source cannot be read, or declares nothing.
        UsageError: the target is unknown, or is only read.
        WriteError: the only provider cannot be written, or its capabilities are not known, as no file of its
            app lists them; of several, the others are.

    Example:
        >>> conversion = droidgate.convert("pdf-tool", to="mcp")
        >>> list(conversion.files)
        ['tools.json']
    """
    return convert_into(source, *find_format(to))


def convert_into(
    source: str | PathLike[str] | Provider | Iterable[Provider], target: Format, dialect: DialectTable
) -> Conversion:
    """Convert as `convert` does, into a dialect whose capacity may differ from that of the format."""
    with timed_step(f"convert to {target.id}+{dialect.id}"):
        read = providers_of(source)
        check_convertible(read)
        outcomes = translate_each(read, target, dialect)
    failed = [outcome for outcome in outcomes if isinstance(outcome, FailedTranslation)]
    if failed and len(outcomes) == 1:
        raise failed[0].error
    folders = zip(outcomes, _folder_names([outcome.source for outcome in outcomes]), strict=True)
    written = [(outcome, folder) for outcome, folder in folders if isinstance(outcome, Translation)]
    artifacts = tuple(
        tuple(
            (f"{folder}/{artifact.path}" if folder else artifact.path, artifact)
            for artifact in outcome.writing.artifacts
        )
        for outcome, folder in written
    )
    translations, failures = tuple(outcome for outcome, _ in written), tuple(map(_with_name, failed))
    return Conversion(target, dialect, translations, artifacts, failures, read.findings, read.problems)


def _with_name(failure: FailedTranslation) -> FailedTranslation:
    """Return a failure whose error names its provider."""
    error, source = failure.error, failure.source
    place = error.place or (str(source.source) if source.source is not None else None)
    message = f"{provider_name(source)} cannot be written: {error.message}"
    return FailedTranslation(source, WriteError(message, place=place, hint=error.hint))


def _not_written(failure: FailedTranslation) -> Finding:
    return Finding(
        code=PROVIDER_NOT_WRITTEN,
        level=Level.IMPOSSIBLE,
        pointer="",
        message=failure.error.message,
        hint=failure.error.hint,
        source=failure.source.source,
    )


def _folder_names(providers: Sequence[Provider]) -> list[str]:
    """Return the folder of each provider below the output folder; an empty text where there is only one.

    A folder's name is made from package and component, or from the file's name, and gets a suffix made from
    these only where two would be alike; so it stays what it is when a source is added.
    """
    if len(providers) == 1:
        return [""]
    stems: list[tuple[str, str]] = []
    for position, provider in enumerate(providers):
        component = (provider.component or "").rpartition(".")[2]
        path = provider.source.path if provider.source is not None else ""
        stem = (
            "-".join(part for part in (provider.package, component) if part)
            or Path(path).stem
            or provider.protocol
        )
        key = "\n".join((provider.protocol, provider.package or "", provider.component or "", path))
        stems.append((stem.lower(), key if all(key != other for _, other in stems) else f"{key}\n{position}"))
    written = map_names(stems, _FOLDER_RULE)
    return [written[key] for _, key in stems]

"""What `convert` does."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from droidgate.cli.exit_codes import ExitCode
from droidgate.cli.options import CrossingThreshold
from droidgate.cli.output.documents import (
    Crossing,
    FidelityDocument,
    NameMap,
    NamesDocument,
    Origin,
    Problem,
    Target,
    WrittenFile,
)
from droidgate.cli.output.grouping import (
    count_levels,
    counted,
    findings_table,
    security_blocks,
    security_page,
)
from droidgate.cli.output.json_output import json_text, json_value, print_json
from droidgate.cli.output.marking import marks_page
from droidgate.cli.output.pages import Block, Heading, Line, show
from droidgate.cli.output.safe_text import one_line, visible
from droidgate.cli.output.sarif import sarif_log
from droidgate.cli.output.summaries import dialect_name, provider_name
from droidgate.output_folder import Status, check_output_name, path_below, write_files
from droidgate.cli.reading import Output, read_all, tell_problem
from droidgate.formats import Artifact, find_format
from droidgate.model.capability import Provider
from droidgate.model.errors import InputError, UsageError, WriteError
from droidgate.model.findings import Finding, Level, at_least, finding_code
from droidgate.model.names import NameRule, map_names
from droidgate.sources.providers import Providers
from droidgate.text_safety.marks import text_marks
from droidgate.translate import FailedTranslation, Translation, translate_each

FIDELITY_FILE: Final = "fidelity.json"
NAMES_FILE: Final = "names.json"

PROVIDER_NOT_WRITTEN: Final = finding_code(
    "provider-not-written", "The target cannot hold a provider; the other providers are written", __name__
)

_FOLDER_RULE: Final = NameRule(allowed="[a-z0-9._-]", first="[a-z0-9]", max_length=80)
_STANDARD_OUTPUT: Final = Path("-")


@dataclass(frozen=True, slots=True)
class Conversion:
    """What is asked for: the target as `--to` spells it, where it goes, and how the sources are read."""

    target: str
    out: Path
    only: Sequence[str] | None = None
    strict: bool = False
    force: bool = False


@dataclass(frozen=True, slots=True)
class Converted:
    """What a conversion made.

    Attributes:
        translations: One for each provider that was written.
        failures: The providers that could not be written; each error names its provider.
        artifacts: The files of each, with their paths below the output folder.
        fidelity: The fidelity report.
        names: The name map.
    """

    translations: tuple[Translation, ...]
    artifacts: tuple[tuple[tuple[str, Artifact], ...], ...]
    fidelity: FidelityDocument
    names: NamesDocument
    failures: tuple[FailedTranslation, ...] = ()

    def findings(self) -> list[Finding]:
        """Return the findings of every provider, also of those that could not be written."""
        written = [finding for one in self.translations for finding in one.writing.findings]
        return [*written, *map(_not_written, self.failures)]


def convert_sources(
    spelled: Sequence[str], conversion: Conversion, *, fail_on: CrossingThreshold | None, output: Output
) -> int:
    """Read, convert and write, and show what it cost.

    Return 3 where a source cannot be read or a provider cannot be written; the others are written.
    """
    find_format(conversion.target)
    read = read_all(spelled, only=conversion.only, strict=conversion.strict, keep_going=True)
    if not read.providers:
        message = "nothing in it declares a capability"
        raise InputError(message, place=" ".join(spelled), hint="See what is in it with `droidgate inspect`")
    converted = convert(read, conversion.target)
    for failure in converted.failures:
        tell_problem(failure.error)
    if not converted.translations:
        message = f"none of the {len(converted.failures)} providers can be written"
        raise WriteError(
            message, place=" ".join(spelled), hint="Each provider is named above, with the reason"
        )
    if conversion.out == _STANDARD_OUTPUT:
        _print_artifact(read, converted, output)
    else:
        statuses = write_conversion(converted, conversion.out, force=conversion.force)
        _report(read, converted, statuses, output)
    if converted.failures or read.problems:
        return ExitCode.INPUT
    return ExitCode.FINDINGS if reaches(all_findings(read, converted), fail_on) else ExitCode.OK


def all_findings(read: Providers, converted: Converted) -> list[Finding]:
    """Return the findings of reading and writing, which count alike for `--fail-on`."""
    return [*read.findings, *converted.findings()]


def reaches(findings: Sequence[Finding], threshold: CrossingThreshold | None) -> bool:
    """Return whether a finding reaches a threshold."""
    return threshold is not None and any(at_least(one.level, Level(threshold.value)) for one in findings)


def convert(read: Providers, target: str) -> Converted:
    """Convert providers, without writing anything to disk.

    Raises:
        UsageError: an unknown target, or one that is only read.
        WriteError: the only provider cannot be written; of several, the others are written.
    """
    target_format, dialect = find_format(target)
    outcomes = translate_each(read.providers, target_format, dialect)
    failed = [one for one in outcomes if isinstance(one, FailedTranslation)]
    if failed and len(outcomes) == 1:
        raise failed[0].error
    failures = tuple(map(_named, failed))
    named = zip(outcomes, folder_names([one.source for one in outcomes]), strict=True)
    written = [(one, folder) for one, folder in named if isinstance(one, Translation)]
    translations = tuple(one for one, _ in written)
    placed = tuple(
        tuple(
            (f"{folder}/{artifact.path}" if folder else artifact.path, artifact)
            for artifact in one.writing.artifacts
        )
        for one, folder in written
    )
    goal = Target(format=target_format.id, dialect=dialect.id)
    fidelity = FidelityDocument(
        target=goal,
        reading=read.findings,
        problems=Problem.all_of([*read.problems, *(one.error for one in failures)]),
        crossings=tuple(_crossing(one, files) for one, files in zip(translations, placed, strict=True)),
    )
    maps = tuple(NameMap(source=_origin(one.source), names=one.writing.names) for one in translations)
    names = NamesDocument(target=goal, providers=maps)
    return Converted(translations, placed, fidelity, names, failures)


def _named(failure: FailedTranslation) -> FailedTranslation:
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


def folder_names(providers: Sequence[Provider]) -> list[str]:
    """Return the folder of each provider below the output folder; an empty text where there is only one.

    A folder's name is made from package and component, or from the file's name, and gets a suffix made from
    these only where two would be alike; so it stays what it is when a source is added.
    """
    if len(providers) == 1:
        return [""]
    named: list[tuple[str, str]] = []
    for position, one in enumerate(providers):
        component = (one.component or "").rpartition(".")[2]
        path = one.source.path if one.source is not None else ""
        stem = "-".join(part for part in (one.package, component) if part) or Path(path).stem or one.protocol
        key = "\n".join((one.protocol, one.package or "", one.component or "", path))
        named.append((stem.lower(), key if all(key != other for _, other in named) else f"{key}\n{position}"))
    written = map_names(named, _FOLDER_RULE)
    return [written[key] for _, key in named]


def write_conversion(converted: Converted, out: Path, *, force: bool) -> dict[Path, Status]:
    """Write the artifacts, the fidelity report and the name map.

    Raises:
        UsageError: several artifacts should go into one file.
        WriteError: see `write_files`.
    """
    artifacts = [pair for files in converted.artifacts for pair in files]
    if _names_a_file(out, artifacts):
        check_output_name(out, len(artifacts))
        data = {out: artifacts[0][1].text.encode()}
        reports = {name: out.with_name(f"{out.stem}.{name}") for name in (FIDELITY_FILE, NAMES_FILE)}
    else:
        data = {path_below(out, path): artifact.text.encode() for path, artifact in artifacts}
        reports = {name: out / name for name in (FIDELITY_FILE, NAMES_FILE)}
    data[reports[FIDELITY_FILE]] = json_text(json_value(converted.fidelity)).encode()
    data[reports[NAMES_FILE]] = json_text(json_value(converted.names)).encode()
    return write_files(data, force=force)


def _names_a_file(out: Path, artifacts: Sequence[tuple[str, Artifact]]) -> bool:
    suffixes = {Path(path).suffix for path, _ in artifacts}
    return not out.is_dir() and (out.is_file() or out.suffix in suffixes - {""})


def _print_artifact(read: Providers, converted: Converted, output: Output) -> None:
    artifacts = [pair for files in converted.artifacts for pair in files]
    if output is not Output.TEXT:
        message = "standard output takes the artifact, so it cannot take the report"
        raise UsageError(message, hint="Write into a folder with -o OUT")
    check_output_name(_STANDARD_OUTPUT, len(artifacts))
    _print_file(artifacts[0][1].text)
    show(conversion_page(converted, read.findings), sys.stderr)


def _print_file(text: str) -> None:
    """Print a file as its bytes would be, or safe to look at where a terminal shows it."""
    if sys.stdout.isatty():
        print("\n".join(visible(line) for line in text.splitlines()))
    else:
        sys.stdout.buffer.write(text.encode())


def _report(read: Providers, converted: Converted, statuses: dict[Path, Status], output: Output) -> None:
    if output is Output.JSON:
        print_json(converted.fidelity)
    elif output is Output.SARIF:
        marks = (mark.as_finding() for one in converted.fidelity.crossings for mark in one.marks)
        print_json(sarif_log([*all_findings(read, converted), *marks]))
    else:
        show([*conversion_page(converted, read.findings), *_files_page(statuses)])


def conversion_page(converted: Converted, reading: Sequence[Finding] = ()) -> list[Block]:
    """Return what `convert` shows of a conversion's cost."""
    blocks = security_page([line for one in converted.translations for line in _security_of(one)])
    lost_in_reading = [finding for finding in reading if at_least(finding.level, Level.RENAMED)]
    if reading:
        blocks += [Heading("Remarks of the readers"), *findings_table(reading, places=True), Line()]
    sources = [provider_name(one.source) for one in converted.translations]
    marks = [one.marks for one in converted.fidelity.crossings]
    blocks += marks_page(zip(sources, marks, strict=True))
    for one in converted.translations:
        writing = one.writing
        name = provider_name(one.source)
        blocks.append(Heading(f"{name}  {dialect_name(one.source)} -> {dialect_name(writing.provider)}"))
        table = findings_table(writing.findings, _subjects_of(one))
        if not one.source.capabilities:
            table = [*table, Line("the source has no capabilities, so none were converted", 1)]
        elif not table:
            is_lossless = not writing.findings and not lost_in_reading
            table = [Line("nothing is lost" if is_lossless else "nothing else is lost", 1)]
        blocks += [*table, Line()]
    every = [*lost_in_reading, *converted.findings()]
    blocks.append(Line(f"findings: {counted(count_levels(every)) or 'none'}"))
    return blocks


def _security_of(one: Translation) -> list[Block]:
    return security_blocks(one.writing.findings, _subjects_of(one), provider=provider_name(one.source))


def _subjects_of(one: Translation) -> list[str]:
    return [capability.id for capability in one.source.capabilities]


def _files_page(statuses: dict[Path, Status]) -> list[Block]:
    return [Line(f"{status}: {one_line(str(path))}") for path, status in statuses.items()]


def _crossing(one: Translation, files: Sequence[tuple[str, Artifact]]) -> Crossing:
    return Crossing(
        source=_origin(one.source),
        capabilities=len(one.source.capabilities),
        files=tuple(
            WrittenFile(
                path=path, role=artifact.role, sha256=hashlib.sha256(artifact.text.encode()).hexdigest()
            )
            for path, artifact in files
        ),
        digest=one.writing.provider.content_digest(),
        counts=count_levels(one.writing.findings),
        findings=one.writing.findings,
        marks=tuple(text_marks(one.source)),
    )


def _origin(provider: Provider) -> Origin:
    return Origin(
        protocol=provider.protocol,
        dialect=provider.dialect,
        package=provider.package,
        component=provider.component,
        place=str(provider.source) if provider.source is not None else None,
        digest=provider.content_digest(),
    )

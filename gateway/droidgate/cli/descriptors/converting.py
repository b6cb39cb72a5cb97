"""What `convert` does."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from droidgate.cli.exit_codes import ExitCode
from droidgate.cli.options import ConversionThreshold
from droidgate.cli.output.grouped_findings import (
    count_levels,
    counted,
    findings_table,
    security_blocks,
    security_page,
)
from droidgate.cli.output.json_documents import (
    ConversionTarget,
    FidelityDocument,
    NameMap,
    NamesDocument,
    Origin,
    Problem,
    ProviderConversion,
    WrittenFile,
)
from droidgate.cli.output.json_output import json_text, json_value, print_json
from droidgate.cli.output.marking import marks_page
from droidgate.cli.output.pages import Block, Heading, Line, file_lines, print_file_notes, show
from droidgate.cli.output.safe_text import visible
from droidgate.cli.output.sarif import sarif_log
from droidgate.cli.output.summaries import dialect_name
from droidgate.cli.read_sources import Output, print_problem, read_all
from droidgate.computer.output_folder import Status, check_output_name, path_below, write_files
from droidgate.migration.conversion import Conversion, convert
from droidgate.sources import check_convertible
from droidgate.sources.source_results import Providers
from droidgate_mappings.formats.format import Artifact, find_format
from droidgate_mappings.model.capability import Provider
from droidgate_mappings.model.errors import UsageError, WriteError
from droidgate_mappings.model.findings import Finding, Level, at_least
from droidgate_mappings.text_safety.marks import text_marks
from droidgate_mappings.translate import Translation, provider_name

FIDELITY_FILE: Final = "fidelity.json"
NAMES_FILE: Final = "names.json"

_STANDARD_OUTPUT: Final = Path("-")


@dataclass(frozen=True, slots=True)
class ConvertRequest:
    """The conversion, from the options: the target as in `--to`, where it goes, and how the sources are read.

    `name`, `package` and `description` replace those of the only provider.
    """

    target: str
    out: Path
    only: Sequence[str] | None = None
    providers: Sequence[str] | None = None
    strict: bool = False
    force: bool = False
    name: str | None = None
    package: str | None = None
    description: str | None = None


def convert_sources(
    sources: Sequence[str], request: ConvertRequest, *, fail_on: ConversionThreshold | None, output: Output
) -> int:
    """Read, convert and write, and show what it cost.

    Return 3 where a source cannot be read or a provider cannot be written; the others are written.
    """
    find_format(request.target)
    read = read_all(sources, only=request.only, strict=request.strict, keep_going=True)
    check_convertible(read, " ".join(sources))
    read = read.choose(*(request.providers or ())).described(
        name=request.name, package=request.package, description=request.description
    )
    converted = convert(read, request.target)
    for failure in converted.failures:
        print_problem(failure.error)
    if not converted.translations:
        message = f"none of the {len(converted.failures)} providers can be written"
        raise WriteError(
            message, place=" ".join(sources), hint="each provider is named above, with the reason"
        )
    if request.out == _STANDARD_OUTPUT:
        _print_artifact(read, converted, output)
    else:
        statuses = write_conversion(read, converted, request.out, force=request.force)
        _report(read, converted, statuses, output)
    if converted.failures or read.problems:
        return ExitCode.INPUT
    return ExitCode.FINDINGS if reaches(all_findings(read, converted), fail_on) else ExitCode.OK


def all_findings(read: Providers, converted: Conversion) -> list[Finding]:
    """Return the findings of reading and writing, which count alike for `--fail-on`."""
    return [*read.findings, *converted.findings]


def reaches(findings: Sequence[Finding], threshold: ConversionThreshold | None) -> bool:
    """Return whether a finding reaches a threshold."""
    return threshold is not None and any(
        at_least(finding.level, Level(threshold.value)) for finding in findings
    )


def write_conversion(read: Providers, converted: Conversion, out: Path, *, force: bool) -> dict[Path, Status]:
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
    data[reports[FIDELITY_FILE]] = json_text(json_value(fidelity_document(read, converted))).encode()
    data[reports[NAMES_FILE]] = json_text(json_value(_names_document(converted))).encode()
    return write_files(data, force=force)


def _names_a_file(out: Path, artifacts: Sequence[tuple[str, Artifact]]) -> bool:
    suffixes = {Path(path).suffix for path, _ in artifacts}
    return not out.is_dir() and (out.is_file() or out.suffix in suffixes - {""})


def _print_artifact(read: Providers, converted: Conversion, output: Output) -> None:
    artifacts = [pair for files in converted.artifacts for pair in files]
    if output is not Output.TEXT:
        message = "standard output takes the artifact, so it cannot take the report"
        raise UsageError(message, hint="write into a folder with -o OUT")
    check_output_name(_STANDARD_OUTPUT, len(artifacts))
    _print_file(artifacts[0][1].text)
    show(conversion_page(converted, read.findings), sys.stderr)


def _print_file(text: str) -> None:
    """Print a file as its bytes would be, or safe to look at where a terminal shows it."""
    if sys.stdout.isatty():
        print("\n".join(visible(line) for line in text.splitlines()))
    else:
        sys.stdout.buffer.write(text.encode())


def _report(read: Providers, converted: Conversion, statuses: dict[Path, Status], output: Output) -> None:
    if output is Output.JSON:
        print_json(fidelity_document(read, converted))
    elif output is Output.SARIF:
        marks = (
            mark.as_finding()
            for translation in converted.translations
            for mark in text_marks(translation.source)
        )
        print_json(sarif_log([*all_findings(read, converted), *marks]))
    else:
        show([*conversion_page(converted, read.findings), *file_lines(statuses)])
        return
    print_file_notes(statuses)


def conversion_page(converted: Conversion, reading: Sequence[Finding] = ()) -> list[Block]:
    """Return what `convert` shows of a conversion's cost."""
    blocks = security_page(
        [line for translation in converted.translations for line in _security_of(translation)]
    )
    lost_in_reading = [finding for finding in reading if at_least(finding.level, Level.RENAMED)]
    if reading:
        blocks += [Heading("Remarks of the readers"), *findings_table(reading, places=True), Line()]
    sources = [provider_name(translation.source) for translation in converted.translations]
    marks = [tuple(text_marks(translation.source)) for translation in converted.translations]
    blocks += marks_page(zip(sources, marks, strict=True))
    for translation in converted.translations:
        writing = translation.writing
        name = provider_name(translation.source)
        blocks.append(
            Heading(f"{name}  {dialect_name(translation.source)} -> {dialect_name(writing.provider)}")
        )
        table = findings_table(writing.findings, _subjects_of(translation))
        if not translation.source.capabilities:
            table = [*table, Line("the source has no capabilities, so none were converted", 1)]
        elif not table:
            is_lossless = not writing.findings and not lost_in_reading
            table = [Line("nothing is lost" if is_lossless else "nothing else is lost", 1)]
        blocks += [*table, Line()]
    every = [*lost_in_reading, *converted.findings]
    blocks.append(Line(f"findings: {counted(count_levels(every)) or 'none'}"))
    return blocks


def _security_of(translation: Translation) -> list[Block]:
    return security_blocks(
        translation.writing.findings, _subjects_of(translation), provider=provider_name(translation.source)
    )


def _subjects_of(translation: Translation) -> list[str]:
    return [capability.id for capability in translation.source.capabilities]


def fidelity_document(read: Providers, converted: Conversion) -> FidelityDocument:
    """Return what a conversion cost, as `fidelity.json` has it."""
    conversions = zip(converted.translations, converted.artifacts, strict=True)
    return FidelityDocument(
        target=_target_of(converted),
        reading=read.findings,
        problems=Problem.all_of([*read.problems, *(failure.error for failure in converted.failures)]),
        conversions=tuple(_conversion(item, files) for item, files in conversions),
    )


def _names_document(converted: Conversion) -> NamesDocument:
    maps = (
        NameMap(
            source=_origin(translation.source),
            capabilities=translation.capability_names,
            names=translation.writing.names,
        )
        for translation in converted.translations
    )
    return NamesDocument(target=_target_of(converted), providers=tuple(maps))


def _target_of(converted: Conversion) -> ConversionTarget:
    return ConversionTarget(format=converted.target.id, dialect=converted.dialect.id)


def _conversion(translation: Translation, files: Sequence[tuple[str, Artifact]]) -> ProviderConversion:
    return ProviderConversion(
        source=_origin(translation.source),
        capabilities=len(translation.source.capabilities),
        files=tuple(
            WrittenFile(
                path=path, role=artifact.role, sha256=hashlib.sha256(artifact.text.encode()).hexdigest()
            )
            for path, artifact in files
        ),
        digest=translation.writing.provider.content_digest(),
        counts=count_levels(translation.writing.findings),
        findings=translation.writing.findings,
        marks=tuple(text_marks(translation.source)),
    )


def _origin(provider: Provider) -> Origin:
    return Origin.of(
        provider,
        place=str(provider.source) if provider.source is not None else None,
        digest=provider.content_digest(),
    )

"""What `convert` does, and its document."""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from droidgate.cli.descriptors.descriptor_options import Convert
from droidgate.cli.exit_codes import ExitCode
from droidgate.cli.failure_texts import print_problem
from droidgate.cli.output.grouped_findings import (
    count_levels,
    counted,
    findings_table,
    reaches,
    remarks_table,
    security_blocks,
    security_page,
)
from droidgate.cli.output.json_output import Document, Problem, PublishedDocument, json_text, json_value
from droidgate.cli.output.marking import marks_page
from droidgate.cli.output.pages import Block, Heading, Line, print_warning, show
from droidgate.cli.output.reports import Report
from droidgate.cli.output.safe_text import visible
from droidgate.cli.read_sources import read_all
from droidgate.computer.output_folder import check_output_name, compare_files, path_below, write_files
from droidgate.converting.conversion import Conversion, convert
from droidgate.sources import check_convertible
from droidgate.sources.folders import is_skipped_folder
from droidgate_mappings.formats.format import Artifact, find_format
from droidgate_mappings.model.capability import Place, Provider
from droidgate_mappings.model.errors import InputError, UsageError, WriteError
from droidgate_mappings.model.findings import Finding, Level, at_least, finding_code
from droidgate_mappings.model.json_values import Json, json_equal
from droidgate_mappings.model.names import NameEntry
from droidgate_mappings.text.counted_nouns import amount, noun
from droidgate_mappings.text.json_text import WRITTEN, parse_json
from droidgate_mappings.text_safety.marks import OVER_LONG_TEXT, TextMark, text_marks
from droidgate_mappings.translate import Translation, dialect_name, provider_name

CONVERTED_FILE_DIFFERS: Final = finding_code(
    "converted-file-differs",
    "A converted file is not what its source would be converted to now, is missing, or is no longer written",
    __name__,
)

FIDELITY_FILE: Final = "fidelity.json"
NAMES_FILE: Final = "names.json"

_STANDARD_OUTPUT: Final = Path("-")
_NONE: Final[Mapping[Path, str]] = {}
_LEFT: Final = "no longer written"
_LINE: Final = re.compile(r":\d+\Z")


class ConversionTarget(Document):
    """What a conversion writes."""

    format: str
    dialect: str


class Origin(Document):
    """The provider that was converted."""

    protocol: str
    dialect: str | None
    package: str | None
    component: str | None
    place: str | None
    digest: str


class WrittenFile(Document):
    """A file of a conversion: its path below the output folder, what it is, and the digest of its bytes."""

    path: str
    role: str
    sha256: str


class ProviderConversion(Document):
    """The outcome for one provider.

    Attributes:
        source: The provider.
        capabilities: How many capabilities it has; with none there is nothing to lose.
        files: What was written, paths below the output folder.
        digest: Digest of the declaration as the target holds it.
        counts: How many findings there are of each level.
        findings: Each difference between the source and what was written, at its leaf.
        marks: What deserves a second look in the texts of the source, and which texts are written too long.
    """

    source: Origin
    capabilities: int
    files: tuple[WrittenFile, ...]
    digest: str
    counts: dict[str, int]
    findings: tuple[Finding, ...]
    marks: tuple[TextMark, ...] = ()


class FileState(Document):
    """A file of a conversion, and what would become of it."""

    path: str
    state: str


class FidelityDocument(PublishedDocument, schema="droidgate.fidelity/2"):
    """`fidelity.json`, and what `convert --json` prints: what a conversion cost.

    Attributes:
        reading: What the readers accepted beyond the specification.
        problems: What could not be read, and the providers that could not be written.
        conversions: One for each provider that was written.
        left_over: Files of earlier conversions that are still in the folder, and are no longer written.
        states: With `--check`, what would become of each file.
    """

    target: ConversionTarget
    reading: tuple[Finding, ...]
    problems: tuple[Problem, ...]
    conversions: tuple[ProviderConversion, ...]
    left_over: tuple[str, ...] = ()
    states: tuple[FileState, ...] = ()


class NameMap(Document):
    """The name of each capability of one provider, and the renamed things."""

    source: Origin
    capabilities: tuple[NameEntry, ...]
    names: tuple[NameEntry, ...]


class NamesDocument(PublishedDocument, schema="droidgate.names/1"):
    """`names.json`: the name map of a conversion, from each written name back to the source's."""

    target: ConversionTarget
    providers: tuple[NameMap, ...]


def convert_sources(options: Convert) -> Report | Callable[[], int]:
    """Read, convert and write, and report what it cost.

    The code is 3 where a source cannot be read or a provider cannot be written; the others are written.
    """
    find_format(options.target)
    read = read_all(
        options.sources, only=options.only, strict=options.strict, keep_going=True, variant=options.variant
    )
    check_convertible(read)
    read = read.choose(*(options.providers or ())).described(
        name=options.name, package=options.package, description=options.description
    )
    converted = convert(read, options.target)
    for failure in converted.failures:
        print_problem(failure.error)
    if not converted.translations:
        message = f"none of the {len(converted.failures)} providers can be written"
        raise WriteError(
            message, place=" ".join(options.sources), hint="each provider is named above, with the reason"
        )
    findings = [*read.findings, *converted.findings]
    code = ExitCode.FINDINGS if reaches(findings, options.fail_on) else ExitCode.OK
    if converted.problems:
        code = ExitCode.INPUT
    if options.out == _STANDARD_OUTPUT:
        if options.check:
            raise UsageError("--check compares files, and -o - has none", hint="name a folder with -o OUT")
        text, page = _artifact_and_page(converted, options)
        return lambda: _print_artifact(text, page, code)
    earlier = _files_of_earlier(options.out)
    data = conversion_files(converted, options.out, earlier)
    _warn_of_output_in_source(options)
    left = dict.fromkeys(sorted(earlier - data.keys()), _LEFT)
    if options.check:
        files: Mapping[Path, str] = _check_files(data) | left
        if any(status != "unchanged" for status in files.values()):
            code = code or ExitCode.FINDINGS
    else:
        files = write_files(data, force=options.force) | left
    report = Report(
        lambda: conversion_page(converted, sources=options.form == "markdown"),
        lambda: fidelity_document(converted, states=files if options.check else {}),
        code,
        files,
        lambda: [
            *findings,
            *_stale_files(files if options.check else left),
            *(mark.as_finding() for item in converted.translations for mark in _marks_of(item)),
        ],
    )
    if not options.check and not left:
        return report
    print_report = report.prepare(options.form)
    return lambda: _warn_of_differences(files, print_report(), is_check=options.check)


def _stale_files(files: Mapping[Path, str]) -> Iterator[Finding]:
    for path, state in files.items():
        if state != "unchanged":
            yield Finding(
                code=CONVERTED_FILE_DIFFERS,
                level=Level.WARNING,
                pointer="",
                message=f"the file differs from what its source is converted to: {state}",
                source=Place(path=path.as_posix()),
                hint="delete it" if state == _LEFT else "run the same command with --force",
            )


def _warn_of_output_in_source(options: Convert) -> None:
    """Warn where the next run would read what this one writes, and convert it as well."""
    for source in options.sources:
        folder, out = Path(source).resolve(), options.out.resolve()
        is_inside = folder.is_dir() and out.is_relative_to(folder)
        if is_inside and not any(map(is_skipped_folder, out.relative_to(folder).parts)):
            print_warning(f"warning: {options.out} is in the source {source}: the next run reads it too")
            print_warning("hint: choose an output outside of the source")


def _check_files(data: Mapping[Path, bytes]) -> dict[Path, str]:
    """Return what would become of files; a report is unchanged where only lines of sources differ."""
    return {
        path: "unchanged"
        if status == "would update"
        and path.name.endswith((FIDELITY_FILE, NAMES_FILE))
        and _is_same_report(path.read_bytes(), data[path])
        else status
        for path, status in compare_files(data).items()
    }


def _is_same_report(old: bytes, new: bytes) -> bool:
    try:
        before, after = (_without_lines(parse_json(data, limits=WRITTEN)) for data in (old, new))
    except InputError:
        return False
    return json_equal(before, after)


def _without_lines(value: Json) -> Json:
    """Return a report without lines of sources, whose paths are absolute, droidgate's version and files that
    are left over, which the user may delete at any time.
    """
    if isinstance(value, list):
        return [_without_lines(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        key: str(Path(_LINE.sub("", item)).absolute())
        if key in {"place", "path"} and isinstance(item, str)
        else _without_lines(item)
        for key, item in value.items()
        if key not in {"line", "droidgate", "left_over", "states"}
    }


def _files_of_earlier(out: Path) -> set[Path]:
    """Return the files that are still in a folder of those that its `fidelity.json` lists, with those that
    were left over then.
    """
    try:
        earlier: Any = parse_json((out / FIDELITY_FILE).read_bytes(), limits=WRITTEN)
        listed = [file["path"] for conversion in earlier["conversions"] for file in conversion["files"]]
        listed += earlier.get("left_over", [])
        return {path for path in (path_below(out, name) for name in listed) if path.is_file()}
    except (OSError, InputError, WriteError, LookupError, TypeError, ValueError):
        # It is not a report of ours, and is replaced or refused as any other file.
        return set()


def _warn_of_differences(files: Mapping[Path, str], code: int, *, is_check: bool) -> int:
    """Warn where files are not what would be written, or are left over, and return the exit code."""
    left = sum(status == _LEFT for status in files.values())
    different = sum(status != "unchanged" for status in files.values()) - left
    if different and is_check:
        verb = noun(different, "differs", "differ")
        print_warning(f"warning: {different} of {amount(len(files) - left, 'file')} {verb} from the source")
        print_warning("hint: run the same command with --force in place of --check to write the files")
    if left:
        verb = noun(left, "is", "are")
        print_warning(f"warning: {amount(left, 'file')} of an earlier conversion {verb} no longer written")
        print_warning(f"hint: delete what is {_LEFT!r}")
    return code


def _marks_of(translation: Translation) -> tuple[TextMark, ...]:
    """Return the marks on the texts of a source, and on the length of what is written of them."""
    marks = [mark for mark in text_marks(translation.source) if mark.code != OVER_LONG_TEXT]
    written = text_marks(translation.writing.provider)
    return (*marks, *(mark for mark in written if mark.code == OVER_LONG_TEXT))


def conversion_files(converted: Conversion, out: Path, earlier: Iterable[Path] = ()) -> dict[Path, bytes]:
    """Return the artifacts, the fidelity report and the name map, each by its path.

    Args:
        converted: The conversion.
        out: The folder, or the file for a single artifact.
        earlier: Files in the folder that earlier conversions wrote.

    Raises:
        UsageError: several artifacts should go into one file.
        WriteError: an artifact would lie outside of the folder.
    """
    artifacts = [pair for files in converted.artifacts for pair in files]
    if _names_a_file(out, artifacts):
        check_output_name(out, len(artifacts))
        data = {out: artifacts[0][1].text.encode()}
        reports = {name: out.with_name(f"{out.stem}.{name}") for name in (FIDELITY_FILE, NAMES_FILE)}
    else:
        data = {path_below(out, path): artifact.text.encode() for path, artifact in artifacts}
        reports = {name: out / name for name in (FIDELITY_FILE, NAMES_FILE)}
    left = tuple(sorted(path.relative_to(out).as_posix() for path in earlier if path not in data))
    data[reports[FIDELITY_FILE]] = json_text(json_value(fidelity_document(converted, left))).encode()
    data[reports[NAMES_FILE]] = json_text(json_value(_names_document(converted))).encode()
    return data


def _names_a_file(out: Path, artifacts: Sequence[tuple[str, Artifact]]) -> bool:
    suffixes = {Path(path).suffix for path, _ in artifacts}
    return not out.is_dir() and (out.is_file() or out.suffix in suffixes - {""})


def _artifact_and_page(converted: Conversion, options: Convert) -> tuple[str, list[Block]]:
    """Return the only file, and what its conversion cost.

    Raises:
        UsageError: there are several files, or standard output is to take a report too.
    """
    artifacts = [pair for files in converted.artifacts for pair in files]
    if options.form != "text":
        message = "standard output takes the artifact, so it cannot take the report"
        raise UsageError(message, hint="write into a folder with -o OUT")
    check_output_name(_STANDARD_OUTPUT, len(artifacts))
    return artifacts[0][1].text, conversion_page(converted)


def _print_artifact(text: str, page: Sequence[Block], code: int) -> int:
    """Print a file as its bytes would be, or safe to look at where a terminal shows it, then the page."""
    if sys.stdout.isatty():
        print("\n".join(visible(line) for line in text.splitlines()))
    else:
        sys.stdout.buffer.write(text.encode())
    show(page, sys.stderr)
    return code


def conversion_page(converted: Conversion, *, sources: bool = False) -> list[Block]:
    """Return what `convert` shows of a conversion's cost.

    Args:
        converted: The conversion.
        sources: Show the file and line of each loss.
    """
    reading = converted.reading
    blocks = security_page(
        [
            line
            for translation in converted.translations
            for line in _security_of(translation, sources=sources)
        ]
    )
    lost_in_reading = [finding for finding in reading if at_least(finding.level, Level.RENAMED)]
    if reading:
        blocks += [Heading("Remarks of the readers"), *remarks_table(reading, lines=sources), Line()]
    names = [provider_name(translation.source) for translation in converted.translations]
    blocks += marks_page(zip(names, map(_marks_of, converted.translations), strict=True))
    for translation in converted.translations:
        writing = translation.writing
        name = provider_name(translation.source)
        blocks.append(
            Heading(f"{name}  {dialect_name(translation.source)} -> {dialect_name(writing.provider)}")
        )
        table = findings_table(writing.findings, _subjects_of(translation), sources=sources)
        if not translation.source.capabilities:
            table = [*table, Line("the source has no capabilities, so none were converted", 1)]
        elif not table:
            is_lossless = not writing.findings and not lost_in_reading
            table = [Line("nothing is lost" if is_lossless else "nothing else is lost", 1)]
        blocks += [*table, Line()]
    every = [*lost_in_reading, *converted.findings]
    blocks.append(Line(f"findings: {counted(count_levels(every)) or 'none'}"))
    return blocks


def _security_of(translation: Translation, *, sources: bool) -> list[Block]:
    name = provider_name(translation.source)
    return security_blocks(
        translation.writing.findings, _subjects_of(translation), provider=name, sources=sources
    )


def _subjects_of(translation: Translation) -> list[str]:
    return [capability.id for capability in translation.source.capabilities]


def fidelity_document(
    converted: Conversion, left_over: tuple[str, ...] = (), *, states: Mapping[Path, str] = _NONE
) -> FidelityDocument:
    """Return what a conversion cost, as `fidelity.json` has it, with what would become of its files."""
    conversions = zip(converted.translations, converted.artifacts, strict=True)
    return FidelityDocument.of(
        converted,
        target=_target_of(converted),
        conversions=tuple(_conversion(item, files) for item, files in conversions),
        left_over=left_over,
        states=tuple(FileState(path=path.as_posix(), state=state) for path, state in states.items()),
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
        marks=_marks_of(translation),
    )


def _origin(provider: Provider) -> Origin:
    return Origin.of(
        provider,
        place=str(provider.source) if provider.source is not None else None,
        digest=provider.content_digest(),
    )

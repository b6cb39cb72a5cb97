"""What `pack` does."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from droidgate.apk.pack import Packing, pack
from droidgate.apk.packed_manifest import ManifestFacts
from droidgate.apk.project_files import MAX_BYTES, read_project
from droidgate.apk.signing_keys import KeyType, SigningKey, load_key, load_or_make_key
from droidgate.cli.descriptors.generated_output import generate_output, missing_output, read_unpacked
from droidgate.cli.exit_codes import ExitCode
from droidgate.cli.output.documents import PackDocument, PackedFile, Problem, SignerRecord
from droidgate.cli.output.json_output import print_json
from droidgate.cli.output.pages import Block, Heading, Line, Table, show
from droidgate.cli.reading import print_problem
from droidgate.model.errors import InputError
from droidgate.output_folder import write_files
from droidgate.parsing.project_files import read_project_file
from droidgate.sources.merged_project import merge_libraries


@dataclass(frozen=True, slots=True)
class PackRequest:
    """What is asked for: a project, the file to write, and what replaces what the project says.

    Attributes:
        generate: Write what a compiler would make of source code that declares capabilities.
    """

    project: Path
    out: Path
    manifest_facts: ManifestFacts
    dex: tuple[Path, ...] = ()
    key_type: KeyType = "ec"
    key: Path | None = None
    generate: bool = False
    force: bool = False


def pack_and_report(request: PackRequest, *, as_json: bool) -> int:
    """Pack, write and show.

    Raises:
        InputError: the project, a dex file or the key cannot be read.
        UsageError: two providers of the source code would become one component.
        WriteError: it cannot become an APK, or the file cannot be written.
    """
    key = load_or_make_key(request.key_type) if request.key is None else load_key(request.key)
    dex = [_read(path) for path in request.dex]
    project = read_project(request.project)
    reading = read_unpacked(request.project)
    declared = reading.providers
    findings = list(reading.findings) if request.generate else []
    if declared and request.generate:
        project, lost = generate_output(request.project, project, declared, request.manifest_facts)
        findings += lost
    elif declared:
        findings.append(missing_output(declared))
    project, unmerged = merge_libraries(request.project, project)
    findings += unmerged
    packing = pack(project, key=key, facts=request.manifest_facts, dex=dex)
    packing = replace(packing, findings=(*packing.findings, *findings))
    write_files({request.out: packing.apk}, force=request.force)
    for problem in reading.problems:
        print_problem(problem)
    if as_json:
        print_json(_document(request, packing, key, reading.problems))
    else:
        show(_page(request, packing, key))
    return ExitCode.INPUT if request.generate and reading.problems else ExitCode.OK


def _read(path: Path) -> bytes:
    return read_project_file(path, root=None, most=MAX_BYTES)


def _document(
    request: PackRequest, packing: Packing, key: SigningKey, problems: Sequence[InputError]
) -> PackDocument:
    facts = packing.facts
    return PackDocument(
        project=str(request.project),
        apk=str(request.out),
        size=len(packing.apk),
        sha256=hashlib.sha256(packing.apk).hexdigest(),
        package=facts.package,
        version_code=facts.version_code,
        version_name=facts.version_name,
        minimum_sdk=facts.minimum_sdk,
        target_sdk=facts.target_sdk,
        signer=SignerRecord(key_type=key.type, digest=key.digest),
        files=tuple(PackedFile(path=path, size=size) for path, size in packing.files.items()),
        findings=packing.findings,
        problems=Problem.all_of(problems),
    )


def _page(request: PackRequest, packing: Packing, key: SigningKey) -> list[Block]:
    facts = packing.facts
    named = f" ({facts.version_name})" if facts.version_name else ""
    blocks: list[Block] = [
        Heading(str(request.out)),
        Line(f"{facts.package} {facts.version_code}{named}, for API levels {facts.minimum_sdk} and up", 1),
        Line(f"{len(packing.apk)} bytes, signer {key.digest} ({key.type})", 1),
        Line(),
        Table(("FILE", "BYTES"), [(path, str(size)) for path, size in packing.files.items()]),
    ]
    if packing.findings:
        blocks += [Line(), Heading("Not as in the source")]
        blocks += [
            Line(": ".join(filter(None, (str(finding.source or ""), finding.message))), 1)
            for finding in packing.findings
        ]
    return blocks

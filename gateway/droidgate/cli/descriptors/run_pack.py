"""What `pack` does, and its document."""

from __future__ import annotations

import hashlib
from pathlib import Path

from droidgate.cli.descriptors.descriptor_options import Pack
from droidgate.cli.exit_codes import ExitCode
from droidgate.cli.failure_texts import print_problem
from droidgate.cli.output.json_output import Document, Problem, PublishedDocument
from droidgate.cli.output.pages import Block, Heading, Line, Table
from droidgate.cli.output.reports import Report
from droidgate.computer.output_folder import compare_files
from droidgate.migration import project_packing
from droidgate.migration.project_packing import PackedApp
from droidgate_mappings.model.findings import Finding
from droidgate_mappings.tables.android_names import android_name


class PackedFile(Document):
    """One entry of an APK, and its size before compression."""

    path: str
    size: int


class SignerRecord(Document):
    """Who signed: the kind of key, and the SHA-256 of the certificate by which Android knows the signer."""

    key_type: str
    digest: str


class PackDocument(PublishedDocument, schema="droidgate.pack/1"):
    """What `pack --json` prints.

    Attributes:
        project: The project folder.
        apk: The file that was written.
        size: Its bytes.
        sha256: Their digest.
        package: Application id.
        version_code: As the manifest says it.
        version_name: As the manifest says it.
        minimum_sdk: The oldest Android that it installs on, as an API level.
        target_sdk: The release that it is written for, as an API level.
        signer: Whose key signed it.
        files: Its entries, the signatures left out.
        findings: What is not in it as it is in the source.
        problems: What cannot be read of the source.
    """

    project: str
    apk: str
    size: int
    sha256: str
    package: str | None
    version_code: int | None
    version_name: str | None
    minimum_sdk: int | None
    target_sdk: int | None
    signer: SignerRecord
    files: tuple[PackedFile, ...]
    findings: tuple[Finding, ...]
    problems: tuple[Problem, ...]


def pack_project(options: Pack) -> Report:
    """Make, write and report an APK; the code is 3 where source files cannot be read that were to be packed.

    Raises:
        WriteError: the file cannot be written.
    """
    out = options.out
    # The key is made by the packing, and nothing is to be left behind.
    compare_files({out: b""})
    packed = project_packing.pack(
        options.project,
        dex=options.dex or (),
        key=options.key,
        package=options.package,
        minimum_sdk=options.minimum_sdk,
        generate=options.generate,
    )
    statuses = {out: packed.write(out, force=options.force)}
    for problem in packed.problems:
        print_problem(problem)
    return Report(
        lambda: [*_page(packed, out), Line()],
        lambda: _document(options.project, packed, out),
        ExitCode.INPUT if options.generate and packed.problems else ExitCode.OK,
        statuses,
    )


def _document(project: Path, packed: PackedApp, out: Path) -> PackDocument:
    return PackDocument.of(
        packed.facts,
        project=str(project),
        apk=str(out),
        size=len(packed.apk),
        sha256=hashlib.sha256(packed.apk).hexdigest(),
        signer=SignerRecord(key_type=packed.key.type, digest=packed.key.digest),
        files=tuple(PackedFile(path=path, size=size) for path, size in packed.files.items()),
        findings=packed.findings,
        problems=packed.problems,
    )


def _page(packed: PackedApp, out: Path) -> list[Block]:
    facts = packed.facts
    version_name = f" ({facts.version_name})" if facts.version_name else ""
    least = facts.minimum_sdk
    oldest = "" if least is None else f", for {android_name(least)} and later"
    blocks: list[Block] = [
        Heading(str(out)),
        Line(f"{facts.package} {facts.version_code}{version_name}{oldest}", 1),
        Line(f"{len(packed.apk)} bytes, signer {packed.key.digest} ({packed.key.type})", 1),
        Line(),
        Table(("FILE", "BYTES"), [(path, str(size)) for path, size in packed.files.items()]),
    ]
    if packed.findings:
        blocks += [Line(), Heading("Not as in the source")]
        blocks += [
            Line(": ".join(filter(None, (str(finding.source or ""), finding.message))), 1)
            for finding in packed.findings
        ]
    return blocks

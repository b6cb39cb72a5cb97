"""What `pack` does."""

from __future__ import annotations

import hashlib
from pathlib import Path

from droidgate.cli.exit_codes import ExitCode
from droidgate.cli.output.json_documents import PackDocument, PackedFile, SignerRecord
from droidgate.cli.output.json_output import print_json
from droidgate.cli.output.pages import Block, Heading, Line, Table, file_lines, print_file_notes, show
from droidgate.cli.read_sources import print_problem
from droidgate.migration.project_packing import PackedApp
from droidgate_mappings.tables.android_names import android_name


def report_packing(
    project: Path, packed: PackedApp, out: Path, *, generate: bool, force: bool, as_json: bool
) -> int:
    """Write and show an APK; return 3 where source files cannot be read that were to be packed.

    Raises:
        WriteError: the file cannot be written.
    """
    statuses = {out: packed.write(out, force=force)}
    for problem in packed.problems:
        print_problem(problem)
    if as_json:
        print_json(_document(project, packed, out))
        print_file_notes(statuses)
    else:
        show([*_page(packed, out), Line(), *file_lines(statuses)])
    return ExitCode.INPUT if generate and packed.problems else ExitCode.OK


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
    named = f" ({facts.version_name})" if facts.version_name else ""
    least = facts.minimum_sdk
    oldest = "" if least is None else f", for {android_name(least)} and later"
    blocks: list[Block] = [
        Heading(str(out)),
        Line(f"{facts.package} {facts.version_code}{named}{oldest}", 1),
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

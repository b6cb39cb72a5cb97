"""What `shim build` does."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from droidgate.cli.exit_codes import ExitCode
from droidgate.cli.output.grouped_findings import (
    count_levels,
    counted,
    findings_table,
    reaches,
    remarks_table,
    security_blocks,
    security_page,
)
from droidgate.cli.output.marking import marks_page
from droidgate.cli.output.pages import Block, Heading, Line, print_note
from droidgate.cli.output.reports import Report
from droidgate.cli.output.safe_text import one_line
from droidgate.cli.shim import shim_options
from droidgate.cli.shim.shim_documents import BuiltShimRecord, ShimBuildDocument, ShimKey
from droidgate.computer.output_folder import compare_files, path_below, write_files
from droidgate.shims.building import KeyFile, ShimBuild, build_shim
from droidgate_mappings.model.findings import Finding
from droidgate_shim.builder.protocols import LeftOut
from droidgate_shim.builder.shim_manifest import EXECUTE_FUNCTIONS, PermissionUse
from droidgate_shim.builder.shims import BuiltShim
from droidgate_shim.builder.source_app import SourceApp
from droidgate_shim.builder.text_checks import HIDDEN_TEXT

_MOST_NAMED: Final = 4

_CALLED: Final = (
    "app functions are called on Android 16 and later, with a permission that `droidgate shim install` lends "
    "from a computer until the phone restarts"
)
_ADVERTISED: Final = (
    "app functions that a shim offers can be called on Android 16 and later, "
    "by an assistant of the phone's maker or by adb"
)


def key_record(key: KeyFile) -> ShimKey:
    """Return a key as documents have it."""
    return ShimKey(path=str(key.path), signer=key.signing.digest)


def build_and_report(options: shim_options.ShimBuildCommand) -> Report:
    """Build, write and report.

    Raises:
        InputError: a source cannot be read, or nothing in it can be offered.
        WriteError: a file cannot be written.
    """
    # The key is made by the building, and nothing is to be left behind.
    compare_files({options.out / "shim.apk": b""})
    build = build_shim(*options.sources, options=options.options.chosen(), report=print_note)
    paths = {item.application_id: path_below(options.out, item.file_name) for item in build.shims}
    apks = {paths[item.application_id]: item.apk for item in build.shims}
    findings = [finding for item in build.shims for finding in item.findings]
    return Report(
        lambda: _page(build, findings, advertised=advertises_functions(options.options)),
        lambda: ShimBuildDocument.of(
            build,
            key=key_record(build.key),
            shims=tuple(built_record(item, paths[item.application_id]) for item in build.shims),
            left_out=build.left_out.packages,
        ),
        ExitCode.FINDINGS if reaches(findings, options.fail_on) else ExitCode.OK,
        write_files(apks, force=options.force),
    )


def built_record(shim: BuiltShim, path: Path | None) -> BuiltShimRecord:
    """Return the published record of a shim that was built."""
    return BuiltShimRecord.of(
        shim,
        apk=None if path is None else str(path),
        size=len(shim.apk),
        sha256=hashlib.sha256(shim.apk).hexdigest(),
        counts=count_levels(shim.findings),
    )


def shim_blocks(shim: BuiltShim) -> list[Block]:
    """Return what is shown of a shim that was built."""
    heading = f"{shim.application_id}  {one_line(shim.label)}"
    offered = f"offers {', '.join(map(one_line, shim.capabilities))}"
    permission_lines = [Line(_permission_line(use, shim.capabilities), 1) for use in shim.permissions]
    # `marks_page` shows hidden characters field by field.
    other_findings = [finding for finding in shim.findings if finding.code != HIDDEN_TEXT]
    findings = findings_blocks(other_findings, shim.capabilities)
    marks = marks_page(
        (one_line(package), [mark for mark in shim.marks if mark.package == package])
        for package in shim.packages
    )
    return [Heading(heading), Line(offered, 1), *permission_lines, *findings, Line(), *marks]


def _permission_line(use: PermissionUse, capabilities: Sequence[str]) -> str:
    """Return a permission with what it is for; of many capabilities the first ones."""
    name = use.permission.rpartition(".")[2]
    first_capabilities = [one_line(capability) for capability in use.capabilities[:_MOST_NAMED]]
    more = len(use.capabilities) - len(first_capabilities)
    listed = ", ".join(first_capabilities) + (f" and {more} more" if more else "")
    whose = "every capability" if use.capabilities == tuple(capabilities) else listed
    return f"asks for {name}, to {use.why}" + (f": {whose}" if whose else "")


def findings_blocks(findings: Sequence[Finding], capabilities: Sequence[str]) -> list[Block]:
    """Return findings as `convert` shows them."""
    security = security_page(security_blocks(findings, capabilities))
    return [*security, *findings_table(findings, capabilities)] or [Line("nothing is lost", 1)]


def left_out_lines(left_out: LeftOut) -> list[Block]:
    """Return the line about what was left out because of its protocol, nothing where nothing was."""
    return [Line(one_line(left_out.line))] if left_out.packages else []


def advertises_functions(options: shim_options.ShimBuildOptions) -> bool:
    """Return whether shims are to be callable as app functions."""
    return shim_options.AdvertisedProtocol.APP_FUNCTIONS in (options.advertise or ())


def app_function_lines(shims: Iterable[BuiltShim], *, advertised: bool) -> list[Block]:
    """Return on which phones app functions can be called: by these shims, and those that they advertise."""
    lines: list[Block] = []
    if any(use.permission == EXECUTE_FUNCTIONS for shim in shims for use in shim.permissions):
        lines.append(Line(_CALLED))
    return [*lines, Line(_ADVERTISED)] if advertised else lines


def _page(made: ShimBuild, findings: Sequence[Finding], *, advertised: bool) -> list[Block]:
    return [
        *(block for item in made.shims for block in shim_blocks(item)),
        *unused_blocks(made.unused),
        *left_out_lines(made.left_out),
        *app_function_lines(made.shims, advertised=advertised),
        Line(f"findings: {counted(count_levels(findings)) or 'none'}"),
        signed_line(made.key),
    ]


def signed_line(key: KeyFile) -> Line:
    """Return what signed the shims."""
    return Line(f"signed with {one_line(str(key.path))}")


def unused_blocks(unused: Sequence[SourceApp]) -> list[Block]:
    """Return what is shown of apps that got no shim."""
    blocks: list[Block] = []
    for item in unused:
        heading = Heading(f"no shim for {one_line(item.package)}")
        blocks += [heading, *remarks_table(item.findings), Line()]
    return blocks

"""What `shim install` and `shim uninstall` do."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Final

from droidgate.cli.descriptors.converting import reaches
from droidgate.cli.exit_codes import ExitCode
from droidgate.cli.options import ConversionThreshold
from droidgate.cli.output.json_output import print_json
from droidgate.cli.output.page_length import shows_details
from droidgate.cli.output.pages import (
    Block,
    Heading,
    Line,
    Table,
    amount,
    noun,
    print_note,
    show,
)
from droidgate.cli.output.safe_text import one_line
from droidgate.cli.shim.shim_builds import findings_blocks, key_record, left_out_lines, unused_blocks
from droidgate.cli.shim.shim_outputs import (
    InstalledShimRecord,
    RemovedShim,
    ShimInstallDocument,
    ShimStep,
    ShimUninstallDocument,
)
from droidgate.cli.shim.shim_summaries import DETAILS, app_name, installed_summary
from droidgate.devices.device import connect_device
from droidgate.shims.installations import (
    InstalledShims,
    InstallRequest,
    Ready,
    check_request,
    install_prepared,
    prepare_shims,
    uninstall_shims,
)
from droidgate.shims.installing import Step
from droidgate.shims.place import place_of
from droidgate_mappings.formats.installed import SHIM_PACKAGE
from droidgate_mappings.model.errors import UsageError

_QUESTION: Final = (
    "Agents that call by an Intent, as the prototype of Mobile-MCP does, cannot be distinguished. "
    "Either the phone asks its user for each such call, or any app on this phone may call these:"
)
_LONGEST: Final = 100
"""Characters of an app's capability ids that the question has."""


def install_and_report(
    request: InstallRequest,
    serial: str | None,
    *,
    any_app: bool | None,
    fail_on: ConversionThreshold | None,
    as_json: bool,
) -> int:
    """Install and set up, and show each step; return 4 where a shim does not work then.

    Raises:
        DeviceError: the phone cannot be reached or used, or has no shim that could be set up.
        InputError: a source or an APK cannot be read, or nothing in it can be offered.
        UsageError: APKs and apps are named at once.
    """
    check_request(request)
    place = place_of(connect_device(serial))
    prepared = prepare_shims(place, request, print_note)
    if any_app is None and any(item.facts.capabilities for item in prepared.ready):
        any_app = _ask_for_any_app(prepared.ready)
    installed = install_prepared(place, request, prepared, any_app=any_app, report=print_note)
    if as_json:
        print_json(_document(installed))
    else:
        show(_page(installed))
    if not installed.all_work:
        return ExitCode.DEVICE
    return ExitCode.FINDINGS if reaches(installed.findings, fail_on) else ExitCode.OK


def uninstall_and_report(
    named: tuple[str, ...], serial: str | None, *, every_shim: bool, as_json: bool
) -> int:
    """Remove shims and show it; return 4 where one stays.

    Raises:
        DeviceError: the phone cannot be reached or used.
        UsageError: nothing is named, or something that is not a shim of the phone.
    """
    if bool(named) == every_shim:
        message = "no shim is named" if not named else "names and --all exclude each other"
        raise UsageError(message, hint="name shims as `droidgate shim status` shows them, or take --all")
    place = place_of(connect_device(serial))
    done = uninstall_shims(place, named, every_shim=every_shim, report=print_note)
    removed, released = done.removed, done.released
    if as_json:
        records = tuple(RemovedShim(application_id=item, step=ShimStep.of(step)) for item, step in removed)
        print_json(
            ShimUninstallDocument.of(place, serial=place.device.serial, shims=records, identity=released)
        )
    elif removed:
        rows = [(app_name(item, ()), step.outcome, step.why or "-") for item, step in removed]
        if released is not None:
            rows.append((SHIM_PACKAGE, released.outcome, released.why or released.what))
        show([Table(("APP", "OUTCOME", "WHY"), rows)])
    else:
        show([Line(f"no shim is installed on {place.device.serial} for user {place.user}")])
    return ExitCode.OK if done.is_done else ExitCode.DEVICE


def steps_table(steps: Iterable[Step]) -> Table:
    """Return steps as a table."""
    return Table(
        ("OUTCOME", "STEP", "WHY"),
        [(step.outcome, one_line(step.what), one_line(step.why) or "-") for step in steps],
    )


def _ask_for_any_app(ready: Sequence[Ready]) -> bool | None:
    """Ask the user; return None without a terminal: nothing is granted and nothing is revoked."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return None
    import typer

    rows = [
        (app_name(facts.application_id, facts.packages), ", ".join(map(one_line, facts.capabilities)))
        for facts in (item.facts for item in ready)
    ]
    columns = ("APP", "CAPABILITIES")
    page: list[Block] = [Line(_QUESTION), Table(columns, rows, {"CAPABILITIES": _LONGEST})]
    show(page, sys.stderr, is_data=True)
    return typer.confirm("Let any app on this phone call them?", default=False, err=True)


def _page(installed: InstalledShims) -> list[Block]:
    prepared = installed.prepared
    blocks: list[Block] = _whole_steps(installed) if shows_details() else list(installed_summary(installed))
    blocks += unused_blocks(prepared.unused)
    blocks += left_out_lines(prepared.left_out)
    if prepared.key is not None:
        blocks.append(Line(f"signed with {one_line(str(prepared.key.path))}"))
    if not shows_details():
        blocks.append(Line(f"{DETAILS} each step, and each finding of the conversions"))
    place, installations = installed.place, installed.installations
    working = sum(installation.works for installation in installations)
    shims, verb = amount(len(installations), "shim"), noun(working, "works", "work")
    blocks.append(Line(f"{working} of {shims} {verb} on {place.device.serial}, user {place.user}"))
    if any(step.outcome == "refused" for item in installed.every for step in item.steps):
        blocks.append(Line("see what is left to do with: droidgate shim doctor"))
    return blocks


def _whole_steps(installed: InstalledShims) -> list[Block]:
    """Return each step for each shim, and each finding of its conversion."""
    prepared, installations = installed.prepared, installed.installations
    identity = installed.identity
    blocks: list[Block] = []
    if prepared.asked:
        blocks += [Heading("Apps asked for their tools"), steps_table(prepared.asked), Line()]
    for ready, installation in zip(prepared.ready, installations, strict=True):
        blocks += [Heading(installation.application_id), steps_table(installation.steps)]
        if prepared.key is not None:
            blocks += findings_blocks(ready.findings, ready.facts.capabilities)
        blocks.append(Line())
    if identity is not None:
        blocks += [Heading(f"{identity.application_id}, for all shims"), steps_table(identity.steps), Line()]
    return blocks


def _document(installed: InstalledShims) -> ShimInstallDocument:
    place, prepared = installed.place, installed.prepared
    shims = tuple(
        InstalledShimRecord.of(
            installation,
            build=ready.facts.build,
            capabilities=ready.facts.capabilities,
            findings=ready.findings,
        )
        for ready, installation in zip(prepared.ready, installed.installations, strict=True)
    )
    return ShimInstallDocument.of(
        prepared,
        serial=place.device.serial,
        user=place.user,
        sdk=place.sdk,
        key=None if prepared.key is None else key_record(prepared.key),
        shims=shims,
        identity=installed.identity,
        left_out=prepared.left_out.packages,
    )

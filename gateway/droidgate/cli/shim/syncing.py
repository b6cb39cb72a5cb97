"""What `shim sync` does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from droidgate.cli.descriptors.converting import reaches
from droidgate.cli.exit_codes import ExitCode
from droidgate.cli.options import ConversionThreshold
from droidgate.cli.output.grouped_findings import security_blocks, security_page
from droidgate.cli.output.json_output import print_json
from droidgate.cli.output.page_length import shows_details
from droidgate.cli.output.pages import Block, Heading, Line, Table, amount, noun, print_note, show
from droidgate.cli.output.safe_text import one_line
from droidgate.cli.shim.shim_builds import findings_blocks, key_record, left_out_lines, unused_blocks
from droidgate.cli.shim.shim_installation import steps_table
from droidgate.cli.shim.shim_outputs import ShimChange, ShimSyncDocument
from droidgate.cli.shim.shim_summaries import ASKING, app_name, refused_blocks
from droidgate.devices.device import connect_device
from droidgate.shims.place import place_of
from droidgate.shims.sync_runs import Synced, SyncPlan, carry_out, findings_of, plan_sync


def sync_and_report(
    serial: str | None, *, dry_run: bool, fail_on: ConversionThreshold | None, as_json: bool
) -> int:
    """Make the shims of a phone fit its apps, and show it; return 4 where one does not work then.

    Raises:
        DeviceError: the phone cannot be reached or used, or has no shim.
        InputError: an app or the key cannot be read.
    """
    place = place_of(connect_device(serial))
    plan = plan_sync(place, print_note)
    synced = [Synced(change) for change in plan.changes] if dry_run else carry_out(plan, print_note)
    if as_json:
        print_json(_document(plan, synced, done=not dry_run))
    else:
        show(_page(plan, synced, dry_run=dry_run))
    if any(item.works is False for item in synced):
        return ExitCode.DEVICE
    return ExitCode.FINDINGS if reaches(findings_of(synced), fail_on) else ExitCode.OK


def _page(plan: SyncPlan, synced: Sequence[Synced], *, dry_run: bool) -> list[Block]:
    rows = [
        (item.change.kind, app_name(item.change.application_id, ()), one_line(item.change.why))
        for item in synced
    ]
    blocks: list[Block] = [Table(("CHANGE", "APP", "WHY"), rows), Line()] if rows else []
    blocks += _whole_steps(plan, synced) if shows_details() else _short_steps(plan, synced)
    blocks += unused_blocks(plan.unused)
    blocks += left_out_lines(plan.left_out)
    changed = sum(item.change.kind != "same" for item in synced)
    works = sum(item.works is not False for item in synced)
    shims = amount(len(synced), "shim")
    verb = noun(changed, "is", "are") + " to be" if dry_run else noun(changed, "was", "were")
    said = f"{changed} of {shims} {verb} brought up to date"
    said += "" if works == len(synced) else f", {len(synced) - works} of them in vain"
    said = said if changed else f"nothing is to be done: {shims}"
    blocks.append(Line(f"{said} on {plan.place.device.serial}, user {plan.place.user}"))
    return blocks


def _whole_steps(plan: SyncPlan, synced: Sequence[Synced]) -> list[Block]:
    blocks: list[Block] = []
    if plan.asked:
        blocks += [Heading("Apps asked for their tools"), steps_table(plan.asked), Line()]
    for item in synced:
        if item.steps:
            blocks += [Heading(item.change.application_id), steps_table(item.steps)]
            built = item.change.built
            if built is not None and built.capabilities:
                blocks += findings_blocks(built.findings, built.capabilities)
            blocks.append(Line())
    return blocks


def _short_steps(plan: SyncPlan, synced: Sequence[Synced]) -> Iterator[Block]:
    """Yield the access rules that nothing enforces, and what Android refused."""
    security = [
        block
        for item in synced
        if item.steps and item.change.built is not None
        for block in security_blocks(
            item.change.built.findings, item.change.built.capabilities, provider=item.change.application_id
        )
    ]
    yield from security_page(security)
    yield from refused_blocks(ASKING, plan.asked)
    for item in synced:
        yield from refused_blocks(item.change.application_id, item.steps)


def _document(plan: SyncPlan, synced: Sequence[Synced], *, done: bool) -> ShimSyncDocument:
    changes = tuple(
        ShimChange.of(
            item.change,
            works=item.works,
            steps=item.steps,
            findings=() if item.change.built is None else item.change.built.findings,
        )
        for item in synced
    )
    return ShimSyncDocument.of(
        plan,
        serial=plan.place.device.serial,
        user=plan.place.user,
        sdk=plan.place.sdk,
        key=key_record(plan.key),
        done=done,
        changes=changes,
        left_out=plan.left_out.packages,
    )

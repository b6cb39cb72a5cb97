"""What `shim install`, `sync` and `uninstall` do."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from droidgate.cli.exit_codes import ExitCode
from droidgate.cli.output.grouped_findings import (
    count_levels,
    counted,
    reaches,
    security_blocks,
    security_page,
)
from droidgate.cli.output.page_length import shows_details
from droidgate.cli.output.pages import Block, Heading, Line, Table, confirm, print_note, show
from droidgate.cli.output.reports import Report
from droidgate.cli.output.safe_text import one_line
from droidgate.cli.run_limits import RunBudget, run_within
from droidgate.cli.shim import shim_options
from droidgate.cli.shim.run_shim_build import (
    advertises_functions,
    app_function_lines,
    findings_blocks,
    key_record,
    left_out_lines,
    signed_line,
    unused_blocks,
)
from droidgate.cli.shim.shim_documents import (
    DETAILS,
    InstalledShimRecord,
    RemovedShim,
    ShimChange,
    ShimInstallDocument,
    ShimSyncDocument,
    ShimUninstallDocument,
    app_name,
    shims_and_helper,
)
from droidgate.devices.device import connect_device
from droidgate.shims.device_user import device_user_of
from droidgate.shims.installation_steps import REVOKE, InstallationStep
from droidgate.shims.installations import (
    InstalledShims,
    InstallRequest,
    PreparedShim,
    install_prepared,
    prepare_shims,
    uninstall_shims,
)
from droidgate.shims.sync_runs import SyncedChange, SyncPlan, carry_out, findings_of, plan_sync
from droidgate_mappings.formats.installed import SHIM_PACKAGE
from droidgate_mappings.model.errors import UsageError
from droidgate_mappings.text.counted_nouns import amount, noun

_QUESTION: Final = (
    "Agents that call by an Intent, as the prototype of Mobile-MCP does, cannot be distinguished. "
    "Either the phone asks its user for each such call, or any app on this phone may call these:"
)
_LONGEST: Final = 100
"""Characters of an app's capability ids that the question has."""


def install_and_report(options: shim_options.ShimInstall) -> Report:
    """Install and set up, and report each step; the code is 4 where a shim does not work then.

    Raises:
        BudgetError: reading and building take too long; nothing is installed.
        DeviceError: the phone cannot be reached or used, or has no shim that could be set up.
        InputError: a source or an APK cannot be read, or nothing in it can be offered.
        UsageError: APKs and apps are named at once.
    """
    request = InstallRequest(
        tuple(options.sources or ()),
        tuple(options.apks or ()),
        options.options.chosen(),
        any_app=options.any_app,
    )
    device_user = device_user_of(connect_device(options.serial))
    budget = RunBudget(None, options.deadline)
    prepared = run_within(budget, lambda: prepare_shims(device_user, request, print_note))
    may_ask = request.any_app is None and not options.yes
    if may_ask and any(item.facts.capabilities for item in prepared.ready):
        request = replace(request, any_app=_ask_for_any_app(prepared.ready))
    installed = install_prepared(device_user, request, prepared, print_note)
    code = ExitCode.FINDINGS if reaches(installed.findings, options.fail_on) else ExitCode.OK
    return Report(
        lambda: _installed_page(installed, advertised=advertises_functions(options.options)),
        lambda: _installed_document(installed),
        code if installed.all_work else ExitCode.DEVICE,
    )


def sync_and_report(options: shim_options.ShimSync) -> Report:
    """Make the shims of a phone fit its apps; the code is 4 where one does not work then.

    Raises:
        BudgetError: reading and building take too long; nothing is changed.
        DeviceError: the phone cannot be reached or used, or has no shim.
        InputError: an app or the key cannot be read.
    """
    dry_run = options.dry_run
    device_user = device_user_of(connect_device(options.serial))
    plan = run_within(RunBudget(None, options.deadline), lambda: plan_sync(device_user, print_note))
    synced = [SyncedChange(change) for change in plan.changes] if dry_run else carry_out(plan, print_note)
    code = ExitCode.FINDINGS if reaches(findings_of(synced), options.fail_on) else ExitCode.OK
    return Report(
        lambda: _synced_page(plan, synced, dry_run=dry_run),
        lambda: _synced_document(plan, synced, done=not dry_run),
        ExitCode.DEVICE if any(item.works is False for item in synced) else code,
    )


def uninstall_and_report(options: shim_options.ShimUninstall) -> Report:
    """Remove shims and report it; the code is 4 where one stays.

    Raises:
        DeviceError: the phone cannot be reached or used.
        UsageError: nothing is named, or something that is not a shim of the phone.
    """
    names = tuple(options.shims or ())
    if bool(names) == options.every_shim:
        message = "no shim is named" if not names else "names and --all exclude each other"
        raise UsageError(message, hint="name shims as `droidgate shim status` shows them, or take --all")
    device_user = device_user_of(connect_device(options.serial))
    done = uninstall_shims(device_user, names, every_shim=options.every_shim, report=print_note)

    def page() -> list[Block]:
        if not done.removed:
            return [Line(f"no shim is installed on {device_user.device.serial} for user {device_user.user}")]
        rows = [(app_name(item, ()), step.outcome, step.why or "-") for item, step in done.removed]
        if done.released is not None:
            rows.append((SHIM_PACKAGE, done.released.outcome, done.released.why or done.released.what))
        return [Table(("APP", "OUTCOME", "WHY"), rows)]

    return Report(
        page,
        lambda: ShimUninstallDocument.of(
            device_user,
            serial=device_user.device.serial,
            shims=tuple(RemovedShim(application_id=item, step=step) for item, step in done.removed),
            identity=done.released,
        ),
        ExitCode.OK if done.is_done else ExitCode.DEVICE,
    )


def _steps_table(steps: Iterable[InstallationStep]) -> Table:
    """Return steps as a table."""
    return Table(
        ("OUTCOME", "STEP", "WHY"),
        [(step.outcome, one_line(step.what), one_line(step.why) or "-") for step in steps],
    )


def _ask_for_any_app(ready: Sequence[PreparedShim]) -> bool | None:
    """Ask the user; return None without a terminal: nothing is granted and nothing is revoked."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return None
    rows = [
        (app_name(facts.application_id, facts.packages), ", ".join(map(one_line, facts.capabilities)))
        for facts in (item.facts for item in ready)
    ]
    columns = ("APP", "CAPABILITIES")
    page: list[Block] = [Line(_QUESTION), Table(columns, rows, {"CAPABILITIES": _LONGEST})]
    show(page, sys.stderr, is_data=True)
    options = "--allow-any-app, --no-allow-any-app or --yes, which grants nothing"
    return confirm("Let any app on this phone call them?", options=options)


def _installed_page(installed: InstalledShims, *, advertised: bool) -> list[Block]:
    prepared = installed.prepared
    blocks = list(_whole_installation(installed) if shows_details() else _short_installation(installed))
    blocks += unused_blocks(prepared.unused)
    blocks += left_out_lines(prepared.left_out)
    blocks += app_function_lines((), advertised=advertised)
    if prepared.key is not None:
        blocks.append(signed_line(prepared.key))
    if not shows_details():
        blocks.append(Line(f"{DETAILS} each step, and each finding of the conversions"))
    device_user, installations = installed.device_user, installed.installations
    working = sum(installation.works for installation in installations)
    shims, verb = amount(len(installations), "shim"), noun(working, "works", "work")
    blocks.append(
        Line(f"{working} of {shims} {verb} on {device_user.device.serial}, user {device_user.user}")
    )
    if any(step.outcome == "refused" for item in installed.every for step in item.steps):
        blocks.append(Line("see what is left to do with: droidgate shim doctor"))
    return blocks


def _whole_installation(installed: InstalledShims) -> Iterator[Block]:
    """Yield each step for each shim, and each finding of its conversion."""
    prepared, identity = installed.prepared, installed.identity
    yield from _asked_blocks(prepared.asked)
    for ready, installation in zip(prepared.ready, installed.installations, strict=True):
        yield from (Heading(installation.application_id), _steps_table(installation.steps))
        if prepared.key is not None:
            yield from findings_blocks(ready.findings, ready.facts.capabilities)
        yield Line()
    if identity is not None:
        yield from (
            Heading(f"{identity.application_id}, for all shims"),
            _steps_table(identity.steps),
            Line(),
        )


def _short_installation(installed: InstalledShims) -> Iterator[Block]:
    """Yield a row for each shim, what Android refused, and the access rules that nothing enforces."""
    rows = []
    security: list[Block] = []
    is_built = installed.prepared.key is not None
    for ready, installation in zip(installed.prepared.ready, installed.installations, strict=True):
        name = app_name(ready.facts.application_id, ready.facts.packages)
        state = "works" if installation.works else "does not work"
        lost = counted(count_levels(ready.findings)) or "nothing"
        rows.append((name, str(len(ready.facts.capabilities)), state, lost if is_built else "-"))
        security += security_blocks(ready.findings, ready.facts.capabilities, provider=name)
    yield from security_page(security)
    if rows:
        yield Table(("APP", "OFFERS", "STATE", "FINDINGS OF THE CONVERSION"), rows)
        yield Line()
    for item in installed.every:
        yield from _refused_blocks(item.application_id, item.steps)
        if any(step.what == REVOKE and step.outcome == "done" for step in item.steps):
            yield Line(f"any app could call {item.application_id}, and cannot any more: the grant is revoked")
    identity = installed.identity
    if identity is not None and identity.works:
        calls = f"{identity.application_id} calls app functions for all shims until the phone restarts"
        yield Line(f"{calls}; start it again then: droidgate shim install")


def _asked_blocks(asked: Sequence[InstallationStep]) -> list[Block]:
    return [Heading("Apps asked for their tools"), _steps_table(asked), Line()] if asked else []


def _refused_blocks(name: str, steps: Iterable[InstallationStep]) -> Iterator[Block]:
    """Yield the steps that Android refused, nothing where there are none."""
    refused = [step for step in steps if step.outcome == "refused"]
    if refused:
        yield Heading(f"Refused by Android: {name}")
        for step in refused:
            yield Line(one_line(": ".join(filter(None, (step.what, step.why)))), 1)
        yield Line()


def _installed_document(installed: InstalledShims) -> ShimInstallDocument:
    device_user, prepared = installed.device_user, installed.prepared
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
        serial=device_user.device.serial,
        user=device_user.user,
        sdk=device_user.sdk,
        key=None if prepared.key is None else key_record(prepared.key),
        shims=shims,
        identity=installed.identity,
        left_out=prepared.left_out.packages,
    )


def _synced_page(plan: SyncPlan, synced: Sequence[SyncedChange], *, dry_run: bool) -> list[Block]:
    rows = [
        (item.change.kind, app_name(item.change.application_id, ()), one_line(item.change.why))
        for item in synced
    ]
    blocks: list[Block] = [Table(("CHANGE", "APP", "WHY"), rows), Line()] if rows else []
    blocks += _whole_sync(plan, synced) if shows_details() else _short_sync(synced)
    blocks += unused_blocks(plan.unused)
    blocks += left_out_lines(plan.left_out)
    changed = sum(item.change.kind != "same" for item in synced)
    works = sum(item.works is not False for item in synced)
    shims = shims_and_helper(len(synced), sum(item.change.is_helper for item in synced))
    verb = noun(changed, "is", "are") + " to be" if dry_run else noun(changed, "was", "were")
    summary = f"{changed} of {shims} {verb} brought up to date"
    summary += "" if works == len(synced) else f", {len(synced) - works} of them do not work"
    summary = summary if changed else f"all shims are current: {shims}"
    blocks.append(Line(f"{summary} on {plan.device_user.device.serial}, user {plan.device_user.user}"))
    return blocks


def _whole_sync(plan: SyncPlan, synced: Sequence[SyncedChange]) -> Iterator[Block]:
    yield from _asked_blocks(plan.asked)
    for item in synced:
        if item.steps:
            yield from (Heading(item.change.application_id), _steps_table(item.steps))
            built = item.change.built
            if built is not None and built.capabilities:
                yield from findings_blocks(built.findings, built.capabilities)
            yield Line()


def _short_sync(synced: Sequence[SyncedChange]) -> Iterator[Block]:
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
    for item in synced:
        yield from _refused_blocks(item.change.application_id, item.steps)


def _synced_document(plan: SyncPlan, synced: Sequence[SyncedChange], *, done: bool) -> ShimSyncDocument:
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
        serial=plan.device_user.device.serial,
        user=plan.device_user.user,
        sdk=plan.device_user.sdk,
        key=key_record(plan.key),
        done=done,
        changes=changes,
        left_out=plan.left_out.packages,
    )

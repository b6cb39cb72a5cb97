"""What `pins list`, `diff`, `approve` and `remove` do, and their documents."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Final, Literal

from droidgate.calls.declared_capabilities import (
    DeclaredCapability,
    PinDifference,
    approve,
    compare_pin,
    declared_capabilities,
    screen_capabilities,
)
from droidgate.calls.phones import open_device
from droidgate.calls.pins import PinRecord, PinStore, diff
from droidgate.calls.policy import Policy
from droidgate.calls.subjects import check_client, named_items, suggest_capability
from droidgate.calls.targets import SCREENS
from droidgate.cli.exit_codes import ExitCode
from droidgate.cli.output.json_output import Document, PublishedDocument, print_json
from droidgate.cli.output.marking import marks_page
from droidgate.cli.output.pages import Block, Heading, Line, Table, confirm, print_note, show
from droidgate.cli.output.reports import Report
from droidgate.cli.output.safe_text import one_line
from droidgate.cli.output.summaries import input_summary, output_summary
from droidgate.cli.pins.pin_options import PinsApprove, PinsDiff, PinsList, PinsRemove
from droidgate.cli.run_limits import RunBudget, run_within
from droidgate_mappings.compare import Comparison
from droidgate_mappings.model.capability import Capability
from droidgate_mappings.model.errors import UsageError
from droidgate_mappings.model.json_values import one_line_json
from droidgate_mappings.text.counted_nouns import amount
from droidgate_mappings.text_safety.marks import text_marks


class PinEntry(Document):
    """An approval.

    Attributes:
        user: Android user number.
        package: Application id.
        component: Class name of the component with its package.
        protocol: Id of the format.
        capability: Its id.
        signer: SHA-256 of the app's signing certificate, lower-case hexadecimal; several are joined by `+`.
        digest: Of all of these and of the declaration.
        client: Pattern of who may call on this approval.
        approved_at: In UTC, ISO 8601.
    """

    user: int
    package: str
    component: str
    protocol: str
    capability: str
    signer: str
    digest: str
    client: str
    approved_at: str


class PinsListDocument(PublishedDocument, schema="droidgate.pins-list/1"):
    """What `pins list --json` prints."""

    file: str
    pins: tuple[PinEntry, ...]


class PinDifferenceRecord(Document):
    """The outcome for an approved capability.

    Attributes:
        pin: The approval.
        state: Of the capability on the phone.
        comparison: What changed in the declaration; null where the capability is missing.
    """

    pin: PinEntry
    state: Literal["unchanged", "changed", "other-signer", "missing"]
    comparison: Comparison | None


class PinsDiffDocument(PublishedDocument, schema="droidgate.pins-diff/1"):
    """What `pins diff --json` prints."""

    serial: str
    pins: tuple[PinDifferenceRecord, ...]


class RefusedCapability(Document):
    """A capability that cannot be approved."""

    package: str | None
    capability: str
    reason: str


class PinsApproveDocument(PublishedDocument, schema="droidgate.pins-approve/1"):
    """What `pins approve --json` prints.

    Attributes:
        serial: The phone.
        approved: The new approvals.
        unchanged: Those that were approved before.
        refused: Those that cannot be approved.
    """

    serial: str
    approved: tuple[PinEntry, ...]
    unchanged: tuple[PinEntry, ...]
    refused: tuple[RefusedCapability, ...]


class PinsRemoveDocument(PublishedDocument, schema="droidgate.pins-remove/1"):
    """What `pins remove --json` prints."""

    removed: tuple[PinEntry, ...]


_COLUMNS: Final = ("CAPABILITY", "PROTOCOL", "CLIENT", "SIGNER", "APPROVED")
_SHORT_DIGEST: Final = 12
_NOTHING: Final = "no capability is approved"
_APPROVE_ONE: Final = "approve one: droidgate pins approve CAPABILITY"
_NOTHING_APPROVED: Final = f"{_NOTHING}; {_APPROVE_ONE}"
_LONGEST_VALUE: Final = 400
_STATES: Final = {
    "unchanged": "as approved",
    "changed": "changed since it was approved",
    "other-signer": "another key signed the app since it was approved",
    "missing": "not on this phone",
}


def list_pins(options: PinsList) -> Report:
    """Report the approvals that patterns name.

    Raises:
        InputError: the file of pins cannot be used.
        UsageError: there are approvals, and the patterns name none.
    """
    store = PinStore()
    records = _required_if_any(store.list(), options.patterns)
    return Report(
        lambda: pins_page(records),
        lambda: PinsListDocument(file=str(store.path), pins=tuple(map(PinEntry.of, records))),
    )


def pins_page(records: Sequence[PinRecord]) -> list[Block]:
    """Return what `pins list` shows."""
    if not records:
        return [Line(_NOTHING_APPROVED)]
    rows = [
        (
            one_line(f"{record.package}/{record.capability}"),
            one_line(record.protocol),
            one_line(record.client),
            one_line(record.signer[:_SHORT_DIGEST]),
            record.approved_at[:10],
        )
        for record in records
    ]
    return [Table(_COLUMNS, rows), Line(), Line(amount(len(records), "approval"))]


def diff_pins(options: PinsDiff) -> Report:
    """Report the outcome for approved capabilities on a phone.

    Raises:
        DeviceError: the phone cannot be reached or used.
        InputError: the file of pins cannot be used.
        UsageError: there are approvals, and the patterns name none.
    """
    records = _required_if_any(PinStore().list(), options.patterns)
    has_screens = any(record.package == SCREENS for record in records)
    phone = open_device(options.serial)
    targets = phone.caller.targets
    commands = screen_capabilities(targets) if has_screens else ()
    declared = (*declared_capabilities(targets), *commands)
    differences = [compare_pin(record, declared) for record in records]
    return Report(
        lambda: differences_page(differences),
        lambda: PinsDiffDocument(
            serial=phone.serial,
            pins=tuple(PinDifferenceRecord.of(item, pin=item.record) for item in differences),
        ),
    )


def differences_page(differences: Iterable[PinDifference]) -> list[Block]:
    """Return what `pins diff` shows."""
    blocks: list[Block] = []
    counts = dict.fromkeys(_STATES, 0)
    for item in differences:
        counts[item.state] += 1
        if item.state == "unchanged":
            continue
        name = one_line(f"{item.record.package}/{item.record.capability}")
        blocks.append(Heading(f"{name}: {_STATES[item.state]}"))
        if item.comparison is not None:
            blocks += changes_page(item.comparison)
        blocks.append(Line())
    summary = [f"{count} {_STATES[state]}" for state, count in counts.items() if count]
    if not summary:
        return [Line(_NOTHING_APPROVED)]
    return [*blocks, Line(f"{amount(sum(counts.values()), 'approval')}: {'; '.join(summary)}")]


def changes_page(comparison: Comparison) -> list[Block]:
    """Return what was approved and what is declared now, for each change; both are the app's words."""
    blocks: list[Block] = []
    for change in comparison.all_changes():
        blocks.append(Line(f"{change.weight.value}: {change.code}: {one_line(change.message)}", 1))
        for word, value in (("was", change.old), ("is", change.new)):
            if value is not None:
                text = value if isinstance(value, str) else one_line_json(value)
                blocks.append(Line(f"{word}: {one_line(text)}", 2, _LONGEST_VALUE))
    return blocks or [Line("no change has a name: only the digest is another", 1)]


def remove_pins(options: PinsRemove) -> Report:
    """Remove the approvals that patterns name, and report them.

    Raises:
        InputError: the file of pins cannot be used.
        UsageError: the patterns name no approval.
        WriteError: the file cannot be written.
    """
    store = PinStore()
    _required_records(store.list(), options.patterns)
    removed = store.remove(options.patterns)
    return Report(
        lambda: [Line(one_line(f"removed: {record.package}/{record.capability}")) for record in removed],
        lambda: PinsRemoveDocument(removed=tuple(map(PinEntry.of, removed))),
    )


def _required_if_any(records: Sequence[PinRecord], patterns: Sequence[str] | None) -> tuple[PinRecord, ...]:
    """Return the approvals that patterns name, none where there are none at all."""
    return _required_records(records, patterns or ("*",)) if records else ()


def _required_records(records: Sequence[PinRecord], patterns: Sequence[str]) -> tuple[PinRecord, ...]:
    matches = named_items(patterns, records)
    if not records:
        raise UsageError(_NOTHING, hint=_APPROVE_ONE)
    if not matches:
        hint = suggest_capability(patterns[0], (record.key for record in records))
        message = f"no approval matches {', '.join(map(repr, patterns))}"
        raise UsageError(message, hint=hint or "see `droidgate pins list`")
    return matches


_LONGEST_ON_A_PAGE: Final = 400
_HINTS: Final = {
    "read_only": ("only reads", "may write"),
    "destructive": ("may destroy", "does not destroy"),
    "idempotent": ("may be repeated", "must not be repeated"),
    "open_world": ("reaches other systems", "stays in the app"),
}


def approve_pins(options: PinsApprove) -> int:
    """Approve what patterns name on a phone; return 6 where something of it cannot be approved.

    Raises:
        BudgetError: reading the phone's apps takes too long.
        DeviceError: the phone cannot be reached or used.
        InputError: the file of pins cannot be used.
        UsageError: the patterns or the client name nothing, or there is nobody to ask.
        WriteError: the file of pins cannot be written.
    """
    patterns, client = options.patterns, options.client
    check_client(client)
    store = PinStore()
    store.list()
    phone = open_device(options.serial)
    targets = phone.caller.targets
    declared = run_within(RunBudget(None, options.deadline), lambda: declared_capabilities(targets))
    # `*` is every app: what works on the phone's screen is approved by its own name only.
    of_screens = [pattern for pattern in patterns if pattern.startswith(f"{SCREENS}/")]
    commands = screen_capabilities(targets) if of_screens else ()
    for pattern in patterns:
        searched = commands if pattern in of_screens else declared
        if not named_items([pattern], searched, serial=phone.serial):
            raise targets.unknown(pattern, protocol=SCREENS if pattern in of_screens else None)
    capabilities = (
        *named_items(patterns, declared, serial=phone.serial),
        *named_items(of_screens, commands, serial=phone.serial),
    )
    refused = [item for item in capabilities if item.pin is None]
    states = [(item, item.state(store, client)) for item in capabilities]
    records = [state.record for _, state in states if state is not None and state.kind == "approved"]
    open_ones = [
        (item, state.record) for item, state in states if state is not None and state.kind != "approved"
    ]
    show(approval_page(open_ones, refused), sys.stderr if options.as_json else None)
    approved: list[PinRecord] = []
    if open_ones and _is_approved(len(open_ones), without_question=options.yes):
        approved = [approve(store, item, client=client) for item, _ in open_ones]
    if options.as_json:
        print_json(
            PinsApproveDocument(
                serial=phone.serial,
                approved=tuple(map(PinEntry.of, approved)),
                unchanged=tuple(PinEntry.of(record) for record in records if record is not None),
                refused=tuple(
                    RefusedCapability(
                        package=item.provider.package, capability=item.capability.id, reason=item.refusal
                    )
                    for item in refused
                ),
            )
        )
    for record in approved:
        print_note(one_line(f"approved: {record.package}/{record.capability}"))
    if records:
        print_note(f"{amount(len(records), 'capability', 'capabilities')} approved before, as declared now")
    return ExitCode.DENIED if refused else ExitCode.OK


def approval_page(
    items: Iterable[tuple[DeclaredCapability, PinRecord | None]], refused: Iterable[DeclaredCapability]
) -> list[Block]:
    """Return what a user sees before an approval; every text in it is the app's.

    Args:
        items: What would be approved, with an earlier approval that does not hold any more.
        refused: What cannot be approved.
    """
    blocks: list[Block] = []
    for item, earlier in items:
        state = "not approved yet" if earlier is None else "changed since it was approved"
        blocks.append(Heading(f"{one_line(item.name)}  {item.provider.protocol}: {state}"))
        blocks += _declaration_lines(item.capability)
        if item.pin is not None and earlier is not None and earlier.signer != item.pin.signer:
            blocks.append(Line("ANOTHER KEY signed the app when it was approved", 1))
        marks = tuple(text_marks(item.provider.changed({"capabilities": (item.capability,)})))
        blocks += marks_page([(item.name, marks)]) if marks else []
        if earlier is not None:
            blocks += changes_page(diff(earlier, item.provider))
        blocks.append(Line())
    blocks += [Line(f"refused: {one_line(item.name)}: {one_line(item.refusal)}") for item in refused]
    return blocks


def _declaration_lines(capability: Capability) -> list[Block]:
    lines: list[Block] = []
    if capability.description is not None:
        lines.append(Line(f"the app says: {one_line(capability.description)}", 1, _LONGEST_ON_A_PAGE))
    lines.append(Line(f"takes: {one_line(input_summary(capability))}", 1))
    lines.append(Line(f"returns: {one_line(output_summary(capability))}", 1))
    if capability.effects is not None:
        hints = [
            words[0] if getattr(capability.effects, name) else words[1]
            for name, words in _HINTS.items()
            if getattr(capability.effects, name) is not None
        ]
        lines.append(Line(f"its hints, which nobody checks: {', '.join(hints)}", 1))
    return lines


def _is_approved(count: int, *, without_question: bool) -> bool:
    """Return whether capabilities are approved: by a person at a terminal, or by a program that may.

    Raises:
        UsageError: there is no terminal, and the policy lets no program approve, or it has to say --yes.
    """
    if sys.stdin.isatty() and sys.stderr.isatty():
        question = f"Approve {amount(count, 'capability', 'capabilities')}?"
        return without_question or confirm(question, options="--yes")
    message = "nobody can be asked for an approval: standard input or standard error is not a terminal"
    if not Policy.load().settings.programs_may_approve:
        raise UsageError(message, hint="run it on a terminal; your policy lets no program approve")
    if not without_question:
        raise UsageError(message, hint="read the above, then run it again with --yes")
    return True

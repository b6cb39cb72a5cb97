"""What `pins list`, `pins diff` and `pins remove` do."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from droidgate.calls.declared import PinDifference, compare_pin, declared_capabilities, screen_capabilities
from droidgate.calls.phones import open_device
from droidgate.calls.pins import PinRecord, PinStore
from droidgate.calls.subjects import NamePattern
from droidgate.calls.targets import SCREENS
from droidgate.cli.exit_codes import ExitCode
from droidgate.cli.output.json_output import print_json
from droidgate.cli.output.pages import Block, Heading, Line, Table, amount, show
from droidgate.cli.output.safe_text import one_line
from droidgate.cli.pins.documents import (
    PinDifferenceRecord,
    PinEntry,
    PinsDiffDocument,
    PinsListDocument,
    PinsRemoveDocument,
)
from droidgate_mappings.compare import Comparison
from droidgate_mappings.model.errors import UsageError
from droidgate_mappings.model.json_values import one_line_json
from droidgate_mappings.text.suggestions import closest_name

_COLUMNS: Final = ("CAPABILITY", "PROTOCOL", "CLIENT", "SIGNER", "APPROVED")
_SHORT_DIGEST: Final = 12
_LONGEST_VALUE: Final = 400
_ENDS: Final = re.compile(r"[.#/]")
_STATES: Final = {
    "unchanged": "as it was approved",
    "changed": "changed since it was approved",
    "other-signer": "another key signed the app since it was approved",
    "missing": "not on this phone",
}


def list_pins(patterns: Sequence[str], *, as_json: bool) -> int:
    """Show the approvals that patterns name.

    Raises:
        InputError: the file of pins cannot be used.
    """
    store = PinStore()
    records = named_records(store.list(), patterns)
    if as_json:
        print_json(PinsListDocument(file=str(store.path), pins=tuple(map(PinEntry.of, records))))
    else:
        show(pins_page(records))
    return ExitCode.OK


def pins_page(records: Sequence[PinRecord]) -> list[Block]:
    """Return what `pins list` shows."""
    if not records:
        return [Line("no capability is approved; approve one: droidgate pins approve PACKAGE/CAPABILITY")]
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


def diff_pins(patterns: Sequence[str], serial: str | None, *, as_json: bool) -> int:
    """Show what became of approved capabilities on a phone.

    Raises:
        DeviceError: the phone cannot be reached or used.
        InputError: the file of pins cannot be used.
        UsageError: the patterns name no approval.
    """
    records = _required(PinStore().list(), patterns)
    phone = open_device(serial)
    targets = phone.caller.targets
    has_screens = any(record.package == SCREENS for record in records)
    commands = screen_capabilities(targets) if has_screens else ()
    declared = (*declared_capabilities(targets), *commands)
    differences = [compare_pin(record, declared) for record in records]
    if as_json:
        pins = tuple(PinDifferenceRecord.of(item, pin=item.record) for item in differences)
        print_json(PinsDiffDocument(serial=phone.serial, pins=pins))
    else:
        show(differences_page(differences))
    return ExitCode.OK


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
    said = (f"{count} {_STATES[state]}" for state, count in counts.items() if count)
    return [*blocks, Line("; ".join(said))]


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


def remove_pins(patterns: Sequence[str], *, as_json: bool) -> int:
    """Remove the approvals that patterns name, and show them.

    Raises:
        InputError: the file of pins cannot be used.
        UsageError: the patterns name no approval.
        WriteError: the file cannot be written.
    """
    store = PinStore()
    _required(store.list(), patterns)
    removed = [record for text in patterns for record in store.remove(NamePattern.parse(text))]
    if as_json:
        print_json(PinsRemoveDocument(removed=tuple(map(PinEntry.of, removed))))
    else:
        show(Line(one_line(f"removed: {record.package}/{record.capability}")) for record in removed)
    return ExitCode.OK


def named_records(records: Iterable[PinRecord], patterns: Iterable[str]) -> list[PinRecord]:
    """Return the approvals that patterns name."""
    parsed = [NamePattern.parse(text) for text in patterns]
    return [record for record in records if any(pattern.matches(record.key) for pattern in parsed)]


def _required(records: Sequence[PinRecord], patterns: Sequence[str]) -> list[PinRecord]:
    found = named_records(records, patterns)
    if not records:
        raise UsageError("no capability is approved", hint="approve one: droidgate pins approve CAPABILITY")
    if not found:
        names = [f"{record.package}/{record.capability}" for record in records]
        raise no_match(patterns, names, "no approval", "droidgate pins list")
    return found


def no_match(patterns: Sequence[str], names: Sequence[str], nothing: str, command: str) -> UsageError:
    """Return the error for patterns that match nothing, with the closest name.

    Args:
        patterns: What the user wrote.
        names: What there is, as `PACKAGE/CAPABILITY`.
        nothing: What was not found.
        command: What lists what there is.
    """
    ids = {name.partition("/")[2]: name for name in names}
    short = {_ENDS.split(identifier)[-1]: name for identifier, name in ids.items()} | ids
    closest = closest_name(patterns[0], [*names, *short])
    hint = f"see `{command}`" if closest is None else f"did you mean {short.get(closest, closest)!r}?"
    return UsageError(f"{nothing} matches {', '.join(map(repr, patterns))}", hint=hint)

"""What `pins approve` does."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Final

from droidgate.calls.declared import (
    DeclaredCapability,
    approve,
    declared_capabilities,
    named_capabilities,
    screen_capabilities,
)
from droidgate.calls.phones import open_device
from droidgate.calls.pins import PinRecord, PinStore, diff
from droidgate.calls.targets import SCREENS
from droidgate.cli.exit_codes import ExitCode
from droidgate.cli.output.json_output import print_json
from droidgate.cli.output.marking import marks_page
from droidgate.cli.output.pages import Block, Heading, Line, amount, print_note, show
from droidgate.cli.output.safe_text import one_line
from droidgate.cli.output.summaries import input_summary, output_summary
from droidgate.cli.pins.documents import PinEntry, PinsApproveDocument, RefusedCapability
from droidgate.cli.pins.listing_pins import changes_page, no_match
from droidgate_mappings.model.capability import Capability
from droidgate_mappings.model.errors import UsageError
from droidgate_mappings.text_safety.marks import text_marks

_LONGEST_DESCRIPTION: Final = 400
_HINTS: Final = {
    "read_only": ("only reads", "may write"),
    "destructive": ("may destroy", "does not destroy"),
    "idempotent": ("may be repeated", "must not be repeated"),
    "open_world": ("reaches other systems", "stays in the app"),
}


def approve_and_report(
    patterns: Sequence[str], serial: str | None, *, client: str, yes: bool, as_json: bool
) -> int:
    """Approve what patterns name on a phone; return 6 where something of it cannot be approved.

    Raises:
        DeviceError: the phone cannot be reached or used.
        InputError: the file of pins cannot be used.
        UsageError: the patterns name nothing, or there is nobody to ask.
        WriteError: the file of pins cannot be written.
    """
    store = PinStore()
    store.list()
    phone = open_device(serial)
    targets = phone.caller.targets
    declared = declared_capabilities(targets)
    # `*` is every app: what works on the phone's screen is approved by its own name only.
    of_screens = [pattern for pattern in patterns if pattern.startswith(f"{SCREENS}/")]
    commands = screen_capabilities(targets) if of_screens else ()
    named = (*named_capabilities(declared, patterns), *named_capabilities(commands, of_screens))
    if not named:
        raise no_match(
            patterns, [item.name for item in (*declared, *commands)], "no capability", "droidgate discover"
        )
    refused = [item for item in named if item.pin is None]
    states = [(item, item.state(store, client)) for item in named]
    known = [state.record for _, state in states if state is not None and state.kind == "approved"]
    open_ones = [
        (item, state.record) for item, state in states if state is not None and state.kind != "approved"
    ]
    show(approval_page(open_ones, refused), sys.stderr if as_json else None)
    approved: list[PinRecord] = []
    if open_ones and (yes or _ask(len(open_ones))):
        approved = [approve(store, item, client=client) for item, _ in open_ones]
    if as_json:
        print_json(
            PinsApproveDocument(
                serial=phone.serial,
                approved=tuple(map(PinEntry.of, approved)),
                unchanged=tuple(PinEntry.of(record) for record in known if record is not None),
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
    if known:
        print_note(f"{amount(len(known), 'capability', 'capabilities')} approved before, as declared now")
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
        marks = tuple(text_marks(item.provider.model_copy(update={"capabilities": (item.capability,)})))
        blocks += marks_page([(item.name, marks)]) if marks else []
        if earlier is not None:
            blocks += changes_page(diff(earlier, item.provider))
        blocks.append(Line())
    blocks += [Line(f"refused: {one_line(item.name)}: {one_line(item.refusal)}") for item in refused]
    return blocks


def _declaration_lines(capability: Capability) -> list[Block]:
    lines: list[Block] = []
    if capability.description is not None:
        lines.append(Line(f"the app says: {one_line(capability.description)}", 1, _LONGEST_DESCRIPTION))
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


def _ask(count: int) -> bool:
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        message = "nobody can be asked for an approval: standard input is not a terminal"
        raise UsageError(message, hint="read the above, then run it again with --yes")
    import typer

    question = f"Approve {amount(count, 'capability', 'capabilities')}?"
    return bool(typer.confirm(question, default=False, err=True))

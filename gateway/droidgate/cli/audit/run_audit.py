"""What `audit show` and `audit verify` do, and their documents."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final, Literal

from pydantic import ValidationError

from droidgate.calls.audit_log import ApprovedBy, AuditLog
from droidgate.calls.audit_reading import (
    AuditVerification,
    Break,
    LoggedCall,
    read_calls,
    verify,
    without_questions,
)
from droidgate.calls.subjects import CapabilityKey, matches_capability
from droidgate.cli.audit.audit_options import AuditShow, AuditVerify
from droidgate.cli.exit_codes import ExitCode
from droidgate.cli.output.json_output import Document, PublishedDocument
from droidgate.cli.output.pages import Block, Line, Table
from droidgate.cli.output.reports import Report
from droidgate.cli.output.safe_text import one_line
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.text.counted_nouns import amount


class AuditedCall(Document):
    """A call in the log; attempts that only asked the user, before the one with the answer, are left out.

    Attributes:
        call: Its id.
        started_at: In UTC, ISO 8601.
        client: Who called.
        serial: The phone, as adb calls it.
        user: Android user number.
        package, component, protocol, capability: What was called.
        effect: What a call may do, by the policy.
        pin: Digest of the pin, null where it was not known.
        arguments: Digest of the arguments, by the key of this computer.
        decision: The policy's.
        rule: What decided.
        approved_by: Who approved it: `policy`, `pin` (an earlier approval), `option` (`--allow`, `--yes`, or
            `approved=True` in Python) or `person`; null where nobody did or the call has no end.
        refused_by: `person` where somebody who was asked said no; null otherwise.
        route: How it was sent; null where nothing was sent or the call has no end.
        result: `ok` or a failure token; null where the call has no end.
        duration_ms: Elapsed time in milliseconds.
        traceparent: The distributed trace that the call belongs to, by W3C Trace Context; null without one.
    """

    call: str
    started_at: str
    client: str
    serial: str
    user: int
    package: str
    component: str
    protocol: str
    capability: str
    effect: Literal["reads", "writes", "unknown"]
    pin: str | None
    arguments: str
    decision: Literal["allow", "ask", "deny"]
    rule: str
    approved_by: ApprovedBy | None
    refused_by: Literal["person"] | None
    route: str | None
    result: str | None
    duration_ms: int | None
    traceparent: str | None


class AuditShowDocument(PublishedDocument, schema="droidgate.audit-show/1"):
    """What `audit show --json` prints; the oldest call comes first."""

    folder: str
    calls: tuple[AuditedCall, ...]


class AuditVerifyDocument(PublishedDocument, schema="droidgate.audit-verify/1"):
    """What `audit verify --json` prints.

    Attributes:
        folder: Of the log.
        records: How many records are in order.
        digest: Of the last of them.
        broken: Null where the chain holds.
        notes: What is not wrong and worth knowing.
    """

    folder: str
    records: int
    digest: str
    broken: Break | None
    notes: tuple[str, ...]


_COLUMNS: Final = ("TIME (UTC)", "DECISION", "RESULT", "MS", "CLIENT", "PHONE", "CAPABILITY")
_SECONDS: Final = 19


def show_calls(options: AuditShow) -> Report:
    """Report the newest calls of the log.

    Raises:
        InputError: the log cannot be read.
    """
    patterns = options.patterns or ()
    folder = _folder(options.folder)
    calls = tuple(deque(_filter(without_questions(read_calls(folder)), patterns, folder), options.last))
    return Report(
        lambda: calls_page(calls, is_chosen=bool(patterns)),
        lambda: AuditShowDocument(folder=str(folder), calls=calls),
    )


def calls_page(calls: Sequence[AuditedCall], *, is_chosen: bool) -> list[Block]:
    """Return what `audit show` shows of all calls, or of some that are chosen.

    The client and the phone are columns where the calls have several of them.
    """
    if not calls:
        return [Line("no such call is in the log" if is_chosen else "no call is in the log")]
    rows = [
        (
            call.started_at[:_SECONDS].replace("T", " "),
            _decider(call),
            one_line(call.result or "no end"),
            "-" if call.duration_ms is None else str(call.duration_ms),
            one_line(call.client),
            one_line(call.serial),
            one_line(f"{call.package}/{call.capability}"),
        )
        for call in calls
    ]
    summary = amount(len(calls), "call")
    kept = list(range(len(_COLUMNS)))
    for column, word in ((_COLUMNS.index("CLIENT"), "by"), (_COLUMNS.index("PHONE"), "on")):
        values = {row[column] for row in rows}
        if len(values) == 1:
            kept.remove(column)
            summary += f" {word} {values.pop()}"
    table = Table(tuple(_COLUMNS[at] for at in kept), [tuple(row[at] for at in kept) for row in rows])
    return [table, Line(), Line(summary)]


def _decider(call: AuditedCall) -> str:
    """Return the rule that allowed or denied a call, or who decided on one that the policy asks about."""
    if call.decision == "ask":
        return call.approved_by or call.refused_by or "-"
    return one_line(call.rule.partition(" of ")[0])


def verify_log(options: AuditVerify) -> Report:
    """Check the chain and report the first place where it breaks; the code is 1 if there is one.

    Raises:
        InputError: the log cannot be read.
    """
    folder = _folder(options.folder)
    verification = verify(folder, expected=options.expected)
    return Report(
        lambda: verification_page(verification),
        lambda: AuditVerifyDocument.of(verification, folder=str(folder)),
        ExitCode.OK if verification.broken is None else ExitCode.FINDINGS,
    )


def verification_page(verification: AuditVerification) -> list[Block]:
    """Return what `audit verify` shows."""
    blocks: list[Block] = []
    broken = verification.broken
    if broken is not None:
        blocks.append(Line(f"{one_line(broken.place)}: {broken.kind}: {one_line(broken.message)}"))
    if verification.records:
        state = "in order" if broken is None else "in order before that place"
        blocks.append(Line(f"{amount(verification.records, 'record')} {state}"))
        blocks.append(Line(f"digest of record {verification.records}: {verification.digest}"))
    elif broken is None:
        blocks.append(Line("the log is empty"))
    return blocks + [Line(f"note: {one_line(note)}") for note in verification.notes]


def _folder(folder: Path | None) -> Path:
    if folder is None:
        return AuditLog().folder
    if not folder.is_dir():
        hint = "the first call that is recorded makes it; without --folder the usual one is read"
        raise InputError("the folder of the log does not exist", place=str(folder), hint=hint)
    return folder


def _filter(calls: Iterable[LoggedCall], patterns: Sequence[str], folder: Path) -> Iterable[AuditedCall]:
    for logged in calls:
        call = _call_of(logged, folder)
        key = CapabilityKey(call.user, call.package, call.component, call.protocol, call.capability)
        if not patterns or any(matches_capability(text, key, serial=call.serial) for text in patterns):
            yield call


def _call_of(logged: LoggedCall, folder: Path) -> AuditedCall:
    end = logged.end or {}
    values = {name: logged.start.get(name) for name in AuditedCall.model_fields}
    values |= {
        name: end.get(name) for name in ("approved_by", "refused_by", "route", "result", "duration_ms")
    }
    values["started_at"] = logged.start.get("time")
    try:
        return AuditedCall.model_validate(values)
    except ValidationError:
        message = "a record of the log has other fields than droidgate writes"
        raise InputError(message, place=str(folder), hint="run: droidgate audit verify") from None

"""What the commands below `audit` print with `--json`."""

from __future__ import annotations

from typing import Literal

from droidgate.cli.output.json_output import Document, PublishedDocument


class AuditedCall(Document):
    """A call in the log.

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
        route: How it was sent; null where nothing was sent or the call has no end.
        result: `ok` or a failure token; null where the call has no end.
        duration_ms: Elapsed time in milliseconds.
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
    route: str | None
    result: str | None
    duration_ms: int | None


class AuditShowDocument(PublishedDocument, schema="droidgate.audit-show/1"):
    """What `audit show --json` prints; the oldest call comes first."""

    folder: str
    calls: tuple[AuditedCall, ...]


class BreakRecord(Document):
    """The first place where the chain does not hold.

    Attributes:
        kind: What is wrong.
        place: `FILE:LINE`, or the folder.
        message: The same in a sentence.
    """

    kind: Literal["changed", "removed", "reordered", "repeated", "cut-off", "not-found"]
    place: str
    message: str


class AuditVerifyDocument(PublishedDocument, schema="droidgate.audit-verify/1"):
    """What `audit verify --json` prints.

    Attributes:
        folder: Of the log.
        files: How many files it has.
        records: How many records are in order.
        first: Number of the first record.
        last: Number of the last record in order.
        digest: Of that record.
        broken: Null where the chain holds.
        notes: What is not wrong and worth knowing.
    """

    folder: str
    files: int
    records: int
    first: int | None
    last: int | None
    digest: str
    broken: BreakRecord | None
    notes: tuple[str, ...]

"""What the commands below `pins` print with `--json`."""

from __future__ import annotations

from typing import Literal

from droidgate.cli.output.json_output import Document, PublishedDocument
from droidgate_mappings.compare import Comparison


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
    """What became of an approved capability.

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

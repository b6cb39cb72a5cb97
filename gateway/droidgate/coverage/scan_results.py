"""The outcome of one input: its row of `sources`, and the rows of its unit, as a line of the log.

A scan and its workers exchange it as texts of bytes, each with its length in front.
"""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Mapping, Sequence
from typing import Any, BinaryIO, Final, Self, TypeAlias

from droidgate.sources.catalogs.catalog_rows import Row
from droidgate_mappings.records import dataclass, field, fields

_LENGTH: Final = struct.Struct("<I")
MAX_FRAME: Final = 64 << 20
"""A longer one was not sent by a worker of ours."""


def write_frames(stream: BinaryIO, *frames: bytes) -> None:
    """Send messages."""
    stream.write(b"".join(part for frame in frames for part in (_LENGTH.pack(len(frame)), frame)))
    stream.flush()


def read_frame(stream: BinaryIO) -> bytes | None:
    """Return the next message, None at the end of the stream, wherever it ends."""
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    length = _LENGTH.unpack(head)[0]
    if length > MAX_FRAME:
        return None
    data = stream.read(length)
    return data if len(data) == length else None


KNOWN: Final = "known"
"""The outcome for a unit whose rows are there already."""

CHANGED: Final = "it changed while it was read"
"""The reason for a file of two contents."""

PART: Final = "part"
"""The outcome for a split."""

OUT_OF_TIME: Final = "out-of-time"
"""The outcome for what was not read before the end of the scan's time."""

MAX_LINE: Final = 32 << 20
"""Bytes of the rows of one unit; one with more is reported as unreadable."""

_UNSTORABLE: Final = re.compile("[\0\ud800-\udfff]")
_TELLS_NOTHING: Final = "\ufffd"


@dataclass(frozen=True, slots=True)
class SplitIdentity:
    """Which APKs of a folder belong together: package, split (None for a base), version."""

    package: str
    split: str | None
    version: tuple[int, int] | None


UnitRows: TypeAlias = Mapping[str, Sequence[Row | tuple[int, ...]]]
"""The rows of one unit by table; those of conversions are numbers, since there are so many."""


@dataclass(slots=True)
class Scanned:
    """The outcome of one input.

    Attributes:
        source: How it is called.
        kind, reason, digest, size, unit: As in the row.
        outcome: As in the row; `known` where the rows of its unit are in the catalog already.
        identity: Of an APK.
        state: Size and time of change of its file as they were before it was read, for the log.
        rows: The rows of its unit.
    """

    source: str
    kind: str = "unknown"
    outcome: str = "unreadable"
    reason: str | None = None
    digest: str | None = None
    size: int | None = None
    unit: str | None = None
    identity: SplitIdentity | None = None
    state: list[int] | None = None
    rows: UnitRows | None = field(default=None, repr=False)

    @classmethod
    def failed(cls, source: str, outcome: str, reason: str, *, kind: str = "unknown") -> Self:
        """Return the result for what gave nothing."""
        return cls(source, kind, outcome, reason)

    def ended(self, outcome: str, reason: str | None = None, *, rows: UnitRows | None = None) -> Self:
        """Report the outcome, and return it."""
        self.outcome, self.reason, self.rows = outcome, reason, rows
        if rows is None and outcome != KNOWN:
            self.unit = None
        return self

    def head(self) -> dict[str, Any]:
        """Return everything but the rows as JSON values."""
        head: dict[str, Any] = {
            "source": clean(self.source),
            "kind": self.kind,
            "digest": self.digest,
            "size": self.size,
            "unit": self.unit,
            "outcome": self.outcome,
            "reason": None if self.reason is None else clean(self.reason),
        }
        if self.state is not None:
            head["state"] = self.state
        if self.identity is not None:
            identity = self.identity
            head["identity"] = [
                clean(identity.package),
                identity.split and clean(identity.split),
                identity.version,
            ]
        return head

    def encode(self) -> tuple[bytes, bytes]:
        """Return the head and the rows as JSON texts; the rows are empty where there are none."""
        rows = b"" if self.rows is None else _encode_rows(self.rows)
        if len(rows) > MAX_LINE:
            rows = b""
            self.ended("unreadable", f"its rows have more than {MAX_LINE} bytes")
        return json.dumps(self.head(), separators=(",", ":")).encode(), rows


def clean(text: str) -> str:
    """Return a text with U+FFFD for what no database column holds: NUL and halves of surrogate pairs."""
    return _UNSTORABLE.sub(_TELLS_NOTHING, text)


def _encode_rows(rows: UnitRows) -> bytes:
    tables = {name: [_row_value(row) for row in members] for name, members in rows.items() if members}
    return json.dumps(tables, ensure_ascii=False, separators=(",", ":")).encode()


def _row_value(row: Row | tuple[int, ...]) -> dict[str, Any] | tuple[int, ...]:
    if isinstance(row, tuple):
        return row
    value = {}
    for column in fields(row):
        stored = getattr(row, column.name)
        if isinstance(stored, str):
            stored = clean(stored)
        elif isinstance(stored, tuple):
            stored = [clean(part) for part in stored]
        if stored is not None:
            value[column.name] = stored
    return value

"""The log of a scan: a line of JSON for each input, written as it comes, so that any end can be gone on from.

The first line is the header: schema version and settings. Every other line is a result: what `sources` says
of the input, the file's size and time of change on this machine (in the log only, never in a row), and the
rows of its unit, where they are not in an earlier line or the catalog already.
"""

from __future__ import annotations

import json
from collections.abc import Container, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Self

from droidgate.coverage.inputs import Item, state_of
from droidgate.coverage.process_pool import PoolAnswer
from droidgate.coverage.scanned import KNOWN
from droidgate.sources.catalogs.rows import LOG_FILE, SCHEMA_VERSION
from droidgate.sources.spelling import printable
from droidgate_mappings.model.errors import InputError, UsageError
from droidgate_mappings.text.json_text import WRITTEN, parse_json

KEPT_LOG_FILE: Final = "scan.kept"
"""What is kept of an earlier log, while it is picked out."""

_LOG: Final = "droidgate.scan-log/1"
_MARK: Final = f'{{"log":"{_LOG}"'.encode()
_READ: Final = "read"


@dataclass(frozen=True, slots=True)
class Header:
    """What decides about the rows of a scan.

    Attributes:
        droidgate: Version of this program.
        targets: The dialects that are converted to, in the order of their numbers.
        limits: Memory and seconds that one input may take, and whatever else decides about outcomes.
    """

    droidgate: str
    targets: tuple[str, ...]
    limits: Mapping[str, float]

    def as_json(self) -> dict[str, Any]:
        """Return the first line of a log."""
        return {
            "log": _LOG,
            "schema": SCHEMA_VERSION,
            "droidgate": self.droidgate,
            "targets": list(self.targets),
            "limits": dict(self.limits),
        }


@dataclass(slots=True)
class ScanLog:
    """An open log.

    Attributes:
        path: Its file.
        done: Inputs that have their line.
        outcomes: How many inputs had which outcome.
    """

    path: Path
    done: set[str] = field(default_factory=set)
    outcomes: dict[str, int] = field(default_factory=dict)
    _units: set[bytes] = field(default_factory=set)
    _stream: Any = None

    @classmethod
    def open(cls, path: Path, header: Header, items: Mapping[str, Item], known: Container[str]) -> Self:
        """Begin a log, or go on with one.

        Of an earlier log those lines are kept that are whole, whose input is still asked for and has not
        changed, and whose unit has its rows.

        Args:
            path: The file.
            header: What decides about the rows.
            items: The inputs by name.
            known: Units that have their rows in the catalog.

        Raises:
            UsageError: the earlier log was written with other settings.
            InputError: the file is not a log, or cannot be written.
        """
        log = cls(path)
        kept = path.with_name(KEPT_LOG_FILE)
        try:
            with kept.open("wb") as stream:
                stream.write(_line(header.as_json()))
                if path.exists():
                    for head, line in _lines_of(path, header):
                        if log._still_holds(head, items, known):
                            log._note(head, has_rows=_has_rows(head))
                            stream.write(line)
            kept.replace(path)
            log._stream = path.open("ab")
        except OSError as error:
            raise _unwritable(path, error) from None
        return log

    def _still_holds(self, head: Mapping[str, Any], items: Mapping[str, Item], known: Container[str]) -> bool:
        item = items.get(head["source"])
        if item is None or head["source"] in self.done or head.get("stage") != 1:
            return False
        if head.get("state") != state_of(item):
            return False
        unit = head["unit"]
        if unit is None or _has_rows(head):
            return True
        return bytes.fromhex(unit) in self._units or unit in known

    def _note(self, head: Mapping[str, Any], *, has_rows: bool) -> None:
        if head["stage"] == 1:
            self.done.add(head["source"])
            self.outcomes[head["outcome"]] = self.outcomes.get(head["outcome"], 0) + 1
        if has_rows and head["unit"] is not None:
            self._units.add(bytes.fromhex(head["unit"]))

    def write(self, answer: PoolAnswer, *, stage: int = 1) -> None:
        """Write the line of one result.

        Args:
            answer: The result.
            stage: 2 for what takes the place of an earlier line: an app read again with its splits.

        Raises:
            InputError: the disk is full, or the like.
        """
        head = {"state": state_of(answer.item), **answer.head, "stage": stage}
        if head["outcome"] == KNOWN:
            head["outcome"] = _READ
        unit = head["unit"]
        has_rows = bool(answer.rows) and unit is not None and bytes.fromhex(unit) not in self._units
        line = _line(head)
        if has_rows and answer.rows != b"{}":
            line = line[:-2] + b"," + answer.rows[1:] + b"\n"
        elif has_rows:
            line = line[:-2] + b',"apps":[]}\n'
        try:
            self._stream.write(line)
            self._stream.flush()
        except OSError as error:
            raise _unwritable(self.path, error) from None
        self._note(head, has_rows=has_rows)

    def close(self) -> None:
        """Close the file."""
        if self._stream is not None:
            with suppress(OSError):  # what could not be written was reported then
                self._stream.close()

    def heads(self) -> Iterator[dict[str, Any]]:
        """Yield the lines without their rows, each with `identity` and `state`."""
        with self.path.open("rb") as stream:
            for line in stream:
                head = parse_json(line, path=LOG_FILE, limits=WRITTEN)
                if "source" in head:
                    yield {name: value for name, value in head.items() if not isinstance(value, list)} | {
                        "identity": head.get("identity"),
                        "state": head.get("state"),
                    }


def _lines_of(path: Path, header: Header) -> Iterator[tuple[dict[str, Any], bytes]]:
    """Yield the whole lines of an earlier log; a torn one, and what follows it, is left out."""
    with path.open("rb") as stream:
        line = stream.readline()
        if not (line.startswith(_MARK) or _MARK.startswith(line)):
            hint = "if a scan of yours wrote it, delete it to begin anew"
            raise InputError("it is not a log of a scan", place=printable(str(path)), hint=hint)
        first = _parsed(line)
        if first is None:
            return
        if first != header.as_json():
            message = "the log of an unfinished scan there was written with other settings"
            hint = f"scan with the same settings, or delete {path.name} to begin anew"
            raise UsageError(message, place=str(path), hint=hint)
        for line in stream:
            head = _parsed(line)
            if head is None or not isinstance(head.get("source"), str):
                return
            yield head, line


def _parsed(line: bytes) -> dict[str, Any] | None:
    if not line.endswith(b"\n"):
        return None
    with suppress(InputError):
        value = parse_json(line, path=LOG_FILE, limits=WRITTEN)
        if isinstance(value, dict):
            return value
    return None


def _has_rows(head: Mapping[str, Any]) -> bool:
    return any(name in head for name in ("apps", "providers", "problems", "findings"))


def _line(value: Mapping[str, Any]) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode() + b"\n"


def _unwritable(path: Path, error: OSError) -> InputError:
    hint = "what it holds is not lost: the same scan goes on from there"
    return InputError(f"it cannot be written: {error.strerror}", place=printable(str(path)), hint=hint)

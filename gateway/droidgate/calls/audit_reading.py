"""The audit log, read: whether its chain holds, and which calls are in it.

Nothing is locked and nothing is written, so that a copy of a log can be read as well. The head is read before
the records: what is written meanwhile comes after it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Literal

from droidgate.calls.audit_log import (
    FIRST,
    HEAD_NAME,
    HEAD_SIZE,
    MAX_LINE,
    Head,
    log_file,
    parse_head,
    read_log_start,
    read_record,
    start_file,
)
from droidgate.computer.private_files import unreadable_error
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.records import dataclass, field
from droidgate_mappings.user_folders import configuration_folder

BreakKind = Literal["changed", "removed", "repeated", "cut-off", "not-found"]


@dataclass(frozen=True, slots=True)
class Break:
    """The first place where the chain does not hold.

    Attributes:
        kind: `changed`: a line is not what was written, or was replaced. `removed`: records are missing
            before it. `repeated`: it belongs further up. `cut-off`: records are missing at the end.
            `not-found`: no record has the digest that was asked for.
        place: `FILE:LINE`, or the folder.
        message: What is wrong, one sentence without a period.
    """

    kind: BreakKind
    place: str
    message: str


@dataclass(frozen=True, slots=True)
class AuditVerification:
    """What was found of a log.

    Attributes:
        records: How many records are in order, before the break if there is one.
        digest: Of the last of these. A user who keeps it can check later that nothing before it was changed.
        broken: The first place where the chain does not hold, None where all of it does.
        notes: What is worth knowing but not wrong, one sentence each: torn lines, calls without an end.
    """

    records: int
    digest: str
    broken: Break | None
    notes: tuple[str, ...] = ()


@dataclass(slots=True)
class _Chain:
    """What was read so far."""

    head: Head | None
    expected: str | None
    start: str | None
    start_file: Path
    number: int = 0
    digest: str = FIRST
    at_head: str | None = None
    open_calls: set[str] = field(default_factory=set)
    notes: list[str] = field(default_factory=list)

    def add(self, record: dict[str, Any]) -> None:
        """Continue with a record that fits the chain."""
        self.number, self.digest = record["number"], record["digest"]
        if self.head is not None and self.number == self.head.number:
            self.at_head = self.digest
        if self.digest == self.expected:
            self.expected = None
        if record["event"] == "start":
            self.open_calls.add(str(record.get("call")))
        elif record["event"] == "end":
            self.open_calls.discard(str(record.get("call")))
        else:
            suffix = f", {record['file']}" if "file" in record else ""
            self.notes.append(f"record {self.number}: {record.get('what')}{suffix}")


def verify(folder: Path, *, expected: str | None = None, key_folder: Path | None = None) -> AuditVerification:
    """Check a log's chain from record 1 to its last.

    Args:
        folder: Of the log, or of a copy.
        expected: A digest that was noted down earlier, which one of the records must have.
        key_folder: Where the digest of record 1 was kept when the log began; the user's configuration folder
            by default. It is kept for the log's own folder, not for copies.

    Raises:
        InputError: a file cannot be read.
    """
    start = start_file(folder, configuration_folder() if key_folder is None else key_folder)
    chain = _Chain(read_head(folder), expected, read_log_start(start), start)
    path = log_file(folder)
    broken = _first_break(path, chain) or _break_at_end(folder, chain)
    if chain.head is None and path.exists():
        chain.notes.append(f"there is no {HEAD_NAME}: whether records are missing at the end cannot be seen")
    if chain.open_calls:
        count = len(chain.open_calls)
        are = "1 call has" if count == 1 else f"{count} calls have"
        chain.notes.append(f"{are} no end: running now, or the process was ended")
    return AuditVerification(
        records=chain.number, digest=chain.digest, broken=broken, notes=tuple(chain.notes)
    )


def _first_break(path: Path, chain: _Chain) -> Break | None:
    for line_number, line in lines_of(path):
        place = f"{path}:{line_number}"
        if not line.endswith(b"\n") and len(line) <= MAX_LINE:
            chain.notes.append(f"{place}: the last line is torn; the next record keeps it aside")
            return None
        record = read_record(line.removesuffix(b"\n"))
        if record is None:
            return Break("changed", place, f"the line is not what was written after record {chain.number}")
        problem = _problem_of(record, chain, place)
        if problem is not None:
            return problem
        chain.add(record)
    return None


def _problem_of(record: dict[str, Any], chain: _Chain, place: str) -> Break | None:
    number, due = record["number"], chain.number + 1
    if chain.start is not None and number == due == 1 and record["digest"] != chain.start:
        message = f"record 1 is not the one that this log began with; {_own_removal(chain)}"
        return Break("changed", place, message)
    if number == due and record["previous"] == chain.digest:
        return None
    if number == due:
        message = f"record {chain.number} is not the one that was written before record {number}"
        return Break("changed", place, message)
    if number < due:
        return Break("repeated", place, f"record {number} is after record {chain.number}")
    missing = f"record {due} is" if number == due + 1 else f"records {due} to {number - 1} are"
    return Break("removed", place, f"{missing} missing before record {number}")


def _own_removal(chain: _Chain) -> str:
    return f"if you removed the log yourself, remove {chain.start_file} too"


def _break_at_end(folder: Path, chain: _Chain) -> Break | None:
    head = chain.head
    if head is not None and head.number > chain.number:
        message = f"the log ends with record {chain.number}; record {head.number} was written"
        return Break("cut-off", str(folder), message)
    if chain.start is not None and not chain.number:
        return Break("removed", str(folder), f"all records are missing; {_own_removal(chain)}")
    if head is not None and head.number and chain.at_head != head.digest:
        message = f"record {head.number} is not the one that {HEAD_NAME} names"
        return Break("changed", str(folder), message)
    if chain.expected is not None:
        return Break("not-found", str(folder), f"no record has the digest {chain.expected}")
    return None


def read_head(folder: Path) -> Head | None:
    """Return what the head of a log says, None where there is none or it is damaged.

    Raises:
        InputError: it cannot be read.
    """
    path = folder / HEAD_NAME
    try:
        with path.open("rb") as file:
            return parse_head(file.read(HEAD_SIZE))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise unreadable_error(path, error) from None


def lines_of(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of a file with their numbers, counted from 1; an overlong one in several parts.

    A file that does not exist has none.

    Raises:
        InputError: it cannot be read.
    """
    try:
        with path.open("rb") as file:
            number = 0
            while line := file.readline(MAX_LINE + 2):
                number += 1
                yield number, line
    except FileNotFoundError:
        return
    except OSError as error:
        raise unreadable_error(path, error) from None


def records_of(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the records of a file; what is not a record is left out.

    Raises:
        InputError: it cannot be read.
    """
    for _, line in lines_of(path):
        record = read_record(line.removesuffix(b"\n"))
        if record is not None:
            yield record


@dataclass(frozen=True, slots=True)
class LoggedCall:
    """A call in the log.

    Attributes:
        start: Its first record.
        end: Its last record, None where there is none.
    """

    start: dict[str, Json]
    end: dict[str, Json] | None

    @property
    def first_id(self) -> str:
        """Id of the first attempt of the call; in most cases there is one."""
        return str(self.start.get("continues") or self.start.get("call"))


def logged_calls(records: Iterable[dict[str, Any]]) -> Iterator[LoggedCall]:
    """Yield the calls of some records in the order of their starts."""
    calls: dict[str, LoggedCall] = {}
    for record in records:
        call = str(record.get("call"))
        if record["event"] == "start":
            calls[call] = LoggedCall(record, None)
        elif record["event"] == "end" and call in calls:
            calls[call] = LoggedCall(calls[call].start, record)
    yield from calls.values()


def without_questions(calls: Iterable[LoggedCall]) -> list[LoggedCall]:
    """Return calls without the attempts that only asked the user and were repeated with the answer."""
    every = list(calls)
    last = {call.first_id: call for call in every}
    return [
        call
        for call in every
        if last[call.first_id] is call
        or call.end is None
        or (call.end.get("result"), call.end.get("approved_by")) != ("needs_approval", None)
    ]


def read_calls(folder: Path) -> Iterator[LoggedCall]:
    """Yield the calls of a log, oldest first.

    Raises:
        InputError: a file cannot be read.
    """
    return logged_calls(records_of(log_file(folder)))

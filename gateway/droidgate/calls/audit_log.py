"""The audit log: which calls were asked for, what was decided, and how they ended; never a value.

Lines of JSON, each with the digest of the line before it, so that a line that is changed, removed or moved is
found. Two records for each call: `start`, which is on the disk before anything is sent, and `end`. Several
processes write one log. `audit.head` has the number and digest of a record that is on the disk, in most cases
the last one; a log that ends before it has lost records. The digest of record 1 is also kept away from the
log, in the configuration folder: a log that is removed or written anew does not begin with it.
"""

from __future__ import annotations

import errno
import hashlib
import hmac
import logging
import os
import re
import secrets
import threading
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final, Literal

from droidgate.calls.call_steps import CallSteps, Work, wait_for, wait_on_loop
from droidgate.calls.policy import Decision
from droidgate.calls.subjects import CallSubject
from droidgate.calls.trace_context import TRACEPARENT
from droidgate.computer.private_files import (
    NO_LINK,
    check_private,
    exclusive_file,
    lock_file,
    private_file,
    read_private,
    replace_private,
    sync_folder,
    unreadable_error,
    unwritable,
)
from droidgate_mappings.model.errors import DroidgateError, InputError, WriteError
from droidgate_mappings.model.json_values import Json, canonical_json
from droidgate_mappings.records import dataclass, field
from droidgate_mappings.text.json_text import parse_json
from droidgate_mappings.user_folders import configuration_folder, state_folder

if TYPE_CHECKING:
    import asyncio

_log: Final = logging.getLogger(__name__)

HEAD_NAME: Final = "audit.head"
KEY_NAME: Final = "audit-key"
START_NAME: Final = "audit-start"
FIRST: Final = "0" * 64
"""What the first record has as the digest of the one before it."""

MAX_LINE: Final = 1 << 16
_FILE_NAME: Final = "audit.jsonl"
_HEAD: Final = re.compile(rb"(\d{1,18}) ([0-9a-f]{64}) (\d{1,18}) *\n")
HEAD_SIZE: Final = 160
_LONGEST_TEXT: Final = 400
_KEY_BYTES: Final = 32
_LARGEST_START: Final = 256
_SUBJECT_TEXTS: Final = ("client", "serial", "package", "component", "protocol", "capability")
_TEXT_FIELDS: Final = ("previous", "time", "event", "digest")


ApprovedBy = Literal["policy", "pin", "option", "person"]
"""Who approved a call: a rule or the default of the policy, an earlier approval, `--allow` or `--yes` (in
Python `approved=True`), or a person who was asked about it."""


@dataclass(frozen=True, slots=True)
class Head:
    """The end of the log as it was last written.

    Attributes:
        number: Of the last record, counted from 1; 0 before the first.
        digest: The last record's.
        size: Of the log, in bytes.
    """

    number: int = 0
    digest: str = FIRST
    size: int = 0


@dataclass(slots=True)
class AuditEntry:
    """A record that a thread waits for, or a task of an event loop."""

    event: str
    facts: Mapping[str, Json]
    is_settled: bool = False
    error: DroidgateError | None = None
    settled: asyncio.Future[None] | None = None

    def settle(self, error: DroidgateError | None) -> None:
        """Note that the record is on the disk, or has its error."""
        self.error, self.is_settled = error, True
        if self.settled is not None:
            # The loop may have ended meanwhile.
            with suppress(RuntimeError):
                self.settled.get_loop().call_soon_threadsafe(self._wake)

    def _wake(self) -> None:
        if self.settled is not None and not self.settled.done():
            self.settled.set_result(None)


@dataclass(frozen=True, slots=True)
class Recording:
    """A record that has to be on the disk before its call goes on; a `CallStep`."""

    log: AuditLog
    entry: AuditEntry

    def wait(self) -> None:
        """Write the record and return when it is on the disk.

        Threads that come while one of them waits for the disk are written together by the next: one write and
        one sync for all their records, in the order they came.

        Raises:
            InputError: the log is not a file of the user.
            WriteError: it cannot be written.
        """
        self.log.append(self.entry)

    async def wait_on_loop(self) -> None:
        """Do the same on the event loop; a record is also written where the task is canceled meanwhile.

        Raises:
            InputError, WriteError: as `wait`.
        """
        await self.log.append_on_loop(self.entry)


@dataclass(frozen=True, slots=True)
class StartedCall:
    """A call that may be made once its record is on the disk.

    Attributes:
        id: 128 random bits, hexadecimal.
        record: That it was asked for.
    """

    id: str
    record: Recording


@dataclass(slots=True)
class AuditLog:
    """The user's audit log. May be shared by threads, and by the tasks of one event loop.

    Attributes:
        folder: Of the log; in the user's state folder by default.
        key_folder: Of the key that argument digests are made with, and of the digest of record 1; the user's
            configuration folder by default, so that the log can be given away without them.
    """

    folder: Path = field(default_factory=lambda: state_folder() / "audit")
    key_folder: Path = field(default_factory=configuration_folder)
    _key: bytes | None = field(default=None, repr=False)
    _keeps_start: bool = field(default=False, repr=False)
    _waiting: deque[AuditEntry] = field(default_factory=deque, repr=False)
    _turn: threading.Lock = field(default_factory=threading.Lock, repr=False)
    _committing: asyncio.Task[None] | None = field(default=None, repr=False)

    @property
    def is_ready(self) -> bool:
        """Whether the files next to the log are there, so that records alone have to be written."""
        return self._key is not None and self._keeps_start

    def start(
        self,
        subject: CallSubject,
        *,
        pin: str | None,
        arguments: Json,
        decision: Decision,
        traceparent: str | None = None,
        continues: str | None = None,
    ) -> StartedCall:
        """Return a call with the record that it was asked for and what was decided.

        A call whose start cannot be recorded must not be made.

        Args:
            subject: The call.
            pin: Digest of the capability's pin, None where it is not known.
            arguments: The arguments; only a digest is written, by a key that is not in the log.
            decision: The policy's.
            traceparent: The distributed trace that the call belongs to; written where there is one.
            continues: Id of the first attempt of the call, which is repeated; written where there is one.

        Raises:
            InputError: the key of the digests is not a file of the user.
            WriteError: it cannot be made.
        """
        call = secrets.token_hex(16)
        known = {TRACEPARENT: traceparent, "continues": continues}
        record = Recording(
            self,
            AuditEntry(
                "start",
                {
                    **{name: _cut_name(getattr(subject, name)) for name in _SUBJECT_TEXTS},
                    "call": call,
                    "user": subject.user,
                    "effect": subject.effect.value,
                    "pin": pin,
                    "arguments": self.argument_digest(call, arguments),
                    "decision": decision.kind,
                    "rule": _cut_name(decision.rule),
                    **{name: value for name, value in known.items() if value is not None},
                },
            ),
        )
        return StartedCall(call, record)

    def end(
        self,
        call: StartedCall,
        *,
        route: str | None,
        result: str,
        duration_ms: int,
        approved_by: ApprovedBy | None = None,
        is_refused: bool = False,
    ) -> Recording:
        """Return the record how a call ended.

        Args:
            call: What `start` returned.
            route: Id of the route, None where nothing was sent.
            result: `ok` or a failure token.
            duration_ms: Elapsed time in milliseconds.
            approved_by: Who approved it; None where nobody did.
            is_refused: A person who was asked said no.
        """
        facts: dict[str, Json] = {
            "call": call.id,
            "approved_by": approved_by,
            "route": route,
            "result": _cut_name(result),
            "duration_ms": duration_ms,
            **({"refused_by": "person"} if is_refused else {}),
        }
        return Recording(self, AuditEntry("end", facts))

    def argument_digest(self, call: str, arguments: Json) -> str:
        """Return the digest of a call's arguments.

        It is keyed, so that short arguments cannot be found by trying, and includes the call's id, so that
        equal arguments of two calls have different digests.

        Raises:
            InputError: the key is not a file of the user, or has the wrong size.
            WriteError: it cannot be made.
        """
        if self._key is None:
            self._key = _read_key(self.key_folder / KEY_NAME)
        text = f"{call}\n{canonical_json(arguments)}".encode("utf-8", "surrogatepass")
        return f"hmac-sha256:{hmac.digest(self._key, text, 'sha256').hex()}"

    def append(self, entry: AuditEntry) -> None:
        """Write a record and return when it is on the disk; see `Recording.wait`."""
        self._waiting.append(entry)
        with self._turn:
            if not entry.is_settled:
                wait_for(self._commit(self._take_waiting()))
        if entry.error is not None:
            raise entry.error

    async def append_on_loop(self, entry: AuditEntry) -> None:
        """Do the same on the event loop; see `Recording.wait_on_loop`."""
        import asyncio

        is_new, entry.settled = entry.settled is None, asyncio.get_running_loop().create_future()
        if is_new:
            self._waiting.append(entry)
        if self._committing is None or self._committing.done():
            # It starts when the other tasks that are ready have added their records.
            self._committing = asyncio.create_task(self._commit_on_loop())
        if not entry.is_settled:
            await entry.settled
        if entry.error is not None:
            raise entry.error

    async def _commit_on_loop(self) -> None:
        """Write what waits; only what the disk or another process delays is done in a thread."""
        while self._waiting:
            if self._turn.acquire(blocking=False):
                try:
                    await wait_on_loop(self._commit(self._take_waiting()))
                except Exception:  # noqa: BLE001 - each record has its error, and others wait
                    _log.exception("records of calls were not written")
                finally:
                    self._turn.release()
            else:
                await Work(self._commit_in_turn).wait_on_loop()

    def _commit_in_turn(self) -> None:
        with self._turn:
            wait_for(self._commit(self._take_waiting()))

    def _take_waiting(self) -> list[AuditEntry]:
        return [self._waiting.popleft() for _ in range(len(self._waiting))]

    def _commit(self, entries: Sequence[AuditEntry]) -> CallSteps[None]:
        """Write records behind the last one, and settle each: it is on the disk, or has its error."""
        error: DroidgateError | None = WriteError("the record was not written", place=str(self.folder))
        try:
            # Locked until the records are on the disk, so the head never names a record that is not there.
            # Otherwise a loss of power would look like a cut-off end.
            with private_file(self.folder / HEAD_NAME) as descriptor:
                if not lock_file(descriptor, wait=False):
                    yield Work(partial(lock_file, descriptor, wait=True))
                before = _read_head(descriptor)
                head, notes = before or Head(), list[dict[str, Json]]()
                if before is None or _size_of(self.folder) != before.size:
                    head, notes = yield Work(partial(_recover, self.folder, before))
                start = start_file(self.folder, self.key_folder)
                if head.number == 0 and not notes and read_log_start(start) is not None:
                    notes.append({"what": "the log was gone"})
                if before is None:
                    # Otherwise, if this writer fails, the next one reports the missing head again.
                    _write_head(descriptor, head)
                recovered = [AuditEntry("recovered", note) for note in notes]
                _write_head(descriptor, (yield from self._write([*recovered, *entries], head)))
                if not self._keeps_start:
                    _keep_start(self.folder, start)
                    self._keeps_start = True
            error = None
        except DroidgateError as failure:
            error = failure
        finally:
            for entry in entries:
                entry.settle(error)

    def _write(self, entries: Sequence[AuditEntry], head: Head) -> CallSteps[Head]:
        """Write records and return the head after them, when they are on the disk."""
        lines: list[bytes] = []
        for entry in entries:
            line, digest = record_line(head, entry.event, entry.facts)
            head = Head(head.number + 1, digest, head.size + len(line))
            lines.append(line)
        yield from _write_to(log_file(self.folder), b"".join(lines))
        return head


def record_line(head: Head, event: str, facts: Mapping[str, Json]) -> tuple[bytes, str]:
    """Return the line of the record after another, and the record's digest."""
    record = {
        "number": head.number + 1,
        "previous": head.digest,
        "time": datetime.now(UTC).isoformat(timespec="microseconds"),
        "event": event,
        **facts,
    }
    line = _line_of(record)
    digest = hashlib.sha256(line).hexdigest()
    # The digest goes where it is in the order of names. No text has this member: its quotes would be escaped.
    member = f'"{min(name for name in record if name > "digest")}":'.encode()
    before, _, after = line.partition(member)
    return b'%s"digest":"%s",%s%s' % (before, digest.encode(), member, after), digest


def _line_of(record: Mapping[str, Json]) -> bytes:
    return canonical_json(record).encode("utf-8", "backslashreplace") + b"\n"


def _cut_name(text: str) -> str:
    """Return a text from a phone or a client, cut to the longest length of a name."""
    text = text.encode("utf-8", "backslashreplace").decode()
    if len(text) <= _LONGEST_TEXT:
        return text
    return f"{text[:_LONGEST_TEXT]}... (sha256:{hashlib.sha256(text.encode()).hexdigest()})"


def log_file(folder: Path) -> Path:
    """Return the file with the records of a log."""
    return folder / _FILE_NAME


def start_file(folder: Path, key_folder: Path) -> Path:
    """Return the file with the digest of a log's record 1; each folder of a log has its own."""
    return key_folder / f"{START_NAME}-{hashlib.sha256(os.fsencode(folder.absolute())).hexdigest()[:16]}"


def read_log_start(path: Path) -> str | None:
    """Return the digest of the record that a log began with, None if it was not kept.

    Raises:
        InputError: the file is not one of the user.
    """
    data = read_private(path, largest=_LARGEST_START)
    return None if data is None else data.decode("ascii", "backslashreplace").strip()


def _keep_start(folder: Path, path: Path) -> None:
    """Keep the digest of a log's record 1. What is kept already stays: the log may have been written anew."""
    if read_log_start(path) is not None:
        return
    records = log_file(folder)
    try:
        with records.open("rb") as file:
            first = read_record(file.readline(MAX_LINE).removesuffix(b"\n"))
    except FileNotFoundError:
        return
    except OSError as error:
        raise unreadable_error(records, error) from None
    if first is not None and first["number"] == 1:
        replace_private(path, f"{first['digest']}\n".encode())


def _write_to(path: Path, lines: bytes) -> CallSteps[None]:
    """Append lines to a file and sync it; on a full disk, remove what was written of them."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | NO_LINK, 0o600)
    except OSError as error:
        raise unwritable(path, error) from None
    try:
        check_private(descriptor, path)
        size = os.fstat(descriptor).st_size
        if os.write(descriptor, lines) < len(lines):
            os.ftruncate(descriptor, size)
            raise unwritable(path, OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))
        yield Work(partial(os.fsync, descriptor))
    except OSError as error:
        raise unwritable(path, error) from None
    finally:
        os.close(descriptor)
    if size == 0:
        yield Work(partial(sync_folder, path.parent))


def _read_key(path: Path) -> bytes:
    key = read_private(path, largest=_KEY_BYTES)
    if key is None:
        with exclusive_file(path.with_name(f"{KEY_NAME}.lock")):
            key = read_private(path, largest=_KEY_BYTES)
            if key is None:
                replace_private(path, key := secrets.token_bytes(_KEY_BYTES))
    if len(key) != _KEY_BYTES:
        message = f"the key of the audit log has {len(key)} bytes, not {_KEY_BYTES}"
        raise InputError(message, place=str(path), hint="move it away; a new one is made")
    return key


def _read_head(descriptor: int) -> Head | None:
    """Return the head from its file, or None if it cannot be read."""
    os.lseek(descriptor, 0, os.SEEK_SET)
    return parse_head(os.read(descriptor, HEAD_SIZE))


def parse_head(data: bytes) -> Head | None:
    """Return the head that a file has, or None if it has none."""
    match = _HEAD.fullmatch(data)
    return Head(int(match[1]), match[2].decode(), int(match[3])) if match else None


def _write_head(descriptor: int, head: Head) -> None:
    text = f"{head.number} {head.digest} {head.size}"
    # If this fails, the record itself is on the disk, and the next writer finds it behind the head.
    with suppress(OSError):
        os.lseek(descriptor, 0, os.SEEK_SET)
        os.write(descriptor, f"{text:<{HEAD_SIZE - 1}}\n".encode())


def _recover(folder: Path, head: Head | None) -> tuple[Head, list[dict[str, Json]]]:
    """Return the end of the log, and the notes to record there first.

    The head may be older than the end: a writer that was killed may have left records after it, or a torn
    line. A torn line is moved to a file of its own.
    """
    notes: list[dict[str, Json]] = []
    path = log_file(folder)
    if head is None:
        head = Head()
        if path.exists():
            notes.append({"what": "the head was missing or damaged"})
    head, torn = _read_on(path, head)
    if torn:
        notes.append(_keep_aside(folder, path, head, torn))
    return head, notes


def _size_of(folder: Path) -> int:
    try:
        return log_file(folder).stat().st_size
    except OSError:
        return 0


def _read_on(path: Path, head: Head) -> tuple[Head, bytes]:
    """Return the head after the records behind it in a file, and the torn line at the file's end."""
    try:
        with path.open("rb") as file:
            if file.seek(0, os.SEEK_END) < head.size:
                # The end was cut off, which `verify` names. A piece of a line must not join the next record.
                return _before_piece(file, head)
            file.seek(head.size)
            data = file.read()
    except FileNotFoundError:
        return head, b""
    except OSError as error:
        raise unreadable_error(path, error) from None
    *lines, torn = data.split(b"\n")
    for line in lines:
        record = read_record(line)
        # A line that is not a record is left where it is: `verify` names it.
        number, digest = (
            (head.number, head.digest) if record is None else (record["number"], record["digest"])
        )
        head = Head(number, digest, head.size + len(line) + 1)
    return head, torn


def _before_piece(file: BinaryIO, head: Head) -> tuple[Head, bytes]:
    file.seek(0)
    lines, newline, piece = file.read().rpartition(b"\n")
    return Head(head.number, head.digest, len(lines) + len(newline)), piece


def _keep_aside(folder: Path, path: Path, head: Head, torn: bytes) -> dict[str, Json]:
    """Move a torn line out of the log and return what is recorded of it."""
    digest = hashlib.sha256(torn).hexdigest()
    torn_file = folder / f"torn-{digest[:16]}.txt"
    replace_private(torn_file, torn)
    try:
        os.truncate(path, head.size)
    except OSError as error:
        raise unwritable(path, error) from None
    return {"what": "a torn line was kept aside", "file": torn_file.name, "size": len(torn), "sha256": digest}


def read_record(line: bytes) -> dict[str, Json] | None:
    """Return the record of a line, None where it is not a record as it was written."""
    if len(line) > MAX_LINE:
        return None
    try:
        record = parse_json(line)
    except InputError:
        return None
    if not isinstance(record, dict) or type(record.get("number")) is not int:
        return None
    if not all(isinstance(record.get(name), str) for name in _TEXT_FIELDS):
        return None
    written = _line_of(record)
    if written != line + b"\n":
        return None
    # The line without its digest, as `record_line` digested it. No text in it has this member,
    # since quotes in texts are escaped; "event" is behind it in the order of names.
    rest = written.replace(f'"digest":"{record["digest"]}",'.encode("utf-8", "backslashreplace"), b"", 1)
    return record if hashlib.sha256(rest).hexdigest() == record["digest"] else None

"""The audit log: its chain, several writers, writers that end at any moment, and disks that are full."""

from __future__ import annotations

import json
import os
import random
import shutil
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from droidgate.calls import audit_log
from droidgate.calls.audit_log import HEAD_NAME, KEY_NAME, AuditLog, log_file, start_file
from droidgate.calls.audit_reading import AuditVerification, Break, read_calls, read_head, verify
from droidgate_mappings.model.errors import DroidgateError, InputError, WriteError
from gateway.calls.log_writers import ALLOWED, SUBJECT, digest_of_record, kill_writers, write_calls

Lines = list[bytes]


@pytest.fixture
def log(tmp_path: Path) -> AuditLog:
    """Return a log of ten calls."""
    log = AuditLog(tmp_path / "log", tmp_path / "key")
    write_calls(log, 10)
    return log


def check_holds(log: AuditLog, records: int) -> AuditVerification:
    """Check that a log's chain holds and has a number of records."""
    verification = verify(log.folder, key_folder=log.key_folder)
    assert (verification.broken, verification.records) == (None, records)
    return verification


def broken_in(folder: Path, *, expected: str | None = None) -> Break:
    """Return where the chain of a log breaks, which it has to."""
    broken = verify(folder, expected=expected).broken
    assert broken is not None
    return broken


def change_lines(log: AuditLog, change: Callable[[Lines], object]) -> None:
    """Change the lines of a log."""
    path = log_file(log.folder)
    lines = path.read_bytes().splitlines(keepends=True)
    change(lines)
    path.write_bytes(b"".join(lines))


def test_a_call_has_a_record_of_its_start_and_one_of_its_end(log: AuditLog) -> None:
    first, *others = read_calls(log.folder)
    assert len(others) == 9
    assert first.end is not None
    varying = {"time", "call", "digest", "arguments"}
    assert {name: value for name, value in first.start.items() if name not in varying} == {
        "number": 1,
        "previous": "0" * 64,
        "event": "start",
        "client": "cli",
        "serial": "emulator-5554",
        "user": 0,
        "package": "com.example.notes",
        "component": "com.example.notes.Tools",
        "protocol": "mmcp",
        "capability": "createNote",
        "effect": "writes",
        "pin": None,
        "decision": "allow",
        "rule": "default",
    }
    assert (first.end["route"], first.end["result"], first.end["duration_ms"]) == ("content", "ok", 0)
    check_holds(log, 20)


def test_files_of_the_log_and_its_key_are_the_users_alone(log: AuditLog) -> None:
    files = [*log.folder.iterdir(), *log.key_folder.iterdir()]
    assert {path.name for path in files} >= {HEAD_NAME, KEY_NAME, "audit.jsonl"}
    assert {path.stat().st_mode & 0o777 for path in files} == {0o600}
    assert log.folder.stat().st_mode & 0o777 == 0o700


def test_no_value_of_an_argument_is_in_the_log(tmp_path: Path) -> None:
    log = AuditLog(tmp_path / "log", tmp_path / "key")
    for secret in ("canary", {"nested": ["canary"]}, 4711081547):
        write_calls(log, 1, secret=secret)
    written = b"".join(path.read_bytes() for path in log.folder.iterdir())
    assert (b"canary" in written, b"4711081547" in written) == (False, False)


def test_a_digest_of_arguments_needs_the_key_and_differs_from_call_to_call(tmp_path: Path) -> None:
    log = AuditLog(tmp_path / "log", tmp_path / "key")
    again = AuditLog(tmp_path / "log", tmp_path / "key")
    other = AuditLog(tmp_path / "log", tmp_path / "other-key")
    digest = log.argument_digest("a", {"pin": "1234", "to": "me"})
    assert digest == again.argument_digest("a", {"to": "me", "pin": "1234"})
    assert digest != log.argument_digest("b", {"pin": "1234", "to": "me"})
    assert digest != other.argument_digest("a", {"pin": "1234", "to": "me"})


def test_texts_of_phones_and_clients_are_bounded_and_stay_on_one_line(tmp_path: Path) -> None:
    log = AuditLog(tmp_path / "log", tmp_path / "key")
    for text in ("x" * 100_000, 'a"\n{"number":1}\n', "\ud800", "\u202e\x1b[2J", ""):
        subject = replace(SUBJECT, capability=text, client=text, package=text)
        log.start(subject, pin=None, arguments={}, decision=ALLOWED).record.wait()
    assert log_file(log.folder).stat().st_size < 10_000
    check_holds(log, 5)


def test_every_changed_byte_breaks_the_chain(log: AuditLog) -> None:
    path = log_file(log.folder)
    data = path.read_bytes()
    draw = random.Random(1)
    for at in draw.sample(range(len(data)), 300):
        changed = bytearray(data)
        changed[at] ^= 1 << draw.randrange(8)
        path.write_bytes(changed)
        assert verify(log.folder).broken is not None, at
    path.write_bytes(data)
    check_holds(log, 20)


def _change_with_a_right_digest(lines: Lines) -> None:
    record = {**json.loads(lines[4]), "decision": "deny"}
    record["digest"] = digest_of_record(record)
    lines[4] = json.dumps(record, sort_keys=True, separators=(",", ":")).encode() + b"\n"


@pytest.mark.parametrize(("change", "kind", "line", "message"), [
    pytest.param(lambda lines: lines.pop(4), "removed", 5, "record 5 is missing before record 6",
        id="one is removed"),
    pytest.param(lambda lines: lines.__delitem__(slice(4, 7)), "removed", 5,
        "records 5 to 7 are missing before", id="several are removed"),
    pytest.param(lambda lines: lines.insert(3, lines.pop(4)), "removed", 4,
        "record 4 is missing before record 5", id="two change places"),
    pytest.param(lambda lines: lines.insert(9, lines[4]), "repeated", 10, "record 5 is after record 9",
        id="one is repeated"),
    pytest.param(lambda lines: lines.insert(2, b"{}\n"), "changed", 3,
        "the line is not what was written after", id="an empty object is added"),
    pytest.param(lambda lines: lines.insert(2, b"\n"), "changed", 3, "the line is not what was written after",
        id="an empty line is added"),
    pytest.param(lambda lines: lines.insert(2, b"x" * 200_000), "changed", 3,
        "the line is not what was written", id="a long line is added"),
    pytest.param(lambda lines: lines.__setitem__(6, lines[6].replace(b'"client":', b'"client": ')), "changed",
        7, "the line is not what was written after record 6", id="a line is written in another way"),
    pytest.param(_change_with_a_right_digest, "changed", 6,
        "record 5 is not the one that was written before record 6", id="one has another decision"),
    pytest.param(lambda lines: lines.pop(0), "removed", 1, "record 1 is missing before record 2",
        id="the first is removed"),
    pytest.param(lambda lines: lines.__delitem__(slice(19)), "removed", 1,
        "records 1 to 19 are missing before", id="all but the last are removed"),
    pytest.param(lambda lines: lines.append(lines.pop(0)), "removed", 1,
        "record 1 is missing before record 2", id="the first becomes the last"),
])  # fmt: skip
def test_the_first_place_where_the_chain_breaks_is_named(
    log: AuditLog, change: Callable[[Lines], object], kind: str, line: int, message: str
) -> None:
    change_lines(log, change)
    broken = broken_in(log.folder)
    assert (broken.kind, broken.place) == (kind, f"{log_file(log.folder)}:{line}")
    assert broken.message.startswith(message)


def test_a_missing_end_is_detected_by_the_head_and_by_the_next_record(log: AuditLog) -> None:
    change_lines(log, lambda lines: lines.__delitem__(slice(17, None)))
    broken = broken_in(log.folder)
    assert (broken.kind, broken.message) == ("cut-off", "the log ends with record 17; record 20 was written")
    write_calls(log, 1)
    broken = broken_in(log.folder)
    assert (broken.kind, broken.message) == ("removed", "records 18 to 20 are missing before record 21")


def test_a_log_that_is_cut_off_within_a_line_still_takes_whole_records(log: AuditLog) -> None:
    path = log_file(log.folder)
    path.write_bytes(path.read_bytes()[:-30])
    [call] = write_calls(log, 1)
    assert broken_in(log.folder).message == "record 20 is missing before record 21"
    assert [recorded.start["call"] for recorded in read_calls(log.folder)][-1] == call


def test_without_a_head_a_missing_end_is_detected_by_a_noted_digest(log: AuditLog) -> None:
    noted = verify(log.folder).digest
    (log.folder / HEAD_NAME).unlink()
    change_lines(log, lambda lines: lines.__delitem__(slice(17, None)))
    verification = verify(log.folder)
    assert verification.broken is None
    assert verification.notes[-2].startswith("there is no audit.head: whether records are missing at the end")
    assert broken_in(log.folder, expected=noted).kind == "not-found"


@pytest.mark.parametrize(
    "damage", [b"", b"1 2 3\n", b"\x00" * 160, b"9" * 400], ids=lambda damage: damage[:20]
)
def test_a_head_that_is_missing_or_damaged_is_made_anew_and_reported(log: AuditLog, damage: bytes) -> None:
    (log.folder / HEAD_NAME).write_bytes(damage)
    write_calls(log, 1)
    notes = check_holds(log, 23).notes
    assert notes == ("record 21: the head was missing or damaged",)


def test_a_head_that_names_another_record_is_an_error(log: AuditLog) -> None:
    path = log.folder / HEAD_NAME
    digest = verify(log.folder).digest
    path.write_bytes(path.read_bytes().replace(digest.encode(), b"a" * 64))
    assert broken_in(log.folder).message == "record 20 is not the one that audit.head names"


@pytest.mark.parametrize(
    "torn", [b"{", b'{"arguments":"x', b"\x00" * 4096, b"\xff\xfe"], ids=lambda torn: torn[:20]
)
def test_a_torn_last_line_is_moved_to_a_file_and_the_chain_continues(log: AuditLog, torn: bytes) -> None:
    with log_file(log.folder).open("ab") as file:
        file.write(torn)
    verification = check_holds(log, 20)
    assert "the last line is torn" in verification.notes[0]
    write_calls(log, 1)
    note = check_holds(log, 23).notes[0]
    torn_file = log.folder / note.rpartition(" ")[2]
    assert note.startswith("record 21: a torn line was kept aside, torn-")
    assert torn_file.read_bytes() == torn


def _empty(path: Path) -> None:
    path.write_bytes(b"")


@pytest.mark.parametrize("remove", [Path.unlink, _empty])
def test_a_removed_log_is_detected_by_the_head_and_by_the_next_record(
    log: AuditLog, remove: Callable[[Path], None]
) -> None:
    remove(log_file(log.folder))
    assert broken_in(log.folder).message == "the log ends with record 0; record 20 was written"
    write_calls(log, 1)
    assert broken_in(log.folder).message == "records 1 to 20 are missing before record 21"


def _write_anew(log: AuditLog) -> None:
    forger = AuditLog(log.folder.with_name("other"), log.folder.with_name("other-key"))
    write_calls(forger, 10)
    shutil.rmtree(log.folder)
    forger.folder.rename(log.folder)


@pytest.mark.parametrize(("attack", "kind", "message", "notes"), [
    pytest.param(lambda log: shutil.rmtree(log.folder), "removed", "all records are missing",
        ("record 1: the log was gone",), id="the folder is removed"),
    pytest.param(lambda log: [path.write_bytes(b"") for path in log.folder.iterdir()], "removed",
        "all records are missing", ("record 1: the head was missing or damaged",),
        id="all files are emptied"),
    pytest.param(_write_anew, "changed", "record 1 is not the one that this log began with", (),
        id="all of it is written anew"),
])  # fmt: skip
def test_a_log_without_its_start_is_detected_by_the_file_of_the_start(
    log: AuditLog, attack: Callable[[AuditLog], object], kind: str, message: str, notes: tuple[str, ...]
) -> None:
    attack(log)
    check = partial(verify, log.folder, key_folder=log.key_folder)
    broken = check().broken
    assert broken is not None
    assert (broken.kind, broken.message.partition(";")[0]) == (kind, message)
    write_calls(AuditLog(log.folder, log.key_folder), 1)
    broken = check().broken
    assert broken is not None
    assert broken.message.startswith("record 1 is not the one that this log began with; if you removed")
    start_file(log.folder, log.key_folder).unlink()
    write_calls(AuditLog(log.folder, log.key_folder), 1)
    verification = check()
    assert (verification.broken, verification.notes) == (None, notes)
    assert start_file(log.folder, log.key_folder).exists()


def _write_while_the_disk_works(log: AuditLog, monkeypatch: pytest.MonkeyPatch, *, error: str) -> list[str]:
    """Start five calls while the disk is busy with the one before; return how each of the five ended."""
    is_busy, is_free = threading.Event(), threading.Event()
    sync, syncs, ends = os.fsync, iter(range(9)), []

    def sync_slowly(descriptor: int) -> None:
        number = next(syncs)
        is_busy.set()
        is_free.wait(120)
        if number and error:
            raise OSError(5, error)
        sync(descriptor)

    def start(number: int) -> None:
        try:
            log.start(SUBJECT, pin=f"{number}", arguments={}, decision=ALLOWED).record.wait()
            ends.append("")
        except WriteError as failure:
            ends.append(failure.message)

    monkeypatch.setattr(os, "fsync", sync_slowly)
    threads = [threading.Thread(target=start, args=(number,)) for number in range(6)]
    threads[0].start()
    assert is_busy.wait(120)
    for count, thread in enumerate(threads[1:], 1):
        thread.start()
        while len(log._waiting) < count:
            time.sleep(0.001)
    is_free.set()
    for thread in threads:
        thread.join()
    monkeypatch.undo()
    assert next(syncs) == 2
    return ends[1:]


def test_records_that_wait_for_the_disk_are_synced_together(
    log: AuditLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert _write_while_the_disk_works(log, monkeypatch, error="") == [""] * 5
    check_holds(log, 26)
    pins = [json.loads(line)["pin"] for line in log_file(log.folder).read_bytes().splitlines()[20:]]
    assert pins == ["0", "1", "2", "3", "4", "5"]


def test_each_record_of_a_failed_sync_is_an_error(log: AuditLog, monkeypatch: pytest.MonkeyPatch) -> None:
    ends = _write_while_the_disk_works(log, monkeypatch, error="Input/output error")
    assert ends == ["the file cannot be written: Input/output error"] * 5
    assert getattr(read_head(log.folder), "number", None) == 21


@pytest.mark.parametrize("threads", [1, 3], ids="{} threads".format)
def test_writers_that_are_killed_at_any_moment_lose_no_committed_call(tmp_path: Path, threads: int) -> None:
    committed = kill_writers(tmp_path, 13, writers=3, threads=threads, random_=random.Random(7))
    log = AuditLog(tmp_path / "log", tmp_path / "key")
    write_calls(log, 1)
    assert verify(log.folder).broken is None
    assert committed
    assert committed <= {call.start["call"] for call in read_calls(log.folder)}


def test_a_call_whose_start_cannot_be_recorded_is_an_error(
    log: AuditLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = os.open

    def open_full(path: Path, *arguments: int) -> int:
        return opened("/dev/full", os.O_WRONLY) if path.suffix == ".jsonl" else opened(path, *arguments)

    monkeypatch.setattr(audit_log, "check_private", lambda *_: None)
    monkeypatch.setattr(os, "open", open_full)
    with pytest.raises(WriteError, match="the file cannot be written: No space left on device"):
        write_calls(log, 1)
    monkeypatch.undo()
    write_calls(log, 1)
    check_holds(log, 22)


def test_a_partly_written_line_is_removed_again(log: AuditLog, monkeypatch: pytest.MonkeyPatch) -> None:
    write = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: write(descriptor, data[: len(data) // 2]))
    with pytest.raises(WriteError, match="No space left on device"):
        write_calls(log, 1)
    monkeypatch.undo()
    assert check_holds(log, 20).notes == ()
    write_calls(log, 1)
    check_holds(log, 22)


@pytest.mark.parametrize("name", ["audit.jsonl", HEAD_NAME])
def test_a_link_in_the_place_of_a_file_of_the_log_is_an_error(tmp_path: Path, name: str) -> None:
    (tmp_path / "log").mkdir()
    (tmp_path / "victim").write_bytes(b"mine\n")
    (tmp_path / "log" / name).symlink_to(tmp_path / "victim")
    with pytest.raises(WriteError):
        write_calls(AuditLog(tmp_path / "log", tmp_path / "key"), 1)
    assert (tmp_path / "victim").read_bytes() == b"mine\n"


def test_a_key_of_another_size_or_a_link_to_one_is_an_error(tmp_path: Path) -> None:
    log = AuditLog(tmp_path / "log", tmp_path / "key")
    (tmp_path / "key").mkdir()
    (tmp_path / "key" / KEY_NAME).write_bytes(b"short")
    with pytest.raises(InputError, match="has 5 bytes, not 32"):
        write_calls(log, 1)
    (tmp_path / "key" / KEY_NAME).unlink()
    (tmp_path / "real").write_bytes(b"k" * 32)
    (tmp_path / "key" / KEY_NAME).symlink_to(tmp_path / "real")
    with pytest.raises(DroidgateError):
        write_calls(log, 1)
    assert verify(log.folder).records == 0


def test_a_folder_in_the_place_of_a_file_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "log" / "audit.jsonl").mkdir(parents=True)
    log = AuditLog(tmp_path / "log", tmp_path / "key")
    with pytest.raises(DroidgateError, match="Is a directory"):
        write_calls(log, 1)
    with pytest.raises(InputError, match="Is a directory"):
        verify(log.folder)


def test_the_head_names_only_records_on_the_disk(log: AuditLog, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_descriptor: int) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(WriteError, match="Input/output error"):
        write_calls(log, 1)
    monkeypatch.undo()
    assert getattr(read_head(log.folder), "number", None) == 20
    check_holds(log, 21)
    write_calls(log, 1)
    check_holds(log, 23)


def _edit(lines: Lines, draw: random.Random) -> Lines:
    """Return lines after one edit that is neither at the start nor at the end alone."""
    edited = list(lines)
    at = draw.randrange(1, len(lines) - 1)
    kind = draw.randrange(4)
    if kind == 0:
        del edited[at : at + draw.randrange(1, len(lines) - at)]
    elif kind == 1:
        edited.insert(draw.randrange(len(lines) + 1), edited[at])
    elif kind == 2:
        places = [place for place in range(len(lines)) if place != at]
        edited.insert(draw.choice(places), edited.pop(at))
    else:
        record = json.loads(edited[at])
        record[draw.choice(sorted(record))] = draw.choice(["x", 0, None, [1]])
        record["digest"] = digest_of_record(record)
        edited[at] = json.dumps(record, sort_keys=True, separators=(",", ":")).encode() + b"\n"
    return edited


def test_every_edit_within_the_log_breaks_the_chain(log: AuditLog) -> None:
    path = log_file(log.folder)
    lines = path.read_bytes().splitlines(keepends=True)
    draw = random.Random(9)
    unseen = []
    for _ in range(400):
        edited = _edit(lines, draw)
        path.write_bytes(b"".join(edited))
        if edited != lines and verify(log.folder).broken is None:
            unseen.append(edited)
    assert unseen == []

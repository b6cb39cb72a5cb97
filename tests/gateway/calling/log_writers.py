"""Processes that write an audit log, and are ended at a random moment."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from pathlib import Path

from droidgate.calls.audit_log import AuditLog
from droidgate.calls.policy import Decision
from droidgate.calls.subjects import CallEffect, CallSubject

SUBJECT = CallSubject(
    serial="emulator-5554",
    user=0,
    package="com.example.notes",
    component="com.example.notes.Tools",
    protocol="mmcp",
    capability="createNote",
    effect=CallEffect.WRITES,
    client="cli",
)
ALLOWED = Decision("allow", "default", "the capability only reads")


def write_calls(log: AuditLog, count: int, **arguments: object) -> list[str]:
    """Write calls and return their ids."""
    ids = []
    for number in range(count):
        call = log.start(SUBJECT, pin=None, arguments={**arguments, "number": number}, decision=ALLOWED)
        log.end(call, route="content", result="ok", duration_ms=number)
        ids.append(call.id)
    return ids


def kill_writers(folder: Path, kills: int, *, writers: int, threads: int, random_: random.Random) -> set[str]:
    """End writers of one log by SIGKILL, one after the other, and return the ids of committed calls.

    A call is committed when `start` has returned; the writer says so by a pipe.

    Args:
        folder: Where the log and its key are.
        kills: How many writers are ended.
        writers: How many write at the same time.
        threads: How many threads of each writer share a log.
        random_: Draws the moments: up to 20 ms after a writer's first record.
    """
    reader, writer = os.pipe()
    running: list[int] = []
    committed = bytearray()
    os.set_blocking(reader, False)
    try:
        for _ in range(kills):
            while len(running) < writers:
                running.append(_start_writer(folder, writer, threads))
            time.sleep(random_.uniform(0, 0.02))
            _read_available(reader, committed)
            ended = running.pop(random_.randrange(len(running)))
            os.kill(ended, signal.SIGKILL)
            os.waitpid(ended, 0)
    finally:
        for process in running:
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)
        _read_available(reader, committed)
        os.close(reader)
        os.close(writer)
    return set(committed.decode().split())


def _start_writer(folder: Path, reports: int, threads: int) -> int:
    process = os.fork()
    if process:
        return process
    try:
        log = AuditLog(folder / "log", folder / "key", rotate_at=20_000)
        for _ in range(threads - 1):
            threading.Thread(target=_write_on, args=(log, reports), daemon=True).start()
        _write_on(log, reports)
    finally:
        os._exit(1)


def _write_on(log: AuditLog, reports: int) -> None:
    number = 0
    while True:
        call = log.start(SUBJECT, pin=None, arguments={"number": number}, decision=ALLOWED)
        os.write(reports, f"{call.id}\n".encode())
        log.end(call, route="content", result="ok", duration_ms=number)
        number += 1


def _read_available(reader: int, data: bytearray) -> None:
    while True:
        try:
            part = os.read(reader, 1 << 16)
        except BlockingIOError:
            return
        if not part:
            return
        data += part

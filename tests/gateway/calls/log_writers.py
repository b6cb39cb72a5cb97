"""Processes that write an audit log, and are ended at a random moment."""

from __future__ import annotations

import asyncio
import hashlib
import json
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
        call.record.wait()
        log.end(call, route="content", result="ok", duration_ms=number).wait()
        ids.append(call.id)
    return ids


def digest_of_record(record: dict[str, object]) -> str:
    """Return the digest that a record has to have: SHA-256 of its line without the digest."""
    rest = {name: value for name, value in record.items() if name != "digest"}
    line = json.dumps(rest, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(f"{line}\n".encode()).hexdigest()


def kill_writers(folder: Path, kills: int, *, writers: int, threads: int, random_: random.Random) -> set[str]:
    """End writers of one log by SIGKILL, one after the other, and return the ids of committed calls.

    A call is committed when `start` has returned; the writer says so by a pipe.

    Args:
        folder: Where the log and its key are.
        kills: How many writers are ended.
        writers: How many write at the same time.
        threads: How many threads of each writer share a log, next to an event loop with two tasks.
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
        log = AuditLog(folder / "log", folder / "key")
        for _ in range(threads):
            threading.Thread(target=_write_on, args=(log, reports), daemon=True).start()
        asyncio.run(_write_on_loop(log, reports))
    finally:
        os._exit(1)


def _write_on(log: AuditLog, reports: int) -> None:
    number = 0
    while True:
        call = log.start(SUBJECT, pin=None, arguments={"number": number}, decision=ALLOWED)
        call.record.wait()
        os.write(reports, f"{call.id}\n".encode())
        log.end(call, route="content", result="ok", duration_ms=number).wait()
        number += 1


async def _write_on_loop(log: AuditLog, reports: int) -> None:
    async def write() -> None:
        while True:
            call = log.start(SUBJECT, pin=None, arguments={}, decision=ALLOWED)
            await call.record.wait_on_loop()
            os.write(reports, f"{call.id}\n".encode())
            await log.end(call, route="content", result="ok", duration_ms=1).wait_on_loop()

    await asyncio.gather(write(), write())


def _read_available(reader: int, data: bytearray) -> None:
    while True:
        try:
            part = os.read(reader, 1 << 16)
        except BlockingIOError:
            return
        if not part:
            return
        data += part

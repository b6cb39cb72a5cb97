"""Scanning with processes that a hostile file may end: it costs its worker, not the scan.

Each worker is driven by a thread that sends it an input and takes the answer. A worker that dies, or takes
too long, is replaced; the input that it was at becomes a result with its reason. One that a worker died of is
tried once more first: it may have been somebody else who ended it.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from queue import Empty, Queue
from typing import Any, BinaryIO, Final, cast

from droidgate.coverage.scan_inputs import Item
from droidgate.coverage.scan_results import Scanned, read_frame, write_frames
from droidgate.coverage.worker import OUT_OF_MEMORY, READY, SCAN_ONE
from droidgate_mappings.model.errors import DroidgateError
from droidgate_mappings.records import dataclass

_LOOKS_EACH: Final = 0.05
_QUEUED: Final = 64


@dataclass(frozen=True, slots=True)
class PoolSettings:
    """How a pool works.

    Attributes:
        workers: How many processes.
        memory: Bytes that each may take beyond what it takes to start.
        deadline: Seconds that one input may take.
        known_file: File of known units, None for none.
        work: What a worker does, `module:function`.
        ends_at: The time by `time.monotonic` from which on no more answers come.
    """

    workers: int = 1
    memory: int = 1 << 30
    deadline: float = 60.0
    known_file: str | None = None
    work: str = SCAN_ONE
    ends_at: float = math.inf


@dataclass(frozen=True, slots=True)
class PoolAnswer:
    """The outcome of one input: the head of the result, and its rows as a JSON text or nothing."""

    item: Item
    head: dict[str, Any]
    rows: bytes = b""

    @classmethod
    def of(cls, item: Item, scanned: Scanned) -> PoolAnswer:
        """Return the answer that a worker would have sent."""
        head, rows = scanned.encode()
        return cls(item, json.loads(head), rows)


class _Worker:
    """One process.

    Raises:
        DroidgateError: it cannot be started.
    """

    def __init__(self, settings: PoolSettings) -> None:
        module = "droidgate.coverage.worker"
        limits = (str(settings.memory), str(settings.deadline))
        command = [sys.executable, "-P", "-m", module, *limits, settings.work, settings.known_file or ""]
        quiet = None if os.environ.get("DROIDGATE_TRACEBACK") == "1" else subprocess.DEVNULL
        self._process = subprocess.Popen(  # noqa: S603 - our own module
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=quiet,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(item for item in sys.path if item)},
            start_new_session=True,
        )
        self._incoming = cast("BinaryIO", self._process.stdout)
        self._outgoing = cast("BinaryIO", self._process.stdin)
        self._clock = threading.Lock()
        self._started: float | None = None
        self.is_late = False
        if read_frame(self._incoming) != READY:
            self.end()
            hint = "DROIDGATE_TRACEBACK=1 shows what it says"
            raise DroidgateError("a worker process cannot be started", hint=hint)

    @property
    def process_id(self) -> int:
        return self._process.pid

    @property
    def has_ended(self) -> bool:
        """The process is not there any more."""
        return self._process.poll() is not None

    def send(self, frame: bytes) -> None:
        with suppress(OSError):  # it has died, and `receive` returns None
            write_frames(self._outgoing, frame)

    def receive(self) -> tuple[bytes, bytes] | None:
        """Return the next answer, None where the worker has died."""
        self._set_clock(time.monotonic())
        try:
            head, rows = read_frame(self._incoming), read_frame(self._incoming)
        except (OSError, ValueError):
            return None
        finally:
            self._set_clock(None)
        return None if head is None or rows is None else (head, rows)

    def _set_clock(self, started: float | None) -> None:
        with self._clock:
            self._started = started

    def check(self, now: float, deadline: float) -> None:
        """End the process where its input takes too long; never for an input that has its answer."""
        with self._clock:
            if self._started is not None and now - self._started > deadline:
                self.is_late = True
                self._process.kill()

    def end(self) -> None:
        self._process.kill()
        for stream in (self._incoming, self._outgoing):
            try:
                stream.close()
            except OSError:
                continue
        self._process.wait()


class ProcessPool:
    """Processes that scan inputs.

    Args:
        settings: How it works.
    """

    def __init__(self, settings: PoolSettings) -> None:
        self._settings = settings
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._queue: Queue[PoolAnswer | BaseException | None] = Queue(_QUEUED)
        self._workers: dict[int, _Worker] = {}

    def run(self, items: Iterable[Item]) -> Iterator[PoolAnswer]:
        """Yield an answer for each input, as they come; none after the end of the time.

        Raises:
            DroidgateError: no worker can be started.
        """
        source = iter(items)
        count = self._settings.workers
        threads = [
            threading.Thread(target=self._drive, args=(number, source), daemon=True)
            for number in range(count)
        ]
        self.begin_watching()
        for thread in threads:
            thread.start()
        try:
            while count:
                try:
                    answer = self._queue.get(timeout=self._seconds_left())
                except Empty:
                    return
                if answer is None:
                    count -= 1
                elif isinstance(answer, PoolAnswer):
                    yield answer
                else:
                    raise answer
        finally:
            self.stop(threads)

    def _seconds_left(self) -> float | None:
        ends_at = self._settings.ends_at
        return None if ends_at == math.inf else max(0.0, ends_at - time.monotonic())

    def begin_watching(self) -> None:
        """Look after the deadlines of the workers, in a thread."""
        threading.Thread(target=self._watch, daemon=True).start()

    def stop(self, threads: Iterable[threading.Thread] = ()) -> None:
        """End the workers, and wait for the threads that drive them."""
        self._stopped.set()
        with self._lock:
            workers = list(self._workers.values())
        for worker in workers:
            worker.end()
        for thread in threads:
            while thread.is_alive():
                while not self._queue.empty():
                    self._queue.get()
                thread.join(_LOOKS_EACH)

    def _watch(self) -> None:
        while not self._stopped.wait(_LOOKS_EACH):
            now = time.monotonic()
            with self._lock:
                workers = list(self._workers.values())
            for worker in workers:
                worker.check(now, self._settings.deadline)

    def _drive(self, number: int, source: Iterator[Item]) -> None:
        driver = _Driver(self, number)
        try:
            while (item := self.next_item(source)) is not None and (answer := driver.scan(item)) is not None:
                self._queue.put(answer)
            driver.end()
            self._queue.put(None)
        except BaseException as error:  # noqa: BLE001 - raised where the answers are taken
            if not self._stopped.is_set():
                self._queue.put(error)

    def next_item(self, source: Iterator[Item]) -> Item | None:
        """Return the next input for the process that asks, None when there is none."""
        with self._lock:
            return None if self._stopped.is_set() else next(source, None)

    def start_worker(self, number: int) -> _Worker:
        """Start the worker of a driver, in place of the one that it had."""
        worker = _Worker(self._settings)
        with self._lock:
            self._workers[number] = worker
        if self._stopped.is_set():
            worker.end()
        return worker

    def end_worker(self, number: int, worker: _Worker) -> None:
        """End the worker of a driver."""
        with self._lock:
            self._workers.pop(number, None)
        worker.end()

    @property
    def is_stopped(self) -> bool:
        """Nobody takes answers any more."""
        return self._stopped.is_set()

    def why_it_ended(self, item: Item, *, is_late: bool) -> Scanned:
        """Return the result for an input that has cost its worker."""
        if is_late:
            reason = f"it takes more than {self._settings.deadline:g} seconds"
            return Scanned.failed(item.source, "too-slow", reason)
        return Scanned.failed(item.source, "crashed", "its worker process died of it, twice")


class StandingWorker:
    """One guarded process that stays between batches of inputs, as next to a worker of a cluster.

    Args:
        settings: How it works; the number of workers does not count.
    """

    def __init__(self, settings: PoolSettings) -> None:
        self._pool = ProcessPool(settings)
        self._driver = _Driver(self._pool, 0)
        self._pool.begin_watching()

    def scan(self, items: Iterable[Item]) -> list[PoolAnswer]:
        """Return the answers for some inputs, in their order.

        Raises:
            DroidgateError: the process cannot be started.
        """
        return [answer for item in items if (answer := self._driver.scan(item)) is not None]

    @property
    def has_ended(self) -> bool:
        """The process has ended itself; the next input gets a new one."""
        return self._driver.worker_has_ended

    def end(self) -> None:
        """End the process."""
        self._pool.stop()
        self._driver.end()


class _Driver:
    """Drives one worker after the other."""

    def __init__(self, pool: ProcessPool, number: int) -> None:
        self._pool = pool
        self._number = number
        self._worker: _Worker | None = None

    def end(self) -> None:
        """Let the worker go."""
        if self._worker is not None:
            self._pool.end_worker(self._number, self._worker)
            self._worker = None

    @property
    def worker_has_ended(self) -> bool:
        """The worker is not there any more."""
        return self._worker is not None and self._worker.has_ended

    def scan(self, item: Item) -> PoolAnswer | None:
        """Return the answer of a worker, or what ended two of them; None where nobody takes answers."""
        is_late = False
        for _ in range(2):
            if self.worker_has_ended:
                self.end()  # it had nothing to do for so long that it has ended itself: no input's fault
            if self._worker is None:
                self._worker = self._pool.start_worker(self._number)
            worker = self._worker
            worker.send(json.dumps(item.as_json()).encode())
            received = worker.receive()
            is_late = worker.is_late
            if received is not None:
                answer = PoolAnswer(item, json.loads(received[0]), received[1])
                if is_late or answer.head["outcome"] == OUT_OF_MEMORY:
                    self.end()
                return answer
            if self._pool.is_stopped:
                return None
            self.end()
            if is_late:
                break
        return PoolAnswer.of(item, self._pool.why_it_ended(item, is_late=is_late))

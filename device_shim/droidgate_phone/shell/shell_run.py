"""What one run of the shell may take, and the pipes between its commands."""

from __future__ import annotations

import contextlib
import errno
import itertools
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from droidgate_phone.common.streams import InputStream, OutputStream, read_to_end
from droidgate_phone.files.phone_files import VirtualFileError
from droidgate_phone.shell.shell_errors import BudgetExceededError

PIPE_CAPACITY: Final = 1 << 16
_WAKE_SECONDS: Final = 0.5


@dataclass(frozen=True, slots=True)
class ShellBudget:
    """What a run may take.

    Attributes:
        seconds: From its start to its end.
        steps: Commands.
        output: Bytes written to the streams it was given.
        input: Bytes that its commands read, from files and from each other.
        memory: Bytes that one command reads before it does anything with them.
        text: Characters of one expanded word.
        fields: Words that one command line expands to.
        threads: Commands of pipelines at one time.
        depth: Scripts and subshells inside each other.
    """

    seconds: float = 600.0
    steps: int = 1_000_000
    output: int = 1 << 30
    input: int = 1 << 32
    memory: int = 1 << 26
    text: int = 1 << 24
    fields: int = 100_000
    threads: int = 64
    depth: int = 40


_EXCEEDED: Final = {
    "steps": "it took more than {} steps",
    "output": "it wrote more than {} bytes",
    "input": "its commands read more than {} bytes",
    "memory": "a command read more than {} bytes at one time",
    "text": "a text grew beyond {} characters",
    "fields": "a command line grew beyond {} words",
    "threads": "more than {} commands run at one time",
    "depth": "commands are nested deeper than {}",
}
"""What is said where a run takes more than its budget, by the budget's attribute."""


class ShellRun:
    """Counts what a run takes; all its threads share it.

    Its counting methods raise BudgetExceededError when it is too much, and ever after.
    """

    def __init__(self, budget: ShellBudget) -> None:
        self.budget = budget
        self.over = threading.Event()
        self.refusal: Exception | None = None
        self._end = time.monotonic() + budget.seconds
        self._lock = threading.Lock()
        self._listeners: dict[int, Callable[[], None]] = {}
        self._numbers = itertools.count()
        self._counts: Counter[str] = Counter()
        self._threads = 0

    def stop(self, error: Exception) -> None:
        """End the whole run; the first reason counts."""
        with self._lock:
            self.refusal = self.refusal or error
            self.over.set()
            listeners, self._listeners = list(self._listeners.values()), {}
        for listener in listeners:
            listener()

    def on_end(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Have a listener called when the run is ended, at once where it was; return what forgets it."""
        with self._lock:
            if not self.over.is_set():
                number = next(self._numbers)
                self._listeners[number] = listener
                return lambda: self._forget(number)
        listener()
        return lambda: None

    def _forget(self, number: int) -> None:
        with self._lock:
            self._listeners.pop(number, None)

    def check(self) -> None:
        """Raise where the run is over, or its time is."""
        if self.over.is_set():
            raise BudgetExceededError("it was ended")
        if time.monotonic() > self._end:
            raise BudgetExceededError(f"it took longer than {self.budget.seconds:g} s")

    def count(self, what: str, size: int = 1) -> None:
        """Count what is added up over the run: `steps`, `output`, `input`; then check."""
        self._counts[what] += size
        self.require(what, self._counts[what])
        self.check()

    def require(self, what: str, size: int) -> None:
        """Raise where a command, a word or a line takes more than the budget has of something."""
        limit = getattr(self.budget, what)
        if size > limit:
            raise BudgetExceededError(_EXCEEDED[what].format(limit))

    @contextlib.contextmanager
    def threads(self, count: int) -> Iterator[None]:
        """Count threads for as long as they live."""
        with self._lock:
            self.require("threads", self._threads + count)
            self._threads += count
        try:
            yield
        finally:
            with self._lock:
                self._threads -= count

    def sleep(self, seconds: float) -> None:
        """Wait, but not beyond the end of the run."""
        end = time.monotonic() + seconds
        while (remaining := end - time.monotonic()) > 0:
            self.check()
            self.over.wait(min(remaining, max(self._end - time.monotonic(), 0.0) + 0.001))


class CountedOutput:
    """A stream of the caller, with what goes there counted; `uncounted` is that stream itself."""

    def __init__(self, output: OutputStream, run: ShellRun) -> None:
        self.uncounted = output
        self._run = run

    def write(self, data: bytes) -> None:
        """Write, and count."""
        self._run.count("output", len(data))
        self.uncounted.write(data)


class CheckedOutput:
    """What a command writes to; ends the command with the run, also where its output is not counted."""

    def __init__(self, output: OutputStream, run: ShellRun) -> None:
        self._output = output
        self._run = run

    def write(self, data: bytes) -> None:
        """Write, unless the run has ended."""
        self._run.check()
        self._output.write(data)


class CountedInput:
    """What a command reads from, with that counted."""

    def __init__(self, source: InputStream, run: ShellRun) -> None:
        self._source = source
        self._run = run

    def read(self, limit: int = -1) -> bytes:
        """Read, and count; all there is comes in pieces, so that a source without end is noticed."""
        if limit < 0:
            pieces = bytearray()
            while piece := self.read(PIPE_CAPACITY):
                pieces += piece
                self._run.require("memory", len(pieces))
            return bytes(pieces)
        self._run.check()
        data = self._source.read(min(limit, self._run.budget.memory))
        self._run.count("input", len(data))
        return data


class ClosedStream:
    """A stream that is not open in this direction: everything fails with EBADF."""

    def read(self, limit: int = -1) -> bytes:
        """Fail."""
        del limit
        raise VirtualFileError(errno.EBADF)

    def write(self, data: bytes) -> None:
        """Fail."""
        del data
        raise VirtualFileError(errno.EBADF)


class Pipe:
    """Bytes from one command to the next; a writer waits while it is full, a reader while it is empty.

    Args:
        run: What its commands count for.
        is_bounded: Whether it is ever full; otherwise it takes all that the run's budget has for one command.
    """

    def __init__(self, run: ShellRun, *, is_bounded: bool = True) -> None:
        self.is_bounded = is_bounded
        self._run = run
        self._capacity = PIPE_CAPACITY if is_bounded else run.budget.memory + 1
        self._data = bytearray()
        self._changed = threading.Condition()
        self._writer_open = True
        self._reader_open = True

    def write(self, data: bytes) -> None:
        """Write all of it.

        Raises:
            BrokenPipeError: nobody reads any more.
        """
        rest = memoryview(data)
        with self._changed:
            while rest:
                while self._reader_open and len(self._data) >= self._capacity:
                    self._wait()
                if not self._reader_open:
                    raise BrokenPipeError(errno.EPIPE, "Broken pipe")
                room = self._capacity - len(self._data)
                self._data += rest[:room]
                rest = rest[room:]
                if not self.is_bounded:
                    self._run.require("memory", len(self._data))
                self._changed.notify_all()

    def read(self, limit: int = -1) -> bytes:
        """Return up to `limit` bytes as soon as there are any, all until the writer closes for -1."""
        if limit < 0:
            return read_to_end(self)
        with self._changed:
            while self._writer_open and not self._data:
                self._wait()
            data = bytes(self._data[:limit])
            del self._data[:limit]
            self._changed.notify_all()
            return data

    def close_writer(self) -> None:
        """End the input of the reader."""
        with self._changed:
            self._writer_open = False
            self._changed.notify_all()

    def close_reader(self) -> None:
        """End the stream for the writer: nobody reads any more."""
        with self._changed:
            self._reader_open = False
            self._changed.notify_all()

    def _wait(self) -> None:
        self._run.check()
        self._changed.wait(_WAKE_SECONDS)


Stream = InputStream | OutputStream


@dataclass(frozen=True, slots=True)
class Streams:
    """The three streams of a command."""

    input: InputStream
    output: OutputStream
    error: OutputStream


class RunningHere(threading.local):
    """The run that a thread works for, so that `sh`, started as a command, counts for it as well."""

    run: ShellRun | None = None
    depth: int = 0


HERE: Final = RunningHere()

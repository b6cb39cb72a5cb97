"""The phone's time, and waiting on it.

The phone's threads wait on a clock only, so that a test can put a `StillClock` in: its time stands while
anybody works and jumps to the next deadline when everybody waits. Timeouts then need no waiting and are
exact.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Final, Protocol


class Signal(Protocol):
    """Something that happens once."""

    def set(self) -> None:
        """Mark it as happened."""

    def is_set(self) -> bool:
        """Return whether it has happened."""


class Clock(Protocol):
    """Time, and waiting."""

    def now(self) -> float:
        """Return the phone's time in seconds since 1970 UTC."""

    def signal(self) -> Signal:
        """Return a signal that can be waited for on this clock."""

    def wait(self, signal: Signal, seconds: float) -> bool:
        """Wait until the signal is set or the time is over; return whether it is set."""

    def work_added(self) -> None:
        """Count work that was given to a thread; `working` takes it."""

    @contextmanager
    def working(self) -> Iterator[None]:
        """Do the work that was added; time inside `wait` does not count as work."""

    def work_dropped(self) -> None:
        """Uncount work that was added and will never be done."""


def start_work(clock: Clock, name: str, work: Callable[[], None]) -> threading.Thread:
    """Start work in a thread of its own, which the clock counts until its end.

    Raises:
        RuntimeError: the host has no thread left; the work is then not counted.
    """

    def run() -> None:
        with clock.working():
            work()

    thread = threading.Thread(target=run, name=name, daemon=True)
    clock.work_added()
    try:
        thread.start()
    except RuntimeError:
        clock.work_dropped()
        raise
    return thread


class _CommandHere(threading.local):
    """The shell command that a thread works for.

    Attributes:
        on_end: Has a listener called when the command is ended from outside, and returns what forgets it;
            None where the thread works for no command.
    """

    on_end: Callable[[Callable[[], None]], Callable[[], None]] | None = None


COMMAND_HERE: Final = _CommandHere()


def wait_for_command(clock: Clock, signal: Signal, seconds: float) -> bool:
    """Wait as `Clock.wait` does, but not beyond the end of the command that this thread works for.

    adbd ends a command whose client is gone (reference android-runtime 3.6); what it asked an app for goes
    on.

    Raises:
        BrokenPipeError: the command was ended.
    """
    on_end = COMMAND_HERE.on_end
    if on_end is None:
        return clock.wait(signal, seconds)
    was_ended = threading.Event()

    def end() -> None:
        was_ended.set()
        signal.set()

    forget = on_end(end)
    try:
        has_happened = clock.wait(signal, seconds)
    finally:
        forget()
    if was_ended.is_set():
        raise BrokenPipeError("the command was ended")
    return has_happened


class SystemSignal:
    """A lock that is free once it has happened: a fraction of what `threading.Event` costs."""

    __slots__ = ("_happened", "_lock")

    def __init__(self) -> None:
        self._happened = False
        self._lock = threading.Lock()
        self._lock.acquire()

    def set(self) -> None:
        """Mark it as happened."""
        self._happened = True
        with suppress(RuntimeError):  # The lock is free where it has happened before.
            self._lock.release()

    def is_set(self) -> bool:
        """Return whether it has happened."""
        return self._happened

    def wait(self, seconds: float) -> bool:
        """Wait so long, and return whether it has happened."""
        if not self._happened and self._lock.acquire(timeout=max(0.0, seconds)):
            # Others may wait for it, too.
            self.set()
        return self._happened


class SystemClock:
    """The host's time."""

    def now(self) -> float:
        """Return the host's time."""
        return time.time()

    def signal(self) -> Signal:
        """Return a signal."""
        return SystemSignal()

    def wait(self, signal: Signal, seconds: float) -> bool:
        """Wait in the host's time."""
        if not isinstance(signal, SystemSignal):
            message = "the signal is of another clock"
            raise TypeError(message)
        return signal.wait(seconds)

    def work_added(self) -> None:
        """Do nothing: this clock does not count work."""

    @contextmanager
    def working(self) -> Iterator[None]:
        """Do nothing: this clock does not count work."""
        yield

    def work_dropped(self) -> None:
        """Do nothing: this clock does not count work."""


@dataclass(slots=True)
class _StillSignal:
    condition: threading.Condition
    happened: bool = False

    def set(self) -> None:
        with self.condition:
            self.happened = True
            self.condition.notify_all()

    def is_set(self) -> bool:
        return self.happened


@dataclass(slots=True, eq=False)
class _Wait:
    signal: Signal
    deadline: float


class StillClock:
    """A time that only passes while everybody waits.

    Args:
        start: Its time at first, in seconds since 1970 UTC.
    """

    def __init__(self, start: float = 1_790_000_000.0) -> None:
        self._now = start
        self._condition = threading.Condition(threading.RLock())
        self._waits: list[_Wait] = []
        self._work = 0
        self._local = threading.local()

    def now(self) -> float:
        """Return the time."""
        with self._condition:
            return self._now

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        with self._condition:
            self._now += seconds
            self._condition.notify_all()

    def signal(self) -> Signal:
        """Return a signal of this clock."""
        return _StillSignal(self._condition)

    def wait(self, signal: Signal, seconds: float) -> bool:
        """Wait; where no work is left, the time jumps to the first deadline."""
        works = getattr(self._local, "works", False)
        with self._condition:
            mine = _Wait(signal, self._now + seconds)
            self._waits.append(mine)
            self._work -= works
            self._jump()
            while not signal.is_set() and self._now < mine.deadline:
                self._condition.wait()
            self._waits.remove(mine)
            self._work += works
            return signal.is_set()

    def work_added(self) -> None:
        """Count work."""
        with self._condition:
            self._work += 1

    @contextmanager
    def working(self) -> Iterator[None]:
        """Count the work done at the end."""
        self._local.works = True
        try:
            yield
        finally:
            self._local.works = False
            self.work_dropped()

    def work_dropped(self) -> None:
        """Count work as done."""
        with self._condition:
            self._work -= 1
            self._jump()

    def _jump(self) -> None:
        if self._work > 0 or not self._waits:
            return
        # A thread that is about to wake up works already.
        if any(wait.signal.is_set() or wait.deadline <= self._now for wait in self._waits):
            return
        self._now = min(wait.deadline for wait in self._waits)
        self._condition.notify_all()

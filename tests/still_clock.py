"""A clock for tests: timeouts need no waiting and are exact."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from droidgate_phone.common.clocks import Clock, Signal


class _StillSignal(Signal):
    def __init__(self, condition: threading.Condition) -> None:
        super().__init__()
        self._condition = condition

    def set(self) -> None:
        with self._condition:
            super().set()
            self._condition.notify_all()


@dataclass(slots=True, eq=False)
class _Wait:
    signal: Signal
    deadline: float


class StillClock(Clock):
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
        with self._condition:
            return self._now

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        with self._condition:
            self._now += seconds
            self._condition.notify_all()

    def signal(self) -> Signal:
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
        with self._condition:
            self._work += 1

    @contextmanager
    def working(self) -> Iterator[None]:
        self._local.works = True
        try:
            yield
        finally:
            self._local.works = False
            self.work_dropped()

    def work_dropped(self) -> None:
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

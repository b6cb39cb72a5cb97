"""Timers on the phone's clock, run by one thread that is there only while one is set."""

from __future__ import annotations

import heapq
import itertools
import threading
from collections.abc import Callable

from droidgate_phone.common.clocks import Clock, Signal


class Timers:
    """What is to be done later on one phone."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._due: list[tuple[float, int, Callable[[], None]]] = []
        self._numbers = itertools.count()
        self._changed: Signal | None = None

    def after(self, seconds: float, code: Callable[[], None]) -> Callable[[], None]:
        """Run code, which has to be quick, after so many seconds.

        Returns:
            What cancels it.
        """
        with self._lock:
            entry = (self._clock.now() + max(0.0, seconds), next(self._numbers), code)
            heapq.heappush(self._due, entry)
            if self._changed is None:
                self._changed = self._clock.signal()
                self._clock.work_added()
                threading.Thread(target=self._loop, name="phone:timers", daemon=True).start()
            elif self._due[0] is entry:
                self._changed.set()
        return lambda: self._cancel(entry)

    def close(self) -> None:
        """Forget everything that is to be done."""
        with self._lock:
            self._due.clear()
            if self._changed is not None:
                self._changed.set()

    def _cancel(self, entry: tuple[float, int, Callable[[], None]]) -> None:
        with self._lock:
            if entry not in self._due:
                return
            is_next = self._due[0] is entry
            self._due.remove(entry)
            heapq.heapify(self._due)
            if is_next and self._changed is not None:
                self._changed.set()

    def _loop(self) -> None:
        with self._clock.working():
            while True:
                with self._lock:
                    if not self._due:
                        self._changed = None
                        return
                    at = self._due[0][0]
                    seconds = at - self._clock.now()
                    if seconds <= 0:
                        code = heapq.heappop(self._due)[2]
                    else:
                        code = None
                        self._changed = changed = self._clock.signal()
                if code is None:
                    self._clock.wait(changed, seconds)
                else:
                    code()

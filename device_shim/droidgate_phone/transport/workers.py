"""Threads that a phone starts, so that none is left when it stops."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Final

MOST_THREADS: Final = 2000


class BusyError(OSError):
    """There are so many threads that no more is started."""


class Workers:
    """Starts threads, up to `MOST_THREADS` at a time, and waits for them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: set[threading.Thread] = set()

    def start(self, name: str, work: Callable[[], None]) -> None:
        """Run `work` in a thread of its own.

        Raises:
            BusyError: too many run.
        """

        def run() -> None:
            try:
                work()
            finally:
                with self._lock:
                    self._running.discard(thread)

        thread = threading.Thread(target=run, name=name, daemon=True)
        with self._lock:
            if len(self._running) >= MOST_THREADS:
                raise BusyError(f"more than {MOST_THREADS} connections and services at one time")
            try:
                # Started before the lock is free: `join` may not meet a thread that has not begun.
                thread.start()
            except RuntimeError as error:  # the host has no thread left
                raise BusyError(str(error)) from error
            self._running.add(thread)

    def has_room(self) -> bool:
        """Whether one more can be started now."""
        with self._lock:
            return len(self._running) < MOST_THREADS

    def join(self, seconds: float) -> list[str]:
        """Wait for all threads; return the names of those that still run after so many seconds."""
        end = time.monotonic() + seconds
        with self._lock:
            running = list(self._running)
        for thread in running:
            if thread is not threading.current_thread():
                thread.join(max(0.0, end - time.monotonic()))
        return sorted(thread.name for thread in running if thread.is_alive())

"""Threads that are kept for later work: to start one costs more than what most commands of a shell do."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import Final

from droidgate_phone.common.clocks import Signal

_IDLE_SECONDS: Final = 5.0
"""How long a thread waits for work before it ends."""

_Work = tuple[Callable[[], None], Signal]


class KeptThreads:
    """Runs each work at once, in a thread that does nothing else meanwhile.

    Args:
        name: Of the threads.

    Attributes:
        working: How many of them work now.
    """

    def __init__(self, name: str) -> None:
        self.working = 0
        self._name = name
        self._lock = threading.Lock()
        self._idle: list[queue.SimpleQueue[_Work]] = []

    def start(self, work: Callable[[], None]) -> Signal:
        """Run work, which raises nothing, and return the signal of its end.

        Raises:
            RuntimeError: the host has no thread left.
        """
        ended = Signal()
        with self._lock:
            inbox = self._idle.pop() if self._idle else None
            self.working += 1
        if inbox is None:
            inbox = queue.SimpleQueue()
            try:
                threading.Thread(target=self._serve, args=[inbox], name=self._name, daemon=True).start()
            except RuntimeError:
                with self._lock:
                    self.working -= 1
                raise
        inbox.put((work, ended))
        return ended

    def _serve(self, inbox: queue.SimpleQueue[_Work]) -> None:
        while True:
            try:
                work, ended = inbox.get(timeout=_IDLE_SECONDS)
            except queue.Empty:
                with self._lock:
                    if inbox in self._idle:
                        self._idle.remove(inbox)
                        return
                # Work was just given to it.
                continue
            try:
                work()
            finally:
                with self._lock:
                    self.working -= 1
                ended.set()
            with self._lock:
                self._idle.append(inbox)

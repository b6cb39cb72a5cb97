"""The phone's time, and waiting on it.

The phone's threads wait on a clock only, and count their work on it, so that a test can have another one,
whose time passes only while everybody waits.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Final


class Signal:
    """Something that happens once: a lock that is free from then on, for a fraction of an Event's costs."""

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


class Clock:
    """The host's time; it does not count work."""

    def now(self) -> float:
        """Return the phone's time in seconds since 1970 UTC."""
        return time.time()

    def signal(self) -> Signal:
        """Return a signal that can be waited for on this clock."""
        return Signal()

    def wait(self, signal: Signal, seconds: float) -> bool:
        """Wait until the signal is set or the time is over; return whether it is set."""
        return signal.wait(seconds)

    def work_added(self) -> None:
        """Count work that was given to a thread; `working` takes it."""

    @contextmanager
    def working(self) -> Iterator[None]:
        """Do the work that was added; time inside `wait` does not count as work."""
        yield

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

"""Ctrl-C and SIGTERM for servers.

Python raises Ctrl-C at any place of the event loop. A task that was about to go on may then be lost: it never
ends, and what waits for its end uses a core for ever. So a handler only asks the server to stop.
"""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType


@contextlib.contextmanager
def stopped_by_signals(stop: Callable[[], None]) -> Iterator[None]:
    """Ask a server to stop at Ctrl-C and SIGTERM; a second signal of the kind calls `stop` again.

    Ctrl-C is raised again when the server has ended. In other threads than the main one nothing changes.

    Args:
        stop: Called between any two steps of the main thread; must not wait.
    """
    stopped_by: set[int] = set()

    def handle(number: int, _frame: FrameType | None) -> None:
        stopped_by.add(number)
        stop()

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        if signal.SIGINT in stopped_by:
            signal.raise_signal(signal.SIGINT)

"""Standard error of a server: nobody may read it, as with an MCP client that starts one."""

from __future__ import annotations

import io
import os
import queue
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Thread
from typing import Final

_MOST_TEXTS: Final = 1_000
_END_SECONDS: Final = 1.0


class _Texts(io.TextIOBase):
    """Takes texts, which a thread writes to a descriptor; those that find no room are left out."""

    def __init__(self, descriptor: int) -> None:
        self._waiting: queue.Queue[str] = queue.Queue(_MOST_TEXTS)
        self._descriptor = descriptor
        self._thread = Thread(target=self._write_all, daemon=True)
        self._thread.start()

    def write(self, text: str, /) -> int:
        if text:
            with suppress(queue.Full):
                self._waiting.put_nowait(text)
        return len(text)

    def isatty(self) -> bool:
        return os.isatty(self._descriptor)

    def end(self) -> None:
        """Wait until all is written, but not for a reader that does not come."""
        with suppress(queue.Full):
            self._waiting.put_nowait("")
            self._thread.join(_END_SECONDS)

    def _write_all(self) -> None:
        while text := self._waiting.get():
            data = text.encode("utf-8", "backslashreplace")
            with suppress(OSError):
                while data:
                    data = data[os.write(self._descriptor, data) :]


@contextmanager
def errors_that_nobody_need_read() -> Iterator[None]:
    """Write to standard error in a thread: where its reader does not read, a server goes on nevertheless."""
    before = sys.stderr
    try:
        texts = _Texts(before.fileno())
    except (AttributeError, OSError):
        yield
        return
    before.flush()
    sys.stderr = texts
    try:
        yield
    finally:
        sys.stderr = before
        texts.end()

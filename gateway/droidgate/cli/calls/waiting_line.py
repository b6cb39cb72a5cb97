"""The line on a terminal that says what a call waits for."""

from __future__ import annotations

import os
import shutil
import sys
import threading
from typing import Final, Self

from droidgate.calls.call_requests import CallProgress
from droidgate.cli.output.safe_text import one_line
from droidgate.cli.output.verbosity import shows_notes

_CLEAR: Final = "\r\x1b[K"


class WaitingLine:
    """One line on standard error that each report replaces, and that is gone at the end.

    A call that is answered within a second has no line; where standard error is not a terminal, no call has.
    """

    def __init__(self) -> None:
        self._is_shown = shows_notes() and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self._is_there = False
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.clear()

    def show(self, progress: CallProgress) -> None:
        """Show a report."""
        if not self._is_shown:
            return
        columns = shutil.get_terminal_size().columns
        seconds = f" ({progress.seconds:.0f} s)"
        text = one_line(progress.text)[: max(0, columns - len(seconds) - 1)]
        with self._lock:
            self._is_there = True
            print(f"{_CLEAR}{text}{seconds}", end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        """Remove the line."""
        with self._lock:
            if self._is_there:
                self._is_there = False
                print(_CLEAR, end="", file=sys.stderr, flush=True)

"""One line on a terminal that says what a run is doing; it is gone as soon as anything else is printed."""

from __future__ import annotations

import os
import shutil
import sys
import threading
import time
from collections.abc import Callable
from contextvars import Context, copy_context
from typing import Final, TypeVar

from droidgate.cli.output.safe_text import one_line
from droidgate.cli.output.verbosity import prints_steps, shows_notes
from droidgate_mappings.timed_steps import open_steps

_CLEAR: Final = "\r\x1b[K"
_SILENCE: Final = 1.0
"""Seconds of a run without a line, so that a quick one has none."""
_INTERVAL: Final = 0.5

_Result = TypeVar("_Result")

_lock: Final = threading.Lock()
_is_there: Final = threading.Event()


def show_waiting_line(text: str, seconds: float) -> None:
    """Replace the line; nothing is printed where standard error is not a terminal, or no notes are shown.

    Args:
        text: What the run does; untrusted.
        seconds: For how long.
    """
    if not _is_possible():
        return
    time_spent = f" ({seconds:.0f} s)"
    columns = shutil.get_terminal_size().columns - len(time_spent) - 1
    with _lock:
        _is_there.set()
        print(f"{_CLEAR}{one_line(text)[: max(0, columns)]}{time_spent}", end="", file=sys.stderr, flush=True)


def clear_waiting_line() -> None:
    """Remove the line, before something else is printed."""
    if _is_there.is_set():
        with _lock:
            _is_there.clear()
            print(_CLEAR, end="", file=sys.stderr, flush=True)


def run_with_steps_shown(work: Callable[[], _Result]) -> _Result:
    """Return what some work returns; show its innermost open step as the line once it lasts over a second.

    A moment without an open step has no line: somebody may be asked a question.
    """
    if not _is_possible() or prints_steps():
        return work()
    context, is_over = copy_context(), threading.Event()
    thread = threading.Thread(target=_show_steps, args=(context, is_over), daemon=True)
    thread.start()
    try:
        return context.run(work)
    finally:
        is_over.set()
        thread.join()
        clear_waiting_line()


def _show_steps(context: Context, is_over: threading.Event) -> None:
    began = time.monotonic()
    is_late = is_over.wait(_SILENCE)
    while not is_late:
        *_, step = "", *open_steps(context)
        if step:
            show_waiting_line(step, time.monotonic() - began)
        else:
            clear_waiting_line()
        is_late = is_over.wait(_INTERVAL)


def _is_possible() -> bool:
    return shows_notes() and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"

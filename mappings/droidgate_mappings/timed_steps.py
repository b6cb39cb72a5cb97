"""Steps of the work with their durations, on the logger `droidgate.steps`, and those that are open.

`--verbose` prints them; a program that uses droidgate gets them from `logging` at the level INFO. A run that
ends at its deadline says which ones it did not finish.
"""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Iterator
from contextvars import Context, ContextVar
from typing import Final

LOGGER: Final = logging.getLogger("droidgate.steps")

_LONGEST: Final = 1000
"""Characters of a step that are logged: a command can be as long as adb takes."""


_open_steps: Final = ContextVar[tuple[str, ...]]("open_steps", default=())


_is_whole: Final = ContextVar("is_whole", default=False)


def in_whole_step() -> bool:
    """Return whether a step is open that a deadline must not end."""
    return _is_whole.get()


@contextlib.contextmanager
def whole_step() -> Iterator[None]:
    """Be in a step that a deadline does not end, such as putting back what was changed."""
    token = _is_whole.set(True)
    try:
        yield
    finally:
        _is_whole.reset(token)


def open_steps(context: Context | None = None) -> tuple[str, ...]:
    """Return the steps that have begun and not ended, the innermost last.

    Args:
        context: Where they were begun, which another thread may be running; None for the caller's own.
    """
    return _open_steps.get() if context is None else context.get(_open_steps, ())


@contextlib.contextmanager
def open_step(text: str) -> Iterator[None]:
    """Be in a step that is not logged, as one of very many; `text` is as `timed_step` takes it."""
    token = _open_steps.set((*_open_steps.get(), text))
    try:
        yield
    finally:
        _open_steps.reset(token)


@contextlib.contextmanager
def timed_step(text: str) -> Iterator[None]:
    """Log a step with its milliseconds when it ends, also where it fails.

    Args:
        text: What is done, such as `read app.apk`. It may be untrusted; printing makes it safe.
    """
    with open_step(text):
        if not LOGGER.isEnabledFor(logging.INFO):
            yield
            return
        with _logged(text):
            yield


@contextlib.contextmanager
def _logged(text: str) -> Iterator[None]:
    began = time.perf_counter()
    outcome = ""
    try:
        yield
    except BaseException:
        outcome = " (failed)"
        raise
    finally:
        spent = (time.perf_counter() - began) * 1000
        label = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
        LOGGER.info("%8.1f ms  %s%s", spent, label, outcome)

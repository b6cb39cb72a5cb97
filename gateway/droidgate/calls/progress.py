"""Reports of a call that takes long: what it waits for, and since when. The time left is not known."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Final, Self

from droidgate_mappings.model.errors import DroidgateError

EVERY_SECONDS: Final = 1.0
ASK_AFTER: Final = 3
"""How many reports of a step pass before each question to the phone about the call's progress."""


@dataclass(frozen=True, slots=True)
class CallProgress:
    """How far a call has come.

    Attributes:
        text: What is being done or waited for, a few words.
        seconds: Since the call began.
    """

    text: str
    seconds: float


ProgressSink = Callable[[CallProgress], None]


class ProgressReports:
    """Reports a call's step each second while the context is open, on a thread of its own.

    Args:
        sink: Gets the reports; None starts no thread.

    Attributes:
        step: What is being done; None while nothing is to be reported, such as while somebody is asked.
        ask: Returns what the phone reports of the call, None where it reports nothing.
    """

    def __init__(self, sink: ProgressSink | None) -> None:
        self.step: str | None = None
        self.ask: Callable[[], str | None] | None = None
        self._sink = sink
        self._began = time.monotonic()
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        if self._sink is not None:
            self._thread = threading.Thread(target=self._report, args=[self._sink], daemon=True)
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        if self._thread is not None:
            self._thread.join()

    def _report(self, sink: ProgressSink) -> None:
        reported, count, text = None, 0, None
        while not self._ended.wait(EVERY_SECONDS):
            step = self.step
            if step is None:
                continue
            if step != reported:
                reported, count, text = step, 0, None
            count += 1
            ask = self.ask
            if ask is not None and count % ASK_AFTER == 0:
                with suppress(DroidgateError):
                    text = ask()
            if step == self.step and not self._ended.is_set():
                sink(CallProgress(text or step, time.monotonic() - self._began))

"""One deadline for a whole command, not one for each read."""

from __future__ import annotations

import selectors
import threading
import time
from dataclasses import dataclass, field
from typing import Final

from droidgate.devices.device_errors import CanceledError, DeadlineError

_CANCEL_SECONDS: Final = 0.05
"""How often a wait looks whether it was canceled."""


@dataclass(frozen=True, slots=True)
class Deadline:
    """A moment by which something has to be complete.

    Attributes:
        seconds: How much time was given.
        doing: What has to be complete, for the error.
        place: On which device, for the error; None for the server itself.
        cancel: Ends the wait before; None where nothing can.
        end: The moment, on the monotonic clock.
    """

    seconds: float
    doing: str
    place: str | None = None
    cancel: threading.Event | None = None
    end: float = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "end", time.monotonic() + self.seconds)

    def remaining(self) -> float:
        """Return the seconds left, more than 0.

        Raises:
            DeadlineError: there are none.
            CanceledError: the event was set.
        """
        if self.cancel is not None and self.cancel.is_set():
            raise CanceledError(f"{self.doing} was canceled", place=self.place)
        left = self.end - time.monotonic()
        if left <= 0:
            raise self.missed()
        return left

    def wait(self, selector: selectors.BaseSelector) -> list[tuple[selectors.SelectorKey, int]]:
        """Return what is ready, at least one.

        Raises:
            DeadlineError: nothing is before the deadline.
            CanceledError: the event was set.
        """
        while True:
            left = self.remaining()
            ready = selector.select(left if self.cancel is None else min(left, _CANCEL_SECONDS))
            if ready:
                return ready

    def missed(self) -> DeadlineError:
        """Return the error that says that it has passed."""
        return DeadlineError(
            f"{self.doing} did not end within {self.seconds:g} s",
            place=self.place,
            hint="look whether the device is awake and its connection good, then try again",
        )

"""One deadline for a whole command, not one for each read."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from droidgate.devices.errors import DeadlineError


@dataclass(frozen=True, slots=True)
class Deadline:
    """A moment by which something has to be complete.

    Attributes:
        seconds: How much time was given.
        doing: What has to be complete, for the error.
        place: On which device, for the error; None for the server itself.
        end: The moment, on the monotonic clock.
    """

    seconds: float
    doing: str
    place: str | None = None
    end: float = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "end", time.monotonic() + self.seconds)

    def remaining(self) -> float:
        """Return the seconds left, more than 0.

        Raises:
            DeadlineError: there are none.
        """
        left = self.end - time.monotonic()
        if left <= 0:
            raise self.missed()
        return left

    def missed(self) -> DeadlineError:
        """Return the error that says that it has passed."""
        return DeadlineError(
            f"{self.doing} did not end within {self.seconds:g} s",
            place=self.place,
            hint="Look whether the device is awake and its connection good, then try again",
        )

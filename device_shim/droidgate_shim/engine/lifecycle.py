"""The life of calls: ids, limits, deadlines, and one end for each (docs/shim-engine.md 3, step 3, and 7).

Time is passed in, in milliseconds of a clock that never goes back. Nothing of a call is kept after its end.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final, Generic, TypeVar

from droidgate.calls.failures import CallError, Failure
from droidgate_shim.engine.authority import Carrier, Limits

Held = TypeVar("Held")

_SECOND_MS: Final = 1_000


@dataclass(frozen=True, slots=True)
class CallKey:
    """What distinguishes calls: the caller, and the id that the caller chose.

    Attributes:
        carrier: How the request came; the callers of the two carriers are apart.
        caller: The sending uid, or for a started call the uid that made the callback.
        request_id: The request's own id, as text.
    """

    carrier: Carrier
    caller: int
    request_id: str

    def has_caller_of(self, other: CallKey) -> bool:
        """Return whether both are of one caller."""
        return (self.carrier, self.caller) == (other.carrier, other.caller)


@dataclass(frozen=True, slots=True)
class Ended(Generic[Held]):
    """A call that has ended.

    Attributes:
        at: When, in ms.
        key: Its caller and id.
        held: What was held for it.
    """

    at: int
    key: CallKey
    held: Held


@dataclass(frozen=True, slots=True)
class _Call(Generic[Held]):
    number: int
    deadline: int
    held: Held


class Lifecycle(Generic[Held]):
    """Which calls are open, and until when.

    Args:
        limits: How many calls may be open.
    """

    def __init__(self, limits: Limits | None = None) -> None:
        self._limits = limits or Limits()
        self._calls: dict[CallKey, _Call[Held]] = {}
        self._numbers = 0
        self.changes = 0
        """How often the set of open calls has changed."""

    def begin(self, now: int, key: CallKey, deadline_ms: int, held: Held) -> int:
        """Open a call.

        Deadlines that have passed have to be ended before: call `advance`.

        Returns:
            The call's number, unlike that of every other call.

        Raises:
            CallError: with the token `busy`: its id is open, or too many calls are.
        """
        self._check_room(now, key)
        self._numbers += 1
        self.changes += 1
        self._calls[key] = _Call(self._numbers, now + deadline_ms, held)
        return self._numbers

    def _check_room(self, now: int, key: CallKey) -> None:
        same = self._calls.get(key)
        if same is not None:
            message = "a request with this id is open; use another id, or wait for its answer"
            raise _busy(message, now, [same.deadline])
        own = [call.deadline for other, call in self._calls.items() if key.has_caller_of(other)]
        if len(own) >= self._limits.open_per_caller:
            raise _busy(f"this app has {len(own)} requests open", now, own)
        if len(self._calls) >= self._limits.open:
            deadlines = [call.deadline for call in self._calls.values()]
            raise _busy(f"{len(deadlines)} requests of all apps are open", now, deadlines)

    def find(self, key: CallKey, number: int) -> Held | None:
        """Return what is held for a call; None where it has ended."""
        call = self._calls.get(key)
        return call.held if call is not None and call.number == number else None

    def restart(self, now: int, key: CallKey, deadline_ms: int) -> int:
        """Begin an open call's deadline anew and return it."""
        call = self._calls[key] = replace(self._calls[key], deadline=now + deadline_ms)
        return call.deadline

    def end(self, now: int, key: CallKey, *, number: int | None = None) -> Ended[Held] | None:
        """End a call, or do nothing where it has ended already.

        Args:
            now: The time.
            key: Its caller and id.
            number: The call's number; without it, whichever is open under the key.
        """
        call = self._calls.get(key)
        if call is None or (number is not None and call.number != number):
            return None
        del self._calls[key]
        self.changes += 1
        return Ended(now, key, call.held)

    def advance(self, now: int) -> list[Ended[Held]]:
        """End the calls whose deadline has passed, in the order of deadlines, then of requests."""
        passed = [
            (call.deadline, call.number, key) for key, call in self._calls.items() if call.deadline <= now
        ]
        ends = (self.end(deadline, key) for deadline, _, key in sorted(passed, key=lambda one: one[:2]))
        return [one for one in ends if one is not None]

    def end_where(self, now: int, concerns: Callable[[Held], bool]) -> list[Ended[Held]]:
        """End the calls of which something is true, in the order of their requests."""
        keys = [key for key, call in self._calls.items() if concerns(call.held)]
        ends = (self.end(now, key) for key in keys)
        return [one for one in ends if one is not None]

    def next_deadline(self) -> int | None:
        """Return when `advance` has to be called next; None where nothing is open."""
        return min((call.deadline for call in self._calls.values()), default=None)

    def held(self) -> list[Held]:
        """Return what is held for the open calls, in the order of their requests."""
        return [call.held for call in self._calls.values()]

    def __len__(self) -> int:
        return len(self._calls)


def _busy(text: str, now: int, deadlines: list[int]) -> CallError:
    """Return the refusal of a request that may be sent again when one of these deadlines has passed."""
    wait_ms = min(deadlines) - now if deadlines else None
    retry = "" if wait_ms is None else f"; retry in at most {-(-wait_ms // _SECOND_MS)} s"
    return CallError(Failure("busy", f"{text}{retry}"))

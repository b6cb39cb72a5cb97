"""The life of calls: bounds, rate, deadlines, and one end for each (docs/shim-engine.md 3.2, 7).

Time is handed in, in milliseconds of a clock that never goes back. After a call has ended nothing of it is
held, and the bucket of a caller is forgotten once it is full again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, Generic, TypeVar

from droidgate.calls.failures import CallError, Failure
from droidgate.calls.requests import OpenRequests, RequestKey
from droidgate_shim.engine.authority import Limits

Held = TypeVar("Held")

_MINUTE_MS: Final = 60_000
_SECOND_MS: Final = 1_000


@dataclass(slots=True)
class TokenBuckets:
    """How many requests each caller may still send; a request is worth a minute's milliseconds."""

    burst: int
    per_minute: int
    _filled: dict[int, tuple[int, int]] = field(default_factory=dict)

    def take(self, caller: int, now: int) -> bool:
        """Take one request from a caller's bucket; false where it is empty."""
        self.forget_full(now)
        amount = self._amount(caller, now)
        if amount < _MINUTE_MS:
            return False
        self._filled.pop(caller, None)
        self._filled[caller] = (amount - _MINUTE_MS, now)
        return True

    def wait(self, caller: int, now: int) -> int | None:
        """Return in how many ms a caller may send its next request; None for never."""
        if not self.per_minute or not self.burst:
            return None
        return -(-max(0, _MINUTE_MS - self._amount(caller, now)) // self.per_minute)

    def _amount(self, caller: int, now: int) -> int:
        full = self.burst * _MINUTE_MS
        if caller not in self._filled:
            return full
        amount, at = self._filled[caller]
        return min(full, amount + (now - at) * self.per_minute)

    def forget_full(self, now: int) -> None:
        """Forget the buckets that have had the time to fill; the one used longest ago comes first."""
        if not self.per_minute:
            return
        longest = -(-self.burst * _MINUTE_MS // self.per_minute)
        while self._filled:
            caller, (_, at) = next(iter(self._filled.items()))
            if at + longest > now:
                break
            del self._filled[caller]

    def __len__(self) -> int:
        return len(self._filled)


@dataclass(frozen=True, slots=True)
class Ended(Generic[Held]):
    """A call that has ended.

    Attributes:
        at: When, in ms.
        key: Its caller and id.
        held: What was held for it.
        token: The failure's, None for a result.
    """

    at: int
    key: RequestKey
    held: Held
    token: str | None


@dataclass(frozen=True, slots=True)
class _Call(Generic[Held]):
    number: int
    deadline: int
    held: Held


def _busy(text: str, bound: str, wait_ms: int | None) -> CallError:
    retry = "" if wait_ms is None else f"; retry in {bound}{-(-wait_ms // _SECOND_MS)} s"
    return CallError(Failure("busy", f"{text}{retry}"))


class Lifecycle(Generic[Held]):
    """Which calls are open, and until when. Not safe for several threads at once: the engine locks.

    Args:
        limits: How much callers may ask for.
    """

    def __init__(self, limits: Limits | None = None) -> None:
        limits = limits or Limits()
        self._open: OpenRequests[_Call[Held]] = OpenRequests(limits.open, limits.open_per_caller)
        self._calls: dict[RequestKey, _Call[Held]] = {}
        self._buckets = TokenBuckets(limits.burst, limits.per_minute)
        self._numbers = 0

    def begin(self, now: int, key: RequestKey, deadline_ms: int, held: Held) -> int:
        """Take a request.

        Deadlines that have passed have to be ended before: call `advance`.

        Returns:
            The call's number, unlike that of every other call.

        Raises:
            CallError: with the token `busy`: its id is open, too many are, or its caller sends too many.
        """
        self._numbers += 1
        call = _Call(self._numbers, now + deadline_ms, held)
        try:
            self._open.open(key, call)
        except CallError as error:
            raise _busy(error.failure.text, "at most ", self._wait_for_room(key, now)) from None
        if not self._buckets.take(key.caller, now):
            self._open.close(key)
            raise _busy("this app sent too many requests", "", self._buckets.wait(key.caller, now))
        self._calls[key] = call
        return call.number

    def _wait_for_room(self, key: RequestKey, now: int) -> int | None:
        """Return in how many ms at the latest a refused request finds room; None where that is not known."""
        same = self._calls.get(key)
        if same is not None:
            return same.deadline - now
        mine = [call.deadline for other, call in self._calls.items() if other.caller == key.caller]
        is_mine = len(mine) >= self._open.limit_per_caller
        ends = mine if is_mine else [call.deadline for call in self._calls.values()]
        return min(ends) - now if ends else None

    def find(self, key: RequestKey, number: int) -> Held | None:
        """Return what is held for a call; None where it has ended."""
        call = self._calls.get(key)
        return call.held if call is not None and call.number == number else None

    def end(
        self, now: int, key: RequestKey, token: str | None = None, *, number: int | None = None
    ) -> Ended[Held] | None:
        """End a call, or do nothing where it has ended already.

        Args:
            now: The time.
            key: Its caller and id.
            token: The failure's, None for a result.
            number: The call's number; without it, whichever is open under the key.
        """
        call = self._calls.get(key)
        if call is None or (number is not None and call.number != number):
            return None
        del self._calls[key]
        self._open.close(key)
        return Ended(now, key, call.held, token)

    def advance(self, now: int) -> list[Ended[Held]]:
        """End the calls whose deadline has passed, in the order of deadlines, then of requests."""
        self._buckets.forget_full(now)
        passed = [
            (call.deadline, call.number, key) for key, call in self._calls.items() if call.deadline <= now
        ]
        ends = (
            self.end(deadline, key, "timeout") for deadline, _, key in sorted(passed, key=lambda one: one[:2])
        )
        return [one for one in ends if one is not None]

    def end_where(self, now: int, token: str, concerns: Callable[[Held], bool]) -> list[Ended[Held]]:
        """End the calls of which something is true, in the order of their requests."""
        keys = [key for key, call in self._calls.items() if concerns(call.held)]
        ends = (self.end(now, key, token) for key in keys)
        return [one for one in ends if one is not None]

    def next_deadline(self) -> int | None:
        """Return when `advance` has to be called next; None where nothing is open."""
        return min((call.deadline for call in self._calls.values()), default=None)

    def held(self) -> list[Held]:
        """Return what is held for the open calls, in the order of their requests."""
        return [call.held for call in self._calls.values()]

    @property
    def size(self) -> tuple[int, int]:
        """How many calls are open, and how many callers' buckets are not known to be full."""
        return len(self._calls), len(self._buckets)

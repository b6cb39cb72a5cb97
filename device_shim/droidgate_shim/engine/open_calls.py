"""The calls that wait for their answer, not too many and with one end each (shim-engine.md 3 and 7).

Times are milliseconds of one clock that never goes back. Nothing of a call is kept after its end.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Generic, TypeVar

from droidgate_mappings.records import dataclass
from droidgate_mappings.values.failures import CallError
from droidgate_shim.engine.authority import CallLimits, Carrier
from droidgate_shim.engine.rates import busy

State = TypeVar("State")

_AT_MOST: Final = "at most "


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


@dataclass(slots=True)
class OpenCall(Generic[State]):
    """A call that is open, or was until now.

    Attributes:
        number: Unlike that of every other call, also of a later one with the same key.
        key: Its caller and id.
        state: What the engine knows of it.
        deadline: When it ends, in ms.
    """

    number: int
    key: CallKey
    state: State
    deadline: int


class OpenCalls(Generic[State]):
    """The open calls, in the order of their requests.

    A call that is closed here is given to its closer, who has to answer it, and to nobody else.

    Args:
        limits: How many calls may be open.
    """

    def __init__(self, limits: CallLimits | None = None) -> None:
        self._limits = limits or CallLimits()
        self._calls: dict[int, OpenCall[State]] = {}
        self._by_key: dict[CallKey, OpenCall[State]] = {}
        self._last_number = 0

    def open(self, key: CallKey, state: State, now: int, deadline: int) -> int:
        """Open a call and return its number.

        Deadlines that have passed have to be ended before: call `expire`.

        Raises:
            CallError: with the token `busy`: its id is open, or too many calls are.
        """
        self._check_room(key, now)
        self._last_number += 1
        call = OpenCall(self._last_number, key, state, deadline)
        self._calls[call.number] = self._by_key[key] = call
        return call.number

    def _check_room(self, key: CallKey, now: int) -> None:
        same = self._by_key.get(key)
        if same is not None:
            _refuse("a request with this id is open; use another id, or wait for its answer", [same], now)
        own = [call for call in self._calls.values() if key.has_caller_of(call.key)]
        if len(own) >= self._limits.open_per_caller:
            _refuse(f"this app has {len(own)} requests open", own, now)
        if len(self._calls) >= self._limits.open:
            _refuse(f"{len(self._calls)} requests of all apps are open", self._calls.values(), now)

    def find(self, number: int) -> State | None:
        """Return the state of a call, None if it has ended."""
        call = self._calls.get(number)
        return None if call is None else call.state

    def extend(self, number: int, deadline: int) -> None:
        """Give an open call another deadline."""
        self._calls[number].deadline = deadline

    def close(self, number: int) -> State | None:
        """Return the state of a call and forget it; None if it has ended."""
        call = self._calls.pop(number, None)
        if call is None:
            return None
        del self._by_key[call.key]
        return call.state

    def expire(self, now: int) -> list[OpenCall[State]]:
        """Return and forget the calls whose deadline has passed, by deadline, then by request."""
        expired = [call for call in self._calls.values() if call.deadline <= now]
        for call in expired:
            self.close(call.number)
        return sorted(expired, key=lambda call: call.deadline)

    def all(self) -> list[OpenCall[State]]:
        """Return the open calls, in the order of their requests, and leave them open."""
        return list(self._calls.values())

    def next_deadline(self) -> int | None:
        """Return when to call `expire` next; None if no call is open."""
        return min((call.deadline for call in self._calls.values()), default=None)


def _refuse(text: str, calls: Iterable[OpenCall[State]], now: int) -> None:
    """Refuse a request that may be sent again when the first of these calls has ended.

    Raises:
        CallError: always.
    """
    wait_ms = min((call.deadline - now for call in calls), default=0)
    raise CallError(busy(text, _AT_MOST, wait_ms))

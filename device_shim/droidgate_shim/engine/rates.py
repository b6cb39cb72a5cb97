"""How often each caller may send a request (shim-engine.md 3, step 1).

Time is passed in, in milliseconds of a clock that never goes back.
"""

from __future__ import annotations

from typing import Final

from droidgate_mappings.records import dataclass, field
from droidgate_mappings.values.failures import Failure
from droidgate_shim.engine.authority import CallLimits, Carrier

_MINUTE_MS: Final = 60_000
_SECOND_MS: Final = 1_000

_Caller = tuple[Carrier, int]


@dataclass(slots=True)
class Rates:
    """A bucket for each caller of each carrier; one request takes a minute's milliseconds from it."""

    limits: CallLimits
    _buckets: dict[_Caller, tuple[int, int]] = field(default_factory=dict)

    def take(self, now: int, carrier: Carrier, caller: int) -> Failure | None:
        """Take one request from a caller's bucket; return why it is refused, None if it is not."""
        self.forget_full(now)
        key = (carrier, caller)
        amount = self._amount(key, now)
        if amount < _MINUTE_MS:
            return busy("this app sent too many requests", "", self._wait_of(amount))
        self._buckets.pop(key, None)
        self._buckets[key] = (amount - _MINUTE_MS, now)
        return None

    def _wait_of(self, amount: int) -> int:
        """Return in how many milliseconds a bucket has enough for a request; 0 for never."""
        if not self.limits.per_minute or not self.limits.burst:
            return 0
        return -(-(_MINUTE_MS - amount) // self.limits.per_minute)

    def _amount(self, key: _Caller, now: int) -> int:
        full = self.limits.burst * _MINUTE_MS
        if key not in self._buckets:
            return full
        amount, at = self._buckets[key]
        return min(full, amount + (now - at) * self.limits.per_minute)

    def forget_full(self, now: int) -> None:
        """Forget the buckets that have had the time to fill; the one used longest ago comes first."""
        if not self.limits.per_minute:
            return
        longest = -(-self.limits.burst * _MINUTE_MS // self.limits.per_minute)
        while self._buckets:
            key, (_, at) = next(iter(self._buckets.items()))
            if at + longest > now:
                break
            del self._buckets[key]

    def __len__(self) -> int:
        return len(self._buckets)


def busy(why: str, bound: str, wait_ms: int) -> Failure:
    """Return a refusal, with the time after which to retry where that is known: where it is positive."""
    retry = "" if wait_ms <= 0 else f"; retry in {bound}{-(-wait_ms // _SECOND_MS)} s"
    return Failure("busy", f"{why}{retry}")

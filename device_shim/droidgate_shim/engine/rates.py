"""How often each caller may send a request (docs/shim-engine.md 3, step 1).

Time is passed in, in milliseconds of a clock that never goes back.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from droidgate.calls.failures import Failure
from droidgate_shim.engine.authority import Carrier

_MINUTE_MS: Final = 60_000
_SECOND_MS: Final = 1_000

_Caller = tuple[Carrier, int]


@dataclass(slots=True)
class Rates:
    """A bucket for each caller of each carrier; one request takes a minute's milliseconds from it.

    Attributes:
        burst: Requests in a full bucket.
        per_minute: Requests that flow into a bucket each minute.
    """

    burst: int
    per_minute: int
    _buckets: dict[_Caller, tuple[int, int]] = field(default_factory=dict)

    def take(self, now: int, carrier: Carrier, caller: int) -> Failure | None:
        """Take one request from a caller's bucket; return why it is refused, None where it may go on."""
        self.forget_full(now)
        key = (carrier, caller)
        amount = self._amount(key, now)
        if amount < _MINUTE_MS:
            return Failure("busy", f"this app sent too many requests{self._retry(amount)}")
        self._buckets.pop(key, None)
        self._buckets[key] = (amount - _MINUTE_MS, now)
        return None

    def _retry(self, amount: int) -> str:
        """Return when the next request is possible; nothing where it never is."""
        if not self.per_minute or not self.burst:
            return ""
        wait_ms = -(-(_MINUTE_MS - amount) // self.per_minute)
        return f"; retry in {-(-wait_ms // _SECOND_MS)} s"

    def _amount(self, key: _Caller, now: int) -> int:
        full = self.burst * _MINUTE_MS
        if key not in self._buckets:
            return full
        amount, at = self._buckets[key]
        return min(full, amount + (now - at) * self.per_minute)

    def forget_full(self, now: int) -> None:
        """Forget the buckets that have had the time to fill; the one used longest ago comes first."""
        if not self.per_minute:
            return
        longest = -(-self.burst * _MINUTE_MS // self.per_minute)
        while self._buckets:
            key, (_, at) = next(iter(self._buckets.items()))
            if at + longest > now:
                break
            del self._buckets[key]

    def __len__(self) -> int:
        return len(self._buckets)

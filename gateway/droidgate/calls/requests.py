"""Which requests are open: one answer each, and no request twice (DESIGN 6)."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from droidgate.calls.failures import CallError, Failure

Held = TypeVar("Held")


@dataclass(frozen=True, slots=True)
class RequestKey:
    """What tells requests apart: who asks, and the id that they gave.

    Attributes:
        caller: The sending uid, or for a started call the uid that made the callback.
        request_id: The request's own id, as text.
    """

    caller: int
    request_id: str


@dataclass(slots=True)
class OpenRequests(Generic[Held]):
    """The requests that wait for their answer; safe to use from several threads.

    Attributes:
        limit: How many may be open at once.
        limit_per_caller: How many of one caller.
    """

    limit: int = 32
    limit_per_caller: int = 8
    _held: dict[RequestKey, Held] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def open(self, key: RequestKey, held: Held) -> None:
        """Take a request.

        Raises:
            CallError: with the token `busy`: its caller has one of this id open, or too many are.
        """
        with self._lock:
            if key in self._held:
                raise CallError(
                    Failure("busy", "a request with this id is open; use another id, or wait for its answer")
                )
            mine = sum(1 for one in self._held if one.caller == key.caller)
            if mine >= self.limit_per_caller:
                raise CallError(Failure("busy", f"this app has {mine} requests open"))
            if len(self._held) >= self.limit:
                raise CallError(Failure("busy", f"{len(self._held)} requests of all apps are open"))
            self._held[key] = held

    def close(self, key: RequestKey) -> Held | None:
        """Return what was held for a request and forget it: its one answer may be sent now.

        None where it is not open: its answer was sent, so this one is late or the second.
        """
        with self._lock:
            return self._held.pop(key, None)

    def close_all(self) -> dict[RequestKey, Held]:
        """Return everything that is open and forget it, as when the process behind it died."""
        with self._lock:
            held, self._held = self._held, {}
            return held

    def __len__(self) -> int:
        with self._lock:
            return len(self._held)

"""HTTP connections that close without a request: uvicorn waits for its head without a limit."""

from __future__ import annotations

import asyncio
from typing import Any, Final

from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

HEAD_SECONDS: Final = 10.0
"""Seconds for the whole head of a request to arrive."""

READ_SECONDS: Final = 60.0
"""For a client to read a part of an answer: at most a page of a list or a part of a result."""

MAX_CONNECTIONS: Final = 256
"""Most open connections. One more closes the connection that has waited longest without a request."""


class GuardedConnection(H11Protocol):
    """A connection that closes when no request arrives on it in time, or nobody reads the answer."""

    _timer: asyncio.TimerHandle | None = None
    _reading_timer: asyncio.TimerHandle | None = None
    _idle_since: float = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Accept a connection, and close another or this one where there are too many."""
        super().connection_made(transport)
        self._wait_for_head()
        if len(self.connections) > MAX_CONNECTIONS:
            others: list[Any] = [other for other in self.connections if other is not self]
            idle = [other for other in others if isinstance(other, GuardedConnection) and other.is_idle]
            oldest = min(idle, key=lambda connection: connection._idle_since, default=self)  # noqa: SLF001
            oldest.transport.abort()
            self.connections.discard(oldest)

    def data_received(self, data: bytes) -> None:
        """Take what the client sends."""
        super().data_received(data)
        if not self.is_idle:
            self._stop_timer()
        elif self._timer is None:
            self._wait_for_head()

    def on_response_complete(self) -> None:
        """Note that the next request may come."""
        self._idle_since = self.loop.time()
        super().on_response_complete()

    def pause_writing(self) -> None:
        """Wait until the client has read what it was sent, but not for ever."""
        super().pause_writing()
        self._reading_timer = self.loop.call_later(READ_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        """Go on: the client has read."""
        super().resume_writing()
        self._stop_reading_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        """Note that the connection is closed."""
        self._stop_timer()
        self._stop_reading_timer()
        super().connection_lost(exc)

    @property
    def is_idle(self) -> bool:
        """Whether no request is being answered."""
        cycle: RequestResponseCycle | None = self.cycle
        return cycle is None or cycle.response_complete

    def _wait_for_head(self) -> None:
        self._idle_since = self.loop.time()
        self._timer = self.loop.call_later(HEAD_SECONDS, self._close_if_idle)

    def _close_if_idle(self) -> None:
        self._timer = None
        if self.is_idle:
            self.transport.close()

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _stop_reading_timer(self) -> None:
        if self._reading_timer is not None:
            self._reading_timer.cancel()
            self._reading_timer = None

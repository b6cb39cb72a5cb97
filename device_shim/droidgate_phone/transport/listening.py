"""A loopback port, the connections that come in on it, and the threads that a phone starts for them, so that
none is left when it stops.
"""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Callable
from typing import Final, Protocol

from droidgate_phone.common.event_log import EventLog

MOST_THREADS: Final = 2000


class BusyError(OSError):
    """There are so many threads that no more is started."""


class Workers:
    """Starts threads, up to `MOST_THREADS` at a time, and waits for them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: set[threading.Thread] = set()

    def start(self, name: str, work: Callable[[], None]) -> None:
        """Run `work` in a thread of its own.

        Raises:
            BusyError: too many run.
        """

        def run() -> None:
            try:
                work()
            finally:
                with self._lock:
                    self._running.discard(thread)

        thread = threading.Thread(target=run, name=name, daemon=True)
        with self._lock:
            if len(self._running) >= MOST_THREADS:
                raise BusyError(f"more than {MOST_THREADS} connections and services at one time")
            try:
                # Started before the lock is free: `join` may not meet a thread that has not begun.
                thread.start()
            except RuntimeError as error:  # the host has no thread left
                raise BusyError(str(error)) from error
            self._running.add(thread)

    def has_room(self) -> bool:
        """Whether one more can be started now."""
        with self._lock:
            return len(self._running) < MOST_THREADS

    def join(self, seconds: float) -> list[str]:
        """Wait for all threads; return the names of those that still run after so many seconds."""
        end = time.monotonic() + seconds
        with self._lock:
            running = list(self._running)
        for thread in running:
            if thread is not threading.current_thread():
                thread.join(max(0.0, end - time.monotonic()))
        return sorted(thread.name for thread in running if thread.is_alive())


_PAUSE: Final = 0.1
"""Seconds until the next try where the host has no socket left."""
_MOST_WAITING: Final = 16
"""Threads that wait for a connection; one that has served ends where so many do."""


class ServedConnection(Protocol):
    """One connection that came in."""

    def run(self) -> None:
        """Serve it to its end, and close it."""

    def end(self) -> None:
        """End it, from any thread."""


class Listener:
    """Accepts connections and serves each in a thread that serves no other meanwhile.

    Args:
        port: The port on 127.0.0.1, 0 for a free one.
        name: What listens, for threads and the log.
        connect: Makes a connection of an accepted socket; may be called by several threads at once.
        log: Where refusals go.
        workers: Runs the threads.

    Raises:
        OSError: the port is taken.
    """

    def __init__(
        self,
        port: int,
        name: str,
        connect: Callable[[socket.socket], ServedConnection],
        *,
        log: EventLog,
        workers: Workers,
    ) -> None:
        self._listening = socket.create_server(("127.0.0.1", port))
        self.port: int = self._listening.getsockname()[1]
        self._name = name
        self._connect = connect
        self._log = log
        self._workers = workers
        self._lock = threading.Lock()
        self._connections: set[ServedConnection] = set()
        self._closed = threading.Event()
        self._waiting = 0
        self._wait_in_a_thread()

    def close(self) -> None:
        """Accept no more and end every connection."""
        with self._lock:
            self._closed.set()
            connections = list(self._connections)
        with contextlib.suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        for connection in connections:
            connection.end()

    def _wait_in_a_thread(self) -> None:
        with self._lock:
            self._workers.start(f"{self._name} on port {self.port}", self._accept)
            self._waiting += 1

    def _accept(self) -> None:
        """Accept a connection and serve it, again and again; another thread waits for the next meanwhile.

        So no connection is handed from one thread to another, which would cost more than what most of them
        ask for.
        """
        while not self._closed.is_set():
            try:
                connected, _ = self._listening.accept()
            except OSError as error:
                if not self._closed.wait(_PAUSE):
                    self._refuse(error)
                continue
            with self._lock:
                is_last = self._waiting == 1
            try:
                if is_last:
                    self._wait_in_a_thread()
            except BusyError as error:
                self._refuse(error)
                connected.close()
                continue
            with self._lock:
                self._waiting -= 1
            self._serve(connected)
            with self._lock:
                if self._waiting >= _MOST_WAITING:
                    return
                self._waiting += 1

    def _refuse(self, error: OSError) -> None:
        self._log.record("refused-connection", by=self._name, reason=str(error))

    def _serve(self, connected: socket.socket) -> None:
        connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection = self._connect(connected)
        with self._lock:
            if self._closed.is_set():
                connected.close()
                return
            self._connections.add(connection)
        try:
            connection.run()
        finally:
            with self._lock:
                self._connections.discard(connection)

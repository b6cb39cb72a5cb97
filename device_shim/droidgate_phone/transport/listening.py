"""A loopback port, and the connections that come in on it."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable
from typing import Final, Protocol

from droidgate_phone.event_log import EventLog
from droidgate_phone.transport.workers import BusyError, Workers

_PAUSE: Final = 0.1
"""Seconds until the next try where the host has no socket left."""


class Connection(Protocol):
    """One connection that came in."""

    def run(self) -> None:
        """Serve it to its end, and close it."""

    def end(self) -> None:
        """End it, from any thread."""


class Listener:
    """Accepts connections and serves each in a thread of its own.

    Args:
        port: The port on 127.0.0.1, 0 for a free one.
        name: What listens, for threads and the log.
        connect: Makes a connection of an accepted socket; called from another thread at once.
        log: Where refusals go.
        workers: Runs the threads.

    Raises:
        OSError: the port is taken.
    """

    def __init__(
        self,
        port: int,
        name: str,
        connect: Callable[[socket.socket], Connection],
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
        self._connections: set[Connection] = set()
        self._closed = threading.Event()
        workers.start(f"{name} on port {self.port}", self._accept)

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

    def _accept(self) -> None:
        while not self._closed.is_set():
            try:
                connected, _ = self._listening.accept()
            except OSError as error:
                if not self._closed.wait(_PAUSE):
                    self._refuse(error)
                continue
            try:
                self._serve(connected)
            except BusyError as error:
                self._refuse(error)
                connected.close()

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

        def run() -> None:
            try:
                connection.run()
            finally:
                self._forget(connection)

        try:
            self._workers.start(f"{self._name}, connection on port {self.port}", run)
        except BusyError:
            self._forget(connection)
            raise

    def _forget(self, connection: Connection) -> None:
        with self._lock:
            self._connections.discard(connection)

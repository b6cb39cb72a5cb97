"""The phone's end of one connection to one of its services."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable
from typing import Final, Protocol

from droidgate_phone.transport.sockets import Buffer, OutputSocket

_PIECE: Final = 256 * 1024
_SECONDS_TO_DRAIN: Final = 2.0


class Endpoint(Protocol):
    """A stream of bytes to and from the client that opened a service."""

    def read(self, limit: int = -1) -> bytes:
        """Return up to `limit` bytes as soon as there are any, all until the end for -1; b"" at the end."""

    def write(self, *pieces: Buffer) -> None:
        """Send the pieces; waits while the other side does not take them.

        Raises:
            BrokenPipeError: the other side is gone.
        """

    def close(self) -> None:
        """End the stream; reads that wait return, writes that wait fail."""

    def on_hang_up(self, listener: Callable[[], None]) -> None:
        """Have something called when the stream ends, at once where it has ended; from any thread."""

    def on_disconnect(self, listener: Callable[[], None]) -> None:
        """Have something called when the connection that carries the stream ends; from any thread."""


def read_exactly(endpoint: Endpoint, count: int) -> bytes | None:
    """Return so many bytes, or None where the stream ends before."""
    content = endpoint.read(count) if count else b""
    while len(content) < count:
        more = endpoint.read(count - len(content))
        if not more:
            return None
        content += more
    return content


def read_to_end(endpoint: Endpoint) -> bytes:
    """Return everything until the stream ends."""
    pieces = []
    while piece := endpoint.read(_PIECE):
        pieces.append(piece)
    return b"".join(pieces)


class SocketEndpoint:
    """A stream over a socket of its own, as the adb server hands it to its clients.

    A client that ends its half is gone, as for the real server, which closes such a connection.

    Args:
        connected: The client's socket.
        output: Its writing half.
        ends_at_write: The write at which the connection ends, counted from 1; 0 for never. A real server
            drops a phone whose packet is broken, and its clients with it.
    """

    def __init__(self, connected: socket.socket, output: OutputSocket, *, ends_at_write: int = 0) -> None:
        self._socket = connected
        self._output = output
        self._ends_at_write = ends_at_write
        self._writes = 0
        self._gone = threading.Event()

    def read(self, limit: int = -1) -> bytes:
        """See Endpoint."""
        if limit < 0:
            return read_to_end(self)
        try:
            content = b"" if self._gone.is_set() else self._socket.recv(min(limit, _PIECE))
        except OSError:
            content = b""
        if not content and limit:
            self._gone.set()
        return content

    def write(self, *pieces: Buffer) -> None:
        """See Endpoint."""
        if self._gone.is_set():
            raise BrokenPipeError("the client is gone")
        self._writes += 1
        if self._writes == self._ends_at_write:
            self._gone.set()
            self._output.end()
            raise BrokenPipeError("the phone sent garbage, as asked")
        try:
            self._output.send(*pieces)
        except OSError as error:
            self._gone.set()
            raise BrokenPipeError(str(error)) from error

    def on_hang_up(self, listener: Callable[[], None]) -> None:
        """See Endpoint; a client that goes away is noticed when something is read or written."""
        self._output.on_end(listener)

    def on_disconnect(self, listener: Callable[[], None]) -> None:
        """See Endpoint; the connection is the stream's own."""
        self._output.on_end(listener)

    def close(self) -> None:
        """Let the client read what is under way, then end the stream."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_WR)
            # Closing a socket with unread bytes resets it: the client would lose what it has not read.
            self._socket.settimeout(_SECONDS_TO_DRAIN)
            while not self._gone.is_set() and self._socket.recv(_PIECE):
                pass
        self._gone.set()
        self._output.end()

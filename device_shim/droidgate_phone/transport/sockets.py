"""Blocking sockets with what the wire needs (exact reads, writes of several pieces, faults while sending),
and the phone's end of a connection to one of its services.
"""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable
from typing import Final, Protocol, TypeAlias

from droidgate_phone.common.faults import Faults
from droidgate_phone.common.streams import InputStream, read_to_end

Buffer: TypeAlias = bytes | bytearray | memoryview

_JOINED_UP_TO: Final = 16 * 1024
_SLOW_STEPS_A_SECOND: Final = 20
_AHEAD: Final = 4096


class EndOfInputError(Exception):
    """The other side has closed the connection, or it broke."""


class InputSocket:
    """The reading half of a socket; what comes together with what was asked for is kept for the next read."""

    def __init__(self, connected: socket.socket) -> None:
        self._socket = connected
        self._ahead = b""

    def read(self, limit: int) -> bytes:
        """Return up to `limit` bytes as soon as there are any; b"" at the end.

        Raises:
            OSError: the connection broke.
        """
        content, self._ahead = self._ahead[:limit], self._ahead[limit:]
        return content or self._socket.recv(limit)

    def read_exactly(self, count: int) -> bytearray:
        """Return so many bytes.

        Raises:
            EndOfInputError: the connection ended before.
        """
        content = bytearray(self._ahead)
        while len(content) < count:
            try:
                received = self._socket.recv(max(count - len(content), _AHEAD))
            except OSError as error:
                raise EndOfInputError(str(error)) from error
            if not received:
                raise EndOfInputError("closed by the other side")
            content += received
        self._ahead = bytes(content[count:])
        del content[count:]
        return content


class OutputSocket:
    """The writing half of a socket, for several threads; shows the faults that belong to bytes.

    Args:
        connected: The socket.
        faults: `drop_after`, `stall_after` and `bytes_per_second` are shown here.
    """

    def __init__(self, connected: socket.socket, faults: Faults) -> None:
        self._socket = connected
        self._faults = faults
        self._lock = threading.Lock()
        self._sent = 0
        self._ended = threading.Event()
        self._end_listeners: list[Callable[[], None]] = []
        self._end_lock = threading.Lock()
        self._is_faulty = any(
            item is not None for item in (faults.drop_after, faults.stall_after, faults.bytes_per_second)
        )

    def send(self, *pieces: Buffer) -> None:
        """Send the pieces one after the other, with nothing of another thread between them.

        Raises:
            OSError: the connection has ended.
        """
        with self._lock:
            if self._is_faulty:
                self._send_with_faults(b"".join(pieces))
            elif sum(map(len, pieces)) <= _JOINED_UP_TO:
                self._socket.sendall(b"".join(pieces))
            else:
                for piece in pieces:
                    self._socket.sendall(piece)

    def end(self) -> None:
        """End the connection in both directions; waiting reads and writes end too."""
        with self._end_lock:
            if self._ended.is_set():
                return
            self._ended.set()
            waiting, self._end_listeners = self._end_listeners, []
        for listener in waiting:
            listener()
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)

    def on_end(self, listener: Callable[[], None]) -> None:
        """Have something called when the connection ends, at once where it has ended."""
        with self._end_lock:
            if not self._ended.is_set():
                self._end_listeners.append(listener)
                return
        listener()

    def _send_with_faults(self, content: bytes) -> None:
        stall, drop = self._faults.stall_after, self._faults.drop_after
        allowed = len(content)
        if stall is not None:
            allowed = min(allowed, max(0, stall - self._sent))
        if drop is not None:
            allowed = min(allowed, max(0, drop - self._sent))
        self._send_slowly(content[:allowed])
        self._sent += allowed
        if drop is not None and self._sent >= drop:
            self.end()
            raise ConnectionResetError(f"dropped after {drop} bytes, as asked")

    def _send_slowly(self, content: bytes) -> None:
        pace = self._faults.bytes_per_second
        if pace is None:
            self._socket.sendall(content)
            return
        step = max(1, pace // _SLOW_STEPS_A_SECOND)
        for start in range(0, len(content), step):
            piece = content[start : start + step]
            if self._ended.wait(len(piece) / pace):
                raise BrokenPipeError("the connection has ended")
            self._socket.sendall(piece)


_PIECE: Final = 256 * 1024


class Endpoint(InputStream, Protocol):
    """A stream of bytes to and from the client that opened a service."""

    def write(self, *pieces: Buffer) -> None:
        """Send the pieces; waits while the other side does not take them.

        Raises:
            BrokenPipeError: the other side is gone.
        """

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


class SocketEndpoint:
    """A stream over a socket of its own, as the adb server hands it to its clients.

    A client that ends its half is gone, as for the real server, which closes such a connection.

    Args:
        source: The reading half of the client's socket.
        output: Its writing half.
        ends_at_write: The write at which the connection ends, counted from 1; 0 for never. A real server
            drops a phone whose packet is broken, and its clients with it.
    """

    def __init__(self, source: InputSocket, output: OutputSocket, *, ends_at_write: int = 0) -> None:
        self._input = source
        self._output = output
        self._ends_at_write = ends_at_write
        self._writes = 0
        self._gone = threading.Event()

    def read(self, limit: int = -1) -> bytes:
        """See Endpoint."""
        if limit < 0:
            return read_to_end(self)
        try:
            content = b"" if self._gone.is_set() else self._input.read(min(limit, _PIECE))
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

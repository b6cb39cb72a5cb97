"""The shell protocol, version 2: standard output, standard error and the exit status on one connection.

A packet is a byte that says what it is, the length of its data in four bytes, little end first, and the data
(AOSP packages/modules/adb, shell_protocol.h).
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import BinaryIO, Final

from droidgate.devices.connection import Connection
from droidgate.devices.device_errors import OutputLimitError, ProtocolError

_HEADER: Final = 5
_PIECE: Final = 32 * 1024
_MAX_PACKET: Final = 8 * 1024 * 1024

Sink = Callable[[bytes], None]


class Packet(IntEnum):
    """What a packet is."""

    STDIN = 0
    STDOUT = 1
    STDERR = 2
    EXIT = 3
    CLOSE_STDIN = 4


def frame(kind: Packet, data: bytes) -> bytes:
    """Return one packet."""
    return bytes([kind]) + len(data).to_bytes(4, "little") + data


class Collector:
    """Keeps what comes in, up to a limit.

    Args:
        limit: Most bytes of both streams together.
        doing: What is going on, for the error.
        sink: Gets standard output instead of `stdout`, as it comes.
    """

    def __init__(self, limit: int, doing: str, sink: Sink | None = None) -> None:
        self.stdout = bytearray()
        self.stderr = bytearray()
        self._limit = limit
        self._left = limit
        self._doing = doing
        self._sink = sink

    def take(self, kind: Packet, data: bytes) -> None:
        """Keep the data of a packet.

        Raises:
            OutputLimitError: that is more than the limit.
        """
        self.reserve(len(data))
        if kind is Packet.STDERR:
            self.stderr += data
        elif self._sink is not None:
            self._sink(data)
        else:
            self.stdout += data

    def reserve(self, length: int) -> None:
        """Count bytes against the limit before they are read.

        Raises:
            OutputLimitError: they are more than what is left.
        """
        self._left -= length
        if self._left < 0:
            raise OutputLimitError(f"{self._doing} printed more than {self._limit} bytes")


class _Incoming:
    """Puts packets together from pieces."""

    def __init__(self, collector: Collector) -> None:
        self._buffer = bytearray()
        self._collector = collector

    def feed(self, piece: bytes) -> int | None:
        """Take a piece; return the exit status when it is there."""
        self._buffer += piece
        while len(self._buffer) >= _HEADER:
            length = int.from_bytes(self._buffer[1:_HEADER], "little")
            kind = self._kind(length)
            if len(self._buffer) < _HEADER + length:
                return None
            data = bytes(self._buffer[_HEADER : _HEADER + length])
            del self._buffer[: _HEADER + length]
            if kind is Packet.EXIT:
                return data[0]
            self._collector.take(kind, data)
        return None

    def _kind(self, length: int) -> Packet:
        code = self._buffer[0]
        is_known = code in {Packet.STDOUT, Packet.STDERR, Packet.EXIT}
        if not is_known or length > _MAX_PACKET or (code == Packet.EXIT and length != 1):
            raise ProtocolError(f"the device sent a shell packet of kind {code} with {length} bytes")
        return Packet(code)


class _Outgoing:
    """What still has to be sent to the command's standard input."""

    def __init__(self, stdin: bytes | BinaryIO | None) -> None:
        self._source = stdin
        self._at = 0
        self._open = True
        self._pending = memoryview(b"")

    def pending(self) -> memoryview:
        """Return the bytes to send next; none when all is sent."""
        if not self._pending and self._open:
            piece = self._next_piece()
            self._open = bool(piece)
            self._pending = memoryview(
                frame(Packet.STDIN, piece) if piece else frame(Packet.CLOSE_STDIN, b"")
            )
        return self._pending

    def sent(self, count: int) -> None:
        """Note how much was sent."""
        self._pending = self._pending[count:]

    def _next_piece(self) -> bytes:
        if self._source is None:
            return b""
        if isinstance(self._source, bytes):
            piece = self._source[self._at : self._at + _PIECE]
            self._at += len(piece)
            return piece
        return self._source.read(_PIECE)


def exchange(connection: Connection, stdin: bytes | BinaryIO | None, collector: Collector) -> int:
    """Send standard input while the output is read, until the exit status comes; return that.

    Raises:
        DeviceGoneError: the connection ended without an exit status.
        DeadlineError: it does not come in time.
        OutputLimitError: there is more output than the collector takes.
        ProtocolError: the bytes are not shell packets.
    """
    incoming, outgoing = _Incoming(collector), _Outgoing(stdin)
    outgoing.sent(connection.send_some(outgoing.pending()))
    while True:
        pending = outgoing.pending()
        readable, writable = connection.wait(writing=bool(pending))
        if readable:
            piece = connection.receive_some()
            if not piece:
                raise connection.ended()
            status = incoming.feed(piece)
            if status is not None:
                return status
        if writable:
            outgoing.sent(connection.send_some(pending))

"""Packets of the shell protocol, version 2: written, and put together from pieces.

A packet is a byte that says what it is, the length of its data in four bytes, little end first, and the data
(AOSP packages/modules/adb, shell_protocol.h).
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final

from droidgate.devices.device_errors import OutputLimitError, ProtocolError

_HEADER: Final = 5
_MAX_PACKET: Final = 8 * 1024 * 1024


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


class OutputSink:
    """Keeps what comes in, up to a limit.

    Args:
        limit: Most bytes of both streams together.
        doing: What is going on, for the error.
    """

    def __init__(self, limit: int, doing: str) -> None:
        self.stdout = bytearray()
        self.stderr = bytearray()
        self._limit = limit
        self._left = limit
        self._doing = doing

    def take(self, kind: Packet, data: bytes) -> None:
        """Keep the data of a packet.

        Raises:
            OutputLimitError: that is more than the limit.
        """
        self.reserve(len(data))
        if kind is Packet.STDERR:
            self.stderr += data
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


class IncomingPackets:
    """Puts packets together from pieces."""

    def __init__(self, collector: OutputSink) -> None:
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

"""Standard streams of a command that was started over adb.

Shell protocol (AOSP `packages/modules/adb/shell_protocol.h`): packets of one byte for their kind, four for
their length (little-endian), and content.
"""

from __future__ import annotations

import struct
import threading
from collections.abc import Callable
from typing import Final

from droidgate_phone.streams import InputStream, OutputStream
from droidgate_phone.transport.endpoints import Endpoint, read_exactly

PACKET_HEADER: Final = struct.Struct("<BI")
STANDARD_INPUT: Final = 0
STANDARD_OUTPUT: Final = 1
STANDARD_ERROR: Final = 2
EXIT: Final = 3
CLOSE_INPUT: Final = 4
WINDOW_SIZE: Final = 5

_LARGEST_CONTENT: Final = 256 * 1024
_LARGEST_INPUT: Final = 16 * 1024 * 1024


class RawStreams:
    """Streams without a protocol: input and output are the connection, standard error is standard output.

    Args:
        endpoint: The connection.
        has_terminal: A terminal hangs up with its client. Without one closing the stream is the only way to
            end the input, as `adb exec-in` does, so the command runs until it writes.
    """

    def __init__(self, endpoint: Endpoint, *, has_terminal: bool = False) -> None:
        self.input: InputStream = endpoint
        self.output: OutputStream = endpoint
        self.error: OutputStream = endpoint
        self._on_hang_up = endpoint.on_hang_up if has_terminal else endpoint.on_disconnect

    def on_hang_up(self, listener: Callable[[], None]) -> None:
        """Have something called when the other side is gone."""
        self._on_hang_up(listener)

    def exit(self, status: int) -> None:
        """Do nothing: this protocol does not send the exit status."""


class PacketStreams:
    """Streams in packets of the shell protocol.

    Args:
        endpoint: The connection.
        has_error: Whether standard error is separate; with a terminal it is not.
        can_close_input: A pseudo-terminal's input cannot be closed from outside.
    """

    def __init__(self, endpoint: Endpoint, *, has_error: bool = True, can_close_input: bool = True) -> None:
        writing = threading.Lock()
        self._endpoint = endpoint
        self._output = _PacketOutput(endpoint, STANDARD_OUTPUT, writing)
        self.input: InputStream = _PacketInput(endpoint, can_close=can_close_input)
        self.output: OutputStream = self._output
        self.error: OutputStream = (
            _PacketOutput(endpoint, STANDARD_ERROR, writing) if has_error else self._output
        )

    def on_hang_up(self, listener: Callable[[], None]) -> None:
        """Have something called when the other side is gone."""
        self._endpoint.on_hang_up(listener)

    def exit(self, status: int) -> None:
        """Send the exit status."""
        self._endpoint.write(PACKET_HEADER.pack(EXIT, 1) + bytes([status & 0xFF]))


class _PacketOutput:
    def __init__(self, endpoint: Endpoint, kind: int, writing: threading.Lock) -> None:
        self._endpoint = endpoint
        self._kind = kind
        self._writing = writing

    def write(self, data: bytes) -> None:
        for start in range(0, len(data), _LARGEST_CONTENT):
            content = memoryview(data)[start : start + _LARGEST_CONTENT]
            with self._writing:
                self._endpoint.write(PACKET_HEADER.pack(self._kind, len(content)), content)


class _PacketInput:
    def __init__(self, endpoint: Endpoint, *, can_close: bool) -> None:
        self._endpoint = endpoint
        self._can_close = can_close
        self._reading = threading.Lock()
        self._left = 0
        self._ended = False

    def read(self, limit: int = -1) -> bytes:
        with self._reading:
            if limit >= 0:
                return self._read_some(limit)
            pieces = []
            while piece := self._read_some(_LARGEST_CONTENT):
                pieces.append(piece)
            return b"".join(pieces)

    def _read_some(self, limit: int) -> bytes:
        while not self._left and not self._ended and limit:
            self._read_header()
        if self._ended or not limit:
            return b""
        content = self._endpoint.read(min(limit, self._left))
        self._left -= len(content)
        self._ended = not content
        return content

    def _read_header(self) -> None:
        header = read_exactly(self._endpoint, PACKET_HEADER.size)
        if header is None:
            self._ended = True
            return
        kind, length = PACKET_HEADER.unpack(header)
        if kind == STANDARD_INPUT:
            self._left = length
        else:
            is_broken = length > _LARGEST_INPUT or read_exactly(self._endpoint, length) is None
            self._ended = is_broken or (kind == CLOSE_INPUT and self._can_close)

"""Messages between a scan and its workers: texts of bytes, each with its length in front."""

from __future__ import annotations

import struct
from typing import BinaryIO, Final

_LENGTH: Final = struct.Struct("<I")
MAX_FRAME: Final = 64 << 20
"""A longer one was not sent by a worker of ours."""


def write_frames(stream: BinaryIO, *frames: bytes) -> None:
    """Send messages."""
    stream.write(b"".join(part for frame in frames for part in (_LENGTH.pack(len(frame)), frame)))
    stream.flush()


def read_frame(stream: BinaryIO) -> bytes | None:
    """Return the next message, None at the end of the stream, wherever it ends."""
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    length = _LENGTH.unpack(head)[0]
    if length > MAX_FRAME:
        return None
    data = stream.read(length)
    return data if len(data) == length else None

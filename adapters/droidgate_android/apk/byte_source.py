"""The bytes of an archive (a file, memory, or a file on a device that is read piece by piece), and the chunks
that compiled XML and resource tables consist of (AOSP ResourceTypes.h, ResChunk_header).
"""

from __future__ import annotations

import struct
from enum import IntEnum
from typing import Final, Protocol

NO_INDEX: Final = 0xFFFFFFFF
"""The index into a string pool that means no string."""

CHUNK_HEADER: Final = struct.Struct("<HHI")
"""Type, size of the header, size of the chunk with everything in it."""


class ChunkType(IntEnum):
    """`ResChunk_header.type`."""

    NULL = 0x0000
    STRING_POOL = 0x0001
    TABLE = 0x0002
    XML = 0x0003
    XML_START_NAMESPACE = 0x0100
    XML_END_NAMESPACE = 0x0101
    XML_START_ELEMENT = 0x0102
    XML_END_ELEMENT = 0x0103
    XML_CDATA = 0x0104
    XML_RESOURCE_MAP = 0x0180
    TABLE_PACKAGE = 0x0200
    TABLE_TYPE = 0x0201


class ByteSource(Protocol):
    """A file of known length that can be read at any place.

    An implementation on a device reads in larger blocks and keeps them, so that a reader may ask for small
    pieces.
    """

    @property
    def name(self) -> str:
        """The file as a user would write it, for errors."""

    @property
    def size(self) -> int:
        """Its length in bytes."""

    def read(self, offset: int, length: int) -> bytes:
        """Return exactly `length` bytes from `offset` on.

        Raises:
            InputError: the range is not inside the file, or it cannot be read.
        """

    def close(self) -> None:
        """Free what the source holds; reading afterwards is an error."""

"""String pools of compiled resources (AOSP's ResourceTypes.h, ResStringPool_header), always UTF-16.

A UTF-16 pool holds strings of any length, and half surrogate pairs; in a UTF-8 pool a string ends at 32,767
bytes.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Final

NO_STRING: Final = 0xFFFFFFFF
"""Index that means no string."""

_STRING_POOL: Final = 0x0001
_HEADER_BYTES: Final = 28
_LONG_STRING: Final = 0x8000


class StringPoolWriter:
    """Collects strings and gives each its index; a pool is written with `write`."""

    def __init__(self) -> None:
        self._strings: list[str] = []
        self._indexes: dict[str, int] = {}

    def add(self, text: str) -> int:
        """Return the index of a string; equal strings share one."""
        index = self._indexes.get(text)
        if index is None:
            index = self._indexes[text] = self.add_apart(text)
        return index

    def add_apart(self, text: str) -> int:
        """Return a new index of a string, which nothing else shares."""
        self._strings.append(text)
        return len(self._strings) - 1

    @property
    def count(self) -> int:
        """How many strings it holds."""
        return len(self._strings)

    def write(self) -> bytes:
        """Return the chunk."""
        return write_string_pool(self._strings)


def write_string_pool(strings: Sequence[str]) -> bytes:
    """Return a chunk of strings in the given order."""
    offsets: list[int] = []
    body = bytearray()
    for text in strings:
        offsets.append(len(body))
        encoded = text.encode("utf-16-le", "surrogatepass")
        body += _length(len(encoded) // 2) + encoded + b"\0\0"
    body += bytes(-len(body) % 4)
    start = _HEADER_BYTES + 4 * len(offsets)
    header = struct.pack(
        "<HHIIIIII", _STRING_POOL, _HEADER_BYTES, start + len(body), len(offsets), 0, 0, start, 0
    )
    return header + struct.pack(f"<{len(offsets)}I", *offsets) + bytes(body)


def _length(units: int) -> bytes:
    if units < _LONG_STRING:
        return struct.pack("<H", units)
    return struct.pack("<HH", units >> 16 | _LONG_STRING, units & 0xFFFF)

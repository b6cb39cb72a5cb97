"""Reading and writing string pools of compiled XML and resource tables (AOSP ResourceTypes.h,
ResStringPool_header).

A pool that is read is UTF-16, or UTF-8 in which aapt2 writes what is beyond U+FFFF as two surrogates of three
bytes each. A written pool is UTF-16, which holds strings of any length, and half surrogate pairs; in a UTF-8
pool a string ends at 32,767 bytes.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Final

from droidgate_android.apk.apk_budgets import Budget
from droidgate_android.apk.byte_source import ChunkType
from droidgate_mappings.model.errors import InputError

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


_HEADER: Final = struct.Struct("<HHI5I")
_OFFSET: Final = struct.Struct("<I")
_UTF8: Final = 0x100
_LONG_8: Final = 0x80
_LONG_16: Final = 0x8000


class StringPool:
    """The strings of one pool, each decoded when it is first asked for.

    Args:
        data: What holds the pool.
        start: Where its chunk begins.
        end: Where the chunk around it ends.
        place: How errors name the file.
        budget: Counts the characters that are decoded.

    Attributes:
        count: How many strings it has.
        decoded: The strings that were asked for, by index.

    Raises:
        InputError: there is no pool, or it does not fit into what holds it.
    """

    __slots__ = ("_budget", "_data", "_end", "_offsets", "_place", "_strings", "_utf8", "count", "decoded")

    def __init__(self, data: bytes, start: int, end: int, place: str, budget: Budget) -> None:
        self._place = place
        if start + _HEADER.size > end:
            raise self._broken("is cut off")
        kind, header, size, count, _, flags, strings, _ = _HEADER.unpack_from(data, start)
        if kind != ChunkType.STRING_POOL:
            raise self._broken("is missing")
        if size < header or header < _HEADER.size or start + size > end:
            raise self._broken("is larger than what holds it")
        if count * _OFFSET.size > size - header or (count and strings > size):
            raise self._broken("has a count of strings that is not true")
        self._data = data
        self._budget = budget
        self._offsets = start + header
        self._strings = start + strings
        self._end = start + size
        self._utf8 = bool(flags & _UTF8)
        self.decoded: dict[int, str] = {}
        self.count: int = count

    def _broken(self, reason: str) -> InputError:
        return InputError(f"its string pool {reason}", place=self._place)

    def __getitem__(self, index: int) -> str:
        """Return one string.

        Raises:
            InputError: the pool has no such string, or it does not fit into the pool.
            BudgetError: too many characters have been decoded.
        """
        text = self.decoded.get(index)
        if text is None:
            if not 0 <= index < self.count:
                raise self._broken(f"has no string {index}")
            position = self._strings + _OFFSET.unpack_from(self._data, self._offsets + 4 * index)[0]
            text = self._decode_utf8(position) if self._utf8 else self._decode_utf16(position)
            self.decoded[index] = text
        return text

    def _decode_utf8(self, position: int) -> str:
        data, end = self._data, self._end
        if position + 4 > end:
            raise self._broken("has a string outside of it")
        position += 2 if data[position] & _LONG_8 else 1
        length = data[position]
        position += 1
        if length & _LONG_8:
            length = (length & 0x7F) << 8 | data[position]
            position += 1
        if position + length > end:
            raise self._broken("has a string outside of it")
        self._budget.spend_characters(length, self._place)
        raw = data[position : position + length]
        try:
            return raw.decode()
        except UnicodeDecodeError:
            return _decode_modified_utf8(raw)

    def _decode_utf16(self, position: int) -> str:
        data, end = self._data, self._end
        if position + 4 > end:
            raise self._broken("has a string outside of it")
        length = data[position] | data[position + 1] << 8
        position += 2
        if length & _LONG_16:
            length = (length & 0x7FFF) << 16 | data[position] | data[position + 1] << 8
            position += 2
        if position + 2 * length > end:
            raise self._broken("has a string outside of it")
        self._budget.spend_characters(length, self._place)
        return data[position : position + 2 * length].decode("utf-16-le", "replace")


def _decode_modified_utf8(raw: bytes) -> str:
    """Join surrogates into characters; what is not UTF-8 in either form becomes U+FFFD."""
    try:
        text = raw.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return raw.decode("utf-8", "replace")
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")

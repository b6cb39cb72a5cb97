"""The ZIP archive of an APK by its central directory, as Android reads it: what a name leads to, and nothing
unpacked before it is asked for (APPNOTE.TXT 4.3; AOSP libziparchive).

Declared sizes are not believed. What Android overlooks and analysers stumble on (BadPack methods, the
encrypted flag, double names, two headers that disagree) is read as Android would and reported as a finding.
"""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Callable, Iterator
from typing import Final

from droidgate_android.apk.apk_budgets import MAX_ENTRY_BYTES, MIB, Budget
from droidgate_android.apk.apk_files import printable_name
from droidgate_android.apk.apk_findings import EVASIVE_ARCHIVE, shown_names, warn
from droidgate_android.apk.byte_source import ByteSource
from droidgate_mappings.model.errors import BudgetError, InputError
from droidgate_mappings.model.findings import Finding
from droidgate_mappings.records import dataclass

LOCAL_SIGNATURE: Final = b"PK\x03\x04"

_END: Final = struct.Struct("<4s4H2IH")
_END_64: Final = struct.Struct("<4sQ2H2I4Q")
_END_64_LOCATOR: Final = struct.Struct("<4sIQI")
_CENTRAL: Final = struct.Struct("<4s6H3I5H2I")
_CENTRAL_STEP: Final = struct.Struct("<I4xHH16xHHH")
_LOCAL: Final = struct.Struct("<4s5H3I2H")
_END_SIGNATURE: Final = b"PK\x05\x06"
_END_64_SIGNATURE: Final = b"PK\x06\x06"
_END_64_LOCATOR_SIGNATURE: Final = b"PK\x06\x07"
_CENTRAL_SIGNATURE: Final = b"PK\x01\x02"
_CENTRAL_NUMBER: Final = 0x02014B50
_MAX_COMMENT: Final = 0xFFFF
_UNKNOWN_32: Final = 0xFFFFFFFF
_UNKNOWN_16: Final = 0xFFFF
_ZIP64_EXTRA: Final = 1
_STORED: Final = 0
_DEFLATED: Final = 8
_NOT_STORED_NOR_DEFLATED: Final = 0xFFFF & ~_DEFLATED
_ENCRYPTED: Final = 1

_IN_UNSAFE_NAMES: Final = (b"..", b"\\", b"\0", b"\n/")
_UNSAFE_NAME: Final = re.compile(rb"(?:\A|/)\.\.(?:/|\Z)|\A/|[\\\0\n]")


@dataclass(frozen=True, slots=True)
class ZipEntry:
    """What the central directory says of one entry; sizes as declared."""

    name: str
    flags: int
    method: int
    crc: int
    compressed_size: int
    size: int
    local_offset: int


@dataclass(frozen=True, slots=True)
class _Directory:
    """Where the central directory is.

    `shift` is what has to be added to every offset, where other bytes precede the archive.
    """

    offset: int
    size: int
    count: int
    shift: int = 0


class Archive:
    """An archive.

    Args:
        source: Its bytes; closed with it.
        budget: Counts entries and unpacked bytes.
        packed_size: What its bytes take in the file that they come from, where they are packed there; what it
            unpacks to is held against that. Its size where it is None.

    Attributes:
        name: How errors name it.
        source: Its bytes.
        packed_size: What its bytes take in the file that they come from.
        findings: What is evasive about it.
        directory_offset: Where the central directory begins; an APK's signatures are before it.
        end_offset: Where the end record begins.
        is_plain: The directory is where the end record says, the end record is next and ends the file, and
            nothing is of ZIP64: what APK signature schemes v2 and later require.
        has_duplicates: A name is in it more than once.

    Raises:
        InputError: it is not a ZIP archive.
        BudgetError: it has too many entries.
    """

    def __init__(
        self, source: ByteSource, budget: Budget | None = None, *, packed_size: int | None = None
    ) -> None:
        self.name = source.name
        self.source = source
        self.findings: list[Finding] = []
        self._budget = Budget() if budget is None else budget
        self._reported: set[str] = set()
        self.packed_size = source.size if packed_size is None else packed_size
        self._unpacked: dict[str, int] = {}
        self._unpacked_total = 0
        self.end_offset = 0
        self.is_plain = False
        self.has_duplicates = False
        self._tail_at = max(0, source.size - _MAX_COMMENT - _END.size)
        self._tail = source.read(self._tail_at, source.size - self._tail_at)
        directory = self._find_directory()
        self._shift = directory.shift
        self.directory_offset = directory.offset
        self._directory = self.read_bytes(directory.offset, directory.size)
        self._positions = self._index(directory.count)
        self._unsafe = self._find_unsafe_names()
        if self.read_bytes(0, len(LOCAL_SIGNATURE)) != LOCAL_SIGNATURE:
            self._mark("other bytes precede its first entry")

    def read_bytes(self, offset: int, length: int) -> bytes:
        """Return a range of the file; its last part, which is all of a small one, is in memory.

        Raises:
            InputError: the range is not inside, or cannot be read.
        """
        start = offset - self._tail_at
        if start >= 0 and start + length <= len(self._tail):
            return self._tail[start : start + length]
        return self.source.read(offset, length)

    def _find_directory(self) -> _Directory:
        tail = self._tail
        end_record_at = tail.rfind(_END_SIGNATURE, 0, max(0, len(tail) - _END.size + len(_END_SIGNATURE)))
        if end_record_at < 0:
            message = "it is not an APK: it has no ZIP directory, or is cut off"
            raise InputError(message, place=self.name, hint="name an APK, or a container of split APKs")
        _, _, _, _, count, length, offset, comment = _END.unpack_from(tail, end_record_at)
        end = self.end_offset = self._tail_at + end_record_at
        self.is_plain = (
            offset + length == end
            and end_record_at + _END.size + comment == len(tail)
            and not self._has_locator(end - _END_64_LOCATOR.size)
        )
        if offset == _UNKNOWN_32 or count == _UNKNOWN_16 or length == _UNKNOWN_32:
            end, count, length, offset = self._read_end_64(end, count, length, offset)
        if length > self._budget.limits.directory_bytes:
            message = f"its directory has more than {self._budget.limits.directory_bytes} bytes"
            raise BudgetError(message, place=self.name)
        if offset + length > end:
            raise InputError("its ZIP directory is not where it says", place=self.name)
        shift = end - length - offset
        if shift and self._is_at(end - length) and not self._is_at(offset):
            return _Directory(offset + shift, length, count, shift)
        return _Directory(offset, length, count)

    def _has_locator(self, at: int) -> bool:
        return at >= 0 and self.read_bytes(at, 4) == _END_64_LOCATOR_SIGNATURE

    def _read_end_64(self, end: int, count: int, length: int, offset: int) -> tuple[int, int, int, int]:
        """Return where the ZIP64 end record is and what it says; without one, what is known already."""
        at = end - _END_64_LOCATOR.size
        if at < 0:
            return end, count, length, offset
        signature, _, record, _ = _END_64_LOCATOR.unpack(self.read_bytes(at, _END_64_LOCATOR.size))
        if signature != _END_64_LOCATOR_SIGNATURE or record + _END_64.size > at:
            return end, count, length, offset
        values = _END_64.unpack(self.read_bytes(record, _END_64.size))
        if values[0] != _END_64_SIGNATURE:
            return end, count, length, offset
        return record, values[7], values[8], values[9]

    def _is_at(self, offset: int) -> bool:
        return 0 <= offset <= self.source.size - 4 and self.read_bytes(offset, 4) == _CENTRAL_SIGNATURE

    def _index(self, count: int) -> dict[bytes, int]:
        """Return the position of each name's record in the central directory."""
        directory = self._directory
        if count * _CENTRAL.size > len(directory):
            raise InputError("its ZIP directory is shorter than its count of entries", place=self.name)
        self._budget.spend_entries(count, self.name)
        positions: dict[bytes, int] = {}
        doubled: list[bytes] = []
        unusual = False
        position = 0
        read = _CENTRAL_STEP.unpack_from
        try:
            for _ in range(count):
                signature, flags, method, name_length, extra, comment = read(directory, position)
                if signature != _CENTRAL_NUMBER:
                    raise InputError("an entry of its ZIP directory is broken", place=self.name)
                start = position + _CENTRAL.size
                name = directory[start : start + name_length]
                if name in positions:
                    doubled.append(name)
                else:
                    positions[name] = position
                if flags & _ENCRYPTED or method & _NOT_STORED_NOR_DEFLATED:
                    unusual = True
                position = start + name_length + extra + comment
        except struct.error:
            raise InputError("its ZIP directory is cut off", place=self.name) from None
        if position > len(directory):
            raise InputError("its ZIP directory is cut off", place=self.name)
        if doubled:
            self.has_duplicates = True
            self._mark(f"duplicate names, of which the first is read: {_names(doubled)}")
        if unusual:
            self._mark_unusual(positions)
        return positions

    def _mark_unusual(self, positions: dict[bytes, int]) -> None:
        encrypted, packed = [], []
        for name, position in positions.items():
            flags, method = struct.unpack_from("<HH", self._directory, position + 8)
            if flags & _ENCRYPTED:
                encrypted.append(name)
            if method & _NOT_STORED_NOR_DEFLATED:
                packed.append(name)
        if encrypted:
            self._mark(f"entries say that they are encrypted, which Android overlooks: {_names(encrypted)}")
        if packed:
            self._mark(f"entries have a compression method that Android does not know: {_names(packed)}")

    def _find_unsafe_names(self) -> frozenset[bytes]:
        lines = b"\n" + b"\n".join(self._positions)
        is_suspect = any(part in lines for part in _IN_UNSAFE_NAMES)
        if not is_suspect and lines.count(b"\n") <= max(1, len(self._positions)):
            return frozenset()
        unsafe = [name for name in self._positions if _UNSAFE_NAME.search(name)]
        if unsafe:
            self._mark(f"entries have names that are not paths inside it: {_names(unsafe)}")
        return frozenset(unsafe)

    def report_evasive(self, message: str) -> None:
        """Add a finding about something that misleads analysers but not Android."""
        self._mark(message)

    def _mark(self, message: str, place: str | None = None) -> None:
        if message not in self._reported:
            self._reported.add(message)
            self.findings.append(warn(EVASIVE_ARCHIVE, message, place or self.name))

    @property
    def entry_names(self) -> list[str]:
        """The names of its entries in order; those that are not paths inside an archive are left out."""
        return [decode_name(name) for name in self._positions if name not in self._unsafe]

    @property
    def all_names(self) -> list[str]:
        """The names of its entries in order, also those that are not paths inside an archive."""
        return [decode_name(name) for name in self._positions]

    def names_below(self, folder: str, endings: tuple[str, ...] = ("",)) -> Iterator[str]:
        """Yield the names of the entries in a folder and below that have one of the endings."""
        start = folder.encode()
        ends = tuple(ending.encode() for ending in endings)
        for name in self._positions:
            if name.startswith(start) and name.endswith(ends) and name not in self._unsafe:
                yield decode_name(name)

    def __contains__(self, name: str) -> bool:
        return encode_name(name) in self._positions

    def place_of(self, name: str) -> str:
        """Return how errors name an entry: `app.apk!/res/xml/x.xml`."""
        return f"{self.name}!/{printable_name(name)}"

    def find_entry(self, name: str) -> ZipEntry | None:
        """Return what the central directory says of an entry, None where there is none.

        Raises:
            InputError: its values are invalid.
        """
        position = self._positions.get(encode_name(name))
        if position is None:
            return None
        record = _CENTRAL.unpack_from(self._directory, position)
        flags, method, crc = record[3], record[4], record[7]
        compressed, size, name_length, extra_length, offset = record[8], record[9], *record[10:12], record[16]
        if _UNKNOWN_32 in (compressed, size, offset):
            at = position + _CENTRAL.size + name_length
            extra = self._directory[at : at + extra_length]
            size, compressed, offset = _read_zip64(extra, size, compressed, offset)
        if max(compressed, size, offset) > self.source.size and method != _DEFLATED:
            raise InputError("the entry is not inside the archive", place=self.place_of(name))
        return ZipEntry(name, flags, method, crc, compressed, size, offset + self._shift)

    def read_entry(self, name: str, limit: int = MAX_ENTRY_BYTES) -> bytes:
        """Return the content of an entry.

        Args:
            name: Its name.
            limit: How many bytes it may have.

        Raises:
            InputError: there is none, or it cannot be unpacked.
            BudgetError: it is larger than the limit, is packed much tighter than files are, or more was
                unpacked than the budget allows.
        """
        entry = self.find_entry(name)
        if entry is None:
            raise InputError("there is no such entry", place=self.place_of(name))
        return self._unpack(entry, min(limit, MAX_ENTRY_BYTES))

    def stored_range(self, name: str) -> tuple[int, int] | None:
        """Return offset and size of an entry's content where it is stored as it is, else None.

        Raises:
            InputError: there is no such entry, or its headers are broken.
        """
        entry = self.find_entry(name)
        if entry is None:
            raise InputError("there is no such entry", place=self.place_of(name))
        return (self._content_offset(entry), entry.size) if entry.method == _STORED else None

    def size_in_file(self, name: str) -> int | None:
        """Return how many bytes of the file an entry takes where it is packed, else None."""
        entry = self.find_entry(name)
        return entry.compressed_size if entry is not None and entry.method == _DEFLATED else None

    def copy_entry(self, name: str, write: Callable[[bytes], object]) -> None:
        """Unpack an entry piece by piece, for one that is too large to be held in memory.

        Raises:
            InputError: there is none, or it cannot be unpacked.
            BudgetError: it is packed much tighter than files are, or more was unpacked than the budget
                allows.
        """
        entry = self.find_entry(name)
        place = self.place_of(name)
        if entry is None:
            raise InputError("there is no such entry", place=place)
        inflater = zlib.decompressobj(-zlib.MAX_WBITS) if entry.method == _DEFLATED else None
        length = entry.size if inflater is None else entry.compressed_size
        start = self._content_offset(entry)
        allowed = max(MIB, self._budget.limits.ratio * length)
        unpacked = 0
        for offset in range(0, length, MIB):
            packed = self._read_range(start + offset, min(MIB, length - offset), place)
            while packed:
                piece = packed
                try:
                    if inflater is not None:
                        piece = inflater.decompress(packed, MIB)
                except zlib.error as error:
                    raise InputError(f"the entry cannot be unpacked: {error}", place=place) from None
                unpacked += len(piece)
                if unpacked > allowed:
                    raise self._too_tight(place)
                self._budget.spend_inflated(len(piece), place)
                self._spend_ratio(name, unpacked)
                write(piece)
                packed = b"" if inflater is None else inflater.unconsumed_tail
        if inflater is not None and not inflater.eof:
            raise InputError("the entry's packed content is cut off", place=place)

    def _unpack(self, entry: ZipEntry, limit: int) -> bytes:
        place = self.place_of(entry.name)
        start = self._content_offset(entry)
        if entry.method == _DEFLATED:
            content = self._inflate(entry, start, limit, place)
        else:
            # Android takes every other method for stored, and then goes by the size of the content.
            if entry.size > limit:
                raise BudgetError(f"the entry has more than {limit} bytes", place=place)
            self._budget.spend_inflated(entry.size, place)
            self._spend_ratio(entry.name, entry.size)
            content = self._read_range(start, entry.size, place)
        if zlib.crc32(content) != entry.crc:
            self._mark("an entry's checksum is wrong, which Android overlooks", place)
        return content

    def _inflate(self, entry: ZipEntry, start: int, limit: int, place: str) -> bytes:
        if entry.compressed_size > limit:
            raise BudgetError(f"the entry has more than {limit} bytes", place=place)
        packed = self._read_range(start, entry.compressed_size, place)
        limits = self._budget.limits
        remaining_bytes = max(0, limits.inflated_bytes - self._budget.inflated_bytes)
        by_ratio = max(MIB, limits.ratio * len(packed))
        allowed = min(limit, by_ratio, remaining_bytes)
        inflater = zlib.decompressobj(-zlib.MAX_WBITS)
        try:
            content = inflater.decompress(packed, allowed + 1)
        except zlib.error as error:
            raise InputError(f"the entry cannot be unpacked: {error}", place=place) from None
        self._budget.spend_inflated(len(content), place)
        if len(content) > allowed:
            if allowed == by_ratio:
                raise self._too_tight(place)
            raise BudgetError(f"the entry has more than {limit} bytes", place=place)
        self._spend_ratio(entry.name, len(content))
        if not inflater.eof:
            raise InputError("the entry's packed content is cut off", place=place)
        return content

    def _too_tight(self, place: str) -> BudgetError:
        ratio = self._budget.limits.ratio
        return BudgetError(f"the entry unpacks to more than {ratio} times its size", place=place)

    def _spend_ratio(self, name: str, size: int) -> None:
        """Count the content of all entries; packed content that several entries share counts for each.

        Raises:
            BudgetError: it is much more than the file can hold.
        """
        more = size - self._unpacked.get(name, 0)
        if more <= 0:
            return
        limits = self._budget.limits
        self._unpacked[name] = size
        self._unpacked_total += more
        if self._unpacked_total > max(limits.free_bytes, limits.ratio_of_all * self.packed_size):
            message = f"its entries unpack to more than {limits.ratio_of_all} times its size"
            if self.packed_size != self.source.size:
                message += " in the file that holds it"
            raise BudgetError(message, place=self.name)

    def _read_range(self, start: int, length: int, place: str) -> bytes:
        if start + length > self.source.size:
            raise InputError("the entry's content is not inside the archive", place=place)
        return self.read_bytes(start, length)

    def _content_offset(self, entry: ZipEntry) -> int:
        place = self.place_of(entry.name)
        name = encode_name(entry.name)
        offset = entry.local_offset
        if offset + _LOCAL.size > self.source.size:
            raise InputError("the entry's local header is not inside the archive", place=place)
        header = self.read_bytes(offset, min(_LOCAL.size + len(name), self.source.size - offset))
        signature, _, flags, method, _, _, _, _, _, name_length, extra_length = _LOCAL.unpack_from(header)
        if signature != LOCAL_SIGNATURE:
            raise InputError("the entry has no local header", place=place)
        local_name = header[_LOCAL.size :] if name_length == len(name) else b""
        if local_name != name or method != entry.method or (flags ^ entry.flags) & _ENCRYPTED:
            self._mark("an entry's two headers disagree; the central one counts, as for Android", place)
        return int(offset + _LOCAL.size + name_length + extra_length)

    def close(self) -> None:
        """Close the source."""
        self.source.close()


def decode_name(name: bytes) -> str:
    """Return an entry's name as text; bytes that are not UTF-8 are kept as surrogates."""
    return name.decode("utf-8", "surrogateescape")


def encode_name(name: str) -> bytes:
    """Return the bytes of an entry's name; a text that can be none gives the name of no entry."""
    try:
        return name.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return name.encode("utf-8", "backslashreplace")


def _read_zip64(extra: bytes, size: int, compressed: int, offset: int) -> tuple[int, int, int]:
    """Return size, compressed size and offset, those of the ZIP64 field where the header leaves them out."""
    position = 0
    while position + 4 <= len(extra):
        kind, length = struct.unpack_from("<HH", extra, position)
        if kind == _ZIP64_EXTRA:
            field = extra[position + 4 : position + 4 + length]
            values = iter(struct.unpack_from(f"<{len(field) // 8}Q", field))
            size, compressed, offset = (
                next(values, item) if item == _UNKNOWN_32 else item for item in (size, compressed, offset)
            )
            break
        position += 4 + length
    return size, compressed, offset


def _names(names: list[bytes]) -> str:
    return shown_names([name.decode("utf-8", "backslashreplace") for name in names])

"""Writing the ZIP archive of an APK: aligned, and the same bytes from the same entries each time.

Alignment as zipalign has it: content that is stored begins at a multiple of 4 bytes, a native library at one
of 16 KiB, the largest page of Android's kernels. Android 11 and later install no app whose `resources.arsc`
is compressed or not aligned.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from droidgate_mappings.model.errors import WriteError
from droidgate_mappings.records import dataclass

ALIGNMENT: Final = 4
LIBRARY_ALIGNMENT: Final = 16 * 1024

_STORED_ENDINGS: Final = (
    *(".arsc", ".so"),
    *(".png", ".jpg", ".jpeg", ".webp", ".gif"),
    *(".mp3", ".ogg", ".m4a", ".mp4", ".aac", ".webm"),
    *(".zip", ".jar", ".gz"),
)
_LOCAL_HEADER, _CENTRAL_HEADER, _END = 0x04034B50, 0x02014B50, 0x06054B50
_VERSION: Final = 20
_DEFLATED: Final = 8
_UTF8_NAMES: Final = 0x800
_TIME, _DATE = 0x0821, 0x0221
"""1 January 1981, one second past one minute past one: what Android's own build tools write."""
_ALIGNMENT_FIELD: Final = 0xD935
"""Id of the extra field that pads an entry (AOSP's apksig, ApkSigner)."""
_ALIGNMENT_FIELD_BYTES: Final = 6
_MOST_KEPT: Final = 1 << 20
"""Bytes of the longest code that is kept deflated."""
_MAX_ENTRIES: Final = 0xFFFF
_MAX_BYTES: Final = 0xFFFFFFFF


@dataclass(frozen=True, slots=True)
class ZipParts:
    """An archive in the three parts that APK signatures know; they follow each other without a gap."""

    entries: bytes
    directory: bytes
    end: bytes

    def joined(self) -> bytes:
        """Return the archive."""
        return self.entries + self.directory + self.end


def write_zip(files: Mapping[str, bytes]) -> ZipParts:
    """Return the archive of files in the order of the mapping.

    Raises:
        WriteError: more files or bytes than an archive without ZIP64 holds, which Android needs.
    """
    entries, directory = bytearray(), bytearray()
    for name, data in files.items():
        _add(entries, directory, name, data)
        if len(entries) + len(directory) > _MAX_BYTES:
            raise WriteError("an APK holds at most 4 GiB")
    if len(files) >= _MAX_ENTRIES:
        raise WriteError(f"an APK holds fewer than {_MAX_ENTRIES} files")
    end = struct.pack("<IHHHHIIH", _END, 0, 0, len(files), len(files), len(directory), len(entries), 0)
    return ZipParts(bytes(entries), bytes(directory), end)


def _add(entries: bytearray, directory: bytearray, name: str, data: bytes) -> None:
    encoded = name.encode()
    if not 0 < len(encoded) <= _MAX_ENTRIES:
        raise WriteError("a file's name in an APK has 1 to 65535 bytes", place=name[:100])
    method, content = _compress(name, data)
    extra = b"" if method else _padding(name, len(entries) + 30 + len(encoded))
    flags = 0 if encoded.isascii() else _UTF8_NAMES
    common = (flags, method, _TIME, _DATE, zlib.crc32(data), len(content), len(data), len(encoded))
    place = len(entries)
    entries += struct.pack("<IHHHHHIIIHH", _LOCAL_HEADER, _VERSION, *common, len(extra))
    entries += encoded + extra + content
    directory += struct.pack(
        "<IHHHHHHIIIHHHHHII", _CENTRAL_HEADER, 0, _VERSION, *common, 0, 0, 0, 0, 0, place
    )
    directory += encoded


def _compress(name: str, data: bytes) -> tuple[int, bytes]:
    if not name.endswith(_STORED_ENDINGS):
        is_code = name.endswith(".dex") and len(data) <= _MOST_KEPT
        content = _deflate_code(data) if is_code else _deflate(data)
        if len(content) < len(data):
            return _DEFLATED, content
    return 0, data


def _deflate(data: bytes) -> bytes:
    compressor = zlib.compressobj(9, zlib.DEFLATED, -15)
    return compressor.compress(data) + compressor.flush()


# Every shim holds the same code, and deflating it is a quarter of building one.
_deflate_code = lru_cache(maxsize=2)(_deflate)


def _padding(name: str, start: int) -> bytes:
    """Return the extra field after which content that would begin at `start` is aligned."""
    alignment = LIBRARY_ALIGNMENT if name.endswith(".so") else ALIGNMENT
    if start % alignment == 0:
        return b""
    zeros = -(start + _ALIGNMENT_FIELD_BYTES) % alignment
    return struct.pack("<HHH", _ALIGNMENT_FIELD, 2 + zeros, alignment) + bytes(zeros)

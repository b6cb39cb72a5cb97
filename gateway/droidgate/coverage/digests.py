"""By what content is known again: a digest that need not read everything of a large APK."""

from __future__ import annotations

import hashlib
from typing import Final

from droidgate_android.apk.archive import Archive
from droidgate_android.apk.byte_source import ByteSource

_PIECE: Final = 1 << 20
_MAGIC: Final = b"APK Sig Block 42"
_FOOTER: Final = 24
_MAX_BLOCK: Final = 16 << 20
_SCHEMES: Final = tuple(item.to_bytes(4, "little") for item in (0x7109871A, 0xF05368C0, 0x1B93AD61))
"""Ids of the signature schemes v2, v3 and v3.1 (source.android.com, APK Signature Scheme v2 and v3)."""


def digest_of_content(source: ByteSource) -> str:
    """Return the SHA-256 of everything, in hexadecimal.

    Raises:
        InputError: it cannot be read.
    """
    digest = hashlib.sha256()
    for offset in range(0, source.size, _PIECE):
        digest.update(source.read(offset, min(_PIECE, source.size - offset)))
    return digest.hexdigest()


def digest_of_apk(archive: Archive) -> str:
    """Return the digest by which an APK is known again, in hexadecimal.

    An APK with a signing block (scheme v2 or later) is known by its size and its end: the block, which holds
    digests of the whole content, and the directory. Two such files that Android would install and that
    differ anywhere differ there. Any other file is known by everything in it.

    Raises:
        InputError: it cannot be read.
    """
    source, end = archive.source, archive.directory_offset
    if end > _FOOTER:
        footer = source.read(end - _FOOTER, _FOOTER)
        size = int.from_bytes(footer[:8], "little")
        if footer[8:] == _MAGIC and _FOOTER <= size <= min(_MAX_BLOCK, end - 8):
            tail = source.read(end - size, source.size - end + size)
            if any(item in tail[:size] for item in _SCHEMES):
                return hashlib.sha256(b"%d:" % source.size + tail).hexdigest()
    return digest_of_content(source)

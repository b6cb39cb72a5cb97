"""The digests of an APK's whole content that schemes v2 and later sign: of pieces of 1 MiB, or fs-verity's.

Both cover everything but the signing block, with the end record pointing to where that begins (AOSP
ApkSigningBlockUtils, VerityBuilder).
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterator
from typing import Final, Literal

from droidgate_android.apk.archive import Archive
from droidgate_android.apk.signing_block import BrokenSignatureError

DigestKind = Literal["sha256", "sha512", "verity"]

_PIECE: Final = 1 << 20
_PAGE: Final = 4096
_SALT: Final = bytes(8)
_DIRECTORY_OFFSET: Final = 16


def content_digests(
    archive: Archive, block_offset: int, kinds: frozenset[DigestKind]
) -> dict[DigestKind, bytes]:
    """Return the digests of an APK's content, read once, piece by piece.

    Args:
        archive: The APK.
        block_offset: Where its signing block begins.
        kinds: Which digests.

    Raises:
        InputError: it cannot be read.
        BrokenSignatureError: the block does not fill whole pages, which the fs-verity tree requires.
    """
    plain = [kind for kind in ("sha256", "sha512") if kind in kinds]
    pieces: dict[str, list[bytes]] = {kind: [] for kind in plain}
    tree = _Tree(archive, block_offset) if "verity" in kinds else None
    count = 0
    for piece in _pieces(archive, block_offset):
        count += 1
        head = b"\xa5" + struct.pack("<I", len(piece))
        for kind in plain:
            digest = hashlib.new(kind, head)
            digest.update(piece)
            pieces[kind].append(digest.digest())
        if tree is not None:
            tree.add(piece)
    found: dict[DigestKind, bytes] = {}
    head = b"\x5a" + struct.pack("<I", count)
    for kind in plain:
        found["sha256" if kind == "sha256" else "sha512"] = hashlib.new(
            kind, head + b"".join(pieces[kind])
        ).digest()
    if tree is not None:
        found["verity"] = tree.root()
    return found


def _pieces(archive: Archive, block_offset: int) -> Iterator[bytes]:
    source = archive.source
    for start, end in ((0, block_offset), (archive.directory_offset, archive.end_offset)):
        for offset in range(start, end, _PIECE):
            yield source.read(offset, min(_PIECE, end - offset))
    record = bytearray(source.read(archive.end_offset, source.size - archive.end_offset))
    struct.pack_into("<I", record, _DIRECTORY_OFFSET, block_offset)
    yield bytes(record)


class _Tree:
    """The Merkle tree of fs-verity over pages of 4 KiB, with a salt of eight zero bytes."""

    def __init__(self, archive: Archive, block_offset: int) -> None:
        block_size = archive.directory_offset - block_offset
        if block_offset % _PAGE or block_size % _PAGE:
            raise BrokenSignatureError("its signing block does not fill whole pages")
        self._size = archive.source.size - block_size
        self._rest = b""
        self._digests: list[bytes] = []

    def add(self, piece: bytes) -> None:
        data = self._rest + piece
        whole = len(data) - len(data) % _PAGE
        self._digests.extend(_page_digests(data[:whole]))
        self._rest = data[whole:]

    def root(self) -> bytes:
        """Return the root's digest and the length of the content."""
        if self._rest:
            self._digests.extend(_page_digests(self._rest.ljust(_PAGE, b"\0")))
        level = b"".join(self._digests)
        while len(level) > _PAGE:
            level = b"".join(_page_digests(_padded(level)))
        return hashlib.sha256(_SALT + _padded(level)).digest() + struct.pack("<Q", self._size)


def _padded(level: bytes) -> bytes:
    return level + bytes(-len(level) % _PAGE)


def _page_digests(data: bytes) -> Iterator[bytes]:
    for offset in range(0, len(data), _PAGE):
        yield hashlib.sha256(_SALT + data[offset : offset + _PAGE]).digest()

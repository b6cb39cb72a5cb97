"""Verifying signatures of APK Signature Scheme v2, v3 and v3.1 as Android does.

The signed digests cover the whole content but the signing block, in pieces of 1 MiB or as fs-verity's tree;
the end record counts as if it pointed to where that block begins.

Sources: AOSP ApkSignatureSchemeV2Verifier, ApkSignatureSchemeV3Verifier, ApkSigningBlockUtils, VerityBuilder.
"""

from __future__ import annotations

import hashlib
import hmac
import struct
from collections.abc import Iterator
from typing import Final, Literal

from droidgate_android.apk.archive import Archive
from droidgate_android.apk.der import read_certificate
from droidgate_android.apk.public_keys import Hash, KeyKind, check_signature
from droidgate_android.apk.signing_block import (
    FIRST_SDK_WITH_V3,
    FIRST_SDK_WITH_V31,
    BrokenSignatureError,
    SchemeSignature,
    Signer,
    SigningBlock,
    number,
    prefixed,
    sequence,
)
from droidgate_mappings.records import dataclass
from droidgate_mappings.tables.android_names import android_name

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
    digests: dict[DigestKind, bytes] = {}
    head = b"\x5a" + struct.pack("<I", count)
    for kind in plain:
        digests["sha256" if kind == "sha256" else "sha512"] = hashlib.new(
            kind, head + b"".join(pieces[kind])
        ).digest()
    if tree is not None:
        digests["verity"] = tree.root()
    return digests


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


_STRIPPING_PROTECTION: Final = 0xBEEFF00D
_PROOF_OF_ROTATION: Final = 0x3BA06F8C
_ROTATION_SDK: Final = 0x559F8B02
_V3: Final = 3
_MAX_LEVELS: Final = 100
"""Keys that an app may have had; each is one signature to check."""


@dataclass(frozen=True, slots=True)
class _Algorithm:
    kind: KeyKind
    hash: Hash
    digest: DigestKind


_ALGORITHMS: Final = {
    0x0101: _Algorithm("rsa-pss", "sha256", "sha256"),
    0x0102: _Algorithm("rsa-pss", "sha512", "sha512"),
    0x0103: _Algorithm("rsa", "sha256", "sha256"),
    0x0104: _Algorithm("rsa", "sha512", "sha512"),
    0x0201: _Algorithm("ec", "sha256", "sha256"),
    0x0202: _Algorithm("ec", "sha512", "sha512"),
    0x0301: _Algorithm("dsa", "sha256", "sha256"),
    0x0421: _Algorithm("rsa", "sha256", "verity"),
    0x0423: _Algorithm("ec", "sha256", "verity"),
    0x0425: _Algorithm("dsa", "sha256", "verity"),
}
_STRENGTH: Final = {"sha256": 0, "verity": 1, "sha512": 2}


def verify_scheme(archive: Archive, block: SigningBlock, signature: SchemeSignature, sdk: int) -> None:
    """Verify the signers that one release of Android reads, and the APK's content.

    Args:
        archive: The APK.
        block: Its signing block.
        signature: What the release reads of it.
        sdk: The release.

    Raises:
        BrokenSignatureError: the release would refuse the signature.
        InputError: the file cannot be read.
    """
    if not archive.is_plain:
        raise BrokenSignatureError("its ZIP directory and end record are not where the scheme requires them")
    if signature.scheme != "v2" and len(signature.signers) > 1:
        message = f"its {signature.scheme} signature has several signers for {android_name(sdk)}"
        raise BrokenSignatureError(message)
    expected: dict[DigestKind, bytes] = {}
    for signer in signature.signers:
        algorithm, digest = _verify_signer(signer)
        if not hmac.compare_digest(expected.setdefault(algorithm.digest, digest), digest):
            raise BrokenSignatureError("its signers disagree about the content")
        if signature.scheme == "v2":
            _check_v2_attributes(signer, sdk)
        else:
            _check_v3_attributes(signer, signature, sdk)
    digests = content_digests(archive, block.offset, frozenset(expected))
    if any(not hmac.compare_digest(digests[kind], digest) for kind, digest in expected.items()):
        raise BrokenSignatureError("the content is not what was signed")


def _verify_signer(signer: Signer) -> tuple[_Algorithm, bytes]:
    """Return the algorithm that counts and the content's digest that is signed with it."""
    signatures = list(_records(signer.signatures))
    best: tuple[int, bytes] | None = None
    for identifier, signature in signatures:
        algorithm = _ALGORITHMS.get(identifier)
        if algorithm is not None and (
            best is None or _STRENGTH[algorithm.digest] > _STRENGTH[_ALGORITHMS[best[0]].digest]
        ):
            best = identifier, signature
    if best is None:
        numbers = ", ".join(f"0x{item:04x}" for item, _ in signatures[:3])
        raise BrokenSignatureError(f"its signature algorithm is not known: {numbers or 'none'}")
    algorithm = _ALGORITHMS[best[0]]
    check_signature(algorithm.kind, algorithm.hash, signer.public_key, best[1], signer.signed)
    digests = list(_records(prefixed(signer.signed, 0)[0]))
    if [item for item, _ in digests] != [item for item, _ in signatures]:
        raise BrokenSignatureError("its digests and its signatures are of different algorithms")
    if read_certificate(signer.certificates[0]).public_key != signer.public_key:
        raise BrokenSignatureError("the certificate is of another key than the one that signed")
    return algorithm, dict(digests)[best[0]]


def _records(data: bytes) -> Iterator[tuple[int, bytes]]:
    for item in sequence(data):
        yield number(item, 0), prefixed(item, 4)[0]


def _check_v2_attributes(signer: Signer, sdk: int) -> None:
    for key, value in signer.attributes(has_versions=False):
        if key == _STRIPPING_PROTECTION and number(value, 0) == _V3 and sdk >= FIRST_SDK_WITH_V3:
            raise BrokenSignatureError("its v2 signature says that there is a v3 signature, which is missing")


def _check_v3_attributes(signer: Signer, signature: SchemeSignature, sdk: int) -> None:
    if signer.signed_versions() != (signer.minimum_sdk, signer.maximum_sdk):
        raise BrokenSignatureError("a signer is for other releases than what is signed")
    has_proof = False
    for key, value in signer.attributes(has_versions=True):
        if key == _PROOF_OF_ROTATION:
            if has_proof:
                raise BrokenSignatureError("a signer has two proofs of rotation")
            has_proof = True
            certificates = _verify_rotation(value)
            if certificates and certificates[-1] != signer.certificates[0]:
                raise BrokenSignatureError("the proof of rotation ends with another certificate")
        elif (
            key == _ROTATION_SDK and sdk >= FIRST_SDK_WITH_V31 and number(value, 0) != signature.rotation_sdk
        ):
            raise BrokenSignatureError(
                "its v3 signature says that there is a v3.1 signature, which is missing"
            )


def _verify_rotation(proof: bytes) -> list[bytes]:
    """Return the certificates of a proof of rotation, oldest first; each key signed the next certificate."""
    number(proof, 0)
    certificates: list[bytes] = []
    last_algorithm = 0
    for level in sequence(proof[4:]):
        if len(certificates) == _MAX_LEVELS:
            raise BrokenSignatureError(f"the proof of rotation has more than {_MAX_LEVELS} certificates")
        signed, position = prefixed(level, 0)
        algorithm = number(level, position + 4)
        signature, _ = prefixed(level, position + 8)
        certificate, end = prefixed(signed, 0)
        if certificates:
            used = _ALGORITHMS.get(last_algorithm)
            if used is None or number(signed, end) != last_algorithm:
                raise BrokenSignatureError(
                    "the proof of rotation has an algorithm that is not known or not the one said"
                )
            key = read_certificate(certificates[-1]).public_key
            check_signature(used.kind, used.hash, key, signature, signed)
        if certificate in certificates:
            raise BrokenSignatureError("the proof of rotation has a certificate twice")
        certificates.append(certificate)
        last_algorithm = algorithm
    return certificates

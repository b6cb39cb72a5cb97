"""The APK Signing Block: which of its signatures a release of Android reads, and which signers in it.

Follows AOSP's ApkSigningBlockUtils and ApkSignatureSchemeV2/V3Verifier: of two pairs with one id the first is
read, v3.1 is read from Android 13 on, and a v3 signer counts only on the releases it is for. Nothing is
verified here.
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Iterator
from typing import Final, Literal

from droidgate_android.apk.apk_budgets import MIB
from droidgate_android.apk.archive import Archive
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.records import dataclass
from droidgate_mappings.tables.android_names import android_name

Scheme = Literal["v1", "v2", "v3", "v3.1"]

NEWEST_SDK: Final = 36
"""The release whose signers count where no phone is known."""

FIRST_SDK_WITH_V2: Final = 24
FIRST_SDK_WITH_V3: Final = 28
FIRST_SDK_WITH_V31: Final = 33
MAX_SIGNERS: Final = 10
"""Android accepts no more."""

MAGIC: Final = b"APK Sig Block 42"
_FOOTER: Final = struct.Struct("<Q16s")
_MAX_BLOCK: Final = 16 * MIB
_V2, _V3, _V31 = 0x7109871A, 0xF05368C0, 0x1B93AD61
_NAMES: Final[dict[int, Scheme]] = {_V2: "v2", _V3: "v3", _V31: "v3.1"}
_LEAST_PAIR: Final = 4

ON_DEVELOPMENT_RELEASE: Final = 0xC2A6B3BA
"""Attribute of a v3.1 signer that is for the release before the one it names, while that is developed."""


class BrokenSignatureError(ValueError):
    """A signature does not have the form that its scheme requires."""


@dataclass(frozen=True, slots=True)
class SigningBlock:
    """The block before the central directory.

    Attributes:
        offset: Where it begins.
        pairs: Ids and values in order, up to the first that is broken.
        is_broken: A pair is broken.
    """

    offset: int
    pairs: tuple[tuple[int, bytes], ...]
    is_broken: bool = False

    def find(self, key: int) -> bytes | None:
        """Return the value of the first pair with an id, as Android does; None without one."""
        return next((value for item, value in self.pairs if item == key), None)

    @property
    def repeated(self) -> tuple[Scheme, ...]:
        """The schemes that are in it more than once."""
        counts = Counter(key for key, _ in self.pairs)
        return tuple(name for key, name in _NAMES.items() if counts[key] > 1)


@dataclass(frozen=True, slots=True)
class Signer:
    """One signer of a signature of scheme v2 or later.

    Attributes:
        signed: What is signed: digests, certificates, attributes.
        signatures: Algorithm and signature, in order.
        public_key: SubjectPublicKeyInfo.
        minimum_sdk: First release it is for; 0 in v2.
        maximum_sdk: Last release it is for.
    """

    signed: bytes
    signatures: bytes
    public_key: bytes
    minimum_sdk: int = 0
    maximum_sdk: int = 0x7FFFFFFF

    @property
    def certificates(self) -> tuple[bytes, ...]:
        """Its certificates in DER; the first is the signer's.

        Raises:
            BrokenSignatureError: the block has no certificate.
        """
        _, position = prefixed(self.signed, 0)
        certificates = tuple(sequence(prefixed(self.signed, position)[0]))
        if not certificates:
            raise BrokenSignatureError("a signer has no certificate")
        return certificates

    def attributes(self, *, has_versions: bool) -> Iterator[tuple[int, bytes]]:
        """Yield id and value of each additional attribute.

        Args:
            has_versions: It is of v3 or later, where the releases are before the attributes.

        Raises:
            BrokenSignatureError: the attributes are cut off.
        """
        _, position = prefixed(self.signed, 0)
        _, position = prefixed(self.signed, position)
        for item in sequence(prefixed(self.signed, position + 8 * has_versions)[0]):
            yield number(item, 0), item[4:]

    def signed_versions(self) -> tuple[int, int]:
        """Return the releases that are signed, of v3 or later.

        Raises:
            BrokenSignatureError: the versions are cut off.
        """
        _, position = prefixed(self.signed, 0)
        _, position = prefixed(self.signed, position)
        return number(self.signed, position), number(self.signed, position + 4)


@dataclass(frozen=True, slots=True)
class SchemeSignature:
    """What one release of Android reads of a signing block.

    Attributes:
        scheme: Which scheme.
        signers: The signers that are for the release.
        rotation_sdk: First release of the v3.1 signers that are not for this release, None without any.
    """

    scheme: Scheme
    signers: tuple[Signer, ...]
    rotation_sdk: int | None = None


def find_signing_block(archive: Archive) -> SigningBlock | None:
    """Return the signing block of an archive, None without one.

    Raises:
        InputError: it has an impossible size.
    """
    end = archive.directory_offset
    if end < _FOOTER.size + 8:
        return None
    size, magic = _FOOTER.unpack(archive.read_bytes(end - _FOOTER.size, _FOOTER.size))
    if magic != MAGIC:
        return None
    if not _FOOTER.size <= size <= min(_MAX_BLOCK, end - 8):
        raise InputError("its signing block has an impossible size", place=archive.name)
    block = archive.read_bytes(end - size - 8, size + 8 - _FOOTER.size)
    if struct.unpack_from("<Q", block)[0] != size:
        raise InputError("its signing block has two sizes that differ", place=archive.name)
    pairs: list[tuple[int, bytes]] = []
    position = 8
    while position < len(block):
        length = struct.unpack_from("<Q", block, position)[0] if position + 8 <= len(block) else 0
        start, stop = position + 12, position + 8 + length
        if length < _LEAST_PAIR or stop > len(block):
            return SigningBlock(end - size - 8, tuple(pairs), is_broken=True)
        pairs.append((number(block, position + 8), block[start:stop]))
        position = stop
    return SigningBlock(end - size - 8, tuple(pairs))


def read_scheme(block: SigningBlock, sdk: int) -> SchemeSignature | None:
    """Return what one release of Android reads of a block; None where it reads the v1 signature instead.

    Raises:
        BrokenSignatureError: it reads a signature that is broken, or has no signer for the release.
    """
    rotation = None
    value = block.find(_V31)
    if value is not None and sdk >= FIRST_SDK_WITH_V31:
        signers = tuple(_signers(value, has_versions=True))
        chosen = tuple(
            signer for signer in signers if _is_for(signer, sdk) and not _is_for_later(signer, sdk)
        )
        if chosen:
            return SchemeSignature("v3.1", chosen)
        rotation = min(
            (
                signer.minimum_sdk
                for signer in signers
                if not _is_for(signer, sdk) or _is_for_later(signer, sdk)
            ),
            default=None,
        )
    value = block.find(_V3)
    if value is not None and sdk >= FIRST_SDK_WITH_V3:
        chosen = tuple(signer for signer in _signers(value, has_versions=True) if _is_for(signer, sdk))
        if not chosen:
            raise BrokenSignatureError(f"its v3 signature has no signer for {android_name(sdk)}")
        return SchemeSignature("v3", chosen, rotation)
    value = block.find(_V2)
    if value is not None and sdk >= FIRST_SDK_WITH_V2:
        chosen = tuple(_signers(value, has_versions=False))
        if not chosen:
            raise BrokenSignatureError("its v2 signature has no signer")
        return SchemeSignature("v2", chosen)
    return None


def _is_for(signer: Signer, sdk: int) -> bool:
    return signer.minimum_sdk <= sdk <= signer.maximum_sdk


def _is_for_later(signer: Signer, sdk: int) -> bool:
    """Return whether a signer is for a release that was developed under the number of this one."""
    return signer.minimum_sdk == sdk and any(
        key == ON_DEVELOPMENT_RELEASE for key, _ in signer.attributes(has_versions=True)
    )


def _signers(value: bytes, *, has_versions: bool) -> Iterator[Signer]:
    for count, item in enumerate(sequence(prefixed(value, 0)[0])):
        if count == MAX_SIGNERS:
            raise BrokenSignatureError(f"it has more than {MAX_SIGNERS} signers")
        signed, position = prefixed(item, 0)
        versions = (0, 0x7FFFFFFF)
        if has_versions:
            versions = number(item, position), number(item, position + 4)
            position += 8
        signatures, position = prefixed(item, position)
        public_key, _ = prefixed(item, position)
        yield Signer(signed, signatures, public_key, *versions)


def number(data: bytes, position: int) -> int:
    """Return an unsigned number of 32 bits.

    Raises:
        BrokenSignatureError: it is cut off; so for `prefixed` and `sequence`.
    """
    if position + 4 > len(data):
        raise BrokenSignatureError("it is cut off")
    return int(struct.unpack_from("<I", data, position)[0])


def prefixed(data: bytes, position: int) -> tuple[bytes, int]:
    """Return a length-prefixed field and where it ends."""
    end = position + 4 + number(data, position)
    if end > len(data):
        raise BrokenSignatureError("it is cut off")
    return data[position + 4 : end], end


def sequence(data: bytes) -> Iterator[bytes]:
    """Yield the length-prefixed items that a field is made of."""
    position = 0
    while position < len(data):
        item, position = prefixed(data, position)
        yield item

"""Who signed an APK: the certificates in its signing block (schemes v2, v3, v3.1) or in META-INF (v1).

Nothing is verified here; that is done by the device that installs the APK. What is read is what the file
says of its signer (source.android.com, APK Signature Scheme v2 and v3; the JAR file specification for v1).
"""

from __future__ import annotations

import hashlib
import re
import struct
from collections.abc import Iterator
from typing import Final

from droidgate.apk.archive import Archive
from droidgate.apk.budgets import MIB
from droidgate.model.errors import InputError

_MAGIC: Final = b"APK Sig Block 42"
_FOOTER: Final = struct.Struct("<Q16s")
_MAX_BLOCK: Final = 16 * MIB
_SCHEMES: Final = (0x1B93AD61, 0xF05368C0, 0x7109871A)
"""v3.1, v3 and v2: the first that is there names the signer on a device of today."""

_V1_BLOCK: Final = re.compile(r"META-INF/[^/]+\.(?:RSA|DSA|EC)", re.IGNORECASE)
_MAX_V1_BLOCK: Final = MIB
_MAX_SIGNERS: Final = 10
"""More are refused by Android as well."""


def read_signers(archive: Archive) -> tuple[str, ...]:
    """Return the SHA-256 of each signing certificate's DER form, lower-case hexadecimal; empty without one.

    Raises:
        InputError: the signature is broken.
    """
    return tuple(hashlib.sha256(one).hexdigest() for one in read_certificates(archive))


def read_certificates(archive: Archive) -> tuple[bytes, ...]:
    """Return each signing certificate's DER form; empty without one.

    Raises:
        InputError: the signature is broken.
    """
    return tuple(dict.fromkeys(_from_signing_block(archive) or _from_meta_inf(archive)))


def _broken(archive: Archive, reason: str) -> InputError:
    return InputError(f"its signing block {reason}", place=archive.name)


def _from_signing_block(archive: Archive) -> list[bytes]:
    end = archive.directory_offset
    if end < _FOOTER.size + 8:
        return []
    size, magic = _FOOTER.unpack(archive.read_bytes(end - _FOOTER.size, _FOOTER.size))
    if magic != _MAGIC:
        return []
    if not _FOOTER.size <= size <= min(_MAX_BLOCK, end - 8):
        raise _broken(archive, "has an impossible size")
    block = archive.read_bytes(end - size, size - _FOOTER.size)
    try:
        pairs = dict(_pairs(block))
        for scheme in _SCHEMES:
            if scheme in pairs:
                signers = list(_sequence(_prefixed(pairs[scheme], 0)[0]))[:_MAX_SIGNERS]
                return [_first_certificate(signer) for signer in signers]
    except (struct.error, ValueError):
        raise _broken(archive, "is cut off inside") from None
    return []


def _pairs(block: bytes) -> Iterator[tuple[int, bytes]]:
    position = 0
    while position + 12 <= len(block):
        length, key = struct.unpack_from("<QI", block, position)
        end = position + 8 + length
        if length < 4 or end > len(block):  # noqa: PLR2004 - the key's own bytes
            raise ValueError
        yield key, block[position + 12 : end]
        position = end


def _prefixed(data: bytes, position: int) -> tuple[bytes, int]:
    """Return a length-prefixed field and where it ends."""
    length = struct.unpack_from("<I", data, position)[0]
    end = position + 4 + length
    if end > len(data):
        raise ValueError
    return data[position + 4 : end], end


def _sequence(data: bytes) -> Iterator[bytes]:
    position = 0
    while position < len(data):
        item, position = _prefixed(data, position)
        yield item


def _first_certificate(signer: bytes) -> bytes:
    signed, _ = _prefixed(signer, 0)
    _, after_digests = _prefixed(signed, 0)
    certificates, _ = _prefixed(signed, after_digests)
    return _prefixed(certificates, 0)[0]


def _from_meta_inf(archive: Archive) -> list[bytes]:
    names = [one for one in archive.names_below("META-INF/") if _V1_BLOCK.fullmatch(one)]
    return [_leaf_certificate(archive, name) for name in names[:_MAX_SIGNERS]]


def _leaf_certificate(archive: Archive, name: str) -> bytes:
    """Return the certificate of a PKCS#7 block that issued none of the others."""
    # Only old APKs have nothing but a v1 signature, and the import takes its time.
    from cryptography.exceptions import UnsupportedAlgorithm  # noqa: PLC0415
    from cryptography.hazmat.primitives.serialization import Encoding, pkcs7  # noqa: PLC0415

    data = archive.read_entry(name, _MAX_V1_BLOCK)
    try:
        certificates = pkcs7.load_der_pkcs7_certificates(data)
        issuers = {one.issuer.public_bytes() for one in certificates if one.issuer != one.subject}
        leaves = [one for one in certificates if one.subject.public_bytes() not in issuers]
        return (leaves or certificates)[0].public_bytes(Encoding.DER)
    except (ValueError, TypeError, IndexError, UnsupportedAlgorithm) as error:
        place = archive.place_of(name)
        raise InputError(f"the signature cannot be read: {error}", place=place) from None

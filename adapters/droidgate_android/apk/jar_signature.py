"""The detached signature of a JAR manifest: PKCS#7 SignedData without attributes (RFC 2315), in DER.

Written here and not by a library so that an EC signature is the same each time.
"""

from __future__ import annotations

from typing import Final

from droidgate_android.apk.signing_keys import SigningKey

_SEQUENCE, _SET, _INTEGER, _OCTETS, _NULL, _OBJECT, _TAGGED = 0x30, 0x31, 0x02, 0x04, 0x05, 0x06, 0xA0
_SHORT_LENGTH: Final = 0x80

_SIGNED_DATA: Final = "2a864886f70d010702"
_DATA: Final = "2a864886f70d010701"
_SHA256: Final = "608648016503040201"
_SIGNATURES: Final = {"rsa": "2a864886f70d010101", "ec": "2a8648ce3d040302"}


def write_signed_data(content: bytes, key: SigningKey) -> bytes:
    """Return the signature of the content, which is not part of it."""
    certificate = key.certificate
    digest_algorithm = _algorithm(_SHA256, has_null=True)
    issuer = certificate.issuer.public_bytes()
    signer = _der(
        _SEQUENCE,
        _integer(1),
        _der(_SEQUENCE, issuer, _integer(certificate.serial_number)),
        digest_algorithm,
        _algorithm(_SIGNATURES[key.type], has_null=key.type == "rsa"),
        _der(_OCTETS, key.sign(content)),
    )
    signed = _der(
        _SEQUENCE,
        _integer(1),
        _der(_SET, digest_algorithm),
        _der(_SEQUENCE, _object(_DATA)),
        _der(_TAGGED, key.certificate_der),
        _der(_SET, signer),
    )
    return _der(_SEQUENCE, _object(_SIGNED_DATA), _der(_TAGGED, signed))


def _der(tag: int, *contents: bytes) -> bytes:
    content = b"".join(contents)
    if len(content) < _SHORT_LENGTH:
        return bytes((tag, len(content))) + content
    length = len(content).to_bytes((len(content).bit_length() + 7) // 8, "big")
    return bytes((tag, _SHORT_LENGTH | len(length))) + length + content


def _integer(number: int) -> bytes:
    return _der(_INTEGER, number.to_bytes(number.bit_length() // 8 + 1, "big"))


def _object(identifier: str) -> bytes:
    return _der(_OBJECT, bytes.fromhex(identifier))


def _algorithm(identifier: str, *, has_null: bool) -> bytes:
    return _der(_SEQUENCE, _object(identifier), _der(_NULL) if has_null else b"")

"""As much of DER as signatures need: X.509 certificates and PKCS#7 SignedData (RFC 5280, RFC 2315)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from droidgate_android.apk.signing_block import BrokenSignatureError
from droidgate_mappings.records import dataclass

SEQUENCE, SET, INTEGER, OCTETS, OBJECT = 0x30, 0x31, 0x02, 0x04, 0x06
TAGGED_0, TAGGED_1 = 0xA0, 0xA1
_LONG: Final = 0x80
_MAX_LENGTH_BYTES: Final = 4
_HIGH_TAG: Final = 0x1F


@dataclass(frozen=True, slots=True)
class DerElement:
    """One element.

    Attributes:
        tag: Its tag, of one byte.
        content: What it holds.
        raw: The whole element.
    """

    tag: int
    content: bytes
    raw: bytes

    def children(self) -> list[DerElement]:
        """Return the elements that it is made of.

        Raises:
            BrokenSignatureError: the content is not DER.
        """
        return list(elements(self.content))


def elements(data: bytes) -> Iterator[DerElement]:
    """Yield the elements one after the other.

    Raises:
        BrokenSignatureError: one is cut off, or has a length of unknown extent (BER).
    """
    position = 0
    while position < len(data):
        element = _element_at(data, position)
        yield element
        position += len(element.raw)


def first_element(data: bytes) -> DerElement:
    """Return the first element; what follows is overlooked.

    Raises:
        BrokenSignatureError: there is none, or it is broken.
    """
    return _element_at(data, 0)


def _element_at(data: bytes, position: int) -> DerElement:
    if position + 2 > len(data) or data[position] & _HIGH_TAG == _HIGH_TAG:
        raise BrokenSignatureError("its DER is broken")
    length, start = data[position + 1], position + 2
    if length >= _LONG:
        count = length - _LONG
        if not 0 < count <= _MAX_LENGTH_BYTES or start + count > len(data):
            raise BrokenSignatureError("its DER is broken, or is BER")
        length, start = int.from_bytes(data[start : start + count], "big"), start + count
    end = start + length
    if end > len(data):
        raise BrokenSignatureError("its DER is cut off")
    return DerElement(data[position], data[start:end], data[position:end])


@dataclass(frozen=True, slots=True)
class Certificate:
    """What is needed of an X.509 certificate.

    Attributes:
        der: All of it.
        serial: The content of its serial number.
        issuer: The name of its issuer in DER.
        subject: Its name in DER.
        public_key: SubjectPublicKeyInfo.
    """

    der: bytes
    serial: bytes
    issuer: bytes
    subject: bytes
    public_key: bytes


def read_certificate(der: bytes) -> Certificate:
    """Return the fields of a certificate.

    Raises:
        BrokenSignatureError: the data is not a certificate.
    """
    parts = first_element(der).children()
    fields = parts[0].children() if parts else []
    if fields and fields[0].tag == TAGGED_0:
        fields = fields[1:]
    if len(fields) < 6 or fields[0].tag != INTEGER or fields[5].tag != SEQUENCE:  # noqa: PLR2004
        raise BrokenSignatureError("a certificate is broken")
    return Certificate(der, fields[0].content, fields[2].raw, fields[4].raw, fields[5].raw)

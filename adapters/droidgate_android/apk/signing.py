"""Signing APKs: schemes v1 (JAR), v2 and v3 (AOSP's documentation of APK signing, and apksig).

v2 and v3 cover the archive as a whole and are in a block of their own between the entries and the central
directory. Android 7 and later read v2, Android 9 and later v3; an older Android reads v1 alone, which is
written only where an app is for one. The signature of a JAR manifest is PKCS#7 SignedData without attributes
(RFC 2315) in DER; it is written here and not by a library so that an EC signature is the same each time.
"""

from __future__ import annotations

import base64
import hashlib
import struct
from collections.abc import Iterable, Mapping
from typing import Final

from droidgate_android.apk.signing_block import FIRST_SDK_WITH_V2, FIRST_SDK_WITH_V3
from droidgate_android.apk.signing_keys import SigningKey
from droidgate_android.apk.zip_writer import ZipParts, write_zip
from droidgate_mappings.model.errors import WriteError
from droidgate_mappings.tables.android_names import android_name

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


LEAST_SDK: Final = 18
"""Older Android reads no SHA-256 in v1 signatures."""

_SIGNATURE_ALGORITHMS: Final = {"rsa": 0x0103, "ec": 0x0201}
_V2_BLOCK, _V3_BLOCK, _PADDING_BLOCK = 0x7109871A, 0xF05368C0, 0x42726577
_STRIPPING_PROTECTION: Final = 0xBEEFF00D
_MAGIC: Final = b"APK Sig Block 42"
_CHUNK: Final = 1 << 20
_PAGE: Final = 4096
_MAX_SDK: Final = 0x7FFFFFFF
_DIRECTORY_OFFSET: Final = 16
_LINE: Final = 70
_CREATOR: Final = b"Created-By: 1.0 (droidgate)\r\n"


def sign_apk(files: Mapping[str, bytes], key: SigningKey, *, minimum_sdk: int) -> bytes:
    """Return the signed APK of the given entries.

    Args:
        files: Its entries in order, without signatures.
        key: What it is signed with.
        minimum_sdk: The oldest Android that it is for; v1 is written below 24 only.

    Raises:
        WriteError: it is for an Android older than 4.3, or does not fit into an archive.
    """
    if minimum_sdk < LEAST_SDK:
        message = f"apps for releases before {android_name(LEAST_SDK)} are not signed"
        raise WriteError(message, hint=f"raise minSdk to {LEAST_SDK} at least")
    if minimum_sdk < FIRST_SDK_WITH_V2:
        files = {**files, **_v1_files(files, key)}
    return _sign_archive(write_zip(files), key)


def _sign_archive(archive: ZipParts, key: SigningKey) -> bytes:
    algorithm = _SIGNATURE_ALGORITHMS[key.type]
    # The end record is digested as it is now: pointing to where the block will begin.
    digest = _content_digest((archive.entries, archive.directory, archive.end))
    digests = _sequence([struct.pack("<I", algorithm) + _prefixed(digest)])
    certificates = _sequence([key.certificate_der])

    def signer(signed: bytes, middle: bytes) -> bytes:
        signature = struct.pack("<I", algorithm) + _prefixed(key.sign(signed))
        return _sequence(
            [_prefixed(signed) + middle + _sequence([signature]) + _prefixed(key.public_key_der)]
        )

    must_have_v3 = _sequence([struct.pack("<II", _STRIPPING_PROTECTION, 3)])
    versions = struct.pack("<II", FIRST_SDK_WITH_V3, _MAX_SDK)
    pairs = _pair(_V2_BLOCK, signer(digests + certificates + must_have_v3, b""))
    pairs += _pair(_V3_BLOCK, signer(digests + certificates + versions + _prefixed(b""), versions))
    block = _signing_block(pairs)
    end = bytearray(archive.end)
    struct.pack_into("<I", end, _DIRECTORY_OFFSET, len(archive.entries) + len(block))
    return archive.entries + block + archive.directory + bytes(end)


def _signing_block(pairs: bytes) -> bytes:
    """Return the block, a whole number of pages long as apksigner makes it."""
    missing = -(len(pairs) + 32) % _PAGE
    if 0 < missing < 12:  # noqa: PLR2004 - a pair's own bytes
        missing += _PAGE
    if missing:
        pairs += _pair(_PADDING_BLOCK, bytes(missing - 12))
    size = struct.pack("<Q", len(pairs) + 24)
    return size + pairs + size + _MAGIC


def _pair(block_id: int, content: bytes) -> bytes:
    return struct.pack("<QI", len(content) + 4, block_id) + content


def _prefixed(content: bytes) -> bytes:
    return struct.pack("<I", len(content)) + content


def _sequence(items: Iterable[bytes]) -> bytes:
    return _prefixed(b"".join(map(_prefixed, items)))


def _content_digest(parts: Iterable[bytes]) -> bytes:
    digests = []
    for part in parts:
        view = memoryview(part)
        for start in range(0, len(view), _CHUNK):
            chunk = view[start : start + _CHUNK]
            digest = hashlib.sha256(b"\xa5" + struct.pack("<I", len(chunk)))
            digest.update(chunk)
            digests.append(digest.digest())
    return hashlib.sha256(b"\x5a" + struct.pack("<I", len(digests)) + b"".join(digests)).digest()


def _v1_files(files: Mapping[str, bytes], key: SigningKey, newer: str = "2, 3") -> dict[str, bytes]:
    """Return the files of a JAR signature; the `X-Android-APK-Signed` line names the newer signatures."""
    sections = {name: _section(name, hashlib.sha256(data).digest()) for name, data in files.items()}
    manifest = b"Manifest-Version: 1.0\r\n" + _CREATOR + b"\r\n" + b"".join(sections.values())
    head = b"Signature-Version: 1.0\r\n" + _CREATOR
    head += _line("SHA-256-Digest-Manifest", _base64(hashlib.sha256(manifest).digest()))
    head += f"X-Android-APK-Signed: {newer}\r\n\r\n".encode() if newer else b"\r\n"
    signed = head + b"".join(
        _section(name, hashlib.sha256(section).digest()) for name, section in sections.items()
    )
    return {
        "META-INF/MANIFEST.MF": manifest,
        "META-INF/CERT.SF": signed,
        f"META-INF/CERT.{key.type.upper()}": write_signed_data(signed, key),
    }


def _section(name: str, digest: bytes) -> bytes:
    return _line("Name", name) + _line("SHA-256-Digest", _base64(digest)) + b"\r\n"


def _line(name: str, value: str) -> bytes:
    """Return a line of a JAR manifest, wrapped: no line has more than 72 bytes with its end."""
    rest = f"{name}: {value}".encode()
    lines = [rest[:_LINE]]
    rest = rest[_LINE:]
    while rest:
        lines.append(b" " + rest[: _LINE - 1])
        rest = rest[_LINE - 1 :]
    return b"".join(line + b"\r\n" for line in lines)


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()

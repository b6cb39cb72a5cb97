"""Keys of adb hosts: which public keys are authorized, and whether a token is signed by one of them.

Facts: AOSP `packages/modules/adb` protocol.txt (AUTH), daemon/auth.cpp (`adbd_auth_verify`), and
`system/core/libcrypto_utils/android_pubkey.cpp` (the format of a public key).
"""

from __future__ import annotations

import base64
import binascii
import hmac
import struct
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

TOKEN_BYTES: Final = 20
"""Length of a token in bytes; adb signs it as if it were a SHA-1 digest."""

_MODULUS_BYTES: Final = 256
_WORDS: Final = _MODULUS_BYTES // 4
_KEY: Final = struct.Struct(f"<II{_MODULUS_BYTES}s{_MODULUS_BYTES}sI")
_EXPONENTS: Final = frozenset({3, 65537})
_DIGEST_PREFIX: Final = bytes.fromhex("3021300906052b0e03021a05000414")
"""DER header of a SHA-1 `DigestInfo` (RFC 8017, 9.2)."""

_LARGEST_FILE: Final = 256 * 1024


@dataclass(frozen=True, slots=True)
class PublicKey:
    """An RSA key of 2048 bits."""

    modulus: int
    exponent: int

    def has_signed(self, token: bytes, signature: bytes) -> bool:
        """Return whether a signature is this key's for a token (PKCS #1 v1.5, SHA-1).

        The whole encoded message is compared, so that no part of it can be chosen by the signer.
        """
        value = int.from_bytes(signature, "big")
        if len(token) != TOKEN_BYTES or len(signature) != _MODULUS_BYTES or value >= self.modulus:
            return False
        digest = _DIGEST_PREFIX + token
        padding = b"\xff" * (_MODULUS_BYTES - 3 - len(digest))
        expected = b"\x00\x01" + padding + b"\x00" + digest
        return hmac.compare_digest(
            pow(value, self.exponent, self.modulus).to_bytes(_MODULUS_BYTES, "big"), expected
        )


def read_public_key(text: bytes) -> PublicKey:
    """Read a public key as adb writes it: base64 of Android's structure, a blank, a name.

    Raises:
        ValueError: it is not a key of 2048 bits in that format.
    """
    encoded, _, _ = text.strip(b" \t\r\n\0").partition(b" ")
    try:
        words, _, modulus, _, exponent = _KEY.unpack(base64.b64decode(encoded, validate=True))
    except (binascii.Error, struct.error) as error:
        raise ValueError(f"not a public key of adb: {error}") from None
    key = PublicKey(int.from_bytes(modulus, "little"), exponent)
    is_large = key.modulus.bit_length() == 8 * _MODULUS_BYTES and key.modulus % 2 == 1
    if words != _WORDS or not is_large or exponent not in _EXPONENTS:
        raise ValueError("not an RSA key of 2048 bits")
    return key


def user_key_file() -> Path:
    """Return the file with the public key of the user's adb server; adb writes it when it first starts."""
    return Path.home() / ".android" / "adbkey.pub"


class AuthorizedKeys:
    """The public keys that may use a phone.

    The files are read at each attempt, because adb writes its key when its server first starts.

    Args:
        files: Files with one public key per line; a file that does not exist authorizes no host.
    """

    def __init__(self, files: Iterable[Path]) -> None:
        self.files = tuple(files)

    def keys(self) -> list[PublicKey]:
        """Return the keys; lines that are not keys are skipped."""
        keys = []
        for file in self.files:
            try:
                with file.open("rb") as opened:
                    lines = opened.read(_LARGEST_FILE).splitlines()
            except OSError:
                continue
            for line in lines:
                try:
                    keys.append(read_public_key(line))
                except ValueError:
                    continue
        return keys

    def have_signed(self, token: bytes, signature: bytes) -> bool:
        """Return whether one of the keys signed a token."""
        return any(key.has_signed(token, signature) for key in self.keys())

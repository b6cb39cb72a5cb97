"""Keys that APKs are signed with, and where they are kept.

Android installs an update only if the same key signed it, so a key is made once and kept in the user's
configuration folder: PKCS#8 and a self-made certificate in one PEM file that only its owner can read.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import os
import stat
from functools import cached_property
from pathlib import Path
from typing import Final, Literal

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
)
from cryptography.x509.oid import NameOID

from droidgate_mappings.model.errors import InputError, WriteError
from droidgate_mappings.records import dataclass
from droidgate_mappings.user_folders import configuration_folder

KeyType = Literal["ec", "rsa"]

RSA_BITS: Final = 2048
VALID_DAYS: Final = 10_950
"""Thirty years: an app whose certificate has expired can still be updated, but stores want 25 at least."""

_BINARY: Final = getattr(os, "O_BINARY", 0)
_MAX_BYTES: Final = 64 * 1024
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO


@dataclass(frozen=True)
class SigningKey:
    """A private key and its certificate.

    Attributes:
        private_key: EC on the curve P-256, or RSA.
        certificate: Its certificate, signed by itself.
    """

    private_key: EllipticCurvePrivateKey | RSAPrivateKey
    certificate: x509.Certificate

    @cached_property
    def type(self) -> KeyType:
        """Which kind of key."""
        return "rsa" if isinstance(self.private_key, RSAPrivateKey) else "ec"

    @cached_property
    def certificate_der(self) -> bytes:
        """The certificate as APKs hold it."""
        return self.certificate.public_bytes(Encoding.DER)

    @cached_property
    def public_key_der(self) -> bytes:
        """The public key as a SubjectPublicKeyInfo."""
        return self.private_key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the certificate, lower-case hexadecimal: how Android names a signer."""
        return hashlib.sha256(self.certificate_der).hexdigest()

    def sign(self, data: bytes) -> bytes:
        """Return a signature with SHA-256: PKCS#1 v1.5, or ECDSA in DER.

        Both are the same for the same data each time; ECDSA by RFC 6979, where OpenSSL is older than 3.2 with
        a random number instead.
        """
        if isinstance(self.private_key, RSAPrivateKey):
            return self.private_key.sign(data, PKCS1v15(), hashes.SHA256())
        return _sign_ec(self.private_key, data)


def _sign_ec(key: EllipticCurvePrivateKey, data: bytes) -> bytes:

    try:
        return key.sign(data, ec.ECDSA(hashes.SHA256(), deterministic_signing=True))
    except UnsupportedAlgorithm:
        return key.sign(data, ec.ECDSA(hashes.SHA256()))


def make_key(key_type: KeyType = "ec", *, common_name: str = "droidgate") -> SigningKey:
    """Return a new key with a certificate of its own, kept nowhere."""
    key: EllipticCurvePrivateKey | RSAPrivateKey = (
        ec.generate_private_key(ec.SECP256R1())
        if key_type == "ec"
        else rsa.generate_private_key(public_exponent=65537, key_size=RSA_BITS)
    )
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common_name)])
    start = dt.datetime.now(dt.UTC).replace(microsecond=0) - dt.timedelta(days=1)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(start)
        .not_valid_after(start + dt.timedelta(days=VALID_DAYS))
        .sign(key, hashes.SHA256())
    )
    return SigningKey(key, certificate)


def key_path(key_type: KeyType = "ec") -> Path:
    """Return where the user's key of this kind is kept."""
    return configuration_folder() / "signing" / f"{key_type}.pem"


def load_or_make_key(key_type: KeyType = "ec", *, path: Path | None = None) -> SigningKey:
    """Return the kept key, made and kept at the first call.

    Args:
        key_type: Which kind.
        path: The key's file; the user's own by default.

    Raises:
        InputError: the file is not a key, of another kind, or others can read it.
        WriteError: a new key cannot be kept.
    """
    file = path or key_path(key_type)
    if not file.exists():
        _keep(make_key(key_type), file)
    key = load_key(file)
    if key.type != key_type:
        message = f"it holds a key of the kind {key.type}, not {key_type}"
        raise InputError(message, place=str(file), hint=f"ask for {key.type}, or name another file")
    return key


def load_key(path: Path) -> SigningKey:
    """Return the key of a PEM file: PKCS#8 without a password, and its certificate.

    Raises:
        InputError: it cannot be read, is not a key file, or others can read it.
    """
    try:
        mode = path.stat().st_mode
        if not stat.S_ISREG(mode):
            raise InputError("it is not a file", place=str(path), hint="name the PEM file of a key")
        if os.name == "posix" and mode & _OTHERS:
            message = "others can read this private key"
            hint = f"chmod 600 {path}; if somebody else had it, delete it and reinstall what it signed"
            raise InputError(message, place=str(path), hint=hint)
        with path.open("rb") as file:
            data = file.read(_MAX_BYTES)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", error)
        raise InputError(f"cannot be read: {reason}", place=str(path)) from None
    return _parse_key(data, str(path))


def _parse_key(data: bytes, place: str) -> SigningKey:

    hint = "a PEM file holds the private key as PKCS#8 without a password, and its certificate"
    try:
        key = load_pem_private_key(data, password=None)
        certificate = x509.load_pem_x509_certificate(data)
    except (ValueError, TypeError) as error:
        first_line = str(error).partition("\n")[0]
        raise InputError(f"it is not a signing key: {first_line}", place=place, hint=hint) from None
    is_known = isinstance(key, RSAPrivateKey) or (
        isinstance(key, EllipticCurvePrivateKey) and isinstance(key.curve, ec.SECP256R1)
    )
    if not isinstance(key, RSAPrivateKey | EllipticCurvePrivateKey) or not is_known:
        raise InputError("its key is neither RSA nor EC on the curve P-256", place=place, hint=hint)
    if certificate.public_key() != key.public_key():
        raise InputError("its certificate is of another key", place=place, hint=hint)
    return SigningKey(key, certificate)


def _keep(key: SigningKey, path: Path) -> None:
    """Write a key so that no other program ever sees half of it; one that is there already stays."""
    text = key.private_key.private_bytes(
        Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()
    ) + key.certificate.public_bytes(Encoding.PEM)
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(text)
        try:
            os.link(draft, path)
        except FileExistsError:
            pass
        finally:
            draft.unlink()
    except OSError as error:
        message = f"the signing key cannot be kept: {error.strerror}"
        raise WriteError(message, place=str(path)) from None

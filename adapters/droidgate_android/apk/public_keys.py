"""Checking one signature with a public key: RSA, ECDSA or DSA."""

from __future__ import annotations

from typing import Final, Literal

from droidgate_android.apk.signing_block import BrokenSignatureError

Hash = Literal["sha1", "sha256", "sha384", "sha512"]
KeyKind = Literal["rsa", "rsa-pss", "ec", "dsa"]

_KIND_NAMES: Final = {"rsa": "RSA", "rsa-pss": "RSA", "ec": "EC", "dsa": "DSA"}


def check_signature(kind: KeyKind, digest: Hash, public_key: bytes, signature: bytes, data: bytes) -> None:
    """Check a signature.

    Args:
        kind: Which kind of key and padding.
        digest: With which hash `data` was signed.
        public_key: SubjectPublicKeyInfo.
        signature: The signature.
        data: What was signed.

    Raises:
        BrokenSignatureError: it is not the signature of `data`, or the key cannot be used.
    """
    # The import takes its time, and most runs verify nothing.
    from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import dsa, ec, padding, rsa
    from cryptography.hazmat.primitives.serialization import load_der_public_key

    used: hashes.HashAlgorithm = {
        "sha1": hashes.SHA1(),  # noqa: S303 - Android accepts it in v1 signatures
        "sha256": hashes.SHA256(),
        "sha384": hashes.SHA384(),
        "sha512": hashes.SHA512(),
    }[digest]
    try:
        key = load_der_public_key(public_key)
        if kind in {"rsa", "rsa-pss"} and isinstance(key, rsa.RSAPublicKey):
            filled = (
                padding.PSS(padding.MGF1(used), used.digest_size) if kind == "rsa-pss" else padding.PKCS1v15()
            )
            key.verify(signature, data, filled, used)
        elif kind == "ec" and isinstance(key, ec.EllipticCurvePublicKey):
            key.verify(signature, data, ec.ECDSA(used))
        elif kind == "dsa" and isinstance(key, dsa.DSAPublicKey):
            key.verify(signature, data, used)
        else:
            raise BrokenSignatureError(f"the signer's key is not an {_KIND_NAMES[kind]} key")
    except InvalidSignature:
        raise BrokenSignatureError("the signature does not match what it signs") from None
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        if isinstance(error, BrokenSignatureError):
            raise
        raise BrokenSignatureError(f"the signer's key cannot be used: {error}") from None

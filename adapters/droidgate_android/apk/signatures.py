"""Who signed an APK, as one release of Android sees it, and whether the signature is right.

`read_signature` returns what the file says; `verify_signature` checks it as the release does when it installs
the APK. Only a verified signer may decide anything.
"""

from __future__ import annotations

import hashlib
import re
from typing import Final

from droidgate_android.apk.apk_budgets import Limits
from droidgate_android.apk.archive import Archive
from droidgate_android.apk.jar_verification import FOLDER, MAX_BLOCK_BYTES, read_signed_data, verify_jar
from droidgate_android.apk.scheme_verification import verify_scheme
from droidgate_android.apk.signing_block import (
    MAX_SIGNERS,
    NEWEST_SDK,
    BrokenSignatureError,
    Scheme,
    SchemeSignature,
    find_signing_block,
    read_scheme,
)
from droidgate_mappings.model.errors import BudgetError, InputError
from droidgate_mappings.records import dataclass, replace
from droidgate_mappings.tables.android_names import android_name

_V1_BLOCK: Final = re.compile(r"META-INF/[^/]+\.(?:RSA|DSA|EC)", re.IGNORECASE)
_FIRST_TARGET_WITHOUT_V1: Final = 30


@dataclass(frozen=True, slots=True)
class ApkSignature:
    """The signature of an APK that one release of Android reads.

    Attributes:
        scheme: Which scheme, None where the APK is not signed.
        certificates: Each signer's certificate in DER.
        verified: The signature was checked and is right; None where it was not checked.
        problem: Why it is not right, or cannot be checked.
    """

    scheme: Scheme | None = None
    certificates: tuple[bytes, ...] = ()
    verified: bool | None = None
    problem: str | None = None

    @property
    def digests(self) -> tuple[str, ...]:
        """SHA-256 of each certificate, lower-case hexadecimal."""
        return tuple(hashlib.sha256(certificate).hexdigest() for certificate in self.certificates)


def read_signature(archive: Archive, sdk: int = NEWEST_SDK) -> ApkSignature:
    """Return the signature that a release of Android reads, not verified.

    Args:
        archive: The APK. A signing block made to mislead becomes a finding of it.
        sdk: The release.

    Raises:
        InputError: the signature is broken.
    """
    try:
        signature = _chosen(archive, sdk)
        if signature is not None:
            certificates = dict.fromkeys(signer.certificates[0] for signer in signature.signers)
            return ApkSignature(signature.scheme, tuple(certificates))
    except BrokenSignatureError as error:
        raise InputError(f"its signing block is broken: {error}", place=archive.name) from None
    certificates_of_v1 = _from_meta_inf(archive)
    return ApkSignature("v1", certificates_of_v1) if certificates_of_v1 else ApkSignature()


def verify_signature(
    archive: Archive, sdk: int = NEWEST_SDK, *, target_sdk: int | None = None, limits: Limits | None = None
) -> ApkSignature:
    """Return the signature that a release of Android reads, verified; it reads the whole file.

    Args:
        archive: The APK.
        sdk: The release.
        target_sdk: The APK's `targetSdkVersion`: from 30 on, Android 11 and later do not accept v1.
        limits: How much may be read to verify it.

    What cannot be verified, also because the file cannot be read to its end, has the reason in `problem`.
    """
    try:
        claimed = read_signature(archive, sdk)
    except InputError as error:
        return ApkSignature(verified=False, problem=error.message)
    if claimed.scheme is None:
        return claimed
    try:
        allowed = Limits() if limits is None else limits
        if claimed.scheme == "v1":
            certificates = _verify_v1(archive, sdk, target_sdk, allowed)
            return replace(claimed, certificates=certificates, verified=True)
        _verify_block(archive, sdk, allowed)
    except BrokenSignatureError as error:
        return replace(claimed, verified=False, problem=str(error))
    except InputError as error:
        place = f" ({error.place})" if error.place not in {None, archive.name} else ""
        return replace(claimed, verified=False, problem=f"{error.message}{place}")
    return replace(claimed, verified=True)


def _chosen(archive: Archive, sdk: int) -> SchemeSignature | None:
    block = find_signing_block(archive)
    if block is None:
        return None
    signature = read_scheme(block, sdk)
    if block.repeated:
        names = " and ".join(block.repeated)
        message = (
            f"its signing block has several signatures of scheme {names}, of which Android reads the first"
        )
        archive.report_evasive(message)
    if block.is_broken:
        if signature is None:
            raise BrokenSignatureError("it is cut off inside")
        archive.report_evasive("its signing block is broken after the signature that Android reads")
    return signature


def _verify_block(archive: Archive, sdk: int, limits: Limits) -> None:
    if archive.source.size > limits.verified_bytes:
        raise BudgetError(f"the file has more than {limits.verified_bytes} bytes, so it is not verified")
    block = find_signing_block(archive)
    signature = None if block is None else read_scheme(block, sdk)
    if block is not None and signature is not None:
        verify_scheme(archive, block, signature, sdk)


def _verify_v1(archive: Archive, sdk: int, target_sdk: int | None, limits: Limits) -> tuple[bytes, ...]:
    if (target_sdk or 0) >= _FIRST_TARGET_WITHOUT_V1 and sdk >= _FIRST_TARGET_WITHOUT_V1:
        message = f"it targets {android_name(target_sdk or 0)}; an app for that needs a v2 signature"
        raise BrokenSignatureError(message)
    certificates = verify_jar(archive, sdk, limits)
    if not certificates:
        raise BrokenSignatureError("no file of META-INF is a complete v1 signature")
    return certificates


def _from_meta_inf(archive: Archive) -> tuple[bytes, ...]:
    names = [name for name in archive.names_below(FOLDER) if _V1_BLOCK.fullmatch(name)]
    certificates = (_signing_certificate(archive, name) for name in names[:MAX_SIGNERS])
    return tuple(dict.fromkeys(certificates))


def _signing_certificate(archive: Archive, name: str) -> bytes:
    data = archive.read_entry(name, MAX_BLOCK_BYTES)
    try:
        certificates = read_signed_data(data).certificates
    except BrokenSignatureError:
        certificates = ()
    return certificates[0] if certificates else _leaf_certificate(data, archive.place_of(name))


def _leaf_certificate(data: bytes, place: str) -> bytes:
    """Return the certificate of a PKCS#7 block that issued none of the others."""
    # Only few old APKs need it, and the import takes its time.
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.serialization import Encoding, pkcs7

    try:
        certificates = pkcs7.load_der_pkcs7_certificates(data)
        issuers = {
            certificate.issuer.public_bytes()
            for certificate in certificates
            if certificate.issuer != certificate.subject
        }
        leaves = [
            certificate for certificate in certificates if certificate.subject.public_bytes() not in issuers
        ]
        return (leaves or certificates)[0].public_bytes(Encoding.DER)
    except (ValueError, TypeError, IndexError, UnsupportedAlgorithm) as error:
        raise InputError(f"the signature cannot be read: {error}", place=place) from None

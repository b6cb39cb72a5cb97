"""Signing certificates out of signing blocks and of META-INF, held against Android's own signer."""

import datetime as dt
import hashlib
import struct
import subprocess
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import BestAvailableEncryption, Encoding, pkcs7, pkcs12
from cryptography.x509.oid import NameOID

from droidgate_android.apk.reader import open_apk
from hand_made_apks import whole_app, zip_of
from requirements_of_tests import short_run
from titled_rows import titled

V2, V3, V31 = 0x7109871A, 0xF05368C0, 0x1B93AD61
PrivateKey = ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey


def certificate(
    name: str, key: PrivateKey, issuer: str | None = None, issuer_key: PrivateKey | None = None
) -> x509.Certificate:
    def named(text: str) -> x509.Name:
        return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])

    start = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
    builder = x509.CertificateBuilder().subject_name(named(name)).issuer_name(named(issuer or name))
    builder = builder.public_key(key.public_key()).serial_number(7)
    builder = builder.not_valid_before(start).not_valid_after(start + dt.timedelta(days=9999))
    return builder.sign(issuer_key or key, hashes.SHA256())


def prefixed(data: bytes) -> bytes:
    return struct.pack("<I", len(data)) + data


def scheme_value(*certificates: bytes, releases: tuple[int, int] | None = None) -> bytes:
    """Return the value of a scheme: a signer for each certificate, followed by its issuer's.

    Args:
        releases: The releases that the signers are for, which v3 and v3.1 name twice.
    """
    versions = b"" if releases is None else struct.pack("<II", *releases)
    no_more = prefixed(b"")
    signers = b""
    for item in certificates:
        signed = no_more + prefixed(prefixed(item) + prefixed(b"issuer")) + versions + no_more
        signers += prefixed(prefixed(signed) + versions + no_more + no_more)
    return prefixed(signers)


def v3_value(*certificates: bytes, first: int = 28, last: int = 0x7FFFFFFF) -> bytes:
    return scheme_value(*certificates, releases=(first, last))


def with_block(archive: bytes, pairs: dict[int, bytes]) -> bytes:
    body = b"".join(struct.pack("<QI", len(value) + 4, key) + value for key, value in pairs.items())
    size = len(body) + 24
    block = struct.pack("<Q", size) + body + struct.pack("<Q16s", size, b"APK Sig Block 42")
    offset = struct.unpack_from("<I", archive, len(archive) - 6)[0]
    tail = archive[offset:-6] + struct.pack("<IH", offset + len(block), 0)
    return archive[:offset] + block + tail


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def signers_of(data: bytes | Path, sdk: int = 36) -> tuple[tuple[str, ...], list[str]]:
    with open_apk(data) as apk:
        signers = apk.signer_digests(sdk)
        return signers, [finding.code for finding in apk.findings]


OF_RELEASES = {V31: v3_value(b"new", first=33), V3: v3_value(b"old", last=32), V2: scheme_value(b"two")}


@titled(("pairs", "sdk", "expected"), {
    "scheme 2": ({V2: scheme_value(b"two")}, 36, [b"two"]),
    "scheme 3 before scheme 2": ({V2: scheme_value(b"two"), V3: v3_value(b"three")}, 36, [b"three"]),
    "scheme 3.1 before scheme 3": ({V31: v3_value(b"new", first=33), V3: v3_value(b"three")}, 36, [b"new"]),
    "two signers of scheme 2, with padding":
        ({0x42726577: bytes(100), V2: scheme_value(b"one", b"other")}, 36, [b"one", b"other"]),
    "padding alone": ({0x42726577: b""}, 36, []),
    "Android 6 reads no scheme of the block": (OF_RELEASES, 23, []),
    "Android 8.1 reads scheme 2": (OF_RELEASES, 27, [b"two"]),
    "Android 9 reads scheme 3": (OF_RELEASES, 28, [b"old"]),
    "Android 12L reads scheme 3": (OF_RELEASES, 32, [b"old"]),
    "Android 13 reads scheme 3.1": (OF_RELEASES, 33, [b"new"]),
})  # fmt: skip
def test_the_newest_scheme_that_a_release_reads_names_the_signers(
    pairs: dict[int, bytes], sdk: int, expected: list[bytes]
) -> None:
    data = with_block(zip_of(whole_app()), pairs)
    assert signers_of(data, sdk) == (tuple(map(digest, expected)), [])


def test_a_v3_signature_without_a_signer_for_the_release_is_a_finding() -> None:
    data = with_block(zip_of(whole_app()), {V3: v3_value(b"old", last=32), V2: scheme_value(b"two")})
    assert signers_of(data, 33) == ((), ["broken-signature"])


def with_v3(value: bytes) -> bytes:
    return with_block(zip_of(whole_app()), {V3: value})


def with_size(size: int) -> bytes:
    """Return an app whose signing block says another size."""
    data = with_block(zip_of(whole_app()), {V2: scheme_value(b"two")})
    at = data.index(b"APK Sig Block 42") - 8
    return data[:at] + struct.pack("<Q", size) + data[at + 8 :]


def with_jar_signature(content: bytes) -> bytes:
    return zip_of({**whole_app(), "META-INF/CERT.EC": content})


@titled("data", {
    "an empty scheme": with_v3(b""), "a length beyond the scheme": with_v3(b"\xff\xff\xff\xff"),
    "a scheme that is cut off": with_v3(scheme_value(b"x")[:-20]),
    "a signer without content": with_v3(prefixed(prefixed(b""))),
    "a signer that is cut off": with_v3(prefixed(b"abcde")),
    "a block of no bytes": with_size(0), "a block smaller than its footer": with_size(23),
    "a block larger than the file": with_size(1 << 20), "a block of four exabytes": with_size(1 << 62),
    "an empty JAR signature": with_jar_signature(b""),
    "a JAR signature without an end": with_jar_signature(b"\x30\x80"),
    "a JAR signature of zero bytes": with_jar_signature(bytes(1000)),
    "a JAR signature with lengths beyond it": with_jar_signature(b"\x30\x82\xff\xff" * 20),
})  # fmt: skip
def test_a_broken_signature_is_a_finding(data: bytes) -> None:
    assert signers_of(data) == ((), ["broken-signature"])


def test_an_app_without_a_signature_has_no_signer() -> None:
    assert signers_of(zip_of(whole_app())) == ((), [])


def test_of_a_jar_signature_the_certificate_that_issued_no_other_is_the_signer() -> None:
    root_key, key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    root, leaf = certificate("Root", root_key), certificate("Leaf", key, "Root", root_key)
    block = pkcs7.serialize_certificates([root, leaf], Encoding.DER)
    signed = {"META-INF/CERT.RSA": block, "META-INF/deep/X.RSA": b"", "META-INF/A.SF": b""}
    data = zip_of(whole_app() | signed)
    assert signers_of(data) == ((digest(leaf.public_bytes(Encoding.DER)),), [])


@pytest.mark.slow
@pytest.mark.requires("apksigner")
@pytest.mark.parametrize("scheme", ["v1", "v2", "v3"])
def test_the_signer_is_the_one_that_apksigner_used(scheme: str, tmp_path: Path) -> None:
    key = rsa.generate_private_key(65537, 2048)
    signer = certificate("Signer", key)
    secret = BestAvailableEncryption(b"secret")
    store = pkcs12.serialize_key_and_certificates(b"key", key, signer, None, secret)
    (tmp_path / "key.p12").write_bytes(store)
    (tmp_path / "app.apk").write_bytes(zip_of(whole_app()))
    schemes = [f"--v{n}-signing-enabled={str(scheme == f'v{n}').lower()}" for n in (1, 2, 3)]
    command = [*short_run("apksigner"), "sign", "--ks", "key.p12", "--ks-pass", "pass:secret"]
    command += ["--min-sdk-version=23", *schemes, "app.apk"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, timeout=100)
    expected = digest(signer.public_bytes(Encoding.DER))
    assert signers_of(tmp_path / "app.apk") == ((expected,), [])

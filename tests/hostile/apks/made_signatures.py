"""Signatures of APK Signature Scheme v2, v3 and v3.1, made by hand so that tests can break them.

Nothing here is shared with the reader, the verifier or the signer under test.
"""

import hashlib
import re
import struct
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from adapters.apk_writing.packed_samples import packed_module
from droidgate_android.apk.signing_keys import SigningKey, make_key
from hand_made_apks import zip_of
from requirements_of_tests import short_run

V2, V3, V31 = 0x7109871A, 0xF05368C0, 0x1B93AD61
ROTATION_SDK, STRIPPING, DEVELOPMENT = 0x559F8B02, 0xBEEFF00D, 0xC2A6B3BA
ECDSA_SHA256 = 0x0201
LAST_SDK = 0x7FFFFFFF
Pair = tuple[int, bytes]


@cache
def key_of(name: str) -> SigningKey:
    """Return the key of a role: `victim`, `attacker`, `rotated`."""
    return make_key("ec", common_name=name)


@cache
def unsigned_files() -> tuple[tuple[str, bytes], ...]:
    with ZipFile(BytesIO(packed_module("clock-in/app"))) as archive:
        return tuple((name, archive.read(name)) for name in archive.namelist())


@cache
def unsigned() -> bytes:
    return zip_of(dict(unsigned_files()))


def prefixed(data: bytes) -> bytes:
    return struct.pack("<I", len(data)) + data


def sequence(items: Iterable[bytes]) -> bytes:
    return prefixed(b"".join(map(prefixed, items)))


def parts_of(archive: bytes) -> tuple[bytes, bytes, bytes]:
    """Return the entries, the directory and the end record of an archive without a comment."""
    offset = struct.unpack_from("<I", archive, len(archive) - 6)[0]
    return archive[:offset], archive[offset:-22], archive[-22:]


def content_digest(archive: bytes) -> bytes:
    chunks = [
        part[start : start + (1 << 20)]
        for part in parts_of(archive)
        for start in range(0, len(part), 1 << 20)
    ]
    digests = [hashlib.sha256(b"\xa5" + struct.pack("<I", len(chunk)) + chunk).digest() for chunk in chunks]
    return hashlib.sha256(b"\x5a" + struct.pack("<I", len(digests)) + b"".join(digests)).digest()


@dataclass(frozen=True)
class Made:
    """How one signer is made; each field can be made wrong."""

    key: SigningKey
    certificate: SigningKey | None = None
    releases: tuple[int, int] | None = None
    signed_releases: tuple[int, int] | None = None
    attributes: Sequence[Pair] = ()
    algorithm: int = ECDSA_SHA256
    signature: bytes | None = None

    def signer(self, archive: bytes) -> bytes:
        digests = sequence([struct.pack("<I", self.algorithm) + prefixed(content_digest(archive))])
        signed = digests + sequence([(self.certificate or self.key).certificate_der])
        if self.releases is not None:
            signed += struct.pack("<II", *(self.signed_releases or self.releases))
        signed += sequence([struct.pack("<I", key) + value for key, value in self.attributes])
        signature = self.key.sign(signed) if self.signature is None else self.signature
        versions = b"" if self.releases is None else struct.pack("<II", *self.releases)
        signatures = sequence([struct.pack("<I", self.algorithm) + prefixed(signature)])
        return prefixed(signed) + versions + signatures + prefixed(self.key.public_key_der)


def v2(*signers: Made, archive: bytes | None = None) -> Pair:
    return V2, sequence(item.signer(archive or unsigned()) for item in signers)


def v3(*signers: Made, scheme: int = V3, archive: bytes | None = None) -> Pair:
    return scheme, sequence(item.signer(archive or unsigned()) for item in signers)


def plain_v3(name: str) -> Pair:
    return v3(Made(key_of(name), releases=(28, LAST_SDK)))


def forged_v3(name: str) -> Pair:
    """Return a v3 signature with somebody's certificate and key, whom nobody asked."""
    return v3(Made(key_of(name), releases=(28, LAST_SDK), signature=bytes(70)))


def with_pairs(*pairs: Pair, archive: bytes | None = None) -> bytes:
    entries, directory, end = parts_of(archive or unsigned())
    body = b"".join(struct.pack("<QI", len(value) + 4, key) + value for key, value in pairs)
    size = struct.pack("<Q", len(body) + 24)
    block = size + body + size + b"APK Sig Block 42"
    return entries + block + directory + end[:16] + struct.pack("<I", len(entries) + len(block)) + end[20:]


@dataclass(frozen=True)
class Verdict:
    """Whether a release of Android takes an APK, and by whose certificates."""

    verified: bool
    signers: frozenset[str]


def apksigner_verdict(path: Path, sdk: int) -> Verdict:
    releases = ["--min-sdk-version", str(sdk), "--max-sdk-version", str(sdk)]
    command = [*short_run("apksigner"), "verify", "--print-certs", *releases, str(path)]
    run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=100)
    found = re.findall(r"certificate SHA-256 digest: ([0-9a-f]{64})", run.stdout)
    return Verdict(run.returncode == 0, frozenset(found) if run.returncode == 0 else frozenset())


def apksigner_key(folder: Path, name: str) -> list[str]:
    key = key_of(name)
    private, certificate = folder / f"{name}.pk8", folder / f"{name}.pem"
    private.write_bytes(key.private_key.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption()))
    certificate.write_bytes(key.certificate.public_bytes(Encoding.PEM))
    return ["--key", str(private), "--cert", str(certificate)]


def apksigner_signed(folder: Path, *options: str, names: Sequence[str] = ("victim",)) -> bytes:
    """Return the app as apksigner signs it; several names are one after the other in its lineage."""
    source, target = folder / "unsigned.apk", folder / "signed.apk"
    source.write_bytes(unsigned())
    keys = [part for name in names for part in ("--next-signer", *apksigner_key(folder, name))][1:]
    lineage: list[str] = []
    if len(names) > 1 and "--v3-signing-enabled=false" not in options:
        old, new = (apksigner_key(folder, name) for name in names)
        lineage = ["--lineage", str(folder / "lineage")]
        rotate = ["rotate", "--out", lineage[1], "--old-signer", *old, "--new-signer", *new]
        run_apksigner(*rotate)
    run_apksigner("sign", *options, *lineage, *keys, "--out", str(target), str(source))
    return target.read_bytes()


def run_apksigner(*arguments: str) -> None:
    run = subprocess.run(
        [*short_run("apksigner"), *arguments], capture_output=True, text=True, check=False, timeout=100
    )
    assert run.returncode == 0, run.stdout + run.stderr


def repacked(apk: bytes, **changes: bytes) -> bytes:
    """Return the entries of an APK in a new archive without a signing block, some changed or added."""
    with ZipFile(BytesIO(apk)) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    return zip_of({**files, **changes})

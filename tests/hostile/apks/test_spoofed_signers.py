"""APKs that claim a signer they do not have: each is refused, or its real signer counts, as for Android."""

import hashlib
import json
import re
import struct
import subprocess
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

import pytest
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from adapters.apk_writing.packed_samples import packed_module
from droidgate.cli import run
from droidgate.coverage.scan_inputs import Item
from droidgate.coverage.scan_one import scan_one
from droidgate.shims.source_apps import read_source_apps
from droidgate_android.apk.apk_budgets import Limits
from droidgate_android.apk.reader import open_apk
from droidgate_android.apk.signatures import ApkSignature, verify_signature
from droidgate_android.apk.signing import _v1_files, sign_apk
from droidgate_android.apk.signing_keys import SigningKey, make_key
from droidgate_mappings.model.errors import InputError
from hand_made_apks import whole_app, zip_of
from requirements_of_tests import SHORT_JVM, require, short_run

# Signatures of the schemes v2, v3 and v3.1, made by hand so that tests can break them; nothing of it is from
# the reader, the verifier or the signer under test

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
    digests = re.findall(r"certificate SHA-256 digest: ([0-9a-f]{64})", run.stdout)
    return Verdict(run.returncode == 0, frozenset(digests) if run.returncode == 0 else frozenset())


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


# Spoofs

VICTIM, ATTACKER, ROTATED = (key_of(name).digest for name in ("victim", "attacker", "rotated"))
FROM_28 = (28, LAST_SDK)
V2_WITH_V3 = [(STRIPPING, struct.pack("<I", 3))]


def signature_of(apk: bytes, sdk: int = 36) -> ApkSignature:
    with open_apk(apk) as opened:
        return opened.verify_signature(sdk)


def verdict(apk: bytes, sdk: int = 36) -> Verdict:
    result = signature_of(apk, sdk)
    return Verdict(result.verified is True, frozenset(result.digests) if result.verified else frozenset())


def findings_of(apk: bytes) -> list[str]:
    with open_apk(apk) as opened:
        opened.verify_signature()
        return [f"{finding.code}: {finding.message}" for finding in opened.findings]


def signed_v1(name: str = "victim") -> bytes:
    """Return the app with v2 and v3 signatures and a v1 signature that mentions them."""
    return sign_apk(dict(unsigned_files()), key_of(name), minimum_sdk=21)


def changed(apk: bytes, at: int) -> bytes:
    at %= len(apk)
    return apk[:at] + bytes([apk[at] ^ 1]) + apk[at + 1 :]


def victim_v2(*, tells_of_v3: bool = False) -> tuple[int, bytes]:
    return v2(Made(key_of("victim"), attributes=V2_WITH_V3 if tells_of_v3 else ()))


SPOOFS: dict[str, Callable[[], bytes]] = {
    "v3 of the attacker before a forged one of the victim":
        lambda: with_pairs(plain_v3("attacker"), forged_v3("victim")),
    "a forged v3 of the victim before the attacker's":
        lambda: with_pairs(forged_v3("victim"), plain_v3("attacker")),
    "v3 of the victim before one of the attacker":
        lambda: with_pairs(plain_v3("victim"), plain_v3("attacker")),
    "v2 of the attacker before a forged one of the victim":
        lambda: with_pairs(v2(Made(key_of("attacker"))), v2(Made(key_of("victim"), signature=bytes(70)))),
    "v2 of the victim after v3 of the attacker": lambda: with_pairs(plain_v3("attacker"), victim_v2()),
    "the victim's certificate with the attacker's key":
        lambda: with_pairs(v3(Made(key_of("attacker"), certificate=key_of("victim"), releases=FROM_28))),
    "content changed": lambda: changed(with_pairs(plain_v3("victim"), victim_v2()), 200),
    "directory changed": lambda: changed(with_pairs(plain_v3("victim"), victim_v2()), -32),
    "releases that are not the signed ones":
        lambda: with_pairs(v3(Made(key_of("victim"), releases=FROM_28, signed_releases=(30, LAST_SDK)))),
    "two v2 signers": lambda: with_pairs(v2(Made(key_of("victim")), Made(key_of("attacker")))),
    "an unknown algorithm":
        lambda: with_pairs(v3(Made(key_of("victim"), releases=FROM_28, algorithm=0x0999))),
    "v3 taken away above v2": lambda: with_pairs(victim_v2(tells_of_v3=True)),
    "v3 for later releases alone":
        lambda: with_pairs(v3(Made(key_of("victim"), releases=(32, LAST_SDK))), victim_v2()),
    "v2 and v3 taken away above v1": lambda: repacked(signed_v1()),
    "v1 with a file added": lambda: repacked(signed_v1(), **{"assets/evil.json": b"{}"}),
    "v1 with a file changed": lambda: repacked(signed_v1(), **{"AndroidManifest.xml": manifest_of_another()}),
    "v1 with its certificate swapped":
        lambda: repacked(signed_v1(), **{"META-INF/CERT.EC": v1_file_of("attacker", "META-INF/CERT.EC")}),
    "v1, v2 and v3 as they should be": signed_v1,
}  # fmt: skip


def v1_file_of(name: str, file: str) -> bytes:
    with ZipFile(BytesIO(signed_v1(name))) as archive:
        return archive.read(file)


def manifest_of_another() -> bytes:
    return whole_app()["AndroidManifest.xml"]


@pytest.mark.slow
@pytest.mark.requires("apksigner")
@pytest.mark.parametrize("spoof", SPOOFS)
def test_the_verdict_on_a_spoofed_apk_is_apksigners(spoof: str, tmp_path: Path) -> None:
    apk = SPOOFS[spoof]()
    path = tmp_path / "app.apk"
    path.write_bytes(apk)
    # Those before v3; TestRotationAgainstApksig has the newer ones.
    for sdk in (23, 27):
        assert verdict(apk, sdk) == apksigner_verdict(path, sdk), sdk


EXPECTED = {
    "v3 of the attacker before a forged one of the victim": ATTACKER,
    "a forged v3 of the victim before the attacker's": None,
    "v3 of the victim before one of the attacker": VICTIM,
    "v2 of the victim after v3 of the attacker": ATTACKER,
    "the victim's certificate with the attacker's key": None, "content changed": None,
    "v3 taken away above v2": None, "v2 and v3 taken away above v1": None, "v1 with a file added": None,
    "v1, v2 and v3 as they should be": VICTIM,
}  # fmt: skip


@pytest.mark.parametrize("spoof", EXPECTED)
def test_a_signer_counts_only_where_it_signed(spoof: str) -> None:
    signer = EXPECTED[spoof]
    expected = Verdict(signer is not None, frozenset([signer] if signer else []))
    assert verdict(SPOOFS[spoof]()) == expected


GOOD = {
    "v1": ["--v2-signing-enabled=false", "--v3-signing-enabled=false", "--min-sdk-version=21"],
    "v1 and v2": ["--v3-signing-enabled=false", "--min-sdk-version=21"],
    "v2 and v3": ["--v1-signing-enabled=false", "--min-sdk-version=24"],
    "v2 with two signers": [
        "--v3-signing-enabled=false",
        "--v1-signing-enabled=false",
        "--min-sdk-version=24",
    ],
    "v3 rotated": ["--v1-signing-enabled=false", "--min-sdk-version=24"],
    "v2 and v3 with fs-verity": ["--v1-signing-enabled=false", "--min-sdk-version=28", "--verity-enabled"],
}


@pytest.mark.slow
@pytest.mark.requires("apksigner")
@pytest.mark.parametrize("form", GOOD)
def test_what_apksigner_signs_is_verified_and_a_changed_byte_is_found(form: str, tmp_path: Path) -> None:
    names = ("victim", "rotated") if form in {"v2 with two signers", "v3 rotated"} else ("victim",)
    apk = apksigner_signed(tmp_path, *GOOD[form], names=names)
    broken = changed(apk, 200)
    for data in (apk, broken):
        path = tmp_path / "app.apk"
        path.write_bytes(data)
        for sdk in (23, 28, 29) if form == "v1" else (23, 28, 32):
            assert verdict(data, sdk) == apksigner_verdict(path, sdk), sdk
    signers = {sdk: verdict(apk, sdk).signers for sdk in (23, 27, 28, 32)}
    if form == "v3 rotated":
        assert signers == {23: frozenset(), 27: {VICTIM}, 28: {ROTATED}, 32: {ROTATED}}
    assert not verdict(broken, 28).verified


def rotation_at(sdk: int) -> list[tuple[int, bytes]]:
    """Return the attribute of v3 that says from which release on v3.1 counts."""
    return [(ROTATION_SDK, struct.pack("<I", sdk))]


def rotated_by_v31(first: int = 33, reported: int | None = 33) -> bytes:
    attributes = [] if reported is None else rotation_at(reported)
    return with_pairs(
        v3(Made(key_of("rotated"), releases=(first, LAST_SDK)), scheme=V31),
        v3(Made(key_of("victim"), releases=(28, first - 1), attributes=attributes)),
        victim_v2(tells_of_v3=True),
    )


@pytest.mark.parametrize("pairs", ["v3", "v2", "v3.1"])
def test_a_scheme_that_is_there_twice_is_reported_as_evasive(pairs: str) -> None:
    pair = {"v3": plain_v3("victim"), "v2": victim_v2(), "v3.1": (V31, plain_v3("victim")[1])}[pairs]
    findings = findings_of(with_pairs(pair, pair))
    assert findings[0].startswith("evasive-archive: its signing block has several signatures of scheme")
    assert pairs in findings[0]
    assert findings_of(with_pairs(pair)) == []


def test_several_v3_signers_for_one_release_are_refused() -> None:
    # AOSP's ApkSignatureSchemeV3Verifier refuses them; apksigner 31 does not.
    signers = (Made(key_of(name), releases=FROM_28) for name in ("victim", "attacker"))
    signature = signature_of(with_pairs(v3(*signers)))
    problem = "its v3 signature has several signers for Android 16 (API 36)"
    assert (signature.verified, signature.problem) == (False, problem)


def test_v1_alone_is_refused_by_android_11_for_apps_of_android_11() -> None:
    # AOSP's ApkSignatureVerifier refuses it; apksigner 31 does not where it is given the release.
    files = dict(unsigned_files())
    apk = repacked(zip_of({**files, **_v1_files(files, key_of("victim"), newer="")}))
    assert [verdict(apk, sdk).verified for sdk in (23, 29, 30, 36)] == [True, True, False, False]


def test_every_byte_of_a_signed_apk_counts() -> None:
    apk = with_pairs(plain_v3("victim"))
    assert verdict(apk).verified
    for at in range(0, len(apk), 97):
        try:
            result = verdict(changed(apk, at))
        except InputError:
            continue
        assert not result.verified, at


@pytest.mark.parametrize("cut", [1, 22, 100, 1000], ids="{} bytes".format)
def test_a_file_that_is_cut_off_or_longer_is_not_verified(cut: int) -> None:
    apk = with_pairs(plain_v3("victim"))
    with pytest.raises(InputError):
        open_apk(apk[:-cut])
    assert not signature_of(apk + bytes(cut)).verified
    assert not signature_of(bytes(cut) + apk).verified


def test_a_file_over_the_budget_is_not_verified_and_says_so() -> None:
    with open_apk(with_pairs(plain_v3("victim"))) as apk:
        signature = verify_signature(apk.archive, limits=Limits(verified_bytes=1000))
    assert signature.verified is False
    assert "more than 1000 bytes" in (signature.problem or "")
    with open_apk(repacked(signed_v1())) as apk:
        signature = verify_signature(apk.archive, 23, limits=Limits(verified_bytes=1000))
    assert signature.verified is False
    assert "more than 1000 unpacked bytes" in (signature.problem or "")


def test_an_unsigned_apk_is_neither_verified_nor_refused() -> None:
    signature = signature_of(repacked(with_pairs((V2, b""))))
    assert (signature.scheme, signature.digests, signature.verified) == (None, (), None)


@pytest.mark.parametrize("spoof", [
    "a forged v3 of the victim before the attacker's", "the victim's certificate with the attacker's key",
    "content changed", "v1 with a file added",
])  # fmt: skip
def test_no_shim_is_built_for_an_app_whose_signer_is_not_verified(spoof: str, tmp_path: Path) -> None:
    path = tmp_path / "app.apk"
    path.write_bytes(SPOOFS[spoof]())
    with pytest.raises(InputError, match="signature of the APK is not verified") as error:
        read_source_apps([str(path)])
    assert error.value.hint is not None


def test_a_shim_binds_to_who_signed_not_to_who_is_claimed(tmp_path: Path) -> None:
    path = tmp_path / "app.apk"
    path.write_bytes(SPOOFS["v3 of the attacker before a forged one of the victim"]())
    (app,) = read_source_apps([str(path)])
    assert app.signer == ATTACKER


# What commands show of APKs whose signer is not verified


def write(folder: Path, name: str, *, is_good: bool) -> Path:
    path = folder / name
    pairs = (plain_v3("victim"),) if is_good else (forged_v3("victim"), plain_v3("attacker"))
    path.write_bytes(with_pairs(*pairs))
    return path


@pytest.mark.parametrize("is_good", [True, False])
def test_inspect_shows_verification(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], *, is_good: bool
) -> None:
    path = write(tmp_path, "app.apk", is_good=is_good)
    run(["inspect", str(path), "--json"])
    (signed,) = json.loads(capsys.readouterr().out)["signers"]
    assert signed["digests"] == [key_of("victim").digest]
    assert signed["verified"] is is_good
    assert (signed["problem"] is None) is is_good
    run(["inspect", str(path)])
    output = capsys.readouterr().out
    assert ("(verified)" in output, "not verified:" in output) == (is_good, not is_good)


def test_a_scan_keeps_no_pin_for_a_signer_that_is_not_verified(tmp_path: Path) -> None:
    results = {}
    for is_good in (True, False):
        path = write(tmp_path, f"{is_good}.apk", is_good=is_good)
        scanned = scan_one(Item(path.name, "apk", str(path)))
        assert scanned.rows is not None
        (app,) = scanned.rows["apps"]
        pins = {capability.pin is not None for capability in scanned.rows["capabilities"]}  # type: ignore[union-attr]
        results[is_good] = app.signers_verified, pins  # type: ignore[union-attr]
    assert results == {True: (True, {True}), False: (False, {False})}


# Rotation by APK Signature Scheme v3.1, compared with apksig 8: the Android build tools' own library

RELEASES = (28, 32, 33, 34, 35, 36)
RUNNER = Path(__file__).with_name("ApkSigRunner.java")


def run_apksig(*arguments: object) -> str:
    command = [require("java"), *SHORT_JVM, "-cp", require("apksig"), RUNNER, *arguments]
    run = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False, timeout=200)
    assert run.returncode == 0, run.stderr
    return run.stdout


@dataclass(frozen=True)
class Signers:
    """Who signed an APK for each release; for none where one of the releases does not take it."""

    by_release: tuple[tuple[int, frozenset[str]], ...]


def _signers(by_release: dict[int, frozenset[str]]) -> Signers:
    return Signers(tuple(by_release.items()) if all(by_release.values()) else ())


def signers_of_droidgate(apk: bytes) -> Signers:
    return _signers({sdk: verdict(apk, sdk).signers for sdk in RELEASES})


def signers_of_apksig(folder: Path, apks: Sequence[bytes]) -> list[Signers]:
    """Return what apksig says: one verdict for all releases, and from which one on each signer counts."""
    paths = [folder / f"{number}.apk" for number in range(len(apks))]
    for path, apk in zip(paths, apks, strict=True):
        path.write_bytes(apk)
    results = []
    for line in run_apksig("verify", *paths).splitlines():
        verified, *words = line.split()
        starts = [(int(sdk), digest) for sdk, _, digest in (word.partition("=") for word in words)]
        last = {sdk: max((start for start, _ in starts if start <= sdk), default=0) for sdk in RELEASES}
        signers = {
            sdk: frozenset(digest for start, digest in starts if start == last[sdk] and verified == "true")
            for sdk in RELEASES
        }
        results.append(_signers(signers))
    return results


def v31(first: int, **fields: object) -> tuple[int, bytes]:
    return v3(Made(key_of("rotated"), releases=(first, LAST_SDK), **fields), scheme=V31)  # type: ignore[arg-type]


def victim_v3(reported: int) -> tuple[int, bytes]:
    return v3(Made(key_of("victim"), releases=FROM_28, attributes=rotation_at(reported)))


ROTATIONS: dict[str, Callable[[], bytes]] = {
    "from Android 13 on": rotated_by_v31,
    "from Android 15 on": lambda: with_pairs(v31(35), victim_v3(35)),
    "v3.1 taken away": lambda: with_pairs(victim_v3(35)),
    "v3.1 for later releases than v3 states": lambda: with_pairs(v31(36), victim_v3(35)),
    "v3.1 for earlier releases than v3 states": lambda: with_pairs(v31(33), victim_v3(35)),
    "v3.1 that v3 does not mention": lambda: with_pairs(v31(33), plain_v3("victim")),
    "forged v3.1": lambda: with_pairs(v31(33, signature=bytes(70)), victim_v3(33)),
    "forged v3 under v3.1": lambda: with_pairs(
        v31(33), v3(Made(key_of("victim"), releases=FROM_28, attributes=rotation_at(33), signature=bytes(70)))
    ),
    "v3.1 for a release in development":
        lambda: with_pairs(v31(34, attributes=[(DEVELOPMENT, b"")]), victim_v3(34)),
    "content changed under v3.1": lambda: changed(rotated_by_v31(), 200),
}  # fmt: skip


# apksigner 31 does not read v3.1; the rules are those of AOSP's ApkSignatureSchemeV3Verifier.
ROTATED_SIGNERS: dict[str, dict[int, str | None]] = {
    "from Android 13 on": {24: VICTIM, 28: VICTIM, 32: VICTIM, 33: ROTATED, 36: ROTATED},
    "from Android 15 on": {33: VICTIM, 34: VICTIM, 35: ROTATED},
    "v3.1 taken away": {28: VICTIM, 32: VICTIM, 33: None, 34: None},
    "v3.1 for later releases than v3 states": {28: VICTIM, 32: VICTIM, 33: None, 34: None},
    "forged v3.1": {32: VICTIM, 33: None, 36: None},
    "v3.1 for a release in development": {33: VICTIM, 34: VICTIM, 35: ROTATED},
}


@pytest.mark.parametrize("made", ROTATED_SIGNERS)
def test_a_rotated_key_counts_on_the_releases_that_it_is_for(made: str) -> None:
    apk = ROTATIONS[made]()
    assert {sdk: next(iter(verdict(apk, sdk).signers), None) for sdk in ROTATED_SIGNERS[made]} == (
        ROTATED_SIGNERS[made]
    )


# A phone that found v3.1 does not read what v3 says of it (AOSP, ApkSignatureSchemeV3Verifier); apksig does.
STRICTER_IN_APKSIG = {"v3.1 for earlier releases than v3 states"}


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.requires("apksig", "java")
class TestRotationAgainstApksig:
    @pytest.mark.parametrize("made", [ROTATIONS, SPOOFS], ids=["rotations", "spoofs"])
    def test_each_release_has_apksig_s_signers(
        self, made: dict[str, Callable[[], bytes]], tmp_path: Path
    ) -> None:
        apks = {name: make() for name, make in made.items()}
        expected = dict(zip(apks, signers_of_apksig(tmp_path, [*apks.values()]), strict=True))
        seen = {name: signers_of_droidgate(apk) for name, apk in apks.items()}
        assert {name for name in seen if seen[name] != expected[name]} == STRICTER_IN_APKSIG & made.keys()
        assert all(expected[name] == _signers({28: frozenset()}) for name in STRICTER_IN_APKSIG & made.keys())
        assert 3 <= sum(bool(item.by_release) for item in seen.values()) < len(seen)

    @pytest.mark.parametrize("first", [28, 33, 34, 35], ids="API {}".format)
    def test_an_app_that_is_rotated_has_the_new_signer_from_then_on(self, first: int, tmp_path: Path) -> None:
        for name in ("victim", "rotated"):
            apksigner_key(tmp_path, name)
        (tmp_path / "unsigned.apk").write_bytes(unsigned())
        signed = tmp_path / "signed.apk"
        run_apksig(
            "sign", tmp_path / "unsigned.apk", signed, first, tmp_path / "victim", tmp_path / "rotated"
        )
        apk = signed.read_bytes()
        digests = {sdk: key_of("rotated" if sdk >= first else "victim").digest for sdk in RELEASES}
        expected = _signers({sdk: frozenset([digest]) for sdk, digest in digests.items()})
        assert signers_of_droidgate(apk) == expected
        assert signers_of_apksig(tmp_path, [apk]) == [expected]
        assert signers_of_droidgate(changed(apk, 200)) == _signers({28: frozenset()})

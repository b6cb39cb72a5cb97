"""Rotation by APK Signature Scheme v3.1, held against apksig 8: the Android build tools' own library."""

import struct
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from hostile.apks.made_signatures import (
    DEVELOPMENT,
    LAST_SDK,
    ROTATION_SDK,
    V31,
    Made,
    apksigner_key,
    key_of,
    plain_v3,
    unsigned,
    v3,
    with_pairs,
)
from hostile.apks.test_spoofed_signers import SPOOFS, changed, rotated_by_v31, verdict
from requirements_of_tests import SHORT_JVM, require

pytestmark = [pytest.mark.requires("apksig", "java"), pytest.mark.timeout(300)]

RELEASES = (28, 32, 33, 34, 35, 36)
FROM_28 = (28, LAST_SDK)
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
    found = []
    for line in run_apksig("verify", *paths).splitlines():
        verified, *words = line.split()
        starts = [(int(sdk), digest) for sdk, _, digest in (word.partition("=") for word in words)]
        last = {sdk: max((start for start, _ in starts if start <= sdk), default=0) for sdk in RELEASES}
        signers = {
            sdk: frozenset(digest for start, digest in starts if start == last[sdk] and verified == "true")
            for sdk in RELEASES
        }
        found.append(_signers(signers))
    return found


def tells(sdk: int) -> list[tuple[int, bytes]]:
    return [(ROTATION_SDK, struct.pack("<I", sdk))]


def v31(first: int, **fields: object) -> tuple[int, bytes]:
    return v3(Made(key_of("rotated"), releases=(first, LAST_SDK), **fields), scheme=V31)  # type: ignore[arg-type]


def victim_v3(reported: int) -> tuple[int, bytes]:
    return v3(Made(key_of("victim"), releases=FROM_28, attributes=tells(reported)))


ROTATIONS: dict[str, Callable[[], bytes]] = {
    "from Android 13 on": rotated_by_v31,
    "from Android 15 on": lambda: with_pairs(v31(35), victim_v3(35)),
    "v3.1 taken away": lambda: with_pairs(victim_v3(35)),
    "v3.1 for later releases than v3 says": lambda: with_pairs(v31(36), victim_v3(35)),
    "v3.1 for earlier releases than v3 says": lambda: with_pairs(v31(33), victim_v3(35)),
    "v3.1 that v3 does not mention": lambda: with_pairs(v31(33), plain_v3("victim")),
    "forged v3.1": lambda: with_pairs(v31(33, signature=bytes(70)), victim_v3(33)),
    "forged v3 under v3.1": lambda: with_pairs(
        v31(33), v3(Made(key_of("victim"), releases=FROM_28, attributes=tells(33), signature=bytes(70)))
    ),
    "v3.1 for a release in development": lambda: with_pairs(
        v31(34, attributes=[(DEVELOPMENT, b"")]), victim_v3(34)
    ),
    "content changed under v3.1": lambda: changed(rotated_by_v31(), 200),
}


# A phone that found v3.1 does not read what v3 says of it (AOSP, ApkSignatureSchemeV3Verifier); apksig does.
STRICTER_IN_APKSIG = {"v3.1 for earlier releases than v3 says"}


@pytest.mark.slow
@pytest.mark.parametrize("made", [ROTATIONS, SPOOFS], ids=["rotations", "spoofs"])
def test_each_release_has_apksig_s_signers(made: dict[str, Callable[[], bytes]], tmp_path: Path) -> None:
    apks = {name: make() for name, make in made.items()}
    expected = dict(zip(apks, signers_of_apksig(tmp_path, [*apks.values()]), strict=True))
    seen = {name: signers_of_droidgate(apk) for name, apk in apks.items()}
    assert {name for name in seen if seen[name] != expected[name]} == STRICTER_IN_APKSIG & made.keys()
    assert all(expected[name] == _signers({28: frozenset()}) for name in STRICTER_IN_APKSIG & made.keys())
    assert 3 <= sum(bool(item.by_release) for item in seen.values()) < len(seen)


@pytest.mark.slow
@pytest.mark.parametrize("first", [28, 33, 34, 35])
def test_an_app_that_apksig_rotates_has_the_new_signer_from_then_on(first: int, tmp_path: Path) -> None:
    for name in ("victim", "rotated"):
        apksigner_key(tmp_path, name)
    (tmp_path / "unsigned.apk").write_bytes(unsigned())
    signed = tmp_path / "signed.apk"
    run_apksig("sign", tmp_path / "unsigned.apk", signed, first, tmp_path / "victim", tmp_path / "rotated")
    apk = signed.read_bytes()
    digests = {sdk: key_of("rotated" if sdk >= first else "victim").digest for sdk in RELEASES}
    expected = _signers({sdk: frozenset([digest]) for sdk, digest in digests.items()})
    assert signers_of_droidgate(apk) == expected
    assert signers_of_apksig(tmp_path, [apk]) == [expected]
    assert signers_of_droidgate(changed(apk, 200)) == _signers({28: frozenset()})

"""APKs that claim a signer they do not have: each is refused, or its real signer counts, as for Android."""

import json
import struct
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

import pytest

from droidgate.cli import run
from droidgate.coverage.scan_inputs import Item
from droidgate.coverage.scan_one import scan_one
from droidgate.shims.source_apps import read_source_apps
from droidgate_android.apk.apk_budgets import Limits
from droidgate_android.apk.reader import open_apk
from droidgate_android.apk.signatures import ApkSignature, verify_signature
from droidgate_android.apk.signing import _v1_files, sign_apk
from droidgate_mappings.model.errors import InputError
from hand_made_apks import whole_app, zip_of
from hostile.apks.made_signatures import (
    DEVELOPMENT,
    LAST_SDK,
    ROTATION_SDK,
    STRIPPING,
    V2,
    V31,
    Made,
    Verdict,
    apksigner_signed,
    apksigner_verdict,
    forged_v3,
    key_of,
    plain_v3,
    repacked,
    unsigned_files,
    v2,
    v3,
    with_pairs,
)

VICTIM, ATTACKER, ROTATED = (key_of(name).digest for name in ("victim", "attacker", "rotated"))
FROM_28 = (28, LAST_SDK)
V2_WITH_V3 = [(STRIPPING, struct.pack("<I", 3))]


def signature_of(apk: bytes, sdk: int = 36) -> ApkSignature:
    with open_apk(apk) as opened:
        return opened.verify_signature(sdk)


def verdict(apk: bytes, sdk: int = 36) -> Verdict:
    found = signature_of(apk, sdk)
    return Verdict(found.verified is True, frozenset(found.digests) if found.verified else frozenset())


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
    "v3 of the attacker before a forged one of the victim": lambda: with_pairs(
        plain_v3("attacker"), forged_v3("victim")
    ),
    "a forged v3 of the victim before the attacker's": lambda: with_pairs(
        forged_v3("victim"), plain_v3("attacker")
    ),
    "v3 of the victim before one of the attacker": lambda: with_pairs(
        plain_v3("victim"), plain_v3("attacker")
    ),
    "v2 of the attacker before a forged one of the victim": lambda: with_pairs(
        v2(Made(key_of("attacker"))), v2(Made(key_of("victim"), signature=bytes(70)))
    ),
    "v2 of the victim after v3 of the attacker": lambda: with_pairs(plain_v3("attacker"), victim_v2()),
    "the victim's certificate with the attacker's key": lambda: with_pairs(
        v3(Made(key_of("attacker"), certificate=key_of("victim"), releases=FROM_28))
    ),
    "content changed": lambda: changed(with_pairs(plain_v3("victim"), victim_v2()), 200),
    "directory changed": lambda: changed(with_pairs(plain_v3("victim"), victim_v2()), -32),
    "releases that are not the signed ones": lambda: with_pairs(
        v3(Made(key_of("victim"), releases=FROM_28, signed_releases=(30, LAST_SDK)))
    ),
    "two v2 signers": lambda: with_pairs(v2(Made(key_of("victim")), Made(key_of("attacker")))),
    "an algorithm that nobody knows": lambda: with_pairs(
        v3(Made(key_of("victim"), releases=FROM_28, algorithm=0x0999))
    ),
    "v3 taken away above v2": lambda: with_pairs(victim_v2(tells_of_v3=True)),
    "v3 for later releases alone": lambda: with_pairs(
        v3(Made(key_of("victim"), releases=(32, LAST_SDK))), victim_v2()
    ),
    "v2 and v3 taken away above v1": lambda: repacked(signed_v1()),
    "v1 with a file added": lambda: repacked(signed_v1(), **{"assets/evil.json": b"{}"}),
    "v1 with a file changed": lambda: repacked(signed_v1(), **{"AndroidManifest.xml": manifest_of_another()}),
    "v1 with its certificate swapped": lambda: repacked(
        signed_v1(), **{"META-INF/CERT.EC": v1_file_of("attacker", "META-INF/CERT.EC")}
    ),
    "v1, v2 and v3 as they should be": signed_v1,
}


def v1_file_of(name: str, file: str) -> bytes:
    with ZipFile(BytesIO(signed_v1(name))) as archive:
        return archive.read(file)


def manifest_of_another() -> bytes:
    return whole_app()["AndroidManifest.xml"]


@pytest.mark.slow
@pytest.mark.requires("apksigner")
@pytest.mark.parametrize("spoof", SPOOFS)
def test_the_verdict_on_a_spoofed_apk_is_apksigners_on_each_release(spoof: str, tmp_path: Path) -> None:
    apk = SPOOFS[spoof]()
    path = tmp_path / "app.apk"
    path.write_bytes(apk)
    releases = (23, 27, 29, 32)
    assert {sdk: verdict(apk, sdk) for sdk in releases} == {
        sdk: apksigner_verdict(path, sdk) for sdk in releases
    }


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
    found = {sdk: verdict(apk, sdk).signers for sdk in (23, 27, 28, 32)}
    if form == "v3 rotated":
        assert found == {23: frozenset(), 27: {VICTIM}, 28: {ROTATED}, 32: {ROTATED}}
    assert not verdict(broken, 28).verified


def rotated_by_v31(first: int = 33, reported: int | None = 33) -> bytes:
    tells = [] if reported is None else [(ROTATION_SDK, struct.pack("<I", reported))]
    return with_pairs(
        v3(Made(key_of("rotated"), releases=(first, LAST_SDK)), scheme=V31),
        v3(Made(key_of("victim"), releases=(28, first - 1), attributes=tells)),
        victim_v2(tells_of_v3=True),
    )


# apksigner 31 does not read v3.1; the rules are those of AOSP's ApkSignatureSchemeV3Verifier, and
# test_rotation_against_apksig.py asks a newer library.
class TestRotationByV31:
    @pytest.mark.parametrize(
        ("sdk", "signer"), [(24, "victim"), (28, "victim"), (32, "victim"), (33, "rotated"), (36, "rotated")]
    )
    def test_the_new_key_counts_from_android_13_on(self, sdk: int, signer: str) -> None:
        assert verdict(rotated_by_v31(), sdk) == Verdict(True, frozenset([key_of(signer).digest]))

    @pytest.mark.parametrize(("sdk", "signer"), [(33, "victim"), (34, "victim"), (35, "rotated")])
    def test_the_new_key_counts_on_the_releases_that_it_is_for(self, sdk: int, signer: str) -> None:
        apk = with_pairs(
            v3(Made(key_of("rotated"), releases=(35, LAST_SDK)), scheme=V31),
            v3(Made(key_of("victim"), releases=FROM_28, attributes=[(ROTATION_SDK, struct.pack("<I", 35))])),
        )
        assert verdict(apk, sdk) == Verdict(True, frozenset([key_of(signer).digest]))

    def test_v31_taken_away_or_for_other_releases_is_noticed(self) -> None:
        tells = [(ROTATION_SDK, struct.pack("<I", 35))]
        below = v3(Made(key_of("victim"), releases=FROM_28, attributes=tells))
        later = v3(Made(key_of("rotated"), releases=(36, LAST_SDK)), scheme=V31)
        for apk in (with_pairs(below), with_pairs(later, below)):
            assert [verdict(apk, sdk).verified for sdk in (28, 32, 33, 34)] == [True, True, False, False]

    def test_a_forged_v31_is_refused_and_does_not_fall_back_to_v3(self) -> None:
        forged = v3(Made(key_of("rotated"), releases=(33, LAST_SDK), signature=bytes(70)), scheme=V31)
        apk = with_pairs(forged, plain_v3("victim"))
        assert [verdict(apk, sdk).verified for sdk in (32, 33, 36)] == [True, False, False]

    def test_a_signer_for_a_release_in_development_does_not_count_on_the_released_one(self) -> None:
        in_development = [(DEVELOPMENT, b"")]
        apk = with_pairs(
            v3(Made(key_of("rotated"), releases=(34, LAST_SDK), attributes=in_development), scheme=V31),
            v3(Made(key_of("victim"), releases=FROM_28, attributes=[(ROTATION_SDK, struct.pack("<I", 34))])),
        )
        assert [next(iter(verdict(apk, sdk).signers)) for sdk in (33, 34, 35)] == [VICTIM, VICTIM, ROTATED]


@pytest.mark.parametrize("pairs", ["v3", "v2", "v3.1"])
def test_a_scheme_that_is_there_twice_is_reported_as_evasive(pairs: str) -> None:
    made = {"v3": plain_v3("victim"), "v2": victim_v2(), "v3.1": (V31, plain_v3("victim")[1])}[pairs]
    found = findings_of(with_pairs(made, made))
    assert found[0].startswith("evasive-archive: its signing block has several signatures of scheme")
    assert pairs in found[0]
    assert findings_of(with_pairs(made)) == []


def test_several_v3_signers_for_one_release_are_refused() -> None:
    # AOSP's ApkSignatureSchemeV3Verifier refuses them; apksigner 31 does not.
    signers = (Made(key_of(name), releases=FROM_28) for name in ("victim", "attacker"))
    found = signature_of(with_pairs(v3(*signers)))
    problem = "its v3 signature has several signers for Android 16 (API 36)"
    assert (found.verified, found.problem) == (False, problem)


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
            found = verdict(changed(apk, at))
        except InputError:
            continue
        assert not found.verified, at


@pytest.mark.parametrize("cut", [1, 22, 100, 1000])
def test_a_file_that_is_cut_off_or_longer_is_not_verified(cut: int) -> None:
    apk = with_pairs(plain_v3("victim"))
    with pytest.raises(InputError):
        open_apk(apk[:-cut])
    assert not signature_of(apk + bytes(cut)).verified
    assert not signature_of(bytes(cut) + apk).verified


def test_a_file_over_the_budget_is_not_verified_and_says_so() -> None:
    with open_apk(with_pairs(plain_v3("victim"))) as apk:
        found = verify_signature(apk.archive, limits=Limits(verified_bytes=1000))
    assert found.verified is False
    assert "more than 1000 bytes" in (found.problem or "")
    with open_apk(repacked(signed_v1())) as apk:
        found = verify_signature(apk.archive, 23, limits=Limits(verified_bytes=1000))
    assert found.verified is False
    assert "more than 1000 unpacked bytes" in (found.problem or "")


def test_an_unsigned_apk_is_neither_verified_nor_refused() -> None:
    found = signature_of(repacked(with_pairs((V2, b""))))
    assert (found.scheme, found.digests, found.verified) == (None, (), None)


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
    shown = capsys.readouterr().out
    assert ("(verified)" in shown, "not verified:" in shown) == (is_good, not is_good)


def test_a_scan_keeps_no_pin_for_a_signer_that_is_not_verified(tmp_path: Path) -> None:
    found = {}
    for is_good in (True, False):
        path = write(tmp_path, f"{is_good}.apk", is_good=is_good)
        scanned = scan_one(Item(path.name, "apk", str(path)))
        assert scanned.rows is not None
        (app,) = scanned.rows.tables["apps"]
        pins = {capability.pin is not None for capability in scanned.rows.tables["capabilities"]}  # type: ignore[union-attr]
        found[is_good] = app.signers_verified, pins  # type: ignore[union-attr]
    assert found == {True: (True, {True}), False: (False, {False})}

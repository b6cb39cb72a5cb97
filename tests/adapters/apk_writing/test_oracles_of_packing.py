"""Packed APKs, seen by tools that are not ours."""

import importlib
import zipfile
from pathlib import Path

import pytest
from lxml import etree

from adapters.apk_writing.packed_samples import (
    EVERYTHING,
    SAMPLE_MODULES,
    build_with_aapt2,
    module_folder,
    named_ids,
    packed_module,
    resource_dump,
    run_tool,
    signing_key,
    xml_dump,
)
from droidgate_android.apk.pack import pack
from droidgate_android.apk.packed_manifest import AppFacts
from droidgate_android.apk.signing_keys import KeyType
from requirements_of_tests import require, short_run

ANDROID = "{http://schemas.android.com/apk/res/android}"


def _written(folder: Path, apk: bytes) -> Path:
    path = folder / "app.apk"
    path.write_bytes(apk)
    return path


@pytest.mark.slow
@pytest.mark.parametrize("key_type", ["ec", "rsa"])
@pytest.mark.parametrize("minimum_sdk", [21, 24, 28])
def test_apksigner_verifies_every_scheme_that_an_android_reads(
    tmp_path: Path, key_type: KeyType, minimum_sdk: int
) -> None:
    apksigner = short_run("apksigner")
    apk = _written(tmp_path, packed_module("clock-in/app", key_type, minimum_sdk))
    printed = run_tool(*apksigner, "verify", "--verbose", "--print-certs", apk)
    assert f"(JAR signing): {str(minimum_sdk < 24).lower()}" in printed
    assert f"(APK Signature Scheme v2): {str(minimum_sdk < 28).lower()}" in printed
    assert "(APK Signature Scheme v3): true" in printed
    assert f"certificate SHA-256 digest: {signing_key(key_type).digest}" in printed
    assert "WARNING" not in printed
    for release in range(minimum_sdk, 37, 3):
        assert "Verifies" in run_tool(
            *apksigner, "verify", "--verbose", "--min-sdk-version", str(release), apk
        )


@pytest.mark.slow
@pytest.mark.parametrize("key_type", ["ec", "rsa"])
@pytest.mark.parametrize("minimum_sdk", [21, 24, 28])
def test_a_changed_byte_is_found_by_apksigner(tmp_path: Path, key_type: KeyType, minimum_sdk: int) -> None:
    apksigner = short_run("apksigner")
    packed = packed_module("clock-in/app", key_type, minimum_sdk)
    directory = packed.rindex(b"PK\1\2")
    for place in (packed.index(b"resources.arsc") + 200, directory + 12):
        changed = bytearray(packed)
        changed[place] ^= 1
        apk = _written(tmp_path, bytes(changed))
        command = (*apksigner, "verify", "--min-sdk-version", str(minimum_sdk), str(apk))
        assert "DOES NOT VERIFY" in run_tool(*command, succeeds=False)


def test_a_v3_signature_that_was_taken_away_is_missed_by_apksigner(tmp_path: Path) -> None:
    apksigner = short_run("apksigner")
    packed = packed_module("clock-in/app", "ec", 24)
    v3 = (0xF05368C0).to_bytes(4, "little")
    assert packed.count(v3) == 1
    without = packed.replace(v3, b"\0\0\0\1")
    printed = run_tool(*apksigner, "verify", _written(tmp_path, without), succeeds=False)
    assert "DOES NOT VERIFY" in printed


@pytest.mark.parametrize("module", SAMPLE_MODULES)
def test_everything_stored_is_aligned(tmp_path: Path, module: str) -> None:
    run_tool(require("zipalign"), "-c", "4", _written(tmp_path, packed_module(module)))


def test_native_libraries_are_aligned_to_a_page(tmp_path: Path) -> None:
    zipalign = require("zipalign")
    tree = {
        path.relative_to(EVERYTHING).as_posix(): path.read_bytes()
        for path in EVERYTHING.rglob("*")
        if path.is_file()
    }
    tree |= {f"jniLibs/arm64-v8a/lib{name}.so": b"\x7fELF" + bytes(5) for name in "abc"}
    apk = _written(tmp_path, pack(tree, key=signing_key("ec")).apk)
    run_tool(zipalign, "-c", "-p", "4", apk)
    with zipfile.ZipFile(apk) as archive:
        for entry in archive.infolist():
            if entry.filename.endswith(".so"):
                start = entry.header_offset + 30 + len(entry.filename) + len(_extra_at(apk, entry))
                assert start % 16384 == 0


def _extra_at(apk: Path, entry: zipfile.ZipInfo) -> bytes:
    data = apk.read_bytes()
    length = int.from_bytes(data[entry.header_offset + 28 : entry.header_offset + 30], "little")
    return bytes(length)


def _target_of(module: str) -> str:
    """Return what a sample app targets: Android 16, but for the app that reads shared storage by paths."""
    return "29" if module == "pdf-tool/app" else "36"


@pytest.mark.parametrize("module", SAMPLE_MODULES)
def test_sample_apps_are_compiled_as_aapt2_compiles_them(tmp_path: Path, module: str) -> None:
    aapt2, framework = require("aapt2"), require("framework-res")
    theirs = build_with_aapt2(
        aapt2,
        framework,
        module_folder(module) / "src/main",
        tmp_path,
        *("--min-sdk-version", "26", "--target-sdk-version", _target_of(module)),
        *("--version-code", "1", "--version-name", "1.0"),
    )
    ours = _written(tmp_path, packed_module(module, "ec", 26))
    _assert_same(aapt2, theirs, ours)


def test_all_kinds_of_resources_are_compiled_as_aapt2_compiles_them(tmp_path: Path) -> None:
    aapt2, framework = require("aapt2"), require("framework-res")
    facts = AppFacts(version_code=7, version_name="1.0", minimum_sdk=26, target_sdk=36)
    theirs = build_with_aapt2(
        aapt2,
        framework,
        EVERYTHING,
        tmp_path,
        *("--min-sdk-version", "26", "--target-sdk-version", "36"),
        *("--version-code", "7", "--version-name", "1.0"),
    )
    packing = pack(EVERYTHING, key=signing_key("ec"), facts=facts)
    assert [finding.code for finding in packing.findings] == ["no-code"]
    _assert_same(aapt2, theirs, _written(tmp_path, packing.apk))


def _assert_same(aapt2: Path, theirs: Path, ours: Path) -> None:
    with zipfile.ZipFile(ours) as archive:
        names = [name for name in archive.namelist() if name.endswith(".xml") and "assets/" not in name]
    for name in names:
        expected = named_ids(xml_dump(aapt2, theirs, name), aapt2, theirs)
        assert named_ids(xml_dump(aapt2, ours, name), aapt2, ours) == expected, name
    assert resource_dump(aapt2, ours) == resource_dump(aapt2, theirs)


@pytest.mark.parametrize("module", SAMPLE_MODULES)
def test_aapt_reads_the_badge_and_the_resources(tmp_path: Path, module: str) -> None:
    aapt, aapt2 = require("aapt"), require("aapt2")
    apk = _written(tmp_path, packed_module(module))
    package = f"dev.droidgate.sample.{module.removesuffix('/app').replace('-', '').replace('/', '.')}"
    for tool in (aapt, aapt2):
        badge = run_tool(tool, "dump", "badging", apk)
        assert f"package: name='{package}' versionCode='1' versionName='1.0'" in badge
        assert f"targetSdkVersion:'{_target_of(module)}'" in badge
    assert f"{package}:string/app_name" in run_tool(aapt, "dump", "resources", apk)


@pytest.mark.slow
@pytest.mark.parametrize("module", SAMPLE_MODULES)
def test_apktool_decodes_a_packed_app_into_its_source(tmp_path: Path, module: str) -> None:
    apktool = short_run("apktool")
    apk = _written(tmp_path, packed_module(module))
    run_tool(*apktool, "--quiet", "decode", "--frame-path", tmp_path, "-o", tmp_path / "decoded", apk)
    source = etree.parse(module_folder(module) / "src/main/AndroidManifest.xml")
    for item in source.iter("activity"):
        flags = item.get(f"{ANDROID}configChanges")
        if flags is not None:  # apktool has them in alphabetical order
            item.set(f"{ANDROID}configChanges", "|".join(sorted(flags.split("|"))))
    decoded = etree.parse(tmp_path / "decoded/AndroidManifest.xml")
    for tag in ("activity", "service", "receiver", "meta-data", "property", "action"):
        expected = [dict(item.attrib) for item in source.iter(tag)]
        assert [dict(item.attrib) for item in decoded.iter(tag)] == expected, tag
    for folder in (tmp_path / "decoded/res").glob("values*"):
        ours = module_folder(module) / "src/main/res" / folder.name / "strings.xml"
        names = {item.get("name") for item in etree.parse(ours).iter("string")}
        assert {item.get("name") for item in etree.parse(folder / "strings.xml").iter("string")} == names


@pytest.mark.parametrize("module", SAMPLE_MODULES)
def test_androguard_reads_a_packed_app(tmp_path: Path, module: str) -> None:
    require("androguard")
    importlib.import_module("loguru").logger.disable("androguard")
    read = importlib.import_module("androguard.core.apk").APK(str(_written(tmp_path, packed_module(module))))
    assert read.is_valid_APK()
    assert (read.get_androidversion_code(), read.get_target_sdk_version()) == ("1", _target_of(module))
    manifest = etree.parse(module_folder(module) / "src/main/AndroidManifest.xml")
    label = next(iter(manifest.iter("application"))).get(f"{ANDROID}label", "")
    strings = etree.parse(module_folder(module) / "src/main/res/values/strings.xml")
    texts = {item.get("name"): item.text for item in strings.iter("string")}
    assert read.get_app_name() == texts[label.removeprefix("@string/")]
    certificates = [item.sha256_fingerprint.replace(" ", "").lower() for item in read.get_certificates()]
    assert certificates == [signing_key("ec").digest]

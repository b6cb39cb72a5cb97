"""Packed APKs, seen by tools that are not ours; random values, as Android's own compiler takes them."""

import random
import zipfile
from pathlib import Path
from xml.sax.saxutils import quoteattr

import pytest

from adapters.apk_writing.packed_samples import (
    EVERYTHING,
    SAMPLE_MODULES,
    SMALL_MANIFEST,
    build_with_aapt2,
    module_folder,
    named_ids,
    packed_module,
    resource_dump,
    run_tool,
    signing_key,
    tree_of,
    xml_dump,
)
from droidgate_android.apk.pack import pack
from droidgate_android.apk.packed_manifest import AppFacts
from droidgate_android.apk.signing_keys import KeyType
from requirements_of_tests import require, short_run


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
        of_release = run_tool(*apksigner, "verify", "--verbose", "--min-sdk-version", str(release), apk)
        assert "Verifies" in of_release


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
    tree = tree_of(EVERYTHING)
    tree |= {f"jniLibs/arm64-v8a/lib{name}.so": b"\x7fELF" + bytes(5) for name in "abc"}
    apk = _written(tmp_path, pack(tree, key=signing_key("ec")).apk)
    run_tool(zipalign, "-c", "-p", "4", apk)
    with zipfile.ZipFile(apk) as archive:
        for entry in archive.infolist():
            if entry.filename.endswith(".so"):
                header = apk.read_bytes()[entry.header_offset : entry.header_offset + 30]
                extra = int.from_bytes(header[28:], "little")
                assert (entry.header_offset + len(header) + len(entry.filename) + extra) % 16384 == 0


def _target_of(module: str) -> str:
    """Return what a sample app targets: Android 16, but for the app that reads shared storage by paths."""
    return "29" if module == "pdf-tool/app" else "36"


@pytest.mark.parametrize("module", SAMPLE_MODULES)
def test_sample_apps_are_compiled_as_aapt2_compiles_them(tmp_path: Path, module: str) -> None:
    source = module_folder(module) / "src/main"
    theirs = _built(source, tmp_path, target=_target_of(module))
    _assert_same(theirs, _written(tmp_path, packed_module(module, "ec", 26)))


def test_all_kinds_of_resources_are_compiled_as_aapt2_compiles_them(tmp_path: Path) -> None:
    packing = pack(EVERYTHING, key=signing_key("ec"), facts=FACTS)
    assert [finding.code for finding in packing.findings] == ["no-code"]
    _assert_same(_built(EVERYTHING, tmp_path), _written(tmp_path, packing.apk))


FACTS = AppFacts(version_code=1, version_name="1.0", minimum_sdk=26, target_sdk=36)


def _built(source: Path, folder: Path, target: str = "36") -> Path:
    """Return what Android's own compiler makes of a source set, with the facts above."""
    return build_with_aapt2(
        *(require("aapt2"), require("framework-res"), source, folder),
        *("--min-sdk-version", "26", "--target-sdk-version", target),
        *("--version-code", "1", "--version-name", "1.0"),
    )


def _assert_same(theirs: Path, ours: Path) -> None:
    aapt2 = require("aapt2")
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


# Random values, typed and escaped by us and by aapt2

PIECES_OF_VALUES = (
    *"0123456789.eE+-#x%abcdfp \\\"'/:_",
    "0x", "dp", "dip", "sp", "px", "pt", "mm", "in", "%p", "inf", "nan", "true", "TRUE", "false", "10", "255",
    "\\n", "\\u0041", "\\u00e9", "\\@", "\\?", "\\'", '\\"', "\\\\", "é", "😀", "@null", "@empty", "@foo",
    "1.5",
)  # fmt: skip


def _tree(folder: Path, texts: list[str]) -> None:
    (folder / "res/xml").mkdir(parents=True)
    (folder / "res/values").mkdir()
    meta = items = strings = ""
    for number, text in enumerate(texts):
        meta += f'<meta-data android:name="n{number}" android:value={quoteattr(text)}/>'
        items += f"<item value={quoteattr(text)}/>"
        # aapt2 refuses a bare apostrophe in a string.
        without = text.replace("\\'", "").replace("'", "")
        strings += f'<string name="s{number}" formatted="false">{without}</string>'
    manifest = SMALL_MANIFEST.decode().replace("<application/>", f"<application>{meta}</application>")
    (folder / "AndroidManifest.xml").write_text(manifest)
    (folder / "res/xml/items.xml").write_text(f"<items>{items}</items>")
    (folder / "res/values/strings.xml").write_text(f"<resources>{strings}</resources>")


@pytest.mark.parametrize("seed", range(4), ids="seed {}".format)
def test_random_values_are_typed_and_escaped_alike(tmp_path: Path, seed: int) -> None:
    source = tmp_path / "source"
    chance = random.Random(seed)
    _tree(source, ["".join(chance.choices(PIECES_OF_VALUES, k=chance.randint(0, 5))) for _ in range(400)])
    ours = _written(tmp_path, pack(source, key=signing_key("ec"), facts=FACTS).apk)
    _assert_same(_built(source, tmp_path), ours)

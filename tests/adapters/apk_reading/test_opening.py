"""How apps are opened: APKs, base and splits, containers."""

import random
from collections.abc import Mapping
from pathlib import Path

import pytest

from adapters.apk_reading.built_apks import apk_of, texts_by_locale
from droidgate_android.apk.apk_application import read_application
from droidgate_android.apk.bundle_files import chosen_apks, open_app
from droidgate_android.apk.reader import open_apk
from droidgate_mappings.model.errors import BudgetError, InputError
from hand_made_apks import (
    INT_DEC,
    REFERENCE,
    Node,
    Resource,
    Value,
    axml,
    element,
    locale,
    table,
    whole_app,
    zip_of,
)
from titled_rows import titled

BASE = zip_of(whole_app())


def split_apk(
    name: str,
    *children: Node,
    package: str = "dev.droidgate.test",
    version: int = 7,
    files: Mapping[str, bytes] | None = None,
) -> bytes:
    facts: dict[str, Value] = {"package": package, "split": name, "android:versionCode": (INT_DEC, version)}
    root = element("manifest", facts, *children)
    return zip_of({"AndroidManifest.xml": axml(root), **(files or {})})


GERMAN = split_apk(
    "config.de",
    files={
        "resources.arsc": table([Resource("string", "app_name", {locale("de"): "Probe aus dem Teil"})]),
        "assets/german.json": b"{}",
        "assets/tools.json": b"not the base's",
    },
)
ACTIVITY = element("activity", {"android:name": ".Feature", "android:label": (REFERENCE, 0x80010000)})
FEATURE = split_apk(
    "feature",
    element("application", {}, ACTIVITY),
    files={"resources.arsc": table([Resource("string", "feature", {b"": "More"})], package_id=0x80)},
)


def container(files: Mapping[str, bytes], *, packed: bool = False) -> bytes:
    return zip_of(files, stored=() if packed else tuple(files))


def test_resources_and_assets_are_looked_up_in_the_base_first() -> None:
    with open_apk(BASE, splits=[GERMAN, FEATURE]) as apk:
        application = read_application(apk)
        assert application.label == "Test"
        assert texts_by_locale(apk.resources, 0x7F010000) == {"": "Test", "de": "Probe"}
        assets = [application.resources.read_asset(f"{name}.json") for name in ("tools", "german")]
        assert [item and item.text for item in assets] == ['{"tools": []}', "{}"]
        labels = [(component.name, component.label) for component in application.components[1:]]
        assert labels == [(".ToolService", None), (".Feature", "More")]
        assert application.resources.read_text("@string/feature") == "More"
        assert apk.findings == ()


def test_what_is_not_a_split_of_the_app_is_left_out_with_a_finding() -> None:
    with open_apk(BASE, splits=[split_apk("x", package="other"), b"nothing", GERMAN]) as apk:
        assert [finding.code for finding in apk.findings] == ["broken-split", "broken-split"]
        assert len(apk.parts) == 2


@titled("packed", {"stored": False, "deflated": True})
@titled("files", {
    "app set": {"toc.pb": b"", "splits/base-master.apk": BASE, "splits/base-de.apk": GERMAN,
     "splits/base-de_2.apk": b""},
    "XAPK":
        {"manifest.json": b"{}", "dev.droidgate.test.apk": BASE, "config.de.apk": GERMAN, "icon.png": b""},
    "APKM": {"info.json": b"{}", "split_config.de.apk": GERMAN, "base.apk": BASE},
    "APKS of SAI": {"meta.sai_v2.json": b"{}", "base.apk": BASE, "split_config.de.apk": GERMAN},
    "another app": {"base.apk": BASE, "other.apk": split_apk("x", package="other"), "config.de.apk": GERMAN},
})  # fmt: skip
def test_containers_hold_an_app_with_its_splits(files: dict[str, bytes], packed: bool) -> None:  # noqa: FBT001
    with open_app(container(files, packed=packed)) as apk:
        assert read_application(apk).label == "Test"
        assert [part.split for part in apk.parts] == [None, "config.de"]
        assert apk.name.startswith("<bytes>!/")
        assert [finding.code for finding in apk.findings] == ["broken-split"] * ("other.apk" in files)


def test_of_a_bundles_variants_the_first_split_one_is_chosen() -> None:
    names = ["toc.pb", "splits/base-master.apk", "splits/base-arm64_v8a.apk", "splits/base-master_2.apk"]
    assert chosen_apks([*names, "standalones/standalone-mdpi.apk", "universal.apk"]) == names[1:3]
    assert chosen_apks(["toc.pb", "universal.apk"]) == ["universal.apk"]
    assert chosen_apks(["standalones/b.apk", "standalones/a.APK"]) == ["standalones/a.APK"]
    assert chosen_apks(["a.txt"]) == []


@titled(("files", "message"), {
    "no APK inside": ({"a.txt": b""}, "no APK inside"),
    "an APK that is empty": ({"a.apk": b""}, "it is not an APK"),
    "only a split": ({"a.apk": GERMAN}, "none of the APKs in it is the base"),
    "a container in a container":
        ({"a.apk": container({"base.apk": BASE})}, r"AndroidManifest\.xml: there is no such entry"),
})  # fmt: skip
def test_containers_without_an_app_are_refused(files: dict[str, bytes], message: str) -> None:
    with pytest.raises(InputError, match=message):
        open_app(container(files))


def test_a_container_of_very_many_apks_is_refused() -> None:
    with pytest.raises(BudgetError, match="more than 512 APKs"):
        open_app(container({f"{number}.apk": b"" for number in range(513)}))


def test_a_packed_apk_of_many_megabytes_is_unpacked_to_a_file() -> None:
    noise = random.Random(1).randbytes(10_240_000)
    base = zip_of({**whole_app(), "lib/noise.so": noise}, stored=("lib/noise.so",))
    with open_app(container({"base.apk": base}, packed=True)) as apk:
        assert apk.archive.read_entry("lib/noise.so") == noise
        assert type(apk.archive.source).__name__ == "TemporarySource"


@pytest.mark.requires("aapt2", "framework-res")
def test_splits_that_aapt2_makes_are_read(tmp_path: Path) -> None:
    files = {
        "AndroidManifest.xml": '<manifest xmlns:android="http://schemas.android.com/apk/res/android" '
        'package="dev.droidgate.split"><application android:label="@string/name" /></manifest>',
        "res/values/s.xml": '<resources><string name="name">Name</string></resources>',
        "res/values-de/s.xml": '<resources><string name="name">Name auf Deutsch</string></resources>',
    }
    german = tmp_path / "split.apk"
    base = apk_of(files, "plain", "--split", f"{german}:de")
    with open_apk(base) as apk:
        assert list(texts_by_locale(apk.resources, 0x7F010000)) == [""]
    with open_apk(base, splits=[german]) as apk:
        assert apk.parts[1].split == "config.de"
        assert texts_by_locale(apk.resources, 0x7F010000) == {"": "Name", "de": "Name auf Deutsch"}
        assert read_application(apk).label == "Name"

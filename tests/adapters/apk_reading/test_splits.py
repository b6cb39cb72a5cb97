"""Apps of several APKs: base and splits, containers, and folders."""

import io
import json
import random
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from adapters.apk_reading.built_apks import apk_of
from droidgate.sources import read_source
from droidgate_android.apk.apk_application import read_application
from droidgate_android.apk.bundle_files import chosen_apks, open_app
from droidgate_android.apk.reader import Apk, open_apk
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

BASE = zip_of(whole_app())


def split_apk(
    name: str,
    *children: Node,
    package: str = "dev.droidgate.test",
    version: int = 7,
    files: Mapping[str, bytes] | None = None,
) -> bytes:
    attributes: dict[str, Value] = {
        "package": package,
        "split": name,
        "android:versionCode": (INT_DEC, version),
    }
    root = element("manifest", attributes, *children)
    return zip_of({"AndroidManifest.xml": axml(root), **(files or {})})


GERMAN = split_apk(
    "config.de",
    files={
        "resources.arsc": table([Resource("string", "app_name", {locale("de"): "Probe aus dem Teil"})]),
        "assets/german.json": b"{}",
        "assets/tools.json": b"not the base's",
    },
)
FEATURE = split_apk(
    "feature",
    element(
        "application",
        {},
        element("activity", {"android:name": ".Feature", "android:label": (REFERENCE, 0x80010000)}),
    ),
    files={"resources.arsc": table([Resource("string", "feature", {b"": "More"})], package_id=0x80)},
)

NEWER = axml(element("manifest", {"package": "dev.droidgate.test", "android:versionCode": (INT_DEC, 8)}))


def container(files: Mapping[str, bytes], *, packed: bool = False) -> bytes:
    return zip_of(files, stored=() if packed else tuple(files))


def test_resources_and_assets_are_looked_up_in_the_base_first() -> None:
    with open_apk(BASE, splits=[GERMAN, FEATURE]) as apk:
        application = read_application(apk)
        assert application.label == "Test"
        assert apk.resources is not None
        values = apk.resources.locale_values(0x7F010000)
        assert {key: component.text for key, component in values.items()} == {"": "Test", "de": "Probe"}
        ours, german = (
            application.resources.read_asset("tools.json"),
            application.resources.read_asset("german.json"),
        )
        assert ours is not None
        assert german is not None
        assert (ours.text, german.text) == ('{"tools": []}', "{}")
        assert [(component.name, component.label) for component in application.components[1:]] == [
            (".ToolService", None),
            (".Feature", "More"),
        ]
        assert application.resources.read_text("@string/feature") == "More"
        assert apk.findings == ()


def test_what_is_not_a_split_of_the_app_is_left_out_with_a_finding() -> None:
    with open_apk(BASE, splits=[split_apk("x", package="other"), b"nothing", GERMAN]) as apk:
        assert [finding.code for finding in apk.findings] == ["broken-split", "broken-split"]
        assert len(apk.parts) == 2


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize(
    "files",
    [
        {
            "toc.pb": b"",
            "splits/base-master.apk": BASE,
            "splits/base-de.apk": GERMAN,
            "splits/base-de_2.apk": b"",
        },
        {"manifest.json": b"{}", "dev.droidgate.test.apk": BASE, "config.de.apk": GERMAN, "icon.png": b""},
        {"info.json": b"{}", "split_config.de.apk": GERMAN, "base.apk": BASE},
        {"meta.sai_v2.json": b"{}", "base.apk": BASE, "split_config.de.apk": GERMAN},
        {"base.apk": BASE, "other.apk": split_apk("x", package="other"), "config.de.apk": GERMAN},
    ],
)
def test_containers_hold_an_app_with_its_splits(files: dict[str, bytes], packed: bool) -> None:  # noqa: FBT001
    with open_app(container(files, packed=packed)) as apk:
        assert read_application(apk).label == "Test"
        assert [part.split for part in apk.parts] == [None, "config.de"]
        assert apk.name.startswith("<bytes>!/")
        assert [finding.code for finding in apk.findings] == (
            ["broken-split"] if "other.apk" in files else []
        )


def test_of_a_bundles_variants_the_first_split_one_is_chosen() -> None:
    names = ["toc.pb", "splits/base-master.apk", "splits/base-arm64_v8a.apk", "splits/base-master_2.apk"]
    assert chosen_apks([*names, "standalones/standalone-mdpi.apk", "universal.apk"]) == names[1:3]
    assert chosen_apks(["toc.pb", "universal.apk"]) == ["universal.apk"]
    assert chosen_apks(["standalones/b.apk", "standalones/a.APK"]) == ["standalones/a.APK"]
    assert chosen_apks(["a.txt"]) == []


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"a.txt": b""}, "no APK inside"),
        ({"a.apk": b""}, "it is not an APK"),
        ({"a.apk": GERMAN}, "none of the APKs in it is the base"),
    ],
)
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


def test_a_container_in_a_container_is_not_an_app() -> None:
    with pytest.raises(InputError, match=r"AndroidManifest\.xml: there is no such entry"):
        open_app(container({"a.apk": container({"base.apk": BASE})}))


def apps_of(folder: Path) -> dict[str, list[str | None]]:
    reading = read_source(str(folder))
    found = {}
    for application in reading.applications:
        apk = application.resources._apk  # type: ignore[attr-defined]
        assert isinstance(apk, Apk)
        found[apk.name.rpartition("/")[2]] = [part.split for part in apk.parts]
    return found


def test_apks_next_to_each_other_are_joined(tmp_path: Path) -> None:
    files = {
        "pulled/base.apk": BASE,
        "pulled/split_config.de.apk": GERMAN,
        "older/other name.apk": BASE,
        "older/split.apk": split_apk("config.de", version=6),
        "both/a.apk": BASE,
        "versions/1.apk": BASE,
        "versions/2.apk": zip_of({**whole_app(), "AndroidManifest.xml": NEWER}),
        "versions/split.apk": split_apk("config.de", version=8),
        "both/b.APK": BASE,
        "both/x.apks": container({"base.apk": BASE, "config.de.apk": GERMAN}),
    }
    for name, data in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(data)
    assert apps_of(tmp_path / "pulled") == {"base.apk": [None, "config.de"]}
    assert apps_of(tmp_path / "older") == {"other name.apk": [None, "config.de"]}
    assert apps_of(tmp_path / "versions") == {"1.apk": [None], "2.apk": [None, "config.de"]}
    assert apps_of(tmp_path / "both") == {"a.apk": [None], "b.APK": [None], "base.apk": [None, "config.de"]}


def test_a_folder_says_what_it_cannot_read(tmp_path: Path) -> None:
    (tmp_path / "split.apk").write_bytes(GERMAN)
    (tmp_path / "broken.apk").write_bytes(b"PK")
    (tmp_path / "broken.xapk").write_bytes(b"")
    (tmp_path / "good.apk").write_bytes(
        zip_of({"AndroidManifest.xml": axml(element("manifest", {"package": "a.b"}))})
    )
    reading = read_source(str(tmp_path))
    assert [item.package for item in reading.applications] == ["a.b"]
    assert sorted(Path(item.place or "").name for item in reading.problems) == [
        "broken.apk",
        "broken.xapk",
        "split.apk",
    ]
    assert all(item.place.startswith(str(tmp_path)) for item in reading.problems if item.place)


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
        assert apk.resources is not None
        assert list(apk.resources.locale_values(0x7F010000)) == [""]
    with open_apk(base, splits=[german]) as apk:
        assert apk.parts[1].split == "config.de"
        assert apk.resources is not None
        values = apk.resources.locale_values(0x7F010000)
        assert {key: item.text for key, item in values.items()} == {"": "Name", "de": "Name auf Deutsch"}
        assert read_application(apk).label == "Name"


def test_what_python_packs_is_a_container_too() -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("info.json", json.dumps({"pname": "dev.droidgate.test"}))
        archive.writestr("base.apk", BASE)
    with open_app(buffer.getvalue()) as apk:
        assert apk.package == "dev.droidgate.test"

"""How apps are opened: APKs, base and splits, containers, folders, standard input."""

import io
import json
import random
import struct
from collections.abc import Mapping
from pathlib import Path

import pytest

from adapters.apk_reading.built_apks import apk_of, texts_by_locale
from droidgate.sources import read_source
from droidgate_android.apk.apk_application import read_application
from droidgate_android.apk.bundle_files import chosen_apks, open_app
from droidgate_android.apk.reader import Apk, open_apk
from droidgate_mappings.model.errors import BudgetError, InputError
from gateway.cli.program_runs import Runner
from hand_made_apks import (
    DESCRIPTOR,
    INT_DEC,
    MANIFEST,
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
from model_types import properties_of
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

NEWER = axml(element("manifest", {"package": "dev.droidgate.test", "android:versionCode": (INT_DEC, 8)}))


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
    good = axml(element("manifest", {"package": "a.b"}))
    (tmp_path / "good.apk").write_bytes(zip_of({"AndroidManifest.xml": good}))
    reading = read_source(str(tmp_path))
    assert [item.package for item in reading.applications] == ["a.b"]
    names = sorted(Path(item.place or "").name for item in reading.problems)
    assert names == ["broken.apk", "broken.xapk", "split.apk"]
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
        assert list(texts_by_locale(apk.resources, 0x7F010000)) == [""]
    with open_apk(base, splits=[german]) as apk:
        assert apk.parts[1].split == "config.de"
        assert texts_by_locale(apk.resources, 0x7F010000) == {"": "Name", "de": "Name auf Deutsch"}
        assert read_application(apk).label == "Name"


# Commands take APKs as they take source trees


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("app.apk").write_bytes(zip_of(whole_app()))
    return "app.apk"


def test_an_apk_is_inspected(droidgate: Runner, app: str) -> None:
    run = droidgate("inspect", app, "--json")
    assert run.code == 0
    (provider,) = json.loads(run.out)["providers"]
    assert provider["package"] == "dev.droidgate.test"
    assert provider["component"] == ".ToolService"
    assert provider["name"] == "Tool \U0001f527"
    assert provider["source"]["path"] == "app.apk!/res/xml/descriptor.xml"
    (capability,) = provider["capabilities"]
    assert capability["description"] == "Takes a note"
    assert capability["version"] == "1.0"
    (name, kept), *_ = capability["input"]["properties"].items()
    assert (name, kept["required"], kept["type"]["description"]) == ("text", True, 'a < b & "c"\n')


def test_a_container_is_inspected(droidgate: Runner, app: str) -> None:
    Path("app.xapk").write_bytes(zip_of({"manifest.json": b"{}", "base.apk": Path(app).read_bytes()}))
    run = droidgate("inspect", "app.xapk")
    assert run.code == 0
    assert "at app.xapk!/base.apk!/res/xml/descriptor.xml" in run.out


def test_every_command_that_takes_a_source_takes_an_apk(droidgate: Runner, app: str) -> None:
    assert droidgate("convert", app, "--to", "mcp", "-o", "out").code == 0
    assert json.loads(Path("out/tools.json").read_text())["tools"][0]["description"] == "Takes a note"
    assert droidgate("diff", app, app).out.startswith("nothing changed")
    lint = droidgate("lint", app, "--json")
    places = {finding["source"]["path"] for finding in json.loads(lint.out)["findings"]}
    assert places <= {"app.apk!/AndroidManifest.xml", "app.apk!/res/xml/descriptor.xml"}
    Path("folder").mkdir()
    Path("folder", "any.apk").write_bytes(Path(app).read_bytes())
    assert "at folder/any.apk!/res/xml/descriptor.xml" in droidgate("inspect", "folder").out


def test_what_is_evasive_is_reported(droidgate: Runner, app: str) -> None:
    data = Path(app).read_bytes()
    at = data.index(b"PK\x01\x02") + 8
    Path(app).write_bytes(data[:at] + struct.pack("<H", 1) + data[at + 2 :])
    run = droidgate("lint", app)
    assert "evasive-archive" in run.out
    assert "app.apk" in run.out


def test_a_broken_table_is_reported_and_the_rest_is_read(droidgate: Runner, app: str) -> None:
    Path(app).write_bytes(zip_of({**whole_app(), "resources.arsc": b"nothing"}))
    run = droidgate("inspect", app)
    assert "broken-resource-table" in run.out
    assert "0 providers" in run.out


def test_an_apk_of_any_name_comes_from_a_file_or_through_standard_input(app: str) -> None:
    reading = read_source("-", stdin=io.BytesIO(Path(app).read_bytes()))
    assert str(reading.providers[0].source) == "-!/res/xml/descriptor.xml:1"
    Path(app).rename("download.bin")
    assert read_source("download.bin").applications[0].label == "Test"


def test_compiled_xml_alone_is_read_as_its_source_would_be(tmp_path: Path) -> None:
    path = tmp_path / "descriptor.xml"
    path.write_bytes(axml(DESCRIPTOR))
    (provider,) = read_source(str(path)).providers
    (capability,) = provider.capabilities
    assert capability.description == "@0x7f010002"
    assert properties_of(capability.input)["text"].type.description == 'a < b & "c"\n'


def test_a_compiled_manifest_alone_is_an_error_with_a_way_out(tmp_path: Path) -> None:
    path = tmp_path / "AndroidManifest.xml"
    path.write_bytes(axml(MANIFEST))
    with pytest.raises(InputError) as caught:
        read_source(str(path))
    assert caught.value.hint == "name the APK"


def test_an_application_answers_after_its_file_was_let_go(app: str) -> None:
    (application,) = read_source(app).applications
    file = application.resources.read_file("@xml/descriptor")
    assert file is not None
    assert file.text.startswith("<mobile-mcp-capabilities")

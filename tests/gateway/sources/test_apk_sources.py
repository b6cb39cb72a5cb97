"""APKs as sources: in folders, in containers, by any name, and in commands that take a source tree."""

import io
import json
from pathlib import Path

import pytest

from adapters.apk_reading.test_opening import BASE, GERMAN, container, split_apk
from droidgate.sources import read_source
from droidgate_mappings.model.errors import InputError
from gateway.cli.program_runs import Runner
from gateway.sources.formats_of_tests import write_tree
from hand_made_apks import DESCRIPTOR, INT_DEC, MANIFEST, axml, element, whole_app, zip_of
from model_types import properties_of

NEWER = axml(element("manifest", {"package": "dev.droidgate.test", "android:versionCode": (INT_DEC, 8)}))


def apps_of(folder: Path) -> dict[str, list[str | None]]:
    reading = read_source(str(folder))
    apks = [application.resources._apk for application in reading.applications]  # type: ignore[attr-defined]
    return {apk.name.rpartition("/")[2]: [part.split for part in apk.parts] for apk in apks}


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
    write_tree(tmp_path, files)
    assert apps_of(tmp_path / "pulled") == {"base.apk": [None, "config.de"]}
    assert apps_of(tmp_path / "older") == {"other name.apk": [None, "config.de"]}
    assert apps_of(tmp_path / "versions") == {"1.apk": [None], "2.apk": [None, "config.de"]}
    assert apps_of(tmp_path / "both") == {"a.apk": [None], "b.APK": [None], "base.apk": [None, "config.de"]}


def test_what_cannot_be_read_in_a_folder_is_reported(tmp_path: Path) -> None:
    good = zip_of({"AndroidManifest.xml": axml(element("manifest", {"package": "a.b"}))})
    write_tree(tmp_path, {"split.apk": GERMAN, "broken.apk": b"PK", "broken.xapk": b"", "good.apk": good})
    reading = read_source(str(tmp_path))
    assert [item.package for item in reading.applications] == ["a.b"]
    names = sorted(Path(item.place or "").name for item in reading.problems)
    assert names == ["broken.apk", "broken.xapk", "split.apk"]
    assert all(item.place.startswith(str(tmp_path)) for item in reading.problems if item.place)


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
    (name, parameter), *_ = capability["input"]["properties"].items()
    assert (name, parameter["required"], parameter["type"]["description"]) == ("text", True, 'a < b & "c"\n')


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


def test_a_compiled_manifest_alone_is_an_error_with_a_hint(tmp_path: Path) -> None:
    path = tmp_path / "AndroidManifest.xml"
    path.write_bytes(axml(MANIFEST))
    with pytest.raises(InputError) as caught:
        read_source(str(path))
    assert caught.value.hint == "name the APK"

"""What one input's rows say, held against what the other parts of the program say of the same input."""

import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from droidgate.cli.output.json_output import json_value
from droidgate.coverage.conversion_table import complete_conversions
from droidgate.coverage.scan_inputs import Item, ItemKind, list_inputs
from droidgate.coverage.scan_one import scan_one
from droidgate.coverage.scan_results import clean
from droidgate.devices.device import connect_device
from droidgate.sources import Providers, read_source
from droidgate_android.apk.pack import pack_project
from droidgate_mappings.formats.format import find_format, load_formats
from droidgate_mappings.model.capability import Capability, Provider
from droidgate_mappings.model.errors import DeviceError, InputError
from droidgate_mappings.model.json_values import canonical_json
from droidgate_mappings.translate import translate
from droidgate_phone.apps.sample_packages import filler_package, sample_package, sample_packages, signing_key
from droidgate_phone.phone import start_phone
from gateway.coverage_scan.catalogs import ask, rows_of, scan_into, split_app, tool_app, tool_files
from gateway.sources.formats_of_tests import write_tree
from requirements_of_tests import CHECKOUT, require

APPS = CHECKOUT / "device_shim/apps"
SAMPLE = "dev.droidgate.sample"


def scan_file(path: Path, name: str = "x") -> dict[str, Any]:
    """Return head and rows of one file as the log would have them."""
    head, rows = scan_one(Item(name, "file", str(path))).encode()
    return {**json.loads(head), **json.loads(rows or "{}")}


def write(path: Path, data: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def test_rows_depend_on_the_content_alone(tmp_path: Path) -> None:
    data = sample_package("clock-in").apk
    first = scan_file(write(tmp_path / "a/one.apk", data), "a/one.apk")
    two = scan_file(write(tmp_path / "b/other name.apk", data), "b/other name.apk")
    assert first.pop("source") != two.pop("source")
    assert first.pop("state") != two.pop("state"), "in the log only"
    assert first == two


@pytest.mark.parametrize("name", [item.name for item in sample_packages()])
def test_a_capability_has_the_facts_that_inspect_shows(name: str, tmp_path: Path) -> None:
    path = write(tmp_path / "x.apk", sample_package(name).apk)
    rows = scan_file(path)
    providers = read_source(str(path)).providers
    digests = [item["digest"] for item in rows.get("providers", []) if item["dialect"] != "broadcast"]
    assert digests == [item.content_digest() for item in providers]
    reported = [
        (item["provider"], item["id"], item.get("description")) for item in rows.get("capabilities", [])
    ]
    assert reported == [
        (number, item.id, item.description)
        for number, provider in enumerate(providers)
        for item in provider.capabilities
    ]


def test_the_token_estimate_is_a_quarter_of_the_bytes_of_the_tool(tmp_path: Path) -> None:
    path = write(tmp_path / "x.apk", sample_package("pdf-tool").apk)
    provider = read_source(str(path)).providers[0]
    document = json.loads(translate([provider], *find_format("mcp"))[0].writing.artifacts[0].text)
    for tool, row in zip(document["tools"], scan_file(path)["capabilities"], strict=True):
        tool.pop("_meta", None)
        size = len(canonical_json(tool).encode())
        assert row["tool_bytes"] == size
        assert row["token_estimate"] * 4 - size in range(4)
        assert set(tool) >= {"name", "description", "inputSchema"}


@pytest.mark.parametrize("kind", ["file", "descriptor"])
def test_a_document_of_discover_is_refused_since_it_has_no_manifests(kind: ItemKind, tmp_path: Path) -> None:
    provider = Provider(protocol="mmcp", package="a.b", capabilities=(Capability(id="forecast"),))
    record = {"provider": json_value(provider)}
    document = {"schema": "droidgate.discover/1", "apps": [{"package": "a.b", "providers": [record]}]}
    path = write(tmp_path / "found.json", json.dumps(document).encode())
    scanned = scan_one(Item("x", kind, str(path)))
    assert scanned.outcome == "unreadable"
    assert "no manifests; scan the phone (adb:)" in str(scanned.reason)


def test_a_tool_list_in_another_wrapping_has_its_tokens_too(tmp_path: Path) -> None:
    tool = {"name": "ping", "inputSchema": {"type": "object"}}
    wrapped = [{"tools": [tool]}, [tool], {"jsonrpc": "2.0", "id": 1, "result": {"tools": [tool]}}]
    sizes = set()
    for number, document in enumerate(wrapped):
        path = write(tmp_path / f"{number}.json", json.dumps(document).encode())
        sizes.add(scan_file(path)["capabilities"][0]["tool_bytes"])
    assert sizes == {len(canonical_json(tool))}


def test_parameters_are_one_line_with_counts(tmp_path: Path) -> None:
    path = write(tmp_path / "x.apk", tool_app("dev.example.shape"))
    row = scan_file(path)["capabilities"][0]
    assert row["parameters"] == "zone:string, seconds?:boolean"
    counts = [
        row[name] for name in ("parameter_count", "required_count", "undescribed_count", "untyped_count")
    ]
    assert counts == [2, 1, 1, 0]


def test_linters_of_every_release_are_asked(tmp_path: Path) -> None:
    path = write(tmp_path / "x.apk", filler_package(2))
    reading = read_source(str(path))
    expected = {
        (finding.code, finding.level.value, finding.message)
        for application in reading.applications
        for item in load_formats().values()
        if item.lint_application is not None
        for finding in item.lint_application(application)
    }
    rows = scan_file(path)["findings"]
    assert {
        (item["code"], item["level"], item["message"]) for item in rows if item["origin"] == "lint"
    } == expected


def test_what_looks_unsafe_is_marked_at_its_place(tmp_path: Path) -> None:
    text = "Sends a message.\u200b"
    path = write(tmp_path / "x.apk", tool_app("dev.example.unsafe", description=text))
    marks = [item for item in scan_file(path)["findings"] if item["origin"] == "security"]
    assert {(item["code"], item["pointer"], item["place"]) for item in marks} == {
        ("exported-without-permission", "/component", "AndroidManifest.xml:4"),
        ("hidden-characters", "/capabilities/0/description", "res/xml/capabilities.xml:2"),
    }
    assert [item["capability"] for item in marks if item["code"] == "hidden-characters"] == [0]
    guarded = write(tmp_path / "y.apk", tool_app("dev.example.safe", permission="dev.example.CALL"))
    assert [item for item in scan_file(guarded)["findings"] if item["origin"] == "security"] == []


@pytest.mark.slow
def test_splits_in_a_folder_belong_to_their_base(tmp_path: Path) -> None:
    base, german = split_app("dev.example.split")
    folder = tmp_path / "apps"
    write(folder / "base.apk", base)
    write(folder / "config.de.apk", german)
    write(folder / "other.apk", tool_app("dev.example.other"))
    write(tmp_path / "apps/alone/config.de.apk", german)
    catalog = scan_into(tmp_path / "c", folder).catalog
    sources = {row[0]: row for row in ask(catalog, "SELECT source, outcome, unit, reason FROM sources")}
    assert [row[1] for _, row in sorted(sources.items())] == ["part", "read", "part", "read"]
    assert sources["apps/config.de.apk"][2] == sources["apps/base.apk"][2]
    assert sources["apps/config.de.apk"][3] == "it is read with its base, apps/base.apk"
    assert sources["apps/alone/config.de.apk"][2:] == (
        None,
        "it is a split of dev.example.split, whose base is not in the same folder",
    )
    assert sorted(ask(catalog, "SELECT package FROM apps")) == [
        ("dev.example.other",),
        ("dev.example.split",),
    ]
    orphans = "SELECT count(*) FROM apps WHERE unit NOT IN (SELECT unit FROM sources WHERE unit IS NOT NULL)"
    assert ask(catalog, orphans) == [(0,)]
    again = scan_into(tmp_path / "c", folder)
    assert again.known == 1
    assert rows_of(again.catalog) == rows_of(catalog)


def test_a_project_and_its_apk_have_the_same_rows(tmp_path: Path) -> None:
    catalog = scan_into(tmp_path / "c", APPS / "pdf-tool").catalog
    built = scan_file(write(tmp_path / "x.apk", sample_package("pdf-tool").apk))["capabilities"]
    rows = ask(catalog, "SELECT id, parameters, tool_bytes FROM capabilities")
    assert rows == [(item["id"], item["parameters"], item["tool_bytes"]) for item in built]
    assert ask(catalog, "SELECT source, kind FROM sources WHERE kind = 'module'") == [
        ("pdf-tool/app", "module")
    ]


def test_a_receiver_that_has_to_be_asked_is_a_provider_without_capabilities(tmp_path: Path) -> None:
    rows = scan_file(write(tmp_path / "x.apk", sample_package("weather").apk))
    reported = [
        (provider["dialect"], provider["component_kind"], provider["capabilities"])
        for provider in rows["providers"]
    ]
    assert reported == [("broadcast", "receiver", 0)]


def test_a_changed_file_of_a_project_changes_its_unit(tmp_path: Path) -> None:
    units = []
    for text in ("Says the time.", "Says what time it is."):
        write_tree(tmp_path / "p/src/main", {**tool_files("dev.example.module", description=text)})
        (item,) = list_inputs([str(tmp_path / "p")]).items
        scanned = scan_one(item)
        units.append(scanned.unit)
        assert scanned.outcome == "read"
    assert units[0] != units[1]


@pytest.mark.slow
def test_a_phone_is_scanned_app_by_app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with start_phone(server_port=0) as phone:
        monkeypatch.setenv("ANDROID_ADB_SERVER_PORT", str(phone.server_port))
        catalog = scan_into(tmp_path / "c", f"adb:{phone.serial}").catalog
    on_phone = ask(catalog, "SELECT package, id, parameters FROM capabilities ORDER BY ALL")
    in_files = []
    in_apps = [item for item in sample_packages() if item.package != f"{SAMPLE}.agent"]
    for item in in_apps:
        rows = scan_file(write(tmp_path / f"{item.name}.apk", item.apk)).get("capabilities", [])
        in_files += [(row["package"], row["id"], row["parameters"]) for row in rows]
    assert on_phone == sorted(in_files)
    assert ask(catalog, "SELECT kind, outcome, count(*) FROM sources GROUP BY ALL ORDER BY ALL") == [
        ("installed", "left-out", 1),
        ("installed", "read", len(in_apps)),
    ]


@pytest.mark.slow
def test_an_app_that_is_disabled_as_a_whole_is_marked(tmp_path: Path) -> None:
    files = tool_files("dev.example.off")
    manifest = files["AndroidManifest.xml"].replace(
        b"<application ", b'<application android:enabled="false" '
    )
    off = pack_project({**files, "AndroidManifest.xml": manifest}, key=signing_key())
    write(tmp_path / "apps/off.apk", off)
    write(tmp_path / "apps/on.apk", tool_app("dev.example.on"))
    catalog = scan_into(tmp_path / "c", tmp_path / "apps").catalog
    assert ask(catalog, "SELECT package, enabled FROM apps ORDER BY ALL") == [
        ("dev.example.off", False),
        ("dev.example.on", True),
    ]


@pytest.mark.slow
def test_apps_that_the_user_disabled_on_a_phone_are_marked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with start_phone(server_port=0) as phone:
        monkeypatch.setenv("ANDROID_ADB_SERVER_PORT", str(phone.server_port))
        before = scan_into(tmp_path / "c", f"adb:{phone.serial}").catalog
        assert ask(before, "SELECT DISTINCT enabled FROM apps") == [(True,)]
        device = connect_device(phone.serial)
        assert device.run(["pm", "disable-user", "--user", "0", f"{SAMPLE}.clockin"]).exit_status == 0
        after = scan_into(tmp_path / "c", f"adb:{phone.serial}").catalog
    assert ask(after, "SELECT package FROM apps WHERE NOT enabled") == [(f"{SAMPLE}.clockin",)]


def test_a_phone_that_disconnects_is_a_row_and_a_missing_one_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "a.apk", tool_app("dev.example.file"))
    with start_phone(server_port=0) as phone:
        monkeypatch.setenv("ANDROID_ADB_SERVER_PORT", str(phone.server_port))
        with pytest.raises(DeviceError):
            scan_into(tmp_path / "none", tmp_path / "a.apk", "adb:emulator-5999")
        assert not (tmp_path / "none").exists(), "nothing is scanned before the error is reported"

        def gone(*_: object) -> None:
            raise DeviceError("the connection was lost")

        monkeypatch.setattr("droidgate.coverage.scan.read_phone", gone)
        result = scan_into(tmp_path / "c", tmp_path / "a.apk", f"adb:{phone.serial}", f"adb:{phone.serial}")
    assert ask(result.catalog, "SELECT source, outcome, reason FROM sources ORDER BY ALL") == [
        ("a.apk", "read", None),
        (f"adb:{phone.serial}", "unreadable", "the connection was lost"),
    ]


@pytest.mark.slow
def test_no_text_of_an_app_breaks_a_catalog(tmp_path: Path) -> None:
    odd = ["\0", "\\u0000", '"', "'; DROP TABLE apps; --", "\u202e", "\U0001f600", "\n", "{}"]
    names = ["".join(item) for item in itertools.combinations(odd, 2)]
    tools = [{"name": f"t{n}", "description": text, "inputSchema": {}} for n, text in enumerate(names)]
    write(tmp_path / "tools.json", json.dumps({"tools": tools}).encode())
    catalog = scan_into(tmp_path / "c", tmp_path / "tools.json").catalog
    stored = [row[0] for row in ask(catalog, "SELECT description FROM capabilities")]
    assert stored == [item.replace("\0", "\ufffd") for item in names]
    assert clean("a\ud800\0b") == "a\ufffd\ufffdb"


FUNCTION = """package a
import androidx.appfunctions.AppFunction
import androidx.appfunctions.AppFunctionContext

class Notes {
    @AppFunction fun addNote(context: AppFunctionContext, title: String): %s = TODO()
}
"""
NOTE = """package a
import androidx.appfunctions.AppFunctionSerializable

@AppFunctionSerializable class Note(val title: String)
"""
TOOLS = '{"tools": [{"name": "%s", "inputSchema": {"type": "object"}}]}'
KINDS: dict[str, dict[str, str | bytes]] = {
    "code outside of a project": {"Notes.kt": FUNCTION % "String"},
    "code that uses another file": {"Notes.kt": FUNCTION % "Note", "data/Note.kt": NOTE},
    "code next to a project": {
        "app/src/main/AndroidManifest.xml": '<manifest package="a.b"><application/></manifest>',
        "app/src/main/kotlin/Notes.kt": FUNCTION % "String",
        "Notes.kt": (FUNCTION % "String").replace("addNote", "addOther"),
    },
    "descriptors": {"tools.json": TOOLS % "a", "more/tools.json": TOOLS % "b"},
    "apps": {"one.apk": tool_app("a.one"), "more/two.apk": tool_app("a.two")},
}


def capabilities_of(reading: Providers) -> list[str]:
    return sorted(item.id for provider in reading.providers for item in provider.capabilities)


@pytest.mark.parametrize("kind", KINDS)
def test_a_scan_reads_what_inspect_reads(kind: str, tmp_path: Path) -> None:
    folder = tmp_path / "p"
    write_tree(folder, KINDS[kind])
    for source in (folder, *(folder / name for name in KINDS[kind])):
        try:
            inspected = capabilities_of(read_source(str(source)))
        except InputError:
            inspected = []
        scanned = [scan_one(item).encode()[1] for item in list_inputs([str(source)]).items]
        rows = [row for line in scanned for row in json.loads(line or "{}").get("capabilities", [])]
        assert sorted(row["id"] for row in rows) == inspected


# Files that others wrote: what is found in them is pinned


@pytest.mark.slow
def test_the_corpus_gives_the_recorded_counts(tmp_path: Path) -> None:
    folders = [require("corpus") / name for name in ("appfunctions", "mmcp", "mobile_mcp", "other")]
    result = scan_into(tmp_path / "c", *folders, workers=2)
    assert result.outcomes == {"no-descriptor": 40, "read": 164, "unreadable": 4}
    counts = "count(*), count(DISTINCT unit), sum(capabilities)"
    providers = f"SELECT protocol, {counts} FROM providers GROUP BY 1 ORDER BY 1"
    assert ask(result.catalog, providers) == [
        ("appfunctions", 97, 94, 164),
        ("function-calling", 4, 4, 5),
        ("mmcp", 12, 12, 11),
        ("mobile-mcp", 11, 11, 24),
        ("observed", 24, 19, 6),
    ]
    assert ask(result.catalog, "SELECT count(*) FROM apps") == [(66,)]
    findings = "SELECT origin, count(*) FROM findings GROUP BY 1 ORDER BY 1"
    assert ask(result.catalog, findings) == [("lint", 506), ("reading", 118), ("security", 26)]
    levels = "SELECT level, count(*) FROM conversions WHERE target = 'mcp+2025-11-25' GROUP BY 1 ORDER BY 1"
    assert ask(complete_conversions(result.catalog, tmp_path), levels) == [
        ("dropped", 4),
        ("exact", 49),
        ("renamed", 157),
    ]

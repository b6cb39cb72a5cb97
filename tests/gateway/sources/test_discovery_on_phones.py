"""Discovery on the virtual phone: the sample apps are what their source trees say, on every release."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from droidgate.cli.devices.run_discover import discovery_page
from droidgate.cli.output.pages import Table
from droidgate.cli.output.summaries import capability_name
from droidgate.cli.program import run
from droidgate.devices.adb_client import AdbClient, ServerAddress
from droidgate.devices.device import Device
from droidgate.shims.building import build_shim
from droidgate.sources import read_source
from droidgate.sources.callability import callability_of
from droidgate.sources.phone_source import PhoneReading, PhoneRequest, read_phone
from droidgate_android.apk.pack import pack_project
from droidgate_mappings.formats.format import load_formats
from droidgate_mappings.formats.installed import SHIM_PACKAGE
from droidgate_mappings.model.capability import Provider
from droidgate_phone.apps.sample_packages import sample_packages, signing_key
from droidgate_phone.phone import VirtualPhone, start_phone
from droidgate_shim.builder.shim_choices import ShimOptions
from droidgate_shim.builder.shims import build_bare_shim
from gateway.calls.phones_with_shims import PLACE, THING, weather_with_app_actions
from requirements_of_tests import CHECKOUT
from split_apks import pack_base_and_split

APPS = CHECKOUT / "device_shim/apps"
SAMPLE = "dev.droidgate.sample."
MODULES = {
    "clockin": "clock-in/app", "pdftool": "pdf-tool/app", "notes": "notes/app",
    "notes.legacy": "notes/legacy", "tally": "tally/app",
}  # fmt: skip
CREATE_NOTE = "dev.droidgate.sample.notes.NotesService#createNote"


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DROIDGATE_HOME", str(tmp_path))


# Android refuses an app whose least release is newer than its own.
NEEDS_36 = ("notes", "notes.legacy")


@pytest.fixture
def phone(request: pytest.FixtureRequest) -> Iterator[VirtualPhone]:
    release = getattr(request, "param", "36.1")
    with start_phone(sdk=release, server_port=0, apps=False) as started:
        for sample_package in sample_packages():
            if float(release) >= 36 or sample_package.package.removeprefix(SAMPLE) not in NEEDS_36:
                started.install(sample_package.apk)
        yield started


def device_of(phone: VirtualPhone) -> Device:
    assert phone.server_port is not None
    return Device(AdbClient(ServerAddress(port=phone.server_port)), phone.serial)


def discover(phone: VirtualPhone, **asked: bool) -> PhoneReading:
    return read_phone(device_of(phone), PhoneRequest(tuple(load_formats().values()), **asked))  # type: ignore[arg-type]


def provider_of(found: PhoneReading, name: str, start: str = SAMPLE) -> Provider:
    (app,) = [item for item in found.apps if item.package == start + name]
    assert app.problems == ()
    (provider,) = app.providers
    return provider


def run_command(phone: VirtualPhone, *arguments: str) -> str:
    result = device_of(phone).run(arguments)
    assert result.exit_status == 0, result
    return result.text


@pytest.mark.parametrize(
    "phone", ["26", "30", "33", "34", "36", "36.1", "37"], ids="API {}".format, indirect=True
)
def test_sample_apps_are_what_their_source_trees_declare(phone: VirtualPhone) -> None:
    discovery = discover(phone)
    assert discovery.problems == ()
    installed = {app.package for app in discovery.apps}
    expected = [name for name in MODULES if phone.system.release.sdk >= 36 or name not in NEEDS_36]
    assert installed == {SAMPLE + name for name in (*expected, "weather")}
    for name in expected:
        module = MODULES[name]
        (declared,) = read_source(str(APPS / module)).providers
        provider = provider_of(discovery, name)
        assert provider.content_digest() == declared.content_digest(), name
        assert provider.source is not None
        assert provider.source.path.startswith(f"adb:{phone.serial}/{SAMPLE}{name}!/")


@pytest.mark.parametrize("phone", ["36.1", "37"], ids="API {}".format, indirect=True)
def test_functions_have_the_state_of_the_phone(phone: VirtualPhone) -> None:
    command = ("cmd", "app_function", "set-enabled", "--package", f"{SAMPLE}notes", "--function", CREATE_NOTE)
    run_command(phone, *command, "--state", "disable")
    discovery = discover(phone)
    states = {item.id: item.state for item in provider_of(discovery, "notes").capabilities}
    assert [name for name, state in states.items() if state and not state.enabled] == [CREATE_NOTE]
    assert None not in states.values()
    rows = [row for block in discovery_page(discovery) if isinstance(block, Table) for row in block.rows]
    assert "8 (1 disabled, 1 not callable)" in next(row for row in rows if row[0] == f"{SAMPLE}notes")
    assert f"{CREATE_NOTE} (disabled)" in {
        capability_name(item) for item in provider_of(discovery, "notes").capabilities
    }
    run_command(phone, *command, "--state", "default")
    again = discover(phone)
    assert again.bytes_read == 0
    assert all(item.state and item.state.enabled for item in provider_of(again, "notes").capabilities)


@pytest.mark.parametrize("phone", ["36"], ids="API {}".format, indirect=True)
def test_a_phone_without_a_listing_is_read_from_its_apks_with_a_note(phone: VirtualPhone) -> None:
    discovery = discover(phone)
    provider = provider_of(discovery, "notes")
    assert all(item.state is None for item in provider.capabilities)
    (app,) = [item for item in discovery.apps if item.package == f"{SAMPLE}notes"]
    assert "function-state-not-known" in {item.code for item in app.findings}


def test_the_second_discovery_of_an_unchanged_phone_reads_no_apk() -> None:
    with start_phone(server_port=0, packages=30) as phone:
        first = discover(phone, every_app=True)
        second = discover(phone, every_app=True)
        assert first.installed >= 36
        assert first.bytes_read > 0
        assert (second.bytes_read, second.requests) == (0, 0)
        assert second.kept == len(second.apps) == first.installed
        assert [app.providers for app in second.apps] == [app.providers for app in first.apps]
        assert [app.findings for app in second.apps] == [app.findings for app in first.apps]


def test_an_app_that_was_updated_is_read_again_and_the_others_are_not(phone: VirtualPhone) -> None:
    first = discover(phone)
    phone.install(
        pack_project(APPS / "clock-in/app", key=signing_key(), package=f"{SAMPLE}clockin", version_code=99)
    )
    second = discover(phone)
    assert [item.package for item in second.apps if not item.was_kept] == [f"{SAMPLE}clockin"]
    assert second.bytes_read > 0
    assert [item.content_digest() for app in second.apps for item in app.providers] == [
        item.content_digest() for app in first.apps for item in app.providers
    ]


def test_an_app_with_a_split_is_read_with_it_and_kept_with_it(phone: VirtualPhone) -> None:
    module, package = APPS / "clock-in/app", f"{SAMPLE}clockin"
    phone.install(*pack_base_and_split(module, key=signing_key(), package=package, version_code=5))
    (declared,) = read_source(str(module)).providers
    discovery = discover(phone)
    assert provider_of(discovery, "clockin").content_digest() == declared.content_digest()
    paths = run_command(phone, "pm", "path", package).split()
    assert len(paths) == 2
    again = discover(phone)
    assert again.bytes_read == 0
    assert provider_of(again, "clockin") == provider_of(discovery, "clockin")


def test_an_app_that_was_removed_is_not_listed(phone: VirtualPhone) -> None:
    discover(phone)
    run_command(phone, "pm", "uninstall", f"{SAMPLE}clockin")
    assert f"{SAMPLE}clockin" not in {app.package for app in discover(phone).apps}


def test_apps_of_the_phone_are_no_larger_over_adb_than_a_full_pull(phone: VirtualPhone) -> None:
    discovery = discover(phone, keep=False, every_app=True)
    device = device_of(phone)
    whole = 0
    for app in discovery.apps:
        path = run_command(phone, "pm", "path", app.package).removeprefix("package:").strip()
        status = device.status(path)
        assert status is not None
        whole += status.size
    assert 0 < discovery.bytes_read <= whole


def test_app_actions_are_found_in_apps_with_a_launcher_screen_and_other_apps_are_not_listed(
    phone: VirtualPhone, tmp_path: Path
) -> None:
    phone.install(weather_with_app_actions(tmp_path))
    discovery = discover(phone)
    (weather,) = (app for app in discovery.apps if app.package == f"{SAMPLE}weather")
    (declared,) = (each for each in weather.providers if each.protocol == "app-actions")
    assert [item.id for item in declared.capabilities] == [PLACE, THING]
    assert callability_of(declared, weather, discovery).routes[0].ready
    assert f"{SAMPLE}agent" not in {app.package for app in discovery.apps}


HOSTILE = (
    '<manifest xmlns:android="http://schemas.android.com/apk/res/android" package="org.example.hostile">'
    '<application android:label="Tools\u202e\u2066">'
    '<activity android:name=".Tool\u202eActivity" android:exported="true">'
    '<intent-filter><action android:name="com.example.mMCP.ACTION_TOOL_ADVERTISE"/></intent-filter>'
    '<meta-data android:name="mMCP_manifest" android:value=\'{"protocolVersion": "1.0", "instructions": '
    '"\\\\u001b[2J", "tools": [{"name": "t\\\\u001b[31m\\\\u009b", "description": "\\\\u202eevil\\\\u0007", '
    '"parameters": {"type": "object"}}]}\'/>'
    "</activity></application></manifest>"
)


def test_an_app_with_hostile_names_hides_no_other_and_cannot_control_the_terminal(
    phone: VirtualPhone, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ANDROID_ADB_SERVER_PORT", str(phone.server_port))
    before = {item.package for item in discover(phone).apps}
    phone.install(pack_project({"AndroidManifest.xml": HOSTILE.encode()}, key=signing_key()))
    discovery = discover(phone)
    assert {item.package for item in discovery.apps if item.providers} == before | {"org.example.hostile"}
    (hostile,) = provider_of(discovery, "hostile", "org.example.").capabilities
    assert hostile.id == "t\x1b[31m\x9b"
    codes = {"discover": 0, "discover --json": 0, "inspect adb:": 0, "lint adb:": 1}
    for command, code in codes.items():
        assert run(command.split()) == code
        captured = capsys.readouterr()
        assert "hostile" in captured.out
        assert not set(captured.out + captured.err) & set("\x1b\x9b\x07\r\u202e\u2066")
    run(["discover"])
    captured = capsys.readouterr()
    assert "warning: adb:" in captured.err
    assert r"t\x1b[31m\x9b description: has hidden characters: U+202E, U+0007" in captured.out
    run(["discover", "--json"])
    providers = [item for app in json.loads(capsys.readouterr().out)["apps"] for item in app["providers"]]
    marks = [mark for item in providers for mark in item["marks"]]
    assert {mark["package"] for mark in marks} == {"org.example.hostile"}
    assert "/capabilities/0/description" in {mark["pointer"] for mark in marks}


def test_shims_are_left_out_unless_they_are_asked_for_or_named(
    phone: VirtualPhone, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ANDROID_ADB_SERVER_PORT", str(phone.server_port))
    options = ShimOptions(signer="ab" * 32, protocols=("all",))
    built = build_shim(str(APPS / "clock-in/app"), options=options)
    for apk in (*(item.apk for item in built.shims), build_bare_shim(built.key.signing).apk):
        phone.install(apk)
    (shim,) = [item.application_id for item in built.shims]
    capsys.readouterr()

    assert run(["discover", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["left_out"] == [f"{SAMPLE}agent", SHIM_PACKAGE, shim]
    assert not {item["package"] for item in document["apps"]} & {SHIM_PACKAGE, shim}
    assert run(["discover"]) == 0
    output = capsys.readouterr().out
    assert "left out: 3 apps of droidgate itself" in output
    assert shim not in output

    assert run(["discover", "--include-shims", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["left_out"] == []
    own = {item["package"]: item["own"] for item in document["apps"]}
    assert own[shim] == "shim"
    assert own[f"{SAMPLE}clockin"] is None
    assert run(["discover", "--include-shims"]) == 0
    output = capsys.readouterr().out
    assert f"{shim} (shim)" in output
    assert f"{SHIM_PACKAGE} is a shim without capabilities of its own" in output

    assert run(["inspect", f"adb:{phone.serial}/{shim}"]) == 0
    assert "query_clock_in" in capsys.readouterr().out


def test_the_command_line_shows_what_was_found(
    phone: VirtualPhone, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ANDROID_ADB_SERVER_PORT", str(phone.server_port))
    assert run(["discover"]) == 0
    captured = capsys.readouterr()
    for word in (f"{SAMPLE}weather", "mmcp+broadcast", "not known", "mobile-mcp+1.0", "appfunctions+v2"):
        assert word in captured.out
    assert "bytes of APKs read over adb" in captured.err
    assert run(["discover", "--json", "--format", "mmcp"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["schema"] == "droidgate.discover/1"
    by_package = {app["package"]: app["providers"] for app in document["apps"]}
    assert by_package.keys() == {f"{SAMPLE}weather", f"{SAMPLE}pdftool"}
    (weather,) = by_package[f"{SAMPLE}weather"]
    assert weather["routes"] == [
        {"id": "am-broadcast", "title": "shell: am broadcast", "ready": True, "needs": []}
    ]
    assert "asks the app" in weather["found_by"]
    assert run(["inspect", f"adb:{phone.serial}/{SAMPLE}clockin"]) == 0
    assert "query_clock_in" in capsys.readouterr().out
    folder = str(tmp_path / "converted")
    assert run(["convert", f"adb:/{SAMPLE}clockin", "--to", "mcp", "-o", folder]) == 0
    assert run(["diff", str(APPS / "clock-in/app"), f"adb:{phone.serial}/{SAMPLE}clockin"]) == 0
    assert run(["lint", f"adb:{phone.serial}/{SAMPLE}clockin"]) == 0

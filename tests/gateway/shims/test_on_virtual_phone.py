"""The host against the shim on the virtual phone, behind the phone's own adb server and behind the real one.

What the shim does there is the phone's code, which shares nothing with the host; what it did is looked up in
the phone's state.
"""

import base64
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from device_shim.phone_system.phone_system_apps import run, tap
from droidgate.cli.run_limits import RunBudget, run_within
from droidgate.devices.adb_client import AdbClient, ServerAddress
from droidgate.devices.app_installation import install_apks
from droidgate.devices.content import read_content, write_content
from droidgate.devices.device import connect_device
from droidgate.devices.device_errors import CommandFailedError, DeviceOutputError
from droidgate.shims.broadcast_discovery import ask_broadcast_apps
from droidgate.shims.device_user import DeviceUser, device_user_of, installed_shims
from droidgate.shims.host_client import HostClient
from droidgate.shims.installation_steps import install_shim, remove_shim
from droidgate.shims.refusals import ShimMissingError, ShimRefusalError
from droidgate.shims.shell_identity import release_identity, set_up_identity
from droidgate.shims.shim_calls import call_capability
from droidgate.shims.shim_facts import facts_of, installed_facts, read_shim_facts
from droidgate.shims.source_apps import read_source_apps
from droidgate_android.apk.signing_keys import SigningKey, make_key
from droidgate_mappings.formats.installed import SHIM_PACKAGE
from droidgate_mappings.model.errors import BudgetError
from droidgate_phone.apps.sample_packages import sample_package
from droidgate_phone.phone import VirtualPhone, start_phone
from droidgate_shim.builder.shim_choices import ShimOptions
from droidgate_shim.builder.shims import BuiltShim, build_bare_shim, build_shims
from droidgate_shim.builder.source_app import SourceApp
from gateway.devices.test_against_virtual_phone import real_adb_server

CLOCK_IN = "dev.droidgate.sample.clockin"
NOTES = "dev.droidgate.sample.notes"
WEATHER = "dev.droidgate.sample.weather"
RECEIVER = f"{WEATHER}/{WEATHER}.WeatherReceiver"
SHIM = f"dev.droidgate.shim.of.{CLOCK_IN}"


class Reached:
    """A phone, the way to it, and shims for its apps."""

    def __init__(self, phone: VirtualPhone, server: AdbClient, apps: Path) -> None:
        self.phone = phone
        self.device_user: DeviceUser = device_user_of(connect_device(phone.serial, server=server))
        self.key: SigningKey = make_key()
        self.apps: tuple[SourceApp, ...] = read_source_apps([str(apps)])

    def shim_of(self, package: str) -> BuiltShim:
        """Return the shim of one app."""
        apps = [app for app in self.apps if app.package == package]
        (built,) = build_shims(apps, ShimOptions(), self.key)
        return built

    def install(self, package: str) -> HostClient:
        """Install the shim of one app and return what talks to it."""
        built = self.shim_of(package)
        facts = facts_of(built, self.key.digest)
        done = install_shim(self.device_user, facts, built.apk, file_name=built.file_name)
        assert done.works, done.steps
        return self.device_user.client(built.application_id)


@pytest.fixture(scope="module")
def apps(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("apps")
    for name in ("clock-in", "weather", "notes"):
        item = sample_package(name)
        (folder / f"{item.package}.apk").write_bytes(item.apk)
    return folder


@pytest.fixture(scope="module", params=["its own server", "real adb"])
def reached(
    request: pytest.FixtureRequest, apps: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Reached]:
    home = tmp_path_factory.mktemp("adb-home")
    with start_phone(server_port=0, adb_keys=(home / ".android" / "adbkey.pub",)) as phone:
        if request.param == "its own server":
            assert phone.server_port is not None
            yield Reached(phone, AdbClient(ServerAddress(port=phone.server_port)), apps)
            return
        with real_adb_server(phone, home) as server:
            yield Reached(phone, server, apps)


def test_facts_of_a_shim_are_the_same_built_in_a_file_and_installed(reached: Reached) -> None:
    built = reached.shim_of(CLOCK_IN)
    reached.install(CLOCK_IN)
    facts = facts_of(built, reached.key.digest)
    assert read_shim_facts(built.apk, name="file") == facts
    assert installed_facts(reached.device_user, reached.device_user.packages()[SHIM]) == facts
    assert facts.kinds == {"mobile-mcp"}


def test_a_capability_that_the_user_switched_off_is_disabled_for_the_host_too(reached: Reached) -> None:
    client, phone = reached.install(CLOCK_IN), reached.phone.system
    run(phone, "am", "start", "-W", "-n", f"{SHIM}/dev.droidgate.shim.consent.ManageActivity")
    tap(phone, lambda node: node.get("text") == "query_clock_in")
    assert client.status().switched_off == ("query_clock_in",)
    with pytest.raises(ShimRefusalError, match="disabled"):
        call_capability(client, "query_clock_in", {})
    tap(phone, lambda node: node.get("text") == "query_clock_in")
    assert client.status().switched_off == ()
    client.ask(on=False)
    assert client.status().asking is False
    client.ask(on=True)


def test_the_bare_shim_asks_a_broadcast_app_and_is_gone_again(reached: Reached) -> None:
    assert [item.unasked_components for item in reached.apps if item.package == WEATHER] == [
        (f"{WEATHER}.WeatherReceiver",)
    ]
    result = ask_broadcast_apps(reached.device_user, reached.apps, reached.key)
    (weather,) = [item for item in result.apps if item.package == WEATHER]
    assert weather.unasked_components == ()
    names = [item.id for provider in weather.providers for item in provider.capabilities]
    assert names == ["currentWeather", "forecast", "warmestPlace"]
    assert [step.outcome for step in result.steps] == ["done"]
    assert SHIM_PACKAGE not in reached.device_user.packages()


def test_the_bare_shim_is_gone_again_when_the_time_for_reading_is_over(
    reached: Reached, monkeypatch: pytest.MonkeyPatch
) -> None:
    def install_slowly(*arguments: Any, **options: Any) -> None:
        install_apks(*arguments, **options)
        time.sleep(0.5)

    # The clock ticks while the shim is put on the phone, while it asks, and while it is removed.
    monkeypatch.setattr("droidgate.cli.run_limits._AGAIN", 0.005)
    monkeypatch.setattr("droidgate.shims.broadcast_discovery.install_apks", install_slowly)
    monkeypatch.setattr(HostClient, "discover_broadcast", lambda *_: time.sleep(60))
    with pytest.raises(BudgetError, match=r"more than 0\.5 seconds"):
        run_within(
            RunBudget(None, 0.5), lambda: ask_broadcast_apps(reached.device_user, reached.apps, reached.key)
        )
    assert SHIM_PACKAGE not in reached.device_user.packages()


def test_the_bare_shim_that_is_there_stays(reached: Reached) -> None:
    bare = build_bare_shim(reached.key)
    facts = facts_of(bare, reached.key.digest)
    done = install_shim(reached.device_user, facts, bare.apk, file_name=bare.file_name)
    assert done.works
    shims = {item.application_id: item for item in installed_shims(reached.device_user)}
    assert shims[SHIM_PACKAGE].is_bare
    ask_broadcast_apps(reached.device_user, reached.apps, reached.key)
    assert SHIM_PACKAGE in reached.device_user.packages()
    tools = reached.device_user.client(SHIM_PACKAGE).discover_broadcast(RECEIVER)
    assert [name for name, _, _ in tools] == ["currentWeather", "forecast", "warmestPlace"]
    assert remove_shim(reached.device_user, SHIM_PACKAGE).outcome == "done"
    assert SHIM_PACKAGE not in reached.device_user.packages()


def test_one_shim_borrows_the_shells_permission_and_calls_a_function_for_another(reached: Reached) -> None:
    client = reached.install(NOTES)
    shims = [facts_of(reached.shim_of(NOTES), reached.key.digest)]
    done = set_up_identity(reached.device_user, shims, reached.key)
    assert [item.outcome for item in done.steps] == ["done", "done"]
    holder = reached.device_user.client(SHIM_PACKAGE)
    assert holder.status().access.execute_app_functions
    assert not client.status().access.execute_app_functions
    again = set_up_identity(reached.device_user, shims, reached.key)
    assert [item.outcome for item in again.steps] == ["not-needed", "not-needed"]
    function = f"{NOTES}.NotesService#createNote"
    outputs = call_capability(client, function, {"title": "From the host", "content": "x"})
    assert outputs
    files = reached.phone.system.files
    root = f"/data/data/{NOTES}/files"
    assert any(b"From the host" in files.read(f"{root}/{name}") for name in files.list(root))
    assert ask_broadcast_apps(reached.device_user, reached.apps, reached.key).steps[0].outcome == "done"
    assert holder.status().access.execute_app_functions
    assert release_identity(reached.device_user, {reached.key.digest}) is None
    assert remove_shim(reached.device_user, client.application_id).outcome == "done"
    step = release_identity(reached.device_user, {reached.key.digest})
    assert step is not None
    assert step.outcome == "done"
    assert SHIM_PACKAGE not in reached.device_user.packages()


def test_a_shim_that_is_not_there_is_missing_and_one_that_died_says_so(reached: Reached) -> None:
    with pytest.raises(ShimMissingError):
        reached.device_user.client("dev.droidgate.shim.of.com.example.absent").hello()
    assert remove_shim(reached.device_user, "dev.droidgate.shim.of.com.example.absent").outcome == "refused"


def test_the_provider_answers_another_version_and_garbage_with_a_failure(reached: Reached) -> None:
    reached.install(CLOCK_IN)
    for argument, token in (
        (base64.urlsafe_b64encode(b'{"version":2}').decode().rstrip("="), "unsupported_version"),
        ("e30", "unsupported_version"),
        ("abc", "invalid_argument"),
    ):
        result = reached.device_user.device.run(
            ["content", "call", "--uri", f"content://{SHIM}.host", "--method", "hello", "--arg", argument]
        )
        reported = result.text.removeprefix("Result: Bundle[{result=").removesuffix("}]\n")
        answer = json.loads(base64.urlsafe_b64decode(reported + "=" * (-len(reported) % 4)))
        assert (answer["version"], answer["error"]["token"]) == (1, token)


def test_a_frame_that_nobody_wrote_cannot_be_read(reached: Reached) -> None:
    reached.install(CLOCK_IN)
    uri = f"content://{SHIM}.host/calls/{'0' * 32}"
    with pytest.raises(CommandFailedError):
        read_content(reached.device_user.device, uri)
    with pytest.raises(CommandFailedError):
        write_content(reached.device_user.device, uri, b"DGF1 and no more")
    with pytest.raises((CommandFailedError, DeviceOutputError)):
        read_content(reached.device_user.device, "content://com.example.absent/x")

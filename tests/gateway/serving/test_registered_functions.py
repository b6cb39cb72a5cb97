"""Functions that an app registers while it runs: served, called and announced while they are registered."""

from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import anyio
import mcp_types
import pytest

from device_shim.phone_system.phone_system_apps import make_apk
from device_shim.phone_system.test_app_functions import SCHEMA
from droidgate.calls.audit_log import AuditLog
from droidgate.calls.call_requests import CallRequest
from droidgate.calls.caller import Caller
from droidgate.calls.pins import PinStore
from droidgate.calls.policy import Policy
from droidgate.calls.subjects import NamePattern
from droidgate.devices.adb_client import AdbServer, ServerAddress
from droidgate.devices.device import Device
from droidgate.serving.phone_tools import PhoneTools, ServedPhone
from droidgate.shims.installing import install_archive
from droidgate.shims.place import place_of
from droidgate.sources.phone_source import PhoneRequest, read_phone
from droidgate_mappings.formats.format import load_formats
from droidgate_mappings.values.failures import CallError
from droidgate_phone.apps.app_registry import BEHAVIOURS
from droidgate_phone.java.app_values import BroadcastResult
from droidgate_phone.java.intents import Intent
from droidgate_phone.phone import start_phone
from droidgate_phone.system.behaviour import App, Receiver
from gateway.calling.phones_with_shims import allow_once
from gateway.serving.clients_of_tests import http_client
from gateway.serving.running_servers import running_server

PLAYER = "dev.made.player"
SKIP = "player#skip"
MANIFEST = """<property android:name="android.app.appfunctions.schema" android:value="schema.xsd"/>
<property android:name="android.app.appfunctions.v2" android:value="player.xml"/>
<receiver android:name=".Screen" android:exported="true"/>"""
FUNCTIONS = f"""<appfunctions><appfunction><id>{SKIP}</id><functionId>{SKIP}</functionId>
<scope>global</scope><description>Play the next song</description></appfunction></appfunctions>"""


class Screen(Receiver):
    """Registers the function while a song is open."""

    def on_receive(self, intent: Intent, current: BroadcastResult) -> BroadcastResult | None:
        del current
        statics = self.context.platform.statics
        if intent.action == "open":
            statics["registration"] = self.context.platform.register_app_function(SKIP, lambda *_: {})
        else:
            take_back = statics["registration"]
            assert callable(take_back)
            take_back()
        return None


class PlayerApp(App):
    PACKAGE = PLAYER
    RECEIVERS = {f"{PLAYER}.Screen": Screen}


@pytest.fixture
def device() -> Iterator[Device]:
    files = {"assets/schema.xsd": SCHEMA, "assets/player.xml": FUNCTIONS}
    with (
        patch.dict(BEHAVIOURS, {PLAYER: PlayerApp}),
        start_phone(sdk="37", server_port=0) as phone,
    ):
        assert phone.server_port is not None
        device = Device(AdbServer(ServerAddress(port=phone.server_port)), phone.serial)
        install_archive(place_of(device), make_apk(PLAYER, MANIFEST, files=files), "player.apk")
        yield device


def send(device: Device, action: str) -> None:
    device.check(["am", "broadcast", "-a", action, "-n", f"{PLAYER}/.Screen"])


def test_a_registered_function_is_announced_called_and_gone_with_its_process(
    device: Device, tmp_path: Path
) -> None:
    caller = Caller(device, policy=Policy(), pins=PinStore(tmp_path), audit=AuditLog(tmp_path))
    tools = PhoneTools(
        [ServedPhone(None, lambda: caller)],
        allow=[NamePattern.parse("*")],
        select=[PLAYER],
        poll_seconds=0.2,
    )

    async def main() -> None:
        changed = anyio.Event()

        async def note(message: object) -> None:
            if isinstance(message, mcp_types.ToolListChangedNotification):
                changed.set()

        with running_server(tools) as server:
            async with http_client(server, "2025-11-25", message_handler=note) as client:
                with anyio.fail_after(60):
                    assert (await client.list_tools()).tools == []
                    await anyio.to_thread.run_sync(send, device, "open")
                    await changed.wait()
                    [tool] = (await client.list_tools()).tools
                    assert "Play the next song" in str(tool.description)
                    assert not (await client.call_tool(tool.name, {})).is_error
                    changed = anyio.Event()
                    await anyio.to_thread.run_sync(device.check, ["am", "force-stop", PLAYER])
                    await changed.wait()
                    assert (await client.list_tools()).tools == []

    anyio.run(main)


def test_discovery_reads_whether_a_function_is_registered_now(device: Device, tmp_path: Path) -> None:
    request = PhoneRequest(tuple(load_formats().values()), package=PLAYER, keep=False)
    states: list[bool | None] = []
    for action in ("open", "close"):
        send(device, action)
        [provider] = read_phone(device, request).declared.providers
        states += [function.state.enabled for function in provider.capabilities if function.state]
    assert states == [True, False]
    caller = Caller(
        device, policy=Policy(), pins=PinStore(tmp_path), audit=AuditLog(tmp_path), approver=allow_once
    )
    with pytest.raises(CallError) as raised:
        caller.call(CallRequest(SKIP))
    assert raised.value.failure.token == "disabled"

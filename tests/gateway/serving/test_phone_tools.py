"""Which tools and resources are served of a phone, while apps and phones come, change and go.

Also functions that an app registers while it runs.
"""

import json
import queue
import re
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import Mock, patch

import anyio
import mcp_types
import pytest

from device_shim.phone_system.phone_system_apps import make_apk
from device_shim.phone_system.test_app_functions import SCHEMA
from droidgate.calls.audit_log import AuditLog
from droidgate.calls.call_requests import CallRequest
from droidgate.calls.caller import CapabilityCaller
from droidgate.calls.pins import PinStore
from droidgate.calls.policy import Policy
from droidgate.calls.subjects import EVERY_CAPABILITY
from droidgate.devices.adb_client import AdbClient, ServerAddress
from droidgate.devices.app_installation import uninstall
from droidgate.devices.device import Device
from droidgate.serving.phone_tools import PhoneTools
from droidgate.serving.served_phones import ServedPhone
from droidgate.serving.server_application import plan_tokens
from droidgate.serving.tool_search import ToolIndex
from droidgate.sources.phone_source import PhoneRequest, read_phone
from droidgate_android.apk.pack import pack_project
from droidgate_android.apk.signing_keys import load_or_make_key, make_key
from droidgate_mappings.formats.format import load_formats
from droidgate_mappings.formats.installed import SHIM_PACKAGE, SHIM_PREFIX
from droidgate_mappings.model.errors import DeviceError
from droidgate_mappings.model.json_values import Json, canonical_json
from droidgate_mappings.values.failures import CallError
from droidgate_phone.apps.app_registry import BEHAVIOURS
from droidgate_phone.apps.sample_packages import sample_package, sample_packages, signing_key
from droidgate_phone.java.app_values import BroadcastResult
from droidgate_phone.java.intents import Intent
from droidgate_phone.phone import start_phone
from droidgate_phone.system.behaviour import App, Receiver
from droidgate_shim.builder.sample_apps import sample_apps_directory
from gateway.calls.phones_with_shims import LEGACY, NOTES, PDF_TOOL, TALLY, WEATHER, ReachedPhone, allow_once
from gateway.devices.conftest import unused_port
from gateway.mobile_agent.made_phone import device_on
from gateway.serving.phone_servers import CALLS, connected, tools_of
from gateway.serving.running_servers import REVISIONS, http_client, running_server, text_of

pytestmark = pytest.mark.anyio


def test_texts_of_apps_are_labelled_and_names_are_safe(phone: ReachedPhone) -> None:
    tools = tools_of(phone)
    assert tools.look() == {"tools", "resources"}
    assert tools.look() == set()
    for tool in tools.snapshot().tools:
        assert re.fullmatch("[A-Za-z][A-Za-z0-9_-]{0,63}", tool.name)
        for document in tool.documents.values():
            description = document["description"]
            assert isinstance(description, str)
            assert description.startswith(f"[Text of the app {tool.group}]")
            assert len(description) <= 1024
            assert "_meta" not in document
    own = tools.instructions
    assert "dev.droidgate.sample" not in own
    assert "\n" not in own
    opted_in = tools_of(phone, app_instructions=True)
    opted_in.look()
    same, marked = opted_in.instructions.split("\n\n", 1)
    assert same == own
    assert "untrusted text of the app dev.droidgate.sample.notes\n" in marked


@pytest.mark.parametrize("revision", REVISIONS)
def test_the_list_of_tools_is_short(phone: ReachedPhone, revision: str) -> None:
    tools = tools_of(phone)
    tools.look()
    documents: list[Json] = [dict(tool.documents[revision]) for tool in tools.snapshot().tools]
    assert len(documents) == 21
    # 36,800 with the schemas as they are converted, and without titles.
    assert len(canonical_json(documents).encode()) < 22_000


def test_select_serves_the_chosen_apps_only(phone: ReachedPhone) -> None:
    tools = tools_of(phone, select=("*.notes", WEATHER))
    tools.look()
    assert {tool.group for tool in tools.snapshot().tools} == {NOTES, WEATHER}
    planned = plan_tokens(tools.snapshot().tools)
    assert {app.group for app in planned} == {NOTES, WEATHER}
    assert all(app.tokens > 20 * app.tools for app in planned)


def test_a_tool_that_is_longer_than_clients_take_leaves_the_others_their_list(
    phone: ReachedPhone, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("droidgate.serving.phone_tools.MAX_PAGE", 2_000)
    tools = tools_of(phone)
    tools.look()
    names = {tool.name for tool in tools.snapshot().tools}
    assert "tally_add_points" in names
    assert "notes_createNote" not in names
    phone.device.check(["pm", "uninstall", WEATHER])
    assert "tools" in tools.look()
    phone.phone.install(sample_package("weather").apk)
    # It is said once, however often the list changes.
    left_out = "NotesService#createNote of dev.droidgate.sample.notes is left out: "
    assert [left_out in line for line in caplog.messages].count(True) == 1


async def test_a_tool_is_listed_once_a_shim_of_the_user_leads_to_it(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with start_phone(server_port=0) as phone:
        reached = ReachedPhone(phone, device_on(phone), tmp_path)
        apks = {sample.package: tmp_path / f"{sample.package}.apk" for sample in sample_packages()}
        for sample in sample_packages():
            apks[sample.package].write_bytes(sample.apk)
        tools = tools_of(reached)
        tools.look()
        assert {tool.group for tool in tools.snapshot().tools} == {NOTES, LEGACY}
        assert (
            "left out: 12 tools of 4 apps; unavailable: the app has no shim on the phone" in caplog.messages
        )
        way = f"run `droidgate shim install --from adb:{phone.serial} --serial {phone.serial} --format all`"
        assert [text for text in caplog.messages if "hint: " in text] == [f"hint: {way}"]
        reached.install_shims(apks[TALLY], make_key())
        assert "tools" not in tools.look()
        assert f"{SHIM_PREFIX}{TALLY}: your key did not sign this shim" in caplog.text
        uninstall(reached.device, SHIM_PACKAGE)
        reached.install_shims(apks[PDF_TOOL], load_or_make_key())
        assert "tools" in tools.look()
        # The user's own shim asks the receiver of weather for its tools, too.
        assert {tool.group for tool in tools.snapshot().tools} == {NOTES, LEGACY, PDF_TOOL, WEATHER}
        # An update that declares something else makes the shim refuse its calls: nobody is asked about them.
        phone.install(_changed_pdf_tool(tmp_path))
        approver = Mock(side_effect=allow_once)
        caller = reached.caller(approver=approver)
        error = reached.failure("page_count", caller=caller, path="/sdcard/Download/x.pdf")
        approver.assert_not_called()
        changed = f"{PDF_TOOL} declares something else than its shim was built for"
        assert error.message == f"needs_approval: {changed}; the phone's owner has to run droidgate shim sync"
        assert (error.hint or "").startswith("droidgate shim sync")
        tools.look()
        assert {tool.group for tool in tools.snapshot().tools} == {NOTES, LEGACY, WEATHER}
        assert f"hint: {error.hint}" in caplog.messages
        why, *_ = [item.uri for item in tools.snapshot().resources if item.uri.endswith("/why")]
        rows = json.loads(str((await tools.read_resource(why, "mcp:a")).content))
        gates = {row["capability"].partition("/")[0]: (row["verdict"], row.get("gate")) for row in rows}
        assert {app: gates[app] for app in (PDF_TOOL, TALLY)} == {
            PDF_TOOL: ("cannot", "shim-current"),
            TALLY: ("cannot", "shim"),
        }


def _changed_pdf_tool(folder: Path) -> bytes:
    """Return the sample app with another description of a tool."""
    project = folder / "pdftool"
    shutil.copytree(sample_apps_directory() / "pdf-tool/app", project)
    path = project / "src/main/AndroidManifest.xml"
    text = path.read_text(encoding="utf-8")
    assert "Ask page_count first" in text
    path.write_text(text.replace("Ask page_count first", "Ask search_text first"), encoding="utf-8")
    return pack_project(project, key=signing_key(), package=PDF_TOOL)


async def test_an_installed_app_is_announced_and_a_removed_one_leaves(phone: ReachedPhone) -> None:
    tools, apk = tools_of(phone), sample_package("weather").apk
    send, changes = anyio.create_memory_object_stream[str](100)
    async with send, changes, tools.run(send.send_nowait):
        before = {tool.name for tool in tools.snapshot().tools}
        assert "weather_forecast" in before
        with anyio.fail_after(60):
            await anyio.to_thread.run_sync(phone.device.check, ["pm", "uninstall", WEATHER])
            assert {await changes.receive(), await changes.receive()} == {"tools", "resources"}
            assert "weather_forecast" not in {tool.name for tool in tools.snapshot().tools}
            await anyio.to_thread.run_sync(phone.phone.install, apk)
            assert {await changes.receive(), await changes.receive()} == {"tools", "resources"}
        assert {tool.name for tool in tools.snapshot().tools} == before


def test_a_look_that_finds_no_change_is_one_command_with_a_short_answer(phone: ReachedPhone) -> None:
    tools = tools_of(phone)
    for _ in range(2):
        tools.look()
    with phone.counted() as commands:
        assert tools.look() == set()
    (command,) = commands
    assert command.endswith("| md5sum'")


async def test_a_phone_is_asked_ever_more_rarely_while_no_client_asks_and_at_once_when_one_does(
    phone: ReachedPhone, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As if hours had passed since a client asked for anything.
    monkeypatch.setattr("droidgate.serving.phone_tools._IDLE_SHARE", 1e-6)
    tools = tools_of(phone, poll_seconds=0.01)
    look = tools.look
    looks = queue.SimpleQueue[str]()

    def count() -> object:
        looks.put("look")
        return look()

    monkeypatch.setattr(tools, "look", count)
    async with tools.run(lambda _change: None):
        await anyio.sleep(0.5)
        assert looks.qsize() == 1
        looks.get()
        tools.snapshot()
        await anyio.to_thread.run_sync(looks.get, True, 60)


async def test_a_phone_that_is_not_there_yet_is_waited_for(phone: ReachedPhone) -> None:
    present = threading.Event()

    def connect() -> CapabilityCaller:
        if not present.is_set():
            raise DeviceError("no device")
        return phone.caller()

    tools = PhoneTools([ServedPhone("later", connect)], poll_seconds=0.1)
    changed = anyio.Event()
    async with tools.run(lambda _change: changed.set()):
        assert tools.snapshot().tools == ()
        present.set()
        with anyio.fail_after(60):
            await changed.wait()
        assert tools.snapshot().tools


async def test_a_phone_may_go_away_and_return(tmp_path: Path) -> None:
    port, server_port = unused_port(), unused_port()
    device = Device(AdbClient(ServerAddress(port=server_port)), f"127.0.0.1:{port}")
    audit = AuditLog(tmp_path / "audit", tmp_path)

    def connect() -> CapabilityCaller:
        return CapabilityCaller(device, policy=Policy(), pins=PinStore(tmp_path), audit=audit)

    tools = PhoneTools([ServedPhone(None, connect)], allow=EVERY_CAPABILITY, poll_seconds=0.1)
    call = ("legacy_createNote", {"title": "Milk", "content": "two litres"})
    with start_phone(port=port, server_port=server_port):
        tools.look()
    async with connected(tools, "2026-07-28") as client:
        gone = await client.call_tool(*call)
        assert gone.is_error
        assert text_of(gone).startswith("unavailable: tcp:127.0.0.1:")
        assert len((await client.list_tools()).tools) == len(tools.snapshot().tools) > 0
        with start_phone(port=port, server_port=server_port):
            returned = await client.call_tool(*call)
            assert not returned.is_error, returned


def test_tools_of_several_phones_have_the_phone_in_their_names(phone: ReachedPhone) -> None:
    served = [ServedPhone(serial, phone.caller) for serial in ("first", "second")]
    tools = PhoneTools(served)
    tools.look()
    names = {tool.name for tool in tools.snapshot().tools}
    assert {"first_tally_read_total", "second_tally_read_total"} <= names
    assert {tool.group.partition("/")[0] for tool in tools.snapshot().tools} == {"first", "second"}
    matches = ToolIndex(tools.snapshot().tools).find("note", 5)
    assert [{tool.name.partition("_")[0] for tool in same} for same in matches] == [{"first", "second"}] * 5
    assert len({same[0].name for same in matches}) == 5


async def test_resources_hold_declarations_losses_and_instructions(phone: ReachedPhone) -> None:
    async with connected(tools_of(phone), "2026-07-28") as client:
        resources = (await client.list_resources()).resources
        # The characters of a scheme, an authority and a path (RFC 3986, 3).
        uris = re.compile(r"droidgate://[\w.:-]+(/[\w.:$-]+)+", re.ASCII)
        assert all(uris.fullmatch(str(resource.uri)) for resource in resources)
        declarations = [resource for resource in resources if resource.name.endswith(" declaration")]
        assert len(declarations) >= len(CALLS)
        assert "What the app declares (tally)" in {resource.title for resource in declarations}
        assert len({resource.title for resource in resources}) == len(resources)
        # New names are not losses: a tool has a name of its own.
        lossy = {resource.name.split()[0] for resource in resources if resource.name.endswith(" losses")}
        assert {name.rpartition("/")[2] for name in lossy} == {NOTES, f"{NOTES}.legacy"}
        (reasons,) = [resource for resource in resources if resource.name.endswith(" why")]
        (content,) = (await client.read_resource(reasons.uri)).contents
        assert isinstance(content, mcp_types.TextResourceContents)
        rows = {row["capability"].rpartition("#")[2]: row for row in json.loads(content.text)}
        assert (rows["deleteNote"]["verdict"], rows["deleteNote"]["gate"]) == ("cannot", "access")
        assert rows["createNote"] == {"capability": rows["createNote"]["capability"], "verdict": "can"}
        for resource in resources:
            (content,) = (await client.read_resource(resource.uri)).contents
            assert isinstance(content, mcp_types.TextResourceContents)
            if content.mime_type == "application/json":
                json.loads(content.text)
            else:
                assert content.text.startswith("[Text of the app dev.droidgate.sample.")


async def test_a_long_declaration_has_parts(phone: ReachedPhone, monkeypatch: pytest.MonkeyPatch) -> None:
    tools, parted = tools_of(phone, select=(NOTES,)), tools_of(phone, select=(NOTES,))
    tools.look()
    (whole,) = [item.uri for item in tools.snapshot().resources if item.uri.endswith("/declaration")]
    monkeypatch.setattr("droidgate.serving.declaration_resources.MAX_PART", 10_000)
    parted.look()
    parts = [item.uri for item in parted.snapshot().resources if item.uri.startswith(whole)]
    text = str((await tools.read_resource(whole, "mcp:a")).content)
    assert parts == [f"{whole}/{number}" for number in range(1, len(text) // 10_000 + 2)]
    assert "".join([str((await parted.read_resource(uri, "mcp:a")).content) for uri in parts]) == text


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
def player(tmp_path: Path) -> Iterator[ReachedPhone]:
    files = {"assets/schema.xsd": SCHEMA, "assets/player.xml": FUNCTIONS}
    with patch.dict(BEHAVIOURS, {PLAYER: PlayerApp}), start_phone(sdk="37", server_port=0) as phone:
        phone.install(make_apk(PLAYER, MANIFEST, files=files))
        yield ReachedPhone(phone, device_on(phone), tmp_path)


def send(player: ReachedPhone, action: str) -> None:
    player.device.check(["am", "broadcast", "-a", action, "-n", f"{PLAYER}/.Screen"])


async def test_a_registered_function_is_announced_called_and_gone_in_the_end(player: ReachedPhone) -> None:
    changed = anyio.Event()

    async def note(message: object) -> None:
        if isinstance(message, mcp_types.ToolListChangedNotification):
            changed.set()

    with running_server(tools_of(player, select=[PLAYER])) as server, anyio.fail_after(60):
        async with http_client(server, "2025-11-25", message_handler=note) as client:
            assert (await client.list_tools()).tools == []
            await anyio.to_thread.run_sync(send, player, "open")
            await changed.wait()
            [tool] = (await client.list_tools()).tools
            assert "Play the next song" in str(tool.description)
            assert not (await client.call_tool(tool.name, {})).is_error
            changed = anyio.Event()
            await anyio.to_thread.run_sync(player.device.check, ["am", "force-stop", PLAYER])
            await changed.wait()
            assert (await client.list_tools()).tools == []


def test_discovery_reads_whether_a_function_is_registered_now(player: ReachedPhone) -> None:
    request = PhoneRequest(tuple(load_formats().values()), package=PLAYER, keep=False)
    states: list[bool | None] = []
    for action in ("open", "close"):
        send(player, action)
        [provider] = read_phone(player.device, request).declared.providers
        states += [function.state.enabled for function in provider.capabilities if function.state]
    assert states == [True, False]
    with pytest.raises(CallError) as raised:
        player.caller().call(CallRequest(SKIP))
    assert raised.value.failure.token == "disabled"

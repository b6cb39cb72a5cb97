"""A virtual phone with apps made for these tests: a form, a list that scrolls, and a keyboard for every text.

What reached the phone is read from the apps themselves, and the shell's commands from the phone's log. Both
servers of the phone run in threads on free ports of loopback, and the official client calls them.
"""

from __future__ import annotations

import base64
from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any
from unittest.mock import patch

import anyio
import httpx2
import mcp_types
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from device_shim.phone_system.phone_system_apps import make_apk
from droidgate.calls.screen.screen_tools import MobileAgentTools
from droidgate.devices.adb_client import AdbClient, ServerAddress
from droidgate.devices.device import Device, connect_device
from droidgate.serving.mobile_agent.mobile_agent_server import Extension, MobileAgentServer, UfoRole
from droidgate_mappings.tables.mobile_agent import mobile_agent_commands, more_tools
from droidgate_phone.apps.app_registry import BEHAVIOURS
from droidgate_phone.java.app_values import BroadcastResult, View
from droidgate_phone.java.intents import Intent
from droidgate_phone.phone import VirtualPhone, start_phone
from droidgate_phone.system.behaviour import Activity, App, Receiver
from gateway.serving.running_servers import running_application

FORM = "dev.made.form"
SHOP = "dev.made.shop"
KEYBOARD = "com.android.adbkeyboard"
KEYBOARD_ID = f"{KEYBOARD}/.AdbIME"
OTHER_KEYBOARD_ID = f"{FORM}/.Keys"
ROWS = 60


@dataclass
class FormFacts:
    """What the form holds and what was done to it."""

    name: str = ""
    note: str = ""
    clicks: list[str] = field(default_factory=list)
    long_clicks: list[str] = field(default_factory=list)
    drops: list[tuple[str, str]] = field(default_factory=list)
    rows: list[str] = field(default_factory=lambda: [f"Row {number}" for number in range(ROWS)])


class FormActivity(Activity):
    """Two fields, two buttons, and a list whose rows have a button each."""

    @property
    def facts(self) -> FormFacts:
        facts = self.context.platform.statics.setdefault("facts", FormFacts())
        assert isinstance(facts, FormFacts)
        return facts

    def view(self) -> View:
        rows = tuple(
            View(
                "row",
                children=(
                    View("text", text=row),
                    View("button", f"delete_{row}", f"Delete {row}", long_clickable=True),
                ),
            )
            for row in self.facts.rows
        )
        children = (
            View("text", "title", "A form"),
            View("input", "name", self.facts.name, hint="Your name"),
            View("input", "note", self.facts.note, hint="A note"),
            View("button", "save", "Save"),
            View("list", "rows", children=rows),
        )
        return View("column", children=children)

    def on_click(self, view_id: str) -> None:
        self.facts.clicks.append(view_id)
        row = view_id.removeprefix("delete_")
        if row in self.facts.rows:
            self.facts.rows.remove(row)

    def on_long_click(self, view_id: str) -> None:
        self.facts.long_clicks.append(view_id)

    def on_drop(self, view_id: str, target_id: str) -> None:
        self.facts.drops.append((view_id, target_id))

    def on_text(self, view_id: str, text: str) -> None:
        setattr(self.facts, view_id, text)


class FormApp(App):
    PACKAGE = FORM
    ACTIVITIES = {f"{FORM}.Main": FormActivity}


class ShopActivity(Activity):
    def view(self) -> View:
        return View("column", children=(View("text", "title", "A shop"), View("button", "buy", "Buy")))


class SpyReceiver(Receiver):
    """Listens to what is sent to a keyboard."""

    def on_receive(self, intent: Intent, current: BroadcastResult) -> BroadcastResult | None:
        del current
        heard = self.context.platform.statics.setdefault("heard", [])
        assert isinstance(heard, list)
        heard.append(intent.extras.get_string("msg"))
        return None


class ShopApp(App):
    PACKAGE = SHOP
    ACTIVITIES = {f"{SHOP}.Main": ShopActivity}
    RECEIVERS = {f"{SHOP}.Spy": SpyReceiver}


class Base64Receiver(Receiver):
    """Types what it is sent, as ADBKeyBoard does while it is the current input method."""

    def on_receive(self, intent: Intent, current: BroadcastResult) -> BroadcastResult | None:
        del current
        sent = base64.b64decode(intent.extras.get_string("msg") or "").decode()
        self.context.platform.commit_text(sent)
        return None


class KeyboardApp(App):
    PACKAGE = KEYBOARD
    RECEIVERS = {f"{KEYBOARD}.Base64Receiver": Base64Receiver}


def _icon(label: str) -> str:
    return (
        f'<activity android:name=".Main" android:label="{label}" android:exported="true"><intent-filter>'
        '<action android:name="android.intent.action.MAIN"/>'
        '<category android:name="android.intent.category.LAUNCHER"/></intent-filter></activity>'
    )


def _input_method(name: str) -> str:
    return (
        f'<service android:name=".{name}" android:permission="android.permission.BIND_INPUT_METHOD" '
        'android:exported="true"><intent-filter><action android:name="android.view.InputMethod"/>'
        "</intent-filter></service>"
    )


def _receiver(name: str) -> str:
    return (
        f'<receiver android:name=".{name}" android:exported="true"><intent-filter>'
        '<action android:name="ADB_INPUT_B64"/></intent-filter></receiver>'
    )


@cache
def form_apk() -> bytes:
    return make_apk(FORM, _icon("Form") + _input_method("Keys"))


@cache
def shop_apk() -> bytes:
    return make_apk(SHOP, _icon("Shop") + _receiver("Spy"), minimum=24, target=25)


@cache
def keyboard_apk() -> bytes:
    # For an older Android: its real one registers the receiver when it opens, which the phone does not model.
    methods = _input_method("AdbIME") + _receiver("Base64Receiver")
    return make_apk(KEYBOARD, methods, minimum=24, target=25)


@dataclass
class ObservedPhone:
    """A phone, and the commands that came to its shell."""

    phone: VirtualPhone

    def commands(self) -> list[str]:
        """Return the commands, one for each connection."""
        services = [str(event["service"]) for event in self.phone.log.of_kind("service")]
        return [text.partition(":")[2] for text in services if text.startswith("shell")]

    @contextmanager
    def counted(self) -> Iterator[list[str]]:
        """Collect the commands that come while the context is open."""
        before, during = len(self.commands()), list[str]()
        yield during
        during += self.commands()[before:]


@dataclass
class MadePhone(ObservedPhone):
    """A phone and the tools that use it."""

    tools: MobileAgentTools

    def run(self, tool: str, **arguments: Any) -> Any:
        return self.tools.run(tool, arguments)

    def open_form(self) -> list[dict[str, Any]]:
        """Open the form and list its controls."""
        assert self.run("launch_app", package_name=FORM)["success"]
        return self.controls()

    def controls(self) -> list[dict[str, Any]]:
        return list(self.run("get_app_window_controls_target_info"))

    @property
    def facts(self) -> FormFacts:
        facts = self.phone.system.app_context(FORM).platform.statics["facts"]
        assert isinstance(facts, FormFacts)
        return facts

    @property
    def heard(self) -> object:
        """What reached the receiver of an app that is not the keyboard."""
        return self.phone.system.app_context(SHOP).platform.statics.get("heard", [])


def device_on(phone: VirtualPhone) -> Device:
    assert phone.server_port is not None
    return connect_device(phone.serial, server=AdbClient(ServerAddress(port=phone.server_port)))


@contextmanager
def made_phone(*, keyboard: bool = False, clock: Any = None, keeps_ids: bool = False) -> Iterator[MadePhone]:
    """Start a phone with the form and the shop.

    Args:
        keyboard: Whether the keyboard for every text is installed, too.
        clock: The clock of the tools' caches.
        keeps_ids: Whether controls keep their ids.
    """
    apps = {FORM: FormApp, SHOP: ShopApp, KEYBOARD: KeyboardApp}
    with patch.dict(BEHAVIOURS, apps), start_phone(server_port=0, apps=False, adb_keys=()) as phone:
        for apk in (form_apk(), shop_apk(), *([keyboard_apk()] if keyboard else [])):
            phone.install(apk)
        options = {} if clock is None else {"clock": clock}
        made = MadePhone(phone, MobileAgentTools(lambda: device_on(phone), keeps_ids=keeps_ids, **options))
        made.run("get_device_info")
        made.run("tap", x=0, y=0)
        yield made


def control(listed: list[dict[str, Any]], name: str) -> dict[str, str]:
    """Return the arguments that name a control."""
    (entry,) = [item for item in listed if item["name"] == name]
    return {"control_id": entry["id"], "control_name": entry["name"]}


ROLES: tuple[UfoRole, UfoRole] = ("data_collection", "action")
MODES = ("legacy", "2026-07-28")


@dataclass(frozen=True)
class ServedPhone:
    made: MadePhone
    ports: dict[UfoRole, int]

    def url(self, role: UfoRole) -> str:
        return f"http://localhost:{self.ports[role]}/mcp"

    def call(
        self, tool: str, /, mode: str = "legacy", role: UfoRole | None = None, **arguments: Any
    ) -> mcp_types.CallToolResult:
        """Call a tool with the official client, in a session of its own, as UFO does."""
        commands = {command.id: command for command in (*mobile_agent_commands().values(), *more_tools())}
        url = self.url(role or commands[tool].server)

        async def run() -> Any:
            async with httpx2.AsyncClient(timeout=60) as http:
                transport = streamable_http_client(url, http_client=http)
                async with Client(transport, mode=mode, cache=None) as client:
                    return await client.call_tool(tool, arguments)

        result: mcp_types.CallToolResult = anyio.run(run)
        return result

    def value(self, tool: str, /, mode: str = "legacy", **arguments: Any) -> Any:
        """Return what a tool answered, unwrapped."""
        result = self.call(tool, mode, **arguments)
        assert not result.is_error, result
        assert result.structured_content is not None
        is_wrapped = set(result.structured_content) == {"result"}
        return result.structured_content["result"] if is_wrapped else result.structured_content


@contextmanager
def served(
    made: MadePhone,
    tokens: dict[UfoRole, str] | None = None,
    *,
    extensions: Collection[Extension] = (),
    phones: dict[str, MobileAgentTools] | None = None,
) -> Iterator[ServedPhone]:
    with ExitStack() as stack:
        ports: dict[UfoRole, int] = {}
        for role in ROLES:
            application = MobileAgentServer(role, phones or {"": made.tools}, frozenset(extensions))
            token = None if tokens is None else tokens[role]
            server = stack.enter_context(running_application(application, token, stateless=True))
            ports[role] = server.port
        yield ServedPhone(made, ports)


@contextmanager
def served_phone(*, extensions: Collection[Extension] = (), **options: Any) -> Iterator[ServedPhone]:
    with made_phone(**options) as made, served(made, extensions=extensions) as phone:
        yield phone

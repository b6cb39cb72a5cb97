"""Small apps for the tests of the phone's Android, packed from a few lines of manifest."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from io import BytesIO
from typing import Any, Generic, TypeVar
from xml.etree import ElementTree as ET

import pytest

from device_shim.phone_shell.shell_bench import Sink
from droidgate_android.apk.pack import pack_project
from droidgate_android.apk.signing_keys import SigningKey, make_key
from droidgate_phone.commands import CommandCall
from droidgate_phone.commands.command_registry import find_command
from droidgate_phone.common.uids import SHELL_UID
from droidgate_phone.java.app_values import (
    AndroidError,
    AppCrashError,
    AppFunctionError,
    Binding,
    BroadcastResult,
    Message,
    View,
)
from droidgate_phone.java.intents import Bundle, Intent
from droidgate_phone.phone import boot
from droidgate_phone.system import AndroidSystem
from droidgate_phone.system.behaviour import (
    Activity,
    App,
    AppFunctionService,
    ContentProvider,
    Receiver,
    Service,
)
from droidgate_phone.system.package_records import InstalledPackage
from still_clock import StillClock

Item = TypeVar("Item")

ANDROID = "http://schemas.android.com/apk/res/android"


@cache
def key(name: str = "first") -> SigningKey:
    """Return a signing key; the same for the same name."""
    return make_key(common_name=name)


def manifest(
    application: str, *, package: str, before: str = "", attributes: str = "", of_application: str = ""
) -> bytes:
    """Return a manifest with the inner XML of its application and the XML before it."""
    return (
        f'<manifest xmlns:android="{ANDROID}" package="{package}" {attributes}>{before}'
        f"<application {of_application}>{application}</application></manifest>"
    ).encode()


def make_apk(
    package: str,
    application: str = "",
    *,
    before: str = "",
    attributes: str = "",
    of_application: str = "",
    version: int = 1,
    minimum: int = 26,
    target: int = 36,
    signer: str = "first",
    files: Mapping[str, str] | None = None,
) -> bytes:
    """Return a signed APK.

    Args:
        package: Package name.
        application: Inner XML of `<application>`.
        before: XML before `<application>`.
        attributes: Attributes of `<manifest>`.
        of_application: Attributes of `<application>`.
        version: Version code.
        minimum: minSdkVersion.
        target: targetSdkVersion.
        signer: Name of the key.
        files: Further files by their path relative to `src/main`.
    """
    tree = {
        "AndroidManifest.xml": manifest(
            application, package=package, before=before, attributes=attributes, of_application=of_application
        )
    }
    tree |= {name: text.encode() for name, text in (files or {}).items()}
    return pack_project(
        tree, key=key(signer), package=package, version_code=version, minimum_sdk=minimum, target_sdk=target
    )


@dataclass(slots=True)
class MemoryStreams:
    """Standard streams in memory."""

    input: BytesIO = field(default_factory=BytesIO)
    output: Sink = field(default_factory=Sink)
    error: Sink = field(default_factory=Sink)


@dataclass(frozen=True, slots=True)
class Ran:
    """What a command did."""

    status: int
    stdout: str
    stderr: str


def run_bytes(
    system: AndroidSystem, *arguments: str, stdin: bytes = b"", uid: int = SHELL_UID
) -> tuple[int, bytes, str]:
    """Run a command of the phone by its words; return its status and what it wrote."""
    name, *rest = arguments
    streams = MemoryStreams(BytesIO(stdin))
    command = find_command(name)
    assert command is not None, name
    status = command(CommandCall(name, tuple(rest), streams, system, uid=uid))
    return status, bytes(streams.output.data), streams.error.data.decode()


def run(system: AndroidSystem, *arguments: str, stdin: bytes = b"", uid: int = SHELL_UID) -> Ran:
    """Run a command of the phone by its words."""
    status, output, error = run_bytes(system, *arguments, stdin=stdin, uid=uid)
    return Ran(status, output.decode(), error)


def nodes_of(system: AndroidSystem) -> list[ET.Element]:
    """Return the views that are shown, from top to bottom."""
    return list(ET.fromstring(system.window.hierarchy()).iter("node"))


def tap(system: AndroidSystem, is_meant: Callable[[ET.Element], bool]) -> None:
    """Tap the one view that is meant with `input tap`, where it is shown."""
    (node,) = filter(is_meant, nodes_of(system))
    sides = (node.get("bounds") or "").replace("][", ",").strip("[]").split(",")
    left, top, right, bottom = map(int, sides)
    ran = run(system, "input", "tap", str((left + right) // 2), str((top + bottom) // 2))
    assert ran == Ran(0, "", "")


def wait(system: AndroidSystem, seconds: float = 0.5) -> None:
    """Let the phone's time pass."""
    system.clock.wait(system.clock.signal(), seconds)


@contextmanager
def raises_android(exception: str, message: str | None = None) -> Iterator[None]:
    """Expect Android's exception, with this message where one is given."""
    with pytest.raises(AndroidError) as refused:
        yield
    assert refused.value.exception == exception
    assert message is None or refused.value.message == message


def package_of(system: AndroidSystem, name: str) -> InstalledPackage:
    """Return an installed package."""
    package = system.packages.find(name)
    assert package is not None
    return package


TOOL = "com.example.tool"
AGENT = "com.example.agent"
ACTION = "com.example.CALL"


def text_bundle(text: str) -> Bundle:
    """Return extras with one text."""
    return Bundle.of_strings({"text": text})


class Echo(Service):
    """Answers what it is sent: by a PendingIntent where it was started, by Messenger where it was bound."""

    def on_start_command(self, intent: Intent) -> None:
        self.context.files.write("started", (intent.extras.get_string("text") or "").encode())
        callback = intent.extras.values.get("callback")
        if callback is not None:
            answer = Bundle.of_strings({"text": intent.extras.get_string("text") or "", "id": "forged"})
            self.context.send_pending_intent(str(callback.value), Intent(extras=answer))

    def on_bind(self, intent: Intent) -> Callable[[Message], None] | None:
        return None if intent.action == "com.example.NO_BINDER" else self._handle

    def _handle(self, message: Message) -> None:
        text = message.data.get_string("text") or ""
        if text == "crash":
            raise AppCrashError
        reply = Bundle.of_strings({"text": text, "uid": str(message.sending_uid)})
        self.context.send_message(message.reply_to or "", Message(2, reply))


class Say(Activity):
    """Answers at once and shows nothing."""

    def on_create(self, intent: Intent) -> None:
        if intent.extras.get_string("text") == "crash":
            raise AppCrashError
        self.set_result(-1, Intent(extras=text_bundle(intent.extras.get_string("text") or "")))
        self.finish()


class Screen(Activity):
    """Shows a button that answers."""

    def view(self) -> View:
        return View("column", children=(View("button", "ok", "OK"),))

    def on_click(self, view_id: str) -> None:
        self.set_result(-1, Intent(extras=text_bundle(view_id)))
        self.finish()


class Answer(Receiver):
    """Adds its class name to the result's data."""

    def on_receive(self, intent: Intent, current: BroadcastResult) -> BroadcastResult:
        text = intent.extras.get_string("text") or ""
        return BroadcastResult(current.code + 1, (current.data or "") + text, text_bundle(text))


class Louder(Answer):
    """Answers in capitals."""

    def on_receive(self, intent: Intent, current: BroadcastResult) -> BroadcastResult:
        result = super().on_receive(intent, current)
        return BroadcastResult(result.code, (result.data or "").upper(), result.extras)


class Store(ContentProvider):
    """Keeps one document, and returns the uid of the caller."""

    def call(self, method: str, argument: str | None, caller_uid: int) -> Bundle | None:
        if method == "nothing":
            return None
        if method == "crash":
            raise AppCrashError
        fields = {"method": method, "arg": argument or "", "caller": str(caller_uid)}
        return Bundle.of_strings(fields)

    def open_for_reading(self, uri: str, caller_uid: int) -> bytes | None:
        del uri, caller_uid
        return self.context.files.read("document")

    def open_for_writing(self, uri: str, content: bytes, caller_uid: int) -> bool:
        del uri, caller_uid
        self.context.files.write("document", content)
        return True


class Functions(AppFunctionService):
    """Functions that answer with their parameters."""

    def on_execute(self, function_id: str, parameters: Mapping[str, Any]) -> Mapping[str, Any]:
        if function_id.endswith("#fail"):
            raise AppFunctionError(3501, "It is not supported")
        if function_id.endswith("#crash"):
            raise AppCrashError
        if function_id.endswith("#void"):
            return {}
        if function_id.endswith("#text"):
            return {"androidAppfunctionsReturnValue": ["a/b \u00e9"]}
        return {"androidAppfunctionsReturnValue": [dict(parameters)]}


class ToolApp(App):
    """A tool app of the tests."""

    PACKAGE = TOOL
    SERVICES = {f"{TOOL}.Echo": Echo}
    ACTIVITIES = {f"{TOOL}.Say": Say, f"{TOOL}.Screen": Screen}
    RECEIVERS = {f"{TOOL}.Answer": Answer, f"{TOOL}.Louder": Louder}
    PROVIDERS = {f"{TOOL}.Store": Store}
    APP_FUNCTION_SERVICES = {f"{TOOL}.Functions": Functions}


class AgentApp(App):
    """An agent app of the tests: its code is what the test does with its context."""

    PACKAGE = AGENT
    ACTIVITIES = {f"{AGENT}.Main": Screen}
    SERVICES = {f"{AGENT}.Keep": Echo}


BEHAVIOURS = {TOOL: ToolApp, AGENT: AgentApp}
QUERIES = f'<queries><intent><action android:name="{ACTION}"/></intent></queries>'


def component(kind: str, name: str, *, inside: str = "", **attributes: str) -> str:
    """Return a component that is exported and has the action, unless it is said otherwise."""
    written = {"exported": "true", **attributes}
    xml_attributes = " ".join(f'android:{key}="{value}"' for key, value in written.items() if value)
    body = inside or (
        f'<intent-filter><action android:name="{ACTION}"/>'
        '<category android:name="android.intent.category.DEFAULT"/></intent-filter>'
    )
    return f'<{kind} android:name=".{name}" {xml_attributes}>{body}</{kind}>'


def make_tool(application: str, **options: Any) -> bytes:
    """Return the tool app with these components."""
    return make_apk(TOOL, application, **options)


def make_agent(*, queries: str = QUERIES, more: str = "", **options: Any) -> bytes:
    """Return the agent app, which sees the tool app by its `<queries>`."""
    main = (
        '<activity android:name=".Main" android:label="Agent" android:exported="true"><intent-filter>'
        '<action android:name="android.intent.action.MAIN"/>'
        '<category android:name="android.intent.category.LAUNCHER"/></intent-filter></activity>'
    )
    return make_apk(AGENT, main + more, before=queries, **options)


def make_phone(sdk: str, *apks: bytes, **options: Any) -> AndroidSystem:
    """Return a phone with these apps whose time stands while anybody works."""
    system = boot(sdk, **{"behaviours": BEHAVIOURS, "clock": StillClock(), "seed": 1, **options})
    for apk in apks:
        system.packages.install(apk)
    return system


def uid_of(system: AndroidSystem, package: str) -> int:
    """Return the uid of an installed package."""
    return package_of(system, package).uid


def ignore(item: object) -> None:
    """Take what comes and do nothing."""
    del item


class Inbox(Generic[Item]):
    """Takes what comes on another thread."""

    def __init__(self, system: AndroidSystem) -> None:
        self._system = system
        self._arrived = system.clock.signal()
        self._items: list[Item] = []

    def put(self, item: Item) -> None:
        """Take an item."""
        self._items.append(item)
        self._arrived.set()

    def take(self, seconds: float = 30.0) -> Item | None:
        """Return the first item, None where none comes within the phone's seconds."""
        # What comes once the time is over came too late: the clock may have gone on meanwhile.
        return self._items[0] if self._system.clock.wait(self._arrived, seconds) else None


def bind(
    system: AndroidSystem,
    intent: Intent,
    on_message: Callable[[Message], None] = ignore,
    on_disconnected: Callable[[], None] | None = None,
) -> Binding:
    """Bind a service as the agent does; it has to give a binder."""
    binding = system.app_context(AGENT).bind_service(intent, on_message, on_disconnected)
    assert binding is not None
    return binding


def open_agent(system: AndroidSystem) -> None:
    """Bring the agent's activity to the front, as a user does."""
    ran = run(system, "am", "start", "-W", "-n", f"{AGENT}/.Main")
    assert "Status: ok" in ran.stdout, ran

"""The agent's way in for a computer: calls of tools, and a log of all that comes of them (`Calls.java`,
`ComputerProvider.java`, `CallActivity.java`, `ToolApps.java`, `RawValues.java`).
"""

from __future__ import annotations

import base64
import binascii
import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final, cast

from droidgate_mappings.model.json_values import Json
from droidgate_phone.java.app_values import (
    ActivityResult,
    AndroidError,
    AppFunctionError,
    Binding,
    BroadcastResult,
    FunctionOutcome,
    Message,
    ServiceConnection,
    XmlNode,
    do_nothing,
)
from droidgate_phone.java.intents import Bundle, ComponentName, Extra, Intent
from droidgate_phone.java.java_text import java_length
from droidgate_phone.system.behaviour import Activity, ContentProvider, Context, Instrumentation
from droidgate_phone.system.generic_documents import properties_from_json

VERSION: Final = 1
_KEY: Final = "calls"
_CALL: Final = "call"
_LONGEST_TEXT: Final = 65_536
_LONGEST_PAGE: Final = 3 * _LONGEST_TEXT
_MOST_EVENTS: Final = 10_000
_MAY_ASK: Final = frozenset({0, 2000})
_DUMP: Final = "android.permission.DUMP"
_EXECUTE: Final = "android.permission.EXECUTE_APP_FUNCTIONS"
_FIRST_WITH_FUNCTIONS: Final = 36
# FLAG_DONT_SUPPRESS_ACCESSIBILITY_SERVICES and FLAG_DONT_USE_ACCESSIBILITY.
_UI_AUTOMATION_FLAGS: Final = 1 | 2
_NOT_OPEN: Final = "the service is not there, or is not open to this app"
_META_DATA: Final = (
    "mobile.mcp.tool.name", "mobile.mcp.tool.description", "mobile.mcp.tool.capabilities", "mMCP_manifest",
    "mcp.application.name", "mcp.application.description", "mcp.capabilities",
)  # fmt: skip


class _MalformedError(Exception):
    """What the computer asks for cannot be read."""


def list_tool_apps(context: Context) -> list[Json]:
    """Return the components that offer tools and that the app may see, with their meta-data and its XML."""
    components = [("mobile-mcp", item) for item in context.query_services(Intent("mobile.mcp.SERVICE"))]
    opened = Intent("com.example.mMCP.ACTION_TOOL_ADVERTISE")
    components += [("mmcp", item) for item in context.query_activities(opened)]
    discovery = Intent("com.example.ACTION_MMCP_DISCOVERY")
    components += [("mmcp-broadcast", item) for item in context.query_receivers(discovery)]
    return [_describe(context, protocol, component) for protocol, component in components]


def _describe(context: Context, protocol: str, component: ComponentName) -> Json:
    values: dict[str, Json] = {}
    xml: dict[str, Json] = {}
    for name in _META_DATA:
        entry = context.platform.find_meta_data(component, name)
        if entry is not None and entry.resource is not None:
            # The number of the resource is the APK's own business.
            values[name] = {"kind": "int", "value": 0}
            node = context.platform.read_xml(component.package, entry.resource)
            root = None if node is None else _raw_xml(node)
            xml[name] = root if len(json.dumps(root)) <= _LONGEST_TEXT else None
        elif entry is not None and isinstance(entry.value, int) and not isinstance(entry.value, bool):
            values[name] = {"kind": "int", "value": entry.value}
            xml[name] = None
        elif entry is not None and entry.value is not None:
            values[name] = _raw(Extra("string", str(entry.value)))
    flat = component.flatten()
    return {"protocol": protocol, "component": flat, "meta_data": values, "xml": xml}


def _raw_xml(node: XmlNode) -> Json:
    return {
        "name": node.name,
        "attributes": {item.name: item.value for item in node.attributes},
        "children": [_raw_xml(item) for item in node.children if isinstance(item, XmlNode)],
    }


def _raw_bundle(bundle: Bundle) -> dict[str, Json]:
    return {key: _raw(extra) for key, extra in bundle.values.items()}


def _raw(extra: Extra) -> Json:
    value = extra.value
    if isinstance(value, str) and extra.kind == "string":
        if java_length(value) <= _LONGEST_TEXT:
            return {"kind": "string", "value": value}
        encoded = value.encode("utf-16-le", "surrogatepass")[: 2 * _LONGEST_TEXT]
        beginning = encoded.decode("utf-16-le", "surrogatepass")
        return {"kind": "string", "value": beginning, "length": java_length(value)}
    if isinstance(value, Bundle):
        return {"kind": "bundle", "value": _raw_bundle(value)}
    if isinstance(value, tuple) and extra.kind == "string[]":
        return {"kind": "string[]", "value": list(value)}
    if extra.kind in ("int", "long", "boolean"):
        return {"kind": extra.kind, "value": cast("int | bool", value)}
    return {"kind": extra.kind, "value": None}


def _raw_intent(intent: Intent) -> Json:
    component = None if intent.component is None else intent.component.flatten()
    return {"action": intent.action, "component": component, "extras": _raw_bundle(intent.extras) or None}


def calls_of(context: Context) -> AgentCalls:
    """Return the calls of the app's process."""
    calls = context.platform.statics.setdefault(_KEY, AgentCalls(context))
    return cast("AgentCalls", calls)


class AgentCalls:
    """The calls of tools that a computer asks for, and the log; nothing here reads a request or a response.

    Args:
        context: A context of the process.

    Attributes:
        last: The number of the newest event.
        is_lent: adb runs the instrumentation with which the app borrows the shell's right.
    """

    def __init__(self, context: Context) -> None:
        self._context = context
        self._lock = threading.Lock()
        self._log: list[dict[str, Json]] = []
        self.last = 0
        self._bound: dict[ComponentName, _Bound] = {}
        self._opened: dict[str, Intent] = {}
        self._functions: dict[str, Callable[[], None]] = {}
        self._is_connected = False
        self._is_adopted = False
        self.is_lent = False

    def record(self, kind: str, **fields: Json) -> None:
        """Write an event down."""
        with self._lock:
            self.last += 1
            at = int(self._context.now() * 1000)
            self._log.append({**fields, "number": self.last, "at_ms": at, "kind": kind})
            del self._log[:-_MOST_EVENTS]

    def events_after(self, number: int) -> list[Json]:
        """Return the events after the one of a number: at least one, and as many as one answer holds."""
        page: list[Json] = []
        length = 0
        with self._lock:
            for event in self._log:
                if cast("int", event["number"]) > number and length < _LONGEST_PAGE:
                    page.append(event)
                    length += len(json.dumps(event))
        return page

    def send(self, asked: Mapping[str, Json]) -> None:
        """Carry a call out, or begin to: events say what comes of it.

        Raises:
            _MalformedError: it cannot be read.
        """
        call, transport = _text(asked, _CALL), _text(asked, "transport")
        component = ComponentName.parse(_text(asked, "component"))
        extras = asked.get("extras")
        if component is None or not isinstance(extras, dict):
            raise _MalformedError("component is not PACKAGE/CLASS")
        action = None if asked.get("action") is None else _text(asked, "action")
        strings = {name: _text(extras, name) for name in extras}
        intent = Intent(action, component, extras=Bundle.of_strings(strings))
        self.record("sent", call=call, transport=transport, intent=_raw_intent(intent))
        ways: dict[str, Callable[[], None]] = {
            "bind": lambda: self._bind(intent, cast("int", asked.get("what", 1))),
            "start": lambda: self._start(call, intent, foreground=False),
            "start-foreground": lambda: self._start(call, intent, foreground=True),
            "broadcast": lambda: self._broadcast(call, intent),
        }
        if transport == "activity":
            self._opened[call] = intent
        elif transport in ways:
            self._context.platform.post(lambda: self.run(call, ways[transport]))
        else:
            raise _MalformedError("transport is not known")

    def run(self, call: str, code: Callable[[], None]) -> None:
        """Run the code of a call, and write down what Android throws."""
        try:
            code()
        except AndroidError as refused:
            self.record("refused", call=call, exception=refused.exception, message=refused.message)

    def execute(self, asked: Mapping[str, Json]) -> None:
        """Execute an app function: with the shell's right where adb lends it, else with the app's own.

        Raises:
            _MalformedError: it cannot be read.
        """
        if self._context.platform.sdk < _FIRST_WITH_FUNCTIONS:
            raise _MalformedError("app functions need Android 16")
        call, package, function = (_text(asked, name) for name in (_CALL, "package", "function"))
        arguments = asked.get("arguments")
        if not isinstance(arguments, dict):
            raise _MalformedError("No value for arguments")
        self.record(
            "sent",
            call=call,
            transport="app-function",
            package=package,
            function=function,
            arguments=arguments,
        )

        def receive(outcome: FunctionOutcome) -> None:
            self._ended(call)
            if isinstance(outcome, AppFunctionError):
                self.record("function-error", call=call, code=outcome.code, message=outcome.message)
                return
            document = dict(outcome)
            length = len(json.dumps(document, separators=(",", ":")))
            kept = document if length <= _LONGEST_TEXT else None
            more: dict[str, Json] = {"extras": {}, "attachments": []}
            self.record("function-result", call=call, document=kept, length=length, **more)

        def start() -> None:
            try:
                self._borrow()
            except AndroidError:
                self._ended(call)
                raise
            given = properties_from_json(arguments)
            cancel = self._context.platform.execute_app_function(package, function, given, receive)
            if call in self._functions:
                self._functions[call] = cancel

        self._functions[call] = do_nothing
        self.run(call, start)

    def cancel(self, call: str) -> None:
        """Ask Android to cancel the execution of a function."""
        if call in self._functions:
            self.record("cancelled", call=call)
            self._functions[call]()
            # Android drops what the app may still answer.
            self._ended(call)

    def _borrow(self) -> None:
        platform = self._context.platform
        if self.is_lent and not self._is_adopted:
            if not self._is_connected:
                platform.connect_ui_automation(_UI_AUTOMATION_FLAGS)
                self._is_connected = True
            platform.adopt_shell_permissions(_EXECUTE)
            self._is_adopted = True

    def _ended(self, call: str) -> None:
        self._functions.pop(call, None)
        if not self._functions and self._is_adopted:
            self._is_adopted = False
            self._context.platform.drop_shell_permissions()

    def take_opened(self, call: str) -> Intent | None:
        """Return the intent of a call that only an activity can send, once."""
        return self._opened.pop(call, None)

    def unbind(self, component: str) -> None:
        """Let go of a service."""

        def work() -> None:
            name = ComponentName.parse(component)
            item = None if name is None else self._bound.pop(name, None)
            if item is not None:
                item.close()

        self._context.platform.post(work)

    def _bind(self, intent: Intent, what: int) -> None:
        component = cast("ComponentName", intent.component)
        item = self._bound.get(component)
        if item is None:
            item = _Bound(self, component, lambda: self._bound.pop(component, None))
            item.bind(self._context)
            self._bound[component] = item
        item.send(Message(what, intent.extras))

    def _start(self, call: str, intent: Intent, *, foreground: bool) -> None:
        def receive(sent: Intent) -> None:
            self.record("callback", call=call, extras=_raw_bundle(sent.extras))

        base = Intent(package=self._context.package, extras=Bundle.of_strings({_CALL: call}))
        callback = Extra("pending-intent", self._context.create_pending_intent(receive, base))
        started = replace(intent, extras=intent.extras.with_extra("mcp_callback", callback))
        if self._context.start_service(started, foreground=foreground) is None:
            raise AndroidError("java.lang.IllegalArgumentException", _NOT_OPEN)

    def _broadcast(self, call: str, intent: Intent) -> None:
        def receive(result: BroadcastResult) -> None:
            extras = _raw_bundle(result.extras)
            self.record("broadcast-result", call=call, code=result.code, data=result.data, extras=extras)

        self._context.send_ordered_broadcast(intent, receive)


class _Bound:
    """A service that is bound: messages wait until it is connected."""

    def __init__(self, calls: AgentCalls, component: ComponentName, forget: Callable[[], object]) -> None:
        self._calls = calls
        self._component = component
        self._forget = forget
        self._waiting: list[Message] = []
        self._binding: Binding | None = None
        self._is_connected = False

    def bind(self, context: Context) -> None:
        connection = ServiceConnection(
            on_message=self._take,
            on_connected=self._connected,
            on_null_binding=lambda: self._end("null-binding"),
            on_disconnected=lambda: self._end("disconnected"),
        )
        self._binding = context.platform.bind(Intent(component=self._component), connection)
        if self._binding is None:
            raise AndroidError("java.lang.IllegalArgumentException", _NOT_OPEN)

    def send(self, message: Message) -> None:
        if not self._is_connected:
            self._waiting.append(message)
        elif self._binding is not None:
            try:
                self._binding.send(message)
            except AndroidError:
                self._end("disconnected")

    def close(self) -> None:
        if self._binding is not None:
            self._binding.unbind()
            self._binding = None

    def _take(self, message: Message) -> None:
        extras = _raw_bundle(message.data)
        self._calls.record("message", component=self._component.flatten(), what=message.what, extras=extras)

    def _connected(self) -> None:
        self._calls.record("connected", component=self._component.flatten())
        self._is_connected = True
        ready, self._waiting = self._waiting, []
        for message in ready:
            self.send(message)

    def _end(self, kind: str) -> None:
        self._calls.record(kind, component=self._component.flatten())
        if self._forget() is not None:
            self.close()


class CallActivity(Activity):
    """Opens an activity that is a tool, for its result; adb starts this one."""

    def on_create(self, intent: Intent) -> None:
        """Open what the call is for, which ends this activity with its result."""
        call = intent.extras.get_string(_CALL) or ""
        calls = calls_of(self.context)
        opened = calls.take_opened(call)
        if opened is None:
            self.finish()
            return

        def receive(result: ActivityResult) -> None:
            extras = None if result.data is None else _raw_bundle(result.data.extras)
            calls.record("activity-result", call=call, code=result.code, extras=extras)
            self.context.platform.finish_activity()

        try:
            self.context.start_activity(opened, receive)
        except AndroidError as refused:
            calls.record("refused", call=call, exception=refused.exception, message=refused.message)
            self.finish()


class ShellIdentityInstrumentation(Instrumentation):
    """Lets the app borrow the shell's right to call app functions for as long as adb runs it."""

    def on_start(self, arguments: Mapping[str, str]) -> None:
        """Take note that it runs."""
        del arguments
        calls_of(self.context).is_lent = True


class ComputerProvider(ContentProvider):
    """The way in for adb: argument and result of each call are a JSON object as base64url."""

    def call(self, method: str, argument: str | None, caller_uid: int) -> Bundle | None:
        """Run a method.

        Raises:
            AndroidError: another than the shell or root calls.
        """
        if caller_uid not in _MAY_ASK or not self.context.platform.holds(_DUMP, uid=caller_uid):
            raise AndroidError("java.lang.SecurityException", "only adb may call")
        try:
            answer = self._run(method, _read(argument or ""))
        except _MalformedError as malformed:
            answer = {"error": str(malformed)}
        text = json.dumps({**answer, "version": VERSION}, separators=(",", ":"))
        return Bundle.of_strings({"result": base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")})

    def _run(self, method: str, asked: Mapping[str, Json]) -> dict[str, Json]:
        calls = calls_of(self.context)
        if method == "hello":
            sdk = self.context.platform.sdk
            return {"application_id": self.context.package, "sdk": sdk, "is_lent": calls.is_lent}
        if method == "list":
            return {"components": list_tool_apps(self.context)}
        if method == "send":
            calls.send(asked)
        elif method == "execute":
            calls.execute(asked)
        elif method == "cancel":
            calls.cancel(_text(asked, _CALL))
        elif method == "unbind":
            calls.unbind(_text(asked, "component"))
        elif method == "log":
            after = asked.get("after")
            events = calls.events_after(after if isinstance(after, int) else 0)
            return {"events": events, "last": calls.last}
        else:
            raise _MalformedError("method is not known")
        return {}


def _read(argument: str) -> Mapping[str, Json]:
    try:
        read = json.loads(base64.urlsafe_b64decode(argument + "=" * (-len(argument) % 4)))
    except (binascii.Error, ValueError, RecursionError):
        raise _MalformedError("the argument is not a JSON object") from None
    if not isinstance(read, dict):
        raise _MalformedError("the argument is not a JSON object")
    return read


def _text(values: Mapping[str, Json], name: str) -> str:
    text = values.get(name)
    if not isinstance(text, str):
        raise _MalformedError(f"No value for {name}")
    return text

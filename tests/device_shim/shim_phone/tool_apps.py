"""Small apps behind a shim that behave as a test asks: well, badly, late, twice, or not at all."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from typing import Any

from device_shim.phone_system.phone_system_apps import key, make_apk
from device_shim.shim_phone.hand_made_shim import make_shim, route
from device_shim.shim_phone.world import World, key as sample_key
from droidgate_phone.java.app_values import AndroidError, AppCrashError, BroadcastResult, Message
from droidgate_phone.java.intents import Bundle, Extra, Intent
from droidgate_phone.system.behaviour import Activity, App, Receiver, Service

TOOL = "com.example.tool"
MANIFEST_TEXT = '{"tools":[]}'
_OPENED = (
    '<action android:name="com.example.mMCP.ACTION_TOOL_CALL"/>'
    '<category android:name="android.intent.category.DEFAULT"/>'
)
_BOUND = '<action android:name="mobile.mcp.SERVICE"/>'
_COMPONENTS = (
    ("activity", "Tool", "", _OPENED),
    ("activity", "Loner", 'android:launchMode="singleInstancePerTask"', _OPENED),
    ("receiver", "Radio", "", '<action android:name="com.example.ACTION_MMCP_INVOKE"/>'),
    ("service", "Desk", "", _BOUND),
    ("service", "Starter", 'android:foregroundServiceType="shortService"', _BOUND),
    ("service", "Plain", "", _BOUND),
)
"""Tag, class, more attributes, and what the intent filter has."""

_OUTPUT = {"kind": "object", "properties": {"result": {"type": {"kind": "string"}, "required": True}}}


def tool_apk(*, descriptor: str = MANIFEST_TEXT, signer: str = "first", version: int = 1) -> bytes:
    """Return the APK of the tool app."""
    escaped = descriptor.replace('"', "&quot;")
    application = "".join(
        f'<{tag} android:name=".{name}" android:exported="true" {attributes}>'
        f'<meta-data android:name="mMCP_manifest" android:value="{escaped}"/>'
        f"<intent-filter>{filter_}</intent-filter></{tag}>"
        for tag, name, attributes, filter_ in _COMPONENTS
    )
    return make_apk(
        TOOL,
        application,
        before='<uses-permission android:name="android.permission.FOREGROUND_SERVICE"/>',
        signer=signer,
        version=version,
        minimum=24,
    )


def target(*, descriptor: str = MANIFEST_TEXT, signer: str = "first", version: int = 1) -> dict[str, Any]:
    """Return what a shim was built for: the digest by hand from shim.md 5."""
    return {
        "package": TOOL,
        "signer": key(signer).digest,
        "version_code": version,
        "digest": f"mmcp:{hashlib.sha256(descriptor.encode()).hexdigest()}",
    }


def tool_routes(*, deadline_ms: int = 12_000, **of_target: Any) -> list[dict[str, Any]]:
    """Return a route to each component of the tool app; each has the one parameter `how`."""
    components = {
        "screen": ("mmcp-activity", "Tool", {"tool": "act"}),
        "loner": ("mmcp-activity", "Loner", {"tool": "act"}),
        "radio": ("mmcp-broadcast", "Radio", {"tool": "act"}),
        "desk": ("mobile-mcp", "Desk", {"capability": "act", "dialect": "S0"}),
        "starter": ("mobile-mcp", "Starter", {"capability": "act", "dialect": "S0"}),
        "plain": ("mobile-mcp", "Plain", {"capability": "act", "dialect": "S0"}),
    }
    return [
        {"effects": {"read_only": name == "radio"}}
        | route(
            name,
            {"kind": kind, "component": f"{TOOL}/{TOOL}.{class_name}", **more},
            target(**of_target),
            parameters={"how": "string"},
            outputs={"kind": "fields"} if kind == "mobile-mcp" else {"kind": "text", "name": "result"},
            output=_OUTPUT if kind == "mobile-mcp" else None,
            deadline_ms=deadline_ms,
        )
        for name, (kind, class_name, more) in components.items()
    ]


class Tool(Activity):
    """Answers as its parameter `how` says."""

    def on_create(self, intent: Intent) -> None:
        how = json.loads(intent.extras.get_string("parameters") or "{}")["how"]
        self.context.files.write("intent", repr(intent).encode())
        if how == "crash":
            raise AppCrashError
        if how == "silent":
            return
        if how == "cancel":
            self.finish()
            return
        if how in ("empty", "unreadable"):
            data = Bundle({"result": Extra("pending-intent", "x")} if how == "unreadable" else {})
            self.set_result(-1, Intent(extras=data))
            self.finish()
            return
        self.set_result(-1, Intent(extras=Bundle.of_strings({"result": f"did {how}"})))
        self.finish()


class Radio(Receiver):
    """Answers as its parameter `how` says."""

    def on_receive(self, intent: Intent, current: BroadcastResult) -> BroadcastResult | None:
        how = json.loads(intent.extras.get_string("params") or "{}")["how"]
        if how == "crash":
            raise AppCrashError
        return None if how == "silent" else BroadcastResult(-1, f"did {how}", current.extras)


class Desk(Service):
    """Answers whoever is bound as its parameter `how` says."""

    _kept_id: str | None = None

    def on_bind(self, intent: Intent) -> Callable[[Message], None]:
        del intent
        return self._handle

    def _handle(self, message: Message) -> None:
        request = json.loads(message.data.get_string("mobile-mcp-request") or "{}")["mobile-mcp-request"]
        how = request["request"]["capability"]["args"]["how"]
        if how == "crash":
            raise AppCrashError
        request_id = request["request"]["id"]
        if how == "silent":
            self.context.files.write("open", json.dumps([message.reply_to, request_id]).encode())
            return
        if how == "crossed" and self._kept_id is None:
            self._kept_id = request_id
            return
        if how == "crossed":
            # The first caller's answer, to whoever calls next.
            request_id = str(self._kept_id)
        answer = response_of(request_id, None if how == "empty" else {"result": f"did {how}"})
        reply = message.reply_to or ""
        for _ in range(3 if how == "thrice" else 1):
            if how == "late":
                self.context.platform.after(15.0, lambda: self._send(reply, answer))
            else:
                self._send(reply, answer)

    def _send(self, reply: str, answer: str) -> None:
        try:
            self.context.send_message(reply, Message(2, Bundle.of_strings({"mobile-mcp-response": answer})))
        except AndroidError as error:
            self.context.files.write("refused", error.exception.encode())


class Starter(Service):
    """Hands out no binder; answers through the callback that comes with a start."""

    def on_start_command(self, intent: Intent) -> None:
        request = json.loads(intent.extras.get_string("mobile-mcp-request") or "{}")["mobile-mcp-request"]
        answer = response_of(request["request"]["id"], {"result": "started"})
        callback = intent.extras.values["mcp_callback"]
        extras = Bundle.of_strings({"mobile-mcp-response": answer})
        self.context.send_pending_intent(str(callback.value), Intent(extras=extras))


def response_of(request_id: str, outputs: Mapping[str, Any] | None) -> str:
    """Return a response in the specification's first form; outputs are optional there."""
    capability: dict[str, Any] = {"id": "act"}
    if outputs is not None:
        capability["output"] = [
            {"name": name, "type": "string", "value": value} for name, value in outputs.items()
        ]
    inner = {"id": request_id, "status": "success", "capability": capability}
    return json.dumps({"mobile-mcp-response": {"version": "1.0", "response": inner}})


class ToolApp(App):
    """The tool app's behaviour."""

    PACKAGE = TOOL
    ACTIVITIES = {f"{TOOL}.Tool": Tool, f"{TOOL}.Loner": Tool}
    RECEIVERS = {f"{TOOL}.Radio": Radio}
    SERVICES = {f"{TOOL}.Desk": Desk, f"{TOOL}.Starter": Starter, f"{TOOL}.Plain": Starter}


def tool_world(*, shim: Mapping[str, Any] | None = None, deadline_ms: int = 12_000, **more: Any) -> World:
    """Return a phone with the tool app and a shim before it; `shim` is more about that."""
    world = World(behaviours={TOOL: ToolApp}, **more)
    world.install(tool_apk())
    world.install(make_shim(tool_routes(deadline_ms=deadline_ms), key=sample_key(), **(shim or {})))
    return world


def agent_apk(package: str, *, signer: str = "first", shared: str | None = None, version: int = 1) -> bytes:
    """Return the APK of an app that only calls."""
    return make_apk(
        package,
        '<activity android:name=".Main" android:exported="true"/>',
        before='<queries><intent><action android:name="mobile.mcp.SERVICE"/></intent></queries>',
        attributes=f'android:sharedUserId="{shared}"' if shared else "",
        signer=signer,
        version=version,
    )

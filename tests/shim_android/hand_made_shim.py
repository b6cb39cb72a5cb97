"""A shim for the tests' own apps, typed from docs/shim.md: it knows nothing of the builder."""

import json
from functools import cache

from droidgate.apk.pack import pack_project
from droidgate.apk.signing_keys import make_key
from droidgate_shim.builder.dex import shim_dex
from shim_android.tool_apps import (
    CLOCK_CAPABILITIES,
    DESK_MANIFEST,
    LAMP_CAPABILITIES,
    NOTES_FUNCTIONS,
    RADIO_MANIFEST,
    RADIO_TOOLS,
    digest_of_assets,
    digest_of_capabilities,
    digest_of_text,
    digest_of_tools,
    tool_apps,
)

APPLICATION_ID = "dev.droidgate.shim"
BUILD = "5e" * 32

CLASSES = "dev.droidgate.proof.apps"

TEXT = {"kind": "string"}
NUMBER = {"kind": "int32"}
BOOLEAN = {"kind": "boolean"}

ADVERTISED = {
    "instructions": "Tools of several apps.",
    "tools": [
        {"name": "desk.echo", "description": "Repeat a text.", "parameters": {"type": "object"}},
        {"name": "clock.now", "description": "Say the time.", "parameters": {"type": "object"}},
        {"name": "notes.create", "description": "Keep a note.", "parameters": {"type": "object"}},
        {"name": "radio.forecast", "description": "Say the weather.", "parameters": {"type": "object"}},
    ],
}


def _object(**properties: object) -> dict[str, object]:
    required = {"type": None, "required": True}
    return {
        "kind": "object",
        "properties": {name: {**required, "type": kind} for name, kind in properties.items()},
    }


def _optional(**properties: object) -> dict[str, object]:
    return {"kind": "object", "properties": {name: {"type": kind} for name, kind in properties.items()}}


def _target(app: str, digest: str) -> dict[str, object]:
    made = tool_apps()[app]
    return {"package": made.package, "signer": made.key.digest, "version_code": 7, "digest": digest}


def _routes() -> list[dict[str, object]]:
    text = {"kind": "text", "name": "result"}
    desk = _target("desk", digest_of_text(json.dumps(DESK_MANIFEST)))
    radio = _target("radio", digest_of_tools(RADIO_TOOLS))
    forecast = {
        "kind": "mmcp-broadcast",
        "component": f"dev.droidgate.proof.radio/{CLASSES}.RadioReceiver",
        "tool": "forecast",
    }
    clock = _target("clock", digest_of_capabilities(CLOCK_CAPABILITIES, {"@string/zone": "@string/zone"}))
    lamp = _target("clock", digest_of_capabilities(LAMP_CAPABILITIES, {}))
    notes = _target("notes", digest_of_assets("app_functions.xml", NOTES_FUNCTIONS))
    desk_activity = f"dev.droidgate.proof.desk/{CLASSES}.DeskActivity"
    return [
        {
            "id": "desk.echo",
            "input": _object(text=TEXT),
            "outputs": text,
            "backend": {"kind": "mmcp-activity", "component": desk_activity, "tool": "echo"},
            "target": desk,
            "effects": {"read_only": True},
        },
        {
            "id": "desk.add",
            "input": _object(a=NUMBER, b=NUMBER),
            "outputs": {"kind": "value", "name": "result"},
            "output": NUMBER,
            "backend": {"kind": "mmcp-activity", "component": desk_activity, "tool": "add"},
            "target": desk,
            "effects": {"read_only": False},
        },
        {
            "id": "radio.forecast",
            "input": _object(place=TEXT),
            "outputs": text,
            "backend": forecast,
            "target": radio,
            "effects": {"read_only": True},
        },
        {
            "id": "radio.declared",
            "input": _object(place=TEXT),
            "outputs": text,
            "backend": forecast,
            "target": _target("radio", digest_of_text(RADIO_MANIFEST)),
            "effects": {"read_only": True},
        },
        {
            "id": "clock.now",
            "input": _optional(zone=TEXT),
            "outputs": {"kind": "fields"},
            "output": _object(time=TEXT, visits=NUMBER),
            "backend": {
                "kind": "mobile-mcp",
                "component": f"dev.droidgate.proof.clock/{CLASSES}.ClockService",
                "capability": "now",
                "dialect": "S1",
            },
            "target": clock,
            "effects": {"read_only": True},
        },
        {
            "id": "lamp.switch",
            "input": _object(on=BOOLEAN),
            "outputs": {"kind": "fields"},
            "output": _object(on=BOOLEAN),
            "backend": {
                "kind": "mobile-mcp",
                "component": f"dev.droidgate.proof.clock/{CLASSES}.LampService",
                "capability": "switch",
                "dialect": "S0",
            },
            "target": lamp,
            "effects": {"read_only": False},
        },
        {
            "id": "notes.create",
            "input": _object(title=TEXT),
            "outputs": text,
            "backend": {
                "kind": "app-function",
                "package": "dev.droidgate.proof.notes",
                "function": "createNote",
            },
            "target": notes,
            "effects": {"read_only": False},
        },
        {
            "id": "notes.count",
            "input": {"kind": "object"},
            "outputs": {"kind": "value", "name": "result"},
            "output": {"kind": "int64"},
            "backend": {
                "kind": "app-function",
                "package": "dev.droidgate.proof.notes",
                "function": "countNotes",
            },
            "target": notes,
            "effects": None,
        },
    ]


def _policy(routes: list[dict[str, object]]) -> dict[str, object]:
    packages = ("desk", "radio", "clock", "notes")
    return {
        "limits": {"burst": 100_000, "per_minute": 100_000},
        "app": {
            "handshake": 1,
            "build": BUILD,
            "sources": [
                {
                    "package": tool_apps()[name].package,
                    "label": f"The {name}",
                    "signer": tool_apps()[name].key.digest,
                    "version_code": 7,
                }
                for name in packages
            ],
            "functions": {str(route["id"]): route["id"] for route in routes},
        },
    }


def _capabilities(routes: list[dict[str, object]]) -> str:
    words = {"string": "string", "int32": "integer", "boolean": "boolean", "int64": "integer"}
    elements = []
    for route in routes:
        given = _parameters(route["input"], words, required=True)
        answered = _parameters(route.get("output"), words, required=False)
        if not answered:
            answered = '<param name="result" type="string" description="The answer" />'
        elements.append(
            f'<capability id="{route["id"]}" description="What {route["id"]} does" version="1.0">'
            f"<input>{given}</input><output>{answered}</output></capability>"
        )
    return f'<mobile-mcp-capabilities version="1.0">{"".join(elements)}</mobile-mcp-capabilities>'


def _parameters(declared: object, words: dict[str, str], *, required: bool) -> str:
    if not isinstance(declared, dict):
        return ""
    if declared["kind"] != "object":
        return f'<param name="result" type="{words[declared["kind"]]}" description="The answer" />'
    lines = []
    for name, item in declared.get("properties", {}).items():
        need = f' required="{str(item.get("required", False)).lower()}"' if required else ""
        lines.append(
            f'<param name="{name}" type="{words[item["type"]["kind"]]}"{need} description="{name}" />'
        )
    return "".join(lines)


_MANIFEST = """<manifest xmlns:android="http://schemas.android.com/apk/res/android"
    package="dev.droidgate.shim">
    <uses-permission android:name="android.permission.FOREGROUND_SERVICE"/>
    <uses-permission android:name="android.permission.POST_NOTIFICATIONS"/>
    <uses-permission android:name="android.permission.SYSTEM_ALERT_WINDOW"/>
    <uses-permission android:name="android.permission.HIDE_OVERLAY_WINDOWS"/>
    <uses-permission android:name="android.permission.EXECUTE_APP_FUNCTIONS"/>
    <queries>
        <package android:name="dev.droidgate.proof.desk"/>
        <package android:name="dev.droidgate.proof.radio"/>
        <package android:name="dev.droidgate.proof.clock"/>
        <package android:name="dev.droidgate.proof.notes"/>
    </queries>
    <instrumentation android:name="dev.droidgate.shim.backends.ShellIdentityInstrumentation"
        android:targetPackage="dev.droidgate.shim"/>
    <application android:label="@string/app_name" android:description="@string/description">
        <service android:name="dev.droidgate.shim.frontends.ToolService" android:exported="true"
            android:foregroundServiceType="shortService">
            <intent-filter><action android:name="mobile.mcp.SERVICE"/></intent-filter>
            <meta-data android:name="mobile.mcp.tool.name" android:value="@string/app_name"/>
            <meta-data android:name="mobile.mcp.tool.description" android:value="@string/description"/>
            <meta-data android:name="mobile.mcp.tool.capabilities" android:resource="@xml/mcp_capabilities"/>
        </service>
        <activity android:name="dev.droidgate.shim.backends.TrampolineActivity" android:exported="false"
            android:theme="@android:style/Theme.Translucent.NoTitleBar" android:taskAffinity=""
            android:excludeFromRecents="true"/>
        <activity android:name="dev.droidgate.shim.consent.ConsentActivity" android:exported="false"/>
        <activity android:name="dev.droidgate.shim.consent.ManageActivity" android:exported="true">
            <intent-filter>
                <action android:name="android.intent.action.MAIN"/>
                <category android:name="android.intent.category.LAUNCHER"/>
            </intent-filter>
        </activity>
        <provider android:name="dev.droidgate.shim.host.HostProvider" android:exported="true"
            android:authorities="dev.droidgate.shim.host"
            android:readPermission="android.permission.DUMP"
            android:writePermission="android.permission.DUMP"/>
        <activity android:name="dev.droidgate.shim.frontends.MmcpActivity" android:exported="true">
            <intent-filter>
                <action android:name="com.example.mMCP.ACTION_TOOL_ADVERTISE"/>
                <action android:name="com.example.mMCP.ACTION_TOOL_CALL"/>
                <category android:name="android.intent.category.DEFAULT"/>
            </intent-filter>
            <meta-data android:name="mMCP_manifest" android:resource="@raw/mmcp_manifest"/>
        </activity>
        <receiver android:name="dev.droidgate.shim.frontends.MmcpReceiver" android:exported="true">
            <intent-filter>
                <action android:name="com.example.ACTION_MMCP_DISCOVERY"/>
                <action android:name="com.example.ACTION_MMCP_INVOKE"/>
            </intent-filter>
            <meta-data android:name="mMCP_manifest" android:resource="@raw/mmcp_manifest"/>
        </receiver>
        <service android:name="dev.droidgate.shim.frontends.FunctionService" android:exported="true"
            android:permission="android.permission.BIND_APP_FUNCTION_SERVICE">
            <intent-filter>
                <action android:name="android.app.appfunctions.AppFunctionService"/>
            </intent-filter>
        </service>
    </application>
</manifest>
"""

_STRINGS = """<resources>
    <string name="app_name">Several apps (via droidgate)</string>
    <string name="description">Repeats texts, says time and weather.</string>
</resources>
"""


@cache
def hand_made_shim() -> bytes:
    """Return the shim's APK: each kind of backend behind it, each frontend, and the code that ships."""
    routes = _routes()
    dex = shim_dex()
    assert dex is not None
    files = {
        "AndroidManifest.xml": _MANIFEST,
        "res/values/strings.xml": _STRINGS,
        "res/xml/mcp_capabilities.xml": _capabilities(routes),
        "res/raw/mmcp_manifest.json": json.dumps(ADVERTISED),
        "assets/routes.json": json.dumps({"format": 1, "routes": routes}),
        "assets/policy.json": json.dumps(_policy(routes)),
    }
    return pack_project(
        {name: text.encode() for name, text in files.items()},
        key=make_key(common_name="shim"),
        version_code=1,
        version_name="1",
        minimum_sdk=24,
        target_sdk=36,
        dex=[dex],
    )

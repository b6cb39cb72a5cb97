"""Source trees of small apps that make a phone full: most without tools, some of each protocol."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Final

from droidgate_phone.sample_apps import sample_apps_directory

_ANDROID: Final = 'xmlns:android="http://schemas.android.com/apk/res/android"'
_LAUNCHED: Final = """
        <activity android:name=".MainActivity" android:exported="true">
            <intent-filter>
                <action android:name="android.intent.action.MAIN" />
                <category android:name="android.intent.category.LAUNCHER" />
            </intent-filter>
        </activity>"""
_LARGEST_EXTRA: Final = 48 * 1024


def filler_files(number: int) -> dict[str, bytes]:
    """Return the source tree of one app, by path relative to `src/main`.

    Of ten apps in a row, six declare nothing; one each is Mobile-MCP, mMCP and AppFunctions; one is mMCP by
    broadcast or of a protocol that the gateway only reads.
    """
    component, files = _KINDS[number % len(_KINDS)](number)
    package = f"dev.droidgate.filler.app{number:04d}"
    launched = _LAUNCHED if number % 3 == 0 else ""
    manifest = f"""<?xml version="1.0" encoding="utf-8"?>
<manifest {_ANDROID} package="{package}"
    android:versionCode="{number % 7 + 1}" android:versionName="1.{number % 7}">
    <uses-sdk android:minSdkVersion="26" android:targetSdkVersion="{30 + number % 7}" />
    <application android:label="@string/app_name">{launched}{component}
    </application>
</manifest>
"""
    strings = f'<resources><string name="app_name">Filler {number}</string></resources>'
    # Only its size matters, which is to differ from app to app.
    extra = random.Random(number).randbytes(number * 977 % _LARGEST_EXTRA)  # noqa: S311
    return {
        "AndroidManifest.xml": manifest.encode(),
        "res/values/strings.xml": strings.encode(),
        "assets/extra.bin": extra,
        **files,
    }


_Parts = tuple[str, Mapping[str, bytes]]


def _nothing(number: int) -> _Parts:
    del number
    return "", {}


def _mobile_mcp(number: int) -> _Parts:
    descriptor = f"""<?xml version="1.0" encoding="utf-8"?>
<mobile-mcp-capabilities version="1.0">
    <capability id="fill_{number}" description="Does nothing, for the {number}th time." version="1.0">
        <input><param name="text" type="string" required="true" description="Any text" /></input>
    </capability>
</mobile-mcp-capabilities>
"""
    component = f"""
        <service android:name=".ToolService" android:exported="true">
            <intent-filter><action android:name="mobile.mcp.SERVICE" /></intent-filter>
            <meta-data android:name="mobile.mcp.tool.name" android:value="Filler {number}" />
            <meta-data android:name="mobile.mcp.tool.description" android:value="It fills the phone" />
            <meta-data android:name="mobile.mcp.tool.capabilities" android:resource="@xml/capabilities" />
        </service>"""
    return component, {"res/xml/capabilities.xml": descriptor.encode()}


def _mmcp(number: int) -> _Parts:
    component = f"""
        <activity android:name=".ToolActivity" android:exported="true">
            <intent-filter>
                <action android:name="com.example.mMCP.ACTION_TOOL_ADVERTISE" />
                <action android:name="com.example.mMCP.ACTION_TOOL_CALL" />
                <category android:name="android.intent.category.DEFAULT" />
            </intent-filter>
            <meta-data android:name="mMCP_manifest" android:value='{{
                "instructions": "An app that fills the phone.",
                "tools": [{{
                    "name": "fill_{number}", "description": "Does nothing.",
                    "parameters": {{"type": "object", "properties": {{"text": {{"type": "string"}}}}}}
                }}]
            }}' />
        </activity>"""
    return component, {}


def _app_functions(number: int) -> _Parts:
    assets = sample_apps_directory() / "notes/legacy/src/main/assets"
    functions = (assets / "app_functions.xml").read_bytes()
    component = """
        <service android:name=".FunctionService" android:exported="true"
            android:permission="android.permission.BIND_APP_FUNCTION_SERVICE">
            <property
                android:name="android.app.appfunctions.schema" android:value="app_function_schema.xml" />
            <property android:name="android.app.appfunctions.v2" android:value="app_functions.xml" />
            <intent-filter>
                <action android:name="android.app.appfunctions.AppFunctionService" />
            </intent-filter>
        </service>"""
    return component, {
        "assets/app_functions.xml": functions.replace(b"createNote", b"createNote%d" % number),
        "assets/app_function_schema.xml": (assets / "app_function_schema.xml").read_bytes(),
    }


def _others(number: int) -> _Parts:
    return _OTHERS[number // len(_KINDS) % len(_OTHERS)]


def _component(element: str, actions: tuple[str, ...], inside: str = "") -> str:
    listed = "".join(f'<action android:name="{action}" />' for action in actions)
    return f"""
        <{element} android:name=".Tools" android:exported="true">
            <intent-filter>{listed}</intent-filter>{inside}
        </{element}>"""


_OTHERS: Final[tuple[_Parts, ...]] = (
    (_component("receiver", ("com.example.ACTION_MMCP_DISCOVERY", "com.example.ACTION_MMCP_INVOKE")), {}),
    (_component("service", ("io.rosenpin.mmcp.action.MCP_SERVICE",)), {}),
    (
        _component(
            "service",
            ("com.androidmcp.tool.EXECUTE", "com.androidmcp.tool.LIST_TOOLS"),
            '<meta-data android:name="com.androidmcp.TOOL_APP" android:value="true" />',
        ),
        {},
    ),
    (
        _component(
            "service",
            ("zwdroid.mcp.sdk.McpServerService",),
            '<meta-data android:name="mcp.description" android:value="An app that fills the phone" />',
        ),
        {},
    ),
)
_KINDS: Final[tuple[Callable[[int], _Parts], ...]] = (
    _nothing, _nothing, _mobile_mcp, _nothing, _mmcp, _nothing, _app_functions, _nothing, _others, _nothing,
)  # fmt: skip

"""A shim's APK written by hand from shim.md 1: the other side of what the builder makes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from droidgate_android.apk.pack import pack_project
from droidgate_android.apk.signing_keys import SigningKey
from droidgate_shim.builder.dex import shim_dex

ANDROID = "http://schemas.android.com/apk/res/android"

_MANIFEST = """<?xml version="1.0" encoding="utf-8"?>
<manifest xmlns:android="{android}" package="{package}">
  <uses-permission android:name="android.permission.FOREGROUND_SERVICE"/>
  <uses-permission android:name="android.permission.POST_NOTIFICATIONS"/>
  <uses-permission android:name="android.permission.SYSTEM_ALERT_WINDOW"/>
  <uses-permission android:name="android.permission.EXECUTE_APP_FUNCTIONS"/>
  {permissions}
  <queries>{queries}
    <package android:name="dev.droidgate.shim"/>
    <intent><action android:name="com.example.mMCP.ACTION_TOOL_CALL"/></intent>
    <intent><action android:name="com.example.ACTION_MMCP_INVOKE"/></intent>
    <intent><action android:name="mobile.mcp.SERVICE"/></intent>
  </queries>
  <application android:label="{label}" android:supportsRtl="true">
    <service android:name="dev.droidgate.shim.frontends.ToolService" android:exported="true"
        android:foregroundServiceType="shortService">
      <intent-filter><action android:name="mobile.mcp.SERVICE"/></intent-filter>
      <meta-data android:name="mobile.mcp.tool.name" android:value="{label}"/>
      <meta-data android:name="mobile.mcp.tool.description" android:value="Made by hand"/>
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
        android:authorities="{package}.host" android:permission="android.permission.DUMP"/>
    {more}
  </application>
</manifest>
"""

MMCP_ACTIVITY = """<activity android:name="dev.droidgate.shim.frontends.MmcpActivity" android:exported="true">
  <intent-filter>
    <action android:name="com.example.mMCP.ACTION_TOOL_ADVERTISE"/>
    <action android:name="com.example.mMCP.ACTION_TOOL_CALL"/>
    <category android:name="android.intent.category.DEFAULT"/>
  </intent-filter>
</activity>"""
MMCP_RECEIVER = """<receiver android:name="dev.droidgate.shim.frontends.MmcpReceiver" android:exported="true">
  <intent-filter>
    <action android:name="com.example.ACTION_MMCP_DISCOVERY"/>
    <action android:name="com.example.ACTION_MMCP_INVOKE"/>
  </intent-filter>
</receiver>"""

_FUNCTION_SERVICE = """<service android:name="dev.droidgate.shim.frontends.FunctionService"
    android:exported="true" android:permission="android.permission.BIND_APP_FUNCTION_SERVICE">
  <property android:name="android.app.appfunctions" android:value="app_functions.xml"/>
  <intent-filter><action android:name="android.app.appfunctions.AppFunctionService"/></intent-filter>
</service>"""
_FUNCTION = (
    "<appfunction><function_id>{id}</function_id><enabled_by_default>true</enabled_by_default></appfunction>"
)


def function_service(names: Iterable[str]) -> tuple[str, dict[str, bytes]]:
    """Return component and file by which app functions are advertised (reference appfunctions 2.a)."""
    listed = "".join(_FUNCTION.format(id=name) for name in names)
    document = f"<appfunctions>{listed}</appfunctions>"
    return _FUNCTION_SERVICE, {"assets/app_functions.xml": document.encode()}


def make_shim(
    routes: Iterable[Mapping[str, Any]],
    *,
    key: SigningKey,
    package: str = "dev.droidgate.shim.of.made",
    label: str = "By hand (via droidgate)",
    policy: Mapping[str, Any] | None = None,
    more: str = "",
    version: int = 1,
    definitions: Mapping[str, Any] | None = None,
    files: Mapping[str, bytes] | None = None,
    functions: Mapping[str, str] | None = None,
    capabilities: Mapping[str, Mapping[str, str]] | None = None,
    permissions: Iterable[str] = (),
    code: bool = True,
) -> bytes:
    """Return the signed APK of a shim with these routes.

    Args:
        routes: What `assets/routes.json` lists.
        key: What it is signed with.
        package: Its application id.
        label: Its name.
        policy: What `assets/policy.json` has in addition to `app`.
        more: Further components.
        version: Version code.
        definitions: Of `assets/routes.json`.
        files: Further files.
        functions: App function -> route.
        capabilities: Route -> what the user is shown of it.
        permissions: Further permissions that it asks for.
        code: Whether it has the Java classes that ship.
    """
    listed = list(routes)
    packages = sorted({item["target"]["package"] for item in listed})
    queries = "".join(f'<package android:name="{item}"/>' for item in packages)
    manifest = _MANIFEST.format(
        android=ANDROID,
        package=package,
        queries=queries,
        label=label,
        more=more,
        permissions="".join(f'<uses-permission android:name="{item}"/>' for item in permissions),
    )
    app = {"handshake": 1, "build": "0" * 64, "sources": [], "functions": dict(functions or {})}
    if capabilities is not None:
        app["capabilities"] = dict(capabilities)
    tree = {
        "AndroidManifest.xml": manifest.encode(),
        "res/xml/mcp_capabilities.xml": b"<mobile-mcp-capabilities/>",
        "assets/routes.json": json.dumps(
            {"format": 1, "definitions": dict(definitions or {}), "routes": listed}
        ).encode(),
        "assets/policy.json": json.dumps({"app": app, **(policy or {})}).encode(),
        **(files or {}),
    }
    dex = shim_dex() if code else None
    assert dex is not None or not code
    return pack_project(
        tree,
        key=key,
        package=package,
        version_code=version,
        minimum_sdk=24,
        target_sdk=36,
        dex=[dex] if dex else [],
    )


def route(
    name: str,
    backend: Mapping[str, Any],
    target: Mapping[str, Any],
    *,
    parameters: Mapping[str, str] | None = None,
    outputs: Mapping[str, Any] | None = None,
    output: Mapping[str, Any] | None = None,
    deadline_ms: int = 30_000,
) -> dict[str, Any]:
    """Return a route whose parameters are required and of these kinds."""
    properties = {
        item: {"type": {"kind": kind}, "required": True} for item, kind in (parameters or {}).items()
    }
    return {
        "id": name,
        "input": {"kind": "object", "properties": properties},
        "outputs": dict(outputs) if outputs is not None else None,
        "output": dict(output) if output is not None else None,
        "backend": dict(backend),
        "target": dict(target),
        "deadline_ms": deadline_ms,
    }

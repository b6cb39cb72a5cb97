"""The apps around the shim in the tests on Robolectric, as signed APKs: an agent, and a tool.

What they do is Java, in device_shim/android/robolectric.
"""

import hashlib
from collections.abc import Mapping
from functools import cache

from device_shim.phone_system.phone_system_apps import key, make_apk
from device_shim.shim_phone.hand_made_shim import make_shim, route

UIDS = {"clock": 10_101, "agent": 10_102}
"""Whom Android knows each app as."""

CLOCK = "dev.droidgate.proof.clock"
ROUTES = ("desk.echo", "radio.forecast", "clock.now", "lamp.switch", "notes.create")
"""What the pictures of the shim's screen list; each calls the clock."""

_DESCRIPTOR = "Says the time."


@cache
def tool_apps() -> Mapping[str, bytes]:
    """Return the APKs by the name of their app and of its key."""
    service = (
        '<service android:name="dev.droidgate.proof.Clock" android:exported="true">'
        '<intent-filter><action android:name="mobile.mcp.SERVICE"/></intent-filter>'
        f'<meta-data android:name="mMCP_manifest" android:value="{_DESCRIPTOR}"/></service>'
    )
    return {
        name: make_apk(
            f"dev.droidgate.proof.{name}",
            service if name == "clock" else "",
            of_application=f'android:label="The {name}"',
            version=7,
            signer=name,
        )
        for name in UIDS
    }


@cache
def hand_made_shim() -> bytes:
    """Return the APK of a shim of the clock, with the code that ships."""
    signed = {"package": CLOCK, "signer": key("clock").digest, "version_code": 7}
    digest = hashlib.sha256(_DESCRIPTOR.encode()).hexdigest()
    component = f"{CLOCK}/dev.droidgate.proof.Clock"
    backend = {"kind": "mobile-mcp", "component": component, "capability": "now", "dialect": "S1"}
    text = {"type": {"kind": "string"}}
    routes = [
        route(
            name, backend, {**signed, "digest": f"mmcp:{digest}"}, outputs={"kind": "fields"},
            output={"kind": "object", "properties": {"time": {**text, "required": True}}},
        )
        | {"input": {"kind": "object", "properties": {"zone": text}}, "effects": {"read_only": True}}
        for name in ROUTES
    ]  # fmt: skip
    sources = [{**signed, "label": "The clock"}]
    return make_shim(
        routes,
        key=key("shim"),
        package="dev.droidgate.shim",
        label="Several apps (via droidgate)",
        policy={"app": {"handshake": 1, "build": "5e" * 32, "sources": sources, "functions": {}}},
        permissions=["android.permission.HIDE_OVERLAY_WINDOWS"],
    )

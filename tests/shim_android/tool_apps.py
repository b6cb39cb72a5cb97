"""The apps around the shim in the tests on Robolectric, as signed APKs: agents, and tools of each kind.

What they do is Java, in device_shim/android/robolectric; what they say about themselves is here.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from lxml import etree

from droidgate.apk.pack import pack_project
from droidgate.apk.signing_keys import SigningKey, make_key

CLASSES = "dev.droidgate.proof.apps"
ANDROID = "{http://schemas.android.com/apk/res/android}"
FIRST_UID = 10_101

DESK_MANIFEST = {
    "instructions": "A desk that repeats and adds.",
    "tools": [
        {
            "name": "echo",
            "description": "Repeat a text.",
            "parameters": {
                "type": "object",
                "required": ["text"],
                "properties": {"text": {"type": "string"}},
            },
        },
        {
            "name": "add",
            "description": "Add two numbers.",
            "parameters": {
                "type": "object",
                "required": ["a", "b"],
                "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
            },
        },
    ],
}

CLOCK_CAPABILITIES = """<mobile-mcp-capabilities version="1.0">
    <capability id="now" description="Say the \u00bbtime\u00ab." version="1.0">
        <input>
            <param name="zone" type="string" required="false" description="@string/zone" />
        </input>
        <output>
            <param name="time" type="string" description="The time" />
            <param name="visits" type="integer" description="Calls of this binding" />
        </output>
    </capability>
</mobile-mcp-capabilities>
"""

LAMP_CAPABILITIES = """<mobile-mcp-capabilities version="1.0">
    <capability id="switch" description="Switch the lamp." version="1.0">
        <input><param name="on" type="boolean" required="true" description="On or off" /></input>
        <output><param name="on" type="boolean" description="What it is now" /></output>
    </capability>
</mobile-mcp-capabilities>
"""

RADIO_MANIFEST = "What a receiver declares in its manifest."

RADIO_TOOLS = [["forecast", "Say the weather.", '{"place":"string"}']]

NOTES_FUNCTIONS = b"<functions><function id='createNote'/></functions>"


@dataclass(frozen=True)
class ToolApp:
    """One app of the tests.

    Attributes:
        name: What the tests call it.
        package: Its application id.
        files: Its project, relative to `src/main`.
        uid: Whom Android knows it as; two apps may share one.
        key: What it is signed with.
    """

    name: str
    package: str
    files: Mapping[str, bytes]
    uid: int
    key: SigningKey

    def apk(self) -> bytes:
        """Return its APK."""
        return pack_project(
            self.files, key=self.key, version_code=7, version_name="7", minimum_sdk=24, target_sdk=36
        )


def _manifest(package: str, application: str) -> bytes:
    return (
        f'<manifest xmlns:android="{ANDROID[1:-1]}" package="{package}">'
        f'<application android:label="The {package.rpartition(".")[2]}">{application}</application>'
        "</manifest>"
    ).encode()


def _tool_service(class_name: str, resource: str) -> str:
    return f"""<service android:name="{CLASSES}.{class_name}" android:exported="true">
        <intent-filter><action android:name="mobile.mcp.SERVICE"/></intent-filter>
        <meta-data android:name="mobile.mcp.tool.name" android:value="{class_name}"/>
        <meta-data android:name="mobile.mcp.tool.description" android:value="{class_name}"/>
        <meta-data android:name="mobile.mcp.tool.capabilities" android:resource="@xml/{resource}"/>
    </service>"""


def _desk() -> dict[str, bytes]:
    manifest = json.dumps(DESK_MANIFEST).replace("&", "&amp;").replace('"', "&quot;")
    return {
        "AndroidManifest.xml": _manifest(
            "dev.droidgate.proof.desk",
            f"""<activity android:name="{CLASSES}.DeskActivity" android:exported="true">
                <intent-filter>
                    <action android:name="com.example.mMCP.ACTION_TOOL_ADVERTISE"/>
                    <action android:name="com.example.mMCP.ACTION_TOOL_CALL"/>
                    <category android:name="android.intent.category.DEFAULT"/>
                </intent-filter>
                <meta-data android:name="mMCP_manifest" android:value="{manifest}"/>
            </activity>""",
        )
    }


def _radio() -> dict[str, bytes]:
    receiver = f"""<receiver android:name="{CLASSES}.RadioReceiver" android:exported="true"><intent-filter>
        <action android:name="com.example.ACTION_MMCP_DISCOVERY"/>
        <action android:name="com.example.ACTION_MMCP_INVOKE"/>
    </intent-filter><meta-data android:name="mMCP_manifest" android:value="{RADIO_MANIFEST}"/></receiver>"""
    return {"AndroidManifest.xml": _manifest("dev.droidgate.proof.radio", receiver)}


def _clock() -> dict[str, bytes]:
    services = _tool_service("ClockService", "clock") + _tool_service("LampService", "lamp")
    return {
        "AndroidManifest.xml": _manifest("dev.droidgate.proof.clock", services),
        "res/xml/clock.xml": CLOCK_CAPABILITIES.encode(),
        "res/xml/lamp.xml": LAMP_CAPABILITIES.encode(),
        "res/values/strings.xml": b'<resources><string name="zone">A time zone</string></resources>',
    }


def _notes() -> dict[str, bytes]:
    service = f"""<service android:name="{CLASSES}.NotesService" android:exported="true"
        android:permission="android.permission.BIND_APP_FUNCTION_SERVICE">
        <property android:name="android.app.appfunctions" android:value="app_functions.xml"/>
        <intent-filter><action android:name="android.app.appfunctions.AppFunctionService"/></intent-filter>
    </service>"""
    return {
        "AndroidManifest.xml": _manifest("dev.droidgate.proof.notes", service),
        "assets/app_functions.xml": NOTES_FUNCTIONS,
    }


def _agent(package: str) -> dict[str, bytes]:
    return {"AndroidManifest.xml": _manifest(package, "")}


@cache
def tool_apps() -> dict[str, ToolApp]:
    """Return the apps by name; `twin` and `other_twin` share a uid, `desk_by_another` is by somebody else."""
    shared = make_key(common_name="twins")
    own = {name: make_key(common_name=name) for name in ("tools", "agent", "stranger")}
    made = [
        ("desk", "dev.droidgate.proof.desk", _desk(), own["tools"]),
        ("radio", "dev.droidgate.proof.radio", _radio(), own["tools"]),
        ("clock", "dev.droidgate.proof.clock", _clock(), own["tools"]),
        ("notes", "dev.droidgate.proof.notes", _notes(), own["tools"]),
        ("agent", "dev.droidgate.proof.agent", _agent("dev.droidgate.proof.agent"), own["agent"]),
        ("stranger", "dev.droidgate.proof.stranger", _agent("dev.droidgate.proof.stranger"), own["stranger"]),
        ("twin", "dev.droidgate.proof.twin", _agent("dev.droidgate.proof.twin"), shared),
        ("other_twin", "dev.droidgate.proof.twin.other", _agent("dev.droidgate.proof.twin.other"), shared),
        ("desk_by_another", "dev.droidgate.proof.desk", _desk(), own["stranger"]),
        (
            "agent_by_another",
            "dev.droidgate.proof.agent",
            _agent("dev.droidgate.proof.agent"),
            own["stranger"],
        ),
    ]
    uids: dict[str, int] = {"other_twin": FIRST_UID + 6}
    return {
        name: ToolApp(name, package, files, uids.get(name, FIRST_UID + position), key)
        for position, (name, package, files, key) in enumerate(made)
    }


def digest_of_text(text: str) -> str:
    """Return what the recipe `mmcp` gives (docs/shim.md 5)."""
    return "mmcp:" + hashlib.sha256(text.encode()).hexdigest()


def digest_of_capabilities(source: str, strings: Mapping[str, str]) -> str:
    """Return what the recipe `mobile-mcp` gives for a capabilities file (docs/shim.md 5).

    Args:
        source: The file's text.
        strings: Name -> resource of a reference.
    """

    def escaped(value: str) -> str:
        return json.dumps(value, ensure_ascii=False)

    events: list[str] = []

    def walk(element: etree._Element) -> None:
        attributes = sorted((str(name), str(value)) for name, value in element.attrib.items())
        pairs = "".join(f" {name}={escaped(strings.get(value, value))}" for name, value in attributes)
        events.append(f"<{element.tag!s}{pairs}>")
        for child in element:
            walk(child)
        events.append(f"</{element.tag!s}>")

    walk(etree.fromstring(source.encode(), etree.XMLParser(remove_blank_text=True, resolve_entities=False)))
    return "mobile-mcp:" + hashlib.sha256("".join(events).encode()).hexdigest()


def digest_of_tools(tools: list[list[str]]) -> str:
    """Return what the recipe `broadcast` gives (docs/shim.md 5)."""
    text = json.dumps({"tools": tools}, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    return "broadcast:" + hashlib.sha256(text.encode()).hexdigest()


def digest_of_assets(names: str, data: bytes) -> str:
    """Return what the recipe `assets` gives (docs/shim.md 5)."""
    return f"assets({names}):" + hashlib.sha256(data).hexdigest()

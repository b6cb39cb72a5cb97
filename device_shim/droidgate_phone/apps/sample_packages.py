"""The sample apps as signed APKs, and small apps that fill a phone: most without tools, some of each
protocol.

They are signed with one key that is made from a public number: the same in each run, and no secret. It means
"made for the virtual phone" and shows nothing else; a real phone may take such an APK like any other.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from droidgate_android.apk.pack import pack_project
from droidgate_android.apk.signing_keys import SigningKey
from droidgate_phone.apps.pdf_document import PdfPage, write_pdf
from droidgate_shim.builder.sample_apps import agent_apk, sample_apps_directory

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


_AGENT: Final = "agent"
_SAMPLES: Final = {
    "clock-in": ("dev.droidgate.sample.clockin", "clock-in/app"),
    "notes": ("dev.droidgate.sample.notes", "notes/app"),
    "notes-legacy": ("dev.droidgate.sample.notes.legacy", "notes/legacy"),
    "pdf-tool": ("dev.droidgate.sample.pdftool", "pdf-tool/app"),
    "tally": ("dev.droidgate.sample.tally", "tally/app"),
    "weather": ("dev.droidgate.sample.weather", "weather/app"),
    _AGENT: ("dev.droidgate.sample.agent", "agent/app"),
}
REPORT: Final = "/sdcard/Download/report.pdf"
REPORT_PAGES: Final = ("Rain fell on nine days.", "The river rose by a hand.", "Nobody was hurt.")
_SEED: Final = b"droidgate virtual phone"
_MADE: Final = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
_VALID: Final = dt.timedelta(days=365 * 30)


@dataclass(frozen=True, slots=True)
class SamplePackage:
    """A sample app, packed.

    Attributes:
        name: What users call it.
        package: Its application id.
        apk: The signed APK.
    """

    name: str
    package: str
    apk: bytes


def sample_packages() -> tuple[SamplePackage, ...]:
    """Return the sample apps; each is packed once for this process."""
    return tuple(map(sample_package, _SAMPLES))


@cache
def sample_package(name: str) -> SamplePackage:
    """Return one sample app.

    Raises:
        KeyError: there is none of this name.
    """
    package, module = _SAMPLES[name]
    if name == _AGENT:
        return SamplePackage(name, package, agent_apk(package, signing_key()))
    apk = pack_project(sample_apps_directory() / module, key=signing_key(), package=package)
    return SamplePackage(name, package, apk)


def report() -> bytes:
    """Return a PDF file of three pages, which `REPORT` is on the phone."""
    return write_pdf(PdfPage((line,)) for line in REPORT_PAGES)


def filler_package(number: int) -> bytes:
    """Return the APK of a small app without behaviour, always the same for a number from 0 on."""
    return pack_project(filler_files(number), key=signing_key())


@cache
def signing_key() -> SigningKey:
    """Return the key that everything here is signed with.

    Its certificate, and with it every APK, is the same in each run where OpenSSL signs as RFC 6979 says (3.2
    and later); with older ones it is made anew for each process.
    """
    number = int.from_bytes(hashlib.sha256(_SEED).digest(), "big")
    private = ec.derive_private_key(number, ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, _SEED.decode())])
    builder = x509.CertificateBuilder(
        issuer_name=name,
        subject_name=name,
        public_key=private.public_key(),
        serial_number=1,
        not_valid_before=_MADE,
        not_valid_after=_MADE + _VALID,
    )
    try:
        certificate = builder.sign(private, hashes.SHA256(), ecdsa_deterministic=True)
    except UnsupportedAlgorithm:
        certificate = builder.sign(private, hashes.SHA256())
    return SigningKey(private, certificate)

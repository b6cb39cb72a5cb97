"""Digests of what an app declares (shim.md 5), against texts that are typed by hand from that page."""

import hashlib
from collections.abc import Mapping
from pathlib import Path

import pytest

from adapters.apk_writing.packed_samples import build_with_aapt2, module_folder, packed_module
from device_shim.shim_builder.built_samples import WEATHER_TOOLS, opened, packed
from droidgate_appfunctions.shim_backend import AppFunctionBackend
from droidgate_mappings.model.errors import InputError
from droidgate_mmcp.shim_backend import BroadcastListing, MmcpBackend
from droidgate_mobile_mcp.shim_backend import MobileMcpBackend
from requirements_of_tests import require

CAPABILITIES = """<?xml version="1.0" encoding="utf-8"?>
<!-- a comment is not an event -->
<mobile-mcp-capabilities xmlns:android="http://schemas.android.com/apk/res/android" version="1.0">
    <capability version="1" id="note_add" description="@string/told">
        <input>
            <param type="string" required="true" name="text"
                description="It\\'s \\u0022quoted\\u0022, caf\u00e9" />
        </input>
        <hint android:padding="8dp" android:enabled="true" android:versionCode="7"
            android:theme="@android:style/Theme" plain="1">  some <b />words  </hint>
    </capability>
</mobile-mcp-capabilities>
"""
EVENTS = (
    '<mobile-mcp-capabilities version="1.0">'
    '<capability description="@string/told" id="note_add" version="1">'
    "<input>"
    '<param description="It\'s \\"quoted\\", caf\u00e9" name="text" required="true" type="string"></param>'
    "</input>"
    '<hint plain="1"'
    ' {http://schemas.android.com/apk/res/android}enabled="true"'
    ' {http://schemas.android.com/apk/res/android}padding="8.0dip"'
    ' {http://schemas.android.com/apk/res/android}theme="@style/Theme"'
    ' {http://schemas.android.com/apk/res/android}versionCode="7">'
    '"some"<b></b>"words"'
    "</hint>"
    "</capability>"
    "</mobile-mcp-capabilities>"
)
STRINGS = '<resources><string name="told">Add a note</string></resources>'
SERVICE = """<service android:name=".Tools" android:exported="true">
    <intent-filter><action android:name="mobile.mcp.SERVICE" /></intent-filter>
    <meta-data android:name="mobile.mcp.tool.capabilities" android:resource="@{0}" />
</service>"""
ACTIVITY = """<activity android:name=".Tools" android:exported="true">
    <intent-filter><action android:name="com.example.mMCP.ACTION_TOOL_ADVERTISE" /></intent-filter>
    <meta-data android:name="mMCP_manifest" {0} />
</activity>"""


def sha256(text: str | bytes) -> str:
    return hashlib.sha256(text.encode() if isinstance(text, str) else text).hexdigest()


def mobile_mcp(files: Mapping[str, str], service: str = SERVICE.format("xml/tools")) -> str:
    item, application = opened(packed(service, files))
    return MobileMcpBackend().digest(item, next(application.of_kind("service")))


def mmcp(attribute: str, files: dict[str, str | bytes] | None = None) -> str:
    item, application = opened(packed(ACTIVITY.format(attribute), files))
    return MmcpBackend().digest(item, next(application.of_kind("activity")))


def test_a_descriptor_is_hashed_as_its_events() -> None:
    files = {"res/xml/tools.xml": CAPABILITIES, "res/values/strings.xml": STRINGS}
    assert mobile_mcp(files) == f"mobile-mcp:{sha256(EVENTS)}"


def test_layout_and_comments_of_a_descriptor_change_nothing() -> None:
    plain = (
        '<mobile-mcp-capabilities version="1.0"><capability id="a" description="A" version="1"/>'
        "</mobile-mcp-capabilities>"
    )
    laid_out = plain.replace("><", ">\n\n    <!-- words -->\n<").replace(
        'id="a" description="A"', "description='A'\n id='a'"
    )
    assert mobile_mcp({"res/xml/tools.xml": plain}) == mobile_mcp({"res/xml/tools.xml": laid_out})
    changed = plain.replace('description="A"', 'description="B"')
    assert mobile_mcp({"res/xml/tools.xml": plain}) != mobile_mcp({"res/xml/tools.xml": changed})


def test_a_descriptor_of_another_compiler_has_the_same_digest(tmp_path: Path) -> None:
    aapt2, framework = require("aapt2"), require("framework-res")
    theirs = build_with_aapt2(
        aapt2, framework, module_folder("clock-in/app") / "src/main", tmp_path, "--min-sdk-version", "26"
    )
    apks = map(opened, (theirs.read_bytes(), packed_module("clock-in/app")))
    digests = {MobileMcpBackend().digest(apk, next(app.of_kind("service"))) for apk, app in apks}
    assert len(digests) == 1


@pytest.mark.parametrize(("service", "error"), [
    (SERVICE.format("xml/tools").replace("android:resource", "android:value"), "is not a file of the APK"),
    (SERVICE.format("raw/tools"), "is not an XML resource"),
], ids=["a value", "a raw file"])  # fmt: skip
def test_a_descriptor_that_is_not_compiled_cannot_be_compared_by_a_phone(service: str, error: str) -> None:
    files = {f"res/{kind}/tools.xml": "<mobile-mcp-capabilities/>" for kind in ("xml", "raw")}
    with pytest.raises(InputError, match=error):
        mobile_mcp(files, service)


@pytest.mark.parametrize(("attribute", "files", "content"), [
    ('android:value="{&quot;tools&quot;: []}"', {}, '{"tools": []}'),
    ('android:value="@string/told"',
        {"res/values/strings.xml": STRINGS, "res/values-de/strings.xml": STRINGS.replace("Add", "Neu")},
        "Add a note"),
    ('android:resource="@string/told"', {"res/values/strings.xml": STRINGS}, "Add a note"),
    ('android:resource="@raw/told"', {"res/raw/told.json": '{"tools": []}\n'}, '{"tools": []}\n'),
    ('android:resource="@xml/told"', {"res/xml/told.xml": '<a b="1"> t </a>'}, '<a b="1">"t"</a>'),
], ids=["value", "string", "string resource", "raw", "xml"])  # fmt: skip
def test_the_text_of_an_mmcp_manifest_is_hashed(
    attribute: str, files: dict[str, str | bytes], content: str
) -> None:
    assert mmcp(attribute, files) == f"mmcp:{sha256(content)}"


def test_functions_are_hashed_by_their_assets_one_after_the_other() -> None:
    service = """<service android:name=".Functions" android:exported="true">
        <property android:name="android.app.appfunctions.schema" android:value="shape.xsd" />
        <property android:name="android.app.appfunctions.v2" android:value="tools.xml" />
        <property android:name="android.app.appfunctions" android:value="gone.xml" /></service>"""
    files: dict[str, str | bytes] = {"assets/tools.xml": b"<a/>\r\n", "assets/shape.xsd": b"\xffbytes"}
    item, application = opened(packed(service, files))
    digest = AppFunctionBackend().digest(item, next(application.of_kind("service")))
    content = sha256(b"<a/>\r\n\xffbytes")
    assert digest == f"assets(tools.xml,gone.xml,shape.xsd):{content}"


def test_functions_that_are_in_no_asset_cannot_be_compared() -> None:
    item, application = opened(packed('<service android:name=".Functions" android:exported="true" />'))
    with pytest.raises(InputError, match="no asset holds the functions"):
        AppFunctionBackend().digest(item, next(application.of_kind("service")))


def test_a_discoverys_answer_is_hashed_in_the_order_received() -> None:
    text = (
        '{"tools":[["currentWeather","The weather at a place","{\\"location\\":\\"string\\"}"],'
        '["forecast","The next days","{\\"location\\":\\"string\\",\\"days\\":\\"string\\"}"]]}'
    )
    assert BroadcastListing().digest(WEATHER_TOOLS) == f"broadcast:{sha256(text)}"
    without_texts = sha256('{"tools":[["a","","{}"]]}')
    assert BroadcastListing().digest([("a", None, None)]) == f"broadcast:{without_texts}"
    assert BroadcastListing().digest(WEATHER_TOOLS) != BroadcastListing().digest(WEATHER_TOOLS[::-1])

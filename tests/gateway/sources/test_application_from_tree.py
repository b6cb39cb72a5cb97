"""Applications from files in memory."""

from __future__ import annotations

import struct
from collections.abc import Iterable

import pytest

from droidgate.sources.android_project import application_from_tree
from droidgate.sources.linting import NearNames, check_reading
from droidgate.sources.source_results import Providers
from droidgate.sources.text_manifest import is_manifest
from droidgate_mappings.formats.application import IntentFilter, MetaValue, Query
from droidgate_mappings.formats.format import Format, load_formats
from droidgate_mappings.formats.leniency import ReadingContext
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.model.findings import Finding, Level

TOOLS = 'xmlns:tools="http://schemas.android.com/tools"'
ANDROID = 'xmlns:android="http://schemas.android.com/apk/res/android"'
MANIFEST = f"""<?xml version="1.0" encoding="utf-8"?>
<manifest {ANDROID} package="dev.example.app">
    <application
        android:label="@string/app_name"
        android:description="@string/about">
        <property android:name="p" android:resource="@xml/meta"/>
        <activity
            android:name=".Main"
            android:exported="true"
            android:theme="@style/Plain">
            <intent-filter>
                <action android:name="act.ONE"/>
                <action android:name="${{applicationId}}.TWO"/>
                <category android:name="cat"/>
            </intent-filter>
            <intent-filter><action android:name="act.THREE"/></intent-filter>
        </activity>
        <!-- between -->
        <service
            android:name="dev.example.Service"
            android:enabled="@bool/on"
            android:exported="@bool/off"
            android:label="42"
            android:permission="dev.P">
            <meta-data
                android:name="m"
                android:value="a\\nb"/>
        </service>
        <receiver android:name="Receiver"/>
        <provider android:name=".Provider" android:authorities="${{applicationId}}.files"/>
        <activity-alias android:name=".Alias" android:targetActivity=".Main"/>
    </application>
</manifest>
"""
VALUES = """<resources xmlns:tools="http://schemas.android.com/tools">
    <string name="app_name">  The
        "App  1" </string>
    <string name="about">@string/inner</string>
    <string name="inner">It\\'s <b>bold</b> &amp; <![CDATA[<raw>]]><!-- no --></string>
    <string name="loop_a">@string/loop_b</string>
    <string name="loop_b">@string/loop_a</string>
    <item type="string" name="as_item">item</item>
    <string name="nothing">@null</string>
    <bool name="on">true</bool>
    <bool name="off">@bool/really_off</bool>
    <bool name="really_off">false</bool>
    <integer name="answer">0x2A</integer>
    <color name="white">#fff</color>
    <string-array name="files"><item>@xml/one</item><item>\\@two</item><item>  x  y </item></string-array>
    <integer-array name="numbers"><item>1</item></integer-array>
    <array name="empty"/>
</resources>
"""


def tree(**files: str) -> dict[str, bytes]:
    named = {"AndroidManifest.xml": MANIFEST, "res/values/strings.xml": VALUES, **files}
    return {name: text.encode() for name, text in named.items()}


def with_meta(attributes: str, files: dict[str, str] | None = None) -> MetaValue | None:
    kept = f'<meta-data android:name="m" {attributes}/>'
    text = f"<manifest {ANDROID}><application>{kept}</application></manifest>"
    application = application_from_tree(tree(**{"AndroidManifest.xml": text, **(files or {})}))
    meta = application.components[0].find_meta_data("m")
    assert meta is not None
    return meta.value


def test_components_come_in_order_with_what_their_elements_say() -> None:
    application = application_from_tree(tree(), path="app/src/main")
    assert application.package == application.namespace == "dev.example.app"
    assert application.label == "The App  1"
    assert application.description == "It's bold & <raw>"
    assert str(application.place) == "app/src/main/AndroidManifest.xml"
    assert [(item.kind, item.name) for item in application.components] == [
        ("application", ""),
        ("activity", ".Main"),
        ("service", "dev.example.Service"),
        ("receiver", "Receiver"),
        ("provider", ".Provider"),
        ("activity", ".Alias"),
    ]
    _, activity, service, receiver, provider, alias = application.components
    assert activity.filters == (
        IntentFilter(("act.ONE", "dev.example.app.TWO"), ("cat",)),
        IntentFilter(("act.THREE",)),
    )
    assert (activity.exported, activity.enabled, activity.permission) == (True, True, None)
    assert activity.attributes == {"theme": "@style/Plain"}
    assert (service.exported, service.enabled, service.permission, service.label) == (
        False,
        True,
        "dev.P",
        "42",
    )
    assert receiver.exported is None
    assert provider.attributes == {"authorities": "dev.example.app.files"}
    assert alias.attributes == {"targetActivity": ".Main"}
    assert [application.qualified_name(item) for item in (activity, service, receiver)] == [
        "dev.example.app.Main",
        "dev.example.Service",
        "dev.example.app.Receiver",
    ]


def test_places_name_the_line_on_which_an_element_begins() -> None:
    application = application_from_tree(tree(), path="x")
    places = [str(component.place) for component in application.components]
    lines = MANIFEST.splitlines()
    assert [lines[int(place.rpartition(":")[2]) - 1].strip() for place in places] == [
        "<application",
        "<activity",
        "<service",
        '<receiver android:name="Receiver"/>',
        '<provider android:name=".Provider" android:authorities="${applicationId}.files"/>',
        '<activity-alias android:name=".Alias" android:targetActivity=".Main"/>',
    ]
    (meta,) = application.components[2].meta_data
    assert lines[int(str(meta.place).rpartition(":")[2]) - 1].strip() == "<meta-data"
    assert (meta.value, meta.raw_value) == ("a\nb", "a\\nb")


@pytest.mark.parametrize(("value", "on_the_device"), [
    ("plain", "plain"),
    ("@string/app_name", "The App  1"),
    (" @string/as_item ", "item"),
    ("@dev.example.app:string/as_item", "item"),
    ("@bool/on", True),
    ("@bool/off", False),
    ("@integer/answer", 42),
    ("@color/white", -1),
    ("@string/loop_a", None),
    ("@string/nowhere", None),
    ("@string/nothing", None),
    ("@android:string/ok", None),
    ("@null", None),
    ("@raw/data", "res/raw/data.json"),
    ("@foo", "@foo"),
    ("007", 7),
    ("1.1", struct.unpack("<f", struct.pack("<f", 1.1))[0]),
    ("true", True),
    ("${nobody}", "${nobody}"),
    ("a\\\\nb", "a\\nb"),
])  # fmt: skip
def test_meta_data_has_the_value_that_a_device_would_see(value: str, on_the_device: MetaValue | None) -> None:
    seen = with_meta(f'android:value="{value}"', {"res/raw/data.json": "{}"})
    assert seen == on_the_device
    assert type(seen) is type(on_the_device)


def test_a_resource_is_kept_as_a_reference() -> None:
    application = application_from_tree(tree())
    (kept,) = application.components[0].properties
    assert (kept.name, kept.value, kept.raw_value, kept.resource) == ("p", None, None, "@xml/meta")


def test_the_build_file_overrules_the_manifest_about_the_package() -> None:
    application = application_from_tree(tree(), package="dev.other", namespace="dev.ns")
    assert (application.package, application.namespace) == ("dev.other", "dev.ns")
    assert application.components[1].has_action("dev.other.TWO")


def test_files_without_a_qualifier_come_first() -> None:
    files = {
        "res/xml-v30/a.xml": "<v30/>",
        "res/xml/a.xml": "<plain/>",
        "res/xml-de/b.xml": "<b/>",
        "res/raw/c.json": "[]",
        "assets/dir/d.txt": "text",
    }
    resources = application_from_tree(tree(**files), path="m").resources
    for reference, text, path in (
        ("@xml/a", "<plain/>", "m/res/xml/a.xml"),
        ("@xml/b", "<b/>", "m/res/xml-de/b.xml"),
        ("@raw/c", "[]", "m/res/raw/c.json"),
    ):
        file = resources.read_file(reference)
        assert file is not None
        assert (file.text, str(file.place), file.compiled) == (text, path, False)
    asset = resources.read_asset("dir/d.txt")
    assert asset is not None
    assert asset.text == "text"
    for missing in ("@xml/none", "@raw/a", "xml/a", "@string/about", "@string/loop_a", ""):
        assert resources.read_file(missing) is None
    for missing in ("none", "../AndroidManifest.xml", ""):
        assert resources.read_asset(missing) is None


def test_the_default_locale_comes_first_and_others_fill_gaps() -> None:
    files = {
        "res/values-de/strings.xml": "<string name='inner'>de</string><string name='only'>nur</string>",
        "res/values/more.xml": "<string name='more'>more</string>",
    }
    files = {name: f"<resources>{text}</resources>" for name, text in files.items()}
    resources = application_from_tree(tree(**files)).resources
    assert resources.read_text("@string/only") == "nur"
    assert resources.read_text("@string/more") == "more"
    assert resources.read_text("@string/inner") == "It's bold & <raw>"
    assert resources.read_text("@bool/on") == "true"


def test_arrays_hold_texts_and_references() -> None:
    resources = application_from_tree(tree()).resources
    assert resources.read_array("@array/files") == ("@xml/one", "@two", "x y")
    assert resources.read_array("@array/numbers") == ("1",)
    assert resources.read_array("@array/empty") == ()
    assert resources.read_array("@array/none") is None
    assert resources.read_array("@string/about") is None


def test_files_that_nobody_points_to_are_named() -> None:
    text = (
        f"<manifest {ANDROID}><application>"
        '<property android:name="a" android:value="one.xml, dir/two.xml"/>'
        '<property android:name="b" android:resource="@array/files"/>'
        '<meta-data android:name="c" android:value="@raw/three"/>'
        "</application></manifest>"
    )
    files = dict.fromkeys(
        [
            *(
                "assets/one.xml",
                "assets/dir/two.xml",
                "assets/loose.json",
                "assets/picture.png",
                "res/xml/one.xml",
            ),
            *("res/xml/loose.xml", "res/raw/three.json", "res/raw/loose.json", "res/layout/main.xml"),
        ],
        "x",
    )
    application = application_from_tree(tree(**{"AndroidManifest.xml": text, **files}))
    assert application.loose_assets == ("loose.json", "@raw/loose", "@xml/loose")


@pytest.mark.row("S80")
def test_a_manifest_without_its_namespace_declaration_is_read() -> None:
    text = (
        '<?xml version="1.0"?>\n<manifest package="a">\n<application>\n'
        '<service\n android:name=".S" tools:node="merge"/></application></manifest>'
    )
    context = ReadingContext()
    application = application_from_tree(tree(**{"AndroidManifest.xml": text}), path="x", context=context)
    assert application.components[1].name == ".S"
    assert str(application.components[1].place) == "x/AndroidManifest.xml:4"
    (finding,) = context.findings
    assert (finding.rule, str(finding.source)) == ("S80", "x/AndroidManifest.xml:2")


@pytest.mark.row("S81")
@pytest.mark.parametrize("text", [
    f'<?xml version="1.0"?>\n<service {ANDROID} android:name=".S"/>',
    f'<!-- sample -->\n<application {ANDROID}><service android:name=".S"/></application>',
])  # fmt: skip
def test_a_piece_of_a_manifest_is_read(text: str) -> None:
    context = ReadingContext()
    application = application_from_tree({"AndroidManifest.xml": text.encode()}, context=context)
    assert [item.name for item in application.components] == ["", ".S"]
    assert application.components[1].place is not None
    assert application.components[1].place.line == 2
    assert application.package is None
    assert [item.rule for item in context.findings] == ["S81"]


@pytest.mark.row("S80", "S81")
def test_several_components_without_a_root_are_read() -> None:
    text = (
        '<service android:name=".S"/>\n\n<activity android:name=".A"/>\n<uses-permission android:name="p"/>'
    )
    application = application_from_tree({"AndroidManifest.xml": text.encode()})
    assert [
        (component.name, component.place.line if component.place else None)
        for component in application.components[1:]
    ] == [
        (".S", 1),
        (".A", 3),
    ]


@pytest.mark.row("S80", "S81")
def test_the_first_of_several_elements_may_be_the_only_one_that_declares_the_prefixes() -> None:
    space = "http://schemas.android.com/apk/res-auto"
    text = (
        f'<!-- a > b -->\n<permission {ANDROID} xmlns:appfn="{space}" android:name="p"/>\n'
        '<application appfn:description="Notes"><service android:name=".S"/></application>'
    )
    context = ReadingContext()
    application = application_from_tree({"AndroidManifest.xml": text.encode()}, context=context)
    assert [item.name for item in application.components] == ["", ".S"]
    assert application.components[0].foreign_attributes == {f"{{{space}}}description": "Notes"}
    assert [item.rule for item in context.findings] == ["S81", "S80"]


@pytest.mark.row("S80", "S81")
@pytest.mark.parametrize("text", [
    '<permission android:name="p"/>\n<service android:name=".S"/>',
    '<uses-permission android:name="p"/>\n<application><service android:name=".S"/></application>',
    '<queries><package android:name="x"/></queries>\n<service android:name=".S"/>',
    '<application/>\n<service android:name=".S"/>',
])  # fmt: skip
def test_a_piece_may_begin_with_what_is_before_the_application(text: str) -> None:
    assert is_manifest(text.encode())
    application = application_from_tree({"AndroidManifest.xml": text.encode()})
    assert [(component.kind, component.name) for component in application.components] == [
        ("application", ""),
        ("service", ".S"),
    ]
    assert application.components[1].place is not None
    assert application.components[1].place.line == 2


def test_queries_of_a_manifest_are_read() -> None:
    text = f"""<manifest {ANDROID} {TOOLS}>
      <queries>
        <package android:name="com.example.notes"/>
        <package android:name="com.example.gone" tools:node="remove"/>
        <intent><action android:name="mobile.mcp.SERVICE"/></intent>
        <intent>
          <action android:name="android.intent.action.VIEW"/>
          <category android:name="android.intent.category.BROWSABLE"/>
          <data android:scheme="https" android:host="example.com"/>
        </intent>
        <provider android:authorities="a.b;c.d"/>
      </queries>
    </manifest>"""
    application = application_from_tree({"AndroidManifest.xml": text.encode()})
    assert application.queries == (
        Query("package", ("com.example.notes",)),
        Query("intent", ("mobile.mcp.SERVICE",)),
        Query(
            "intent",
            ("android.intent.action.VIEW",),
            ("android.intent.category.BROWSABLE",),
            ("scheme=https", "host=example.com"),
        ),
        Query("provider", ("a.b", "c.d")),
    )


def test_version_and_sdk_levels_of_a_manifest_are_read() -> None:
    text = f"""<manifest {ANDROID} android:versionCode="7" android:versionName="1.2">
      <uses-sdk android:minSdkVersion="26" android:targetSdkVersion="36"/></manifest>"""
    item = application_from_tree({"AndroidManifest.xml": text.encode()})
    assert (item.version_code, item.version_name, item.minimum_sdk, item.target_sdk) == (7, "1.2", 26, 36)


@pytest.mark.parametrize(
    "text", ['<service android:name=".S"/>', '<manifest><application android:label="x"/></manifest>']
)
def test_strict_reading_takes_no_piece(text: str) -> None:
    with pytest.raises(InputError, match=r"S8[01]"):
        application_from_tree({"AndroidManifest.xml": text.encode()}, context=ReadingContext(strict=True))


@pytest.mark.parametrize(("files", "place"), [
    ({}, "m/AndroidManifest.xml"),
    ({"AndroidManifest.xml": b"<manifest>"}, "m/AndroidManifest.xml:1"),
    ({"AndroidManifest.xml": b"<resources/>"}, "m/AndroidManifest.xml"),
    ({"AndroidManifest.xml": b"\xff\xfe\xff"}, "m/AndroidManifest.xml"),
    ({"AndroidManifest.xml": MANIFEST.encode(), "res/values/a.xml": b"<resources"}, "m/res/values/a.xml:1"),
    ({"AndroidManifest.xml": f"<manifest {ANDROID}><p:x/></manifest>".encode()[:-1]},
     "m/AndroidManifest.xml:1"),
])  # fmt: skip
def test_what_cannot_be_read_is_an_error_with_its_place(files: dict[str, bytes], place: str) -> None:
    with pytest.raises(InputError) as caught:
        application_from_tree(files, path="m")
    assert (caught.value.place or "").startswith(place)


def test_a_manifest_without_an_application_has_the_element_only() -> None:
    application = application_from_tree({"AndroidManifest.xml": b"<manifest package='a'/>"})
    assert [(component.kind, component.name) for component in application.components] == [("application", "")]


def test_elements_that_merging_removes_are_left_out() -> None:
    tools = 'xmlns:tools="http://schemas.android.com/tools"'
    text = (
        f'<manifest {ANDROID} {tools}><application><service android:name=".Gone" tools:node="remove"/>'
        '<service android:name=".Stays"><meta-data android:name="gone" tools:node="remove"/></service>'
        "</application></manifest>"
    )
    application = application_from_tree({"AndroidManifest.xml": text.encode()})
    assert [(component.name, component.meta_data) for component in application.components[1:]] == [
        (".Stays", ())
    ]


# Names in manifests that are nearly those of a protocol


FORMATS = tuple(load_formats().values())


def manifest_of(inner: str) -> bytes:
    android = 'xmlns:android="http://schemas.android.com/apk/res/android"'
    return f'<manifest {android} package="a.b"><application>{inner}</application></manifest>'.encode()


def service_of(*, action: str = "a.b.RUN", meta_data: str = "a.b.meta") -> str:
    return (
        f'<service android:name=".S"><intent-filter><action android:name="{action}"/></intent-filter>'
        f'<meta-data android:name="{meta_data}" android:value="x"/></service>'
    )


def near_names(inner: str) -> list[Finding]:
    application = application_from_tree({"AndroidManifest.xml": manifest_of(inner)})
    return list(NearNames(FORMATS).report(application))


@pytest.mark.parametrize(("action", "meant"), [
    ("com.example.mobile.mcp.SERVICE", "mobile.mcp.SERVICE"),
    ("mobile.mcp.service", "mobile.mcp.SERVICE"),
    ("com.example.ACTION_TOOL_CALL", "com.example.mMCP.ACTION_TOOL_CALL"),
    ("org.example.ACTION_MMCP_DISCOVERY", "com.example.ACTION_MMCP_DISCOVERY"),
    ("android.app.appfunction.AppFunctionService", "android.app.appfunctions.AppFunctionService"),
])  # fmt: skip
def test_an_action_that_resembles_one_of_a_protocol_is_a_warning(action: str, meant: str) -> None:
    (finding,) = near_names(service_of(action=action))
    assert (finding.level, finding.code) == (Level.WARNING, "near-name")
    assert action in finding.message
    assert finding.hint == f"write {meant}, if that is meant"
    assert finding.source is not None
    assert finding.source.line == 1


@pytest.mark.parametrize("name", ["mmcp_manifest", "mMCP-manifest", "mobile.mcp.tool.capability"])
def test_meta_data_that_resembles_one_of_a_protocol_is_a_warning(name: str) -> None:
    assert [finding.message.split()[4] for finding in near_names(service_of(meta_data=name))] == ["meta-data"]


def test_each_name_is_named_once() -> None:
    assert len(near_names(service_of(action="mobile.mcp.service") * 2)) == 1


@pytest.mark.parametrize("format_", FORMATS, ids=lambda item: item.id)
def test_a_name_that_a_protocol_has_is_right(format_: object) -> None:
    names = [query.action for item in FORMATS if item is format_ for query in item.looks_for if query.action]
    assert near_names("".join(service_of(action=name) for name in names)) == []


@pytest.mark.parametrize("name", [
    "android.intent.action.MAIN",
    "com.google.android.geo.API_KEY",
    "android.view.InputMethod",
    "mcp",
    "android.app.shortcuts",
    "com.example.SERVICE",
    f"mobile.mcp.SERVICE{'x' * 300}",
])  # fmt: skip
def test_other_names_are_none_of_a_protocol(name: str) -> None:
    assert near_names(service_of(action=name, meta_data=name)) == []


def test_a_place_that_a_rule_of_the_format_names_is_not_named_twice() -> None:
    service = service_of(action="com.example.mobile.mcp.SERVICE", meta_data="mobile.mcp.tool.capabilities")
    app = application_from_tree({"AndroidManifest.xml": manifest_of(service)})
    found = list(check_reading(Providers(applications=(app,)), FORMATS, lambda _: None))
    assert "mobile-mcp-action" in {finding.code for finding in found}
    assert "near-name" not in {finding.code for finding in found}


def test_the_names_of_protocols_are_collected_once_for_many_apps(monkeypatch: pytest.MonkeyPatch) -> None:
    app = application_from_tree({"AndroidManifest.xml": manifest_of(service_of(action="mobile.mcp.service"))})
    collected: list[object] = []
    real = NearNames.__init__

    def counted(self: NearNames, formats: Iterable[Format]) -> None:
        collected.append(self)
        real(self, formats)

    monkeypatch.setattr(NearNames, "__init__", counted)
    found = list(check_reading(Providers(applications=(app,) * 3), FORMATS, lambda _: None))
    assert [finding.code for finding in found].count("near-name") == 3
    assert len(collected) == 1

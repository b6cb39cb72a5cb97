"""Applications from files in memory."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from typing import Any

import pytest

from adapters.apk_reading.built_apks import apk_of
from droidgate.sources.linting import NearNames, check_reading
from droidgate.sources.source_results import Providers
from droidgate_android.apk.apk_application import read_application
from droidgate_android.apk.pack import pack_project
from droidgate_android.apk.reader import open_apk
from droidgate_android.projects.android_project import application_from_tree
from droidgate_android.projects.text_manifest import is_manifest
from droidgate_mappings.formats.application import Application, Component, IntentFilter, MetaValue, Query
from droidgate_mappings.formats.component_reading import read_access, report_unknown_attributes
from droidgate_mappings.formats.format import Format, load_formats
from droidgate_mappings.formats.leniency import ReadingContext
from droidgate_mappings.model.capability import ComponentAccess
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.model.findings import Finding, Level
from droidgate_phone.apps.sample_packages import signing_key
from requirements_of_tests import require

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
    texts = {"AndroidManifest.xml": MANIFEST, "res/values/strings.xml": VALUES, **files}
    return {name: text.encode() for name, text in texts.items()}


def with_meta(attributes: str, files: dict[str, str] | None = None) -> MetaValue | None:
    element = f'<meta-data android:name="m" {attributes}/>'
    text = f"<manifest {ANDROID}><application>{element}</application></manifest>"
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
        ("application", ""), ("activity", ".Main"), ("service", "dev.example.Service"),
        ("receiver", "Receiver"), ("provider", ".Provider"), ("activity", ".Alias"),
    ]  # fmt: skip
    _, activity, service, receiver, provider, alias = application.components
    assert activity.filters == (
        IntentFilter(("act.ONE", "dev.example.app.TWO"), ("cat",)),
        IntentFilter(("act.THREE",)),
    )
    assert (activity.exported, activity.enabled, activity.permission) == (True, True, None)
    assert activity.attributes == {"theme": "@style/Plain"}
    facts = (service.exported, service.enabled, service.permission, service.label)
    assert facts == (False, True, "dev.P", "42")
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
    (item,) = application.components[0].properties
    assert (item.name, item.value, item.raw_value, item.resource) == ("p", None, None, "@xml/meta")


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
    assert [resources.read_array(f"@array/{name}") for name in ("files", "numbers", "empty", "none")] == [
        ("@xml/one", "@two", "x y"), ("1",), (), None,
    ]  # fmt: skip
    assert resources.read_array("@string/about") is None


def test_files_that_nobody_points_to_are_named() -> None:
    text = (
        f"<manifest {ANDROID}><application>"
        '<property android:name="a" android:value="one.xml, dir/two.xml"/>'
        '<property android:name="b" android:resource="@array/files"/>'
        '<meta-data android:name="c" android:value="@raw/three"/>'
        "</application></manifest>"
    )
    names = (
        "assets/one.xml", "assets/dir/two.xml", "assets/loose.json", "assets/picture.png", "res/xml/one.xml",
        "res/xml/loose.xml", "res/raw/three.json", "res/raw/loose.json", "res/layout/main.xml",
    )  # fmt: skip
    files = dict.fromkeys(names, "x")
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


S81, S80_AND_S81 = pytest.mark.row("S81"), pytest.mark.row("S80", "S81")
OF_SECOND_LINE = [("service", ".S", 2)]


@pytest.mark.parametrize(("text", "components"), [
    pytest.param(f'<?xml version="1.0"?>\n<service {ANDROID} android:name=".S"/>', OF_SECOND_LINE, marks=S81,
        id="a service"),
    pytest.param(f'<!-- sample -->\n<application {ANDROID}><service android:name=".S"/></application>',
        OF_SECOND_LINE, marks=S81, id="an application"),
    pytest.param('<service android:name=".S"/>\n\n<activity android:name=".A"/>\n<uses-permission/>',
        [("service", ".S", 1), ("activity", ".A", 3)], marks=S80_AND_S81, id="several components"),
    *(pytest.param(f'{first}\n<service android:name=".S"/>', OF_SECOND_LINE, marks=S80_AND_S81, id=first)
      for first in ('<permission android:name="p"/>', "<queries><package/></queries>", "<application/>")),
    pytest.param('<uses-permission/>\n<application><service android:name=".S"/></application>',
        OF_SECOND_LINE, marks=S80_AND_S81, id="an application after a permission"),
])  # fmt: skip
def test_a_piece_of_a_manifest_is_read(text: str, components: list[tuple[str, str, int]]) -> None:
    assert is_manifest(text.encode())
    context = ReadingContext()
    application = application_from_tree({"AndroidManifest.xml": text.encode()}, context=context)
    whole, *others = application.components
    assert (application.package, whole.kind, whole.name) == (None, "application", "")
    assert [(item.kind, item.name, item.place and item.place.line) for item in others] == components
    assert [item.rule for item in context.findings] == (["S81"] if ANDROID in text else ["S81", "S80"])


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
    pytest.param({}, "m/AndroidManifest.xml", id="no manifest"),
    pytest.param({"AndroidManifest.xml": b"<manifest>"}, "m/AndroidManifest.xml:1", id="an open element"),
    pytest.param({"AndroidManifest.xml": b"<resources/>"}, "m/AndroidManifest.xml", id="another root"),
    pytest.param({"AndroidManifest.xml": b"\xff\xfe\xff"}, "m/AndroidManifest.xml",
        id="bytes that are not text"),
    pytest.param({"AndroidManifest.xml": MANIFEST.encode(), "res/values/a.xml": b"<resources"},
        "m/res/values/a.xml:1", id="an open element of resources"),
    pytest.param({"AndroidManifest.xml": f"<manifest {ANDROID}><p:x/></manifest>".encode()[:-1]},
        "m/AndroidManifest.xml:1", id="a prefix that is not declared"),
])  # fmt: skip
def test_what_cannot_be_read_is_an_error_with_its_place(files: dict[str, bytes], place: str) -> None:
    with pytest.raises(InputError) as caught:
        application_from_tree(files, path="m")
    assert (caught.value.place or "").startswith(place)


def test_a_manifest_without_an_application_has_the_element_only() -> None:
    application = application_from_tree({"AndroidManifest.xml": b"<manifest package='a'/>"})
    assert [(component.kind, component.name) for component in application.components] == [("application", "")]


def test_elements_that_merging_removes_are_left_out() -> None:
    text = (
        f'<manifest {ANDROID} {TOOLS}><application><service android:name=".Gone" tools:node="remove"/>'
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
    return f'<manifest {ANDROID} package="a.b"><application>{inner}</application></manifest>'.encode()


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


def test_a_name_nearly_that_of_a_protocol_is_reported_once() -> None:
    assert len(near_names(service_of(action="mobile.mcp.service") * 2)) == 1


@pytest.mark.parametrize("format_", FORMATS, ids=lambda item: item.id)
def test_a_name_of_a_protocol_is_not_reported(format_: Format) -> None:
    names = [query.action for query in format_.phones.looks_for if query.action]
    assert near_names("".join(service_of(action=name) for name in names)) == []


@pytest.mark.parametrize("name", [
    "android.intent.action.MAIN",
    "com.google.android.geo.API_KEY",
    "android.view.InputMethod",
    "mcp",
    "android.app.shortcuts",
    "com.example.SERVICE",
    f"mobile.mcp.SERVICE{'x' * 300}",
], ids=lambda name: name[:40])  # fmt: skip
def test_a_name_unlike_those_of_protocols_is_not_reported(name: str) -> None:
    assert near_names(service_of(action=name, meta_data=name)) == []


def test_a_place_that_a_rule_of_the_format_names_is_not_named_twice() -> None:
    service = service_of(action="com.example.mobile.mcp.SERVICE", meta_data="mobile.mcp.tool.capabilities")
    app = application_from_tree({"AndroidManifest.xml": manifest_of(service)})
    findings = list(check_reading(Providers(applications=(app,)), FORMATS, lambda _: None))
    assert "mobile-mcp-action" in {finding.code for finding in findings}
    assert "near-name" not in {finding.code for finding in findings}


def test_the_names_of_protocols_are_collected_once_for_many_apps(monkeypatch: pytest.MonkeyPatch) -> None:
    app = application_from_tree({"AndroidManifest.xml": manifest_of(service_of(action="mobile.mcp.service"))})
    collected: list[object] = []
    real = NearNames.__init__

    def counted(self: NearNames, formats: Iterable[Format]) -> None:
        collected.append(self)
        real(self, formats)

    monkeypatch.setattr(NearNames, "__init__", counted)
    findings = list(check_reading(Providers(applications=(app,) * 3), FORMATS, lambda _: None))
    assert [finding.code for finding in findings].count("near-name") == 3
    assert len(collected) == 1


# Attributes of components that are resources: by configuration, missing, and inherited from the application


FLAGS = (
    '<bool name="off_then_on">{off_then_on}</bool>'
    '<bool name="behind">@bool/off_then_on</bool><bool name="same">true</bool>'
)
FILES = {
    "res/values/flags.xml": FLAGS.format(off_then_on="false"),
    "res/values/others.xml": '<string name="name">Tools</string><integer name="seven">0x7</integer>'
    '<dimen name="wide">10dp</dimen><color name="white">#fff</color>',
    "res/values-v36/flags.xml": '<bool name="off_then_on">true</bool><bool name="same">true</bool>',
    # aapt2 leaves out a value that is the same without its qualifier.
    "res/values-night/flags.xml": '<bool name="off_then_on">true</bool>',
}
BY_RELEASE = {"": False, "night": True, "v36": True}
READERS = ("tree", "apk", "aapt2")


def manifest(*elements: str, application: str = "") -> str:
    inner = f"<application {application}>{''.join(elements)}</application>"
    sdk = '<uses-sdk android:minSdkVersion="26" android:targetSdkVersion="36"/>'
    return f'<manifest {ANDROID} package="com.example.app">{sdk}{inner}</manifest>'


def service(attributes: str) -> str:
    action = '<intent-filter><action android:name="a.ACTION"/></intent-filter>'
    return f'<service android:name=".S" {attributes}>{action}</service>'


def tree_of(text: str, files: Mapping[str, str] = FILES) -> dict[str, str]:
    return {
        "AndroidManifest.xml": text,
        **{name: f"<resources>{inner}</resources>" for name, inner in files.items()},
    }


def read(reader: str, text: str) -> Application:
    files = tree_of(text)
    sources = {name: content.encode() for name, content in files.items()}
    if reader == "tree":
        return application_from_tree(sources)
    if reader == "aapt2":
        require("aapt2")
    data = apk_of(files) if reader == "aapt2" else pack_project(sources, key=signing_key())
    with open_apk(data) as apk:
        return read_application(apk)


def component(application: Application) -> Component:
    (service,) = application.of_kind("service", "activity", "receiver")
    return service


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize(("attribute", "name", "default", "by_configuration"), [
    ("enabled", "off_then_on", False, BY_RELEASE), ("enabled", "behind", False, BY_RELEASE),
    ("exported", "off_then_on", False, BY_RELEASE), ("enabled", "same", True, {}),
])  # fmt: skip
def test_a_boolean_attribute_has_a_value_in_each_configuration_where_they_differ(
    reader: str, attribute: str, name: str, by_configuration: dict[str, bool], *, default: bool
) -> None:
    application = read(reader, manifest(service(f'android:{attribute}="@bool/{name}"')))
    item = component(application)
    assert getattr(item, attribute) is default
    assert getattr(item, f"{attribute}_by_configuration") == by_configuration
    assert item.unresolved == ()
    assert attribute != "enabled" or application.enabled_rule_of(item) == (by_configuration or True)
    releases = [component(application.for_release(sdk)) for sdk in (35, 36, 37)]
    assert [getattr(item, attribute) for item in releases] == [default, True, True]


@pytest.mark.parametrize("reader", READERS)
def test_a_resource_of_another_kind_is_the_text_that_android_makes_of_it(reader: str) -> None:
    texts = {
        "@string/name": "Tools",
        "@integer/seven": "0x7",
        "@dimen/wide": "10.0dip",
        "@color/white": "#ffffffff",
        "@bool/same": "true",
        "@string/none": None,
    }
    resources = read(reader, manifest(service(""))).resources
    assert {name: resources.read_text(name) for name in texts} == texts


def source(own: str = "", whole: str = "", files: Mapping[str, str] = FILES) -> Application:
    """Return an app whose application has attributes, and its one service others."""
    tree = tree_of(manifest(service(own), application=whole), files)
    return application_from_tree({name: text.encode() for name, text in tree.items()})


@pytest.mark.parametrize(("own", "unresolved", "read"), [
    ('android:label="@string/none"', ("label=@string/none",), {}),
    ('android:description="@string/none"', ("description=@string/none",), {}),
    ('android:enabled="@bool/none"', ("enabled=@bool/none",), {}),
    ('android:exported="@bool/none"', ("exported=@bool/none",), {}),
    ('android:permission="@string/none"', ("permission=@string/none",), {}),
    ('android:enabled="maybe"', ("enabled=maybe",), {"enabled": True}),
    ('android:enabled="1"', ("enabled=1",), {"enabled": True}),
    ('android:enabled="${flag}"', ("enabled=${flag}",), {"enabled": True}),
    ('android:permission="@null"', (), {"permission": None}),
    ('android:permission="@empty"', (), {"permission": None}),
], ids=str)  # fmt: skip
def test_a_reference_that_leads_nowhere_and_a_flag_that_is_not_a_boolean_are_unresolved(
    own: str, unresolved: tuple[str, ...], read: dict[str, Any]
) -> None:
    item = component(source(own))
    assert item.unresolved == unresolved
    assert {name: getattr(item, name) for name in read} == read


def test_the_label_of_the_application_is_unresolved_too() -> None:
    application = source(whole='android:label="@string/none"')
    assert application.unresolved == ("label=@string/none",)
    assert component(application).unresolved == ()


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize(("own", "whole", "access"), [
    ("", 'android:permission="a.WHOLE"', {"permission": "a.WHOLE"}),
    ('android:permission="a.OWN"', 'android:permission="a.WHOLE"', {"permission": "a.OWN"}),
    ('android:permission=""', 'android:permission="a.WHOLE"', {}),
    ("", 'android:enabled="false"', {"enabled": False}),
    ('android:enabled="@bool/off_then_on"', 'android:enabled="false"', {"enabled": False}),
    ("", 'android:enabled="@bool/off_then_on"', {"enabled": BY_RELEASE}),
    ('android:exported="false"', "", {"exported": False}),
], ids=str)  # fmt: skip
def test_application_rules_are_inherited(reader: str, own: str, whole: str, access: dict[str, Any]) -> None:
    application = read(reader, manifest(service(own), application=whole))
    expected = ComponentAccess(**{"exported": None, **access})
    assert read_access(application, component(application)) == expected


def test_an_alias_does_not_have_the_permission_of_the_application() -> None:
    alias = '<activity-alias android:name=".A" android:targetActivity=".B" android:exported="true"/>'
    text = manifest(alias, application='android:permission="a.WHOLE"')
    application = application_from_tree({"AndroidManifest.xml": text.encode()})
    assert read_access(application, component(application)) == ComponentAccess()


@pytest.mark.parametrize(("element", "exported"), [
    ('<service android:name=".S"/>', False),
    ('<receiver android:name=".R"><intent-filter/></receiver>', None),
    ('<activity android:name=".A" android:exported="true"/>', True),
])  # fmt: skip
def test_a_component_without_a_filter_is_exported_only_where_it_states_that(
    element: str,
    exported: bool | None,  # noqa: FBT001
) -> None:
    application = application_from_tree({"AndroidManifest.xml": manifest(element).encode()})
    assert read_access(application, component(application)).exported is exported


S82, S83 = pytest.mark.row("S82"), pytest.mark.row("S83")
BY_RELEASE_31 = {
    "res/values/b.xml": '<bool name="b">true</bool>', "res/values-v31/b.xml": '<bool name="b">false</bool>'
}  # fmt: skip
NO_FOLDER_OF_ANDROID = {
    "res/values/b.xml": '<bool name="b">true</bool>', "res/values-x_y/b.xml": '<bool name="b">false</bool>'
}  # fmt: skip


def lost_rules(application: Application, **options: bool) -> list[tuple[str | None, Level, str]]:
    context = ReadingContext()
    report_unknown_attributes(application, component(application), context, **options)
    return [(finding.rule, finding.level, finding.message) for finding in context.findings]


@pytest.mark.parametrize(("own", "whole", "files", "access", "words"), [
    pytest.param('android:exported="@bool/none"', "", FILES, {"exported": False},
        "S82 android:exported of .S is @bool/none", marks=S82, id="exported names a missing boolean"),
    pytest.param('android:exported="maybe"', "", FILES, {"exported": False}, "S82 ", marks=S82,
        id="exported is not a boolean"),
    pytest.param('android:exported="@bool/off_then_on"', "", FILES, {"exported": False}, "S83 true in v36",
        marks=S83, id="exported differs by configuration"),
    pytest.param('android:exported="@bool/b"', "", BY_RELEASE_31, {"exported": False}, "S83 ", marks=S83,
        id="exported differs by release"),
    pytest.param('android:enabled="@bool/none"', "", FILES, {"enabled": False},
        "S82 android:enabled of .S is @bool/none", marks=S82, id="enabled names a missing boolean"),
    pytest.param('android:enabled="maybe"', "", FILES, {"enabled": False}, "S82 ", marks=S82,
        id="enabled is not a boolean"),
    pytest.param('android:enabled="@bool/b"', "", NO_FOLDER_OF_ANDROID, {"enabled": False}, "S82 ", marks=S82,
        id="enabled differs by an unknown folder"),
    pytest.param('android:permission="@string/none"', "", FILES, {"permission": "@string/none"},
        "S82 android:permission of .S is @string/none", marks=S82, id="permission names a missing text"),
    pytest.param("", 'android:enabled="@bool/none"', FILES, {"enabled": False},
        "S82 android:enabled of the application is @bool/none", marks=S82,
        id="enabled of the application names nothing"),
    pytest.param("", 'android:permission="@string/none"', FILES, {"permission": "@string/none"},
        "S82 android:permission of the application is @string/none", marks=S82,
        id="permission of the application names nothing"),
])  # fmt: skip
def test_a_rule_that_is_not_known_closes_the_component_and_is_reported(
    own: str, whole: str, files: dict[str, str], access: dict[str, Any], words: str
) -> None:
    application = source(own, whole, files)
    rules = read_access(application, component(application))
    assert {name: getattr(rules, name) for name in access} == access
    ((rule, level, message),) = lost_rules(application)
    expected_rule, _, part = words.partition(" ")
    expected_level = Level.READ if "permission" in access else Level.DROPPED
    assert (rule, level, part in message) == (expected_rule, expected_level, True)


@pytest.mark.parametrize(("sdk", "exported"), [(30, True), (31, False)], ids=["API 30", "API 31"])
def test_a_phone_decides_whether_a_component_is_exported(sdk: int, exported: bool) -> None:  # noqa: FBT001
    on_phone = source('android:exported="@bool/b"', files=BY_RELEASE_31).for_release(sdk)
    assert component(on_phone).exported_by_configuration == {}
    assert read_access(on_phone, component(on_phone)).exported is exported
    assert lost_rules(on_phone) == []


def test_a_phone_s_release_does_not_decide_what_depends_on_its_orientation() -> None:
    files = {name.replace("v31", "land"): text for name, text in BY_RELEASE_31.items()}
    application = source('android:exported="@bool/b"', files=files).for_release(36)
    assert read_access(application, component(application)).exported is False
    assert [item[:2] for item in lost_rules(application)] == [("S83", Level.DROPPED)]


@pytest.mark.row("S82")
@pytest.mark.parametrize(("value", "by_library", "enabled"), [
    ("@bool/none", True, True), ("@bool/none", False, False), ("maybe", True, False), ("maybe", False, False),
])  # fmt: skip
def test_only_a_library_enables_a_component_whose_value_is_not_known(
    value: str,
    by_library: bool,  # noqa: FBT001
    enabled: bool,  # noqa: FBT001
) -> None:
    application = source(f'android:enabled="{value}"')
    access = read_access(application, component(application), is_set_by_library=by_library)
    assert access.enabled is enabled
    lost = lost_rules(application, is_set_by_library=by_library)
    assert [item[:2] for item in lost] == [("S82", Level.DROPPED)]


def test_no_library_enables_an_application() -> None:
    application = source(whole='android:enabled="@bool/none"')
    assert read_access(application, component(application), is_set_by_library=True).enabled is False


def test_a_control_character_in_a_permission_leaves_the_component_closed() -> None:
    application = source('android:permission="a.CALL&#10;"')
    permission = read_access(application, component(application)).permission
    assert permission is not None
    assert permission.isprintable()

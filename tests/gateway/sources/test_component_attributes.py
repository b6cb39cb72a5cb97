"""Attributes of components that are resources: by configuration, missing, and inherited from the application.

The same project is read as a source tree and as an APK, packed by droidgate and, where it is there, by aapt2.
"""

from collections.abc import Mapping
from typing import Any

import pytest

from adapters.apk_reading.built_apks import apk_of
from droidgate.sources.android_project import application_from_tree
from droidgate_android.apk.apk_application import read_application
from droidgate_android.apk.pack import pack_project
from droidgate_android.apk.reader import open_apk
from droidgate_mappings.formats.application import Application, Component
from droidgate_mappings.formats.component_reading import read_access, report_unknown_attributes
from droidgate_mappings.formats.leniency import ReadingContext
from droidgate_mappings.model.capability import ComponentAccess
from droidgate_mappings.model.findings import Level
from droidgate_phone.sample_packages import signing_key
from requirements_of_tests import require

ANDROID = 'xmlns:android="http://schemas.android.com/apk/res/android"'
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
    sources = {name: kept.encode() for name, kept in files.items()}
    if reader == "tree":
        return application_from_tree(sources)
    if reader == "aapt2":
        require("aapt2")
    data = apk_of(files) if reader == "aapt2" else pack_project(sources, key=signing_key())
    with open_apk(data) as apk:
        return read_application(apk)


def component(application: Application) -> Component:
    (found,) = application.of_kind("service", "activity", "receiver")
    return found


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("name", ["off_then_on", "behind"])
def test_enabled_has_a_value_in_each_configuration(reader: str, name: str) -> None:
    application = read(reader, manifest(service(f'android:enabled="@bool/{name}"')))
    item = component(application)
    assert item.enabled is False
    assert item.enabled_by_configuration == BY_RELEASE
    assert item.unresolved == ()
    assert application.enabled_rule_of(item) == BY_RELEASE
    assert [component(application.for_release(sdk)).enabled for sdk in (35, 36, 37)] == [False, True, True]


@pytest.mark.parametrize("reader", READERS)
def test_a_boolean_that_is_the_same_everywhere_is_one_value(reader: str) -> None:
    item = component(read(reader, manifest(service('android:enabled="@bool/same"'))))
    assert (item.enabled, item.enabled_by_configuration) == (True, {})


@pytest.mark.parametrize("reader", READERS)
def test_exported_is_that_of_the_default_configuration(reader: str) -> None:
    application = read(reader, manifest(service('android:exported="@bool/off_then_on"')))
    item = component(application)
    assert item.exported is False
    assert item.exported_by_configuration == BY_RELEASE
    assert component(application.for_release(36)).exported is True


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
])  # fmt: skip
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
])  # fmt: skip
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
def test_a_component_without_a_filter_is_exported_only_if_it_says_so(
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
                 "S82 android:exported of .S is @bool/none", marks=S82),
    pytest.param('android:exported="maybe"', "", FILES, {"exported": False}, "S82 ", marks=S82),
    pytest.param('android:exported="@bool/off_then_on"', "", FILES, {"exported": False},
                 "S83 true in v36", marks=S83),
    pytest.param('android:exported="@bool/b"', "", BY_RELEASE_31, {"exported": False}, "S83 ", marks=S83),
    pytest.param('android:enabled="@bool/none"', "", FILES, {"enabled": False},
                 "S82 android:enabled of .S is @bool/none", marks=S82),
    pytest.param('android:enabled="maybe"', "", FILES, {"enabled": False}, "S82 ", marks=S82),
    pytest.param('android:enabled="@bool/b"', "", NO_FOLDER_OF_ANDROID, {"enabled": False},
                 "S82 ", marks=S82),
    pytest.param('android:permission="@string/none"', "", FILES, {"permission": "@string/none"},
                 "S82 android:permission of .S is @string/none", marks=S82),
    pytest.param("", 'android:enabled="@bool/none"', FILES, {"enabled": False},
                 "S82 android:enabled of the application is @bool/none", marks=S82),
    pytest.param("", 'android:permission="@string/none"', FILES, {"permission": "@string/none"},
                 "S82 android:permission of the application is @string/none", marks=S82),
])  # fmt: skip
def test_a_rule_that_is_not_known_closes_the_component_and_is_reported(
    own: str, whole: str, files: dict[str, str], access: dict[str, Any], words: str
) -> None:
    application = source(own, whole, files)
    found = read_access(application, component(application))
    assert {name: getattr(found, name) for name in access} == access
    ((rule, level, message),) = lost_rules(application)
    expected_rule, _, part = words.partition(" ")
    expected_level = Level.READ if "permission" in access else Level.DROPPED
    assert (rule, level, part in message) == (expected_rule, expected_level, True)


@pytest.mark.parametrize(("sdk", "exported"), [(30, True), (31, False)])
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

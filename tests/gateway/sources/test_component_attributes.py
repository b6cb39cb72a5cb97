"""Attributes of components that are resources: by configuration, missing, and inherited from the application.

The same project is read as a source tree and as an APK, packed by droidgate and, where it is there, by aapt2.
"""

from collections.abc import Mapping

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
from droidgate_phone.apps.sample_packages import signing_key
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


MISSING = {
    "label": "@string/none",
    "description": "@string/none",
    "enabled": "@bool/none",
    "exported": "@bool/none",
    "permission": "@string/none",
}


@pytest.mark.parametrize(("name", "value"), MISSING.items())
def test_a_reference_that_leads_nowhere_is_unresolved(name: str, value: str) -> None:
    application = application_from_tree(
        {"AndroidManifest.xml": manifest(service(f'android:{name}="{value}"')).encode()}
    )
    assert component(application).unresolved == (f"{name}={value}",)


@pytest.mark.parametrize("value", ["maybe", "1", "${flag}"])
def test_a_flag_that_is_not_a_boolean_is_unresolved(value: str) -> None:
    tree = {"AndroidManifest.xml": manifest(service(f'android:enabled="{value}"')).encode()}
    item = component(application_from_tree(tree))
    assert (item.enabled, item.unresolved) == (True, (f"enabled={value}",))


@pytest.mark.parametrize("value", ["@null", "@empty"])
def test_a_value_that_states_nothing_is_not_unresolved(value: str) -> None:
    item = component(
        application_from_tree(
            {"AndroidManifest.xml": manifest(service(f'android:permission="{value}"')).encode()}
        )
    )
    assert (item.permission, item.unresolved) == (None, ())


def test_a_component_whose_permission_is_not_known_stays_closed() -> None:
    tree = {"AndroidManifest.xml": manifest(service('android:permission="@string/none"')).encode()}
    application = application_from_tree(tree)
    assert read_access(application, component(application)).permission == "@string/none"


def test_the_label_of_the_application_is_unresolved_too() -> None:
    text = manifest(service(""), application='android:label="@string/none"')
    application = application_from_tree({"AndroidManifest.xml": text.encode()})
    assert application.unresolved == ("label=@string/none",)
    assert component(application).unresolved == ()


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize(
    ("own", "whole", "access"),
    [
        ("", 'android:permission="a.WHOLE"', ComponentAccess(exported=None, permission="a.WHOLE")),
        (
            'android:permission="a.OWN"',
            'android:permission="a.WHOLE"',
            ComponentAccess(exported=None, permission="a.OWN"),
        ),
        ('android:permission=""', 'android:permission="a.WHOLE"', ComponentAccess(exported=None)),
        ("", 'android:enabled="false"', ComponentAccess(exported=None, enabled=False)),
        (
            'android:enabled="@bool/off_then_on"',
            'android:enabled="false"',
            ComponentAccess(exported=None, enabled=False),
        ),
        ("", 'android:enabled="@bool/off_then_on"', ComponentAccess(exported=None, enabled=BY_RELEASE)),
        ('android:exported="false"', "", ComponentAccess(exported=False)),
    ],
)
def test_the_rules_of_the_application_hold_for_its_components(
    reader: str, own: str, whole: str, access: ComponentAccess
) -> None:
    application = read(reader, manifest(service(own), application=whole))
    assert read_access(application, component(application)) == access


def test_an_alias_does_not_have_the_permission_of_the_application() -> None:
    alias = '<activity-alias android:name=".A" android:targetActivity=".B" android:exported="true"/>'
    text = manifest(alias, application='android:permission="a.WHOLE"')
    application = application_from_tree({"AndroidManifest.xml": text.encode()})
    assert read_access(application, component(application)) == ComponentAccess()


@pytest.mark.parametrize(
    ("element", "exported"),
    [
        ('<service android:name=".S"/>', False),
        ('<receiver android:name=".R"><intent-filter/></receiver>', None),
        ('<activity android:name=".A" android:exported="true"/>', True),
    ],
)
def test_a_component_without_a_filter_is_exported_only_if_it_says_so(
    element: str,
    exported: bool | None,  # noqa: FBT001
) -> None:
    application = application_from_tree({"AndroidManifest.xml": manifest(element).encode()})
    assert read_access(application, component(application)).exported is exported


@pytest.mark.row("S82")
@pytest.mark.parametrize("name", ["enabled", "exported", "permission"])
def test_an_unknown_access_rule_is_reported(name: str) -> None:
    text = manifest(service(f'android:{name}="{MISSING[name]}"'))
    application = application_from_tree({"AndroidManifest.xml": text.encode()})
    context = ReadingContext()
    report_unknown_attributes(application, component(application), context)
    assert [finding.rule for finding in context.findings] == ["S82"]
    assert f"android:{name} of .S is {MISSING[name]}" in context.findings[0].message


@pytest.mark.row("S82")
@pytest.mark.parametrize("name", ["enabled", "permission"])
def test_an_unknown_access_rule_of_the_application_is_reported(name: str) -> None:
    text = manifest(service(""), application=f'android:{name}="{MISSING[name]}"')
    application = application_from_tree({"AndroidManifest.xml": text.encode()})
    context = ReadingContext()
    report_unknown_attributes(application, component(application), context)
    assert [finding.rule for finding in context.findings] == ["S82"]
    assert f"android:{name} of the application is {MISSING[name]}" in context.findings[0].message


@pytest.mark.row("S83")
def test_exported_by_configuration_is_reported() -> None:
    files = tree_of(manifest(service('android:exported="@bool/off_then_on"')))
    application = application_from_tree({name: kept.encode() for name, kept in files.items()})
    context = ReadingContext()
    report_unknown_attributes(application, component(application), context)
    assert [finding.rule for finding in context.findings] == ["S83"]
    assert "true in v36" in context.findings[0].message


def lost_rules(application: Application, **options: bool) -> list[tuple[str | None, Level]]:
    context = ReadingContext()
    report_unknown_attributes(application, component(application), context, **options)
    return [(finding.rule, finding.level) for finding in context.findings]


@pytest.mark.row("S82")
@pytest.mark.parametrize("attribute", ['android:exported="@bool/none"', 'android:exported="maybe"'])
def test_a_component_of_which_exported_is_not_known_is_closed(attribute: str) -> None:
    assert_closed(attribute, "S82")


@pytest.mark.row("S83")
@pytest.mark.parametrize(
    "attribute", ['android:exported="@bool/off_then_on"', 'android:exported="@bool/on_then_off"']
)
def test_a_component_that_is_exported_in_some_configurations_is_closed(attribute: str) -> None:
    assert_closed(attribute, "S83")


def assert_closed(attribute: str, row: str) -> None:
    files = {**FILES, "res/values/more.xml": '<bool name="on_then_off">true</bool>'}
    files["res/values-v31/more.xml"] = '<bool name="on_then_off">false</bool>'
    tree = tree_of(manifest(service(attribute)), files)
    application = application_from_tree({name: text.encode() for name, text in tree.items()})
    assert read_access(application, component(application)).exported is False
    assert lost_rules(application) == [(row, Level.DROPPED)]


@pytest.mark.parametrize(("sdk", "exported"), [(30, True), (31, False)])
def test_a_phone_decides_whether_a_component_is_exported(sdk: int, exported: bool) -> None:  # noqa: FBT001
    files = {
        "res/values/b.xml": '<bool name="b">true</bool>',
        "res/values-v31/b.xml": '<bool name="b">false</bool>',
    }
    tree = tree_of(manifest(service('android:exported="@bool/b"')), files)
    application = application_from_tree({name: text.encode() for name, text in tree.items()})
    on_phone = application.for_release(sdk)
    assert component(on_phone).exported_by_configuration == {}
    assert read_access(on_phone, component(on_phone)).exported is exported
    assert lost_rules(on_phone) == []


def test_a_phone_s_release_does_not_decide_what_depends_on_its_orientation() -> None:
    files = {
        "res/values/b.xml": '<bool name="b">true</bool>',
        "res/values-land/b.xml": '<bool name="b">false</bool>',
    }
    tree = tree_of(manifest(service('android:exported="@bool/b"')), files)
    application = application_from_tree({name: text.encode() for name, text in tree.items()}).for_release(36)
    assert read_access(application, component(application)).exported is False
    assert lost_rules(application) == [("S83", Level.DROPPED)]


@pytest.mark.row("S82")
@pytest.mark.parametrize(
    ("value", "by_library", "enabled"),
    [
        ("@bool/none", True, True),
        ("@bool/none", False, False),
        ("maybe", True, False),
        ("maybe", False, False),
    ],
)
def test_only_a_library_enables_a_component_whose_value_is_not_known(
    value: str,
    by_library: bool,  # noqa: FBT001
    enabled: bool,  # noqa: FBT001
) -> None:
    text = manifest(service(f'android:enabled="{value}"'))
    application = application_from_tree({"AndroidManifest.xml": text.encode()})
    access = read_access(application, component(application), is_set_by_library=by_library)
    assert access.enabled is enabled
    assert lost_rules(application, is_set_by_library=by_library) == [("S82", Level.DROPPED)]


def test_no_library_enables_an_application() -> None:
    text = manifest(service(""), application='android:enabled="@bool/none"')
    application = application_from_tree({"AndroidManifest.xml": text.encode()})
    assert read_access(application, component(application), is_set_by_library=True).enabled is False


@pytest.mark.row("S82")
def test_a_value_for_a_folder_that_android_does_not_have_closes_the_component() -> None:
    files = {
        "res/values/b.xml": '<bool name="b">true</bool>',
        "res/values-x_y/b.xml": '<bool name="b">false</bool>',
    }
    tree = tree_of(manifest(service('android:enabled="@bool/b"')), files)
    application = application_from_tree({name: text.encode() for name, text in tree.items()})
    assert read_access(application, component(application)).enabled is False
    assert lost_rules(application) == [("S82", Level.DROPPED)]


def test_a_control_character_in_a_permission_leaves_the_component_closed() -> None:
    text = manifest(service('android:permission="a.CALL&#10;"'))
    application = application_from_tree({"AndroidManifest.xml": text.encode()})
    permission = read_access(application, component(application)).permission
    assert permission is not None
    assert permission.isprintable()

"""Finding Mobile-MCP services in an app: section 1.1, and what apps do instead."""

from pathlib import Path

import pytest

from adapters.mobile_mcp.tools import (
    ACTION,
    CAPABILITIES,
    DESCRIPTION,
    FULL,
    NAME,
    OLDER_ACTION,
    SWITCH,
    descriptor,
    manifest,
    read_app,
    rows_of,
    service,
)
from droidgate.sources import read_source
from droidgate_mappings.model.capability import ComponentAccess
from droidgate_mappings.model.errors import InputError

OLDER = {"mcp.application.name": "Old lamp", "mcp.application.description": "Switches it"}
OLDER_TEXTS = "".join(
    f'<meta-data android:name="{name}" android:value="{text}"/>' for name, text in OLDER.items()
)
OLDER_CAPABILITIES = '<meta-data android:name="mcp.capabilities" android:resource="@xml/mcp_capabilities"/>'
OLDER_FILE = {"res/xml/mcp_capabilities.xml": descriptor(SWITCH, root="mcp")}


def test_a_service_of_section_1_1_is_read_strictly_and_whole() -> None:
    (provider,) = read_app(
        service(NAME, DESCRIPTION, CAPABILITIES, attributes='android:exported="true"'), strict=True
    ).providers
    assert (provider.package, provider.component) == ("com.example.lamp", ".LampService")
    assert (provider.name, provider.description, provider.dialect) == ("Lamp", "Switches the lamp", "1.0")
    assert [item.id for item in provider.capabilities] == ["dim", "off"]
    assert provider.extensions == {}
    assert provider.source is not None
    assert provider.source.path == "res/xml/mcp_capabilities.xml"


def test_a_service_of_the_time_before_the_specification_is_read_strictly() -> None:
    reading = read_app(
        service(OLDER_TEXTS, OLDER_CAPABILITIES, action=OLDER_ACTION, attributes='android:exported="true"'),
        files=OLDER_FILE,
        strict=True,
    )
    (provider,) = reading.providers
    assert (provider.dialect, provider.name, provider.description) == ("pre-spec", "Old lamp", "Switches it")
    assert provider.extensions == {}


def test_texts_by_reference_are_resolved_in_the_default_locale() -> None:
    files = {
        "res/xml/mcp_capabilities.xml": FULL,
        "res/values/strings.xml": '<resources><string name="n">It\\\'s a lamp</string></resources>',
        "res/values-de/strings.xml": '<resources><string name="n">Lampe</string></resources>',
    }
    name = NAME.replace("Lamp", "@string/n")
    (provider,) = read_app(service(name, DESCRIPTION, CAPABILITIES), files=files, strict=True).providers
    assert provider.name == "It's a lamp"


TWO_FILES = {"res/xml/mcp_capabilities.xml": FULL, "res/xml/other.xml": "<tools/>"}
OTHER_CAPABILITIES = CAPABILITIES.replace("mcp_capabilities", "other")


def test_a_service_that_cannot_be_read_does_not_take_the_others_with_it() -> None:
    unreadable = service(NAME, DESCRIPTION, OTHER_CAPABILITIES, name=".Other")
    reading = read_app(unreadable, service(NAME, DESCRIPTION, CAPABILITIES), files=TWO_FILES)
    assert [provider.component for provider in reading.providers] == [".LampService"]
    (problem,) = reading.problems
    assert "<tools>" in problem.message
    assert problem.place == "res/xml/other.xml:1"


def test_a_named_manifest_gives_what_can_be_read_and_says_the_rest(tmp_path: Path) -> None:
    unreadable = service(NAME, DESCRIPTION, OTHER_CAPABILITIES, name=".Other")
    texts = {
        "AndroidManifest.xml": manifest(unreadable, service(NAME, DESCRIPTION, CAPABILITIES)),
        **TWO_FILES,
    }
    for name, text in texts.items():
        file = tmp_path / "app" / "src" / "main" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    for source in (tmp_path, tmp_path / "app" / "src" / "main" / "AndroidManifest.xml"):
        reading = read_source(str(source))
        assert [provider.component for provider in reading.providers if provider.component] == [
            ".LampService"
        ]
        assert any("<tools>" in problem.message for problem in reading.problems)


def test_the_only_service_has_to_be_readable_and_so_has_every_one_in_a_strict_reading() -> None:
    unreadable = service(NAME, DESCRIPTION, OTHER_CAPABILITIES, name=".Other")
    with pytest.raises(InputError, match="<tools>"):
        read_app(unreadable, files=TWO_FILES)
    with pytest.raises(InputError, match="<tools>"):
        read_app(service(NAME, DESCRIPTION, CAPABILITIES), unreadable, files=TWO_FILES, strict=True)


@pytest.mark.row("M12")
@pytest.mark.parametrize("attribute", ["value", "resource"])
def test_a_name_whose_reference_leads_nowhere_is_reported_and_the_package_is_used_for_it(
    attribute: str,
) -> None:
    name = NAME.replace('value="Lamp"', f'{attribute}="@string/built_later"')
    reading = read_app(service(name, DESCRIPTION, CAPABILITIES))
    assert reading.providers[0].name == "com.example.lamp"
    (reported,) = [finding for finding in reading.findings if finding.rule == "M12"]
    assert "@string/built_later, which is not there" in reported.message


def test_what_a_call_needs_to_know_about_the_service_is_kept() -> None:
    attributes = (
        'android:exported="false" android:enabled="false" android:permission="a.b.CALL" '
        'android:foregroundServiceType="dataSync"'
    )
    (provider,) = read_app(service(NAME, DESCRIPTION, CAPABILITIES, attributes=attributes)).providers
    assert provider.access == ComponentAccess(exported=False, enabled=False, permission="a.b.CALL")
    assert provider.extensions["mobile-mcp"] == {"foregroundServiceType": "dataSync"}


def test_a_descriptor_of_another_name_is_followed_and_its_name_kept() -> None:
    files = {"res/xml/mcp_capabilities.xml": descriptor(), "res/xml/tools.xml": FULL}
    (provider,) = read_app(
        service(NAME, DESCRIPTION, CAPABILITIES.replace("mcp_capabilities", "tools")), files=files
    ).providers
    assert len(provider.capabilities) == 2
    assert provider.extensions["mobile-mcp"]["resource"] == "@xml/tools"


@pytest.mark.row("M11")
def test_older_meta_data_next_to_a_specified_descriptor_are_read() -> None:
    reading = read_app(service(OLDER_TEXTS, OLDER_CAPABILITIES))
    (provider,) = reading.providers
    assert (provider.dialect, provider.name) == ("1.0", "Old lamp")
    assert provider.extensions["mobile-mcp"]["keys"] == {
        "name": "mcp.application.name",
        "description": "mcp.application.description",
        "capabilities": "mcp.capabilities",
    }
    assert rows_of(reading) == ["M11"]


@pytest.mark.row("M11")
def test_an_older_action_next_to_a_specified_descriptor_is_read() -> None:
    reading = read_app(service(NAME, DESCRIPTION, CAPABILITIES, action=OLDER_ACTION))
    assert reading.providers[0].dialect == "1.0"
    assert rows_of(reading) == ["M11"]


@pytest.mark.row("M11")
def test_older_meta_data_at_the_application_are_read() -> None:
    reading = read_app(OLDER_CAPABILITIES, service(OLDER_TEXTS, action=OLDER_ACTION), files=OLDER_FILE)
    assert reading.providers[0].extensions["mobile-mcp"]["at-application"] == ["capabilities"]
    assert rows_of(reading) == ["M11"]


@pytest.mark.row("M12")
@pytest.mark.parametrize(("value", "text"), [
    ("2048", "2048"),
    ("true", "true"),
    ("TRUE", "true"),
    ("1.5", "1.5"),
    ("2.1", "2.1"),
    ("0.1", "0.1"),
    ("1e2", "1e2"),
    ("1e10", "1e10"),
    ("16777217.0", "1.6777216E7"),
    ("0.0001", "1.0E-4"),
    ("007", "7"),
    ("0x1F", "31"),
    ("0xffffffff", "-1"),
    ("#fff", "-1"),
])  # fmt: skip
def test_a_name_that_a_device_types_is_the_text_that_java_prints(value: str, text: str) -> None:
    reading = read_app(service(NAME.replace("Lamp", value), DESCRIPTION, CAPABILITIES))
    assert reading.providers[0].name == text
    assert rows_of(reading) == ["M12"]
    # The digits of the source stay in the report.
    assert text == value or f"({value} in the manifest)" in reading.findings[0].message


@pytest.mark.parametrize("value", ["10dp", "50%"])
def test_a_dimension_is_a_text_in_a_manifest(value: str) -> None:
    reading = read_app(service(NAME.replace("Lamp", value), DESCRIPTION, CAPABILITIES))
    assert (reading.providers[0].name, rows_of(reading)) == (value, [])


@pytest.mark.row("M12")
@pytest.mark.parametrize(
    ("resource", "name"), [('<bool name="n">true</bool>', "true"), ('<integer name="n">0x1F</integer>', "31")]
)
def test_a_name_that_is_a_resource_of_another_kind_is_text(resource: str, name: str) -> None:
    assert name_in_resource(resource, resource[1:].partition(" ")[0]) == name


def test_a_name_that_is_an_item_of_the_kind_string_is_its_text() -> None:
    assert name_in_resource('<item type="string" name="n">2.10</item>', "string") == "2.10"


def name_in_resource(resource: str, kind: str) -> str | None:
    files = {"res/xml/mcp_capabilities.xml": FULL, "res/values/s.xml": f"<resources>{resource}</resources>"}
    named = NAME.replace("Lamp", f"@{kind}/n")
    return read_app(service(named, DESCRIPTION, CAPABILITIES), files=files).providers[0].name


def test_a_label_whose_string_is_missing_is_reported() -> None:
    attributes = (
        'android:exported="true" android:label="@string/none" android:foregroundServiceType="dataSync"'
    )
    needed = read_app(service(DESCRIPTION, CAPABILITIES, attributes=attributes))
    assert rows_of(needed) == ["S82", "M12"]
    assert "android:label of .LampService is @string/none" in needed.findings[0].message
    whole = read_app(service(DESCRIPTION, CAPABILITIES), attributes='android:label="@string/none"')
    assert rows_of(whole) == ["S82", "M12"]
    assert "android:label of the application is @string/none" in whole.findings[0].message
    # The service's own label is reported always, that of the application where it would stand for the name.
    assert rows_of(read_app(service(NAME, DESCRIPTION, CAPABILITIES, attributes=attributes))) == ["S82"]
    named = read_app(service(NAME, DESCRIPTION, CAPABILITIES), attributes='android:label="@string/none"')
    assert rows_of(named) == []


@pytest.mark.parametrize(("attribute", "message"), [
    ('android:enabled="@bool/none"', "android:enabled of .LampService is @bool/none"),
    ('android:exported="${exported}"', "android:exported of .LampService is ${exported}"),
    ('android:permission="@string/none"', "android:permission of .LampService is @string/none"),
])  # fmt: skip
def test_an_access_rule_that_is_not_known_is_reported(attribute: str, message: str) -> None:
    reading = read_app(service(NAME, DESCRIPTION, CAPABILITIES, attributes=attribute))
    assert rows_of(reading) == ["S82"]
    assert message in reading.findings[0].message


def test_exported_by_configuration_is_reported() -> None:
    files = {
        "res/xml/mcp_capabilities.xml": FULL,
        "res/values/b.xml": '<resources><bool name="b">false</bool></resources>',
        "res/values-v36/b.xml": '<resources><bool name="b">true</bool></resources>',
    }
    attributes = 'android:exported="@bool/b"'
    reading = read_app(service(NAME, DESCRIPTION, CAPABILITIES, attributes=attributes), files=files)
    assert reading.providers[0].access == ComponentAccess(exported=False)
    assert rows_of(reading) == ["S83"]
    assert "false in the default configuration, true in v36" in reading.findings[0].message


def test_the_rules_of_the_application_hold_for_its_service() -> None:
    (provider,) = read_app(
        service(NAME, DESCRIPTION, CAPABILITIES),
        attributes='android:permission="a.WHOLE" android:enabled="false"',
    ).providers
    assert provider.access == ComponentAccess(enabled=False, permission="a.WHOLE")
    assert provider.extensions["mobile-mcp"]["application-access"] == ["enabled", "permission"]


@pytest.mark.row("M12")
def test_a_name_given_as_a_resource_is_resolved() -> None:
    files = {
        "res/xml/mcp_capabilities.xml": FULL,
        "res/values/s.xml": '<resources><string name="n">A lamp</string></resources>',
    }
    name = NAME.replace('android:value="Lamp"', 'android:resource="@string/n"')
    reading = read_app(service(name, DESCRIPTION, CAPABILITIES), files=files)
    assert reading.providers[0].name == "A lamp"
    assert rows_of(reading) == ["M12"]


@pytest.mark.row("M12")
@pytest.mark.parametrize(("of_service", "of_application", "name"), [
    ('android:label="Own"', 'android:label="App"', "Own"),
    ("", 'android:label="App"', "App"),
    ("", "", "com.example.lamp"),
])  # fmt: skip
def test_label_and_then_package_are_used_for_a_missing_name(
    of_service: str, of_application: str, name: str
) -> None:
    attributes = f'android:exported="true" {of_service}'
    reading = read_app(service(DESCRIPTION, CAPABILITIES, attributes=attributes), attributes=of_application)
    assert reading.providers[0].name == name
    assert rows_of(reading) == ["M12"]


@pytest.mark.row("M12")
def test_the_app_s_description_is_used_for_a_missing_one() -> None:
    reading = read_app(service(NAME, CAPABILITIES), attributes='android:description="@string/about"', files={
        "res/xml/mcp_capabilities.xml": FULL,
        "res/values/s.xml": '<resources><string name="about">About lamps</string></resources>',
    })  # fmt: skip
    assert reading.providers[0].description == "About lamps"
    assert rows_of(reading) == ["M12"]


@pytest.mark.row("M12")
def test_references_inside_the_descriptor_are_resolved() -> None:
    files = {
        "res/xml/mcp_capabilities.xml": descriptor(
            '<capability id="c" description="@string/about" version="1"/>'
        ),
        "res/values/s.xml": '<resources><string name="about">Lights</string></resources>',
    }
    reading = read_app(service(NAME, DESCRIPTION, CAPABILITIES), files=files)
    assert reading.providers[0].capabilities[0].description == "Lights"
    assert rows_of(reading) == ["M12"]


@pytest.mark.row("M13")
def test_each_of_several_services_is_a_provider() -> None:
    reading = read_app(
        service(NAME, DESCRIPTION, CAPABILITIES, name=".One"),
        service(NAME, DESCRIPTION, CAPABILITIES, name=".Two"),
    )
    assert [provider.component for provider in reading.providers] == [".One", ".Two"]
    assert rows_of(reading) == ["M13"]


@pytest.mark.row("M64")
@pytest.mark.parametrize("given", ["", CAPABILITIES.replace("mcp_capabilities", "gone")])
def test_a_service_without_descriptor_is_left_out(given: str) -> None:
    reading = read_app(
        service(NAME, DESCRIPTION, given, name=".Bare"),
        service(NAME, DESCRIPTION, CAPABILITIES, name=".Full"),
    )
    assert [provider.component for provider in reading.providers] == [".Full"]
    assert rows_of(reading) == ["M64"]


@pytest.mark.row("M65")
def test_a_descriptor_given_as_value_is_read() -> None:
    reading = read_app(service(NAME, DESCRIPTION, CAPABILITIES.replace("android:resource", "android:value")))
    assert len(reading.providers[0].capabilities) == 2
    assert rows_of(reading) == ["M65"]


@pytest.mark.row("M66")
def test_a_raw_descriptor_is_read_as_it_is() -> None:
    text = descriptor(r'<capability id="c" description="It\&apos;s 007" version="1.10"/>')
    reading = read_app(
        service(NAME, DESCRIPTION, CAPABILITIES.replace("@xml", "@raw")),
        files={"res/raw/mcp_capabilities.xml": text},
    )
    (capability,) = reading.providers[0].capabilities
    assert (capability.description, capability.version) == (r"It\'s 007", "1.10")
    assert rows_of(reading) == ["M66"]


def test_other_services_and_apps_without_one_give_nothing() -> None:
    assert read_app(service(NAME, DESCRIPTION, CAPABILITIES, action="other.ACTION")).providers == ()
    assert read_app().providers == ()


def test_a_descriptor_that_cannot_be_read_is_reported_with_its_place() -> None:
    with pytest.raises(InputError, match=r"^res/xml/mcp_capabilities\.xml:1"):
        read_app(service(NAME, DESCRIPTION, CAPABILITIES), files={"res/xml/mcp_capabilities.xml": "<mcp>"})


def test_the_action_is_the_specification_s() -> None:
    assert ACTION == "mobile.mcp.SERVICE"

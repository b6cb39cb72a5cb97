"""Components that advertise: where the manifest may be, and what else calls need."""

import json

import pytest

from adapters.mmcp.mmcp_apps import (
    ADVERTISE,
    CALL,
    GREET,
    application,
    artifact,
    component_xml,
    manifest_of,
    only,
    read_app,
    read_json,
    rows_of,
    value_xml,
)
from droidgate_mappings.model.capability import ComponentAccess
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.model.findings import Level
from droidgate_mmcp.format import FORMAT

VALUE = value_xml(manifest_of(GREET))


def test_an_activity_is_a_provider() -> None:
    reading = read_app(
        application(component_xml(VALUE, attributes='android:exported="true" android:label="Greeter"')),
        strict=True,
    )
    assert not reading.findings
    provider = only(reading)
    assert (provider.package, provider.component, provider.name) == ("com.example.app", ".Tools", "Greeter")
    assert provider.instructions == "Greets"
    assert [item.id for item in provider.capabilities] == ["greet"]
    assert provider.source is not None
    assert provider.source.line
    assert provider.extensions == {}


def test_json_over_many_lines_in_single_quotes_is_read_as_in_section_2() -> None:
    text = json.dumps(manifest_of(GREET), indent=10)
    reading = read_app(application(component_xml(f"android:value='{text}'")), strict=True)
    assert only(reading).capabilities[0].id == "greet"


def test_two_filters_are_as_good_as_one() -> None:
    second = f'<intent-filter><action android:name="{CALL}"/></intent-filter>'
    activity = component_xml(VALUE, actions=(ADVERTISE,)).replace("<meta-data", f"{second}<meta-data")
    assert rows_of(read_app(application(activity))) == []


def test_what_escapes_say_is_what_a_device_sees() -> None:
    text = 'a "quoted" \\ word,\nanother line, \u00fc and \U0001f600'
    reading = read_app(
        application(component_xml(value_xml(manifest_of(GREET, instructions=text)))), strict=True
    )
    assert only(reading).instructions == text


def test_other_components_are_no_providers() -> None:
    assert (
        read_app(application(component_xml(VALUE, actions=("android.intent.action.MAIN",)))).providers == ()
    )


@pytest.mark.row("M35")
def test_a_string_resource_may_hold_the_manifest() -> None:
    text = json.dumps(manifest_of(GREET)).replace('"', '\\"')
    files = {"res/values/tools.xml": f'<resources><string name="tools">"{text}"</string></resources>'}
    for meta_data in ('android:value="@string/tools"', 'android:resource="@string/tools"'):
        reading = read_app(application(component_xml(meta_data), **files))
        assert rows_of(reading) == ["M35"]
        assert only(reading).capabilities[0].id == "greet"


@pytest.mark.row("M35")
def test_a_raw_resource_may_hold_the_manifest() -> None:
    files = {"res/raw/tools.json": json.dumps(manifest_of(GREET))}
    reading = read_app(application(component_xml('android:resource="@raw/tools"'), **files))
    assert rows_of(reading) == ["M35"]
    assert only(reading).capabilities[0].id == "greet"


@pytest.mark.row("M39")
@pytest.mark.parametrize(("xml", "reported"), [
    (component_xml(VALUE, actions=(ADVERTISE,)), CALL),
    (component_xml(VALUE, categories=()), "DEFAULT"),
    (component_xml(VALUE, attributes=""), "exported"),
])  # fmt: skip
def test_what_calls_need_is_reported_where_it_is_missing(xml: str, reported: str) -> None:
    reading = read_app(application(xml))
    assert rows_of(reading) == ["M39"]
    assert reported in reading.findings[0].message
    assert only(reading).capabilities


def test_what_keeps_callers_out_is_kept() -> None:
    attributes = 'android:exported="false" android:enabled="false" android:permission="a.b.CALL"'
    provider = only(read_app(application(component_xml(VALUE, attributes=attributes))))
    assert provider.access == ComponentAccess(exported=False, enabled=False, permission="a.b.CALL")
    assert provider.extensions == {}


def test_an_activity_that_does_not_state_exported_is_written_without_it() -> None:
    provider = only(read_app(application(component_xml(VALUE, attributes=""))))
    assert provider.access.exported is None
    assert FORMAT.write is not None
    writing = FORMAT.write(provider, FORMAT.dialect("1.0"))
    assert "exported" not in artifact(writing, "AndroidManifest.xml")
    assert writing.findings == ()


def test_the_json_of_a_manifest_has_no_access_rules() -> None:
    assert FORMAT.write is not None
    provider = only(read_json(manifest_of(GREET)))
    assert provider.access == ComponentAccess()
    closed = provider.model_copy(update={"access": ComponentAccess(exported=False, permission="a.CALL")})
    writing = FORMAT.write(closed, FORMAT.dialect("1.0"))
    assert writing.provider.access == ComponentAccess()
    assert {(finding.pointer, finding.level) for finding in writing.findings} == {
        ("/access/exported", Level.SECURITY),
        ("/access/permission", Level.SECURITY),
    }


def test_a_label_whose_string_is_missing_is_reported() -> None:
    attributes = 'android:exported="true" android:label="@string/none"'
    reading = read_app(application(component_xml(VALUE, attributes=attributes)))
    assert rows_of(reading) == ["S82"]
    assert "android:label of .Tools is @string/none" in reading.findings[0].message
    assert only(reading).name is None


@pytest.mark.row("M42")
def test_a_service_is_read_and_marked_as_not_callable() -> None:
    reading = read_app(application(component_xml(VALUE, element="service")))
    assert rows_of(reading) == ["M42"]
    assert only(reading).extensions == {"mmcp": {"element": "service"}}


def test_the_draft_allows_a_service() -> None:
    draft = {"appDescription": "Greets", "protocolVersion": "1.0", "tools": [GREET]}
    reading = read_app(application(component_xml(value_xml(draft), element="service")), strict=True)
    assert only(reading).extensions == {"mmcp": {"element": "service"}}


@pytest.mark.row("S54")
def test_a_component_without_a_manifest_is_passed_over() -> None:
    reading = read_app(application(component_xml(None)))
    assert reading.providers == ()
    assert rows_of(reading) == ["S54"]


def test_a_receiver_of_broadcasts_is_named() -> None:
    receiver = (
        '<receiver android:name=".Tools" android:exported="true"><intent-filter>'
        '<action android:name="com.example.ACTION_MMCP_DISCOVERY"/></intent-filter></receiver>'
    )
    reading = read_app(application(receiver))
    assert reading.providers == ()
    (finding,) = reading.findings
    assert (finding.code, finding.level) == ("tools-not-in-files", Level.NOTE)


def test_json_that_lost_its_backslashes_is_refused_with_the_reason() -> None:
    text = json.dumps(manifest_of(GREET, instructions='say "hello"'))
    with pytest.raises(InputError) as caught:
        read_app(application(component_xml(f"android:value='{text}'")))
    assert caught.value.hint is not None
    assert "double-escaped for aapt" in caught.value.hint


@pytest.mark.parametrize(("meta_data", "message"), [
    ('android:value="5"', "is the integer 5"),
    ('android:value="true"', "is the boolean true"),
    ('android:value="1.5"', "is the number 1.5"),
    ('android:value="2.1"', "is the number 2.1,"),
    ('android:value="1e10"', "is the number 1.0E10"),
    ("", "has no value"),
    ('android:resource="@raw/none"', "not among the resources"),
    ('android:resource="@string/none"', "not among the resources"),
    ('android:value="nothing"', "not JSON"),
])  # fmt: skip
def test_meta_data_without_a_manifest_is_refused(meta_data: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_app(application(component_xml(meta_data)))


def test_a_manifest_that_cannot_be_read_does_not_take_the_others_with_it() -> None:
    unreadable = component_xml("android:value='{}'").replace(".Tools", ".Other")
    reading = read_app(application(unreadable, component_xml(VALUE)))
    assert only(reading).component == ".Tools"
    (problem,) = reading.problems
    assert "`tools`" in problem.message


def test_the_only_manifest_has_to_be_readable_and_so_has_every_one_in_a_strict_reading() -> None:
    unreadable = component_xml("android:value='{}'").replace(".Tools", ".Other")
    with pytest.raises(InputError, match="`tools`"):
        read_app(application(unreadable))
    with pytest.raises(InputError):
        read_app(application(component_xml(VALUE), unreadable), strict=True)


@pytest.mark.parametrize(("meta_data", "message", "hint"), [
    ('android:value="@string/later"', "names @string/later, which is not among", "android:value"),
    ('android:value="@raw/tools"', "of which a device sees the path", 'android:resource="@raw/tools"'),
    ('android:value="${mmcpManifest}"', "not JSON", "the build fills in"),
    ('android:value=""', "not JSON", ""),
])  # fmt: skip
def test_a_manifest_that_is_not_there_is_refused_with_the_way_out(
    meta_data: str, message: str, hint: str
) -> None:
    app = application(component_xml(meta_data), **{"res/raw/tools.json": json.dumps(manifest_of(GREET))})
    with pytest.raises(InputError, match=message) as refused:
        read_app(app)
    assert hint in (refused.value.hint or "")

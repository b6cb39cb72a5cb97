"""Components that advertise: where the manifest may be, and what else calls need."""

import json
from typing import Any

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
from droidgate_mappings.formats.leniency import ReadingContext
from droidgate_mappings.model.capability import ComponentAccess, Place
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.model.findings import Level
from droidgate_mmcp.discovery import read_discovery
from mappings.fit.capacities import facts_of, write_for
from titled_rows import titled

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


def test_other_components_are_no_providers() -> None:
    assert (
        read_app(application(component_xml(VALUE, actions=("android.intent.action.MAIN",)))).providers == ()
    )


def test_an_activity_that_does_not_state_exported_is_written_without_it() -> None:
    provider = only(read_app(application(component_xml(VALUE, attributes=""))))
    assert provider.access.exported is None
    writing = write_for(provider, "mmcp+1.0")
    assert "exported" not in artifact(writing, "AndroidManifest.xml")
    assert writing.findings == ()


def test_the_json_of_a_manifest_has_no_access_rules() -> None:
    provider = only(read_json(manifest_of(GREET)))
    assert provider.access == ComponentAccess()
    closed = provider.model_copy(update={"access": ComponentAccess(exported=False, permission="a.CALL")})
    writing = write_for(closed, "mmcp+1.0")
    assert writing.provider.access == ComponentAccess()
    lost = {pointer: level for pointer, (_, level) in facts_of(writing, "/access/").items()}
    assert lost == {"exported": Level.SECURITY, "permission": Level.SECURITY}


JSON = json.dumps(manifest_of(GREET))
STRING_TOOLS = (
    f'<resources><string name="tools">"{JSON.replace(chr(34), chr(92) + chr(34))}"</string></resources>'
)
STRINGS = {"res/values/tools.xml": STRING_TOOLS}
ADVERTISES = component_xml(VALUE, actions=(ADVERTISE,))
SECOND = f'<intent-filter><action android:name="{CALL}"/></intent-filter>'
DRAFT = {"appDescription": "Greets", "protocolVersion": "1.0", "tools": [GREET]}
HARD = 'a "quoted" \\ word,\nanother line, \u00fc and \U0001f600'
CLOSED = 'android:exported="false" android:enabled="false" android:permission="a.b.CALL"'
NO_LABEL = 'android:exported="true" android:label="@string/none"'
M35, M39, M42 = pytest.mark.row("M35"), pytest.mark.row("M39"), pytest.mark.row("M42")


def case(
    title: str, component: str, row: pytest.MarkDecorator | None = None, *, noted: str = "",
    message: str = "", files: dict[str, str] | None = None, **expected: Any,
) -> Any:  # fmt: skip
    """Return the case of an app with one component: what is read of it, and the row that lets it in."""
    rows = [noted] if noted else [] if row is None else list(row.args)
    marks = () if row is None else (row,)
    return pytest.param(component, files or {}, rows, message, expected, id=title, marks=marks)


@pytest.mark.parametrize(("component", "files", "rows", "message", "expected"), [
    case("a string as the value", component_xml('android:value="@string/tools"'), M35, files=STRINGS),
    case("a string as the resource", component_xml('android:resource="@string/tools"'), M35, files=STRINGS),
    case("a raw resource", component_xml('android:resource="@raw/tools"'), M35,
        files={"res/raw/tools.json": JSON}),
    case("without the CALL action", ADVERTISES, M39, message=CALL),
    case("without the DEFAULT category", component_xml(VALUE, categories=()), M39, message="DEFAULT"),
    case("without exported", component_xml(VALUE, attributes=""), M39, message="exported"),
    case("a service is marked as not callable", component_xml(VALUE, element="service"), M42,
        extensions={"mmcp": {"element": "service"}}),
    case("the draft allows a service", component_xml(value_xml(DRAFT), element="service"),
        extensions={"mmcp": {"element": "service"}}),
    case("two filters are as good as one", ADVERTISES.replace("<meta-data", f"{SECOND}<meta-data")),
    case("JSON over many lines in single quotes, as in section 2",
        component_xml(f"android:value='{json.dumps(manifest_of(GREET), indent=10)}'")),
    case("what escapes say is what a device sees",
        component_xml(value_xml(manifest_of(GREET, instructions=HARD))), instructions=HARD),
    case("what keeps callers out is kept", component_xml(VALUE, attributes=CLOSED), extensions={},
        access=ComponentAccess(exported=False, enabled=False, permission="a.b.CALL")),
    case("a label whose string is missing", component_xml(VALUE, attributes=NO_LABEL), noted="S82",
        message="android:label of .Tools is @string/none", name=None),
])  # fmt: skip
def test_a_component_is_read_by_its_row(
    component: str, files: dict[str, str], rows: list[str], message: str, expected: dict[str, Any]
) -> None:
    app = application(component, **files)
    reading = read_app(app, strict=not rows and "false" not in component)
    assert rows_of(reading) == rows
    assert not message or message in reading.findings[0].message
    provider = dict(only(reading))
    assert [item.id for item in only(reading).capabilities] == ["greet"]
    assert {word: provider[word] for word in expected} == expected


@pytest.mark.row("S54")
def test_a_component_without_a_manifest_is_passed_over_and_dropped() -> None:
    reading = read_app(application(component_xml(None)))
    assert reading.providers == ()
    assert [(finding.rule, finding.level) for finding in reading.findings] == [("S54", Level.DROPPED)]


def test_a_receiver_of_broadcasts_is_named() -> None:
    receiver = (
        '<receiver android:name=".Tools" android:exported="true"><intent-filter>'
        '<action android:name="com.example.ACTION_MMCP_DISCOVERY"/></intent-filter></receiver>'
    )
    reading = read_app(application(receiver))
    assert reading.providers == ()
    (finding,) = reading.findings
    assert (finding.code, finding.level) == ("tools-not-in-files", Level.NOTE)


UNREADABLE = component_xml("android:value='{}'").replace(".Tools", ".Other")


def test_a_manifest_that_cannot_be_read_leaves_the_others_readable() -> None:
    reading = read_app(application(UNREADABLE, component_xml(VALUE)))
    assert only(reading).component == ".Tools"
    (problem,) = reading.problems
    assert "`tools`" in problem.message


def test_the_only_manifest_has_to_be_readable_and_so_has_every_one_in_a_strict_reading() -> None:
    with pytest.raises(InputError, match="`tools`"):
        read_app(application(UNREADABLE))
    with pytest.raises(InputError):
        read_app(application(component_xml(VALUE), UNREADABLE), strict=True)


UNESCAPED = json.dumps(manifest_of(GREET, instructions='say "hello"'))


@titled(("meta_data", "message", "hint"), {
    "an integer": ('android:value="5"', "is the integer 5", ""),
    "a boolean": ('android:value="true"', "is the boolean true", ""),
    "a number with one digit behind the point": ('android:value="1.5"', "is the number 1.5", ""),
    "a number that a float does not hold": ('android:value="2.1"', "is the number 2.1,", ""),
    "an exponent": ('android:value="1e10"', "is the number 1.0E10", ""),
    "no value": ("", "has no value", ""),
    "a raw resource that is not there": ('android:resource="@raw/none"', "not among the resources", ""),
    "a string resource that is not there": ('android:resource="@string/none"', "not among the resources", ""),
    "a text that is not JSON": ('android:value="nothing"', "not JSON", ""),
    "a reference inside a value that leads nowhere":
        ('android:value="@string/later"', "names @string/later, which is not among", "android:value"),
    "a raw resource as a value":
        ('android:value="@raw/tools"', "of which a device sees the path", 'android:resource="@raw/tools"'),
    "a placeholder of the build": ('android:value="${mmcpManifest}"', "not JSON", "the build fills in"),
    "an empty value": ('android:value=""', "not JSON", ""),
    "JSON that lost its backslashes": (f"android:value='{UNESCAPED}'", "not JSON", "double-escaped for aapt"),
})  # fmt: skip
def test_a_manifest_that_is_not_there_is_refused_with_the_fix(
    meta_data: str, message: str, hint: str
) -> None:
    app = application(component_xml(meta_data), **{"res/raw/tools.json": JSON})
    with pytest.raises(InputError, match=message) as refused:
        read_app(app)
    assert hint in (refused.value.hint or "")


def test_parameters_that_cannot_be_read_are_dropped() -> None:
    context = ReadingContext()
    answer = {"tools": ["bad"], "bad.parameters": "{"}
    read_discovery(answer, context, place=Place(path="answer"), package="a.b", component=".R")
    assert [(finding.rule, finding.level) for finding in context.findings] == [("M50", Level.DROPPED)]

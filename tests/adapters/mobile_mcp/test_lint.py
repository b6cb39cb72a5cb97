"""Every rule of the linter with a file or app that breaks it, and one that keeps them all."""

from collections.abc import Mapping

import pytest

from adapters.mobile_mcp.tools import (
    CAPABILITIES,
    DESCRIPTION,
    FULL,
    NAME,
    OLDER_ACTION,
    SWITCH,
    application,
    descriptor,
    service,
    whole_service,
    write,
)
from droidgate_android.projects.android_project import application_from_tree
from droidgate_mappings.formats.format import SourceFile
from droidgate_mappings.model.capability import Capability, Place, Provider
from droidgate_mappings.model.findings import Finding, Level
from droidgate_mobile_mcp.format import FORMAT
from droidgate_mobile_mcp.lint import RULES
from titled_rows import titled


def lint_text(text: str) -> tuple[Finding, ...]:
    assert FORMAT.lint_file is not None
    return FORMAT.lint_file(SourceFile("caps.xml", text.encode()))


def lint_app(*components: str, files: Mapping[str, str] | None = None) -> tuple[Finding, ...]:
    assert FORMAT.lint_application is not None
    return FORMAT.lint_application(application(*components, files=files))


def codes(findings: tuple[Finding, ...]) -> set[str]:
    return {finding.code for finding in findings}


def capability(inside: str) -> str:
    return descriptor(f'<capability id="c" description="C" version="1">{inside}</capability>')


def with_param(attributes: str, element: str = "input") -> str:
    return capability(f"<{element}><param {attributes}/></{element}>")


def described(text: str) -> str:
    return descriptor(f'<capability id="c" description="{text}" version="1"/>')


PARAM = 'name="x" type="string" required="true" description="X"'

BROKEN_FILES: dict[str, tuple[str, str]] = {
    "a tag that does not end": ("well-formed", "<mobile-mcp-capabilities"),
    "a file of words": ("well-formed", "words"),
    "a curly quote": ("well-formed", descriptor('<capability id="c" description=”C" version="1"/>')),
    "another root": ("root", descriptor(SWITCH, root="mcp")),
    "a root without its prefix": ("root", "<capabilities/>"),
    "a capability as the root": ("root", SWITCH),
    "no version": ("version", descriptor(SWITCH, root="mobile-mcp-capabilities")),
    "a later minor version": ("version", descriptor(SWITCH, root='mobile-mcp-capabilities version="1.1"')),
    "a later major version": ("version", descriptor(SWITCH, root='mobile-mcp-capabilities version="2.0"')),
    "a capability without an id": ("capability-id", descriptor('<capability description="C" version="1"/>')),
    "a capability with a blank id":
        ("capability-id", descriptor('<capability id=" " description="C" version="1"/>')),
    "two capabilities with one id": ("capability-id-unique", descriptor(SWITCH, SWITCH)),
    "a capability without a description":
        ("capability-description", descriptor('<capability id="c" version="1"/>')),
    "a capability with an empty description": ("capability-description", described("")),
    "a capability without a version":
        ("capability-version", descriptor('<capability id="c" description="C"/>')),
    **{f"two elements {part}": ("one-input-output", capability(f"<{part}/><{part}/>"))
        for part in ("input", "output")},
    "an input without a name": ("param-name", with_param('type="string" required="true" description="X"')),
    "an output without a name": ("param-name", with_param('type="string" description="X"', "output")),
    "an input without a type": ("param-type", with_param('name="x" required="true" description="X"')),
    "an output without a type": ("param-type", with_param('name="x" description="X"', "output")),
    "an input that may or may not be required":
        ("param-required", with_param('name="x" type="string" description="X"')),
    "required in capitals": ("param-required", with_param(PARAM.replace("true", "TRUE"))),
    "required with another word": ("param-required", with_param(PARAM.replace("true", "yes"))),
    "an input without a description":
        ("param-description", with_param('name="x" type="string" required="true"')),
    "an output without a description": ("param-description", with_param('name="x" type="string"', "output")),
    "two inputs with one name": ("param-name-unique", with_param(f"{PARAM}/><param {PARAM}")),
    "an unknown type": ("param-type-known", with_param(PARAM.replace("string", "date"))),
    "another word for a type": ("param-type-known", with_param(PARAM.replace("string", "int"))),
    "an unknown attribute":
        ("unknown-part", descriptor('<capability id="c" description="C" version="1" since="2"/>')),
    "an icon": ("unknown-part", capability("<icon/>")),
    "words between elements": ("unknown-part", descriptor("words", SWITCH)),
    "an output that is required": ("unknown-part", with_param(PARAM, "output")),
    "an element around capabilities":
        ("part-in-place", descriptor(SWITCH, f"<capabilities>{SWITCH}</capabilities>")),
    "another namespace":
        ("part-in-place", descriptor(f'<more:capability xmlns:more="urn:more" id="c"/>{SWITCH}')),
    "a parameter outside of its list": ("part-in-place", capability(f"<param {PARAM}/>")),
    "an element around parameters":
        ("part-in-place", capability(f"<input><params><param {PARAM}/></params><param {PARAM}/></input>")),
    "no capability": ("no-capability", descriptor()),
    "a reference for a description": ("text-reference", described("@string/about")),
    **{f"a text that a device changes: {text}": ("text-changes", described(text))
        for text in ("007", "1.10", r"a\b", "10dp")},
    "a text that is too long": ("text-too-long", described("x" * 32_768)),
}  # fmt: skip

OLDER_NAME = NAME.replace("mobile.mcp.tool.name", "mcp.application.name")
OLDER_CAPABILITIES = CAPABILITIES.replace("mobile.mcp.tool.capabilities", "mcp.capabilities")
AN_ACTIVITY = service().replace("service ", "activity ").replace("/service", "/activity")
WHOLE_ACTIVITY = whole_service().replace("<service", "<activity").replace("</service", "</activity")
AS_VALUE = CAPABILITIES.replace("android:resource", "android:value")
AS_RAW = CAPABILITIES.replace("@xml", "@raw")
TYPE = 'android:foregroundServiceType="dataSync"'
TWO = whole_service(name=".One") + whole_service(name=".Two")
NUMBER = DESCRIPTION.replace("Switches the lamp", "1.5")


def of_descriptor(text: str) -> dict[str, str]:
    return {"res/xml/mcp_capabilities.xml": text}


# Title -> rule, components, and files where the descriptor is not FULL.
BROKEN_APPS: dict[str, tuple[str, str, dict[str, str] | None]] = {
    "two services": ("one-service", TWO, None),
    "two services of two dialects":
        ("one-service", whole_service(name=".One") + whole_service(name=".Two", action=OLDER_ACTION), None),
    "no action": ("action", whole_service(action=None), None),
    "an older action": ("action", whole_service(action=OLDER_ACTION), None),
    "the action of an activity": ("action", AN_ACTIVITY, {}),
    "meta-data of the application": ("meta-data-in-service", CAPABILITIES + whole_service(), None),
    "a descriptor of an activity": ("meta-data-in-service", WHOLE_ACTIVITY, None),
    "the older key of a descriptor in a receiver": ("meta-data-in-service",
        f'<receiver android:name=".R">{OLDER_CAPABILITIES}</receiver>{whole_service()}', None),
    "no name": ("tool-name", service(DESCRIPTION, CAPABILITIES), None),
    "an older key of the name": ("tool-name", service(OLDER_NAME, DESCRIPTION, CAPABILITIES), None),
    "a blank name": ("tool-name", service(NAME.replace("Lamp", " "), DESCRIPTION, CAPABILITIES), None),
    **{f"a name that Android takes for another value: {word}":
        ("tool-name-text", service(NAME.replace("Lamp", word), DESCRIPTION, CAPABILITIES), None)
        for word in ("2048", "true")},
    "no description": ("tool-description", service(NAME, CAPABILITIES), None),
    "a number as a text": ("tool-description-text", service(NAME, NUMBER, CAPABILITIES), None),
    "no descriptor": ("tool-capabilities", service(NAME, DESCRIPTION), None),
    "a descriptor as a value": ("xml-resource", service(NAME, DESCRIPTION, AS_VALUE), None),
    "a raw descriptor":
        ("xml-resource", service(NAME, DESCRIPTION, AS_RAW), {"res/raw/mcp_capabilities.xml": FULL}),
    "a descriptor that is not there": ("descriptor-file", whole_service(), {}),
    "a descriptor that does not end": ("well-formed", whole_service(), of_descriptor("<mcp")),
    "another root": ("root", whole_service(), of_descriptor(descriptor(SWITCH, root="mcp"))),
    "not exported": ("exported", whole_service(attributes=f'android:exported="false" {TYPE}'), None),
    "not enabled":
        ("enabled", whole_service(attributes='android:exported="true" android:enabled="false"'), None),
    "a permission":
        ("permission", whole_service(attributes='android:exported="true" android:permission="a.CALL"'), None),
}  # fmt: skip
ALONE = {
    "version", "capability-version", "param-required", "param-type", "action", "tool-name", "descriptor-file",
    "exported",
}  # fmt: skip
"""Rules that can be broken without breaking another one."""


def test_a_file_that_follows_every_rule_has_no_finding() -> None:
    assert lint_text(FULL) == ()
    assert lint_app(whole_service()) == ()


@titled(("rule", "text"), BROKEN_FILES)
def test_a_file_that_breaks_a_rule_is_reported_with_its_place(rule: str, text: str) -> None:
    findings = lint_text("\n" + text)
    reported = [item for item in findings if item.code == f"mobile-mcp-{rule}"]
    assert reported
    declared = RULES[f"mobile-mcp-{rule}"]
    expected = {(declared.level, f"Mobile-MCP {declared.section}")}
    assert {(item.level, item.rule) for item in reported} == expected
    assert all(item.source is not None and item.source.path == "caps.xml" for item in reported)
    assert rule not in ALONE or reported == list(findings)


@titled(("rule", "components", "files"), BROKEN_APPS)
def test_an_app_that_breaks_a_rule_is_reported_with_its_place(
    rule: str, components: str, files: dict[str, str] | None
) -> None:
    findings = lint_app(components, files=files)
    reported = [item for item in findings if item.code == f"mobile-mcp-{rule}"]
    assert reported
    assert all(item.source is not None for item in reported)
    assert rule not in ALONE or reported == list(findings)


def test_a_text_of_another_protocol_under_the_older_key_is_not_taken_for_a_broken_service() -> None:
    tools = '<meta-data android:name="mcp.capabilities" android:value="tools:find_note,make_note"/>'
    assert lint_app(service(tools, action="io.mmcp.action.SERVER")) == ()
    assert codes(lint_app(service(tools))) >= {"mobile-mcp-tool-name", "mobile-mcp-xml-resource"}
    to_file = tools.replace("tools:find_note,make_note", "@xml/mcp_capabilities")
    assert "mobile-mcp-action" in codes(lint_app(service(to_file, action="com.example.OTHER")))


def test_every_rule_has_a_file_that_breaks_it() -> None:
    broken = {rule for rule, *_ in (*BROKEN_FILES.values(), *BROKEN_APPS.values())}
    assert {f"mobile-mcp-{rule}" for rule in broken} == RULES.keys()


@pytest.mark.parametrize(("value", "reported"), [
    ('value="2048"', "a number"),
    ('value="1.5"', "a number"),
    ('value="true"', "a boolean"),
    ('resource="@string/lamp"', "a resource"),
    ('value="@string/lamp"', "@string/lamp, which is not among the resources"),
])  # fmt: skip
def test_a_name_that_is_not_a_text_is_called_what_it_is(value: str, reported: str) -> None:
    items = lint_app(service(NAME.replace('value="Lamp"', value), DESCRIPTION, CAPABILITIES))
    assert [reported in item.message for item in items if item.code == "mobile-mcp-tool-name-text"] == [True]


def test_a_place_is_the_line_of_the_element() -> None:
    text = FULL.replace('required="true" ', "")
    (finding,) = lint_text(text)
    assert finding.source == Place(path="caps.xml", line=5)
    assert finding.pointer == "/mobile-mcp-capabilities/capability[1]/input/param[1]"
    assert (finding.rule, finding.level) == ("Mobile-MCP 1.2.2", Level.ERROR)


def test_errors_are_what_the_specification_requires_and_nothing_else() -> None:
    for rule in RULES.values():
        demanded = rule.section.startswith("1.") and rule.level is not Level.NOTE
        assert (rule.level is Level.ERROR) is demanded, rule


@titled(("dialect", "broken"), {
    "1.0": ("1.0", set()),
    "1.0 with an input": ("1.0-input", set()),
    "the prototype lacks a version": ("prototype", {"version"}),
    "a file before the specification lacks more":
        ("pre-spec", {"action", "root", "version", "tool-name", "tool-description", "tool-capabilities"}),
})  # fmt: skip
def test_a_file_written_in_1_0_follows_every_must_of_the_specification(
    dialect: str, broken: set[str]
) -> None:
    writing = write(Provider(protocol="test", package="a.b", capabilities=(Capability(id="c"),)), dialect)
    tree = {item.path: item.text.encode() for item in writing.artifacts}
    assert FORMAT.lint_application is not None
    findings = FORMAT.lint_application(application_from_tree(tree))
    errors = {item.code for item in findings if item.level is Level.ERROR}
    assert errors == {f"mobile-mcp-{rule}" for rule in broken}


def test_a_descriptor_that_is_elsewhere_in_the_app_is_named() -> None:
    findings = lint_app(whole_service(), files={"res/raw/mcp_capabilities.xml": FULL})
    (finding,) = (item for item in findings if item.code == "mobile-mcp-descriptor-file")
    assert finding.message == "@xml/mcp_capabilities does not exist, but the app has @raw/mcp_capabilities"

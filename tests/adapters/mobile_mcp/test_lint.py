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


def with_param(attributes: str, element: str = "input") -> str:
    params = f"<{element}><param {attributes}/></{element}>"
    return descriptor(f'<capability id="c" description="C" version="1">{params}</capability>')


def described(text: str) -> str:
    return descriptor(f'<capability id="c" description="{text}" version="1"/>')


PARAM = 'name="x" type="string" required="true" description="X"'

BROKEN_FILES = {
    "mobile-mcp-well-formed": {
        "a tag that does not end": "<mobile-mcp-capabilities",
        "a file of words": "words",
        "a curly quote": descriptor('<capability id="c" description=”C" version="1"/>'),
    },
    "mobile-mcp-root": {
        "another root": descriptor(SWITCH, root="mcp"),
        "a root without its prefix": "<capabilities/>",
        "a capability as the root": SWITCH,
    },
    "mobile-mcp-version": {
        "no version": descriptor(SWITCH, root="mobile-mcp-capabilities"),
        "a later minor version": descriptor(SWITCH, root='mobile-mcp-capabilities version="1.1"'),
        "a later major version": descriptor(SWITCH, root='mobile-mcp-capabilities version="2.0"'),
    },
    "mobile-mcp-capability-id": {
        "a capability without an id": descriptor('<capability description="C" version="1"/>'),
        "a capability with a blank id": descriptor('<capability id=" " description="C" version="1"/>'),
    },
    "mobile-mcp-capability-id-unique": {"two capabilities with one id": descriptor(SWITCH, SWITCH)},
    "mobile-mcp-capability-description": {
        "a capability without a description": descriptor('<capability id="c" version="1"/>'),
        "a capability with an empty description": described(""),
    },
    "mobile-mcp-capability-version": {
        "a capability without a version": descriptor('<capability id="c" description="C"/>'),
    },
    "mobile-mcp-one-input-output": {
        f"two elements {part}":
            descriptor(f'<capability id="c" description="C" version="1"><{part}/><{part}/></capability>')
        for part in ("input", "output")
    },
    "mobile-mcp-param-name": {
        "an input without a name": with_param('type="string" required="true" description="X"'),
        "an output without a name": with_param('type="string" description="X"', "output"),
    },
    "mobile-mcp-param-type": {
        "an input without a type": with_param('name="x" required="true" description="X"'),
        "an output without a type": with_param('name="x" description="X"', "output"),
    },
    "mobile-mcp-param-required": {
        "an input that may or may not be required": with_param('name="x" type="string" description="X"'),
        "required in capitals": with_param(PARAM.replace("true", "TRUE")),
        "required with another word": with_param(PARAM.replace("true", "yes")),
    },
    "mobile-mcp-param-description": {
        "an input without a description": with_param('name="x" type="string" required="true"'),
        "an output without a description": with_param('name="x" type="string"', "output"),
    },
    "mobile-mcp-param-name-unique": {"two inputs with one name": with_param(f"{PARAM}/><param {PARAM}")},
    "mobile-mcp-param-type-known": {
        "an unknown type": with_param(PARAM.replace("string", "date")),
        "another word for a type": with_param(PARAM.replace("string", "int")),
    },
    "mobile-mcp-unknown-part": {
        "an unknown attribute": descriptor('<capability id="c" description="C" version="1" since="2"/>'),
        "an icon": descriptor('<capability id="c" description="C" version="1"><icon/></capability>'),
        "words between elements": descriptor("words", SWITCH),
        "an output that is required": with_param(PARAM, "output"),
    },
    "mobile-mcp-part-in-place": {
        "an element around capabilities": descriptor(SWITCH, f"<capabilities>{SWITCH}</capabilities>"),
        "another namespace": descriptor(f'<more:capability xmlns:more="urn:more" id="c"/>{SWITCH}'),
        "a parameter outside of its list":
            descriptor(f'<capability id="c" description="C" version="1"><param {PARAM}/></capability>'),
        "an element around parameters":
            with_param(f"{PARAM}/><params><param {PARAM}/></params><param {PARAM.replace('x', 'y')}"),
    },
    "mobile-mcp-no-capability": {"no capability": descriptor()},
    "mobile-mcp-text-reference": {"a reference for a description": described("@string/about")},
    "mobile-mcp-text-changes": {
        f"a text that a device changes: {text}": described(text) for text in ("007", "1.10", r"a\b", "10dp")
    },
    "mobile-mcp-text-too-long": {"a text that is too long": described("x" * 32_768)},
}  # fmt: skip

OLDER_NAME = NAME.replace("mobile.mcp.tool.name", "mcp.application.name")
OLDER_CAPABILITIES = CAPABILITIES.replace("mobile.mcp.tool.capabilities", "mcp.capabilities")
GOOD = (NAME, DESCRIPTION, CAPABILITIES)
FILES = {"res/xml/mcp_capabilities.xml": FULL}
App = tuple[tuple[str, ...], dict[str, str]]


def of_service(*children: str, **options: str | None) -> App:
    return (service(*children, **options),), FILES  # type: ignore[arg-type]


def with_files(files: dict[str, str]) -> App:
    return (service(*GOOD),), files


TYPE = 'android:foregroundServiceType="dataSync"'
AS_VALUE = CAPABILITIES.replace("android:resource", "android:value")
BROKEN_APPS: dict[str, dict[str, App]] = {
    "mobile-mcp-one-service": {
        "two services": ((service(*GOOD, name=".One"), service(*GOOD, name=".Two")), FILES),
        "two services of two dialects":
            ((service(*GOOD, name=".One"), service(*GOOD, name=".Two", action=OLDER_ACTION)), FILES),
    },
    "mobile-mcp-action": {
        "no action": of_service(*GOOD, action=None),
        "an older action": of_service(*GOOD, action=OLDER_ACTION),
        "the action of an activity":
            ((service().replace("service ", "activity ").replace("/service", "/activity"),), {}),
    },
    "mobile-mcp-meta-data-in-service": {
        "meta-data of the application": ((CAPABILITIES, service(*GOOD)), FILES),
        "a descriptor of an activity":
            ((service(*GOOD).replace("<service", "<activity").replace("</service", "</activity"),), FILES),
        "the older key of a descriptor in a receiver":
            ((f'<receiver android:name=".R">{OLDER_CAPABILITIES}</receiver>', service(*GOOD)), FILES),
    },
    "mobile-mcp-tool-name": {
        "no name": of_service(DESCRIPTION, CAPABILITIES),
        "an older key of the name": of_service(OLDER_NAME, DESCRIPTION, CAPABILITIES),
        "a blank name": of_service(NAME.replace("Lamp", " "), DESCRIPTION, CAPABILITIES),
    },
    "mobile-mcp-tool-name-text": {
        f"a name that Android takes for another value: {word}":
            of_service(NAME.replace("Lamp", word), DESCRIPTION, CAPABILITIES) for word in ("2048", "true")
    },
    "mobile-mcp-tool-description": {"no description": of_service(NAME, CAPABILITIES)},
    "mobile-mcp-tool-description-text": {
        "a number as a text": of_service(NAME, DESCRIPTION.replace("Switches the lamp", "1.5"), CAPABILITIES),
    },
    "mobile-mcp-tool-capabilities": {"no descriptor": of_service(NAME, DESCRIPTION)},
    "mobile-mcp-xml-resource": {
        "a descriptor as a value": of_service(NAME, DESCRIPTION, AS_VALUE),
        "a raw descriptor": ((service(NAME, DESCRIPTION, CAPABILITIES.replace("@xml", "@raw")),),
            {"res/raw/mcp_capabilities.xml": FULL}),
    },
    "mobile-mcp-descriptor-file": {"a descriptor that is not there": with_files({})},
    "mobile-mcp-well-formed": {
        "a descriptor that does not end": with_files({"res/xml/mcp_capabilities.xml": "<mcp"}),
    },
    "mobile-mcp-root": {
        "another root":
            with_files({"res/xml/mcp_capabilities.xml": descriptor(SWITCH, root="mcp")}),
    },
    "mobile-mcp-exported": {
        "not exported": of_service(*GOOD, attributes=f'android:exported="false" {TYPE}'),
        "exported or not is left open": of_service(*GOOD, attributes=TYPE),
    },
    "mobile-mcp-enabled": {
        "not enabled": of_service(*GOOD, attributes='android:exported="true" android:enabled="false"'),
    },
    "mobile-mcp-permission": {
        "a permission": of_service(*GOOD, attributes='android:exported="true" android:permission="a.CALL"'),
    },
}  # fmt: skip


def test_a_file_that_follows_every_rule_has_no_finding() -> None:
    assert lint_text(FULL) == ()
    assert lint_app(service(*GOOD)) == ()


@pytest.mark.parametrize(("rule", "text"), [
    pytest.param(rule, text, id=title) for rule, rows in BROKEN_FILES.items() for title, text in rows.items()
])  # fmt: skip
def test_a_file_that_breaks_a_rule_is_reported_with_its_place(rule: str, text: str) -> None:
    reported = [item for item in lint_text("\n" + text) if item.code == rule]
    assert reported
    assert all(
        item.level is RULES[rule].level and item.rule == f"Mobile-MCP {RULES[rule].section}"
        for item in reported
    )
    assert all(item.source is not None and item.source.path == "caps.xml" for item in reported)


@pytest.mark.parametrize(("rule", "components", "files"), [
    pytest.param(rule, *app, id=title) for rule, rows in BROKEN_APPS.items() for title, app in rows.items()
])  # fmt: skip
def test_an_app_that_breaks_a_rule_is_reported_with_its_place(
    rule: str, components: tuple[str, ...], files: dict[str, str]
) -> None:
    reported = [item for item in lint_app(*components, files=files) if item.code == rule]
    assert reported
    assert all(item.source is not None for item in reported)


def test_a_text_of_another_protocol_under_the_older_key_is_not_taken_for_a_broken_service() -> None:
    tools = '<meta-data android:name="mcp.capabilities" android:value="tools:find_note,make_note"/>'
    assert lint_app(service(tools, action="io.mmcp.action.SERVER")) == ()
    assert codes(lint_app(service(tools))) >= {"mobile-mcp-tool-name", "mobile-mcp-xml-resource"}
    to_file = tools.replace("tools:find_note,make_note", "@xml/mcp_capabilities")
    assert "mobile-mcp-action" in codes(lint_app(service(to_file, action="com.example.OTHER")))


def test_every_rule_has_a_file_that_breaks_it() -> None:
    assert BROKEN_FILES.keys() | BROKEN_APPS.keys() == RULES.keys()


@pytest.mark.parametrize("rule", ["version", "capability-version", "param-required", "param-type"])
def test_only_the_rule_that_a_file_breaks_is_reported(rule: str) -> None:
    for text in BROKEN_FILES[f"mobile-mcp-{rule}"].values():
        assert codes(lint_text(text)) == {f"mobile-mcp-{rule}"}


@pytest.mark.parametrize("rule", ["action", "tool-name", "descriptor-file", "exported"])
def test_only_the_rule_that_an_app_breaks_is_reported(rule: str) -> None:
    for components, files in BROKEN_APPS[f"mobile-mcp-{rule}"].values():
        assert codes(lint_app(*components, files=files)) == {f"mobile-mcp-{rule}"}


@pytest.mark.parametrize(("value", "reported"), [
    ('value="2048"', "a number"),
    ('value="1.5"', "a number"),
    ('value="true"', "a boolean"),
    ('resource="@string/lamp"', "a resource"),
    ('value="@string/lamp"', "@string/lamp, which is not among the resources"),
])  # fmt: skip
def test_a_name_that_is_not_a_text_is_called_what_it_is(value: str, reported: str) -> None:
    items = lint_app(service(NAME.replace('value="Lamp"', value), DESCRIPTION, CAPABILITIES), files=FILES)
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
    findings = lint_app(service(*GOOD), files={"res/raw/mcp_capabilities.xml": FULL})
    (finding,) = (item for item in findings if item.code == "mobile-mcp-descriptor-file")
    assert finding.message == "@xml/mcp_capabilities does not exist, but the app has @raw/mcp_capabilities"

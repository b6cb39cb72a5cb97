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
from droidgate.sources.android_project import application_from_tree
from droidgate_mappings.formats.format import SourceFile
from droidgate_mappings.model.capability import Capability, Place, Provider
from droidgate_mappings.model.findings import Finding, Level
from droidgate_mobile_mcp.format import FORMAT
from droidgate_mobile_mcp.lint import RULES
from requirements_of_tests import CHECKOUT


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
    "mobile-mcp-well-formed": [
        "<mobile-mcp-capabilities", "words",
        descriptor('<capability id="c" description=”C" version="1"/>'),
    ],
    "mobile-mcp-root": [descriptor(SWITCH, root="mcp"), "<capabilities/>", SWITCH],
    "mobile-mcp-version": [
        descriptor(SWITCH, root="mobile-mcp-capabilities"),
        descriptor(SWITCH, root='mobile-mcp-capabilities version="1.1"'),
        descriptor(SWITCH, root='mobile-mcp-capabilities version="2.0"'),
    ],
    "mobile-mcp-capability-id": [descriptor('<capability description="C" version="1"/>'),
        descriptor('<capability id=" " description="C" version="1"/>')],
    "mobile-mcp-capability-id-unique": [descriptor(SWITCH, SWITCH)],
    "mobile-mcp-capability-description": [descriptor('<capability id="c" version="1"/>'), described("")],
    "mobile-mcp-capability-version": [descriptor('<capability id="c" description="C"/>')],
    "mobile-mcp-one-input-output": [
        descriptor('<capability id="c" description="C" version="1"><input/><input/></capability>'),
        descriptor('<capability id="c" description="C" version="1"><output/><output/></capability>'),
    ],
    "mobile-mcp-param-name": [with_param('type="string" required="true" description="X"'),
        with_param('type="string" description="X"', "output")],
    "mobile-mcp-param-type": [with_param('name="x" required="true" description="X"'),
        with_param('name="x" description="X"', "output")],
    "mobile-mcp-param-required": [
        with_param('name="x" type="string" description="X"'),
        with_param(PARAM.replace("true", "TRUE")),
        with_param(PARAM.replace("true", "yes")),
    ],
    "mobile-mcp-param-description": [with_param('name="x" type="string" required="true"'),
        with_param('name="x" type="string"', "output")],
    "mobile-mcp-param-name-unique": [with_param(f"{PARAM}/><param {PARAM}")],
    "mobile-mcp-param-type-known": [with_param(PARAM.replace("string", "date")),
        with_param(PARAM.replace("string", "int"))],
    "mobile-mcp-unknown-part": [
        descriptor('<capability id="c" description="C" version="1" since="2"/>'),
        descriptor('<capability id="c" description="C" version="1"><icon/></capability>'),
        descriptor("words", SWITCH),
        with_param('name="x" type="string" required="true" description="X"', "output"),
    ],
    "mobile-mcp-part-in-place": [
        descriptor(SWITCH, f"<capabilities>{SWITCH}</capabilities>"),
        descriptor(f'<more:capability xmlns:more="urn:more" id="c"/>{SWITCH}'),
        descriptor(f'<capability id="c" description="C" version="1"><param {PARAM}/></capability>'),
        with_param(f"{PARAM}/><params><param {PARAM}/></params><param {PARAM.replace('x', 'y')}"),
    ],
    "mobile-mcp-no-capability": [descriptor()],
    "mobile-mcp-text-reference": [described("@string/about")],
    "mobile-mcp-text-changes": [described("007"), described("1.10"), described(r"a\b"), described("10dp")],
    "mobile-mcp-text-too-long": [described("x" * 32_768)],
}  # fmt: skip

OLDER_NAME = NAME.replace("mobile.mcp.tool.name", "mcp.application.name")
GOOD = (NAME, DESCRIPTION, CAPABILITIES)
FILES = {"res/xml/mcp_capabilities.xml": FULL}
App = tuple[tuple[str, ...], dict[str, str]]


def of_service(*children: str, **options: str | None) -> App:
    return (service(*children, **options),), FILES  # type: ignore[arg-type]


def with_files(files: dict[str, str]) -> App:
    return (service(*GOOD),), files


TYPE = 'android:foregroundServiceType="dataSync"'
AS_VALUE = CAPABILITIES.replace("android:resource", "android:value")
BROKEN_APPS: dict[str, list[App]] = {
    "mobile-mcp-one-service": [
        ((service(*GOOD, name=".One"), service(*GOOD, name=".Two")), FILES),
        ((service(*GOOD, name=".One"), service(*GOOD, name=".Two", action=OLDER_ACTION)), FILES),
    ],
    "mobile-mcp-action": [of_service(*GOOD, action=None), of_service(*GOOD, action=OLDER_ACTION)],
    "mobile-mcp-meta-data-in-service": [((CAPABILITIES, service(*GOOD)), FILES)],
    "mobile-mcp-tool-name": [
        of_service(DESCRIPTION, CAPABILITIES),
        of_service(OLDER_NAME, DESCRIPTION, CAPABILITIES),
        of_service(NAME.replace("Lamp", " "), DESCRIPTION, CAPABILITIES),
    ],
    "mobile-mcp-tool-name-text": [
        of_service(NAME.replace("Lamp", word), DESCRIPTION, CAPABILITIES) for word in ("2048", "true")
    ],
    "mobile-mcp-tool-description": [of_service(NAME, CAPABILITIES)],
    "mobile-mcp-tool-description-text": [
        of_service(NAME, DESCRIPTION.replace("Switches the lamp", "1.5"), CAPABILITIES)
    ],
    "mobile-mcp-tool-capabilities": [of_service(NAME, DESCRIPTION)],
    "mobile-mcp-xml-resource": [
        of_service(NAME, DESCRIPTION, AS_VALUE),
        ((service(NAME, DESCRIPTION, CAPABILITIES.replace("@xml", "@raw")),),
            {"res/raw/mcp_capabilities.xml": FULL}),
    ],
    "mobile-mcp-descriptor-file": [with_files({})],
    "mobile-mcp-well-formed": [with_files({"res/xml/mcp_capabilities.xml": "<mcp"})],
    "mobile-mcp-root": [with_files({"res/xml/mcp_capabilities.xml": descriptor(SWITCH, root="mcp")})],
    "mobile-mcp-exported": [
        of_service(*GOOD, attributes=f'android:exported="false" {TYPE}'), of_service(*GOOD, attributes=TYPE),
    ],
    "mobile-mcp-enabled": [of_service(*GOOD, attributes='android:exported="true" android:enabled="false"')],
    "mobile-mcp-permission": [
        of_service(*GOOD, attributes='android:exported="true" android:permission="a.CALL"'),
    ],
    "mobile-mcp-foreground-type": [of_service(*GOOD, attributes='android:exported="true"')],
}  # fmt: skip


def test_what_keeps_every_rule_has_no_finding() -> None:
    assert lint_text(FULL) == ()
    assert lint_app(service(*GOOD)) == ()


@pytest.mark.parametrize(
    ("rule", "text"), [(rule, text) for rule, texts in BROKEN_FILES.items() for text in texts]
)
def test_a_file_that_breaks_a_rule_is_reported_with_its_place(rule: str, text: str) -> None:
    reported = [item for item in lint_text("\n" + text) if item.code == rule]
    assert reported
    assert all(
        item.level is RULES[rule].level and item.rule == f"Mobile-MCP {RULES[rule].section}"
        for item in reported
    )
    assert all(item.source is not None and item.source.path == "caps.xml" for item in reported)


@pytest.mark.parametrize(
    ("rule", "components", "files"), [(rule, *app) for rule, apps in BROKEN_APPS.items() for app in apps]
)
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


def test_every_rule_is_shown_broken() -> None:
    assert BROKEN_FILES.keys() | BROKEN_APPS.keys() == RULES.keys()


@pytest.mark.parametrize("rule", ["version", "capability-version", "param-required", "param-type"])
def test_only_the_rule_that_a_file_breaks_is_reported(rule: str) -> None:
    for text in BROKEN_FILES[f"mobile-mcp-{rule}"]:
        assert codes(lint_text(text)) == {f"mobile-mcp-{rule}"}


@pytest.mark.parametrize("rule", ["action", "tool-name", "descriptor-file", "exported"])
def test_only_the_rule_that_an_app_breaks_is_reported(rule: str) -> None:
    for components, files in BROKEN_APPS[f"mobile-mcp-{rule}"]:
        assert codes(lint_app(*components, files=files)) == {f"mobile-mcp-{rule}"}


@pytest.mark.parametrize(("value", "reported"), [
    ('value="2048"', "a number"),
    ('value="1.5"', "a number"),
    ('value="true"', "a boolean"),
    ('resource="@string/lamp"', "a resource"),
    ('value="@string/lamp"', "@string/lamp, which is not among the resources"),
])  # fmt: skip
def test_a_name_that_is_not_a_text_is_called_what_it_is(value: str, reported: str) -> None:
    found = lint_app(service(NAME.replace('value="Lamp"', value), DESCRIPTION, CAPABILITIES), files=FILES)
    assert [reported in item.message for item in found if item.code == "mobile-mcp-tool-name-text"] == [True]


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


@pytest.mark.parametrize(("dialect", "broken"), [
    ("1.0", set()),
    ("1.0-input", set()),
    ("prototype", {"version"}),
    ("pre-spec", {"action", "root", "version", "tool-name", "tool-description", "tool-capabilities"}),
])  # fmt: skip
def test_what_we_write_in_1_0_keeps_every_must(dialect: str, broken: set[str]) -> None:
    writing = write(Provider(protocol="test", package="a.b", capabilities=(Capability(id="c"),)), dialect)
    tree = {item.path: item.text.encode() for item in writing.artifacts}
    assert FORMAT.lint_application is not None
    found = FORMAT.lint_application(application_from_tree(tree))
    errors = {item.code for item in found if item.level is Level.ERROR}
    assert errors == {f"mobile-mcp-{rule}" for rule in broken}


def test_the_table_in_the_docs_names_every_rule() -> None:
    text = (CHECKOUT / "docs" / "reference" / "formats" / "mobile-mcp.md").read_text(encoding="utf-8")
    assert [rule for rule in RULES if f"`{rule}`" not in text] == []


def test_a_descriptor_that_is_elsewhere_in_the_app_is_named() -> None:
    found = lint_app(service(*GOOD), files={"res/raw/mcp_capabilities.xml": FULL})
    (finding,) = (item for item in found if item.code == "mobile-mcp-descriptor-file")
    assert finding.message == "@xml/mcp_capabilities does not exist, but the app has @raw/mcp_capabilities"

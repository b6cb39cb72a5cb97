"""Each rule with a manifest that breaks it and one that keeps it; the registry's rows that are mMCP's."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from adapters.mmcp.mmcp_apps import ADVERTISE, CALL, GREET, application, component_xml, manifest_of, value_xml
from droidgate_mappings.formats.format import SourceFile
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.model.findings import Finding, Level
from droidgate_mappings.model.json_values import Json
from droidgate_mmcp.format import FORMAT
from droidgate_mmcp.lint import RULES
from titled_rows import titled


def lint_json(value: Json) -> tuple[Finding, ...]:
    assert FORMAT.lint_file is not None
    text = value if isinstance(value, str) else json.dumps(value)
    return FORMAT.lint_file(SourceFile("tools.json", text.encode()))


def lint_app(*components: str, **files: str) -> tuple[Finding, ...]:
    assert FORMAT.lint_application is not None
    return FORMAT.lint_application(application(*components, **files))


def with_parameters(value: Json) -> Json:
    return manifest_of({**GREET, "parameters": value})


def without(key: str) -> Json:
    return manifest_of({name: value for name, value in GREET.items() if name != key})


MANIFESTS: dict[str, tuple[str, Json, Json]] = {
    "a tool has no name": ("mmcp-tool-name", without("name"), manifest_of(GREET)),
    "a name is a number": ("mmcp-tool-name", manifest_of({**GREET, "name": 5}), manifest_of(GREET)),
    "two tools have one name":
        ("mmcp-tool-name-unique", manifest_of(GREET, GREET), manifest_of(GREET, {**GREET, "name": "b"})),
    "a tool has no description": ("mmcp-tool-description", without("description"), manifest_of(GREET)),
    "a description is empty":
        ("mmcp-tool-description", manifest_of({**GREET, "description": ""}), manifest_of(GREET)),
    "a description is a number":
        ("mmcp-tool-description", manifest_of({**GREET, "description": 5}), manifest_of(GREET)),
    "a tool has no parameters": ("mmcp-parameters", without("parameters"), manifest_of(GREET)),
    "a parameter list": ("mmcp-parameters-schema", with_parameters([]), with_parameters({"type": "object"})),
    "a parameter is of an unknown type":
        ("schema-form", with_parameters({"type": "object", "properties": {"a": {"type": "text"}}}),
        with_parameters({"type": "object", "properties": {"a": {"type": "string"}}})),
    "the required names are a text":
        ("schema-form", with_parameters({"type": "object", "required": "a"}),
        with_parameters({"type": "object", "required": ["a"]})),
    "an older draft of JSON Schema requires a name at least":
        ("schema-form", with_parameters({"$schema": "http://json-schema.org/draft-04/schema#",
        "required": []}), with_parameters({"required": []})),
    "a pattern is not a regular expression":
        ("schema-pattern", with_parameters({"type": "object", "properties": {"a": {"pattern": "(a"}}}),
        with_parameters({"type": "object", "properties": {"a": {"pattern": "(a)"}}})),
    "a reference leads nowhere":
        ("schema-reference", with_parameters({"type": "object", "properties": {"a": {"$ref": "#/$defs/b"}}}),
        with_parameters({"type": "object", "properties": {"a": {"$ref": "#/$defs/b"}}, "$defs": {"b": {}}})),
    "a required name is not described":
        ("schema-required-unknown", with_parameters({"type": "object", "required": ["a"]}),
        with_parameters({"type": "object", "properties": {"a": {}}, "required": ["a"]})),
    "parameters are a flat map":
        ("mmcp-flat-parameters", with_parameters({"location": "string"}), manifest_of(GREET)),
    "parameters are a map of schemas":
        ("mmcp-flat-parameters", with_parameters({"txHash": {"type": "string"}}), manifest_of(GREET)),
    "a schema in a map of schemas is not one":
        ("schema-form", with_parameters({"txHash": {"type": "int"}}), manifest_of(GREET)),
    "parameters are empty": ("mmcp-object-parameters", with_parameters({}), manifest_of(GREET)),
    "parameters are true": ("mmcp-object-parameters", with_parameters(True), manifest_of(GREET)),
    "parameters are an object that does not say so":
        ("mmcp-object-parameters", with_parameters({"properties": {}}), manifest_of(GREET)),
    "a name has 57 characters": ("mmcp-name-length",
        manifest_of({**GREET, "name": "n" * 57}), manifest_of({**GREET, "name": "n" * 56})),
    "a name has a dot": ("mmcp-name-characters",
        manifest_of({**GREET, "name": "a.b"}), manifest_of({**GREET, "name": "a-B_9"})),
    "a text has a raw line break":
        ("mmcp-control-characters", '{"instructions": "a\nb", "tools": []}', manifest_of(GREET)),
    "there are no instructions": ("mmcp-instructions", {"tools": []}, {"instructions": "a", "tools": []}),
    "instructions are empty":
        ("mmcp-instructions", {"instructions": " ", "tools": []}, {"instructions": "a", "tools": []}),
    "the draft's description of the app is empty":
        ("mmcp-instructions", {"appDescription": "", "tools": []}, {"appDescription": "a", "tools": []}),
    "instructions are a number":
        ("mmcp-instructions", {"instructions": 5, "tools": []}, {"appDescription": "a", "tools": []}),
    "there are no tools": ("mmcp-tools", {"instructions": "a"}, manifest_of()),
    "tools are an object": ("mmcp-tools", {"instructions": "a", "tools": {}}, manifest_of()),
    "a tool is a text": ("mmcp-tools", manifest_of("greet"), manifest_of(GREET)),  # type: ignore[arg-type]
    "the manifest is a list": ("mmcp-tools", [], manifest_of(GREET)),
    "the app's description has the draft's key":
        ("mmcp-draft-key", {"appDescription": "a", "tools": []}, manifest_of(GREET)),
    "a tool states what it returns, as in the draft":
        ("mmcp-draft-key", manifest_of({**GREET, "return": {"a": "String"}}), manifest_of(GREET)),
    "the manifest has an unknown key": ("mmcp-unknown-key", manifest_of(author="me"), manifest_of(GREET)),
    "an unknown key of a tool": ("mmcp-unknown-key", manifest_of({**GREET, "icon": "a"}), manifest_of(GREET)),
    "there is no version": ("mmcp-version", {"instructions": "a", "tools": []}, manifest_of(GREET)),
    "the version is unknown": ("mmcp-version", manifest_of(protocolVersion="2.0"), manifest_of(GREET)),
}  # fmt: skip

VALUE = value_xml(manifest_of(GREET))
TOO_LONG = json.dumps(manifest_of(GREET), separators=(",", ":"))
TOO_LONG = TOO_LONG.replace("Greets somebody", "Greets somebody" + "x" * (32_769 - len(TOO_LONG)))
UNESCAPED = "android:value='" + json.dumps(manifest_of(GREET, instructions='say "hello"')) + "'"
TWO_FILTERS = component_xml(VALUE, actions=(ADVERTISE,)).replace(
    "<meta-data", f'<intent-filter><action android:name="{CALL}"/></intent-filter><meta-data'
)

COMPONENTS: dict[str, tuple[str, str]] = {
    "no filter has the first action": ("mmcp-advertise-action", component_xml(VALUE, actions=(CALL,))),
    "there is no meta-data": ("mmcp-meta-data", component_xml(None)),
    "the meta-data is a number": ("mmcp-meta-data", component_xml('android:value="5"')),
    "meta-data without its file": ("mmcp-meta-data", component_xml('android:resource="@raw/none"')),
    "the manifest is too long": ("mmcp-manifest-length", component_xml(f"android:value='{TOO_LONG}'")),
    "the manifest is a word": ("mmcp-json", component_xml('android:value="tools"')),
    "the manifest lost its backslashes": ("mmcp-json", component_xml(UNESCAPED)),
    "a filter has no category": ("mmcp-default-category", component_xml(VALUE, categories=())),
    "one of two filters has no category": ("mmcp-default-category", TWO_FILTERS),
    "no filter has the action of a call": ("mmcp-call-action", component_xml(VALUE, actions=(ADVERTISE,))),
    "exported is false": ("mmcp-exported", component_xml(VALUE, attributes='android:exported="false"')),
    "the component is disabled":
        ("mmcp-enabled", component_xml(VALUE, attributes='android:exported="true" android:enabled="false"')),
    "the component is a service": ("mmcp-activity", component_xml(VALUE, element="service")),
    "a tool in a manifest has no name": ("mmcp-tool-name", component_xml(value_xml(without("name")))),
}  # fmt: skip


# Section 2 of the specification (reference mobile-mcp-and-mmcp 3) states one action, and not `exported`.
EXAMPLE = component_xml(VALUE, actions=(ADVERTISE,), attributes="")


def test_the_example_of_the_specification_has_no_error() -> None:
    assert [(item.code, item.level) for item in lint_app(EXAMPLE)] == [("mmcp-call-action", Level.WARNING)]


@titled(("rule", "breaks", "keeps"), MANIFESTS)
def test_a_manifest_breaks_or_keeps_a_rule(rule: str, breaks: Json, keeps: Json) -> None:
    assert rule in {item.code for item in lint_json(breaks)}
    assert rule not in {item.code for item in lint_json(keeps)}


@titled(("rule", "breaks"), COMPONENTS)
def test_a_component_breaks_a_rule(rule: str, breaks: str) -> None:
    findings = [item for item in lint_app(breaks) if item.code == rule]
    assert findings
    assert all(item.source is not None and item.source.line for item in findings)


def test_a_whole_app_keeps_every_rule() -> None:
    assert lint_app(component_xml(VALUE)) == ()
    assert lint_json(manifest_of(GREET)) == ()


TEXT_TYPE = with_parameters({"type": "object", "properties": {"a/b": {"type": "text"}}})
IN_STRING = json.dumps(json.dumps(manifest_of(GREET)))
IN_STRING = f"<resources><string name='tools'>{IN_STRING}</string></resources>"
OF_STRING = component_xml('android:resource="@string/tools"')
OF_FILE = component_xml('android:resource="@raw/tools"')
AT_APPLICATION = f'<meta-data android:name="mMCP_manifest" {VALUE}/>'


@titled(("found", "facts"), {
    "a manifest has a place, a level and a rule":
        (lint_json(TEXT_TYPE), {"pointer": "/tools/0/parameters/properties/a~1b/type", "level": Level.ERROR,
        "rule": "JSON Schema meta-schema"}),
    "a tool with the parameters of MCP":
        (tuple(item for item in lint_json(manifest_of({"name": "a", "description": "b", "inputSchema": {}}))
        if item.level is Level.ERROR), {"code": "mmcp-parameters",
        "hint": "rename `inputSchema`, the name in other protocols, to `parameters`"}),
    "a string whose number clients get": (lint_app(OF_STRING, **{"res/values/s.xml": IN_STRING}),
        {"code": "mmcp-meta-data", "hint": 'write android:value="@string/tools"'}),
    "a file whose number clients get":
        (lint_app(OF_FILE, **{"res/raw/tools.json": json.dumps(manifest_of(GREET))}),
        {"code": "mmcp-meta-data", "hint": "put the JSON into android:value"}),
    "a component has a code and a message": (lint_app(AT_APPLICATION), {"code": "mmcp-meta-data",
        "message": "mMCP_manifest is in an <application>, where no client looks for it"}),
})  # fmt: skip
def test_a_finding_names_its_place_and_rule(found: tuple[Finding, ...], facts: dict[str, Any]) -> None:
    (finding,) = found
    assert {word: getattr(finding, word) for word in facts} == facts


@titled(("value", "is_escaped"), {
    "JSON without its backslashes has the reason": (UNESCAPED, True),
    "a text that is not JSON has none": ("android:value='{'", False),
})  # fmt: skip
def test_json_that_lost_its_backslashes_is_reported_with_the_reason(value: str, *, is_escaped: bool) -> None:
    (finding,) = [item for item in lint_app(component_xml(value)) if item.code == "mmcp-json"]
    assert ("double-escaped for aapt" in (finding.hint or "")) is is_escaped


def test_json_that_lost_its_quotes_in_a_string_resource_is_reported_with_the_reason() -> None:
    strings = {"res/values/s.xml": f'<resources><string name="tools">{TOO_LONG}</string></resources>'}
    (finding,) = lint_app(component_xml('android:value="@string/tools"'), **strings)
    assert finding.code == "mmcp-json"
    assert finding.message.endswith("in double quotes, after '{'")
    assert "drops the quotes of a string resource" in (finding.hint or "")


def test_a_manifest_of_a_string_resource_is_as_long_as_its_text() -> None:
    escaped = TOO_LONG.replace('"', '\\"')
    strings = {"res/values/s.xml": f'<resources><string name="tools">{escaped}</string></resources>'}
    findings = lint_app(component_xml('android:value="@string/tools"'), **strings)
    assert [item.code for item in findings] == ["mmcp-manifest-length"]
    assert str(findings[0].source) == "res/values/s.xml:1"
    assert "32,769 characters; Android 15 and later refuse" in findings[0].message
    shorter = {"res/values/s.xml": strings["res/values/s.xml"].replace("xx", "x", 1)}
    assert lint_app(component_xml('android:value="@string/tools"'), **shorter) == ()


def test_a_component_that_is_not_a_tool_is_not_looked_at() -> None:
    assert lint_app(component_xml(None, actions=("android.intent.action.MAIN",), attributes="")) == ()


def test_every_rule_has_a_manifest_that_breaks_it() -> None:
    rules = {rule for rule, *_ in MANIFESTS.values()} | {rule for rule, _ in COMPONENTS.values()}
    assert {rule for rule in rules if rule.startswith("mmcp-")} == RULES.keys()


def test_unknown_keys_are_reported_in_their_order_and_by_escaped_pointers() -> None:
    keys = [f"k{number}/~" for number in range(20)]
    findings = lint_json(manifest_of({**GREET, **dict.fromkeys(keys, 1)}, **dict.fromkeys(keys, 1)))
    expected = [key.replace("~", "~0").replace("/", "~1") for key in keys]
    places = [f"{place}/{item}" for place in ("", "/tools/0") for item in expected]
    assert [item.pointer for item in findings] == places


def test_a_file_that_is_not_a_json_is_refused() -> None:
    with pytest.raises(InputError):
        lint_json("{")


@pytest.mark.parametrize("lint", [lint_json, lambda value: lint_app(component_xml(value_xml(value)))])
@pytest.mark.parametrize("value", [None, 5, "a", [], {}, {"tools": [None, [], 5, {}, {"name": []}]}], ids=str)
def test_odd_manifests_are_linted_without_a_crash(
    lint: Callable[[Json], tuple[Finding, ...]], value: Json
) -> None:
    assert lint(json.dumps(value) if lint is lint_json else value)

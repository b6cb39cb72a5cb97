"""What is written is what the MCP SDK's own types take, and says where everything went.

References keep their meaning where an output is written inside an object. Access rules are in `_meta`, and
are read back from there only where they are valid. Converted to another format, the layout of a document is
no loss; each further field is one.
"""

import json
import os
import subprocess
import sys
from random import Random
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from adapters.mcp_format.tool_lists import WEATHER, read_one, result, write, written
from droidgate_mappings.model.capability import (
    Capability,
    CapabilityAccess,
    ComponentAccess,
    Effects,
    Provider,
)
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.model.findings import Finding, Level
from droidgate_mappings.model.json_values import Json
from droidgate_mcp.format import FORMAT
from mappings.fit.capacities import facts_of, write_for
from model_types import array, int64, optional, provider_of, record, ref, string
from properties.matching import assert_findings_match, assert_reads_back
from requirements_of_tests import CHECKOUT, require
from strategies import random_provider
from titled_rows import titled

SCHEMAS = {"2025-11-25": "mcp_types._v2025_11_25", "2026-07-28": "mcp_types._v2026_07_28"}


def _validated(dialect: str, text: str) -> Any:
    require("mcp-types")
    module = pytest.importorskip(SCHEMAS[dialect])
    return module.ListToolsResult.model_validate_json(text)


@pytest.mark.parametrize("dialect", SCHEMAS)
def test_whatever_is_written_is_a_result_for_the_sdk(dialect: str) -> None:
    for seed in range(300):
        provider = random_provider(Random(seed))
        (artifact,) = write(provider, dialect).artifacts
        tools = _validated(dialect, artifact.text).tools
        assert len(tools) == len(provider.capabilities)
        for tool, capability in zip(tools, provider.capabilities, strict=True):
            assert tool.title == capability.title
            assert tool.input_schema.type == "object"


@pytest.mark.parametrize("dialect", SCHEMAS)
def test_the_sdk_reads_the_same_from_a_tool(dialect: str) -> None:
    (artifact,) = write(read_one(result(WEATHER)), dialect).artifacts
    (tool,) = _validated(dialect, artifact.text).tools
    assert (tool.name, tool.title, tool.description) == ("get_weather", "Weather", WEATHER["description"])
    assert tool.annotations.read_only_hint is True
    assert tool.annotations.destructive_hint is None
    dumped = tool.model_dump(by_alias=True, exclude_none=True)
    assert dumped["inputSchema"] == WEATHER["inputSchema"]
    assert dumped["outputSchema"] == WEATHER["outputSchema"]


def test_the_newest_revision_states_how_long_the_list_may_be_cached() -> None:
    document = written(read_one(result(WEATHER)), "2026-07-28")
    assert (document["resultType"], document["ttlMs"], document["cacheScope"]) == ("complete", 0, "private")


def test_a_list_written_in_the_newest_revision_is_read_back_without_its_frame() -> None:
    modern = write(read_one([WEATHER]), "2026-07-28")
    assert modern.findings == ()
    document = json.loads(modern.artifacts[0].text)
    assert document["ttlMs"] == 0
    assert written(read_one(document), "2025-11-25") == [WEATHER]


def test_fields_of_a_document_survive_a_conversion_to_the_other_revision_and_back() -> None:
    dump = {
        "serverInfo": {"name": "a", "version": "1", "websiteUrl": "https://example.com"},
        "capabilities": {"tools": {}},
        "tools": [WEATHER],
    }
    modern = written(read_one(dump), "2026-07-28")
    fields = {"/serverInfo/websiteUrl": "https://example.com", "/capabilities": {"tools": {}}}
    assert modern["_meta"]["dev.droidgate/provider"]["fields"] == fields
    assert written(read_one(modern), "2025-11-25") == dump


def test_what_mcp_has_no_field_for_is_in_meta() -> None:
    fields = {"package": "com.example.app", "component": ".Service", "name": "App", "instructions": "Brief."}
    capability = Capability(id="a", version="2", extensions={"other": {"level": 3}})
    more = {"definitions": {"Unused": int64()}, "extensions": {"other": {"flag": True}}}
    document = written(provider_of(capability, **fields, **more))
    data = {**fields, "definitions": {"Unused": {"type": "integer"}}, "extensions": {"other": {"flag": True}}}
    assert document["_meta"] == {"dev.droidgate/provider": data}
    meta = {"dev.droidgate/tool": {"version": "2", "extensions": {"other": {"level": 3}}}}
    assert document["tools"] == [{"name": "a", "inputSchema": {"type": "object"}, "_meta": meta}]


@titled(("field", "value"), {
    "a package": ("package", "com.example.app"),
    "rules of access": ("access", ComponentAccess(exported=False)),
})  # fmt: skip
def test_an_array_of_tools_with_facts_about_its_server_becomes_a_result(field: str, value: Any) -> None:
    writing = write(read_one([WEATHER]).model_copy(update={field: value}))
    dropped = {"mcp/document 2025-11-25": ("notation-dropped", Level.RENAMED)}
    assert facts_of(writing, "/extensions/") == dropped
    assert {finding.level for finding in writing.findings} == {Level.RENAMED}
    assert getattr(read_one(writing.artifacts[0].text), field) == value


def test_a_document_does_not_depend_on_the_order_of_sets() -> None:
    server = {"name": "n", "version": "1", "description": "d"}
    document = {"serverInfo": server, "instructions": "i", "tools": [WEATHER]}
    program = (
        "from adapters.mcp_format.tool_lists import read_one, write\n"
        f"print([artifact.text for artifact in write(read_one({document!r})).artifacts])"
    )
    command = [sys.executable, "-c", program]
    outside = {**os.environ, "PYTHONPATH": str(CHECKOUT / "tests")}
    seeded = ({**outside, "PYTHONHASHSEED": seed} for seed in "01")
    documents = {subprocess.run(command, env=env, capture_output=True, check=True).stdout for env in seeded}
    assert len(documents) == 1
    assert b"instructions" in documents.pop()


def test_definitions_are_in_the_schemas_that_reach_them() -> None:
    definitions = {"Text": string(), "Other": array(ref("Text"))}
    capability = Capability(id="a", input=record({"x": optional(ref("Text"))}))
    document = written(provider_of(capability, definitions=definitions))
    assert document["tools"][0]["inputSchema"]["$defs"] == {"Text": {"type": "string"}}
    meta = document["_meta"]["dev.droidgate/provider"]["definitions"]
    assert meta == {"Other": {"type": "array", "items": {"$ref": "#/$defs/Text"}}, "Text": {"type": "string"}}


def test_an_output_that_is_not_an_object_is_wrapped_up_to_2025() -> None:
    provider = Provider(protocol="test", capabilities=(Capability(id="a", output=array(string())),))
    listed = {"type": "array", "items": {"type": "string"}}
    wrapped = {"type": "object", "properties": {"result": listed}, "required": ["result"]}
    assert written(provider, "2025-11-25")["tools"][0]["outputSchema"] == wrapped
    assert written(provider, "2026-07-28")["tools"][0]["outputSchema"] == listed


@titled(("name", "is_kept"), {
    "letters, digits, dots, hyphens and underscores": ("a.b-C_9", True),
    "128 characters": ("n" * 128, True),
    "129 characters": ("n" * 129, False),
    "a space": ("a b", False),
    "a number sign": ("Notes#create", False),
    "a letter outside of ASCII": ("ü", False),
})  # fmt: skip
def test_names_outside_the_rule_are_mapped(name: str, *, is_kept: bool) -> None:
    writing = write(Provider(protocol="test", capabilities=(Capability(id=name),)))
    (capability,) = writing.provider.capabilities
    assert (capability.id == name) is is_kept
    assert [entry.original for entry in writing.names] == ([] if is_kept else [name])


def test_hints_are_written_only_where_the_source_states_one() -> None:
    hinted = Capability(id="a", effects=Effects(idempotent=False))
    tools = written(provider_of(hinted, Capability(id="b")))["tools"]
    assert tools[0]["annotations"] == {"idempotentHint": False}
    assert "annotations" not in tools[1]


MODERN = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}


@titled(("schema", "values"), {
    "a list of itself":
        ({"type": "array", "items": {"$ref": "#"}}, [[], [[]], [1], [[[]], []], 1, {"result": []}]),
    "any of a text and a list of itself":
        ({"anyOf": [{"type": "string"}, {"type": "array", "items": {"$ref": "#"}}]},
         ["a", ["a", ["b"]], [1], {"result": "a"}]),
    "a text or a list of itself":
        ({"type": ["string", "array"], "items": {"$ref": "#"}}, ["a", ["a", ["b"]], [1], [{"result": "a"}]]),
    "any of a text and a map of itself":
        ({"anyOf": [{"type": "string"}, {"type": "object", "additionalProperties": {"$ref": "#"}}]},
         ["a", {"x": "a"}, {"x": {"y": "b"}}, {"x": 1}, {"result": "a"}]),
    "a list of a definition":
        ({"type": "array", "items": {"$ref": "#/$defs/A"}, "$defs": {"A": {"enum": ["a"]}}},
         [["a"], ["b"], []]),
    "a pair that refers to its first item and itself":
        ({"type": "array", "prefixItems": [{"type": "integer"}],
          "items": {"anyOf": [{"$ref": "#/prefixItems/0"}, {"$ref": "#"}]}},
         [[1, 2], [1, [2]], ["a"], [1, "a"]]),
})  # fmt: skip
def test_an_output_inside_an_object_takes_the_values_it_took_and_each_difference_is_reported(
    schema: dict[str, Any], values: list[Json]
) -> None:
    tool = {"name": "a", "inputSchema": {"type": "object"}, "outputSchema": schema}
    provider = read_one(result(tool, **MODERN))
    assert written(provider, "2026-07-28")["tools"] == [tool]
    wrapped = Draft202012Validator(written(provider, "2025-11-25")["tools"][0]["outputSchema"])
    original = Draft202012Validator(schema)
    assert [wrapped.is_valid({"result": item}) for item in values] == list(map(original.is_valid, values))
    writing = write(provider, "2025-11-25")
    assert_findings_match(provider, writing)
    assert_reads_back(writing, FORMAT, FORMAT.dialect("2025-11-25"))
    assert {finding.level for finding in writing.findings} == {Level.RENAMED}


def test_references_into_an_input_are_written_as_they_were_read() -> None:
    properties = {"a": {"type": "string"}, "b": {"$ref": "#/properties/a"}, "c": {"$ref": "#"}}
    document = result({"name": "a", "inputSchema": {"type": "object", "properties": properties}})
    provider = read_one(document)
    assert written(provider) == document
    writing = write(provider, "2026-07-28")
    assert writing.findings == ()
    assert_reads_back(writing, FORMAT, FORMAT.dialect("2026-07-28"))


PLAIN = {"name": "a", "description": "Adds.", "inputSchema": {"type": "object"}}
TARGETS = ("appfunctions", "mmcp", "mobile-mcp")


def _convert(document: Json, target: str) -> list[Finding]:
    findings = write_for(read_one(document), target).findings
    return [finding for finding in findings if "/extensions/mcp/" in finding.pointer]


@pytest.mark.parametrize("target", TARGETS)
@titled("document", {
    "an array": [PLAIN],
    "a page": {"tools": [PLAIN], "nextCursor": "abc"},
    "the server's title": {"tools": [PLAIN], "serverInfo": {"name": "a", "title": "A", "version": "1"}},
    "a server": {"tools": [PLAIN], "server": {"name": "a", "version": "1"}},
    "the server's name and version": {"tools": [PLAIN], "name": "a", "version": "1"},
    "a title in the annotations": {"tools": [{**PLAIN, "annotations": {"title": "A"}}]},
    "a title and one in the annotations": {"tools": [{**PLAIN, "title": "A", "annotations": {"title": "A"}}]},
    "empty annotations": {"tools": [{**PLAIN, "annotations": {}}]},
    "a response": {"jsonrpc": "2.0", "id": 1, "result": {"tools": [PLAIN]}},
    "a result of 2026": {"tools": [PLAIN], "resultType": "complete", "ttlMs": 5, "cacheScope": "public"},
    "a version of the protocol": {"tools": [PLAIN], "protocolVersion": "2025-06-18"},
    "a schema of the document": {"tools": [PLAIN], "$schema": "https://example.com/schema.json"},
    "a response with a page": {"jsonrpc": "2.0", "id": 1, "result": {"tools": [PLAIN], "nextCursor": "abc"}},
})  # fmt: skip
def test_a_difference_of_layout_has_the_level_of_a_spelling(document: Json, target: str) -> None:
    findings = _convert(document, target)
    assert {finding.level for finding in findings} <= {Level.RENAMED}
    assert {finding.code for finding in findings} <= {"notation-dropped"}


@pytest.mark.parametrize("target", TARGETS)
def test_each_further_field_has_a_finding_of_its_own(target: str) -> None:
    document = {
        "protocolVersion": "2025-06-18",
        "serverInfo": {"name": "a", "version": "1", "websiteUrl": "https://example.com"},
        "capabilities": {"tools": {}},
        "prompts": [],
        "resources": [{"uri": "x:y"}],
        "x/vendor": 1,
        "_meta": {"com.example/a": 1, "com.example/b": 2},
        "tools": [{**PLAIN, "icons": [{"src": "data:,"}], "annotations": {"vendorHint": True},
            "_meta": {"com.example/c": 3, "d": 4}}],
    }  # fmt: skip
    dropped = {item.pointer for item in _convert(document, target) if item.level == Level.DROPPED}
    assert dropped == {
        *(f"/extensions/mcp/~1{name}" for name in ("capabilities", "prompts", "resources", "x~01vendor")),
        *(f"/extensions/mcp/~1{name}" for name in ("serverInfo~1websiteUrl", "_meta~1com.example~01a")),
        "/extensions/mcp/~1_meta~1com.example~01b",
        *(f"/capabilities/0/extensions/mcp/{name}" for name in ("icons", "~1annotations~1vendorHint")),
        *(f"/capabilities/0/extensions/mcp/~1_meta~1{name}" for name in ("com.example~01c", "d")),
    }


def test_a_title_of_annotations_that_no_client_shows_is_dropped() -> None:
    document = {"tools": [{**PLAIN, "title": "A", "annotations": {"title": "B"}}]}
    (finding,) = _convert(document, "mmcp")
    assert finding.level == Level.DROPPED
    assert finding.pointer == "/capabilities/0/extensions/mcp/~1annotations~1title"


DIALECTS = ("2025-11-25", "2026-07-28")


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("rules", [
    {}, {"exported": False}, {"exported": None}, {"enabled": False}, {"permission": "com.example.CALL"},
    {"enabled": {"": False, "v36": True}},
], ids=str)  # fmt: skip
def test_rules_of_a_component_are_in_meta_of_the_list(rules: dict[str, Any], dialect: str) -> None:
    access = ComponentAccess(**rules)
    document = written(Provider(protocol="mcp", access=access), dialect)
    meta = document.get("_meta", {}).get("dev.droidgate/provider", {})
    assert meta == ({"access": rules} if rules else {})
    assert read_one(document).access == access


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("rules", [
    {}, {"enabled_by_default": False}, {"restrict_callers": False}, {"scope": "activity"},
    {"access_level": "self"},
], ids=str)  # fmt: skip
def test_rules_of_a_capability_are_in_meta_of_its_tool(rules: dict[str, Any], dialect: str) -> None:
    access = CapabilityAccess(**rules)
    provider = Provider(protocol="mcp", capabilities=(Capability(id="a", access=access),))
    document = written(provider, dialect)
    meta = document["tools"][0].get("_meta", {}).get("dev.droidgate/tool", {})
    assert meta == ({"access": rules} if rules else {})
    assert read_one(document).capabilities[0].access == access


def test_a_rule_that_no_mcp_client_enforces_is_a_security_finding() -> None:
    provider = Provider(protocol="test", access=ComponentAccess(permission="com.example.CALL"))
    (finding,) = write(provider).findings
    assert (finding.level, finding.pointer) == (Level.SECURITY, "/access/permission")


def server(access: Json) -> Json:
    return result(_meta={"dev.droidgate/provider": {"access": access}})


def tool(access: Json) -> Json:
    return result({**WEATHER, "_meta": {"dev.droidgate/tool": {"access": access}}})


@titled(("document", "message"), {
    "rules of a server are a list": (server([]), "'access' in"),
    "exported is a word": (server({"exported": "yes"}), "'access/exported' in"),
    "enabled has a word for a release": (server({"enabled": {"v36": "x"}}), "'access/enabled' in"),
    "a permission is a number": (server({"permission": 5}), "'access/permission' in"),
    "a permission with a control character":
        (server({"permission": "a\x00b"}), "'access/permission' in .* has a control character"),
    "enabled without releases": (server({"enabled": {}}), "'access/enabled' in .* has no configuration"),
    "enabled with a control character":
        (server({"enabled": {"a\x00": True}}), "'access/enabled' in .* is not a resource qualifier"),
    "enabled with a path":
        (server({"enabled": {"x/../../evil": True}}), "'access/enabled' in .* is not a resource qualifier"),
    "enabled with a space in its qualifier":
        (server({"enabled": {"V 36": True}}), "'access/enabled' in .* is not a resource qualifier"),
    "a rule of a server that is unknown": (server({"unheard-of": 1}), "'access/unheard-of' in"),
    "rules of a tool are a text": (tool("x"), "'access' in"),
    "enabled by default is a number": (tool({"enabled_by_default": 0}), "'access/enabled_by_default' in"),
    "restricted callers are a word": (tool({"restrict_callers": "no"}), "'access/restrict_callers' in"),
    "an unknown scope": (tool({"scope": "window"}), "'access/scope' in"),
    "an unknown level of access": (tool({"access_level": "everyone"}), "'access/access_level' in"),
})  # fmt: skip
def test_invalid_rules_are_an_error(document: Json, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        read_one(document)
    assert document["tools"] == [] or caught.value.place == "tools.json:/tools/0"

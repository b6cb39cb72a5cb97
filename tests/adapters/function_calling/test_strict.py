"""Tools of OpenAI's strict mode: what the API takes, what a model's call means, and what is lost.

The rules are typed from OpenAI's guide *Structured outputs*, section *Supported schemas*.
"""

import json
from pathlib import Path
from random import Random
from typing import Any

import jsonschema
import pytest

import droidgate
from adapters.function_calling.test_write import tools_of, validate, write
from droidgate_mappings.formats.format import Writing
from droidgate_mappings.json_schema import read_schema
from droidgate_mappings.model.capability import Capability, Provider
from droidgate_mappings.model.findings import Level
from droidgate_mappings.values.coercion import fit_arguments
from properties.matching import assert_findings_match
from strategies import random_provider

PLACE = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "zip": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}
TOOL: dict[str, Any] = {
    "name": "remind",
    "inputSchema": {
        "type": "object",
        "properties": {
            "title": {"type": "string"},
            "count": {"type": "integer", "format": "int32", "minimum": -(2**31), "maximum": 2**31 - 1},
            "places": {"type": "array", "items": PLACE},
            "until": {"type": ["string", "null"]},
        },
        "required": ["title", "until"],
    },
}
WORDS = {
    *("type", "properties", "required", "additionalProperties", "items", "enum", "anyOf", "$ref", "$defs"),
    *("description", "title", "pattern", "format", "multipleOf", "minimum", "maximum"),
    *("exclusiveMinimum", "exclusiveMaximum", "minItems", "maxItems"),
}
FORMATS = {"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"}


def check(schema: dict[str, Any], *, is_root: bool = False) -> None:
    """Assert that the API takes a schema in strict mode."""
    assert schema.keys() <= WORDS, schema
    if is_root:
        assert schema["type"] == "object"
        assert "anyOf" not in schema
    else:
        assert schema.keys() & {"type", "$ref", "anyOf"}, schema
    if "$ref" in schema:
        assert schema.keys() == {"$ref"}
    if "object" in schema.get("type", ()):
        assert schema["additionalProperties"] is False
        assert schema.get("required", []) == list(schema["properties"])
        assert is_root or schema["properties"]
    if "array" in schema.get("type", ()):
        assert "items" in schema
    if "format" in schema:
        assert schema["format"] in FORMATS
    for word in ("properties", "$defs"):
        for inner in schema.get(word, {}).values():
            check(inner)
    for inner in [*schema.get("anyOf", []), *([schema["items"]] if "items" in schema else [])]:
        check(inner)


def provider_of(schema: dict[str, Any]) -> Provider:
    type_, definitions = read_schema(schema)
    capability = Capability(id="do", input=type_)
    return Provider(protocol="test", capabilities=(capability,), definitions=definitions)


def strict_tool(schema: dict[str, Any]) -> tuple[dict[str, Any], Writing]:
    writing = write(provider_of(schema), "openai-strict")
    assert_findings_match(provider_of(schema), writing)
    (tool,) = tools_of(writing)
    return tool, writing


@pytest.mark.slow
def test_each_strict_tool_is_what_the_api_takes() -> None:
    strict = 0
    for seed in range(300):
        provider = random_provider(Random(seed))
        writing = write(provider, "openai-strict")
        assert_findings_match(provider, writing)
        for tool in tools_of(writing):
            if tool["strict"]:
                strict += 1
                check(tool["parameters"], is_root=True)
    assert strict > 30


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_parameter_that_may_be_left_out_is_required_and_takes_null() -> None:
    tool, writing = strict_tool(TOOL["inputSchema"])
    place = {**PLACE, "properties": {"city": {"type": "string"}, "zip": {"type": ["string", "null"]}}}
    bounds = {"minimum": -(2**31), "maximum": 2**31 - 1}
    assert tool == {
        "type": "function",
        "name": "do",
        "parameters": {
            "type": "object",
            "properties": {
                "title": {"type": "string"},
                "count": {"type": ["integer", "null"], **bounds},
                "places": {"type": ["array", "null"], "items": {**place, "required": ["city", "zip"]}},
                "until": {"type": ["string", "null"]},
            },
            "required": ["title", "count", "places", "until"],
            "additionalProperties": False,
        },
        "strict": True,
    }
    check(tool["parameters"], is_root=True)
    validate("openai", [tool])
    levels = {finding.pointer.partition("/input/")[2]: finding.level for finding in writing.findings}
    assert levels["keywords/additionalProperties"] is Level.NARROWED
    assert levels["properties/count/required"] is Level.RENAMED
    assert levels["properties/count/type/nullable"] is Level.RENAMED


def test_null_in_a_models_call_means_no_value_and_a_required_null_is_one(tmp_path: Path) -> None:
    source = tmp_path / "tools.json"
    source.write_text(json.dumps({"tools": [TOOL]}))
    conversion = droidgate.convert(droidgate.read(str(source)), to="function-calling+openai-strict")
    sent = {
        "title": "Milk",
        "count": None,
        "places": [{"city": "Oslo", "zip": None}, {"city": "Rome", "zip": "00100"}],
        "until": None,
    }
    (artifact,) = conversion.translations[0].writing.artifacts
    (tool,) = json.loads(artifact.text)
    jsonschema.validate(sent, tool["parameters"])
    call = {"type": "function_call", "call_id": "1", "name": "remind", "arguments": json.dumps(sent)}
    meant = droidgate.read_function_call("openai-strict", call, conversion)
    places = [{"city": "Oslo"}, {"city": "Rome", "zip": "00100"}]
    assert meant.arguments == {"title": "Milk", "places": places}
    provider = provider_of(TOOL["inputSchema"])
    fitted = fit_arguments(meant.arguments, provider.capabilities[0], provider.definitions)
    assert fitted.values == {"title": "Milk", "places": places}
    assert [coercion.message for coercion in fitted.coercions] == [
        "it is required and missing, which stands for null"
    ]


@pytest.mark.parametrize("part", [
    {"type": "object"},
    {"type": "object", "properties": {"a": {}}, "additionalProperties": {"type": "string"}},
    {"type": "array"},
    {"allOf": [{"type": "string"}, {"pattern": "a"}]},
    {"type": "string", "format": "uri"},
    {},
])  # fmt: skip
def test_a_tool_that_strict_mode_cannot_express_is_not_strict(part: dict[str, Any]) -> None:
    schema = {"type": "object", "properties": {"part": part, "title": {"type": "string"}}}
    tool, _ = strict_tool(schema)
    assert tool["strict"] is False
    assert "title" not in tool["parameters"].get("required", [])


def test_a_recursive_tool_is_strict_in_all_of_its_parts() -> None:
    item = {
        "type": "object",
        "properties": {
            "text": {"type": "string"},
            "inner": {"type": "array", "items": {"$ref": "#/$defs/I"}},
        },
        "required": ["text"],
    }
    schema = {"type": "object", "properties": {"item": {"$ref": "#/$defs/I"}}, "$defs": {"I": item}}
    tool, _ = strict_tool(schema)
    assert tool["strict"] is True
    check(tool["parameters"], is_root=True)
    assert tool["parameters"]["properties"]["item"] == {"anyOf": [{"$ref": "#/$defs/I"}, {"type": "null"}]}
    assert tool["parameters"]["$defs"]["I"]["required"] == ["text", "inner"]


@pytest.mark.slow
@pytest.mark.parametrize(("count", "strict"), [(5_000, True), (5_001, False)])
def test_a_tool_of_more_properties_than_the_api_takes_is_not_strict(count: int, strict: bool) -> None:  # noqa: FBT001
    properties = {f"p{number}": {"type": "string"} for number in range(count)}
    tool, _ = strict_tool({"type": "object", "properties": properties})
    assert tool["strict"] is strict

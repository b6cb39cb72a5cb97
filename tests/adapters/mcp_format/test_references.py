"""References keep their meaning where an output is written inside an object."""

from typing import Any

import pytest
from jsonschema import Draft202012Validator

from adapters.mcp_format.tool_lists import read_one, result, write, written
from droidgate_mappings.model.findings import Level
from droidgate_mappings.model.json_values import Json
from droidgate_mcp.format import FORMAT
from properties.matching import assert_findings_match, assert_reads_back

MODERN = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
OUTPUTS: list[tuple[dict[str, Any], list[Json]]] = [
    ({"type": "array", "items": {"$ref": "#"}}, [[], [[]], [1], [[[]], []], 1, {"result": []}]),
    ({"anyOf": [{"type": "string"}, {"type": "array", "items": {"$ref": "#"}}]}, ["a", ["a", ["b"]], [1],
        {"result": "a"}]),
    ({"type": ["string", "array"], "items": {"$ref": "#"}}, ["a", ["a", ["b"]], [1], [{"result": "a"}]]),
    ({"anyOf": [{"type": "string"}, {"type": "object", "additionalProperties": {"$ref": "#"}}]}, ["a",
        {"x": "a"}, {"x": {"y": "b"}}, {"x": 1}, {"result": "a"}]),
    ({"type": "array", "items": {"$ref": "#/$defs/A"}, "$defs": {"A": {"enum": ["a"]}}}, [["a"], ["b"], []]),
    ({"type": "array", "prefixItems": [{"type": "integer"}], "items": {"anyOf": [{"$ref": "#/prefixItems/0"},
        {"$ref": "#"}]}}, [[1, 2], [1, [2]], ["a"], [1, "a"]]),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "values"), OUTPUTS)
def test_an_output_inside_an_object_takes_the_values_it_took(
    schema: dict[str, Any], values: list[Json]
) -> None:
    tool = {"name": "a", "inputSchema": {"type": "object"}, "outputSchema": schema}
    provider = read_one(result(tool, **MODERN))
    assert written(provider, "2026-07-28")["tools"] == [tool]
    document = written(provider, "2025-11-25")
    wrapped = Draft202012Validator(document["tools"][0]["outputSchema"])
    original = Draft202012Validator(schema)
    assert [wrapped.is_valid({"result": value}) for value in values] == [
        original.is_valid(value) for value in values
    ]


@pytest.mark.parametrize(("schema", "values"), OUTPUTS)
def test_a_wrapped_output_is_reported_at_each_difference(schema: dict[str, Any], values: list[Json]) -> None:
    del values
    tool = {"name": "a", "inputSchema": {"type": "object"}, "outputSchema": schema}
    provider = read_one(result(tool, **MODERN))
    writing = write(provider, "2025-11-25")
    assert_findings_match(provider, writing)
    assert_reads_back(writing, FORMAT, FORMAT.dialect("2025-11-25"))
    assert {finding.level for finding in writing.findings} == {Level.RENAMED}


def test_references_into_an_input_are_written_as_they_were_read() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"type": "string"}, "b": {"$ref": "#/properties/a"}, "c": {"$ref": "#"}},
    }
    document = result({"name": "a", "inputSchema": schema})
    provider = read_one(document)
    assert written(provider) == document
    writing = write(provider, "2026-07-28")
    assert writing.findings == ()
    assert_reads_back(writing, FORMAT, FORMAT.dialect("2026-07-28"))

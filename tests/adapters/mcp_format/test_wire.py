"""Calls and results as values, held against the MCP SDK's own types in both revisions."""

import importlib
import json
from typing import Any

import pytest
from hypothesis import given, strategies as st

from droidgate_mappings.model.json_values import Json
from droidgate_mappings.model.types import AnyType, ArrayType, ObjectType
from droidgate_mappings.tables.failure_tokens import load_failure_tokens
from droidgate_mcp.wire import DeclaredOutput, McpToolFailure, McpToolResult, write_error, write_result
from model_types import array, int64, null, optional, record, ref, string
from strategies import json_values
from titled_rows import titled

REVISIONS = {"2025-11-25": "mcp_types._v2025_11_25", "2026-07-28": "mcp_types._v2026_07_28"}
OBJECT = DeclaredOutput(record({"result": optional(int64())}))
ARRAY = DeclaredOutput(array(string()))
BY_NAME = DeclaredOutput(ref("Note"), {"Note": ObjectType()})
VOID = DeclaredOutput(null())
pytestmark = pytest.mark.requires("mcp-types")


def _sdk(revision: str) -> Any:
    return importlib.import_module(REVISIONS[revision])


@pytest.mark.parametrize("revision", REVISIONS)
@titled(("declared", "value"), {
    "an object": (OBJECT, {"result": 1}),
    "an array": (ARRAY, ["a"]),
    "a type by its name": (BY_NAME, {"title": "x"}),
    "nothing": (VOID, None),
    "no declared output": (DeclaredOutput(), "plain"),
})  # fmt: skip
def test_the_sdk_reads_a_value(revision: str, declared: DeclaredOutput, value: Json) -> None:
    result = write_result(McpToolResult(value), revision, declared)
    _sdk(revision).CallToolResult.model_validate(result)


@titled(("value", "revision", "declared", "structured"), {
    "an array is wrapped in 2025": (["a"], "2025-11-25", ARRAY, {"result": ["a"]}),
    "an array is as it is in 2026": (["a"], "2026-07-28", ARRAY, ["a"]),
    "an object with a result is not wrapped": ({"result": 1}, "2025-11-25", OBJECT, {"result": 1}),
})  # fmt: skip
def test_structured_content_is_an_object_up_to_2025(
    value: Json, revision: str, declared: DeclaredOutput, structured: Json
) -> None:
    result = write_result(McpToolResult(value), revision, declared)
    assert result["structuredContent"] == structured
    assert result["content"] == [{"type": "text", "text": json.dumps(value, separators=(",", ":"))}]


@pytest.mark.parametrize("revision", REVISIONS)
@titled(("declared", "value", "structured", "text"), {
    "nothing is declared null": (VOID, None, {}, "Done."),
    "nothing without a declared output": (DeclaredOutput(), None, None, "Done."),
    "an empty text is quoted": (DeclaredOutput(), "", None, '""'),
    "null for any value": (DeclaredOutput(AnyType()), None, {"result": None}, "null"),
    "null for an object": (DeclaredOutput(record({}, nullable=True)), None, {"result": None}, "null"),
    "an empty object of a named type that may be null":
        (DeclaredOutput(ref("A"), {"A": record({}, nullable=True)}), {}, {"result": {}}, "{}"),
})  # fmt: skip
def test_a_nullable_result_is_in_an_object_and_its_text_is_not_empty(
    revision: str, declared: DeclaredOutput, value: Json, structured: Json, text: str
) -> None:
    result = write_result(McpToolResult(value), revision, declared)
    assert result.get("structuredContent") == structured
    assert result["content"] == [{"type": "text", "text": text}]


def test_images_stay_next_to_the_value() -> None:
    image = {"type": "image", "data": "AA==", "mimeType": "image/png"}
    result = write_result(McpToolResult("x", content=(image,)), "2025-11-25")
    assert result == {"content": [{"type": "text", "text": "x"}, image]}


@pytest.mark.parametrize("token", load_failure_tokens())
def test_every_failure_token_is_read_from_an_error_of_the_sdk(token: str) -> None:
    error = write_error(McpToolFailure(token, "because"))
    importlib.import_module("mcp_types").ErrorData.model_validate(error)
    code = load_failure_tokens()[token].mcp_error
    assert error == {"code": -32603 if code == "result" else code, "message": f"{token}: because"}


@pytest.mark.parametrize("revision", REVISIONS)
@pytest.mark.parametrize("token", load_failure_tokens())
def test_every_failure_token_is_read_from_a_result_of_the_sdk(revision: str, token: str) -> None:
    result = write_result(McpToolResult(failure=McpToolFailure(token, "because")), revision)
    assert _sdk(revision).CallToolResult.model_validate(result).is_error is True
    assert result["content"] == [{"type": "text", "text": f"{token}: because"}]


_JSON = json_values()


@given(_JSON, st.sampled_from(list(REVISIONS)))
def test_any_value_of_an_undeclared_shape_survives_where_an_output_is_declared(
    value: Json, revision: str
) -> None:
    declared = DeclaredOutput(ArrayType())
    result = write_result(McpToolResult(value), revision, declared)
    assert result["structuredContent"] == ({"result": value} if revision == "2025-11-25" else value)

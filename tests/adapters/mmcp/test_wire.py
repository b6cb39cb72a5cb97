"""Calls and results as values: what the two known apps send, and every bent rule."""

import json
from typing import Any

import pytest
from hypothesis import given, strategies as st

from droidgate_mappings.formats.leniency import ReadingContext
from droidgate_mappings.model.capability import Place, Provider
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.model.types import ObjectType
from droidgate_mmcp.discovery import read_discovery
from droidgate_mmcp.wire import (
    MmcpToolCall,
    MmcpToolFailure,
    MmcpToolResult,
    read_activity_result,
    read_broadcast_result,
    write_activity_call,
    write_broadcast_call,
)
from model_types import int64, optional, record, required, string

OK, CANCELED = -1, 0


def rows(context: ReadingContext) -> list[str | None]:
    return [finding.rule for finding in context.findings]


def test_a_call_has_the_two_extras_of_section_3() -> None:
    extras = write_activity_call(MmcpToolCall("pdf_tool", {"path": "/a.pdf", "deep": {"n": [1, None]}}))
    assert extras.keys() == {"tool_name", "parameters"}
    assert extras["tool_name"] == "pdf_tool"
    assert json.loads(extras["parameters"]) == {"path": "/a.pdf", "deep": {"n": [1, None]}}
    assert write_activity_call(MmcpToolCall("a"))["parameters"] == "{}"


@pytest.mark.parametrize(("extras", "values"), [
    ({"result": '{"message":"hello"}'}, {"message": "hello"}),
    ({"result": "[1, 2]"}, {"value": [1, 2]}),
    ({"result": "25"}, {"value": 25}),
    ({"result": "Hello, Mic!"}, {"text": "Hello, Mic!"}),
    ({"result": '{"a": 1, "a": 2}'}, {"text": '{"a": 1, "a": 2}'}),
    ({"result": 5}, {"value": 5}),
    ({}, {}),
    (None, {}),
])  # fmt: skip
def test_a_result_is_named_values(extras: dict[str, Json] | None, values: dict[str, Json]) -> None:
    assert read_activity_result(OK, extras, ReadingContext(strict=True)) == MmcpToolResult(values)


@pytest.mark.row("M45")
@pytest.mark.parametrize(("text", "token", "message"), [
    ("Unknown tool: foo", "unknown_capability", "Unknown tool: foo"),
    ("Error: Missing tool name or parameters", "invalid_argument", "Missing tool name or parameters"),
    ("Error: it broke", "backend_failure", "it broke"),
    ("Error: denied: not you", "denied", "not you"),
])  # fmt: skip
def test_an_error_text_with_result_ok_is_a_failure_and_reported(text: str, token: str, message: str) -> None:
    context = ReadingContext()
    assert read_activity_result(OK, {"result": text}, context).failure == MmcpToolFailure(token, message)
    assert rows(context) == ["M45"]
    assert read_activity_result(OK, {"result": text}, ReadingContext(strict=True)).values == {"text": text}


@pytest.mark.parametrize(("code", "extras", "failure"), [
    (CANCELED, None, MmcpToolFailure("canceled", "cancelled or unknown tool")),
    (CANCELED, {}, MmcpToolFailure("canceled", "cancelled or unknown tool")),
    (CANCELED, {"error": "", "result": 5}, MmcpToolFailure("canceled", "cancelled or unknown tool")),
    (CANCELED, {"error": "timeout: too slow", "result": "x"}, MmcpToolFailure("timeout", "too slow")),
    (CANCELED, {"result": "Error: Invalid parameters JSON: End of input"},
        MmcpToolFailure("invalid_argument", "Invalid parameters JSON: End of input")),
    (CANCELED, {"result": "it broke"}, MmcpToolFailure("backend_failure", "it broke")),
    (7, None, MmcpToolFailure("backend_failure", "the activity answered with the result code 7")),
    (1, {"result": "odd"}, MmcpToolFailure("backend_failure", "odd")),
])  # fmt: skip
def test_other_result_codes_are_failures(code: int, extras: Any, failure: MmcpToolFailure) -> None:
    result = read_activity_result(code, extras, ReadingContext(strict=True))
    assert (result.failure, result.values) == (failure, {})


_VALUES = st.dictionaries(
    st.text(max_size=5),
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.text(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
        max_leaves=6,
    ),
    max_size=4,
)


@given(st.text(min_size=1), _VALUES)
def test_calls_and_results_cross_unchanged(tool: str, values: dict[str, Json]) -> None:
    strict = ReadingContext(strict=True)
    call, text = MmcpToolCall(tool, values), json.dumps(values)
    activity, broadcast = write_activity_call(call), write_broadcast_call(call)
    assert (activity["tool_name"], json.loads(activity["parameters"])) == (tool, values)
    assert (broadcast["tool"], json.loads(broadcast["params"])) == (tool, values)
    assert read_activity_result(OK, {"result": text}, strict) == MmcpToolResult(values)
    assert read_broadcast_result(OK, text, strict) == MmcpToolResult(values)


@given(st.integers(-3, 3), st.dictionaries(st.sampled_from(["result", "error", "x"]), _VALUES | st.text()))
def test_any_answer_is_a_result_or_a_failure(code: int, extras: dict[str, Json]) -> None:
    result = read_activity_result(code, extras, ReadingContext())
    assert result.failure is None or result.failure.token


def test_a_broadcast_call_has_the_extras_that_breezy_weather_reads() -> None:
    assert write_broadcast_call(MmcpToolCall("getWeather", {"location": "Sydney"})) == {
        "tool": "getWeather",
        "params": '{"location":"Sydney"}',
    }


def test_plain_text_of_a_broadcast_is_a_result_and_error_texts_are_hints() -> None:
    strict = ReadingContext(strict=True)
    sunny = "Weather is sunny, 25\u00b0C"
    assert read_broadcast_result(OK, sunny, strict) == MmcpToolResult({"text": sunny})
    assert read_broadcast_result(0, "Unknown tool", strict) == MmcpToolResult(
        {"text": "Unknown tool"}, hint="unknown_capability"
    )
    assert read_broadcast_result(0, "null", strict) == MmcpToolResult({"value": None}, hint="timeout")
    assert read_broadcast_result(0, None, strict).failure == MmcpToolFailure(
        "timeout", "the receiver gave no answer"
    )


@pytest.mark.row("M48")
def test_result_code_1_with_an_error_is_a_failure() -> None:
    failed = MmcpToolResult(failure=MmcpToolFailure("busy", "one at a time"))
    context = ReadingContext()
    assert read_broadcast_result(1, '{"error": "busy: one at a time"}', context) == failed
    assert rows(context) == ["M48"]


# What Breezy Weather's receiver answers (reference mobile-mcp-and-mmcp 3.3).
WEATHER: dict[str, Json] = {
    "tools": ["getWeather"],
    "getWeather.description": "Returns the weather somewhere",
    "getWeather.parameters": '{"location": "string"}',
}


def discover(extras: dict[str, Json], context: ReadingContext) -> Provider:
    return read_discovery(extras, context, place=Place(path="receiver"), package="a.b", component=".Weather")


def test_an_answer_to_discovery_is_a_provider() -> None:
    provider = discover({**WEATHER, "instructions": "Weather"}, ReadingContext(strict=True))
    assert (provider.dialect, provider.package, provider.component) == ("broadcast", "a.b", ".Weather")
    assert provider.instructions == "Weather"
    (tool,) = provider.capabilities
    assert (tool.id, tool.description) == ("getWeather", "Returns the weather somewhere")
    assert tool.input == record({"location": required(string())})


@pytest.mark.parametrize("parameters", [{}, {"a.parameters": "{}"}, {"a.parameters": ""}])
def test_a_tool_without_parameters_takes_none(parameters: dict[str, Json]) -> None:
    provider = discover({"tools": ("a",), **parameters}, ReadingContext())
    assert [(item.id, item.description, item.input) for item in provider.capabilities] == [
        ("a", None, ObjectType())
    ]


def test_an_answer_without_extras_has_no_tools() -> None:
    assert discover({}, ReadingContext(strict=True)).capabilities == ()


@pytest.mark.row("M50")
def test_without_a_list_the_other_keys_name_the_tools() -> None:
    context = ReadingContext()
    answer = {"b.c.description": "B", "a.parameters": "{}", "a.description": "A", ".parameters": "{}", "x": 1}
    assert [item.id for item in discover(answer, context).capabilities] == ["b.c", "a"]
    assert rows(context) == ["M50"]


@pytest.mark.row("M50")
@pytest.mark.parametrize("text", ["{", "[]", "5", 5])
def test_unreadable_parameters_of_one_tool_leave_the_others(text: Json) -> None:
    context = ReadingContext()
    provider = discover({**WEATHER, "tools": ["bad", "getWeather"], "bad.parameters": text}, context)
    assert [item.input == ObjectType() for item in provider.capabilities] == [True, False]
    assert rows(context) == ["M50"]


@pytest.mark.row("M37")
def test_a_json_schema_in_an_answer_is_read_as_one() -> None:
    context = ReadingContext()
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}}
    provider = discover({**WEATHER, "getWeather.parameters": json.dumps(schema)}, context)
    assert provider.capabilities[0].input == record({"n": optional(int64())})
    assert rows(context) == ["M37"]


@pytest.mark.parametrize("tools", ["a", ["a", "a"], [""], [5], {"a": 1}])
def test_a_list_that_names_no_tools_is_refused(tools: Json) -> None:
    with pytest.raises(InputError, match="`tools`"):
        discover({"tools": tools}, ReadingContext())

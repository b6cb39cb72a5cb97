"""Calls and results as values: what the two known apps send, and every leniency."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, strategies as st

from droidgate_mappings.formats.leniency import ReadingContext
from droidgate_mappings.model.capability import Place, Provider
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.model.types import ObjectType, Type
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
from strategies import FINITE, json_values
from titled_rows import titled

OK, CANCELED = -1, 0
DEEP = {"path": "/a.pdf", "deep": {"n": [1, None]}}


@titled(("write", "call", "extras"), {
    "arguments of an activity are a text of JSON": (write_activity_call, MmcpToolCall("pdf_tool", DEEP),
        {"tool_name": "pdf_tool", "parameters": '{"path":"/a.pdf","deep":{"n":[1,null]}}'}),
    "a call without arguments has an empty object":
        (write_activity_call, MmcpToolCall("a"), {"tool_name": "a", "parameters": "{}"}),
    # As Breezy Weather reads a broadcast.
    "a broadcast has keys of its own":
        (write_broadcast_call, MmcpToolCall("getWeather", {"location": "Sydney"}),
        {"tool": "getWeather", "params": '{"location":"Sydney"}'}),
})  # fmt: skip
def test_a_call_has_two_extras(
    write: Callable[[MmcpToolCall], dict[str, str]], call: MmcpToolCall, extras: dict[str, str]
) -> None:
    assert write(call) == extras


def activity(code: int, extras: Any) -> MmcpToolResult:
    return read_activity_result(code, extras, ReadingContext(strict=True))


def broadcast(code: int, data: str | None) -> MmcpToolResult:
    return read_broadcast_result(code, data, ReadingContext(strict=True))


def failed(token: str, message: str) -> MmcpToolResult:
    return MmcpToolResult(failure=MmcpToolFailure(token, message))


SUNNY = "Weather is sunny, 25\u00b0C"
NO_REASON = failed("canceled", "cancelled or unknown tool")


@titled(("seen", "result"), {
    "an object": (activity(OK, {"result": '{"message":"hello"}'}), MmcpToolResult({"message": "hello"})),
    "a list is a value": (activity(OK, {"result": "[1, 2]"}), MmcpToolResult({"value": [1, 2]})),
    "a number in a text is a value": (activity(OK, {"result": "25"}), MmcpToolResult({"value": 25})),
    "words are a text": (activity(OK, {"result": "Hello, Mic!"}), MmcpToolResult({"text": "Hello, Mic!"})),
    "an object with a key twice is a text":
        (activity(OK, {"result": '{"a": 1, "a": 2}'}), MmcpToolResult({"text": '{"a": 1, "a": 2}'})),
    "a number is a value": (activity(OK, {"result": 5}), MmcpToolResult({"value": 5})),
    "a success without a result has no values": (activity(OK, {}), MmcpToolResult({})),
    "a success without extras has no values": (activity(OK, None), MmcpToolResult({})),
    "a cancellation without extras has no reason": (activity(CANCELED, None), NO_REASON),
    "a cancellation with empty extras has no reason": (activity(CANCELED, {}), NO_REASON),
    "an empty error is not a reason": (activity(CANCELED, {"error": "", "result": 5}), NO_REASON),
    "an error with a token is a failure of it":
        (activity(CANCELED, {"error": "timeout: too slow", "result": "x"}), failed("timeout", "too slow")),
    "an error in the result of a cancellation is a failure":
        (activity(CANCELED, {"result": "Error: Invalid parameters JSON: End of input"}),
        failed("invalid_argument", "Invalid parameters JSON: End of input")),
    "words in the result of a cancellation are the reason":
        (activity(CANCELED, {"result": "it broke"}), failed("backend_failure", "it broke")),
    "another result code is a failure":
        (activity(7, None), failed("backend_failure", "the activity answered with the result code 7")),
    "another result code has its words": (activity(1, {"result": "odd"}), failed("backend_failure", "odd")),
    "plain text of a broadcast is a result": (broadcast(OK, SUNNY), MmcpToolResult({"text": SUNNY})),
    "an error text of a broadcast is a hint":
        (broadcast(0, "Unknown tool"), MmcpToolResult({"text": "Unknown tool"}, hint="unknown_capability")),
    "null of a broadcast is a value that may be a timeout":
        (broadcast(0, "null"), MmcpToolResult({"value": None}, hint="timeout")),
    "a code without data is a success without a result": (broadcast(OK, None), MmcpToolResult()),
    "the code of a failure without data is a failure": (broadcast(1, None),
        failed("backend_failure", "the receiver reported a failure and gave no message")),
    "neither a code nor data is a failure": (broadcast(0, None),
        failed("backend_failure", "the receiver set no result, or its app ended; the call may have run")),
})  # fmt: skip
def test_an_answer_is_named_values_or_a_failure(seen: MmcpToolResult, result: MmcpToolResult) -> None:
    assert seen == result


@pytest.mark.row("M45")
@titled(("text", "failure"), {
    "an unknown tool": ("Unknown tool: foo", failed("unknown_capability", "Unknown tool: foo")),
    "a missing name": ("Error: Missing tool name or parameters",
        failed("invalid_argument", "Missing tool name or parameters")),
    "an error without a token": ("Error: it broke", failed("backend_failure", "it broke")),
    "an error with a token": ("Error: denied: not you", failed("denied", "not you")),
})  # fmt: skip
def test_an_error_text_with_result_ok_is_a_failure_and_reported(text: str, failure: MmcpToolResult) -> None:
    context = ReadingContext()
    assert read_activity_result(OK, {"result": text}, context) == failure
    assert [finding.rule for finding in context.findings] == ["M45"]
    assert activity(OK, {"result": text}).values == {"text": text}


@pytest.mark.row("M48")
def test_result_code_1_with_an_error_is_a_failure() -> None:
    context = ReadingContext()
    answer = '{"error": "busy: one at a time"}'
    assert read_broadcast_result(1, answer, context) == failed("busy", "one at a time")
    assert [finding.rule for finding in context.findings] == ["M48"]


_VALUES = st.dictionaries(st.text(max_size=5), json_values(FINITE, most=6), max_size=4)


@given(st.text(min_size=1), _VALUES)
def test_calls_and_results_are_sent_unchanged(tool: str, values: dict[str, Json]) -> None:
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


NAMED = {"b.c.description": "B", "a.parameters": "{}", "a.description": "A", ".parameters": "{}", "x": 1}
TWO_TOOLS = {**WEATHER, "tools": ["bad", "getWeather"]}
COUNT = {"type": "object", "properties": {"n": {"type": "integer"}}}
PLACE, NOTHING = record({"location": required(string())}), ObjectType()


def answer(title: str, row: str, extras: dict[str, Json], **inputs: Type) -> Any:
    """Return the case of an answer: the row that lets it in, and the input of each tool."""
    marks = [pytest.mark.row(row)] if row else []
    return pytest.param(extras, inputs, [row] if row else [], id=title, marks=marks)


@pytest.mark.parametrize(("extras", "inputs", "rows"), [
    answer("nothing at all", "", {}),
    answer("a tool without parameters", "", {"tools": ("a",)}, a=NOTHING),
    answer("an empty object of parameters", "", {"tools": ("a",), "a.parameters": "{}"}, a=NOTHING),
    answer("an empty text of parameters", "", {"tools": ("a",), "a.parameters": ""}, a=NOTHING),
    answer("without a list other keys name the tools", "M50", NAMED, **{"b.c": NOTHING, "a": NOTHING}),
    *(answer(f"parameters that are not an object leave the other tool: {text!r}", "M50",
        {**TWO_TOOLS, "bad.parameters": text}, bad=NOTHING, getWeather=PLACE)
        for text in ("{", "[]", "5", 5)),
    answer("a JSON Schema for the parameters", "M37", {**WEATHER, "getWeather.parameters": json.dumps(COUNT)},
        getWeather=record({"n": optional(int64())})),
])  # fmt: skip
def test_an_answer_to_discovery_is_read_by_its_row(
    extras: dict[str, Json], inputs: dict[str, Type], rows: list[str]
) -> None:
    context = ReadingContext()
    tools = discover(extras, context).capabilities
    assert [(item.id, item.input) for item in tools] == list(inputs.items())
    assert [item.description for item in tools] == [extras.get(f"{item.id}.description") for item in tools]
    assert [finding.rule for finding in context.findings] == rows


@pytest.mark.parametrize("tools", ["a", ["a", "a"], [""], [5], {"a": 1}], ids=str)
def test_a_list_that_names_no_tools_is_refused(tools: Json) -> None:
    with pytest.raises(InputError, match="`tools`"):
        discover({"tools": tools}, ReadingContext())

"""The commands of MobileAgent as a format; UFO's two command forms.

The lists of tools are typed from UFO's code (`mobile_mcp_server.py`, `aip/messages.py`) in the form that
FastMCP 2.11 answers `tools/list` with.
"""

import json
from typing import Any

import pytest
from hypothesis import given, strategies as st

from droidgate_mappings.formats.format import Reading, SourceFile, detect_format, find_format, load_formats
from droidgate_mappings.formats.leniency import ReadingContext
from droidgate_mappings.json_schema import write_schema
from droidgate_mappings.model.capability import Effects, Provider
from droidgate_mappings.model.errors import InputError, UsageError, WriteError
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.translate import translate
from droidgate_mobile_agent.format import FORMAT
from droidgate_mobile_agent.read import built_in
from droidgate_mobile_agent.wire import AgentCommand, read_command
from strategies import json_values
from titled_rows import titled

DATA_TOOLS = {
    "capture_screenshot", "get_ui_tree", "get_device_info", "get_mobile_app_target_info",
    "get_app_window_controls_target_info",
}  # fmt: skip
ACTING_TOOLS = {"tap", "swipe", "type_text", "launch_app", "press_key", "click_control"}
OTHER_TOOLS = {"wait", "invalidate_cache"}

CONTROLS: dict[str, Any] = {
    "name": "get_app_window_controls_target_info",
    "description": "Get control information with annotated IDs.",
    "inputSchema": {"properties": {"force_refresh": {"default": False, "title": "Force Refresh",
        "type": "boolean"}}, "type": "object"},
    "outputSchema": {
        "$defs": {"TargetInfo": {"properties": {"kind": {"type": "string"}, "name": {"type": "string"}},
            "required": ["kind", "name"], "type": "object"}},
        "properties": {"result": {"items": {"$ref": "#/$defs/TargetInfo"}, "type": "array"}},
        "required": ["result"],
        "type": "object",
        "x-fastmcp-wrap-result": True,
    },
    "_meta": {"_fastmcp": {"tags": []}},
}  # fmt: skip
PRESS: dict[str, Any] = {
    "name": "press_key",
    "inputSchema": {
        "properties": {"key_code": {"title": "Key Code", "type": "string"}},
        "required": ["key_code"],
        "type": "object",
    },
    "outputSchema": {"additionalProperties": True, "type": "object"},
}
CLICK: dict[str, Any] = {
    "name": "click_control",
    "inputSchema": {
        "properties": {"control_id": {"type": "string"}, "control_name": {"type": "string"}},
        "required": ["control_id", "control_name"],
        "type": "object",
    },
}


def info(name: str, tool_type: str, **more: Json) -> dict[str, Any]:
    server = "MobileActionExecutor" if tool_type == "action" else "MobileDataCollector"
    nothing = dict.fromkeys(("title", "output_schema", "meta", "annotations"))
    names = {"tool_key": f"{tool_type}::{name}", "tool_name": name}
    stated = {**names, "namespace": server, "tool_type": tool_type}
    schema = {"type": "object", "properties": {}}
    return {**stated, **nothing, "description": "What it does.", "input_schema": schema, **more}


def source(document: Json) -> SourceFile:
    return SourceFile("tools.json", json.dumps(document).encode())


def reading(document: Json, *, strict: bool = False) -> Reading:
    return FORMAT.read_file(source(document), ReadingContext(strict=strict))


def only(document: Json, *, strict: bool = True) -> Provider:
    (provider,) = reading(document, strict=strict).providers
    return provider


def read_only_of(provider: Provider) -> dict[str, bool | None]:
    effects = {capability.id: capability.effects for capability in provider.capabilities}
    return {name: None if item is None else item.read_only for name, item in effects.items()}


def test_the_commands_are_a_source_by_the_name_of_the_format() -> None:
    provider = built_in()
    assert (provider.protocol, provider.dialect) == ("mobile-agent", "commands")
    read_only = dict.fromkeys(DATA_TOOLS | OTHER_TOOLS, True)
    assert read_only_of(provider) == read_only | dict.fromkeys(ACTING_TOOLS, False)
    servers = {item.id: item.extensions["mobile-agent"]["tool_type"] for item in provider.capabilities}
    assert {name for name, server in servers.items() if server == "data_collection"} == DATA_TOOLS


def test_a_command_states_its_parameters_with_their_defaults() -> None:
    provider = built_in()
    (swipe,) = (capability for capability in provider.capabilities if capability.id == "swipe")
    schema = write_schema(swipe.input)
    required = ["start_x", "start_y", "end_x", "end_y"]
    assert schema["required"] == required
    types = {name: word["type"] for name, word in schema["properties"].items()}
    assert types == dict.fromkeys((*required, "duration"), "integer")
    assert schema["properties"]["duration"]["default"] == 300


@pytest.mark.parametrize("target", ["mcp+2025-11-25", "mcp+2026-07-28"])
def test_mcp_carries_the_commands_with_their_effects(target: str) -> None:
    provider = built_in()
    (translation,) = translate((provider,), *find_format(target))
    writing = translation.writing
    tools = json.loads(writing.artifacts[0].text)["tools"]
    assert {tool["name"]: tool["annotations"]["readOnlyHint"] for tool in tools} == read_only_of(provider)
    assert {finding.level for finding in writing.findings} <= {"renamed"}


@pytest.mark.parametrize("target", ["mobile-mcp", "mmcp", "appfunctions", "function-calling"])
def test_other_targets_name_each_effect_that_they_do_not_carry(target: str) -> None:
    provider = built_in()
    (translation,) = translate((provider,), *find_format(target))
    findings = translation.writing.findings
    lost = [finding for finding in findings if finding.pointer.endswith("/effects/read_only")]
    assert len(lost) == 13


@pytest.mark.parametrize("dialect", ["commands", "server", "tool-info"])
def test_it_is_not_written_and_the_reason_is_in_the_error(dialect: str) -> None:
    provider = built_in()
    with pytest.raises((UsageError, WriteError)) as caught:
        translate((provider,), *find_format(f"mobile-agent+{dialect}"))
    assert "only read" in str(caught.value)


def test_a_list_of_a_server_is_recognised_by_its_commands_and_has_their_effects() -> None:
    document = {"tools": [PRESS, CLICK]}
    assert detect_format(source(document)) is load_formats()["mobile-agent"]
    assert read_only_of(only(document)) == {"press_key": False, "click_control": False}
    response = {"jsonrpc": "2.0", "id": 1, "result": {"tools": [CONTROLS]}}
    assert read_only_of(only(response)) == {"get_app_window_controls_target_info": True}


@titled("tools", {
    "a tool of another server": [CLICK, {"name": "take_photo", "inputSchema": {"type": "object"}}],
    "a tool with another schema":
        [{**CLICK, "inputSchema": {"type": "object", "properties": {"control_id": {"type": "string"}}}}],
    "only a tool of many servers": [PRESS],
    "a schema that is true": [{**CLICK, "inputSchema": True}],
    "a tool that is a number": [CLICK, 1],
    "a list that droidgate wrote": [{**CLICK, "_meta": {"dev.droidgate/tool": {}}}],
})  # fmt: skip
def test_another_list_of_tools_stays_one_of_mcp(tools: Json) -> None:
    assert detect_format(source({"tools": tools})) is load_formats()["mcp"]


def test_what_fastmcp_wraps_is_read_as_what_the_tool_returns() -> None:
    provider = only({"tools": [CONTROLS]})
    output = provider.capabilities[0].output
    assert output is not None
    definitions = CONTROLS["outputSchema"]["$defs"]
    schema = {"type": "array", "items": {"$ref": "#/$defs/TargetInfo"}, "$defs": definitions}
    assert write_schema(output, provider.definitions) == schema
    assert provider.capabilities[0].extensions["mobile-agent"]["x-fastmcp-wrap-result"] is True


@titled("more", {"no properties": {}, "properties without a result": {"properties": {}}})
def test_an_output_that_is_not_wrapped_is_read_as_it_is(more: dict[str, Json]) -> None:
    tool = {**PRESS, "outputSchema": {"x-fastmcp-wrap-result": True, **more}}
    facts = only({"tools": [tool]}).capabilities[0].extensions["mobile-agent"]
    assert "x-fastmcp-wrap-result" not in facts


def test_an_output_that_is_not_a_schema_is_refused() -> None:
    with pytest.raises(InputError, match="not a JSON object"):
        reading({"tools": [{**PRESS, "outputSchema": True}]})


def test_the_answer_of_list_tools_is_one_provider_for_each_server() -> None:
    document = [info("tap", "action"), info("get_ui_tree", "data_collection"), info("wait", "action")]
    assert detect_format(source(document)) is load_formats()["mobile-agent"]
    action, data = reading(document, strict=True).providers
    assert read_only_of(action) == {"tap": False, "wait": True}
    assert read_only_of(data) == {"get_ui_tree": True}
    facts = {"namespace": "MobileActionExecutor", "tool_type": "action"}
    assert action.capabilities[0].extensions == {"mobile-agent": facts}


def test_a_result_record_around_the_list_keeps_its_other_members() -> None:
    provider = only({"status": "success", "result": [info("tap", "action")], "call_id": "a/b"})
    assert provider.extensions == {"mobile-agent": {"/status": "success", "/call_id": "a/b"}}


def test_annotations_decide_before_what_is_known_of_the_command() -> None:
    tool = info("tap", "action", annotations={"readOnlyHint": True, "idempotentHint": None, "x": 1})
    (capability,) = only([tool]).capabilities
    assert capability.effects == Effects(read_only=True)
    assert capability.extensions["mobile-agent"]["annotations"] == {"x": 1}


def test_an_empty_list_has_no_capabilities() -> None:
    assert only({"tools": []}).capabilities == ()


def test_nothing_is_known_of_another_tool_or_of_a_command_on_another_server() -> None:
    document = [info("take_photo", "action"), info("count_views", "data_collection")]
    document.append(info("tap", "data_collection"))
    effects = [read_only_of(provider) for provider in reading(document).providers]
    assert effects == [{"take_photo": None}, {"count_views": None, "tap": None}]


@pytest.mark.row("U01")
def test_the_older_name_of_the_input_schema_is_read() -> None:
    tool = info("tap", "action")
    tool["tool_schema"] = {**tool.pop("input_schema"), "properties": {"x": {"type": "integer"}}}
    (provider,) = reading([tool]).providers
    assert write_schema(provider.capabilities[0].input) == tool["tool_schema"]
    with pytest.raises(InputError):
        reading([tool], strict=True)


@titled(("tool", "message"), {
    "a tool that is a number": (1, "not a JSON object"),
    "an empty name": ({"tool_name": ""}, "has no name"),
    "a name that is a number": ({"tool_name": 5}, "not a string"),
    "an unknown type": ({"tool_name": "a", "tool_type": "x"}, "'tool_type' of the tool 'a' is 'x'"),
    "a type that is a list": ({"tool_name": "a", "tool_type": []}, "'tool_type' of the tool 'a'"),
    "annotations that are a list": ({"tool_name": "a", "annotations": []}, "'annotations' of the tool 'a'"),
    "a schema that is a number": ({"tool_name": "a", "input_schema": 1}, "not a JSON object"),
    "a description that is a number": ({"tool_name": "a", "description": 1}, "not a string"),
})  # fmt: skip
def test_a_tool_that_cannot_be_read_is_a_problem_and_the_others_are_read(tool: Json, message: str) -> None:
    read = reading([info("wait", "action"), tool])
    assert [problem.message for problem in read.problems if message in problem.message]
    assert sum(len(provider.capabilities) for provider in read.providers) == 1
    with pytest.raises(InputError):
        reading([tool])


def test_two_tools_of_one_server_have_two_names() -> None:
    read = reading([info("wait", "action"), info("wait", "action")])
    assert [problem.message for problem in read.problems] == ['duplicate tool "wait"']


@pytest.mark.parametrize("document", [{}, 1, {"tools": {}}, {"result": {"tools": 1}}, "x"], ids=str)
def test_a_document_without_a_list_of_tools_is_refused(document: Json) -> None:
    with pytest.raises(InputError, match="no list of tools"):
        reading(document)


def called(command: AgentCommand) -> tuple[str, object]:
    return command.command.id, command.arguments


def test_what_ufo_leaves_out_or_writes_as_null_has_its_default() -> None:
    command = read_command({"tool_name": "wait", "parameters": None, "call_id": None}, "here")
    other = read_command({"action": {"function": "wait"}}, "here")
    assert called(command) == called(other) == ("wait", {})
    assert command.call_id != other.call_id != ""


JSON_VALUES = json_values()
POINTS = st.dictionaries(st.sampled_from(["x", "y", "seconds"]), st.integers(0, 9))
CALLED = st.fixed_dictionaries({}, optional=dict.fromkeys(("function", "arguments"), JSON_VALUES))
NEARLY = st.fixed_dictionaries(
    {"tool_name": st.sampled_from(["tap", "wait", "Tap"]) | JSON_VALUES},
    optional={
        "parameters": POINTS | JSON_VALUES,
        "tool_type": st.sampled_from(["action", "data_collection"]) | JSON_VALUES,
        "call_id": JSON_VALUES,
        "action": CALLED,
    },
)
AT = st.fixed_dictionaries(dict.fromkeys("xy", st.integers(0, 9)))
WRITTEN = st.fixed_dictionaries(
    {"tool_name": st.just("tap"), "parameters": AT},
    optional={"tool_type": st.just("action") | JSON_VALUES, "call_id": st.text(max_size=4)},
)


@given(value=WRITTEN | NEARLY | JSON_VALUES)
def test_any_value_is_a_command_or_an_input_error_with_a_hint(value: Json) -> None:
    result: AgentCommand | InputError
    try:
        result = read_command(value, "here")
    except InputError as error:
        result = error
    if isinstance(result, InputError):
        assert (result.place, bool(result.hint)) == ("here", True)
    else:
        assert result.command.id in {"tap", "wait"}
        assert isinstance(result.arguments, dict)

"""The commands of MobileAgent as a format.

The lists of tools are typed from UFO's code (`mobile_mcp_server.py`, `aip/messages.py`) in the form that
FastMCP 2.11 answers `tools/list` with.
"""

import json
from typing import Any

import pytest

from droidgate import convert, read
from droidgate_mappings.formats.format import Reading, SourceFile, detect_format, load_formats
from droidgate_mappings.formats.leniency import ReadingContext
from droidgate_mappings.json_schema import write_schema
from droidgate_mappings.model.capability import Provider
from droidgate_mappings.model.errors import InputError, UsageError, WriteError
from droidgate_mappings.model.json_values import Json
from droidgate_mobile_agent.format import FORMAT

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
    return {
        "tool_key": f"{tool_type}::{name}",
        "tool_name": name,
        "title": None,
        "namespace": "MobileActionExecutor" if tool_type == "action" else "MobileDataCollector",
        "tool_type": tool_type,
        "description": "What it does.",
        "input_schema": {"type": "object", "properties": {}},
        "output_schema": None,
        "meta": None,
        "annotations": None,
        **more,
    }


def source(document: Json) -> SourceFile:
    return SourceFile("tools.json", json.dumps(document).encode())


def reading(document: Json, *, strict: bool = False) -> Reading:
    return FORMAT.read_file(source(document), ReadingContext(strict=strict))


def only(document: Json, *, strict: bool = True) -> Provider:
    (provider,) = reading(document, strict=strict).providers
    return provider


def read_only_of(provider: Provider) -> dict[str, bool | None]:
    return {
        capability.id: None if capability.effects is None else capability.effects.read_only
        for capability in provider.capabilities
    }


def test_the_commands_are_a_source_by_the_name_of_the_format() -> None:
    (provider,) = read("mobile-agent:").providers
    assert (provider.protocol, provider.dialect) == ("mobile-agent", "commands")
    assert read_only_of(provider) == {
        **dict.fromkeys(DATA_TOOLS | OTHER_TOOLS, True),
        **dict.fromkeys(ACTING_TOOLS, False),
    }
    servers = {
        capability.id: capability.extensions["mobile-agent"]["tool_type"]
        for capability in provider.capabilities
    }
    assert {name for name, server in servers.items() if server == "data_collection"} == DATA_TOOLS


def test_a_command_states_its_parameters_with_their_defaults() -> None:
    (provider,) = read("mobile-agent:").providers
    swipe = next(capability for capability in provider.capabilities if capability.id == "swipe")
    schema = write_schema(swipe.input)
    assert isinstance(schema, dict)
    assert schema["required"] == ["start_x", "start_y", "end_x", "end_y"]
    assert {name: word["type"] for name, word in schema["properties"].items()} == dict.fromkeys(
        ("start_x", "start_y", "end_x", "end_y", "duration"), "integer"
    )
    assert schema["properties"]["duration"]["default"] == 300


def test_a_source_of_a_format_that_was_not_asked_for_is_a_file() -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read("mobile-agent:", formats=["mcp"])


@pytest.mark.parametrize("target", ["mcp+2025-11-25", "mcp+2026-07-28"])
def test_mcp_carries_the_commands_with_their_effects(target: str) -> None:
    (provider,) = read("mobile-agent:").providers
    converted = convert((provider,), target)
    tools = json.loads(converted.files["tools.json"])["tools"]
    assert {tool["name"]: tool["annotations"]["readOnlyHint"] for tool in tools} == read_only_of(provider)
    assert {finding.level for finding in converted.findings} <= {"renamed"}


@pytest.mark.parametrize("target", ["mobile-mcp", "mmcp", "appfunctions", "function-calling"])
def test_other_targets_name_each_effect_that_they_do_not_carry(target: str) -> None:
    (provider,) = read("mobile-agent:").providers
    findings = convert((provider,), target).findings
    lost = [finding for finding in findings if finding.pointer.endswith("/effects/read_only")]
    assert len(lost) == 13


@pytest.mark.parametrize("dialect", ["commands", "server", "tool-info"])
def test_it_is_not_written_and_the_reason_is_in_the_error(dialect: str) -> None:
    (provider,) = read("mobile-agent:").providers
    with pytest.raises((UsageError, WriteError)) as caught:
        convert((provider,), f"mobile-agent+{dialect}")
    assert "only read" in str(caught.value)


def test_a_list_of_a_server_is_recognised_by_its_commands_and_has_their_effects() -> None:
    document = {"tools": [PRESS, CLICK]}
    assert detect_format(source(document)) is load_formats()["mobile-agent"]
    assert read_only_of(only(document)) == {"press_key": False, "click_control": False}
    assert read_only_of(only({"jsonrpc": "2.0", "id": 1, "result": {"tools": [CONTROLS]}})) == {
        "get_app_window_controls_target_info": True
    }


@pytest.mark.parametrize("tools", [
    [CLICK, {"name": "take_photo", "inputSchema": {"type": "object"}}],
    [{**CLICK, "inputSchema": {"type": "object", "properties": {"control_id": {"type": "string"}}}}],
    [PRESS],
    [{**CLICK, "inputSchema": True}],
    [CLICK, 1],
    [{**CLICK, "_meta": {"dev.droidgate/tool": {}}}],
])  # fmt: skip
def test_another_list_of_tools_stays_one_of_mcp(tools: Json) -> None:
    assert detect_format(source({"tools": tools})) is load_formats()["mcp"]


def test_the_list_that_droidgate_wrote_for_mcp_is_read_as_mcp(tmp_path: Any) -> None:
    (provider,) = read("mobile-agent:").providers
    file = tmp_path / "tools.json"
    file.write_text(convert((provider,), "mcp").files["tools.json"])
    assert [other.protocol for other in read(file).providers] == ["mcp"]


def test_what_fastmcp_wraps_is_read_as_what_the_tool_returns() -> None:
    provider = only({"tools": [CONTROLS]})
    output = provider.capabilities[0].output
    assert output is not None
    assert write_schema(output, provider.definitions) == {
        "type": "array",
        "items": {"$ref": "#/$defs/TargetInfo"},
        "$defs": CONTROLS["outputSchema"]["$defs"],
    }
    assert provider.capabilities[0].extensions["mobile-agent"]["x-fastmcp-wrap-result"] is True


@pytest.mark.parametrize(
    "output", [True, {"x-fastmcp-wrap-result": True}, {"x-fastmcp-wrap-result": True, "properties": {}}]
)
def test_an_output_that_is_not_wrapped_is_read_as_it_is_or_refused(output: Json) -> None:
    tool = {**PRESS, "outputSchema": output}
    if output is True:
        with pytest.raises(InputError, match="not a JSON object"):
            reading({"tools": [tool]})
    else:
        assert (
            "x-fastmcp-wrap-result" not in only({"tools": [tool]}).capabilities[0].extensions["mobile-agent"]
        )


def test_the_answer_of_list_tools_is_one_provider_for_each_server() -> None:
    document = [info("tap", "action"), info("get_ui_tree", "data_collection"), info("wait", "action")]
    assert detect_format(source(document)) is load_formats()["mobile-agent"]
    action, data = reading(document, strict=True).providers
    assert read_only_of(action) == {"tap": False, "wait": True}
    assert read_only_of(data) == {"get_ui_tree": True}
    assert action.capabilities[0].extensions == {
        "mobile-agent": {"namespace": "MobileActionExecutor", "tool_type": "action"}
    }


def test_a_result_record_around_the_list_keeps_its_other_members() -> None:
    provider = only({"status": "success", "result": [info("tap", "action")], "call_id": "a/b"})
    assert provider.extensions == {"mobile-agent": {"/status": "success", "/call_id": "a/b"}}


def test_annotations_decide_before_what_is_known_of_the_command() -> None:
    tool = info("tap", "action", annotations={"readOnlyHint": True, "idempotentHint": None, "x": 1})
    (capability,) = only([tool]).capabilities
    assert capability.effects is not None
    assert (capability.effects.read_only, capability.effects.idempotent) == (True, None)
    assert capability.extensions["mobile-agent"]["annotations"] == {"x": 1}


def test_nothing_is_known_of_another_tool_or_of_a_command_on_another_server() -> None:
    document = [info("take_photo", "action"), info("count_views", "data_collection")]
    document.append(info("tap", "data_collection"))
    effects = [read_only_of(provider) for provider in reading(document).providers]
    assert effects == [{"take_photo": None}, {"count_views": None, "tap": None}]


@pytest.mark.row("U01")
def test_the_older_name_of_the_input_schema_is_read() -> None:
    tool = info("tap", "action")
    tool["tool_schema"] = {"type": "object", "properties": {"x": {"type": "integer"}}}
    del tool["input_schema"]
    (provider,) = reading([tool]).providers
    assert write_schema(provider.capabilities[0].input) == tool["tool_schema"]
    with pytest.raises(InputError):
        reading([tool], strict=True)


@pytest.mark.parametrize(("tool", "message"), [
    (1, "not a JSON object"),
    ({"tool_name": ""}, "has no name"),
    ({"tool_name": 5}, "not a string"),
    ({"tool_name": "a", "tool_type": "x"}, "'tool_type' of the tool 'a' is 'x'"),
    ({"tool_name": "a", "tool_type": []}, "'tool_type' of the tool 'a'"),
    ({"tool_name": "a", "annotations": []}, "'annotations' of the tool 'a'"),
    ({"tool_name": "a", "input_schema": 1}, "not a JSON object"),
    ({"tool_name": "a", "description": 1}, "not a string"),
])  # fmt: skip
def test_a_tool_that_cannot_be_read_is_a_problem_and_the_others_are_read(tool: Json, message: str) -> None:
    read = reading([info("wait", "action"), tool])
    assert [problem.message for problem in read.problems if message in problem.message]
    assert sum(len(provider.capabilities) for provider in read.providers) == 1
    with pytest.raises(InputError):
        reading([tool])


def test_two_tools_of_one_server_have_two_names() -> None:
    read = reading([info("wait", "action"), info("wait", "action")])
    assert [problem.message for problem in read.problems] == ['duplicate tool "wait"']


@pytest.mark.parametrize("document", [{}, 1, {"tools": {}}, {"result": {"tools": 1}}, "x"])
def test_a_document_without_a_list_of_tools_is_refused(document: Json) -> None:
    with pytest.raises(InputError, match="no list of tools"):
        reading(document)


def test_an_empty_list_has_no_capabilities() -> None:
    assert only({"tools": []}).capabilities == ()

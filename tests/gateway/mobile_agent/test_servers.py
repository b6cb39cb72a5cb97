"""The two servers as clients meet them: lists, results, errors, tokens, and who may do what."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any

import anyio
import jsonschema
import pytest
from mcp import Client

from droidgate_mappings.tables.mobile_agent import mobile_agent_commands
from gateway.mobile_agent.made_phone import FORM, control
from gateway.mobile_agent.served_phone import MODES, ROLES, ServedPhone, served, served_phone
from gateway.serving import running_servers
from gateway.serving.running_servers import HOSTILE_HEADERS

DATA = [
    "capture_screenshot", "get_ui_tree", "get_device_info", "get_mobile_app_target_info",
    "get_app_window_controls_target_info",
]  # fmt: skip
ACTION = ["tap", "swipe", "type_text", "launch_app", "press_key", "click_control", "wait", "invalidate_cache"]


@pytest.fixture(scope="module")
def phone() -> Iterator[ServedPhone]:
    with served_phone() as started:
        yield started


def listed(phone: ServedPhone, role: Any, mode: str) -> list[Any]:
    async def run() -> list[Any]:
        async with Client(phone.url(role), mode=mode, cache=None) as client:
            return list((await client.list_tools()).tools)

    return anyio.run(run)


@pytest.mark.parametrize("mode", MODES)
def test_each_server_lists_its_own_tools_in_ufos_order(phone: ServedPhone, mode: str) -> None:
    names = [[tool.name for tool in listed(phone, role, mode)] for role in ROLES]
    assert names == [DATA, ACTION]


def test_each_tool_has_a_schema_that_ufos_client_can_read(phone: ServedPhone) -> None:
    for role in ROLES:
        for tool in listed(phone, role, "legacy"):
            jsonschema.Draft202012Validator.check_schema(tool.input_schema)
            schema = tool.output_schema
            if tool.name in {"capture_screenshot", *(name for name in DATA if "target_info" in name)}:
                assert schema["x-fastmcp-wrap-result"] is True
                assert schema["properties"]["result"] in (
                    {},
                    {"type": "array", "items": {"$ref": "#/$defs/TargetInfo"}},
                )
            else:
                assert schema == {"type": "object", "additionalProperties": True}


@pytest.mark.parametrize("mode", MODES)
def test_results_are_structured_and_the_same_as_text(phone: ServedPhone, mode: str) -> None:
    phone.value("launch_app", package_name=FORM)
    for tool in ("get_app_window_controls_target_info", "get_device_info", "get_mobile_app_target_info"):
        result = phone.call(tool, mode=mode)
        (block,) = result.content
        structured = result.structured_content
        assert structured is not None
        unwrapped = (
            structured["result"] if mobile_agent_commands()[tool].result["type"] == "array" else structured
        )
        assert json.loads(block.text) == unwrapped  # type: ignore[union-attr]
    picture = phone.call("capture_screenshot", mode=mode)
    assert picture.structured_content == {"result": picture.content[0].text}  # type: ignore[union-attr]


@pytest.mark.parametrize("mode", MODES)
def test_a_screenshot_is_an_object_for_the_argument_of_ufos_tests(phone: ServedPhone, mode: str) -> None:
    """tests/integration/test_mobile_mcp_server.py of UFO sends `format`, which its schema does not list."""
    picture = phone.call("capture_screenshot", mode=mode, format="base64").structured_content
    assert picture is not None
    result = picture["result"]
    assert result["image"].startswith("data:image/png;base64,")
    assert {**result, "image": ""} == {
        "success": True,
        "image": "",
        "width": 1080,
        "height": 2400,
        "format": "base64",
    }


def test_nothing_listed_is_an_empty_list(phone: ServedPhone) -> None:
    assert phone.value("get_mobile_app_target_info", filter="no such app") == []


@pytest.mark.parametrize(("tool", "arguments", "error"), [
    ("tap", {"x": "12", "y": 1}, "Input validation error: '12' is not of type 'integer'"),
    ("tap", {"x": 1.5, "y": 1}, "Input validation error: 1.5 is not of type 'integer'"),
    ("tap", {"x": True, "y": 1}, "Input validation error: True is not of type 'integer'"),
    ("tap", {"x": 1}, "Input validation error: 'y' is a required property"),
    ("capture_screenshot", {"format": "jpeg"}, "Input validation error: 'jpeg' is not one of ['base64']"),
    ("wait", {"seconds": "1"}, "Input validation error: '1' is not of type 'number'"),
    ("tap", {"x": 1, "y": 1, "z": 1},
     "Error calling tool 'tap': 1 validation error for call[tap]\nz\n  Unexpected keyword argument "),
])  # fmt: skip
def test_arguments_that_do_not_fit_are_errors_in_ufos_words(
    phone: ServedPhone, tool: str, arguments: dict[str, Any], error: str
) -> None:
    with phone.made.counted() as commands:
        result = phone.call(tool, **arguments)
    assert result.is_error
    assert result.content[0].text.startswith(error)  # type: ignore[union-attr]
    assert commands == []


def test_the_data_server_cannot_act_and_the_action_server_cannot_see(phone: ServedPhone) -> None:
    with phone.made.counted() as commands:
        for tools, role in ((ACTION, "data_collection"), (DATA, "action"), (["nope"], "action")):
            for tool in tools:
                result = phone.call(tool, role=role)  # type: ignore[arg-type]
                assert result.is_error
                assert result.content[0].text == f"Unknown tool: {tool}"  # type: ignore[union-attr]
    assert commands == []


def test_each_server_takes_its_own_token_only(phone: ServedPhone) -> None:
    tokens = {role: f"token-of-the-{role}-server" for role in ROLES}
    with served(phone.made, tokens) as guarded:
        answers = {
            (role, other): status_of(guarded.url(role), f"Bearer {tokens[other]}")
            for role in ROLES
            for other in ROLES
        }
        assert {pair for pair, status in answers.items() if status != 401} == {(role, role) for role in ROLES}
        assert status_of(guarded.url("action"), None) == 401


@pytest.mark.parametrize(
    ("header", "value", "status"),
    [("Host", "evil.example", 421), ("Origin", "http://evil.example", 403), ("Origin", "null", 403)],
)
def test_web_pages_of_others_are_refused_by_both_servers(
    phone: ServedPhone, header: str, value: str, status: int
) -> None:
    for role in ROLES:
        assert status_of(phone.url(role), None, {header: value}) == status


def status_of(url: str, token: str | None, headers: dict[str, str] | None = None) -> int:
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    sent = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        **(headers or {}),
    }
    if token is not None:
        sent["Authorization"] = token
    request = urllib.request.Request(url, json.dumps(body).encode(), sent)
    try:
        with urllib.request.urlopen(request, timeout=120) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code


@pytest.mark.parametrize("name", HOSTILE_HEADERS)
def test_no_value_of_a_header_makes_a_server_fail(phone: ServedPhone, name: str) -> None:
    for role in ROLES:
        for method in ("GET", "POST"):
            for value in HOSTILE_HEADERS[name]:
                status = running_servers.status_of(phone.ports[role], method, {name: value})
                assert status < 500, (role, method, value)


def test_ids_that_the_data_server_gave_are_known_to_the_action_server(phone: ServedPhone) -> None:
    phone.value("launch_app", package_name=FORM)
    save = control(phone.value("get_app_window_controls_target_info"), "Save")
    assert phone.value("click_control", **save)["success"]
    assert phone.made.facts.clicks[-1] == "save"

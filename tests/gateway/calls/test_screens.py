"""MobileAgent's commands as capabilities of the phone, by the policy, approvals and records of all calls."""

from __future__ import annotations

import base64
import io
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import anyio
import pytest
from PIL import Image

from droidgate.calls.approvals import Approval, refuse
from droidgate.calls.audit_reading import read_calls
from droidgate.calls.call_requests import CallRequest, CallResult
from droidgate.calls.caller import CallControls, CapabilityCaller
from droidgate.calls.pins import PinStore
from droidgate.calls.policy import Policy, PolicyFile
from droidgate.serving.phone_tools import PhoneTools
from droidgate.serving.served_phones import ServedPhone
from droidgate.serving.tool_results import KeptResults, write_outcome
from droidgate.serving.tools import Client, ToolCall, ToolOutcome, UserAnswer, UserQuestion
from droidgate_mappings.model.errors import UsageError
from droidgate_mappings.values.failures import CallError
from droidgate_mcp.format import HANDSHAKE
from gateway.calls.phones_with_shims import ReachedPhone
from gateway.cli.program_runs import Run, Runner, run_process
from gateway.mobile_agent.made_phone import FORM, MadePhone, device_on, made_phone


@pytest.fixture(scope="module")
def made() -> Iterator[MadePhone]:
    with pytest.MonkeyPatch.context() as patch, made_phone() as phone:
        patch.setenv("ANDROID_ADB_SERVER_PORT", str(phone.phone.server_port))
        yield phone


@pytest.fixture
def reached(made: MadePhone, tmp_path: Path) -> ReachedPhone:
    return ReachedPhone(made.phone, device_on(made.phone), tmp_path)


def ask(caller: CapabilityCaller, tool: str, **arguments: Any) -> CallResult:
    return caller.call(CallRequest(tool, arguments, protocol="mobile-agent"))


def test_a_command_is_called_by_protocol_and_no_app_is_read(made: MadePhone, reached: ReachedPhone) -> None:
    caller = reached.caller()
    with made.counted() as commands:
        result = ask(caller, "get_device_info")
    assert result.value["device_info"]["model"] == "Virtual Phone"
    called = (result.route, result.key.package, result.key.capability)
    assert called == ("screen", "mobile-agent", "get_device_info")
    assert not [command for command in commands if "package" in command or command.startswith("pm ")]


def test_reading_needs_no_approval_and_acting_does(made: MadePhone, reached: ReachedPhone) -> None:
    approver = Mock(side_effect=refuse)
    caller = reached.caller(approver=approver)
    assert ask(caller, "get_ui_tree").value["success"] is True
    assert ask(caller, "wait", seconds=0).value["success"] is True
    with made.counted() as commands, pytest.raises(CallError) as refused:
        ask(caller, "tap", x=1, y=1)
    assert refused.value.failure.token == "needs_approval"
    assert "droidgate pins approve mobile-agent/tap" in (refused.value.hint or "")
    assert [asked.args[0].subject.effect for asked in approver.call_args_list] == ["writes"]
    assert not [command for command in commands if command.startswith("input")]


def test_a_wait_ends_with_its_call(reached: ReachedPhone) -> None:
    late = CallRequest("wait", {"seconds": 5}, protocol="mobile-agent", deadline=4)
    error = "Wait time cannot exceed the call's deadline of 4 seconds"
    assert reached.caller().call(late).value == {"success": False, "error": error}
    cancel = threading.Event()
    threading.Timer(0.5, cancel.set).start()
    long = CallRequest("wait", {"seconds": 25}, protocol="mobile-agent")
    with pytest.raises(CallError, match="the call was canceled"):
        reached.caller().call(long, CallControls(cancel=cancel))
    ends = [logged.end and logged.end["result"] for logged in read_calls(reached.folder / "audit")]
    assert ends == ["ok", "canceled"]


@pytest.mark.parametrize(("rule", "token"), [
    ({"decision": "deny", "protocol": "mobile-agent"}, "denied"),
    ({"decision": "deny", "package": "mobile-agent", "capability": "ta*"}, "denied"),
    ({"decision": "ask", "effect": ["writes"]}, None),
], ids=["by protocol", "by package and name", "by effect"])  # fmt: skip
def test_a_policy_rule_decides(
    made: MadePhone, reached: ReachedPhone, rule: dict[str, Any], token: str | None
) -> None:
    policy = Policy(PolicyFile.model_validate({"rule": [rule]}))
    caller = reached.caller(policy=policy)
    if token is None:
        assert ask(caller, "tap", x=1, y=1).value["success"] is True
    else:
        with made.counted() as commands, pytest.raises(CallError) as denied:
            ask(caller, "tap", x=1, y=1)
        assert denied.value.failure.token == token
        assert not [command for command in commands if command.startswith("input")]


def test_an_approval_is_for_one_command_on_one_phone(reached: ReachedPhone) -> None:
    ask(reached.caller(approver=lambda _: Approval(allowed=True, remember=True)), "tap", x=1, y=1)
    caller = reached.caller(approver=refuse)
    assert ask(caller, "tap", x=2, y=2).value["success"] is True
    with pytest.raises(CallError):
        ask(caller, "press_key", key_code="KEYCODE_HOME")
    (record,) = PinStore(reached.folder).list()
    assert record.signer == f"phone:{reached.device.serial.lower()}"


def test_arguments_are_checked_before_a_question_or_call(made: MadePhone, reached: ReachedPhone) -> None:
    with made.counted() as commands, pytest.raises(CallError) as refused:
        ask(reached.caller(), "tap", x="480; reboot", y=2)
    assert refused.value.failure.token == "invalid_argument"
    assert not [command for command in commands if command.startswith("input")]


def test_a_name_without_the_protocol_means_what_apps_declare(reached: ReachedPhone) -> None:
    with pytest.raises(UsageError, match="no capability"):
        reached.caller().call(CallRequest("tap", {"x": 1, "y": 1}))


def run(made: MadePhone, *arguments: str | Path) -> Run:
    return run_process("call", *map(str, arguments), "--serial", made.phone.serial)


def test_a_file_of_commands_runs_in_order_and_its_records_are_lines(made: MadePhone, tmp_path: Path) -> None:
    commands = [
        {"action": {"function": "launch_app", "arguments": {"package_name": FORM}}},
        {"tool_name": "get_app_window_controls_target_info", "tool_type": "data_collection"},
        {
            "tool_name": "type_text",
            "parameters": {"text": 'say "hi" & go', "control_id": "2", "control_name": "Your name"}
            | {"clear_current_text": True},
            "tool_type": "action",
            "call_id": "typing",
        },
    ]
    path = tmp_path / "task.jsonl"
    path.write_text("\n".join(map(json.dumps, commands)))
    done = run(made, "--commands", path, "--yes")
    records = [json.loads(line) for line in done.out.splitlines()]
    assert done.code == 0, done.err
    assert [record["status"] for record in records] == ["success"] * 3
    assert records[1]["namespace"] == "MobileDataCollector"
    assert records[1]["result"][1]["type"] == "EditText"
    assert (records[2]["call_id"], records[2]["result"]["success"]) == ("typing", True)
    assert made.facts.name == 'say "hi" & go'
    assert "3 commands: 3 success" in done.err


def test_a_file_of_commands_stops_at_the_first_that_is_refused(made: MadePhone, tmp_path: Path) -> None:
    path = tmp_path / "task.json"
    tap = {"tool_name": "tap", "parameters": {"x": 1, "y": 1}, "tool_type": "action"}
    look = {"tool_name": "get_ui_tree", "tool_type": "data_collection"}
    path.write_text(json.dumps([look, tap, look]))
    with made.counted() as commands:
        done = run(made, "--commands", path)
    records = [json.loads(line) for line in done.out.splitlines()]
    assert (done.code, [record["status"] for record in records]) == (5, ["success", "failure", "skipped"])
    assert "not approved" in records[1]["error"]
    assert not [command for command in commands if command.startswith("input")]


@pytest.mark.parametrize("typed", [
    "--commands x.json tap", "--commands x.json --batch y", "--commands x.json --json",
    "--commands x.json --format mcp",
])  # fmt: skip
def test_options_that_exclude_others_are_refused(typed: str, droidgate: Runner) -> None:
    run = droidgate("call", *typed.split())
    assert (run.code, run.out, "--commands" in run.err) == (2, "", True)


async def call_tool(tools: PhoneTools, name: str, arguments: dict[str, Any]) -> ToolOutcome:
    async def ask_nobody(_: UserQuestion) -> UserAnswer:
        return UserAnswer("unavailable")

    client = Client("mcp:test", "test", HANDSHAKE)
    return await tools.call(ToolCall(name, arguments, client, ask_nobody, None))


def served(reached: ReachedPhone, *, screens: bool, **options: Any) -> PhoneTools:
    tools = PhoneTools([ServedPhone(None, reached.caller, screens=screens)], **options)
    tools.look(strict=True)
    return tools


def test_the_server_has_the_commands_where_it_is_asked_to(reached: ReachedPhone) -> None:
    without, tools = (served(reached, screens=screens, select=["no.app"]) for screens in (False, True))
    assert without.snapshot().tools == ()
    assert "mobile-agent" not in without.instructions
    assert "mobile-agent" in tools.instructions
    hints = [tool.documents[HANDSHAKE]["annotations"]["readOnlyHint"] for tool in tools.snapshot().tools]
    assert (len(hints), hints.count(True)) == (13, 7)


def test_a_served_picture_is_an_image_that_models_are_shown(reached: ReachedPhone) -> None:
    tools = served(reached, screens=True)
    tool = tools.snapshot().by_name["mobile-agent_capture_screenshot"].documents[HANDSHAKE]
    assert "outputSchema" not in tool
    assert tool["description"] == "Take a picture of the screen."
    result = write_outcome(anyio.run(call_tool, tools, tool["name"], {}), HANDSHAKE, KeptResults())
    text, image = result["content"]
    assert text["text"].startswith("The picture has 461 x 1024 pixels, the screen 1080 x 2400: ")
    with Image.open(io.BytesIO(base64.b64decode(image["data"]))) as opened:
        assert (opened.format, opened.size) == ("JPEG", (461, 1024))
    assert "structuredContent" not in result


def test_a_served_command_that_acts_needs_an_approval(made: MadePhone, reached: ReachedPhone) -> None:
    caller = reached.caller(approver=refuse)
    tools = PhoneTools([ServedPhone(None, lambda: caller, screens=True)])
    tools.look(strict=True)
    tap, tree = (
        next(tool.name for tool in tools.snapshot().tools if tool.name.endswith(ending))
        for ending in ("tap", "get_ui_tree")
    )
    with made.counted() as commands:
        refused = anyio.run(call_tool, tools, tap, {"x": 5, "y": 5})
        allowed = anyio.run(call_tool, tools, tree, {})
    assert refused.result.failure is not None
    assert refused.result.failure.message.endswith("only the user can approve it")
    assert allowed.result.value["success"] is True
    assert not [command for command in commands if command.startswith("input")]

"""A task of twelve steps by each client, checked on what reached the phone."""

from __future__ import annotations

import base64
import io
import json
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from droidgate_mappings.tables.mobile_agent import mobile_agent_commands
from gateway.mobile_agent.made_phone import FORM, FormFacts, control
from gateway.mobile_agent.served_phone import MODES, ServedPhone, served_phone
from requirements_of_tests import fastmcp_interpreters

TEXT = 'Ada & Bob\'s "$5" %s'
Call = Callable[..., Any]


def run_task(call: Call) -> None:
    """Launch, find, type, clear, scroll and go back."""
    (app,) = call("get_mobile_app_target_info", filter="form")
    assert call("launch_app", package_name=app["type"], id=app["id"])["app_info"]["package"] == FORM
    name = control(call("get_app_window_controls_target_info"), "Your name")
    assert call("type_text", text=TEXT, **name)["success"]
    name = control(call("get_app_window_controls_target_info"), TEXT)
    assert call("type_text", text="Grace", clear_current_text=True, **name)["success"]
    assert call("click_control", **control(call("get_app_window_controls_target_info"), "Save"))["success"]
    assert call("swipe", start_x=500, start_y=2000, end_x=500, end_y=900)["success"]
    listed = call("get_app_window_controls_target_info")
    assert "Row 0" not in [item["name"] for item in listed]
    assert call("click_control", **control(listed, "Delete Row 15"))["success"]
    assert call("press_key", key_code="KEYCODE_BACK")["success"]
    assert {"Form", "Shop"} <= {item["name"] for item in call("get_app_window_controls_target_info")}
    data = call("capture_screenshot").removeprefix("data:image/png;base64,")
    with Image.open(io.BytesIO(base64.b64decode(data))) as picture:
        assert picture.size == (1080, 2400)
    sent = call("capture_screenshot", format="base64")
    assert (sent["success"], sent["width"], sent["height"]) == (True, 1080, 2400)


def check_phone(phone: ServedPhone) -> None:
    facts: FormFacts = phone.made.facts
    assert (facts.name, facts.clicks) == ("Grace", ["save", "delete_Row 15"])
    assert len(facts.rows) == 59
    assert phone.made.phone.system.stack.top_record() is None
    assert sum("input text" in command for command in phone.made.commands()) == 2


@pytest.mark.slow
@pytest.mark.parametrize("mode", [MODES[0], pytest.param(MODES[1], marks=pytest.mark.long)])
def test_the_official_client_does_the_task(mode: str) -> None:
    with served_phone() as phone:

        def call(tool: str, **arguments: Any) -> Any:
            result = phone.call(tool, mode=mode, **arguments)
            assert not result.is_error, result
            structured = result.structured_content
            assert structured is not None
            return structured["result"] if set(structured) == {"result"} else structured

        run_task(call)
        check_phone(phone)


@contextmanager
def fastmcp_client(interpreter: Path, phone: ServedPhone) -> Iterator[Call]:
    program = Path(__file__).with_name("fastmcp_client.py")
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen([interpreter, program], text=True, **pipes) as process:  # type: ignore[call-overload]

        def call(tool: str, **arguments: Any) -> Any:
            url = phone.url(mobile_agent_commands()[tool].server)
            process.stdin.write(json.dumps({"url": url, "tool": tool, "arguments": arguments}) + "\n")
            process.stdin.flush()
            answer = json.loads(process.stdout.readline())
            assert not answer["is_error"], answer
            return answer["value"]

        yield call
        process.stdin.close()
        assert process.wait(60) == 0


@pytest.mark.long
@pytest.mark.requires("fastmcp")
def test_each_fastmcp_client_does_the_task() -> None:
    for interpreter in fastmcp_interpreters():
        with served_phone() as phone, fastmcp_client(interpreter, phone) as call:
            run_task(call)
            check_phone(phone)

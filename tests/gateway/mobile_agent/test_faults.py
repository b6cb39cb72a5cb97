"""The faults of UFO's own servers, B1 to B22 (reference mobile-agent 4): each is shown to be gone.

B2 (no check of `Host` and `Origin`) and B21 (Ctrl-C leaves it running) are faults of the servers:
`test_servers.py` and `test_serve_command.py` show them.
"""

from __future__ import annotations

import os
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

import pytest

from droidgate.calls.screen import phone_commands
from droidgate.calls.screen.screen_state import INFO_SECONDS, SCREEN_SECONDS, PhoneState, ToolError
from droidgate.calls.screen.screen_tools import MobileAgentTools
from droidgate.devices.adb_client import AdbServer, ServerAddress
from droidgate.devices.device import connect_device
from droidgate_phone.commands import CommandCall, input_commands, screen_commands
from droidgate_phone.phone import start_phone
from gateway.mobile_agent.made_phone import FORM, SHOP, MadePhone, control, device_on, form_apk, made_phone


class Clock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


CLOCK = Clock()


@pytest.fixture(scope="module")
def made() -> Iterator[MadePhone]:
    with made_phone(clock=CLOCK) as phone:
        yield phone


@contextmanager
def failing(module: object, name: str, said: str, status: int, *, after: int = 0) -> Iterator[None]:
    """Let a command of the phone fail from its call number `after` on."""
    commands: dict[str, Callable[[CommandCall], int]] = module.COMMANDS  # type: ignore[attr-defined]
    real, calls = commands[name], [0]

    def fail(call: CommandCall) -> int:
        calls[0] += 1
        if calls[0] <= after:
            return real(call)
        call.write_error(said)
        return status

    with patch.dict(commands, {name: fail}):
        yield


def field(made: MadePhone) -> dict[str, str]:
    return control(made.open_form(), made.facts.name or "Your name")


@pytest.mark.parametrize("payload", [
    "z;echo\tP>/sdcard/x", "$(touch /sdcard/x)", "`touch /sdcard/x`", "a\ntouch /sdcard/x",
    "'; touch /sdcard/x; '",
])  # fmt: skip
def test_b1_no_text_of_a_client_is_run_by_the_phones_shell(made: MadePhone, payload: str) -> None:
    name = field(made)
    made.run("type_text", text=payload, **name)
    made.run("type_text", text="x", control_id=payload, control_name=payload)
    made.run("launch_app", package_name=payload)
    made.run("launch_app", package_name=f"com.x.{payload}")
    made.run("press_key", key_code=payload)
    made.run("click_control", control_id=name["control_id"], control_name=payload)
    assert "x" not in made.phone.system.files.list("/sdcard", uid=2000)


def test_b3_and_b4_text_arrives_as_it_was_sent(made: MadePhone) -> None:
    text = "a\"b'c $HOME `id` \\ * ~ #x a>b | ( ; & %s %%s 100%"
    assert made.run("type_text", text=text, clear_current_text=True, **field(made))["success"]
    assert made.facts.name == text


def test_b5_text_without_keys_is_an_answer_and_not_an_exception_of_the_phone(made: MadePhone) -> None:
    name = field(made)
    with made.counted() as commands:
        result = made.run("type_text", text="é", **name)
    assert (result["success"], "U+00E9" in result["error"]) == (False, True)
    assert not [text for text in commands if "input" in text.replace("default_input_method", "")]


def test_b6_an_empty_text_types_nothing(made: MadePhone) -> None:
    name = field(made)
    with made.counted() as commands:
        result = made.run("type_text", text="", **name)
    assert result["success"]
    assert [text for text in commands if "input text" in text] == []


def test_b7_an_id_is_good_while_its_control_is_there_and_no_longer(made: MadePhone) -> None:
    save = control(made.open_form(), "Save")
    CLOCK.now += 100 * SCREEN_SECONDS
    assert made.run("click_control", **save)["success"]
    made.run("press_key", key_code="KEYCODE_HOME")
    with made.counted() as commands:
        result = made.run("click_control", **save)
    assert result == {
        "success": False,
        "error": "Control with ID '4' ('Save') is no longer on the screen. "
        "Please call get_app_window_controls_target_info again.",
    }
    assert [text for text in commands if "input" in text] == []


def test_b7_a_control_that_has_moved_is_tapped_where_it_is_now(made: MadePhone) -> None:
    row = control(made.open_form(), "Delete Row 9")
    made.run("swipe", start_x=500, start_y=2000, end_x=500, end_y=1800)
    assert made.run("click_control", **row)["success"]
    assert made.facts.clicks[-1] == "delete_Row 9"


@pytest.mark.parametrize("said", ["ERROR: could not get idle state.\n", "ERROR: null root node\n"])
def test_b8_and_b11_a_failed_dump_is_an_error_and_never_an_earlier_screen(made: MadePhone, said: str) -> None:
    save = control(made.open_form(), "Save")
    made.phone.system.files.write("/sdcard/window_dump.xml", b"<?xml?><hierarchy></hierarchy>", uid=2000)
    made.run("press_key", key_code="KEYCODE_HOME")
    with patch.object(phone_commands, "_PAUSE", 0.001), failing(screen_commands, "uiautomator", said, 0):
        with pytest.raises(ToolError, match=said.strip()):
            made.run("get_app_window_controls_target_info")
        assert said.strip() in made.run("get_ui_tree")["error"]
        assert not made.run("click_control", **save)["success"]


def test_b8_a_dump_that_fails_sometimes_is_repeated(made: MadePhone) -> None:
    made.open_form()
    fails = Faulty(2)
    with (
        patch.object(phone_commands, "_PAUSE", 0.001),
        patch.dict(screen_commands.COMMANDS, {"uiautomator": fails}),
    ):
        made.run("invalidate_cache")
        assert made.controls()[0]["name"] == "A form"
    assert fails.calls == 3


class Faulty:
    """`uiautomator`, which fails some times."""

    def __init__(self, times: int) -> None:
        self.times, self.calls = times, 0

    def __call__(self, call: CommandCall) -> int:
        self.calls += 1
        if self.calls <= self.times:
            call.write_error("ERROR: could not get idle state.\n")
            return 0
        return screen_commands.uiautomator(call)


def test_b9_the_lists_with_and_without_system_apps_are_two_and_share_their_ids() -> None:
    state = PhoneState(Clock())
    user = state.apps(lambda: ["u.one", "u.two"], include_system=False, seconds=1)
    everything = state.apps(lambda: ["s.zero", "u.one", "s.mid", "u.two"], include_system=True, seconds=1)
    assert (user, everything) == (("u.one", "u.two"), ("s.zero", "u.one", "s.mid", "u.two"))
    assert state.apps(list, include_system=False, seconds=1) == user
    assert [state.app_id(package) for package in everything] == ["3", "1", "4", "2"]
    assert state.package_of("2") == "u.two"


def test_b10_an_id_of_a_filtered_list_opens_that_app(made: MadePhone) -> None:
    (shop,) = made.run("get_mobile_app_target_info", filter="shop")
    result = made.run("launch_app", package_name=SHOP, id=shop["id"])
    assert (result["package_name"], result["success"]) == (SHOP, True)
    assert made.controls()[0]["name"] == "A shop"


def test_b12_only_what_reached_the_phone_drops_the_screen(made: MadePhone) -> None:
    name, save = field(made), control(made.controls(), "Save")
    with failing(input_commands, "input", "Error: injecting\n", 255):
        assert not made.run("click_control", **save)["success"]
        assert not made.run("type_text", text="x", **name)["success"]
    with made.counted() as kept:
        made.controls()
    assert kept == []
    with failing(input_commands, "input", "Error: injecting\n", 255, after=1):
        result = made.run("type_text", text="x", **name)
    assert result == {"success": False, "error": "Failed to type text: Error: injecting"}
    with made.counted() as dropped:
        made.controls()
    assert len(dropped) == 1


def test_b13_the_wall_clock_makes_nothing_old_or_new(made: MadePhone) -> None:
    made.run("get_device_info")
    with patch.object(time, "time", return_value=4e9):
        assert made.run("get_device_info")["from_cache"] is True
    CLOCK.now += INFO_SECONDS
    assert made.run("get_device_info")["from_cache"] is False


def test_b14_a_phone_that_does_not_answer_has_no_facts_and_none_are_kept() -> None:
    with made_phone() as made:
        made.run("invalidate_cache", cache_type="device_info")
        port = made.phone.server_port
    result = made.run("get_device_info")
    assert (result["success"], set(result)) == (False, {"success", "error"})
    assert port is not None
    assert made.run("get_device_info")["success"] is False


def test_b15_what_failed_is_not_said_to_be_done(made: MadePhone) -> None:
    save = control(made.open_form(), "Save")
    with failing(input_commands, "input", "Error: injecting\n", 255):
        click = made.run("click_control", **save)
        tap = made.run("tap", x=1, y=1)
    assert (click["success"], click["error"]) == (False, "Error: injecting")
    assert click["message"].startswith("Failed to click control 'Save'")
    assert tap == {"success": False, "action": "tap(1, 1)", "output": "", "error": "Error: injecting"}
    launch = made.run("launch_app", package_name="dev.made.absent")
    assert not launch["success"]
    assert "Launched" not in launch["message"]


def test_b16_an_empty_name_opens_no_app(made: MadePhone) -> None:
    with made.counted() as commands:
        assert not made.run("launch_app", package_name="")["success"]
    assert not [text for text in commands if "start-activity" in text]


def test_b17_parallel_screenshots_are_all_whole_and_leave_no_file(made: MadePhone) -> None:
    with ThreadPoolExecutor(6) as pool:
        pictures = list(pool.map(lambda _: made.run("capture_screenshot"), range(6)))
    assert all(picture.startswith("data:image/png;base64,") for picture in pictures)
    for folder in ("/sdcard", "/data/local/tmp"):
        names = made.phone.system.files.list(folder, uid=2000)
        assert not [name for name in names if name.endswith(".png") or "droidgate" in name]


def test_b18_no_file_is_made_on_the_computer(made: MadePhone, tmp_path: Path) -> None:
    with patch.object(tempfile, "tempdir", str(tmp_path)):
        made.run("capture_screenshot")
        with failing(screen_commands, "screencap", "broken\n", 1), pytest.raises(ToolError, match="broken"):
            made.run("capture_screenshot")
    assert list(tmp_path.iterdir()) == []


def test_b19_a_phone_that_hangs_ends_the_call_and_not_the_next_one(made: MadePhone) -> None:
    goes_on = threading.Event()

    def hang(call: CommandCall) -> int:
        goes_on.wait(60)
        return input_commands.input_command(call)

    tools = MobileAgentTools(lambda: device_on(made.phone), seconds=0.5)
    tools.run("tap", {"x": 1, "y": 1})
    with patch.dict(input_commands.COMMANDS, {"input": hang}):
        assert "did not end within" in str(tools.run("tap", {"x": 1, "y": 1}))
    goes_on.set()
    assert "'success': True" in str(tools.run("tap", {"x": 1, "y": 1}))


def test_b20_one_of_several_phones_is_chosen_by_its_serial(made: MadePhone) -> None:
    server = made.phone.server
    assert server is not None
    with start_phone(server=server, apps=False, adb_keys=()) as other:
        other.install(form_apk())
        address = AdbServer(ServerAddress(port=made.phone.server_port or 0))
        chosen = MobileAgentTools(lambda: connect_device(other.serial, server=address))
        any_phone = MobileAgentTools(lambda: connect_device(server=address))
        assert chosen.run("launch_app", {"package_name": FORM})["success"]
        with pytest.raises(ToolError, match="2 devices are attached"):
            any_phone.run("capture_screenshot", {})


def test_b22_no_adb_program_is_looked_for(made: MadePhone) -> None:
    with patch.dict(os.environ, {"PATH": ""}):
        tools = MobileAgentTools(lambda: device_on(made.phone))
        assert str(tools.run("get_ui_tree", {})).startswith("{'success': True")

"""The tools on a virtual phone: what they answer, what reached the phone, and in how many round trips.

Tests that begin with `b` and a number show that a fault of UFO's own servers, B1 to B22, is gone (reference
mobile-agent 4). B3 and B4 are a hostile text. B2 (no check of `Host` and `Origin`) and B21 (Ctrl-C leaves it
running) are faults of the servers: `test_servers.py` and `serving/test_serve_command.py` show them.
"""

from __future__ import annotations

import base64
import io
import os
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from signal import SIG_DFL, Signals, signal as handle_signal
from subprocess import DEVNULL, PIPE, Popen
from typing import Any, Literal
from unittest.mock import Mock, patch

import pytest
from PIL import Image

from droidgate.calls.screen import phone_commands
from droidgate.calls.screen.screen_state import INFO_SECONDS, SCREEN_SECONDS, PhoneState, ToolError
from droidgate.calls.screen.screen_tools import MobileAgentTools
from droidgate.devices.adb_client import AdbClient, ServerAddress
from droidgate.devices.device import CommandResult, connect_device
from droidgate.devices.device_errors import NoDeviceError
from droidgate.devices.quoting import join_command
from droidgate_mappings.model.errors import DroidgateError
from droidgate_phone.commands import CommandCall, input_commands, screen_commands
from droidgate_phone.phone import start_phone
from gateway.mobile_agent.made_phone import (
    FORM,
    KEYBOARD_ID,
    OTHER_KEYBOARD_ID,
    SHOP,
    Base64Receiver,
    MadePhone,
    control,
    device_on,
    form_apk,
    made_phone,
)
from requirements_of_tests import require
from waiting import wait_until

HOSTILE = [
    "it's", 'say "hi"', "$HOME ${x} $(id)", "`id`", "back\\slash \\n", "*.txt ~ ?", "# no comment",
    "a > b < c | d", "one; two && three &", "%s", "100%so %%s %s%s", "%", "50% s", "-n", "--longpress",
    "  two  blanks  ", "(x)[y]{z}", "!history ^", "echo\\x41",
    "a\"b'c $HOME `id` \\ * ~ #x a>b | ( ; & %s %%s 100%",  # B3 and B4
]  # fmt: skip


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


@pytest.fixture(scope="module")
def with_keyboard() -> Iterator[MadePhone]:
    # The pauses are for a real keyboard.
    with patch.object(phone_commands, "_KEYBOARD_PAUSE", 0.01), made_phone(keyboard=True) as phone:
        yield phone


def typed_into(made: MadePhone, name: Literal["name", "note"] = "name") -> dict[str, str]:
    """Open the form and return the arguments that name one of its fields."""
    hint = {"name": "Your name", "note": "A note"}[name]
    return control(made.open_form(), getattr(made.facts, name) or hint)


def test_a_screenshot_is_the_picture_of_the_screen_in_one_command(made: MadePhone) -> None:
    with made.counted() as commands:
        uri = made.run("capture_screenshot")
    assert commands == ["screencap -p"]
    head, _, data = uri.partition(",")
    assert head == "data:image/png;base64"
    with Image.open(io.BytesIO(base64.b64decode(data))) as picture:
        assert (picture.format, picture.size) == ("PNG", (1080, 2400))


def test_the_facts_of_the_device_come_in_one_command_and_are_kept(made: MadePhone) -> None:
    made.run("invalidate_cache", cache_type="device_info")
    with made.counted() as commands:
        first, second = made.run("get_device_info"), made.run("get_device_info")
    assert len(commands) == 1
    assert first == {
        "success": True,
        "device_info": {
            "model": "Virtual Phone",
            "android_version": "16",
            "sdk_version": "36",
            "screen_size": "Physical size: 1080x2400",
            "screen_density": "Physical density: 420",
            "battery_status": "2",
            "battery_level": "85",
        },
        "from_cache": False,
    }
    assert second == {**first, "from_cache": True}


def test_controls_come_in_one_command_and_have_ufos_shape(made: MadePhone) -> None:
    made.run("launch_app", package_name=FORM)
    with made.counted() as commands:
        listed = made.controls()
        assert made.controls() == listed
    assert len(commands) == 1
    assert listed[:4] == [
        {"kind": "control", "name": "A form", "id": "1", "type": "TextView", "rect": [0, 63, 1080, 183]},
        {"kind": "control", "name": "Your name", "id": "2", "type": "EditText", "rect": [0, 191, 1080, 327]},
        {"kind": "control", "name": "A note", "id": "3", "type": "EditText", "rect": [0, 335, 1080, 471]},
        {"kind": "control", "name": "Save", "id": "4", "type": "Button", "rect": [0, 479, 1080, 615]},
    ]
    assert listed[4]["type"] == "ListView"
    assert [item["id"] for item in listed] == [str(number) for number in range(1, len(listed) + 1)]


def test_the_tree_and_the_controls_share_one_dump(made: MadePhone) -> None:
    made.open_form()
    with made.counted() as commands:
        tree = made.run("get_ui_tree")
    assert commands == []
    assert (tree["success"], tree["format"]) == (True, "xml")
    assert tree["ui_tree"].startswith("<?xml")
    assert tree["ui_tree"].endswith("</hierarchy>")


@pytest.mark.parametrize("text", HOSTILE)
def test_text_that_a_shell_would_change_is_typed_as_it_is(made: MadePhone, text: str) -> None:
    field = typed_into(made)
    result = made.run("type_text", text=text, clear_current_text=True, **field)
    assert (result["success"], result["typed_by"]) == (True, "keys")
    assert made.facts.name == text


def test_typing_with_clearing_takes_one_command_after_the_list_and_two_later(made: MadePhone) -> None:
    field = typed_into(made, "note")
    with made.counted() as first:
        made.run("type_text", text="before", clear_current_text=True, **field)
    with made.counted() as second:
        made.run("type_text", text="after", clear_current_text=True, **field)
    assert (len(first), len(second)) == (1, 2)
    assert made.facts.note == "after"


def test_without_clearing_the_text_is_added(made: MadePhone) -> None:
    field = typed_into(made, "note")
    made.run("type_text", text="one", clear_current_text=True, **field)
    made.run("type_text", text=" two", **field)
    assert made.facts.note == "one two"


@pytest.mark.parametrize("text", ["你好", "grüße 🙂", "two\nlines", "a\ttab", "é"])
def test_b5_text_without_keys_is_refused_before_anything_is_tapped(made: MadePhone, text: str) -> None:
    field, before = typed_into(made), made.facts.name
    with made.counted() as commands:
        result = made.run("type_text", text=text, clear_current_text=True, **field)
    assert (result["success"], made.facts.name) == (False, before)
    first = next(character for character in text if not " " <= character <= "~")
    assert "com.android.adbkeyboard" in result["error"]
    assert f"U+{ord(first):04X}" in result["error"]
    assert not [command for command in commands if "input" in command.replace("default_input_method", "")]


def input_methods(phone: MadePhone) -> tuple[str | None, str | None]:
    """Return the settings of input methods: those that are enabled, and the current one."""
    get = phone.phone.system.settings.get
    return get("secure", "enabled_input_methods"), get("secure", "default_input_method")


def enable_input_methods(phone: MadePhone, current: str, *enabled: str) -> tuple[str, str]:
    settings = phone.phone.system.settings
    settings.put("secure", "enabled_input_methods", ":".join(enabled))
    settings.put("secure", "default_input_method", current)
    return ":".join(enabled), current


@pytest.mark.parametrize(("text", "before"), [
    ("你好", ""),
    ("grüße 🙂 'x' $y", OTHER_KEYBOARD_ID),
    ("two\nlines", OTHER_KEYBOARD_ID),
    ("a\ttab", KEYBOARD_ID),
])  # fmt: skip
def test_text_without_keys_is_typed_by_the_keyboard_alone_and_the_users_own_comes_back(
    with_keyboard: MadePhone, text: str, before: str
) -> None:
    settings = enable_input_methods(with_keyboard, before, OTHER_KEYBOARD_ID, KEYBOARD_ID)
    field = typed_into(with_keyboard)
    with with_keyboard.counted() as commands:
        result = with_keyboard.run("type_text", text=text, clear_current_text=True, **field)
    assert (result.get("error"), result["success"], result["typed_by"]) == (None, True, "input-method")
    assert with_keyboard.facts.name == text
    assert input_methods(with_keyboard) == settings
    assert with_keyboard.heard == []
    assert len(commands) == 2


def test_a_keyboard_that_the_user_has_not_enabled_stays_so(with_keyboard: MadePhone) -> None:
    settings = enable_input_methods(with_keyboard, OTHER_KEYBOARD_ID, OTHER_KEYBOARD_ID)
    field = typed_into(with_keyboard, "note")
    before = with_keyboard.facts.note
    with with_keyboard.counted() as commands:
        result = with_keyboard.run("type_text", text="pässword", clear_current_text=True, **field)
    assert result["error"].endswith("and enable it in the phone's settings")
    assert "com.android.adbkeyboard" in result["error"]
    assert (with_keyboard.facts.note, with_keyboard.heard, len(commands)) == (before, [], 1)
    assert input_methods(with_keyboard) == settings


@pytest.mark.parametrize("current", [OTHER_KEYBOARD_ID, ""])
@pytest.mark.parametrize("end", ["canceled", "deadline", "tap fails"])
def test_typing_that_ends_early_resets_the_keyboard(with_keyboard: MadePhone, end: str, current: str) -> None:
    settings = enable_input_methods(with_keyboard, current, OTHER_KEYBOARD_ID, KEYBOARD_ID)
    field = typed_into(with_keyboard, "note")
    cancel = threading.Event()

    def end_it() -> None:
        wait_until(lambda: input_methods(with_keyboard)[1] == KEYBOARD_ID)
        if end == "canceled":
            cancel.set()

    arguments = {"text": "pässword", "clear_current_text": False, **field}
    # A command without a terminal goes on when its client has gone, until it writes something.
    pause = {"canceled": 1, "deadline": 3, "tap fails": 0.01}[end]
    seconds = 2.0 if end == "deadline" else None
    failing = patch.object(phone_commands, "_tap", lambda _point: "false")
    with patch.object(phone_commands, "_KEYBOARD_PAUSE", pause), ExitStack() as stack:
        if end == "tap fails":
            stack.enter_context(failing)
        else:
            watcher = threading.Thread(target=end_it)
            watcher.start()
            stack.callback(watcher.join)
        with suppress(DroidgateError):
            result = with_keyboard.tools.run("type_text", arguments, cancel, seconds=seconds)
            assert not result["success"]
    wait_until(lambda: input_methods(with_keyboard) == settings)
    assert with_keyboard.heard == []


@pytest.mark.parametrize(
    "signal", [None, Signals.SIGHUP, Signals.SIGTERM, Signals.SIGINT, Signals.SIGKILL], ids=repr
)
def test_androids_shell_resets_the_keyboard_when_its_client_goes(
    tmp_path: Path, signal: Signals | None
) -> None:
    device = Mock(run=Mock(return_value=CommandResult(b"", b"", 0)))
    # A hang-up has to arrive during the pause, also on a busy machine.
    with patch.object(phone_commands, "_KEYBOARD_PAUSE", 3 if signal is Signals.SIGHUP else 0.3):
        phone_commands.type_by_keyboard(device, (1, 2), (), "ü", OTHER_KEYBOARD_ID, 9)
    for name in ("am", "ime", "input", "uiautomator"):
        # The shell that would set it back is killed while it sends the text.
        end = "kill -KILL $PPID\n" if (name, signal) == ("am", Signals.SIGKILL) else ""
        (tmp_path / name).write_text(f'#!/bin/sh\necho "{name} $*" >>{tmp_path}/ran\n{end}')
        (tmp_path / name).chmod(0o700)
    environment = {"PATH": f"{tmp_path}:/usr/bin:/bin"}
    shell_program = str(require("mksh"))
    text = join_command(device.run.call_args.args[0]).replace("sh -c", f"{shell_program} -c")
    # A shell cannot trap a signal that its parent ignores, as nohup does with SIGHUP.
    restored_signals = partial(handle_signal, Signals.SIGHUP, SIG_DFL)
    with Popen(
        [shell_program, "-c", text],
        env=environment,
        stdout=PIPE,
        stderr=DEVNULL,
        preexec_fn=restored_signals,  # noqa: PLW1509 - it only sets a signal's default
    ) as shell:
        assert shell.stdout is not None
        assert shell.stdout.readline() == b"tapped\n"
        # As adbd does: the shell that it started gets a signal, and nobody reads any more.
        shell.stdout.close()
        if signal not in (None, Signals.SIGKILL):
            shell.send_signal(signal)
        shell.wait()
    restored = f"ime set {OTHER_KEYBOARD_ID}"
    wait_until(lambda: f"{restored}\n" in (tmp_path / "ran").read_text())
    ran = (tmp_path / "ran").read_text().splitlines()
    assert ran[:2] == [f"ime set {KEYBOARD_ID}", "input tap 1 2"]
    assert ran.count(restored) == 1
    sent_to_it = "am broadcast --user current -a ADB_INPUT_B64 --es msg w7w= -p com.android.adbkeyboard"
    # A hang-up ends it before.
    assert [line for line in ran if line.startswith("am ")] == [sent_to_it] * (signal is not Signals.SIGHUP)


def test_a_keyboard_that_types_nothing_is_noticed(with_keyboard: MadePhone) -> None:
    enable_input_methods(with_keyboard, "", KEYBOARD_ID)
    field = typed_into(with_keyboard, "note")
    with patch.object(Base64Receiver, "on_receive", return_value=None):
        result = with_keyboard.run("type_text", text="你", clear_current_text=True, **field)
    assert not result["success"]
    assert "does not hold it" in result["error"]


def test_apps_are_found_by_part_of_their_package_and_opened_as_by_their_icon(made: MadePhone) -> None:
    result = made.run("launch_app", package_name="SHOP")
    assert (result["success"], result["message"], result["package_name"]) == (True, f"Launched {SHOP}", SHOP)
    assert (result["output"], result["error"]) == ("Events injected: 1", "")
    assert f"-n {SHOP}/{SHOP}.Main" in result["command"]
    assert "monkey" not in result["command"]
    assert [item["name"] for item in made.controls()] == ["A shop", "Buy"]


def test_b10_an_id_of_a_filtered_list_opens_that_app_or_warns_of_another_package(made: MadePhone) -> None:
    (shop,) = made.run("get_mobile_app_target_info", filter="shop")
    result = made.run("launch_app", package_name=SHOP, id=shop["id"])
    assert (result["package_name"], result["success"], "warning" in result) == (SHOP, True, False)
    result = made.run("launch_app", package_name=FORM, id=shop["id"])
    assert result["app_info"] == {"id": shop["id"], "name": SHOP, "package": SHOP}
    assert result["warning"].startswith(f"Warning: App ID {shop['id']} has package '{SHOP}'")
    assert made.controls()[0]["name"] == "A shop"


@pytest.mark.parametrize(("arguments", "error"), [
    ({"package_name": ""}, "No app found with name containing ''. Try using full package name."),
    ({"package_name": "nowhere"},
     "No app found with name containing 'nowhere'. Try using full package name."),
    ({"package_name": "com.x; echo a"}, "'com.x; echo a' is not a package name"),
    ({"package_name": "-p.x"}, "'-p.x' is not a package name"),
    ({"package_name": FORM, "id": "99"}, "App with ID '99' not found in cached app list."),
], ids=str)  # fmt: skip
def test_apps_that_cannot_be_meant_fail(made: MadePhone, arguments: dict[str, str], error: str) -> None:
    made.run("get_mobile_app_target_info")
    with made.counted() as commands:
        assert made.run("launch_app", **arguments) == {"success": False, "error": error}
    assert not [command for command in commands if "start-activity" in command]


@pytest.mark.parametrize(("tool", "arguments"), [
    ("tap", {"x": -1, "y": 5}),
    ("tap", {"x": 5, "y": 99_999}),
    ("swipe", {"start_x": 1, "start_y": 1, "end_x": 1, "end_y": -5}),
    ("swipe", {"start_x": 1, "start_y": 1, "end_x": 1, "end_y": 5, "duration": -1}),
    ("press_key", {"key_code": "3; echo x"}),
    ("press_key", {"key_code": ""}),
    ("press_key", {"key_code": "KEYCODE_GO_BACK"}),
    ("press_key", {"key_code": "back"}),
    ("press_key", {"key_code": "999"}),
    ("press_key", {"key_code": "٣"}),
    ("press_key", {"key_code": "--longpress"}),
    ("press_key", {"key_code": "KEYCODE_BACK KEYCODE_BACK"}),
], ids=str)  # fmt: skip
def test_no_wrong_point_or_key_reaches_it(made: MadePhone, tool: str, arguments: dict[str, object]) -> None:
    made.run("tap", x=0, y=0)
    with made.counted() as commands:
        result = made.run(tool, **arguments)
    assert commands == []
    assert (result["success"], result["output"]) == (False, "")
    assert result["error"]


def test_a_click_reaches_the_control_and_says_where(made: MadePhone) -> None:
    save = control(made.open_form(), "Save")
    with made.counted() as commands:
        result = made.run("click_control", **save)
    assert commands == ["input tap 540 547"]
    assert result == {
        "success": True,
        "action": "click_control(id=4, name=Save)",
        "message": "Clicked control 'Save' at (540, 547)",
        "control_info": {"id": "4", "name": "Save", "type": "Button", "rect": [0, 479, 1080, 615]},
    }
    assert made.facts.clicks[-1] == "save"


def test_another_name_than_the_ids_is_a_warning(made: MadePhone) -> None:
    made.open_form()
    result = made.run("click_control", control_id="4", control_name="Store")
    assert result["success"]
    assert result["action"] == "click_control(id=4, name=Store)"
    assert result["warning"] == (
        "Warning: Control ID 4 has name 'Save', but provided name is 'Store'. Clicking control 4."
    )
    typed = made.run("type_text", text="x", control_id="2", control_name="Store")
    assert typed["message"].startswith("Warning: Control ID 2 has name ")
    assert "'. Using ID 2. | Clicked control " in typed["message"]


@pytest.mark.parametrize(("seconds", "result"), [
    (0, {"success": True, "action": "wait(0.0s)", "message": "Waited for 0.0 seconds"}),
    (-0.1, {"success": False, "error": "Wait time must be non-negative"}),
    (60.5, {"success": False, "error": "Wait time cannot exceed 60 seconds"}),
], ids=["zero seconds are waited", "a negative time is refused", "over a minute is refused"])  # fmt: skip
def test_waiting_has_limits(made: MadePhone, seconds: float, result: dict[str, object]) -> None:
    assert made.run("wait", seconds=seconds) == result


def test_a_wait_ends_when_the_call_is_canceled(made: MadePhone) -> None:
    cancel = threading.Event()
    cancel.set()
    result = made.tools.run("wait", {"seconds": 60}, cancel)
    assert result == {"success": False, "error": "the wait was canceled"}


@pytest.mark.parametrize(("name", "words"), [
    ("controls", "Controls cache"),
    ("apps", "Apps cache"),
    ("ui_tree", "UI tree cache"),
    ("device_info", "Device info cache"),
    ("all", "All caches"),
])  # fmt: skip
def test_caches_are_dropped_by_name(made: MadePhone, name: str, words: str) -> None:
    result = made.run("invalidate_cache", cache_type=name)
    assert result == {"success": True, "message": f"{words} invalidated"}
    if name in {"controls", "all"}:
        result = made.run("click_control", control_id="1", control_name="A form")
        assert result["error"] == (
            "Control with ID '1' not found. Please call get_app_window_controls_target_info first."
        )


def test_parallel_calls_never_mix(made: MadePhone) -> None:
    """Eight clients list and click at once: each click reaches the row that its client meant."""
    made.open_form()
    made.facts.clicks.clear()
    rows = [f"Row {number}" for number in range(8)]

    def delete(row: str) -> None:
        while row in made.facts.rows:
            made.run("click_control", **control(made.controls(), f"Delete {row}"))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(delete, rows))
    assert set(made.facts.clicks) == {f"delete_{row}" for row in rows}
    assert len(made.facts.rows) == 52


def test_b14_a_phone_that_is_gone_is_an_error_of_every_tool_and_no_facts_are_kept() -> None:
    with made_phone() as made:
        listed = made.open_form()
        for cache_type in ("ui_tree", "device_info"):
            made.run("invalidate_cache", cache_type=cache_type)
    assert not made.run("get_ui_tree")["success"]
    assert not made.run("tap", x=1, y=1)["success"]
    assert not made.run("click_control", **control(listed, "Save"))["success"]
    for tool in ("capture_screenshot", "get_app_window_controls_target_info"):
        with pytest.raises(ToolError, match=r"Failed to|Error capturing"):
            made.run(tool)
    for _ in range(2):
        result = made.run("get_device_info")
        assert (result["success"], set(result)) == (False, {"success", "error"})


def test_a_phone_that_comes_later_is_used(made: MadePhone) -> None:
    connect = Mock(side_effect=NoDeviceError("no device is attached"))
    tools = MobileAgentTools(connect)
    error = "Failed to dump UI hierarchy: no device is attached"
    assert tools.run("get_ui_tree", {}) == {"success": False, "error": error}
    connect.side_effect = lambda: device_on(made.phone)
    assert str(tools.run("get_ui_tree", {})).startswith("{'success': True")


@contextmanager
def failing(
    module: Any, name: str, printed: str, status: int, *, calls: range = range(10**6)
) -> Iterator[list[int]]:
    """Let a command of the phone fail in some of its calls, which are counted in the list."""
    commands: dict[str, Callable[[CommandCall], int]] = module.COMMANDS
    real, numbers = commands[name], list[int]()

    def fail(call: CommandCall) -> int:
        numbers.append(len(numbers))
        if numbers[-1] not in calls:
            return real(call)
        call.write_error(printed)
        return status

    with patch.dict(commands, {name: fail}):
        yield numbers


@pytest.mark.parametrize("payload", [
    "z;echo\tP>/sdcard/x", "$(touch /sdcard/x)", "`touch /sdcard/x`", "a\ntouch /sdcard/x",
    "'; touch /sdcard/x; '",
])  # fmt: skip
def test_b1_no_text_of_a_client_is_run_by_the_phones_shell(made: MadePhone, payload: str) -> None:
    name = typed_into(made)
    made.run("type_text", text=payload, **name)
    made.run("type_text", text="x", control_id=payload, control_name=payload)
    made.run("launch_app", package_name=payload)
    made.run("launch_app", package_name=f"com.x.{payload}")
    made.run("press_key", key_code=payload)
    made.run("click_control", control_id=name["control_id"], control_name=payload)
    assert "x" not in made.phone.system.files.list("/sdcard", uid=2000)


def test_b6_an_empty_text_types_nothing(made: MadePhone) -> None:
    name = typed_into(made)
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


@pytest.mark.parametrize("printed", ["ERROR: could not get idle state.\n", "ERROR: null root node\n"])
def test_b8_and_b11_a_failed_dump_is_an_error_and_never_an_earlier_screen(
    made: MadePhone, printed: str
) -> None:
    save = control(made.open_form(), "Save")
    made.phone.system.files.write("/sdcard/window_dump.xml", b"<?xml?><hierarchy></hierarchy>", uid=2000)
    made.run("press_key", key_code="KEYCODE_HOME")
    with patch.object(phone_commands, "_PAUSE", 0.001), failing(screen_commands, "uiautomator", printed, 0):
        with pytest.raises(ToolError, match=printed.strip()):
            made.run("get_app_window_controls_target_info")
        assert printed.strip() in made.run("get_ui_tree")["error"]
        assert not made.run("click_control", **save)["success"]


def test_b8_a_dump_that_fails_sometimes_is_repeated(made: MadePhone) -> None:
    made.open_form()
    printed = "ERROR: could not get idle state.\n"
    with (
        patch.object(phone_commands, "_PAUSE", 0.001),
        failing(screen_commands, "uiautomator", printed, 0, calls=range(2)) as calls,
    ):
        made.run("invalidate_cache")
        assert made.controls()[0]["name"] == "A form"
    assert len(calls) == 3


def test_b9_the_lists_with_and_without_system_apps_are_two_and_share_their_ids() -> None:
    state = PhoneState(Clock())
    user = state.apps(lambda: ["u.one", "u.two"], include_system=False, seconds=1)
    everything = state.apps(lambda: ["s.zero", "u.one", "s.mid", "u.two"], include_system=True, seconds=1)
    assert (user, everything) == (("u.one", "u.two"), ("s.zero", "u.one", "s.mid", "u.two"))
    assert state.apps(list, include_system=False, seconds=1) == user
    assert [state.app_id(package) for package in everything] == ["3", "1", "4", "2"]
    assert state.package_of("2") == "u.two"


def test_b12_only_what_reached_the_phone_drops_the_screen(made: MadePhone) -> None:
    name, save = typed_into(made), control(made.controls(), "Save")
    with failing(input_commands, "input", "Error: injecting\n", 255):
        assert not made.run("click_control", **save)["success"]
        assert not made.run("type_text", text="x", **name)["success"]
    with made.counted() as kept:
        made.controls()
    assert kept == []
    with failing(input_commands, "input", "Error: injecting\n", 255, calls=range(1, 10)):
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


def test_b15_a_failed_action_is_reported_as_failed(made: MadePhone) -> None:
    save = control(made.open_form(), "Save")
    with failing(input_commands, "input", "Error: injecting\n", 255):
        click = made.run("click_control", **save)
        tap = made.run("tap", x=1, y=1)
    assert (click["success"], click["error"]) == (False, "Error: injecting")
    assert click["message"].startswith("Failed to click control 'Save'")
    assert tap == {"success": False, "action": "tap(1, 1)", "output": "", "error": "Error: injecting"}
    launch = made.run("launch_app", package_name="dev.made.absent")
    assert (launch["success"], launch["error"] != "") == (False, True)
    assert launch["message"].startswith("Failed to launch dev.made.absent: ")


def test_b17_parallel_screenshots_are_all_whole_and_no_tool_leaves_a_file(made: MadePhone) -> None:
    made.open_form()
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
        address = AdbClient(ServerAddress(port=made.phone.server_port or 0))
        chosen = MobileAgentTools(lambda: connect_device(other.serial, server=address))
        any_phone = MobileAgentTools(lambda: connect_device(server=address))
        assert chosen.run("launch_app", {"package_name": FORM})["success"]
        with pytest.raises(ToolError, match="2 devices are attached"):
            any_phone.run("capture_screenshot", {})


def test_b22_no_adb_program_is_looked_for(made: MadePhone) -> None:
    with patch.dict(os.environ, {"PATH": ""}):
        tools = MobileAgentTools(lambda: device_on(made.phone))
        assert str(tools.run("get_ui_tree", {})).startswith("{'success': True")

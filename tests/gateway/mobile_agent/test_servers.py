"""The two servers as clients meet them: lists, results, errors and tokens, tools beyond UFO's, and a task."""

from __future__ import annotations

import base64
import io
import json
import subprocess
import threading
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import jsonschema
import pytest
from hypothesis import given, strategies as st
from mcp import Client
from PIL import Image

from conftest import Golden
from droidgate.calls.screen import phone_commands
from droidgate.calls.screen.controls import Control, ControlSign
from droidgate.calls.screen.extension_tools import make_picture
from droidgate.calls.screen.screen_state import PhoneState
from droidgate.serving.mobile_agent.mobile_agent_server import EXTENSIONS, MobileAgentServer, UfoRole
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.tables.mobile_agent import mobile_agent_commands, more_tools
from gateway.mobile_agent.made_phone import (
    FORM,
    MODES,
    ROLES,
    SHOP,
    FormFacts,
    ServedPhone,
    control,
    made_phone,
    served,
    served_phone,
)
from gateway.serving.running_servers import HEADERS, message, status_of
from requirements_of_tests import CHECKOUT, fastmcp_interpreters
from waiting import wait_until

MORE: dict[UfoRole, list[str]] = {
    "data_collection": ["list_controls", "find_element", "wait_for_element", "take_screenshot"],
    "action": ["long_press", "drag"],
}


@pytest.fixture(scope="module")
def phone() -> Iterator[ServedPhone]:
    with served_phone(extensions=EXTENSIONS, keeps_ids=True) as started:
        yield started


@pytest.fixture(scope="module")
def plain(phone: ServedPhone) -> Iterator[ServedPhone]:
    """Return the servers of the same phone without extensions."""
    with served(phone.made) as started:
        yield started


def listed(phone: ServedPhone, role: UfoRole, mode: str = "legacy") -> list[Any]:
    async def run() -> list[Any]:
        async with Client(phone.url(role), mode=mode, cache=None) as client:
            return list((await client.list_tools()).tools)

    return anyio.run(run)


LIST = message("tools/list")


def lines_of(phone: ServedPhone, **arguments: Any) -> dict[str, Any]:
    result: dict[str, Any] = phone.value("list_controls", **arguments)
    assert result["success"], result
    return result


@pytest.mark.parametrize("role", ROLES)
def test_without_extensions_not_a_byte_of_the_lists_is_new_to_ufos_client(
    plain: ServedPhone, role: UfoRole, golden: Golden
) -> None:
    request = urllib.request.Request(plain.url(role), LIST, HEADERS)
    with urllib.request.urlopen(request, timeout=120) as answer:
        golden(f"mobile_agent/{role}.json", answer.read().decode())


def test_each_set_adds_its_own_tools_to_the_server_they_belong_to(phone: ServedPhone) -> None:
    for name in EXTENSIONS:
        tools = [tool for tool in more_tools() if tool.tool_set == name]
        for role in ROLES:
            server = MobileAgentServer(role, {"": phone.made.tools}, {name})
            added = [tool for tool in server._commands if tool not in mobile_agent_commands()]
            assert added == [tool.id for tool in tools if tool.server == role]


def test_annotations_say_what_each_tool_may_do(phone: ServedPhone) -> None:
    acting = {"readOnlyHint": False, "destructiveHint": True}
    lists = {role: listed(phone, role) for role in ROLES}
    reading = {*(tool.name for tool in lists["data_collection"]), "wait", "invalidate_cache"}
    assert sum(map(len, lists.values())) == 13 + 6
    for tool in (tool for tools in lists.values() for tool in tools):
        hints = {**acting, "idempotentHint": tool.name == "launch_app"}
        expected = {"readOnlyHint": True} if tool.name in reading else hints
        assert tool.annotations.model_dump(by_alias=True, exclude_none=True) == expected


def test_no_tool_of_the_data_server_acts_on_the_phone(phone: ServedPhone) -> None:
    phone.value("launch_app", package_name=FORM)
    with phone.made.counted() as commands:
        lines_of(phone)
        phone.value("find_element", text="save")
        phone.value("wait_for_element", text="save", timeout=0)
        phone.call("take_screenshot", boxes=True)
    assert commands
    for text in commands:
        assert not {"input", "am", "monkey", "ime", "settings"} & set(text.replace(";", " ").split())


def test_a_compact_list_is_a_line_for_each_control_and_a_quarter_of_the_size(phone: ServedPhone) -> None:
    phone.value("launch_app", package_name=FORM)
    full = phone.value("get_app_window_controls_target_info")
    with phone.made.counted() as commands:
        compact = lines_of(phone)
    assert commands == []
    assert [line.split(" ")[0] for line in compact["controls"]] == [item["id"] for item in full]
    save = control(full, "Save")["control_id"]
    assert f"{save} Button 540,547 Save" in compact["controls"]
    assert len(json.dumps(compact)) < 0.4 * len(json.dumps(full))


def ids_in(lines: list[str]) -> set[str]:
    return {line.split(" ")[0] for line in lines}


def test_a_list_since_another_has_only_what_changed_and_ids_stay(phone: ServedPhone) -> None:
    phone.value("launch_app", package_name=FORM)
    first = lines_of(phone)
    nothing = {"added": [], "changed": [], "removed": [], "unchanged": len(first["controls"])}
    same = {"success": True, "screen": first["screen"], "since": first["screen"]}
    assert lines_of(phone, since=first["screen"]) == same | nothing
    row = next(line for line in first["controls"] if " Delete Row " in line)
    number, name = row.split(" ")[0], row.partition("Delete ")[2]
    assert phone.value("click_control", control_id=number, control_name=f"Delete {name}")["success"]
    with phone.made.counted() as commands:
        second = lines_of(phone, since=first["screen"])
    assert len(commands) == 1
    gone = [line.split(" ")[0] for line in first["controls"] if line.endswith(f" {name}")]
    assert second["removed"] == gone
    assert number in gone
    # The rows below moved up, and one came in at the end of the list.
    assert all(" Row " in line or "Delete Row " in line for line in (*second["added"], *second["changed"]))
    assert not ids_in(second["added"]) & ids_in(first["controls"])
    last = second["added"][-1]
    phone.value("click_control", control_id=last.split(" ")[0], control_name=last.split(" ", 3)[3])
    assert phone.made.facts.clicks[-1] == f"delete_{last.split(' ', 3)[3].removeprefix('Delete ')}"


def test_an_id_is_never_given_to_another_control(phone: ServedPhone) -> None:
    phone.value("launch_app", package_name=FORM)
    form = ids_in(lines_of(phone)["controls"])
    phone.value("launch_app", package_name=SHOP)
    shop = lines_of(phone)
    assert not form & ids_in(shop["controls"])
    stale = phone.value("click_control", control_id=next(iter(form)), control_name="A form")
    assert "is no longer on the screen" in stale["error"]


def test_a_list_since_an_unknown_screen_has_all_controls(phone: ServedPhone) -> None:
    for since in ("0", "-1", "99999", "x", "\u0663", "1; reboot"):
        assert "since" not in lines_of(phone, since=since)


@pytest.mark.parametrize(("arguments", "names"), [
    pytest.param({"text": "SAVE"}, ["Save"], id="a text in another case"),
    pytest.param({"text": "your na"}, ["Your name"], id="a part of a text"),
    pytest.param({"resource_id": "save"}, ["Save"], id="the last part of an id"),
    pytest.param({"resource_id": f"{FORM}:id/save"}, ["Save"], id="a whole id"),
    pytest.param({"resource_id": "other:id/save"}, [], id="an id of another package finds none"),
    pytest.param({"text": "save", "resource_id": "note"}, [],
        id="a text and an id have to be of one element"),
    pytest.param({"text": ".*"}, [], id="a pattern is a plain text"),
])  # fmt: skip
def test_elements_are_found_by_text_or_id_and_their_ids_can_be_clicked(
    phone: ServedPhone, arguments: dict[str, str], names: list[str]
) -> None:
    phone.value("launch_app", package_name=FORM)
    with phone.made.counted() as commands:
        answer = phone.value("find_element", **arguments)
    assert len(commands) == 1
    assert [item["name"] for item in answer["controls"]] == names
    for item in answer["controls"]:
        clicked = phone.value("click_control", control_id=item["id"], control_name=item["name"])
        assert clicked["control_info"] == {key: item[key] for key in ("id", "name", "type", "rect")}


@pytest.mark.parametrize("tool", ["find_element", "wait_for_element"])
def test_a_search_for_nothing_is_refused_without_a_look(phone: ServedPhone, tool: str) -> None:
    with phone.made.counted() as commands:
        assert phone.value(tool) == {"success": False, "error": "text or resource_id is required"}
    assert commands == []


def test_waiting_ends_when_the_element_comes_and_when_it_goes(phone: ServedPhone) -> None:
    phone.value("launch_app", package_name=SHOP)
    before = len(phone.made.commands())
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(phone.value, "wait_for_element", text="Your name", timeout=60)
        wait_until(lambda: any("uiautomator" in text for text in phone.made.commands()[before:]))
        # Others act while a client waits.
        phone.value("launch_app", package_name=FORM)
        assert [item["name"] for item in waiting.result(60)["controls"]] == ["Your name"]
    phone.value("press_key", key_code="KEYCODE_HOME")
    assert phone.value("wait_for_element", text="Your name", gone=True)["controls"] == []


def test_waiting_in_vain_says_for_what_and_how_long(phone: ServedPhone) -> None:
    phone.value("launch_app", package_name=SHOP)
    absent = phone.value("wait_for_element", timeout=0, text="Your name")
    present = phone.value("wait_for_element", timeout=0, text="Buy", gone=True)
    assert absent == {"success": False, "error": "no such element after 0 seconds"}
    assert present == {"success": False, "error": "the element is still on the screen after 0 seconds"}


def test_a_canceled_wait_ends(phone: ServedPhone) -> None:
    cancel = threading.Event()
    cancel.set()
    result = phone.made.tools.run("wait_for_element", {"text": "nothing", "timeout": 60}, cancel)
    assert isinstance(result, dict)
    assert not result["success"]


def picture_of(phone: ServedPhone, **arguments: Any) -> tuple[Image.Image, dict[str, Any]]:
    result = phone.call("take_screenshot", **arguments)
    assert not result.is_error, result
    image, text = result.content
    facts = json.loads(text.text)  # type: ignore[union-attr]
    assert result.structured_content == facts
    assert image.type == "image"
    assert image.mime_type == facts["mimeType"]
    opened = Image.open(io.BytesIO(base64.b64decode(image.data)))
    assert opened.format == facts["mimeType"].removeprefix("image/").upper()
    assert list(opened.size) == facts["size"]
    return opened.convert("RGB"), facts


@pytest.mark.parametrize(("arguments", "size"), [
    pytest.param({}, (461, 1024), id="1024 pixels by default"),
    pytest.param({"max_size": 240, "format": "png"}, (108, 240), id="a smaller PNG"),
    pytest.param({"max_size": 4096}, (1080, 2400), id="a small screen is not enlarged"),
])  # fmt: skip
def test_a_picture_comes_as_an_image_of_the_size_asked_for(
    phone: ServedPhone, arguments: dict[str, Any], size: tuple[int, int]
) -> None:
    with phone.made.counted() as commands:
        picture, facts = picture_of(phone, **arguments)
    assert commands == ["screencap -p"]
    assert picture.size == size
    assert facts["screen_size"] == [1080, 2400]


def test_boxes_are_around_the_controls_and_their_numbers_are_ids(phone: ServedPhone) -> None:
    phone.value("launch_app", package_name=FORM)
    plain, _ = picture_of(phone, format="png", max_size=2400)
    with phone.made.counted() as commands:
        boxed, facts = picture_of(phone, format="png", max_size=2400, boxes=True)
    assert len(commands) == 1
    full = phone.value("get_app_window_controls_target_info")
    assert facts["controls"] == lines_of(phone)["controls"]
    assert [line.split(" ")[0] for line in facts["controls"]] == [item["id"] for item in full]
    save = next(item for item in full if item["name"] == "Save")
    left, top, right, bottom = save["rect"]
    edge = {boxed.getpixel((x, bottom - 1)) for x in range(left + 60, right)}
    assert len(edge) == 1
    assert edge != {plain.getpixel((right // 2, bottom - 1))}
    # The middle of the control is as it was: a box hides nothing.
    middle = (left + 300, top + 60, right - 300, bottom - 10)
    assert boxed.crop(middle).tobytes() == plain.crop(middle).tobytes()
    assert phone.value("click_control", control_id=save["id"], control_name="Save")["success"]
    assert phone.made.facts.clicks[-1] == "save"


def test_a_long_press_reaches_the_control_or_the_point(phone: ServedPhone) -> None:
    phone.value("launch_app", package_name=FORM)
    listing = phone.value("get_app_window_controls_target_info")
    button = next(item for item in listing if item["name"].startswith("Delete Row "))
    row = button["name"].removeprefix("Delete ")
    presses = phone.made.facts.long_clicks
    presses.clear()
    with phone.made.counted() as commands:
        result = phone.value("long_press", **control(listing, button["name"]), duration=700)
    x, y = (button["rect"][0] + button["rect"][2]) // 2, (button["rect"][1] + button["rect"][3]) // 2
    assert commands[-1] == f"input swipe {x} {y} {x} {y} 700"
    assert (result["success"], result["error"]) == (True, "")
    assert result["control_info"]["name"] == button["name"]
    assert phone.value("long_press", x=x, y=y)["action"] == f"long_press({x}, {y})"
    assert presses == [f"delete_{row}"] * 2
    other = phone.value("long_press", control_id=button["id"], control_name="Store")
    assert other["warning"].startswith(f"Warning: Control ID {button['id']} has name")


def test_a_drag_ends_on_another_control(phone: ServedPhone) -> None:
    phone.value("launch_app", package_name=FORM)
    listing = phone.value("get_app_window_controls_target_info")
    rects = {item["name"]: item["rect"] for item in listing}
    name = next(name for name in rects if name.startswith("Delete Row "))
    start, end = rects[name], rects["Save"]
    points = {"start_x": start[0] + 5, "start_y": start[1] + 5, "end_x": end[0] + 5, "end_y": end[1] + 5}
    with phone.made.counted() as commands:
        assert phone.value("drag", **points)["success"]
        # The screen may have changed.
        lines_of(phone)
    assert [text.split(" ")[:2] for text in commands[:1]] == [["input", "draganddrop"]]
    assert len(commands) == 2
    assert phone.made.facts.drops[-1] == (f"delete_{name.removeprefix('Delete ')}", "save")


def test_an_android_without_a_gesture_is_an_error(phone: ServedPhone, monkeypatch: Any) -> None:
    send = phone_commands.send_input
    monkeypatch.setattr(phone_commands, "send_input", lambda device, _, left: send(device, ["dance"], left))
    result = phone.made.run("drag", start_x=1, start_y=1, end_x=2, end_y=2)
    assert (result["success"], result["error"]) == (False, "Unknown command: dance")


@pytest.mark.parametrize(("tool", "arguments"), [
    pytest.param("take_screenshot", {"max_size": 63}, id="a picture too small to read"),
    pytest.param("take_screenshot", {"max_size": 4097}, id="a picture larger than any screen"),
    pytest.param("take_screenshot", {"format": "gif"}, id="a format that no client shows"),
    pytest.param("take_screenshot", {"boxes": "yes"}, id="a text for a boolean"),
    pytest.param("take_screenshot", {"device": "x"}, id="an argument that no tool has"),
    pytest.param("wait_for_element", {"text": "a", "timeout": 60.5}, id="a wait of over a minute"),
    pytest.param("wait_for_element", {"text": "a", "timeout": -1}, id="a wait of negative length"),
    pytest.param("find_element", {"text": ["a"]}, id="a list for a text"),
    pytest.param("list_controls", {"since": 1}, id="a number for a snapshot"),
    pytest.param("long_press", {"x": 1, "y": 1, "duration": 499}, id="a press too short to be long"),
    pytest.param("long_press", {"x": "1; reboot", "y": 1}, id="a command for a coordinate"),
    pytest.param("long_press", {"x": -1, "y": 1}, id="a negative coordinate"),
    pytest.param("long_press", {"x": 1}, id="a point without its other coordinate"),
    pytest.param("long_press", {}, id="no place at all"),
    pytest.param("long_press", {"x": 1, "y": 1, "control_id": "1"}, id="a point and a control at once"),
    pytest.param("long_press", {"control_id": "$(reboot)"}, id="a command for a control"),
    pytest.param("drag", {"start_x": 1, "start_y": 1, "end_x": 1, "end_y": 99_999},
        id="a point outside any screen"),
    pytest.param("drag", {"start_x": 1, "start_y": 1, "end_x": 1, "end_y": 1, "duration": 10_001},
        id="a drag of over ten seconds"),
])  # fmt: skip
def test_wrong_arguments_reach_no_phone(phone: ServedPhone, tool: str, arguments: dict[str, Any]) -> None:
    phone.value("tap", x=0, y=0)
    with phone.made.counted() as commands:
        result = phone.call(tool, **arguments)
    assert commands == []
    assert result.is_error or result.structured_content["success"] is False


def test_each_phone_is_used_by_its_serial_number_and_the_first_without(phone: ServedPhone) -> None:
    with ExitStack() as stack:
        other = stack.enter_context(made_phone())
        phones = {"first": phone.made.tools, "second": other.tools}
        both = stack.enter_context(served(phone.made, phones=phones))
        for role in ROLES:
            for tool in listed(both, role):
                device = tool.input_schema["properties"]["device"]
                assert (device["enum"], device["default"]) == (["first", "second"], "first")
        both.value("launch_app", package_name=FORM)
        both.value("launch_app", package_name=SHOP, device="second")
        first = both.value("get_app_window_controls_target_info", device="first")
        second = both.value("get_app_window_controls_target_info", device="second")
        assert (first[0]["name"], second[0]["name"]) == ("A form", "A shop")
        # An id is of the phone that gave it.
        before = len(phone.made.facts.clicks)
        assert both.value("click_control", device="second", **control(second, "Buy"))["success"]
        assert len(phone.made.facts.clicks) == before
        assert all(both.call("tap", x=1, y=1, device=name).is_error for name in ("third", None))


def test_the_answers_in_the_guide_are_those_of_a_phone() -> None:
    guide = (CHECKOUT / "docs/guides/mobile-agent.md").read_text(encoding="utf-8")
    with made_phone(keeps_ids=True) as made:
        made.run("launch_app", package_name=SHOP)
        listing = made.run("list_controls")
        since = made.run("list_controls", since=listing["screen"])
        search = made.run("find_element", text="buy")
    for answer in (listing, since, search):
        assert json.dumps(answer, separators=(",", ":")) in guide.splitlines()


def test_a_picture_that_is_none_or_too_large_is_an_error() -> None:
    huge = io.BytesIO()
    Image.new("1", (9_000, 9_000)).save(huge, "PNG")
    for data in (b"", b"\x89PNG\r\n\x1a\n", huge.getvalue()[:200], huge.getvalue()):
        with pytest.raises(InputError, match="the phone's picture"):
            make_picture(data, max_size=100, file_format="png")


def test_the_id_of_a_list_is_not_under_that_of_its_first_row() -> None:
    paper = io.BytesIO()
    Image.new("RGB", (400, 400), "white").save(paper, "PNG")
    rects = {"7": (0, 0, 400, 400), "8": (0, 0, 400, 60)}
    controls = [replace(some_control(number), id=number, rect=rect) for number, rect in rects.items()]
    image = make_picture(paper.getvalue(), max_size=400, file_format="png", controls=controls)
    with Image.open(io.BytesIO(image.data)) as picture:
        colours = {number: picture.getpixel((200, rect[3] - 1)) for number, rect in rects.items()}
        # An id's ground is the corner of its box, inside of the edge.
        assert picture.getpixel((3, 4)) == colours["8"]
        assert picture.getpixel((396, 6)) == colours["7"]


def some_control(name: str) -> Control:
    return Control("0", name, "Button", (0, 0, 9, 9), name, ControlSign("p", "Button", "", "", name))


def dump_of(controls: tuple[Control, ...]) -> tuple[str, tuple[Control, ...]]:
    return "", controls


@given(screens=st.lists(st.lists(st.sampled_from("abcd"), max_size=8), max_size=6))
def test_ids_are_unique_and_name_one_control_for_ever(screens: list[list[str]]) -> None:
    state = PhoneState(keeps_ids=True)
    names: dict[str, str] = {}
    for screen in screens:
        controls = tuple(map(some_control, screen))
        numbered = state.snapshot(partial(dump_of, controls), fresh=True).controls
        assert [item.name for item in numbered] == screen
        assert len({item.id for item in numbered}) == len(screen)
        for item in numbered:
            assert names.setdefault(item.id, item.name) == item.name


DATA = [
    "capture_screenshot", "get_ui_tree", "get_device_info", "get_mobile_app_target_info",
    "get_app_window_controls_target_info",
]  # fmt: skip
ACTION = ["tap", "swipe", "type_text", "launch_app", "press_key", "click_control", "wait", "invalidate_cache"]


@pytest.mark.parametrize("mode", MODES)
def test_each_server_lists_its_own_tools_in_ufos_order(plain: ServedPhone, mode: str) -> None:
    names = [[tool.name for tool in listed(plain, role, mode)] for role in ROLES]
    assert names == [DATA, ACTION]


def test_each_tool_has_a_schema_that_ufos_client_can_read(plain: ServedPhone) -> None:
    for tool in (tool for role in ROLES for tool in listed(plain, role)):
        jsonschema.Draft202012Validator.check_schema(tool.input_schema)
        schema = tool.output_schema
        if tool.name == "capture_screenshot" or "target_info" in tool.name:
            assert schema["x-fastmcp-wrap-result"] is True
            targets = {"type": "array", "items": {"allOf": [{"$ref": "#/$defs/TargetInfo"}]}}
            assert schema["properties"]["result"] in ({}, targets)
        else:
            assert schema == {"type": "object", "additionalProperties": True}


@pytest.mark.parametrize("mode", MODES)
def test_results_are_structured_and_the_same_as_text(plain: ServedPhone, mode: str) -> None:
    plain.value("launch_app", package_name=FORM)
    for tool in ("get_app_window_controls_target_info", "get_device_info", "get_mobile_app_target_info"):
        result = plain.call(tool, mode=mode)
        (block,) = result.content
        structured: Any = result.structured_content
        is_list = mobile_agent_commands()[tool].result["type"] == "array"
        assert json.loads(block.text) == (structured["result"] if is_list else structured)  # type: ignore[union-attr]
    picture = plain.call("capture_screenshot", mode=mode)
    assert picture.structured_content == {"result": picture.content[0].text}  # type: ignore[union-attr]


@pytest.mark.parametrize("mode", MODES)
def test_a_screenshot_is_an_object_for_the_argument_of_ufos_tests(plain: ServedPhone, mode: str) -> None:
    """tests/integration/test_mobile_mcp_server.py of UFO sends `format`, which its schema does not list."""
    picture: Any = plain.call("capture_screenshot", mode=mode, format="base64").structured_content
    image = picture["result"].pop("image")
    assert image.startswith("data:image/png;base64,")
    assert picture["result"] == {"success": True, "width": 1080, "height": 2400, "format": "base64"}


def test_nothing_listed_is_an_empty_list(plain: ServedPhone) -> None:
    assert plain.value("get_mobile_app_target_info", filter="no such app") == []


@pytest.mark.parametrize(("tool", "arguments", "error"), [
    ("tap", {"x": "12", "y": 1}, "Input validation error: '12' is not of type 'integer'"),
    ("tap", {"x": 1.5, "y": 1}, "Input validation error: 1.5 is not of type 'integer'"),
    ("tap", {"x": True, "y": 1}, "Input validation error: True is not of type 'integer'"),
    ("tap", {"x": 1}, "Input validation error: 'y' is a required property"),
    ("capture_screenshot", {"format": "jpeg"}, "Input validation error: 'jpeg' is not one of ['base64']"),
    ("wait", {"seconds": "1"}, "Input validation error: '1' is not of type 'number'"),
    ("tap", {"x": 1, "y": 1, "z": 1},
     "Error calling tool 'tap': 1 validation error for call[tap]\nz\n  Unexpected keyword argument "),
], ids=str)  # fmt: skip
def test_arguments_that_do_not_fit_are_errors_in_ufos_words(
    plain: ServedPhone, tool: str, arguments: dict[str, Any], error: str
) -> None:
    with plain.made.counted() as commands:
        result = plain.call(tool, **arguments)
    assert result.is_error
    assert result.content[0].text.startswith(error)  # type: ignore[union-attr]
    assert commands == []


def test_the_data_server_cannot_act_nor_the_action_server_see(phone: ServedPhone, plain: ServedPhone) -> None:
    refused: list[tuple[ServedPhone, list[str], UfoRole]] = [
        (plain, [*ACTION, *MORE["data_collection"]], "data_collection"),
        (plain, [*DATA, "nope", *MORE["action"]], "action"),
        (phone, MORE["action"], "data_collection"),
    ]
    with phone.made.counted() as commands:
        for server, tools, role in refused:
            for tool in tools:
                result = server.call(tool, role=role)
                assert result.is_error
                assert result.content[0].text == f"Unknown tool: {tool}"  # type: ignore[union-attr]
    assert commands == []


def test_each_server_takes_its_own_token_only(plain: ServedPhone) -> None:
    tokens = {role: f"token-of-the-{role}-server" for role in ROLES}
    with served(plain.made, tokens) as guarded:
        sent: dict[str, bytes | None] = {role: f"Bearer {token}".encode() for role, token in tokens.items()}
        sent["nobody"] = None
        statuses = {
            (role, name): status_of(guarded.ports[role], "POST", {"Authorization": value}, LIST)
            for role in ROLES
            for name, value in sent.items()
        }
    assert statuses == {(role, name): 200 if role == name else 401 for role in ROLES for name in sent}


@pytest.mark.parametrize(("header", "value", "status"), [
    ("Host", b"evil.example", 421), ("Origin", b"http://evil.example", 403), ("Origin", b"null", 403),
])  # fmt: skip
def test_web_pages_of_others_are_refused_twice(
    plain: ServedPhone, header: str, value: bytes, status: int
) -> None:
    for role in ROLES:
        headers = {"Authorization": None, header: value}
        assert status_of(plain.ports[role], "POST", headers, LIST) == status


def test_ids_that_the_data_server_gave_are_known_to_the_action_server(plain: ServedPhone) -> None:
    plain.value("launch_app", package_name=FORM)
    save = control(plain.value("get_app_window_controls_target_info"), "Save")
    assert plain.value("click_control", **save)["success"]
    assert plain.made.facts.clicks[-1] == "save"


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
def test_the_official_client_does_a_task_of_twelve_steps(mode: str) -> None:
    with served_phone() as phone:
        run_task(partial(phone.value, mode=mode))
        check_phone(phone)


# What UFO's tests/integration/test_mobile_mcp_server.py and test_mobile_mcp_standalone.py call, in order.
UFO_TESTS: list[tuple[str, dict[str, Any], set[str]]] = [
    ("get_device_info", {}, {"device_info"}),
    ("capture_screenshot", {"format": "base64"}, {"image", "width", "height", "format"}),
    ("get_ui_tree", {}, {"ui_tree", "format"}),
    ("get_mobile_app_target_info", {"include_system_apps": False, "force_refresh": True}, {"name"}),
    ("get_app_window_controls_target_info", {"force_refresh": True}, {"id", "name", "type"}),
    ("press_key", {"key_code": "KEYCODE_HOME"}, {"action"}),
    ("tap", {"x": 540, "y": 960}, {"action"}),
    ("swipe", {"start_x": 540, "start_y": 1200, "end_x": 540, "end_y": 600, "duration": 300}, {"action"}),
    ("invalidate_cache", {"cache_type": "all"}, {"message"}),
    ("press_key", {"key_code": "KEYCODE_HOME"}, {"action"}),
    ("get_app_window_controls_target_info", {"force_refresh": True}, {"id", "name", "type"}),
    ("invalidate_cache", {"cache_type": "controls"}, {"message"}),
    ("get_app_window_controls_target_info", {"force_refresh": False}, {"id", "name", "type"}),
]


def run_ufo_tests(call: Call) -> None:
    """Make the calls of UFO's own tests, with what they check of each answer."""
    for tool, arguments, members in UFO_TESTS:
        value = call(tool, **arguments)
        if isinstance(value, list):
            assert value, tool
            assert members <= set(value[0]), tool
        else:
            assert value["success"] is True, tool
            assert members <= set(value), tool
    listed = call("get_app_window_controls_target_info", force_refresh=True)
    control = next(item for item in listed if item["name"])
    clicked = call("click_control", control_id=control["id"], control_name=control["name"])
    assert clicked["success"] is True
    assert call("capture_screenshot", format="base64")["image"].startswith("data:image/png;base64,")


def test_the_calls_of_ufos_own_tests_are_answered(plain: ServedPhone) -> None:
    run_ufo_tests(plain.value)


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
def test_each_fastmcp_client_does_the_task_of_twelve_steps() -> None:
    for interpreter in fastmcp_interpreters():
        with served_phone() as phone, fastmcp_client(interpreter, phone) as call:
            run_task(call)
            check_phone(phone)
            run_ufo_tests(call)

"""The tools beyond UFO's, by the official client: what they answer and what reached the phone."""

from __future__ import annotations

import base64
import io
import json
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from typing import Any

import anyio
import pytest
from hypothesis import given, strategies as st
from mcp import Client
from PIL import Image

from droidgate.calls.screen import phone_commands
from droidgate.calls.screen.controls import Control, ControlSign
from droidgate.calls.screen.more_tools import make_picture
from droidgate.calls.screen.screen_state import PhoneState
from droidgate.serving.mobile_agent.mobile_agent_server import EXTENSIONS, MobileAgentServer
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.tables.mobile_agent import mobile_agent_commands, more_tools
from gateway.mobile_agent.made_phone import FORM, SHOP, MadePhone, control, made_phone
from gateway.mobile_agent.served_phone import ROLES, ServedPhone, served, served_phone
from requirements_of_tests import CHECKOUT

MORE = {
    "data_collection": ["list_controls", "find_element", "wait_for_element", "take_screenshot"],
    "action": ["long_press", "drag"],
}


@pytest.fixture(scope="module")
def phone() -> Iterator[ServedPhone]:
    with served_phone(extensions=EXTENSIONS, keeps_ids=True) as started:
        yield started


def listed(phone: ServedPhone, role: Any) -> list[dict[str, Any]]:
    async def run() -> list[dict[str, Any]]:
        async with Client(phone.url(role), cache=None) as client:
            tools = (await client.list_tools()).tools
            return [tool.model_dump(by_alias=True, exclude_none=True) for tool in tools]

    return anyio.run(run)


def list_of(url: str) -> str:
    """Return the answer to `tools/list` as it is sent."""
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}).encode()
    headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    with urllib.request.urlopen(urllib.request.Request(url, body, headers), timeout=120) as answer:
        return str(answer.read().decode())


def lines_of(phone: ServedPhone, **arguments: Any) -> dict[str, Any]:
    result: dict[str, Any] = phone.value("list_controls", **arguments)
    assert result["success"], result
    return result


def test_without_extensions_not_a_byte_of_the_lists_is_new_to_ufos_client(
    phone: ServedPhone, golden: Any
) -> None:
    with served(phone.made) as plain:
        for role in ROLES:
            golden(f"mobile_agent/{role}.json", list_of(plain.url(role)))
            for tool in MORE[role]:
                result = plain.call(tool, role=role)
                assert result.content[0].text == f"Unknown tool: {tool}"  # type: ignore[union-attr]


def test_each_set_adds_its_own_tools_to_the_server_they_belong_to(made_tools: MadePhone) -> None:
    for name in EXTENSIONS:
        tools = [tool for tool in more_tools() if tool.tool_set == name]
        for role in ROLES:
            server = MobileAgentServer(role, {"": made_tools.tools}, {name})
            added = [tool for tool in server._commands if tool not in mobile_agent_commands()]
            assert added == [tool.id for tool in tools if tool.server == role]


@pytest.fixture(scope="module")
def made_tools(phone: ServedPhone) -> MadePhone:
    return phone.made


def test_annotations_say_what_each_tool_may_do(phone: ServedPhone) -> None:
    acting = {"readOnlyHint": False, "destructiveHint": True, "idempotentHint": False}
    tools = {tool["name"]: tool["annotations"] for role in ROLES for tool in listed(phone, role)}
    assert len(tools) == 13 + 6
    reading = {tool["name"] for tool in listed(phone, "data_collection")} | {"wait", "invalidate_cache"}
    for name, hints in tools.items():
        if name in reading:
            assert hints == {"readOnlyHint": True}
        else:
            assert hints == {**acting, "idempotentHint": name == "launch_app"}


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
    for tool in MORE["action"]:
        result = phone.call(tool, role="data_collection")
        assert result.content[0].text == f"Unknown tool: {tool}"  # type: ignore[union-attr]


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
    assert lines_of(phone, since=first["screen"]) == {
        "success": True,
        "screen": first["screen"],
        "since": first["screen"],
        "added": [],
        "changed": [],
        "removed": [],
        "unchanged": len(first["controls"]),
    }
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


def test_a_list_that_is_not_kept_any_more_is_answered_with_all_controls(phone: ServedPhone) -> None:
    for since in ("0", "-1", "99999", "x", "\u0663", "1; reboot"):
        assert "since" not in lines_of(phone, since=since)


@pytest.mark.parametrize(("arguments", "names"), [
    ({"text": "SAVE"}, ["Save"]),
    ({"text": "your na"}, ["Your name"]),
    ({"resource_id": "save"}, ["Save"]),
    ({"resource_id": f"{FORM}:id/save"}, ["Save"]),
    ({"resource_id": "other:id/save"}, []),
    ({"text": "save", "resource_id": "note"}, []),
    ({"text": "no such thing"}, []),
    ({"text": ".*"}, []),
])  # fmt: skip
def test_elements_are_found_by_text_or_id_and_their_ids_can_be_clicked(
    phone: ServedPhone, arguments: dict[str, str], names: list[str]
) -> None:
    phone.value("launch_app", package_name=FORM)
    with phone.made.counted() as commands:
        found = phone.value("find_element", **arguments)
    assert len(commands) == 1
    assert [item["name"] for item in found["controls"]] == names
    for item in found["controls"]:
        clicked = phone.value("click_control", control_id=item["id"], control_name=item["name"])
        assert clicked["control_info"] == {key: item[key] for key in ("id", "name", "type", "rect")}


@pytest.mark.parametrize("tool", ["find_element", "wait_for_element"])
def test_a_search_for_nothing_is_refused_without_a_look(phone: ServedPhone, tool: str) -> None:
    with phone.made.counted() as commands:
        assert phone.value(tool) == {"success": False, "error": "text or resource_id is required"}
    assert commands == []


def test_waiting_ends_when_the_element_comes_and_when_it_goes(phone: ServedPhone) -> None:
    phone.value("launch_app", package_name=SHOP)
    answers: list[dict[str, Any]] = []
    wait = {"text": "Your name", "timeout": 60}
    waiting = threading.Thread(target=lambda: answers.append(phone.value("wait_for_element", **wait)))
    with phone.made.counted() as commands:
        waiting.start()
        while not any("uiautomator" in text for text in phone.made.commands()[-1:]):
            assert waiting.is_alive()
        # Others act while a client waits.
        phone.value("launch_app", package_name=FORM)
        waiting.join(60)
    assert [item["name"] for item in answers[0]["controls"]] == ["Your name"]
    assert sum("uiautomator" in text for text in commands) >= 1
    phone.value("press_key", key_code="KEYCODE_HOME")
    assert phone.value("wait_for_element", text="Your name", gone=True)["controls"] == []


def test_waiting_in_vain_says_for_what_and_how_long(phone: ServedPhone) -> None:
    phone.value("launch_app", package_name=SHOP)
    result = phone.value("wait_for_element", text="Your name", timeout=0)
    assert result == {"success": False, "error": "no such element after 0 seconds"}
    result = phone.value("wait_for_element", text="Buy", gone=True, timeout=0)
    assert result == {"success": False, "error": "the element is still on the screen after 0 seconds"}


def test_a_canceled_wait_ends(made_tools: MadePhone) -> None:
    cancel = threading.Event()
    cancel.set()
    result = made_tools.tools.run("wait_for_element", {"text": "nothing", "timeout": 60}, cancel)
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


@pytest.mark.parametrize(
    ("arguments", "size"),
    [({}, (461, 1024)), ({"max_size": 240, "format": "png"}, (108, 240)), ({"max_size": 4096}, (1080, 2400))],
)
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


def test_an_android_without_a_gesture_is_an_error(made_tools: MadePhone, monkeypatch: Any) -> None:
    send = phone_commands.send_input
    monkeypatch.setattr(phone_commands, "send_input", lambda device, _, left: send(device, ["dance"], left))
    result = made_tools.run("drag", start_x=1, start_y=1, end_x=2, end_y=2)
    assert (result["success"], result["error"]) == (False, "Unknown command: dance")


@pytest.mark.parametrize(("tool", "arguments"), [
    ("take_screenshot", {"max_size": 63}),
    ("take_screenshot", {"max_size": 4097}),
    ("take_screenshot", {"format": "gif"}),
    ("take_screenshot", {"boxes": "yes"}),
    ("take_screenshot", {"device": "x"}),
    ("wait_for_element", {"text": "a", "timeout": 60.5}),
    ("wait_for_element", {"text": "a", "timeout": -1}),
    ("find_element", {"text": ["a"]}),
    ("list_controls", {"since": 1}),
    ("long_press", {"x": 1, "y": 1, "duration": 499}),
    ("long_press", {"x": "1; reboot", "y": 1}),
    ("long_press", {"x": -1, "y": 1}),
    ("long_press", {"x": 1}),
    ("long_press", {}),
    ("long_press", {"x": 1, "y": 1, "control_id": "1"}),
    ("long_press", {"control_id": "$(reboot)"}),
    ("drag", {"start_x": 1, "start_y": 1, "end_x": 1, "end_y": 99_999}),
    ("drag", {"start_x": 1, "start_y": 1, "end_x": 1, "end_y": 1, "duration": 10_001}),
])  # fmt: skip
def test_arguments_that_are_wrong_never_reach_the_phone(
    phone: ServedPhone, tool: str, arguments: dict[str, Any]
) -> None:
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
                device = tool["inputSchema"]["properties"]["device"]
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
        assert both.call("tap", x=1, y=1, device="third").is_error
        assert both.call("tap", x=1, y=1, device=None).is_error


def test_the_answers_in_the_guide_are_those_of_a_phone() -> None:
    guide = (CHECKOUT / "docs/guides/mobile-agent.md").read_text(encoding="utf-8")
    with made_phone(keeps_ids=True) as made:
        made.run("launch_app", package_name=SHOP)
        listing = made.run("list_controls")
        since = made.run("list_controls", since=listing["screen"])
        found = made.run("find_element", text="buy")
    for answer in (listing, since, found):
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
    made = make_picture(paper.getvalue(), max_size=400, file_format="png", controls=controls)
    with Image.open(io.BytesIO(made.data)) as picture:
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

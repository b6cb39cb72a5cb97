"""What is shown lies inside the display, can be read back from both pictures of it, and takes touches."""

import io
import re
import xml.etree.ElementTree as ET  # our own text is read with another parser than the one the gateway uses
from collections.abc import Sequence
from unittest.mock import Mock

import pytest
from hypothesis import given, strategies as st
from PIL import Image

from device_shim.phone_apps.small_phone import SmallPhone
from droidgate_phone.apps.clock_in import ClockInApp
from droidgate_phone.java.app_values import View, ViewKind
from droidgate_phone.screen import keys
from droidgate_phone.screen.layout import Display, Placed, lay_out
from droidgate_phone.screen.window import (
    InputNotModelledError,
    LauncherEntry,
    Screen,
    Shown,
    Touched,
    Window,
    write_hierarchy,
)

PACKAGE = "dev.droidgate.sample.clockin"
ATTRIBUTES = [
    "index", "text", "resource-id", "class", "package", "content-desc", "checkable", "checked", "clickable",
    "enabled", "focusable", "focused", "scrollable", "long-clickable", "password", "selected", "bounds",
]  # fmt: skip
BOUNDS = re.compile(r"\[(\d+),(\d+)\]\[(\d+),(\d+)\]")

texts = st.text(max_size=30)
leaves = st.builds(
    View, st.sampled_from(["text", "button", "input", "switch", "icon"]), text=texts, hint=texts
)
trees = st.recursive(
    leaves,
    lambda below: st.builds(
        View, st.sampled_from(["column", "row", "list"]), children=st.lists(below, max_size=5).map(tuple)
    ),
    max_leaves=20,
)
displays = st.builds(Display, st.integers(1, 1200), st.integers(1, 2600))


class OneStage:
    """A stage with one activity, and the home screen under it."""

    def __init__(self, phone: SmallPhone) -> None:
        self.shown: Shown | None = None
        self.started = 0
        self.phone = phone

    def top(self) -> Shown | None:
        return self.shown

    def go_back(self) -> None:
        self.shown = None

    def go_home(self) -> None:
        self.shown = None

    def launch(self) -> None:
        self.started += 1
        activity = self.phone.activity(PACKAGE, f"{PACKAGE}.MainActivity")
        self.shown = Shown(self.started, PACKAGE, activity)

    def launcher_entries(self) -> Sequence[LauncherEntry]:
        other = LauncherEntry("dev.made.other", "Other", lambda: None)
        return [other, LauncherEntry(PACKAGE, "Clock", self.launch)]


@pytest.fixture
def stage() -> OneStage:
    phone = SmallPhone()
    phone.install(ClockInApp)
    return OneStage(phone)


@pytest.fixture
def window(stage: OneStage) -> Window:
    return Window(stage)


def nodes(window: Window) -> list[ET.Element]:
    root = ET.fromstring(window.hierarchy())
    assert root.tag == "hierarchy"
    return list(root.iter("node"))


def node(window: Window, **attributes: str) -> ET.Element:
    names = {"id": "resource-id", "description": "content-desc"}
    elements = [
        element
        for element in nodes(window)
        if all(element.get(names.get(key, key)) == text for key, text in attributes.items())
    ]
    assert len(elements) == 1, attributes
    return elements[0]


def tap(window: Window, element: ET.Element) -> None:
    match = BOUNDS.fullmatch(str(element.get("bounds")))
    assert match is not None
    left, top, right, bottom = map(int, match.groups())
    window.tap((left + right) // 2, (top + bottom) // 2)


@given(trees, displays)
def test_views_stay_in_what_holds_them_and_off_each_other(tree: View, display: Display) -> None:
    def check(placed: Placed) -> None:
        for number, child in enumerate(placed.children):
            assert not child.box.is_empty
            assert child.box.cut(placed.box) == child.box
            assert all(child.box.cut(other.box).is_empty for other in placed.children[number + 1 :])
            check(child)

    root = lay_out(tree, display)
    assert root.box.left >= 0
    assert (root.box.right, root.box.bottom) == (display.width, display.height)
    check(root)


@given(trees)
def test_hostile_text_comes_out_of_the_xml_as_it_was(tree: View) -> None:
    display = Display()
    root = lay_out(tree, display)
    hierarchy = ET.fromstring(write_hierarchy(Screen("dev.made.app", root, display)))
    seen = [element.attrib for element in hierarchy.iter("node")][2:]
    views = [placed.view for placed in root.walk()]
    assert len(seen) == len(views)
    for attributes, view in zip(seen, views, strict=True):
        written = str(attributes["text"])
        expected = view.text or (view.hint if view.kind == "input" else "")
        assert len(written) == len(expected)
        differences = {theirs for mine, theirs in zip(written, expected, strict=True) if mine != theirs}
        assert all(
            ord(character) < 0x20 or 0x7F <= ord(character) <= 0x9F or ord(character) >= 0xFDD0
            for character in differences
        )


def test_the_dump_has_the_shape_that_uiautomator_writes(window: Window, stage: OneStage) -> None:
    stage.launch()
    text = window.hierarchy()
    assert text.startswith(
        "<?xml version='1.0' encoding='UTF-8' standalone='yes' ?><hierarchy rotation=\"0\"><node "
    )
    assert text.endswith("</node></node></node></hierarchy>")
    for element in nodes(window):
        assert [name for name in element.attrib if name != "NAF"] == ATTRIBUTES
        assert BOUNDS.fullmatch(str(element.get("bounds")))
    button = node(window, id=f"{PACKAGE}:id/clock_in_now")
    assert (button.get("class"), button.get("clickable")) == ("android.widget.Button", "true")
    assert button.get("package") == PACKAGE


def test_text_is_typed_into_the_input_that_was_tapped(window: Window, stage: OneStage) -> None:
    stage.launch()
    window.type_text("lost")
    field = f"{PACKAGE}:id/missed_day"
    assert node(window, id=field).get("text") == "missed_day"
    tap(window, node(window, id=field))
    assert node(window, id=field).get("focused") == "true"
    window.type_text("2026-02-1")
    window.press_key(keys.key_code("KEYCODE_3"))
    window.press_key(keys.key_code("11"))
    assert node(window, id=field).get("text") == "2026-02-134"
    stage.launch()
    assert node(window, id=field).get("focused") == "false"


def test_keys_delete_go_back_and_go_home(window: Window, stage: OneStage) -> None:
    stage.launch()
    tap(window, node(window, id=f"{PACKAGE}:id/missed_day"))
    window.type_text("abc")
    window.press_key(keys.DELETE)
    assert node(window, id=f"{PACKAGE}:id/missed_day").get("text") == "ab"
    window.press_key(keys.BACK)
    assert node(window, text="Clock").get("package") == "com.android.launcher3"
    with pytest.raises(InputNotModelledError, match="key 26"):
        window.press_key(keys.key_code("POWER"))
    window.press_key(keys.key_code("no such key"))


@pytest.mark.slow
def test_lists_follow_the_finger(window: Window, stage: OneStage) -> None:
    stage.launch()
    kept_days = {f"2025-{month:02}-{day:02}" for month in range(1, 13) for day in range(1, 29)}
    content = f'{{"strings": {{}}, "sets": {{"days": {sorted(kept_days)}}}}}'.replace("'", '"')
    stage.phone.context(PACKAGE).files.write("clock_in.preferences.json", content.encode())

    def days() -> list[str]:
        texts = (str(element.get("text")) for element in nodes(window))
        return [text for text in texts if text.startswith("2025")]

    first = days()
    assert first[0] == "2025-12-28"
    assert len(first) < 40
    assert node(window, id=f"{PACKAGE}:id/days").get("scrollable") == "true"
    window.swipe((500, 2000), (500, 1500))
    assert days()[0] < first[0]
    window.swipe((500, 1500), (500, 2390))
    assert days() == first
    for _ in range(200):
        window.swipe((500, 2390), (500, 1000))
    assert days()[-1] == "2025-01-01"


def test_a_turned_phone_is_wide(stage: OneStage) -> None:
    turned = Window(stage, rotation=lambda: 1)
    stage.launch()
    assert 'rotation="1"' in turned.hierarchy()
    assert nodes(turned)[0].get("bounds") == "[0,0][2400,1080]"
    with Image.open(io.BytesIO(turned.png())) as picture:
        assert picture.size == (2400, 1080)


@pytest.mark.parametrize("kind", ["button", "switch", "input", "icon"])
def test_what_is_disabled_takes_no_touch(kind: ViewKind, stage: OneStage) -> None:
    locked = Mock(spec=Touched)
    locked.view.return_value = View(kind, "it", "text", enabled=False, long_clickable=True)
    stage.shown = Shown(1, "dev.made.app", locked)
    window = Window(stage)
    window.tap(500, 100)
    window.swipe((500, 100), (500, 100), 600)
    window.drag((500, 100), (500, 100))
    window.type_text("x")
    assert {name for name, _, _ in locked.method_calls} == {"view"}
    assert node(window, text="text").get("enabled") == "false"


@pytest.mark.parametrize(("text", "code"), [
    ("HOME", 3), ("KEYCODE_BACK", 4), ("66", 66), ("KEYCODE_66", 0), ("A", 29), ("9", 9), ("", 0), ("-1", 0),
])  # fmt: skip
def test_keys_are_found_by_name_and_number(text: str, code: int) -> None:
    assert keys.key_code(text) == code

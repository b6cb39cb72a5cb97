"""Texts and names of a client of MobileAgent's commands: nothing of them is run, and no text is changed.

The phone's shell takes each command apart by itself. An injected command would leave a file that the texts
try to make; a changed text differs from what the app's field holds.
"""

import os
import random
from collections.abc import Iterator
from typing import Any
from unittest.mock import patch

import pytest

from droidgate.calls.screen import phone_commands
from droidgate_mappings.model.errors import DroidgateError
from gateway.mobile_agent.made_phone import KEYBOARD_ID, MadePhone, made_phone

IN_CI = 2_000
FOLDERS = ("/sdcard", "/data/local/tmp")
SHARE_OF_TEXTS = 0.05
"""Typing takes some twenty times as long as a name."""

COMMANDS = ("touch /sdcard/x", "echo x>/sdcard/x", "input keyevent 3", "pm clear dev.made.form", "reboot")
SHELL = (
    ";", "|", "||", "&&", "&", "\n", "$(", "`", ")", ">", "<", "#", "{", "}", "(", "'", '"', "'\\''", "\\",
)  # fmt: skip
EXPANDED = (
    "$HOME", "${PATH}", "*", "~", "?", "[a-z]", "!!", "%s", "%%s", "%", "\\n", "\\x41", "-n", "--", " ",
)  # fmt: skip
WORDS = (
    "hello", "Say it", "123", "a.b", "x=1", "  ", "e\u0301", "日本語", "한국어", "שלום", "😀", "👩‍👩‍👧",
    "\u202e", "\t",
)  # fmt: skip
ODD = ("\u0000", "\ud800", "\u0001", "\u001b[2J", "\ufffe", "\u2028", "\u200b", "\r")
NAMES = ("com.example", "dev.made.form", "KEYCODE_BACK", "3", "1", "", "controls", "Save", "...", "a/.b")


def made_text(dice: random.Random) -> str:
    """Return a text of fragments, most of which mean something to a shell."""
    kinds = dice.choices((SHELL, EXPANDED, WORDS, COMMANDS, ODD), (6, 5, 5, 4, 1), k=dice.randint(0, 9))
    return "".join(dice.choice(kind) for kind in kinds)


def made_name(dice: random.Random) -> str:
    """Return what a careless client takes for the name of an app, a key or a control."""
    name = dice.choice(NAMES)
    return name if dice.random() < 0.1 else dice.choice((name + made_text(dice), made_text(dice) + name))


def made_call(dice: random.Random) -> tuple[str, dict[str, Any]]:
    """Return a call with a name in it."""
    name, other = made_name(dice), made_name(dice)
    calls: list[tuple[str, dict[str, Any]]] = [
        ("launch_app", {"package_name": name}),
        ("launch_app", {"package_name": name, "id": other}),
        ("press_key", {"key_code": name}),
        ("click_control", {"control_id": name, "control_name": other}),
        ("type_text", {"text": name, "control_id": other, "control_name": name}),
        ("get_mobile_app_target_info", {"filter": name}),
        ("invalidate_cache", {"cache_type": name}),
        ("list_controls", {"since": name}),
        ("find_element", {"text": name, "resource_id": other}),
        ("wait_for_element", {"text": name, "timeout": 0}),
        ("long_press", {"control_id": name, "control_name": other}),
    ]
    return dice.choice(calls)


@pytest.fixture(scope="module")
def made() -> Iterator[MadePhone]:
    # The pauses are for a real keyboard.
    with patch.object(phone_commands, "_KEYBOARD_PAUSE", 0), made_phone(keyboard=True) as phone:
        phone.phone.system.settings.put("secure", "enabled_input_methods", KEYBOARD_ID)
        phone.open_form()
        yield phone


def files_of(made: MadePhone) -> dict[str, list[str]]:
    return {folder: sorted(made.phone.system.files.list(folder, uid=2000)) for folder in FOLDERS}


def can_be_in_a_field(text: str) -> bool:
    """Return whether the phone can show a text unchanged in the hierarchy of a screen, which is XML."""
    return not any(character < " " or character in "\ufffe\uffff" for character in text)


def type_text(made: MadePhone, text: str) -> dict[str, Any]:
    """Type into the form's first field, whatever another call has opened or listed."""
    made.open_form()
    typing = {"text": text, "control_id": "2", "control_name": text, "clear_current_text": True}
    result: dict[str, Any] = made.run("type_text", **typing)
    return result


def attack(made: MadePhone, number: int, seed: int) -> None:
    dice = random.Random(seed)
    before = files_of(made)
    made.open_form()
    changed: list[tuple[str, str]] = []
    typed = 0
    for _ in range(number):
        if dice.random() < SHARE_OF_TEXTS:
            text = made_text(dice)
            result = type_text(made, text)
            if result["success"]:
                typed += 1
                changed += [(text, made.facts.name)] if made.facts.name != text else []
            elif can_be_in_a_field(text) and "\ud800" not in text:
                changed.append((text, result["error"]))
        else:
            tool, arguments = made_call(dice)
            try:
                made.run(tool, **arguments)
            except DroidgateError:
                continue
        assert files_of(made) == before
    assert changed == []
    assert typed >= number * SHARE_OF_TEXTS / 2
    # It was not removed, and its data were not cleared.
    assert made.open_form()[1]["name"] in {made.facts.name, "Your name"}


@pytest.mark.parametrize(
    "number", [IN_CI // 5, pytest.param(IN_CI, marks=pytest.mark.slow)], ids="{} texts".format
)
def test_no_text_and_no_name_is_run_and_no_text_is_changed(made: MadePhone, number: int) -> None:
    attack(made, number, seed=2026)


@pytest.mark.long
def test_of_very_many_texts_and_names_none_is_run_and_none_is_changed(made: MadePhone) -> None:
    attack(made, int(os.environ.get("DROIDGATE_FUZZ_EXAMPLES", "100000")), seed=random.randrange(1 << 32))

"""Texts of apps: what is hidden in them, and what only looks alike."""

import re

import pytest
from hypothesis import given, strategies as st

from droidgate_mappings.text_safety import (
    HIDDEN,
    folded_skeleton,
    hidden_characters,
    look_alikes,
    without_hidden,
)

# Reference android-runtime 3.1, "Hidden Unicode", typed from there.
LISTED = (
    "0-8 B-1F 7F-9F AD 34F 61C 115F-1160 17B4-17B5 180B-180F 200B-200F 2028-202E 2060-206F 3164 D800-DFFF "
    "E000-F8FF FDD0-FDEF FE00-FE0F FEFF FFA0 FFF0-FFFB FFFE-FFFF 1D173-1D17A E0000-E0FFF F0000-10FFFF "
    # The rest of Unicode's format characters without a sign of their own, and the blank Braille pattern.
    "2800 13430-13440 13447-13455 1BCA0-1BCA3"
)


def listed_code_points() -> set[int]:
    found = {plane << 16 | low for plane in range(1, 17) for low in (0xFFFE, 0xFFFF)}
    for first, last in re.findall(r"([0-9A-F]+)(?:-([0-9A-F]+))?", LISTED):
        found.update(range(int(first, 16), int(last or first, 16) + 1))
    return found


def test_the_hidden_characters_are_those_of_the_list() -> None:
    matched = {item for item in range(0x110000) if HIDDEN.fullmatch(chr(item))}
    assert matched == listed_code_points()


@given(st.text(st.characters(codec=None)))
def test_a_cleaned_text_hides_nothing(text: str) -> None:
    assert hidden_characters(without_hidden(text)) == ()
    assert bool(hidden_characters(text)) == (without_hidden(text) != text)


def test_each_hidden_character_is_reported_once_by_its_code() -> None:
    assert hidden_characters("a\u200bb\u202ec\u200b") == ("U+200B", "U+202E")
    assert hidden_characters("tab\tand\nline, Gr\u00f6\u00dfe, \u65e5\u672c") == ()


@pytest.mark.parametrize(("first", "other"), [
    ("create_note", "Create_Note"),
    ("create_note", "create-note"),
    ("note", "n\u043ete"),  # Cyrillic o
    ("pay", "\u0440\u0430\u0443"),  # Cyrillic throughout
    ("list", "1ist"),
    ("open", "\uff4fpen"),  # fullwidth
    ("send", "se\u200bnd"),
    ("alpha", "\u03b1lpha"),  # Greek
])  # fmt: skip
def test_names_that_look_alike_have_one_skeleton(first: str, other: str) -> None:
    assert folded_skeleton(first) == folded_skeleton(other)
    assert list(look_alikes([first, "unrelated", other, first])) == [(first, other)]


def test_different_names_do_not_look_alike() -> None:
    assert list(look_alikes(["create_note", "create_notes", "delete_note", "read", "reads"])) == []


def test_the_joiners_of_a_family_with_two_equal_members_are_normal() -> None:
    assert hidden_characters("\U0001f469\u200d\U0001f469\u200d\U0001f467") == ()

"""Hints for names that are not known."""

import pytest

from droidgate_mappings.text.nearest_names import closest_name, suggest_name

IDS = ("com.example.Notes#createNote", "com.example.Notes#deleteNote", "clock_in_today", "merge")


@pytest.mark.parametrize(("written", "meant"), [
    ("createnote", "com.example.Notes#createNote"),
    ("Notes#deleteNot", "com.example.Notes#deleteNote"),
    ("clock_in_toady", "clock_in_today"),
    ("MERGE", "merge"),
    ("weather", None),
    ("m" * 100_000, None),
])  # fmt: skip
def test_the_closest_name_is_found_by_its_last_part_too(written: str, meant: str | None) -> None:
    assert closest_name(written, IDS) == meant


def test_long_known_names_are_not_compared_but_listed() -> None:
    name = "a" * 100_000
    assert closest_name("a" * 150, [name]) is None
    assert suggest_name("b", [name]) == f"known: {name}"


def test_a_hint_lists_as_many_names_as_are_asked_for() -> None:
    assert suggest_name("merg", IDS, most=2) == (
        "did you mean 'merge'? known: com.example.Notes#createNote, com.example.Notes#deleteNote and 2 more"
    )
    assert suggest_name("x", IDS[:2], most=2) == (
        "known: com.example.Notes#createNote, com.example.Notes#deleteNote"
    )
    assert suggest_name("x", []) == "none is known"

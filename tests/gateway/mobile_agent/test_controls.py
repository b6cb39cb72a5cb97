"""Controls are read from dumps as they are written, and found again only where they are the same."""

from __future__ import annotations

import xml.sax.saxutils
from collections.abc import Sequence

import pytest
from hypothesis import given, strategies as st

from droidgate.calls.screen.controls import Control, find_again, read_controls, read_hierarchy
from droidgate.calls.screen.text_input import keys_that_clear, pieces_of, way_of
from droidgate.calls.screen.ufo_tools import is_key
from droidgate_mappings.model.errors import InputError
from droidgate_phone.screen import keys as phone_keys

HEAD = "<?xml version='1.0' encoding='UTF-8' standalone='yes' ?>"


def node(text: str = "", bounds: str = "[0,0][10,10]", inside: str = "", **attributes: str) -> str:
    written = {"text": text, "class": "android.widget.TextView", "package": "a.b", "bounds": bounds}
    written |= {name.replace("_", "-"): value for name, value in attributes.items()}
    words = " ".join(f"{name}={xml.sax.saxutils.quoteattr(value)}" for name, value in written.items())
    return f"<node {words}>{inside}</node>"


def controls(*nodes: str) -> tuple[Control, ...]:
    return read_controls(f"{HEAD}<hierarchy rotation='0'>{''.join(nodes)}</hierarchy>")


@pytest.mark.parametrize("attributes", [
    {"clickable": "true"},
    {"long_clickable": "true"},
    {"checkable": "true"},
    {"scrollable": "true"},
    {"content_desc": "words"},
    {"class": "android.widget.EditText"},
    {"class": "android.widget.ImageButton"},
], ids=str)  # fmt: skip
def test_what_can_be_acted_on_or_has_a_name_is_a_control(attributes: dict[str, str]) -> None:
    assert len(controls(node(**attributes))) == 1
    assert controls(node()) == ()


@pytest.mark.parametrize(("bounds", "is_kept"), [
    ("[0,216][1080,360]", True),
    ("[0,300][1080,300]", True),
    ("[0,0][0,10]", False),
    ("[0,0][10,0]", False),
    ("[10,0][5,10]", False),
    ("[-5,0][10,10]", False),
    ("", False),
])  # fmt: skip
def test_bounds_decide_as_in_ufos_server(bounds: str, is_kept: bool) -> None:  # noqa: FBT001
    assert len(controls(node("a", bounds))) == is_kept


def test_controls_are_numbered_in_the_order_of_the_hierarchy() -> None:
    items = controls(
        node("outer", inside=node("inner") + node()), node(content_desc="last", clickable="true")
    )
    assert [(item.id, item.name, item.type) for item in items] == [
        ("1", "outer", "TextView"),
        ("2", "inner", "TextView"),
        ("3", "last", "TextView"),
    ]


def test_a_name_is_the_text_then_the_description_then_the_class() -> None:
    items = controls(node("t", content_desc="d"), node(content_desc="d"), node(clickable="true"))
    assert [item.name for item in items] == ["t", "d", "TextView"]


def test_line_breaks_and_emoji_in_halves_come_out_as_they_were() -> None:
    written = node("x").replace('text="x"', 'text="a&#10;b&#55357;&#56832;&#55357;&#54620;"')
    assert controls(written)[0].text == "a\nb\U0001f600\ufffd\ud55c"


@pytest.mark.parametrize("output", [
    "", "ERROR: could not get idle state.", "ERROR: null root node", f"{HEAD}<hierarchy><node", "Killed",
])  # fmt: skip
def test_what_is_not_a_whole_hierarchy_is_refused_with_its_words(output: str) -> None:
    with pytest.raises(InputError) as refused:
        read_hierarchy(output)
    assert (output.splitlines() or ["no output"])[0][:30] in refused.value.message


@pytest.mark.parametrize("document", [
    pytest.param("<!DOCTYPE x [<!ENTITY e 'a'>]><hierarchy><node text='&e;'/></hierarchy>",
        id="an entity is declared"),
    pytest.param("<hierarchy>" + "<node>" * 300 + "</node>" * 300 + "</hierarchy>",
        id="three hundred nodes are inside each other"),
    pytest.param("<hierarchy><node></hierarchy>", id="an element is not closed"),
])  # fmt: skip
def test_hostile_hierarchies_are_refused(document: str) -> None:
    with pytest.raises(InputError):
        read_controls(HEAD + document)


labels = st.lists(st.sampled_from(["a", "b", "Delete"]), max_size=6)


def made(texts: Sequence[str]) -> tuple[Control, ...]:
    return controls(*(node(text, f"[0,{place}][9,{place + 9}]") for place, text in enumerate(texts)))


@given(labels, labels)
def test_a_control_found_again_has_the_same_name(before: list[str], now: list[str]) -> None:
    old, new = made(before), made(now)
    for control in old:
        match = find_again(control, old, new)
        assert match is None or match.name == control.name
        if before == now and before.count(control.name) == 1:
            assert match == control
        if control.name not in now:
            assert match is None


def test_of_two_alike_controls_the_remaining_one_is_not_taken_for_the_removed_one() -> None:
    old = made(["Alice", "Delete", "Bob", "Delete"])
    assert find_again(old[1], old, made(["Bob", "Delete"])) is None
    match = find_again(old[3], old, made(["Alice", "Delete", "Bob", "Delete"]))
    assert match is not None
    assert match.id == "4"


def test_a_field_is_the_same_control_with_another_text() -> None:
    field = {"class": "android.widget.EditText", "resource_id": "a.b:id/name"}
    (old,), (new,) = controls(node("hint", **field)), controls(node("typed", **field))
    assert find_again(old, (old,), (new,)) == new


@given(st.text(st.sampled_from("%sS a"), max_size=12))
def test_pieces_are_the_text_and_none_has_what_input_types_as_a_blank(text: str) -> None:
    assert "".join(pieces_of(text)) == text
    assert not any("%s" in piece for piece in pieces_of(text))


@given(st.text(max_size=8))
def test_keys_type_printable_ascii_only(text: str) -> None:
    assert (way_of(text) == "keys") == all(" " <= character <= "~" for character in text)


@pytest.mark.parametrize(("text", "keys"), [
    pytest.param("", [], id="an empty field needs no key"),
    pytest.param("ab", ["123", "67", "67"], id="each character takes a key"),
    pytest.param("🙂", ["123", "67", "67"], id="a character of two UTF-16 units takes two keys"),
    pytest.param("\n", ["123", "67", "112"], id="a line break takes a key in each direction"),
])  # fmt: skip
def test_as_many_keys_clear_a_field_as_it_has_characters(text: str, keys: list[str]) -> None:
    assert keys_that_clear(text) == keys


def test_the_keys_that_the_virtual_phone_knows_are_keys() -> None:
    """Its table was written apart from the tools'."""
    assert all(is_key(f"KEYCODE_{name}") for name in phone_keys._NAMES)
    assert all(is_key(name) for name in phone_keys._NAMES if not name.isdigit())
    assert all(is_key(str(code)) for code in phone_keys._NAMES.values())
    assert not any(
        map(is_key, ["", "0", "UNKNOWN", "KEYCODE_", "KEYCODE_KEYCODE_HOME", "home", "-1", "1000"])
    )

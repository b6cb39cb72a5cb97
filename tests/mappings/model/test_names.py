"""Names for other worlds: allowed, distinct, and never changed by what is added later."""

import re
from random import Random

import pytest
from hypothesis import given, strategies as st

from droidgate_mappings.model.names import NameRule, map_names

RULES = (
    NameRule("[A-Za-z0-9_.-]", max_length=128),
    NameRule("[A-Za-z0-9_]", first="[A-Za-z_]", max_length=64),
    NameRule("[a-z]", max_length=16),
)


@given(st.lists(st.text(max_size=150), unique=True, max_size=8), st.sampled_from(RULES))
def test_written_names_are_allowed_and_distinct(names: list[str], rule: NameRule) -> None:
    written = map_names([(name, name) for name in names], rule)
    assert list(written) == names
    assert len(set(written.values())) == len(names)
    for name, target in written.items():
        assert len(target) <= rule.max_length
        assert re.match(rule.first or rule.allowed, target)
        if rule.permits(name):
            assert target == name


@given(st.lists(st.text(max_size=20), unique=True, min_size=1, max_size=6), st.text(max_size=20))
def test_a_name_added_later_renames_only_the_name_whose_shape_it_needs(names: list[str], later: str) -> None:
    rule = RULES[1]
    earlier = map_names([(name, name) for name in names], rule)
    if later in names:
        return
    now = map_names([(name, name) for name in [*names, later]], rule)
    renamed = [name for name in names if now[name] != earlier[name]]
    assert all(earlier[name] in {later, rule.shape(later)} for name in renamed)
    assert len(renamed) <= 1


@given(st.lists(st.text(max_size=20), unique=True, min_size=2, max_size=6), st.randoms())
def test_the_order_of_names_does_not_change_what_is_written(names: list[str], random: Random) -> None:
    shuffled = random.sample(names, len(names))
    pairs, others = ([(name, name) for name in order] for order in (names, shuffled))
    assert map_names(pairs, RULES[1]) == map_names(others, RULES[1])


def test_a_shaped_name_that_is_free_gets_no_suffix() -> None:
    assert _written("complete item", "open") == {"complete item": "complete_item", "open": "open"}
    assert _written("n" * 70) == {"n" * 70: "n" * 64}
    assert _written("9 lives") == {"9 lives": "n_9_lives"}


def test_a_shaped_name_that_another_name_has_gets_a_suffix() -> None:
    written = _written("complete item", "complete_item")
    assert written["complete_item"] == "complete_item"
    assert re.fullmatch("complete_item_[0-9a-f]{8}", written["complete item"])


def test_two_names_of_one_shape_both_get_suffixes() -> None:
    written = _written("complete item", "complete/item")
    assert all(re.fullmatch("complete_item_[0-9a-f]{8}", name) for name in written.values())
    assert len(set(written.values())) == 2
    assert _written("complete item", "complete/item", "complete.item").items() >= written.items()


def test_a_suffixed_name_leaves_the_free_shape_of_another_name_alone() -> None:
    suffixed = _written("a b", "a/b")["a b"]
    later = _written("a b", "a/b", suffixed.replace("_", " "))
    assert later[suffixed.replace("_", " ")] == suffixed
    assert len(set(later.values())) == 3


def _written(*names: str) -> dict[str, str]:
    return map_names([(name, name) for name in names], RULES[1])


def test_equal_names_get_suffixes_from_their_keys() -> None:
    written = map_names([("open", "com.a/open"), ("open", "com.b/open")], RULES[0])
    assert set(written) == {"com.a/open", "com.b/open"}
    assert all(re.fullmatch("open_[0-9a-f]{8}", name) for name in written.values())
    assert (
        written["com.a/open"]
        == map_names([("open", "com.a/open"), ("open", "com.c/open")], RULES[0])["com.a/open"]
    )


@pytest.mark.parametrize(("name", "is_allowed"), [
    ("a", True),
    ("_a9", True),
    ("9a", False),
    ("", False),
    ("a\n", False),
    ("a" * 64, True),
    ("a" * 65, False),
])  # fmt: skip
def test_a_rule_permits_whole_names(name: str, *, is_allowed: bool) -> None:
    assert RULES[1].permits(name) is is_allowed


@pytest.mark.parametrize(("name", "written"), [
    ("com.example.notes.NotesService#addItems", "NotesService_addItems"),
    ("add_items_to_the_list_of_things_to_do", "add_items_to_the_list_"),
    ("com.example.9999999999999999999999", "com_example_9999999999"),
])  # fmt: skip
def test_the_end_of_a_long_qualified_name_is_kept(name: str, written: str) -> None:
    assert NameRule(allowed="[A-Za-z0-9_]", first="[A-Za-z]", max_length=22).shape(name) == written

"""Names for other worlds: allowed, distinct, and never changed by what is added later."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from droidgate.model.names import NameRule, map_names

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
def test_a_name_added_later_renames_no_earlier_one(names: list[str], later: str) -> None:
    rule = RULES[1]
    earlier = map_names([(name, name) for name in names], rule)
    if later not in names:
        assert map_names([(name, name) for name in [*names, later]], rule).items() >= earlier.items()


def test_equal_names_get_suffixes_from_their_keys() -> None:
    written = map_names([("open", "com.a/open"), ("open", "com.b/open")], RULES[0])
    assert set(written) == {"com.a/open", "com.b/open"}
    assert all(re.fullmatch("open_[0-9a-f]{8}", name) for name in written.values())
    assert (
        written["com.a/open"]
        == map_names([("open", "com.a/open"), ("open", "com.c/open")], RULES[0])["com.a/open"]
    )


@pytest.mark.parametrize(
    ("name", "is_allowed"),
    [
        ("a", True),
        ("_a9", True),
        ("9a", False),
        ("", False),
        ("a\n", False),
        ("a" * 64, True),
        ("a" * 65, False),
    ],
)
def test_a_rule_permits_whole_names(name: str, *, is_allowed: bool) -> None:
    assert RULES[1].permits(name) is is_allowed

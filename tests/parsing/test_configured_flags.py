"""Booleans by resource qualifier: what a device of each release uses."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from droidgate.parsing.configured_flags import (
    both_flags,
    differing_values,
    resolve_flag,
    simplify_flag,
    value_for_qualifier,
    value_for_release,
)

SDKS = range(20, 41)
RELEASES = st.dictionaries(st.sampled_from(["v21", "v26", "v30", "v36"]), st.booleans())
FLAGS = st.one_of(st.booleans(), st.builds(lambda own, rest: {"": own, **rest}, st.booleans(), RELEASES))


def used_by(flag: bool | dict[str, bool], sdk: int) -> bool:  # noqa: FBT001 - the flag itself
    """Eliminate and choose as Android's documentation does: drop newer folders, take the newest left."""
    if isinstance(flag, bool):
        return flag
    folders = [(int(name.removeprefix("v") or "0"), value) for name, value in flag.items()]
    return max((one for one in folders if one[0] <= sdk), key=lambda one: one[0])[1]


def is_set(flag: bool | dict[str, bool], sdk: int) -> bool:  # noqa: FBT001 - the flag itself
    return flag if isinstance(flag, bool) else value_for_release(flag, sdk) is True


@given(FLAGS)
def test_a_device_uses_the_newest_folder_that_it_knows(flag: bool | dict[str, bool]) -> None:  # noqa: FBT001
    assert [is_set(flag, sdk) for sdk in SDKS] == [used_by(flag, sdk) for sdk in SDKS]


@given(FLAGS, FLAGS)
def test_both_flags_are_set_where_each_is_set(
    first: bool | dict[str, bool],  # noqa: FBT001
    second: bool | dict[str, bool],  # noqa: FBT001
) -> None:
    both = both_flags(first, second)
    for sdk in SDKS:
        assert is_set(both if isinstance(both, bool) else dict(both), sdk) == (
            used_by(first, sdk) and used_by(second, sdk)
        )


def test_another_qualifier_than_a_release_is_kept_and_not_chosen() -> None:
    values = {"": True, "night": False, "v30": True, "sw600dp-v30": False}
    assert value_for_release(values, 36) is True
    assert value_for_qualifier(values, "night") is False
    assert value_for_qualifier({"": False, "v30": True}, "land-v31") is True
    assert value_for_qualifier({"": False, "v30": True}, "land") is False


def test_values_that_do_not_differ_are_one_value() -> None:
    assert simplify_flag({"": False, "v36": False}) is False
    assert simplify_flag({"": False, "v36": True}) == {"": False, "v36": True}
    assert simplify_flag({"v36": True}) == {"v36": True}
    assert differing_values({"": True, "v36": True}) == {}
    assert differing_values({}) == {}


def test_references_are_followed_in_each_configuration() -> None:
    values: dict[str, dict[str, bool | str]] = {
        "a": {"": "b", "v30": False},
        "b": {"": False, "v26": True, "v36": True},
    }
    assert resolve_flag("a", lambda key: values.get(key, {})) == {
        "": False,
        "v26": True,
        "v30": False,
        "v36": False,
    }


@pytest.mark.parametrize(
    "values", [{}, {"a": {"": "a"}}, {"a": {"": "b"}, "b": {"": "a"}}, {"a": {"": "none"}}]
)
def test_a_reference_that_leads_nowhere_has_no_value(values: dict[str, dict[str, bool | str]]) -> None:
    assert resolve_flag("a", lambda key: values.get(key, {})) == {}

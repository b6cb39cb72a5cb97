"""Booleans by resource qualifier: what a device of each release uses."""

from hypothesis import given, strategies as st

from droidgate_mappings.text.configured_flags import (
    both_flags,
    differing_values,
    resolve_flag,
    simplify_flag,
    value_for_qualifier,
    value_for_release,
    values_on_release,
)
from titled_rows import titled

SDKS = range(20, 41)
RELEASES = st.dictionaries(st.sampled_from(["v21", "v26", "v30", "v36"]), st.booleans())
FLAGS = st.one_of(st.booleans(), st.builds(lambda own, rest: {"": own, **rest}, st.booleans(), RELEASES))


def used_by(flag: bool | dict[str, bool], sdk: int) -> bool:  # noqa: FBT001 - the flag itself
    """Eliminate and choose as Android's documentation does: drop newer folders, take the newest left."""
    if isinstance(flag, bool):
        return flag
    folders = [(int(name.removeprefix("v") or "0"), value) for name, value in flag.items()]
    return max((folder for folder in folders if folder[0] <= sdk), key=lambda folder: folder[0])[1]


def is_set(flag: bool | dict[str, bool], sdk: int) -> bool:  # noqa: FBT001 - the flag itself
    return flag if isinstance(flag, bool) else value_for_release(flag, sdk) is True


@given(FLAGS)
def test_a_device_uses_the_newest_folder_that_it_knows(flag: bool | dict[str, bool]) -> None:  # noqa: FBT001
    assert [is_set(flag, sdk) for sdk in SDKS] == [used_by(flag, sdk) for sdk in SDKS]


@titled(("values", "qualifier", "expected"), {
    "the same words win over a newer release":
        ({"": True, "night": False, "v30": True, "sw600dp-v30": False}, "night", False),
    "an older release fits a newer one": ({"": False, "v30": True}, "land-v31", True),
    "a release does not fit an unversioned folder": ({"": False, "v30": True}, "land", False),
    "the release of a folder does not outrank other words": ({"": False, "v36": True}, "land-v36", True),
    "a word wins over a release": ({"": False, "land": True, "v36": False}, "land-v36", True),
    "no folder fits": ({"v36": True}, "land", None),
})  # fmt: skip
def test_a_qualifier_uses_the_folder_that_fits_best(
    values: dict[str, bool], qualifier: str, *, expected: bool | None
) -> None:
    assert value_for_qualifier(values, qualifier) is expected


def test_another_qualifier_than_a_release_is_not_chosen_for_one() -> None:
    assert value_for_release({"": True, "night": False, "v30": True, "sw600dp-v30": False}, 36) is True
    values = {"": False, "v36": True, "land": True, "land-v35": False, "night-v37": True}
    assert values_on_release(values, 36) == {"": True, "land": False}
    assert values_on_release(values, 34) == {"": False, "land": True}


def test_values_that_do_not_differ_are_one_value() -> None:
    assert simplify_flag({"": False, "v36": False}) is False
    assert simplify_flag({"": False, "v36": True}) == {"": False, "v36": True}
    assert simplify_flag({"v36": True}) == {"v36": True}
    assert differing_values({"": True, "v36": True}) == differing_values({}) == {}


@titled(("values", "resolved"), {
    "releases of both are combined":
        ({"a": {"": "b", "v30": False}, "b": {"": False, "v26": True, "v36": True}},
        {"": False, "v26": True, "v30": False, "v36": False}),
    "a reference in one configuration is read there":
        ({"a": {"": False, "land": "b"}, "b": {"": True, "v36": False}},
        {"": False, "land": True, "land-v36": False, "v36": False}),
    "a flag is false where no qualifiers combine":
        ({"a": {"": "b", "hdpi": True}, "b": {"": True, "xhdpi": False}},
        {"": False, "hdpi": False, "xhdpi": False}),
    "no value": ({}, {}),
    "a reference to itself has no value": ({"a": {"": "a"}}, {}),
    "a circle has no value": ({"a": {"": "b"}, "b": {"": "a"}}, {}),
    "a reference to nothing has no value": ({"a": {"": "none"}}, {}),
})  # fmt: skip
def test_references_are_followed_in_each_configuration(
    values: dict[str, dict[str, bool | str]], resolved: dict[str, bool]
) -> None:
    assert resolve_flag("a", lambda key: values.get(key, {})) == resolved


WORDS = ("night", "land", "port", "v26", "v36", "land-v36", "land-night", "port-v26", "night-v26")
QUALIFIED = st.builds(
    lambda own, rest: {"": own, **rest},
    st.booleans(),
    st.dictionaries(st.sampled_from(WORDS), st.booleans(), max_size=4),
)
PHONES = tuple(
    (turn, mode, sdk) for turn in ("land", "port") for mode in ("night", "") for sdk in (25, 26, 35, 36)
)


def value_on(values: dict[str, bool], phone: tuple[str, str, int]) -> bool:
    """Eliminate folder after folder as Android's documentation does, by orientation, night, then release."""
    turn, mode, sdk = phone

    def matches(folder: str) -> bool:
        words = [word for word in folder.split("-") if word]
        return all(int(word[1:]) <= sdk if word[0] == "v" else word in {turn, mode} for word in words)

    folders = [folder for folder in values if matches(folder)]
    for word in (turn, mode):
        folders = [folder for folder in folders if word and word in folder.split("-")] or folders
    release = max(int(folder.rpartition("v")[2]) if "v" in folder else 0 for folder in folders)
    (best,) = [item for item in folders if (int(item.rpartition("v")[2]) if "v" in item else 0) == release]
    return values[best]


@given(QUALIFIED, QUALIFIED)
def test_two_flags_that_can_be_combined_are_set_on_each_phone_where_each_is_set(
    first: dict[str, bool], second: dict[str, bool]
) -> None:
    both = both_flags(first, second)
    for phone in PHONES if both else ():
        expected = value_on(first, phone) and value_on(second, phone)
        assert (both if isinstance(both, bool) else value_on(both, phone)) is expected


def test_flags_that_no_qualifiers_can_combine_are_false() -> None:
    first, second = {"": True, "land": False}, {"": True, "night": False}
    assert both_flags(first, second) is False
    assert both_flags(first, True) == both_flags(first, first) == first


def test_the_orientation_outranks_the_release_where_flags_are_combined() -> None:
    both = both_flags({"": False, "land": True}, {"": True, "v36": False})
    assert both == {"": False, "land": True, "v36": False, "land-v36": False}

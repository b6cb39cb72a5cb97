"""How `compare_sets` weighs a changed access rule: refused callers break, accepted callers concern security.

The other side is a list of callers for each rule, typed from Android's documentation of the attribute.
"""

from typing import Any

import pytest
from hypothesis import given, strategies as st

from droidgate_mappings.compare import Change, Weight, compare_sets
from droidgate_mappings.model.capability import (
    Capability,
    CapabilityAccess,
    CapabilitySet,
    ComponentAccess,
    Provider,
)
from droidgate_mappings.model.leaves import different_leaves, leaves_of_provider

APP_SELF, SYSTEM, ANY_APP, HOLDER_A, HOLDER_B = "the app itself", "Android", "any app", "holder A", "holder B"
EVERYONE = frozenset({APP_SELF, SYSTEM, ANY_APP, HOLDER_A, HOLDER_B})

# A rule of a component, and who may call it then (Android's documentation of <service>).
COMPONENT_RULES: list[tuple[dict[str, Any], frozenset[str]]] = [
    ({}, EVERYONE),
    ({"exported": None}, EVERYONE),
    ({"exported": False}, frozenset({APP_SELF})),
    ({"enabled": {"": True, "v36": True}}, EVERYONE),
    ({"enabled": False}, frozenset()),
    ({"enabled": {"": False}}, frozenset()),
    ({"permission": "com.example.A"}, frozenset({HOLDER_A})),
    ({"permission": "com.example.B"}, frozenset({HOLDER_B})),
]
# The same for a capability: reference appfunctions 2.a, 2.c, 2.e.
CAPABILITY_RULES: list[tuple[dict[str, Any], frozenset[str]]] = [
    ({}, EVERYONE),
    ({"restrict_callers": False}, EVERYONE),
    ({"restrict_callers": True}, frozenset({HOLDER_A})),
    ({"enabled_by_default": False}, frozenset()),
    ({"scope": "activity"}, frozenset()),
    ({"access_level": "androidTrusted"}, EVERYONE),
    ({"access_level": "system"}, frozenset({APP_SELF, SYSTEM})),
    ({"access_level": "self"}, frozenset({APP_SELF})),
]


def _provider(component: dict[str, Any], capability: dict[str, Any]) -> Provider:
    return Provider(
        protocol="mobile-mcp",
        package="com.example",
        component=".Tools",
        access=ComponentAccess(**component),
        capabilities=(Capability(id="other"), Capability(id="do", access=CapabilityAccess(**capability))),
    )


def _changes(old: Provider, new: Provider) -> tuple[Change, ...]:
    return compare_sets(CapabilitySet(providers=(old,)), CapabilitySet(providers=(new,))).all_changes()


def _expected(before: frozenset[str], after: frozenset[str], *, differs: bool) -> set[str]:
    weights = set()
    if before - after:
        weights.add("breaking")
    if after - before:
        weights.add("security")
    return weights or ({"text-only"} if differs else set())


def _pairs(rules: list[tuple[dict[str, Any], frozenset[str]]]) -> list[Any]:
    """Return each pair of rules of one field; two fields in one change are two findings."""
    return [
        pytest.param(old, new, _expected(before, after, differs=old != new), id=f"{old} -> {new}")
        for old, before in rules
        for new, after in rules
        if len(old.keys() | new.keys()) <= 1
    ]


@pytest.mark.parametrize(("old", "new", "weights"), _pairs(COMPONENT_RULES))
def test_a_component_rule_is_weighed_by_the_callers_that_it_refuses_and_accepts(
    old: dict[str, Any], new: dict[str, Any], weights: set[str]
) -> None:
    _assert_weights(_changes(_provider(old, {}), _provider(new, {})), weights, "/access", old | new)


@pytest.mark.parametrize(("old", "new", "weights"), _pairs(CAPABILITY_RULES))
def test_a_capability_rule_is_weighed_by_the_callers_that_it_refuses_and_accepts(
    old: dict[str, Any], new: dict[str, Any], weights: set[str]
) -> None:
    changes = _changes(_provider({}, old), _provider({}, new))
    _assert_weights(changes, weights, "/capabilities/1/access", old | new)


def _assert_weights(
    changes: tuple[Change, ...], weights: set[str], place: str, rules: dict[str, Any]
) -> None:
    assert {change.weight.value for change in changes} == weights
    pointers = {f"{place}/{name}" for name in rules if weights}
    assert {change.old_pointer for change in changes} == pointers
    assert {change.new_pointer for change in changes} == pointers


def test_a_replaced_permission_is_a_breaking_change_and_a_security_change_at_one_place() -> None:
    changes = _changes(_provider({"permission": "com.example.A"}, {}), _provider({"permission": "b.B"}, {}))
    assert [(change.code, change.weight.value, change.old, change.new) for change in changes] == [
        ("access-tightened", "breaking", "com.example.A", "b.B"),
        ("access-opened", "security", "com.example.A", "b.B"),
    ]


def test_exported_does_not_count_where_only_android_binds_a_component() -> None:
    old, new = (
        _provider({"exported": exported}, {}).model_copy(update={"protocol": "appfunctions"})
        for exported in (True, False)
    )
    assert [(change.code, change.weight.value) for change in _changes(old, new)] == [
        ("notation-changed", "text-only")
    ]
    assert _changes(new, old)[0].weight is Weight.TEXT_ONLY


CONFIGURED = {"": False, "land": True}


@pytest.mark.parametrize(("component", "capability", "message"), [
    ({"exported": False}, {}, "exported changed from true to false: all callers are refused now"),
    ({"enabled": False}, {}, "enabled changed from true to false: all callers are refused now"),
    ({"enabled": {"": False}}, {}, "enabled: yes -> by default no: all callers are refused now"),
    ({"enabled": CONFIGURED}, {},
        "enabled: yes -> by default no, land yes: some callers are refused now"),
    ({"permission": "com.example.A"}, {},
        "the required permission changed from not stated to com.example.A: some callers are refused now"),
    ({}, {"enabled_by_default": False},
        "enabled by default changed from true to false: all callers are refused now"),
    ({}, {"access_level": "self"},
        "the access level changed from not stated to self: all callers are refused now"),
    ({}, {"access_level": "system"},
        "the access level changed from not stated to system: some callers are refused now"),
])  # fmt: skip
def test_a_message_says_whether_all_callers_are_refused(
    component: dict[str, Any], capability: dict[str, Any], message: str
) -> None:
    (change,) = _changes(_provider({}, {}), _provider(component, capability))
    assert change.message == message


def test_the_enabled_rule_of_each_configuration_is_readable() -> None:
    (change,) = _changes(_provider({"enabled": CONFIGURED}, {}), _provider({}, {}))
    assert change.message == "enabled: by default no, land yes -> yes: other callers are accepted now"


def test_an_access_level_that_is_not_known_may_refuse_and_accept_callers() -> None:
    changes = _changes(_provider({}, {"access_level": "vendor"}), _provider({}, {}))
    assert {change.code for change in changes} == {"access-tightened", "access-opened"}


@pytest.mark.parametrize(("before", "after", "weights"), [
    ("signature", "normal", {"security"}),
    ("signature|privileged", "normal|instant", {"security"}),
    ("signature", "dangerous", {"security"}),
    ("dangerous", "normal", {"security"}),
    ("signature", "signature|privileged", {"security"}),
    ("internal|role", "signature", {"breaking", "security"}),
    ("signature", "0x80000002", {"breaking", "security"}),
    # Any app may declare it then, with any level.
    ("signature", None, {"breaking", "security"}),
])  # fmt: skip
def test_another_protection_level_of_the_same_permission_is_weighed_by_who_can_hold_it(
    before: str, after: str | None, weights: set[str]
) -> None:
    old, new = (_provider({"permission": "a.A", "protection_level": level}, {}) for level in (before, after))
    assert {change.weight.value for change in _changes(old, new)} == weights
    opposite = {"security": "breaking", "breaking": "security"}
    assert {change.weight.value for change in _changes(new, old)} == {opposite[item] for item in weights}
    assert {change.new_pointer for change in _changes(old, new)} == {"/access/protection_level"}


def test_the_protection_level_of_a_replaced_permission_is_no_change_of_its_own() -> None:
    old = _provider({"permission": "com.example.A", "protection_level": "signature"}, {})
    changes = _changes(old, _provider({"permission": "com.example.B", "protection_level": "normal"}, {}))
    assert {change.new_pointer for change in changes} == {"/access/permission"}


@pytest.mark.parametrize("threshold", list(Weight))
def test_a_security_change_reaches_every_threshold_and_only_it_reaches_its_own(threshold: Weight) -> None:
    assert threshold <= Weight.SECURITY
    assert (threshold >= Weight.SECURITY) is (threshold is Weight.SECURITY)


_QUALIFIED = st.dictionaries(st.sampled_from(["", "v31", "v36", "night"]), st.booleans(), min_size=1)
_COMPONENTS = st.fixed_dictionaries(
    {},
    optional={
        "exported": st.sampled_from([True, False, None]),
        "enabled": st.booleans() | _QUALIFIED,
        "permission": st.sampled_from([None, "com.example.A", "com.example.B"]),
    },
)
_CAPABILITIES = st.fixed_dictionaries(
    {},
    optional={
        "enabled_by_default": st.booleans(),
        "restrict_callers": st.sampled_from([True, False, None]),
        "scope": st.sampled_from([None, "activity"]),
        "access_level": st.sampled_from([None, "self", "system", "androidTrusted", "vendor"]),
    },
)
_PROVIDERS = st.builds(_provider, _COMPONENTS, _CAPABILITIES)


@given(_PROVIDERS, _PROVIDERS)
def test_each_different_rule_has_a_change_at_its_leaf_and_no_other_change_exists(
    old: Provider, new: Provider
) -> None:
    different = different_leaves(dict(leaves_of_provider(old)), dict(leaves_of_provider(new)))
    assert {change.new_pointer for change in _changes(old, new)} == set(different)


@given(_PROVIDERS, _PROVIDERS)
def test_what_opens_in_one_direction_tightens_in_the_other(old: Provider, new: Provider) -> None:
    def codes(changes: tuple[Change, ...], code: str) -> list[str]:
        return sorted(str(change.new_pointer) for change in changes if change.code == code)

    present, back = _changes(old, new), _changes(new, old)
    assert codes(present, "access-opened") == codes(back, "access-tightened")
    assert codes(present, "access-tightened") == codes(back, "access-opened")


CONFIGURATIONS = {
    "a version opens a folder":
        ({"": True, "land": False}, {"": True, "land": False, "land-v36": True}, {"security"}),
    "a version closes a folder":
        ({"": True, "land": False, "land-v36": True}, {"": True, "land": False}, {"breaking"}),
    "a version opens all phones beside landscape":
        ({"": False, "land": True}, {"": False, "land": True, "v36": True}, {"security"}),
    "a version states what a folder has":
        ({"": False, "land": True}, {"": False, "land": True, "land-v36": True}, {"text-only"}),
    "a version in place of landscape":
        ({"": False, "land": True}, {"": False, "v36": True}, {"breaking", "security"}),
    "a version changes and opens older ones":
        ({"": False, "v36": True}, {"": True, "v37": False}, {"breaking", "security"}),
    # Which folder a phone uses depends on all densities.
    "a density closes phones near it":
        ({"": False, "hdpi": True}, {"": False, "hdpi": True, "xhdpi": False}, {"breaking", "security"}),
}  # fmt: skip


@pytest.mark.parametrize(("before", "after", "weights"), CONFIGURATIONS.values(), ids=CONFIGURATIONS)
def test_configurations_are_compared_on_each_phone(
    before: dict[str, bool], after: dict[str, bool], weights: set[str]
) -> None:
    changes = _changes(_provider({"enabled": before}, {}), _provider({"enabled": after}, {}))
    assert {change.weight.value for change in changes} == weights

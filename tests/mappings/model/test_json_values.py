"""Canonical and readable JSON texts are exact, and equality is JSON's."""

import json
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, strategies as st

from droidgate_mappings.model.json_values import (
    Json,
    canonical_json,
    digest_of,
    json_equal,
    pointer_name,
    pointer_token,
    readable_json,
)
from droidgate_mappings.text.json_text import parse_json

_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=10,
)
DIGITS = "0.10000000000000000001"


@given(_JSON)
def test_both_texts_are_read_as_the_value(value: Any) -> None:
    assert json.loads(canonical_json(value)) == value
    assert json.loads(readable_json(value)) == value


@given(_JSON)
def test_a_decimal_changes_no_other_digit(value: Any) -> None:
    marked = {"value": value, "exact": Decimal(DIGITS)}
    assert parse_json(readable_json(marked))["exact"] == Decimal(DIGITS)
    assert json.loads(readable_json(marked))["value"] == value
    assert json.loads(canonical_json(marked))["value"] == value
    assert f'"exact":{DIGITS}' in canonical_json(marked)


@given(_JSON)
def test_the_readable_text_is_the_one_of_the_standard_library(value: Any) -> None:
    with_decimal = readable_json([value, Decimal(DIGITS)])
    assert with_decimal == json.dumps([value, 5], ensure_ascii=False, indent=2).replace(
        "\n  5\n]", f"\n  {DIGITS}\n]"
    )


def test_canonical_text_sorts_keys_at_every_level() -> None:
    assert canonical_json({"b": {"d": 1, "c": 2}, "a": []}) == '{"a":[],"b":{"c":2,"d":1}}'


@pytest.mark.parametrize("value", [float("nan"), float("inf"), Decimal("NaN"), [Decimal("Infinity")]])
def test_what_is_not_a_json_number_has_no_text(value: Any) -> None:
    for write in (canonical_json, readable_json):
        with pytest.raises(ValueError, match=r"finite|compliant"):
            write(value)


def test_half_a_surrogate_pair_is_escaped_for_people() -> None:
    text = readable_json("\ud800")
    assert text == '"\\ud800"'
    assert text.encode()
    assert digest_of("\ud800").startswith("sha256:")


@pytest.mark.parametrize(("left", "right", "equal"), [
    (1, 1.0, True),
    (1, Decimal(1), True),
    (1, True, False),
    (0, False, False),
    (None, False, False),
    ("1", 1, False),
    ([1, [2]], (1, (2,)), True),
    ({"a": 1}, {"a": 1.0}, True),
    ({"a": 1}, {"a": 1, "b": None}, False),
    ([1], [1, 1], False),
    ([], {}, False),
])  # fmt: skip
def test_equality_is_of_json_values(left: Json, right: Json, *, equal: bool) -> None:
    assert json_equal(left, right) is equal
    assert json_equal(right, left) is equal


@given(st.text())
def test_pointer_tokens_are_undone(name: str) -> None:
    token = pointer_token(name)
    assert pointer_name(token) == name
    assert "/" not in token

"""docs/shim-engine.md 1, each rule once; `device_shim/vectors/json.json` has many more."""

import json
from decimal import Decimal

import pytest
from hypothesis import given, strategies as st

from droidgate_mappings.model.errors import InputError
from droidgate_shim.engine.strict_json import MAX_UNITS, exact_numbers, fits_units, parse_strict, write_strict
from strategies import damaged


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        (" [1.50, 1e2,-0, -0.0, 0e5] ", "[1.50,1E+2,0,0.0,0E+5]"),
        ('{"b": 1, "a": {"d": null, "c": true}}', '{"a":{"c":true,"d":null},"b":1}'),
        ('{"\U0001f600": 1, "\uffee": 2}', '{"\uffee":2,"\U0001f600":1}'),
        (r'"\u00e9\/\u001f\u007f\ud83d\ude00\""', '"é/\\u001f\x7f\U0001f600\\""'),
        ("9223372036854775807", "9223372036854775807"),
        ("-9223372036854775808", "-9223372036854775808"),
        ("1234567890.123456789012345678901", "1234567890.123456789012345678901"),
        ("1e-999", "1E-999"),
        ("[" * 64 + "]" * 64, "[" * 64 + "]" * 64),
    ],
)
def test_a_document_has_one_canonical_text(text: str, canonical: str) -> None:
    assert write_strict(parse_strict(text)) == canonical


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\ufeff1",
        "[1,]",
        "// no\n1",
        "NaN",
        "-Infinity",
        "01",
        "+1",
        ".5",
        "1.",
        "'a'",
        '"\t"',
        '"\\x41"',
        '{"a":1,"a":2}',
        '"\\ud83d"',
        '"\ud83d"',
        "9223372036854775808",
        "1e400",
        "1e0001",
        "0.1234567890123456789012345678901",
        "[" * 65 + "]" * 65,
        "[" * 100_000,
        "[" + ",".join(["1"] * 100_001) + "]",
        "{" + ",".join(f'"{number}":1' for number in range(1_025)) + "}",
    ],
    ids=range(24),
)
def test_what_is_not_strictly_json_or_over_a_limit_is_malformed(text: str) -> None:
    with pytest.raises(InputError):
        parse_strict(text)


def test_length_counts_utf16_units() -> None:
    assert fits_units("\U0001f600" * (MAX_UNITS // 2))
    assert not fits_units("\U0001f600" * (MAX_UNITS // 2) + "a")
    assert fits_units("a" * MAX_UNITS)
    assert not fits_units("a" * (MAX_UNITS + 1))


def test_a_thousand_and_twenty_four_keys_are_allowed() -> None:
    text = json.dumps({str(number): 0 for number in range(1_024)})
    assert len(parse_strict(text)) == 1_024


def test_floats_of_another_parser_become_the_digits_they_mean() -> None:
    assert exact_numbers({"a": [0.1, 1, True]}) == {"a": [Decimal("0.1"), 1, True]}


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(1 << 63), (1 << 63) - 1) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)
PIECES = [*'{}[]",:\\0-. \n\0é', "\\ud83d", "1e9", "-0.0", "1E+99", "null", '"a":', "NaN"]


@given(damaged(VALUES.map(json.dumps), st.sampled_from(PIECES) | st.text(max_size=4)))
def test_any_text_is_read_as_the_standard_parser_does_or_refused(text: str) -> None:
    try:
        value = parse_strict(text)
    except InputError:
        return
    assert value == json.loads(text, parse_float=Decimal)


@given(VALUES)
def test_what_is_written_is_read_again(value: object) -> None:
    text = json.dumps(value)
    if "\\ud" in text and not text.isascii():
        return
    try:
        read = parse_strict(text)
    except InputError:
        return
    assert parse_strict(write_strict(read)) == read == value

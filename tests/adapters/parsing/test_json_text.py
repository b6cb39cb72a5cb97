import json
from decimal import Decimal

import pytest
from hypothesis import given, strategies as st

from droidgate_mappings.model.errors import BudgetError, InputError
from droidgate_mappings.text.json_text import MAX_DEPTH, MAX_NUMBER_CHARACTERS, decode_utf8, parse_json
from strategies import damaged

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(json_values)
def test_what_the_standard_library_writes_is_read_back(value: object) -> None:
    assert parse_json(json.dumps(value)) == value
    assert parse_json(json.dumps(value, ensure_ascii=False).encode()) == value


PIECES = [*'{}[]",:\\0-. \n\t\0é', "\\ud8c0", "1e9", "1E+999", "null", "true", '"a":', "\ufeff"]


@given(damaged(json_values.map(json.dumps), st.sampled_from(PIECES)))
def test_any_text_is_a_value_or_a_typed_error(text: str) -> None:
    try:
        value = parse_json(text)
    except InputError:
        return
    assert value == json.loads(text.removeprefix("\ufeff"), parse_float=parse_json)


@given(
    damaged(
        json_values.map(lambda value: json.dumps(value, ensure_ascii=False).encode()), st.binary(max_size=4)
    )
)
def test_any_bytes_are_a_value_or_a_typed_error(data: bytes) -> None:
    try:
        parse_json(data)
    except InputError:
        return
    json.loads(data.decode("utf-8-sig"))


@pytest.mark.parametrize(("text", "place"), [
    ('{"a": 1,\n "a": 2}', "f.json:2"),
    ('{"a": {"b": 1, "b": 2}}', "f.json:1"),
    ("[1,\n 2,\n", "f.json:3:1"),
    ("{'a': 1}", "f.json:1:2"),
    ('{"a": 1,}', "f.json:1:9"),
    ("[NaN]", "f.json:1:2"),
    ("[-Infinity]", "f.json:1:2"),
    ('"a\tb"', "f.json:1:3"),
    ('\n"\\ud800"', "f.json:2"),
    ('"\\udc00\\ud800"', "f.json:1"),
    ('"\\ud83d x \\ude00"', "f.json:1"),
    ('"\ud800"', "f.json:1"),
    ("", "f.json:1:1"),
])  # fmt: skip
def test_what_is_not_strict_json_is_refused_with_its_place(text: str, place: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_json(text, path="f.json")
    assert caught.value.place == place


@pytest.mark.parametrize("text", [
    "[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1),
    "[" * 1_000_000,
    '{"a":' * 100_000,
    "1" * (MAX_NUMBER_CHARACTERS + 1),
    "0." + "1" * MAX_NUMBER_CHARACTERS,
    "1e99999999999999999999", "-0.1E-99999999999999999999",
])  # fmt: skip
def test_what_is_beyond_the_budget_is_refused(text: str) -> None:
    with pytest.raises(BudgetError):
        parse_json(text)


def test_a_document_at_the_limits_is_read() -> None:
    assert parse_json("[" * MAX_DEPTH + "]" * MAX_DEPTH) is not None
    assert parse_json("9" * MAX_NUMBER_CHARACTERS) == int("9" * MAX_NUMBER_CHARACTERS)


def test_numbers_keep_their_digits() -> None:
    assert parse_json("[1.50, 0.1, 1e2, 9007199254740993, 0.1000000000000000055, 1e400]") == [
        1.5,
        0.1,
        100.0,
        9007199254740993,
        Decimal("0.1000000000000000055"),
        Decimal("1e400"),
    ]


def test_a_surrogate_pair_of_escapes_is_one_character() -> None:
    assert parse_json('"\\ud83d\\ude00 \\\\ud83d"') == "😀 \\ud83d"


def test_control_characters_in_strings_are_read_where_asked_for() -> None:
    assert parse_json('"a\n\tb"', lenient_controls=True) == "a\n\tb"


def test_a_byte_order_mark_is_dropped() -> None:
    assert parse_json(b"\xef\xbb\xbf[1]") == [1]
    assert parse_json("\ufeff[1]") == [1]


def test_bytes_that_are_no_utf8_are_refused_with_their_offset() -> None:
    with pytest.raises(InputError, match="byte 1 is not UTF-8"):
        decode_utf8(b"a\xff", path="x")


def test_a_place_inside_another_file_counts_from_its_line() -> None:
    with pytest.raises(InputError) as caught:
        parse_json("[\n!", path="m.xml", line=10)
    assert caught.value.place == "m.xml:11:1"

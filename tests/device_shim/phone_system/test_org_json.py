"""Android's `org.json` on the phone: what it takes, what it writes (reference android-runtime 3.5)."""

import json
from typing import Any

import pytest
from hypothesis import given, strategies as st

from droidgate_phone.java.org_json import NULL, JsonError, parse_object, write_json
from droidgate_phone.system.generic_documents import properties_from_json


@pytest.mark.parametrize(("text", "value"), [
    ('{"a": 010}', 8),
    ('{"a": 0x10}', 16),
    ('{"a": -0}', 0),
    ('{"a": 1e3}', 1000.0),
    ('{"a": 0x1p3}', 8.0),
    ('{"a": 0X.8P-2f}', 0.125),
    ('{"a": 9223372036854775808}', 9223372036854775808.0),
    ('{"a": 9223372036854775807}', 9223372036854775807),
    ("{a: 'x'}", "x"),
    ('{"a" = "x"}', "x"),
    ('{"a" => "x";}'.replace(";", ""), "x"),
    ('{"a": TRUE} and more', True),
    ('{"a": /* c */ word} # end', "word"),
    pytest.param('{"a": null}', NULL, id='{"a": null}-NULL'),
    ('{"a": 1, "a": 2}', 2),
    (r'{"a": "\ud83d\ude00"}', "\U0001f600"),
])  # fmt: skip
def test_the_lenient_parser_takes(text: str, value: Any) -> None:
    found = parse_object(text)["a"]
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(("text", "message"), [
    ('{"a": 1e400}', "Forbidden numeric value: Infinity"),
    ('{"a": -0x1p1024}', "Forbidden numeric value: -Infinity"),
    ('{"a": NaN}', "Forbidden numeric value: NaN"),
    ("{", "End of input at character 1 of {"),
    ('{"a"', "Expected ':' after a at character 4 of {\"a\""),
    ('{"a": "x', 'Unterminated string at character 8 of {"a": "x'),
    ('{"a": 1 2}', 'Unterminated object at character 9 of {"a": 1 2}'),
    ('{"a": [1', 'Unterminated array at character 8 of {"a": [1'),
    ("{1: 2}", "Names must be strings, but 1 is of type java.lang.Integer at character 2 of {1: 2}"),
    ("null", "Value null of type org.json.JSONObject$1 cannot be converted to JSONObject"),
])  # fmt: skip
def test_the_lenient_parser_refuses_with_javas_message(text: str, message: str) -> None:
    with pytest.raises(JsonError) as refused:
        parse_object(text)
    assert str(refused.value) == message


def test_the_writer_indents_and_escapes_as_android_does() -> None:
    value = {"a/b": ['"\n\x01', 5.0, 0.1, -0.0, True], "e": [], "o": {}}
    assert write_json(value, 2) == (
        '{\n  "a\\/b": [\n    "\\"\\n\\u0001",\n    5,\n    0.1,\n    -0,\n    true\n  ],\n'
        '  "e": [],\n  "o": {}\n}'
    )
    assert write_json(value) == '{"a\\/b":["\\"\\n\\u0001",5,0.1,-0,true],"e":[],"o":{}}'
    with pytest.raises(JsonError):
        write_json([float("nan")])


@pytest.mark.parametrize(("value", "written"), [
    (2.0**63, "9223372036854775807"),
    (-(2.0**63), "-9223372036854775808"),
    (2.0**62, "4611686018427387904"),
    (1e19, "1.0E19"),
    (1e15, "1000000000000000"),
])  # fmt: skip
def test_whole_doubles_are_written_as_the_nearest_long(value: float, written: str) -> None:
    assert write_json([value]) == f"[{written}]"


CHARACTERS = st.characters(codec="utf-8")
SCALARS = st.one_of(
    st.text(CHARACTERS, max_size=12),
    st.integers(-(2**63), 2**63 - 1),
    st.booleans(),
    # Java writes 2^63 as the largest long.
    st.floats(allow_nan=False, allow_infinity=False).filter(lambda value: value != 2.0**63),
)
DOCUMENTS = st.recursive(
    st.dictionaries(st.text(CHARACTERS, min_size=1, max_size=6), st.lists(SCALARS, max_size=3), max_size=4),
    lambda inner: st.dictionaries(st.text(min_size=1, max_size=3), st.lists(inner, max_size=3), max_size=4),
    max_leaves=8,
)


@given(DOCUMENTS)
def test_what_the_writer_writes_is_json_with_the_same_values(document: dict[str, Any]) -> None:
    assert json.loads(write_json(document, 2)) == document
    assert json.loads(write_json(document)) == document


@given(st.dictionaries(st.text(CHARACTERS, min_size=1), SCALARS))
def test_scalars_keep_their_type_on_the_way_in(values: dict[str, Any]) -> None:
    read = properties_from_json(parse_object(json.dumps(values)))
    assert read == {key: [value] for key, value in values.items()}
    for key, value in values.items():
        assert isinstance(read[key][0], type(value)) or value == 0

"""What Android's `org.json` on the phone writes is JSON; `java_agreement` compares it with Android's."""

import json
from typing import Any

from hypothesis import given, strategies as st

from droidgate_phone.java.org_json import parse_object, write_json
from droidgate_phone.system.generic_documents import properties_from_json

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

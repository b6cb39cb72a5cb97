"""Schemas that the linter of mMCP takes for right without asking their meta-schema."""

from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given
from jsonschema import Draft202012Validator
from jsonschema.validators import validator_for

from droidgate_mmcp.lint import is_plain_schema

WORDS = [
    "type", "title", "description", "format", "properties", "required", "additionalProperties", "items",
    "enum", "default", "$schema", "minimum", "anyOf",
]  # fmt: skip
VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 2),
    st.sampled_from(["object", "string", "integer", "nothing", "http://json-schema.org/draft-04/schema#"]),
)
TYPES = st.sampled_from(["object", "string", "integer", "nothing"])
SCHEMAS = st.recursive(
    st.fixed_dictionaries({}, optional={"type": TYPES, "title": st.text(max_size=3), "default": VALUES})
    | VALUES,
    lambda inner: (
        st.fixed_dictionaries(
            {"type": TYPES},
            optional={
                "properties": st.dictionaries(st.sampled_from(WORDS), inner, max_size=3),
                "required": st.lists(st.sampled_from(WORDS), max_size=2) | VALUES,
                "items": inner,
                "enum": st.lists(VALUES, max_size=2),
            },
        )
        | st.dictionaries(st.sampled_from(WORDS), inner, max_size=2)
    ),
    max_leaves=8,
)


@given(schema=SCHEMAS)
def test_what_is_taken_for_plain_is_right_by_its_meta_schema(schema: Any) -> None:
    if is_plain_schema(schema):
        chosen = validator_for(schema, default=Draft202012Validator)
        assert list(chosen(chosen.META_SCHEMA).iter_errors(schema)) == []


def test_a_usual_schema_is_plain() -> None:
    number = {"type": "integer", "description": "how many", "default": 1}
    texts = {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}}
    assert is_plain_schema(
        {"type": "object", "properties": {"count": number, "names": texts}, "required": ["count"]}
    )


@pytest.mark.parametrize("schema", [
    {"type": "text"},
    {"type": ["string", "null"]},
    {"description": 1},
    {"properties": {"a": None}},
    {"required": ["a", "a"]},
    {"items": [{}]},
    {"$schema": "http://json-schema.org/draft-04/schema#"},
    {"properties": {"a": {"pattern": "["}}},
    [],
    None,
])  # fmt: skip
def test_what_is_unusual_or_wrong_is_not_plain(schema: Any) -> None:
    assert not is_plain_schema(schema)

"""Reading and writing a schema takes work in proportion to its size, also where its author is hostile."""

from collections.abc import Callable
from itertools import islice, product
from typing import Any

import pytest

from counted_work import count_calls
from droidgate_mappings.json_schema import read_schema, write_schema
from droidgate_mappings.model.json_values import Json

Nest = Callable[[Json], Json]

NULL: Json = {"type": "null"}
NESTS: dict[str, Nest] = {
    "null that another alternative takes too": lambda inner: {"oneOf": [NULL, inner, {"type": ["string",
        "null"]}]},
    "null before others": lambda inner: {"anyOf": [NULL, inner, {"type": "integer"}]},
    "null before an all-of": lambda inner: {"anyOf": [NULL, {"allOf": [inner, {}]}]},
    "note of a property": lambda inner: {"properties": {"a": inner}, "x-droidgate": {"property": {"z": {}},
        "kind": "object"}},
    "note that changes nothing": lambda inner: {"properties": {"a": inner},
        "x-droidgate": {"kind": "object"}},
    "note that is not a note": lambda inner: {"items": inner, "x-droidgate": {"nullable": True,
        "implicit": False}},
    "note with a wrapped null": lambda inner: {"allOf": [{"anyOf": [NULL, inner, {"type": "string"}]}],
        "x-droidgate": {"property": {"z": {}}}},
}  # fmt: skip


def _nested(nest: Nest, depth: int) -> Json:
    schema: Json = {"type": "object", "properties": {"a": {"type": "string"}}}
    for _ in range(depth):
        schema = nest(schema)
    return schema


def _work_of(schema: dict[str, Json] | Json) -> int:
    return count_calls(lambda: write_schema(*read_schema(schema)))


@pytest.mark.parametrize("nest", NESTS.values(), ids=NESTS)
def test_the_work_does_not_double_with_each_level_of_a_schema(nest: Nest) -> None:
    # A note is compared with what its whole subschema is written as, so the work may grow as the square.
    assert _work_of(_nested(nest, 24)) < 5 * _work_of(_nested(nest, 12))


@pytest.mark.parametrize("nest", NESTS.values(), ids=NESTS)
def test_a_deep_schema_is_written_as_it_was_read(nest: Nest) -> None:
    schema = _nested(nest, 28)
    assert write_schema(*read_schema(schema)) == schema


def _references(count: int) -> Json:
    targets = {f"a{position}": {"type": "string"} for position in range(count)}
    users = {f"b{position}": {"$ref": f"#/properties/a{position}"} for position in range(count)}
    return {"type": "object", "properties": {**targets, **users}}


def _anchors(count: int) -> Json:
    targets = {f"a{position}": {"$anchor": f"n{position}", "type": "string"} for position in range(count)}
    users = {f"b{position}": {"$ref": f"#n{position}"} for position in range(count)}
    return {"type": "object", "properties": {**targets, **users}}


def _noted_references(count: int) -> Json:
    note = {"x-droidgate": {"implicit": True}}
    users = {f"b{position}": {"$ref": f"#/$defs/D{position}", **note} for position in range(count)}
    return {
        "type": "object",
        "properties": users,
        "$defs": {f"D{position}": {"type": "string"} for position in range(count)},
    }


def _escaped_references(count: int) -> Json:
    large = {"type": "string", "enum": [f"v{position}" for position in range(count)]}
    spellings = islice(product(("a", "%61"), repeat=9), count)
    users = {f"b{at}": {"$ref": f"#/properties/{''.join(item)}"} for at, item in enumerate(spellings)}
    return {"type": "object", "properties": {"a" * 9: large, **users}}


@pytest.mark.parametrize("made", [_references, _anchors, _noted_references, _escaped_references])
def test_the_work_for_references_grows_with_their_number(made: Callable[[int], Json]) -> None:
    small, large = made(100), made(400)
    assert write_schema(*read_schema(large)) == large
    assert _work_of(large) < 4.5 * _work_of(small)


def _chain(length: int, last: str) -> dict[str, Any]:
    links = {f"D{at}": {"items": {"$ref": f"#/$defs/D{at + 1}"}} for at in range(length)}
    return {"$ref": "#/$defs/D0", "$defs": {**links, f"D{length}": {"type": last}}}


def _work_of_second_chain(length: int) -> int:
    _, known = read_schema(_chain(length, "string"))
    return count_calls(lambda: read_schema(_chain(length, "boolean"), known=known))


def test_the_work_for_a_chain_of_definitions_that_another_tool_ends_otherwise_grows_with_its_length() -> None:
    assert _work_of_second_chain(200) < 4.5 * _work_of_second_chain(50)


def test_each_definition_of_a_chain_that_another_tool_ends_otherwise_gets_a_new_name() -> None:
    _, known = read_schema(_chain(50, "string"))
    second = _chain(50, "boolean")
    root, brought = read_schema(second, known=known)
    assert len({**known, **brought}) == 2 * 51
    assert write_schema(root, {**known, **brought}) == second

"""JSON Schema is read and written without loss, and what the algebra models lands in its fields.

The work for it grows with the size of a schema, also where its author is hostile; alternatives with class
names are distinguished by `schemaType`, even if their properties are the same.
"""

import json
import tarfile
from collections import Counter
from collections.abc import Callable, Iterator
from decimal import Decimal
from itertools import islice, product
from typing import Any

import pytest
from hypothesis import given, strategies as st
from jsonschema import Draft202012Validator, FormatChecker

from counted_work import count_calls
from droidgate_mappings.fit.description_notes import schema_notes
from droidgate_mappings.json_schema import (
    ANNOTATION,
    NAMESPACE,
    NOTATION,
    add_discriminators,
    place_definitions,
    read_schema,
    read_type,
    write_schema,
)
from droidgate_mappings.model.capability import Capability, Provider, declaration_of, reachable_definitions
from droidgate_mappings.model.findings import Level
from droidgate_mappings.model.json_values import Json, canonical_json
from droidgate_mappings.model.types import (
    AllOfType,
    AnyType,
    ArrayType,
    ObjectType,
    OneOfType,
    OpaqueType,
    RefType,
    Type,
)
from droidgate_mappings.values.coercion import UnfitValueError, ValueFitter
from mappings.json_schema.hostile_schemas import random_schema
from model_types import (
    all_of,
    any_of,
    array,
    binary,
    boolean,
    float32,
    float64,
    int32,
    int64,
    null,
    one_of,
    optional,
    properties_of,
    record,
    ref,
    required,
    string,
)
from requirements_of_tests import require
from strategies import ModelMaker

BOUNDS = {"minimum": -2147483648, "maximum": 2147483647}
SCHEMAS_IN_SUITE = 2_208
DIGITS = Decimal("0.10000000000000000001")
TEXT_AS_A = {"$defs": {"A": {"type": "string"}}}


def _exact(parts: Any) -> str:
    if isinstance(parts, dict):
        return canonical_json({name: declaration_of(item) for name, item in parts.items()})
    return canonical_json(declaration_of(parts))


def _assert_exact(schema: Json) -> Type:
    root, definitions = read_schema(schema)
    assert canonical_json(write_schema(root, definitions)) == canonical_json(schema)
    return root


def _suite() -> Iterator[Json]:
    with tarfile.open(require("json-schema-suite")) as archive:
        for member in archive.getmembers():
            if "/json/tests/" in member.name and member.name.endswith(".json"):
                file = archive.extractfile(member)
                assert file is not None
                yield from (case["schema"] for case in json.load(file))


@pytest.mark.slow
def test_every_schema_of_the_official_suite_is_written_as_it_was_read() -> None:
    kinds = Counter(_assert_exact(schema).kind for schema in _suite())
    assert kinds.total() >= SCHEMAS_IN_SUITE
    assert {"object", "array", "string", "int64", "double", "ref", "all-of", "one-of", "any"} <= kinds.keys()
    assert kinds["any"] < kinds.total() * 0.6


@pytest.mark.slow
@given(st.randoms(use_true_random=False))
def test_schemas_full_of_wrong_values_are_written_as_they_were_read(random: Any) -> None:
    _assert_exact(random_schema(random))


@given(st.randoms(use_true_random=False))
def test_definitions_of_several_schemas_never_take_each_others_names(random: Any) -> None:
    definitions: dict[str, Type] = {}
    for _ in range(3):
        schema = random_schema(random)
        root, brought = read_schema(schema, definitions=definitions)
        for name in definitions.keys() & brought.keys():
            assert _exact(definitions[name]) == _exact(brought[name])
        definitions.update(brought)
        assert canonical_json(write_schema(root, definitions)) == canonical_json(schema)


@pytest.mark.slow
@given(st.randoms(use_true_random=False))
def test_every_type_of_the_algebra_survives_json_schema(random: Any) -> None:
    maker = ModelMaker(random, ("Node", "b/c~%", ""), size=15)
    definitions = {name: maker.type(2) for name in maker.definitions}
    root = maker.type()
    schema = write_schema(root, definitions)
    back, brought = read_schema(schema)
    assert _exact(back) == _exact(root)
    reached = reachable_definitions(root, definitions)
    assert _exact(brought) == _exact({name: definitions[name] for name in reached})


@given(st.randoms(use_true_random=False))
def test_what_is_written_is_a_schema_for_a_validator_of_other_authors(random: Any) -> None:
    item = ModelMaker(random, size=12, keywords=False).type()
    # Patterns are ECMA-262's; that validator would check them as Python's.
    Draft202012Validator.check_schema(write_schema(item), format_checker=FormatChecker(formats=()))


VALUES_OF_TYPES = {
    "an integer of 32 bits": (int32(), [1, -1, 2**31 - 1], ["1", 1.5, None, True, 2**31, -(2**31) - 1]),
    "a number or null": (float64(nullable=True), [1, 1.5, None], ["1", True]),
    "an enum or null": (string(nullable=True, enum=("a",)), ["a", None], ["b", 1]),
    "bytes": (binary(), ["AA=="], [1, None]),
    "null": (null(), [None], [0, "", False]),
    "a list or null": (array(boolean(), nullable=True), [[], [True], None], [[None], {}]),
    "a reference or null": (ref("A", nullable=True), [None, "x"], [1]),
    "an all-of or null": (all_of(ObjectType(), ref("O"), nullable=True), [{"a": "x"}, None], [{}, 1]),
    "a choice or null": (one_of(ref("A"), int64(), nullable=True), ["", 1, None], [1.5]),
    "null in two places": (one_of(string(nullable=True), nullable=True), ["", None], [1]),
    "an enum of several kinds or null": (AnyType(enum=("a", 1), nullable=True), ["a", 1, None], ["b"]),
    "no value": (AnyType(boolean=False), [], [None, 1]),
}  # fmt: skip


@pytest.mark.parametrize(("item", "right", "wrong"), VALUES_OF_TYPES.values(), ids=VALUES_OF_TYPES)
def test_a_validator_of_other_authors_takes_exactly_the_values_of_a_type(
    item: Type, right: list[Json], wrong: list[Json]
) -> None:
    properties = {"a": required(string())}
    definitions: dict[str, Type] = {"A": string(), "O": record(properties)}
    validator = Draft202012Validator(write_schema(item, definitions))
    assert [value for value in right if not validator.is_valid(value)] == []
    assert [value for value in wrong if validator.is_valid(value)] == []


MODELLED = {
    "true": (True, AnyType(boolean=True)),
    "false": (False, AnyType(boolean=False)),
    "an empty schema": ({}, AnyType()),
    "an integer": ({"type": "integer"}, int64()),
    "an integer of 32 bits with its bounds": ({"type": "integer", "format": "int32", **BOUNDS}, int32()),
    "an integer of 32 bits without its bounds":
        ({"type": "integer", "format": "int32"}, int32(extensions={NOTATION: {"unstatedBounds": ["minimum",
        "maximum"]}})),
    "an integer of 32 bits with one bound":
        ({"type": "integer", "format": "int32", "minimum": 0, "maximum": 2**31 - 1},
        int32(keywords={"minimum": 0})),
    "an integer of 32 bits with a bound of its own alone":
        ({"type": "integer", "format": "int32", "minimum": 0}, int32(keywords={"minimum": 0},
        extensions={NOTATION: {"unstatedBounds": ["maximum"]}})),
    "an integer of 32 bits in an enum":
        ({"type": "integer", "format": "int32", "enum": [1]}, int32(enum=(1,))),
    "an integer of 32 bits or null":
        ({"type": ["integer", "null"], "format": "int32", **BOUNDS}, int32(nullable=True)),
    "an integer of 64 bits": ({"type": "integer", "format": "int64"}, int64(format="int64")),
    "a float": ({"type": "number", "format": "float"}, float32()),
    "bytes": ({"type": "string", "contentEncoding": "base64"}, binary()),
    "a string or null": ({"type": ["string", "null"]}, string(nullable=True)),
    "null or a string":
        ({"type": ["null", "string"]}, string(nullable=True, keywords={"type": ["null", "string"]})),
    "a string or an integer":
        ({"type": ["string", "integer"]}, AnyType(keywords={"type": ["string", "integer"]})),
    "an enum without a type": ({"enum": ["a", "b"]}, string(implicit=True, enum=("a", "b"))),
    "an enum with null of a string":
        ({"type": "string", "enum": ["a", None]}, string(enum=("a",), keywords={"enum": ["a", None]})),
    "an enum with null of a string or null":
        ({"type": ["string", "null"], "enum": ["a", None]}, string(nullable=True, enum=("a",))),
    "an enum of three kinds": ({"enum": ["a", 1, None]}, AnyType(nullable=True, enum=("a", 1))),
    "a const text": ({"const": "a"}, string(implicit=True, keywords={"const": "a"})),
    "a const boolean": ({"const": True}, boolean(implicit=True, keywords={"const": True})),
    "a const null": ({"const": None}, AnyType(keywords={"const": None})),
    "an enum of integers": ({"enum": [1, 2]}, int64(implicit=True, enum=(1, 2))),
    "an enum of numbers": ({"enum": [1, 1.5]}, float64(implicit=True, enum=(1, 1.5))),
    "an enum of one boolean": ({"enum": [True]}, boolean(implicit=True, enum=(True,))),
    "an enum of a number and a boolean": ({"enum": [1, True]}, AnyType(enum=(1, True))),
    "an enum of a large integer": ({"enum": [2**63]}, AnyType(enum=(2**63,))),
    "an array": ({"type": "array"}, ArrayType()),
    "items without a type": ({"items": {"type": "boolean"}}, ArrayType(implicit=True, items=boolean())),
    "an all-of of an object and true":
        ({"allOf": [{"type": "object"}, True]}, all_of(ObjectType(), AnyType(boolean=True))),
    "an all-of of one":
        ({"allOf": [{"type": "object"}]}, ObjectType(extensions={NOTATION: {"allOf": ["type"]}})),
    "an all-of of one next to keywords": (
        {"allOf": [{"type": "string", "minLength": 1}], "title": "T", "default": "a"},
        string(keywords={"minLength": 1, "title": "T", "default": "a"},
            extensions={NOTATION: {"allOf": ["type", "minLength"]}}),
    ),
    "an all-of of one in an any-of with null":
        ({"anyOf": [{"allOf": [{"type": "string"}]}, {"type": "null"}]},
        any_of(string(extensions={NOTATION: {"allOf": ["type"]}}), nullable=True)),
    "a string or null in an enum without null":
        ({"type": ["string", "null"], "enum": ["a", "b"]},
        string(enum=("a", "b"), keywords={"type": ["string", "null"]})),
    "a string or null with a const": ({"type": ["string", "null"], "const": "a"},
        string(keywords={"type": ["string", "null"], "const": "a"})),
    "an any-of with null and an enum": ({"anyOf": [{"type": "string"}, {"type": "null"}], "enum": ["a"]},
        any_of(string(), null(), enum=("a",))),
    "a one-of with null twice":
        ({"oneOf": [{"type": ["string", "null"]}, {"type": "null"}]}, one_of(string(nullable=True), null())),
    "a one-of of true and false":
        ({"oneOf": [True, False]}, one_of(AnyType(boolean=True), AnyType(boolean=False))),
    "an any-of with null":
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, any_of(string(), nullable=True)),
    "an any-of with null in the middle":
        ({"anyOf": [{"type": "string"}, {"type": "null"}, {"type": "integer"}]}, any_of(string(), int64(),
        nullable=True, extensions={NOTATION: {"nullPosition": 1}})),
    "an any-of that begins with null":
        ({"anyOf": [{"type": "null"}, {"type": "string"}]}, any_of(string(), nullable=True,
        extensions={NOTATION: {"nullPosition": 0}})),
    "a one-of with null twice and further types":
        ({"oneOf": [{"type": "null"}, {"type": "string"}, {"type": ["integer", "null"]}]}, one_of(null(),
        string(), int64(nullable=True))),
    "an any-of with null in an all-of":
        ({"allOf": [{"anyOf": [{"type": "null"}, {"type": "string"}]}]}, any_of(string(), nullable=True,
        extensions={NOTATION: {"allOf": ["anyOf"], "nullPosition": 0}})),
    "an any-of that begins with null and has a note":
        ({"anyOf": [{"type": "null"}, {"type": "string"}], ANNOTATION: {"kind": "ref"}}, any_of(string(),
        nullable=True, keywords={ANNOTATION: {"kind": "ref"}}, extensions={NOTATION: {"nullPosition": 0}})),
    "an all-of of anything in an any-of with null":
        ({"anyOf": [{"allOf": [{}]}, {"type": "null"}]}, all_of(AnyType(), nullable=True)),
    "a note of a kind":
        ({"x-droidgate": {"kind": "opaque", "class_name": "a.B"}}, OpaqueType(class_name="a.B")),
    "a note that contradicts the schema is a keyword like others":
        ({"type": "string", ANNOTATION: {"kind": "one-of"}},
        string(keywords={ANNOTATION: {"kind": "one-of"}})),
    "digits of a bound": ({"type": "number", "minimum": DIGITS}, float64(keywords={"minimum": DIGITS})),
    # As pydantic writes an enum.
    "an enum as pydantic writes it": ({"allOf": [{"$ref": "#/$defs/A"}], "default": "a", **TEXT_AS_A},
        ref("A", keywords={"default": "a"}, extensions={NOTATION: {"allOf": ["$ref"]}})),
    "a reference or null":
        ({"anyOf": [{"$ref": "#/$defs/A"}, {"type": "null"}], **TEXT_AS_A}, ref("A", nullable=True)),
    "a required null": ({"type": "object", "properties": {"a": {"type": "null"}}, "required": ["a"]},
        record({"a": required(null())})),
    "a required name without a property":
        ({"type": "object", "properties": {"a": True}, "required": ["a", "b"]},
        record({"a": required(AnyType(boolean=True))}, keywords={"required": ["a", "b"]})),
}  # fmt: skip


@pytest.mark.parametrize(("schema", "expected"), MODELLED.values(), ids=MODELLED)
def test_what_the_algebra_models_is_in_its_fields(schema: dict[str, Json], expected: Type) -> None:
    assert _assert_exact(schema) == expected
    if "$defs" not in canonical_json(schema):
        assert read_type(schema) == expected


NOTED = {
    "a choice with null": one_of(string(), null()),
    "a choice that begins with null": one_of(null(), boolean()),
    "an any-of with null in the middle": any_of(string(), null(), boolean()),
    "an any-of of null and an all-of": any_of(null(), all_of(AnyType(), AnyType())),
    "an all-of of one": all_of(ObjectType()),
    "an all-of of one or null": all_of(string(), nullable=True),
    "a const or null": string(nullable=True, keywords={"const": "a"}),
    "a choice of nothing": OneOfType(),
    "an all-of of nothing": AllOfType(nullable=True),
    "an object that is not stated": ObjectType(implicit=True, nullable=True),
    "any value or null": AnyType(nullable=True),
    "an enum of any kind": AnyType(enum=("a", "b")),
    "a described anything": AnyType(boolean=True, description="Anything"),
    "null or null": null(nullable=True),
    "an integer with its format": int32(format="int32"),
    "an integer with another format": int64(format="int32"),
    "a string with a keyword of bytes": string(keywords={"contentEncoding": "base64"}),
}  # fmt: skip


@pytest.mark.parametrize("item", NOTED.values(), ids=NOTED)
def test_a_type_that_json_schema_cannot_distinguish_from_another_has_a_note(item: Type) -> None:
    schema = write_schema(item)
    assert ANNOTATION in schema
    assert read_type(schema) == item


UNDERSTOOD = {
    "an enum without the null of its type":
        ({"type": ["string", "null"], "enum": ["a", "b"]}, ["a", None, "c"]),
    "an enum with the null of its type":
        ({"type": ["string", "null"], "enum": ["a", None]}, ["a", None, "c"]),
    "a const of a type with null": ({"type": ["string", "null"], "const": "a"}, ["a", None]),
    "null as the const of a type with null": ({"type": ["string", "null"], "const": None}, ["a", None]),
    "an enum next to an any-of with null":
        ({"anyOf": [{"type": "string"}, {"type": "null"}], "enum": ["a"]}, ["a", None, "b"]),
    "an enum next to a reference or null":
        ({"anyOf": [{"$ref": "#/$defs/A"}, {"type": "null"}], "enum": ["a"]}, ["a", None, "b"]),
    "a const next to a reference or null":
        ({"anyOf": [{"$ref": "#/$defs/A"}, {"type": "null"}], "const": "a"}, ["a", None, "b"]),
    "an all-of or null": ({"anyOf": [{"allOf": [{"$ref": "#/$defs/A"}]}, {"type": "null"}]}, ["a", None, 1]),
    "null in two alternatives": ({"oneOf": [{"type": ["string", "null"]}, {"type": "null"}]}, ["a", None, 1]),
    "an enum next to a reference": ({"$ref": "#/$defs/N", "enum": ["a"]}, ["a", None, "b"]),
    "a length next to a reference": ({"$ref": "#/$defs/N", "minLength": 2}, ["a", "ab", None]),
    "a type next to a reference": ({"$ref": "#/$defs/A", "type": "string", "maxLength": 1}, ["a", "ab", 1]),
    "an enum of two kinds": ({"enum": ["a", 1]}, ["a", 1, None]),
    "an enum of integers": ({"enum": [1, 2]}, [1, 1.0, 3, True, "1", None]),
    "an enum of numbers": ({"enum": [1, 1.5]}, [1, 1.5, 2.5, True, None]),
    "an enum of one boolean": ({"enum": [True]}, [True, False, 1, None]),
    "a const text": ({"const": "a"}, ["a", "b", 1, None]),
    "a const number": ({"const": 1.0}, [1, 1.0, 2, True, None]),
    "an enum of null and a number": ({"type": "null", "enum": [None, 1]}, [None, 1]),
    "an all-of with annotations":
        ({"allOf": [{"$ref": "#/$defs/A"}], "default": "a", "title": "Colour"}, ["a", 1, None]),
    "a length next to an all-of": ({"allOf": [{"type": "string"}], "minLength": 2}, ["a", "ab", None]),
}  # fmt: skip


@pytest.mark.parametrize(("schema", "values"), UNDERSTOOD.values(), ids=UNDERSTOOD)
def test_calls_take_the_values_that_a_validator_of_other_authors_takes(
    schema: dict[str, Json], values: list[Json]
) -> None:
    whole = {**schema, "$defs": {"A": {"type": "string"}, "N": {"type": ["string", "null"]}}}
    root, definitions = read_schema(whole)
    _assert_exact(whole)
    validator = Draft202012Validator(whole)
    assert [_is_taken(value, root, definitions) for value in values] == list(map(validator.is_valid, values))


def _is_taken(value: Json, item: Type, definitions: dict[str, Type]) -> bool:
    try:
        ValueFitter(definitions, exact=True).fit(value, item)
    except UnfitValueError:
        return False
    return True


@pytest.mark.parametrize("schema", [
    {"allOf": [{"properties": {"a": {}}}], "additionalProperties": False},
    {"allOf": [{"additionalProperties": False}], "properties": {"a": {}}},
    {"allOf": [{"minLength": 1}], "minLength": 2},
    {"allOf": [{"$id": "https://example.com/a"}]},
    {"allOf": [{"type": "string"}], "type": "string"},
], ids=str)  # fmt: skip
def test_an_all_of_that_means_something_else_in_place_is_not_unwrapped(schema: Json) -> None:
    assert NOTATION not in _assert_exact(schema).extensions


def test_writing_changes_nothing_of_what_it_was_given() -> None:
    keywords = {"$defs": {"Kept": {"type": "string"}}}
    written = write_schema(all_of(ref("A"), keywords=keywords), {"A": null()})
    assert written["$defs"] == {"Kept": {"type": "string"}, "A": {"type": "null"}}
    assert keywords == {"$defs": {"Kept": {"type": "string"}}}


@pytest.mark.parametrize(("left", "right"), [(1, True), (1, 1.0), (0, False), ("1", 1)], ids=repr)
def test_definitions_that_only_python_takes_for_equal_are_two(left: Json, right: Json) -> None:
    first = {"$ref": "#/$defs/A", "$defs": {"A": {"default": left}}}
    second = {"$ref": "#/$defs/A", "$defs": {"A": {"default": right}}}
    _, definitions = read_schema(first)
    root, brought = read_schema(second, definitions=definitions)
    assert not definitions.keys() & brought.keys()
    assert canonical_json(write_schema(root, {**definitions, **brought})) == canonical_json(second)


def test_an_equal_definition_of_another_schema_is_the_same_definition() -> None:
    schema = {"$ref": "#/$defs/A", **TEXT_AS_A}
    _, definitions = read_schema(schema)
    assert read_schema(schema, definitions=definitions) == (ref("A"), definitions)


def test_a_schema_for_a_description_leaves_the_bounds_of_integers_out() -> None:
    schema = write_schema(record({"a": optional(int32())}), int32_bounds=False)
    assert schema["properties"]["a"] == {"type": "integer", "format": "int32"}


PERSON = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "friends": {"type": "array", "items": {"$ref": "#"}},
        "home": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
        "work": {"$ref": "#/properties/home"},
        "nickname": {"$ref": "#/properties/friends/items/properties/name"},
        "place": {"$ref": "#/properties/work"}, "city": {"$ref": "#/definitions/Town/properties/city"},
        "tag": {"$anchor": "tag", "type": "integer"}, "other tag": {"$ref": "#tag"},
        "first": {"$ref": "#/properties/friends/items"}},
    "definitions": {"Town": {"type": "object", "properties": {"city": {"type": "string", "maxLength": 3}}}},
}  # fmt: skip


PERSONS = {
    "everything that fits":
        {"work": {"city": "Bonn"}, "friends": [{"name": "a", "friends": []}], "other tag": 1},
    "work without a city": {"work": {}},
    "a place without a city": {"place": {}},
    "a friend with a number for a name": {"friends": [{"name": 1}]},
    "a friend of a friend without a city": {"friends": [{"friends": [{"work": {}}]}]},
    "a city of another object": {"city": "Bonn"},
    "a tag": {"other tag": "x"},
    "a first friend with a number for a name": {"first": {"name": 1}},
}  # fmt: skip


@pytest.mark.parametrize("value", PERSONS.values(), ids=PERSONS)
def test_calls_follow_references_into_the_schema_itself(value: Json) -> None:
    schema = {**PERSON, "properties": {**PERSON["properties"], "nickname": {}}}  # type: ignore[dict-item]
    root, definitions = read_schema(schema)
    assert _is_taken(value, root, definitions) is Draft202012Validator(schema).is_valid(value)


def test_references_that_lose_their_target_lead_to_defs() -> None:
    root, definitions = read_schema({"type": "array", "items": {"$ref": "#"}})
    bare = root.model_copy(update={"extensions": {}})
    layout = {NAMESPACE: root.extensions[NAMESPACE]}
    wrapped = record({"result": required(bare)}, extensions=layout)
    schema = write_schema(wrapped, definitions)
    assert schema["$defs"] == {"Root": {"type": "array", "items": {"$ref": "#/$defs/Root"}}}
    placed, replaced = place_definitions(wrapped, definitions)
    assert replaced == {"#": "#/$defs/Root"}
    assert read_schema(schema) == (placed, definitions)


def test_references_in_an_embedded_resource_are_not_read_as_ones_into_the_whole() -> None:
    schema = {"type": "object", "properties": {"a": {"$id": "https://example.com/a", "items": {"$ref": "#"}}}}
    assert read_schema(schema)[1] == {}
    _assert_exact(schema)


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
    _, definitions = read_schema(_chain(length, "string"))
    return count_calls(lambda: read_schema(_chain(length, "boolean"), definitions=definitions))


def test_a_chain_of_definitions_takes_time_in_proportion_to_its_length() -> None:
    assert _work_of_second_chain(200) < 4.5 * _work_of_second_chain(50)


def test_each_definition_of_a_chain_that_another_tool_ends_otherwise_gets_a_new_name() -> None:
    _, definitions = read_schema(_chain(50, "string"))
    second = _chain(50, "boolean")
    root, brought = read_schema(second, definitions=definitions)
    assert len({**definitions, **brought}) == 2 * 51
    assert write_schema(root, {**definitions, **brought}) == second


SIZE = {"size": required(int32())}
DEFINITIONS: dict[str, Type] = {
    "Circle": record(SIZE, qualified_name="a.Circle", nullable=True),
    "Square": record(SIZE, qualified_name="a.Square", nullable=True),
    "Plain": record(SIZE),
    "Other": record(SIZE),
    "Merged": all_of(ref("Plain"), ObjectType(), qualified_name="a.Merged"),
    "Closed": ObjectType(qualified_name="a.Closed", keywords={"additionalProperties": False}),
    "Own": record({"schemaType": optional(string())}, qualified_name="a.Own"),
}


def _choice(*names: str, **facts: Any) -> OneOfType:
    return OneOfType(alternatives=tuple(ref(name) for name in names), **facts)


def _written(choice: OneOfType) -> tuple[OneOfType, dict[str, Any]]:
    input_type = record({"shape": optional(choice)})
    provider = Provider(
        protocol="test", definitions=DEFINITIONS, capabilities=(Capability(id="a", input=input_type),)
    )
    changed, findings = add_discriminators(provider)
    assert {finding.level for finding in findings} <= {Level.RENAMED}
    assert [finding.pointer for finding in findings] in (
        [],
        ["/capabilities/0/input/properties/shape/type/extensions/json-schema-notation/classes"],
    )
    root = changed.capabilities[0].input
    written = properties_of(root)["shape"].type
    assert isinstance(written, OneOfType)
    schema = write_schema(written, DEFINITIONS)
    back, definitions = read_schema(schema)
    assert back == written
    assert canonical_json(write_schema(back, definitions)) == canonical_json(schema)
    return written, schema


CLASSES = {
    "two objects": _choice("Circle", "Square"),
    "an object and an all-of": _choice("Circle", "Merged"),
    "null as well": _choice("Circle", "Square", nullable=True),
    "alternatives in place": one_of(DEFINITIONS["Circle"], DEFINITIONS["Square"]),
    "a class that only its reference names": _choice("Circle", "Plain"),
    "classes that only their references name": _choice("Plain", "Other", qualified_name="a.Shape"),
    "a class with a name of its own and a text": one_of(ref("Circle"), string()),
}  # fmt: skip


def _noted(choice: OneOfType) -> Any:
    (note,) = schema_notes("Structure", choice, DEFINITIONS)
    return json.loads(note.removeprefix("[Structure: ").removesuffix("]"))


@pytest.mark.parametrize("choice", CLASSES.values(), ids=CLASSES)
@pytest.mark.parametrize(
    "schema_of", [lambda choice: _written(choice)[1], _noted], ids=["as a schema", "in a description"]
)
def test_classes_with_the_same_properties_stay_valid(
    choice: OneOfType, schema_of: Callable[[OneOfType], Any]
) -> None:
    validator = Draft202012Validator(schema_of(choice))
    classes = [_name_of(alternative) for alternative in choice.alternatives]
    assert validator.is_valid("x") is (None in classes)
    for name in filter(None, classes):
        assert validator.is_valid({"schemaType": name, "size": 1})
        assert not validator.is_valid({"schemaType": name, "size": "1"})
    assert not validator.is_valid({"schemaType": "a.Other", "size": 1})
    assert not validator.is_valid({"size": 1})
    assert validator.is_valid(None) is choice.nullable


def _name_of(alternative: Type) -> str | None:
    if isinstance(alternative, RefType):
        definition = DEFINITIONS[alternative.name]
        assert isinstance(definition, ObjectType | AllOfType)
        return definition.qualified_name or alternative.name
    return alternative.qualified_name if isinstance(alternative, ObjectType) else None


@pytest.mark.parametrize("name", ["a.Circle", "a.Square", "a.Merged"])
def test_a_call_with_a_class_name_is_that_class(name: str) -> None:
    value: Json = {"schemaType": name, "size": 1}
    fitter = ValueFitter(DEFINITIONS, exact=True)
    assert fitter.fit(value, _choice("Circle", "Square", "Merged")) == value
    with pytest.raises(UnfitValueError):
        fitter.fit({"schemaType": name, "size": "x"}, _choice("Circle", "Square", "Merged"))


BY_CLASS: dict[str, Any] = {"qualified_name": "a.Choice"}
OVERLAPPING_CHOICES = {
    "integers of 32 and 64 bits take an integer of both":
        (one_of(int32(), int64(), **BY_CLASS), [5, 2**40], ["x"], Level.RENAMED),
    "an object without any name takes what a class takes":
        (one_of(ref("Circle"), record(SIZE)), [{"schemaType": "a.Circle", "size": 1}], [{}], Level.WIDENED),
    "two objects without any name take the same object":
        (one_of(record(SIZE), record(SIZE), **BY_CLASS), [{"size": 1}], [{}, 5], Level.WIDENED),
    "one class twice takes its objects":
        (_choice("Circle", "Circle"), [{"size": 1}], [{}, 5], Level.WIDENED),
    "any value includes each other alternative":
        (one_of(AnyType(), string(), **BY_CLASS), ["x", 5], [], Level.WIDENED),
    "two alternatives that may be null take null":
        (one_of(string(nullable=True), int64(nullable=True), **BY_CLASS), [None, "x"], [{}], Level.RENAMED),
}  # fmt: skip


@pytest.mark.parametrize(
    ("choice", "accepted", "refused", "level"), OVERLAPPING_CHOICES.values(), ids=OVERLAPPING_CHOICES
)
def test_a_choice_by_class_between_alternatives_that_overlap_refuses_no_value_of_one(
    choice: OneOfType, accepted: list[Json], refused: list[Json], level: Level
) -> None:
    capability = Capability(id="a", input=record({"shape": optional(choice)}))
    provider = Provider(protocol="test", definitions=DEFINITIONS, capabilities=(capability,))
    changed, findings = add_discriminators(provider)
    assert [(finding.code, finding.level, finding.pointer) for finding in findings] == [
        ("choice-inclusive", level, "/capabilities/0/input/properties/shape/type/exclusive")
    ]
    written = properties_of(changed.capabilities[0].input)["shape"].type
    assert written == choice.changed({"exclusive": False})
    validator = Draft202012Validator(write_schema(written, DEFINITIONS))
    assert all(map(validator.is_valid, accepted))
    assert not any(map(validator.is_valid, refused))


OTHER_CHOICES = {
    "one alternative": _choice("Circle"),
    "a choice that is not exclusive": _choice("Circle", "Square", exclusive=False),
    "one alternative twice": _choice("Plain", "Plain"),
    "closed alternatives": _choice("Closed", "Own"),
    "plain types": one_of(string(), int64()),
    "references of a choice without a class": _choice("Plain", "Other"),
    "numbers that JSON Schema counts": one_of(int32(), int64()),
}  # fmt: skip


@pytest.mark.parametrize("choice", OTHER_CHOICES.values(), ids=OTHER_CHOICES)
def test_other_choices_are_written_as_they_are(choice: OneOfType) -> None:
    written, schema = _written(choice)
    assert written == choice
    assert "schemaType" not in canonical_json(schema.get("oneOf", []))


def test_only_alternatives_that_take_further_properties_state_a_class() -> None:
    _, schema = _written(_choice("Circle", "Closed"))
    stated = {
        "type": "object",
        "properties": {"schemaType": {"const": "a.Circle"}},
        "required": ["schemaType"],
    }
    assert schema["oneOf"] == [{"allOf": [{"$ref": "#/$defs/Circle"}, stated]}, {"$ref": "#/$defs/Closed"}]

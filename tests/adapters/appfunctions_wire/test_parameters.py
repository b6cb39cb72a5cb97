"""Parameters on the wire: what the shell's own tests say about its JSON, and the way there and back."""

import json
from contextlib import suppress
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, strategies as st

from adapters.appfunctions_wire.wire_types import DEFINITIONS, input_types_with_values
from droidgate_appfunctions import wire
from droidgate_appfunctions.wire import (
    MAX_DEPTH,
    SCHEMA_TYPE_KEY,
    AppFunctionWireError,
    DroppedValue,
    read_parameters,
    write_parameters,
)
from droidgate_mappings.model.types import (
    AllOfType,
    AnyType,
    ArrayType,
    ObjectType,
    OneOfType,
    OpaqueType,
    ScalarType,
    Type,
)
from droidgate_mappings.text.json_text import parse_json
from model_types import all_of, array, one_of, optional, record, ref, required
from requirements_of_tests import require

NO_DEFINITIONS: dict[str, Type] = {}


def parameters(**types: Type) -> ObjectType:
    return record({name: optional(item) for name, item in types.items()})


def scalar(kind: str, **facts: Any) -> ScalarType:
    return ScalarType.model_validate({"kind": kind, **facts})


def text_of(values: dict[str, Any], declared: Type, definitions: dict[str, Type] = NO_DEFINITIONS) -> str:
    return json.dumps(write_parameters(values, declared, definitions))


def problem_of(values: Any, declared: Type, definitions: dict[str, Type] = NO_DEFINITIONS) -> tuple[str, str]:
    with pytest.raises(AppFunctionWireError) as caught:
        write_parameters(values, declared, definitions)
    assert caught.value.token == "invalid_argument"
    return caught.value.problem, caught.value.pointer


def test_a_double_is_written_with_a_fraction_and_an_integer_without() -> None:
    declared = parameters(d=scalar("double"), f=scalar("float"), i=scalar("int32"), l=scalar("int64"))
    assert text_of({"d": 5, "f": 5, "i": 5, "l": 5}, declared) == '{"d": 5.0, "f": 5.0, "i": 5, "l": 5}'
    assert text_of({"i": 5.0, "l": Decimal("5.00")}, declared) == '{"i": 5, "l": 5}'


def test_a_list_of_doubles_is_a_list_of_doubles_although_its_first_is_whole() -> None:
    declared = parameters(values=array(scalar("double")))
    assert text_of({"values": [1, 2.7]}, declared) == '{"values": [1.0, 2.7]}'


def test_undeclared_parameters_go_by_their_own_kind_and_lists_by_one_kind() -> None:
    assert text_of({"a": [1, 2.5], "b": {"c": "d"}}, ObjectType()) == '{"a": [1.0, 2.5], "b": {"c": "d"}}'
    assert problem_of({"a": ["x", 1]}, ObjectType()) == ("wrong-kind", "/a")


def test_null_is_left_out() -> None:
    declared = parameters(a=scalar("string", nullable=True), b=ObjectType())
    assert write_parameters({"a": None, "b": {"c": None}}, declared, {}) == {"b": {}}


def test_an_empty_list_is_an_error_unless_the_caller_takes_losses() -> None:
    declared = parameters(tags=array(scalar("string")))
    assert problem_of({"tags": []}, declared) == ("empty-array", "/tags")
    losses: list[DroppedValue] = []
    assert write_parameters({"tags": []}, declared, {}, losses=losses) == {}
    assert losses == [DroppedValue("empty-array", "/tags")]


@pytest.mark.parametrize(
    ("value", "declared", "problem", "pointer"),
    [
        ([["x"]], array(array(scalar("string"))), "nested-array", "/p/0"),
        ([None], array(scalar("string", nullable=True)), "null-item", "/p/0"),
        ("AAAA", scalar("bytes"), "bytes", "/p"),
        ({}, OpaqueType(class_name="android.app.PendingIntent"), "opaque", "/p"),
        (True, scalar("int32"), "wrong-kind", "/p"),
        ("5", scalar("int32"), "wrong-kind", "/p"),
        (5.5, scalar("int64"), "wrong-kind", "/p"),
        (2**31, scalar("int32"), "out-of-range", "/p"),
        (2**63, scalar("int64"), "out-of-range", "/p"),
        (2**63, AnyType(), "out-of-range", "/p"),
        (1e39, scalar("float"), "out-of-range", "/p"),
        (Decimal("1e999999999"), scalar("double"), "out-of-range", "/p"),
        (float("nan"), scalar("double"), "out-of-range", "/p"),
        (10**400, scalar("double"), "out-of-range", "/p"),
        (Decimal("sNaN"), AnyType(), "out-of-range", "/p"),
        (None, ref("nobody"), None, ""),
        (1, ref("nobody"), "unknown-reference", "/p"),
        (object(), AnyType(), "wrong-kind", "/p"),
    ],
)
def test_what_the_shell_cannot_carry_is_refused_with_its_place(
    value: Any, declared: Type, problem: str | None, pointer: str
) -> None:
    if problem is None:
        assert write_parameters({"p": value}, parameters(p=declared), {}) == {}
    else:
        assert problem_of({"p": value}, parameters(p=declared)) == (problem, pointer)


def test_an_unknown_parameter_is_refused_with_the_names_there_are() -> None:
    with pytest.raises(AppFunctionWireError, match="there are: a") as caught:
        write_parameters({"b": 1}, parameters(a=scalar("int32")), {})
    assert (caught.value.problem, caught.value.pointer) == ("unknown-key", "/b")


def test_an_empty_name_is_refused() -> None:
    assert problem_of({"": 1}, ObjectType()) == ("empty-name", "/")


SHAPES: dict[str, Type] = {
    "com.x.Shape$Circle": ObjectType(
        qualified_name="com.x.Shape$Circle", properties={"radius": required(scalar("double"))}
    ),
    "com.x.Shape$Square": ObjectType(
        qualified_name="com.x.Shape$Square", properties={"side": required(scalar("double"))}
    ),
    "com.x.Shape$Dot": ObjectType(qualified_name="com.x.Shape$Dot"),
}
SHAPE = OneOfType(alternatives=tuple(ref(name) for name in SHAPES), qualified_name="com.x.Shape")


def test_a_one_of_says_which_alternative_it_is() -> None:
    declared = parameters(shape=OneOfType(alternatives=SHAPE.alternatives[:2]))
    written = write_parameters({"shape": {"side": 2}}, declared, SHAPES)
    assert written == {"shape": {"side": 2.0, SCHEMA_TYPE_KEY: "com.x.Shape$Square"}}
    assert read_parameters(written, declared, SHAPES) == written


def test_a_one_of_that_fits_several_has_to_be_named() -> None:
    declared = parameters(shape=SHAPE)
    problem = problem_of({"shape": {"side": 2}}, declared, SHAPES)
    assert problem == ("no-alternative", "/shape")
    named = {"side": 2, SCHEMA_TYPE_KEY: "com.x.Shape$Square"}
    written = write_parameters({"shape": named}, declared, SHAPES)
    assert written == {"shape": {"side": 2.0, SCHEMA_TYPE_KEY: "com.x.Shape$Square"}}


def test_a_one_of_that_fits_none_is_refused() -> None:
    declared = parameters(shape=OneOfType(alternatives=SHAPE.alternatives[:2]))
    for value in ({"colour": "red"}, {"side": "long"}, {}, {"side": 1, SCHEMA_TYPE_KEY: "com.x.Other"}):
        assert problem_of({"shape": value}, declared, SHAPES) == ("no-alternative", "/shape")
    with pytest.raises(AppFunctionWireError, match="none of the declared"):
        read_parameters({"shape": {"side": 1.0, SCHEMA_TYPE_KEY: "com.x.Other"}}, declared, SHAPES)


def test_what_an_alternative_loses_is_reported() -> None:
    alternatives = (parameters(tags=array(scalar("string"))), parameters(count=scalar("int32")))
    declared = parameters(choice=OneOfType(alternatives=alternatives))
    assert problem_of({"choice": {"tags": []}}, declared) == ("empty-array", "/choice/tags")
    losses: list[DroppedValue] = []
    assert write_parameters({"choice": {"tags": []}}, declared, {}, losses=losses) == {"choice": {}}
    assert losses == [DroppedValue("empty-array", "/choice/tags")]


def test_a_key_that_is_required_and_nullable_may_stay_away() -> None:
    item = ObjectType(qualified_name="a.One", properties={"a": required(scalar("string", nullable=True))})
    declared = parameters(choice=one_of(item, parameters(b=scalar("int32"))))
    named = {"choice": {SCHEMA_TYPE_KEY: "a.One"}}
    assert write_parameters(named, declared, {}) == named


def test_what_one_member_of_an_all_of_requires_is_required() -> None:
    members = (record({"a": required(scalar("string"))}), parameters(a=scalar("string"), b=scalar("string")))
    merged = AllOfType(members=members, qualified_name="a.All")
    declared = parameters(choice=one_of(merged))
    assert problem_of({"choice": {"b": "x"}}, declared) == ("no-alternative", "/choice")
    assert write_parameters({"choice": {"a": "x"}}, declared, {}) == {
        "choice": {"a": "x", SCHEMA_TYPE_KEY: "a.All"}
    }


def test_an_all_of_is_the_object_that_its_members_describe() -> None:
    parent = record({"a": optional(scalar("double"))})
    declared = parameters(p=all_of(ref("parent"), parameters(b=scalar("int32")), scalar("string")))
    assert write_parameters({"p": {"a": 1, "b": 2}}, declared, {"parent": parent}) == {
        "p": {"a": 1.0, "b": 2}
    }
    assert problem_of({"p": {"c": 1}}, declared, {"parent": parent}) == ("unknown-key", "/p/c")


def test_a_circle_of_references_ends() -> None:
    circle: dict[str, Type] = {"a": ref("b"), "b": all_of(ref("a"))}
    assert problem_of({"p": 1}, parameters(p=ref("a")), circle) == ("unknown-reference", "/p")


def test_a_value_nested_too_deep_ends() -> None:
    tree = record({"next": optional(ref("tree"))})
    value: dict[str, Any] = {}
    for _ in range(MAX_DEPTH + 2):
        value = {"next": value}
    assert problem_of(value, tree, {"tree": tree})[0] == "too-deep"


def test_alternatives_inside_alternatives_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "MAX_STEPS", 10_000)
    names = ("a", "b", "c")
    choice = OneOfType(alternatives=tuple(ref(name) for name in names))
    definitions: dict[str, Type] = {
        name: record({"next": optional(choice), "end": optional(scalar("int32"))}) for name in names
    }
    value: dict[str, Any] = {"end": "none"}
    for _ in range(40):
        value = {"next": value}
    assert problem_of({"p": value}, parameters(p=choice), definitions)[0] == "too-much"


def test_the_provider_reads_a_number_of_another_kind_as_an_error() -> None:
    with pytest.raises(AppFunctionWireError):
        read_parameters({"d": 5}, parameters(d=scalar("double")), {})
    with pytest.raises(AppFunctionWireError):
        read_parameters({"i": 5.0}, parameters(i=scalar("int32")), {})


def test_the_provider_does_not_get_what_the_shell_drops() -> None:
    declared = parameters(a=array(scalar("string")), b=scalar("string"), c=ArrayType(), d=ArrayType())
    assert read_parameters({"a": [], "b": None, "c": [None], "d": [[1]], "e": 1}, declared, {}) == {}


@pytest.mark.requires("corpus")
def test_the_shells_own_cases_read_as_its_tests_say() -> None:
    folder = require("corpus") / "appfunctions"
    prefix = "aosp__frameworks_base__AppSearchDataJsonConverterTest__"

    def case(name: str) -> Any:
        return parse_json((folder / f"{prefix}{name}.json").read_text())

    assert read_parameters(case("empty_arrays_ignored"), ObjectType(), {}) == {}
    for name in ("array_types", "nested_document"):
        document = case(name)
        assert read_parameters(document, ObjectType(), {}) == document
        assert write_parameters(document, ObjectType(), {}) == document


@given(input_types_with_values())
def test_values_come_back_through_the_json_text(case: tuple[ObjectType, dict[str, Any]]) -> None:
    declared, values = case
    written = write_parameters(values, declared, DEFINITIONS)
    assert read_parameters(parse_json(json.dumps(written)), declared, DEFINITIONS) == values


ANYTHING: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.decimals() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


@given(input_types_with_values(), ANYTHING)
def test_any_value_is_written_and_read_or_refused(
    case: tuple[ObjectType, dict[str, Any]], hostile: Any
) -> None:
    declared, values = case
    for given_values in (hostile, dict.fromkeys(values, hostile)):
        for cross in (write_parameters, read_parameters):
            with suppress(AppFunctionWireError):
                cross(given_values, declared, DEFINITIONS)

"""Results on the wire: outputs that real devices printed, and the way there and back."""

import json
import re
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, strategies as st

from adapters.appfunctions_wire.wire_types import DEFINITIONS, output_types_with_values
from droidgate_appfunctions.wire import RETURN_KEY, AppFunctionWireError, read_result, write_result
from droidgate_mappings.model.types import AnyType, OpaqueType, ScalarType, Type
from droidgate_mappings.text.json_text import parse_json
from model_types import array, one_of, optional, record, ref
from requirements_of_tests import require


def scalar(kind: str) -> ScalarType:
    return ScalarType.model_validate({"kind": kind})


def returned(*items: Any) -> dict[str, Any]:
    return {RETURN_KEY: list(items)}


STATS = record({name: optional(scalar("int32")) for name in ("completed", "pending", "total")})
TODO = record({name: optional(scalar("string")) for name in ("id", "task", "status")})
DONE = record({"success": optional(scalar("boolean")), "message": optional(scalar("string"))})


@pytest.mark.requires("corpus")
@pytest.mark.parametrize(
    ("case", "declared"), [("getTodoStats", STATS), ("getAllTodos", array(TODO)), ("completeTodo", DONE)]
)
def test_what_a_device_printed_is_unwrapped_by_the_declared_type(case: str, declared: Type) -> None:
    name = f"gptshubham595__Android-App-Functions-Ai-Task-Controller-Compose__cmd_execute_{case}_output.json"
    printed = parse_json((require("corpus") / "appfunctions" / name).read_text())
    read = read_result(printed, declared, {})
    todo = {"id": "1777205106079", "task": "Created from cmd app_function", "status": "PENDING"}
    expected = {
        "getTodoStats": {"completed": 1, "pending": 2, "total": 3},
        "getAllTodos": [todo],
        "completeTodo": {
            "success": True,
            "message": "Todo 'Created from cmd app_function' marked as completed.",
        },
    }
    assert read == expected[case]
    assert write_result(read, declared, {}) == printed


def test_the_declaration_distinguishes_one_value_and_a_list_of_one() -> None:
    assert read_result(returned("a"), scalar("string"), {}) == "a"
    assert read_result(returned("a"), array(scalar("string")), {}) == ["a"]
    assert read_result(returned(), array(scalar("string")), {}) == []


@pytest.mark.parametrize("declared", [None, scalar("null"), scalar("string"), OpaqueType(), AnyType()])
def test_an_empty_document_is_not_a_value(declared: Type | None) -> None:
    assert read_result({}, declared, {}) is None
    assert write_result(None, declared, {}) == {}


def test_without_a_declaration_single_values_are_unwrapped() -> None:
    document = returned({"id": ["x"], "tags": ["a", "b"], "inner": [{"n": [1]}]})
    assert read_result(document, None, {}) == {"id": "x", "tags": ["a", "b"], "inner": {"n": 1}}


def test_without_the_return_key_the_properties_are_the_value() -> None:
    assert read_result({"total": [3]}, STATS, {}) == {"total": 3}
    assert read_result({"total": [3], "list": [1, 2]}, None, {}) == {"total": 3, "list": [1, 2]}
    choice = one_of(STATS, TODO)
    assert read_result({"task": ["t"]}, choice, {}) == {"task": "t"}
    assert read_result({"total": [3]}, AnyType(), {}) == {"total": 3}
    with pytest.raises(AppFunctionWireError, match=f"has no {RETURN_KEY}"):
        read_result({"total": [3]}, scalar("int32"), {})


def test_a_float_that_arrives_widened_is_shortened_again() -> None:
    assert write_result(0.1, scalar("float"), {}) == returned(0.10000000149011612)
    assert read_result(returned(0.10000000149011612), scalar("float"), {}) == 0.1
    assert read_result(returned(0.10000000149011612), scalar("double"), {}) == 0.10000000149011612


def test_a_double_without_a_fraction_is_printed_as_org_json_prints_it() -> None:
    assert json.dumps(write_result(3.0, scalar("double"), {})) == json.dumps(returned(3))
    assert repr(read_result(returned(3), scalar("double"), {})) == "3.0"
    assert repr(write_result(1e19, scalar("double"), {})[RETURN_KEY][0]) == "1e+19"


def test_a_one_of_is_guessed_from_its_properties_and_states_its_class() -> None:
    choice = one_of(ref("com.x.Note"), ref("com.x.Id"))
    assert read_result(returned({"id": [5]}), choice, DEFINITIONS) == {"schemaType": "com.x.Id", "id": 5}
    note = returned({"title": ["t"], "tags": ["a"]})
    named_note = {"schemaType": "com.x.Note", "title": "t", "tags": ["a"]}
    assert read_result(note, choice, DEFINITIONS) == named_note
    named = {"id": 5, "schemaType": "com.x.Id"}
    assert write_result(named, choice, DEFINITIONS) == returned({"id": [5]})
    with pytest.raises(AppFunctionWireError, match="no alternative"):
        read_result(returned({"other": [5]}), choice, DEFINITIONS)


@pytest.mark.parametrize(
    ("document", "declared", "problem"),
    [
        ([], None, "not-an-object"),
        ("text", scalar("string"), "not-an-object"),
        ({RETURN_KEY: "bare"}, scalar("string"), "not-a-list"),
        (returned(1), scalar("string"), "wrong-kind"),
        (returned("a", "b"), scalar("string"), "wrong-kind"),
        (returned(2**31), scalar("int32"), "out-of-range"),
        (returned(["a"]), None, "nested-array"),
        (returned("[B@1a2b3c"), scalar("bytes"), "bytes"),
        (returned({"a": [1]}), ref("nobody"), "unknown-reference"),
        (returned({"total": 1}), STATS, "not-a-list"),
    ],
)
def test_a_response_that_does_not_fit_is_malformed(
    document: Any, declared: Type | None, problem: str
) -> None:
    with pytest.raises(AppFunctionWireError) as caught:
        read_result(document, declared, {})
    assert (caught.value.problem, caught.value.token) == (problem, "malformed_response")


@pytest.mark.parametrize(
    ("value", "declared", "problem"),
    [
        ([[1]], array(array(scalar("int32"))), "nested-array"),
        ([None], array(scalar("string")), "null-item"),
        ({"x": 1}, STATS, "unknown-key"),
        ("x", scalar("int32"), "wrong-kind"),
        ("AAAA", scalar("bytes"), "bytes"),
        ([{}], array(OpaqueType()), "opaque"),
    ],
)
def test_a_result_that_a_document_cannot_hold_is_refused(value: Any, declared: Type, problem: str) -> None:
    with pytest.raises(AppFunctionWireError) as caught:
        write_result(value, declared, {})
    assert caught.value.problem == problem


@given(output_types_with_values())
def test_results_come_back_through_the_json_text(case: tuple[Type, Any]) -> None:
    declared, value = case
    written = write_result(value, declared, DEFINITIONS)
    assert re.fullmatch(r"(\{\}|\{\"androidAppfunctionsReturnValue\": \[.*\]\})", json.dumps(written))
    assert read_result(parse_json(json.dumps(written)), declared, DEFINITIONS) == value


ANYTHING: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.decimals() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


@given(output_types_with_values(), ANYTHING)
def test_any_document_is_read_or_refused(case: tuple[Type, Any], hostile: Any) -> None:
    declared, _ = case
    for document in (hostile, {RETURN_KEY: hostile}, {RETURN_KEY: [hostile]}):
        for item in (declared, None):
            for cross in (read_result, write_result):
                with suppress(AppFunctionWireError):
                    cross(document, item, DEFINITIONS)

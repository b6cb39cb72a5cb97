"""Parameters and results as JSON, the shell's answers and failure tokens (reference appfunctions 5 and 6)."""

import json
from contextlib import suppress
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, strategies as st

from adapters.appfunctions_wire.wire_types import (
    DEFINITIONS,
    input_types_with_values,
    output_types_with_values,
)
from droidgate_appfunctions import wire
from droidgate_appfunctions.shell_calls import ShellOutcome, read_shell_output
from droidgate_appfunctions.wire import (
    MAX_DEPTH,
    RETURN_KEY,
    SCHEMA_TYPE_KEY,
    AppFunctionWireError,
    DroppedValue,
    can_be_written,
    read_result,
    write_parameters,
)
from droidgate_mappings.model.types import (
    AllOfType,
    AnyType,
    ArrayType,
    ObjectType,
    OneOfType,
    OpaqueType,
    Property,
    RefType,
    Type,
)
from droidgate_mappings.tables.app_functions import load_error_codes
from droidgate_mappings.tables.failure_tokens import (
    load_failure_tokens,
    read_failure,
    token_of_code,
    write_failure,
)
from droidgate_mappings.text.json_text import parse_json
from model_types import (
    all_of,
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
    record,
    ref,
    required,
    string,
)
from requirements_of_tests import require
from titled_rows import titled

NO_DEFINITIONS: dict[str, Type] = {}


def parameters(**types: Type) -> ObjectType:
    return record({name: optional(item) for name, item in types.items()})


def problem_of(values: Any, declared: Type, definitions: dict[str, Type] = NO_DEFINITIONS) -> tuple[str, str]:
    with pytest.raises(AppFunctionWireError) as caught:
        write_parameters(values, declared, definitions)
    assert caught.value.token == "invalid_argument"
    return caught.value.problem, caught.value.pointer


def returned(*items: Any) -> dict[str, Any]:
    return {RETURN_KEY: list(items)}


# Parameters

SHAPES: dict[str, Type] = {
    "com.x.Shape$Circle": record({"radius": required(float64())}, qualified_name="com.x.Shape$Circle"),
    "com.x.Shape$Square": record({"side": required(float64())}, qualified_name="com.x.Shape$Square"),
    "com.x.Shape$Dot": ObjectType(qualified_name="com.x.Shape$Dot"),
}
SHAPE = OneOfType(alternatives=tuple(ref(name) for name in SHAPES), qualified_name="com.x.Shape")
NAMED = parameters(shape=OneOfType(alternatives=SHAPE.alternatives[:2]))
A_SQUARE = {"side": 2, SCHEMA_TYPE_KEY: "com.x.Shape$Square"}
NUMBERS = parameters(d=float64(), f=float32(), i=int32(), l=int64())
ALL_OF = AllOfType(
    members=(record({"a": required(string())}), parameters(a=string(), b=string())), qualified_name="a.All"
)
A_ONE = record({"a": required(string(nullable=True))}, qualified_name="a.One")
COMBINED = {"parent": record({"a": optional(float64())})}
MERGED = parameters(p=all_of(ref("parent"), parameters(b=int32()), string()))


@titled(("values", "declared", "definitions", "written"), {
    "a double is written with a fraction and an integer without":
        ({"d": 5, "f": 5, "i": 5, "l": 5}, NUMBERS, {}, '{"d": 5.0, "f": 5.0, "i": 5, "l": 5}'),
    "a whole fraction is an integer": ({"i": 5.0, "l": Decimal("5.00")}, NUMBERS, {}, '{"i": 5, "l": 5}'),
    "a list of doubles is one although its first item is whole":
        ({"values": [1, 2.7]}, parameters(values=array(float64())), {}, '{"values": [1.0, 2.7]}'),
    "undeclared parameters go by their own kind and lists by one kind":
        ({"a": [1, 2.5], "b": {"c": "d"}}, ObjectType(), {}, '{"a": [1.0, 2.5], "b": {"c": "d"}}'),
    "null is left out":
        ({"a": None, "b": {"c": None}}, parameters(a=string(nullable=True), b=ObjectType()), {}, '{"b": {}}'),
    "null of an unknown reference is left out": ({"p": None}, parameters(p=ref("nobody")), {}, "{}"),
    "a one-of states which alternative it is": ({"shape": {"side": 2}}, NAMED, SHAPES,
         f'{{"shape": {{"side": 2.0, "{SCHEMA_TYPE_KEY}": "com.x.Shape$Square"}}}}'),
    "a one-of that fits several is the one that is named": ({"shape": A_SQUARE}, parameters(shape=SHAPE),
         SHAPES, f'{{"shape": {{"side": 2.0, "{SCHEMA_TYPE_KEY}": "com.x.Shape$Square"}}}}'),
    "a key that is required and nullable may stay away": ({"choice": {SCHEMA_TYPE_KEY: "a.One"}},
         parameters(choice=one_of(A_ONE, parameters(b=int32()))), {},
         f'{{"choice": {{"{SCHEMA_TYPE_KEY}": "a.One"}}}}'),
    "what one member of an all-of requires is enough": ({"choice": {"a": "x"}},
         parameters(choice=one_of(ALL_OF)), {}, f'{{"choice": {{"a": "x", "{SCHEMA_TYPE_KEY}": "a.All"}}}}'),
    "an all-of is the object that its members describe":
        ({"p": {"a": 1, "b": 2}}, MERGED, COMBINED, '{"p": {"a": 1.0, "b": 2}}'),
})  # fmt: skip
def test_parameters_are_written_as_the_shell_reads_them(
    values: dict[str, Any], declared: Type, definitions: dict[str, Type], written: str
) -> None:
    assert json.dumps(write_parameters(values, declared, definitions)) == written


CIRCLE: dict[str, Type] = {"a": ref("b"), "b": all_of(ref("a"))}
TAGS = parameters(tags=array(string()))
CHOICE = parameters(choice=OneOfType(alternatives=(TAGS, parameters(count=int32()))))


@titled(("values", "declared", "definitions", "problem"), {
    "a list in a list": ({"p": [["x"]]}, parameters(p=array(array(string()))), {}, ("nested-array", "/p/0")),
    "null in a list": ({"p": [None]}, parameters(p=array(string(nullable=True))), {}, ("null-item", "/p/0")),
    "bytes": ({"p": "AAAA"}, parameters(p=binary()), {}, ("bytes", "/p")),
    "an opaque value":
        ({"p": {}}, parameters(p=OpaqueType(class_name="android.app.PendingIntent")), {}, ("opaque", "/p")),
    "a boolean for an integer": ({"p": True}, parameters(p=int32()), {}, ("wrong-kind", "/p")),
    "a text for an integer": ({"p": "5"}, parameters(p=int32()), {}, ("wrong-kind", "/p")),
    "a fraction for a long": ({"p": 5.5}, parameters(p=int64()), {}, ("wrong-kind", "/p")),
    "an integer beyond 32 bits": ({"p": 2**31}, parameters(p=int32()), {}, ("out-of-range", "/p")),
    "a long beyond 64 bits": ({"p": 2**63}, parameters(p=int64()), {}, ("out-of-range", "/p")),
    "any number beyond 64 bits": ({"p": 2**63}, parameters(p=AnyType()), {}, ("out-of-range", "/p")),
    "a number beyond a float": ({"p": 1e39}, parameters(p=float32()), {}, ("out-of-range", "/p")),
    "a large exponent": ({"p": Decimal("1e999999999")}, parameters(p=float64()), {}, ("out-of-range", "/p")),
    "not a number": ({"p": float("nan")}, parameters(p=float64()), {}, ("out-of-range", "/p")),
    "an integer beyond a double": ({"p": 10**400}, parameters(p=float64()), {}, ("out-of-range", "/p")),
    "a signalling NaN": ({"p": Decimal("sNaN")}, parameters(p=AnyType()), {}, ("out-of-range", "/p")),
    "a reference to nothing": ({"p": 1}, parameters(p=ref("nobody")), {}, ("unknown-reference", "/p")),
    "references in a circle": ({"p": 1}, parameters(p=ref("a")), CIRCLE, ("unknown-reference", "/p")),
    "a value that is none of JSON": ({"p": object()}, parameters(p=AnyType()), {}, ("wrong-kind", "/p")),
    "a list of two kinds": ({"a": ["x", 1]}, ObjectType(), {}, ("wrong-kind", "/a")),
    "an empty name": ({"": 1}, ObjectType(), {}, ("empty-name", "/")),
    "an alternative that is not of a named class":
        ({"shape": {"side": 2}}, parameters(shape=SHAPE), SHAPES, ("no-alternative", "/shape")),
    **{f"an alternative that does not fit: {value}":
        ({"shape": value}, NAMED, SHAPES, ("no-alternative", "/shape"))
      for value in ({"colour": "red"}, {"side": "long"}, {}, {"side": 1, SCHEMA_TYPE_KEY: "com.x.Other"})},
    "a value of one member of an all-of":
        ({"choice": {"b": "x"}}, parameters(choice=one_of(ALL_OF)), {}, ("no-alternative", "/choice")),
    "a key that no member of an all-of has": ({"p": {"c": 1}}, MERGED, COMBINED, ("unknown-key", "/p/c")),
})  # fmt: skip
def test_a_value_that_the_shell_cannot_carry_is_refused_with_its_place(
    values: dict[str, Any], declared: Type, definitions: dict[str, Type], problem: tuple[str, str]
) -> None:
    assert problem_of(values, declared, definitions) == problem


@titled(("values", "declared", "kept", "place"), {
    "a list of the function": ({"tags": []}, TAGS, {}, "/tags"),
    "a list inside an alternative": ({"choice": {"tags": []}}, CHOICE, {"choice": {}}, "/choice/tags"),
})  # fmt: skip
def test_an_empty_list_is_an_error_unless_the_caller_takes_losses(
    values: dict[str, Any], declared: Type, kept: dict[str, Any], place: str
) -> None:
    assert problem_of(values, declared) == ("empty-array", place)
    losses: list[DroppedValue] = []
    assert write_parameters(values, declared, {}, losses=losses) == kept
    assert losses == [DroppedValue("empty-array", place)]


def test_an_unknown_parameter_is_refused_with_the_names_there_are() -> None:
    with pytest.raises(AppFunctionWireError, match="there are: a") as caught:
        write_parameters({"b": 1}, parameters(a=int32()), {})
    assert (caught.value.problem, caught.value.pointer) == ("unknown-key", "/b")


def test_a_value_that_is_nested_too_deep_is_refused() -> None:
    tree = record({"next": optional(ref("tree"))})
    value: dict[str, Any] = {}
    for _ in range(MAX_DEPTH + 2):
        value = {"next": value}
    assert problem_of(value, tree, {"tree": tree})[0] == "too-deep"


def test_alternatives_nested_in_each_other_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "MAX_STEPS", 10_000)
    names = ("a", "b", "c")
    choice = OneOfType(alternatives=tuple(ref(name) for name in names))
    definitions: dict[str, Type] = {
        name: record({"next": optional(choice), "end": optional(int32())}) for name in names
    }
    value: dict[str, Any] = {"end": "none"}
    for _ in range(40):
        value = {"next": value}
    assert problem_of({"p": value}, parameters(p=choice), definitions)[0] == "too-much"


@pytest.mark.requires("corpus")
def test_the_shells_own_cases_are_given_as_they_are() -> None:
    folder = require("corpus") / "appfunctions"
    prefix = "aosp__frameworks_base__AppSearchDataJsonConverterTest__"

    for name in ("array_types", "nested_document"):
        document = parse_json((folder / f"{prefix}{name}.json").read_text())
        assert write_parameters(document, ObjectType(), {}) == document


# Results

STATS = record({name: optional(int32()) for name in ("completed", "pending", "total")})
TODO = record({name: optional(string()) for name in ("id", "task", "status")})
DONE = record({"success": optional(boolean()), "message": optional(string())})
A_TODO = {"id": "1777205106079", "task": "Created from cmd app_function", "status": "PENDING"}
NOTE_OR_ID = one_of(ref("com.x.Note"), ref("com.x.Id"))
WIDENED = 0.10000000149011612


@pytest.mark.requires("corpus")
@titled(("case", "declared", "expected"), {
    "an object of counts": ("getTodoStats", STATS, {"completed": 1, "pending": 2, "total": 3}),
    "a list of objects": ("getAllTodos", array(TODO), [A_TODO]),
    "an object with a message": ("completeTodo",
     DONE, {"success": True, "message": "Todo 'Created from cmd app_function' marked as completed."}),
})  # fmt: skip
def test_what_a_device_printed_is_unwrapped_by_the_declared_type(
    case: str, declared: Type, expected: object
) -> None:
    name = f"gptshubham595__Android-App-Functions-Ai-Task-Controller-Compose__cmd_execute_{case}_output.json"
    printed = parse_json((require("corpus") / "appfunctions" / name).read_text())
    assert read_result(printed, declared, {}) == expected


@titled(("document", "declared", "value"), {
    "one value": (returned("a"), string(), "a"),
    "a list of one": (returned("a"), array(string()), ["a"]),
    "an empty list": (returned(), array(string()), []),
    **{f"an empty document is not a value of {declared and declared.kind}": ({}, declared, None)
       for declared in (None, null(), string(), OpaqueType(), AnyType())},
    "single values are unwrapped without a declaration":
        (returned({"id": ["x"], "tags": ["a", "b"], "inner": [{"n": [1]}]}), None,
         {"id": "x", "tags": ["a", "b"], "inner": {"n": 1}}),
    "without the return key the properties are the value": ({"total": [3]}, STATS, {"total": 3}),
    "properties without a declaration": ({"total": [3], "list": [1, 2]}, None, {"total": 3, "list": [1, 2]}),
    "properties of a choice": ({"task": ["t"]}, one_of(STATS, TODO), {"task": "t"}),
    "properties of any type": ({"total": [3]}, AnyType(), {"total": 3}),
    "a float that arrives widened is shortened again": (returned(WIDENED), float32(), 0.1),
    "a double is not shortened": (returned(WIDENED), float64(), WIDENED),
    "a one-of is guessed from its properties and states its class":
        (returned({"id": [5]}), NOTE_OR_ID, {"schemaType": "com.x.Id", "id": 5}),
    "another alternative of a one-of": (returned({"title": ["t"], "tags": ["a"]}), NOTE_OR_ID,
         {"schemaType": "com.x.Note", "title": "t", "tags": ["a"]}),
})  # fmt: skip
def test_a_result_is_read_by_its_declared_type(document: Any, declared: Type | None, value: Any) -> None:
    assert read_result(document, declared, DEFINITIONS) == value


def test_a_double_that_is_printed_without_a_fraction_stays_a_double() -> None:
    assert repr(read_result(returned(3), float64(), {})) == "3.0"


@titled(("document", "declared", "problem"), {
    "a list": ([], None, "not-an-object"),
    "a text": ("text", string(), "not-an-object"),
    "a bare value under the return key": ({RETURN_KEY: "bare"}, string(), "not-a-list"),
    "a bare property": (returned({"total": 1}), STATS, "not-a-list"),
    "a number for a string": (returned(1), string(), "wrong-kind"),
    "two values for one": (returned("a", "b"), string(), "wrong-kind"),
    "a number beyond 32 bits": (returned(2**31), int32(), "out-of-range"),
    "a list in a list": (returned(["a"]), None, "nested-array"),
    "a printed array of bytes": (returned("[B@1a2b3c"), binary(), "bytes"),
    "a reference to nothing": (returned({"a": [1]}), ref("nobody"), "unknown-reference"),
})  # fmt: skip
def test_a_response_that_does_not_fit_is_malformed(
    document: Any, declared: Type | None, problem: str
) -> None:
    with pytest.raises(AppFunctionWireError) as caught:
        read_result(document, declared, {})
    assert (caught.value.problem, caught.value.token) == (problem, "malformed_response")


@titled(("document", "declared", "message"), {
    "no value is returned": ({"total": [3]}, int32(), f"has no {RETURN_KEY}"),
    "no alternative fits": (returned({"other": [5]}), NOTE_OR_ID, "no alternative"),
})  # fmt: skip
def test_the_message_names_what_a_response_lacks(document: Any, declared: Type, message: str) -> None:
    with pytest.raises(AppFunctionWireError, match=message):
        read_result(document, declared, DEFINITIONS)


# Any value

ANYTHING: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.decimals() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


@given(input_types_with_values())
def test_values_have_json_text_of_their_kind(case: tuple[ObjectType, dict[str, Any]]) -> None:
    declared, values = case
    written = json.dumps(write_parameters(values, declared, DEFINITIONS), sort_keys=True)
    assert written == json.dumps(values, sort_keys=True)


def printed(value: Any) -> list[Any]:
    """Return a property's list as the shell prints it, without the class of a one-of."""
    if isinstance(value, list):
        return [item for inner in value for item in printed(inner)]
    if isinstance(value, dict):
        return [{name: printed(item) for name, item in value.items() if name != SCHEMA_TYPE_KEY}]
    return [int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 1e18 else value]


@given(output_types_with_values())
def test_results_are_read_back_from_the_output_of_the_shell(case: tuple[Type, Any]) -> None:
    declared, value = case
    document = parse_json(json.dumps({RETURN_KEY: printed(value)}))
    assert read_result(document, declared, DEFINITIONS) == value


@given(input_types_with_values(), ANYTHING)
def test_any_value_is_written_or_refused(case: tuple[ObjectType, dict[str, Any]], hostile: Any) -> None:
    declared, values = case
    for given_values in (hostile, dict.fromkeys(values, hostile)):
        with suppress(AppFunctionWireError):
            write_parameters(given_values, declared, DEFINITIONS)


@given(output_types_with_values(), ANYTHING)
def test_any_document_is_read_or_refused(case: tuple[Type, Any], hostile: Any) -> None:
    declared, _ = case
    for document in (hostile, {RETURN_KEY: hostile}, {RETURN_KEY: [hostile]}):
        for item in (declared, None):
            with suppress(AppFunctionWireError):
                read_result(document, item, DEFINITIONS)


# Failure tokens, whose codes are typed from reference appfunctions 5.1

TOKENS_OF_THE_DESIGN = (
    "unsupported_version unknown_capability invalid_argument denied needs_approval needs_user disabled "
    "unavailable timeout busy canceled interrupted backend_failure malformed_response"
)
NO_CATEGORY = (3000, 3501, 3999, 0, 999, 4000, -1, 1, 2, 3, 4)
"""Codes that are read as a failure of the backend; 1 to 4 are the numbers of the article."""


def test_the_table_has_the_tokens_of_the_design_and_no_others() -> None:
    assert list(load_failure_tokens()) == TOKENS_OF_THE_DESIGN.split()


@pytest.mark.parametrize(("code", "token"), [
    (1000, "denied"), (1001, "invalid_argument"), (1002, "disabled"), (1003, "unknown_capability"),
    (1500, "invalid_argument"), (1999, "invalid_argument"), (2000, "backend_failure"), (2001, "canceled"),
    (2002, "denied"), (2500, "backend_failure"), (3500, "needs_user"),
    *((code, "backend_failure") for code in NO_CATEGORY),
])  # fmt: skip
def test_a_code_is_read_as_its_token_or_its_categorys(code: int, token: str) -> None:
    assert token_of_code(code) == token


def test_every_token_has_a_known_code_and_an_exit_code_of_the_design() -> None:
    for failure_token in load_failure_tokens().values():
        assert failure_token.app_functions.write in load_error_codes()
        assert failure_token.exit_code in {5, 6}


def test_every_known_code_has_its_constant() -> None:
    numbers = {1000, 1001, 1002, 1003, 1500, 1501, 1502, 2000, 2001, 2002, 3000, 3500, 3501}
    assert set(load_error_codes()) == numbers


@titled(("message", "read"), {
    "a token and its message": ("denied: the user said no", ("denied", "the user said no")),
    "a token alone": ("denied", ("denied", "")),
    "spaces around the token are left out": ("  timeout : late", ("timeout", "late")),
    "a longer word is not a token": ("deniedly: no", (None, "deniedly: no")),
    "a token inside of a sentence is not one": ("a denied: no", (None, "a denied: no")),
    "an empty message has no token": ("", (None, "")),
    "only the first colon splits": ("busy: two calls: a, b", ("busy", "two calls: a, b")),
})  # fmt: skip
def test_a_message_is_split_at_its_token(message: str, read: tuple[str | None, str]) -> None:
    assert read_failure(message) == read


def test_a_message_is_written_with_its_token() -> None:
    assert write_failure("busy", "two calls: a, b") == "busy: two calls: a, b"
    with pytest.raises(KeyError):
        write_failure("odd", "x")


# The shell's answers, typed from the texts that reference appfunctions 5.3 and 6.2 list

FAILED = "Error executing app function: android.app.appfunctions.AppFunctionException: "
CODE = "Error executing app function: {} - a.b.AppFunctionException: no"
SEE = ". See logcat for more details. "
SPEAKS_OF_ERRORS = {RETURN_KEY: ["Error executing app function: 1001 - no"], "error": ["Timed out"]}


@titled(("text", "document"), {
    "an object is the response": (f'{{\n  "{RETURN_KEY}": [\n    "a\\/b"\n  ]\n}}\n', {RETURN_KEY: ["a/b"]}),
    "a result that speaks of errors is still a result": (json.dumps(SPEAKS_OF_ERRORS), SPEAKS_OF_ERRORS),
    "a notice of a user changes nothing": ("Invalid user ID: x. Using current user.\n{}\n", {}),
    "a notice of duration changes nothing": ("Invalid timeout duration: x. Using default of 30s.\n{}\n", {}),
    "a notice after the response changes nothing":
        ("{}\nNo PendingIntent found at extras key: property/androidAppfunctionsReturnValue\n", {}),
    "a list of documents is the list of returned documents": ('[{"a": ["b"]}]', {RETURN_KEY: [{"a": ["b"]}]}),
})  # fmt: skip
def test_an_answer_of_the_shell_is_a_response(text: str, document: dict[str, Any]) -> None:
    assert read_shell_output(text, 0) == ShellOutcome(document=document)
    assert not read_shell_output(text, 0).failed


@titled(("text", "status", "token", "code"), {
    "the release has no service": ("cmd: Can't find service: app_function", 20, "unavailable", None),
    "the service has no shell": ("No shell command implementation.", 255, "unavailable", None),
    "the shell lacks the command": ("Unknown command: execute-app-function", 255, "unavailable", None),
    "the caller is not the shell":
        ("Exception: java.lang.IllegalAccessError: Only allow shell or root", 255, "denied", None),
    "the shell lacks the option": ("Unknown option: --x", 255, "invalid_argument", None),
    "an argument is missing": ("Error: --package must be specified.", 255, "invalid_argument", None),
    "invalid JSON": ("Exception: org.json.JSONException: Unterminated object", 255, "invalid_argument", None),
    "a bad response": ("Failed to convert the function response to JSON.", 255, "malformed_response", None),
    "the call timed out": ("Timed out", 255, "timeout", None),
    "the call timed out after a document": ("{}\nTimed out", 255, "timeout", None),
    "code 1000 is denied, whatever the status": (CODE.format(1000), 0, "denied", 1000),
    "code 3500 needs the user": (CODE.format(3500), 255, "needs_user", 3500),
    "an unknown code is a failure of the app": (CODE.format(4711), 255, "backend_failure", 4711),
    "a function is disabled": (f"{FAILED}The app function is disabled{SEE}", 255, "disabled", 1002),
    "no function has the id": (f"{FAILED}App function not found with identifier: a#b under package: c{SEE}",
     255, "unknown_capability", 1003),
    "no activity has the function":
        (f"{FAILED}Function is not registered for the given AppFunctionActivityId.{SEE}",
     255, "unknown_capability", 1003),
    "Android denies the call": ("Exception: java.lang.SecurityException: no", 255, "denied", None),
    "the app throws an exception":
        ("Error executing app function: some.Exception: odd. See logcat", 255, "backend_failure", None),
    "a failure without a known text": ("Something else", 255, "backend_failure", None),
    "a success without a document": ("Something else", 0, "malformed_response", None),
    "a success without a text": ("", 0, "malformed_response", None),
    "a failure without a text": ("", 255, "malformed_response", None),
    "the document is cut off": ('{"a": [1}', 0, "malformed_response", None),
    "the document of an older release":
        ('App function executed successfully.\nFunction return:\nnamespace: ""', 0, "malformed_response",
        None),
})  # fmt: skip
def test_a_failure_gets_its_token(text: str, status: int, token: str, code: int | None) -> None:
    outcome = read_shell_output(text, status)
    assert (outcome.failed, outcome.token, outcome.code) == (True, token, code)
    assert outcome.message


@given(st.text(), st.integers(-1, 255))
def test_any_output_is_a_response_or_a_failure(text: str, status: int) -> None:
    outcome = read_shell_output(text, status)
    assert outcome.failed == (outcome.token in load_failure_tokens())


@given(st.recursive(st.none() | st.integers(), st.lists).map(str))
def test_lists_that_are_no_documents_are_read_or_refused(text: str) -> None:
    outcome = read_shell_output(text, 0)
    assert outcome.failed or outcome.document is not None


@pytest.mark.parametrize(("needed", "nullable", "expected"), [
    (True, False, False),
    (False, False, True),
    (True, True, True),
])  # fmt: skip
def test_a_list_whose_items_need_such_a_list_is_never_carried(
    *, needed: bool, nullable: bool, expected: bool
) -> None:
    steps = ArrayType(items=RefType(name="Item"), nullable=nullable)
    item = ObjectType(properties={"steps": Property(type=steps, required=needed)})
    definitions: dict[str, Type] = {"Item": item}
    items = ArrayType(items=RefType(name="Item"))
    declared = ObjectType(properties={"items": Property(type=items, required=True)})
    assert can_be_written(declared, definitions) is expected

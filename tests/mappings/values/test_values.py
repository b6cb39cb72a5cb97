"""Values against declared types: what fits, what is coerced, what is refused; patterns and long numbers."""

import re
from collections.abc import Mapping
from contextlib import suppress
from datetime import date
from decimal import Decimal
from pathlib import PosixPath
from typing import Any

import jsonschema
import pytest
from hypothesis import given, strategies as st

from droidgate_mappings.json_schema import read_schema
from droidgate_mappings.model.capability import Capability
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.model.types import AnyType, ObjectType, OpaqueType, Property, Type
from droidgate_mappings.values.coercion import (
    MAX_DEPTH,
    UnfitValueError,
    ValueFitter,
    argument_problems,
    find_violation,
    fit_arguments,
    fit_result,
)
from droidgate_mappings.values.failures import CallError
from droidgate_mappings.values.patterns import (
    MAX_PATTERN,
    MAX_STATES,
    UnsupportedPatternError,
    compile_pattern,
)
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
    record,
    ref,
    required,
    string,
)

KEY = st.sampled_from(["a", "b", "c"])
NUMBERS = st.integers(-5, 5) | st.sampled_from([0.5, -2.5, 1.0, 2**31, -(2**40)])
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.text("ab1", max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEY, inner, max_size=3),
    max_leaves=8,
)


def typed(kind: str, always: dict[str, Any] | None = None, **words: Any) -> st.SearchStrategy[dict[str, Any]]:
    """Return schemas of a type with some of these words."""
    return st.fixed_dictionaries({"type": st.just(kind), **(always or {})}, optional=words)


def schemas() -> st.SearchStrategy[dict[str, Any]]:
    """JSON Schemas of which everything is enforced, so that a validator of the standard can be asked."""
    upto_two, bounds, closed = st.integers(0, 2), st.integers(-3, 3), st.just(value=False)
    enums = st.lists(st.sampled_from(["a", "b", "ab"]), min_size=1, max_size=2, unique=True)
    patterns = st.sampled_from(["^a", "b$", "1", "^[ab]+$"])
    strings = typed("string", minLength=upto_two, maxLength=st.integers(0, 3), pattern=patterns, enum=enums)
    numbers = typed(
        "number",
        minimum=bounds,
        maximum=bounds,
        exclusiveMinimum=bounds,
        exclusiveMaximum=st.sampled_from([0.5, 2, 3]),
        multipleOf=st.sampled_from([0.5, 1, 2, 0.1]),
    )
    others: list[dict[str, Any]] = [{"type": "boolean"}, {"type": ["string", "null"]}, {}]
    scalars: st.SearchStrategy[dict[str, Any]] = strings | numbers | st.sampled_from(others)

    def grow(inner: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
        counts = {"minItems": upto_two, "maxItems": upto_two, "uniqueItems": st.booleans()}
        arrays = typed("array", {"items": inner}, **counts)
        names = st.lists(KEY, max_size=2, unique=True)
        limits = {"required": names, "additionalProperties": closed, "maxProperties": st.integers(0, 3)}
        objects = typed("object", {"properties": st.dictionaries(KEY, inner, max_size=3)}, **limits)
        several = st.lists(inner, min_size=1, max_size=3)
        choices = st.one_of(*(st.fixed_dictionaries({word: several}) for word in ("oneOf", "anyOf", "allOf")))
        return arrays | objects | choices

    return st.recursive(scalars, grow, max_leaves=5)


@given(schema=schemas(), value=VALUES)
def test_a_value_that_is_not_coerced_fits_exactly_where_a_validator_accepts_it(
    schema: dict[str, Any], value: Any
) -> None:
    declared, definitions = read_schema(schema)
    expected = jsonschema.Draft202012Validator(schema).is_valid(value)
    try:
        fitted = ValueFitter(definitions, exact=True).fit(value, declared)
    except UnfitValueError:
        assert not expected or _has_float_multiple(schema)
    else:
        assert fitted == value
        assert expected or _has_float_multiple(schema)


def _has_float_multiple(schema: Any) -> bool:
    """The validator divides by 0.1 in binary, this library in decimal: both are allowed to."""
    if isinstance(schema, Mapping):
        return schema.get("multipleOf") == 0.1 or any(map(_has_float_multiple, schema.values()))
    return isinstance(schema, list) and any(map(_has_float_multiple, schema))


def capability(**properties: Property) -> Capability:
    return Capability(id="call", input=record(properties))


SPELLED = {
    "a boolean": (boolean(), "true", True),
    "a boolean in capitals": (boolean(), "FALSE", False),
    "an integer": (int32(), "12", 12),
    "the smallest of 64 bits": (int64(), "-9223372036854775808", -(2**63)),
    "a fraction": (float64(), "1.5e3", 1500.0),
    "a fraction without a point": (float64(), "7", 7),
    "a list": (array(int32()), '["1", 2]', [1, 2]),
    "an object": (ObjectType(), '{"a": 1}', {"a": 1}),
}  # fmt: skip


@pytest.mark.parametrize(("declared", "given_value", "expected"), SPELLED.values(), ids=SPELLED)
def test_a_text_that_spells_the_declared_kind_is_read_as_it_and_noted(
    declared: Type, given_value: str, expected: Any
) -> None:
    fitted = fit_arguments({"x": given_value}, capability(x=required(declared)), {})
    assert fitted.values == {"x": expected}
    assert type(fitted.values["x"]) is type(expected)
    assert fitted.coercions
    with pytest.raises(UnfitValueError):
        ValueFitter({}, exact=True).fit(given_value, declared)


REFUSED_VALUES = {
    "a number for a string": (string(), 5),
    "null for a string": (string(), None),
    "another word for a boolean": (boolean(), "yes"),
    "a number for a boolean": (boolean(), 1),
    "a boolean for an integer": (int32(), True),
    "a fraction for an integer": (int32(), 1.5),
    "a text of a fraction for an integer": (int32(), "1.0"),
    "a text of another base for an integer": (int32(), "0x10"),
    "a text of other digits for an integer": (int32(), "١"),
    "an integer beyond 32 bits": (int32(), 2**31),
    "an integer below 32 bits": (int32(), -(2**31) - 1),
    "an exponent for an integer": (int32(), Decimal("1E+1000000000")),
    "a number beyond a float": (float32(), 1e39),
    "a number beyond a double": (float64(), 10**400),
    "not a number": (float64(), "NaN"),
    "a text that is not base64": (binary(), "not base64!"),
    "zero for null": (null(), 0),
    "an object for a list": (array(int32()), {"0": 1}),
    "a text of a list that does not end": (array(int32()), "[1"),
    "a list for an object": (ObjectType(), [1]),
    "a value for what JSON cannot say": (OpaqueType(class_name="android.app.PendingIntent"), {}),
    "a value where nothing fits": (AnyType(boolean=False), 1),
    "a reference to nothing": (ref("nowhere"), 1),
    "a value outside of the enum": (string(enum=("a", "b")), "c"),
    "a number below the minimum": (int32(keywords={"minimum": 1}), 0),
    "a text outside of the pattern": (string(pattern="^[a-z]+$"), "A"),
    "two letters beyond the basic plane": (string(keywords={"maxLength": 1}), "😀😀"),
    "a value of no alternative": (one_of(int32(), string(pattern="^a")), "b"),
    "a value of two alternatives": (one_of(int32(), int64()), 1),
    "a value of one member of an all-of alone": (all_of(int32(), int32(keywords={"maximum": 3})), 4),
}  # fmt: skip


@pytest.mark.parametrize(("declared", "given_value"), REFUSED_VALUES.values(), ids=REFUSED_VALUES)
def test_what_does_not_fit_is_refused_with_its_pointer(declared: Type, given_value: Any) -> None:
    with pytest.raises(CallError, match=r"^invalid_argument: /x: ") as caught:
        fit_arguments({"x": given_value}, capability(x=required(declared)), {})
    assert caught.value.failure.token == "invalid_argument"


NULLABLE = string(nullable=True)


@pytest.mark.parametrize(("properties", "arguments", "values", "coerced"), [
    pytest.param({"x": required(int32()), "y": required(int32())}, {"x": 3.0, "y": Decimal("4E+1")},
        {"x": 3, "y": 40}, [], id="an integer may be written as a number without fraction"),
    pytest.param({"x": required(one_of(string(), array(AnyType())))}, {"x": ((1,), 2)}, {"x": [[1], 2]}, [],
        id="a tuple is a list"),
    pytest.param({"a": required(int32()), "b": required(int32())}, {"b": 1, "a": 2}, {"a": 2, "b": 1}, [],
        id="values come in the declared order"),
    pytest.param({"x": optional(string()), "y": optional(NULLABLE)}, {"x": None, "y": None}, {"y": None},
        ["/x"], id="null is a value for a nullable parameter and not for an optional one"),
    pytest.param({"x": required(one_of(int32(), string()))}, {"x": "12"}, {"x": "12"}, [],
        id="the exact alternative is taken before one that needs coercion"),
    pytest.param({"x": required(string(keywords={"maxLength": 2}))}, {"x": "😀😀"}, {"x": "😀😀"}, [],
        id="a text of the greatest length is taken"),
])  # fmt: skip
def test_values_are_coerced_only_where_they_have_to(
    properties: dict[str, Property], arguments: dict[str, Any], values: dict[str, Any], coerced: list[str]
) -> None:
    fitted = fit_arguments(arguments, capability(**properties), {})
    assert repr(fitted.values) == repr(values)
    assert [coercion.pointer for coercion in fitted.coercions] == coerced


MANY = tuple(f"parameter{item:02}" for item in range(23))
FIRST_OF_MANY = ", ".join(f'"{name}"' for name in MANY[:20])


@pytest.mark.parametrize(("name", "declared", "reported"), [
    ("titel", ("title", "content"), 'did you mean "title"?'),
    ("Title", ("title", "content"), 'did you mean "title"?'),
    ("note-id", ("noteId", "kind"), 'did you mean "noteId"?'),
    ("contnt", ("title", "content"), 'did you mean "content"?'),
    ("contents", ("title", "content"), 'did you mean "content"?'),
    ("first", ("firstly", "fist", "fir_st"), 'did you mean "fir_st" or "fist" or "firstly"?'),
    ("date_5", ("date_1", "date_2", "date_3", "date_4"), 'did you mean "date_1" or "date_2" or "date_3"?'),
    ("z", ("a", "title"), 'the parameters are "a", "title"'),
    ("body", ("a", "title"), 'the parameters are "a", "title"'),
    ("x" * 65, ("a", "title"), 'the parameters are "a", "title"'),
    ("", ("a", "title"), 'the parameters are "a", "title"'),
    ("z", (), "the capability has no parameters"),
    ("zzz", MANY, f"the parameters are {FIRST_OF_MANY} and 3 more"),
], ids=lambda value: str(value)[:40])  # fmt: skip
def test_an_undeclared_name_is_refused_with_the_nearest_parameters_or_all(
    name: str, declared: tuple[str, ...], reported: str
) -> None:
    properties = {item: required(int32()) for item in declared}
    arguments: dict[str, Json] = {**dict.fromkeys(declared, 1), name: 1}
    with pytest.raises(CallError) as refused:
        fit_arguments(arguments, capability(**properties), {})
    assert (refused.value.failure.token, refused.value.pointer) == ("invalid_argument", f"/{name}")
    assert refused.value.failure.text == f"/{name}: not a parameter; {reported}"


@pytest.mark.parametrize("declared", [
    *(record(properties, keywords={"additionalProperties": allowing})
        for allowing in (True, {"type": "integer"}, {}) for properties in ({}, {"a": required(int32())})),
    # An input that is not an object lists no names.
    AnyType(),
], ids=["true", "true, next to another", "integers", "integers, next to another",
    "any", "any, next to another", "no object"])  # fmt: skip
def test_an_input_that_allows_further_names_takes_them(declared: Type) -> None:
    arguments = {"z": 0, **({"a": 1} if isinstance(declared, ObjectType) and declared.properties else {})}
    assert fit_arguments(arguments, Capability(id="c", input=declared), {}).values == arguments


def test_a_missing_required_value_is_refused_unless_it_may_be_null() -> None:
    with pytest.raises(CallError, match="'x' is required and missing"):
        fit_arguments({}, capability(x=required(string())), {})
    nullable = required(string(nullable=True))
    assert fit_arguments({}, capability(x=nullable), {}).coercions


def test_a_recursive_type_is_followed_and_bounded() -> None:
    node = record({"next": optional(ref("node"))})
    deep: dict[str, Any] = {}
    for _ in range(MAX_DEPTH + 2):
        deep = {"next": deep}
    assert fit_arguments({"x": {"next": {}}}, capability(x=required(ref("node"))), {"node": node}).values
    with pytest.raises(CallError, match="nested"):
        fit_arguments({"x": deep}, capability(x=required(ref("node"))), {"node": node})


def test_alternatives_nested_in_each_other_are_refused() -> None:
    nest: Type = string()
    for _ in range(40):
        nest = any_of(nest, nest)
    with pytest.raises(CallError, match="too many alternatives"):
        fit_arguments({"x": 1}, capability(x=required(nest)), {})


def test_a_result_is_fitted_and_one_that_does_not_fit_is_a_malformed_response() -> None:
    item = Capability(id="call", output=record({"days": required(int32())}))
    fitted = fit_result({"days": "3"}, item, {})
    assert fitted.value == {"days": 3}
    assert fitted.coercions
    with pytest.raises(CallError) as caught:
        fit_result({"days": "three"}, item, {})
    assert caught.value.failure.token == "malformed_response"
    assert caught.value.pointer == "/days"


def test_a_result_without_a_declaration_is_taken_as_it_is_and_a_void_has_none() -> None:
    assert fit_result([1], Capability(id="call"), {}).value == [1]
    void = Capability(id="call", output=null())
    assert fit_result({}, void, {}).coercions == ()
    assert fit_result("done", void, {}).value is None
    assert fit_result("done", void, {}).coercions


def test_every_problem_of_the_arguments_is_found_with_its_pointer() -> None:
    item = record({"name": required(string())}, keywords={"additionalProperties": False})
    tool = capability(count=required(int32()), title=required(string()), items=optional(array(item)))
    values = {"cout": 1, "title": 2, "items": [{"name": "x"}, {"name": 3, "more": 1}, {}, 5]}
    problems = argument_problems(values, tool, {})
    pointers = ["/cout", "/title", "/items/1/name", "/items/1/more", "/items/2", "/items/3", ""]
    assert [problem.pointer for problem in problems] == pointers
    with pytest.raises(CallError) as raised:
        fit_arguments(values, tool, {})
    assert raised.value.message == problems[0].message


@pytest.mark.parametrize(("declared", "given_value", "words"), [
    (string(), PosixPath("x"), "a text is declared and a value of Python's type PosixPath is given"),
    (int32(), date(2026, 1, 2), "an integer is declared and a value of Python's type date is given"),
    (boolean(), b"true", "a boolean is declared and a value of Python's type bytes is given"),
    (array(int32()), {1}, "a list is declared and a value of Python's type set is given"),
    (AnyType(), {1}, "a JSON value is declared and a value of Python's type set is given"),
    (string(), 1.5, "a text is declared and a number is given"),
    (string(), Decimal(1), "a text is declared and a number is given"),
])  # fmt: skip
def test_a_value_that_json_does_not_have_is_named_by_its_python_type(
    declared: Type, given_value: Any, words: str
) -> None:
    (problem,) = argument_problems({"x": given_value}, capability(x=required(declared)), {})
    assert problem.message == f"invalid_argument: /x: {words}"


FITTING = {
    "none": {},
    "a number": {"count": 1},
    "a text of a number": {"count": "1"},
    "null": {"count": None},
}  # fmt: skip


@pytest.mark.parametrize("values", FITTING.values(), ids=FITTING)
def test_arguments_that_fit_have_no_problems(values: dict[str, Json]) -> None:
    assert argument_problems(values, capability(count=optional(int32())), {}) == ()


LONG = "1234567890123456789012345678901"


COMPARED = {
    "a long odd number is not even": ({"multipleOf": 2}, Decimal(f"{LONG}E+0"), False),
    "a long even number is even": ({"multipleOf": 2}, Decimal(f"{LONG[:-1]}2"), True),
    "a long fraction is not in hundredths": ({"multipleOf": Decimal("0.01")}, Decimal(f"0.{LONG}"), False),
    "1.30 is in tenths": ({"multipleOf": Decimal("0.1")}, Decimal("1.30"), True),
    "one number written twice":
        ({"uniqueItems": True}, [Decimal(f"0.{LONG}"), Decimal(f"0.{LONG}2"), Decimal(f"0.{LONG}0")], False),
    "two long fractions": ({"uniqueItems": True}, [Decimal(f"0.{LONG}"), Decimal(f"0.{LONG}2")], True),
    "100 in two notations": ({"uniqueItems": True}, [100, Decimal("1E+2")], False),
    "one, zero and their likes": ({"uniqueItems": True}, [1, -1, 0, True, "1"], True),
}  # fmt: skip


@pytest.mark.parametrize(("keywords", "value", "fits"), COMPARED.values(), ids=COMPARED)
def test_numbers_are_compared_digit_for_digit(keywords: dict[str, Any], value: Any, fits: Any) -> None:
    assert (find_violation(value, AnyType(keywords=keywords)) is None) is fits


ATOMS = [
    "a", "b", "0", "_", "[a-c]", "[^a]", "[0-9_]", r"\d", r"\w", r"\D", r"\W", r"\.", r"\-", r"\x41", "é",
]  # fmt: skip


def patterns() -> st.SearchStrategy[str]:
    """Patterns that Python's engine understands as ECMA-262 does, on text of one line."""

    def grow(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        group = st.builds("(?:{})".format, inner) | st.builds("({})".format, inner)
        repeat = st.sampled_from(["*", "+", "?", "{2}", "{1,}", "{0,3}", "*?", "+?"])
        return st.one_of(
            st.builds("{}{}".format, group, repeat),
            st.builds("{}|{}".format, inner, inner),
            st.builds("{}{}".format, inner, inner),
        )

    body = st.recursive(st.sampled_from(ATOMS), grow, max_leaves=6)
    return st.builds("{}{}{}".format, st.sampled_from(["", "^"]), body, st.sampled_from(["", "$"]))


@given(pattern=patterns(), text=st.text(st.sampled_from("abcA0_.-é x"), max_size=8))
def test_a_pattern_matches_what_pythons_engine_does_where_both_mean_the_same(pattern: str, text: str) -> None:
    try:
        expected = re.search(pattern, text, re.ASCII) is not None
    except re.error:
        return
    assert compile_pattern(pattern).matches(text) is expected


@pytest.mark.parametrize(("pattern", "text", "expected"), [
    ("^a$", "a\n", False),
    ("^.$", "\u2028", False),
    ("^.$", "\x85", True),
    (r"^\d$", "٣", False),
    (r"^\w$", "é", False),
    (r"^\s$", "\ufeff", True),
    (r"^\s$", "\x1c", False),
    ("^.$", "😀", True),
    (r"^\u{1F600}$", "😀", True),
    (r"^[\u{1F600}-\u{1F64F}]$", "😀", True),
    ("^[^]$", "\n", True),
    ("[]", "a", False),
    (r"^[\b]$", "\b", True),
    ("^a{2,3}$", "aaaa", False),
    ("(?<year>[0-9]{4})-[0-9]{2}", "on 2026-11-21", True),
    ("", "", True),
    ("^(a|b|)$", "", True),
])  # fmt: skip
def test_a_pattern_means_what_ecma_262_says_where_engines_differ(
    pattern: str, text: str, *, expected: bool
) -> None:
    assert compile_pattern(pattern).matches(text) is expected


@pytest.mark.parametrize(
    "pattern",
    [
        r"(a)\1", "(?=a)", "(?!a)", "(?<=a)", "(?<!a)", "(?i)a", r"\ba\b", r"\p{L}", "a**", "*a", "a{2", "(a",
        "a)", "[a", "[z-a]", r"[\d-z]", r"\ud83d", r"\q", "^*", "a{2000}", "(?<1x>a)", "\\", "a{3,2}", r"\cA",
        # Beyond the bounds of length, states and depth.
        "a" * (MAX_PATTERN + 1), "(a{1000}){1000}", "a{1000}" * (MAX_STATES // 500), "(" * 60 + ")" * 60,
    ], ids=lambda pattern: pattern[:20],
)  # fmt: skip
def test_what_is_outside_the_subset_is_refused(pattern: str) -> None:
    with pytest.raises(UnsupportedPatternError):
        compile_pattern(pattern)


def test_a_pattern_that_makes_backtracking_engines_run_for_ever_ends() -> None:
    assert not compile_pattern("^(a+)+$").matches("a" * 5_000 + "b")


def test_a_text_too_long_for_its_pattern_is_refused_instead_of_left_running() -> None:
    with pytest.raises(UnsupportedPatternError):
        compile_pattern("a{1000}").matches("a" * 100_000)


@given(text=st.text(max_size=30))
def test_any_text_as_a_pattern_compiles_or_is_refused(text: str) -> None:
    with suppress(UnsupportedPatternError):
        compile_pattern(text).matches(text)

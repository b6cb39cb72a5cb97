"""docs/shim-engine.md 5 and the reference's GenericDocument rules (appfunctions 2.c, 4), typed by hand."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given

from adapters.appfunctions_wire.wire_types import DEFINITIONS, input_types_with_values
from droidgate_appfunctions.wire import AppFunctionWireError
from droidgate_appfunctions.wire_documents import KIND_OF_SCALAR, read_document, write_document
from droidgate_mappings.model.types import (
    AllOfType,
    AnyType,
    ArrayType,
    ObjectType,
    OneOfType,
    OpaqueType,
    Property,
    RefType,
    ScalarType,
    Type,
)
from droidgate_mappings.values.coercion import ValueFitter

RETURN = "androidAppfunctionsReturnValue"


def _fields(**types: Type) -> ObjectType:
    return ObjectType(properties={name: Property(type=type_) for name, type_ in types.items()})


STRING, INT, LONG = (ScalarType(kind=kind) for kind in ("string", "int32", "int64"))
FLOAT, DOUBLE, BYTES = (ScalarType(kind=kind) for kind in ("float", "double", "bytes"))
DATE = ObjectType(
    properties={"year": Property(type=INT, required=True)}, qualified_name="java.time.LocalDate"
)
CAT = ObjectType(properties={"lives": Property(type=INT)}, qualified_name="a.Cat")
DOG = ObjectType(properties={"tail": Property(type=STRING), "lives": Property(type=INT)})
PETS = OneOfType(alternatives=(CAT, RefType(name="Dog")))
BOTH = AllOfType(members=(RefType(name="Date"), CAT), qualified_name="a.Both")
NAMES = {"Dog": DOG, "Date": DATE}


def _values(kind: str, *values: Any) -> dict[str, Any]:
    return {"kind": kind, "values": list(values)}


@pytest.mark.parametrize(
    ("declared", "value", "written"),
    [
        (INT, Decimal("5.0"), _values("long", 5)),
        (LONG, 9_223_372_036_854_775_807, _values("long", 9_223_372_036_854_775_807)),
        (LONG, Decimal("9223372036854775807.0"), _values("long", 9_223_372_036_854_775_807)),
        (DOUBLE, 5, _values("double", 5)),
        (DOUBLE, Decimal("0.10000000000000000000001"), _values("double", Decimal("0.1"))),
        (FLOAT, Decimal("0.1"), _values("double", Decimal("0.1"))),
        (BYTES, "AAE=", _values("bytes", "AAE=")),
        (ArrayType(items=STRING), ["a", "b"], _values("string", "a", "b")),
        (ArrayType(items=FLOAT), [], _values("double")),
        (ArrayType(items=DATE), [], _values("document")),
        (RefType(name="Date"), {"year": 2026}, _values("document", {
            "schemaType": "java.time.LocalDate", "properties": {"year": _values("long", 2026)},
        })),
        (DOG, {}, _values("document", {"schemaType": "", "properties": {}})),
        (BOTH, {"year": 1, "lives": 9}, _values(
            "document",
            {"schemaType": "a.Both", "properties": {"year": _values("long", 1), "lives": _values("long", 9)}},
        )),
        (PETS, {"schemaType": "a.Cat", "lives": 9}, _values("document", {
            "schemaType": "a.Cat", "properties": {"lives": _values("long", 9)},
        })),
        (PETS, {"schemaType": "Dog", "lives": 9}, _values("document", {
            "schemaType": "Dog", "properties": {"lives": _values("long", 9)},
        })),
        (PETS, {"tail": "long"}, _values("document", {
            "schemaType": "Dog", "properties": {"tail": _values("string", "long")},
        })),
        (OneOfType(alternatives=(STRING, ArrayType(items=STRING))), ["a"], _values("string", "a")),
        # By their own kind, where nothing is declared.
        (AnyType(), ["a"], _values("string", "a")),
        (AnyType(), [1, Decimal("2.5")], _values("double", 1, Decimal("2.5"))),
        (AnyType(), Decimal("1E+22"), _values("double", Decimal("1E+22"))),
        (AnyType(), True, _values("boolean", True)),
        (AnyType(), {"a": {"b": 1}}, _values("document", {"schemaType": "", "properties": {
            "a": _values("document", {"schemaType": "", "properties": {"b": _values("long", 1)}}),
        }})),
    ],
)  # fmt: skip
def test_a_value_is_written_as_its_declared_type(declared: Type, value: Any, written: dict[str, Any]) -> None:
    document = write_document({"p": value}, _fields(p=declared), NAMES)
    assert document == {"schemaType": "", "properties": {"p": written}}


@pytest.mark.parametrize("value", [None, []])
def test_null_and_an_empty_list_of_nothing_declared_are_no_property(value: Any) -> None:
    assert write_document({"p": value}, _fields(p=AnyType()), {}) == {"schemaType": "", "properties": {}}


@pytest.mark.parametrize(
    ("declared", "value"),
    [
        (ArrayType(), [[1]]),
        (ArrayType(items=ArrayType(items=INT)), [[1]]),
        (AnyType(), [None]),
        (ArrayType(items=STRING), [None]),
        (AnyType(), ["a", 1]),
        (AnyType(), {"": 1}),
        (AnyType(), Decimal("1E+400")),
        (DATE, {"year": 1, "month": 1}),
        (PETS, {"lives": 9}),
        (PETS, {"wings": 2}),
        (INT, 2**31),
        (INT, Decimal("1.5")),
        (INT, "5"),
        (INT, True),
        (FLOAT, Decimal("1e39")),
        (BYTES, "a"),
        (STRING, ["a"]),
        (ArrayType(items=STRING), "a"),
        (OpaqueType(), "x"),
    ],
)
def test_what_a_document_cannot_say_is_an_invalid_argument(declared: Type, value: Any) -> None:
    with pytest.raises(AppFunctionWireError) as raised:
        write_document({"p": value}, _fields(p=declared), NAMES)
    assert raised.value.token == "invalid_argument"


def _answer(property_: Any) -> dict[str, Any]:
    return {"schemaType": "", "properties": {RETURN: property_}}


@pytest.mark.parametrize(
    ("declared", "document", "value"),
    [
        (None, {"schemaType": "", "properties": {}}, None),
        (None, _answer(_values("long", 5)), 5),
        (None, _answer(_values("long", 5, 6)), [5, 6]),
        (None, _answer(_values("long")), []),
        (None, {"schemaType": "x", "properties": {"a": _values("long", 5)}}, {"a": 5}),
        (STRING, _answer(_values("string")), None),
        (ArrayType(items=STRING), _answer(_values("string", "a")), ["a"]),
        (ArrayType(items=STRING), _answer(_values("string")), []),
        (FLOAT, _answer(_values("double", Decimal("0.10000000149011612"))), Decimal("0.1")),
        (DOUBLE, _answer(_values("double", 5)), 5),
        (
            DATE,
            _answer(_values("document", {"schemaType": "", "properties": {"year": _values("long", 1)}})),
            {"year": 1},
        ),
        (DATE, {"schemaType": "", "properties": {"year": _values("long", 1)}}, {"year": 1}),
        (DATE, _answer(_values("document", {"schemaType": "", "properties": {}})), {}),
        (
            PETS,
            _answer(_values("document", {"schemaType": "Dog", "properties": {"lives": _values("long", 9)}})),
            {"schemaType": "Dog", "lives": 9},
        ),
        (
            PETS,
            _answer(_values("document", {"schemaType": "", "properties": {"lives": _values("long", 9)}})),
            {"schemaType": "a.Cat", "lives": 9},
        ),
        (
            PETS,
            _answer(_values("document", {"schemaType": "", "properties": {"tail": _values("string", "x")}})),
            {"schemaType": "Dog", "tail": "x"},
        ),
    ],
)
def test_an_answer_is_read_by_its_declared_type(declared: Type | None, document: Any, value: Any) -> None:
    assert read_document(document, declared, NAMES) == value


@pytest.mark.parametrize(
    ("declared", "document"),
    [
        (None, None),
        (None, {"properties": []}),
        (None, {"schemaType": 5, "properties": {}}),
        (None, _answer({"kind": "long"})),
        (None, _answer(_values("int", 5))),
        (None, _answer(_values("long", "5"))),
        (None, _answer(_values("long", 2**63))),
        (None, _answer(_values("boolean", 1))),
        (None, _answer(_values("bytes", "a"))),
        (None, _answer(_values("document", 5))),
        (STRING, _answer(_values("string", "a", "b"))),
        (STRING, _answer(_values("long", 5))),
        (INT, _answer(_values("long", 2**31))),
        (DATE, _answer(_values("string", "2026"))),
        (ArrayType(items=ArrayType()), _answer(_values("long", 5))),
        (PETS, _answer(_values("document", {"schemaType": "", "properties": {"wings": _values("long", 2)}}))),
    ],
)
def test_an_answer_of_another_form_is_malformed(declared: Type | None, document: Any) -> None:
    with pytest.raises(AppFunctionWireError) as raised:
        read_document(document, declared, NAMES)
    assert raised.value.token == "malformed_response"


def test_a_value_nested_too_deep_is_refused_both_ways() -> None:
    value: Any = 1
    property_ = _values("long", 1)
    for _ in range(70):
        value = {"a": value}
        property_ = _values("document", {"schemaType": "", "properties": {"a": property_}})
    with pytest.raises(AppFunctionWireError):
        write_document(value, ObjectType(), {})
    with pytest.raises(AppFunctionWireError):
        read_document(_answer(property_), None, {})


@pytest.mark.slow
def test_alternatives_that_refer_to_themselves_end() -> None:
    again = OneOfType(alternatives=(RefType(name="Again"), RefType(name="Again")))
    with pytest.raises(AppFunctionWireError):
        write_document({"p": {"a": 1}}, _fields(p=again), {"Again": again})
    with pytest.raises(AppFunctionWireError):
        write_document({"p": []}, _fields(p=ArrayType(items=again)), {"Again": again})
    with pytest.raises(AppFunctionWireError):
        read_document(_answer(_values("string", "a")), again, {"Again": again})


def test_the_schema_type_also_decides_which_alternative_a_value_is_fitted_to() -> None:
    fitter = ValueFitter(NAMES)
    assert fitter.fit({"schemaType": "a.Cat", "lives": "9"}, PETS) == {"schemaType": "a.Cat", "lives": 9}
    assert fitter.fit({"schemaType": "Dog", "lives": 9}, PETS) == {"schemaType": "Dog", "lives": 9}


@given(input_types_with_values())
def test_what_is_written_holds_only_known_kinds_and_reads_back_as_given(case: tuple[Any, Any]) -> None:
    declared, values = case
    try:
        document = write_document(values, declared, DEFINITIONS)
    except AppFunctionWireError:
        return
    kinds = {property_["kind"] for property_ in document["properties"].values()}
    assert kinds <= {*KIND_OF_SCALAR.values(), "document"}
    assert set(document["properties"]) <= set(values)

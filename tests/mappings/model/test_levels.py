"""The level of each loss follows from the values that the target accepts (docs/concepts/levels.md)."""

import operator
from typing import Any

import pytest

from droidgate_mappings.compare import Weight
from droidgate_mappings.fit import fit_provider
from droidgate_mappings.model.capability import Capability, Provider
from droidgate_mappings.model.findings import CONVERSION_LEVELS, LINT_LEVELS, Level, at_least
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.model.types import (
    AnyType,
    ArrayType,
    ObjectType,
    OneOfType,
    OpaqueType,
    ScalarType,
    Type,
)
from droidgate_mappings.tables.loading import load_format_tables
from mappings.model.capacities import everything
from model_types import (
    all_of,
    any_of,
    array,
    binary,
    float32,
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

RECORD = record({"a": optional(string())})
DEFINITIONS: dict[str, Type] = {
    "Record": RECORD,
    "Colour": string(),
    "Choice": one_of(string(), int64()),
    "Loop": all_of(ref("Loop"), string()),
}


def _levels(item: Type, target: str) -> dict[str, tuple[str, Level]]:
    """Return code and level by pointer below the type of the only parameter."""
    format_id, _, dialect_id = target.partition("+")
    dialect = next(each for each in load_format_tables(format_id).dialects if each.id == dialect_id)
    assert dialect.capacity is not None
    provider = Provider(
        protocol="test",
        definitions=DEFINITIONS,
        capabilities=(Capability(id="c", description="Do it", input=record({"p": required(item)})),),
    )
    fitted = fit_provider(provider, dialect.capacity, format_id, dialect_id)
    prefix = "/capabilities/0/input/properties/p/type"
    return {
        finding.pointer.removeprefix(prefix): (finding.code, finding.level)
        for finding in fitted.findings
        if finding.pointer.startswith(prefix)
    }


@pytest.mark.parametrize(("item", "level"), [
    (int32(), Level.WIDENED),
    (float32(), Level.WIDENED),
    (binary(), Level.WIDENED),
    (null(), Level.NARROWED),
    (AnyType(), Level.NARROWED),
    (AnyType(boolean=False), Level.WIDENED),
    (ref("Record"), Level.WIDENED),
    (ref("Colour"), Level.WIDENED),
    (ref("Choice"), Level.NARROWED),
    (all_of(RECORD, ref("Record")), Level.WIDENED),
    (all_of(int64(), int64()), Level.WIDENED),
    (all_of(int64(), string()), Level.NARROWED),
    (all_of(all_of(ref("Loop"))), Level.NARROWED),
    (one_of(string(), int64()), Level.NARROWED),
    (one_of(ref("Colour"), string()), Level.WIDENED),
    (OpaqueType(), Level.IMPOSSIBLE),
], ids=lambda item: item.kind if isinstance(item, ScalarType) else None)  # fmt: skip
def test_another_kind_is_widened_only_where_every_value_of_the_source_is_one_of_it(
    item: Type, level: Level
) -> None:
    assert _levels(item, "mobile-mcp+1.0")["/kind"] == ("kind-changed", level)


@pytest.mark.parametrize(("keyword", "value", "code", "level"), [
    ("minimum", 3, "keyword-moved", Level.WIDENED),
    ("uniqueItems", True, "keyword-moved", Level.WIDENED),
    ("additionalProperties", {"type": "string"}, "keyword-moved", Level.WIDENED),
    ("additionalProperties", False, "keyword-dropped", Level.WIDENED),
    ("unevaluatedProperties", False, "keyword-dropped", Level.WIDENED),
    ("additionalProperties", True, "notation-dropped", Level.RENAMED),
    ("additionalProperties", {}, "notation-dropped", Level.RENAMED),
    ("uniqueItems", False, "notation-dropped", Level.RENAMED),
    ("minItems", 0, "notation-dropped", Level.RENAMED),
    ("minLength", False, "keyword-moved", Level.WIDENED),
    ("$schema", "https://json-schema.org/draft/2020-12/schema", "notation-dropped", Level.RENAMED),
    ("required", True, "keyword-moved", Level.MOVED),
    ("default", 3, "keyword-moved", Level.MOVED),
    ("deprecated", True, "keyword-moved", Level.MOVED),
    ("title", "A", "keyword-dropped", Level.DROPPED),
    ("$comment", "A", "keyword-dropped", Level.DROPPED),
    ("x-order", 1, "keyword-dropped", Level.DROPPED),
])  # fmt: skip
def test_a_keyword_is_a_limit_an_annotation_a_spelling_or_gone(
    keyword: str, value: Json, code: str, level: Level
) -> None:
    levels = _levels(string(keywords={keyword: value}), "mobile-mcp+1.0")
    assert levels[f"/keywords/{keyword}"] == (code, level)
    assert levels.get("/description", ("", ""))[0] == (
        "text-added" if code == "keyword-moved" else "field-defaulted"
    )


@pytest.mark.parametrize(("item", "leaf", "expected"), [
    (string(enum=("a",)), "/enum", ("constraint-moved", Level.WIDENED)),
    (string(pattern="^a"), "/pattern", ("constraint-moved", Level.WIDENED)),
    (string(format="email"), "/format", ("constraint-moved", Level.MOVED)),
    (string(nullable=True), "/nullable", ("nullable-moved", Level.NARROWED)),
    (array(string()), "/items/kind", ("structure-moved", Level.WIDENED)),
    (RECORD, "/properties/a/type/kind", ("structure-moved", Level.WIDENED)),
    (RECORD, "/properties/a/required", ("structure-moved", Level.MOVED)),
    (record({}, implicit=True), "/implicit", ("notation-dropped", Level.NARROWED)),
    (string(implicit=True), "/implicit", ("notation-dropped", Level.RENAMED)),
])  # fmt: skip
def test_what_a_description_says_does_not_limit_the_values(
    item: Type, leaf: str, expected: tuple[str, Level]
) -> None:
    assert _levels(item, "mobile-mcp+1.0")[leaf] == expected


def test_an_array_of_anything_is_narrowed_where_the_items_need_a_type() -> None:
    assert _levels(ArrayType(), "appfunctions+v2")["/items/kind"] == ("items-defaulted", Level.NARROWED)


@pytest.mark.parametrize(
    ("alternatives", "level"), [((string(), int64()), Level.RENAMED), ((string(), binary()), Level.NARROWED)]
)
def test_several_alternatives_at_once_matter_only_where_a_value_can_be_of_two(
    alternatives: tuple[Type, ...], level: Level
) -> None:
    item = OneOfType(alternatives=alternatives, exclusive=False)
    provider = Provider(protocol="test", capabilities=(Capability(id="c", output=item),))
    fitted = fit_provider(provider, everything(exclusive_only=True), "target", "dialect")
    assert [(finding.code, finding.level) for finding in fitted.findings] == [("exclusive-assumed", level)]


def test_a_property_named_as_a_field_of_the_model_is_a_property() -> None:
    item = record({"extensions": optional(string()), "description": optional(string())})
    levels = _levels(item, "mobile-mcp+1.0")
    for name in ("extensions", "description"):
        assert levels[f"/properties/{name}/type/kind"] == ("structure-moved", Level.WIDENED)


@pytest.mark.parametrize(
    "item",
    [ObjectType(), one_of(string(), int64()), one_of(RECORD, ObjectType()), all_of(RECORD, ObjectType())],
    ids=["free object", "choice of scalars", "choice with a free object", "combination with a free object"],
)
def test_what_jetpack_agents_do_not_see_is_written_as_text(item: Type) -> None:
    assert _levels(item, "appfunctions+v2")["/kind"] == ("kind-changed", Level.NARROWED)


@pytest.mark.parametrize(
    "item", [RECORD, ref("Record"), one_of(RECORD, ref("Record"))], ids=["object", "reference", "choice"]
)
def test_objects_with_properties_stay_what_they_are_for_app_functions(item: Type) -> None:
    assert "/kind" not in _levels(item, "appfunctions+v2")


def test_an_array_of_arrays_is_an_array_of_texts_for_app_functions() -> None:
    levels = _levels(array(array(string())), "appfunctions+v2")
    assert levels["/items/kind"] == ("kind-changed", Level.NARROWED)


def test_null_items_are_narrowed_for_app_functions() -> None:
    levels = _levels(array(string(nullable=True)), "appfunctions+v2")
    assert levels["/items/nullable"] == ("nullable-moved", Level.NARROWED)


@pytest.mark.parametrize(("item", "lifted"), [
    (one_of(RECORD, RECORD.model_copy(update={"nullable": True})), True),
    (all_of(RECORD, RECORD.model_copy(update={"nullable": True})), False),
], ids=["choice", "combination"])  # fmt: skip
def test_a_choice_allows_null_where_an_alternative_does_and_a_combination_where_each_member_does(
    item: Type,
    lifted: bool,  # noqa: FBT001
) -> None:
    levels = _levels(item, "appfunctions+v2")
    part = "/alternatives/1/nullable" if isinstance(item, OneOfType) else "/members/1/nullable"
    assert levels[part] == ("nullable-moved", Level.RENAMED)
    assert ("/nullable" in levels) == lifted


def test_alternatives_get_class_names_by_which_jetpack_chooses() -> None:
    levels = _levels(one_of(RECORD, ref("Record")), "appfunctions+v2")
    assert levels["/qualified_name"] == ("field-defaulted", Level.DEFAULTED)
    assert levels["/alternatives/0/qualified_name"] == ("field-defaulted", Level.DEFAULTED)
    assert "/alternatives/1/qualified_name" not in levels


@pytest.mark.parametrize("target", ["mcp+2025-11-25", "mmcp+1.0"])
def test_json_schema_accepts_anything_in_place_of_a_parcelable(target: str) -> None:
    assert _levels(OpaqueType(), target)["/kind"] == ("kind-changed", Level.WIDENED)


def test_a_choice_of_one_scalar_is_that_scalar() -> None:
    levels = _levels(one_of(string()), "appfunctions+v2")
    assert set(levels.values()) == {("alternative-unwrapped", Level.RENAMED)}


@pytest.mark.parametrize(
    ("item", "level"), [(int64(format="int64"), Level.RENAMED), (int64(format="id"), Level.MOVED)]
)
def test_a_format_that_repeats_the_kind_is_a_spelling(item: Type, level: Level) -> None:
    assert _levels(item, "mobile-mcp+1.0")["/format"][1] is level


def test_a_reference_to_what_may_be_null_is_narrowed_where_it_is_replaced() -> None:
    definitions: dict[str, Type] = {"Name": string(nullable=True)}
    provider = Provider(
        protocol="test",
        definitions=definitions,
        capabilities=(Capability(id="c", description="d", input=record({"p": optional(ref("Name"))})),),
    )
    dialect = load_format_tables("mobile-mcp").dialects[0]
    assert dialect.capacity is not None
    fitted = fit_provider(provider, dialect.capacity, "mobile-mcp", "1.0")
    levels = {finding.pointer: finding.level for finding in fitted.findings}
    assert levels["/capabilities/0/input/properties/p/type/kind"] is Level.NARROWED


def test_null_inside_an_alternative_is_narrowed_where_the_choice_is_replaced() -> None:
    item = one_of(RECORD.model_copy(update={"nullable": True}), RECORD)
    assert _levels(item, "mobile-mcp+1.0")["/kind"] == ("kind-changed", Level.NARROWED)


def test_a_note_on_a_renamed_property_of_a_choice_of_one_is_reported_as_a_note() -> None:
    inner = record({"with space": optional(string(keywords={"minLength": 2}))})
    levels = _levels(any_of(inner, nullable=True), "appfunctions+v2")
    assert levels["/properties/with_space/type/description"] == ("text-added", Level.MOVED)


def test_null_of_two_alternatives_of_an_exclusive_choice_is_not_allowed_of_the_choice() -> None:
    part = RECORD.model_copy(update={"nullable": True})
    assert "/nullable" not in _levels(one_of(part, part), "appfunctions+v2")


def test_an_enum_around_a_nullable_alternative_does_not_allow_null() -> None:
    item = any_of(string(nullable=True), enum=("a",))
    provider = Provider(
        protocol="test", capabilities=(Capability(id="c", input=record({"p": optional(item)})),)
    )
    dialect = load_format_tables("appfunctions").dialects[0]
    assert dialect.capacity is not None
    written = fit_provider(provider, dialect.capacity, "appfunctions", "v2").provider.capabilities[0].input
    assert properties_of(written)["p"].type == string(enum=("a",))


@pytest.mark.parametrize(
    ("target", "level"), [("appfunctions+v2", Level.NARROWED), ("mobile-mcp+1.0", Level.RENAMED)]
)
def test_an_int32_without_bounds_accepts_more_than_one_with_bounds(target: str, level: Level) -> None:
    item = int32(extensions={"json-schema-notation": {"unstatedBounds": ["minimum", "maximum"]}})
    levels = _levels(item, target)
    assert levels["/extensions/json-schema-notation/unstatedBounds"][1] is level
    assert levels.get("/kind", ("", Level.RENAMED))[1] is Level.RENAMED


def test_a_moved_text_that_loses_characters_is_dropped() -> None:
    dialect = load_format_tables("mobile-mcp").dialects[0]
    assert dialect.capacity is not None
    provider = Provider(protocol="test", package="a.b", instructions="bell \x07", capabilities=())
    fitted = fit_provider(provider, dialect.capacity, "mobile-mcp", "1.0")
    assert ("characters-replaced", Level.DROPPED) in {
        (finding.code, finding.level) for finding in fitted.findings
    }


def test_notes_leave_out_what_does_not_help_a_caller() -> None:
    inner = string(description="Who", keywords={"title": "A", "minLength": 2, "x-order": 1})
    item = record(
        {"a": required(inner)}, keywords={"additionalProperties": False, "title": "Record", "$schema": "s"}
    )
    capability = Capability(id="c", title="C", description="Do it.", input=record({"p": optional(item)}))
    dialect = load_format_tables("mobile-mcp").dialects[0]
    assert dialect.capacity is not None
    fitted = fit_provider(
        Provider(protocol="test", capabilities=(capability,)), dialect.capacity, "mobile-mcp", "1.0"
    )
    (written,) = fitted.provider.capabilities
    assert written.description == "Do it."
    assert properties_of(written.input)["p"].type.description == (
        '[Structure: {"properties":{"a":{"description":"Who","minLength":2,"type":"string"}},'
        '"required":["a"],"type":"object"}]'
    )


def test_a_title_is_the_description_of_a_capability_that_has_no_other() -> None:
    dialect = load_format_tables("mmcp").dialects[0]
    assert dialect.capacity is not None
    provider = Provider(protocol="test", capabilities=(Capability(id="c", title="Create note"),))
    fitted = fit_provider(provider, dialect.capacity, "mmcp", "1.0")
    assert fitted.provider.capabilities[0].description == "Create note"
    levels = {finding.pointer: finding.level for finding in fitted.findings}
    assert levels["/capabilities/0/title"] is Level.MOVED


@pytest.mark.parametrize(
    ("protocol", "kind"), [("mmcp", "object"), ("mcp", "object"), ("mobile-mcp", "null")]
)
def test_an_output_that_is_not_declared_is_text_where_the_protocol_returns_text(
    protocol: str, kind: str
) -> None:
    dialect = load_format_tables("appfunctions").dialects[0]
    assert dialect.capacity is not None
    provider = Provider(protocol=protocol, capabilities=(Capability(id="c", description="d"),))
    output = fit_provider(provider, dialect.capacity, "appfunctions", "v2").provider.capabilities[0].output
    assert output is not None
    assert output.kind == kind
    if isinstance(output, ObjectType):
        assert output.properties == {"result": required(string())}


def test_an_object_as_output_without_further_facts_is_not_appended_to_a_description() -> None:
    dialect = load_format_tables("mmcp").dialects[0]
    assert dialect.capacity is not None
    provider = Provider(
        protocol="test", capabilities=(Capability(id="c", description="d", output=ObjectType()),)
    )
    fitted = fit_provider(provider, dialect.capacity, "mmcp", "1.0")
    assert fitted.provider.capabilities[0].description == "d"
    assert {(finding.code, finding.level) for finding in fitted.findings if "/output" in finding.pointer} == {
        ("output-dropped", Level.WIDENED)
    }


def test_security_reaches_every_threshold_of_a_conversion_and_no_other_level_reaches_it() -> None:
    for level in CONVERSION_LEVELS:
        assert at_least(Level.SECURITY, level)
        assert at_least(level, Level.SECURITY) == (level is Level.SECURITY)
    assert not any(at_least(Level.SECURITY, level) for level in LINT_LEVELS)


@pytest.mark.parametrize("scale", [CONVERSION_LEVELS, LINT_LEVELS, tuple(Weight)])
def test_levels_and_weights_compare_by_gravity(scale: tuple[Any, ...]) -> None:
    for position, milder in enumerate(scale):
        for graver in scale[position + 1 :]:
            assert milder < graver
            assert graver > milder
            assert not milder >= graver
            assert not graver <= milder
        assert milder <= milder  # noqa: PLR0124 - equal ones
    assert (min(scale), max(scale)) == (scale[0], scale[-1])


@pytest.mark.parametrize("other", ["dropped", Weight.SECURITY, Level.ERROR, 1, None])
def test_a_level_has_no_order_with_anything_else(other: Any) -> None:
    for compare in (operator.lt, operator.le, operator.gt, operator.ge):
        with pytest.raises(TypeError):
            compare(Level.DROPPED, other)
        with pytest.raises(TypeError):
            compare(other, Level.DROPPED)

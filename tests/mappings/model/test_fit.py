"""Whatever a dialect can carry, fitting tells each leaf that changes, once, and fits a provider only once."""

from random import Random

import pytest
from hypothesis import given, strategies as st

from droidgate_mappings.fit import Fitted, fit_provider
from droidgate_mappings.fit.provider_fit import without_null
from droidgate_mappings.formats.format import Writing, find_format
from droidgate_mappings.json_schema import NAMESPACE
from droidgate_mappings.model.capability import Capability, Effects, Provider
from droidgate_mappings.model.findings import Level
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.model.types import (
    AllOfType,
    AnyType,
    ArrayType,
    ObjectType,
    OneOfType,
    Property,
    Type,
)
from droidgate_mappings.tables.capacity import Capacity
from mappings.model.capacities import everything, random_capacity
from model_types import (
    all_of,
    any_of,
    array,
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
from properties.matching import assert_findings_match, assert_same_declaration
from strategies import providers, random_provider

TARGET = "target"
RECORD = record({"a": optional(string())})


def _fit(provider: Provider, capacity: Capacity) -> Fitted:
    fitted = fit_provider(provider, capacity, TARGET, "dialect")
    assert_findings_match(provider, Writing((), fitted.provider, fitted.findings, fitted.names))
    return fitted


def _assert_fits_once(provider: Provider, capacity: Capacity) -> None:
    fitted = _fit(provider, capacity)
    again = _fit(fitted.provider, capacity)
    assert again.findings == ()
    assert again.names == ()
    assert_same_declaration(fitted.provider, again.provider)


@pytest.mark.slow
@given(providers(size=12), st.builds(random_capacity, st.randoms(use_true_random=False)))
def test_findings_and_differences_match_one_to_one_for_any_capacity(
    provider: Provider, capacity: Capacity
) -> None:
    _assert_fits_once(provider, capacity)


@pytest.mark.long
@pytest.mark.parametrize("block", range(10))
def test_a_hundred_thousand_conversions_match(block: int) -> None:
    for seed in range(block * 10_000, (block + 1) * 10_000):
        random = Random(seed)
        _assert_fits_once(random_provider(random, size=12), random_capacity(random))


@pytest.mark.parametrize("is_nullable", [False, True])
@pytest.mark.parametrize(
    "inner",
    [
        OneOfType(nullable=True, alternatives=(RECORD,)),
        one_of(RECORD.changed({"nullable": True})),
        OneOfType(nullable=True, alternatives=(RECORD.changed({"nullable": True}), RECORD)),
        all_of(RECORD.changed({"nullable": True})),
        AllOfType(nullable=True, members=(RECORD.changed({"nullable": True}), RECORD)),
    ],
)
def test_null_in_parts_of_parts_is_written_of_the_whole_type_where_parts_cannot_have_it(
    inner: Type, *, is_nullable: bool
) -> None:
    provider = _with_output(OneOfType(nullable=is_nullable, alternatives=(inner, RECORD)))
    capacity = everything(nullable_members=False)
    _assert_fits_once(provider, capacity)
    fitted = _fit(provider, capacity)
    assert {(finding.code, finding.level) for finding in fitted.findings} == {
        ("nullable-moved", Level.RENAMED)
    }
    assert fitted.provider.capabilities[0].output == OneOfType(
        nullable=True, alternatives=(without_null(inner), RECORD)
    )


def test_null_is_in_the_description_where_neither_parts_nor_whole_can_state_it() -> None:
    provider = _provider(
        Capability(id="tool", output=ref("Choice")),
        definitions={"Choice": one_of(RECORD.changed({"nullable": True}), RECORD)},
    )
    fitted = _fit(provider, everything(nullable_members=False, nullable_definitions=False))
    assert _findings(fitted) == {
        "/definitions/Choice/alternatives/0/nullable": ("nullable-moved", Level.NARROWED),
        "/definitions/Choice/description": ("text-added", Level.MOVED),
    }
    assert fitted.provider.definitions["Choice"].description == "[May be null]"


def test_null_of_a_part_is_not_allowed_where_the_whole_lists_other_values() -> None:
    choice = OneOfType(enum=("a",), alternatives=(string(nullable=True), RECORD))
    fitted = _fit(_with_output(choice), everything(nullable_members=False))
    output = fitted.provider.capabilities[0].output
    assert output is not None
    assert not output.nullable


@pytest.mark.parametrize("fact", ["nullable", "implicit"])
def test_the_only_alternative_that_is_written_as_an_object_has_one_finding_for_each_difference(
    fact: str,
) -> None:
    choice = OneOfType(exclusive=False, alternatives=(RECORD.changed({fact: True}),))
    capacity = everything(exclusive_only=True, input_shape="typed-object")
    fitted = _fit(_provider(Capability(id="tool", input=choice)), capacity)
    assert fitted.provider.capabilities[0].input == RECORD
    assert _findings(fitted)[f"/capabilities/0/input/alternatives/0/{fact}"][1] is not Level.RENAMED


def test_a_dialect_that_carries_everything_changes_nothing() -> None:
    for seed in range(200):
        provider = random_provider(Random(seed))
        fitted = _fit(provider, everything())
        assert fitted.findings == ()
        assert fitted.provider == provider.model_copy(update={"protocol": TARGET, "dialect": "dialect"})


def _provider(*capabilities: Capability, **facts: object) -> Provider:
    return Provider.model_validate({"protocol": "test", "capabilities": capabilities, **facts})


def _findings(fitted: Fitted) -> dict[str, tuple[str, Level]]:
    return {finding.pointer: (finding.code, finding.level) for finding in fitted.findings}


def _with_output(output: Type) -> Provider:
    return _provider(Capability(id="tool", output=output))


def _with_parameter(item: Type, *, required: bool = False) -> Provider:
    return _provider(Capability(id="tool", input=record({"value": Property(type=item, required=required)})))


def _parameter(fitted: Fitted) -> Property:
    kept = fitted.provider.capabilities[0].input
    return next(iter(properties_of(kept).values()))


def test_a_constraint_without_a_place_is_reported_in_the_description() -> None:
    capacity = everything(types={"string": {"written_as": "string"}})
    fitted = _fit(_with_parameter(string(enum=("a", "b"), description="Colour")), capacity)
    assert _parameter(fitted).type == string(description='Colour [One of: "a", "b"]')
    pointer = "/capabilities/0/input/properties/value/type"
    assert _findings(fitted) == {
        f"{pointer}/enum": ("constraint-moved", Level.WIDENED),
        f"{pointer}/description": ("text-added", Level.MOVED),
    }


def test_an_enum_is_not_carried_by_a_kind_that_its_values_are_not_of() -> None:
    capacity = everything(
        types={"int64": {"written_as": "string", "constraints": ["enum"]}}, enum_values="matching"
    )
    fitted = _fit(_with_parameter(int64(enum=(1, 2))), capacity)
    assert _parameter(fitted).type == string(description="[One of: 1, 2]")


def test_an_optional_parameter_counts_as_required_where_the_target_cannot_say() -> None:
    capacity = everything(input_shape="object", input_required=False)
    fitted = _fit(_with_parameter(string()), capacity)
    assert _parameter(fitted).required
    assert _findings(fitted) == {
        "/capabilities/0/input/properties/value/required": ("required-assumed", Level.NARROWED)
    }


def test_a_renamed_property_is_on_the_name_map() -> None:
    provider = _provider(Capability(id="tool", input=record({"with space": optional(null())})))
    fitted = _fit(provider, everything(property_rule={"allowed": "[a-z]"}))
    entry = fitted.names[0]
    assert (entry.pointer, entry.original) == ("/capabilities/0/input/properties/with space", "with space")
    assert entry.written == "with_space"


def test_a_name_inside_a_wrapped_output_is_reported_where_the_source_has_it() -> None:
    output = array(record({"a b": optional(null())}))
    capacity = everything(output_shape="object", property_rule={"allowed": "[a-z]"})
    fitted = _fit(_with_output(output), capacity)
    assert [entry.pointer for entry in fitted.names] == ["/capabilities/0/output/items/properties/a b"]


def test_a_bare_output_becomes_the_result_of_an_object() -> None:
    fitted = _fit(_with_output(string()), everything(output_shape="object"))
    result = required(string())
    assert fitted.provider.capabilities[0].output == record({"result": result})


def test_a_wrapped_output_keeps_how_its_root_lays_out_definitions() -> None:
    layout = {NAMESPACE: {"definitions": {"definitions/A": "A"}}}
    provider = _provider(
        Capability(id="tool", output=array(ref("A"), extensions=layout)), definitions={"A": string()}
    )
    fitted = _fit(provider, everything(output_shape="typed-object"))
    output = fitted.provider.capabilities[0].output
    assert output is not None
    assert output.extensions == layout
    assert properties_of(output)["result"].type == array(ref("A"))


@pytest.mark.parametrize(
    ("output", "is_kept"),
    [
        (ObjectType(), True),
        (ref("Thing"), True),
        (ref("Loop"), False),
        (ref("Text"), False),
        (ref("Thing", nullable=True), False),
        (all_of(AnyType(), ObjectType()), True),
        (one_of(ObjectType(), ref("Thing")), True),
        (one_of(ObjectType(), string()), False),
        (AnyType(), False),
    ],
)
def test_only_an_output_that_is_always_an_object_may_say_so(output: Type, *, is_kept: bool) -> None:
    provider = _provider(
        Capability(id="tool", output=output),
        definitions={"Thing": ObjectType(), "Text": string(), "Loop": ref("Loop")},
    )
    written = _fit(provider, everything(output_shape="typed-object")).provider.capabilities[0].output
    assert written is not None
    assert (written.kind == output.kind) is is_kept


def test_an_input_by_reference_says_that_it_is_an_object() -> None:
    provider = _provider(Capability(id="tool", input=ref("A")), definitions={"A": ObjectType()})
    fitted = _fit(provider, everything(input_shape="typed-object"))
    assert fitted.provider.capabilities[0].input == ref("A", keywords={"type": "object"})
    assert _findings(fitted) == {"/capabilities/0/input/keywords/type": ("type-stated", Level.RENAMED)}


def test_an_input_that_is_not_an_object_is_reported_whole() -> None:
    fitted = _fit(_provider(Capability(id="tool", input=string())), everything(input_shape="typed-object"))
    assert fitted.provider.capabilities[0].input == ObjectType()
    assert fitted.provider.capabilities[0].description == '[Parameters: {"type":"string"}]'


def test_an_array_behind_a_reference_says_of_what_where_it_must() -> None:
    provider = _provider(Capability(id="tool", output=ref("List")), definitions={"List": array(AnyType())})
    capacity = everything(types={"ref": {"written_as": "string"}}, items_required=True)
    fitted = _fit(provider, capacity)
    assert fitted.provider.capabilities[0].output is not None
    assert _findings(fitted)["/capabilities/0/output/items/kind"] == ("items-defaulted", Level.NARROWED)


def test_a_definition_that_is_reached_only_through_what_moved_is_not_written() -> None:
    provider = _provider(
        Capability(id="tool", input=ref("A")), definitions={"A": ObjectType(description="Deep")}
    )
    fitted = _fit(provider, everything(input_shape="object", definitions="reachable"))
    assert fitted.provider.definitions == {}
    assert _findings(fitted)["/definitions/A/description"] == ("structure-moved", Level.MOVED)


def test_a_definition_that_nothing_reaches_is_left_out_without_a_loss() -> None:
    fitted = _fit(_provider(definitions={"A": ObjectType()}), everything(definitions="reachable"))
    assert _findings(fitted) == {"/definitions/A/kind": ("definition-dropped", Level.RENAMED)}


def test_effects_are_reported_in_words_where_they_have_no_place() -> None:
    provider = _provider(Capability(id="tool", description="Does it.", effects=Effects(read_only=False)))
    capacity = everything(capability_fields=["description"])
    assert _fit(provider, capacity).provider.capabilities[0].description == "Does it. [Read only: no]"


def test_equal_ids_get_suffixes_of_their_own() -> None:
    provider = _provider(Capability(id="a b"), Capability(id="a b"))
    fitted = _fit(provider, everything(id_rule={"allowed": "[a-z]"}))
    names = [item.id for item in fitted.provider.capabilities]
    assert len(set(names)) == 2
    assert all(name.startswith("a_b_") for name in names)


def test_a_provider_of_the_target_keeps_its_names() -> None:
    provider = Provider(protocol=TARGET, capabilities=(Capability(id="a b"),))
    assert _fit(provider, everything(id_rule={"allowed": "[a-z]"})).names == ()


@pytest.mark.parametrize(
    ("item", "keyword", "value", "level"),
    [
        (ObjectType(), "properties", {}, Level.RENAMED),
        (ObjectType(), "properties", {"a": "string"}, Level.WIDENED),
        (ObjectType(), "required", [], Level.RENAMED),
        (ObjectType(), "required", ["a"], Level.WIDENED),
        (ObjectType(), "required", "a", Level.MOVED),
        (ObjectType(), "anyOf", [{"required": ["a"]}], Level.WIDENED),
        (string(), "required", True, Level.MOVED),
        (string(), "type", ["string"], Level.RENAMED),
        (string(), "enum", "a", Level.MOVED),
        (ArrayType(), "items", [{"type": "string"}], Level.WIDENED),
        (ref("A"), "$ref", "#/$defs/%41", Level.RENAMED),
    ],
)
def test_a_keyword_is_mere_spelling_only_where_the_type_says_the_same(
    item: Type, keyword: str, value: Json, level: Level
) -> None:
    kept = item.model_copy(update={"keywords": {keyword: value}})
    provider = Provider(
        protocol="test",
        definitions={"A": ObjectType()},
        capabilities=(Capability(id="c", input=record({"p": optional(kept)})),),
    )
    fitted = _fit(provider, everything().model_copy(update={"keywords": False}))
    pointer = f"/capabilities/0/input/properties/p/type/keywords/{keyword}"
    assert [finding.level for finding in fitted.findings if finding.pointer == pointer] == [level]


@pytest.mark.parametrize("format_id", ["mcp", "mmcp", "mobile-mcp"])
def test_a_reference_to_what_is_not_declared_becomes_any_value_and_is_reported(format_id: str) -> None:
    lost = required(ref("a.Lost", nullable=True, description="The lost one"))
    capability = Capability(id="find", input=record({"what": lost}), output=ref("b"))
    before = Provider(protocol="test", package="a", capabilities=(capability,))
    target, dialect = find_format(format_id)
    assert target.write is not None
    writing = target.write(before, dialect)
    assert_findings_match(before, writing)
    reported = {finding.pointer for finding in writing.findings if finding.code == "reference-dropped"}
    assert "/capabilities/0/input/properties/what/type/name" in reported


def test_a_reference_to_what_another_file_declares_stays_in_app_functions() -> None:
    capability = Capability(id="find", output=ref("a.Note"))
    before = Provider(protocol="appfunctions", dialect="v2", package="a", capabilities=(capability,))
    target, dialect = find_format("appfunctions")
    assert dialect.capacity is not None
    fitted = fit_provider(before, dialect.capacity, target.id, dialect.id)
    assert fitted.provider.capabilities[0].output == ref("a.Note")
    other = fit_provider(
        before.model_copy(update={"protocol": "test"}), dialect.capacity, target.id, dialect.id
    )
    assert other.provider.capabilities[0].output == string()
    assert ("/capabilities/0/output/name", "reference-dropped") in {
        (finding.pointer, finding.code) for finding in other.findings
    }


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("instructions", "the provider's instructions moved into its description"),
        ("description", "the provider's description moved into its instructions"),
    ],
)
def test_what_moves_into_another_text_of_the_provider_is_reported_in_good_grammar(
    name: str, message: str
) -> None:
    (other,) = {"instructions", "description"} - {name}
    capacity = everything().model_copy(
        update={"provider_fields": frozenset({"name", "package", other}), "provider_text": other}
    )
    reported = {
        finding.pointer: finding.message for finding in _fit(_provider(**{name: "t"}), capacity).findings
    }
    assert reported[f"/{name}"] == message


def test_an_unknown_type_word_and_a_deprecation_are_reported_in_the_descriptions() -> None:
    day = string(description="The day", extensions={"mobile-mcp": {"word": "date"}})
    capability = Capability(
        id="ask",
        description="Ask",
        input=record({"day": required(day)}),
        extensions={"appfunctions": {"deprecation": "Use tell"}},
    )
    before = Provider(protocol="test", package="a", instructions="Do", capabilities=(capability,))
    target, dialect = find_format("mmcp")
    assert target.write is not None
    writing = target.write(before, dialect)
    assert_findings_match(before, writing)
    (written,) = writing.provider.capabilities
    assert written.description == "Ask [Deprecated: Use tell]"
    assert properties_of(written.input)["day"].type.description == "The day [Type: date]"
    moved = {
        finding.pointer: finding.level for finding in writing.findings if finding.code == "extension-moved"
    }
    assert moved == {
        "/capabilities/0/extensions/appfunctions/deprecation": Level.MOVED,
        "/capabilities/0/input/properties/day/type/extensions/mobile-mcp/word": Level.MOVED,
    }


def test_references_in_all_directions_do_not_take_more_than_one_look_each() -> None:
    names = [f"D{number}" for number in range(60)]
    everywhere = tuple(ref(name) for name in names)
    definitions: dict[str, Type] = {
        name: (AllOfType if position % 2 else OneOfType).model_validate(
            {"members" if position % 2 else "alternatives": everywhere}
        )
        for position, name in enumerate(names)
    }
    provider = _provider(
        Capability(id="tool", description="d", input=record({"p": optional(everywhere[0])})),
        definitions=definitions,
    )
    for target in ("mobile-mcp", "appfunctions", "mmcp", "mcp"):
        item, dialect = find_format(target)
        assert dialect.capacity is not None
        fitted = fit_provider(provider, dialect.capacity, item.id, dialect.id)
        assert [capability.id for capability in fitted.provider.capabilities] == ["tool"]


@pytest.mark.parametrize("target", ["mobile-mcp", "appfunctions"])
def test_the_parameters_of_an_input_that_is_a_reference_are_those_of_its_object(target: str) -> None:
    taken = record({"title": required(string(enum=("a",), nullable=True))})
    provider = _provider(
        Capability(id="tool", description="d", input=ref("Outer", keywords={"type": "object"})),
        definitions={"Outer": ref("Inner"), "Inner": taken},
    )
    item, dialect = find_format(target)
    assert item.write is not None
    writing = item.write(provider, dialect)
    assert_findings_match(provider, writing)
    (written,) = writing.provider.capabilities
    assert list(properties_of(written.input)) == ["title"]
    levels = {finding.pointer: finding.level for finding in writing.findings}
    if target == "mobile-mcp":
        assert levels["/definitions/Inner/properties/title/type/enum"] is Level.WIDENED
        assert levels["/definitions/Inner/properties/title/type/nullable"] is Level.NARROWED


def test_blank_texts_count_as_missing_where_the_target_requires_a_text() -> None:
    provider = _provider(Capability(id="tool", description=" "), name="", package="a.b")
    item, dialect = find_format("mobile-mcp")
    assert item.write is not None
    written = item.write(provider, dialect).provider
    assert (written.name, written.capabilities[0].description) == ("a.b", "tool")


@pytest.mark.parametrize("target", ["mobile-mcp", "appfunctions", "appfunctions+platform", "mmcp+draft"])
def test_a_definition_that_leads_back_to_itself_through_choices_of_one_has_a_kind(target: str) -> None:
    inner = one_of(ref("A"))
    definition = any_of(string(), inner)
    capability = Capability(
        id="tool", description="d", input=record({"p": optional(ref("A"))}), output=ref("A")
    )
    item, dialect = find_format(target)
    assert dialect.capacity is not None
    provider = _provider(capability, definitions={"A": definition})
    assert fit_provider(provider, dialect.capacity, item.id, dialect.id).findings


def test_a_long_chain_of_references_is_followed() -> None:
    definitions: dict[str, Type] = {f"D{at}": ref(f"D{at + 1}") for at in range(5_000)}
    definitions["D5000"] = RECORD
    provider = _provider(
        Capability(id="tool", description="d", input=record({"p": optional(ref("D0"))})),
        definitions=definitions,
    )
    item, dialect = find_format("mobile-mcp")
    assert dialect.capacity is not None
    (written,) = fit_provider(provider, dialect.capacity, item.id, dialect.id).provider.capabilities
    assert properties_of(written.input)["p"].type.kind == "object"

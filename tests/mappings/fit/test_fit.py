"""Fitting reports each leaf that changes, once, whatever a dialect can carry, and it fits once."""

from copy import deepcopy
from random import Random
from typing import Any

import pytest
from hypothesis import given, strategies as st

from droidgate_mappings.fit import Fitted, fit_provider
from droidgate_mappings.fit.type_fit import without_null
from droidgate_mappings.formats.format import Writing
from droidgate_mappings.json_schema import NAMESPACE
from droidgate_mappings.model.capability import Capability, Effects, Provider
from droidgate_mappings.model.findings import Level
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.model.types import AllOfType, AnyType, ArrayType, ObjectType, OneOfType, Type
from droidgate_mappings.tables import loading
from droidgate_mappings.tables.capacity import Capacity
from mappings.fit.capacities import everything, facts_of, fit_for, random_capacity, write_for
from model_types import (
    all_of,
    any_of,
    array,
    int64,
    null,
    one_of,
    optional,
    properties_of,
    provider_of,
    record,
    ref,
    required,
    string,
)
from properties.matching import assert_findings_match, assert_same_declaration, without_limits
from strategies import providers, random_provider

TARGET = "target"
RECORD = record({"a": optional(string())})
NULLABLE = RECORD.changed({"nullable": True})
INPUT, OUTPUT = "/capabilities/0/input", "/capabilities/0/output"
VALUE = f"{INPUT}/properties/value/type"
LAYOUT = {NAMESPACE: {"definitions": {"definitions/A": "A"}}}
NOTE = record({"text": required(string())})
CHOICE = one_of(NULLABLE, RECORD)
TEXT_ADDED, STATED = ("text-added", Level.MOVED), ("type-stated", Level.RENAMED)
WRAPPED, WRAPPED_REFERENCE = ("output-wrapped", Level.RENAMED), ("reference-wrapped", Level.RENAMED)
MOVED_STRUCTURE, INLINED = ("structure-moved", Level.WIDENED), ("reference-inlined", Level.RENAMED)


def _taking(item: Type) -> Capability:
    return Capability(id="tool", input=record({"value": optional(item)}))


def _giving(item: Type) -> Capability:
    return Capability(id="tool", output=item)


def _fit(provider: Provider, capacity: Capacity) -> Fitted:
    fitted = fit_provider(provider, capacity, TARGET, "dialect")
    assert_findings_match(provider, Writing((), fitted.provider, fitted.findings, fitted.names))
    most = capacity.most_description
    too_long = [
        f"/capabilities/{at}/description"
        for at, item in enumerate(fitted.provider.capabilities)
        if most is not None and len(item.description or "") > most
    ]
    assert [item.pointer for item in fitted.findings if item.code == "text-too-long"] == too_long
    return fitted


def _assert_fits_once(provider: Provider, capacity: Capacity) -> None:
    fitted = _fit(provider, capacity)
    again = _fit(fitted.provider, capacity)
    assert without_limits(again.findings) == []
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
@pytest.mark.parametrize("inner", [
    OneOfType(nullable=True, alternatives=(RECORD,)),
    one_of(NULLABLE),
    OneOfType(nullable=True, alternatives=(NULLABLE, RECORD)),
    all_of(NULLABLE),
    AllOfType(nullable=True, members=(NULLABLE, RECORD)),
], ids=["nullable choice", "choice of a nullable", "nullable choice of a nullable",
    "all of a nullable", "nullable all of a nullable"])  # fmt: skip
def test_null_in_parts_of_parts_is_written_of_the_whole_type_where_parts_cannot_have_it(
    inner: Type, *, is_nullable: bool
) -> None:
    choice = OneOfType(nullable=is_nullable, alternatives=(inner, RECORD))
    provider, capacity = provider_of(Capability(id="tool", output=choice)), everything(nullable_members=False)
    _assert_fits_once(provider, capacity)
    fitted = _fit(provider, capacity)
    assert set(facts_of(fitted).values()) == {("nullable-moved", Level.RENAMED)}
    written = OneOfType(nullable=True, alternatives=(without_null(inner), RECORD))
    assert fitted.provider.capabilities[0].output == written


@pytest.mark.parametrize("fact", ["nullable", "implicit"])
def test_the_only_alternative_that_is_written_as_an_object_has_one_finding_for_each_difference(
    fact: str,
) -> None:
    choice = OneOfType(exclusive=False, alternatives=(RECORD.changed({fact: True}),))
    capacity = everything(exclusive_only=True, input_shape="typed-object")
    fitted = _fit(provider_of(Capability(id="tool", input=choice)), capacity)
    assert fitted.provider.capabilities[0].input == RECORD
    assert facts_of(fitted)[f"{INPUT}/alternatives/0/{fact}"][1] is not Level.RENAMED


Row = tuple[dict[str, Any], Capability, dict[str, Type], dict[str, Any], dict[str, tuple[str, Level]] | None]
# Title -> changes of the capacity, source, its definitions; what is written, code and level by pointer.
ROWS: dict[str, Row] = {
    "a constraint without a place is in the description": (
        {"types": {"string": {"written_as": "string"}}},
        _taking(string(enum=("a", "b"), description="Colour")), {},
        {"input": record({"value": optional(string(description='Colour [One of: "a", "b"]'))})},
        {f"{VALUE}/enum": ("constraint-moved", Level.WIDENED), f"{VALUE}/description": TEXT_ADDED},
    ),
    "an enum is not carried by a kind that its values are not of": (
        {"types": {"int64": {"written_as": "string", "constraints": ["enum"]}}, "enum_values": "matching"},
        _taking(int64(enum=(1, 2))), {},
        {"input": record({"value": optional(string(description="[One of: 1, 2]"))})},
        {f"{VALUE}/enum": ("constraint-moved", Level.WIDENED), f"{VALUE}/description": TEXT_ADDED,
            f"{VALUE}/kind": ("kind-changed", Level.NARROWED)},
    ),
    "an optional parameter counts as required where the target cannot say": (
        {"input_shape": "object", "input_required": False}, _taking(string()), {},
        {"input": record({"value": required(string())})},
        {f"{INPUT}/properties/value/required": ("required-assumed", Level.NARROWED)},
    ),
    "a bare output becomes the result of an object": (
        {"output_shape": "object"}, _giving(string()), {},
        {"output": record({"result": required(string())})},
        {f"{OUTPUT}/{place}": WRAPPED for place in
            ("kind", "properties/result/required", "properties/result/type/kind")},
    ),
    "a wrapped output keeps how its root lays out definitions": (
        {"output_shape": "typed-object"}, _giving(array(ref("A"), extensions=LAYOUT)), {"A": string()},
        {"output": record({"result": required(array(ref("A")))}, extensions=LAYOUT)}, None,
    ),
    "an input by reference states that it is an object": (
        {"input_shape": "typed-object"}, Capability(id="tool", input=ref("A")), {"A": ObjectType()},
        {"input": ref("A", keywords={"type": "object"})},
        {f"{INPUT}/keywords/type": STATED},
    ),
    "an input without parameters states that it has none": (
        {"input_shape": "plain-object"}, Capability(id="tool"), {},
        {"input": ObjectType(keywords={"properties": {}})},
        {f"{INPUT}/keywords/properties": STATED},
    ),
    "an input that is not an object is in the description": (
        {"input_shape": "typed-object"}, Capability(id="tool", input=string()), {},
        {"input": ObjectType(), "description": '[Parameters: {"type":"string"}]'},
        {f"{INPUT}/kind": ("structure-moved", Level.NARROWED), "/capabilities/0/description": TEXT_ADDED},
    ),
    "an array behind a reference says of what where it must": (
        {"types": {"ref": {"written_as": "string"}}, "items_required": True}, _giving(ref("List")),
        {"List": array(AnyType())}, {},
        {f"{OUTPUT}/items/kind": ("items-defaulted", Level.NARROWED), f"{OUTPUT}/description": TEXT_ADDED,
            f"{OUTPUT}/kind": ("kind-changed", Level.WIDENED), f"{OUTPUT}/name": MOVED_STRUCTURE},
    ),
    "effects without a place are in the description": (
        {"capability_fields": ["description"]},
        Capability(id="tool", description="Does it.", effects=Effects(read_only=False)), {},
        {"description": "Does it. [Read only: no]"}, None,
    ),
    "a description is reported where a hint makes it longer than the target takes": (
        {"capability_fields": ["description"], "most_description": 10},
        Capability(id="tool", description="Does it.", effects=Effects(read_only=False)), {},
        {"description": "Does it. [Read only: no]"},
        {"/capabilities/0/description": ("text-too-long", Level.IMPOSSIBLE),
            "/capabilities/0/effects/read_only": ("field-moved", Level.MOVED)},
    ),
    "null is in the description where neither parts nor whole can state it": (
        {"nullable_members": False, "nullable_definitions": False},
        _giving(ref("Choice")), {"Choice": CHOICE},
        {"definitions": {"Choice": one_of(RECORD, RECORD, description="[May be null]")}},
        {"/definitions/Choice/alternatives/0/nullable": ("nullable-moved", Level.NARROWED),
            "/definitions/Choice/description": TEXT_ADDED},
    ),
    "null of a part is refused where the whole lists other values": (
        {"nullable_members": False}, _giving(one_of(string(nullable=True), RECORD, enum=("a",))), {},
        {"output": one_of(string(), RECORD, enum=("a",))}, None,
    ),
    "a definition that is reached only through what moved is not written": (
        {"input_shape": "object", "definitions": "reachable"}, Capability(id="tool", input=ref("A")),
        {"A": ObjectType(description="Deep")},
        {"definitions": {}},
        {"/definitions/A/description": ("structure-moved", Level.MOVED), f"{INPUT}/kind": INLINED,
            "/definitions/A/kind": MOVED_STRUCTURE, "/capabilities/0/description": TEXT_ADDED,
            f"{INPUT}/name": INLINED},
    ),
    "a definition that nothing reaches is left out without a loss": (
        {"definitions": "reachable"}, Capability(id="tool"), {"A": ObjectType()},
        {"definitions": {}},
        {"/definitions/A/kind": ("definition-dropped", Level.RENAMED)},
    ),
    "a renamed property is on the name map": (
        {"property_rule": {"allowed": "[a-z]"}},
        Capability(id="tool", input=record({"with space": optional(null())})), {},
        {"names": [(f"{INPUT}/properties/with space", "with space", "with_space")]}, None,
    ),
    "a name inside a wrapped output is reported where the source has it": (
        {"output_shape": "object", "property_rule": {"allowed": "[a-z]"}},
        _giving(array(record({"a b": optional(null())}))), {},
        {"names": [(f"{OUTPUT}/items/properties/a b", "a b", "a_b")]}, None,
    ),
    "only the listed keywords are carried": (
        {"keyword_words": ["title"]}, _taking(string(keywords={"minLength": 1, "title": "T"})), {},
        {"input": record({"value": optional(string(keywords={"title": "T"}, description="[minLength: 1]"))})},
        {f"{VALUE}/keywords/minLength": ("keyword-moved", Level.WIDENED), f"{VALUE}/description": TEXT_ADDED},
    ),
    "a reference with a description becomes a choice of one": (
        {"reference_facts": False}, _taking(ref("Note", description="What to keep")), {"Note": NOTE},
        {"input": record({"value": optional(any_of(ref("Note"), description="What to keep"))})},
        {f"{VALUE}/{place}": WRAPPED_REFERENCE for place in
            ("kind", "name", "alternatives/0/kind", "alternatives/0/name", "exclusive")},
    ),
    "a nullable reference is none": (
        {"reference_facts": False}, _taking(ref("Note", nullable=True)), {"Note": NOTE},
        {"input": record({"value": optional(ref("Note", nullable=True))})},
        {},
    ),
}  # fmt: skip


@pytest.mark.parametrize(("changes", "source", "definitions", "written", "findings"), ROWS.values(), ids=ROWS)
def test_what_a_dialect_cannot_carry_is_written_in_another_way(
    changes: dict[str, Any],
    source: Capability,
    definitions: dict[str, Type],
    written: dict[str, Any],
    findings: dict[str, tuple[str, Level]] | None,
) -> None:
    fitted = _fit(provider_of(source, definitions=definitions), everything(**changes))
    (capability,) = fitted.provider.capabilities
    names = [(entry.pointer, entry.original, entry.written) for entry in fitted.names]
    seen = {**dict(capability), "definitions": fitted.provider.definitions, "names": names}
    assert {word: seen[word] for word in written} == written
    assert findings is None or facts_of(fitted) == findings


@pytest.mark.parametrize(("output", "is_kept"), [
    pytest.param(ObjectType(), True, id="an object may"),
    pytest.param(ref("Thing"), True, id="a reference to an object may"),
    pytest.param(ref("Loop"), False, id="a reference to itself may not"),
    pytest.param(ref("Text"), False, id="a reference to a text may not"),
    pytest.param(ref("Thing", nullable=True), False, id="a nullable reference may not"),
    pytest.param(all_of(AnyType(), ObjectType()), True, id="all of an object and anything may"),
    pytest.param(one_of(ObjectType(), ref("Thing")), True, id="a choice of objects may"),
    pytest.param(one_of(ObjectType(), string()), False, id="a choice of an object and a text may not"),
    pytest.param(AnyType(), False, id="anything may not"),
])  # fmt: skip
def test_only_an_output_that_is_always_an_object_is_declared_as_one(output: Type, *, is_kept: bool) -> None:
    provider = provider_of(
        Capability(id="tool", output=output),
        definitions={"Thing": ObjectType(), "Text": string(), "Loop": ref("Loop")},
    )
    written = _fit(provider, everything(output_shape="typed-object")).provider.capabilities[0].output
    assert written is not None
    assert (written.kind == output.kind) is is_kept


def test_a_provider_of_the_target_keeps_its_names() -> None:
    provider = Provider(protocol=TARGET, capabilities=(Capability(id="a b"),))
    assert _fit(provider, everything(id_rule={"allowed": "[a-z]"})).names == ()


KEYWORDS = {
    "no properties": (ObjectType(), "properties", {}, Level.RENAMED),
    "properties that the type has not": (ObjectType(), "properties", {"a": "string"}, Level.WIDENED),
    "no required names": (ObjectType(), "required", [], Level.RENAMED),
    "required names that the type has not": (ObjectType(), "required", ["a"], Level.WIDENED),
    "a required name that is not a list": (ObjectType(), "required", "a", Level.MOVED),
    "a choice that the type has not": (ObjectType(), "anyOf", [{"required": ["a"]}], Level.WIDENED),
    "required of a string": (string(), "required", True, Level.MOVED),
    "the type in a list": (string(), "type", ["string"], Level.RENAMED),
    "an enum that is a text": (string(), "enum", "a", Level.MOVED),
    "items in a list": (ArrayType(), "items", [{"type": "string"}], Level.WIDENED),
    "an escaped reference": (ref("A"), "$ref", "#/$defs/%41", Level.RENAMED),
}  # fmt: skip


@pytest.mark.parametrize(("item", "keyword", "value", "level"), KEYWORDS.values(), ids=KEYWORDS)
def test_a_keyword_may_be_rewritten_only_where_the_type_already_means_the_same(
    item: Type, keyword: str, value: Json, level: Level
) -> None:
    type_ = item.model_copy(update={"keywords": {keyword: value}})
    provider = provider_of(_taking(type_), definitions={"A": ObjectType()})
    fitted = _fit(provider, everything().model_copy(update={"keywords": False}))
    assert facts_of(fitted)[f"{VALUE}/keywords/{keyword}"][1] is level


@pytest.mark.parametrize("format_id", ["mcp", "mmcp", "mobile-mcp"])
def test_a_reference_to_what_is_not_declared_becomes_any_value_and_is_reported(format_id: str) -> None:
    lost = required(ref("a.Lost", nullable=True, description="The lost one"))
    before = provider_of(Capability(id="find", input=record({"what": lost}), output=ref("b")), package="a")
    writing = write_for(before, format_id)
    assert_findings_match(before, writing)
    assert facts_of(writing)[f"{INPUT}/properties/what/type/name"][0] == "reference-dropped"


def test_a_reference_to_what_another_file_declares_stays_in_app_functions() -> None:
    before = provider_of(Capability(id="find", output=ref("a.Note")), package="a", dialect="v2")
    own = fit_for(before.model_copy(update={"protocol": "appfunctions"}), "appfunctions")
    assert own.provider.capabilities[0].output == ref("a.Note")
    other = fit_for(before, "appfunctions")
    assert other.provider.capabilities[0].output == string()
    assert facts_of(other)[f"{OUTPUT}/name"][0] == "reference-dropped"


@pytest.mark.parametrize(("name", "other", "message"), [
    ("instructions", "description", "the provider's instructions moved into its description"),
    ("description", "instructions", "the provider's description moved into its instructions"),
])  # fmt: skip
def test_what_moves_into_another_text_of_the_provider_is_reported_in_good_grammar(
    name: str, other: str, message: str
) -> None:
    fields = {"provider_fields": frozenset({"name", "package", other}), "provider_text": other}
    findings = _fit(provider_of(**{name: "t"}), everything().model_copy(update=fields)).findings
    assert {finding.pointer: finding.message for finding in findings}[f"/{name}"] == message


def test_an_unknown_type_word_and_a_deprecation_are_reported_in_the_descriptions() -> None:
    day = string(description="The day", extensions={"mobile-mcp": {"word": "date"}})
    deprecated = {"appfunctions": {"deprecation": "Use tell"}}
    capability = Capability(
        id="ask", description="Ask", input=record({"day": required(day)}), extensions=deprecated
    )
    before = provider_of(capability, package="a", instructions="Do")
    writing = write_for(before, "mmcp")
    assert_findings_match(before, writing)
    (written,) = writing.provider.capabilities
    assert written.description == "Ask [Deprecated: Use tell]"
    assert properties_of(written.input)["day"].type.description == "The day [Type: date]"
    moved = {
        pointer: level for pointer, (code, level) in facts_of(writing).items() if code == "extension-moved"
    }
    assert moved == {
        "/capabilities/0/extensions/appfunctions/deprecation": Level.MOVED,
        f"{INPUT}/properties/day/type/extensions/mobile-mcp/word": Level.MOVED,
    }


def test_definitions_that_all_refer_to_each_other_are_fitted() -> None:
    everywhere = tuple(ref(f"D{number}") for number in range(60))
    kinds = (OneOfType(alternatives=everywhere), AllOfType(members=everywhere))
    definitions = {item.name: kinds[position % 2] for position, item in enumerate(everywhere)}
    provider = provider_of(_taking(everywhere[0]), definitions=definitions)
    for target in ("mobile-mcp", "appfunctions", "mmcp", "mcp"):
        assert [item.id for item in fit_for(provider, target).provider.capabilities] == ["tool"]


@pytest.mark.parametrize("target", ["mobile-mcp", "appfunctions"])
def test_the_parameters_of_an_input_that_is_a_reference_are_those_of_its_object(target: str) -> None:
    inner_type = record({"title": required(string(enum=("a",), nullable=True))})
    outer = ref("Outer", keywords={"type": "object"})
    definitions = {"Outer": ref("Inner"), "Inner": inner_type}
    provider = provider_of(Capability(id="tool", description="d", input=outer), definitions=definitions)
    writing = write_for(provider, target)
    assert_findings_match(provider, writing)
    (written,) = writing.provider.capabilities
    assert list(properties_of(written.input)) == ["title"]
    if target == "mobile-mcp":
        facts = facts_of(writing, "/definitions/Inner/properties/title/type/")
        assert (facts["enum"][1], facts["nullable"][1]) == (Level.WIDENED, Level.NARROWED)


def test_blank_texts_count_as_missing_where_the_target_requires_a_text() -> None:
    provider = provider_of(Capability(id="tool", description=" "), name="", package="a.b")
    written = write_for(provider, "mobile-mcp").provider
    assert (written.name, written.capabilities[0].description) == ("a.b", "tool")


@pytest.mark.parametrize("target", ["mobile-mcp", "appfunctions", "appfunctions+platform", "mmcp+draft"])
def test_a_definition_that_leads_back_to_itself_through_choices_of_one_has_a_kind(target: str) -> None:
    capability = Capability(
        id="tool", description="d", input=record({"p": optional(ref("A"))}), output=ref("A")
    )
    assert fit_for(
        provider_of(capability, definitions={"A": any_of(string(), one_of(ref("A")))}), target
    ).findings


def test_a_long_chain_of_references_is_followed() -> None:
    definitions: dict[str, Type] = {f"D{at}": ref(f"D{at + 1}") for at in range(5_000)}
    provider = provider_of(_taking(ref("D0")), definitions={**definitions, "D5000": RECORD})
    (written,) = fit_for(provider, "mobile-mcp").provider.capabilities
    assert properties_of(written.input)["value"].type.kind == "object"


def test_a_keyword_that_a_target_refuses_at_the_top_is_kept_below() -> None:
    choice = {"anyOf": [{"required": ["a"]}, {"required": ["b"]}]}
    inner = record({"a": optional(string())}, keywords=choice)
    outer = inner.model_copy(update={"properties": {"a": optional(inner)}})
    capacity = everything(input_shape="plain-object", top_words_excluded=["anyOf"])
    fitted = _fit(provider_of(Capability(id="do", input=outer)), capacity)
    assert facts_of(fitted, INPUT) == {
        "/keywords/anyOf": ("keyword-moved", Level.WIDENED),
        "/description": TEXT_ADDED,
    }
    written = fitted.provider.capabilities[0].input
    assert written.keywords == {}
    assert properties_of(written)["a"].type == inner
    assert '"required":["a"]' in (written.description or "")


def test_a_dialect_that_states_nothing_carries_what_its_format_does(monkeypatch: pytest.MonkeyPatch) -> None:
    stated = {"id": "1", "summary": "One"}
    usual = {"id": "f", "title": "F", "capacity": {"capability_fields": ["title"], "types": {"*": {}}}}
    unwritten, without_usual = {"not_written_because": "it is old"}, {"id": "f", "title": "F"}

    def load(table: dict[str, Any], dialect: dict[str, Any]) -> Capacity | None:
        monkeypatch.setattr(loading, "read_table_file", lambda _: deepcopy({**table, "dialects": [dialect]}))
        return loading.load_format_tables.__wrapped__("f").dialects[0].capacity

    written, own = load(usual, stated), load(usual, {**stated, "capacity": {"capability_fields": []}})
    fields = [set() if capacity is None else capacity.capability_fields for capacity in (written, own)]
    assert fields == [{"title"}, set()]
    assert load(usual, stated | unwritten) is None
    for table, dialect in (
        (without_usual, stated),
        (usual, {**stated, **unwritten, "capacity": usual["capacity"]}),
    ):
        with pytest.raises(ValueError, match="'1' has either a capacity or the reason"):
            load(table, dialect)

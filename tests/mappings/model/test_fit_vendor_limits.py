"""Limits of the tool lists of model vendors: words at the top, names of parameters, references, choices."""

from droidgate_mappings.fit import Fitted, fit_provider
from droidgate_mappings.model.capability import Capability, Provider
from droidgate_mappings.model.findings import Level
from droidgate_mappings.model.types import ObjectType, OneOfType, Type
from droidgate_mappings.tables.capacity import Capacity
from mappings.model.capacities import everything
from model_types import any_of, int64, optional, properties_of, record, ref, required, string

NOTE = record({"text": required(string())})
INPUT = "/capabilities/0/input"


def fit(input_: Type, capacity: Capacity) -> tuple[Fitted, dict[str, tuple[str, Level]]]:
    provider = Provider(
        protocol="test", capabilities=(Capability(id="do", input=input_),), definitions={"Note": NOTE}
    )
    fitted = fit_provider(provider, capacity, "target", "dialect")
    return fitted, {finding.pointer: (finding.code, finding.level) for finding in fitted.findings}


def written_input(fitted: Fitted) -> Type:
    return fitted.provider.capabilities[0].input


def test_a_word_that_is_refused_at_the_top_is_carried_below() -> None:
    choice = {"anyOf": [{"required": ["a"]}, {"required": ["b"]}]}
    inner = record({"a": optional(string())}, keywords=choice)
    outer = inner.model_copy(update={"properties": {"a": optional(inner)}})
    capacity = everything(input_shape="plain-object", top_words_excluded=["anyOf"])
    fitted, findings = fit(outer, capacity)
    assert findings == {
        f"{INPUT}/keywords/anyOf": ("keyword-moved", Level.WIDENED),
        f"{INPUT}/description": ("text-added", Level.MOVED),
    }
    written = written_input(fitted)
    assert written.keywords == {}
    assert properties_of(written)["a"].type == inner
    assert written.description is not None
    assert '"required":["a"]' in written.description


def test_an_input_without_parameters_states_that_it_has_none() -> None:
    fitted, findings = fit(ObjectType(), everything(input_shape="plain-object"))
    assert written_input(fitted).keywords == {"properties": {}}
    assert findings == {f"{INPUT}/keywords/properties": ("type-stated", Level.RENAMED)}


def test_only_the_listed_keywords_are_carried() -> None:
    item = string(keywords={"minLength": 1, "title": "T"})
    taken = record({"a": optional(item)})
    fitted, findings = fit(taken, everything(keyword_words=["title"]))
    written = written_input(fitted)
    assert properties_of(written)["a"].type.keywords == {"title": "T"}
    assert properties_of(written)["a"].type.description == "[minLength: 1]"
    assert findings[f"{INPUT}/properties/a/type/keywords/minLength"] == ("keyword-moved", Level.WIDENED)


def test_a_parameter_is_renamed_and_the_properties_of_its_value_are_not() -> None:
    inner = record({"a b": optional(string())})
    words = {"dependentRequired": {"a b": ["c"]}}
    outer = record({"a b": optional(inner), "c": optional(string())}, keywords=words)
    fitted, findings = fit(outer, everything(parameter_rule={"allowed": "[a-z_]"}))
    written = written_input(fitted)
    assert list(properties_of(written)) == ["a_b", "c"]
    assert properties_of(written)["a_b"].type == inner
    assert [(name.original, name.written) for name in fitted.names] == [("a b", "a_b")]
    # It would speak of a parameter that has another name.
    assert findings[f"{INPUT}/keywords/dependentRequired"] == ("keyword-moved", Level.WIDENED)
    assert written.keywords == {}


def test_a_reference_with_a_description_becomes_a_choice_of_one() -> None:
    described = ref("Note", description="What to keep")
    taken = record({"a": optional(described), "b": optional(ref("Note", nullable=True))})
    fitted, findings = fit(taken, everything(reference_facts=False))
    written = written_input(fitted)
    assert properties_of(written)["a"].type == any_of(ref("Note"), description="What to keep")
    assert properties_of(written)["b"].type == ref("Note", nullable=True)
    assert {code for code, _ in findings.values()} == {"reference-wrapped"}
    assert {level for _, level in findings.values()} == {Level.RENAMED}


def test_an_exclusive_choice_is_widened_only_where_a_value_can_be_of_two() -> None:
    capacity = everything(inclusive_only=True)
    number = int64()
    for alternatives, level in (((string(), number), Level.RENAMED), ((NOTE, ObjectType()), Level.WIDENED)):
        taken = record({"a": optional(OneOfType(alternatives=alternatives))})
        fitted, findings = fit(taken, capacity)
        assert findings == {f"{INPUT}/properties/a/type/exclusive": ("exclusive-dropped", level)}
        written = written_input(fitted)
        assert properties_of(written)["a"].type == OneOfType(alternatives=alternatives, exclusive=False)

"""Alternatives with class names are distinguished by `schemaType`, even if their properties are the same."""

from typing import Any

import pytest
from jsonschema import Draft202012Validator

from droidgate_mappings.json_schema import add_discriminators, read_schema, write_schema
from droidgate_mappings.model.capability import Capability, Provider
from droidgate_mappings.model.findings import Level
from droidgate_mappings.model.json_values import Json, canonical_json
from droidgate_mappings.model.types import AllOfType, ObjectType, OneOfType, RefType, Type
from droidgate_mappings.values.coercion import UnfitValueError, ValueFitter
from model_types import all_of, int32, int64, one_of, optional, properties_of, record, ref, required, string

SIZE = {"size": required(int32())}
DEFINITIONS: dict[str, Type] = {
    "Circle": record(SIZE, qualified_name="a.Circle", nullable=True),
    "Square": record(SIZE, qualified_name="a.Square", nullable=True),
    "Plain": record(SIZE),
    "Merged": all_of(ref("Plain"), ObjectType(), qualified_name="a.Merged"),
    "Closed": ObjectType(qualified_name="a.Closed", keywords={"additionalProperties": False}),
    "Own": record({"schemaType": optional(string())}, qualified_name="a.Own"),
}


def _choice(*names: str, **facts: Any) -> OneOfType:
    return OneOfType(alternatives=tuple(ref(name) for name in names), **facts)


def _written(choice: OneOfType) -> tuple[OneOfType, dict[str, Any]]:
    taken = record({"shape": optional(choice)})
    provider = Provider(
        protocol="test", definitions=DEFINITIONS, capabilities=(Capability(id="a", input=taken),)
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


@pytest.mark.parametrize("choice", [
    _choice("Circle", "Square"),
    _choice("Circle", "Merged"),
    _choice("Circle", "Square", nullable=True),
    one_of(DEFINITIONS["Circle"], DEFINITIONS["Square"]),
])  # fmt: skip
def test_classes_with_the_same_properties_stay_valid(choice: OneOfType) -> None:
    _, schema = _written(choice)
    validator = Draft202012Validator(schema)
    classes = [_name_of(alternative) for alternative in choice.alternatives]
    for name in classes:
        assert validator.is_valid({"schemaType": name, "size": 1})
        assert not validator.is_valid({"schemaType": name, "size": "1"})
    assert not validator.is_valid({"schemaType": "a.Other", "size": 1})
    assert not validator.is_valid({"size": 1})
    assert validator.is_valid(None) is choice.nullable


def _name_of(alternative: Type) -> str | None:
    kept = DEFINITIONS[alternative.name] if isinstance(alternative, RefType) else alternative
    assert isinstance(kept, ObjectType | AllOfType)
    return kept.qualified_name


@pytest.mark.parametrize("name", ["a.Circle", "a.Square", "a.Merged"])
def test_a_call_with_a_class_name_is_that_class(name: str) -> None:
    value: Json = {"schemaType": name, "size": 1}
    fitter = ValueFitter(DEFINITIONS, exact=True)
    assert fitter.fit(value, _choice("Circle", "Square", "Merged")) == value
    with pytest.raises(UnfitValueError):
        fitter.fit({"schemaType": name, "size": "x"}, _choice("Circle", "Square", "Merged"))


@pytest.mark.parametrize("choice", [
    _choice("Circle"),
    _choice("Circle", "Square", exclusive=False),
    _choice("Plain", "Plain"),
    _choice("Closed", "Own"),
    one_of(string(), int64()),
])  # fmt: skip
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


def test_a_schema_of_others_that_looks_alike_is_read_as_it_is() -> None:
    stated = {"type": "object", "properties": {"schemaType": {"const": "A"}}, "required": ["schemaType"]}
    schema = {"oneOf": [{"allOf": [{"type": "object"}, stated]}, {"type": "string"}]}
    root, definitions = read_schema(schema)
    assert isinstance(root, OneOfType)
    assert root.alternatives[0].kind == "all-of"
    assert write_schema(root, definitions) == schema

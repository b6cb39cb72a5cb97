"""Schemas that no value, or not the named value, can satisfy; judged by package jsonschema and by Node.

Each row has a schema that gets one finding, and the same schema mended, which gets none.
"""

import json
import subprocess
import tarfile
from random import Random
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given
from jsonschema import Draft7Validator, Draft202012Validator
from jsonschema.validators import validator_for

from droidgate_mappings.model.capability import Place
from droidgate_mappings.model.findings import Finding, Level
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.values.patterns import find_pattern_error
from droidgate_mappings.values.schema_checks import RULES, check_schema, is_plain_schema
from requirements_of_tests import require

DRAFT_4 = "http://json-schema.org/draft-04/schema#"
DRAFT_7 = "http://json-schema.org/draft-07/schema#"
ERROR, WARNING, NOTE = Level.ERROR, Level.WARNING, Level.NOTE


def check(schema: Json) -> tuple[Finding, ...]:
    return tuple(check_schema(schema, pointer="", source=Place(path="schema.json")))


def has(**properties: Json) -> dict[str, Json]:
    return {"type": "object", "properties": properties}


def defined(schema: Json, **definitions: Json) -> dict[str, Json]:
    return {**schema, "$defs": definitions}


REF_A: dict[str, Json] = {"$ref": "#/$defs/a"}
TEXT: dict[str, Json] = {"type": "string"}
CLOSED: dict[str, Json] = {"additionalProperties": False}
DOUBLING: dict[str, Json] = {
    "a" * length: {"allOf": [{"$ref": f"#/$defs/{'a' * (length + 1)}"}] * 2} for length in range(1, 30)
} | {"a" * 30: {}}

# fmt: off
FAULTS: dict[str, tuple[str, Level, str, Json, Json]] = {
    "a type of another language":
        ("form", ERROR, "/properties/a/type", has(a={"type": "int"}), has(a={"type": "integer"})),
    "a list of types with an unknown one":
        ("form", ERROR, "/properties/a/type", has(a={"type": ["string", "none"]}),
        has(a={"type": ["string", "null"]})),
    "an enum that is a text":
        ("form", ERROR, "/properties/a/enum", has(a={"enum": "x"}), has(a={"enum": ["x"]})),
    "a minimum in quotes":
        ("form", ERROR, "/properties/a/minimum", has(a={"minimum": "1"}), has(a={"minimum": 1})),
    "an anyOf without alternatives":
        ("form", ERROR, "/properties/a/anyOf", has(a={"anyOf": []}), has(a={"anyOf": [{}]})),
    "a step of 0":
        ("form", ERROR, "/properties/a/multipleOf", has(a={"multipleOf": 0}), has(a={"multipleOf": 1})),
    "a type word in place of a schema": ("form", ERROR, "/properties/a", has(a="string"), has(a=TEXT)),
    "required at a property, as in draft 3":
        ("form", ERROR, "/properties/a/required", has(a={"required": True}),
        {**has(a={}), "required": ["a"]}),
    "a length below 0":
        ("form", ERROR, "/properties/a/minLength", has(a={"minLength": -1}), has(a={"minLength": 0})),
    "a property that is required twice":
        ("form", ERROR, "/required", {**has(a={}), "required": ["a", "a"]}, {**has(a={}), "required": ["a"]}),
    "a list of items, as in older dialects":
        ("form", ERROR, "/properties/a/items", has(a={"items": [TEXT]}),
        {**has(a={"items": [TEXT]}), "$schema": DRAFT_7}),
    "an unknown type among the items of draft 7":
        ("form", ERROR, "/properties/a/items/0/type",
        {"$schema": DRAFT_7, **has(a={"items": [{"type": "str"}]})},
        {"$schema": DRAFT_7, **has(a={"items": [TEXT]})}),
    "an empty list of required names in draft 4":
        ("form", ERROR, "/required", {"$schema": DRAFT_4, "required": []}, {"required": []}),
    "a fault in a definition":
        ("form", ERROR, "/$defs/a/type", defined(REF_A, a={"type": "text"}), defined(REF_A, a=TEXT)),
    "a list in place of a schema": ("form", ERROR, "", [], {}),
    "an unknown dialect":
        ("dialect", WARNING, "/$schema", {"$schema": "https://example.com/schema"}, {"$schema": DRAFT_7}),
    "a reference to a definition that is not there":
        ("reference", ERROR, "/properties/x/$ref", has(x=REF_A), defined(has(x=REF_A), a={})),
    "a reference to a definition of another name":
        ("reference", ERROR, "/$ref", {"$ref": "#/$defs/b", "$defs": {"a": {}}},
        {"$ref": "#/$defs/a", "$defs": {"a": {}}}),
    "a reference to an anchor that is not there":
        ("reference", ERROR, "/$ref", defined({"$ref": "#b"}, a={"$anchor": "a"}),
        defined({"$ref": "#a"}, a={"$anchor": "a"})),
    "a reference to a list":
        ("reference", ERROR, "/properties/x/$ref", has(x={"$ref": "#/properties/y/enum"}, y={"enum": ["a"]}),
        has(x={"$ref": "#/properties/y"}, y={"enum": ["a"]})),
    "a reference that leads back to itself":
        ("reference", ERROR, "/$defs/a/$ref", defined({}, a=REF_A), defined({}, a={"items": REF_A})),
    "a reference into an embedded schema that lacks the definition":
        ("reference", ERROR, "/$defs/a/$ref",
        defined({"$id": "https://a.example/r"}, a={"$id": "in", "$ref": "#/$defs/b"}),
        defined({"$id": "https://a.example/r"}, a={"$id": "in", "$ref": "#/$defs/b", "$defs": {"b": {}}})),
    "a reference to another document":
        ("remote-reference", WARNING, "/$ref", {"$ref": "https://a.example/a.json"},
        defined({"$ref": "a.json"}, a={"$id": "a.json"})),
    "a pattern with an open group":
        ("pattern", ERROR, "/properties/a/pattern", has(a={"pattern": "(a"}), has(a={"pattern": "(a)"})),
    "a pattern with a flag of Python":
        ("pattern", ERROR, "/pattern", {"pattern": "(?i)a"}, {"pattern": "[aA]"}),
    "a pattern that ends as Python's do":
        ("pattern", ERROR, "/pattern", {"pattern": r"a\Z"}, {"pattern": "a$"}),
    "a name of properties that is not a pattern":
        ("pattern", ERROR,
        "/patternProperties/[", {"patternProperties": {"[": {}}}, {"patternProperties": {"[a]": {}}}),
    "a required name that is not described":
        ("required-unknown", NOTE, "/required", {**has(a={}), "required": ["b"]},
        {**has(b={}), "required": ["b"]}),
    "a required name that is not described in a branch either":
        ("required-unknown", NOTE, "/anyOf/0/required", {**has(a={}), "anyOf": [{"required": ["b"]}]},
        {**has(a={}), "anyOf": [{"required": ["a"]}]}),
    "a required name that nothing else may have":
        ("required-unknown", ERROR, "/required", {**has(a={}), "required": ["b"], **CLOSED},
        {**has(b={}), "required": ["b"], **CLOSED}),
    "a required name whose schema is false":
        ("required-unknown", ERROR, "/required", {**has(a=False), "required": ["a"]}, has(a=False)),
    "a required name whose schema excludes everything":
        ("required-unknown", ERROR, "/required", {**has(a={"not": {}}), "required": ["a"]},
        {**has(a={"not": {"const": 1}}), "required": ["a"]}),
    "a minimum above the maximum":
        ("bounds", ERROR, "/minimum", {"minimum": 5, "maximum": 3}, {"minimum": 3, "maximum": 3}),
    "a text that is longer than allowed":
        ("bounds", ERROR, "/minLength", {"minLength": 5, "maxLength": 3}, {"minLength": 3, "maxLength": 3}),
    "a list that is longer than allowed":
        ("bounds", ERROR, "/minItems", {"minItems": 2, "maxItems": 1}, {"minItems": 1, "maxItems": 1}),
    "an enum value of another type":
        ("enum", WARNING, "/enum/1", {**TEXT, "enum": ["a", 1]}, {**TEXT, "enum": ["a", "1"]}),
    "an enum with null and a type without":
        ("enum", WARNING, "/enum/1", {**TEXT, "enum": ["a", None]},
        {"type": ["string", "null"], "enum": ["a", None]}),
    "an enum with values of another type only":
        ("enum", ERROR, "/enum/0", {**TEXT, "enum": [1, 2]}, {"enum": [1, 2]}),
    "an enum value that is too long":
        ("enum", WARNING, "/enum/1", {"maxLength": 1, "enum": ["a", "bc"]}, {"enum": ["a", "bc"]}),
    "an enum without values": ("enum", ERROR, "/enum", {"enum": []}, {"enum": ["a"]}),
    "a constant of another type": ("const", ERROR, "/const", {**TEXT, "const": 1}, {**TEXT, "const": "1"}),
    "a default of another type":
        ("default", WARNING, "/default", {**TEXT, "default": 1}, {**TEXT, "default": "1"}),
    "null for a default":
        ("default", WARNING, "/default", {**TEXT, "default": None},
        {"type": ["string", "null"], "default": None}),
    "a default above the maximum":
        ("default", WARNING, "/default", {"maximum": 3, "default": 4}, {"maximum": 3, "default": 3.0}),
    "a default that is not one of the values":
        ("default", WARNING, "/default", {"enum": ["a"], "default": "b"}, {"enum": ["a"], "default": "a"}),
    "a default that the pattern refuses":
        ("default", WARNING, "/default", {"pattern": "^a+$", "default": "b"},
        {"pattern": "^a+$", "default": "a"}),
    "a default that no alternative accepts":
        ("default", WARNING, "/default", {"anyOf": [TEXT], "default": 1}, {"anyOf": [TEXT], "default": "1"}),
    "a default that the referenced schema refuses":
        ("default", WARNING, "/properties/x/default", defined(has(x={**REF_A, "default": 1}), a=TEXT),
        defined(has(x={**REF_A, "default": "1"}), a=TEXT)),
    "a default with an item of another type":
        ("default", WARNING, "/default", {"items": TEXT, "default": ["a", 1]},
        {"items": TEXT, "default": ["a"]}),
    "a default that an expensive pattern of another dialect refuses":
        ("default", WARNING, "/default",
        {"allOf": [{"$schema": DRAFT_7, "pattern": "^(a+)+$"}], "default": "a" * 40 + "b"},
        {"allOf": [{"$schema": DRAFT_7, "pattern": "^(a+)+$"}], "default": "a" * 40}),
    "a default that is not a multiple":
        ("default", WARNING, "/default", {"multipleOf": 0.1, "default": 0.35},
        {"multipleOf": 0.1, "default": 0.3}),
}

CLEAN: dict[str, Json] = {
    "a schema that is true": True,
    "a recursive schema": {**has(children={"type": "array", "items": {"$ref": "#"}})},
    "a required name that a referenced schema describes":
        defined({"allOf": [REF_A], "required": ["b"]}, a=has(b={})),
    "a required name of a definition that its user describes":
        defined({"allOf": [REF_A, has(b={})]}, a={"required": ["b"]}),
    "a required name that a condition describes":
        {"if": has(a={"const": 1}), "then": {"required": ["b"]}, "else": has(b={})},
    "a required name in a map of any names": {"additionalProperties": TEXT, "required": ["a"]},
    "a required name that a pattern allows": {"patternProperties": {"^a": {}}, "required": ["a"], **CLOSED},
    "a required name that a schema elsewhere may describe": {"$ref": DRAFT_7, "required": ["a"]},
    "what is excluded inside of not": {"not": {"minimum": 5, "maximum": 3, "required": ["a"], "enum": []}},
    "properties that are called like keywords":
        has(**{"$ref": TEXT, "not": {"type": "object"}, "pattern": TEXT, "enum": TEXT, "required": TEXT}),
    "null in an enum that OpenAPI calls nullable": {**TEXT, "nullable": True, "enum": ["a", None]},
    "null for the default of what OpenAPI calls nullable": {**TEXT, "nullable": True, "default": None},
    "a reference under a word of OpenAPI": {"$ref": "#/components/a", "components": {"a": TEXT}},
    "a reference to a definition that is true": defined(REF_A, a=True),
    "a reference with escaped characters": {"$ref": "#/$defs/a~1b%20c", "$defs": {"a/b c": {}}},
    "the id of a definition in draft 7":
        {"$schema": DRAFT_7, "$ref": "#a", "definitions": {"x": {"$id": "#a"}}},
    "a default next to a reference of draft 7, which is ignored":
        {"$schema": DRAFT_7, "$ref": "#/definitions/a", "default": "b", "definitions": {"a": TEXT}},
    "the meta-schema of draft 7": dict(Draft7Validator.META_SCHEMA),
    "an unusual pattern": {"pattern": r"^(?=[^\s])(?<year>\d{4})-\k<year>[\w.\-]+\/$"},
    "an expensive pattern and a default": {"pattern": "^(a+)+$", "default": "a" * 40},
    "names of properties by an expensive pattern, and a default":
        {"patternProperties": {"^(a+)+$": {}}, "additionalProperties": False, "default": {"a" * 40 + "b": 1}},
    "a whole number that is written as a fraction": {"type": "integer", "enum": [1.0]},
    "a default of a schema that takes too long": defined({**REF_A, "default": 1}, **DOUBLING),
}
# fmt: on


@pytest.mark.parametrize(("rule", "level", "pointer", "broken", "mended"), FAULTS.values(), ids=FAULTS)
def test_a_fault_is_reported_once_and_the_corrected_schema_has_no_finding(
    rule: str, level: Level, pointer: str, broken: Json, mended: Json
) -> None:
    (finding,) = check(broken)
    assert (finding.code, finding.level, finding.pointer) == (f"schema-{rule}", level, pointer)
    assert finding.hint
    assert finding.source == Place(path="schema.json", inner=pointer or None)
    assert check(mended) == ()


@pytest.mark.parametrize("schema", CLEAN.values(), ids=CLEAN)
def test_a_schema_that_can_be_satisfied_has_no_finding(schema: Json) -> None:
    assert check(schema) == ()


def test_every_rule_has_a_schema_that_breaks_it() -> None:
    assert {f"schema-{rule}" for rule, *_ in FAULTS.values()} == RULES.keys()


def test_every_fault_of_a_schema_is_reported_at_its_place() -> None:
    faults = [row for row in FAULTS.values() if row[2] and "$" not in json.dumps(row)]
    whole = has(**{f"p{number}": broken for number, (*_, broken, _) in enumerate(faults)})
    expected = {
        (f"schema-{rule}", f"/properties/p{number}{pointer}")
        for number, (rule, _, pointer, *_) in enumerate(faults)
    }
    assert {(finding.code, finding.pointer) for finding in check(whole)} == expected


@pytest.mark.parametrize(("schema", "message", "hint"), [
    ({"type": "int"}, '"int" is not a type of JSON Schema', 'write "integer"'),
    ({"type": ["string", "bool"]}, '"bool" is not a type of JSON Schema', 'write "boolean"'),
    ({"minimum": "1"}, '`minimum` is "1", which is not a number', "write a number, without quotes"),
    (has(a="integer"), '`a` is "integer", which is not a schema', 'write {"type": "integer"}'),
    ({"pattern": "(a"}, '"(a" is not a pattern of ECMA-262: "(" at character 1 is not closed', None),
    ({**TEXT, "enum": [1, "a"]}, "the enum value 1 is refused: the type is string", None),
    ({**TEXT, "enum": [1, 2]}, "every enum value is refused, the first is 1: the type is string", None),
    ({**TEXT, "enum": ["a", 1, 2]}, "2 enum values are refused, the first is 1: the type is string", None),
    (defined(has(x={**REF_A, "default": {"b": 1}}), a=has(b=TEXT)),
        'the default is {"b":1}, but at /b the type is string', None),
])  # fmt: skip
def test_a_message_names_the_fault_and_the_hint_its_fix(schema: Json, message: str, hint: str | None) -> None:
    (finding,) = check(schema)
    assert finding.message == message
    assert hint in {None, finding.hint}


WORDS = [
    "type", "title", "description", "format", "properties", "required", "additionalProperties", "items",
    "enum", "default", "$schema", "minimum", "anyOf", "multipleOf", "minLength", "pattern", "not", "$defs",
]  # fmt: skip
VALUES = (
    st.none()
    | st.booleans()
    | st.integers(-2, 2)
    | st.sampled_from([0.5, "object", "string", "integer", "nothing", DRAFT_4, DRAFT_7])
)
TYPES = st.sampled_from(["object", "string", "integer", "nothing"])
SCHEMAS = st.recursive(
    st.fixed_dictionaries({}, optional={"type": TYPES, "title": st.text(max_size=3), "default": VALUES})
    | VALUES,
    lambda inner: (
        st.fixed_dictionaries(
            {"type": TYPES},
            optional={
                "properties": st.dictionaries(st.sampled_from(WORDS), inner, max_size=3),
                "required": st.lists(st.sampled_from(WORDS), max_size=2) | VALUES,
                "items": inner,
                "enum": st.lists(VALUES, max_size=2),
                "anyOf": st.lists(inner, max_size=2),
            },
        )
        | st.dictionaries(st.sampled_from(WORDS), inner, max_size=2)
    ),
    max_leaves=8,
)


@given(schema=SCHEMAS)
def test_a_form_is_wrong_where_the_meta_schema_says_so(schema: Any) -> None:
    has_dialect = isinstance(schema, dict) and isinstance(schema.get("$schema"), str)
    chosen = validator_for(schema if has_dialect else True, default=Draft202012Validator)
    errors = list(chosen(chosen.META_SCHEMA).iter_errors(schema))
    assert bool(errors) is any(finding.code == "schema-form" for finding in check(schema))
    if is_plain_schema(schema):
        assert errors == []


SIMPLE = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(
            ["string", "integer", "number", "null", "boolean", "array", ["string", "null"]]
        ),
        "minimum": st.sampled_from([0, 1, 1.5]),
        "maximum": st.sampled_from([0, 1.5, 2]),
        "exclusiveMinimum": st.sampled_from([0, 1]),
        "minLength": st.sampled_from([0, 1, 2]),
        "maxLength": st.sampled_from([1, 2]),
        "multipleOf": st.sampled_from([1, 2, 0.5]),
        "pattern": st.sampled_from(["^a", "b$"]),
        "items": st.sampled_from([{"type": "string"}, False]),
        "const": st.sampled_from([1, "a"]),
        "nullable": st.booleans(),
    },
)
INSTANCES = st.sampled_from([None, True, 0, 1, 1.0, 1.5, 2, 3, "", "a", "ab", "abc", [], ["a"], [1]])


@given(schema=SIMPLE, value=INSTANCES)
def test_a_default_is_refused_where_the_validator_refuses_it(schema: Any, value: Json) -> None:
    accepted = Draft202012Validator(schema).is_valid(value) or (
        value is None and schema.get("nullable") is True
    )
    findings = check({**schema, "default": value})
    assert accepted is not any(finding.code == "schema-default" for finding in findings)


DRAFTS = {f"draft{number}": f"http://json-schema.org/draft-0{number}/schema#" for number in (3, 4, 6, 7)}


@pytest.mark.slow
@pytest.mark.requires("json-schema-suite")
def test_official_suite_schemas_only_have_the_findings_that_they_are_about() -> None:
    pairs: set[tuple[str, str]] = set()
    with tarfile.open(require("json-schema-suite")) as archive:
        for member in archive.getmembers():
            _, _, name = member.name.partition("/json/tests/")
            draft, _, file = name.partition("/")
            content = archive.extractfile(member) if file.endswith(".json") else None
            for case in json.load(content) if content and draft != "draft-next" else ():
                schema = case["schema"]
                if draft in DRAFTS and isinstance(schema, dict):
                    schema = {"$schema": DRAFTS[draft], **schema}
                codes = {item.code for item in check(schema) if item.code != "schema-required-unknown"}
                pairs.update((code, file) for code in codes)
    assert {item for item in pairs if "remote" not in item[0] and "dialect" not in item[0]} == {
        ("schema-default", "default.json"), ("schema-bounds", "minContains.json"),
    }  # fmt: skip
    unknown = {file.rpartition("/")[2] for code, file in pairs if code == "schema-dialect"}
    assert unknown <= {"vocabulary.json", "format-assertion.json"}


PIECES = [
    *("a", "z", "-", "1", ",", "é", "[", "[^", "]", "(", "(?:", "(?=", "(?<!", "(?<n>", "(?P<n>", "(?i)"),
    *("(?>", ")", "*", "+", "?", "{", "}", "{2}", "{3,1}", "{1,}", "|", "^", "$", ".", r"\d", r"\b", r"\B"),
    *(r"\Z", r"\-", r"\/", r"\1", r"\2", r"\k<n>", r"\k", r"\x41", r"\x", r"\u0041", r"\u{41}", r"\p{L}"),
    *(r"\pL", r"\c", r"\cA", r"\0", r"\01", "\\", r"\_", r"\]", r"\["),
]
SCRIPT = """
const accepts = (text, flags) => { try { new RegExp(text, flags); return true } catch { return false } };
const texts = JSON.parse(require("fs").readFileSync(0));
console.log(JSON.stringify(texts.map(text => [accepts(text, "u"), accepts(text, "")])));
"""


@pytest.mark.requires("node")
def test_a_text_is_a_pattern_where_javascript_takes_it() -> None:
    draw = Random(5)
    texts = ["".join(draw.choices(PIECES, k=draw.randint(1, 7))) for _ in range(20_000)]
    command = [str(require("node")), "-e", SCRIPT]
    answer = subprocess.run(command, input=json.dumps(texts), capture_output=True, text=True, check=True)
    odd = []
    for text, (by_unicode, by_annex_b) in zip(texts, json.loads(answer.stdout), strict=True):
        error = find_pattern_error(text)
        if by_unicode:
            right = error is None
        elif not by_annex_b:
            right = error is not None
        else:
            right = error is None or error.startswith("ECMA-262 has no escape")
        if not right:
            odd.append((text, error))
    assert odd == []

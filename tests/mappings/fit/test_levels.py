"""The level of each loss follows from the values that the target accepts (docs/concepts/levels.md).

An access rule survives a conversion, or a security finding names each one that nothing enforces then.
"""

import operator
from typing import Any

import pytest

from droidgate_mappings.compare import Weight
from droidgate_mappings.fit import fit_provider
from droidgate_mappings.fit.provider_fit import is_restriction
from droidgate_mappings.model.capability import Capability, CapabilityAccess, ComponentAccess, Provider
from droidgate_mappings.model.findings import CONVERSION_LEVELS, LINT_LEVELS, Level, at_least
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.model.types import AnyType, ArrayType, ObjectType, OneOfType, OpaqueType, Type
from mappings.fit.capacities import everything, facts_of, fit_for
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
    provider_of,
    record,
    ref,
    required,
    string,
)

RECORD = record({"a": optional(string())})
NULLABLE_RECORD = RECORD.model_copy(update={"nullable": True})
DEFINITIONS: dict[str, Type] = {
    "Record": RECORD,
    "Colour": string(),
    "Choice": one_of(string(), int64()),
    "Loop": all_of(ref("Loop"), string()),
    "Name": string(nullable=True),
}
MOBILE, JETPACK = "mobile-mcp+1.0", "appfunctions+v2"


def _levels(item: Type, target: str) -> dict[str, tuple[str, Level]]:
    """Return code and level by pointer below the type of the only parameter."""
    capability = Capability(id="c", description="Do it", input=record({"p": required(item)}))
    fitted = fit_for(provider_of(capability, definitions=DEFINITIONS), target)
    return facts_of(fitted, "/capabilities/0/input/properties/p/type")


OTHER_KINDS = {
    "an integer of 32 bits": (MOBILE, int32(), Level.WIDENED),
    "a float": (MOBILE, float32(), Level.WIDENED),
    "bytes": (MOBILE, binary(), Level.WIDENED),
    "null alone": (MOBILE, null(), Level.NARROWED),
    "any value": (MOBILE, AnyType(), Level.NARROWED),
    "no value": (MOBILE, AnyType(boolean=False), Level.WIDENED),
    "a reference to a record": (MOBILE, ref("Record"), Level.WIDENED),
    "a reference to an enum": (MOBILE, ref("Colour"), Level.WIDENED),
    "a reference to a choice of kinds": (MOBILE, ref("Choice"), Level.NARROWED),
    "a reference to a name": (MOBILE, ref("Name"), Level.NARROWED),
    "a record twice": (MOBILE, all_of(RECORD, ref("Record")), Level.WIDENED),
    "an integer twice": (MOBILE, all_of(int64(), int64()), Level.WIDENED),
    "an integer and a string at once": (MOBILE, all_of(int64(), string()), Level.NARROWED),
    "an all-of that refers to itself": (MOBILE, all_of(all_of(ref("Loop"))), Level.NARROWED),
    "a string or an integer": (MOBILE, one_of(string(), int64()), Level.NARROWED),
    "an enum or a string": (MOBILE, one_of(ref("Colour"), string()), Level.WIDENED),
    "a record or the same with null": (MOBILE, one_of(NULLABLE_RECORD, RECORD), Level.NARROWED),
    "a Parcelable": (MOBILE, OpaqueType(), Level.IMPOSSIBLE),
    # JSON Schema accepts anything in place of a Parcelable.
    "a Parcelable in JSON Schema": ("mcp+2025-11-25", OpaqueType(), Level.WIDENED),
    "a Parcelable in mMCP": ("mmcp+1.0", OpaqueType(), Level.WIDENED),
    # What agents with Jetpack do not see is written as text.
    "an object without properties as text": (JETPACK, ObjectType(), Level.NARROWED),
    "a choice as text": (JETPACK, one_of(string(), int64()), Level.NARROWED),
    "a choice with an object as text": (JETPACK, one_of(RECORD, ObjectType()), Level.NARROWED),
    "an all-of with an object as text": (JETPACK, all_of(RECORD, ObjectType()), Level.NARROWED),
}  # fmt: skip


@pytest.mark.parametrize(("target", "item", "level"), OTHER_KINDS.values(), ids=OTHER_KINDS)
def test_another_kind_is_widened_only_where_every_value_of_the_source_is_one_of_it(
    target: str, item: Type, level: Level
) -> None:
    assert _levels(item, target)["/kind"] == ("kind-changed", level)


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
], ids=str)  # fmt: skip
def test_a_lost_keyword_has_the_level_of_its_kind(keyword: str, value: Json, code: str, level: Level) -> None:
    levels = _levels(string(keywords={keyword: value}), MOBILE)
    assert levels[f"/keywords/{keyword}"] == (code, level)
    assert levels.get("/description", ("", ""))[0] == (
        "text-added" if code == "keyword-moved" else "field-defaulted"
    )


UNSTATED = int32(extensions={"json-schema-notation": {"unstatedBounds": ["minimum", "maximum"]}})
BOUNDS = "/extensions/json-schema-notation/unstatedBounds"
NOTED = record({"with space": optional(string(keywords={"minLength": 2}))})
TWO_DEFAULTS = any_of(string(keywords={"default": "today"}), keywords={"default": None}, nullable=True)
NAMED_AS_FIELDS = record({"extensions": optional(string()), "description": optional(string())})
LEAVES: dict[str, tuple[str, Type, str, tuple[str, Level] | None]] = {
    "an enum in a text": (MOBILE, string(enum=("a",)), "/enum", ("constraint-moved", Level.WIDENED)),
    "a pattern in a text": (MOBILE, string(pattern="^a"), "/pattern", ("constraint-moved", Level.WIDENED)),
    "a format in a text": (MOBILE, string(format="email"), "/format", ("constraint-moved", Level.MOVED)),
    "a format that repeats the kind": (MOBILE, int64(format="int64"), "/format",
        ("notation-dropped", Level.RENAMED)),
    "a format that states more": (MOBILE, int64(format="id"), "/format", ("constraint-moved", Level.MOVED)),
    "null in a text": (MOBILE, string(nullable=True), "/nullable", ("nullable-moved", Level.NARROWED)),
    "items in a text": (MOBILE, array(string()), "/items/kind", ("structure-moved", Level.WIDENED)),
    "properties in a text": (MOBILE, RECORD, "/properties/a/type/kind", ("structure-moved", Level.WIDENED)),
    "whether they are required": (MOBILE, RECORD, "/properties/a/required", ("structure-moved", Level.MOVED)),
    "a property named extensions": (MOBILE, NAMED_AS_FIELDS, "/properties/extensions/type/kind",
        ("structure-moved", Level.WIDENED)),
    "a property named description": (MOBILE, NAMED_AS_FIELDS, "/properties/description/type/kind",
        ("structure-moved", Level.WIDENED)),
    "an object that need not be one": (MOBILE, record({}, implicit=True), "/implicit",
        ("notation-dropped", Level.NARROWED)),
    "a text that need not be one": (MOBILE, string(implicit=True), "/implicit",
        ("notation-dropped", Level.RENAMED)),
    "an int32 without bounds is an integer": (MOBILE, UNSTATED, BOUNDS, ("notation-dropped", Level.RENAMED)),
    "an int32 without bounds gets some": (JETPACK, UNSTATED, BOUNDS, ("notation-dropped", Level.NARROWED)),
    "and stays an int32": (JETPACK, UNSTATED, "/kind", None),
    "the name of a class": (MOBILE, record({}, qualified_name="a.B"), "/qualified_name",
        ("class-dropped", Level.DROPPED)),
    "a description that the target requires": (MOBILE, int64(), "/description",
        ("field-defaulted", Level.DEFAULTED)),
    "an array of anything": (JETPACK, ArrayType(), "/items/kind", ("items-defaulted", Level.NARROWED)),
    "an array of arrays": (JETPACK, array(array(string())), "/items/kind", ("kind-changed", Level.NARROWED)),
    "items that may be null": (JETPACK, array(string(nullable=True)), "/items/nullable",
        ("nullable-moved", Level.NARROWED)),
    "an object with properties is one": (JETPACK, RECORD, "/kind", None),
    "a reference to one is one": (JETPACK, ref("Record"), "/kind", None),
    "a choice of them is one": (JETPACK, one_of(RECORD, ref("Record")), "/kind", None),
    "a choice gets a class name": (JETPACK, one_of(RECORD, ref("Record")), "/qualified_name",
        ("field-defaulted", Level.DEFAULTED)),
    "so does its object": (JETPACK, one_of(RECORD, ref("Record")), "/alternatives/0/qualified_name",
        ("field-defaulted", Level.DEFAULTED)),
    "its reference has one": (JETPACK, one_of(RECORD, ref("Record")), "/alternatives/1/qualified_name", None),
    "null of an alternative": (JETPACK, one_of(RECORD, NULLABLE_RECORD), "/alternatives/1/nullable",
        ("nullable-moved", Level.RENAMED)),
    "is null of the choice": (JETPACK, one_of(RECORD, NULLABLE_RECORD), "/nullable",
        ("nullable-moved", Level.RENAMED)),
    "null of a member": (JETPACK, all_of(RECORD, NULLABLE_RECORD), "/members/1/nullable",
        ("nullable-moved", Level.RENAMED)),
    "is not null of the combination": (JETPACK, all_of(RECORD, NULLABLE_RECORD), "/nullable", None),
    "null of two exclusive alternatives is refused": (JETPACK, one_of(NULLABLE_RECORD, NULLABLE_RECORD),
        "/nullable", None),
    "a note on a renamed property of a choice of one": (JETPACK, any_of(NOTED, nullable=True),
        "/properties/with_space/type/description", ("text-added", Level.MOVED)),
    "a choice of one with a default of its own": (JETPACK, TWO_DEFAULTS, "/kind",
        ("alternative-unwrapped", Level.RENAMED)),
    "that default is in a text": (JETPACK, TWO_DEFAULTS, "/keywords/default",
        ("keyword-moved", Level.MOVED)),
    "it replaces that of the alternative": (JETPACK, TWO_DEFAULTS, "/alternatives/0/keywords/default",
        ("keyword-dropped", Level.DROPPED)),
}  # fmt: skip


@pytest.mark.parametrize(("target", "item", "leaf", "expected"), LEAVES.values(), ids=LEAVES)
def test_a_fact_of_a_type_is_lost_at_its_leaf(
    target: str, item: Type, leaf: str, expected: tuple[str, Level] | None
) -> None:
    assert _levels(item, target).get(leaf) == expected


@pytest.mark.parametrize(("alternatives", "level"), [
    pytest.param((string(), int64()), Level.RENAMED, id="a value is a text or a number"),
    pytest.param((string(), binary()), Level.NARROWED, id="bytes are a text, too"),
])  # fmt: skip
def test_several_alternatives_at_once_matter_only_where_a_value_can_be_of_two(
    alternatives: tuple[Type, ...], level: Level
) -> None:
    item = OneOfType(alternatives=alternatives, exclusive=False)
    provider = provider_of(Capability(id="c", output=item))
    fitted = fit_provider(provider, everything(exclusive_only=True), "target", "dialect")
    assert [(finding.code, finding.level) for finding in fitted.findings] == [("exclusive-assumed", level)]


def test_a_choice_of_one_scalar_is_that_scalar() -> None:
    assert set(_levels(one_of(string()), JETPACK).values()) == {("alternative-unwrapped", Level.RENAMED)}


def test_an_enum_around_a_nullable_alternative_does_not_allow_null() -> None:
    item = any_of(string(nullable=True), enum=("a",))
    fitted = fit_for(provider_of(Capability(id="c", input=record({"p": optional(item)}))), JETPACK)
    written = fitted.provider.capabilities[0].input
    assert properties_of(written)["p"].type == string(enum=("a",))


MOVED_TEXT, RENAMED_ID = ("text-moved", Level.MOVED), ("renamed", Level.RENAMED)
DROPPED, REPLACED = ("field-dropped", Level.DROPPED), ("characters-replaced", Level.DROPPED)
STATED_FIELD = ("field-defaulted", Level.DEFAULTED)
TOOL = Capability(id="create note", title="Title", description="bell \x07", version="2")
DECLARED: dict[str, Any] = {"package": "a.b", "component": ".Own", "name": "N", "instructions": "bell \x07"}
LOSSES_OF_PARTS: dict[str, tuple[str, dict[str, Any], dict[str, tuple[str, Level]]]] = {
    "another component": (MOBILE, {**DECLARED, "instructions": "Ask"}, {
        "/component": ("component-renamed", Level.RENAMED),
        "/instructions": MOVED_TEXT, "/capabilities/0/title": DROPPED,
        "/capabilities/0/description": REPLACED}),
    "what the source does not state": (MOBILE, {}, {
        "/component": STATED_FIELD, "/name": STATED_FIELD, "/description": STATED_FIELD}),
    "a moved text that loses characters": (MOBILE, DECLARED, {"/instructions": REPLACED}),
    "what a list of tools does not have": ("function-calling", DECLARED, {
        "/capabilities/0/id": RENAMED_ID, "/component": DROPPED, "/package": DROPPED, "/name": DROPPED,
        "/instructions": DROPPED, "/capabilities/0/title": DROPPED, "/capabilities/0/version": DROPPED}),
    "rules that keep nobody out": ("function-calling", {
        "access": ComponentAccess(exported=None, permission="")}, dict.fromkeys(
        ("/access/exported", "/access/permission"), ("notation-dropped", Level.RENAMED))),
    "a description where functions have none": ("appfunctions+v1", DECLARED, {
        "/capabilities/0/description": DROPPED}),
    "an output of an unknown type": ("appfunctions", {
        "protocol": "appfunctions", "capabilities": (TOOL.changed({"output": AnyType()}),)}, {
        "/capabilities/0/output/kind": ("output-unknown", Level.DROPPED)}),
    "null where an object is required": ("mcp+2025-11-25", {
        "capabilities": (TOOL.changed({"input": NULLABLE_RECORD}),)}, {
        "/capabilities/0/input/nullable": ("nullable-moved", Level.NARROWED)}),
    "a description where types have none": ("mmcp+broadcast", {
        "capabilities": (TOOL.changed({"input": record({"a": optional(string(description="A"))})}),)}, {
        "/capabilities/0/input/properties/a/type/description": MOVED_TEXT}),
}  # fmt: skip


@pytest.mark.parametrize(("target", "declared", "expected"), LOSSES_OF_PARTS.values(), ids=LOSSES_OF_PARTS)
def test_a_part_of_a_provider_or_capability_has_the_level_of_its_loss(
    target: str, declared: dict[str, Any], expected: dict[str, tuple[str, Level]]
) -> None:
    facts = facts_of(fit_for(provider_of(TOOL, **declared), target))
    assert {place: facts.get(place) for place in expected} == expected


def test_notes_leave_out_what_does_not_help_a_caller() -> None:
    inner = string(description="Who", keywords={"title": "A", "minLength": 2, "x-order": 1})
    item = record(
        {"a": required(inner)}, keywords={"additionalProperties": False, "title": "Record", "$schema": "s"}
    )
    capability = Capability(id="c", title="C", description="Do it.", input=record({"p": optional(item)}))
    (written,) = fit_for(provider_of(capability), "mobile-mcp").provider.capabilities
    assert written.description == "Do it."
    assert properties_of(written.input)["p"].type.description == (
        '[Structure: {"properties":{"a":{"description":"Who","minLength":2,"type":"string"}},'
        '"required":["a"],"type":"object"}]'
    )


def test_a_title_is_the_description_of_a_capability_that_has_no_other() -> None:
    fitted = fit_for(provider_of(Capability(id="c", title="Create note")), "mmcp")
    assert fitted.provider.capabilities[0].description == "Create note"
    assert facts_of(fitted)["/capabilities/0/title"][1] is Level.MOVED


@pytest.mark.parametrize(
    ("protocol", "kind"), [("mmcp", "object"), ("mcp", "object"), ("mobile-mcp", "null")]
)
def test_an_output_that_is_not_declared_is_text_where_the_protocol_returns_text(
    protocol: str, kind: str
) -> None:
    provider = provider_of(Capability(id="c", description="d"), protocol=protocol)
    fitted = fit_for(provider, "appfunctions")
    output = fitted.provider.capabilities[0].output
    assert output is not None
    assert output.kind == kind
    reported = {fact for place, fact in facts_of(fitted).items() if "/output" in place}
    assert reported == {("output-defaulted", Level.DEFAULTED)}
    if isinstance(output, ObjectType):
        assert output.properties == {"result": required(string())}


def test_an_object_as_output_without_further_facts_is_not_appended_to_a_description() -> None:
    fitted = fit_for(provider_of(Capability(id="c", description="d", output=ObjectType())), "mmcp")
    assert fitted.provider.capabilities[0].description == "d"
    reported = {fact for pointer, fact in facts_of(fitted).items() if "/output" in pointer}
    assert reported == {("output-dropped", Level.WIDENED)}


def test_security_reaches_every_threshold_of_a_conversion_and_no_other_level_reaches_it() -> None:
    for level in CONVERSION_LEVELS:
        assert at_least(Level.SECURITY, level)
        assert at_least(level, Level.SECURITY) == (level is Level.SECURITY)
    assert not any(at_least(Level.SECURITY, level) for level in LINT_LEVELS)


@pytest.mark.parametrize(
    "scale", [CONVERSION_LEVELS, LINT_LEVELS, tuple(Weight)], ids=["conversion", "lint", "weight"]
)
def test_levels_and_weights_compare_by_gravity(scale: tuple[Any, ...]) -> None:
    for position, milder in enumerate(scale):
        for graver in scale[position + 1 :]:
            assert milder < graver
            assert graver > milder
            assert not milder >= graver
            assert not graver <= milder
        assert milder <= milder  # noqa: PLR0124 - equal ones
    assert (min(scale), max(scale)) == (scale[0], scale[-1])


@pytest.mark.parametrize("other", ["dropped", Weight.SECURITY, Level.ERROR, 1, None], ids=repr)
def test_a_level_has_no_order_with_anything_else(other: Any) -> None:
    for compare in (operator.lt, operator.le, operator.gt, operator.ge):
        with pytest.raises(TypeError):
            compare(Level.DROPPED, other)
        with pytest.raises(TypeError):
            compare(other, Level.DROPPED)


BIND = "android.permission.BIND_APP_FUNCTION_SERVICE"
EXECUTE = "android.permission.EXECUTE_APP_FUNCTIONS"
OWN = "com.example.permission.CALL"
CLOSED_COMPONENT = ComponentAccess(exported=False, enabled=False, permission=OWN)
CLOSED_FUNCTION = CapabilityAccess(
    enabled_by_default=False, restrict_callers=True, scope="activity", access_level="self"
)
LOST = ("access-not-enforced", Level.SECURITY)
TRANSLATED = ("permission-translated", Level.RENAMED)
DEFAULTED = ("field-defaulted", Level.DEFAULTED)


def _fit(
    protocol: str, target: str, access: ComponentAccess, of_capability: CapabilityAccess
) -> tuple[Provider, dict[str, tuple[str, Level]]]:
    capability = Capability(id="c", description="d", access=of_capability)
    dialect = "v2" if protocol == "appfunctions" else None
    facts = {"protocol": protocol, "dialect": dialect, "component": ".Service", "access": access}
    fitted = fit_for(provider_of(capability, **facts), target)
    return fitted.provider, {place: fact for place, fact in facts_of(fitted).items() if "/access/" in place}


ANY, FREE = ComponentAccess(), CapabilityAccess()
TRUSTED = CapabilityAccess(restrict_callers=False, access_level="androidTrusted")
CONFIGURED = ComponentAccess(enabled={"": False, "v36": True}, permission=OWN)
OF_FUNCTION = [f"/capabilities/0/access/{name}" for name in (
    "enabled_by_default", "restrict_callers", "scope", "access_level",
)]  # fmt: skip
OF_COMPONENT = [f"/access/{name}" for name in ("exported", "enabled", "permission")]
NOTATION = ("notation-dropped", Level.RENAMED)


RULES_OF_ACCESS = {
    **{f"a component of {target} keeps its rules":
        (("test", target), CLOSED_COMPONENT, FREE, (CLOSED_COMPONENT, FREE), {})
        for target in ("mmcp", "mmcp+draft", "mmcp+broadcast", "mobile-mcp")},
    **{f"a function of {target} loses its rules":
        (("test", target), ANY, CLOSED_FUNCTION, (ANY, FREE), dict.fromkeys(OF_FUNCTION, LOST))
        for target in ("mmcp", "mobile-mcp")},
    # MCP keeps every rule as a note, and nothing enforces it.
    "MCP notes every rule":
        (("test", "mcp"), CLOSED_COMPONENT, CLOSED_FUNCTION, (CLOSED_COMPONENT, CLOSED_FUNCTION),
        dict.fromkeys([*OF_COMPONENT, *OF_FUNCTION], LOST)),
    # Android calls AppFunctions of services that are not exported.
    "AppFunctions need no exported service":
        (("test", "appfunctions"), ComponentAccess(exported=False), CLOSED_FUNCTION,
        (ComponentAccess(exported=False, permission=BIND),
            CLOSED_FUNCTION.model_copy(update={"scope": None})),
        {"/access/exported": LOST, "/access/permission": DEFAULTED, "/capabilities/0/access/scope": LOST}),
    # A component that does not state `exported` is written as exported.
    "exported that is not stated is written":
        (("mmcp", "mobile-mcp"), ComponentAccess(exported=None), FREE, (ANY, FREE),
        {"/access/exported": NOTATION}),
    **{f"a service that only Android calls is exported in {target}":
        (("appfunctions", target), ComponentAccess(exported=False, permission=BIND), FREE,
        (ComponentAccess(permission=EXECUTE), FREE),
        {"/access/exported": NOTATION, "/access/permission": TRANSLATED})
        for target in ("mmcp", "mmcp+broadcast", "mobile-mcp")},
    "exported of a service that only Android calls refuses nobody in MCP":
        (("appfunctions", "mcp"), ComponentAccess(exported=False, permission=BIND), FREE,
        (ComponentAccess(permission=EXECUTE), FREE),
        {"/access/exported": NOTATION, "/access/permission": LOST}),
    "a rule of a configuration is kept": (("mobile-mcp", "mmcp"), CONFIGURED, FREE, (CONFIGURED, FREE), {}),
    # Rules that restrict nobody are not security findings.
    "a rule that restricts nobody is not a security finding":
        (("test", "mmcp"), ANY, TRUSTED, (ANY, FREE), {OF_FUNCTION[1]: NOTATION, OF_FUNCTION[3]: NOTATION}),
}  # fmt: skip


@pytest.mark.parametrize(
    ("route", "component", "function", "written", "findings"), RULES_OF_ACCESS.values(), ids=RULES_OF_ACCESS
)
def test_rules_are_kept_or_each_that_is_not_enforced_is_a_security_finding(
    route: tuple[str, str],
    component: ComponentAccess,
    function: CapabilityAccess,
    written: tuple[ComponentAccess, CapabilityAccess],
    findings: dict[str, tuple[str, Level]],
) -> None:
    provider, reported = _fit(*route, component, function)
    assert (provider.access, provider.capabilities[0].access) == written
    assert reported == findings


@pytest.mark.parametrize(("protocol", "target", "stated", "written", "finding"), [
    pytest.param("appfunctions", "mmcp", BIND, EXECUTE, TRANSLATED, id="mmcp states that of callers"),
    pytest.param("appfunctions", "mobile-mcp", BIND, EXECUTE, TRANSLATED, id="mobile-mcp states it, too"),
    pytest.param("appfunctions", "mmcp", None, EXECUTE, TRANSLATED, id="mmcp states it where none is"),
    pytest.param("appfunctions", "mmcp", OWN, OWN, LOST, id="callers lack the app's own"),
    pytest.param("appfunctions", "mcp", BIND, EXECUTE, LOST, id="mcp cannot enforce that of app functions"),
    pytest.param("mcp", "appfunctions", EXECUTE, BIND, TRANSLATED, id="app functions have the service's"),
    pytest.param("mcp", "mobile-mcp", EXECUTE, EXECUTE, None, id="mobile-mcp keeps that of callers"),
    pytest.param("appfunctions", "appfunctions+v1", OWN, OWN, None, id="app functions keep the app's own"),
    pytest.param("appfunctions", "appfunctions+v1", BIND, BIND, None, id="app functions keep the service's"),
    pytest.param("appfunctions", "appfunctions+app-level", BIND, None, TRANSLATED, id="app level needs none"),
    pytest.param("mmcp", "appfunctions", None, BIND, DEFAULTED, id="app functions require one"),
    pytest.param("mmcp", "appfunctions", EXECUTE, BIND, TRANSLATED, id="app functions translate mmcp's"),
    pytest.param("mmcp", "appfunctions", OWN, BIND, LOST, id="the app's own is lost in app functions"),
    pytest.param("mmcp", "mobile-mcp", OWN, OWN, None, id="mobile-mcp keeps the app's own"),
    pytest.param("mmcp", "mcp", OWN, OWN, LOST, id="mcp cannot enforce the app's own"),
    pytest.param("mcp", "mmcp", OWN, OWN, None, id="mmcp keeps the app's own"),
])  # fmt: skip
def test_the_permission_that_callers_need_is_kept(
    protocol: str, target: str, stated: str | None, written: str | None, finding: tuple[str, Level] | None
) -> None:
    provider, findings = _fit(protocol, target, ComponentAccess(permission=stated), FREE)
    assert provider.access.permission == written
    assert findings.get("/access/permission") == finding


def test_a_service_that_is_new_to_its_functions_requires_that_only_android_binds_it() -> None:
    provider = provider_of(Capability(id="c"), protocol="appfunctions", dialect="app-level")
    fitted = fit_for(provider, "appfunctions")
    assert fitted.provider.access.permission == BIND
    assert facts_of(fitted, "/access/") == {"permission": TRANSLATED}


def test_an_access_level_that_nobody_knows_counts_as_a_restriction() -> None:
    assert is_restriction("access_level", "somethingNew")
    assert not is_restriction("access_level", "androidTrusted")

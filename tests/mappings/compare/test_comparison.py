"""What `compare_sets` calls breaking, compatible and text only; each case is one edit of a declaration."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from droidgate_mappings.compare import Comparison, compare_sets
from droidgate_mappings.json_schema import read_schema
from droidgate_mappings.model.capability import Capability, CapabilitySet, Effects, Provider, State
from droidgate_mappings.model.types import ObjectType, RefType, ScalarType, Type

Schema = dict[str, Any]


def _type(schema: Schema) -> tuple[Type, dict[str, Type]]:
    return read_schema(schema)


def _provider(*capabilities: Capability, **facts: Any) -> Provider:
    stated = {"protocol": "mmcp", "package": "app.one", "component": "app.one.Tools", **facts}
    return Provider(capabilities=capabilities, **stated)


def _compare(old: Provider, new: Provider) -> Comparison:
    return compare_sets(CapabilitySet(providers=(old,)), CapabilitySet(providers=(new,)))


def _changes(comparison: Comparison) -> list[tuple[str, str]]:
    return [(change.code, change.weight.value) for change in comparison.all_changes()]


def _given(schema: Schema) -> Provider:
    item, definitions = _type({"type": "object", "properties": {"x": schema}})
    return _provider(Capability(id="do", input=item), definitions=definitions)


def _taken(schema: Schema) -> Provider:
    item, definitions = _type(schema)
    return _provider(Capability(id="do", output=item), definitions=definitions)


def _of(kind: str) -> Callable[..., Schema]:
    return partial(dict, type=kind)


text, integer, number, boolean, array, object_ = map(
    _of, ("string", "integer", "number", "boolean", "array", "object")
)
TEXT_OR_INTEGER: Schema = {"anyOf": [text(), integer()]}

# What a change is to who sends a parameter, and to who reads a result.
WIDER, NARROWER = ("compatible", "breaking"), ("breaking", "compatible")
BROKEN, HARMLESS, WORDS = (("breaking",) * 2, ("compatible",) * 2, ("text-only",) * 2)
TYPES: list[tuple[str, Schema, Schema, str, tuple[str, str]]] = [
    ("integers become numbers", integer(), number(), "type-changed", WIDER),
    ("numbers become integers", number(), integer(), "type-changed", NARROWER),
    ("32 bits become 64", integer(format="int32", minimum=-2147483648, maximum=2147483647), integer(),
        "type-changed", WIDER),
    ("text becomes a number", text(), number(), "type-changed", BROKEN),
    ("anything becomes text", {}, text(), "type-changed", NARROWER),
    ("text becomes anything", text(), {}, "type-changed", WIDER),
    ("null is allowed", text(), {"type": ["string", "null"]}, "nullable-changed", WIDER),
    ("null is refused", {"type": ["string", "null"]}, text(), "nullable-changed", NARROWER),
    ("a value less", text(enum=["a", "b"]), text(enum=["a"]), "enum-changed", NARROWER),
    ("a value more", text(enum=["a"]), text(enum=["a", "b"]), "enum-changed", WIDER),
    ("another value", text(enum=["a"]), text(enum=["b"]), "enum-changed", BROKEN),
    ("an enum appears", text(), text(enum=["a"]), "enum-changed", NARROWER),
    ("values in another order", text(enum=["a", "b"]), text(enum=["b", "a"]), "order-changed", WORDS),
    ("a pattern appears", text(), text(pattern="^a"), "pattern-changed", NARROWER),
    ("another pattern", text(pattern="^b"), text(pattern="^a"), "pattern-changed", BROKEN),
    ("a format goes", text(format="date"), text(), "format-changed", WIDER),
    ("a lower bound rises", integer(minimum=1), integer(minimum=2.5), "keyword-changed", NARROWER),
    ("an upper bound rises", text(maxLength=5), text(maxLength=9), "keyword-changed", WIDER),
    ("a bound appears", text(), text(minLength=1), "keyword-changed", NARROWER),
    ("a bound of nothing appears", text(), text(minLength=0), "notation-changed", WORDS),
    ("multiples of more", integer(multipleOf=4), integer(multipleOf=2), "keyword-changed", WIDER),
    ("multiples of other numbers", integer(multipleOf=4), integer(multipleOf=6), "keyword-changed", BROKEN),
    ("an object is closed", object_(), object_(additionalProperties=False), "keyword-changed", NARROWER),
    ("an open object says so", object_(), object_(additionalProperties=True), "notation-changed", WORDS),
    ("an unknown keyword appears", object_(), object_(dependentRequired={"a": ["b"]}), "keyword-changed",
        NARROWER),
    ("another default", text(default="a"), text(default="b"), "keyword-changed", HARMLESS),
    ("another title", text(title="a"), text(title="b"), "text-changed", WORDS),
    ("other words", text(description="a"), text(description="b"), "text-changed", WORDS),
    ("arrays of anything become arrays of text", array(), array(items=text()), "items-changed", NARROWER),
    ("what an array holds", array(items=integer()), array(items=number()), "type-changed", WIDER),
    ("text becomes a choice", text(), TEXT_OR_INTEGER, "type-changed", WIDER),
    ("a choice becomes text", TEXT_OR_INTEGER, text(), "type-changed", NARROWER),
    ("a choice of other things", boolean(), TEXT_OR_INTEGER, "type-changed", BROKEN),
    ("one alternative more", TEXT_OR_INTEGER, {"anyOf": [boolean(), integer(), text()]}, "alternative-added",
        WIDER),
    ("one alternative less", {"oneOf": [text(), integer(), boolean()]}, {"oneOf": [text(), integer()]},
        "alternative-removed", NARROWER),
    ("exactly one alternative", TEXT_OR_INTEGER, {"oneOf": [text(), integer()]}, "exclusive-changed",
        NARROWER),
    ("a part more", {"allOf": [object_(), {"minProperties": 1}]}, {"allOf": [object_(), {"minProperties": 1},
        {"required": ["a"]}]}, "member-added", NARROWER),
    ("a property that only `required` names", object_(), object_(required=["a"]), "keyword-changed",
        NARROWER),
    ("a property in the value goes", object_(properties={"a": text()}), object_(), "property-removed",
        BROKEN),
    ("an optional property more", object_(), object_(properties={"a": text()}), "property-added", HARMLESS),
    ("a constant appears", text(), text(const="a"), "enum-changed", NARROWER),
    ("a constant null appears", {}, {"const": None}, "enum-changed", NARROWER),
    ("another constant", text(const="a"), text(const="b"), "enum-changed", BROKEN),
    ("a constant becomes a longer list", text(const="a"), text(enum=["a", "b"]), "enum-changed", WIDER),
    ("true becomes 1", {"enum": [True, "a"]}, {"enum": [1, "a"]}, "enum-changed", BROKEN),
    ("a choice beside the type", text(), text(anyOf=[text(minLength=1)]), "keyword-changed", NARROWER),
    ("a choice beside the type grows", object_(oneOf=[{"required": ["a"]}]),
        object_(oneOf=[{"required": ["a"]}, {"required": ["b"]}]), "keyword-changed", WIDER),
    ("other choices beside the type", object_(anyOf=[{"required": ["a"]}]),
        object_(anyOf=[{"required": ["b"]}]), "keyword-changed", BROKEN),
    ("a part beside the type goes", object_(allOf=[{"required": ["a"]}, {"minProperties": 2}]), object_(),
        "keyword-changed", WIDER),
    ("less is excluded", {"not": {}}, {"not": text()}, "keyword-changed", WIDER),
    ("more is excluded", text(**{"not": text(const="a")}), text(**{"not": text()}), "keyword-changed",
        NARROWER),
    ("a condition appears", text(then={"maxLength": 1}), text(**{"if": text(), "then": {"maxLength": 1}}),
        "keyword-changed", NARROWER),
    ("another condition", text(**{"if": text(const="a"), "then": False}), text(**{"if": text(const="b"),
        "then": False}), "keyword-changed", BROKEN),
    ("a condition without a consequence", text(), text(**{"if": text(const="b")}), "notation-changed", WORDS),
    ("other words in what is excluded", {"not": text(title="a")}, {"not": text(title="b")},
        "notation-changed", WORDS),
    ("a constant is written as a list", text(const="a"), text(enum=["a"]), "notation-changed", WORDS),
    ("choices beside the type in another order", object_(anyOf=[{"required": ["a"]}, {"required": ["b"]}]),
        object_(anyOf=[{"required": ["b"]}, {"required": ["a"]}]), "notation-changed", WORDS),
    ("a keyword of another type", text(), text(minimum=3), "notation-changed", WORDS),
    ("more types", {"type": ["string", "array"]}, {"type": ["string", "array", "null"]}, "keyword-changed",
        WIDER),
    ("values of other kinds than the properties are of", object_(properties={"a": text()}, enum=["a", {}]),
        {"properties": {"a": text()}, "enum": ["a", {}]}, "type-changed", WIDER),
    ("properties of whatever is an object", {"properties": {"a": text()}}, object_(properties={"a": text()}),
        "type-changed", NARROWER),
    ("another meta-schema", text(**{"$schema": "a"}), text(**{"$schema": "b"}), "keyword-changed", HARMLESS),
]  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new", "code", "weights"), [row[1:] for row in TYPES], ids=[row[0] for row in TYPES]
)
def test_a_change_weighs_by_its_direction(
    old: Schema, new: Schema, code: str, weights: tuple[str, str]
) -> None:
    assert _changes(_compare(_given(old), _given(new))) == [(code, weights[0])]
    assert _changes(_compare(_taken(old), _taken(new))) == [(code, weights[1])]


def test_parameters_come_and_go() -> None:
    old, _ = _type({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}})
    new, _ = _type(
        {
            "type": "object",
            "properties": {"b": {"type": "string"}, "c": {"type": "string"}, "d": {"type": "string"}},
            "required": ["b", "d"],
        }
    )
    comparison = _compare(
        _provider(Capability(id="do", input=old)), _provider(Capability(id="do", input=new))
    )
    assert [
        (change.code, change.weight.value, change.old_pointer, change.new_pointer)
        for change in comparison.all_changes()
    ] == [
        ("property-removed", "breaking", "/capabilities/0/input/properties/a", None),
        (
            "required-changed",
            "breaking",
            "/capabilities/0/input/properties/b/required",
            "/capabilities/0/input/properties/b/required",
        ),
        ("property-added", "compatible", None, "/capabilities/0/input/properties/c"),
        ("property-added", "breaking", None, "/capabilities/0/input/properties/d"),
    ]
    assert comparison.all_changes()[0].old == {"type": {"kind": "string"}}
    assert comparison.all_changes()[3].new == {"type": {"kind": "string"}, "required": True}


def test_a_result_that_may_be_left_out_breaks_whoever_reads_it() -> None:
    value = {"type": "object", "properties": {"a": {"type": "string"}}}
    always, maybe = _taken({**value, "required": ["a"]}), _taken(value)
    assert _changes(_compare(always, maybe)) == [("required-changed", "breaking")]
    assert _changes(_compare(maybe, always)) == [("required-changed", "compatible")]


def test_capabilities_come_and_go() -> None:
    old = _provider(Capability(id="stays"), Capability(id="goes", title="Go"))
    new = _provider(Capability(id="comes"), Capability(id="stays"))
    comparison = _compare(old, new)
    assert _changes(comparison) == [("capability-added", "compatible"), ("capability-removed", "breaking")]
    assert comparison.unchanged_capabilities == 1


def test_another_id_for_the_same_capability_is_pointed_out() -> None:
    old, new = (
        _provider(Capability(id=item, description="Counts sheep")) for item in ("count", "count_sheep")
    )
    added, removed = _compare(old, new).all_changes()
    assert "'count' under another id" in added.message
    assert "'count_sheep' looks the same" in removed.message


@pytest.mark.parametrize(("old", "new", "reported"), [
    (None, ScalarType(kind="string"), [("output-added", "compatible")]),
    (ScalarType(kind="string"), None, [("output-removed", "breaking")]),
    (ScalarType(kind="null"), ScalarType(kind="string"), [("output-added", "compatible")]),
    (ScalarType(kind="string"), ScalarType(kind="null"), [("output-removed", "breaking")]),
    (None, ScalarType(kind="null"), [("output-added", "compatible")]),
    (ScalarType(kind="null"), None, [("output-removed", "compatible")]),
    (None, None, []),
])  # fmt: skip
def test_declaring_a_result(old: Type | None, new: Type | None, reported: list[tuple[str, str]]) -> None:
    providers = (_provider(Capability(id="do", output=item)) for item in (old, new))
    assert _changes(_compare(*providers)) == reported


@pytest.mark.parametrize(("old", "new", "weight"), [
    (Effects(read_only=True), Effects(read_only=False), "breaking"),
    (Effects(read_only=True), None, "breaking"),
    (Effects(destructive=False), Effects(destructive=True), "breaking"),
    (None, Effects(read_only=True), "compatible"),
    (Effects(destructive=True), Effects(destructive=False), "compatible"),
])  # fmt: skip
def test_a_promise_taken_back_breaks(old: Effects | None, new: Effects | None, weight: str) -> None:
    providers = (_provider(Capability(id="do", effects=item)) for item in (old, new))
    assert _changes(_compare(*providers)) == [("effect-changed", weight)]


def test_order_place_and_state_say_nothing() -> None:
    item, two = Capability(id="one"), Capability(id="two")
    first = _provider(item, two)
    second = Provider(protocol="mcp", capabilities=(item,))
    old = CapabilitySet(providers=(first, second))
    moved = _provider(two, item.model_copy(update={"state": State(enabled=False)}))
    assert compare_sets(old, CapabilitySet(providers=(second, moved))) == Comparison(
        unchanged_providers=2, unchanged_capabilities=3
    )


def test_a_shared_definition_says_at_every_capability_that_reaches_it() -> None:
    def provider(inner: Schema) -> Provider:
        schema = {"$ref": "#/$defs/Outer"}
        definitions = {
            "Outer": {"type": "object", "properties": {"i": {"$ref": "#/$defs/Inner"}}},
            "Inner": inner,
        }
        item, read = _type({**schema, "$defs": definitions})
        plain = Capability(id="plain")
        return _provider(
            Capability(id="gives", input=item), plain, Capability(id="takes", output=item), definitions=read
        )

    comparison = _compare(provider({"type": "integer"}), provider({"type": "number"}))
    (reported,) = comparison.providers
    assert not reported.changes
    assert [(item.id, item.weight.value) for item in reported.capabilities] == [
        ("gives", "compatible"),
        ("takes", "breaking"),
    ]
    for item in reported.capabilities:
        (change,) = item.changes
        assert (change.old_pointer, change.new_pointer) == ("/definitions/Inner", "/definitions/Inner")


def test_a_definition_that_only_a_keyword_reaches_is_compared() -> None:
    def provider(inner: Schema) -> Provider:
        schema = {"type": "object", "not": {"required": ["a"], "properties": {"a": {"$ref": "#/$defs/A"}}}}
        item, definitions = _type({**schema, "$defs": {"A": inner}})
        return _provider(Capability(id="do", input=item), definitions=definitions)

    changes = _compare(provider(text()), provider({})).all_changes()
    (reported,) = [change for change in changes if change.new_pointer == "/capabilities/0/input/keywords/not"]
    assert (reported.code, reported.weight) == ("keyword-changed", "breaking")
    assert reported.message == "what 'not' refers to changed"


def test_a_definition_nobody_reaches_is_reported_at_the_provider() -> None:
    kinds: tuple[Type, ...] = (ScalarType(kind="string"), ScalarType(kind="boolean"))
    old, new = (_provider(definitions={"Lone": kind}) for kind in kinds)
    assert _changes(_compare(old, new)) == [("type-changed", "compatible")]
    assert _changes(_compare(_provider(), new)) == [("definition-changed", "compatible")]


def test_a_renamed_definition_is_words_only() -> None:
    definition = ObjectType()
    old, new = (
        _provider(Capability(id="do", input=RefType(name=name)), definitions={name: definition})
        for name in ("Before", "After")
    )
    assert _changes(_compare(old, new)) == [("definition-renamed", "text-only")]


def test_a_reference_equals_what_it_refers_to() -> None:
    shape = ObjectType()
    old = _provider(Capability(id="do", input=RefType(name="Shape")), definitions={"Shape": shape})
    new = _provider(Capability(id="do", input=shape), definitions={"Shape": shape})
    assert _changes(_compare(old, new)) == []


def test_recursive_types_end() -> None:
    def provider(kind: str) -> Provider:
        tree = {
            "type": "object",
            "properties": {
                "value": {"type": kind},
                "left": {"$ref": "#/$defs/Tree"},
                "right": {"anyOf": [{"$ref": "#/$defs/Tree"}, {"type": "string"}]},
            },
        }
        change, definitions = _type({"$ref": "#/$defs/Tree", "$defs": {"Tree": tree}})
        return _provider(Capability(id="do", input=change), definitions=definitions)

    comparison = _compare(provider("integer"), provider("string"))
    assert [change.new_pointer for change in comparison.all_changes()] == [
        "/definitions/Tree/properties/value/type"
    ]


def test_a_choice_that_contains_itself_ends() -> None:
    def provider(name: str, count: int) -> Provider:
        choice = {"anyOf": [{"$ref": f"#/$defs/{name}"}] * count}
        item, definitions = _type({"$ref": f"#/$defs/{name}", "$defs": {name: choice}})
        return _provider(Capability(id="do", input=item), definitions=definitions)

    assert ("definition-renamed", "text-only") in _changes(_compare(provider("A", 6), provider("B", 5)))
    plain = _provider(Capability(id="do", input=ObjectType()))
    assert (
        _changes(_compare(plain, provider("A", 6)))
        == [("type-changed", "breaking"), ("definition-changed", "compatible")][:1]
    )


def test_a_long_chain_of_definitions_ends() -> None:
    def provider(kind: str) -> Provider:
        definitions: dict[str, Type] = {f"D{at}": RefType(name=f"D{at + 1}") for at in range(3000)}
        definitions["D3000"] = ScalarType.model_validate({"kind": kind})
        return _provider(Capability(id="do", input=RefType(name="D0")), definitions=definitions)

    (change,) = _compare(provider("int32"), provider("int64")).all_changes()
    assert change.new_pointer == "/definitions/D3000"


def test_providers_belong_together_by_what_callers_name() -> None:
    short = _provider(Capability(id="do"), component=".Tools")
    assert _changes(_compare(short, _provider(Capability(id="do")))) == []
    other = _provider(Capability(id="do"), component=".Other")
    assert _changes(_compare(short, other)) == [
        ("provider-added", "compatible"),
        ("provider-removed", "breaking"),
    ]


def test_a_lone_file_belongs_to_the_only_provider_of_its_protocol() -> None:
    lone = _provider(Capability(id="do"), package=None, component=None)
    assert _changes(_compare(lone, _provider(Capability(id="do")))) == []
    foreign = _provider(Capability(id="do"), protocol="mcp", package=None, component=None)
    assert [weight for _, weight in _changes(_compare(foreign, lone))] == ["compatible", "breaking"]


def test_a_dialect_with_other_calls_breaks() -> None:
    def provider(dialect: str) -> Provider:
        return _provider(Capability(id="do"), protocol="mobile-mcp", dialect=dialect)

    assert _changes(_compare(provider("1.0"), provider("1.0-input"))) == [("dialect-changed", "breaking")]
    assert _changes(_compare(provider("1.0"), provider("unheard-of"))) == [("dialect-changed", "breaking")]


def test_texts_of_providers_and_capabilities_are_words_only() -> None:
    old = _provider(Capability(id="do", description="a", title="t", version="1"), name="n")
    new = _provider(Capability(id="do", description="b", title="u", version="2"), instructions="i")
    assert {weight for _, weight in _changes(_compare(old, new))} == {"text-only"}
    assert len(_changes(_compare(old, new))) == 5


def test_facts_of_one_format_are_reported_one_by_one() -> None:
    old = _provider(Capability(id="do", extensions={"mmcp": {"a": 1, "b": 2}}))
    new = _provider(Capability(id="do", extensions={"mmcp": {"a": 1, "b": 3, "c~/d": None}}))
    assert [
        (change.weight.value, change.old_pointer, change.new_pointer)
        for change in _compare(old, new).all_changes()
    ] == [
        ("compatible", "/capabilities/0/extensions/mmcp/b", "/capabilities/0/extensions/mmcp/b"),
        ("compatible", None, "/capabilities/0/extensions/mmcp/c~0~1d"),
    ]


def test_the_name_of_a_file_inside_of_an_app_is_not_compared() -> None:
    old = _provider(Capability(id="do"), protocol="appfunctions")
    new = old.model_copy(update={"extensions": {"appfunctions": {"functionsFile": "notes"}}})
    assert _compare(old, new).all_changes() == ()
    other = old.model_copy(update={"extensions": {"mmcp": {"functionsFile": "notes"}}})
    assert _changes(_compare(old, other)) == [("extension-changed", "compatible")]

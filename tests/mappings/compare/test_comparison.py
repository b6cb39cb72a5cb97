"""What `compare_sets` calls breaking, compatible and text only; each case is one edit of a declaration."""

from collections.abc import Callable
from decimal import Decimal
from functools import partial
from itertools import product
from typing import Any

import pytest

from counted_work import check_linear
from droidgate_mappings.compare import Comparison, Unread, Weight, compare_sets
from droidgate_mappings.json_schema import read_schema
from droidgate_mappings.model.capability import Capability, CapabilitySet, Effects, Place, Provider, State
from droidgate_mappings.model.types import ObjectType, Property, RefType, ScalarType, Type
from titled_rows import titled

Schema = dict[str, Any]
PROTOCOLS = ("appfunctions", "mcp", "mmcp", "mobile-mcp")


def _provider(*capabilities: Capability, **facts: Any) -> Provider:
    stated = {"protocol": "mmcp", "package": "app.one", "component": "app.one.Tools", **facts}
    return Provider(capabilities=capabilities, **stated)


def _compare(old: Provider, new: Provider) -> Comparison:
    return compare_sets(CapabilitySet(providers=(old,)), CapabilitySet(providers=(new,)))


def _changes(comparison: Comparison) -> list[tuple[str, str]]:
    return [(change.code, change.weight.value) for change in comparison.all_changes()]


def _do(item: Type | None = None, *, output: Type | None = None, **facts: Any) -> Provider:
    inputs: dict[str, Any] = {} if item is None else {"input": item}
    return _provider(Capability(id="do", output=output, **inputs), **facts)


def _input(schema: Schema) -> Provider:
    item, definitions = read_schema({"type": "object", "properties": {"x": schema}})
    return _do(item, definitions=definitions)


def _output(schema: Schema) -> Provider:
    item, definitions = read_schema(schema)
    return _do(output=item, definitions=definitions)


def _schema_of(kind: str) -> Callable[..., Schema]:
    return partial(dict, type=kind)


text, integer, number, boolean, array, object_ = map(
    _schema_of, ("string", "integer", "number", "boolean", "array", "object")
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
    ("another number that no float can be", {"enum": [Decimal("1e400")]}, {"enum": [Decimal("1e401")]},
        "enum-changed", BROKEN),
    ("an array of one number becomes a constant", array(items=integer(), minItems=1, maxItems=1),
        {"const": [0]}, "type-changed", NARROWER),
    ("one range of numbers more", {"anyOf": [number(minimum=at, maximum=at + 1) for at in range(15)]},
        {"anyOf": [number(minimum=at, maximum=at + 1) for at in range(16)]}, "alternative-added", WIDER),
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
    ("exactly one alternative of values that only one can have", TEXT_OR_INTEGER,
        {"oneOf": [text(), integer()]}, "notation-changed", WORDS),
    ("exactly one alternative of values that several have", {"anyOf": [number(), integer()]},
        {"oneOf": [number(), integer()]}, "exclusive-changed", NARROWER),
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
    ("a choice beside the type grows", object_(anyOf=[{"required": ["a"]}]),
        object_(anyOf=[{"required": ["a"]}, {"required": ["b"]}]), "keyword-changed", WIDER),
    ("an exclusive choice gets an alternative that overlaps", object_(oneOf=[{"required": ["a"]}]),
        object_(oneOf=[{"required": ["a"]}, {"required": ["b"]}]), "keyword-changed", BROKEN),
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
    ("null as a type and as an alternative", {"type": ["string", "null"]},
        {"anyOf": [text(), {"type": "null"}]}, "notation-changed", WORDS),
    ("types as a list and as alternatives", {"type": ["string", "integer"]}, TEXT_OR_INTEGER,
        "notation-changed", WORDS),
    ("an alternative that no value can be", {"anyOf": [text(), False]}, text(), "notation-changed", WORDS),
    ("a choice in a choice", {"anyOf": [text(), {"anyOf": [integer()]}]}, TEXT_OR_INTEGER, "notation-changed",
        WORDS),
    ("a bound that another one implies", integer(minimum=2), integer(minimum=2, exclusiveMinimum=1),
        "notation-changed", WORDS),
    ("a number beyond what a computer's own can be", number(const=Decimal("1e1000")), number(const=0.3),
        "enum-changed", BROKEN),
    ("a number in other digits", number(const=Decimal("0.30")), number(const=0.3), "notation-changed", WORDS),
    ("multiples of a fraction", number(multipleOf=0.1), number(multipleOf=0.05), "keyword-changed", WIDER),
    ("a pattern that matches more", text(pattern="^[a-z]+$"), text(pattern="^[a-z0-9]+$"), "pattern-changed",
        WIDER),
    ("a pattern in other characters", text(pattern="^[0-9]{2}$"), text(pattern=r"^\d\d$"), "notation-changed",
        WORDS),
    ("items become a choice", array(items=text()), array(items=TEXT_OR_INTEGER), "type-changed", WIDER),
    ("more first items", array(prefixItems=[text()], items=text()),
        array(prefixItems=[text(), text(minLength=1)], items=text()), "keyword-changed", NARROWER),
    ("an item need not be there any more", array(contains=text()), array(contains=text(), minContains=0),
        "keyword-changed", WIDER),
    ("further properties may be more", object_(additionalProperties=text()),
        object_(additionalProperties=TEXT_OR_INTEGER), "keyword-changed", WIDER),
    ("a property more in a closed object", object_(additionalProperties=False),
        object_(properties={"a": text()}, additionalProperties=False), "property-added", WIDER),
    ("a property more where others have a type", object_(additionalProperties=text()),
        object_(properties={"a": integer()}, additionalProperties=text()), "property-added", BROKEN),
    ("a property that others are like is not named any more",
        object_(properties={"a": text()}, additionalProperties=text()), object_(additionalProperties=text()),
        "notation-changed", WORDS),
    ("an optional property more in an alternative", {"anyOf": [object_(properties={"a": text()}), text()]},
        {"anyOf": [object_(properties={"a": text(), "b": text()}), text()]}, "property-added", HARMLESS),
    ("a description in what is excluded", {"not": {"required": ["a"]}},
        {"not": {"required": ["a"], "description": "no"}}, "notation-changed", WORDS),
    ("what is excluded has unevaluated properties", object_(**{"not": {"unevaluatedProperties": False}}),
        object_(), "keyword-changed", WIDER),
    ("a format of another type", integer(format="date"), integer(), "notation-changed", WORDS),
    ("another meta-schema", text(**{"$schema": "a"}), text(**{"$schema": "b"}), "keyword-changed", HARMLESS),
    ("the meta-schema of those that state none", text(),
        text(**{"$schema": "https://json-schema.org/draft/2020-12/schema"}), "notation-changed", WORDS),
]  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new", "code", "weights"), [row[1:] for row in TYPES], ids=[row[0] for row in TYPES]
)
def test_a_change_weighs_by_its_direction(
    old: Schema, new: Schema, code: str, weights: tuple[str, str]
) -> None:
    assert _changes(_compare(_input(old), _input(new))) == [(code, weights[0])]
    assert _changes(_compare(_output(old), _output(new))) == [(code, weights[1])]


ALWAYS = _output(object_(properties={"a": text()}, required=["a"]))
MAYBE = _output(object_(properties={"a": text()}))
STRING, NULL, SHAPE = ScalarType(kind="string"), ScalarType(kind="null"), {"Shape": ObjectType()}
OUTPUT_ADDED, OUTPUT_REMOVED = ("output-added", "compatible"), ("output-removed", "breaking")
GONE_AND_NEW = [("provider-added", "compatible"), ("provider-removed", "breaking")]
OTHER_DIALECT = [("dialect-changed", "breaking")]
PLAIN, SHORT, LONE = _do(), _do(component=".Tools"), _do(package=None, component=None)
FUNCTIONS = _do(protocol="appfunctions")


def _effects(stated: Effects | None) -> Provider:
    return _provider(Capability(id="do", effects=stated))


def _functions_file(format_id: str) -> Provider:
    return FUNCTIONS.model_copy(update={"extensions": {format_id: {"functionsFile": "notes"}}})


def _tasks(support: str | None) -> Provider:
    facts = {} if support is None else {"mcp": {"execution": {"taskSupport": support}}}
    return _provider(Capability(id="do", extensions=facts), protocol="mcp")


def _facts(format_id: str, **facts: Any) -> Provider:
    return _do(protocol=format_id, extensions={format_id: facts})


def _dialect(name: str) -> Provider:
    return _do(protocol="mobile-mcp", dialect=name)


PROVIDERS: dict[str, tuple[Provider, Provider, list[tuple[str, str]]]] = {
    "a result that may be left out breaks who reads it": (ALWAYS, MAYBE, [("required-changed", "breaking")]),
    "a result that is always there breaks nobody": (MAYBE, ALWAYS, [("required-changed", "compatible")]),
    "a result is declared": (_do(), _do(output=STRING), [OUTPUT_ADDED]),
    "a result is declared no more": (_do(output=STRING), _do(), [OUTPUT_REMOVED]),
    "a result instead of none": (_do(output=NULL), _do(output=STRING), [OUTPUT_ADDED]),
    "none instead of a result": (_do(output=STRING), _do(output=NULL), [OUTPUT_REMOVED]),
    "none is declared": (_do(), _do(output=NULL), [OUTPUT_ADDED]),
    "none is declared no more": (_do(output=NULL), _do(), [("output-removed", "compatible")]),
    "nothing is declared": (_do(), _do(), []),
    "what only read writes": (_effects(Effects(read_only=True)), _effects(Effects(read_only=False)),
        [("effect-changed", "breaking")]),
    "an effect of reading only is no longer stated": (_effects(Effects(read_only=True)), _effects(None),
        [("effect-changed", "breaking")]),
    "what kept destroys": (_effects(Effects(destructive=False)), _effects(Effects(destructive=True)),
        [("effect-changed", "breaking")]),
    "an effect of reading only is newly stated": (_effects(None), _effects(Effects(read_only=True)),
        [("effect-changed", "compatible")]),
    "what destroyed keeps": (_effects(Effects(destructive=True)), _effects(Effects(destructive=False)),
        [("effect-changed", "compatible")]),
    "a definition that no capability reaches changes": (_provider(definitions={"Lone": STRING}),
        _provider(definitions={"Lone": ScalarType(kind="boolean")}), [("type-changed", "text-only")]),
    "a definition that no capability reaches is added": (_provider(), _provider(definitions={"Lone": STRING}),
        [("definition-changed", "text-only")]),
    "a definition that arguments have gets an optional property": (
        _do(ObjectType(properties={"s": Property(type=RefType(name="Shape"))}), definitions=SHAPE),
        _do(ObjectType(properties={"s": Property(type=RefType(name="Shape"))}),
            definitions={"Shape": ObjectType(properties={"a": Property(type=STRING)})}),
        [("property-added", "compatible")]),
    "a property is moved into a part": (_input(object_(properties={"a": text()})),
        _input(object_(allOf=[{"properties": {"a": text()}}])), [("notation-changed", "text-only")] * 2),
    "a property of a part is removed": (_input(object_(allOf=[{"properties": {"a": text()}}])),
        _input(object_(allOf=[{}])), [("keyword-changed", "compatible"), ("property-removed", "breaking")]),
    "a definition is renamed": (_do(RefType(name="Before"), definitions={"Before": ObjectType()}),
        _do(RefType(name="After"), definitions={"After": ObjectType()}),
        [("definition-renamed", "text-only")]),
    "a reference becomes what it refers to": (_do(RefType(name="Shape"), definitions=SHAPE),
        _do(ObjectType(), definitions=SHAPE), []),
    "a component by its short name is the same": (SHORT, PLAIN, []),
    "another component is another provider": (SHORT, _do(component=".Other"), GONE_AND_NEW),
    "a lone file is of the only provider of its protocol": (LONE, PLAIN, []),
    "a lone file of another protocol is another provider": (
        _do(protocol="mcp", package=None, component=None), LONE, GONE_AND_NEW),
    "a dialect with other calls": (_dialect("1.0"), _dialect("1.0-input"), OTHER_DIALECT),
    "an unknown dialect": (_dialect("1.0"), _dialect("unheard-of"), OTHER_DIALECT),
    "the name of a file inside of an app": (FUNCTIONS, _functions_file("appfunctions"), []),
    "the capability file is renamed": (_facts("mobile-mcp", resource="@xml/a"),
        _facts("mobile-mcp", resource="@xml/b"), []),
    "a list of tools becomes a response": (_facts("mcp", **{"document 2025-11-25": {"layout": None}}),
        _facts("mcp", **{"document 2025-11-25": {"layout": {"jsonrpc": "2.0"}}}),
        [("notation-changed", "text-only")]),
    "the same fact of another format": (FUNCTIONS, _functions_file("mmcp"),
        [("extension-changed", "compatible")]),
    "tasks become required": (_tasks("optional"), _tasks("required"), [("calling-changed", "breaking")]),
    "tasks become forbidden": (_tasks("optional"), _tasks("forbidden"), [("calling-changed", "breaking")]),
    "tasks become possible": (_tasks(None), _tasks("optional"), [("calling-changed", "compatible")]),
    "tasks need not be": (_tasks("required"), _tasks("optional"), [("calling-changed", "compatible")]),
    "not stated is forbidden": (_tasks(None), _tasks("forbidden"), [("notation-changed", "text-only")]),
    "tasks in an unknown word": (_tasks("optional"), _tasks("maybe"),
        [("calling-changed", "not-decided")]),
    "texts": (_provider(Capability(id="do", description="a", title="t", version="1"), name="n"),
        _provider(Capability(id="do", description="b", title="u", version="2"), instructions="i"),
        [("text-changed", "text-only")] * 5),
}  # fmt: skip


@pytest.mark.parametrize(("old", "new", "changes"), PROVIDERS.values(), ids=PROVIDERS)
def test_a_change_of_a_provider_has_its_weight(
    old: Provider, new: Provider, changes: list[tuple[str, str]]
) -> None:
    assert _changes(_compare(old, new)) == changes


def test_added_and_removed_capabilities_are_reported() -> None:
    old = _provider(Capability(id="stays"), Capability(id="goes", title="Go"))
    comparison = _compare(old, _provider(Capability(id="comes"), Capability(id="stays")))
    assert _changes(comparison) == [("capability-added", "compatible"), ("capability-removed", "breaking")]
    assert comparison.unchanged_capabilities == 1


@pytest.mark.parametrize(("protocol", "other"), list(product(PROTOCOLS, repeat=2)))
def test_what_goes_from_a_provider_without_a_component_is_gone_where_another_has_it_too(
    protocol: str, other: str
) -> None:
    def side(*ids: str) -> CapabilitySet:
        unplaced = _provider(*(Capability(id=each) for each in ids), protocol=protocol, component=None)
        return CapabilitySet(providers=((unplaced,) if ids else ()) + (placed,))

    placed = _provider(Capability(id="brew"), Capability(id="pour"), protocol=other)
    assert _changes(compare_sets(side("brew", "pour"), side("brew"))) == [("capability-removed", "breaking")]
    if protocol != other:
        assert _changes(compare_sets(side("brew"), side())) == [("provider-removed", "breaking")]


def test_a_provider_that_is_gone_names_its_capabilities() -> None:
    old = _provider(*(Capability(id=f"do{at}") for at in range(12)))
    (change,) = compare_sets(CapabilitySet(providers=(old,)), CapabilitySet()).all_changes()
    assert change.message == (
        "the provider is gone, with 12 capabilities: "
        "do0, do1, do2, do3, do4, do5, do6, do7, do8, do9 and 2 more"
    )


UNDECIDED: list[tuple[str, Schema, Schema, str]] = [
    ("a type that JSON Schema does not have", {"type": "integr"}, integer(),
        "'type' has a value that it cannot have"),
    ("look-around in a pattern", text(pattern="(?=a)"), text(pattern="(?=b)"),
        "a pattern is not compared: look-around or a flag"),
    ("a reference to another document", {"$ref": "https://a.example/b"}, {"$ref": "https://a.example/c"},
        "'$ref' is not resolved"),
    ("a value that a keyword cannot have", array(), array(minItems=-1),
        "'minItems' has a value that it cannot have"),
    ("a number where a schema should be", array(items=[text()]), array(items=[text()], additionalItems=5),
        "'additionalItems' has a value that it cannot have"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new", "reason"), [row[1:] for row in UNDECIDED], ids=[row[0] for row in UNDECIDED]
)
def test_an_undecidable_change_is_reported_with_its_reason(old: Schema, new: Schema, reason: str) -> None:
    (change,) = _compare(_input(old), _input(new)).all_changes()
    assert change.weight is Weight.NOT_DECIDED
    assert change.message.endswith(f"; not decided: {reason}")


def test_a_breaking_change_of_values_has_an_example() -> None:
    (change,) = _compare(_input(integer(minimum=1)), _input(integer(minimum=3))).all_changes()
    assert change.examples == (1,)
    (change,) = _compare(_output(text(enum=["a"])), _output(text(enum=["a", "b"]))).all_changes()
    assert change.examples == ("b",)
    (change,) = _compare(_input(text(minLength=10**9)), _input(text(minLength=10**9 + 1))).all_changes()
    assert change.examples == ()


def _kinds(count: int, **further: Schema) -> Schema:
    """Return a choice between objects that a constant tells apart; the second one has further properties."""
    texts = {f"p{at}": text() for at in range(5)}
    return {
        "oneOf": [
            object_(
                properties={"kind": {"const": f"k{at}"}, **texts, **(further if at == 1 else {})},
                required=["kind"],
            )
            for at in range(count)
        ]
    }


@pytest.mark.parametrize(("new", "weights"), [
    pytest.param(_kinds(60, q=integer()), HARMLESS, id="an optional property more"),
    pytest.param(_kinds(61), WIDER, id="an alternative more"),
    pytest.param(_kinds(60, p2=text(maxLength=5)), NARROWER, id="a bound in one alternative"),
    pytest.param({"anyOf": _kinds(60)["oneOf"]}, WORDS, id="any alternative in place of one"),
])  # fmt: skip
def test_a_change_in_a_long_choice_is_decided(new: Schema, weights: tuple[str, str]) -> None:
    for of, weight in zip((_input, _output), weights, strict=True):
        (change,) = _compare(of(_kinds(60)), of(new)).all_changes()
        assert change.weight.value == weight


@titled("choice", {
    "one of objects that a constant distinguishes": _kinds,
    "any of them": lambda count: {"anyOf": _kinds(count)["oneOf"]},
    "one of constants": lambda count: {"oneOf": [{"const": f"k{at}"} for at in range(count)]},
    "all of objects": lambda count: {"allOf": [object_(required=[f"p{at}"]) for at in range(count)]},
})  # fmt: skip
def test_a_choice_of_twice_the_length_is_twice_the_work(choice: Callable[[int], Schema]) -> None:
    check_linear(lambda count: _compare(_input(choice(count)), _input(choice(count + 1))).all_changes(), 60)


def test_a_choice_of_very_many_that_overlap_is_not_decided() -> None:
    def choice(count: int) -> Schema:
        return {"oneOf": [object_(required=[f"p{at}"]) for at in range(count)]}

    changes = _compare(_input(choice(720)), _input(choice(721))).all_changes()
    assert {change.weight for change in changes} == {Weight.NOT_DECIDED}
    assert changes[0].message.endswith("; not decided: there are too many alternatives")


def test_added_and_removed_parameters_are_reported() -> None:
    old, _ = read_schema(object_(properties={"a": text(), "b": text()}))
    new, _ = read_schema(object_(properties={"b": text(), "c": text(), "d": text()}, required=["b", "d"]))
    changes = _compare(_do(old), _do(new)).all_changes()
    at = "/capabilities/0/input/properties"
    assert [(item.code, item.weight.value, item.old_pointer, item.new_pointer) for item in changes] == [
        ("property-removed", "breaking", f"{at}/a", None),
        ("required-changed", "breaking", f"{at}/b/required", f"{at}/b/required"),
        ("property-added", "compatible", None, f"{at}/c"),
        ("property-added", "breaking", None, f"{at}/d"),
    ]
    assert changes[0].old == {"type": {"kind": "string"}}
    assert changes[3].new == {"type": {"kind": "string"}, "required": True}


def test_another_id_for_the_same_capability_is_pointed_out() -> None:
    old, new = (
        _provider(Capability(id=item, description="Counts sheep")) for item in ("count", "count_sheep")
    )
    added, removed = _compare(old, new).all_changes()
    assert "'count' under another id" in added.message
    assert "'count_sheep' looks the same" in removed.message


def test_order_place_and_state_are_no_change() -> None:
    item, two = Capability(id="one"), Capability(id="two")
    first = _provider(item, two)
    second = Provider(protocol="mcp", capabilities=(item,))
    old = CapabilitySet(providers=(first, second))
    moved = _provider(two, item.model_copy(update={"state": State(enabled=False)}))
    assert compare_sets(old, CapabilitySet(providers=(second, moved))) == Comparison(
        unchanged_providers=2, unchanged_capabilities=3
    )


def test_a_changed_definition_is_reported_at_every_capability_that_reaches_it() -> None:
    def provider(inner: Schema) -> Provider:
        outer = object_(properties={"i": {"$ref": "#/$defs/Inner"}})
        item, read = read_schema({"$ref": "#/$defs/Outer", "$defs": {"Outer": outer, "Inner": inner}})
        gives, takes = Capability(id="gives", input=item), Capability(id="takes", output=item)
        return _provider(gives, Capability(id="plain"), takes, definitions=read)

    (reported,) = _compare(provider(integer()), provider(number())).providers
    assert not reported.changes
    weights = [(item.id, item.weight.value) for item in reported.capabilities]
    assert weights == [("gives", "compatible"), ("takes", "breaking")]
    for item in reported.capabilities:
        (change,) = item.changes
        assert (change.old_pointer, change.new_pointer) == ("/definitions/Inner", "/definitions/Inner")


@pytest.mark.parametrize(("old", "new", "message"), [
    (text(maxLength=9), text(maxLength=5), "'maxLength' changed from 9 to 5"),
    (text(pattern="^a"), text(pattern="^b"), 'the required pattern changed from "^a" to "^b"'),
    (text(default="a"), text(default="b" * 60), "'default' changed"),
])  # fmt: skip
def test_a_message_has_both_values_where_they_are_short(old: Schema, new: Schema, message: str) -> None:
    sides = (_input({"type": "object", "properties": {"a": item}}) for item in (old, new))
    (change,) = _compare(*sides).all_changes()
    assert change.message == message


def test_a_definition_that_only_a_keyword_reaches_is_compared() -> None:
    def provider(inner: Schema) -> Provider:
        excluded = {"required": ["a"], "properties": {"a": {"$ref": "#/$defs/A"}}}
        item, definitions = read_schema(object_(**{"not": excluded, "$defs": {"A": inner}}))
        return _do(item, definitions=definitions)

    changes = _compare(provider(text()), provider({})).all_changes()
    (reported,) = [change for change in changes if change.new_pointer == "/capabilities/0/input/keywords/not"]
    assert (reported.code, reported.weight) == ("keyword-changed", Weight.BREAKING)
    assert reported.message == "what 'not' refers to changed"


def test_a_definition_with_false_in_place_of_0_is_another_one() -> None:
    def provider(value: object) -> Provider:
        item, read = read_schema(object_(properties={"x": A}, **{"$defs": {"A": {"const": value}}}))
        return _do(item, definitions=read)

    assert _changes(_compare(provider(False), provider(0))) == [("type-changed", "breaking")]


A: Schema = {"$ref": "#/$defs/A"}


def test_recursive_types_end() -> None:
    def provider(kind: str) -> Provider:
        tree = {"$ref": "#/$defs/Tree"}
        properties = {"value": {"type": kind}, "left": tree, "right": {"anyOf": [tree, text()]}}
        item, definitions = read_schema({**tree, "$defs": {"Tree": object_(properties=properties)}})
        return _do(item, definitions=definitions)

    changes = _compare(provider("integer"), provider("string")).all_changes()
    assert [change.new_pointer for change in changes] == ["/definitions/Tree/properties/value/type"]


def test_recursion_that_begins_at_another_place_ends() -> None:
    def provider(kind: str, *, is_shifted: bool) -> Provider:
        leaf = {"b": {"type": kind}}
        twice = object_(properties={"a": object_(properties={"a": A, **leaf}), **leaf})
        root = object_(properties={"a": A, **leaf}) if is_shifted else twice
        item, definitions = read_schema({**root, "$defs": {"A": twice}})
        return _do(item, definitions=definitions)

    changes = _changes(_compare(provider("string", is_shifted=False), provider("integer", is_shifted=True)))
    assert ("type-changed", "breaking") in changes


def test_a_choice_that_contains_itself_ends() -> None:
    def provider(name: str, count: int) -> Provider:
        choice = {"anyOf": [{"$ref": f"#/$defs/{name}"}] * count}
        item, definitions = read_schema({"$ref": f"#/$defs/{name}", "$defs": {name: choice}})
        return _do(item, definitions=definitions)

    assert ("definition-renamed", "text-only") in _changes(_compare(provider("A", 6), provider("B", 5)))
    assert _changes(_compare(_do(ObjectType()), provider("A", 6))) == [("type-changed", "breaking")]


def test_a_long_chain_of_definitions_ends() -> None:
    def provider(kind: str) -> Provider:
        definitions: dict[str, Type] = {f"D{at}": RefType(name=f"D{at + 1}") for at in range(3000)}
        definitions["D3000"] = ScalarType.model_validate({"kind": kind})
        return _do(RefType(name="D0"), definitions=definitions)

    (change,) = _compare(provider("int32"), provider("int64")).all_changes()
    assert change.new_pointer == "/definitions/D3000"


def test_an_unread_file_of_the_same_name_is_the_reason_whatever_another_app_declares() -> None:
    tools = (Capability(id="send", source=Place(path="old/list.json")),)
    gone = Provider(protocol="mcp", package="a", capabilities=tools)
    unread = [Unread(place=place, reason="cut") for place in ("new/x.apk", "new/list.json:2:1")]
    news = CapabilitySet(providers=(gone.changed({"package": "b"}),))
    compared = compare_sets(CapabilitySet(providers=(gone,)), news, unread_new=unread)
    assert [(item.package, item.place) for item in compared.not_compared] == [("a", "new/list.json:2:1")]

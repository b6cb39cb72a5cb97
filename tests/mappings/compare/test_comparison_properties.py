"""What holds for any two declarations; the other side is the `jsonschema` package."""

from typing import Any

import jsonschema
from hypothesis import assume, given, strategies as st

from droidgate_mappings.compare import Change, Weight, compare_sets
from droidgate_mappings.json_schema import read_schema, write_schema
from droidgate_mappings.model.capability import Capability, CapabilitySet, Provider
from droidgate_mappings.model.json_values import pointer_token
from droidgate_mappings.model.leaves import different_leaves, leaves_of_provider

Schema = dict[str, Any]

_NAMES = ("a", "b", "c")
_SCALAR_VALUES = (None, False, True, *range(-3, 4), 0.5, 1.5, "", "x", "xy", "y")
_VALUES = st.recursive(
    st.sampled_from(_SCALAR_VALUES),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(_NAMES), inner, max_size=2),
    max_leaves=5,
)


def _sometimes(schema: st.SearchStrategy[Schema]) -> st.SearchStrategy[Schema]:
    def nullable(item: Schema) -> Schema:
        return {**item, "type": [item["type"], "null"]} if isinstance(item.get("type"), str) else item

    return schema | schema.map(nullable)


def _keyed(base: Schema, **keywords: st.SearchStrategy[Any]) -> st.SearchStrategy[Schema]:
    return st.fixed_dictionaries({}, optional=keywords).map(lambda kept: {**base, **kept})


_LENGTHS, _NUMBERS = st.integers(0, 2), st.integers(-2, 2)
_PATTERNS, _STEPS = st.sampled_from(["x", "^y"]), st.sampled_from([1, 2, 4])
_ENUMS = st.lists(st.sampled_from(["", "x", "y"]), min_size=1, unique=True)
_SCALARS = st.one_of(
    _keyed({"type": "string"}, minLength=_LENGTHS, maxLength=_LENGTHS, pattern=_PATTERNS),
    _keyed({"type": "string"}, enum=_ENUMS),
    _keyed({"type": "integer"}, minimum=_NUMBERS, maximum=_NUMBERS, multipleOf=_STEPS),
    _keyed({"type": "number"}, exclusiveMinimum=_NUMBERS),
    st.just({"type": "boolean"}),
    st.just({}),
)


def _beside(inner: st.SearchStrategy[Schema]) -> dict[str, st.SearchStrategy[Any]]:
    """Return keywords that may be next to a type, with what they hold."""
    return {
        "const": st.sampled_from(_SCALAR_VALUES),
        **{word: st.lists(inner, min_size=1, max_size=2) for word in ("anyOf", "allOf")},
        **dict.fromkeys(("not", "if", "then", "else"), inner),
    }


def _compound(inner: st.SearchStrategy[Schema]) -> st.SearchStrategy[Schema]:
    properties = st.dictionaries(st.sampled_from(_NAMES), inner, max_size=3)

    def closed(kept: tuple[Schema, list[str]]) -> Schema:
        # Open objects are out: an optional property more may refuse what was let through unseen (types.py).
        names = sorted(set(kept[1]) & kept[0].keys())
        return {"type": "object", "properties": kept[0], "additionalProperties": False, "required": names}

    objects = st.tuples(properties, st.lists(st.sampled_from(_NAMES), unique=True)).map(closed)
    arrays = _keyed({"type": "array"}, items=inner, minItems=st.integers(0, 2), uniqueItems=st.booleans())
    choices = st.lists(inner, min_size=2, max_size=3).map(lambda kept: {"anyOf": kept})
    return _sometimes(st.one_of(objects, arrays, choices)) | st.one_of(_SCALARS, objects, arrays).flatmap(
        lambda base: _keyed(base, **_beside(inner))
    )


_SCHEMAS = st.recursive(_sometimes(_SCALARS), _compound, max_leaves=6)


def _provider(schema: Schema) -> Provider:
    item, definitions = read_schema({"type": "object", "properties": {"v": schema}})
    capability = Capability(id="do", input=item, output=item)
    return Provider(protocol="mcp", capabilities=(capability,), definitions=definitions)


def _changes(old: Provider, new: Provider) -> tuple[Change, ...]:
    return compare_sets(CapabilitySet(providers=(old,)), CapabilitySet(providers=(new,))).all_changes()


def _weights(old: Provider, new: Provider, side: str) -> set[Weight]:
    changes = _changes(old, new)
    return {item.weight for item in changes if f"/{side}" in (item.old_pointer or item.new_pointer or "")}


def _accepts(provider: Provider, value: Any) -> bool:
    schema = write_schema(provider.capabilities[0].input, provider.definitions)
    return jsonschema.Draft202012Validator(schema).is_valid({"v": value})


@st.composite
def _edited(draw: st.DrawFn, schema: Schema) -> Schema:
    """Return a schema with one part replaced."""
    paths = [path for path in _places(schema) if path]
    path = draw(st.sampled_from(paths or [()]))
    edited: Schema = _replaced(schema, path, draw(_SCHEMAS))
    return edited


def _places(schema: Schema, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    places = [path]
    for name, kept in schema.get("properties", {}).items():
        places += _places(kept, (*path, "properties", name))
    if "items" in schema:
        places += _places(schema["items"], (*path, "items"))
    for position, kept in enumerate(schema.get("anyOf", [])):
        places += _places(kept, (*path, "anyOf", position))
    return places


def _replaced(part: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return new
    copied = dict(part) if isinstance(part, dict) else list(part)
    copied[path[0]] = _replaced(part[path[0]], path[1:], new)
    return copied


_PAIRS = _SCHEMAS.flatmap(lambda old: st.tuples(st.just(old), _SCHEMAS | _edited(old)))


def _values_of(schema: Schema) -> st.SearchStrategy[Any]:
    """Return values of which most fit a schema."""
    if "const" in schema:
        return st.just(schema["const"])
    if "anyOf" in schema:
        return st.one_of(*map(_values_of, schema["anyOf"]))
    kinds = schema.get("type", ())
    if "object" in kinds:
        members = {name: _values_of(inner) for name, inner in schema["properties"].items()}
        required = {name: members.pop(name) for name in schema["required"]}
        return st.fixed_dictionaries(required, optional=members)
    if "array" in kinds:
        return st.lists(_values_of(schema.get("items", {})), min_size=schema.get("minItems", 0), max_size=2)
    validator = jsonschema.Draft202012Validator(schema)
    fitting = [value for value in _SCALAR_VALUES if validator.is_valid(value)]
    return st.sampled_from(fitting) if schema and fitting else _VALUES


def _with_value_of(side: int) -> st.SearchStrategy[tuple[tuple[Schema, Schema], Any]]:
    return _PAIRS.flatmap(lambda pair: st.tuples(st.just(pair), _values_of(pair[side])))


@given(_with_value_of(0))
def test_what_is_not_breaking_accepts_every_old_value(case: tuple[tuple[Schema, Schema], Any]) -> None:
    pair, value = case
    old, new = map(_provider, pair)
    assume(_accepts(old, value))
    if Weight.BREAKING not in _weights(old, new, "input"):
        assert _accepts(new, value), (pair, value)


@given(_with_value_of(1))
def test_a_result_is_not_breaking_when_every_new_value_was_one_before(
    case: tuple[tuple[Schema, Schema], Any],
) -> None:
    pair, value = case
    old, new = map(_provider, pair)
    assume(_accepts(new, value))
    changed = _weights(old, new, "output")
    if Weight.BREAKING not in changed and not _has_more_properties(old, new):
        assert _accepts(old, value), (pair, value)


def _has_more_properties(old: Provider, new: Provider) -> bool:
    """Return whether a property was added: readers of results cope, though a closed schema refuses it."""
    return any(change.code == "property-added" for change in _changes(old, new))


@given(_SCHEMAS)
def test_nothing_changes_between_equal_declarations(schema: Schema) -> None:
    item = CapabilitySet(providers=(_provider(schema),))
    assert compare_sets(item, item.model_copy(deep=True)).providers == ()


@given(_PAIRS)
def test_every_different_leaf_lies_at_or_below_a_change(pair: tuple[Schema, Schema]) -> None:
    old, new = map(_provider, pair)
    changed = {pointer for item in _changes(old, new) for pointer in (item.old_pointer, item.new_pointer)}
    before, after = dict(leaves_of_provider(old)), dict(leaves_of_provider(new))
    for leaf in different_leaves(before, after):
        if "/alternatives/" in leaf:
            continue  # alternatives are reported at their positions on each side, which may differ
        assert any(f"{leaf}/".startswith(f"{pointer}/") for pointer in changed), (pair, leaf)


def test_pointers_are_escaped() -> None:
    old = _provider({"type": "object", "properties": {"a/b~": {"type": "string"}}})
    changes = _changes(old, _provider({"type": "object"}))
    assert all((change.old_pointer or "").endswith(pointer_token("a/b~")) for change in changes)

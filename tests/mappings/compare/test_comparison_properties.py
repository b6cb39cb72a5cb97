"""What holds for any two declarations; the other side is the `jsonschema` package."""

from random import Random
from typing import Any

from hypothesis import given, strategies as st

from droidgate_mappings.compare import Change, Weight, compare_sets
from droidgate_mappings.compare.type_relations import TypeRelations
from droidgate_mappings.json_schema import read_schema
from droidgate_mappings.model.capability import Capability, CapabilitySet, Provider
from droidgate_mappings.model.json_values import pointer_token
from droidgate_mappings.model.leaves import different_leaves, leaves_of_provider
from mappings.compare.schema_pairs import Drawing, gives_undescribed, judged

HEAVY = {Weight.BREAKING, Weight.NOT_DECIDED}
VALUES = 20


def _provider(schema: Any) -> Provider:
    definitions = {"$defs": schema["$defs"]} if isinstance(schema, dict) and "$defs" in schema else {}
    inner = {word: value for word, value in schema.items() if word != "$defs"} if definitions else schema
    item, read = read_schema({"type": "object", "properties": {"v": inner}, **definitions})
    capability = Capability(id="do", input=item, output=item)
    return Provider(protocol="mcp", capabilities=(capability,), definitions=read)


def _changes(old: Provider, new: Provider) -> tuple[Change, ...]:
    return compare_sets(CapabilitySet(providers=(old,)), CapabilitySet(providers=(new,))).all_changes()


def _weights(changes: tuple[Change, ...], side: str) -> set[Weight]:
    other = {"input": "output", "output": "input"}[side]
    return {
        change.weight
        for change in changes
        if f"/capabilities/0/{other}" not in (change.old_pointer or change.new_pointer or "")
    }


@given(st.randoms(use_true_random=True))
def test_no_verdict_contradicts_a_value(random: Random) -> None:
    drawing = Drawing(random)
    old, new = drawing.pair()
    changes = _changes(_provider(old), _provider(new))
    given_now, taken_now = _weights(changes, "input"), _weights(changes, "output")
    for value in drawing.values((old, new), VALUES):
        was, is_now = judged(old, value), judged(new, value)
        if was and is_now is False and not gives_undescribed(value, old, new):
            assert given_now & HEAVY, (old, new, value, "a value is refused now")
        if was is False and is_now:
            assert taken_now & HEAVY, (old, new, value, "a value is allowed now")


@given(st.randoms(use_true_random=True))
def test_an_example_of_a_difference_is_valid_in_exactly_one_of_the_schemas(random: Random) -> None:
    old, new = Drawing(random).pair()
    (before, old_definitions), (after, new_definitions) = read_schema(old), read_schema(new)
    effect = TypeRelations(before, after, old_definitions, new_definitions).relate(before, after)
    for values, holder, other in ((effect.gone, old, new), (effect.come, new, old)):
        for value in values:
            assert judged(holder, value) is not False, (old, new, value)
            assert judged(other, value) is not True, (old, new, value)


@given(st.randoms(use_true_random=True))
def test_equal_declarations_have_no_changes(random: Random) -> None:
    item = CapabilitySet(providers=(_provider(Drawing(random).whole()),))
    assert compare_sets(item, item.model_copy(deep=True)).providers == ()


@given(st.randoms(use_true_random=True))
def test_every_different_leaf_lies_at_or_below_a_change(random: Random) -> None:
    # A reference and what it refers to differ in leaves, and not in meaning.
    old, new = map(_provider, Drawing(random, may_refer=False).pair())
    changed = {pointer for item in _changes(old, new) for pointer in (item.old_pointer, item.new_pointer)}
    before, after = dict(leaves_of_provider(old)), dict(leaves_of_provider(new))
    for leaf in different_leaves(before, after):
        if "/alternatives/" in leaf or "/members/" in leaf:
            continue  # these are reported at their positions on each side, which may differ
        assert any(f"{leaf}/".startswith(f"{pointer}/") for pointer in changed), (old, new, leaf)


def test_pointers_are_escaped() -> None:
    old = _provider({"type": "object", "properties": {"a/b~": {"type": "string"}}})
    changes = _changes(old, _provider({"type": "object"}))
    assert all((change.old_pointer or "").endswith(pointer_token("a/b~")) for change in changes)

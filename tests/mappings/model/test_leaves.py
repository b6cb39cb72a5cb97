"""Leaves name every fact of a model once, and nothing that changes by nature."""

from collections import Counter

import pytest
from hypothesis import given

from droidgate_mappings.model.capability import Capability, ComponentAccess, Effects, Place, Provider, State
from droidgate_mappings.model.leaves import different_leaves, leaves_of_provider
from droidgate_mappings.model.types import AnyType, ArrayType
from model_types import any_of, record, ref, required, string
from strategies import providers


def test_every_fact_has_a_pointer() -> None:
    item = string(
        nullable=True,
        description="d",
        enum=("a",),
        pattern="p",
        format="f",
        implicit=True,
        keywords={"a/b": 1},
        extensions={"x": {"y": 2}},
    )
    kept = record({"a~b": required(item)}, qualified_name="a.B")
    provider = Provider(
        protocol="test",
        package="p",
        capabilities=(Capability(id="c", title="t", effects=Effects(read_only=False), input=kept),),
        definitions={"D": any_of(ref("D"), AnyType(boolean=True))},
    )
    inner = "/capabilities/0/input/properties/a~0b"
    assert dict(leaves_of_provider(provider)) == {
        "/package": "p",
        "/definitions/D/kind": "one-of",
        "/definitions/D/alternatives/0/kind": "ref",
        "/definitions/D/alternatives/0/name": "D",
        "/definitions/D/alternatives/1/kind": "any",
        "/definitions/D/alternatives/1/boolean": True,
        "/definitions/D/exclusive": False,
        "/capabilities/0/id": "c",
        "/capabilities/0/title": "t",
        "/capabilities/0/effects/read_only": False,
        "/capabilities/0/input/kind": "object",
        "/capabilities/0/input/qualified_name": "a.B",
        f"{inner}/required": True,
        f"{inner}/type/kind": "string",
        f"{inner}/type/nullable": True,
        f"{inner}/type/description": "d",
        f"{inner}/type/enum": ["a"],
        f"{inner}/type/pattern": "p",
        f"{inner}/type/format": "f",
        f"{inner}/type/implicit": True,
        f"{inner}/type/keywords/a~1b": 1,
        f"{inner}/type/extensions/x/y": 2,
    }


@pytest.mark.slow
@given(providers(size=15))
def test_no_leaf_has_the_pointer_of_another(provider: Provider) -> None:
    counts = Counter(pointer for pointer, _ in leaves_of_provider(provider))
    assert counts.total() == len(counts)


@pytest.mark.slow
@given(providers(size=15), providers(size=15))
def test_providers_with_the_same_leaves_declare_the_same(first: Provider, other: Provider) -> None:
    same = not different_leaves(dict(leaves_of_provider(first)), dict(leaves_of_provider(other)))
    assert same is (first.content_digest() == other.content_digest())


def test_place_state_and_protection_level_are_no_leaves() -> None:
    plain = Provider(protocol="test", capabilities=(Capability(id="a"),))
    capability = Capability(id="a", state=State(enabled=False), source=Place(path="x"))
    placed = Provider(
        protocol="test",
        access=ComponentAccess(protection_level="signature"),
        source=Place(path="x", line=3),
        capabilities=(capability,),
    )
    assert dict(leaves_of_provider(plain)) == dict(leaves_of_provider(placed))
    assert plain.content_digest() == placed.content_digest()


def test_differences_are_reported_once_and_by_json_equality() -> None:
    before = {"/a": 1, "/b": True, "/c": [1], "/gone": None}
    after = {"/a": 1.0, "/b": 1, "/c": [1], "/new": 0}
    assert different_leaves(before, after) == ["/b", "/gone", "/new"]


def test_an_array_without_items_has_no_leaf_for_them() -> None:
    provider = Provider(protocol="test", definitions={"A": ArrayType()})
    assert dict(leaves_of_provider(provider)) == {"/definitions/A/kind": "array"}

"""Digests, pins and leaves: what they cover, and what they leave out; the JSON texts they are made of."""

import json
from collections import Counter
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, strategies as st

from droidgate_mappings.model.capability import (
    Capability,
    ComponentAccess,
    Effects,
    Place,
    Provider,
    State,
)
from droidgate_mappings.model.json_values import (
    canonical_json,
    digest_of,
    one_line_json,
    pointer_name,
    pointer_token,
    readable_json,
)
from droidgate_mappings.model.leaves import different_leaves, leaves_of_provider
from droidgate_mappings.model.types import AnyType, ArrayType, Property
from droidgate_mappings.text.json_text import parse_json
from model_types import any_of, int32, record, ref, required, string
from strategies import FINITE, json_values, providers


def _property(kind: str) -> Property:
    return Property.model_validate({"type": {"kind": kind}})


FIRST = record({"a": _property("string"), "b": _property("int32")})
PROVIDER = Provider(
    protocol="test",
    package="com.example",
    component=".A",
    definitions={"Used": string(), "Unused": string()},
    capabilities=(Capability(id="one", input=FIRST, output=ref("Used")), Capability(id="two")),
)


def _pin(provider: Provider, user: int = 0, signer: str = "AB12") -> str:
    return provider.pin(user=user, signer=signer, capability_id="one")


def test_the_order_of_properties_is_part_of_a_declaration() -> None:
    turned = record(dict(reversed(FIRST.properties.items())))
    other = PROVIDER.model_copy(
        update={"capabilities": (Capability(id="one", input=turned), Capability(id="two"))}
    )
    assert PROVIDER.content_digest() != other.content_digest()


def test_a_pin_covers_who_declares_what() -> None:
    changes: list[dict[str, Any]] = [
        {"package": "com.other"},
        {"component": ".B"},
        {"definitions": {**PROVIDER.definitions, "Used": int32()}},
        {"capabilities": (PROVIDER.capabilities[0].model_copy(update={"description": "New"}),)},
    ]
    pins = {_pin(PROVIDER), _pin(PROVIDER, user=10), _pin(PROVIDER, signer="cd")}
    pins |= {_pin(PROVIDER.model_copy(update=change)) for change in changes}
    assert len(pins) == 3 + len(changes)


def test_a_pin_does_not_cover_state_instructions_or_other_capabilities() -> None:
    changes: list[dict[str, Any]] = [
        {"definitions": {"Used": PROVIDER.definitions["Used"]}},
        {"capabilities": PROVIDER.capabilities[:1]},
        {"capabilities": (PROVIDER.capabilities[0].model_copy(update={"state": State(enabled=False)}),)},
        {"instructions": "New"},
    ]
    assert {_pin(PROVIDER.model_copy(update=change)) for change in changes} == {_pin(PROVIDER)}
    assert _pin(PROVIDER, signer="ab12") == _pin(PROVIDER)


def test_there_is_no_pin_of_an_unknown_capability() -> None:
    with pytest.raises(KeyError):
        PROVIDER.pin(user=0, signer="", capability_id="three")


def test_every_fact_has_a_pointer() -> None:
    facts = {
        "nullable": True, "description": "d", "enum": ("a",), "pattern": "p", "format": "f", "implicit": True,
    }  # fmt: skip
    item = string(**facts, keywords={"a/b": 1}, extensions={"x": {"y": 2}})
    input_type = record({"a~b": required(item)}, qualified_name="a.B")
    provider = Provider(
        protocol="test",
        package="p",
        capabilities=(Capability(id="c", title="t", effects=Effects(read_only=False), input=input_type),),
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
        **{f"{inner}/type/{name}": value for name, value in {**facts, "enum": ["a"]}.items()},
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


def test_place_state_and_protection_level_are_not_compared() -> None:
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


_JSON = json_values(FINITE)
DIGITS = "0.10000000000000000001"


@given(_JSON)
def test_the_canonical_and_the_readable_text_are_read_as_the_same_value(value: Any) -> None:
    assert json.loads(canonical_json(value)) == value
    assert json.loads(readable_json(value)) == value


@given(_JSON)
def test_a_decimal_changes_no_other_digit(value: Any) -> None:
    marked = {"value": value, "exact": Decimal(DIGITS)}
    assert parse_json(readable_json(marked))["exact"] == Decimal(DIGITS)
    assert json.loads(readable_json(marked))["value"] == value
    assert json.loads(canonical_json(marked))["value"] == value
    assert f'"exact":{DIGITS}' in canonical_json(marked)


@given(_JSON)
def test_the_readable_text_is_the_one_of_the_standard_library(value: Any) -> None:
    with_decimal = readable_json([value, Decimal(DIGITS)])
    assert with_decimal == json.dumps([value, 5], ensure_ascii=False, indent=2).replace(
        "\n  5\n]", f"\n  {DIGITS}\n]"
    )


def test_canonical_text_sorts_keys_at_every_level() -> None:
    assert canonical_json({"b": {"d": 1, "c": 2}, "a": []}) == '{"a":[],"b":{"c":2,"d":1}}'


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), Decimal("NaN"), [Decimal("Infinity")]], ids=str
)
def test_what_is_not_a_json_number_has_no_text(value: Any) -> None:
    for write in (canonical_json, readable_json):
        with pytest.raises(ValueError, match=r"finite|compliant"):
            write(value)


def test_half_a_surrogate_pair_is_escaped_for_people() -> None:
    text = readable_json("\ud800")
    assert text == '"\\ud800"'
    assert text.encode()
    assert digest_of("\ud800").startswith("sha256:")


def test_a_json_text_of_one_line_is_one_line_for_every_reader() -> None:
    text = "a\x85b\u2028c\u2029d\x0b\ud800"
    line = one_line_json({"text": text})
    assert line.splitlines() == [line]
    assert json.loads(line) == {"text": text}


@given(st.text())
def test_pointer_tokens_are_undone(name: str) -> None:
    token = pointer_token(name)
    assert pointer_name(token) == name
    assert "/" not in token

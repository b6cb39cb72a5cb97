"""Digests and pins: what they cover, and what they leave out."""

from typing import Any

import pytest

from droidgate_mappings.model.capability import Capability, Provider, State, reachable_definitions
from droidgate_mappings.model.types import Property, Type
from model_types import all_of, array, int32, one_of, optional, record, ref, string


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


def test_a_pin_leaves_out_what_other_capabilities_and_the_moment_say() -> None:
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


def test_definitions_are_reached_through_every_kind_of_type() -> None:
    definitions: dict[str, Type] = {
        "A": record({"x": optional(ref("B"))}),
        "B": array(ref("C")),
        "C": all_of(ref("D"), ref("unknown")),
        "D": one_of(ref("A")),
        "E": string(),
    }
    assert reachable_definitions(ref("A"), definitions) == {"A", "B", "C", "D"}

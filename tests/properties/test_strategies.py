"""The generated models are valid, and nothing that a model can hold is rare among them."""

from collections import Counter
from collections.abc import Iterator
from random import Random

from hypothesis import given

from droidgate_mappings.model.capability import Capability, Provider, reachable_definitions, references_of
from droidgate_mappings.model.json_values import canonical_json
from droidgate_mappings.model.leaves import leaves_of_provider
from droidgate_mappings.model.types import TYPE_KINDS, Type
from strategies import INVENTED_FORMAT, KEYWORDS, PROTOCOL, capabilities, providers, random_provider, types

EXAMPLES = 1_000
LEAST_SHARE = 0.05
FACTS = ("nullable", "description", "enum", "pattern", "format", "implicit", "exclusive", "qualified_name")
FIELDS = ("package", "component", "name", "instructions", "title", "version", "read_only", "class_name")
SPELLINGS = ("type", "enum", "required", "properties")


def _features(provider: Provider) -> set[str]:
    features = {f"capabilities {len(provider.capabilities)}"}
    for pointer, value in leaves_of_provider(provider):
        tokens = pointer.split("/")
        if tokens[-1] == "kind":
            features.add(f"kind {value}")
        elif tokens[-2] == "keywords":
            features.add(f"keyword {tokens[-1]}")
        elif INVENTED_FORMAT in tokens:
            features.add("extensions")
        else:
            features.add(tokens[-1])
    if any(
        name in reachable_definitions(item, provider.definitions)
        for name, item in provider.definitions.items()
    ):
        features.add("recursion")
    return features


def test_every_kind_keyword_and_fact_is_in_one_of_twenty_examples() -> None:
    seen = Counter(
        feature for seed in range(EXAMPLES) for feature in _features(random_provider(Random(seed)))
    )
    expected = {f"kind {kind}" for kind in TYPE_KINDS} | {
        f"keyword {word}" for word in (*KEYWORDS, *SPELLINGS)
    }
    expected |= {
        *FACTS,
        *FIELDS,
        "extensions",
        "recursion",
        "capabilities 1",
        "capabilities 2",
        "capabilities 3",
    }
    rare = {feature: seen[feature] for feature in expected if seen[feature] < EXAMPLES * LEAST_SHARE}
    assert not rare


def test_a_seed_makes_the_same_provider_again() -> None:
    assert random_provider(Random(7)) == random_provider(Random(7))


def _types_of(provider: Provider) -> Iterator[Type]:
    yield from provider.definitions.values()
    for item in provider.capabilities:
        yield item.input
        if item.output is not None:
            yield item.output


@given(providers())
def test_providers_are_valid(provider: Provider) -> None:
    assert provider.protocol == PROTOCOL
    assert Provider.model_validate(provider.model_dump()) == provider
    ids = [item.id for item in provider.capabilities]
    assert len(set(ids)) == len(ids)
    assert all(ids)
    referred = {name for item in _types_of(provider) for name in references_of(item)}
    assert referred <= provider.definitions.keys()
    canonical_json(provider.model_dump()).encode()


@given(capabilities(("A",)))
def test_capabilities_refer_only_to_the_definitions_they_are_given(capability: Capability) -> None:
    assert {*references_of(capability.input)} <= {"A"}


@given(types())
def test_types_refer_to_nothing_when_nothing_is_given(item: Type) -> None:
    assert not list(references_of(item))

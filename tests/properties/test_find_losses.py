"""What writers find without writing, as scans ask them, held to what they find when they write."""

import re
from collections import Counter
from itertools import combinations
from random import Random

import pytest
from hypothesis import given, settings

from droidgate.coverage.conversions import EXACT, LEVELS, estimate_conversions, targets
from droidgate_mappings.model.capability import Provider, reachable_definitions
from droidgate_mappings.model.errors import DroidgateError, WriteError
from droidgate_mappings.model.findings import CONVERSION_LEVELS, Finding, Level
from droidgate_mappings.model.json_values import pointer_token
from strategies import providers, random_provider

TARGETS = sorted(name for name, (item, _) in targets().items() if item.find_losses is not None)
"""Without `find_losses`, a scan asks `write` itself."""
WILD_TEXTS = ("\0", "\ud800", "\ufffe", "a\x1bb", "\U0001f600", "%s ${x} @string/y", "")


def with_texts(provider: Provider, text: str) -> Provider:
    """Return a provider with a text where people and programs write theirs."""
    capabilities = tuple(
        item.model_copy(
            update={"id": f"{item.id}{text}", "description": text, "version": text, "title": text}
        )
        for item in provider.capabilities
    )
    changes = dict.fromkeys(("package", "component", "name", "description", "instructions"), text)
    return provider.model_copy(update={**changes, "capabilities": capabilities})


def losses_written(provider: Provider, target: str) -> tuple[Finding, ...]:
    item, dialect = targets()[target]
    assert item.write is not None
    return item.write(provider, dialect).findings


def losses_found(provider: Provider, target: str) -> tuple[Finding, ...]:
    item, dialect = targets()[target]
    assert item.find_losses is not None
    return item.find_losses(provider, dialect)


def assert_losses_found_as_written(provider: Provider, target: str) -> None:
    assert losses_found(provider, target) == losses_written(provider, target)


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
@given(provider=providers(size=15))
@settings(max_examples=25)
def test_find_losses_finds_what_writing_finds(target: str, provider: Provider) -> None:
    assert_losses_found_as_written(provider, target)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("text", WILD_TEXTS)
def test_no_text_of_another_format_can_end_writing(target: str, text: str) -> None:
    for seed in range(4):
        assert_losses_found_as_written(with_texts(random_provider(Random(seed), size=15), text), target)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("length", [8_000, 40_000])
def test_a_text_too_long_to_be_written_is_refused_by_find_losses_too(target: str, length: int) -> None:
    provider = with_texts(random_provider(Random(3), size=15), "")
    long = {"description": "x" * length}
    capabilities = tuple(each.model_copy(update=long) for each in provider.capabilities)
    provider = provider.model_copy(update={"capabilities": capabilities, "description": "y" * length})
    try:
        written = losses_written(provider, target)
    except WriteError as refused:
        with pytest.raises(WriteError, match=re.escape(str(refused))):
            losses_found(provider, target)
    else:
        assert losses_found(provider, target) == written


EQUAL_TARGETS = [
    (first, second)
    for (first, (item, dialect)), (second, (other_item, other_dialect)) in combinations(targets().items(), 2)
    if item is other_item and dialect.capacity == other_dialect.capacity
]


@pytest.mark.parametrize(("first", "second"), EQUAL_TARGETS)
def test_dialects_of_one_capacity_have_the_same_losses(first: str, second: str) -> None:
    for seed in range(6):
        provider = random_provider(Random(seed), size=15)
        assert losses_found(provider, first) == losses_found(provider, second)


def losses_by_writing(provider: Provider, target: str) -> list[tuple[str, str, tuple[int, ...]]]:
    """Return level, provider's level and counts for each capability, counted from what is written."""
    try:
        findings = losses_written(provider, target)
    except DroidgateError:
        alone = tuple(int(level is Level.IMPOSSIBLE) for level in CONVERSION_LEVELS)
        return [("impossible", "impossible", alone)] * len(provider.capabilities)
    parts = {"capabilities", "definitions"}
    of_provider = [item for item in findings if item.pointer.split("/")[1] not in parts]
    losses = []
    for number, capability in enumerate(provider.capabilities):
        reached = reachable_definitions(capability, provider.definitions)
        places = [f"/capabilities/{number}", *(f"/definitions/{pointer_token(name)}" for name in reached)]
        own = [item for item in findings if is_on(item, places)]
        counts = Counter(item.level for item in own)
        counts[Level.SECURITY] += sum(item.level is Level.SECURITY for item in of_provider)
        losses.append((worst(own), worst(of_provider), tuple(counts[level] for level in CONVERSION_LEVELS)))
    return losses


def assert_estimated_as_written(provider: Provider) -> None:
    converted = estimate_conversions(provider)
    for number, target in enumerate(targets()):
        estimated = [
            (each.level, each.provider_level, each.counts) for each in converted if each.target == number
        ]
        assert estimated == losses_by_writing(provider, target)


def is_on(item: Finding, places: list[str]) -> bool:
    return any(f"{item.pointer}/".startswith(f"{place}/") for place in places)


def worst(findings: list[Finding]) -> str:
    levels = (str(finding.level) for finding in findings if finding.level is not Level.SECURITY)
    return max(levels, key=LEVELS.index, default=EXACT)


@given(provider=providers(size=15))
@settings(max_examples=25)
def test_conversions_are_those_of_the_real_writers(provider: Provider) -> None:
    assert_estimated_as_written(provider)


@pytest.mark.parametrize("source", TARGETS)
def test_conversions_of_what_a_writer_wrote_are_those_of_the_real_writers(source: str) -> None:
    item, dialect = targets()[source]
    assert item.write is not None
    for seed in range(4):
        assert_estimated_as_written(item.write(random_provider(Random(seed), size=15), dialect).provider)


def test_facts_of_the_target_that_no_reader_gave_are_reported_by_writing() -> None:
    facts = {"appfunctions": {"components": 7}}
    provider = random_provider(Random(1), size=10).model_copy(update={"extensions": facts})
    target = "appfunctions+v2"
    conversions = estimate_conversions(provider)
    reported = {each.level for each in conversions if each.target == TARGETS.index(target)}
    assert reported == {"impossible"} == {level for level, _, _ in losses_by_writing(provider, target)}

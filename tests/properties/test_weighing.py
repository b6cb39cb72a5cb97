"""What writers find without writing, as scans ask them, held to what they find when they write."""

import re
from random import Random

import pytest
from hypothesis import given, settings

from droidgate.coverage.conversions import EXACT, LEVELS, estimate_conversions, targets
from droidgate_mappings.model.capability import Provider, reachable_definitions
from droidgate_mappings.model.errors import DroidgateError, WriteError
from droidgate_mappings.model.findings import CONVERSION_LEVELS, Finding, Level
from droidgate_mappings.model.json_values import pointer_token
from strategies import providers, random_provider

TARGETS = sorted(targets())
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


def assert_weighed_as_written(provider: Provider, target: str) -> None:
    item, dialect = targets()[target]
    assert item.write is not None
    assert item.find_losses is not None
    assert item.find_losses(provider, dialect) == item.write(provider, dialect).findings


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
@given(provider=providers(size=15))
@settings(max_examples=25)
def test_weighing_finds_what_writing_finds(target: str, provider: Provider) -> None:
    assert_weighed_as_written(provider, target)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("text", WILD_TEXTS)
def test_no_text_of_another_format_can_end_writing(target: str, text: str) -> None:
    for seed in range(4):
        assert_weighed_as_written(with_texts(random_provider(Random(seed), size=15), text), target)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("length", [8_000, 40_000])
def test_what_is_too_long_to_be_written_is_not_weighed(target: str, length: int) -> None:
    item, dialect = targets()[target]
    assert item.write is not None
    assert item.find_losses is not None
    provider = with_texts(random_provider(Random(3), size=15), "")
    capabilities = tuple(
        each.model_copy(update={"description": "x" * length}) for each in provider.capabilities
    )
    provider = provider.model_copy(update={"capabilities": capabilities, "description": "y" * length})
    try:
        written = item.write(provider, dialect).findings
    except WriteError as refused:
        with pytest.raises(WriteError, match=re.escape(str(refused))):
            item.find_losses(provider, dialect)
    else:
        assert item.find_losses(provider, dialect) == written


@pytest.mark.parametrize("name", sorted({first.id for first, _ in targets().values()}))
def test_dialects_of_one_capacity_weigh_alike(name: str) -> None:
    of_format = [(first, dialect) for first, dialect in targets().values() if first.id == name]
    for seed in range(6):
        provider = random_provider(Random(seed), size=15)
        for first, dialect in of_format:
            assert first.find_losses is not None
            for _, other in of_format:
                if other.capacity == dialect.capacity:
                    assert first.find_losses(provider, other) == first.find_losses(provider, dialect)


def losses_by_writing(provider: Provider, target: str) -> list[tuple[str, str, tuple[int, ...]]]:
    """Return level, provider's level and counts for each capability, counted from what is written."""
    item, dialect = targets()[target]
    assert item.write is not None
    try:
        findings = item.write(provider, dialect).findings
    except DroidgateError:
        alone = tuple(int(level is Level.IMPOSSIBLE) for level in CONVERSION_LEVELS)
        return [("impossible", "impossible", alone)] * len(provider.capabilities)
    of_provider = [
        item for item in findings if item.pointer.split("/")[1] not in {"capabilities", "definitions"}
    ]
    losses = []
    for number, capability in enumerate(provider.capabilities):
        places = [f"/capabilities/{number}"] + [
            f"/definitions/{pointer_token(name)}"
            for name in reachable_definitions(capability, provider.definitions)
        ]
        own = [item for item in findings if is_on(item, places)]
        counts = tuple(
            sum(
                item.level is level for item in (own if level is not Level.SECURITY else [*own, *of_provider])
            )
            for level in CONVERSION_LEVELS
        )
        losses.append((worst(own), worst(of_provider), counts))
    return losses


def is_on(item: Finding, places: list[str]) -> bool:
    return any(f"{item.pointer}/".startswith(f"{place}/") for place in places)


def worst(findings: list[Finding]) -> str:
    levels = (str(finding.level) for finding in findings if finding.level is not Level.SECURITY)
    return max(levels, key=LEVELS.index, default=EXACT)


@given(provider=providers(size=15))
@settings(max_examples=25)
def test_conversions_are_those_of_the_real_writers(provider: Provider) -> None:
    converted = estimate_conversions(provider)
    for number, target in enumerate(targets()):
        reported = [
            (conversion.level, conversion.provider_level, conversion.counts)
            for conversion in converted.conversions
            if conversion.target == number
        ]
        assert reported == losses_by_writing(provider, target)


@pytest.mark.parametrize("source", TARGETS)
def test_conversions_of_what_a_writer_wrote_are_those_of_the_real_writers(source: str) -> None:
    item, dialect = targets()[source]
    assert item.write is not None
    for seed in range(4):
        provider = item.write(random_provider(Random(seed), size=15), dialect).provider
        converted = estimate_conversions(provider)
        for number, target in enumerate(targets()):
            reported = [
                (each.level, each.provider_level, each.counts)
                for each in converted.conversions
                if each.target == number
            ]
            assert reported == losses_by_writing(provider, target)


def test_facts_of_the_target_that_no_reader_gave_are_reported_by_writing() -> None:
    facts = {"appfunctions": {"components": 7}}
    provider = random_provider(Random(1), size=10).model_copy(update={"extensions": facts})
    number = TARGETS.index("appfunctions+v2")
    reported = {
        conversion.level
        for conversion in estimate_conversions(provider).conversions
        if conversion.target == number
    }
    assert (
        reported == {"impossible"} == {level for level, _, _ in losses_by_writing(provider, TARGETS[number])}
    )

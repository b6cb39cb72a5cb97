"""Every format that is written, held to the two properties of a conversion, and every ordered pair."""

from importlib.metadata import EntryPoint, entry_points
from itertools import permutations
from random import Random

import pytest
from hypothesis import given, settings

from droidgate_mappings.formats.format import ENTRY_POINT_GROUP, Format
from droidgate_mappings.model.capability import Provider
from properties.matching import assert_findings_match, assert_reads_back
from strategies import providers, random_provider

SEEDS_OF_A_PAIR = 12
MODELS_OF_A_BLOCK = 100


def _load(entry: EntryPoint) -> Format | str:
    try:
        format_: Format = entry.load()
    except (ImportError, AttributeError, OSError) as error:
        return f"the entry point of {entry.name} does not load: {error}"
    return format_


LOADED = {entry.name: _load(entry) for entry in entry_points(group=ENTRY_POINT_GROUP)}
WRITTEN = [
    (item.id, dialect.id)
    for item in LOADED.values()
    if isinstance(item, Format) and item.write is not None
    for dialect in item.dialects
    if dialect.capacity is not None
]
TARGETS = [f"{item}+{dialect}" for item, dialect in WRITTEN]


def _convert(provider: Provider, target: str) -> Provider:
    format_id, _, dialect_id = target.partition("+")
    item = LOADED[format_id]
    assert isinstance(item, Format)
    assert item.write is not None
    dialect = item.dialect(dialect_id)
    writing = item.write(provider, dialect)
    assert_findings_match(provider, writing)
    return assert_reads_back(writing, item, dialect) if dialect.readable else writing.provider


@pytest.mark.parametrize("name", LOADED)
def test_a_format_loads(name: str) -> None:
    item = LOADED[name]
    if isinstance(item, str):
        pytest.fail(item)
    assert item.id == name


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
@given(provider=providers(size=15))
@settings(max_examples=40)
def test_any_model_is_converted(target: str, provider: Provider) -> None:
    _convert(provider, target)


@pytest.mark.parametrize(("first", "second"), list(permutations(TARGETS, 2)))
def test_what_one_format_holds_is_converted_to_every_other(first: str, second: str) -> None:
    for seed in range(SEEDS_OF_A_PAIR):
        _convert(_convert(random_provider(Random(seed), size=15), first), second)


@pytest.mark.long
@pytest.mark.parametrize("block", range(1_000))
def test_a_hundred_thousand_models_are_converted_to_every_dialect(block: int) -> None:
    for seed in range(block * MODELS_OF_A_BLOCK, (block + 1) * MODELS_OF_A_BLOCK):
        provider = random_provider(Random(seed), size=15)
        for target in TARGETS:
            _convert(provider, target)


@given(providers(size=15))
def test_one_revision_gives_the_other_what_it_can_hold(provider: Provider) -> None:
    older = _convert(provider, "mcp+2025-11-25")
    newer = _convert(older, "mcp+2026-07-28")
    assert _convert(newer, "mcp+2025-11-25") == older

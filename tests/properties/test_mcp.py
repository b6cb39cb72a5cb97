"""MCP holds every model: findings and differences match, and files read back, in both revisions."""

from random import Random

import pytest
from hypothesis import given

from droidgate.model.capability import Provider
from droidgate_mcp.format import FORMAT
from properties.matching import assert_findings_match, assert_reads_back
from strategies import providers, random_provider

DIALECTS = [dialect.id for dialect in FORMAT.dialects]


def _cross(provider: Provider, dialect_id: str) -> Provider:
    assert FORMAT.write is not None
    dialect = FORMAT.dialect(dialect_id)
    writing = FORMAT.write(provider, dialect)
    assert_findings_match(provider, writing)
    return assert_reads_back(writing, FORMAT, dialect)


@pytest.mark.slow
@pytest.mark.parametrize("dialect", DIALECTS)
@given(provider=providers(size=15))
def test_any_model_crosses(dialect: str, provider: Provider) -> None:
    _cross(provider, dialect)


@pytest.mark.slow
@pytest.mark.parametrize("dialect", DIALECTS)
def test_hundreds_of_seeds_cross(dialect: str) -> None:
    for seed in range(500):
        _cross(random_provider(Random(seed)), dialect)


@given(providers(size=15))
def test_one_revision_gives_the_other_what_it_can_hold(provider: Provider) -> None:
    older = _cross(provider, "2025-11-25")
    newer = _cross(older, "2026-07-28")
    assert _cross(newer, "2025-11-25") == older


@pytest.mark.long
@pytest.mark.parametrize("block", range(10))
def test_a_hundred_thousand_models_cross(block: int) -> None:
    for seed in range(block * 10_000, (block + 1) * 10_000):
        _cross(random_provider(Random(seed)), DIALECTS[seed % len(DIALECTS)])

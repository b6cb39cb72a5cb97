"""MCP holds every model, so its two revisions hold the same."""

from hypothesis import given

from droidgate_mappings.model.capability import Provider
from droidgate_mcp.format import FORMAT
from properties.matching import assert_findings_match, assert_reads_back
from strategies import providers


def _cross(provider: Provider, dialect_id: str) -> Provider:
    assert FORMAT.write is not None
    dialect = FORMAT.dialect(dialect_id)
    writing = FORMAT.write(provider, dialect)
    assert_findings_match(provider, writing)
    return assert_reads_back(writing, FORMAT, dialect)


@given(providers(size=15))
def test_one_revision_gives_the_other_what_it_can_hold(provider: Provider) -> None:
    older = _cross(provider, "2025-11-25")
    newer = _cross(older, "2026-07-28")
    assert _cross(newer, "2025-11-25") == older

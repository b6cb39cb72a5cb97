"""What a coverage report says, as typed data: the terminal, `--json` and the HTML page are drawn from it.

A report has a summary, whose size does not depend on how large the catalog is, and, for catalogs that a page
can hold, the details: every app, provider, capability and finding. What a report refers to inside of itself
is addressed by position in its lists. Every text that comes from an app is here as the app has it: whoever
shows it makes it safe.
"""

from __future__ import annotations

from droidgate.coverage.document_details import Details
from droidgate.coverage.document_summary import (
    AgentFacts,
    AgentReach,
    AppTypeCoverage,
    CatalogFacts,
    FidelityCell,
    History,
    MatchingSummary,
    Overlap,
    ProtocolCount,
    Quality,
    Totals,
    UnreadCounts,
)
from droidgate_mappings.model.types import Frozen


class Report(Frozen):
    """Who exposes what, who can reach it, and what changed.

    Attributes:
        catalog: What was looked at.
        unread: What could not be read.
        totals: The figures that a report begins with.
        protocols: By dialect, sorted by protocol and dialect.
        overlap: Apps by the set of their protocols, the most frequent first; at most 40 sets.
        agents: The kinds of agents, in the order of every list by agent.
        conditions: What S and P in `ReachCell.needs` mean.
        reach: For each agent.
        levels: Levels of a conversion, mildest first, `exact` before all.
        targets: The dialects of the fidelity cells, sorted.
        fidelity: From each dialect that occurs to each target.
        use_cases: By app type; None without matching.
        matching: What overlaps; None without matching.
        quality: How well it is described.
        history: What changed; None without an earlier catalog.
        details: Everything, one by one; None where they are not wanted, or there are too many.
        notes: What a reader has to know of this report: what is left out, and how to get it.
    """

    catalog: CatalogFacts
    unread: UnreadCounts
    totals: Totals
    protocols: tuple[ProtocolCount, ...]
    overlap: tuple[Overlap, ...]
    agents: tuple[AgentFacts, ...]
    conditions: dict[str, str]
    reach: tuple[AgentReach, ...]
    levels: tuple[str, ...]
    targets: tuple[str, ...]
    fidelity: tuple[FidelityCell, ...]
    use_cases: tuple[AppTypeCoverage, ...] | None
    matching: MatchingSummary | None
    quality: Quality
    history: History | None
    details: Details | None
    notes: tuple[str, ...]

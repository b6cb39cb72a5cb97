"""What a coverage report says, as typed data: the terminal, `--json` and the HTML page are drawn from it.

A report has a summary, whose size does not depend on how large the catalog is, and, for catalogs that a page
can hold, the details: every app, provider, capability and finding. What a report refers to inside of itself
is addressed by position in its lists. Every text that comes from an app is here as the app has it: whoever
shows it makes it safe.

Also here: what came of sources, in words.

Also here: marks of what deserves a second look before anybody lets a model use it: hints, no verdicts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from droidgate.coverage.document_details import Details
from droidgate.coverage.document_summary import (
    AgentFacts,
    AgentReach,
    AppTypeCoverage,
    CatalogFacts,
    Counted,
    FidelityCell,
    History,
    MatchingSummary,
    Overlap,
    ProtocolCount,
    Quality,
    Totals,
    UnreadCounts,
)
from droidgate_mappings.formats.reachability import ComponentFacts
from droidgate_mappings.model.capability import Provider
from droidgate_mappings.model.findings import Finding, Level, finding_code
from droidgate_mappings.model.types import Frozen
from droidgate_mappings.text_safety.marks import text_marks

EXPORTED_WITHOUT_PERMISSION: Final = finding_code(
    "exported-without-permission",
    "Every app on the phone can call this component: it is exported and asks for no permission",
    __name__,
)


def marks_of(provider: Provider, facts: ComponentFacts) -> Iterator[Finding]:
    """Yield the security marks of a provider.

    Args:
        provider: What is declared.
        facts: What decides whether other apps may call the component that declares it.
    """
    if _is_open(facts):
        yield Finding(
            code=EXPORTED_WITHOUT_PERMISSION,
            level=Level.WARNING,
            pointer="/component",
            message=f"every app on the phone can call {provider.component}",
            hint="name a permission in android:permission, or check who calls",
        )
    yield from (text_mark.as_finding(with_place=False) for text_mark in text_marks(provider))


def _is_open(facts: ComponentFacts) -> bool:
    is_component = facts.kind not in {None, "application"}
    is_enabled = facts.is_app_enabled and facts.is_enabled
    return is_component and is_enabled and facts.is_exported and facts.permission is None


_WORDS: Final[Mapping[str, tuple[str, str]]] = {
    "part": ("split", "splits"),
    "left-out": ("left out", "left out"),
    "no-descriptor": ("of no known format", "of no known format"),
    "too-slow": ("too slow", "too slow"),
    "too-much-memory": ("beyond the memory limit", "beyond the memory limit"),
}


def outcomes_in_words(outcomes: Iterable[Counted]) -> str:
    """Return outcomes of sources (`SourceRow.outcome`) with their counts, such as `3 read, 1 split`."""
    return ", ".join(
        f"{outcome.count:,} {_WORDS.get(outcome.name, (outcome.name,) * 2)[outcome.count != 1]}"
        for outcome in outcomes
    )


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

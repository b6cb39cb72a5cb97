"""What a coverage report says, as typed data: the terminal, `--json` and the HTML page are drawn from it.

A report has a summary, whose size does not depend on how large the catalog is, and, for catalogs that a page
can hold, the details: every app, provider, capability and finding. Every text that comes from an app is here
as the app has it: what shows it makes it safe. Marks say what deserves a second look before a model uses it;
they are hints.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import SimpleNamespace
from typing import Final, Literal, TypeAlias

from pydantic import Field, InstanceOf
from pydantic.json_schema import SkipJsonSchema

from droidgate_mappings.compare import Change
from droidgate_mappings.model.types import Frozen
from droidgate_mappings.records import dataclass

Reach: TypeAlias = Literal["native", "gateway", "ui-only", "none"]
"""How an agent reaches a capability: directly, through the gateway, only by the app's screens, or not at
all."""

REACHES: Final[tuple[Reach, ...]] = ("native", "gateway", "ui-only", "none")
"""The ways of reach, best first; counts by reach are in this order."""


class Counted(Frozen):
    """A name and its count."""

    name: str
    count: int


class CatalogFacts(Frozen):
    """The catalog.

    Attributes:
        name: Its folder as the user wrote it; of an absolute path the last part.
        droidgate: Version of droidgate that made the scan.
        outcomes: Sources by outcome, the most frequent first.
        rows: Rows of each table.
    """

    name: str
    droidgate: str
    outcomes: tuple[Counted, ...]
    rows: dict[str, int]


class UnreadInput(Frozen):
    """A source, or a part of one, that a scan could not read.

    Attributes:
        source: Where it was found, as the user would write it.
        place: For a part of a source: the file inside it, with the line; None where that is not known.
        outcome: Outcome of the source (`SourceRow.outcome`); None for a part of a source that was read.
        reason: Why it could not be read, one sentence.
    """

    source: str
    place: str | None
    outcome: str | None
    reason: str


class UnreadCounts(Frozen):
    """What a scan could not read; no other figure counts it.

    Attributes:
        sources: Sources of which nothing was read.
        parts: Parts of other sources, such as one of several descriptors of an app.
        reasons: Sources and parts by reason, the most frequent first; at most 20 reasons.
        inputs: The sources, then the parts, by name; at most 200.
        left_out: Number of sources and parts beyond these.
    """

    sources: int
    parts: int
    reasons: tuple[Counted, ...]
    inputs: tuple[UnreadInput, ...]
    left_out: int


class Totals(Frozen):
    """The figures at the beginning of a report.

    Attributes:
        apps: Applications, and descriptors without an app.
        descriptors: Descriptors without an app.
        repeated_apps: Apps and descriptors that the catalog has in a newer version or once more; changes, the
            trend, overlaps and the lowest scores leave them out.
        declaring_apps: Apps that declare something in any protocol, silent ones included.
        silent_apps: Apps that declare something, but list their capabilities only at run time, on request.
        ui_only_apps: Apps that declare nothing and have a launcher screen.
        mute_apps: Apps that declare nothing and have no launcher screen.
        unread_apps: Apps of which a part was not read, such as the code of a flavour, and that declare
            nothing in the rest; not counted in `ui_only_apps` and `mute_apps`.
        several_protocols_apps: Apps that declare something in two protocols or more.
        providers: Components and descriptors that declare capabilities.
        capabilities: Declared capabilities.
        variant_capabilities: Those of them that only other variants of a project declare than its default
            one.
        tokens: Estimated tokens of all capabilities together.
    """

    apps: int
    descriptors: int
    repeated_apps: int = 0
    declaring_apps: int
    silent_apps: int
    ui_only_apps: int
    mute_apps: int
    unread_apps: int = 0
    several_protocols_apps: int
    providers: int
    capabilities: int
    variant_capabilities: int = 0
    tokens: int


class ProtocolCount(Frozen):
    """The apps, providers and capabilities of one dialect. `title` is the format's human-readable name."""

    protocol: str
    title: str
    dialect: str | None
    apps: int
    providers: int
    capabilities: int


class Overlap(Frozen):
    """Apps that declare capabilities in exactly these protocols (sorted ids; empty for none).

    An app that declares nothing and was not read whole is in no set.
    """

    protocols: tuple[str, ...]
    apps: int
    capabilities: int


class AgentFacts(Frozen):
    """A kind of agent.

    Attributes:
        id: Stable id, such as `mobile-mcp`.
        title: The human-readable name.
        speaks: Ids of the interfaces that it calls directly.
        target: `FORMAT+DIALECT` in which the gateway lists capabilities for it; None for an agent that uses
            screens.
        uses_screens: Whether it works on screens and calls nothing.
    """

    id: str
    title: str
    speaks: tuple[str, ...]
    target: str | None
    uses_screens: bool


class AgentReach(Frozen):
    """The apps and capabilities that one kind of agent reaches.

    Attributes:
        agent: Id of the agent.
        apps: Apps by the best reach of their capabilities, in the order of `REACHES`; an app that declares
            nothing counts by its screen.
        capabilities: Capabilities by reach, in the order of `REACHES`.
        levels: Capabilities that it reaches through the gateway, by the most severe level of the conversion,
            the least severe first.
        reasons: Reasons for the reach, the most frequent first; at most 12.
    """

    agent: str
    apps: tuple[int, int, int, int]
    capabilities: tuple[int, int, int, int]
    levels: tuple[Counted, ...]
    reasons: tuple[Counted, ...]


class FidelityCell(Frozen):
    """The losses of conversions from one dialect to another.

    Attributes:
        protocol: Protocol of the source.
        dialect: Dialect of the source.
        target: `FORMAT+DIALECT` of the target.
        levels: Capabilities by the most severe level of their findings, in the order of the
            report's `levels`.
            Security findings are counted apart.
        security: Capabilities with an access rule, their own or their provider's, that the target does not
            enforce.
    """

    protocol: str
    dialect: str | None
    target: str
    levels: tuple[int, ...]
    security: int


class UseCaseCount(Frozen):
    """A use case of the guideline, with the apps and capabilities that serve it; a gap where none does."""

    id: str
    title: str
    apps: int
    capabilities: int
    protocols: tuple[Counted, ...]


class AppTypeCoverage(Frozen):
    """An app type of the guideline.

    Attributes:
        id: Stable id.
        title: The human-readable name.
        apps: Apps that serve any of its use cases.
        covered: Number of its use cases that an app serves.
        use_cases: In the guideline's order.
    """

    id: str
    title: str
    apps: int
    covered: int
    use_cases: tuple[UseCaseCount, ...]


class MatchedGroup(Frozen):
    """Capabilities that serve one use case in several apps or protocols.

    Attributes:
        name: The id of its first capability.
        capabilities: Number of its capabilities.
        apps: Number of their apps.
        protocols: Capabilities by protocol.
        kinds: Links by kind: `same-job`, `near-duplicate`, `same-app-twice`.
        examples: At most 5 capabilities as `PACKAGE ID`.
    """

    name: str
    capabilities: int
    apps: int
    protocols: tuple[Counted, ...]
    kinds: tuple[Counted, ...]
    examples: tuple[str, ...]


class MatchingSummary(Frozen):
    """Groups of capabilities that overlap across apps and protocols.

    Attributes:
        groups: Number of groups of two or more capabilities.
        capabilities: Number of capabilities in these groups.
        kinds: Links by kind.
        full_blocks: Blocks that were full, so that a match may have been missed.
        largest: The 20 groups with the most apps.
    """

    groups: int
    capabilities: int
    kinds: tuple[Counted, ...]
    full_blocks: int
    largest: tuple[MatchedGroup, ...]


class QualityFigures(Frozen):
    """The quality of the declarations of one app, or of all apps.

    Attributes:
        capabilities: Number of capabilities.
        undescribed_capabilities: Capabilities without a description.
        parameters: Number of parameters, those inside of objects too.
        undescribed_parameters: Parameters without a description.
        untyped_parameters: Parameters without a type.
        poor_names: Capabilities whose id has no word (`f1`, `x`) or is too long for models.
        tokens: Estimated tokens of all capabilities together.
        lint_errors: Lint findings of the level `error`.
        lint_warnings: Lint findings of the level `warning`.
        lint_notes: Lint findings of the level `note`.
        lenient_reads: Deviations from the specification that the reader accepted.
        marks: Texts with a security mark.
        score: 100 minus the deductions in docs/reference/coverage.md; None where nothing is declared.
    """

    capabilities: int
    undescribed_capabilities: int
    parameters: int
    undescribed_parameters: int
    untyped_parameters: int
    poor_names: int
    tokens: int
    lint_errors: int
    lint_warnings: int
    lint_notes: int
    lenient_reads: int
    marks: int
    score: int | None


class AppQuality(Frozen):
    """The quality of one app; `key` is as in `AppDetail`, `source` is the place where it was found."""

    key: str
    package: str | None
    label: str | None
    source: str | None
    figures: QualityFigures


class FindingCount(Frozen):
    """The count of one finding code.

    Attributes:
        origin: `reading`, `lint` or `security`.
        protocol: Protocol of the provider; without a known provider the only protocol of the app, else None.
        code: The stable code.
        meaning: Meaning of the code, one sentence; None where this version does not know the code.
        level: `note`, `warning` or `error`.
        findings: Number of findings.
        apps: Number of apps with such a finding.
    """

    origin: str
    protocol: str | None
    code: str
    meaning: str | None
    level: str
    findings: int
    apps: int


class ReleaseCount(Frozen):
    """Lint findings that apply to an Android release.

    Attributes:
        release: Human-readable name, such as `Android 16 QPR2`.
        protocol: Protocol, None where it is not known.
        errors: Findings of the level `error`.
        warnings: Findings of the level `warning`.
        notes: Findings of the level `note`.
        apps: Number of apps with such a finding.
    """

    release: str
    protocol: str | None
    errors: int
    warnings: int
    notes: int
    apps: int


class Quality(Frozen):
    """The quality of the declarations.

    Attributes:
        all: All apps together.
        worst: The 20 apps with the lowest scores below 100, the lowest first.
        findings: Findings by origin, protocol, code and level; the most frequent first.
        releases: Lint findings by Android release, oldest first, without those that apply to every release.
    """

    all: QualityFigures
    worst: tuple[AppQuality, ...]
    findings: tuple[FindingCount, ...]
    releases: tuple[ReleaseCount, ...]


class ChangedCapability(Frozen):
    """An added, removed or changed capability; `changes` are those of `droidgate diff`, at most 20."""

    id: str
    status: Literal["added", "removed", "changed"]
    weight: Literal["text-only", "compatible", "not-decided", "breaking", "security"]
    changes: tuple[Change, ...]


class ChangedProvider(Frozen):
    """A provider that was added, removed or changed: its own changes, and those of its capabilities."""

    protocol: str
    component: str | None
    status: Literal["added", "removed", "changed"]
    weight: Literal["text-only", "compatible", "not-decided", "breaking", "security"]
    changes: tuple[Change, ...]
    capabilities: tuple[ChangedCapability, ...]


class ChangedApp(Frozen):
    """An app that was added, removed, changed its declarations, or is signed by other certificates.

    One that the other catalog may have in a source that was not read is `not-compared`, and so is one of
    which nothing but such a part differs.

    Attributes:
        package: Application id; for a descriptor without an app its source.
        label: Its label, the new one where there is one.
        status: The change of the app itself.
        old_version: Earlier `versionName`, or `versionCode` where it has no name.
        new_version: The same of the later version.
        weight: The change with the most effect on callers; None where its declarations did not change.
        capabilities_added: Number of added capabilities.
        capabilities_removed: Number of removed capabilities.
        capabilities_changed: Number of changed capabilities.
        capabilities_not_compared: Number of capabilities that the other catalog may have in what was not
            read.
        unread: What was not read, and why; the first of several. None where everything was compared.
        resigned: Whether other certificates than before sign it; its approvals are no longer valid then.
        providers: The changed providers; empty for an added or removed app, and beyond the first 200 apps.
    """

    package: str
    label: str | None
    status: Literal["added", "removed", "changed", "not-compared"]
    old_version: str | None
    new_version: str | None
    weight: Literal["text-only", "compatible", "not-decided", "breaking", "security"] | None
    capabilities_added: int
    capabilities_removed: int
    capabilities_changed: int
    capabilities_not_compared: int
    unread: str | None
    resigned: bool
    providers: tuple[ChangedProvider, ...]


class ChangeCounts(Frozen):
    """The numbers of changes between two catalogs.

    Attributes:
        apps_added: Added apps, whether they declare anything or not.
        apps_removed: Removed apps.
        apps_changed: Apps in both catalogs with changed declarations.
        apps_resigned: Apps in both catalogs, signed by other certificates.
        apps_not_compared: Apps that one catalog may have, or may declare as before, in what was not read.
        capabilities_added: Added capabilities, those of added apps included.
        capabilities_removed: Removed capabilities, those of removed apps included.
        capabilities_changed: Changed capabilities.
        capabilities_not_compared: Capabilities that one catalog may have in what was not read; they are in no
            other count.
        breaking: Changed or removed capabilities whose heaviest change breaks callers, or is not decided.
        compatible: Changed capabilities without such a change.
        text_only: Changed capabilities of which only texts changed.
        security: Changed access rules of components and capabilities that now accept other callers.
        unchanged: Unchanged capabilities.
    """

    apps_added: int
    apps_removed: int
    apps_changed: int
    apps_resigned: int
    apps_not_compared: int
    capabilities_added: int
    capabilities_removed: int
    capabilities_changed: int
    capabilities_not_compared: int
    breaking: int
    compatible: int
    text_only: int
    security: int
    unchanged: int


class TrendPoint(Frozen):
    """One catalog of a history; of an app in several versions the newest counts, as in the changes.

    Attributes:
        name: Name of the catalog.
        apps: Applications, and descriptors without an app.
        declaring_apps: Apps and descriptors that declare something.
        providers: Components and descriptors that declare capabilities.
        capabilities: Declared capabilities.
        protocols: Capabilities by protocol, sorted by id.
        since_last: Changes since the previous catalog; None for the first.
    """

    name: str
    apps: int
    declaring_apps: int
    providers: int
    capabilities: int
    protocols: tuple[Counted, ...]
    since_last: ChangeCounts | None


class History(Frozen):
    """Changes since earlier catalogs.

    Attributes:
        since: The last of the earlier catalogs, with which this one is compared.
        counts: The numbers of changes since then.
        apps: The apps that were added, removed or changed, breaking changes first; at most 500.
        left_out: Number of changed apps beyond these.
        trend: Every catalog, the oldest first, this one last.
    """

    since: str
    counts: ChangeCounts
    apps: tuple[ChangedApp, ...]
    left_out: int
    trend: tuple[TrendPoint, ...]


MOST_APPS: Final = 5_000
MOST_CAPABILITIES: Final = 50_000
"""A report of a larger catalog has no details."""


class ReachCell(Frozen):
    """How one kind of agent reaches a capability.

    Attributes:
        reach: The way in which it reaches the capability.
        level: Through the gateway, the most severe level of the conversion (`exact` where nothing is lost);
            for native reach `exact`; else None.
        reason: The reason, one sentence without a period.
        needs: Conditions other than a grant, a sentence each; the report's `conditions` explain S and P.
        gate: The gate that is shut to calls, or to the work on screens; None where none is.
    """

    reach: Reach
    level: str | None
    reason: str
    needs: tuple[str, ...]
    gate: str | None = None


class ReachProfile(Frozen):
    """How each kind of agent reaches a capability, in the order of the report's `agents`.

    Capabilities with the same reach share a profile.
    """

    cells: tuple[ReachCell, ...]


DetailRow: TypeAlias = SimpleNamespace
"""A row of one of the queries in `report.py`; its attributes are the columns."""


@dataclass(frozen=True, slots=True)
class Details:
    """The rows behind the figures, of which a page is made; their positions in these lists are their keys.

    Attributes:
        targets: `FORMAT+DIALECT` of every conversion.
        reach_profiles: Profiles to which `reach` of a capability refers.
        level_profiles: Levels by target, to which `levels` of a capability refers; None where not known.
        apps: Apps, and descriptors without an app, by package, then version.
        providers: Providers by `app`.
        capabilities: Capabilities by `provider`.
        findings: Findings by `app`, where `app`, `provider` and `capability` are known.
        groups: Groups of matching capabilities: `members`, the leader first, and `links`.
        translations: The providers that `--translate` chose, in each target: written `files` and `findings`,
            or the `problem`.
    """

    targets: Sequence[str]
    reach_profiles: Sequence[ReachProfile]
    level_profiles: Sequence[Sequence[str | None]]
    apps: Sequence[DetailRow]
    providers: Sequence[DetailRow]
    capabilities: Sequence[DetailRow]
    findings: Sequence[DetailRow]
    groups: Sequence[DetailRow]
    translations: Sequence[DetailRow]


_WORDS: Final[Mapping[str, tuple[str, str]]] = {
    "part": ("split", "splits"),
    "left-out": ("left out", "left out"),
    "no-descriptor": ("of no known format", "of no known format"),
    "too-slow": ("too slow", "too slow"),
    "out-of-time": ("not reached in time", "not reached in time"),
    "too-much-memory": ("beyond the memory limit", "beyond the memory limit"),
}


def outcomes_in_words(outcomes: Iterable[Counted]) -> str:
    """Return outcomes of sources (`SourceRow.outcome`) with their counts, such as `3 read, 1 split`."""
    return ", ".join(
        f"{outcome.count:,} {_WORDS.get(outcome.name, (outcome.name,) * 2)[outcome.count != 1]}"
        for outcome in outcomes
    )


class CoverageReport(Frozen):
    """Which apps expose which capabilities, which agents can reach them, and what changed.

    Attributes:
        catalog: The catalog.
        unread: Sources that could not be read.
        totals: The figures at the beginning of a report.
        protocols: Counts by dialect, sorted by protocol and dialect.
        overlap: Apps by the set of their protocols, the most frequent first; at most 40 sets.
        agents: The kinds of agents, in the order of every list by agent.
        conditions: The meaning of S and P in `ReachCell.needs`.
        reach: The reach of each agent.
        levels: Levels of a conversion, `exact` first, then the least severe.
        targets: The dialects of the fidelity cells, sorted.
        fidelity: Losses from each dialect that occurs to each target.
        use_cases: Use cases by app type; None without matching.
        matching: Overlapping capabilities; None without matching.
        quality: The quality of the declarations.
        history: Changes; None without an earlier catalog.
        details: The rows behind the figures, which JSON leaves out; None unless they are asked for, or where
            there are too many.
        notes: What this report leaves out, and how to get it.
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
    details: SkipJsonSchema[InstanceOf[Details] | None] = Field(default=None, exclude=True)
    notes: tuple[str, ...]

    def __repr__(self) -> str:
        """Return one line: what there is, counted."""
        return f"<CoverageReport apps={self.totals.apps}, capabilities={self.totals.capabilities}>"

    __str__ = __repr__

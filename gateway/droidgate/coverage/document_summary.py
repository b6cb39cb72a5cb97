"""The summary of a coverage report: figures whose number does not depend on how large the catalog is."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

from droidgate_mappings.compare import Change
from droidgate_mappings.model.types import Frozen

Reach: TypeAlias = Literal["native", "gateway", "ui-only", "none"]
"""How an agent gets at a capability: by itself, through the gateway, only by the app's screens, not at
all."""

REACHES: Final[tuple[Reach, ...]] = ("native", "gateway", "ui-only", "none")
"""The ways of reach, best first; counts by reach are in this order."""


class Counted(Frozen):
    """A word and how often it occurs."""

    name: str
    count: int


class CatalogFacts(Frozen):
    """What was looked at.

    Attributes:
        name: What the catalog is called: its folder as the user wrote it, of an absolute path the last part.
        droidgate: Version of the program that scanned.
        outcomes: Sources by what came of them, the most frequent first.
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
        place: Of a part of a source: the file inside it, with the line; None where that is not known.
        outcome: What came of the source (`SourceRow.outcome`); None for a part of a source that was read.
        reason: Why, one sentence.
    """

    source: str
    place: str | None
    outcome: str | None
    reason: str


class UnreadCounts(Frozen):
    """What a scan could not read, so that no other figure counts it.

    Attributes:
        sources: Sources of which nothing was read.
        parts: Parts of other sources, such as one of several descriptors of an app.
        reasons: Sources and parts by reason, the most frequent first; at most 20 reasons.
        inputs: The sources, then the parts, by name; at most 200.
        left_out: How many more there are.
    """

    sources: int
    parts: int
    reasons: tuple[Counted, ...]
    inputs: tuple[UnreadInput, ...]
    left_out: int


class Totals(Frozen):
    """The figures that a report begins with.

    Attributes:
        apps: Applications, and descriptors that stand alone.
        descriptors: Those of them that are descriptors.
        declaring_apps: Apps that declare something in any protocol, silent ones included.
        silent_apps: Apps that declare something, but tell their capabilities only when a phone asks.
        ui_only_apps: Apps that declare nothing and have a launcher screen.
        mute_apps: Apps that declare nothing and have none.
        unread_apps: Apps that declare nothing in what was read, and of which something was not, such as the
            code of a flavour; they are among neither of these two.
        several_protocols_apps: Apps that declare something in two protocols or more.
        providers: Components and descriptors that declare.
        capabilities: What they declare.
        tokens: The token estimate of all capabilities together.
    """

    apps: int
    descriptors: int
    declaring_apps: int
    silent_apps: int
    ui_only_apps: int
    mute_apps: int
    unread_apps: int = 0
    several_protocols_apps: int
    providers: int
    capabilities: int
    tokens: int


class ProtocolCount(Frozen):
    """How often one dialect occurs. `title` is the format's human-readable name."""

    protocol: str
    title: str
    dialect: str | None
    apps: int
    providers: int
    capabilities: int


class Overlap(Frozen):
    """Apps that declare in exactly these protocols (sorted ids; empty: none at all)."""

    protocols: tuple[str, ...]
    apps: int
    capabilities: int


class AgentFacts(Frozen):
    """A kind of agent.

    Attributes:
        id: Stable id, such as `mobile-mcp`.
        title: The human-readable name.
        speaks: Ids of the interfaces that it calls by itself.
        target: `FORMAT+DIALECT` in which the gateway lists capabilities to it; None for an agent that uses
            screens.
        uses_screens: It works on screens and calls nothing.
    """

    id: str
    title: str
    speaks: tuple[str, ...]
    target: str | None
    uses_screens: bool


class AgentReach(Frozen):
    """What one kind of agent reaches.

    Attributes:
        agent: Its id.
        apps: Apps by the best reach of any of their capabilities, in the order of `REACHES`; an app that
            declares nothing counts by its screen.
        capabilities: Capabilities by reach, in the order of `REACHES`.
        levels: Capabilities that it reaches through the gateway, by what the conversion costs, mildest first.
        version_alone: Those of them that lose a part, and only their `version`.
        reasons: Why, the most frequent first: at most 12.
    """

    agent: str
    apps: tuple[int, int, int, int]
    capabilities: tuple[int, int, int, int]
    levels: tuple[Counted, ...]
    version_alone: int
    reasons: tuple[Counted, ...]


class FidelityCell(Frozen):
    """What a conversion costs from one dialect to another.

    Attributes:
        protocol: Where from.
        dialect: Where from.
        target: `FORMAT+DIALECT`.
        levels: Capabilities by the gravest level of what concerns them, in the order of `Report.levels`.
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
    """A use case of the guideline, and who serves it; a gap where nobody does."""

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
        covered: How many of its use cases some app serves.
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
        capabilities: How many there are.
        apps: In how many apps.
        protocols: Capabilities by protocol.
        kinds: Links by kind: `same-use-case`, `near-duplicate`, `same-app-twice`.
        examples: At most 5 capabilities as `PACKAGE ID`.
    """

    name: str
    capabilities: int
    apps: int
    protocols: tuple[Counted, ...]
    kinds: tuple[Counted, ...]
    examples: tuple[str, ...]


class MatchingSummary(Frozen):
    """What overlaps across apps and protocols.

    Attributes:
        groups: How many groups of two or more there are.
        capabilities: How many capabilities are in one.
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
    """How well an app, or all of them, describe what they declare.

    Attributes:
        capabilities: How many there are.
        undescribed_capabilities: Those without a description.
        parameters: Parameters, those inside of objects too.
        undescribed_parameters: Those without a description.
        untyped_parameters: Those of which nothing says what they are.
        poor_names: Capabilities whose id has no word (`f1`, `x`) or is longer than a model should be shown.
        tokens: The token estimate of all of them together.
        lint_errors: Lint findings by level.
        lint_warnings: Lint findings by level.
        lint_notes: Lint findings by level.
        bent: What the reader had to accept against the specification.
        marks: Security marks.
        score: 100 minus what is missing (docs/reference/coverage.md); None where nothing is declared.
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
    bent: int
    marks: int
    score: int | None


class AppQuality(Frozen):
    """The quality of one app; `key` is as in `AppDetail`, `source` is where it was found."""

    key: str
    package: str | None
    label: str | None
    source: str | None
    figures: QualityFigures


class FindingCount(Frozen):
    """How often one finding occurs.

    Attributes:
        origin: `reading`, `lint` or `security`.
        protocol: Protocol of the provider that it is on; where it is on none that is known, the only protocol
            of its app; else None.
        code: Its stable code.
        meaning: What the code means, one sentence; None where it is not known here.
        level: How grave.
        findings: How many.
        apps: In how many apps.
    """

    origin: str
    protocol: str | None
    code: str
    meaning: str | None
    level: str
    findings: int
    apps: int


class ReleaseCount(Frozen):
    """Lint findings that are true of an Android release.

    Attributes:
        release: Human-readable name, such as `Android 16 QPR2`.
        protocol: Protocol, None where it is not known.
        errors: By level.
        warnings: By level.
        notes: By level.
        apps: In how many apps.
    """

    release: str
    protocol: str | None
    errors: int
    warnings: int
    notes: int
    apps: int


class Quality(Frozen):
    """The quality of what is declared.

    Attributes:
        all: All apps together.
        worst: The 20 apps with the lowest scores below 100, the lowest first.
        findings: By origin, protocol, code and level; the most frequent first.
        releases: Lint findings by the Android releases that they are true of, oldest first. One that does
            not depend on the release is in none.
    """

    all: QualityFigures
    worst: tuple[AppQuality, ...]
    findings: tuple[FindingCount, ...]
    releases: tuple[ReleaseCount, ...]


class ChangedCapability(Frozen):
    """A capability that came, went or changed; `changes` are those of `droidgate diff`, at most 20."""

    id: str
    status: Literal["added", "removed", "changed"]
    weight: Literal["text-only", "compatible", "breaking", "security"]
    changes: tuple[Change, ...]


class ChangedProvider(Frozen):
    """A provider that is not as it was: capabilities that are not as they were, and its own changes."""

    protocol: str
    component: str | None
    status: Literal["added", "removed", "changed"]
    weight: Literal["text-only", "compatible", "breaking", "security"]
    changes: tuple[Change, ...]
    capabilities: tuple[ChangedCapability, ...]


class ChangedApp(Frozen):
    """An app that came, went, declares otherwise, or is signed by somebody else.

    Attributes:
        package: Application id; of a descriptor that stands alone its source.
        label: Its label, the new one where there is one.
        status: What happened to the app itself.
        old_version: `versionName`, or `versionCode` where there is none.
        new_version: The same, now.
        weight: The heaviest change for those who call it; None where nothing that it declares changed.
        capabilities_added: How many came.
        capabilities_removed: How many went.
        capabilities_changed: How many changed.
        resigned: It is signed by other certificates than before: what was approved of it no longer holds.
        providers: What changed; empty for an app that came or went, and for those beyond the first 200.
    """

    package: str
    label: str | None
    status: Literal["added", "removed", "changed"]
    old_version: str | None
    new_version: str | None
    weight: Literal["text-only", "compatible", "breaking", "security"] | None
    capabilities_added: int
    capabilities_removed: int
    capabilities_changed: int
    resigned: bool
    providers: tuple[ChangedProvider, ...]


class ChangeCounts(Frozen):
    """How much came, went and changed between two catalogs.

    Attributes:
        apps_added: Apps that came, whether they declare anything or not.
        apps_removed: Apps that went.
        apps_changed: Apps that are there still and do not declare the same.
        apps_resigned: Apps that are there still, signed by other certificates.
        capabilities_added: Capabilities that came, those of new apps included.
        capabilities_removed: Capabilities that went, those of apps that went included.
        capabilities_changed: Capabilities that changed.
        breaking: Changed or removed capabilities whose heaviest change breaks callers.
        compatible: Changed capabilities whose heaviest change does not.
        text_only: Changed capabilities of which only words changed.
        security: Changed access rules that accept other callers now, of components and of capabilities.
        unchanged: Capabilities that are as they were.
    """

    apps_added: int
    apps_removed: int
    apps_changed: int
    apps_resigned: int
    capabilities_added: int
    capabilities_removed: int
    capabilities_changed: int
    breaking: int
    compatible: int
    text_only: int
    security: int
    unchanged: int


class TrendPoint(Frozen):
    """One catalog of a history; of an app in several versions the newest counts, as it does in what changed.

    Attributes:
        name: What the catalog is called.
        apps: Applications and descriptors that stand alone.
        declaring_apps: Those that declare something.
        providers: Components and descriptors that declare.
        capabilities: What they declare.
        protocols: Capabilities by protocol, sorted by id.
        since_last: What changed since the catalog before; None for the first.
    """

    name: str
    apps: int
    declaring_apps: int
    providers: int
    capabilities: int
    protocols: tuple[Counted, ...]
    since_last: ChangeCounts | None


class History(Frozen):
    """What changed since earlier catalogs.

    Attributes:
        since: The catalog that this one is compared with: the last of the earlier ones.
        counts: How much changed since then.
        apps: The apps that came, went or changed, those that break callers first; at most 500.
        left_out: How many more there are.
        trend: Every catalog, the oldest first, this one last.
    """

    since: str
    counts: ChangeCounts
    apps: tuple[ChangedApp, ...]
    left_out: int
    trend: tuple[TrendPoint, ...]

"""What a coverage report says, as typed data: the terminal, `--json` and the HTML page are drawn from it.

A report has a summary, whose size does not depend on how large the catalog is, and, for catalogs that a page
can hold, the details: every app, provider, capability and finding. What a report refers to inside of itself
is addressed by position in its lists. Every text that comes from an app is here as the app has it: what shows
it makes it safe. Marks say what deserves a second look before a model uses it; they are hints.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
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
    weight: Literal["text-only", "compatible", "not-decided", "breaking", "security"]
    changes: tuple[Change, ...]


class ChangedProvider(Frozen):
    """A provider that is not as it was: capabilities that are not as they were, and its own changes."""

    protocol: str
    component: str | None
    status: Literal["added", "removed", "changed"]
    weight: Literal["text-only", "compatible", "not-decided", "breaking", "security"]
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
    weight: Literal["text-only", "compatible", "not-decided", "breaking", "security"] | None
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
        breaking: Changed or removed capabilities whose heaviest change breaks callers, or is not decided.
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


MOST_APPS: Final = 5_000
MOST_CAPABILITIES: Final = 50_000
"""A report of a larger catalog has no details."""


class ReachCell(Frozen):
    """How one kind of agent reaches a capability.

    Attributes:
        reach: How.
        level: Of a conversion through the gateway the gravest (`exact` where nothing is lost), of native
            reach `exact`; else None.
        reason: Why, one sentence without a period.
        needs: Conditions other than a grant, a sentence each; S and P are explained in `Report.conditions`.
    """

    reach: Reach
    level: str | None
    reason: str
    needs: tuple[str, ...]


class ReachProfile(Frozen):
    """How each kind of agent reaches a capability, in the order of `Report.agents`.

    Few capabilities differ in it, so they share profiles.
    """

    cells: tuple[ReachCell, ...]


class LevelProfile(Frozen):
    """What a capability loses in each target, in the order of `Details.targets`; None where it is unknown."""

    levels: tuple[str | None, ...]


class AppDetail(Frozen):
    """One app, or a descriptor that stands alone.

    Attributes:
        key: Identifies it in the catalog.
        kind: `app` or `descriptor`.
        package: Application id.
        label: The application's label.
        description: The application's description.
        version_name: Of an APK.
        version_code: Android's.
        minimum_sdk: Android's.
        target_sdk: Android's.
        signers: SHA-256 of each signing certificate.
        signers_verified: The signature was verified and is right; false where it is not right or cannot be
            verified, null where it was not checked.
        has_launcher: It has a screen that launchers show.
        sources: Where it was found; at most 5.
        protocols: Ids of the protocols that it declares in, sorted.
        is_silent: It declares something, but tells (some of) its capabilities only when a phone asks.
        is_unread: Something of it was not read, and nothing that it declares was found: its reach is not
            known.
        capabilities: How many it declares.
        best: For each agent of `Report.agents` the best reach.
        reach: For each agent the capabilities by reach, in the order of `REACHES`.
        quality: Its quality.
        use_cases: Ids of the use cases that it serves, sorted; empty without matching.
    """

    key: str
    kind: Literal["app", "descriptor"]
    package: str | None
    label: str | None
    description: str | None
    version_name: str | None
    version_code: int | None
    minimum_sdk: int | None
    target_sdk: int | None
    signers: tuple[str, ...]
    signers_verified: bool | None = None
    has_launcher: bool
    sources: tuple[str, ...]
    protocols: tuple[str, ...]
    is_silent: bool
    is_unread: bool
    capabilities: int
    best: tuple[Reach, ...]
    reach: tuple[tuple[int, int, int, int], ...]
    quality: QualityFigures
    use_cases: tuple[str, ...]


class ProviderDetail(Frozen):
    """What one component, or one descriptor, declares in one protocol.

    Attributes:
        app: Position in `Details.apps`.
        protocol: Id of the format.
        dialect: The written form.
        component: Class of the component.
        component_kind: `activity`, `service`, `receiver`, `provider` or `application`.
        exported: Other apps may address the component; None without a manifest.
        enabled: It is enabled in one configuration at least; None without a manifest.
        enabled_in: The configurations in which it is enabled; None where it is in all.
        permission: What a caller has to hold.
        protection: Who can hold it: `normal`, `dangerous`, `signature` or `unknown`; None without one.
        name: Human-readable name.
        description: What it offers.
        instructions: How models should use it.
        definitions: JSON text of its named types in the capability model; None where it has none.
        extensions: JSON text of its facts of single formats; None where it has none.
        place: File inside the source, with the line.
    """

    app: int
    protocol: str
    dialect: str | None
    component: str | None
    component_kind: str | None
    exported: bool | None
    enabled: bool | None
    enabled_in: str | None
    permission: str | None
    protection: str | None
    name: str | None
    description: str | None
    instructions: str | None
    definitions: str | None
    extensions: str | None
    place: str | None


class CapabilityDetail(Frozen):
    """One callable.

    Attributes:
        provider: Position in `Details.providers`.
        id: The name that it is called by.
        title: Human-readable name.
        description: What it does.
        parameters: Shape of what a call takes.
        output: Shape of what a call returns, None where nothing is declared.
        undescribed: Parameters without a description.
        untyped: Parameters of which nothing says what they are.
        read_only: What it says of itself.
        destructive: What it says of itself.
        enabled: Whether a phone says that it can be called now.
        tokens: The token estimate.
        declaration: JSON text of the capability in the capability model; what is default is left out.
        place: File inside the source, with the line.
        reach: Position in `Details.reach_profiles`.
        levels: Position in `Details.level_profiles`.
        use_cases: Ids of the use cases that it serves, the surest first.
        group: Position in `Details.groups` of the group that it is in.
    """

    provider: int
    id: str
    title: str | None
    description: str | None
    parameters: str
    output: str | None
    undescribed: int
    untyped: int
    read_only: bool | None
    destructive: bool | None
    enabled: bool | None
    tokens: int | None
    declaration: str
    place: str | None
    reach: int
    levels: int
    use_cases: tuple[str, ...]
    group: int | None


class FindingDetail(Frozen):
    """One finding.

    Attributes:
        app: Position in `Details.apps`; None where it is on a unit with several and none is known.
        provider: Position in `Details.providers`, where it is on one.
        capability: Position in `Details.capabilities`, where it is on one.
        origin: `reading`, `lint` or `security`.
        code: Its stable code.
        level: How grave.
        pointer: Where.
        message: One sentence.
        hint: The fix.
        rule: The rule behind it.
        releases: Ids of the Android releases that it is true of, oldest first; empty where it depends on
            none.
        place: File inside the source, with the line.
    """

    app: int | None
    provider: int | None
    capability: int | None
    origin: str
    code: str
    level: str
    pointer: str
    message: str
    hint: str | None
    rule: str | None
    releases: tuple[str, ...]
    place: str | None


class GroupLink(Frozen):
    """Why a capability is in its group.

    Attributes:
        capability: Position in `Details.capabilities`.
        match: Position of the one that it is matched with.
        kind: `same-use-case`, `near-duplicate` or `same-app-twice`.
        score: How surely, from 0.5 to 1.
        terms: What both say.
        parameters: Roles of the parameters that both have.
    """

    capability: int
    match: int
    kind: str
    score: float
    terms: tuple[str, ...]
    parameters: tuple[str, ...]


class Group(Frozen):
    """Capabilities that serve one use case: positions in `Details.capabilities`, the leader first."""

    members: tuple[int, ...]
    links: tuple[GroupLink, ...]


class TranslatedFile(Frozen):
    """A file of a translation: its path in an app's source set, and its text."""

    path: str
    text: str


class TranslationFinding(Frozen):
    """What a translation costs at one place: a JSON Pointer into the provider."""

    code: str
    level: str
    pointer: str
    message: str


class DialectTranslation(Frozen):
    """A provider of the selection, written in one dialect.

    Attributes:
        provider: Position in `Details.providers`.
        target: `FORMAT+DIALECT`.
        files: What was written; empty where it cannot be.
        findings: What it costs; at most 200.
        problem: Why it cannot be written.
    """

    provider: int
    target: str
    files: tuple[TranslatedFile, ...]
    findings: tuple[TranslationFinding, ...]
    problem: str | None


class Details(Frozen):
    """Everything, one by one.

    Attributes:
        targets: `FORMAT+DIALECT` of every conversion.
        reach_profiles: What capabilities refer to.
        level_profiles: What capabilities refer to.
        apps: By package, then version.
        providers: By app.
        capabilities: By provider.
        findings: By app.
        groups: What matching found; empty without it.
        translations: Of the providers that were chosen (`--translate`). For others a page shows the command:
            `droidgate convert SOURCE --to TARGET`, the source being the first of `AppDetail.sources`.
    """

    targets: tuple[str, ...]
    reach_profiles: tuple[ReachProfile, ...]
    level_profiles: tuple[LevelProfile, ...]
    apps: tuple[AppDetail, ...]
    providers: tuple[ProviderDetail, ...]
    capabilities: tuple[CapabilityDetail, ...]
    findings: tuple[FindingDetail, ...]
    groups: tuple[Group, ...]
    translations: tuple[DialectTranslation, ...]


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

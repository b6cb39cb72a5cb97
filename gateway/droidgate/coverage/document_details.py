"""The details of a coverage report: every app, provider, capability and finding."""

from __future__ import annotations

from typing import Final, Literal

from droidgate.coverage.document_summary import QualityFigures, Reach
from droidgate_mappings.model.types import Frozen

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

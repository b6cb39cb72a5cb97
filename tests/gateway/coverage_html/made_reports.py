"""Made-up reports of any size: apps of several protocols, what agents reach of them, findings, a history.

They are made by the report's own classes and by nothing that builds reports, so that what a page shows can be
held against what was put in.
"""

import random
from collections import Counter
from collections.abc import Sequence
from typing import Any

from droidgate.coverage import coverage_document as d, coverage_document as s
from droidgate.coverage.coverage_document import Report
from droidgate.coverage.reach import agents
from droidgate_mappings.compare import Change
from droidgate_mappings.tables.reach import load_shim_table
from droidgate_mappings.tables.taxonomy import load_taxonomy
from gateway.coverage_html.made_details import LEVELS, PROTOCOLS, TARGETS, DetailsMaker, counts_by_reach


def make_report(apps: int, *, per_app: int = 8, seed: int = 3, name: str = "ecosystem-2026-11") -> Report:
    """Return a made-up report of so many apps; the same arguments make the same."""
    return _summary(name, DetailsMaker(apps, per_app=per_app, seed=seed).details())


def _unread(count: int) -> s.UnreadCounts:
    reason = "it is not a ZIP archive"
    inputs = (
        s.UnreadInput(source=f"a{at}.apk", place=None, outcome="unreadable", reason=reason)
        for at in range(count)
    )
    return s.UnreadCounts(
        sources=count,
        parts=0,
        reasons=(s.Counted(name=reason, count=count),) if count else (),
        inputs=tuple(inputs),
        left_out=0,
    )


def _summary(name: str, details: d.Details) -> Report:
    apps, capabilities = details.apps, details.capabilities
    declaring = [item for item in apps if item.protocols]
    all_figures = _sum_of([item.quality for item in apps])
    return Report(
        catalog=s.CatalogFacts(
            name=name,
            droidgate="0.1.0",
            outcomes=(
                s.Counted(name="read", count=len(apps)),
                s.Counted(name="unreadable", count=len(apps) // 50),
            ),
            rows={"apps": len(apps)},
        ),
        unread=_unread(len(apps) // 50),
        totals=s.Totals(
            apps=len(apps),
            descriptors=0,
            declaring_apps=len(declaring),
            silent_apps=len(apps) // 40,
            ui_only_apps=sum(not item.protocols and item.has_launcher for item in apps),
            mute_apps=sum(not item.protocols and not item.has_launcher for item in apps),
            several_protocols_apps=sum(len(item.protocols) > 1 for item in apps),
            providers=len(details.providers),
            capabilities=len(capabilities),
            tokens=sum(item.tokens or 0 for item in capabilities),
        ),
        protocols=_protocols(details),
        overlap=_overlap(apps),
        agents=agents(),
        conditions=load_shim_table().conditions,
        reach=_reach(details),
        levels=LEVELS,
        targets=TARGETS,
        fidelity=_fidelity(details),
        use_cases=_use_case_coverage(details),
        matching=_matching(details),
        quality=s.Quality(
            all=all_figures,
            worst=tuple(
                s.AppQuality(
                    key=item.key,
                    package=item.package,
                    label=item.label,
                    source=next(iter(item.sources), None),
                    figures=item.quality,
                )
                for item in sorted(declaring, key=lambda item: item.quality.score or 0)[:20]
            ),
            findings=_finding_counts(details.findings),
            releases=tuple(
                s.ReleaseCount(
                    release=release,
                    protocol="appfunctions",
                    errors=12 + at,
                    warnings=80 - 9 * at,
                    notes=31,
                    apps=40,
                )
                for at, release in enumerate(("Android 16", "Android 16 QPR2", "Android 17"))
            ),
        ),
        history=_history(details),
        details=details,
        notes=(),
    )


def _protocols(details: d.Details) -> tuple[s.ProtocolCount, ...]:
    counted = Counter(details.providers[item.provider].protocol for item in details.capabilities)
    made = []
    for protocol, (title, dialect) in sorted(PROTOCOLS.items()):
        of_it = [item for item in details.providers if item.protocol == protocol]
        if of_it:
            made.append(
                s.ProtocolCount(
                    protocol=protocol,
                    title=title,
                    dialect=dialect,
                    apps=len({item.app for item in of_it}),
                    providers=len(of_it),
                    capabilities=counted[protocol],
                )
            )
    return tuple(made)


def _reach(details: d.Details) -> tuple[s.AgentReach, ...]:
    made = []
    for at, agent in enumerate(agents()):
        cells = [details.reach_profiles[item.reach].cells[at] for item in details.capabilities]
        reach = Counter(item.reach for item in cells)
        levels = Counter(item.level for item in cells if item.reach == "gateway" and item.level)
        best = Counter(item.best[at] for item in details.apps)
        made.append(
            s.AgentReach(
                agent=agent.id,
                apps=counts_by_reach(best),
                capabilities=counts_by_reach(reach),
                levels=tuple(s.Counted(name=item, count=levels[item]) for item in LEVELS if levels[item]),
                version_alone=levels["dropped"] // 2,
                reasons=tuple(
                    s.Counted(name=name, count=count)
                    for name, count in Counter(item.reason for item in cells).most_common(12)
                ),
            )
        )
    return tuple(made)


def _fidelity(details: d.Details) -> tuple[s.FidelityCell, ...]:
    counts: dict[tuple[str, str], Counter[str]] = {}
    for item in details.capabilities:
        protocol = details.providers[item.provider].protocol
        for target, level in zip(TARGETS, details.level_profiles[item.levels].levels, strict=True):
            counts.setdefault((protocol, target), Counter())[level or "exact"] += 1
    return tuple(
        s.FidelityCell(
            protocol=protocol,
            dialect=PROTOCOLS[protocol][1],
            target=target,
            levels=tuple(counted[item] for item in LEVELS),
            security=0 if target.startswith("appfunctions") else counted["dropped"] // 3,
        )
        for (protocol, target), counted in sorted(counts.items())
    )


def _use_case_coverage(details: d.Details) -> tuple[s.AppTypeCoverage, ...]:
    apps = Counter(use_case for app in details.apps for use_case in app.use_cases)
    capabilities = Counter(use_case for each in details.capabilities for use_case in each.use_cases)
    return tuple(
        s.AppTypeCoverage(
            id=kind.id,
            title=kind.title,
            apps=sum(
                any(use_case.id in app.use_cases for use_case in kind.use_cases) for app in details.apps
            ),
            covered=sum(bool(apps[use_case.id]) for use_case in kind.use_cases),
            use_cases=tuple(
                s.UseCaseCount(
                    id=use_case.id,
                    title=use_case.title,
                    apps=apps[use_case.id],
                    capabilities=capabilities[use_case.id],
                    protocols=(),
                )
                for use_case in kind.use_cases
            ),
        )
        for kind in load_taxonomy().app_types
    )


def _matching(details: d.Details) -> s.MatchingSummary:
    def summary(group: d.Group) -> s.MatchedGroup:
        members = [details.capabilities[item] for item in group.members]
        providers = [details.providers[item.provider] for item in members]
        protocols = Counter(item.protocol for item in providers)
        return s.MatchedGroup(
            name=members[0].id,
            capabilities=len(members),
            apps=len({item.app for item in providers}),
            protocols=tuple(s.Counted(name=name, count=count) for name, count in protocols.most_common()),
            kinds=(s.Counted(name="same-use-case", count=len(group.links)),),
            examples=tuple(
                f"{details.apps[provider.app].package} {item.id}"
                for provider, item in zip(providers[:5], members, strict=False)
            ),
        )

    made = sorted(map(summary, details.groups), key=lambda item: (-item.apps, item.name))
    return s.MatchingSummary(
        groups=len(made),
        capabilities=sum(item.capabilities for item in made),
        kinds=(s.Counted(name="same-use-case", count=sum(len(item.links) for item in details.groups)),),
        full_blocks=0,
        largest=tuple(made[:20]),
    )


def _history(details: d.Details) -> s.History:
    draw = random.Random(5)
    apps, capabilities = len(details.apps), len(details.capabilities)
    shares = (0.42, 0.47, 0.55, 0.61, 0.74, 0.9, 1.0)
    protocols = _protocols(details)

    def point(at: int, share: float) -> s.TrendPoint:
        grown = tuple(
            s.Counted(name=item.protocol, count=round(item.capabilities * share ** (1 + 0.3 * number)))
            for number, item in enumerate(protocols)
        )
        return s.TrendPoint(
            name=f"ecosystem-2026-{at + 5:02}",
            apps=round(apps * (0.8 + 0.2 * share)),
            declaring_apps=round(apps * 0.66 * share),
            providers=round(len(details.providers) * share),
            capabilities=sum(item.count for item in grown),
            protocols=grown,
            since_last=None,
        )

    changed = [_changed(draw, item) for item in draw.sample(details.apps, min(12, apps))] if apps else []
    return s.History(
        since="ecosystem-2026-10",
        counts=s.ChangeCounts(
            apps_added=apps // 25,
            apps_removed=apps // 90,
            apps_changed=apps // 14,
            apps_resigned=apps // 120,
            capabilities_added=capabilities // 10,
            capabilities_removed=capabilities // 60,
            capabilities_changed=capabilities // 20,
            breaking=capabilities // 80,
            compatible=capabilities // 40,
            text_only=capabilities // 50,
            security=3,
            unchanged=capabilities * 5 // 6,
        ),
        apps=tuple(changed),
        left_out=0,
        trend=tuple(point(at, share) for at, share in enumerate(shares)),
    )


def _changed(draw: random.Random, app: d.AppDetail) -> s.ChangedApp:
    status: Any = draw.choice(("added", "changed", "changed", "removed"))
    weight: Any = draw.choice(("breaking", "compatible", "text-only"))
    provider = s.ChangedProvider(
        protocol="mobile-mcp",
        component=f"{app.package}.AgentService",
        status="changed",
        weight=weight,
        changes=(),
        capabilities=(
            s.ChangedCapability(
                id="create_note",
                status="changed",
                weight=weight,
                changes=(
                    Change(code="property-removed", weight=weight, message="The parameter place is gone"),
                ),
            ),
        ),
    )
    return s.ChangedApp(
        package=app.package or "",
        label=app.label,
        status=status,
        old_version=None if status == "added" else "1.4",
        new_version=None if status == "removed" else "1.5",
        weight=weight if status == "changed" else None,
        capabilities_added=app.capabilities if status == "added" else 1,
        capabilities_removed=app.capabilities if status == "removed" else 0,
        capabilities_changed=1 if status == "changed" else 0,
        resigned=False,
        providers=(provider,) if status == "changed" else (),
    )


def _sum_of(figures: Sequence[s.QualityFigures]) -> s.QualityFigures:
    sums = {
        name: sum(getattr(figure, name) or 0 for figure in figures)
        for name in s.QualityFigures.model_fields
        if name != "score"
    }
    return s.QualityFigures(**sums, score=78)


def _overlap(apps: Sequence[d.AppDetail]) -> tuple[s.Overlap, ...]:
    counted = Counter(app.protocols for app in apps)
    capabilities: Counter[tuple[str, ...]] = Counter()
    for app in apps:
        capabilities[app.protocols] += app.capabilities
    return tuple(
        s.Overlap(protocols=protocols, apps=count, capabilities=capabilities[protocols])
        for protocols, count in counted.most_common(40)
    )


def _finding_counts(findings: Sequence[d.FindingDetail]) -> tuple[s.FindingCount, ...]:
    counted = Counter((finding.origin, finding.code, finding.level, finding.message) for finding in findings)
    return tuple(
        s.FindingCount(
            origin=origin,
            protocol="mobile-mcp",
            code=code,
            meaning=meaning,
            level=level,
            findings=count,
            apps=count,
        )
        for (origin, code, level, meaning), count in counted.most_common()
    )

"""The details of a report: every app, provider, capability and finding of a catalog that a page can hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from droidgate.coverage.document_details import (
    MOST_APPS,
    MOST_CAPABILITIES,
    AppDetail,
    CapabilityDetail,
    Details,
    DialectTranslation,
    FindingDetail,
    Group,
    GroupLink,
    LevelProfile,
    ProviderDetail,
)
from droidgate.coverage.document_summary import REACHES, Reach
from droidgate.coverage.figures import Figures
from droidgate.coverage.overlaps import Overlaps, key_of
from droidgate.coverage.quality import figures_of
from droidgate.sources.catalogs.declarations import read_members
from droidgate_mappings.model.json_values import one_line_json
from droidgate_mappings.tables.reach import load_reach

MOST_FINDINGS_LISTED: Final = 100_000

_ONE_BY_ONE: Final = ("capabilities", "definitions", "extensions")
_APPS: Final = """
SELECT e.entry, e.unit, e.app, e.kind, e.package, e.label, e.description, e.version_name,
    e.version_code, e.minimum_sdk, e.target_sdk, e.signers, e.signers_verified, e.has_launcher, e.listed,
    s.protocols, s.silent, s.unread AND s.providers = 0, s.capabilities
FROM entry e JOIN entry_sum s USING (entry) ORDER BY e.entry
"""
_PROVIDERS: Final = """
SELECT f.p, f.entry, p.protocol, p.dialect, p.component, p.component_kind, p.exported, p.enabled,
    p.permission, p.name, p.description, p.instructions, p.declaration, p.place, p.enabled_in, p.protection
FROM provider_fact f JOIN providers p USING (unit, provider) ORDER BY f.p
"""
_CAPABILITIES: Final = """
SELECT f.p, f.capability, s.s, c.id, c.title, c.description, c.parameters, c.output, c.undescribed_count,
    c.untyped_count, c.read_only, c.destructive, c.enabled, c.token_estimate, c.place, x.levels
FROM capability_fact f JOIN standing s USING (key)
JOIN provider_fact p ON p.p = f.p
JOIN capabilities c ON c.unit = p.unit AND c.provider = p.provider AND c.capability = f.capability
LEFT JOIN (
    SELECT unit, provider, capability, map(list(target), list(level)) AS levels FROM conversions GROUP BY ALL
) x ON x.unit = c.unit AND x.provider = c.provider AND x.capability = c.capability
ORDER BY f.p, f.capability
"""
_FINDINGS: Final = f"""
SELECT coalesce(p.entry, CASE WHEN o.entries = 1 THEN o.entry END) AS entry, p.p, f.capability, f.origin,
    f.code, f.level, f.pointer, f.message, f.hint, f.rule, f.releases, f.place
FROM findings f LEFT JOIN provider_fact p USING (unit, provider) LEFT JOIN first_entry o ON o.unit = f.unit
ORDER BY entry, f.unit, f.finding LIMIT {MOST_FINDINGS_LISTED}
"""


@dataclass(slots=True)
class _Places:
    """Positions of what was listed: capabilities by provider and position there."""

    capabilities: dict[tuple[int, int], int]
    keys: dict[str, int]


def is_too_large(figures: Figures) -> bool:
    """Return whether a catalog has more than a page can hold."""
    apps, capabilities = figures.row(
        "SELECT (SELECT count(*) FROM entry), (SELECT count(*) FROM capability_fact)"
    )
    return bool(apps > MOST_APPS or capabilities > MOST_CAPABILITIES)


def details_of(
    figures: Figures, overlaps: Overlaps | None, translations: tuple[DialectTranslation, ...] = ()
) -> Details:
    """Return everything, one by one; `prepare_quality` comes first."""
    providers = figures.rows(_PROVIDERS)
    declared = [_parts_of(row[12]) for row in providers]
    capabilities, levels, places = _capabilities(figures, declared, overlaps)
    return Details(
        targets=tuple(figures.catalog.targets),
        reach_profiles=figures.profiles,
        level_profiles=levels,
        apps=_apps(figures, _served_by_app(figures, overlaps)),
        providers=tuple(_provider(row, parts) for row, parts in zip(providers, declared, strict=True)),
        capabilities=capabilities,
        findings=_findings(figures, places),
        groups=() if overlaps is None else _groups(overlaps, places),
        translations=translations,
    )


def _parts_of(declaration: str) -> dict[str, Any]:
    members = read_members(declaration)
    return {name: members.get(name) for name in _ONE_BY_ONE}


def _served_by_app(figures: Figures, overlaps: Overlaps | None) -> Mapping[int, set[str]]:
    if overlaps is None:
        return {}
    entries = dict(figures.rows("SELECT p, entry FROM provider_fact"))
    served: dict[int, set[str]] = {}
    for key, use_cases in overlaps.served.items():
        served.setdefault(entries[int(key.partition(".")[0])], set()).update(
            use_case.use_case for use_case in use_cases
        )
    return served


def _apps(figures: Figures, served: Mapping[int, set[str]]) -> tuple[AppDetail, ...]:
    agents = range(len(load_reach().agents))
    counts = {
        (entry, agent, reach): count
        for entry, agent, reach, count in figures.rows("SELECT entry, agent, reach, n FROM entry_reach")
    }
    best: dict[tuple[int, int], Reach] = {
        (entry, agent): REACHES[at] for entry, agent, at in figures.rows("FROM entry_best")
    }
    quality = {entry: values for entry, *values in figures.rows("FROM quality")}

    def reach_of(entry: int, agent: int) -> tuple[int, int, int, int]:
        native, gateway, ui_only, none = (counts.get((entry, agent, at), 0) for at in range(len(REACHES)))
        return native, gateway, ui_only, none

    return tuple(
        AppDetail(
            key=f"{unit}:{-1 if app is None else app}",
            kind=kind,
            package=package,
            label=label,
            description=description,
            version_name=version_name,
            version_code=version_code,
            minimum_sdk=minimum_sdk,
            target_sdk=target_sdk,
            signers=tuple(signers),
            signers_verified=signers_verified,
            has_launcher=has_launcher,
            sources=tuple(listed or ()),
            protocols=tuple(protocols),
            is_silent=silent,
            is_unread=unread,
            capabilities=capabilities,
            best=tuple(best[entry, agent] for agent in agents),
            reach=tuple(reach_of(entry, agent) for agent in agents),
            quality=figures_of(quality[entry]),
            use_cases=tuple(sorted(served.get(entry, ()))),
        )
        for (
            entry, unit, app, kind, package, label, description, version_name, version_code,
            minimum_sdk, target_sdk, signers, signers_verified, has_launcher, listed, protocols, silent,
            unread, capabilities,
        ) in figures.rows(_APPS)
    )  # fmt: skip


def _provider(row: tuple[Any, ...], parts: Mapping[str, Any]) -> ProviderDetail:
    return ProviderDetail(
        app=row[1],
        protocol=row[2],
        dialect=row[3],
        component=row[4],
        component_kind=row[5],
        exported=row[6],
        enabled=row[7],
        enabled_in=row[14],
        permission=row[8],
        protection=row[15],
        name=row[9],
        description=row[10],
        instructions=row[11],
        definitions=_json_or_none(parts["definitions"]),
        extensions=_json_or_none(parts["extensions"]),
        place=row[13],
    )


def _json_or_none(value: Any) -> str | None:
    return one_line_json(value) if value else None


def _capabilities(
    figures: Figures, declared: list[dict[str, Any]], overlaps: Overlaps | None
) -> tuple[tuple[CapabilityDetail, ...], tuple[LevelProfile, ...], _Places]:
    targets = figures.catalog.targets
    served = {} if overlaps is None else overlaps.served
    groups = {
        key: number
        for number, members in enumerate(() if overlaps is None else overlaps.matching.groups)
        for key in members
    }
    profiles: dict[tuple[str | None, ...], int] = {}
    places = _Places({}, {})
    details: list[CapabilityDetail] = []
    for row in figures.rows(_CAPABILITIES):
        provider, position, standing = row[:3]
        known = row[15] or {}
        levels = profiles.setdefault(tuple(known.get(target) for target in targets), len(profiles))
        key = key_of(provider, position)
        places.capabilities[provider, position] = places.keys[key] = len(details)
        capabilities = declared[provider]["capabilities"]
        details.append(
            CapabilityDetail(
                provider=provider,
                id=row[3],
                title=row[4],
                description=row[5],
                parameters=row[6],
                output=row[7],
                undescribed=row[8],
                untyped=row[9],
                read_only=row[10],
                destructive=row[11],
                enabled=row[12],
                tokens=row[13],
                declaration=one_line_json(
                    capabilities[position] if capabilities and position < len(capabilities) else {}
                ),
                place=row[14],
                reach=standing,
                levels=levels,
                use_cases=tuple(item.use_case for item in served.get(key, ())),
                group=groups.get(key),
            )
        )
    return tuple(details), tuple(LevelProfile(levels=profile) for profile in profiles), places


def _findings(figures: Figures, places: _Places) -> tuple[FindingDetail, ...]:
    return tuple(
        FindingDetail(
            app=entry,
            provider=provider,
            capability=places.capabilities.get((provider, capability)),
            origin=origin,
            code=code,
            level=level,
            pointer=pointer,
            message=message,
            hint=hint,
            rule=rule,
            releases=tuple(releases),
            place=place,
        )
        for entry, provider, capability, origin, code, level, pointer, message, hint, rule, releases, place
        in figures.rows(_FINDINGS)
    )  # fmt: skip


def _groups(overlaps: Overlaps, places: _Places) -> tuple[Group, ...]:
    links: list[list[GroupLink]] = [[] for _ in overlaps.matching.groups]
    for link in overlaps.matching.links:
        links[link.group].append(
            GroupLink(
                capability=places.keys[link.key],
                match=places.keys[link.match],
                kind=link.kind,
                score=link.score,
                terms=link.terms,
                parameters=link.parameters,
            )
        )
    return tuple(
        Group(members=tuple(places.keys[key] for key in members), links=tuple(links[number]))
        for number, members in enumerate(overlaps.matching.groups)
    )

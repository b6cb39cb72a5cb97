"""What `coverage` shows on a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from droidgate.cli.pages import Block, Heading, Line, Table
from droidgate.cli.safe_text import one_line
from droidgate.coverage.document import (
    AppTypeCoverage,
    ChangeCounts,
    ChangedApp,
    Counted,
    History,
    MatchingSummary,
    Quality,
    QualityFigures,
    Report,
    Totals,
)

_MOST_ROWS: Final = 10
_MOST_APPS: Final = 15
_LONGEST: Final = 60
_GRAVEST: Final = {"error": 0, "warning": 1, "note": 2}
_LOSING: Final = ("dropped", "impossible")


def coverage_page(report: Report) -> list[Block]:
    """Return what `coverage` shows."""
    parts: list[list[Block]] = [
        _head(report),
        _protocols(report),
        _reach(report),
        [] if report.use_cases is None else _use_cases(report.use_cases),
        [] if report.matching is None else _matching(report.matching),
        _quality(report.quality),
        [] if report.history is None else _history(report.history),
        [*map(Line, report.notes)],
    ]
    blocks: list[Block] = []
    for part in parts:
        if part:
            blocks += [*([Line()] if blocks else []), *part]
    return blocks


def _head(report: Report) -> list[Block]:
    totals = report.totals
    where = _counted(totals.providers, "component or descriptor", "components and descriptors")
    told = f"in {where}, about {totals.tokens:,} tokens to tell a model of all"
    rows = [
        (_count(totals.apps), _plural(totals.apps, "app"), _told_apps(totals)),
        (_count(totals.capabilities), _plural(totals.capabilities, "capability", "capabilities"), told),
    ]
    if totals.several_protocols_apps:
        several = totals.several_protocols_apps
        rows.append((_count(several), _plural(several, "app"), "in two protocols or more"))
    looked_at = ", ".join(f"{one.count:,} {one.name}" for one in report.catalog.outcomes)
    return [
        Heading(f"Coverage of {one_line(report.catalog.name)}"),
        *(Line(f"{count:>9} {what:<13} {told}".rstrip()) for count, what, told in rows),
        Line(f"{'sources':>23}   {looked_at}"),
    ]


def _told_apps(totals: Totals) -> str:
    told = [
        (totals.declaring_apps, "declare for agents"),
        (totals.silent_apps, "of them tell their tools only when asked"),
        (totals.ui_only_apps, "have screens only"),
        (totals.mute_apps, "have neither"),
        (totals.descriptors, "are descriptors alone"),
    ]
    return ", ".join(f"{count:,} {what}" for count, what in told if count)


def _protocols(report: Report) -> list[Block]:
    rows = [
        (one.protocol, one.dialect or "-", _count(one.apps), _count(one.capabilities))
        for one in report.protocols
    ]
    blocks: list[Block] = [
        Heading("Protocols"),
        Table(("PROTOCOL", "DIALECT", "APPS", "CAPABILITIES"), rows)
        if rows
        else Line("no app declares anything", 1),
    ]
    overlapping = [one for one in report.overlap if len(one.protocols) > 1]
    blocks += [
        Line(f"{_counted(one.apps, 'app')} in {' + '.join(one.protocols)}", 1)
        for one in overlapping[:_MOST_ROWS]
    ]
    if rows and not overlapping:
        blocks.append(Line("no app is in more than one of them", 1))
    return blocks


def _reach(report: Report) -> list[Block]:
    titles = {one.id: one.title for one in report.agents}
    total = report.totals.capabilities
    rows = []
    for one in report.reach:
        lossy = sum(level.count for level in one.levels if level.name in _LOSING)
        loss = f"{lossy:,} lose something" if lossy else ("nothing is lost" if one.capabilities[1] else "-")
        rows.append((titles[one.agent], *(_share(count, total) for count in one.capabilities), loss))
    by_app = [(titles[one.agent], *map(_count, one.apps)) for one in report.reach]
    return [
        Heading("Who reaches which capabilities"),
        Table(("AGENT", "NATIVE", "GATEWAY", "SCREENS ONLY", "NOT AT ALL", "THROUGH THE GATEWAY"), rows),
        Line(),
        Heading("Who reaches which apps, at best"),
        Table(("AGENT", "NATIVE", "GATEWAY", "SCREENS ONLY", "NOT AT ALL"), by_app),
    ]


def _use_cases(coverage: Sequence[AppTypeCoverage]) -> list[Block]:
    rows = [
        (
            one.title,
            f"{one.covered} of {len(one.use_cases)}",
            _count(one.apps),
            ", ".join(held.title for held in one.use_cases if not held.apps) or "-",
        )
        for one in coverage
    ]
    table = Table(("APP TYPE", "USE CASES", "APPS", "GAPS"), rows, is_told=True)
    return [Heading("Use cases of Android's guideline"), table]


def _matching(matching: MatchingSummary) -> list[Block]:
    if not matching.groups:
        return [Heading("Overlaps"), Line("no two capabilities do the same", 1)]
    kinds = ", ".join(f"{one.count:,} {one.name}" for one in matching.kinds)
    rows = [
        (
            one_line(one.name),
            _count(one.apps),
            _count(one.capabilities),
            _listed(one.protocols),
        )
        for one in matching.largest[:_MOST_ROWS]
    ]
    groups = _counted(matching.groups, "group")
    return [
        Heading("Overlaps"),
        Line(f"{matching.capabilities:,} capabilities in {groups} that do the same: {kinds}", 1),
        Table(("LIKE", "APPS", "CAPABILITIES", "PROTOCOLS"), rows, {"LIKE": _LONGEST}),
    ]


def _quality(quality: Quality) -> list[Block]:
    if not quality.all.capabilities:
        return []
    worst = [
        (
            "-" if one.figures.score is None else str(one.figures.score),
            one_line(one.package or one.source or one.key),
            _faults(one.figures),
        )
        for one in quality.worst[:_MOST_ROWS]
    ]
    found = [
        (one.level, one.origin, one.protocol or "-", _count(one.findings), _count(one.apps), one.code)
        for one in sorted(quality.findings, key=lambda one: _GRAVEST.get(one.level, len(_GRAVEST)))
        if one.origin != "reading"
    ]
    blocks: list[Block] = [
        Heading(f"How well it is described: {quality.all.score} of 100"),
        Line(_faults(quality.all), 1),
        Table(("SCORE", "WORST", "WHY"), worst, {"WORST": _LONGEST}, is_told=True),
    ]
    if found:
        columns = ("LEVEL", "BY", "PROTOCOL", "FINDINGS", "APPS", "CODE")
        blocks += [Line(), Table(columns, found[:_MOST_ROWS])]
    releases = [
        (one.release, one.protocol or "-", _count(one.errors), _count(one.warnings), _count(one.apps))
        for one in quality.releases
    ]
    if releases:
        blocks += [Line(), Table(("ON", "PROTOCOL", "ERRORS", "WARNINGS", "APPS"), releases)]
    return blocks


def _faults(figures: QualityFigures) -> str:
    told = [
        (figures.undescribed_capabilities, figures.capabilities, "capabilities undescribed"),
        (figures.undescribed_parameters, figures.parameters, "parameters undescribed"),
        (figures.untyped_parameters, figures.parameters, "parameters untyped"),
        (figures.poor_names, figures.capabilities, "poor names"),
    ]
    faults = [f"{count:,} of {of:,} {what}" for count, of, what in told if count]
    if figures.lint_errors:
        faults.append(_counted(figures.lint_errors, "error"))
    if figures.marks:
        faults.append(_counted(figures.marks, "security mark"))
    return ", ".join(faults) or "nothing to object to"


def _history(history: History) -> list[Block]:
    rows = [
        (
            one.weight or one.status,
            one.status,
            one_line(one.package),
            _versions(one),
            _capability_changes(one),
        )
        for one in history.apps[:_MOST_APPS]
    ]
    blocks: list[Block] = [
        Heading(f"Since {one_line(history.since)}"),
        Line(_changes(history.counts), 1),
    ]
    if rows:
        columns = ("WEIGHT", "APP", "PACKAGE", "VERSION", "CAPABILITIES")
        blocks.append(Table(columns, rows, {"PACKAGE": _LONGEST}))
    more = len(history.apps) + history.left_out - len(rows)
    if more:
        blocks.append(Line(f"and {_counted(more, 'app')} more, in --json", 1))
    trend = [
        (
            one_line(one.name),
            _count(one.apps),
            _count(one.declaring_apps),
            _count(one.capabilities),
            "-" if one.since_last is None else _capability_sum(one.since_last),
        )
        for one in history.trend
    ]
    named = ("CATALOG", "APPS", "DECLARING", "CAPABILITIES", "CAME, WENT, CHANGED")
    return [*blocks, Line(), Table(named, trend)]


def _changes(counts: ChangeCounts) -> str:
    apps = (
        f"apps: {counts.apps_added:,} came, {counts.apps_removed:,} went, {counts.apps_changed:,} changed; "
    )
    return (
        f"{apps}capabilities: {counts.capabilities_added:,} came, {counts.capabilities_removed:,} went, "
        f"{counts.capabilities_changed:,} changed, {counts.unchanged:,} are as they were; "
        f"{counts.breaking:,} break callers"
    )


def _capability_sum(counts: ChangeCounts) -> str:
    return f"+{counts.capabilities_added:,} -{counts.capabilities_removed:,} ~{counts.capabilities_changed:,}"


def _capability_changes(app: ChangedApp) -> str:
    told = (
        f"+{app.capabilities_added:,}" if app.capabilities_added else "",
        f"-{app.capabilities_removed:,}" if app.capabilities_removed else "",
        f"~{app.capabilities_changed:,}" if app.capabilities_changed else "",
    )
    return " ".join(filter(None, told)) or "-"


def _versions(app: ChangedApp) -> str:
    held = [one_line(one) for one in (app.old_version, app.new_version) if one is not None]
    return " to ".join(dict.fromkeys(held)) or "-"


def _listed(counts: Iterable[Counted]) -> str:
    return ", ".join(f"{one.count:,} {one.name}" for one in counts)


def _count(count: int) -> str:
    return f"{count:,}"


def _plural(count: int, one: str, several: str | None = None) -> str:
    return one if count == 1 else several or f"{one}s"


def _counted(count: int, one: str, several: str | None = None) -> str:
    return f"{count:,} {_plural(count, one, several)}"


def _share(count: int, total: int) -> str:
    return f"{count:,} ({count / total:.0%})" if count else "-"

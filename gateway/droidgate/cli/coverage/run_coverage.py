"""What `coverage` does and shows, and its document."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from droidgate.cli.coverage import coverage_options
from droidgate.cli.output.json_output import PublishedDocument
from droidgate.cli.output.page_length import PageLength, choose_page_length
from droidgate.cli.output.pages import Block, Heading, Line, Table, print_warning
from droidgate.cli.output.reports import Report
from droidgate.cli.output.safe_text import one_line
from droidgate.cli.output.summaries import left_out_line
from droidgate.computer.output_folder import WriteStatus, compare_files, write_files
from droidgate.coverage.coverage_document import (
    REACHES,
    AgentFacts,
    AgentReach,
    AppTypeCoverage,
    ChangeCounts,
    ChangedApp,
    Counted,
    CoverageReport,
    History,
    MatchingSummary,
    Quality,
    QualityFigures,
    Totals,
    UnreadCounts,
    outcomes_in_words,
)
from droidgate.coverage.export import TableForm
from droidgate.coverage.reach import obstacle_of
from droidgate.coverage.report import ReportedCatalog, ReportOptions, open_snapshot
from droidgate.sources.catalogs.catalog_rows import LEFT_OUT
from droidgate_mappings.formats.format import load_formats
from droidgate_mappings.model.errors import UsageError, WriteError
from droidgate_mappings.model.findings import Finding
from droidgate_mappings.text.counted_nouns import amount, noun

MOST_SARIF_RESULTS: Final = 25_000
"""Most results of one run that code-scanning services take."""


class CoverageDocument(PublishedDocument, schema="droidgate.coverage/2"):
    """What `coverage --json` prints: who exposes what, who can reach it, and what changed.

    Attributes:
        report: The report; `--csv`, `--parquet` and `catalog sql` list the rows behind it.
    """

    report: CoverageReport


def cover(options: coverage_options.Coverage) -> Report:
    """Make the report of a catalog, and write the requested files."""
    choose_page_length(PageLength.WHOLE if options.details else PageLength.SHORT_ON_TERMINALS)
    if options.translate and not options.html:
        raise UsageError("--translate is for the HTML page", hint="add --html FILE")
    report_options = ReportOptions(
        matching=not options.no_match,
        details=options.html is not None,
        translate=tuple(options.translate or ()),
    )
    earlier = [open_snapshot(item, own_apps=options.include_shims) for item in options.since or ()]
    snapshot = open_snapshot(options.catalog, own_apps=options.include_shims)
    if options.html is not None:
        compare_files({options.html: b""})
    forms: tuple[tuple[Path | None, TableForm], ...] = ((options.csv, "csv"), (options.parquet, "parquet"))
    tables = [(folder, form, _digests(folder, form, force=options.force)) for folder, form in forms if folder]
    with ReportedCatalog(snapshot, earlier, report_options) as coverage:
        statuses = _write_texts(coverage, options)
        for folder, form, digests in tables:
            for path in coverage.write_tables(folder, form):
                is_same = digests.get(path) == _digest(path)
                statuses[path] = "created" if path not in digests else "unchanged" if is_same else "updated"
        findings = _findings_of(coverage) if options.as_sarif else []
        report = coverage.report
    return Report(
        lambda: [*coverage_page(report), *([Line()] if statuses else [])],
        lambda: CoverageDocument(report=report.changed({"details": None})),
        files=statuses,
        findings=lambda: findings,
    )


def _findings_of(coverage: ReportedCatalog) -> list[Finding]:
    """Return what could be better, as far as a SARIF log has it."""
    findings = list(coverage.findings(MOST_SARIF_RESULTS + 1))
    if len(findings) > MOST_SARIF_RESULTS:
        print_warning(f"the SARIF log has the first {MOST_SARIF_RESULTS:,} results, the gravest first")
    return findings[:MOST_SARIF_RESULTS]


def _write_texts(coverage: ReportedCatalog, options: coverage_options.Coverage) -> dict[Path, WriteStatus]:
    files: dict[Path, bytes] = {}
    if options.html is not None:
        from droidgate.coverage.html.page import render_page

        files[options.html] = render_page(coverage.report).encode("utf-8", "replace")
    return write_files(files, force=options.force)


def _digests(folder: Path, ending: str, *, force: bool) -> dict[Path, bytes]:
    """Return the digests of the files of a folder with an ending.

    Raises:
        WriteError: it is a file or is named like one, or has such files that may not be overwritten.
    """
    if folder.suffix == f".{ending}" or (folder.exists() and not folder.is_dir()):
        raise WriteError(
            "not a folder", place=str(folder), hint="name a folder: each table becomes a file in it"
        )
    existing = sorted(folder.glob(f"*.{ending}"))
    if existing and not force:
        message = f"the folder has {ending} files already"
        raise WriteError(message, place=str(folder), hint="choose another folder, or overwrite with --force")
    return {path: _digest(path) for path in existing if path.is_file()}


def _digest(path: Path) -> bytes:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").digest()


_LONGEST: Final = 60
_GRAVEST: Final = {"error": 0, "warning": 1, "note": 2}
_EXACT: Final = "exact"
_DROPPED: Final = "dropped"


def coverage_page(report: CoverageReport) -> list[Block]:
    """Return what `coverage` shows."""
    parts: list[list[Block]] = [
        _head(report),
        _reach(report) if report.totals.apps else _why_nothing(report),
        [] if report.history is None else _history(report.history),
        _unread(report.unread),
        *(_of_apps(report) if report.totals.apps else []),
        _unread_inputs(report.unread),
        [*map(Line, report.notes)],
    ]
    blocks: list[Block] = []
    for part in parts:
        if part:
            blocks += [*([Line()] if blocks else []), *part]
    return blocks


def _of_apps(report: CoverageReport) -> list[list[Block]]:
    return [
        _protocols(report),
        _obstacles(report),
        _fidelity(report),
        [] if report.use_cases is None else _use_cases(report.use_cases),
        [] if report.matching is None else _matching(report.matching),
        _quality(report.quality),
    ]


def _why_nothing(report: CoverageReport) -> list[Block]:
    reason = "no app was read" if report.catalog.outcomes else "the scan found nothing to read"
    return [Line(reason, 1)]


def _unread(unread: UnreadCounts) -> list[Block]:
    counts = ((unread.sources, "source"), (unread.parts, "part of a source", "parts of sources"))
    what = ", ".join(amount(*count) for count in counts if count[0])
    if not what:
        return []
    return [
        Heading(f"Not read: {what}"),
        *(_counted(reason.count, one_line(reason.name)) for reason in unread.reasons),
    ]


def _unread_inputs(unread: UnreadCounts) -> list[Block]:
    rows = [
        (
            one_line(item.source if item.place is None else f"{item.source}: {item.place}"),
            one_line(item.reason),
        )
        for item in unread.inputs
    ]
    if not rows:
        return []
    left_out = f"{amount(unread.left_out, 'more')}: `droidgate catalog sql` lists them"
    return [
        Heading("Inputs that are not read", is_detail=True),
        Table(("INPUT", "REASON"), rows, {"INPUT": _LONGEST}),
        *([Line(left_out, 1)] if unread.left_out else []),
    ]


def _counted(count: int, words: str) -> Line:
    return Line(f"{count:>10,} {words}", hanging=11)


def _head(report: CoverageReport) -> list[Block]:
    totals = report.totals
    sources = sum(outcome.count for outcome in report.catalog.outcomes)
    outcomes = outcomes_in_words(report.catalog.outcomes)
    where = amount(totals.providers, "component or descriptor", "components and descriptors")
    lone = amount(totals.descriptors, "of them a lone descriptor", "of them lone descriptors")
    variants = f"{totals.variant_capabilities:,} only in other variants of a project than its default one"
    tokens = f"about {amount(totals.tokens, 'token')}"
    rows = [
        (totals.apps, (noun(totals.apps, "app"), lone if totals.descriptors else "")),
        (
            totals.capabilities,
            (
                f"{noun(totals.capabilities, 'capability', 'capabilities')} in {where}",
                variants if totals.variant_capabilities else "",
                tokens if totals.tokens else "",
            ),
        ),
        (sources, (f"{noun(sources, 'source')}: {outcomes or 'none'}",)),
        *((count, parts) for count, *parts in _app_counts(totals) if count),
    ]
    left_out = [item.count for item in report.catalog.outcomes if item.name == LEFT_OUT]
    return [
        Heading(f"Coverage of {one_line(report.catalog.name)}", is_whole=True),
        *(_counted(count, ", ".join(filter(None, parts))) for count, parts in rows),
        *(Line(left_out_line(count), 1) for count in left_out),
    ]


def _app_counts(totals: Totals) -> Iterator[tuple[int, *tuple[str, ...]]]:
    several, silent = totals.several_protocols_apps, totals.silent_apps
    lists = noun(silent, "lists its", "list their")
    yield (
        totals.declaring_apps,
        f"{noun(totals.declaring_apps, 'app declares', 'apps declare')} something for agents",
        f"{several:,} of them in two protocols or more" if several else "",
        f"{silent:,} of them {lists} tools only when asked" if silent else "",
    )
    yield totals.ui_only_apps, f"{noun(totals.ui_only_apps, 'app has', 'apps have')} screens only"
    mute = noun(totals.mute_apps, "app declares nothing and has", "apps declare nothing and have")
    yield totals.mute_apps, f"{mute} no launcher screen"
    unread = noun(totals.unread_apps, "app is", "apps are")
    yield totals.unread_apps, f"{unread} not read whole, and may declare something"
    repeated = noun(
        totals.repeated_apps, "app is an older version or a copy", "apps are older versions or copies"
    )
    yield totals.repeated_apps, f"{repeated} of another: not in the trend, changes and overlaps"


def _protocols(report: CoverageReport) -> list[Block]:
    rows = [
        (protocol.protocol, protocol.dialect or "-", _count(protocol.apps), _count(protocol.capabilities))
        for protocol in report.protocols
    ]
    blocks: list[Block] = [
        Heading("Protocols"),
        Table(("PROTOCOL", "DIALECT", "APPS", "CAPABILITIES"), rows)
        if rows
        else Line("no app declares anything", 1),
    ]
    overlapping = [item for item in report.overlap if len(item.protocols) > 1]
    blocks += [Line(f"{amount(item.apps, 'app')} in {' + '.join(item.protocols)}", 1) for item in overlapping]
    if rows and not overlapping:
        blocks.append(Line("no app is in more than one of them", 1))
    return blocks


def _reach(report: CoverageReport) -> list[Block]:
    agents = {agent.id: agent for agent in report.agents}
    total = report.totals.capabilities
    columns = ("AGENT", "NATIVE", "GATEWAY", "SCREENS ONLY", "NOT AT ALL")
    by_capability = [
        (agents[item.agent].title, *(_share(count, total) for count in item.capabilities))
        for item in report.reach
    ]
    return [Heading("Who reaches which capabilities", is_whole=True), Table(columns, by_capability)]


def _obstacles(report: CoverageReport) -> list[Block]:
    """Return the most frequent reasons of each agent; agents with the same reasons are listed together."""
    alike: dict[tuple[tuple[int, str], ...], list[str]] = {}
    for agent, reach in zip(report.agents, report.reach, strict=True):
        reasons = tuple(_obstacles_of(agent, reach))
        if reasons:
            alike.setdefault(reasons, []).append(agent.title)
    blocks: list[Block] = [
        block
        for reasons, titles in alike.items()
        for block in (
            Line(", ".join(titles), 1),
            *(_counted(count, one_line(reason)) for count, reason in reasons),
        )
    ]
    heading = Heading("Why capabilities cannot be called, the most frequent reasons")
    return [heading, *blocks] if blocks else []


def _obstacles_of(agent: AgentFacts, reach: AgentReach) -> Iterator[tuple[int, str]]:
    """Yield the most frequent reasons why an agent does not call capabilities, with their counts."""
    counts: dict[str, int] = {}
    for reason in reach.reasons:
        obstacle = obstacle_of(reason.name)
        if obstacle is not None:
            counts[obstacle] = counts.get(obstacle, 0) + reason.count
    rest = _count_unreached(agent, reach)
    ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    for obstacle, count in ordered:
        rest -= count
        yield count, obstacle
    if rest:
        yield rest, "other reasons, in --csv"


def _count_unreached(agent: AgentFacts, reach: AgentReach) -> int:
    """Return how many capabilities an agent does not call, or does not reach by screens if it uses these."""
    counts = dict(zip(REACHES, reach.capabilities, strict=True))
    return counts["none"] + (0 if agent.uses_screens else counts["ui-only"])


def _fidelity(report: CoverageReport) -> list[Block]:
    """Return what a conversion costs from each protocol to the dialect that each format is written in."""
    defaults = {f"{format_.id}+{format_.dialects[0].id}": format_.id for format_ in load_formats().values()}
    dialects = {target: defaults[target] for target in report.targets if target in defaults}
    sums: dict[str, dict[str, list[int]]] = {}
    for cell in report.fidelity:
        if cell.target in dialects:
            counts = sums.setdefault(cell.protocol, {}).setdefault(cell.target, [0] * len(report.levels))
            counts[:] = map(sum, zip(counts, cell.levels, strict=True))
    if not sums:
        return []
    unenforced = sum(cell.security for cell in report.fidelity if cell.target in dialects)
    rows = [
        (protocol, *(_level_shares(report, by_target.get(target, ())) for target in dialects))
        for protocol, by_target in sums.items()
    ]
    return [
        Heading("What a conversion costs: % exact / changed / dropped or impossible", is_detail=True),
        Table(("FROM", *(f"TO {item}" for item in dialects.values())), rows),
        *([Line(_unenforced_line(unenforced), 1)] if unenforced else []),
    ]


def _unenforced_line(count: int) -> str:
    noun = "conversion of a capability drops" if count == 1 else "conversions of a capability drop"
    return f"security: {count:,} {noun} an access rule that the target does not enforce"


def _level_shares(report: CoverageReport, counts: Sequence[int]) -> str:
    total = sum(counts)
    if not total:
        return "-"
    exact, dropped = report.levels.index(_EXACT) + 1, report.levels.index(_DROPPED)
    parts = (counts[:exact], counts[exact:dropped], counts[dropped:])
    return " / ".join(f"{100 * sum(part) / total:.0f}" for part in parts)


def _use_cases(coverage: Sequence[AppTypeCoverage]) -> list[Block]:
    rows = [
        (
            item.title,
            f"{item.covered} of {len(item.use_cases)}",
            _count(item.apps),
            ", ".join(use_case.title for use_case in item.use_cases if not use_case.apps) or "-",
        )
        for item in coverage
    ]
    table = Table(("APP TYPE", "USE CASES", "APPS", "GAPS"), rows)
    return [Heading("Use cases of Android's guideline"), table]


def _matching(matching: MatchingSummary) -> list[Block]:
    if not matching.groups:
        return [Heading("Overlaps"), Line("no two capabilities do the same", 1)]
    kinds = ", ".join(f"{kind.count:,} {kind.name}" for kind in matching.kinds)
    rows = [
        (
            one_line(item.name),
            _count(item.apps),
            _count(item.capabilities),
            _count_list(item.protocols),
        )
        for item in matching.largest
    ]
    capabilities = amount(matching.capabilities, "capability", "capabilities")
    groups = amount(matching.groups, "group")
    links = amount(sum(kind.count for kind in matching.kinds), "link")
    return [
        Heading("Overlaps"),
        Line(f"{capabilities} in {groups} that do the same, by {links}: {kinds}", 1),
        Table(("LIKE", "APPS", "CAPABILITIES", "PROTOCOLS"), rows, {"LIKE": _LONGEST}),
    ]


def _quality(quality: Quality) -> list[Block]:
    if not quality.all.capabilities:
        return []
    worst = [
        (
            "-" if item.figures.score is None else str(item.figures.score),
            one_line(item.package or item.source or item.key),
            _faults(item.figures),
        )
        for item in quality.worst
    ]
    blocks: list[Block] = [
        Heading(f"How well it is described: {quality.all.score} of 100"),
        Line(_faults(quality.all), 1),
    ]
    if worst:
        table = Table(("SCORE", "APP", "WHY"), worst, {"APP": _LONGEST})
        blocks += [Line(), Heading("The lowest scores"), table]
    return [*blocks, *_findings(quality), *_releases(quality)]


def _findings(quality: Quality) -> list[Block]:
    rows = [
        (finding.level, finding.protocol or "-", _count(finding.findings), _count(finding.apps), finding.code)
        for finding in sorted(
            quality.findings, key=lambda finding: _GRAVEST.get(finding.level, len(_GRAVEST))
        )
    ]
    if not rows:
        return []
    columns = ("LEVEL", "PROTOCOL", "FINDINGS", "APPS", "CODE")
    return [Line(), Heading("Findings, the gravest first"), Table(columns, rows)]


def _releases(quality: Quality) -> list[Block]:
    rows = [
        (
            release.release,
            release.protocol or "-",
            _count(release.errors),
            _count(release.warnings),
            _count(release.apps),
        )
        for release in quality.releases
    ]
    if not rows:
        return []
    columns = ("RELEASE", "PROTOCOL", "ERRORS", "WARNINGS", "APPS")
    return [Line(), Heading("Findings that depend on the Android release"), Table(columns, rows)]


def _faults(figures: QualityFigures) -> str:
    capabilities = noun(figures.capabilities, "capability", "capabilities")
    parameters = noun(figures.parameters, "parameter")
    shares = [
        (figures.undescribed_capabilities, figures.capabilities, f"{capabilities} undescribed"),
        (figures.undescribed_parameters, figures.parameters, f"{parameters} undescribed"),
        (figures.untyped_parameters, figures.parameters, f"{parameters} untyped"),
    ]
    faults = [f"{count:,} of {of:,} {what}" for count, of, what in shares if count]
    counted = [
        (figures.poor_names, "poor name"),
        (figures.lint_errors, "error"),
        (figures.marks, "security mark"),
    ]
    faults += [amount(count, what) for count, what in counted if count]
    return ", ".join(faults) or "no problems found"


def _history(history: History) -> list[Block]:
    rows = [
        (
            "re-signed" if app.resigned else app.weight or "-",
            app.status,
            one_line(app.package),
            _versions(app),
            _capability_changes(app),
        )
        for app in history.apps
    ]
    blocks: list[Block] = [
        Heading(f"Since {one_line(history.since)}"),
        Line(_changes(history.counts), 1),
    ]
    if rows:
        columns = ("WEIGHT", "APP", "PACKAGE", "VERSION", "CAPABILITIES")
        blocks.append(Table(columns, rows, {"PACKAGE": _LONGEST}))
    unread = [(one_line(app.package), one_line(app.unread)) for app in history.apps if app.unread is not None]
    if unread:
        table = Table(("NOT COMPARED", "WHAT IS NOT READ"), unread, {"NOT COMPARED": _LONGEST})
        blocks += [Line(), table]
    if history.left_out:
        blocks.append(Line(f"and {amount(history.left_out, 'app')} more with smaller changes", 1))
    trend = [
        (
            one_line(item.name),
            _count(item.apps),
            _count(item.declaring_apps),
            _count(item.capabilities),
            "-" if item.since_last is None else _capability_changes(item.since_last),
        )
        for item in history.trend
    ]
    headings = ("CATALOG", "APPS", "DECLARING", "CAPABILITIES", "CAME, WENT, CHANGED")
    return [
        *blocks,
        Line(),
        Heading("Trend, the oldest catalog first; of an app in several versions the newest counts"),
        Table(headings, trend),
    ]


def _changes(counts: ChangeCounts) -> str:
    apps = (
        f"apps: {counts.apps_added:,} added, {counts.apps_removed:,} removed, {counts.apps_changed:,} changed"
    )
    if counts.apps_resigned:
        apps += f", {counts.apps_resigned:,} signed by somebody else"
    if counts.apps_not_compared:
        apps += f", {counts.apps_not_compared:,} not compared"
    unread = counts.capabilities_not_compared
    not_compared = f", {unread:,} not compared" if unread else ""
    opened = amount(counts.security, "access rule accepts", "access rules accept")
    security = f"; security: {opened} other callers" if counts.security else ""
    return (
        f"{apps}; capabilities: {counts.capabilities_added:,} added, "
        f"{counts.capabilities_removed:,} removed, {counts.capabilities_changed:,} changed, "
        f"{counts.unchanged:,} as before{not_compared}; "
        f"{amount(counts.breaking, 'capability breaks', 'capabilities break')} callers{security}"
    )


def _capability_changes(app: ChangedApp | ChangeCounts) -> str:
    counts = (
        ("+", app.capabilities_added),
        ("-", app.capabilities_removed),
        ("~", app.capabilities_changed),
    )
    changes = " ".join(f"{sign}{count:,}" for sign, count in counts if count)
    unread = app.capabilities_not_compared
    return ", ".join(filter(None, (changes, f"{unread:,} not compared" if unread else ""))) or "-"


def _versions(app: ChangedApp) -> str:
    versions = [one_line(item) for item in (app.old_version, app.new_version) if item is not None]
    return " to ".join(dict.fromkeys(versions)) or "-"


def _count_list(counts: Iterable[Counted]) -> str:
    return ", ".join(f"{count.count:,} {count.name}" for count in counts)


def _count(count: int) -> str:
    return f"{count:,}"


def _share(count: int, total: int) -> str:
    """Return a count with its share in percent that is 0 or 100 only where it is so."""
    if not count:
        return "-"
    percent = min(max(round(100 * count / total), 1), 100 if count == total else 99)
    return f"{count:,} ({percent}%)"

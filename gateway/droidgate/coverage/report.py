"""From a catalog to its report: the summary, the details of a catalog that a page can hold, what a scan could
not read, what could be better (as findings with places), and the conversions that a user chose.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from fnmatch import fnmatchcase
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, Final, Self

from droidgate.coverage.conversions import LEVELS, targets
from droidgate.coverage.coverage_document import (
    MOST_APPS,
    MOST_CAPABILITIES,
    REACHES,
    CatalogFacts,
    Counted,
    CoverageReport,
    DetailRow,
    Details,
    Reach,
    UnreadCounts,
    UnreadInput,
)
from droidgate.coverage.export import TableForm, write_tables
from droidgate.coverage.figures import Figures
from droidgate.coverage.history import Snapshot, history_of
from droidgate.coverage.overlaps import Overlaps, find_overlaps, row_key_of
from droidgate.coverage.quality import IS_POOR, figures_of, prepare_quality, quality_of
from droidgate.coverage.reach import agents
from droidgate.sources.catalogs.catalog import Catalog
from droidgate.sources.catalogs.catalog_rows import place_in, read_json_column, read_part
from droidgate_mappings.model.capability import Provider
from droidgate_mappings.model.errors import DroidgateError
from droidgate_mappings.model.findings import Finding, Level, finding_code
from droidgate_mappings.model.json_values import one_line_json
from droidgate_mappings.records import dataclass
from droidgate_mappings.tables.reach import load_reach, load_shim_table
from droidgate_mappings.timed_steps import timed_step

MOST_FINDINGS_LISTED: Final = 100_000

_ONE_BY_ONE: Final = ("capabilities", "definitions", "extensions")
_APPS: Final = """
SELECT e.entry, e.unit || ':' || coalesce(e.app, -1) AS key, e.kind, e.package, e.label, e.description,
    e.version_name, e.version_code, e.minimum_sdk, e.target_sdk, e.signers, e.signers_verified,
    e.has_launcher, coalesce(e.listed, []) AS sources, s.protocols, s.silent AS is_silent,
    s.unread AND s.providers = 0 AS is_unread, s.capabilities
FROM entry e JOIN entry_sum s USING (entry) ORDER BY e.entry
"""
_PROVIDERS: Final = """
SELECT f.entry AS app, p.protocol, p.dialect, p.component, p.component_kind, p.exported, p.enabled,
    p.enabled_in, p.permission, p.protection, p.name, p.description, p.instructions, p.place, p.declaration
FROM provider_fact f JOIN providers p USING (unit, provider) ORDER BY f.p
"""
_CAPABILITIES: Final = """
SELECT f.p AS provider, f.capability, s.s AS reach, c.id, c.title, c.description, c.parameters, c.output,
    c.undescribed_count AS undescribed, c.untyped_count AS untyped, c.read_only, c.destructive, c.enabled,
    c.token_estimate AS tokens, c.place, c.variants, x.levels
FROM capability_fact f JOIN standing s USING (key)
JOIN provider_fact p ON p.p = f.p
JOIN capabilities c ON c.unit = p.unit AND c.provider = p.provider AND c.capability = f.capability
LEFT JOIN (
    SELECT unit, provider, capability, map(list(target), list(level)) AS levels FROM conversions GROUP BY ALL
) x ON x.unit = c.unit AND x.provider = c.provider AND x.capability = c.capability
ORDER BY f.p, f.capability
"""
_FINDINGS: Final = f"""
SELECT coalesce(p.entry, CASE WHEN o.entries = 1 THEN o.entry END) AS app, p.p AS provider, f.capability,
    f.origin, f.code, f.level, f.pointer, f.message, f.hint, f.rule, f.releases,
    f.variants, f.place
FROM findings f LEFT JOIN provider_fact p USING (unit, provider) LEFT JOIN first_entry o ON o.unit = f.unit
ORDER BY app, f.unit, f.finding LIMIT {MOST_FINDINGS_LISTED}
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


def details_of(figures: Figures, overlaps: Overlaps | None, translations: Sequence[DetailRow]) -> Details:
    """Return everything, one by one; `prepare_quality` comes first."""
    providers = figures.records(_PROVIDERS)
    declared = [_parts_of(row.pop("declaration")) for row in providers]
    capabilities, levels, places = _capabilities(figures, declared, overlaps)
    return Details(
        targets=figures.catalog.targets,
        reach_profiles=figures.profiles,
        level_profiles=levels,
        apps=_apps(figures, _served_by_app(figures, overlaps)),
        providers=[_provider(row, parts) for row, parts in zip(providers, declared, strict=True)],
        capabilities=capabilities,
        findings=_findings(figures, places),
        groups=[] if overlaps is None else _groups(overlaps, places),
        translations=translations,
    )


def _parts_of(declaration: str) -> dict[str, Any]:
    members = read_json_column(declaration)
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


def _apps(figures: Figures, served: Mapping[int, set[str]]) -> list[DetailRow]:
    agents = range(len(load_reach().agents))
    counts = {
        (entry, agent, reach): count
        for entry, agent, reach, count in figures.rows("SELECT entry, agent, reach, n FROM entry_reach")
    }
    best: dict[tuple[int, int], Reach] = {
        (entry, agent): REACHES[at] for entry, agent, at in figures.rows("FROM entry_best")
    }
    quality = {entry: values for entry, *values in figures.rows("FROM quality")}

    return [
        DetailRow(
            **record,
            best=[best[entry, agent] for agent in agents],
            reach=[[counts.get((entry, agent, at), 0) for at in range(len(REACHES))] for agent in agents],
            quality=figures_of(quality[entry]),
            use_cases=sorted(served.get(entry, ())),
        )
        for record in figures.records(_APPS)
        for entry in (record.pop("entry"),)
    ]


def _provider(record: dict[str, Any], parts: Mapping[str, Any]) -> DetailRow:
    return DetailRow(
        **record,
        definitions=_json_or_none(parts["definitions"]),
        extensions=_json_or_none(parts["extensions"]),
    )


def _json_or_none(value: Any) -> str | None:
    return one_line_json(value) if value else None


def _capabilities(
    figures: Figures, declared: list[dict[str, Any]], overlaps: Overlaps | None
) -> tuple[list[DetailRow], list[tuple[str | None, ...]], _Places]:
    targets = figures.catalog.targets
    served = {} if overlaps is None else overlaps.served
    groups = {
        key: number
        for number, members in enumerate(() if overlaps is None else overlaps.matching.groups)
        for key in members
    }
    profiles: dict[tuple[str | None, ...], int] = {}
    places = _Places({}, {})
    details: list[DetailRow] = []
    for record in figures.records(_CAPABILITIES):
        provider, position = record["provider"], record.pop("capability")
        levels_by_target = record.pop("levels") or {}
        levels = profiles.setdefault(tuple(levels_by_target.get(target) for target in targets), len(profiles))
        key = row_key_of(provider, position)
        places.capabilities[provider, position] = places.keys[key] = len(details)
        capabilities = declared[provider]["capabilities"] or []
        details.append(
            DetailRow(
                **record,
                declaration=one_line_json(capabilities[position] if position < len(capabilities) else {}),
                levels=levels,
                use_cases=[item.use_case for item in served.get(key, ())],
                group=groups.get(key),
            )
        )
    return details, list(profiles), places


def _findings(figures: Figures, places: _Places) -> list[DetailRow]:
    records = figures.records(_FINDINGS)
    for record in records:
        record["capability"] = places.capabilities.get((record["provider"], record["capability"]))
    return [DetailRow(**record) for record in records]


def _groups(overlaps: Overlaps, places: _Places) -> list[DetailRow]:
    links: list[list[DetailRow]] = [[] for _ in overlaps.matching.groups]
    for link in overlaps.matching.links:
        links[link.group].append(
            DetailRow(
                capability=places.keys[link.key],
                match=places.keys[link.match],
                kind=link.kind,
                score=link.score,
                terms=link.terms,
                parameters=link.parameters,
            )
        )
    return [
        DetailRow(members=[places.keys[key] for key in members], links=links[number])
        for number, members in enumerate(overlaps.matching.groups)
    ]


MOST_REASONS: Final = 20
MOST_INPUTS: Final = 200

# A split of a unit was read with its base, and a file of no known format was read and is not a descriptor.
_UNREAD: Final = """
CREATE OR REPLACE TEMP VIEW unread AS
SELECT source, NULL AS place, coalesce(reason, outcome) AS reason, outcome FROM sources
WHERE outcome NOT IN ('read', 'no-descriptor', 'left-out') AND NOT (outcome = 'part' AND unit IS NOT NULL)
UNION ALL
SELECT coalesce(found.source, unit), place, message, NULL FROM unread_part LEFT JOIN found USING (unit)
"""


def unread_of(figures: Figures) -> UnreadCounts:
    """Return what a scan could not read: counts by reason, and the inputs by name."""
    figures.connection.execute(_UNREAD)
    sources, parts = figures.row("SELECT count(outcome), count(*) - count(outcome) FROM unread")
    reasons = figures.read(
        Counted,
        'SELECT reason AS name, count(*) AS "count" FROM unread GROUP BY reason '
        f'ORDER BY "count" DESC, reason LIMIT {MOST_REASONS}',
    )
    inputs = figures.read(
        UnreadInput,
        "SELECT source, place, outcome, reason FROM unread "
        f"ORDER BY outcome IS NULL, source, place, reason LIMIT {MOST_INPUTS}",
    )
    left_out = sources + parts - len(inputs)
    return UnreadCounts(sources=sources, parts=parts, reasons=reasons, inputs=inputs, left_out=left_out)


_code = partial(finding_code, module=__name__)

UNDESCRIBED_CAPABILITY: Final = _code("undescribed-capability", "A capability says nothing of what it does")
UNDESCRIBED_PARAMETERS: Final = _code(
    "undescribed-parameters", "Parameters of a capability have no description"
)
UNTYPED_PARAMETERS: Final = _code("untyped-parameters", "Nothing says what values some parameters take")
POOR_NAME: Final = _code(
    "poor-name", "A capability's id has no word that a model could choose it by, or is too long"
)

_LEVELS: Final = ("error", "warning", "note")
_FOUND: Final = f"""
SELECT d.source, d.kind, f.place, f.code, f.level, f.pointer, f.message, f.hint, f.rule, f.releases,
    f.variants
FROM findings f JOIN (
    SELECT unit, min(source) AS source, min(kind) AS kind FROM sources WHERE unit IS NOT NULL GROUP BY unit
) d USING (unit) WHERE origin <> 'reading'
ORDER BY list_position({list(_LEVELS)!r}, f.level), d.source, f.unit, f.finding LIMIT ?
"""
_MISSING: Final = f"""
SELECT d.source, d.kind, c.place, c.capability, c.id, coalesce(trim(c.description), '') = '' AS bare,
    c.undescribed_count, c.untyped_count, {IS_POOR} AS poor
FROM capabilities c JOIN (
    SELECT unit, min(source) AS source, min(kind) AS kind FROM sources WHERE unit IS NOT NULL GROUP BY unit
) d USING (unit)
WHERE bare OR c.undescribed_count > 0 OR c.untyped_count > 0 OR poor
ORDER BY d.source, c.unit, c.provider, c.capability LIMIT ?
"""


def quality_findings(figures: Figures, most: int) -> Iterator[Finding]:
    """Yield what the linters and the security marks say, the gravest first, then what is not described.

    Args:
        figures: The catalog.
        most: How many there may be.
    """
    records = figures.records(_FOUND, [most])
    for record in records:
        place = place_in(record.pop("source"), record.pop("kind"), record.pop("place") or "")
        yield Finding(**record, source=place)
    remaining = most - len(records)
    if remaining:
        for number, item in enumerate(_missing_findings(figures, remaining)):
            if number == remaining:
                return
            yield item


def _missing_findings(figures: Figures, most: int) -> Iterator[Finding]:
    for source, kind, place, position, name, bare, undescribed, untyped, poor in figures.rows(
        _MISSING, [most]
    ):
        checks: list[tuple[str, Any, str]] = [
            (UNDESCRIBED_CAPABILITY, bare, f"{name} has no description"),
            (UNDESCRIBED_PARAMETERS, undescribed, f"{undescribed} parameters of {name} have no description"),
            (UNTYPED_PARAMETERS, untyped, f"{untyped} parameters of {name} have no type"),
            (POOR_NAME, poor, f"a model could not choose it by the name {name}"),
        ]
        for code, is_true, message in checks:
            if is_true:
                yield Finding(
                    code=code,
                    level=Level.NOTE,
                    pointer=f"/capabilities/{position}",
                    message=message,
                    source=place_in(source, kind, place or ""),
                )


MOST_PROVIDERS: Final = 50
MOST_FINDINGS_EACH: Final = 200


def translate_chosen(figures: Figures, patterns: Sequence[str]) -> list[DetailRow]:
    """Write every provider of the apps whose application id fits a pattern in every dialect.

    Args:
        figures: The catalog.
        patterns: `*` and `?` match other characters, as in the names of files.
    """
    if not patterns:
        return []
    chosen = [
        (number, declaration)
        for number, package, declaration in figures.rows(
            "SELECT p, identity, declaration FROM provider_fact JOIN providers USING (unit, provider) "
            "JOIN entry USING (entry) ORDER BY p"
        )
        if any(fnmatchcase(package, pattern) for pattern in patterns)
    ]
    return [
        _translate(number, read_part(Provider, declaration), target)
        for number, declaration in chosen[:MOST_PROVIDERS]
        for target in targets()
    ]


def misfits(figures: Figures, patterns: Sequence[str]) -> Iterator[str]:
    """Yield a sentence for each pattern by which nothing is translated, and one where not all is that fits.

    The sentences have no period.
    """
    listed = (
        figures.rows("SELECT identity, providers FROM entry JOIN entry_sum USING (entry)") if patterns else []
    )
    for pattern in patterns:
        fitting = [providers for identity, providers in listed if fnmatchcase(identity, pattern)]
        if not fitting:
            yield f"--translate {pattern}: no app of the catalog fits it"
        elif not any(fitting):
            yield f"--translate {pattern}: what fits it declares nothing"
    chosen = sum(
        providers
        for identity, providers in listed
        if any(fnmatchcase(identity, pattern) for pattern in patterns)
    )
    if chosen > MOST_PROVIDERS:
        yield f"at most {MOST_PROVIDERS} providers are translated"


def _translate(number: int, provider: Provider, target: str) -> DetailRow:
    format_, dialect = targets()[target]
    if format_.write is None:
        return _failed_translation(number, target, f"{format_.title} is only read")
    try:
        writing = format_.write(provider, dialect)
    except DroidgateError as error:
        return _failed_translation(number, target, error.message)
    findings = writing.findings[:MOST_FINDINGS_EACH]
    return DetailRow(provider=number, target=target, files=writing.artifacts, findings=findings, problem=None)


def _failed_translation(number: int, target: str, problem: str) -> DetailRow:
    return DetailRow(provider=number, target=target, files=(), findings=(), problem=problem)


@dataclass(frozen=True, slots=True)
class ReportOptions:
    """What a report has in addition to its figures.

    Attributes:
        matching: What overlaps, and the use cases.
        details: Everything one by one, where a page can hold it.
        translate: Application ids, perhaps with `*`, whose providers are written in every dialect; only with
            details.
    """

    matching: bool = True
    details: bool = False
    translate: Sequence[str] = ()


class ReportedCatalog:
    """A catalog with its report; use it as a context, so that its connection is closed."""

    def __init__(
        self, snapshot: Snapshot, earlier: Sequence[Snapshot] = (), options: ReportOptions | None = None
    ) -> None:
        """Make the report of a catalog.

        Args:
            snapshot: The catalog.
            earlier: Older catalogs, the oldest first.
            options: What it is to hold; matching and no details by default.

        Raises:
            UsageError: DuckDB or rapidfuzz is not installed.
            InputError: a catalog cannot be read.
        """
        chosen = ReportOptions() if options is None else options
        with ExitStack() as stack:
            with timed_step(f"count what {snapshot.name} has"):
                self._figures = stack.enter_context(Figures(snapshot.catalog))
                prepare_quality(self._figures)
                counted = _counted_report(self._figures, snapshot, earlier)
            # After the counting, so that what both need is not needed at once.
            with timed_step("compare capabilities" if chosen.matching else "collect the details"):
                self._overlaps = find_overlaps(self._figures) if chosen.matching else None
                self.report = _with_overlaps(counted, self._figures, self._overlaps, chosen)
            self._open = stack.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def write_tables(self, folder: Path, form: TableForm) -> list[Path]:
        """Write the tables behind the report into a folder, and return their paths.

        Raises:
            WriteError: a file cannot be written.
        """
        return write_tables(self._figures, self._overlaps, self.report, folder, form)

    def findings(self, most: int) -> Iterator[Finding]:
        """Yield what could be better, the gravest first."""
        return quality_findings(self._figures, most)


def report_coverage(
    catalog: str | PathLike[str],
    *,
    since: str | PathLike[str] | Sequence[str | PathLike[str]] = (),
    options: ReportOptions | None = None,
    own_apps: bool = False,
) -> CoverageReport:
    """Return the report of a catalog that `scan` wrote: who is exposed, who can call what, what is lost.

    Args:
        catalog: Its folder.
        since: Folder of an older catalog, or several, the oldest first; their changes are in the report.
        options: What else it is to hold; what overlaps, and no details by default.
        own_apps: Count shims and droidgate's agent apps, too.

    Raises:
        UsageError: DuckDB or rapidfuzz is not installed.
        InputError: a catalog cannot be read.

    Example:
        >>> _ = droidgate.scan("pdf-tool", "weather", catalog="catalog")
        >>> droidgate.report_coverage("catalog")
        <CoverageReport apps=2, capabilities=5>
    """
    folders = [since] if isinstance(since, str | PathLike) else since
    earlier = [open_snapshot(Path(item), own_apps=own_apps) for item in folders]
    with ReportedCatalog(open_snapshot(Path(catalog), own_apps=own_apps), earlier, options) as coverage:
        return coverage.report


def open_snapshot(folder: Path, *, own_apps: bool = False) -> Snapshot:
    """Return a catalog with what it is called: as it was named, or its folder's name.

    Args:
        folder: Its folder.
        own_apps: Keep shims and droidgate's agent apps; else it is read without them.

    Raises:
        UsageError: DuckDB is not installed.
        InputError: it cannot be read.
    """
    name = folder.name if folder.is_absolute() else str(folder)
    catalog = Catalog.open(folder)
    return Snapshot(name, catalog if own_apps else catalog.without_own_apps())


def _counted_report(figures: Figures, snapshot: Snapshot, earlier: Sequence[Snapshot]) -> CoverageReport:
    """Return a report of what is counted, without overlaps and details."""
    return CoverageReport(
        catalog=_facts(snapshot, figures),
        unread=unread_of(figures),
        totals=figures.totals(),
        protocols=figures.protocols(),
        overlap=figures.overlap(),
        agents=agents(),
        conditions=load_shim_table().conditions,
        reach=figures.reach(),
        levels=LEVELS,
        targets=tuple(snapshot.catalog.targets),
        fidelity=figures.fidelity(),
        use_cases=None,
        matching=None,
        quality=quality_of(figures),
        history=history_of([*earlier, snapshot]) if earlier else None,
        details=None,
        notes=(),
    )


def _with_overlaps(
    counted: CoverageReport, figures: Figures, overlaps: Overlaps | None, options: ReportOptions
) -> CoverageReport:
    details, notes = _details(figures, overlaps, options)
    more: dict[str, object] = {"details": details, "notes": notes}
    if overlaps is not None:
        more |= {"use_cases": overlaps.coverage, "matching": overlaps.summary}
    return counted.changed(more)


def _facts(snapshot: Snapshot, figures: Figures) -> CatalogFacts:
    outcomes = figures.read(
        Counted,
        'SELECT outcome AS name, count(*) AS "count" FROM sources GROUP BY outcome '
        'ORDER BY "count" DESC, outcome',
    )
    return CatalogFacts(
        name=snapshot.name,
        droidgate=snapshot.catalog.droidgate,
        outcomes=outcomes,
        rows=dict(figures.catalog.rows),
    )


def _details(
    figures: Figures, overlaps: Overlaps | None, options: ReportOptions
) -> tuple[Details | None, tuple[str, ...]]:
    """Return the details, and what a reader has to know of what is left out."""
    notes = [] if options.matching else ["overlaps and use cases are left out, as --no-match says"]
    if not options.details:
        return None, tuple(notes)
    if is_too_large(figures):
        notes.append(
            f"single apps and capabilities are left out: there are more than {MOST_APPS:,} apps or "
            f"{MOST_CAPABILITIES:,} capabilities; `droidgate catalog sql` and --parquet list them"
        )
        return None, tuple(notes)
    translations = translate_chosen(figures, options.translate)
    notes += misfits(figures, options.translate)
    return details_of(figures, overlaps, translations), tuple(notes)

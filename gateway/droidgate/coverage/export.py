"""The tables behind a report as files: CSV for spreadsheets, Parquet for everything else.

A cell of a CSV that a spreadsheet would take for a formula begins with an apostrophe (OWASP, CSV injection),
and characters that nobody sees are written by their code. Parquet has the texts as they are.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, Literal

from droidgate.computer.optional_packages import need
from droidgate.coverage.coverage_document import REACHES, CoverageReport, History
from droidgate.coverage.figures import Figures
from droidgate.coverage.match.capability_groups import Link
from droidgate.coverage.overlaps import Overlaps
from droidgate.sources.catalogs.catalog import first_line, quoted, rows_of
from droidgate.sources.catalogs.csv_answers import write_csv
from droidgate_mappings.model.errors import WriteError
from droidgate_mappings.tables.reach import load_reach

_ERRNO: Final = re.compile(r'"errno":"(\d+)"')
"""In DuckDB's report of an error of the system."""
TableForm = Literal["csv", "parquet"]

_LEADER: Final = "leader"
"""What a group's first capability is; the others say what they have in common with one of the group."""
_APPS: Final = """
SELECT e.kind, e.package, e.label, e.version_name, e.version_code, e.source, e.has_launcher,
    array_to_string(s.protocols, ' ') AS protocols, s.capabilities,
    s.unread AND s.providers = 0 AS is_unread, {reaches},
    q.* EXCLUDE (entry, capabilities)
FROM entry e JOIN entry_sum s USING (entry) LEFT JOIN quality q USING (entry) {joins} ORDER BY e.entry
"""
_CAPABILITIES: Final = """
SELECT e.package, e.source, p.protocol, p.dialect, r.component, c.id, c.title, c.description, c.parameters,
    c.output, c.parameter_count, c.undescribed_count, c.untyped_count, c.token_estimate, c.read_only,
    c.destructive, array_to_string(c.variants, ' ') AS variants, {reaches}
FROM capability_fact f JOIN standing s USING (key) JOIN provider_fact p ON p.p = f.p
JOIN entry e ON e.entry = f.entry
JOIN providers r ON r.unit = p.unit AND r.provider = p.provider
JOIN capabilities c ON c.unit = p.unit AND c.provider = p.provider AND c.capability = f.capability
{joins} ORDER BY f.p, f.capability
"""
_FINDINGS: Final = """
SELECT e.package, d.source, p.protocol, f.origin, f.code, f.level, f.capability, f.pointer, f.message, f.hint,
    f.rule, array_to_string(f.releases, ' ') AS releases, array_to_string(f.variants, ' ') AS variants,
    f.place
FROM findings f LEFT JOIN provider_fact p USING (unit, provider) LEFT JOIN first_entry o ON o.unit = f.unit
LEFT JOIN entry e ON e.entry = coalesce(p.entry, CASE WHEN o.entries = 1 THEN o.entry END)
LEFT JOIN found d ON d.unit = f.unit ORDER BY f.unit, f.finding
"""
_CONVERSIONS: Final = """
SELECT p.protocol, p.dialect, x.target, x.level, count(*) AS capabilities,
    count(*) FILTER (x.security > 0) AS security
FROM conversions x JOIN provider_fact p USING (unit, provider) GROUP BY ALL ORDER BY ALL
"""
_USE_CASES: Final = """
SELECT u.use_case, e.package, e.source, p.protocol, c.id, u.action, u.object FROM {served} u
JOIN provider_fact p ON p.p = u.provider JOIN entry e USING (entry)
JOIN capabilities c ON c.unit = p.unit AND c.provider = p.provider AND c.capability = u.capability
ORDER BY u.use_case, e.entry, u.provider, u.capability
"""
_MATCHES: Final = """
SELECT m."group", e.package, e.source, p.protocol, c.id, m.kind, m.score, o.package AS match_package,
    d.id AS match_id, m.terms
FROM {matched} m
JOIN provider_fact p ON p.p = m.provider JOIN entry e USING (entry)
JOIN capabilities c ON c.unit = p.unit AND c.provider = p.provider AND c.capability = m.capability
LEFT JOIN provider_fact q ON q.p = m.match_provider LEFT JOIN entry o ON o.entry = q.entry
LEFT JOIN capabilities d ON d.unit = q.unit AND d.provider = q.provider AND d.capability = m.match_capability
ORDER BY m."group", m.provider, m.capability
"""


def write_tables(
    figures: Figures, overlaps: Overlaps | None, report: CoverageReport, folder: Path, form: TableForm
) -> list[Path]:
    """Write the tables into a folder, over those that are there, and return their paths.

    They are `apps`, `capabilities`, `findings`, `fidelity`; with matching `use-cases` and `matches`; with a
    history `changes`.

    Raises:
        WriteError: a file cannot be written.
    """
    with tempfile.TemporaryDirectory(prefix="droidgate-") as temporary_folder:
        queries = _queries(figures, overlaps, report, Path(temporary_folder))
        return [_write(figures, query, folder / f"{name}.{form}", form) for name, query in queries.items()]


def _write(figures: Figures, query: str, path: Path, form: TableForm) -> Path:
    duckdb = need("duckdb", "coverage")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if form == "csv":
            result = figures.connection.execute(query)
            with path.open("w", encoding="utf-8", newline="") as file:
                write_csv([name for name, *_ in result.description], rows_of(result), file)
        else:
            options = "FORMAT parquet, COMPRESSION zstd"
            figures.connection.execute(f"COPY ({query}) TO {quoted(str(path))} ({options})")
    except (OSError, duckdb.Error) as error:
        number = _ERRNO.search(str(error))
        reason = (
            os.strerror(int(number[1])) if number else getattr(error, "strerror", None) or first_line(error)
        )
        raise WriteError(f"cannot be written: {reason}", place=str(path)) from None
    return path


def _queries(
    figures: Figures, overlaps: Overlaps | None, report: CoverageReport, folder: Path
) -> dict[str, str]:
    agents = load_reach().agents
    words = ", ".join(map(quoted, REACHES))
    by_app = ", ".join(f'[{words}][b{at}.best + 1] AS "reach {agent.id}"' for at, agent in enumerate(agents))
    joins = " ".join(
        f"JOIN entry_best b{at} ON b{at}.entry = e.entry AND b{at}.agent = {at}" for at in range(len(agents))
    )
    _name_levels(figures)
    by_capability = ", ".join(
        f'[{words}][c{at}.reach + 1] AS "reach {agent.id}", c{at}.level AS "level {agent.id}", '
        f'c{at}.reason AS "why {agent.id}"'
        for at, agent in enumerate(agents)
    )
    cells = " ".join(
        f"JOIN cell_level c{at} ON c{at}.s = s.s AND c{at}.agent = {at}" for at in range(len(agents))
    )
    queries = {
        "apps": _APPS.format(reaches=by_app, joins=joins),
        "capabilities": _CAPABILITIES.format(reaches=by_capability, joins=cells),
        "findings": _FINDINGS,
        "fidelity": _CONVERSIONS,
    }
    if overlaps is not None:
        served, matched = _overlap_files(overlaps, folder)
        queries["use-cases"] = _USE_CASES.format(served=served)
        queries["matches"] = _MATCHES.format(matched=matched)
    if report.history is not None:
        queries["changes"] = f"SELECT * FROM {_change_file(report.history, folder)}"
    return queries


def _name_levels(figures: Figures) -> None:
    figures.fill(
        "cell_level",
        "s INTEGER, agent INTEGER, reach INTEGER, level VARCHAR, reason VARCHAR",
        [
            (number, agent, REACHES.index(cell.reach), cell.level, cell.reason)
            for number, profile in enumerate(figures.profiles)
            for agent, cell in enumerate(profile.cells)
        ],
    )


def _overlap_files(overlaps: Overlaps, folder: Path) -> tuple[str, str]:
    served = (
        {
            "use_case": use_case.use_case,
            "provider": provider,
            "capability": capability,
            "action": use_case.action,
            "object": use_case.object,
        }
        for key, use_cases in overlaps.served.items()
        for provider, capability in (_numbers(key),)
        for use_case in use_cases
    )
    columns = {
        "use_case": "VARCHAR",
        "provider": "INTEGER",
        "capability": "INTEGER",
        "action": "VARCHAR",
        "object": "VARCHAR",
    }
    links = {link.key: link for link in overlaps.matching.links}
    matched = (
        {"group": number, "provider": provider, "capability": capability, **_link(links.get(key))}
        for number, members in enumerate(overlaps.matching.groups)
        for key in members
        for provider, capability in (_numbers(key),)
    )
    types = {
        "group": "INTEGER",
        "provider": "INTEGER",
        "capability": "INTEGER",
        "kind": "VARCHAR",
        "score": "DOUBLE",
        "match_provider": "INTEGER",
        "match_capability": "INTEGER",
        "terms": "VARCHAR",
    }
    return _lines(folder / "served.jsonl", columns, served), _lines(folder / "matched.jsonl", types, matched)


def _numbers(key: str) -> tuple[int, int]:
    provider, _, capability = key.partition(".")
    return int(provider), int(capability)


def _link(link: Link | None) -> dict[str, Any]:
    if link is None:
        return {"kind": _LEADER}
    provider, capability = _numbers(link.match)
    return {
        "kind": link.kind,
        "score": link.score,
        "match_provider": provider,
        "match_capability": capability,
        "terms": " ".join(link.terms),
    }


def _change_file(history: History, folder: Path) -> str:
    """Return what changed, a row for each change of each capability in the report."""
    words = ("package", "status", "weight", "protocol", "component", "capability", "code", "message")
    columns = {**dict.fromkeys(words, "VARCHAR"), "resigned": "BOOLEAN"}
    return _lines(folder / "changes.jsonl", columns, _changes(history))


_WHOLE_APPS: Final = {"added": "the earlier catalog does not have the app", "removed": "the app is gone"}


def _changes(history: History) -> Iterator[dict[str, Any]]:
    for app in history.apps:
        whole = {
            "package": app.package,
            "status": app.status,
            "resigned": app.resigned,
            "weight": app.weight,
        }
        if app.unread is not None:
            yield {**whole, "status": "not-compared", "message": f"not compared: {app.unread}"}
        elif not app.providers:
            yield {**whole, "message": _WHOLE_APPS.get(app.status)}
        for provider in app.providers:
            placed = {**whole, "protocol": provider.protocol, "component": provider.component}
            subjects = [
                (None, provider.changes),
                *((capability.id, capability.changes) for capability in provider.capabilities),
            ]
            for subject, changes in subjects:
                for change in changes:
                    values = {"weight": change.weight.value, "code": change.code, "message": change.message}
                    yield {**placed, "capability": subject, **values}


def _lines(path: Path, columns: Mapping[str, str], rows: Iterable[Mapping[str, Any]]) -> str:
    """Write rows as JSON lines, and return what DuckDB calls them."""
    with path.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    listed = ", ".join(f"{quoted(name)}: {quoted(kind)}" for name, kind in columns.items())
    return f"read_json({quoted(str(path))}, format = 'newline_delimited', columns = {{{listed}}})"

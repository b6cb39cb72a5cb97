"""The figures of a catalog, as DuckDB counts them: apps, what they declare, and how it is reached.

Everything here works on tables of numbers next to the catalog's views in one connection:

- `entry`: an app, or a descriptor without an app; `latest` marks the newest one of each identity
  (application id, else source);
- `provider_fact` and `capability_fact`: what decides reach, with the entry;
- `standing` and `cell`: what many capabilities share in that, and how each agent reaches it (`reach.py`);
- `entry_standing`: how many capabilities of an entry have which standing.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final, Self, TypeVar

from droidgate.coverage.conversions import LEVELS
from droidgate.coverage.coverage_document import (
    REACHES,
    AgentReach,
    Counted,
    FidelityCell,
    Overlap,
    ProtocolCount,
    ReachProfile,
    Totals,
)
from droidgate.coverage.reach import ReachFacts, Reaching, reach_of_app
from droidgate.sources.build_layout import BUILD_STATEMENT_UNREAD, PROJECT_NOT_MERGED
from droidgate.sources.catalogs.catalog import UNCONVERTED, Catalog, quoted
from droidgate.sources.catalogs.catalog_rows import read_part
from droidgate.sources.file_reader import UNREAD_FILE
from droidgate.sources.source_code import CAPABILITIES_NOT_FOUND
from droidgate_android.projects.android_project import UNREADABLE_LIBRARY
from droidgate_mappings.formats.format import load_formats
from droidgate_mappings.formats.leniency import DECLARATION_UNREAD
from droidgate_mappings.formats.reachability import NOT_INDEXED, ComponentFacts, Gate, GateState, Protection
from droidgate_mappings.model.capability import CapabilityAccess, Provider
from droidgate_mappings.model.findings import Level
from droidgate_mappings.model.types import Frozen
from droidgate_mappings.tables.reach import AgentKind, load_gates, load_reach

MOST_REASONS: Final = 12
MOST_NAMED_PERMISSIONS: Final = 100
MOST_SETS: Final = 40

_MEMORY: Final = "1500MB"
_HIDING_CODES: Final = (
    CAPABILITIES_NOT_FOUND,
    DECLARATION_UNREAD,
    UNREADABLE_LIBRARY,
    PROJECT_NOT_MERGED,
    BUILD_STATEMENT_UNREAD,
    UNREAD_FILE,
)
"""Findings about parts of an app that were not read, and may declare something."""

_BETWEEN: Final = "\x1f"
_UNKNOWN: Final = "\x1e"


_Part = TypeVar("_Part", bound=Frozen)


def unread_parts(codes: Iterable[str], prefix: str = "") -> str:
    """Return the query for the parts of units that were not read.

    Args:
        codes: The findings that report such a part; each problem does.
        prefix: What the names of the catalog's tables begin with.
    """
    listed = ", ".join(map(quoted, sorted(codes)))
    return (
        f"SELECT unit, place, message FROM {prefix}problems UNION ALL "
        f"SELECT unit, place, message FROM {prefix}findings WHERE code IN ({listed})"
    )


class Figures:
    """One connection to a catalog with the tables above; use it as a context, so that it is closed."""

    def __init__(self, catalog: Catalog) -> None:
        """Open a catalog.

        Args:
            catalog: The catalog.

        Raises:
            UsageError: DuckDB is not installed.
            InputError: the catalog cannot be read.
        """
        self._folder = tempfile.TemporaryDirectory(prefix="droidgate-")
        self.catalog = catalog
        self.connection: Any = catalog.connect()
        if self.row(f"SELECT count(*) FROM {UNCONVERTED}")[0]:
            from droidgate.coverage.conversion_table import complete_conversions

            self.connection.close()
            self.catalog = complete_conversions(catalog, Path(self._folder.name))
            self.connection = self.catalog.connect()
        self.connection.execute(f"SET memory_limit = '{_MEMORY}'")
        self.connection.execute(f"SET temp_directory = {quoted(self._folder.name)}")
        self.connection.execute("SET preserve_insertion_order = false")
        self._targets = [agent.target for agent in load_reach().agents if agent.target is not None]
        self.profiles: tuple[ReachProfile, ...] = ()
        self._prepare()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.connection.close()
        self._folder.cleanup()

    def rows(self, statement: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Return what a query gives."""
        rows: list[tuple[Any, ...]] = self.connection.execute(statement, list(parameters)).fetchall()
        return rows

    def records(self, statement: str, parameters: Sequence[Any] = ()) -> list[dict[str, Any]]:
        """Return what a query gives, each row by the names of its columns."""
        result = self.connection.execute(statement, list(parameters))
        names = [name for name, *_ in result.description]
        return [dict(zip(names, row, strict=True)) for row in result.fetchall()]

    def read(self, model: type[_Part], statement: str) -> tuple[_Part, ...]:
        """Return what a query gives as parts of a report, whose fields its columns are named after."""
        return tuple(model(**record) for record in self.records(statement))

    def row(self, statement: str) -> tuple[Any, ...]:
        """Return the only row that a query gives."""
        return self.rows(statement)[0]

    def _prepare(self) -> None:
        self._name_forms()
        self._run(_ENTRIES)
        self._run(_PROVIDER_FACTS)
        self._run(_capability_facts(self._targets))
        self._judge()

    def _run(self, statements: str) -> None:
        for part in statements.split(";\n"):
            if part.strip():
                self.connection.execute(part)

    def fill(self, table: str, columns: str, rows: Iterable[Sequence[Any]]) -> None:
        """Make a table of a few rows, over one of that name."""
        self.connection.execute(f"CREATE OR REPLACE TABLE {table} ({columns})")
        listed = [list(row) for row in rows]
        if listed:
            marks = ", ".join("?" * len(listed[0]))
            self.connection.executemany(f"INSERT INTO {table} VALUES ({marks})", listed)

    def _name_forms(self) -> None:
        """Make a table of how each dialect that occurs is called."""
        formats, reach = load_formats(), load_reach()
        rows = []
        for protocol, dialect in self.rows("SELECT DISTINCT protocol, dialect FROM providers"):
            format_ = formats.get(protocol)
            tables = (
                {}
                if format_ is None
                else {dialect_table.id: dialect_table for dialect_table in format_.dialects}
            )
            interface = reach.interface(tables[dialect].interface if dialect in tables else None)
            is_silent = (
                format_ is not None
                and format_.phones.found_by is not None
                and format_.phones.found_by(Provider(protocol=protocol, dialect=dialect)) is not None
            )
            names = (None,) * 3 if interface is None else _names_of(interface)
            rows.append((protocol, dialect, *names, is_silent))
        texts = ("protocol", "dialect", "interface", "action", "own")
        self.fill("form", ", ".join(f"{text} VARCHAR" for text in texts) + ", silent BOOLEAN", rows)

    def _judge(self) -> None:
        """Number the standings, and say how each agent reaches them."""
        keys = [
            key
            for (key,) in self.rows(
                "SELECT key FROM (SELECT DISTINCT key FROM capability_fact UNION "
                "SELECT DISTINCT key FROM provider_fact WHERE is_silent) ORDER BY key"
            )
        ]
        reaching = Reaching()
        judged = [reaching.cells(self._reach_facts(key)) for key in keys]
        numbers = {cells: number for number, cells in enumerate(dict.fromkeys(judged))}
        self.profiles = tuple(ReachProfile(cells=cells) for cells in numbers)
        keyed = [(key, numbers[cells]) for key, cells in zip(keys, judged, strict=True)]
        self.fill("standing", "key VARCHAR, s INTEGER", keyed)
        cells_of_profiles = [
            (number, agent, REACHES.index(cell.reach))
            for cells, number in numbers.items()
            for agent, cell in enumerate(cells)
        ]
        self.fill("cell", "s INTEGER, agent INTEGER, reach INTEGER", cells_of_profiles)
        bare = [
            (has_launcher, number, REACHES.index(reach_of_app(has_launcher, agent.uses_screens).reach))
            for number, agent in enumerate(load_reach().agents)
            for has_launcher in (False, True)
        ]
        self.fill("bare", "has_launcher BOOLEAN, agent INTEGER, reach INTEGER", bare)
        self._run(_ENTRY_STANDINGS)

    def _reach_facts(self, key: str) -> ReachFacts:
        parts: list[str | None] = [None if part == _UNKNOWN else part for part in key.split(_BETWEEN)]
        interface, launcher, *facts, sdk = parts[:11]
        access, is_enabled, shut, *levels = parts[11:]
        return ReachFacts(
            interface=interface,
            has_launcher=launcher == "true",
            component=_component_of(facts),
            access=read_part(CapabilityAccess, access or "{}"),
            is_enabled=None if is_enabled is None else is_enabled == "true",
            levels={
                target: level
                for target, level in zip(self._targets, levels, strict=False)
                if level is not None
            },
            sdk_full=sdk,
            read=() if shut is None else (Gate(shut, GateState.SHUT, _SHUT_GATES[shut]),),
        )

    def totals(self) -> Totals:
        """Return the figures that a report begins with."""
        (totals,) = self.read(Totals, _TOTALS)
        return totals

    def protocols(self) -> tuple[ProtocolCount, ...]:
        """Return how often each dialect occurs."""
        formats = load_formats()
        return tuple(
            ProtocolCount(title=formats[protocol].title if protocol in formats else protocol, **record)
            for record in self.records(
                "SELECT protocol, dialect, count(DISTINCT entry) AS apps, count(*) AS providers, "
                "sum(capabilities)::BIGINT AS capabilities FROM provider_fact GROUP BY ALL ORDER BY ALL"
            )
            for protocol in (record["protocol"],)
        )

    def overlap(self) -> tuple[Overlap, ...]:
        """Return the apps by the set of their protocols."""
        return self.read(
            Overlap,
            "SELECT protocols, count(*) AS apps, sum(capabilities)::BIGINT AS capabilities FROM entry_sum "
            "WHERE providers > 0 OR NOT unread "
            f"GROUP BY protocols ORDER BY apps DESC, protocols LIMIT {MOST_SETS}",
        )

    def reach(self) -> tuple[AgentReach, ...]:
        """Return what each kind of agent reaches."""
        counts = dict(self.rows("SELECT s, sum(n)::BIGINT FROM entry_standing GROUP BY s HAVING sum(n) > 0"))
        apps = {
            (agent, reach): count
            for agent, reach, count in self.rows(
                "SELECT agent, best, count(*) FROM entry_best JOIN entry_sum USING (entry) "
                "WHERE providers > 0 OR NOT unread GROUP BY agent, best"
            )
        }
        return tuple(
            self._reach_of(
                number,
                agent,
                counts,
                [apps.get((number, at), 0) for at in range(len(REACHES))],
            )
            for number, agent in enumerate(load_reach().agents)
        )

    def _reach_of(self, number: int, agent: AgentKind, counts: dict[int, int], apps: list[int]) -> AgentReach:
        by_reach = dict.fromkeys(REACHES, 0)
        levels: dict[str, int] = {}
        reasons: dict[str, int] = {}
        for reach_facts, count in counts.items():
            cell = self.profiles[reach_facts].cells[number]
            by_reach[cell.reach] += count
            reasons[cell.reason] = reasons.get(cell.reason, 0) + count
            if cell.reach == "gateway":
                level = cell.level or "unknown"
                levels[level] = levels.get(level, 0) + count
        scale = (*LEVELS, "unknown")
        return AgentReach(
            agent=agent.id,
            apps=_four_counts(apps),
            capabilities=_four_counts(by_reach.values()),
            levels=tuple(Counted(name=item, count=levels[item]) for item in scale if item in levels),
            reasons=most_frequent(reasons)[:MOST_REASONS],
        )

    def fidelity(self) -> tuple[FidelityCell, ...]:
        """Return what a conversion costs from each dialect to each target."""
        counts: dict[tuple[str, str | None, str], list[int]] = {}
        security: dict[tuple[str, str | None, str], int] = {}
        for protocol, dialect, target, level, count, open_count in self.rows(
            "SELECT protocol, dialect, target, level, sum(n)::BIGINT, sum(security)::BIGINT FROM "
            "(SELECT unit, provider, target, level, count(*) AS n, "
            "count(*) FILTER (security > 0) AS security FROM conversions GROUP BY ALL) "
            "JOIN provider_fact USING (unit, provider) GROUP BY ALL ORDER BY ALL"
        ):
            key = (protocol, dialect, target)
            counts.setdefault(key, [0] * len(LEVELS))[LEVELS.index(level)] = count
            security[key] = security.get(key, 0) + open_count
        return tuple(
            FidelityCell(
                protocol=protocol,
                dialect=dialect,
                target=target,
                levels=tuple(levels),
                security=security[protocol, dialect, target],
            )
            for (protocol, dialect, target), levels in counts.items()
        )


_TOTALS: Final = """
SELECT count(*) AS apps, count(*) FILTER (kind = 'descriptor') AS descriptors,
    (SELECT count(*) FROM entry WHERE NOT latest) AS repeated_apps,
    count(*) FILTER (providers > 0) AS declaring_apps, count(*) FILTER (silent) AS silent_apps,
    count(*) FILTER (providers = 0 AND NOT unread AND has_launcher) AS ui_only_apps,
    count(*) FILTER (providers = 0 AND NOT unread AND NOT has_launcher) AS mute_apps,
    count(*) FILTER (providers = 0 AND unread) AS unread_apps,
    count(*) FILTER (len(protocols) > 1) AS several_protocols_apps,
    coalesce(sum(providers), 0)::BIGINT AS providers,
    (SELECT count(*) FROM capability_fact) AS capabilities,
    (SELECT count(*) FROM capabilities WHERE len(variants) > 0) AS variant_capabilities,
    (SELECT coalesce(sum(tokens), 0)::BIGINT FROM capability_fact) AS tokens
FROM entry_sum
"""


def most_frequent(counts: dict[str, int]) -> tuple[Counted, ...]:
    """Return counted words, the most frequent first."""
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return tuple(Counted(name=name, count=count) for name, count in ordered)


def _component_of(parts: Sequence[str | None]) -> ComponentFacts:
    kind, app_enabled, enabled, enabled_in, exported, action, permission, protection = parts
    return ComponentFacts(
        kind=kind,
        is_app_enabled=app_enabled == "true",
        is_enabled=enabled == "true",
        enabled_in=enabled_in,
        is_exported=exported == "true",
        has_action=action == "true",
        permission=permission,
        protection=Protection.UNKNOWN if protection is None else Protection(protection),
    )


def _names_of(interface: Any) -> tuple[str, str | None, str | None]:
    return interface.id, interface.action_text, interface.permission_text


def _four_counts(counts: Iterable[int]) -> tuple[int, int, int, int]:
    first, second, third, fourth = counts
    return first, second, third, fourth


_ENTRIES: Final = """
CREATE TABLE found AS SELECT unit, min(source) AS source, list(source ORDER BY source)[1:5] AS listed
    FROM sources WHERE unit IS NOT NULL GROUP BY unit;
CREATE TABLE entry AS
    SELECT (
            row_number() OVER (ORDER BY package NULLS LAST, version_code, source, unit, app) - 1
        )::INTEGER AS entry,
        (row_number() OVER (PARTITION BY coalesce(package, source, unit), kind
            ORDER BY version_code DESC NULLS LAST, unit, app) = 1) AS latest,
        coalesce(package, source, unit) AS identity, *
    FROM (
        SELECT 'app' AS kind, unit, app, package, label, description, version_name, version_code,
            minimum_sdk, target_sdk, signers, signers_verified, coalesce(enabled, TRUE) AS enabled,
            has_launcher AND coalesce(enabled, TRUE) AS has_launcher, sdk
        FROM apps
        UNION ALL
        SELECT 'descriptor', unit, NULL, min(package), min(name), min(description), NULL, NULL,
            NULL, NULL, [], NULL, TRUE, FALSE, NULL
        FROM providers WHERE app IS NULL AND unit NOT IN (SELECT unit FROM apps) GROUP BY unit
    ) LEFT JOIN found USING (unit);
CREATE TABLE first_entry AS SELECT unit, min(app) AS app, min(entry) AS entry, count(*) AS entries
    FROM entry GROUP BY unit;
"""

_KEY: Final = """
    coalesce(f.interface, chr(30)) || chr(31) || e.has_launcher
    || chr(31) || coalesce(p.component_kind, chr(30))
    || chr(31) || e.enabled
    || chr(31) || coalesce(p.enabled, TRUE)
    || chr(31) || coalesce(p.enabled_in, chr(30))
    || chr(31) || coalesce(p.exported, TRUE)
    || chr(31) || (p.component_kind IS NULL OR f.action IS NULL OR list_contains(p.actions, f.action))
    || chr(31) || CASE WHEN p.permission IS NULL THEN chr(30)
        WHEN p.permission = f.own OR named.permission IS NOT NULL THEN p.permission ELSE '' END
    || chr(31) || coalesce(p.protection, chr(30))
    || chr(31) || coalesce(e.sdk::VARCHAR, chr(30))
"""

# Each name makes standings of its own, so only the most frequent permissions keep theirs.
_PROVIDER_FACTS: Final = f"""
CREATE TABLE named_permission AS SELECT permission FROM providers
    WHERE regexp_full_match(permission, '[A-Za-z0-9_.-]{{1,200}}')
    GROUP BY permission ORDER BY count(*) DESC, permission LIMIT {MOST_NAMED_PERMISSIONS};
CREATE TABLE provider_fact AS
    SELECT (row_number() OVER (ORDER BY e.entry, p.provider) - 1)::INTEGER AS p, p.unit, p.provider, e.entry,
        p.protocol, p.dialect, f.interface, p.capabilities, p.capabilities = 0 AND f.silent AS is_silent,
        {_KEY} AS facts, concat_ws(chr(31), facts, '{{}}', chr(30), chr(30)) AS key
    FROM providers p
    LEFT JOIN named_permission named ON named.permission = p.permission
    JOIN form f ON f.protocol = p.protocol AND f.dialect IS NOT DISTINCT FROM p.dialect
    JOIN first_entry o ON o.unit = p.unit
    JOIN entry e ON e.unit = p.unit AND e.app IS NOT DISTINCT FROM coalesce(p.app, o.app)
"""


_SHUT_GATES: Final = {
    "indexed": NOT_INDEXED,
    "signature": "the agents' library cannot read its signature",
}
"""The gates that findings shut to a capability, with the words of a report."""


def _capability_facts(targets: Sequence[str]) -> str:
    levels = ", ".join(
        f"max(level) FILTER (target = {quoted(target)}) AS level_{number}"
        for number, target in enumerate(targets)
    )
    key = "".join(f" || chr(31) || coalesce(x.level_{number}, chr(30))" for number in range(len(targets)))
    listed = ", ".join(map(quoted, targets))
    gate = " ".join(
        f"WHEN code IN ({', '.join(map(quoted, load_gates()[gate].codes))}) THEN {quoted(gate)}"
        for gate in _SHUT_GATES
    )
    return f"""
CREATE TABLE shut_gate AS SELECT unit, provider, split_part(pointer, '/', 2) AS token, CASE {gate} END AS gate
    FROM findings WHERE gate IS NOT NULL AND level <> {quoted(Level.NOTE.value)};
CREATE TABLE converted AS SELECT unit, provider, capability, {levels} FROM conversions
    WHERE target IN ({listed}) GROUP BY ALL;
CREATE TABLE capability_fact AS
    SELECT p.p, c.capability, p.entry, c.token_estimate AS tokens,
        concat_ws(chr(31), p.facts, c.access, coalesce(c.enabled::VARCHAR, chr(30)),
            coalesce(list_min([own.gate, whole.gate]), chr(30))){key} AS key
    FROM capabilities c
    JOIN provider_fact p ON p.unit = c.unit AND p.provider = c.provider
    LEFT JOIN converted x ON x.unit = c.unit AND x.provider = c.provider AND x.capability = c.capability
    LEFT JOIN (SELECT unit, token, min(gate) AS gate FROM shut_gate WHERE token <> '' GROUP BY ALL) own
        ON own.unit = c.unit AND own.token = replace(replace(c.id, '~', '~0'), '/', '~1')
    LEFT JOIN (SELECT unit, provider, min(gate) AS gate FROM shut_gate WHERE token = '' GROUP BY ALL) whole
        ON whole.unit = c.unit AND whole.provider = c.provider;
DROP TABLE converted;
DROP TABLE shut_gate
"""


_ENTRY_STANDINGS: Final = f"""
CREATE TEMP VIEW unread_part AS {unread_parts(_HIDING_CODES)};
CREATE TABLE entry_standing AS
    SELECT entry, s, count(*) AS n FROM capability_fact JOIN standing USING (key) GROUP BY ALL
    UNION ALL
    SELECT DISTINCT entry, s, 0 FROM provider_fact JOIN standing USING (key) WHERE is_silent;
CREATE TABLE entry_sum AS
    SELECT e.entry, e.kind, e.has_launcher, count(p.p) AS providers,
        coalesce(list_sort(list(DISTINCT p.protocol) FILTER (p.protocol IS NOT NULL)), []) AS protocols,
        coalesce(bool_or(p.is_silent), FALSE) AS silent,
        e.unit IN (SELECT unit FROM unread_part) AS unread,
        coalesce(sum(p.capabilities), 0)::BIGINT AS capabilities
    FROM entry e LEFT JOIN provider_fact p USING (entry) GROUP BY ALL;
CREATE TABLE entry_reach AS
    SELECT entry, agent, reach, sum(n)::BIGINT AS n FROM entry_standing JOIN cell USING (s) GROUP BY ALL;
CREATE TABLE entry_best AS
    SELECT e.entry, b.agent, coalesce(min(r.reach), any_value(b.reach)) AS best
    FROM entry e JOIN bare b USING (has_launcher)
    LEFT JOIN entry_reach r ON r.entry = e.entry AND r.agent = b.agent
    GROUP BY e.entry, b.agent
"""

"""What changed between catalogs: apps and capabilities that came, went and changed, and the trend.

An app is known again by its application id, a descriptor without an app by its source, also where the
folder of all sources moved. Of several versions in one catalog the newest counts. What changed in an app is
found by `droidgate_mappings.compare`, as `droidgate diff` does; only apps whose declarations have another
digest, or whose permissions other apps can hold, are compared. Certificates are compared where both catalogs
have them; where only one of the two signatures is right, the signer is another.

What one catalog may have in a source, or in a part of one, that could not be read is not compared. An unread
source may hold an app that was found under its name in the other catalog, or, where the other catalog does
not have its name, any app of a source with the same ending.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import groupby, takewhile
from typing import Any, Final, Literal, TypeAlias

from droidgate.coverage.coverage_document import (
    ChangeCounts,
    ChangedApp,
    ChangedCapability,
    ChangedProvider,
    Counted,
    History,
    TrendPoint,
)
from droidgate.coverage.figures import unread_parts
from droidgate.sources.catalogs.catalog import Catalog, quoted
from droidgate.sources.catalogs.catalog_rows import place_in, read_part
from droidgate.sources.differences import HIDING_CODES
from droidgate_mappings.compare import (
    WEIGHTS,
    CapabilityComparison,
    ProviderComparison,
    Unread,
    Weight,
    compare_sets,
)
from droidgate_mappings.model.capability import CapabilitySet, Provider
from droidgate_mappings.records import dataclass, field

MOST_APPS_LISTED: Final = 500
MOST_APPS_IN_FULL: Final = 200
MOST_CHANGES: Final = 20

_Status: TypeAlias = Literal["added", "removed", "changed", "not-compared"]

_AT_ONCE: Final = 200
_OLD, _NEW = 0, 1


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A catalog and what it is called."""

    name: str
    catalog: Catalog


def history_of(snapshots: Sequence[Snapshot]) -> History:
    """Return what changed from catalog to catalog.

    Args:
        snapshots: Two or more, the oldest first.

    Raises:
        UsageError: DuckDB is not installed.
        InputError: a catalog cannot be read.
    """
    points: list[TrendPoint] = []
    step: _Step | None = None
    for number, snapshot in enumerate(snapshots):
        is_last = number == len(snapshots) - 1
        step = (
            _Step.between(snapshots[number - 1].catalog, snapshot.catalog, keeps=is_last) if number else None
        )
        points.append(_point(snapshot, None if step is None else step.counts()))
    if step is None:
        message = "a history needs two catalogs"
        raise ValueError(message)
    apps = step.apps()
    return History(
        since=snapshots[-2].name,
        counts=step.counts(),
        apps=apps,
        left_out=step.concerned - len(apps),
        trend=tuple(points),
    )


def _point(snapshot: Snapshot, since_last: ChangeCounts | None) -> TrendPoint:
    connection = snapshot.catalog.connect()
    try:
        connection.execute(_entries_of("", "catalog_"))
        connection.execute(_declared_by("", "catalog_"))
        apps, declaring = connection.execute(
            "SELECT count(*), count(*) FILTER (declares) FROM catalog_entry WHERE latest"
        ).fetchone()
        providers = connection.execute("SELECT count(*) FROM catalog_declared").fetchone()[0]
        protocols = connection.execute(
            "SELECT protocol, sum(capabilities)::BIGINT AS n FROM catalog_declared GROUP BY protocol "
            "HAVING n > 0 ORDER BY protocol"
        ).fetchall()
    finally:
        connection.close()
    return TrendPoint(
        name=snapshot.name,
        apps=apps,
        declaring_apps=declaring,
        providers=providers,
        capabilities=sum(count for _, count in protocols),
        protocols=tuple(Counted(name=name, count=count) for name, count in protocols),
        since_last=since_last,
    )


def _entries_of(prefix: str, made: str) -> str:
    """Return the statement that makes the table of apps and lone descriptors of a catalog."""
    return f"""
CREATE TABLE {made}entry AS
    SELECT *, row_number() OVER (
            PARTITION BY identity ORDER BY version_code DESC NULLS LAST, unit, app
        ) = 1 AS latest
    FROM (
        SELECT coalesce(a.package, s.source, a.unit) AS identity, a.unit, a.app, a.label, a.signers,
            a.signers_verified, a.version_code, coalesce(a.version_name, a.version_code::VARCHAR) AS version,
            EXISTS (
                SELECT 1 FROM {prefix}providers p WHERE p.unit = a.unit AND coalesce(p.app, 0) = a.app
            ) AS declares
        FROM {prefix}apps a LEFT JOIN (
            SELECT unit, min(source) AS source FROM {prefix}sources WHERE unit IS NOT NULL GROUP BY unit
        ) s USING (unit)
        UNION ALL
        SELECT coalesce(any_value(s.source), p.unit), p.unit, NULL, min(p.name), [], NULL, NULL, NULL, TRUE
        FROM {prefix}providers p LEFT JOIN (
            SELECT unit, min(source) AS source FROM {prefix}sources WHERE unit IS NOT NULL GROUP BY unit
        ) s USING (unit)
        WHERE p.app IS NULL AND p.unit NOT IN (SELECT unit FROM {prefix}apps) GROUP BY p.unit
    )
"""


def _declared_by(prefix: str, made: str) -> str:
    """Return the statement that makes the table of what the newest entries declare."""
    return f"""
CREATE TABLE {made}declared AS
    SELECT e.identity, p.unit, p.provider, p.digest, p.protocol, p.capabilities,
        p.protocol || chr(31) || coalesce(p.component, '') || chr(31) || p.digest
            || chr(31) || coalesce(p.protection, '') AS mark
    FROM {prefix}providers p JOIN {made}entry e
        ON e.unit = p.unit AND e.latest AND (e.app IS NULL OR e.app = coalesce(p.app, 0))
"""


_MOVED: Final = """
UPDATE old_entry SET identity = moved.there FROM (
    SELECT o.identity AS here, $new || substr(o.identity, length($old) + 1) AS there
    FROM old_entry o WHERE o.app IS NULL AND o.identity NOT IN (SELECT identity FROM new_entry)
) moved
WHERE app IS NULL AND identity = moved.here AND $old <> $new
    AND moved.there IN (SELECT identity FROM new_entry WHERE app IS NULL)
    AND moved.there NOT IN (SELECT identity FROM old_entry)
"""
_READ_ENDING: Final = r"regexp_extract(name, '[.][^./]*$')"


def _unread_in(prefix: str, other: str) -> str:
    """Return the statements that make the table of apps that a catalog may have in an unread source.

    Args:
        prefix: The tables of that catalog.
        other: The tables of the catalog that has the apps.
    """
    return f"""
CREATE TABLE {prefix}hiding AS
    SELECT key, min(source) AS source, arg_min(reason, source) AS reason FROM (
        SELECT source, coalesce(reason, outcome) AS reason,
            CASE WHEN kind = 'installed' OR name IN (SELECT name FROM {other}named) THEN name
                ELSE '?' || {_READ_ENDING} END AS key
        FROM {prefix}named WHERE outcome NOT IN ('read', 'part', 'no-descriptor', 'left-out')
    ) GROUP BY key;
CREATE TABLE {prefix}hidden AS
    SELECT e.identity, min(u.source) AS source, arg_min(u.reason, u.source) AS reason
    FROM {other}entry e JOIN (
        SELECT unit, name AS key FROM {other}named
        UNION ALL
        SELECT unit, '?' || {_READ_ENDING} FROM {other}named WHERE kind <> 'installed'
    ) n USING (unit) JOIN {prefix}hiding u USING (key) GROUP BY e.identity
"""


_STATES: Final = """
CREATE TABLE state AS
    SELECT coalesce(o.identity, n.identity) AS identity,
        o.identity IS NOT NULL AS was, n.identity IS NOT NULL AS stays,
        o.label AS old_label, n.label AS new_label, o.version AS old_version, n.version AS new_version,
        coalesce(x.capabilities, 0)::BIGINT AS old_count, coalesce(y.capabilities, 0)::BIGINT AS new_count,
        coalesce(x.marks, '') <> coalesce(y.marks, '') AS differs,
        len(o.signers) > 0 AND len(n.signers) > 0 AND (
            list_sort(o.signers) <> list_sort(n.signers)
            OR coalesce(o.signers_verified, TRUE) <> coalesce(n.signers_verified, TRUE)
        ) AS resigned,
        CASE WHEN o.identity IS NULL THEN old_hidden.source || ': ' || old_hidden.reason
            WHEN n.identity IS NULL THEN new_hidden.source || ': ' || new_hidden.reason END AS unread
    FROM (SELECT * FROM old_entry WHERE latest) o
    FULL JOIN (SELECT * FROM new_entry WHERE latest) n USING (identity)
    LEFT JOIN old_marks x ON x.identity = o.identity LEFT JOIN new_marks y ON y.identity = n.identity
    LEFT JOIN old_hidden ON old_hidden.identity = n.identity
    LEFT JOIN new_hidden ON new_hidden.identity = o.identity
"""
_COUNTS: Final = tuple(name for name in ChangedApp.model_fields if name.startswith("capabilities_"))
_CHANGED: Final = """
SELECT s.identity, d.side, d.declaration, d.places FROM state s JOIN (
    SELECT 0 AS side, o.identity, o.unit, o.provider, p.declaration, l.places
        FROM old_declared o JOIN old_providers p USING (unit, provider)
        LEFT JOIN old_places l USING (unit, provider)
    UNION ALL
    SELECT 1, n.identity, n.unit, n.provider, p.declaration, l.places
        FROM new_declared n JOIN new_providers p USING (unit, provider)
        LEFT JOIN new_places l USING (unit, provider)
) d USING (identity)
WHERE s.was AND s.stays AND s.differs ORDER BY s.identity, d.side, d.provider
"""


def _parts_in(prefix: str) -> str:
    """Return the statement that makes the table of the parts not read of apps that declare otherwise."""
    return f"""
CREATE TABLE {prefix}part AS SELECT DISTINCT e.identity, n.source, n.kind, t.place, t.message
FROM state s JOIN {prefix}entry e USING (identity) JOIN (
    {unread_parts(HIDING_CODES, prefix)}
) t USING (unit) JOIN (
    SELECT unit, min(source) AS source, arg_min(kind, source) AS kind FROM {prefix}sources GROUP BY unit
) n USING (unit)
WHERE e.latest AND s.was AND s.stays AND s.differs
"""


def _places_in(prefix: str) -> str:
    """Return the statement that makes the table of the places of capabilities of apps with such parts."""
    return f"""
CREATE TABLE {prefix}places AS SELECT d.unit, d.provider, list(c.place ORDER BY c.capability) AS places
FROM {prefix}declared d JOIN {prefix}capabilities c USING (unit, provider)
WHERE d.identity IN (SELECT identity FROM old_part UNION SELECT identity FROM new_part) GROUP BY ALL
"""


@dataclass(slots=True)
class _Step:
    """What changed from one catalog to the next, counted as it is found."""

    keeps: bool
    figures: dict[str, int] = field(default_factory=lambda: dict.fromkeys(ChangeCounts.model_fields, 0))
    concerned: int = 0
    _heavy: list[tuple[tuple[int, int, str], ChangedApp]] = field(default_factory=list)
    _facts: dict[str, Sequence[Any]] = field(default_factory=dict)

    @classmethod
    def between(cls, old: Catalog, new: Catalog, *, keeps: bool) -> _Step:
        step = cls(keeps)
        with tempfile.TemporaryDirectory(prefix="droidgate-") as folder, closing(new.connect()) as connection:
            connection.execute(f"SET temp_directory = {quoted(folder)}")
            _join(connection, old, new)
            step._count_whole(connection)
            unread = {side: _unread_parts(connection, side) for side in ("old_", "new_")}
            for identity, before, after in _changed_apps(connection):
                step._compare(
                    identity, before, after, *(unread[side].get(identity, []) for side in ("old_", "new_"))
                )
        return step

    def counts(self) -> ChangeCounts:
        return ChangeCounts(**self.figures)

    def apps(self) -> tuple[ChangedApp, ...]:
        """Return the apps that are listed, the heaviest changes first."""
        self._heavy.sort(key=lambda item: item[0])
        listed_apps = [item for _, item in self._heavy[:MOST_APPS_LISTED]]
        return tuple(
            item if at < MOST_APPS_IN_FULL else item.changed({"providers": ()})
            for at, item in enumerate(listed_apps)
        )

    def _add(self, **counts: int) -> None:
        for name, count in counts.items():
            self.figures[name] += count

    def _count_whole(self, connection: Any) -> None:
        """Count apps that came, went or have other signers, and capabilities of those that are as before."""
        (unchanged,) = connection.execute(
            "SELECT coalesce(sum(new_count) FILTER (was AND stays AND NOT differs), 0)::BIGINT FROM state"
        ).fetchone()
        self._add(unchanged=unchanged)
        rows = connection.execute(
            "SELECT identity, coalesce(new_label, old_label), old_version, new_version, "
            "coalesce(resigned, FALSE), was, stays, differs, old_count, new_count, unread "
            "FROM state WHERE was <> stays OR resigned OR differs"
        )
        for identity, *facts, was, stays, differs, old_count, new_count, unread in _fetch_rows(rows):
            self._add(apps_resigned=facts[-1])
            if was and stays and differs:
                self._facts[identity] = facts
            elif was and stays:
                self._keep(identity, facts, "changed")
            elif unread is not None:
                self._add(apps_not_compared=1)
                weight = Weight.NOT_DECIDED if old_count else None
                not_compared = {"capabilities_not_compared": old_count + new_count}
                self._keep(identity, facts, "not-compared", weight, not_compared, unread)
            elif was:
                self._add(apps_removed=1, breaking=old_count)
                weight = Weight.BREAKING if old_count else None
                self._keep(identity, facts, "removed", weight, {"capabilities_removed": old_count})
            else:
                self._add(apps_added=1)
                weight = Weight.COMPATIBLE if new_count else None
                self._keep(identity, facts, "added", weight, {"capabilities_added": new_count})

    def _compare(
        self,
        identity: str,
        before: list[Provider],
        after: list[Provider],
        unread_old: list[Unread],
        unread_new: list[Unread],
    ) -> None:
        comparison = compare_sets(
            CapabilitySet(providers=tuple(before)),
            CapabilitySet(providers=tuple(after)),
            unread_old=unread_old,
            unread_new=unread_new,
        )
        missing = [item.missing_from for item in comparison.not_compared]
        changed = [
            capability
            for provider in comparison.providers
            for capability in provider.capabilities
            if capability.status == "changed"
        ]
        common = comparison.unchanged_capabilities + len(changed)
        added = sum(len(item.capabilities) for item in after) - common - missing.count("old")
        removed = sum(len(item.capabilities) for item in before) - common - missing.count("new")
        weights = [_weight_for_callers(item) for item in changed]
        self._add(
            breaking=removed + weights.count(Weight.BREAKING) + weights.count(Weight.NOT_DECIDED),
            compatible=weights.count(Weight.COMPATIBLE),
            text_only=weights.count(Weight.TEXT_ONLY),
            security=sum(change.weight is Weight.SECURITY for change in comparison.all_changes()),
            unchanged=comparison.unchanged_capabilities,
        )
        if comparison.providers:
            self._add(apps_changed=1)
        elif missing:
            self._add(apps_not_compared=1)
        facts = self._facts[identity]
        # The order of tools does not change what is declared; their signer is reported all the same.
        if comparison.providers or missing or facts[-1]:
            status: _Status = "changed" if comparison.providers or not missing else "not-compared"
            counts = {
                "capabilities_added": added,
                "capabilities_removed": removed,
                "capabilities_changed": len(changed),
                "capabilities_not_compared": len(missing),
            }
            unread = next((f"{item.place}: {item.reason}" for item in comparison.not_compared), None)
            self._keep(identity, facts, status, comparison.weight(), counts, unread, comparison.providers)

    def _keep(
        self,
        identity: str,
        facts: Sequence[Any],
        status: _Status,
        weight: Weight | None = None,
        counts: dict[str, int] | None = None,
        unread: str | None = None,
        providers: Sequence[ProviderComparison] = (),
    ) -> None:
        """Count an app, and keep it if it is one of the heaviest."""
        counts = dict.fromkeys(_COUNTS, 0) | (counts or {})
        self._add(**counts)
        self.concerned += 1
        if not self.keeps:
            return
        label, old_version, new_version, resigned = facts
        rank = len(WEIGHTS) if resigned else -1 if weight is None else WEIGHTS.index(weight)
        app = ChangedApp(
            package=identity,
            label=label,
            status=status,
            old_version=old_version,
            new_version=new_version,
            weight=None if weight is None else weight.value,
            unread=unread,
            resigned=resigned,
            providers=tuple(map(_provider, providers)),
            **counts,
        )
        self._heavy.append(((-rank, -sum(counts.values()), identity), app))
        if len(self._heavy) > 2 * MOST_APPS_LISTED:
            self._heavy.sort(key=lambda item: item[0])
            del self._heavy[MOST_APPS_LISTED:]


def _weight_for_callers(capability: CapabilityComparison) -> Weight:
    """Return the heaviest weight of a changed capability; an opened access rule keeps its callers."""
    weights = [
        Weight.COMPATIBLE if change.weight is Weight.SECURITY else change.weight
        for change in capability.changes
    ]
    return max(weights)


def _join(connection: Any, old: Catalog, new: Catalog) -> None:
    """Make views of both catalogs, whose tables were found readable, and a table of the state of each app."""
    connection.execute("SET memory_limit = '1500MB'")
    connection.execute("SET preserve_insertion_order = false")
    for prefix, catalog in (("old_", old), ("new_", new)):
        for table in ("sources", "apps", "providers", "capabilities", "problems", "findings"):
            connection.execute(f"CREATE VIEW {prefix}{table} AS SELECT * FROM {catalog.scan_of(table)}")
        connection.execute(_entries_of(prefix, prefix))
    folders = {prefix: _folder_of_all(connection, prefix) for prefix in ("old_", "new_")}
    # An old descriptor without an app is known again where the folder of all sources moved.
    connection.execute(_MOVED, {"old": folders["old_"], "new": folders["new_"]})
    for prefix, folder in folders.items():
        connection.execute(
            f"CREATE TABLE {prefix}named AS SELECT *, substr(source, length($folder) + 1) AS name "
            f"FROM {prefix}sources",
            {"folder": folder},
        )
    connection.execute(_unread_in("old_", "new_"))
    connection.execute(_unread_in("new_", "old_"))
    for prefix in ("old_", "new_"):
        connection.execute(_declared_by(prefix, prefix))
        connection.execute(
            f"CREATE TABLE {prefix}marks AS SELECT identity, sum(capabilities) AS capabilities, "
            f"md5(string_agg(mark, chr(30) ORDER BY mark)) AS marks FROM {prefix}declared GROUP BY identity"
        )
    connection.execute(_STATES)
    for statement in (_parts_in, _places_in):
        for prefix in ("old_", "new_"):
            connection.execute(statement(prefix))


def _folder_of_all(connection: Any, prefix: str) -> str:
    """Return the folder, with its slash, that all sources of a catalog are in; empty where there is none."""
    first, last = connection.execute(f"SELECT min(source), max(source) FROM {prefix}sources").fetchone()
    parts = zip((first or "").split("/")[:-1], (last or "").split("/")[:-1], strict=False)
    return "".join(f"{item}/" for item, _ in takewhile(lambda pair: pair[0] == pair[1], parts))


def _changed_apps(connection: Any) -> Iterator[tuple[str, list[Provider], list[Provider]]]:
    """Yield each app that declares otherwise with its providers, old and new."""
    for identity, rows in groupby(_fetch_rows(connection.execute(_CHANGED)), key=lambda row: row[0]):
        sides: tuple[list[Provider], list[Provider]] = ([], [])
        for _, side, declaration, places in rows:
            provider = read_part(Provider, declaration)
            if places is not None and len(places) == len(provider.capabilities):
                capabilities = (
                    capability.changed({"source": None if place is None else place_in("", "module", place)})
                    for capability, place in zip(provider.capabilities, places, strict=True)
                )
                provider = provider.changed({"capabilities": tuple(capabilities)})
            sides[side].append(provider)
        yield identity, sides[_OLD], sides[_NEW]


def _unread_parts(connection: Any, prefix: str) -> dict[str, list[Unread]]:
    """Return what was not read of each app that declares otherwise."""
    parts: dict[str, list[Unread]] = {}
    rows = connection.execute(f"SELECT * FROM {prefix}part ORDER BY ALL")
    for identity, source, kind, place, message in _fetch_rows(rows):
        shown = source if place is None else str(place_in(source, kind, place))
        whole = place is None or kind == "descriptor"
        parts.setdefault(identity, []).append(Unread(place=shown, reason=message, is_whole=whole))
    return parts


def _fetch_rows(result: Any) -> Iterator[tuple[Any, ...]]:
    while rows := result.fetchmany(_AT_ONCE):
        yield from rows


def _provider(comparison: ProviderComparison) -> ChangedProvider:
    return ChangedProvider(
        protocol=comparison.protocol,
        component=comparison.component,
        status=comparison.status,
        weight=comparison.weight.value,
        changes=comparison.changes[:MOST_CHANGES],
        capabilities=tuple(_capability(capability) for capability in comparison.capabilities),
    )


def _capability(capability_comparison: CapabilityComparison) -> ChangedCapability:
    return ChangedCapability(
        id=capability_comparison.id,
        status=capability_comparison.status,
        weight=capability_comparison.weight.value,
        changes=capability_comparison.changes[:MOST_CHANGES],
    )

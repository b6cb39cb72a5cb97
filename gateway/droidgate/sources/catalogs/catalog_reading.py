"""Reading a catalog as a source: the providers that a scan found, under the names of its sources."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from droidgate.sources.catalogs.catalog import Ask, Catalog
from droidgate.sources.catalogs.rows import CATALOG_FILE, place_in, read_part
from droidgate.sources.format_reading import ReadOptions
from droidgate.sources.source_results import Providers
from droidgate.sources.spelling import join_shown
from droidgate_mappings.formats.format import finder_of, load_formats
from droidgate_mappings.model.capability import Place, Provider, State
from droidgate_mappings.model.errors import BudgetError, InputError
from droidgate_mappings.model.findings import Finding, Level, finding_code

DECLARATIONS_ALONE: Final = finding_code(
    "catalog-without-apps",
    "A catalog has what apps declare; their manifests, resources, signatures and archives are not in it",
    __name__,
)

_MOST: Final = {"providers": 50_000, "capabilities": 50_000, "findings": 200_000, "problems": 200_000}
"""Rows of each table that are read into memory."""

_TOO_LARGE: Final = "ask it with `droidgate catalog sql`, or name fewer apps"
_BROKEN: Final = "scan the apps again into a new folder"
_COUNT: Final = "SELECT count(*) FROM {} JOIN sources USING (unit) WHERE outcome = 'read'"
_UNREAD: Final = """
SELECT source, coalesce(reason, outcome) FROM sources
WHERE outcome NOT IN ('read', 'no-descriptor', 'left-out') AND NOT (outcome = 'part' AND unit IS NOT NULL)
ORDER BY source
"""
_PROBLEMS: Final = """
SELECT s.source, s.kind, t.message, t.hint, t.place FROM problems t JOIN sources s USING (unit)
WHERE s.outcome = 'read' ORDER BY s.source, t.problem
"""
_PROVIDERS: Final = """
SELECT s.source, s.kind, t.unit, t.provider, t.protocol, t.declaration, t.place
FROM providers t JOIN sources s USING (unit) WHERE s.outcome = 'read' ORDER BY s.source, t.provider
"""
_CAPABILITIES: Final = "SELECT unit, provider, capability, enabled, place FROM capabilities"
_FINDINGS: Final = """
SELECT s.source, s.kind, t.origin, p.protocol, t.code, t.level, t.pointer, t.message, t.hint, t.rule,
    t.releases, t.place
FROM findings t JOIN sources s USING (unit) LEFT JOIN providers p USING (unit, provider)
WHERE s.outcome = 'read' AND t.origin IN ('reading', 'lint') ORDER BY s.source, t.finding
"""


def read_catalog(folder: Path, options: ReadOptions) -> Providers:
    """Return what the apps of a catalog declare, with what the scan found in them.

    Args:
        folder: The catalog's folder.
        options: The formats, and whether a leniency of the scan is an error.

    What a linter found is in `linted`. A provider that lists its capabilities only on a phone is not in a
    reading of its app's files, and is left out here as well.

    Raises:
        InputError: it is not a catalog or a broken one, or, in strict reading, the scan needed a leniency.
        BudgetError: it has more than fits into memory.
        UsageError: DuckDB is not installed.
    """
    catalog = Catalog.open(folder)
    with catalog.asking() as ask:
        reader = _CatalogReader(catalog, ask, {format_.id for format_ in options.formats})
        reader.check_size()
        read, linted = reader.findings("reading"), reader.findings("lint")
        lenient = next((finding for finding in read if finding.rule is not None), None)
        if options.strict and lenient is not None:
            place = None if lenient.source is None else str(lenient.source)
            raise InputError(f"{lenient.message} ({lenient.rule})", place=place, hint=lenient.hint)
        return Providers(
            providers=tuple(reader.providers()),
            findings=(*read, reader.report_missing()),
            files_read=(join_shown(str(folder), CATALOG_FILE),),
            problems=tuple(reader.problems()),
            linted=linted,
        )


@dataclass(frozen=True, slots=True)
class _CatalogReader:
    """Reads the tables of one catalog.

    Attributes:
        catalog: The catalog.
        ask: Asks it.
        protocols: Ids of the formats that are read.
    """

    catalog: Catalog
    ask: Ask
    protocols: Collection[str]

    def check_size(self) -> None:
        """Raise where the catalog has more than is read into memory.

        Raises:
            BudgetError: it has.
        """
        for table, most in _MOST.items():
            ((count,),) = self.ask(_COUNT.format(table))
            if count > most:
                message = f"the catalog has {count} {table}, and {most} are read at most"
                raise BudgetError(message, place=self._shown(""), hint=_TOO_LARGE)

    def providers(self) -> Iterator[Provider]:
        """Yield the providers of the chosen formats, with their places and what a phone reported of them."""
        capabilities: dict[tuple[str, int], dict[int, tuple[bool | None, str | None]]] = defaultdict(dict)
        for unit, number, position, enabled, place in self.ask(_CAPABILITIES):
            capabilities[unit, number][position] = enabled, place
        for source, kind, unit, number, protocol, declaration, place in self.ask(_PROVIDERS):
            if protocol not in self.protocols:
                continue
            provider = read_part(Provider, declaration)
            if provider.protocol != protocol:
                message = f"a row of the catalog for {protocol!a} holds a provider of {provider.protocol!a}"
                raise InputError(message, place=self._shown(source), hint=_BROKEN)
            if _is_silent(provider):
                continue
            rows = capabilities.get((unit, number), {})
            yield provider.model_copy(
                update={
                    "source": self._place(source, kind, place),
                    "capabilities": tuple(
                        capability.model_copy(
                            update=self._facts_of(source, kind, rows.get(position, (None, None)))
                        )
                        for position, capability in enumerate(provider.capabilities)
                    ),
                }
            )

    def _facts_of(self, source: str, kind: str, row: tuple[bool | None, str | None]) -> Mapping[str, Any]:
        enabled, place = row
        state = None if enabled is None else State(enabled=enabled)
        return {"source": self._place(source, kind, place), "state": state}

    def findings(self, origin: str) -> tuple[Finding, ...]:
        """Return what readers (`reading`) or linters (`lint`) of the chosen formats found.

        Raises:
            InputError: a row is not a finding.
        """
        found: dict[Finding, None] = {}
        names = ("code", "level", "pointer", "message", "hint", "rule", "releases")
        for source, kind, from_origin, protocol, *values, place in self.ask(_FINDINGS):
            if from_origin != origin or not (protocol is None or protocol in self.protocols):
                continue
            facts = {**dict(zip(names, values, strict=True)), "source": self._place(source, kind, place)}
            try:
                found[Finding.model_validate(facts)] = None
            except ValidationError:
                message = "a row of the catalog does not hold a finding"
                raise InputError(message, place=self._shown(source), hint=_BROKEN) from None
        return tuple(found)

    def problems(self) -> Iterator[InputError]:
        """Yield what the scan could not read, and formats that are not installed."""
        for source, reason in self.ask(_UNREAD):
            yield InputError(reason, place=self._shown(source))
        for source, kind, message, hint, place in self.ask(_PROBLEMS):
            at = self._place(source, kind, place)
            yield InputError(message, place=self._shown(source) if at is None else str(at), hint=hint)
        for (protocol,) in self.ask("SELECT DISTINCT protocol FROM providers ORDER BY protocol"):
            if protocol not in load_formats():
                message = f"the format {protocol!a} is not installed, and its providers are not read"
                yield InputError(message, place=self._shown(""))

    def report_missing(self) -> Finding:
        """Return what a catalog does not have."""
        ((left_out,),) = self.ask("SELECT count(*) FROM sources WHERE outcome = 'left-out'")
        shims = f"; {left_out} shims and other apps of droidgate were left out" if left_out else ""
        return Finding(
            code=DECLARATIONS_ALONE,
            level=Level.NOTE,
            pointer="",
            message="read from a catalog: manifests, resources, signatures and archives of the apps are not "
            f"in it, and lint findings are those of droidgate {self.catalog.droidgate}{shims}",
            source=Place(path=self._shown("")),
            hint="name the apps themselves to read them whole",
        )

    def _place(self, source: str, kind: str, place: str | None) -> Place | None:
        """Return a place of a row, which is relative to its source; None where the row has none."""
        return None if place is None else place_in(self._shown(source), kind, place)

    def _shown(self, source: str) -> str:
        """Return how a source of the catalog is called: with the catalog's name in front."""
        return join_shown(str(self.catalog.folder), source)


def _is_silent(provider: Provider) -> bool:
    """Return whether a provider lists its capabilities only on a phone, and files alone do not show it."""
    format_ = load_formats()[provider.protocol]
    return not provider.capabilities and format_.find_silent is not None and finder_of(provider) is not None

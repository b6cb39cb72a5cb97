"""Catalogs: folders with a Parquet dataset for each table, read by DuckDB (docs/reference/catalog.md), also
as a source: the providers that a scan found, under the names of its sources.
"""

from __future__ import annotations

import os
import threading
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final, Self

from pydantic import ValidationError

from droidgate.computer.optional_packages import need
from droidgate.computer.process_limits import usable_cores
from droidgate.sources.catalogs.catalog_files import CATALOG_FILE, LOG_FILE, catalog_folder
from droidgate.sources.catalogs.catalog_rows import (
    LEFT_OUT,
    OWN_APP,
    SCHEMA_VERSION,
    TABLES,
    place_in,
    read_part,
)
from droidgate.sources.folders import read_bytes
from droidgate.sources.format_reading import ReadOptions
from droidgate.sources.source_results import Providers
from droidgate_mappings.formats.format import found_by, load_formats
from droidgate_mappings.formats.installed import OWN_PREFIX, own_app
from droidgate_mappings.model.capability import Place, Provider, State
from droidgate_mappings.model.errors import BudgetError, InputError, UsageError, option_hint
from droidgate_mappings.model.findings import Finding, Level, finding_code
from droidgate_mappings.records import dataclass, replace
from droidgate_mappings.text.json_text import parse_json
from droidgate_mappings.text.shown_paths import join_shown, printable
from droidgate_mappings.timed_steps import timed_step

CATALOG_SCHEMA: Final = f"droidgate.catalog/{SCHEMA_VERSION}"

UNCONVERTED: Final = (
    "providers SEMI JOIN capabilities USING (unit, provider) ANTI JOIN conversions USING (unit, provider)"
)
"""Providers whose conversions are not in the table yet."""

_ROWS_AT_ONCE: Final = 10_000
_MOST_THREADS: Final = 4
_INTERRUPTED_EACH: Final = 0.2
_SCAN_ANEW: Final = "delete the folder and scan again, or scan into a new one"
_TABLES_HINT: Final = f"the tables are {', '.join(TABLES)}; `DESCRIBE apps` lists the columns of one"
_NO_TIME_ZONES: Final = "Required module 'pytz'"
_PROPOSALS: Final = ("Did you mean", "Candidate bindings:", "Either add it")

_OFFLINE: Final = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "allow_community_extensions": False,
    "python_enable_replacements": False,
}


Rows = Iterator[tuple[Any, ...]]
AskCatalog = Callable[[str], Rows]


@dataclass(frozen=True, slots=True)
class Catalog:
    """A catalog on disk.

    Attributes:
        folder: Its folder.
        droidgate: Version of the program that wrote it.
        targets: The dialects of its conversions.
        limits: What one input was allowed to take.
        rows: How many rows each table has.
        left_out: Units that its tables are read without; their sources have the outcome `left-out`.
        conversions: The file of all conversions where it is not in the folder.
    """

    folder: Path
    droidgate: str
    targets: tuple[str, ...]
    limits: dict[str, float]
    rows: dict[str, int]
    left_out: tuple[str, ...] = ()
    conversions: Path | None = None

    @classmethod
    def open(cls, folder: str | Path) -> Self:
        """Return the catalog of a folder, or of the `catalog.json` in it.

        Raises:
            InputError: it holds none, a broken one, or one of a version that is not known.
        """
        place = catalog_folder(str(folder)) or Path(folder)
        try:
            text = read_bytes(str(place / CATALOG_FILE), label=str(place))
        except InputError:
            if not os.path.exists(place / CATALOG_FILE):  # noqa: PTH110 - a name may be too long
                raise _no_catalog(place) from None
            raise
        try:
            facts = parse_json(text, path=CATALOG_FILE)
            schema = facts["schema"]
            if schema == CATALOG_SCHEMA:
                return cls(place, **_facts_of(facts))
        except (InputError, KeyError, TypeError, ValueError, AttributeError):
            file = printable(str(place / CATALOG_FILE))
            raise InputError("it is not a catalog", place=file, hint=_SCAN_ANEW) from None
        message = f"the catalog has the schema {schema!a}, and this droidgate reads {CATALOG_SCHEMA}"
        hint = "read it with the droidgate that wrote it, or scan into a new folder"
        raise InputError(message, place=printable(str(place)), hint=hint)

    def without_own_apps(self) -> Self:
        """Return the catalog without shims and other apps of droidgate itself.

        Raises:
            UsageError: DuckDB is not installed.
            InputError: the catalog cannot be read.
        """
        rows = self.read_rows(
            f"SELECT DISTINCT unit, package FROM apps WHERE starts_with(package, {quoted(OWN_PREFIX)})"
        )
        units = {unit for unit, package in rows if own_app(package) is not None}
        return replace(self, left_out=tuple(sorted(units)))

    def scan_of(self, table: str) -> str:
        """Return what DuckDB reads a table from: its files, each by its name, without units left out."""
        files = f"read_parquet([{', '.join(quoted(str(path)) for path in self.paths_of(table))}])"
        if not self.left_out:
            return files
        units = ", ".join(map(quoted, self.left_out))
        if table != "sources":
            return f"(SELECT * FROM {files} WHERE unit IS NULL OR unit NOT IN ({units}))"
        is_left_out = f"unit IS NOT NULL AND unit IN ({units})"
        return (
            f"(SELECT * REPLACE (if({is_left_out}, NULL, unit) AS unit, "
            f"if({is_left_out}, {quoted(LEFT_OUT)}, outcome) AS outcome, "
            f"if({is_left_out}, {quoted(OWN_APP)}, reason) AS reason) FROM {files})"
        )

    def paths_of(self, table: str) -> list[Path]:
        """Return a table's Parquet files."""
        if table == "conversions" and self.conversions is not None:
            return [self.conversions]
        return sorted((self.folder / table).glob("*.parquet"))

    def connect(self) -> Any:
        """Return a DuckDB connection in memory with a view for each table.

        Raises:
            UsageError: DuckDB is not installed.
            InputError: a table's files are gone or broken, or have other columns.
        """
        duckdb = need("duckdb", "coverage")
        place = printable(str(self.folder))
        check_name(self.folder)
        connection = duckdb.connect(":memory:", config=_OFFLINE)
        for name, table in TABLES.items():
            try:
                connection.execute(f"CREATE VIEW {name} AS SELECT * FROM {self.scan_of(name)}")
                described = connection.execute(f"DESCRIBE {name}").fetchall()
            except duckdb.Error as error:
                message = f"its table {name} cannot be read: {first_line(error)}"
                raise InputError(message, place=place, hint=_SCAN_ANEW) from None
            if [item[:2] for item in described] != [(column.name, column.type) for column in table.columns]:
                message = f"its table {name} has other columns than {CATALOG_SCHEMA} says"
                raise InputError(message, place=place, hint=_SCAN_ANEW)
        return connection

    def read_rows(self, sql: str) -> Rows:
        """Yield the rows that a query of ours gives.

        Raises:
            UsageError: DuckDB is not installed.
            InputError: the catalog cannot be read.
        """
        with self.asking() as ask:
            yield from ask(sql)

    @contextmanager
    def asking(self) -> Iterator[AskCatalog]:
        """Lend a function that asks queries of ours over one connection, in turn; as `read_rows`."""
        duckdb = need("duckdb", "coverage")

        def ask(sql: str) -> Rows:
            try:
                result = connection.execute(sql)
                while rows := result.fetchmany(_ROWS_AT_ONCE):
                    yield from rows
            except duckdb.Error as error:
                message = f"cannot be read: {first_line(error)}"
                raise InputError(message, place=printable(str(self.folder)), hint=_SCAN_ANEW) from None

        with closing(self.connect()) as connection:
            yield ask


def _facts_of(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return what `catalog.json` says.

    Raises:
        KeyError, TypeError, ValueError, AttributeError: it says something else.
    """
    version, targets = document["droidgate"], document["targets"]
    limits = dict(document["limits"].items())
    rows = {name: document["rows"][name] for name in TABLES}
    are_texts = isinstance(version, str) and all(isinstance(target, str) for target in targets)
    are_numbers = all(type(limit) in {int, float} for limit in limits.values())
    if not (are_texts and are_numbers and all(type(row) is int for row in rows.values())):
        raise TypeError
    limits = {name: float(limit) for name, limit in limits.items()}
    return {"droidgate": version, "targets": tuple(targets), "limits": limits, "rows": rows}


def _no_catalog(place: Path) -> InputError:
    shown_path = printable(str(place))
    if os.path.exists(place / LOG_FILE):  # noqa: PTH110
        hint = "its scan has not ended; run it again to go on"
        return InputError("the catalog is not finished", place=shown_path, hint=hint)
    message = "it is not a catalog" if os.path.exists(place) else "there is no such folder"  # noqa: PTH110
    hint = "name a catalog; `droidgate scan SRC --catalog DIR` makes one"
    return InputError(message, place=shown_path, hint=hint)


def check_name(folder: Path) -> None:
    """Refuse a folder whose path DuckDB cannot use: one that is not UTF-8, or has a `?` in it.

    Raises:
        InputError: DuckDB cannot use the path.
    """
    path = str(folder.absolute())
    place = printable(str(folder))
    try:
        path.encode()
    except UnicodeEncodeError:
        raise InputError("a catalog's folder must have a name in UTF-8", place=place) from None
    if "?" in path:
        raise InputError("a catalog's folder must have no `?` in its path", place=place)


def quoted(text: str) -> str:
    """Return a text as an SQL literal."""
    return "'" + text.replace("'", "''") + "'"


def first_line(error: Exception) -> str:
    """Return what an error of DuckDB says, in one line."""
    return str(error).strip().partition("\n")[0]


@dataclass(frozen=True, slots=True)
class Answered:
    """What a query gives: names and types of the columns, and the rows, which are made as they are taken."""

    columns: tuple[tuple[str, str], ...]
    rows: Iterator[tuple[Any, ...]]


@contextmanager
def query(
    catalog: Catalog, sql: str, *, memory: int | None = None, deadline: float | None = None
) -> Iterator[Answered]:
    """Ask a catalog one question, and hold the answer as long as its rows are taken.

    Only one SELECT is run (or what DuckDB treats as one: FROM, VALUES, DESCRIBE, SUMMARIZE), on files of this
    catalog only; no setting can be changed, nothing is written and no extension is loaded.

    Args:
        catalog: The catalog.
        sql: The question.
        memory: MiB that DuckDB may take, on few threads; None for what it takes by itself.
        deadline: Seconds until the query is interrupted, also while its rows are taken; None for never.

    Raises:
        BudgetError: it needs more memory, or takes longer.
        UsageError: it is something else, or DuckDB refuses it, also while rows are taken; DuckDB is not
            installed.
        InputError: the catalog cannot be read.
    """
    duckdb = need("duckdb", "coverage")
    try:
        sql.encode()
    except UnicodeEncodeError:
        raise UsageError("the query is not UTF-8") from None
    with closing(catalog.connect()) as connection, _interrupted_after(deadline, connection):
        if memory is not None:
            connection.execute(f"SET memory_limit = '{int(memory)}MiB'")
            connection.execute(f"SET threads = {min(_MOST_THREADS, usable_cores())}")
        _shut_in(connection, catalog)
        try:
            statements = connection.extract_statements(sql)
            if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
                raise UsageError("only one SELECT is run", hint=_TABLES_HINT)
            with timed_step("ask the catalog"):
                result = connection.execute(statements[0])
            columns = tuple((name, str(kind)) for name, kind, *_ in result.description)
            yield Answered(columns, rows_of(result))
        except duckdb.InterruptException:
            hint = option_hint("ask for less, or allow more with {}", "--deadline", "deadline=")
            raise BudgetError(f"the query takes more than {deadline:g} seconds", hint=hint) from None
        except duckdb.OutOfMemoryException:
            allowed = "" if memory is None else f" than {memory} MiB"
            hint = option_hint("ask for fewer rows, or allow more with {}", "--memory", "memory=")
            raise BudgetError(f"the query needs more memory{allowed}", hint=hint) from None
        except duckdb.Error as error:
            raise _refusal(error) from None


@contextmanager
def _interrupted_after(deadline: float | None, connection: Any) -> Iterator[None]:
    """Interrupt what a connection does when the time is over, again and again until it has ended."""
    if deadline is None:
        yield
        return
    ended = threading.Event()

    def interrupt() -> None:
        seconds = deadline
        while not ended.wait(seconds):
            connection.interrupt()
            seconds = _INTERRUPTED_EACH

    watcher = threading.Thread(target=interrupt, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        ended.set()
        watcher.join()


def rows_of(result: Any) -> Iterator[tuple[Any, ...]]:
    """Yield the rows that a query of DuckDB gives."""
    while rows := result.fetchmany(_ROWS_AT_ONCE):
        yield from rows


def _refusal(error: Exception) -> UsageError:
    """Return why a query is refused; the hint is DuckDB's own, or the tables where a name is wrong."""
    duckdb = need("duckdb", "coverage")
    if _NO_TIME_ZONES in str(error):
        return UsageError(
            "DuckDB cannot give a time with a zone here", hint="CAST(... AS VARCHAR) gives it as text"
        )
    lines = [line.strip() for line in str(error).splitlines()]
    proposals = (line.rstrip(".!") for line in lines if line.startswith(_PROPOSALS) and '"pg_' not in line)
    hint = next((text[0].lower() + text[1:] for text in proposals), None)
    if hint is None and isinstance(
        error, (duckdb.CatalogException, duckdb.BinderException, duckdb.ParserException)
    ):
        hint = _TABLES_HINT
    return UsageError(f"DuckDB refuses the query: {first_line(error)}", hint=hint)


def _shut_in(connection: Any, catalog: Catalog) -> None:
    """Let a connection read the files of a catalog and nothing else, for good."""
    files = [str(path) for name in TABLES for path in catalog.paths_of(name)]
    listed = ", ".join(map(quoted, files))
    connection.execute("SET temp_directory = ''")
    connection.execute(f"SET allowed_paths = [{listed}]")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")


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
SELECT s.source, s.kind, t.unit, t.provider, t.protocol, t.declaration, t.place, t.variants
FROM providers t JOIN sources s USING (unit) WHERE s.outcome = 'read' ORDER BY s.source, t.provider
"""
_CAPABILITIES: Final = "SELECT unit, provider, capability, enabled, place FROM capabilities"
_FINDINGS: Final = """
SELECT s.source, s.kind, t.origin, p.protocol, t.code, t.level, t.pointer, t.message, t.hint, t.rule,
    t.releases, t.variants, t.place
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
        declared = tuple(reader.providers())
        return Providers(
            providers=tuple(provider for provider, variants in declared if not variants),
            only_in_variants=tuple(each for each in declared if each[1]),
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
    ask: AskCatalog
    protocols: Collection[str]

    def check_size(self) -> None:
        """Raise where the catalog has more than is read into memory.

        Raises:
            BudgetError: the catalog is larger than the limit.
        """
        for table, most in _MOST.items():
            ((count,),) = self.ask(_COUNT.format(table))
            if count > most:
                message = f"the catalog has {count} {table}, and {most} are read at most"
                raise BudgetError(message, place=self._place_of(""), hint=_TOO_LARGE)

    def providers(self) -> Iterator[tuple[Provider, tuple[str, ...]]]:
        """Yield the providers of the chosen formats, with their places and what a phone reported of them.

        With each are the variants that alone have it.
        """
        capabilities: dict[tuple[str, int], dict[int, tuple[bool | None, str | None]]] = defaultdict(dict)
        for unit, number, position, enabled, place in self.ask(_CAPABILITIES):
            capabilities[unit, number][position] = enabled, place
        for source, kind, unit, number, protocol, declaration, place, variants in self.ask(_PROVIDERS):
            if protocol not in self.protocols:
                continue
            provider = read_part(Provider, declaration)
            if provider.protocol != protocol:
                message = f"a row of the catalog for {protocol!a} holds a provider of {provider.protocol!a}"
                raise InputError(message, place=self._place_of(source), hint=_BROKEN)
            if _is_silent(provider):
                continue
            rows = capabilities.get((unit, number), {})
            placed = provider.changed(
                {
                    "source": self._place(source, kind, place),
                    "capabilities": tuple(
                        capability.changed(self._facts_of(source, kind, rows.get(position, (None, None))))
                        for position, capability in enumerate(provider.capabilities)
                    ),
                }
            )
            yield placed, tuple(variants)

    def _facts_of(self, source: str, kind: str, row: tuple[bool | None, str | None]) -> Mapping[str, Any]:
        enabled, place = row
        state = None if enabled is None else State(enabled=enabled)
        return {"source": self._place(source, kind, place), "state": state}

    def findings(self, origin: str) -> tuple[Finding, ...]:
        """Return what readers (`reading`) or linters (`lint`) of the chosen formats found.

        Raises:
            InputError: a row is not a finding.
        """
        findings: dict[Finding, None] = {}
        names = ("code", "level", "pointer", "message", "hint", "rule", "releases", "variants")
        for source, kind, from_origin, protocol, *values, place in self.ask(_FINDINGS):
            if from_origin != origin or not (protocol is None or protocol in self.protocols):
                continue
            facts = {**dict(zip(names, values, strict=True)), "source": self._place(source, kind, place)}
            try:
                findings[Finding.model_validate(facts)] = None
            except ValidationError:
                message = "a row of the catalog does not hold a finding"
                raise InputError(message, place=self._place_of(source), hint=_BROKEN) from None
        return tuple(findings)

    def problems(self) -> Iterator[InputError]:
        """Yield what the scan could not read, and formats that are not installed."""
        for source, reason in self.ask(_UNREAD):
            yield InputError(reason, place=self._place_of(source))
        for source, kind, message, hint, place in self.ask(_PROBLEMS):
            at = self._place(source, kind, place)
            yield InputError(message, place=self._place_of(source) if at is None else str(at), hint=hint)
        for (protocol,) in self.ask("SELECT DISTINCT protocol FROM providers ORDER BY protocol"):
            if protocol not in load_formats():
                message = f"the format {protocol!a} is not installed, and its providers are not read"
                yield InputError(message, place=self._place_of(""))

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
            source=Place(path=self._place_of("")),
            hint="name the apps themselves to read them whole",
        )

    def _place(self, source: str, kind: str, place: str | None) -> Place | None:
        """Return a place of a row, which is relative to its source; None where the row has none."""
        return None if place is None else place_in(self._place_of(source), kind, place)

    def _place_of(self, source: str) -> str:
        """Return how a source of the catalog is called: with the catalog's name in front."""
        return join_shown(str(self.catalog.folder), source)


def _is_silent(provider: Provider) -> bool:
    """Return whether a provider lists its capabilities only on a phone, and files alone do not show it."""
    phones = load_formats()[provider.protocol].phones
    return not provider.capabilities and phones.find_silent is not None and found_by(provider) is not None

"""Catalogs: folders with a Parquet dataset for each table, read by DuckDB (docs/reference/catalog.md)."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, Self

from droidgate.computer.cores import usable_cores
from droidgate.computer.optional_packages import need
from droidgate.sources.catalogs.rows import (
    CATALOG_FILE,
    LEFT_OUT,
    LOG_FILE,
    OWN_APP,
    SCHEMA_VERSION,
    TABLES,
    catalog_folder,
)
from droidgate.sources.folders import read_bytes
from droidgate.sources.spelling import printable
from droidgate_mappings.formats.installed import OWN_PREFIX, own_app
from droidgate_mappings.model.errors import BudgetError, InputError, UsageError
from droidgate_mappings.text.json_text import parse_json

CATALOG_SCHEMA: Final = f"droidgate.catalog/{SCHEMA_VERSION}"

FORMULA_BEGINNINGS: Final = "=+@\t\r\n\uff1d\uff0b\uff0d\uff20-"
"""What a spreadsheet takes for the beginning of a formula (OWASP, CSV injection); `-` is the last one, so
that they can be in the brackets of a regular expression."""

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
Ask = Callable[[str], Rows]


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
    """

    folder: Path
    droidgate: str
    targets: tuple[str, ...]
    limits: dict[str, float]
    rows: dict[str, int]
    left_out: tuple[str, ...] = ()

    @classmethod
    def open(cls, folder: str | Path) -> Self:
        """Return the catalog of a folder, or of the `catalog.json` in it.

        Raises:
            InputError: it holds none, a broken one, or one of a version that is not known.
        """
        place = catalog_folder(str(folder)) or Path(folder)
        try:
            text = read_bytes(str(place / CATALOG_FILE), shown=str(place))
        except InputError:
            if not (place / CATALOG_FILE).exists():
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
        found = self.ask(
            f"SELECT DISTINCT unit, package FROM apps WHERE starts_with(package, {quoted(OWN_PREFIX)})"
        )
        units = {unit for unit, package in found if own_app(package) is not None}
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

    def ask(self, sql: str) -> Rows:
        """Yield the rows that a query of ours gives.

        Raises:
            UsageError: DuckDB is not installed.
            InputError: the catalog cannot be read.
        """
        with self.asking() as ask:
            yield from ask(sql)

    @contextmanager
    def asking(self) -> Iterator[Ask]:
        """Lend a function that asks queries of ours over one connection, one after the other; as `ask`."""
        duckdb = need("duckdb", "coverage")

        def ask(sql: str) -> Rows:
            try:
                result = connection.execute(sql)
                while rows := result.fetchmany(_ROWS_AT_ONCE):
                    yield from rows
            except duckdb.Error as error:
                message = f"it cannot be read: {first_line(error)}"
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
    shown = printable(str(place))
    if (place / LOG_FILE).exists():
        hint = "its scan has not ended; run it again to go on"
        return InputError("the catalog is not finished", place=shown, hint=hint)
    hint = "`droidgate scan SRC --catalog DIR` makes one"
    return InputError("it is not a catalog", place=shown, hint=hint)


def check_name(folder: Path) -> None:
    """Refuse a folder whose path DuckDB cannot use: one that is not UTF-8, or has a `?` in it.

    Raises:
        InputError: it is one.
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
            result = connection.execute(statements[0])
            columns = tuple((name, str(kind)) for name, kind, *_ in result.description)
            yield Answered(columns, _rows_of(result))
        except duckdb.InterruptException:
            hint = "ask for less, or allow more with --deadline"
            raise BudgetError(f"the query takes more than {deadline:g} seconds", hint=hint) from None
        except duckdb.OutOfMemoryException:
            allowed = "" if memory is None else f" than {memory} MiB"
            hint = "ask for fewer rows, or allow more with --memory"
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
        left = deadline
        while not ended.wait(left):
            connection.interrupt()
            left = _INTERRUPTED_EACH

    watcher = threading.Thread(target=interrupt, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        ended.set()
        watcher.join()


def _rows_of(result: Any) -> Iterator[tuple[Any, ...]]:
    while rows := result.fetchmany(_ROWS_AT_ONCE):
        yield from rows


def _refusal(error: Exception) -> UsageError:
    """Return why a query is refused, with what it proposes, or for a wrong name the tables."""
    duckdb = need("duckdb", "coverage")
    if _NO_TIME_ZONES in str(error):
        return UsageError(
            "DuckDB cannot give a time with a zone here", hint="CAST(... AS VARCHAR) gives it as text"
        )
    lines = [line.strip() for line in str(error).splitlines()]
    proposals = (line.rstrip(".!") for line in lines if line.startswith(_PROPOSALS))
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

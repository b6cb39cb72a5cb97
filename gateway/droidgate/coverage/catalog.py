"""Catalogs: a folder with a Parquet dataset for each table, asked through DuckDB (docs/catalog.md)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self

from droidgate.coverage.extras import need
from droidgate.coverage.inputs import CATALOG_FILE
from droidgate.coverage.rows import SCHEMA_VERSION, TABLES
from droidgate.coverage.scan_log import LOG_FILE
from droidgate.model.errors import InputError, UsageError

CATALOG_SCHEMA: Final = f"droidgate.catalog/{SCHEMA_VERSION}"

_OFFLINE: Final = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "allow_community_extensions": False,
    "python_enable_replacements": False,
}


@dataclass(frozen=True, slots=True)
class Catalog:
    """A catalog on disk.

    Attributes:
        folder: Its folder.
        droidgate: Version of the program that wrote it.
        targets: The dialects of its crossings.
        limits: What one input was allowed to take.
        rows: How many rows each table has.
    """

    folder: Path
    droidgate: str
    targets: tuple[str, ...]
    limits: dict[str, float]
    rows: dict[str, int]

    @classmethod
    def open(cls, folder: str | Path) -> Self:
        """Return the catalog of a folder.

        Raises:
            InputError: it holds none, a broken one, or one of a version that is not known.
        """
        place = Path(folder)
        try:
            text = (place / CATALOG_FILE).read_bytes()
        except FileNotFoundError:
            raise _no_catalog(place) from None
        except OSError as error:
            raise InputError(f"it cannot be read: {error.strerror}", place=str(place)) from None
        try:
            told = json.loads(text)
            schema = told["schema"]
            if schema == CATALOG_SCHEMA:
                facts = (told["droidgate"], tuple(told["targets"]), told["limits"], told["rows"])
                return cls(place, *facts)
        except (ValueError, KeyError, TypeError):
            raise InputError("it is no catalog", place=str(place / CATALOG_FILE)) from None
        message = f"the catalog has the schema {schema!a}, and this droidgate reads {CATALOG_SCHEMA}"
        hint = "Read it with the droidgate that wrote it, or scan again"
        raise InputError(message, place=str(place), hint=hint)

    def files_of(self, table: str) -> str:
        """Return the pattern of a table's Parquet files."""
        return files_of(self.folder, table)

    def paths_of(self, table: str) -> list[Path]:
        """Return a table's Parquet files."""
        return sorted((self.folder / table).glob("*.parquet"))

    def connect(self) -> Any:
        """Return a DuckDB connection in memory with a view for each table.

        Raises:
            UsageError: DuckDB is not installed.
            InputError: a table's files are gone or broken.
        """
        duckdb = need("duckdb", "coverage")
        connection = duckdb.connect(":memory:", config=_OFFLINE)
        for name in TABLES:
            files = ", ".join(quoted(str(one)) for one in self.paths_of(name))
            try:
                connection.execute(f"CREATE VIEW {name} AS SELECT * FROM read_parquet([{files}])")
            except duckdb.Error as error:
                message = f"its table {name} cannot be read: {first_line(error)}"
                raise InputError(message, place=str(self.folder)) from None
        return connection


def _no_catalog(place: Path) -> InputError:
    if (place / LOG_FILE).exists():
        hint = "Its scan has not ended; run it again to go on"
        return InputError("the catalog is not finished", place=str(place), hint=hint)
    hint = "`droidgate scan SRC --catalog DIR` makes one"
    return InputError("it holds no catalog", place=str(place), hint=hint)


def files_of(folder: Path, table: str) -> str:
    """Return the pattern of a table's Parquet files."""
    return f"{folder}/{table}/*.parquet"


def quoted(text: str) -> str:
    """Return a text as an SQL literal."""
    return "'" + text.replace("'", "''") + "'"


def first_line(error: Exception) -> str:
    """Return what an error of DuckDB says, in one line."""
    return str(error).strip().partition("\n")[0]


@dataclass(frozen=True, slots=True)
class Answered:
    """What a query gave: names and types of the columns, and the rows."""

    columns: tuple[tuple[str, str], ...]
    rows: tuple[tuple[Any, ...], ...]


def query(catalog: Catalog, sql: str) -> Answered:
    """Ask a catalog one question.

    Only one SELECT is run (or what DuckDB treats as one: FROM, VALUES, DESCRIBE, SUMMARIZE), on files of this
    catalog only; no setting can be changed, nothing is written and no extension is loaded.

    Raises:
        UsageError: it is something else, or DuckDB refuses it; DuckDB is not installed.
        InputError: the catalog cannot be read.
    """
    duckdb = need("duckdb", "coverage")
    connection = catalog.connect()
    files = [str(one) for name in TABLES for one in catalog.paths_of(name)]
    listed = ", ".join(map(quoted, files))
    connection.execute("SET temp_directory = ''")
    connection.execute(f"SET allowed_paths = [{listed}]")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")
    try:
        statements = connection.extract_statements(sql)
        if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
            message = "only one SELECT is run"
            raise UsageError(message, hint="SHOW TABLES lists the tables, docs/catalog.md describes them")
        result = connection.execute(statements[0])
        columns = tuple((name, str(kind)) for name, kind, *_ in result.description)
        return Answered(columns, tuple(result.fetchall()))
    except duckdb.Error as error:
        raise UsageError(f"DuckDB refuses the query: {first_line(error)}") from None
    finally:
        connection.close()

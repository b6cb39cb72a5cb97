"""From the log of a scan to a catalog; DuckDB reads the one and writes the other."""

from __future__ import annotations

import errno
import json
import os
import shutil
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from droidgate.computer.optional_packages import need
from droidgate.coverage.conversions import LEVELS
from droidgate.coverage.scan_log import Header
from droidgate.coverage.scanned import MAX_LINE
from droidgate.sources.catalogs.catalog import CATALOG_SCHEMA, Catalog, first_line, quoted
from droidgate.sources.catalogs.rows import CATALOG_FILE, TABLES, CatalogTable
from droidgate.sources.spelling import printable
from droidgate_mappings.model.errors import InputError

BUILDING: Final = "building"
"""Folder inside the catalog's where a new one is made."""

_FILE: Final = "0000.parquet"
_LINES: Final = "lines.duckdb"
_ROW_GROUP: Final = 100_000
_NO_GUESSES: Final = "SET disabled_optimizers = 'statistics_propagation'"
"""Else a column in which DuckDB foresees no null is written as one that can have none, and what it foresees
depends on whether rows come from the log or from an earlier catalog: the same results, other files."""

_NUMBERS: Final = ("provider", "capability", "target", "level", "provider_level")


@dataclass(frozen=True, slots=True)
class Parts:
    """What a catalog is made of.

    Attributes:
        log: The log of the scan.
        header: Its first line.
        known: Catalogs with the rows of units that the log has no rows of.
        merged: Catalogs that are taken in whole, with the name that goes before their sources.
    """

    log: Path
    header: Header
    known: Sequence[Catalog] = ()
    merged: Sequence[tuple[str, Catalog]] = ()


def write_catalog(folder: Path, parts: Parts, *, threads: int | None = None) -> Catalog:
    """Write a catalog from the log of a scan, over one that is there.

    Rows are sorted by the key of their table, so that the same results make the same catalog in whatever
    order they came.

    Args:
        folder: Where; it exists.
        parts: What goes in.
        threads: How many threads DuckDB may use; all by default.

    Raises:
        UsageError: DuckDB is not installed.
        InputError: it cannot be written.
    """
    duckdb = need("duckdb", "coverage")
    building = folder / BUILDING
    shutil.rmtree(building, ignore_errors=True)
    building.mkdir()
    place = printable(str(folder))
    try:
        with closing(duckdb.connect(str(building / _LINES))) as connection:
            connection.execute(_NO_GUESSES)
            if threads is not None:
                connection.execute(f"SET threads = {int(threads)}")
            rows = _Writing(connection, parts, building).run()
    except duckdb.Error as error:
        raise InputError(f"the catalog cannot be written: {first_line(error)}", place=place) from None
    finally:
        for path in building.glob(f"{_LINES}*"):
            path.unlink()
    targets = sorted(
        {*parts.header.targets, *(target for _, catalog in parts.merged for target in catalog.targets)}
    )
    document = {
        "schema": CATALOG_SCHEMA,
        "droidgate": parts.header.droidgate,
        "targets": targets,
        "limits": dict(parts.header.limits),
        "rows": rows,
    }
    (building / CATALOG_FILE).write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    _put_in_place(building, folder)
    return Catalog.open(folder)


def check_folder(folder: Path) -> None:
    """Refuse a folder where a catalog would take the place of something that no scan has put there.

    Raises:
        InputError: it is one.
    """
    building = folder / BUILDING
    tables = [place / name for place in (folder, building) for name in TABLES]
    for place, ours in (
        (building, (*TABLES, CATALOG_FILE, f"{_LINES}*")),
        *((table, (_FILE,)) for table in tables),
    ):
        is_strange = place.is_symlink() or (place.exists() and not place.is_dir())
        if is_strange or any(not any(map(path.match, ours)) for path in place.glob("*")):
            hint = "move it away, or name another folder"
            raise InputError("it is not part of a catalog", place=printable(str(place)), hint=hint)


def _put_in_place(building: Path, folder: Path) -> None:
    """Move a catalog that is complete to where it belongs.

    `catalog.json` goes first and comes last, so that a scan that is ended in between leaves a catalog that is
    not finished, never tables of two scans.
    """
    files = [*(Path(name, _FILE) for name in TABLES), Path(CATALOG_FILE)]
    for file in files:
        _keep(building / file)
    (folder / CATALOG_FILE).unlink(missing_ok=True)
    for name in TABLES:
        shutil.rmtree(folder / name, ignore_errors=True)
        (building / name).replace(folder / name)
    (building / CATALOG_FILE).replace(folder / CATALOG_FILE)
    _keep(folder)
    shutil.rmtree(building, ignore_errors=True)


def _keep(path: Path) -> None:
    """Have a file, or the names in a folder, on the disk before what they were made from is deleted."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:  # a folder, where those cannot be opened
        return
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno != errno.EINVAL:
            raise
    finally:
        os.close(descriptor)


class _Writing:
    def __init__(self, connection: Any, parts: Parts, building: Path) -> None:
        self._connection = connection
        self._parts = parts
        self._building = building

    def run(self) -> dict[str, int]:
        """Write every table, and return how many rows each has."""
        self._name_lines()
        self._name_units()
        counts = {}
        for name, table in TABLES.items():
            selected = self._sources() if name == "sources" else self._rows_of(table)
            (self._building / name).mkdir()
            target = quoted(str(self._building / name / _FILE))
            order = ", ".join(table.key)
            columns = ", ".join(column.name for column in table.columns)
            options = f"FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE {_ROW_GROUP}"
            written = f"COPY (SELECT {columns} FROM ({selected}) ORDER BY {order}) TO {target} ({options})"
            counts[name] = self._connection.execute(written).fetchone()[0]
        return counts

    def _name_lines(self) -> None:
        """Make tables of the log's lines, and of those that count: of each input the last."""
        types = {column.name: column.type for column in TABLES["sources"].columns} | {"stage": "BIGINT"}
        for name, table in TABLES.items():
            if name not in {"sources", "conversions"}:
                fields = ", ".join(f"{column.name} {column.type}" for column in table.columns)
                types[name] = f"STRUCT({fields})[]"
        types["conversions"] = "BIGINT[][]"
        listed = ", ".join(f"{name}: {quoted(type_)}" for name, type_ in types.items())
        self._run(
            f"CREATE TABLE lines AS SELECT * FROM read_json({quoted(str(self._parts.log))}, "
            f"columns = {{{listed}}}, format = 'newline_delimited', "
            f"maximum_object_size = {MAX_LINE + (1 << 20)}) WHERE source IS NOT NULL"
        )
        columns = ", ".join(column.name for column in TABLES["sources"].columns)
        self._run(
            f"CREATE TABLE counting AS SELECT {columns} FROM lines "
            "QUALIFY row_number() OVER (PARTITION BY source ORDER BY stage DESC) = 1"
        )

    def _name_units(self) -> None:
        """Make a table of the units of the catalog, with the number of the place where their rows are."""
        used = "SELECT unit FROM counting WHERE unit IS NOT NULL"
        has_rows = " OR ".join(
            f"{name} IS NOT NULL" for name in TABLES if name not in {"sources", "conversions"}
        )
        self._run(
            f"CREATE TABLE units AS SELECT DISTINCT unit, 0 AS place FROM lines "
            f"WHERE unit IN ({used}) AND ({has_rows})"
        )
        merged = len(self._parts.merged)
        for number, catalog in enumerate(self._catalogs(), 1):
            units = f"SELECT DISTINCT unit FROM {catalog.scan_of('sources')} WHERE unit IS NOT NULL"
            if number > merged:
                units += f" AND unit IN ({used})"
            known = "SELECT unit FROM units"
            self._run(f"INSERT INTO units SELECT unit, {number} FROM ({units}) WHERE unit NOT IN ({known})")

    def _run(self, statement: str) -> None:
        self._connection.execute(statement)

    def _catalogs(self) -> list[Catalog]:
        return [*(item for _, item in self._parts.merged), *self._parts.known]

    def _sources(self) -> str:
        columns = ", ".join(column.name for column in TABLES["sources"].columns)
        rest = columns.removeprefix("source, ")
        selected = [f"SELECT {columns} FROM counting"]
        for name, item in self._parts.merged:
            called = f"{quoted(name + '/')} || source AS source"
            selected.append(f"SELECT {called}, {rest} FROM {item.scan_of('sources')}")
        return " UNION ALL ".join(selected)

    def _rows_of(self, table: CatalogTable) -> str:
        name = table.name
        columns = ", ".join(column.name for column in table.columns)
        own = "SELECT unit FROM units WHERE place = 0"
        lines = f"SELECT unit, unnest({name}) AS x FROM lines WHERE unit IN ({own}) AND {name} IS NOT NULL"
        if name == "conversions":
            selected = [f"SELECT {self._conversion_columns()} FROM ({lines})"]
        else:
            fields = ", ".join(f"x.{column.name} AS {column.name}" for column in table.columns)
            selected = [f"SELECT {fields} FROM ({lines})"]
        for number, catalog in enumerate(self._catalogs(), 1):
            theirs = f"SELECT unit FROM units WHERE place = {number}"
            selected.append(f"SELECT {columns} FROM {catalog.scan_of(name)} WHERE unit IN ({theirs})")
        return " UNION ALL ".join(selected)

    def _conversion_columns(self) -> str:
        targets, levels = _list_of(self._parts.header.targets), _list_of(LEVELS)
        counted = [
            column.name for column in TABLES["conversions"].columns if column.name not in {"unit", *_NUMBERS}
        ]
        counts = ", ".join(f"x[{at}] AS {name}" for at, name in enumerate(counted, len(_NUMBERS) + 1))
        return (
            f"unit, x[1] AS provider, x[2] AS capability, {targets}[x[3] + 1] AS target, "
            f"{levels}[x[4] + 1] AS level, {levels}[x[5] + 1] AS provider_level, {counts}"
        )


def _list_of(texts: Iterable[str]) -> str:
    return f"[{', '.join(map(quoted, texts))}]"

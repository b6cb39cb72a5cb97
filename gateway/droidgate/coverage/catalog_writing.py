"""From the log of a scan to a catalog; DuckDB reads the one and writes the other.

The log has a line of JSON for each input, written as it comes, so that any end can be gone on from. The
first line is the header: schema version and settings. Every other line is a result: what `sources` says of
the input, the file's size and time of change on this machine (in the log only, never in a row), and the rows
of its unit, where they are not in an earlier line or the catalog already.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import sys
from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, Final, Self

from droidgate.computer.optional_packages import need
from droidgate.coverage.process_pool import PoolAnswer
from droidgate.coverage.scan_inputs import Item, state_of
from droidgate.coverage.scan_results import KNOWN, MAX_LINE, OUT_OF_TIME
from droidgate.sources.catalogs.catalog import CATALOG_SCHEMA, Catalog, first_line, quoted
from droidgate.sources.catalogs.catalog_files import CATALOG_FILE, LOG_FILE
from droidgate.sources.catalogs.catalog_rows import SCHEMA_VERSION, TABLES, CatalogTable
from droidgate_mappings.model.errors import InputError, UsageError
from droidgate_mappings.records import dataclass, field
from droidgate_mappings.text.json_text import WRITTEN, parse_json
from droidgate_mappings.text.shown_paths import printable

KEPT_LOG_FILE: Final = "scan.kept"
"""What is kept of an earlier log, while it is picked out."""

_LOG: Final = "droidgate.scan-log/1"
_MARK: Final = f'{{"log":"{_LOG}"'.encode()
_READ: Final = "read"


@dataclass(frozen=True, slots=True)
class Header:
    """What decides about the rows of a scan.

    Attributes:
        droidgate: Version of this program.
        targets: The dialects that are converted to, in the order of their numbers.
        limits: Memory and seconds that one input may take, and whatever else decides about outcomes.
    """

    droidgate: str
    targets: tuple[str, ...]
    limits: Mapping[str, float]

    def as_json(self) -> dict[str, Any]:
        """Return the first line of a log."""
        return {
            "log": _LOG,
            "schema": SCHEMA_VERSION,
            "droidgate": self.droidgate,
            "targets": list(self.targets),
            "limits": dict(self.limits),
        }


@dataclass(slots=True)
class ScanLog:
    """An open log.

    Attributes:
        path: Its file.
        done: Inputs that have their line.
        outcomes: How many inputs had which outcome.
        late: Inputs that an earlier run had no time for, and splits whose app it had none for, with their
            turn: the one that the run was at is the last.
    """

    path: Path
    done: set[str] = field(default_factory=set)
    outcomes: dict[str, int] = field(default_factory=dict)
    late: dict[str, int] = field(default_factory=dict)
    _units: set[bytes] = field(default_factory=set)
    _stream: Any = None

    @classmethod
    def open(cls, path: Path, header: Header, items: Mapping[str, Item], units: Container[str]) -> Self:
        """Begin a log, or go on with one.

        Of an earlier log those lines are kept that are whole, whose input is still asked for and has not
        changed, and whose unit has its rows.

        Args:
            path: The file.
            header: What decides about the rows.
            items: The inputs by name.
            units: Units that have their rows in the catalog.

        Raises:
            UsageError: the earlier log was written with other settings.
            InputError: the file is not a log, or cannot be written.
        """
        log = cls(path)
        new_path = path.with_name(KEPT_LOG_FILE)
        try:
            with new_path.open("wb") as stream:
                stream.write(_line(header.as_json()))
                if path.exists():
                    for head, line in _lines_of(path, header):
                        is_late_app = head.get("stage") != 1 and not head.get("unit")
                        if head.get("outcome") == OUT_OF_TIME or is_late_app:
                            log.late[head["source"]] = len(log.late) + 1
                        elif log._still_holds(head, items, units):
                            log._note(head, has_rows=_has_rows(head))
                            stream.write(line)
            new_path.replace(path)
            log._stream = path.open("ab")
        except OSError as error:
            raise _unwritable(path, error) from None
        return log

    def _still_holds(self, head: Mapping[str, Any], items: Mapping[str, Item], units: Container[str]) -> bool:
        item = items.get(head["source"])
        if item is None or head["source"] in self.done or head.get("stage") != 1:
            return False
        if head.get("state") != state_of(item):
            return False
        unit = head["unit"]
        if unit is None or _has_rows(head):
            return True
        return bytes.fromhex(unit) in self._units or unit in units

    def _note(self, head: Mapping[str, Any], *, has_rows: bool) -> None:
        if head["stage"] == 1:
            self.done.add(head["source"])
            self.outcomes[head["outcome"]] = self.outcomes.get(head["outcome"], 0) + 1
        if has_rows and head["unit"] is not None:
            self._units.add(bytes.fromhex(head["unit"]))

    def write(self, answer: PoolAnswer, *, stage: int = 1) -> None:
        """Write the line of one result.

        Args:
            answer: The result.
            stage: 2 for what takes the place of an earlier line: an app read again with its splits.

        Raises:
            InputError: the disk is full, or the like.
        """
        head = {"state": state_of(answer.item), **answer.head, "stage": stage}
        if head["outcome"] == KNOWN:
            head["outcome"] = _READ
        unit = head["unit"]
        has_rows = bool(answer.rows) and unit is not None and bytes.fromhex(unit) not in self._units
        line = _line(head)
        if has_rows and answer.rows != b"{}":
            line = line[:-2] + b"," + answer.rows[1:] + b"\n"
        elif has_rows:
            line = line[:-2] + b',"apps":[]}\n'
        try:
            self._stream.write(line)
            self._stream.flush()
        except OSError as error:
            raise _unwritable(self.path, error) from None
        self._note(head, has_rows=has_rows)

    def close(self) -> None:
        """Close the file."""
        if self._stream is not None:
            with suppress(OSError):  # what could not be written was reported then
                self._stream.close()

    def heads(self) -> Iterator[dict[str, Any]]:
        """Yield the lines without their rows, each with `identity` and `state`."""
        with self.path.open("rb") as stream:
            for line in stream:
                head = parse_json(line, path=LOG_FILE, limits=WRITTEN)
                if "source" in head:
                    yield {name: value for name, value in head.items() if not isinstance(value, list)} | {
                        "identity": head.get("identity"),
                        "state": head.get("state"),
                    }


def _lines_of(path: Path, header: Header) -> Iterator[tuple[dict[str, Any], bytes]]:
    """Yield the whole lines of an earlier log; a torn one, and what follows it, is left out."""
    with path.open("rb") as stream:
        line = stream.readline()
        if not (line.startswith(_MARK) or _MARK.startswith(line)):
            hint = "if a scan of yours wrote it, delete it to begin anew"
            raise InputError("it is not a log of a scan", place=printable(str(path)), hint=hint)
        first = _parse_line(line)
        if first is None:
            return
        if first != header.as_json():
            message = "the log of an unfinished scan there was written with other settings"
            hint = f"scan with the same settings, or delete {path.name} to begin anew"
            raise UsageError(message, place=str(path), hint=hint)
        for line in stream:
            head = _parse_line(line)
            if head is None or not isinstance(head.get("source"), str):
                return
            yield head, line


def _parse_line(line: bytes) -> dict[str, Any] | None:
    if not line.endswith(b"\n"):
        return None
    with suppress(InputError):
        value = parse_json(line, path=LOG_FILE, limits=WRITTEN)
        if isinstance(value, dict):
            return value
    return None


def _has_rows(head: Mapping[str, Any]) -> bool:
    return any(name in head for name in ("apps", "providers", "problems", "findings"))


def _line(value: Mapping[str, Any]) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode() + b"\n"


def _unwritable(path: Path, error: OSError) -> InputError:
    hint = "what it holds is not lost: the same scan goes on from there"
    return InputError(f"cannot be written: {error.strerror}", place=printable(str(path)), hint=hint)


BUILDING: Final = "building"
"""Folder inside the catalog's where a new one is made."""

_FILE: Final = "0000.parquet"
_LINES: Final = "lines.duckdb"
_ROW_GROUP: Final = 100_000
NO_GUESSES: Final = "SET disabled_optimizers = 'statistics_propagation'"
"""Else a column in which DuckDB foresees no null is written as one that can have none, and what it foresees
depends on whether rows come from the log or from an earlier catalog: the same results, other files."""


@dataclass(frozen=True, slots=True)
class CatalogParts:
    """What a catalog is made of.

    Attributes:
        log: The log of the scan.
        header: Its first line.
        known_catalogs: Catalogs with the rows of units that the log has no rows of.
        merged: Catalogs that are taken in whole, with the name that goes before their sources.
    """

    log: Path
    header: Header
    known_catalogs: Sequence[Catalog] = ()
    merged: Sequence[tuple[str, Catalog]] = ()


def write_catalog(folder: Path, parts: CatalogParts) -> Catalog:
    """Write a catalog from the log of a scan, over one that is there.

    Rows are sorted by the key of their table, so that the same results make the same catalog in whatever
    order they came.

    Args:
        folder: Where; it exists.
        parts: What goes in.

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
            connection.execute(NO_GUESSES)
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
    _write_facts(building, document)
    _put_in_place(building, folder)
    return Catalog.open(folder)


def _write_facts(folder: Path, document: Mapping[str, Any]) -> None:
    (folder / CATALOG_FILE).write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")


def check_catalog_folder(folder: Path) -> None:
    """Refuse a folder where a catalog would take the place of something that no scan has put there.

    Raises:
        InputError: the folder has something else in it.
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
        # Windows syncs only what is open for writing.
        descriptor = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    except OSError:  # a folder, where those cannot be opened
        return
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno != errno.EINVAL:
            raise
    finally:
        os.close(descriptor)


def store_table(catalog: Catalog, name: str, path: Path, facts: bytes) -> bool:
    """Put a table into its catalog in place of the one that is there, as long as the catalog is the same.

    Args:
        catalog: The catalog, with the new number of rows.
        name: The table.
        path: The Parquet file of its rows.
        facts: What `catalog.json` held when the rows were made.

    Returns:
        Whether the catalog has the table: the folder can be written, and no scan writes it.
    """
    target = catalog.folder / name / _FILE
    building = catalog.folder / BUILDING
    try:
        with only_scan_of(catalog.folder):
            if (catalog.folder / CATALOG_FILE).read_bytes() != facts or catalog.paths_of(name) != [target]:
                return False
            check_catalog_folder(catalog.folder)
            shutil.rmtree(building, ignore_errors=True)
            (building / name).mkdir(parents=True)
            try:
                shutil.copyfile(path, building / name / _FILE)
                _write_facts(building, {**json.loads(facts), "rows": catalog.rows})
                for file in (f"{name}/{_FILE}", CATALOG_FILE):
                    _keep(building / file)
                    (building / file).replace(catalog.folder / file)
            finally:
                shutil.rmtree(building, ignore_errors=True)
    except (OSError, InputError):
        return False
    return True


@contextmanager
def only_scan_of(folder: Path) -> Iterator[None]:
    """Hold a folder so that no other scan writes into it; the system lets go of it when the process ends.

    The folder itself is locked, so that no file stays behind. Where the system cannot lock a folder (Windows,
    some network disks) nothing is held.

    Raises:
        InputError: another scan holds it.
    """
    if sys.platform == "win32":
        yield
        return
    import fcntl

    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                hint = "wait for it, or name another folder"
                place = printable(str(folder))
                raise InputError("another scan writes this catalog now", place=place, hint=hint) from None
        yield
    finally:
        os.close(descriptor)


def write_table(connection: Any, table: CatalogTable, selected: str, path: Path) -> int:
    """Write a Parquet file of the rows that a query gives, sorted by the table's key; return how many."""
    columns = ", ".join(column.name for column in table.columns)
    options = f"FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE {_ROW_GROUP}"
    rows = f"SELECT {columns} FROM ({selected}) ORDER BY {', '.join(table.key)}"
    count: int = connection.execute(f"COPY ({rows}) TO {quoted(str(path))} ({options})").fetchone()[0]
    return count


class _Writing:
    def __init__(self, connection: Any, parts: CatalogParts, building: Path) -> None:
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
            counts[name] = write_table(self._connection, table, selected, self._building / name / _FILE)
        return counts

    def _name_lines(self) -> None:
        """Make tables of the log's lines, and of those that count: of each input the last."""
        types = {column.name: column.type for column in TABLES["sources"].columns} | {"stage": "BIGINT"}
        for name, table in TABLES.items():
            if name != "sources":
                fields = ", ".join(f"{column.name} {column.type}" for column in table.columns)
                types[name] = f"STRUCT({fields})[]"
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
        has_rows = " OR ".join(f"{name} IS NOT NULL" for name in TABLES if name != "sources")
        self._run(
            f"CREATE TABLE units AS SELECT DISTINCT unit, 0 AS place FROM lines "
            f"WHERE unit IN ({used}) AND ({has_rows})"
        )
        merged = len(self._parts.merged)
        for number, catalog in enumerate(self._catalogs(), 1):
            units = f"SELECT DISTINCT unit FROM {catalog.scan_of('sources')} WHERE unit IS NOT NULL"
            if number > merged:
                units += f" AND unit IN ({used})"
            query = "SELECT unit FROM units"
            self._run(f"INSERT INTO units SELECT unit, {number} FROM ({units}) WHERE unit NOT IN ({query})")

    def _run(self, statement: str) -> None:
        self._connection.execute(statement)

    def _catalogs(self) -> list[Catalog]:
        return [*(item for _, item in self._parts.merged), *self._parts.known_catalogs]

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
        fields = ", ".join(f"x.{column.name} AS {column.name}" for column in table.columns)
        selected = [f"SELECT {fields} FROM ({lines})"]
        for number, catalog in enumerate(self._catalogs(), 1):
            theirs = f"SELECT unit FROM units WHERE place = {number}"
            selected.append(f"SELECT {columns} FROM {catalog.scan_of(name)} WHERE unit IN ({theirs})")
        return " UNION ALL ".join(selected)

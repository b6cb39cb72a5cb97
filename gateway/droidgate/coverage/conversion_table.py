"""The table of conversions of a catalog, made when a report or a query asks for it.

A scan makes none: they would take as long as all the rest of it. They are made from the declarations in the
catalog, of which equal ones are converted once, and stay in the catalog.
"""

from __future__ import annotations

from collections.abc import Container, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from droidgate.computer.process_limits import usable_cores
from droidgate.coverage.catalog_writing import NO_GUESSES, store_table, write_table
from droidgate.coverage.conversions import IMPOSSIBLE, LEVELS, estimate_conversions, targets
from droidgate.coverage.process_pool import PoolAnswer, PoolSettings, ProcessPool
from droidgate.coverage.scan_inputs import Item
from droidgate.coverage.scan_results import MAX_LINE, Scanned
from droidgate.coverage.worker import do_work
from droidgate.sources.catalogs.catalog import UNCONVERTED, Catalog, quoted
from droidgate.sources.catalogs.catalog_files import CATALOG_FILE
from droidgate.sources.catalogs.catalog_rows import TABLES, read_part
from droidgate_mappings.model.capability import Provider
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.text.shown_paths import printable
from droidgate_mappings.timed_steps import timed_step

_WORK: Final = f"{__name__}:convert_declaration"
_FEW: Final = 256 << 10
"""Bytes of declarations up to which processes of their own would take longer to start than to work."""

_BROKEN: Final = "broken"
_LINES: Final = "conversions.jsonl"
_FILE: Final = "conversions.parquet"
_TABLE: Final = TABLES["conversions"]

_MISSING: Final = f"""
CREATE TABLE missing AS SELECT dense_rank() OVER (ORDER BY declaration) AS number, unit, provider, declaration
FROM {UNCONVERTED}
"""


def complete_conversions(catalog: Catalog, folder: Path) -> Catalog:
    """Return a catalog whose table of conversions has a row of each capability and target.

    Those that are missing are made, each provider within the memory and time that an input of a scan may take
    by default; where that fails, the conversion is impossible. The catalog keeps them.

    Args:
        catalog: The catalog.
        folder: Where the table is if the catalog cannot be written; it exists as long as the catalog is used.

    Raises:
        UsageError: DuckDB is not installed.
        InputError: the catalog cannot be read.
    """
    whole = replace(catalog, left_out=())
    facts = (catalog.folder / CATALOG_FILE).read_bytes()
    names = [name for name in targets() if name in catalog.targets]
    with closing(whole.connect()) as connection:
        connection.execute(NO_GUESSES)
        connection.execute(f"SET temp_directory = {quoted(str(folder))}")
        connection.execute(_MISSING)
        (size,) = connection.execute("SELECT sum(strlen(declaration)) FROM missing").fetchone()
        if not (size and names):
            return catalog
        with timed_step("estimate what conversions lose"):
            _write_lines(connection, catalog, folder / _LINES, is_little=size <= _FEW)
            count = write_table(connection, _TABLE, _rows(folder / _LINES, names), folder / _FILE)
    catalog = replace(catalog, rows={**catalog.rows, _TABLE.name: count})
    is_kept = store_table(catalog, _TABLE.name, folder / _FILE, facts)
    return catalog if is_kept else replace(catalog, conversions=folder / _FILE)


def _write_lines(connection: Any, catalog: Catalog, path: Path, *, is_little: bool) -> None:
    """Write a line of JSON for each declaration: its number, and the conversions where there are any."""
    with path.open("wb") as lines, closing(_answers(_items(connection), is_little=is_little)) as answers:
        for answer in answers:
            if answer.head["outcome"] == _BROKEN:
                place = printable(str(catalog.folder))
                hint = "scan the apps again into a new folder"
                raise InputError(answer.head["reason"], place=place, hint=hint)
            rows = b"," + answer.rows[1:] if answer.rows else b"}"
            lines.write(b'{"number":%s%s\n' % (answer.item.source.encode(), rows))


def _items(connection: Any) -> Iterator[Item]:
    result = connection.execute("SELECT number, any_value(declaration) FROM missing GROUP BY number")
    while row := result.fetchone():
        yield Item(str(row[0]), "declaration", row[1])


def _answers(items: Iterator[Item], *, is_little: bool) -> Generator[PoolAnswer, None, None]:
    if is_little:
        for item in items:
            yield PoolAnswer.of(item, do_work(convert_declaration, item, (), None)[0])
    else:
        yield from ProcessPool(PoolSettings(workers=usable_cores(), work=_WORK)).run(items)


def convert_declaration(item: Item, _known: Container[str]) -> Scanned:
    """Return the conversions of a declaration.

    A row is the position of the capability, the numbers of the target, of the level and of the provider's
    level, and how many findings each level has.
    """
    scanned = Scanned(item.source)
    try:
        provider = read_part(Provider, item.location)
    except InputError as error:
        return scanned.ended(_BROKEN, error.message)
    return scanned.ended("read", rows={"conversions": _convert(provider)})


def _convert(provider: Provider) -> list[tuple[int, ...]]:
    try:
        return _numbers(provider)
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001 - a mistake of ours costs the capability, not its provider
        rows = []
        for position, capability in enumerate(provider.capabilities):
            try:
                alone = _numbers(provider.changed({"capabilities": (capability,)}))
            except MemoryError:
                raise
            except Exception:  # noqa: BLE001, S112 - without a row it is impossible
                continue
            rows += [(position, *numbers) for _, *numbers in alone]
        return rows


def _numbers(provider: Provider) -> list[tuple[int, ...]]:
    number = LEVELS.index
    return [
        (item.capability, item.target, number(item.level), number(item.provider_level), *item.counts)
        for item in estimate_conversions(provider)
    ]


def _rows(lines: Path, names: Sequence[str]) -> str:
    """Return the query for all rows of the table."""
    every = list(targets())
    levels = f"[{', '.join(map(quoted, LEVELS))}]"
    level, provider_level, counts = IMPOSSIBLE
    impossible = [0, 0, LEVELS.index(level), LEVELS.index(provider_level), *counts]
    made = ", ".join(
        f"{levels}[x[{position}] + 1] AS {column.name}"
        if "level" in column.name
        else f"x[{position}] AS {column.name}"
        for position, column in enumerate(_TABLE.columns[len(_TABLE.key) :], 3)
    )
    numbered = ", ".join(f"({every.index(name)}, {quoted(name)})" for name in names)
    types = "{number: 'BIGINT', conversions: 'BIGINT[][]'}"
    return f"""
SELECT * FROM conversions UNION ALL SELECT unit, provider, capability, target, {made} FROM (
    SELECT m.unit, m.provider, c.capability, t.target, coalesce(made.x, {impossible}) AS x
    FROM missing m JOIN capabilities c USING (unit, provider) CROSS JOIN (VALUES {numbered}) t(number, target)
    LEFT JOIN (
        SELECT number, unnest(conversions) AS x FROM read_json({quoted(str(lines))}, columns = {types},
            format = 'newline_delimited', maximum_object_size = {MAX_LINE + (1 << 20)})
    ) made ON made.number = m.number AND made.x[1] = c.capability AND made.x[2] = t.number
)"""

"""The page docs/internals/shim-vectors.md: how many vectors there are, and the grid of what they cover."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from device_shim.shim_engine.conformance.grid import Table, axes, tables
from device_shim.shim_engine.conformance.vector_files import OPERATIONS, load_vectors

_INTRODUCTION: Final = """\
# Conformance vectors of the shim's engines

Requests, route tables and backends' behaviour with the answer that a specification requires:
`device_shim/vectors`, in the form of [shim-engine.md](../shim-engine.md) 9. Both engines run them. Each
names the paragraph from which its expectation was written by hand.
"""
_GRID_INTRODUCTION: Final = """\
## What the calls cover

A call is in a dialect, ends with a token or with success, is carried by a started or a bound service, and
goes to a backend (`none`: it names no capability that there is). It covers the types of the arguments that it
gives and of the outputs that come back. Each table counts the calls of two of these; a letter stands where
none can be.
"""


def vectors_page() -> str:
    """Return the page's text."""
    parts = [_INTRODUCTION, _files_table(), _GRID_INTRODUCTION]
    letters: dict[str, str] = {}
    parts += [f"### {_title(table)}\n\n{_grid_table(table, letters)}" for table in tables()]
    parts.append("### Why none can be\n\n" + _table(("", "reason"), [(v, k) for k, v in letters.items()]))
    return "\n".join(parts)


def _files_table() -> str:
    counts = Counter((vector.id.partition("/")[0], vector.operation) for vector in load_vectors())
    names = sorted({name for name, _ in counts})
    rows = [
        (f"`{name}`", *(str(counts[name, operation] or "") for operation in OPERATIONS)) for name in names
    ]
    totals = [sum(counts[name, operation] for name in names) for operation in OPERATIONS]
    rows.append((f"**{sum(totals)} in all**", *map(str, totals)))
    return _table(("file", *(f"`{item}`" for item in OPERATIONS)), rows)


def _title(table: Table) -> str:
    return f"{table.rows.capitalize()} and {table.columns}"


def _grid_table(table: Table, letters: dict[str, str]) -> str:
    def cell(row: str, column: str) -> str:
        count = table.counts.get((row, column), 0)
        if count:
            return str(count)
        reason = table.reasons.get((row, column))
        return "" if reason is None else letters.setdefault(reason, chr(ord("a") + len(letters)))

    columns = axes()[table.columns]
    rows = [(f"`{row}`", *(cell(row, column) for column in columns)) for row in axes()[table.rows]]
    return _table(("", *(f"`{column}`" for column in columns)), rows)


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)

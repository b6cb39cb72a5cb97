"""What a command shows to people: headings, lines and tables; drawn on a terminal, plain in a pipe."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import IO

from droidgate.cli.safe_text import visible


@dataclass(frozen=True, slots=True)
class Heading:
    """Starts a part of a page."""

    text: str


@dataclass(frozen=True, slots=True)
class Line:
    """One line; `indent` in steps of two blanks."""

    text: str = ""
    indent: int = 0


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of as many cells as there are columns; the last column may be long."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]


Block = Heading | Line | Table


def show(blocks: Iterable[Block], stream: IO[str] | None = None) -> None:
    """Show a page on standard output or another stream.

    Every text is made safe here, so no caller can forget it.
    """
    stream = sys.stdout if stream is None else stream
    if stream.isatty() and os.environ.get("TERM") != "dumb":
        _draw(blocks, stream)
    else:
        for block in blocks:
            stream.writelines(f"{line}\n" for line in _plain_lines(block))


def tell(text: str) -> None:
    """Tell something on standard error: progress, what was left out, where things were written."""
    print(visible(text), file=sys.stderr)


def _plain_lines(block: Block) -> Iterable[str]:
    if isinstance(block, Heading):
        return [visible(block.text)]
    if isinstance(block, Line):
        return [f"{'  ' * block.indent}{visible(block.text)}".rstrip()]
    rows = [[visible(cell) for cell in row] for row in (block.columns, *block.rows)]
    widths = [max(len(row[at]) for row in rows) for at in range(len(block.columns) - 1)]
    return [_padded(row, widths) for row in rows]


def _padded(row: Sequence[str], widths: Sequence[int]) -> str:
    cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
    return "  " + "  ".join([*cells, row[-1]]).rstrip()


def _draw(blocks: Iterable[Block], stream: IO[str]) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table as DrawnTable
    from rich.text import Text

    console = Console(file=stream, markup=False, highlight=False, emoji=False)
    for block in blocks:
        if isinstance(block, Heading):
            console.print(Text(visible(block.text), style="bold"))
        elif isinstance(block, Line):
            console.print(Text("  " * block.indent + visible(block.text)))
        else:
            table = DrawnTable(box=SIMPLE_HEAD, pad_edge=False, header_style="bold")
            for column in block.columns:
                table.add_column(Text(visible(column)), overflow="fold")
            for row in block.rows:
                table.add_row(*(Text(visible(cell)) for cell in row))
            console.print(table)

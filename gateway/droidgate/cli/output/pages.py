"""What a command prints: headings, lines and tables; fitted to a terminal, plain in a pipe."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike, fspath
from typing import IO, TYPE_CHECKING, Final

from droidgate.cli.output.safe_text import cut, one_line, visible
from droidgate.cli.output.verbosity import shows_notes, shows_pages

if TYPE_CHECKING:
    from rich.console import Console

_WIDEST_PADDING: Final = 200
"""In a pipe, a cell that is longer than this moves the rest of its own row only."""

_COLOURS: Final = {
    **dict.fromkeys(("error", "security", "impossible", "dropped", "breaking"), "red"),
    **dict.fromkeys(("warning", "defaulted", "widened", "narrowed"), "yellow"),
}


@dataclass(frozen=True, slots=True)
class Heading:
    """Starts a part of a page."""

    text: str


@dataclass(frozen=True, slots=True)
class Line:
    """One line; `indent` in steps of two blanks; a terminal shows `longest` characters of it."""

    text: str = ""
    indent: int = 0
    longest: int | None = None


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of as many cells as there are columns; the last column may be long.

    Attributes:
        columns: Their names.
        rows: Their cells.
        longest: How many characters of a column's cells a terminal shows; a pipe gets all of them.
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    longest: Mapping[str, int] = field(default_factory=dict)


Block = Heading | Line | Table


def show(blocks: Iterable[Block], stream: IO[str] | None = None, *, is_data: bool = False) -> None:
    """Show a page on standard output or another stream.

    Every text is made safe here, so no caller can forget it.

    Args:
        blocks: The page.
        stream: Where it goes.
        is_data: It is what the command was asked for, such as the outputs of a call: `--quiet` does not
            leave it out.
    """
    if not is_data and not shows_pages():
        return
    stream = sys.stdout if stream is None else stream
    if os.environ.get("FORCE_COLOR") or (stream.isatty() and os.environ.get("TERM") != "dumb"):
        _draw(blocks, stream)
    else:
        for block in blocks:
            stream.writelines(f"{line}\n" for line in _plain_lines(block))


def noun(count: int, singular: str, plural: str | None = None) -> str:
    """Return a noun in the number that a count needs; the plural ends in `s` unless it is given."""
    return singular if count == 1 else plural or f"{singular}s"


def amount(count: int, singular: str, plural: str | None = None) -> str:
    """Return a count with its noun: `1 shim`, `2,000 shims`."""
    return f"{count:,} {noun(count, singular, plural)}"


def file_line(status: str, path: str | PathLike[str]) -> str:
    """Return what became of a file: `created: PATH`, `would update: PATH`."""
    return f"{status}: {one_line(fspath(path))}"


def print_note(text: str) -> None:
    """Print a line on standard error that `--quiet` leaves out: progress, where things were written."""
    if shows_notes():
        print(visible(text), file=sys.stderr)


def print_warning(text: str) -> None:
    """Print a line on standard error that nothing leaves out: what was not read, written or done."""
    print(visible(text), file=sys.stderr)


def _plain_lines(block: Block) -> Iterable[str]:
    if isinstance(block, Heading):
        return [visible(block.text)]
    if isinstance(block, Line):
        return [f"{'  ' * block.indent}{visible(block.text)}".rstrip()]
    rows = [[visible(cell) for cell in row] for row in (block.columns, *block.rows)]
    widths = [min(max(len(row[at]) for row in rows), _WIDEST_PADDING) for at in range(len(block.columns) - 1)]
    return [_padded(row, widths) for row in rows]


def _padded(row: Sequence[str], widths: Sequence[int]) -> str:
    cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
    return "  " + "  ".join([*cells, row[-1]]).rstrip()


def _draw(blocks: Iterable[Block], stream: IO[str]) -> None:
    from rich.console import Console
    from rich.padding import Padding
    from rich.text import Text

    console = Console(file=stream, markup=False, highlight=False, emoji=False)
    for block in blocks:
        if isinstance(block, Heading):
            console.print(Text(visible(block.text), style="bold"))
        elif isinstance(block, Line):
            text = Text(cut(visible(block.text), block.longest))
            console.print(Padding(text, (0, 0, 0, 2 * block.indent), expand=False) if block.indent else text)
        else:
            _draw_table(block, console)


def _draw_table(block: Table, console: Console) -> None:
    from droidgate.cli.output.tables import draw_table

    longest = [block.longest.get(column) for column in block.columns]
    rows = [[cut(visible(cell), most) for cell, most in zip(row, longest, strict=True)] for row in block.rows]
    draw_table([visible(column) for column in block.columns], rows, _COLOURS, console)

"""What a command prints: headings, lines and tables; fitted to a terminal, plain in a pipe."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from io import StringIO
from os import PathLike, fspath
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final, TypeAlias

from droidgate.cli.output.page_length import is_short_page, shows_details
from droidgate.cli.output.safe_text import cut, one_line, visible
from droidgate.cli.output.verbosity import shows_notes, shows_pages
from droidgate.cli.output.waiting_line import clear_waiting_line
from droidgate_mappings.model.errors import UsageError
from droidgate_mappings.records import dataclass, field, replace
from droidgate_mappings.text.counted_nouns import amount, noun

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

_WIDEST_PADDING: Final = 200
"""In a pipe, a cell that is longer than this moves the rest of its own row only."""

_MOST_LINES: Final = 40
"""Lines of a page that is shown whole."""

_ROWS_OF_PART: Final = (10, 6, 4)
"""How many rows of each part a longer page has: the first number with which the most parts fit."""

_MOST_FILES: Final = 6
"""Files with a line each in a short report."""

SECURITY: Final = "Security"
"""What headings of parts about access rules begin with."""
LEFT_TO_DO: Final = "Left to do"
"""The heading of what somebody has to do after the command."""

_COLOURS: Final = {
    **dict.fromkeys(("error", "security", "impossible", "dropped", "breaking", "not-decided"), "red"),
    **dict.fromkeys(("warning", "defaulted", "widened", "narrowed"), "yellow"),
}


@dataclass(frozen=True, slots=True)
class Heading:
    """Starts a part of a page.

    Attributes:
        text: Its words.
        is_detail: A page that is shortened ends before this part.
        is_whole: A page that is shortened has all of this part.
    """

    text: str
    is_detail: bool = False
    is_whole: bool = False


@dataclass(frozen=True, slots=True)
class Line:
    """One line; `indent` in steps of two blanks; a short page of a terminal cuts it to `longest`.

    Where it is wrapped, its further lines begin after `hanging` blanks more.
    """

    text: str = ""
    indent: int = 0
    longest: int | None = None
    hanging: int = 0


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of as many cells as there are columns; the last column may be long.

    Attributes:
        columns: Their names.
        rows: Their cells.
        longest: How many characters of a column's cells a short page on a terminal has.
        details: Columns that a short page leaves out.
        short_rows: What a short page has in place of the rows, of its columns; None where it has the rows.
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    longest: Mapping[str, int] = field(default_factory=dict)
    details: frozenset[str] = frozenset()
    short_rows: Sequence[Sequence[str]] | None = None

    def without_details(self) -> Table:
        """Return the table of a short page."""
        if not self.details:
            return self
        positions = [at for at, column in enumerate(self.columns) if column not in self.details]
        rows = self.short_rows
        if rows is None:
            rows = [[row[at] for at in positions] for row in self.rows]
        columns = [self.columns[at] for at in positions]
        return replace(self, columns=columns, rows=rows, details=frozenset(), short_rows=None)


Block = Heading | Line | Table
Height: TypeAlias = Callable[[Sequence[Block]], int]


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
    clear_waiting_line()
    stream = sys.stdout if stream is None else stream
    on_terminal = is_drawn(stream)
    if is_short_page(on_terminal=on_terminal):
        blocks = short_page(list(blocks), on_terminal=on_terminal)
    else:
        blocks = map(_with_whole_texts, blocks)
    if on_terminal:
        draw_page(blocks, stream)
    else:
        for block in blocks:
            stream.writelines(f"{line}\n" for line in _plain_lines(block))


def is_drawn(stream: IO[str]) -> bool:
    """Return whether pages on a stream are drawn for a terminal."""
    return bool(os.environ.get("FORCE_COLOR")) or (stream.isatty() and os.environ.get("TERM") != "dumb")


def _with_whole_texts(block: Block) -> Block:
    if isinstance(block, Heading):
        return block
    return replace(block, longest=None) if isinstance(block, Line) else replace(block, longest={})


def short_page(blocks: Sequence[Block], *, on_terminal: bool) -> list[Block]:
    """Return a page of about a screen: the first parts, the first rows of each, and the summary.

    Parts begin with a heading; those about security and what is left to do are never left out as a whole.
    What is left out is counted, and its first headings are shown.

    Args:
        blocks: The whole page.
        on_terminal: It is drawn, as wide as the terminal; long texts are cut there.
    """
    height = drawn_height if on_terminal else plain_height
    tables = [block for block in blocks if isinstance(block, Table)]
    columns = sorted({name for table in tables for name in table.details})
    joined = sum(len(table.rows) - len(table.short_rows) for table in tables if table.short_rows is not None)
    blocks = [block.without_details() if isinstance(block, Table) else block for block in blocks]
    reverse = enumerate(reversed(blocks))
    ends_at = len(blocks) - next((at for at, block in reverse if block == Line() or _is_table(block)), 0)
    body, summary = blocks[:ends_at], blocks[ends_at:]
    parts = rows = 0
    if not _is_screen(blocks, height):
        summary, hidden = _short_part(summary, _ROWS_OF_PART[0])
        room = _MOST_LINES - height(summary)
        tried = [_first_parts(blocks[:ends_at], most, room, height) for most in _ROWS_OF_PART]
        body, parts, rows, _ = min(tried, key=lambda item: (item[1], item[-1]))
        rows += hidden
    texts = sum(map(_cut_texts, [*body, *summary])) if on_terminal else 0
    counts = [
        *([f"the {noun(len(columns), 'column')} {' and '.join(columns)}"] if columns else []),
        *([amount(parts, "part of this page", "parts of this page")] if parts else []),
        *([amount(joined + rows, "line")] if joined + rows else []),
        *([f"the {noun(texts, 'end')} of {amount(texts, 'text')}"] if texts else []),
    ]
    if counts:
        body += [] if not body or body[-1] == Line() else [Line()]
        body.append(Line(f"left out: {', '.join(counts)}; --details shows everything"))
    return [*body, *summary]


def _cut_texts(block: Block) -> int:
    """Return how many texts of a block are cut where it is drawn."""
    if isinstance(block, Heading):
        return 0
    if isinstance(block, Line):
        return int(block.longest is not None and len(visible(block.text)) > block.longest)
    longest = [block.longest.get(column) for column in block.columns]
    return sum(
        most is not None and len(visible(cell)) > most
        for row in block.rows
        for cell, most in zip(row, longest, strict=True)
    )


def _is_screen(blocks: Sequence[Block], height: Height) -> bool:
    """Return whether a page is shown whole; a long one is not drawn to find that out."""
    return sum(map(_rows_of, blocks)) <= _MOST_LINES and height(blocks) <= _MOST_LINES


def _first_parts(
    blocks: Sequence[Block], most: int, room: int, height: Height
) -> tuple[list[Block], int, int, int]:
    """Return the parts of a page that fit, how many parts and rows are left out, and the lines too many.

    The headings of parts that do not fit come last.
    """
    body: list[Block] = []
    headings: list[Block] = []
    parts = rows = 0
    is_full = is_detail = False
    for part in _parts(blocks):
        heading = part[0] if isinstance(part[0], Heading) else Heading("")
        is_security = heading.text.startswith(SECURITY)
        short, left_out = _short_part(part, _ROWS_OF_PART[0] if is_security else most)
        if heading.is_whole:
            short, left_out = part, 0
        lines = height(short)
        is_detail = is_detail or heading.is_detail
        is_kept = is_security or heading.is_whole or heading.text == LEFT_TO_DO or not body
        is_full = is_full or lines > room
        if is_kept or not (is_detail or is_full):
            body += short
            rows += left_out
            room -= lines
        else:
            parts += 1
            rows += sum(map(_rows_of, part))
            headings += [] if is_detail else [Line(heading.text, 1)]
    if headings:
        body += [Heading("More"), *_short_part([*headings, Line()], _ROWS_OF_PART[0])[0]]
    return body, parts, rows, max(0, -room)


def _short_part(part: Sequence[Block], most: int) -> tuple[list[Block], int]:
    """Return a part with the first rows of tables and of runs of lines, and how many it leaves out."""
    shown: list[Block] = []
    left_out = lines = 0
    hidden: list[Block] = []
    for block in [*part, None]:
        if isinstance(block, Line) and block.text:
            lines += 1
            (shown if lines <= most else hidden).append(block)
            continue
        # A note about a single omitted line would take as much room as the line.
        if len(hidden) > 1:
            shown.append(Line(f"and {amount(len(hidden), 'more line')}", 1))
            left_out += len(hidden)
        else:
            shown += hidden
        lines, hidden = 0, []
        more = len(block.rows) - most if isinstance(block, Table) else 0
        if isinstance(block, Table) and more > 1:
            shown += [replace(block, rows=block.rows[:most]), _more_rows(more)]
            left_out += more
        elif block is not None:
            shown.append(block)
    return shown, left_out


def _more_rows(count: int) -> Line:
    return Line(f"and {amount(count, 'more row')}", 1)


def _is_table(block: Block) -> bool:
    return not isinstance(block, Line)


def _rows_of(block: Block) -> int:
    return len(block.rows) + 1 if isinstance(block, Table) else 1


def drawn_height(blocks: Sequence[Block]) -> int:
    """Return how many lines of a terminal blocks take."""
    drawn = StringIO()
    draw_page(blocks, drawn)
    return drawn.getvalue().count("\n")


def plain_height(blocks: Sequence[Block]) -> int:
    """Return how many lines blocks take in a pipe."""
    return sum(map(_rows_of, blocks))


def _parts(blocks: Sequence[Block]) -> Iterator[list[Block]]:
    """Yield the blocks of each heading, those before the first heading first."""
    part: list[Block] = []
    for block in blocks:
        if isinstance(block, Heading) and part:
            yield part
            part = []
        part.append(block)
    if part:
        yield part


def file_line(status: str, path: str | PathLike[str]) -> str:
    """Return what became of a file: `created: PATH`, `would update: PATH`."""
    return f"{status}: {one_line(fspath(path))}"


def file_lines(statuses: Mapping[Path, str]) -> list[Block]:
    """Return what became of files, as the end of a page on standard output; many have a line together."""
    paths: dict[str, list[Path]] = {}
    for path, status in statuses.items():
        paths.setdefault(status, []).append(path)
    blocks: list[Block] = []
    for status, changed in paths.items():
        if shows_details() or len(changed) <= _MOST_FILES:
            blocks += [Line(file_line(status, path)) for path in changed]
        else:
            below = os.path.commonpath(changed)
            blocks.append(Line(f"{status}: {len(changed)} files in {one_line(below)}; --details lists them"))
    return blocks


def print_file_notes(statuses: Mapping[Path, str]) -> None:
    """Print what became of files on standard error, since standard output has content: a document or diff."""
    for path, status in statuses.items():
        print_note(file_line(status, path))


def print_note(text: str) -> None:
    """Print a line on standard error that `--quiet` leaves out: progress, where things were written."""
    if shows_notes():
        print_warning(text)


def print_warning(text: str) -> None:
    """Print a line on standard error that nothing leaves out: what was not read, written or done."""
    clear_waiting_line()
    print(visible(text), file=sys.stderr)


def confirm(question: str, *, options: str) -> bool:
    """Ask on standard error until the answer is yes or no; Enter is no.

    Args:
        question: The question.
        options: The options of the command that answer it.

    Raises:
        UsageError: the input ends before an answer.
    """
    clear_waiting_line()
    while True:
        print(f"{question} [y/N]: ", end="", file=sys.stderr, flush=True)
        line = sys.stdin.readline()
        if not line:
            print(file=sys.stderr)  # ends the line of the question
            raise UsageError("the input ended before an answer", hint=f"answer y or n, or by {options}")
        answer = line.strip().lower()
        if answer in {"", "n", "no", "y", "yes"}:
            return answer.startswith("y")
        print_warning(f"error: {one_line(answer)!r} is not an answer")
        print_warning("hint: answer y or n")


def _plain_lines(block: Block) -> Iterable[str]:
    if isinstance(block, Heading):
        return [visible(block.text)]
    if isinstance(block, Line):
        return [f"{'  ' * block.indent}{visible(block.text)}".rstrip()]
    rows = [[visible(cell) for cell in row] for row in (block.columns, *block.rows)]
    widths = [min(max(len(row[at]) for row in rows), _WIDEST_PADDING) for at in range(len(block.columns) - 1)]
    return [_pad_row(row, widths) for row in rows]


def _pad_row(row: Sequence[str], widths: Sequence[int]) -> str:
    cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
    return "  " + "  ".join([*cells, row[-1]]).rstrip()


def draw_page(blocks: Iterable[Block], stream: IO[str]) -> None:
    """Print blocks as a terminal shows them, as wide as the terminal or as `COLUMNS` says."""
    from rich.console import Console
    from rich.text import Text

    console = Console(file=stream, markup=False, highlight=False, emoji=False)
    for block in blocks:
        if isinstance(block, Heading):
            draw_text(Text(visible(block.text), style="bold"), console)
        elif isinstance(block, Line):
            text = Text(cut(visible(block.text), block.longest))
            draw_text(text, console, indent=2 * block.indent, hanging=block.hanging)
        else:
            _draw_table(block, console)


def draw_text(text: Text, console: Console, *, indent: int = 0, hanging: int = 0) -> None:
    """Print a text that is wrapped at words, without the blanks that it is wrapped at.

    Args:
        text: The text.
        console: Where it goes.
        indent: Blanks before each line.
        hanging: Further blanks before each line but the first.
    """
    from rich.text import Text

    room = max(1, console.width - indent)
    lines = [*text.wrap(console, room)]
    if hanging and len(lines) > 1:
        first = lines[0]
        rest = text[len(first) :]
        rest = rest[len(rest.plain) - len(rest.plain.lstrip()) :]
        lines = [first, *rest.wrap(console, max(1, room - hanging))]
    for number, line in enumerate(lines):
        line.rstrip()
        console.print(Text(" " * (indent + (hanging if number else 0))) + line)


def _draw_table(block: Table, console: Console) -> None:
    from droidgate.cli.output.tables import draw_table

    longest = [block.longest.get(column) for column in block.columns]
    rows = [[cut(visible(cell), most) for cell, most in zip(row, longest, strict=True)] for row in block.rows]
    draw_table([visible(column) for column in block.columns], rows, _COLOURS, console)

"""Tables that fit a terminal of any width, with their header.

A row takes one line where that is possible, with cells wrapped at words. On a narrower terminal, the columns
that do not fit continue on indented lines, and the header continues in the same way.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Final

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.text import Text

_INDENT: Final = 2
_CONTINUED_INDENT: Final = 6
_GAP: Final = 2
_NARROWEST: Final = 14
_NARROWEST_LAST: Final = 34
"""The last column usually holds sentences."""
_WORDS: Final = re.compile(r"/?[^\s/]*\s*")
_EMPTY: Final = frozenset({"", "-"})
_MOST_LINES_OF_A_ROW: Final = 4
"""A row that continues on more lines is a list of its columns."""


def draw_table(
    columns: Sequence[str], rows: Sequence[Sequence[str]], colours: Mapping[str, str], console: Console
) -> None:
    """Print a table on a console.

    Args:
        columns: The header's cells.
        rows: As many cells each; every text is safe to print.
        colours: From the text of a row's first cell to the style in which it is printed.
        console: The console; its width is that of the terminal.
    """
    lines = _divide_columns([columns, *rows], console.width)
    if rows and len(lines) > _MOST_LINES_OF_A_ROW:
        _draw_lists(columns, rows, console)
        return
    for number, line in enumerate(lines):
        for text in _draw_line([columns[column] for column, _ in line], line, number):
            text.stylize("bold")
            _print(text, console)
    for row in rows:
        for number, line in enumerate(lines):
            cells = [row[column] for column, _ in line]
            if number and _EMPTY.issuperset(cells):
                continue
            for position, text in enumerate(_draw_line(cells, line, number)):
                if number == position == 0:
                    text.stylize(colours.get(row[0], ""), _INDENT, _INDENT + len(row[0]))
                _print(text, console)


def _draw_lists(columns: Sequence[str], rows: Sequence[Sequence[str]], console: Console) -> None:
    """Print each row as lines of a column and its cell; the first column begins further left."""
    name_width = max(map(cell_len, columns))
    for row in rows:
        for number, cells in enumerate(zip(columns, row, strict=True)):
            if number and cells[1] in _EMPTY:
                continue
            indent = _CONTINUED_INDENT if number else _INDENT
            line = ((0, name_width), (1, max(1, console.width - indent - name_width - _GAP)))
            for text in _draw_line(cells, line, number):
                text.stylize("bold", indent, indent + name_width)
                _print(text, console)


def _divide_columns(rows: Sequence[Sequence[str]], width: int) -> list[list[tuple[int, int]]]:
    """Return, for each line of a row, its columns with their widths."""
    natural = [max(map(cell_len, cells)) for cells in zip(*rows, strict=True)]
    least = [
        max(min(natural[column], _NARROWEST), *map(_longest_word, cells))
        for column, cells in enumerate(zip(*rows, strict=True))
    ]
    least[-1] = min(natural[-1], _NARROWEST_LAST)
    lines: list[list[int]] = []
    room = -1
    for column, needed in enumerate(least):
        # Sentences are easier to read on a line of their own than next to another column.
        is_long_text = len(lines) > 1 and column == len(least) - 1 and room < _GAP + natural[-1]
        if is_long_text or room < _GAP + needed:
            lines.append([])
            room = width - (_CONTINUED_INDENT if len(lines) > 1 else _INDENT) + _GAP
        lines[-1].append(column)
        room -= _GAP + needed
    return [_share_width(line, natural, least, width, number) for number, line in enumerate(lines)]


def _share_width(
    line: Sequence[int], natural: Sequence[int], least: Sequence[int], width: int, number: int
) -> list[tuple[int, int]]:
    """Return the columns of a line with their widths; the first columns get what room is left."""
    indent = _CONTINUED_INDENT if number else _INDENT
    spare_width = max(0, width - indent - sum(least[column] + _GAP for column in line) + _GAP)
    widths = []
    for column in line:
        more = min(spare_width, natural[column] - least[column])
        spare_width -= max(0, more)
        widths.append((column, max(1, min(least[column] + more, width - indent))))
    return widths


def _longest_word(text: str) -> int:
    return max((cell_len(word.rstrip()) for word in _WORDS.findall(text)), default=0)


def wrap_cell(text: str, width: int) -> list[str]:
    """Return a text as lines of at most `width` columns, broken at blanks and before slashes if possible."""
    lines = [""]
    for word in _WORDS.findall(text):
        for part in _fold(word, width):
            if cell_len((lines[-1] + part).rstrip()) > width:
                lines.append("")
            lines[-1] += part if lines[-1] else part.lstrip()
    return [line.rstrip() for line in lines]


def _fold(word: str, width: int) -> Iterator[str]:
    """Yield a word in parts of at most `width` columns, the blanks behind it with the last part."""
    part = ""
    for character in word:
        if not character.isspace() and cell_len(part + character) > width:
            yield part
            part = ""
        part += character
    yield part


def _draw_line(cells: Sequence[str], line: Sequence[tuple[int, int]], number: int) -> Iterator[Text]:
    """Yield one line of a row, and the lines on which its cells continue."""
    indent = " " * (_CONTINUED_INDENT if number else _INDENT)
    wrapped = [wrap_cell(cell, width) for cell, (_, width) in zip(cells, line, strict=True)]
    for parts in zip_longest(*wrapped, fillvalue=""):
        padded = (set_cell_size(part, width) for part, (_, width) in zip(parts, line, strict=True))
        yield Text((indent + (" " * _GAP).join(padded)).rstrip())


def _print(text: Text, console: Console) -> None:
    console.print(text, no_wrap=True, overflow="ignore", crop=False)

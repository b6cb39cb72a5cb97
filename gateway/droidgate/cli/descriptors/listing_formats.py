"""What `formats` does."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from droidgate.cli.exit_codes import ExitCode
from droidgate.cli.output.documents import DialectRecord, FormatRecord, FormatsDocument, Matrix
from droidgate.cli.output.json_output import print_json
from droidgate.cli.output.pages import Block, Heading, Line, Table, show
from droidgate.formats import Format, load_formats
from droidgate.support_matrix import SupportMatrix, cell_text, make_matrix


def list_formats(*, with_matrix: bool, as_json: bool) -> int:
    """Show the formats, or the support matrix."""
    formats = list(load_formats().values())
    matrix = make_matrix(formats)
    if as_json:
        print_json(FormatsDocument(formats=tuple(map(_record, formats)), matrix=Matrix.of(matrix)))
    else:
        show(matrix_page(matrix) if with_matrix else formats_page(formats))
    return ExitCode.OK


def formats_page(formats: Iterable[Format]) -> list[Block]:
    """Return what `formats` shows."""
    blocks: list[Block] = []
    for format_ in formats:
        rows = [
            (
                dialect.id,
                "yes" if dialect.readable else "no",
                "yes" if can_write(format_, dialect.id) else "no",
                dialect.summary,
            )
            for dialect in format_.dialects
        ]
        blocks += [
            Heading(f"{format_.id}  {format_.title}"),
            Table(("DIALECT", "READ", "WRITTEN", "SUMMARY"), rows),
        ]
        for dialect in format_.dialects:
            for why in (dialect.not_read_because, dialect.not_written_because):
                if why is not None:
                    blocks.append(Line(f"{dialect.id}: {why}", 1))
        blocks.append(Line())
    blocks.append(Line("The first dialect of a format is the default of `convert --to FORMAT`"))
    return blocks


def matrix_page(matrix: SupportMatrix) -> list[Block]:
    """Return what `formats --matrix` shows: a table for each format, or one where each has one dialect."""
    by_format: dict[str, list[int]] = {}
    for position, column in enumerate(matrix.columns):
        by_format.setdefault(column.partition("+")[0], []).append(position)
    if len(by_format) == len(matrix.columns):
        return [_matrix_table(matrix, range(len(matrix.columns)))]
    blocks: list[Block] = []
    for name, positions in by_format.items():
        blocks += [*([Line()] if blocks else []), Heading(name), _matrix_table(matrix, positions)]
    return blocks


def _matrix_table(matrix: SupportMatrix, positions: Sequence[int]) -> Table:
    rows = [
        (f"{row.group}: {row.feature}", *(cell_text(row.cells[position]) for position in positions))
        for row in matrix.rows
    ]
    return Table(("FEATURE", *(matrix.columns[position] for position in positions)), rows)


def can_write(format_: Format, dialect_id: str) -> bool:
    """Return whether a dialect can be written."""
    return format_.write is not None and format_.dialect(dialect_id).capacity is not None


def _record(format_: Format) -> FormatRecord:
    return FormatRecord.of(
        format_,
        dialects=tuple(
            DialectRecord.of(dialect, read=dialect.readable, written=can_write(format_, dialect.id))
            for dialect in format_.dialects
        ),
    )

"""What `formats` does, and its document."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from droidgate.cli.descriptors.descriptor_options import Formats
from droidgate.cli.output.json_output import Document, PublishedDocument
from droidgate.cli.output.pages import Block, Heading, Line, Table
from droidgate.cli.output.reports import Report
from droidgate_mappings.formats.format import Format, load_formats
from droidgate_mappings.formats.support_matrix import SupportMatrix, cell_text, make_matrix
from droidgate_mappings.tables.capacity import Capacity


class DialectRecord(Document):
    """One dialect: whether it is read and written, and why where it is not."""

    id: str
    summary: str
    wire: tuple[str, ...]
    read: bool
    written: bool
    not_read_because: str | None
    not_written_because: str | None
    capacity: Capacity | None


class FormatRecord(Document):
    """One format; its first dialect is the default for writing."""

    id: str
    title: str
    dialects: tuple[DialectRecord, ...]


class FormatsDocument(PublishedDocument, schema="droidgate.formats/1"):
    """What `formats --json` prints."""

    formats: tuple[FormatRecord, ...]
    matrix: SupportMatrix


def list_formats(options: Formats) -> Report:
    """Report the formats, or the support matrix."""
    formats = list(load_formats().values())
    matrix = make_matrix(formats)
    return Report(
        lambda: matrix_page(matrix) if options.matrix else formats_page(formats),
        lambda: FormatsDocument(formats=tuple(map(_record, formats)), matrix=matrix),
    )


def formats_page(formats: Iterable[Format]) -> list[Block]:
    """Return what `formats` shows."""
    rows: list[tuple[str, ...]] = []
    alike: dict[tuple[str, ...], list[str]] = {}
    reasons: list[Block] = []
    for format_ in formats:
        for dialect in format_.dialects:
            flags = (dialect.readable, can_write(format_, dialect.id))
            read, written = ("yes" if flag else "no" for flag in flags)
            rows.append((format_.id, dialect.id, read, written, dialect.summary))
            alike.setdefault((format_.id, read, written), []).append(dialect.id)
            reasons += [
                Line(f"{format_.id}+{dialect.id}: {reason}", 1)
                for reason in (dialect.not_read_because, dialect.not_written_because)
                if reason is not None
            ]
    short_rows = [(name, ", ".join(dialects), *flags) for (name, *flags), dialects in alike.items()]
    columns = ("FORMAT", "DIALECT", "READ", "WRITTEN", "SUMMARY")
    return [
        Table(columns, rows, details=frozenset({"SUMMARY"}), short_rows=short_rows),
        Line(),
        *([Heading("Not read or not written", is_detail=True), *reasons, Line()] if reasons else []),
        Line("The first dialect of a format is the default of `convert --to FORMAT`"),
    ]


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

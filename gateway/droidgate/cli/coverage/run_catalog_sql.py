"""What `catalog sql` does, and its document."""

from __future__ import annotations

import sys
from itertools import islice
from typing import Any, Final

from droidgate.cli.coverage.coverage_options import CatalogSql
from droidgate.cli.exit_codes import ExitCode
from droidgate.cli.output.json_output import Document, PublishedDocument, print_json_with_rows
from droidgate.cli.output.pages import Line, Table, show
from droidgate.coverage.catalog_questions import query_catalog
from droidgate.sources.catalogs.catalog import Answered, Catalog
from droidgate.sources.catalogs.csv_answers import json_value_of, write_csv
from droidgate_mappings.model.errors import UsageError
from droidgate_mappings.model.json_values import Json, one_line_json
from droidgate_mappings.text.counted_nouns import amount

MOST_SHOWN: Final = 1_000
"""Most rows of a page; CSV and JSON have all rows."""


def ask_catalog(options: CatalogSql) -> int:
    """Ask a catalog a question and print the answer."""
    if options.as_csv and options.as_json:
        raise UsageError("--json and --csv exclude each other", hint="choose one of them")
    print_answer = _print_document if options.as_json else _print_csv if options.as_csv else _show
    catalog = Catalog.open(options.catalog)
    with query_catalog(catalog, options.query, memory=options.memory, deadline=options.deadline) as answered:
        print_answer(answered)
    return ExitCode.OK


def _show(answered: Answered) -> None:
    rows = [[_text_of(value) for value in row] for row in islice(answered.rows, MOST_SHOWN)]
    more = next(answered.rows, None) is not None
    count = amount(len(rows), "row")
    summary = f"the first {count}; --csv and --json print all" if more else count
    show([Table([name for name, _ in answered.columns], rows), Line(summary)], is_data=True)


def _print_csv(answered: Answered) -> None:
    write_csv([name for name, _ in answered.columns], answered.rows, sys.stdout)


def _text_of(value: Any) -> str:
    cell = json_value_of(value)
    if cell is None:
        return ""
    return cell if isinstance(cell, str) else one_line_json(cell)


def _print_document(answered: Answered) -> None:
    columns = tuple(AnswerColumn(name=name, type=kind) for name, kind in answered.columns)
    rows = ([json_value_of(value) for value in row] for row in answered.rows)
    print_json_with_rows(AnswerDocument(columns=columns, rows=()), rows)


class AnswerColumn(Document):
    """A column of an answer, with DuckDB's name of its type."""

    name: str
    type: str


class AnswerDocument(PublishedDocument, schema="droidgate.catalog-sql/1"):
    """What `catalog sql --json` prints: columns, and rows of JSON values (dates and the like as text)."""

    columns: tuple[AnswerColumn, ...]
    rows: tuple[tuple[Json, ...], ...]

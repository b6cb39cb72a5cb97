"""What `catalog sql` does."""

from __future__ import annotations

import csv
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from droidgate.cli.exit_codes import ExitCode
from droidgate.cli.pages import Line, Table, show
from droidgate.cli.safe_text import visible
from droidgate.coverage.catalog import Answered, Catalog, query
from droidgate.model.errors import UsageError
from droidgate.model.json_values import Json, one_line_json


def ask_catalog(folder: Path, sql: str, *, as_csv: bool, as_json: bool) -> int:
    """Ask a catalog a question and show the answer."""
    if as_csv and as_json:
        raise UsageError("--json and --csv exclude each other", hint="Choose one of them")
    answered = query(Catalog.open(folder), sql)
    if as_json:
        _print_document(answered)
    elif as_csv:
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow([visible(name) for name, _ in answered.columns])
        writer.writerows([visible(_text_of(held)) for held in row] for row in answered.rows)
    else:
        rows = [[_text_of(held) for held in row] for row in answered.rows]
        count = f"{len(rows):,} row" + ("" if len(rows) == 1 else "s")
        show([Table([name for name, _ in answered.columns], rows), Line(count)])
    return ExitCode.OK


def _text_of(value: Any) -> str:
    held = _value_of(value)
    if held is None:
        return ""
    return held if isinstance(held, str) else one_line_json(held)


def _value_of(value: Any) -> Json:
    """Return what DuckDB gave as a JSON value; what JSON has no value for, as text."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if value - value == 0 else str(value)
    if isinstance(value, Mapping):
        return {str(name): _value_of(held) for name, held in value.items()}
    if isinstance(value, (list, tuple)):
        return [_value_of(held) for held in value]
    return str(value)


def _print_document(answered: Answered) -> None:
    from droidgate.cli.catalog_documents import AnswerColumn, AnswerDocument
    from droidgate.cli.json_output import print_json

    print_json(
        AnswerDocument(
            columns=tuple(AnswerColumn(name=name, type=kind) for name, kind in answered.columns),
            rows=tuple(tuple(map(_value_of, row)) for row in answered.rows),
        )
    )

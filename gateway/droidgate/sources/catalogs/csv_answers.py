"""Answers of DuckDB as CSV that is safe to open in a spreadsheet."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import IO, Any, Final

from droidgate_mappings.model.json_values import Json, one_line_json
from droidgate_mappings.text_safety import escaped_character, visible

_FORMULA_BEGINNINGS: Final = tuple("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")
"""What a spreadsheet takes for the beginning of a formula (OWASP, CSV injection)."""
_LINE_CONTROL: Final = re.compile("[\t\n\r]")


def write_csv(names: Sequence[str], rows: Iterable[Sequence[Any]], file: IO[str]) -> None:
    """Write a line of names and a line for each row; characters that nobody sees are written by their code.

    Args:
        names: Names of the columns.
        rows: Values as DuckDB gives them.
        file: Where to; it does not translate line ends.
    """
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(map(csv_cell, names))
    writer.writerows([csv_cell(json_value_of(value)) for value in row] for row in rows)


def csv_cell(value: Json) -> str:
    """Return a cell: a text that a spreadsheet would run begins with an apostrophe."""
    if not isinstance(value, str):
        return "" if value is None else one_line_json(value)
    seen = _LINE_CONTROL.sub(lambda match: escaped_character(match[0]), visible(value))
    return f"'{seen}" if value.startswith(_FORMULA_BEGINNINGS) else seen


def json_value_of(value: Any) -> Json:
    """Return what DuckDB gave as a JSON value; what JSON has no value for, as text."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if value - value == 0 else str(value)
    if isinstance(value, Mapping):
        return {str(name): json_value_of(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [json_value_of(item) for item in value]
    return str(value)

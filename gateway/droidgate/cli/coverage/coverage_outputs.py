"""What `scan`, `catalog sql` and `coverage` print with `--json`."""

from __future__ import annotations

from droidgate.cli.output.json_output import Document, PublishedDocument
from droidgate.coverage.coverage_document import Report
from droidgate_mappings.model.json_values import Json


class ScanDocument(PublishedDocument, schema="droidgate.scan/1"):
    """What `scan --json` prints: what came of a scan.

    Attributes:
        catalog: The folder.
        outcomes: How many sources of the catalog have which outcome.
        resumed: How many had their result from an earlier run that did not end.
        known: How many were not read, since a catalog has their content.
        rows: How many rows each table has.
        targets: The dialects of its conversions.
    """

    catalog: str
    outcomes: dict[str, int]
    resumed: int
    known: int
    rows: dict[str, int]
    targets: tuple[str, ...]


class AnswerColumn(Document):
    """A column of an answer, with DuckDB's name of its type."""

    name: str
    type: str


class AnswerDocument(PublishedDocument, schema="droidgate.catalog-sql/1"):
    """What `catalog sql --json` prints: columns, and rows of JSON values (dates and the like as text)."""

    columns: tuple[AnswerColumn, ...]
    rows: tuple[tuple[Json, ...], ...]


class CoverageDocument(PublishedDocument, schema="droidgate.coverage/2"):
    """What `coverage --json` prints: who exposes what, who can reach it, and what changed.

    Attributes:
        report: The report; its details are there with `--details`.
    """

    report: Report

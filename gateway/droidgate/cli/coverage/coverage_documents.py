"""The document that `coverage --json` prints."""

from __future__ import annotations

from droidgate.cli.output.json_output import PublishedDocument
from droidgate.coverage.document import Report


class CoverageDocument(PublishedDocument, schema="droidgate.coverage/2"):
    """What `coverage --json` prints: who exposes what, who can reach it, and what changed.

    Attributes:
        report: The report; its details are there with `--details`.
    """

    report: Report

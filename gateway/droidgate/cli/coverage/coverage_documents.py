"""The document that `coverage --json` prints."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from droidgate.cli.output.documents import VERSION
from droidgate.cli.output.json_output import Document
from droidgate.coverage.document import Report


class CoverageDocument(Document):
    """What `coverage --json` prints: who exposes what, who can reach it, and what changed.

    Attributes:
        report: The report; its details are there with `--details`.
    """

    schema_id: Literal["droidgate.coverage/2"] = Field(default="droidgate.coverage/2", alias="schema")
    droidgate: str = VERSION
    report: Report

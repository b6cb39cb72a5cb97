"""What a scan could not read, from the rows of its sources and problems."""

from __future__ import annotations

from typing import Final

from droidgate.coverage.document_summary import Counted, UnreadCounts, UnreadInput
from droidgate.coverage.figures import Figures

MOST_REASONS: Final = 20
MOST_INPUTS: Final = 200

# A split of a unit was read with its base, and a file of no known format was read and is not a descriptor.
_UNREAD: Final = """
CREATE OR REPLACE TEMP VIEW unread AS
SELECT source, NULL AS place, coalesce(reason, outcome) AS reason, outcome FROM sources
WHERE outcome NOT IN ('read', 'no-descriptor', 'left-out') AND NOT (outcome = 'part' AND unit IS NOT NULL)
UNION ALL
SELECT coalesce(found.source, problems.unit), problems.place, problems.message, NULL
FROM problems LEFT JOIN found USING (unit)
"""


def unread_of(figures: Figures) -> UnreadCounts:
    """Return what a scan could not read: counts by reason, and the inputs by name."""
    figures.connection.execute(_UNREAD)
    sources, parts = figures.row("SELECT count(outcome), count(*) - count(outcome) FROM unread")
    reasons = figures.rows(
        "SELECT reason, count(*) AS n FROM unread GROUP BY reason ORDER BY n DESC, reason "
        f"LIMIT {MOST_REASONS}"
    )
    inputs = figures.rows(
        "SELECT source, place, outcome, reason FROM unread "
        f"ORDER BY outcome IS NULL, source, place, reason LIMIT {MOST_INPUTS}"
    )
    return UnreadCounts(
        sources=sources,
        parts=parts,
        reasons=tuple(Counted(name=name, count=count) for name, count in reasons),
        inputs=tuple(
            UnreadInput(source=source, place=place, outcome=outcome, reason=reason)
            for source, place, outcome, reason in inputs
        ),
        left_out=sources + parts - len(inputs),
    )

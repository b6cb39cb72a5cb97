"""What came of sources, in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from droidgate.coverage.document_summary import Counted

_WORDS: Final[Mapping[str, tuple[str, str]]] = {
    "part": ("split", "splits"),
    "left-out": ("left out", "left out"),
    "no-descriptor": ("of no known format", "of no known format"),
    "too-slow": ("too slow", "too slow"),
    "too-much-memory": ("beyond the memory limit", "beyond the memory limit"),
}


def outcomes_in_words(outcomes: Iterable[Counted]) -> str:
    """Return outcomes of sources (`SourceRow.outcome`) with their counts, such as `3 read, 1 split`."""
    return ", ".join(
        f"{outcome.count:,} {_WORDS.get(outcome.name, (outcome.name,) * 2)[outcome.count != 1]}"
        for outcome in outcomes
    )

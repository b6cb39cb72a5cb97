"""What changed between what two sources declare, with what could not be compared."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from droidgate.compare import Comparison, Unread, compare_sets
from droidgate.leniency import DECLARATION_UNREAD
from droidgate.model.capability import CapabilitySet, Provider
from droidgate.sources.providers import Providers
from droidgate.sources.source_code import VARIANT_CODE

_HIDING_CODES: Final = frozenset({DECLARATION_UNREAD, VARIANT_CODE})
"""Findings about files whose capabilities are missing."""


def diff(old: Iterable[Provider], new: Iterable[Provider]) -> Comparison:
    """Return what changed between two sets of providers.

    Args:
        old: What `read` returned, or any providers of it.
        new: The same of the later version. What could not be read of either is not compared.
    """
    return compare_sets(
        CapabilitySet(providers=tuple(old)),
        CapabilitySet(providers=tuple(new)),
        unread_old=_unread_of(old),
        unread_new=_unread_of(new),
    )


def _unread_of(read: Iterable[Provider]) -> list[Unread]:
    """Return what was not read of sources, as far as capabilities may be in it."""
    if not isinstance(read, Providers):
        return []
    unread = [
        Unread(
            place=problem.place or " ".join(read.sources),
            reason=problem.message,
            ids=frozenset(problem.left_out) or None,
            is_whole=problem.place is None
            or any(
                problem.place == source or problem.place.startswith(f"{source}:") for source in read.sources
            ),
        )
        for problem in read.problems
    ]
    unread += [
        Unread(place=str(finding.source), reason=finding.message)
        for finding in read.findings
        if finding.code in _HIDING_CODES and finding.source is not None
    ]
    return unread

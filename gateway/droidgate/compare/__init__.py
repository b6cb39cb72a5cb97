"""What changed between two sets of capabilities, and what it means for those who call them."""

from collections.abc import Iterable

from droidgate.compare.changes import (
    WEIGHTS,
    CapabilityComparison,
    Change,
    Comparison,
    ProviderComparison,
    Weight,
    weighs_at_least,
)
from droidgate.compare.providers import compare_sets
from droidgate.model.capability import CapabilitySet, Provider

__all__ = [
    "WEIGHTS",
    "CapabilityComparison",
    "Change",
    "Comparison",
    "ProviderComparison",
    "Weight",
    "compare_sets",
    "diff",
    "weighs_at_least",
]


def diff(old: Iterable[Provider], new: Iterable[Provider]) -> Comparison:
    """Return what changed between two sets of providers, such as those that `read` returns.

    Each change has its weight: breaking, compatible, text only, or about access.
    """
    return compare_sets(CapabilitySet(providers=tuple(old)), CapabilitySet(providers=tuple(new)))

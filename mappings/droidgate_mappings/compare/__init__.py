"""What changed between two sets of capabilities, and what it means for those who call them."""

from droidgate_mappings.compare.changes import (
    WEIGHTS,
    CapabilityComparison,
    Change,
    Comparison,
    NotCompared,
    ProtocolChange,
    ProviderComparison,
    Weight,
    heaviest,
)
from droidgate_mappings.compare.provider_changes import (
    Unread,
    compare_sets,
    pair_providers,
    share_capability,
)

__all__ = [
    "WEIGHTS",
    "CapabilityComparison",
    "Change",
    "Comparison",
    "NotCompared",
    "ProtocolChange",
    "ProviderComparison",
    "Unread",
    "Weight",
    "compare_sets",
    "heaviest",
    "pair_providers",
    "share_capability",
]

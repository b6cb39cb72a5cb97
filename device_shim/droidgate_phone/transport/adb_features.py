"""What the adbd of a release can do, as far as this one does it.

Facts: AOSP `packages/modules/adb/transport.cpp` (`supported_features`) of the releases. Compression, APEX,
`delayed_ack`, tracking of apps and TLS are not done and never announced.
"""

from __future__ import annotations

from typing import Final

_FEATURES_SINCE: Final = (
    (24, ("shell_v2", "cmd")),
    (26, ("stat_v2",)),
    (29, ("fixed_push_mkdir",)),
    (30, ("ls_v2", "abb", "fixed_push_symlink_timestamp", "abb_exec", "sendrecv_v2")),
    (31, ("sendrecv_v2_dry_run_send",)),
)


def features_of(sdk: int) -> tuple[str, ...]:
    """Return the features that the phone announces on an SDK level."""
    return tuple(feature for since, features in _FEATURES_SINCE if sdk >= since for feature in features)

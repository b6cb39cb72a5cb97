"""How much one message, intent or result may hold on its way out of the shim (shim-engine.md 6)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from droidgate_mappings.text.utf16 import utf16_length

MAX_CARRIED_UNITS: Final = 65_536
"""UTF-16 units of all texts together: 128 KiB, a quarter of what one-way transactions have in a process.

A one-way Binder transaction that does not fit fails, and Android crashes a process that a broadcast cannot be
delivered to. Both share 512 KiB with all that is on its way to the same process (reference android-runtime
1.7).
"""

_MAX_TEXT_UNITS: Final = 2_000


def carried_units(extras: Mapping[str, str]) -> int:
    """Return the UTF-16 units of all texts together."""
    return sum(map(utf16_length, extras.values()))


def shortened(text: str) -> str:
    """Return a failure's text, its beginning where it is long."""
    return text if utf16_length(text) <= _MAX_TEXT_UNITS else f"{text[: _MAX_TEXT_UNITS // 2]}..."

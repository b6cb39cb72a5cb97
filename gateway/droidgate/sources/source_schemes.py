"""How sources begin that are no paths of this computer."""

from __future__ import annotations

from typing import Final

STANDARD_INPUT: Final = "-"

DEVICE_SCHEME: Final = "adb:"
"""A phone."""

GIT_SCHEME: Final = "git:"
"""A revision of a Git repository."""

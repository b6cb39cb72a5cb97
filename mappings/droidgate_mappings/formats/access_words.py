"""Access rules in words, for pages and notes."""

from __future__ import annotations

import re
from typing import Final

from droidgate_mappings.formats.reachability import Enabled, enabled_configurations
from droidgate_mappings.tables.android_names import android_name

_VERSION: Final = re.compile(r"v(\d{1,5})", re.ASCII)


def enabled_words(enabled: Enabled) -> str | None:
    """Return where a component is enabled; None where it is enabled in every configuration."""
    configurations = enabled_configurations(enabled)
    if configurations is None:
        return None
    if not configurations:
        return "disabled"
    return f"enabled only in configurations: {', '.join(map(_configuration_words, configurations))}"


def _configuration_words(qualifier: str) -> str:
    version = _VERSION.fullmatch(qualifier)
    return f"{android_name(version[1])} and later" if version is not None else qualifier or "default"

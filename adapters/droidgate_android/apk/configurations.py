"""The configurations that resource values are for (AOSP ResourceTypes.h, ResTable_config)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from droidgate_android.apk.resource_qualifiers import locale_of, qualifier_of

_SIZE_FIELD: Final = 4


@dataclass(frozen=True, slots=True)
class Configuration:
    """For which device a value is.

    Attributes:
        locale: Language, script, region and variant joined by hyphens (`de`, `zh-Hant-TW`), empty for the
            default locale.
        is_default: It is for every device.
        qualifier: The resource qualifier that means it, such as `de-rDE-v21`; empty for the default
            configuration.
    """

    locale: str
    is_default: bool
    qualifier: str = ""


@lru_cache(maxsize=4096)
def read_configuration(raw: bytes) -> Configuration:
    """Return the configuration of a ResTable_config without its size field; a shorter one lacks the rest."""
    if not any(raw):
        return Configuration("", is_default=True)
    config = bytes(_SIZE_FIELD) + raw
    return Configuration(locale_of(config), is_default=False, qualifier=qualifier_of(config))

"""The configurations that resource values are for (AOSP ResourceTypes.h, ResTable_config)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

_LANGUAGE_AT: Final = 4
_REGION_AT: Final = 6
_SCRIPT_AT: Final = 32
_VARIANT_AT: Final = 36
_PACKED: Final = 0x80


@dataclass(frozen=True, slots=True)
class Configuration:
    """For which device a value is.

    Attributes:
        locale: Language, script, region and variant joined by hyphens (`de`, `zh-Hant-TW`), empty for the
            default locale.
        is_default: It is for every device.
    """

    locale: str
    is_default: bool


@lru_cache(maxsize=4096)
def read_configuration(raw: bytes) -> Configuration:
    """Return the configuration of a ResTable_config without its size field; a shorter one lacks the rest."""
    if not any(raw):
        return Configuration("", is_default=True)
    raw = raw.ljust(_VARIANT_AT + 8, b"\0")
    parts = (
        _unpack(raw[_LANGUAGE_AT : _LANGUAGE_AT + 2], ord("a")),
        _text(raw[_SCRIPT_AT : _SCRIPT_AT + 4]),
        _unpack(raw[_REGION_AT : _REGION_AT + 2], ord("0")),
        _text(raw[_VARIANT_AT : _VARIANT_AT + 8]),
    )
    return Configuration("-".join(filter(None, parts)), is_default=False)


def _text(raw: bytes) -> str:
    return raw.partition(b"\0")[0].decode("ascii", "replace")


def _unpack(pair: bytes, base: int) -> str:
    """Return a language or region: two letters as they are, three packed into five bits each."""
    first, second = pair
    if not first & _PACKED:
        return _text(pair)
    letters = (second & 0x1F, (second & 0xE0) >> 5 | (first & 0x03) << 3, (first & 0x7C) >> 2)
    return "".join(chr(base + letter) for letter in letters)

"""Text as Android's Java reads it where it indexes app functions."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

__all__ = ["java_trim", "parse_boolean", "parse_integer", "to_lower_camel_case"]

_JAVA_BLANKS: Final = "".join(map(chr, range(0x21)))


def java_trim(text: str) -> str:
    """Return text as `String.trim` does: without the characters up to U+0020 at both ends."""
    return text.strip(_JAVA_BLANKS)


def parse_boolean(text: str) -> bool:
    """Read text as `Boolean.parseBoolean` does: `true` in any case is true, all else is false."""
    return text.lower() == "true"


def parse_integer(text: str, bits: int) -> int | None:
    """Read text as `Long.parseLong` (64 bits) or `Integer.parseInt` (32 bits) does; None where they throw."""
    if re.fullmatch(r"[+-]?\d{1,40}", text) is None:
        return None
    number = int(text)
    return number if -(1 << (bits - 1)) <= number < 1 << (bits - 1) else None


@lru_cache(4096)
def to_lower_camel_case(tag: str) -> str:
    """Convert a tag name as the dynamic parser does (reference appfunctions 2.b).

    Underscores go and the letter after one becomes upper case, every other letter lower case; a tag without
    an underscore stays as it is.
    """
    if "_" not in tag:
        return tag
    written: list[str] = []
    upper = False
    for letter in tag:
        if letter == "_":
            upper = True
            continue
        changed = letter.upper() if upper else letter.lower()
        written.append(changed if len(changed) == 1 else letter)
        upper = False
    return "".join(written)

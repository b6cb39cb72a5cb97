"""Whether a text can be a regular expression of Java, as far as its brackets tell."""

from __future__ import annotations

import re
from typing import Final

_TOKEN: Final = re.compile(r"\\Q[\s\S]*?(?:\\E|$)|\\[\s\S]|\\$|[\[\]()]")


def is_balanced_pattern(pattern: str) -> bool:
    """Return whether the brackets of a Java regular expression are closed, and no escape is cut off.

    Nothing is compiled: Java's syntax is not Python's, and a pattern of an app is never run here.
    """
    groups = sets = 0
    start_of_set = -1
    for found in _TOKEN.finditer(pattern):
        sign = found[0]
        if sign == "\\":
            return False
        if sign == "[":
            sets += 1
            start_of_set = found.end()
        elif sign == "]" and sets:
            # The first one of a set is a member of it.
            sets -= found.start() != start_of_set + pattern.startswith("^", start_of_set)
        elif sign == "(" and not sets:
            groups += 1
        elif sign == ")" and not sets:
            groups -= 1
            if groups < 0:
                return False
    return not groups and not sets

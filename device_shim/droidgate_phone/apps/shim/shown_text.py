"""Texts of other apps, as the user sees them on a screen of the shim."""

from __future__ import annotations

import unicodedata
from typing import Final

_UNSEEN_CATEGORIES: Final = frozenset({"Cc", "Cf", "Zl", "Zp", "Co", "Cs", "Cn"})
_BLANKS: Final = frozenset("\u115f\u1160\u3164\uffa0\u034f\u17b4\u17b5\u2800")
"""Letters, marks and a symbol that show nothing: Hangul fillers, joiners, the blank Braille cell."""

_MOST_MARKS: Final = 4
"""Marks on one letter; more draw over the lines around it."""

_VARIATION_SELECTORS: Final = (range(0xFE00, 0xFE10), range(0xE0100, 0xE01F0))


def visible(text: str) -> str:
    """Return a text with the number of each character that shows nothing, or disturbs other text."""
    shown: list[str] = []
    marks = 0
    for character in text:
        marks = marks + 1 if unicodedata.category(character) in ("Mn", "Me") else 0
        seen = _is_seen(character) and marks <= _MOST_MARKS
        shown.append(character if seen else f"\\u{{{ord(character):x}}}")
    return "".join(shown)


def _is_seen(character: str) -> bool:
    category = unicodedata.category(character)
    if category in _UNSEEN_CATEGORIES or character in _BLANKS:
        return False
    if category == "Zs":
        return character == " "
    return not any(ord(character) in selectors for selectors in _VARIATION_SELECTORS)

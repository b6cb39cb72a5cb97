"""What people read on the shim's screens: its own texts, and those of other apps."""

from __future__ import annotations

import unicodedata
from enum import StrEnum
from typing import Final


class Texts(StrEnum):
    """The shim's own texts, under the names that they have in `Texts.java`."""

    TAP_TO_GO_ON = "Tap to let a call go on"
    TAP_TO_DECIDE = "Tap to decide about a call"
    UNNAMED_CALLER = "An unknown app"
    WANTS = " wants to use "
    OF = " of "
    OTHERS = "and %d more apps of the same developer"
    RECEIVER = "The answer goes to "
    DETAILS = "Details"
    APP_SAYS = "The app describes it as"
    READS = "Only reads"
    CHANGES = "Changes something"
    DELETES = "May delete or overwrite something"
    EFFECT_UNKNOWN = "May change something"
    COVERED = "Another app covers this screen: only Deny works. Close the other app first."
    ARGUMENTS = "Arguments, as the caller wrote them:"
    NO_ARGUMENTS = "It sends no arguments."
    DENY = "Deny"
    ONCE = "Once"
    ALWAYS = "Always"
    ANY_APP = "Any app on this phone"
    EVERYTHING = "everything"
    REVOKE = "Revoke"
    ASKING = "Ask me when an app without permission calls"
    CLEAR = "Clear"
    SUCCESS = "success"


_UNSEEN_CATEGORIES: Final = frozenset({"Cc", "Cf", "Zl", "Zp", "Co", "Cs", "Cn"})
_BLANKS: Final = frozenset("\u115f\u1160\u3164\uffa0\u034f\u17b4\u17b5\u2800")
"""Letters, marks and a symbol that show nothing: Hangul fillers, joiners, the blank Braille cell."""

_MOST_MARKS: Final = 4
"""Marks on one letter; more draw over the lines around it."""

_VARIATION_SELECTORS: Final = (range(0xFE00, 0xFE10), range(0xE0100, 0xE01F0))


def visible(text: str) -> str:
    """Return a text with the number of each character that shows nothing, or disturbs other text."""
    characters: list[str] = []
    marks = 0
    for character in text:
        marks = marks + 1 if unicodedata.category(character) in ("Mn", "Me") else 0
        seen = _is_seen(character) and marks <= _MOST_MARKS
        characters.append(character if seen else f"\\u{{{ord(character):x}}}")
    return "".join(characters)


def _is_seen(character: str) -> bool:
    category = unicodedata.category(character)
    if category in _UNSEEN_CATEGORIES or character in _BLANKS:
        return False
    if category == "Zs":
        return character == " "
    return not any(ord(character) in selectors for selectors in _VARIATION_SELECTORS)

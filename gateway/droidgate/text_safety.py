"""What is unsafe in texts that apps hand to people and models: hidden characters, names that only look alike,
over-long texts, and texts that speak to the model instead of describing a tool.

Names and descriptions come out of apps and are data (reference android-runtime 3.1). This module tells what
is in them; what follows from it (a mark, a refusal, a cleaned text) is decided by who asks.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from typing import Final

MAX_NAME: Final = 128
"""Characters of a name; MCP's own limit for tools (reference android-runtime 3.1)."""

MAX_DESCRIPTION: Final = 1_024
"""Characters of a description that a model should be shown."""

HIDDEN: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f-\u1160\u17b4-\u17b5\u180b-\u180f\u200b-\u200f"
    "\u2028-\u202e\u2060-\u206f\u3164\ud800-\udfff\ue000-\uf8ff\ufdd0-\ufdef\ufe00-\ufe0f\ufeff\uffa0"
    "\ufff0-\ufffb\ufffe\uffff\U0001d173-\U0001d17a\U000e0000-\U000e0fff\U000f0000-\U0010ffff"
    + "".join(f"{chr(plane << 16 | 0xFFFE)}{chr(plane << 16 | 0xFFFF)}" for plane in range(1, 15))
    + "]"
)
"""Characters that nobody sees or that steer what is seen: controls but for tab and line feed, fillers,
joiners, turns of the direction, tags, variation selectors, private use, noncharacters, lone surrogates."""

_LOOKS_LIKE: Final = str.maketrans(
    {
        # Cyrillic
        **dict(zip("асеһіјӏорԛѕԝхуѵԁгв", "acehijlopqswxyvdrb", strict=True)),
        **dict(zip("кмнтЗзь", "kmht33b", strict=True)),
        # Greek
        **dict(zip("αικνορτυχγβε", "aikvoptuxybe", strict=True)),
        # Armenian, small capitals, digits
        **dict(zip("աօսոհցգ", "wouuhgq", strict=True)),
        **dict(zip("ıɩɑɡ01|", "ilagoll", strict=True)),
        "_": "-",
    }
)
"""Lower-case characters that people take for the Latin ones."""

_ROLE_MARKS: Final = (
    r"<\s*/?\s*(?:system|assistant|user|developer|important|instructions?|secret)\s*>"
    r"|<\|[a-z_]{2,20}\|>|\[/?INST\]|<</?SYS>>"
    r"|(?:^|\n)\s*#{0,3}\s*(?:system|assistant|developer)\s*(?:prompt|message)?\s*:"
)
_BLOB: Final = r"(?:[A-Za-z0-9+/]{4}){64,}={0,2}"
_SETS_ASIDE: Final = (
    r"\b(?:ignore|disregard|forget|override|bypass)\b[^.\n]{0,40}"
    r"\b(?:previous|prior|above|earlier|other|all|any|system|safety)\b[^.\n]{0,40}"
    r"\b(?:instructions?|prompts?|rules?|messages?|guidelines?|polic(?:y|ies))\b"
)
_KEEPS_FROM_USER: Final = (
    r"\b(?:do\s+not|don't|never|without)\s+"
    r"(?:tell|inform|notify|mention|reveal|ask|alert|show)(?:ing)?\b[^.\n]{0,30}"
    r"\b(?:user|human|person|owner)\b"
)
_COMES_FIRST: Final = (
    r"\b(?:always|must|first)\b[^.\n]{0,40}\b(?:call|use|run|invoke)\b[^.\n]{0,40}"
    r"\bbefore\b[^.\n]{0,30}\b(?:any|every|all|other|another)\b[^.\n]{0,20}\btools?\b"
)
_OWN_PROMPT: Final = (
    r"\b(?:system\s+prompt|your\s+(?:hidden\s+)?instructions|you\s+are\s+now|new\s+instructions\s*:)"
)
_SENDS_AWAY: Final = (
    r"\b(?:send|post|upload|forward|exfiltrate|leak)\b[^.\n]{0,60}\b(?:your|their|the\s+user's|all)\s[^.\n]{0,30}"
    r"\b(?:password|passcode|token|credential|secret|api\s*key|conversation|chat\s+history|contact)s?\b"
)
_INJECTIONS: Final = tuple(
    (what, re.compile(pattern, re.IGNORECASE))
    for what, pattern in (
        ("it sets other instructions aside", _SETS_ASIDE),
        ("it imitates the marks of a conversation", _ROLE_MARKS),
        ("it wants something kept from the user", _KEEPS_FROM_USER),
        ("it claims to come before every other tool", _COMES_FIRST),
        ("it speaks of the model's own prompt", _OWN_PROMPT),
        ("it wants secrets sent somewhere", _SENDS_AWAY),
        ("it holds a long encoded text", _BLOB),
    )
)
_MAX_JUDGED: Final = 65_536
"""Longer texts are judged by their beginning; they are too long anyway."""


def code_escape(match: re.Match[str]) -> str:
    r"""Return a matched character by its code, such as `\u202e`."""
    return match[0].encode("unicode-escape").decode()


def json_escape(character: str) -> str:
    r"""Return a character as JSON escapes, two where it takes two UTF-16 units."""
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))


def hidden_characters(text: str) -> tuple[str, ...]:
    """Return the hidden characters of a text as `U+200B`, each once, in order; empty where there is none."""
    if text.isascii() and text.isprintable():
        return ()
    return tuple(dict.fromkeys(f"U+{ord(one):04X}" for one in HIDDEN.findall(text)))


def without_hidden(text: str) -> str:
    """Return a text without its hidden characters."""
    return HIDDEN.sub("", text)


def skeleton(name: str) -> str:
    """Return what people see in a name: two names with one skeleton can be taken for each other.

    Case, compatibility forms (NFKC), accents, hidden characters and letters of other scripts that look Latin
    make no difference.
    """
    if not name.isascii():
        decomposed = unicodedata.normalize(
            "NFKD", unicodedata.normalize("NFKC", without_hidden(name)).casefold()
        )
        name = "".join(one for one in decomposed if not unicodedata.combining(one))
    return name.casefold().translate(_LOOKS_LIKE)


def look_alikes(names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield each name that can be taken for an earlier, different one, after that one."""
    seen: dict[str, str] = {}
    for name in dict.fromkeys(names):
        first = seen.setdefault(skeleton(name), name)
        if first != name:
            yield first, name


def injection_marks(text: str) -> tuple[str, ...]:
    """Return why a text reads as if it wanted to command a model; empty where nothing looks so.

    A hint for people, no verdict: the patterns are English phrases and marks of chat formats, and whoever
    knows them writes around them.
    """
    if len(text) < 8:  # noqa: PLR2004 - shorter than any of the patterns
        return ()
    judged = without_hidden(text[:_MAX_JUDGED])
    return tuple(what for what, pattern in _INJECTIONS if pattern.search(judged))

"""Phrases that address a model instead of describing a tool: a hint for people, not a boundary.

The boundary is the policy of calls: an app whose author knows these phrases avoids them.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from typing import Final

from droidgate.text_safety.hidden import without_hidden
from droidgate.text_safety.look_alikes import confusables

# Every repetition below has a bound, so each expression takes time in proportion to the text. Runs of blanks
# are one blank before they are searched.
_ROLE_MARKS: Final = (
    r"< ?/? ?(?:system|assistant|user|developer|important|instructions?|secret) ?>"
    r"|<\|[a-z_]{2,20}\|>|\[/?inst\]|<</?sys>>"
    r"|\n ?#{1,3} ?(?:system|assistant|developer) ?(?:prompt|message)? ?:"
)
_SETS_ASIDE: Final = (
    r"\b(?:ignore|disregard|forget|override|bypass)\b[^.]{0,40}?"
    r"\b(?:previous|prior|above|earlier|other|all|any|system|safety)\b[^.]{0,40}?"
    r"\b(?:instructions?|prompts?|rules?|messages?|guidelines?|polic(?:y|ies))\b"
)
_KEEPS_FROM_USER: Final = (
    r"\b(?:do not|don't|never|without) (?:tell|inform|notify|mention|reveal|alert|show)(?:ing)?\b"
    r"[^.]{0,30}?\b(?:user|human|person|owner)\b"
)
_COMES_FIRST: Final = (
    r"\b(?:always|must|first)\b[^.]{0,40}?\b(?:call|use|run|invoke)\b[^.]{0,40}?"
    r"\bbefore\b[^.]{0,30}?\b(?:any|every|all|other|another)\b[^.]{0,20}?\btools?\b"
)
_OWN_PROMPT: Final = r"\b(?:system prompt|your (?:hidden )?instructions|you are now|new instructions ?:)"
_SENDS_AWAY: Final = (
    r"\b(?:send|post|upload|forward|exfiltrate|leak)\b[^.]{0,60}?\b(?:your|their|the user's|all) [^.]{0,30}?"
    r"\b(?:password|passcode|token|credential|secret|api ?key|conversation|chat history|contact)s?\b"
)
_IMAGE: Final = (
    r"!\[[^\]\n]{0,200}\]\( ?<?https?://[^)\s]{0,500}?[?&][^)\s=]{1,40}=[^)\s]{0,200}?(?:\{|%7b|<|\[|\$)"
)
_MARKS: Final = tuple(
    (meaning, re.compile(pattern))
    for meaning, pattern in (
        ("it sets other instructions aside", _SETS_ASIDE),
        ("it imitates the marks of a conversation", _ROLE_MARKS),
        ("it asks to keep something from the user", _KEEPS_FROM_USER),
        ("it claims to come before every other tool", _COMES_FIRST),
        ("it speaks of the model's own prompt", _OWN_PROMPT),
        ("it asks to send secrets somewhere", _SENDS_AWAY),
        ("it shows an image whose address carries data away", _IMAGE),
    )
)
_ENCODED: Final = ("it has a long encoded text", re.compile(r"(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{256}"))
_SHORTEST: Final = 8
_LAST_ASCII: Final = 127
_BLANKS: Final = re.compile(r"[^\S\n]+")
_WHITE_SPACE: Final = re.compile(r"\s+")
_LEET_WORD: Final = re.compile(r"[A-Za-z0-9@$!]+")
_LEET: Final = str.maketrans("013457@$!", "oieastasi")


def injection_marks(text: str) -> tuple[str, ...]:
    """Return why a text reads as if it wanted to command a model; empty where nothing looks so.

    The text is searched as people read it: without hidden characters, with full-width, mathematical and
    look-alike letters as plain ones, with digits for letters, and across line ends.
    """
    if len(text) < _SHORTEST:
        return ()
    forms = tuple(dict.fromkeys(_forms(text)))
    found = tuple(meaning for meaning, pattern in _MARKS if any(pattern.search(one) for one in forms))
    meaning, encoded = _ENCODED
    return found if encoded.search(text) is None else (*found, meaning)


def _forms(text: str) -> tuple[str, ...]:
    """Return the forms of a text that are searched: as lines, as one line, with digits read as letters."""
    plain = without_hidden(text)
    if not plain.isascii():
        plain = unicodedata.normalize("NFKC", plain).translate(_letters())
    lined = "\n" + _BLANKS.sub(" ", plain.casefold().replace("\u2019", "'"))
    one_line = _WHITE_SPACE.sub(" ", lined)
    return lined, one_line, _LEET_WORD.sub(_read_as_letters, one_line)


def _read_as_letters(match: re.Match[str]) -> str:
    """Return a word with its digits as letters, where it has letters too."""
    return match[0].translate(_LEET) if any(one.isalpha() for one in match[0]) else match[0]


@cache
def _letters() -> dict[int, str]:
    """Return the characters outside ASCII that look like one Latin letter: a table for `str.translate`."""
    return {
        source: target
        for source, target in confusables().items()
        if source > _LAST_ASCII and len(target) == 1 and target.isascii() and target.isalpha()
    }

"""The table of hidden characters for databases: expressions of RE2, which has no look-around.

They hold to `hidden.is_normal` for what comes directly before and after a character. What lies further away
(a flag's tags, punctuation between a direction mark and its letter) they take for hidden.
"""

from __future__ import annotations

from functools import cache
from typing import Final

from droidgate_mappings.text_safety.hidden import ranges, unicode_table

REPLACED: Final = "\ufffd"
"""What is written for a hidden character."""

_SURROGATES: Final = range(0xD800, 0xE000)
_JOINERS: Final = "200C-200D"
_EMOJI_SELECTORS: Final = "FE0E-FE0F"
_MARKS: Final = "200E-200F 61C"
_VARIANTS: Final = "FE00-FE02 E0100-E011F"
_MONGOLIAN_SELECTORS: Final = "180B-180F"
_CARRIAGE_RETURN: Final = "D"
_IN_CONTEXT: Final = (
    f"{_JOINERS} {_EMOJI_SELECTORS} {_MARKS} {_VARIANTS} {_MONGOLIAN_SELECTORS} {_CARRIAGE_RETURN}"
)
_TO_LEFT: Final = r"\p{Hebrew}\p{Arabic}\p{Syriac}\p{Thaana}\p{Nko}\p{Adlam}"


@cache
def hidden_class() -> str:
    """Return the class of all characters of the table."""
    return f"[{_class(unicode_table('hidden'))}]"


@cache
def replacements() -> tuple[tuple[str, str], ...]:
    """Return expressions and what is written for what they match, to be used one after another.

    A rule that takes the next character with it comes twice: the first time it skips every other match.
    """
    normal = {item for first, last in ranges(_IN_CONTEXT) for item in range(first, last + 1)}
    never = "".join(
        _range(part.start, part.stop - 1)
        for first, last in ranges(unicode_table("hidden"))
        for part in _without(range(first, last + 1), normal)
    )
    joined = _class(unicode_table("joining"))
    before = joined + _class(unicode_table("pictographs")) + r"\x{fe0f}"
    emoji = _class(unicode_table("emoji")) + _class(unicode_table("standard_bases"))
    bases = _class(unicode_table("ideographs")) + _class(unicode_table("standard_bases"))
    around = (rf"(^|[^{before}])[{_class(_JOINERS)}]+([^{joined}]|$)", rf"\1{REPLACED}\2")
    marks = (rf"(^|[^{_TO_LEFT}])[{_class(_MARKS)}]+([^{_TO_LEFT}]|$)", rf"\1{REPLACED}\2")
    several = (f"[{_class(_JOINERS)}]{{2,}}", REPLACED)
    line = (r"\r([^\n]|$)", rf"{REPLACED}\1")
    return (
        (f"[{never}]", REPLACED),
        several,
        *((around,) * 2),
        *((marks,) * 2),
        *((line,) * 2),
        (rf"(^|[^{emoji}])[{_class(_EMOJI_SELECTORS)}]+", rf"\1{REPLACED}"),
        (rf"(^|[^{bases}])[{_class(_VARIANTS)}]+", rf"\1{REPLACED}"),
        (rf"(^|[^{_class(unicode_table('mongolian'))}])[{_class(_MONGOLIAN_SELECTORS)}]+", rf"\1{REPLACED}"),
    )


def _without(whole: range, taken: set[int]) -> list[range]:
    """Return the parts of a range that have none of the taken code points and no surrogates."""
    parts: list[range] = []
    start = whole.start
    for at in (*sorted(item for item in taken if item in whole), whole.stop):
        if start < at:
            parts += _without_surrogates(range(start, at))
        start = at + 1
    return parts


def _without_surrogates(part: range) -> list[range]:
    below = range(part.start, min(part.stop, _SURROGATES.start))
    above = range(max(part.start, _SURROGATES.stop), part.stop)
    return [item for item in (below, above) if item]


def _class(table: str) -> str:
    parts = (part for first, last in ranges(table) for part in _without_surrogates(range(first, last + 1)))
    return "".join(_range(part.start, part.stop - 1) for part in parts)


def _range(first: int, last: int) -> str:
    return rf"\x{{{first:x}}}-\x{{{last:x}}}"

"""Characters that nobody sees: one table for every output, and the places where they are normal.

The table is Unicode's: controls, default ignorable characters, characters that turn the direction, variation
selectors, private use, noncharacters and lone surrogates. Many of them belong to ordinary texts, and are
normal where Unicode puts them:

- joiners next to a letter of a script that is written with them (UAX 31), and in emoji sequences (UTS 51);
- emoji variation selectors after an emoji, keycaps, and the tags of the three flags that Unicode recommends;
- variation selectors after an ideograph (UTS 37), a Mongolian letter or another base of standard variants;
- direction marks next to a letter that is written from right to left;
- a carriage return before a line feed.

The data is in `unicode_tables.json`. A table is a text: code points in hexadecimal and ranges of them,
separated by blanks. In `confusables` each part is a character and what it looks like: `1D6DB=2202`.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Iterable
from functools import cache
from html import escape
from pkgutil import get_data
from typing import Final


@cache
def unicode_table(name: str) -> str:
    """Return a table.

    Args:
        name: `hidden` (nobody sees them, or they change how others are seen), `joining` (letters, marks and
            digits of the scripts whose words are written with joiners, UAX 31), `emoji` (UTS 51),
            `pictographs` (what an emoji ZWJ sequence joins, UTS 51), `ideographs` (which have variants,
            UTS 37), `mongolian` (letters that a Mongolian variation selector may follow), `standard_bases`
            (the other bases of standardized variants) or `confusables` (UTS 39).

    Raises:
        KeyError: there is no such table.
    """
    return _tables()[name]


@cache
def _tables() -> dict[str, str]:
    tables: dict[str, str] = json.loads(get_data(__name__, "unicode_tables.json") or b"")
    return tables


_BLANKS: Final = re.compile(r"[ \t\r\n]+")
_REACH: Final = 4
"""Characters without a direction that may be between a direction mark and its letter."""

_FLAGS: Final = tuple(
    "\U0001f3f4" + "".join(chr(0xE0000 + ord(item)) for item in code) + "\U000e007f"
    for code in ("gbeng", "gbsct", "gbwls")
)
_TO_LEFT: Final = frozenset(("R", "AL"))
_WEAK: Final = frozenset(("EN", "ES", "ET", "AN", "CS", "ON", "WS", "B", "NSM"))
_FORMAT_BLOCKS: Final = (
    (range(0x13430, 0x13456), range(0x13000, 0x13456)),
    (range(0x1BCA0, 0x1BCA4), range(0x1BC00, 0x1BCA0)),
    (range(0x1D173, 0x1D17B), range(0x1D100, 0x1D200)),
)
"""Format characters of a script, and the characters of the script that they follow."""


def ranges(table: str) -> tuple[tuple[int, int], ...]:
    """Return the first and last code points of a table's ranges."""
    pairs = (part.partition("-") for part in table.split())
    return tuple((int(first, 16), int(last or first, 16)) for first, _, last in pairs)


@cache
def _one_of(name: str) -> re.Pattern[str]:
    """Return the expression of one character of a table, compiled at its first use: few runs need one."""
    pairs = ranges(unicode_table(name))
    return re.compile("[" + "".join(f"\\U{first:08x}-\\U{last:08x}" for first, last in pairs) + "]")


def is_hidden(character: str) -> bool:
    """Return whether nobody sees a character, wherever it is; tab and line feed are not among them."""
    return not _is_plain(character) and _one_of("hidden").match(character) is not None


def is_normal(text: str, at: int) -> bool:
    """Return whether a character of the table is normal where it is in a text."""
    character, before, after = text[at], text[at - 1 : at] if at else "", text[at + 1 : at + 2]
    if character == "\r":
        return after == "\n"
    if character in "\u200c\u200d":
        return _joins(character, before, after)
    if character in "\ufe0e\ufe0f":
        if before and before in "0123456789#*":
            return character == "\ufe0f" and after == "\u20e3"
        return _is_in("emoji", before) or _is_in("standard_bases", before)
    if character in "\u200e\u200f\u061c":
        return _is_among_letters_to_left(text, at)
    code = ord(character)
    if 0xFE00 <= code <= 0xFE02 or 0xE0100 <= code <= 0xE011F:  # noqa: PLR2004 - the selectors in use
        return _is_in("ideographs", before) or (code == 0xFE00 and _is_in("standard_bases", before))  # noqa: PLR2004
    if character in "\u180b\u180c\u180d\u180e\u180f":
        return _is_in("mongolian", before)
    if 0xE0020 <= code <= 0xE007F:  # noqa: PLR2004 - tags
        return _is_in_flag(text, at)
    return bool(before) and any(code in own and ord(before) in script for own, script in _FORMAT_BLOCKS)


def _is_in(table: str, character: str) -> bool:
    return bool(character) and _one_of(table).match(character) is not None


def _joins(character: str, before: str, after: str) -> bool:
    if not before or (after and after != "\r" and is_hidden(after)):
        return False
    is_emoji = before == "\ufe0f" or _is_in("pictographs", before)
    if character == "\u200d" and is_emoji and _is_in("pictographs", after):
        return True
    if before == after:
        return False
    return _is_in("joining", before) or (_is_in("joining", after) and before.isalnum())


def _is_among_letters_to_left(text: str, at: int) -> bool:
    before = text[max(0, at - _REACH) : at][::-1]
    return _leads_to_left(before) or _leads_to_left(text[at + 1 : at + 1 + _REACH])


def _leads_to_left(near: str) -> bool:
    for item in near:
        kind = unicodedata.bidirectional(item)
        if kind in _TO_LEFT and not is_hidden(item):
            return True
        if kind not in _WEAK or is_hidden(item):
            return False
    return False


def _is_in_flag(text: str, at: int) -> bool:
    start = text.rfind(_FLAGS[0][0], max(0, at - len(_FLAGS[0])), at)
    return start >= 0 and text.startswith(_FLAGS, start) and at < start + len(_FLAGS[0])


def _is_plain(text: str) -> bool:
    return text.isascii() and text.isprintable()


def hidden_characters(text: str) -> tuple[str, ...]:
    """Return what is hidden in a text as `U+200B`, each once, in order; nothing that is normal there."""
    if _is_plain(text):
        return ()
    characters = (
        match[0] for match in _one_of("hidden").finditer(text) if not is_normal(text, match.start())
    )
    return tuple(dict.fromkeys(f"U+{ord(item):04X}" for item in characters))


def with_hidden(text: str, written: Callable[[str], str]) -> str:
    """Return a text whose hidden characters are written in another way; what is normal stays.

    Args:
        text: The text.
        written: Returns what is written for one of them.
    """
    if _is_plain(text):
        return text

    def replaced(match: re.Match[str]) -> str:
        return match[0] if is_normal(text, match.start()) else written(match[0])

    return _one_of("hidden").sub(replaced, text)


def without_hidden(text: str) -> str:
    """Return a text without what is hidden in it.

    What remains may make a character normal or hidden that was not before, so it is looked at again.
    """
    for _ in range(_REACH):
        visible_text = with_hidden(text, lambda _: "")
        if visible_text == text:
            return visible_text
        text = visible_text
    return without_any_hidden(text)


def without_any_hidden(text: str) -> str:
    """Return a text without the characters of the table, those that are normal where they are included."""
    return text if _is_plain(text) else _one_of("hidden").sub("", text)


def escaped_character(character: str) -> str:
    r"""Return a character by its code, such as `\u202e`."""
    return character.encode("unicode-escape").decode()


def json_escape(character: str) -> str:
    r"""Return a character as JSON escapes, two where it takes two UTF-16 units."""
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))


def visible(text: str) -> str:
    r"""Return a text whose hidden characters are written by their code; tabs and line ends stay."""
    return with_hidden(text, escaped_character)


def one_line(text: str) -> str:
    """Return a text in one line, safe to show."""
    return visible(_BLANKS.sub(" ", text).strip())


def html_table(columns: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """Return rows as an HTML table, as notebooks show it; no text of a cell can be markup."""
    head = "".join(f"<th>{column}</th>" for column in columns)
    cells = (
        "".join(f"<td>{escape(one_line('' if cell is None else str(cell)))}</td>" for cell in row)
        for row in rows
    )
    body = "".join(f"<tr>{row}</tr>" for row in cells)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def visible_json(text: str) -> str:
    """Return a JSON text of the same meaning whose hidden characters are written as JSON escapes."""
    return with_hidden(text, json_escape)

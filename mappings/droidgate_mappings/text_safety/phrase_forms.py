"""The forms in which a text is searched for phrases: as people read it, and with disguises undone.

Each function takes time in proportion to the text. Decoded parts are not decoded again.
"""

from __future__ import annotations

import base64
import binascii
import codecs
import html
import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from itertools import chain
from typing import Final
from urllib.parse import unquote

from droidgate_mappings.text_safety.hidden import without_hidden
from droidgate_mappings.text_safety.look_alikes import confusables

_BLANKS: Final = re.compile(r"[^\S\n]+")
_WHITE_SPACE: Final = re.compile(r"\s+")
_LAST_ASCII: Final = 127

_LEET_WORD: Final = re.compile(r"[a-z0-9@$!]+")
_LEET: Final = str.maketrans("0134579@$!", "oieastgasi")
_SPACED: Final = re.compile(r"\b(?:\w[^\w\n]{1,2}){3,200}\w\b")
_NOT_WORD: Final = re.compile(r"[^a-z0-9.]+|\.(?=\S)")

_SMALL_CAPITALS: Final = (range(0x250, 0x2B0), range(0x1D00, 0x1D80), range(0xA720, 0xA800))

_BASE64: Final = re.compile(r"(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{24,}={0,2}")
_HEXADECIMAL: Final = re.compile(r"(?<![0-9A-Za-z])(?:[0-9A-Fa-f]{2}){16,}(?![0-9A-Za-z])")
_PERCENT: Final = re.compile(r"(?:%[0-9A-Fa-f]{2}){8,}")
_ENTITIES: Final = re.compile(r"(?:&#x?[0-9A-Fa-f]{2,6};){8,}")
_ESCAPES: Final = re.compile(r"(?:\\x[0-9a-f]{2}|\\u00[0-9a-f]{2}){8,}")
_TAGS: Final = re.compile("[\U000e0020-\U000e007e]{8,}")
_SELECTORS: Final = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]{8,}")
_FIRST_TAG: Final = 0xE0000
_RIGHT_TO_LEFT: Final = "\u202e"


def lines_of(text: str) -> str:
    """Return a text in small letters, in compatibility form, without hidden characters and extra blanks."""
    plain = without_hidden(text)
    if not plain.isascii():
        plain = unicodedata.normalize("NFKC", plain).replace("\u2019", "'")
    return "\n" + _BLANKS.sub(" ", plain.casefold())


def one_line_of(lines: str) -> str:
    """Return lines as one line."""
    return _WHITE_SPACE.sub(" ", lines)


def latin_of(lines: str) -> str:
    """Return lines without accents, with look-alikes of Latin letters as these letters."""
    if lines.isascii():
        return lines
    decomposed = unicodedata.normalize("NFKD", lines.translate(_letters()))
    return "".join(item for item in decomposed if not unicodedata.combining(item))


def leet_of(line: str) -> str:
    """Return a line in which digits and signs inside of words are the letters they look like."""
    return _LEET_WORD.sub(_read_as_letters, line)


def _read_as_letters(match: re.Match[str]) -> str:
    word = match[0]
    if word.isalpha() or not any(character.isalpha() for character in word):
        return word
    end = "!" if word.endswith("!") else ""
    return word.removesuffix("!").translate(_LEET) + end


def squeezed_of(line: str) -> str:
    """Return a line without blanks and signs between letters; the ends of sentences stay."""
    return _NOT_WORD.sub("", _SPACED.sub(_joined, line).replace("?", ".").replace(";", ". "))


def _joined(match: re.Match[str]) -> str:
    return "".join(item for item in match[0] if item.isalnum())


def turned_of(squeezed: str) -> str:
    """Return a text in ROT13."""
    return codecs.encode(squeezed, "rot13")


def decoded_parts(text: str) -> Iterator[str]:
    """Yield what is encoded in a text: Base64, hexadecimal, percent, entities, tags, selectors, reversed."""
    for match in _HEXADECIMAL.finditer(text):
        yield from _readable(bytes.fromhex(match[0]))
    for match in _BASE64.finditer(text):
        digits = match[0].rstrip("=")
        yield from _readable(_from_base64(digits[: len(digits) - (len(digits) % 4 == 1)]))
    for match in _PERCENT.finditer(text):
        yield unquote(match[0])
    for match in _ENTITIES.finditer(text):
        yield html.unescape(match[0])
    for match in _ESCAPES.finditer(text):
        yield _readable_escapes(match[0])
    if text.isascii():
        return
    for match in _TAGS.finditer(text):
        yield "".join(chr(ord(item) - _FIRST_TAG) for item in match[0])
    for match in _SELECTORS.finditer(text):
        yield from _readable(bytes(_selector_byte(ord(item)) for item in match[0]))
    if _RIGHT_TO_LEFT in text:
        yield text[::-1]


def _from_base64(digits: str) -> bytes:
    try:
        return base64.b64decode(digits + "=" * (-len(digits) % 4))
    except binascii.Error:
        return b""


def _readable(data: bytes) -> Iterator[str]:
    """Yield the text of bytes, if they are one."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return
    if text.replace("\n", " ").isprintable():
        yield text


def _readable_escapes(text: str) -> str:
    return "".join(chr(int(item[-2:], 16)) for item in re.findall(r"\\(?:x..|u00..)", text))


def _selector_byte(code: int) -> int:
    """Return the byte that a variation selector means, in the usual encoding of bytes as selectors."""
    return code - 0xFE00 if code < 0xE0000 else code - 0xE0100 + 16  # noqa: PLR2004 - the first of a block


@cache
def _letters() -> dict[int, str]:
    """Return the characters outside ASCII that look like a Latin letter: a table for `str.translate`."""
    table = {ord(item): letter for item, letter in _small_capitals()}
    for source, target in confusables().items():
        letter, marks = target[0], target[1:]
        is_letter = letter.isascii() and letter.isalpha() and all(map(unicodedata.combining, marks))
        if source > _LAST_ASCII and is_letter:
            table[source] = letter.casefold()
    return table


def _small_capitals() -> Iterator[tuple[str, str]]:
    for item in map(chr, chain(*_SMALL_CAPITALS)):
        _, _, letter = unicodedata.name(item, "").partition("LATIN LETTER SMALL CAPITAL ")
        if len(letter) == 1:
            yield item, letter.casefold()

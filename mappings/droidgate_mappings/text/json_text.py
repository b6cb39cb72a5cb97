"""Strict JSON reading with a budget (RFC 8259).

Every JSON text that droidgate has not just made itself is read here. Duplicate keys, NaN and the infinities,
lone surrogates and more than 64 levels are errors. Integers are exact up to the limits below. A number whose
digits a float would change, such as `1e400`, is a Decimal and keeps its digits; one that fills pages when it
is written out, such as `1e99999999`, is an error.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable
from decimal import Decimal
from typing import Final, Never, Protocol

from droidgate_mappings.model.errors import BudgetError, InputError
from droidgate_mappings.model.json_values import Json, pointer_name
from droidgate_mappings.records import dataclass

MAX_DEPTH: Final = 64
MAX_CHARACTERS: Final = 16 * 1024 * 1024
MAX_NUMBER_CHARACTERS: Final = 1024
MAX_EXPONENT: Final = 1024
"""Powers of ten of a number."""


_HIGH_SURROGATES: Final = range(0xD800, 0xDC00)
_LOW_SURROGATES: Final = range(0xDC00, 0xE000)
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]|[\ud800-\udfff]")
_STRING_OR_NUMBER = re.compile(
    r""""(?:[^"\\]|\\.)*+"|(?:-?(?:\d[\d.]*+(?:[eE][+-]?\d++)?|Infinity)|NaN)""", re.DOTALL
)
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+"|[\[\]{},:]|[^\s"\[\]{},:]++', re.DOTALL)
_LONG_ROW: Final = 100
_EXCERPT: Final = 40
_MANY_DIGITS = re.compile(r"(?<!\d)\d{640}", re.ASCII)
"""640 digits are the least that Python's own limit can be set to."""

_ESCAPE_OR_SURROGATE = re.compile(r"\\(?:u(?P<code>[0-9a-fA-F]{4})|.)|[\ud800-\udfff]", re.DOTALL)


_UTF_16_STARTS: Final = {
    b"\xff\xfe": "utf-16-le", b"{\0": "utf-16-le", b"[\0": "utf-16-le",
    b"\xfe\xff": "utf-16-be", b"\0{": "utf-16-be", b"\0[": "utf-16-be",
}  # fmt: skip


class JsonParser(Protocol):
    """A parser of one JSON document, such as `parse_json`; it raises InputError and nothing else."""

    def __call__(self, text: str, *, path: str = ...) -> Json:
        """Return the value; `path` is how errors name the document."""
        ...


@dataclass(frozen=True, slots=True)
class JsonLimits:
    """How much a document may hold.

    Attributes:
        characters: Characters of the text.
        depth: Levels of objects and lists.
        surrogates: Whether a string may hold half of a surrogate pair.
    """

    characters: int = MAX_CHARACTERS
    depth: int = MAX_DEPTH
    surrogates: bool = False


FOREIGN: Final = JsonLimits()
"""Limits of a text that somebody else wrote."""

WRITTEN: Final = JsonLimits(characters=64 * 1024 * 1024, depth=512, surrogates=True)
"""Limits of a text in a form of droidgate's own: the model has more levels than the schema that it was read
from, and a compiled resource may hold half of a surrogate pair."""


class _NumberError(BudgetError):
    """Raised inside the parser for a number; the position is not known there."""

    def __init__(self, message: str, digits: str) -> None:
        super().__init__(message, hint="write a number that a 64-bit type can hold, or a string")
        self.digits = digits


class _ConstantError(InputError):
    """Raised inside the parser for NaN or an infinity; the position is not known there."""

    def __init__(self, word: str) -> None:
        super().__init__(f"{word} is not a JSON value", hint="write null, or leave the member out")
        self.digits = word


class DuplicateKeyError(ValueError):
    """Raised inside a parser by `read_members`; the position is not known there."""


def parse_json(
    text: str | bytes,
    *,
    path: str = "<text>",
    line: int = 1,
    lenient_controls: bool = False,
    limits: JsonLimits = FOREIGN,
) -> Json:
    """Parse one JSON document.

    Args:
        text: The document; bytes are UTF-8, with or without a byte order mark.
        path: How errors name the document.
        line: The line of the document's first character in `path`, for JSON inside another file.
        lenient_controls: Accept raw control characters, such as newlines, inside strings (divergence D-36).
        limits: How much the document may hold.

    Returns:
        The JSON value (see `droidgate_mappings.model.json_values`).

    Raises:
        InputError: not JSON, with line and column.
        BudgetError: too long, too deep, or a number of too many digits, with its line and column.
    """
    text = decode_utf8(text, path=path) if isinstance(text, bytes) else text.removeprefix("\ufeff")
    if len(text) > limits.characters:
        message = f"the JSON has more than {limits.characters} characters"
        raise BudgetError(message, place=path)
    if not limits.surrogates:
        refuse_lone_surrogates(text, path=path, line=line)
    decoder = _DECODERS[lenient_controls, _MANY_DIGITS.search(text) is not None]
    try:
        value = decoder.decode(text)
    except json.JSONDecodeError as error:
        raise _located(error, path, line) from None
    except RecursionError:
        raise _too_deep(path, limits.depth) from None
    except (_NumberError, _ConstantError) as error:
        kind = BudgetError if isinstance(error, BudgetError) else InputError
        place = _place_of_number(error.digits, text, path, line)
        raise kind(error.message, place=place, hint=error.hint) from None
    except DuplicateKeyError as error:
        raise _duplicate(str(error), text, path, line) from None
    if text.count("[") + text.count("{") > limits.depth and not is_within_depth(value, limits.depth):
        raise _too_deep(path, limits.depth)
    return value


def refuse_lone_surrogates(text: str, *, path: str, line: int = 1) -> None:
    """Refuse a document with half of a surrogate pair, as an escape or as a character.

    Raises:
        InputError: one does, with its line.
    """
    if (text.isascii() and "\\u" not in text) or _SURROGATE.search(text) is None:
        return
    high_ends_at = -1
    high: re.Match[str] | None = None
    for match in _ESCAPE_OR_SURROGATE.finditer(text):
        code = int(match["code"], 16) if match["code"] else ord(match[0]) if len(match[0]) == 1 else 0
        is_low = _LOW_SURROGATES.start <= code < _LOW_SURROGATES.stop
        if is_low and high is not None and high_ends_at == match.start():
            high = None
            continue
        if high is not None or is_low:
            break
        if code in _HIGH_SURROGATES:
            high, high_ends_at = match, match.end()
    else:
        if high is None:
            return
        match = high
    row = line + text.count("\n", 0, match.start())
    message = "a string holds half of a surrogate pair"
    raise InputError(
        message, place=f"{path}:{row}", hint="write both escapes of the character, or the character"
    )


def rows_of_pointers(text: str, pointers: Iterable[str]) -> dict[str, int]:
    """Return the 1-based row of the value behind each JSON Pointer, or of the innermost part around it.

    Args:
        text: A JSON document; what follows its end, or is not JSON, is not looked at.
        pointers: What is looked for; a pointer of which no part is there has no row.
    """
    paths = {pointer: tuple(map(pointer_name, pointer.split("/")[1:])) for pointer in pointers}
    sought = {path[:length] for path in paths.values() for length in range(1, len(path) + 1)}
    rows: dict[tuple[str, ...], int] = {}
    # The member's name or the item's index at each level; None before a name.
    levels: list[str | int | None] = []
    row, counted_to = 1, 0
    for match in _TOKEN.finditer(text):
        symbol = match[0]
        if symbol in {",", "}", "]"}:
            if not levels:
                break
            last = levels.pop()
            if symbol == ",":
                levels.append(last + 1 if isinstance(last, int) else None)
            if not levels:
                break
            continue
        if levels and levels[-1] is None:
            try:
                levels[-1] = str(json.loads(symbol))
            except ValueError:
                break
        if len(levels) <= MAX_DEPTH and (path := tuple(map(str, levels))) in sought and path not in rows:
            row, counted_to = row + text.count("\n", counted_to, match.start()), match.start()
            rows[path] = row
        if symbol in {"{", "["}:
            levels.append(None if symbol == "{" else 0)
    found: dict[str, int] = {}
    for pointer, path in paths.items():
        nearest = next((path[:length] for length in range(len(path), 0, -1) if path[:length] in rows), None)
        if nearest is not None:
            found[pointer] = rows[nearest]
    return found


def decode_utf8(data: bytes, *, path: str) -> str:
    """Decode UTF-8 text, dropping a byte order mark.

    Raises:
        InputError: not UTF-8, with the byte offset.
    """
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        message = f"byte {error.start} is not UTF-8"
        raise InputError(message, place=path, hint="save the file as UTF-8") from None


def utf_16_text(data: bytes) -> str | None:
    """Return a text in UTF-16, as PowerShell writes it, without its byte order mark; None for anything else.

    XML is left to its parser, which the document names its encoding. Without a mark, JSON begins with two
    ASCII characters (RFC 4627, 3).
    """
    mark = data[:2]
    order = _UTF_16_STARTS.get(mark)
    if order is None or data[2:4].strip(b"\0") == b"<":
        return None
    try:
        return data.decode(order).removeprefix("\ufeff")
    except UnicodeDecodeError:
        return None


def _located(error: json.JSONDecodeError, path: str, line: int) -> InputError:
    hint = None
    if error.pos >= len(error.doc.rstrip()) or error.msg.startswith("Unterminated string"):
        hint = "the end is missing: save or copy the whole text again"
    elif "control character" in error.msg:
        hint = "write newlines and tabs inside strings as \\n and \\t"
    elif error.doc.startswith(("//", "/*"), error.pos):
        hint = "remove the comment: JSON has none"
    elif error.msg.startswith("Expecting property name enclosed in double quotes"):
        hint = "names are in double quotes, and no comma follows the last member"
    elif (
        "trailing comma" in error.msg
        or (  # since Python 3.13; before, a value is expected
            error.doc[: error.pos].rstrip().endswith(",") and error.doc.startswith("]", error.pos)
        )
    ):
        hint = "remove the comma after the last item"
    place = f"{path}:{error.lineno + line - 1}:{error.colno}"
    reason = error.msg[:1].lower() + error.msg[1:].removesuffix(" at")
    row = error.doc[error.doc.rfind("\n", 0, error.pos) + 1 :].partition("\n")[0]
    if len(row) > _LONG_ROW:
        # Nobody counts to a column as far right; Android makes one row of JSON inside XML.
        before = row[: error.colno - 1].rstrip()
        start = "..." if len(before) > _EXCERPT else ""
        reason += f", after {start + before[-_EXCERPT:]!r}"
    return InputError(f"not JSON: {reason}", place=place, hint=hint)


def _duplicate(key: str, text: str, path: str, line: int) -> InputError:
    quoted = json.dumps(key, ensure_ascii=False)
    second = text.find(quoted, text.find(quoted) + 1)
    row = line + text.count("\n", 0, second) if second >= 0 else line
    return InputError(
        f"duplicate key {quoted} in one object", place=f"{path}:{row}", hint="remove one of them"
    )


def _place_of_number(digits: str, text: str, path: str, line: int) -> str:
    """Return file, line and column of a number or constant that is refused."""
    for match in _STRING_OR_NUMBER.finditer(text):
        if match[0] == digits:
            start = match.start()
            row = line + text.count("\n", 0, start)
            return f"{path}:{row}:{start - text.rfind(chr(10), 0, start)}"
    return path


def _too_deep(path: str, depth: int) -> BudgetError:
    return BudgetError(f"the JSON is nested more than {depth} levels deep", place=path)


def is_within_depth(value: Json, most: int) -> bool:
    """Return whether a value has no more levels of objects and lists."""
    level: list[Json] = [value]
    for _ in range(most + 1):
        containers = [item for item in level if isinstance(item, dict | list)]
        if not containers:
            return True
        level = [
            inner
            for container in containers
            for inner in (container.values() if isinstance(container, dict) else container)
        ]
    return False


def read_members(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    """Return an object's members; for `object_pairs_hook`.

    Raises:
        DuplicateKeyError: a key is there twice.
    """
    read = dict(pairs)
    if len(read) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise DuplicateKeyError(key)
            seen.add(key)
    return read


def _read_integer(digits: str) -> int:
    if len(digits) > MAX_NUMBER_CHARACTERS or len(digits) > sys.get_int_max_str_digits() > 0:
        _refuse_number(digits)
    return int(digits)


def _read_fraction(digits: str) -> float | Decimal:
    if len(digits) > MAX_NUMBER_CHARACTERS:
        _refuse_number(digits)
    number = float(digits)
    is_finite = number - number == 0.0
    if not is_finite or not number:
        _check_exponent(digits)
    exact = Decimal(digits)
    return number if is_finite and Decimal(repr(number)) == exact else exact


def _check_exponent(digits: str) -> None:
    """Refuse an exponent that would make a number of thousands of digits.

    Raises:
        _NumberError: the exponent is too large.
    """
    exponent = digits.lower().partition("e")[2].lstrip("+-").lstrip("0")
    if len(exponent) > len(str(MAX_EXPONENT)) or int(exponent or "0") > MAX_EXPONENT:
        message = f"a number has an exponent beyond {MAX_EXPONENT}"
        raise _NumberError(message, digits)


def _refuse_number(digits: str) -> Never:
    message = f"a number has more than {MAX_NUMBER_CHARACTERS} digits"
    raise _NumberError(message, digits)


def _refuse_constant(word: str) -> Never:
    raise _ConstantError(word)


def _decoder(*, strict: bool, has_long_numbers: bool) -> json.JSONDecoder:
    return json.JSONDecoder(
        strict=strict,
        object_pairs_hook=read_members,
        # The standard reader of integers is several times as fast, and knows no limit.
        parse_int=_read_integer if has_long_numbers else None,
        parse_float=_read_fraction,
        parse_constant=_refuse_constant,
    )


_DECODERS: Final = {
    (is_lenient, has_long_numbers): _decoder(strict=not is_lenient, has_long_numbers=has_long_numbers)
    for is_lenient in (False, True)
    for has_long_numbers in (False, True)
}

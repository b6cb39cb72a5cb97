"""`echo` and `printf`: backslash escapes and formats."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from droidgate_phone.shell.errors import BudgetExceededError

_SIMPLE: Final = {
    "a": b"\a", "b": b"\b", "e": b"\x1b", "f": b"\f", "n": b"\n", "r": b"\r", "t": b"\t", "v": b"\v",
    "\\": b"\\",
}  # fmt: skip
_ESCAPE: Final = re.compile(
    r"\\(0[0-7]{0,3}|[1-7][0-7]{0,2}|x[0-9a-fA-F]{1,2}|u[0-9a-fA-F]{1,4}|U[0-9a-fA-F]{1,8}|.)", re.DOTALL
)
_DIRECTIVE: Final = re.compile(r"%([-+ #0']*)(\*|\d+)?(?:\.(\*|\d*))?(?:hh|h|ll|l|j|z|t|L)?(.)?", re.DOTALL)
MAXIMUM_WIDTH: Final = 1 << 20


def unescape(
    text: str, *, octal_needs_zero: bool = True, extra: str = "", goes_on: bool = False
) -> tuple[bytes, bool]:
    r"""Return the bytes of a text with backslash escapes, and whether `\c` ended it.

    Args:
        text: The text.
        octal_needs_zero: Whether an octal number starts with 0 and may have three digits more.
        extra: Letters that stand for themselves behind a backslash.
        goes_on: Whether what stands behind a `\c` still counts, as for mksh's `echo`.
    """
    made = bytearray()
    ended = False
    position = 0
    while (match := _ESCAPE.search(text, position)) is not None:
        made += _encoded(text[position : match.start()])
        position = match.end()
        found = match.group(1)
        letter = found[0]
        if letter == "c":
            ended = True
            if not goes_on:
                return bytes(made), True
            continue
        if letter in extra:
            made += _encoded(letter)
        elif letter.isdecimal() and letter in "01234567":
            if octal_needs_zero and letter != "0":
                made += _encoded(match.group())
            elif octal_needs_zero:
                made.append(int(found, 8) & 0xFF)
            else:
                made.append(int(found[:3], 8) & 0xFF)
                position -= len(found) - len(found[:3])
        elif letter == "x" and len(found) > 1:
            made.append(int(found[1:], 16))
        elif letter in "uU" and len(found) > 1:
            made += chr(min(int(found[1:], 16), 0xFFFD)).encode("utf-8", "surrogatepass")
        else:
            made += _SIMPLE.get(letter) or _encoded(match.group())
    made += _encoded(text[position:])
    return bytes(made), ended


def echo_bytes(arguments: Sequence[str]) -> bytes:
    """Return what mksh's `echo` writes: escapes are expanded but for -E, -n leaves out the newline."""
    expand, newline = True, True
    index = 0
    while index < len(arguments) and re.fullmatch("-[neE]+", arguments[index]):
        for letter in arguments[index][1:]:
            newline = newline and letter != "n"
            expand = {"e": True, "E": False}.get(letter, expand)
        index += 1
    text = " ".join(arguments[index:])
    if expand:
        data, ended = unescape(text, goes_on=True)
        newline = newline and not ended
    else:
        data = _encoded(text)
    return data + (b"\n" if newline else b"")


class PrintfError(Exception):
    """A format or a number is none; what was made before it is in `written`."""

    def __init__(self, message: str, written: bytes) -> None:
        super().__init__(message)
        self.written = written


@dataclass(slots=True)
class _Arguments:
    values: Sequence[str]
    index: int = 0
    fault: str = ""

    def next(self) -> str | None:
        if self.index >= len(self.values):
            return None
        self.index += 1
        return self.values[self.index - 1]

    def number(self) -> int:
        text = self.next()
        if not text:
            return 0
        if text[0] in "'\"" and len(text) > 1:
            return ord(text[1])
        match = re.fullmatch(r"\s*([-+]?)(0[xX][0-9a-fA-F]+|0[0-7]*|[1-9][0-9]*)", text)
        if match is None:
            self.fault = self.fault or text
            leading = re.match(r"\s*[-+]?[0-9]+", text)
            return int(leading.group()) if leading else 0
        digits = match.group(2)
        base = 16 if digits[:2] in {"0x", "0X"} else 8 if digits.startswith("0") else 10
        return int(digits, base) * (-1 if match.group(1) == "-" else 1)


def printf_bytes(format_text: str, values: Sequence[str], limit: int) -> bytes:
    """Return what `printf` writes; the format is used again as long as arguments are left.

    Raises:
        PrintfError: a directive or a number is none.
        BudgetExceededError: it is more than `limit` bytes.
    """
    made = bytearray()
    arguments = _Arguments(values)
    while True:
        before = arguments.index
        ended = _one_round(format_text, arguments, made)
        if len(made) > limit:
            raise BudgetExceededError(f"printf wrote more than {limit} bytes")
        if ended or arguments.index >= len(values) or arguments.index == before:
            break
    if arguments.fault:
        raise PrintfError(f"not {arguments.fault}", bytes(made))
    return bytes(made)


def _one_round(format_text: str, arguments: _Arguments, made: bytearray) -> bool:
    r"""Use the format once; return whether `\c` ended it."""
    position = 0
    while (start := format_text.find("%", position)) >= 0:
        data, ended = unescape(format_text[position:start], octal_needs_zero=False, extra="\"'")
        made += data
        if ended:
            return True
        match = _DIRECTIVE.match(format_text, start)
        if match is None or match.group(4) is None:
            raise PrintfError(f"bad {format_text[start:]}", bytes(made))
        if _directive(match, arguments, made):
            return True
        position = match.end()
    data, ended = unescape(format_text[position:], octal_needs_zero=False, extra="\"'")
    made += data
    return ended


def _directive(match: re.Match[str], arguments: _Arguments, made: bytearray) -> bool:
    flags, width_text, precision_text, letter = match.groups()
    if letter == "%":
        made += b"%"
        return False
    width = arguments.number() if width_text == "*" else int(width_text or 0)
    if width < 0:
        flags, width = flags + "-", -width
    precision: int | None = None
    if precision_text is not None:
        precision = arguments.number() if precision_text == "*" else int(precision_text or 0)
    if width > MAXIMUM_WIDTH or (precision or 0) > MAXIMUM_WIDTH:
        raise BudgetExceededError(f"printf pads to more than {MAXIMUM_WIDTH} characters")
    ended = False
    if letter in "sbc":
        value = arguments.next() or ""
        data = _encoded(value[:1] if letter == "c" else value)
        if letter == "b":
            data, ended = unescape(value, octal_needs_zero=True)
        data = data if precision is None else data[:precision]
    elif letter in "diuoxX":
        data = _integer(letter, arguments.number(), flags, precision, width).encode()
    elif letter in "eEfFgG":
        data = _float(letter, arguments, flags, precision, width).encode()
    else:
        raise PrintfError(f"bad {match.group()}", bytes(made))
    padding = b" " * (width - len(data))
    made += data + padding if "-" in flags else padding + data
    return ended


def _integer(letter: str, number: int, flags: str, precision: int | None, width: int) -> str:
    number = max(-(1 << 63), min(number, (1 << 64) - 1))
    if letter in "di":
        sign = "-" if number < 0 else "+" if "+" in flags else " " if " " in flags else ""
        digits = str(abs(number))
    else:
        sign = ""
        digits = format(number % (1 << 64), {"u": "d"}.get(letter, letter))
        if "#" in flags and number:
            sign = {"o": "0", "x": "0x", "X": "0X"}.get(letter, "")
    if precision is not None:
        digits = "" if precision == 0 and number == 0 else digits.rjust(precision, "0")
    elif "0" in flags and "-" not in flags:
        digits = digits.rjust(width - len(sign), "0")
    return sign + digits


def _float(letter: str, arguments: _Arguments, flags: str, precision: int | None, width: int) -> str:
    text = arguments.next() or "0"
    try:
        number = float(text)
    except ValueError:
        arguments.fault = arguments.fault or text
        number = 0.0
    sign = "+" if "+" in flags else " " if " " in flags else ""
    made = format(number, f"{sign}.{6 if precision is None else precision}{letter}")
    if "0" in flags and "-" not in flags:
        mark = made[:1] if made[:1] in "+- " else ""
        made = mark + made[len(mark) :].rjust(width - len(mark), "0")
    return made


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")

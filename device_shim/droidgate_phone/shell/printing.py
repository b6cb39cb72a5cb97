"""`echo` and `printf`: backslash escapes and formats."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

_SIMPLE: Final = {
    "a": b"\a", "b": b"\b", "e": b"\x1b", "f": b"\f", "n": b"\n", "r": b"\r", "t": b"\t", "v": b"\v",
    "\\": b"\\",
}  # fmt: skip
_ESCAPE: Final = re.compile(
    r"\\(0[0-7]{0,3}|[1-7][0-7]{0,2}|x[0-9a-fA-F]{1,2}|u[0-9a-fA-F]{1,4}|U[0-9a-fA-F]{1,8}|.)", re.DOTALL
)
_OPTIONS: Final = re.compile("-[neE]+")


def echo_bytes(arguments: Sequence[str]) -> bytes:
    r"""Return what mksh's `echo` writes: -E keeps escapes as they are, -n and `\c` leave out the newline."""
    expand, newline = True, True
    index = 0
    while index < len(arguments) and _OPTIONS.fullmatch(arguments[index]):
        for letter in arguments[index][1:]:
            newline = newline and letter != "n"
            expand = {"e": True, "E": False}.get(letter, expand)
        index += 1
    text = " ".join(arguments[index:])
    data = _encoded(text)
    if expand:
        data, ended = _unescape(text)
        newline = newline and not ended
    return data + (b"\n" if newline else b"")


def _unescape(text: str) -> tuple[bytes, bool]:
    r"""Return the bytes of a text with backslash escapes, and whether `\c` is in it."""
    made = bytearray()
    ended = False
    position = 0
    for match in _ESCAPE.finditer(text):
        made += _encoded(text[position : match.start()])
        position = match.end()
        found = match.group(1)
        letter, digits = found[0], found[1:]
        if letter == "c":
            ended = True
        elif letter == "0":
            made.append(int(found, 8) & 0xFF)
        elif letter == "x" and digits:
            made.append(int(digits, 16))
        elif letter in "uU" and digits:
            made += chr(min(int(digits, 16), 0xFFFD)).encode("utf-8", "surrogatepass")
        else:
            made += _SIMPLE.get(letter) or _encoded(match.group())
    return bytes(made + _encoded(text[position:])), ended


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")

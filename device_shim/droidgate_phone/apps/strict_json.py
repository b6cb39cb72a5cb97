"""The strict JSON reader of the sample apps.

The reader takes what `StrictJson.java` takes and refuses with its texts; positions count UTF-16 units. Java's
`Long` is an int here, `Double` a float, `JSONObject.NULL` None.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Final

from droidgate.model.json_values import Json
from droidgate_phone.java_text import text_of_units, units_of

_DEEPEST: Final = 64
_LEAST_LONG: Final = -(2**63)
_LARGEST_LONG: Final = 2**63 - 1
_SIMPLE_ESCAPES: Final = {
    '"': '"',
    "\\": "\\",
    "/": "/",
    "b": "\b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
}
_DIGITS: Final = frozenset("0123456789")
_HEX_DIGITS: Final = frozenset("0123456789abcdefABCDEF")


class JsonTextError(Exception):
    """`org.json.JSONException`: the text is no JSON of the strict kind; its message is the app's own."""


def read_object(text: str) -> dict[str, Json]:
    """Return the object of a text.

    Raises:
        JsonTextError: the text is not one strict JSON object of at most 64 levels.
    """
    return _Reader(units_of(text)).document()


class _Reader:
    def __init__(self, units: str) -> None:
        self.text = units
        self.at = 0

    def document(self) -> dict[str, Json]:
        self.skip_blanks()
        if self.peek() != "{":
            raise self.problem("an object must come first")
        found = self.object(1)
        self.skip_blanks()
        if self.at < len(self.text):
            raise self.problem("there is text after the object")
        return found

    def value(self, depth: int) -> Json:
        self.skip_blanks()
        first = self.peek()
        if first == "{":
            return self.object(depth + 1)
        if first == "[":
            return self.array(depth + 1)
        if first == '"':
            return self.string()
        if first == "-" or first in _DIGITS:
            return self.number()
        for word, meaning in (("true", True), ("false", False), ("null", None)):
            if self.take(word):
                return meaning
        raise self.problem("a value is missing")

    def object(self, depth: int) -> dict[str, Json]:
        found: dict[str, Json] = {}

        def member() -> None:
            self.skip_blanks()
            name = self.string()
            if name in found:
                raise self.problem(f'the name "{name}" appears twice')
            self.skip_blanks()
            self.expect(":")
            found[name] = self.value(depth)

        self.members(depth, "}", member)
        return found

    def array(self, depth: int) -> list[Json]:
        found: list[Json] = []
        self.members(depth, "]", lambda: found.append(self.value(depth)))
        return found

    def members(self, depth: int, end: str, read_one: Callable[[], None]) -> None:
        if depth > _DEEPEST:
            raise self.problem(f"more than {_DEEPEST} levels")
        self.at += 1
        self.skip_blanks()
        if self.take(end):
            return
        while True:
            read_one()
            self.skip_blanks()
            if not self.take(","):
                break
        self.expect(end)

    def string(self) -> str:
        self.expect('"')
        out: list[str] = []
        while self.at < len(self.text):
            unit = self.text[self.at]
            self.at += 1
            if unit == '"':
                return text_of_units("".join(out))
            if unit < " ":
                raise self.problem("a control character stands in a string")
            out.append(self.escaped() if unit == "\\" else unit)
        raise self.problem("a string does not end")

    def escaped(self) -> str:
        kind = self.peek()
        self.at += 1
        if kind != "u":
            if kind not in _SIMPLE_ESCAPES:
                raise self.problem("an unknown escape stands in a string")
            return _SIMPLE_ESCAPES[kind]
        start = self.at
        for _ in range(4):
            if self.peek() not in _HEX_DIGITS:
                raise self.problem("\\u needs four hexadecimal digits")
            self.at += 1
        return chr(int(self.text[start : self.at], 16))

    def number(self) -> int | float:
        start = self.at
        self.take("-")
        if not self.take("0"):
            self.digits()
        whole = True
        if self.take("."):
            whole = False
            self.digits()
        if self.peek() in {"e", "E"}:
            whole = False
            self.at += 1
            if self.peek() in {"+", "-"}:
                self.at += 1
            self.digits()
        found = self.text[start : self.at]
        return self.whole_number(found) if whole else self.fraction(found)

    def whole_number(self, found: str) -> int:
        # Nineteen digits are the most that a long has, and int() refuses thousands of them.
        value = int(found) if len(found.lstrip("-")) <= len(str(_LARGEST_LONG)) else _LARGEST_LONG + 1
        if not _LEAST_LONG <= value <= _LARGEST_LONG:
            raise self.problem("a whole number is out of range")
        return value

    def fraction(self, found: str) -> float:
        value = float(found)
        if math.isinf(value):
            raise self.problem("a number is out of range")
        return value

    def digits(self) -> None:
        if self.peek() not in _DIGITS:
            raise self.problem("a digit is missing")
        while self.peek() in _DIGITS:
            self.at += 1

    def peek(self) -> str:
        return self.text[self.at] if self.at < len(self.text) else "\0"

    def take(self, token: str) -> bool:
        if not self.text.startswith(token, self.at):
            return False
        self.at += len(token)
        return True

    def expect(self, wanted: str) -> None:
        if self.peek() != wanted:
            raise self.problem(f"'{wanted}' is missing")
        self.at += 1

    def skip_blanks(self) -> None:
        while self.at < len(self.text) and self.text[self.at] in " \t\r\n":
            self.at += 1

    def problem(self, what: str) -> JsonTextError:
        return JsonTextError(f"{what} at character {self.at}")


def named_object(value: Mapping[str, Json], name: str) -> Mapping[str, Json] | None:
    """Return `optJSONObject(name)`: None where the name is missing or holds something else."""
    found = value.get(name)
    return found if isinstance(found, Mapping) else None

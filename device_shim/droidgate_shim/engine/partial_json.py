"""Reading as much as possible of a text that is not JSON within the limits (shim-engine.md 3.1).

An answer needs the ids of a request that cannot be read, and its agent needs to know what is wrong and where.
"""

from __future__ import annotations

import json
import re
from contextlib import suppress
from decimal import Decimal
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import Final, Never

from droidgate_mappings.model.json_values import Json, pointer_token
from droidgate_mappings.records import dataclass, field
from droidgate_mappings.text.utf16 import utf16_length
from droidgate_shim.engine.strict_json import (
    LONG,
    MAX_DEPTH,
    MAX_EXPONENT_DIGITS,
    MAX_KEYS,
    MAX_NUMBER_CHARACTERS,
    MAX_UNITS,
    fits_units,
)

_MOST_DEPTH: Final = 512
"""Levels beyond which nothing more is read."""

_NUMBER: Final = re.compile(
    r"-?(?P<whole>[0-9]*)(?P<fraction>\.[0-9]*)?(?:[eE][+-]?(?P<exponent>[0-9]*))?", re.ASCII
)
_BLANKS: Final = re.compile(r"[ \n\r\t]*")
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_WORDS: Final[tuple[tuple[str, Json], ...]] = (("true", True), ("false", False), ("null", None))
_BEYOND: Final = Decimal(0)
"""What a number over a limit is read as: no id is a decimal."""


@dataclass(frozen=True, slots=True)
class PartialJson:
    """The readable part of a text.

    Attributes:
        value: The document; what follows a mistake that ends the reading is not in it, and of a duplicate
            key it has the first value.
        mistake: What is wrong first, with its place; None where nothing is.
    """

    value: Json
    mistake: str | None


def read_partial(text: str) -> PartialJson:
    """Read a text as far as possible; this raises nothing."""
    reader = _Reader(text)
    if not fits_units(text):
        reader.note(f"it has {utf16_length(text)} characters; at most {MAX_UNITS} are read")
    with suppress(_EndOfReadingError):
        reader.read()
    return PartialJson(reader.root, reader.mistake)


class _EndOfReadingError(Exception):
    """The text does not continue as JSON."""


@dataclass(slots=True)
class _Container:
    """An object or a list that is being read; `name` is the key or index of its current value, if any."""

    value: dict[str, Json] | list[Json]
    name: str | None = None
    is_repeated: bool = False
    count: int = 0


@dataclass(slots=True)
class _Reader:
    text: str
    at: int = 0
    root: Json = None
    mistake: str | None = None
    open: list[_Container] = field(default_factory=list)

    def note(self, reason: str) -> None:
        """Keep the first mistake."""
        if self.mistake is None:
            pointer = "".join(f"/{pointer_token(item.name)}" for item in self.open if item.name is not None)
            where = f"{pointer or 'the top level'} (character {self.at})"
            self.mistake = reason if not self.open and not self.at else f"{reason} at {where}"

    def stop(self, reason: str) -> Never:
        self.note(reason)
        raise _EndOfReadingError

    def read(self) -> None:
        self.read_value()
        while self.open:
            self.read_next()
        self.skip_blanks()
        if self.at < len(self.text):
            self.stop("text follows the document")

    def skip_blanks(self) -> None:
        match = _BLANKS.match(self.text, self.at)
        self.at = self.at if match is None else match.end()

    def peek(self) -> str:
        return self.text[self.at : self.at + 1]

    def read_next(self) -> None:
        """Go on in the innermost container, whose first value, if it has any, is not yet read."""
        container = self.open[-1]
        container.name = None
        closing = "}" if isinstance(container.value, dict) else "]"
        self.skip_blanks()
        if self.peek() == closing and not container.count:
            self.close()
            return
        if container.count:
            separator = self.peek()
            if separator == closing:
                self.close()
                return
            if separator != ",":
                self.stop(f'"," or "{closing}" is missing')
            self.at += 1
            self.skip_blanks()
        if isinstance(container.value, dict):
            self.read_key(container, container.value)
        else:
            container.name = str(container.count)
        container.count += 1
        self.read_value()

    def close(self) -> None:
        self.at += 1
        self.open.pop()

    def read_key(self, container: _Container, members: dict[str, Json]) -> None:
        if self.peek() != '"':
            self.stop("a key in double quotes is missing")
        name = self.read_string()
        self.skip_blanks()
        if self.peek() != ":":
            self.stop(f'":" is missing after the key {_quoted(name)}')
        if name in members:
            self.note(f"duplicate key {_quoted(name)}")
        self.at += 1
        container.name = name
        container.is_repeated = name in members
        members.setdefault(name, None)
        if len(members) > MAX_KEYS:
            self.note(f"an object has more than {MAX_KEYS} keys")

    def read_value(self) -> None:
        self.skip_blanks()
        opening = self.peek()
        if opening in ("{", "["):
            container = _Container({} if opening == "{" else [])
            self.attach(container.value)
            self.open.append(container)
            self.check_depth()
            self.at += 1
            return
        self.attach(self.read_string() if opening == '"' else self.read_scalar())

    def check_depth(self) -> None:
        if len(self.open) > MAX_DEPTH:
            self.note(f"it is nested more than {MAX_DEPTH} levels deep")
        if len(self.open) > _MOST_DEPTH:
            raise _EndOfReadingError

    def attach(self, value: Json) -> None:
        if not self.open:
            self.root = value
            return
        container = self.open[-1]
        if isinstance(container.value, list):
            container.value.append(value)
        elif container.name is not None and not container.is_repeated:
            container.value[container.name] = value

    def read_string(self) -> str:
        try:
            value, end = scanstring(self.text, self.at + 1, True)
        except json.JSONDecodeError as error:
            self.stop(f"{error.msg[:1].lower()}{error.msg[1:].removesuffix(' at')}")
        if _SURROGATE.search(value) is not None:
            self.stop("a string has half of a surrogate pair")
        self.at = end
        return str(value)

    def read_scalar(self) -> Json:
        for word, value in _WORDS:
            if self.text.startswith(word, self.at):
                self.at += len(word)
                return value
        return self.read_number()

    def read_number(self) -> Json:
        match = _NUMBER.match(self.text, self.at)
        whole = "" if match is None else match["whole"]
        if match is None or not whole or (whole.startswith("0") and whole != "0"):
            self.stop("a value is missing")
        fraction, exponent = match["fraction"], match["exponent"]
        if fraction == "." or exponent == "":
            self.stop("a number has no digits")
        if exponent is not None and len(exponent) > MAX_EXPONENT_DIGITS:
            self.stop(f"a number has more than {MAX_EXPONENT_DIGITS} digits of exponent")
        written = match[0]
        if match.end() == len(self.text) and self.open:
            self.stop("a number is cut off")
        if len(written) > MAX_NUMBER_CHARACTERS:
            self.note(f"a number has more than {MAX_NUMBER_CHARACTERS} characters")
        elif fraction is None and exponent is None and int(written) in LONG:
            self.at = match.end()
            return int(written)
        elif fraction is None and exponent is None:
            self.note("an integer does not fit 64 bits")
        elif Decimal(written).is_finite() and abs(float(Decimal(written))) == float("inf"):
            self.note("a number does not fit a double")
        self.at = match.end()
        return _BEYOND


def _quoted(name: str) -> str:
    return json.dumps(name if len(name) <= _MAX_SHOWN else f"{name[:_MAX_SHOWN]}...", ensure_ascii=False)


_MAX_SHOWN: Final = 80

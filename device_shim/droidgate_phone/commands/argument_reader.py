"""Reading a command's arguments as AOSP's `android.os.ShellCommand` does."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

_NUMBER: Final = re.compile("([+-]?)(?:0[xX]([0-9a-fA-F]+)|0([0-7]+)|([0-9]+))")
_LONGEST_NUMBER: Final = 64


class ArgumentError(Exception):
    """An argument is missing or wrong: Java's exception that Android would throw.

    Attributes:
        exception: Java's class name.
        message: Its message.
    """

    def __init__(self, message: str, exception: str = "java.lang.IllegalArgumentException") -> None:
        super().__init__(message)
        self.message = message
        self.exception = exception


class ArgumentReader:
    """A cursor over arguments."""

    def __init__(self, arguments: Sequence[str]) -> None:
        self._arguments = list(arguments)
        self._position = 0
        self._rest_of_option: str | None = None
        self._option = ""

    def next_option(self) -> str | None:
        """Return the next option, None where the next word is not one; `--` ends the options."""
        if self._rest_of_option is not None:
            raise ArgumentError(f"No argument expected after {self._option!r}".replace("'", '"'))
        if self._position >= len(self._arguments):
            return None
        found = self._arguments[self._position]
        if not found.startswith("-"):
            return None
        self._position += 1
        if found == "--":
            return None
        if len(found) > len("-x") and found[1] != "-":
            self._rest_of_option = found[2:]
            found = found[:2]
        self._option = found
        return found

    def next(self) -> str | None:
        """Return the next argument: what is joined to a one-letter option, else the next word."""
        if self._rest_of_option is not None:
            found, self._rest_of_option = self._rest_of_option, None
            return found
        if self._position >= len(self._arguments):
            return None
        self._position += 1
        return self._arguments[self._position - 1]

    def require(self) -> str:
        """Return the next argument.

        Raises:
            ArgumentError: no argument is left.
        """
        found = self.next()
        if found is None:
            raise ArgumentError(f'Argument expected after "{self._option}"')
        return found

    def require_number(self) -> int:
        """Return the next argument as `Integer.decode` reads it.

        Raises:
            ArgumentError: it is missing or not a number.
        """
        return parse_number(self.require())

    def rest(self) -> list[str]:
        """Take all that is left."""
        found = self._arguments[self._position :]
        self._position = len(self._arguments)
        if self._rest_of_option is not None:
            found.insert(0, self._rest_of_option)
            self._rest_of_option = None
        return found


def parse_number(text: str) -> int:
    """Return a number as `Integer.decode` reads it: decimal, 0x hexadecimal or 0 octal.

    Raises:
        ArgumentError: the text is not a number.
    """
    found = _NUMBER.fullmatch(text)
    if found is None or len(text) > _LONGEST_NUMBER:
        raise ArgumentError(f'For input string: "{text}"', "java.lang.NumberFormatException")
    sign, hexadecimal, octal, decimal = found.groups()
    number = int(hexadecimal, 16) if hexadecimal else int(octal, 8) if octal else int(decimal)
    return -number if sign == "-" else number

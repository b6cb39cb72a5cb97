"""Reading a command's arguments as AOSP's `android.os.ShellCommand` does."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from droidgate_phone.java.java_text import java_int, java_long, java_trim
from droidgate_phone.java.org_json import parse_double

_RADIX: Final = re.compile("(?:0x|0X|#)()|0(?=.)|", re.DOTALL)


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

    def __init__(self, arguments: Sequence[str], position: int = 0) -> None:
        self._arguments = list(arguments)
        self._position = position
        self._rest_of_option: str | None = None

    def next_option(self) -> str | None:
        """Return the next option, None where the next word is not one; `--` ends the options."""
        if self._rest_of_option is not None:
            raise ArgumentError(f'No argument expected after "{self._arguments[self._position - 1]}"')
        if self._position >= len(self._arguments):
            return None
        option = self._arguments[self._position]
        if not option.startswith("-"):
            return None
        self._position += 1
        if option == "--":
            return None
        if len(option) > len("-x") and option[1] != "-":
            self._rest_of_option = option[2:]
            option = option[:2]
        return option

    def next(self) -> str | None:
        """Return the next argument: what is joined to a one-letter option, else the next word."""
        if self._rest_of_option is not None:
            argument, self._rest_of_option = self._rest_of_option, None
            return argument
        if self._position >= len(self._arguments):
            return None
        self._position += 1
        return self._arguments[self._position - 1]

    def require(self) -> str:
        """Return the next argument.

        Raises:
            ArgumentError: no argument is left.
        """
        argument = self.next()
        if argument is None:
            raise ArgumentError(f'Argument expected after "{self._arguments[-1]}"')
        return argument

    def require_number(self) -> int:
        """Return the next argument as `Integer.decode` reads it.

        Raises:
            ArgumentError: it is missing or not a number.
        """
        return parse_number(self.require())

    def rest(self) -> list[str]:
        """Take all that is left."""
        arguments = self._arguments[self._position :]
        self._position = len(self._arguments)
        if self._rest_of_option is not None:
            arguments.insert(0, self._rest_of_option)
            self._rest_of_option = None
        return arguments


class NumberError(ArgumentError):
    """What `Integer.parseInt` and its like throw."""

    def __init__(self, message: str) -> None:
        super().__init__(message, "java.lang.NumberFormatException")


def parse_number(text: str) -> int:
    """Return a number as `Integer.decode` reads it: decimal, 0x or # hexadecimal, or 0 octal.

    Raises:
        NumberError: the text is not an int.
    """
    if not text:
        raise NumberError("Zero length string")
    sign = "-" if text[0] == "-" else ""
    digits = text[1:] if text[0] in "+-" else text
    prefix = _RADIX.match(digits)
    base, radix = 10, ""
    if prefix is not None and prefix[0]:
        base = 8 if prefix[1] is None else 16
        digits, radix = digits[prefix.end() :], f" under radix {base}"
    if digits.startswith(("+", "-")):
        raise NumberError("Sign character in wrong position")
    number = java_int(sign + digits, base)
    if number is None:
        raise NumberError(f'For input string: "{sign}{digits}"{radix}')
    return number


def parse_decimal(text: str | None, *, long: bool = False) -> int:
    """Return a number as `Integer.parseInt` reads it, or as `Long.parseLong` does.

    Raises:
        NumberError: the text is missing, or not an int or a long.
    """
    if text is None:
        raise NumberError("Cannot parse null string: null")
    number = java_long(text) if long else java_int(text)
    if number is None:
        raise NumberError(f'For input string: "{text}"')
    return number


def parse_fraction(text: str) -> float:
    """Return a number as `Double.parseDouble` reads it.

    Raises:
        NumberError: the text is not a number.
    """
    number = parse_double(text)
    if number is None:
        raise NumberError(f'For input string: "{java_trim(text)}"' if java_trim(text) else "empty String")
    return number

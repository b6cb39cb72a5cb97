"""Arithmetic of `$((...))`: mksh's 32-bit numbers and C's operators."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final, Protocol

MAXIMUM_DEPTH: Final = 40

_TOKEN: Final = re.compile(
    r"\s*(?:(0[xX][0-9a-fA-F]*|[0-9]+#[0-9A-Za-z]+|[0-9]+)|([A-Za-z_][A-Za-z0-9_]*)"
    r"|(<<=|>>=|\^<=|\^>=|&&|\|\||<<|>>|<=|>=|==|!=|\+\+|--|[-+*/%&|^]=|[-+*/%&|^~!<>=?:(),])|(.))",
    re.ASCII | re.DOTALL,
)
_LEVELS: Final = (
    ("||",), ("&&",), ("|",), ("^",), ("&",), ("==", "!="), ("<", "<=", ">", ">="), ("<<", ">>"), ("+", "-"),
    ("*", "/", "%"),
)  # fmt: skip
_ASSIGNMENTS: Final = frozenset({"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="})


class ArithmeticFault(Exception):  # noqa: N818
    """The expression is none, or divides by zero; the text is mksh's, without its prefix."""


class Variables(Protocol):
    """Where variables come from and go to."""

    def get(self, name: str) -> str | None:
        """Return a value, None for none."""

    def set(self, name: str, value: str) -> None:
        """Set a value."""


def evaluate(expression: str, variables: Variables, *, depth: int = 0) -> int:
    """Return the value, -2**31 to 2**31-1.

    Raises:
        ArithmeticFault: it is no expression, or divides by zero.
    """
    if depth > MAXIMUM_DEPTH:
        raise ArithmeticFault(f"{expression}: expression recurses on parameter")
    return _Evaluation(expression, variables, depth).run()


def to_32_bits(number: int) -> int:
    """Return a number as C's `int` holds it."""
    return (number + (1 << 31)) % (1 << 32) - (1 << 31)


class _Evaluation:
    """One pass over an expression; `active` is False where a value is not wanted (`0 && x`)."""

    def __init__(self, expression: str, variables: Variables, depth: int) -> None:
        self._expression = expression
        self._variables = variables
        self._depth = depth
        self._nesting = 0
        self._active = True
        self._tokens = [
            match.groups() for match in _TOKEN.finditer(expression.rstrip()) if match.lastindex is not None
        ]
        self._index = 0

    def run(self) -> int:
        if not self._tokens:
            return 0
        value = self._comma()
        if self._index < len(self._tokens):
            self._unexpected()
        return value

    def _peek(self) -> str:
        return self._tokens[self._index][2] or "" if self._index < len(self._tokens) else ""

    def _take(self, *operators: str) -> str:
        operator = self._peek()
        if operator and operator in operators:
            self._index += 1
            return operator
        return ""

    def _unexpected(self) -> None:
        if self._index >= len(self._tokens):
            raise ArithmeticFault(f"{self._expression}: unexpected 'end of expression'")
        token = next(text for text in self._tokens[self._index] if text is not None)
        raise ArithmeticFault(f"{self._expression}: unexpected '{token}'")

    def _comma(self) -> int:
        value = self._assignment()
        while self._take(","):
            value = self._assignment()
        return value

    def _assignment(self) -> int:
        name = self._tokens[self._index][1] if self._index < len(self._tokens) else None
        if name is not None and self._index + 1 < len(self._tokens):
            operator = self._tokens[self._index + 1][2]
            if operator in _ASSIGNMENTS:
                self._index += 2
                value = self._assignment()
                if operator != "=":
                    value = self._apply(str(operator)[:-1], self._value_of(name), value)
                return self._store(name, value)
        return self._choice()

    def _store(self, name: str, value: int) -> int:
        if self._active:
            self._variables.set(name, str(value))
        return value

    def _choice(self) -> int:
        condition = self._binary(0)
        if not self._take("?"):
            return condition
        chosen = self._only_if(bool(condition), self._comma)
        if not self._take(":"):
            self._unexpected()
        other = self._only_if(not condition, self._assignment)
        return chosen if condition else other

    def _only_if(self, wanted: bool, read: Callable[[], int]) -> int:  # noqa: FBT001
        before = self._active
        self._active = before and wanted
        try:
            return read()
        finally:
            self._active = before

    def _binary(self, level: int) -> int:
        if level == len(_LEVELS):
            return self._unary()
        left = self._binary(level + 1)
        while operator := self._take(*_LEVELS[level]):
            if operator in {"&&", "||"}:
                wanted = bool(left) == (operator == "&&")
                right = self._only_if(wanted, lambda: self._binary(level + 1))
                left = int(bool(right)) if wanted else int(operator == "||")
            else:
                left = self._apply(operator, left, self._binary(level + 1))
        return left

    def _apply(self, operator: str, left: int, right: int) -> int:
        if operator in {"/", "%"}:
            if right == 0:
                if not self._active:
                    return 0
                raise ArithmeticFault(f"{self._expression}: zero divisor")
            quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
            return to_32_bits(quotient if operator == "/" else left - quotient * right)
        return to_32_bits(_OPERATIONS[operator](left, right))

    def _unary(self) -> int:
        self._nesting += 1
        if self._nesting > MAXIMUM_DEPTH:
            raise ArithmeticFault(f"{self._expression}: too many nested expressions")
        try:
            operator = self._take("-", "+", "!", "~", "++", "--")
            if not operator:
                return self._primary()
            if operator in {"++", "--"}:
                name = self._name()
                return self._store(name, to_32_bits(self._value_of(name) + (1 if operator == "++" else -1)))
            value = self._unary()
            return {"-": to_32_bits(-value), "+": value, "!": int(not value), "~": ~value}[operator]
        finally:
            self._nesting -= 1

    def _name(self) -> str:
        name = self._tokens[self._index][1] if self._index < len(self._tokens) else None
        if name is None:
            self._unexpected()
        self._index += 1
        return str(name)

    def _primary(self) -> int:
        if self._take("("):
            value = self._comma()
            if not self._take(")"):
                raise ArithmeticFault(f"{self._expression}: missing )")
            return value
        if self._index >= len(self._tokens):
            self._unexpected()
        number, name, _operator, _other = self._tokens[self._index]
        if number is not None:
            self._index += 1
            return self._number(number)
        if name is None:
            self._unexpected()
        self._index += 1
        value = self._value_of(str(name))
        operator = self._take("++", "--")
        if operator:
            self._store(str(name), to_32_bits(value + (1 if operator == "++" else -1)))
        return value

    def _value_of(self, name: str) -> int:
        if not self._active:
            return 0
        text = (self._variables.get(name) or "").strip()
        if not text:
            return 0
        if text.isascii() and text.isdecimal():
            return self._number(text)
        return evaluate(text, self._variables, depth=self._depth + 1)

    def _number(self, text: str) -> int:
        try:
            if text[:2] in {"0x", "0X"}:
                return to_32_bits(int(text[2:] or "0", 16))
            base, hash_mark, digits = text.partition("#")
            if hash_mark:
                return to_32_bits(int(digits, int(base)))
            return to_32_bits(int(text))
        except ValueError:
            raise ArithmeticFault(f"{self._expression}: bad number '{text}'") from None


_OPERATIONS: Final[Mapping[str, Callable[[int, int], int]]] = {
    "+": lambda left, right: left + right,
    "-": lambda left, right: left - right,
    "*": lambda left, right: left * right,
    "<<": lambda left, right: left << (right & 31),
    ">>": lambda left, right: left >> (right & 31),
    "&": lambda left, right: left & right,
    "|": lambda left, right: left | right,
    "^": lambda left, right: left ^ right,
    "==": lambda left, right: int(left == right),
    "!=": lambda left, right: int(left != right),
    "<": lambda left, right: int(left < right),
    "<=": lambda left, right: int(left <= right),
    ">": lambda left, right: int(left > right),
    ">=": lambda left, right: int(left >= right),
}

"""The constants that annotations hold: texts, numbers, lists, classes and other annotations."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any, Final

from droidgate_appfunctions.kotlin.declarations import (
    ClassDeclaration,
    Name,
    PropertyDeclaration,
    SourceDeclarations,
)
from droidgate_appfunctions.kotlin.index import Index
from droidgate_appfunctions.kotlin.kotlin_tokens import Expression
from droidgate_mappings.records import dataclass, field

MAX_TEXT: Final = 64 * 1024
"""Characters of a constant; constants made of constants could double with each one."""

_MAX_DEPTH: Final = 32
_MAX_DIGITS: Final = 64
_LISTS: Final = frozenset({"arrayOf", "intArrayOf", "longArrayOf", "emptyArray", "listOf", "emptyList"})
_ESCAPE: Final = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_ESCAPED: Final = {"n": "\n", "t": "\t", "b": "\b", "r": "\r", "'": "'", '"': '"', "\\": "\\", "$": "$"}
_INTEGER: Final = re.compile(r"(0[xX][0-9a-fA-F]+|0[bB][01]+|0|[1-9][0-9]*)[uU]?L?")
_REAL: Final = re.compile(r"(?:[0-9]++(?:\.[0-9]++)?|\.[0-9]++)(?:[eE][+-]?[0-9]++)?[fF]?")


@cache
def _template(dollars: int) -> re.Pattern[str]:
    """Return the pattern of an escape or a template in a text with so many dollars in front of it."""
    name = r"`[^`]+`|[^\W\d]\w*"
    return re.compile(
        rf"\\(?:u[0-9a-fA-F]{{4}}|.)|\${{{dollars}}}(?:\{{\s*([\w.`]+)\s*\}}|({name})|\{{'([^'\\])'\}}|\{{)",
        re.DOTALL,
    )


class NotConstantError(Exception):
    """An expression whose value the sources alone do not give; its text and line."""

    def __init__(self, expression: Expression) -> None:
        text = " ".join(expression.text[:60].split())
        super().__init__(text)
        self.text = text
        self.line = expression.line


@dataclass(frozen=True, slots=True, eq=False)
class ClassValue:
    """`Name::class`."""

    name: Name


@dataclass(frozen=True, slots=True, eq=False)
class CallValue:
    """A call, such as that of an annotation inside another one: its name, and its arguments."""

    name: Name
    arguments: tuple[tuple[str | None, Expression], ...]


@dataclass(slots=True, eq=False)
class Constants:
    """Evaluates expressions in the scope of a file and class; nothing is executed."""

    index: Index
    cache: dict[PropertyDeclaration, Any] = field(default_factory=dict)

    def value(
        self, expression: Expression, file: SourceDeclarations, owner: ClassDeclaration | None, depth: int = 0
    ) -> Any:
        """Return a text, number, boolean, list, `ClassValue` or `CallValue`.

        Raises:
            NotConstantError: it is none of these, or a name in it is not a constant that is in the sources.
        """
        source, start, end = expression.source, expression.start, expression.end
        if depth > _MAX_DEPTH or start >= end:
            raise NotConstantError(expression)
        kinds = source.kinds
        terms = self._terms(expression)
        if len(terms) > 1:
            return self._sum([self.value(term, file, owner, depth + 1) for term in terms], expression)
        if kinds[start] in {"-", "+", "number"}:
            return _number(expression)
        closer = source.closers.get(start)
        if kinds[start] == "(" and closer == end - 1:
            return self.value(Expression(source, start + 1, closer), file, owner, depth + 1)
        if kinds[start] == "[" and closer == end - 1:
            return [self.value(value, file, owner, depth + 1) for _, value in source.arguments(start)]
        if end - start == 1 and kinds[start] in {"true", "false"}:
            return kinds[start] == "true"
        if end - start == 1 and kinds[start] == "text" and expression.text.endswith('"'):
            return self._text(expression, file, owner, depth)
        return self._name(expression, file, owner, depth)

    @staticmethod
    def _terms(expression: Expression) -> list[Expression]:
        """Return what is between the plus signs of an expression; one in front of a value is part of it."""
        source, start = expression.source, expression.start
        terms: list[Expression] = []
        for token in source.steps(start, expression.end):
            if source.kinds[token] == "+" and source.kinds[token - 1] not in {"+", "-"} and token > start:
                terms.append(Expression(source, start, token))
                start = token + 1
        return [*terms, Expression(source, start, expression.end)]

    @staticmethod
    def _sum(values: list[Any], expression: Expression) -> Any:
        if isinstance(values[0], str):
            return _bounded("".join(_as_text(value, expression) for value in values), expression)
        if all(isinstance(value, int) and not isinstance(value, bool) for value in values):
            return sum(values)
        raise NotConstantError(expression)

    def _text(
        self, expression: Expression, file: SourceDeclarations, owner: ClassDeclaration | None, depth: int
    ) -> str:
        text = expression.text.lstrip("$")
        dollars = len(expression.text) - len(text) or 1
        raw = text.startswith('"""') and len(text) > 5  # noqa: PLR2004 - two quotes of three signs
        quotes = 3 if raw else 1
        text = text[quotes:-quotes]
        pieces: list[str] = []
        position = length = 0
        for match in _template(dollars).finditer(text):
            pieces.append(text[position : match.start()])
            position = match.end()
            if match[0].startswith("\\"):
                pieces.append(match[0] if raw else _unescaped(match[0]))
            elif match[3] is not None:
                pieces.append(match[3])
            elif match[1] or match[2]:
                name = tuple((match[1] or match[2]).replace("`", "").split("."))
                pieces.append(_as_text(self._constant(name, expression, file, owner, depth), expression))
                length += len(pieces[-1])
                if length > MAX_TEXT:
                    raise NotConstantError(expression)
            else:
                raise NotConstantError(expression)
        pieces.append(text[position:])
        return _bounded("".join(pieces), expression)

    def _name(
        self, expression: Expression, file: SourceDeclarations, owner: ClassDeclaration | None, depth: int
    ) -> Any:
        """Return what a name means: a constant, a class literal or a call."""
        source, token = expression.source, expression.start
        kinds = source.kinds
        segments: list[str] = []
        while kinds[token] == "name":
            segments.append(source.word(token))
            token += 1
            if kinds[token] != "." or token >= expression.end:
                break
            token += 1
        name = tuple(segments)
        rest = kinds[token : expression.end]
        if name and rest == ["::", "class"]:
            return ClassValue(name)
        if name and not rest:
            return self._constant(name, expression, file, owner, depth)
        if rest and rest[0] == "<":
            token = source.after_type_arguments(token) or token
        if not name or kinds[token] != "(" or source.closers.get(token) != expression.end - 1:
            raise NotConstantError(expression)
        arguments = tuple(source.arguments(token))
        if len(name) == 1 and name[0] in _LISTS:
            return [self.value(value, file, owner, depth + 1) for _, value in arguments]
        return CallValue(name, arguments)

    def _constant(
        self,
        name: Name,
        expression: Expression,
        file: SourceDeclarations,
        owner: ClassDeclaration | None,
        depth: int,
    ) -> Any:
        constant = self.index.find_constant(name, file, owner)
        if constant is None or "const" not in constant[0].modifiers or constant[0].value is None:
            raise NotConstantError(expression)
        declared, its_file, its_owner = constant
        if declared not in self.cache:
            self.cache[declared] = None  # a constant made of itself
            self.cache[declared] = self.value(constant[0].value, its_file, its_owner, depth + 1)
        value = self.cache[declared]
        if value is None:
            raise NotConstantError(expression)
        return value


def bound_arguments(
    arguments: tuple[tuple[str | None, Expression], ...], names: tuple[str, ...]
) -> tuple[Mapping[str, Expression], tuple[Expression, ...]]:
    """Return arguments by the name of their parameter, and those that have none."""
    bound: dict[str, Expression] = {}
    others: list[Expression] = []
    for position, (name, value) in enumerate(arguments):
        parameter_name = name if name is not None else names[position] if position < len(names) else None
        if parameter_name is None or parameter_name in bound:
            others.append(value)
        else:
            bound[parameter_name] = value
    return bound, tuple(others)


def _number(expression: Expression) -> int | float:
    sign = "".join(expression.source.kinds[expression.start : expression.end - 1])
    digits = expression.source.word(expression.end - 1).replace("_", "")
    if len(digits) > _MAX_DIGITS or sign not in {"", "-", "+"}:
        raise NotConstantError(expression)
    integer = _INTEGER.fullmatch(digits)
    if integer is not None:
        value: int | float = int(integer[1], 0)
    elif _REAL.fullmatch(digits):
        value = float(digits.rstrip("fF"))
    else:
        raise NotConstantError(expression)
    return -value if sign == "-" else value


def _unescaped(text: str) -> str:
    match = _ESCAPE.fullmatch(text)
    if match is None:
        return text
    if len(match[1]) > 1:
        return chr(int(match[1][1:], 16))
    return _ESCAPED.get(match[1], text)


def _as_text(value: Any, expression: Expression) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    # Kotlin writes floating-point numbers, lists and classes in other ways than Python.
    if not isinstance(value, str | int):
        raise NotConstantError(expression)
    return str(value)


def _bounded(text: str, expression: Expression) -> str:
    if len(text) > MAX_TEXT:
        raise NotConstantError(expression)
    # A pair of escapes such as \uD83D\uDE00 is one character.
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")

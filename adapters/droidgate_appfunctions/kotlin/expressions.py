"""The constants that annotations hold: texts, numbers, lists, classes and other annotations."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from tree_sitter import Node

from droidgate_appfunctions.kotlin.declarations import (
    ClassDeclaration,
    Name,
    PropertyDeclaration,
    SourceDeclarations,
)
from droidgate_appfunctions.kotlin.index import Index
from droidgate_appfunctions.kotlin.syntax import arguments_of, identifier_of, line_of, text_of

MAX_TEXT: Final = 64 * 1024
"""Characters of a constant; constants made of constants could double with each one."""

_MAX_DEPTH: Final = 32
_MAX_DIGITS: Final = 64
_LISTS: Final = frozenset({"arrayOf", "intArrayOf", "longArrayOf", "emptyArray", "listOf", "emptyList"})
_ESCAPE: Final = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_TEMPLATE: Final = re.compile(
    r"\\(?:u[0-9a-fA-F]{4}|.)|\$(?:\{\s*([\w.`]+)\s*\}|(\w+)|\{'([^'\\])'\})|\$\{", re.DOTALL
)
_ESCAPED: Final = {"n": "\n", "t": "\t", "b": "\b", "r": "\r", "'": "'", '"': '"', "\\": "\\", "$": "$"}
_INTEGER: Final = re.compile(r"(0[xX][0-9a-fA-F]+|0[bB][01]+|0|[1-9][0-9]*)[uU]?L?")
_REAL: Final = re.compile(r"(?:[0-9]++(?:\.[0-9]++)?|\.[0-9]++)(?:[eE][+-]?[0-9]++)?[fF]?")


class NotConstantError(Exception):
    """An expression whose value the sources alone do not give; its text and line."""

    def __init__(self, node: Node) -> None:
        text = " ".join(text_of(node)[:60].split())
        super().__init__(text)
        self.text = text
        self.line = line_of(node)


@dataclass(frozen=True, slots=True, eq=False)
class ClassValue:
    """`Name::class`."""

    name: Name


@dataclass(frozen=True, slots=True, eq=False)
class CallValue:
    """A call, such as that of an annotation inside another one: its name, and its arguments."""

    name: Name
    arguments: tuple[tuple[str | None, Node], ...]


@dataclass(slots=True, eq=False)
class Constants:
    """Evaluates expressions in the scope of a file and class; nothing is executed."""

    index: Index
    known: dict[PropertyDeclaration, Any] = field(default_factory=dict)

    def value(
        self, node: Node, file: SourceDeclarations, owner: ClassDeclaration | None, depth: int = 0
    ) -> Any:
        """Return a text, number, boolean, list, `ClassValue` or `CallValue`.

        Raises:
            NotConstantError: it is none of these, or a name in it is not a constant that is in the sources.
        """
        if depth > _MAX_DEPTH:
            raise NotConstantError(node)
        kind = node.type
        if kind in {"string_literal", "multiline_string_literal"}:
            return self._text(node, file, owner, depth)
        if kind in {"number_literal", "unary_expression"}:
            return _number(node)
        if kind == "parenthesized_expression":
            inner = [child for child in node.children if child.is_named]
            return self.value(inner[0], file, owner, depth + 1) if len(inner) == 1 else _refuse(node)
        if kind in {"identifier", "navigation_expression"}:
            return self._name(node, file, owner, depth)
        if kind == "collection_literal":
            listed = [child for child in node.children if child.is_named and "comment" not in child.type]
            return [self.value(child, file, owner, depth + 1) for child in listed]
        if kind == "call_expression":
            return self._call(node, file, owner, depth)
        if kind == "binary_expression":
            return self._sum(node, file, owner, depth)
        if text_of(node) in {"true", "false"}:
            return text_of(node) == "true"
        raise NotConstantError(node)

    def _text(self, node: Node, file: SourceDeclarations, owner: ClassDeclaration | None, depth: int) -> str:
        text = text_of(node)
        raw = node.type == "multiline_string_literal"
        quotes = 3 if raw else 1
        text = text[quotes:-quotes].replace("\r\n", "\n")
        pieces: list[str] = []
        position = length = 0
        for found in _TEMPLATE.finditer(text):
            pieces.append(text[position : found.start()])
            position = found.end()
            if found[0].startswith("\\"):
                pieces.append(found[0] if raw else _unescaped(found[0]))
            elif found[3] is not None:
                pieces.append(found[3])
            elif found[1] or found[2]:
                name = tuple((found[1] or found[2]).replace("`", "").split("."))
                pieces.append(_as_text(self._constant(name, node, file, owner, depth), node))
                length += len(pieces[-1])
                if length > MAX_TEXT:
                    raise NotConstantError(node)
            else:
                raise NotConstantError(node)
        pieces.append(text[position:])
        return _bounded("".join(pieces), node)

    def _name(self, node: Node, file: SourceDeclarations, owner: ClassDeclaration | None, depth: int) -> Any:
        text = text_of(node)
        if text in {"true", "false"}:
            return text == "true"
        segments: list[str] = []
        current: Node | None = node
        of_class = False
        while current is not None and current.type == "navigation_expression":
            parts = [child for child in current.children if "comment" not in child.type]
            if len(parts) != 3:  # noqa: PLR2004 - what is in front, a dot, a name
                raise NotConstantError(node)
            if parts[1].type == "::":
                if of_class or segments or text_of(parts[2]) != "class":
                    raise NotConstantError(node)
                of_class = True
            else:
                segments.append(identifier_of(parts[2]))
            current = parts[0]
        if current is None or current.type != "identifier":
            raise NotConstantError(node)
        name = (identifier_of(current), *reversed(segments))
        return ClassValue(name) if of_class else self._constant(name, node, file, owner, depth)

    def _constant(
        self, name: Name, node: Node, file: SourceDeclarations, owner: ClassDeclaration | None, depth: int
    ) -> Any:
        found = self.index.find_constant(name, file, owner)
        if found is None or "const" not in found[0].modifiers or found[0].value is None:
            raise NotConstantError(node)
        declared, its_file, its_owner = found
        if declared not in self.known:
            self.known[declared] = None  # a constant made of itself
            self.known[declared] = self.value(declared.value, its_file, its_owner, depth + 1)  # type: ignore[arg-type]
        value = self.known[declared]
        if value is None:
            raise NotConstantError(node)
        return value

    def _call(self, node: Node, file: SourceDeclarations, owner: ClassDeclaration | None, depth: int) -> Any:
        parts = [child for child in node.children if child.is_named and "comment" not in child.type]
        callee = parts[0]
        listed = next((child for child in parts if child.type == "value_arguments"), None)
        if listed is None or len(parts) > 3:  # noqa: PLR2004 - a name, type arguments, arguments
            raise NotConstantError(node)
        name = tuple(text_of(callee).replace("`", "").split("."))
        arguments = tuple(arguments_of(listed))
        if name[-1] in _LISTS and len(name) == 1:
            return [self.value(value, file, owner, depth + 1) for _, value in arguments]
        if callee.type not in {"identifier", "navigation_expression"}:
            raise NotConstantError(node)
        return CallValue(tuple(part.strip() for part in name), arguments)

    def _sum(self, node: Node, file: SourceDeclarations, owner: ClassDeclaration | None, depth: int) -> Any:
        terms: list[Node] = []
        current = node
        while current.type == "binary_expression":
            operator, right = current.child_by_field_name("operator"), current.child_by_field_name("right")
            left = current.child_by_field_name("left")
            if operator is None or right is None or left is None or text_of(operator) != "+":
                raise NotConstantError(node)
            terms.append(right)
            current = left
        values = [self.value(term, file, owner, depth + 1) for term in (current, *reversed(terms))]
        if isinstance(values[0], str):
            return _bounded("".join(_as_text(value, node) for value in values), node)
        if all(isinstance(value, int) and not isinstance(value, bool) for value in values):
            return sum(values)
        raise NotConstantError(node)


def bound_arguments(
    arguments: tuple[tuple[str | None, Node], ...], names: tuple[str, ...]
) -> tuple[Mapping[str, Node], tuple[Node, ...]]:
    """Return arguments by the name of their parameter, and those that have none."""
    bound: dict[str, Node] = {}
    others: list[Node] = []
    for position, (name, value) in enumerate(arguments):
        known = name if name is not None else names[position] if position < len(names) else None
        if known is None or known in bound:
            others.append(value)
        else:
            bound[known] = value
    return bound, tuple(others)


def _refuse(node: Node) -> Any:
    raise NotConstantError(node)


def _number(node: Node) -> int | float:
    text = text_of(node).replace("_", "")
    digits = text[1:].strip() if text.startswith(("-", "+")) else text
    if len(digits) > _MAX_DIGITS:
        raise NotConstantError(node)
    integer = _INTEGER.fullmatch(digits)
    if integer is not None:
        value: int | float = int(integer[1], 0)
    elif _REAL.fullmatch(digits):
        value = float(digits.rstrip("fF"))
    else:
        raise NotConstantError(node)
    return -value if text.startswith("-") else value


def _unescaped(text: str) -> str:
    found = _ESCAPE.fullmatch(text)
    if found is None:
        return text
    if len(found[1]) > 1:
        return chr(int(found[1][1:], 16))
    return _ESCAPED.get(found[1], text)


def _as_text(value: Any, node: Node) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    # Kotlin writes floating-point numbers, lists and classes in other ways than Python.
    if not isinstance(value, str | int):
        raise NotConstantError(node)
    return str(value)


def _bounded(text: str, node: Node) -> str:
    if len(text) > MAX_TEXT:
        raise NotConstantError(node)
    # A pair of escapes such as \uD83D\uDE00 is one character.
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")

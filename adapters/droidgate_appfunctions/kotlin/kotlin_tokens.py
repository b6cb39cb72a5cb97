"""Kotlin text as tokens, as kotlinc's lexer cuts it: comments are left out, and each text is one token.

A token has a kind: `name`, `number`, `text`, `end`, or, for keywords and signs, the token itself. `?.`, `?:`,
`!!` and `>=` are two tokens, since only what follows decides whether a type ends in between.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import cached_property
from typing import Final

from droidgate_mappings.records import dataclass, field

_CODE: Final = re.compile(
    r"""(?P<space>\s+)
    |(?P<line>//[^\n]*)
    |(?P<comment>/\*)
    |(?P<text>\$*+"(?:"")?)
    |(?P<character>'(?:\\.|[^'\\\n])*+'?)
    |(?P<name>[^\W\d]\w*|`[^`\n]+`)
    |(?P<number>0[xXbB]\w*|(?:\d[\d_]*(?:\.\d[\d_]*)?|\.\d[\d_]*)(?:[eE][+-]?\d+)?\w*)
    |(?P<sign>\$++|::|->|\.\.<?|[-+*/%!=<]=+|&&|\|\||\+\+|--|.)""",
    re.VERBOSE | re.DOTALL,
)
_COMMENT_SIGN: Final = re.compile(r"/\*|\*/")
_IN_TEXT: Final = re.compile(r'\\.|\n|"|\$++', re.DOTALL)
_IN_RAW_TEXT: Final = re.compile(r'"{3,}|\$++')
_IN_TEMPLATE: Final = re.compile(
    r"""//[^\n]*|(?P<comment>/\*)|(?P<text>\$*+"(?:"")?)|\$++|'(?:\\.|[^'\\\n])*+'?|`[^`\n]+`|[{}]""",
    re.DOTALL,
)
_WORDS: Final = """
as break class continue do else false for fun if in interface is null object package return super this
throw true try typealias typeof val var when while
"""
_KEYWORDS: Final = frozenset(_WORDS.split())
_OPENERS: Final = {")": "(", "]": "[", "}": "{"}
_IN_TYPE_ARGUMENTS: Final = frozenset({"name", ".", ",", "?", "*", "&", "->", "in", "@", "(", "["})
_OPERANDS: Final = "name number text this super true false null ! + - ++ -- if when try object fun"
_BEHIND_OPERATOR: Final = frozenset(_OPERANDS.split())
"""What cannot follow type arguments on their line: `a < b > c` has two comparisons."""

_MAX_TYPE_ARGUMENTS: Final = 256
"""Tokens in angle brackets; with more, the first one is a comparison."""


@dataclass(frozen=True, eq=False)
class KotlinText:
    """The tokens of a text, the last one of kind `end`.

    Attributes:
        text: The text, with line feeds alone between its lines.
        kinds: The kind of each token.
        starts: The offset of each token.
        ends: The offset after each token.
        breaks: Whether a token is the first one of its line.
        kdoc: The KDoc in front of a token.
        closers: The closing bracket of each opening one; an opening bracket that is not closed is not in it.
        unfinished: The offset of a text or comment that does not end.
        comparisons: Signs `<` that were found not to begin type arguments.
    """

    text: str
    kinds: list[str] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    breaks: list[bool] = field(default_factory=list)
    kdoc: dict[int, str] = field(default_factory=dict)
    closers: dict[int, int] = field(default_factory=dict)
    unfinished: list[int] = field(default_factory=list)
    comparisons: set[int] = field(default_factory=set)

    @cached_property
    def _lines(self) -> list[int]:
        return [0, *(match.end() for match in re.finditer("\n", self.text))]

    def line_at(self, offset: int) -> int:
        """Return the 1-based line of an offset."""
        return bisect_right(self._lines, offset)

    def line(self, token: int) -> int:
        """Return the 1-based line of a token."""
        return self.line_at(self.starts[token])

    def word(self, token: int) -> str:
        """Return the text of a token, a name without back-ticks."""
        return self.text[self.starts[token] : self.ends[token]].strip("`")

    def between(self, start: int, end: int) -> str:
        """Return the text from one token up to another one."""
        return self.text[self.starts[start] : self.ends[end - 1]] if end > start else ""

    def is_joined(self, token: int) -> bool:
        """Return whether nothing is between a token and the one before."""
        return self.starts[token] == self.ends[token - 1]

    def after_type_arguments(self, token: int) -> int | None:
        """Return the token after the type arguments of an expression; None where `<` compares."""
        open_angles: list[int] = []
        for _ in range(0 if token in self.comparisons else _MAX_TYPE_ARGUMENTS):
            kind = self.kinds[token]
            if kind == "<":
                open_angles.append(token)
            elif kind == ">":
                open_angles.pop()
            elif kind not in _IN_TYPE_ARGUMENTS:
                break
            token = self.closers.get(token, token) + 1
            if not open_angles:
                is_ended = self.breaks[token] or self.kinds[token] not in _BEHIND_OPERATOR
                return token if is_ended else None
        self.comparisons.update(open_angles)
        return None

    def next_comma(self, start: int, end: int) -> int:
        """Return the token after an expression in brackets: a comma, or their end."""
        while start < end and self.kinds[start] != ",":
            after = self.after_type_arguments(start) if self.kinds[start] == "<" else None
            start = after or self.closers.get(start, start) + 1
        return min(start, end)

    def steps(self, start: int, end: int) -> Iterator[int]:
        """Yield the tokens from one up to another one, and of what is in brackets only the opening one."""
        while start < end:
            yield start
            start = self.closers.get(start, start) + 1

    def arguments(self, opener: int) -> Iterator[tuple[str | None, Expression]]:
        """Yield the arguments between brackets: the name or None, and the expression."""
        start, end = opener + 1, self.closers.get(opener, opener)
        while start < end:
            is_named = self.kinds[start : start + 2] == ["name", "="]
            name = self.word(start) if is_named else None
            start += 2 * is_named
            start += self.kinds[start] == "*"
            after = self.next_comma(start, end)
            if after > start:
                yield name, Expression(self, start, after)
            start = after + 1


@dataclass(frozen=True, slots=True, eq=False)
class Expression:
    """The tokens of an expression, from `start` up to `end`."""

    source: KotlinText
    start: int
    end: int

    @property
    def text(self) -> str:
        """The source text."""
        return self.source.between(self.start, self.end)

    @property
    def line(self) -> int:
        """The 1-based line."""
        return self.source.line(self.start)


def read_tokens(text: str) -> KotlinText:
    """Return the tokens of a text; each text has some, whatever is wrong with it."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    source = KotlinText(text)
    open_brackets: list[int] = []
    position, is_first, kdoc = 0, True, ""
    if text.startswith("#!"):
        position = (text + "\n").index("\n")
    while position < len(text):
        match = _CODE.match(text, position)
        if match is None:  # never: a sign is any character
            break
        kind, start, position = match.lastgroup or "", position, match.end()
        if kind == "space":
            is_first = is_first or "\n" in match[0]
            continue
        if kind == "line":
            continue
        if kind == "comment":
            position = _end_of_comment(source, position)
            comment = text[start:position]
            kdoc = comment if comment.startswith("/**") and comment != "/**/" else kdoc
            continue
        if kind == "text":
            position = _end_of_text(source, start, position)
        elif kind == "character":
            kind = "text"
        elif kind == "sign" or match[0] in _KEYWORDS:
            kind = match[0]
            _match(source, open_brackets, kind)
        if kdoc:
            source.kdoc[len(source.kinds)] = kdoc
        source.kinds.append(kind)
        source.starts.append(start)
        source.ends.append(position)
        source.breaks.append(is_first)
        is_first, kdoc = False, ""
    source.kinds.append("end")
    source.starts.append(len(text))
    source.ends.append(len(text))
    source.breaks.append(True)
    return source


def _match(source: KotlinText, open_brackets: list[int], kind: str) -> None:
    """Match a closing bracket: a brace ends what is open inside of it, other brackets end no brace."""
    if kind in _OPENERS.values():
        open_brackets.append(len(source.kinds))
    elif kind in _OPENERS:
        opener = _OPENERS[kind]
        while open_brackets and source.kinds[open_brackets[-1]] not in {opener, "{"}:
            open_brackets.pop()
        if open_brackets and source.kinds[open_brackets[-1]] == opener:
            source.closers[open_brackets.pop()] = len(source.kinds)


def _end_of_comment(source: KotlinText, position: int) -> int:
    start, depth = position - 2, 1
    for match in _COMMENT_SIGN.finditer(source.text, position):
        depth += 1 if match[0] == "/*" else -1
        if depth == 0:
            return match.end()
    source.unfinished.append(start)
    return len(source.text)


def _end_of_text(source: KotlinText, start: int, position: int) -> int:
    """Return where a text ends: it may have templates with code, and these texts of their own.

    What is open is a quote with its count of dollars, or a count of braces inside a template.
    """
    text = source.text
    around: list[tuple[str, int]] = [_quote(text[start:position])]
    while around:
        quote, count = around[-1]
        pattern = {'"': _IN_TEXT, '"""': _IN_RAW_TEXT}.get(quote, _IN_TEMPLATE)
        match = pattern.search(text, position)
        if match is None:
            source.unfinished.append(start)
            return len(text)
        position, sign = match.end(), match[0]
        if not quote:
            if sign == "{":
                around[-1] = "", count + 1
            elif sign == "}":
                around.pop()
                if count > 1:
                    around.append(("", count - 1))
            elif match["comment"]:
                position = _end_of_comment(source, position)
            elif match["text"]:
                around.append(_quote(sign))
        elif sign[0] == "$":
            if len(sign) >= count and text.startswith("{", position):
                position += 1
                around.append(("", 1))
        elif sign[0] in '"\n':
            # A text of one line ends with it, closed or not.
            position -= sign == "\n"
            around.pop()
    return position


def _quote(sign: str) -> tuple[str, int]:
    quote = sign.lstrip("$")
    return quote, len(sign) - len(quote) or 1

r"""String patterns with one meaning everywhere: a listed subset of ECMA-262's, matched in linear time.

JSON Schema's `pattern` is an ECMA-262 regular expression that matches somewhere in a string. Python's,
Java's and JavaScript's engines differ in `.`, `$`, `\d`, `\w`, `\s`, and all of them can be made to run for
ever. So the subset is compiled to a nondeterministic automaton of a bounded number of states and stepped over
code points; a pattern outside the subset is not enforced, and the caller says so.

In the subset: literals; `.`; classes with ranges and negation; `\d \D \w \W \s \S`; `\t \n \r \f \v \0`,
`\xHH`, `\uHHHH`, `\u{H...}` and escaped punctuation; groups `(...)`, `(?:...)` and `(?<name>...)`; `|`; `^`
and `$`; `* + ? {n} {n,} {n,m}`, with or without a `?` behind. Outside: back references, look-around, `\b`,
`\p{...}`, flags.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Final, TypeAlias

from droidgate_mappings.records import dataclass, field

MAX_STATES: Final = 4_000
"""States of one automaton; `{n,m}` is written out, so this bounds its size too."""

MAX_STEPS: Final = 8_000_000
"""States times code points of one match; a longer text is refused, never left running."""

MAX_SEARCHED: Final = 2_000
"""Combined states of several automata that a search for a text visits."""

MAX_DEPTH: Final = 50
MAX_PATTERN: Final = 2_000

_LAST: Final = 0x10FFFF
_HIGHEST_REPEAT: Final = 1_000

Ranges: TypeAlias = tuple[tuple[int, int], ...]

_DIGITS: Final[Ranges] = ((0x30, 0x39),)
_WORDS: Final[Ranges] = ((0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A))
# ECMA-262 WhiteSpace and LineTerminator.
_BLANKS: Final[Ranges] = (
    (0x09, 0x0D),
    (0x20, 0x20),
    (0xA0, 0xA0),
    (0x1680, 0x1680),
    (0x2000, 0x200A),
    (0x2028, 0x2029),
    (0x202F, 0x202F),
    (0x205F, 0x205F),
    (0x3000, 0x3000),
    (0xFEFF, 0xFEFF),
)
_LINE_ENDS: Final[Ranges] = ((0x0A, 0x0A), (0x0D, 0x0D), (0x2028, 0x2029))
_SHORTHANDS: Final = {"d": _DIGITS, "w": _WORDS, "s": _BLANKS}
_CONTROLS: Final = {"t": 0x09, "n": 0x0A, "r": 0x0D, "f": 0x0C, "v": 0x0B}
_PUNCTUATION: Final = frozenset("^$\\.*+?()[]{}|/-")


class UnsupportedPatternError(ValueError):
    """The pattern is outside the subset; the message says what in it."""


def _inverted(ranges: Iterable[tuple[int, int]]) -> Ranges:
    gaps: list[tuple[int, int]] = []
    begin = 0
    for first, last in sorted(ranges):
        if first > begin:
            gaps.append((begin, first - 1))
        begin = max(begin, last + 1)
    if begin <= _LAST:
        gaps.append((begin, _LAST))
    return tuple(gaps)


@dataclass(frozen=True, slots=True)
class _Characters:
    ranges: Ranges


@dataclass(frozen=True, slots=True)
class _Begin:
    pass


@dataclass(frozen=True, slots=True)
class _End:
    pass


@dataclass(frozen=True, slots=True)
class _Sequence:
    parts: tuple[_Node, ...]


@dataclass(frozen=True, slots=True)
class _Choice:
    alternatives: tuple[_Node, ...]


@dataclass(frozen=True, slots=True)
class _Repeat:
    part: _Node
    least: int
    most: int | None


_Node: TypeAlias = _Characters | _Begin | _End | _Sequence | _Choice | _Repeat


@dataclass(slots=True)
class _Parser:
    text: str
    position: int = 0

    def parse(self) -> _Node:
        node = self.choice(0)
        if self.position < len(self.text):
            raise UnsupportedPatternError("a closing parenthesis without an opening one")
        return node

    def peek(self) -> str:
        return self.text[self.position : self.position + 1]

    def take(self) -> str:
        character = self.peek()
        if not character:
            raise UnsupportedPatternError("it ends too early")
        self.position += 1
        return character

    def skip(self, expected: str) -> bool:
        if self.text.startswith(expected, self.position):
            self.position += len(expected)
            return True
        return False

    def choice(self, depth: int) -> _Node:
        if depth > MAX_DEPTH:
            raise UnsupportedPatternError(f"more than {MAX_DEPTH} groups in each other")
        alternatives = [self.sequence(depth)]
        while self.skip("|"):
            alternatives.append(self.sequence(depth))
        return alternatives[0] if len(alternatives) == 1 else _Choice(tuple(alternatives))

    def sequence(self, depth: int) -> _Node:
        parts: list[_Node] = []
        while (character := self.peek()) and character not in "|)":
            parts.append(self.quantified(self.atom(depth)))
        return _Sequence(tuple(parts))

    def atom(self, depth: int) -> _Node:
        character = self.take()
        if character == "(":
            return self.group(depth)
        if character == "[":
            return self.bracketed()
        if character == "\\":
            return _Characters(self.escape(in_class=False))
        if character == ".":
            return _Characters(_inverted(_LINE_ENDS))
        if character == "^":
            return _Begin()
        if character == "$":
            return _End()
        if character in "*+?{}]":
            raise UnsupportedPatternError(f"{character!r} without something before it")
        return _Characters(((ord(character), ord(character)),))

    def group(self, depth: int) -> _Node:
        if self.skip("?"):
            named = self.peek() == "<" and self.text[self.position + 1 : self.position + 2] not in {"=", "!"}
            if named:
                name, closing, _ = self.text[self.position + 1 :].partition(">")
                if not closing or not name.isascii() or not name.isidentifier():
                    raise UnsupportedPatternError("a group's name that is none")
                self.position += len(name) + 2
            elif not self.skip(":"):
                raise UnsupportedPatternError("look-around or a flag")
        node = self.choice(depth + 1)
        if not self.skip(")"):
            raise UnsupportedPatternError("a group that is not closed")
        return node

    def quantified(self, part: _Node) -> _Node:
        bounds = self.quantifier()
        if bounds is None:
            return part
        if isinstance(part, _Begin | _End):
            raise UnsupportedPatternError("a repeated ^ or $")
        self.skip("?")
        if self.peek() and self.peek() in "*+?{":
            raise UnsupportedPatternError("a quantifier behind a quantifier")
        return _Repeat(part, *bounds)

    def quantifier(self) -> tuple[int, int | None] | None:
        for sign, bounds in (("*", (0, None)), ("+", (1, None)), ("?", (0, 1))):
            if self.skip(sign):
                return bounds
        if not self.skip("{"):
            return None
        content, closing, _ = self.text[self.position :].partition("}")
        first, comma, last = content.partition(",")
        if not closing or not _is_count(first) or not (last == "" or _is_count(last)):
            raise UnsupportedPatternError("braces that are not a quantifier")
        self.position += len(content) + 1
        least = int(first)
        most = least if not comma else int(last) if last else None
        if max(least, most or 0) > _HIGHEST_REPEAT:
            raise UnsupportedPatternError(f"more than {_HIGHEST_REPEAT} repetitions")
        if most is not None and most < least:
            raise UnsupportedPatternError("a quantifier whose end is before its beginning")
        return least, most

    def bracketed(self) -> _Node:
        negated = self.skip("^")
        ranges: list[tuple[int, int]] = []
        while not self.skip("]"):
            first = self.class_member()
            if not (self.peek() == "-" and self.text[self.position + 1 : self.position + 2] not in {"]", ""}):
                ranges.extend(first)
                continue
            self.take()
            last = self.class_member()
            low, high = _only_one(first), _only_one(last)
            if high < low:
                raise UnsupportedPatternError("a range whose end is before its beginning")
            ranges.append((low, high))
        return _Characters(_inverted(ranges) if negated else tuple(ranges))

    def class_member(self) -> Ranges:
        character = self.take()
        if character == "\\":
            return self.escape(in_class=True)
        return ((ord(character), ord(character)),)

    def escape(self, *, in_class: bool) -> Ranges:
        character = self.take()
        if character in _SHORTHANDS:
            return _SHORTHANDS[character]
        if character.lower() in _SHORTHANDS:
            return _inverted(_SHORTHANDS[character.lower()])
        code = self.code_of(character, in_class=in_class)
        return ((code, code),)

    def code_of(self, character: str, *, in_class: bool) -> int:
        if character in _CONTROLS:
            return _CONTROLS[character]
        if character == "b" and in_class:
            return 0x08
        if character == "0" and not _is_count(self.peek()):
            return 0
        if character == "x":
            return self.hexadecimal(2)
        if character == "u":
            return self.unicode_escape()
        if character in _PUNCTUATION:
            return ord(character)
        raise UnsupportedPatternError(f"the escape \\{character}")

    def unicode_escape(self) -> int:
        if self.skip("{"):
            content, closing, _ = self.text[self.position :].partition("}")
            if not closing or not _is_hexadecimal(content) or int(content, 16) > _LAST:
                raise UnsupportedPatternError("a code point that is none")
            self.position += len(content) + 1
            return int(content, 16)
        code = self.hexadecimal(4)
        if 0xD800 <= code < 0xE000:  # noqa: PLR2004 - the surrogates of UTF-16
            raise UnsupportedPatternError("half of a surrogate pair")
        return code

    def hexadecimal(self, length: int) -> int:
        content = self.text[self.position : self.position + length]
        if len(content) != length or not _is_hexadecimal(content):
            raise UnsupportedPatternError("an escape without its digits")
        self.position += length
        return int(content, 16)


def _is_count(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < len(str(_LAST))


def _is_hexadecimal(text: str) -> bool:
    return 0 < len(text) <= len("10FFFF") and all(character in "0123456789abcdefABCDEF" for character in text)


def _only_one(ranges: Ranges) -> int:
    if len(ranges) != 1 or ranges[0][0] != ranges[0][1]:
        raise UnsupportedPatternError("a range from or to a class")
    return ranges[0][0]


@dataclass(slots=True)
class _Automaton:
    """States by number: what a state takes and where it leads."""

    characters: list[Ranges | None] = field(default_factory=list)
    following: list[list[int]] = field(default_factory=list)
    conditions: list[_Begin | _End | None] = field(default_factory=list)

    def add(self, characters: Ranges | None = None, condition: _Begin | _End | None = None) -> int:
        if len(self.characters) >= MAX_STATES:
            raise UnsupportedPatternError(f"more than {MAX_STATES} states")
        self.characters.append(characters)
        self.following.append([])
        self.conditions.append(condition)
        return len(self.characters) - 1

    def build(self, node: _Node) -> tuple[int, int]:
        """Add the states of a node; return its first and its last."""
        match node:
            case _Characters(ranges):
                return self.joined(self.add(ranges))
            case _Begin() | _End():
                return self.joined(self.add(None, node))
            case _Sequence(parts):
                first = last = self.add()
                for part in parts:
                    begin, end = self.build(part)
                    self.following[last].append(begin)
                    last = end
                return first, last
            case _Choice(alternatives):
                first, last = self.add(), self.add()
                for alternative in alternatives:
                    begin, end = self.build(alternative)
                    self.following[first].append(begin)
                    self.following[end].append(last)
                return first, last
            case _Repeat(part, least, most):
                return self.repeated(part, least, most)

    def joined(self, state: int) -> tuple[int, int]:
        last = self.add()
        self.following[state].append(last)
        return state, last

    def repeated(self, part: _Node, least: int, most: int | None) -> tuple[int, int]:
        first = last = self.add()
        for _ in range(least):
            begin, end = self.build(part)
            self.following[last].append(begin)
            last = end
        if most is None:
            begin, end = self.build(part)
            after = self.add()
            self.following[last] += [begin, after]
            self.following[end] += [begin, after]
            return first, after
        after = self.add()
        for _ in range(most - least):
            begin, end = self.build(part)
            self.following[last] += [begin, after]
            last = end
        self.following[last].append(after)
        return first, after


@dataclass(frozen=True, slots=True)
class Pattern:
    """A compiled pattern."""

    automaton: _Automaton
    first: int
    last: int

    def matches(self, text: str) -> bool:
        """Return whether the pattern matches somewhere in the text, in time linear in its length.

        Raises:
            UnsupportedPatternError: the text is too long for so large a pattern.
        """
        if len(self.automaton.characters) * (len(text) + 1) > MAX_STEPS:
            raise UnsupportedPatternError("the text is too long for so large a pattern")
        states: set[int] = set()
        for position in range(len(text) + 1):
            self.enter(self.first, states, at_begin=position == 0, at_end=position == len(text))
            if self.last in states:
                return True
            if position < len(text):
                states = self._step(states, ord(text[position]), position + 1, len(text))
        return False

    def _step(self, states: set[int], code: int, position: int, length: int) -> set[int]:
        reached: set[int] = set()
        for state in states:
            ranges = self.automaton.characters[state]
            if ranges is not None and any(first <= code <= last for first, last in ranges):
                for following in self.automaton.following[state]:
                    self.enter(following, reached, at_begin=False, at_end=position == length)
        return reached

    def enter(self, state: int, states: set[int], *, at_begin: bool, at_end: bool) -> None:
        """Add to some states one of them and all that it leads to without a character."""
        waiting = [state]
        while waiting:
            current = waiting.pop()
            condition = self.automaton.conditions[current]
            passes = condition is None or (at_begin if isinstance(condition, _Begin) else at_end)
            if current in states or not passes:
                continue
            states.add(current)
            if self.automaton.characters[current] is None:
                waiting.extend(self.automaton.following[current])


@lru_cache(maxsize=512)
def compile_pattern(text: str) -> Pattern:
    """Return a pattern of the subset.

    Raises:
        UnsupportedPatternError: it is outside the subset, or too large.
    """
    if len(text) > MAX_PATTERN:
        raise UnsupportedPatternError(f"more than {MAX_PATTERN} characters")
    automaton = _Automaton()
    first, last = automaton.build(_Parser(text).parse())
    return Pattern(automaton, first, last)


_GROUP_START: Final = re.compile(
    r"\(\?(?::|[=!]|<[=!]|<(?P<name>[^>]{0,200})>|(?=[ims-])(?!-:)[ims]*(?:-[ims]*)?:)"
)
_COUNTED: Final = re.compile(r"\{(\d+)(,(\d*))?\}")
_HEXADECIMAL_ESCAPE: Final = re.compile(
    r"x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|u\{0*(?:10|[0-9A-Fa-f])?[0-9A-Fa-f]{1,4}\}"
)
_PROPERTY_ESCAPE: Final = re.compile(r"[pP]\{[A-Za-z0-9_]+(?:=[A-Za-z0-9_]+)?\}")
_CONTROL_ESCAPE: Final = re.compile("c[A-Za-z]")
_NAMED_REFERENCE: Final = re.compile("k<([^>]*)>")
_REFERENCE: Final = re.compile("[1-9][0-9]*")
_NAMES: Final = re.compile(r"\(\?<(?![=!])([^>]{1,200})>")
_CAPTURES: Final = re.compile(r"\((?:(?!\?)|\?<(?![=!]))")
_INERT: Final = re.compile(r"\\.|\[(?:\\.|[^\]\\])*\]?", re.DOTALL)
"""Escapes and classes, in which a parenthesis opens no group."""


class _RefusedError(Exception):
    """ECMA-262 has no such pattern; the message says what in it."""


def find_pattern_error(text: str) -> str | None:
    r"""Return what keeps a text from being a regular expression of ECMA-262, None where it is one.

    JSON Schema recommends the `u` flag, and implementations differ in it. So a pattern is an error where it
    is one with and without the flag (ECMA-262 annex B), and where only annex B takes a backslash before a
    letter or a number, as the letter itself: `\Z` then matches the letter Z.
    """
    try:
        _Syntax(text, unicode=True).check()
    except _RefusedError as refused:
        try:
            _Syntax(text, unicode=False).check()
        except _RefusedError as refused_always:
            return str(refused_always)
        return str(refused) if isinstance(refused, _EscapeRefusedError) else None
    return None


class _EscapeRefusedError(_RefusedError):
    """A backslash before a letter or a number that has no meaning with it."""


@dataclass(slots=True)
class _Syntax:
    """A reader that finds out whether a text is a pattern, without a limit that a pattern could exceed."""

    text: str
    unicode: bool
    position: int = 0
    names: frozenset[str] = field(init=False)
    captures: int = field(init=False)

    def __post_init__(self) -> None:
        groups = _INERT.sub("", self.text) if "\\" in self.text else ""
        self.names = frozenset(_NAMES.findall(groups))
        self.captures = len(_CAPTURES.findall(groups))

    def check(self) -> None:
        """Read the pattern.

        Raises:
            _RefusedError: the text is not a pattern of the subset.
        """
        # For each open group: its position, and whether it may be repeated.
        opened: list[tuple[int, bool]] = []
        repeatable = False
        while self.position < len(self.text):
            character = self.text[self.position]
            counted = _COUNTED.match(self.text, self.position) if character == "{" else None
            if character == "(":
                opened.append((self.position, self.group()))
                repeatable = False
            elif character == ")":
                if not opened:
                    raise _RefusedError('")" closes no group')
                repeatable = opened.pop()[1]
                self.position += 1
            elif character in "*+?" or counted is not None:
                if not repeatable:
                    raise _RefusedError(f"{counted[0] if counted else character!r} has nothing to repeat")
                self.quantifier(counted)
                repeatable = False
            else:
                repeatable = self.atom(character)
        if opened:
            raise _RefusedError(f'"(" at character {opened[-1][0] + 1} is not closed')

    def group(self) -> bool:
        """Read the start of a group; return whether the group may be repeated."""
        if not self.text.startswith("(?", self.position):
            self.position += 1
            return True
        start = _GROUP_START.match(self.text, self.position)
        name = start["name"] if start else None
        if start is None or (name is not None and not name.replace("$", "_").isidentifier()):
            beginning = self.text[self.position : self.position + 4]
            raise _RefusedError(f"ECMA-262 has no group that starts with {beginning!r}")
        self.position = start.end()
        if start[0] in {"(?=", "(?!"}:
            return not self.unicode
        return not start[0].startswith(("(?<=", "(?<!"))

    def quantifier(self, counted: re.Match[str] | None) -> None:
        if counted is None:
            self.position += 1
        else:
            if counted[3] and int(counted[3]) < int(counted[1]):
                raise _RefusedError(f"the end of {counted[0]} is before its beginning")
            self.position = counted.end()
        if self.text.startswith("?", self.position):
            self.position += 1

    def atom(self, character: str) -> bool:
        """Read anything but groups and quantifiers; return whether it may be repeated."""
        if character == "[":
            self.bracketed()
        elif character == "\\":
            following = self.text[self.position + 1 : self.position + 2]
            self.escape(in_class=False)
            return following not in {"b", "B"}
        elif character in "{}]" and self.unicode:
            raise _RefusedError(f"{character!r} has no counterpart")
        else:
            self.position += 1
        return character not in "^$|"

    def bracketed(self) -> None:
        begin = self.position
        self.position += 1
        if self.text.startswith("^", self.position):
            self.position += 1
        low: int | None = None
        is_range = False
        while self.position < len(self.text):
            if self.text[self.position] == "]":
                self.position += 1
                return
            code = self.class_member()
            if is_range:
                if low is not None and code is not None and code < low:
                    raise _RefusedError(
                        f"the end of a range is before its beginning in {self.text[begin:][:20]!r}"
                    )
                if self.unicode and (low is None or code is None):
                    raise _RefusedError("a range begins or ends with a class")
                low, is_range = None, False
                continue
            following = self.text[self.position : self.position + 2]
            is_range = following[:1] == "-" and following[1:] not in {"]", ""}
            self.position += is_range
            low = code
        raise _RefusedError(f'"[" at character {begin + 1} is not closed')

    def class_member(self) -> int | None:
        """Read a character of a class; return its code, None for several characters."""
        if self.text[self.position] != "\\":
            self.position += 1
            return ord(self.text[self.position - 1])
        begin = self.position + 1
        self.escape(in_class=True)
        escaped = self.text[begin : self.position]
        if len(escaped) == 1 and escaped in "dDsSwW":
            return None
        if escaped[0] in "pP" and len(escaped) > 1:
            return None
        if escaped in _CONTROLS:
            return _CONTROLS[escaped]
        if escaped[0] in "xu" and len(escaped) > 1:
            return int(escaped[1:].strip("{}"), 16)
        return {"b": 0x08, "0": 0}.get(escaped, ord(escaped)) if len(escaped) == 1 else ord(escaped[1]) % 32

    def escape(self, *, in_class: bool) -> None:
        self.position += 1
        following = self.text[self.position : self.position + 1]
        if not following:
            raise _RefusedError("it ends with a backslash")
        for expected in (_HEXADECIMAL_ESCAPE, _CONTROL_ESCAPE):
            match = expected.match(self.text, self.position)
            if match is not None and (self.unicode or "{" not in match[0]):
                self.position = match.end()
                return
        if self.unicode:
            self.unicode_escape(following, in_class=in_class)
        elif following == "k" and self.names and not in_class:
            self.named_reference()
        else:
            self.position += 1

    def unicode_escape(self, following: str, *, in_class: bool) -> None:
        named_property = _PROPERTY_ESCAPE.match(self.text, self.position)
        reference = _REFERENCE.match(self.text, self.position)
        if named_property is not None:
            self.position = named_property.end()
        elif following == "k" and not in_class:
            self.named_reference()
        elif reference is not None and not in_class and int(reference[0]) <= self.captures:
            self.position = reference.end()
        elif (following == "0" and not self.text[self.position + 1 : self.position + 2].isdecimal()) or (
            following in ("dDsSwWbfnrtv-" if in_class else "dDsSwWbBfnrtv") or following in "^$\\.*+?()[]{}|/"
        ):
            self.position += 1
        elif following.isascii() and following.isalnum():
            raise _EscapeRefusedError(f"ECMA-262 has no escape \\{following}")
        else:
            raise _RefusedError(f"ECMA-262 has no escape \\{following}")

    def named_reference(self) -> None:
        match = _NAMED_REFERENCE.match(self.text, self.position)
        if match is None or match[1] not in self.names:
            raise _RefusedError("\\k names no group")
        self.position = match.end()


def find_text(
    matching: Sequence[str], refused: Sequence[str], least: int = 0, most: int | None = None
) -> str | None:
    """Return a shortest text that each of some patterns matches and none of others.

    Args:
        matching: Patterns that match the text.
        refused: Patterns that do not.
        least: How many code points it has at least.
        most: How many it has at most; None for any number.

    Returns:
        None where there is no such text.

    Raises:
        UnsupportedPatternError: a pattern is outside the subset, or the search is too large.
    """
    automata = [_Scan(compile_pattern(text)) for text in (*matching, *refused)]
    expected = [True] * len(matching) + [False] * len(refused)
    start: tuple[_Progress, ...] = tuple(frozenset() for _ in automata)
    waiting = deque([(start, "")])
    seen = {(start, 0)}
    while waiting:
        progress, text = waiting.popleft()
        ends = [scan.matches_at_end(each, text) for scan, each in zip(automata, progress, strict=True)]
        if len(text) >= least and ends == expected:
            return text
        if len(text) == most:
            continue
        entered = [scan.entered(each, text) for scan, each in zip(automata, progress, strict=True)]
        if any(
            states is None and not is_expected for states, is_expected in zip(entered, expected, strict=True)
        ):
            continue
        for character in _distinct_characters(automata, entered):
            following = tuple(
                scan.step(states, ord(character)) for scan, states in zip(automata, entered, strict=True)
            )
            key = (following, min(len(text) + 1, max(least, 1)))
            if key not in seen:
                if len(seen) >= MAX_SEARCHED:
                    raise UnsupportedPatternError("the patterns are too large to compare")
                seen.add(key)
                waiting.append((following, text + character))
    return None


_Progress: TypeAlias = frozenset[int] | None
"""States that a character led to; None once the pattern has matched."""


@dataclass(frozen=True, slots=True)
class _Scan:
    """Steps one pattern over a text whose end is not known yet; each step is taken once."""

    pattern: Pattern
    _stepped: dict[tuple[frozenset[int], int], frozenset[int]] = field(default_factory=dict)
    _entered: dict[tuple[frozenset[int], bool, bool], _Progress] = field(default_factory=dict)

    def matches_at_end(self, progress: _Progress, text: str) -> bool:
        return progress is None or self._enter(progress, text, at_end=True) is None

    def entered(self, progress: _Progress, text: str) -> _Progress:
        """Return the states to take a further character in."""
        return None if progress is None else self._enter(progress, text, at_end=False)

    def step(self, states: _Progress, code: int) -> _Progress:
        if states is None:
            return None
        key = (states, code)
        if key not in self._stepped:
            automaton = self.pattern.automaton
            self._stepped[key] = frozenset(
                following
                for state in states
                for first, last in automaton.characters[state] or ()
                if first <= code <= last
                for following in automaton.following[state]
            )
        return self._stepped[key]

    def _enter(self, progress: frozenset[int], text: str, *, at_end: bool) -> _Progress:
        key = (progress, not text, at_end)
        if key not in self._entered:
            states: set[int] = set()
            for state in (*progress, self.pattern.first):
                self.pattern.enter(state, states, at_begin=not text, at_end=at_end)
            self._entered[key] = None if self.pattern.last in states else frozenset(states)
        return self._entered[key]


def _distinct_characters(scans: Sequence[_Scan], entered: Sequence[_Progress]) -> Iterator[str]:
    """Yield a character of each set that all states treat alike, plain ones where there are any."""
    borders: dict[int, set[tuple[int, int, int]]] = {code: set() for code in (0, _LAST + 1, *_PLAIN_BORDERS)}
    for number, (scan, states) in enumerate(zip(scans, entered, strict=True)):
        for state in states or ():
            for place, (first, last) in enumerate(scan.pattern.automaton.characters[state] or ()):
                borders.setdefault(first, set()).add((number, state, place))
                borders.setdefault(last + 1, set()).add((number, state, place))
    taking: set[tuple[int, int, int]] = set()  # the ranges that the characters from a border on are in
    alike: dict[int, frozenset[tuple[int, int]]] = {}
    for code in sorted(borders)[:-1]:
        taking ^= borders[code]
        alike[code] = frozenset((number, state) for number, state, _ in taking)
    yielded_sets: set[frozenset[tuple[int, int]]] = set()
    for code in sorted(alike, key=lambda code: (not chr(code).isalnum(), not chr(code).isprintable())):
        if alike[code] not in yielded_sets:
            yielded_sets.add(alike[code])
            yield chr(code)


_PLAIN_BORDERS: Final = (0x20, 0x30, 0x3A, 0x41, 0x5B, 0x61, 0x7B, 0xE000)

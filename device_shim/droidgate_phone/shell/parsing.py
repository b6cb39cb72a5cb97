"""From characters to commands: the part of mksh's grammar that clients of adb use."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from droidgate_phone.shell.shell_errors import NotModelledError, ShellSyntaxError

_OPERATORS: Final = (
    "<<-", "<<<", "&>>", "<<", ">>", ">&", "<&", ">|", "<>", "&>", "&&", "||", "|&", ";;", ";&", ";|",
    "<", ">", "|", "&", ";", "(", ")", "\n",
)  # fmt: skip
_REDIRECTIONS: Final = frozenset({"<", ">", ">>", ">&", "<&"})
_REFUSED_OPERATORS: Final = frozenset({"<<", "<<-", "<<<", "<>", ">|", "&>", "&>>", "|&", "("})
_REFUSED_WORDS: Final = frozenset({
    "!", "[[", "case", "for", "function", "if", "select", "time", "until", "while", "{",
})  # fmt: skip
_CLOSING_WORDS: Final = frozenset({"do", "done", "elif", "else", "esac", "fi", "in", "then", "}"})
_SHOWN: Final = {"\n": "newline", **{operator: operator + " " for operator in _REDIRECTIONS}}
_ASSIGNMENT: Final = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(\[|\+=|=)")
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_BRACED_NAME: Final = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*|[0-9]{1,6}|[?#$])\}")
_OPERATOR: Final = re.compile("|".join(map(re.escape, _OPERATORS)))
_BLANKS: Final = re.compile(r"(?:[ \t]|\\\Z|#[^\n]*)*")
"""Blanks and a comment; mksh passes over a backslash at the end of the text, too."""
_REDIRECTED: Final = re.compile(r"[0-9]?(?=[<>])")
_PLAIN: Final = re.compile(r"[^ \t\n;&|<>()\\'\"$`]+")
_WHOLE_WORD: Final = re.compile(
    r"[ \t]*+(?:([^ \t\n;&|<>()\\'\"$`~#][^ \t\n;&|<>()\\'\"$`~]*+)|'([^']*+)')(?=[ \t\n;&|]|\Z)"
)
"""A word without any expansion, or one in single quotes: what most words are that follow the first."""
_QUOTED_PLAIN: Final = re.compile(r'[^"\\$`]+')
_WORD_ENDS: Final = " \t\n;&|<>()"
_SPECIAL_VARIABLES: Final = frozenset({
    "_", "BASHPID", "COLUMNS", "EPOCHREALTIME", "HISTSIZE", "IFS", "KSHEGID", "KSHEUID", "KSHGID", "KSHUID",
    "KSH_VERSION", "LINENO", "LINES", "OPTARG", "OPTIND", "PGRP", "PIPESTATUS", "PPID", "PS1", "PS2", "PS4",
    "RANDOM", "REPLY", "SECONDS", "TMOUT", "USER_ID",
})  # fmt: skip
"""Variables that mksh itself reads or sets."""


@dataclass(frozen=True, slots=True)
class Text:
    """Literal characters; a quoted text is neither a pattern nor split."""

    text: str
    quoted: bool = False


@dataclass(frozen=True, slots=True)
class ParameterExpansion:
    """`$name` or `${name}`: a variable, a number, or one of `? # $`."""

    name: str
    quoted: bool = False


ShellWord = tuple[Text | ParameterExpansion, ...]
_DESCRIPTORS: Final = frozenset({(Text("0"),), (Text("1"),), (Text("2"),)})


@dataclass(frozen=True, slots=True)
class Redirection:
    """One redirection of a descriptor (0 to 2) by one of the operators `<`, `>`, `>>`, `>&`, `<&`."""

    descriptor: int
    operator: str
    word: ShellWord


@dataclass(frozen=True, slots=True)
class Simple:
    """A command of words; without words its assignments change the shell."""

    assignments: tuple[tuple[str, ShellWord], ...] = ()
    words: tuple[ShellWord, ...] = ()
    redirections: tuple[Redirection, ...] = ()


@dataclass(frozen=True, slots=True)
class Background:
    """`command &`, of a command that uses none of the shell's streams."""

    command: Simple


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Two or more commands whose streams are connected."""

    commands: tuple[Simple, ...]


@dataclass(frozen=True, slots=True)
class AndOr:
    """Commands joined by `&&` and `||`: the first one, then an operator and a command each."""

    first: Simple | Pipeline
    rest: tuple[tuple[str, Simple | Pipeline], ...]


Command = Simple | Background | Pipeline | AndOr


class Parser:
    """Reads a text line by line.

    Raises from its methods:
        ShellSyntaxError: the text is not a command line.
        NotModelledError: it is one that the phone does not model.
    """

    def __init__(self, source: str) -> None:
        self._source = source
        self._position = 0

    def next_line(self) -> list[Command] | None:
        """Return the commands up to the end of a line (of several where they continue), None at the end."""
        self._skip_lines()
        if not self._peek():
            return None
        commands: list[Command] = []
        while self._peek() not in {"", "\n"}:
            commands.append(self._and_or())
            operator = self._operator()
            if operator == "&":
                commands[-1] = _in_background(commands[-1])
            elif operator != ";":
                break
            self._position += 1
            self._skip_blanks()
        if self._peek() not in {"", "\n"}:
            raise self._unexpected()
        return commands

    def _peek(self, ahead: int = 0) -> str:
        """Return a character that follows, "" at the end."""
        index = self._position + ahead
        return self._source[index] if index < len(self._source) else ""

    def _skip_blanks(self) -> None:
        self._match(_BLANKS)

    def _skip_lines(self) -> None:
        self._skip_blanks()
        while self._peek() == "\n":
            self._position += 1
            self._skip_blanks()

    def _operator(self) -> str:
        """Return the operator that follows, "" where none does.

        Raises:
            NotModelledError: the phone does not model it.
        """
        self._skip_blanks()
        match = _OPERATOR.match(self._source, self._position)
        operator = match.group() if match is not None else ""
        if operator in _REFUSED_OPERATORS:
            raise NotModelledError(f"the shell's `{operator}`")
        return operator

    def _unexpected(self) -> ShellSyntaxError:
        operator = self._operator()
        start = self._position
        if not operator:
            self._word()
        token = operator or self._source[start : self._position]
        return ShellSyntaxError(
            f"syntax error: unexpected '{_SHOWN.get(token, token)}'"
            if token
            else "syntax error: unexpected EOF"
        )

    def _and_or(self) -> Command:
        first = self._pipeline()
        rest: list[tuple[str, Simple | Pipeline]] = []
        while (operator := self._operator()) in {"&&", "||"}:
            self._position += 2
            self._skip_lines()
            rest.append((operator, self._pipeline()))
        return AndOr(first, tuple(rest)) if rest else first

    def _pipeline(self) -> Simple | Pipeline:
        commands = [self._simple()]
        while self._operator() == "|":
            self._position += 1
            self._skip_lines()
            commands.append(self._simple())
        return commands[0] if len(commands) == 1 else Pipeline(tuple(commands))

    def _simple(self) -> Simple:
        assignments: list[tuple[str, ShellWord]] = []
        words: list[ShellWord] = []
        redirections: list[Redirection] = []
        while True:
            if words and (match := _WHOLE_WORD.match(self._source, self._position)) is not None:
                self._position = match.end()
                plain, quoted = match.groups()
                words.append((Text(quoted, quoted=True) if plain is None else Text(plain),))
                continue
            redirection = self._redirection()
            if redirection is not None:
                redirections.append(redirection)
                continue
            start = self._position
            word = self._word()
            if start == self._position:
                break
            if not words and not assignments and not redirections:
                self._check_reserved(word, start)
            assignment = None if words else _assignment(word)
            if assignment is None:
                _check_home(word, "=~")
                words.append(word)
            else:
                assignments.append(assignment)
        if not (assignments or words or redirections):
            raise self._unexpected()
        return Simple(tuple(assignments), tuple(words), tuple(redirections))

    def _check_reserved(self, word: ShellWord, start: int) -> None:
        first = word[0]
        text = first.text if len(word) == 1 and isinstance(first, Text) and not first.quoted else ""
        if text in _REFUSED_WORDS:
            raise NotModelledError(f"the shell's `{text}`")
        if text in _CLOSING_WORDS:
            self._position = start
            raise self._unexpected()

    def _redirection(self) -> Redirection | None:
        self._skip_blanks()
        match = _REDIRECTED.match(self._source, self._position)
        if match is None:
            return None
        digit = self._match(_REDIRECTED)
        operator = self._operator()
        if digit and digit not in "012":
            raise NotModelledError(f"descriptor {digit}")
        self._position += len(operator)
        self._skip_blanks()
        if self._match(_REDIRECTED):
            raise NotModelledError("a redirection to a redirection")
        start = self._position
        word = self._word()
        if start == self._position:
            raise self._unexpected()
        _check_home(word, "=~")
        if operator in {">&", "<&"} and word not in _DESCRIPTORS:
            raise NotModelledError(f"the shell's `{operator}` with another word than 0, 1 or 2")
        return Redirection(int(digit or operator[0] == ">"), operator, word)

    def _word(self) -> ShellWord:
        """Read a word, which is empty where an operator or the end follows."""
        parts: list[Text | ParameterExpansion] = []
        while (character := self._peek()) and character not in _WORD_ENDS:
            if character == "\\":
                following = self._peek(1)
                self._check_joined(following)
                self._position += 1 + len(following)
                if following:
                    parts.append(Text(following, quoted=True))
            elif character == "'":
                end = self._source.find("'", self._position + 1)
                if end < 0:
                    raise ShellSyntaxError("no closing quote")
                parts.append(Text(self._source[self._position + 1 : end], quoted=True))
                self._position = end + 1
            elif character == '"':
                parts += self._double_quoted()
            elif character in "$`":
                parts.append(self._dollar(quoted=False))
            else:
                parts.append(Text(self._match(_PLAIN)))
        return tuple(parts)

    def _double_quoted(self) -> list[Text | ParameterExpansion]:
        self._position += 1
        parts: list[Text | ParameterExpansion] = [Text("", quoted=True)]
        while (character := self._peek()) != '"':
            if not character:
                raise ShellSyntaxError("no closing quote")
            if character == "\\":
                following = self._peek(1)
                self._check_joined(following)
                special = following in {"$", "`", '"', "\\"}
                self._position += 2 if special else 1
                parts.append(Text(following if special else "\\", quoted=True))
            elif character in "$`":
                parts.append(self._dollar(quoted=True))
            else:
                parts.append(Text(self._match(_QUOTED_PLAIN), quoted=True))
        self._position += 1
        return parts

    @staticmethod
    def _check_joined(following: str) -> None:
        # mksh joins the lines before it looks for operators and names.
        if following == "\n":
            raise NotModelledError("a backslash at the end of a line")

    def _match(self, pattern: re.Pattern[str]) -> str:
        """Read the text that matches, "" for none."""
        match = pattern.match(self._source, self._position)
        if match is None:
            return ""
        self._position = match.end()
        return match.group()

    def _dollar(self, *, quoted: bool) -> Text | ParameterExpansion:
        if self._peek() == "`":
            raise NotModelledError("command substitution")
        self._position += 1
        following = self._peek()
        if following == "(":
            raise NotModelledError("command substitution")
        if following == "{":
            name = self._match(_BRACED_NAME)[1:-1]
        elif following in set("?#$0123456789"):
            self._position += 1
            name = following
        else:
            name = self._match(_NAME)
        if name:
            _check_variable(name)
            return ParameterExpansion(name, quoted)
        if following in {"{", "@", "*", "!", "-"} or (following in {"'", '"'} and not quoted):
            raise NotModelledError(f"the shell's `${following}`")
        return Text("$", quoted)


def _check_variable(name: str) -> None:
    if name in _SPECIAL_VARIABLES:
        raise NotModelledError(f"the variable {name}")


def _assignment(word: ShellWord) -> tuple[str, ShellWord] | None:
    """Return the name and the value of `name=value`."""
    first = word[0] if word else None
    if not isinstance(first, Text) or first.quoted or (match := _ASSIGNMENT.match(first.text)) is None:
        return None
    name, operator = match.groups()
    if operator != "=":
        raise NotModelledError(f"the shell's `{name}{operator}`")
    _check_variable(name)
    value = (Text(first.text[match.end() :]), *word[1:])
    _check_home(value, ":~")
    return name, value


def _check_home(word: ShellWord, start: str) -> None:
    """Refuse a `~` inside a word, which mksh expands there."""
    if any(isinstance(part, Text) and not part.quoted and start in part.text for part in word):
        raise NotModelledError(f"the shell's `{start}`")


_STANDARD_STREAMS: Final = frozenset({0, 1, 2})


def _in_background(command: Command) -> Background:
    """Return a command in the background, where it uses none of the shell's streams."""
    if isinstance(command, Simple):
        redirected = {redirection.descriptor for redirection in command.redirections}
        if redirected >= _STANDARD_STREAMS:
            return Background(command)
    raise NotModelledError("a command in the background (&) that keeps the shell's streams")

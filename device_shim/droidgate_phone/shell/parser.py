"""From words to commands: the grammar of mksh's POSIX part."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from droidgate_phone.shell.errors import NotModelledError, ShellSyntaxError
from droidgate_phone.shell.scanner import MAXIMUM_NESTING, Scanner, is_name
from droidgate_phone.shell.syntax import (
    AndOr,
    ArithmeticCommand,
    Assignment,
    Background,
    Case,
    CaseItem,
    Command,
    Condition,
    For,
    Function,
    HereDocument,
    If,
    Part,
    Pipeline,
    Redirected,
    Redirection,
    Sequence,
    Simple,
    Subshell,
    Text,
    While,
    Word,
)

_REDIRECTIONS: Final = frozenset({"<", ">", ">>", ">&", "<&", ">|", "<<", "<<-", "<<<", "&>", "&>>", "<>"})
RESERVED: Final = frozenset(
    [
        "if",
        "then",
        "else",
        "elif",
        "fi",
        "case",
        "esac",
        "for",
        "select",
        "while",
        "until",
        "do",
        "done",
        "in",
        "{",
        "}",
        "!",
        "[[",
        "]]",
        "function",
        "time",
    ]
)
_CLOSING: Final = frozenset(["then", "else", "elif", "fi", "esac", "do", "done", "}"])
_ASSIGNMENT: Final = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(\+?)=", re.ASCII)
_ARRAY: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:\[|=$)", re.ASCII)
_NOT_WORDS: Final = " \t\n;&|<>()"


class Parser(Scanner):
    """Reads commands from a text, one line of them at a time.

    Raises from its methods:
        ShellSyntaxError: the text is no command line.
        NotModelledError: it is one that the phone does not model.
    """

    def __init__(self, source: str, *, depth: int = 0) -> None:
        super().__init__(source, depth=depth)
        self._waiting: list[HereDocument] = []

    def next_line(self) -> Command | None:
        """Return the commands up to the end of a line (of several where they go on), None at the end."""
        while True:
            self.skip_blanks()
            if not self.peek():
                self._read_here_documents()
                return None
            if self.peek() != "\n":
                break
            self._new_line()
        command = self._list(line=True)
        self.skip_blanks()
        if self.peek() and self.peek() != "\n":
            self._unexpected()
        if self.peek():
            self._new_line()
        else:
            self._read_here_documents()
        return command

    def commands(self, end: str) -> Command | None:
        """Read commands up to `end`, "" for the end of the source, and go over it."""
        body = self._list()
        self.skip_blanks()
        if end and not self.peek():
            raise ShellSyntaxError("syntax error: unmatched '('")
        if (self.peek() or end) and self.peek() != end:
            self._unexpected()
        self.position += len(end)
        if not end:
            self._read_here_documents()
        return body

    def _unexpected(self) -> None:
        self.skip_blanks()
        if not self.peek():
            raise ShellSyntaxError("syntax error: unexpected EOF")
        operator = self.operator()
        if operator == "\n":
            raise ShellSyntaxError("syntax error: unexpected 'newline'")
        if operator:
            raise ShellSyntaxError(f"syntax error: unexpected '{operator}'")
        start = self.position
        self.word()
        raise ShellSyntaxError(f"syntax error: unexpected '{self.source[start : self.position]}'")

    def _new_line(self) -> None:
        self.position += 1
        self._read_here_documents()

    def _skip_lines(self) -> None:
        while True:
            self.skip_blanks()
            if self.peek() != "\n":
                return
            self._new_line()

    def _read_here_documents(self) -> None:
        waiting, self._waiting = self._waiting, []
        for one in waiting:
            lines: list[str] = []
            while True:
                if self.position >= len(self.source):
                    raise ShellSyntaxError(f"here document '{one.delimiter}' unclosed")
                end = self.source.find("\n", self.position)
                end = len(self.source) if end < 0 else end
                line = self.source[self.position : end]
                self.position = end + 1
                if one.tabs_stripped:
                    line = line.lstrip("\t")
                if line == one.delimiter:
                    break
                lines.append(line + "\n")
            text = "".join(lines)
            one.word = self.inner(text).here_document() if one.expanded else (Text(text, quoted=True),)

    def _reserved(self) -> str:
        """Return the reserved word that starts here, "" where there is none; nothing is read."""
        self.skip_blanks()
        start = end = self.position
        while end < len(self.source) and self.source[end] not in _NOT_WORDS:
            end += 1
            if end - start > len("function"):
                return ""
        text = self.source[start:end]
        return text if text in RESERVED else ""

    def _list(self, *, line: bool = False) -> Command:
        """Read `a; b` up to something that cannot go on; with `line` up to a newline."""
        commands: list[Command] = []
        while True:
            if not line:
                self._skip_lines()
            self.skip_blanks()
            character = self.peek()
            if not character or character in ")\n" or self._reserved() in _CLOSING:
                break
            if self.operator() in {";;", ";&", ";|"}:
                break
            commands.append(self._and_or())
            self.skip_blanks()
            operator = self.operator()
            if operator in {"&", "|&"}:
                commands[-1] = _in_background(commands[-1], operator)
                self.position += 1
            elif operator == ";":
                self.position += 1
            elif operator != "\n" or line:
                break
        return commands[0] if len(commands) == 1 else Sequence(tuple(commands))

    def _and_or(self) -> Command:
        left = self._pipeline()
        while True:
            self.skip_blanks()
            if self.source.startswith("&&", self.position):
                self.position += 2
                self._skip_lines()
                left = AndOr(left, "&&", self._pipeline())
            elif self.source.startswith("||", self.position):
                self.position += 2
                self._skip_lines()
                left = AndOr(left, "||", self._pipeline())
            else:
                return left

    def _pipeline(self) -> Command:
        negated = False
        while self._reserved() == "!":
            self.position += 1
            negated = not negated
        commands = [self._command()]
        while True:
            self.skip_blanks()
            if self.operator() != "|":
                break
            self.position += 1
            self._skip_lines()
            commands.append(self._command())
        return commands[0] if len(commands) == 1 and not negated else Pipeline(tuple(commands), negated)

    def _command(self) -> Command:
        self.depth += 1
        if self.depth > MAXIMUM_NESTING:
            raise NotModelledError(f"nesting deeper than {MAXIMUM_NESTING}")
        try:
            self.skip_blanks()
            reader = self._COMPOUNDS.get(self._reserved())
            if reader is not None:
                return self._with_redirections(reader(self))
            if self._reserved() in RESERVED - {"in", "]]"}:
                if self._reserved() in {"select", "time"}:
                    raise NotModelledError(f"`{self._reserved()}`")
                self._unexpected()
            if self.source.startswith("((", self.position):
                arithmetic = self._arithmetic_command()
                if arithmetic is not None:
                    return self._with_redirections(arithmetic)
            if self.peek() == "(":
                self.position += 1
                return self._with_redirections(Subshell(self._enclosed("(", ")")))
            return self._simple()
        finally:
            self.depth -= 1

    def _enclosed(self, start: str, end: str) -> Command:
        """Read commands up to a closing word and go over it."""
        body = self._list()
        self._close(start, end)
        if body == Sequence() and start != "{":
            self.position -= len(end)
            self._unexpected()
        return body

    def _close(self, start: str, *ends: str) -> str:
        """Go over one of the closing words and return it."""
        self.skip_blanks()
        if not self.peek():
            raise ShellSyntaxError(f"syntax error: unmatched '{start}'")
        for end in ends:
            if (end == ")" and self.peek() == ")") or (end != ")" and self._reserved() == end):
                self.position += len(end)
                return end
        self._unexpected()
        raise AssertionError

    def _with_redirections(self, command: Command) -> Command:
        redirections = self._redirections()
        return Redirected(command, redirections) if redirections else command

    def _redirections(self) -> tuple[Redirection, ...]:
        found: list[Redirection] = []
        while (redirection := self._redirection()) is not None:
            found.append(redirection)
        return tuple(found)

    def _redirection(self) -> Redirection | None:
        self.skip_blanks()
        start = self.position
        number = ""
        if self.peek().isdecimal() and self.peek(1) in {"<", ">"} and self.peek(1):
            number = self.peek()
            self.position += 1
        operator = self.operator()
        if operator not in _REDIRECTIONS:
            self.position = start
            return None
        if operator == "<>" or self.source.startswith(("<(", ">("), self.position):
            if operator == "<>":
                raise NotModelledError("the redirection <>")
            self.position += 1
            self._unexpected()
        self.position += len(operator)
        self.skip_blanks()
        if self.peek().isdecimal() and self.peek(1) in {"<", ">"}:
            shown = self.peek() if self.peek() != str(int(self.peek(1) == ">")) else ""
            raise ShellSyntaxError(f"syntax error: unexpected '{shown}{self.peek(1)} '")
        word_start = self.position
        word = self.word()
        if word_start == self.position:
            self._unexpected()
        descriptor = int(number) if number else (0 if operator[0] == "<" else 1)
        if operator in {"<<", "<<-"}:
            document = HereDocument(
                _unquoted(word, self.source[word_start : self.position]),
                expanded=not _has_quotes(self.source[word_start : self.position]),
                tabs_stripped=operator == "<<-",
            )
            self._waiting.append(document)
            return Redirection(descriptor, "<<", (), document)
        if operator == "<<<":
            document = HereDocument("", expanded=True, tabs_stripped=False)
            document.word = (*_all_quoted(word), Text("\n", quoted=True))
            return Redirection(descriptor, "<<", (), document)
        return Redirection(descriptor, operator, word)

    def _simple(self) -> Command:
        assignments: list[Assignment] = []
        words: list[Word] = []
        redirections: list[Redirection] = []
        while True:
            redirection = self._redirection()
            if redirection is not None:
                redirections.append(redirection)
                continue
            start = self.position
            word = self.word()
            if start == self.position:
                break
            self._refuse_arrays(word, first=not words)
            assignment = _assignment(word) if not words else None
            if assignment is not None:
                assignments.append(assignment)
            else:
                words.append(word)
                self.skip_blanks()
            if self.peek() == "(" and len(words) == 1 and assignment is None and not redirections:
                return self._function(words[0], assignments)
        if not (assignments or words or redirections):
            self._unexpected()
        return Simple(tuple(assignments), tuple(words), tuple(redirections))

    def _refuse_arrays(self, word: Word, *, first: bool) -> None:
        text = word[0].text if word and isinstance(word[0], Text) and not word[0].quoted else ""
        match = _ARRAY.match(text) if first else None
        if match is not None and ("[" in match.group() or (len(word) == 1 and self.peek() == "(")):
            raise NotModelledError("arrays")

    def _function(self, name: Word, assignments: list[Assignment]) -> Command:
        text = name[0].text if len(name) == 1 and isinstance(name[0], Text) else ""
        start = self.position
        self.position += 1
        self.skip_blanks()
        if self.peek() != ")" or assignments or not _may_name_function(text):
            if not self.peek():
                self._unexpected()
            self.position = start
            if text.endswith(("@", "?", "*", "+", "!")):
                raise NotModelledError("the patterns of ksh: @() ?() *() +() !()")
            self._unexpected()
        self.position += 1
        self._skip_lines()
        return Function(text, self._command() if self.peek() else Sequence())

    def _ksh_function(self) -> Command:
        self.position += len("function")
        self.skip_blanks()
        name = self._plain_word()
        self.skip_blanks()
        if not _may_name_function(name):
            self._unexpected()
        if self.peek() == "(":
            self.position += 1
            self._close("(", ")")
        self._skip_lines()
        return Function(name, self._command())

    def _plain_word(self) -> str:
        start = self.position
        self.word()
        return self.source[start : self.position]

    def _group(self) -> Command:
        self.position += 1
        return self._enclosed("{", "}")

    def _if(self) -> Command:
        self.position += 2
        branches: list[tuple[Command, Command]] = []
        while True:
            condition = self._block("if", "then")
            body = self._list()
            end = self._close("if", "elif", "else", "fi")
            branches.append((condition, body))
            if body == Sequence():
                self.position -= len(end)
                self._unexpected()
            if end == "fi":
                return If(tuple(branches))
            if end == "else":
                return If(tuple(branches), self._block("if", "fi"))

    def _block(self, start: str, end: str) -> Command:
        return self._enclosed(start, end)

    def _while(self) -> Command:
        word = self._reserved()
        self.position += len(word)
        condition = self._block(word, "do")
        return While(condition, self._block(word, "done"), word == "while")

    def _for(self) -> Command:
        self.position += 3
        self.skip_blanks()
        if self.source.startswith("((", self.position):
            raise NotModelledError("for (( ))")
        if not self.peek():
            raise ShellSyntaxError("syntax error: unmatched 'for'")
        start = self.position
        name = self._plain_word()
        if not is_name(name):
            self.position = start
            if not name:
                self._unexpected()
            raise ShellSyntaxError("for: bad identifier")
        self._skip_lines()
        words: list[Word] | None = None
        if self._reserved() == "in":
            self.position += 2
            words = []
            while True:
                self.skip_blanks()
                start = self.position
                word = self.word()
                if start == self.position:
                    break
                words.append(word)
            if self.peek() not in {";", "\n", ""}:
                self._unexpected()
        self.skip_blanks()
        if self.peek() == ";":
            self.position += 1
        self._skip_lines()
        self._close("for", "do")
        body = self._block("for", "done")
        return For(name, None if words is None else tuple(words), body)

    def _case(self) -> Command:
        self.position += 4
        self.skip_blanks()
        if not self.peek():
            raise ShellSyntaxError("syntax error: unmatched 'case'")
        start = self.position
        word = self.word()
        if start == self.position:
            self._unexpected()
        self._skip_lines()
        self._close("case", "in")
        items: list[CaseItem] = []
        while True:
            self._skip_lines()
            if self._reserved() == "esac":
                self.position += 4
                return Case(word, tuple(items))
            items.append(self._case_item())

    def _case_item(self) -> CaseItem:
        if not self.peek():
            raise ShellSyntaxError("syntax error: unmatched 'case'")
        if self.peek() == "(":
            self.position += 1
        patterns: list[Word] = []
        while True:
            self.skip_blanks()
            start = self.position
            patterns.append(self.word())
            if start == self.position:
                self._unexpected()
            self.skip_blanks()
            if self.peek() == "(":
                raise NotModelledError("the patterns of ksh: @() ?() *() +() !()")
            if self.peek() == ")":
                break
            if self.operator() != "|":
                self._unexpected()
            self.position += 1
        self.position += 1
        body = self._list()
        ending = self.operator()
        if ending in {";;", ";&"}:
            self.position += 2
            return CaseItem(tuple(patterns), body, ending)
        if ending == ";|":
            raise NotModelledError("the end ;| of a case")
        if self._reserved() != "esac":
            self._close("case", "esac")
        return CaseItem(tuple(patterns), body)

    def _condition(self) -> Command:
        self.position += 2
        words: list[Word] = []
        while True:
            self._skip_lines()
            if not self.peek():
                raise ShellSyntaxError("syntax error: unmatched '[['")
            if self._reserved() == "]]":
                self.position += 2
                return Condition(tuple(words))
            operator = self.operator()
            if operator in {"&&", "||", "(", ")", "<", ">"}:
                self.position += len(operator)
                words.append((Text(operator),))
            elif operator:
                self._unexpected()
            else:
                words.append(self.word())

    def _arithmetic_command(self) -> Command | None:
        start = self.position
        self.position += 2
        end = self.end_of_arithmetic()
        if end is None:
            self.position = start
            return None
        expression = self.inner(self.source[self.position : end]).arithmetic()
        self.position = end + 2
        return ArithmeticCommand(expression)

    _COMPOUNDS: Mapping[str, Callable[[Parser], Command]] = {
        "{": _group,
        "if": _if,
        "while": _while,
        "until": _while,
        "for": _for,
        "case": _case,
        "[[": _condition,
        "function": _ksh_function,
    }


def _assignment(word: Word) -> Assignment | None:
    first = word[0]
    if not isinstance(first, Text) or first.quoted:
        return None
    match = _ASSIGNMENT.match(first.text)
    if match is None:
        return None
    rest = first.text[match.end() :]
    value = (Text(rest), *word[1:]) if rest else word[1:]
    return Assignment(match.group(1), value, appends=bool(match.group(2)))


def _may_name_function(text: str) -> bool:
    return bool(text) and not any(letter in "\\\"'$`=/*?[]{}" for letter in text)


def _has_quotes(source: str) -> bool:
    return any(letter in source for letter in "\"'\\")


def _unquoted(word: Word, source: str) -> str:
    texts = [part.text for part in word if isinstance(part, Text)]
    return "".join(texts) if len(texts) == len(word) else source


def _all_quoted(word: Word) -> tuple[Part, ...]:
    return tuple(replace(part, quoted=True) for part in word)


_STANDARD_STREAMS: Final = frozenset({0, 1, 2})


def _in_background(command: Command, operator: str) -> Background:
    """Return a command in the background: one that has nothing to do with the shell's streams."""
    if operator == "&" and isinstance(command, Simple):
        redirected = {one.descriptor for one in command.redirections}
        if redirected >= _STANDARD_STREAMS:
            return Background(command)
    raise NotModelledError("a command in the background (&) that keeps the shell's streams")

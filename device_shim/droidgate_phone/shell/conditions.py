"""What `test`, `[` and `[[` ask."""

from __future__ import annotations

import stat
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from droidgate_phone.files import READ, SEARCH, WRITE, FileStatus, VirtualFileError
from droidgate_phone.shell.errors import ShellSyntaxError
from droidgate_phone.shell.syntax import Text, Word

if TYPE_CHECKING:
    from droidgate_phone.shell.expansion import Expansion
    from droidgate_phone.shell.state import ShellState

_FILE_TESTS: Final[Mapping[str, Callable[[FileStatus], bool]]] = {
    "-a": lambda _status: True,
    "-b": lambda status: stat.S_ISBLK(status.mode),
    "-c": lambda status: stat.S_ISCHR(status.mode),
    "-d": lambda status: status.is_directory,
    "-e": lambda _status: True,
    "-f": lambda status: status.is_file,
    "-g": lambda status: bool(status.mode & stat.S_ISGID),
    "-k": lambda status: bool(status.mode & stat.S_ISVTX),
    "-p": lambda status: stat.S_ISFIFO(status.mode),
    "-s": lambda status: status.size > 0,
    "-S": lambda status: stat.S_ISSOCK(status.mode),
    "-u": lambda status: bool(status.mode & stat.S_ISUID),
}
_ACCESS_TESTS: Final = {"-r": READ, "-w": WRITE, "-x": SEARCH}
_TEXT_TESTS: Final = frozenset({"-n", "-z"})
_OTHER_TESTS: Final = frozenset({"-h", "-L", "-o", "-t", "-O", "-G"})
_UNARY: Final = frozenset({*_FILE_TESTS, *_ACCESS_TESTS, *_TEXT_TESTS, *_OTHER_TESTS})
_NUMBER_TESTS: Final[Mapping[str, Callable[[int, int], bool]]] = {
    "-eq": lambda left, right: left == right,
    "-ne": lambda left, right: left != right,
    "-lt": lambda left, right: left < right,
    "-le": lambda left, right: left <= right,
    "-gt": lambda left, right: left > right,
    "-ge": lambda left, right: left >= right,
}
_TEXT_COMPARISONS: Final[Mapping[str, Callable[[str, str], bool]]] = {
    "=": lambda left, right: left == right,
    "==": lambda left, right: left == right,
    "!=": lambda left, right: left != right,
    "<": lambda left, right: left < right,
    ">": lambda left, right: left > right,
}
_FILE_COMPARISONS: Final = frozenset({"-nt", "-ot", "-ef"})
_BINARY: Final = frozenset({*_NUMBER_TESTS, *_TEXT_COMPARISONS, *_FILE_COMPARISONS})
_THREE: Final = 3
_FOUR: Final = 4


class TestFault(Exception):  # noqa: N818
    """The arguments of `test` are no question."""


def run_test(arguments: Sequence[str], state: ShellState, number: Callable[[str], int]) -> bool:
    """Return what `test` answers.

    Args:
        arguments: Its arguments, without `]`.
        state: Whose files and options are asked.
        number: Value of an arithmetic expression.

    Raises:
        TestFault: they are no question.
        CommandError: a number is none.
    """
    asker = _Asker(state, number)
    count = len(arguments)
    if count == 0:
        return False
    if count == 1:
        return bool(arguments[0])
    if count == _THREE and arguments[1] in _BINARY:
        return asker.binary(*arguments)
    if count <= _FOUR and arguments[0] == "!":
        return not run_test(arguments[1:], state, number)
    if count == _THREE and arguments[0] == "(" and arguments[2] == ")":
        return bool(arguments[1])
    parser = _TestParser(arguments, asker)
    return parser.run()


class _Asker:
    """Answers single questions."""

    def __init__(self, state: ShellState, number: Callable[[str], int]) -> None:
        self._state = state
        self._number = number

    def unary(self, operator: str, operand: str) -> bool:
        if operator in _TEXT_TESTS:
            return bool(operand) == (operator == "-n")
        if operator == "-t":
            return False
        if operator == "-o":
            return bool(getattr(self._state.options, operand.removeprefix("!"), False))
        files, uid = self._state.system.files, self._state.uid
        path = self._state.path(operand) if operand else ""
        if operator in _ACCESS_TESTS:
            return files.may(path, _ACCESS_TESTS[operator], uid=uid)
        try:
            status = (files.lstat if operator in {"-h", "-L"} else files.stat)(path, uid=uid)
        except VirtualFileError:
            return False
        if operator in {"-h", "-L"}:
            return status.is_link
        if operator in {"-O", "-G"}:
            return uid == (status.uid if operator == "-O" else status.gid)
        return _FILE_TESTS[operator](status)

    def binary(self, left: str, operator: str, right: str) -> bool:
        if operator in _NUMBER_TESTS:
            return _NUMBER_TESTS[operator](self._number(left), self._number(right))
        if operator in _TEXT_COMPARISONS:
            return _TEXT_COMPARISONS[operator](left, right)
        return self._compare_files(left, operator, right)

    def _compare_files(self, left: str, operator: str, right: str) -> bool:
        found: list[FileStatus | None] = []
        for one in (left, right):
            try:
                found.append(self._state.system.files.stat(self._state.path(one), uid=self._state.uid))
            except VirtualFileError:
                found.append(None)
        first, second = found
        if operator == "-ef":
            return first is not None and second is not None and first.inode == second.inode
        if operator == "-ot":
            first, second = second, first
        return first is not None and (second is None or first.modified > second.modified)


class _TestParser:
    """Grammar of `test` with more than four arguments: `-o`, `-a`, `!`, brackets."""

    def __init__(self, arguments: Sequence[str], asker: _Asker) -> None:
        self._arguments = arguments
        self._asker = asker
        self._index = 0

    def run(self) -> bool:
        value = self._or()
        if self._index < len(self._arguments):
            raise TestFault(self._unexpected())
        return value

    def _unexpected(self) -> str:
        word = self._arguments[self._index]
        if word in _BINARY and self._index + 1 == len(self._arguments):
            return f"{word}: missing second argument"
        return f"{word}: unexpected operator/operand"

    def _peek(self, ahead: int = 0) -> str | None:
        index = self._index + ahead
        return self._arguments[index] if index < len(self._arguments) else None

    def _or(self) -> bool:
        value = self._and()
        while self._peek() == "-o":
            self._index += 1
            value = self._and() or value
        return value

    def _and(self) -> bool:
        value = self._not()
        while self._peek() == "-a":
            self._index += 1
            value = self._not() and value
        return value

    def _not(self) -> bool:
        inverted = False
        while self._peek() == "!" and self._peek(1) is not None:
            self._index += 1
            inverted = not inverted
        return self._primary() != inverted

    def _primary(self) -> bool:
        word = self._peek()
        if word is None:
            raise TestFault("expression expected")
        if self._peek(1) in _BINARY and self._peek(2) is not None:
            self._index += 3
            return self._asker.binary(*self._arguments[self._index - 3 : self._index])
        if word == "(":
            self._index += 1
            value = self._or()
            if self._peek() != ")":
                raise TestFault("missing )")
            self._index += 1
            return value
        following = self._peek(1)
        if word in _UNARY and following is not None:
            self._index += 2
            return self._asker.unary(word, following)
        self._index += 1
        return bool(word)


def evaluate_condition(words: Sequence[Word], state: ShellState, expansion: Expansion) -> bool:
    """Return what `[[ words ]]` answers.

    Raises:
        ShellSyntaxError: they are no question.
    """
    return _ConditionParser(words, state, expansion).run()


class _ConditionParser:
    """Grammar of `[[ ]]`; what `&&` and `||` make needless is not expanded."""

    def __init__(self, words: Sequence[Word], state: ShellState, expansion: Expansion) -> None:
        self._words = words
        self._expansion = expansion
        self._asker = _Asker(state, expansion.evaluate)
        self._index = 0

    def run(self) -> bool:
        value = self._or(wanted=True)
        if self._index < len(self._words):
            raise self._unexpected()
        return value

    def _unexpected(self) -> ShellSyntaxError:
        return ShellSyntaxError(f"syntax error: unexpected '{self._operator() or ']]'}'")

    def _operator(self, ahead: int = 0) -> str:
        """Return a word that stands as it is written, "" for others and at the end."""
        index = self._index + ahead
        word = self._words[index] if index < len(self._words) else ()
        if len(word) == 1 and isinstance(word[0], Text) and not word[0].quoted:
            return word[0].text
        return ""

    def _or(self, *, wanted: bool) -> bool:
        value = self._and(wanted=wanted)
        while self._operator() == "||":
            self._index += 1
            value = self._and(wanted=wanted and not value) or value
        return value

    def _and(self, *, wanted: bool) -> bool:
        value = self._not(wanted=wanted)
        while self._operator() == "&&":
            self._index += 1
            value = self._not(wanted=wanted and value) and value
        return value

    def _not(self, *, wanted: bool) -> bool:
        inverted = False
        while self._operator() == "!":
            self._index += 1
            inverted = not inverted
        return self._primary(wanted=wanted) != inverted

    def _primary(self, *, wanted: bool) -> bool:
        if self._index >= len(self._words) or self._operator() in {"&&", "||", ")"}:
            raise self._unexpected()
        if self._operator() == "(":
            self._index += 1
            value = self._or(wanted=wanted)
            if self._operator() != ")":
                raise self._unexpected()
            self._index += 1
            return value
        operator = self._operator(1)
        if operator in _BINARY and self._index + 2 < len(self._words):
            left, right = self._words[self._index], self._words[self._index + 2]
            self._index += 3
            return wanted and self._binary(left, operator, right)
        if self._operator() in _UNARY and self._index + 1 < len(self._words):
            operator, operand = self._operator(), self._words[self._index + 1]
            self._index += 2
            return wanted and self._asker.unary(operator, self._expansion.text(operand))
        word = self._words[self._index]
        self._index += 1
        return wanted and bool(self._expansion.text(word))

    def _binary(self, left: Word, operator: str, right: Word) -> bool:
        text = self._expansion.text(left)
        if operator in {"=", "==", "!="}:
            return self._expansion.pattern(right).matches(text) == (operator != "!=")
        return self._asker.binary(text, operator, self._expansion.text(right))

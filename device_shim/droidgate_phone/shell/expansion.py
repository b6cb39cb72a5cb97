"""From words to fields: parameters, substitutions, arithmetic, splitting, patterns of paths."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from droidgate_phone.file_accounts import number_of
from droidgate_phone.shell.arithmetic import ArithmeticFault, evaluate
from droidgate_phone.shell.braces import expand_braces
from droidgate_phone.shell.errors import CommandError, NotModelledError, ShellError
from droidgate_phone.shell.globbing import expand_path_pattern
from droidgate_phone.shell.patterns import Pattern, PatternPart, is_pattern
from droidgate_phone.shell.scanner import is_name
from droidgate_phone.shell.state import ShellState
from droidgate_phone.shell.syntax import Arithmetic, Command, Parameter, Substitution, Text, Word

_DEFAULT_IFS: Final = " \t\n"
_NOT_MODELLED: Final = frozenset({"LINENO", "SECONDS", "EPOCHREALTIME", "PIPESTATUS", "_"})


@dataclass(frozen=True, slots=True)
class _Fragment:
    """A piece of an expanded word; `split` where blanks in it end a field."""

    text: str
    quoted: bool = False
    split: bool = False


class _FieldBreak:
    """Between the fields of `$@`."""


_BREAK: Final = _FieldBreak()
_Piece = _Fragment | _FieldBreak


class Expansion:
    """Expands words for one shell; `substitute` runs commands and returns what they wrote."""

    def __init__(self, state: ShellState, substitute: Callable[[Command | None], bytes]) -> None:
        self._state = state
        self._substitute = substitute

    def fields(self, words: Iterable[Word]) -> list[str]:
        """Return the fields of a command's words: all expansions, splitting, patterns of paths."""
        fields: list[str] = []
        for word in words:
            for parts in self._split(self._pieces(word, tilde=True)):
                for one in expand_braces(parts, self._state.run):
                    fields.extend(self._paths(one))
            self._state.run.demand_fields(len(fields))
        return fields

    def text(self, word: Word, *, assignment: bool = False) -> str:
        """Return a word as one text: no splitting, no patterns of paths."""
        return _joined(self._pieces(word, tilde=True, assignment=assignment))

    def pattern(self, word: Word) -> Pattern:
        """Return a word as a pattern."""
        return Pattern(self._pattern_parts(word))

    def here_document(self, word: Word) -> str:
        """Return the text of a here-document."""
        return _joined(self._pieces(word))

    def number(self, word: Word) -> int:
        """Return the value of an arithmetic expression.

        Raises:
            ShellError: it is none.
        """
        try:
            return self.evaluate(_joined(self._pieces(word)))
        except CommandError as error:
            raise ShellError(str(error), error.status) from None

    def evaluate(self, expression: str) -> int:
        """Return the value of an arithmetic expression without further expansions.

        Raises:
            CommandError: it is none.
        """
        try:
            return evaluate(expression, self._state.variables)
        except ArithmeticFault as fault:
            raise CommandError(str(fault)) from None

    def _pattern_parts(self, word: Word) -> list[PatternPart]:
        pieces = self._pieces(word, tilde=True)
        return [(one.text, not one.quoted) for one in pieces if isinstance(one, _Fragment)]

    def _paths(self, parts: list[PatternPart]) -> list[str]:
        text = "".join(one for one, _ in parts)
        if self._state.options.noglob or not is_pattern(parts):
            return [text]
        return expand_path_pattern(parts, self._state) or [text]

    def _pieces(
        self, word: Word, *, tilde: bool = False, assignment: bool = False, split: bool = False
    ) -> list[_Piece]:
        pieces: list[_Piece] = []
        size = 0
        for index, part in enumerate(word):
            if isinstance(part, Text):
                text = part.text
                if not part.quoted and tilde and "~" in text:
                    text = self._tilde(text, first=index == 0, last=index == len(word) - 1, colons=assignment)
                new: list[_Piece] = [_Fragment(text, part.quoted, split and not part.quoted)]
            elif isinstance(part, Parameter):
                new = self._parameter(part)
            elif isinstance(part, Substitution):
                new = [_Fragment(self._output_of(part.body), part.quoted, not part.quoted)]
            else:
                new = [_Fragment(self._arithmetic(part), part.quoted, not part.quoted)]
            size += sum(len(one.text) for one in new if isinstance(one, _Fragment))
            self._state.run.demand_text(size)
            pieces.extend(new)
        return pieces

    def _output_of(self, body: Command | None) -> str:
        data = self._substitute(body).replace(b"\0", b"")
        return data.rstrip(b"\n").decode("utf-8", "surrogateescape")

    def _arithmetic(self, part: Arithmetic) -> str:
        return str(self.number(part.expression))

    def _tilde(self, text: str, *, first: bool, last: bool, colons: bool) -> str:
        pieces = text.split(":") if colons else [text]
        for index, piece in enumerate(pieces):
            head, slash, rest = piece.partition("/")
            whole = slash or last or index < len(pieces) - 1
            if head.startswith("~") and whole and (first or index > 0):
                home = self._home(head[1:])
                if home is not None:
                    pieces[index] = home + slash + rest
        return ":".join(pieces)

    def _home(self, name: str) -> str | None:
        if name in {"", "+", "-"}:
            return self._state.variables.get({"": "HOME", "+": "PWD", "-": "OLDPWD"}[name])
        return "/" if number_of(name) is not None and not name.isdecimal() else None

    def value(self, name: str) -> str | None:
        """Return what a parameter holds, None where it is not set."""
        state = self._state
        if name.isdecimal():
            number = int(name)
            if number == 0:
                return state.name
            return state.positional[number - 1] if number <= len(state.positional) else None
        if name in {"@", "*"}:
            separator = self._separators()[:1] if name == "*" else " "
            return separator.join(state.positional) if state.positional else None
        if not is_name(name):
            return {
                "#": str(len(state.positional)),
                "?": str(state.status),
                "$": str(state.process),
                "!": None,
                "-": "".join(
                    letter
                    for letter, on in zip(
                        "efu",
                        (state.options.errexit, state.options.noglob, state.options.nounset),
                        strict=True,
                    )
                    if on
                ),
            }[name]
        if name == "RANDOM":
            return str(secrets.randbelow(1 << 15))
        if name in _NOT_MODELLED:
            raise NotModelledError(f"the variable {name}")
        return state.variables.get(name)

    def _parameter(self, part: Parameter) -> list[_Piece]:
        operator = part.operator
        if part.name in {"@", "*"} and not operator:
            return self._positional(part)
        if operator == "length":
            return [self._fragment(part, str(self._length(part.name)))]
        value = self.value(part.name)
        if operator.removeprefix(":") in {"-", "=", "+", "?"}:
            return self._default(part, value)
        if value is None:
            if self._state.options.nounset and part.name not in {"@", "*"}:
                raise ShellError(f"{part.name}: parameter not set")
            value = ""
        if operator[:1] in {"%", "#"} and operator:
            value = self._trimmed(part, value)
        elif operator == "slice":
            value = self._slice(part, value)
        elif operator in {"/", "//"}:
            value = self._replaced(part, value)
        return [self._fragment(part, value)]

    def _fragment(self, part: Parameter, text: str) -> _Fragment:
        return _Fragment(text, part.quoted, not part.quoted)

    def _positional(self, part: Parameter) -> list[_Piece]:
        values = self._state.positional
        if part.quoted and part.name == "*":
            return [_Fragment(self._separators()[:1].join(values), quoted=True)]
        pieces: list[_Piece] = []
        for value in values:
            pieces += [self._fragment(part, value), _BREAK]
        return pieces[:-1]

    def _length(self, name: str) -> int:
        if name in {"@", "*"}:
            return len(self._state.positional)
        value = self.value(name)
        if value is None and self._state.options.nounset:
            raise ShellError(f"{name}: parameter not set")
        return len(value or "")

    def _default(self, part: Parameter, value: str | None) -> list[_Piece]:
        operator = part.operator[-1]
        missing = value is None or (part.operator.startswith(":") and not value)
        word = part.words[0]
        if operator == "+":
            return [] if missing and not part.quoted else self._operand(part, word, "" if missing else None)
        if not missing:
            return self._positional(part) if part.name in {"@", "*"} else [self._fragment(part, value or "")]
        if operator == "-":
            return self._operand(part, word, None)
        if operator == "=":
            if not is_name(part.name):
                raise ShellError(f"${{{part.name}{part.operator}}}: bad substitution")
            text = self.text(word)
            self._state.variables.set(part.name, text)
            return [self._fragment(part, text)]
        message = self.text(word) or "parameter null or not set"
        raise ShellError(f"{part.name}: {message}")

    def _operand(self, part: Parameter, word: Word, text: str | None) -> list[_Piece]:
        if text is not None:
            return [_Fragment(text, quoted=True)]
        pieces = self._pieces(word, tilde=not part.quoted, split=not part.quoted)
        return pieces or ([_Fragment("", quoted=True)] if part.quoted else [])

    def _trimmed(self, part: Parameter, value: str) -> str:
        pattern = self.pattern(part.words[0])
        longest = len(part.operator) == 2  # noqa: PLR2004
        if part.operator[0] == "#":
            length = pattern.prefix_length(value, longest=longest)
            return value if length is None else value[length:]
        start = pattern.suffix_start(value, longest=longest)
        return value if start is None else value[:start]

    def _slice(self, part: Parameter, value: str) -> str:
        if part.name in {"@", "*"}:
            raise ShellError(f"${{{part.name}:}}: bad substitution")
        start = self.number(part.words[0])
        if start < 0:
            start = max(len(value) + start, 0) if -start <= len(value) else len(value)
        if len(part.words) == 1:
            return value[start:]
        length = self.number(part.words[1])
        return value[start : start + length] if length >= 0 else value[start:]

    def _replaced(self, part: Parameter, value: str) -> str:
        parts = self._pattern_parts(part.words[0])
        if not parts or parts[0][0][:1] in {"#", "%"}:
            raise (
                NotModelledError("${name/#pattern} and ${name/%pattern}")
                if parts
                else ShellError("bad substitution")
            )
        pattern = Pattern(parts)
        replacement = self.text(part.words[1]) if len(part.words) > 1 else ""
        made: list[str] = []
        position = 0
        replaced = False
        while position < len(value):
            length = None
            if not replaced or part.operator == "//":
                length = pattern.prefix_length(value[position:], longest=True)
            self._state.run.step()
            if length:
                made.append(replacement)
                position += length
                replaced = True
            elif replaced and part.operator == "/":
                made.append(value[position:])
                break
            else:
                made.append(value[position])
                position += 1
        return "".join(made)

    def _separators(self) -> str:
        separators = self._state.variables.get("IFS")
        return _DEFAULT_IFS if separators is None else separators

    def _split(self, pieces: list[_Piece]) -> list[list[PatternPart]]:
        splitter = FieldSplitter(self._separators())
        for piece in pieces:
            if isinstance(piece, _FieldBreak):
                splitter.finish()
            elif piece.split:
                splitter.add_split(piece.text)
            else:
                splitter.add(piece.text, active=not piece.quoted)
        splitter.finish()
        self._state.run.demand_fields(len(splitter.fields))
        return splitter.fields


class FieldSplitter:
    """Cuts text into fields at the characters of IFS.

    Attributes:
        fields: What is finished.
    """

    def __init__(self, separators: str) -> None:
        self.fields: list[list[PatternPart]] = []
        self._separators = separators
        self._current: list[PatternPart] | None = None
        self._after_blank = False

    def add(self, text: str, *, active: bool) -> None:
        """Add text that is not split; the field exists from here on, even where the text is empty."""
        if self._current is None:
            self._current = []
        self._current.append((text, active))
        self._after_blank = False

    def add_split(self, text: str) -> None:
        """Add text that is split."""
        if not self._separators:
            if text:
                self.add(text, active=True)
            return
        for run in _runs(self._separators).findall(text):
            if run[0] not in self._separators:
                self.add(run, active=True)
            elif run in _DEFAULT_IFS:
                if self._current is not None:
                    self.finish()
                    self._after_blank = True
            elif self._after_blank:
                self._after_blank = False
            else:
                self._current = self._current or []
                self.finish()

    def finish(self) -> None:
        """End the field, if there is one."""
        if self._current is not None:
            self.fields.append(self._current)
        self._current = None
        self._after_blank = False


@lru_cache(maxsize=64)
def _runs(separators: str) -> re.Pattern[str]:
    escaped = re.escape(separators)
    return re.compile(f"[^{escaped}]+|[{escaped}]")


def _joined(pieces: list[_Piece]) -> str:
    return "".join(" " if isinstance(piece, _FieldBreak) else piece.text for piece in pieces)

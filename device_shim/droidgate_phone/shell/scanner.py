"""From characters to words: quoting and the expansions that a word holds."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NoReturn, Self

from droidgate_phone.shell.errors import NotModelledError, ShellSyntaxError
from droidgate_phone.shell.syntax import Arithmetic, Command, Parameter, Part, Substitution, Text, Word

MAXIMUM_NESTING: Final = 40

_OPERATORS: Final = (
    "<<-", "<<<", "&>>", "<<", ">>", ">&", "<&", ">|", "<>", "&>", "&&", "||", "|&", ";;", ";&", ";|",
    "<", ">", "|", "&", ";", "(", ")", "\n",
)  # fmt: skip
_WORD_ENDS: Final = " \t\n;&|<>()"
_SPECIAL: Final = "@*#?$!-"
_IN_DOUBLE_QUOTES: Final = '$`"\\'
_ESCAPES: Final = {
    "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v",
}  # fmt: skip


def is_name(text: str) -> bool:
    """Return whether this may be the name of a variable."""
    return (
        bool(text)
        and (text[0] == "_" or (text[0].isascii() and text[0].isalpha()))
        and all(letter == "_" or (letter.isascii() and letter.isalnum()) for letter in text)
    )


class Scanner:
    """Reads words from a text; a parser derives from it, to read the commands of `$(...)`.

    Attributes:
        source: The text.
        position: Index of the next character.
    """

    def __init__(self, source: str, *, depth: int = 0) -> None:
        self.source = source
        self.position = 0
        self.depth = depth

    def inner(self, source: str) -> Self:
        """Return the same for a text inside this one."""
        return type(self)(source, depth=self.depth)

    def commands(self, end: str) -> Command | None:
        """Read commands up to `end`, "" for the end of the source, and go over it."""
        raise NotImplementedError(end)

    def peek(self, ahead: int = 0) -> str:
        """Return a character that follows, "" at the end."""
        index = self.position + ahead
        return self.source[index] if index < len(self.source) else ""

    def skip_blanks(self) -> None:
        """Go over blanks, joined lines and a comment."""
        while True:
            character = self.peek()
            if character in {" ", "\t"}:
                self.position += 1
            elif character == "\\" and self.peek(1) in {"\n", ""}:
                self.position += 1 + len(self.peek(1))
            elif character == "#":
                end = self.source.find("\n", self.position)
                self.position = len(self.source) if end < 0 else end
            else:
                return

    def operator(self) -> str:
        """Return the operator that starts here, "" where there is none."""
        for one in _OPERATORS:
            if self.source.startswith(one, self.position):
                return one
        return ""

    def word(self, ends: str = _WORD_ENDS) -> Word:
        """Read a word up to one of the characters in `ends`, which is left; may be empty."""
        parts: list[Part] = []
        while (character := self.peek()) and character not in ends:
            self._word_part(character, parts, ends)
        return tuple(parts)

    def _word_part(self, character: str, parts: list[Part], ends: str) -> None:
        if character == "\\":
            following = self.peek(1)
            self.position += 2 if following else 1
            if following not in {"\n", ""}:
                parts.append(Text(following, quoted=True))
        elif character == "'":
            parts.append(Text(self._until_quote(), quoted=True))
        elif character == '"':
            self.position += 1
            parts.extend(self._double_quoted('"') or [Text("", quoted=True)])
            self.position += 1
        elif character == "$":
            parts.append(self._dollar(quoted=False))
        elif character == "`":
            parts.append(self._backquoted(quoted=False))
        else:
            run = self._run(ends + "\\'\"$`")
            last = parts[-1] if parts else None
            if isinstance(last, Text) and not last.quoted:
                parts[-1] = Text(last.text + run)
            else:
                parts.append(Text(run))

    def _until_quote(self) -> str:
        end = self.source.find("'", self.position + 1)
        if end < 0:
            raise ShellSyntaxError("no closing quote")
        text = self.source[self.position + 1 : end]
        self.position = end + 1
        return text

    def _double_quoted(self, end: str) -> list[Part]:
        """Read text as in double quotes up to `end`, which is left; "" for the end of the source."""
        parts: list[Part] = []
        while (character := self.peek()) != end:
            if not character:
                raise ShellSyntaxError("no closing quote")
            if character == "\\":
                following = self.peek(1)
                if following == "\n":
                    self.position += 2
                    continue
                escaped = following in _IN_DOUBLE_QUOTES + end and following
                self.position += 2 if escaped else 1
                parts.append(Text(following if escaped else "\\", quoted=True))
            elif character == "$":
                parts.append(self._dollar(quoted=True))
            elif character == "`":
                parts.append(self._backquoted(quoted=True))
            elif character == '"' and end == "}":
                self.position += 1
                parts.extend(self._double_quoted('"'))
                self.position += 1
            else:
                parts.append(Text(self._run(f'{end}"\\$`'), quoted=True))
        return parts

    def here_document(self) -> Word:
        """Read the whole source as a here-document or the inside of `$(( ))`: quotes are plain there."""
        parts: list[Part] = []
        while character := self.peek():
            if character == "\\":
                following = self.peek(1)
                self.position += 2 if following in {"$", "`", "\\", "\n"} and following else 1
                if following in {"$", "`", "\\"} and following:
                    parts.append(Text(following, quoted=True))
                elif following != "\n":
                    parts.append(Text("\\", quoted=True))
            elif character == "$":
                parts.append(self._dollar(quoted=True))
            elif character == "`":
                parts.append(self._backquoted(quoted=True))
            else:
                parts.append(Text(self._run("\\$`"), quoted=True))
        return tuple(parts)

    def arithmetic(self) -> Word:
        """Read the whole source as the inside of `(( ))`: expansions, and quotes that vanish."""
        return self.word("")

    def _dollar(self, *, quoted: bool) -> Part:
        following = self.peek(1)
        if following == "(":
            return self._parenthesised(quoted=quoted)
        if following == "{":
            return self._braced(quoted=quoted)
        if following == "'" and not quoted:
            return Text(self._escaped_text(), quoted=True)
        if following == '"' and not quoted:
            self.position += 1
            return Text("")
        if following and (following in _SPECIAL or following.isdecimal()) and following.isascii():
            self.position += 2
            return Parameter(following, quoted=quoted)
        self.position += 1
        name = self._name()
        return Parameter(name, quoted=quoted) if name else Text("$", quoted=quoted)

    def _run(self, stops: str) -> str:
        """Read the characters up to one of `stops`, at least one."""
        match = _plain(stops).match(self.source, self.position)
        end = match.end() if match else self.position + 1
        text = self.source[self.position : end]
        self.position = end
        return text

    def _name(self) -> str:
        start = self.position
        while (letter := self.peek()) and is_name("_" + letter):
            if self.position == start and letter.isdecimal():
                break
            self.position += 1
        return self.source[start : self.position]

    def _nested(self) -> None:
        self.depth += 1
        if self.depth > MAXIMUM_NESTING:
            raise NotModelledError(f"nesting deeper than {MAXIMUM_NESTING}")

    def _parenthesised(self, *, quoted: bool) -> Part:
        self._nested()
        try:
            if self.peek(2) == "(":
                end = self._end_of_arithmetic(self.position + 3)
                if end is not None:
                    inner = self.inner(self.source[self.position + 3 : end])
                    self.position = end + 2
                    return Arithmetic(inner.here_document(), quoted=quoted)
            self.position += 2
            return Substitution(self.commands(")"), quoted=quoted)
        finally:
            self.depth -= 1

    def end_of_arithmetic(self) -> int | None:
        """Return where `))` closes what starts here, None where it is no arithmetic."""
        return self._end_of_arithmetic(self.position)

    def _end_of_arithmetic(self, start: int) -> int | None:
        depth = 0
        index = start
        while index < len(self.source):
            character = self.source[index]
            if character == "(":
                depth += 1
            elif character == ")":
                if depth == 0:
                    return index if self.source.startswith("))", index) else None
                depth -= 1
            elif character == "\\":
                index += 1
            elif character in {"'", '"'}:
                closing = self.source.find(character, index + 1)
                if closing < 0:
                    return None
                index = closing
            index += 1
        return None

    def _backquoted(self, *, quoted: bool) -> Substitution:
        self.position += 1
        text: list[str] = []
        plain = _IN_DOUBLE_QUOTES if quoted else "$`\\"
        while (character := self.peek()) != "`":
            if not character:
                raise ShellSyntaxError("no closing quote")
            if character == "\\" and self.peek(1) and self.peek(1) in plain:
                self.position += 1
                character = self.peek()
            text.append(character)
            self.position += 1
        self.position += 1
        self._nested()
        try:
            return Substitution(self.inner("".join(text)).commands(""), quoted=quoted)
        finally:
            self.depth -= 1

    def _escaped_text(self) -> str:
        """Read `$'...'`."""
        self.position += 2
        data = bytearray()
        while (character := self.peek()) != "'":
            if not character:
                raise ShellSyntaxError("no closing quote")
            self.position += 1
            if character == "\\":
                data += self._escape()
            else:
                data += character.encode("utf-8", "surrogateescape")
        self.position += 1
        return bytes(data).decode("utf-8", "surrogateescape")

    def _escape(self) -> bytes:
        letter = self.peek()
        self.position += 1
        if letter in _ESCAPES and letter:
            return _ESCAPES[letter].encode()
        if letter in {"x", "u", "U"}:
            length = {"x": 2, "u": 4, "U": 8}[letter]
            digits = self._digits("0123456789abcdefABCDEF", length)
            number = int(digits or "0", 16)
            if letter == "x":
                return bytes([number])
            return chr(min(number, 0xFFFD)).encode("utf-8", "surrogatepass")
        if letter and letter in "01234567":
            self.position -= 1
            return bytes([int(self._digits("01234567", 3), 8) & 0xFF])
        if letter == "c":
            control = self.peek()
            self.position += 1
            return bytes([ord(control[:1] or "\0") & 0x1F])
        return letter.encode("utf-8", "surrogateescape")

    def _digits(self, digits: str, limit: int) -> str:
        start = self.position
        while self.position - start < limit and self.peek() and self.peek() in digits:
            self.position += 1
        return self.source[start : self.position]

    def _braced(self, *, quoted: bool) -> Part:
        start = self.position
        self.position += 2
        self._nested()
        try:
            if self.peek() == "#" and self.peek(1) not in {"}", "%", ":", "-", "+", "=", "?", ""}:
                self.position += 1
                name = self._parameter_name()
                self._expect_brace(start)
                return Parameter(name, "length", quoted=quoted)
            name = self._parameter_name()
            if not name:
                self._bad_substitution(start)
            if self.peek() == "}":
                self.position += 1
                return Parameter(name, quoted=quoted)
            return self._with_operator(name, start, quoted=quoted)
        finally:
            self.depth -= 1

    def _parameter_name(self) -> str:
        if self.peek() and self.peek() in _SPECIAL:
            self.position += 1
            return self.source[self.position - 1]
        return self._digits("0123456789", 10) or self._name()

    def _with_operator(self, name: str, start: int, *, quoted: bool) -> Part:
        for operator in (":-", ":=", ":+", ":?", "%%", "##", "//", "-", "=", "+", "?", "%", "#", "/", ":"):
            if self.source.startswith(operator, self.position):
                break
        else:
            if self.peek() == "[":
                raise NotModelledError("arrays")
            self._bad_substitution(start)
        self.position += len(operator)
        if operator == ":":
            words = [self._operand("}:", quoted=False)]
            if self.peek() == ":":
                self.position += 1
                words.append(self._operand("}", quoted=False))
            operator = "slice"
        elif operator in {"/", "//"}:
            words = [self._operand("}/", quoted=False)]
            if self.peek() == "/":
                self.position += 1
                words.append(self._operand("}", quoted=quoted))
        else:
            pattern = operator[0] in "%#"
            words = [self._operand("}", quoted=quoted and not pattern)]
        self._expect_brace(start)
        return Parameter(name, operator, tuple(words), quoted=quoted)

    def _operand(self, ends: str, *, quoted: bool) -> Word:
        if quoted:
            return tuple(self._double_quoted("}"))
        return self.word(ends)

    def _expect_brace(self, start: int) -> None:
        if not self.peek():
            raise ShellSyntaxError("no closing quote")
        if self.peek() != "}":
            self._bad_substitution(start)
        self.position += 1

    def _bad_substitution(self, start: int) -> NoReturn:
        end = self.source.find("}", start)
        if end < 0:
            raise ShellSyntaxError("no closing quote")
        raise ShellSyntaxError(f"{self.source[start : end + 1]}: bad substitution")


@lru_cache(maxsize=64)
def _plain(stops: str) -> re.Pattern[str]:
    return re.compile(f"[^{re.escape(stops)}]+")

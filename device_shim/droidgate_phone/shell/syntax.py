"""What a command line is once it is read: words and commands."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True, slots=True)
class Text:
    """Characters as they stand; `quoted` ones are neither patterns nor split."""

    text: str
    quoted: bool = False


@dataclass(frozen=True, slots=True)
class Parameter:
    """`$name` and `${name...}`.

    Attributes:
        name: A variable, digits, or one of `@ * # ? $ ! -`.
        operator: "" for the value, `length` for `${#name}`, `slice`, or what stands behind the name (`:-`).
        words: Operands of the operator.
        quoted: Whether it stands in double quotes.
    """

    name: str
    operator: str = ""
    words: tuple[Word, ...] = ()
    quoted: bool = False


@dataclass(frozen=True, slots=True)
class Substitution:
    """`$(commands)`, or the same in backquotes."""

    body: Command | None
    quoted: bool = False


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """`$((expression))`."""

    expression: Word
    quoted: bool = False


Part = Text | Parameter | Substitution | Arithmetic
Word = tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Redirection:
    """One redirection.

    Attributes:
        descriptor: Which descriptor is redirected.
        operator: `<`, `>`, `>|`, `>>`, `>&`, `<&`, `&>`, `&>>` or `<<` (its text is in `word`).
        word: Where to.
        body: For `<<`, where the text of the here-document is put when it has been read.
    """

    descriptor: int
    operator: str
    word: Word
    body: HereDocument | None = None


@dataclass(slots=True)
class HereDocument:
    """Text between `<<word` and the line that is `word`; filled when the line that starts it is over."""

    delimiter: str
    expanded: bool
    tabs_stripped: bool
    word: Word = ()


@dataclass(frozen=True, slots=True)
class Assignment:
    """`name=value`, or `name+=value`."""

    name: str
    value: Word
    appends: bool = False


@dataclass(frozen=True, slots=True)
class Simple:
    """A command of words; without any, its assignments stay."""

    assignments: tuple[Assignment, ...] = ()
    words: tuple[Word, ...] = ()
    redirections: tuple[Redirection, ...] = ()


@dataclass(frozen=True, slots=True)
class Background:
    """`command &`, of a command that neither reads nor writes what the shell has open."""

    command: Simple


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Commands whose streams are joined; `negated` for `!`."""

    commands: tuple[Command, ...]
    negated: bool = False


@dataclass(frozen=True, slots=True)
class AndOr:
    """`left && right` and `left || right`."""

    left: Command
    operator: Literal["&&", "||"]
    right: Command


@dataclass(frozen=True, slots=True)
class Sequence:
    """Commands one after another."""

    commands: tuple[Command, ...] = ()


@dataclass(frozen=True, slots=True)
class Subshell:
    """`( body )`."""

    body: Command


@dataclass(frozen=True, slots=True)
class If:
    """`if`; each branch is a condition and what follows from it."""

    branches: tuple[tuple[Command, Command], ...]
    otherwise: Command | None = None


@dataclass(frozen=True, slots=True)
class While:
    """`while`, or `until` where `wanted` is False."""

    condition: Command
    body: Command
    wanted: bool = True


@dataclass(frozen=True, slots=True)
class For:
    """`for name in words`; None for the positional parameters."""

    name: str
    words: tuple[Word, ...] | None
    body: Command


@dataclass(frozen=True, slots=True)
class CaseItem:
    """Patterns, what is run for them, and what stands behind: `;;`, or `;&` to fall through."""

    patterns: tuple[Word, ...]
    body: Command
    ending: str = ";;"


@dataclass(frozen=True, slots=True)
class Case:
    """`case word in items esac`."""

    word: Word
    items: tuple[CaseItem, ...]


@dataclass(frozen=True, slots=True)
class Function:
    """`name() body`."""

    name: str
    body: Command


@dataclass(frozen=True, slots=True)
class Condition:
    """`[[ words ]]`; an operator or bracket of it stands as unquoted text."""

    words: tuple[Word, ...]


@dataclass(frozen=True, slots=True)
class ArithmeticCommand:
    """`(( expression ))`."""

    expression: Word


@dataclass(frozen=True, slots=True)
class Redirected:
    """A compound command with redirections."""

    body: Command
    redirections: tuple[Redirection, ...] = field(default=())


Command = (
    Simple | Background | Pipeline | AndOr | Sequence | Subshell | If | While | For | Case | Function
    | Condition | ArithmeticCommand | Redirected
)  # fmt: skip

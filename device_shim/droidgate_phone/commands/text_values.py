"""echo, expr, printf, seq, yes: text that is made."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Final

from droidgate_phone.commands import Command, CommandCall
from droidgate_phone.commands.toybox_options import (
    NotModelled,
    Options,
    OptionTable,
    UsageFault,
    toybox_command,
)
from droidgate_phone.shell.printing import PrintfError, printf_bytes, unescape

MAXIMUM_OUTPUT: Final = 1 << 24
_TWO: Final = 2
_COMPARISONS: Final[Mapping[str, Callable[[int], bool]]] = {
    "=": lambda order: order == 0,
    "==": lambda order: order == 0,
    "!=": lambda order: order != 0,
    "<": lambda order: order < 0,
    "<=": lambda order: order <= 0,
    ">": lambda order: order > 0,
    ">=": lambda order: order >= 0,
}


def _echo(call: CommandCall) -> int:
    """Toybox's `echo`, started by its path: escapes need -e (mksh's own expands them always)."""
    arguments = list(call.arguments)
    newline = expand = True
    expand = False
    while arguments and arguments[0][:1] == "-" and arguments[0][1:] and set(arguments[0][1:]) <= set("neE"):
        letters = arguments.pop(0)[1:]
        newline = newline and "n" not in letters
        for letter in letters:
            expand = {"e": True, "E": False}.get(letter, expand)
    text = " ".join(arguments)
    data = text.encode("utf-8", "surrogateescape")
    if expand:
        data, ended = unescape(text)
        newline = newline and not ended
    call.streams.output.write(data + (b"\n" if newline else b""))
    return 0


def _printf(call: CommandCall) -> int:
    arguments = call.arguments[1:] if call.arguments[:1] == ("--",) else call.arguments
    if not arguments:
        call.write_error('printf: Needs 1 argument (see "printf --help")\n')
        return 1
    try:
        call.streams.output.write(printf_bytes(arguments[0], arguments[1:], MAXIMUM_OUTPUT))
    except PrintfError as error:
        call.streams.output.write(error.written)
        call.write_error(f"printf: {error}\n")
        return 1
    return 0


def _number(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise UsageFault(f"not number: {text}") from None
    if not math.isfinite(value):
        raise UsageFault(f"not number: {text}")
    return value


def _decimals(text: str) -> int:
    return len(text.partition(".")[2])


@toybox_command(OptionTable("f:s:w", least=1, most=3, lenient=True))
def _seq(call: CommandCall, options: Options) -> int:
    if "f" in options:
        raise NotModelled("seq -f")
    texts = options.operands
    first = texts[0] if len(texts) > 1 else "1"
    step = texts[1] if len(texts) > _TWO else "1"
    start, increment, end = _number(first), _number(step), _number(texts[-1])
    if not increment:
        raise UsageFault("bad increment '0'")
    places = max(_decimals(first), _decimals(step))
    count = math.floor((end - start) / increment + 1e-9) + 1
    separator = options.get("s", "\n")
    width = max(len(f"{start:.{places}f}"), len(f"{end:.{places}f}")) if "w" in options else 0
    waiting = ""
    for index in range(max(count, 0)):
        text = f"{start + index * increment:0{width}.{places}f}"
        waiting += (separator if index else "") + text
        if len(waiting) > 1 << 16:
            call.write(waiting)
            waiting = ""
    if count > 0:
        call.write(waiting + "\n")
    return 0


def _yes(call: CommandCall) -> int:
    line = (" ".join(call.arguments) or "y") + "\n"
    piece = line * max(4096 // len(line), 1)
    while True:
        call.write(piece)


class _Expression:
    """Reads what `expr` is given: integers, comparisons, `|` and `&`."""

    _LEVELS: Final = (
        {"|"},
        {"&"},
        {"=", "==", "!=", "<", "<=", ">", ">="},
        {"+", "-"},
        {"*", "/", "%"},
        {":"},
    )

    def __init__(self, words: tuple[str, ...]) -> None:
        self._words = words
        self._index = 0

    def run(self) -> str:
        value = self._level(0)
        if self._index < len(self._words):
            raise UsageFault("syntax error", _TWO)
        return value

    def _peek(self) -> str:
        return self._words[self._index] if self._index < len(self._words) else ""

    def _level(self, level: int) -> str:
        if level == len(self._LEVELS):
            return self._primary()
        left = self._level(level + 1)
        while self._index < len(self._words) and self._peek() in self._LEVELS[level]:
            operator = self._words[self._index]
            self._index += 1
            left = self._apply(operator, left, self._level(level + 1))
        return left

    def _primary(self) -> str:
        if self._index >= len(self._words) or self._peek() == ")":
            raise UsageFault("syntax error", _TWO)
        word = self._words[self._index]
        self._index += 1
        if word != "(":
            return word
        value = self._level(0)
        if self._peek() != ")":
            raise UsageFault("syntax error", _TWO)
        self._index += 1
        return value

    def _apply(self, operator: str, left: str, right: str) -> str:
        if operator == "|":
            return left if left not in {"", "0"} else right or "0"
        if operator == "&":
            return left if left not in {"", "0"} and right not in {"", "0"} else "0"
        if operator == ":":
            raise NotModelled("expr with :")
        numbers = _is_integer(left) and _is_integer(right)
        if operator in self._LEVELS[2]:
            order = int(left) - int(right) if numbers else (left > right) - (left < right)
            return str(int(_COMPARISONS[operator](order)))
        if not numbers:
            raise UsageFault("non-integer argument", _TWO)
        return str(_calculated(operator, int(left), int(right)))


def _is_integer(text: str) -> bool:
    return text.isascii() and text.removeprefix("-").isdecimal() and len(text) < 20  # noqa: PLR2004


def _calculated(operator: str, left: int, right: int) -> int:
    if operator == "+":
        return left + right
    if operator == "-":
        return left - right
    if operator == "*":
        return left * right
    if not right:
        raise UsageFault("division by zero", _TWO)
    quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
    return quotient if operator == "/" else left - quotient * right


def _expr(call: CommandCall) -> int:
    @toybox_command(OptionTable())
    def evaluate(inner: CommandCall, _options: Options) -> int:
        if not call.arguments:
            raise UsageFault('Needs 1 argument (see "expr --help")', _TWO)
        value = _Expression(call.arguments).run()
        inner.write(value + "\n")
        return int(value in {"", "0"})

    plain = CommandCall("expr", (), call.streams, call.system, call.environment, call.directory, call.uid)
    return evaluate(plain)


COMMANDS: Final[Mapping[str, Command]] = {
    "echo": _echo,
    "expr": _expr,
    "printf": _printf,
    "seq": _seq,
    "yes": _yes,
}

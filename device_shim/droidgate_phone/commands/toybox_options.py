"""Options of toybox's commands, and what toybox says of wrong ones (toybox `lib/args.c`, `lib/lib.c`)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import wraps
from typing import Final

from droidgate_phone.commands import Command, CommandCall
from droidgate_phone.files import VirtualFileError
from droidgate_phone.shell.errors import NOT_MODELLED_STATUS
from droidgate_phone.shell.here import HERE
from droidgate_phone.shell.run import CountedInput
from droidgate_phone.streams import InputStream

BLOCK: Final = 1 << 16
SECONDS: Final = re.compile("[0-9]{1,10}")
"""What may stand behind `@` in a time."""
LINE_COST: Final = 32
"""Bytes that a line which is kept takes besides its own."""


class UsageFault(Exception):  # noqa: N818
    """The arguments are wrong; the command says so and exits with `status`."""

    def __init__(self, message: str, status: int = 1) -> None:
        super().__init__(message)
        self.status = status


class NotModelled(Exception):  # noqa: N818
    """An option or value that toybox has and the phone does not; exit status 69."""


@dataclass(frozen=True, slots=True)
class Options:
    """What a command was given.

    Attributes:
        values: By option letter (or long name): the last argument, "" for an option without one.
        all_values: By option letter: every argument of an option that may be repeated.
        operands: The arguments that are no options.
    """

    values: Mapping[str, str]
    all_values: Mapping[str, tuple[str, ...]]
    operands: tuple[str, ...]

    def __contains__(self, option: str) -> bool:
        return option in self.values

    def get(self, option: str, default: str = "") -> str:
        """Return an option's argument."""
        return self.values.get(option, default)


@dataclass(frozen=True, slots=True)
class OptionTable:
    """Options of one command.

    Attributes:
        letters: As toybox writes them: a letter, with `:` behind it where it takes an argument.
        long: Long names, each with the letter (or name) that it stands for.
        refused: Letters that toybox has and the phone does not model.
        least: How many operands there have to be.
        most: How many there may be, None for any number.
        stops: Whether options end at the first operand.
        lenient: Whether an unknown option is an operand, as a negative number is.
    """

    letters: str = ""
    long: Mapping[str, str] = field(default_factory=dict)
    refused: str = ""
    least: int = 0
    most: int | None = None
    stops: bool = False
    lenient: bool = False

    def parse(self, call: CommandCall) -> Options:
        """Return the options of a call.

        Raises:
            UsageFault: an option that there is not, without its argument, or too few or many operands.
            NotModelled: an option that the phone does not model.
        """
        return _Parsing(self, call).run()

    def takes_argument(self, letter: str) -> bool:
        """Return whether an option has an argument."""
        index = self.letters.find(letter)
        return index >= 0 and self.letters[index + 1 : index + 2] == ":"


class _Parsing:
    def __init__(self, table: OptionTable, call: CommandCall) -> None:
        self._table = table
        self._name = call.name
        self._waiting = list(call.arguments)
        self._values: dict[str, str] = {}
        self._all: dict[str, list[str]] = {}
        self._operands: list[str] = []

    def run(self) -> Options:
        while self._waiting:
            argument = self._waiting.pop(0)
            if argument == "--":
                break
            if argument.startswith("--"):
                self._long(argument[2:])
            elif argument.startswith("-") and len(argument) > 1 and not self._is_operand(argument):
                self._letters(argument[1:])
            else:
                self._operands.append(argument)
                if self._table.stops:
                    break
        self._operands += self._waiting
        self._check_count()
        return Options(
            self._values, {name: tuple(all_) for name, all_ in self._all.items()}, tuple(self._operands)
        )

    def _is_operand(self, argument: str) -> bool:
        return self._table.lenient and argument[1] not in self._table.letters + self._table.refused

    def _check_count(self) -> None:
        table, count = self._table, len(self._operands)
        if count < table.least:
            raise self._fault("Needs 1 argument" if table.least == 1 else f"Need {table.least} arguments")
        if table.most is not None and count > table.most:
            raise self._fault(f"Max {table.most} argument{'' if table.most == 1 else 's'}")

    def _fault(self, text: str) -> UsageFault:
        return UsageFault(f'{text} (see "{self._name} --help")')

    def _long(self, text: str) -> None:
        name, equals, value = text.partition("=")
        option = self._table.long.get(name)
        if option is None:
            if name in {"help", "version", "color"}:
                raise NotModelled(f"{self._name} --{name}")
            raise self._fault(f"Unknown option '{text}'")
        if self._table.takes_argument(option):
            if not equals:
                value = self._argument(name)
            self._set(option, value)
        elif equals:
            raise self._fault(f"Unknown option '{text}'")
        else:
            self._set(option, "")

    def _letters(self, letters: str) -> None:
        for index, letter in enumerate(letters):
            if letter in self._table.refused:
                raise NotModelled(f"{self._name} -{letter}")
            if letter == ":" or letter not in self._table.letters:
                raise self._fault(f"Unknown option '{letters[index:]}'")
            if self._table.takes_argument(letter):
                self._set(letter, letters[index + 1 :] or self._argument(letter))
                return
            self._set(letter, "")

    def _argument(self, option: str) -> str:
        if not self._waiting:
            raise self._fault(f"Missing argument to {'--' if len(option) > 1 else '-'}{option}")
        return self._waiting.pop(0)

    def _set(self, option: str, value: str) -> None:
        self._values.pop(option, None)
        self._values[option] = value
        self._all.setdefault(option, []).append(value)


ToyboxBody = Callable[[CommandCall, Options], int]


def toybox_command(table: OptionTable) -> Callable[[ToyboxBody], Command]:
    """Make a command of a function that takes its options; errors are told as toybox does, with status 1."""

    def decorate(body: ToyboxBody) -> Command:
        @wraps(body)
        def command(call: CommandCall) -> int:
            try:
                return body(call, table.parse(call))
            except UsageFault as fault:
                call.write_error(f"{call.name}: {fault}\n")
                return fault.status
            except NotModelled as refused:
                call.write_error(f"droidgate phone: {refused} is not modelled\n")
                return NOT_MODELLED_STATUS
            except VirtualFileError as error:
                call.write_error(f"{call.name}: {_as_typed(call, error.filename)}: {error.strerror}\n")
                return 1

        return command

    return decorate


def _as_typed(call: CommandCall, path: str) -> str:
    """Return a path as the arguments have it, without the working directory."""
    short = path.removeprefix(call.directory.rstrip("/") + "/")
    given = any(path in one for one in call.arguments)
    return path if given or not any(short in one for one in call.arguments) else short


def absolute(call: CommandCall, path: str) -> str:
    """Return a path as it is from the root; "" stays what it is."""
    if not path or path.startswith("/"):
        return path
    return f"{call.directory.rstrip('/')}/{path}"


def complain(call: CommandCall, path: str, error: OSError) -> int:
    """Tell an error about a path and return 1."""
    call.write_error(f"{call.name}: {path}: {error.strerror}\n")
    return 1


def open_input(call: CommandCall, path: str) -> InputStream:
    """Return a file to read, standard input for `-`.

    Raises:
        VirtualFileError: it cannot be read.
    """
    if path == "-":
        return call.streams.input
    reader = call.system.files.open_reader(absolute(call, path), uid=call.uid)
    return counted(reader)


def counted(source: InputStream) -> InputStream:
    """Return a stream whose bytes count for the run that this thread works for."""
    return CountedInput(source, HERE.run) if HERE.run else source


def demand_memory(size: int) -> None:
    """Raise where a command holds too much of what it reads.

    Raises:
        BudgetExceededError: it does.
    """
    if HERE.run:
        HERE.run.demand_memory(size)


def blocks(stream: InputStream) -> Iterator[bytes]:
    """Give what a stream has, in pieces."""
    while piece := stream.read(BLOCK):
        yield piece


def lines(stream: InputStream, end: bytes = b"\n") -> Iterator[bytes]:
    """Give the lines of a stream, each with its end; the last one may have none."""
    started: list[bytes] = []
    size = 0
    for piece in blocks(stream):
        *complete, rest = piece.split(end)
        if complete:
            complete[0] = b"".join([*started, complete[0]])
            started, size = [], 0
        for line in complete:
            yield line + end
        if rest:
            started.append(rest)
            size += len(rest)
            demand_memory(size)
    if started:
        yield b"".join(started)


def all_lines(stream: InputStream, end: bytes = b"\n") -> list[bytes]:
    """Return all lines at once.

    Raises:
        BudgetExceededError: they are too much to hold.
    """
    found: list[bytes] = []
    size = 0
    for line in lines(stream, end):
        found.append(line)
        size += len(line) + LINE_COST
        demand_memory(size)
    return found


def each_input(call: CommandCall, paths: tuple[str, ...], use: Callable[[str, InputStream], None]) -> int:
    """Use each file, standard input without any; return 1 where one cannot be read, after telling so."""
    status = 0
    for path in paths or ("-",):
        try:
            use(path, open_input(call, path))
        except VirtualFileError as error:
            status = complain(call, path, error)
    return status


def number(text: str, option: str = "") -> int:
    """Return a number as toybox reads them: decimal, 0x, 0, with a suffix b k m g t (kd for 1000s).

    Raises:
        UsageFault: it is none.
    """
    suffixes = {"": 1, "c": 1, "b": 512, "w": 2, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
    digits = text.rstrip("cbwkmgtCBWKMGTdD")
    suffix = text[len(digits) :].lower()
    try:
        value = int(
            digits,
            16 if digits.lower().startswith("0x") else 8 if digits[:1] == "0" and len(digits) > 1 else 10,
        )
    except ValueError:
        raise UsageFault(f"not integer: {text}" if not option else f"bad {option} '{text}'") from None
    if suffix.endswith("d") and len(suffix) > 1:
        thousands: int = 1000 ** " kmgt".index(suffix[0])
        return value * thousands
    if suffix not in suffixes:
        raise UsageFault(f"not integer: {text}")
    return value * suffixes[suffix]

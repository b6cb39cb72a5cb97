"""What toybox's commands share: options, messages (toybox `lib/args.c`, `lib/lib.c`), input."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import wraps

from droidgate_phone.commands import Command, CommandCall
from droidgate_phone.common.streams import InputStream
from droidgate_phone.files.phone_files import VirtualFileError
from droidgate_phone.shell.shell_errors import NotModelledError
from droidgate_phone.shell.shell_run import HERE, CountedInput

BLOCK = 1 << 16


class ToyboxUsageError(Exception):
    """The arguments are wrong: a message of toybox and status 1."""


@dataclass(frozen=True, slots=True)
class ToyboxOptions:
    """The arguments of a call.

    Attributes:
        values: By option letter: its argument, "" for an option without one.
        operands: The arguments that are not options.
    """

    values: Mapping[str, str]
    operands: tuple[str, ...]

    def __contains__(self, letter: str) -> bool:
        return letter in self.values


@dataclass(frozen=True, slots=True)
class OptionTable:
    """The options of a command.

    Attributes:
        letters: As toybox writes them: a letter, followed by `:` where it has an argument.
        least: The smallest number of operands.
        most: The largest number of operands, None for any.
        stops: Whether options end at the first operand.
    """

    letters: str = ""
    least: int = 0
    most: int | None = None
    stops: bool = False

    def parse(self, call: CommandCall) -> ToyboxOptions:
        """Return the options of a call.

        Raises:
            ToyboxUsageError: an option lacks its argument, or the number of operands is wrong.
            NotModelledError: an option is not in the table.
        """
        values: dict[str, str] = {}
        operands: list[str] = []
        waiting = list(call.arguments)
        while waiting:
            argument = waiting.pop(0)
            if argument == "--":
                break
            if argument.startswith("--"):
                raise NotModelledError(f"{call.name} {argument.partition('=')[0]}")
            if argument.startswith("-") and len(argument) > 1:
                self._read_letters(call, argument[1:], waiting, values)
                continue
            operands.append(argument)
            if self.stops:
                break
        operands += waiting
        if len(operands) < self.least:
            raise ToyboxUsageError(
                f'Needs {self.least} argument{"s" * (self.least > 1)} (see "{call.name} --help")'
            )
        if self.most is not None and len(operands) > self.most:
            raise ToyboxUsageError(
                f'Max {self.most} argument{"s" * (self.most != 1)} (see "{call.name} --help")'
            )
        return ToyboxOptions(values, tuple(operands))

    def _read_letters(
        self, call: CommandCall, letters: str, waiting: list[str], values: dict[str, str]
    ) -> None:
        for index, letter in enumerate(letters):
            place = self.letters.find(letter)
            if place < 0 or letter == ":":
                raise NotModelledError(f"{call.name} -{letter}")
            if self.letters[place + 1 : place + 2] != ":":
                values[letter] = ""
                continue
            values[letter] = letters[index + 1 :]
            if not values[letter]:
                if not waiting:
                    raise ToyboxUsageError(f'Missing argument to -{letter} (see "{call.name} --help")')
                values[letter] = waiting.pop(0)
            return


def toybox_command(table: OptionTable) -> Callable[[Callable[[CommandCall, ToyboxOptions], int]], Command]:
    """Make a command of a function that takes its options; errors get toybox's wording and status 1."""

    def decorate(body: Callable[[CommandCall, ToyboxOptions], int]) -> Command:
        @wraps(body)
        def command(call: CommandCall) -> int:
            try:
                return body(call, table.parse(call))
            except ToyboxUsageError as error:
                call.write_error(f"{call.name}: {error}\n")
                return 1

        return command

    return decorate


def absolute(call: CommandCall, path: str) -> str:
    """Return an absolute path; "" stays as it is."""
    if not path or path.startswith("/"):
        return path
    return f"{call.directory.rstrip('/')}/{path}"


def report_path(call: CommandCall, path: str, error: OSError) -> int:
    """Report an error about a path and return 1."""
    call.write_error(f"{call.name}: {path}: {error.strerror}\n")
    return 1


def each_input(call: CommandCall, paths: tuple[str, ...], use: Callable[[str, InputStream], None]) -> int:
    """Use each file, standard input for `-` and without any; return 1 where one cannot be read."""
    status = 0
    for path in paths or ("-",):
        try:
            stream = call.streams.input
            if path != "-":
                stream = counted(call.system.files.open_reader(absolute(call, path), uid=call.uid))
            use(path, stream)
        except VirtualFileError as error:
            status = report_path(call, path, error)
    return status


def counted(source: InputStream) -> InputStream:
    """Return a stream whose bytes count for the run that this thread works for."""
    return CountedInput(source, HERE.run) if HERE.run else source


def blocks(stream: InputStream) -> Iterator[bytes]:
    """Yield the bytes of a stream in pieces."""
    while piece := stream.read(BLOCK):
        yield piece


def lines(stream: InputStream) -> Iterator[bytes]:
    """Yield the lines of a stream, each with its newline; the last one may have none."""
    started: list[bytes] = []
    size = 0
    for piece in blocks(stream):
        *complete, rest = piece.split(b"\n")
        for line in complete:
            yield b"".join([*started, line, b"\n"])
            started, size = [], 0
        if rest:
            started.append(rest)
            size += len(rest)
            if HERE.run:
                HERE.run.require("memory", size)
    if started:
        yield b"".join(started)


def number(text: str) -> int:
    """Return a decimal number of at most 18 digits.

    Raises:
        ToyboxUsageError: it is not a number.
        NotModelledError: it is one with a suffix or in another base.
    """
    if text.isascii() and text.isdecimal() and len(text) <= 18:  # noqa: PLR2004
        return int(text)
    if text[:1].isdecimal() or text[:1] in {"-", "+"}:
        raise NotModelledError(f"the number {text}")
    raise ToyboxUsageError(f"not integer: {text}")

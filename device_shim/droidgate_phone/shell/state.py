"""What a shell process knows: variables, functions, options, where it is."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, cast

from droidgate_phone.shell.errors import CommandError, ShellError
from droidgate_phone.shell.run import ClosedStream, Run, Stream, Streams
from droidgate_phone.shell.syntax import Command
from droidgate_phone.streams import InputStream, OutputStream

if TYPE_CHECKING:
    from droidgate_phone.system import AndroidSystem


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable; None is one that has marks but no value."""

    value: str | None
    exported: bool = False
    read_only: bool = False


@dataclass(slots=True)
class Variables:
    """Variables by name, with those that functions hide."""

    values: dict[str, Variable] = field(default_factory=dict)
    hidden: list[dict[str, Variable | None]] = field(default_factory=list)

    def get(self, name: str) -> str | None:
        """Return a value, None for none."""
        found = self.values.get(name)
        return found.value if found else None

    def set(self, name: str, value: str) -> None:
        """Set a value.

        Raises:
            ShellError: it is read-only.
        """
        found = self.values.get(name)
        if found is None:
            self.values[name] = Variable(value)
        elif found.read_only:
            raise ShellError(f"read-only: {name}", 2)
        else:
            self.values[name] = replace(found, value=value)

    def mark(self, name: str, *, exported: bool | None = None, read_only: bool | None = None) -> None:
        """Set marks of a variable, which need not have a value."""
        found = self.values.get(name, Variable(None))
        self.values[name] = replace(
            found,
            exported=found.exported if exported is None else exported,
            read_only=found.read_only if read_only is None else read_only,
        )

    def unset(self, name: str) -> None:
        """Forget a variable.

        Raises:
            ShellError: it is read-only.
        """
        found = self.values.get(name)
        if found is not None and found.read_only:
            raise ShellError(f"read-only: {name}", 2)
        self.values.pop(name, None)

    def hide(self, name: str) -> None:
        """Make a variable local to the function that runs."""
        if name not in self.hidden[-1]:
            self.hidden[-1][name] = self.values.pop(name, None)

    def restore(self, saved: Mapping[str, Variable | None]) -> None:
        """Put back variables as they were."""
        for name, variable in saved.items():
            if variable is None:
                self.values.pop(name, None)
            else:
                self.values[name] = variable

    def exported(self) -> dict[str, str]:
        """Return the environment of a command."""
        return {
            name: one.value for name, one in self.values.items() if one.exported and one.value is not None
        }


@dataclass(slots=True)
class Options:
    """`set -e` and the like."""

    errexit: bool = False
    nounset: bool = False
    noglob: bool = False
    noclobber: bool = False
    pipefail: bool = False

    def letters(self) -> str:
        """Return what `$-` holds of them."""
        flags = {"e": self.errexit, "f": self.noglob, "u": self.nounset, "C": self.noclobber}
        return "".join(letter for letter, on in flags.items() if on)


@dataclass(slots=True)
class ShellState:
    """One shell process.

    Attributes:
        system: The phone.
        run: What it may still take.
        descriptors: Streams by number; 0 to 2 are the standard ones.
        uid: Whose it is.
        name: `$0`, and the head of its messages.
        positional: `$1`...
        variables: Its variables.
        functions: Its functions.
        options: Its options.
        directory: Where it is.
        status: `$?`.
        process: `$$`, the number of the first shell of a run.
        depth: How many functions, scripts and subshells are around.
        loops: How many loops are around.
        tested: How many conditions are around, in which `set -e` does not count.
        substitution_status: Of the last command substitution, None where there was none.
    """

    system: AndroidSystem
    run: Run
    descriptors: Mapping[int, Stream]
    uid: int
    name: str
    positional: tuple[str, ...] = ()
    variables: Variables = field(default_factory=Variables)
    functions: dict[str, Command] = field(default_factory=dict)
    options: Options = field(default_factory=Options)
    directory: str = "/"
    status: int = 0
    process: int = 0
    depth: int = 0
    loops: int = 0
    tested: int = 0
    in_function: int = 0
    substitution_status: int | None = None

    def copy(self, descriptors: Mapping[int, Stream] | None = None) -> ShellState:
        """Return what a subshell starts with."""
        self.run.demand_depth(self.depth + 1)
        variables = Variables(dict(self.variables.values), [dict(one) for one in self.variables.hidden])
        return replace(
            self,
            descriptors=self.descriptors if descriptors is None else descriptors,
            variables=variables,
            functions=dict(self.functions),
            options=replace(self.options),
            depth=self.depth + 1,
            loops=0,
        )

    def path(self, name: str) -> str:
        """Return a path that starts at the root."""
        return name if name.startswith("/") else posixpath.join(self.directory, name)

    def error(self, text: str) -> None:
        """Write a message of the shell."""
        message = f"{self.name}: {text}\n"
        self.output(2).write(message.encode("utf-8", "surrogateescape"))

    def report(self, error: ShellError | CommandError) -> None:
        """Write the message of an error, unless that has been done."""
        if not error.reported:
            self.error(str(error))
            error.reported = True

    def input(self, descriptor: int = 0) -> InputStream:
        """Return a stream to read from; one that fails where the descriptor is closed or for writing."""
        stream = self.descriptors.get(descriptor)
        return cast("InputStream", stream) if hasattr(stream, "read") else ClosedStream()

    def output(self, descriptor: int = 1) -> OutputStream:
        """Return a stream to write to; one that fails where the descriptor is closed or for reading."""
        stream = self.descriptors.get(descriptor)
        return cast("OutputStream", stream) if hasattr(stream, "write") else ClosedStream()

    def write(self, text: str) -> None:
        """Write to standard output."""
        self.output().write(text.encode("utf-8", "surrogateescape"))

    def streams(self) -> Streams:
        """Return the three standard streams."""
        return Streams(self.input(), self.output(), self.output(2))


def exported_variables(environment: Mapping[str, str]) -> Variables:
    """Return the variables of a new process."""
    return Variables({name: Variable(value, exported=True) for name, value in environment.items()})

"""What a shell process knows: its variables, its streams, where it is."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, cast

from droidgate_phone.common.streams import InputStream, OutputStream
from droidgate_phone.shell.shell_run import ClosedStream, ShellRun, Stream

if TYPE_CHECKING:
    from droidgate_phone.system import AndroidSystem


@dataclass(slots=True)
class ShellState:
    """One shell process.

    Attributes:
        system: The phone.
        run: The run that its commands count for.
        descriptors: Streams by number: 0, 1 and 2.
        uid: Whose process it is.
        name: `$0`, and the start of its messages.
        variables: Values by name.
        exported: Names of the variables that programs get.
        arguments: `$1`...
        directory: The working directory, absolute.
        status: `$?`.
        process: `$$`, the number of the first shell of a run.
        depth: How many scripts and subshells are around it.
        traps: Commands by `EXIT` or the signal that runs them; a subshell starts with none.
    """

    system: AndroidSystem
    run: ShellRun
    descriptors: Mapping[int, Stream]
    uid: int
    name: str
    variables: dict[str, str]
    exported: frozenset[str]
    arguments: tuple[str, ...] = ()
    directory: str = "/"
    status: int = 0
    process: int = 4242
    depth: int = 0
    traps: dict[str, str] = field(default_factory=dict)

    def copy(self, descriptors: Mapping[int, Stream] | None = None) -> ShellState:
        """Return the state that a subshell starts with."""
        self.run.require("depth", self.depth + 1)
        return replace(
            self,
            descriptors=self.descriptors if descriptors is None else descriptors,
            variables=dict(self.variables),
            depth=self.depth + 1,
            traps={},
        )

    def value(self, name: str) -> str:
        """Return the value of a variable or of one of `? # $ 0 1`..., "" where it is not set."""
        if name.isdecimal():
            return ([self.name, *self.arguments, ""])[min(int(name), len(self.arguments) + 1)]
        special = {"?": self.status, "#": len(self.arguments), "$": self.process}
        return str(special[name]) if name in special else self.variables.get(name, "")

    def environment(self) -> dict[str, str]:
        """Return the variables that a program gets."""
        return {name: value for name, value in self.variables.items() if name in self.exported}

    def path(self, name: str) -> str:
        """Return an absolute path."""
        return name if name.startswith("/") else posixpath.join(self.directory, name)

    def error(self, text: str) -> None:
        """Write a message of the shell."""
        self.output(2).write(f"{self.name}: {text}\n".encode("utf-8", "surrogateescape"))

    def input(self, descriptor: int = 0) -> InputStream:
        """Return a stream to read from; one that fails where the descriptor is for writing."""
        stream = self.descriptors.get(descriptor)
        return cast("InputStream", stream) if hasattr(stream, "read") else ClosedStream()

    def output(self, descriptor: int = 1) -> OutputStream:
        """Return a stream to write to; one that fails where the descriptor is for reading."""
        stream = self.descriptors.get(descriptor)
        return cast("OutputStream", stream) if hasattr(stream, "write") else ClosedStream()

    def write(self, text: str) -> None:
        """Write to standard output."""
        self.output().write(text.encode("utf-8", "surrogateescape"))

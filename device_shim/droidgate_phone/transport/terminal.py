"""A pseudo-terminal, as far as a person at `adb shell` needs one.

Modelled: echo, erasing with Backspace, Ctrl-U and Ctrl-W, Ctrl-C (drops the line), Ctrl-D (end of input on an
empty line), line feeds shown as carriage return and line feed, and a prompt before each command of an
interactive shell. A running command is not interrupted by Ctrl-C.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, Protocol

from droidgate_phone.streams import InputStream, OutputStream
from droidgate_phone.transport.userland import Userland

_INTERRUPT: Final = 0x03
_END: Final = 0x04
_ERASE: Final = frozenset({0x08, 0x7F})
_ERASE_LINE: Final = 0x15
_ERASE_WORD: Final = 0x17
_NEW_LINE: Final = frozenset({0x0A, 0x0D})
_FIRST_PRINTED: Final = 0x20
_HIGH_BITS: Final = 0xC0
_LATER_BYTE: Final = 0x80


class TerminalStreams(Protocol):
    """Input and output of the other side."""

    @property
    def input(self) -> InputStream:
        """What is typed."""

    @property
    def output(self) -> OutputStream:
        """What is shown."""

    def on_hang_up(self, listener: Callable[[], None]) -> None:
        """Have something called when the other side is gone."""


class TerminalOutput:
    """Output through a terminal: a line feed is sent as carriage return and line feed."""

    def __init__(self, output: OutputStream) -> None:
        self._output = output

    def write(self, data: bytes) -> None:
        """Send the bytes as a terminal would show them."""
        self._output.write(data.replace(b"\n", b"\r\n"))


class TerminalInput:
    """Input through a terminal: whole lines, edited and echoed."""

    def __init__(self, keys: InputStream, echo: OutputStream) -> None:
        self._keys = keys
        self._echo = echo
        self._typed = b""
        self._ready = b""
        self._ended = False

    def read(self, limit: int = -1) -> bytes:
        """Return up to `limit` bytes of typed lines; b"" at the end of input."""
        if limit < 0:
            pieces = []
            while piece := self.read(4096):
                pieces.append(piece)
            return b"".join(pieces)
        if not self._ready and limit:
            self._ready = self.read_line() or b""
        taken, self._ready = self._ready[:limit], self._ready[limit:]
        return taken

    def read_line(self) -> bytes | None:
        """Return the next line with its line feed, or None at the end of input."""
        line = bytearray()
        while not self._ended:
            if not self._typed:
                self._typed = self._keys.read(4096)
            if not self._typed:
                self._ended = True
                break
            key, self._typed = self._typed[0], self._typed[1:]
            if key in _NEW_LINE:
                self._echo.write(b"\r\n")
                return bytes(line) + b"\n"
            if key == _END:
                if not line:
                    self._ended = True
                return bytes(line) or None
            if key == _INTERRUPT:
                self._echo.write(b"^C\r\n")
                return b"\n"
            self._edit(line, key)
        return bytes(line) or None

    def _edit(self, line: bytearray, key: int) -> None:
        if key in _ERASE:
            self._erase(line, len(line) - 1)
        elif key == _ERASE_LINE:
            self._erase(line, 0)
        elif key == _ERASE_WORD:
            kept = line.rstrip(b" ").rpartition(b" ")
            self._erase(line, len(kept[0]) + len(kept[1]))
        elif key >= _FIRST_PRINTED or key == ord("\t"):
            line.append(key)
            self._echo.write(bytes([key]))

    def _erase(self, line: bytearray, kept: int) -> None:
        """Erase characters, those of several bytes as a whole, until so many bytes are left."""
        while len(line) > max(0, kept):
            while line and line.pop() & _HIGH_BITS == _LATER_BYTE:
                continue
            self._echo.write(b"\b \b")


class Terminal:
    """A terminal around a command; it has no standard error of its own."""

    def __init__(self, streams: TerminalStreams) -> None:
        self.output: OutputStream = TerminalOutput(streams.output)
        self.error: OutputStream = self.output
        self._streams = streams
        self._keyboard = TerminalInput(streams.input, streams.output)
        self.input: InputStream = self._keyboard

    def on_hang_up(self, listener: Callable[[], None]) -> None:
        """Have something called when the other side is gone."""
        self._streams.on_hang_up(listener)

    def run(self, userland: Userland, command: str, environment: Mapping[str, str]) -> int:
        """Run the command, or an interactive shell where it is empty; return the exit status."""
        if command:
            return userland.run(command, self, environment)
        prompt = f"{userland.banner().device}:/ $ ".encode()
        self.input = PromptingInput(self._keyboard, self.output, prompt)
        return userland.run("", self, environment)


class PromptingInput:
    """The input of an interactive shell: shows the prompt whenever a line is asked for."""

    def __init__(self, keyboard: TerminalInput, output: OutputStream, prompt: bytes) -> None:
        self._keyboard = keyboard
        self._output = output
        self._prompt = prompt
        self._left = b""

    def read(self, limit: int = -1) -> bytes:
        """Return up to `limit` bytes of typed lines; b"" at the end of input."""
        if limit < 0:
            return self._keyboard.read()
        if not self._left and limit:
            self._output.write(self._prompt)
            self._left = self._keyboard.read_line() or b""
        taken, self._left = self._left[:limit], self._left[limit:]
        return taken

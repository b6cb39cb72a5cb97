"""The services that a host can open on the phone: what the wire needs of the phone behind it, the streams of
a command, and the terminal of `adb shell`.

Facts: AOSP `packages/modules/adb` docs/dev/services.md, daemon/services.cpp, daemon/shell_service.cpp. The
shell protocol (shell_protocol.h) has packets of one byte for their kind, four for their length
(little-endian), and content. Of a pseudo-terminal are modelled: echo, erasing with Backspace, Ctrl-U and
Ctrl-W, Ctrl-C (drops the line), Ctrl-D (end of input on an empty line), line feeds shown as carriage return
and line feed, and a prompt before each command of an interactive shell. A running command is not interrupted
by Ctrl-C.
"""

from __future__ import annotations

import functools
import re
import shlex
import struct
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from droidgate_phone.common.event_log import EventLog
from droidgate_phone.common.streams import CommandStreams, InputStream, OutputStream, read_to_end
from droidgate_phone.files.phone_files import VirtualFiles
from droidgate_phone.transport.file_transfer import serve_files
from droidgate_phone.transport.sockets import Endpoint, read_exactly

_INTERRUPT: Final = 0x03
_END: Final = 0x04
_ERASE: Final = frozenset({0x08, 0x7F})
_ERASE_LINE: Final = 0x15
_ERASE_WORD: Final = 0x17
_NEW_LINE: Final = frozenset({0x0A, 0x0D})
_FIRST_PRINTED: Final = 0x20
_HIGH_BITS: Final = 0xC0
_LATER_BYTE: Final = 0x80


@dataclass(frozen=True, slots=True)
class Banner:
    """What the phone reports about itself when a host connects.

    Attributes:
        product: `ro.product.name`.
        model: `ro.product.model`.
        device: `ro.product.device`.
        features: What its adbd can do.
    """

    product: str
    model: str
    device: str
    features: tuple[str, ...]

    def text(self) -> str:
        """Return the text of the CNXN packet."""
        properties = (
            f"ro.product.name={self.product}",
            f"ro.product.model={self.model}",
            f"ro.product.device={self.device}",
            f"features={','.join(self.features)}",
        )
        return f"device::{';'.join(properties)}"


@dataclass(frozen=True, slots=True)
class Userland:
    """The phone behind the wire.

    Attributes:
        run: Runs a shell command to its end and returns its exit status. An empty command is a shell that
            reads its commands from standard input.
        files: What push and pull see, as the shell.
        banner: Returns what the phone reports about itself.
    """

    run: Callable[[str, CommandStreams, Mapping[str, str]], int]
    files: VirtualFiles
    banner: Callable[[], Banner]


class TerminalOutput:
    """Output through a terminal: a line feed is sent as carriage return and line feed."""

    def __init__(self, output: OutputStream) -> None:
        self._output = output

    def write(self, data: bytes) -> None:
        """Send the bytes as a terminal would show them."""
        self._output.write(data.replace(b"\n", b"\r\n"))


class TerminalInput:
    """Input through a terminal: whole lines, edited and echoed, the prompt before each that is asked for."""

    def __init__(self, keys: InputStream, echo: OutputStream, prompt: bytes) -> None:
        self._keys = keys
        self._echo = echo
        self._prompt = prompt
        self._typed = b""
        self._ready = b""
        self._ended = False

    def read(self, limit: int = -1) -> bytes:
        """Return up to `limit` bytes of typed lines; b"" at the end of input."""
        if limit < 0:
            return read_to_end(self)
        if not self._ready and limit:
            if self._prompt:
                self._echo.write(self._prompt)
            self._ready = self._read_line()
        content, self._ready = self._ready[:limit], self._ready[limit:]
        return content

    def _read_line(self) -> bytes:
        """Return the next line with its line feed, b"" at the end of input."""
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
                return bytes(line)
            if key == _INTERRUPT:
                self._echo.write(b"^C\r\n")
                return b"\n"
            self._edit(line, key)
        return bytes(line)

    def _edit(self, line: bytearray, key: int) -> None:
        if key in _ERASE:
            self._erase(line, len(line) - 1)
        elif key == _ERASE_LINE:
            self._erase(line, 0)
        elif key == _ERASE_WORD:
            parts = line.rstrip(b" ").rpartition(b" ")
            self._erase(line, len(parts[0]) + len(parts[1]))
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
    """A terminal around a command; it has no standard error of its own.

    Args:
        streams: Those of the other side.
        prompt: What an interactive shell shows before each line.
    """

    def __init__(self, streams: PacketStreams | RawStreams, prompt: bytes) -> None:
        self.input: InputStream = TerminalInput(streams.input, streams.output, prompt)
        self.output: OutputStream = TerminalOutput(streams.output)
        self.error: OutputStream = self.output
        self.on_hang_up = streams.on_hang_up


PACKET_HEADER: Final = struct.Struct("<BI")
STANDARD_INPUT: Final = 0
STANDARD_OUTPUT: Final = 1
STANDARD_ERROR: Final = 2
EXIT: Final = 3
CLOSE_INPUT: Final = 4

_LARGEST_CONTENT: Final = 256 * 1024
_LARGEST_INPUT: Final = 16 * 1024 * 1024


class RawStreams:
    """Streams without a protocol: input and output are the connection, standard error is standard output.

    Args:
        endpoint: The connection.
        has_terminal: A terminal hangs up with its client. Without one closing the stream is the only way to
            end the input, as `adb exec-in` does, so the command runs until it writes.
    """

    def __init__(self, endpoint: Endpoint, *, has_terminal: bool = False) -> None:
        self.input: InputStream = endpoint
        self.output: OutputStream = endpoint
        self.error: OutputStream = endpoint
        self.on_hang_up = endpoint.on_hang_up if has_terminal else endpoint.on_disconnect

    def exit(self, status: int) -> None:
        """Do nothing: this protocol does not send the exit status."""


class PacketStreams:
    """Streams in packets of the shell protocol.

    Args:
        endpoint: The connection.
        has_error: Whether standard error is separate; with a terminal it is not.
        can_close_input: A pseudo-terminal's input cannot be closed from outside.
    """

    def __init__(self, endpoint: Endpoint, *, has_error: bool = True, can_close_input: bool = True) -> None:
        writing = threading.Lock()
        self._endpoint = endpoint
        self.input: InputStream = _PacketInput(endpoint, can_close=can_close_input)
        self.output: OutputStream = _PacketOutput(endpoint, STANDARD_OUTPUT, writing)
        self.error: OutputStream = self.output
        if has_error:
            self.error = _PacketOutput(endpoint, STANDARD_ERROR, writing)
        self.on_hang_up = endpoint.on_hang_up

    def exit(self, status: int) -> None:
        """Send the exit status."""
        self._endpoint.write(PACKET_HEADER.pack(EXIT, 1) + bytes([status & 0xFF]))


class _PacketOutput:
    def __init__(self, endpoint: Endpoint, kind: int, writing: threading.Lock) -> None:
        self._endpoint = endpoint
        self._kind = kind
        self._writing = writing

    def write(self, data: bytes) -> None:
        for start in range(0, len(data), _LARGEST_CONTENT):
            content = memoryview(data)[start : start + _LARGEST_CONTENT]
            with self._writing:
                self._endpoint.write(PACKET_HEADER.pack(self._kind, len(content)), content)


class _PacketInput:
    def __init__(self, endpoint: Endpoint, *, can_close: bool) -> None:
        self._endpoint = endpoint
        self._can_close = can_close
        self._reading = threading.Lock()
        self._left = 0
        self._ended = False

    def read(self, limit: int = -1) -> bytes:
        if limit < 0:
            return read_to_end(self)
        with self._reading:
            return self._read_some(limit)

    def _read_some(self, limit: int) -> bytes:
        while not self._left and not self._ended and limit:
            self._read_header()
        if self._ended or not limit:
            return b""
        content = self._endpoint.read(min(limit, self._left))
        self._left -= len(content)
        self._ended = not content
        return content

    def _read_header(self) -> None:
        header = read_exactly(self._endpoint, PACKET_HEADER.size)
        if header is None:
            self._ended = True
            return
        kind, length = PACKET_HEADER.unpack(header)
        if kind == STANDARD_INPUT:
            self._left = length
        else:
            is_broken = length > _LARGEST_INPUT or read_exactly(self._endpoint, length) is None
            self._ended = is_broken or (kind == CLOSE_INPUT and self._can_close)


AdbService = Callable[[Endpoint], None]
"""Serves a stream to its end; the caller closes the stream."""

_SHELL_PREFIX: Final = "shell"
_ANSWERS: Final[Mapping[str, str]] = {
    "root:": "adbd cannot run as root in production builds\n",
    "unroot:": "adbd not running as root\n",
    "remount:": 'Not running as root. Try "adb root" first.\n',
}
"""What a user build answers, by the service's name or its beginning."""

_NOT_MODELLED: Final = ("reboot:", "tcpip:", "usb:", "disable-verity:", "enable-verity:")
_REVERSE: Final = "reverse:"
_TEST_SERVICE: Final = re.compile("(sink|source):([0-9]{1,19})")
_PIECE: Final = 64 * 1024


def service_text(name: bytes) -> str:
    """Return a service's name for messages and logs; NULs and bytes that are not text become escapes."""
    return name.decode("utf-8", "backslashreplace").replace("\0", "\\0")


@dataclass(frozen=True, slots=True)
class ShellRequest:
    """What `shell[,OPTION...]:COMMAND` asks for."""

    command: str
    has_packets: bool
    has_terminal: bool
    terminal_type: str


def read_shell_request(name: str) -> ShellRequest | None:
    """Return what a shell service's name asks for, or None where it has no colon.

    Unknown options are passed over, as adbd does.
    """
    options, colon, command = name.removeprefix(_SHELL_PREFIX).partition(":")
    if not colon:
        return None
    has_packets, has_terminal, terminal_type = False, not command, "dumb"
    for option in options.split(","):
        if option == "v2":
            has_packets = True
        elif option in {"raw", "pty"}:
            has_terminal = option == "pty"
        elif option.startswith("TERM="):
            terminal_type = option.removeprefix("TERM=")
    return ShellRequest(command, has_packets, has_terminal, terminal_type)


class Services:
    """Finds services by name and logs each that is asked for.

    Args:
        userland: The phone behind them.
        log: Where events go.
    """

    def __init__(self, userland: Userland, log: EventLog) -> None:
        self._userland = userland
        self._log = log

    def banner(self) -> Banner:
        """Return what the phone reports about itself."""
        return self._userland.banner()

    def find(self, name: bytes) -> AdbService | None:
        """Return the service of a name, or None where this phone does not have it."""
        text = service_text(name)
        service = self._find(name.decode("utf-8", "surrogateescape"))
        if service is None:
            self._log.record("refused-service", service=text, reason="the virtual phone does not model it")
            return None
        self._log.record("service", service=text)
        return service

    def _find(self, name: str) -> AdbService | None:
        if name.startswith((f"{_SHELL_PREFIX}:", f"{_SHELL_PREFIX},")):
            request = read_shell_request(name)
            return None if request is None else functools.partial(self._serve_shell, request)
        if name.startswith("exec:"):
            request = ShellRequest(name.removeprefix("exec:"), False, False, "dumb")
            return functools.partial(self._serve_shell, request)
        if name.startswith(("abb:", "abb_exec:")):
            return self._find_direct_command(name)
        if name == "sync:":
            return functools.partial(serve_files, self._userland.files)
        return self._find_answer(name)

    def _find_direct_command(self, name: str) -> AdbService | None:
        """Return the service of `abb`, which calls a system service as `cmd` does, but without a shell."""
        kind, _, arguments = name.partition(":")
        if kind not in self.banner().features:
            return None
        command = shlex.join(["cmd", *arguments.split("\0")])
        return functools.partial(self._serve_shell, ShellRequest(command, kind == "abb", False, "dumb"))

    def _find_answer(self, name: str) -> AdbService | None:
        for beginning, text in _ANSWERS.items():
            if name.startswith(beginning):
                return functools.partial(_answer, text)
        if name == "track-jdwp":
            return _track_nothing
        if match := _TEST_SERVICE.fullmatch(name):
            return functools.partial(_sink if match[1] == "sink" else _source, int(match[2]))
        if name.startswith(_NOT_MODELLED):
            return functools.partial(_answer, f"the virtual phone does not model {name.partition(':')[0]}\n")
        if name == f"{_REVERSE}list-forward":
            return functools.partial(_answer, "0000")
        if name.startswith(_REVERSE):
            reason = "the virtual phone does not model reverse connections"
            return functools.partial(_answer, f"FAIL{len(reason):04x}{reason}")
        return None

    def _serve_shell(self, request: ShellRequest, endpoint: Endpoint) -> None:
        environment = {"TERM": request.terminal_type}
        has_terminal = request.has_terminal
        streams: PacketStreams | RawStreams
        if request.has_packets:
            streams = PacketStreams(endpoint, has_error=not has_terminal, can_close_input=not has_terminal)
        else:
            streams = RawStreams(endpoint, has_terminal=has_terminal)
        try:
            command_streams: CommandStreams = streams
            if has_terminal:
                prompt = b"" if request.command else f"{self.banner().device}:/ $ ".encode()
                command_streams = Terminal(streams, prompt)
            status = self._userland.run(request.command, command_streams, environment)
            streams.exit(status)
        except BrokenPipeError:
            self._log.record("abandoned", command=service_text(request.command.encode("utf-8", "replace")))
            return
        command = service_text(request.command.encode("utf-8", "surrogateescape"))
        self._log.record("exit", command=command, status=status)


def _answer(text: str, endpoint: Endpoint) -> None:
    endpoint.write(text.encode())


def _track_nothing(endpoint: Endpoint) -> None:
    """Answer that no process can be debugged, and stay open, since none ever can."""
    endpoint.write(b"0000")
    read_to_end(endpoint)


def _sink(count: int, endpoint: Endpoint) -> None:
    """Take so many bytes; for none, too, the first that come end the stream."""
    while piece := endpoint.read(_PIECE):
        count -= len(piece)
        if count <= 0:
            return


def _source(count: int, endpoint: Endpoint) -> None:
    while count:
        size = min(count, _PIECE)
        endpoint.write(bytes(size))
        count -= size

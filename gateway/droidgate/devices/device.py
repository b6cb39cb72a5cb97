"""One handle per device: commands, files and properties, always by serial.

A handle remembers which phone it was opened for. Every connection sends the number of the transport that
serves it; when that number changes, the device was away, and it is looked at again before anything is sent.

Commands use the shell protocol, version 2: standard output, standard error and the exit status on one
connection.
"""

from __future__ import annotations

import codecs
import contextlib
import functools
import os
import secrets
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import BinaryIO, Final

from droidgate.devices.adb_client import AdbClient, choice_of, error_of_refusal
from droidgate.devices.connection import Connection, Deadline, RefusedError
from droidgate.devices.device_errors import (
    CommandFailedError,
    ConditionError,
    DeviceChangedError,
    ProtocolError,
    TransferError,
    UnsupportedDeviceError,
    excerpt,
)
from droidgate.devices.device_list import choose_device
from droidgate.devices.quoting import DeviceCommand, join_command, join_commands, join_guarded
from droidgate.devices.shell_packets import IncomingPackets, OutputSink, Packet, frame
from droidgate.devices.sync import FileStatus, SyncSession
from droidgate_mappings.records import dataclass
from droidgate_mappings.timed_steps import timed_step

_PIECE: Final = 32 * 1024


class _Outgoing:
    """What still has to be sent to the command's standard input."""

    def __init__(self, stdin: bytes | BinaryIO | None) -> None:
        self._source = stdin
        self._at = 0
        self._open = True
        self._pending = memoryview(b"")

    def pending(self) -> memoryview:
        """Return the bytes to send next; none when all is sent."""
        if not self._pending and self._open:
            piece = self._next_piece()
            self._open = bool(piece)
            self._pending = memoryview(
                frame(Packet.STDIN, piece) if piece else frame(Packet.CLOSE_STDIN, b"")
            )
        return self._pending

    def sent(self, count: int) -> None:
        """Note how much was sent."""
        self._pending = self._pending[count:]

    def _next_piece(self) -> bytes:
        if self._source is None:
            return b""
        if isinstance(self._source, bytes):
            piece = self._source[self._at : self._at + _PIECE]
            self._at += len(piece)
            return piece
        return self._source.read(_PIECE)


def exchange(connection: Connection, stdin: bytes | BinaryIO | None, collector: OutputSink) -> int:
    """Send standard input while the output is read, until the exit status comes; return that.

    Raises:
        DeviceGoneError: the connection ended without an exit status.
        DeadlineError: it does not come in time.
        OutputLimitError: there is more output than the collector takes.
        ProtocolError: the bytes are not shell packets.
    """
    incoming, outgoing = IncomingPackets(collector), _Outgoing(stdin)
    outgoing.sent(connection.send_some(outgoing.pending()))
    while True:
        pending = outgoing.pending()
        readable, writable = connection.wait(writing=bool(pending))
        if readable:
            piece = connection.receive_some()
            if not piece:
                raise connection.ended()
            status = incoming.feed(piece)
            if status is not None:
                return status
        if writable:
            outgoing.sent(connection.send_some(pending))


DEFAULT_SECONDS: Final = 30.0
TRANSFER_SECONDS: Final = 600.0
MAX_OUTPUT_BYTES: Final = 16 * 1024 * 1024
LONG_COMMAND_BYTES: Final = 32 * 1024
"""A longer command goes through the shell's standard input (reference android-runtime 1.7)."""

_SHELL: Final = "shell,v2,raw:"
_SYNC: Final = "sync:"
_IDENTITY: Final = ("ro.serialno", "ro.build.fingerprint")
_BLOCK: Final = 64 * 1024


@dataclass(frozen=True, slots=True)
class CommandResult:
    """What a command on the device did.

    Attributes:
        stdout: What it printed on standard output.
        stderr: What it printed on standard error.
        exit_status: 0 to 255; a command that returns -1 ends with 255.
    """

    stdout: bytes
    stderr: bytes
    exit_status: int

    @property
    def text(self) -> str:
        """Standard output as text; bytes that are not UTF-8 are written by their code."""
        return _text_of(self.stdout)

    @property
    def error_text(self) -> str:
        """Standard error as text; bytes that are not UTF-8 are written by their code."""
        return _text_of(self.stderr)


def _text_of(data: bytes) -> str:
    # By pieces: no other thread runs while Python decodes one. 16 MiB that are no text take seconds.
    pieces = (data[start : start + _BLOCK] for start in range(0, len(data), _BLOCK))
    return "".join(codecs.iterdecode(pieces, "utf-8", "backslashreplace"))


@dataclass(frozen=True, slots=True)
class Condition:
    """What has to hold when a command starts: another command prints a line.

    Attributes:
        arguments: The other command and its arguments.
        line: The whole line, without its end.
    """

    arguments: Sequence[str]
    line: str


@dataclass(frozen=True, slots=True)
class RanCommand:
    """A command that ended, or was given up.

    Attributes:
        arguments: The command and its arguments, before they were quoted.
        seconds: How long it took.
        stdin: What it read on standard input; None where it read nothing or a file.
        result: What it did; None where there is an error.
        error: Why it did not end by itself.
    """

    arguments: tuple[str, ...]
    seconds: float
    stdin: bytes | None
    result: CommandResult | None
    error: BaseException | None


CommandObserver = Callable[[RanCommand], None]

Answers = dict[tuple[str, ...], CommandResult]
"""What commands did, by the command and its arguments."""


@dataclass(frozen=True, slots=True)
class Identity:
    """What distinguishes devices and builds: its own serial number and the build's fingerprint."""

    serial_number: str
    fingerprint: str


@dataclass(slots=True)
class _Seen:
    """What was seen of a device when it was last looked at; all handles made of one another share it.

    Attributes:
        transport: The number of its transport; None before it was looked at.
        identity: Which device it is.
        features: What its adb daemon can do.
    """

    transport: int | None = None
    identity: Identity | None = None
    features: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class _ShellRequest:
    """A command as it is sent.

    Attributes:
        shown: The command, as it is logged.
        command: What the device's shell is started with.
        stdin: What the command reads.
        refusal: What the shell prints where the condition does not hold.
        condition: What has to hold.
        collector: Takes the output.
    """

    shown: DeviceCommand
    command: DeviceCommand
    stdin: bytes | BinaryIO | None
    refusal: str
    condition: Condition | None
    collector: OutputSink

    @classmethod
    def of(
        cls,
        arguments: Sequence[str],
        stdin: bytes | BinaryIO | None,
        limit: int,
        condition: Condition | None,
    ) -> _ShellRequest:
        """Return the request for a command; args and errors are as of `Device.run`."""
        # Not known to what the command starts, so that no output can be taken for the refusal.
        refusal = f"droidgate-{secrets.token_hex(16)}"
        shown_command = command = (
            join_command(arguments)
            if condition is None
            else join_guarded(condition.arguments, condition.line, arguments, refusal)
        )
        if len(command.encode()) > LONG_COMMAND_BYTES:
            if stdin is not None:
                quote = f"the command has more than {LONG_COMMAND_BYTES} bytes and an input of its own"
                raise UnsupportedDeviceError(quote, hint="send the data as a file")
            stdin, command = f"{command} </dev/null\n".encode(), join_command(["sh"])
        return cls(shown_command, command, stdin, refusal, condition, OutputSink(limit, _command(arguments)))


class Device:
    """A device that is attached and ready; use `connect_device` to get one. May be shared by threads.

    Args:
        server: The adb server that it is attached to.
        serial: Its serial there.

    Attributes:
        cancel: Ends what is going on when it is set; None where nothing does (`ended_by`).
        observer: Gets each command when it has ended; None where nobody does (`observed_by`).
        answers: What commands without an input did; None where each is run (`answered_from`).
    """

    def __init__(self, server: AdbClient, serial: str) -> None:
        self.server = server
        self.serial = serial
        self._lock = threading.RLock()
        self._seen = _Seen()
        self.cancel: threading.Event | None = None
        self.observer: CommandObserver | None = None
        self.answers: Answers | None = None

    def __repr__(self) -> str:
        return f"Device({self.serial!r})"

    def _copy(self) -> Device:
        """Return a handle of the same device; `copy.copy` takes much longer, and each call needs one."""
        copied = object.__new__(type(self))
        copied.__dict__.update(self.__dict__)
        return copied

    def ended_by(self, cancel: threading.Event) -> Device:
        """Return a handle of the same device whose commands end with `CanceledError` once an event is set.

        The command's streams are closed then, upon which adbd sends it SIGHUP (AOSP packages/modules/adb,
        daemon/shell_service.cpp); what a service does on its behalf goes on or not, as it likes.
        """
        copied = self._copy()
        copied.cancel = cancel
        return copied

    def observed_by(self, observer: CommandObserver) -> Device:
        """Return a handle of the same device that reports each command of `run` when it has ended."""
        copied = self._copy()
        copied.observer = observer
        return copied

    def answered_from(self, answers: Answers) -> Device:
        """Return a handle of the same device that runs only commands without an answer, and adds theirs."""
        other = self._copy()
        other.answers = answers
        return other

    @property
    def identity(self) -> Identity:
        """Which device this is; asked for once.

        Raises:
            DeviceError: it cannot be reached.
        """
        with self._lock:
            if self._seen.identity is None:
                self._open(self._deadline(DEFAULT_SECONDS, "the first connection")).close()
            if self._seen.identity is None:
                raise ProtocolError("the device reports no identity", place=self.serial)
            return self._seen.identity

    @property
    def features(self) -> frozenset[str]:
        """What its adb daemon can do, in adb's words.

        Raises:
            DeviceError: it cannot be reached.
        """
        with self._lock:
            if self._seen.transport is None:
                self._open(self._deadline(DEFAULT_SECONDS, "the first connection")).close()
            return self._seen.features

    def run(
        self,
        arguments: Sequence[str],
        *,
        stdin: bytes | BinaryIO | None = None,
        deadline: float = DEFAULT_SECONDS,
        limit: int = MAX_OUTPUT_BYTES,
        condition: Condition | None = None,
    ) -> CommandResult:
        """Run a command and wait for its end.

        Args:
            arguments: The command and its arguments; each is quoted here, once.
            stdin: What it reads on standard input; nothing where it is None.
            deadline: Seconds for all of it.
            limit: Most bytes of output.
            condition: What has to hold when the device's shell starts the command, in one round trip; the
                command then reads nothing on standard input.

        Raises:
            ConditionError: the condition does not hold; the command was not run.
            UnsafeArgumentError: an argument cannot be sent.
            DeadlineError: it did not end in time; what it does on the device goes on or not, as it likes.
            CanceledError: the event of `ended_by` was set.
            OutputLimitError: it printed more than the limit.
            UnsupportedDeviceError: the device has no shell protocol with exit statuses (before Android 7).
            DeviceError: the device cannot be reached or went away.
        """
        waiting = self._deadline(deadline, _command(arguments))
        if self.answers is None or stdin is not None or condition is not None:
            return self._run_observed(arguments, stdin, waiting, limit, condition)
        result = self.answers.get(tuple(arguments))
        if result is None:
            result = self._run_observed(arguments, stdin, waiting, limit, condition)
            self.answers[tuple(arguments)] = result
        return result

    def _run_observed(
        self,
        arguments: Sequence[str],
        stdin: bytes | BinaryIO | None,
        deadline: Deadline,
        limit: int,
        condition: Condition | None,
    ) -> CommandResult:
        if self.observer is None:
            return self._run(arguments, stdin, deadline, limit, condition)
        began = time.perf_counter()
        result: CommandResult | None = None
        failed: BaseException | None = None
        try:
            result = self._run(arguments, stdin, deadline, limit, condition)
        except BaseException as error:
            failed = error
            raise
        finally:
            read = stdin if isinstance(stdin, bytes) else None
            ran = RanCommand(tuple(arguments), time.perf_counter() - began, read, result, failed)
            self.observer(ran)
        return result

    def _run(
        self,
        arguments: Sequence[str],
        stdin: bytes | BinaryIO | None,
        deadline: Deadline,
        limit: int,
        condition: Condition | None,
    ) -> CommandResult:
        request = _ShellRequest.of(arguments, stdin, limit, condition)
        with (
            timed_step(f"{self.serial} shell: {request.shown}"),
            self._open(deadline) as connection,
        ):
            self._request_shell(connection, request.command)
            status = exchange(connection, request.stdin, request.collector)
        return self._result_of(request, status)

    async def run_on_loop(
        self,
        arguments: Sequence[str],
        *,
        deadline: float = DEFAULT_SECONDS,
        limit: int = MAX_OUTPUT_BYTES,
        condition: Condition | None = None,
    ) -> CommandResult:
        """Run a command as `run` does, without a thread for as long as all is as it was last seen.

        Args, Raises: as `run`.
        """
        import anyio.to_thread

        from droidgate.devices.loop_exchange import exchange_on_loop

        seen = self._seen.transport
        request = _ShellRequest.of(arguments, None, limit, condition)
        waiting = self._deadline(deadline, _command(arguments))
        if seen is not None and request.stdin is None and self.observer is None and self.answers is None:
            services = (choice_of(self.serial), _SHELL + request.command)
            with timed_step(f"{self.serial} shell: {request.shown}"):
                status = await exchange_on_loop(
                    self.server.address,
                    services,
                    seen,
                    request.collector,
                    waiting,
                    has_input=condition is None,
                )
            if status is not None:
                return self._result_of(request, status)
        # A thread looks first which device this is.
        run = functools.partial(self._run_observed, arguments, None, waiting, limit, condition)
        # Not one of the shared threads, which a phone that does not answer would keep.
        limiter = anyio.CapacityLimiter(1)
        return await anyio.to_thread.run_sync(run, abandon_on_cancel=True, limiter=limiter)

    def _result_of(self, request: _ShellRequest, status: int) -> CommandResult:
        condition, collector = request.condition, request.collector
        if condition is not None and status == 1 and collector.stderr.endswith(request.refusal.encode()):
            raise ConditionError(f"{_command(condition.arguments)} prints something else", place=self.serial)
        return CommandResult(bytes(collector.stdout), bytes(collector.stderr), status)

    def check(
        self, arguments: Sequence[str], *, deadline: float = DEFAULT_SECONDS, limit: int = MAX_OUTPUT_BYTES
    ) -> CommandResult:
        """Run a command that has to end with status 0.

        Raises:
            CommandFailedError: it ends with another.
            DeviceError: as `run` does.
        """
        result = self.run(arguments, deadline=deadline, limit=limit)
        if result.exit_status != 0:
            raise failure_of(arguments, result)
        return result

    def read_file_range(self, path: str, offset: int, length: int) -> bytes:
        """Return a piece of a file, by blocks of 64 KiB; less than `length` only at its end.

        Raises:
            TransferError: the device cannot read it.
            DeviceError: as `run` does.
        """
        first, last = offset // _BLOCK, -(-(offset + length) // _BLOCK)
        arguments = ["dd", f"if={path}", f"bs={_BLOCK}", f"skip={first}", f"count={last - first}"]
        result = self.run(arguments, limit=(last - first) * _BLOCK + _BLOCK)
        if result.exit_status != 0:
            reason = excerpt(result.error_text.strip() or f"dd ended with status {result.exit_status}")
            raise TransferError(f"cannot read {path}: {reason}", place=self.serial)
        return result.stdout[offset - first * _BLOCK :][:length]

    @contextlib.contextmanager
    def files(self, *, deadline: float = TRANSFER_SECONDS) -> Iterator[SyncSession]:
        """Open a session for files: any number of requests on one connection.

        Raises:
            DeviceError: the device cannot be reached.
        """
        waiting = self._deadline(deadline, "the file transfer")
        with (
            timed_step(f"{self.serial} file transfer"),
            self._open(waiting) as connection,
        ):
            self._request(connection, _SYNC)
            session = SyncSession(connection, self._seen.features, self.serial)
            yield session
            session.quit()

    def status(self, path: str) -> FileStatus | None:
        """Return what the device says about a file; None where there is none.

        Raises:
            DeviceError: the device cannot be reached.
        """
        with self.files(deadline=DEFAULT_SECONDS) as session:
            return session.status(path)

    def push(self, source: BinaryIO | bytes, path: str, *, deadline: float = TRANSFER_SECONDS) -> int:
        """Write a file on the device and return its length in bytes.

        Raises:
            TransferError: the device cannot write it.
            DeviceError: the device cannot be reached.
        """
        with self.files(deadline=deadline) as session:
            return session.send(source, path)

    def pull(
        self, path: str, sink: BinaryIO, *, limit: int | None = None, deadline: float = TRANSFER_SECONDS
    ) -> int:
        """Copy a file of the device into a sink and return its length in bytes.

        Raises:
            TransferError: the device cannot read it.
            OutputLimitError: it is longer than the limit.
            DeviceError: the device cannot be reached.
        """
        with self.files(deadline=deadline) as session:
            return session.receive(path, sink.write, limit=limit)

    def _deadline(self, seconds: float, doing: str) -> Deadline:
        return Deadline(seconds, doing, self.serial, self.cancel)

    def _request_shell(self, connection: Connection, command: DeviceCommand) -> None:
        """Start a command: here and in `run_on_loop` one is sent, and neither takes another text."""
        self._request(connection, _SHELL + command)

    def _request(self, connection: Connection, service: str) -> None:
        try:
            connection.request(service)
        except RefusedError as refused:
            raise error_of_refusal(str(refused), self.serial) from None

    def _open(self, deadline: Deadline) -> Connection:
        """Return a connection to this very device, on which a service can be asked for."""
        connection = self._connect(deadline)
        if connection is None:
            with self._lock:
                # Another thread may have looked in the meantime.
                connection = self._connect(deadline)
                if connection is None:
                    self._look_again(deadline)
                    connection = self._connect(deadline)
        if connection is None:
            raise DeviceChangedError(
                "the device reconnects again and again", place=self.serial, hint="look at its cable"
            )
        return connection

    def _connect(self, deadline: Deadline) -> Connection | None:
        """Return a connection to the device that was seen; None where another transport answers."""
        connection, transport = self.server.choose(self.serial, deadline)
        if transport == self._seen.transport:
            return connection
        connection.close()
        return None

    def _look_again(self, deadline: Deadline) -> None:
        """See which device answers now, and what it can do."""
        features = self.server.features(self.serial, deadline)
        if "shell_v2" not in features:
            raise UnsupportedDeviceError(
                "its adb daemon reports no exit status (no shell_v2)",
                place=self.serial,
                hint="droidgate needs Android 7.0 (API 24) or later",
            )
        connection, transport = self.server.choose(self.serial, deadline)
        with connection:
            collector = OutputSink(_BLOCK, "getprop")
            self._request_shell(connection, join_commands(("getprop", name) for name in _IDENTITY))
            status = exchange(connection, None, collector)
        lines = bytes(collector.stdout).decode("utf-8", "backslashreplace").split("\n")
        if status != 0 or len(lines) != len(_IDENTITY) + 1:
            raise ProtocolError("getprop does not say which device this is", place=self.serial)
        seen = Identity(lines[0].strip("\r"), lines[1].strip("\r"))
        if self._seen.identity is not None and seen != self._seen.identity:
            raise DeviceChangedError(
                f"another device or build answers by this serial: {excerpt(seen.fingerprint)}",
                place=self.serial,
                hint="start again with the device that is attached now",
            )
        self._seen.identity, self._seen.features, self._seen.transport = seen, features, transport


def connect_device(serial: str | None = None, *, server: AdbClient | None = None) -> Device:
    """Return the device of a serial, or the only one that is attached.

    Args:
        serial: Its serial; that of the variable `ANDROID_SERIAL` where it is None and the variable is set.
        server: The adb server; the one that adb's variables name where it is None. It is started where none
            runs.

    Raises:
        NoDeviceError: there is none of that serial, or none at all.
        SeveralDevicesError: there are several and none was named.
        DeviceStateError: it is offline, not authorised, or otherwise not ready.
        DeviceError: the server cannot be reached or used.
    """
    server = server or AdbClient()
    chosen = os.environ.get("ANDROID_SERIAL") or None if serial is None else serial
    return Device(server, choose_device(server.devices(), chosen).serial)


def failure_of(arguments: Sequence[str], result: CommandResult) -> CommandFailedError:
    """Return the error that says how a command ended."""
    first_line = (result.error_text.strip() or result.text.strip()).split("\n", 1)[0]
    reason = f": {excerpt(first_line)}" if first_line else ""
    return CommandFailedError(
        f"{_command(arguments)} ended with status {result.exit_status}{reason}",
        exit_status=result.exit_status,
    )


def _command(arguments: Sequence[str]) -> str:
    return excerpt(" ".join(arguments))

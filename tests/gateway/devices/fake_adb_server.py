"""A small adb server of the tests' own: one device, whose shell is a function, and faults on demand.

It shares nothing with the code under test. Every request is recorded.
"""

import contextlib
import socket
import struct
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Self

SERIAL = "FAKE1234"
LISTED = f"{SERIAL:<22} device product:fake model:Fake_Phone device:fake transport_id:7\n"
FEATURES = "shell_v2,cmd,stat_v2,ls_v2,abb_exec"
FINGERPRINT = "fake/fake/fake:16/BP2A/1:user/release-keys"

Fault = Callable[[socket.socket], None]


@dataclass
class Answer:
    stdout: bytes = b""
    stderr: bytes = b""
    status: int = 0


Shell = Callable[[str, bytes], Answer]


def silent_shell(command: str, stdin: bytes) -> Answer:
    del command, stdin
    return Answer()


class Script:
    """A shell that answers by the start of the command, and remembers."""

    def __init__(self, answers: Mapping[str, Answer]) -> None:
        self.answers = answers
        self.commands: list[str] = []
        self.inputs: list[bytes] = []

    def __call__(self, command: str, stdin: bytes) -> Answer:
        self.commands.append(command)
        self.inputs.append(stdin)
        return next((answer for start, answer in self.answers.items() if command.startswith(start)), Answer())


class FakeAdbServer:
    def __init__(
        self,
        *,
        shell: Shell = silent_shell,
        faults: Mapping[str, Fault] | None = None,
        version: str = "0029",
        listed: str = LISTED,
        features: str = FEATURES,
        files: Mapping[str, bytes] | None = None,
        serial_number: str = "SN1",
    ) -> None:
        self.shell = shell
        self.faults = dict(faults or {})
        self.version = version
        self.listed = listed
        self.features = features
        self.files = dict(files or {})
        self.serial_number = serial_number
        self.transport = 7
        self.requests: list[str] = []
        self.failures: list[BaseException] = []
        self._connections: list[socket.socket] = []
        self._threads: list[threading.Thread] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._accepting = threading.Thread(target=self._accept)
        self._accepting.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._accepting.join()
        for connection in self._connections:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self._connections.append(connection)
            thread = threading.Thread(target=self._serve, args=(connection,))
            self._threads.append(thread)
            thread.start()

    def _serve(self, connection: socket.socket) -> None:
        with connection:
            try:
                while self._handle(connection):
                    pass
            except OSError:
                pass
            except BaseException as error:
                self.failures.append(error)
                raise

    def _handle(self, connection: socket.socket) -> bool:
        head = receive(connection, 4)
        if len(head) < 4:
            return False
        service = receive(connection, int(head, 16)).decode()
        self.requests.append(service)
        for prefix, fault in self.faults.items():
            if service.startswith(prefix):
                fault(connection)
                return False
        if service.startswith("host:tport:serial:"):
            return self._choose(connection, service.removeprefix("host:tport:serial:"))
        if service.startswith("host"):
            self._answer_host(connection, service)
            return False
        connection.sendall(b"OKAY")
        if service.startswith("shell,v2"):
            self._run_shell(connection, service.partition(":")[2])
        elif service == "sync:":
            self._run_sync(connection)
        return False

    def _choose(self, connection: socket.socket, serial: str) -> bool:
        if serial != SERIAL:
            connection.sendall(fail(f"device '{serial}' not found"))
            return False
        connection.sendall(b"OKAY" + struct.pack("<Q", self.transport))
        return True

    def _answer_host(self, connection: socket.socket, service: str) -> None:
        if service == "host:version":
            connection.sendall(b"OKAY" + block(self.version))
        elif service in {"host:devices-l", "host:devices"}:
            connection.sendall(b"OKAY" + block(self.listed))
        elif service.endswith(":features"):
            connection.sendall(b"OKAY" + block(self.features))
        elif service == "host:host-features":
            connection.sendall(b"OKAY" + block("shell_v2,cmd"))
        else:
            connection.sendall(fail("unknown host service"))

    def _run_shell(self, connection: socket.socket, command: str) -> None:
        stdin = bytearray()
        while True:
            kind, length = struct.unpack("<BI", receive(connection, 5))
            data = receive(connection, length)
            if kind == 4:
                break
            if kind == 0:
                stdin += data
        if command.startswith("getprop ro.serialno"):
            answer = Answer(f"{self.serial_number}\n{FINGERPRINT}\n".encode())
        else:
            answer = self.shell(command, bytes(stdin))
        for number, stream in ((1, answer.stdout), (2, answer.stderr)):
            for at in range(0, len(stream), 30_000):
                connection.sendall(packet(number, stream[at : at + 30_000]))
        connection.sendall(packet(3, bytes([answer.status])))
        connection.shutdown(socket.SHUT_WR)
        receive(connection, 1)

    def _run_sync(self, connection: socket.socket) -> None:
        while True:
            head = receive(connection, 8)
            if len(head) < 8 or head[:4] == b"QUIT":
                return
            kind, length = head[:4], int.from_bytes(head[4:], "little")
            argument = receive(connection, length).decode()
            if kind == b"STA2":
                data = self.files.get(argument)
                status = (0, 0, 0, 0o100644, 1, 0, 0, len(data or b""), 0, 1_700_000_000, 0)
                if data is None:
                    status = (2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
                connection.sendall(b"STA2" + struct.pack("<IQQIIIIQqqq", *status))
            elif kind == b"RECV":
                self._send_file(connection, argument)
            elif kind == b"SEND":
                self._take_file(connection, argument.partition(",")[0])

    def _send_file(self, connection: socket.socket, path: str) -> None:
        if path not in self.files:
            connection.sendall(b"FAIL" + struct.pack("<I", 9) + b"not there")
            return
        data = self.files[path]
        for at in range(0, len(data), 65_536):
            piece = data[at : at + 65_536]
            connection.sendall(b"DATA" + struct.pack("<I", len(piece)) + piece)
        connection.sendall(b"DONE" + bytes(4))

    def _take_file(self, connection: socket.socket, path: str) -> None:
        data = bytearray()
        while True:
            kind, length = struct.unpack("<4sI", receive(connection, 8))
            if kind == b"DONE":
                break
            data += receive(connection, length)
        self.files[path] = bytes(data)
        connection.sendall(b"OKAY" + bytes(4))


def receive(connection: socket.socket, length: int) -> bytes:
    data = bytearray()
    while len(data) < length:
        piece = connection.recv(length - len(data))
        if not piece:
            break
        data += piece
    return bytes(data)


def block(text: str) -> bytes:
    raw = text.encode()
    return b"%04x%s" % (len(raw), raw)


def fail(reason: str) -> bytes:
    return b"FAIL" + block(reason)


def packet(kind: int, data: bytes) -> bytes:
    return struct.pack("<BI", kind, len(data)) + data


def sends(data: bytes) -> Fault:
    """Answer with these bytes and end the connection."""
    return lambda connection: connection.sendall(data)


def drops(connection: socket.socket) -> None:
    """End the connection without an answer."""
    del connection


def resets(connection: socket.socket) -> None:
    """End the connection by a reset."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def stalls_after(data: bytes) -> Fault:
    """Answer with these bytes and then wait until the other side goes."""

    def fault(connection: socket.socket) -> None:
        connection.sendall(data)
        while connection.recv(4096):
            pass

    return fault


def floods_after(data: bytes, piece: bytes) -> Fault:
    """Answer with these bytes and then the same piece for ever."""

    def fault(connection: socket.socket) -> None:
        connection.sendall(data)
        while True:
            connection.sendall(piece)

    return fault

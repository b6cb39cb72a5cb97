"""A connection to the adb server: bytes with a deadline, and the framing of the server's protocol.

A request is four hexadecimal digits of its length and its text; the answer begins with OKAY, or with FAIL and
a reason framed the same way (AOSP packages/modules/adb, OVERVIEW.TXT and SERVICES.TXT).

A virtual phone that has stopped leaves `ANDROID_ADB_SERVER_PORT` behind in terminals. A real adb server that
is started there would list the user's real phones under a variable that was meant for the virtual one, so the
ports at which this user's virtual phones have answered are kept.

adbutils, which finds the adb program, does not replace this connection, nor the list of devices, the file
transfer and the installation on it (adbutils 2.12). Its timeouts are for one read, not for a whole command,
and its file transfer has none. It sends with `socket.send` and loses what that leaves over, sets no limit to
an output, and knows no Unix socket (`ADB_SERVER_SOCKET`). It loads 193 modules more, waits 10 ms each time it
closes a connection, and takes 25 ms for a command in place of 0.7 (docs/internals/benchmarks.md).
"""

from __future__ import annotations

import re
import selectors
import socket
import threading
import time
from pathlib import Path
from typing import Final, Self

from droidgate.devices.device_errors import (
    CanceledError,
    DeadlineError,
    DeviceGoneError,
    ProtocolError,
    UnsafeArgumentError,
    excerpt,
)
from droidgate_mappings.records import dataclass, field
from droidgate_mappings.user_folders import state_folder

_CANCEL_SECONDS: Final = 0.05
"""How often a wait looks whether it was canceled."""


@dataclass(frozen=True, slots=True)
class Deadline:
    """A moment by which something has to be complete.

    Attributes:
        seconds: How much time was given.
        doing: What has to be complete, for the error.
        place: On which device, for the error; None for the server itself.
        cancel: Ends the wait before; None where nothing can.
        end: The moment, on the monotonic clock.
    """

    seconds: float
    doing: str
    place: str | None = None
    cancel: threading.Event | None = None
    end: float = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "end", time.monotonic() + self.seconds)

    def remaining(self) -> float:
        """Return the seconds left, more than 0.

        Raises:
            DeadlineError: no time is left.
            CanceledError: the event was set.
        """
        if self.cancel is not None and self.cancel.is_set():
            raise CanceledError(f"{self.doing} was canceled", place=self.place)
        seconds = self.end - time.monotonic()
        if seconds <= 0:
            raise self.missed()
        return seconds

    def wait(self, selector: selectors.BaseSelector) -> list[tuple[selectors.SelectorKey, int]]:
        """Return what is ready, at least one.

        Raises:
            DeadlineError: nothing is before the deadline.
            CanceledError: the event was set.
        """
        while True:
            seconds = self.remaining()
            ready = selector.select(seconds if self.cancel is None else min(seconds, _CANCEL_SECONDS))
            if ready:
                return ready

    def missed(self) -> DeadlineError:
        """Return the error that says that it has passed."""
        return DeadlineError(
            f"{self.doing} did not end within {self.seconds:g} s",
            place=self.place,
            hint="look whether the device is awake and its connection good, then try again",
        )


def remember_port(port: int) -> None:
    """Keep the port of a virtual phone's adb server."""
    path = _file(port)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.touch(mode=0o600)


def is_remembered(port: int) -> bool:
    """Return whether a virtual phone has answered at a port."""
    return _file(port).is_file()


def _file(port: int) -> Path:
    return state_folder() / "virtual-ports" / str(port)


MAX_SERVICE_BYTES: Final = 65_535
"""Longest text of a request (reference android-runtime 1.7)."""

OKAY: Final = b"OKAY"
FAIL: Final = b"FAIL"
BLOCK_DIGITS: Final = 4

_HEXADECIMAL: Final = re.compile(rb"[0-9a-fA-F]{4}")
_PIECE: Final = 64 * 1024
_Selector: Final = getattr(selectors, "PollSelector", selectors.SelectSelector)


class RefusedError(Exception):
    """The server answered FAIL; the text is its reason."""


class Connection:
    """One socket to the adb server; a context manager."""

    def __init__(self, connected: socket.socket, deadline: Deadline) -> None:
        self._socket = connected
        self._socket.setblocking(False)
        # For one socket and a few waits: epoll would take system calls of its own for each of them.
        self._selector = _Selector()
        self._selector.register(connected, selectors.EVENT_READ)
        self._received = b""
        self.deadline = deadline

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the socket; the server ends what runs on it."""
        self._selector.close()
        self._socket.close()

    def wait(self, *, writing: bool) -> tuple[bool, bool]:
        """Wait until the socket can be read, or written where that is wanted; return which of both.

        Raises:
            DeadlineError: neither before the deadline.
        """
        if self._received:
            return True, False
        events = selectors.EVENT_READ | (selectors.EVENT_WRITE if writing else 0)
        self._selector.modify(self._socket, events)
        ready = self.deadline.wait(self._selector)
        happened = ready[0][1]
        return bool(happened & selectors.EVENT_READ), bool(happened & selectors.EVENT_WRITE)

    def send_some(self, data: memoryview) -> int:
        """Send what fits into the socket now and return how many bytes that was."""
        try:
            return self._socket.send(data[:_PIECE])
        except BlockingIOError:
            return 0
        except OSError as error:
            raise gone(self.deadline, error) from None

    def send(self, data: bytes) -> None:
        """Send all bytes.

        Raises:
            DeviceGoneError: the other side closed the connection.
            DeadlineError: it does not take them in time.
        """
        view = memoryview(data)
        while view:
            sent = self.send_some(view)
            view = view[sent:]
            if not sent:
                self._wait_to_write()

    def _wait_to_write(self) -> None:
        self._selector.modify(self._socket, selectors.EVENT_WRITE)
        self.deadline.wait(self._selector)

    def receive_some(self) -> bytes:
        """Return bytes as soon as there are any; b"" at the end.

        Raises:
            DeviceGoneError: the connection was reset.
            DeadlineError: nothing comes in time.
        """
        while True:
            # A device that never stops sending must not outlive the deadline.
            self.deadline.remaining()
            if self._received:
                piece, self._received = self._received[:_PIECE], self._received[_PIECE:]
                return piece
            try:
                return self._socket.recv(_PIECE)
            except BlockingIOError:
                self.wait(writing=False)
            except OSError as error:
                raise gone(self.deadline, error) from None

    def receive(self, length: int) -> bytes:
        """Return exactly `length` bytes.

        Raises:
            DeviceGoneError: the connection ended before.
            DeadlineError: they do not come in time.
        """
        if not length:
            return b""
        received = self.receive_some()
        pieces = [received]
        size = len(received)
        while size < length:
            if not pieces[-1]:
                raise self.ended()
            pieces.append(self.receive_some())
            size += len(pieces[-1])
        received = b"".join(pieces)
        self._received = received[length:] + self._received
        return received[:length]

    def ended(self) -> DeviceGoneError:
        """Return the error that says that the other side closed the connection too early."""
        return gone(self.deadline, None)

    def request(self, service: str) -> None:
        """Ask the server for a service and read its verdict.

        Raises:
            RefusedError: the server answers FAIL.
            ProtocolError: it says neither OKAY nor FAIL.
            UnsafeArgumentError: the request is too long, or no UTF-8.
        """
        self.send(frame_request(service))
        self.read_verdict()

    def read_verdict(self) -> None:
        """Read OKAY, or FAIL with its reason.

        Raises:
            RefusedError: FAIL.
            ProtocolError: neither.
        """
        verdict = self.receive(len(OKAY))
        if verdict == OKAY:
            return
        if verdict != FAIL:
            raise no_verdict(verdict)
        raise RefusedError(self.read_block().decode("utf-8", "backslashreplace"))

    def read_block(self) -> bytes:
        """Return a text framed by four hexadecimal digits.

        Raises:
            ProtocolError: there are no such digits.
        """
        return self.receive(length_of_block(self.receive(BLOCK_DIGITS)))


def length_of_block(digits: bytes) -> int:
    """Return the length that four hexadecimal digits say.

    Raises:
        ProtocolError: they are no such digits.
    """
    if _HEXADECIMAL.fullmatch(digits) is None:
        digits_text = excerpt(digits.decode("latin-1"))
        raise ProtocolError(f"the adb server sent {digits_text!r} in place of a length")
    return int(digits, 16)


def gone(deadline: Deadline, error: OSError | None) -> DeviceGoneError:
    """Return the error that says that the other side closed a connection, and why."""
    reason = "" if error is None else f" ({error.strerror or error})"
    return DeviceGoneError(
        f"the connection ended while {deadline.doing} was going on{reason}",
        place=deadline.place,
        hint="look whether the device is still attached: droidgate devices",
    )


def no_verdict(answer: bytes) -> ProtocolError:
    """Return the error for an answer that is neither OKAY nor FAIL."""
    return ProtocolError(
        f"the adb server answered {excerpt(answer.decode('latin-1'))!r} in place of OKAY or FAIL",
        hint="something else than an adb server may listen on that port",
    )


def frame_request(service: str) -> bytes:
    """Return a request as the server reads it.

    Raises:
        UnsafeArgumentError: it is longer than the protocol allows, or holds what UTF-8 cannot.
    """
    try:
        text = service.encode()
    except UnicodeEncodeError:
        raise UnsafeArgumentError("the command holds half of a surrogate pair") from None
    if len(text) > MAX_SERVICE_BYTES:
        raise UnsafeArgumentError(
            f"the command has {len(text)} bytes, adb takes {MAX_SERVICE_BYTES}",
            hint="send large data through standard input or as a file",
        )
    return b"%04x%s" % (len(text), text)

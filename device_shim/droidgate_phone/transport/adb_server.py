"""The adb server's protocol, for phones that this process runs: no adb binary is needed.

Facts: AOSP `packages/modules/adb` docs/dev/services.md (host services), adb.cpp (`handle_host_request`),
transport.cpp (`acquire_one_transport`, `append_transport`), client/commandline.cpp (`wait-for`).
"""

from __future__ import annotations

import contextlib
import itertools
import re
import select
import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final

from droidgate_phone.common.event_log import EventLog
from droidgate_phone.common.faults import Faults
from droidgate_phone.transport.adb_services import Services, service_text
from droidgate_phone.transport.listening import Listener, Workers
from droidgate_phone.transport.local_users import can_be_known, is_from_this_user
from droidgate_phone.transport.packets import GARBAGE_EVERY
from droidgate_phone.transport.sockets import EndOfInputError, InputSocket, OutputSocket, SocketEndpoint

SERVER_VERSION: Final = 41
HOST_FEATURES: Final = (
    "shell_v2",
    "cmd",
    "stat_v2",
    "ls_v2",
    "fixed_push_mkdir",
    "fixed_push_symlink_timestamp",
    "abb",
    "abb_exec",
    "sendrecv_v2",
    "sendrecv_v2_dry_run_send",
)

_SECONDS_TO_DRAIN: Final = 2.0
_OTHER_USER: Final = "this virtual phone belongs to another user"
_UNKNOWN_USER: Final = (
    "this system does not report which user connects, so the virtual phone's adb server serves nobody; "
    "use: adb connect"
)
_UNAUTHORIZED: Final = (
    "device unauthorized.\nThis adb server's $ADB_VENDOR_KEYS is not set\n"
    "Try 'adb kill-server' if that seems wrong.\nOtherwise check for a confirmation dialog on your device."
)
_WAIT: Final = re.compile(
    r"wait-for-(any|local|usb)-(any|device|disconnect|recovery|sideload|bootloader|rescue)"
)
_TARGET_KINDS: Final = frozenset({"any", "local", "usb"})


class _RefusedError(Exception):
    """The request fails with a text for the client."""


@dataclass(eq=False)
class AttachedPhone:
    """A phone as the server shows it.

    Attributes:
        serial: `127.0.0.1:PORT`.
        services: What can be opened on it.
        faults: Returns the faults of a new connection.
        number: Its transport id.
    """

    serial: str
    services: Services
    faults: Callable[[], Faults]
    number: int = 0

    @property
    def state(self) -> str:
        """What `adb devices` says of it."""
        faults = self.faults()
        if faults.offline:
            return "offline"
        return "unauthorized" if faults.unauthorized else "device"

    def line(self, *, is_long: bool) -> str:
        """Return its line in the list of devices."""
        if not is_long:
            return f"{self.serial}\t{self.state}\n"
        about = ""
        if self.state == "device":
            banner = self.services.banner()
            model = re.sub("[^A-Za-z0-9]", "_", banner.model)
            about = f" product:{banner.product} model:{model} device:{banner.device}"
        return f"{self.serial:<22} {self.state}{about} transport_id:{self.number}\n"


@dataclass(frozen=True)
class _Target:
    """Which phone a request means: one by serial or number, or any of a kind."""

    kind: str = "any"
    serial: str | None = None
    number: int | None = None

    def fits(self, phone: AttachedPhone) -> bool:
        if self.serial is not None:
            return phone.serial == self.serial
        if self.number is not None:
            return phone.number == self.number
        return self.kind != "usb"

    def missing_text(self) -> str:
        if self.serial is not None:
            return f"device '{self.serial}' not found"
        if self.number is not None:
            return f"no device with transport id '{self.number}'"
        return "no devices found" if self.kind == "usb" else "no devices/emulators found"


@dataclass
class _Watchers:
    """Sockets of clients that wait for a change of the list of devices."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    waking: set[socket.socket] = field(default_factory=set)

    def wake(self) -> None:
        with self.lock:
            for item in self.waking:
                with contextlib.suppress(OSError):
                    item.send(b"x")


class AdbServer:
    """Answers adb clients of the same user on a loopback port.

    Args:
        port: Its number, 0 for a free one.

    Raises:
        OSError: the port is taken.
    """

    def __init__(self, port: int, *, log: EventLog, workers: Workers) -> None:
        self.watchers = _Watchers()
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)
        self._phones: list[AttachedPhone] = []

        def connect(connected: socket.socket) -> _Client:
            return _Client(self, connected, log)

        self._listener = Listener(port, "adb server", connect, log=log, workers=workers)
        self.port = self._listener.port

    def add(self, phone: AttachedPhone) -> None:
        """Show a phone."""
        with self._lock:
            phone.number = next(self._numbers)
            self._phones.append(phone)
        self.watchers.wake()

    def remove(self, phone: AttachedPhone) -> None:
        """Show a phone no longer."""
        with self._lock:
            self._phones.remove(phone)
        self.watchers.wake()

    def phones(self) -> list[AttachedPhone]:
        """Return the phones that are shown."""
        with self._lock:
            return list(self._phones)

    def close(self) -> None:
        """Accept no more clients and end every connection."""
        self._listener.close()


class _Client:
    """One client's connection."""

    def __init__(self, server: AdbServer, connected: socket.socket, log: EventLog) -> None:
        self._server = server
        self._socket = connected
        self._log = log
        self._input = InputSocket(connected)
        self.output = OutputSocket(connected, Faults())
        self._phone: AttachedPhone | None = None

    def run(self) -> None:
        """Answer requests until the connection ends."""
        try:
            if is_from_this_user(self._socket):
                while self._answer():
                    pass
            else:
                self._refuse_user()
            self._wait_for_reader()
        except (EndOfInputError, OSError):
            pass
        finally:
            self.output.end()
            self._socket.close()

    def end(self) -> None:
        """End the connection, from any thread."""
        self.output.end()

    def _wait_for_reader(self) -> None:
        """Let the client read what is under way: closing a socket with unread bytes would reset it."""
        self._socket.shutdown(socket.SHUT_WR)
        self._socket.settimeout(_SECONDS_TO_DRAIN)
        while self._socket.recv(4096):
            pass

    def _refuse_user(self) -> None:
        reason = _OTHER_USER if can_be_known() else _UNKNOWN_USER
        self._log.record("refused-connection", by="adb server", reason=reason)
        self._send("FAIL", reason)

    def _answer(self) -> bool:
        """Answer one request; return whether another may follow."""
        length = bytes(self._input.read_exactly(4))
        if not re.fullmatch(b"[0-9a-fA-F]{4}", length):
            self._log.record("protocol-error", wire="server", reason=f"{length!r} is not a length")
            return False
        request = bytes(self._input.read_exactly(int(length, 16)))
        name = request.decode("utf-8", "surrogateescape")
        try:
            if name.startswith("host"):
                self._log.record("host-service", service=service_text(request))
                return self._answer_host(name)
            self._open_on_phone(request)
        except _RefusedError as refused:
            self._log.record("refused-service", service=service_text(request), reason=str(refused))
            self._send("FAIL", str(refused))
        return False

    def _send(self, status: str, text: str | None = None) -> None:
        content = b"" if text is None else text.encode("utf-8", "surrogateescape")
        length = b"" if text is None else f"{len(content):04x}".encode()
        self.output.send(status.encode() + length + content)

    def _answer_host(self, name: str) -> bool:
        prefix, _, request = name.partition(":")
        target = _Target()
        if prefix == "host-serial":
            serial, request = _split_serial(request)
            target = _Target(serial=serial)
        elif prefix == "host-transport-id":
            number, _, request = request.partition(":")
            target = _Target(number=_number(number))
        elif prefix in {"host-usb", "host-local"}:
            target = _Target(kind=prefix.removeprefix("host-"))
        elif prefix != "host":
            raise _RefusedError(f"unknown host service '{name}'")
        if request.startswith(("transport", "tport:")):
            self._choose_phone(request)
            return True
        self._answer_request(request, target)
        return False

    def _choose_phone(self, request: str) -> None:
        kind, colon, rest = request.partition(":")
        if kind == "tport":
            is_serial = rest.startswith("serial:")
            target = _Target(serial=rest.removeprefix("serial:")) if is_serial else _Target(kind=rest)
        elif colon:
            target = _Target(number=_number(rest)) if kind == "transport-id" else _Target(serial=rest)
        else:
            target = _Target(kind=kind.removeprefix("transport-"))
        if target.kind not in _TARGET_KINDS:
            raise _RefusedError(f"unknown host service 'host:{request}'")
        self._phone = self._find_phone(target)
        number = self._phone.number.to_bytes(8, "little") if kind == "tport" else b""
        self.output.send(b"OKAY" + number)

    def _find_phone(self, target: _Target, *, in_any_state: bool = False) -> AttachedPhone:
        phones = [phone for phone in self._server.phones() if target.fits(phone)]
        if not phones:
            raise _RefusedError(target.missing_text())
        if len(phones) > 1:
            raise _RefusedError(
                f"more than one {'emulator' if target.kind == 'local' else 'device/emulator'}"
            )
        if not in_any_state and phones[0].state != "device":
            raise _RefusedError(_UNAUTHORIZED if phones[0].state == "unauthorized" else "device offline")
        return phones[0]

    def _answer_request(self, request: str, target: _Target) -> None:
        word = request.partition(":")[0]
        if word == "version":
            self._send("OKAY", f"{SERVER_VERSION:04x}")
        elif word == "host-features":
            self._send("OKAY", ",".join(HOST_FEATURES))
        elif word == "kill":
            raise _RefusedError("kill-server rejected by remote server")
        elif word in {"devices", "devices-l"}:
            self._send("OKAY", self._list(is_long=word == "devices-l"))
        elif word in {"track-devices", "track-devices-l"}:
            self._track(is_long=word == "track-devices-l")
        elif word in {"features", "get-serialno", "get-devpath", "get-state"}:
            self._send_state(word, self._phone or self._find_phone(target))
        elif word == "list-forward":
            self._send("OKAY", "")
        elif (wait := _WAIT.fullmatch(word)) is not None:
            self._wait_for(wait[1], wait[2], target)
        else:
            raise _RefusedError(f"unknown host service '{request}'")

    def _list(self, *, is_long: bool) -> str:
        phones = sorted(self._server.phones(), key=lambda phone: phone.serial)
        return "".join(phone.line(is_long=is_long) for phone in phones)

    def _send_state(self, what: str, phone: AttachedPhone) -> None:
        if what == "features":
            self._send("OKAY", ",".join(phone.services.banner().features))
        else:
            values = {"get-serialno": phone.serial, "get-devpath": "unknown", "get-state": phone.state}
            self._send("OKAY", values[what])

    def _track(self, *, is_long: bool) -> None:
        self._send("OKAY")
        sent_listing: str | None = None
        with self._changes() as waited:
            while True:
                listed = self._list(is_long=is_long)
                if listed != sent_listing:
                    self._send("", listed)
                    sent_listing = listed
                if not waited():
                    return

    def _wait_for(self, kind: str, state: str, target: _Target) -> None:
        if target == _Target():
            target = _Target(kind=kind)
        self._send("OKAY")
        with self._changes() as waited:
            while not self._is_in_state(target, state):
                if not waited():
                    return
        self._send("OKAY")

    def _is_in_state(self, target: _Target, state: str) -> bool:
        try:
            phone = self._find_phone(target, in_any_state=True)
        except _RefusedError as refused:
            if str(refused).startswith("more than one"):
                raise
            return state == "disconnect"
        return state in {"any", phone.state}

    @contextlib.contextmanager
    def _changes(self) -> Iterator[Callable[[], bool]]:
        """Give a function that waits for a change of the list; it returns false when the client is gone."""
        waking, woken = socket.socketpair()
        watchers = self._server.watchers
        with watchers.lock:
            watchers.waking.add(waking)

        def waited() -> bool:
            ready, _, _ = select.select([self._socket, woken], [], [])
            if self._socket in ready:
                return bool(self._socket.recv(4096))
            return bool(woken.recv(4096))

        try:
            yield waited
        finally:
            with watchers.lock:
                watchers.waking.discard(waking)
            waking.close()
            woken.close()

    def _open_on_phone(self, request: bytes) -> None:
        if self._phone is None:
            raise _RefusedError("no device was chosen before this service")
        phone = self._phone
        name = request.rstrip(b"\0")
        service = phone.services.find(name)
        if service is None:
            raise _RefusedError("closed")
        # What the phone sends passes its faulty link; what the server says itself does not.
        faults = phone.faults()
        output = self.output
        if faults != Faults():
            output = OutputSocket(self._socket, faults)
            self.output.on_end(output.end)
        self.output.send(b"OKAY")
        endpoint = SocketEndpoint(self._input, output, ends_at_write=GARBAGE_EVERY if faults.garbage else 0)
        with contextlib.suppress(BrokenPipeError):
            service(endpoint)


def _split_serial(text: str) -> tuple[str, str]:
    """Split `127.0.0.1:5555:get-state`: a serial may have the colon of its port."""
    host, _, rest = text.partition(":")
    port, colon, request = rest.partition(":")
    if colon and port.isdecimal():
        return f"{host}:{port}", request
    return host, rest


def _number(text: str) -> int:
    if not re.fullmatch("[0-9]{1,18}", text):
        raise _RefusedError("invalid transport id")
    return int(text)

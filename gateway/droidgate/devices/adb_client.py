"""A client of the adb server: which devices there are, and connections to services on them.

Every device is named by its serial in every request. The server on loopback asks nobody who they are: each
local user can use it (reference android-runtime 3.2).
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Generator
from typing import Any, Final

from droidgate.devices.connection import Connection, Deadline, RefusedError, is_remembered
from droidgate.devices.device_errors import (
    DeviceGoneError,
    DeviceStateError,
    NoDeviceError,
    ProtocolError,
    ServerUnreachableError,
    ServerVersionError,
    excerpt,
)
from droidgate.devices.device_list import STATE_HINTS, ListedDevice, read_devices
from droidgate.devices.quoting import check_serial
from droidgate_mappings.model.errors import DeviceError
from droidgate_mappings.records import dataclass

DEFAULT_PORT: Final = 5037
LEAST_VERSION: Final = 41
"""The server's protocol since platform tools 28.0.2; it has transport ids, which reveal a reconnect."""

_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1", "ip6-localhost"})
_VERSION: Final = re.compile(rb"[0-9a-fA-F]{1,8}")
_SECONDS: Final = 10.0
_SECONDS_TO_START: Final = 20.0
_INSTALL_HINT: Final = "install Android's platform tools, or use the virtual phone: droidgate phone start"


@dataclass(frozen=True, slots=True)
class ServerAddress:
    """Where the server listens: host and port, or the path of a socket.

    Attributes:
        host: Name or address; empty with a path.
        port: TCP port; 0 with a path.
        path: A Unix socket, or None.
    """

    host: str = "127.0.0.1"
    port: int = DEFAULT_PORT
    path: str | None = None

    def __str__(self) -> str:
        return f"localfilesystem:{self.path}" if self.path else f"tcp:{self.host}:{self.port}"

    @property
    def as_own(self) -> str:
        """It as `adb -L` takes it: with a host, even 127.0.0.1, adb starts no server."""
        return str(self) if self.path else f"tcp:{self.port}"

    @property
    def is_local(self) -> bool:
        """It is on this machine, so that a server can be started there."""
        return self.path is not None or self.host in _LOOPBACK


def server_address() -> ServerAddress:
    """Return the address that adb's own variables name.

    `ADB_SERVER_SOCKET` wins; else `ANDROID_ADB_SERVER_ADDRESS` and `ANDROID_ADB_SERVER_PORT`.

    Raises:
        ServerUnreachableError: a variable holds no address.
    """
    socket_name = os.environ.get("ADB_SERVER_SOCKET")
    if socket_name:
        return _read_socket(socket_name)
    host = os.environ.get("ANDROID_ADB_SERVER_ADDRESS") or "127.0.0.1"
    port = os.environ.get("ANDROID_ADB_SERVER_PORT") or str(DEFAULT_PORT)
    return ServerAddress(host, _read_port(port, "ANDROID_ADB_SERVER_PORT"))


def _read_socket(named: str) -> ServerAddress:
    kind, _, rest = named.partition(":")
    if kind == "localfilesystem" and rest:
        return ServerAddress("", 0, rest)
    if kind == "tcp" and rest:
        host, _, port = rest.rpartition(":")
        return ServerAddress(host.strip("[]") or "127.0.0.1", _read_port(port, "ADB_SERVER_SOCKET"))
    raise ServerUnreachableError(
        f"ADB_SERVER_SOCKET={excerpt(named)} is not an address that droidgate knows",
        hint="write tcp:PORT, tcp:HOST:PORT or localfilesystem:PATH",
    )


def _read_port(text: str, variable: str) -> int:
    if text.isascii() and text.isdecimal() and 0 < int(text) < 65_536:  # noqa: PLR2004
        return int(text)
    raise ServerUnreachableError(f"{variable} is {excerpt(text)!r}; expected a port from 1 to 65535")


class AdbClient:
    """A client of the adb server.

    Args:
        address: Where it listens; what adb's variables say where it is None.
        may_start: Start a server where none answers.
    """

    def __init__(self, address: ServerAddress | None = None, *, may_start: bool = True) -> None:
        self.address = address or server_address()
        self._may_start = may_start
        self._checked = False

    def version(self) -> int:
        """Return the version of its protocol.

        Raises:
            ServerUnreachableError: nothing answers.
            ServerVersionError: what answers is not an adb server.
        """
        deadline = Deadline(_SECONDS, "the version of the adb server", str(self.address))
        try:
            with self._connect(deadline) as connection:
                connection.request("host:version")
                version = connection.read_block()
        except (ProtocolError, DeviceGoneError, RefusedError) as error:
            reason = error.message if isinstance(error, DeviceError) else excerpt(str(error))
            raise ServerVersionError(
                f"what listens there is not an adb server: {reason}",
                place=str(self.address),
                hint="choose another port by ANDROID_ADB_SERVER_PORT",
            ) from None
        if _VERSION.fullmatch(version) is None:
            version_text = excerpt(version.decode("latin-1"))
            raise ServerVersionError(f"its version is {version_text!r}", place=str(self.address))
        return int(version, 16)

    def ensure(self) -> None:
        """See to it that a server answers that can be used; start one where none does.

        A server of another version is never ended: others may use it.

        Raises:
            ServerUnreachableError: none answers and none can be started.
            ServerVersionError: the one that answers cannot be used.
        """
        if self._checked:
            return
        try:
            version = self.version()
        except ServerUnreachableError:
            if not self._may_start:
                raise
            start_server(self.address)
            version = self.version()
        if version < LEAST_VERSION:
            raise ServerVersionError(
                f"an adb server of version {version} is running, {LEAST_VERSION} is needed",
                place=str(self.address),
                hint="end it with the adb that started it (adb kill-server), or use a server of your own: "
                "ANDROID_ADB_SERVER_PORT=5038",
            )
        self._checked = True

    def devices(self) -> tuple[ListedDevice, ...]:
        """Return what is attached, in whatever state.

        Raises:
            DeviceError: the server cannot be reached, or its answer cannot be read.
        """
        return read_devices(self.ask("host:devices-l").decode("utf-8", "backslashreplace"))

    def watch(self, seconds: float) -> Generator[tuple[ListedDevice, ...]]:
        """Yield what is attached: now, and at every change until the time is over.

        Raises:
            DeadlineError: the time is over.
            DeviceError: the server cannot be reached, went away, or its answer cannot be read.
        """
        self.ensure()
        with self._connect(Deadline(seconds, "waiting for devices")) as connection:
            try:
                connection.request("host:track-devices")
            except RefusedError as refused:
                raise error_of_refusal(str(refused), None) from None
            while True:
                yield read_devices(connection.read_block().decode("utf-8", "backslashreplace"))

    def wait_for(self, serial: str, seconds: float) -> None:
        """Wait until a device is ready.

        Raises:
            DeadlineError: it was not in time.
            DeviceError: the server cannot be reached, went away, or its answer cannot be read.
        """
        check_serial(serial)
        with contextlib.closing(self.watch(seconds)) as lists:
            for devices in lists:
                if any(device.serial == serial and device.ready for device in devices):
                    return

    def features(self, serial: str, deadline: Deadline | None = None) -> frozenset[str]:
        """Return the features of a device's adb daemon.

        Raises:
            DeviceError: the device cannot be reached.
        """
        service = f"host-serial:{check_serial(serial)}:features"
        features = self.ask(service, serial=serial, deadline=deadline)
        return frozenset(part for part in features.decode("utf-8", "backslashreplace").split(",") if part)

    def ask(self, service: str, *, serial: str | None = None, deadline: Deadline | None = None) -> bytes:
        """Return the answer of a service of the server itself.

        Args:
            service: The service.
            serial: The device that it is about, for errors.
            deadline: The deadline of the whole task; where it is None, this step has its own.

        Raises:
            DeviceError: the server cannot be reached or refuses.
        """
        self.ensure()
        with self._connect(deadline or Deadline(_SECONDS, service, serial)) as connection:
            try:
                connection.request(service)
                return connection.read_block()
            except RefusedError as refused:
                raise error_of_refusal(str(refused), serial) from None

    def choose(self, serial: str, deadline: Deadline) -> tuple[Connection, int]:
        """Return a connection on which the next request goes to that device, and the transport's number.

        Raises:
            DeviceError: the device is not there, or not ready.
        """
        self.ensure()
        connection = self._connect(deadline)
        with contextlib.ExitStack() as cleanup:
            cleanup.enter_context(connection)
            try:
                connection.request(choice_of(serial))
            except RefusedError as refused:
                raise error_of_refusal(str(refused), serial) from None
            transport = int.from_bytes(connection.receive(8), "little")
            cleanup.pop_all()
        return connection, transport

    def _connect(self, deadline: Deadline) -> Connection:
        address = self.address
        try:
            if address.path is not None:
                connected = _connect_unix(address.path, deadline)
            else:
                # As bytes, since text is encoded by a codec that takes longer to import than to connect.
                host: Any = address.host.encode() if address.host.isascii() else address.host
                connected = socket.create_connection((host, address.port), deadline.remaining())
                connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except TimeoutError:
            raise deadline.missed() from None
        except OSError as error:
            raise ServerUnreachableError(
                f"no adb server answers ({error.strerror or error})",
                place=str(address),
                hint="start one: adb start-server",
            ) from None
        return Connection(connected, deadline)


def choice_of(serial: str) -> str:
    """Return the request after which the next one goes to a device.

    Raises:
        UnsafeArgumentError: it is not a serial.
    """
    return f"host:tport:serial:{check_serial(serial)}"


def _connect_unix(path: str, deadline: Deadline) -> socket.socket:
    if sys.platform == "win32":
        raise OSError("Python has no Unix sockets on Windows")
    connected = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connected.settimeout(deadline.remaining())
        connected.connect(path)
    except BaseException:
        connected.close()
        raise
    return connected


def error_of_refusal(reason: str, serial: str | None) -> DeviceError:
    """Return the error for what the server says about a device (AOSP adb, transport.cpp)."""
    short_reason = excerpt(reason)
    if "not found" in reason or "no devices" in reason:
        return NoDeviceError("no such device is attached", place=serial, hint="see: droidgate devices")
    words = {
        "offline": "offline",
        "unauthorized": "unauthorized",
        "still authorizing": "authorizing",
        "still connecting": "connecting",
        "insufficient permissions": "no permissions",
        "no permissions": "no permissions",
    }
    for word, state in words.items():
        if word in reason:
            return DeviceStateError(serial or "the device", state, hint=STATE_HINTS[state])
    if reason in {"closed", "device closed", "transport error", "device went away"}:
        return DeviceGoneError(f"the device closed the connection: {short_reason}", place=serial)
    return DeviceError(f"adb refuses: {short_reason}", place=serial)


def start_server(address: ServerAddress) -> None:
    """Start an adb server of this user at that address with the adb program of adbutils.

    Raises:
        ServerUnreachableError: the address is another machine's or was a virtual phone's, there is no adb
            program, or it fails.
    """
    if not address.is_local:
        raise ServerUnreachableError(
            "no adb server answers there", place=str(address), hint="start it on that machine"
        )
    if address.path is None and is_remembered(address.port):
        raise ServerUnreachableError(
            "the virtual phone at this port is not running",
            place=str(address),
            hint=f"start it with `droidgate phone start --server-port {address.port}`, "
            "or unset ANDROID_ADB_SERVER_PORT",
        )
    program = find_adb()
    environment = {name: value for name, value in os.environ.items() if name not in _VARIABLES}
    try:
        ended = subprocess.run(  # noqa: S603
            [program, "-L", address.as_own, "start-server"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=environment,
            timeout=_SECONDS_TO_START,
            start_new_session=True,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ServerUnreachableError(
            f"no adb server answers, and {program} start-server fails: {error}",
            place=str(address),
            hint=_INSTALL_HINT,
        ) from None
    if ended.returncode != 0:
        raise ServerUnreachableError(
            f"{program} start-server ended with status {ended.returncode}",
            place=str(address),
            hint="another program may hold the port: choose one by ANDROID_ADB_SERVER_PORT",
        )


_VARIABLES: Final = frozenset(
    {"ANDROID_SERIAL", "ADB_SERVER_SOCKET", "ANDROID_ADB_SERVER_PORT", "ANDROID_ADB_SERVER_ADDRESS"}
)


def find_adb() -> str:
    """Return the path of an adb program: what adbutils finds, on PATH or in its own wheel.

    Raises:
        ServerUnreachableError: there is none, or `ADBUTILS_ADB_PATH` names what is not a program.
    """
    import adbutils  # type: ignore[import-untyped]

    try:
        program = str(adbutils.adb_path())
    except adbutils.AdbError:
        raise ServerUnreachableError("there is no adb program", hint=_INSTALL_HINT) from None
    if shutil.which(program) is None:
        raise ServerUnreachableError(f"{program} is not an adb program", hint=_INSTALL_HINT)
    return program

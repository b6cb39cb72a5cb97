"""Everything of a phone that listens: its adbd, and an adb server where one is wanted."""

from __future__ import annotations

import socket
from collections.abc import Callable
from types import TracebackType
from typing import Final, Self

from droidgate_phone.common.event_log import EventLog
from droidgate_phone.common.faults import Faults
from droidgate_phone.transport.adb_keys import AuthorizedKeys
from droidgate_phone.transport.adb_server import AdbServer, AttachedPhone
from droidgate_phone.transport.adb_services import Services, Userland
from droidgate_phone.transport.device_connection import DeviceConnection
from droidgate_phone.transport.listening import Listener, Workers

_SECONDS_TO_END: Final = 10.0


class PhoneWire:
    """A context manager that listens until it is closed.

    Args:
        userland: The phone behind it.
        keys: Which adb hosts may use the device protocol.
        faults: Returns the faults of each new connection.
        log: Where events go.
        port: The port of the device protocol, 0 for a free one.
        server_port: The port of the adb server's protocol, 0 for a free one, None for no server.
        server: The adb server of another phone that lists this one too; `server_port` is None then.

    Raises:
        OSError: a port is taken.
    """

    def __init__(
        self,
        userland: Userland,
        *,
        keys: AuthorizedKeys,
        log: EventLog,
        faults: Callable[[], Faults] = Faults,
        port: int = 0,
        server_port: int | None = None,
        server: AdbServer | None = None,
    ) -> None:
        self._log = log
        self._workers = Workers()
        services = Services(userland, log)

        def connect(connected: socket.socket) -> DeviceConnection:
            return DeviceConnection(
                connected, services, keys=keys, faults=faults(), log=log, workers=self._workers
            )

        self._device = Listener(port, "adbd", connect, log=log, workers=self._workers)
        self._own_server: AdbServer | None = None
        try:
            if server_port is not None:
                self._own_server = AdbServer(server_port, log=log, workers=self._workers)
        except OSError:
            self.close()
            raise
        self.server = self._own_server or server
        self._served = AttachedPhone(self.serial, services, faults)
        if self.server is not None:
            self.server.add(self._served)

    @property
    def port(self) -> int:
        """The port of the device protocol, on 127.0.0.1."""
        return self._device.port

    @property
    def server_port(self) -> int | None:
        """The port of the adb server's protocol, None without a server."""
        return None if self.server is None else self.server.port

    @property
    def serial(self) -> str:
        """What `adb devices` calls the phone."""
        return f"127.0.0.1:{self.port}"

    def end_connections(self) -> None:
        """Accept no more connections and end those that there are; commands may still run."""
        server = getattr(self, "server", None)
        if server is not None and server is not self._own_server:
            server.remove(self._served)
            self.server = None
        self._device.close()
        if self._own_server is not None:
            self._own_server.close()

    def close(self) -> None:
        """End every connection and wait for the commands that still run."""
        self.end_connections()
        running_threads = self._workers.join(_SECONDS_TO_END)
        if running_threads:
            self._log.record("left-running", threads=running_threads)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

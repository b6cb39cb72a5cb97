"""A host's connection to adbd: handshake, and many streams over one socket.

Facts: AOSP `packages/modules/adb` protocol.txt, adb.cpp (`handle_packet`), transport.cpp (`check_header`),
daemon/auth.cpp.
"""

from __future__ import annotations

import itertools
import os
import socket
import threading
from collections.abc import Callable
from typing import Final

from droidgate_phone.event_log import EventLog
from droidgate_phone.faults import Faults
from droidgate_phone.transport.adb_keys import TOKEN_BYTES, AuthorizedKeys
from droidgate_phone.transport.device_stream import DeviceStream
from droidgate_phone.transport.listening import Listener
from droidgate_phone.transport.packets import (
    GARBAGE_EVERY,
    LARGEST_PAYLOAD,
    VERSION_WITH_CHECKSUMS,
    VERSION_WITHOUT_CHECKSUMS,
    Packet,
    PacketError,
    pack_header,
    payload_checksum,
    read_packet,
)
from droidgate_phone.transport.services import Services, service_text
from droidgate_phone.transport.sockets import EndOfInputError, InputSocket, OutputSocket
from droidgate_phone.transport.workers import Workers

_TOKEN: Final = 1
_SIGNATURE: Final = 2
_PUBLIC_KEY: Final = 3
_FREE_ATTEMPTS: Final = 256
_SECONDS_PER_ATTEMPT: Final = 1.0
"""How long adbd waits after each wrong signature when a host has sent more than the free ones."""

_LARGEST_BANNER: Final = 4096
"""Before a host is online, no packet may carry more (`MAX_PAYLOAD_V1`)."""


class DeviceConnection:
    """One connection; `run` handles it until it ends.

    Args:
        connected: The socket, which this closes in the end.
        services: What can be opened.
        keys: Which hosts are authorized.
        faults: The faults of this connection.
        log: Where events go.
        workers: Runs one thread for each open service.
    """

    def __init__(
        self,
        connected: socket.socket,
        services: Services,
        *,
        keys: AuthorizedKeys,
        faults: Faults,
        log: EventLog,
        workers: Workers,
    ) -> None:
        self._socket = connected
        self._services = services
        self._keys = keys
        self._faults = faults
        self._log = log
        self._workers = workers
        self._input = InputSocket(connected)
        self._output = OutputSocket(connected, faults)
        self._lock = threading.Lock()
        self._streams: dict[int, DeviceStream] = {}
        self._own_ids = itertools.count(1)
        self._sent_packets = itertools.count(1)
        self._is_online = False
        self._token: bytes | None = None
        self._wrong_signatures = 0
        self._ended = threading.Event()
        self._host_version = VERSION_WITH_CHECKSUMS
        self._host = ""
        self._version = VERSION_WITH_CHECKSUMS
        self._taken_payload = min(faults.maximum_payload or LARGEST_PAYLOAD, LARGEST_PAYLOAD)
        self._largest_payload = self._taken_payload

    def run(self) -> None:
        """Handle packets until the connection ends."""
        try:
            while True:
                limit = self._taken_payload if self._is_online else _LARGEST_BANNER
                self._handle(read_packet(self._input, largest_payload=limit))
        except EndOfInputError:
            reason = "closed"
        except PacketError as error:
            reason = str(error)
            self._log.record("protocol-error", wire="device", reason=reason)
        except OSError as error:
            reason = str(error)
        finally:
            self._abandon_streams()
            self._output.end()
            self._socket.close()
        self._log.record("disconnected", wire="device", reason=reason)

    def end(self) -> None:
        """End the connection, from any thread."""
        self._ended.set()
        self._output.end()

    def _handle(self, packet: Packet) -> None:
        self._check_payload(packet)
        if packet.command == "CNXN":
            self._shake_hands(packet)
        elif packet.command == "AUTH":
            self._authenticate(packet)
        elif not self._is_online:
            self._log.record("ignored-packet", command=packet.command, reason="no handshake yet")
        elif packet.command == "OPEN":
            self._open(packet)
        elif packet.command == "OKAY":
            self._take_okay(packet)
        elif packet.command == "WRTE":
            self._take_payload(packet)
        else:
            self._take_close(packet)

    def _check_payload(self, packet: Packet) -> None:
        """Check a payload's checksum; a CNXN may have the old version's or already none."""
        skips = VERSION_WITHOUT_CHECKSUMS
        version = packet.first if packet.command == "CNXN" else self._version
        may_skip = version >= skips and (packet.command != "CNXN" or not packet.checksum)
        if not may_skip and packet.checksum != payload_checksum(packet.payload):
            raise PacketError(f"the checksum of {packet.command} is wrong")

    def _shake_hands(self, packet: Packet) -> None:
        self._abandon_streams()
        self._is_online = False
        self._version = VERSION_WITH_CHECKSUMS
        if self._faults.offline:
            self._log.record("fault", fault="offline", what="no answer to CNXN")
            return
        if not packet.second:
            raise PacketError("CNXN that takes no payload")
        self._largest_payload = min(self._taken_payload, packet.second)
        self._host_version = packet.first
        self._host = service_text(bytes(packet.payload))
        self._send_token()

    def _send_token(self) -> None:
        """Ask for a signature; a token is good for one attempt."""
        self._token = os.urandom(TOKEN_BYTES)
        self._send(Packet("AUTH", _TOKEN, 0, self._token))

    def _authenticate(self, packet: Packet) -> None:
        token, self._token = self._token, None
        if packet.first == _SIGNATURE and token is not None:
            if not self._faults.unauthorized and self._keys.have_signed(token, bytes(packet.payload)):
                self._go_online()
                return
            self._wrong_signatures += 1
            self._log.record("wrong-signature", host=self._host, attempt=self._wrong_signatures)
            if self._wrong_signatures > _FREE_ATTEMPTS and self._ended.wait(_SECONDS_PER_ATTEMPT):
                return
            self._send_token()
        elif packet.first == _PUBLIC_KEY and not self._is_online:
            # A phone asks its user now. A public key is not secret: sending an authorized one proves nothing.
            self._log.record("unauthorized", host=self._host, key=service_text(bytes(packet.payload[-64:])))
        else:
            self._log.record("ignored-packet", command="AUTH", reason="not requested")

    def _go_online(self) -> None:
        banner = self._services.banner().text().encode()[:_LARGEST_BANNER]
        # The answer to a host is still in the old version's form; both sides know the version from then on.
        self._send(Packet("CNXN", VERSION_WITHOUT_CHECKSUMS, self._taken_payload, banner))
        self._version = min(VERSION_WITHOUT_CHECKSUMS, self._host_version)
        self._wrong_signatures = 0
        self._is_online = True
        self._log.record("connected", wire="device", version=f"{self._version:08x}", host=self._host)

    def _open(self, packet: Packet) -> None:
        if not packet.first or packet.second:
            raise PacketError(f"OPEN with the stream numbers {packet.first} and {packet.second}")
        name = bytes(packet.payload).rstrip(b"\0")
        service = self._services.find(name)
        if service is not None and not self._workers.has_room():
            self._log.record("refused-service", service=service_text(name), reason="too many at one time")
            service = None
        if service is None:
            self._send(Packet("CLSE", 0, packet.first))
            return
        stream = DeviceStream(
            next(self._own_ids),
            packet.first,
            largest_payload=self._largest_payload,
            send=self._send,
            forget=self._forget,
        )
        with self._lock:
            self._streams[stream.own_id] = stream
        self._send(Packet("OKAY", stream.own_id, stream.peer_id))

        def serve() -> None:
            try:
                service(stream)
            finally:
                stream.close()

        self._workers.start(f"adb service {service_text(name)[:40]}", serve)

    def _take_okay(self, packet: Packet) -> None:
        stream = self._find_stream(packet)
        if stream is not None:
            stream.take_okay()
        elif packet.first and packet.second:
            self._send(Packet("CLSE", packet.second, packet.first))

    def _take_payload(self, packet: Packet) -> None:
        stream = self._find_stream(packet)
        if stream is not None:
            stream.take_payload(packet.payload)

    def _take_close(self, packet: Packet) -> None:
        stream = self._find_stream(packet)
        if stream is not None:
            stream.take_close()
            self._send(Packet("CLSE", stream.own_id, stream.peer_id))

    def _find_stream(self, packet: Packet) -> DeviceStream | None:
        """Return the stream of a packet; old hosts close with 0 as their own number."""
        with self._lock:
            stream = self._streams.get(packet.second)
        if stream is None or not stream.is_open:
            return None
        is_old_close = packet.command == "CLSE" and packet.first == 0
        return stream if stream.peer_id == packet.first or is_old_close else None

    def _forget(self, own_id: int) -> None:
        with self._lock:
            self._streams.pop(own_id, None)

    def _abandon_streams(self) -> None:
        with self._lock:
            streams = list(self._streams.values())
        for stream in streams:
            stream.abandon()

    def _send(self, packet: Packet) -> None:
        header = pack_header(packet, with_checksum=self._version < VERSION_WITHOUT_CHECKSUMS)
        if self._faults.garbage and next(self._sent_packets) % GARBAGE_EVERY == 0:
            # Real hosts look past a wrong magic and wait for ever; a wrong length ends their connection.
            header = b"\xff" * len(header)
        self._output.send(header, packet.payload)


def listen_for_hosts(
    port: int,
    services: Services,
    *,
    keys: AuthorizedKeys,
    faults: Callable[[], Faults],
    log: EventLog,
    workers: Workers,
) -> Listener:
    """Accept hosts on a loopback port, as adbd does on a phone.

    Args:
        port: Its number, 0 for a free one.
        services: What can be opened.
        keys: Which hosts are authorized.
        faults: Returns the faults of a new connection.
        log: Where events go.
        workers: Runs the threads.

    Raises:
        OSError: the port is taken.
    """

    def connect(connected: socket.socket) -> DeviceConnection:
        return DeviceConnection(connected, services, keys=keys, faults=faults(), log=log, workers=workers)

    return Listener(port, "adbd", connect, log=log, workers=workers)

"""A host's connection to adbd: handshake, and many streams over one socket.

Each side of a stream sends one WRTE and waits for its OKAY before the next. Facts: AOSP
`packages/modules/adb` protocol.txt, adb.cpp (`handle_packet`), transport.cpp (`check_header`),
daemon/auth.cpp.
"""

from __future__ import annotations

import itertools
import os
import socket
import threading
from collections import deque
from collections.abc import Callable
from typing import Final

from droidgate_phone.common.event_log import EventLog
from droidgate_phone.common.faults import Faults
from droidgate_phone.common.streams import read_to_end
from droidgate_phone.transport.adb_keys import TOKEN_BYTES, AuthorizedKeys
from droidgate_phone.transport.adb_services import Services, service_text
from droidgate_phone.transport.listening import Workers
from droidgate_phone.transport.packets import (
    GARBAGE_EVERY,
    LARGEST_PAYLOAD,
    VERSION_WITH_CHECKSUMS,
    VERSION_WITHOUT_CHECKSUMS,
    AdbPacket,
    PacketError,
    pack_header,
    payload_checksum,
    read_packet,
)
from droidgate_phone.transport.sockets import Buffer, EndOfInputError, InputSocket, OutputSocket

_UNREAD_UP_TO: Final = LARGEST_PAYLOAD

SendPacket = Callable[[AdbPacket], None]
"""Sends a packet; raises OSError where the connection has ended."""


class DeviceStream:
    """The phone's end of a stream.

    Args:
        own_id: Its number here.
        peer_id: Its number on the host.
        largest_payload: How many bytes one packet may carry.
        send: Sends packets on the connection.
        forget: Called when the service of the stream is done with it.
    """

    def __init__(
        self,
        own_id: int,
        peer_id: int,
        *,
        largest_payload: int,
        send: SendPacket,
        forget: Callable[[int], None],
    ) -> None:
        self.own_id = own_id
        self.peer_id = peer_id
        self._largest_payload = largest_payload
        self._send = send
        self._forget = forget
        self._changed = threading.Condition()
        self._writing = threading.Lock()
        self._unread: deque[memoryview] = deque()
        self._unread_bytes = 0
        self._owes_okay = False
        self._may_send = True
        self._is_open = True
        self._is_connected = True
        self._at_close: list[Callable[[], None]] = []
        self._at_disconnect: list[Callable[[], None]] = []

    @property
    def is_open(self) -> bool:
        """Whether neither side has closed it."""
        with self._changed:
            return self._is_open

    def on_hang_up(self, listener: Callable[[], None]) -> None:
        """Have something called when the stream ends, at once where it has ended."""
        with self._changed:
            if self._is_open:
                self._at_close.append(listener)
                return
        listener()

    def on_disconnect(self, listener: Callable[[], None]) -> None:
        """Have something called when the connection ends, at once where it has ended."""
        with self._changed:
            if self._is_connected:
                self._at_disconnect.append(listener)
                return
        listener()

    def read(self, limit: int = -1) -> bytes:
        """Return up to `limit` bytes as soon as there are any, all until the end for -1; b"" at the end."""
        if limit < 0:
            return read_to_end(self)
        with self._changed:
            self._changed.wait_for(lambda: self._unread or not self._is_open or not limit)
            content = self._take(limit)
            owes_okay = self._owes_okay and self._unread_bytes < _UNREAD_UP_TO
            if owes_okay:
                self._owes_okay = False
        if owes_okay:
            self._send_if_open(AdbPacket("OKAY", self.own_id, self.peer_id))
        return content

    def _take(self, limit: int) -> bytes:
        pieces = []
        while self._unread and limit > 0:
            piece = self._unread[0]
            if len(piece) <= limit:
                self._unread.popleft()
            else:
                self._unread[0] = piece[limit:]
                piece = piece[:limit]
            pieces.append(piece)
            limit -= len(piece)
        content = b"".join(pieces)
        self._unread_bytes -= len(content)
        return content

    def write(self, *pieces: Buffer) -> None:
        """Send the pieces in as few packets as the host takes; waits for its OKAYs.

        Raises:
            BrokenPipeError: the host has closed the stream, or the connection has ended.
        """
        with self._writing:
            for payload in _payloads(pieces, self._largest_payload):
                with self._changed:
                    self._changed.wait_for(lambda: self._may_send or not self._is_open)
                    if not self._is_open:
                        raise BrokenPipeError("the host has closed the stream")
                    self._may_send = False
                try:
                    self._send(AdbPacket("WRTE", self.own_id, self.peer_id, payload))
                except OSError as error:
                    self.abandon()
                    raise BrokenPipeError(str(error)) from error

    def close(self) -> None:
        """End the stream, which nobody serves any more, and send the host a CLSE."""
        if self._end():
            self._send_quietly(AdbPacket("CLSE", self.own_id, self.peer_id))
        self._forget(self.own_id)

    def take_close(self) -> None:
        """Handle the host's CLSE; what it sent before can still be read."""
        self._end()

    def abandon(self) -> None:
        """End the stream without a packet: the connection has ended."""
        self._end()
        with self._changed:
            self._is_connected = False
            waiting, self._at_disconnect = self._at_disconnect, []
        for listener in waiting:
            listener()

    def take_okay(self) -> None:
        """Handle the host's OKAY: the next packet may be sent."""
        with self._changed:
            self._may_send = True
            self._changed.notify_all()

    def take_payload(self, payload: Buffer) -> None:
        """Handle the host's WRTE; its OKAY waits while too much is unread.

        Raises:
            PacketError: the host did not wait for the OKAY of the packet before.
        """
        with self._changed:
            if not self._is_open:
                return
            if self._owes_okay:
                raise PacketError(f"WRTE on stream {self.own_id} before the OKAY of the last one")
            owes_okay = self._unread_bytes + len(payload) >= _UNREAD_UP_TO
        if not owes_okay:
            # Before the service can read it: in adbd, too, no answer overtakes the OKAY of what it answers.
            self._send_if_open(AdbPacket("OKAY", self.own_id, self.peer_id))
        with self._changed:
            if payload:
                self._unread.append(memoryview(payload))
                self._unread_bytes += len(payload)
            self._owes_okay = owes_okay
            self._changed.notify_all()

    def _end(self) -> bool:
        with self._changed:
            was_open, self._is_open = self._is_open, False
            waiting, self._at_close = self._at_close, []
            self._changed.notify_all()
        for listener in waiting:
            listener()
        return was_open

    def _send_if_open(self, packet: AdbPacket) -> None:
        if self.is_open:
            self._send_quietly(packet)

    def _send_quietly(self, packet: AdbPacket) -> None:
        try:
            self._send(packet)
        except OSError:
            self.abandon()


def _payloads(pieces: tuple[Buffer, ...], largest: int) -> list[Buffer]:
    if len(pieces) == 1 and len(pieces[0]) <= largest:
        return [pieces[0]] if pieces[0] else []
    joined = memoryview(b"".join(pieces))
    return [joined[start : start + largest] for start in range(0, len(joined), largest)]


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

    def _handle(self, packet: AdbPacket) -> None:
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

    def _check_payload(self, packet: AdbPacket) -> None:
        """Check a payload's checksum; a CNXN may have the old version's or already none."""
        skips = VERSION_WITHOUT_CHECKSUMS
        version = packet.first if packet.command == "CNXN" else self._version
        may_skip = version >= skips and (packet.command != "CNXN" or not packet.checksum)
        if not may_skip and packet.checksum != payload_checksum(packet.payload):
            raise PacketError(f"the checksum of {packet.command} is wrong")

    def _shake_hands(self, packet: AdbPacket) -> None:
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
        self._send(AdbPacket("AUTH", _TOKEN, 0, self._token))

    def _authenticate(self, packet: AdbPacket) -> None:
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
        self._send(AdbPacket("CNXN", VERSION_WITHOUT_CHECKSUMS, self._taken_payload, banner))
        self._version = min(VERSION_WITHOUT_CHECKSUMS, self._host_version)
        self._wrong_signatures = 0
        self._is_online = True
        self._log.record("connected", wire="device", version=f"{self._version:08x}", host=self._host)

    def _open(self, packet: AdbPacket) -> None:
        if not packet.first or packet.second:
            raise PacketError(f"OPEN with the stream numbers {packet.first} and {packet.second}")
        name = bytes(packet.payload).rstrip(b"\0")
        if name == b"reconnect":
            self.end()
            return
        service = self._services.find(name)
        if service is not None and not self._workers.has_room():
            self._log.record("refused-service", service=service_text(name), reason="too many at one time")
            service = None
        if service is None:
            self._send(AdbPacket("CLSE", 0, packet.first))
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
        self._send(AdbPacket("OKAY", stream.own_id, stream.peer_id))

        def serve() -> None:
            try:
                service(stream)
            finally:
                stream.close()

        self._workers.start(f"adb service {service_text(name)[:40]}", serve)

    def _take_okay(self, packet: AdbPacket) -> None:
        stream = self._find_stream(packet)
        if stream is not None:
            stream.take_okay()
        elif packet.first and packet.second:
            self._send(AdbPacket("CLSE", packet.second, packet.first))

    def _take_payload(self, packet: AdbPacket) -> None:
        stream = self._find_stream(packet)
        if stream is not None:
            stream.take_payload(packet.payload)

    def _take_close(self, packet: AdbPacket) -> None:
        stream = self._find_stream(packet)
        if stream is not None:
            stream.take_close()
            self._send(AdbPacket("CLSE", stream.own_id, stream.peer_id))

    def _find_stream(self, packet: AdbPacket) -> DeviceStream | None:
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

    def _send(self, packet: AdbPacket) -> None:
        header = pack_header(packet, with_checksum=self._version < VERSION_WITHOUT_CHECKSUMS)
        if self._faults.garbage and next(self._sent_packets) % GARBAGE_EVERY == 0:
            # Real hosts look past a wrong magic and wait for ever; a wrong length ends their connection.
            header = b"\xff" * len(header)
        self._output.send(header, packet.payload)

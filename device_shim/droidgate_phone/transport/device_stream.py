"""One stream of a device connection: flow control as the protocol has it.

Each side sends one WRTE and waits for its OKAY before the next.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from typing import Final

from droidgate_phone.transport.endpoints import read_to_end
from droidgate_phone.transport.packets import LARGEST_PAYLOAD, Packet, PacketError
from droidgate_phone.transport.sockets import Buffer

_UNREAD_UP_TO: Final = LARGEST_PAYLOAD

SendPacket = Callable[[Packet], None]
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
            self._send_if_open(Packet("OKAY", self.own_id, self.peer_id))
        return content

    def _take(self, limit: int) -> bytes:
        taken = []
        while self._unread and limit > 0:
            piece = self._unread[0]
            if len(piece) <= limit:
                self._unread.popleft()
            else:
                self._unread[0] = piece[limit:]
                piece = piece[:limit]
            taken.append(piece)
            limit -= len(piece)
        content = b"".join(taken)
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
                    self._send(Packet("WRTE", self.own_id, self.peer_id, payload))
                except OSError as error:
                    self.abandon()
                    raise BrokenPipeError(str(error)) from error

    def close(self) -> None:
        """End the stream, which nobody serves any more, and send the host a CLSE."""
        if self._end():
            self._send_quietly(Packet("CLSE", self.own_id, self.peer_id))
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
            self._send_if_open(Packet("OKAY", self.own_id, self.peer_id))
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

    def _send_if_open(self, packet: Packet) -> None:
        if self.is_open:
            self._send_quietly(packet)

    def _send_quietly(self, packet: Packet) -> None:
        try:
            self._send(packet)
        except OSError:
            self.abandon()


def _payloads(pieces: tuple[Buffer, ...], largest: int) -> list[Buffer]:
    if len(pieces) == 1 and len(pieces[0]) <= largest:
        return [pieces[0]] if pieces[0] else []
    joined = memoryview(b"".join(pieces))
    return [joined[start : start + largest] for start in range(0, len(joined), largest)]

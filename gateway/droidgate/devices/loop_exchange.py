"""One shell command on the event loop: the requests and packets of `Device.run`, without a thread."""

from __future__ import annotations

import asyncio
from typing import Any, Final

from droidgate.devices.adb_client import ServerAddress, error_of_refusal
from droidgate.devices.connection import (
    BLOCK_DIGITS,
    FAIL,
    OKAY,
    Deadline,
    frame_request,
    gone,
    length_of_block,
    no_verdict,
)
from droidgate.devices.shell_packets import IncomingPackets, OutputSink, Packet, frame
from droidgate_mappings.model.errors import DeviceError

_NUMBER: Final = 8
"""Bytes of the number of a transport, little end first."""


async def exchange_on_loop(
    address: ServerAddress,
    requests: tuple[str, str],
    seen: int,
    collector: OutputSink,
    deadline: Deadline,
    *,
    has_input: bool,
) -> int | None:
    """Run a command without input, and return its exit status.

    None where the server does not answer as it did when the device was seen; nothing was run then.

    Args:
        address: Of the adb server.
        requests: What chooses the device, and what starts the command.
        seen: The number of the transport by which the device was seen.
        collector: Takes the output.
        deadline: For all of it.
        has_input: Whether the command may read its standard input, which is empty then; otherwise nobody
            needs to hear that.

    Raises:
        DeviceError: as `Device.run`, where the command may have run.
    """
    loop = asyncio.get_running_loop()
    exchange = _Exchange(requests, seen, collector, deadline, loop.create_future(), has_input=has_input)
    try:
        async with asyncio.timeout(deadline.remaining()):
            if address.path is None:
                await loop.create_connection(lambda: exchange, address.host, address.port)
            else:
                await loop.create_unix_connection(lambda: exchange, address.path)
            return await exchange.ended
    except TimeoutError:
        raise deadline.missed() from None
    except OSError:
        return None
    finally:
        exchange.close()


class _Exchange(asyncio.Protocol):
    """The connection of one command."""

    def __init__(
        self,
        requests: tuple[str, str],
        seen: int,
        collector: OutputSink,
        deadline: Deadline,
        ended: asyncio.Future[int | None],
        *,
        has_input: bool,
    ) -> None:
        self.ended = ended
        self._has_input = has_input
        self._choose, self._start = map(frame_request, requests)
        self._chosen = OKAY + seen.to_bytes(_NUMBER, "little")
        self._incoming = IncomingPackets(collector)
        self._deadline = deadline
        self._received = b""
        self._transport: Any = None
        self._is_sent = self._is_started = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Choose the device."""
        self._transport = transport
        self._transport.write(self._choose)

    def data_received(self, data: bytes) -> None:
        """Take what the server sends."""
        try:
            self._take(data)
        except DeviceError as error:
            self.end(error)

    def connection_lost(self, exc: Exception | None) -> None:
        """End: without the command's exit status."""
        self.end(gone(self._deadline, exc if isinstance(exc, OSError) else None) if self._is_sent else None)

    def end(self, outcome: int | DeviceError | None) -> None:
        """End with the command's exit status, None where it was not started, or an error."""
        if self.ended.done():
            return
        if isinstance(outcome, DeviceError):
            self.ended.set_exception(outcome)
        else:
            self.ended.set_result(outcome)

    def close(self) -> None:
        """Close the connection; the server ends what runs on it."""
        self.ended.cancel()
        if self._transport is not None:
            self._transport.abort()

    def _take(self, data: bytes) -> None:
        if not self._is_started:
            self._received += data
            data = self._begin()
        if self._is_started:
            status = self._incoming.feed(data)
            if status is not None:
                self.end(status)

    def _begin(self) -> bytes:
        """Send the command once the device is chosen; return what the server sent after it was started."""
        if not self._is_sent:
            if self._received == self._chosen:
                self._is_sent, self._received = True, b""
                self._transport.write(self._start)
            elif not self._chosen.startswith(self._received):
                self.end(None)
        elif len(self._received) >= len(OKAY):
            verdict, rest = self._received[: len(OKAY)], self._received[len(OKAY) :]
            if verdict == OKAY:
                self._is_started = True
                if self._has_input:
                    self._transport.write(frame(Packet.CLOSE_STDIN, b""))
                return rest
            if verdict != FAIL:
                self.end(no_verdict(verdict))
            else:
                self._end_refused(rest)
        return b""

    def _end_refused(self, framed: bytes) -> None:
        """End with the reason, once it is there; a phone that went away may have started the command."""
        digits, reason = framed[:BLOCK_DIGITS], framed[BLOCK_DIGITS:]
        if len(digits) == BLOCK_DIGITS and len(reason) >= (length := length_of_block(digits)):
            text = reason[:length].decode("utf-8", "backslashreplace")
            self.end(error_of_refusal(text, self._deadline.place))

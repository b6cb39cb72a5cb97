"""An adb server that answers each command of the shell as the virtual phone did when it came first.

Run as `python _recorded_phone.py PORT`, with the port of the virtual phone's adb server; it prints its own.
What is measured with it is the caller alone, not the phone, which is a Python program on the same cores.
"""

from __future__ import annotations

import asyncio
import re
import sys

_NONCE = re.compile(rb"droidgate-[0-9a-f]{32}")
"""The refusal of a guarded command differs from call to call, and is printed only when nothing is called."""
_CHOSEN = 12
"""Bytes of the answer to the choice of a phone: OKAY, and the transport's number."""

Stream = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class RecordedPhone:
    """Forwards what is new, and repeats what is not.

    Args:
        port: Of the adb server to forward to.
    """

    def __init__(self, port: int) -> None:
        self._port = port
        self._answers: dict[tuple[bytes, bytes], bytes] = {}

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection."""
        chosen = b""
        try:
            request = await _read_request(reader)
            if request.startswith(b"host:tport:"):
                chosen = request
                writer.write(await self._answer(b"", chosen, _CHOSEN))
                request = await _read_request(reader)
            if request.startswith((b"host", b"shell,v2")):
                writer.write(await self._answer(chosen, request, None))
                await writer.drain()
            else:
                await self._forward(chosen, request, (reader, writer))
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def _answer(self, chosen: bytes, request: bytes, length: int | None) -> bytes:
        key = (chosen, _NONCE.sub(b"", request))
        if key not in self._answers:
            reader, writer = await self._ask(chosen, request)
            if chosen:
                # The packet that says that the command has no input.
                writer.write(b"\x04\0\0\0\0")
            answer = await (reader.read() if length is None else reader.readexactly(length))
            writer.close()
            self._answers[key] = answer
        return self._answers[key]

    async def _ask(self, chosen: bytes, request: bytes) -> Stream:
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
        if chosen:
            writer.write(b"%04x%s" % (len(chosen), chosen))
            await reader.readexactly(_CHOSEN)
        writer.write(b"%04x%s" % (len(request), request))
        return reader, writer

    async def _forward(self, chosen: bytes, request: bytes, client: Stream) -> None:
        phone = await self._ask(chosen, request)
        await asyncio.gather(_copy(client[0], phone[1]), _copy(phone[0], client[1]))


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(1 << 16):
        writer.write(data)
        await writer.drain()
    writer.close()


async def _read_request(reader: asyncio.StreamReader) -> bytes:
    return await reader.readexactly(int(await reader.readexactly(4), 16))


async def main() -> None:
    """Listen until the process is ended."""
    server = await asyncio.start_server(RecordedPhone(int(sys.argv[1])).serve, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())

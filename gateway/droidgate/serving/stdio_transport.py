"""Serving over standard input and output."""

from __future__ import annotations

import contextlib
import logging
import os
import sys
import threading
from collections.abc import Iterator
from typing import Any, Final

import anyio
import anyio.from_thread
import anyio.lowlevel
from anyio.streams.memory import MemoryObjectSendStream
from mcp.server.stdio import stdio_server

from droidgate.serving.server_application import McpServer

_INPUT: Final = 0
_READ_BYTES: Final = 1 << 16

_log: Final = logging.getLogger(__name__)


async def serve_stdio(application: McpServer) -> None:
    """Serve the one client at the other end until it closes standard input, or reads no more.

    The SDK moves standard output away first: what anything else prints goes to standard error.
    """
    if sys.stdin is None:
        # It is closed, and descriptor 0 may be another file by now.
        return
    server = application.server
    sending, lines = anyio.create_memory_object_stream[str]()
    token = anyio.lowlevel.current_token()
    # The SDK's own reader waits in a thread that nothing ends, so Ctrl-C would wait for the next line.
    with _taken_input() as descriptor:
        threading.Thread(target=_send_lines, args=(descriptor, sending, token), daemon=True).start()
        source: Any = lines
        try:
            async with lines, stdio_server(stdin=source) as (incoming, outgoing):
                await server.run(incoming, outgoing, server.create_initialization_options())
        except* BrokenPipeError:
            _log.info("the client has gone")


@contextlib.contextmanager
def _taken_input() -> Iterator[int]:
    """Yield a copy of standard input, which is empty meanwhile: programs that are started read nothing."""
    descriptor = os.dup(_INPUT)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, _INPUT)
    os.close(nothing)
    try:
        yield descriptor
    finally:
        os.dup2(descriptor, _INPUT)


def _send_lines(descriptor: int, sending: MemoryObjectSendStream[str], token: Any) -> None:
    """Send each line of a file into the event loop, and the rest at its end; in a thread of its own."""
    rest = b""
    # The server may end before its input does.
    with contextlib.suppress(RuntimeError, anyio.BrokenResourceError, anyio.ClosedResourceError):
        with contextlib.suppress(OSError):
            while data := os.read(descriptor, _READ_BYTES):
                *lines, rest = (rest + data).split(b"\n")
                for line in lines:
                    anyio.from_thread.run(sending.send, line.decode(errors="replace"), token=token)
        if rest:
            anyio.from_thread.run(sending.send, rest.decode(errors="replace"), token=token)
        anyio.from_thread.run_sync(sending.close, token=token)

"""Serving over standard input and output.

The SDK's own reader and writer wait in threads that nothing ends, so Ctrl-C would wait for the next line, or
for a client that reads no more. Here a daemon thread reads and another writes.
"""

from __future__ import annotations

import contextlib
import logging
import os
import queue
import signal
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import CancelledError
from typing import Any, Final

import anyio
import anyio.from_thread
import anyio.lowlevel
from mcp.server.stdio import stdio_server

from droidgate.serving.server_application import McpServer
from droidgate.serving.stop_signals import stopped_by_signals
from droidgate_mappings.records import dataclass

_INPUT: Final = 0
_OUTPUT: Final = 1
_ERRORS: Final = 2
_READ_BYTES: Final = 1 << 16
_ENDED: Final = (RuntimeError, CancelledError, anyio.BrokenResourceError, anyio.ClosedResourceError)
"""What a thread gets of an event loop that has ended."""

_log: Final = logging.getLogger(__name__)


def run_stdio(application: McpServer) -> None:
    """Serve the one client at the other end until it closes standard input, reads no more, or a signal comes.

    Raises:
        KeyboardInterrupt: Ctrl-C has ended it. A second one ends the process at once.
    """
    running: list[tuple[Any, anyio.CancelScope]] = []
    is_stopped = False

    def stop() -> None:
        nonlocal is_stopped
        if is_stopped:
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            signal.raise_signal(signal.SIGINT)
        is_stopped = True
        for loop, scope in running:
            loop.call_soon_threadsafe(scope.cancel)

    async def serve() -> None:
        with anyio.CancelScope() as scope:
            running.append((anyio.lowlevel.current_token().native_token, scope))
            if is_stopped:
                scope.cancel()
            await _serve(application)

    with stopped_by_signals(stop):
        anyio.run(serve)


async def _serve(application: McpServer) -> None:
    if sys.stdin is None:
        # It is closed, and descriptor 0 may be another file by now.
        return
    server = application.server
    token = anyio.lowlevel.current_token()
    with (
        _take_descriptor(_INPUT, os.open(os.devnull, os.O_RDONLY)) as read,
        _take_descriptor(_OUTPUT, os.dup(_ERRORS)) as written,
    ):
        source: Any = _Input(read, token)
        output: Any = _Output(written, token)
        try:
            async with source.lines, stdio_server(stdin=source, stdout=output) as (incoming, outgoing):
                await server.run(incoming, outgoing, server.create_initialization_options())
        except* BrokenPipeError:
            _log.info("the client has gone")


@contextlib.contextmanager
def _take_descriptor(number: int, replacement: int) -> Iterator[int]:
    """Yield a copy of a standard descriptor, which is another file meanwhile.

    Programs that are started read nothing, and what anything else prints goes to standard error.
    """
    descriptor = os.dup(number)
    os.dup2(replacement, number)
    os.close(replacement)
    try:
        yield descriptor
    finally:
        if number == _OUTPUT:
            sys.stdout.flush()
        os.dup2(descriptor, number)


class _Input:
    """Standard input, as the SDK reads from it: one line after the other.

    The thread makes no coroutine: one that a loop takes and does not start before it ends would be warned of.
    """

    def __init__(self, descriptor: int, token: Any) -> None:
        self._sending, self.lines = anyio.create_memory_object_stream[str](1)
        self._room = threading.Semaphore()
        threading.Thread(target=self._send_all, args=(descriptor, token), daemon=True).start()

    def __aiter__(self) -> _Input:
        return self

    async def __anext__(self) -> str:
        line = await anext(self.lines)
        self._room.release()
        return line

    def _send_all(self, descriptor: int, token: Any) -> None:
        rest = b""
        # The server may end before its input does.
        with contextlib.suppress(*_ENDED):
            with contextlib.suppress(OSError):
                while data := os.read(descriptor, _READ_BYTES):
                    *lines, rest = (rest + data).split(b"\n")
                    for line in lines:
                        self._send(line, token)
            if rest:
                self._send(rest, token)
            anyio.from_thread.run_sync(self._sending.close, token=token)

    def _send(self, line: bytes, token: Any) -> None:
        self._room.acquire()
        anyio.from_thread.run_sync(self._sending.send_nowait, line.decode(errors="replace"), token=token)


@dataclass(slots=True)
class _Text:
    """A text on its way to the client."""

    data: bytes
    is_written: anyio.Event
    error: OSError | None = None


class _Output:
    """Standard output, as the SDK writes to it; a write that is canceled may still be made."""

    def __init__(self, descriptor: int, token: Any) -> None:
        self._texts: queue.SimpleQueue[_Text] = queue.SimpleQueue()
        threading.Thread(target=self._write_all, args=(descriptor, token), daemon=True).start()

    async def write(self, text: str) -> None:
        """Write a text and wait until it is written."""
        written = _Text(text.encode(), anyio.Event())
        self._texts.put(written)
        await written.is_written.wait()
        if written.error is not None:
            raise written.error

    async def flush(self) -> None:
        """Do nothing: what is written is on its way."""

    def _write_all(self, descriptor: int, token: Any) -> None:
        # The server may end before the client reads.
        with contextlib.suppress(*_ENDED):
            while True:
                text = self._texts.get()
                try:
                    data = memoryview(text.data)
                    while data:
                        data = data[os.write(descriptor, data) :]
                except OSError as error:
                    text.error = error
                anyio.from_thread.run_sync(text.is_written.set, token=token)

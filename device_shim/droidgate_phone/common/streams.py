"""What a command reads and writes."""

from __future__ import annotations

from typing import Final, Protocol

_PIECE: Final = 256 * 1024


class InputStream(Protocol):
    """Bytes that come in."""

    def read(self, limit: int = -1) -> bytes:
        """Return up to `limit` bytes as soon as there are any, all until the end for -1; b"" at the end."""


def read_to_end(stream: InputStream) -> bytes:
    """Return everything until the stream ends."""
    pieces = []
    while piece := stream.read(_PIECE):
        pieces.append(piece)
    return b"".join(pieces)


class OutputStream(Protocol):
    """Bytes that go out."""

    def write(self, data: bytes) -> None:
        """Send the bytes; may wait until the other side takes them.

        Raises:
            BrokenPipeError: nobody reads any more.
        """


class CommandStreams(Protocol):
    """The three streams of a command.

    Where the caller asked for no separate standard error (`exec:`, shell protocol v1), `error` is `output`,
    as a pseudo-terminal or a shared socket would make it. Streams whose other side may go away while a
    command neither reads nor writes have `on_hang_up(listener)` as well, as an `Endpoint` has.
    """

    @property
    def input(self) -> InputStream:
        """Standard input."""

    @property
    def output(self) -> OutputStream:
        """Standard output."""

    @property
    def error(self) -> OutputStream:
        """Standard error."""

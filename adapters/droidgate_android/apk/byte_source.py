"""Where the bytes of an archive come from: a file, memory, or a file on a device read piece by piece."""

from __future__ import annotations

from typing import Protocol


class ByteSource(Protocol):
    """A file of known length that can be read at any place.

    An implementation on a device reads in larger blocks and keeps them, so that a reader may ask for small
    pieces.
    """

    @property
    def name(self) -> str:
        """The file as a user would write it, for errors."""

    @property
    def size(self) -> int:
        """Its length in bytes."""

    def read(self, offset: int, length: int) -> bytes:
        """Return exactly `length` bytes from `offset` on.

        Raises:
            InputError: the range is not inside the file, or it cannot be read.
        """

    def close(self) -> None:
        """Free what the source holds; reading afterwards is an error."""

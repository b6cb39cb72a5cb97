"""Byte sources: a file on disk, bytes in memory, and a part of another source."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Final

from droidgate_android.apk.byte_source import ByteSource
from droidgate_mappings.model.errors import InputError

_BINARY: Final = getattr(os, "O_BINARY", 0)


def open_source(source: str | Path | bytes | ByteSource) -> ByteSource:
    """Return what reads a path, bytes or a source.

    Raises:
        InputError: the path names no regular file, or one that cannot be opened.
    """
    if isinstance(source, (str, Path)):
        return FileSource(source)
    if isinstance(source, bytes):
        return MemorySource(source)
    return source


def printable_name(name: str) -> str:
    """Return a name as text that can be printed; bytes that are not UTF-8 are shown as escapes."""
    if name.isascii():
        return name
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


class MemorySource:
    """Bytes in memory.

    Args:
        data: The bytes.
        name: How errors name them.
    """

    def __init__(self, data: bytes, *, name: str = "<bytes>") -> None:
        self._data = data
        self.name, self.size = name, len(data)

    def read(self, offset: int, length: int) -> bytes:
        """Return exactly `length` bytes from `offset` on.

        Raises:
            InputError: the range is not inside.
        """
        check_range(self, offset, length)
        return self._data[offset : offset + length]

    def close(self) -> None:
        """Nothing is held."""


class FileSource:
    """A file on disk, read piece by piece.

    It is not mapped into memory: a mapped file that somebody shortens meanwhile ends the process (SIGBUS).

    Args:
        path: The file.
        name: How errors name it, the path by default.

    Raises:
        InputError: it is not a regular file, or cannot be opened.
    """

    def __init__(self, path: str | Path, *, name: str | None = None) -> None:
        self._path = os.path.abspath(path)  # noqa: PTH100 - Path.absolute keeps `..`, and is slower
        self.name = name if name is not None else printable_name(str(path))
        self._descriptor: int | None = None
        self._stays_open = True
        self._descriptor, self._state = self._open()

    def _open(self) -> tuple[int, tuple[int, ...]]:
        try:
            descriptor = os.open(self._path, os.O_RDONLY | _BINARY | getattr(os, "O_NONBLOCK", 0))
        except (OSError, ValueError) as error:
            raise self._unreadable(error) from None
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            os.close(descriptor)
            raise InputError("it is not a regular file", place=self.name, hint="name a regular file")
        return descriptor, (status.st_size, status.st_mtime_ns, status.st_dev, status.st_ino)

    def _unreadable(self, error: Exception) -> InputError:
        reason = getattr(error, "strerror", None) or str(error)
        return InputError(f"cannot be read: {reason}", place=self.name)

    @property
    def size(self) -> int:
        """Its length in bytes when it was opened."""
        return self._state[0]

    def read(self, offset: int, length: int) -> bytes:
        """Return exactly `length` bytes from `offset` on.

        Raises:
            InputError: the range is not inside the file, or it cannot be read, or is another file by now.
        """
        check_range(self, offset, length)
        if self._descriptor is None:
            descriptor, state = self._open()
            if state != self._state:
                os.close(descriptor)
                raise InputError("the file has changed while it was read", place=self.name)
        else:
            descriptor = self._descriptor
        try:
            return self._read_from(descriptor, offset, length)
        finally:
            if self._descriptor is None:
                if self._stays_open:
                    self._descriptor = descriptor
                else:
                    os.close(descriptor)

    def _read_from(self, descriptor: int, offset: int, length: int) -> bytes:
        try:
            os.lseek(descriptor, offset, os.SEEK_SET)
            data = os.read(descriptor, length)
            while len(data) < length:
                more = os.read(descriptor, length - len(data))
                if not more:
                    raise InputError("the file ends before its size", place=self.name)
                data += more
        except OSError as error:
            raise self._unreadable(error) from None
        return data

    def release(self) -> None:
        """Let go of the file; from now on each read opens it for itself and checks that it is the same."""
        self._stays_open = False
        self.close()

    def close(self) -> None:
        """Let go of the file."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def __del__(self) -> None:
        if getattr(self, "_descriptor", None) is not None:
            self.close()


class PartOfSource:
    """A range of another source, such as an APK that a container stores uncompressed; it closes nothing.

    Args:
        source: The other source.
        offset: Where the range begins.
        size: Its length.
        name: How errors name it.

    Raises:
        InputError: the range is not inside the source.
    """

    def __init__(self, source: ByteSource, offset: int, size: int, *, name: str) -> None:
        check_range(source, offset, size)
        self._source = source
        self._offset = offset
        self.name, self.size = name, size

    def read(self, offset: int, length: int) -> bytes:
        """Return exactly `length` bytes from `offset` on.

        Raises:
            InputError: the range is not inside, or cannot be read.
        """
        check_range(self, offset, length)
        return self._source.read(self._offset + offset, length)

    def close(self) -> None:
        """The other source stays open."""


def check_range(source: ByteSource, offset: int, length: int) -> None:
    """Refuse a range that is not inside a source.

    Raises:
        InputError: the range is not inside the source.
    """
    if offset < 0 or length < 0 or offset + length > source.size:
        message = f"bytes {offset} to {offset + length} are not in it, it has {source.size}"
        raise InputError(message, place=source.name)

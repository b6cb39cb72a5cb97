"""Files of the phone that are open: they go on working when their name is gone."""

from __future__ import annotations

import errno
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Final, Self

from droidgate_phone.file_nodes import FileNode, FileStatus, VirtualFileError

_LARGEST_NAMELESS: Final = 1 << 26


class FileSpace:
    """The bytes that all files of one phone take; the lock is held during each call.

    Args:
        capacity: How many bytes fit; ENOSPC beyond.
        clock: The phone's time.
        lock: Is held while a file is looked at or changed.
    """

    def __init__(self, capacity: int, clock: Callable[[], float], lock: threading.RLock) -> None:
        self.capacity = capacity
        self.lock = lock
        self.used = 0
        self._clock = clock

    def release(self, node: FileNode) -> None:
        """Forget the content; a reader that has the node open sees an empty file, as after a truncation."""
        self.used -= node.charged
        node.charged = 0
        node.content = b""

    def charge(self, node: FileNode, size: int, path: str) -> None:
        """Count a node's new size.

        Raises:
            VirtualFileError: nothing fits any more (ENOSPC).
        """
        if node.parent is None:
            # Its name is gone: what is still written to it goes with the last who has it open.
            if size > _LARGEST_NAMELESS:
                raise VirtualFileError(errno.ENOSPC, path)
            return
        if size > node.charged and self.used + size - node.charged > self.capacity:
            raise VirtualFileError(errno.ENOSPC, path)
        self.used += size - node.charged
        node.charged = size

    def _changeable(self, node: FileNode, size: int, path: str) -> bytearray:
        """Return the content as something that can be changed, and charge its new size."""
        loaded = node.load()
        self.charge(node, max(size, len(loaded)), path)
        if not isinstance(loaded, bytearray):
            loaded = node.content = bytearray(loaded)
        return loaded

    def write(
        self, node: FileNode, offset: int | None, data: bytes | bytearray | memoryview, path: str
    ) -> int:
        """Put bytes into an open file, at its end for None; return the offset behind them."""
        if offset is None:
            offset = len(node.load())
        content = self._changeable(node, offset + len(data), path)
        if offset > len(content):
            content.extend(bytes(offset - len(content)))
        content[offset : offset + len(data)] = data
        node.modified = self._clock()
        return offset + len(data)


class _OpenFile:
    """A file that stays open when its name goes; a context manager."""

    def __init__(self, space: FileSpace, node: FileNode, path: str) -> None:
        self._space = space
        self._node = node
        self.path = path
        self.position = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Do nothing: nothing is held open. Files have this method."""

    def status(self) -> FileStatus:
        """Return what `fstat` returns."""
        with self._space.lock:
            return self._node.status()

    def seek(self, position: int) -> None:
        """Go to an offset from the beginning, which may lie beyond the end."""
        self.position = position


class FileReader(_OpenFile):
    """Reads an open file from `position` on.

    Attributes:
        path: Where it was found.
        position: Offset of the next byte.
    """

    def read(self, limit: int = -1) -> bytes:
        """Return up to `limit` bytes, all that follow for -1; b"" at the end.

        Raises:
            VirtualFileError: EISDIR for a directory; EFBIG for all the bytes of a device without end.
        """
        node = self._node
        if node.is_directory:
            raise VirtualFileError(errno.EISDIR, self.path)
        if node.device is not None:
            if limit < 0:
                raise VirtualFileError(errno.EFBIG, self.path)
            return node.device(limit)
        with self._space.lock:
            content = node.load()
            end = len(content) if limit < 0 else self.position + limit
            if self.position == 0 and end >= len(content) and isinstance(content, bytes):
                data = content
            else:
                data = bytes(content[self.position : end])
        self.position += len(data)
        return data


class FileWriter(_OpenFile):
    """Writes an open file from `position` on, or at its end.

    Attributes:
        path: Where it was found.
        position: Offset of the next byte; of no meaning where it appends.
    """

    def __init__(self, space: FileSpace, node: FileNode, path: str, *, append: bool) -> None:
        super().__init__(space, node, path)
        self._append = append

    def write(self, data: bytes) -> None:
        """Write bytes and go on behind them.

        Raises:
            VirtualFileError: nothing fits any more (ENOSPC).
        """
        if self._node.device is not None:
            return
        with self._space.lock:
            self.position = self._space.write(
                self._node, None if self._append else self.position, data, self.path
            )

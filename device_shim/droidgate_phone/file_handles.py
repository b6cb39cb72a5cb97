"""Files of the phone that are open: they go on working when their name is gone."""

from __future__ import annotations

import errno
from types import TracebackType
from typing import TYPE_CHECKING, Self

from droidgate_phone.file_nodes import FileNode, FileStatus, VirtualFileError

if TYPE_CHECKING:
    from droidgate_phone.files import VirtualFiles


class _OpenFile:
    """A file that stays open when its name goes; a context manager."""

    def __init__(self, files: VirtualFiles, node: FileNode, path: str) -> None:
        self._files = files
        self._node = node
        self.path = path
        self.position = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Nothing has to be given back; here so that it can stand where files do."""

    def status(self) -> FileStatus:
        """Return what `fstat` tells."""
        with self._files.lock:
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
        with self._files.lock:
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

    def __init__(self, files: VirtualFiles, node: FileNode, path: str, *, append: bool) -> None:
        super().__init__(files, node, path)
        self._append = append

    def write(self, data: bytes) -> None:
        """Write bytes and go on behind them.

        Raises:
            VirtualFileError: nothing fits any more (ENOSPC).
        """
        if self._node.device is not None:
            return
        with self._files.lock:
            self.position = self._files.write_node(
                self._node, None if self._append else self.position, data, self.path
            )

    def truncate(self) -> None:
        """Cut the file behind the position, or lengthen it up to there."""
        if self._node.device is None:
            with self._files.lock:
                self._files.resize_node(self._node, self.position, self.path)

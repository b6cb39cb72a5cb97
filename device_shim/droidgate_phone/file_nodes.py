"""What the phone's file tree is made of: nodes, their status, and the errors of file operations."""

from __future__ import annotations

import errno
import stat
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from droidgate_phone.file_accounts import ROOT_UID, groups_of

READ: Final = 4
WRITE: Final = 2
SEARCH: Final = 1

# What bionic's strerror says, where the host's C library may say it otherwise.
_MESSAGES: Final = {
    errno.EACCES: "Permission denied",
    errno.EBADF: "Bad file descriptor",
    errno.EEXIST: "File exists",
    errno.EFBIG: "File too large",
    errno.EINVAL: "Invalid argument",
    errno.EISDIR: "Is a directory",
    errno.ELOOP: "Too many symbolic links encountered",
    errno.ENAMETOOLONG: "File name too long",
    errno.ENOENT: "No such file or directory",
    errno.ENOSPC: "No space left on device",
    errno.ENOTDIR: "Not a directory",
    errno.EPERM: "Operation not permitted",
    errno.EROFS: "Read-only file system",
}

Content = bytes | bytearray | memoryview | Callable[[], bytes]
"""What a file holds: bytes, or a function that returns them and is called once, at the first read."""


class VirtualFileError(OSError):
    """A file operation failed; `errno` and `strerror` are Android's, `filename` is the path asked for."""

    def __init__(self, number: int, path: str = "") -> None:
        super().__init__(number, _MESSAGES[number], path)


class _Typed:
    """What has a file's type in its `mode`."""

    __slots__ = ()
    mode: int

    @property
    def is_directory(self) -> bool:
        """Whether it is a directory."""
        return stat.S_ISDIR(self.mode)

    @property
    def is_link(self) -> bool:
        """Whether it is a symbolic link."""
        return stat.S_ISLNK(self.mode)

    @property
    def is_file(self) -> bool:
        """Whether it is a regular file."""
        return stat.S_ISREG(self.mode)


@dataclass(frozen=True, slots=True)
class FileStatus(_Typed):
    """What `stat` returns.

    Attributes:
        mode: Type and permission bits, as in `st_mode`.
        uid: Owner.
        gid: Group.
        size: Bytes; 4096 for a directory, the target's length for a symbolic link.
        modified: Time of the last change, in seconds since 1970.
        inode: Number of the node; the same for as long as it lives.
        links: Count of names; for a directory 2 and one for each directory in it.
    """

    mode: int
    uid: int
    gid: int
    size: int
    modified: float
    inode: int
    links: int


@dataclass(slots=True, eq=False)
class FileNode(_Typed):
    """A file, directory, link or device; `mode` has the type bits; without `parent` it has no name.

    `read_only` says whether the file system that is mounted here can be written; None: nothing is mounted.
    """

    mode: int
    uid: int
    gid: int
    modified: float
    inode: int
    name: str = ""
    parent: FileNode | None = None
    children: dict[str, FileNode] = field(default_factory=dict)
    content: Content = b""
    charged: int = 0
    read_only: bool | None = None
    target: str = ""
    device: Callable[[int], bytes] | None = None

    def load(self) -> bytes | bytearray | memoryview:
        """Return the content, asked for now at the latest."""
        if callable(self.content):
            self.content = self.content()
        return self.content

    def status(self) -> FileStatus:
        """Return what `stat` returns for it."""
        links = 1
        size = 0
        if self.is_directory:
            links = 2 + sum(child.is_directory for child in self.children.values())
            size = 4096
        elif self.is_link:
            size = len(self.target.encode("utf-8", "surrogateescape"))
        elif self.device is None:
            size = len(self.load())
        return FileStatus(self.mode, self.uid, self.gid, size, self.modified, self.inode, links)

    def permits(self, access: int, uid: int) -> bool:
        """Return whether the mode lets a user READ, WRITE, SEARCH (execute)."""
        if uid == ROOT_UID:
            return not (access & SEARCH and self.is_file and not self.mode & 0o111)
        if uid == self.uid:
            shift = 6
        elif self.gid in groups_of(uid):
            shift = 3
        else:
            shift = 0
        return (self.mode >> shift) & access == access

    def path(self) -> str:
        """Return its absolute path, without links."""
        names: list[str] = []
        node = self
        while node.parent is not None:
            names.append(node.name)
            node = node.parent
        return "/" + "/".join(reversed(names))

    def ancestors(self) -> list[FileNode]:
        """Return it and the directories above it."""
        found = [self]
        while found[-1].parent is not None:
            found.append(found[-1].parent)
        return found

"""The phone's files: a tree in memory, with owners, modes and times. Nothing here reaches the host's files.

Paths are absolute texts; bytes of a name that are not UTF-8 are escaped as `surrogateescape` does.
"""

from __future__ import annotations

import errno
import stat
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from droidgate_phone.file_accounts import ROOT_UID
from droidgate_phone.file_handles import FileReader, FileSpace, FileWriter
from droidgate_phone.file_nodes import READ, SEARCH, WRITE, Content, FileNode, FileStatus, VirtualFileError

__all__ = [
    "READ",
    "SEARCH",
    "WRITE",
    "Content",
    "FileReader",
    "FileStatus",
    "FileWriter",
    "VirtualFileError",
    "VirtualFiles",
]

DEFAULT_CAPACITY: Final = 1 << 30
MAXIMUM_NAME: Final = 255
MAXIMUM_PATH: Final = 4096
MAXIMUM_LINKS: Final = 40


@dataclass(frozen=True, slots=True)
class _Found:
    """Where a path led: the directory that holds the last name, that name, and the node if there is one."""

    parent: FileNode
    name: str
    node: FileNode | None


class VirtualFiles:
    """A file system in memory; every method may be called from any thread.

    `uid` is who acts: 0 (root), the default, passes every check, other users are held to the modes.

    Attributes:
        space: The bytes that the files take.
        lock: Held while the tree is looked at or changed.
    """

    def __init__(self, *, capacity: int = DEFAULT_CAPACITY, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._next_inode = 2
        self._root = FileNode(stat.S_IFDIR | 0o755, ROOT_UID, ROOT_UID, clock(), 2)
        self._shared: list[FileNode] = []
        self.lock = threading.RLock()
        self.space = FileSpace(capacity, clock, self.lock)

    @property
    def capacity(self) -> int:
        """How many bytes fit; ENOSPC beyond."""
        return self.space.capacity

    @property
    def used(self) -> int:
        """How many bytes the files hold; content that was not read yet is not counted."""
        return self.space.used

    def exists(self, path: str, *, uid: int = ROOT_UID) -> bool:
        """Return whether the path leads somewhere that this user can see; links are followed."""
        try:
            self.stat(path, uid=uid)
        except VirtualFileError:
            return False
        return True

    def stat(self, path: str, *, uid: int = ROOT_UID) -> FileStatus:
        """Return what the path leads to, links followed.

        Raises:
            VirtualFileError: it is not there, or may not be seen.
        """
        with self.lock:
            return self._existing(path, uid).status()

    def lstat(self, path: str, *, uid: int = ROOT_UID) -> FileStatus:
        """Return what the path names: of a symbolic link, the link itself.

        Raises:
            VirtualFileError: it is not there, or may not be seen.
        """
        with self.lock:
            return self._existing(path, uid, follow=False).status()

    def list(self, path: str, *, uid: int = ROOT_UID) -> list[str]:
        """Return the names in a directory, sorted by code point.

        Raises:
            VirtualFileError: it is not a directory, does not exist, or may not be read.
        """
        with self.lock:
            node = self._existing(path, uid)
            if not node.is_directory:
                raise VirtualFileError(errno.ENOTDIR, path)
            self._require_access(node, READ, uid, path)
            return sorted(node.children)

    def may(self, path: str, access: int, *, uid: int = ROOT_UID) -> bool:
        """Return whether a user may READ, WRITE or SEARCH (execute) what the path leads to."""
        with self.lock:
            try:
                return self._existing(path, uid).permits(access, uid)
            except VirtualFileError:
                return False

    def read_link(self, path: str, *, uid: int = ROOT_UID) -> str:
        """Return the target of a symbolic link.

        Raises:
            VirtualFileError: EINVAL where it is something else, or it is not there.
        """
        with self.lock:
            node = self._existing(path, uid, follow=False)
            if not node.is_link:
                raise VirtualFileError(errno.EINVAL, path)
            return node.target

    def real_path(self, path: str, *, uid: int = ROOT_UID) -> str:
        """Return the path without links, `.` and `..`.

        Raises:
            VirtualFileError: it is not there, or something on the way may not be searched.
        """
        with self.lock:
            return self._existing(path, uid).path()

    def read(self, path: str, offset: int = 0, length: int = -1, *, uid: int = ROOT_UID) -> bytes:
        """Return `length` bytes from `offset`, fewer at the end; -1 for all the rest.

        Raises:
            VirtualFileError: it is not there, is a directory or may not be read.
        """
        with self.open_reader(path, uid=uid) as reader:
            reader.seek(offset)
            return reader.read(length)

    def open_reader(self, path: str, *, uid: int = ROOT_UID) -> FileReader:
        """Return a handle to read the file with, which works also after its name was removed.

        Raises:
            VirtualFileError: it is not there, is a directory or may not be read.
        """
        with self.lock:
            node = self._existing(path, uid)
            self._require_access(node, READ, uid, path)
            return FileReader(self.space, node, path)

    def write(
        self,
        path: str,
        data: Content,
        *,
        append: bool = False,
        mode: int = 0o644,
        mtime: float | None = None,
        uid: int = ROOT_UID,
        owner: int | None = None,
    ) -> None:
        """Write a whole file, or at the end of it.

        Args:
            path: Where; its directory has to exist.
            data: Bytes, which are kept and not copied, or a function that gives them when they are asked for.
            append: Whether to add to what is there.
            mode: Permission bits of a new file.
            mtime: Its time, the phone's time by default.
            uid: Who writes.
            owner: Whom a new file belongs to, `uid` by default.

        Raises:
            VirtualFileError: the way is not there, is a directory or may not be written, or nothing fits.
        """
        with self.lock:
            node = self._open_for_writing(path, mode, uid, owner, truncate=not append)
            if node.device is None:
                if append:
                    self.space.write(node, None, data() if callable(data) else data, path)
                else:
                    self.space.charge(node, 0 if callable(data) else len(data), path)
                    node.content = data
            node.modified = self._clock() if mtime is None else mtime

    def open_writer(
        self,
        path: str,
        *,
        append: bool = False,
        truncate: bool = True,
        mode: int = 0o644,
        uid: int = ROOT_UID,
        owner: int | None = None,
    ) -> FileWriter:
        """Return something to write the file with, piece by piece; arguments as in `write`.

        Raises:
            VirtualFileError: the way is not there, is a directory, or may not be written.
        """
        with self.lock:
            node = self._open_for_writing(path, mode, uid, owner, truncate=truncate and not append)
            return FileWriter(self.space, node, path, append=append)

    def make_device(self, path: str, read: Callable[[int], bytes], *, mode: int = 0o666) -> None:
        """Make a character device: `read(limit)` gives its bytes; what is written to it is gone."""
        with self.lock:
            node = self._create(self._find(path, ROOT_UID), stat.S_IFCHR | mode, ROOT_UID, None, path)
            node.device = read

    def make_directory(
        self,
        path: str,
        *,
        parents: bool = False,
        mode: int = 0o755,
        uid: int = ROOT_UID,
        owner: int | None = None,
    ) -> None:
        """Make a directory; with `parents` also those above it, and nothing where it is there already.

        Raises:
            VirtualFileError: EEXIST, or the way to it is not there or may not be written.
        """
        with self.lock:
            if parents:
                upper = path.rstrip("/").rpartition("/")[0]
                if upper and not self.exists(upper, uid=uid):
                    self.make_directory(upper, parents=True, mode=mode, uid=uid, owner=owner)
            found = self._find(path, uid)
            if found.node is not None:
                if parents and found.node.is_directory:
                    return
                raise VirtualFileError(errno.EEXIST, path)
            self._create(found, stat.S_IFDIR | mode, uid, owner, path)

    def share_directory(self, path: str) -> None:
        """Make a directory's tree behave as Android's shared storage: modes there are 0660 and 02770."""
        with self.lock:
            self._shared.append(self._existing(path, ROOT_UID))

    def mount(self, path: str, *, read_only: bool) -> None:
        """Make a directory the root of a file system; only root writes to one that is read-only."""
        with self.lock:
            self._existing(path, ROOT_UID).read_only = read_only

    def symlink(self, target: str, path: str, *, uid: int = ROOT_UID) -> None:
        """Make a symbolic link at `path`.

        Raises:
            VirtualFileError: EEXIST, its directory is not there or may not be written, or EPERM in shared
                storage, which has no links.
        """
        with self.lock:
            found = self._find(path, uid, follow=False)
            if found.node is not None:
                raise VirtualFileError(errno.EEXIST, path)
            if self._is_shared(found.parent):
                raise VirtualFileError(errno.EPERM, path)
            self._create(found, stat.S_IFLNK | 0o777, uid, None, path).target = target

    def remove(self, path: str, *, recursive: bool = False, uid: int = ROOT_UID) -> None:
        """Remove a file or link, with `recursive` also a directory with what is in it.

        Raises:
            VirtualFileError: it is not there, is a directory, or its directory may not be written.
        """
        with self.lock:
            found = self._find(path, uid, follow=False)
            if found.node is None:
                raise VirtualFileError(errno.ENOENT, path)
            if found.node.is_directory and not recursive:
                raise VirtualFileError(errno.EISDIR, path)
            self._remove_tree(found.node, uid, path)

    def chmod(self, path: str, mode: int, *, uid: int = ROOT_UID) -> None:
        """Set the permission bits.

        Raises:
            VirtualFileError: it does not exist, or belongs to another user (EPERM).
        """
        with self.lock:
            node = self._owned(path, uid)
            if not self._is_shared(node):
                node.mode = stat.S_IFMT(node.mode) | (mode & 0o7777)

    def chown(self, path: str, owner: int, group: int | None = None, *, uid: int = ROOT_UID) -> None:
        """Set owner and group, the owner's own by default; only root may.

        Raises:
            VirtualFileError: it is not there, or `uid` is not root (EPERM).
        """
        with self.lock:
            node = self._existing(path, uid)
            if uid != ROOT_UID:
                raise VirtualFileError(errno.EPERM, path)
            node.uid = owner
            node.gid = owner if group is None else group

    def set_time(self, path: str, modified: float | None = None, *, uid: int = ROOT_UID) -> None:
        """Set the time of the last change, to the phone's time by default.

        Raises:
            VirtualFileError: it does not exist, or belongs to another user (EPERM).
        """
        with self.lock:
            node = self._owned(path, uid)
            node.modified = self._clock() if modified is None else modified

    def _find(self, path: str, uid: int, *, follow: bool = True) -> _Found:
        if not path or "\0" in path:
            raise VirtualFileError(errno.EINVAL if path else errno.ENOENT, path)
        if _byte_length(path) >= MAXIMUM_PATH:
            raise VirtualFileError(errno.ENAMETOOLONG, path)
        must_be_directory = path.endswith(("/", "/."))
        names = _names(path)
        current = self._root
        links = 0
        while names:
            name = names.pop()
            if not current.is_directory:
                raise VirtualFileError(errno.ENOTDIR, path)
            self._require_access(current, SEARCH, uid, path)
            if _byte_length(name) > MAXIMUM_NAME:
                raise VirtualFileError(errno.ENAMETOOLONG, path)
            if name == "..":
                current = current.parent or current
                continue
            node = current.children.get(name)
            if node is None:
                if names:
                    raise VirtualFileError(errno.ENOENT, path)
                return _Found(current, name, None)
            if node.is_link and (names or follow or must_be_directory):
                links += 1
                if links > MAXIMUM_LINKS:
                    raise VirtualFileError(errno.ELOOP, path)
                if node.target.startswith("/"):
                    current = self._root
                names += _names(node.target)
                continue
            current = node
        if must_be_directory and not current.is_directory:
            raise VirtualFileError(errno.ENOTDIR, path)
        return _Found(current.parent or current, current.name, current)

    def _existing(self, path: str, uid: int, *, follow: bool = True) -> FileNode:
        node = self._find(path, uid, follow=follow).node
        if node is None:
            raise VirtualFileError(errno.ENOENT, path)
        return node

    def _owned(self, path: str, uid: int) -> FileNode:
        node = self._existing(path, uid)
        if uid not in {ROOT_UID, node.uid} and not (self._is_shared(node) and node.permits(WRITE, uid)):
            raise VirtualFileError(errno.EPERM, path)
        return node

    def _is_shared(self, node: FileNode) -> bool:
        return bool(self._shared) and any(ancestor in self._shared for ancestor in node.ancestors())

    def _create(self, found: _Found, mode: int, uid: int, owner: int | None, path: str) -> FileNode:
        if found.node is not None:
            raise VirtualFileError(errno.EEXIST, path)
        self._require_access(found.parent, WRITE | SEARCH, uid, path)
        if self._is_shared(found.parent):
            mode = stat.S_IFMT(mode) | (0o2770 if stat.S_ISDIR(mode) else 0o660)
        group = uid if owner is None else owner
        if found.parent.mode & stat.S_ISGID:
            group = found.parent.gid
        now = self._clock()
        self._next_inode += 1
        node = FileNode(
            mode, uid if owner is None else owner, group, now, self._next_inode, found.name, found.parent
        )
        found.parent.children[found.name] = node
        found.parent.modified = now
        return node

    def _open_for_writing(
        self, path: str, mode: int, uid: int, owner: int | None, *, truncate: bool
    ) -> FileNode:
        found = self._find(path, uid)
        if found.node is None:
            if path.endswith("/"):
                raise VirtualFileError(errno.EISDIR, path)
            return self._create(found, stat.S_IFREG | mode, uid, owner, path)
        if found.node.is_directory:
            raise VirtualFileError(errno.EISDIR, path)
        self._require_access(found.node, WRITE, uid, path)
        if truncate and found.node.device is None:
            self.space.release(found.node)
            found.node.modified = self._clock()
        return found.node

    def _require_access(self, node: FileNode, access: int, uid: int, path: str) -> None:
        if access & WRITE and uid != ROOT_UID and node.device is None:
            mount = next((ancestor for ancestor in node.ancestors() if ancestor.read_only is not None), None)
            if mount is not None and mount.read_only:
                raise VirtualFileError(errno.EROFS, path)
        if not node.permits(access, uid):
            raise VirtualFileError(errno.EACCES, path)

    def _require_removable(self, parent: FileNode, node: FileNode, uid: int, path: str) -> None:
        self._require_access(parent, WRITE | SEARCH, uid, path)
        if parent.mode & stat.S_ISVTX and uid not in {ROOT_UID, parent.uid, node.uid}:
            raise VirtualFileError(errno.EPERM, path)

    def _remove_tree(self, node: FileNode, uid: int, path: str) -> None:
        parent = node.parent
        if parent is None:
            raise VirtualFileError(errno.EINVAL, path)
        self._require_removable(parent, node, uid, path)
        waiting = [node]
        removing: list[FileNode] = []
        while waiting:
            removed = waiting.pop()
            removing.append(removed)
            if removed.children:
                self._require_access(removed, READ | WRITE | SEARCH, uid, path)
                waiting.extend(removed.children.values())
        for removed in reversed(removing):
            self.space.release(removed)
            if removed.parent is not None:
                del removed.parent.children[removed.name]
                removed.parent.modified = self._clock()
                removed.parent = None


def _names(path: str) -> list[str]:
    """Return the names of a path, last first, without empty ones and `.`."""
    return [name for name in reversed(path.split("/")) if name and name != "."]


def _byte_length(text: str) -> int:
    return len(text.encode("utf-8", "surrogateescape"))

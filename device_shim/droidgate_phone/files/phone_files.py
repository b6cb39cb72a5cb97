"""The phone's files: a tree in memory, with owners, modes and times. Nothing here reaches the host's files.

Paths are absolute texts; bytes of a name that are not UTF-8 are escaped as `surrogateescape` does. An open
file stays usable when its name is removed. Users and groups are Android's (AOSP
`android_filesystem_config.h`).
"""

from __future__ import annotations

import errno
import stat
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, Self

from droidgate_phone.common.uids import FIRST_APP_UID, LAST_APP_UID, ROOT_UID, SHELL_UID, USERS_APART

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
        nodes = [self]
        while nodes[-1].parent is not None:
            nodes.append(nodes[-1].parent)
        return nodes


class _OpenFile:
    """A file that stays open when its name goes; a context manager."""

    def __init__(self, files: VirtualFiles, node: FileNode, path: str) -> None:
        self._files = files
        self._node = node
        self.path = path
        self.position = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Do nothing: nothing is held open."""

    def seek(self, position: int) -> None:
        """Go to an offset from the beginning, which may lie beyond the end."""
        self.position = position


class PhoneFileReader(_OpenFile):
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
        self.position = self._files.write_node(
            self._node, None if self._append else self.position, data, self.path
        )


SDCARD_RW: Final = 1015
MEDIA_RW: Final = 1023

_NAMES: Final = {
    0: "root",
    1000: "system",
    1001: "radio",
    1002: "bluetooth",
    1003: "graphics",
    1004: "input",
    1005: "audio",
    1006: "camera",
    1007: "log",
    1011: "adb",
    1013: "media",
    1015: "sdcard_rw",
    1017: "keystore",
    1023: "media_rw",
    1028: "sdcard_r",
    1077: "external_storage",
    1078: "ext_data_rw",
    1079: "ext_obb_rw",
    2000: "shell",
    2001: "cache",
    3001: "net_bt_admin",
    3002: "net_bt",
    3003: "inet",
    3006: "net_bw_stats",
    3009: "readproc",
    3011: "uhid",
    3012: "readtracefs",
    9997: "everybody",
    9999: "nobody",
}
_NUMBERS: Final = {name: number for number, name in _NAMES.items()}

SHELL_GROUPS: Final = (1004, 1007, 1011, 1015, 1028, 1078, 1079, 3001, 3002, 3003, 3006, 3009, 3011, 3012)
"""Groups of the shell in addition to its own, as adbd sets them."""


@lru_cache(maxsize=1024)
def groups_of(uid: int) -> frozenset[int]:
    """Return the groups of a user's processes."""
    if uid == SHELL_UID:
        return frozenset({SHELL_UID, *SHELL_GROUPS})
    if uid % USERS_APART >= FIRST_APP_UID:
        return frozenset({uid, 9997, 3003})
    return frozenset({uid})


def name_of(number: int) -> str:
    """Return the name of a user or group: `shell`, `u0_a123`; the digits where it has none."""
    user, application = divmod(number, USERS_APART)
    if FIRST_APP_UID <= application <= LAST_APP_UID:
        return f"u{user}_a{application - FIRST_APP_UID}"
    return _NAMES.get(number, str(number))


def number_of(name: str) -> int | None:
    """Return the number of a user or group by its name or digits, None where there is none."""
    if name.isascii() and name.isdecimal():
        return int(name)
    user, underscore, application = name.partition("_a")
    if underscore and user[:1] == "u" and user[1:].isdecimal() and application.isdecimal():
        return int(user[1:]) * USERS_APART + FIRST_APP_UID + int(application)
    return _NUMBERS.get(name)


DEFAULT_CAPACITY: Final = 1 << 30
_LARGEST_NAMELESS: Final = 1 << 26
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
        capacity: How many bytes fit; ENOSPC beyond.
        used: How many bytes the files hold; content that was not read yet is not counted.
        lock: Held while the tree is looked at or changed.
    """

    def __init__(self, *, capacity: int = DEFAULT_CAPACITY, clock: Callable[[], float] = time.time) -> None:
        self.capacity = capacity
        self.used = 0
        self.lock = threading.RLock()
        self._clock = clock
        self._next_inode = 2
        self._root = FileNode(stat.S_IFDIR | 0o755, ROOT_UID, ROOT_UID, clock(), 2)
        self._shared: list[FileNode] = []

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
            return self._require_node(path, uid).status()

    def lstat(self, path: str, *, uid: int = ROOT_UID) -> FileStatus:
        """Return what the path names: of a symbolic link, the link itself.

        Raises:
            VirtualFileError: it is not there, or may not be seen.
        """
        with self.lock:
            return self._require_node(path, uid, follow=False).status()

    def list(self, path: str, *, uid: int = ROOT_UID) -> list[str]:
        """Return the names in a directory, sorted by code point.

        Raises:
            VirtualFileError: it is not a directory, does not exist, or may not be read.
        """
        with self.lock:
            node = self._require_node(path, uid)
            if not node.is_directory:
                raise VirtualFileError(errno.ENOTDIR, path)
            self._require_access(node, READ, uid, path)
            return sorted(node.children)

    def may(self, path: str, access: int, *, uid: int = ROOT_UID) -> bool:
        """Return whether a user may READ, WRITE or SEARCH (execute) what the path leads to."""
        with self.lock:
            try:
                return self._require_node(path, uid).permits(access, uid)
            except VirtualFileError:
                return False

    def read_link(self, path: str, *, uid: int = ROOT_UID) -> str:
        """Return the target of a symbolic link.

        Raises:
            VirtualFileError: EINVAL where it is something else, or it is not there.
        """
        with self.lock:
            node = self._require_node(path, uid, follow=False)
            if not node.is_link:
                raise VirtualFileError(errno.EINVAL, path)
            return node.target

    def real_path(self, path: str) -> str:
        """Return the path without links, `.` and `..`.

        Raises:
            VirtualFileError: the path does not exist.
        """
        with self.lock:
            return self._require_node(path, ROOT_UID).path()

    def read(self, path: str, offset: int = 0, length: int = -1, *, uid: int = ROOT_UID) -> bytes:
        """Return `length` bytes from `offset`, fewer at the end; -1 for all the rest.

        Raises:
            VirtualFileError: it is not there, is a directory or may not be read.
        """
        with self.open_reader(path, uid=uid) as reader:
            reader.seek(offset)
            return reader.read(length)

    def open_reader(self, path: str, *, uid: int = ROOT_UID) -> PhoneFileReader:
        """Return a handle to read the file with, which works also after its name was removed.

        Raises:
            VirtualFileError: it is not there, is a directory or may not be read.
        """
        with self.lock:
            node = self._require_node(path, uid)
            self._require_access(node, READ, uid, path)
            return PhoneFileReader(self, node, path)

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
                    self.write_node(node, None, data() if callable(data) else data, path)
                else:
                    self._charge(node, 0 if callable(data) else len(data), path)
                    node.content = data
            node.modified = self._clock() if mtime is None else mtime

    def open_writer(
        self, path: str, *, append: bool = False, mode: int = 0o644, uid: int = ROOT_UID
    ) -> FileWriter:
        """Return something to write the file with, piece by piece; arguments as in `write`.

        Raises:
            VirtualFileError: the way is not there, is a directory, or may not be written.
        """
        with self.lock:
            node = self._open_for_writing(path, mode, uid, None, truncate=not append)
            return FileWriter(self, node, path, append=append)

    def write_node(
        self, node: FileNode, offset: int | None, data: bytes | bytearray | memoryview, path: str
    ) -> int:
        """Put bytes into an open file, at its end for None; return the offset behind them."""
        with self.lock:
            content = node.load()
            offset = len(content) if offset is None else offset
            end = offset + len(data)
            self._charge(node, max(end, len(content)), path)
            if not isinstance(content, bytearray):
                content = node.content = bytearray(content)
            if offset > len(content):
                content.extend(bytes(offset - len(content)))
            content[offset:end] = data
            node.modified = self._clock()
            return end

    def _charge(self, node: FileNode, size: int, path: str) -> None:
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

    def _release(self, node: FileNode) -> None:
        """Forget the content; a reader that has the node open sees an empty file, as after a truncation."""
        self.used -= node.charged
        node.charged = 0
        node.content = b""

    def make_device(self, path: str, read: Callable[[int], bytes]) -> None:
        """Make a character device: `read(limit)` gives its bytes; what is written to it is gone."""
        with self.lock:
            node = self._create(self._find(path, ROOT_UID), stat.S_IFCHR | 0o666, ROOT_UID, None, path)
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
            location = self._find(path, uid)
            if location.node is not None:
                if parents and location.node.is_directory:
                    return
                raise VirtualFileError(errno.EEXIST, path)
            self._create(location, stat.S_IFDIR | mode, uid, owner, path)

    def share_directory(self, path: str) -> None:
        """Make a directory's tree behave as Android's shared storage: modes there are 0660 and 02770."""
        with self.lock:
            self._shared.append(self._require_node(path, ROOT_UID))

    def mount(self, path: str, *, read_only: bool) -> None:
        """Make a directory the root of a file system; only root writes to one that is read-only."""
        with self.lock:
            self._require_node(path, ROOT_UID).read_only = read_only

    def symlink(self, target: str, path: str, *, uid: int = ROOT_UID) -> None:
        """Make a symbolic link at `path`.

        Raises:
            VirtualFileError: EEXIST, its directory is not there or may not be written, or EPERM in shared
                storage, which has no links.
        """
        with self.lock:
            location = self._find(path, uid, follow=False)
            if location.node is not None:
                raise VirtualFileError(errno.EEXIST, path)
            if self._is_shared(location.parent):
                raise VirtualFileError(errno.EPERM, path)
            self._create(location, stat.S_IFLNK | 0o777, uid, None, path).target = target

    def remove(self, path: str, *, recursive: bool = False, uid: int = ROOT_UID) -> None:
        """Remove a file or link, with `recursive` also a directory with what is in it.

        Raises:
            VirtualFileError: it is not there, is a directory, or its directory may not be written.
        """
        with self.lock:
            location = self._find(path, uid, follow=False)
            if location.node is None:
                raise VirtualFileError(errno.ENOENT, path)
            if location.node.is_directory and not recursive:
                raise VirtualFileError(errno.EISDIR, path)
            self._remove_tree(location.node, uid, path)

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
            node = self._require_node(path, uid)
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

    def _require_node(self, path: str, uid: int, *, follow: bool = True) -> FileNode:
        node = self._find(path, uid, follow=follow).node
        if node is None:
            raise VirtualFileError(errno.ENOENT, path)
        return node

    def _owned(self, path: str, uid: int) -> FileNode:
        node = self._require_node(path, uid)
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
        location = self._find(path, uid)
        if location.node is None:
            if path.endswith("/"):
                raise VirtualFileError(errno.EISDIR, path)
            return self._create(location, stat.S_IFREG | mode, uid, owner, path)
        if location.node.is_directory:
            raise VirtualFileError(errno.EISDIR, path)
        self._require_access(location.node, WRITE, uid, path)
        if truncate and location.node.device is None:
            self._release(location.node)
            location.node.modified = self._clock()
        return location.node

    def _require_access(self, node: FileNode, access: int, uid: int, path: str) -> None:
        if access & WRITE and uid != ROOT_UID and node.device is None:
            mount = next((ancestor for ancestor in node.ancestors() if ancestor.read_only is not None), None)
            if mount is not None and mount.read_only:
                raise VirtualFileError(errno.EROFS, path)
        if not node.permits(access, uid):
            raise VirtualFileError(errno.EACCES, path)

    def _remove_tree(self, node: FileNode, uid: int, path: str) -> None:
        parent = node.parent
        if parent is None:
            raise VirtualFileError(errno.EINVAL, path)
        self._require_access(parent, WRITE | SEARCH, uid, path)
        if parent.mode & stat.S_ISVTX and uid not in {ROOT_UID, parent.uid, node.uid}:
            raise VirtualFileError(errno.EPERM, path)
        waiting = [node]
        removing: list[FileNode] = []
        while waiting:
            removed = waiting.pop()
            removing.append(removed)
            if removed.children:
                self._require_access(removed, READ | WRITE | SEARCH, uid, path)
                waiting.extend(removed.children.values())
        for removed in reversed(removing):
            self._release(removed)
            if removed.parent is not None:
                del removed.parent.children[removed.name]
                removed.parent.modified = self._clock()
                removed.parent = None


def _names(path: str) -> list[str]:
    """Return the names of a path, last first, without empty ones and `.`."""
    return [name for name in reversed(path.split("/")) if name and name != "."]


def _byte_length(text: str) -> int:
    return len(text.encode("utf-8", "surrogateescape"))

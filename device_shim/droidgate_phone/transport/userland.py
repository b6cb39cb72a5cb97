"""What the wire needs of the phone behind it.

Also here: the phone's files as the shell user sees them over adb.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Protocol

from droidgate_phone import phone_files as virtual_files
from droidgate_phone.streams import CommandStreams

_SHELL_UID: Final = 2000
_FOLDER_MODE: Final = 0o775


class ShellFiles:
    """Makes the phone's files what push and pull need."""

    def __init__(self, files: virtual_files.VirtualFiles) -> None:
        self._files = files

    def status(self, path: str, *, follow_links: bool) -> SyncFileStatus:
        """Return the status of a file."""
        look = self._files.stat if follow_links else self._files.lstat
        found = look(path, uid=_SHELL_UID)
        seconds = int(found.modified)
        return SyncFileStatus(
            mode=found.mode,
            size=found.size,
            modified=seconds,
            accessed=seconds,
            changed=seconds,
            inode=found.inode,
            links=found.links,
            owner=found.uid,
            group=found.gid,
        )

    def entries(self, path: str) -> Iterable[tuple[str, SyncFileStatus]]:
        """Return names and status of what is in a folder, `.` and `..` with it."""
        names = [".", "..", *self._files.list(path, uid=_SHELL_UID)]
        return [(name, self.status(f"{path}/{name}", follow_links=False)) for name in names]

    def read(self, path: str) -> bytes:
        """Return the content of a file."""
        return self._files.read(path, uid=_SHELL_UID)

    def create(self, path: str, mode: int) -> None:
        """Make a file empty, or empty one that is there."""
        self._files.write(path, b"", mode=mode, uid=_SHELL_UID)

    def write(self, path: str, content: bytearray, *, modified: int) -> None:
        """Fill a file that was created."""
        self._files.write(path, content, mtime=modified, uid=_SHELL_UID)

    def link(self, path: str, target: str) -> None:
        """Make a symbolic link."""
        self._files.symlink(target, path, uid=_SHELL_UID)

    def make_folders(self, path: str) -> None:
        """Make a folder with those above it, where they are missing."""
        self._files.make_directory(path, parents=True, mode=_FOLDER_MODE, uid=_SHELL_UID)

    def remove(self, path: str) -> None:
        """Remove a file or link."""
        self._files.remove(path, uid=_SHELL_UID)


@dataclass(frozen=True, slots=True)
class SyncFileStatus:
    """What `struct stat` says of a file; times in seconds since 1970 UTC."""

    mode: int
    size: int = 0
    modified: int = 0
    accessed: int = 0
    changed: int = 0
    device: int = 0
    inode: int = 0
    links: int = 1
    owner: int = 0
    group: int = 0


class TransferFiles(Protocol):
    """The files that `adb push` and `adb pull` see; each call may raise OSError with its errno."""

    def status(self, path: str, *, follow_links: bool) -> SyncFileStatus:
        """Return the status of a file."""

    def entries(self, path: str) -> Iterable[tuple[str, SyncFileStatus]]:
        """Return names and status of what is in a folder, `.` and `..` with it."""

    def read(self, path: str) -> bytes:
        """Return the content of a file."""

    def create(self, path: str, mode: int) -> None:
        """Make a file empty, or empty one that is there; its folder has to be there."""

    def write(self, path: str, content: bytearray, *, modified: int) -> None:
        """Fill a file that was created; the content is the file's from then on."""

    def link(self, path: str, target: str) -> None:
        """Make a symbolic link."""

    def make_folders(self, path: str) -> None:
        """Make a folder with those above it, where they are missing."""

    def remove(self, path: str) -> None:
        """Remove a file or link."""


@dataclass(frozen=True, slots=True)
class Banner:
    """What the phone reports about itself when a host connects.

    Attributes:
        product: `ro.product.name`.
        model: `ro.product.model`.
        device: `ro.product.device`.
        features: What its adbd can do.
    """

    product: str
    model: str
    device: str
    features: tuple[str, ...]

    def text(self) -> str:
        """Return the text of the CNXN packet."""
        properties = (
            f"ro.product.name={self.product}",
            f"ro.product.model={self.model}",
            f"ro.product.device={self.device}",
            f"features={','.join(self.features)}",
        )
        return f"device::{';'.join(properties)}"


@dataclass(frozen=True, slots=True)
class Userland:
    """The phone behind the wire.

    Attributes:
        run: Runs a shell command to its end and returns its exit status. An empty command is a shell that
            reads its commands from standard input.
        files: What push and pull see.
        banner: Returns what the phone reports about itself.
    """

    run: Callable[[str, CommandStreams, Mapping[str, str]], int]
    files: TransferFiles
    banner: Callable[[], Banner]

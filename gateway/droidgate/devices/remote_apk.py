"""An APK on a device, read piece by piece and kept.

A reader asks for the end of the archive, its directory and the entries that it needs; only those blocks of
64 KiB cross the cable (reference apk-reading C: 0.25 to 0.85 MB of 3 to 18 MB). They stay below the cache
folder, named by all that distinguishes this file: device, build, package, path, version, length and time of
change.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

from droidgate.devices.device import Device, Identity
from droidgate.devices.device_errors import TransferError
from droidgate.devices.packages import InstalledPackage
from droidgate.devices.sync import FileStatus
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.user_folders import cache_folder

BLOCK: Final = 64 * 1024
MAX_RUN: Final = 64
"""Most blocks of one ranged read: 4 MiB."""

_DIGEST_BYTES: Final = 32
_FOLDER: Final = "remote-apks"


@dataclass(frozen=True, slots=True)
class RemoteKey:
    """What distinguishes one file on one device from any other.

    Attributes:
        identity: Device and build.
        package: The package that the APK belongs to.
        path: Where it is on the device.
        version_code: Of the package.
        size: Its length in bytes.
        modified: Time of change, seconds since 1970.
    """

    identity: Identity
    package: str
    path: str
    version_code: int
    size: int
    modified: int

    def folder(self, root: Path) -> Path:
        """Return the folder of its blocks: one per device, package and APK, and in it one per version."""
        slot = _digest(self.identity.serial_number, self.package, PurePosixPath(self.path).name)
        version = _digest(
            self.identity.fingerprint, self.path, str(self.version_code), str(self.size), str(self.modified)
        )
        return root / slot / version


def _digest(*parts: str) -> str:
    written = b"".join(len(raw).to_bytes(4, "big") + raw for raw in (part.encode() for part in parts))
    return hashlib.sha256(written).hexdigest()[:32]


class BlockCache:
    """Blocks of one remote file in a folder; a block that is not what was written is taken away.

    Args:
        key: Which file.
        root: Folder of all such files; below `cache_folder()` where it is None.
    """

    def __init__(self, key: RemoteKey, root: Path | None = None) -> None:
        self._key = key
        self._folder = key.folder(root or cache_folder() / _FOLDER)
        self._seal = repr(key).encode()
        self._is_ready = False

    def load(self, block: int) -> bytes | None:
        """Return a block, or None where there is none that can be trusted."""
        path = self._path(block)
        try:
            written = path.read_bytes()
        except OSError:
            return None
        digest, data = written[:_DIGEST_BYTES], written[_DIGEST_BYTES:]
        if digest != self._seal_of(block, data) or len(data) != self._length_of(block):
            with contextlib.suppress(OSError):
                path.unlink()
            return None
        return data

    def store(self, block: int, data: bytes) -> None:
        """Keep a block; a cache that cannot be written is not an error."""
        with contextlib.suppress(OSError):
            self._prepare()
            self._write(self._path(block), self._seal_of(block, data) + data)

    def _prepare(self) -> None:
        """Make the folder, and take older versions of the same APK away."""
        if self._is_ready:
            return
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        for path in self._folder.parent.iterdir():
            if path.name != self._folder.name:
                shutil.rmtree(path, ignore_errors=True)
        self._is_ready = True

    def _write(self, path: Path, data: bytes) -> None:
        handle, name = tempfile.mkstemp(dir=self._folder, prefix=".new-")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            Path(name).replace(path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise

    def _path(self, block: int) -> Path:
        return self._folder / f"{block:08x}"

    def _length_of(self, block: int) -> int:
        return min(BLOCK, self._key.size - block * BLOCK)

    def _seal_of(self, block: int, data: bytes) -> bytes:
        return hashlib.sha256(self._seal + block.to_bytes(8, "big") + data).digest()


class RemoteApk:
    """A file on a device as a `ByteSource`; not for several threads at once.

    Args:
        device: The device.
        key: Which file, as it was when it was looked at.
        name: As places write it.
        cache: Where blocks are kept; nowhere but in memory where it is None.

    Attributes:
        bytes_read: Bytes of the file that came over the cable so far.
        requests: Ranged reads so far.
    """

    def __init__(self, device: Device, key: RemoteKey, name: str, *, cache: BlockCache | None = None) -> None:
        self._device = device
        self._key = key
        self._cache = cache
        self.name = name
        self._blocks: dict[int, bytes] = {}
        self._is_open = True
        self.bytes_read = 0
        self.requests = 0

    @property
    def size(self) -> int:
        """Its length in bytes."""
        return self._key.size

    def read(self, offset: int, length: int) -> bytes:
        """Return exactly `length` bytes from `offset` on.

        Raises:
            InputError: the range is not inside the file, or the source is closed.
            DeviceError: the device cannot be reached, or the file is not what it was.
        """
        if not self._is_open:
            raise InputError("the file is closed", place=self.name)
        if offset < 0 or length < 0 or offset + length > self.size:
            message = f"the bytes {offset} to {offset + length} are not inside a file of {self.size}"
            raise InputError(message, place=self.name)
        if not length:
            return b""
        first, last = offset // BLOCK, (offset + length - 1) // BLOCK
        self._load(range(self._first_to_load(first, last), last + 1))
        data = b"".join(self._blocks[block] for block in range(first, last + 1))
        return data[offset - first * BLOCK :][:length]

    def close(self) -> None:
        """Free the blocks in memory."""
        self._blocks.clear()
        self._is_open = False

    def _first_to_load(self, first: int, last: int) -> int:
        """Take one block more in front of the end, where an archive's directory is."""
        is_end = (last + 1) * BLOCK >= self.size
        return max(first - 1, 0) if is_end and not self._blocks else first

    def _load(self, span: range) -> None:
        missing = []
        for block in span:
            if block in self._blocks:
                continue
            cached_block = self._cache.load(block) if self._cache else None
            if cached_block is None:
                missing.append(block)
            else:
                self._blocks[block] = cached_block
        for run in _runs(missing):
            self._fetch(run)

    def _fetch(self, run: range) -> None:
        start = run.start * BLOCK
        length = min(run.stop * BLOCK, self.size) - start
        data = self._device.read_file_range(self._key.path, start, length)
        self.requests += 1
        self.bytes_read += len(data)
        if len(data) != length:
            raise TransferError(
                f"{self._key.path} is shorter than it was: {start + len(data)} bytes instead of {self.size}",
                place=self._device.serial,
                hint="the app may have been updated meanwhile: try again",
            )
        for block in run:
            piece = data[(block - run.start) * BLOCK :][:BLOCK]
            self._blocks[block] = piece
            if self._cache is not None:
                self._cache.store(block, piece)


def _runs(blocks: Sequence[int]) -> Iterable[range]:
    """Yield neighbouring blocks together, no more than `MAX_RUN` at once."""
    at = 0
    while at < len(blocks):
        end = at + 1
        while end < len(blocks) and blocks[end] == blocks[end - 1] + 1 and end - at < MAX_RUN:
            end += 1
        yield range(blocks[at], blocks[end - 1] + 1)
        at = end


def file_statuses(device: Device, paths: Iterable[str]) -> dict[str, FileStatus]:
    """Return what the device says about files, all over one connection.

    What is not there, or must not be looked at, is left out.

    Raises:
        DeviceError: the device cannot be reached.
    """
    statuses: dict[str, FileStatus] = {}
    with device.files() as session:
        for path in paths:
            with contextlib.suppress(TransferError):
                status = session.status(path)
                if status is not None:
                    statuses[path] = status
    return statuses


def open_remote_apk(
    device: Device,
    package: InstalledPackage,
    *,
    path: str | None = None,
    status: FileStatus | None = None,
    root: Path | None = None,
    keep: bool = True,
) -> RemoteApk:
    """Open the base APK of an installed package, `adb:SERIAL/PACKAGE`, or one of its splits.

    Args:
        device: The device.
        package: The package, as `list_packages` gave it.
        path: A split of it; the base APK where it is None.
        status: What `file_statuses` said about the file; asked for where it is None.
        root: Folder of the cache; below `cache_folder()` where it is None.
        keep: Use the cache, and keep there what is read.

    Raises:
        TransferError: there is no such file.
        DeviceError: the device cannot be reached.
    """
    path = path or package.path
    status = status or device.status(path)
    if status is None or not status.is_file:
        raise TransferError(
            f"there is no file {path}", place=device.serial, hint="the app may have been updated meanwhile"
        )
    key = RemoteKey(
        identity=device.identity,
        package=package.name,
        path=path,
        version_code=package.version_code,
        size=status.size,
        modified=status.modified,
    )
    name = f"adb:{device.serial}/{package.name}"
    if path != package.path:
        name += f"/{path.rpartition('/')[2]}"
    return RemoteApk(device, key, name, cache=BlockCache(key, root) if keep else None)

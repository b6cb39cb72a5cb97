"""An APK on a device, read piece by piece.

A reader asks for the end of the archive, its directory and the entries that it needs; only those blocks of
64 KiB cross the cable (reference apk-reading C: 0.25 to 0.85 MB of 3 to 18 MB).
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Sequence
from typing import Final

from droidgate.devices.device import Device
from droidgate.devices.device_errors import TransferError
from droidgate.devices.packages import InstalledPackage
from droidgate.devices.sync import FileStatus
from droidgate_mappings.model.errors import InputError

BLOCK: Final = 64 * 1024
MAX_RUN: Final = 64
"""Most blocks of one ranged read: 4 MiB."""


class RemoteApk:
    """A file on a device as a `ByteSource`; not for several threads at once.

    Args:
        device: The device.
        path: Where it is there.
        size: Its length in bytes, as it was when it was looked at.
        name: As places write it.

    Attributes:
        bytes_read: Bytes of the file that came over the cable so far.
        requests: Ranged reads so far.
    """

    def __init__(self, device: Device, path: str, size: int, name: str) -> None:
        self._device = device
        self._path = path
        self.size = size
        self.name = name
        self._blocks: dict[int, bytes] = {}
        self._is_open = True
        self.bytes_read = 0
        self.requests = 0

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
        for run in _runs([block for block in span if block not in self._blocks]):
            self._fetch(run)

    def _fetch(self, run: range) -> None:
        start = run.start * BLOCK
        length = min(run.stop * BLOCK, self.size) - start
        data = self._device.read_file_range(self._path, start, length)
        self.requests += 1
        self.bytes_read += len(data)
        if len(data) != length:
            raise TransferError(
                f"{self._path} is shorter than it was: {start + len(data)} bytes instead of {self.size}",
                place=self._device.serial,
                hint="the app may have been updated meanwhile: try again",
            )
        for block in run:
            self._blocks[block] = data[(block - run.start) * BLOCK :][:BLOCK]


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
) -> RemoteApk:
    """Open the base APK of an installed package, `adb:SERIAL/PACKAGE`, or one of its splits.

    Args:
        device: The device.
        package: The package, as `list_packages` gave it.
        path: A split of it; the base APK where it is None.
        status: What `file_statuses` said about the file; asked for where it is None.

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
    name = f"adb:{device.serial}/{package.name}"
    if path != package.path:
        name += f"/{path.rpartition('/')[2]}"
    return RemoteApk(device, path, status.size, name)

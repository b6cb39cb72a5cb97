"""Files on the device by adb's sync service: status, receive and send.

Requests are four letters and a length, little end first (AOSP packages/modules/adb, file_sync_protocol.h and
SYNC.TXT). Version 2 of status is used where the daemon has it.
"""

from __future__ import annotations

import stat
import struct
import time
from collections.abc import Callable
from typing import BinaryIO, Final

from droidgate.devices.connection import Connection
from droidgate.devices.device_errors import OutputLimitError, ProtocolError, TransferError, excerpt
from droidgate_mappings.records import dataclass

_MAX_PATH: Final = 1024
_MAX_CHUNK: Final = 64 * 1024
_MAX_MESSAGE: Final = 64 * 1024
_STATUS_V1: Final = struct.Struct("<III")
_STATUS_V2: Final = struct.Struct("<IQQIIIIQqqq")
_MISSING: Final = frozenset({2, 20})
"""ENOENT and ENOTDIR, as the protocol numbers them."""


@dataclass(frozen=True, slots=True)
class FileStatus:
    """What the device says about a file.

    Attributes:
        mode: File type and permission bits, as `os.stat` has them.
        size: Length in bytes; of files of 4 GiB and more only modulo 2**32 before Android 8.
        modified: Seconds since 1970.
    """

    mode: int
    size: int
    modified: int

    @property
    def is_folder(self) -> bool:
        """It is a folder."""
        return stat.S_ISDIR(self.mode)

    @property
    def is_file(self) -> bool:
        """It is a plain file."""
        return stat.S_ISREG(self.mode)


class SyncSession:
    """A session of the sync service on one connection."""

    def __init__(self, connection: Connection, features: frozenset[str], serial: str) -> None:
        self._connection = connection
        self._status_v2 = "stat_v2" in features
        self._serial = serial

    def status(self, path: str) -> FileStatus | None:
        """Return what is at a path, symbolic links followed where the daemon can; None for nothing.

        Raises:
            TransferError: the device may not look there.
            DeviceError: the connection fails.
        """
        self._request(b"STA2" if self._status_v2 else b"STAT", self._path(path))
        kind = self._connection.receive(4)
        if not self._status_v2:
            self._expect(kind, b"STAT")
            mode, size, modified = _STATUS_V1.unpack(self._connection.receive(_STATUS_V1.size))
            return FileStatus(mode, size, modified) if mode else None
        self._expect(kind, b"STA2")
        values = _STATUS_V2.unpack(self._connection.receive(_STATUS_V2.size))
        error, mode, size, modified = values[0], values[3], values[7], values[9]
        if error in _MISSING:
            return None
        if error:
            raise self._failed(f"cannot look at {path}: error {error}")
        return FileStatus(mode, size, modified)

    def receive(self, path: str, sink: Callable[[bytes], object], *, limit: int | None = None) -> int:
        """Copy a file into a sink, piece by piece, and return its length.

        Raises:
            TransferError: the device cannot read it.
            OutputLimitError: it is longer than the limit.
            DeviceError: the connection fails.
        """
        self._request(b"RECV", self._path(path))
        total = 0
        while True:
            kind, length = self._header()
            if kind == b"DONE":
                return total
            if kind == b"FAIL":
                raise self._failed(f"cannot read {path}: {self._message(length)}")
            self._expect(kind, b"DATA")
            if length > _MAX_CHUNK:
                raise ProtocolError(f"the device sent a piece of {length} bytes", place=self._serial)
            total += length
            if limit is not None and total > limit:
                raise OutputLimitError(f"{path} is longer than {limit} bytes", place=self._serial)
            sink(self._connection.receive(length))

    def send(self, source: BinaryIO | bytes, path: str, *, mode: int = 0o644) -> int:
        """Write a file and return its length.

        Raises:
            TransferError: the device cannot write it.
            DeviceError: the connection fails.
        """
        self._request(b"SEND", self._path(path) + f",{stat.S_IFREG | mode}".encode())
        total = 0
        for piece in _pieces(source):
            self._connection.send(b"DATA" + len(piece).to_bytes(4, "little") + piece)
            total += len(piece)
        self._connection.send(b"DONE" + int(time.time()).to_bytes(4, "little"))
        kind, length = self._header()
        if kind == b"FAIL":
            raise TransferError(
                f"cannot write {path}: {self._message(length)}",
                place=self._serial,
                hint="name a folder that adb may write, such as /sdcard/Download or /data/local/tmp",
            )
        self._expect(kind, b"OKAY")
        return total

    def quit(self) -> None:
        """End the session in order."""
        self._connection.send(b"QUIT" + bytes(4))

    def _path(self, path: str) -> bytes:
        try:
            raw = path.encode()
        except UnicodeEncodeError:
            raw = b""
        if not raw or b"\0" in raw or len(raw) > _MAX_PATH:
            raise self._failed(f"{excerpt(path)!r} is not a path that adb takes")
        return raw

    def _request(self, kind: bytes, argument: bytes) -> None:
        if len(argument) > _MAX_PATH:
            raise self._failed("the path is too long for adb")
        self._connection.send(kind + len(argument).to_bytes(4, "little") + argument)

    def _header(self) -> tuple[bytes, int]:
        header = self._connection.receive(8)
        return header[:4], int.from_bytes(header[4:], "little")

    def _message(self, length: int) -> str:
        if length > _MAX_MESSAGE:
            raise ProtocolError(f"the device sent a message of {length} bytes", place=self._serial)
        return excerpt(self._connection.receive(length).decode("utf-8", "backslashreplace"))

    def _expect(self, kind: bytes, expected_kind: bytes) -> None:
        if kind != expected_kind:
            received, expected = excerpt(kind.decode("latin-1")), expected_kind.decode()
            raise ProtocolError(f"the device sent {received!r} in place of {expected}", place=self._serial)

    def _failed(self, message: str) -> TransferError:
        return TransferError(message, place=self._serial)


def _pieces(source: BinaryIO | bytes) -> list[bytes] | _Reader:
    if isinstance(source, bytes):
        return [source[at : at + _MAX_CHUNK] for at in range(0, len(source), _MAX_CHUNK)]
    return _Reader(source)


class _Reader:
    """A file, piece by piece."""

    def __init__(self, source: BinaryIO) -> None:
        self._source = source

    def __iter__(self) -> _Reader:
        return self

    def __next__(self) -> bytes:
        piece = self._source.read(_MAX_CHUNK)
        if not piece:
            raise StopIteration
        return piece

"""`sync:`, behind `adb push`, `adb pull` and `adb ls`.

Facts: AOSP `packages/modules/adb` docs/dev/sync.md (once SYNC.TXT), file_sync_protocol.h,
daemon/file_sync_service.cpp. All numbers are little-endian.
"""

from __future__ import annotations

import contextlib
import errno
import stat
import struct
from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from droidgate_phone.common.uids import SHELL_UID
from droidgate_phone.files.phone_files import FileStatus, VirtualFiles
from droidgate_phone.transport.sockets import Buffer, Endpoint, read_exactly

HEAD: Final = struct.Struct("<4sI")
STATUS: Final = struct.Struct("<4sIII")
STATUS_2: Final = struct.Struct("<4sIQQIIIIQqqq")
ENTRY: Final = struct.Struct("<4sIIII")
ENTRY_2: Final = struct.Struct("<4sIQQIIIIQqqqI")
SEND_2: Final = struct.Struct("<4sII")
RECEIVE_2: Final = struct.Struct("<4si")

LARGEST_DATA: Final = 64 * 1024
LONGEST_PATH: Final = 1024
DRY_RUN: Final = 0x80000000

_DATA_IN_A_WRITE: Final = 15
_LOW_32: Final = 0xFFFFFFFF
_FOLDER_MODE: Final = 0o775
_OWN: Final = 0o600


class _TransferError(Exception):
    """The transfer fails with a text for the host, and the service ends."""


class _ClosedError(Exception):
    """The host is gone, or said QUIT."""


def serve_files(files: VirtualFiles, endpoint: Endpoint) -> None:
    """Answer requests, as the shell, until the host ends the service or one fails."""
    session = _Session(files, endpoint)
    try:
        while True:
            session.answer_request()
    except (_ClosedError, BrokenPipeError):
        return


class _Session:
    def __init__(self, files: VirtualFiles, endpoint: Endpoint) -> None:
        self._files = files
        self._endpoint = endpoint

    def answer_request(self) -> None:
        """Answer one request; raises _ClosedError where none follows."""
        try:
            self._answer()
        except _TransferError as error:
            self._fail(str(error))
            raise _ClosedError from error

    def _answer(self) -> None:
        kind, length = HEAD.unpack(self._read(HEAD.size))
        if length > LONGEST_PATH:
            raise _TransferError("path too long")
        # The name ends at a NUL, as it does in C.
        path = self._read(length).partition(b"\0")[0].decode("utf-8", "surrogateescape")
        answer = _ANSWERS.get(kind)
        if answer is None:
            number = int.from_bytes(kind, "little")
            raise _TransferError(f"unknown command {number:08x}")
        answer(self, path)

    def _read(self, count: int) -> bytes:
        content = read_exactly(self._endpoint, count)
        if content is None:
            raise _ClosedError
        return content

    def send_status(self, path: str) -> None:
        """Answer STAT, which does not follow links."""
        fields = (0, 0, 0)
        with contextlib.suppress(OSError):
            fields = _status_fields(self._files.lstat(path, uid=SHELL_UID))
        self._endpoint.write(STATUS.pack(b"STAT", *fields))

    def send_followed_status_2(self, path: str) -> None:
        """Answer STA2."""
        self._endpoint.write(_pack_status_2(b"STA2", self._files.stat, path))

    def send_link_status_2(self, path: str) -> None:
        """Answer LST2."""
        self._endpoint.write(_pack_status_2(b"LST2", self._files.lstat, path))

    def list_entries(self, path: str) -> None:
        """Answer LIST."""
        for name, status in self._entries(path):
            self._endpoint.write(ENTRY.pack(b"DENT", *_status_fields(status), len(name)), name)
        self._endpoint.write(b"DONE".ljust(ENTRY.size, b"\0"))

    def list_entries_2(self, path: str) -> None:
        """Answer LIS2."""
        for name, status in self._entries(path):
            self._endpoint.write(ENTRY_2.pack(b"DNT2", 0, *_status_2_fields(status), len(name)), name)
        self._endpoint.write(b"DONE".ljust(ENTRY_2.size, b"\0"))

    def _entries(self, path: str) -> list[tuple[bytes, FileStatus]]:
        """Return names and status of a folder's entries; none for one that cannot be read, as adbd does."""
        try:
            names = [".", "..", *self._files.list(path, uid=SHELL_UID)]
            statuses = [self._files.lstat(f"{path}/{name}", uid=SHELL_UID) for name in names]
        except OSError:
            return []
        return list(zip((name.encode("utf-8", "surrogateescape") for name in names), statuses, strict=True))

    def give_file(self, path: str) -> None:
        """Answer RECV."""
        try:
            content = self._files.read(path, uid=SHELL_UID)
        except OSError as error:
            # A folder can be opened, but not read.
            what = "read failed" if error.errno == errno.EISDIR else "open failed"
            raise _TransferError(f"{what}: {_reason(error)}") from error
        view = memoryview(content)
        pieces: list[Buffer] = []
        for start in range(0, len(view), LARGEST_DATA):
            piece = view[start : start + LARGEST_DATA]
            pieces += [HEAD.pack(b"DATA", len(piece)), piece]
            if len(pieces) >= 2 * _DATA_IN_A_WRITE:
                self._endpoint.write(*pieces)
                pieces = []
        self._endpoint.write(*pieces, HEAD.pack(b"DONE", 0))

    def give_file_2(self, path: str) -> None:
        """Answer RCV2."""
        kind, flags = RECEIVE_2.unpack(self._read(RECEIVE_2.size))
        if kind != b"RCV2" or flags:
            raise _TransferError(f"unknown flags: {flags}")
        self.give_file(path)

    def take_file(self, specification: str) -> None:
        """Answer SEND."""
        path, comma, mode = specification.rpartition(",")
        if not comma:
            raise _TransferError("missing , in ID_SEND_V1")
        self._take_file(path, _leading_number(mode), dry_run=False)

    def take_file_2(self, path: str) -> None:
        """Answer SND2."""
        kind, mode, flags = SEND_2.unpack(self._read(SEND_2.size))
        if kind != b"SND2" or flags & ~DRY_RUN:
            raise _TransferError(f"unknown flags: {flags & ~DRY_RUN}")
        self._take_file(path, mode, dry_run=bool(flags & DRY_RUN))

    def _take_file(self, path: str, mode: int, *, dry_run: bool) -> None:
        if dry_run:
            self._take_data()
        elif stat.S_ISLNK(mode):
            self._make_replaceable(path, is_link=True)
            content, _ = self._take_data()
            target = content.partition(b"\0")[0].decode("utf-8", "surrogateescape")
            link = partial(self._files.symlink, target, path, uid=SHELL_UID)
            self._in_folder(path, "symlink failed", link)
        else:
            self._take_content(path, _permissions(mode))
        self._endpoint.write(HEAD.pack(b"OKAY", 0))

    def _take_content(self, path: str, mode: int) -> None:
        is_own = self._make_replaceable(path, is_link=False)
        try:
            create = partial(self._files.write, path, b"", mode=mode | _OWN, uid=SHELL_UID)
            self._in_folder(path, "couldn't create file", create)
        except _TransferError as refused:
            # The host still sends; closing at once could lose the reason.
            self._fail(str(refused))
            self._take_data()
            raise _ClosedError from refused
        try:
            content, modified = self._take_data()
            fill = partial(self._files.write, path, content, mtime=modified, uid=SHELL_UID)
            self._attempt("write failed", fill)
            if is_own:
                # It was open for writing, whatever its mode.
                self._attempt("write failed", partial(self._files.chmod, path, mode, uid=SHELL_UID))
        except (_ClosedError, _TransferError):
            if is_own:
                with contextlib.suppress(OSError):
                    self._files.remove(path, uid=SHELL_UID)
            raise

    def _make_replaceable(self, path: str, *, is_link: bool) -> bool:
        """Remove what was there, but no folder or device; return whether the file is the host's own."""
        try:
            mode = self._files.lstat(path, uid=SHELL_UID).mode
        except OSError:
            return True
        is_own = stat.S_ISREG(mode) or (stat.S_ISLNK(mode) and not is_link)
        if is_own or is_link:
            with contextlib.suppress(OSError):
                self._files.remove(path, uid=SHELL_UID)
        return is_own

    def _in_folder(self, path: str, what: str, action: Callable[[], None]) -> None:
        """Do something in a folder that may have to be made first."""
        try:
            action()
        except OSError as error:
            if error.errno != errno.ENOENT:
                raise _TransferError(f"{what}: {_reason(error)}") from error
            folder = path.rstrip("/").rpartition("/")[0] or "/"
            make = partial(self._files.make_directory, folder, parents=True, mode=_FOLDER_MODE, uid=SHELL_UID)
            self._attempt("secure_mkdirs() failed", make)
            self._attempt(what, action)

    def _take_data(self) -> tuple[bytearray, int]:
        """Return the content and its time, in seconds since 1970."""
        content = bytearray()
        while True:
            kind, number = HEAD.unpack(self._read(HEAD.size))
            if kind == b"DONE":
                return content, number
            if kind != b"DATA":
                raise _TransferError("invalid data message")
            # A block may be larger than those that are sent from here: adbd takes any.
            while number:
                piece = self._read(min(number, LARGEST_DATA))
                content += piece
                number -= len(piece)

    def _attempt(self, what: str, action: Callable[[], None]) -> None:
        try:
            action()
        except OSError as error:
            raise _TransferError(f"{what}: {_reason(error)}") from error

    def _fail(self, text: str) -> None:
        encoded = text.encode("utf-8", "surrogateescape")
        self._endpoint.write(HEAD.pack(b"FAIL", len(encoded)), encoded)

    def quit(self, _path: str) -> None:
        """Answer QUIT."""
        raise _ClosedError


_ANSWERS: Final[Mapping[bytes, Callable[[_Session, str], None]]] = {
    b"STAT": _Session.send_status,
    b"STA2": _Session.send_followed_status_2,
    b"LST2": _Session.send_link_status_2,
    b"LIST": _Session.list_entries,
    b"LIS2": _Session.list_entries_2,
    b"SEND": _Session.take_file,
    b"SND2": _Session.take_file_2,
    b"RECV": _Session.give_file,
    b"RCV2": _Session.give_file_2,
    b"QUIT": _Session.quit,
}


def _pack_status_2(kind: bytes, find: Callable[..., FileStatus], path: str) -> bytes:
    try:
        return STATUS_2.pack(kind, 0, *_status_2_fields(find(path, uid=SHELL_UID)))
    except OSError as error:
        return STATUS_2.pack(kind, error.errno or 0, *[0] * 10)


def _status_fields(found: FileStatus) -> tuple[int, int, int]:
    return found.mode, found.size & _LOW_32, int(found.modified) & _LOW_32


def _status_2_fields(found: FileStatus) -> tuple[int, ...]:
    """Return the fields of the second version, the number of the device first; all times are one."""
    owner = (found.uid, found.gid)
    return (0, found.inode, found.mode, found.links, *owner, found.size, *[int(found.modified)] * 3)


def _permissions(mode: int) -> int:
    """Copy the owner's bits to group and others, as adbd does."""
    owner = mode & 0o700
    return (mode & 0o777) | owner >> 3 | owner >> 6


def _leading_number(text: str) -> int:
    """Return the number at the beginning, read as C's `strtoul` with base 0 does; 0 where there is none."""
    text = text.strip()
    for length in range(len(text), 0, -1):
        beginning = text[:length]
        is_octal = beginning.startswith("0") and beginning.isdecimal()
        try:
            return int(beginning, 8 if is_octal else 0)
        except ValueError:
            continue
    return 0


def _reason(error: OSError) -> str:
    return error.strerror or str(error)

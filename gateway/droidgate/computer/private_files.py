"""Files that only the user may read and write: pins, the audit log, the key of its digests.

What another user of the computer could have written decides nothing here, so such a file is an error.
"""

from __future__ import annotations

import os
import stat
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from droidgate_mappings.model.errors import DroidgateError, InputError, WriteError

_FOLLOWED: Final = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
NO_LINK: Final = getattr(os, "O_NOFOLLOW", 0) | _FOLLOWED
"""Flags for a file that droidgate itself makes: a symbolic link in its place is an error."""

_NO_WAITING: Final = getattr(os, "O_NONBLOCK", 0)
_LOCKED_BYTE: Final = 1 << 40
"""What Windows locks, and nobody else may read then: a byte that no file of ours reaches."""

_SECONDS_BETWEEN_LOCKS: Final = 0.02


def read_private(path: Path, *, largest: int, may_be_link: bool = False) -> bytes | None:
    """Return the bytes of a file, None where there is none.

    Args:
        path: The file.
        largest: Most bytes that it may have.
        may_be_link: It may be a symbolic link, as a user's own settings often are.

    Raises:
        InputError: it cannot be read, is not a regular file, is too large, or another user may write it.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | _NO_WAITING | (_FOLLOWED if may_be_link else NO_LINK))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise unreadable_error(path, error) from None
    try:
        check_private(descriptor, path)
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            data = file.read(largest + 1)
    except OSError as error:
        raise unreadable_error(path, error) from None
    finally:
        os.close(descriptor)
    if len(data) > largest:
        message = f"the file has more than {largest:,} bytes"
        raise InputError(message, place=str(path), hint="move it away, and start with an empty one")
    return data


def check_private(descriptor: int, path: Path) -> None:
    """Check that an open file is a regular one that no other user may write.

    Raises:
        InputError: the file is not regular, or another user may write it.
    """
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        raise InputError("it is not a regular file", place=str(path), hint="move it away")
    if sys.platform == "win32":  # files have no owner there that `stat` knows
        return
    if status.st_uid not in {os.geteuid(), 0}:
        message = "the file belongs to another user of this computer"
        raise InputError(message, place=str(path), hint="move it away, or change its owner")
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        message = "other users of this computer may write the file"
        raise InputError(message, place=str(path), hint=f"read it, then run: chmod go-w {path}")


def replace_private(path: Path, data: bytes) -> None:
    """Write a file with mode 0600 in place of what is there; nobody ever sees half of it.

    Raises:
        WriteError: it cannot be written.
    """
    try:
        make_private_folder(path.parent)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            Path(name).replace(path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
        sync_folder(path.parent)
    except (OSError, ValueError) as error:
        raise unwritable(path, error) from None


def make_private_folder(folder: Path) -> None:
    """Make a folder that only the user may enter, where there is none."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)


def sync_folder(folder: Path) -> None:
    """Make a new name in a folder durable, where the system can."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


@contextmanager
def exclusive_file(path: Path) -> Iterator[int]:
    """Hold a file, as `private_file` opens it and `lock_file` locks it."""
    with private_file(path) as descriptor:
        lock_file(descriptor, wait=True)
        yield descriptor


@contextmanager
def private_file(path: Path) -> Iterator[int]:
    """Open a file, which is made where there is none, and yield its descriptor for reading and writing.

    Raises:
        InputError: it is not a regular file of the user.
        WriteError: it cannot be opened.
    """
    flags = os.O_RDWR | os.O_CREAT | _NO_WAITING | NO_LINK
    try:
        try:
            descriptor = os.open(path, flags, 0o600)
        except FileNotFoundError:
            make_private_folder(path.parent)
            descriptor = os.open(path, flags, 0o600)
    except (OSError, ValueError) as error:
        raise unwritable(path, error) from None
    try:
        check_private(descriptor, path)
        yield descriptor
    finally:
        os.close(descriptor)


def lock_file(descriptor: int, *, wait: bool) -> bool:
    """Lock an open file until it is closed, and return whether it is held; other threads and processes wait.

    Args:
        descriptor: The file.
        wait: Wait for whoever holds it.

    Raises:
        OSError: the system cannot lock the file.
    """
    if sys.platform != "win32":
        import fcntl

        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            return False
        return True
    import msvcrt

    position = os.lseek(descriptor, 0, os.SEEK_CUR)
    os.lseek(descriptor, _LOCKED_BYTE, os.SEEK_SET)
    try:
        while True:
            try:
                msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
            except PermissionError:
                if not wait:
                    return False
                time.sleep(_SECONDS_BETWEEN_LOCKS)
            else:
                return True
    finally:
        os.lseek(descriptor, position, os.SEEK_SET)


def unreadable_error(path: Path, error: OSError | ValueError) -> DroidgateError:
    """Return the error for a file that cannot be read; Python refuses some names itself."""
    reason = error.strerror if isinstance(error, OSError) else error
    return InputError(f"the file cannot be read: {reason}", place=str(path))


def unwritable(path: Path, error: OSError | ValueError) -> DroidgateError:
    """Return the error for a file that cannot be written; Python refuses some names itself."""
    reason = error.strerror if isinstance(error, OSError) else error
    return WriteError(f"the file cannot be written: {reason}", place=str(path))

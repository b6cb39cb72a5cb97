"""The one way to read a file of somebody else's project: a regular file, inside it, of bounded size.

Whoever made the project chose its links: one to a device never ends, a pipe is waited for, and one out of the
project would carry a file of this machine into what droidgate writes.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Final

from droidgate_mappings.model.errors import BudgetError, InputError

MAX_FILE_BYTES: Final = 16 * 1024 * 1024
"""Bytes of one file, where nothing else is said."""

_FLAGS: Final = (
    os.O_RDONLY
    | getattr(os, "O_BINARY", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_NOCTTY", 0)
)
_NO_LINK: Final = getattr(os, "O_NOFOLLOW", 0)
_OUTSIDE: Final = "put the file itself there, or name the folder that holds both"


def read_project_file(
    path: str | Path, *, root: str | Path | None, label: str | None = None, most: int = MAX_FILE_BYTES
) -> bytes:
    """Return the content of a file.

    Args:
        path: The file.
        root: The project's folder; None for a file that the user named, which may be anywhere.
        label: How errors name the file.
        most: Bytes that it may have.

    Raises:
        InputError: it is not a regular file, is outside of the project, or cannot be read.
        BudgetError: the file is larger than the limit.
    """
    place = str(path) if label is None else label
    data = _read_start(path, most + 1, root, place)
    if len(data) > most:
        raise BudgetError(f"it has more than {most} bytes", place=place)
    return data


def read_start(path: str | Path, length: int) -> bytes:
    """Return the first bytes of a regular file that the user named.

    Raises:
        InputError: it is not a regular file, or cannot be read.
    """
    return _read_start(path, length, None, str(path))


def _read_start(path: str | Path, length: int, root: str | Path | None, place: str) -> bytes:
    descriptor = -1
    try:
        descriptor = _open(path, root, place)
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise _not_regular(place)
        return _read(descriptor, length)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"cannot be read: {reason}", place=place) from None
    finally:
        if descriptor >= 0:
            os.close(descriptor)


def _not_regular(place: str) -> InputError:
    return InputError("it is not a regular file", place=place, hint="name a regular file")


def _open(path: str | Path, root: str | Path | None, place: str) -> int:
    if root is None:
        return os.open(path, _FLAGS)
    real = check_inside(path, root, place)
    # The path has no link any more: one that appears now was put there meanwhile.
    return os.open(real, _FLAGS | _NO_LINK)


def check_inside(path: str | Path, root: str | Path, place: str) -> str:
    """Return the real path of a file or folder of a project.

    Raises:
        InputError: a link leads out of the project; `place` is how the error names the path.
        OSError: the links form a circle.
        ValueError: no file can have the name.
    """
    real = os.path.realpath(path)
    inside = os.path.realpath(root)
    if os.path.commonpath([real, inside]) != inside:
        raise InputError("a link leads out of the project", place=place, hint=_OUTSIDE)
    return real


def _read(descriptor: int, most: int) -> bytes:
    pieces: list[bytes] = []
    remaining = most
    while remaining and (piece := os.read(descriptor, min(remaining, 1 << 20))):
        pieces.append(piece)
        remaining -= len(piece)
    return b"".join(pieces)


def check_regular(path: str | os.PathLike[str]) -> None:
    """Check that what a path leads to can be opened without waiting; a path that leads nowhere can.

    Raises:
        InputError: it is a folder, a pipe or a device.
    """
    if Path(path).exists() and not is_regular_file(os.fspath(path)):
        raise _not_regular(os.fspath(path))


def is_regular_file(path: str | Path) -> bool:
    """Return whether a path leads to a regular file; a name that no file can have does not."""
    try:
        return stat.S_ISREG(os.stat(path).st_mode)  # noqa: PTH116 - a name may be bytes that are not text
    except (OSError, ValueError):
        return False

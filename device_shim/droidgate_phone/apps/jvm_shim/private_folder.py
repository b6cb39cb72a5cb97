"""The folder that keeps what the JVM runs: no other user may write to it, nor replace it."""

from __future__ import annotations

import os
import shutil
import stat
import sys
from pathlib import Path
from typing import Final

from droidgate_mappings.model.errors import UsageError
from droidgate_mappings.user_folders import cache_folder

_WRITABLE_BY_OTHERS: Final = stat.S_IWGRP | stat.S_IWOTH


def runtime_folder() -> Path:
    """Return the folder, made where it does not exist, with mode 0700.

    What is in it is removed where others could write to it until now.

    Raises:
        UsageError: it, or a folder above it, belongs to another user or is writable for others.
    """
    cache = cache_folder() / "shim-runtime"
    try:
        cache.parent.mkdir(parents=True, exist_ok=True)
        cache.mkdir(mode=0o700, exist_ok=True)
        folder = cache.resolve(strict=True)
        _check_parents(folder)
        _close(folder)
    except OSError as error:
        raise UsageError(f"cannot use the cache folder {cache}: {error.strerror or error}") from None
    return folder


def _check_parents(folder: Path) -> None:
    if sys.platform == "win32":
        return
    for parent in folder.parents:
        status = parent.stat()
        # In a folder with the sticky bit, such as /tmp, others cannot rename what is not theirs.
        is_open = status.st_mode & _WRITABLE_BY_OTHERS and not status.st_mode & stat.S_ISVTX
        if status.st_uid not in {0, os.geteuid()} or is_open:
            raise UsageError(
                f'others can replace the cache folder "{folder}", because they can write to "{parent}"',
                hint=f"run: chmod go-w {parent}, or set DROIDGATE_HOME to a folder of your own",
            )


def _close(folder: Path) -> None:
    if sys.platform == "win32":
        return
    status = folder.stat()
    if status.st_uid != os.geteuid():
        raise UsageError(
            f'the cache folder "{folder}" belongs to another user',
            hint="set DROIDGATE_HOME to a folder of your own",
        )
    if stat.S_IMODE(status.st_mode) == stat.S_IRWXU:
        return
    folder.chmod(stat.S_IRWXU)
    if status.st_mode & _WRITABLE_BY_OTHERS:
        for entry in folder.iterdir():
            _remove(entry)


def is_own(path: Path) -> bool:
    """Return whether something in the folder can be used: it is this user's, and not a link.

    What is not is removed.
    """
    try:
        status = path.lstat()
    except FileNotFoundError:
        return False
    is_link = stat.S_ISLNK(status.st_mode)
    if sys.platform == "win32":
        return not is_link
    if not is_link and status.st_uid == os.geteuid() and not status.st_mode & _WRITABLE_BY_OTHERS:
        return True
    _remove(path)
    return False


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()

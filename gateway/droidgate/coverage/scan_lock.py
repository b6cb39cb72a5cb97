"""One scan at a time writes a catalog."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from droidgate.sources.spelling import printable
from droidgate_mappings.model.errors import InputError


@contextmanager
def only_scan_of(folder: Path) -> Iterator[None]:
    """Hold a folder so that no other scan writes into it; the system lets go of it when the process ends.

    The folder itself is locked, so that no file stays behind. Where the system cannot lock a folder (Windows,
    some network disks) nothing is held.

    Raises:
        InputError: another scan holds it.
    """
    try:
        import fcntl  # noqa: PLC0415 - not on every system
    except ImportError:
        yield
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                hint = "wait for it, or name another folder"
                place = printable(str(folder))
                raise InputError("another scan writes this catalog now", place=place, hint=hint) from None
        yield
    finally:
        os.close(descriptor)

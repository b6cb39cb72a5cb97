"""Which units have their rows already: digests, sorted, in a file that every worker maps into memory."""

from __future__ import annotations

import hashlib
import mmap
from collections.abc import Iterable
from pathlib import Path
from typing import Final

_BYTES: Final = 32
KNOWN_FILES: Final = f"known-{'[0-9a-f]' * 16}.units"
"""The pattern of the names of such files."""


def write_known(folder: Path, units: Iterable[str]) -> Path:
    """Write the file of known units, given as hexadecimal SHA-256 digests, and return its path.

    Its name has a digest of its content: a worker that stays from an earlier scan must not take the units of
    that one for those of this one.
    """
    content = b"".join(sorted({bytes.fromhex(unit) for unit in units}))
    path = folder / f"known-{hashlib.sha256(content).hexdigest()[:16]}.units"
    path.write_bytes(content)
    return path


class KnownUnits:
    """The known units of a file; none where the file does not exist, as on another machine.

    Args:
        path: The file, None for none.
    """

    def __init__(self, path: str | None) -> None:
        self._digests: mmap.mmap | None = None
        if path:
            try:
                with Path(path).open("rb") as file:
                    self._digests = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            except (OSError, ValueError):  # not there, or empty
                self._digests = None

    def __contains__(self, unit: object) -> bool:
        digests = self._digests
        if digests is None or not isinstance(unit, str):
            return False
        digest = bytes.fromhex(unit)
        low, high = 0, len(digests) // _BYTES
        while low < high:
            middle = (low + high) // 2
            middle_digest = digests[middle * _BYTES : (middle + 1) * _BYTES]
            if middle_digest == digest:
                return True
            if middle_digest < digest:
                low = middle + 1
            else:
                high = middle
        return False

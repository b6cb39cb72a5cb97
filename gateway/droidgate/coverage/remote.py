"""Remote files through fsspec: whatever it has a file system for (`s3://`, `gs://`, `https://`...)."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

from droidgate.coverage.extras import need
from droidgate.model.errors import BudgetError, InputError, UsageError
from droidgate.sources.folders import ARCHIVE_ENDINGS
from droidgate.sources.spelling import printable

MAX_REMOTE_BYTES: Final = 4 << 30
"""No remote file that is read is larger."""

_URL: Final = re.compile(r"[a-z][a-z0-9+.-]*(?:::|://)", re.IGNORECASE)
_BLOCK: Final = 1 << 20
_OF_THIS_PROCESS: Final = ("memory:",)


def is_remote(spelled: str) -> bool:
    """Tell whether a source is a URL."""
    return _URL.match(spelled) is not None


def is_only_here(url: str) -> bool:
    """Tell whether other processes cannot read a URL."""
    return url.startswith(_OF_THIS_PROCESS)


def find_remote(url: str) -> list[str]:
    """Return the URLs of the APKs and containers at or below a URL, sorted; of a single file, itself.

    Raises:
        UsageError: the scheme is not known, or the package behind it is not installed.
        InputError: the place cannot be listed.
    """
    system, path = _open_system(url)
    if path.lower().endswith(ARCHIVE_ENDINGS):
        return [url]
    try:
        if not url.endswith("/") and system.isfile(path):
            return [url]
        found = [name for name in system.find(path) if name.lower().endswith(ARCHIVE_ENDINGS)]
    except Exception as error:  # noqa: BLE001 - each file system has errors of its own
        raise InputError(f"it cannot be listed: {_reason(error)}", place=printable(url)) from None
    if not found:
        raise InputError("there is no APK at or below it", place=printable(url))
    return sorted(str(system.unstrip_protocol(name)) for name in found)


def fetch(url: str, take: Callable[[bytes], object]) -> None:
    """Read a remote file piece by piece.

    Raises:
        InputError: it cannot be read.
        BudgetError: it is larger than `MAX_REMOTE_BYTES`.
    """
    total = 0
    try:
        system, path = _open_system(url)
        with system.open(path, "rb", block_size=_BLOCK, cache_type="readahead") as file:
            while piece := file.read(_BLOCK):
                total += len(piece)
                if total > MAX_REMOTE_BYTES:
                    break
                take(piece)
    except Exception as error:  # noqa: BLE001 - each file system has errors of its own
        raise InputError(f"it cannot be read: {_reason(error)}", place=printable(url)) from None
    if total > MAX_REMOTE_BYTES:
        raise BudgetError(f"it has more than {MAX_REMOTE_BYTES} bytes", place=printable(url))


def _open_system(url: str) -> tuple[Any, str]:
    fsspec = need("fsspec", "coverage")
    scheme = url.partition(":")[0]
    try:
        system, path = fsspec.core.url_to_fs(url)
    except ImportError as error:
        package = _package_behind(scheme) or str(error)
        message = f"{scheme}: needs a package that is not installed: {package}"
        raise UsageError(message, hint=f"pip install {package}") from None
    except ValueError:
        message = f"{scheme}: is no scheme that fsspec knows"
        raise UsageError(message, hint="Local paths are written without a scheme") from None
    return system, path


def _package_behind(scheme: str) -> str | None:
    known = need("fsspec.registry", "coverage").known_implementations.get(scheme, {})
    module = str(known.get("class", "")).partition(".")[0]
    return "aiohttp" if scheme in {"http", "https"} else module or None


def _reason(error: Exception) -> str:
    told = str(error).strip().splitlines()
    return f"{type(error).__name__}: {told[0]}" if told else type(error).__name__

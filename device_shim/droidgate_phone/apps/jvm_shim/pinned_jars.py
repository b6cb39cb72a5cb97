"""The jars of the local Maven repository, each compared with the SHA-256 that `jars.toml` pins."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
import tomllib
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Final

from droidgate_mappings.model.errors import UsageError
from droidgate_phone.apps.jvm_shim.private_folder import is_own, runtime_folder

_FETCH: Final = "scripts/fetch_robolectric.sh downloads 0.8 GB from Maven Central, once"
_CHECKED: Final = "checked-jars.json"

_checked_here: dict[str, str] = {}


@cache
def _pinned() -> dict[str, dict[str, str]]:
    text = files(__package__).joinpath("jars.toml").read_text("utf-8")
    return {group: dict(jars) for group, jars in tomllib.loads(text).items()}


def pinned_jars(group: str) -> tuple[Path, ...]:
    """Return the jars of a group of `jars.toml`, in its order.

    Raises:
        UsageError: one is missing, or is not the one that is pinned.
    """
    paths = {}
    for coordinates, digest in _pinned()[group].items():
        path = _path(coordinates)
        if not path.is_file():
            raise UsageError(
                f"shims on the JVM need {coordinates} in the local Maven repository", hint=_FETCH
            )
        paths[path] = digest
    _check(paths)
    return tuple(paths)


def _path(coordinates: str) -> Path:
    group, name, version = coordinates.split(":")
    repository = Path.home() / ".m2" / "repository"
    return repository / group.replace(".", "/") / name / version / f"{name}-{version}.jar"


def _check(paths: dict[Path, str]) -> None:
    """Compare each file with its digest, unless it was compared and has not changed since."""
    states = {_state(path): (path, digest) for path, digest in paths.items()}
    if all(_checked_here.get(state) == digest for state, (_, digest) in states.items()):
        return
    file = runtime_folder() / _CHECKED
    known = {**_read(file), **_checked_here}
    is_new = False
    for state, (path, digest) in states.items():
        if known.get(state) != digest:
            found = _digest(path)
            if found != digest:
                raise UsageError(
                    f'{path} has the SHA-256 "{found}", "{digest}" is required',
                    hint=f"delete it and fetch it again: {_FETCH}",
                )
            known[state] = digest
            is_new = True
        _checked_here[state] = digest
    if is_new:
        _write(file, known)


def _state(path: Path) -> str:
    """Return what changes with a file's content; the time of the last status change cannot be set back."""
    found = path.stat()
    return f"{path}|{found.st_dev}|{found.st_ino}|{found.st_size}|{found.st_mtime_ns}|{found.st_ctime_ns}"


def _digest(path: Path) -> str:
    with path.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def _read(file: Path) -> dict[str, str]:
    if not is_own(file):
        return {}
    try:
        read = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return {str(state): str(digest) for state, digest in read.items()} if isinstance(read, dict) else {}


def _write(file: Path, known: dict[str, str]) -> None:
    handle, partial = tempfile.mkstemp(dir=file.parent)
    with contextlib.suppress(OSError):
        with os.fdopen(handle, "w", encoding="utf-8") as opened:
            json.dump(known, opened, indent=1)
        Path(partial).replace(file)

"""Writing a set of files: all are checked before the first is written, none that differs is replaced
unasked.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping
from functools import wraps
from pathlib import Path, PurePosixPath
from typing import Concatenate, Literal, ParamSpec, TypeVar

from droidgate.computer.private_files import unwritable
from droidgate_mappings.model.errors import UsageError, WriteError, option_hint
from droidgate_mappings.timed_steps import timed_step

WriteStatus = Literal["created", "updated", "unchanged", "would create", "would update"]
_Others = ParamSpec("_Others")
_Returned = TypeVar("_Returned")


def _with_write_errors(
    function: Callable[Concatenate[Path, _Others], _Returned],
) -> Callable[Concatenate[Path, _Others], _Returned]:
    """Return a function of a path that raises a `WriteError` for what the system refuses."""

    @wraps(function)
    def checked(path: Path, /, *others: _Others.args, **named: _Others.kwargs) -> _Returned:
        try:
            return function(path, *others, **named)
        except (OSError, ValueError) as error:
            raise unwritable(path, error) from error

    return checked


def write_files(files: Mapping[Path, bytes], *, force: bool) -> dict[Path, WriteStatus]:
    """Write files, making the folders they need; each appears whole or not at all.

    Args:
        files: Path to content.
        force: Replace files that are there and differ.

    Raises:
        WriteError: a file differs, or a folder or file is in the way; nothing is written then. Or a file
            cannot be written, or two names are one file here, as `A` and `a` on most Windows and macOS disks.
    """
    statuses = {path: _status(path, data) for path, data in files.items()}
    different = [path for path, status in statuses.items() if status == "updated"]
    if different and not force:
        more = f" (and {len(different) - 1} more)" if len(different) > 1 else ""
        message = f"there is another file of that name already{more}"
        raise WriteError(
            message,
            place=str(different[0]),
            hint=option_hint("choose another folder, or overwrite with {}", "--force", "force=True"),
        )
    for path, data in files.items():
        if statuses[path] != "unchanged":
            if statuses[path] == "created" and path.exists():
                message = "another file of the result has this name on this disk"
                raise WriteError(
                    message, place=str(path), hint="choose a folder on a disk that tells A from a"
                )
            with timed_step(f"write {path}"):
                replace_file(path, data)
    return statuses


def compare_files(files: Mapping[Path, bytes]) -> dict[Path, WriteStatus]:
    """Return what `write_files` would do with files; nothing is written.

    Raises:
        WriteError: a folder or file is in the way.
    """
    changes: dict[WriteStatus, WriteStatus] = {"created": "would create", "updated": "would update"}
    statuses = {path: _status(path, data) for path, data in files.items()}
    return {path: changes.get(status, status) for path, status in statuses.items()}


@_with_write_errors
def path_below(folder: Path, relative: str) -> Path:
    """Return the path of an artifact below a folder.

    Raises:
        WriteError: it would lie elsewhere, by its own text or by a symbolic link on the way.
    """
    pure = PurePosixPath(relative)
    path = folder.joinpath(*pure.parts)
    is_plain = bool(pure.parts) and not pure.is_absolute() and ".." not in pure.parts and "\\" not in relative
    if not is_plain or not path.resolve().is_relative_to(folder.resolve()):
        message = "an artifact may not lie outside the output folder"
        raise WriteError(
            message, place=str(path), hint="choose a folder without symbolic links that lead away"
        )
    return path


@_with_write_errors
def _status(path: Path, data: bytes) -> WriteStatus:
    in_the_way = next(
        (parent for parent in path.parents if os.path.lexists(parent) and not parent.is_dir()), None
    )
    if in_the_way is not None or path.is_dir():
        message = (
            "a folder is in the way of a file" if in_the_way is None else "a file is in the way of a folder"
        )
        raise WriteError(message, place=str(in_the_way or path), hint="choose another output folder")
    if not path.exists():
        return "created"
    if not path.is_file():
        # A device file may have no end, and its folder takes no other in its place.
        raise WriteError("it is not a regular file", place=str(path), hint="name a new file")
    return "unchanged" if path.read_bytes() == data else "updated"


@_with_write_errors
def replace_file(path: Path, data: bytes, *, like: Path | None = None) -> None:
    """Write a file as a whole or not at all; its permissions stay. Folders are made.

    Args:
        path: The file.
        data: Its content.
        like: A file whose permissions it gets, from its first moment on, in place of its own.

    Raises:
        WriteError: it cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".droidgate-")
    try:
        with os.fdopen(handle, "wb") as opened:
            opened.write(data)
        model = path if like is None else like
        Path(name).chmod(model.stat().st_mode & 0o777 if model.exists() else 0o666 & ~_umask())
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def check_output_name(out: Path, count: int) -> None:
    """Refuse a file name as output where more than one file would go there.

    Raises:
        UsageError: several files would be written to one file name.
    """
    if count != 1:
        room = "standard output takes one" if str(out) == "-" else f"{out} is one file"
        raise UsageError(f"the result has {count} files, and {room}", hint="name a folder with -o OUT")

"""Revisions of the Git repository around the working folder, as sources: `git:REVISION[:PATH]`.

Only objects that the repository has are read: no filter and no hook of it runs, nothing is fetched, and the
files of the working folder stay as they are.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from functools import partial
from io import BytesIO
from typing import IO, Final

from droidgate.sources.source_schemes import GIT_SCHEME
from droidgate_android.projects.project_files import MAX_FILE_BYTES
from droidgate_mappings.model.errors import BudgetError, EmptyError, InputError
from droidgate_mappings.text.shown_paths import printable

_OFFLINE: Final = ("-c", "protocol.allow=never")
_ENVIRONMENT: Final = {"GIT_OPTIONAL_LOCKS": "0", "GIT_NO_LAZY_FETCH": "1", "LC_ALL": "C"}
_NOT_FILES: Final = ("120000", "160000")
"""Modes of links and submodules."""
_HINT: Final = "such as git:main or git:HEAD~1:app; a shallow clone has to fetch the revision first"


def read_file_of(source: str) -> bytes | None:
    """Return the content of the file that `git:REVISION:PATH` names; None where it names a folder.

    Args:
        source: `git:REVISION`, or `git:REVISION:PATH` with a folder or file below the repository's root
            (below the working folder where it begins with `./`), as gitrevisions(7) has it.

    Raises:
        InputError: there is no git, no repository, or no such revision in it.
        EmptyError: the revision has no such path.
        BudgetError: the file is too large to be read.
    """
    digest, kind, size = _object_of(source)
    if kind != "blob":
        return None
    if size > MAX_FILE_BYTES:
        raise BudgetError(f"it has more than {MAX_FILE_BYTES} bytes", place=printable(source))
    return _run("cat-file", "blob", digest, place=source)


def files_of(source: str) -> Iterator[tuple[str, int, Callable[[], IO[bytes]]]]:
    """Yield name, bytes and opener of each file of a revision; links and submodules are passed over.

    Raises:
        InputError: as `read_file_of`, or the source names a file.
    """
    digest, kind, _ = _object_of(source)
    if kind == "blob":
        raise InputError("it is a file", place=printable(source), hint="name its folder")
    listed = _run("ls-tree", "-r", "-z", "--long", "--full-tree", digest, place=source)
    with _start("cat-file", "--batch", place=source) as objects:
        for name, size, content in _listed_files(listed):
            yield name, size, partial(_open, objects, content)


def _object_of(source: str) -> tuple[str, str, int]:
    """Return digest, type and bytes of the object that a source names."""
    name = source.removeprefix(GIT_SCHEME)
    if "\n" in name or (found := _find_objects(source, name)[0]) is None:
        raise _missing_error(source, name)
    return found


def _find_objects(source: str, *names: str) -> list[tuple[str, str, int] | None]:
    """Return digest, type and bytes of objects by their names, None for each that is not there."""
    query = "".join(f"{name}\n" for name in names).encode(errors="surrogateescape")
    answer = _run("cat-file", "--batch-check", place=source, standard_input=query)
    found: list[tuple[str, str, int] | None] = []
    for line in answer.split(b"\n")[:-1]:
        match line.split():
            case [digest, kind, size] if size.isdigit():
                found.append((digest.decode(), kind.decode(), int(size)))
            case _:
                found.append(None)
    return found


def _missing_error(source: str, name: str) -> InputError:
    """Return the error for a name without an object; an `EmptyError` where its revision has no such path."""
    place, message = printable(source), "the repository has no such revision or path"
    revision, _, path = name.partition(":")
    if "\n" in name or not revision:
        return InputError(message, place=place, hint=_HINT)
    below = f"{revision}:./" + ("" if path == "." else path)
    commit, tree, nearby = _find_objects(source, "HEAD", f"{revision}^{{tree}}", below)
    if commit is None:
        hint = "there is nothing to compare with before the first commit: leave this check out of it"
        return InputError("the branch has no commit yet", place=place, hint=hint)
    if tree is None:
        return InputError(message, place=place, hint=_HINT)
    message = "the revision has no such file or folder"
    if nearby is not None:
        hint = f"name {printable(GIT_SCHEME + below)}, which is below the working folder"
        return InputError(message, place=place, hint=hint)
    hint = "a path is below the repository's root, or with ./ below the working folder"
    return EmptyError(message, place=place, hint=hint)


def _listed_files(listing: bytes) -> Iterator[tuple[str, int, str]]:
    """Yield name, bytes and digest of each file that `git ls-tree --long -z` lists."""
    for line in listing.split(b"\0")[:-1]:
        facts, _, name = line.partition(b"\t")
        mode, _, digest, size = facts.decode("ascii").split()
        if mode not in _NOT_FILES:
            yield os.fsdecode(name), int(size), digest


def _open(objects: subprocess.Popen[bytes], digest: str) -> IO[bytes]:
    """Return the content of an object, which `git cat-file --batch` writes between a line and a line end."""
    if objects.stdin is None or objects.stdout is None:
        raise InputError("git was started without pipes")
    objects.stdin.write(f"{digest}\n".encode("ascii"))
    objects.stdin.flush()
    head = objects.stdout.readline().split()
    if len(head) != 3:  # noqa: PLR2004 - digest, type, bytes
        raise InputError("an object is not in this repository", place=digest, hint="fetch it with git first")
    data = objects.stdout.read(int(head[2]) + 1)
    return BytesIO(data[:-1])


def _run(*arguments: str, place: str, standard_input: bytes = b"") -> bytes:
    with _start(*arguments, place=place) as process:
        out, err = process.communicate(standard_input)
    if process.returncode != 0:
        message = err.decode(errors="replace").strip().removeprefix("fatal: ")
        is_outside = message.startswith("not a git repository")
        hint = "run it in a folder of the repository" if is_outside else _HINT
        raise InputError(printable(message), place=printable(place), hint=hint)
    return out


def _start(*arguments: str, place: str) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(  # noqa: S603 - the arguments are a list; what the user wrote goes to standard input
            ["git", *_OFFLINE, *arguments],  # noqa: S607 - the user's git
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=os.environ | _ENVIRONMENT,
        )
    except OSError as error:
        hint = "install Git, or name a folder"
        raise InputError(f"git cannot be started: {error}", place=printable(place), hint=hint) from None

"""Paths as a user would write them."""

from __future__ import annotations

from typing import Final

_REVISION: Final = "git:"
"""How a revision of a Git repository begins: `git:REVISION`, and `git:REVISION:PATH` for what is in it."""


def printable(path: str) -> str:
    """Return a path as text that can be printed; bytes that are not UTF-8 are shown as escapes."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def join_shown(folder: str, name: str) -> str:
    """Join a folder as a user wrote it and a name below it: no `./` in front, one `/` between.

    Below a revision, `git:REVISION`, it is `git:REVISION:NAME`, which is a source as well.
    """
    if not name:
        return printable(folder)
    if folder in {"", ".", "./"}:
        return printable(name)
    if folder.startswith(_REVISION) and ":" not in folder[len(_REVISION) : -1]:
        return printable(f"{folder.removesuffix(':')}:{name}")
    return printable(f"{folder.rstrip('/')}/{name}")


def shown_parent(path: str) -> str:
    """Return the folder of a path, empty where it names none."""
    folder, slash, _ = path.rpartition("/")
    return folder or slash

"""The files of a source set on disk, read on demand."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Final

from droidgate.computer.missing_files import hint_of_missing
from droidgate_android.projects.project_files import check_inside, is_regular_file, read_project_file
from droidgate_mappings.model.errors import BudgetError, InputError
from droidgate_mappings.text.shown_paths import join_shown, printable

MANIFEST: Final = "AndroidManifest.xml"
MAX_ENTRIES: Final = 1_000_000
"""How many files and folders one source may have, and the resources and assets of one source set."""

MAX_LEVELS: Final = 64
"""How deep folders are looked into."""

_RESOURCE_TYPES: Final = ("values", "xml", "raw")


def read_bytes(path: str, *, label: str | None = None, root: str | None = None) -> bytes:
    """Return the content of a regular file.

    Args:
        path: The file.
        label: How errors name it.
        root: The folder that it must be in, links followed; None for a file that the user named.

    Raises:
        InputError: there is none, it is outside of the folder, or it cannot be read.
        BudgetError: it is larger than `MAX_FILE_BYTES`.
    """
    try:
        return read_project_file(path, root=root, label=printable(label if label is not None else path))
    except InputError as error:
        if root is None and isinstance(error.__context__, FileNotFoundError):
            error.hint = hint_of_missing(Path(path))
        raise


class FolderFiles(Mapping[str, bytes]):
    """The files of one source set on disk that matter here, read on demand: manifest, text resources, assets.

    Args:
        folder: The source set's folder.
        shown: How a user would write it.
        read: Collects the shown paths of the files that are read.
        manifest: File name of the manifest.
        root: The folder that every file must be in, links followed; `folder` itself by default.
        problems: Collects the folders that are not listed.
    """

    def __init__(
        self,
        folder: str,
        label: str,
        read: dict[str, None],
        manifest: str = MANIFEST,
        *,
        root: str | None = None,
        problems: list[InputError] | None = None,
    ) -> None:
        self._folder = folder
        self._root = folder if root is None else root
        self._manifest = manifest
        self._shown = label
        self._read = read
        self._problems = [] if problems is None else problems
        self._entries_left = MAX_ENTRIES

    @cached_property
    def _names(self) -> dict[str, None]:
        return dict.fromkeys(self._list())

    def _list(self) -> Iterator[str]:
        if is_regular_file(f"{self._folder}/{self._manifest}"):
            yield self._manifest
        for entry in self._entries("res"):
            if entry.name.partition("-")[0] in _RESOURCE_TYPES and entry.is_dir(follow_symlinks=False):
                yield from (
                    f"res/{entry.name}/{file.name}"
                    for file in self._entries(f"res/{entry.name}")
                    if is_file_entry(file)
                )
        pending = ["assets"]
        while pending:
            name = pending.pop()
            for entry in self._entries(name):
                inner = f"{name}/{entry.name}"
                if entry.is_dir(follow_symlinks=False):
                    if inner.count("/") < MAX_LEVELS:
                        pending.append(inner)
                elif is_file_entry(entry):
                    yield inner

    def _entries(self, name: str) -> list[os.DirEntry[str]]:
        """Return the entries of a folder; none where it is outside of the project or has too many."""
        if self._entries_left < 0:
            return []
        folder = f"{self._folder}/{name}"
        place = join_shown(self._shown, name)
        try:
            check_inside(folder, self._root, place)
            with os.scandir(folder) as listing:
                entries = list(islice(listing, self._entries_left + 1))
        except InputError as error:
            self._problems.append(error)
            return []
        except (OSError, ValueError):
            return []
        if len(entries) > self._entries_left:
            message = f"the folder has more than {MAX_ENTRIES} files"
            self._problems.append(BudgetError(message, place=printable(self._shown)))
            self._entries_left = -1
            return []
        self._entries_left -= len(entries)
        return sorted(entries, key=lambda entry: entry.name)

    def __getitem__(self, name: str) -> bytes:
        if name not in self._names:
            raise KeyError(name)
        shown_path = join_shown(self._shown, name)
        data = read_bytes(f"{self._folder}/{name}", label=shown_path, root=self._root)
        self._read[shown_path] = None
        return data

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __contains__(self, name: object) -> bool:
        return name in self._names


def is_file_entry(entry: os.DirEntry[str]) -> bool:
    """Return whether an entry of a folder leads to a regular file."""
    try:
        return entry.is_file()
    except OSError:  # a link that leads to itself
        return False

"""Walking folders for modules of Android projects and loose descriptor files: a budget, no links followed."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from droidgate.model.errors import BudgetError, InputError
from droidgate.parsing.gradle_text import GradleFile, read_gradle
from droidgate.parsing.project_files import MAX_FILE_BYTES, is_regular_file, read_project_file
from droidgate.sources.android_project import MAIN, Module
from droidgate.sources.resources import SourceSet
from droidgate.sources.spelling import join_spelled, printable

MAX_ENTRIES: Final = 1_000_000
"""How many files and folders one source may have."""

MAX_LEVELS: Final = 64
"""How deep folders are looked into."""

SKIPPED_FOLDERS: Final = frozenset({"build", "node_modules", "__pycache__"})
"""Folders that hold what tools made. Hidden folders (`.git`, `.gradle`, `.idea`) are skipped too."""

__all__ = ["MAX_FILE_BYTES", "FolderFiles", "FolderScan", "module_of_manifest", "read_bytes", "scan_folder"]

MANIFEST: Final = "AndroidManifest.xml"
LOOSE_ENDINGS: Final = (".xml", ".json")
ARCHIVE_ENDINGS: Final = (".apk", ".apks", ".xapk", ".apkm")
GRADLE_FILES: Final = ("build.gradle.kts", "build.gradle")
_TEST_SET = re.compile(r"(?:test|androidTest)(?:[A-Z]\w*)?")
_INSIDE_SOURCE_SET: Final = frozenset({"res", "assets", "java", "kotlin"})
_RESOURCE_TYPES: Final = ("values", "xml", "raw")


def read_bytes(path: str, *, spelled: str | None = None, root: str | None = None) -> bytes:
    """Return the content of a regular file.

    Args:
        path: The file.
        spelled: How errors name it.
        root: The folder that it must be in, links followed; None for a file that the user named.

    Raises:
        InputError: there is none, it is outside of the folder, or it cannot be read.
        BudgetError: it is larger than `MAX_FILE_BYTES`.
    """
    return read_project_file(path, root=root, shown=printable(spelled if spelled is not None else path))


class FolderFiles(Mapping[str, bytes]):
    """The files of one source set on disk that matter here, read on demand: manifest, text resources, assets.

    Args:
        folder: The source set's folder.
        spelled: How a user would write it.
        read: Collects the spelled paths of the files that are read.
        manifest: File name of the manifest.
        root: The folder that every file must be in, links followed; `folder` itself by default.
    """

    def __init__(
        self,
        folder: str,
        spelled: str,
        read: dict[str, None],
        manifest: str = MANIFEST,
        *,
        root: str | None = None,
    ) -> None:
        self._folder = folder
        self._root = folder if root is None else root
        self._manifest = manifest
        self._spelled = spelled
        self._read = read
        self._names: dict[str, None] | None = None

    def _all(self) -> dict[str, None]:
        if self._names is None:
            self._names = dict.fromkeys(self._list())
        return self._names

    def _list(self) -> Iterator[str]:
        if is_regular_file(f"{self._folder}/{self._manifest}"):
            yield self._manifest
        for entry in _entries(f"{self._folder}/res"):
            if entry.name.partition("-")[0] in _RESOURCE_TYPES and entry.is_dir(follow_symlinks=False):
                yield from (
                    f"res/{entry.name}/{file.name}" for file in _entries(entry.path) if _is_file(file)
                )
        pending = ["assets"]
        while pending:
            name = pending.pop()
            for entry in _entries(f"{self._folder}/{name}"):
                inner = f"{name}/{entry.name}"
                if entry.is_dir(follow_symlinks=False):
                    if inner.count("/") < MAX_LEVELS:
                        pending.append(inner)
                elif _is_file(entry):
                    yield inner

    def __getitem__(self, name: str) -> bytes:
        if name not in self._all():
            raise KeyError(name)
        spelled = join_spelled(self._spelled, name)
        data = read_bytes(f"{self._folder}/{name}", spelled=spelled, root=self._root)
        self._read[spelled] = None
        return data

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())

    def __contains__(self, name: object) -> bool:
        return name in self._all()


@dataclass(slots=True)
class FolderScan:
    """What a walk through a folder found, everything in order of path.

    Attributes:
        modules: Modules of Android builds.
        loose_files: XML and JSON files outside their source sets: path on disk and spelled path.
        archives: APKs and containers of APKs, in the same way.
        problems: What could not be looked at.
        files_read: Spelled paths of the files read so far; the modules' files add theirs as they are read.
    """

    modules: list[Module] = field(default_factory=list)
    loose_files: list[tuple[str, str]] = field(default_factory=list)
    archives: list[tuple[str, str]] = field(default_factory=list)
    problems: list[InputError] = field(default_factory=list)
    files_read: dict[str, None] = field(default_factory=dict)


def scan_folder(folder: str, spelled: str) -> FolderScan:
    """Walk a folder and return its modules and loose files; nothing but build files is read yet.

    Symbolic links to folders are not followed.
    """
    return _Walk(folder, spelled).run()


def read_gradle_of(
    folder: str, spelled: str, read: dict[str, None], *, root: str | None = None
) -> GradleFile:
    """Return what the build file in a module's folder says, an empty answer without one that is in `root`."""
    for name in GRADLE_FILES:
        path = f"{folder}/{name}"
        if is_regular_file(path):
            own = join_spelled(spelled, name)
            try:
                data = read_bytes(path, spelled=own, root=folder if root is None else root)
            except InputError:
                continue
            read[own] = None
            return read_gradle(data.decode("utf-8", "replace"))
    return GradleFile()


def module_of_manifest(folder: str, manifest: str, spelled: str, read: dict[str, None]) -> tuple[Module, str]:
    """Return the module of one manifest file, and the name of the manifest's source set.

    Its resources are those beside it, and main's where it stands in another source set; the build file is the
    module's.

    Args:
        folder: The absolute path of the manifest's folder.
        manifest: The manifest's file name.
        spelled: The folder as a user would write it.
        read: Collects the spelled paths of the files that are read.
    """
    place = Path(folder)
    if place.parent.name != "src":
        own = SourceSet(FolderFiles(folder, spelled, read, manifest), spelled, manifest)
        return Module({MAIN: own}, read_gradle_of(folder, spelled, read)), MAIN
    module = place.parent.parent
    own = SourceSet(FolderFiles(folder, spelled, read, manifest, root=str(module)), spelled, manifest)
    gradle = read_gradle_of(str(module), printable(str(module)), {})
    source_sets = {place.name: own}
    if place.name != MAIN and (place.parent / MAIN / MANIFEST).is_file():
        main = str(place.parent / MAIN)
        files = FolderFiles(main, printable(main), {}, root=str(module))
        source_sets[MAIN] = SourceSet(files, printable(main))
    return Module(source_sets, gradle), place.name


class _Walk:
    def __init__(self, folder: str, spelled: str) -> None:
        self._folder = folder
        self._spelled = spelled
        self._scan = FolderScan()
        self._entries_left = MAX_ENTRIES
        self._sets: dict[str, dict[str, str]] = {}
        self._loose: list[str] = []
        self._archives: list[str] = []

    def run(self) -> FolderScan:
        self._walk()
        roots = {path for sets in self._sets.values() for path in sets.values()}
        for module, sets in sorted(self._sets.items()):
            self._scan.modules.append(self._module(module, sets))
        for name in sorted(self._loose):
            if not _is_inside(name, roots):
                self._scan.loose_files.append((self._on_disk(name), join_spelled(self._spelled, name)))
        self._scan.archives += [
            (self._on_disk(name), join_spelled(self._spelled, name)) for name in sorted(self._archives)
        ]
        return self._scan

    def _walk(self) -> None:
        pending = [""]
        while pending:
            name = pending.pop()
            try:
                entries = sorted(os.scandir(self._on_disk(name)), key=lambda one: one.name)
            except OSError as error:
                place = join_spelled(self._spelled, name)
                self._scan.problems.append(InputError(f"it cannot be listed: {error.strerror}", place=place))
                continue
            self._entries_left -= len(entries)
            if self._entries_left < 0:
                message = f"the folder has more than {MAX_ENTRIES} files"
                self._scan.problems.append(BudgetError(message, place=printable(self._spelled)))
                return
            for entry in entries:
                inner = f"{name}/{entry.name}" if name else entry.name
                if entry.is_dir(follow_symlinks=False):
                    if not _is_skipped(entry.name) and inner.count("/") < MAX_LEVELS:
                        pending.append(inner)
                elif entry.name == MANIFEST and _is_file(entry):
                    self._note_manifest(name)
                elif entry.name.endswith(LOOSE_ENDINGS) and _is_file(entry):
                    self._loose.append(inner)
                elif entry.name.lower().endswith(ARCHIVE_ENDINGS):
                    self._note_archive(entry, inner)

    def _note_archive(self, entry: os.DirEntry[str], name: str) -> None:
        if _is_file(entry):
            self._archives.append(name)
        else:
            place = join_spelled(self._spelled, name)
            self._scan.problems.append(InputError("it is no regular file, or a link to none", place=place))

    def _note_manifest(self, source_set: str) -> None:
        parts = source_set.split("/") if source_set else []
        if len(parts) > 1 and parts[-2] == "src":
            self._sets.setdefault("/".join(parts[:-2]), {})[parts[-1]] = source_set
        else:
            self._sets.setdefault(source_set, {}).setdefault(MAIN, source_set)

    def _module(self, module: str, sets: dict[str, str]) -> Module:
        if MAIN in sets:
            sets = {name: path for name, path in sets.items() if _TEST_SET.fullmatch(name) is None}
        read = self._scan.files_read
        source_sets = {}
        for name, path in sets.items():
            spelled = join_spelled(self._spelled, path)
            files = FolderFiles(self._on_disk(path), spelled, read, root=self._folder)
            source_sets[name] = SourceSet(files, spelled)
        spelled = join_spelled(self._spelled, module)
        gradle = read_gradle_of(self._on_disk(module), spelled, read, root=self._folder)
        return Module(source_sets, gradle)

    def _on_disk(self, name: str) -> str:
        return f"{self._folder}/{name}" if name else self._folder


def _is_inside(name: str, roots: set[str]) -> bool:
    """Tell whether a file belongs to the resources, assets or sources of one of the source sets."""
    parts = name.split("/")[:-1]
    return any(
        "/".join(parts[:length]) in roots and parts[length] in _INSIDE_SOURCE_SET
        for length in range(len(parts))
    )


def _is_file(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_file()
    except OSError:  # a link that leads to itself
        return False


def _is_skipped(name: str) -> bool:
    return name in SKIPPED_FOLDERS or name.startswith(".")


def _entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        return sorted(os.scandir(folder), key=lambda one: one.name)
    except OSError:
        return []

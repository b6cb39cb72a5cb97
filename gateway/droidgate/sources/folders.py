"""Walking folders for modules of Android projects and loose descriptor files: a budget, no links followed."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from droidgate.sources.build_layout import FoundFolders, layouts_of
from droidgate.sources.folder_files import (
    MANIFEST,
    MAX_ENTRIES,
    MAX_LEVELS,
    FolderFiles,
    is_file_entry,
    read_bytes,
)
from droidgate.sources.module_layout import ModuleLayout, ModuleOpener
from droidgate.sources.source_code import code_endings
from droidgate_android.projects.android_project import MAIN, Module
from droidgate_android.projects.gradle_text import BUILD_FILES
from droidgate_android.projects.module_build import SETTINGS_FILES
from droidgate_android.projects.project_files import MAX_FILE_BYTES
from droidgate_android.projects.resources import SourceSet
from droidgate_mappings.formats.format import Format
from droidgate_mappings.model.errors import BudgetError, InputError
from droidgate_mappings.records import dataclass, field
from droidgate_mappings.text.shown_paths import join_shown, printable

SKIPPED_FOLDERS: Final = frozenset({"build", "node_modules", "__pycache__"})
"""Folders that hold what tools made. Hidden folders (`.git`, `.gradle`, `.idea`) are skipped too."""

__all__ = [
    "MAX_FILE_BYTES",
    "FolderScan",
    "is_skipped_folder",
    "module_of_manifest",
    "read_bytes",
    "scan_folder",
]

_MANIFEST_ENDING: Final = ".xml"
ARCHIVE_ENDINGS: Final = (".apk", ".apks", ".xapk", ".apkm")
PACKED_ENDINGS: Final = (".zip", ".whl", ".tgz", ".tar.gz", ".tar")
"""How the names of archives end that may hold a folder."""
_CODE_ENDINGS: Final = (".java", ".kt", ".scala", ".groovy")
_COMPILED_ENDINGS: Final = (".jar", ".aar", ".class", ".dex")
_OF_GRADLE: Final = "gradle-wrapper.jar"
_SOURCE_FOLDERS: Final = ("src", "java", "kotlin")
_RESOURCE_FOLDERS: Final = frozenset({"res", "assets"})
_INSIDE_SOURCE_SET: Final = frozenset({*_RESOURCE_FOLDERS, "java", "kotlin"})


@dataclass(slots=True)
class FolderScan:
    """What a walk through a folder found, everything in order of path.

    Attributes:
        layouts: Modules of Android builds.
        modules: The same, opened.
        loose_files: Files outside their source sets that may be descriptors: path on disk and shown path.
        archives: APKs and containers of APKs, in the same way.
        packed: Archives that may hold folders, in the same way.
        loose_code: Files of source code outside of modules, in the same way.
        code_files: Paths on disk of all files of source code.
        has_classes: There are compiled classes.
        problems: What could not be looked at; the modules' files add folders that are not listed.
        files_read: Spelled paths of the files read so far; the modules' files add theirs as they are read.
    """

    layouts: list[ModuleLayout] = field(default_factory=list)
    modules: list[Module] = field(default_factory=list)
    loose_files: list[tuple[str, str]] = field(default_factory=list)
    archives: list[tuple[str, str]] = field(default_factory=list)
    packed: list[tuple[str, str]] = field(default_factory=list)
    loose_code: list[tuple[str, str]] = field(default_factory=list)
    code_files: list[str] = field(default_factory=list)
    has_classes: bool = False
    problems: list[InputError] = field(default_factory=list)
    files_read: dict[str, None] = field(default_factory=dict)


def scan_folder(folder: str, label: str, formats: Iterable[Format] = ()) -> FolderScan:
    """Walk a folder and return its modules and loose files; nothing but build files is read yet.

    Symbolic links to folders are not followed.

    Args:
        folder: The folder.
        label: How a user would write it.
        formats: The formats whose descriptor files and source code are looked for.
    """
    return _Walk(folder, label, tuple(formats)).run()


def module_of_manifest(
    folder: str, manifest: str, label: str, read: dict[str, None], problems: list[InputError]
) -> tuple[Module, str]:
    """Return the module of one manifest file, and the name of the manifest's source set.

    Its resources are those next to it, and main's where it is in another source set; the build file is the
    module's.

    Args:
        folder: The absolute path of the manifest's folder.
        manifest: The manifest's file name.
        label: The folder as a user would write it.
        read: Collects the shown paths of the files that are read.
        problems: Collects the folders that are not listed.
    """
    place = Path(folder)
    if place.parent.name != "src":
        own = SourceSet(FolderFiles(folder, label, read, manifest, problems=problems), label, manifest)
        opener = ModuleOpener(folder, lambda name: join_shown(label, name), read)
        return Module({MAIN: own}, opener.read_gradle("", None)), MAIN
    module = place.parent.parent
    own_files = FolderFiles(folder, label, read, manifest, root=str(module), problems=problems)
    own = SourceSet(own_files, label, manifest)
    gradle = ModuleOpener(str(module), lambda name: join_shown(str(module), name), {}).read_gradle("", None)
    source_sets = {place.name: own}
    if place.name != MAIN and (place.parent / MAIN / MANIFEST).is_file():
        main = str(place.parent / MAIN)
        files = FolderFiles(main, printable(main), {}, root=str(module), problems=problems)
        source_sets[MAIN] = SourceSet(files, printable(main))
    return Module(source_sets, gradle), place.name


class _Walk:
    def __init__(self, folder: str, label: str, formats: tuple[Format, ...]) -> None:
        self._folder = folder
        self._shown = label
        self._code_endings = code_endings(formats)
        endings = (ending for format_ in formats for ending in format_.endings)
        self._loose_endings = (_MANIFEST_ENDING, *endings)
        self._scan = FolderScan()
        self._entries_left = MAX_ENTRIES
        self._found = FoundFolders()
        self._loose: list[str] = []
        self._code: list[str] = []
        self._archives: list[str] = []
        self._packed: list[str] = []

    def run(self) -> FolderScan:
        self._walk()
        opener = ModuleOpener(
            self._folder,
            self._shown_path,
            self._scan.files_read,
            self._code_endings,
            problems=self._scan.problems,
        )
        layouts = self._scan.layouts = layouts_of(self._found, opener)
        self._scan.modules += map(opener.open, layouts)
        roots = {
            path
            for layout in layouts
            for library in (layout, *layout.libraries)
            for _, path in library.source_sets
        }
        loose = (name for name in sorted(self._loose) if not _is_inside(name, roots))
        self._scan.loose_files += map(self._located, loose)
        modules = {*self._found.manifests, *self._found.build_files}
        self._scan.loose_code += map(
            self._located, (name for name in sorted(self._code) if not _is_code_of(name, modules))
        )
        self._scan.archives += map(self._located, sorted(self._archives))
        self._scan.packed += map(self._located, sorted(self._packed))
        return self._scan

    def _located(self, name: str) -> tuple[str, str]:
        return self._on_disk(name), self._shown_path(name)

    def _shown_path(self, name: str) -> str:
        return join_shown(self._shown, name)

    def _walk(self) -> None:
        pending = [""]
        while pending:
            name = pending.pop()
            try:
                entries = sorted(os.scandir(self._on_disk(name)), key=lambda item: item.name)
            except OSError as error:
                message = f"cannot be listed: {error.strerror}"
                self._scan.problems.append(InputError(message, place=self._shown_path(name)))
                continue
            self._entries_left -= len(entries)
            if self._entries_left < 0:
                message = f"the folder has more than {MAX_ENTRIES} files"
                self._scan.problems.append(BudgetError(message, place=printable(self._shown)))
                return
            for entry in entries:
                inner = f"{name}/{entry.name}" if name else entry.name
                if entry.is_dir(follow_symlinks=False):
                    if not is_skipped_folder(entry.name) and inner.count("/") < MAX_LEVELS:
                        pending.append(inner)
                        self._note_source_folder(name, entry.name)
                elif entry.name.lower().endswith(ARCHIVE_ENDINGS):
                    self._note_archive(entry, inner)
                elif is_file_entry(entry):
                    self._note_file(name, entry.name, inner)

    def _note_source_folder(self, folder: str, name: str) -> None:
        if folder == "src" or folder.endswith("/src"):
            self._found.source_folders.setdefault(folder[:-4], set()).add(name)
        parent, _, source_set = folder.rpartition("/")
        if name in _RESOURCE_FOLDERS and (parent == "src" or parent.endswith("/src")):
            self._found.resource_folders.setdefault(parent[:-4], set()).add(source_set)

    def _note_file(self, folder: str, name: str, inner: str) -> None:
        if name.endswith(_COMPILED_ENDINGS):
            self._scan.has_classes |= name != _OF_GRADLE
        elif name.endswith(_CODE_ENDINGS):
            self._scan.code_files.append(self._on_disk(inner))
        if name == MANIFEST:
            self._note_manifest(folder)
        elif name.endswith(self._loose_endings):
            self._loose.append(inner)
        elif name in BUILD_FILES:
            self._found.build_files.add(folder)
        elif name in SETTINGS_FILES:
            self._found.settings.add(folder)
        elif name.endswith(self._code_endings):
            self._code.append(inner)
        elif name.lower().endswith(PACKED_ENDINGS):
            self._packed.append(inner)

    def _note_archive(self, entry: os.DirEntry[str], name: str) -> None:
        if is_file_entry(entry):
            self._archives.append(name)
        else:
            message = "not a regular file, or a link to something else"
            self._scan.problems.append(InputError(message, place=self._shown_path(name)))

    def _note_manifest(self, source_set: str) -> None:
        parts = source_set.split("/") if source_set else []
        if len(parts) > 1 and parts[-2] == "src":
            self._found.manifests.setdefault("/".join(parts[:-2]), {})[parts[-1]] = source_set
        else:
            self._found.manifests.setdefault(source_set, {}).setdefault(MAIN, source_set)

    def _on_disk(self, name: str) -> str:
        return f"{self._folder}/{name}" if name else self._folder


def _is_inside(name: str, roots: set[str]) -> bool:
    """Return whether a file belongs to the resources, assets or sources of one of the source sets."""
    parts = name.split("/")[:-1]
    return any(
        "/".join(parts[:length]) in roots and parts[length] in _INSIDE_SOURCE_SET
        for length in range(len(parts))
    )


def is_skipped_folder(name: str) -> bool:
    """Return whether folders of a name are not looked into."""
    return name in SKIPPED_FOLDERS or name.startswith(".")


def _is_code_of(name: str, modules: set[str]) -> bool:
    """Return whether a file is below the folder `src` of a module."""
    parts = name.split("/")[:-1]
    places = (position for position, part in enumerate(parts) if part in _SOURCE_FOLDERS)
    return any("/".join(parts[:position]) in modules for position in places)

"""The files of an Android project that go into an APK: the main source set of its app module, from disk."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from droidgate_android.projects.gradle_text import GradleFile
from droidgate_android.projects.module_build import read_module_build
from droidgate_android.projects.project_files import read_project_file
from droidgate_mappings.model.errors import BudgetError, InputError
from droidgate_mappings.records import dataclass, field

MANIFEST: Final = "AndroidManifest.xml"
MAX_BYTES: Final = 512 * 1024 * 1024
"""All files of a source set together."""
MAX_FILES: Final = 100_000
SKIPPED_FOLDERS: Final = frozenset({"build", "node_modules"})

_PACKED_FOLDERS: Final = ("res", "assets", "jniLibs")
_MAX_LEVELS: Final = 16


@dataclass(frozen=True, slots=True)
class ProjectFiles:
    """What a project holds.

    Attributes:
        tree: Content by path relative to the source set's folder.
        folder: The source set's folder, for errors.
        gradle: What its build file says.
    """

    tree: dict[str, bytes]
    folder: str = ""
    gradle: GradleFile = field(default_factory=GradleFile)


def read_project(project: Path) -> ProjectFiles:
    """Read a project, a module, or a folder with a manifest.

    Raises:
        InputError: there is no manifest, several modules make apps, or a file cannot be read.
        BudgetError: more files or bytes than an app would have.
    """
    if not os.path.isdir(project):  # noqa: PTH112 - a name may be too long
        message = "it is not a folder"
        raise InputError(message, place=str(project), hint="give the folder of an Android app's project")
    folder = _find_source_set(project)
    return ProjectFiles(_read_tree(folder, project), str(folder), _read_gradle(folder, project))


def _find_source_set(project: Path) -> Path:
    for folder in (project, project / "src" / "main"):
        if (folder / MANIFEST).is_file():
            return folder
    source_sets = sorted(main_source_sets(project))
    apps = [item for item in source_sets if not _read_gradle(item, project).is_library]
    if len(apps) == 1:
        return apps[0]
    if not apps:
        message = "no AndroidManifest.xml in a folder src/main of an app"
        raise InputError(message, place=str(project), hint="give the folder of an Android app's project")
    names = ", ".join(app.parent.parent.relative_to(project).as_posix() for app in apps)
    message = f"several modules make an app: {names}"
    raise InputError(message, place=str(project), hint="give the folder of one module")


def main_source_sets(project: Path) -> Iterator[Path]:
    """Yield the folders `src/main` with a manifest below a folder."""
    for folder, folders, files in os.walk(project):
        place = Path(folder)
        if len(place.relative_to(project).parts) >= _MAX_LEVELS:
            folders.clear()
        folders[:] = sorted(
            name for name in folders if name not in SKIPPED_FOLDERS and not name.startswith(".")
        )
        if MANIFEST in files and place.name == "main" and place.parent.name == "src":
            folders.clear()
            yield place


def _read_gradle(source_set: Path, project: Path) -> GradleFile:
    module = source_set.parent.parent if source_set.parent.name == "src" else source_set
    return read_module_build(module, project)


def _read_tree(folder: Path, project: Path) -> dict[str, bytes]:
    tree: dict[str, bytes] = {}
    remaining_bytes = MAX_BYTES
    for path in (folder / MANIFEST, *_files_below(folder)):
        try:
            data = read_project_file(path, root=project, most=remaining_bytes)
        except BudgetError:
            data = None
        if data is None or len(tree) >= MAX_FILES:
            message = f"an app has at most {MAX_FILES} files and {MAX_BYTES} bytes"
            raise BudgetError(message, place=str(folder))
        remaining_bytes -= len(data)
        tree[path.relative_to(folder).as_posix()] = data
    return tree


def _files_below(folder: Path) -> Iterator[Path]:
    """Yield the files that are packed; hidden ones are not, and links to folders are not followed."""
    for top in _PACKED_FOLDERS:
        for place, folders, files in os.walk(folder / top):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            yield from (Path(place) / name for name in sorted(files) if not name.startswith("."))

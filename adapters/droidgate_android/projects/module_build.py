"""The build file of one module on disk, with the version catalog of the build that it is part of."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Final

from droidgate_android.projects.gradle_text import GradleFile, read_gradle
from droidgate_android.projects.project_files import read_project_file
from droidgate_android.projects.version_catalog import VersionCatalog, read_version_catalog

BUILD_FILES: Final = ("build.gradle.kts", "build.gradle")
SETTINGS_FILES: Final = ("settings.gradle.kts", "settings.gradle")
CATALOG: Final = "gradle/libs.versions.toml"
_MAX_LEVELS: Final = 16
"""Folders from a module up to the root of its build."""


def read_module_build(module: Path, project: Path) -> GradleFile:
    """Return what the build file of a module says, an empty answer without one.

    Args:
        module: The module's folder.
        project: The folder that the user named: one around the module, the module, or one of its source sets.

    Raises:
        InputError: a file cannot be read, or leads out of the module or build.
    """
    # The project may be the source set itself, whose module is around it.
    root = project if module.is_relative_to(project) else module
    for name in BUILD_FILES:
        file = module / name
        if file.is_file():
            text = read_project_file(file, root=root).decode("utf-8", "replace")
            return read_gradle(text, _read_catalog(module))
    return GradleFile()


def _read_catalog(module: Path) -> VersionCatalog | None:
    """Return the catalog of the nearest folder with one or with a settings file, around the module."""
    place = module.resolve()
    for folder in islice((place, *place.parents), _MAX_LEVELS):
        file = folder / CATALOG
        if file.is_file():
            return read_version_catalog(read_project_file(file, root=folder).decode("utf-8", "replace"))
        if any((folder / name).is_file() for name in SETTINGS_FILES):
            return None
    return None

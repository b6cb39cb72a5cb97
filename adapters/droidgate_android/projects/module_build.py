"""The build file of one module on disk, with what the build that it is part of defines for it."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Final

from droidgate_android.projects.gradle_text import (
    BUILD_FILES,
    CATALOG,
    BuildFacts,
    GradleFile,
    read_build_facts,
    read_gradle,
)
from droidgate_android.projects.project_files import read_project_file

SETTINGS_FILES: Final = ("settings.gradle.kts", "settings.gradle")
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
            return read_gradle(text, _read_facts(module))
    return GradleFile()


def _read_facts(module: Path) -> BuildFacts | None:
    """Return what the nearest folder with a catalog or a settings file, around the module, defines for it."""
    place = module.resolve()
    for folder in islice((place, *place.parents), _MAX_LEVELS):
        if any((folder / name).is_file() for name in (CATALOG, *SETTINGS_FILES)):

            def read_text(name: str, root: Path = folder) -> str | None:
                file = root / name
                if not file.is_file():
                    return None
                return read_project_file(file, root=root).decode("utf-8", "replace")

            return read_build_facts(read_text)
    return None

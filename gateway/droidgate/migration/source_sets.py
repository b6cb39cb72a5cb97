"""Finding the source set of an app's project that a migration goes into, and its text files: what is read and
written back has the same bytes.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Final, Literal

from droidgate_android.apk.packed_files import MANIFEST, main_source_sets
from droidgate_android.handlers.places import MARK
from droidgate_android.manifest_edit import parse_manifest
from droidgate_android.projects.gradle_text import GradleFile
from droidgate_android.projects.module_build import read_module_build
from droidgate_android.projects.project_files import is_regular_file, read_project_file
from droidgate_mappings.model.errors import InputError, option_hint
from droidgate_mappings.records import dataclass
from droidgate_mappings.text.xml_text import Element, child_elements

Language = Literal["java", "kotlin", "none"]

_MARKED_BYTES: Final = 4096
"""Bytes at the start of a generated file that hold its mark."""
_SOURCE_FOLDERS: Final = ("java", "kotlin")


@dataclass(frozen=True, slots=True)
class WritableSourceSet:
    """The source set a migration goes into.

    Attributes:
        folder: The folder that holds AndroidManifest.xml.
        namespace: Java package of the app: what `.Name` in its manifest begins with.
        language: What most of its source files are written in.
        kotlin_folder: The folder below it with its Kotlin files: `kotlin` or `java`.
    """

    folder: Path
    namespace: str
    language: Language
    kotlin_folder: str


@dataclass(frozen=True, slots=True)
class _Module:
    folder: Path
    root: Element
    gradle: GradleFile

    @property
    def namespace(self) -> str | None:
        return self.gradle.namespace or self.root.get("package") or self.gradle.base_id

    def has_application(self) -> bool:
        return any(child.tag == "application" for child in child_elements(self.root))


def find_source_set(project: Path, namespace: str | None = None) -> WritableSourceSet:
    """Find the main source set of an app's project.

    Args:
        project: The project folder, a module's folder, or the source set itself.
        namespace: The app's Java package, where build files and manifest do not state it.

    Raises:
        InputError: no manifest, or several modules with an application element.
    """
    if not os.path.isdir(project):  # noqa: PTH112 - a name may be too long
        message = "not a folder"
        raise InputError(message, place=str(project), hint="give the folder of an Android app's project")
    folders = [project] if (project / MANIFEST).is_file() else sorted(main_source_sets(project))
    if not folders:
        message = "no AndroidManifest.xml in a folder src/main"
        raise InputError(message, place=str(project), hint="give the folder of an Android app's project")
    module = _only_application([_read_module(folder, project) for folder in folders], project)
    package = namespace or module.namespace
    if package is None:
        message = "neither build.gradle nor the manifest states the app's package"
        raise InputError(
            message,
            place=str(module.folder),
            hint=option_hint("give it with {}", "--package", 'package="com.example.app"'),
        )
    files = _count_sources(module.folder)
    kotlin = {sources: files[sources, ".kt"] for sources in _SOURCE_FOLDERS}
    java_files = sum(files[sources, ".java"] for sources in _SOURCE_FOLDERS)
    language: Language = "kotlin" if sum(kotlin.values()) > java_files else "java"
    return WritableSourceSet(module.folder, package, language, max(kotlin, key=kotlin.__getitem__))


def _only_application(modules: list[_Module], project: Path) -> _Module:
    candidates = [module for module in modules if module.has_application()]
    apps = [module for module in candidates if not module.gradle.is_library] or candidates
    if not apps:
        message = "no manifest with an application element"
        raise InputError(message, place=str(project), hint="give the folder of the app's module")
    if len(apps) > 1:
        folders = ", ".join(module.folder.relative_to(project).as_posix() for module in apps)
        message = f"several modules with an application: {folders}"
        raise InputError(message, place=str(project), hint="give the folder of one module")
    return apps[0]


def _read_module(folder: Path, project: Path) -> _Module:
    path = folder / MANIFEST
    root = parse_manifest(read_text_file(path, project), path=str(path))
    return _Module(folder, root, read_module_build(folder.parent.parent, project))


def _count_sources(folder: Path) -> Counter[tuple[str, str]]:
    """Return how many files the author wrote, by source folder and ending."""
    counts: Counter[tuple[str, str]] = Counter()
    for sources in _SOURCE_FOLDERS:
        for place, _, files in os.walk(folder / sources):
            for name in files:
                suffix = Path(name).suffix
                if suffix in {".kt", ".java"} and not _is_generated(f"{place}/{name}"):
                    counts[sources, suffix] += 1
    return counts


def _is_generated(path: str) -> bool:
    """Return whether an earlier migration made a file, whatever language the author writes in."""
    if not is_regular_file(path):
        return False
    with open(path, "rb") as file:  # noqa: PTH123 - a name may not be text
        return MARK.encode() in file.read(_MARKED_BYTES)


def find_source_file(folder: Path, artifact_path: str) -> Path | None:
    """Return the file of the same class as a source artifact, in either language and folder."""
    relative = Path(artifact_path).relative_to("java")
    for sources in _SOURCE_FOLDERS:
        for suffix in (".java", ".kt"):
            candidate = folder / sources / relative.with_suffix(suffix)
            if candidate.is_file():
                return candidate
    return None


def refuse_links_outside(path: Path, project: Path) -> None:
    """Refuse a path that links lead out of a project.

    Raises:
        InputError: the path leads out of the project.
    """
    if not path.resolve().is_relative_to(project.resolve()):
        message = "a link leads out of the project"
        raise InputError(message, place=str(path), hint="give the folder it leads to, or put a folder there")


_DECLARED: Final = re.compile(rb"(?:\xef\xbb\xbf)?<\?xml[^>]*?encoding\s*=\s*[\"']([A-Za-z0-9._-]+)[\"']")


def read_text_file(path: Path, project: Path) -> str:
    """Return a text file of a project, with its byte order mark and line ends.

    Args:
        path: The file.
        project: The folder that it must be in, links followed.

    Raises:
        InputError: it is not a regular file of the project, cannot be read, or is not UTF-8.
        BudgetError: it is larger than a project's file may be.
    """
    data = read_project_file(path, root=project)
    declared = _DECLARED.match(data)
    encoding = "utf-8" if declared is None else declared[1].decode()
    message = f'it declares the encoding "{encoding}", not UTF-8'
    if encoding.lower() in {"utf-8", "utf8"}:
        message = "it is not UTF-8"
        with suppress(UnicodeError):
            return data.decode()
    raise InputError(message, place=str(path), hint="save the file as UTF-8")

"""Where the parts of a module are in a folder, as plain values, and the module that they make up."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import Any, Final

from droidgate.sources.folder_files import MANIFEST, FolderFiles
from droidgate_android.projects.android_project import Module
from droidgate_android.projects.gradle_text import (
    BUILD_FILES,
    BuildFacts,
    GradleFile,
    read_build_facts,
    read_gradle,
)
from droidgate_android.projects.project_files import is_regular_file, read_project_file
from droidgate_android.projects.resources import SourceSet
from droidgate_mappings.model.errors import BudgetError, InputError
from droidgate_mappings.model.findings import Finding
from droidgate_mappings.records import dataclass, field
from droidgate_mappings.text.shown_paths import join_shown, printable

MAX_CODE_FILES: Final = 100_000
"""How many files of source code one source set may have."""
_PLAIN: Final = (
    *("folder", "source_sets", "code", "variant_code", "generated", "build"),
    *("merges_manifests", "is_merged"),
)
_NOT_CODE: Final = frozenset({"res", "assets", "build"})


@dataclass(frozen=True, slots=True)
class ModuleLayout:
    """One module of a build; all paths are relative to the folder that the user named.

    Attributes:
        folder: The module's folder.
        source_sets: Name and folder of each source set; all but `main` have a manifest or resources.
        code: Folders with source code of `main`.
        variant_code: Folders with source code of build types and flavours.
        generated: Folders with what builds have made, one for each variant, those of releases first.
        build: The folder of its build, None where no folder around it has a settings file.
        libraries: The modules that it is built with, those with the higher priority first; they have no
            libraries themselves.
        merges_manifests: It makes an app, so the manifests of its libraries are merged into its own.
        is_merged: Its `main` is part of an app, so only its other source sets are read by themselves.
        findings: What its build files leave open.
    """

    folder: str
    source_sets: tuple[tuple[str, str], ...]
    code: tuple[str, ...] = ()
    variant_code: tuple[str, ...] = ()
    generated: tuple[str, ...] = ()
    build: str | None = None
    libraries: tuple[ModuleLayout, ...] = ()
    merges_manifests: bool = False
    is_merged: bool = False
    findings: tuple[Finding, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {
            **{name: getattr(self, name) for name in _PLAIN},
            "libraries": [library.as_json() for library in self.libraries],
            "findings": [finding.model_dump(mode="json") for finding in self.findings],
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> ModuleLayout:
        """Undo `as_json`."""
        plain = {name: value[name] for name in _PLAIN}
        plain |= {name: tuple(value[name]) for name in ("code", "variant_code", "generated")}
        sets = tuple((name, path) for name, path in value["source_sets"])
        return cls(
            **{**plain, "source_sets": sets},
            libraries=tuple(map(cls.from_json, value["libraries"])),
            findings=tuple(map(Finding.model_validate, value["findings"])),
        )


class CodeFiles(Mapping[str, bytes]):
    """The source code below a folder, by path relative to it, read on demand; links are not followed.

    Args:
        folder: The folder on disk.
        shown: How a user would write it.
        root: The folder that every file must be in.
        endings: How the names of the files end.
    """

    def __init__(self, folder: str, label: str, root: str, endings: tuple[str, ...]) -> None:
        self._folder = folder
        self._shown = label
        self._root = root
        self._endings = endings

    @cached_property
    def _names(self) -> dict[str, None]:
        return dict.fromkeys(self._list())

    def _list(self) -> Iterator[str]:
        if not self._endings or os.path.islink(self._folder):  # noqa: PTH114 - a name may not be text
            return
        count = 0
        for place, folders, names in os.walk(self._folder):
            inner = os.path.relpath(place, self._folder)
            skipped = _NOT_CODE if inner == "." else frozenset()
            folders[:] = sorted(
                folder for folder in folders if folder not in skipped and not folder.startswith(".")
            )
            for name in sorted(names):
                if name.endswith(self._endings) and is_regular_file(f"{place}/{name}"):
                    count += 1
                    if count > MAX_CODE_FILES:
                        message = f"the folder has more than {MAX_CODE_FILES} files of source code"
                        raise BudgetError(message, place=printable(self._shown))
                    yield name if inner == "." else f"{inner}/{name}"

    def __getitem__(self, name: str) -> bytes:
        path = f"{self._folder}/{name}"
        return read_project_file(path, root=self._root, label=join_shown(self._shown, name))

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


class LooseCode(Mapping[str, bytes]):
    """Files of source code that are in no module, by the path as a user would write it, read on demand.

    Args:
        paths: Paths on disk.
        root: The folder that every file must be in.
    """

    def __init__(self, paths: Mapping[str, str], root: str) -> None:
        self._paths = paths
        self._root = root

    def __getitem__(self, name: str) -> bytes:
        return read_project_file(self._paths[name], root=self._root, label=name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._paths)

    def __len__(self) -> int:
        return len(self._paths)


@dataclass(frozen=True, slots=True)
class ModuleOpener:
    """Opens the modules of one folder.

    Attributes:
        root: The folder on disk.
        shown_path: Returns how a user would write a path in it.
        read: Collects the shown paths of the files that are read.
        code_endings: How the names of files of source code end.
        problems: Collects the folders of resources and assets that are not listed.
    """

    root: str
    shown_path: Callable[[str], str]
    read: dict[str, None]
    code_endings: tuple[str, ...] = ()
    problems: list[InputError] = field(default_factory=list)
    _libraries: dict[str, Module] = field(default_factory=dict)
    _gradle: dict[str, GradleFile] = field(default_factory=dict)
    _facts: dict[str, BuildFacts] = field(default_factory=dict)

    def open(self, layout: ModuleLayout) -> Module:
        """Return the module of a layout; of its files only the build files are read yet."""
        return Module(
            source_sets={name: self._source_set(path) for name, path in layout.source_sets},
            gradle=self.read_gradle(layout.folder, layout.build),
            libraries=tuple(map(self._open_library, layout.libraries)),
            merges_manifests=layout.merges_manifests,
            is_merged=layout.is_merged,
            generated=tuple(map(self._source_set, layout.generated)),
            code=tuple(map(self._code, layout.code)),
            variant_code=tuple(map(self._code, layout.variant_code)),
            findings=layout.findings,
        )

    def _open_library(self, layout: ModuleLayout) -> Module:
        if layout.folder not in self._libraries:
            self._libraries[layout.folder] = self.open(layout)
        return self._libraries[layout.folder]

    def _source_set(self, path: str) -> SourceSet:
        shown_path = self.shown_path(path)
        folder = self.on_disk(path)
        files = FolderFiles(folder, shown_path, self.read, MANIFEST, root=self.root, problems=self.problems)
        return SourceSet(files, shown_path)

    def _code(self, path: str) -> SourceSet:
        shown_path = self.shown_path(path)
        return SourceSet(CodeFiles(self.on_disk(path), shown_path, self.root, self.code_endings), shown_path)

    def read_gradle(self, folder: str, build: str | None) -> GradleFile:
        """Return what the build file in a folder says, an empty answer without one.

        Args:
            folder: The folder.
            build: That of its build, None without one.
        """
        if folder not in self._gradle:
            build_file = self.read_build_file(folder)
            text = build_file[1] if build_file is not None else ""
            self._gradle[folder] = read_gradle(text, self._read_facts(build))
        return self._gradle[folder]

    def read_build_file(self, folder: str) -> tuple[str, str] | None:
        """Return the shown path and the text of the build file in a folder, None without one."""
        for name in BUILD_FILES:
            file = self.read_text(f"{folder}/{name}" if folder else name)
            if file is not None:
                return file
        return None

    def _read_facts(self, build: str | None) -> BuildFacts | None:
        if build is None:
            return None
        if build not in self._facts:

            def read_text(name: str) -> str | None:
                file = self.read_text(f"{build}/{name}" if build else name)
                return None if file is None else file[1]

            self._facts[build] = read_build_facts(read_text)
        return self._facts[build]

    def read_text(self, path: str) -> tuple[str, str] | None:
        """Return the shown path and the text of a file in the folder, None where it cannot be read."""
        place = self.on_disk(path)
        if not is_regular_file(place):
            return None
        shown_path = self.shown_path(path)
        try:
            data = read_project_file(place, root=self.root, label=shown_path)
        except InputError:
            return None
        self.read[shown_path] = None
        return shown_path, data.decode("utf-8", "replace")

    def on_disk(self, path: str) -> str:
        """Return where a path is on disk."""
        return f"{self.root}/{path}" if path else self.root

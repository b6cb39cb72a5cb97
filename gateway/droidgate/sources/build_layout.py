"""The modules of the Gradle builds in a folder, and which modules each app is built with.

Nothing is run: settings, build files and version catalogs are read as text, and what they leave open is a
finding at its line. The order of an app's libraries is that of Gradle's class path: a module before those it
depends on, and dependencies in order of declaration.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from droidgate.sources.module_layout import ModuleLayout, ModuleOpener
from droidgate_android.projects.android_project import MAIN
from droidgate_android.projects.gradle_projects import (
    GradleDependencies,
    GradleSettings,
    ProjectDependency,
    read_dependencies,
    read_settings,
)
from droidgate_android.projects.gradle_text import GradleFile
from droidgate_android.projects.module_build import SETTINGS_FILES
from droidgate_mappings.model.capability import Place
from droidgate_mappings.model.findings import Finding, Level, finding_code
from droidgate_mappings.records import dataclass, field, replace

PROJECT_NOT_MERGED: Final = finding_code(
    "project-not-merged",
    "A module that a build file names as a dependency is not merged into the app, for the reason given",
    __name__,
)
BUILD_STATEMENT_UNREAD: Final = finding_code(
    "build-statement-unread",
    "A statement of a build file about modules depends on what only a build knows, so it is not followed",
    __name__,
)
APPLICATION_ID_UNKNOWN: Final = finding_code(
    "application-id-unknown",
    "A build file computes the application id, so another id may be shown than the one that the app has",
    __name__,
)

ANDROID_MAIN: Final = "androidMain"
COMMON_MAIN: Final = "commonMain"
MAX_STEPS: Final = 200_000
"""How many dependencies are followed for all modules of one folder together."""

GENERATED: Final = "build/generated/ksp"
"""Folder of a module for the files that the symbol processor makes."""
_MAX_VARIANTS: Final = 64
_MOST_NAMES: Final = 5
_TEST_VARIANT: Final = re.compile(r"test", re.IGNORECASE)
_OTHER_SET: Final = re.compile(
    r"(?=\w++\Z)(?:[tT]est.*|.*Test(?:s|Fixtures|[A-Z].*)?|.+Main)|java|kotlin|res|assets"
)
"""Folders in `src` with tests, of other platforms, or that are not source sets."""
TEST_SET: Final = re.compile(
    r"(?:test|androidTest)(?:[A-Z]\w*)?|android(?:Unit|Instrumented|Host|Device)Test(?:[A-Z]\w*)?"
)
"""Names of source sets that hold tests."""
_ROOT_HINT: Final = "name the folder that holds the whole project"


@dataclass(slots=True)
class FoundFolders:
    """What a walk found; all paths are relative to the folder that the user named.

    Attributes:
        manifests: Folders of source sets with a manifest, by name, for each module's folder.
        source_folders: Names of the folders in `src`, for each folder that has one.
        resource_folders: Those of them with resources or assets.
        build_files: Folders with a build file.
        settings: Folders with a settings file.
    """

    manifests: dict[str, dict[str, str]] = field(default_factory=dict)
    source_folders: dict[str, set[str]] = field(default_factory=dict)
    resource_folders: dict[str, set[str]] = field(default_factory=dict)
    build_files: set[str] = field(default_factory=set)
    settings: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class _Build:
    """One build: the folder of its settings file, None where no folder above has one."""

    folder: str | None
    path: str = ""
    settings: GradleSettings = field(default_factory=GradleSettings)


@dataclass(frozen=True, slots=True)
class _Edge:
    target: str
    dependency: ProjectDependency


@dataclass(slots=True)
class _Module:
    layout: ModuleLayout
    build: _Build
    gradle: GradleFile
    build_file: str
    has_manifest: bool
    edges: list[_Edge] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)

    @property
    def folder(self) -> str:
        return self.layout.folder

    def report(self, code: str, message: str, line: int, *, hint: str | None = None) -> None:
        level = Level.WARNING if code == PROJECT_NOT_MERGED else Level.NOTE
        self.findings.append(_finding(code, level, message, Place(path=self.build_file, line=line), hint))


def layouts_of(folders: FoundFolders, opener: ModuleOpener) -> list[ModuleLayout]:
    """Return the modules that are read, in order of path.

    A library module that an app of the folder is built with is part of that app: of itself only its further
    source sets are read. All others are read by themselves, with the resources of the modules they depend on.

    Args:
        folders: What a walk found.
        opener: Reads the build files.
    """
    return _BuildReader(folders, opener).run()


class _BuildReader:
    def __init__(self, folders: FoundFolders, opener: ModuleOpener) -> None:
        self._found = folders
        self._opener = opener
        self._builds: dict[str, _Build] = {}
        self._modules: dict[str, _Module] = {}
        self._steps_left = MAX_STEPS

    def run(self) -> list[ModuleLayout]:
        for folder in sorted({*self._found.manifests, *self._found.build_files}):
            module = self._modules[folder] = self._read_module(folder)
            for statement in module.gradle.unread_ids:
                message = f"the application id may differ, since only a build knows it: {statement.text}"
                written = "write the id as text, or as a property in gradle.properties"
                hint = _ROOT_HINT if module.build.folder is None else written
                module.report(APPLICATION_ID_UNKNOWN, message, statement.line, hint=hint)
        for module in self._modules.values():
            self._resolve(module)
        reached = {
            edge.target
            for module in self._modules.values()
            for edge in module.edges
            if not edge.dependency.variant
        }
        with_app = {module.build.folder for module in self._modules.values() if module.gradle.is_application}
        layouts: dict[str, ModuleLayout] = {}
        merged: set[str] = set()
        for folder, module in self._modules.items():
            if _makes_app(module, reached, with_app):
                libraries = self._libraries_of(module, merges=True)
                merged.update(library.folder for library in libraries)
                layouts[folder] = _with_libraries(module, libraries, merges=True)
        for folder, module in self._modules.items():
            if folder not in layouts and self._is_read(module, is_merged=folder in merged):
                libraries = self._libraries_of(module, merges=False)
                layout = _with_libraries(module, libraries, merges=False)
                layouts[folder] = replace(layout, is_merged=folder in merged)
        self._report_settings(layouts)
        return [layouts[folder] for folder in sorted(layouts)]

    def _is_read(self, module: _Module, *, is_merged: bool) -> bool:
        has_further_sets = any(name != MAIN for name, _ in module.layout.source_sets)
        if is_merged or has_further_sets:
            return has_further_sets
        return module.has_manifest or bool(module.layout.code and self._opener.code_endings)

    def _read_module(self, folder: str) -> _Module:
        build = self._build_of(folder)
        build_file = self._opener.read_build_file(folder)
        path = build_file[0] if build_file is not None else self._opener.shown_path(folder)
        sets, code, has_manifest = self._source_sets(folder)
        return _Module(
            layout=ModuleLayout(
                folder=folder,
                source_sets=sets,
                code=code,
                variant_code=tuple(
                    _join(folder, f"src/{name}")
                    for name in self._variant_sets(self._found.source_folders.get(folder, set()))
                ),
                generated=_find_generated(self._opener.on_disk(folder), folder),
                build=build.folder,
            ),
            build=build,
            gradle=self._opener.read_gradle(folder, build.folder),
            build_file=path,
            has_manifest=has_manifest,
        )

    def _source_sets(self, folder: str) -> tuple[tuple[tuple[str, str], ...], tuple[str, ...], bool]:
        sets = dict(self._found.manifests.get(folder, {}))
        names = self._found.source_folders.get(folder, set())
        if MAIN not in sets and ANDROID_MAIN in sets:
            sets[MAIN] = sets.pop(ANDROID_MAIN)
        has_manifest = MAIN in sets
        for name in (MAIN, ANDROID_MAIN):
            if MAIN not in sets and name in names:
                sets[MAIN] = _join(folder, f"src/{name}")
        if has_manifest:
            with_resources = self._variant_sets(self._found.resource_folders.get(folder, set()))
            sets = {name: _join(folder, f"src/{name}") for name in with_resources} | sets
        if MAIN in sets:
            sets = {name: path for name, path in sets.items() if TEST_SET.fullmatch(name) is None}
        code = [_join(folder, f"src/{name}") for name in (MAIN, ANDROID_MAIN, COMMON_MAIN) if name in names]
        if sets.get(MAIN) == folder and not code:
            code = [_join(folder, name) for name in ("src", "java", "kotlin")]
        return tuple(sorted(sets.items())), tuple(code), has_manifest

    @staticmethod
    def _variant_sets(names: Iterable[str]) -> list[str]:
        """Return the folders in `src` that may be source sets of build types and flavours."""
        others = (name for name in sorted(names) if name not in {MAIN, ANDROID_MAIN, COMMON_MAIN})
        return [name for name in others if _OTHER_SET.fullmatch(name) is None]

    def _build_of(self, folder: str) -> _Build:
        place = folder
        while place not in self._found.settings:
            if not place:
                return _Build(None)
            place = posixpath.dirname(place)
        if place not in self._builds:
            self._builds[place] = self._read_build(place)
        return self._builds[place]

    def _read_build(self, folder: str) -> _Build:
        for name in SETTINGS_FILES:
            settings = self._opener.read_text(_join(folder, name))
            if settings is not None:
                path, text = settings
                return _Build(folder, path, read_settings(text))
        return _Build(folder)

    def _resolve(self, module: _Module) -> None:
        build_file = self._opener.read_build_file(module.folder)
        dependencies = read_dependencies(build_file[1]) if build_file is not None else GradleDependencies()
        for statement in dependencies.unread:
            message = f"the modules that this statement names are not known: {statement.text}"
            module.report(BUILD_STATEMENT_UNREAD, message, statement.line)
        if module.build.folder is None:
            self._report_outside(module, dependencies.projects)
            return
        for dependency in dependencies.projects:
            target = self._target_of(module, dependency)
            if target is not None and target != module.folder:
                module.edges.append(_Edge(target, dependency))

    @staticmethod
    def _report_outside(module: _Module, dependencies: Sequence[ProjectDependency]) -> None:
        if dependencies:
            names = ", ".join(_name_of(dependency) for dependency in dependencies[:_MOST_NAMES])
            more = f" and {len(dependencies) - _MOST_NAMES} more" if len(dependencies) > _MOST_NAMES else ""
            message = f"not merged: no settings file in the folder that was read includes {names}{more}"
            module.report(PROJECT_NOT_MERGED, message, dependencies[0].line, hint=_ROOT_HINT)

    def _target_of(self, module: _Module, dependency: ProjectDependency) -> str | None:
        """Return the folder of the module that a dependency names; None, and a finding, without one."""
        settings, name = module.build.settings, _name_of(dependency)
        inner = settings.find(dependency)
        if inner is None:
            message = f"{name} is not merged: {module.build.path} does not include it"
            hint = None
            if settings.unread:
                first = settings.unread[0]
                hint = f"{module.build.path}:{first.line} may include it, which only a build can evaluate"
            module.report(PROJECT_NOT_MERGED, message, dependency.line, hint=hint)
            return None
        target = posixpath.normpath(_join(module.build.folder or "", inner))
        target = "" if target == "." else target
        if target not in self._modules:
            message = f"{name} is not merged: its folder {inner} has no build file and no manifest here"
            module.report(PROJECT_NOT_MERGED, message, dependency.line, hint=_ROOT_HINT)
            return None
        return target

    def _libraries_of(self, root: _Module, *, merges: bool) -> list[_Module]:
        """Return the modules that a module is built with, in the order of their priority.

        That order is the reverse of the order in which a depth-first walk leaves them, when it takes each
        module's dependencies from the last to the first.
        """
        visited: list[_Module] = []
        state: dict[str, bool] = {root.folder: True}
        pending = [(root, self._edges_of(root, root, merges=merges))]
        while pending:
            module, edges = pending[-1]
            edge = next(edges, None)
            if edge is None:
                pending.pop()
                state[module.folder] = False
                visited.append(module)
            elif edge.target not in state:
                state[edge.target] = True
                target = self._modules[edge.target]
                pending.append((target, self._edges_of(target, root, merges=merges)))
            elif state[edge.target] and merges:
                message = (
                    f"{_name_of(edge.dependency)} is not merged a second time: it depends on this module"
                )
                root.findings.append(_at(module, PROJECT_NOT_MERGED, message, edge.dependency.line))
        return visited[-2::-1]

    def _edges_of(self, module: _Module, root: _Module, *, merges: bool) -> Iterator[_Edge]:
        for edge in reversed(module.edges):
            self._steps_left -= 1
            name, line = _name_of(edge.dependency), edge.dependency.line
            if self._steps_left < 0:
                if self._steps_left == -1:
                    message = f"from here on nothing is merged: more than {MAX_STEPS} dependencies to follow"
                    root.findings.append(_at(module, PROJECT_NOT_MERGED, message, line))
                return
            reason = None
            if edge.dependency.variant:
                reason = f"only the variant {edge.dependency.variant} has it"
            elif merges and self._modules[edge.target].gradle.is_application:
                reason = "it makes an app itself"
            if reason is None:
                yield edge
            elif merges:
                root.findings.append(_at(module, PROJECT_NOT_MERGED, f"{name} is not merged: {reason}", line))

    def _report_settings(self, layouts: dict[str, ModuleLayout]) -> None:
        """Add what settings files leave open to the first module of their build."""
        for build in self._builds.values():
            first = next((layout for layout in sorted(layouts) if self._modules[layout].build is build), None)
            if first is not None and build.settings.unread:
                findings = tuple(
                    _finding(
                        BUILD_STATEMENT_UNREAD,
                        Level.NOTE,
                        f"the modules that this statement includes are not known: {item.text}",
                        Place(path=build.path, line=item.line),
                    )
                    for item in build.settings.unread
                )
                layouts[first] = replace(layouts[first], findings=(*layouts[first].findings, *findings))


def _makes_app(module: _Module, reached: set[str], with_app: set[str | None]) -> bool:
    """Return whether a module makes an app.

    Where nothing says so, it does if no module depends on it and no module of its build says that it does.

    Args:
        module: The module.
        reached: Folders of modules that another module depends on.
        with_app: Folders of builds with a module that says that it makes an app.
    """
    if not module.has_manifest or module.gradle.is_library or module.gradle.is_feature:
        return False
    if module.gradle.is_application:
        return True
    return module.folder not in reached and module.build.folder not in with_app


def _with_libraries(module: _Module, libraries: Sequence[_Module], *, merges: bool) -> ModuleLayout:
    findings = [
        *module.findings,
        *(finding for library in libraries for finding in library.findings if merges),
    ]
    return replace(
        module.layout,
        libraries=tuple(library.layout for library in libraries),
        merges_manifests=merges,
        findings=tuple(dict.fromkeys(findings)),
    )


def _name_of(dependency: ProjectDependency) -> str:
    return dependency.path if dependency.path is not None else f"projects.{dependency.accessor}"


def _at(module: _Module, code: str, message: str, line: int) -> Finding:
    return _finding(code, Level.WARNING, message, Place(path=module.build_file, line=line))


def _finding(code: str, level: Level, message: str, source: Place, hint: str | None = None) -> Finding:
    return Finding(code=code, level=level, pointer="", message=message, source=source, hint=hint)


def _join(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name


def _find_generated(on_disk: str, folder: str) -> tuple[str, ...]:
    """Return the symbol processor's output folders of a module, those of releases first."""
    place = on_disk
    for name in GENERATED.split("/"):
        place = f"{place}/{name}"
        if os.path.islink(place) or not os.path.isdir(place):  # noqa: PTH112, PTH114 - names may not be text
            return ()
    variants = _folders_in(place)
    nested = [f"{name}/{inner}" for name in variants for inner in _folders_in(f"{place}/{name}")]
    candidates = [
        f"{name}/resources"
        for name in (*variants, *nested)
        if _TEST_VARIANT.search(name) is None
        and "resources" in _folders_in(f"{place}/{name}")
        and "assets" in _folders_in(f"{place}/{name}/resources")
    ]
    candidates.sort(key=lambda name: ("release" not in name.lower(), name))
    return tuple(f"{_join(folder, GENERATED)}/{name}" for name in candidates)


def _folders_in(folder: str) -> list[str]:
    try:
        entries = [item.name for item in os.scandir(folder) if item.is_dir(follow_symlinks=False)]
    except OSError:
        return []
    return sorted(entries)[:_MAX_VARIANTS]

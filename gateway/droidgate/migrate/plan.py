"""What migrating providers into an app's source tree changes, file by file; nothing is written before it is asked for."""

from __future__ import annotations

import difflib
import os
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from droidgate.formats import Artifact, Format, Writing
from droidgate.migrate.manifest_edit import merge_manifest
from droidgate.model.errors import InputError, UsageError, WriteError
from droidgate.model.types import Frozen
from droidgate.parsing.json_text import decode_utf8
from droidgate.parsing.xml_text import child_elements, parse_xml
from droidgate.translate import Translation
from droidgate_mappings.tables import DialectTable

Language = Literal["java", "kotlin", "none"]

_MANIFEST: Final = "AndroidManifest.xml"
_SKIPPED_FOLDERS: Final = frozenset({"build", ".git", ".gradle", "node_modules"})


@dataclass(frozen=True, slots=True)
class SourceSet:
    """The source set a migration goes into.

    Attributes:
        folder: The folder that holds AndroidManifest.xml.
        namespace: Java package of the app's classes.
        language: What most of its source files are written in.
    """

    folder: Path
    namespace: str
    language: Language


class FileChange(Frozen):
    """One file of the app: its path relative to the project, its text before (None where it is new) and after."""

    path: str
    before: str | None
    after: str

    def unified_diff(self) -> str:
        """Return the change as a unified diff, empty where nothing changes."""
        before = [] if self.before is None else self.before.splitlines(keepends=True)
        after = self.after.splitlines(keepends=True)
        old = "/dev/null" if self.before is None else f"a/{self.path}"
        lines = difflib.unified_diff(before, after, old, f"b/{self.path}")
        return "".join(
            line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
        )


@dataclass(frozen=True, slots=True)
class Migration:
    """All changes of a migration, and what its author has to do besides."""

    project: Path
    changes: tuple[FileChange, ...]
    translations: tuple[Translation, ...]
    notes: tuple[str, ...]

    def apply(self) -> None:
        """Write the changes; each file is replaced as a whole or not at all.

        Raises:
            WriteError: a file cannot be written.
        """
        for change in self.changes:
            _replace_file(self.project / change.path, change.after)


def find_source_set(project: Path, namespace: str | None = None) -> SourceSet:
    """Find the main source set of an app's project.

    Args:
        project: The project folder, a module's folder, or the source set itself.
        namespace: The Java package, where build files and manifest do not tell it.

    Raises:
        InputError: no manifest, or several modules with an application element.
    """
    if not project.is_dir():
        message = "not a folder"
        raise InputError(message, place=str(project), hint="Give the folder of an Android app's project")
    folders = [project] if (project / _MANIFEST).is_file() else sorted(_main_source_sets(project))
    apps = [folder for folder in folders if _declares_application(folder / _MANIFEST)]
    if len(apps) != 1:
        found = ", ".join(str(one.relative_to(project)) for one in apps) or "none"
        message = f"one module with an application is needed, found: {found}"
        raise InputError(message, place=str(project), hint="Give the folder of the app's module")
    folder = apps[0]
    found_namespace = namespace or _find_namespace(folder)
    if found_namespace is None:
        message = "neither build.gradle nor the manifest tells the app's package"
        raise InputError(message, place=str(folder), hint="Give it with --package")
    return SourceSet(folder, found_namespace, _find_language(folder))


def _main_source_sets(project: Path) -> Iterable[Path]:
    for folder, folders, files in os.walk(project):
        folders[:] = sorted(one for one in folders if one not in _SKIPPED_FOLDERS)
        if _MANIFEST in files and Path(folder).name == "main":
            yield Path(folder)


def _declares_application(manifest: Path) -> bool:
    root = parse_xml(manifest.read_bytes(), path=str(manifest))
    return any(child.tag == "application" for child in child_elements(root))


def _find_namespace(folder: Path) -> str | None:
    from droidgate.sources.gradle import read_gradle_facts

    module = folder.parent.parent
    for name in ("build.gradle.kts", "build.gradle"):
        file = module / name
        if file.is_file():
            facts = read_gradle_facts(file.read_text(encoding="utf-8", errors="replace"))
            if facts.namespace or facts.application_id:
                return facts.namespace or facts.application_id
    root = parse_xml((folder / _MANIFEST).read_bytes(), path=str(folder / _MANIFEST))
    return root.get("package")


def _find_language(folder: Path) -> Language:
    kotlin = sum(1 for _ in folder.rglob("*.kt"))
    return "kotlin" if kotlin > sum(1 for _ in folder.rglob("*.java")) else "java"


def plan_migration(
    project: Path,
    source_set: SourceSet,
    translations: Sequence[Translation],
    target: Format,
    dialect: DialectTable,
    language: Language,
) -> Migration:
    """Work out what a migration changes.

    Args:
        project: The project folder that paths are told relative to.
        source_set: Where it goes.
        translations: What is written; the writings of several providers must not name the same file.
        target: The format.
        dialect: The dialect.
        language: The language of the handler skeleton, or `none`.

    Raises:
        InputError: a file of the app cannot be read or does not fit.
        UsageError: two providers would be written to one file.
        WriteError: a file of the app holds something else under a name that is needed.
    """
    planned: dict[str, Artifact] = {}
    notes: list[str] = []
    manifests: list[str] = []
    for translation in translations:
        artifacts = _artifacts_of(translation.writing, target, dialect, language, source_set.namespace, notes)
        for artifact in artifacts:
            if artifact.role == "manifest":
                manifests.append(artifact.text)
            elif artifact.path in planned and planned[artifact.path].text != artifact.text:
                message = f"two providers would be written to {artifact.path}"
                raise UsageError(message, hint="Migrate them one by one")
            elif artifact.role != "document":
                planned[artifact.path] = artifact
    changes = [_manifest_change(project, source_set, manifests)]
    changes += [_file_change(project, source_set.folder, artifact) for artifact in planned.values()]
    _check_strings(source_set.folder, planned)
    kept = tuple(change for change in changes if change.before != change.after)
    return Migration(project, kept, tuple(translations), tuple(dict.fromkeys(notes)))


def _artifacts_of(
    writing: Writing,
    target: Format,
    dialect: DialectTable,
    language: Language,
    namespace: str,
    notes: list[str],
) -> list[Artifact]:
    if language == "none" or target.write_handlers is None:
        return list(writing.artifacts)
    code = target.write_handlers(writing.provider, dialect, language, namespace)
    notes.extend(code.notes)
    return [one for one in writing.artifacts if one.path not in code.left_out] + list(code.artifacts)


def _manifest_change(project: Path, source_set: SourceSet, manifests: list[str]) -> FileChange:
    path = source_set.folder / _MANIFEST
    shown = _relative(project, path)
    before = _read(path)
    after = before
    for addition in manifests:
        after = merge_manifest(after, addition, path=shown, namespace=source_set.namespace)
    return FileChange(path=shown, before=before, after=after)


def _file_change(project: Path, folder: Path, artifact: Artifact) -> FileChange:
    path = folder / artifact.path
    shown = _relative(project, path)
    before = _read(path) if path.exists() else None
    keep = artifact.role == "skeleton" and before is not None
    return FileChange(
        path=shown, before=before, after=before if keep and before is not None else artifact.text
    )


def _check_strings(folder: Path, planned: dict[str, Artifact]) -> None:
    values = folder / "res" / "values"
    new_names = {
        name: path
        for path, artifact in planned.items()
        if path.startswith("res/values/")
        for name in _string_names(artifact.text, path)
    }
    for file in sorted(values.glob("*.xml")) if values.is_dir() and new_names else ():
        if f"res/values/{file.name}" in planned:
            continue
        for name in _string_names(_read(file), str(file)):
            if name in new_names:
                message = f"the app has a string {name!r} already"
                raise WriteError(
                    message, place=str(file), hint=f"Rename it; {new_names[name]} needs the name"
                )


def _string_names(text: str, path: str) -> list[str]:
    root = parse_xml(text, path=path)
    return [
        str(child.get("name"))
        for child in child_elements(root)
        if child.tag == "string" and child.get("name")
    ]


def _relative(project: Path, path: Path) -> str:
    return path.relative_to(project).as_posix()


def _read(path: Path) -> str:
    try:
        return decode_utf8(path.read_bytes(), path=str(path))
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", place=str(path)) from None


def _replace_file(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        mode = path.stat().st_mode & 0o777 if path.exists() else None
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        Path(temporary).chmod(mode if mode is not None else 0o644)
        Path(temporary).replace(path)
    except OSError as error:
        raise WriteError(f"cannot be written: {error.strerror}", place=str(path)) from None

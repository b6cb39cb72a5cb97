"""What migrating providers into an app's source tree changes, file by file; writing it is another step."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from droidgate.migration.access_notes import access_notes
from droidgate.migration.existing import ExistingApp
from droidgate.migration.own_code import is_declared_in, missing_methods, own_code_notes
from droidgate.migration.source_sets import (
    MANIFEST,
    Language,
    WritableSourceSet,
    check_inside,
    find_source_file,
)
from droidgate.migration.text_files import read_text_file, replace_file
from droidgate_android.handlers.places import MARK
from droidgate_android.manifest_edit import merge_manifest
from droidgate_mappings.formats.format import Artifact, Format, HandlerCode
from droidgate_mappings.model.capability import Provider
from droidgate_mappings.model.errors import UsageError, WriteError
from droidgate_mappings.model.findings import Level
from droidgate_mappings.model.types import Frozen
from droidgate_mappings.tables.loading import DialectTable
from droidgate_mappings.translate import Translation


class FileChange(Frozen):
    """One file of the app.

    Attributes:
        path: Its path below the project folder.
        before: Its text, None where it is new.
        after: Its text after the migration.
        encoding: Python's name of the encoding that its bytes have.
    """

    path: str
    before: str | None
    after: str
    encoding: str = "utf-8"

    def unified_diff(self) -> str:
        """Return the change as a unified diff, empty where nothing changes."""
        before = [] if self.before is None else _lines(self.before)
        old = "/dev/null" if self.before is None else f"a/{self.path}"
        lines = difflib.unified_diff(before, _lines(self.after), old, f"b/{self.path}")
        return "".join(
            line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
        )


def _lines(text: str) -> list[str]:
    lines = text.split("\n")
    return [f"{line}\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])


@dataclass(frozen=True, slots=True)
class MigrationPlan:
    """All changes of a migration, and what else its author has to do, access rules first.

    Attributes:
        project: The folder that paths are relative to.
        changes: The files that change or are new.
        unchanged: Paths of the files that are as they have to be.
        translations: What is written.
        notes: What the author has to do.
    """

    project: Path
    changes: tuple[FileChange, ...]
    unchanged: tuple[str, ...]
    translations: tuple[Translation, ...]
    notes: tuple[str, ...]

    def unified_diff(self) -> str:
        """Return all changes as one unified diff."""
        return "".join(change.unified_diff() for change in self.changes)

    def write(self) -> None:
        """Write the changes, the manifest last: it names the others.

        Each file is replaced as a whole or not at all.

        Raises:
            InputError: a link leads out of the project.
            WriteError: a file cannot be written.
        """
        paths = [self.project / change.path for change in self.changes]
        for path in paths:
            check_inside(path, self.project)
        for change, path in sorted(
            zip(self.changes, paths, strict=True), key=lambda pair: pair[1].name == MANIFEST
        ):
            replace_file(path.resolve(), change.after, change.encoding)


def plan_migration(
    project: Path,
    source_set: WritableSourceSet,
    translations: Sequence[Translation],
    target: Format,
    dialect: DialectTable,
    language: Language,
) -> MigrationPlan:
    """Work out what a migration changes.

    Args:
        project: The project folder that paths are relative to.
        source_set: Where it goes.
        translations: What is written; two of them cannot have one component.
        target: The format.
        dialect: The dialect.
        language: The language of the handler skeleton, or `none`.

    Raises:
        InputError: a file of the app cannot be read or does not fit.
        UsageError: the format is not part of an app, or two providers would become one component.
        WriteError: a file of the app holds something else under a name that is needed.
    """
    _check_components(translations)
    planner = _Planner(project, source_set, target, dialect, language)
    for translation in translations:
        planner.add(translation)
    files = planner.files()
    return MigrationPlan(
        project=project,
        changes=tuple(file for file in files if file.before != file.after),
        unchanged=tuple(file.path for file in files if file.before == file.after),
        translations=tuple(translations),
        notes=tuple(dict.fromkeys(planner.notes)),
    )


def _check_components(translations: Sequence[Translation]) -> None:
    components = [translation.writing.provider.component for translation in translations]
    if len(set(components)) < len(components):
        sources = ", ".join(
            str(translation.source.source or translation.source.component) for translation in translations
        )
        message = f"{len(components)} providers cannot become one component"
        raise UsageError(message, hint=f"migrate one of them: {sources}")


def _security_notes(translation: Translation) -> Iterator[str]:
    """Yield a note for each access rule of the source that nothing enforces in the app."""
    capabilities = translation.source.capabilities
    for finding in translation.writing.findings:
        if finding.level is Level.SECURITY:
            tokens = finding.pointer.split("/")
            is_capability = tokens[1:2] == ["capabilities"]
            about = f"{capabilities[int(tokens[2])].id}: " if is_capability else ""
            hint = "" if finding.hint is None else f"; {finding.hint}"
            yield f"security: {about}{finding.message}{hint}"


class _Planner:
    def __init__(
        self,
        project: Path,
        source_set: WritableSourceSet,
        target: Format,
        dialect: DialectTable,
        language: Language,
    ) -> None:
        self.project = project
        self.source_set = source_set
        self.target = target
        self.dialect = dialect
        self.language = language
        self.notes: list[str] = []
        self.planned: dict[str, Artifact] = {}
        self.manifest_path = source_set.folder / MANIFEST
        check_inside(self.manifest_path, project)
        self.manifest = read_text_file(self.manifest_path, self.project)
        self.merged = self.manifest.text

    def add(self, translation: Translation) -> None:
        source = translation.source
        if self.language != "none" and is_declared_in(self.source_set.folder, source, self.target):
            self.notes.extend(own_code_notes(source, self.manifest.text))
            return
        self.notes.extend(_security_notes(translation))
        self.notes.extend(access_notes(translation.writing.provider, self.target, self.manifest.text))
        code = self.handler_code(translation)
        self.notes.extend(code.notes)
        written = [
            artifact for artifact in translation.writing.artifacts if artifact.path not in code.left_out
        ]
        artifacts = [*written, *code.artifacts]
        manifests = [artifact.text for artifact in artifacts if artifact.role == "manifest"]
        if not manifests:
            message = f"{self.target.id}+{self.dialect.id} is not part of an app"
            raise UsageError(message, hint="write it with `droidgate convert`")
        files = {
            artifact.path: artifact for artifact in artifacts if artifact.role not in {"manifest", "document"}
        }
        app = ExistingApp(self.project, self.merged, self.shown(self.manifest_path), self.source_set)
        addition = app.fit(manifests, files)
        self.notes.extend(addition.notes)
        for text in addition.manifests:
            self.merged = merge_manifest(
                self.merged, text, path=self.shown(self.manifest_path), namespace=self.source_set.namespace
            )
        self.plan_files(addition.files, translation.writing.provider)

    def plan_files(self, files: Mapping[str, Artifact], provider: Provider) -> None:
        for path, artifact in files.items():
            if path in self.planned and self.planned[path].text != artifact.text:
                message = f"two providers need a file {path}"
                raise WriteError(message, hint="migrate them one by one")
            self.planned[path] = artifact
            if artifact.role == "skeleton":
                self.report_missing_methods(artifact, provider)

    def report_missing_methods(self, skeleton: Artifact, provider: Provider) -> None:
        """Note what the handler of the app lacks: it is the author's, so it is not changed."""
        existing = find_source_file(self.source_set.folder, skeleton.path)
        if existing is None:
            return
        language: Language = "kotlin" if existing.suffix == ".kt" else "java"
        if existing.suffix != Path(skeleton.path).suffix:
            made = self.handlers_in(language, provider).artifacts
            skeleton = next((item for item in made if item.role == "skeleton"), skeleton)
        text = read_text_file(existing, self.project).text
        self.notes.extend(missing_methods(provider, skeleton, text, self.shown(existing)))

    def handler_code(self, translation: Translation) -> HandlerCode:
        return self.handlers_in(self.language, translation.writing.provider)

    def handlers_in(self, language: Language, provider: Provider) -> HandlerCode:
        if language == "none" or self.target.write_handlers is None:
            return HandlerCode(())
        return self.target.write_handlers(provider, self.dialect, language, self.source_set.namespace)

    def files(self) -> list[FileChange]:
        """Return the files of the migration, those that do not change too."""
        files = [
            FileChange(
                path=self.shown(self.manifest_path),
                before=self.manifest.text,
                after=self.merged,
                encoding=self.manifest.encoding,
            )
        ]
        files += map(self.file_change, self.planned.values())
        return files

    def file_change(self, artifact: Artifact) -> FileChange:
        path = self.source_set.folder / artifact.path
        check_inside(path, self.project)
        if artifact.role in {"code", "skeleton"}:
            existing = find_source_file(self.source_set.folder, artifact.path)
            if existing is not None and artifact.role == "skeleton":
                own = read_text_file(existing, self.project).text
                return FileChange(path=self.shown(existing), before=own, after=own)
            if existing is not None and (
                existing != path or MARK not in read_text_file(existing, self.project).text
            ):
                message = f"the app has a class {path.stem} already"
                hint = "rename it, or leave the code out with --language none"
                raise WriteError(message, place=str(existing), hint=hint)
        before = read_text_file(path, self.project) if path.exists() else None
        return FileChange(
            path=self.shown(path), before=None if before is None else before.text, after=artifact.text
        )

    def shown(self, path: Path) -> str:
        return path.relative_to(self.project).as_posix()

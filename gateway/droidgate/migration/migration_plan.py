"""What migrating providers into an app's source tree changes, file by file; writing it is another step.

What a writer wrote is merged into an app that has files and names of its own. The plan says what the access
rules of a written component mean to the app's author, which code of the author it leaves as it is, and what
is missing in it.
"""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from os import PathLike, fspath
from pathlib import Path, PurePosixPath
from typing import Final, get_args

from lxml import etree

from droidgate.computer.output_folder import replace_file
from droidgate.converting.conversion import Conversion, convert_into
from droidgate.migration.called_functions import build_of, find_called_functions
from droidgate.migration.source_sets import (
    Language,
    WritableSourceSet,
    find_source_file,
    find_source_set,
    read_text_file,
    refuse_links_outside,
)
from droidgate.sources import providers_of, read_sources
from droidgate.sources.source_results import Providers, check_java_package, provider_label, provider_labels
from droidgate_android.apk.packed_files import MANIFEST
from droidgate_android.handlers.methods import identifiers
from droidgate_android.handlers.places import MARK
from droidgate_android.manifest_edit import COMPONENTS, merge_manifest, parse_manifest
from droidgate_android.projects.module_build import read_module_build
from droidgate_mappings.fit.losses import NEW_NAME
from droidgate_mappings.formats.format import (
    Artifact,
    ExistingFunction,
    Format,
    HandlerCode,
    HandlerRequest,
    find_format,
)
from droidgate_mappings.formats.reachability import Protection, enabled_words, protection_of
from droidgate_mappings.model.capability import Provider
from droidgate_mappings.model.errors import DroidgateError, InputError, UsageError, WriteError, option_hint
from droidgate_mappings.model.findings import Finding, Level
from droidgate_mappings.model.names import class_name_in_snake_case, qualified_class
from droidgate_mappings.model.types import Frozen
from droidgate_mappings.records import dataclass, fields, replace
from droidgate_mappings.tables.loading import DialectTable, find_binding
from droidgate_mappings.text.nearest_names import suggest_name
from droidgate_mappings.text.xml_text import ANDROID, Element, child_elements, parse_xml
from droidgate_mappings.translate import Translation, translate_each

_NAME: Final = f"{ANDROID}name"
_APPLICATION: Final = "<application>"
_VALUE_REFERENCE: Final = re.compile(r"@((?:string|bool)/[A-Za-z0-9_.]+)")
_VALUES: Final = ("res/values/", "res/values-")
_VALUE_TAGS: Final = frozenset({"string", "bool"})


@dataclass(frozen=True, slots=True)
class Addition:
    """What goes into the app: manifests to merge, files by path, and what is worth reporting."""

    manifests: tuple[str, ...]
    files: dict[str, Artifact]
    notes: tuple[str, ...]


class ExistingApp:
    """The source set before a provider comes into it.

    A file that the app has already belongs to the components that name it. One that belongs to the component
    that is written is made anew; one that belongs to others stays, and the new file gets another name, made
    from the component's.
    """

    def __init__(self, project: Path, manifest: str, label: str, source_set: WritableSourceSet) -> None:
        self.project = project
        self.folder = source_set.folder
        self.namespace = source_set.namespace
        root = parse_manifest(manifest, path=label)
        self.application = next(
            (child for child in child_elements(root) if child.tag == "application"),
            etree.Element("application"),
        )
        self.users: dict[str, set[str]] = {}
        for owner, value in _values(self.application, self.namespace):
            self.users.setdefault(value, set()).add(owner)

    def fit(self, manifests: list[str], files: Mapping[str, Artifact]) -> Addition:
        """Return what goes into the app.

        Raises:
            WriteError: a file or a string of the app is in the way.
        """
        roots = [parse_xml(text, path="<addition>") for text in manifests]
        notes: list[str] = []
        new_files = dict(files)
        for root in roots:
            notes.extend(self.keep_own_facts(root, new_files))
        component = _component_of(roots, self.namespace)
        renamed = self.rename_files(roots, new_files, component)
        self.check_strings(renamed, component)
        return Addition(
            tuple(etree.tostring(root, encoding="unicode") for root in roots), renamed, tuple(notes)
        )

    def keep_own_facts(self, root: Element, files: dict[str, Artifact]) -> Iterator[str]:
        """Leave out what the addition says about the whole app and the app says otherwise."""
        for application in child_elements(root):
            if application.tag != "application":
                continue
            for child in child_elements(application):
                if child.tag in COMPONENTS or not self.has_fact(child, files):
                    continue
                application.remove(child)
                for path in [file for file in files if manifest_reference(file) in child.attrib.values()]:
                    del files[path]
                _drop_unused_strings(root, files)
                yield f"The app keeps its own {child.get(_NAME)}: add to it what the new tools need"

    def has_fact(self, child: Element, files: Mapping[str, Artifact]) -> bool:
        """Return whether the app says something else under a name that is about the whole app."""
        existing = next(
            (
                child_element
                for child_element in child_elements(self.application)
                if child_element.tag == child.tag and child_element.get(_NAME) == child.get(_NAME)
            ),
            None,
        )
        if existing is None:
            return False
        is_equal = dict(existing.attrib) == dict(child.attrib)
        pointed = [files[path] for path in files if manifest_reference(path) in child.attrib.values()]
        return not is_equal or any(self.differs(item) for item in pointed)

    def differs(self, artifact: Artifact) -> bool:
        """Return whether the app has another file at an artifact's path."""
        path = self.folder / artifact.path
        return path.is_file() and read_text_file(path, self.project) != artifact.text

    def rename_files(
        self, roots: list[Element], files: Mapping[str, Artifact], component: str
    ) -> dict[str, Artifact]:
        """Return the files under paths where no other files are, and change what names them."""
        prefix = class_name_in_snake_case(component)
        renamed: dict[str, Artifact] = {}
        for path, artifact in files.items():
            reference = manifest_reference(path)
            if reference is None or not self.differs(artifact) or self.users.get(reference) == {component}:
                renamed[path] = artifact
                continue
            parts = PurePosixPath(path)
            name = f"{prefix}_{parts.name}"
            if name.startswith(f"{prefix}_{prefix}"):
                name = f"{prefix}_2{parts.suffix}"
            target = str(parts.with_name(name))
            for root in roots:
                _replace_values(root, reference, manifest_reference(target) or "")
            renamed[target] = replace(artifact, path=target)
        return renamed

    def check_strings(self, files: Mapping[str, Artifact], component: str) -> None:
        """Refuse strings and booleans whose names the app uses for something else.

        Raises:
            WriteError: the app uses one of the names for something else.
        """
        for path, artifact in files.items():
            if not path.startswith(_VALUES):
                continue
            names = _value_names(artifact.text, path)
            for file in sorted((self.folder / path).parent.glob("*.xml")):
                used_names = names & _value_names(read_text_file(file, self.project), str(file))
                own = file == self.folder / path and not self.is_foreign(file, artifact, component)
                if used_names and not own:
                    kind, _, name = min(used_names).partition("/")
                    message = f"the app already has a {kind} {name!r}"
                    raise WriteError(message, place=str(file), hint=f"rename it; {path} needs the name")
            if self.differs(artifact) and self.is_foreign(self.folder / path, artifact, component):
                message = "the app has a file of this name already"
                raise WriteError(
                    message, place=str(self.folder / path), hint="rename it; the migration needs the name"
                )

    def is_foreign(self, file: Path, artifact: Artifact, component: str) -> bool:
        """Return whether a values file is another one than the component's."""
        text = read_text_file(file, self.project)
        if text == artifact.text:
            return False
        names = _value_names(text, str(file))
        users = {owner for name in names for owner in self.users.get(f"@{name}", ())}
        return not users <= {component, _APPLICATION} or not (
            names & _value_names(artifact.text, artifact.path)
        )


def _values(application: Element, namespace: str) -> Iterator[tuple[str, str]]:
    """Yield each attribute value that may name a file, string or boolean, with its component."""
    for child in child_elements(application):
        owner = (
            qualified_class(child.get(_NAME) or "", namespace) if child.tag in COMPONENTS else _APPLICATION
        )
        for element in child.iter(etree.Element):
            for key in ("value", "resource", "enabled"):
                value = element.get(f"{ANDROID}{key}")
                if value is not None:
                    yield owner, value


def _component_of(roots: list[Element], namespace: str) -> str:
    for root in roots:
        for element in root.iter(*COMPONENTS):
            return qualified_class(element.get(_NAME) or "", namespace)
    return _APPLICATION


def manifest_reference(path: str) -> str | None:
    """Return how a manifest names a file: `@xml/name`, or an asset's name; None for what it does not name."""
    parts = PurePosixPath(path)
    if path.startswith("assets/"):
        return str(parts.relative_to("assets"))
    if path.startswith("res/") and not path.startswith(_VALUES):
        return f"@{parts.parent.name}/{parts.stem}"
    return None


def _replace_values(root: Element, old: str, new: str) -> None:
    for element in root.iter(etree.Element):
        for key in ("value", "resource"):
            if element.get(f"{ANDROID}{key}") == old:
                element.set(f"{ANDROID}{key}", new)


def _drop_unused_strings(root: Element, files: dict[str, Artifact]) -> None:
    texts = [etree.tostring(root, encoding="unicode")]
    texts += [file.text for path, file in files.items() if not path.startswith(_VALUES)]
    used = {name for text in texts for name in _VALUE_REFERENCE.findall(text)}
    for path in [file for file in files if file.startswith(_VALUES)]:
        names = _value_names(files[path].text, path)
        if names and not names & used:
            del files[path]


def _value_names(text: str, path: str) -> set[str]:
    """Return `type/name` of each string and boolean that a values file declares."""
    root = parse_manifest(text, path=path)
    return {
        f"{child.tag!s}/{child.get('name')}"
        for child in child_elements(root)
        if child.tag in _VALUE_TAGS and child.get("name")
    }


_PLACEHOLDER: Final = re.compile(r"\$\{(?:[^}$]|\$(?!\{))*+\}")
_ANDROID_PREFIX: Final = "android."
_DEFAULT_LEVEL: Final = "normal"


def access_notes(provider: Provider, target: Format, manifest: str) -> Iterator[str]:
    """Yield a note for each rule that keeps callers from the component of a provider.

    Args:
        provider: The provider as written.
        target: Its format.
        manifest: The manifest of the app that it is written into.
    """
    access, component = provider.access, provider.component or "the component"
    if access.exported is False:
        yield (
            f"{component} is not exported, so only this app can call it; set android:exported to true "
            "to let other apps call it"
        )
    enabled = enabled_words(access.enabled)
    if enabled is not None:
        yield f"{component} is {enabled}; change android:enabled to let callers reach it everywhere"
    binding = find_binding(target.id)
    if access.permission and (binding is None or access.permission != binding.component):
        yield from _permission_notes(access.permission, component, _declared_permissions(manifest))


def _may_be(declared: str, permission: str) -> bool:
    """Return whether a declared name, whose placeholders have any values, can be a permission's."""
    first, *others = _PLACEHOLDER.split(declared)
    if not others:
        return first == permission
    *middle, last = others
    if not permission.startswith(first) or not permission.endswith(last):
        return False
    at, end = len(first), len(permission) - len(last)
    for item in middle:
        position = permission.find(item, at + 1, end)
        if position < 0:
            return False
        at = position + len(item)
    return at < end


def _permission_notes(permission: str, component: str, declared: Mapping[str, str]) -> Iterator[str]:
    declaration = next((name for name in declared if _may_be(name, permission)), None)
    levels = {} if declaration is None else {permission: declared[declaration]}
    is_closed = protection_of(permission, levels) is Protection.SIGNATURE
    closed = ", which ordinary apps cannot hold" if is_closed else ""
    yield (
        f"callers need {permission}{closed}; remove android:permission from {component} "
        "to let every app call it"
    )
    if declaration is None and not permission.startswith(_ANDROID_PREFIX):
        yield (
            f"{permission} is not declared in this app's manifest, and no app can hold a permission that is "
            f'not declared; declare it there: <permission android:name="{permission}" />'
        )


def _declared_permissions(manifest: str) -> dict[str, str]:
    """Return the permissions that a manifest declares, with their protection levels."""
    root = parse_manifest(manifest, path="AndroidManifest.xml")
    return {
        child.get(f"{ANDROID}name", ""): child.get(f"{ANDROID}protectionLevel", _DEFAULT_LEVEL)
        for child in child_elements(root)
        if child.tag == "permission"
    }


_CLASS: Final = re.compile(r"""android:name\s*+=\s*+["']([\w.$]++)["']""")
_METHOD: Final = re.compile(r"\b(\w++)\s*+\(")
_MAX_SIGNATURE: Final = 2000
"""Characters of a method's head; generated ones are shorter."""


def is_declared_in(folder: Path, provider: Provider, target: Format) -> bool:
    """Return whether source code in a source set already declares a provider in the target format.

    Args:
        folder: The source set's folder.
        provider: What was read.
        target: The format that it is to be written in.
    """
    if provider.protocol != target.id or target.code is None or provider.source is None:
        return False
    path = Path(provider.source.path)
    return path.name.endswith(target.code.endings) and path.resolve().is_relative_to(folder.resolve())


def own_code_notes(provider: Provider, manifest: str) -> Iterator[str]:
    """Yield what is left to do where the source code of the app declares the functions itself."""
    yield f"{provider.source} declares these functions already, so nothing is written for them"
    component, binding = provider.component, find_binding(provider.protocol)
    if component is None or binding is None:
        return
    simple = component.rpartition(".")[2]
    if all(match[1].rpartition(".")[2] != simple for match in _CLASS.finditer(manifest)):
        yield (
            f"AndroidManifest.xml does not declare {component}; declare this service with "
            f'android:permission="{binding.component}", its intent filter, and a property that names the '
            "functions file of the entry point"
        )


_NOT_IMPLEMENTED: Final = " is not implemented yet"
"""In the text of each refusal of a generated handler."""


def missing_methods(provider: Provider, skeleton: Artifact, existing: str, label: str) -> Iterator[str]:
    """Yield a note for each capability whose method is not in the handler that the author has filled in.

    Args:
        provider: The provider as written.
        skeleton: The handler as it would be made now.
        existing: The text of the app's handler.
        label: Its path, for the note.
    """
    names = identifiers(capability.id for capability in provider.capabilities)
    existing_methods = {match[1] for match in _METHOD.finditer(existing)}
    heads = {match[1]: match for match in reversed(list(_METHOD.finditer(skeleton.text)))}
    for capability in provider.capabilities:
        if names[capability.id] not in existing_methods:
            head = _head_of(skeleton.text, heads.get(names[capability.id]))
            yield f"{label} has no method for {capability.id}: add {head}"


def _head_of(skeleton: str, match: re.Match[str] | None) -> str:
    """Return the head of a generated method in one line: from its line's start to its body."""
    if match is None:
        return "one"
    start = skeleton.rfind("\n", 0, match.start()) + 1
    end = skeleton.find("{", match.end(), start + _MAX_SIGNATURE)
    head = skeleton[start : end if end >= 0 else match.end()]
    return " ".join(head.split()).replace("( ", "(").replace(", )", ")")


class FileChange(Frozen):
    """One file of the app.

    Attributes:
        path: Its path below the project folder.
        before: Its text, None where it is new.
        after: Its text after the migration.
    """

    path: str
    before: str | None
    after: str

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
        changes: The files that change or are new; none where the project has everything already.
        unchanged: Paths of the files that are as they have to be.
        translations: What is written.
        notes: What the author of the app has to do, access rules first.
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
            refuse_links_outside(path, self.project)
        for change, path in sorted(
            zip(self.changes, paths, strict=True), key=lambda pair: pair[1].name == MANIFEST
        ):
            replace_file(path.resolve(), change.after.encode())


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
    written = tuple(map(planner.add, translations))
    files = planner.files()
    return MigrationPlan(
        project=project,
        changes=tuple(file for file in files if file.before != file.after),
        unchanged=tuple(file.path for file in files if file.before == file.after),
        translations=written,
        notes=tuple(dict.fromkeys(planner.notes)),
    )


def _check_components(translations: Sequence[Translation]) -> None:
    seen: dict[str | None, Provider] = {}
    for translation in translations:
        first = seen.setdefault(translation.writing.provider.component, translation.source)
        if first is not translation.source:
            message = f"2 providers cannot become one component: {_why_apart(first, translation.source)}"
            labels = ", ".join(provider_labels((first, translation.source)))
            raise UsageError(
                message,
                hint=option_hint(
                    f"migrate one of them with {{}}: {labels}; if the project has a component of that name, "
                    "rename it first",
                    "--provider",
                    "read(...).choose(NAME)",
                ),
            )


def _why_apart(first: Provider, second: Provider) -> str:
    """Return why two providers are not joined, as a clause."""
    fields = {"package": "app", "protocol": "protocol", "dialect": "dialect", "access": "access rules"}
    differing = [word for field, word in fields.items() if getattr(first, field) != getattr(second, field)]
    if differing:
        return f"they differ in {' and '.join(differing)}"
    shared = ", ".join(f'"{name}"' for name in sorted(_shared_names(first, second)))
    return f"both declare {shared}" if shared else "both are written as they are"


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


def _with_ids(translation: Translation, ids: Mapping[str, str]) -> Translation:
    """Return a translation with a finding for each capability that has another id in the built app."""
    writing, source = translation.writing, translation.source.capabilities
    renamed = {
        pointer: NEW_NAME.finding(pointer, original=capability.id, written=ids[id_], source=capability.source)
        for position, capability in enumerate(source)
        if (id_ := writing.provider.capabilities[position].id) in ids and ids[id_] != capability.id
        for pointer in [f"/capabilities/{position}/id"]
    }
    kept = [finding for finding in writing.findings if finding.pointer not in renamed]
    return replace(translation, writing=replace(writing, findings=(*kept, *renamed.values())))


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
        refuse_links_outside(self.manifest_path, project)
        self.manifest = read_text_file(self.manifest_path, self.project)
        self.merged = self.manifest

    def add(self, translation: Translation) -> Translation:
        """Plan what is written of a provider, and return it with the names that the build gives."""
        source = translation.source
        if self.language != "none" and is_declared_in(self.source_set.folder, source, self.target):
            self.notes.extend(own_code_notes(source, self.manifest))
            return translation
        self.notes.extend(_security_notes(translation))
        self.notes.extend(access_notes(translation.writing.provider, self.target, self.manifest))
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
        app = ExistingApp(self.project, self.merged, self.relative(self.manifest_path), self.source_set)
        addition = app.fit(manifests, files)
        self.notes.extend(addition.notes)
        for text in addition.manifests:
            self.merged = merge_manifest(
                self.merged, text, path=self.relative(self.manifest_path), namespace=self.source_set.namespace
            )
        self.plan_files(addition.files, translation.writing.provider)
        return _with_ids(translation, code.ids)

    def plan_files(self, files: Mapping[str, Artifact], provider: Provider) -> None:
        for path, artifact in files.items():
            if path in self.planned and self.planned[path].text != artifact.text:
                message = f"two providers need a file {path}"
                raise WriteError(message, hint="migrate them one by one")
            self.planned[path] = artifact
            if artifact.role == "skeleton":
                self.report_missing_methods(artifact, provider)

    def report_missing_methods(self, skeleton: Artifact, provider: Provider) -> None:
        """Note what the handler lacks; one that the app has is the author's, so it is not changed."""
        existing = find_source_file(self.source_set.folder, skeleton.path)
        text = skeleton.text if existing is None else read_text_file(existing, self.project)
        if count := text.count(_NOT_IMPLEMENTED):
            name = Path(skeleton.path).name if existing is None else existing.name
            calls = "1 call" if count == 1 else f"{count} calls"
            self.notes.append(f"{name} refuses {calls} until you write what the app does")
        if existing is None:
            return
        language: Language = "kotlin" if existing.suffix == ".kt" else "java"
        if existing.suffix != Path(skeleton.path).suffix:
            artifacts = self.handlers_in(language, provider, {}).artifacts
            skeleton = next((item for item in artifacts if item.role == "skeleton"), skeleton)
        self.notes.extend(missing_methods(provider, skeleton, text, self.relative(existing)))

    def handler_code(self, translation: Translation) -> HandlerCode:
        if self.language == "none" or self.target.write_handlers is None:
            return HandlerCode(())
        provider = translation.writing.provider
        functions = find_called_functions(translation, self.project, self.source_set)
        code = self.handlers_in(self.language, provider, functions)
        if not self.is_used(code):
            return self.handlers_in(self.language, provider, {})
        written = dict.fromkeys(function.code for function in functions.values() if function.code is not None)
        return replace(code, artifacts=(*code.artifacts, *written))

    def is_used(self, code: HandlerCode) -> bool:
        """Return whether the author's class is new, or still uses the conversions that calls need."""
        for skeleton in (item for item in code.artifacts if item.role == "skeleton"):
            existing = find_source_file(self.source_set.folder, skeleton.path)
            values = f"{Path(skeleton.path).stem.removesuffix('Capabilities')}Values."
            if existing is not None and values not in read_text_file(existing, self.project):
                return False
        return True

    def handlers_in(
        self, language: Language, provider: Provider, functions: Mapping[str, ExistingFunction]
    ) -> HandlerCode:
        if language == "none" or self.target.write_handlers is None:
            return HandlerCode(())
        namespace = self.source_set.namespace
        request = HandlerRequest(provider, self.dialect, language, namespace, functions)
        return self.target.write_handlers(request)

    def files(self) -> list[FileChange]:
        """Return the files of the migration, those that do not change too."""
        files = [
            FileChange(
                path=self.relative(self.manifest_path),
                before=self.manifest,
                after=self.merged,
            )
        ]
        files += map(self.file_change, self.planned.values())
        return files

    def file_change(self, artifact: Artifact) -> FileChange:
        path = self.source_set.folder / artifact.path
        if artifact.path.endswith(".kt"):
            relative = PurePosixPath(artifact.path).relative_to("java")
            path = self.source_set.folder / self.source_set.kotlin_folder / relative
        refuse_links_outside(path, self.project)
        if artifact.role in {"code", "skeleton"}:
            existing = find_source_file(self.source_set.folder, artifact.path)
            if existing is not None and artifact.role == "skeleton":
                own = read_text_file(existing, self.project)
                return FileChange(path=self.relative(existing), before=own, after=own)
            if existing is not None and (
                existing != path or MARK not in read_text_file(existing, self.project)
            ):
                message = f"the app has a class {path.stem} already"
                hint = option_hint(
                    "rename it, or leave the code out with {}", "--language none", 'language="none"'
                )
                raise WriteError(message, place=str(existing), hint=hint)
        before = read_text_file(path, self.project) if path.exists() else None
        return FileChange(path=self.relative(path), before=before, after=artifact.text)

    def relative(self, path: Path) -> str:
        return path.relative_to(self.project).as_posix()


@dataclass(frozen=True, slots=True)
class Migration(MigrationPlan):
    """A migration; nothing is on disk until it is written.

    Attributes:
        conversion: What goes into the project, as `convert` returns it.
    """

    conversion: Conversion

    def __repr__(self) -> str:
        """Return one line: what there is, counted."""
        counts = f"changes={len(self.changes)}, findings={len(self.findings)}, notes={len(self.notes)}"
        return f"<Migration {counts}, problems={len(self.problems)}>"

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The findings of reading and of the conversion."""
        return (*self.conversion.reading, *self.conversion.findings)

    @property
    def problems(self) -> tuple[DroidgateError, ...]:
        """What could not be read of the source, and why a provider could not be written."""
        return self.conversion.problems


def migrate(
    source: str | PathLike[str] | Provider | Iterable[Provider],
    *,
    to: str,
    into: str | PathLike[str],
    package: str | None = None,
    language: Language | None = None,
    drop: bool = False,
) -> Migration:
    """Plan how an Android project declares in another protocol what a source declares.

    Args:
        source: A source as `read` takes it, or providers: what `read` returns, or one or more of them.
        to: A format's id, or `FORMAT+DIALECT`.
        into: Folder of the Android project, or of its module.
        package: Java package of the app, where neither its build file nor its manifest has one.
        language: Of the handler; by default the language of most of the app. `none` writes no handler.
        drop: Let a component that the project has lose capabilities that the source does not declare.

    Raises:
        InputError: the source or the project cannot be read, or declares nothing.
        UsageError: the target is unknown or not part of an app, or two providers would become one component.
        WriteError: the project has something else under a name that is needed, or a component would lose
            capabilities.

    Example:
        >>> migration = droidgate.migrate("pdf-tool", to="mobile-mcp", into="weather")
        >>> migration.changes[0].path
        'app/src/main/AndroidManifest.xml'
    """
    if package is not None:
        check_java_package(package)
    if language is not None and language not in get_args(Language):
        raise UsageError(f"unknown language {language!r}", hint=suggest_name(language, get_args(Language)))
    target, dialect = find_format(to)
    project = Path(into)
    source_set = find_source_set(project, package)
    providers = providers_of(source)
    if isinstance(source, (str, PathLike)):
        providers, _ = without_results(providers, to)
    joined = _join_providers(_with_components(providers, target, dialect), target)
    providers = replace(providers, providers=tuple(joined))
    language = language or source_set.language
    if target.in_code is not None:
        dialect = target.in_code(dialect, language)
    conversion = convert_into(providers, target, dialect)
    plan = plan_migration(project, source_set, conversion.translations, target, dialect, language)
    existing = _read_build(project, target)
    if not drop:
        _check_losses(existing, source_set, conversion.translations)
    notes = (*plan.notes, *_notes_of_modules(existing, plan, source_set, target))
    conversion = replace(conversion, translations=plan.translations)
    parts = {item.name: getattr(plan, item.name) for item in fields(plan)}
    return Migration(**{**parts, "notes": notes}, conversion=conversion)


def _with_components(
    providers: Iterable[Provider], target: Format, dialect: DialectTable
) -> Iterator[Provider]:
    """Yield the providers; one of a file alone gets the component that it would have from another format.

    Without it, a writer of the same format gives the file back, which is not part of an app.
    """
    component, binding = dialect.capacity and dialect.capacity.component, find_binding(target.id)
    for provider in providers:
        if provider.component is None and provider.protocol == target.id and component is not None:
            permission = provider.access.permission or (binding and binding.component)
            access = provider.access.changed({"permission": permission})
            yield provider.changed({"component": component, "access": access})
        else:
            yield provider


def without_results(providers: Providers, to: str) -> tuple[Providers, tuple[str, ...]]:
    """Return the providers without what an earlier migration of them wrote, and the labels of the latter.

    A result has the component that another provider gets in the target, whatever the namespace, and no
    capability that it does not give it, so nothing is lost where only the other one is migrated.

    Args:
        providers: What a source declares.
        to: As `migrate` takes it.

    Raises:
        UsageError: the target is unknown or only read.
    """
    target, dialect = find_format(to)
    others = [provider for provider in providers if provider.protocol != target.id]
    if len(others) == len(providers):
        return providers, ()
    written: dict[tuple[str | None, str], set[str]] = {}
    for outcome in translate_each(_join_providers(others, target), target, dialect):
        if isinstance(outcome, Translation):
            provider = outcome.writing.provider
            written.setdefault(_class_of(provider), set()).update(_method_names(provider))

    def is_result(provider: Provider) -> bool:
        methods = written.get(_class_of(provider))
        return provider.protocol == target.id and methods is not None and _method_names(provider) <= methods

    results = tuple(provider_label(provider) for provider in providers if is_result(provider))
    left = tuple(provider for provider in providers if not is_result(provider))
    return replace(providers, providers=left), results


def _class_of(provider: Provider) -> tuple[str | None, str]:
    """Return the app and the class without its package: a new component's is the app's namespace."""
    return provider.package, provider_label(provider).rpartition(".")[2]


def _method_names(provider: Provider) -> set[str]:
    """Return the names of its capabilities in source code, where a migration may declare them."""
    return set(identifiers(capability.id for capability in provider.capabilities).values())


_JOINED_TEXTS: Final = {"name": ", ", "description": "\n\n", "instructions": "\n\n"}
"""What is between the texts of providers that become one."""


def _join_providers(providers: Iterable[Provider], target: Format) -> Iterable[Provider]:
    """Return the providers, in one those of one app that would get one component and differ in texts only.

    Their capabilities and texts are together in the new component; rules of access are not mixed.
    """
    joined: dict[str, Provider] = {}
    for provider in providers:
        parts: dict[str, object] = {
            **dict.fromkeys(("component", "source", *_JOINED_TEXTS)),
            "capabilities": (),
            "definitions": {},
            "extensions": {},
        }
        key = provider.changed(parts).model_dump_json()
        first = joined.get(key)
        if first is None or provider.protocol == target.id or _shared_names(first, provider):
            joined[key if first is None else f"{key}{len(joined)}"] = provider
            continue
        changes = {
            **{field: _joined_text(field, first, provider) for field in _JOINED_TEXTS},
            "capabilities": first.capabilities + provider.capabilities,
            "definitions": {**provider.definitions, **first.definitions},
            "extensions": {**provider.extensions, **first.extensions},
        }
        joined[key] = first.changed(changes)
    return joined.values()


def _joined_text(field: str, first: Provider, second: Provider) -> str | None:
    texts = dict.fromkeys(text for text in (getattr(first, field), getattr(second, field)) if text)
    return _JOINED_TEXTS[field].join(texts) or None


def _shared_names(first: Provider, second: Provider) -> set[str]:
    """Return the capabilities of both, and the definitions that mean something else in the other."""
    ids = {capability.id for capability in first.capabilities}
    return (ids & {capability.id for capability in second.capabilities}) | {
        name
        for name, definition in second.definitions.items()
        if first.definitions.get(name, definition) != definition
    }


def _read_build(project: Path, target: Format) -> Iterable[Provider]:
    """Return what the build of a project declares in a format, or else the project; nothing if unreadable."""
    for folder in (build_of(project), project):
        with suppress(InputError):
            return read_sources([fspath(folder)], formats=[target.id])
    return ()


_MODULE: Final = re.compile(rf"(.*?)/src/[^/]+/(?:java/|kotlin/|res/|assets/|{MANIFEST})")


def _notes_of_modules(
    existing: Iterable[Provider], plan: MigrationPlan, source_set: WritableSourceSet, target: Format
) -> Iterator[str]:
    """Yield a note for each module that may be in the same app and declares the format too."""
    folder = source_set.folder.resolve()
    changed = (change.after for change in plan.changes if Path(change.path).name == MANIFEST)
    manifest = next(changed, None) or read_text_file(source_set.folder / MANIFEST, plan.project)
    is_app = read_module_build(folder.parent.parent, plan.project).is_application
    modules: dict[Path, list[Provider]] = {}
    for provider in existing:
        match = None if provider.source is None else _MODULE.match(os.path.realpath(provider.source.path))
        if match is not None and match[1] != os.fspath(folder.parent.parent):
            modules.setdefault(Path(match[1]), []).append(provider)
    for module, providers in modules.items():
        if is_app and read_module_build(module, module).is_application:
            continue
        path = module / "src/main" / MANIFEST
        shared = _references(manifest) & _references(read_text_file(path, module)) if path.is_file() else ()
        same = (
            f"; both name {', '.join(sorted(shared))}, and an app keeps one file of a name" if shared else ""
        )
        labels = ", ".join(provider_labels(providers))
        yield f"the module {module.name} declares {target.title} too ({labels}); lint the app with both{same}"


def _references(manifest: str) -> set[str]:
    """Return the XML files that a manifest names: descriptors, and guidance about the whole app."""
    root = parse_manifest(manifest, path=MANIFEST)
    applications = (child for child in child_elements(root) if child.tag == "application")
    values = {value for application in applications for _, value in _values(application, "")}
    return {value for value in values if value.startswith("@xml/") or value.endswith(".xml")}


def _check_losses(
    existing: Iterable[Provider], source_set: WritableSourceSet, translations: Sequence[Translation]
) -> None:
    """Refuse to write a component again without capabilities that it has.

    Raises:
        WriteError: it would lose one.
    """
    folder, namespace = source_set.folder.resolve(), source_set.namespace
    for written in (translation.writing.provider for translation in translations):
        methods = _method_names(written)
        for provider in existing:
            if provider.component is None or written.component is None or provider.source is None:
                continue
            names = {qualified_class(name, namespace) for name in (provider.component, written.component)}
            own = identifiers(capability.id for capability in provider.capabilities)
            lost = [id_ for id_, method in own.items() if method not in methods]
            if lost and len(names) == 1 and Path(provider.source.path).resolve().is_relative_to(folder):
                message = f"{written.component} would no longer declare {', '.join(lost)}"
                hint = option_hint(
                    "{} drops them; to keep them, migrate their source in the same run, or rename the "
                    "component in the project",
                    "--drop",
                    "drop=True",
                )
                raise WriteError(message, place=str(provider.source), hint=hint)

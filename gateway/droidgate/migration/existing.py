"""Merging what a writer wrote into an app that has files and names of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Final

from lxml import etree

from droidgate.migration.source_sets import WritableSourceSet
from droidgate.migration.text_files import read_text_file
from droidgate_android.manifest_edit import COMPONENTS, parse_manifest
from droidgate_mappings.formats.format import Artifact
from droidgate_mappings.model.errors import WriteError
from droidgate_mappings.text.xml_text import ANDROID, Element, child_elements, parse_xml

_NAME: Final = f"{ANDROID}name"
_APPLICATION: Final = "<application>"
_WORD_START: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
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

    def __init__(self, project: Path, manifest: str, shown: str, source_set: WritableSourceSet) -> None:
        self.project = project
        self.folder = source_set.folder
        self.namespace = source_set.namespace
        root = parse_manifest(manifest, path=shown)
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
        kept = dict(files)
        for root in roots:
            notes.extend(self.keep_own_facts(root, kept))
        component = _component_of(roots, self.namespace)
        renamed = self.rename_files(roots, kept, component)
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
                for path in [file for file in files if _reference(file) in child.attrib.values()]:
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
        same = dict(existing.attrib) == dict(child.attrib)
        pointed = [files[path] for path in files if _reference(path) in child.attrib.values()]
        return not same or any(self.differs(item) for item in pointed)

    def differs(self, artifact: Artifact) -> bool:
        """Return whether the app has another file at an artifact's path."""
        path = self.folder / artifact.path
        return path.is_file() and read_text_file(path, self.project).text != artifact.text

    def rename_files(
        self, roots: list[Element], files: Mapping[str, Artifact], component: str
    ) -> dict[str, Artifact]:
        """Return the files under paths where no other files are, and change what names them."""
        prefix = _WORD_START.sub("_", component.rpartition(".")[2]).lower()
        renamed: dict[str, Artifact] = {}
        for path, artifact in files.items():
            reference = _reference(path)
            if reference is None or not self.differs(artifact) or self.users.get(reference) == {component}:
                renamed[path] = artifact
                continue
            parts = PurePosixPath(path)
            name = f"{prefix}_{parts.name}"
            if name.startswith(f"{prefix}_{prefix}"):
                name = f"{prefix}_2{parts.suffix}"
            target = str(parts.with_name(name))
            for root in roots:
                _replace_values(root, reference, _reference(target) or "")
            renamed[target] = replace(artifact, path=target)
        return renamed

    def check_strings(self, files: Mapping[str, Artifact], component: str) -> None:
        """Refuse strings and booleans whose names the app uses for something else.

        Raises:
            WriteError: it does.
        """
        for path, artifact in files.items():
            if not path.startswith(_VALUES):
                continue
            names = _value_names(artifact.text, path)
            for file in sorted((self.folder / path).parent.glob("*.xml")):
                taken = names & _value_names(read_text_file(file, self.project).text, str(file))
                own = file == self.folder / path and not self.is_foreign(file, artifact, component)
                if taken and not own:
                    kind, _, name = min(taken).partition("/")
                    message = f"the app already has a {kind} {name!r}"
                    raise WriteError(message, place=str(file), hint=f"rename it; {path} needs the name")
            if self.differs(artifact) and self.is_foreign(self.folder / path, artifact, component):
                message = "the app has a file of this name already"
                raise WriteError(
                    message, place=str(self.folder / path), hint="rename it; the migration needs the name"
                )

    def is_foreign(self, file: Path, artifact: Artifact, component: str) -> bool:
        """Return whether a values file is another one than the component's."""
        text = read_text_file(file, self.project).text
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
        owner = _qualified(child.get(_NAME) or "", namespace) if child.tag in COMPONENTS else _APPLICATION
        for element in child.iter(etree.Element):
            for key in ("value", "resource", "enabled"):
                value = element.get(f"{ANDROID}{key}")
                if value is not None:
                    yield owner, value


def _component_of(roots: list[Element], namespace: str) -> str:
    for root in roots:
        for element in root.iter(*COMPONENTS):
            return _qualified(element.get(_NAME) or "", namespace)
    return _APPLICATION


def _qualified(name: str, namespace: str) -> str:
    return f"{namespace}.{name.lstrip('.')}" if name.startswith(".") or "." not in name else name


def _reference(path: str) -> str | None:
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

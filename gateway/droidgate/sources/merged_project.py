"""The files of an app with those of its library modules, as Gradle merges them before it packs them."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

from lxml import etree

from droidgate.sources.android_project import MAIN, UNREADABLE_LIBRARY, Module
from droidgate.sources.build_layout import PROJECT_NOT_MERGED
from droidgate.sources.folder_files import MANIFEST
from droidgate.sources.folders import scan_folder
from droidgate.sources.manifest_merge import FILE_MARK, LibraryManifest, ManifestMerger
from droidgate.sources.resources import SourceSet
from droidgate_android.apk.packed_files import MAX_BYTES, MAX_FILES, ProjectFiles
from droidgate_mappings.model.capability import Place
from droidgate_mappings.model.errors import BudgetError, InputError
from droidgate_mappings.model.findings import Finding, Level
from droidgate_mappings.text.xml_text import Element, child_elements, parse_xml

_VALUES: Final = "res/values"
_KINDS: Final = {"string-array": "array", "integer-array": "array"}

Key = tuple[str, str, str]
"""Folder of a resource, its type, its name."""


def merge_libraries(project: Path, files: ProjectFiles) -> tuple[ProjectFiles, list[Finding]]:
    """Return an app's files with the manifests, resources and assets of the modules that it is built with.

    The app's own resource wins over one of a library, and a library's over that of a library below it.

    Args:
        project: The folder that the user named.
        files: The files of the app in it.

    Returns:
        The files, and a finding for each module that is missing and each conflict of manifests.

    Raises:
        InputError: a file of a library cannot be read.
        BudgetError: the app has more files or bytes than an app would have.
    """
    scan = scan_folder(str(project), str(project))
    module = next((other for other in scan.modules if _is_at(other, files.folder)), None)
    if module is None:
        return files, []
    findings = [finding for finding in module.findings if finding.code == PROJECT_NOT_MERGED]
    libraries = [(other, other.source_sets[MAIN]) for other in module.libraries if MAIN in other.source_sets]
    if not libraries or not module.merges_manifests:
        return files, findings
    tree = dict(files.tree)
    merged = _Merged(tree)
    for number, (_, source_set) in enumerate(libraries, 1):
        merged.add(source_set, f"library_{number}")
    root = parse_xml(tree[MANIFEST], path=f"{files.folder}/{MANIFEST}")
    merger = ManifestMerger(root, f"{files.folder}/{MANIFEST}", files.gradle.namespace or root.get("package"))
    for library, source_set in libraries:
        _merge_manifest(merger, library, source_set)
    for element in root.iter(etree.Element):
        element.attrib.pop(FILE_MARK, None)
    etree.cleanup_namespaces(root)
    tree[MANIFEST] = etree.tostring(root, encoding="unicode").encode()
    return replace(files, tree=tree), [*findings, *merger.findings]


def _is_at(module: Module, folder: str) -> bool:
    main = module.source_sets.get(MAIN)
    return main is not None and Path(main.shown).resolve() == Path(folder).resolve()


def _merge_manifest(merger: ManifestMerger, library: Module, source_set: SourceSet) -> None:
    if source_set.manifest not in source_set.files:
        return
    path = source_set.path_of(source_set.manifest)
    try:
        root = parse_xml(source_set.files[source_set.manifest], path=path)
    except InputError as error:
        message = f"the manifest of a library module is not merged: {error.message}"
        place = Place(path=error.place or path)
        finding = Finding(
            code=UNREADABLE_LIBRARY, level=Level.WARNING, pointer="", message=message, source=place
        )
        merger.findings.append(finding)
        return
    if root.tag == "manifest":
        namespace = library.gradle.namespace or root.get("package")
        merger.merge(LibraryManifest(root, path, namespace, library.gradle.placeholders))


class _Merged:
    """The tree of an app, to which libraries add what no file before them declares."""

    def __init__(self, tree: dict[str, bytes]) -> None:
        self._tree = tree
        self._bytes_left = MAX_BYTES - sum(map(len, tree.values()))
        self._known = {key for name, data in tree.items() for key in _keys_of(name, data, name)}

    def add(self, source_set: SourceSet, prefix: str) -> None:
        """Add the resources and assets of a library; its values go into files with a prefix of their own."""
        found: set[Key] = set()
        for name in source_set.files:
            if not name.startswith(("res/", "assets/")):
                continue
            data = source_set.files[name]
            keys = set(_keys_of(name, data, source_set.path_of(name)))
            if name.startswith(_VALUES):
                data = _without(data, self._known, posixpath.dirname(name))
                self._put(
                    posixpath.join(posixpath.dirname(name), f"{prefix}_{posixpath.basename(name)}"), data
                )
            elif not keys & self._known:
                self._put(name, data)
            found |= keys
        self._known |= found

    def _put(self, name: str, data: bytes) -> None:
        self._bytes_left -= len(data)
        if self._bytes_left < 0 or len(self._tree) >= MAX_FILES:
            message = f"an app has at most {MAX_FILES} files and {MAX_BYTES} bytes"
            raise BudgetError(message, place=name)
        self._tree[name] = data


def _keys_of(name: str, data: bytes, path: str) -> Iterator[Key]:
    """Yield what a file declares: the values in it, or itself.

    Args:
        name: Its path in the source set.
        data: Its content.
        path: How a user would write it.
    """
    folder, file = posixpath.split(name)
    if name.startswith(_VALUES):
        for child in child_elements(parse_xml(data, path=path)):
            yield _key_of(child, folder)
    elif name.startswith("res/"):
        yield folder, "file", file.partition(".")[0]
    elif name.startswith("assets/"):
        yield folder, "asset", file


def _key_of(element: Element, folder: str) -> Key:
    tag = str(element.tag)
    kind = element.get("type", "") if tag == "item" else _KINDS.get(tag, tag)
    return folder, kind, element.get("name", "")


def _without(data: bytes, known: set[Key], folder: str) -> bytes:
    """Return a file of values without those that are known."""
    root = parse_xml(data, path=folder)
    for child in list(child_elements(root)):
        if _key_of(child, folder) in known:
            root.remove(child)
    return etree.tostring(root, encoding="unicode").encode()

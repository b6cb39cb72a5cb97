"""Components of a manifest whose class no source code of the tree has, so that Android cannot start them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import PurePath
from typing import Final

from droidgate.sources.folder_files import MANIFEST
from droidgate.sources.folders import read_bytes
from droidgate.sources.source_code import MAX_CODE_BYTES
from droidgate_mappings.formats.application import ALIAS_MARK, Application, Component
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.model.findings import Finding, Level, finding_code

CLASS_NOT_FOUND: Final = finding_code(
    "component-class-missing",
    "The manifest names a component whose class no source code has, so Android cannot start it",
    __name__,
)


def report_missing_classes(
    folder: str, applications: Iterable[Application], code_files: Iterable[str]
) -> Iterator[Finding]:
    """Yield a warning for each component of a project whose class is certainly not in it.

    A class that another module, a library or a code generator may have is not reported: its package has to be
    the app's, or one that source code here declares, and no source code may hold its name. Where the tree has
    compiled classes, nothing is certain.

    Args:
        folder: The project, as the user named it.
        applications: What was read of it.
        code_files: Its files of source code; none where compiled classes are among them.
    """
    named = [
        (component, application.qualified_name(component), application.namespace or application.package)
        for application in applications
        for component in application.of_kind("activity", "service", "receiver", "provider")
        if ALIAS_MARK not in component.attributes
        and "$" not in component.name
        and component.name.isascii()
        and component.place is not None
        and PurePath(component.place.path).name == MANIFEST
    ]
    files = [PurePath(path) for path in code_files]
    if not (named and files):
        return
    stems = {file.stem for file in files}
    folders = {file.parent.as_posix() for file in files}
    missing: list[tuple[Component, str, str]] = []
    for component, name, namespace in named:
        package, _, class_name = name.rpartition(".")
        if not package or class_name in stems:
            continue
        inner = f"/{package.replace('.', '/')}"
        is_ours = package == namespace or any(item.endswith(inner) for item in folders)
        if is_ours and any(file.is_relative_to(_module_of(component)) for file in files):
            missing.append((component, name, class_name))
    words = _words_in(folder, files, {class_name for *_, class_name in missing}) if missing else None
    for component, name, class_name in missing:
        if words is not None and class_name not in words:
            yield Finding(
                code=CLASS_NOT_FOUND,
                level=Level.WARNING,
                pointer="",
                message=f"the {component.kind} {component.name} has no class: no source code has {name}",
                hint="write the class, or correct android:name",
                source=component.place,
            )


def _module_of(component: Component) -> PurePath:
    """Return the folder of the module whose manifest declares a component."""
    source_set = PurePath(component.place.path if component.place is not None else "").parent
    return source_set.parent.parent if source_set.parent.name == "src" else source_set


def _words_in(folder: str, files: Iterable[PurePath], wanted: set[str]) -> set[str] | None:
    """Return which of some words are in files; None where a file cannot be read or they are too large."""
    pattern = re.compile(rb"\b(?:" + b"|".join(re.escape(word).encode() for word in wanted) + rb")\b")
    words: set[str] = set()
    remaining = MAX_CODE_BYTES
    for file in files:
        try:
            data = read_bytes(str(file), root=folder)
        except InputError:
            return None
        remaining -= len(data)
        if remaining < 0:
            return None
        words.update(match.decode() for match in pattern.findall(data))
    return words

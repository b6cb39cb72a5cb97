"""The functions of a project that do already what its capabilities declare, for migrated handlers to call."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from droidgate.migration.source_sets import WritableSourceSet
from droidgate.sources.module_layout import CodeFiles
from droidgate.sources.source_code import MAX_CODE_BYTES
from droidgate_android.handlers.dispatchers import find_dispatched_functions
from droidgate_android.projects.module_build import SETTINGS_FILES, read_module_build
from droidgate_mappings.formats.format import ExistingFunction, SourceFile, load_formats
from droidgate_mappings.model.capability import Capability
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.model.json_values import pointer_token
from droidgate_mappings.model.types import ObjectType, Type
from droidgate_mappings.translate import Translation

_ENDINGS: Final = (".kt", ".java")
_MAIN: Final = "/src/main/"
_SOURCE_SET: Final = re.compile(r"(.*?)/src/([^/]+)/(?:java|kotlin)/")
_NOT_IN_THE_APP: Final = frozenset({"build", "test", "androidTest"})
_MOST_LEVELS: Final = 8
"""Folders between a module and the settings of its build."""


def find_called_functions(
    translation: Translation, project: Path, source_set: WritableSourceSet
) -> Mapping[str, ExistingFunction]:
    """Return the app's functions behind a provider, by the ids of its capabilities as they are written.

    Args:
        translation: The provider as it was read, and as it is written.
        project: The project that the migration goes into.
        source_set: The source set in it.

    Returns:
        Nothing where the provider is that of another project: its code is not there to be called.
    """
    source = translation.source
    build = build_of(project)
    if source.source is None or not _is_below(source.source.path, build):
        return {}
    format_ = load_formats().get(source.protocol)
    if format_ is not None and format_.write_functions is not None:
        written = format_.write_functions(source, source_set.namespace)
        return dict(_as_written(written, translation, source_set))
    files = list(_code_files(build))
    code = None if format_ is None else format_.code
    functions: dict[str, ExistingFunction] = {}
    if code is not None and code.functions is not None:
        own = {capability.source.path for capability in source.capabilities if capability.source is not None}
        preferred = {os.path.realpath(path) for path in own}
        read = [file for file in files if file.path.endswith(code.endings)]
        declaring = [file for file in read if code.may_declare(file.data)]
        declaring.sort(key=lambda file: (file.path in preferred, _MAIN in file.path))
        paths = {file.path for file in declaring}
        functions.update(code.functions(declaring, [file for file in read if file.path not in paths]))
    remaining = [capability for capability in source.capabilities if capability.id not in functions]
    functions.update(find_dispatched_functions(remaining, files) if remaining else {})
    return dict(_as_written(functions, translation, source_set))


def build_of(project: Path) -> Path:
    """Return the folder of the build that a project is part of."""
    folder = Path(os.path.realpath(project))
    for around in [folder, *folder.parents][:_MOST_LEVELS]:
        if any((around / name).is_file() for name in SETTINGS_FILES):
            return around
    return folder


def _is_below(path: str, folder: Path) -> bool:
    return Path(os.path.realpath(path)).is_relative_to(folder)


def _code_files(build: Path) -> Iterator[SourceFile]:
    """Yield the files of source code that can be read, as far as the code of one app may be long."""
    folder = os.fspath(build)
    names = CodeFiles(folder, folder, folder, _ENDINGS)
    remaining = MAX_CODE_BYTES
    try:
        listed = list(names)
    except InputError:
        return
    for name in listed:
        if not _NOT_IN_THE_APP.isdisjoint(name.split("/")):
            continue
        try:
            data = names[name]
        except InputError:
            continue
        remaining -= len(data)
        if remaining < 0:
            return
        yield SourceFile(f"{folder}/{name}", data)


def _as_written(
    functions: Mapping[str, ExistingFunction], translation: Translation, source_set: WritableSourceSet
) -> Iterator[tuple[str, ExistingFunction]]:
    """Yield each function by the id that its capability is written with, with what keeps it out of sight."""
    names = {name.pointer: name.written for name in translation.writing.names}
    for position, capability in enumerate(translation.source.capabilities):
        function = functions.get(capability.id)
        if function is None:
            continue
        at = f"/capabilities/{position}"
        yield (
            names.get(f"{at}/id", capability.id),
            replace(
                function,
                arguments=_renamed_parameters(capability.input, f"{at}/input", names),
                results=_renamed_parameters(capability.output, f"{at}/output", names),
                missing=(*_lost_rules(capability), *function.missing, *_out_of_sight(function, source_set)),
            ),
        )


def _renamed_parameters(type_: Type | None, pointer: str, names: Mapping[str, str]) -> dict[str, str]:
    declared = type_.properties if isinstance(type_, ObjectType) else {}
    pointers = {name: f"{pointer}/properties/{pointer_token(name)}" for name in declared}
    return {name: names[each] for name, each in pointers.items() if each in names}


def _lost_rules(capability: Capability) -> Iterator[str]:
    """Yield the rules of a capability that its own protocol enforces, and a call by other code does not."""
    if not capability.access.enabled_by_default:
        yield "it is disabled until the app enables it"
    if capability.access.access_level is not None:
        yield f"only callers of the access level {capability.access.access_level} may call it"


def _out_of_sight(function: ExistingFunction, source_set: WritableSourceSet) -> Iterator[str]:
    """Yield why code of a source set does not see a function of another source set or module."""
    place = function.capability.source
    match = None if place is None else _SOURCE_SET.match(place.path)
    if match is None:
        return
    module, name = match.groups()
    if name not in {"main", source_set.folder.name}:
        yield f"{function.name} is in the source set {name} only"
    if module == os.path.realpath(source_set.folder.parent.parent):
        return
    if function.visibility == "internal":
        yield f"{function.name} is internal to another module"
    if read_module_build(Path(module), Path(module)).is_application:
        yield f"{function.name} is in another app"

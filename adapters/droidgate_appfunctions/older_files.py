"""Functions files of version 1 next to newer ones: only older releases read them (reference 1.2)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from droidgate_appfunctions.fields import ElementSource, kept_element
from droidgate_appfunctions.format import facts_of
from droidgate_appfunctions.read_document import (
    FunctionsFile,
    merge_files,
    parse_document,
    read_functions_file,
)
from droidgate_mappings.formats.application import TextFile
from droidgate_mappings.formats.leniency import ReadingContext
from droidgate_mappings.model.capability import Capability
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.model.findings import Finding, Level, finding_code
from droidgate_mappings.model.json_values import Json, pointer_token
from droidgate_mappings.text.xml_text import child_elements

OLDER_FUNCTION_DIFFERS: Final = finding_code(
    "older-function-differs",
    "A function of the file of version 1 is missing in the newer file, or different there",
    __name__,
)
SAME_FUNCTIONS: Final = "v1Repeated"
"""Fact that keeps a file of version 1 whose functions the newer file has too."""
OTHER_FUNCTIONS: Final = "v1"
"""Fact that keeps a file of version 1 with functions that the newer file does not have as they are."""

_SCHEMA_FACTS: Final = ("schemaCategory", "schemaName", "schemaVersion", "displayNameStringRes")
_HINT: Final = "declare the function alike in both files"


def keep_older_files(
    functions: FunctionsFile, files: Sequence[TextFile], context: ReadingContext, problems: list[InputError]
) -> None:
    """Keep files of version 1 as a fact of the newer file, and report each function that differs.

    Android 17 reads the newer file only. Android 16 reads it where the app's schema file is good, else the
    file of version 1.

    Args:
        functions: What the newer file declares; the fact is added to it.
        files: At least one file of version 1.
        context: Takes the findings.
        problems: Takes why a file cannot be read; the others are kept.

    Raises:
        InputError: the reading is strict, and a file cannot be read.
    """
    read: list[FunctionsFile] = []
    elements: list[Json] = []
    for file in files:
        try:
            root = parse_document(file.text, file.place.path, context)
            read.append(read_functions_file(root, ElementSource(file.place.path, context), level="service"))
        except InputError as error:
            if context.strict:
                raise
            problems.append(error)
        else:
            elements += [kept_element(child_element) for child_element in child_elements(root)]
    if not read:
        return
    differences = list(_differences(merge_files(read, context), functions))
    context.findings += differences
    functions.facts[OTHER_FUNCTIONS if differences else SAME_FUNCTIONS] = elements


def keep_loose_files(
    newer: Sequence[FunctionsFile],
    files: Sequence[TextFile],
    context: ReadingContext,
    problems: list[InputError],
) -> None:
    """Keep files of version 1 that no component names, each with the newer file that has most of its
    functions.

    Args:
        newer: The newer files, at least one.
        files: The files of version 1.
        context: Takes the findings.
        problems: Takes why a file cannot be read; the others are kept.

    Raises:
        InputError: the reading is strict, and a file cannot be read.
    """
    files_of: dict[int, list[TextFile]] = {}
    for file in files:
        try:
            names = _function_names(file)
        except InputError as error:
            if context.strict:
                raise
            problems.append(error)
            continue
        shared = [len(names & item.capabilities.keys()) for item in newer]
        files_of.setdefault(shared.index(max(shared)), []).append(file)
    for position, members in files_of.items():
        keep_older_files(newer[position], members, context, problems)


def _function_names(file: TextFile) -> set[str]:
    unread = ReadingContext(rows_off=frozenset())
    root = parse_document(file.text, file.place.path, unread)
    return set(read_functions_file(root, ElementSource(file.place.path, unread)).capabilities)


def _differences(older: FunctionsFile, newer: FunctionsFile) -> Iterator[Finding]:
    for name, capability in older.capabilities.items():
        newer_capability = newer.capabilities.get(name)
        if newer_capability is None:
            message = f"the function {name!r} is only in the file of version 1; Android 17 does not list it"
        else:
            changed = list(_changed_parts(capability, newer_capability))
            if not changed:
                continue
            parts = " and ".join(changed)
            verb = "differs" if len(changed) == 1 else "differ"
            message = (
                f"{parts} of the function {name!r} {verb} in the file of version 1, which Android 16 reads"
            )
        yield Finding(
            code=OLDER_FUNCTION_DIFFERS,
            level=Level.READ,
            pointer=f"/{pointer_token(name)}",
            message=message,
            source=capability.source,
            rule="A24",
            hint=_HINT,
        )


def _changed_parts(older: Capability, newer: Capability) -> Iterator[str]:
    if older.access.enabled_by_default != newer.access.enabled_by_default:
        yield "enabledByDefault"
    if bool(older.access.restrict_callers) != bool(newer.access.restrict_callers):
        yield "restrictCallersWithExecuteAppFunctions"
    before, after = facts_of(older.extensions), facts_of(newer.extensions)
    yield from (name for name in _SCHEMA_FACTS if before.get(name) != after.get(name))

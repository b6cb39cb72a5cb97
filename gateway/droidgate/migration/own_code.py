"""Code that the app's author has already: what a migration leaves as it is, and what is missing in it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from droidgate_android.handlers.methods import identifiers
from droidgate_mappings.formats.format import Artifact, Format
from droidgate_mappings.model.capability import Provider
from droidgate_mappings.tables.loading import find_binding

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
    if all(found[1].rpartition(".")[2] != simple for found in _CLASS.finditer(manifest)):
        yield (
            f"AndroidManifest.xml does not declare {component}; declare this service with "
            f'android:permission="{binding.component}", its intent filter, and a property that names the '
            "functions file of the entry point"
        )


def missing_methods(provider: Provider, skeleton: Artifact, existing: str, shown: str) -> Iterator[str]:
    """Yield a note for each capability whose method is not in the handler that the author has filled in.

    Args:
        provider: The provider as written.
        skeleton: The handler as it would be made now.
        existing: The text of the app's handler.
        shown: Its path, for the note.
    """
    names = identifiers(capability.id for capability in provider.capabilities)
    known = {found[1] for found in _METHOD.finditer(existing)}
    heads = {found[1]: found for found in reversed(list(_METHOD.finditer(skeleton.text)))}
    for capability in provider.capabilities:
        if names[capability.id] not in known:
            head = _head_of(skeleton.text, heads.get(names[capability.id]))
            yield f"{shown} has no method for {capability.id}: add {head}"


def _head_of(skeleton: str, found: re.Match[str] | None) -> str:
    """Return the head of a generated method in one line: from its line's start to its body."""
    if found is None:
        return "one"
    start = skeleton.rfind("\n", 0, found.start()) + 1
    end = skeleton.find("{", found.end(), start + _MAX_SIGNATURE)
    head = skeleton[start : end if end >= 0 else found.end()]
    return " ".join(head.split()).replace("( ", "(").replace(", )", ")")

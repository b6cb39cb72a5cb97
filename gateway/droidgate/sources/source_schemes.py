"""How sources are named: by paths, or by what begins with a scheme."""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike, fspath
from pathlib import Path
from typing import Final

from droidgate_mappings.model.capability import Provider
from droidgate_mappings.model.errors import UsageError

STANDARD_INPUT: Final = "-"

DEVICE_SCHEME: Final = "adb:"
"""A phone."""

GIT_SCHEME: Final = "git:"
"""A revision of a Git repository."""


def source_names(sources: Iterable[str | PathLike[str]]) -> list[str]:
    """Return sources as text.

    Raises:
        UsageError: there is none, or one is not a path, such as a list of paths.
    """
    names = list(sources)
    if not names:
        raise UsageError("no source is named", hint="name a path, or a phone as adb:")
    for source in names:
        if not isinstance(source, str | PathLike):
            message = f"a source is a path as text or a Path, not {type(source).__name__}: {source!r:.80}"
            hint = "pass each of several sources on its own: *SOURCES"
            parts = (source, *source) if isinstance(source, Iterable) else (source,)
            if any(isinstance(part, Provider) for part in parts):
                hint = "name what was read: only convert, diff and migrate take providers"
            raise UsageError(message, hint=hint)
    return list(map(_name_of, names))


def _name_of(source: str | PathLike[str]) -> str:
    """Return a source as text; a path object names a file, whatever its name begins with."""
    name = fspath(source)
    is_scheme = name == STANDARD_INPUT or (":" in name and not Path(name).is_absolute())
    return f"./{name}" if isinstance(source, PathLike) and is_scheme else name

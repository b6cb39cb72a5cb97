"""Which files are read as APKs; light, so that reading something else does not load what reads those."""

from __future__ import annotations

from typing import Final

from droidgate.sources.folders import ARCHIVE_ENDINGS
from droidgate.sources.source_paths import printable
from droidgate_android.apk.file_kinds import is_zip
from droidgate_android.projects.project_files import read_start
from droidgate_mappings.model.errors import InputError

_OTHER_ENDINGS: Final = (".aab", ".aar")

__all__ = ["is_archive"]


def is_archive(path: str) -> bool:
    """Return whether a file is read as an APK or a container: by its name, or by its first bytes.

    Raises:
        InputError: it is a bundle or a library, which no device installs.
    """
    lower = path.lower()
    if lower.endswith(_OTHER_ENDINGS):
        what = "an app bundle" if lower.endswith(".aab") else "a library"
        hint = "name an APK that was built from it, or its source project"
        raise InputError(f"{what} is not read", place=printable(path), hint=hint)
    if lower.endswith(ARCHIVE_ENDINGS):
        return True
    try:
        return is_zip(read_start(path, 4))
    except InputError:
        return False

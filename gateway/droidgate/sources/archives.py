"""Which files are read as APKs or packed folders; light, so that other sources don't load what reads them."""

from __future__ import annotations

from typing import Final

from droidgate.sources.folder_files import MANIFEST
from droidgate.sources.folders import ARCHIVE_ENDINGS, PACKED_ENDINGS
from droidgate.sources.source_schemes import GIT_SCHEME
from droidgate_android.apk.file_kinds import is_zip
from droidgate_android.projects.project_files import read_start
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.text.shown_paths import printable

_OTHER_ENDINGS: Final = (".aab", ".aar")

_APK_ENDING: Final = ".apk"
_APK_FOLDERS: Final = ("splits/", "standalones/")

__all__ = ["is_archive", "is_packed_folder"]


def is_packed_folder(path: str) -> bool:
    """Return whether a source is read as a packed folder: a revision of a Git repository, or a file by its
    name, and for a ZIP by the names in it.
    """
    if path.startswith(GIT_SCHEME):
        return True
    if not path.lower().endswith(PACKED_ENDINGS):
        return False
    import zipfile

    try:
        if not is_zip(read_start(path, 4)):
            return not path.lower().endswith((".zip", ".whl"))
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except (InputError, OSError, ValueError, zipfile.BadZipFile):
        return False
    return MANIFEST not in names and not any(
        name.startswith(_APK_FOLDERS) or (name.lower().endswith(_APK_ENDING) and "/" not in name)
        for name in names
    )


def is_archive(path: str) -> bool:
    """Return whether a file is read as an APK or a container: by its name, or by its first bytes.

    Raises:
        InputError: it is a bundle or a library, which no device installs.
    """
    lower = path.lower()
    if lower.endswith(_OTHER_ENDINGS):
        kind = "an app bundle" if lower.endswith(".aab") else "a library"
        hint = "name an APK that was built from it, or its source project"
        raise InputError(f"{kind} is not read", place=printable(path), hint=hint)
    if lower.endswith(ARCHIVE_ENDINGS):
        return True
    try:
        return is_zip(read_start(path, 4))
    except InputError:
        return False

"""What to do about a file that is not there."""

from __future__ import annotations

import re
from itertools import islice
from pathlib import Path
from typing import Final

from droidgate_mappings.text.nearest_names import closest_name

_PACKAGE: Final = re.compile(r"(?!.*\.(apk\w?|xapk|json|xml|kt|zip)$)[a-z]\w*(\.\w+){2,}", re.ASCII)
_MOST_ENTRIES: Final = 1000
"""Most entries of a folder that a missing name is compared with."""


def hint_of_missing(path: Path) -> str:
    """Return the name that was probably meant, or the folder that is missing."""
    if _PACKAGE.fullmatch(str(path)) is not None:
        return f"for an installed app, write adb:/{path}"
    folder = path.parent
    if not folder.is_dir():
        return f"the folder {folder} does not exist"
    try:
        names = [entry.name for entry in islice(folder.iterdir(), _MOST_ENTRIES)]
    except OSError:
        names = []
    if path.name in names:
        return "it is a link to what does not exist"
    begun = [name for name in names if name.startswith(path.name)]
    closest = begun[0] if len(begun) == 1 else closest_name(path.name, names)
    if closest is not None:
        return f"did you mean {closest!r}?"
    may_be_revision = path.name == str(path) and not path.suffix[1:].isalpha() and Path(".git").exists()
    return f"check the path, or write git:{path} for a revision" if may_be_revision else "check the path"

"""Where a row of a catalog points to, as a path that a user can open."""

from __future__ import annotations

import posixpath
import re
from typing import Final

from droidgate.sources.spelling import join_shown
from droidgate_mappings.model.capability import Place

_LINE: Final = re.compile(r"(.*):([1-9][0-9]{0,8})", re.DOTALL)


def place_in(source: str, kind: str, place: str) -> Place:
    """Return the place of a row.

    Args:
        source: The source, as a user would write it; that of code is its folder with a pattern.
        kind: The source's kind.
        place: The file inside the source, with the line; a descriptor has no files in it.
    """
    found = _LINE.fullmatch(place)
    inner, line = (place, None) if found is None else (found[1], int(found[2]))
    if kind == "descriptor" or not inner:
        return Place(path=source, line=line)
    if kind == "code":
        return Place(path=join_shown(posixpath.dirname(source), inner), line=line)
    return Place(path=f"{source.rstrip('/')}{'/' if kind == 'module' else '!/'}{inner}", line=line)

"""Which declared names a misspelled one is closest to, and hints that name them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

_LONGEST: Final = 200
"""Longer names are not compared, as the work grows with the product of the lengths."""

_SEPARATORS: Final = re.compile("[#/.]")


def closest_name(name: str, candidates: Iterable[str]) -> str | None:
    """Return the known name that is closest to what somebody wrote, None if none is close.

    A name is also compared by its last part, without letter case: `createnote` is close to
    `com.example.Notes#createNote`.
    """
    from difflib import get_close_matches

    names = [item for item in candidates if len(item) <= _LONGEST]
    if len(name) > _LONGEST:
        return None
    closest = get_close_matches(name, names, n=1)
    if closest:
        return closest[0]
    by_last_part = {_last_part(item): item for item in reversed(names)}
    return next((by_last_part[part] for part in get_close_matches(_last_part(name), by_last_part, n=1)), None)


def suggest_name(name: str, candidates: Iterable[str], *, most: int | None = None) -> str:
    """Return a hint with the known name that is closest, and with all of them.

    Args:
        name: What somebody wrote.
        candidates: The names that would be accepted.
        most: How many of them are listed; all by default.
    """
    names = list(candidates)
    closest = closest_name(name, names)
    question = f"did you mean {closest!r}? " if closest is not None else ""
    more = 0 if most is None else len(names) - most
    listed = ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")
    return f"{question}known: {listed}" if names else "none is known"


def _last_part(name: str) -> str:
    return _SEPARATORS.split(name)[-1].lower()


_MAX_LENGTH: Final = 64
"""Longer names are not compared: the work grows with the product of the lengths."""

_MAX_NEAR: Final = 3
_LENGTH_PER_EDIT: Final = 3


def nearest_names(name: str, declared: Iterable[str]) -> list[str]:
    """Return the declared names that a name was probably meant as, the closest first, at most three.

    Letter case and the characters `_` and `-` do not count. A name is close if one edit (a character
    inserted, left out, replaced, or swapped with its neighbor) is enough for each three characters of the
    longer name.
    """
    if len(name) > _MAX_LENGTH:
        return []
    searched = _simplified(name)
    near: list[tuple[int, int, str]] = []
    for index, item in enumerate(declared):
        simplified = _simplified(item)
        if len(item) > _MAX_LENGTH:
            continue
        edits = _distance(searched, simplified)
        if edits <= max(len(searched), len(simplified)) // _LENGTH_PER_EDIT:
            near.append((edits, index, item))
    return [item for _, _, item in sorted(near)[:_MAX_NEAR]]


def _simplified(name: str) -> str:
    return name.lower().replace("_", "").replace("-", "")


def _distance(left: str, right: str) -> int:
    """Return the number of edits from one text to the other (optimal string alignment)."""
    before: list[int] = []
    row = list(range(len(right) + 1))
    for at, character in enumerate(left, start=1):
        following = [at]
        for other_at, other in enumerate(right, start=1):
            edits = min(row[other_at] + 1, following[-1] + 1, row[other_at - 1] + (character != other))
            is_swapped = (
                at > 1 and other_at > 1 and character == right[other_at - 2] and left[at - 2] == other
            )
            following.append(min(edits, before[other_at - 2] + 1) if is_swapped else edits)
        before, row = row, following
    return row[-1]

"""Which declared names a misspelled one is closest to."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

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
        other = _simplified(item)
        if len(item) > _MAX_LENGTH:
            continue
        edits = _distance(searched, other)
        if edits <= max(len(searched), len(other)) // _LENGTH_PER_EDIT:
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

"""Hints for names that are not known."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

_LONGEST: Final = 200
"""Longer names are not compared, as the work grows with the product of the lengths."""

_SEPARATORS: Final = re.compile("[#/.]")


def closest_name(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that is closest to what somebody wrote, None if none is close.

    A name is also compared by its last part, without letter case: `createnote` is close to
    `com.example.Notes#createNote`.
    """
    from difflib import get_close_matches  # noqa: PLC0415 - a run without a mistake does not need it

    names = [item for item in known if len(item) <= _LONGEST]
    if len(name) > _LONGEST:
        return None
    found = get_close_matches(name, names, n=1)
    if found:
        return found[0]
    by_last_part = {_last_part(item): item for item in reversed(names)}
    return next((by_last_part[part] for part in get_close_matches(_last_part(name), by_last_part, n=1)), None)


def suggest_name(name: str, known: Iterable[str], *, most: int | None = None) -> str:
    """Return a hint with the known name that is closest, and with all of them.

    Args:
        name: What somebody wrote.
        known: The names that would be accepted.
        most: How many of them are listed; all by default.
    """
    names = list(known)
    closest = closest_name(name, names)
    question = f"did you mean {closest!r}? " if closest is not None else ""
    more = 0 if most is None else len(names) - most
    listed = ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")
    return f"{question}known: {listed}" if names else "none is known"


def _last_part(name: str) -> str:
    return _SEPARATORS.split(name)[-1].lower()

"""Hints for names that are not known."""

from __future__ import annotations

from collections.abc import Iterable


def suggest_name(name: str, known: Iterable[str]) -> str:
    """Return a hint with the known name that is closest, and with all of them.

    Args:
        name: What somebody wrote.
        known: The names that would be accepted.
    """
    from difflib import get_close_matches  # noqa: PLC0415 - a run without a mistake does not need it

    names = list(known)
    closest = get_close_matches(name, names, n=1)
    question = f"did you mean {closest[0]!r}? " if closest else ""
    return f"{question}known: {', '.join(names)}" if names else "none is known"

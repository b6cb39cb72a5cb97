"""Hints for names that are not known."""

from __future__ import annotations

from collections.abc import Iterable


def closest_name(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that is closest to what somebody wrote, None if none is close."""
    from difflib import get_close_matches  # noqa: PLC0415 - a run without a mistake does not need it

    return next(iter(get_close_matches(name, list(known), n=1)), None)


def suggest_name(name: str, known: Iterable[str]) -> str:
    """Return a hint with the known name that is closest, and with all of them.

    Args:
        name: What somebody wrote.
        known: The names that would be accepted.
    """
    names = list(known)
    closest = closest_name(name, names)
    question = f"did you mean {closest!r}? " if closest is not None else ""
    return f"{question}known: {', '.join(names)}" if names else "none is known"

"""Nouns in the number that a count needs."""

from __future__ import annotations


def noun(count: int, singular: str, plural: str | None = None) -> str:
    """Return a noun in the number that a count needs; the plural ends in `s` unless it is given."""
    return singular if count == 1 else plural or f"{singular}s"


def amount(count: int, singular: str, plural: str | None = None) -> str:
    """Return a count with its noun: `1 shim`, `2,000 shims`."""
    return f"{count:,} {noun(count, singular, plural)}"

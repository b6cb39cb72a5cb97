"""Lengths of texts as Java counts them."""

from __future__ import annotations


def utf16_length(text: str) -> int:
    """Return the length of a text as Java counts it."""
    return len(text) if text.isascii() else len(text) + sum(character > "\uffff" for character in text)

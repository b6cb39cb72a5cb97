"""The texts that Jetpack's compiler takes from KDoc (reference appfunctions 2.c, Descriptions).

It gets KDoc from KSP: without the comment's signs, and with the blanks after each line's star.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_LINE: Final = re.compile(r"\r\n|\n|\r")
_PARAMETER: Final = re.compile(r"@param\s+(\w+)\s*(.*)", re.ASCII)
_PROPERTY: Final = re.compile(r"@property\s+(\w+)\s*(.*)", re.ASCII)
_RETURN: Final = re.compile(r"@return\s+(.*)", re.ASCII)
_TAG: Final = re.compile(r"@\w+.*", re.ASCII)
_LEFT_OUT: Final = re.compile(
    r"@(?:param|return|constructor|receiver|property|throws|exception|sample|see|author|since|suppress)\b.*",
    re.ASCII,
)


def content_of(comment: str | None) -> str:
    """Return the text of a KDoc comment as KSP gives it."""
    if comment is None:
        return ""
    text = comment.strip().strip("/").strip("*")
    return "\n".join(line.lstrip().lstrip("*") for line in _LINE.split(text))


def description_of(content: str) -> str | None:
    """Return a text without the tags that Kotlin knows and what follows them; None where nothing is left."""
    lines: list[str] = []
    skipping = False
    for line in _LINE.split(content):
        trimmed = line.strip()
        if _LEFT_OUT.match(trimmed):
            skipping = True
        elif skipping and _TAG.match(trimmed):
            skipping = False
        if not skipping:
            lines.append(line)
    return "\n".join(lines).strip() or None


def parameters_of(content: str) -> dict[str, str]:
    """Return the texts of `@param` by name."""
    return dict(_tagged(content, _PARAMETER))


def properties_of(content: str) -> dict[str, str]:
    """Return the texts of `@property` by name."""
    return dict(_tagged(content, _PROPERTY))


def _tagged(content: str, tag: re.Pattern[str]) -> Iterator[tuple[str, str]]:
    name: str | None = None
    pieces: list[str] = []
    for line in _LINE.split(content):
        trimmed = line.strip()
        match = tag.match(trimmed)
        if match is not None or _TAG.match(trimmed):
            if name is not None:
                yield name, "".join(pieces).strip()
            name, pieces = (match[1], [match[2]]) if match is not None else (None, [])
        elif name is not None and trimmed:
            pieces += [" ", trimmed] if any(pieces) else [trimmed]
    if name is not None:
        yield name, "".join(pieces).strip()


def response_of(content: str) -> str | None:
    """Return the text of `@return`; None without one."""
    pieces: list[str] = []
    for line in _LINE.split(content):
        trimmed = line.strip()
        match = _RETURN.match(trimmed)
        if match is not None:
            pieces.append(match[1])
        elif any(pieces):
            if _TAG.match(trimmed):
                return "".join(pieces) or None
            pieces.append(f" {trimmed}")
    return "".join(pieces).strip() or None

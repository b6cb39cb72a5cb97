"""Changes of one entry in a YAML text of block style; every other line stays, comments included."""

from __future__ import annotations

import re
from typing import Any, Final

import yaml

from droidgate.serving.client_settings import HINT_OF_DAMAGED
from droidgate_mappings.model.errors import InputError

_INDENT: Final = "  "


def read_settings(text: str, *, path: str) -> dict[str, Any]:
    """Return the mapping that a text is; a blank one is empty.

    Raises:
        InputError: it is not a YAML mapping.
    """
    try:
        value = yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        place = path if mark is None else f"{path}:{mark.line + 1}:{mark.column + 1}"
        raise InputError("it is not YAML", place=place, hint=HINT_OF_DAMAGED) from error
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise InputError("it is not a YAML mapping", place=path, hint=HINT_OF_DAMAGED)
    return value


def set_entry(text: str, key: str, name: str, entry: Any) -> str:
    """Return a text in which the mapping `key` has an entry; it replaces one of that name."""
    lines = text.splitlines(keepends=True)
    newline = "\r\n" if "\r\n" in text else "\n"
    head = _head(lines, key)
    if head is None:
        gap = "" if not text or text.endswith("\n") else newline
        return f"{text}{gap}{newline.join(_block(key, {name: entry}, ''))}{newline}"
    end = _end_of_block(lines, head, 0)
    lines[head] = re.sub(r":[ \t]*(?:\{[ \t]*\}|~|null)", ":", lines[head], count=1)
    indent = next((_indent(line) for line in lines[head + 1 : end] if _is_content(line)), _INDENT)
    written = [f"{line}{newline}" for line in _block(name, entry, indent)]
    span = _entry(lines, head, end, name, indent)
    start, stop = (end, end) if span is None else span
    if start and not lines[start - 1].endswith("\n"):
        lines[start - 1] += newline
    return "".join([*lines[:start], *written, *lines[stop:]])


def remove_entry(text: str, key: str, name: str) -> str:
    """Return a text without an entry of the mapping `key`; the text itself where its lines do not show it."""
    lines = text.splitlines(keepends=True)
    head = _head(lines, key)
    if head is None:
        return text
    end = _end_of_block(lines, head, 0)
    indent = next((_indent(line) for line in lines[head + 1 : end] if _is_content(line)), _INDENT)
    span = _entry(lines, head, end, name, indent)
    if span is None:
        return text
    remaining = [*lines[: span[0]], *lines[span[1] :]]
    if not any(_is_content(line) for line in remaining[head + 1 : _end_of_block(remaining, head, 0)]):
        remaining[head] = re.sub(r":", ": {}", remaining[head], count=1)
    return "".join(remaining)


def _is_content(line: str) -> bool:
    return bool(line.strip()) and not line.lstrip().startswith("#")


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" "))]


def _names(line: str, name: str) -> bool:
    """Return whether a line begins the entry of a name."""
    stated = line.strip()
    spellings = (name, f'"{name}"', f"'{name}'")
    return any(stated == f"{word}:" or stated.startswith(f"{word}: ") for word in spellings)


def _head(lines: list[str], key: str) -> int | None:
    return next((at for at, line in enumerate(lines) if not _indent(line) and _names(line, key)), None)


def _end_of_block(lines: list[str], head: int, depth: int) -> int:
    """Return where the lines that are deeper than an entry's first line end; comments after them stay."""
    end = head + 1
    for at in range(head + 1, len(lines)):
        if not _is_content(lines[at]):
            continue
        if len(_indent(lines[at])) <= depth:
            break
        end = at + 1
    return end


def _entry(lines: list[str], head: int, end: int, name: str, indent: str) -> tuple[int, int] | None:
    for at in range(head + 1, end):
        if _indent(lines[at]) == indent and _names(lines[at], name):
            return at, _end_of_block(lines[:end], at, len(indent))
    return None


def _block(name: str, entry: Any, indent: str) -> list[str]:
    text = yaml.safe_dump({name: entry}, sort_keys=False, allow_unicode=True, width=1000)
    return [f"{indent}{line}" for line in text.splitlines()]

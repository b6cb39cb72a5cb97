"""Changes of one table in a TOML text; every other line stays, comments included.

An entry is a table of its own, `[KEY.NAME]`, with tables below it. Where a text has it in another form, an
inline table for instance, the result is not what was meant, which its reader finds.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from droidgate.serving.client_settings import HINT_OF_DAMAGED
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.text.toml_text import load_toml

_PART: Final = r"""(?:[A-Za-z0-9_-]++|"[^"\\\n]*+"|'[^'\n]*+')"""
_HEADER: Final = re.compile(
    rf"[ \t]*+\[{{1,2}}[ \t]*+({_PART}(?:[ \t]*+\.[ \t]*+{_PART})*+)[ \t]*+\]{{1,2}}[ \t]*+(?:#.*)?"
)
_PARTS: Final = re.compile(_PART)


def read_settings(text: str, *, path: str) -> dict[str, Any]:
    """Return the table that a text is.

    Raises:
        InputError: the text is not TOML.
    """
    try:
        return load_toml(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"it is not TOML: {error}", place=path, hint=HINT_OF_DAMAGED) from error


def set_entry(text: str, key: str, name: str, entry: Mapping[str, Any]) -> str:
    """Return a text in which the table `key` has an entry; it replaces one of that name."""
    lines = text.splitlines(keepends=True)
    newline = "\r\n" if "\r\n" in text else "\n"
    written = [f"{line}{newline}" for line in _table((key, name), entry)]
    span = _entry(lines, key, name)
    if span is not None:
        return "".join([*lines[: span[0]], *written, *lines[span[1] :]])
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += newline
    gap = [newline] if lines else []
    return "".join([*lines, *gap, *written])


def remove_entry(text: str, key: str, name: str) -> str:
    """Return a text without an entry of the table `key`; the text itself where its lines do not show it."""
    lines = text.splitlines(keepends=True)
    span = _entry(lines, key, name)
    if span is None:
        return text
    start, end = span
    is_last = not "".join(lines[end:]).strip()
    if start and not lines[start - 1].strip() and (is_last or not lines[end].strip()):
        start -= 1
    return "".join([*lines[:start], *lines[end:]])


def write_tables(settings: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the text of tables that have entries, without the last line end."""
    tables = (_table((key, name), entry) for key, table in settings.items() for name, entry in table.items())
    return "\n\n".join("\n".join(lines) for lines in tables)


def _entry(lines: list[str], key: str, name: str) -> tuple[int, int] | None:
    """Return where the tables of an entry start and end; comments after them stay."""
    start: int | None = None
    end = 0
    is_inside = False
    for at, line in enumerate(lines):
        header = _HEADER.fullmatch(line.rstrip("\r\n"))
        if header is not None:
            parts = [part.strip("\"'") for part in _PARTS.findall(header[1])]
            is_inside = parts[:2] == [key, name]
            start = at if is_inside and start is None else start
            if not is_inside and start is not None:
                break
        if is_inside and line.strip() and not line.lstrip().startswith("#"):
            end = at + 1
    return None if start is None else (start, end)


def _table(parts: tuple[str, ...], entry: Mapping[str, Any]) -> list[str]:
    """Return the lines of a table, and of those in it."""
    tables = {name: value for name, value in entry.items() if isinstance(value, Mapping)}
    lines = [f"[{'.'.join(map(_key, parts))}]"]
    lines += [f"{_key(name)} = {_value(value)}" for name, value in entry.items() if name not in tables]
    for name, value in tables.items():
        lines += ["", *_table((*parts, name), value)]
    return lines


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _value(name)


def _value(value: Any) -> str:
    """Return a text, number, truth value or list of these: all are written in TOML as in JSON."""
    return json.dumps(value, ensure_ascii=False)

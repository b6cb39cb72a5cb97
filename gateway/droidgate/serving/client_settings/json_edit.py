"""Changes of one member in a JSON text; every other character stays, comments included.

A comment and a comma before a closing bracket are blanked first, so that what is left is plain JSON with the
same positions.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from droidgate.serving.client_settings import HINT_OF_DAMAGED
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.records import dataclass
from droidgate_mappings.text.json_text import parse_json

# What has no end is matched too, and left for the parser to refuse: else each quotation mark would be tried.
_STRING_OR_COMMENT: Final = re.compile(r'"(?:[^"\\\n]|\\.)*+"?|//[^\n]*+|/\*(?:[^*]|\*(?!/))*+(?:\*/)?')
_TRAILING_COMMA: Final = re.compile(r'"(?:[^"\\\n]|\\.)*+"?|,(?=\s*+[}\]])')
_SPACE: Final = re.compile(r"[ \t\r\n]*+")
_DECODER: Final = json.JSONDecoder()


@dataclass(frozen=True, slots=True)
class _Member:
    name: str
    start: int
    value: int
    end: int


class _Style(NamedTuple):
    """How a text is written: the end of its lines, and the blanks of its first level."""

    newline: str
    indent: str


def read_settings(text: str, *, path: str, comments: bool) -> dict[str, Any]:
    """Return the object that a text is.

    Args:
        text: The text; a blank one is an empty object.
        path: How errors name it.
        comments: Comments and commas before a closing bracket are allowed.

    Raises:
        InputError: it is not a JSON object.
    """
    plain = _plain(text) if comments else text
    if not plain.strip():
        return {}
    try:
        value = parse_json(plain, path=path)
    except InputError as error:
        raise InputError(error.message, place=error.place, hint=error.hint or HINT_OF_DAMAGED) from error
    if not isinstance(value, dict):
        raise InputError("it is not a JSON object", place=path, hint=HINT_OF_DAMAGED)
    return value


def set_member(text: str, key: str, name: str, entry: Any) -> str:
    """Return a text in which the object `key` has a member; it replaces one of that name.

    Args:
        text: A text that `read_settings` takes.
        key: Name of an object at the top; it is made where there is none.
        name: Name of the member.
        entry: Its value.
    """
    text, plain, style = _with_object(text)
    root = _skip(plain, 0)
    outer = {member.name: member for member in _members(plain, root)}
    if key not in outer:
        return _insert(text, plain, root, key, {name: entry}, style)
    inner = {member.name: member for member in _members(plain, outer[key].value)}
    if name not in inner:
        return _insert(text, plain, outer[key].value, name, entry, style)
    member = inner[name]
    written = _write(entry, _indent_at(text, member.start), style)
    return text[: member.value] + written + text[member.end :]


def remove_member(text: str, key: str, name: str) -> str:
    """Return a text without a member of the object `key`, which has it."""
    plain = _plain(text)
    (outer,) = (member for member in _members(plain, _skip(plain, 0)) if member.name == key)
    members = list(_members(plain, outer.value))
    position = next(index for index, member in enumerate(members) if member.name == name)
    start, end = members[position].start, members[position].end
    comma = _skip(plain, end)
    is_last = plain[comma] != ","
    if not is_last:
        end = comma + 1
    elif position:
        before = plain.index(",", members[position - 1].end)
        text = f"{text[:before]} {text[before + 1 :]}"
    line = text.rfind("\n", 0, start) + 1
    if not text[line:start].strip():
        start = line - 1 if line else 0
    return (text[:start].rstrip(" \t") if position and is_last else text[:start]) + text[end:]


def _with_object(text: str) -> tuple[str, str, _Style]:
    """Return a text that has an object at the top, the same as `_plain` returns it, and its style."""
    newline = "\r\n" if "\r\n" in text else "\n"
    if not _plain(text).strip():
        text = f"{{}}{newline}"
    plain = _plain(text)
    first = next(_members(plain, _skip(plain, 0)), None)
    indent = "" if first is None else _indent_at(text, first.start)
    return text, plain, _Style(newline, indent or "  ")


def _plain(text: str) -> str:
    """Return a text without comments and needless commas; blanks take their places."""

    def blank(match: re.Match[str]) -> str:
        token = match.group()
        has_no_end = token.startswith("/*") and not (token.endswith("*/") and len(token) >= len("/**/"))
        return token if token.startswith('"') or has_no_end else re.sub(r"[^\r\n]", " ", token)

    return _TRAILING_COMMA.sub(blank, _STRING_OR_COMMENT.sub(blank, text))


def _skip(plain: str, position: int) -> int:
    match = _SPACE.match(plain, position)
    return match.end() if match is not None else position


def _members(plain: str, start: int) -> Iterator[_Member]:
    """Yield the members of the object that begins at a position; nothing of another value."""
    if plain[start] != "{":
        return
    position = _skip(plain, start + 1)
    while plain[position] != "}":
        name, end = _DECODER.raw_decode(plain, position)
        value = _skip(plain, _skip(plain, end) + 1)
        _, after = _DECODER.raw_decode(plain, value)
        yield _Member(name, position, value, after)
        position = _skip(plain, after)
        if plain[position] == ",":
            position = _skip(plain, position + 1)


def _insert(text: str, plain: str, start: int, name: str, value: Any, style: _Style) -> str:
    """Return a text with one more member at the end of the object that begins at a position."""
    members = list(_members(plain, start))
    outer = _indent_at(text, start)
    indent = _indent_at(text, members[0].start) if members else outer + style.indent
    if len(indent) <= len(outer):
        indent = outer + style.indent
    last = members[-1].end if members else start + 1
    closing = _skip(plain, last)
    content = len(text[:closing].rstrip())
    gap = text[last:content]
    # A comma that was blanked is in the text already.
    comma = "" if not members or _has_comma(gap) else ","
    written = f"{style.newline}{indent}{json.dumps(name, ensure_ascii=False)}: {_write(value, indent, style)}"
    tail = f"{style.newline}{outer}{text[closing:]}"
    return f"{text[:last]}{comma}{gap}{written}{tail}"


def _has_comma(text: str) -> bool:
    return "," in _STRING_OR_COMMENT.sub("", text)


def _indent_at(text: str, position: int) -> str:
    """Return the blanks that begin the line of a position."""
    line = text[text.rfind("\n", 0, position) + 1 : position]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _write(value: Any, indent: str, style: _Style) -> str:
    lines = json.dumps(value, indent=style.indent, ensure_ascii=False).split("\n")
    return style.newline.join([lines[0], *(f"{indent}{line}" for line in lines[1:])])

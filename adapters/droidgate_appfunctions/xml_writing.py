"""Writing XML text as Jetpack's compiler does: four blanks a level, LF, empty elements closed in one tag."""

from __future__ import annotations

import re
from typing import Final, TypeAlias

from droidgate_mappings.model.errors import WriteError
from droidgate_mappings.text.xml_text import NOT_XML, escape_text

XmlTag: TypeAlias = "tuple[str, str | list[XmlTag]]"
"""A tag and its text, or a tag and its children."""

_TAG: Final = re.compile(r"[^\W\d][\w.\-\u00b7]*")
_MAX_SHOWN: Final = 50
HEADER: Final = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'


def render(root: XmlTag) -> str:
    """Return a document with one root element.

    Raises:
        WriteError: a text holds a character that XML cannot.
    """
    lines: list[str] = []
    _render(root, "", lines)
    text = HEADER + "\n".join(lines) + "\n"
    match = NOT_XML.search(text)
    if match is not None:
        message = f"a text holds U+{ord(match[0]):04X}, which XML cannot"
        raise WriteError(message, hint="remove the character")
    return text


def render_part(children: list[XmlTag]) -> str:
    """Return elements as they are inside a root element."""
    lines: list[str] = []
    for child in children:
        _render(child, "    ", lines)
    return "".join(f"{line}\n" for line in lines)


def _render(node: XmlTag, indent: str, lines: list[str]) -> None:
    tag, content = node[0], node[1]
    if not _TAG.fullmatch(tag):
        message = f"{tag[:_MAX_SHOWN]!r} is not the name of an XML element"
        raise WriteError(message, hint="remove the element from the extensions")
    if not content:
        lines.append(f"{indent}<{tag}/>")
    elif isinstance(content, str):
        lines.append(f"{indent}<{tag}>{escape_text(content)}</{tag}>")
    else:
        lines.append(f"{indent}<{tag}>")
        inner = indent + "    "
        for child in content:
            _render(child, inner, lines)
        lines.append(f"{indent}</{tag}>")

"""Compiled XML back as text, so that formats read what an APK holds as they read a source file.

Elements are on the lines of the source, by line breaks inside of tags: a finding about
a place then fits the app's own files. No text node gets a character that was not there.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from droidgate_android.apk.apk_budgets import Budget
from droidgate_android.apk.resource_values import NameOf, attribute_text
from droidgate_android.apk.xml_tree import ANDROID_NAMESPACE, XmlAttribute, XmlElement
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.text.xml_text import NOT_XML

_XML_NAMESPACE: Final = "http://www.w3.org/XML/1998/namespace"
_KNOWN_PREFIXES: Final = {
    ANDROID_NAMESPACE: "android",
    "http://schemas.android.com/apk/res-auto": "app",
    "http://schemas.android.com/tools": "tools",
    _XML_NAMESPACE: "xml",
}
_NAME: Final = re.compile(r"[^\W\d][\w.-]*")
_IN_ATTRIBUTE: Final = str.maketrans(
    {"&": "&amp;", "<": "&lt;", '"': "&quot;", "\n": "&#10;", "\r": "&#13;", "\t": "&#9;"}
)
_IN_TEXT: Final = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "\r": "&#13;"})
_NOT_PLAIN: Final = re.compile('[&<>"\t\n\r\0-\x1f\ud800-\udfff\ufffe\uffff]')
_MAX_LINE: Final = 65_535
"""The parser of XML texts knows no later line."""


def render_xml(
    root: XmlElement,
    name_of: NameOf,
    *,
    path: str,
    budget: Budget | None = None,
    escape: Callable[[str], str] | None = None,
) -> str:
    """Return a document's text.

    Args:
        root: The tree, of no more levels than `parse_binary_xml` reads.
        name_of: Names resources; a reference without a name is `@0x7f010001`.
        path: How errors name the document.
        budget: Counts the characters.
        escape: What is done to the strings of attributes without a namespace, for a text that is to be
            compiled again.

    Raises:
        InputError: a name in it is not allowed in XML.
        BudgetError: the text would be too long.
    """
    renderer = _Renderer(name_of, path, Budget() if budget is None else budget, escape)
    renderer.write_element(root)
    return renderer.result()


class _Renderer:
    def __init__(
        self, name_of: NameOf, path: str, budget: Budget, escape: Callable[[str], str] | None
    ) -> None:
        self._name_of = name_of
        self._path = path
        self._budget = budget
        self._escape = escape
        self._prefixes: dict[str, str] = {}
        self._names: dict[tuple[str | None, str], str] = {}
        self._pieces: list[str] = []
        self._line = 1
        self._tag_end = ""

    def result(self) -> str:
        declared = "".join(
            f' xmlns:{prefix}="{_attribute(uri)}"'
            for uri, prefix in self._prefixes.items()
            if uri != _XML_NAMESPACE
        )
        self._pieces.insert(1, declared)
        self._pieces.append(self._tag_end)
        return "".join(self._pieces)

    def write_element(self, element: XmlElement) -> None:
        """Write an element; its last `>` is written with what follows, which may need line breaks before."""
        name = self._qualified(element.namespace, element.tag)
        self._write(f"{self._line_breaks_to(element.line)}{self._tag_end}<{name}")
        written: set[str] = set()
        for attribute in element.attributes:
            self._write_attribute(attribute, written)
        if not element.children:
            self._tag_end = "/>"
            return
        self._tag_end = ">"
        for child in element.children:
            if isinstance(child, XmlElement):
                self.write_element(child)
            else:
                text = _text(child)
                self._line += text.count("\n")
                self._write(self._tag_end + text)
                self._tag_end = ""
        self._write(f"{self._tag_end}</{name}")
        self._tag_end = ">"

    def _write_attribute(self, attribute: XmlAttribute, written: set[str]) -> None:
        text = attribute_text(attribute.value, self._name_of)
        name = self._qualified(attribute.namespace, attribute.name)
        if text is None or name in written:
            return
        written.add(name)
        if self._escape is not None and attribute.namespace is None and attribute.value.text is not None:
            text = self._escape(text)
        self._write(f' {name}="{_attribute(text)}"')

    def _write(self, text: str) -> None:
        self._budget.spend_characters(len(text), self._path)
        self._pieces.append(text)

    def _line_breaks_to(self, line: int) -> str:
        if not self._line < line <= _MAX_LINE:
            return ""
        missing = line - self._line
        self._line = line
        return "\n" * missing

    def _qualified(self, namespace: str | None, name: str) -> str:
        qualified_name = self._names.get((namespace, name))
        if qualified_name is None:
            if _NAME.fullmatch(name) is None:
                raise InputError(f"the name {name[:80]!r} is not allowed in XML", place=self._path)
            prefix = self._prefix(namespace) if namespace else ""
            qualified_name = self._names[namespace, name] = prefix + name
        return qualified_name

    def _prefix(self, namespace: str) -> str:
        prefix = self._prefixes.get(namespace)
        if prefix is None:
            prefix = _KNOWN_PREFIXES.get(namespace, f"ns{len(self._prefixes)}")
            self._prefixes[namespace] = prefix
        return f"{prefix}:"


def _attribute(text: str) -> str:
    return NOT_XML.sub("\ufffd", text.translate(_IN_ATTRIBUTE)) if _NOT_PLAIN.search(text) else text


def _text(text: str) -> str:
    return NOT_XML.sub("\ufffd", text.translate(_IN_TEXT)) if _NOT_PLAIN.search(text) else text

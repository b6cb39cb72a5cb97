"""The capability descriptor as an XML document: parsing with repairs, and texts as a device gives them.

A descriptor is an XML resource (specification 1.2), so aapt compiles its texts: backslashes escape, and what
looks like a number comes back in a number's own spelling. `DescriptorDocument.text` returns what
`getAttributeValue` returns on a device, for a file in source form, for one out of an APK and for one under
res/raw, which is never compiled.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final, Literal

from droidgate_mappings.formats.application import Resources
from droidgate_mappings.formats.leniency import ReadingContext
from droidgate_mappings.model.capability import Place
from droidgate_mappings.model.errors import BudgetError, InputError
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.records import dataclass
from droidgate_mappings.text.aapt_text import escape_xml_attribute, read_xml_attribute, reference_in
from droidgate_mappings.text.xml_text import TOOLS, Element, child_elements, parse_xml, xpath_of

_CURLY_QUOTES: Final = re.compile("[\u201c\u201d]")
_CURLY_VALUE: Final = re.compile('(=\\s*)[\u201c\u201d]([^"\u201c\u201d<]*)["\u201c\u201d]')

_SHORT: Final = 100
# Type words, versions and names come back again and again.
_read_text = lru_cache(maxsize=4096)(read_xml_attribute)

Rules = Literal["source", "compiled", "raw"]
"""Where a document's text comes from: an XML resource's source, an APK's compiled resource, or a raw
resource.
"""


@dataclass(slots=True)
class DescriptorDocument:
    """A parsed descriptor.

    Attributes:
        root: Its root element.
        path: How messages name it.
        rules: What its texts are.
        repaired: Its quotes had to be straightened.
        resources: Where references lead, or None.
    """

    root: Element
    path: str
    rules: Rules = "source"
    repaired: bool = False
    resources: Resources | None = None

    def place(self, element: Element) -> Place:
        """Return the place of an element."""
        return Place(path=self.path, line=element.sourceline)

    def text(self, element: Element, name: str) -> str | None:
        """Return an attribute as a device gives it, None without one; a reference comes back as its text."""
        raw = element.get(name)
        if raw is None or self.rules != "source":
            return raw
        return _read_text(raw) if len(raw) <= _SHORT else read_xml_attribute(raw)

    def reference(self, element: Element, name: str) -> str | None:
        """Return the resource reference that an attribute is, None where it is a text."""
        raw = element.get(name)
        return reference_in(raw) if raw is not None and raw and self.rules != "raw" and "@" in raw else None

    def resolve(self, reference: str) -> str | None:
        """Return the text behind a reference, None where it is not known."""
        return self.resources.read_text(reference) if self.resources is not None else None

    def source_text(self, raw: str) -> str:
        """Return an attribute's raw text as in a source file."""
        return escape_xml_attribute(raw) if self.rules == "compiled" and reference_in(raw) is None else raw


def parse_document(
    text: str | bytes,
    path: str,
    *,
    rules: Rules = "source",
    resources: Resources | None = None,
    context: ReadingContext,
) -> DescriptorDocument:
    """Parse a descriptor; quotes that a word processor has curled are straightened where it is not XML
    otherwise.

    Raises:
        InputError: it is not well-formed all the same.
    """
    try:
        return DescriptorDocument(parse_xml(text, path=path), path, rules, resources=resources)
    except BudgetError:
        raise
    except InputError as error:
        root = None if rules == "compiled" else _parse_with_straight_quotes(text, path)
        if root is None:
            raise
        context.allow(
            "M29",
            f"curly quotes are read as straight ones ({error.message})",
            source=Place(path=path, line=1),
            hint="put attribute values in straight quotes",
        )
        return DescriptorDocument(root, path, rules, repaired=True, resources=resources)


def _parse_with_straight_quotes(text: str | bytes, path: str) -> Element | None:
    if isinstance(text, bytes):
        text = text.decode("utf-8-sig", "replace")
    if not _CURLY_QUOTES.search(text):
        return None
    # First only where a quote opens a value, so that curly quotes inside texts stay.
    for straightened in (_CURLY_VALUE.sub(r'\1"\2"', text), _CURLY_QUOTES.sub('"', text)):
        try:
            return parse_xml(straightened, path=path)
        except InputError:
            continue
    return None


def unknown_parts(
    document: DescriptorDocument, element: Element, *, attributes: frozenset[str], elements: frozenset[str]
) -> dict[str, Json]:
    """Return the parts of an element that are not known: `attributes`, `elements` and `text`, each only
    where there is some. Texts are in source form.
    """
    unknown: dict[str, Json] = {}
    if not attributes.issuperset(element.keys()):
        others = {
            name: document.source_text(value)
            for name, value in element.attrib.items()
            if name not in attributes and not name.startswith(TOOLS)
        }
        if others:
            unknown["attributes"] = others
    if len(element) == 0:
        return {**unknown, "text": element.text.strip()} if element.text and element.text.strip() else unknown
    trees = [element_tree(document, child) for child in child_elements(element) if child.tag not in elements]
    if trees:
        unknown["elements"] = trees
    text = " ".join(filter(None, (piece.strip() for piece in own_texts(element))))
    if text:
        unknown["text"] = text
    return unknown


def misplaced_parts(element: Element, expected: frozenset[str]) -> Iterator[Element]:
    """Yield the capabilities and parameters below an element that are where no agent looks for them: inside
    children other than the expected ones, or in a namespace.
    """
    for child in child_elements(element):
        if child.tag not in expected:
            yield from child.iter("{*}capability", "{*}param")


def shown_tag(element: Element) -> str:
    """Return an element's name for a message, a namespace in braces before it."""
    namespace, brace, name = str(element.tag).rpartition("}")
    return f"{namespace[:100]}{brace}{name[:100]}"


def own_texts(element: Element) -> list[str]:
    """Return the pieces of text directly inside an element."""
    return [element.text or "", *(child.tail or "" for child in element)]


def element_tree(document: DescriptorDocument, element: Element) -> dict[str, Json]:
    """Return an element as JSON: `tag` and, where there are some, `attributes` and `content` (texts and
    elements).
    """
    tree: dict[str, Json] = {"tag": element.tag}
    attributes = {
        name: document.source_text(value)
        for name, value in element.attrib.items()
        if not name.startswith(TOOLS)
    }
    if attributes:
        tree["attributes"] = attributes
    content: list[Json] = [element.text.strip()] if element.text and element.text.strip() else []
    for child in element:
        if isinstance(child.tag, str):
            content.append(element_tree(document, child))
        if child.tail and child.tail.strip():
            content.append(child.tail.strip())
    if content:
        tree["content"] = content
    return tree


__all__ = [
    "DescriptorDocument",
    "Element",
    "Rules",
    "child_elements",
    "element_tree",
    "misplaced_parts",
    "own_texts",
    "parse_document",
    "shown_tag",
    "unknown_parts",
    "xpath_of",
]

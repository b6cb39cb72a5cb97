"""The children of one element, by converted tag name, as Android's dynamic parser sees them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from lxml import etree

from droidgate_android.projects.indexed_text import to_lower_camel_case
from droidgate_appfunctions.format import UNUSED
from droidgate_mappings.formats.leniency import ReadingContext
from droidgate_mappings.model.capability import Place
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.records import dataclass
from droidgate_mappings.text.xml_text import Element, child_elements, xpath_of

_LONG: Final = range(-(2**63), 2**63)
_BLANK: Final = " \t\r\n"
TOOLS_NAMESPACE: Final = "http://schemas.android.com/tools"
"""Of attributes for build tools and editors, which are not part of what a file says."""


def local_name(element: Element) -> str:
    """Return an element's tag without its namespace."""
    tag = str(element.tag)
    return tag.rpartition("}")[2] if tag.startswith("{") else tag


def element_text(element: Element) -> str:
    """Return an element's own text as written, comments left out."""
    text = element.text or ""
    if len(element):
        text += "".join(child.tail or "" for child in element)
    return text


def kept_element(element: Element) -> Json:
    """Return an element that nothing here knows, as JSON: `[tag, text]`, or `[tag, [child, ...]]`."""
    children = child_elements(element)
    return [
        local_name(element),
        [kept_element(child) for child in children] if children else element_text(element),
    ]


@dataclass(frozen=True, slots=True)
class ElementSource:
    """What is being read: the file's path, and how lenient to be."""

    path: str
    context: ReadingContext

    def place(self, element: Element) -> Place:
        """Return where an element is."""
        return Place(path=self.path, line=element.sourceline)

    def allow(
        self, row: str, message: str, element: Element, hint: str | None = None, *, lost: bool = False
    ) -> None:
        """Accept something about an element by a registry row; `lost` where a part of it is left out."""
        self.context.allow(
            row, message, pointer=xpath_of(element), source=self.place(element), hint=hint, lost=lost
        )

    def error(self, message: str, element: Element, hint: str) -> InputError:
        """Return the error about an element."""
        return InputError(message, place=str(self.place(element)), hint=hint)


_ATTRIBUTES: Final = etree.XPath(f"descendant-or-self::*[@*[namespace-uri() != '{TOOLS_NAMESPACE}']]")
_STRAY_TEXT: Final = etree.XPath("descendant-or-self::*[*][text()[normalize-space()]]")


_MAX_NAMES: Final = 100
_MAX_NOISE: Final = 100
"""Elements that are reported each at its place; the XPath of one is as costly as the file is long."""


class Fields:
    """The children of one element, taken out by name; `rest` returns the others."""

    __slots__ = ("_groups", "element", "source")

    def __init__(self, element: Element, source: ElementSource) -> None:
        self.element = element
        self.source = source
        groups: dict[str, list[Element]] = {}
        for child in element:
            tag = child.tag
            if isinstance(tag, str):
                name = to_lower_camel_case(tag if tag[0] != "{" else local_name(child))
                groups.setdefault(name, []).append(child)
        self._groups = groups

    def many(self, name: str) -> list[Element]:
        """Take the children of a name, in order."""
        return self._groups.pop(name, [])

    def child(self, name: str) -> Element | None:
        """Take the only child of a name; the last where there are several."""
        elements = self._groups.pop(name, None)
        if elements is None:
            return None
        if len(elements) > 1:
            message = f"<{name}> occurs {len(elements)} times; only the last one is read"
            self.source.allow("A03", message, elements[-1], lost=True)
        return elements[-1]

    def peek(self, name: str) -> list[Element]:
        """Return the children of a name that are left, and leave them."""
        return self._groups.get(name, [])

    def has(self, *names: str) -> bool:
        """Return whether a child of one of the names is left."""
        return any(name in self._groups for name in names)

    def leave(self, name: str, element: Element) -> None:
        """Give back a child that was taken, for `rest`."""
        self._groups.setdefault(name, []).append(element)

    def text(self, name: str) -> str | None:
        """Take a text as written, white space included; None where there is none.

        Raises:
            InputError: there is an element inside; Android drops the whole file for it.
        """
        element = self.child(name)
        return None if element is None else self._read_text(element)

    def _read_text(self, element: Element) -> str:
        inside = next((item for item in element if isinstance(item.tag, str)), None) if len(element) else None
        if inside is not None:
            message = (
                f"<{local_name(element)}> holds the element <{local_name(inside)}> where text is expected"
            )
            hint = "write &lt; for <; Android drops the whole file for it"
            raise self.source.error(message, inside, hint)
        return element_text(element)

    def word(self, name: str) -> str | None:
        """Take a text without white space around it."""
        text = self.text(name)
        return None if text is None else text.strip(_BLANK)

    def words(self, name: str) -> list[str]:
        """Take a repeated text, each without white space around it."""
        return [self._read_text(item).strip(_BLANK) for item in self.many(name)]

    def flag(self, name: str) -> bool | None:
        """Take a boolean as Java's parseBoolean reads it."""
        element = self.child(name)
        return None if element is None else self.read_flag(element)

    def read_flag(self, element: Element) -> bool:
        """Return an element's boolean: true only for the word `true` in any case."""
        word = self._read_text(element).strip(_BLANK)
        if word not in {"true", "false"}:
            name = local_name(element)
            self.source.allow(
                "A04", f"<{name}> says {word!r}; read as {str(word.lower() == 'true').lower()}", element
            )
        return word.lower() == "true"

    def integer(self, name: str) -> int | None:
        """Take a 64-bit integer.

        Raises:
            InputError: it is not one; Android drops the whole file for it.
        """
        element = self.child(name)
        if element is None:
            return None
        word = self._read_text(element).strip(_BLANK)
        digits = word[1:] if word[:1] in {"-", "+"} else word
        if digits.isascii() and digits.isdigit() and len(digits) < 20 and int(word) in _LONG:  # noqa: PLR2004
            return int(word)
        message = f"<{name}> is {word!r}, which is not a 64-bit integer"
        raise self.source.error(
            message, element, "write digits; Android drops the whole file for anything else"
        )

    def document_id(self, row: str = "A05") -> str | None:
        """Take a document's `<id>`; None where it is the usual one that says nothing."""
        word = self.word("id")
        if not word:
            self.source.allow(
                row, "a document without <id>; Android 16 and later drop the whole file for it", self.element
            )
            return None
        return None if word == UNUSED else word

    def rest(self) -> list[Json]:
        """Return the children that are left, as JSON, in order of their first of each name."""
        return [kept_element(item) for group in self._groups.values() for item in group]


def check_noise(root: Element, source: ElementSource) -> None:
    """Report attributes and stray text inside an element, which Android's parsers never read."""
    _report_noise(_elements_with(_ATTRIBUTES, root), _attributes_of, "attributes", source)
    _report_noise(
        _elements_with(_STRAY_TEXT, root), lambda _: "text between its elements", "such text", source
    )


def _attributes_of(element: Element) -> str:
    split_names = (str(name).rpartition("}") for name in element.attrib)
    names = [name for namespace, _, name in split_names if namespace != f"{{{TOOLS_NAMESPACE}"]
    return f"the attribute{'s' if len(names) > 1 else ''} {', '.join(names)[:_MAX_NAMES]}"


def _report_noise(
    elements: list[Element], noise_of: Callable[[Element], str], noise: str, source: ElementSource
) -> None:
    for element in elements[:_MAX_NOISE]:
        message = f"<{local_name(element)}> has {noise_of(element)}, which Android does not read"
        source.allow("A02", message, element, lost=True)
    if len(elements) > _MAX_NOISE:
        message = f"{len(elements) - _MAX_NOISE} more elements have {noise}"
        source.allow("A02", message, elements[_MAX_NOISE], lost=True)


def _elements_with(path: etree.XPath, root: Element) -> list[Element]:
    elements = path(root)
    return elements if isinstance(elements, list) else []

"""A pull parser over our own XML trees, with the steps of Android's `XmlPullParser` that the indexer uses.

Android accepts what a strict parser does not: a second element at the document's level, and, where its parser
does not see namespaces, prefixes that nobody declares.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import Final, Literal, NamedTuple

from droidgate_android.projects.xml_roots import parse_roots
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.text.xml_text import Element

_USUAL: Final = 64 << 10
"""Characters of a file whose steps are kept for the next reader."""

_PREFIXES: Final = ("xs", "appfn", "android", "tools", "xsd", "xsi")


class IndexerError(Exception):
    """What makes the indexer drop a file or reject a schema; Android's code throws, catches and logs it.

    Attributes:
        reason: Stable word for it; `REASONS` in `indexer_reports.py` lists them.
        message: One sentence.
        line: Where, 1-based, or None.
        name: The tag, property or type it is about, or None.
    """

    def __init__(
        self, reason: str, message: str, *, line: int | None = None, name: str | None = None
    ) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message
        self.line = line
        self.name = name


class Event(NamedTuple):
    """One step: `start` and `end` have a tag name, `text` has text; `end-document` comes last."""

    type: Literal["start", "end", "text", "end-document"]
    name: str = ""
    text: str = ""
    line: int | None = None
    attributes: Mapping[str, str] = MappingProxyType({})


class PullParser:
    """Steps through a document.

    Args:
        document: Its text, or its steps as `read_events` gives them.
        namespaces: As for `read_events`.

    Attributes:
        event: The current event.

    Raises:
        IndexerError: `malformed-xml`, where not even Android's parser would come to the end.
    """

    def __init__(self, document: str | Sequence[Event], *, namespaces: bool = True) -> None:
        if isinstance(document, str):
            document = read_events(document, namespaces=namespaces)
        self._following = iter(document)
        self.event = next(self._following)

    def next(self) -> Event:
        """Go to the next event and return it; the last one is `end-document`."""
        self.event = next(self._following, self.event)
        return self.event

    def next_text(self) -> str:
        """Return the text of the element whose start is current, and go to its end.

        Raises:
            IndexerError: `element-in-text`, there is an element inside.
        """
        start = self.event
        following = self.next()
        text = ""
        if following.type == "text":
            text = following.text
            following = self.next()
        if following.type != "end":
            message = f"<{start.name}> holds an element where text is expected"
            raise IndexerError("element-in-text", message, line=following.line, name=start.name)
        return text

    def skip_element(self) -> None:
        """Go from an element's start to its end."""
        depth = 1
        while depth and self.event.type != "end-document":
            depth += {"start": 1, "end": -1}.get(self.next().type, 0)


def read_events(text: str, *, namespaces: bool = True) -> Sequence[Event]:
    """Return the steps of a document, `end-document` last.

    Args:
        text: The document.
        namespaces: Names are local names, as in a document file; else they keep their prefix, as in an XSD.

    Raises:
        IndexerError: `malformed-xml`, where not even Android's parser would come to the end.
    """
    return (_read_usual if len(text) <= _USUAL else _read)(text, namespaces)


def _read(text: str, namespaces: bool) -> Sequence[Event]:  # noqa: FBT001 - a cache knows its keys by position
    if namespaces and text.startswith("\ufeff"):
        # Android gives its parser documents as characters and an XSD as bytes, of which it skips the mark.
        raise IndexerError("malformed-xml", "the file begins with a byte order mark", line=1)
    try:
        roots = parse_roots(text, prefixes=() if namespaces else _PREFIXES)
    except InputError as error:
        raise _malformed(error) from None
    events = [event for root in roots for event in _events_of(root, namespaces=namespaces)]
    return (*events, Event("end-document"))


# A linter takes the steps that the indexer took, and most apps have the same schema.
_read_usual = lru_cache(maxsize=4)(_read)


def _malformed(error: InputError) -> IndexerError:
    parts = (error.place or "").rsplit(":", 2)
    line = next((int(part) for part in parts[1:] if part.isdigit()), None)
    return IndexerError("malformed-xml", error.message, line=line)


def _events_of(root: Element, *, namespaces: bool) -> Iterator[Event]:
    """Yield the events of an element; neighbouring texts become one, comments go."""
    # Without recursion, since nesting is the file's choice.
    pending: list[Element | Event] = [root]
    text, line = "", root.sourceline
    while pending:
        current = pending.pop()
        if isinstance(current, Event) and current.type == "text":
            text += current.text
            continue
        if not isinstance(current, Event) and not isinstance(current.tag, str):
            continue
        if text:
            yield Event("text", text=text, line=line)
            text = ""
        line = current.line if isinstance(current, Event) else current.sourceline
        if isinstance(current, Event):
            yield current
            continue
        name = _name_of(current, namespaces=namespaces)
        yield Event("start", name, line=line, attributes=_attributes_of(current))
        inside: list[Element | Event] = [Event("text", text=current.text)] if current.text else []
        for child in current:
            inside.append(child)
            if child.tail:
                inside.append(Event("text", text=child.tail))
        pending += reversed([*inside, Event("end", name, line=line)])


def _name_of(element: Element, *, namespaces: bool) -> str:
    local = str(element.tag).rpartition("}")[2]
    return local if namespaces or not element.prefix else f"{element.prefix}:{local}"


def _attributes_of(element: Element) -> dict[str, str]:
    return {str(key): str(value) for key, value in element.attrib.items()}

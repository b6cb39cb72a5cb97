"""The lines of findings, the same on a page and in a SARIF log."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Final

from lxml import etree

from droidgate.sources.folder_files import read_bytes
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.model.findings import Finding
from droidgate_mappings.model.json_values import Json, pointer_name, pointer_token
from droidgate_mappings.records import dataclass
from droidgate_mappings.text.json_text import rows_of_pointers
from droidgate_mappings.text.xml_text import Element, parse_xml

_QUOTES: Final = {"\\\\": "\\", '\\"': '"', "\\'": "'", "&quot;": '"', "&#34;": '"'}
_QUOTED = re.compile("|".join(map(re.escape, _QUOTES)))
"""What Android's compiler and an XML parser read as one character of JSON."""

_MOST_PLACES: Final = 100
"""How many documents of one file are searched; each costs a look at the whole file."""
_MOST_NAMESAKES: Final = 100
_OF_RESULTS: Final = re.compile(r"output|return|response", re.IGNORECASE)
"""What the names of members and elements hold in which formats declare a result."""


@dataclass(frozen=True, slots=True)
class _Sought:
    """What a line is sought of.

    Attributes:
        inner: JSON Pointer of it, or of its capability, in the file; None where only the model has one.
        pointer: JSON Pointer in the model.
    """

    inner: str | None
    pointer: str

    @classmethod
    def of(cls, finding: Finding) -> _Sought:
        """Return what a finding is about."""
        return cls(None if finding.source is None else finding.source.inner, finding.pointer)

    @property
    def start(self) -> str:
        """Where the search in a JSON document begins."""
        return self.inner or self.pointer

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the property and of those around it, the outermost first."""
        tokens = iter(() if self.inner == self.pointer else self.pointer.split("/"))
        return tuple(pointer_name(next(tokens, "")) for word in tokens if word == "properties")

    @property
    def is_of_result(self) -> bool:
        """Whether it is about what a call returns."""
        return "output" in self.pointer.partition("/properties/")[0].split("/")


def with_lines(findings: Iterable[Finding]) -> list[Finding]:
    """Return findings at the lines of their values: that of a JSON Pointer's value where a file has it, and
    that of a parameter or returned value where the file of its capability declares it under its name.
    """
    listed = list(findings)
    sought: dict[tuple[str, int], list[_Sought]] = {}
    for item in listed:
        if item.source is not None and item.source.line is not None:
            sought.setdefault((item.source.path, item.source.line), []).append(_Sought.of(item))
    places = Counter(path for path, _ in sought)
    found = {
        place: _rows_of(*place, items) if places[place[0]] <= _MOST_PLACES else {}
        for place, items in sought.items()
    }
    return [_at_line(item, found) for item in listed]


def _at_line(finding: Finding, found: Mapping[tuple[str, int], Mapping[_Sought, int]]) -> Finding:
    source = finding.source
    if source is None or source.line is None:
        return finding
    line = found[source.path, source.line].get(_Sought.of(finding), max(1, source.line))
    return finding.changed({"source": source.changed({"line": line})})


def _rows_of(path: str, line: int, sought: Sequence[_Sought]) -> Mapping[_Sought, int]:
    """Return the rows of what is sought at a line of a file on disk: XML, or JSON, also inside XML."""
    if not (path.endswith((".json", ".xml")) and any(item.start for item in sought) and Path(path).is_file()):
        return {}
    try:
        text = read_bytes(path).decode("utf-8-sig", "replace")
    except InputError:
        return {}
    json_text = "\n".join(text.split("\n")[max(0, line - 1) :])
    if path.endswith(".xml"):
        before, brace, after = json_text.partition("{")
        json_text = "\n" * before.count("\n") + brace + _QUOTED.sub(lambda quoted: _QUOTES[quoted[0]], after)
    try:
        pointers = dict(zip(sought, _pointers_of(json_text, sought), strict=True))
    except RecursionError:
        # What begins here is nested deeper than any reader takes, such as another attribute of the line.
        pointers = {item: item.start for item in sought}
    found = rows_of_pointers(json_text, pointers.values())
    rows = {item: found[pointer] + max(0, line - 1) for item, pointer in pointers.items() if pointer in found}
    others = [item for item in sought if item.names and item not in rows] if path.endswith(".xml") else []
    return rows | _rows_in_xml(text, line, others) if others else rows


def _rows_in_xml(text: str, line: int, sought: Sequence[_Sought]) -> dict[_Sought, int]:
    """Return the rows of the elements that declare properties inside of the first element of a line."""
    root = _root_of(text)
    if root is None:
        return {}
    start = next((element for element in root.iter(etree.Element) if element.sourceline == line), None)
    rows: dict[_Sought, int] = {}
    for item in sought:
        element = start
        for name in item.names:
            element = None if element is None else _declaring(element, name, item)
        if element is not None and element.sourceline is not None:
            rows[item] = element.sourceline
    return rows


@lru_cache(maxsize=1)
def _root_of(text: str) -> Element | None:
    try:
        return parse_xml(text)
    except InputError:
        return None


def _declaring(element: Element, name: str, item: _Sought) -> Element | None:
    """Return the first element inside another that has a name, as its attribute or its child."""
    for inner in element.iterdescendants(etree.Element):
        if name in {inner.get("name"), inner.findtext("name")}:
            tags = [str(around.tag) for around in inner.iterancestors()]
            if any(map(_is_of_result, tags[: tags.index(str(element.tag))])) is item.is_of_result:
                return inner
    return None


def _pointers_of(json_text: str, sought: Sequence[_Sought]) -> Iterator[str]:
    """Yield where a document of JSON has what is sought, or the capability that it is in."""
    try:
        is_needed = any(item.names for item in sought)
        document = json.JSONDecoder().raw_decode(json_text.lstrip())[0] if is_needed else None
    except ValueError:
        document = None
    for item in sought:
        paths = islice(_paths_of(_value_at(document, item.start), item.names), _MOST_NAMESAKES)
        path = next((path for path in paths if path and _is_of_result(path[0]) is item.is_of_result), None)
        last = item.pointer.rpartition("/")[2]
        yield item.start if path is None else "/".join((item.start, *map(pointer_token, path), last))


def _is_of_result(word: str) -> bool:
    return _OF_RESULTS.search(word) is not None


def _value_at(document: Json, pointer: str) -> Json:
    """Return the value behind a JSON Pointer, None where there is none."""
    for token in map(pointer_name, pointer.split("/")[1:]):
        if isinstance(document, list):
            document = document[int(token)] if token.isdecimal() and int(token) < len(document) else None
        else:
            document = document.get(token) if isinstance(document, dict) else None
    return document


def _paths_of(value: Json, names: Sequence[str], path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield where a value declares the last of some properties, each inside of the one before it."""
    if not names:
        yield path
        return
    members = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    for key, inner in members:
        if key == "properties" and isinstance(inner, dict):
            if names[0] in inner:
                yield from _paths_of(inner[names[0]], names[1:], (*path, key, names[0]))
        else:
            yield from _paths_of(inner, names, (*path, str(key)))

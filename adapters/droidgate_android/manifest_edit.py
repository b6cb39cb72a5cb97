"""Editing an AndroidManifest.xml in place: what is not edited keeps its bytes, comments and layout."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final
from xml.parsers import expat
from xml.sax.saxutils import quoteattr

from lxml import etree

from droidgate_mappings.model.errors import InputError
from droidgate_mappings.records import dataclass, field
from droidgate_mappings.tables.android_names import android_name
from droidgate_mappings.text.xml_text import ANDROID, Element, child_elements, parse_xml

_ANDROID_URI: Final = ANDROID[1:-1]
_NAME: Final = f"{ANDROID}name"
COMPONENTS: Final = frozenset({"activity", "activity-alias", "service", "receiver", "provider"})
"""Elements that declare a component."""

_BEFORE_APPLICATION: Final = frozenset({"uses-permission", "permission", "queries", "uses-feature"})
_BINDING: Final = ("enabled", "exported", "permission")
"""Attributes that decide who may call: where they say something else, the component is not the protocol's."""

_DECLARATION: Final = re.compile(r"<\?xml[^<>]*\?>")
_BYTE_ORDER_MARK: Final = "\ufeff"


@dataclass(slots=True)
class _Span:
    """One element of the text being edited: offsets in characters."""

    tag: str
    attributes: dict[str, str]
    start: int
    start_tag_end: int
    end_tag_start: int = 0
    end: int = 0
    children: list[_Span] = field(default_factory=list)
    named: dict[tuple[str, str | None], list[_Span]] = field(default_factory=dict)
    """The children by tag and name, once something is looked for."""

    @property
    def self_closed(self) -> bool:
        return self.end_tag_start == self.start_tag_end and self.end == self.start_tag_end


@dataclass(frozen=True, slots=True)
class _Edit:
    start: int
    end: int
    text: str


def merge_manifest(project: str, addition: str, *, path: str, namespace: str | None = None) -> str:
    """Return a project's manifest with the elements of another manifest in it.

    A component of the same class keeps its attributes and children. What else the addition has
    (attributes, intent filters, meta-data, properties) is put into it, and a meta-data or property of the
    same name is replaced. Merging the same addition again changes nothing.

    Args:
        project: The text of the app's AndroidManifest.xml, byte order mark included where it has one.
        addition: The text of a complete manifest with what should be there.
        path: How errors name the project's manifest.
        namespace: The package of `.Name`, where it is not the manifest's `package`.

    Raises:
        InputError: the project's manifest has no application element, or does not fit (a component that is
            not exported).
    """
    if project.startswith(_BYTE_ORDER_MARK):
        merged = merge_manifest(project[1:], addition, path=path, namespace=namespace)
        return _BYTE_ORDER_MARK + merged
    root = parse_manifest(project, path=path)
    spans = _read_spans(project, path)
    application = next((span for span in spans.children if span.tag == "application"), None)
    if application is None:
        message = "the manifest has no application element"
        raise InputError(message, place=path, hint="point at the source set that declares the application")
    prefix = _android_prefix(root)
    editor = _Editor(project, prefix or "android", path, namespace or root.get("package"))
    added = parse_xml(addition, path="<addition>")
    for child in child_elements(added):
        if child.tag == "application":
            editor.merge_children(application, child)
        elif child.tag in _BEFORE_APPLICATION:
            editor.merge_before(spans, application, child)
    if prefix is None and editor.edits:
        name_end = spans.start + 1 + len(editor.tag_text(spans))
        editor.edits.append(_Edit(name_end, name_end, f' xmlns:android="{_ANDROID_URI}"'))
    merged = editor.result()
    parse_manifest(merged, path=path)
    return merged


def parse_manifest(text: str, *, path: str) -> Element:
    """Parse a manifest's text whatever encoding its file has; lines are those of the text.

    Raises:
        InputError: not well-formed.
    """
    text = text.removeprefix(_BYTE_ORDER_MARK)
    # The text is decoded already, so what it declares about its bytes is no longer true.
    return parse_xml(_DECLARATION.sub(_blank, text, count=1), path=path)


def _blank(match: re.Match[str]) -> str:
    return "".join(item if item in "\r\n" else " " for item in match[0])


def _android_prefix(root: Element) -> str | None:
    return next((prefix for prefix, uri in root.nsmap.items() if uri == _ANDROID_URI and prefix), None)


def _read_spans(text: str, path: str) -> _Span:
    data = text.encode("utf-8")
    offsets = _CharacterOffsets(data)
    holder = _Span("", {}, 0, 0)
    stack = [holder]
    parser = expat.ParserCreate(encoding="utf-8", namespace_separator="}")
    parser.ordered_attributes = False

    def start(tag: str, attributes: dict[str, str]) -> None:
        begin = parser.CurrentByteIndex
        local = tag.rpartition("}")[2]
        values = {(f"{{{key}" if "}" in key else key): value for key, value in attributes.items()}
        span = _Span(local, values, offsets[begin], offsets[_tag_end(data, begin)])
        stack[-1].children.append(span)
        stack.append(span)

    def end(_: str) -> None:
        span = stack.pop()
        if text[span.start_tag_end - 2] == "/":
            span.end_tag_start = span.end = span.start_tag_end
            return
        begin = parser.CurrentByteIndex
        span.end_tag_start = offsets[begin]
        span.end = offsets[data.index(b">", begin) + 1]

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        message = f"not well-formed XML: {expat.ErrorString(error.code)}"
        raise InputError(message, place=f"{path}:{error.lineno}") from None
    return holder.children[0]


def _tag_end(data: bytes, begin: int) -> int:
    quote = 0
    for position in range(begin, len(data)):
        byte = data[position]
        if quote:
            if byte == quote:
                quote = 0
        elif byte in b"\"'":
            quote = byte
        elif byte == ord(">"):
            return position + 1
    return len(data)


class _CharacterOffsets:
    """Byte offset in UTF-8 to character offset, cheap for offsets in ascending order."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._ascii = data.isascii()
        self._known = 0, 0

    def __getitem__(self, byte_offset: int) -> int:
        if self._ascii:
            return byte_offset
        start, characters = self._known if byte_offset >= self._known[0] else (0, 0)
        characters += len(self._data[start:byte_offset].decode("utf-8"))
        self._known = byte_offset, characters
        return characters


class _Editor:
    """Collects edits of one manifest text."""

    def __init__(self, text: str, prefix: str, path: str, package: str | None) -> None:
        self.text = text
        self.prefix = prefix
        self.path = path
        self.package = package
        self.edits: list[_Edit] = []
        self.unit = _indent_unit(text)
        self.newline = "\r\n" if "\r\n" in text else "\n"

    def merge_before(self, manifest: _Span, application: _Span, element: Element) -> None:
        existing = self.find(manifest, element)
        if existing is not None and element.tag == "queries":
            self.merge_children(existing, element)
            return
        if existing is not None:
            self.check_permission(existing)
            return
        siblings = [child for child in manifest.children if child.tag == element.tag]
        if siblings:
            last = siblings[-1]
            indent = self.indent_of(last)
            text = f"{self.newline}{indent}{self.render(element, indent)}"
            self.edits.append(_Edit(last.end, last.end, text))
            return
        indent = self.indent_of(application)
        self.edits.append(
            _Edit(application.start, application.start, self.render(element, indent) + self.newline + indent)
        )

    def merge_children(self, span: _Span, element: Element) -> None:
        missing: list[Element] = []
        for child in child_elements(element):
            existing = self.find(span, child)
            if existing is None:
                missing.append(child)
            elif child.tag in COMPONENTS:
                self.merge_attributes(existing, child)
                self.merge_children(existing, child)
            elif not self.same(existing, child):
                self.edits.append(
                    _Edit(existing.start, existing.end, self.render(child, self.indent_of(existing)))
                )
        if missing:
            self.insert(span, missing)

    def check_permission(self, span: _Span) -> None:
        until = span.attributes.get(f"{ANDROID}maxSdkVersion")
        if span.tag == "uses-permission" and until is not None:
            name = span.attributes.get(_NAME)
            message = f"{name} is asked for up to {android_name(until)} only, and it is needed above"
            raise InputError(message, place=self.place(span), hint="remove android:maxSdkVersion there")

    def place(self, span: _Span) -> str:
        return f"{self.path}:{self.text.count(chr(10), 0, span.start) + 1}"

    def merge_attributes(self, span: _Span, element: Element) -> None:
        missing: list[str] = []
        for key, required in element.attrib.items():
            name = str(key)
            stated = span.attributes.get(name)
            if name == _NAME or stated == required:
                continue
            if stated is None:
                missing.append(f" {self.attribute_name(name)}={_quoted(str(required))}")
            elif name.removeprefix(ANDROID) in _BINDING:
                attribute = name.removeprefix(ANDROID)
                message = (
                    f"{span.attributes.get(_NAME)} states {attribute}={stated!r}, and {required!r} is needed"
                )
                hint = "change it there, or give the component another name"
                raise InputError(message, place=self.place(span), hint=hint)
        if missing:
            end = self.last_attribute_end(span)
            self.edits.append(_Edit(end, end, "".join(missing)))

    def last_attribute_end(self, span: _Span) -> int:
        closing = 2 if self.text[span.start_tag_end - 2] == "/" else 1
        return len(self.text[: span.start_tag_end - closing].rstrip())

    def insert(self, span: _Span, elements: list[Element]) -> None:
        indent = self.indent_of(span)
        inner = indent + self.unit
        rendered = "".join(f"{self.newline}{inner}{self.render(element, inner)}" for element in elements)
        if span.self_closed:
            slash = self.last_attribute_end(span)
            text = f">{rendered}{self.newline}{indent}</{self.tag_text(span)}>"
            self.edits.append(_Edit(slash, span.end, text))
            return
        content_end = max(len(self.text[: span.end_tag_start].rstrip()), span.start_tag_end)
        between = self.text[content_end : span.end_tag_start]
        closing = "" if "\n" in between else self.newline + indent
        self.edits.append(_Edit(content_end, content_end, rendered + closing))

    def tag_text(self, span: _Span) -> str:
        head = self.text[span.start + 1 : span.start_tag_end]
        return head.split(None, 1)[0].rstrip("/>")

    def indent_of(self, span: _Span) -> str:
        line_start = self.text.rfind("\n", 0, span.start) + 1
        before = self.text[line_start : span.start]
        return before if not before.strip() else before[: len(before) - len(before.lstrip())]

    def find(self, span: _Span, element: Element) -> _Span | None:
        """Return the child that an element is merged into or replaces."""
        if not span.named:
            for child in span.children:
                span.named.setdefault(self.key_of(child.tag, child.attributes.get(_NAME)), []).append(child)
        if element.tag == "queries":
            return next((child for child in span.children if child.tag == "queries"), None)
        near = span.named.get(self.key_of(str(element.tag), element.get(_NAME)), [])
        if element.get(_NAME) is None:
            return next((child for child in near if self.same(child, element)), None)
        return near[0] if near else None

    def key_of(self, tag: str, name: str | None) -> tuple[str, str | None]:
        return tag, self.qualified(name) if tag in COMPONENTS else name

    def qualified(self, name: str | None) -> str | None:
        if name is not None and self.package and (name.startswith(".") or "." not in name):
            return f"{self.package}.{name.lstrip('.')}"
        return name

    def same(self, span: _Span, element: Element) -> bool:
        attributes = {_plain(key): value for key, value in element.attrib.items()}
        children = child_elements(element)
        return (
            span.tag == element.tag
            and span.attributes == attributes
            and len(span.children) == len(children)
            and all(self.same(*pair) for pair in zip(span.children, children, strict=True))
        )

    def render(self, element: Element, indent: str) -> str:
        lines = list(self.render_lines(element, indent))
        return self.newline.join(lines).removeprefix(indent)

    def render_lines(self, element: Element, indent: str) -> Iterator[str]:
        attributes = [f"{self.attribute_name(key)}={_quoted(value)}" for key, value in element.attrib.items()]
        children = child_elements(element)
        closing = ">" if children else " />"
        if len(attributes) > 1:
            inner = indent + self.unit
            yield f"{indent}<{element.tag!s}"
            yield from (f"{inner}{attribute}" for attribute in attributes[:-1])
            yield f"{inner}{attributes[-1]}{closing}"
        else:
            yield f"{indent}<{' '.join([str(element.tag), *attributes])}{closing}"
        for child in children:
            yield from self.render_lines(child, indent + self.unit)
        if children:
            yield f"{indent}</{element.tag!s}>"

    def attribute_name(self, key: object) -> str:
        name = str(key)
        return (
            f"{self.prefix}:{name[len(ANDROID) :]}"
            if name.startswith(ANDROID)
            else etree.QName(name).localname
        )

    def result(self) -> str:
        pieces: list[str] = []
        done = 0
        # Stable: edits at one place stay in the order in which they were asked for.
        for edit in sorted(self.edits, key=lambda edit: (edit.start, edit.end)):
            pieces += [self.text[done : edit.start], edit.text]
            done = edit.end
        return "".join([*pieces, self.text[done:]])


def _plain(key: object) -> str:
    return str(key)


def _quoted(value: str) -> str:
    return quoteattr(value, {"\n": "&#10;", "\r": "&#13;", "\t": "&#9;"})


def _indent_unit(text: str) -> str:
    for line in text.splitlines():
        stripped = line.lstrip(" \t")
        if stripped.startswith("<application") and len(stripped) < len(line):
            return line[: len(line) - len(stripped)]
    return "    "

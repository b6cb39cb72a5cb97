"""Writing compiled XML (AOSP's ResourceTypes.h, ResXMLTree).

Android walks an element's attributes and the ids it asks for side by side, both in rising order
(`RetrieveAttributes` in libandroidfw), and overlooks every attribute that is out of order; so attributes
are written in the order of their resource ids, those without one last.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Final

from droidgate_android.apk.string_pool import NO_STRING, StringPoolWriter
from droidgate_android.apk.xml_tree import ANDROID_NAMESPACE, ValueType, XmlAttribute, XmlElement

_XML, _RESOURCE_MAP = 0x0003, 0x0180
_START_NAMESPACE, _END_NAMESPACE, _START_ELEMENT, _END_ELEMENT, _TEXT = 0x100, 0x101, 0x102, 0x103, 0x104
_ID_OF_ID: Final = 0x010100D0
_NO_ID: Final = 1 << 32
_XML_NAMESPACE: Final = "http://www.w3.org/XML/1998/namespace"
"""Of `xml:lang` and its like; it needs no declaration."""
_PREFIXES: Final = {
    ANDROID_NAMESPACE: "android",
    "http://schemas.android.com/apk/res-auto": "app",
    "http://schemas.android.com/apk/distribution": "dist",
}


def write_binary_xml(root: XmlElement) -> bytes:
    """Return the compiled form of a tree.

    Attributes are found by Android only with the `resource_id` that they carry here; nothing is looked up.
    Prefixes of namespaces are made up, and every namespace is declared around the whole document.
    """
    return _Writer(root).write()


class _Writer:
    def __init__(self, root: XmlElement) -> None:
        self._root = root
        self._strings = StringPoolWriter()
        self._mapped: dict[tuple[int, str], int] = {}
        self._namespaces: dict[str, str] = {}
        self._body = bytearray()

    def write(self) -> bytes:
        self._collect()
        first_line = max(self._root.line, 0)
        for uri, prefix in self._namespaces.items():
            self._write_namespace(_START_NAMESPACE, prefix, uri, first_line)
        self._write_elements()
        for uri, prefix in reversed(self._namespaces.items()):
            self._write_namespace(_END_NAMESPACE, prefix, uri, first_line)
        pool = self._strings.write()
        ids = [resource_id for resource_id, _ in self._mapped]
        resource_map = struct.pack(f"<HHI{len(ids)}I", _RESOURCE_MAP, 8, 8 + 4 * len(ids), *ids)
        size = 8 + len(pool) + len(resource_map) + len(self._body)
        return struct.pack("<HHI", _XML, 8, size) + pool + resource_map + bytes(self._body)

    def _collect(self) -> None:
        """Put the names of mapped attributes first: they share their index with their id in the map."""
        mapped: set[tuple[int, str]] = set()
        namespaces: dict[str, None] = {}
        pending = [self._root]
        while pending:
            element = pending.pop()
            for item in (element.namespace, *(attribute.namespace for attribute in element.attributes)):
                if item not in {None, _XML_NAMESPACE}:
                    namespaces[item] = None
            mapped.update(
                (attribute.resource_id, attribute.name)
                for attribute in element.attributes
                if attribute.resource_id
            )
            pending.extend(child for child in reversed(element.children) if isinstance(child, XmlElement))
        self._mapped = {key: self._strings.add_apart(key[1]) for key in sorted(mapped)}
        for uri in namespaces:
            self._namespaces[uri] = _PREFIXES.get(uri, f"ns{len(self._namespaces)}")

    def _write_elements(self) -> None:
        pending: list[tuple[XmlElement, Iterator[XmlElement | str]]] = []
        self._enter(self._root, pending)
        while pending:
            element, children = pending[-1]
            child = next(children, None)
            if child is None:
                names = struct.pack("<II", self._index(element.namespace), self._strings.add(element.tag))
                self._node(_END_ELEMENT, element.line, names)
                pending.pop()
            elif isinstance(child, str):
                text = self._strings.add(child)
                self._node(_TEXT, element.line, struct.pack("<IHBBI", text, 8, 0, ValueType.NULL, 0))
            else:
                self._enter(child, pending)

    def _enter(
        self, element: XmlElement, pending: list[tuple[XmlElement, Iterator[XmlElement | str]]]
    ) -> None:
        attributes = sorted(element.attributes, key=_order_of)
        places = {_special_of(attribute): number for number, attribute in enumerate(attributes, 1)}
        head = struct.pack(
            "<IIHHHHHH",
            self._index(element.namespace),
            self._strings.add(element.tag),
            20,
            20,
            len(attributes),
            places.get("id", 0),
            places.get("class", 0),
            places.get("style", 0),
        )
        self._node(_START_ELEMENT, element.line, head + b"".join(map(self._attribute, attributes)))
        pending.append((element, iter(element.children)))

    def _attribute(self, attribute: XmlAttribute) -> bytes:
        key = (attribute.resource_id, attribute.name)
        name = self._mapped[key] if attribute.resource_id else self._strings.add(attribute.name)
        value = attribute.value
        raw = self._index(value.text)
        data = raw if value.type == ValueType.STRING else value.data
        return struct.pack(
            "<IIIHBBI", self._index(attribute.namespace), name, raw, 8, 0, value.type, data & 0xFFFFFFFF
        )

    def _write_namespace(self, kind: int, prefix: str, uri: str, line: int) -> None:
        self._node(kind, line, struct.pack("<II", self._strings.add(prefix), self._strings.add(uri)))

    def _node(self, kind: int, line: int, content: bytes) -> None:
        self._body += struct.pack("<HHIII", kind, 16, 16 + len(content), line, NO_STRING) + content

    def _index(self, text: str | None) -> int:
        return NO_STRING if text is None else self._strings.add(text)


def _order_of(attribute: XmlAttribute) -> tuple[int, str, str]:
    return attribute.resource_id or _NO_ID, attribute.namespace or "", attribute.name


def _special_of(attribute: XmlAttribute) -> str | None:
    """Return under which of the three names an element's head points at an attribute."""
    if attribute.resource_id == _ID_OF_ID:
        return "id"
    if attribute.namespace is None and attribute.name in {"class", "style"}:
        return attribute.name
    return None

"""Reading compiled XML into a tree (AOSP ResourceTypes.h, ResXMLTree_*).

Attributes of Android's namespace are named by the resource map, since Android looks them up by that and some
builds strip their names. Whatever follows the root element is left alone, and so is the type of the
file's own header, which packers overwrite and Android does not look at.
"""

from __future__ import annotations

import struct
from functools import lru_cache
from typing import Final

from droidgate_android.apk.apk_budgets import Budget
from droidgate_android.apk.byte_source import CHUNK_HEADER, NO_INDEX, ChunkType
from droidgate_android.apk.string_pool import StringPool
from droidgate_android.apk.xml_tree import ANDROID_NAMESPACE, TypedValue, ValueType, XmlAttribute, XmlElement
from droidgate_mappings.model.errors import BudgetError, InputError
from droidgate_mappings.tables.framework_attributes import attribute_name

_ELEMENT: Final = struct.Struct("<IIHHH")
_ELEMENT_SIZE: Final = 20
_NUMBER: Final = struct.Struct("<I")
_ATTRIBUTE: Final = struct.Struct("<III3xBI")
_FRAMEWORK: Final = 0x01
_MIN_NODE_HEADER: Final = 16
_START_ELEMENT: Final = int(ChunkType.XML_START_ELEMENT)
_END_ELEMENT: Final = int(ChunkType.XML_END_ELEMENT)
_CDATA: Final = int(ChunkType.XML_CDATA)
_STRING: Final = int(ValueType.STRING)
_FILE_TYPES: Final = frozenset({ChunkType.NULL, ChunkType.STRING_POOL, ChunkType.XML})

# The same few attributes come back in every file, and a hostile one may name any number of others.
_attribute_name = lru_cache(maxsize=4096)(attribute_name)


def parse_binary_xml(data: bytes, *, path: str = "<binary XML>", budget: Budget | None = None) -> XmlElement:
    """Return the root element of compiled XML.

    Args:
        data: The file.
        path: How errors name it.
        budget: Counts nodes and characters.

    Raises:
        InputError: it is not compiled XML, or broken.
        BudgetError: it has too many nodes, levels or characters.
    """
    try:
        return _Parser(data, path, Budget() if budget is None else budget).parse()
    except (struct.error, IndexError):
        raise InputError("the compiled XML is cut off inside a node", place=path) from None


class _Parser:
    def __init__(self, data: bytes, path: str, budget: Budget) -> None:
        self._data = data
        self._path = path
        self._budget = budget
        self._pool: StringPool | None = None
        self._map: tuple[int, ...] = ()
        self._root: XmlElement | None = None
        self._open: list[XmlElement] = []
        self._known: dict[bytes, XmlAttribute] = {}

    def parse(self) -> XmlElement:
        data = self._data
        if len(data) < CHUNK_HEADER.size:
            raise self._broken("is too short")
        kind, header, size = CHUNK_HEADER.unpack_from(data)
        if kind not in _FILE_TYPES:
            raise InputError("it is not compiled XML", place=self._path)
        position = max(header, CHUNK_HEADER.size)
        end = size if CHUNK_HEADER.size <= size <= len(data) else len(data)
        opened = self._open
        read_header = CHUNK_HEADER.unpack_from
        while position + CHUNK_HEADER.size <= end:
            kind, header, size = read_header(data, position)
            if size < CHUNK_HEADER.size or header > size or position + size > end:
                raise self._broken("has a part of impossible size")
            if kind == _START_ELEMENT:
                self._start(position, header, size)
            elif kind == _END_ELEMENT:
                if not opened:
                    raise self._broken("ends an element that has not begun")
                opened.pop()
                if not opened and self._root is not None:
                    return self._root
            else:
                self._read_other(kind, position, header, size)
            position += size
        raise self._broken("ends inside an element" if opened else "has no element")

    def _read_other(self, kind: int, position: int, header: int, size: int) -> None:
        if kind == ChunkType.STRING_POOL and self._pool is None:
            self._pool = StringPool(self._data, position, position + size, self._path, self._budget)
        elif kind == ChunkType.XML_RESOURCE_MAP:
            self._map = struct.unpack_from(f"<{(size - header) // 4}I", self._data, position + header)
        elif kind == _CDATA and self._open:
            if header < _MIN_NODE_HEADER or header + _NUMBER.size > size:
                raise self._broken("has a text outside of its part")
            self._budget.spend_nodes(1, self._path)
            text = self._strings()[_NUMBER.unpack_from(self._data, position + header)[0]]
            self._open[-1].children.append(text)

    def _strings(self) -> StringPool:
        if self._pool is None:
            raise self._broken("has a node before its strings")
        return self._pool

    def _broken(self, reason: str) -> InputError:
        return InputError(f"the compiled XML {reason}", place=self._path)

    def _start(self, position: int, header: int, chunk_size: int) -> None:
        data, pool, end = self._data, self._strings(), position + chunk_size
        body = position + header
        if header < _MIN_NODE_HEADER or body + _ELEMENT_SIZE > end:
            raise self._broken("has an element outside of its part")
        namespace, name, start, size, count = _ELEMENT.unpack_from(data, body)
        first = body + start
        if count and (size < _ATTRIBUTE.size or first + size * count > end):
            raise self._broken("has attributes outside of their element")
        self._budget.spend_nodes(1 + count, self._path)
        if len(self._open) >= self._budget.limits.depth:
            message = f"the compiled XML is nested more than {self._budget.limits.depth} levels deep"
            raise BudgetError(message, place=self._path)
        attributes_by_record = self._known
        attributes: list[XmlAttribute] = []
        for at in range(first, first + size * count, size) if count else ():
            record = data[at : at + 20]
            attribute = attributes_by_record.get(record)
            if attribute is None:
                attribute = attributes_by_record[record] = self._attribute(pool, record)
            attributes.append(attribute)
        tag = pool.decoded.get(name) or pool[name]
        line = _NUMBER.unpack_from(data, position + 8)[0]
        element = XmlElement(tag, None if namespace == NO_INDEX else pool[namespace], attributes, [], line)
        if self._open:
            self._open[-1].children.append(element)
        else:
            self._root = element
        self._open.append(element)

    def _attribute(self, pool: StringPool, record: bytes) -> XmlAttribute:
        namespace, name, raw, kind, data = _ATTRIBUTE.unpack(record)
        resource_id = self._map[name] if name < len(self._map) else 0
        attribute_name = _attribute_name(resource_id) if resource_id >> 24 == _FRAMEWORK else None
        if attribute_name is not None:
            space: str | None = ANDROID_NAMESPACE
        else:
            attribute_name = pool[name]
            space = None if namespace == NO_INDEX else pool[namespace]
        if kind == _STRING:
            value = TypedValue(kind, 0, pool[data])
        else:
            value = TypedValue(kind, data, pool[raw] if raw < pool.count else None)
        return XmlAttribute(space, attribute_name, value, resource_id)

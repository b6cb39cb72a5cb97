"""The tree that compiled XML is read into and written from (AOSP's ResourceTypes.h, ResXMLTree).

Values and attributes are named tuples: a large manifest has a hundred thousand, and frozen dataclasses take
four times as long to make.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum
from typing import Final, NamedTuple

from droidgate_mappings.records import dataclass, field

ANDROID_NAMESPACE: Final = "http://schemas.android.com/apk/res/android"


class ValueType(IntEnum):
    """`Res_value.dataType`; a file may hold other numbers."""

    NULL = 0x00
    REFERENCE = 0x01
    ATTRIBUTE = 0x02
    STRING = 0x03
    FLOAT = 0x04
    DIMENSION = 0x05
    FRACTION = 0x06
    DYNAMIC_REFERENCE = 0x07
    DYNAMIC_ATTRIBUTE = 0x08
    INT_DEC = 0x10
    INT_HEX = 0x11
    INT_BOOLEAN = 0x12
    INT_COLOR_ARGB8 = 0x1C
    INT_COLOR_RGB8 = 0x1D
    INT_COLOR_ARGB4 = 0x1E
    INT_COLOR_RGB4 = 0x1F


REFERENCE_TYPES: Final = frozenset({ValueType.REFERENCE, ValueType.DYNAMIC_REFERENCE})


class TypedValue(NamedTuple):
    """One value as the compiled form holds it.

    Attributes:
        type: `Res_value.dataType`.
        data: `Res_value.data`, unsigned 32 bits; an index into a string pool means nothing here and is 0.
        text: The string of type STRING; for other types the raw text where the file kept it, else None.
    """

    type: int
    data: int = 0
    text: str | None = None


class XmlAttribute(NamedTuple):
    """One attribute.

    Attributes:
        namespace: Namespace URI, None without one.
        name: Local name; from the resource id where the file's own string was stripped.
        value: Its value.
        resource_id: The attribute's resource id by the resource map, 0 without one. Android looks framework
            attributes up by this, never by name.
    """

    namespace: str | None
    name: str
    value: TypedValue
    resource_id: int = 0


@dataclass(slots=True)
class XmlElement:
    """One element.

    Attributes:
        tag: Local name.
        namespace: Namespace URI, None without one.
        attributes: In file order.
        children: Elements and texts, in order.
        line: Line in the source that was compiled, 0 where it is not known.
    """

    tag: str
    namespace: str | None = None
    attributes: list[XmlAttribute] = field(default_factory=list)
    children: list[XmlElement | str] = field(default_factory=list)
    line: int = 0

    def find_attribute(self, name: str, namespace: str | None = ANDROID_NAMESPACE) -> TypedValue | None:
        """Return the value of an attribute, None where the element has none of that name."""
        for attribute in self.attributes:
            if attribute.name == name and attribute.namespace == namespace:
                return attribute.value
        return None

    def child_elements(self, tag: str | None = None) -> Iterator[XmlElement]:
        """Yield the child elements, of one tag where it is named."""
        for child in self.children:
            if isinstance(child, XmlElement) and (tag is None or child.tag == tag):
                yield child

"""Writing resource tables (AOSP's ResourceTypes.h, ResTable_*)."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import Final

from droidgate_android.apk.resource_qualifiers import compile_qualifier
from droidgate_android.apk.string_pool import StringPoolWriter, write_string_pool
from droidgate_android.apk.xml_tree import TypedValue, ValueType
from droidgate_mappings.model.errors import WriteError
from droidgate_mappings.records import dataclass, field

_TABLE, _PACKAGE, _TYPE, _TYPE_SPEC = 0x0002, 0x0200, 0x0201, 0x0202
_COMPLEX: Final = 0x0001
_NO_ENTRY: Final = 0xFFFFFFFF
_PACKAGE_HEADER: Final = 288
_TYPE_HEADER: Final = 20
_NAME_BYTES: Final = 256
_LOCALE: Final = 0x0004
_DIFFERENCES: Final = (
    (4, 2, 0x0001),  # mobile country code
    (6, 2, 0x0002),  # mobile network code
    (8, 4, _LOCALE),
    (12, 1, 0x0080),  # orientation
    (13, 1, 0x0008),  # touch screen
    (14, 2, 0x0100),  # density
    (16, 1, 0x0010),  # keyboard
    (17, 1, 0x0040),  # navigation
    (18, 1, 0x0020),  # hidden keys
    (19, 1, 0x40000),  # grammatical gender
    (20, 4, 0x0200),  # screen size
    (24, 4, 0x0400),  # release
    (28, 1, 0x0800),  # screen layout
    (29, 1, 0x1000),  # user interface mode
    (30, 2, 0x2000),  # smallest width
    (32, 4, 0x0200),  # width and height
    (36, 12, _LOCALE),
    (48, 1, 0x8000),  # round
    (49, 1, 0x10000),  # colours
)
"""Offset and length of a field of `ResTable_config`, and its flag in `ResTable_typeSpec`."""


@dataclass(frozen=True, slots=True)
class CompiledBag:
    """A value of several values: an array, a plural, a style or an attribute's declaration.

    Attributes:
        items: Key (a resource id or a number of `ResTable_map`) and value.
        parent: Resource id of a style's parent, 0 without one.
    """

    items: tuple[tuple[int, TypedValue], ...]
    parent: int = 0


CompiledValue = TypedValue | CompiledBag


@dataclass(frozen=True, slots=True)
class CompiledResource:
    """One resource: its name, and its values by qualifier (empty for the default)."""

    name: str
    values: Mapping[str, CompiledValue]


@dataclass(frozen=True, slots=True)
class CompiledType:
    """Resources of one type; the position of a resource is the last part of its id.

    Attributes:
        id: Its number, from 1 on.
        name: `string`, `xml`...
        resources: In order; one without values is held by another part of a split app.
    """

    id: int
    name: str
    resources: Sequence[CompiledResource] = field(default_factory=tuple)


def write_resource_table(package: str, types: Sequence[CompiledType], *, package_id: int = 0x7F) -> bytes:
    """Return a `resources.arsc` with one package.

    Args:
        package: Name of the package.
        types: Their ids rise, and begin with 1.
        package_id: 0x7F for an app, more for a feature of one.

    Raises:
        WriteError: the name of the package has more than 127 characters.
    """
    return _Writer(package, types, package_id).write()


class _Writer:
    def __init__(self, package: str, types: Sequence[CompiledType], package_id: int) -> None:
        self._package = package
        self._types = types
        self._package_id = package_id
        self._values = StringPoolWriter()
        self._keys = StringPoolWriter()

    def write(self) -> bytes:
        chunks = b"".join(self._spec(type_) + self._all_values(type_) for type_ in self._types)
        names = ["" for _ in range(max((type_.id for type_ in self._types), default=0))]
        for type_ in self._types:
            names[type_.id - 1] = type_.name
        type_names, keys, values = write_string_pool(names), self._keys.write(), self._values.write()
        encoded = self._package.encode("utf-16-le")
        if len(encoded) > _NAME_BYTES - 2:
            raise WriteError("the name of a package has at most 127 characters", place=self._package[:100])
        content = type_names + keys + chunks
        package = struct.pack(
            "<HHII", _PACKAGE, _PACKAGE_HEADER, _PACKAGE_HEADER + len(content), self._package_id
        )
        package += encoded.ljust(_NAME_BYTES, b"\0")
        package += struct.pack(
            "<IIIII", _PACKAGE_HEADER, len(names), _PACKAGE_HEADER + len(type_names), self._keys.count, 0
        )
        size = 12 + len(values) + len(package) + len(content)
        return struct.pack("<HHII", _TABLE, 12, size, 1) + values + package + content

    def _spec(self, compiled: CompiledType) -> bytes:
        flags = [_differences(resource.values) for resource in compiled.resources]
        size = 16 + 4 * len(flags)
        head = struct.pack("<HHIBBHI", _TYPE_SPEC, 16, size, compiled.id, 0, 0, len(flags))
        return head + struct.pack(f"<{len(flags)}I", *flags)

    def _all_values(self, compiled: CompiledType) -> bytes:
        qualifiers = sorted({qualifier for resource in compiled.resources for qualifier in resource.values})
        return b"".join(self._values_for(compiled, qualifier) for qualifier in qualifiers)

    def _values_for(self, compiled: CompiledType, qualifier: str) -> bytes:
        offsets: list[int] = []
        body = bytearray()
        for resource in compiled.resources:
            value = resource.values.get(qualifier)
            offsets.append(_NO_ENTRY if value is None else len(body))
            if value is not None:
                body += self._entry(resource.name, value)
        config = compile_qualifier(qualifier)
        header = _TYPE_HEADER + len(config)
        start = header + 4 * len(offsets)
        head = struct.pack(
            "<HHIBBHII", _TYPE, header, start + len(body), compiled.id, 0, 0, len(offsets), start
        )
        return head + config + struct.pack(f"<{len(offsets)}I", *offsets) + bytes(body)

    def _entry(self, name: str, value: CompiledValue) -> bytes:
        key = self._keys.add(name)
        if isinstance(value, TypedValue):
            return struct.pack("<HHI", 8, 0, key) + self._typed(value)
        head = struct.pack("<HHIII", 16, _COMPLEX, key, value.parent, len(value.items))
        return head + b"".join(
            struct.pack("<I", item) + self._typed(item_value) for item, item_value in value.items
        )

    def _typed(self, value: TypedValue) -> bytes:
        data = self._values.add(value.text or "") if value.type == ValueType.STRING else value.data
        return struct.pack("<HBBI", 8, 0, value.type, data)


def _differences(values: Mapping[str, CompiledValue]) -> int:
    """Return in which fields the configurations of a resource's values differ."""
    configs = [compile_qualifier(qualifier) for qualifier in values]
    flags = 0
    for offset, length, flag in _DIFFERENCES:
        if len({config[offset : offset + length] for config in configs}) > 1:
            flags |= flag
    return flags

"""What a dex refers to, read off its bytes (the format of https://source.android.com/docs/core/runtime/dex-format)."""

from __future__ import annotations

import struct
import zipfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_NONE = 0xFFFFFFFF


@dataclass
class DexClass:
    """A class of the dex: what has to be there when it is loaded.

    Attributes:
        name: As in `java/lang/Object`.
        supertypes: Its superclass and interfaces.
        declared: The types of its fields, and of its methods' parameters and results.
    """

    name: str
    supertypes: list[str]
    declared: set[str]


class DexFile:
    """A dex with its classes and the members of other classes that its code refers to."""

    def __init__(self, data: bytes) -> None:
        assert data[:4] == b"dex\n"
        self._data = data
        self.strings = [self._string(offset) for (offset,) in self._table(56, "<I")]
        self.types = [self.strings[index] for (index,) in self._table(64, "<I")]
        self._protos = [
            (self.types[result], self._type_list(parameters))
            for _shorty, result, parameters in self._table(72, "<III")
        ]
        self.fields = [
            (self.types[holder], self.strings[name], self.types[kind])
            for holder, kind, name in self._table(80, "<HHI")
        ]
        self.methods = [
            (self.types[holder], self.strings[name], self._protos[proto])
            for holder, proto, name in self._table(88, "<HHI")
        ]
        self.classes = {item.name: item for item in map(self._class, self._table(96, "<8I"))}

    def _table(self, header: int, form: str) -> list[tuple[int, ...]]:
        count, offset = struct.unpack_from("<II", self._data, header)
        size = struct.calcsize(form)
        return [struct.unpack_from(form, self._data, offset + size * index) for index in range(count)]

    def _number(self, offset: int) -> tuple[int, int]:
        value = shift = 0
        while True:
            byte = self._data[offset]
            offset += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value, offset

    def _string(self, offset: int) -> str:
        _length, begin = self._number(offset)
        raw = self._data[begin : self._data.index(0, begin)]
        return raw.replace(b"\xc0\x80", b"\0").decode("utf-8", "surrogatepass")

    def _type_list(self, offset: int) -> tuple[str, ...]:
        if not offset:
            return ()
        (count,) = struct.unpack_from("<I", self._data, offset)
        return tuple(self.types[index] for index in struct.unpack_from(f"<{count}H", self._data, offset + 4))

    def _class(self, entry: tuple[int, ...]) -> DexClass:
        name, _flags, parent, interfaces, _source, _annotations, content, _values = entry
        supertypes = [] if parent == _NONE else [self.types[parent]]
        supertypes += self._type_list(interfaces)
        declared = set(map(class_name, self._declared(content) if content else ()))
        names = [class_name(kind) or "" for kind in supertypes]
        return DexClass(class_name(self.types[name]) or "", names, {each for each in declared if each})

    def _declared(self, offset: int) -> list[str]:
        counts = []
        for _ in range(4):
            count, offset = self._number(offset)
            counts.append(count)
        kinds = []
        for place, count in enumerate(counts):
            index = 0
            for _ in range(count):
                step, offset = self._number(offset)
                index += step
                for _ in range(1 if place < 2 else 2):
                    _value, offset = self._number(offset)
                if place < 2:
                    kinds.append(self.fields[index][2])
                else:
                    result, parameters = self.methods[index][2]
                    kinds += [result, *parameters]
        return kinds


def class_name(descriptor: str) -> str | None:
    """Return the class of a descriptor such as `[Ljava/lang/String;`; None for what has none."""
    bare = descriptor.lstrip("[")
    return bare[1:-1] if bare.startswith("L") else None


# Class files of a jar (JVM specification 4)


_SIZES = {7: 2, 8: 2, 16: 2, 19: 2, 20: 2, 15: 3, 5: 8, 6: 8} | dict.fromkeys(
    (3, 4, *range(9, 13), 17, 18), 4
)
"""Tag of a constant -> its size without the tag."""


@dataclass(frozen=True)
class ClassFile:
    """A class: its supertypes, and its members as name and descriptor."""

    supertypes: tuple[str, ...]
    members: frozenset[tuple[str, str]]


class ClassJar:
    """The classes of a jar, each read when it is asked for."""

    def __init__(self, path: Path) -> None:
        self._archive = zipfile.ZipFile(path)
        self._names = frozenset(self._archive.namelist())
        self.find = cache(self._find)

    def __contains__(self, name: str) -> bool:
        return f"{name}.class" in self._names

    def _find(self, name: str) -> ClassFile | None:
        return _read(self._archive.read(f"{name}.class")) if name in self else None

    def has_member(self, holder: str, name: str, descriptor: str) -> bool:
        """Return whether a class or one of its supertypes in this jar declares a member."""
        class_ = self.find(holder)
        if class_ is None:
            return False
        if (name, descriptor) in class_.members:
            return True
        return any(self.has_member(parent, name, descriptor) for parent in class_.supertypes)


def _read(data: bytes) -> ClassFile:
    constants: dict[int, object] = {}
    (count,) = struct.unpack_from(">H", data, 8)
    offset, index = 10, 1
    while index < count:
        tag = data[offset]
        if tag == 1:
            (length,) = struct.unpack_from(">H", data, offset + 1)
            constants[index] = data[offset + 3 : offset + 3 + length].decode("utf-8", "replace")
            offset += 3 + length
        else:
            constants[index] = struct.unpack_from(">H", data, offset + 1)[0]
            offset += 1 + _SIZES[tag]
        index += 2 if tag in (5, 6) else 1

    def name_at(place: int) -> str:
        return str(constants[int(str(constants[place]))])

    _flags, _this, parent, interfaces = struct.unpack_from(">4H", data, offset)
    offset += 8
    supertypes = [name_at(parent)] if parent else []
    supertypes += [name_at(item) for item in struct.unpack_from(f">{interfaces}H", data, offset)]
    offset += 2 * interfaces
    members = set()
    for _ in range(2):
        (amount,) = struct.unpack_from(">H", data, offset)
        offset += 2
        for _ in range(amount):
            _flags, name, descriptor, attributes = struct.unpack_from(">4H", data, offset)
            members.add((str(constants[name]), str(constants[descriptor])))
            offset += 8
            for _ in range(attributes):
                _name, length = struct.unpack_from(">HI", data, offset)
                offset += 6 + length
    return ClassFile(tuple(supertypes), frozenset(members))

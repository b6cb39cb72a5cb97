"""Classes of a jar, read off their files (JVM specification 4)."""

from __future__ import annotations

import struct
import zipfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

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

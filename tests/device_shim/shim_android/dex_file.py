"""What a dex refers to, and the classes of a jar."""

from __future__ import annotations

import importlib
import struct
import zipfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from requirements_of_tests import require


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
    """A dex as androguard reads it: its classes, and the members of all classes that its code refers to."""

    def __init__(self, data: bytes) -> None:
        require("androguard")
        importlib.import_module("loguru").logger.disable("androguard")
        read = importlib.import_module("androguard.core.dex").DEX(data)
        self.fields = [
            (str(item.get_class_name()), str(item.get_name()), str(item.get_type()))
            for item in read.fields.gets()
        ]
        self.methods = [
            (str(item.get_class_name()), str(item.get_name()), _form(item.get_proto()))
            for item in read.methods.gets()
        ]
        classes = [_class(item) for item in read.get_classes()]
        self.classes = {item.name: item for item in classes}


def _form(proto: tuple[str, str]) -> tuple[str, tuple[str, ...]]:
    """Return the types of a method's result and parameters."""
    parameters, result = proto
    return result, tuple(parameters.strip("()").split())


def _class(item: Any) -> DexClass:
    declared = [field.get_descriptor() for field in item.get_fields()]
    for method in item.get_methods():
        parameters, _, result = method.get_descriptor().strip("(").partition(")")
        declared += [*parameters.split(), result]
    supertypes = [class_name(kind) or "" for kind in (item.get_superclassname(), *item.get_interfaces())]
    return DexClass(class_name(item.get_name()) or "", supertypes, {*filter(None, map(class_name, declared))})


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

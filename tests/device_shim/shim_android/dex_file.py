"""What a dex refers to, and the classes of a jar."""

from __future__ import annotations

import importlib
import re
import subprocess
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass
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


@dataclass(frozen=True)
class JarClass:
    """A class: its supertypes, and its members as name and descriptor."""

    supertypes: tuple[str, ...]
    members: frozenset[tuple[str, str]]


class ClassJar:
    """Classes of a jar with their supertypes, as the JDK's javap prints them."""

    def __init__(self, path: Path, names: Iterable[str]) -> None:
        self._names = frozenset(zipfile.ZipFile(path).namelist())
        self._classes: dict[str, JarClass] = {}
        pending = {name for name in names if name in self}
        while pending:
            javap = require("newer-jdk").with_name("javap")
            command: list[str | Path] = [javap, "-s", "-private", "-cp", path]
            command += [name.replace("/", ".") for name in sorted(pending)]
            run = subprocess.run(command, capture_output=True, text=True, check=True)
            for printed in re.split(r"^Compiled from .*\n", run.stdout, flags=re.MULTILINE)[1:]:
                name, class_ = _read_class(printed)
                self._classes[name] = class_
            found = {parent for class_ in self._classes.values() for parent in class_.supertypes}
            pending = {name for name in found - self._classes.keys() if name in self}

    def __contains__(self, name: str) -> bool:
        return f"{name}.class" in self._names

    def has_member(self, holder: str, name: str, descriptor: str) -> bool:
        """Return whether a class or one of its supertypes in this jar declares a member."""
        class_ = self._classes.get(holder)
        if class_ is None:
            return False
        if (name, descriptor) in class_.members:
            return True
        return any(self.has_member(parent, name, descriptor) for parent in class_.supertypes)


def _read_class(printed: str) -> tuple[str, JarClass]:
    head, _, body = printed.partition("{\n")
    while "<" in head:
        head = re.sub(r"<[^<>]*>", "", head)
    words = re.findall(r"[\w/$-]+", head.replace(".", "/"))
    kind = next(index for index, word in enumerate(words) if word in ("class", "interface"))
    name, *supertypes = (word for word in words[kind + 1 :] if word not in ("extends", "implements"))
    members = re.findall(r"([\w.$]+)(?:\(.*)?;\n    descriptor: (.+)", body)
    return name, JarClass(
        tuple(supertypes),
        frozenset(("<init>" if "." in member else member, descriptor) for member, descriptor in members),
    )
